/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: made, ended, asked and set. A table for each kind says where an attribute is and how large. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libs/cublaslt/lt.h"

struct attribute {
    int name;
    unsigned short at, size;
};

#define FIELD(name, type, field) {name, offsetof(struct type, field), sizeof(((struct type *)0)->field)}

static const struct attribute layout[] = {
    FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, mr_layout, type),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, mr_layout, order),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, mr_layout, rows),
    FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, mr_layout, columns),
    FIELD(CUBLASLT_MATRIX_LAYOUT_LD, mr_layout, ld),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, mr_layout, batch),
    FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, mr_layout, stride),
    FIELD(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, mr_layout, plane),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, mr_layout, batch_mode),
};

static const struct attribute matmul[] = {
    FIELD(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, mr_matmul_desc, compute),
    FIELD(CUBLASLT_MATMUL_DESC_SCALE_TYPE, mr_matmul_desc, scale_type),
    FIELD(CUBLASLT_MATMUL_DESC_POINTER_MODE, mr_matmul_desc, pointer_mode),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSA, mr_matmul_desc, transa),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSB, mr_matmul_desc, transb),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSC, mr_matmul_desc, transc),
    FIELD(CUBLASLT_MATMUL_DESC_FILL_MODE, mr_matmul_desc, fill),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, mr_matmul_desc, epilogue),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, mr_matmul_desc, bias),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, mr_matmul_desc, bias_stride),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mr_matmul_desc, aux),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, mr_matmul_desc, aux_ld),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, mr_matmul_desc, aux_stride),
    FIELD(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, mr_matmul_desc, alpha_stride),
    FIELD(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, mr_matmul_desc, sm_count),
    FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, mr_matmul_desc, a_scale),
    FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, mr_matmul_desc, b_scale),
    FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, mr_matmul_desc, c_scale),
    FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, mr_matmul_desc, d_scale),
    FIELD(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, mr_matmul_desc, amax_d),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, mr_matmul_desc, aux_type),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, mr_matmul_desc, aux_scale),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, mr_matmul_desc, aux_amax),
    FIELD(CUBLASLT_MATMUL_DESC_FAST_ACCUM, mr_matmul_desc, fast_accumulation),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, mr_matmul_desc, bias_type),
    FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mr_matmul_desc, a_mode),
    FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mr_matmul_desc, b_mode),
    FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, mr_matmul_desc, c_mode),
    FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, mr_matmul_desc, d_mode),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, mr_matmul_desc, aux_mode),
    FIELD(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, mr_matmul_desc, out_scale),
    FIELD(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, mr_matmul_desc, out_mode),
    FIELD(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, mr_matmul_desc, emulation),
};

static const struct attribute transform[] = {
    FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, mr_transform_desc, scale_type),
    FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, mr_transform_desc, pointer_mode),
    FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, mr_transform_desc, transa),
    FIELD(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, mr_transform_desc, transb),
};

static const struct attribute preference[] = {
    FIELD(CUBLASLT_MATMUL_PREF_SEARCH_MODE, mr_preference, search),
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, mr_preference, workspace),
    FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, mr_preference, reductions),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, mr_preference, align_a),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, mr_preference, align_b),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, mr_preference, align_c),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, mr_preference, align_d),
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, mr_preference, waves),
    FIELD(CUBLASLT_MATMUL_PREF_IMPL_MASK, mr_preference, implementations),
};

static const struct attribute emulation[] = {
    FIELD(CUBLASLT_EMULATION_DESC_STRATEGY, mr_emulation_desc, strategy),
    FIELD(CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT, mr_emulation_desc, special_values),
    FIELD(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL, mr_emulation_desc, control),
    FIELD(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, mr_emulation_desc, bits),
    FIELD(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET, mr_emulation_desc, offset),
    FIELD(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, mr_emulation_desc, pointer),
};

#define FITS(type, public) _Static_assert(sizeof(struct type) <= sizeof(public), "what programs have on their stack")
FITS(mr_layout, cublasLtMatrixLayoutOpaque_t);
FITS(mr_matmul_desc, cublasLtMatmulDescOpaque_t);
FITS(mr_transform_desc, cublasLtMatrixTransformDescOpaque_t);
FITS(mr_preference, cublasLtMatmulPreferenceOpaque_t);
FITS(mr_emulation_desc, cublasLtEmulationDescOpaque_t);
FITS(mr_algorithm, cublasLtMatmulAlgo_t);

