/* SPDX-License-Identifier: Apache-2.0 */
/* What works of the libraries touch, for observers (work.h). */
#include <string.h>

#include "libs/math/driver.h"
#include "libs/math/work.h"

static _Thread_local const char *doing; /* the function of the library that this thread is in, as far as is known */
static _Thread_local bool all_told; /* it has told all that its works touch */

void mr_tell_in(const char *function)
{
    doing = function;
}

bool mr_tell_call(const char *function)
{
    doing = function;
    all_told = mr_math_driver.touch_part && mr_math_driver.touch_part(function, NULL, 0, 0, 0, 0);
    return all_told;
}

void mr_tell_call_over(void)
{
    if (all_told)
        (void)mr_math_driver.touch_part(NULL, NULL, 0, 0, 0, 0);
    doing = NULL;
    all_told = false;
}

void mr_tell_work(void)
{
    if (doing)
        (void)mr_math_driver.touch_part(doing, NULL, 0, 0, 0, all_told ? 0 : MR_NAMES);
}

void mr_tell_no_work(void)
{
    if (!all_told)
        (void)mr_math_driver.touch_part(NULL, NULL, 0, 0, 0, 0);
}

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

/* given: where the pointers lie, how many, bytes of a column, columns, bytes from column to column, how */
static void tell_members(const int64_t *given, mr_tell_add *add, void *touches)
{
    const uintptr_t *member = (const uintptr_t *)(uintptr_t)given[0];
    for (int64_t i = 0; i < given[1]; i++)
        add(touches,
            &(struct mr_tell_box){member[i], (size_t)given[2], (size_t)given[3], (size_t)given[4], (unsigned)given[5]});
}

bool mr_tell_members(const char *function, const void *at, int64_t count, int64_t m, int64_t n, int64_t ld, size_t size,
                     unsigned how)
{
    const int64_t given[MR_TELL_GIVEN] = {(int64_t)(uintptr_t)at, count, m * (int64_t)size, n, ld * (int64_t)size, how};
    if (!at || count <= 0 || m <= 0 || n <= 0)
        return true;
    return mr_tell_rows(function, at, (size_t)count * sizeof(void *), 1, 0, MR_READS) &&
           mr_math_driver.touch_late(function, tell_members, given);
}

/* given: the first element, where the indices lie, how many, bytes of an element; of an index: bytes, and the first;
 * both in one number, with `how` */
static void tell_indexed(const int64_t *given, mr_tell_add *add, void *touches)
{
    int64_t base = given[5] & 1;
    for (int64_t i = 0; i < given[2]; i++) {
        int64_t index = given[4] == 8   ? ((const int64_t *)(uintptr_t)given[1])[i]
                        : given[4] == 4 ? ((const int32_t *)(uintptr_t)given[1])[i]
                                        : ((const uint16_t *)(uintptr_t)given[1])[i];
        add(touches, &(struct mr_tell_box){(uintptr_t)given[0] + (size_t)((index - base) * given[3]), (size_t)given[3],
                                           1, 0, (unsigned)given[5] >> 1});
    }
}

bool mr_tell_indexed(const char *function, const void *at, size_t size, const void *indices, size_t index_size,
                     bool from_1, int64_t count, unsigned how)
{
    const int64_t given[MR_TELL_GIVEN] = {(int64_t)(uintptr_t)at, (int64_t)(uintptr_t)indices, count, (int64_t)size,
                                          (int64_t)index_size,    (int64_t)how << 1 | from_1};
    return !at || !indices || count <= 0 || mr_math_driver.touch_late(function, tell_indexed, given);
}

/* given: where the number lies, what is taken off it, the first element, bytes of an element, how */
static void tell_counted(const int64_t *given, mr_tell_add *add, void *touches)
{
    int64_t count = *(const int32_t *)(uintptr_t)given[0] - given[1];
    if (count > 0)
        add(touches, &(struct mr_tell_box){(uintptr_t)given[2], (size_t)(count * given[3]), 1, 0, (unsigned)given[4]});
}

bool mr_tell_counted(const char *function, const void *at, size_t size, const int *count, int less, unsigned how)
{
    const int64_t given[MR_TELL_GIVEN] = {(int64_t)(uintptr_t)count, less, (int64_t)(uintptr_t)at, (int64_t)size, how};
    return !at || !count || mr_math_driver.touch_late(function, tell_counted, given);
}

/* given: where the numbers lie, how many, the first element, bytes of an element, how */
static void tell_summed(const int64_t *given, mr_tell_add *add, void *touches)
{
    int64_t count = 0;
    for (int64_t i = 0; i < given[1]; i++)
        count += ((const int32_t *)(uintptr_t)given[0])[i];
    if (count > 0)
        add(touches, &(struct mr_tell_box){(uintptr_t)given[2], (size_t)(count * given[3]), 1, 0, (unsigned)given[4]});
}

bool mr_tell_summed(const char *function, const void *at, size_t size, const int *counts, int64_t n, unsigned how)
{
    const int64_t given[MR_TELL_GIVEN] = {(int64_t)(uintptr_t)counts, n, (int64_t)(uintptr_t)at, (int64_t)size, how};
    return !at || !counts || n <= 0 || mr_math_driver.touch_late(function, tell_summed, given);
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
