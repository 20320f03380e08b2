/* SPDX-License-Identifier: Apache-2.0 */
/* The ABI between generated code and the engine. Both sides include this file; the code generator reads offsets with
 * offsetof.
 *
 * A kernel compiles to one function that runs a run of consecutive warps of one block:
 *
 *     void kernel(struct mr_block *block, uint32_t first_warp, uint32_t end_warp);
 *
 * A warp is 32 lanes. Lane l of warp w is the thread with linear number 32 * w + l; lanes at or past block->threads do
 * not exist. The function keeps registers as SIMD values over the 32 lanes. If MR_CODE_COOPERATIVE is clear, it is
 * called with all warps of a block at once: the kernel has neither barriers nor waiting loops, or its warps take turns
 * at barriers within the function. Otherwise it is called once per warp, each on a stack of its own (fiber), and the
 * runtime functions below may switch to another warp of the block before they return. All state of a warp is on its
 * stack.
 *
 * Generated code has no external symbols: it reaches the runtime through block->runtime, module variables and function
 * addresses through block->symbols so that an object file can be cached on disk and loaded anywhere. (64-bit hosts
 * only.) */
#ifndef MR_ABI_ABI_H
#define MR_ABI_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "abi/note.h"

#define MR_WARP_LANES 32u
#define MR_LANE_STACK \
    8192u /* least bytes for alloca of each lane: a code's estimate of its stack has that many, and the context's \
             limit comes on top */
#define MR_ABI_VERSION 23   /* part of the disk cache's key; raise it with every change here */

/* Most warps of one call, where the code runs several blocks (MR_CODE_BLOCKS): enough for long streams, few enough to
 * notice soon that a context has failed. */
#define MR_CALL_WARPS 512u

struct mr_block;

/* The barrier by which the blocks of a cooperative launch wait for each other. The layout is the one that
 * cooperative_groups.h relies on: the kernel counts arrivals in `barrier`, whose top bit flips each time that all
 * blocks have come. */
struct mr_grid_workspace {
    uint32_t size;                      /* of this record */
    uint32_t barrier;
};

/* What a kernel writes down to launch another, of the same module; the parameters follow, laid out as in the kernel's
 * declaration. cuda_device_launches.h and ptx/device_runtime.c have the same layout. */
struct mr_launch_record {
    uint64_t kernel;                    /* the address of the kernel, as code has it */
    uint32_t grid[3], block[3], shared; /* shared: bytes of dynamic shared memory */
    uint32_t unused[7];
};

/* What a texture or surface instruction wants, in one number: see MR_IMAGE_FIELDS. */
enum mr_image_op {
    MR_IMAGE_TEX,
    MR_IMAGE_GATHER,
    MR_IMAGE_LOAD,
    MR_IMAGE_STORE,
    MR_IMAGE_REDUCE,
    MR_IMAGE_ASK,
    MR_IMAGE_IS
};
enum mr_image_geom {
    MR_IMAGE_1D = 1,
    MR_IMAGE_2D,
    MR_IMAGE_3D,
    MR_IMAGE_A1D,
    MR_IMAGE_A2D,
    MR_IMAGE_CUBE,
    MR_IMAGE_ACUBE
};
enum mr_image_result {
    MR_IMAGE_WORD,
    MR_IMAGE_HALF,
    MR_IMAGE_HALVES
};       /* of a texture: 32 bits a channel, 16 bits, or two channels in 32 bits */
enum mr_image_detail { MR_IMAGE_BASE, MR_IMAGE_LEVEL, MR_IMAGE_GRADIENT };
enum mr_image_outside { MR_IMAGE_TRAP, MR_IMAGE_CLAMP, MR_IMAGE_ZERO };
enum mr_image_reduce { MR_IMAGE_ADD, MR_IMAGE_MIN, MR_IMAGE_MAX, MR_IMAGE_AND, MR_IMAGE_OR };
enum mr_image_question {
    MR_IMAGE_WIDTH,
    MR_IMAGE_HEIGHT,
    MR_IMAGE_DEPTH,
    MR_IMAGE_NORMALIZED,
    MR_IMAGE_LAYERS,
    MR_IMAGE_LEVELS,
    MR_IMAGE_TYPE,
    MR_IMAGE_ORDER,
    MR_IMAGE_FILTER,
    MR_IMAGE_ADDRESS_X,
    MR_IMAGE_ADDRESS_Y,
    MR_IMAGE_ADDRESS_Z,
    MR_IMAGE_ONE,
    MR_IMAGE_NOTHING,
    MR_IMAGE_LINEAR
};

