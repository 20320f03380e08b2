/* SPDX-License-Identifier: Apache-2.0 */
/* cublasXt: settings and their statuses, and results with matrices of the host and of the device. */
#include "bl.h"

#include <cublasXt.h>
#include <stdlib.h>
#include <string.h>

static cublasXtHandle_t begin(void)
{
    cublasXtHandle_t h;
    int device = 0;
    BL_NEED(cublasXtCreate(&h));
    BL_NEED(cublasXtDeviceSelect(h, 1, &device));
    return h;
}

CASE(blas_xt, settings, .alone = true)
{
    cublasXtHandle_t h;
    int dim = -1, boards = -1;
    cublasXtPinnedMemMode_t mode = (cublasXtPinnedMemMode_t)9;
    bl(cublasXtCreate(&h));
    bl(cublasXtGetBlockDim(h, &dim));
    say_int(dim);
    bl(cublasXtSetBlockDim(h, 100));
    bl(cublasXtGetBlockDim(h, &dim));
    say_int(dim);
    bl(cublasXtSetBlockDim(h, 0));
    bl(cublasXtSetBlockDim(h, -5));
    bl(cublasXtGetBlockDim(h, &dim));
    say_int(dim);
    bl(cublasXtGetPinningMemMode(h, &mode));
    say_int(mode);
    bl(cublasXtSetPinningMemMode(h, CUBLASXT_PINNING_ENABLED));
    bl(cublasXtGetPinningMemMode(h, &mode));
    say_int(mode);
    bl(cublasXtSetPinningMemMode(h, (cublasXtPinnedMemMode_t)5));
    bl(cublasXtGetPinningMemMode(h, &mode));
    say_int(mode);
    bl(cublasXtSetCpuRoutine(h, CUBLASXT_GEMM, CUBLASXT_FLOAT, (void *)strlen));
    bl(cublasXtSetCpuRoutine(h, CUBLASXT_GEMM, CUBLASXT_FLOAT, NULL));
    bl(cublasXtSetCpuRoutine(h, CUBLASXT_ROUTINE_MAX, CUBLASXT_FLOAT, NULL));
    bl(cublasXtSetCpuRoutine(h, CUBLASXT_GEMM, (cublasXtOpType_t)9, NULL));
    bl(cublasXtSetCpuRatio(h, CUBLASXT_GEMM, CUBLASXT_FLOAT, 0.5f));
    bl(cublasXtSetCpuRatio(h, CUBLASXT_GEMM, CUBLASXT_FLOAT, 1.5f));
    bl(cublasXtSetCpuRatio(h, CUBLASXT_GEMM, CUBLASXT_FLOAT, -0.5f));
    bl(cublasXtSetCpuRatio(h, CUBLASXT_GEMM, CUBLASXT_FLOAT, 0));
    bl(cublasXtSetCpuRatio(h, CUBLASXT_TRSM, CUBLASXT_FLOAT, 0.5f));
    bl(cublasXtSetCpuRatio(h, CUBLASXT_ROUTINE_MAX, CUBLASXT_FLOAT, 0.5f));
    bl(cublasXtMaxBoards(&boards));
    say_if("boards", boards >= 1);
    bl(cublasXtDestroy(h));
}

/* Hardware of our days has no boards with several devices, and counts none. */
CASE(blas_xt, boards_one, .alone = true, .allow = "SUCCESS 1", .why = "the manual counts boards, of which there is one")
{
    int boards = -1, device = 0;
    bl(cublasXtGetNumBoards(1, &device, &boards));
    say_int(boards);
}

