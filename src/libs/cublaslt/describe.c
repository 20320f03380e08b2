/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a product's descriptors. The CPU library knows matrices by columns; one by rows is the transpose of one by
 * columns. If D is by rows, the transpose of the product is computed: A and B change places. */
#include "libs/cublaslt/matmul.h"
#include "libs/math/convert.h"
#include "libs/math/letters.h"

enum plain { PLAIN_16F, PLAIN_32F, PLAIN_64F, PLAIN_32I, PLAIN_NONE };

static enum plain plain_of(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return PLAIN_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return PLAIN_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return PLAIN_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return PLAIN_32I;
    default:
        return PLAIN_NONE;
    }
}

static bool is_small(cudaDataType_t type)
{
    return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

bool mr_lt_has_types(cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                     cudaDataType_t c, cudaDataType_t d)
{
    bool halves = c == CUDA_R_16F || c == CUDA_R_16BF || c == CUDA_R_32F;
    switch (plain_of(compute)) {
    case PLAIN_16F:
        return scale == CUDA_R_16F && a == scale && b == scale && c == scale && d == scale;
    case PLAIN_32I:
        return a == CUDA_R_8I && b == a && c == d &&
               ((scale == CUDA_R_32I && c == CUDA_R_32I) || (scale == CUDA_R_32F && c == CUDA_R_8I));
    case PLAIN_64F:
        return (scale == CUDA_R_64F || scale == CUDA_C_64F) && a == scale && b == scale && c == scale && d == scale;
    case PLAIN_32F:
        if (scale == CUDA_C_32F)
            return a == scale && b == scale && c == scale && d == scale;
        if (scale != CUDA_R_32F || !halves)
            return false;
        if (is_small(a) && is_small(b)) /* hardware has no two of E5M2 */
            return (a == CUDA_R_8F_E4M3 || b == CUDA_R_8F_E4M3) && (d == c || is_small(d));
        if (a != b || c != d)
            return false;
        return a == c || ((a == CUDA_R_16F || a == CUDA_R_16BF || a == CUDA_R_8I) && c == CUDA_R_32F);
    default:
        return false;
    }
}

/* Types that hardware calls wrong, not merely unsupported: A and B differ in kind, or C and D do, or the scalars differ
 * from the elements. */
static bool contradicts(cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                        cudaDataType_t c, cudaDataType_t d)
{
    if (plain_of(compute) == PLAIN_64F && a == CUDA_R_64F)
        return scale != CUDA_R_64F;
    return (a != b && !(is_small(a) && is_small(b))) || (c != d && !is_small(a)) ||
           mr_element_is_complex(scale) != mr_element_is_complex(a);
}

/* The steps of an epilogue; false for one that does not exist. Gradients of the bias are apart. */
static bool steps_of(uint32_t epilogue, unsigned *steps, bool *sums, bool *sums_a, bool *sums_b)
{
    *steps = 0;
    *sums = *sums_a = *sums_b = false;
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
        return true;
    case CUBLASLT_EPILOGUE_BGRADA:
        *sums = *sums_a = true;
        return true;
    case CUBLASLT_EPILOGUE_BGRADB:
        *sums = *sums_b = true;
        return true;
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
        *sums = true;
        *steps = epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD ? MR_EPILOGUE_RELU_BACK : MR_EPILOGUE_GELU_BACK;
        return true;
    case CUBLASLT_EPILOGUE_DRELU:
        *steps = MR_EPILOGUE_RELU_BACK;
        return true;
    case CUBLASLT_EPILOGUE_DGELU:
        *steps = MR_EPILOGUE_GELU_BACK;
        return true;
    default:
        *steps = (epilogue & CUBLASLT_EPILOGUE_BIAS ? MR_EPILOGUE_BIAS : 0) |
                 (epilogue & CUBLASLT_EPILOGUE_RELU ? MR_EPILOGUE_RELU : 0) |
                 (epilogue & CUBLASLT_EPILOGUE_GELU ? MR_EPILOGUE_GELU : 0) | (epilogue & 128u ? MR_EPILOGUE_AUX : 0);
        return (epilogue & ~(4u | 2u | 32u | 128u)) == 0 && *steps && (epilogue & 34u) != 34u &&
               ((epilogue & 128u) == 0 || (epilogue & 34u) != 0);
    }
}

