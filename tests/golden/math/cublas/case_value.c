/* SPDX-License-Identifier: Apache-2.0 */
/* Results of every function of levels 1 to 3 and of batches, for each type and each way to call it. A case is a row: a
 * function, a type and options; its answer is a hash of what the function leaves. */
#include "bl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    char type;
    int one, two, three, four; /* what they mean depends on the function */
};

static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
static const cublasSideMode_t sides[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};
static const cublasDiagType_t diags[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};
#define LD 32

/* Says the status and the first elements of `what`. */
static void answer(const struct bl *b, cublasStatus_t status, const void *what)
{
    bl(status);
    bl_say(b, what, BL_ELEMENTS);
}

/* ---- level 1: `one` is the increment's index ---- */

static const int steps[][2] = {{1, 1}, {2, 3}, {-1, 1}, {-2, -1}};

static void level1(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    int x = steps[o->one][0], y = steps[o->one][1], place = -1;
    double result[2] = {0, 0};
    answer(&b, BL_CALL(&b, axpy, b.h, 17, b.i, b.a, x, b.c, y), b.c);
    answer(&b, BL_CALL(&b, scal, b.h, 17, b.i, b.a, x), b.a);
    answer(&b, BL_CALL(&b, copy, b.h, 17, b.a, x, b.c, y), b.c);
    answer(&b, BL_CALL(&b, swap, b.h, 17, b.a, x, b.c, y), b.c);
    bl(o->type == 'S'   ? cublasIsamax(b.h, 17, b.b, x, &place)
       : o->type == 'D' ? cublasIdamax(b.h, 17, b.b, x, &place)
       : o->type == 'C' ? cublasIcamax(b.h, 17, b.b, x, &place)
                        : cublasIzamax(b.h, 17, b.b, x, &place));
    say_int(place);
    bl(o->type == 'S'   ? cublasIsamin(b.h, 17, b.b, x, &place)
       : o->type == 'D' ? cublasIdamin(b.h, 17, b.b, x, &place)
       : o->type == 'C' ? cublasIcamin(b.h, 17, b.b, x, &place)
                        : cublasIzamin(b.h, 17, b.b, x, &place));
    say_int(place);
    bl(o->type == 'S'   ? cublasSasum(b.h, 17, b.b, x, (float *)result)
       : o->type == 'D' ? cublasDasum(b.h, 17, b.b, x, result)
       : o->type == 'C' ? cublasScasum(b.h, 17, b.b, x, (float *)result)
                        : cublasDzasum(b.h, 17, b.b, x, result));
    say_int((long long)(o->type == 'S' || o->type == 'C' ? (double)*(float *)result : *result));
    bl(o->type == 'S'   ? cublasSnrm2(b.h, 17, b.b, x, (float *)result)
       : o->type == 'D' ? cublasDnrm2(b.h, 17, b.b, x, result)
       : o->type == 'C' ? cublasScnrm2(b.h, 17, b.b, x, (float *)result)
                        : cublasDznrm2(b.h, 17, b.b, x, result));
    say_int((long long)(1000 * (o->type == 'S' || o->type == 'C' ? (double)*(float *)result : *result)));
    if (o->type == 'S' || o->type == 'D') {
        bl(BL_REAL(&b, dot, b.h, 17, b.a, x, b.b, y, (void *)result));
        bl_say(&b, result, 1);
        return;
    }
    bl(BL_COMPLEX(&b, dotu, b.h, 17, b.a, x, b.b, y, (void *)result));
    bl_say(&b, result, 1);
    bl(BL_COMPLEX(&b, dotc, b.h, 17, b.a, x, b.b, y, (void *)result));
    bl_say(&b, result, 1);
}

static void rotations(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    int x = steps[o->one][0], y = steps[o->one][1];
    bool real = o->type == 'S' || o->type == 'D';
    answer(&b, BL_CALL(&b, rot, b.h, 17, b.a, x, b.c, y, (void *)b.real, b.i), b.c);
    if (o->type == 'C')
        answer(&b, cublasCsrot(b.h, 17, b.a, x, b.c, y, (float *)b.real, (float *)b.real), b.a);
    if (o->type == 'Z')
        answer(&b, cublasZdrot(b.h, 17, b.a, x, b.c, y, b.real, b.real), b.a);
    if (o->type == 'C')
        answer(&b, cublasCsscal(b.h, 17, (float *)b.real, b.a, x), b.a);
    if (o->type == 'Z')
        answer(&b, cublasZdscal(b.h, 17, b.real, b.a, x), b.a);
    for (int flag = -2; real && flag <= 1; flag++) {
        float single[5] = {(float)flag, 2, 3, -1, 4};
        double twice[5] = {flag, 2, 3, -1, 4};
        bl_begin(o->type);
        answer(&b, BL_REAL(&b, rotm, b.h, 17, b.a, x, b.c, y, o->type == 'S' ? (void *)single : (void *)twice), b.c);
    }
}