static const struct attribute *find(const struct attribute *table, size_t count, int name)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].name == name)
            return &table[i];
    return NULL;
}

static cublasStatus_t set(const struct mr_form *form, const struct attribute *table, size_t count, void *to, int name,
                          const void *from, size_t size)
{
    const struct attribute *attribute = find(table, count, name);
    MR_LT_CHECK(form, to && from && attribute);
    MR_LT_CHECK(form, size == attribute->size);
    memcpy((char *)to + attribute->at, from, size);
    return CUBLAS_STATUS_SUCCESS;
}

/* With a size of 0 only *written is answered: how much room is needed. */
static cublasStatus_t get(const struct mr_form *form, const struct attribute *table, size_t count, const void *from,
                          int name, void *to, size_t size, size_t *written)
{
    const struct attribute *attribute = find(table, count, name);
    MR_LT_CHECK(form, from && attribute);
    MR_LT_CHECK(form, size == 0 ? written != NULL : to != NULL && size == attribute->size);
    if (size > 0)
        memcpy(to, (const char *)from + attribute->at, attribute->size);
    if (written)
        *written = attribute->size;
    return CUBLAS_STATUS_SUCCESS;
}

/* The functions of one kind of descriptor, except the one that makes it. */
#define KIND(name, handle, desc, attributes, table) \
    cublasStatus_t mr_cublaslt_##name##Destroy(const struct mr_form *form, handle desc) \
    { \
        (void)form; \
        free(desc); \
        return CUBLAS_STATUS_SUCCESS; \
    } \
    cublasStatus_t mr_cublaslt_##name##SetAttribute(const struct mr_form *form, handle desc, attributes attr, \
                                                    const void *buf, size_t sizeInBytes) \
    { \
        return set(form, table, sizeof table / sizeof *table, desc, (int)attr, buf, sizeInBytes); \
    } \
    cublasStatus_t mr_cublaslt_##name##GetAttribute(const struct mr_form *form, handle desc, attributes attr, \
                                                    void *buf, size_t sizeInBytes, size_t *sizeWritten) \
    { \
        return get(form, table, sizeof table / sizeof *table, desc, (int)attr, buf, sizeInBytes, sizeWritten); \
    }
KIND(MatrixLayout, cublasLtMatrixLayout_t, desc, cublasLtMatrixLayoutAttribute_t, layout)
KIND(MatmulDesc, cublasLtMatmulDesc_t, desc, cublasLtMatmulDescAttributes_t, matmul)
KIND(MatrixTransformDesc, cublasLtMatrixTransformDesc_t, desc, cublasLtMatrixTransformDescAttributes_t, transform)
KIND(MatmulPreference, cublasLtMatmulPreference_t, desc, cublasLtMatmulPreferenceAttributes_t, preference)
KIND(EmulationDesc, cublasLtEmulationDesc_t, desc, cublasLtEmulationDescAttributes_t, emulation)

/* Room for a descriptor. */
static cublasStatus_t make(const struct mr_form *form, void **out, size_t size)
{
    MR_LT_CHECK(form, out);
    *out = calloc(1, size);
    return *out ? CUBLAS_STATUS_SUCCESS : mr_lt_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "memory is short");
}

static void begin(void *at, size_t size, const void *values, size_t length)
{
    memset(at, 0, size);
    memcpy(at, values, length);
}

