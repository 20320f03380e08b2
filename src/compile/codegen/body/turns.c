/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Warps that take turns without stacks of their own (regions.c says in which kernels).
 *
 *     again:  for each warp:
 *                 the first time around: start; else: go on where it stopped, if it did
 *                 until it comes to a barrier or a pause: note which one, keep what it needs behind it
 *                 or leaves: note that
 *             if any warp stopped: again
 *
 * A warp's record is a piece of memory in the function's frame: the number of the stop (0: none), the lanes, tid, and
 * what mr_flow_kept() names, each register in one place for all stops. .local variables live there too. A vector that
 * waits at several stops unchanged is put there once, where it is written (plan_lasting).
 *
 * A pause is the head of a loop that strides. As long as any warp has paused, those at barriers stay where they are
 * (`held`). The end of a round in which none has is the barrier's end: results of bar.red are taken then. If warps have
 * stopped at barriers of different numbers, none of them can ever go on.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/record.h"
#include "compile/codegen/body/blocks.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/dispatcher.h"
#include "compile/codegen/body/turns.h"

#include "base/alloc.h"

/* A kernel whose warps need more than this has stacks. */
#define RECORD_BYTES_MAX (16u << 10)
#define WARPS_MAX 32u

/* The same for kernels whose call runs several blocks, and has records of up to MR_CALL_WARPS. */
#define RECORD_BYTES_BLOCKS 256u

/* Loads in a loop that strides for which a warp's record has room to note where they were. */
#define STEPS_OF_PAUSE 4u

/* In the number of a stop, and in `stopped`: it is a pause. */
#define PAUSE (UINT64_C(1) << 16)
_Static_assert(MR_FLOW_STATIC_BLOCKS < PAUSE, "each block may be a stop");

/* Above this many stops, `stopped` stays in memory, because as a value it would be a choice among all stops, and the
 * way to each is found in steps (cg_jump). */
#define FEW_STOPS 64u

/* Everything else in a record comes behind these. */
enum { AT_STOP = 0, AT_MASK = 8, AT_TID = 16 };

