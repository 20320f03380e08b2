/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of status codes. Both functions work before cuInit. The table is generated
 * from spec/errors.toml and sorted by value, so a code is found by bisection. */
#include <cuda.h>
#include <stddef.h>

#include "api_impl.h"
#include "prepare/check.h"

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
    if (pStr == NULL)
        return mr_bad_value("no place for the result");
    const struct error_row *row = error_row_find(error);
    *pStr = row != NULL ? row->text : NULL;
    return row != NULL ? CUDA_SUCCESS : mr_bad_value("%d is not a status", (int)error);
}

CUresult mr_cuGetErrorName(CUresult error, const char **pStr)
{
    if (pStr == NULL)
        return mr_bad_value("no place for the result");
    const struct error_row *row = error_row_find(error);
    *pStr = row != NULL ? row->name : NULL;
    return row != NULL ? CUDA_SUCCESS : mr_bad_value("%d is not a status", (int)error);
}
