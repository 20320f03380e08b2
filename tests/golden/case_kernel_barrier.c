/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers with a count, where parts of warps come to them: what an arrival stands for.
 *
 * Warps 1 and 2 of a block do what a case says; warp 0 looks after them.  If they are not all behind the barrier after
 * a few milliseconds, it arrives there itself, with all its threads, three times at most, and then ends the launch.  A
 * thread's answer is how often it had done so when the thread came behind the barrier: 0 where the arrivals were
 * enough, "never" where no help was.  So nothing hangs, and what a warp's part counted for shows.
 */
#include "gold.h"

#include <stdio.h>
#include <string.h>

struct meeting {
    const char *name;  /* "barrier_count.…" */
    unsigned count;    /* what the barrier is told to expect */
    unsigned block;    /* threads of the block, 96 if 0 */
    const char *allow; /* what is right here instead; see `lenient` */
    const char *act;   /* %r1 the lane, %r2 the warp, 1 or 2; %r9 the count; ends at `done`, with a result in %r8 */
};

static const char before[] =
    ".version 7.8\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 count)\n{\n"
    "    .reg .b32 %r<20>;\n    .reg .b64 %rd<4>;\n    .reg .pred %p<8>;\n    .shared .align 4 .b32 helped;\n    .shared .align 4 .b32 behind;\n"
    "    mov.u32 %r0, %tid.x;\n    and.b32 %r1, %r0, 31;\n    shr.u32 %r2, %r0, 5;\n    ld.param.u64 %rd1, [out];\n    ld.param.u32 %r9, [count];\n    mov.u32 %r8, 0;\n"
    "    mad.wide.u32 %rd1, %r0, 8, %rd1;\n    setp.ne.u32 %p1, %r0, 0;\n    @%p1 bra ready;\n    st.volatile.shared.u32 [helped], 0;\n    st.volatile.shared.u32 [behind], 0;\n"
    "ready:\n    bar.sync 0;\n    setp.ge.u32 %p2, %r1, 16;\n    setp.eq.u32 %p3, %r2, 2;\n    setp.eq.u32 %p1, %r2, 0;\n    @%p1 bra help;\n    ";
static const char after[] =
    "\ndone:\n    ld.volatile.shared.u32 %r10, [helped];\n    st.volatile.global.v2.u32 [%rd1], {%r10, %r8};\n    membar.sys;\n    atom.shared.add.u32 %r11, [behind], 1;\n    ret;\n"
    "help:\n    mov.u32 %r12, 0;\n    mov.u32 %r14, %ntid.x;\n    sub.u32 %r14, %r14, 32;\n"
    "again:\n    mov.u32 %r13, 0;\n"
    "rest:\n    nanosleep.u32 100000;\n    add.u32 %r13, %r13, 1;\n    setp.lt.u32 %p4, %r13, 40;\n    @%p4 bra rest;\n"
    "    ld.volatile.shared.u32 %r15, [behind];\n    setp.ge.u32 %p5, %r15, %r14;\n    vote.sync.any.pred %p5, %p5, -1;\n    @%p5 bra over;\n    add.u32 %r12, %r12, 1;\n    st.volatile.shared.u32 [helped], %r12;\n"
    "    setp.gt.u32 %p6, %r12, 3;\n    @%p6 bra stuck;\n    membar.cta;\n    bar.arrive 1, %r9;\n    bra again;\n"
    "stuck:\n    trap;\nover:\n    ret;\n}\n";

enum { THREADS = 96, NEVER = 0xeeeeeeee };

static void say_times(unsigned times)
{
    if (times == NEVER)
        say_text("never");
    else
        say_int(times);
}

/* What lanes FIRST to END of a warp found: one number if all found the same. */
static void say_part(const volatile unsigned (*found)[2], unsigned first, unsigned end, unsigned which)
{
    unsigned least = ~0u, most = 0;
    for (unsigned i = first; i < end; i++) {
        least = found[i][which] < least ? found[i][which] : least;
        most = found[i][which] > most ? found[i][which] : most;
    }
    say_times(least);
    if (most != least)
        say_times(most);
}

