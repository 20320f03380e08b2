/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose code is made in a hurry and replaced at once, while they run and while others are launched: results are
 * right whichever version a block has, and modules may go meanwhile. */
#include <pthread.h>

#include "api_support.h"

enum { BLOCKS = 3000, THREADS = 96, ROUNDS = 6 };

/* The parts of kernels that differ in how they run: r gets what the block and the thread make. */
#define KERNEL(name, declarations, body) \
    ".visible .entry " name "(.param .u64 to, .param .u32 rounds)\n{\n" declarations \
    "    .reg .b64 %d<6>;\n    .reg .b32 %r<12>;\n    .reg .pred %p<4>;\n" \
    "    ld.param.u64 %d1, [to];\n    ld.param.u32 %r9, [rounds];\n    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %tid.x;\n" \
    "    mov.u32 %r3, %ntid.x;\n    mad.lo.u32 %r4, %r1, %r3, %r2;\n    mul.wide.u32 %d2, %r4, 4;\n    add.u64 %d1, %d1, %d2;\n" \
    "    mov.u32 %r5, %r4;\n" body "    st.global.u32 [%d1], %r5;\n    ret;\n}\n"

/* A loop; a loop with barriers, whose warps take turns in one call; one where warps have stacks of their own, for loops
 * of it poll memory. */
static const char text[] = PTX_HEAD KERNEL(
    "plain", "",
    "    mov.u32 %r6, 0;\nagain:\n    mad.lo.u32 %r5, %r5, 1664525, 1013904223;\n    add.u32 %r6, %r6, 1;\n    setp.lt.u32 %p1, %r6, %r9;\n    @%p1 bra again;\n")
KERNEL(
    "turns", "    .shared .align 4 .b32 cells[1024];\n",
    "    mov.u32 %r6, 0;\n    mov.u64 %d3, cells;\n    mul.wide.u32 %d4, %r2, 4;\n    add.u64 %d4, %d4, %d3;\n"
    "    add.u32 %r7, %r2, 1;\n    rem.u32 %r7, %r7, %r3;\n    mul.wide.u32 %d5, %r7, 4;\n    add.u64 %d5, %d5, %d3;\n"
    "again:\n    st.shared.u32 [%d4], %r5;\n    bar.sync 0;\n    ld.shared.u32 %r8, [%d5];\n    bar.sync 0;\n"
    "    mad.lo.u32 %r5, %r8, 1664525, 1013904223;\n    add.u32 %r6, %r6, 1;\n    setp.lt.u32 %p1, %r6, %r9;\n    @%p1 bra again;\n")
KERNEL(
    "waits", "    .shared .align 4 .b32 flags[32];\n",
    "    shr.u32 %r6, %r2, 5;\n    mov.u64 %d3, flags;\n    mul.wide.u32 %d4, %r6, 4;\n    add.u64 %d4, %d4, %d3;\n    and.b32 %r7, %r2, 31;\n"
    "    st.shared.u32 [%d4], 0;\n    bar.sync 0;\n    setp.ne.u32 %p1, %r7, 0;\n    setp.eq.u32 %p2, %r6, 0;\n"
    "    @%p2 bra mine;\nagain:\n    ld.volatile.shared.u32 %r8, [%d4+-4];\n    setp.eq.u32 %p3, %r8, 0;\n    @%p3 bra again;\n"
    "mine:\n    @!%p1 st.volatile.shared.u32 [%d4], 1;\n    mad.lo.u32 %r5, %r5, 1664525, %r9;\n");

static uint32_t step(uint32_t value, uint32_t more)
{
    return value * 1664525u + more;
}

static uint32_t expected(const char *name, uint32_t block, uint32_t thread, uint32_t rounds)
{
    uint32_t value = block * THREADS + thread;
    if (strcmp(name, "waits") == 0)
        return step(value, rounds);
    if (strcmp(name, "turns") == 0)
        value = block * THREADS + (thread + rounds) % THREADS;
    for (uint32_t i = 0; i < rounds; i++)
        value = step(value, 1013904223u);
    return value;
}

static const char *const names[] = {"plain", "turns", "waits"};
enum { KERNELS = sizeof names / sizeof *names };

/* Loads the module, launches each kernel some times in a stream of its own, looks at what they made, and unloads it
 * while better code may be under way. */
static void *use_module(void *data)
{
    CUcontext context = data;
    CUdeviceptr memory[KERNELS];
    CUstream streams[KERNELS];
    CUmodule module;
    static const size_t bytes = (size_t)BLOCKS * THREADS * sizeof(uint32_t);
    uint32_t *found = malloc(bytes);
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, text));
    for (int i = 0; i < KERNELS; i++) {
        OK(cuMemAlloc(&memory[i], bytes));
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned rounds = 3 + round;
        for (int i = 0; i < KERNELS; i++) {
            CUfunction function;
            void *params[] = {&memory[i], &rounds};
            OK(cuModuleGetFunction(&function, module, names[i]));
            OK(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, streams[i], params, NULL));
        }
        for (int i = 0; i < KERNELS; i++) {
            OK(cuMemcpyDtoHAsync(found, memory[i], bytes, streams[i]));
            OK(cuStreamSynchronize(streams[i]));
            for (uint32_t at = 0; at < BLOCKS * THREADS; at++)
                if (found[at] != expected(names[i], at / THREADS, at % THREADS, rounds))
                    fail_msg("kernel %s, launch %u, block %u, thread %u: %u", names[i], round, at / THREADS,
                             at % THREADS, found[at]);
        }
    }
    for (int i = 0; i < KERNELS; i++) {
        OK(cuMemFree(memory[i]));
        OK(cuStreamDestroy(streams[i]));
    }
    OK(cuModuleUnload(module));
    free(found);
    return NULL;
}

static void results_are_right_whichever_version_runs(void **state)
{
    for (int turn = 0; turn < 3; turn++)
        use_module(*state);
}

static void many_modules_at_a_time(void **state)
{
    enum { COUNT = 3 };
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_module, *state), 0);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(results_are_right_whichever_version_runs),
        TEST_IN_CONTEXT(many_modules_at_a_time),
    };
    setenv("MILLRACE_CACHE", "off", 1);
    setenv("MILLRACE_OPTIMISE_AFTER", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
