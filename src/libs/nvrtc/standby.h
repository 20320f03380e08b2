/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers that wait: a clang that is loaded and has read the device headers, from which each compilation forks.
 * Loading clang and reading the headers takes twice as long as compiling a small kernel.
 *
 * A standby serves one combination of options, folder and search path, within one process and those forked from it. It
 * is started, without waiting for it, by the second compilation that could have used it, and it ends with its process,
 * or after MILLRACE_STANDBY seconds without work. A process has three at most. Whatever goes wrong with one costs time
 * only: the caller then compiles in the usual way. */
#ifndef MR_NVRTC_STANDBY_H
#define MR_NVRTC_STANDBY_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"
#include "compile/cache.h"
#include "libs/nvrtc/run.h"

struct mr_standby {
    int control;          /* a descriptor of the caller's own */
    struct mr_cache_key key;
    bool broken;          /* none is there and none will be: it ended, or had something to say before it waited */
    struct timespec begun; /* when the compiler was started, by the real clock */
    const char *folder;   /* the in-memory headers' folder for the next run; NULL: none. The caller's */
};

/* A standby for the compiler's `words`, which read `program` (MR_STANDBY_PROGRAM, or more lines before that) from
 * standard input; `key` covers words and program, and all that the compiler has looked at before it waits, except for
 * files that the program includes. False if there is none that is ready. Any thread; never waits for another. */
bool mr_standby_take(struct mr_standby *standby, struct mr_cache_key key, const struct mr_words *words,
                     const char *program);
void mr_standby_release(struct mr_standby *standby);

/* It has read files that have changed: the next to take it begins anew. */
void mr_standby_drop(const struct mr_standby *standby);

/* Compiles in it: `files` are mr_run's. FAILED also if the standby is gone. */
enum mr_run_status mr_standby_run(const struct mr_standby *standby, const int files[], int (*cancel)(void *, void *),
                                  void *cancel_data);

#endif
