/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says of a fault: the kernel, the block, the warp or (MILLRACE_FAULT_THREADS) the thread, the line of the
 * PTX. Each fault in a child process, whose log goes to a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

/* Thread n of all threads touches memory at p + n * step, by the instruction on line 18. */
static const char before[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a); .visible .entry touch(.param .u64 p, .param .u64 step)\n{\n"
    ".reg .u64 %d<6>;\n.reg .u32 %r<8>;\n.reg .f32 %f<4>;\n.reg .pred %p<2>;\n.shared .align 4 .b32 word;\n"
    "ld.param.u64 %d0, [p];\nld.param.u64 %d1, [step];\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0; mov.u32 %r3, %ntid.y;\n"
    "mul.lo.u32 %r2, %r2, %r3; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, %r2, %r0; cvt.u64.u32 %d2, %r4;\n"
    "mul.lo.u64 %d2, %d2, %d1;\nadd.u64 %d0, %d0, %d2;\n";
static const char after[] = "st.global.u32 [%d0], %r5;\nret;\n}\n";
#define FAULTY_LINE 18u

struct fault {
    const char *kernel_part; /* lines 17 and 18 */
    unsigned grid, x, y;
    uint64_t bytes, step; /* of memory that is there, from its last `bytes` on; of a thread */
    unsigned block, tx, ty; /* who is to blame */
    CUresult status;
    bool service; /* a service of the runtime is at fault: whose thread it was, nobody knows */
};

/* In the child: 0 if the launch ended as it must. */
static int run(const struct fault *fault)
{
    char text[4096];
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr room;
    size_t size = 4u << 20;
    snprintf(text, sizeof text, "%s%s%s", before, fault->kernel_part, after);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, text) || cuModuleGetFunction(&function, module, "touch") || cuMemAlloc(&room, size))
        return 1;
    CUdeviceptr p = fault->bytes % 2 ? room + 4 : room + size - fault->bytes;
    uint64_t step = fault->step;
    void *params[] = {&p, &step};
    if (cuLaunchKernel(function, fault->grid, 1, 1, fault->x, fault->y, 1, 0, NULL, params, NULL))
        return 2;
    return cuCtxSynchronize() == fault->status ? 0 : 3;
}

static void report_of(const struct fault *fault, char *line, size_t room)
{
    char path[] = "/tmp/millrace-report-XXXXXX";
    int file = mkstemp(path), status = 0;
    assert_true(file >= 0);
    close(file);
    pid_t child = fork();
    if (child == 0) {
        setenv("MILLRACE_LOG", "info", 1);
        setenv("MILLRACE_LOG_FILE", path, 1);
        _exit(run(fault));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    line[0] = '\0';
    while (fgets(line, (int)room, log) && !strstr(line, "kernel touch failed"))
        line[0] = '\0';
    fclose(log);
    unlink(path);
}

static void check(const struct fault *fault)
{
    char line[1024], wanted[100];
    const char *setting = getenv("MILLRACE_FAULT_THREADS");
    report_of(fault, line, sizeof line);
    snprintf(wanted, sizeof wanted, "block (%u,0,0)", fault->block);
    assert_non_null(strstr(line, wanted));
    snprintf(wanted, sizeof wanted, "(line %u of the PTX)", FAULTY_LINE);
    assert_non_null(strstr(line, wanted));
    unsigned warp = (fault->tx + fault->ty * fault->x) / 32;
    if (setting && strcmp(setting, "on") == 0 && !fault->service)
        snprintf(wanted, sizeof wanted, "thread (%u,%u,0)", fault->tx, fault->ty);
    else
        snprintf(wanted, sizeof wanted, "warp %u (from thread (%u,%u,0) on)", warp, warp * 32 % fault->x,
                 warp * 32 / fault->x);
    if (!strstr(line, wanted))
        fail_msg("'%s' is not in: %s", wanted, line);
}

/* Thread 37 is the first that is outside: two pages' worth of lanes lie before it. */
static void store(void **state)
{
    (void)state;
    check(&(struct fault){"\nst.global.u32 [%d0], %r0;\n", 1, 64, 1, 37 * 4096, 4096, 0, 37, 0,
                          CUDA_ERROR_ILLEGAL_ADDRESS});
}

static void load_of_words_side_by_side(void **state)
{
    (void)state;
    check(&(struct fault){"\nld.global.u32 %r5, [%d0];\n", 1, 128, 1, 70 * 4, 4, 0, 70, 0, CUDA_ERROR_ILLEGAL_ADDRESS});
}

static void atomic_in_rows(void **state)
{
    (void)state;
    check(&(struct fault){"\natom.global.add.u32 %r5, [%d0], 1;\n", 1, 16, 8, 75 * 256, 256, 0, 75 % 16, 75 / 16,
                          CUDA_ERROR_ILLEGAL_ADDRESS});
}

static void store_in_a_later_block(void **state)
{
    (void)state;
    check(&(struct fault){"\nst.global.u32 [%d0], %r0;\n", 4, 32, 1, 100 * 4096, 4096, 3, 4, 0,
                          CUDA_ERROR_ILLEGAL_ADDRESS});
}

static void load_behind_a_barrier(void **state)
{
    (void)state;
    check(&(struct fault){"bar.sync 0;\nld.global.u32 %r5, [%d0];\n", 1, 96, 1, 65 * 8, 8, 0, 65, 0,
                          CUDA_ERROR_ILLEGAL_ADDRESS});
}

static void load_where_warps_have_stacks(void **state)
{
    (void)state;
    check(&(struct fault){"barrier.sync 0;\nld.global.v2.u32 {%r5, %r6}, [%d0];\n", 1, 96, 1, 66 * 8, 8, 0, 66, 0,
                          CUDA_ERROR_ILLEGAL_ADDRESS});
}

static void misaligned_load(void **state)
{
    (void)state;
    check(&(struct fault){"setp.ge.u32 %p0, %r0, 41;\n@%p0 ld.global.u64 %d3, [%d0];\n", 1, 64, 1, 1, 0, 0, 41, 0,
                          CUDA_ERROR_MISALIGNED_ADDRESS});
}

/* Services of the runtime: the line is that of the call. The load before it is the access that was noted last. */
static void print(void **state)
{
    (void)state;
    check(&(struct fault){
        "ld.global.u32 %r6, [%d0];\n{ .param .b64 f; .param .b64 a; .param .b32 r; add.u64 %d3, %d0, 4096; st.param.b64 [f], %d3; st.param.b64 [a], %d0; call.uni (r), vprintf, (f, a); }\n",
        1, 64, 1, 64 * 4096, 4096, 0, 63, 0, CUDA_ERROR_ILLEGAL_ADDRESS, true});
}

static void copy_of_a_part(void **state)
{
    (void)state;
    check(&(struct fault){"mov.u32 %r6, word;\ncp.async.ca.shared.global [%r6], [%d0], 4, 3;\n", 1, 96, 1, 66 * 4096,
                          4096, 0, 66, 0, CUDA_ERROR_ILLEGAL_ADDRESS, true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store),
        cmocka_unit_test(load_of_words_side_by_side),
        cmocka_unit_test(atomic_in_rows),
        cmocka_unit_test(store_in_a_later_block),
        cmocka_unit_test(load_behind_a_barrier),
        cmocka_unit_test(load_where_warps_have_stacks),
        cmocka_unit_test(misaligned_load),
        cmocka_unit_test(print),
        cmocka_unit_test(copy_of_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