/* The results lie in the host's memory, where they outlast a launch that was ended. */
static void meet(const struct gold_case *self)
{
    const struct meeting *row = self->data;
    static char text[8192];
    unsigned block = row->block ? row->block : THREADS, count = row->count;
    volatile unsigned(*found)[2];
    void *memory;
    CUdeviceptr out;
    CUmodule module;
    CUfunction function;
    snprintf(text, sizeof text, "%s%s%s", before, row->act, after);
    NEED(cuModuleLoadData(&module, text));
    NEED(cuModuleGetFunction(&function, module, "k"));
    NEED(cuMemHostAlloc(&memory, THREADS * sizeof *found, CU_MEMHOSTALLOC_DEVICEMAP));
    NEED(cuMemHostGetDevicePointer(&out, memory, 0));
    memset(memory, 0xee, THREADS * sizeof *found);
    found = memory;
    NEED(cuLaunchKernel(function, 1, 1, 1, block, 1, 1, 0, NULL, (void *[]){&out, &count}, NULL));
    CUresult status = cuCtxSynchronize();
    say(status);
    if (count % 32) /* ends the launch at once, wherever the other threads are */
        return;
    bool reduces = strstr(row->act, ".red.") != NULL;
    for (unsigned first = 32; first < block; first += 16) {
        say_text(first % 32 ? "and" : first == 32 ? "one:" : "two:");
        say_part((const volatile unsigned(*)[2])found, first, first + 16, 0);
        if (reduces)
            say_part((const volatile unsigned(*)[2])found, first, first + 16, 1);
    }
}

#define WHOLE "bar.sync 1, %r9;"
/* Warp 2 does nothing. */
#define ONE_ONLY "@%p3 bra done; "
#define LOW(what) "@%p2 bra done; " what
#define HALVES(low, high) "@%p2 bra high; " low " bra done;\nhigh: " high
/* Warp 2 comes whole, warp 1 as said. */
#define AND_TWO(what) "@%p3 bra two; " what " bra done;\ntwo: " WHOLE

/* The manual leaves open what a warp's parts at several aligned barriers do; an H200 waits for the warp to come
 * together, which it never does. */
static const char lenient[] = "here each part of a warp arrives by itself where hardware would wait for ever";

