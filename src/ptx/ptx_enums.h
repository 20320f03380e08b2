/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Enumerations of the PTX syntax tree: types, spaces, opcodes, modifiers.
 *
 * A modifier is a word after a dot in a mnemonic. Those that exclude each other
 * share an enumeration and a member of struct mr_ptx_inst; those that are there
 * or not are MR_PTX_FLAG_ bits. Which instruction may carry which is said in
 * ptx_ops.def, so a tree never holds a modifier that its instruction lacks.
 */
#ifndef MR_PTX_ENUMS_H
#define MR_PTX_ENUMS_H

#include <stdbool.h>
#include <stdint.h>

/* X(identifier, spelling, bits, class) in the order of the enumeration.
 * Classes: B untyped bits, U unsigned, S signed, F float, P predicate, X alternate
 * formats that have no register of their own, O opaque. */
#define MR_PTX_TYPES(X) \
    X(B1, "b1", 1, X) \
    X(B8, "b8", 8, B) \
    X(B16, "b16", 16, B) \
    X(B32, "b32", 32, B) \
    X(B64, "b64", 64, B) \
    X(B128, "b128", 128, B) \
    X(U8, "u8", 8, U) \
    X(U16, "u16", 16, U) \
    X(U32, "u32", 32, U) \
    X(U64, "u64", 64, U) \
    X(S8, "s8", 8, S) \
    X(S16, "s16", 16, S) \
    X(S32, "s32", 32, S) \
    X(S64, "s64", 64, S) \
    X(U16X2, "u16x2", 32, U) \
    X(S16X2, "s16x2", 32, S) \
    X(F16, "f16", 16, F) \
    X(F16X2, "f16x2", 32, F) \
    X(BF16, "bf16", 16, F) \
    X(BF16X2, "bf16x2", 32, F) \
    X(F32, "f32", 32, F) \
    X(F32X2, "f32x2", 64, F) \
    X(F64, "f64", 64, F) \
    X(TF32, "tf32", 32, X) \
    X(E4M3, "e4m3", 8, X) \
    X(E5M2, "e5m2", 8, X) \
    X(E4M3X2, "e4m3x2", 16, X) \
    X(E5M2X2, "e5m2x2", 16, X) \
    X(E2M1X2, "e2m1x2", 8, X) \
    X(E2M3X2, "e2m3x2", 16, X) \
    X(E3M2X2, "e3m2x2", 16, X) \
    X(UE8M0X2, "ue8m0x2", 16, X) \
    X(U4, "u4", 4, X) \
    X(S4, "s4", 4, X) \
    X(U2, "u2", 2, X) \
    X(S2, "s2", 2, X) \
    X(PRED, "pred", 1, P) \
    X(TEXREF, "texref", 64, O) \
    X(SAMPLERREF, "samplerref", 64, O) \
    X(SURFREF, "surfref", 64, O)

enum mr_ptx_type {
    MR_PTX_TYPE_NONE,
#define X(id, name, bits, cls) MR_PTX_TYPE_##id,
    MR_PTX_TYPES(X)
#undef X
        MR_PTX_TYPE_COUNT
};

/* State spaces. GENERIC stands for "no space written". PARAM on ld/st/mov means
 * either kind of parameter: look at the operand's variable. */
enum mr_ptx_space {
    MR_PTX_SPACE_GENERIC,
    MR_PTX_SPACE_REG,
    MR_PTX_SPACE_SREG,
    MR_PTX_SPACE_CONST,
    MR_PTX_SPACE_GLOBAL,
    MR_PTX_SPACE_LOCAL,
    MR_PTX_SPACE_PARAM,
    MR_PTX_SPACE_PARAM_ENTRY,
    MR_PTX_SPACE_PARAM_FUNC,
    MR_PTX_SPACE_SHARED, /* also .shared::cta */
    MR_PTX_SPACE_SHARED_CLUSTER,
    MR_PTX_SPACE_TEX,
    MR_PTX_SPACE_COUNT
};

enum mr_ptx_linkage {
    MR_PTX_LINKAGE_NONE, /* visible in this module only */
    MR_PTX_LINKAGE_VISIBLE,
    MR_PTX_LINKAGE_EXTERN,
    MR_PTX_LINKAGE_WEAK,
    MR_PTX_LINKAGE_COMMON
};

