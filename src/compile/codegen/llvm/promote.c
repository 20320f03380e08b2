/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Slots to values, in functions of many blocks. LLVM's passes would do it, but they walk over all blocks that a store
 * dominates for each slot, and take all slots along for each block: time by the product of slots and blocks, two thirds
 * of all compiling of a sort with 8,000 blocks. Here the walk is over the *frontier*, which is found once for all
 * slots.
 *
 * The terms are those of the literature (Cytron and others, TOPLAS 1991; Cooper, Harvey and Kennedy, 2001). Block a
 * *dominates* b if all ways from the entry to b pass a. The *frontier* of a block are those blocks where ways that pass
 * it meet others. A slot needs a phi in the frontier of each block that stores to it, and of each phi's block, as far
 * as it is *live* there, which means that a load may follow without a store before it. LLVM puts its phis there, too.
 *
 * Slots stay if anything else than plain loads and stores of their own type refers to them. If memory is short, or
 * frontiers are very large, all stay, and LLVM's pass does it.
 *
 * Code in a hurry keeps no value in a register over a block's end, and each phi is a copy at the end of each block
 * before it. So there a slot that would need more phis than there are blocks that use it stays in memory between
 * blocks; within a block it is a value all the same.
 */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/nothing.h"
#include "compile/codegen/llvm/llvm.h"

#include <string.h>

#include "base/alloc.h"

#define BLOCKS_LEAST 400u /* a function of fewer is left to LLVM */
#define BLOCKS_LEAST_IN_A_HURRY 24u
#define FRONTIER_MOST 128u /* blocks in a frontier, on average */
#define NONE UINT32_MAX

/* A slot that becomes values. */
struct slot {
    LLVMValueRef alloca;
    LLVMTypeRef type;
    LLVMValueRef now; /* what it holds where the walk is */
    uint32_t first; /* in `touches`, of its latest block; NONE */
    uint32_t saved_in; /* the number and 1 of the block in which `now` was saved last; if it stays, was met last */
    bool stays; /* in memory between blocks */
    LLVMValueRef store; /* if it stays: the latest one of that block */
};

/* A block that has loads or stores of a slot. */
struct touch {
    uint32_t block, next; /* of the same slot */
    bool loads; /* before any store */
    bool stores;
};

struct phi {
    LLVMValueRef value;
    uint32_t slot, block, next; /* of the same block */
};

struct saved {
    LLVMValueRef value;
    uint32_t slot;
};

/* A table of pointers to numbers. */
struct numbers {
    const void **keys;
    uint32_t *values;
    size_t size; /* a power of two */
};

struct promotion {
    struct cg_unit *unit;
    LLVMValueRef fn;
    LLVMBuilderRef builder;
    uint32_t count; /* blocks, in the function's order */
    LLVMBasicBlockRef *blocks;
    struct numbers block_numbers, slot_numbers;
    uint32_t *after_at, *after; /* successors: of block b, after[after_at[b]] to after[after_at[b + 1] - 1] */
    uint32_t *before_at, *before; /* predecessors, likewise */
    uint32_t reached, *order,
        *place; /* blocks in reverse postorder; where a block is there, NONE: nothing leads to it */
    uint32_t *dominator; /* the nearest of a block; the entry's is itself */
    uint32_t *child, *sibling; /* the tree of dominators; NONE: no more */
    uint32_t *frontier_at, *frontier;
    struct slot *slots;
    uint32_t slot_count;
    struct touch *touches;
    size_t touch_count, touch_room;
    struct phi *phis;
    size_t phi_count, phi_room;
    uint32_t *phis_of; /* by block: the first; NONE */
    struct saved *saved;
    size_t saved_count, saved_room;
    uint32_t *stack, *live, *has_phi; /* by block; the last two: the slot's number and 1 for which it was noted */
};

