/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of status codes. Both functions work before cuInit. The table is generated
 * from spec/errors.toml and sorted by value, so a code is found by bisection. */
#include <cuda.h>
#include <stddef.h>

#include "api_impl.h"
#include "base/log.h"

struct error_row {
    CUresult code;
    const char *name;
    const char *text;
};

#define MR_ERROR_ROW(name, text) {name, #name, text},
static const struct error_row rows[] = {
#include "error_table.inc"
};
#undef MR_ERROR_ROW

/* The row of `code`, or NULL if there is no such status. */
static const struct error_row *error_row_find(CUresult code)
{
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].code == code) {
            return &rows[middle];
        }
        if (rows[middle].code < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

CUresult mr_cuGetErrorString(CUresult error, const char **pStr)
{
    if (pStr == NULL) {
        mr_log(MR_LOG_INFO, "cuGetErrorString: no place for the result");
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct error_row *row = error_row_find(error);
    *pStr = row != NULL ? row->text : NULL;
    if (row == NULL) {
        mr_log(MR_LOG_INFO, "cuGetErrorString: %d is no status", (int)error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult mr_cuGetErrorName(CUresult error, const char **pStr)
{
    if (pStr == NULL) {
        mr_log(MR_LOG_INFO, "cuGetErrorName: no place for the result");
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct error_row *row = error_row_find(error);
    *pStr = row != NULL ? row->name : NULL;
    if (row == NULL) {
        mr_log(MR_LOG_INFO, "cuGetErrorName: %d is no status", (int)error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