static LLVMValueRef i32_of(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* `stops`: how many stops keep a register, one in a loop counts as two. */
static void plan_stop(struct cg *g, uint32_t block, uint32_t *stops)
{
    struct cg_regions *regions = g->regions;
    if (g->flow.blocks[block].barrier) {
        const struct mr_ptx_inst *inst = &g->func->insts[g->flow.blocks[block].first];
        regions->numbers |= 1u << mr_flow_barrier_number(inst);
        regions->reduces |= inst->mode == MR_PTX_MODE_RED;
        regions->barriers++;
    } else {
        regions->pauses++;
    }
    mr_flow_kept(&g->flow, regions->remake, block, regions->kept);
    uint32_t regs = g->flow.reg_count, blocks = g->flow.block_count;
    for (uint32_t r = mr_bit_next(regions->kept, 0, regs); r < regs; r = mr_bit_next(regions->kept, r + 1, regs)) {
        stops[r] += g->flow.blocks[block].loop == MR_FLOW_NONE ? 1 : 2;
        if (!regions->places[r]) {
            regions->places[r] = cg_record_take(regions, cg_record_bytes(g, LLVMGetAllocatedType(g->regs.slots[r])));
            if (g->regs.breaks[r])
                cg_record_take(regions, cg_record_bytes(g, LLVMGetAllocatedType(g->regs.breaks[r])));
        }
    }
    const mr_word *pend = g->flow.blocks[block].pend;
    for (uint32_t b = mr_bit_next(pend, 0, blocks); b < blocks; b = mr_bit_next(pend, b + 1, blocks))
        if (!regions->masks[b])
            regions->masks[b] = cg_record_take(regions, g->unit->width / 8);
}

static void forget_lasting(void *data, uint32_t reg, bool is_definition)
{
    struct cg *g = data;
    if (is_definition)
        mr_bit_clear(g->regions->lasting, reg);
}

/* Vectors that several stops keep and no loop writes. What may be read before it is written is none of them: then the
 * record would have to begin as zero. */
static void plan_lasting(struct cg *g, const uint32_t *stops)
{
    for (uint32_t r = 0; r < g->flow.reg_count; r++)
        if (stops[r] > 1 && mr_flow_register_class(&g->flow, r).kind == MR_CLASS_VARYING &&
            !mr_bit_get(g->flow.blocks[0].live_in, r))
            mr_bit_set(g->regions->lasting, r);
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        for (uint32_t i = g->flow.blocks[b].first; i < g->flow.blocks[b].end; i++)
            if (g->flow.blocks[b].loop != MR_FLOW_NONE)
                mr_flow_registers(&g->flow, &g->func->insts[i], forget_lasting, g);
}

/* Plans all stops. False when memory is short. */
static bool plan_stops(struct cg *g)
{
    uint32_t *stops = mr_calloc(g->flow.reg_count, sizeof *stops);
    if (!stops)
        return false;
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        if (g->flow.blocks[b].barrier || mr_flow_strides(&g->flow, b))
            plan_stop(g, b, stops);
    plan_lasting(g, stops);
    mr_free(stops);
    return true;
}

static uint64_t local_bytes(const struct cg *g, const struct mr_ptx_var *var)
{
    return mr_flow_lane_stride(var) * g->unit->width;
}

static bool is_local(const struct mr_ptx_var *var)
{
    return var->space == MR_PTX_SPACE_LOCAL && var->reg == MR_PTX_NONE;
}

/* Whether a call goes on running several blocks: all their warps take turns then, which is only worth it in small
 * records. */
static void keep_blocks(struct cg *g)
{
    bool keeps = g->launch.several && !g->regions->barriers && g->regions->bytes <= RECORD_BYTES_BLOCKS;
    for (uint32_t i = 0; i < g->func->var_count; i++)
        keeps = keeps && !is_local(g->func->vars[i]);
    if (keeps || g->regions->barriers + g->regions->pauses == 0)
        return;
    g->launch.several = NULL;
    g->unit->flags &= ~(unsigned)MR_CODE_BLOCKS;
}

bool cg_regions_plan(struct cg *g)
{
    if (g->unit->request->optimisation == 0 || !mr_flow_regions_fit(&g->flow, g->unit->entry) ||
        (g->unit->width != CG_LANES && !g->unit->facts[g->func->index].barriers))
        return true;
    struct cg_regions *regions = g->regions = mr_calloc(1, sizeof *regions);
    if (!regions)
        return false;
    regions->remake = mr_calloc(g->flow.reg_count, sizeof *regions->remake);
    regions->places = mr_calloc(g->flow.reg_count, sizeof *regions->places);
    regions->masks = mr_calloc(g->flow.block_count, sizeof *regions->masks);
    regions->kept = mr_calloc(mr_bit_words(g->flow.reg_count), sizeof *regions->kept);
    regions->lasting = mr_calloc(mr_bit_words(g->flow.reg_count), sizeof *regions->lasting);
    if (!regions->remake || !regions->places || !regions->masks || !regions->kept || !regions->lasting)
        return false;
    mr_flow_remakes(&g->flow, regions->remake);
    regions->whole = mr_flow_lanes_stay(&g->flow);
    bool vectors = !(g->unit->request->shape & MR_SHAPE_LINEAR) && g->flow.rows == 1;
    regions->tid = vectors ? 64 : AT_TID;
    regions->bytes = regions->tid + 3 * (vectors ? 4 * g->unit->width : 4);
    if (!plan_stops(g))
        return false;
    regions->behind = mr_calloc((size_t)regions->barriers + regions->pauses + 1, sizeof *regions->behind);
    if (!regions->behind)
        return false;
    keep_blocks(g);
    regions->step_count = g->launch.several ? 0 : STEPS_OF_PAUSE * (regions->pauses + (regions->barriers > 0));
    if (regions->step_count)
        regions->steps = cg_record_take(regions, 8 * regions->step_count);
    uint64_t locals = 0;
    for (uint32_t i = 0; i < g->func->var_count; i++)
        if (is_local(g->func->vars[i]))
            locals += local_bytes(g, g->func->vars[i]) + 256;
    if (regions->bytes + locals > RECORD_BYTES_MAX || regions->barriers + regions->pauses == 0)
        cg_regions_clear(g);
    return true;
}

void cg_regions_clear(struct cg *g)
{
    if (!g->regions)
        return;
    mr_free(g->regions->remake);
    mr_free(g->regions->places);
    mr_free(g->regions->masks);
    mr_free(g->regions->kept);
    mr_free(g->regions->lasting);
    mr_free(g->regions->behind);
    mr_free(g->regions);
    g->regions = NULL;
}

static void move_kept(struct cg *g, bool to_record)
{
    struct cg_regions *regions = g->regions;
    mr_flow_kept(&g->flow, regions->remake, g->now.at, regions->kept);
    uint32_t regs = g->flow.reg_count, blocks = g->flow.block_count;
    for (uint32_t r = mr_bit_next(regions->kept, 0, regs); r < regs; r = mr_bit_next(regions->kept, r + 1, regs)) {
        if (to_record && mr_bit_get(regions->lasting, r))
            continue;
        cg_record_move(g, g->regs.slots[r], regions->places[r], to_record);
        if (g->regs.breaks[r])
            cg_record_move(g, g->regs.breaks[r],
                           regions->places[r] + cg_record_bytes(g, LLVMGetAllocatedType(g->regs.slots[r])), to_record);
    }
    const mr_word *pend = g->flow.blocks[g->now.at].pend;
    for (uint32_t b = mr_bit_next(pend, 0, blocks); b < blocks; b = mr_bit_next(pend, b + 1, blocks))
        cg_record_move(g, g->parking.masks[b], regions->masks[b], to_record);
}

/* The register as its one instruction makes it, for all lanes, after what that reads. `done`: what has been made here.
 */
static void remake(struct cg *g, uint32_t reg, mr_word *done)
{
    const struct mr_ptx_inst *inst = &g->func->insts[g->regions->remake[reg].writer];
    if (mr_bit_get(done, reg))
        return;
    mr_bit_set(done, reg);
    for (uint32_t o = 1; o < inst->operand_count; o++)
        if (inst->operands[o].kind == MR_PTX_OPERAND_REG)
            remake(g, inst->operands[o].reg, done);
    g->now.mask = LLVMConstAllOnes(g->unit->mask);
    g->now.mask_vector = cg_mask_vector(g, g->now.mask);
    cg_emit_instruction(g, inst);
}

static void remake_live(struct cg *g)
{
    const struct mr_flow_block *block = &g->flow.blocks[g->now.at];
    const mr_word *live = mr_flow_live_behind(&g->flow, g->now.at);
    mr_word *done = mr_calloc(mr_bit_words(g->flow.reg_count), sizeof *done);
    if (!done) {
        cg_fail(g->unit, NULL, "memory is short");
        return;
    }
    for (uint32_t r = 0; r < g->flow.reg_count; r++)
        if (g->regions->remake[r].steps && (mr_bit_get(live, r) || mr_bit_get(block->parked, r)))
            remake(g, r, done);
    mr_free(done);
}

static LLVMTypeRef tid_type(const struct cg *g)
{
    return LLVMTypeOf(g->warp.tid[0]);
}

/* Nobody has stopped at a barrier yet. */
static void start_phase(struct cg *g)
{
    struct cg_regions *regions = g->regions;
    LLVMBuildStore(g->b, i32_of(g, 0), regions->stopped);
    if (regions->held)
        LLVMBuildStore(g->b, LLVMConstInt(g->unit->i1, 0, false), regions->held);
    for (unsigned i = 0; i < 3 && regions->reduces; i++)
        LLVMBuildStore(g->b, i32_of(g, i == 1), regions->sums[i]);
}

/* Most warps of a block: each call touches every page of their records. */
static uint64_t warps_of_block(const struct cg *g)
{
    const uint32_t *size = g->func->reqntid; /* (options may allow more than .maxntid) */
    uint64_t threads = (uint64_t)size[0] * size[1] * size[2], warps = (threads + CG_LANES - 1) / CG_LANES;
    return threads && warps < WARPS_MAX ? (warps + 1) / 2 * 2 : WARPS_MAX;
}

/* The head of the loop over warps, up to the place where a warp starts. */
LLVMBasicBlockRef cg_regions_begin(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    struct cg_regions *regions = g->regions;
    unit->regions = true;
    if (g->launch.several)
        unit->flags |= MR_CODE_STRIDES;
    uint64_t before = regions->bytes, warps = g->launch.several ? MR_CALL_WARPS : warps_of_block(g);
    for (uint32_t i = 0; i < g->func->var_count; i++)
        if (is_local(g->func->vars[i]))
            regions->bytes = (regions->bytes + 255) / 256 * 256 + local_bytes(g, g->func->vars[i]);
    bool locals = regions->bytes != before;
    regions->bytes = locals ? (regions->bytes + 255) / 256 * 256 : (regions->bytes + 63) / 64 * 64;
    regions->records = cg_slot(g, LLVMArrayType2(unit->i8, regions->bytes * warps), "records");
    LLVMSetAlignment(regions->records, 256);
    g->memory.bytes += regions->bytes * warps;
    bool few = regions->barriers + regions->pauses <= FEW_STOPS;
    regions->stopped = few ? cg_slot(g, unit->i32, "stopped") : cg_slot_in_memory(g, unit->i32, "stopped");
    if (regions->barriers && regions->pauses)
        regions->held = cg_slot(g, unit->i1, "held");
    for (unsigned i = 0; i < 3 && regions->reduces; i++) {
        regions->sums[i] = cg_slot(g, unit->i32, "sum");
        regions->results[i] = cg_slot(g, unit->i32, "result");
    }
    regions->round = cg_new_block(g, "round");
    regions->next = cg_new_block(g, "next");
    LLVMBasicBlockRef head = cg_new_block(g, "warp"), start = cg_new_block(g, "start"), on = cg_new_block(g, "turn");
    LLVMPositionBuilderAtEnd(g->b, regions->round);
    regions->first_round = LLVMBuildPhi(g->b, unit->i1, "first");
    LLVMValueRef yes = LLVMConstInt(unit->i1, 1, false);
    LLVMAddIncoming(regions->first_round, &yes, &g->prologue.start, 1);
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    start_phase(g);
    LLVMPositionBuilderAtEnd(g->b, head);
    cg_line_again(g);
    LLVMValueRef first = LLVMGetParam(g->fn, 1), index;
    if (g->launch.several) {
        cg_blocks_begin(g, regions->round, head);
        index = cg_blocks_index(g);
    } else {
        g->warp.number = regions->warp = LLVMBuildPhi(g->b, unit->i32, "warp");
        LLVMAddIncoming(g->warp.number, &first, &regions->round, 1);
        index = LLVMBuildSub(g->b, g->warp.number, first, "");
    }
    LLVMBuildStore(g->b, g->warp.number, LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->warp.state, 0, ""));
    cg_note_warp(g);
    LLVMBuildStore(g->b, i32_of(g, 0), LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->warp.state, 1, ""));
    index = LLVMBuildZExt(g->b, index, unit->i64, "");
    index = LLVMBuildMul(g->b, index, LLVMConstInt(unit->i64, regions->bytes, false), "");
    regions->record = LLVMBuildGEP2(g->b, unit->i8, regions->records, &index, 1, "record");
    uint64_t place = regions->bytes;
    for (uint32_t i = g->func->var_count; i-- > 0;)
        if (is_local(g->func->vars[i])) {
            place = (place - local_bytes(g, g->func->vars[i])) / 256 * 256;
            g->memory.vars[i] = cg_record_place(g, place);
        }
    cg_clear_warp(g);
    LLVMBuildCondBr(g->b, regions->first_round, start, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    LLVMValueRef stop = LLVMBuildLoad2(g->b, unit->i32, cg_record_place(g, AT_STOP), "");
    if (regions->held) {
        LLVMValueRef paused = LLVMBuildICmp(g->b, LLVMIntUGE, stop, i32_of(g, PAUSE), "");
        LLVMValueRef goes =
            LLVMBuildOr(g->b, paused, LLVMBuildNot(g->b, LLVMBuildLoad2(g->b, unit->i1, regions->held, ""), ""), "");
        LLVMBasicBlockRef free = cg_new_block(g, "free");
        LLVMBuildCondBr(g->b, goes, free, regions->next);
        LLVMPositionBuilderAtEnd(g->b, free);
    }
    if (few) {
        regions->turn = LLVMBuildSwitch(g->b, stop, regions->next, 8);
    } else {
        regions->place = LLVMBuildAnd(g->b, stop, i32_of(g, PAUSE - 1), "place");
        regions->places_from = LLVMGetInsertBlock(g->b);
    }
    LLVMPositionBuilderAtEnd(g->b, start);
    for (unsigned i = 0; i < regions->step_count; i++)
        cg_record_store(g, LLVMConstInt(unit->i64, 0, false), regions->steps + 8 * i);
    return regions->round;
}

