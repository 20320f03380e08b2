/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks: where in its own code the program made a call.
 *
 * A stack is taken at enter, on the thread that calls, and kept once: the same stack has the same number (a site) in
 * the whole process. Frames of the driver, of its runtime library and of the observer are left out. In a program that
 * runs in a Python interpreter the interpreter's own frames give way to those of the Python code (python.h).
 *
 * The same call from the same place again costs about 30 ns and one comparison for each frame; a new one is unwound,
 * which takes some microseconds. */
#ifndef MR_OBSERVER_SITES_H
#define MR_OBSERVER_SITES_H

#include <stddef.h>
#include <stdint.h>

enum { OBS_SITE_DEPTH = 64 };

struct obs_frame {
    uint32_t module;      /* of native code: its module, or OBS_NO_MODULE (modules.h) */
    uintptr_t offset;     /* of native code: an address inside of the calling instruction, less the module's bias */
    uint32_t line;        /* of Python code: the line; 0: not known */
    const char *file;     /* of Python code, else NULL */
    const char *function; /* of Python code, else NULL */
};

/* The running thread's stack as a site. `at` is the address that the call will return to (struct mr_observed_call). 0:
 * no frame of the program's is to be seen, or memory is short. Any thread; takes a lock only for a stack that is new to
 * it. */
uint32_t obs_site_here(const void *at);

/* The same, from a handler of a signal that has interrupted the program's code at the instruction `at`: that one is the
 * innermost frame. */
uint32_t obs_site_at(const void *at);

/* A site of one frame: the instruction. */
uint32_t obs_site_of(const void *at);

/* The frames of a site, innermost first; what it points to stays. 0 frames for site 0. */
size_t obs_site_frames(uint32_t site, const struct obs_frame **out);

/* How many sites there are; they are numbered from 1 up. */
uint32_t obs_site_count(void);

#endif
