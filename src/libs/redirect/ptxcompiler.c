/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the PTX Compiler API, each of which opens Millrace's library at its first call: nothing can be
 * opened while the loader binds symbols. They run on the program's threads, as those of slots.c do. */
#define _GNU_SOURCE
#include "libs/redirect/ptxcompiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "libs/redirect/libraries.h"
#include "libs/redirect/loaded.h"

#define PREFIX "nvPTXCompiler"
#define FILE_NAME "libmillrace-nvptxcompiler.so"

enum { INTERNAL_ERROR = 4 }; /* NVPTXCOMPILE_ERROR_INTERNAL */

/* Every function has three parameters at most, each in a register of its own whatever its type, and gives an int. */
typedef int entry(void *first, void *second, void *third);

static int answer_internal_error(void *first, void *second, void *third)
{
    (void)first, (void)second, (void)third;
    return INTERNAL_ERROR;
}

static entry *find(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" FILE_NAME, mr_redirect_folder());
    /* Each function has the library opened once more: the loader counts it and gives the same handle. */
    void *library = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
    entry *found = library ? (entry *)dlsym(library, name) : NULL;
    if (!found)
        mr_log(MR_LOG_ERROR, "%s: %s", name, dlerror());
    return found ? found : answer_internal_error;
}

/* The functions' names are those that the library exports (lib/nvptxcompiler.txt). */
#define MR_LINKED(name) \
    static int call_##name(void *first, void *second, void *third) \
    { \
        static entry *known; \
        entry *function = __atomic_load_n(&known, __ATOMIC_ACQUIRE); \
        if (!function) { \
            function = find(#name); \
            __atomic_store_n(&known, function, __ATOMIC_RELEASE); \
        } \
        return function(first, second, third); \
    }
#include "nvptxcompiler_static.inc"
#undef MR_LINKED

bool mr_ptxcompiler_is(const struct link_map *map)
{
    return mr_object_exports(map, PREFIX "Create") && !mr_redirect_keeps("libnvptxcompiler");
}

uintptr_t mr_ptxcompiler_symbol(const char *name, uintptr_t address)
{
    static const struct {
        const char *name;
        entry *function;
    } functions[] = {
#define MR_LINKED(name) {#name, call_##name},
#include "nvptxcompiler_static.inc"
#undef MR_LINKED
    };
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return address;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return (uintptr_t)functions[i].function;
    /* NVIDIA's own function can do nothing with Millrace's handles. */
    mr_log(MR_LOG_WARN, "%s: Millrace's PTX Compiler API does not have this function; it answers an internal error",
           name);
    return (uintptr_t)answer_internal_error;
}