void cg_regions_note_thread(struct cg *g)
{
    LLVMTypeRef type = LLVMTypeOf(g->warp.tid[0]);
    for (unsigned i = 0; i < 3; i++) {
        if (LLVMIsConstant(g->warp.tid[i]))
            continue; /* the same for all warps, and known where it is needed */
        g->warp.tid_slots[i] = cg_slot(g, type, "tid");
        LLVMBuildStore(g->b, g->warp.tid[i], g->warp.tid_slots[i]);
        cg_record_store(g, g->warp.tid[i], g->regions->tid + i * cg_record_bytes(g, type));
    }
}

static void add_up(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_regions *regions = g->regions;
    LLVMTypeRef i32 = g->unit->i32;
    const struct mr_ptx_operand *predicate = &inst->operands[inst->operand_count - 1];
    g->now.lanes = g->unit->width;
    LLVMValueRef bits = LLVMBuildAnd(g->b, cg_mask_bits(g, cg_predicate(g, predicate)), g->now.exec, "");
    LLVMValueRef parts[3] = {cg_intrinsic(g, "llvm.ctpop", &i32, 1, &bits, 1),
                             LLVMBuildICmp(g->b, LLVMIntEQ, bits, g->now.exec, ""),
                             LLVMBuildICmp(g->b, LLVMIntNE, bits, i32_of(g, 0), "")};
    for (unsigned i = 0; i < 3; i++) {
        LLVMValueRef old = LLVMBuildLoad2(g->b, i32, regions->sums[i], "");
        LLVMValueRef part = i ? LLVMBuildZExt(g->b, parts[i], i32, "") : parts[i];
        LLVMBuildStore(g->b,
                       i == 0   ? LLVMBuildAdd(g->b, old, part, "")
                       : i == 1 ? LLVMBuildAnd(g->b, old, part, "")
                                : LLVMBuildOr(g->b, old, part, ""),
                       regions->sums[i]);
    }
}

