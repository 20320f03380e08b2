/* SPDX-License-Identifier: Apache-2.0 */
/* cuSOLVER in stream order: behind and before kernels, in captures and graphs. */
#include "sv.h"

#define LOWER CUBLAS_FILL_MODE_LOWER
#define VECTOR CUSOLVER_EIG_MODE_VECTOR
#define ROOM (1 << 16)

static unsigned float_bits(float value)
{
    union {
        float value;
        unsigned bits;
    } both = {value};
    return both.bits;
}

static float first(const void *at)
{
    float value;
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/* A matrix of one element behind a gate: what was stored before the gate's end is what is factorised. */
CASE(solver_order, potrf_after_kernel)
{
    struct sv *s = sv_begin('S', SV_ZERO);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    rt_store(stream, s->a, float_bits(4));
    SV_NEED(cusolverDnSpotrf(s->h, LOWER, 1, s->a, 1, s->work, ROOM, s->info)); /* hardware loads its kernels */
    SV_NEED(cusolverDnSetStream(s->h, stream));
    RT_NEED(cudaDeviceSynchronize());
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, s->a, float_bits(9));
    sv(cusolverDnSpotrf(s->h, LOWER, 1, s->a, 1, s->work, ROOM, s->info));
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    say_int((int)first(s->a));
    sv_info(s);
}

/* The info is written in stream order: it is not there while the gate is closed. */
CASE(solver_order, info_is_late)
{
    struct sv *s = sv_begin('S', SV_ZERO);
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    SV_NEED(cusolverDnSgetrf(s->h, 2, 2, s->a, 8, s->work, s->pivots, s->info));
    SV_NEED(cusolverDnSetStream(s->h, stream));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemset(s->info, 0x11, 4));
    struct rt_gate gate = rt_gate_close(stream);
    sv(cusolverDnSgetrf(s->h, 2, 2, s->a, 8, s->work, s->pivots, s->info));
    rt_store(stream, (char *)s->info + 4, 5);
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    sv_info(s);
}

static const char *const capture_names[] = {
    "potrf",        "getrf",         "geqrf",  "syevd", "gesvd", "syevj", "gesvdj", "sytrf", "potrfBatched",
    "syevjBatched", "gesvdjBatched", "gesvda", "getrs", "orgqr", "sygvd", "gebrd",  "sytrd", "potri"};

static cusolverStatus_t capture_call(struct sv *s, int which, syevjInfo_t jacobi, gesvdjInfo_t singular)
{
    double norm;
    switch (which) {
    case 0:
        return cusolverDnDpotrf(s->h, LOWER, 8, s->a, 8, s->work, ROOM, s->info);
    case 1:
        return cusolverDnDgetrf(s->h, 8, 8, s->a, 8, s->work, s->pivots, s->info);
    case 2:
        return cusolverDnDgeqrf(s->h, 8, 8, s->a, 8, s->tau, s->work, ROOM, s->info);
    case 3:
        return cusolverDnDsyevd(s->h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, ROOM, s->info);
    case 4:
        return cusolverDnDgesvd(s->h, 'A', 'A', 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, NULL, s->info);
    case 5:
        return cusolverDnDsyevj(s->h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, ROOM, s->info, jacobi);
    case 6:
        return cusolverDnDgesvdj(s->h, VECTOR, 0, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, s->info,
                                 singular);
    case 7:
        return cusolverDnDsytrf(s->h, LOWER, 8, s->a, 8, s->pivots, s->work, ROOM, s->info);
    case 8:
        return cusolverDnDpotrfBatched(s->h, LOWER, 8, (double **)s->c, 8, s->info, 1);
    case 9:
        return cusolverDnDsyevjBatched(s->h, VECTOR, LOWER, 8, s->a, 8, s->w, s->work, ROOM, s->info, jacobi, 1);
    case 10:
        return cusolverDnDgesvdjBatched(s->h, VECTOR, 8, 8, s->a, 8, s->w, s->u, 8, s->v, 8, s->work, ROOM, s->info,
                                        singular, 1);
    case 11:
        return cusolverDnDgesvdaStridedBatched(s->h, VECTOR, 8, 8, 8, s->a, 8, 64, s->w, 8, s->u, 8, 64, s->v, 8, 64,
                                               s->work, ROOM, s->info, &norm, 1);
    case 12:
        return cusolverDnDgetrs(s->h, CUBLAS_OP_N, 8, 1, s->a, 8, NULL, s->b, 8, s->info);
    case 13:
        return cusolverDnDorgqr(s->h, 8, 8, 8, s->a, 8, s->tau, s->work, ROOM, s->info);
    case 14:
        sv_fill('D', s->c, SV_POSITIVE, NULL);
        return cusolverDnDsygvd(s->h, CUSOLVER_EIG_TYPE_1, VECTOR, LOWER, 8, s->a, 8, s->c, 8, s->w, s->work, ROOM,
                                s->info);
    case 15:
        return cusolverDnDgebrd(s->h, 8, 8, s->a, 8, s->w, s->u, s->tau, s->v, s->work, ROOM, s->info);
    case 16:
        return cusolverDnDsytrd(s->h, LOWER, 8, s->a, 8, s->w, s->u, s->tau, s->work, ROOM, s->info);
    default:
        return cusolverDnDpotri(s->h, LOWER, 8, s->a, 8, s->work, ROOM, s->info);
    }
}