/* Opcodes: MR_PTX_OP_ADD and so on, from ptx_ops.def. */
enum mr_ptx_op {
    MR_PTX_OP_UNSUPPORTED, /* a known name that has no row of its own */
#define PTX_OP(id, name, mods, types, operands, version, sm, family) MR_PTX_OP_##id,
#include "ptx/ptx_ops.def"
    MR_PTX_OP_COUNT
};

/* Families of opcodes: each is what one function of the code generator emits. */
enum mr_ptx_family {
    MR_PTX_FAMILY_NONE,
    MR_PTX_FAMILY_ARITHMETIC, /* integers or numbers with a point, as the type says */
    MR_PTX_FAMILY_INTEGER,
    MR_PTX_FAMILY_CARRY,
    MR_PTX_FAMILY_FLOAT,
    MR_PTX_FAMILY_BITS,
    MR_PTX_FAMILY_VIDEO,
    MR_PTX_FAMILY_COMPARE,
    MR_PTX_FAMILY_MOVE,
    MR_PTX_FAMILY_CONVERT,
    MR_PTX_FAMILY_MEMORY,
    MR_PTX_FAMILY_ATOMIC,
    MR_PTX_FAMILY_ASYNC,
    MR_PTX_FAMILY_TEXTURE,
    MR_PTX_FAMILY_STACK,
    MR_PTX_FAMILY_WARP,
    MR_PTX_FAMILY_MATRIX,
    MR_PTX_FAMILY_BARRIER,
    MR_PTX_FAMILY_CLUSTER,
    MR_PTX_FAMILY_CALL,
    MR_PTX_FAMILY_END, /* ends a block, and is a part of the code for that */
    MR_PTX_FAMILY_COUNT
};

enum mr_ptx_operand_kind {
    MR_PTX_OPERAND_NONE,
    MR_PTX_OPERAND_REG,
    MR_PTX_OPERAND_IMM_INT,
    MR_PTX_OPERAND_IMM_FLOAT,
    MR_PTX_OPERAND_SPECIAL,        /* %tid.x, %clock64, WARP_SZ is IMM_INT */
    MR_PTX_OPERAND_PAIR,           /* p|q, d|p as destination */
    MR_PTX_OPERAND_VECTOR,         /* {a, b} */
    MR_PTX_OPERAND_SINK,           /* _ */
    MR_PTX_OPERAND_REG_ADDRESS,    /* [reg+value] */
    MR_PTX_OPERAND_SYMBOL_ADDRESS, /* [var+value] */
    MR_PTX_OPERAND_IMM_ADDRESS,    /* [value] */
    MR_PTX_OPERAND_SYMBOL,         /* var or var+value as a value: its address */
    MR_PTX_OPERAND_FUNCTION,       /* function as a value: its address */
    MR_PTX_OPERAND_LABEL,
    MR_PTX_OPERAND_TABLE           /* .branchtargets of brx.idx */
};

/* Special registers: X(identifier, spelling, kind). Kinds: V vector of u32 with
 * components, W u32, L u64, P predicate; N: spelling is followed by a number. */
#define MR_PTX_SPECIALS(X) \
    X(TID, "tid", V) \
    X(NTID, "ntid", V) \
    X(CTAID, "ctaid", V) \
    X(NCTAID, "nctaid", V) \
    X(LANEID, "laneid", W) \
    X(WARPID, "warpid", W) \
    X(NWARPID, "nwarpid", W) \
    X(SMID, "smid", W) \
    X(NSMID, "nsmid", W) \
    X(GRIDID, "gridid", L) \
    X(IS_EXPLICIT_CLUSTER, "is_explicit_cluster", P) \
    X(CLUSTERID, "clusterid", V) \
    X(NCLUSTERID, "nclusterid", V) \
    X(CLUSTER_CTAID, "cluster_ctaid", V) \
    X(CLUSTER_NCTAID, "cluster_nctaid", V) \
    X(CLUSTER_CTARANK, "cluster_ctarank", W) \
    X(CLUSTER_NCTARANK, "cluster_nctarank", W) \
    X(LANEMASK_EQ, "lanemask_eq", W) \
    X(LANEMASK_LE, "lanemask_le", W) \
    X(LANEMASK_LT, "lanemask_lt", W) \
    X(LANEMASK_GE, "lanemask_ge", W) \
    X(LANEMASK_GT, "lanemask_gt", W) \
    X(CLOCK, "clock", W) \
    X(CLOCK_HI, "clock_hi", W) \
    X(CLOCK64, "clock64", L) \
    X(GLOBALTIMER, "globaltimer", L) \
    X(GLOBALTIMER_LO, "globaltimer_lo", W) \
    X(GLOBALTIMER_HI, "globaltimer_hi", W) \
    X(TOTAL_SMEM_SIZE, "total_smem_size", W) \
    X(AGGR_SMEM_SIZE, "aggr_smem_size", W) \
    X(DYNAMIC_SMEM_SIZE, "dynamic_smem_size", W) \
    X(RESERVED_SMEM_OFFSET_BEGIN, "reserved_smem_offset_begin", W) \
    X(RESERVED_SMEM_OFFSET_END, "reserved_smem_offset_end", W) \
    X(RESERVED_SMEM_OFFSET_CAP, "reserved_smem_offset_cap", W) \
    X(RESERVED_SMEM_OFFSET, "reserved_smem_offset_", N) \
    X(CURRENT_GRAPH_EXEC, "current_graph_exec", L) \
    X(PM, "pm", N) \
    X(PM64, "pm64_", N) /* %pm0, %pm0_64 */ \
    X(ENVREG, "envreg", N)

