/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mma and wmma.mma: D = A * B + C of matrices that lie spread over the registers
 * of a warp.
 *
 * A register of the warp is a vector of 32 lanes here, so one vector of results
 * is a chain of multiply-adds of vectors, one for each k: in each lane's place
 * the element of A of its row, and the element of B of its column. Which lane and
 * register those come from is known now (cg_matrix_place_of_factor, cg_matrix_place_of_sum), so they
 * are shuffles with constant masks. Floats are added to C one product after the
 * other in the order of k, each time as one fused operation: f32 for all formats
 * of 8 to 32 bits, f64 for f64. A result of f16 is rounded once, at the end.
 *
 * A sparse A holds half of each row. Its elements are taken one after the other
 * too; metadata says, for each lane's row, which of the group's elements of B
 * they meet, so that element is selected from all of the group.
 *
 * Each form becomes a function of its own in the object, called with pointers to
 * the registers: a kernel may multiply a hundred times.
 */
#include "compile/codegen/emit/matrix.h"

#include <stdio.h>

/* Which tile of a fragment lies at a line and `along` it, in tiles of that many elements; `length` is that of the
 * lines. */
static unsigned tile_at(const struct cg_product *p, unsigned name, unsigned line, unsigned along, unsigned depth,
                        unsigned length)
{
    unsigned tall = mr_ptx_matrix_tall(&p->op, (enum mr_ptx_matrix_name)name), tile = line / 8;
    return tile % tall + tall * (along / depth + length / depth * (tile / tall));
}

/* An element of A (`line` is its row) or B (`line` is its column). A tile of eight lines and 128 bits of each is one
 * register: four lanes hold a line, each as many neighbours as fit. */
struct cg_matrix_place cg_matrix_place_of_factor(const struct cg_product *p, unsigned name, unsigned line, unsigned k,
                                                 unsigned quad)
{
    if (p->op.quads) {
        unsigned along = p->transposed[name] ? line % 4 : k, across = p->transposed[name] ? k : line % 4;
        return (struct cg_matrix_place){along / 2, along % 2, 4 * quad + across + 16 * (line / 4)};
    }
    unsigned parts = p->op.parts[name], depth = 4 * parts;
    unsigned length = p->op.group && name == MR_PTX_MATRIX_A ? p->op.k / 2u
                      : p->op.type[name] == MR_PTX_TYPE_B1   ? p->op.k / 32u
                                                             : p->op.k;
    return (struct cg_matrix_place){tile_at(p, name, line, k, depth, length), k % parts,
                                    line % 8 * 4 + k % depth / parts};
}

/* An element of C or D: four lanes hold a line of a tile of eight times eight, each two neighbours. */
struct cg_matrix_place cg_matrix_place_of_sum(const struct cg_product *p, unsigned name, struct cg_matrix_element e)
{
    bool halves = p->op.type[name] == MR_PTX_TYPE_F16;
    if (p->op.quads && halves)
        return (struct cg_matrix_place){e.col / 2, e.col % 2, 4 * e.quad + e.row % 4 + 16 * (e.row / 4)};
    if (p->op.quads)
        return (struct cg_matrix_place){(e.col & 4) + (e.row & 2) + (e.col & 1), 0,
                                        4 * e.quad + (e.row & 1) + (e.col & 2) + 16 * (e.row / 4)};
    unsigned line = p->op.turned ? e.col : e.row, along = p->op.turned ? e.row : e.col,
             lane = line % 8 * 4 + along % 8 / 2;
    unsigned tile = tile_at(p, name, line, along, 8, p->op.turned ? p->op.m : p->op.n);
    return halves ? (struct cg_matrix_place){tile, along % 2, lane}
                  : (struct cg_matrix_place){2 * tile + along % 2, 0, lane};
}

static LLVMValueRef constant(struct cg_product *p, uint64_t value)
{
    return cg_int(p->g, p->g->unit->i32, value);
}

