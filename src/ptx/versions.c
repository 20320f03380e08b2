/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Versions of PTX and of its targets: which exist, which target came with which
 * version, and what an instruction, a special register or a directive asks for.
 * Numbers are those of the PTX manual, with what NVIDIA's assembler asks for
 * where the two differ. A version is written as one number, 7.2 as 72.
 *
 * The needs of a modifier that hold wherever it stands are in its row of
 * tables.c, those of an opcode in its row of ptx_ops.def, those of a form in its
 * row of ptx_forms.def. Here are those of modifiers and types together with an
 * opcode. Every row that fits an instruction has to be met.
 *
 * Compilers of today write 9.4 and 9.5, mostly for instructions of older versions.
 * What these two versions added is not known here, and is refused by name.
 */
#include "ptx/verify.h"

static const uint8_t versions[] = {
    10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41, 42, 43, 50, 51, 60, 61, 62, 63, 64, 65,
    70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94, 95,
};

/* Version that each target needs: plain, with suffix a, with f; 0 = no such target. */
static const struct {
    uint8_t sm, plain, a, f;
} targets[] = {
    {10, 10, 0, 0},    {11, 10, 0, 0},    {12, 12, 0, 0},    {13, 12, 0, 0},    {20, 20, 0, 0},    {21, 20, 0, 0},
    {30, 30, 0, 0},    {32, 40, 0, 0},    {35, 31, 0, 0},    {37, 41, 0, 0},    {50, 40, 0, 0},    {52, 41, 0, 0},
    {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},    {62, 50, 0, 0},    {70, 60, 0, 0},    {72, 61, 0, 0},
    {75, 63, 0, 0},    {80, 70, 0, 0},    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 73, 0, 0},    {89, 78, 0, 0},
    {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {110, 90, 90, 90}, {120, 87, 87, 88},
    {121, 88, 88, 88},
};

bool mr_ptx_version_is_known(uint32_t version)
{
    for (size_t i = 0; i < sizeof versions; i++)
        if (versions[i] == version)
            return true;
    return false;
}

const uint8_t *mr_ptx_versions_all(size_t *count)
{
    *count = sizeof versions;
    return versions;
}

uint32_t mr_ptx_version_newest(void)
{
    return versions[sizeof versions / sizeof versions[0] - 1];
}

uint32_t mr_ptx_target_version(uint32_t sm, char suffix)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (targets[i].sm == sm)
            return suffix == 'a' ? targets[i].a : suffix == 'f' ? targets[i].f : targets[i].plain;
    return 0;
}

/* 5.1 was 6.0 before that was finished. */
bool mr_ptx_module_has_version(const struct mr_ptx_module *module, uint32_t version)
{
    uint32_t own = module->version_major * 10 + module->version_minor;
    return (own == 51 ? 60 : own) >= version;
}

/* --- Special registers ------------------------------------------------------------- */

static const struct {
    uint8_t special, version, sm;
} special_needs[] = {
#define NEED(id, version, sm) {MR_PTX_SPECIAL_##id, version, sm}
    NEED(IS_EXPLICIT_CLUSTER, 78, 90),
    NEED(CLUSTERID, 78, 90),
    NEED(NCLUSTERID, 78, 90),
    NEED(CLUSTER_CTAID, 78, 90),
    NEED(CLUSTER_NCTAID, 78, 90),
    NEED(CLUSTER_CTARANK, 78, 90),
    NEED(CLUSTER_NCTARANK, 78, 90),
    NEED(CLOCK_HI, 50, 0),
    NEED(CLOCK64, 20, 20),
    NEED(NSMID, 20, 20),
    NEED(LANEMASK_EQ, 20, 20),
    NEED(LANEMASK_LT, 20, 20),
    NEED(LANEMASK_LE, 20, 20),
    NEED(LANEMASK_GT, 20, 20),
    NEED(LANEMASK_GE, 20, 20),
    NEED(GLOBALTIMER_LO, 31, 30),
    NEED(GLOBALTIMER, 31, 30),
    NEED(GLOBALTIMER_HI, 31, 30),
    NEED(TOTAL_SMEM_SIZE, 41, 0),
    NEED(AGGR_SMEM_SIZE, 81, 90),
    NEED(DYNAMIC_SMEM_SIZE, 41, 0),
    NEED(RESERVED_SMEM_OFFSET_BEGIN, 76, 80),
    NEED(RESERVED_SMEM_OFFSET_END, 76, 80),
    NEED(RESERVED_SMEM_OFFSET_CAP, 76, 80),
    NEED(RESERVED_SMEM_OFFSET, 76, 80),
    NEED(CURRENT_GRAPH_EXEC, 80, 50),
    NEED(PM64, 40, 50),
#undef NEED
};

