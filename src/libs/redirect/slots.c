/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: the table of names, and the first call of each, which opens Millrace's libcudart in the program's own
 * namespace. */
#include "libs/redirect/slots.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/redirect/libraries.h"

/* What a caller gets, by number: cudaErrorInsufficientDriver, cudaErrorNotSupported. */
enum { NO_LIBRARY = 35, NOT_SUPPORTED = 801 };

static const char *const names[MR_REDIRECT_NAMES] = {MR_REDIRECT_NAME_LIST};
static const char *const files[MR_REDIRECT_VERSIONS] = {"libcudart.so.12", "libcudart.so.13"};

uintptr_t mr_redirect_slots[MR_REDIRECT_NAMES * MR_REDIRECT_VERSIONS]
    __attribute__((visibility("hidden"))); /* atomic */
extern const char mr_redirect_stubs[], mr_redirect_first_calls[];

static int compare_names(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

int mr_redirect_name(const char *name)
{
    const char *const *found = bsearch(name, names, MR_REDIRECT_NAMES, sizeof *names, compare_names);
    return found ? (int)(found - names) : -1;
}

const char *mr_redirect_version_name(enum mr_redirect_version version)
{
    static const char *const versions[] = {"12", "13", "12, as version 11's"};
    return versions[version];
}

void mr_redirect_slots_setup(void)
{
    for (unsigned i = 0; i < MR_REDIRECT_NAMES * MR_REDIRECT_VERSIONS; i++)
        if (!__atomic_load_n(&mr_redirect_slots[i], __ATOMIC_RELAXED))
            __atomic_store_n(&mr_redirect_slots[i], (uintptr_t)mr_redirect_first_calls + 16 * i, __ATOMIC_RELAXED);
}

uintptr_t mr_redirect_stub(int name, enum mr_redirect_version version)
{
    return (uintptr_t)mr_redirect_stubs + 16 * ((unsigned)name + MR_REDIRECT_NAMES * (unsigned)version);
}

static int answer_no_library(void)
{
    return NO_LIBRARY;
}

static int answer_not_supported(void)
{
    return NOT_SUPPORTED;
}

uintptr_t mr_redirect_resolve(unsigned long index)
{
    const char *name = names[index % MR_REDIRECT_NAMES], *file = files[index / MR_REDIRECT_NAMES];
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", mr_redirect_folder(), file);
    /* Each stub has the library opened once more: the loader counts it and gives the same handle. */
    void *library = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
    uintptr_t target = library ? (uintptr_t)dlsym(library, name) : 0;
    if (!library) {
        mr_log(MR_LOG_ERROR, "%s: %s", name, dlerror());
        target = (uintptr_t)answer_no_library;
    } else if (!target) {
        mr_log(
            MR_LOG_WARN,
            "%s: the program's own runtime library has this function, Millrace's %s does not; it answers cudaErrorNotSupported",
            name, file);
        target = (uintptr_t)answer_not_supported;
    }
    __atomic_store_n(&mr_redirect_slots[index], target, __ATOMIC_RELEASE);
    return target;
}