/* Ends the warp's turn and goes on with its next. `bit`: in `stopped`. */
static void stop(struct cg *g, uint64_t bit)
{
    struct cg_unit *unit = g->unit;
    struct cg_regions *regions = g->regions;
    bool whole = regions->whole && mr_flow_runs_alone(&g->flow, g->now.at);
    LLVMValueRef stopped = LLVMBuildLoad2(g->b, unit->i32, regions->stopped, "");
    LLVMBuildStore(g->b, LLVMBuildOr(g->b, stopped, i32_of(g, bit), ""), regions->stopped);
    LLVMValueRef number = i32_of(g, (bit & PAUSE) | ++regions->stops);
    cg_record_store(g, number, AT_STOP);
    if (!whole)
        cg_record_store(g, g->now.mask, AT_MASK);
    move_kept(g, true);
    LLVMBuildBr(g->b, regions->next);

    LLVMBasicBlockRef on = cg_new_block(g, "behind");
    if (regions->turn)
        LLVMAddCase(regions->turn, number, on);
    else
        regions->behind[regions->stops] = on;
    LLVMPositionBuilderAtEnd(g->b, on);
    for (unsigned i = 0; i < 3; i++)
        if (g->warp.tid_slots[i]) {
            LLVMValueRef tid = cg_record_load(g, tid_type(g), regions->tid + i * cg_record_bytes(g, tid_type(g)));
            LLVMBuildStore(g->b, cg_bounded_tid(g, i, tid), g->warp.tid_slots[i]);
        }
    move_kept(g, false);
    remake_live(g);
    g->now.mask = whole ? cg_first_mask(g) : LLVMBuildLoad2(g->b, unit->mask, cg_record_place(g, AT_MASK), "mask");
    g->now.mask_vector = cg_mask_vector(g, g->now.mask);
}

