/* SPDX-License-Identifier: Apache-2.0 */
/* Handles between processes: device memory and events (driver API manual, inter-process functions of Memory and Event
 * Management).
 *
 * A handle is 64 bytes that a program carries to another process of the same user by whatever means. How memory becomes
 * shared is told in src/memory/export.c, how events are in src/event/shared.c, what is in a handle in src/share.
 * docs/ipc.md is the page about all of it. */
#include <cuda.h>

#include <string.h>

#include "api/state.h"
#include "api_impl.h"
#include "base/call.h"
#include "event/shared.h"
#include "kernel/fault.h"
#include "memory/export.h"
#include "object/context.h"
#include "prepare/check.h"
#include "share/share.h"
#include "stream/stream.h"

_Static_assert(sizeof(CUipcMemHandle) == sizeof(struct mr_share_handle), "the handle is the manual's 64 bytes");
_Static_assert(sizeof(CUipcEventHandle) == sizeof(struct mr_share_handle), "the handle is the manual's 64 bytes");

/* Hardware looks at the arguments before it asks whether the driver has been initialised. */
CUresult mr_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    struct mr_context *context;
    struct mr_share_handle handle;
    if (!pHandle)
        return mr_bad_value("pHandle is NULL");
    if (!dptr)
        return mr_bad_value("dptr is NULL");
    if (!mr_driver_open())
        return mr_driver_refuse();
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    mr_fault_set_retry(mr_memory_export_wait);
    status = mr_memory_export((uintptr_t)dptr, &handle);
    if (status == CUDA_SUCCESS)
        memcpy(pHandle, &handle, sizeof handle);
    return status;
}

/* Of the flags hardware asks for the one that there is, and looks at no other. */
CUresult mr_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    struct mr_context *context;
    struct mr_share_handle parts;
    uintptr_t address;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pdptr)
        return mr_bad_value("pdptr is NULL");
    if (!(Flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        return mr_bad_value("the flags are %#x, without CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS", Flags);
    if (!mr_share_handle_read(&handle, MR_SHARE_MEMORY, &parts))
        return mr_bad_value("the handle is not that of memory");
    status = mr_memory_import(context, &parts, &address);
    if (status == CUDA_SUCCESS)
        *pdptr = address;
    return status;
}

/* As cuMemFree does, the last close waits for the work of the context that has the memory open; it need not be the
 * current one. */
CUresult mr_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct mr_context *current;
    bool last;
    CUresult status = mr_context_require(&current);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_context *context = mr_memory_import_context((uintptr_t)dptr, &last);
    if (!context)
        return mr_bad_value("%#llx was not opened by cuIpcOpenMemHandle", (unsigned long long)dptr);
    if (last)
        status = mr_context_synchronize(context);
    return status == CUDA_SUCCESS ? mr_memory_import_close((uintptr_t)dptr) : status;
}

/* As hardware does, clears the handle where there is none to give. */
CUresult mr_cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    struct mr_context *context;
    struct mr_share_handle handle = {0};
    if (!pHandle)
        return mr_bad_value("pHandle is NULL");
    if (!event)
        return mr_bad_value("event is NULL");
    if (!mr_driver_open())
        return mr_driver_refuse();
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_event *found = mr_object_acquire(event, MR_KIND_EVENT);
    if (!found)
        return mr_bad_handle("event", event);
    status = mr_event_export(found, &handle);
    mr_object_drop(found);
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_HANDLE)
        memcpy(pHandle, &handle, sizeof handle);
    return status;
}

/* Bytes that are no handle give another status here than for memory, as on hardware. */
CUresult mr_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    struct mr_context *context;
    struct mr_share_handle parts;
    struct mr_event *event;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!phEvent)
        return mr_bad_value("phEvent is NULL");
    if (!mr_share_handle_read(&handle, MR_SHARE_EVENT, &parts)) {
        mr_call_log(MR_LOG_INFO, "the handle is not that of an event");
        return CUDA_ERROR_MAP_FAILED;
    }
    status = mr_event_import(context, &parts, &event);
    if (status == CUDA_SUCCESS)
        *phEvent = mr_object_handle(event);
    return status;
}
