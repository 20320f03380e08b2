/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Products of matrices by whole lines: the quick way, for forms of the common formats.
 *
 * C and D are taken apart into vectors of 16 or 32 lines (rows of the product, or columns if it is turned), one for
 * each place along the lines. Each step of a product then multiplies a vector of one factor, the *lines*, by one number
 * of the other, the *others*, for each of these vectors; processors read such a number from memory into all places of a
 * vector as they multiply. Both factors are written to the frame for that, converted: the lines as a vector for each
 * step, the others as they lie in registers. The order in which a result's products are added is that of k, and each is
 * a fused operation, as in matrix.c: the bits are the same.
 *
 * Integers go in steps of four, by the instruction that multiplies bytes without a sign by bytes with one and adds four
 * products to a sum; where both have a sign or neither has, one gets an offset of 128, and what that adds is taken off
 * again. Without that instruction they go in steps of two, as pairs of 16 bits. Sums of 32 bits wrap, so their order
 * can't be told.
 *
 * Five functions of the object do the work, so that a kernel of a hundred products stays small: one writes the lines,
 * one the others, one takes C apart, one multiplies, and one puts D together. They get and give values in registers.
 * What they made serves later products as long as the registers keep it (matrix_kept.c).
 */
#include <stdio.h>
#include <string.h>

#include "compile/codegen/emit/matrix_kept.h"
#include "compile/codegen/emit/matrix_vectors.h"

/* How numbers are multiplied: FMA one by one; BYTES four at a time; PAIRS of 16 bits. */
enum way { FMA, BYTES, PAIRS };

#define X86_REG_CALL 92 /* LLVM's number of the calling convention that passes most in registers */

struct form {
    struct cg_product p;
    enum way way;
    unsigned line_name, other_name;  /* MR_PTX_MATRIX_A or _B */
    unsigned lines, along, steps;
    bool line_is_signed, other_is_signed;
    char name[128];                  /* of the multiplying function; the others' begin like it */
};

/* --- What a form is ------------------------------------------------------------ */

static bool is_byte(unsigned type)
{
    return type == MR_PTX_TYPE_S8 || type == MR_PTX_TYPE_U8;
}

static bool is_float(unsigned type)
{
    return type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_BF16 || type == MR_PTX_TYPE_TF32 ||
           type == MR_PTX_TYPE_E4M3 || type == MR_PTX_TYPE_E5M2;
}

bool cg_matrix_has_lines(const struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op)
{
    unsigned a = op->type[MR_PTX_MATRIX_A], b = op->type[MR_PTX_MATRIX_B];
    unsigned room = 16 * (g->unit->wide ? 64 : 32); /* of the registers that functions take and give */
    if (op->quads || op->group || g->unit->width != CG_LANES || (op->turned ? op->n : op->m) < 16)
        return false;
    if (!g->unit->pairs || op->m * op->n * 4u > room)
        return false;
    if (is_byte(a) && is_byte(b))
        return true;
    return is_float(a) && is_float(b) && (inst->rounding == MR_PTX_ROUND_NONE || inst->rounding == MR_PTX_ROUND_RN);
}

static struct form describe(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op)
{
    struct form f = {.p = cg_matrix_product(g, inst, op),
                     .line_name = op->turned ? MR_PTX_MATRIX_B : MR_PTX_MATRIX_A,
                     .other_name = op->turned ? MR_PTX_MATRIX_A : MR_PTX_MATRIX_B,
                     .lines = op->turned ? op->n : op->m,
                     .along = op->turned ? op->m : op->n,
                     .way = is_float(op->type[MR_PTX_MATRIX_A]) ? FMA
                            : g->unit->bytes                    ? BYTES
                                                                : PAIRS};
    f.steps = f.way == FMA ? op->k : f.way == BYTES ? op->k / 4u : op->k / 2u;
    f.line_is_signed = op->type[f.line_name] == MR_PTX_TYPE_S8;
    f.other_is_signed = op->type[f.other_name] == MR_PTX_TYPE_S8;
    cg_matrix_name(inst, op, f.name, sizeof f.name);
    return f;
}

