/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT beside sums written out: all types, ranks, lengths that are cut and lengths that are not, layouts, batches, in
 * place; the same bits on every run; plans, streams and threads at once; plans that end before their work. (Statuses,
 * order and what hardware gave: tests/golden/math/cufft.)
 *
 * Inputs have numbers at a few places, zeros elsewhere where a transform is large: so the sums are short. Elements
 * between those of the transform are a mark, and have to stay. */
#include <cufftXt.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK 77.0
#define DENSE 600 /* elements up to which all places have numbers */
#define FEW 12

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 9;
}

struct side {
    bool real;
    long long n[3], embed[3], stride, distance;
};

struct problem {
    cufftType type;
    int rank, direction;
    bool in_place, has_layout;
    long long n[3], batch;
    struct side in, out;
    int count; /* numbers that go in, of each member */
    long long (*places)[3];
    double (*numbers)[2];
};

static bool is_double(const struct problem *p)
{
    return p->type >= 0x60;
}

static bool real_in(const struct problem *p)
{
    return p->type == CUFFT_R2C || p->type == CUFFT_D2Z;
}

static bool real_out(const struct problem *p)
{
    return p->type == CUFFT_C2R || p->type == CUFFT_Z2D;
}

static long long place(const struct problem *p, const struct side *side, long long batch, const long long at[3])
{
    long long index = 0;
    for (int i = 0; i < p->rank; i++)
        index = index * (i ? side->embed[i] : 1) + at[i];
    return batch * side->distance + index * side->stride;
}

static long long extent(const struct problem *p, const struct side *side)
{
    long long last[3] = {side->n[0] - 1, side->n[1] - 1, side->n[2] - 1};
    return place(p, side, p->batch - 1, last) + 1;
}

static long long product(const struct problem *p)
{
    long long all = 1;
    for (int i = 0; i < p->rank; i++)
        all *= p->n[i];
    return all;
}

/* A side with the default layout, or one with gaps; `apart`: members lie one element apart. */
static struct side make_side(const struct problem *p, bool out, unsigned *seed, int way)
{
    struct side side = {.real = out ? real_out(p) : real_in(p), .stride = 1};
    int last = p->rank - 1;
    bool half = (real_in(p) || real_out(p)) && !side.real;
    for (int i = 0; i < 3; i++)
        side.n[i] = side.embed[i] = i < p->rank ? p->n[i] : 1;
    if (half)
        side.n[last] = side.embed[last] = p->n[last] / 2 + 1;
    if (side.real && p->in_place)
        side.embed[last] = (p->n[last] / 2 + 1) * 2;
    if (way == 1) {
        for (int i = 0; i < p->rank; i++)
            side.embed[i] += next(seed) % 4;
        side.stride = 1 + next(seed) % 3;
    }
    side.distance = side.stride;
    for (int i = 0; i < p->rank; i++)
        side.distance *= side.embed[i];
    side.distance += way == 1 ? next(seed) % 5 : 0;
    if (way == 2) {
        side.distance = 1;
        side.stride = p->batch;
    }
    return side;
}

/* Numbers, with their mirror images where the result is real. */
static void choose_numbers(struct problem *p, unsigned *seed)
{
    long long all = product(p);
    bool dense = all <= DENSE;
    int limit = dense ? (int)all * 2 : FEW * 2;
    p->places = calloc((size_t)limit, sizeof *p->places);
    p->numbers = calloc((size_t)limit, sizeof *p->numbers);
    for (int i = 0; i < limit / 2; i++) {
        long long at[3] = {0}, mirror[3] = {0}, rest = i;
        for (int d = p->rank - 1; d >= 0; d--) {
            at[d] = dense ? rest % p->n[d] : (long long)(next(seed) % p->n[d]);
            rest /= p->n[d];
            mirror[d] = (p->n[d] - at[d]) % p->n[d];
        }
        double number[2] = {next(seed) % 2001 / 1000.0 - 1, real_in(p) ? 0 : next(seed) % 2001 / 1000.0 - 1};
        memcpy(p->places[p->count], at, sizeof at);
        memcpy(p->numbers[p->count++], number, sizeof number);
        if (!real_out(p))
            continue;
        number[1] = -number[1];
        memcpy(p->places[p->count], mirror, sizeof mirror);
        memcpy(p->numbers[p->count++], number, sizeof number);
    }
}