/* X(name, first bit, bits) */
#define MR_IMAGE_FIELDS(X) \
    X(OP, 0, 3)            /* enum mr_image_op */ \
    X(GEOM, 3, 3)          /* enum mr_image_geom */ \
    X(RESULT, 6, 2)        /* enum mr_image_result */ \
    X(FLOAT_AT, 8, 1)      /* coordinates (and levels) are f32, else s32 */ \
    X(DETAIL, 9, 2)        /* enum mr_image_detail */ \
    X(OFFSET, 11, 1)       /* there are offsets */ \
    X(CHANNEL, 12, 2)      /* of a gather */ \
    X(OUTSIDE, 14, 2)      /* enum mr_image_outside */ \
    X(FORMATTED, 16, 1)    /* sust.p, sured.p */ \
    X(BYTES, 17, 2)        /* log2 of the bytes of an element of the access */ \
    X(COUNT, 19, 2)        /* log2 of its elements */ \
    X(REDUCE, 21, 3)       /* enum mr_image_reduce */ \
    X(SIGNED, 24, 1)       /* of a reduction */ \
    X(SURFACE, 25, 1)      /* a question is for a surface */ \
    X(QUESTION, 26, 4)     /* enum mr_image_question; for MR_IMAGE_IS: 0 texture, 1 sampler, 2 surface */

enum {
#define X(name, first, bits) MR_IMAGE_##name##_AT = (first), MR_IMAGE_##name##_BITS = (bits),
    MR_IMAGE_FIELDS(X)
#undef X
};

#define MR_IMAGE_PUT(name, value) ((uint32_t)(value) << MR_IMAGE_##name##_AT)
#define MR_IMAGE_GET(code, name) ((code) >> MR_IMAGE_##name##_AT & ((1u << MR_IMAGE_##name##_BITS) - 1))

/* Operands and results of such an instruction, by lane. Only what the instruction has is filled in. */
struct mr_image_lanes {
    uint64_t handle[MR_WARP_LANES];
    uint32_t at[4]
               [MR_WARP_LANES]; /* coordinates, f32 or s32; in front of them the layer, u32, if the geometry has one */
    uint32_t level[4][MR_WARP_LANES]; /* level of detail in the first row; or the gradient along x, f32 */
    uint32_t along_y[4][MR_WARP_LANES];
    uint32_t offset[4][MR_WARP_LANES]; /* s32 */
    uint64_t data[4][MR_WARP_LANES]; /* results, or what is stored: the low bits */
};

/* What a copy of a part of a tensor does, in one number: see MR_TENSOR_FIELDS. */
enum mr_tensor_op { MR_TENSOR_LOAD, MR_TENSOR_STORE /* or reduces */ };
enum mr_tensor_mode { MR_TENSOR_TILE, MR_TENSOR_COLUMNS, MR_TENSOR_ROWS, MR_TENSOR_WIDE };

/* X(name, first bit, bits) */
#define MR_TENSOR_FIELDS(X) \
    X(OP, 0, 1) /* enum mr_tensor_op */ \
    X(MODE, 1, 2) /* enum mr_tensor_mode */ \
    X(RANK, 3, 3) /* of the tensor */ \
    X(REDUCE, 6, 4) /* enum mr_reduce */

enum {
#define X(name, first, bits) MR_TENSOR_##name##_AT = (first), MR_TENSOR_##name##_BITS = (bits),
    MR_TENSOR_FIELDS(X)
#undef X
};

#define MR_TENSOR_PUT(name, value) ((uint32_t)(value) << MR_TENSOR_##name##_AT)
#define MR_TENSOR_GET(code, name) ((code) >> MR_TENSOR_##name##_AT & ((1u << MR_TENSOR_##name##_BITS) - 1))

/* Operands of such a copy, by lane. Only what the instruction has is filled in. */
struct mr_tensor_lanes {
    uint64_t map[MR_WARP_LANES]; /* address of the tensor map */
    uint64_t shared[MR_WARP_LANES]; /* in shared memory */
    uint64_t barrier[MR_WARP_LANES]; /* of a load: the mbarrier */
    int32_t at[5][MR_WARP_LANES]; /* coordinates; of four rows a column, then the rows */
    uint32_t offset[3][MR_WARP_LANES]; /* of pixels in columns, 16 bits without a sign */
};