cublasStatus_t mr_cublaslt_MatrixLayoutInit_internal(const struct mr_form *form, cublasLtMatrixLayout_t matLayout,
                                                     size_t size, cudaDataType type, uint64_t rows, uint64_t cols,
                                                     int64_t ld)
{
    struct mr_layout values = {.type = type, .rows = rows, .columns = cols, .ld = ld, .batch = 1};
    MR_LT_CHECK(form, matLayout && size >= sizeof *matLayout);
    begin(matLayout, size, &values, sizeof values);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatrixLayoutCreate(const struct mr_form *form, cublasLtMatrixLayout_t *matLayout,
                                              cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
    cublasStatus_t status = make(form, (void **)matLayout, sizeof **matLayout);
    return status == CUBLAS_STATUS_SUCCESS
               ? mr_cublaslt_MatrixLayoutInit_internal(form, *matLayout, sizeof **matLayout, type, rows, cols, ld)
               : status;
}

cublasStatus_t mr_cublaslt_MatmulDescInit_internal(const struct mr_form *form, cublasLtMatmulDesc_t matmulDesc,
                                                   size_t size, cublasComputeType_t computeType,
                                                   cudaDataType_t scaleType)
{
    struct mr_matmul_desc values = {.compute = (int32_t)computeType,
                                    .scale_type = (int32_t)scaleType,
                                    .fill = CUBLAS_FILL_MODE_FULL,
                                    .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                    .aux_type = -1,
                                    .bias_type = -1};
    MR_LT_CHECK(form, matmulDesc && size >= sizeof *matmulDesc);
    begin(matmulDesc, size, &values, sizeof values);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatmulDescCreate(const struct mr_form *form, cublasLtMatmulDesc_t *matmulDesc,
                                            cublasComputeType_t computeType, cudaDataType_t scaleType)
{
    cublasStatus_t status = make(form, (void **)matmulDesc, sizeof **matmulDesc);
    return status == CUBLAS_STATUS_SUCCESS
               ? mr_cublaslt_MatmulDescInit_internal(form, *matmulDesc, sizeof **matmulDesc, computeType, scaleType)
               : status;
}

cublasStatus_t mr_cublaslt_MatrixTransformDescInit_internal(const struct mr_form *form,
                                                            cublasLtMatrixTransformDesc_t transformDesc, size_t size,
                                                            cudaDataType scaleType)
{
    struct mr_transform_desc values = {.scale_type = (int32_t)scaleType};
    MR_LT_CHECK(form, transformDesc && size >= sizeof *transformDesc);
    begin(transformDesc, size, &values, sizeof values);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatrixTransformDescCreate(const struct mr_form *form,
                                                     cublasLtMatrixTransformDesc_t *transformDesc,
                                                     cudaDataType scaleType)
{
    cublasStatus_t status = make(form, (void **)transformDesc, sizeof **transformDesc);
    return status == CUBLAS_STATUS_SUCCESS
               ? mr_cublaslt_MatrixTransformDescInit_internal(form, *transformDesc, sizeof **transformDesc, scaleType)
               : status;
}

cublasStatus_t mr_cublaslt_MatmulPreferenceInit_internal(const struct mr_form *form, cublasLtMatmulPreference_t pref,
                                                         size_t size)
{
    struct mr_preference values = {.reductions = CUBLASLT_REDUCTION_SCHEME_MASK,
                                   .implementations = UINT64_MAX,
                                   .align_a = 256,
                                   .align_b = 256,
                                   .align_c = 256,
                                   .align_d = 256};
    MR_LT_CHECK(form, pref && size >= sizeof *pref);
    begin(pref, size, &values, sizeof values);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_MatmulPreferenceCreate(const struct mr_form *form, cublasLtMatmulPreference_t *pref)
{
    cublasStatus_t status = make(form, (void **)pref, sizeof **pref);
    return status == CUBLAS_STATUS_SUCCESS ? mr_cublaslt_MatmulPreferenceInit_internal(form, *pref, sizeof **pref)
                                           : status;
}

cublasStatus_t mr_cublaslt_EmulationDescInit_internal(const struct mr_form *form, cublasLtEmulationDesc_t emulationDesc,
                                                      size_t size)
{
    struct mr_emulation_desc values = {.special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT};
    MR_LT_CHECK(form, emulationDesc && size >= sizeof *emulationDesc);
    begin(emulationDesc, size, &values, sizeof values);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_EmulationDescCreate(const struct mr_form *form, cublasLtEmulationDesc_t *emulationDesc)
{
    cublasStatus_t status = make(form, (void **)emulationDesc, sizeof **emulationDesc);
    return status == CUBLAS_STATUS_SUCCESS
               ? mr_cublaslt_EmulationDescInit_internal(form, *emulationDesc, sizeof **emulationDesc)
               : status;
}
