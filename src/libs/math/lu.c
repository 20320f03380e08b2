/* SPDX-License-Identifier: Apache-2.0 */
/* LU without exchanges, by halves: the left half is factorised, its effect on the right half is computed, then what is
 * left of the right half is factorised. So most of the work is in products. */
#include "libs/math/lu.h"

#include <complex.h>

#include "libs/math/letters.h"

#define NARROW 16 /* columns that are done one by one */

static void reciprocal(enum mr_cpu_type type, const void *of, void *to)
{
    switch (type) {
    case MR_CPU_S:
        *(float *)to = 1 / *(const float *)of;
        break;
    case MR_CPU_D:
        *(double *)to = 1 / *(const double *)of;
        break;
    case MR_CPU_C:
        *(float complex *)to = 1 / *(const float complex *)of;
        break;
    default:
        *(double complex *)to = 1 / *(const double complex *)of;
        break;
    }
}

bool mr_is_zero(enum mr_cpu_type type, const void *at)
{
    switch (type) {
    case MR_CPU_S:
        return *(const float *)at == 0;
    case MR_CPU_D:
        return *(const double *)at == 0;
    case MR_CPU_C:
        return *(const float complex *)at == 0;
    default:
        return *(const double complex *)at == 0;
    }
}

static const void *minus_one(enum mr_cpu_type type)
{
    static const float single[2] = {-1, 0};
    static const double two[2] = {-1, 0};
    return mr_real_size_of(type) == 4 ? (const void *)single : two;
}

static const void *one(enum mr_cpu_type type)
{
    static const float single[2] = {1, 0};
    static const double two[2] = {1, 0};
    return mr_real_size_of(type) == 4 ? (const void *)single : two;
}

static int columns(enum mr_cpu_type type, int m, int n, char *a, int lda)
{
    size_t size = mr_size_of(type);
    int first = 0, step = 1;
    for (int j = 0; j < n && j < m; j++) {
        char *pivot = mr_behind(a, j + (int64_t)j * lda, size);
        _Alignas(16) unsigned char factor[16];
        int below = m - j - 1, right = n - j - 1;
        if (mr_is_zero(type, pivot)) {
            first = first ? first : j + 1;
            continue;
        }
        if (below == 0)
            break;
        reciprocal(type, pivot, factor);
        mr_cpu.scal[type](&below, factor, pivot + size, &step);
        if (right > 0)
            (mr_is_complex(type) ? mr_cpu.geru : mr_cpu.ger)[type](&below, &right, minus_one(type), pivot + size, &step,
                                                                   pivot + (size_t)lda * size, &lda,
                                                                   pivot + ((size_t)lda + 1) * size, &lda);
    }
    return first;
}

int mr_plain_lu(enum mr_cpu_type type, int m, int n, void *a, int lda)
{
    if (n <= NARROW || m <= NARROW)
        return columns(type, m, n, a, lda);
    size_t size = mr_size_of(type);
    int left = (m < n ? m : n) / 2, right = n - left, below = m - left;
    char *top = mr_behind(a, (int64_t)left * lda, size), *low = mr_behind(a, left, size);
    char *rest = mr_behind(top, left, size);
    int first = mr_plain_lu(type, m, left, a, lda);
    mr_cpu.trsm[type]("L", "L", "N", "U", &left, &right, one(type), a, &lda, top, &lda);
    mr_cpu.gemm[type]("N", "N", &below, &right, &left, minus_one(type), low, &lda, top, &lda, one(type), rest, &lda);
    int second = mr_plain_lu(type, below, right, rest, lda);
    return first ? first : second ? second + left : 0;
}
