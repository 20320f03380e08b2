/* SPDX-License-Identifier: Apache-2.0 */
/* The Python frames of the running thread, for programs that call CUDA from Python.
 *
 * They are read where they lie: nothing of the interpreter is called that allocates or counts references, so it does
 * not matter whether the thread holds the interpreter's lock (callers by ctypes and most Cython modules have released
 * it). A thread's own frames stand still while it is in a call. That needs to know how CPython of this version lays its
 * frames out: 3.8 to 3.13 on 64-bit machines are known, without free threading. Others have no Python frames. */
#ifndef MR_OBSERVER_PYTHON_H
#define MR_OBSERVER_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBS_PYTHON_DEPTH = 24 };

/* A place in Python code, as the interpreter has it; `check` changes when the memory of `code` holds other code. */
struct obs_python_place {
    const void *code;
    uint32_t at; /* bytes from the start of its instructions */
    uint64_t check;
};

struct obs_python_frame {
    const char *file, *function; /* UTF-8; the same text has the same pointer, for ever */
    uint32_t line;               /* 0: not known */
};

struct obs_modules_counts;

/* Fills in at most OBS_PYTHON_DEPTH places, innermost first. 0: no interpreter, or no frames on this thread. `counts`:
 * what the loader has done by now. */
size_t obs_python_walk(struct obs_python_place *out, const struct obs_modules_counts *counts);

/* Names a place that obs_python_walk has just told, on the same thread and in the same call. False: memory is short. */
bool obs_python_name(const struct obs_python_place *place, struct obs_python_frame *out);

/* The module that holds the interpreter, or OBS_NO_MODULE (modules.h). */
uint32_t obs_python_module(void);

#endif
