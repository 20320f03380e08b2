/* SPDX-License-Identifier: Apache-2.0 */
/* The shared checks' slow sides. */
#include "prepare/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/call.h"
#include "object/device.h"
#include "object/handle.h"

CUresult(mr_bad_value)(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mr_call_log_list(MR_LOG_INFO, format, arguments);
    va_end(arguments);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult(mr_bad_handle)(const char *what, const void *handle)
{
    static const enum mr_kind kinds[] = {MR_KIND_STREAM, MR_KIND_ARRAY, MR_KIND_MIPMAP};
    mr_call_log(MR_LOG_INFO, "%p is not a live %s", handle, what);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mr_object_is_orphan(handle, kinds[i]))
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult mr_device_require(CUdevice ordinal, struct mr_device **out)
{
    *out = mr_device_get(ordinal);
    if (*out)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "there is no device %d", ordinal);
    return CUDA_ERROR_INVALID_DEVICE;
}

bool mr_numa_node_exists(int node)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
    return node == 0 || (node > 0 && access(path, F_OK) == 0);
}
