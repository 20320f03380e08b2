/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tables that parser and verifier share: families of modifiers, the words of
 * each, what an opcode takes. For src/ptx only; a tree's readers need none of it.
 */
#ifndef MR_PTX_TABLES_H
#define MR_PTX_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

/* Families of modifiers, as ptx_ops.def names them. */
#define M_ROUND (UINT64_C(1) << 0)
#define M_FTZ (UINT64_C(1) << 1)
#define M_SAT (UINT64_C(1) << 2)
#define M_CC (UINT64_C(1) << 3)
#define M_HALF (UINT64_C(1) << 4)  /* .lo .hi .wide of a product */
#define M_RELU (UINT64_C(1) << 5)
#define M_OOB (UINT64_C(1) << 6)
#define M_APPROX (UINT64_C(1) << 7)  /* .approx .full */
#define M_NAN (UINT64_C(1) << 8)  /* .NaN */
#define M_XORSIGN (UINT64_C(1) << 9)
#define M_ABS (UINT64_C(1) << 10)
#define M_TESTP (UINT64_C(1) << 11)
#define M_SHIFTAMT (UINT64_C(1) << 12)
#define M_SHFMODE (UINT64_C(1) << 13) /* .clamp .wrap */
#define M_SHFDIR (UINT64_C(1) << 14) /* .l .r */
#define M_BOOL (UINT64_C(1) << 15) /* .and .or .xor */
#define M_PRMT (UINT64_C(1) << 16)
#define M_CMP (UINT64_C(1) << 17)
#define M_SPACE (UINT64_C(1) << 18)
#define M_TO (UINT64_C(1) << 19)
#define M_SATFINITE (UINT64_C(1) << 20)
#define M_PACK (UINT64_C(1) << 21)
#define M_SCALED (UINT64_C(1) << 22)
#define M_SEM (UINT64_C(1) << 23)
#define M_SCOPE (UINT64_C(1) << 24)
#define M_CACHE (UINT64_C(1) << 25)
#define M_EVICT (UINT64_C(1) << 26) /* hints of no meaning here */
#define M_VEC (UINT64_C(1) << 27)
#define M_MEMBAR (UINT64_C(1) << 28) /* scopes as membar writes them */
#define M_HINT (UINT64_C(1) << 29) /* .L2::cache_hint */
#define M_ATOM (UINT64_C(1) << 31)
#define M_NOFTZ (UINT64_C(1) << 32)
#define M_SYNC (UINT64_C(1) << 33)
#define M_SHFL (UINT64_C(1) << 34)
#define M_VOTE (UINT64_C(1) << 35)
#define M_BARRIER (UINT64_C(1) << 36)
#define M_ALIGNED (UINT64_C(1) << 37)
#define M_UNI (UINT64_C(1) << 39)
#define M_MASK (UINT64_C(1) << 41) /* pmevent.mask */
#define M_MMIO (UINT64_C(1) << 42)
#define M_WARP (UINT64_C(1) << 43) /* bar.warp */
#define M_GEOM (UINT64_C(1) << 44) /* .1d .a2d .cube */
#define M_DETAIL (UINT64_C(1) << 45) /* .base .level .grad */
#define M_CHANNEL (UINT64_C(1) << 46) /* .r .g .b .a */
#define M_SURFACE (UINT64_C(1) << 47) /* .b .p */
#define M_OUTSIDE (UINT64_C(1) << 48) /* .trap .clamp .zero */
#define M_QUERY (UINT64_C(1) << 49)
#define M_MATRIX (UINT64_C(1) << 52) /* shapes, layouts, matrices by name */
#define M_COUNT (UINT64_C(1) << 53) /* .x1 .x2 .x4 */
#define M_ASYNC (UINT64_C(1) << 54) /* .parity .noinc */
#define M_TENSOR (UINT64_C(1) << 55) /* .4d .5d */
#define M_VMAD (UINT64_C(1) << 63) /* vmad.po, .shr7 */

