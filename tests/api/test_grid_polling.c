/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of one grid that wait for each other by plain loads, in loops that look like others: on hardware all blocks of
 * such a grid run at once, and here, on two workers, the later ones begin when nothing moves any more. */
#include "api_support.h"

#include <signal.h>

enum { BLOCKS = 12 };

/* Each of the blocks adds one to the first word, and waits until it is the number of blocks. The loop also stores
 * something, for all that anybody knows to the same place, so that the load stays in it. */
#define KERNEL(poll) \
    ".visible .entry meet(.param .u64 word, .param .u64 other)\n{\n .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\n ld.param.u64 %d0, [word];\n" \
    " ld.param.u64 %d1, [other];\n mov.u32 %r3, %nctaid.x;\n atom.global.add.u32 %r0, [%d0], 1;\nagain:\n" poll \
    " setp.lt.u32 %p0, %r1, %r3;\n @%p0 bra again;\n ret;\n}\n"

static void meet_of(const char *ptx, unsigned blocks)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr words, other;
    unsigned here = 0;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "meet"));
    OK(cuMemAlloc(&words, 64));
    OK(cuMemsetD8(words, 0, 64));
    other = words + 16;
    OK(cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&words, &other}, NULL));
    OK(cuMemcpyDtoH(&here, words, sizeof here));
    assert_int_equal(here, blocks);
    OK(cuMemFree(words));
    OK(cuModuleUnload(module));
}

static void meet(const char *ptx)
{
    meet_of(ptx, BLOCKS);
}

static void test_loads_in_the_loop(void **state)
{
    (void)state;
    meet(PTX_HEAD KERNEL(" add.u32 %r4, %r4, 1;\n st.global.u32 [%d1], %r4;\n ld.global.u32 %r1, [%d0];\n"));
}

/* When all blocks find enough in the word already, they take no time, so that a thread takes many of them at once the
 * next time. */
static void test_after_blocks_that_did_not_wait(void **state)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr words, other;
    unsigned here = 0;
    (void)state;
    OK(cuModuleLoadData(
        &module, PTX_HEAD KERNEL(" add.u32 %r4, %r4, 1;\n st.global.u32 [%d1], %r4;\n ld.global.u32 %r1, [%d0];\n")));
    OK(cuModuleGetFunction(&function, module, "meet"));
    OK(cuMemAlloc(&words, 64));
    other = words + 16;
    for (int round = 0; round < 30; round++) {
        OK(cuMemsetD32(words, round < 29 ? 100000 : 0, 1));
        OK(cuLaunchKernel(function, round < 29 ? 2000 : BLOCKS, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&words, &other},
                          NULL));
        OK(cuCtxSynchronize());
    }
    OK(cuMemcpyDtoH(&here, words, sizeof here));
    assert_int_equal(here, BLOCKS);
    OK(cuMemFree(words));
    OK(cuModuleUnload(module));
}

/* More blocks than fit on sixteen processors, by what the device says of itself: each has a thread in the end. */
static void test_very_many_blocks(void **state)
{
    (void)state;
    meet_of(PTX_HEAD KERNEL(" ld.volatile.global.u32 %r1, [%d0];\n"), 600);
}

/* A function that loads, which nobody expects to wait. */
static void test_a_call_in_the_loop(void **state)
{
    (void)state;
    meet(
        PTX_HEAD
        ".func (.reg .b32 value) look(.reg .b64 at, .reg .b64 other)\n{\n st.global.u32 [other], 1;\n ld.global.u32 value, [at];\n ret;\n}\n" KERNEL(
            " call (%r1), look, (%d0, %d1);\n"));
}

/* A chain: each block, or each warp where there is one block, waits for the mark of the next (%d0 + 4 %r0 + 4), sets
 * its own, one larger, and leaves. What the loop is left by comes from no load: it is written only behind a branch that
 * a load decides. */
#define CHAIN(declarations, begin, rounds) \
    ".visible .entry chain(.param .u64 word, .param .u64 other)\n{\n .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\n " declarations \
    "\n" \
    " ld.param.u64 %d0, [word];\n mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %tid.x;\n shr.u32 %r1, %r1, 5;\n add.u32 %r0, %r0, %r1;\n" \
    " mul.wide.u32 %d1, %r0, 4;\n add.u64 %d0, %d0, %d1;\n" begin rounds " ret;\n}\n"
#define SEEN_TO_SKIP(load) \
    load \
        " %r3, [%d0+4];\n setp.lt.s32 %p0, %r3, 0;\n @%p0 bra skip;\n add.u32 %r4, %r3, 1;\n st.volatile.global.u32 [%d0], %r4;\n"