void cg_regions_barrier(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_unit *unit = g->unit;
    struct cg_regions *regions = g->regions;
    bool reduces = inst->mode == MR_PTX_MODE_RED;
    if (reduces)
        add_up(g, inst);
    if (g->early.arrived)
        LLVMBuildStore(g->b, cg_mask_zero(g), g->early.arrived);
    stop(g, UINT64_C(1) << mr_flow_barrier_number(inst));
    g->now.exec = g->now.mask;
    g->now.exec_vector = g->now.mask_vector;
    g->now.inst = inst;
    g->now.guard = NULL;
    g->now.guard_varies = false;
    if (!reduces)
        return;
    g->now.lanes = 1;
    unsigned which = inst->mode2 == MR_PTX_MODE_POPC ? 0 : inst->boolop == MR_PTX_BOOL_AND ? 1 : 2;
    LLVMValueRef r = LLVMBuildLoad2(g->b, unit->i32, regions->results[which], "");
    cg_write(g, &inst->operands[0], which ? LLVMBuildICmp(g->b, LLVMIntNE, r, i32_of(g, 0), "") : r);
}

void cg_regions_pause(struct cg *g)
{
    if (g->regions && mr_flow_strides(&g->flow, g->now.at))
        stop(g, PAUSE);
}

static void note_write(void *data, uint32_t reg, bool is_definition)
{
    struct cg *g = data;
    if (is_definition && mr_bit_get(g->regions->lasting, reg))
        cg_record_move(g, g->regs.slots[reg], g->regions->places[reg], true);
}