/* Registers of a factor that hold something else than the ones before. */
static unsigned registers_of(const struct form *f, unsigned name)
{
    unsigned lines = name == f->line_name ? f->lines : f->along;
    return lines * f->p.op.k / f->p.op.parts[name] / CG_LANES;
}

/* Vectors of 32 that a register of the others becomes. */
static unsigned planes_of(const struct form *f)
{
    return f->way == BYTES ? 1 : f->way == PAIRS ? 2 : f->p.op.parts[f->other_name];
}

static unsigned line_bytes(const struct form *f)
{
    return (f->steps + 1) * f->lines * 4;
}

static unsigned other_bytes(const struct form *f)
{
    return registers_of(f, f->other_name) * planes_of(f) * CG_LANES * 4 + 64;
}

/* Where the others' number of a step stands, in words. */
static unsigned other_at(const struct form *f, unsigned along, unsigned step)
{
    unsigned k = f->way == FMA ? step : f->way == BYTES ? 4 * step : step / 2 * 4;
    struct cg_matrix_place place = cg_matrix_place_of_factor(&f->p, f->other_name, along, k, 0);
    unsigned plane = f->way == PAIRS ? step % 2 : place.part;
    return (place.reg * planes_of(f) + plane) * CG_LANES + place.lane;
}

/* --- Vectors --------------------------------------------------------------------- */

static LLVMTypeRef work_vector(const struct form *f)
{
    return cg_vector_type(f->p.work, f->lines);
}

static LLVMValueRef element_place(struct cg *g, LLVMValueRef base, unsigned words)
{
    LLVMValueRef at = LLVMConstInt(g->unit->i32, words, false);
    return LLVMBuildGEP2(g->b, g->unit->i32, base, &at, 1, "");
}

static void store_words(struct cg *g, LLVMValueRef base, unsigned words, LLVMValueRef value)
{
    LLVMSetAlignment(LLVMBuildStore(g->b, value, element_place(g, base, words)), 64);
}

/* --- Functions ---------------------------------------------------------------------- */

static void add_attribute(const struct cg *g, LLVMValueRef fn, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->unit->context, kind, value));
}

/* A function of the object; *made if it is new and wants a body. `pure`: nothing but its result comes of it. */
static LLVMValueRef function_of(struct cg *g, const struct form *f, const char *what, LLVMTypeRef type, bool pure,
                                bool *made)
{
    char name[160];
    snprintf(name, sizeof name, "%s.%s", f->name, what);
    LLVMValueRef fn = LLVMGetNamedFunction(g->unit->module, name);
    *made = !fn;
    if (fn)
        return fn;
    fn = LLVMAddFunction(g->unit->module, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(fn, X86_REG_CALL);
    cg_helper_attributes(g, fn);
    add_attribute(g, fn, "willreturn", 0);
    if (pure)
        add_attribute(g, fn, "memory", 0);
    return fn;
}

static LLVMValueRef call(struct cg *g, LLVMValueRef fn, LLVMValueRef *args, unsigned count)
{
    LLVMValueRef result = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, count, "");
    LLVMSetInstructionCallConv(result, X86_REG_CALL);
    return result;
}

/* The function at hand while a helper's body is emitted, which f->p.g has to name meanwhile. */
static struct cg begin_body(const struct cg *g, struct form *f, LLVMValueRef fn)
{
    struct cg inner = *g;
    inner.b = LLVMCreateBuilderInContext(g->unit->context);
    inner.fn = fn;
    inner.place = NULL;
    inner.now.lanes = CG_LANES;
    memset(f->p.parts, 0, sizeof f->p.parts);
    LLVMPositionBuilderAtEnd(inner.b, LLVMAppendBasicBlockInContext(g->unit->context, fn, ""));
    return inner;
}

static void end_body(struct cg *g, struct form *f, struct cg *inner)
{
    LLVMDisposeBuilder(inner->b);
    f->p.g = g;
}

/* A structure of so many vectors of a type. */
static LLVMTypeRef several(const struct cg *g, LLVMTypeRef type, unsigned count)
{
    LLVMTypeRef types[32];
    for (unsigned i = 0; i < count; i++)
        types[i] = type;
    return LLVMStructTypeInContext(g->unit->context, types, count, false);
}

