/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of systems of which some are singular: statuses, infos, and where numbers are infinite or none. */
#include "bl.h"

#include <math.h>
#include <string.h>

#define N 3
#define MEMBERS 5

/* Singular at the last, the second and the first pivot, a matrix of zeros, and one that can be inverted. */
static const int matrices[MEMBERS][N * N] = {{1, 2, 3, 2, 4, 7, 3, 6, 10},
                                             {2, 0, 0, 4, 0, 0, 1, 1, 1},
                                             {0, 0, 0, 1, 2, 1, 1, 1, 4},
                                             {0},
                                             {2, 0, 0, 0, 4, 0, 0, 2, 1}};

struct batch {
    struct bl b;
    void **a, **c; /* on the device */
    int *pivots, *info;
};

static struct batch begin(char type)
{
    static struct batch kept;
    void *a[MEMBERS], *c[MEMBERS];
    double host[MEMBERS * N * N * 2] = {0};
    kept.b = bl_begin(type);
    if (!kept.a) {
        RT_NEED(cudaMalloc((void **)&kept.a, sizeof a));
        RT_NEED(cudaMalloc((void **)&kept.c, sizeof c));
        RT_NEED(cudaMalloc((void **)&kept.pivots, 256));
        RT_NEED(cudaMalloc((void **)&kept.info, 256));
    }
    size_t size = type == 'S' ? 4 : type == 'Z' ? 16 : 8, parts = type == 'S' || type == 'D' ? 1 : 2;
    for (size_t m = 0; m < MEMBERS; m++) {
        a[m] = (char *)kept.b.a + m * N * N * size;
        c[m] = (char *)kept.b.c + m * N * N * size;
        for (size_t i = 0; i < N * N; i++)
            if (type == 'S' || type == 'C')
                ((float *)(void *)host)[(m * N * N + i) * parts] = (float)matrices[m][i];
            else
                host[(m * N * N + i) * parts] = matrices[m][i];
    }
    RT_NEED(cudaMemcpy(kept.b.a, host, MEMBERS * N * N * size, cudaMemcpyDefault));
    RT_NEED(cudaMemcpy(kept.a, a, sizeof a, cudaMemcpyDefault));
    RT_NEED(cudaMemcpy(kept.c, c, sizeof c, cudaMemcpyDefault));
    RT_NEED(cudaMemset(kept.info, 0x77, 256));
    RT_NEED(cudaMemset(kept.pivots, 0, 256));
    return kept;
}

static void say_infos(const struct batch *t)
{
    int info[MEMBERS];
    RT_NEED(cudaMemcpy(info, t->info, sizeof info, cudaMemcpyDefault));
    for (int i = 0; i < MEMBERS; i++)
        say_int(info[i]);
}

/* Each member's numbers: n: none, i, j: infinite, else 16 times the number. */
static void say_members(const struct batch *t, const void *at)
{
    double host[MEMBERS * N * N * 2];
    bool single = t->b.type == 'S' || t->b.type == 'C';
    size_t parts = t->b.type == 'S' || t->b.type == 'D' ? 1 : 2;
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, MEMBERS * N * N * parts * (single ? 4 : 8), cudaMemcpyDefault));
    for (size_t i = 0; i < MEMBERS * N * N * parts; i++) {
        double x = single ? ((float *)(void *)host)[i] : host[i];
        if (isnan(x))
            say_text("n");
        else if (isinf(x))
            say_text(x < 0 ? "j" : "i");
        else
            say_int(llrint(16 * x));
    }
}

#define SINGULAR(letter) \
    CASE(singular, getri_##letter) \
    { \
        struct batch t = begin(#letter[0]); \
        bl(cublas##letter##getrfBatched(t.b.h, N, (void *)t.a, N, t.pivots, t.info, MEMBERS)); \
        say_infos(&t); \
        bl(cublas##letter##getriBatched(t.b.h, N, (void *)t.a, N, t.pivots, (void *)t.c, N, t.info, MEMBERS)); \
        say_infos(&t); \
        say_members(&t, t.b.c); \
    } \
    CASE(singular, plain_##letter) \
    { \
        struct batch t = begin(#letter[0]); \
        bl(cublas##letter##getrfBatched(t.b.h, N, (void *)t.a, N, NULL, t.info, MEMBERS)); \
        say_infos(&t); \
        say_members(&t, t.b.a); \
        bl(cublas##letter##getriBatched(t.b.h, N, (void *)t.a, N, NULL, (void *)t.c, N, t.info, MEMBERS)); \
        say_infos(&t); \
        say_members(&t, t.b.c); \
    } \
    CASE(singular, matinv_##letter) \
    { \
        struct batch t = begin(#letter[0]); \
        bl(cublas##letter##matinvBatched(t.b.h, N, (void *)t.a, N, (void *)t.c, N, t.info, MEMBERS)); \
        say_infos(&t); \
        say_members(&t, t.b.c); \
    } \
    CASE(singular, getrs_##letter) \
    { \
        int host = 77; \
        struct batch t = begin(#letter[0]); \
        bl(cublas##letter##getrfBatched(t.b.h, N, (void *)t.a, N, t.pivots, t.info, MEMBERS)); \
        bl(cublas##letter##getrsBatched(t.b.h, CUBLAS_OP_N, N, 1, (void *)t.a, N, t.pivots, (void *)t.c, N, &host, \
                                        MEMBERS)); \
        say_int(host); \
        say_members(&t, t.b.c); \
    }
SINGULAR(S)
SINGULAR(D)
SINGULAR(C)
SINGULAR(Z)