static void put(const struct problem *p, const struct side *side, void *memory, long long index, const double number[2],
                bool add)
{
    long long first = side->real ? index : 2 * index;
    for (int part = 0; part < (side->real ? 1 : 2); part++) {
        if (is_double(p)) {
            double *at = (double *)memory + first + part;
            *at = (add ? *at : 0) + number[part];
        } else {
            float *at = (float *)memory + first + part;
            *at = (add ? *at : 0) + (float)number[part];
        }
    }
}

static double get(const struct problem *p, const struct side *side, const void *memory, long long index, int part)
{
    long long at = (side->real ? index : 2 * index) + part;
    return is_double(p) ? ((const double *)memory)[at] : ((const float *)memory)[at];
}

static size_t bytes_of(const struct problem *p, const struct side *side)
{
    return (size_t)extent(p, side) * (is_double(p) ? 8 : 4) * (side->real ? 1 : 2);
}

static void fill_marks(const struct problem *p, void *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes / (is_double(p) ? 8 : 4); i++)
        if (is_double(p))
            ((double *)memory)[i] = MARK;
        else
            ((float *)memory)[i] = (float)MARK;
}

#define FOR_ALL(side, at) \
    for (at[0] = 0; at[0] < (side)->n[0]; at[0]++) \
        for (at[1] = 0; at[1] < (side)->n[1]; at[1]++) \
            for (at[2] = 0; at[2] < (side)->n[2]; at[2]++)

/* Member b gets the numbers times b + 1. */
static void fill_input(const struct problem *p, void *memory)
{
    long long at[3];
    for (long long b = 0; b < p->batch; b++) {
        FOR_ALL(&p->in, at)
        put(p, &p->in, memory, place(p, &p->in, b, at), (double[2]){0, 0}, false);
        for (int i = 0; i < p->count; i++) {
            double number[2] = {p->numbers[i][0] * (double)(b + 1), p->numbers[i][1] * (double)(b + 1)};
            if (p->places[i][p->rank - 1] < p->in.n[p->rank - 1])
                put(p, &p->in, memory, place(p, &p->in, b, p->places[i]), number, true);
        }
    }
}

static void expected(const struct problem *p, const double *const roots[3], const long long at[3], double out[2])
{
    bool inverse = real_out(p) || (!real_in(p) && p->direction == CUFFT_INVERSE);
    out[0] = out[1] = 0;
    for (int i = 0; i < p->count; i++) {
        double x = p->numbers[i][0], y = p->numbers[i][1];
        for (int d = 0; d < p->rank; d++) {
            long long k = at[d] * p->places[i][d] % p->n[d];
            double c = roots[d][2 * k], s = inverse ? roots[d][2 * k + 1] : -roots[d][2 * k + 1], old = x;
            x = x * c - y * s;
            y = old * s + y * c;
        }
        out[0] += x;
        out[1] += y;
    }
}