/* Whether a call can be captured: its status, the capture's, and what the graph's launch leaves as info. */
static void captured(const struct gold_case *self)
{
    int which = (int)(intptr_t)self->data;
    struct sv *s = sv_begin('D', SV_POSITIVE);
    syevjInfo_t jacobi;
    gesvdjInfo_t singular;
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    SV_NEED(cusolverDnCreateSyevjInfo(&jacobi));
    SV_NEED(cusolverDnCreateGesvdjInfo(&singular));
    SV_NEED(cusolverDnSetStream(s->h, stream));
    if (which != 14) {
        void *one = s->a;
        RT_NEED(cudaMemcpy(s->c, &one, sizeof one, cudaMemcpyHostToDevice));
    }
    SV_NEED(capture_call(s, which, jacobi, singular)); /* hardware loads its kernels */
    RT_NEED(cudaDeviceSynchronize());
    sv_fill('D', s->a, SV_POSITIVE, NULL);
    RT_NEED(cudaMemset(s->info, 0x11, 4));
    RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    sv(which == 14 ? cusolverDnDsygvd(s->h, CUSOLVER_EIG_TYPE_1, VECTOR, LOWER, 8, s->a, 8, s->c, 8, s->w, s->work,
                                      ROOM, s->info)
                   : capture_call(s, which, jacobi, singular));
    cudaError_t end = cudaStreamEndCapture(stream, &graph);
    rt(end);
    if (end == cudaSuccess) {
        RT_NEED(cudaGraphInstantiate(&exec, graph, 0));
        RT_NEED(cudaGraphLaunch(exec, stream));
        rt(cudaStreamSynchronize(stream));
        sv_info(s);
    }
}

#define CAPTURES (sizeof capture_names / sizeof *capture_names)
static struct gold_case capture_cases[CAPTURES];
static char capture_titles[CAPTURES][64];

__attribute__((constructor)) static void add_captures(void)
{
    for (size_t i = 0; i < CAPTURES; i++) {
        const char *name = capture_names[i];
        size_t at = 0;
        for (const char *p = "solver_capture."; *p; p++)
            capture_titles[i][at++] = *p;
        for (; *name; name++)
            capture_titles[i][at++] = *name;
        capture_cases[i] =
            (struct gold_case){.name = capture_titles[i], .run = captured, .data = (void *)(intptr_t)i, .alone = true};
    }
    gold_register_all(capture_cases, CAPTURES);
}

/* Whether calls return before their work is done: the stream is behind a gate. */
static void late(const struct gold_case *self)
{
    int which = (int)(intptr_t)self->data;
    struct sv *s = sv_begin('D', SV_POSITIVE);
    syevjInfo_t jacobi;
    gesvdjInfo_t singular;
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    void *one = s->a;
    SV_NEED(cusolverDnCreateSyevjInfo(&jacobi));
    SV_NEED(cusolverDnCreateGesvdjInfo(&singular));
    SV_NEED(cusolverDnSetStream(s->h, stream));
    RT_NEED(cudaMemcpy(s->c, &one, sizeof one, cudaMemcpyHostToDevice));
    SV_NEED(capture_call(s, which, jacobi, singular));
    RT_NEED(cudaDeviceSynchronize());
    sv_fill('D', s->a, SV_POSITIVE, NULL);
    struct rt_gate gate = rt_gate_close(stream);
    sv(capture_call(s, which, jacobi, singular));
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    sv_info(s);
}

#define LATE 8 /* the first of them */
static struct gold_case late_cases[LATE];
static char late_titles[LATE][64];

__attribute__((constructor)) static void add_late(void)
{
    size_t count = 0;
    for (size_t i = 0; i < LATE; i++) {
        const char *name = capture_names[i];
        size_t at = 0;
        for (const char *p = "solver_late."; *p; p++)
            late_titles[count][at++] = *p;
        for (; *name; name++)
            late_titles[count][at++] = *name;
        late_cases[count] =
            (struct gold_case){.name = late_titles[count], .run = late, .data = (void *)(intptr_t)i, .alone = true};
        count++;
    }
    gold_register_all(late_cases, count);
}
