/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of cuFFT stand on. */
#include "ft.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMPULSES 24
#define SENTINEL 77

void ft(cufftResult status)
{
    static const char *const names[] = {
        [CUFFT_SUCCESS] = "SUCCESS",
        [CUFFT_INVALID_PLAN] = "INVALID_PLAN",
        [CUFFT_ALLOC_FAILED] = "ALLOC_FAILED",
        [CUFFT_INVALID_TYPE] = "INVALID_TYPE",
        [CUFFT_INVALID_VALUE] = "INVALID_VALUE",
        [CUFFT_INTERNAL_ERROR] = "INTERNAL_ERROR",
        [CUFFT_EXEC_FAILED] = "EXEC_FAILED",
        [CUFFT_SETUP_FAILED] = "SETUP_FAILED",
        [CUFFT_INVALID_SIZE] = "INVALID_SIZE",
        [CUFFT_UNALIGNED_DATA] = "UNALIGNED_DATA",
        [CUFFT_INVALID_DEVICE] = "INVALID_DEVICE",
        [CUFFT_NO_WORKSPACE] = "NO_WORKSPACE",
        [CUFFT_NOT_IMPLEMENTED] = "NOT_IMPLEMENTED",
        [CUFFT_NOT_SUPPORTED] = "NOT_SUPPORTED",
        [CUFFT_MISSING_DEPENDENCY] = "MISSING_DEPENDENCY",
        [CUFFT_NVRTC_FAILURE] = "NVRTC_FAILURE",
        [CUFFT_NVJITLINK_FAILURE] = "NVJITLINK_FAILURE",
        [CUFFT_NVSHMEM_FAILURE] = "NVSHMEM_FAILURE",
    };
    char text[40];
    if ((size_t)status < sizeof names / sizeof *names && names[status])
        snprintf(text, sizeof text, "%s", names[status]);
    else
        snprintf(text, sizeof text, "status=%d", (int)status);
    say_text(text);
}

void ft_need(cufftResult status, const char *what)
{
    char text[200];
    if (status == CUFFT_SUCCESS)
        return;
    snprintf(text, sizeof text, "%s status=%d", what, (int)status);
    gold_stop(text);
}

static bool real_in(cufftType type)
{
    return type == CUFFT_R2C || type == CUFFT_D2Z;
}

static bool real_out(cufftType type)
{
    return type == CUFFT_C2R || type == CUFFT_Z2D;
}

static cudaDataType precision_of(const struct ft_case *wanted)
{
    if (wanted->maker == FT_XT && wanted->precision != 0)
        return wanted->precision;
    if (wanted->maker == FT_XT && wanted->type < 0x60)
        return CUDA_R_32F;
    return wanted->type < 0x60 ? CUDA_R_32F : CUDA_R_64F;
}

static size_t real_size(cudaDataType precision)
{
    return precision == CUDA_R_64F ? 8 : precision == CUDA_R_32F ? 4 : 2;
}

/* The plan's call, by the shape's way. */
static cufftResult make(cufftHandle plan, const struct ft_case *w)
{
    struct ft_shape s = w->shape;
    size_t size = 0;
    long long batch = s.batch ? s.batch : 1, *in = s.istride ? s.inembed : NULL, *out = s.ostride ? s.onembed : NULL;
    int n[3], ie[3], oe[3];
    for (int i = 0; i < 3; i++) {
        n[i] = (int)s.n[i];
        ie[i] = (int)s.inembed[i];
        oe[i] = (int)s.onembed[i];
    }
    if (w->maker == FT_MANY)
        return cufftMakePlanMany(plan, s.rank, n, in ? ie : NULL, (int)s.istride, (int)s.idist, out ? oe : NULL,
                                 (int)s.ostride, (int)s.odist, w->type, (int)batch, &size);
    if (w->maker == FT_SIMPLE)
        return s.rank == 1   ? cufftMakePlan1d(plan, n[0], w->type, (int)batch, &size)
               : s.rank == 2 ? cufftMakePlan2d(plan, n[0], n[1], w->type, &size)
                             : cufftMakePlan3d(plan, n[0], n[1], n[2], w->type, &size);
    if (w->maker == FT_XT) {
        cudaDataType real = precision_of(w), complex = (cudaDataType)((int)real + 4);
        if (real == CUDA_R_16BF)
            complex = CUDA_C_16BF;
        if (real == CUDA_R_16F)
            complex = CUDA_C_16F;
        if (real == CUDA_R_32F)
            complex = CUDA_C_32F;
        if (real == CUDA_R_64F)
            complex = CUDA_C_64F;
        return cufftXtMakePlanMany(plan, s.rank, s.n, in, s.istride, s.idist, real_in(w->type) ? real : complex, out,
                                   s.ostride, s.odist, real_out(w->type) ? real : complex, batch, &size, complex);
    }
    return cufftMakePlanMany64(plan, s.rank, s.n, in, s.istride, s.idist, out, s.ostride, s.odist, w->type, batch,
                               &size);
}