enum mr_ptx_special {
    MR_PTX_SPECIAL_NONE,
#define X(id, name, kind) MR_PTX_SPECIAL_##id,
    MR_PTX_SPECIALS(X)
#undef X
        MR_PTX_SPECIAL_COUNT
};

enum mr_ptx_rounding {
    MR_PTX_ROUND_NONE,
    MR_PTX_ROUND_RN,
    MR_PTX_ROUND_RZ,
    MR_PTX_ROUND_RM,
    MR_PTX_ROUND_RP,
    MR_PTX_ROUND_RNA,
    MR_PTX_ROUND_RS,
    MR_PTX_ROUND_RNI,
    MR_PTX_ROUND_RZI,
    MR_PTX_ROUND_RMI,
    MR_PTX_ROUND_RPI
};

/* LO..HS are the unsigned spellings; EQU..GEU are true if an input is NaN. */
enum mr_ptx_cmp {
    MR_PTX_CMP_NONE,
    MR_PTX_CMP_EQ,
    MR_PTX_CMP_NE,
    MR_PTX_CMP_LT,
    MR_PTX_CMP_LE,
    MR_PTX_CMP_GT,
    MR_PTX_CMP_GE,
    MR_PTX_CMP_LO,
    MR_PTX_CMP_LS,
    MR_PTX_CMP_HI,
    MR_PTX_CMP_HS,
    MR_PTX_CMP_EQU,
    MR_PTX_CMP_NEU,
    MR_PTX_CMP_LTU,
    MR_PTX_CMP_LEU,
    MR_PTX_CMP_GTU,
    MR_PTX_CMP_GEU,
    MR_PTX_CMP_NUM,
    MR_PTX_CMP_NAN
};

enum mr_ptx_boolop { MR_PTX_BOOL_NONE, MR_PTX_BOOL_AND, MR_PTX_BOOL_OR, MR_PTX_BOOL_XOR };

