/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on classes (struct mr_class of flow.h), for the passes that find the class of each register: private to
 * this folder. A class is a promise about all lanes of a warp; what is not sure is VARYING, so every function here
 * gives VARYING where it knows nothing. None of them fails, and none changes anything. */
#ifndef MR_COMPILE_CODEGEN_ANALYSIS_CLASS_H
#define MR_COMPILE_CODEGEN_ANALYSIS_CLASS_H

#include "compile/codegen/analysis/flow.h"

static const struct mr_class mr_class_none = {.kind = MR_CLASS_NONE},
                             mr_class_uniform = {.kind = MR_CLASS_UNIFORM, .ones = UINT32_MAX},
                             mr_class_varying = {.kind = MR_CLASS_VARYING};

/* Strides above this are of no use, and so small that 32 lanes of them can't wrap 32 bits twice. */
#define MR_STRIDE_WIDENED_MAX (INT64_C(1) << 26)

/* ---- making classes ---- */

struct mr_class mr_class_affine(const struct mr_flow *flow, int64_t stride, int64_t wrap);

/* A value that steps by a power of two between bits of its own; `ones` are the base's. */
struct mr_class mr_class_aligned(int64_t stride, uint32_t ones);

/* A scalar of which these bits may be set. */
struct mr_class mr_class_uniform_of(uint32_t ones);

/* ---- asking ---- */

/* UNIFORM or AFFINE. */
bool mr_class_is_known(struct mr_class c);

/* Of an aligned class: the bits that hold the lane's number, and those up to the last of them. */
uint32_t mr_class_lane_bits(struct mr_class a);
uint32_t mr_class_bits_up_to_lanes(struct mr_class a);

/* Whether the type is of integers or of plain bits; 32 or 64 if values of the type can be affine, else 0. */
bool mr_class_is_integer(enum mr_ptx_type type);
unsigned mr_class_bits(enum mr_ptx_type type);

/* The class of an operand. NONE for a register of which nothing is known yet (mr_flow_operand_class: UNIFORM then). */
struct mr_class mr_class_of_operand(const struct mr_flow *flow, const struct mr_ptx_operand *operand);

/* ---- calculating: `bits` is the width of the result, 32 or 64 ---- */

/* A stride as a value of that many bits. */
int64_t mr_class_cut_stride(int64_t stride, unsigned bits);

/* a + sign * b; a * factor; a, of 32 bits, as 64. */
struct mr_class mr_class_sum(const struct mr_flow *flow, struct mr_class a, struct mr_class b, int sign, unsigned bits);
struct mr_class mr_class_scaled(const struct mr_flow *flow, struct mr_class a, int64_t factor, unsigned bits);
struct mr_class mr_class_widened(const struct mr_flow *flow, struct mr_class a);

/* The instruction's result if that is STEPPED, else VARYING. */
struct mr_class mr_class_stepped_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst);

#endif