static void chain(const char *ptx, unsigned blocks, unsigned warps, int rounds)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr words, other;
    unsigned links = blocks * warps;
    int first = -1;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "chain"));
    OK(cuMemAlloc(&words, 256));
    other = words + 128;
    for (int round = 0; round < rounds; round++) {
        OK(cuMemsetD32(words, ~0u, 64));
        OK(cuMemsetD32(words + 4 * links, 0, 1));
        OK(cuLaunchKernel(function, blocks, 1, 1, 32 * warps, 1, 1, 0, NULL, (void *[]){&words, &other}, NULL));
        OK(cuMemcpyDtoH(&first, words, sizeof first));
        assert_int_equal(first, links);
    }
    OK(cuMemFree(words));
    OK(cuModuleUnload(module));
}

static void both_chains(const char *ptx)
{
    chain(ptx, 8, 1, 10);
    chain(ptx, 1, 4, 10);
}

/* ThreadSanitizer holds signals back until a thread calls the C library, which generated code does not: nobody is
 * interrupted there. */
static void skip_without_interrupts(void)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip();
#endif
#endif
}

/* The same by plain loads, in loops that look like others: each round stores something new, and goes by how many there
 * were. A warp that goes round is interrupted for the others. */
#define ROUNDS_THAT_STORE \
    "again:\n add.u32 %r5, %r5, 1;\n st.global.u32 [%d2], %r5;\n ld.global.u32 %r3, [%d0+4];\n setp.lt.s32 %p0, %r3, 0;\n" \
    " setp.ne.u32 %p1, %r5, 0;\n and.pred %p0, %p0, %p1;\n" \
    " @%p0 bra again;\n add.u32 %r4, %r3, 1;\n st.global.u32 [%d0], %r4;\n"
#define CHAIN_THAT_STORES CHAIN("", " ld.param.u64 %d2, [other];\n mov.u32 %r5, 0;\n", ROUNDS_THAT_STORE)
static void test_warps_by_plain_loads(void **state)
{
    (void)state;
    skip_without_interrupts();
    const char *ptx = PTX_HEAD CHAIN_THAT_STORES;
    chain(ptx, 4, 1, 1);
    chain(ptx, 1, 4, 2);
}

/* A kernel whose warps have stacks, for it has a barrier that not all come to, and a loop of which nobody knows that it
 * waits. */
static void test_warps_with_stacks_by_plain_loads(void **state)
{
    (void)state;
    skip_without_interrupts();
    const char *ptx =
        PTX_HEAD CHAIN("", " ld.param.u64 %d2, [other];\n mov.u32 %r5, 0;\n bar.arrive 1, 512;\n", ROUNDS_THAT_STORE);
    chain(ptx, 4, 1, 1);
    chain(ptx, 1, 4, 2);
}

static void on_signal(int number)
{
    (void)number;
}

/* A program that handles the signal which interrupts warps: another one does. */
static void test_in_a_program_that_handles_the_signal(void **state)
{
    (void)state;
    skip_without_interrupts();
    struct sigaction theirs = {.sa_handler = on_signal}, before, now;
    assert_int_equal(sigaction(SIGURG, &theirs, &before), 0);
    chain(PTX_HEAD CHAIN_THAT_STORES, 1, 4, 1);
    assert_int_equal(sigaction(SIGURG, &before, &now), 0);
    assert_true(now.sa_handler == on_signal);
}

static void test_left_by_a_count(void **state)
{
    (void)state;
    both_chains(PTX_HEAD CHAIN(
        "", " mov.u32 %r2, 1;\n",
        "again:\n" SEEN_TO_SKIP("ld.volatile.global.u32") " sub.u32 %r2, %r2, 1;\nskip:\n"
                                                          " setp.gt.s32 %p1, %r2, 0;\n @%p1 bra again;\n"));
    both_chains(PTX_HEAD CHAIN(
        "", " mov.u32 %r2, 1;\n",
        "again:\n" SEEN_TO_SKIP(
            "atom.global.add.u32 %r3, [%d0+4], 0;\n ld.global.u32") " sub.u32 %r2, %r2, 1;\n"
                                                                    "skip:\n setp.gt.s32 %p1, %r2, 0;\n @%p1 bra again;\n"));
}