/* Part of a register of 32 bits as an integer of 32, extended. */
static LLVMValueRef integer_part(struct cg_product *p, LLVMValueRef reg, unsigned part, unsigned bits, bool is_signed)
{
    LLVMValueRef high = LLVMBuildShl(p->g->b, reg, constant(p, 32 - bits * (part + 1)), "");
    return LLVMBuildBinOp(p->g->b, is_signed ? LLVMAShr : LLVMLShr, high, constant(p, 32 - bits), "");
}

LLVMValueRef cg_matrix_convert_part(struct cg_product *p, unsigned name, unsigned reg, unsigned part)
{
    struct cg *g = p->g;
    LLVMValueRef whole = p->regs[name][reg];
    unsigned type = p->op.type[name], bits = mr_ptx_type_bits((enum mr_ptx_type)type);
    bool is_signed = type == MR_PTX_TYPE_S8 || type == MR_PTX_TYPE_S4;
    switch (type) {
    case MR_PTX_TYPE_F32:
    case MR_PTX_TYPE_F64:
        return cg_cast_bits(g, whole, p->work);
    case MR_PTX_TYPE_F16:
        return cg_half_to_float(g, cg_resize(g, integer_part(p, whole, part, 16, false), g->unit->i16, false));
    case MR_PTX_TYPE_BF16:
        return cg_bfloat_to_float(g, cg_resize(g, integer_part(p, whole, part, 16, false), g->unit->i16, false));
    case MR_PTX_TYPE_TF32:
        return cg_cast_bits(g, LLVMBuildAnd(g->b, whole, constant(p, 0xffffe000), ""), g->unit->f32);
    case MR_PTX_TYPE_E4M3:
    case MR_PTX_TYPE_E5M2:
        return cg_half_to_float(g, cg_fp8_to_half(g, integer_part(p, whole, part, 8, false),
                                                  type == MR_PTX_TYPE_E4M3 ? MR_PTX_TYPE_E4M3X2 : MR_PTX_TYPE_E5M2X2,
                                                  false));
    case MR_PTX_TYPE_B1:
    case MR_PTX_TYPE_S32:
        return whole;
    default:
        return integer_part(p, whole, part, bits, is_signed);
    }
}

static LLVMValueRef converted(struct cg_product *p, unsigned name, unsigned reg, unsigned part)
{
    LLVMValueRef *place = &p->parts[name][reg][part];
    if (!*place)
        *place = cg_matrix_convert_part(p, name, reg, part);
    return *place;
}

/* A vector whose lane l holds the element at places[l]. */
static LLVMValueRef gather(struct cg_product *p, unsigned name, const struct cg_matrix_place *places)
{
    struct cg *g = p->g;
    LLVMTypeRef i32 = g->unit->i32;
    bool done[CG_LANES] = {false};
    LLVMValueRef all = NULL;
    for (unsigned first = 0; first < CG_LANES; first++) {
        LLVMValueRef from[CG_LANES], takes[CG_LANES];
        if (done[first])
            continue;
        for (unsigned lane = 0; lane < CG_LANES; lane++) {
            bool same = !done[lane] && places[lane].reg == places[first].reg && places[lane].part == places[first].part;
            done[lane] |= same;
            from[lane] = same ? LLVMConstInt(i32, places[lane].lane, false) : LLVMGetPoison(i32);
            takes[lane] = LLVMConstInt(g->unit->i1, same, false);
        }
        LLVMValueRef source = converted(p, name, places[first].reg, places[first].part);
        LLVMValueRef some = LLVMBuildShuffleVector(g->b, source, LLVMGetPoison(LLVMTypeOf(source)),
                                                   LLVMConstVector(from, CG_LANES), "");
        all = all ? LLVMBuildSelect(g->b, LLVMConstVector(takes, CG_LANES), some, all, "") : some;
    }
    return all;
}

static LLVMValueRef gather_factor(struct cg_product *p, unsigned name, const struct cg_matrix_element *elements,
                                  unsigned k)
{
    struct cg_matrix_place places[CG_LANES];
    for (unsigned lane = 0; lane < CG_LANES; lane++)
        places[lane] = cg_matrix_place_of_factor(
            p, name, name == MR_PTX_MATRIX_A ? elements[lane].row : elements[lane].col, k, elements[lane].quad);
    return gather(p, name, places);
}

