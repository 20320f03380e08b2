/* SPDX-License-Identifier: Apache-2.0 */
/* What cuSPARSE answers to arguments that are wrong, or ask for nothing. */
#include "sp.h"

#define N CUSPARSE_OPERATION_NON_TRANSPOSE
#define T CUSPARSE_OPERATION_TRANSPOSE
#define I32 CUSPARSE_INDEX_32I
#define ZERO CUSPARSE_INDEX_BASE_ZERO
#define F32 CUDA_R_32F
#define ROW CUSPARSE_ORDER_ROW
#define COL CUSPARSE_ORDER_COL

/* What a case of one call finds: descriptions of a 6 x 4 matrix in CSR, of vectors and dense matrices that fit. */
struct found {
    struct sp s;
    cusparseHandle_t h;
    cusparseSpMatDescr_t a, square;
    cusparseDnVecDescr_t x, y;
    cusparseDnMatDescr_t b, c;
    cusparseSpVecDescr_t v;
    cusparseMatDescr_t m;
    struct sp_csr csr;
    const void *one, *two;
    void *room;
    size_t bytes;
    int n;
    int64_t big[4];
};

static struct found *begin(void)
{
    static struct found f;
    f.s = sp_begin('S');
    f.h = f.s.h;
    f.a = sp_matrix(&f.s, GENERAL, CUSPARSE_FORMAT_CSR);
    f.square = sp_matrix(&f.s, SQUARE, CUSPARSE_FORMAT_CSR);
    f.csr = sp_csr(&f.s, GENERAL);
    f.x = sp_vector(&f.s, 4, sp_numbers(&f.s, 4, 1));
    f.y = sp_vector(&f.s, 6, sp_numbers(&f.s, 6, 1));
    f.b = sp_dense(&f.s, 4, 3, sp_numbers(&f.s, 12, 1), COL);
    f.c = sp_dense(&f.s, 6, 3, sp_numbers(&f.s, 18, 1), COL);
    f.m = sp_older(&f.s);
    f.one = sp_scalar(&f.s, 1);
    f.two = sp_scalar(&f.s, 2);
    f.room = sp_room(65536);
    int places[2] = {0, 2};
    SP_NEED(cusparseCreateSpVec(&f.v, 4, 2, sp_indices(&f.s, places, 2), sp_numbers(&f.s, 2, 1), I32, ZERO, F32));
    return &f;
}

#define ONE(title, call, ...) \
    CASE(sparse_status, title, __VA_ARGS__) \
    { \
        struct found *f = begin(); \
        cusparseHandle_t h = f->h; \
        (void)h; \
        sp(call); \
    }

static cusparseHandle_t dead(void)
{
    cusparseHandle_t handle;
    SP_NEED(cusparseCreate(&handle));
    SP_NEED(cusparseDestroy(handle));
    return handle;
}

/* ---- handles and settings ---- */
ONE(create_null, cusparseCreate(NULL))
ONE(destroy_null, cusparseDestroy(NULL))
ONE(version_null_handle, cusparseGetVersion(NULL, &(int){0}))
ONE(version_null, cusparseGetVersion(h, NULL))
ONE(property_null, cusparseGetProperty(MAJOR_VERSION, NULL))
ONE(property_wrong, cusparseGetProperty((libraryPropertyType)9, &(int){0}))
ONE(set_stream_null_handle, cusparseSetStream(NULL, NULL))
ONE(get_stream_null, cusparseGetStream(h, NULL))
ONE(get_stream_null_handle, cusparseGetStream(NULL, &(cudaStream_t){NULL}))
ONE(pointer_mode_wrong, cusparseSetPointerMode(h, (cusparsePointerMode_t)7))
ONE(pointer_mode_null, cusparseGetPointerMode(h, NULL))
ONE(pointer_mode_null_handle, cusparseSetPointerMode(NULL, CUSPARSE_POINTER_MODE_HOST))
ONE(logger_level_wrong, cusparseLoggerSetLevel(9))
ONE(logger_mask_wrong, cusparseLoggerSetMask(-1))
ONE(logger_open_null, cusparseLoggerOpenFile(NULL))
ONE(logger_file_null, cusparseLoggerSetFile(NULL))

