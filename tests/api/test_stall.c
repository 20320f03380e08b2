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

/* Waits for a flag, and does something in each round that brings it no further. %r1 counts the rounds. */
#define WAIT_AND(name, act) \
    PTX_HEAD \
    ".visible .entry " name \
    "(.param .u64 flag)\n{\n .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<5>;\n ld.param.u64 %d0, [flag];\n" \
    " add.u64 %d1, %d0, 4;\n mov.u32 %r1, 0;\nagain:\n add.u32 %r1, %r1, 1;\n " act \
    "\n ld.volatile.global.u32 %r0, [%d0];\n setp.eq.u32 %p0, %r0, 0;\n @%p0 bra again;\n ret;\n}\n"

/* Works until the flag is set: the same, but each round brings it further. */
#define WORK_UNTIL_SET(act) WAIT_AND("work", act)

/* Two blocks hand each other a token, so many times, and wait for nothing else. Loops inside of a loop that goes by
 * what they load. The token's word is the same for all, and each block stores in its own rounds, too. */
#define HAND_OVER \
    PTX_HEAD \
    ".visible .entry work(.param .u64 token)\n{\n .reg .b64 %d<3>; .reg .b32 %r<6>; .reg .pred %p<3>;\n ld.param.u64 %d0, [token];\n" \
    " mov.u32 %r1, %ctaid.x;\n xor.b32 %r2, %r1, 1;\nagain:\n st.volatile.global.u32 [%d0+8], %r1;\n" \
    " ld.volatile.global.u32 %r3, [%d0+4];\n setp.ne.u32 %p1, %r3, %r1;\n @%p1 bra skip;\n st.volatile.global.u32 [%d0+4], %r2;\nskip:\n" \
    " ld.volatile.global.u32 %r0, [%d0];\n or.b32 %r4, %r0, %r3;\n setp.eq.u32 %p0, %r0, 0;\n setp.ne.u32 %p2, %r4, 7;\n" \
    " and.pred %p0, %p0, %p2;\n @%p0 bra again;\n ret;\n}\n"

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
    unsigned *flag; /* and other words, which the host leaves alone */
    CUdeviceptr place;
    char head[100];
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuMemAllocHost((void **)&flag, 1024));
    OK(cuMemHostGetDevicePointer(&place, flag, 0));
    memset(flag, 0, 1024);
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

/* What they store is no progress: a count, a sign of life, a sum that nobody reads. */
static void test_loops_that_store(void **state)
{
    static const char *const waits[][2] = {
        {"count_by_store", WAIT_AND("count_by_store", "st.global.u32 [%d1], %r1;")},
        {"count_in_place",
         WAIT_AND("count_in_place",
                  "ld.volatile.global.u32 %r2, [%d0+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d0+4], %r2;")},
        {"count_by_red", WAIT_AND("count_by_red", "red.global.add.u32 [%d1], 1;")},
        {"count_by_atom", WAIT_AND("count_by_atom", "atom.global.add.u32 %r2, [%d1], 1;")},
        {"count_by_lane", WAIT_AND("count_by_lane", "mov.u32 %r3, %laneid; shl.b32 %r3, %r3, 2; cvt.u64.u32 %d2, %r3; "
                                                    "add.u64 %d2, %d1, %d2; st.global.u32 [%d2], %r1;")},
        {"sign_of_life",
         WAIT_AND("sign_of_life", "st.volatile.global.u32 [%d0+4], 1; st.global.f32 [%d0+8], 0f3f800000;")},
        {"delays", WAIT_AND("delays", "mov.u32 %r2, 0;\nfurther:\n add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r1; "
                                      "setp.lt.u32 %p1, %r2, 20;\n @%p1 bra further;")},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        wait_and_tell(waits[i][1], waits[i][0], 2, 64, false,
                      (const char *[]){"all that the 2 under way", "in a loop at line", NULL});
        wait_and_tell(waits[i][1], waits[i][0], 2, 64, true, (const char *[]){"all that the 2 under way", NULL});
    }
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

/* Kernels that go on until the host ends them, for three times as long as a launch may wait; see locks_are_no_stall. */
static void work_is_no_stall(const char *ptx)
{
    CUmodule module;
    CUfunction function;
    unsigned *words;
    CUdeviceptr place;
    bool quiet = false;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "work"));
    OK(cuMemAllocHost((void **)&words, 4096));
    OK(cuMemHostGetDevicePointer(&place, words, 0));
    for (int tries = 0; !quiet && tries < 8; tries++) {
        unsigned before = lines_with("kernel work:");
        memset(words, 0, 4096);
        double begin = seconds();
        OK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&place}, NULL));
        while (seconds() - begin < 3 * STALL_MS / 1000.0)
            usleep(10000);
        __atomic_store_n(words, 1, __ATOMIC_SEQ_CST);
        OK(cuCtxSynchronize());
        quiet = lines_with("kernel work:") == before;
    }
    assert_true(quiet);
    OK(cuMemFreeHost(words));
    OK(cuModuleUnload(module));
}

static void test_work_until_a_flag_is_no_stall(void **state)
{
    (void)state;
    /* Each round stores somewhere else; */
    work_is_no_stall(
        WORK_UNTIL_SET("and.b32 %r2, %r1, 63; shl.b32 %r2, %r2, 2; cvt.u64.u32 %d2, %r2; add.u64 %d2, %d1, %d2; "
                       "st.global.u32 [%d2], %r1;"));
    /* reads something else, and stores what it made of that; */
    work_is_no_stall(
        WORK_UNTIL_SET("and.b32 %r2, %r1, 63; shl.b32 %r2, %r2, 2; cvt.u64.u32 %d2, %r2; add.u64 %d2, %d1, %d2; "
                       "ld.global.u32 %r3, [%d2]; st.global.u32 [%d1], %r3;"));
    /* counts in memory to an end that it goes by. */
    work_is_no_stall(WORK_UNTIL_SET("ld.volatile.global.u32 %r2, [%d0+4]; add.u32 %r2, %r2, 1; "
                                    "st.volatile.global.u32 [%d0+4], %r2; setp.eq.u32 %p1, %r2, 0;\n @%p1 bra again;"));
}

static void test_a_token_that_goes_round_is_no_stall(void **state)
{
    (void)state;
    work_is_no_stall(HAND_OVER);
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
        TEST_IN_CONTEXT(test_loops_that_store),
        TEST_IN_CONTEXT(test_work_until_a_flag_is_no_stall),
        TEST_IN_CONTEXT(test_a_token_that_goes_round_is_no_stall),
        TEST_IN_CONTEXT(test_locks_are_no_stall),
        TEST_IN_CONTEXT(test_locks_inside_of_loops_are_no_stall),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
