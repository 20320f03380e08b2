/* SPDX-License-Identifier: Apache-2.0 */
/* The device runtime and faults from end to end: kernels compiled from services.cu by clang, run through the public
 * interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

static char *ptx;
static CUdevice device;
static CUcontext context;
static CUmodule module;

static char *read_file(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    char *text = calloc(1, 1u << 20);
    if (!file || !text || fread(text, 1, (1u << 20) - 1, file) == 0)
        return NULL;
    fclose(file);
    return text;
}

static int begin(void **unused)
{
    (void)unused;
    return cuCtxCreate_v2(&context, 0, device) != CUDA_SUCCESS || cuModuleLoadData(&module, ptx) != CUDA_SUCCESS;
}

static int end(void **unused)
{
    (void)unused;
    return cuCtxDestroy_v2(context) != CUDA_SUCCESS;
}

static CUdeviceptr memory(size_t bytes)
{
    CUdeviceptr pointer;
    assert_int_equal(cuMemAlloc_v2(&pointer, bytes), CUDA_SUCCESS);
    assert_int_equal(cuMemsetD8_v2(pointer, 0, bytes), CUDA_SUCCESS);
    return pointer;
}

static CUresult run(const char *name, unsigned blocks, unsigned threads, void **params)
{
    CUfunction function;
    assert_int_equal(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL), CUDA_SUCCESS);
    return cuCtxSynchronize();
}

/* What a kernel writes to the descriptor; the text is static. */
static const char *captured(int descriptor, const char *name, unsigned blocks, unsigned threads, void **params,
                            CUresult expected)
{
    static char text[4096];
    fflush(stdout);
    int saved = dup(descriptor);
    FILE *file = tmpfile();
    assert_non_null(file);
    dup2(fileno(file), descriptor);
    CUresult status = run(name, blocks, threads, params);
    dup2(saved, descriptor);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(status, expected);
    return text;
}

static void printf_is_out_after_synchronisation(void **unused)
{
    (void)unused;
    int x = 9;
    assert_string_equal(captured(STDOUT_FILENO, "say", 1, 32, (void *[]){&x}, CUDA_SUCCESS),
                        "thread 3 x 9 half 1.50 word -5000000000\nthread 19 x 9 half 9.50 word -5000000000\n");
}

/* vprintf and malloc declared without the result that they have. What is called behind them still has its registers. */
static void services_without_their_results(void **unused)
{
    static const char text[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".extern .func vprintf (.param .b64 f, .param .b64 a);\n.extern .func malloc (.param .b64 size);\n"
        ".global .align 1 .b8 words[4] = {37, 100, 10, 0};\n"
        ".visible .entry quiet(.param .u64 out)\n{\n"
        ".local .align 8 .b8 room[8];\n.reg .b64 %d<5>;\n.reg .b32 %r<4>;\n.reg .pred %p;\n"
        "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmad.lo.u32 %r1, %r0, 7, 1;\n"
        "mov.u64 %d1, words;\ncvta.global.u64 %d1, %d1;\nmov.u64 %d2, room;\ncvta.local.u64 %d2, %d2;\nst.u32 [%d2], %r1;\n"
        "and.b32 %r2, %r0, 15;\nsetp.ne.u32 %p, %r2, 3;\n@%p bra over;\n"
        "{ .param .b64 f, a; st.param.b64 [f], %d1; st.param.b64 [a], %d2; call.uni vprintf, (f, a); }\n"
        "over: mov.u64 %d3, 16;\ncall malloc, (%d3);\n"
        "mul.wide.u32 %d4, %r0, 4;\nadd.u64 %d0, %d0, %d4;\nst.global.u32 [%d0], %r1;\nret;\n}\n";
    (void)unused;
    CUdeviceptr out = memory(32 * sizeof(unsigned));
    unsigned got[32];
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, text), CUDA_SUCCESS);
    assert_string_equal(captured(STDOUT_FILENO, "quiet", 1, 32, (void *[]){&out}, CUDA_SUCCESS), "22\n134\n");
    assert_int_equal(cuMemcpyDtoH_v2(got, out, sizeof got), CUDA_SUCCESS);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(got[i], i * 7 + 1);
}