static LLVMValueRef packed(struct cg *g, LLVMTypeRef type, const LLVMValueRef *values, unsigned count)
{
    LLVMValueRef all = LLVMGetPoison(several(g, type, count));
    for (unsigned i = 0; i < count; i++)
        all = LLVMBuildInsertValue(g->b, all, values[i], i, "");
    return all;
}

/* void (registers of a factor, place to write to). */
static LLVMTypeRef writer_type(const struct cg *g, unsigned registers)
{
    LLVMTypeRef params[CG_MATRIX_REGS + 1];
    for (unsigned i = 0; i < registers; i++)
        params[i] = cg_vector_type(g->unit->i32, CG_LANES);
    params[registers] = g->unit->ptr;
    return LLVMFunctionType(g->unit->void_type, params, registers + 1, false);
}

static void take_registers(struct form *f, unsigned name, LLVMValueRef fn, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        f->p.regs[name][i] = LLVMGetParam(fn, i);
}

/* --- Factors ------------------------------------------------------------------------------ */

/* Words of all lines at a place along them, from registers that are turned over. */
static LLVMValueRef line_words(struct cg *g, const struct form *f, const LLVMValueRef *registers, unsigned k)
{
    LLVMValueRef tiles[4];
    unsigned at = 0;
    for (unsigned i = 0; i < f->lines / 8; i++) {
        struct cg_matrix_place place = cg_matrix_place_of_factor(&f->p, f->line_name, 8 * i, k, 0);
        tiles[i] = registers[place.reg];
        at = place.lane;
    }
    return cg_lines_of(g, tiles, f->lines, at);
}

static void write_float_lines(struct cg *g, struct form *f, LLVMValueRef to, unsigned count)
{
    unsigned type = f->p.op.type[f->line_name], parts = f->p.op.parts[f->line_name];
    bool words = parts == 2; /* they stay words until they are in line */
    LLVMValueRef planes[4][CG_MATRIX_REGS];
    for (unsigned part = 0; part < (words ? 1 : parts); part++)
        for (unsigned i = 0; i < count; i++)
            planes[part][i] = cg_turned_over(
                g, words ? f->p.regs[f->line_name][i] : cg_matrix_convert_part(&f->p, f->line_name, i, part), false);
    for (unsigned k = 0; k < f->steps; k++) {
        LLVMValueRef line = line_words(g, f, planes[words ? 0 : k & (parts - 1)], k);
        if (words)
            line = cg_float_of(g, line, k % 2, type == MR_PTX_TYPE_BF16);
        store_words(g, to, k * f->lines, line);
    }
}

/* Integers; behind them, where both factors have no sign, what the others' offset takes off each line's sum. */
static void write_whole_lines(struct cg *g, struct form *f, LLVMValueRef to, unsigned count)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef tiles[CG_MATRIX_REGS], sum = cg_all_of(i32, 0, f->lines);
    for (unsigned i = 0; i < count; i++)
        tiles[i] = cg_turned_over(g, f->p.regs[f->line_name][i], false);
    for (unsigned k = 0; k < f->p.op.k; k += 4) {
        LLVMValueRef words = line_words(g, f, tiles, k);
        if (f->way == PAIRS) {
            for (unsigned odd = 0; odd < 2; odd++)
                store_words(g, to, (k / 2 + odd) * f->lines, cg_pair_of(g, words, odd, f->line_is_signed));
            continue;
        }
        if (f->line_is_signed && f->other_is_signed)
            words = LLVMBuildXor(g->b, words, cg_all_of(i32, 0x80808080, f->lines), "");
        if (!f->line_is_signed && !f->other_is_signed)
            sum = cg_add_bytes(g, sum, words, cg_all_of(i32, 0x01010101, f->lines));
        store_words(g, to, k / 4 * f->lines, words);
    }
    if (f->way == BYTES && !f->line_is_signed && !f->other_is_signed)
        store_words(g, to, f->steps * f->lines, LLVMBuildShl(g->b, sum, cg_all_of(i32, 7, f->lines), ""));
}

