/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is known about a function before any code is made: its basic blocks in
 * the order in which they will run, live registers, which registers are the
 * same for all lanes, and which blocks may hold waiting lanes while another one
 * runs. No LLVM here.
 *
 * The model behind it. A warp runs one block at a time with the lanes that are
 * there; other lanes are *parked* in front of other blocks, each block having a
 * mask of its parked lanes. When a block ends, its lanes are parked in front of
 * their successors, and the next block is the first one in the *scan order* that
 * holds any lane: later blocks of the innermost loop, then that loop from its
 * head, then the same for the loop around it. So lanes wait for each other at
 * the first place that all paths share, loops run until their last lane has left,
 * and any graph works, reducible or not: order is only a matter of speed.
 *
 *   flow.c        all passes over one function
 *   order.c       blocks, and their order: a weak topological order, in which
 *                 every loop is a contiguous range that starts with its head
 *   liveness.c    registers that are live where a block begins
 *   uniformity.c  the class of each register: one scalar, base + lane * stride,
 *                 or a vector; class.h is the arithmetic of classes
 *   pending.c     pend(B): the blocks that may hold parked lanes while B runs
 *   pair.c        kernels that run two warps as one
 *   waits.c       loops that may wait for another thread
 *   idle.c        of those that end by plain loads, which surely do
 *   moving.c      registers that depend on their own older values
 *   regions.c     kernels whose warps take turns at barriers without stacks
 *   byte_places.c addresses that a byte picks
 *   block_steps.c how far addresses go on from block to block
 *   near.c        registers whose numbers lie near each other in a warp
 *   stack.c       functions that move the stack pointer
 *   decides.c     loads whose value says which way a lane goes, or where it accesses memory
 *   grids.c       where a kernel may have waited for the grids before it
 *
 * A definition in B must keep the old value of lanes that are not running only
 * if a parked lane may still read it: if the register is live into a block of
 * pend(B). Such a register can't be a scalar either (its lanes have got different
 * values by running at different times), and this may make more branches
 * divergent; mr_flow_build() repeats the last two passes until nothing changes.
 */
#ifndef MR_COMPILE_CODEGEN_ANALYSIS_FLOW_H
#define MR_COMPILE_CODEGEN_ANALYSIS_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/layout.h"
#include "ptx/ptx.h"

#define MR_FLOW_NONE UINT32_MAX

/* Above this many blocks, or when the sets get out of hand, the scan order is not worked out
 * statically and the blocks run from a dispatcher. */
#define MR_FLOW_STATIC_BLOCKS 16000u
#define MR_FLOW_STATIC_EDGES 24000u

/* Above this many blocks, masks that several places store to stay in memory, in code that is made in a hurry. */
#define MR_FLOW_MASKS_IN_MEMORY 1500u

/* Above this many places that blocks look at when they end, and so many for each block, a dispatcher knows those that
 * are not near. */
#define MR_FLOW_CROWD 400u
#define MR_FLOW_CROWD_OF_BLOCK 8u

/* From so many places it is drawn at most which block runs next: that many bits of one word. */
#define MR_FLOW_DRAWN_MAX 64u

/* Sets of blocks and of registers: rows of 64-bit words. */
typedef uint64_t mr_word;

static inline bool mr_bit_get(const mr_word *set, uint32_t bit)
{
    return set[bit / 64] >> (bit % 64) & 1;
}