/* --- Instructions --------------------------------------------------------------------- */

struct need {
    uint16_t op;     /* enum mr_ptx_op; 0 = any */
    uint8_t version; /* 0 = any */
    uint8_t sm;      /* 0 = any */
    /* Which instructions the row is for. A set (bit n = the enumeration's n) that
     * is 0 admits everything. */
    uint64_t first, second; /* types */
    uint32_t flags;         /* MR_PTX_FLAG_, all of them */
    uint64_t modes, spaces, scopes, atoms, roundings;
    bool combines;          /* with .and, .or, .xor */
};

#define T(id) (UINT64_C(1) << MR_PTX_TYPE_##id)
#define MODE(id) (UINT64_C(1) << MR_PTX_MODE_##id)
#define SPACE(id) (UINT64_C(1) << MR_PTX_SPACE_##id)
#define SCOPE(id) (UINT64_C(1) << MR_PTX_SCOPE_##id)
#define ATOM(id) (UINT64_C(1) << MR_PTX_ATOM_##id)
#define ROUND(id) (UINT64_C(1) << MR_PTX_ROUND_##id)
#define NEED(id, version_, sm_, ...) {.op = MR_PTX_OP_##id, .version = (version_), .sm = (sm_), __VA_ARGS__}

#define F16 (T(F16) | T(F16X2))
#define BF16 (T(BF16) | T(BF16X2))
#define FP8 (T(E4M3X2) | T(E5M2X2))
#define WIDE (T(U64) | T(S64))
#define PAIRS (T(U16X2) | T(S16X2))
#define CARRIES .flags = MR_PTX_FLAG_CC
#define OLD_SCOPES (SCOPE(CTA) | SCOPE(GPU) | SCOPE(SYS))
#define UP_OR_DOWN .first = T(F32), .roundings = ROUND(RM) | ROUND(RP)
#define ROUNDED .first = T(F32), .roundings = ROUND(RN) | ROUND(RZ) | ROUND(RM) | ROUND(RP)
#define NEW_ATOMS (ATOM(AND) | ATOM(OR) | ATOM(XOR) | ATOM(MIN) | ATOM(MAX))

