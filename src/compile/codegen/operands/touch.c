/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Notes of what is touched (abi/note.h), made in front of each access where a request asks for them.
 *
 * Where all lanes touch one place, or run and touch what lies side by side, that is one piece (for each row of the
 * warp). The code compares its address with the one where the run of this site goes on: mostly it is that, and an
 * addition is all there is to do. Every other case is a call of the runtime, with as little as tells the addresses.
 */
#include "compile/codegen/operands/touch.h"

#include <stddef.h>

#include "compile/codegen/basics/sites.h"

uint32_t cg_touch_flags(const struct cg *g, const struct mr_ptx_operand *operand, unsigned space, uint32_t how)
{
    if (!g->unit->request->notes)
        return 0;
    switch (space) {
    case MR_PTX_SPACE_GLOBAL:
    case MR_PTX_SPACE_CONST:
        return how;
    case MR_PTX_SPACE_GENERIC:
        if (operand && operand->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS)
            return operand->var->space == MR_PTX_SPACE_GLOBAL || operand->var->space == MR_PTX_SPACE_CONST ? how : 0;
        return how | MR_SITE_GENERIC;
    default:
        return 0;
    }
}

static LLVMValueRef number(struct cg *g, uint32_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* The lanes that run, as 64 bits. */
static LLVMValueRef lanes_mask(struct cg *g)
{
    return LLVMBuildZExt(g->b, g->now.exec, g->unit->i64, "");
}

static void call(struct cg *g, size_t service, LLVMValueRef *args, unsigned count)
{
    cg_runtime_call(g, service, g->unit->void_type, args, count);
}

static LLVMValueRef note_field(struct cg *g, uint32_t site, size_t field)
{
    LLVMValueRef place = LLVMConstInt(g->unit->i64, (uint64_t)site * sizeof(struct mr_note) + field, false);
    return LLVMBuildGEP2(g->b, g->unit->i8, g->launch.notes, &place, 1, "");
}

/* A piece: moves the run on, or tells the runtime. */
static void touch_piece(struct cg *g, uint32_t site, LLVMValueRef address, uint32_t bytes)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef place = note_field(g, site, offsetof(struct mr_note, next)),
                 next = LLVMBuildLoad2(g->b, i64, place, "");
    LLVMBasicBlockRef other = cg_new_block(g, "other"), same = cg_new_block(g, "run"), on = cg_new_block(g, "on");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, next, address, ""), other, same));
    LLVMPositionBuilderAtEnd(g->b, other);
    LLVMValueRef args[3] = {number(g, site), address, number(g, bytes)};
    call(g, offsetof(struct mr_runtime, note_piece), args, 3);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, same);
    LLVMValueRef step = LLVMBuildLoad2(g->b, i64, note_field(g, site, offsetof(struct mr_note, step)), "");
    LLVMBuildStore(g->b, LLVMBuildAdd(g->b, next, step, ""), place);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* The site of lanes with any addresses, with those that stand behind it. */
static uint32_t of_lanes(struct cg *g, uint32_t bytes, uint32_t flags)
{
    struct mr_site site = {.bytes = bytes, .flags = flags | MR_SITE_PARTS};
    uint32_t first = cg_site(g, &site, 0);
    for (unsigned part = 1; part <= MR_SITE_PARTS_MORE; part++)
        (void)cg_site(g, &site, part);
    return first;
}

static void touch_lanes(struct cg *g, uint32_t site, LLVMValueRef addresses)
{
    LLVMValueRef slot = cg_scratch(g, g->unit->i64);
    LLVMBuildStore(g->b, addresses, slot);
    LLVMValueRef args[3] = {number(g, site), slot, lanes_mask(g)};
    call(g, offsetof(struct mr_runtime, note_lanes), args, 3);
}

static void touch_steps(struct cg *g, uint32_t site, LLVMValueRef address, LLVMValueRef step)
{
    LLVMValueRef args[4] = {number(g, site), address, step, lanes_mask(g)};
    call(g, offsetof(struct mr_runtime, note_steps), args, 4);
}

/* Whether all lanes run and no lane of a row is past its break. */
static LLVMValueRef is_whole(struct cg *g, const struct cg_address *address)
{
    LLVMValueRef whole = LLVMBuildICmp(g->b, LLVMIntEQ, g->now.exec, LLVMConstAllOnes(g->unit->mask), "");
    for (unsigned row = 0; address->c.wrap && row < g->flow.rows; row++) {
        LLVMValueRef even = LLVMBuildICmp(g->b, LLVMIntUGE, address->brk[row], number(g, cg_row_lanes(g)), "");
        whole = LLVMBuildAnd(g->b, whole, even, "");
    }
    return whole;
}