static LLVMValueRef line_writer(struct cg *g, struct form *f)
{
    unsigned count = registers_of(f, f->line_name);
    bool made;
    LLVMValueRef fn = function_of(g, f, "lines", writer_type(g, count), false, &made);
    if (!made)
        return fn;
    struct cg inner = begin_body(g, f, fn);
    f->p.g = &inner;
    take_registers(f, f->line_name, fn, count);
    (f->way == FMA ? write_float_lines : write_whole_lines)(&inner, f, LLVMGetParam(fn, count), count);
    LLVMBuildRetVoid(inner.b);
    end_body(g, f, &inner);
    return fn;
}

/* What an offset of 128 on the lines adds to each result: 128 times the sum of the others at its place, less than
 * nothing. A register has eight places, four words each. */
static void write_offsets(struct cg *g, struct form *f, LLVMValueRef to, unsigned count)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef sums[2] = {NULL, NULL}, negative = cg_all_of(i32, 0x80808080, CG_LANES);
    for (unsigned i = 0; i < count; i++)
        for (unsigned tile = 0; tile < f->along / 8; tile++) {
            bool here = false;
            for (unsigned k = 0; k < f->p.op.k; k += 4)
                here |= cg_matrix_place_of_factor(&f->p, f->other_name, 8 * tile, k, 0).reg == i;
            if (!here)
                continue;
            LLVMValueRef sum = sums[tile] ? sums[tile] : cg_all_of(i32, 0, CG_LANES);
            sums[tile] = cg_add_bytes(g, sum, negative, f->p.regs[f->other_name][i]);
        }
    for (unsigned tile = 0; tile < f->along / 8; tile++) {
        LLVMValueRef by_place = cg_turned_over(g, sums[tile], false), sum = NULL;
        for (unsigned at = 0; at < 4; at++) {
            uint8_t from[8];
            for (unsigned i = 0; i < 8; i++)
                from[i] = (uint8_t)(8 * at + i);
            LLVMValueRef part = cg_elements_of(g, by_place, NULL, from, 8);
            sum = sum ? LLVMBuildAdd(g->b, sum, part, "") : part;
        }
        LLVMValueRef place = element_place(g, to, count * planes_of(f) * CG_LANES + 8 * tile);
        LLVMSetAlignment(LLVMBuildStore(g->b, LLVMBuildNeg(g->b, sum, ""), place), 32);
    }
}

static LLVMValueRef other_writer(struct cg *g, struct form *f)
{
    unsigned count = registers_of(f, f->other_name), parts = planes_of(f), type = f->p.op.type[f->other_name];
    bool made;
    LLVMValueRef fn = function_of(g, f, "others", writer_type(g, count), false, &made);
    if (!made)
        return fn;
    struct cg inner = begin_body(g, f, fn);
    f->p.g = &inner;
    take_registers(f, f->other_name, fn, count);
    LLVMValueRef to = LLVMGetParam(fn, count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned part = 0; part < parts; part++) {
            LLVMValueRef words = f->p.regs[f->other_name][i], value;
            if (f->way == PAIRS)
                value = cg_pair_of(&inner, words, part, f->other_is_signed);
            else if (f->way == BYTES)
                value = f->line_is_signed || f->other_is_signed
                            ? words
                            : LLVMBuildXor(inner.b, words, cg_all_of(g->unit->i32, 0x80808080, CG_LANES), "");
            else if (parts == 2)
                value = cg_float_of(&inner, words, part, type == MR_PTX_TYPE_BF16);
            else
                value = cg_matrix_convert_part(&f->p, f->other_name, i, part);
            store_words(&inner, to, (i * parts + part) * CG_LANES, value);
        }
    if (f->way == BYTES && f->line_is_signed && f->other_is_signed)
        write_offsets(&inner, f, to, count);
    LLVMBuildRetVoid(inner.b);
    end_body(g, f, &inner);
    return fn;
}

/* --- C and D ---------------------------------------------------------------------------------- */