/* Runtime services, called with the C calling convention. `mask` has a bit per active lane. Vectors of lanes are passed
 * by pointer to 32 elements. */
struct mr_runtime {
    /* bar.sync / barrier.sync and .red: waits until `threads` threads (0: all of the block that have not exited) have
     * arrived at barrier `id` (0..15). `op`: 0 sync, 1 red.popc, 2 red.and, 3 red.or, with MR_BARRIER_PER_THREAD for
     * `barrier` without .aligned (else an arrival of some of a warp's lanes counts for all of them); `pred` the lanes
     * whose predicate is true. Returns the reduction (popc count, or 0/1). */
    uint32_t (*barrier_sync)(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op,
                             uint32_t pred);
    /* bar.arrive: arrives without waiting. `op`: 0 or MR_BARRIER_PER_THREAD. */
    void (*barrier_arrive)(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op);
    /* Where lanes of one warp may be at barriers of different numbers. barrier_join arrives, each lane at its own
     * (id[l], threads[l]), and does not wait; barrier_test says which lanes of `mask` may go on, result[l] being their
     * reductions. It stops the warp if all its lanes wait. The lanes that go on then may be others than those of
     * `mask`: the caller asks for these next. */
    void (*barrier_join)(struct mr_block *block, const uint32_t *id, const uint32_t *threads, uint32_t mask,
                         uint32_t op, uint32_t pred);
    uint32_t (*barrier_test)(struct mr_block *block, uint32_t mask, uint32_t *result);
    /* Lanes leave the kernel before its end (exit/ret in part of the warp is reported when the warp function returns:
     * mask = all). Called only in cooperative kernels. */
    void (*lanes_exit)(struct mr_block *block, uint32_t mask);
    /* Called from loops that may wait for another warp, block or stream, every few hundred rounds, and by nanosleep.
     * Lets others run. */
    void (*yield)(struct mr_block *block);
    /* Ends the launch with a fault: enum mr_trap. Does not return. `pc_line` is the PTX line or 0. */
    void (*trap)(struct mr_block *block, uint32_t kind, uint32_t pc_line) __attribute__((noreturn));
    /* vprintf for each active lane: format[l] and arguments[l] are generic addresses; result[l] gets the return value.
     */
    void (*print)(struct mr_block *block, uint32_t mask, const uint64_t *format, const uint64_t *arguments,
                  int32_t *result);
    /* malloc, or with alignments __cuda_syscall_aligned_malloc, and free for each active lane. */
    void (*allocate)(struct mr_block *block, uint32_t mask, const uint64_t *size, const uint64_t *alignment,
                     uint64_t *result);
    void (*release)(struct mr_block *block, uint32_t mask, const uint64_t *pointer);
    /* __assertfail: message, file, line, function name, of the lowest active lane, whose linear thread number is
     * `thread`. Does not return. */
    void (*assert_fail)(struct mr_block *block, const char *message, const char *file, uint32_t line,
                        const char *function, uint32_t thread) __attribute__((noreturn));
    /* cudaGraphSetConditional for each active lane; a fault if the handle does not belong to a graph that runs. */
    void (*set_conditional)(struct mr_block *block, uint32_t mask, const uint64_t *handle, const uint32_t *value);
    /* __millrace_launch for each active lane: record[l] is the address of a struct mr_launch_record, stream[l] the
     * stream's handle inside kernels; result[l] is a cudaError_t. */
    void (*launch)(struct mr_block *block, uint32_t mask, const uint64_t *record, const uint64_t *stream,
                   uint32_t *result);
    /* Nanoseconds of the global timer, and a cycle-like counter. */
    uint64_t (*global_timer)(void);
    uint64_t (*clock64)(void);
    /* nanosleep of about `ns` nanoseconds (others run meanwhile). */
    void (*nanosleep)(struct mr_block *block, uint32_t ns);
    /* Textures and surfaces, for each active lane; `line` is the PTX line. */
    void (*image)(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line, struct mr_image_lanes *lanes);
    /* An operation (enum mr_mbarrier_operation) on the mbarrier at each active lane's address. value[l]: count, bytes,
     * token or parity; result[l]: token, or whether the phase is over. MR_MBARRIER_TRY* let other warps run if it is
     * not. */
    void (*mbarrier)(struct mr_block *block, uint32_t operation, uint32_t mask, const uint64_t *address,
                     const uint64_t *value, uint64_t *result);
    /* cp.async with a source shorter than the destination: reads[l] bytes of `bytes`, then zeros. */
    void (*copy_part)(struct mr_block *block, uint32_t mask, uint32_t bytes, const uint64_t *to, const uint64_t *from,
                      const uint32_t *reads);
    /* cp.async.bulk and cp.reduce.async.bulk for each active lane; `reduce` is an enum mr_reduce, `number` an enum
     * mr_number. The mbarrier at barrier[l] hears of the bytes; barrier is NULL where the destination is global memory.
     */
    void (*copy_bulk)(struct mr_block *block, uint32_t reduce, uint32_t number, uint32_t mask, const uint64_t *to,
                      const uint64_t *from, const uint32_t *size, const uint64_t *barrier);
    /* cp.async.bulk with .cp_mask: of each 16 bytes those that the lane's mask names. */
    void (*copy_masked)(struct mr_block *block, uint32_t mask, const uint64_t *to, const uint64_t *from,
                        const uint32_t *size, const uint32_t *bytes);
    /* tensormap.replace: a number (enum mr_map_field) of the map at each active lane's address. */
    void (*change_map)(struct mr_block *block, uint32_t mask, uint32_t field, uint32_t dimension, uint32_t line,
                       const uint64_t *map, const uint64_t *value);
    /* clusterlaunchcontrol.try_cancel: each active lane takes over a block that has not begun. Four words at answer[l]:
     * 1 and the block's place, or zeros; the mbarrier hears of them. */
    void (*cancel)(struct mr_block *block, uint32_t mask, const uint64_t *answer, const uint64_t *barrier);
    /* cp.async.bulk.tensor and its reductions for each active lane; `line` is the PTX line. */
    void (*copy_tensor)(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line,
                        const struct mr_tensor_lanes *lanes);
    /* barrier.cluster in a cluster of one block. */
    void (*cluster_arrive)(struct mr_block *block, uint32_t mask);
    void (*cluster_wait)(struct mr_block *block, uint32_t mask);
    /* For large functions: of the blocks in front of which lanes are parked, the one that runs after block `at`;
     * MR_SCAN_NONE if there is none. `masks`: of all blocks. Nobody looks at `registers`: what is passed there has to
     * stay in memory. */
    uint32_t (*next_block)(struct mr_block *block, const void *masks, const void *registers, const uint32_t *table,
                           uint32_t at, uint32_t order);
    /* Notes of what is touched (abi/note.h), called before it is. A piece; lanes whose addresses step from the first
     * lane's on; lanes with any addresses; the same with the bytes of each; `rows` pieces that lie `pitch` bytes apart.
     * Masks have up to 64 bits, where two warps run as one. */
    void (*note_piece)(struct mr_block *block, uint32_t site, uint64_t address, uint32_t bytes);
    void (*note_steps)(struct mr_block *block, uint32_t site, uint64_t address, uint64_t step, uint64_t mask);
    void (*note_lanes)(struct mr_block *block, uint32_t site, const uint64_t *address, uint64_t mask);
    void (*note_sizes)(struct mr_block *block, uint32_t site, const uint64_t *address, const uint32_t *bytes,
                       uint64_t mask);
    void (*note_rows)(struct mr_block *block, uint32_t site, uint64_t address, uint64_t bytes, uint32_t rows,
                      uint64_t pitch);
};

