/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries and programs that have code in the process, also those that were unloaded again: an address that was
 * noted while a library was there can then be named when the process is gone. */
#ifndef MR_OBSERVER_MODULES_H
#define MR_OBSERVER_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBS_BUILD_ID_MAX = 32 };

struct obs_module {
    char *path; /* as the loader names it; absolute for the program itself; "" if the loader has no name */
    uintptr_t first, end; /* the range of addresses that its segments take */
    uintptr_t bias; /* an address in the file plus this is one in memory */
    uint8_t build_id[OBS_BUILD_ID_MAX];
    unsigned build_id_size; /* 0: it has none */
    bool hidden; /* the driver's, its runtime library's, the observer's: not the program's code */
    bool closed; /* unloaded since */
};

enum { OBS_NO_MODULE = UINT32_MAX };

/* How often the loader has loaded something, and unloaded: the second changes when addresses may mean something else.
 * Any thread; quick. */
struct obs_modules_counts {
    unsigned long long loads, unloads;
};
struct obs_modules_counts obs_modules_counts(void);

/* The number of the module that holds `address` now, or OBS_NO_MODULE. Any thread. Takes a lock of its own. */
uint32_t obs_module_at(uintptr_t address);

/* A module by its number; NULL if there is no such number. What it points to stays as it is; `closed` may change. */
const struct obs_module *obs_module(uint32_t number);
uint32_t obs_module_count(void);

#endif