static size_t place_of(const struct numbers *numbers, const void *key)
{
    size_t at = ((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (numbers->size - 1);
    while (numbers->keys[at] && numbers->keys[at] != key)
        at = (at + 1) & (numbers->size - 1);
    return at;
}

static bool make_numbers(struct numbers *numbers, size_t count)
{
    for (numbers->size = 16; numbers->size < 2 * count + 1; numbers->size *= 2)
        ;
    numbers->keys = mr_calloc(numbers->size, sizeof *numbers->keys);
    numbers->values = mr_calloc(numbers->size, sizeof *numbers->values);
    return numbers->keys && numbers->values;
}

static void put_number(struct numbers *numbers, const void *key, uint32_t value)
{
    size_t at = place_of(numbers, key);
    numbers->keys[at] = key;
    numbers->values[at] = value;
}

static uint32_t number_of(const struct numbers *numbers, const void *key)
{
    size_t at = place_of(numbers, key);
    return numbers->keys[at] ? numbers->values[at] : NONE;
}

/* ---- blocks ---- */

static bool number_blocks(struct promotion *p)
{
    p->count = LLVMCountBasicBlocks(p->fn);
    p->blocks = mr_calloc(p->count, sizeof *p->blocks);
    if (!p->blocks || !make_numbers(&p->block_numbers, p->count))
        return false;
    LLVMGetBasicBlocks(p->fn, p->blocks);
    for (uint32_t b = 0; b < p->count; b++)
        put_number(&p->block_numbers, p->blocks[b], b);
    return true;
}

/* Adds up counts that stand at [1..count] to places, and gives the sum. */
static uint32_t add_up(uint32_t *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        at[i + 1] += at[i];
    return at[count];
}

static bool find_edges(struct promotion *p)
{
    p->after_at = mr_calloc(p->count + 1, sizeof *p->after_at);
    p->before_at = mr_calloc(p->count + 2, sizeof *p->before_at);
    if (!p->after_at || !p->before_at)
        return false;
    for (uint32_t b = 0; b < p->count; b++)
        p->after_at[b + 1] = LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(p->blocks[b]));
    uint32_t edges = add_up(p->after_at, p->count);
    p->after = mr_calloc(edges + 1, sizeof *p->after);
    p->before = mr_calloc(edges + 1, sizeof *p->before);
    if (!p->after || !p->before)
        return false;
    uint32_t *end = p->before_at + 1; /* while they are filled, where a block's predecessors end */
    for (uint32_t b = 0, e = 0; b < p->count; b++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(p->blocks[b]);
        for (unsigned i = 0; e < p->after_at[b + 1]; i++, e++) {
            p->after[e] = number_of(&p->block_numbers, LLVMGetSuccessor(last, i));
            end[p->after[e] + 1]++;
        }
    }
    (void)add_up(end, p->count);
    for (uint32_t b = 0; b < p->count; b++)
        for (uint32_t e = p->after_at[b]; e < p->after_at[b + 1]; e++)
            p->before[end[p->after[e]]++] = b;
    return true;
}

/* Reverse postorder of what can be reached. */
static bool find_order(struct promotion *p)
{
    uint32_t *next = mr_calloc(p->count, sizeof *next), depth = 0, left = p->count;
    p->order = mr_calloc(p->count, sizeof *p->order);
    p->place = mr_calloc(p->count, sizeof *p->place);
    p->stack = mr_calloc(p->count + 1, sizeof *p->stack);
    if (!next || !p->order || !p->place || !p->stack) {
        mr_free(next);
        return false;
    }
    memset(p->place, 0xff, p->count * sizeof *p->place);
    p->stack[depth++] = 0;
    p->place[0] = 0;
    while (depth) {
        uint32_t b = p->stack[depth - 1], e = p->after_at[b] + next[b]++;
        if (e == p->after_at[b + 1]) {
            p->order[--left] = b;
            depth--;
        } else if (p->place[p->after[e]] == NONE) {
            p->place[p->after[e]] = 0;
            p->stack[depth++] = p->after[e];
        }
    }
    mr_free(next);
    p->reached = p->count - left;
    memmove(p->order, p->order + left, p->reached * sizeof *p->order);
    for (uint32_t i = 0; i < p->reached; i++)
        p->place[p->order[i]] = i;
    return true;
}

/* The nearest block that dominates both. */
static uint32_t common_dominator(const struct promotion *p, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (p->place[a] > p->place[b])
            a = p->dominator[a];
        while (p->place[b] > p->place[a])
            b = p->dominator[b];
    }
    return a;
}

