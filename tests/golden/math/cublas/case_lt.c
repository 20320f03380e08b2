/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLASLt: descriptors and their defaults, which products there are, results of epilogues on whole numbers. */
#include "bl.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cublasLtHandle_t lt(void)
{
    static cublasLtHandle_t kept;
    if (!kept)
        BL_NEED(cublasLtCreate(&kept));
    return kept;
}

/* Says size and value of each attribute from 0 to 40 that exists. */
#define SAY_ATTRIBUTES(get, desc, type) \
    for (int i = 0; i <= 40; i++) { \
        size_t size = 77; \
        unsigned long long value = 0; \
        char word[60]; \
        if (get(desc, (type)i, NULL, 0, &size) != CUBLAS_STATUS_SUCCESS) \
            continue; \
        if (size > 8 || get(desc, (type)i, &value, size, &size) != CUBLAS_STATUS_SUCCESS) \
            continue; \
        snprintf(word, sizeof word, "%d=%zu:%llx", i, size, value); \
        say_text(word); \
    }

CASE(lt_desc, layout_defaults)
{
    cublasLtMatrixLayoutOpaque_t layout;
    bl(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 3, 5, 7));
    SAY_ATTRIBUTES(cublasLtMatrixLayoutGetAttribute, &layout, cublasLtMatrixLayoutAttribute_t)
}

CASE(lt_desc, matmul_defaults)
{
    cublasLtMatmulDescOpaque_t desc;
    bl(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    SAY_ATTRIBUTES(cublasLtMatmulDescGetAttribute, &desc, cublasLtMatmulDescAttributes_t)
}

CASE(lt_desc, transform_defaults)
{
    cublasLtMatrixTransformDescOpaque_t desc;
    bl(cublasLtMatrixTransformDescInit(&desc, CUDA_R_32F));
    SAY_ATTRIBUTES(cublasLtMatrixTransformDescGetAttribute, &desc, cublasLtMatrixTransformDescAttributes_t)
}

CASE(lt_desc, preference_defaults)
{
    cublasLtMatmulPreferenceOpaque_t desc;
    bl(cublasLtMatmulPreferenceInit(&desc));
    SAY_ATTRIBUTES(cublasLtMatmulPreferenceGetAttribute, &desc, cublasLtMatmulPreferenceAttributes_t)
}

#define ONE(title, call, ...) \
    CASE(lt_status, title, __VA_ARGS__) \
    { \
        cublasLtMatmulDescOpaque_t desc; \
        cublasLtMatrixLayoutOpaque_t layout; \
        int32_t word = 0; \
        size_t size = 0; \
        (void)word, (void)size; \
        BL_NEED(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F)); \
        BL_NEED(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 4, 4, 4)); \
        bl(call); \
    }
ONE(create_null, cublasLtCreate(NULL), RT_CRASHES("INVALID_VALUE"))
ONE(destroy_null, cublasLtDestroy(NULL))
ONE(set_size_large, cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &size, 8))
ONE(set_size_small, cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &word, 2))
ONE(set_null, cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, NULL, 4))
ONE(set_unknown, cublasLtMatmulDescSetAttribute(&desc, (cublasLtMatmulDescAttributes_t)99, &word, 4))
ONE(set_desc_null, cublasLtMatmulDescSetAttribute(NULL, CUBLASLT_MATMUL_DESC_TRANSA, &word, 4))
ONE(get_size_small, cublasLtMatmulDescGetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &word, 2, &size))
ONE(get_size_large, cublasLtMatmulDescGetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &size, 8, &size))
ONE(get_nothing, cublasLtMatmulDescGetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, NULL, 0, NULL))
ONE(get_unknown, cublasLtMatmulDescGetAttribute(&desc, (cublasLtMatmulDescAttributes_t)99, &word, 4, &size))
ONE(layout_ld_small, cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 4, 4, 2))
ONE(layout_type_unknown, cublasLtMatrixLayoutInit(&layout, (cudaDataType)99, 4, 4, 4))
ONE(desc_compute_unknown, cublasLtMatmulDescInit(&desc, (cublasComputeType_t)99, CUDA_R_32F))
ONE(desc_create_null, cublasLtMatmulDescCreate(NULL, CUBLAS_COMPUTE_32F, CUDA_R_32F))
ONE(desc_destroy_null, cublasLtMatmulDescDestroy(NULL))
ONE(layout_destroy_null, cublasLtMatrixLayoutDestroy(NULL))

