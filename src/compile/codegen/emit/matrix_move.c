/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Matrices between memory and the registers of a warp: ldmatrix, stmatrix,
 * movmatrix, wmma.load and wmma.store.
 *
 * All of them work on tiles. A tile is what one register of the warp holds (of
 * f32, s32 and f64 sums: two registers), eight lines of the matrix; it is moved
 * as a few contiguous pieces that are put one behind the other in one long
 * vector, and a shuffle with a constant mask brings elements to their lanes.
 * Where elements lie is said in emit/matrix.c.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/touch.h"
#include "ptx/matrix.h"

#define TILE_ELEMENTS_MAX 128u

/* One tile in memory: `pieces` runs of `length` elements, and for each place of a register the element of the long
 * vector. */
struct tile {
    LLVMTypeRef element;
    unsigned bytes;           /* of an element */
    unsigned pieces, length;
    unsigned registers;       /* 1 or 2 */
    uint8_t from[2][TILE_ELEMENTS_MAX];
};

/* --- Tiles ------------------------------------------------------------------- */

/* Elements of a tile that go to a register. */
static unsigned register_elements(const struct tile *tile)
{
    return tile->pieces * tile->length / (tile->registers == 2 ? 2 : 1);
}

static LLVMValueRef shuffled(struct cg *g, LLVMValueRef a, LLVMValueRef b, const uint8_t *from, unsigned count)
{
    LLVMValueRef lanes[TILE_ELEMENTS_MAX];
    for (unsigned i = 0; i < count; i++)
        lanes[i] = LLVMConstInt(g->unit->i32, from[i], false);
    return LLVMBuildShuffleVector(g->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(lanes, count), "");
}

static LLVMTypeRef register_type(const struct cg *g, const struct tile *tile)
{
    return cg_vector_type(tile->bytes == 8 ? g->unit->i64 : g->unit->i32, CG_LANES);
}

/* Reads a tile from the addresses of its pieces. */
static void load_tile(struct cg *g, const struct tile *tile, const LLVMValueRef *places, LLVMValueRef *registers)
{
    LLVMValueRef pieces[16];
    LLVMTypeRef type = cg_vector_type(tile->element, tile->length);
    for (unsigned i = 0; i < tile->pieces; i++) {
        pieces[i] = LLVMBuildLoad2(g->b, type, cg_pointer(g, places[i]), "");
        LLVMSetAlignment(pieces[i], tile->bytes);
    }
    LLVMValueRef all = cg_join(g, pieces, tile->pieces);
    for (unsigned r = 0; r < tile->registers; r++)
        registers[r] = LLVMBuildBitCast(g->b, shuffled(g, all, NULL, tile->from[r], register_elements(tile)),
                                        register_type(g, tile), "");
}

static void store_tile(struct cg *g, const struct tile *tile, const LLVMValueRef *places, const LLVMValueRef *registers)
{
    unsigned count = register_elements(tile), total = tile->pieces * tile->length;
    uint8_t to[TILE_ELEMENTS_MAX] = {0};
    LLVMValueRef values[2] = {NULL, NULL};
    for (unsigned r = 0; r < tile->registers; r++) {
        values[r] = LLVMBuildBitCast(g->b, registers[r], cg_vector_type(tile->element, count), "");
        for (unsigned i = 0; i < count; i++)
            to[tile->from[r][i]] = (uint8_t)(r * count + i);
    }
    LLVMValueRef all = shuffled(g, values[0], values[1], to, total);
    for (unsigned i = 0; i < tile->pieces; i++) {
        uint8_t from[TILE_ELEMENTS_MAX];
        for (unsigned j = 0; j < tile->length; j++)
            from[j] = (uint8_t)(i * tile->length + j);
        LLVMValueRef store = LLVMBuildStore(g->b, shuffled(g, all, NULL, from, tile->length), cg_pointer(g, places[i]));
        LLVMSetAlignment(store, tile->bytes);
    }
}

/* Eight lines of 128 bits, elements of `parts` to a word. `across`: memory runs across the lines. */
static struct tile factor_tile(const struct cg *g, unsigned bytes, unsigned parts, bool across)
{
    unsigned depth = 4 * parts;
    struct tile tile = {.element = cg_int_type(g, bytes * 8),
                        .bytes = bytes,
                        .pieces = across ? depth : 8,
                        .length = across ? 8 : depth,
                        .registers = 1};
    for (unsigned line = 0; line < 8; line++)
        for (unsigned k = 0; k < depth; k++)
            tile.from[0][line * depth + k] = (uint8_t)(across ? k * 8 + line : line * depth + k);
    return tile;
}