enum mr_ptx_mode {
    MR_PTX_MODE_NONE,
    /* mul, mad, dp2a */
    MR_PTX_MODE_LO,
    MR_PTX_MODE_HI,
    MR_PTX_MODE_WIDE,
    /* shf: direction in mode; shf, bmsk, szext: CLAMP or WRAP in mode2 */
    MR_PTX_MODE_LEFT,
    MR_PTX_MODE_RIGHT,
    MR_PTX_MODE_CLAMP,
    MR_PTX_MODE_WRAP,
    /* shfl */
    MR_PTX_MODE_UP,
    MR_PTX_MODE_DOWN,
    MR_PTX_MODE_BFLY,
    MR_PTX_MODE_IDX,
    /* vote, match */
    MR_PTX_MODE_ALL,
    MR_PTX_MODE_ANY,
    MR_PTX_MODE_UNI,
    MR_PTX_MODE_BALLOT,
    /* bar, barrier: mode is one of these; mode2 is POPC for bar.red.popc, the
     * and/or forms are in boolop; WARP_SYNC is bar.warp.sync */
    MR_PTX_MODE_SYNC,
    MR_PTX_MODE_ARRIVE,
    MR_PTX_MODE_RED,
    MR_PTX_MODE_POPC,
    MR_PTX_MODE_WARP_SYNC,
    MR_PTX_MODE_CLUSTER_ARRIVE,
    MR_PTX_MODE_CLUSTER_WAIT,
    /* prmt */
    MR_PTX_MODE_F4E,
    MR_PTX_MODE_B4E,
    MR_PTX_MODE_RC8,
    MR_PTX_MODE_ECL,
    MR_PTX_MODE_ECR,
    MR_PTX_MODE_RC16,
    /* testp */
    MR_PTX_MODE_FINITE,
    MR_PTX_MODE_INFINITE,
    MR_PTX_MODE_NUMBER,
    MR_PTX_MODE_NOTANUMBER,
    MR_PTX_MODE_NORMAL,
    MR_PTX_MODE_SUBNORMAL,
    /* vmad */
    MR_PTX_MODE_SHR7,
    MR_PTX_MODE_SHR15,
    /* createpolicy */
    MR_PTX_MODE_POLICY_FRACTIONAL,
    MR_PTX_MODE_POLICY_RANGE,
    /* st.async, red.async without an mbarrier */
    MR_PTX_MODE_PLAIN,
    /* multimem */
    MR_PTX_MODE_REDUCE,
    MR_PTX_MODE_LOAD_REDUCE,
    /* clusterlaunchcontrol */
    MR_PTX_MODE_CANCEL,
    MR_PTX_MODE_IS_CANCELED,
    MR_PTX_MODE_FIRST_BLOCK,
    MR_PTX_MODE_FIRST_BLOCK_X,
    MR_PTX_MODE_FIRST_BLOCK_Y,
    MR_PTX_MODE_FIRST_BLOCK_Z,
    /* tensormap: a copy, or which number is replaced */
    MR_PTX_MODE_MAP_COPY,
    MR_PTX_MODE_MAP_ADDRESS,
    MR_PTX_MODE_MAP_RANK,
    MR_PTX_MODE_MAP_BOX,
    MR_PTX_MODE_MAP_SIZE,
    MR_PTX_MODE_MAP_STRIDE,
    MR_PTX_MODE_MAP_STEP,
    MR_PTX_MODE_MAP_TYPE,
    MR_PTX_MODE_MAP_INTERLEAVE,
    MR_PTX_MODE_MAP_SWIZZLE,
    MR_PTX_MODE_MAP_FILL,
    /* griddepcontrol */
    MR_PTX_MODE_LAUNCH_DEPENDENTS,
    MR_PTX_MODE_WAIT,
    /* tex, txq: which level of detail */
    MR_PTX_MODE_BASE,
    MR_PTX_MODE_LEVEL,
    MR_PTX_MODE_GRAD,
    /* suld, sust, sured: .b or .p in mode; CLAMP or one of these in mode2 */
    MR_PTX_MODE_BYTES,
    MR_PTX_MODE_FORMATTED,
    MR_PTX_MODE_TRAP,
    MR_PTX_MODE_ZERO,
    /* tld4: the channel, in mode2 */
    MR_PTX_MODE_CHANNEL_R,
    MR_PTX_MODE_CHANNEL_G,
    MR_PTX_MODE_CHANNEL_B,
    MR_PTX_MODE_CHANNEL_A,
    /* mma.sp; wmma: which of its instructions, and which matrix it moves stands in mode2 */
    MR_PTX_MODE_MATRIX_SPARSE,
    MR_PTX_MODE_MATRIX_LOAD,
    MR_PTX_MODE_MATRIX_STORE,
    MR_PTX_MODE_MATRIX_MULTIPLY,
    MR_PTX_MODE_MATRIX_A,
    MR_PTX_MODE_MATRIX_B,
    MR_PTX_MODE_MATRIX_C,
    /* cp: by thread, in bulk, its reduction, and what waits for them */
    MR_PTX_MODE_COPY,
    MR_PTX_MODE_COPY_ARRIVE,
    MR_PTX_MODE_COPY_WAIT,
    MR_PTX_MODE_BULK,
    MR_PTX_MODE_BULK_REDUCE,
    MR_PTX_MODE_BULK_MASK,
    MR_PTX_MODE_BULK_PREFETCH,
    /* the same of tensors: boxes, pixels in columns, four rows */
    MR_PTX_MODE_TENSOR_TILE,
    MR_PTX_MODE_TENSOR_COLUMNS,
    MR_PTX_MODE_TENSOR_ROWS,
    MR_PTX_MODE_TENSOR_WIDE,
    MR_PTX_MODE_TENSOR_PREFETCH,
    /* mbarrier */
    MR_PTX_MODE_INIT,
    MR_PTX_MODE_INVAL,
    MR_PTX_MODE_EXPECT_TX,
    MR_PTX_MODE_COMPLETE_TX,
    MR_PTX_MODE_ARRIVE_EXPECT_TX,
    MR_PTX_MODE_ARRIVE_NO_COMPLETE,
    MR_PTX_MODE_ARRIVE_DROP,
    MR_PTX_MODE_ARRIVE_DROP_EXPECT_TX,
    MR_PTX_MODE_ARRIVE_DROP_NO_COMPLETE,
    MR_PTX_MODE_TEST_WAIT,
    MR_PTX_MODE_TRY_WAIT,
    MR_PTX_MODE_PENDING_COUNT,
    /* bar, barrier: made by code generation alone (inline.c), for one that a lane may wait at by itself: its arrival,
     * with a predicate if boolop or mode2 names a reduction, and the question whether it is over, whose result is a
     * pair of the reduction and the answer */
    MR_PTX_MODE_JOIN,
    MR_PTX_MODE_TEST
};