static inline void mr_bit_set(mr_word *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static inline void mr_bit_clear(mr_word *set, uint32_t bit)
{
    set[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

/* The first member of a set of numbers below `count` that is not below `from`; `count` if there is none. */
static inline uint32_t mr_bit_next(const mr_word *set, uint32_t from, uint32_t count)
{
    uint32_t word = from / 64;
    if (from >= count)
        return count;
    mr_word rest = set[word] >> (from % 64) << (from % 64);
    while (!rest) {
        if (++word * 64 >= count)
            return count;
        rest = set[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(rest);
    return found < count ? found : count;
}

static inline size_t mr_bit_words(uint32_t bits)
{
    return ((size_t)bits + 63) / 64;
}

/* How a value depends on the lane. AFFINE: lane l holds base + stride * l, plus `wrap` from lane `brk` on, where base
 * and brk are scalars known when the code runs. A value gets a wrap when a 32-bit AFFINE value is widened: the 32-bit
 * sum may have overflowed at some lane. `wrap` is a multiple of 2^32.
 * Where a warp is several rows of threads (flow->rows > 1), each row has a base and a brk of its own, l counts from the
 * start of the row, and a stride of 0 without a wrap is a value that is the same in all lanes of a row. STEPPED: like
 * AFFINE, but the stride is a scalar known when the code runs, too, and what it wraps by may come several times: see
 * stepped.c. Only where a warp is one row. */
enum mr_class_kind { MR_CLASS_NONE, MR_CLASS_UNIFORM, MR_CLASS_AFFINE, MR_CLASS_STEPPED, MR_CLASS_VARYING };

struct mr_class {
    enum mr_class_kind kind;
    int64_t stride; /* AFFINE, else 0. STEPPED: how many low bits of the step are known to be 0 */
    int64_t wrap; /* AFFINE, else 0. STEPPED: whether it may wrap */
    bool aligned; /* AFFINE of stride 2^k in 32 bits: bits k to k + 4 are the lane's number, since the base has zeros
                     there, as that of tid.x has where a warp lies in one row */
    uint32_t ones; /* UNIFORM, and the base if aligned: bits that may be set, of values of 32 bits */
};

/* Aligned, and never negative as a signed number. */
bool mr_class_is_small(struct mr_class c);

enum mr_end_kind {
    MR_END_FALL, /* to succs[0] */
    MR_END_BRANCH, /* guard: succs[0] if true, succs[1] if false */
    MR_END_TABLE, /* brx.idx: succs[i] for entry i; a guard's last successor is the next block */
    MR_END_EXIT, /* exit, ret, or the end of the body: lanes leave the function */
    MR_END_SOME_EXIT, /* guarded exit or ret: succs[0] for the others */
    MR_END_TRAP /* does not come back */
};

struct mr_flow_block {
    uint32_t first, end; /* instructions; the last one is the terminator unless it falls through */
    uint32_t *succs; /* blocks, by position in the order */
    uint32_t succ_count;
    enum mr_end_kind end_kind;
    const struct mr_ptx_inst *last; /* the terminator, NULL if it falls through */
    bool may_vanish; /* the block ends with a call in which lanes may exit the kernel */
    bool barrier; /* the block is a barrier of the block of threads: it runs only when no lane can do anything else */
    bool meets; /* has a warp operation whose lanes have to be there when the block begins: see mr_flow_waits_for */
    bool follows_wait; /* stands in no loop that waits, and lanes may come to it straight from one */
    uint32_t loop; /* innermost loop, MR_FLOW_NONE if in none */
    mr_word *live_in; /* registers */
    mr_word *pend; /* blocks */
    mr_word *parked; /* registers live into a block of pend */
};

/* A strongly connected part: blocks [first, end) of the order, the head first. */
struct mr_flow_loop {
    uint32_t first, end;
    uint32_t parent; /* MR_FLOW_NONE if outermost */
    bool waits; /* may wait for other threads */
    bool may_wait; /* ends by what it loads, plainly or not */
    bool steady;   /* waits, in no loop that does, and what it stores is no progress: steady.c */
    uint64_t rounds; /* about how many it has, if it counts up by a constant to a constant; 0: not known */
};

/* What the passes must know about a callee. */
struct mr_flow_facts {
    bool may_exit; /* lanes may leave the kernel in it */
    bool polls; /* loads or atomics in it may see another thread's progress */
    bool waits; /* has a loop that may wait */
    bool may_wait; /* the same if plain loads count, too: then `waits` need not be set */
    bool barriers; /* waits for other warps */
    bool acts; /* stores something, or does something else that others may see */
    bool awaits_grids; /* may wait for the grids before its own */
};

struct mr_flow {
    const struct mr_ptx_function *func;
    const struct mr_flow_facts *facts; /* by function->index, of all functions; borrowed */
    unsigned shape; /* MR_SHAPE_* */
    unsigned rows; /* rows that make up a warp, or a pair of them that runs as one: 1, 2 or 4 */
    struct mr_flow_block *blocks; /* in order */
    uint32_t block_count;
    struct mr_flow_loop *loops;
    uint32_t loop_count;
    uint32_t reg_count; /* the function's registers and one for the carry flag, the last */
    struct mr_class *classes;
    mr_word *forced; /* registers that must be vectors */
    mr_word *read; /* registers that any instruction reads */
    bool dispatched; /* too large to know what may be pending where: a dispatcher runs the blocks */
    bool crowded; /* that is known, but the lists are too long to be written out at the end of each block */
    bool draws; /* several loops wait, apart or one inside the other: now and then the block that runs next is drawn */
    mr_word
        *polls; /* instructions: loads that have to do with the way of a loop that waits; NULL if no loop is steady */
    mr_word *past_grids; /* blocks in front of which lanes may have waited for the grids before; NULL: none */
    uint32_t *block_of; /* private: block that starts at an instruction, before ordering */
};

/* Scan orders: the usual one; the one of a waiting loop that gives way, where blocks outside of it come first; and the
 * one of lanes that have arrived at a barrier and must not go on before the rest, where barriers come first. Otherwise
 * barriers come last. */
enum mr_flow_order { MR_SCAN_USUAL, MR_SCAN_OUTSIDE, MR_SCAN_BARRIERS };

/* Beside these there is a draw: any block with lanes that is no barrier may be the next, each as likely as others. An
 * order can keep a block from ever being the next one: two loops that wait, each with an inner one, give way to each
 * other at always the same of their places, and lanes at another place starve. Where several loops wait (flow->draws),
 * one turn in four is drawn, so that lanes run in the end, wherever they are. */

/* Fills `list` (room for all members) with the members of `set` in the order in which they are looked at when `block`
 * ends; returns how many. */
uint32_t mr_flow_scan(const struct mr_flow *flow, uint32_t block, const mr_word *set, enum mr_flow_order order,
                      uint32_t *list);

/* Whether the instruction is one at which warps of a block wait for each other: it is a block of its own. */
bool mr_flow_is_barrier(const struct mr_ptx_inst *inst);
/* Whether two of them are known to be of one number. */
bool mr_flow_same_number(const struct mr_ptx_inst *a, const struct mr_ptx_inst *b);
/* Whether lanes of one warp may be at barriers of different numbers at the same time: each then has to wait by itself.
 */
bool mr_flow_barriers_part(const struct mr_flow *flow);
/* Whether other barriers may have parked lanes while this one runs: then its lanes only arrive, and the last barrier
 * waits. */
bool mr_flow_barrier_shared(const struct mr_flow *flow, uint32_t block);
/* Whether there is such a place: lanes of one warp may then be at several barriers. (The barrier that is
 * reached last may itself park none.) */
bool mr_flow_barriers_meet(const struct mr_flow *flow);
/* Whether the block begins with a barrier.red that not all lanes have to come to at once. */
bool mr_flow_reduces_apart(const struct mr_flow *flow, uint32_t block);

/* The member mask of instruction `at` if it is a warp operation and its lanes have to be there when its block, from
 * `first` on, begins; else NULL. */
const struct mr_ptx_operand *mr_flow_members(const struct mr_flow *flow, uint32_t first, uint32_t at);

/* Whether a draw may leave lanes in front of `block` that nothing holds there: it has no barrier and no warp operation.
 */
bool mr_flow_is_on_its_way(const struct mr_flow *flow, uint32_t block);

/* Whether lanes in front of `other` may have to come before `block` runs, which has a warp operation: lanes that go
 * round in a waiting loop outside of which it stands, and lanes that are on their way. (Everywhere else the order of
 * blocks sees to it that lanes come together.) */
bool mr_flow_waits_for(const struct mr_flow *flow, uint32_t block, uint32_t other);

/* The ways in which a block can end. Each is a set of blocks that get lanes; `certain`: at least one lane goes on. */
struct mr_flow_exit {
    const uint32_t *targets;
    uint32_t target_count;
    bool certain;
};

/* Ways of ending of a block given the present classes: `*count` of them; a divergent branch is one way with two
 * targets. */
uint32_t mr_flow_exit_count(const struct mr_flow *flow, const struct mr_flow_block *block);
struct mr_flow_exit mr_flow_exit_get(const struct mr_flow *flow, const struct mr_flow_block *block, uint32_t index);

/* Whether a branch on the terminator's guard (or table index) may split the lanes. */
bool mr_flow_diverges(const struct mr_flow *flow, const struct mr_flow_block *block);

/* The innermost loop around `block` that waits, MR_FLOW_NONE if none. */
uint32_t mr_flow_waiting_loop(const struct mr_flow *flow, uint32_t block);

/* Whether the block may begin a new round of a loop around it that waits, be that the innermost or not. */
bool mr_flow_ends_round(const struct mr_flow *flow, uint32_t block);

/* Whether an instruction does something besides giving registers values and saying what runs next. What a call runs,
 * and which memory a store changes, is for the caller to ask. */
bool mr_flow_acts(const struct mr_ptx_inst *inst);

/* idle.c: whether a loop can go round without changing anything that it goes by; after mr_flow_liveness. -1 when memory
 * is short. */
int mr_flow_idles(const struct mr_flow *flow, const struct mr_flow_loop *loop) __attribute__((warn_unused_result));

/* steady.c: finds the loops that wait whose stores are no progress, and flow->polls; after mr_flow_waits. False when
 * memory is short. */
bool mr_flow_steady(struct mr_flow *flow) __attribute__((warn_unused_result));
/* Whether the block stands in such a loop. */
bool mr_flow_stores_steadily(const struct mr_flow *flow, uint32_t block);

/* rounds.c: finds each loop's `rounds`; after mr_flow_order. */
void mr_flow_rounds(struct mr_flow *flow);

/* Whether a loop is one of lanes that wait at a barrier by themselves (MR_PTX_MODE_TEST). */
bool mr_flow_tests_barrier(const struct mr_flow *flow, uint32_t loop);

/* Calls visit(data, register, is_definition) for every register of an instruction, the carry flag included. */
typedef void mr_flow_visit(void *data, uint32_t reg, bool is_definition);
void mr_flow_registers(const struct mr_flow *flow, const struct mr_ptx_inst *inst, mr_flow_visit *visit, void *data);

/* After mr_flow_liveness: the registers that are live behind an instruction, into `live`, which is all zeros; none if
 * it can't be reached. */
void mr_flow_live_after(const struct mr_flow *flow, uint32_t inst, mr_word *live);

/* What a load of a block decides, for certain, whenever it is run; bits. 0: not known. */
enum mr_flow_decides {
    MR_FLOW_DECIDES_WAY = 1, /* whether a branch is taken */
    MR_FLOW_DECIDES_PLACE = 2, /* at which address memory is accessed */
};
unsigned mr_flow_decides(const struct mr_flow *flow, uint32_t block, const struct mr_ptx_inst *load);

/* grids.c: whether the instruction waits for the grids before; fills past_grids (after mr_flow_order), false when
 * memory is short; whether lanes may have waited so when they come to an instruction of a block. */
bool mr_flow_awaits_grids(const struct mr_ptx_inst *inst);
bool mr_flow_grids(struct mr_flow *flow) __attribute__((warn_unused_result));
bool mr_flow_is_past_grids(const struct mr_flow *flow, uint32_t block, const struct mr_ptx_inst *inst);

/* Class of an operand read as a source, and of what an instruction puts into its destinations. */
struct mr_class mr_flow_operand_class(const struct mr_flow *flow, const struct mr_ptx_operand *operand);
struct mr_class mr_flow_result_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst);
struct mr_class mr_flow_register_class(const struct mr_flow *flow, uint32_t reg);

/* Rows that make up a warp in blocks of that shape. */
unsigned mr_flow_shape_rows(unsigned shape);

/* Bytes between two lanes' copies of a parameter that is an array of any size: as many as the module's largest argument
 * for one has, and not less than callers reckon with that pass nothing. */
uint64_t mr_flow_open_stride(const struct mr_ptx_module *module);

/* Bytes between two lanes' copies of a .local or .param variable. */
uint64_t mr_flow_lane_stride(const struct mr_ptx_var *var);

/* Whether each lane has its own copy: .local, and .param except for a kernel's own parameters. */
bool mr_flow_is_per_lane(const struct mr_ptx_var *var);

/* All passes over one function. False when memory is short (the flow is then empty). */
bool mr_flow_build(struct mr_flow *flow, const struct mr_ptx_function *func, const struct mr_flow_facts *facts,
                   unsigned shape) __attribute__((warn_unused_result));
void mr_flow_clear(struct mr_flow *flow);

/* Fills facts[func->index] for every function of the module that has a body. False when memory is short. */
bool mr_flow_facts_find(const struct mr_ptx_module *module, struct mr_flow_facts *facts)
    __attribute__((warn_unused_result));

/* Whether a kernel gains by running two warps as one of 64 lanes; whether it may at all: see pair.c. `turns`: its warps
 * take turns at its barriers. */
bool mr_flow_pairs_pay(const struct mr_flow *flow);
bool mr_flow_pairs_fit(const struct mr_flow *flow, bool turns);

/* byte_places.c: whether what is in the address register comes from a byte in a register, base + scale * byte (modulo
 * 2^32), where instruction `inst` of the block uses it; byte and base still stand in their registers there. */
struct mr_flow_byte_places {
    uint32_t reg; /* holds the byte, in its lowest bits */
    unsigned scale; /* 1, 2, 4 or 8 */
    const struct mr_ptx_operand *base; /* the same for all lanes; NULL: 0 */
    int64_t offset; /* of the address operand, besides */
};
bool mr_flow_byte_places_find(const struct mr_flow *flow, uint32_t block, uint32_t inst,
                              const struct mr_ptx_operand *address, struct mr_flow_byte_places *places);

/* block_steps.c: how far registers go on from a block of threads to the next one along x, a guess: by register. NULL
 * when memory is short; freed with mr_free. */
#define MR_FLOW_BLOCK_STEP_MAX (INT64_C(1) << 31)
#define MR_FLOW_BLOCK_STEP_ANY MR_FLOW_BLOCK_STEP_MAX /* not known */
#define MR_FLOW_BLOCK_STEP_NONE (MR_FLOW_BLOCK_STEP_MAX + 1) /* never written */
int64_t *mr_flow_block_steps(const struct mr_flow *flow) __attribute__((warn_unused_result));

/* near.c: registers whose numbers probably lie near each other in a warp, a guess. NULL when memory is short; freed
 * with mr_free. */
mr_word *mr_flow_near(const struct mr_flow *flow) __attribute__((warn_unused_result));

/* regions.c: whether the warps of a kernel can take turns from barrier to barrier in one call; the number of a barrier
 * in such a kernel. */
bool mr_flow_regions_fit(const struct mr_flow *flow, const struct mr_layout_entry *entry);
uint32_t mr_flow_barrier_number(const struct mr_ptx_inst *inst);

/* Whether all lanes of a warp leave the function together; whether no other lanes can be parked while the block runs.
 */
bool mr_flow_lanes_stay(const struct mr_flow *flow);
bool mr_flow_runs_alone(const struct mr_flow *flow, uint32_t block);

/* How a register is made anew where its warp goes on. */
struct mr_flow_remake {
    uint32_t writer; /* the one instruction that writes it, MR_FLOW_NONE if there is none or are several */
    uint32_t writers; /* instructions that write it */
    uint32_t steps; /* instructions that make it from what never changes; 0: it has to be kept */
};

/* Fills `remake`, by register; whether `head` begins a loop that strides over memory. A warp waits at the barrier in a
 * block, or at the block's start if no barrier stands there: what lives when it goes on, and what of that it has to
 * keep. */
void mr_flow_remakes(const struct mr_flow *flow, struct mr_flow_remake *remake);
bool mr_flow_strides(const struct mr_flow *flow, uint32_t head);
const mr_word *mr_flow_live_behind(const struct mr_flow *flow, uint32_t block);
void mr_flow_kept(const struct mr_flow *flow, const struct mr_flow_remake *remake, uint32_t block, mr_word *set);

/* stack.c: whether an instruction moves the stack pointer, and whether any of a function does. */
bool mr_flow_is_stack_op(unsigned op);
bool mr_flow_moves_stack(const struct mr_ptx_function *func);

/* The passes, in the order in which mr_flow_build() runs them. */
bool mr_flow_order(struct mr_flow *flow) __attribute__((warn_unused_result));
bool mr_flow_liveness(struct mr_flow *flow) __attribute__((warn_unused_result));
bool mr_flow_waits(struct mr_flow *flow) __attribute__((warn_unused_result));
bool mr_flow_classes(struct mr_flow *flow) __attribute__((warn_unused_result));
bool mr_flow_pending(struct mr_flow *flow) __attribute__((warn_unused_result));

#endif