static struct cg_matrix_place place_of_sum(const struct form *f, unsigned name, unsigned line, unsigned along)
{
    struct cg_matrix_element e =
        f->p.op.turned ? (struct cg_matrix_element){along, line, 0} : (struct cg_matrix_element){line, along, 0};
    return cg_matrix_place_of_sum(&f->p, name, e);
}

/* Vectors (registers of C). */
static LLVMValueRef taker_apart(struct cg *g, struct form *f)
{
    unsigned count = f->p.op.regs[MR_PTX_MATRIX_C], parts = f->p.op.type[MR_PTX_MATRIX_C] == MR_PTX_TYPE_F16 ? 2 : 1;
    LLVMTypeRef params[CG_MATRIX_REGS];
    bool made;
    for (unsigned i = 0; i < count; i++)
        params[i] = cg_vector_type(g->unit->i32, CG_LANES);
    LLVMTypeRef type = LLVMFunctionType(several(g, work_vector(f), f->along), params, count, false);
    LLVMValueRef fn = function_of(g, f, "apart", type, true, &made);
    if (!made)
        return fn;
    struct cg inner = begin_body(g, f, fn);
    f->p.g = &inner;
    take_registers(f, MR_PTX_MATRIX_C, fn, count);
    LLVMValueRef planes[CG_MATRIX_REGS][2], vectors[32];
    for (unsigned i = 0; i < count; i++)
        for (unsigned part = 0; part < parts; part++)
            planes[i][part] = cg_turned_over(&inner, cg_matrix_convert_part(&f->p, MR_PTX_MATRIX_C, i, part), false);
    for (unsigned along = 0; along < f->along; along++) {
        LLVMValueRef tiles[4];
        for (unsigned i = 0; i < f->lines / 8; i++) {
            struct cg_matrix_place place = place_of_sum(f, MR_PTX_MATRIX_C, 8 * i, along);
            tiles[i] = planes[place.reg][place.part];
        }
        vectors[along] = cg_lines_of(&inner, tiles, f->lines, along % 8 / 2);
    }
    LLVMBuildRet(inner.b, packed(&inner, work_vector(f), vectors, f->along));
    end_body(g, f, &inner);
    return fn;
}

/* A register's numbers of D, one for each lane, from the vectors; of halves, those of one part. */
static LLVMValueRef plane_of(struct cg *g, const struct form *f, const LLVMValueRef *vectors, unsigned reg,
                             unsigned part)
{
    for (unsigned line = 0; line < f->lines; line += 8)
        for (unsigned along = 0; along < f->along; along++) {
            struct cg_matrix_place place = place_of_sum(f, MR_PTX_MATRIX_D, line, along);
            if (place.reg != reg || place.part != part || place.lane != 0)
                continue;
            LLVMValueRef tile[2] = {cg_eight_and_eight(g, vectors[along], line, vectors[along + 2], line),
                                    cg_eight_and_eight(g, vectors[along + 4], line, vectors[along + 6], line)};
            return cg_turned_over(g, cg_join(g, tile, 2), true);
        }
    return LLVMGetPoison(cg_vector_type(f->p.work, CG_LANES));
}

/* Registers of D (vectors). */
static LLVMValueRef putter_together(struct cg *g, struct form *f)
{
    unsigned count = f->p.op.regs[MR_PTX_MATRIX_D];
    LLVMTypeRef params[32], i32 = g->unit->i32;
    bool made, halves = f->p.op.type[MR_PTX_MATRIX_D] == MR_PTX_TYPE_F16;
    for (unsigned i = 0; i < f->along; i++)
        params[i] = work_vector(f);
    LLVMTypeRef type = LLVMFunctionType(several(g, cg_vector_type(i32, CG_LANES), count), params, f->along, false);
    LLVMValueRef fn = function_of(g, f, "together", type, true, &made), vectors[32], registers[CG_MATRIX_REGS];
    if (!made)
        return fn;
    struct cg inner = begin_body(g, f, fn);
    f->p.g = &inner;
    for (unsigned i = 0; i < f->along; i++)
        vectors[i] = LLVMGetParam(fn, i);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef plane = plane_of(&inner, f, vectors, i, 0);
        if (f->p.work == g->unit->f32)
            plane = cg_nan_mended(&inner, plane);
        if (halves) {
            LLVMValueRef other = cg_nan_mended(&inner, plane_of(&inner, f, vectors, i, 1));
            plane = cg_resize(&inner, cg_matrix_half_of_sum(&f->p, plane), i32, false);
            other = cg_resize(&inner, cg_matrix_half_of_sum(&f->p, other), i32, false);
            plane = LLVMBuildOr(inner.b, plane, LLVMBuildShl(inner.b, other, cg_all_of(i32, 16, CG_LANES), ""), "");
        }
        registers[i] = cg_cast_bits(&inner, plane, i32);
    }
    LLVMBuildRet(inner.b, packed(&inner, cg_vector_type(i32, CG_LANES), registers, count));
    end_body(g, f, &inner);
    return fn;
}