/* The coordinates that tex, tld4, suld, sust, sured and copies of tensors take. */
enum mr_ptx_geom {
    MR_PTX_GEOM_NONE,
    MR_PTX_GEOM_1D,
    MR_PTX_GEOM_2D,
    MR_PTX_GEOM_3D,
    MR_PTX_GEOM_A1D,
    MR_PTX_GEOM_A2D,
    MR_PTX_GEOM_CUBE,
    MR_PTX_GEOM_ACUBE,
    MR_PTX_GEOM_2DMS,
    MR_PTX_GEOM_A2DMS,
    MR_PTX_GEOM_4D,
    MR_PTX_GEOM_5D
};

/* What txq and suq ask for. */
enum mr_ptx_query {
    MR_PTX_QUERY_NONE,
    MR_PTX_QUERY_WIDTH,
    MR_PTX_QUERY_HEIGHT,
    MR_PTX_QUERY_DEPTH,
    MR_PTX_QUERY_CHANNEL_DATA_TYPE,
    MR_PTX_QUERY_CHANNEL_ORDER,
    MR_PTX_QUERY_NORMALIZED_COORDS,
    MR_PTX_QUERY_ARRAY_SIZE,
    MR_PTX_QUERY_NUM_MIPMAP_LEVELS,
    MR_PTX_QUERY_NUM_SAMPLES,
    MR_PTX_QUERY_MEMORY_LAYOUT,
    MR_PTX_QUERY_FORCE_UNNORMALIZED_COORDS,
    MR_PTX_QUERY_FILTER_MODE,
    MR_PTX_QUERY_ADDR_MODE_0,
    MR_PTX_QUERY_ADDR_MODE_1,
    MR_PTX_QUERY_ADDR_MODE_2
};

enum mr_ptx_cache {
    MR_PTX_CACHE_NONE,
    MR_PTX_CACHE_CA,
    MR_PTX_CACHE_CG,
    MR_PTX_CACHE_CS,
    MR_PTX_CACHE_LU,
    MR_PTX_CACHE_CV,
    MR_PTX_CACHE_WB,
    MR_PTX_CACHE_WT,
    MR_PTX_CACHE_NC
};

enum mr_ptx_sem {
    MR_PTX_SEM_NONE, /* not written: weak for ld and st, relaxed for atom/red */
    MR_PTX_SEM_WEAK,
    MR_PTX_SEM_RELAXED,
    MR_PTX_SEM_ACQUIRE,
    MR_PTX_SEM_RELEASE,
    MR_PTX_SEM_ACQ_REL,
    MR_PTX_SEM_SC,
    MR_PTX_SEM_VOLATILE
};

/* membar's .gl is GPU; a missing scope means GPU for atom and red. */
enum mr_ptx_scope { MR_PTX_SCOPE_NONE, MR_PTX_SCOPE_CTA, MR_PTX_SCOPE_CLUSTER, MR_PTX_SCOPE_GPU, MR_PTX_SCOPE_SYS };

