/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/mpi/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mr_mpi millrace_mpi = {.version = MR_MPI_VERSION};

static _Thread_local unsigned depth; /* of calls that are under way */

/* A library that an extension of Python brings is in no scope that dlsym looks into by itself. */
static int look_in(struct dl_phdr_info *info, size_t size, void *data)
{
    void **found = ((void ***)data)[0];
    const char *name = ((const char **)data)[1], *file = strrchr(info->dlpi_name, '/');
    (void)size;
    if (!file || (strncmp(file, "/libmpi", 7) != 0 && strncmp(file, "/libpmpi", 8) != 0))
        return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return 0;
    *found = dlsym(library, name);
    dlclose(library);
    return *found != NULL;
}

void *mr_mpi_find(_Atomic(void *) *known, const char *name)
{
    void *function = atomic_load_explicit(known, memory_order_acquire);
    if (function)
        return function;
    function = dlsym(RTLD_NEXT, name);
    if (!function) {
        const void *look[] = {&function, name};
        dl_iterate_phdr(look_in, look);
    }
    if (!function) {
        fprintf(stderr, "libmillrace-mpi.so: the program calls %s, and no MPI library is loaded that has it\n", name);
        abort();
    }
    atomic_store_explicit(known, function, memory_order_release);
    return function;
}

static int is_open(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *file = strrchr(info->dlpi_name, '/');
    (void)size, (void)data;
    return file && (strncmp(file, "/libopen-pal.so", 15) == 0 || strncmp(file, "/libopen-rte.so", 15) == 0);
}

bool mr_mpi_is_open(void)
{
    static _Atomic int answer; /* 1: it is; 2: it is not */
    if (!answer)
        answer = dl_iterate_phdr(is_open, NULL) ? 1 : 2;
    return answer == 1;
}

bool mr_mpi_enter(void)
{
    return depth++ == 0;
}

void mr_mpi_leave(void)
{
    depth--;
}