static void check_output(const struct problem *p, const void *memory, size_t bytes, const char *title)
{
    double *roots[3] = {0};
    for (int d = 0; d < p->rank; d++) {
        roots[d] = malloc((size_t)p->n[d] * 16);
        for (long long k = 0; k < p->n[d]; k++) {
            roots[d][2 * k] = cos(2 * M_PI * (double)k / (double)p->n[d]);
            roots[d][2 * k + 1] = sin(2 * M_PI * (double)k / (double)p->n[d]);
        }
    }
    char *taken = calloc(bytes / (is_double(p) ? 8 : 4) + 1, 1);
    double limit = (is_double(p) ? 2e-14 : 4e-6) * sqrt((double)p->count) * 4;
    long long at[3];
    FOR_ALL(&p->out, at)
    {
        double want[2];
        expected(p, (const double *const *)roots, at, want);
        for (long long b = 0; b < p->batch; b++) {
            long long index = place(p, &p->out, b, at);
            for (int part = 0; part < (p->out.real ? 1 : 2); part++) {
                double have = get(p, &p->out, memory, index, part), wanted = want[part] * (double)(b + 1);
                taken[(p->out.real ? index : 2 * index) + part] = 1;
                if (fabs(have - wanted) > limit * (double)(b + 1)) {
                    fprintf(stderr, "%s: member %lld, %lld %lld %lld part %d: %.10g, wanted %.10g\n", title, b, at[0],
                            at[1], at[2], part, have, wanted);
                    exit(1);
                }
            }
        }
    }
    for (size_t i = 0; i < bytes / (is_double(p) ? 8 : 4) && !p->in_place; i++)
        if (!taken[i] && (is_double(p) ? ((const double *)memory)[i] : ((const float *)memory)[i]) != MARK) {
            fprintf(stderr, "%s: number %zu between the elements was written\n", title, i);
            exit(1);
        }
    free(taken);
    for (int d = 0; d < 3; d++)
        free(roots[d]);
}

static cufftHandle make_plan(const struct problem *p)
{
    cufftHandle plan;
    size_t size;
    long long n[3], in[3], out[3];
    memcpy(n, p->n, sizeof n);
    memcpy(in, p->in.embed, sizeof in);
    memcpy(out, p->out.embed, sizeof out);
    CHECK(cufftCreate(&plan) == CUFFT_SUCCESS);
    CHECK(cufftMakePlanMany64(plan, p->rank, n, p->has_layout ? in : NULL, p->in.stride, p->in.distance,
                              p->has_layout ? out : NULL, p->out.stride, p->out.distance, p->type, p->batch,
                              &size) == CUFFT_SUCCESS);
    return plan;
}

/* Real transforms have one direction. */
static void set_direction(struct problem *p, int direction)
{
    p->direction = real_in(p) ? CUFFT_FORWARD : real_out(p) ? CUFFT_INVERSE : direction;
}