/* sum + a * b. */
static LLVMValueRef multiply_add(struct cg_product *p, LLVMValueRef sum, LLVMValueRef a, LLVMValueRef b)
{
    struct cg *g = p->g;
    if (p->op.type[MR_PTX_MATRIX_A] == MR_PTX_TYPE_B1) {
        LLVMValueRef both = p->ands ? LLVMBuildAnd(g->b, a, b, "") : LLVMBuildXor(g->b, a, b, "");
        return LLVMBuildAdd(g->b, sum, cg_unary(g, "llvm.ctpop", both), "");
    }
    if (p->work == g->unit->i32)
        return LLVMBuildAdd(g->b, sum, LLVMBuildMul(g->b, a, b, ""), "");
    if (p->rounding == MR_PTX_ROUND_NONE || p->rounding == MR_PTX_ROUND_RN)
        return cg_fma(g, a, b, sum);
    return cg_rounded(g, "fma", p->rounding, LLVMTypeOf(sum), (LLVMValueRef[]){a, b, sum}, 3);
}

/* Four bits of metadata for each lane's row, and more above them. A lane's register has those of four groups of two
 * rows, which are eight apart; for elements of 8 bits and less those of eight groups of one row, and the next lane
 * those of the row eight below. */
static LLVMValueRef metadata_of(struct cg_product *p, const struct cg_matrix_element *elements, unsigned group)
{
    struct cg *g = p->g;
    LLVMValueRef from[CG_LANES], shift[CG_LANES];
    unsigned lanes = mr_ptx_matrix_groups(&p->op) / 4;
    bool narrow = mr_ptx_type_bits((enum mr_ptx_type)p->op.type[MR_PTX_MATRIX_A]) <= 8;
    for (unsigned lane = 0; lane < CG_LANES; lane++) {
        unsigned row = elements[lane].row, half = row / 8;
        unsigned which = narrow ? group / 8 * 2 + half : group / 4, nibble = narrow ? group % 8 : half * 4 + group % 4;
        from[lane] = LLVMConstInt(g->unit->i32, row % 8 * 4 + p->selector * lanes + which, false);
        shift[lane] = LLVMConstInt(g->unit->i32, nibble * 4, false);
    }
    LLVMValueRef whole = LLVMBuildShuffleVector(g->b, p->metadata, LLVMGetPoison(LLVMTypeOf(p->metadata)),
                                                LLVMConstVector(from, CG_LANES), "");
    return LLVMBuildLShr(g->b, whole, LLVMConstVector(shift, CG_LANES), "");
}

/* Whether a bit of the metadata is set, for each lane. */
static LLVMValueRef metadata_bit(struct cg_product *p, LLVMValueRef metadata, unsigned bit)
{
    LLVMValueRef alone = LLVMBuildAnd(p->g->b, metadata, constant(p, UINT64_C(1) << bit), "");
    return LLVMBuildICmp(p->g->b, LLVMIntNE, alone, constant(p, 0), "");
}

/* sum + the products of what is kept of a group. */
static LLVMValueRef multiply_add_group(struct cg_product *p, LLVMValueRef sum, const struct cg_matrix_element *elements,
                                       unsigned group)
{
    struct cg *g = p->g;
    unsigned size = p->op.group, kept = size / 2, first = group * size;
    LLVMValueRef metadata = metadata_of(p, elements, group), b[8] = {NULL};
    for (unsigned i = 0; i < size; i++)
        b[i] = gather_factor(p, MR_PTX_MATRIX_B, elements, first + i);
    for (unsigned i = 0; i < kept; i++) {
        LLVMValueRef met;
        if (size == 2) {
            met = LLVMBuildSelect(g->b, metadata_bit(p, metadata, 3), b[1], b[0], "");
        } else {
            /* Of four places, each an element or (4 bits) two, a pair of bits names one. */
            unsigned width = size == 8 ? 2 : 1, bit = i / width * 2, within = i % width;
            LLVMValueRef odd = metadata_bit(p, metadata, bit), high = metadata_bit(p, metadata, bit + 1);
            LLVMValueRef low_half = LLVMBuildSelect(g->b, odd, b[width + within], b[within], "");
            LLVMValueRef high_half = LLVMBuildSelect(g->b, odd, b[3 * width + within], b[2 * width + within], "");
            met = LLVMBuildSelect(g->b, high, high_half, low_half, "");
        }
        sum = multiply_add(p, sum, gather_factor(p, MR_PTX_MATRIX_A, elements, group * kept + i), met);
    }
    return sum;
}

