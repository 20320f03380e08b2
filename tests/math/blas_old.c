/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS's old interface (cublas.h) beside plain loops: numbers that functions return, scalars by value of all types,
 * letters, order with a stream, capture, threads that fail beside threads that don't. (Statuses and every function:
 * tests/golden/math/cublas/case_old.c.) */
#include <cublas.h>
#include <cuda_runtime_api.h>

#include <complex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

#define N 70
#define LD 80
typedef double complex number;

static number host[3][N * LD], want[N * LD], got[N * LD];
static double real_host[N * LD], real_got[N * LD];
static number *device[3];
static double *real_device;

/* Whole numbers, so that sums are exact. */
static void fill(void)
{
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < N * LD; i++)
            host[m][i] = (i * 7 + m) % 9 - 4 + ((i * 5 + m) % 7 - 3) * I;
        if (!device[m])
            OK(cublasAlloc(N * LD, sizeof **host, (void **)&device[m]));
        OK(cublasSetVector(N * LD, sizeof **host, host[m], 1, device[m], 1));
    }
    for (int i = 0; i < N * LD; i++)
        real_host[i] = creal(host[1][i]);
    if (!real_device)
        OK(cublasAlloc(N * LD, sizeof *real_host, (void **)&real_device));
    OK(cublasSetVector(N * LD, sizeof *real_host, real_host, 1, real_device, 1));
}

static void check_last(void)
{
    OK(cublasGetError());
    OK(cublasGetVector(N * LD, sizeof *got, device[2], 1, got, 1));
    for (int i = 0; i < N * LD; i++)
        CHECK(got[i] == want[i]);
}

static cuDoubleComplex of(number value)
{
    return (cuDoubleComplex){creal(value), cimag(value)};
}
#define Z(m) ((cuDoubleComplex *)device[m])

/* ---- numbers, and scalars by value ---- */

static void numbers(void)
{
    fill();
    number plain = 0, conjugated = 0;
    double sum = 0, real = 0;
    for (int i = 0; i < N; i++) {
        plain += host[0][2 * i] * host[1][3 * i];
        conjugated += conj(host[0][2 * i]) * host[1][3 * i];
        sum += (creal(host[0][2 * i]) < 0 ? -creal(host[0][2 * i]) : creal(host[0][2 * i])) +
               (cimag(host[0][2 * i]) < 0 ? -cimag(host[0][2 * i]) : cimag(host[0][2 * i]));
        real += real_host[i] * real_host[i];
    }
    cuDoubleComplex u = cublasZdotu(N, Z(0), 2, Z(1), 3), c = cublasZdotc(N, Z(0), 2, Z(1), 3);
    CHECK(u.x == creal(plain) && u.y == cimag(plain) && c.x == creal(conjugated) && c.y == cimag(conjugated));
    CHECK(cublasDzasum(N, Z(0), 2) == sum);
    CHECK(cublasDdot(N, real_device, 1, real_device, 1) == real);
    int place = cublasIdamax(N, real_device, 1);
    CHECK(place >= 1 && place <= N && (real_host[place - 1] == 4 || real_host[place - 1] == -4));
    OK(cublasGetError());
}

static void scalars(void)
{
    fill();
    memcpy(want, host[2], sizeof want);
    for (int i = 0; i < N; i++)
        want[i] = (want[i] + (2 + 3 * I) * host[0][i]) * 5;
    cublasZaxpy(N, of(2 + 3 * I), Z(0), 1, Z(2), 1);
    cublasZdscal(N, 5, Z(2), 1);
    check_last();
    /* a rank-1 update whose factor is real */
    fill();
    memcpy(want, host[2], sizeof want);
    for (int j = 0; j < N; j++)
        for (int i = 0; i <= j; i++) {
            number product = 3 * host[1][i] * conj(host[1][j]) + want[j * LD + i];
            want[j * LD + i] = i == j ? creal(product) : product;
        }
    cublasZher('u', N, 3, Z(1), 1, Z(2), LD);
    check_last();
}

/* ---- matrices ---- */

static number part(const number *matrix, char op, int row, int column)
{
    if (op == 'N' || op == 'n')
        return matrix[column * LD + row];
    number value = matrix[row * LD + column];
    return op == 'C' || op == 'c' ? conj(value) : value;
}