static cufftResult plan_at_once(cufftHandle *plan, const struct ft_case *w)
{
    const struct ft_shape *s = &w->shape;
    long long batch = s->batch ? s->batch : 1;
    int n[3] = {(int)s->n[0], (int)s->n[1], (int)s->n[2]};
    return s->rank == 1   ? cufftPlan1d(plan, n[0], w->type, (int)batch)
           : s->rank == 2 ? cufftPlan2d(plan, n[0], n[1], w->type)
                          : cufftPlan3d(plan, n[0], n[1], n[2], w->type);
}

cufftHandle ft_plan(const struct ft_case *wanted)
{
    cufftHandle plan = CUFFT_PLAN_NULL;
    cufftResult status;
    if (wanted->maker == FT_PLAN) {
        status = plan_at_once(&plan, wanted);
    } else {
        FT_NEED(cufftCreate(&plan));
        status = make(plan, wanted);
        if (status != CUFFT_SUCCESS)
            cufftDestroy(plan);
    }
    if (status == CUFFT_SUCCESS)
        return plan;
    ft(status);
    return CUFFT_PLAN_NULL;
}

/* ---- layouts ---- */

/* Where elements of one side lie. */
struct side {
    bool real, half; /* real numbers; complex ones, of which the last axis has n / 2 + 1 */
    long long n[3], embed[3], stride, dist;
};

static struct side side_of(const struct ft_case *w, bool out)
{
    const struct ft_shape *s = &w->shape;
    struct side side = {.real = out ? real_out(w->type) : real_in(w->type),
                        .half = out ? real_in(w->type) : real_out(w->type)};
    long long stride = out ? s->ostride : s->istride;
    for (int i = 0; i < 3; i++)
        side.n[i] = i < s->rank ? s->n[i] : 1;
    if (side.half)
        side.n[s->rank - 1] = side.n[s->rank - 1] / 2 + 1;
    for (int i = 0; i < 3; i++)
        side.embed[i] = stride ? (out ? s->onembed : s->inembed)[i] : side.n[i];
    if (!stride && side.real && w->in_place)
        side.embed[s->rank - 1] = (side.n[s->rank - 1] / 2 + 1) * 2;
    side.stride = stride ? stride : 1;
    side.dist = stride ? (out ? s->odist : s->idist) : 1;
    if (!stride)
        for (int i = 0; i < s->rank; i++)
            side.dist *= side.embed[i];
    return side;
}

static long long place(const struct side *side, int rank, long long batch, const long long at[3])
{
    long long index = 0;
    for (int i = 0; i < rank; i++)
        index = index * (i ? side->embed[i] : 1) + at[i];
    return batch * side->dist + index * side->stride;
}

/* Elements that the side's memory has. */
static long long extent(const struct side *side, int rank, long long batch)
{
    long long last[3] = {side->n[0] - 1, side->n[1] - 1, side->n[2] - 1};
    return place(side, rank, batch - 1, last) + side->stride;
}

static void store(cudaDataType precision, void *at, size_t index, double value)
{
    if (precision == CUDA_R_64F)
        ((double *)at)[index] = value;
    else if (precision == CUDA_R_32F)
        ((float *)at)[index] = (float)value;
    else if (precision == CUDA_R_16F) {
        _Float16 half = (_Float16)value;
        memcpy((char *)at + 2 * index, &half, 2);
    } else {
        float wide = (float)value;
        unsigned bits;
        memcpy(&bits, &wide, 4);
        bits = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
        memcpy((char *)at + 2 * index, &bits, 2);
    }
}

