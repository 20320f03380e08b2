/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: how soon a thread is back after what it waits for, under each policy, and what that costs it; waits for
 * values in memory; and what a stream's priority does for work that has to compete. Medians. Builds against any
 * driver's cuda.h.
 *
 * `return_*`: from the end of a host function to the return of the wait behind it. `cpu_*`: processor time of the
 * waiting thread in a wait of 5 ms, in percent. `priority_*`: from the call to the end of a kernel while streams full
 * of kernels of 20 µs stand before it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "bench.h"

enum { SAMPLES = 301, CPU_SAMPLES = 40, BUSY_STREAMS = 4, BUSY_LAUNCHES = 200, PRIORITY_SAMPLES = 31 };

static CUstream stream, other;
static _Atomic uint32_t *words;
static CUdeviceptr at;

static void pause_us(unsigned us)
{
    double end = bench_seconds() + us * 1e-6;
    while (bench_seconds() < end)
        sched_yield();
}

/* ---- how soon a thread is back ---- */

static _Atomic double ended;

static void CUDA_CB work(void *data)
{
    double end = bench_seconds() + *(double *)data;
    while (bench_seconds() < end)
        ;
    atomic_store(&ended, bench_seconds());
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_policy(const char *name, CUsynchronizationPolicy policy)
{
    double taken[SAMPLES], length = 50e-6;
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = policy;
    CHECK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    for (int i = 0; i < SAMPLES; i++) {
        CHECK(cuLaunchHostFunc(stream, work, &length));
        CHECK(cuStreamSynchronize(stream));
        taken[i] = (bench_seconds() - atomic_load(&ended)) * 1e9;
    }
    printf("return_%s %.0f\n", name, bench_median(taken, SAMPLES));
    length = 5e-3;
    for (int i = 0; i < CPU_SAMPLES; i++) {
        CHECK(cuLaunchHostFunc(stream, work, &length));
        double begin = cpu_seconds();
        CHECK(cuStreamSynchronize(stream));
        taken[i] = (cpu_seconds() - begin) / length * 100;
    }
    printf("cpu_%s %.2f\n", name, bench_median(taken, CPU_SAMPLES));
}

/* ---- values in memory ---- */

static void write_value(void *data)
{
    (void)data;
    CHECK(cuStreamWriteValue32(stream, at, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
}

static void wait_value(void *data)
{
    (void)data;
    CHECK(cuStreamWaitValue32(stream, at + 64, 0, CU_STREAM_WAIT_VALUE_EQ));
}

static void batch(void *data)
{
    CHECK(cuStreamBatchMemOp(stream, 16, data, 0));
}

static void settle(void *data)
{
    (void)data;
    CHECK(cuStreamSynchronize(stream));
}

/* One stream waits for what the other writes: from the writing call to the end of both. */
static void between_streams(void *data)
{
    static uint32_t turn;
    (void)data;
    turn++;
    CHECK(cuStreamWaitValue32(other, at + 128, turn, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamWriteValue32(stream, at + 128, turn, CU_STREAM_WRITE_VALUE_DEFAULT));
    CHECK(cuStreamSynchronize(other));
}

/* The host stores, a stream that waits for that writes back, and the host sees it: nobody calls the driver meanwhile.
 */
static void print_round_trip(const char *name, unsigned idle_us)
{
    double taken[SAMPLES];
    static uint32_t turn;
    for (int i = 0; i < SAMPLES; i++) {
        turn++;
        CHECK(cuStreamWaitValue32(stream, at + 192, turn, CU_STREAM_WAIT_VALUE_GEQ));
        CHECK(cuStreamWriteValue32(stream, at + 256, turn, CU_STREAM_WRITE_VALUE_DEFAULT));
        pause_us(idle_us);
        double begin = bench_seconds();
        atomic_store(&words[48], turn);
        while (atomic_load(&words[64]) != turn)
            sched_yield();
        taken[i] = (bench_seconds() - begin) * 1e9;
    }
    printf("%s %.0f\n", name, bench_median(taken, SAMPLES));
}

static void print_memory(void)
{
    CUstreamBatchMemOpParams ops[16];
    memset(ops, 0, sizeof ops);
    for (unsigned i = 0; i < 16; i++) {
        ops[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = at + 1024 + 4 * i;
    }
    printf("write_value %.1f\n", bench_median_ns(write_value, settle, NULL, 1000, 31));
    printf("wait_value %.1f\n", bench_median_ns(wait_value, settle, NULL, 1000, 31));
    printf("batch_of_16 %.1f\n", bench_median_ns(batch, settle, ops, 500, 31));
    printf("value_between_streams %.1f\n", bench_median_ns(between_streams, settle, NULL, 500, 31));
    print_round_trip("value_from_host", 30);
    print_round_trip("value_from_host_after_3_ms", 3000);
}

/* ---- priorities ---- */

static const char busy_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry busy(.param .u64 ns)\n{\n"
                               ".reg .pred %p<2>; .reg .b64 %rd<5>;\n"
                               "ld.param.u64 %rd0, [ns]; mov.u64 %rd1, %globaltimer;\n"
                               "again:\n"
                               "mov.u64 %rd2, %globaltimer; sub.u64 %rd3, %rd2, %rd1; setp.lt.u64 %p0, %rd3, %rd0;\n"
                               "@%p0 bra again;\n"
                               "ret;\n}\n";

static CUfunction busy;

static void launch_busy(CUstream to, uint64_t ns)
{
    void *params[] = {&ns};
    CHECK(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, to, params, NULL));
}

static void print_priority(const char *name, int priority)
{
    double taken[PRIORITY_SAMPLES], no_time = 0;
    CUstream crowd[BUSY_STREAMS], mine;
    CHECK(cuStreamCreateWithPriority(&mine, CU_STREAM_NON_BLOCKING, priority));
    for (int i = 0; i < BUSY_STREAMS; i++)
        CHECK(cuStreamCreateWithPriority(&crowd[i], CU_STREAM_NON_BLOCKING, 0));
    for (int i = 0; i < PRIORITY_SAMPLES; i++) {
        for (int j = 0; j < BUSY_STREAMS * BUSY_LAUNCHES; j++)
            launch_busy(crowd[j % BUSY_STREAMS], 20000);
        double begin = bench_seconds();
        launch_busy(mine, 1000);
        CHECK(cuLaunchHostFunc(mine, work, &no_time)); /* notes when; this thread may not be awake then */
        CHECK(cuCtxSynchronize());
        taken[i] = (atomic_load(&ended) - begin) * 1e9;
    }
    printf("%s %.0f\n", name, bench_median(taken, PRIORITY_SAMPLES));
    CHECK(cuStreamDestroy(mine));
    for (int i = 0; i < BUSY_STREAMS; i++)
        CHECK(cuStreamDestroy(crowd[i]));
}

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUdevice device;
    void *memory;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 4096);
    words = memory;
    CHECK(cuMemHostGetDevicePointer(&at, memory, 0));
    CHECK(cuModuleLoadData(&module, busy_ptx));
    CHECK(cuModuleGetFunction(&busy, module, "busy"));
    print_policy("spin", CU_SYNC_POLICY_SPIN);
    print_policy("yield", CU_SYNC_POLICY_YIELD);
    print_policy("auto", CU_SYNC_POLICY_AUTO);
    print_policy("blocking", CU_SYNC_POLICY_BLOCKING_SYNC);
    print_memory();
    print_priority("priority_same", 0);
    print_priority("priority_highest", -5);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