/* Runs the problem twice: the second time gives the same bits. */
static void run(struct problem *p, unsigned *seed, cudaStream_t stream, const char *title)
{
    void *in, *out, *host, *again;
    choose_numbers(p, seed);
    size_t in_size = bytes_of(p, &p->in), out_size = bytes_of(p, &p->out);
    if (p->in_place)
        in_size = out_size = in_size > out_size ? in_size : out_size;
    cufftHandle plan = make_plan(p);
    CHECK(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
    CHECK(cudaMalloc(&in, in_size) == cudaSuccess);
    CHECK(cudaMalloc(&out, out_size) == cudaSuccess);
    host = malloc(in_size);
    again = malloc(out_size);
    fill_marks(p, host, in_size);
    fill_input(p, host);
    void *first = malloc(out_size);
    for (int turn = 0; turn < 2; turn++) {
        fill_marks(p, again, out_size);
        CHECK(cudaMemcpyAsync(out, again, out_size, cudaMemcpyHostToDevice, stream) == cudaSuccess);
        CHECK(cudaMemcpyAsync(p->in_place ? out : in, host, in_size, cudaMemcpyHostToDevice, stream) == cudaSuccess);
        CHECK(cufftXtExec(plan, p->in_place ? out : in, out, p->direction) == CUFFT_SUCCESS);
        CHECK(cudaMemcpyAsync(turn ? again : first, out, out_size, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
        if (turn) /* work goes on without its plan */
            CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    }
    check_output(p, first, out_size, title);
    CHECK(memcmp(first, again, out_size) == 0);
    if (!p->in_place) { /* the input is as it was */
        void *now = malloc(in_size);
        CHECK(cudaMemcpy(now, in, in_size, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(memcmp(now, host, in_size) == 0);
        free(now);
    }
    free(first);
    free(host);
    free(again);
    free(p->places);
    free(p->numbers);
    CHECK(cudaFree(in) == cudaSuccess);
    CHECK(cudaFree(out) == cudaSuccess);
}

static const cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};

/* A random problem of up to some 100,000 elements. */
static struct problem random_problem(unsigned *seed)
{
    static const int lengths[] = {1,  2,  3,  4,  5,  7,  8,  9,  11,  13,  16, 17,
                                  24, 25, 31, 32, 37, 48, 64, 81, 100, 127, 128};
    struct problem p = {.type = types[next(seed) % 6], .rank = 1 + (int)(next(seed) % 3)};
    int way = (int)(next(seed) % 3);
    set_direction(&p, next(seed) % 2 ? CUFFT_FORWARD : CUFFT_INVERSE);
    for (int i = 0; i < p.rank; i++)
        p.n[i] = lengths[next(seed) % (p.rank == 3 ? 16 : sizeof lengths / sizeof *lengths)];
    if (p.rank == 1 && next(seed) % 4 == 0)
        p.n[0] = 1 + next(seed) % 5000;
    p.batch = product(&p) < 2000 ? 1 + next(seed) % 40 : 1 + next(seed) % 3;
    p.in_place = next(seed) % 3 == 0 && way == 0;
    p.in = make_side(&p, false, seed, way);
    p.out = make_side(&p, true, seed, way == 2 ? (int)(next(seed) % 3) : way);
    p.has_layout = way != 0;
    if (p.type == CUFFT_C2C && way == 1 && next(seed) % 2) { /* in place with gaps */
        p.in_place = true;
        p.out = p.in;
    }
    return p;
}

static void one(cufftType type, int rank, long long a, long long b, long long c, long long batch, bool in_place,
                int way)
{
    char title[100];
    unsigned seed = 5;
    struct problem p = {.type = type,
                        .rank = rank,
                        .n = {a, b, c},
                        .batch = batch,
                        .direction = CUFFT_INVERSE,
                        .in_place = in_place,
                        .has_layout = way != 0};
    set_direction(&p, CUFFT_INVERSE);
    p.in = make_side(&p, false, &seed, way);
    p.out = make_side(&p, true, &seed, way);
    snprintf(title, sizeof title, "%x %lld x %lld x %lld, %lld of them, %s, way %d", (unsigned)type, a, b, c, batch,
             in_place ? "in place" : "out of place", way);
    run(&p, &seed, cudaStreamPerThread, title);
}

/* Lengths that are cut, and that can't be; halves of real ones. */
static void test_long(void)
{
    for (int i = 0; i < 6; i++) {
        one(types[i], 1, 65536, 1, 1, 1, false, 0);
        one(types[i], 1, 131072, 1, 1, 2, true, 0);
        one(types[i], 1, 2 * 65537, 1, 1, 1, false, 0);
        one(types[i], 1, 3 * 65536, 1, 1, 2, false, 1);
        one(types[i], 1, 131072, 1, 1, 3, false, 2);
        one(types[i], 2, 65536, 3, 1, 1, false, 0);
        one(types[i], 2, 3, 131072, 1, 1, true, 0);
        one(types[i], 3, 2, 65536, 2, 1, false, 1);
        one(types[i], 1, 177147, 1, 1, 1, i % 2, 0);
        one(types[i], 3, 40, 50, 60, 1, i % 2, 0);
        one(types[i], 2, 300, 400, 1, 2, false, 1);
        one(types[i], 2, 16, 16, 1, 1000, i % 2, 0);
        one(types[i], 3, 8, 8, 8, 300, i % 2 == 0, 0);
        one(types[i], 2, 64, 65, 1, 3, false, 0);
    }
}

static void test_random(unsigned seed, int count, cudaStream_t stream)
{
    for (int i = 0; i < count; i++) {
        char title[100];
        snprintf(title, sizeof title, "problem %d (seed %u)", i, seed);
        struct problem p = random_problem(&seed);
        run(&p, &seed, stream, title);
    }
}

/* Threads with streams and plans of their own: FFTW's planner is called from all of them. */
static void *thread(void *argument)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    test_random((unsigned)(uintptr_t)argument, 40, stream);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[6];
    for (uintptr_t i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, (void *)(100 + i)) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}

/* A graph goes on when the plan and its work area are gone. */
static void test_graph(void)
{
    enum { N = 1 << 17 };
    cufftHandle plan;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float(*data)[2], (*host)[2] = calloc(N, sizeof *host);
    CHECK(cudaMalloc((void **)&data, N * sizeof *data) == cudaSuccess);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    CHECK(cufftPlan1d(&plan, N, CUFFT_C2C, 1) == CUFFT_SUCCESS);
    CHECK(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cufftExecC2C(plan, (cufftComplex *)data, (cufftComplex *)data, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(cufftExecC2C(plan, (cufftComplex *)data, (cufftComplex *)data, CUFFT_INVERSE) == CUFFT_SUCCESS);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            host[i][0] = (float)((i * 7 + turn) % 13);
        CHECK(cudaMemcpyAsync(data, host, N * sizeof *host, cudaMemcpyHostToDevice, stream) == cudaSuccess);
        CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
        CHECK(cudaMemcpyAsync(host, data, N * sizeof *host, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
        for (int i = 0; i < N; i++)
            CHECK(fabsf(host[i][0] / N - (float)((i * 7 + turn) % 13)) < 1e-4f && fabsf(host[i][1] / N) < 1e-4f);
        memset(host, 0, N * sizeof *host);
    }
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaFree(data) == cudaSuccess);
    free(host);
}

/* In place, lines that would be written over others are refused; results that have memory of their own are not. */
static void test_overlap(void)
{
    cufftHandle plan;
    int n = 16;
    char *memory;
    CHECK(cudaMalloc((void **)&memory, 1 << 16) == cudaSuccess);
    CHECK(cudaMemset(memory, 0, 1 << 16) == cudaSuccess);
    CHECK(cufftPlanMany(&plan, 1, &n, &n, 1, 16, &n, 4, 1, CUFFT_C2C, 4) == CUFFT_SUCCESS);
    CHECK(cufftExecC2C(plan, (cufftComplex *)memory, (cufftComplex *)memory, CUFFT_FORWARD) == CUFFT_NOT_SUPPORTED);
    CHECK(cufftExecC2C(plan, (cufftComplex *)memory, (cufftComplex *)(memory + 32768), CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
    CHECK(cudaFree(memory) == cudaSuccess);
}

/* Memory that is on no boundary of 16 bytes. */
static void test_odd_places(void)
{
    enum { N = 60, BATCH = 50 };
    float(*in)[2], (*out)[2];
    cufftHandle plan;
    CHECK(cudaMalloc((void **)&in, (N * BATCH + 2) * sizeof *in) == cudaSuccess);
    CHECK(cudaMalloc((void **)&out, (N * BATCH + 2) * sizeof *out) == cudaSuccess);
    for (int i = 0; i < N * BATCH; i++) {
        in[i + 1][0] = i % N == 3 ? (float)(i / N + 1) : 0;
        in[i + 1][1] = 0;
    }
    CHECK(cufftPlan1d(&plan, N, CUFFT_C2C, BATCH) == CUFFT_SUCCESS);
    CHECK(cufftExecC2C(plan, (cufftComplex *)(in + 1), (cufftComplex *)(out + 1), CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < N * BATCH; i++) {
        double angle = -2 * M_PI * 3 * (i % N) / N, size = i / N + 1;
        CHECK(fabs(out[i + 1][0] - size * cos(angle)) < 1e-4 && fabs(out[i + 1][1] - size * sin(angle)) < 1e-4);
    }
    CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
    CHECK(cudaFree(in) == cudaSuccess);
    CHECK(cudaFree(out) == cudaSuccess);
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 300;
    test_random(seed, count, cudaStreamPerThread);
    test_overlap();
    test_odd_places();
    test_graph();
    test_threads();
    test_long();
    return 0;
}
