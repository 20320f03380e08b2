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

#define PACKAGE "libopenblas0-pthread"

struct mr_cpu mr_cpu;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;

/* The build with POSIX threads, or NULL. */
static void *open_if_fit(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    int (*parallel)(void) = (int (*)(void))dlsym(library, "openblas_get_parallel");
    void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    if (parallel && set_threads && parallel() == 1) {
        set_threads(1);
        return library;
    }
    mr_log(MR_LOG_INFO, "%s is OpenBLAS without POSIX threads, which can't be called by several threads at once", name);
    dlclose(library);
    return NULL;
}

static void *open_library(void)
{
    static const char *const names[] = {
        "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
        "/usr/lib/aarch64-linux-gnu/openblas-pthread/libopenblas.so.0",
        "libopenblasp.so.0",
        "libopenblas.so.0",
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = open_if_fit(names[i]);
        if (library)
            return library;
    }
    mr_log(MR_LOG_WARN, "OpenBLAS with POSIX threads is missing, without which there is no linear algebra: install the "
                        "package " PACKAGE);
    return NULL;
}

static bool find(void *library, void **function, const char *symbol)
{
    *function = dlsym(library, symbol);
    if (!*function)
        mr_log(MR_LOG_WARN, "the OpenBLAS that was found has no %s: install the package " PACKAGE, symbol);
    return *function != NULL;
}

/* The family's functions for the types in `types`. */
static bool find_all(void *library, void **functions, const char *name, const char *types)
{
    static const char all[] = "sdcz";
    for (const char *type = types; *type; type++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "%c%s_", *type, name);
        if (!find(library, &functions[strchr(all, *type) - all], symbol))
            return false;
    }
    return true;
}

static void open_once(void)
{
    mr_log_setup();
    void *library = open_library();
    if (!library)
        return;
#define MR_CPU_FUNCTION(name, types, params) \
    if (!find_all(library, (void **)mr_cpu.name, #name, types)) \
        return;
#define MR_CPU_RESULT(name, result, symbol, params) \
    if (!find(library, (void **)&mr_cpu.name, symbol)) \
        return;
#include "libs/math/cpu.def"
#undef MR_CPU_FUNCTION
#undef MR_CPU_RESULT
    is_open = true;
}

bool mr_cpu_open(void)
{
    pthread_once(&once, open_once);
    return is_open;
}