static bool find_dominators(struct promotion *p)
{
    p->dominator = mr_alloc(p->count * sizeof *p->dominator);
    p->child = mr_alloc(p->count * sizeof *p->child);
    p->sibling = mr_alloc(p->count * sizeof *p->sibling);
    if (!p->dominator || !p->child || !p->sibling)
        return false;
    memset(p->dominator, 0xff, p->count * sizeof *p->dominator);
    memset(p->child, 0xff, p->count * sizeof *p->child);
    memset(p->sibling, 0xff, p->count * sizeof *p->sibling);
    p->dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < p->reached; i++) {
            uint32_t b = p->order[i], found = NONE;
            for (uint32_t e = p->before_at[b]; e < p->before_at[b + 1]; e++)
                if (p->dominator[p->before[e]] != NONE)
                    found = found == NONE ? p->before[e] : common_dominator(p, found, p->before[e]);
            changed |= p->dominator[b] != found;
            p->dominator[b] = found;
        }
    }
    for (uint32_t i = p->reached; i-- > 1;) {
        uint32_t b = p->order[i];
        p->sibling[b] = p->child[p->dominator[b]];
        p->child[p->dominator[b]] = b;
    }
    return true;
}

/* Goes over the frontiers: counts them at [block + 1] of `at`, or puts them where `at` says. False if they are too
 * large. */
static bool walk_frontiers(struct promotion *p, uint32_t *at, uint32_t *last, bool puts)
{
    uint64_t sum = 0;
    memset(last, 0xff, p->count * sizeof *last);
    for (uint32_t i = 0; i < p->reached; i++) {
        uint32_t b = p->order[i];
        if (p->before_at[b + 1] - p->before_at[b] < 2)
            continue;
        for (uint32_t e = p->before_at[b]; e < p->before_at[b + 1]; e++) {
            uint32_t from = p->before[e];
            if (p->place[from] == NONE)
                continue;
            for (; from != p->dominator[b] && last[from] != b; from = p->dominator[from]) {
                last[from] = b;
                if (puts)
                    p->frontier[at[from]++] = b;
                else
                    at[from + 1]++;
                if (++sum > (uint64_t)FRONTIER_MOST * p->count)
                    return false;
                if (from == 0)
                    break;
            }
        }
    }
    return true;
}

static bool find_frontiers(struct promotion *p)
{
    p->frontier_at = mr_calloc(p->count + 2, sizeof *p->frontier_at);
    uint32_t *last = mr_alloc(p->count * sizeof *last);
    bool good = p->frontier_at && last && walk_frontiers(p, p->frontier_at + 1, last, false);
    if (good) {
        p->frontier = mr_calloc(add_up(p->frontier_at + 1, p->count) + 1, sizeof *p->frontier);
        good = p->frontier && walk_frontiers(p, p->frontier_at + 1, last, true);
    }
    mr_free(last);
    return good;
}

/* ---- slots ---- */

/* Whether only loads and stores of its own type refer to it. */
static bool is_plain(LLVMValueRef alloca, LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind || LLVMGetNumOperands(alloca) == 0 ||
        !LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) || LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0)) != 1)
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(alloca); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool load = LLVMIsALoadInst(user) != NULL, store = LLVMIsAStoreInst(user) != NULL;
        if ((!load && !store) || LLVMGetVolatile(user) || LLVMGetOrdering(user) != LLVMAtomicOrderingNotAtomic)
            return false;
        if (load && LLVMTypeOf(user) != type)
            return false;
        if (store && (LLVMGetOperand(user, 0) == alloca || LLVMTypeOf(LLVMGetOperand(user, 0)) != type))
            return false;
    }
    return true;
}