/* ---- which products there are, by the heuristic: A, B, C, D, computation, scale ---- */

struct types {
    const char *name;
    cudaDataType a, b, c, d;
    cublasComputeType_t compute;
    cudaDataType scale;
    uint32_t epilogue;
    int order; /* of all */
    int columns; /* of B: 32 is right */
};

static void heuristic(const struct gold_case *self)
{
    const struct types *t = self->data;
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t layouts[4];
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count = -1;
    cublasOperation_t op = CUBLAS_OP_T;
    cudaDataType types[] = {t->a, t->b, t->c, t->d};
    BL_NEED(cublasLtMatmulDescInit(&desc, t->compute, t->scale));
    BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op));
    if (t->epilogue)
        BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &t->epilogue, sizeof t->epilogue));
    int64_t ld = 128;
    if (t->epilogue & 128)
        BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld));
    for (int i = 0; i < 4; i++) {
        BL_NEED(
            cublasLtMatrixLayoutInit(&layouts[i], types[i], 32, i == 1 && t->columns ? (uint64_t)t->columns : 32, 32));
        int32_t order = t->order;
        BL_NEED(cublasLtMatrixLayoutSetAttribute(&layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    }
    BL_NEED(cublasLtMatmulPreferenceInit(&preference));
    bl(cublasLtMatmulAlgoGetHeuristic(lt(), &desc, &layouts[0], &layouts[1], &layouts[2], &layouts[3], &preference, 1,
                                      &found, &count));
    say_int(count);
}

#define F32 CUDA_R_32F
#define F64 CUDA_R_64F
#define F16 CUDA_R_16F
#define B16 CUDA_R_16BF
#define I8 CUDA_R_8I
#define I32 CUDA_R_32I
#define C32 CUDA_C_32F
#define E4 CUDA_R_8F_E4M3
#define E5 CUDA_R_8F_E5M2
static const struct types rows[] = {
    {"f32", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"f32_tf32", F32, F32, F32, F32, CUBLAS_COMPUTE_32F_FAST_TF32, F32, 0, 0, 0},
    {"f32_in_64", F32, F32, F32, F32, CUBLAS_COMPUTE_64F, F64, 0, 0, 0},
    {"f64", F64, F64, F64, F64, CUBLAS_COMPUTE_64F, F64, 0, 0, 0},
    {"f64_scale_32", F64, F64, F64, F64, CUBLAS_COMPUTE_64F, F32, 0, 0, 0},
    {"f16", F16, F16, F16, F16, CUBLAS_COMPUTE_16F, F16, 0, 0, 0},
    {"f16_in_32", F16, F16, F16, F16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"f16_to_32", F16, F16, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"f16_to_bf16", F16, F16, B16, B16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"bf16", B16, B16, B16, B16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"bf16_to_32", B16, B16, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"bf16_c_32", B16, B16, F32, B16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"i8_to_i32", I8, I8, I32, I32, CUBLAS_COMPUTE_32I, I32, 0, 0, 0},
    {"i8_to_i8", I8, I8, I8, I8, CUBLAS_COMPUTE_32I, F32, 0, 0, 0},
    {"i8_to_f32", I8, I8, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"c32", C32, C32, C32, C32, CUBLAS_COMPUTE_32F, C32, 0, 0, 0},
    {"c32_scale_real", C32, C32, C32, C32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e4_to_16", E4, E4, F16, F16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e4_to_bf16", E4, E4, B16, B16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e4_to_32", E4, E4, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e4_to_e4", E4, E4, B16, E4, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e4_e5_to_16", E4, E5, F16, F16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e5_e4_to_e5", E5, E4, B16, E5, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"e5_e5_to_16", E5, E5, F16, F16, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"f32_bf16", F32, B16, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 0},
    {"columns", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 0, 16},
    {"by_rows", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 1, 0},
    {"by_rows_bias", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 4, 1, 0},
    {"by_rows_gelu_aux", F16, F16, F16, F16, CUBLAS_COMPUTE_32F, F32, 160, 1, 0},
    {"col32", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 2, 0},
    {"order_unknown", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 0, 9, 0},
    {"relu", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 2, 0, 0},
    {"bias", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 4, 0, 0},
    {"relu_aux", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 130, 0, 0},
    {"gelu", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 32, 0, 0},
    {"gelu_aux_bias", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 164, 0, 0},
    {"drelu", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 136, 0, 0},
    {"drelu_bgrad", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 152, 0, 0},
    {"dgelu", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 192, 0, 0},
    {"dgelu_bgrad", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 208, 0, 0},
    {"bgrada", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 256, 0, 0},
    {"bgradb", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 512, 0, 0},
    {"epilogue_unknown", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 34, 0, 0},
    {"epilogue_0x1000", F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32, 4096, 0, 0},
    {"f64_relu", F64, F64, F64, F64, CUBLAS_COMPUTE_64F, F64, 2, 0, 0},
    {"f64_bias", F64, F64, F64, F64, CUBLAS_COMPUTE_64F, F64, 4, 0, 0},
    {"c32_bias", C32, C32, C32, C32, CUBLAS_COMPUTE_32F, C32, 4, 0, 0},
    {"i32_bias", I8, I8, I32, I32, CUBLAS_COMPUTE_32I, I32, 4, 0, 0},
};

/* ---- results ---- */

static void product(const struct gold_case *self)
{
    const struct types *t = self->data;
    struct bl b = bl_begin('S');
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t square;
    float *bias = (float *)b.a + 500;
    int64_t ld = 128;
    static char host[128 * 16 * 4];
    void *aux;
    RT_NEED(cudaMalloc(&aux, sizeof host));
    for (size_t i = 0; i < sizeof host / 4; i++)
        ((unsigned *)(void *)host)[i] = (unsigned)i * 2654435761u;
    RT_NEED(cudaMemcpy(aux, host, sizeof host, cudaMemcpyHostToDevice));
    BL_NEED(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &t->epilogue, sizeof t->epilogue));
    /* Hardware refuses a bias that the epilogue does not have. */
    if (t->epilogue & (4 | 16 | 256 | 512))
        BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    if (t->epilogue & 128) {
        BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux));
        BL_NEED(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld));
    }
    BL_NEED(cublasLtMatrixLayoutInit(&square, CUDA_R_32F, 16, 16, 16));
    bl(cublasLtMatmul(lt(), &desc, b.one, b.a, &square, b.b, &square, b.two, b.c, &square, b.c, &square, NULL, NULL, 0,
                      NULL));
    bl_say(&b, b.c, 256);
    bl_say(&b, bias, 16);
    RT_NEED(cudaMemcpy(host, aux, sizeof host, cudaMemcpyDeviceToHost));
    /* Bits of relu: only those of the rows that there are. */
    unsigned char kept[16][2];
    for (int j = 0; j < 16; j++)
        memcpy(kept[j], host + j * 16, 2);
    if ((t->epilogue & CUBLASLT_EPILOGUE_RELU_AUX) == CUBLASLT_EPILOGUE_RELU_AUX)
        say_hash(kept, sizeof kept);
    RT_NEED(cudaFree(aux));
}

static const struct types results[] = {
    {.name = "plain", .epilogue = 1},      {.name = "relu", .epilogue = 2},
    {.name = "bias", .epilogue = 4},       {.name = "relu_bias", .epilogue = 6},
    {.name = "relu_aux", .epilogue = 130}, {.name = "relu_aux_bias", .epilogue = 134},
    {.name = "drelu", .epilogue = 136},    {.name = "drelu_bgrad", .epilogue = 152},
    {.name = "bgrada", .epilogue = 256},   {.name = "bgradb", .epilogue = 512},
};

static void add(const char *family, void (*run)(const struct gold_case *), const struct types *types)
{
    struct gold_case *test = calloc(1, sizeof *test);
    char *name = malloc(64);
    snprintf(name, 64, "%s.%s", family, types->name);
    *test = (struct gold_case){.name = name, .run = run, .data = types};
    gold_register(test);
}

__attribute__((constructor)) static void add_all(void)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        add("lt_heuristic", heuristic, &rows[i]);
    for (unsigned i = 0; i < sizeof results / sizeof *results; i++)
        add("lt_result", product, &results[i]);
}