static const struct meeting meetings[] = {
    {"barrier_count.whole_warp", 32, 0, NULL, ONE_ONLY WHOLE},
    {"barrier_count.whole_warps", 64, 0, NULL, WHOLE},
    {"barrier_count.whole_warps_of_three", 96, 0, NULL, WHOLE},
    {"barrier_count.half_of_32", 32, 0, NULL, ONE_ONLY LOW(WHOLE)},
    {"barrier_count.half_of_64", 64, 0, NULL, ONE_ONLY LOW(WHOLE)},
    {"barrier_count.half_and_whole_of_64", 64, 0, NULL, AND_TWO(LOW(WHOLE))},
    {"barrier_count.half_and_whole_of_96", 96, 0, NULL, AND_TWO(LOW(WHOLE))},
    {"barrier_count.one_lane_of_32", 32, 0, NULL, ONE_ONLY "setp.ne.u32 %p4, %r1, 7; @%p4 bra done; " WHOLE},
    {"barrier_count.two_places_of_32", 32, 0, "CUDA_SUCCESS one: 0 and 0 two: 0 and 0", ONE_ONLY HALVES(WHOLE, WHOLE)},
    {"barrier_count.two_places_of_64", 64, 0, "CUDA_SUCCESS one: 1 and 1 two: 0 and 0", ONE_ONLY HALVES(WHOLE, WHOLE)},
    {"barrier_count.two_places_and_whole_of_64", 64, 0, "CUDA_SUCCESS one: 0 and 0 two: 0 and 0",
     AND_TWO(HALVES(WHOLE, WHOLE))},
    {"barrier_count.two_places_and_whole_of_96", 96, 0, "CUDA_SUCCESS one: 1 and 1 two: 1 and 1",
     AND_TWO(HALVES(WHOLE, WHOLE))},
    {"barrier_count.guarded_half_of_32", 32, 0, NULL, ONE_ONLY "@!%p2 " WHOLE},
    {"barrier_count.guarded_half_and_whole_of_64", 64, 0, NULL,
     "not.pred %p4, %p2; or.pred %p4, %p4, %p3; @%p4 " WHOLE},
    {"barrier_count.half_has_left_of_32", 32, 0, NULL,
     ONE_ONLY
     "@%p2 bra left; " WHOLE
     " bra done;\nleft: mov.u32 %r10, 77; st.volatile.global.v2.u32 [%rd1], {%r10, %r8}; membar.sys; atom.shared.add.u32 %r11, [behind], 1; exit;"},
    {"barrier_count.half_has_left_and_whole_of_64", 64, 0, NULL,
     AND_TWO(
         "@%p2 bra left; " WHOLE
         " bra done;\nleft: mov.u32 %r10, 77; st.volatile.global.v2.u32 [%rd1], {%r10, %r8}; membar.sys; atom.shared.add.u32 %r11, [behind], 1; exit;\nnever:")},
    {"barrier_count.half_arrives_whole_waits", 64, 0, NULL, AND_TWO(LOW("bar.arrive 1, %r9;"))},
    {"barrier_count.two_places_arrive_whole_waits", 64, 0, "CUDA_SUCCESS one: 0 and 0 two: 0 and 0",
     AND_TWO(HALVES("bar.arrive 1, %r9;", "bar.arrive 1, %r9;"))},
    {"barrier_count.half_arrives_half_waits_of_32", 32, 0, "CUDA_SUCCESS one: 0 and 0 two: 0 and 0",
     ONE_ONLY HALVES("bar.arrive 1, %r9;", WHOLE)},
    {"barrier_count.half_arrives_half_waits_of_64", 64, 0, "CUDA_SUCCESS one: 0 and 0 two: 0 and 0",
     ONE_ONLY HALVES("bar.arrive 1, %r9;", WHOLE)},
    {"barrier_count.half_counts_predicates", 32, 0, NULL,
     ONE_ONLY LOW("setp.ge.u32 %p6, %r1, 4; bar.red.popc.u32 %r8, 1, %r9, %p6;")},
    {"barrier_count.two_places_count_predicates", 32, 0, "CUDA_SUCCESS one: 0 12 and 0 12 two: 0 0 and 0 0",
     ONE_ONLY HALVES("setp.ge.u32 %p6, %r1, 4; bar.red.popc.u32 %r8, 1, %r9, %p6;",
                     "setp.ge.u32 %p6, %r1, 20; bar.red.popc.u32 %r8, 1, %r9, %p6;")},
    {"barrier_count.short_warp_of_64", 64, 80, NULL, WHOLE},
    {"barrier_count.short_warp_of_32", 32, 80, NULL, "@!%p3 bra done; " WHOLE},
    /* Counts that are no multiple of the warp's size. */
    {"barrier_count.count_16_half", 16, 0, NULL, ONE_ONLY LOW(WHOLE)},
    {"barrier_count.count_16_whole", 16, 0, NULL, ONE_ONLY WHOLE},
    {"barrier_count.count_33", 33, 0, NULL, WHOLE},
    {"barrier_count.count_48", 48, 0, NULL, WHOLE},
    {"barrier_count.count_48_half_and_whole", 48, 0, NULL, AND_TWO(LOW(WHOLE))},
    {"barrier_count.count_48_short_warp", 48, 80, NULL, WHOLE},
    {"barrier_count.count_80_three_warps", 80, 0, NULL, WHOLE},
    /* Without .aligned. */
    {"barrier_count.any_half_of_32", 32, 0, NULL, ONE_ONLY LOW("barrier.sync 1, %r9;")},
    {"barrier_count.any_half_of_64", 64, 0, NULL, ONE_ONLY LOW("barrier.sync 1, %r9;")},
    {"barrier_count.any_half_and_whole_of_64", 64, 0, NULL,
     "@%p3 bra two; @%p2 bra done; barrier.sync 1, %r9; bra done;\ntwo: barrier.sync 1, %r9;"},
    {"barrier_count.any_two_places_of_32", 32, 0, NULL,
     ONE_ONLY HALVES("barrier.sync 1, %r9;", "barrier.sync 1, %r9;")},
    {"barrier_count.any_two_places_of_64", 64, 0, NULL,
     ONE_ONLY HALVES("barrier.sync 1, %r9;", "barrier.sync 1, %r9;")},
    {"barrier_count.any_two_places_and_whole_of_64", 64, 0, NULL,
     "@%p3 bra two; " HALVES("barrier.sync 1, %r9;", "barrier.sync 1, %r9;") " bra done;\ntwo: barrier.sync 1, %r9;"},
    {"barrier_count.any_count_16_half", 16, 0, NULL, ONE_ONLY LOW("barrier.sync 1, %r9;")},
    {"barrier_count.any_count_48", 48, 0, NULL, "barrier.sync 1, %r9;"},
    {"barrier_count.any_half_has_left_and_whole_of_64", 64, 0, NULL,
     "@%p3 bra two; @%p2 bra left; barrier.sync 1, %r9; bra done;\nleft: mov.u32 %r10, 77; st.volatile.global.v2.u32 [%rd1], {%r10, %r8}; membar.sys; atom.shared.add.u32 %r11, [behind], 1; exit;\ntwo: barrier.sync 1, %r9;"},
};

static struct gold_case meeting_cases[sizeof meetings / sizeof *meetings];
__attribute__((constructor)) static void meetings_add(void)
{
    for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++)
        meeting_cases[i] = (struct gold_case){.name = meetings[i].name,
                                              .run = meet,
                                              .data = &meetings[i],
                                              .alone = true,
                                              .allow = meetings[i].allow,
                                              .why = meetings[i].allow ? lenient : NULL};
    gold_register_all(meeting_cases, sizeof meetings / sizeof *meetings);
}
