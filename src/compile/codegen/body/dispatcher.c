/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions in which many blocks may have parked lanes at the end of many others. Written out, the scans would be as
 * many jumps as the square of the number of blocks, with a choice between as many values at the head of each block, and
 * LLVM takes time by the cube of that. So the masks of such a function are one array, a block looks at the nearest few
 * others only, and the rest is left to one dispatcher, which asks the runtime for the next block (src/kernel/scan.c).
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/nothing.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/dispatcher.h"

#include "abi/abi.h"
#include "base/alloc.h"

/* Above this many choices between values at the heads of blocks, registers stay in memory between blocks. */
#define CHOICES 800u

/* Whether there are more. It stops there: some functions have tens of thousands of registers and of blocks. */
static bool has_many_choices(const struct cg *g)
{
    size_t count = 0;
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        for (uint32_t r = 0; r < g->flow.reg_count; r++) {
            count += (mr_bit_get(g->flow.blocks[b].live_in, r) || mr_bit_get(g->flow.blocks[b].parked, r)) &&
                     mr_flow_register_class(&g->flow, r).kind == MR_CLASS_VARYING;
            if (count > CHOICES)
                return true;
        }
    return false;
}

/* Adds the registers that are live where a block begins. */
static void add_crossing(const struct cg *g, mr_word *set)
{
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        for (size_t w = 0; w < mr_bit_words(g->flow.reg_count); w++)
            set[w] |= g->flow.blocks[b].live_in[w];
}

/* An element of an array, as LLVM's instcombine has it, by bytes and in bounds: it looks at all uses of the array again
 * for each that it changes. */
static LLVMValueRef element(struct cg *g, LLVMValueRef array, uint32_t index, unsigned bytes)
{
    LLVMValueRef place = LLVMConstInt(g->unit->i64, (uint64_t)index * bytes, false);
    return index ? LLVMBuildInBoundsGEP2(g->b, g->unit->i8, array, &place, 1, "") : array;
}

/* The addresses of the slots that must not become values, where there are too many of them. The builder is in the
 * prologue. */
static LLVMValueRef keep_in_memory(struct cg *g)
{
    LLVMTypeRef ptr = g->unit->ptr;
    if (!has_many_choices(g))
        return LLVMConstNull(ptr);
    mr_word *crossing = mr_calloc(mr_bit_words(g->flow.reg_count), sizeof *crossing);
    if (!crossing) {
        cg_fail(g->unit, NULL, "memory is short");
        return LLVMConstNull(ptr);
    }
    add_crossing(g, crossing);
    LLVMValueRef all = LLVMBuildAlloca(g->b, LLVMArrayType2(ptr, g->flow.reg_count), "registers");
    for (uint32_t r = 0; r < g->flow.reg_count; r++)
        if (mr_bit_get(crossing, r) && mr_flow_register_class(&g->flow, r).kind == MR_CLASS_VARYING)
            LLVMBuildStore(g->b, g->regs.slots[r], element(g, all, r, sizeof(void *)));
    mr_free(crossing);
    g->memory.bytes += 8ull * g->flow.reg_count;
    return all;
}

LLVMValueRef cg_slot_in_memory(struct cg *g, LLVMTypeRef type, const char *name)
{
    LLVMValueRef slot = cg_slot(g, type, name);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    cg_seen(g->b, slot);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
    return slot;
}

_Static_assert(MR_SCAN_MARK >> 31 == 1, "cg_dispatcher_at_barriers looks for a sign");
_Static_assert((int)MR_SCAN_USUAL == (int)MR_SCAN_ORDER_USUAL && (int)MR_SCAN_OUTSIDE == (int)MR_SCAN_ORDER_OUTSIDE &&
                   (int)MR_SCAN_BARRIERS == (int)MR_SCAN_ORDER_BARRIERS,
               "the runtime's orders are the code generator's");

void cg_dispatcher_slots(struct cg *g)
{
    uint32_t count = g->flow.block_count;
    g->parking.array = cg_slot(g, LLVMArrayType2(g->unit->mask, count), "parked");
    g->parking.current = cg_slot_in_memory(g, g->unit->i32, "current");
    g->parking.order = cg_slot_in_memory(g, g->unit->i32, "order");
    g->memory.bytes += 8ull * count;
    g->parking.dispatcher = cg_new_block(g, "dispatcher");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    for (uint32_t b = 0; b < count; b++)
        g->parking.masks[b] = element(g, g->parking.array, b, cg_bits(g->unit->mask) / 8);
    g->parking.registers = keep_in_memory(g);
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
}

