/* SPDX-License-Identifier: Apache-2.0 */
/* What works of the libraries touch, for observers (work.h). */
#include <string.h>

#include "libs/math/driver.h"
#include "libs/math/work.h"

bool mr_tell_rows(const char *function, const void *at, size_t width, size_t rows, size_t pitch, unsigned how)
{
    if (!at || !width || !rows || !how)
        return true;
    return mr_math_driver.touch_part(function, at, width, rows, rows > 1 ? pitch : width, how);
}

bool mr_tell_matrix(const char *function, const void *at, int64_t m, int64_t n, int64_t ld, size_t size, unsigned how)
{
    return m <= 0 || n <= 0 || mr_tell_rows(function, at, (size_t)m * size, (size_t)n, (size_t)ld * size, how);
}

bool mr_tell_triangle(const char *function, const void *at, bool upper, bool unit, int64_t n, int64_t ld, size_t size,
                      unsigned how)
{
    bool asked = at != NULL;
    for (int64_t column = 0; column < n && asked; column++) {
        int64_t from = upper ? 0 : column + unit, to = upper ? column + !unit : n;
        if (from < to)
            asked = mr_tell_rows(function, (const char *)at + (size_t)(column * ld + from) * size,
                                 (size_t)(to - from) * size, 1, 0, how);
    }
    return asked;
}

bool mr_tell_vector(const char *function, const void *at, int64_t n, int64_t increment, size_t size, unsigned how)
{
    size_t step = (size_t)(increment < 0 ? -increment : increment) * size;
    return n <= 0 || mr_tell_rows(function, at, size, increment ? (size_t)n : 1, step, how);
}

bool mr_tell_scalar(const char *function, const struct mr_scalar *scalar, size_t size)
{
    return !scalar->device || mr_tell_rows(function, scalar->device, size, 1, 0, MR_READS);
}

bool mr_scalar_is_0(const struct mr_scalar *scalar, size_t size)
{
    static const unsigned char zeros[sizeof scalar->value];
    return !scalar->device && memcmp(scalar->value, zeros, size) == 0;
}