/* sum + all products. */
static LLVMValueRef multiply_add_all(struct cg_product *p, LLVMValueRef sum, const struct cg_matrix_element *elements)
{
    if (p->op.group) {
        for (unsigned i = 0; i < mr_ptx_matrix_groups(&p->op); i++)
            sum = multiply_add_group(p, sum, elements, i);
        return sum;
    }
    unsigned depth = p->op.type[MR_PTX_MATRIX_A] == MR_PTX_TYPE_B1 ? p->op.k / 32u : p->op.k;
    for (unsigned k = 0; k < depth; k++)
        sum = multiply_add(p, sum, gather_factor(p, MR_PTX_MATRIX_A, elements, k),
                           gather_factor(p, MR_PTX_MATRIX_B, elements, k));
    return sum;
}

/* A vector of results. Integers are added up first, so that saturation looks at the exact sum. */
static LLVMValueRef results(struct cg_product *p, const struct cg_matrix_element *elements)
{
    struct cg *g = p->g;
    struct cg_matrix_place places[CG_LANES];
    for (unsigned lane = 0; lane < CG_LANES; lane++)
        places[lane] = cg_matrix_place_of_sum(p, MR_PTX_MATRIX_C, elements[lane]);
    LLVMValueRef c = gather(p, MR_PTX_MATRIX_C, places);
    bool integers = p->work == g->unit->i32;
    LLVMValueRef sum = multiply_add_all(p, integers ? constant(p, 0) : c, elements);
    if (!integers)
        return p->work == g->unit->f32 ? cg_nan_mended(g, sum) : sum;
    return p->saturates ? cg_binary(g, "llvm.sadd.sat", c, sum) : LLVMBuildAdd(g->b, c, sum, "");
}

/* Which element lies where in D, the other way round. */
static void find_elements(const struct cg_product *p, struct cg_matrix_element elements[CG_MATRIX_REGS][2][CG_LANES])
{
    for (unsigned quad = 0; quad < (p->op.quads ? 4 : 1); quad++)
        for (unsigned row = 0; row < p->op.m; row++)
            for (unsigned col = 0; col < p->op.n; col++) {
                struct cg_matrix_element e = {row, col, quad};
                struct cg_matrix_place at = cg_matrix_place_of_sum(p, MR_PTX_MATRIX_D, e);
                elements[at.reg][at.part][at.lane] = e;
            }
}

static LLVMTypeRef register_type(const struct cg *g, unsigned type)
{
    return cg_vector_type(type == MR_PTX_TYPE_F64 ? g->unit->i64 : g->unit->i32, CG_LANES);
}

static LLVMValueRef register_place(struct cg *g, LLVMBuilderRef b, LLVMValueRef base, LLVMTypeRef type, unsigned index)
{
    LLVMValueRef at = LLVMConstInt(g->unit->i32, index, false);
    return LLVMBuildGEP2(b, type, base, &at, 1, "");
}

/* A sum as f16, to the nearest. `.satfinite` of old wmma rounds a sum that began as f32 towards zero, so that none
 * overflows, and does nothing else: a sum that is infinite stays so. That is what hardware does. */
