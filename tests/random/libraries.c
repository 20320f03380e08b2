/* SPDX-License-Identifier: Apache-2.0 */
/* Work that the libraries of mathematics do, whatever bits its words have: copies by a vector's copy, by Fourier
 * transforms of one element each and by a sparse vector's gather; products of 8-bit integers; Sobol's numbers. Plans
 * and generators end before their work does. */
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>

#include "run.h"

enum { GATHERED = 1 << 17 }; /* the most words of a buffer */

/* What each host thread has on a device; the last one is for captures, of which there is one at a time. */
static struct handles {
    cublasHandle_t blas;
    cusparseHandle_t sparse;
} handles[DEVICES][THREADS + 1];

static int *places[DEVICES]; /* 0, 1, 2, … in each device's memory */

bool run_libraries_begin(int device)
{
    static int host[GATHERED];
    CUdeviceptr at;
    for (int i = 0; i < GATHERED; i++)
        host[i] = i;
    if (cuMemAlloc(&at, sizeof host) != CUDA_SUCCESS || cuMemcpyHtoD(at, host, sizeof host) != CUDA_SUCCESS)
        return false;
    places[device] = (int *)(uintptr_t)at;
    for (int i = 0; i <= THREADS; i++)
        if (cublasCreate(&handles[device][i].blas) || cusparseCreate(&handles[device][i].sparse))
            return false;
    return true;
}

/* The call, if all went well so far. */
#define THEN(status, call) ((status) ? (status) : (int)(call))

static int copy_by_blas(cublasHandle_t handle, CUstream stream, const float *from, float *to, int count)
{
    int status = cublasSetStream(handle, stream);
    return THEN(status, cublasScopy(handle, count, from, 1, to, 1));
}

static int copy_by_transform(CUstream stream, const float *from, float *to, int count)
{
    cufftHandle plan;
    int status = cufftPlan1d(&plan, 1, CUFFT_C2C, count / 2);
    if (status)
        return status;
    status = cufftSetStream(plan, stream);
    status =
        THEN(status, cufftExecC2C(plan, (cufftComplex *)(uintptr_t)from, (cufftComplex *)(void *)to, CUFFT_FORWARD));
    int ended = cufftDestroy(plan);
    return status ? status : ended;
}

static int copy_by_gather(cusparseHandle_t handle, CUstream stream, const float *from, float *to, int count, int device)
{
    cusparseSpVecDescr_t sparse = NULL;
    cusparseDnVecDescr_t dense = NULL;
    int status = cusparseSetStream(handle, stream);
    status = THEN(status, cusparseCreateSpVec(&sparse, count, count, places[device], to, CUSPARSE_INDEX_32I,
                                              CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    status = THEN(status, cusparseCreateDnVec(&dense, count, (void *)(uintptr_t)from, CUDA_R_32F));
    status = THEN(status, cusparseGather(handle, dense, sparse));
    (void)cusparseDestroySpVec(sparse);
    (void)cusparseDestroyDnVec(dense);
    return status;
}

/* Each word of `to` is the sum of the products of the four bytes of `from`'s word and of `with`'s first. */
static int multiply(cublasHandle_t handle, CUstream stream, const void *from, const void *with, void *to, int count)
{
    static const int one = 1, zero = 0;
    int status = cublasSetStream(handle, stream);
    return THEN(status,
                cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, count, 1, 4, &one, from, CUDA_R_8I, 4, with, CUDA_R_8I,
                             4, &zero, to, CUDA_R_32I, count, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
}

static int draw(CUstream stream, unsigned salt, unsigned *to, int count)
{
    curandGenerator_t generator;
    int status = curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32);
    if (status)
        return status;
    status = curandSetStream(generator, stream);
    status = THEN(status, curandSetGeneratorOffset(generator, salt & 0xfffff));
    status = THEN(status, curandGenerate(generator, to, (size_t)count));
    int ended = curandDestroyGenerator(generator);
    return status ? status : ended;
}

CUresult run_library(const struct op *op, CUstream stream, int device, CUdeviceptr to, CUdeviceptr from,
                     CUdeviceptr with, int count)
{
    void *target = (void *)(uintptr_t)to, *source = (void *)(uintptr_t)from, *other = (void *)(uintptr_t)with;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    int status = cuStreamIsCapturing(stream, &capturing);
    struct handles *own = &handles[device][capturing ? THREADS : op->thread];
    if (status)
        return (CUresult)status;
    switch (op->kind) {
    case OP_MIX:
        status = multiply(own->blas, stream, source, other, target, count);
        break;
    case OP_MAKE:
        status = draw(stream, op->salt, target, count);
        break;
    default:
        status = op->salt % 3 == 0   ? copy_by_blas(own->blas, stream, source, target, count)
                 : op->salt % 3 == 1 ? copy_by_transform(stream, source, target, count)
                                     : copy_by_gather(own->sparse, stream, source, target, count, device);
    }
    return status ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}