#define ALONE(title, call, ...) \
    CASE(blas_xt, title, .alone = true, ##__VA_ARGS__) \
    { \
        cublasXtHandle_t h = begin(); \
        int devices[] = {0, 0, 99, -1}; \
        int value = 7; \
        (void)devices; \
        (void)value; \
        bl(call); \
        (void)h; \
    }
ALONE(create_null, cublasXtCreate(NULL))
ALONE(destroy_null, cublasXtDestroy(NULL))
ALONE(dim_null, cublasXtGetBlockDim(h, NULL))
ALONE(mode_null, cublasXtGetPinningMemMode(h, NULL))
ALONE(no_handle, cublasXtSetBlockDim(NULL, 100))
ALONE(select_again, cublasXtDeviceSelect(h, 1, devices))
ALONE(boards_missing, cublasXtGetNumBoards(1, devices + 2, &value))
ALONE(boards_none, cublasXtGetNumBoards(0, devices, &value))
ALONE(boards_null, cublasXtGetNumBoards(1, devices, NULL), .allow = "INVALID_VALUE", .why = "NVIDIA's library crashes")
ALONE(max_null, cublasXtMaxBoards(NULL), .allow = "INVALID_VALUE", .why = "NVIDIA's library crashes")

#define SELECT(title, count, ids) \
    CASE(blas_xt, title, .alone = true) \
    { \
        cublasXtHandle_t h; \
        int devices[] = {0, 0, 99, -1}; \
        (void)devices; \
        BL_NEED(cublasXtCreate(&h)); \
        bl(cublasXtDeviceSelect(h, count, ids)); \
    }
SELECT(select_twice_one, 2, devices)
SELECT(select_none, 0, devices)
SELECT(select_missing, 1, devices + 2)
SELECT(select_negative, 1, devices + 3)
SELECT(select_null, 1, NULL)

CASE(blas_xt, no_devices, .alone = true)
{
    cublasXtHandle_t h;
    float one = 1, a = 2, b = 3, c = 4;
    BL_NEED(cublasXtCreate(&h));
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &a, 1, &b, 1, &one, &c, 1));
    say_int((int)c);
}

CASE(blas_xt, arguments, .alone = true)
{
    cublasXtHandle_t h = begin();
    float one = 1, m[16] = {1};
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 0, 1, 1, &one, m, 1, m, 1, &one, m, 1));
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 1, 1, &one, m, 3, m, 1, &one, m, 4));
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 4, &one, m, 1, m, 3, &one, m, 1));
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 1, 1, &one, m, 4, m, 1, &one, m, 3));
    bl(cublasXtSgemm(h, (cublasOperation_t)9, CUBLAS_OP_N, 1, 1, 1, &one, m, 1, m, 1, &one, m, 1));
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, NULL, m, 1, m, 1, &one, m, 1));
    bl(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, m, 1, m, 1, NULL, m, 1));
    bl(cublasXtSsyrk(h, (cublasFillMode_t)9, CUBLAS_OP_N, 1, 1, &one, m, 1, &one, m, 1));
    bl(cublasXtSsymm(h, (cublasSideMode_t)9, CUBLAS_FILL_MODE_LOWER, 1, 1, &one, m, 1, m, 1, &one, m, 1));
    bl(cublasXtSspmm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, 4, 1, &one, m, m, 3, &one, m, 4));
    bl(cublasXtStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, (cublasDiagType_t)9, 1, 1, &one, m, 1, m,
                     1));
    say_int((int)m[0]);
}

/* ---- results ---- */

#define ROOM 400 /* elements of a matrix with columns 20 apart */
#define LD 20

struct matrices {
    double host[3][2 * ROOM];
    void *at[3]; /* on the host or the device */
};

static unsigned element(char type)
{
    return type == 'S' ? 4 : type == 'Z' ? 16 : 8;
}

/* Small whole numbers, with ones on the first matrix's diagonal. */
static void fill(struct matrices *m, char type, bool device)
{
    bool complex = type == 'C' || type == 'Z', single = type == 'S' || type == 'C';
    for (int i = 0; i < 3; i++) {
        for (int e = 0; e < ROOM; e++) {
            bool one = i == 0 && e % (LD + 1) == 0;
            double parts[2] = {one ? 1 : (e * 7 + i) % 9 - 4, one ? 0 : (e * 5 + i) % 7 - 3};
            for (int p = 0; p <= complex; p++) {
                int at = complex ? 2 * e + p : e;
                if (single)
                    ((float *)(void *)m->host[i])[at] = (float)parts[p];
                else
                    m->host[i][at] = parts[p];
            }
        }
        m->at[i] = m->host[i];
        if (device) {
            m->at[i] = rt_alloc(sizeof m->host[i]);
            RT_NEED(cudaMemcpy(m->at[i], m->host[i], sizeof m->host[i], cudaMemcpyHostToDevice));
        }
    }
}