/* Lanes of each row make a piece, if all run. */
static void touch_pieces(struct cg *g, const struct cg_address *address, const struct mr_site *like)
{
    LLVMBasicBlockRef whole = cg_new_block(g, "whole"), part = cg_new_block(g, "part"), on = cg_new_block(g, "on");
    uint32_t first = cg_site(g, like, 0);
    LLVMBuildCondBr(g->b, is_whole(g, address), whole, part);
    LLVMPositionBuilderAtEnd(g->b, whole);
    for (unsigned row = 0; row < g->flow.rows; row++)
        touch_piece(g, cg_site(g, like, row), address->base[row], like->width);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, part);
    if (address->c.wrap || g->flow.rows > 1)
        touch_lanes(g, first, cg_address_vector(g, address));
    else
        touch_steps(g, first, address->base[0], LLVMConstInt(g->unit->i64, (uint64_t)address->c.stride, true));
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* Longer distances are as good as none: their lanes are boxes by themselves. */
#define STRIDE_MOST 4096

void cg_touch(struct cg *g, const struct cg_address *address, uint32_t bytes, uint32_t flags)
{
    if (!flags)
        return;
    unsigned lanes = g->now.lanes;
    g->now.lanes = g->unit->width;
    struct mr_site site = {.bytes = bytes, .flags = flags};
    int64_t stride = address->c.stride;
    if (address->c.kind == MR_CLASS_UNIFORM) {
        site.width = bytes;
        touch_piece(g, cg_site(g, &site, 0), address->base[0], bytes);
    } else if (address->c.kind == MR_CLASS_AFFINE && stride >= 0 && stride <= STRIDE_MOST) {
        site.width = (uint32_t)stride * (cg_row_lanes(g) - 1) + bytes;
        site.stride = stride > bytes ? (uint32_t)stride : 0;
        touch_pieces(g, address, &site);
    } else if (address->c.kind == MR_CLASS_AFFINE && !address->c.wrap && g->flow.rows == 1) {
        touch_steps(g, cg_site(g, &site, 0), address->base[0], LLVMConstInt(g->unit->i64, (uint64_t)stride, true));
    } else {
        touch_lanes(g, of_lanes(g, bytes, flags), cg_address_vector(g, address));
    }
    g->now.lanes = lanes;
}

void cg_touch_stepped(struct cg *g, const struct cg_stepped *stepped, uint32_t bytes, uint32_t flags)
{
    if (!flags)
        return;
    struct cg_unit *unit = g->unit;
    unsigned lanes = g->now.lanes;
    uint32_t width = bytes * unit->width,
             site = cg_site(g, &(struct mr_site){.bytes = bytes, .width = width, .flags = flags}, 0);
    g->now.lanes = unit->width;
    LLVMBasicBlockRef whole = cg_new_block(g, "whole"), part = cg_new_block(g, "part"), on = cg_new_block(g, "on");
    LLVMValueRef steady = LLVMBuildICmp(g->b, LLVMIntEQ, stepped->step, LLVMConstInt(unit->i64, bytes, false), ""),
                 all = LLVMBuildICmp(g->b, LLVMIntEQ, g->now.exec, LLVMConstAllOnes(unit->mask), ""),
                 even = cg_stepped_evenly(g, stepped);
    steady = LLVMBuildAnd(g->b, steady, all, "");
    if (even)
        steady = LLVMBuildAnd(g->b, steady, even, "");
    LLVMBuildCondBr(g->b, steady, whole, part);
    LLVMPositionBuilderAtEnd(g->b, whole);
    touch_piece(g, site, stepped->base, width);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, part);
    if (even) {
        LLVMBasicBlockRef evenly = cg_new_block(g, "evenly"), wraps = cg_new_block(g, "wraps");
        LLVMBuildCondBr(g->b, even, evenly, wraps);
        LLVMPositionBuilderAtEnd(g->b, wraps);
        struct cg_stepped rare = cg_stepped_rarely(g, stepped);
        touch_lanes(g, site, cg_stepped_vector(g, &rare, unit->i64));
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, evenly);
    }
    touch_steps(g, site, stepped->base, stepped->step);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    g->now.lanes = lanes;
}

/* The site of what the runtime takes note of by itself. */
static uint32_t of_service(struct cg *g, uint32_t flags)
{
    return cg_site(g, &(struct mr_site){.flags = flags}, 0);
}

void cg_touch_sizes(struct cg *g, LLVMValueRef addresses, LLVMValueRef sizes, uint32_t flags)
{
    if (!flags)
        return;
    LLVMValueRef args[4] = {number(g, of_service(g, flags)), addresses, sizes, lanes_mask(g)};
    call(g, offsetof(struct mr_runtime, note_sizes), args, 4);
}

void cg_touch_rows(struct cg *g, LLVMValueRef address, uint32_t bytes, uint32_t rows, LLVMValueRef pitch,
                   uint32_t flags)
{
    if (!flags)
        return;
    LLVMValueRef args[5] = {number(g, of_service(g, flags)), address, LLVMConstInt(g->unit->i64, bytes, false),
                            number(g, rows), pitch};
    call(g, offsetof(struct mr_runtime, note_rows), args, 5);
}

void cg_touch_service(struct cg *g, uint32_t flags)
{
    if (flags)
        cg_block_store(g, offsetof(struct mr_block, site), number(g, of_service(g, flags)));
}