/* --- The product --------------------------------------------------------------------------------- */

static LLVMValueRef load_word(struct cg *g, const struct form *f, LLVMValueRef from, unsigned at)
{
    LLVMValueRef word = LLVMBuildLoad2(g->b, f->p.work, element_place(g, from, at), "");
    LLVMValueRef first =
        LLVMBuildInsertElement(g->b, LLVMGetPoison(work_vector(f)), word, LLVMConstInt(g->unit->i32, 0, false), "");
    return LLVMBuildShuffleVector(g->b, first, LLVMGetPoison(work_vector(f)),
                                  LLVMConstNull(cg_vector_type(g->unit->i32, f->lines)), "");
}

static LLVMValueRef load_line(struct cg *g, const struct form *f, LLVMValueRef from, unsigned step)
{
    LLVMValueRef line = LLVMBuildLoad2(g->b, work_vector(f), element_place(g, from, step * f->lines), "");
    LLVMSetAlignment(line, 64);
    return line;
}

static LLVMValueRef multiply_add(struct cg *g, const struct form *f, LLVMValueRef sum, LLVMValueRef line,
                                 LLVMValueRef other)
{
    if (f->way == FMA)
        return cg_fma(g, line, other, sum);
    if (f->way == PAIRS)
        return cg_add_pairs(g, sum, line, other);
    return f->line_is_signed && !f->other_is_signed ? cg_add_bytes(g, sum, other, line)
                                                    : cg_add_bytes(g, sum, line, other);
}

/* So many vectors of results at a time as registers have room for. */
static void multiply(struct cg *g, const struct form *f, LLVMValueRef lines, LLVMValueRef others, LLVMValueRef *vectors)
{
    unsigned most = g->unit->wide ? 256 / f->lines : 64 / f->lines;
    unsigned words = registers_of(f, f->other_name) * planes_of(f) * CG_LANES;
    bool bytes = f->way == BYTES, offsets = f->line_is_signed && f->other_is_signed;
    bool wholes = !f->line_is_signed && !f->other_is_signed;
    for (unsigned first = 0; first < f->along; first += most) {
        LLVMValueRef sums[16];
        for (unsigned i = 0; i < most && first + i < f->along; i++) {
            sums[i] = f->p.saturates && f->way != FMA ? LLVMConstNull(work_vector(f)) : vectors[first + i];
            if (bytes && offsets)
                sums[i] = LLVMBuildAdd(g->b, sums[i], load_word(g, f, others, words + first + i), "");
            else if (bytes && wholes)
                sums[i] = LLVMBuildAdd(g->b, sums[i], load_line(g, f, lines, f->steps), "");
        }
        for (unsigned step = 0; step < f->steps; step++) {
            LLVMValueRef line = load_line(g, f, lines, step);
            for (unsigned i = 0; i < most && first + i < f->along; i++)
                sums[i] = multiply_add(g, f, sums[i], line, load_word(g, f, others, other_at(f, first + i, step)));
        }
        for (unsigned i = 0; i < most && first + i < f->along; i++)
            vectors[first + i] =
                f->p.saturates && f->way != FMA ? cg_binary(g, "llvm.sadd.sat", vectors[first + i], sums[i]) : sums[i];
    }
}