/* ---- level 2: operation or triangle, diagonal, increment ---- */

static void gemv(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    int x = steps[o->two][0], y = steps[o->two][1];
    answer(&b, BL_CALL(&b, gemv, b.h, ops[o->one], 9, 7, b.i, b.a, LD, b.b, x, b.two, b.c, y), b.c);
    answer(&b, BL_CALL(&b, gbmv, b.h, ops[o->one], 9, 7, 2, 1, b.i, b.a, LD, b.b, x, b.two, b.c, y), b.c);
    if (o->type == 'S' || o->type == 'D') {
        answer(&b, BL_REAL(&b, ger, b.h, 9, 7, b.i, b.a, x, b.b, y, b.c, LD), b.c);
        return;
    }
    answer(&b, BL_COMPLEX(&b, geru, b.h, 9, 7, b.i, b.a, x, b.b, y, b.c, LD), b.c);
    answer(&b, BL_COMPLEX(&b, gerc, b.h, 9, 7, b.i, b.a, x, b.b, y, b.c, LD), b.c);
}

/* `one`: triangle, `two`: operation, `three`: diagonal, `four`: increment. Numbers stay whole: the diagonal is 1 or -1.
 */
static void triangle(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    int x = steps[o->four][0];
    cublasFillMode_t fill = fills[o->one];
    cublasOperation_t op = ops[o->two];
    cublasDiagType_t diag = diags[o->three];
    answer(&b, BL_CALL(&b, trmv, b.h, fill, op, diag, 6, b.a, LD, b.c, x), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, trsv, b.h, fill, op, diag, 6, b.a, LD, b.c, x), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, tbmv, b.h, fill, op, diag, 6, 2, b.a, LD, b.c, x), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, tpmv, b.h, fill, op, diag, 6, b.a, b.c, x), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, tbsv, b.h, fill, op, CUBLAS_DIAG_UNIT, 6, 2, b.a, LD, b.c, x), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, tpsv, b.h, fill, op, CUBLAS_DIAG_UNIT, 6, b.a, b.c, x), b.c);
}

static void symmetric(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    int x = steps[o->two][0], y = steps[o->two][1];
    cublasFillMode_t fill = fills[o->one];
    answer(&b, BL_CALL(&b, symv, b.h, fill, 8, b.i, b.a, LD, b.b, x, b.two, b.c, y), b.c);
    answer(&b, BL_CALL(&b, syr, b.h, fill, 8, b.i, b.b, x, b.c, LD), b.c);
    answer(&b, BL_CALL(&b, syr2, b.h, fill, 8, b.i, b.b, x, b.a, y, b.c, LD), b.c);
    if (o->type == 'S' || o->type == 'D') {
        answer(&b, BL_REAL(&b, sbmv, b.h, fill, 8, 2, b.i, b.a, LD, b.b, x, b.two, b.c, y), b.c);
        answer(&b, BL_REAL(&b, spmv, b.h, fill, 8, b.i, b.a, b.b, x, b.two, b.c, y), b.c);
        answer(&b, BL_REAL(&b, spr, b.h, fill, 8, b.i, b.b, x, b.c), b.c);
        answer(&b, BL_REAL(&b, spr2, b.h, fill, 8, b.i, b.b, x, b.a, y, b.c), b.c);
        return;
    }
    answer(&b, BL_COMPLEX(&b, hemv, b.h, fill, 8, b.i, b.a, LD, b.b, x, b.two, b.c, y), b.c);
    answer(&b, BL_COMPLEX(&b, hbmv, b.h, fill, 8, 2, b.i, b.a, LD, b.b, x, b.two, b.c, y), b.c);
    answer(&b, BL_COMPLEX(&b, hpmv, b.h, fill, 8, b.i, b.a, b.b, x, b.two, b.c, y), b.c);
    answer(&b, BL_COMPLEX(&b, her, b.h, fill, 8, (void *)b.real, b.b, x, b.c, LD), b.c);
    answer(&b, BL_COMPLEX(&b, hpr, b.h, fill, 8, (void *)b.real, b.b, x, b.c), b.c);
    answer(&b, BL_COMPLEX(&b, her2, b.h, fill, 8, b.i, b.b, x, b.a, y, b.c, LD), b.c);
    answer(&b, BL_COMPLEX(&b, hpr2, b.h, fill, 8, b.i, b.b, x, b.a, y, b.c), b.c);
}

/* ---- level 3 ---- */

