/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of roots. Each entry is computed by itself, within the first eighth of the circle, so that none inherits
 * another's error. */
#include "libs/cufft/roots.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* exp(-2 pi i k / n). */
static void root(int64_t k, int64_t n, double out[2])
{
    /* Eighths of the circle: k / n = eighth / 8 + rest, with the rest's angle computed exactly enough. */
    int64_t eighth = (int64_t)((__int128)k * 8 / n);
    __int128 rest = (__int128)k * 8 - (__int128)eighth * n; /* of n */
    bool back = eighth & 1;
    double part = (double)(back ? (__int128)n - rest : rest) / (double)n; /* of an eighth */
    double angle = part * 0.78539816339744830961566084581988, c = cos(angle), s = sin(angle);
    int quarter = (int)((eighth + back) / 2 % 4); /* the quarter's border from which the angle is taken */
    if (back)
        s = -s;
    const double turned[4][2] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}};
    out[0] = turned[quarter][0];
    out[1] = -turned[quarter][1];
}

struct mr_roots *mr_roots_new(int64_t n)
{
    struct mr_roots *roots = calloc(1, sizeof *roots);
    if (!roots)
        return NULL;
    roots->n = n;
    while (((int64_t)1 << 2 * roots->shift) < n)
        roots->shift++;
    int64_t fine = (int64_t)1 << roots->shift, coarse = (n >> roots->shift) + 1;
    roots->fine = malloc((size_t)fine * sizeof *roots->fine);
    roots->coarse = malloc((size_t)coarse * sizeof *roots->coarse);
    if (!roots->fine || !roots->coarse) {
        mr_roots_free(roots);
        return NULL;
    }
    for (int64_t k = 0; k < fine; k++)
        root(k % n, n, roots->fine[k]);
    for (int64_t k = 0; k < coarse; k++)
        root((k << roots->shift) % n, n, roots->coarse[k]);
    return roots;
}

void mr_roots_free(struct mr_roots *roots)
{
    if (!roots)
        return;
    free(roots->fine);
    free(roots->coarse);
    free(roots);
}