enum mr_ptx_atom {
    MR_PTX_ATOM_NONE,
    MR_PTX_ATOM_AND,
    MR_PTX_ATOM_OR,
    MR_PTX_ATOM_XOR,
    MR_PTX_ATOM_EXCH,
    MR_PTX_ATOM_CAS,
    MR_PTX_ATOM_ADD,
    MR_PTX_ATOM_INC,
    MR_PTX_ATOM_DEC,
    MR_PTX_ATOM_MIN,
    MR_PTX_ATOM_MAX
};

#define MR_PTX_FLAG_FTZ (1u << 0)
#define MR_PTX_FLAG_SAT (1u << 1)
#define MR_PTX_FLAG_APPROX (1u << 2)
#define MR_PTX_FLAG_FULL (1u << 3) /* div.full */
#define MR_PTX_FLAG_CC (1u << 4) /* add.cc: writes the carry flag */
#define MR_PTX_FLAG_UNI (1u << 5) /* bra.uni, call.uni, ret.uni */
#define MR_PTX_FLAG_ALIGNED (1u << 6) /* barrier.sync.aligned */
#define MR_PTX_FLAG_TO (1u << 7) /* cvta.to.global */
#define MR_PTX_FLAG_SYNC (1u << 8) /* shfl.sync, vote.sync, ... */
#define MR_PTX_FLAG_RELU (1u << 9)
#define MR_PTX_FLAG_NAN (1u << 10) /* min.NaN, max.NaN */
#define MR_PTX_FLAG_XORSIGN (1u << 11) /* min.xorsign.abs */
#define MR_PTX_FLAG_SATFINITE (1u << 12)
#define MR_PTX_FLAG_SHIFTAMT (1u << 13) /* bfind.shiftamt */
#define MR_PTX_FLAG_NOFTZ (1u << 14) /* atom.add.noftz */
#define MR_PTX_FLAG_UNIFIED (1u << 15)
#define MR_PTX_FLAG_CACHE_HINT (1u << 16) /* last operand is a cache policy */
#define MR_PTX_FLAG_PACK (1u << 17) /* cvt.pack */
#define MR_PTX_FLAG_OOB (1u << 18) /* fma.oob */
#define MR_PTX_FLAG_ABS (1u << 19) /* .abs */
#define MR_PTX_FLAG_SCALED (1u << 20) /* .scaled:: */
#define MR_PTX_FLAG_MMIO (1u << 21) /* with .relaxed.sys */
#define MR_PTX_FLAG_EVICT_L1 (1u << 22) /* .L1:: hints, of no meaning here */
#define MR_PTX_FLAG_EVICT_L2 (1u << 23) /* .L2::evict_ hints */
#define MR_PTX_FLAG_FETCH_L2 (1u << 24) /* .L2::64B and its kin */
#define MR_PTX_FLAG_TRANS (1u << 25) /* ldmatrix.trans and its kin */
#define MR_PTX_FLAG_NOINC (1u << 26) /* cp.async.mbarrier.arrive.noinc */
#define MR_PTX_FLAG_PARITY (1u << 27) /* mbarrier.test_wait.parity */
#define MR_PTX_FLAG_MASK (1u << 28) /* pmevent.mask */
#define MR_PTX_FLAG_PO (1u << 31) /* vmad.po: plus one */

/* Width of a type in bits, 0 for NONE; bytes it takes in memory (at least 1). */
unsigned mr_ptx_type_bits(enum mr_ptx_type type);
unsigned mr_ptx_type_bytes(enum mr_ptx_type type);

/* 'B', 'U', 'S', 'F', 'P', 'X' or 'O' as in MR_PTX_TYPES; 0 for NONE. */
char mr_ptx_type_class(enum mr_ptx_type type);

/* Spellings without the leading dot; never NULL. */
const char *mr_ptx_type_name(enum mr_ptx_type type);
const char *mr_ptx_space_name(enum mr_ptx_space space);
const char *mr_ptx_op_name(enum mr_ptx_op op);
const char *mr_ptx_special_name(enum mr_ptx_special special);

/* The family that an opcode's row names. */
enum mr_ptx_family mr_ptx_op_family(enum mr_ptx_op op);

/* Two numbers of 8 bits with a point: .e4m3x2, .e5m2x2. */
bool mr_ptx_type_is_fp8_pair(enum mr_ptx_type type);

#endif