/* Two lines, and then the kernel waits until somebody has seen them. */
static void printf_is_out_while_the_kernel_runs(void **unused)
{
    static const char text[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 words[4] = {111, 107, 10, 0};\n"
        ".visible .entry waits(.param .u64 seen)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<2>;\n.reg .pred %p;\n"
        "ld.param.u64 %d0, [seen];\nmov.u64 %d1, words;\ncvta.global.u64 %d1, %d1;\nmov.u64 %d2, 0;\n"
        "{ .param .b64 f, a; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [a], %d2; call.uni (r), vprintf, (f, a); }\n"
        "{ .param .b64 f, a; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [a], %d2; call.uni (r), vprintf, (f, a); }\n"
        "again: ld.volatile.global.u32 %r0, [%d0];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra again;\nret;\n}\n";
    (void)unused;
    unsigned *seen;
    int ends[2];
    char got[7] = "";
    CUfunction function;
    assert_int_equal(cuMemHostAlloc((void **)&seen, 4, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    *seen = 0;
    assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    assert_int_equal(cuModuleLoadData(&module, text), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&function, module, "waits"), CUDA_SUCCESS);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&seen}, NULL), CUDA_SUCCESS);
    size_t length = 0;
    alarm(120);
    while (length < 6) {
        ssize_t count = read(ends[0], got + length, 6 - length);
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    alarm(0);
    __atomic_store_n(seen, 1, __ATOMIC_SEQ_CST);
    CUresult status = cuCtxSynchronize();
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    assert_string_equal(got, "ok\nok\n");
    assert_int_equal(status, CUDA_SUCCESS);
    assert_int_equal(cuMemFreeHost(seen), CUDA_SUCCESS);
}

/* Marks the numbers that come out of a pipe, a line each; how many lines, or -1 if one is wrong or comes twice. */
static int read_numbers(int from, unsigned char *met, int most)
{
    char *end, text[16] = "";
    int lines = 0;
    FILE *file = fdopen(from, "r");
    while (file && lines < most && fgets(text, sizeof text, file)) {
        long number = strtol(text, &end, 10);
        if (end != text + 9 || *end != '\n' || number < 0 || number >= most || met[number]++)
            lines = most;
        lines++;
    }
    if (file)
        fclose(file);
    return lines > most ? -1 : lines;
}

/* Far more than the limit allows hardware to keep. The driver keeps none of it: a kernel whose text nobody reads waits,
 * and when it is read, no line is missing, broken or there twice. */
static void printf_keeps_nothing_and_loses_nothing(void **unused)
{
    enum { BLOCKS = 64, THREADS = 64, EACH = 50, LINES = BLOCKS * THREADS * EACH, PIPE = 60000 };
    (void)unused;
    int ends[2], each = EACH, waiting = 0;
    unsigned char *met = calloc(LINES, 1);
    CUfunction function;
    assert_non_null(met);
    assert_int_equal(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4096), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&function, module, "number"), CUDA_SUCCESS);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    CUresult launched = cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&each}, NULL);
    alarm(300);
    while (launched == CUDA_SUCCESS && waiting < PIPE && ioctl(ends[0], FIONREAD, &waiting) == 0)
        sched_yield();
    CUresult unread = cuStreamQuery(NULL);
    int lines = read_numbers(ends[0], met, LINES);
    CUresult status = cuCtxSynchronize();
    alarm(0);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[1]);
    free(met);
    assert_int_equal(launched, CUDA_SUCCESS);
    assert_int_equal(unread, CUDA_ERROR_NOT_READY);
    assert_int_equal(lines, LINES);
    assert_int_equal(status, CUDA_SUCCESS);
}

static void a_failed_assertion_names_block_and_thread(void **unused)
{
    (void)unused;
    unsigned bad = 70;
    const char *text = captured(STDERR_FILENO, "check", 4, 64, (void *[]){&bad}, CUDA_ERROR_ASSERT);
    assert_non_null(
        strstr(text, "services.cu:42: check: block: [1,0,0], thread: [6,0,0] Assertion `index() != bad` failed."));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ASSERT);
}

