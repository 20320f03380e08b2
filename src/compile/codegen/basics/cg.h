/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the files that make LLVM IR share.
 *
 * A PTX register lives in one or two stack slots, which LLVM's promotion pass
 * turns into values: a scalar (UNIFORM), base and break (AFFINE) or a vector of
 * 32 lanes (VARYING). An instruction is emitted once for either form: `lanes` is
 * 1 when its result is uniform and 32 otherwise, and the helpers here give
 * types, constants and operands in that form, so that the same call builds
 * `fadd float` or `fadd <32 x float>`.
 *
 * (32 is `unit->width`: some kernels run two warps as one of 64 lanes, see pair.c.)
 *
 * Two masks of 32 bits matter. `mask` has the lanes that run the block and is
 * never empty; `exec` is what is left of it under the instruction's guard. Only
 * what can be seen from outside (memory, runtime calls) looks at them at once;
 * arithmetic runs in all lanes, and cg_write() keeps old values where they are
 * still wanted (see flow.h).
 *
 *   unit.c          one object: module, functions, entry into the library
 *   body.c          prologue, blocks, one instruction after the other
 *   value.c         operands, results, classes, constants
 *   control.c       what happens at the end of a block
 *   blocks.c        kernels that run several blocks in one call
 *   turns.c  warps that take turns at barriers without stacks of their own
 *   emit_*.c        instructions by family; each returns false for what it does not know
 *   math.c          functions that hardware approximates
 *   inline.c        functions that wait, taken into the kernel
 *   lines.c         which PTX line code comes from
 *   stepped.c       values that step by what only the running code knows
 *   nan.c           which registers may hold NaNs other than hardware's; rounding.c  arithmetic that is rounded in a given direction
 *   optimise.c      LLVM's passes; mend.c  around one of its mistakes; target.c  the processor; object.c  the object file
 */
#ifndef MR_COMPILE_CODEGEN_BASICS_CG_H
#define MR_COMPILE_CODEGEN_BASICS_CG_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

#include "compile/codegen.h"
#include "compile/codegen/analysis/flow.h"

#define CG_LANES 32u     /* of a warp */
#define CG_LANES_MAX 64u /* of two warps that run as one: see pair.c */
#define CG_SCRATCH 8
#define CG_ROWS_MAX 4u   /* of a warp */

/* One object being made. */
struct cg_unit {
    const struct mr_codegen_request *request;
    const struct mr_layout_entry *entry;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    struct cg_machine *taken;    /* target.c: whose it is */
    LLVMDIBuilderRef lines;      /* lines.c: what it builds with; the PTX as a file; the type of all functions */
    LLVMMetadataRef file, no_types;
    LLVMTypeRef void_type, i1, i8, i16, i32, i64, f16, f32, f64, ptr;
    bool regions;          /* the kernel's warps take turns in one call: see turns.c */
    LLVMValueRef *callees; /* by function->index; NULL = not reachable */
    struct mr_flow_facts *facts;
    unsigned flags;        /* MR_CODE_* */
    unsigned width;        /* lanes that run together: CG_LANES, or CG_LANES_MAX */
    LLVMTypeRef mask;      /* integer with a bit per lane */
    bool allocas;          /* a function that can be reached moves the stack pointer: see stack.c */
    unsigned narrow;       /* spaces with addresses of 32 bits: see narrow.h */
    bool wide;             /* 512-bit vectors with masks: gathers and scatters are instructions */
    uint64_t frame_bytes;  /* the sum of all functions' stack slots, and of what may be spilled */
    uint64_t frames;       /* the sum of the frames that LLVM made */
    uint64_t lane_stacks;  /* memory for alloca of all lanes, at least; in neither sum */
    char error[256];       /* empty as long as all is well */
};

