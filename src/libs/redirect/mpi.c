/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/redirect/mpi.h"

#include <string.h>

#include "base/log.h"
#include "libs/redirect/libraries.h"

/* It runs on the program's threads. */
static int takes_device_pointers(void)
{
    return 1;
}

bool mr_mpi_is(const char *path)
{
    const char *file = strrchr(path, '/');
    return file && (strncmp(file, "/libmpi.so", 10) == 0 || strncmp(file, "/libmpich.so", 12) == 0) &&
           !mr_redirect_keeps("libmpi");
}

uintptr_t mr_mpi_symbol(const char *name, uintptr_t address)
{
    if (strcmp(name, "MPIX_Query_cuda_support") != 0)
        return address;
    mr_log(MR_LOG_DEBUG, "%s is answered with 1: with Millrace every MPI library takes device pointers", name);
    return (uintptr_t)takes_device_pointers;
}