static bool is_op(int32_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static cublasStatus_t check_layout(const struct mr_form *form, const struct mr_layout *l)
{
    MR_LT_CHECK(form, mr_element_size(l->type) != 0);
    MR_LT_CHECK(form, l->order != CUBLASLT_ORDER_COL32 || l->type == CUDA_R_8I || l->type == CUDA_R_32I);
    if (l->order != CUBLASLT_ORDER_COL && l->order != CUBLASLT_ORDER_ROW)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "matrices of order %d", (int)l->order);
    if (l->rows > INT32_MAX || l->columns > INT32_MAX || l->ld > INT32_MAX)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "a size beyond 31 bits");
    MR_LT_CHECK(form, l->ld >= (int64_t)(l->order == CUBLASLT_ORDER_COL ? l->rows : l->columns) && l->batch >= 0);
    return CUBLAS_STATUS_SUCCESS;
}

/* The CPU library's letter for op(the matrix), as a matrix by columns; 0 if there is none. */
static char letter_of(int32_t op, int32_t order, bool complex)
{
    if (order == CUBLASLT_ORDER_COL)
        return mr_letter_of_op((cublasOperation_t)op);
    if (op == CUBLAS_OP_N)
        return 'T';
    if (op == CUBLAS_OP_C && complex)
        return 0;
    return 'N';
}

static char transposed(char letter)
{
    switch (letter) {
    case 'N':
        return 'T';
    case 'T':
        return 'N';
    default:
        return 0;
    }
}

static struct mr_matrix matrix_of(const struct mr_layout *l)
{
    return (struct mr_matrix){.type = l->type, .ld = l->ld, .stride = l->stride};
}