static double load(cudaDataType precision, const void *at, size_t index)
{
    if (precision == CUDA_R_64F)
        return ((const double *)at)[index];
    if (precision == CUDA_R_32F)
        return ((const float *)at)[index];
    if (precision == CUDA_R_16F) {
        _Float16 half;
        memcpy(&half, (const char *)at + 2 * index, 2);
        return (double)half;
    }
    unsigned bits = 0;
    float wide;
    memcpy((char *)&bits + 2, (const char *)at + 2 * index, 2);
    memcpy(&wide, &bits, 4);
    return wide;
}

/* ---- numbers ---- */

struct impulse {
    long long at[3];
    int real, imaginary;
};

/* The places of the batch member's result that are not 0; those of a real input come with their mirror images. */
static int impulses(const struct ft_case *w, long long batch, struct impulse *list)
{
    unsigned seed = (unsigned)(batch * 977 + w->shape.n[0] * 31 + w->shape.n[1] * 7 + 12345);
    int count = 0;
    for (int i = 0; i < IMPULSES / 2; i++) {
        struct impulse one = {{0}, 0, 0};
        for (int d = 0; d < w->shape.rank; d++) {
            seed = seed * 1664525u + 1013904223u;
            one.at[d] = (long long)(seed >> 8) % w->shape.n[d];
        }
        seed = seed * 1664525u + 1013904223u;
        one.real = (int)(seed >> 20) % 9 - 4;
        one.imaginary = real_out(w->type) ? 0 : (int)(seed >> 12) % 7 - 3;
        list[count++] = one;
        if (!real_in(w->type))
            continue;
        struct impulse mirror = one;
        for (int d = 0; d < w->shape.rank; d++)
            mirror.at[d] = (w->shape.n[d] - one.at[d]) % w->shape.n[d];
        mirror.imaginary = -one.imaginary;
        list[count++] = mirror;
    }
    return count;
}

/* The input's element that leads to those impulses. */
static void input_at(const struct ft_case *w, const struct impulse *list, int count, const long long at[3],
                     double out[2])
{
    const double turn = 6.283185307179586476925286766559;
    bool forward = real_in(w->type) || (!real_out(w->type) && w->direction == CUFFT_FORWARD);
    double total = 1;
    for (int d = 0; d < w->shape.rank; d++)
        total *= (double)w->shape.n[d];
    out[0] = out[1] = 0;
    for (int i = 0; i < count; i++) {
        double part = 0;
        for (int d = 0; d < w->shape.rank; d++)
            part += (double)(at[d] * list[i].at[d] % w->shape.n[d]) / (double)w->shape.n[d];
        double angle = (forward ? turn : -turn) * (part - floor(part)), c = cos(angle), s = sin(angle);
        out[0] += (list[i].real * c - list[i].imaginary * s) / total;
        out[1] += (list[i].real * s + list[i].imaginary * c) / total;
    }
}

static void *sentinels(cudaDataType precision, size_t bytes)
{
    void *host = malloc(bytes);
    for (size_t i = 0; i < bytes / real_size(precision); i++)
        store(precision, host, i, SENTINEL);
    return host;
}

struct ft_memory ft_fill(const struct ft_case *w)
{
    struct ft_memory m = {0};
    struct side in = side_of(w, false), out = side_of(w, true);
    cudaDataType precision = precision_of(w);
    long long batch = w->shape.batch ? w->shape.batch : 1;
    int rank = w->shape.rank;
    m.in_size = (size_t)extent(&in, rank, batch) * real_size(precision) * (in.real ? 1 : 2);
    m.out_size = (size_t)extent(&out, rank, batch) * real_size(precision) * (out.real ? 1 : 2);
    if (w->in_place)
        m.in_size = m.out_size = m.in_size > m.out_size ? m.in_size : m.out_size;
    m.host_in = sentinels(precision, m.in_size);
    for (long long b = 0; b < batch; b++) {
        struct impulse list[IMPULSES];
        int count = impulses(w, b, list);
        long long at[3];
        for (at[0] = 0; at[0] < in.n[0]; at[0]++)
            for (at[1] = 0; at[1] < in.n[1]; at[1]++)
                for (at[2] = 0; at[2] < in.n[2]; at[2]++) {
                    double value[2];
                    size_t index = (size_t)place(&in, rank, b, at);
                    input_at(w, list, count, at, value);
                    store(precision, m.host_in, in.real ? index : 2 * index, value[0]);
                    if (!in.real)
                        store(precision, m.host_in, 2 * index + 1, value[1]);
                }
    }
    m.in = rt_alloc(m.in_size);
    RT_NEED(cudaMemcpy(m.in, m.host_in, m.in_size, cudaMemcpyHostToDevice));
    m.out = m.in;
    if (!w->in_place) {
        void *host = sentinels(precision, m.out_size);
        m.out = rt_alloc(m.out_size);
        RT_NEED(cudaMemcpy(m.out, host, m.out_size, cudaMemcpyHostToDevice));
        free(host);
    }
    RT_NEED(cudaDeviceSynchronize());
    return m;
}