/* One function being emitted. */
struct cg {
    struct cg_unit *unit;
    const struct mr_ptx_function *func;
    struct mr_flow flow;
    LLVMBuilderRef b;
    LLVMMetadataRef scope, place; /* lines.c: the function, and the line that what is built belongs to; NULL in helpers, which have none */
    LLVMValueRef fn;
    LLVMBasicBlockRef prologue; /* slots; ends with a jump that is added last */
    LLVMValueRef prologue_end;  /* slots and hoisted loads go before it */
    /* Hoisted into the prologue. */
    LLVMValueRef block, runtime, params, params_place /* what their addresses are */, shared, symbols, threads, ntid[3], ctaid[3], nctaid[3];
    LLVMValueRef state;         /* {i32 warp, i32 exited, ...}: see cg_state_type */
    LLVMValueRef stack_saved;   /* kernels with alloca: the lanes' memory; device functions: the stack pointers at the start */
    LLVMValueRef warp;          /* number of the warp, i32 */
    struct cg_blocks *blocks;   /* blocks.c; NULL: a call runs one block */
    LLVMValueRef tid[3];        /* scalars if linear or rows: of the first lane; else vectors */
    LLVMValueRef tid_slots[3];  /* the same in slots, where warps take turns; else NULL */
    struct cg_regions *regions; /* turns.c; NULL: a warp runs from its start to its end */
    LLVMValueRef *slots, *breaks; /* per register */
    bool *loose;                /* also: holds results of f32 arithmetic only, with any NaN (nan.c) */
    struct cg_contracted *contracted; /* per instruction (contract.h) */
    struct cg_parameter *parameters;  /* per register (parameters.h) */
    LLVMValueRef *var_slots;    /* per .local or .param variable: func->vars, then params, then returns */
    LLVMValueRef *parked;       /* per block: slot of its mask */
    bool crowded;               /* its blocks run from a dispatcher where the next one is not among the nearest: see dispatcher.c */
    LLVMValueRef parked_array, current, order, in_memory; /* crowded: all masks; the block that ran last; the order of what follows; registers' addresses; */
    LLVMValueRef scan_table, waiting_table; /* which blocks are barriers and in which loops they are; the waiting loop around each; NULL if nobody has asked yet */
    LLVMBasicBlockRef *entries, finish, dispatcher, direct; /* entries: per block; direct: goes on with the block whose number is in `current`, NULL if nobody does */
    LLVMValueRef rounds;        /* slot: rounds of waiting loops */
    LLVMValueRef matrices;      /* slot: operands of a product of matrices (emit/matrix.c) */
    LLVMValueRef arrived;       /* slot: lanes that wait behind a barrier for the last of their warp */
    int barriers_meet;          /* mr_flow_barriers_meet: 1 yes, -1 no, 0 not asked yet */
    LLVMValueRef early_true, *early; /* slots (control.c): those of them whose predicate holds; per block: who waits behind the barrier.red at its head */
    struct { LLVMTypeRef type; LLVMValueRef slot; unsigned uses; } scratch[CG_SCRATCH]; /* arrays of 32, by use */
    unsigned scratch_used;
    LLVMValueRef noted;         /* slot: addresses of the latest access (lines.c) */
    LLVMValueRef image_lanes;   /* struct mr_image_lanes, once an instruction needs it */
    uint64_t frame;             /* bytes of slots that stay in memory */
    /* The instruction at hand. */
    const struct mr_ptx_inst *inst;
    uint32_t at;                /* its block */
    unsigned lanes;             /* 1 or 32 */
    unsigned row;               /* which one affine values are asked for */
    bool looks;                 /* it sees the bits of its f32 operands (nan.c) */
    LLVMValueRef mask, mask_vector;
    LLVMValueRef exec, exec_vector;
    LLVMValueRef guard;         /* the guard as a value of its own class, NULL without */
    bool guard_varies;
};

/* A value of class UNIFORM or AFFINE: lane l holds base + stride * l (+ wrap from lane brk on). brk may be NULL if there is no wrap. Where a warp is several
 * rows, this is the value in one row, g->row, and l counts within it. */
struct cg_affine {
    struct mr_class c;
    LLVMValueRef base, brk;
};

/* value.c: types and constants in the form of the present instruction */
LLVMTypeRef cg_vector_type(LLVMTypeRef element, unsigned count);
LLVMTypeRef cg_type(const struct cg *g, LLVMTypeRef element);
LLVMTypeRef cg_element(LLVMValueRef value);
static inline bool cg_is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}
LLVMTypeRef cg_reg_type(const struct cg *g, unsigned ptx_type);
/* What stands for it where a function passes it in a register: a byte for a predicate. */
LLVMTypeRef cg_passed_type(const struct cg *g, unsigned ptx_type);
LLVMTypeRef cg_int_type(const struct cg *g, unsigned bits);
LLVMValueRef cg_int(const struct cg *g, LLVMTypeRef element, uint64_t value);
LLVMValueRef cg_real(const struct cg *g, LLVMTypeRef element, double value);
LLVMValueRef cg_splat(const struct cg *g, LLVMValueRef scalar);
LLVMValueRef cg_lane_numbers(const struct cg *g, LLVMTypeRef element, int64_t stride);
LLVMValueRef cg_cast_bits(const struct cg *g, LLVMValueRef value, LLVMTypeRef element);
/* Reinterprets a register's value: same width as it is, wider cut to its low bits, narrower extended by zeros. */
LLVMValueRef cg_as_element(struct cg *g, LLVMValueRef value, LLVMTypeRef element);
/* Zero- or sign-extends or truncates an integer to `element`, in the value's own form. */
LLVMValueRef cg_resize(const struct cg *g, LLVMValueRef value, LLVMTypeRef element, bool is_signed);
unsigned cg_bits(LLVMTypeRef type);
LLVMValueRef cg_shuffle_parts(const struct cg *g, LLVMValueRef wide, unsigned parts, unsigned part);