/* Vectors (lines, others, vectors). */
static LLVMValueRef multiplier(struct cg *g, struct form *f)
{
    LLVMTypeRef params[2 + 32] = {g->unit->ptr, g->unit->ptr};
    bool made;
    for (unsigned i = 0; i < f->along; i++)
        params[2 + i] = work_vector(f);
    LLVMTypeRef type = LLVMFunctionType(several(g, work_vector(f), f->along), params, 2 + f->along, false);
    LLVMValueRef fn = function_of(g, f, "product", type, false, &made), vectors[32];
    if (!made)
        return fn;
    struct cg inner = begin_body(g, f, fn);
    f->p.g = &inner;
    for (unsigned i = 0; i < f->along; i++)
        vectors[i] = LLVMGetParam(fn, 2 + i);
    multiply(&inner, f, LLVMGetParam(fn, 0), LLVMGetParam(fn, 1), vectors);
    LLVMBuildRet(inner.b, packed(&inner, work_vector(f), vectors, f->along));
    end_body(g, f, &inner);
    return fn;
}

/* --- An instruction ----------------------------------------------------------------------------------- */

static void read_registers(struct cg *g, const struct mr_ptx_operand *operand, unsigned count, LLVMValueRef *values)
{
    for (unsigned i = 0; i < count; i++)
        values[i] = cg_source(g, &operand->elements[i], g->unit->i32);
}

/* A factor in the frame: what is there already, or written now. */
static LLVMValueRef factor(struct cg *g, struct form *f, const struct mr_ptx_inst *inst, unsigned name)
{
    bool is_line = name == f->line_name;
    const struct mr_ptx_operand *operand = &inst->operands[1 + name];
    unsigned count = registers_of(f, name);
    LLVMValueRef writer = is_line ? line_writer(g, f) : other_writer(g, f), args[CG_MATRIX_REGS + 1];
    LLVMValueRef kept = cg_kept_factor(g, writer, operand, count);
    if (kept)
        return kept;
    read_registers(g, operand, count, args);
    args[count] = cg_keep_factor(g, writer, operand, count, is_line ? line_bytes(f) : other_bytes(f));
    call(g, writer, args, count + 1);
    return args[count];
}

void cg_emit_product_of_lines(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_matrix_op *op)
{
    struct form f = describe(g, inst, op);
    const struct mr_ptx_operand *c = &inst->operands[1 + MR_PTX_MATRIX_C], *d = &inst->operands[0];
    LLVMValueRef args[2 + 32], registers[CG_MATRIX_REGS];
    g->now.lanes = CG_LANES;
    cg_kept_begin(g, inst);
    args[0] = factor(g, &f, inst, f.line_name);
    args[1] = factor(g, &f, inst, f.other_name);
    struct cg_sums_kind kind = {work_vector(&f), op->type[MR_PTX_MATRIX_C], op->turned};
    LLVMValueRef apart = cg_kept_sums(g, kind, c, op->regs[MR_PTX_MATRIX_C]);
    if (!apart) {
        read_registers(g, c, op->regs[MR_PTX_MATRIX_C], registers);
        apart = call(g, taker_apart(g, &f), registers, op->regs[MR_PTX_MATRIX_C]);
    }
    for (unsigned i = 0; i < f.along; i++)
        args[2 + i] = LLVMBuildExtractValue(g->b, apart, i, "");
    apart = call(g, multiplier(g, &f), args, 2 + f.along);
    for (unsigned i = 0; i < f.along; i++)
        args[i] = LLVMBuildExtractValue(g->b, apart, i, "");
    LLVMValueRef together = call(g, putter_together(g, &f), args, f.along);
    for (unsigned i = 0; i < op->regs[MR_PTX_MATRIX_D]; i++)
        cg_write(g, &d->elements[i], LLVMBuildExtractValue(g->b, together, i, ""));
    cg_kept_end(g, inst);
    kind.type = op->type[MR_PTX_MATRIX_D];
    if (kind.type != MR_PTX_TYPE_F16) /* what is left of these is rounded */
        cg_keep_sums(g, apart, kind, d, op->regs[MR_PTX_MATRIX_D]);
}
