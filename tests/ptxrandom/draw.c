/* SPDX-License-Identifier: Apache-2.0 */

/* A program from a seed. Statements are drawn one by one, deeper ones less often; what a place does not allow is drawn
 * again. */
#include <string.h>

#include "draw.h"

const struct access accesses[ACCESSES] = {
    {"u8", CLASS_R, 1, false},  {"s8", CLASS_R, 1, true},   {"u16", CLASS_R, 2, false}, {"s16", CLASS_R, 2, true},
    {"b32", CLASS_R, 4, false}, {"b64", CLASS_D, 8, false}, {"f32", CLASS_F, 4, false}, {"b16", CLASS_H, 2, false},
};

#define DEPTH_MAX 4
#define FUNCTIONS_FIXED 3u

unsigned draw_below(struct drawer *d, unsigned n)
{
    return (unsigned)((draw_bits(&d->state) >> 11) % n);
}

u64 draw_constant(struct drawer *d)
{
    static const u64 some[] = {0,  1,  2,    3,      4,      5,      8,          16,         31,
                               32, 63, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    return draw_below(d, 4) ? some[draw_below(d, sizeof some / sizeof *some)] : draw_bits(&d->state) & 0xffffffff;
}

static uint8_t reg(struct drawer *d)
{
    return (uint8_t)draw_below(d, REGS);
}

static int new_node(struct drawer *d, enum kind kind)
{
    struct program *p = d->program;
    int at = (int)p->node_count++;
    p->nodes[at] = (struct node){.kind = (uint8_t)kind,
                                 .guard = -1,
                                 .number = (u32)at,
                                 .next = -1,
                                 .body = -1,
                                 .other = -1,
                                 .third = -1,
                                 .fourth = -1};
    struct node *n = &p->nodes[at];
    n->dst = reg(d);
    for (int i = 0; i < 3; i++)
        n->src[i] = reg(d);
    return at;
}

static void draw_guard(struct drawer *d, struct node *n)
{
    if (draw_below(d, 4) == 0) {
        n->guard = (int8_t)draw_below(d, REGS);
        n->guard_not = draw_below(d, 2);
    }
}

static void draw_operation(struct drawer *d, struct node *n)
{
    unsigned wanted = draw_below(d, 10);
    int group = wanted < 4 ? 0 : wanted == 4 ? 1 : wanted == 5 ? 2 : wanted < 8 ? 3 : wanted == 8 ? 4 : 5;
    do
        n->op = (uint16_t)draw_below(d, op_count);
    while (ops[n->op].group != group);
    n->value = (s64)draw_constant(d);
    n->form = (uint8_t)draw_bits(&d->state);
    for (int i = 0; ops[n->op].sources[i]; i++) {
        char class = ops[n->op].sources[i];
        n->constant[i] = (class == 'R' || class == 'D' || class == 'H') && draw_below(d, 2);
        if (class == 'H' && n->constant[i])
            n->value &= 0xffff;
    }
    draw_guard(d, n);
}

static void draw_access(struct drawer *d, struct node *n)
{
    n->place = (uint8_t)(!d->function ? draw_below(d, PLACES) : d->function->base && draw_below(d, 2) ? OWN : LOCAL);
    n->type = (uint8_t)(n->place == SPREAD || n->place == WINDOW ? 4 : draw_below(d, ACCESSES));
    n->dynamic = draw_below(d, 2);
    n->generic = draw_below(d, 3) == 0;
    unsigned count = n->place == SPREAD ? SPREAD_WORDS : n->place == WINDOW ? 2 : OWN_BYTES / accesses[n->type].bytes;
    n->value = draw_below(d, count);
    draw_guard(d, n);
}

/* In functions with signatures and beside them. Where functions have warp operations, no loop may be taken for one that
 * waits: behind it lanes come to calls one after the other. */
static bool allowed_with_calls(const struct drawer *d, enum kind kind, struct spot spot)
{
    const struct function *f = d->function;
    const struct program *p = d->program;
    switch (kind) {
    case CALL:
        return false;
    case INVOKE:
        return can_invoke(d, spot);
    case ATOM:
        return !f && p->locks;
    case LOCKED:
        return p->locks && (!f || f->base);
    case SUM:
        return !f || f->base;
    case INPUT:
        return !f;
    case SHUFFLE:
    case VOTE:
    case MATCH:
    case REDUCE:
        return p->warps && (!f || f->counts);
    case EXCHANGE:
        return spot.uniform && !f;
    case MEET:
        return spot.uniform;
    case LEAVE:
        return f ? !f->meets && (!f->counts || spot.depth == 2) : spot.uniform && spot.depth == 0;
    default:
        return true;
    }
}

static bool allowed(const struct drawer *d, enum kind kind, struct spot spot)
{
    bool warps = d->program->warps;
    if (d->program->calls && kind != IF && kind != LOOP && kind != SWITCH && kind != BREAK)
        return allowed_with_calls(d, kind, spot);
    switch (kind) {
    case IF:
    case LOOP:
        return spot.depth < DEPTH_MAX;
    case SWITCH:
        return spot.depth < DEPTH_MAX - 1;
    case BREAK:
        return spot.in_loop && !spot.uniform;
    case LOAD:
    case STORE:
    case INPUT:
        return !d->in_function;
    case ATOM:
    case SUM:
    case LOCKED:
        return !d->in_function;
    case SHUFFLE:
    case VOTE:
    case MATCH:
    case REDUCE:
        return warps && !d->in_function;
    case EXCHANGE:
    case MEET:
        return spot.uniform && !d->in_function;
    case CALL:
        return !d->in_function && d->program->function_count > 0;
    case INVOKE:
        return false;
    case LEAVE:
        return spot.uniform && spot.depth == 0 && !d->in_function;
    default:
        return true;
    }
}

static enum kind draw_kind(struct drawer *d, struct spot spot)
{
    static const uint8_t odds[] = {
        [OPERATION] = 60, [IF] = 9,       [SWITCH] = 2, [LOOP] = 6,   [BREAK] = 3,   [LOAD] = 7, [STORE] = 7,
        [INPUT] = 5,      [ATOM] = 3,     [SUM] = 3,    [LOCKED] = 1, [SHUFFLE] = 6, [VOTE] = 4, [MATCH] = 2,
        [REDUCE] = 2,     [EXCHANGE] = 4, [MEET] = 2,   [CALL] = 4,   [INVOKE] = 0,  [LEAVE] = 1};
    static const uint8_t more[] = {[LOCKED] = 2, [MEET] = 2, [INVOKE] = 14, [LEAVE] = 2};
    unsigned sum = 0, calls = d->program->calls != CALLS_FIXED;
    for (unsigned i = 0; i < sizeof odds; i++)
        sum += odds[i] + calls * more[i];
    for (;;) {
        unsigned at = draw_below(d, sum), kind = 0;
        while (at >= odds[kind] + calls * more[kind]) {
            at -= odds[kind] + calls * more[kind];
            kind++;
        }
        if (allowed(d, (enum kind)kind, spot))
            return (enum kind)kind;
    }
}

static void draw_loop(struct drawer *d, int at, struct spot spot)
{
    struct spot inside = {spot.depth + 1, false, false, 0};
    bool uniform = draw_below(d, 3) == 0;
    d->program->nodes[at].uniform = uniform;
    d->program->nodes[at].value = 1 + draw_below(d, 6);
    inside.uniform = uniform && spot.uniform;
    inside.times = spot.times * (uniform ? (u32)d->program->nodes[at].value : 7);
    inside.in_loop = !inside.uniform;
    int body = draw_list(d, inside, 1 + (int)draw_below(d, 6));
    d->program->nodes[at].body = body;
}

static void draw_branches(struct drawer *d, int at, struct spot spot, bool is_switch)
{
    /* Where lanes are counted, those that leave a loop do so at its own level, where the others can take note. */
    bool counted = d->program->warps && (d->function ? d->function->counts : !d->in_function);
    struct spot inside = {spot.depth + 1, false, spot.in_loop && !counted, spot.times};
    inside.uniform = spot.uniform && !is_switch && !d->function && draw_below(d, 3) == 0;
    d->program->nodes[at].uniform = inside.uniform;
    int body = draw_list(d, inside, 1 + (int)draw_below(d, 5)), other = -1, third = -1, fourth = -1;
    if (is_switch || draw_below(d, 2))
        other = draw_list(d, inside, 1 + (int)draw_below(d, 5));
    if (is_switch) {
        third = draw_list(d, inside, 1 + (int)draw_below(d, 3));
        fourth = draw_list(d, inside, 1 + (int)draw_below(d, 3));
    }
    struct node *n = &d->program->nodes[at];
    n->body = body;
    n->other = other;
    n->third = third;
    n->fourth = fourth;
}

static int draw_node(struct drawer *d, struct spot spot)
{
    enum kind kind = draw_kind(d, spot);
    int at = new_node(d, kind);
    struct node *n = &d->program->nodes[at];
    n->form = (uint8_t)draw_below(d, 12);
    switch (kind) {
    case OPERATION:
        draw_operation(d, n);
        break;
    case IF:
    case SWITCH:
        draw_branches(d, at, spot, kind == SWITCH);
        break;
    case LOOP:
        draw_loop(d, at, spot);
        break;
    case LOAD:
    case STORE:
        draw_access(d, n);
        break;
    case INPUT:
        draw_guard(d, n);
        break;
    case ATOM:
        n->value = draw_below(d, SPREAD_WORDS);
        draw_guard(d, n);
        break;
    case SUM:
        n->value = draw_below(d, SUMS);
        n->dynamic = draw_below(d, 2);
        draw_guard(d, n);
        break;
    case SHUFFLE:
        /* A lane that is not there has no value: elsewhere all read the lowest lane. */
        n->uniform = d->full && spot.uniform && !d->function;
        n->value = (s64)draw_bits(&d->state);
        break;
    case EXCHANGE:
        n->value = 1 + draw_below(d, 63);
        break;
    case LEAVE:
        d->full &= d->function != NULL;
        break;
    case INVOKE:
        draw_invoke(d, n, spot);
        break;
    case CALL:
        n->value = draw_below(d, d->program->function_count);
        n->place = (uint8_t)draw_below(d, d->program->function_count);
        n->dynamic = draw_below(d, 3) == 0;
        break;
    default:
        break;
    }
    return at;
}

int draw_list(struct drawer *d, struct spot spot, int length)
{
    int first = -1, last = -1;
    for (int i = 0; i < length && d->budget > 0 && d->cost + spot.times <= d->cost_limit &&
                    d->program->node_count < NODES_MAX - 64;
         i++) {
        d->budget--;
        d->cost += d->program->calls ? spot.times : 0;
        int at = draw_node(d, spot);
        if (last < 0)
            first = at;
        else
            d->program->nodes[last].next = at;
        last = at;
        if (d->program->nodes[at].kind == BREAK && draw_below(d, 2))
            break;
    }
    return first;
}

static void draw_fixed_functions(struct drawer *d)
{
    struct program *p = d->program;
    unsigned functions = draw_below(d, FUNCTIONS_FIXED + 1);
    d->in_function = true;
    for (unsigned i = 0; i < functions; i++) {
        d->budget = 12;
        p->functions[i].body = draw_list(d, (struct spot){2, false, false, 1}, 2 + (int)draw_below(d, 8));
    }
    p->function_count = functions;
    d->in_function = false;
}

void draw_program(struct program *program, u64 seed, enum calls calls)
{
    static const unsigned shapes[][3] = {{1, 1, 1},  {32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {96, 1, 1},
                                         {33, 1, 1}, {50, 1, 1}, {7, 1, 1},  {16, 4, 1},  {8, 8, 1},
                                         {32, 2, 1}, {5, 9, 1},  {4, 4, 4},  {64, 2, 1}};
    memset(program, 0, sizeof *program);
    struct drawer d = {.program = program, .state = seed * UINT64_C(0x2545f4914f6cdd1d) + 99, .cost_limit = UINT32_MAX};
    program->seed = seed;
    program->calls = calls;
    program->grid = 1 + draw_below(&d, 3);
    const unsigned *shape = shapes[draw_below(&d, sizeof shapes / sizeof *shapes)];
    memcpy(program->block, shape, sizeof program->block);
    program->threads = shape[0] * shape[1] * shape[2];
    program->warps = draw_below(&d, 3) != 0;
    program->param = (u32)draw_bits(&d.state);
    for (unsigned i = 0; i < INPUT_WORDS; i++) {
        /* Integers of all sizes, floats of ordinary size, and special ones. */
        u32 bits = (u32)draw_bits(&d.state);
        static const u32 some[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000,
                                   1, 0x00800000, 0x7f7fffff, 0xffffffff, 0x7fffffff, 0x33800000};
        unsigned choice = draw_below(&d, 8);
        program->input[i] = choice == 0  ? some[bits % (sizeof some / sizeof *some)]
                            : choice < 3 ? (bits & 0x83ffffff) + 0x3e000000
                            : choice < 5 ? bits >> (bits & 31)
                                         : bits;
    }
    if (calls)
        draw_functions(&d);
    else
        draw_fixed_functions(&d);
    d.full = program->threads % 32 == 0;
    d.budget = 20 + (int)draw_below(&d, 100);
    program->body = draw_list(&d, (struct spot){0, true, false, 1}, 1000);
}