static const struct need needs[] = {
    {.version = 70, .sm = 80, .first = BF16},
    {.version = 70, .sm = 80, .second = BF16},

    NEED(ADD, 20, 20, UP_OR_DOWN),
    NEED(SUB, 20, 20, UP_OR_DOWN),
    NEED(MUL, 20, 20, UP_OR_DOWN),
    NEED(DIV, 0, 20, ROUNDED),
    NEED(RCP, 0, 20, ROUNDED),
    NEED(SQRT, 0, 20, ROUNDED),
    NEED(FMA, 20, 20, .first = T(F32)),
    NEED(LD, 20, 20, .spaces = SPACE(GENERIC)),
    NEED(ST, 20, 20, .spaces = SPACE(GENERIC)),
    NEED(ATOM, 20, 20, .spaces = SPACE(GENERIC)),
    NEED(RED, 20, 20, .spaces = SPACE(GENERIC)),
    NEED(BAR, 20, 20, .modes = MODE(ARRIVE) | MODE(RED)),
    NEED(MEMBAR, 20, 20, .scopes = SCOPE(SYS)),
    NEED(VOTE, 20, 20, .modes = MODE(BALLOT)),

    NEED(ADD, 42, 53, .first = F16),
    NEED(SUB, 42, 53, .first = F16),
    NEED(MUL, 42, 53, .first = F16),
    NEED(FMA, 42, 53, .first = F16),
    NEED(NEG, 60, 53, .first = F16),
    NEED(ABS, 65, 53, .first = F16),
    NEED(SETP, 42, 53, .first = F16),
    NEED(SET, 42, 53, .second = F16),
    NEED(SET, 42, 53, .first = F16),
    NEED(SET, 65, 53, .first = ~(F16 | BF16), .second = F16 | BF16),
    NEED(MIN, 70, 80, .first = F16),
    NEED(MAX, 70, 80, .first = F16),
    NEED(ADD, 78, 90, .first = BF16),
    NEED(SUB, 78, 90, .first = BF16),
    NEED(MUL, 78, 90, .first = BF16),
    NEED(SETP, 78, 90, .first = BF16),
    NEED(SET, 78, 90, .first = BF16),
    NEED(SET, 78, 90, .second = BF16),
    NEED(EX2, 78, 90, .first = BF16),
    NEED(TANH, 78, 90, .first = BF16),
    NEED(ADD, 80, 90, .first = PAIRS),
    NEED(MIN, 80, 90, .first = PAIRS),
    NEED(MAX, 80, 90, .first = PAIRS),
    NEED(MIN, 80, 90, .first = T(S32), .flags = MR_PTX_FLAG_RELU),
    NEED(MAX, 80, 90, .first = T(S32), .flags = MR_PTX_FLAG_RELU),
    NEED(ADD, 43, 0, .first = WIDE, CARRIES),
    NEED(SUB, 43, 0, .first = WIDE, CARRIES),
    NEED(MAD, 43, 0, .first = WIDE, CARRIES),
    NEED(MAD, 30, 0, CARRIES),
    NEED(ADDC, 43, 0, .first = WIDE, CARRIES),
    NEED(SUBC, 43, 0, .first = WIDE, CARRIES),
    NEED(MADC, 43, 0, .first = WIDE, CARRIES),
    NEED(RSQRT, 40, 0, .first = T(F64), .flags = MR_PTX_FLAG_FTZ),
    NEED(EX2, 70, 75, .first = F16),

    NEED(LOP3, 82, 70, .combines = true),

    NEED(CVT, 70, 80, .first = T(F16X2)),
    NEED(CVT, 78, 90, .first = BF16, .second = ~T(F32)),
    NEED(CVT, 78, 90, .first = ~T(F32), .second = BF16),
    NEED(CVT, 71, 80, .first = T(F32), .second = BF16),
    NEED(CVT, 78, 90, .first = T(F32), .second = BF16, .flags = MR_PTX_FLAG_FTZ),
    NEED(CVT, 70, 80, .first = T(TF32)),
    NEED(CVT, 78, 89, .first = FP8),
    NEED(CVT, 78, 89, .second = FP8),
    NEED(CVT, 81, 0, .first = F16 | BF16 | T(TF32), .flags = MR_PTX_FLAG_SATFINITE),
    NEED(CVT, 65, 72, .flags = MR_PTX_FLAG_PACK),
    NEED(CVT, 65, 75, .first = T(U4) | T(S4) | T(U2) | T(S2), .flags = MR_PTX_FLAG_PACK),
    NEED(CVTA, 31, 0, .spaces = SPACE(CONST)),
    NEED(CVTA, 77, 70, .spaces = SPACE(PARAM) | SPACE(PARAM_ENTRY)),
    NEED(ISSPACEP, 31, 0, .spaces = SPACE(CONST)),
    NEED(ISSPACEP, 77, 70, .spaces = SPACE(PARAM) | SPACE(PARAM_ENTRY)),

    NEED(ATOM, 31, 32, .first = T(B64) | WIDE, .atoms = NEW_ATOMS),
    NEED(RED, 31, 32, .first = T(B64) | WIDE, .atoms = NEW_ATOMS),
    NEED(ATOM, 63, 70, .first = T(B16)),
    NEED(ATOM, 50, 60, .first = T(F64)),
    NEED(RED, 50, 60, .first = T(F64)),
    NEED(ATOM, 62, 60, .first = T(F16X2)),
    NEED(RED, 62, 60, .first = T(F16X2)),
    NEED(ATOM, 63, 70, .first = T(F16)),
    NEED(RED, 63, 70, .first = T(F16)),
    NEED(ATOM, 78, 90, .first = BF16),
    NEED(RED, 78, 90, .first = BF16),
    NEED(ATOM, 50, 60, .scopes = OLD_SCOPES),
    NEED(RED, 50, 60, .scopes = OLD_SCOPES),

    NEED(ATOM, 83, 90, .first = T(B128)),
    NEED(LD, 83, 70, .first = T(B128)),
    NEED(ST, 83, 70, .first = T(B128)),
    NEED(MOV, 83, 70, .first = T(B128)),

    NEED(SHFL, 60, 30, .flags = MR_PTX_FLAG_SYNC),
    NEED(VOTE, 60, 30, .flags = MR_PTX_FLAG_SYNC),

    NEED(BAR, 60, 30, .modes = MODE(WARP_SYNC)),
    NEED(BAR, 78, 0, .scopes = SCOPE(CTA)),
    NEED(BARRIER, 78, 30, .scopes = SCOPE(CTA)),
    NEED(BARRIER, 78, 90, .modes = MODE(CLUSTER_ARRIVE) | MODE(CLUSTER_WAIT)),

    NEED(TEX, 42, 53, .first = F16),
    NEED(TEX, 21, 20, .second = T(S32) | T(F32), .modes = MODE(LEVEL) | MODE(GRAD)),
    NEED(TXQ, 43, 0, .modes = MODE(LEVEL)),
    NEED(SURED, 81, 50, .first = WIDE, .atoms = ATOM(MIN) | ATOM(MAX)),
};

