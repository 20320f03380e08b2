/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's memory: plain device memory. Operations use any device memory, so registering it changes nothing. */
#include <stdlib.h>

#include "libs/math/driver.h"
#include "libs/nccl/comm.h"
#include "libs/nccl/refuse.h"
#include "nccl_impl.h"

ncclResult_t mr_nccl_MemAlloc(const struct mr_form *form, void **out, size_t size)
{
    CUdeviceptr at = 0;
    if (!out)
        return mr_nccl_bad(form->name, ncclUnhandledCudaError, "ptr is NULL");
    if (size == 0) {
        *out = NULL;
        return ncclSuccess;
    }
    if (!mr_math_driver_open() || !mr_math_context(NULL))
        return mr_nccl_bad(form->name, ncclUnhandledCudaError, "there is no driver or no device");
    ncclResult_t status = mr_nccl_driver(form->name, (int)mr_math_driver.cuMemAlloc_v2(&at, size));
    if (status == ncclSuccess)
        *out = (void *)(uintptr_t)at;
    return status;
}

ncclResult_t mr_nccl_MemFree(const struct mr_form *form, void *at)
{
    if (!at)
        return ncclSuccess;
    if (!mr_math_driver_open() || !mr_math_context(NULL))
        return mr_nccl_bad(form->name, ncclUnhandledCudaError, "there is no driver or no device");
    return mr_nccl_driver(form->name, (int)mr_math_driver.cuMemFree_v2((CUdeviceptr)(uintptr_t)at));
}

/* The handle is known until it is given back. */
ncclResult_t mr_nccl_CommRegister(const struct mr_form *form, const ncclComm_t handle, void *at, size_t size,
                                  void **out)
{
    struct mr_comm *comm;
    ncclResult_t status = mr_comm_find(form->name, handle, &comm);
    if (status != ncclSuccess)
        return status;
    if (!at || !out || size == 0)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "buff or handle is NULL, or size 0");
    struct mr_registered *registered = malloc(sizeof *registered);
    if (!registered)
        return mr_nccl_bad(form->name, ncclSystemError, "memory is short");
    pthread_mutex_lock(&comm->lock);
    registered->next = comm->registered;
    comm->registered = registered;
    pthread_mutex_unlock(&comm->lock);
    *out = registered;
    return ncclSuccess;
}

ncclResult_t mr_nccl_CommDeregister(const struct mr_form *form, const ncclComm_t handle, void *given)
{
    struct mr_comm *comm;
    ncclResult_t status = mr_comm_find_any(form->name, handle, &comm);
    if (status != ncclSuccess || !given)
        return status;
    pthread_mutex_lock(&comm->lock);
    struct mr_registered **link = &comm->registered;
    while (*link && *link != given)
        link = &(*link)->next;
    struct mr_registered *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&comm->lock);
    free(found);
    return found ? ncclSuccess
                 : mr_nccl_bad(form->name, ncclInvalidArgument, "the communicator has not given this handle out");
}