static void gemm(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    cublasOperation_t left = ops[o->one], right = ops[o->two];
    answer(&b, BL_CALL(&b, gemm, b.h, left, right, 11, 7, 9, b.i, b.a, LD, b.b, LD, b.two, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, gemm, b.h, left, right, 11, 7, 0, b.i, b.a, LD, b.b, LD, b.two, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b,
           BL_CALL(&b, gemmStridedBatched, b.h, left, right, 5, 4, 3, b.i, b.a, 6, 40, b.b, 6, 0, b.two, b.c, 6, 50, 5),
           b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, geam, b.h, left, right, 11, 7, b.i, b.a, LD, b.two, b.b, LD, b.c, LD), b.c);
}

static void special(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    cublasSideMode_t side = sides[o->one];
    cublasFillMode_t fill = fills[o->two];
    answer(&b, BL_CALL(&b, symm, b.h, side, fill, 9, 7, b.i, b.a, LD, b.b, LD, b.two, b.c, LD), b.c);
    b = bl_begin(o->type);
    if (o->type == 'C' || o->type == 'Z')
        answer(&b, BL_COMPLEX(&b, hemm, b.h, side, fill, 9, 7, b.i, b.a, LD, b.b, LD, b.two, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, dgmm, b.h, side, 9, 7, b.a, LD, b.b, 2, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, dgmm, b.h, side, 9, 7, b.a, LD, b.b, -1, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, tpttr, b.h, fill, 9, b.a, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, trttp, b.h, fill, 9, b.a, LD, b.c), b.c);
}

/* `one`: side, `two`: triangle, `three`: operation, `four`: diagonal. */
static void solve(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    cublasSideMode_t side = sides[o->one];
    cublasFillMode_t fill = fills[o->two];
    cublasOperation_t op = ops[o->three];
    cublasDiagType_t diag = diags[o->four];
    answer(&b, BL_CALL(&b, trmm, b.h, side, fill, op, diag, 9, 7, b.i, b.a, LD, b.b, LD, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, trmm, b.h, side, fill, op, diag, 9, 7, b.i, b.a, LD, b.c, LD, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, trsm, b.h, side, fill, op, diag, 4, 4, b.i, b.a, LD, b.c, LD), b.c);
}

static void update(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct bl b = bl_begin(o->type);
    cublasFillMode_t fill = fills[o->one];
    cublasOperation_t op = o->two ? CUBLAS_OP_T : CUBLAS_OP_N, other = o->two ? CUBLAS_OP_C : CUBLAS_OP_N;
    answer(&b, BL_CALL(&b, syrk, b.h, fill, op, 9, 7, b.i, b.a, LD, b.two, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, syr2k, b.h, fill, op, 9, 7, b.i, b.a, LD, b.b, LD, b.two, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_CALL(&b, syrkx, b.h, fill, op, 9, 7, b.i, b.a, LD, b.a, LD, b.two, b.c, LD), b.c);
    if (o->type == 'S' || o->type == 'D')
        return;
    b = bl_begin(o->type);
    answer(&b, BL_COMPLEX(&b, herk, b.h, fill, other, 9, 7, (void *)b.real, b.a, LD, (void *)b.real, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_COMPLEX(&b, her2k, b.h, fill, other, 9, 7, b.i, b.a, LD, b.b, LD, (void *)b.real, b.c, LD), b.c);
    b = bl_begin(o->type);
    answer(&b, BL_COMPLEX(&b, herkx, b.h, fill, other, 9, 7, b.two, b.a, LD, b.a, LD, (void *)b.real, b.c, LD), b.c);
}

/* ---- the table ---- */

static void add(const char *family, void (*run)(const struct gold_case *), const char *types, struct options o)
{
    for (const char *type = types; *type; type++) {
        struct gold_case *test = calloc(1, sizeof *test);
        struct options *data = malloc(sizeof *data);
        char *name = malloc(64);
        o.type = *type;
        *data = o;
        snprintf(name, 64, "blas_%s.%c_%d%d%d%d", family, *type | 32, o.one, o.two, o.three, o.four);
        *test = (struct gold_case){.name = name, .run = run, .data = data};
        gold_register(test);
    }
}

__attribute__((constructor)) static void add_all(void)
{
    for (int i = 0; i < 4; i++) {
        add("vector", level1, "SDCZ", (struct options){.one = i});
        add("rotation", rotations, "SDCZ", (struct options){.one = i});
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            add("gemv", gemv, "SDCZ", (struct options){.one = i, .two = j});
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            add("symv", symmetric, "SDCZ", (struct options){.one = i, .two = j});
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            add("gemm", gemm, "SDCZ", (struct options){.one = i, .two = j});
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            add("symm", special, "SDCZ", (struct options){.one = i, .two = j});
            add("syrk", update, "SDCZ", (struct options){.one = i, .two = j});
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 2; l++)
                    add("trsm", solve, "SDCZ", (struct options){0, i, j, k, l});
        }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++)
                for (int l = 0; l < 3; l += 2)
                    add("trsv", triangle, "SDCZ", (struct options){0, i, j, k, l});
}