/* The table of next_block: the words of the head, a word for each block (its innermost loop; marked if the block is a
 * barrier), three for each loop: its first block, the one behind its last, the loop around it (marked if this one may
 * wait for other threads). */
enum { MR_SCAN_BLOCKS, MR_SCAN_WIDE /* masks have 64 bits */, MR_SCAN_HEAD };
#define MR_SCAN_MARK 0x80000000u
#define MR_SCAN_NO_LOOP 0x7fffffffu
#define MR_SCAN_NONE UINT32_MAX
/* The order's lowest two bits. Of a draw the rest, 16 bits, is a number drawn; barriers are no candidates, unless there
 * is nothing else. */
enum { MR_SCAN_ORDER_USUAL, MR_SCAN_ORDER_OUTSIDE, MR_SCAN_ORDER_BARRIERS, MR_SCAN_ORDER_DRAWN };
#define MR_SCAN_ORDER_BITS 2

enum mr_mbarrier_operation {
    MR_MBARRIER_INIT,
    MR_MBARRIER_INVAL,
    MR_MBARRIER_EXPECT_TX,
    MR_MBARRIER_COMPLETE_TX,
    MR_MBARRIER_ARRIVE,
    MR_MBARRIER_ARRIVE_EXPECT_TX,
    MR_MBARRIER_ARRIVE_DROP,
    MR_MBARRIER_ARRIVE_DROP_EXPECT_TX,
    MR_MBARRIER_COPY_ARRIVE,
    MR_MBARRIER_TEST,
    MR_MBARRIER_TEST_PARITY,
    MR_MBARRIER_TRY,
    MR_MBARRIER_TRY_PARITY
};
#define MR_MBARRIER_PENDING 0xfffffu /* bits of a token that hold the pending arrivals */

