/* SPDX-License-Identifier: Apache-2.0 */
/* Finding OpenBLAS and its functions.
 *
 * Debian has it without threads, with POSIX threads and with OpenMP. Only the second may be called by several threads
 * at once; it is told to use one thread of its own: the driver's threads share the work out. */
#include "libs/math/cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "libs/math/open.h"

struct mr_cpu mr_cpu;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;
static void *opened;

static bool fits(void *library, const char *name)
{
    int (*parallel)(void) = (int (*)(void))dlsym(library, "openblas_get_parallel");
    void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    if (parallel && set_threads && parallel() == 1) {
        set_threads(1);
        return true;
    }
    mr_log(MR_LOG_INFO, "%s is OpenBLAS without POSIX threads, which can't be called by several threads at once", name);
    return false;
}

static const struct mr_cpu_library openblas = {
    .names = (const char *const[]){"/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
                                   "/usr/lib/aarch64-linux-gnu/openblas-pthread/libopenblas.so.0", "libopenblasp.so.0",
                                   "libopenblas.so.0", NULL},
    .fits = fits,
    .what = "OpenBLAS with POSIX threads",
    .without = "linear algebra",
    .package = "libopenblas0-pthread",
};

/* The family's functions for the types in `types`. */
static bool find_all(void *library, void **functions, const char *name, const char *types)
{
    static const char all[] = "sdcz";
    for (const char *type = types; *type; type++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "%c%s_", *type, name);
        if (!mr_cpu_library_find(&openblas, library, &functions[strchr(all, *type) - all], symbol))
            return false;
    }
    return true;
}

static void open_once(void)
{
    void *library = mr_cpu_library_open(&openblas);
    if (!library)
        return;
#define MR_CPU_FUNCTION(name, types, params) \
    if (!find_all(library, (void **)mr_cpu.name, #name, types)) \
        return;
#define MR_CPU_RESULT(name, result, symbol, params) \
    if (!mr_cpu_library_find(&openblas, library, (void **)&mr_cpu.name, symbol)) \
        return;
#include "libs/math/cpu.def"
#undef MR_CPU_FUNCTION
#undef MR_CPU_RESULT
    opened = library;
    is_open = true;
}

bool mr_cpu_open(void)
{
    pthread_once(&once, open_once);
    return is_open;
}

bool mr_cpu_find(void **function, const char *symbol)
{
    return mr_cpu_library_find(&openblas, opened, function, symbol);
}