static bool find_slots(struct promotion *p)
{
    LLVMBasicBlockRef entry = p->blocks[0];
    size_t count = 0;
    for (LLVMValueRef at = LLVMGetFirstInstruction(entry); at; at = LLVMGetNextInstruction(at))
        count += LLVMIsAAllocaInst(at) != NULL;
    p->slots = mr_calloc(count + 1, sizeof *p->slots);
    if (!p->slots || !make_numbers(&p->slot_numbers, count))
        return false;
    for (LLVMValueRef at = LLVMGetFirstInstruction(entry); at; at = LLVMGetNextInstruction(at)) {
        LLVMTypeRef type = LLVMIsAAllocaInst(at) ? LLVMGetAllocatedType(at) : NULL;
        if (!type || !is_plain(at, type))
            continue;
        put_number(&p->slot_numbers, at, p->slot_count);
        p->slots[p->slot_count++] = (struct slot){.alloca = at, .type = type, .now = LLVMGetUndef(type), .first = NONE};
    }
    return true;
}

/* Which of the slots a load or store is of; NONE: it uses no slot. */
static uint32_t slot_of(const struct promotion *p, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode != LLVMLoad && opcode != LLVMStore)
        return NONE;
    return number_of(&p->slot_numbers, LLVMGetOperand(inst, opcode == LLVMStore));
}

static bool find_touches(struct promotion *p)
{
    for (uint32_t i = 0; i < p->reached; i++) {
        uint32_t b = p->order[i];
        for (LLVMValueRef at = LLVMGetFirstInstruction(p->blocks[b]); at; at = LLVMGetNextInstruction(at)) {
            uint32_t s = slot_of(p, at);
            if (s == NONE)
                continue;
            struct slot *slot = &p->slots[s];
            bool store = LLVMGetInstructionOpcode(at) == LLVMStore;
            if (slot->first == NONE || p->touches[slot->first].block != b) {
                if (!mr_array_reserve((void **)&p->touches, &p->touch_room, p->touch_count + 1, sizeof *p->touches))
                    return false;
                p->touches[p->touch_count] = (struct touch){b, slot->first, !store, store};
                slot->first = (uint32_t)p->touch_count++;
            }
            p->touches[slot->first].stores |= store;
        }
    }
    return true;
}

/* Notes where the slot is live at a block's start. */
static void find_live(struct promotion *p, uint32_t s, uint32_t *stores)
{
    uint32_t depth = 0;
    for (uint32_t t = p->slots[s].first; t != NONE; t = p->touches[t].next) {
        const struct touch *touch = &p->touches[t];
        if (touch->stores)
            stores[touch->block] = s + 1;
        if (touch->loads) {
            p->live[touch->block] = s + 1;
            p->stack[depth++] = touch->block;
        }
    }
    while (depth) {
        uint32_t b = p->stack[--depth];
        for (uint32_t e = p->before_at[b]; e < p->before_at[b + 1]; e++) {
            uint32_t from = p->before[e];
            if (p->place[from] == NONE || stores[from] == s + 1 || p->live[from] == s + 1)
                continue;
            p->live[from] = s + 1;
            p->stack[depth++] = from;
        }
    }
}

/* Finds where the slot needs phis. */
static bool place_phis(struct promotion *p, uint32_t s, uint32_t *stores)
{
    uint32_t depth = 0;
    find_live(p, s, stores);
    for (uint32_t t = p->slots[s].first; t != NONE; t = p->touches[t].next)
        if (p->touches[t].stores)
            p->stack[depth++] = p->touches[t].block;
    while (depth) {
        uint32_t b = p->stack[--depth];
        for (uint32_t f = p->frontier_at[b]; f < p->frontier_at[b + 1]; f++) {
            uint32_t to = p->frontier[f];
            if (p->live[to] != s + 1 || p->has_phi[to] == s + 1)
                continue;
            if (!mr_array_reserve((void **)&p->phis, &p->phi_room, p->phi_count + 1, sizeof *p->phis))
                return false;
            p->phis[p->phi_count] = (struct phi){NULL, s, to, p->phis_of[to]};
            p->phis_of[to] = (uint32_t)p->phi_count++;
            p->has_phi[to] = s + 1;
            if (stores[to] != s + 1)
                p->stack[depth++] = to;
        }
    }
    return true;
}