enum mr_reduce {
    MR_REDUCE_NONE,
    MR_REDUCE_ADD,
    MR_REDUCE_MIN,
    MR_REDUCE_MAX,
    MR_REDUCE_INC,
    MR_REDUCE_DEC,
    MR_REDUCE_AND,
    MR_REDUCE_OR,
    MR_REDUCE_XOR,
    MR_REDUCE_ZERO /* no source: zeros */
};
/* What tensormap.replace replaces, in the order of MR_PTX_MODE_MAP_*. */
enum mr_map_field {
    MR_MAP_ADDRESS,
    MR_MAP_RANK,
    MR_MAP_BOX,
    MR_MAP_SIZE,
    MR_MAP_STRIDE,
    MR_MAP_STEP,
    MR_MAP_TYPE,
    MR_MAP_INTERLEAVE,
    MR_MAP_SWIZZLE,
    MR_MAP_FILL
};

enum mr_number {
    MR_NUMBER_U32,
    MR_NUMBER_S32,
    MR_NUMBER_U64,
    MR_NUMBER_S64,
    MR_NUMBER_F32,
    MR_NUMBER_F64,
    MR_NUMBER_F16,
    MR_NUMBER_BF16
};

#define MR_BARRIER_PER_THREAD 4u

enum mr_trap {
    MR_TRAP_TRAP = 1,
    MR_TRAP_BAD_CALL,
    MR_TRAP_UNREACHABLE,
    MR_TRAP_BREAKPOINT,
    MR_TRAP_ASSERT,
    MR_TRAP_STACK,
    MR_TRAP_MISALIGNED,
    MR_TRAP_DEADLOCK,
    MR_TRAP_NO_MEMBER, /* of the warp operation that it came to, by the mask */
    MR_TRAP_NO_BLOCK, /* that a copy is for */
    MR_TRAP_NO_MULTICAST /* a load of several devices' memory from an address of one */
};

/* What a block's warps share. Filled by the engine for each block; cheap to reuse for the next. Generated code reads,
 * and writes nothing but ctaid[0] where it runs several blocks in one call, and what reports of faults need. */
struct mr_block {
    const struct mr_runtime *runtime;
    const unsigned char *params; /* the kernel's parameter block, 16-byte aligned */
    unsigned char *shared; /* shared window: static variables first, then dynamic memory; 256-byte aligned. .shared
                              addresses are offsets into it */
    const uintptr_t *symbols; /* address of each module variable and function, by the program's symbol index */
    uint32_t ntid[3], nctaid[3], ctaid[3];
    uint32_t threads; /* ntid[0]*ntid[1]*ntid[2] */
    uint32_t warps; /* (threads + 31) / 32 */
    uint32_t shared_size; /* static + dynamic bytes */
    uint32_t dynamic_shared_size;
    uint32_t
        dynamic_shared_offset; /* where dynamic shared memory begins (after the static part, aligned to 16 at least) */
    uint32_t more_blocks; /* blocks behind this one along x that the call runs too, with ctaid[0] counted up; 0 unless
                             MR_CODE_BLOCKS is set */
    uint32_t warp_limit; /* code with MR_CODE_PARTS begins no warp from this one on */
    uint32_t worker; /* %smid: number of the executing worker */
    uint32_t lane_stack; /* bytes that alloca has for each lane, at least MR_LANE_STACK, a multiple of 64 */
    uint64_t grid_id; /* %gridid */
    void *engine; /* the executor's own record */
    struct mr_grid_workspace
        *grid_workspace; /* %envreg1 (high half) and %envreg2: NULL unless the launch is cooperative */
    /* For reports of faults. */
    uint32_t warp; /* the warp that began or went on last; where two run as one, the first of them */
    uint32_t service_line; /* PTX line of the latest call of a service; 0: there was none */
    uint32_t access_bytes; /* the rest only in code that notes its accesses: of the latest, bytes of a lane, 0: there is
                              none; */
    uint64_t access_mask; /* the lanes that took part, */
    const uint64_t *access; /* and the address of each lane of `warp` */
    struct mr_note *notes; /* of the warp at hand, by site; only for code that makes notes (mr_code.sites) */
    uint32_t site; /* such code's, before it calls a service that touches memory of its own accord */
    uint32_t left_wait; /* code sets it to 1 when lanes have left a loop that waits, and no such loop is around it */
    uint32_t changed_wait; /* likewise when they have changed memory in one, and may get further by it */
};

