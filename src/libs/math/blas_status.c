/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the statuses that cuBLAS and cuBLASLt share. */
#include "libs/math/blas_status.h"

#include <cublas_api.h>

static const struct {
    int status;
    const char *name, *text;
} statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "no handle, or the library could not start"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "memory could not be had"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "a parameter is wrong"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the device lacks what the function needs"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "memory could not be reached"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the work failed, or could not be started"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "the library failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the library can't do that"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "there is no licence"},
};
#define STATUSES (sizeof statuses / sizeof *statuses)

const char *mr_blas_status_name(int status)
{
    for (unsigned i = 0; i < STATUSES; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "unknown status";
}

const char *mr_blas_status_text(int status)
{
    for (unsigned i = 0; i < STATUSES; i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "unknown status";
}