CASE(sparse_status, names)
{
    for (int i = -1; i < 14; i++)
        say_text(cusparseGetErrorName((cusparseStatus_t)i));
}

CASE(sparse_status, strings)
{
    for (int i = -1; i < 14; i++)
        say_text(cusparseGetErrorString((cusparseStatus_t)i));
}

CASE(sparse_status, version)
{
    struct found *f = begin();
    int version = 0;
    sp(cusparseGetVersion(f->h, &version));
    say_int(version);
    for (int i = 0; i < 3; i++) {
        sp(cusparseGetProperty((libraryPropertyType)i, &version));
        say_int(version);
    }
}

/* ---- older descriptions ---- */
ONE(matdescr_null, cusparseCreateMatDescr(NULL))
ONE(matdescr_destroy_null, cusparseDestroyMatDescr(NULL))
ONE(mat_type_wrong, cusparseSetMatType(f->m, (cusparseMatrixType_t)9))
ONE(mat_type_null, cusparseSetMatType(NULL, CUSPARSE_MATRIX_TYPE_GENERAL))
ONE(mat_fill_wrong, cusparseSetMatFillMode(f->m, (cusparseFillMode_t)9))
ONE(mat_diag_wrong, cusparseSetMatDiagType(f->m, (cusparseDiagType_t)9))
ONE(mat_base_wrong, cusparseSetMatIndexBase(f->m, (cusparseIndexBase_t)9))
ONE(info_null, cusparseCreateCsrilu02Info(NULL))
ONE(info_destroy_null, cusparseDestroyCsrilu02Info(NULL))