/* Flags of compiled code. */
enum {
    MR_CODE_COOPERATIVE = 1u << 0, /* needs a stack per warp: has barriers whose arrivals must be counted, or loops that
                                      may wait for other warps */
    MR_CODE_WAITS = 1u << 1, /* has loops that may wait for other blocks or streams (volatile/atomic polling) */
    MR_CODE_BLOCKS = 1u << 2, /* may run several blocks in one call: mr_block.more_blocks */
    MR_CODE_STRIDES =
        1u << 3, /* of those: the more blocks in one call the better, for they go through memory side by side */
    MR_CODE_LOW_STACK =
        1u << 4, /* has addresses of local variables or parameters in 32 bits: its stacks must lie below 4 GiB */
    MR_CODE_MAY_WAIT =
        1u << 5, /* has loops that end by what they load, so that they may wait for others by plain loads */
    MR_CODE_PARTS = 1u << 6, /* of those: its warps run one after the other, and the call can be told to end behind the
                                one at hand: mr_block.warp_limit */
    MR_CODE_PAIRS = 1u << 7, /* runs two warps as one */
    MR_CODE_ALIGNED = 1u << 8, /* parameters or shared variables ask for more than 16 and 256 bytes: they begin at
                                  multiples of 128 and 1024 then */
    MR_CODE_LAUNCHES = 1u << 9, /* may launch kernels */
};

typedef void mr_kernel_function(struct mr_block *block, uint32_t first_warp, uint32_t end_warp);

/* For functions that call generated code. UndefinedBehaviorSanitizer's check of function types reads a mark in front of
 * the function, which only clang's own C functions have: in front of generated code there may be no memory at all. */
#ifdef __clang__
#define MR_CALLS_GENERATED __attribute__((no_sanitize("function")))
#else
#define MR_CALLS_GENERATED
#endif

/* Calls a kernel's function. */
MR_CALLS_GENERATED static inline void mr_kernel_call(mr_kernel_function *function, struct mr_block *block,
                                                     uint32_t first_warp, uint32_t end_warp)
{
    function(block, first_warp, end_warp);
}

struct mr_tier;

/* Machine code of one kernel for a class of block shapes; made by mr_program_code, lives as long as its program. */
struct mr_code {
    mr_kernel_function *function;
    unsigned flags; /* MR_CODE_* */
    const void *text; /* where its instructions are, with those of the functions that it calls; NULL: not known */
    size_t text_bytes;
    size_t stack_bytes; /* estimate of one warp's stack need, at least 16 KiB */
    const char *name; /* of the kernel, for the log; lives as long as the code; may be NULL */
    struct {
        uint32_t registers, local, shared; /* of a thread: registers, bytes; bytes of a block. For observers */
    } uses;
    /* The PTX line that the instruction at an address belongs to, 0 if that is not known; may be NULL. Takes a while:
     * for reports. */
    uint32_t (*line_of)(const struct mr_code *code, uintptr_t address);
    /* The line of the kernel's own source that a PTX line was made of, with the file's name (cut to the room), where
     * the module tells (.loc); else 0. May be NULL. Takes a while: it may read the PTX again. */
    uint32_t (*source_of)(const struct mr_code *code, uint32_t line, char *file, size_t room);
    const struct mr_sites *sites; /* where it touches memory, if it makes notes of that; else NULL */
    const uint32_t *places; /* of these sites, as observers call them (mr_access.place); by site */
    struct mr_tier *tier; /* of a first version, made in a hurry: abi/tier.h; NULL: this one stays */
};

#endif