static cublasStatus_t refuse_unknown(const struct mr_form *form, const struct mr_matmul_desc *desc,
                                     const struct mr_layout *d)
{
    if (desc->transc != CUBLAS_OP_N || desc->fill != CUBLAS_FILL_MODE_FULL)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "a transposed C, or a triangle of D");
    if (desc->pointer_mode != CUBLASLT_POINTER_MODE_HOST && desc->pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "vectors of alpha or beta");
    if (desc->amax_d || desc->aux_amax || desc->aux_scale || desc->out_scale)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "largest magnitudes, and scales of the auxiliary matrix");
    if ((desc->a_scale && desc->a_mode) || (desc->b_scale && desc->b_mode) || (desc->c_scale && desc->c_mode) ||
        (desc->d_scale && desc->d_mode))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "scales for vectors and blocks");
    if (d->batch_mode != CUBLASLT_BATCH_MODE_STRIDED && d->batch_mode != CUBLASLT_BATCH_MODE_POINTER_ARRAY)
        return mr_lt_bad(form, CUBLAS_STATUS_INVALID_VALUE, "the batch's mode is %d", (int)d->batch_mode);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t set_epilogue(const struct mr_form *form, const struct mr_matmul_desc *desc,
                                   const struct mr_layout *a, const struct mr_layout *b, const struct mr_layout *c,
                                   const struct mr_layout *d, struct mr_matmul *out)
{
    struct mr_product *p = &out->product;
    unsigned steps;
    if (desc->epilogue >= 1024)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "epilogue %u", desc->epilogue);
    MR_LT_CHECK(form, steps_of(desc->epilogue, &steps, &out->has_sums, &out->sums_a, &out->sums_b));
    if (steps && (p->complex || d->type == CUDA_R_32I))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "an epilogue for complex numbers or integers");
    bool needs_aux = steps & (MR_EPILOGUE_AUX | MR_EPILOGUE_RELU_BACK | MR_EPILOGUE_GELU_BACK);
    if ((needs_aux || (steps & MR_EPILOGUE_BIAS) || out->has_sums) && (out->swapped || p->pointers))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED,
                         "an epilogue with a bias or an auxiliary matrix, and D by rows or in an array");
    cudaDataType_t own = is_small(d->type) ? c->type : d->type;
    p->epilogue = (struct mr_epilogue){.steps = steps,
                                       .bias = desc->bias,
                                       .bias_type = desc->bias_type == -1 ? own : (cudaDataType_t)desc->bias_type,
                                       .bias_stride = desc->bias_stride,
                                       .aux = needs_aux ? desc->aux : NULL,
                                       .aux_type = desc->aux_type == -1 ? d->type : (cudaDataType_t)desc->aux_type,
                                       .aux_ld = desc->aux_ld,
                                       .aux_stride = desc->aux_stride};
    bool bits = steps & (MR_EPILOGUE_RELU | MR_EPILOGUE_RELU_BACK);
    MR_LT_CHECK(form, !needs_aux || (desc->aux_ld >= p->m && (!bits || desc->aux_ld % 128 == 0)));
    if (out->has_sums) {
        bool plain = out->sums_a ? p->transa == 'N' : p->transb == 'N';
        const struct mr_layout *of = out->sums_a ? a : out->sums_b ? b : d;
        out->sums = (struct mr_sums){.from = matrix_of(of),
                                     .to = {NULL, p->epilogue.bias_type, 0, desc->bias_stride},
                                     .rows = (int64_t)of->rows,
                                     .columns = (int64_t)of->columns,
                                     .batch = d->batch,
                                     .of_rows = out->sums_a   ? plain
                                                : out->sums_b ? !plain
                                                              : true};
        if ((out->sums_a || out->sums_b) && of->order != CUBLASLT_ORDER_COL)
            return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "a bias' gradient from a matrix by rows");
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_lt_describe(const struct mr_form *form, const struct mr_matmul_desc *desc, const struct mr_layout *a,
                              const struct mr_layout *b, const struct mr_layout *c, const struct mr_layout *d,
                              struct mr_matmul *out)
{
    const struct mr_layout *all[] = {a, b, c, d};
    MR_LT_CHECK(form, desc && a && b && c && d);
    for (int i = 0; i < 4; i++) {
        cublasStatus_t status = check_layout(form, all[i]);
        if (status != CUBLAS_STATUS_SUCCESS)
            return status;
        MR_LT_CHECK(form, all[i]->batch == d->batch && all[i]->batch_mode == d->batch_mode);
    }
    MR_LT_CHECK(form, is_op(desc->transa) && is_op(desc->transb));
    cublasStatus_t status = refuse_unknown(form, desc, d);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (contradicts((cublasComputeType_t)desc->compute, (cudaDataType_t)desc->scale_type, a->type, b->type, c->type,
                    d->type))
        return mr_lt_bad(form, CUBLAS_STATUS_INVALID_VALUE, "types %d, %d, %d and %d contradict each other",
                         (int)a->type, (int)b->type, (int)c->type, (int)d->type);
    if (!mr_lt_has_types((cublasComputeType_t)desc->compute, (cudaDataType_t)desc->scale_type, a->type, b->type,
                         c->type, d->type))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED,
                         "no product has elements of types %d, %d, %d and %d with this computation", (int)a->type,
                         (int)b->type, (int)c->type, (int)d->type);
    bool plain_a = desc->transa == CUBLAS_OP_N, plain_b = desc->transb == CUBLAS_OP_N;
    uint64_t m = plain_a ? a->rows : a->columns, k = plain_a ? a->columns : a->rows;
    uint64_t n = plain_b ? b->columns : b->rows;
    MR_LT_CHECK(form, (plain_b ? b->rows : b->columns) == k);
    MR_LT_CHECK(form, d->rows == m && d->columns == n && c->rows == m && c->columns == n && c->order == d->order);
    bool complex = mr_element_is_complex((cudaDataType_t)desc->scale_type);
    enum plain plain = plain_of((cublasComputeType_t)desc->compute);
    char ta = letter_of(desc->transa, a->order, complex), tb = letter_of(desc->transb, b->order, complex);
    *out = (struct mr_matmul){.swapped = d->order == CUBLASLT_ORDER_ROW};
    if (out->swapped) {
        char first = transposed(tb);
        tb = transposed(ta);
        ta = first;
    }
    if (!ta || !tb)
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "conjugated matrices by rows");
    out->product = (struct mr_product){.function = form->name,
                                       .transa = ta,
                                       .transb = tb,
                                       .m = (int64_t)(out->swapped ? n : m),
                                       .n = (int64_t)(out->swapped ? m : n),
                                       .k = (int64_t)k,
                                       .wide = plain == PLAIN_64F || plain == PLAIN_32I,
                                       .complex = complex,
                                       .scale_type = (cudaDataType_t)desc->scale_type,
                                       .factors = {desc->a_scale, desc->b_scale, desc->c_scale, desc->d_scale},
                                       .a = matrix_of(out->swapped ? b : a),
                                       .b = matrix_of(out->swapped ? a : b),
                                       .c = matrix_of(c),
                                       .d = matrix_of(d),
                                       .batch = d->batch,
                                       .pointers = d->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY};
    return set_epilogue(form, desc, a, b, c, d, out);
}