/* Takes the phis from number `from` on back, all of slot s, if they are more than the blocks that use it. */
static void spare_phis(struct promotion *p, uint32_t s, size_t from)
{
    size_t uses = 0;
    for (uint32_t t = p->slots[s].first; t != NONE; t = p->touches[t].next)
        uses++;
    if (p->phi_count - from <= uses)
        return;
    while (p->phi_count > from) {
        const struct phi *phi = &p->phis[--p->phi_count];
        p->phis_of[phi->block] = phi->next;
    }
    p->slots[s].stays = true;
}

static bool place_all(struct promotion *p)
{
    uint32_t *stores = mr_calloc(p->count, sizeof *stores);
    p->live = mr_calloc(p->count, sizeof *p->live);
    p->has_phi = mr_calloc(p->count, sizeof *p->has_phi);
    p->phis_of = mr_alloc(p->count * sizeof *p->phis_of);
    bool good = stores && p->live && p->has_phi && p->phis_of;
    if (good)
        memset(p->phis_of, 0xff, p->count * sizeof *p->phis_of);
    for (uint32_t s = 0; s < p->slot_count && good; s++) {
        size_t from = p->phi_count;
        good = place_phis(p, s, stores);
        if (good && p->unit->request->hurry)
            spare_phis(p, s, from);
    }
    mr_free(stores);
    /* What the walk below saves: once for each store and phi at most, since a block saves a slot's value once. */
    p->saved_room = p->touch_count + p->phi_count + 1;
    return good && (p->saved = mr_calloc(p->saved_room, sizeof *p->saved)) != NULL;
}

/* ---- the change; nothing fails from here on ---- */

static void make_phis(struct promotion *p)
{
    for (uint32_t b = 0; b < p->count; b++) {
        if (p->phis_of[b] == NONE)
            continue;
        LLVMPositionBuilderBefore(p->builder, LLVMGetFirstInstruction(p->blocks[b]));
        LLVMSetCurrentDebugLocation2(p->builder, NULL);
        for (uint32_t i = p->phis_of[b]; i != NONE; i = p->phis[i].next)
            p->phis[i].value = LLVMBuildPhi(p->builder, p->slots[p->phis[i].slot].type, "");
    }
}

/* The slot holds something else from here on, until the walk leaves block b. */
static void set_now(struct promotion *p, uint32_t b, uint32_t s, LLVMValueRef value)
{
    struct slot *slot = &p->slots[s];
    if (slot->saved_in != b + 1) {
        slot->saved_in = b + 1;
        p->saved[p->saved_count++] = (struct saved){slot->now, s};
    }
    slot->now = value;
}

/* A load or store in block b of a slot that stays: what the block knows of it is not loaded again, and only the
 * block's last store counts. */
static void touch_in_memory(struct slot *slot, uint32_t b, LLVMValueRef inst)
{
    bool load = LLVMGetInstructionOpcode(inst) == LLVMLoad, known = slot->saved_in == b + 1;
    if (!known)
        slot->store = NULL;
    slot->saved_in = b + 1;
    if (load && known) {
        LLVMReplaceAllUsesWith(inst, slot->now);
        LLVMInstructionEraseFromParent(inst);
        return;
    }
    if (!load && slot->store)
        LLVMInstructionEraseFromParent(slot->store);
    slot->now = load ? inst : LLVMGetOperand(inst, 0);
    slot->store = load ? slot->store : inst;
}