/* A loop of stores, since memset would be a function from outside. */
void cg_dispatcher_clear(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), loop = cg_new_block(g, "clear"),
                      on = cg_new_block(g, "cleared");
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    LLVMValueRef index = LLVMBuildPhi(g->b, unit->i32, ""), first = LLVMConstInt(unit->i32, 0, false);
    LLVMBuildStore(g->b, cg_mask_zero(g), LLVMBuildGEP2(g->b, unit->mask, g->parking.array, &index, 1, ""));
    LLVMValueRef next = LLVMBuildAdd(g->b, index, LLVMConstInt(unit->i32, 1, false), "");
    LLVMAddIncoming(index, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntULT, next, LLVMConstInt(unit->i32, g->flow.block_count, false), "");
    LLVMBuildCondBr(g->b, more, loop, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

void cg_dispatcher_ask(struct cg *g, LLVMValueRef order)
{
    LLVMBuildStore(g->b, LLVMConstInt(g->unit->i32, g->now.at, false), g->parking.current);
    LLVMBuildStore(g->b, order, g->parking.order);
    LLVMBuildBr(g->b, g->parking.dispatcher);
}

static uint32_t loop_word(uint32_t loop, bool mark)
{
    return (loop == MR_FLOW_NONE ? MR_SCAN_NO_LOOP : loop) | (mark ? MR_SCAN_MARK : 0);
}

/* A table that the code reads; frees `words`. */
static LLVMValueRef constant_words(struct cg_unit *unit, LLVMValueRef *words, uint64_t count, const char *name)
{
    LLVMValueRef content = LLVMConstArray2(unit->i32, words, count),
                 table = LLVMAddGlobal(unit->module, LLVMTypeOf(content), name);
    mr_free(words);
    LLVMSetInitializer(table, content);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    return table;
}

/* The table of the service next_block: see abi.h. */
static LLVMValueRef scan_table(struct cg *g)
{
    if (g->parking.scan_table)
        return g->parking.scan_table;
    struct cg_unit *unit = g->unit;
    const struct mr_flow *flow = &g->flow;
    size_t count = MR_SCAN_HEAD + (size_t)flow->block_count + 3 * (size_t)flow->loop_count, at = 0;
    LLVMValueRef *words = mr_calloc(count, sizeof *words);
    if (!words) {
        cg_fail(unit, NULL, "memory is short");
        return LLVMGetPoison(unit->ptr);
    }
    words[at++] = LLVMConstInt(unit->i32, flow->block_count, false);
    words[at++] = LLVMConstInt(unit->i32, unit->mask == unit->i64, false);
    for (uint32_t b = 0; b < flow->block_count; b++)
        words[at++] = LLVMConstInt(unit->i32, loop_word(flow->blocks[b].loop, flow->blocks[b].barrier), false);
    for (uint32_t l = 0; l < flow->loop_count; l++) {
        words[at++] = LLVMConstInt(unit->i32, flow->loops[l].first, false);
        words[at++] = LLVMConstInt(unit->i32, flow->loops[l].end, false);
        words[at++] = LLVMConstInt(unit->i32, loop_word(flow->loops[l].parent, flow->loops[l].waits), false);
    }
    return g->parking.scan_table = constant_words(unit, words, count, "order");
}

LLVMValueRef cg_dispatcher_at_barriers(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), loop = cg_new_block(g, "look"), on = cg_new_block(g, "looked");
    LLVMValueRef none = cg_mask_zero(g), zero = LLVMConstInt(unit->i32, 0, false),
                 one = LLVMConstInt(unit->i32, 1, false);
    LLVMValueRef head = LLVMConstInt(unit->i32, MR_SCAN_HEAD, false), table = scan_table(g);
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    LLVMValueRef index = LLVMBuildPhi(g->b, unit->i32, ""), all = LLVMBuildPhi(g->b, unit->mask, "");
    LLVMValueRef place = LLVMBuildAdd(g->b, index, head, "");
    LLVMValueRef word = LLVMBuildLoad2(g->b, unit->i32, LLVMBuildGEP2(g->b, unit->i32, table, &place, 1, ""), "");
    LLVMValueRef lanes =
        LLVMBuildLoad2(g->b, unit->mask, LLVMBuildGEP2(g->b, unit->mask, g->parking.array, &index, 1, ""), "");
    LLVMValueRef marked = LLVMBuildICmp(g->b, LLVMIntSLT, word, zero, "");
    LLVMValueRef more = LLVMBuildOr(g->b, all, LLVMBuildSelect(g->b, marked, lanes, none, ""), "");
    LLVMValueRef next = LLVMBuildAdd(g->b, index, one, "");
    LLVMAddIncoming(index, (LLVMValueRef[]){zero, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMAddIncoming(all, (LLVMValueRef[]){none, more}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMBuildCondBr(
        g->b, LLVMBuildICmp(g->b, LLVMIntULT, next, LLVMConstInt(unit->i32, g->flow.block_count, false), ""), loop, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    return more;
}

/* For each block the innermost waiting loop around it, first block and end; all blocks, if there is none, so that each
 * is in it; none, if its lanes are on their way, so that each waits for them. */
static LLVMValueRef waiting_table(struct cg *g)
{
    if (g->parking.waiting_table)
        return g->parking.waiting_table;
    struct cg_unit *unit = g->unit;
    const struct mr_flow *flow = &g->flow;
    LLVMValueRef *words = mr_calloc(2 * (size_t)flow->block_count, sizeof *words);
    if (!words) {
        cg_fail(unit, NULL, "memory is short");
        return LLVMGetPoison(unit->ptr);
    }
    for (uint32_t b = 0; b < flow->block_count; b++) {
        uint32_t loop = mr_flow_waiting_loop(flow, b), first = 0, end = flow->block_count;
        if (mr_flow_is_on_its_way(flow, b)) {
            end = 0;
        } else if (loop != MR_FLOW_NONE) {
            first = flow->loops[loop].first;
            end = flow->loops[loop].end;
        }
        words[2 * b] = LLVMConstInt(unit->i32, first, false);
        words[2 * b + 1] = LLVMConstInt(unit->i32, end, false);
    }
    return g->parking.waiting_table = constant_words(unit, words, 2 * (uint64_t)flow->block_count, "waiting");
}

void cg_dispatcher_wait(struct cg *g, LLVMValueRef lanes)
{
    struct cg_unit *unit = g->unit;
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), loop = cg_new_block(g, "look"), found = cg_new_block(g, "stay"),
                      next = cg_new_block(g, "next");
    LLVMBasicBlockRef on = cg_new_block(g, "together");
    LLVMValueRef one = LLVMConstInt(unit->i32, 1, false), table = waiting_table(g),
                 here = LLVMConstInt(unit->i32, g->now.at, false);
    LLVMBuildBr(b, loop);
    LLVMPositionBuilderAtEnd(b, loop);
    LLVMValueRef index = LLVMBuildPhi(b, unit->i32, "");
    LLVMValueRef first = LLVMBuildShl(b, index, one, ""), end = LLVMBuildOr(b, first, one, "");
    first = LLVMBuildLoad2(b, unit->i32, LLVMBuildGEP2(b, unit->i32, table, &first, 1, ""), "");
    end = LLVMBuildLoad2(b, unit->i32, LLVMBuildGEP2(b, unit->i32, table, &end, 1, ""), "");
    LLVMValueRef outside =
        LLVMBuildOr(b, LLVMBuildICmp(b, LLVMIntULT, here, first, ""), LLVMBuildICmp(b, LLVMIntUGE, here, end, ""), "");
    LLVMValueRef parked =
        LLVMBuildLoad2(b, unit->mask, LLVMBuildGEP2(b, unit->mask, g->parking.array, &index, 1, ""), "");
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, parked, lanes, ""), cg_mask_zero(g), "");
    LLVMBuildCondBr(b, LLVMBuildAnd(b, outside, some, ""), found, next);
    LLVMPositionBuilderAtEnd(b, next);
    LLVMValueRef following = LLVMBuildAdd(b, index, one, "");
    LLVMAddIncoming(index, (LLVMValueRef[]){LLVMConstInt(unit->i32, 0, false), following},
                    (LLVMBasicBlockRef[]){before, next}, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, following, LLVMConstInt(unit->i32, g->flow.block_count, false), ""),
                    loop, on);
    LLVMPositionBuilderAtEnd(b, found);
    LLVMBuildStore(b, g->now.mask, g->parking.masks[g->now.at]);
    LLVMBuildStore(b, index, g->parking.current);
    if (!g->parking.direct)
        g->parking.direct = cg_new_block(g, "direct");
    LLVMBuildBr(b, g->parking.direct);
    LLVMPositionBuilderAtEnd(b, on);
}

void cg_dispatcher_emit(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    if (g->parking.direct) {
        LLVMPositionBuilderAtEnd(g->b, g->parking.direct);
        cg_jump(g, LLVMBuildLoad2(g->b, unit->i32, g->parking.current, ""), g->parking.entries, g->flow.block_count,
                g->parking.finish);
    }
    LLVMPositionBuilderAtEnd(g->b, g->parking.dispatcher);
    LLVMValueRef args[5] = {g->parking.array, g->parking.registers, scan_table(g),
                            LLVMBuildLoad2(g->b, unit->i32, g->parking.current, ""),
                            LLVMBuildLoad2(g->b, unit->i32, g->parking.order, "")};
    LLVMValueRef next = cg_runtime_call(g, offsetof(struct mr_runtime, next_block), unit->i32, args, 5);
    cg_jump(g, next, g->parking.entries, g->flow.block_count, g->parking.finish);
}