/* The call has returned, so the result is there. */
static void say_last(const struct matrices *m, char type)
{
    static double copy[2 * ROOM];
    static long long whole[2 * ROOM];
    bool single = type == 'S' || type == 'C';
    size_t numbers = type == 'C' || type == 'Z' ? 2 * ROOM : ROOM;
    RT_NEED(cudaMemcpy(copy, m->at[2], (size_t)ROOM * element(type), cudaMemcpyDefault));
    for (size_t i = 0; i < numbers; i++)
        whole[i] = (long long)(single ? (double)((float *)(void *)copy)[i] : copy[i]);
    say_hash(whole, numbers * sizeof *whole);
}

struct row {
    char type;
    bool device;
    int dim;
};

#define CALL(name, ...) \
    (type == 'S'   ? cublasXtS##name(__VA_ARGS__) \
     : type == 'D' ? cublasXtD##name(__VA_ARGS__) \
     : type == 'C' ? cublasXtC##name(__VA_ARGS__) \
                   : cublasXtZ##name(__VA_ARGS__))
#define CALL_COMPLEX(name, ...) (type == 'C' ? cublasXtC##name(__VA_ARGS__) : cublasXtZ##name(__VA_ARGS__))
#define SAY(call) \
    do { \
        bl(call); \
        say_last(&m, type); \
        fill(&m, type, row->device); \
    } while (0)

static void results(const struct gold_case *self)
{
    const struct row *row = self->data;
    static struct matrices m;
    char type = row->type;
    bool complex = type == 'C' || type == 'Z';
    struct bl b = bl_begin(type);
    void *r = b.real, *i = b.i, *two = b.two, *a, *x, *y;
    cublasXtHandle_t h = begin();
    BL_NEED(cublasXtSetBlockDim(h, row->dim));
    fill(&m, type, row->device);
#define MATRICES (a = m.at[0], x = m.at[1], y = m.at[2])
    SAY((MATRICES, CALL(gemm, h, CUBLAS_OP_N, CUBLAS_OP_T, 17, 13, 11, i, a, LD, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(gemm, h, CUBLAS_OP_C, CUBLAS_OP_N, 17, 13, 11, i, a, LD, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(syrk, h, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 17, 11, i, a, LD, two, y, LD)));
    SAY((MATRICES, CALL(syr2k, h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, 17, 11, i, a, LD, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(syrkx, h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 17, 11, i, a, LD, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(symm, h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 17, 13, i, a, LD, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(symm, h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, 17, 13, i, a, LD, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(spmm, h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 17, 13, i, a, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(spmm, h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, 17, 13, i, a, x, LD, two, y, LD)));
    SAY((MATRICES, CALL(trmm, h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 17, 13, i,
                        a, LD, x, LD, y, LD)));
    SAY((MATRICES, CALL(trmm, h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, 17, 13, i, a,
                        LD, y, LD, y, LD)));
    SAY((MATRICES, CALL(trsm, h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 6, 5, i, a,
                        LD, y, LD)));
    SAY((MATRICES, CALL(trsm, h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, 6, 5, i, a,
                        LD, y, LD)));
    if (complex) {
        SAY((MATRICES, CALL_COMPLEX(herk, h, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_C, 17, 11, r, a, LD, r, y, LD)));
        SAY((MATRICES, CALL_COMPLEX(her2k, h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 17, 11, i, a, LD, x, LD, r, y, LD)));
        SAY((MATRICES, CALL_COMPLEX(herkx, h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 17, 11, i, a, LD, x, LD, r, y, LD)));
        SAY((MATRICES,
             CALL_COMPLEX(hemm, h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 17, 13, i, a, LD, x, LD, two, y, LD)));
    }
    bl(cublasXtDestroy(h));
}

#define ROW(title, ...) \
    { \
        .name = "blas_xt." title, .run = results, .alone = true, .data = &(const struct row) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case rows[] = {
    ROW("host_s", 'S', false, 1024),  ROW("host_d", 'D', false, 1024),  ROW("host_c", 'C', false, 1024),
    ROW("host_z", 'Z', false, 1024),  ROW("device_s", 'S', true, 1024), ROW("device_d", 'D', true, 1024),
    ROW("device_c", 'C', true, 1024), ROW("device_z", 'Z', true, 1024),
};

__attribute__((constructor)) static void add(void)
{
    gold_register_all(rows, sizeof rows / sizeof *rows);
}