/* Eight rows and columns of sums; lane l holds columns 2 * (l % 4) and the next of row l / 4, in a register each. */
static struct tile sum_tile(const struct cg *g, unsigned bytes, bool across)
{
    struct tile tile = {.element = cg_int_type(g, bytes * 8), .bytes = bytes, .pieces = 8, .length = 8, .registers = 2};
    for (unsigned lane = 0; lane < CG_LANES; lane++)
        for (unsigned r = 0; r < 2; r++) {
            unsigned row = lane / 4, col = lane % 4 * 2 + r;
            tile.from[r][lane] = (uint8_t)(across ? col * 8 + row : row * 8 + col);
        }
    return tile;
}

/* --- ldmatrix and its kin ---------------------------------------------------------- */

/* Memory holds rows; .trans gives its lines the columns of the matrix. */
static struct tile row_tile(const struct cg *g, bool transposed)
{
    struct tile tile = factor_tile(g, 2, 2, false);
    if (transposed)
        for (unsigned line = 0; line < 8; line++)
            for (unsigned k = 0; k < 8; k++)
                tile.from[0][line * 8 + k] = (uint8_t)(k * 8 + line);
    return tile;
}

/* Addresses of rows, which the first 8 * inst->vector lanes give; a whole row has to be aligned. */
static LLVMValueRef row_addresses(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *operand)
{
    struct cg_address address;
    LLVMValueRef exec = g->now.exec, exec_vector = g->now.exec_vector;
    uint64_t lanes = inst->vector == 4 ? UINT32_MAX : (UINT64_C(1) << (8 * inst->vector)) - 1;
    cg_address(g, operand, inst->space, &address);
    g->now.exec = LLVMBuildAnd(g->b, exec, LLVMConstInt(g->unit->mask, lanes, false), "");
    g->now.exec_vector = cg_mask_vector(g, g->now.exec);
    cg_check_alignment(g, operand, &address, 16);
    g->now.exec = exec;
    g->now.exec_vector = exec_vector;
    return cg_address_vector(g, &address);
}

static void row_places(struct cg *g, LLVMValueRef addresses, unsigned matrix, LLVMValueRef *places)
{
    for (unsigned row = 0; row < 8; row++)
        places[row] = LLVMBuildExtractElement(g->b, addresses, LLVMConstInt(g->unit->i32, matrix * 8 + row, false), "");
}

static void load_rows(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef addresses, LLVMValueRef *values)
{
    struct tile tile = row_tile(g, inst->flags & MR_PTX_FLAG_TRANS);
    LLVMValueRef places[8];
    for (unsigned i = 0; i < inst->vector; i++) {
        row_places(g, addresses, i, places);
        load_tile(g, &tile, places, &values[i]);
    }
}

/* Whether the eight rows of a matrix may lie one behind the other, so that each lane's word is where its number says.
 * Kernels that move tiles from lane to lane have such; before products rows lie apart, so that hardware's banks differ.
 */
static bool may_be_whole(const struct cg *g, const struct mr_ptx_inst *inst)
{
    return !g->unit->request->hurry && !(inst->flags & MR_PTX_FLAG_TRANS) && !g->multiplies;
}

/* Which lanes' rows are where they are if each matrix is one piece. */
static LLVMValueRef are_whole(struct cg *g, LLVMValueRef addresses, unsigned matrices)
{
    LLVMValueRef first[CG_LANES], behind[CG_LANES];
    for (unsigned l = 0; l < CG_LANES; l++) {
        bool counts = l / 8 < matrices;
        first[l] = LLVMConstInt(g->unit->i32, counts ? l / 8 * 8 : l, false);
        behind[l] = LLVMConstInt(g->unit->i64, counts ? l % 8 * 16 : 0, false);
    }
    LLVMValueRef begin = LLVMBuildShuffleVector(g->b, addresses, LLVMGetPoison(LLVMTypeOf(addresses)),
                                                LLVMConstVector(first, CG_LANES), "");
    LLVMValueRef expected = LLVMBuildAdd(g->b, begin, LLVMConstVector(behind, CG_LANES), "");
    LLVMValueRef same = cg_mask_bits(g, LLVMBuildICmp(g->b, LLVMIntEQ, addresses, expected, ""));
    return LLVMBuildICmp(g->b, LLVMIntEQ, same, LLVMConstAllOnes(LLVMTypeOf(same)), "");
}