static bool in_set(uint64_t set, unsigned value)
{
    return set == 0 || (value < 64 && (set >> value & 1));
}

static bool is_for(const struct need *need, const struct mr_ptx_inst *inst)
{
    return (need->op == 0 || need->op == inst->op) && (inst->flags & need->flags) == need->flags &&
           in_set(need->first, inst->type[0]) && in_set(need->second, inst->type[1]) &&
           in_set(need->modes, inst->mode) && in_set(need->spaces, inst->space) && in_set(need->scopes, inst->scope) &&
           in_set(need->atoms, inst->atom) && in_set(need->roundings, inst->rounding) &&
           (!need->combines || inst->boolop != MR_PTX_BOOL_NONE);
}

static bool is_met(const struct mr_ptx_module *module, unsigned version, unsigned sm)
{
    return mr_ptx_module_has_version(module, version) && module->target_sm >= sm;
}

void mr_ptx_verify_find_unmet(struct verifier *verifier)
{
    _Static_assert(sizeof needs / sizeof needs[0] <= MR_PTX_NEEDS_MAX && MR_PTX_NEEDS_MAX <= UINT8_MAX,
                   "struct verifier has no room for all rows");
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (!is_met(verifier->module, needs[i].version, needs[i].sm))
            verifier->unmet[verifier->unmet_count++] = (uint8_t)i;
}

static bool check_need(struct verifier *verifier, const char *prefix, const char *what, unsigned version, unsigned sm)
{
    if (!mr_ptx_module_has_version(verifier->module, version))
        return mr_ptx_verify_error(verifier, "'%s%s' as it is used here needs PTX %u.%u", prefix, what, version / 10,
                                   version % 10);
    if (verifier->module->target_sm < sm)
        return mr_ptx_verify_error(verifier, "'%s%s' as it is used here needs target sm_%u", prefix, what, sm);
    return true;
}

