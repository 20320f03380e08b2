/* SPDX-License-Identifier: Apache-2.0 */
/* Events and memory between two processes: how long after the work is done does the other process know, and what
 * opening costs.
 *
 * One process keeps a stream busy with a kernel that spins on a flag, records its event behind it, and sets the flag
 * once the other is sure to wait. From the setting of the flag to the other's return is the latency of a row.
 * `ipc_futex` is the same for a bare futex, the least that a sleeping process can do. Builds against any driver's
 * cuda.h. */
#define _GNU_SOURCE
#include "bench.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 201, OPENINGS = 200, IDLE_US = 300 };
enum row { ROW_EVENT, ROW_EVENT_BLOCKING, ROW_STREAM, ROW_FUTEX, ROW_COUNT };

static const char *const row_names[ROW_COUNT] = {"ipc_event_synchronize", "ipc_event_synchronize_blocking",
                                                 "ipc_stream_wait", "ipc_futex"};

static const char spin_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry spin(.param .u64 flag)\n{\n"
                               ".reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
                               "ld.param.u64 %rd0, [flag]; cvta.to.global.u64 %rd1, %rd0;\n"
                               "again:\n"
                               "ld.volatile.global.u32 %r0, [%rd1]; setp.eq.u32 %p0, %r0, 0;\n"
                               "@%p0 bra again;\n"
                               "ret;\n}\n";

/* What both processes see without the driver's help. */
struct board {
    CUipcEventHandle event, other_event;
    CUipcMemHandle memory;
    _Atomic uint32_t step;      /* odd: the waiter is about to wait; even: it is through */
    _Atomic uint32_t futex;
    double returned;
};

static void step_wait(struct board *board, uint32_t step)
{
    while (atomic_load(&board->step) != step)
        usleep(20);
}

static void begin(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

/* Opens and closes; microseconds that one pair takes. */
static void openings(struct board *board)
{
    CUevent event;
    CUdeviceptr address;
    double start = bench_seconds();
    for (int i = 0; i < OPENINGS; i++) {
        CHECK(cuIpcOpenEventHandle(&event, board->other_event));
        CHECK(cuEventDestroy(event));
    }
    double middle = bench_seconds();
    for (int i = 0; i < OPENINGS; i++) {
        CHECK(cuIpcOpenMemHandle(&address, board->memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        CHECK(cuIpcCloseMemHandle(address));
    }
    double end = bench_seconds();
    printf("ipc_open_close_event %.1f\nipc_open_close_memory %.1f\n", (middle - start) * 1e9 / OPENINGS,
           (end - middle) * 1e9 / OPENINGS);
    fflush(stdout);
}

static void waiter(struct board *board)
{
    CUevent event;
    CUstream stream;
    uint32_t step = 0;
    begin();
    step_wait(board, 2);
    openings(board);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    atomic_store(&board->step, step = 3);
    for (int row = 0; row < ROW_COUNT; row++) {
        if (row == ROW_EVENT_BLOCKING) {
            CHECK(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
        } else {
            CHECK(cuCtxSetFlags(CU_CTX_SCHED_AUTO));
        }
        CHECK(cuIpcOpenEventHandle(&event, board->event));
        for (int sample = 0; sample < SAMPLES; sample++) {
            step_wait(board, ++step);
            if (row == ROW_STREAM)
                CHECK(cuStreamWaitEvent(stream, event, 0));
            uint32_t heard = atomic_load(&board->futex);
            atomic_store(&board->step, ++step);
            if (row == ROW_STREAM)
                CHECK(cuStreamSynchronize(stream));
            else if (row == ROW_FUTEX)
                syscall(SYS_futex, &board->futex, FUTEX_WAIT, heard, NULL, NULL, 0);
            else
                CHECK(cuEventSynchronize(event));
            board->returned = bench_seconds();
            atomic_store(&board->step, ++step);
        }
        CHECK(cuEventDestroy(event));
    }
}

static double sample_ns(struct board *board, enum row row, uint32_t *step, CUevent event, CUstream stream,
                        CUfunction spin, volatile uint32_t *flag)
{
    CUdeviceptr address;
    *flag = 0;
    CHECK(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)flag, 0));
    void *params[] = {&address};
    if (row != ROW_FUTEX) {
        CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
        CHECK(cuEventRecord(event, stream));
    }
    atomic_store(&board->step, ++*step);
    step_wait(board, ++*step);
    usleep(IDLE_US);
    double begun = bench_seconds();
    if (row == ROW_FUTEX) {
        atomic_fetch_add(&board->futex, 1);
        syscall(SYS_futex, &board->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    *flag = 1;
    step_wait(board, ++*step);
    CHECK(cuStreamSynchronize(stream));
    return (board->returned - begun) * 1e9;
}

static void recorder(struct board *board)
{
    CUevent event, other;
    CUstream stream;
    CUmodule module;
    CUfunction spin;
    CUdeviceptr memory;
    void *flag;
    double taken[SAMPLES];
    uint32_t step = 3;
    begin();
    CHECK(cuModuleLoadData(&module, spin_ptx));
    CHECK(cuModuleGetFunction(&spin, module, "spin"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemHostAlloc(&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemAlloc(&memory, 1 << 20));
    CHECK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&other, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    CHECK(cuIpcGetEventHandle(&board->event, event));
    CHECK(cuIpcGetEventHandle(&board->other_event, other));
    CHECK(cuIpcGetMemHandle(&board->memory, memory));
    atomic_store(&board->step, 2);
    step_wait(board, 3);
    for (int row = 0; row < ROW_COUNT; row++) {
        for (int sample = 0; sample < SAMPLES; sample++)
            taken[sample] = sample_ns(board, (enum row)row, &step, event, stream, spin, flag);
        qsort(taken, SAMPLES, sizeof *taken, bench_ascending);
        printf("%s %.1f\n%s_worst_tenth %.1f\n", row_names[row], taken[SAMPLES / 2], row_names[row],
               taken[SAMPLES * 9 / 10]);
        fflush(stdout);
    }
}

int main(void)
{
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return 1;
    pid_t child = fork();
    if (child < 0)
        return 1;
    alarm(120);   /* one without the other would wait for ever */
    if (child == 0) {
        waiter(board);
        return 0;
    }
    recorder(board);
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
