/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that does nothing but wait is told in the log, once, with its name, how many blocks there are, and where it
 * waits. The kernels end when the host, which has seen the line, sets a flag. */
#include "api_support.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A launch that waits so long is told. */
#define STALL_MS 500
#define NUMBER_OF(x) #x
#define NUMBER(x) NUMBER_OF(x)

static char path[64];

/* Loops at line 11 of the PTX (the branch). */
#define WAIT_UNTIL_SET \
    PTX_HEAD \
    ".visible .entry wait_until_set(.param .u64 flag)\n{\n .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %p<3>;\n ld.param.u64 %d, [flag];\nagain:\n" \
    " ld.volatile.global.u32 %r0, [%d];\n setp.eq.u32 %p0, %r0, 0;\n @%p0 bra again;\n ret;\n}\n"

/* The first warp of each block polls, the others are at a barrier. */
#define WAIT_AT_A_BARRIER \
    PTX_HEAD \
    ".visible .entry wait_at_a_barrier(.param .u64 flag)\n{\n .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %p<3>;\n ld.param.u64 %d, [flag];\n" \
    " mov.u32 %r1, %tid.x;\n setp.ge.u32 %p1, %r1, 32;\n @%p1 bra meet;\nagain:\n ld.relaxed.sys.global.u32 %r0, [%d];\n setp.eq.u32 %p0, %r0, 0;\n" \
    " @%p0 bra again;\nmeet:\n bar.sync 0;\n ret;\n}\n"

/* By a plain load, which nothing says that anybody waits for. */
#define WAIT_PLAINLY \
    PTX_HEAD \
    ".visible .entry wait_plainly(.param .u64 flag)\n{\n .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %p<3>;\n ld.param.u64 %d, [flag];\nagain:\n" \
    " ld.global.u32 %r0, [%d];\n setp.eq.u32 %p0, %r0, 0;\n @%p0 bra again;\n ret;\n}\n"

/* Takes a lock %r4 times. */
#define TAKE_LOCKS \
    PTX_HEAD \
    ".visible .entry take_locks(.param .u64 lock, .param .u32 times)\n{\n .reg .b64 %d; .reg .b32 %r<5>; .reg .pred %p<3>;\n" \
    " ld.param.u64 %d, [lock];\n ld.param.u32 %r4, [times];\nnext:\ntake:\n atom.global.acquire.gpu.cas.b32 %r0, [%d], 0, 1;\n setp.ne.u32 %p0, %r0, 0;\n" \
    " @%p0 bra take;\n ld.relaxed.gpu.global.u32 %r1, [%d+4];\n add.u32 %r1, %r1, 1;\n st.relaxed.gpu.global.u32 [%d+4], %r1;\n" \
    " st.release.gpu.global.u32 [%d], 0;\n sub.u32 %r4, %r4, 1;\n setp.ne.u32 %p1, %r4, 0;\n @%p1 bra next;\n ret;\n}\n"

/* The same in one loop, which is left when the lock was taken often enough: what holds the lock is inside of it. */
#define TAKE_LOCKS_INSIDE \
    PTX_HEAD \
    ".visible .entry take_locks(.param .u64 lock, .param .u32 times)\n{\n .reg .b64 %d; .reg .b32 %r<5>; .reg .pred %p<3>;\n" \
    " ld.param.u64 %d, [lock];\n ld.param.u32 %r4, [times];\nnext:\n atom.global.acquire.gpu.cas.b32 %r0, [%d], 0, 1;\n setp.ne.u32 %p0, %r0, 0;\n" \
    " @%p0 bra skip;\n ld.relaxed.gpu.global.u32 %r1, [%d+4];\n add.u32 %r1, %r1, 1;\n st.relaxed.gpu.global.u32 [%d+4], %r1;\n" \
    " st.release.gpu.global.u32 [%d], 0;\n sub.u32 %r4, %r4, 1;\nskip:\n setp.ne.u32 %p1, %r4, 0;\n @%p1 bra next;\n ret;\n}\n"

/* Asks by atomic operations that change nothing while the flag is 0. */
#define WAIT_BY(name, ask) \
    PTX_HEAD \
    ".visible .entry " name \
    "(.param .u64 flag)\n{\n .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %p<3>;\n ld.param.u64 %d, [flag];\nagain:\n " ask \
    "\n setp.eq.u32 %p0, %r0, 0;\n @%p0 bra again;\n ret;\n}\n"

/* All that is in the log so far. */
static const char *log_text(void)
{
    static char text[20000];
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Whether there is a whole line with the word; how many there are. */
static unsigned lines_with(const char *word)
{
    unsigned count = 0;
    for (const char *at = log_text(); (at = strstr(at, word)) && strchr(at, '\n'); at++)
        count++;
    return count;
}

static void wait_and_tell(const char *ptx, const char *name, unsigned blocks, unsigned threads, bool cooperative,
                          const char *const *words)
{
    CUmodule module;
    CUfunction function;
    unsigned *flag; /* and another word, which nobody changes */
    CUdeviceptr place;
    char head[100];
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuMemAllocHost((void **)&flag, 2 * sizeof *flag));
    OK(cuMemHostGetDevicePointer(&place, flag, 0));
    flag[0] = flag[1] = 0;
    unsigned before = lines_with(name);
    if (cooperative)
        OK(cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, (void *[]){&place}));
    else
        OK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, (void *[]){&place}, NULL));
    while (lines_with(name) == before)
        usleep(1000);
    usleep(300000);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    OK(cuCtxSynchronize());
    assert_int_equal(lines_with(name), before + 1);
    snprintf(head, sizeof head, "kernel %s: no block has begun or ended for ", name);
    const char *line = NULL;
    for (const char *at = log_text(); (at = strstr(at, head)); at++)
        line = at;
    assert_non_null(line);
    for (; *words; words++)
        if (!strstr(line, *words))
            fail_msg("'%s' is not in: %s", *words, line);
    OK(cuMemFreeHost(flag));
    OK(cuModuleUnload(module));
}