cufftResult ft_exec(cufftHandle plan, const struct ft_case *w, const struct ft_memory *m)
{
    if (w->maker == FT_XT)
        return cufftXtExec(plan, m->in, m->out, w->direction);
    switch (w->type) {
    case CUFFT_R2C:
        return cufftExecR2C(plan, m->in, m->out);
    case CUFFT_C2R:
        return cufftExecC2R(plan, m->in, m->out);
    case CUFFT_D2Z:
        return cufftExecD2Z(plan, m->in, m->out);
    case CUFFT_Z2D:
        return cufftExecZ2D(plan, m->in, m->out);
    case CUFFT_Z2Z:
        return cufftExecZ2Z(plan, m->in, m->out, w->direction);
    default:
        return cufftExecC2C(plan, m->in, m->out, w->direction);
    }
}

/* The result's places as whole numbers, then how many elements between them are not what they were. What is between the
 * elements in place is the input's, so it is left out there. */
void ft_say(const struct ft_case *w, const struct ft_memory *m)
{
    struct side out = side_of(w, true);
    cudaDataType precision = precision_of(w);
    long long batch = w->shape.batch ? w->shape.batch : 1, at[3];
    size_t count = m->out_size / real_size(precision), said = 0;
    int rank = w->shape.rank;
    void *host = malloc(m->out_size);
    int *whole = calloc(count, sizeof *whole);
    char *taken = calloc(count, 1);
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, m->out, m->out_size, cudaMemcpyDeviceToHost));
    for (long long b = 0; b < batch; b++)
        for (at[0] = 0; at[0] < out.n[0]; at[0]++)
            for (at[1] = 0; at[1] < out.n[1]; at[1]++)
                for (at[2] = 0; at[2] < out.n[2]; at[2]++) {
                    size_t index = (size_t)place(&out, rank, b, at) * (out.real ? 1 : 2);
                    for (size_t part = 0; part < (out.real ? 1 : 2); part++) {
                        whole[said++] = (int)lrint(load(precision, host, index + part));
                        taken[index + part] = 1;
                    }
                }
    say_hash(whole, said * sizeof *whole);
    long long changed = 0;
    for (size_t i = 0; i < count && !w->in_place; i++)
        changed += !taken[i] && load(precision, host, i) != SENTINEL;
    if (changed)
        say_value("written-between", changed);
    free(host);
    free(taken);
    free(whole);
    if (!w->in_place && !real_out(w->type)) {
        void *now = malloc(m->in_size);
        RT_NEED(cudaMemcpy(now, m->in, m->in_size, cudaMemcpyDeviceToHost));
        say_if("input-kept", memcmp(now, m->host_in, m->in_size) == 0);
        free(now);
    }
    free(m->host_in);
    RT_NEED(cudaFree(m->in));
    if (!w->in_place)
        RT_NEED(cudaFree(m->out));
}

void ft_run(const struct ft_case *wanted)
{
    cufftHandle plan = ft_plan(wanted);
    if (plan == CUFFT_PLAN_NULL)
        return;
    struct ft_memory memory = ft_fill(wanted);
    cufftResult status = ft_exec(plan, wanted, &memory);
    ft(status);
    if (status == CUFFT_SUCCESS)
        ft_say(wanted, &memory);
    FT_NEED(cufftDestroy(plan));
}