/* nan.c: fills `loose` (false when memory is short); whether an instruction gives NaNs that need mending; whether it looks at the bits
 * of its operands; the value with hardware's NaN in place of any other. */
bool cg_nan_prepare(struct cg *g);
bool cg_nan_is_arithmetic(const struct mr_ptx_inst *inst);
bool cg_nan_looks(const struct cg *g, const struct mr_ptx_inst *inst);
LLVMValueRef cg_nan_mended(struct cg *g, LLVMValueRef value);

/* value.c: a call of an intrinsic overloaded on the given types (in the form of `lanes` already). */
LLVMValueRef cg_intrinsic(const struct cg *g, const char *name, LLVMTypeRef *types, unsigned type_count,
                          LLVMValueRef *args, unsigned arg_count);
LLVMValueRef cg_unary(const struct cg *g, const char *name, LLVMValueRef a);
LLVMValueRef cg_binary(const struct cg *g, const char *name, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_fma(const struct cg *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
LLVMValueRef cg_select(const struct cg *g, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);

/* value.c: operands as values of `element`: bits reinterpreted, wider registers cut. */
LLVMValueRef cg_read(struct cg *g, uint32_t reg);
struct cg_affine cg_read_affine(struct cg *g, uint32_t reg);
LLVMValueRef cg_source(struct cg *g, const struct mr_ptx_operand *operand, LLVMTypeRef element);
LLVMValueRef cg_predicate(struct cg *g, const struct mr_ptx_operand *operand);
bool cg_affine_source(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out);
LLVMValueRef cg_affine_vector(struct cg *g, const struct cg_affine *rows); /* g->flow.rows entries */
/* The same for an operand, of each row: `out` has g->flow.rows entries. */
bool cg_affine_rows(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *out);
/* base + stride * lane for the first lane of the row at hand, as a scalar. */
LLVMValueRef cg_row_start(const struct cg *g, LLVMValueRef base, int64_t stride);
/* In a slot that has a scalar for each row, the place of the row at hand. */
LLVMValueRef cg_row_place(struct cg *g, LLVMValueRef slot);
/* A vector of all lanes from a scalar for each row. */
LLVMValueRef cg_row_spread(const struct cg *g, const LLVMValueRef *rows);
/* Lanes of a row: of the whole warp if that is one. */
static inline unsigned cg_row_lanes(const struct cg *g)
{
    return g->unit->width / g->flow.rows;
}
LLVMValueRef cg_break(struct cg *g, LLVMValueRef base, int64_t stride, bool is_signed);

/* value.c: results. `value` may be a scalar or a vector; a scalar is spread if the register holds a vector. */
void cg_write(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value);
void cg_write_extended(struct cg *g, const struct mr_ptx_operand *operand, LLVMValueRef value, bool is_signed);
void cg_write_reg(struct cg *g, uint32_t reg, LLVMValueRef value);
/* For these lanes alone, whoever runs; a scalar value. A register that holds a scalar changes if there are any. */
void cg_write_lanes(struct cg *g, uint32_t reg, LLVMValueRef value, LLVMValueRef lanes);
void cg_write_affine(struct cg *g, uint32_t reg, const struct cg_affine *rows); /* g->flow.rows entries */

/* value.c: stack slots in the prologue */
LLVMValueRef cg_slot(struct cg *g, LLVMTypeRef type, const char *name);
LLVMValueRef cg_scratch(struct cg *g, LLVMTypeRef element);
LLVMValueRef cg_block_field(struct cg *g, size_t offset, LLVMTypeRef type, const char *name);
LLVMValueRef cg_block_store(struct cg *g, size_t offset, LLVMValueRef value); /* here and now; gives the store */
void cg_mark_invariant(struct cg *g, LLVMValueRef load);
void cg_mark_unlikely(struct cg *g, LLVMValueRef branch); /* its first way */

/* value.c: masks */
LLVMValueRef cg_mask_bits(struct cg *g, LLVMValueRef predicate);  /* <32 x i1> or i1 -> mask, scalar i1 gives 0 or ~0 */
LLVMValueRef cg_mask_vector(struct cg *g, LLVMValueRef bits);     /* mask -> <32 x i1> */
LLVMValueRef cg_mask_zero(const struct cg *g);
LLVMValueRef cg_lowest_lane(struct cg *g, LLVMValueRef mask);     /* of a mask of 32 lanes that is not empty */

/* A loop over the lanes of a mask that is not empty: the builder is left in its body with *lane; cg_lane_loop_end() leaves
 * it behind the loop. */
struct cg_lane_loop {
    LLVMBasicBlockRef body;
    LLVMValueRef rest, lane;
};
void cg_lane_loop_begin(struct cg *g, LLVMValueRef mask, struct cg_lane_loop *loop);
void cg_lane_loop_end(struct cg *g, struct cg_lane_loop *loop);
LLVMBasicBlockRef cg_new_block(struct cg *g, const char *name);

/* address.c: where an operand points, as a generic address */
struct cg_address {
    struct mr_class c;         /* UNIFORM, AFFINE or VARYING */
    LLVMValueRef base[CG_ROWS_MAX], brk[CG_ROWS_MAX]; /* i64, i32; by row. UNIFORM: the same for all */
    LLVMValueRef vector;       /* <32 x i64> */
};
void cg_address(struct cg *g, const struct mr_ptx_operand *operand, unsigned space, struct cg_address *out);
LLVMValueRef cg_address_vector(struct cg *g, const struct cg_address *address);
/* The address with the low bits cut off that are known to be zero: LLVM can't know. */
LLVMValueRef cg_aligned(struct cg *g, LLVMValueRef address, uint64_t align);
/* Whether an instruction may reach memory that is not the block's own. */
bool cg_is_far(const struct mr_ptx_inst *inst);
/* Whether any lane of a row runs the instruction, where a warp is several rows. */
LLVMValueRef cg_row_runs(struct cg *g, unsigned row);
/* Ends the launch if an active lane's address is no multiple of `bytes` (a power of two). */
void cg_check_alignment(struct cg *g, const struct mr_ptx_operand *operand, const struct cg_address *address, uint64_t bytes);
LLVMValueRef cg_symbol_address(struct cg *g, const struct mr_ptx_var *var); /* i64, base of lane 0 */
LLVMTypeRef cg_memory_type(struct cg *g, unsigned type); /* of a PTX type */
uint64_t cg_entry_parameter_offset(const struct cg *g, const struct mr_ptx_var *var);
LLVMValueRef cg_pointer(struct cg *g, LLVMValueRef address);
/* A pointer to `offset` bytes behind an address. */
LLVMValueRef cg_offset_pointer(struct cg *g, LLVMValueRef address, uint64_t offset);

/* body.c, control.c, unit.c */
LLVMTypeRef cg_function_type(const struct cg_unit *unit, const struct mr_ptx_function *func);
LLVMTypeRef cg_state_type(const struct cg_unit *unit);
bool cg_emit_function(struct cg_unit *unit, const struct mr_ptx_function *func);
void cg_emit_instruction(struct cg *g, const struct mr_ptx_inst *inst);
/* The guard of an instruction, or of none, and the lanes that it leaves. */
void cg_begin_instruction(struct cg *g, const struct mr_ptx_inst *inst);
void cg_emit_block_end(struct cg *g);
void cg_emit_members_wait(struct cg *g);
/* To the way of that number, or, if there is none, elsewhere. Ends the block. */
void cg_jump(struct cg *g, LLVMValueRef number, const LLVMBasicBlockRef *ways, uint32_t count, LLVMBasicBlockRef otherwise);
LLVMValueRef cg_runtime_call(struct cg *g, size_t offset, LLVMTypeRef result, LLVMValueRef *args, unsigned count);
void cg_emit_trap(struct cg *g, unsigned kind);
void cg_fail(struct cg_unit *unit, const struct mr_ptx_inst *inst, const char *what);
LLVMValueRef *cg_var_slot(struct cg *g, const struct mr_ptx_var *var);
LLVMValueRef cg_special(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *affine);

/* body.c: a number of the warp's first thread with the bits cut off that it can't have, so that LLVM knows how large it is (sums of it then can't
 * overflow); lanes of the warp that exist; all registers and masks as they are when a warp starts. */
LLVMValueRef cg_bounded_tid(struct cg *g, unsigned axis, LLVMValueRef tid);
LLVMValueRef cg_first_mask(struct cg *g);
void cg_clear_warp(struct cg *g);
void cg_find_thread(struct cg *g); /* fills g->tid */

/* frame.c: the prologue's loads and slots; the start of a kernel (the loop's head and its number of the warp, for the end) and of a device function. */
void cg_frame_fields(struct cg *g);
void cg_frame_registers(struct cg *g);
void cg_frame_variables(struct cg *g);
void cg_frame_parking(struct cg *g);
void cg_frame_start_kernel(struct cg *g, LLVMBasicBlockRef *loop, LLVMValueRef *warp);
void cg_frame_start_function(struct cg *g, LLVMBasicBlockRef *loop);
void cg_frame_end_kernel(struct cg *g, LLVMBasicBlockRef loop, LLVMValueRef warp);

/* Helpers that families share. */
LLVMValueRef cg_in_shared(struct cg *g, LLVMValueRef address);         /* whether a generic address is one in .shared memory */
LLVMValueRef cg_in_space(struct cg *g, LLVMValueRef address, unsigned space);
LLVMValueRef cg_flush(struct cg *g, LLVMValueRef value);             /* subnormal -> signed zero */
LLVMValueRef cg_saturate(struct cg *g, LLVMValueRef value);          /* to [0, 1], NaN -> 0 */
LLVMValueRef cg_flush_half_number(struct cg *g, LLVMValueRef value); /* f32 that holds a half: subnormal halves to zero */
LLVMValueRef cg_half_to_float(struct cg *g, LLVMValueRef bits);      /* i16 f16 -> f32 */
LLVMValueRef cg_float_to_half(struct cg *g, LLVMValueRef value);     /* f32 -> i16, nearest even */
LLVMValueRef cg_bfloat_to_float(struct cg *g, LLVMValueRef bits);
LLVMValueRef cg_float_to_bfloat(struct cg *g, LLVMValueRef value);
LLVMValueRef cg_fp8_to_half(struct cg *g, LLVMValueRef bits, unsigned type, bool relu); /* the low 8 of 32 bits, of a pair's type -> i16 */
LLVMValueRef cg_double_to_odd(struct cg *g, LLVMValueRef value);     /* f64 -> f32 rounded to odd */
LLVMValueRef cg_is_nan(struct cg *g, LLVMValueRef value);
LLVMValueRef cg_min_max(struct cg *g, LLVMValueRef a, LLVMValueRef b, bool maximum, bool propagate_nan);
/* An operation ("fadd", "fma", "fptrunc", ...) under a rounding direction other than nearest, exactly. */
LLVMValueRef cg_rounded(struct cg *g, const char *operation, unsigned rounding, LLVMTypeRef result,
                        LLVMValueRef *args, unsigned count);
/* Attributes of a function that is called from many places of the object and stays one. */
void cg_helper_attributes(const struct cg *g, LLVMValueRef fn);
/* Vectors of one size, one behind the other. `count` is a power of two; the array is used up. */
LLVMValueRef cg_join(struct cg *g, LLVMValueRef *parts, unsigned count);
/* An operand of 32 bits that is meant to be the same for all lanes, as a scalar: else that of the lowest lane that runs. */
LLVMValueRef cg_scalar_source(struct cg *g, const struct mr_ptx_operand *operand);
/* All lanes of a mask folded into one by an atomic operation on integers (redux, reductions into one place). */
LLVMValueRef cg_fold_lanes(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef values, LLVMValueRef mask_vector);
/* LLVM's name for that, and the value that changes nothing; NULL if there is none. */
const char *cg_fold_name(const struct mr_ptx_inst *inst, uint64_t *neutral);
/* Ends the launch if a lane that runs is not in its own mask of members. */
void cg_check_members(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *masks);
/* math.c; f32, in the present form */
LLVMValueRef cg_sin(struct cg *g, LLVMValueRef x, bool cosine);
LLVMValueRef cg_ex2(struct cg *g, LLVMValueRef x);
LLVMValueRef cg_lg2(struct cg *g, LLVMValueRef x);
LLVMValueRef cg_tanh(struct cg *g, LLVMValueRef x);

/* optimise.c, mend.c, cut.c, object.c, target.c */
bool cg_optimise(struct cg_unit *unit);
void cg_mend(struct cg_unit *unit);
void cg_cut(struct cg_unit *unit);
bool cg_object(struct cg_unit *unit, struct mr_codegen_result *result);
/* The machine that the request is for, which nobody else uses until it is given back; the module is then for it. False with an error. */
bool cg_machine_take(struct cg_unit *unit);
void cg_machine_give(struct cg_unit *unit);

#include "compile/codegen/emit/emit.h"

#endif