static bool check_special_need(struct verifier *verifier, const struct mr_ptx_operand *operand)
{
    for (size_t i = 0; i < sizeof special_needs / sizeof special_needs[0]; i++)
        if (special_needs[i].special == operand->special)
            return check_need(verifier, "%", mr_ptx_special_name((enum mr_ptx_special)operand->special),
                              special_needs[i].version, special_needs[i].sm);
    return operand->special != MR_PTX_SPECIAL_PM || operand->component < 4 || check_need(verifier, "%", "pm", 30, 0);
}

/* What a part of an instruction asks for that no row above can name. */
static bool check_other_needs(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const char *name = mr_ptx_op_name((enum mr_ptx_op)inst->op);
    bool ordered = inst->semantics != MR_PTX_SEM_NONE;
    switch (inst->op) {
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
        return inst->operand_count <= 3 || check_need(verifier, "", name, 88, 100);
    case MR_PTX_OP_LD:
    case MR_PTX_OP_ST:
        if (inst->semantics == MR_PTX_SEM_VOLATILE && inst->space == MR_PTX_SPACE_LOCAL &&
            !check_need(verifier, "", name, 91, 0))
            return false;
        return mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]) * inst->vector <= 128 ||
               check_need(verifier, "", name, 88, 100);
    case MR_PTX_OP_ATOM:
    case MR_PTX_OP_RED:
        return inst->vector == 1 || check_need(verifier, "", name, 81, 90);
    case MR_PTX_OP_BARRIER:
        return !ordered || check_need(verifier, "", name, 80, 90);
    case MR_PTX_OP_CP: {
        bool ignores =
            inst->mode == MR_PTX_MODE_COPY && inst->operand_count > 3 && inst->operands[3].type == MR_PTX_TYPE_PRED;
        return !ignores || check_need(verifier, "", name, 75, 80);
    }
    case MR_PTX_OP_MBARRIER: {
        bool transactions = inst->mode == MR_PTX_MODE_EXPECT_TX || inst->mode == MR_PTX_MODE_COMPLETE_TX;
        bool counted =
            inst->operand_count == 3 && (inst->mode == MR_PTX_MODE_ARRIVE || inst->mode == MR_PTX_MODE_ARRIVE_DROP);
        if (ordered &&
            !check_need(verifier, "", name, inst->semantics == MR_PTX_SEM_RELAXED && !transactions ? 86 : 80, 80))
            return false;
        if (inst->space == MR_PTX_SPACE_SHARED_CLUSTER && !check_need(verifier, "", name, 80, 90))
            return false;
        if (counted && !check_need(verifier, "", name, 78, 90))
            return false;
        return !inst->dst_count || inst->operands[0].kind != MR_PTX_OPERAND_SINK ||
               check_need(verifier, "", name, 71, 80);
    }
    default:
        return true;
    }
}

bool mr_ptx_verify_needs(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_op_info *op = mr_ptx_op_info((enum mr_ptx_op)inst->op);
    const struct mr_ptx_form *form = mr_ptx_form_info(inst->form);
    if (!check_need(verifier, "", op->name, op->version, op->sm))
        return false;
    if (form && !check_need(verifier, "", mr_ptx_op_name((enum mr_ptx_op)inst->op), form->version, form->sm))
        return false;
    if (!check_other_needs(verifier))
        return false;
    for (unsigned i = 0; i < verifier->unmet_count; i++) {
        const struct need *need = &needs[verifier->unmet[i]];
        if (is_for(need, inst))
            return check_need(verifier, "", mr_ptx_op_name((enum mr_ptx_op)inst->op), need->version, need->sm);
    }
    for (uint8_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == MR_PTX_OPERAND_SPECIAL && !check_special_need(verifier, &inst->operands[i]))
            return false;
    return true;
}
