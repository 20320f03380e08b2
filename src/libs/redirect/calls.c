/* SPDX-License-Identifier: Apache-2.0 */
/* Which symbols have a stub, and what it asks. */
#include "libs/redirect/calls.h"

#include <stdlib.h>
#include <string.h>

#include "libs/redirect/paths.h"

#define MR_CALL(name, argument, use) {#name, MR_PATH_##use},
static const struct call {
    const char *name;
    enum mr_path_use use;
} calls[MR_CALLS] = {
#include "libs/redirect/calls.def"
};
#undef MR_CALL

/* The C library's functions, which the stubs go on to. A function is set before its stub is given out. */
uintptr_t mr_call_functions[MR_CALLS] __attribute__((visibility("hidden")));
extern const char mr_call_stubs[] __attribute__((visibility("hidden")));

static int compare_names(const void *key, const void *entry)
{
    return strcmp(key, ((const struct call *)entry)->name);
}

uintptr_t mr_call_for(const char *name, uintptr_t address)
{
    const struct call *call = bsearch(name, calls, MR_CALLS, sizeof *calls, compare_names);
    if (!call || !address)
        return address;
    uintptr_t *function = &mr_call_functions[call - calls];
    if (!*function)
        __atomic_store_n(function, address, __ATOMIC_RELEASE);
    /* posix_spawn has two versions: the first that is asked for gets the stub, the other stays as it is. */
    return *function == address ? (uintptr_t)mr_call_stubs + 32 * (uintptr_t)(call - calls) : address;
}

const char *mr_call_path(const char *path, unsigned long index)
{
    return mr_path_for(path, calls[index].use);
}
