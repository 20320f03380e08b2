/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of cuBLAS stand on. */
#include "bl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void bl(cublasStatus_t status)
{
    char text[40];
    const char *name = cublasGetStatusName(status);
    if (name && strncmp(name, "CUBLAS_STATUS_", 14) == 0)
        snprintf(text, sizeof text, "%s", name + 14);
    else
        snprintf(text, sizeof text, "status=%d", (int)status);
    say_text(text);
}

void bl_need(cublasStatus_t status, const char *what)
{
    char text[200];
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    snprintf(text, sizeof text, "%s status=%d", what, (int)status);
    gold_stop(text);
}

static unsigned element_size(char type)
{
    return type == 'S' ? 4 : type == 'Z' ? 16 : 8;
}

static void put(char type, void *at, size_t index, int real, int imaginary)
{
    switch (type) {
    case 'S':
        ((float *)at)[index] = (float)real;
        break;
    case 'D':
        ((double *)at)[index] = real;
        break;
    case 'C':
        ((float *)at)[2 * index] = (float)real;
        ((float *)at)[2 * index + 1] = (float)imaginary;
        break;
    default:
        ((double *)at)[2 * index] = real;
        ((double *)at)[2 * index + 1] = imaginary;
    }
}

/* Numbers from -4 to 4; the first 33 diagonals of matrices whose columns are 32 or 33 apart are 1 or -1 by nothing but
 * their place, so that divisions are exact where a case needs a triangle (see `a`). */
static void fill(char type, void *device, int seed, bool diagonal)
{
    static char host[BL_ELEMENTS * 16];
    for (int i = 0; i < BL_ELEMENTS; i++) {
        int real = (i * 7 + seed) % 9 - 4, imaginary = (i * 5 + seed) % 7 - 3;
        if (diagonal && i % 33 == 0) {
            real = i % 2 ? 1 : -1;
            imaginary = 0;
        }
        put(type, host, (size_t)i, real, imaginary);
    }
    RT_NEED(cudaMemcpy(device, host, (size_t)BL_ELEMENTS * element_size(type), cudaMemcpyHostToDevice));
}

struct bl bl_begin(char type)
{
    static struct bl kept;
    static double scalars[5][2];
    if (!kept.h) {
        BL_NEED(cublasCreate(&kept.h));
        void **all[] = {&kept.a, &kept.b, &kept.c};
        for (int i = 0; i < 3; i++)
            RT_NEED(cudaMalloc(all[i], BL_ELEMENTS * 16));
    }
    BL_NEED(cublasSetStream(kept.h, NULL));
    BL_NEED(cublasSetPointerMode(kept.h, CUBLAS_POINTER_MODE_HOST));
    BL_NEED(cublasSetMathMode(kept.h, CUBLAS_DEFAULT_MATH));
    kept.type = type;
    memset(scalars, 0, sizeof scalars);
    put(type, scalars[0], 0, 1, 0);
    put(type, scalars[1], 0, 2, 0);
    put(type, scalars[3], 0, 2, 3);
    put(type == 'S' || type == 'C' ? 'S' : 'D', scalars[4], 0, 3, 0);
    kept.one = scalars[0];
    kept.two = scalars[1];
    kept.zero = scalars[2];
    kept.i = scalars[3];
    kept.real = scalars[4];
    fill(type, kept.a, 1, true); /* with columns 32 apart: ones on the diagonal */
    fill(type, kept.b, 3, false);
    fill(type, kept.c, 5, false);
    return kept;
}

void bl_say(const struct bl *b, const void *at, size_t count)
{
    static char host[BL_ELEMENTS * 16];
    static long long whole[2 * BL_ELEMENTS];
    bool single = b->type == 'S' || b->type == 'C';
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * element_size(b->type), cudaMemcpyDefault));
    size_t numbers = b->type == 'C' || b->type == 'Z' ? 2 * count : count;
    for (size_t i = 0; i < numbers; i++)
        whole[i] = llrint(single ? (double)((float *)(void *)host)[i] : ((double *)(void *)host)[i]);
    if (numbers <= 4)
        for (size_t i = 0; i < numbers; i++)
            say_int(whole[i]);
    else
        say_hash(whole, numbers * sizeof *whole);
}
