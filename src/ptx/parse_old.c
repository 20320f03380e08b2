/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What instructions mean otherwise in modules for targets before sm_20. Their processors had f32 arithmetic without subnormal numbers, and a mad that cut off
 * bits of its product; for newer devices NVIDIA's assembler makes of such a module the code that it makes of the same one with .ftz in every f32
 * instruction that may have it.
 */
#include "ptx/parse.h"

static bool is_f32(const struct mr_ptx_inst *inst, unsigned index)
{
    return inst->type_count > index && inst->type[index] == MR_PTX_TYPE_F32;
}

/* A conversion from or to 64 bits flushes from PTX 1.5 on. */
static bool conversion_flushes(const struct parser *parser, const struct mr_ptx_inst *inst)
{
    enum mr_ptx_type to = (enum mr_ptx_type)inst->type[0], from = (enum mr_ptx_type)inst->type[1];
    bool wide = mr_ptx_type_bits(to) == 64 || mr_ptx_type_bits(from) == 64;
    bool halves = to == MR_PTX_TYPE_F16 || from == MR_PTX_TYPE_F16;
    bool from_number = mr_ptx_type_class(from) == 'F';
    return (is_f32(inst, 0) || is_f32(inst, 1)) && from_number && !halves && (!wide || mr_ptx_module_has_version(parser->module, 15));
}

static bool flushes(const struct parser *parser, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_ADD: case MR_PTX_OP_SUB: case MR_PTX_OP_MUL: case MR_PTX_OP_MAD: case MR_PTX_OP_DIV: case MR_PTX_OP_RCP: case MR_PTX_OP_SQRT:
    case MR_PTX_OP_RSQRT: case MR_PTX_OP_SIN: case MR_PTX_OP_COS: case MR_PTX_OP_LG2: case MR_PTX_OP_EX2: case MR_PTX_OP_ABS: case MR_PTX_OP_NEG:
    case MR_PTX_OP_MIN: case MR_PTX_OP_MAX: case MR_PTX_OP_SETP: return is_f32(inst, 0);
    case MR_PTX_OP_SET: case MR_PTX_OP_SLCT: return is_f32(inst, 1);
    case MR_PTX_OP_CVT: return conversion_flushes(parser, inst);
    default: return false;
    }
}

/* mad.f32 has no rounding on old targets and may lack it in old versions; it rounds to nearest. */
static bool settle_mad(struct parser *parser, struct mr_ptx_inst *inst)
{
    bool old = parser->module->target_sm < 20;
    if (inst->op != MR_PTX_OP_MAD || !is_f32(inst, 0))
        return true;
    if (inst->rounding != MR_PTX_ROUND_NONE)
        return !old || mr_ptx_error_at(parser, inst->line, inst->column, "'mad.f32' with a rounding needs target sm_20");
    if (old || !mr_ptx_module_has_version(parser->module, 31))
        inst->rounding = MR_PTX_ROUND_RN;
    return true;
}

bool mr_ptx_settle_old(struct parser *parser, struct mr_ptx_inst *inst)
{
    if (!settle_mad(parser, inst))
        return false;
    if (parser->module->target_sm < 20 && flushes(parser, inst))
        inst->flags |= MR_PTX_FLAG_FTZ;
    return true;
}