/* As compilers without optimisation write it: the count lies in local memory. */
static void test_left_by_a_count_in_memory(void **state)
{
    (void)state;
    both_chains(PTX_HEAD CHAIN(
        ".local .b32 count;", " mov.u32 %r2, 1;\n st.local.u32 [count], %r2;\n",
        "again:\n" SEEN_TO_SKIP(
            "ld.relaxed.gpu.global.u32") " ld.local.u32 %r2, [count];\n sub.u32 %r2, %r2, 1;\n st.local.u32 [count], %r2;\nskip:\n ld.local.u32 %r2, [count];\n"
                                         " setp.gt.s32 %p1, %r2, 0;\n @%p1 bra again;\n"));
}

/* How often an inner loop ran, which a load ends, decides on the outer one. */
static void test_left_by_rounds_of_an_inner_loop(void **state)
{
    (void)state;
    both_chains(PTX_HEAD CHAIN(
        "", "",
        "again:\n mov.u32 %r2, 0;\n"
        "inner:\n ld.volatile.global.u32 %r3, [%d0+4];\n add.u32 %r2, %r2, 1;\n setp.ge.s32 %p0, %r3, 0;\n setp.lt.u32 %p1, %r2, 3;\n and.pred %p2, %p0, %p1;\n"
        " @%p2 bra inner;\n setp.lt.u32 %p1, %r2, 3;\n @%p1 bra again;\n add.u32 %r4, %r3, 1;\n st.volatile.global.u32 [%d0], %r4;\n"));
}

/* The way that has seen nothing leads out of an inner loop back to the head of the outer one, past where the count is
 * lowered. */
static void test_round_again_from_an_inner_loop(void **state)
{
    (void)state;
    both_chains(PTX_HEAD CHAIN(
        "", " mov.u32 %r2, 1;\n",
        "again:\n mov.u32 %r5, 0;\n"
        "inner:\n ld.volatile.global.u32 %r3, [%d0+4];\n setp.lt.s32 %p0, %r3, 0;\n @%p0 bra again;\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p1, %r5, 2;\n"
        " @%p1 bra inner;\n add.u32 %r4, %r3, 1;\n st.volatile.global.u32 [%d0], %r4;\n sub.u32 %r2, %r2, 1;\n setp.gt.s32 %p1, %r2, 0;\n @%p1 bra again;\n"));
}

/* The count is written by all ways but the one that has seen nothing, which goes round at once. */
static void test_round_again_from_the_middle(void **state)
{
    (void)state;
    both_chains(PTX_HEAD CHAIN(
        "", " mov.u32 %r2, 2;\n",
        "skip:\n" SEEN_TO_SKIP("ld.volatile.global.u32") " sub.u32 %r2, %r2, 1;\n"
                                                         " setp.gt.s32 %p1, %r2, 0;\n @%p1 bra skip;\n"));
}

/* A chain through all threads of some blocks, as trees are sorted: each waits for the next one's mark, be that of its
 * own warp, of its block, or of another one. */
static void test_threads_of_several_blocks_in_a_row(void **state)
{
    enum { CHAIN_BLOCKS = 3, CHAIN_THREADS = 256, LINKS = CHAIN_BLOCKS * CHAIN_THREADS };
    const char *ptx = PTX_HEAD
        ".visible .entry row(.param .u64 word)\n{\n .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\n ld.param.u64 %d0, [word];\n"
        " mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %ntid.x;\n mov.u32 %r2, %tid.x;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n mul.wide.u32 %d1, %r0, 4;\n"
        " add.u64 %d0, %d0, %d1;\n mov.u32 %r2, 1;\nagain:\n" SEEN_TO_SKIP(
            "ld.volatile.global.u32") " sub.u32 %r2, %r2, 1;\nskip:\n"
                                      " setp.gt.s32 %p1, %r2, 0;\n @%p1 bra again;\n ret;\n}\n";
    CUmodule module;
    CUfunction function;
    CUdeviceptr words;
    unsigned first = 0;
    (void)state;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "row"));
    OK(cuMemAlloc(&words, 4 * (LINKS + 1)));
    OK(cuMemsetD32(words, ~0u, LINKS));
    OK(cuMemsetD32(words + 4 * LINKS, 0, 1));
    OK(cuLaunchKernel(function, CHAIN_BLOCKS, 1, 1, CHAIN_THREADS, 1, 1, 0, NULL, (void *[]){&words}, NULL));
    OK(cuMemcpyDtoH(&first, words, sizeof first));
    assert_int_equal(first, LINKS);
    OK(cuMemFree(words));
    OK(cuModuleUnload(module));
}

/* Vertices of a graph take the lowest colour that none of their neighbours with a lower number has: each polls its
 * neighbours until all have one. */