static void test_one_block(void **state)
{
    (void)state;
    wait_and_tell(WAIT_UNTIL_SET, "wait_until_set", 1, 32, false,
                  (const char *[]){"all that the 1 under way",
                                   "block (0,0,0), warp 0 (from thread (0,0,0) on): in a loop at line 11 of the PTX\n",
                                   NULL});
}

static void test_warps_at_barriers(void **state)
{
    (void)state;
    wait_and_tell(WAIT_AT_A_BARRIER, "wait_at_a_barrier", 3, 160, false,
                  (const char *[]){"all that the 3 under way", "warp 0 (from thread (0,0,0) on): in a loop",
                                   "0 more warps in loops, 4 at barriers\n", NULL});
}

static void test_blocks_together(void **state)
{
    (void)state;
    wait_and_tell(WAIT_AT_A_BARRIER, "wait_at_a_barrier", 4, 64, true,
                  (const char *[]){"0 more warps in loops, 1 at barriers\n", NULL});
}

static void test_a_plain_load(void **state)
{
    (void)state;
    wait_and_tell(WAIT_PLAINLY, "wait_plainly", 2, 64, false,
                  (const char *[]){"all that the 2 under way", "in a loop at line 11 of the PTX", NULL});
}

static void test_atomic_operations_that_ask(void **state)
{
    static const char *const asks[][2] = {
        {"ask_by_or", WAIT_BY("ask_by_or", "atom.global.or.b32 %r0, [%d], 0;")},
        {"ask_by_cas", WAIT_BY("ask_by_cas", "atom.global.cas.b32 %r0, [%d], 7, 8;")},
        {"ask_by_add", WAIT_BY("ask_by_add", "mov.u32 %r1, 0; atom.global.add.u32 %r0, [%d], %r1;")},
        {"ask_by_exch",
         WAIT_BY("ask_by_exch",
                 "atom.global.exch.b32 %r1, [%d+4], 0; ld.volatile.global.u32 %r0, [%d]; or.b32 %r0, %r0, %r1;")},
        {"ask_by_and", WAIT_BY("ask_by_and", "atom.global.and.b32 %r0, [%d], 255;")},
        {"ask_by_max", WAIT_BY("ask_by_max", "atom.global.max.u32 %r0, [%d], 0;")},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof asks / sizeof *asks; i++)
        wait_and_tell(asks[i][1], asks[i][0], 2, 32, false, (const char *[]){"all that the 2 under way", NULL});
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Threads of some blocks take a lock in turn, for three times as long as a launch may wait. They wait most of the time,
 * and yet each gets it again and again. One such launch that is not told is enough: on a machine that is busy the one
 * with the lock may have no processor for so long. */
static void locks_are_no_stall(const char *ptx)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr lock;
    unsigned count[2], times = 500;
    bool quiet = false;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "take_locks"));
    OK(cuMemAlloc(&lock, 8));
    for (int long_ones = 0; !quiet && long_ones < 8;) {
        unsigned before = lines_with("take_locks");
        double begin = seconds();
        OK(cuMemsetD32(lock, 0, 2));
        OK(cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&lock, &times}, NULL));
        OK(cuMemcpyDtoH(count, lock, sizeof count));
        assert_int_equal(count[1], 3 * 64 * times);
        if (seconds() - begin < 3 * STALL_MS / 1000.0) {
            times *= 2;
            continue;
        }
        long_ones++;
        quiet = lines_with("take_locks") == before;
    }
    assert_true(quiet);
    OK(cuMemFree(lock));
    OK(cuModuleUnload(module));
}

static void test_locks_are_no_stall(void **state)
{
    (void)state;
    locks_are_no_stall(TAKE_LOCKS);
}

static void test_locks_inside_of_loops_are_no_stall(void **state)
{
    (void)state;
    locks_are_no_stall(TAKE_LOCKS_INSIDE);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/millrace-stall-%d.log", (int)getpid());
    setenv("MILLRACE_LOG_FILE", path, 1);
    setenv("MILLRACE_LOG", "warn", 1);
    setenv("MILLRACE_STALL", NUMBER(STALL_MS), 1);
    setenv("MILLRACE_WORKERS", "2", 1);
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_one_block),
        TEST_IN_CONTEXT(test_warps_at_barriers),
        TEST_IN_CONTEXT(test_blocks_together),
        TEST_IN_CONTEXT(test_a_plain_load),
        TEST_IN_CONTEXT(test_atomic_operations_that_ask),
        TEST_IN_CONTEXT(test_locks_are_no_stall),
        TEST_IN_CONTEXT(test_locks_inside_of_loops_are_no_stall),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