static void emit_load_rows(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef addresses = row_addresses(g, inst, &inst->operands[1]), values[4] = {NULL}, whole[4] = {NULL};
    LLVMTypeRef type = cg_vector_type(g->unit->i32, CG_LANES);
    if (!may_be_whole(g, inst)) {
        load_rows(g, inst, addresses, values);
    } else {
        LLVMBasicBlockRef near = cg_new_block(g, "near"), apart = cg_new_block(g, "apart"), on = cg_new_block(g, "on");
        LLVMBuildCondBr(g->b, are_whole(g, addresses, inst->vector), near, apart);
        LLVMPositionBuilderAtEnd(g->b, near);
        for (unsigned i = 0; i < inst->vector; i++) {
            LLVMValueRef index = LLVMConstInt(g->unit->i32, (uint64_t)i * 8, false);
            LLVMValueRef first = LLVMBuildExtractElement(g->b, addresses, index, "");
            whole[i] = LLVMBuildLoad2(g->b, type, cg_pointer(g, first), "");
            LLVMSetAlignment(whole[i], 4);
        }
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, apart);
        load_rows(g, inst, addresses, values);
        apart = LLVMGetInsertBlock(g->b);
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, on);
        for (unsigned i = 0; i < inst->vector; i++) {
            LLVMValueRef both = LLVMBuildPhi(g->b, type, "");
            LLVMAddIncoming(both, &whole[i], &near, 1);
            LLVMAddIncoming(both, &values[i], &apart, 1);
            values[i] = both;
        }
    }
    for (unsigned i = 0; i < inst->vector; i++)
        cg_write(g, &inst->operands[0].elements[i], values[i]);
}

static void emit_store_rows(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct tile tile = row_tile(g, inst->flags & MR_PTX_FLAG_TRANS);
    LLVMValueRef addresses = row_addresses(g, inst, &inst->operands[0]), places[8];
    for (unsigned i = 0; i < inst->vector; i++) {
        LLVMValueRef value = cg_source(g, &inst->operands[1].elements[i], g->unit->i32);
        row_places(g, addresses, i, places);
        store_tile(g, &tile, places, &value);
    }
}

static void emit_transpose(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct tile tile = row_tile(g, true);
    LLVMValueRef value = cg_source(g, &inst->operands[1], g->unit->i32);
    value = LLVMBuildBitCast(g->b, value, cg_vector_type(tile.element, 64), "");
    value = shuffled(g, value, NULL, tile.from[0], 64);
    cg_write(g, &inst->operands[0], LLVMBuildBitCast(g->b, value, register_type(g, &tile), ""));
}

/* --- wmma.load, wmma.store ------------------------------------------------------------ */

/* A whole matrix in memory. What its lines are says matrix.h; `across` if they are not what is contiguous. */
struct matrix {
    unsigned lines, depth;
    unsigned tall;             /* mr_ptx_matrix_tall */
    unsigned bits;             /* of an element */
    bool across;
    bool sums;                 /* tiles of two registers */
    unsigned tile_depth;       /* elements along a line in a tile */
    unsigned tiles, registers; /* of the fragment; some matrices of f16 are held twice or more */
    struct tile tile;
    LLVMValueRef base, pitch;  /* i64, of all lanes; bytes */
};

static LLVMValueRef scalar_address(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *operand)
{
    struct cg_address address;
    cg_address(g, operand, inst->space, &address);
    if (address.c.kind == MR_CLASS_UNIFORM)
        return address.base[0];
    LLVMTypeRef type = g->unit->i32;
    LLVMValueRef first =
        cg_intrinsic(g, "llvm.cttz", &type, 1, (LLVMValueRef[]){g->now.exec, LLVMConstInt(g->unit->i1, 1, false)}, 2);
    return LLVMBuildExtractElement(g->b, cg_address_vector(g, &address), first, "");
}

static struct matrix describe(struct cg *g, const struct mr_ptx_inst *inst, unsigned name)
{
    struct mr_ptx_matrix_op op = mr_ptx_matrix_of(inst);
    bool col = inst->layout[0] == MR_PTX_LAYOUT_COL, is_b = name == MR_PTX_MATRIX_B, is_a = name == MR_PTX_MATRIX_A;
    bool columns = is_b || (!is_a && op.turned); /* its lines */
    bool load = inst->mode == MR_PTX_MODE_MATRIX_LOAD;
    unsigned bits = mr_ptx_type_bits((enum mr_ptx_type)op.type[name]);
    struct matrix m = {.lines = mr_ptx_matrix_lines(&op, (enum mr_ptx_matrix_name)name),
                       .tall = mr_ptx_matrix_tall(&op, (enum mr_ptx_matrix_name)name),
                       .depth = is_a || is_b ? op.k
                                : op.turned  ? op.m
                                             : op.n,
                       .bits = bits,
                       .across = col != columns,
                       .registers = op.regs[name]};
    m.sums = !is_a && !is_b && op.type[name] != MR_PTX_TYPE_F16;
    m.tile_depth = m.sums ? 8 : 4 * (bits == 64 ? 1 : 32 / bits);
    unsigned bytes = bits < 8 ? 4 : bits / 8; /* elements below a byte move by the word */
    m.tile = m.sums ? sum_tile(g, bytes, m.across) : factor_tile(g, bytes, bytes == 8 ? 1 : 4 / bytes, m.across);
    m.tiles = m.lines / 8 * (m.depth / m.tile_depth);
    unsigned stride_at = 2;
    m.base = scalar_address(g, inst, &inst->operands[load ? 1 : 0]);
    LLVMValueRef stride = inst->operand_count > stride_at
                              ? LLVMBuildZExt(g->b, cg_scalar_source(g, &inst->operands[stride_at]), g->unit->i64, "")
                              : LLVMConstInt(g->unit->i64, m.across ? m.lines : m.depth, false);
    m.pitch = LLVMBuildLShr(g->b, LLVMBuildMul(g->b, stride, LLVMConstInt(g->unit->i64, bits, false), ""),
                            LLVMConstInt(g->unit->i64, 3, false), "");
    return m;
}