/* ---- generic descriptions ---- */
ONE(csr, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(csr_null, cusparseCreateCsr(NULL, 6, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(csr_rows, cusparseCreateCsr(&f->a, -1, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(csr_cols, cusparseCreateCsr(&f->a, 6, -1, 3, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(csr_nnz, cusparseCreateCsr(&f->a, 6, 4, -3, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(csr_nnz_large, cusparseCreateCsr(&f->a, 6, 4, 25, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(csr_empty, cusparseCreateCsr(&f->a, 0, 0, 0, NULL, NULL, NULL, I32, I32, ZERO, F32))
ONE(csr_no_rows, cusparseCreateCsr(&f->a, 0, 4, 0, f->room, NULL, NULL, I32, I32, ZERO, F32))
ONE(csr_no_offsets, cusparseCreateCsr(&f->a, 6, 4, 0, NULL, NULL, NULL, I32, I32, ZERO, F32))
ONE(csr_no_columns, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, NULL, f->room, I32, I32, ZERO, F32))
ONE(csr_no_values, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, NULL, I32, I32, ZERO, F32))
ONE(csr_index_type,
    cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, (cusparseIndexType_t)9, I32, ZERO, F32))
ONE(csr_16u,
    cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, CUSPARSE_INDEX_16U, CUSPARSE_INDEX_16U, ZERO, F32))
ONE(csr_mixed, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, CUSPARSE_INDEX_64I, I32, ZERO, F32))
ONE(csr_mixed_other, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, I32, CUSPARSE_INDEX_64I, ZERO, F32))
ONE(csr_base, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, I32, I32, (cusparseIndexBase_t)5, F32))
ONE(csr_type, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, (cudaDataType)99))
ONE(csr_type_8u, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, CUDA_R_8U))
ONE(csr_type_64i, cusparseCreateCsr(&f->a, 6, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, CUDA_R_64I))
ONE(csc_nnz_large, cusparseCreateCsc(&f->a, 6, 4, 25, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(coo_no_rows, cusparseCreateCoo(&f->a, 6, 4, 3, NULL, f->room, f->room, I32, ZERO, F32))
ONE(coo_empty, cusparseCreateCoo(&f->a, 6, 4, 0, NULL, NULL, NULL, I32, ZERO, F32))
ONE(coo_nnz_large, cusparseCreateCoo(&f->a, 6, 4, 30, f->room, f->room, f->room, I32, ZERO, F32))
ONE(bsr_block_0, cusparseCreateBsr(&f->a, 3, 2, 2, 0, 2, f->room, f->room, f->room, I32, I32, ZERO, F32, ROW))
ONE(bsr_order,
    cusparseCreateBsr(&f->a, 3, 2, 2, 2, 2, f->room, f->room, f->room, I32, I32, ZERO, F32, (cusparseOrder_t)9))
ONE(bsr_nnz, cusparseCreateBsr(&f->a, 3, 2, 7, 2, 2, f->room, f->room, f->room, I32, I32, ZERO, F32, ROW))
ONE(bell_block_0, cusparseCreateBlockedEll(&f->a, 6, 4, 0, 2, f->room, f->room, I32, ZERO, F32))
ONE(bell_block_3, cusparseCreateBlockedEll(&f->a, 6, 4, 3, 3, f->room, f->room, I32, ZERO, F32))
ONE(bell_columns_odd, cusparseCreateBlockedEll(&f->a, 6, 4, 2, 3, f->room, f->room, I32, ZERO, F32))
ONE(bell_columns_large, cusparseCreateBlockedEll(&f->a, 6, 4, 2, 6, f->room, f->room, I32, ZERO, F32))
ONE(sell_slice_0, cusparseCreateSlicedEll(&f->a, 6, 4, 3, 6, 0, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(sell_values_small, cusparseCreateSlicedEll(&f->a, 6, 4, 9, 6, 2, f->room, f->room, f->room, I32, I32, ZERO, F32))
ONE(destroy_spmat_null, cusparseDestroySpMat(NULL))
ONE(csr_set_null, cusparseCsrSetPointers(f->a, NULL, f->room, f->room))
ONE(csr_set_null_columns, cusparseCsrSetPointers(f->a, f->room, NULL, f->room))
ONE(csr_set_null_values, cusparseCsrSetPointers(f->a, f->room, f->room, NULL))
ONE(csr_set_null_matrix, cusparseCsrSetPointers(NULL, f->room, f->room, f->room))
ONE(csc_set_on_csr, cusparseCscSetPointers(f->a, f->room, f->room, f->room))
ONE(coo_set_on_csr, cusparseCooSetPointers(f->a, f->room, f->room, f->room))
ONE(get_values_null, cusparseSpMatGetValues(f->a, NULL))
ONE(set_values_null, cusparseSpMatSetValues(f->a, NULL))
ONE(get_size_null, cusparseSpMatGetSize(f->a, NULL, &f->big[0], &f->big[1]))
ONE(get_format_null, cusparseSpMatGetFormat(f->a, NULL))
ONE(get_base_null, cusparseSpMatGetIndexBase(f->a, NULL))
ONE(batch_0, cusparseCsrSetStridedBatch(f->a, 0, 0, 0))
ONE(batch_negative, cusparseCsrSetStridedBatch(f->a, -1, 0, 0))
ONE(batch_stride_small, cusparseCsrSetStridedBatch(f->a, 2, 3, 10))
ONE(batch_values_small, cusparseCsrSetStridedBatch(f->a, 2, 0, 3))
ONE(batch_values_0, cusparseCsrSetStridedBatch(f->a, 2, 7, 0))
ONE(batch, cusparseCsrSetStridedBatch(f->a, 2, 7, 10))
ONE(batch_coo_on_csr, cusparseCooSetStridedBatch(f->a, 2, 100))
ONE(attribute_wrong, cusparseSpMatSetAttribute(f->a, (cusparseSpMatAttribute_t)7, &(int){0}, 4))
ONE(attribute_size, cusparseSpMatSetAttribute(f->a, CUSPARSE_SPMAT_FILL_MODE, &(int){0}, 8))
ONE(attribute_value, cusparseSpMatSetAttribute(f->a, CUSPARSE_SPMAT_FILL_MODE, &(int){5}, 4))
ONE(attribute_null, cusparseSpMatSetAttribute(f->a, CUSPARSE_SPMAT_FILL_MODE, NULL, 4))
ONE(attribute_get_unset, cusparseSpMatGetAttribute(f->a, CUSPARSE_SPMAT_DIAG_TYPE, &f->n, 4))
ONE(spvec, cusparseCreateSpVec(&f->v, 4, 2, f->room, f->room, I32, ZERO, F32))
ONE(spvec_nnz, cusparseCreateSpVec(&f->v, 4, 5, f->room, f->room, I32, ZERO, F32))
ONE(spvec_empty, cusparseCreateSpVec(&f->v, 4, 0, NULL, NULL, I32, ZERO, F32))
ONE(spvec_size_0, cusparseCreateSpVec(&f->v, 0, 0, NULL, NULL, I32, ZERO, F32))
ONE(spvec_no_indices, cusparseCreateSpVec(&f->v, 4, 2, NULL, f->room, I32, ZERO, F32))
ONE(spvec_16u, cusparseCreateSpVec(&f->v, 4, 2, f->room, f->room, CUSPARSE_INDEX_16U, ZERO, F32))
ONE(spvec_set_null, cusparseSpVecSetValues(f->v, NULL))
ONE(spvec_destroy_null, cusparseDestroySpVec(NULL))
ONE(dnvec_negative, cusparseCreateDnVec(&f->x, -1, f->room, F32))
ONE(dnvec_0, cusparseCreateDnVec(&f->x, 0, NULL, F32))
ONE(dnvec_null, cusparseCreateDnVec(&f->x, 4, NULL, F32))
ONE(dnvec_type, cusparseCreateDnVec(&f->x, 4, f->room, (cudaDataType)99))
ONE(dnvec_32i, cusparseCreateDnVec(&f->x, 4, f->room, CUDA_R_32I))
ONE(dnvec_set_null, cusparseDnVecSetValues(f->x, NULL))
ONE(dnvec_destroy_null, cusparseDestroyDnVec(NULL))
ONE(dnmat_ld_col, cusparseCreateDnMat(&f->b, 6, 4, 5, f->room, F32, COL))
ONE(dnmat_ld_row, cusparseCreateDnMat(&f->b, 6, 4, 3, f->room, F32, ROW))
ONE(dnmat_order, cusparseCreateDnMat(&f->b, 6, 4, 6, f->room, F32, (cusparseOrder_t)7))
ONE(dnmat_null, cusparseCreateDnMat(&f->b, 6, 4, 6, NULL, F32, COL))
ONE(dnmat_0, cusparseCreateDnMat(&f->b, 0, 4, 0, NULL, F32, COL))
ONE(dnmat_0_ld_1, cusparseCreateDnMat(&f->b, 0, 4, 1, NULL, F32, COL))
ONE(dnmat_batch_0, cusparseDnMatSetStridedBatch(f->b, 0, 12))
ONE(dnmat_batch_small, cusparseDnMatSetStridedBatch(f->b, 2, 11))
ONE(dnmat_batch_stride_0, cusparseDnMatSetStridedBatch(f->b, 2, 0))
ONE(dnmat_destroy_null, cusparseDestroyDnMat(NULL))

/* ---- products ---- */
#define SPMV(handle, op, alpha, a, x, beta, y, type, alg) \
    cusparseSpMV(handle, op, alpha, a, x, beta, y, type, (cusparseSpMVAlg_t)(alg), f->room)
ONE(spmv, SPMV(h, N, f->one, f->a, f->x, f->two, f->y, F32, 0))
ONE(spmv_null_handle, SPMV(NULL, N, f->one, f->a, f->x, f->two, f->y, F32, 0))
ONE(spmv_dead_handle, SPMV(dead(), N, f->one, f->a, f->x, f->two, f->y, F32, 0), .alone = true,
    .allow = "NOT_INITIALIZED", .why = "the handle's memory is free on hardware")
ONE(spmv_null_alpha, SPMV(h, N, NULL, f->a, f->x, f->two, f->y, F32, 0))
ONE(spmv_null_beta, SPMV(h, N, f->one, f->a, f->x, NULL, f->y, F32, 0))
ONE(spmv_null_a, SPMV(h, N, f->one, NULL, f->x, f->two, f->y, F32, 0))
ONE(spmv_null_x, SPMV(h, N, f->one, f->a, NULL, f->two, f->y, F32, 0))
ONE(spmv_sizes, SPMV(h, T, f->one, f->a, f->x, f->two, f->y, F32, 0))
ONE(spmv_transposed, SPMV(h, T, f->one, f->a, f->y, f->two, f->x, F32, 0))
ONE(spmv_op, SPMV(h, (cusparseOperation_t)9, f->one, f->a, f->x, f->two, f->y, F32, 0))
ONE(spmv_alg, SPMV(h, N, f->one, f->a, f->x, f->two, f->y, F32, 99))
ONE(spmv_alg_coo, SPMV(h, N, f->one, f->a, f->x, f->two, f->y, F32, CUSPARSE_SPMV_COO_ALG1))
ONE(spmv_alg_csr2, SPMV(h, N, f->one, f->a, f->x, f->two, f->y, F32, CUSPARSE_SPMV_CSR_ALG2))
ONE(spmv_compute, SPMV(h, N, f->one, f->a, f->x, f->two, f->y, CUDA_R_64F, 0))
ONE(spmv_no_buffer, cusparseSpMV(h, N, f->one, f->a, f->x, f->two, f->y, F32, CUSPARSE_SPMV_ALG_DEFAULT, NULL))
ONE(spmv_size_null,
    cusparseSpMV_bufferSize(h, N, f->one, f->a, f->x, f->two, f->y, F32, CUSPARSE_SPMV_ALG_DEFAULT, NULL))
ONE(spmv_size,
    cusparseSpMV_bufferSize(h, N, f->one, f->a, f->x, f->two, f->y, F32, CUSPARSE_SPMV_ALG_DEFAULT, &f->bytes))
ONE(spmv_preprocess,
    cusparseSpMV_preprocess(h, N, f->one, f->a, f->x, f->two, f->y, F32, CUSPARSE_SPMV_ALG_DEFAULT, f->room))
#define SPMM(handle, op, a, b, c, type, alg) \
    cusparseSpMM(handle, op, N, f->one, a, b, f->two, c, type, (cusparseSpMMAlg_t)(alg), f->room)
ONE(spmm, SPMM(h, N, f->a, f->b, f->c, F32, 0))
ONE(spmm_null_handle, SPMM(NULL, N, f->a, f->b, f->c, F32, 0))
ONE(spmm_null_b, SPMM(h, N, f->a, NULL, f->c, F32, 0))
ONE(spmm_sizes, SPMM(h, N, f->a, f->c, f->b, F32, 0))
ONE(spmm_transposed, SPMM(h, T, f->a, f->c, f->b, F32, 0))
ONE(spmm_compute, SPMM(h, N, f->a, f->b, f->c, CUDA_R_64F, 0))
ONE(spmm_alg, SPMM(h, N, f->a, f->b, f->c, F32, 99))
ONE(spmm_alg_coo, SPMM(h, N, f->a, f->b, f->c, F32, CUSPARSE_SPMM_COO_ALG1))
ONE(spmm_alg_csr2, SPMM(h, N, f->a, f->b, f->c, F32, CUSPARSE_SPMM_CSR_ALG2))
ONE(spmm_size_null,
    cusparseSpMM_bufferSize(h, N, N, f->one, f->a, f->b, f->two, f->c, F32, CUSPARSE_SPMM_ALG_DEFAULT, NULL))
ONE(sddmm_sizes, cusparseSDDMM(h, N, N, f->one, f->b, f->c, f->two, f->a, F32, CUSPARSE_SDDMM_ALG_DEFAULT, f->room))
ONE(axpby_sizes, cusparseAxpby(h, f->one, f->v, f->two, f->y))
ONE(axpby, cusparseAxpby(h, f->one, f->v, f->two, f->x))
ONE(axpby_null, cusparseAxpby(h, NULL, f->v, f->two, f->x))
ONE(gather_null, cusparseGather(h, NULL, f->v))
ONE(gather_sizes, cusparseGather(h, f->y, f->v))
ONE(scatter_null_handle, cusparseScatter(NULL, f->v, f->x))
ONE(rot_null, cusparseRot(h, NULL, f->one, f->v, f->x))
ONE(spvv_null, cusparseSpVV(h, N, f->v, f->x, NULL, F32, f->room))
ONE(spvv_compute, cusparseSpVV(h, N, f->v, f->x, &f->n, CUDA_R_64F, f->room))
ONE(to_dense_sizes, cusparseSparseToDense(h, f->a, f->b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, f->room))
ONE(to_dense_null, cusparseSparseToDense(h, NULL, f->b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, f->room))
ONE(from_dense_size_null, cusparseDenseToSparse_bufferSize(h, f->b, f->a, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, NULL))

/* ---- solvers and products of two ---- */
ONE(spsv_descr_null, cusparseSpSV_createDescr(NULL))
ONE(spsv_destroy_null, cusparseSpSV_destroyDescr(NULL))
ONE(spsm_descr_null, cusparseSpSM_createDescr(NULL))
ONE(spgemm_descr_null, cusparseSpGEMM_createDescr(NULL))
ONE(spgemm_destroy_null, cusparseSpGEMM_destroyDescr(NULL))

CASE(sparse_status, spsv_steps)
{
    struct found *f = begin();
    cusparseSpSVDescr_t plan;
    cusparseDnVecDescr_t y = sp_vector(&f->s, 4, f->room);
    SP_NEED(cusparseSpSV_createDescr(&plan));
    sp(cusparseSpSV_bufferSize(f->h, N, f->one, f->a, f->x, f->y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan, &f->bytes));
    sp(cusparseSpSV_bufferSize(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan, NULL));
    sp(cusparseSpSV_bufferSize(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, NULL, &f->bytes));
    sp(cusparseSpSV_bufferSize(f->h, N, f->one, f->square, f->x, y, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan,
                               &f->bytes));
    sp(cusparseSpSV_bufferSize(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan, &f->bytes));
    sp(cusparseSpSV_analysis(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan, f->room));
    sp(cusparseSpSV_updateMatrix(f->h, plan, NULL, CUSPARSE_SPSV_UPDATE_GENERAL));
    sp(cusparseSpSV_updateMatrix(f->h, plan, f->room, (cusparseSpSVUpdate_t)7));
    sp(cusparseSpSV_solve(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan));
    sp(cusparseSpSV_destroyDescr(plan));
}

CASE(sparse_status, spsv_no_analysis)
{
    struct found *f = begin();
    cusparseSpSVDescr_t plan;
    cusparseDnVecDescr_t y = sp_vector(&f->s, 4, f->room);
    SP_NEED(cusparseSpSV_createDescr(&plan));
    sp(cusparseSpSV_solve(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan));
}

/* Does a solution see values that changed since the analysis? */
CASE(sparse_status, spsv_values_changed)
{
    struct found *f = begin();
    cusparseSpSVDescr_t plan;
    void *to = sp_room(64), *values, *more = sp_numbers(&f->s, 16, 5);
    cusparseDnVecDescr_t y = sp_vector(&f->s, 4, to);
    SP_NEED(cusparseSpSV_createDescr(&plan));
    SP_NEED(
        cusparseSpSV_bufferSize(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan, &f->bytes));
    SP_NEED(cusparseSpSV_analysis(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan,
                                  sp_room(f->bytes + 1)));
    SP_NEED(cusparseSpMatGetValues(f->square, &values));
    RT_NEED(cudaMemset(values, 0, 4));
    float two = 2;
    RT_NEED(cudaMemcpy(values, &two, 4, cudaMemcpyHostToDevice));
    sp(cusparseSpSV_solve(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan));
    sp_say(&f->s, to, 4);
    sp(cusparseSpSV_updateMatrix(f->h, plan, more, CUSPARSE_SPSV_UPDATE_GENERAL));
    sp(cusparseSpSV_solve(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan));
    sp_say(&f->s, to, 4);
    sp(cusparseSpSV_updateMatrix(f->h, plan, more, CUSPARSE_SPSV_UPDATE_DIAGONAL));
    sp(cusparseSpSV_solve(f->h, N, f->one, f->square, f->x, y, F32, CUSPARSE_SPSV_ALG_DEFAULT, plan));
    sp_say(&f->s, to, 4);
}

CASE(sparse_status, attributes)
{
    struct found *f = begin();
    cusparseFormat_t format;
    cusparseFillMode_t fill;
    cusparseDiagType_t diag;
    int batch = -1;
    sp(cusparseSpMatGetFormat(f->a, &format));
    say_int(format);
    sp(cusparseSpMatGetAttribute(f->a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    sp(cusparseSpMatGetAttribute(f->a, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag));
    sp(cusparseSpMatGetStridedBatch(f->a, &batch));
    say_int(batch);
    sp(cusparseDnMatGetStridedBatch(f->b, &batch, &f->big[0]));
    say_int(batch);
    say_int(f->big[0]);
    cusparseSpMatDescr_t bsr = sp_matrix(&f->s, GENERAL, CUSPARSE_FORMAT_BSR),
                         ell = sp_matrix(&f->s, GENERAL, CUSPARSE_FORMAT_BLOCKED_ELL);
    sp(cusparseSpMatGetSize(bsr, &f->big[0], &f->big[1], &f->big[2]));
    for (int i = 0; i < 3; i++)
        say_int(f->big[i]);
    sp(cusparseSpMatGetSize(ell, &f->big[0], &f->big[1], &f->big[2]));
    for (int i = 0; i < 3; i++)
        say_int(f->big[i]);
    ell = sp_matrix(&f->s, GENERAL, CUSPARSE_FORMAT_SLICED_ELLPACK);
    sp(cusparseSpMatGetSize(ell, &f->big[0], &f->big[1], &f->big[2]));
    for (int i = 0; i < 3; i++)
        say_int(f->big[i]);
}

/* Each type of matrix, of vector and of what is computed in: which products there are. */
CASE(sparse_status, mixes)
{
    static const cudaDataType types[] = {CUDA_R_8I,  CUDA_R_32I, CUDA_R_16F,  CUDA_R_16BF, CUDA_R_32F,
                                         CUDA_R_64F, CUDA_C_16F, CUDA_C_16BF, CUDA_C_32F,  CUDA_C_64F};
    struct found *f = begin();
    static const double one[2] = {0};
    for (unsigned a = 0; a < 10; a++)
        for (unsigned x = 0; x < 10; x++)
            for (unsigned y = 0; y < 10; y++)
                for (unsigned c = 0; c < 10; c++) {
                    cusparseSpMatDescr_t matrix;
                    cusparseDnVecDescr_t from, to;
                    if (cusparseCreateCsr(&matrix, 6, 4, 3, f->room, f->room, f->room, I32, I32, ZERO, types[a]) ||
                        cusparseCreateDnVec(&from, 4, f->room, types[x]) ||
                        cusparseCreateDnVec(&to, 6, f->room, types[y]))
                        continue;
                    if (cusparseSpMV_bufferSize(f->h, N, one, matrix, from, one, to, types[c],
                                                CUSPARSE_SPMV_ALG_DEFAULT, &f->bytes) == CUSPARSE_STATUS_SUCCESS)
                        say_int((long long)(1000 * a + 100 * x + 10 * y + c));
                    cusparseDestroySpMat(matrix);
                    cusparseDestroyDnVec(from);
                    cusparseDestroyDnVec(to);
                }
}