static void enter_block(struct promotion *p, uint32_t b)
{
    for (uint32_t i = p->phis_of[b]; i != NONE; i = p->phis[i].next)
        set_now(p, b, p->phis[i].slot, p->phis[i].value);
    for (LLVMValueRef at = LLVMGetFirstInstruction(p->blocks[b]), next; at; at = next) {
        next = LLVMGetNextInstruction(at);
        uint32_t s = slot_of(p, at);
        if (s == NONE)
            continue;
        if (p->slots[s].stays) {
            touch_in_memory(&p->slots[s], b, at);
            continue;
        }
        if (LLVMGetInstructionOpcode(at) == LLVMLoad)
            LLVMReplaceAllUsesWith(at, p->slots[s].now);
        else if (p->place[b] != NONE)
            set_now(p, b, s, LLVMGetOperand(at, 0));
        LLVMInstructionEraseFromParent(at);
    }
    for (uint32_t e = p->after_at[b]; e < p->after_at[b + 1]; e++)
        for (uint32_t i = p->phis_of[p->after[e]]; i != NONE; i = p->phis[i].next)
            LLVMAddIncoming(p->phis[i].value, &p->slots[p->phis[i].slot].now, &p->blocks[b], 1);
}

static void drop_saved(struct promotion *p, size_t count)
{
    while (p->saved_count > count) {
        const struct saved *saved = &p->saved[--p->saved_count];
        p->slots[saved->slot].now = saved->value;
    }
}

/* Over the tree of dominators, so that what a load gets has been met before. `heights`: by block, where its saved
 * values begin. */
static void walk_tree(struct promotion *p, size_t *heights)
{
    uint32_t b = 0;
    for (;;) {
        heights[b] = p->saved_count;
        enter_block(p, b);
        if (p->child[b] != NONE) {
            b = p->child[b];
            continue;
        }
        for (;;) {
            drop_saved(p, heights[b]);
            if (b == 0)
                return;
            if (p->sibling[b] != NONE)
                break;
            b = p->dominator[b];
        }
        b = p->sibling[b];
    }
}

/* Blocks that nothing leads to: what they read is nothing, and what they store nobody reads. */
static void clear_unreached(struct promotion *p)
{
    for (uint32_t b = 0; b < p->count; b++)
        if (p->place[b] == NONE)
            enter_block(p, b);
}

static void change(struct promotion *p, size_t *heights)
{
    p->builder = LLVMCreateBuilderInContext(p->unit->context);
    make_phis(p);
    walk_tree(p, heights);
    drop_saved(p, 0);
    clear_unreached(p);
    LLVMPositionBuilderBefore(p->builder, LLVMGetBasicBlockTerminator(p->blocks[0]));
    LLVMSetCurrentDebugLocation2(p->builder, NULL);
    for (uint32_t s = 0; s < p->slot_count; s++) {
        if (p->slots[s].stays)
            cg_seen(p->builder, p->slots[s].alloca); /* LLVM would make a value of it after all */
        else
            LLVMInstructionEraseFromParent(p->slots[s].alloca);
    }
    LLVMDisposeBuilder(p->builder);
}

static void clear(struct promotion *p)
{
    void *parts[] = {p->blocks,
                     p->block_numbers.keys,
                     p->block_numbers.values,
                     p->slot_numbers.keys,
                     p->slot_numbers.values,
                     p->after_at,
                     p->after,
                     p->before_at,
                     p->before,
                     p->order,
                     p->place,
                     p->dominator,
                     p->child,
                     p->sibling,
                     p->frontier_at,
                     p->frontier,
                     p->slots,
                     p->touches,
                     p->phis,
                     p->phis_of,
                     p->saved,
                     p->stack,
                     p->live,
                     p->has_phi};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        mr_free(parts[i]);
}

void cg_promote(struct cg_unit *unit)
{
    uint32_t least = unit->request->hurry ? BLOCKS_LEAST_IN_A_HURRY : BLOCKS_LEAST;
    for (LLVMValueRef fn = LLVMGetFirstFunction(unit->module); fn; fn = LLVMGetNextFunction(fn)) {
        if (LLVMCountBasicBlocks(fn) < least)
            continue;
        struct promotion p = {.unit = unit, .fn = fn};
        size_t *heights = NULL;
        if (number_blocks(&p) && find_edges(&p) && find_order(&p) && find_dominators(&p) && find_frontiers(&p) &&
            find_slots(&p) && find_touches(&p) && place_all(&p) &&
            (heights = mr_calloc(p.count, sizeof *heights)) != NULL)
            change(&p, heights);
        mr_free(heights);
        clear(&p);
    }
}