/* The member of struct mr_ptx_inst that a modifier sets. */
enum mr_ptx_field {
    MR_PTX_FIELD_ROUNDING,
    MR_PTX_FIELD_CMP,
    MR_PTX_FIELD_BOOLOP,
    MR_PTX_FIELD_MODE,
    MR_PTX_FIELD_MODE2,
    MR_PTX_FIELD_SPACE,
    MR_PTX_FIELD_CACHE,
    MR_PTX_FIELD_SEM,
    MR_PTX_FIELD_SCOPE,
    MR_PTX_FIELD_ATOM,
    MR_PTX_FIELD_VECTOR,
    MR_PTX_FIELD_GEOM,
    MR_PTX_FIELD_QUERY,
    MR_PTX_FIELD_SHAPE,
    MR_PTX_FIELD_LAYOUT, /* the first free one of two */
    MR_PTX_FIELD_FLAG
};

struct mr_ptx_modifier {
    const char *word;
    uint64_t family;
    uint8_t field; /* enum mr_ptx_field */
    uint8_t version; /* PTX that the word needs, 72 for 7.2; 0 = any */
    uint8_t sm;      /* target that it needs; 0 = any */
    uint32_t value;
};

struct mr_ptx_op_info {
    const char *name;
    uint64_t modifiers;
    const char *types;
    const char *operands;
    uint8_t version, sm; /* what it needs however it is used, 72 for 7.2; 0 = any */
    uint8_t family;      /* enum mr_ptx_family */
};

/* How many numbers a video instruction works on: 1, 2 or 4; 0 for every other opcode. */
unsigned mr_ptx_video_lanes(enum mr_ptx_op op);

/* Row of an opcode; `op` is a valid opcode. */
const struct mr_ptx_op_info *mr_ptx_op_info(enum mr_ptx_op op);

/* One sentence that an opcode with forms can be written as: a row of ptx_forms.def. */
struct mr_ptx_form {
    uint16_t op;
    uint8_t mode;         /* enum mr_ptx_mode: goes to the instruction */
    const char *words;    /* alternatives are separated by '|', '?' ends what may be missing */
    const char *operands; /* letters as in ptx_ops.def; "-" refuses whatever starts with these words */
    uint8_t version, sm;  /* what it needs; 72 for 7.2 */
};

/* Row of an instruction's form; NULL if its opcode has none. */
const struct mr_ptx_form *mr_ptx_form_info(uint16_t form);

/* Letters of the instruction's operands: of its form, else of its opcode. */
const char *mr_ptx_inst_operands(const struct mr_ptx_inst *inst);

/* Names without rows, NULL-terminated. */
extern const char *const mr_ptx_known_ops[];

/* What `word` means for an instruction that takes `families`; NULL if nothing. */
const struct mr_ptx_modifier *mr_ptx_modifier_find(const char *word, size_t length, uint64_t families);

/* Whether any instruction has a modifier of that name. */
bool mr_ptx_modifier_is_known(const char *word, size_t length);

/* TYPE_NONE, SPACE_GENERIC if the word is no type or space. */
enum mr_ptx_type mr_ptx_type_find(const char *word, size_t length);
enum mr_ptx_space mr_ptx_space_find(const char *word, size_t length);

/* Special register by its name without '%'. The number of %envreg5 or %pm3 goes
 * to *number. SPECIAL_NONE if there is none of that name. */
enum mr_ptx_special mr_ptx_special_find(const char *name, size_t length, uint32_t *number);

/* 'V', 'W', 'L', 'P' or 'N' as in MR_PTX_SPECIALS. */
char mr_ptx_special_kind(enum mr_ptx_special special);

/* Bit set (bit n = enum mr_ptx_type n) of a group of type letters. */
uint64_t mr_ptx_type_letter_set(char letter);

/* Whether that version of PTX exists (72 for 7.2). */
bool mr_ptx_version_is_known(uint32_t version);
uint32_t mr_ptx_version_newest(void);

/* All versions, oldest first, 72 for 7.2; *count of them. */
const uint8_t *mr_ptx_versions_all(size_t *count);

/* The version that .target sm_NN needs, with suffix 'a', 'f' or 0; 0 if there is
 * no such target. */
uint32_t mr_ptx_target_version(uint32_t sm, char suffix);

/* Whether the module's version is at least that. */
bool mr_ptx_module_has_version(const struct mr_ptx_module *module, uint32_t version);

/* The modifier table must be sorted: checked by a test. */
bool mr_ptx_tables_are_sorted(void);

#endif