static void products(void)
{
    static const char letters[] = "NtCnTc";
    for (int a = 0; a < 3; a++)
        for (int b = 3; b < 6; b++) {
            fill();
            memcpy(want, host[2], sizeof want);
            for (int j = 0; j < N - 3; j++)
                for (int i = 0; i < N; i++) {
                    number sum = 0;
                    for (int k = 0; k < N - 5; k++)
                        sum += part(host[0], letters[a], i, k) * part(host[1], letters[b], k, j);
                    want[j * LD + i] = (1 + 2 * I) * sum + (2 - I) * want[j * LD + i];
                }
            cublasZgemm(letters[a], letters[b], N, N - 3, N - 5, of(1 + 2 * I), Z(0), LD, Z(1), LD, of(2 - I), Z(2),
                        LD);
            check_last();
        }
}

/* In place, unlike the younger function. */
static void triangles(void)
{
    fill();
    memcpy(want, host[2], sizeof want);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            number sum = 0;
            for (int k = i; k < N; k++)
                sum += host[0][k * LD + i] * host[2][j * LD + k];
            want[j * LD + i] = 2 * sum;
        }
    cublasZtrmm('L', 'U', 'N', 'n', N, N, of(2), Z(0), LD, Z(2), LD);
    check_last();
}

static void ranks(void)
{
    fill();
    memcpy(want, host[2], sizeof want);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++) {
            number sum = 0;
            for (int k = 0; k < 9; k++)
                sum += host[0][k * LD + i] * conj(host[0][k * LD + j]);
            sum = 2 * sum + 3 * want[j * LD + i];
            want[j * LD + i] = i == j ? creal(sum) : sum;
        }
    cublasZherk('l', 'N', N, 9, 2, Z(0), LD, 3, Z(2), LD);
    check_last();
}

/* ---- streams and threads ---- */

static void wait_for(void *flag)
{
    while (!__atomic_load_n((int *)flag, __ATOMIC_ACQUIRE))
        ;
}

/* Behind what the stream has to do; captured too. */
static void streams(void)
{
    int flag = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    fill();
    RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cublasSetKernelStream(stream));
    RT(cudaLaunchHostFunc(stream, wait_for, &flag));
    cublasDscal(N, 3, real_device, 1);
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    RT(cudaMemcpyAsync(real_got, real_device, sizeof real_got, cudaMemcpyDeviceToHost, stream));
    RT(cudaStreamSynchronize(stream));
    for (int i = 0; i < N * LD; i++)
        CHECK(real_got[i] == (i < N ? 3 : 1) * real_host[i]);
    RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cublasDaxpy(N, 1, real_device, 1, real_device + N, 1);
    RT(cudaStreamEndCapture(stream, &graph));
    RT(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        RT(cudaGraphLaunch(exec, stream));
    RT(cudaMemcpyAsync(real_got, real_device, sizeof real_got, cudaMemcpyDeviceToHost, stream));
    RT(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        CHECK(real_got[N + i] == real_host[N + i] + 9 * real_host[i]);
    OK(cublasSetKernelStream(NULL));
    RT(cudaGraphExecDestroy(exec));
    RT(cudaGraphDestroy(graph));
    RT(cudaStreamDestroy(stream));
    OK(cublasGetError());
}

static void *sums(void *unused)
{
    for (int i = 0; i < 300; i++)
        CHECK(cublasDasum(1, real_device, 1) == (real_host[0] < 0 ? -real_host[0] : real_host[0]));
    return unused;
}

static void *errors(void *unused)
{
    for (int i = 0; i < 300; i++)
        cublasDgemm('Q', 'N', 1, 1, 1, 1, real_device, 1, real_device, 1, 0, real_device, 1);
    return unused;
}

static void threads(void)
{
    pthread_t thread[4];
    fill();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, i % 2 ? errors : sums, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    (void)cublasGetError();
    cublasDgemm('Q', 'N', 1, 1, 1, 1, real_device, 1, real_device, 1, 0, real_device, 1);
    CHECK(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE);
    OK(cublasGetError());
}

int main(void)
{
    fill(); /* the library begins by itself, or by cublasInit, or anew after its end */
    CHECK(cublasDasum(0, real_device, 1) == 0);
    OK(cublasShutdown());
    OK(cublasInit());
    numbers();
    scalars();
    products();
    triangles();
    ranks();
    streams();
    threads();
    for (int m = 0; m < 3; m++)
        OK(cublasFree(device[m]));
    OK(cublasFree(real_device));
    OK(cublasShutdown());
    OK(cublasShutdown());
    return 0;
}
