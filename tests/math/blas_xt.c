/* SPDX-License-Identifier: Apache-2.0 */
/* cublasXt beside plain loops: matrices of the host, of the device and both, on the second device too; packed ones;
 * behind work of the default stream; threads with handles of their own. (Statuses and every function:
 * tests/golden/math/cublas/case_xt.c.) */
#include <cublasXt.h>
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

#define N 150
#define LD 160

struct work {
    double a[N * LD], b[N * LD], c[N * LD], want[N * LD];
};

static void fill(struct work *w)
{
    for (int i = 0; i < N * LD; i++) {
        w->a[i] = (i * 7) % 9 - 4;
        w->b[i] = (i * 5) % 7 - 3;
        w->c[i] = w->want[i] = i % 5;
    }
}

static void multiply(struct work *w)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += w->a[k * LD + i] * w->b[k * LD + j];
            w->want[j * LD + i] = 2 * sum + 3 * w->want[j * LD + i];
        }
}

static void check(struct work *w)
{
    for (int i = 0; i < N * LD; i++)
        CHECK(w->c[i] == w->want[i]);
}

static cublasXtHandle_t select_device(int device)
{
    cublasXtHandle_t h;
    OK(cublasXtCreate(&h));
    OK(cublasXtDeviceSelect(h, 1, &device));
    return h;
}

static const double two = 2, three = 3;

static void *products(void *place)
{
    struct work *w = malloc(sizeof *w);
    CHECK(w);
    cublasXtHandle_t h = select_device(*(int *)place % 2);
    for (int i = 0; i < 5; i++) {
        fill(w);
        multiply(w);
        OK(cublasXtDgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &two, w->a, LD, w->b, LD, &three, w->c, LD));
        check(w);
    }
    OK(cublasXtDestroy(h));
    free(w);
    return NULL;
}

/* The result is the device's, and another one's work that makes it waits in the default stream. */
static void mixed(void)
{
    static struct work w;
    double *device;
    cublasXtHandle_t h = select_device(0);
    int current;
    fill(&w);
    multiply(&w);
    RT(cudaSetDevice(0));
    RT(cudaMalloc((void **)&device, sizeof w.c));
    RT(cudaMemcpyAsync(device, w.c, sizeof w.c, cudaMemcpyHostToDevice, NULL));
    RT(cudaSetDevice(1));
    OK(cublasXtDgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &two, w.a, LD, w.b, LD, &three, device, LD));
    RT(cudaGetDevice(&current));
    CHECK(current == 1);
    RT(cudaMemcpy(w.c, device, sizeof w.c, cudaMemcpyDeviceToHost));
    check(&w);
    RT(cudaFree(device));
    OK(cublasXtDestroy(h));
}

/* Both sides and both triangles of a packed matrix. */
static void packed(void)
{
    static struct work w;
    static double triangle[N * (N + 1) / 2];
    cublasXtHandle_t h = select_device(0);
    for (int upper = 0; upper < 2; upper++)
        for (int right = 0; right < 2; right++) {
            fill(&w);
            double *at = triangle;
            for (int j = 0; j < N; j++)
                for (int i = upper ? 0 : j; i < (upper ? j + 1 : N); i++)
                    *at++ = w.a[j * LD + i] = w.a[i * LD + j];
            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) {
                    double sum = 0;
                    for (int k = 0; k < N; k++)
                        sum += right ? w.b[k * LD + i] * w.a[j * LD + k] : w.a[k * LD + i] * w.b[j * LD + k];
                    w.want[j * LD + i] = 2 * sum + 3 * w.want[j * LD + i];
                }
            OK(cublasXtDspmm(h, right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT,
                             upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, N, N, &two, triangle, w.b, LD,
                             &three, w.c, LD));
            check(&w);
        }
    OK(cublasXtDestroy(h));
}

int main(void)
{
    pthread_t thread[4];
    int places[4] = {0, 1, 2, 3}, both[2] = {0, 1}, boards;
    OK(cublasXtGetNumBoards(2, both, &boards));
    CHECK(boards == 2);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, products, &places[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    mixed();
    packed();
    return 0;
}