/* Addresses of the pieces of a tile. */
static void tile_places(struct cg *g, const struct matrix *m, unsigned index, LLVMValueRef *places)
{
    LLVMTypeRef i64 = g->unit->i64;
    unsigned wide = m->depth / m->tile_depth;
    unsigned line = (index % m->tall + index / (m->tall * wide) * m->tall) * 8,
             k = index / m->tall % wide * m->tile_depth;
    unsigned first = m->across ? k : line, along = m->across ? line : k;
    for (unsigned i = 0; i < m->tile.pieces; i++) {
        LLVMValueRef far = LLVMBuildMul(g->b, m->pitch, LLVMConstInt(i64, first + i, false), "");
        LLVMValueRef at = LLVMBuildAdd(g->b, m->base, far, "");
        places[i] = LLVMBuildAdd(g->b, at, LLVMConstInt(i64, (uint64_t)along * m->bits / 8, false), "");
    }
}

/* Notes the rows of the matrix that lie in memory one after the other. */
static void touch_matrix(struct cg *g, const struct matrix *m, const struct mr_ptx_inst *inst,
                         const struct mr_ptx_operand *operand, uint32_t how)
{
    unsigned rows = m->across ? m->depth : m->lines, length = m->across ? m->lines : m->depth;
    cg_touch_rows(g, m->base, length * m->bits / 8, rows, m->pitch, cg_touch_flags(g, operand, inst->space, how));
}

static void emit_matrix_load(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct matrix m = describe(g, inst, inst->mode2 - MR_PTX_MODE_MATRIX_A);
    LLVMValueRef values[16] = {NULL}, places[16];
    touch_matrix(g, &m, inst, &inst->operands[1], MR_SITE_READ);
    for (unsigned i = 0; i < m.tiles; i++) {
        tile_places(g, &m, i, places);
        load_tile(g, &m.tile, places, &values[i * m.tile.registers]);
    }
    unsigned loaded = m.tiles * m.tile.registers;
    for (unsigned i = 0; i < m.registers; i++)
        cg_write(g, &inst->operands[0].elements[i], values[loaded ? i % loaded : 0]);
}

static void emit_matrix_store(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct matrix m = describe(g, inst, MR_PTX_MATRIX_D);
    LLVMTypeRef type = m.bits == 64 ? g->unit->i64 : g->unit->i32;
    touch_matrix(g, &m, inst, &inst->operands[0], MR_SITE_WRITE);
    for (unsigned i = 0; i < m.tiles; i++) {
        LLVMValueRef values[2], places[16];
        for (unsigned r = 0; r < m.tile.registers; r++)
            values[r] = cg_source(g, &inst->operands[1].elements[i * m.tile.registers + r], type);
        tile_places(g, &m, i, places);
        store_tile(g, &m.tile, places, values);
    }
}

static void emit_wmma(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->mode) {
    case MR_PTX_MODE_MATRIX_LOAD:
        emit_matrix_load(g, inst);
        break;
    case MR_PTX_MODE_MATRIX_STORE:
        emit_matrix_store(g, inst);
        break;
    case MR_PTX_MODE_NONE:
        break; /* a shape of f64 of which no code is made */
    default:
        cg_emit_product(g, inst);
        break;
    }
}

bool cg_emit_matrix(struct cg *g, const struct mr_ptx_inst *inst)
{
    static void (*const emitters[MR_PTX_OP_COUNT])(struct cg *, const struct mr_ptx_inst *) = {
        [MR_PTX_OP_MMA] = cg_emit_product,      [MR_PTX_OP_WMMA] = emit_wmma,
        [MR_PTX_OP_LDMATRIX] = emit_load_rows,  [MR_PTX_OP_STMATRIX] = emit_store_rows,
        [MR_PTX_OP_MOVMATRIX] = emit_transpose,
    };
    if (!emitters[inst->op])
        return false;
    g->now.lanes = CG_LANES;
    emitters[inst->op](g, inst);
    return true;
}