static void device_memory_outlives_the_kernel(void **unused)
{
    (void)unused;
    CUdeviceptr slots = memory(256 * sizeof(void *)), good = memory(256 * sizeof(int));
    size_t size = 100;
    int flags[256], sum = 0;
    assert_int_equal(run("allocate", 4, 64, (void *[]){&slots, &size}), CUDA_SUCCESS);
    assert_int_equal(run("release", 4, 64, (void *[]){&slots, &good}), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH_v2(flags, good, sizeof flags), CUDA_SUCCESS);
    for (int i = 0; i < 256; i++)
        sum += flags[i];
    assert_int_equal(sum, 256);
    /* More than the heap holds: some get nothing, and that is no fault. */
    size = 1u << 20;
    void *pointers[256];
    int got = 0;
    assert_int_equal(run("allocate", 4, 64, (void *[]){&slots, &size}), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH_v2(pointers, slots, sizeof pointers), CUDA_SUCCESS);
    for (int i = 0; i < 256; i++)
        got += pointers[i] != NULL;
    assert_int_equal(got, 8);
}

static void recursion_works_and_ends_in_a_status(void **unused)
{
    (void)unused;
    CUdeviceptr out = memory(32 * sizeof(int));
    int deep = 100, first = 0;
    assert_int_equal(run("recurse", 1, 32, (void *[]){&deep, &out}), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH_v2(&first, out, sizeof first), CUDA_SUCCESS);
    assert_int_equal(first, 5050);
    deep = 100000000;
    assert_int_equal(run("recurse", 1, 32, (void *[]){&deep, &out}), CUDA_ERROR_HARDWARE_STACK_ERROR);
}

static void a_fault_ends_warps_that_wait(void **unused)
{
    (void)unused;
    CUdeviceptr out = memory(64);
    assert_int_equal(run("fault_at_barrier", 3, 128, (void *[]){&out}), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemFree_v2(out), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void late(int number)
{
    (void)number;
    _exit(99);
}

/* As test frameworks do: a handler comes after the last launch, and right before a kernel that fails. */
static void a_handler_that_comes_late_is_behind_ours(void **unused)
{
    (void)unused;
    struct sigaction action = {.sa_handler = late}, before;
    CUdeviceptr out = memory(64);
    int deep = 1;
    assert_int_equal(run("recurse", 1, 1, (void *[]){&deep, &out}), CUDA_SUCCESS);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    assert_int_equal(run("fault_at_barrier", 3, 128, (void *[]){&out}), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

static void warps_that_poll_let_others_go_on(void **unused)
{
    (void)unused;
    CUdeviceptr flag = memory(64);
    assert_int_equal(run("poll", 1, 128, (void *[]){&flag}), CUDA_SUCCESS);
}

static void barriers_do_not_wait_for_threads_that_left(void **unused)
{
    (void)unused;
    CUdeviceptr out = memory(256 * sizeof(int));
    int counts[256];
    assert_int_equal(run("leave_early", 1, 256, (void *[]){&out}), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH_v2(counts, out, sizeof counts), CUDA_SUCCESS);
    for (int t = 0; t < 256; t++)
        assert_int_equal(counts[t], t < 200 && t % 64 < 32 && t < 192 ? 10 : t < 200 && t % 64 < 32 ? counts[t] : 0);
}

int main(void)
{
    ptx = read_file(getenv("SERVICES_PTX"));
    if (!ptx || cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        return 1;
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(printf_is_out_after_synchronisation),        TEST(printf_is_out_while_the_kernel_runs),
        TEST(printf_keeps_nothing_and_loses_nothing),     TEST(services_without_their_results),
        TEST(a_failed_assertion_names_block_and_thread),  TEST(device_memory_outlives_the_kernel),
        TEST(recursion_works_and_ends_in_a_status),       TEST(a_fault_ends_warps_that_wait),
        TEST(a_handler_that_comes_late_is_behind_ours),   TEST(warps_that_poll_let_others_go_on),
        TEST(barriers_do_not_wait_for_threads_that_left),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ptx);
    return failed;
}
