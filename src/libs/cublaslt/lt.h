/* SPDX-License-Identifier: Apache-2.0 */
/* libcublasLt: what its parts share: what is inside descriptors, and how a call is refused. Read this first.
 *
 * cuBLASLt has one operation, D = epilogue(alpha op(A) op(B) + beta C), and describes it by descriptors:
 *
 *   layout       type, shape, order and batch of one matrix; where it lies is said in the call
 *   description  of the product: the type that is computed in, transposes, scales, and the *epilogue*: a bias, an
 *                activation, or the gradient of one, done to the result at once
 *   preference   what a program allows the search for an *algorithm*; here there is one algorithm for each product
 *
 * A descriptor's attributes are set and read by number (attributes.c). A call makes one checked product of them
 * (matmul.h), which is submitted to the stream like all work (libs/math/work.h). */
#ifndef MR_CUBLASLT_LT_H
#define MR_CUBLASLT_LT_H

#include "cublasLt_impl.h"

struct mr_layout {
    cudaDataType type;
    int32_t order; /* cublasLtOrder_t */
    uint64_t rows, columns;
    int64_t ld, stride, plane;
    int32_t batch, batch_mode;
};

struct mr_matmul_desc {
    int32_t compute, scale_type, pointer_mode, transa, transb, transc, fill;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_stride;
    void *aux;
    int64_t aux_ld, aux_stride, alpha_stride;
    int32_t sm_count, aux_type, bias_type; /* -1: as D's */
    int32_t a_mode, b_mode, c_mode, d_mode, aux_mode, out_mode;
    const void *a_scale, *b_scale, *c_scale, *d_scale, *aux_scale;
    void *amax_d, *aux_amax, *out_scale;
    const void *emulation;
    int8_t fast_accumulation;
};

struct mr_transform_desc {
    int32_t scale_type, pointer_mode, transa, transb;
};

struct mr_preference {
    uint32_t search, reductions;
    uint64_t workspace, implementations;
    uint32_t align_a, align_b, align_c, align_d;
    float waves;
};

struct mr_emulation_desc {
    int32_t strategy, special_values, control, bits, offset;
    void *pointer;
};

/* An algorithm: there is one. `settings` keeps what a program sets of it, and nothing reads. */
struct mr_algorithm {
    uint64_t mark;
    int32_t id;
    uint32_t settings[9];
};
#define MR_ALGORITHM_MARK 0x4d696c6c72616365u

/* Says in the logs why a call is refused, and returns the status. */
cublasStatus_t mr_lt_bad(const struct mr_form *form, cublasStatus_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns INVALID_VALUE from a body unless the condition holds. */
#define MR_LT_CHECK(form, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) \
            return mr_lt_bad(form, CUBLAS_STATUS_INVALID_VALUE, "%s does not hold", #condition); \
    } while (0)

/* NOT_INITIALIZED for a handle that is neither of cublasLtCreate nor of cublasCreate; makes a context current in a
 * thread that has none. */
cublasStatus_t mr_lt_enter(const struct mr_form *form, cublasLtHandle_t handle) __attribute__((warn_unused_result));

/* A line for the program's log (cublasLtLogger…). */
void mr_lt_tell(const char *function, const char *text);

#endif