void cg_regions_note_writes(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (g->regions && !g->unit->error[0])
        mr_flow_registers(&g->flow, inst, note_write, g);
}

/* The end of a round in which no warp paused: that of the barrier at which they all are. */
static void end_phase(struct cg *g, LLVMValueRef stopped)
{
    struct cg_unit *unit = g->unit;
    struct cg_regions *regions = g->regions;
    for (unsigned i = 0; i < 3 && regions->reduces; i++)
        LLVMBuildStore(g->b, LLVMBuildLoad2(g->b, unit->i32, regions->sums[i], ""), regions->results[i]);
    if (regions->numbers & (regions->numbers - 1)) {
        /* More than one bit. */
        LLVMBasicBlockRef bad = cg_new_block(g, "apart"), good = cg_new_block(g, "together");
        LLVMValueRef rest = LLVMBuildAnd(g->b, stopped, LLVMBuildSub(g->b, stopped, i32_of(g, 1), ""), "");
        cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, rest, i32_of(g, 0), ""), bad, good));
        LLVMPositionBuilderAtEnd(g->b, bad);
        g->now.inst = NULL;
        cg_emit_trap(g, MR_TRAP_DEADLOCK);
        LLVMBuildUnreachable(g->b);
        LLVMPositionBuilderAtEnd(g->b, good);
    }
    start_phase(g);
}

static void next_round(struct cg *g)
{
    LLVMValueRef no = LLVMConstInt(g->unit->i1, 0, false);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMAddIncoming(g->regions->first_round, &no, &here, 1);
    LLVMBuildBr(g->b, g->regions->round);
}

/* The end of a warp's turn and of a round; leaves the builder where the kernel is over. */
void cg_regions_end(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    struct cg_regions *regions = g->regions;
    if (!regions->turn) {
        LLVMPositionBuilderAtEnd(g->b, regions->places_from);
        regions->behind[0] = regions->next;
        cg_jump(g, regions->place, regions->behind, regions->stops + 1, regions->next);
    }
    LLVMPositionBuilderAtEnd(g->b, g->parking.finish);
    cg_record_store(g, i32_of(g, 0), AT_STOP);
    LLVMBuildBr(g->b, regions->next);
    LLVMPositionBuilderAtEnd(g->b, regions->next);
    LLVMBasicBlockRef over = cg_new_block(g, "over"), again = cg_new_block(g, "again"), done = cg_new_block(g, "done");
    if (g->launch.several) {
        cg_blocks_end(g, over);
    } else {
        LLVMValueRef next = LLVMBuildAdd(g->b, regions->warp, i32_of(g, unit->width / CG_LANES), "");
        LLVMAddIncoming(regions->warp, &next, &regions->next, 1);
        LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntULT, next, LLVMGetParam(g->fn, 2), "");
        LLVMBuildCondBr(g->b, more, LLVMGetInstructionParent(regions->warp), over);
    }
    LLVMPositionBuilderAtEnd(g->b, over);
    LLVMValueRef stopped = LLVMBuildLoad2(g->b, unit->i32, regions->stopped, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, stopped, i32_of(g, 0), ""), again, done);
    LLVMPositionBuilderAtEnd(g->b, again);
    if (regions->held) {
        LLVMBasicBlockRef hold = cg_new_block(g, "hold"), release = cg_new_block(g, "release");
        LLVMValueRef rest = LLVMBuildAnd(g->b, stopped, i32_of(g, PAUSE - 1), "");
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, rest, stopped, ""), hold, release);
        LLVMPositionBuilderAtEnd(g->b, hold);
        LLVMBuildStore(g->b, rest, regions->stopped);
        LLVMBuildStore(g->b, LLVMConstInt(unit->i1, 1, false), regions->held);
        next_round(g);
        LLVMPositionBuilderAtEnd(g->b, release);
    }
    end_phase(g, stopped);
    next_round(g);
    LLVMPositionBuilderAtEnd(g->b, done);
}

void cg_regions_hide(struct cg *g)
{
    LLVMBasicBlockRef round = g->regions->round;
    cg_hide_loop(g, round, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(round), 0));
}