LLVMValueRef cg_matrix_half_of_sum(struct cg_product *p, LLVMValueRef sum)
{
    struct cg *g = p->g;
    LLVMValueRef half = cg_float_to_half(g, sum);
    if (!p->saturates || p->op.type[MR_PTX_MATRIX_C] != MR_PTX_TYPE_F32)
        return half;
    LLVMValueRef above = LLVMBuildFCmp(g->b, LLVMRealOGT, cg_unary(g, "llvm.fabs", cg_half_to_float(g, half)),
                                       cg_unary(g, "llvm.fabs", sum), "");
    return LLVMBuildSub(g->b, half, LLVMBuildZExt(g->b, above, LLVMTypeOf(half), ""), "");
}

static void fill_function(struct cg_product *p, LLVMValueRef fn)
{
    struct cg *g = p->g;
    struct cg_matrix_element elements[CG_MATRIX_REGS][2][CG_LANES];
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->unit->context, fn, ""));
    for (unsigned name = 0; name < MR_PTX_MATRIX_D; name++) {
        LLVMTypeRef type = register_type(g, p->op.type[name]);
        for (unsigned i = 0; i < p->op.regs[name]; i++)
            p->regs[name][i] = LLVMBuildLoad2(g->b, type, register_place(g, g->b, LLVMGetParam(fn, name), type, i), "");
    }
    if (p->op.group) {
        LLVMTypeRef type = register_type(g, MR_PTX_TYPE_B32);
        LLVMValueRef place =
            register_place(g, g->b, LLVMGetParam(fn, MR_PTX_MATRIX_A), type, p->op.regs[MR_PTX_MATRIX_A]);
        p->metadata = LLVMBuildLoad2(g->b, type, place, "");
    }
    find_elements(p, elements);
    LLVMTypeRef type = register_type(g, p->op.type[MR_PTX_MATRIX_D]);
    bool halves = p->op.type[MR_PTX_MATRIX_D] == MR_PTX_TYPE_F16;
    for (unsigned i = 0; i < p->op.regs[MR_PTX_MATRIX_D]; i++) {
        LLVMValueRef value = results(p, elements[i][0]);
        if (halves) {
            LLVMValueRef low = cg_resize(g, cg_matrix_half_of_sum(p, value), g->unit->i32, false);
            LLVMValueRef high = cg_resize(g, cg_matrix_half_of_sum(p, results(p, elements[i][1])), g->unit->i32, false);
            value = LLVMBuildOr(g->b, low, LLVMBuildShl(g->b, high, constant(p, 16), ""), "");
        }
        value = LLVMBuildBitCast(g->b, value, type, "");
        LLVMBuildStore(g->b, value, register_place(g, g->b, LLVMGetParam(fn, MR_PTX_MATRIX_D), type, i));
    }
    LLVMBuildRetVoid(g->b);
}

static LLVMTypeRef work_type(const struct cg_unit *unit, const struct mr_ptx_matrix_op *op)
{
    switch (op->type[MR_PTX_MATRIX_D]) {
    case MR_PTX_TYPE_F64:
        return unit->f64;
    case MR_PTX_TYPE_S32:
        return unit->i32;
    default:
        return unit->f32;
    }
}

static unsigned selector_of(const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op)
{
    return op->group ? (unsigned)inst->operands[5].value % mr_ptx_matrix_selectors(op) : 0;
}

void cg_matrix_name(const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op, char *name, size_t size)
{
    snprintf(name, size, "mr.matrix.%u.%u.%u.%u.%u.%u.%u.%u.%u.%u.%u.%u.%u.%u", op->m, op->n, op->k, op->type[0],
             op->type[1], op->type[2], op->type[3], (inst->flags & MR_PTX_FLAG_SATFINITE) != 0, inst->boolop,
             inst->rounding, op->quads ? inst->layout[0] : 0, op->quads ? inst->layout[1] : 0, op->group,
             selector_of(inst, op));
}

struct cg_product cg_matrix_product(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op)
{
    struct cg_product p = {.g = g,
                           .op = *op,
                           .saturates = inst->flags & MR_PTX_FLAG_SATFINITE,
                           .ands = inst->boolop == MR_PTX_BOOL_AND,
                           .rounding = inst->rounding,
                           .selector = selector_of(inst, op),
                           .work = work_type(g->unit, op)};
    p.transposed[MR_PTX_MATRIX_A] = inst->layout[0] == MR_PTX_LAYOUT_COL;
    p.transposed[MR_PTX_MATRIX_B] = inst->layout[1] == MR_PTX_LAYOUT_ROW;
    return p;
}

