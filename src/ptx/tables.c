/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The names of PTX: types, spaces, opcodes, special registers and modifiers, and
 * the lookups over them. Tables only; nothing here knows what a name does.
 *
 * Modifiers are sorted by word (as strcmp sorts); a word that several families
 * have stands several times in a row, and the instruction's families choose.
 */
#include "ptx/matrix.h"
#include "ptx/ptx_tables.h"

#include <string.h>

static const struct mr_ptx_op_info op_table[MR_PTX_OP_COUNT] = {
    [MR_PTX_OP_UNSUPPORTED] = {"?", 0, "", "", 0, 0, MR_PTX_FAMILY_NONE},
#define PTX_OP(id, name, mods, types, operands, version, sm, family) \
    [MR_PTX_OP_##id] = {name, mods, types, operands, version, sm, MR_PTX_FAMILY_##family},
#include "ptx/ptx_ops.def"
};

static const struct mr_ptx_form form_table[] = {
#define PTX_FORM(id, mode, words, operands, version, sm) \
    {MR_PTX_OP_##id, MR_PTX_MODE_##mode, words, operands, version, sm},
#include "ptx/ptx_forms.def"
};

const struct mr_ptx_form *mr_ptx_form_info(uint16_t form)
{
    return form > 0 && form <= sizeof form_table / sizeof form_table[0] ? &form_table[form - 1] : NULL;
}

const char *mr_ptx_inst_operands(const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_form *form = mr_ptx_form_info(inst->form);
    return form ? form->operands : op_table[inst->op].operands;
}

const char *const mr_ptx_known_ops[] = {
#define PTX_KNOWN(name) name,
#include "ptx/ptx_ops.def"
    NULL,
};

struct type_info {
    const char *name;
    uint8_t bits;
    char cls;
};

#define CLASS_B 'B'
#define CLASS_U 'U'
#define CLASS_S 'S'
#define CLASS_F 'F'
#define CLASS_P 'P'
#define CLASS_X 'X'
#define CLASS_O 'O'

static const struct type_info type_table[MR_PTX_TYPE_COUNT] = {[MR_PTX_TYPE_NONE] = {"none", 0, 0},
#define X(id, name, bits, cls) [MR_PTX_TYPE_##id] = {name, bits, CLASS_##cls},
                                                               MR_PTX_TYPES(X)
#undef X
};

static const char *const space_table[MR_PTX_SPACE_COUNT] = {
    [MR_PTX_SPACE_GENERIC] = "generic",
    [MR_PTX_SPACE_REG] = "reg",
    [MR_PTX_SPACE_SREG] = "sreg",
    [MR_PTX_SPACE_CONST] = "const",
    [MR_PTX_SPACE_GLOBAL] = "global",
    [MR_PTX_SPACE_LOCAL] = "local",
    [MR_PTX_SPACE_PARAM] = "param",
    [MR_PTX_SPACE_PARAM_ENTRY] = "param::entry",
    [MR_PTX_SPACE_PARAM_FUNC] = "param::func",
    [MR_PTX_SPACE_SHARED] = "shared",
    [MR_PTX_SPACE_SHARED_CLUSTER] = "shared::cluster",
    [MR_PTX_SPACE_TEX] = "tex",
};

struct special_info {
    const char *name;
    char kind;
};

#define KIND_V 'V'
#define KIND_W 'W'
#define KIND_L 'L'
#define KIND_P 'P'
#define KIND_N 'N'

static const struct special_info special_table[MR_PTX_SPECIAL_COUNT] = {[MR_PTX_SPECIAL_NONE] = {"none", 0},
#define X(id, name, kind) [MR_PTX_SPECIAL_##id] = {name, KIND_##kind},
                                                                        MR_PTX_SPECIALS(X)
#undef X
};

/* A row; what follows the first four is what the word needs wherever it stands:
 * PTX(72) is PTX 7.2, SM(86) is sm_86. */
#define ROW(word_, family_, field_, value_, ...) \
    {.word = (word_), .family = (family_), .field = MR_PTX_FIELD_##field_, .value = (value_), __VA_ARGS__}
#define PTX(number) .version = (number)
#define SM(number) .sm = (number)
#define ROUND(word, id, ...) ROW(word, M_ROUND, ROUNDING, MR_PTX_ROUND_##id, __VA_ARGS__)
#define CMP(word, id, ...) ROW(word, M_CMP, CMP, MR_PTX_CMP_##id, __VA_ARGS__)
#define BOOLOP(word, id, ...) ROW(word, M_BOOL, BOOLOP, MR_PTX_BOOL_##id, __VA_ARGS__)
#define MODE(word, family, id, ...) ROW(word, family, MODE, MR_PTX_MODE_##id, __VA_ARGS__)
#define MODE2(word, family, id, ...) ROW(word, family, MODE2, MR_PTX_MODE_##id, __VA_ARGS__)
#define SPACE(word, id, ...) ROW(word, M_SPACE, SPACE, MR_PTX_SPACE_##id, __VA_ARGS__)
#define CACHE(word, id, ...) ROW(word, M_CACHE, CACHE, MR_PTX_CACHE_##id, __VA_ARGS__)
#define SEM(word, id, ...) ROW(word, M_SEM, SEM, MR_PTX_SEM_##id, __VA_ARGS__)
#define SCOPE(word, family, id, ...) ROW(word, family, SCOPE, MR_PTX_SCOPE_##id, __VA_ARGS__)
#define ATOM(word, id, ...) ROW(word, M_ATOM, ATOM, MR_PTX_ATOM_##id, __VA_ARGS__)
#define GEOM(word, id, ...) ROW(word, M_GEOM, GEOM, MR_PTX_GEOM_##id, __VA_ARGS__)
#define QUERY(word, id, ...) ROW(word, M_QUERY, QUERY, MR_PTX_QUERY_##id, __VA_ARGS__)
#define VECTOR(word, lanes, ...) ROW(word, M_VEC, VECTOR, lanes, __VA_ARGS__)
#define FLAG(word, family, id, ...) ROW(word, family, FLAG, MR_PTX_FLAG_##id, __VA_ARGS__)

static const struct mr_ptx_modifier modifiers[] = {
    GEOM("1d", 1D),
    GEOM("2d", 2D),
    GEOM("2dms", 2DMS, PTX(32), SM(30)),
    GEOM("3d", 3D),
    ROW("4d", M_TENSOR, GEOM, MR_PTX_GEOM_4D),
    ROW("5d", M_TENSOR, GEOM, MR_PTX_GEOM_5D),
    FLAG("L1::evict_first", M_EVICT, EVICT_L1, PTX(74), SM(70)),
    FLAG("L1::evict_last", M_EVICT, EVICT_L1, PTX(74), SM(70)),
    FLAG("L1::evict_normal", M_EVICT, EVICT_L1, PTX(74), SM(70)),
    FLAG("L1::evict_unchanged", M_EVICT, EVICT_L1, PTX(74), SM(70)),
    FLAG("L1::no_allocate", M_EVICT, EVICT_L1, PTX(74), SM(70)),
    FLAG("L2::128B", M_EVICT, FETCH_L2, PTX(74), SM(75)),
    FLAG("L2::256B", M_EVICT, FETCH_L2, PTX(74), SM(80)),
    FLAG("L2::64B", M_EVICT, FETCH_L2, PTX(74), SM(75)),
    FLAG("L2::cache_hint", M_HINT, CACHE_HINT, PTX(74), SM(80)),
    FLAG("L2::evict_first", M_EVICT, EVICT_L2, PTX(74), SM(80)),
    FLAG("L2::evict_last", M_EVICT, EVICT_L2, PTX(74), SM(80)),
    FLAG("L2::evict_normal", M_EVICT, EVICT_L2, PTX(74), SM(80)),
    FLAG("NaN", M_NAN, NAN, PTX(70), SM(80)),
    MODE2("a", M_CHANNEL, CHANNEL_A),
    MODE2("a", M_MATRIX, MATRIX_A),
    GEOM("a1d", A1D),
    GEOM("a2d", A2D),
    GEOM("a2dms", A2DMS, PTX(32), SM(30)),
    FLAG("abs", M_ABS, ABS, PTX(72), SM(86)),
    SEM("acq_rel", ACQ_REL, SM(70)),
    SEM("acquire", ACQUIRE, SM(70)),
    GEOM("acube", ACUBE),
    ATOM("add", ADD),
    QUERY("addr_mode_0", ADDR_MODE_0),
    QUERY("addr_mode_1", ADDR_MODE_1),
    QUERY("addr_mode_2", ADDR_MODE_2),
    FLAG("aligned", M_ALIGNED, ALIGNED, PTX(60)),
    MODE("all", M_VOTE, ALL),
    ATOM("and", AND),
    BOOLOP("and", AND),
    MODE("any", M_VOTE, ANY),
    FLAG("approx", M_APPROX, APPROX),
    QUERY("array_size", ARRAY_SIZE),
    MODE("arrive", M_BARRIER, ARRIVE),
    MODE2("b", M_CHANNEL, CHANNEL_B),
    MODE("b", M_SURFACE, BYTES),
    MODE2("b", M_MATRIX, MATRIX_B),
    MODE("b4e", M_PRMT, B4E),
    MODE("ballot", M_VOTE, BALLOT),
    MODE("base", M_DETAIL, BASE),
    MODE("bfly", M_SHFL, BFLY),
    MODE2("c", M_MATRIX, MATRIX_C),
    CACHE("ca", CA),
    ATOM("cas", CAS),
    FLAG("cc", M_CC, CC),
    CACHE("cg", CG),
    QUERY("channel_data_type", CHANNEL_DATA_TYPE),
    QUERY("channel_order", CHANNEL_ORDER),
    MODE2("clamp", M_SHFMODE, CLAMP),
    MODE2("clamp", M_OUTSIDE, CLAMP),
    SCOPE("cluster", M_SCOPE, CLUSTER, PTX(78), SM(90)),
    ROW("col", M_MATRIX, LAYOUT, MR_PTX_LAYOUT_COL),
    SPACE("const", CONST),
    CACHE("cs", CS),
    SCOPE("cta", M_SCOPE | M_MEMBAR, CTA),
    GEOM("cube", CUBE),
    CACHE("cv", CV),
    ATOM("dec", DEC),
    QUERY("depth", DEPTH),
    MODE("down", M_SHFL, DOWN),
    MODE("ecl", M_PRMT, ECL),
    MODE("ecr", M_PRMT, ECR),
    CMP("eq", EQ),
    CMP("equ", EQU),
    ATOM("exch", EXCH),
    MODE("f4e", M_PRMT, F4E),
    QUERY("filter_mode", FILTER_MODE),
    MODE("finite", M_TESTP, FINITE),
    QUERY("force_unnormalized_coords", FORCE_UNNORMALIZED_COORDS),
    FLAG("ftz", M_FTZ, FTZ),
    FLAG("full", M_APPROX, FULL),
    MODE2("g", M_CHANNEL, CHANNEL_G),
    CMP("ge", GE),
    CMP("geu", GEU),
    SCOPE("gl", M_MEMBAR, GPU),
    SPACE("global", GLOBAL),
    SCOPE("gpu", M_SCOPE, GPU),
    MODE("grad", M_DETAIL, GRAD),
    CMP("gt", GT),
    CMP("gtu", GTU),
    QUERY("height", HEIGHT),
    CMP("hi", HI),
    MODE("hi", M_HALF, HI),
    CMP("hs", HS),
    MODE("idx", M_SHFL, IDX),
    ATOM("inc", INC),
    MODE("infinite", M_TESTP, INFINITE),
    MODE("l", M_SHFDIR, LEFT),
    CMP("le", LE),
    CMP("leu", LEU),
    MODE("level", M_DETAIL, LEVEL),
    CMP("lo", LO),
    MODE("lo", M_HALF, LO),
    SPACE("local", LOCAL),
    CMP("ls", LS),
    CMP("lt", LT),
    CMP("ltu", LTU),
    CACHE("lu", LU),
    ROW("m16n16k16", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N16K16),
    ROW("m16n16k8", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N16K8),
    ROW("m16n8k128", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K128),
    ROW("m16n8k16", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K16),
    ROW("m16n8k256", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K256),
    ROW("m16n8k32", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K32),
    ROW("m16n8k4", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K4),
    ROW("m16n8k64", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K64),
    ROW("m16n8k8", M_MATRIX, SHAPE, MR_PTX_SHAPE_M16N8K8),
    ROW("m32n8k16", M_MATRIX, SHAPE, MR_PTX_SHAPE_M32N8K16),
    ROW("m8n32k16", M_MATRIX, SHAPE, MR_PTX_SHAPE_M8N32K16),
    ROW("m8n8k128", M_MATRIX, SHAPE, MR_PTX_SHAPE_M8N8K128),
    ROW("m8n8k16", M_MATRIX, SHAPE, MR_PTX_SHAPE_M8N8K16),
    ROW("m8n8k32", M_MATRIX, SHAPE, MR_PTX_SHAPE_M8N8K32),
    ROW("m8n8k4", M_MATRIX, SHAPE, MR_PTX_SHAPE_M8N8K4),
    FLAG("mask", M_MASK, MASK, PTX(30)),
    ATOM("max", MAX),
    QUERY("memory_layout", MEMORY_LAYOUT),
    ATOM("min", MIN),
    FLAG("mmio", M_MMIO, MMIO, PTX(82), SM(70)),
    CMP("nan", NAN),
    CACHE("nc", NC, PTX(31), SM(32)),
    CMP("ne", NE),
    CMP("neu", NEU),
    FLAG("noftz", M_NOFTZ, NOFTZ),
    FLAG("noinc", M_ASYNC, NOINC),
    MODE("normal", M_TESTP, NORMAL),
    QUERY("normalized_coords", NORMALIZED_COORDS),
    MODE("notanumber", M_TESTP, NOTANUMBER),
    CMP("num", NUM),
    QUERY("num_mipmap_levels", NUM_MIPMAP_LEVELS),
    QUERY("num_samples", NUM_SAMPLES),
    MODE("number", M_TESTP, NUMBER),
    FLAG("oob", M_OOB, OOB, PTX(81), SM(90)),
    ATOM("or", OR),
    BOOLOP("or", OR),
    MODE("p", M_SURFACE, FORMATTED),
    FLAG("pack", M_PACK, PACK),
    SPACE("param", PARAM),
    SPACE("param::entry", PARAM_ENTRY, PTX(83)),
    SPACE("param::func", PARAM_FUNC, PTX(83)),
    FLAG("parity", M_ASYNC, PARITY, PTX(71)),
    FLAG("po", M_VMAD, PO),
    MODE2("popc", M_BARRIER, POPC),
    MODE("r", M_SHFDIR, RIGHT),
    MODE2("r", M_CHANNEL, CHANNEL_R),
    MODE("rc16", M_PRMT, RC16),
    MODE("rc8", M_PRMT, RC8),
    MODE("red", M_BARRIER, RED),
    SEM("relaxed", RELAXED, SM(70)),
    SEM("release", RELEASE, SM(70)),
    FLAG("relu", M_RELU, RELU, PTX(70), SM(80)),
    ROUND("rm", RM),
    ROUND("rmi", RMI),
    ROUND("rn", RN),
    ROUND("rna", RNA),
    ROUND("rni", RNI),
    ROW("row", M_MATRIX, LAYOUT, MR_PTX_LAYOUT_ROW),
    ROUND("rp", RP),
    ROUND("rpi", RPI),
    ROUND("rs", RS),
    ROUND("rz", RZ),
    ROUND("rzi", RZI),
    FLAG("sat", M_SAT, SAT),
    FLAG("satfinite", M_SATFINITE, SATFINITE),
    SEM("sc", SC, SM(70)),
    FLAG("scaled::n2::ue8m0", M_SCALED, SCALED),
    SPACE("shared", SHARED),
    SPACE("shared::cluster", SHARED_CLUSTER, PTX(78), SM(90)),
    SPACE("shared::cta", SHARED, PTX(78)),
    FLAG("shiftamt", M_SHIFTAMT, SHIFTAMT),
    MODE("shr15", M_VMAD, SHR15),
    MODE("shr7", M_VMAD, SHR7),
    MODE("subnormal", M_TESTP, SUBNORMAL),
    MODE("sync", M_BARRIER, SYNC),
    FLAG("sync", M_SYNC, SYNC),
    SCOPE("sys", M_SCOPE | M_MEMBAR, SYS),
    FLAG("to", M_TO, TO),
    FLAG("trans", M_MATRIX, TRANS),
    MODE2("trap", M_OUTSIDE, TRAP),
    FLAG("uni", M_UNI, UNI),
    MODE("uni", M_VOTE, UNI),
    MODE("up", M_SHFL, UP),
    VECTOR("v2", 2),
    VECTOR("v4", 4),
    VECTOR("v8", 8),
    SEM("volatile", VOLATILE),
    MODE("wait", M_BARRIER, WAIT),
    MODE2("warp", M_WARP, WARP_SYNC),
    CACHE("wb", WB),
    SEM("weak", WEAK, SM(70)),
    MODE("wide", M_HALF, WIDE),
    QUERY("width", WIDTH),
    MODE2("wrap", M_SHFMODE, WRAP),
    CACHE("wt", WT),
    ROW("x1", M_COUNT, VECTOR, 1),
    ROW("x2", M_COUNT, VECTOR, 2),
    ROW("x4", M_COUNT, VECTOR, 4),
    ATOM("xor", XOR),
    BOOLOP("xor", XOR),
    FLAG("xorsign", M_XORSIGN, XORSIGN, PTX(72), SM(86)),
    MODE2("zero", M_OUTSIDE, ZERO),
};

#define MODIFIER_COUNT (sizeof modifiers / sizeof modifiers[0])

/* As strcmp, for a word that is not terminated. Most words differ in their first letter. */
static int word_compare(const char *word, size_t length, const char *name)
{
    if (word[0] != name[0])
        return (unsigned char)word[0] - (unsigned char)name[0];
    int order = strncmp(word, name, length);
    return order != 0 ? order : -(int)(unsigned char)name[length];
}

static size_t modifier_first(const char *word, size_t length)
{
    size_t low = 0, high = MODIFIER_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (word_compare(word, length, modifiers[middle].word) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct mr_ptx_modifier *mr_ptx_modifier_find(const char *word, size_t length, uint64_t families)
{
    for (size_t i = modifier_first(word, length); i < MODIFIER_COUNT; i++) {
        if (word_compare(word, length, modifiers[i].word) != 0)
            break;
        if (modifiers[i].family & families)
            return &modifiers[i];
    }
    return NULL;
}

bool mr_ptx_modifier_is_known(const char *word, size_t length)
{
    return mr_ptx_modifier_find(word, length, UINT64_MAX) != NULL;
}

bool mr_ptx_tables_are_sorted(void)
{
    for (size_t i = 1; i < MODIFIER_COUNT; i++)
        if (strcmp(modifiers[i - 1].word, modifiers[i].word) > 0)
            return false;
    return true;
}

unsigned mr_ptx_video_lanes(enum mr_ptx_op op)
{
    if (op < MR_PTX_OP_VADD || op > MR_PTX_OP_VSET4)
        return 0;
    return op >= MR_PTX_OP_VADD4 ? 4 : op >= MR_PTX_OP_VADD2 ? 2 : 1;
}

const struct mr_ptx_op_info *mr_ptx_op_info(enum mr_ptx_op op)
{
    return &op_table[op];
}

const char *mr_ptx_op_name(enum mr_ptx_op op)
{
    return op_table[op].name;
}

enum mr_ptx_family mr_ptx_op_family(enum mr_ptx_op op)
{
    return (enum mr_ptx_family)op_table[op].family;
}

bool mr_ptx_type_is_fp8_pair(enum mr_ptx_type type)
{
    return type == MR_PTX_TYPE_E4M3X2 || type == MR_PTX_TYPE_E5M2X2;
}

unsigned mr_ptx_type_bits(enum mr_ptx_type type)
{
    return type_table[type].bits;
}

unsigned mr_ptx_type_bytes(enum mr_ptx_type type)
{
    return (type_table[type].bits + 7u) / 8u;
}

char mr_ptx_type_class(enum mr_ptx_type type)
{
    return type_table[type].cls;
}

const char *mr_ptx_type_name(enum mr_ptx_type type)
{
    return type_table[type].name;
}

const char *mr_ptx_space_name(enum mr_ptx_space space)
{
    return space_table[space];
}

const char *mr_ptx_special_name(enum mr_ptx_special special)
{
    return special_table[special].name;
}

char mr_ptx_special_kind(enum mr_ptx_special special)
{
    return special_table[special].kind;
}

enum mr_ptx_type mr_ptx_type_find(const char *word, size_t length)
{
    for (int i = MR_PTX_TYPE_NONE + 1; i < MR_PTX_TYPE_COUNT; i++)
        if (word[0] == type_table[i].name[0] && word_compare(word, length, type_table[i].name) == 0)
            return (enum mr_ptx_type)i;
    return MR_PTX_TYPE_NONE;
}

enum mr_ptx_space mr_ptx_space_find(const char *word, size_t length)
{
    for (int i = MR_PTX_SPACE_GENERIC + 1; i < MR_PTX_SPACE_COUNT; i++)
        if (word_compare(word, length, space_table[i]) == 0)
            return (enum mr_ptx_space)i;
    return word_compare(word, length, "shared::cta") == 0 ? MR_PTX_SPACE_SHARED : MR_PTX_SPACE_GENERIC;
}

/* The decimal number in all of `text`, or UINT32_MAX. */
static uint32_t small_number(const char *text, size_t length)
{
    uint32_t value = 0;
    if (length == 0 || length > 3)
        return UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return UINT32_MAX;
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    return value;
}

enum mr_ptx_special mr_ptx_special_find(const char *name, size_t length, uint32_t *number)
{
    *number = 0;
    for (int i = MR_PTX_SPECIAL_NONE + 1; i < MR_PTX_SPECIAL_COUNT; i++) {
        const char *own = special_table[i].name;
        if (name[0] != own[0])
            continue;
        if (special_table[i].kind != 'N') {
            if (word_compare(name, length, own) == 0)
                return (enum mr_ptx_special)i;
            continue;
        }
        size_t prefix = strlen(i == MR_PTX_SPECIAL_PM64 ? "pm" : own);
        size_t suffix = i == MR_PTX_SPECIAL_PM64 ? 3 : 0;
        if (length <= prefix + suffix || strncmp(name, own, prefix) != 0)
            continue;
        if (suffix && strncmp(name + length - suffix, "_64", suffix) != 0)
            continue;
        uint32_t value = small_number(name + prefix, length - prefix - suffix);
        uint32_t limit = i == MR_PTX_SPECIAL_ENVREG ? 32 : i == MR_PTX_SPECIAL_RESERVED_SMEM_OFFSET ? 2 : 8;
        if (value < limit) {
            *number = value;
            return (enum mr_ptx_special)i;
        }
    }
    return MR_PTX_SPECIAL_NONE;
}

#define T(id) (UINT64_C(1) << MR_PTX_TYPE_##id)

uint64_t mr_ptx_type_letter_set(char letter)
{
    switch (letter) {
    case 'i':
        return T(U16) | T(U32) | T(U64) | T(S16) | T(S32) | T(S64);
    case 'w':
        return T(U32) | T(S32);
    case 'q':
        return T(U64) | T(S64);
    case 'u':
        return T(U32);
    case 'U':
        return T(U64);
    case 'o':
        return T(B8) | T(U8) | T(S8);
    case 'b':
        return T(B16) | T(B32) | T(B64);
    case 'x':
        return T(B32);
    case 'y':
        return T(B64);
    case 'Q':
        return T(B128);
    case 'f':
        return T(F32) | T(F64);
    case 's':
        return T(F32);
    case 'd':
        return T(F64);
    case 'p':
        return T(PRED);
    case 'h':
        return T(F16) | T(F16X2) | T(BF16) | T(BF16X2);
    case 'k':
        return T(F16) | T(BF16);
    case 'v':
        return T(U16X2) | T(S16X2);
    case '2':
        return T(F32X2);
    case 'r':
        return T(TEXREF) | T(SAMPLERREF) | T(SURFREF);
    case 't':
        return T(TF32) | T(E4M3) | T(E5M2) | T(E4M3X2) | T(E5M2X2) | T(E2M1X2) | T(E2M3X2) | T(E3M2X2) | T(UE8M0X2) |
               T(U4) | T(S4) | T(U2) | T(S2);
    default:
        return 0;
    }
}
