/* SPDX-License-Identifier: Apache-2.0 */
/* libcublas: what its bodies share. Read this first.
 *
 * A *body* is the function behind an exported one, which is generated: the exported function hands the body a *form*
 * (libs/math/form.h) with its name and with the element type and width of integers that its name stands for, so that
 * cublasSgemm, cublasZgemm_64 and the like are one body. A body
 *
 *   - takes the handle (mr_cublas_enter),
 *   - checks its arguments (MR_CHECK), in the order of the statuses that hardware gives,
 *   - copies scalars that the host has; those in device memory are read when the work runs,
 *   - submits a *record* of what is left with the function that carries it out, cut into parts (libs/math/work.h).
 *
 * The parts call the CPU library (libs/math/cpu.h) or loops of ours, by the level of the operation: level1.c vectors,
 * level2.c and gemv.c a matrix and a vector, level3.c and gemm.c matrices, factor.c factorisations of batches, mixed.c
 * types that no CPU library has. */
#ifndef MR_CUBLAS_BLAS_H
#define MR_CUBLAS_BLAS_H

#include <limits.h>
#include <stdint.h>

#include "cublas_impl.h"
#include "libs/math/cpu.h"
#include "libs/math/letters.h"
#include "libs/math/work.h"

/* Behind a handle. Settings are changed without a lock: the manual asks programs not to do so from two threads. */
struct mr_cublas {
    CUcontext context; /* current when the handle was made */
    CUstream stream;
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasMath_t math_mode;
    int sm_count;
    void *workspace; /* the program's; never needed */
    size_t workspace_size;
    cublasEmulationStrategy_t strategy; /* this one and what follows: kept for the program, and never used */
    cudaEmulationSpecialValuesSupport special_values;
    cudaEmulationMantissaControl mantissa_control;
    int mantissa_bits, mantissa_offset, *mantissa_pointer;
};

/* The handle's record in *blas, and a current context in the thread. NOT_INITIALIZED, with a line in the log, for a
 * handle that is not live. */
cublasStatus_t mr_cublas_enter(const struct mr_form *form, cublasHandle_t handle, struct mr_cublas **blas)
    __attribute__((warn_unused_result));

/* Says in the log why a call is refused, and returns the status. */
cublasStatus_t mr_cublas_bad(const struct mr_form *form, cublasStatus_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns INVALID_VALUE from a body unless the condition holds; the log names the condition. */
#define MR_CHECK(form, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) \
            return mr_cublas_bad(form, CUBLAS_STATUS_INVALID_VALUE, "%s does not hold", #condition); \
    } while (0)

/* Returns NOT_SUPPORTED from a body unless the size, an increment or a leading dimension, fits the CPU library. */
#define MR_FITS(form, size) \
    do { \
        if (__builtin_expect((size) > INT_MAX || (size) < -INT_MAX, 0)) \
            return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "%s is beyond 31 bits", #size); \
    } while (0)

/* The status of a call whose work the driver took or refused. */
cublasStatus_t mr_cublas_status(const struct mr_form *form, CUresult result);

/* Submits on the handle's stream. */
cublasStatus_t mr_cublas_submit(const struct mr_form *form, const struct mr_cublas *blas, uint64_t parts,
                                void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                size_t size) __attribute__((warn_unused_result));

/* Waits for the stream if the result of the call goes to the host. */
cublasStatus_t mr_cublas_finish(const struct mr_form *form, const struct mr_cublas *blas)
    __attribute__((warn_unused_result));

static inline bool mr_cublas_on_device(const struct mr_cublas *blas)
{
    return blas->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
}

/* 1, 0 and -1 of every type. */
const void *mr_one_of(enum mr_cpu_type type);
const void *mr_zero_of(enum mr_cpu_type type);

/* C = alpha op(A) op(B) + beta C on this thread; sizes fit 31 bits. */
void mr_gemm_here(enum mr_cpu_type type, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                  int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  const void *beta, void *c, int64_t ldc);

#endif