/* The function of a form: void (A, B, C, D). A sparse matrix's metadata lies behind A's registers. */
static LLVMValueRef product_function(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op)
{
    struct cg_unit *unit = g->unit;
    char name[128];
    cg_matrix_name(inst, op, name, sizeof name);
    LLVMValueRef fn = LLVMGetNamedFunction(unit->module, name);
    if (fn)
        return fn;
    LLVMTypeRef params[MR_PTX_MATRIX_COUNT] = {unit->ptr, unit->ptr, unit->ptr, unit->ptr};
    fn = LLVMAddFunction(unit->module, name, LLVMFunctionType(unit->void_type, params, MR_PTX_MATRIX_COUNT, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_helper_attributes(g, fn);
    struct cg inner = *g;
    inner.b = LLVMCreateBuilderInContext(unit->context);
    inner.fn = fn;
    inner.place = NULL;
    inner.now.lanes = CG_LANES;
    struct cg_product p = cg_matrix_product(&inner, inst, op);
    fill_function(&p, fn);
    LLVMDisposeBuilder(inner.b);
    return fn;
}

/* Room for all four matrices, made once for a function. */
static LLVMValueRef matrix_room(struct cg *g, unsigned name)
{
    LLVMTypeRef type = LLVMArrayType2(cg_vector_type(g->unit->i64, CG_LANES), MR_PTX_MATRIX_COUNT * CG_MATRIX_REGS);
    if (!g->memory.matrices) {
        g->memory.matrices = cg_slot(g, type, "matrices");
        LLVMSetAlignment(g->memory.matrices, 64);
        g->memory.bytes += (uint64_t)MR_PTX_MATRIX_COUNT * CG_MATRIX_REGS * CG_LANES * 8;
    }
    LLVMValueRef at[2] = {LLVMConstInt(g->unit->i32, 0, false),
                          LLVMConstInt(g->unit->i32, name * CG_MATRIX_REGS, false)};
    return LLVMBuildInBoundsGEP2(g->b, type, g->memory.matrices, at, 2, "");
}

void cg_emit_product(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct mr_ptx_matrix_op op = mr_ptx_matrix_of(inst);
    if (cg_matrix_has_lines(g, inst, &op)) {
        cg_emit_product_of_lines(g, inst, &op);
        return;
    }
    LLVMValueRef fn = product_function(g, inst, &op), rooms[MR_PTX_MATRIX_COUNT];
    g->now.lanes = CG_LANES;
    for (unsigned name = 0; name < MR_PTX_MATRIX_COUNT; name++)
        rooms[name] = matrix_room(g, name);
    for (unsigned name = 0; name < MR_PTX_MATRIX_D; name++) {
        LLVMTypeRef type = register_type(g, op.type[name]);
        for (unsigned i = 0; i < op.regs[name]; i++) {
            LLVMValueRef value = cg_source(g, &inst->operands[1 + name].elements[i], LLVMGetElementType(type));
            LLVMBuildStore(g->b, value, register_place(g, g->b, rooms[name], type, i));
        }
    }
    if (op.group) {
        LLVMTypeRef type = register_type(g, MR_PTX_TYPE_B32);
        LLVMBuildStore(g->b, cg_source(g, &inst->operands[4], g->unit->i32),
                       register_place(g, g->b, rooms[MR_PTX_MATRIX_A], type, op.regs[MR_PTX_MATRIX_A]));
    }
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, rooms, MR_PTX_MATRIX_COUNT, "");
    LLVMTypeRef type = register_type(g, op.type[MR_PTX_MATRIX_D]);
    for (unsigned i = 0; i < op.regs[MR_PTX_MATRIX_D]; i++)
        cg_write(g, &inst->operands[0].elements[i],
                 LLVMBuildLoad2(g->b, type, register_place(g, g->b, rooms[MR_PTX_MATRIX_D], type, i), ""));
}
