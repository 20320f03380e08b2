/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime API costs on top of the driver: each call beside the driver's same call, on the same stream, event
 * and kernel, in nanoseconds. Stretches of the two take turns, so that what else the machine does hits both. Lines:
 * driver_NAME and runtime_NAME, the medians, and extra_NAME, the median of the differences within a turn.
 *
 *     bench_runtime [LIBRARY]
 *
 * LIBRARY is runtime_kernel.cu as a shared library, whose kernel is launched as <<<…>>> does it; without it that row is
 * left out. Builds against any runtime's headers: cc -O2 runtime.c -lcudart -lcuda -ldl, nvcc -shared -Xcompiler -fPIC
 * -cudart shared runtime_kernel.cu. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdatomic.h>

#include "bench.h"

#define TURNS 31

#define CHECK_RUNTIME(call) \
    do { \
        cudaError_t bench_status = (call); \
        if (bench_status != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)bench_status); \
            exit(1); \
        } \
    } while (0)

struct state {
    cudaStream_t stream, other;
    cudaEvent_t timed, untimed;
    const void *kernel; /* what cudaLaunchKernel takes: a handle, or the address of a registered kernel */
    CUfunction function; /* the same kernel for the driver */
};

static void driver_record_timed(void *data)
{
    struct state *s = data;
    CHECK(cuEventRecord(s->timed, s->stream));
}

static void runtime_record_timed(void *data)
{
    struct state *s = data;
    CHECK_RUNTIME(cudaEventRecord(s->timed, s->stream));
}

static void driver_record_untimed(void *data)
{
    struct state *s = data;
    CHECK(cuEventRecord(s->untimed, s->stream));
}

static void runtime_record_untimed(void *data)
{
    struct state *s = data;
    CHECK_RUNTIME(cudaEventRecord(s->untimed, s->stream));
}

static void driver_query(void *data)
{
    struct state *s = data;
    CHECK(cuEventQuery(s->timed));
}

static void runtime_query(void *data)
{
    struct state *s = data;
    CHECK_RUNTIME(cudaEventQuery(s->timed));
}

static void driver_wait(void *data)
{
    struct state *s = data;
    CHECK(cuStreamWaitEvent(s->other, s->timed, 0));
}

static void runtime_wait(void *data)
{
    struct state *s = data;
    CHECK_RUNTIME(cudaStreamWaitEvent(s->other, s->timed, 0));
}

static void driver_launch(void *data)
{
    struct state *s = data;
    CHECK(cuLaunchKernel(s->function, 1, 1, 1, 32, 1, 1, 0, s->stream, NULL, NULL));
}

static void runtime_launch(void *data)
{
    struct state *s = data;
    const dim3 grid = {1, 1, 1}, block = {32, 1, 1};
    CHECK_RUNTIME(cudaLaunchKernel(s->kernel, grid, block, NULL, 0, s->stream));
}

static void driver_alloc_free(void *data)
{
    CUdeviceptr pointer;
    (void)data;
    CHECK(cuMemAlloc(&pointer, 1 << 20));
    CHECK(cuMemFree(pointer));
}

static void runtime_alloc_free(void *data)
{
    void *pointer;
    (void)data;
    CHECK_RUNTIME(cudaMalloc(&pointer, 1 << 20));
    CHECK_RUNTIME(cudaFree(pointer));
}

static void drain(void *data)
{
    struct state *s = data;
    CHECK_RUNTIME(cudaStreamSynchronize(s->stream));
    CHECK_RUNTIME(cudaStreamSynchronize(s->other));
}

static atomic_int gate;

static void CUDART_CB hold(void *data)
{
    const struct timespec pause = {0, 50000};
    (void)data;
    while (atomic_load(&gate))
        nanosleep(&pause, NULL);
}

/* Launches are timed behind work that is pending: who would run them, and when, then has no part in the figure. */
static void close_gate(void *data)
{
    struct state *s = data;
    atomic_store(&gate, 1);
    CHECK_RUNTIME(cudaLaunchHostFunc(s->stream, hold, NULL));
}

static void open_gate(void *data)
{
    atomic_store(&gate, 0);
    drain(data);
}

struct row {
    const char *name;
    void (*driver)(void *);
    void (*runtime)(void *);
    void (*before)(void *); /* before and after each stretch, outside of the clock; may be NULL */
    void (*after)(void *);
    int rounds;
};

static double stretch(const struct row *row, void (*body)(void *), struct state *s)
{
    if (row->before)
        row->before(s);
    double taken = bench_stretch_ns(body, s, row->rounds);
    if (row->after)
        row->after(s);
    return taken;
}

static void measure(const struct row *row, struct state *s)
{
    double driver[TURNS], runtime[TURNS], extra[TURNS];
    for (int turn = -1; turn < TURNS; turn++) { /* the first isn't counted */
        double one = stretch(row, row->driver, s), other = stretch(row, row->runtime, s);
        if (turn >= 0) {
            driver[turn] = one;
            runtime[turn] = other;
            extra[turn] = other - one;
        }
    }
    printf("driver_%s %.1f\n", row->name, bench_median(driver, TURNS));
    printf("runtime_%s %.1f\n", row->name, bench_median(runtime, TURNS));
    printf("extra_%s %.1f\n", row->name, bench_median(extra, TURNS));
}

/* A kernel whose handle the program asked for. */
static void use_handle(struct state *s)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    CHECK_RUNTIME(cudaLibraryLoadData(&library, bench_empty_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CHECK_RUNTIME(cudaLibraryGetKernel(&kernel, library, "empty"));
    CHECK(cuKernelGetFunction(&s->function, (CUkernel)kernel));
    s->kernel = (const void *)kernel;
}

/* A kernel that the library at `path` registered. */
static void use_registered(struct state *s, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    const void *(*address)(void) = NULL;
    if (library)
        *(void **)&address = dlsym(library, "bench_registered_kernel");
    if (!address) {
        fprintf(stderr, "bench_runtime: no registered kernel: %s\n", dlerror());
        exit(1);
    }
    s->kernel = address();
    CHECK_RUNTIME(cudaGetFuncBySymbol(&s->function, s->kernel));
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {
        {"record_timed", driver_record_timed, runtime_record_timed, NULL, drain, 20000},
        {"record_untimed", driver_record_untimed, runtime_record_untimed, NULL, drain, 20000},
        {"query", driver_query, runtime_query, NULL, NULL, 50000},
        {"stream_wait_event", driver_wait, runtime_wait, NULL, drain, 20000},
        {"alloc_free_1_mib", driver_alloc_free, runtime_alloc_free, NULL, NULL, 2000},
    };
    static const struct row handle = {"launch_handle", driver_launch, runtime_launch, close_gate, open_gate, 500};
    static const struct row registered = {"launch_registered", driver_launch, runtime_launch,
                                          close_gate,          open_gate,     500};
    struct state s;
    CHECK_RUNTIME(cudaSetDevice(0));
    CHECK_RUNTIME(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
    CHECK_RUNTIME(cudaStreamCreateWithFlags(&s.other, cudaStreamNonBlocking));
    CHECK_RUNTIME(cudaEventCreate(&s.timed));
    CHECK_RUNTIME(cudaEventCreateWithFlags(&s.untimed, cudaEventDisableTiming));
    CHECK_RUNTIME(cudaEventRecord(s.timed, s.stream));
    drain(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&rows[i], &s);
    use_handle(&s);
    measure(&handle, &s);
    if (argc > 1) {
        use_registered(&s, argv[1]);
        measure(&registered, &s);
    }
    return 0;
}