#define NEIGHBOUR(number) \
    " ld.global.u32 %r4, [%d2+" number \
    "];\n mul.wide.u32 %d3, %r4, 4;\n add.u64 %d3, %d1, %d3;\n ld.relaxed.gpu.global.u32 %r5, [%d3];\n" \
    " setp.eq.u32 %p0, %r5, 0;\n setp.ne.and.u32 %p1, %r4, %r0, %p0;\n @%p1 bra skip;\n shl.b32 %r6, %r7, %r5;\n or.b32 %r3, %r3, %r6;\n"

static void test_colours_of_a_graph(void **state)
{
    enum { VERTICES = 5 * 192, DEGREE = 3 };
    const char *ptx = PTX_HEAD
        ".visible .entry colour(.param .u64 neighbours, .param .u64 colours)\n{\n .reg .b64 %d<5>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
        " ld.param.u64 %d0, [neighbours];\n ld.param.u64 %d1, [colours];\n mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %ntid.x;\n mov.u32 %r2, %tid.x;\n"
        " mad.lo.u32 %r0, %r0, %r1, %r2;\n mul.wide.u32 %d2, %r0, 12;\n add.u64 %d2, %d0, %d2;\n mul.wide.u32 %d4, %r0, 4;\n add.u64 %d4, %d1, %d4;\n"
        " mov.u32 %r7, 1;\n mov.u32 %r8, 1;\nagain:\n mov.u32 %r3, 1;\n" NEIGHBOUR("0") NEIGHBOUR("4") NEIGHBOUR(
            "8") " not.b32 %r3, %r3;\n brev.b32 %r3, %r3;\n clz.b32 %r3, %r3;\n st.relaxed.gpu.global.u32 [%d4], %r3;\n sub.u32 %r8, %r8, 1;\nskip:\n"
                 " setp.gt.s32 %p2, %r8, 0;\n @%p2 bra again;\n ret;\n}\n";
    static unsigned neighbours[VERTICES][DEGREE], colours[VERTICES];
    unsigned expected[VERTICES], random = 1;
    CUmodule module;
    CUfunction function;
    CUdeviceptr lists, place;
    (void)state;
    for (unsigned v = 0; v < VERTICES; v++) {
        unsigned used = 1, colour = 1;
        for (int n = 0; n < DEGREE; n++) {
            random = random * 1664525u + 1013904223u;
            /* Most are near, in the same warp or block; a vertex itself stands for none. */
            unsigned back = (random >> 8) % (random & 7 ? 40 : 700);
            neighbours[v][n] = back <= v ? v - back : v;
            used |= neighbours[v][n] == v ? 1 : 1u << expected[neighbours[v][n]];
        }
        for (; used >> colour & 1; colour++)
            ;
        expected[v] = colour;
    }
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "colour"));
    OK(cuMemAlloc(&lists, sizeof neighbours));
    OK(cuMemAlloc(&place, sizeof colours));
    OK(cuMemcpyHtoD(lists, neighbours, sizeof neighbours));
    OK(cuMemsetD32(place, 0, VERTICES));
    OK(cuLaunchKernel(function, 5, 1, 1, 192, 1, 1, 0, NULL, (void *[]){&lists, &place}, NULL));
    OK(cuMemcpyDtoH(colours, place, sizeof colours));
    assert_memory_equal(colours, expected, sizeof expected);
    OK(cuMemFree(lists));
    OK(cuMemFree(place));
    OK(cuModuleUnload(module));
}

int main(void)
{
    setenv("MILLRACE_WORKERS", "2", 1);
    const struct CMUnitTest tests[] = {
        TEST_IN_CONTEXT(test_loads_in_the_loop),
        TEST_IN_CONTEXT(test_after_blocks_that_did_not_wait),
        TEST_IN_CONTEXT(test_very_many_blocks),
        TEST_IN_CONTEXT(test_a_call_in_the_loop),
        TEST_IN_CONTEXT(test_warps_by_plain_loads),
        TEST_IN_CONTEXT(test_warps_with_stacks_by_plain_loads),
        TEST_IN_CONTEXT(test_in_a_program_that_handles_the_signal),
        TEST_IN_CONTEXT(test_left_by_a_count),
        TEST_IN_CONTEXT(test_left_by_a_count_in_memory),
        TEST_IN_CONTEXT(test_left_by_rounds_of_an_inner_loop),
        TEST_IN_CONTEXT(test_round_again_from_an_inner_loop),
        TEST_IN_CONTEXT(test_round_again_from_the_middle),
        TEST_IN_CONTEXT(test_threads_of_several_blocks_in_a_row),
        TEST_IN_CONTEXT(test_colours_of_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
