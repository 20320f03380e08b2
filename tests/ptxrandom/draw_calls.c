/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions with signatures of their own: parameters and results in registers, variables and structs. All signatures
 * are drawn first. A function may call those in front of it; those at the end may be a ring, whose functions call each
 * other and themselves and pass on a count that gets less. How many statements a call runs is bounded: a list ends
 * where the bound is reached.
 */
#include <string.h>

#include "draw.h"

#define COST_FUNCTION 400u
#define COST_RING_BODY 150u
#define COST_RING (15u * COST_RING_BODY) /* two calls in each body, three deep */
#define COST_KERNEL 8000u
#define RING_CALLS 2u

u64 value_at_start(enum class class, unsigned number)
{
    s64 small = 3 * (s64)number - 4;
    float single = (float)small;
    double wide = (double)small;
    u64 bits = 0;
    switch (class) {
    case CLASS_R:
        return 1000 * number + 17;
    case CLASS_D:
        return (1000 * number + 17) * UINT64_C(0x100000001);
    case CLASS_H:
        return 7 * number + 3;
    case CLASS_F:
        memcpy(&bits, &single, 4);
        return bits;
    case CLASS_G:
        memcpy(&bits, &wide, 8);
        return bits;
    default:
        return number & 1;
    }
}

u64 value_of_constant(enum class class, s64 value)
{
    double wide = (int32_t)value;
    u64 bits;
    memcpy(&bits, &wide, 8);
    return class == CLASS_G ? bits : class == CLASS_D ? (u64)value : class == CLASS_H ? (uint16_t)value : (u32)value;
}

/* ---- signatures ---- */

/* A register that is no parameter or result yet; NOWHERE if there is none. */
static uint8_t unused(struct drawer *d, const struct function *f, enum class class)
{
    bool used[REGS] = {false};
    for (unsigned i = 0; i < f->param_count; i++)
        used[f->params[i].reg] |= f->params[i].class == class;
    for (unsigned i = 0; i < f->result_count; i++)
        used[f->results[i].reg] |= f->results[i].class == class;
    unsigned first = draw_below(d, REGS);
    for (unsigned i = 0; i < REGS; i++)
        if (!used[(first + i) % REGS])
            return (uint8_t)((first + i) % REGS);
    return NOWHERE;
}

static void add_slot(struct drawer *d, struct function *f, bool result, enum class class, enum form form)
{
    uint8_t reg = unused(d, f, class);
    if (reg != NOWHERE)
        *(result ? &f->results[f->result_count++] : &f->params[f->param_count++]) =
            (struct slot){(uint8_t)class, reg, (uint8_t)form};
}

/* Its registers are free still: parameters and results have others of two classes at most. */
static void add_struct(struct drawer *d, struct function *f, bool result)
{
    const enum class classes[] = {CLASS_D, CLASS_R, CLASS_F};
    for (unsigned i = 0; i < 3; i++)
        if (unused(d, f, classes[i]) == NOWHERE)
            return;
    for (unsigned i = 0; i < 3; i++)
        add_slot(d, f, result, classes[i], IN_STRUCT);
}

static enum class draw_class(struct drawer *d, bool in_register) {
    bool narrow = !in_register || d->program->several || d->program->calls == CALLS_ANY;
    for (;;){enum class class = (enum class)draw_below(d, CLASSES);
             if ((class != CLASS_P || in_register) && ((class != CLASS_P && class != CLASS_H) || narrow)) return class;}
}

static void draw_results(struct drawer *d, struct function *f, bool first)
{
    const struct program *p = d->program;
    unsigned most = p->several || p->calls == CALLS_ANY ? 3 : 1, kind = draw_below(d, 4), count;
    if (p->several && first) {
        count = 2 + draw_below(d, 2);
    } else if (kind == 0) {
        add_struct(d, f, true);
        return;
    } else if (kind == 1) {
        add_slot(d, f, true, draw_class(d, false), IN_VARIABLE);
        return;
    } else {
        count = draw_below(d, most + 1);
        if (count == 0 && draw_below(d, 2))
            count = 1;
    }
    for (unsigned i = 0; i < count; i++)
        add_slot(d, f, true, draw_class(d, true), IN_REGISTER);
}

static void draw_signature(struct drawer *d, struct function *f, bool first)
{
    f->base = draw_below(d, 3) != 0;
    f->counts = d->program->warps && !d->program->locks && draw_below(d, 3) != 0;
    f->meets = draw_below(d, 4) == 0;
    f->variables = draw_below(d, 3) == 0;
    draw_results(d, f, first);
    for (unsigned wanted = draw_below(d, PARAMS); f->param_count < wanted;) {
        unsigned form = draw_below(d, 6);
        if (form == 0 && f->param_count + 3 <= PARAMS)
            add_struct(d, f, false);
        else
            add_slot(d, f, false, draw_class(d, form > 1), form > 1 ? IN_REGISTER : IN_VARIABLE);
    }
}

static bool same_signature(const struct function *a, const struct function *b)
{
    return a->ring == b->ring && a->base == b->base && a->counts == b->counts && a->meets == b->meets &&
           a->variables == b->variables && a->param_count == b->param_count && a->result_count == b->result_count &&
           !memcmp(a->params, b->params, sizeof a->params) && !memcmp(a->results, b->results, sizeof a->results);
}

void draw_functions(struct drawer *d)
{
    struct program *p = d->program;
    p->locks = draw_below(d, 3) != 0;
    p->several = p->calls == CALLS_ANY || draw_below(d, 3) == 0;
    p->abi = p->calls == CALLS_ANY || !p->several;
    p->function_count = 1 + draw_below(d, FUNCTIONS);
    unsigned ring = p->abi ? draw_below(d, 4) : 0,
             rest = p->function_count - (ring < p->function_count ? ring : p->function_count);
    for (unsigned i = 0; i < p->function_count; i++) {
        struct function *f = &p->functions[i];
        *f = (struct function){.body = -1};
        if (i > 0 && i != rest && draw_below(d, 3) == 0)
            *f = p->functions[i - 1];
        else
            draw_signature(d, f, i == 0);
        f->ring = i >= rest;
        f->cost = COST_RING;
    }
    for (unsigned i = 0; i < p->function_count; i++) {
        struct function *f = &p->functions[i];
        static const int lengths[] = {3, 8, 15, 40};
        d->function = f;
        d->ring_calls = d->cost = 0;
        d->cost_limit = f->ring ? COST_RING_BODY : COST_FUNCTION;
        d->budget = lengths[draw_below(d, 4)];
        f->body = draw_list(d, (struct spot){2, f->meets, false, 1}, 1 + (int)draw_below(d, 20));
        if (!f->ring)
            f->cost = d->cost + 1;
    }
    d->function = NULL;
    d->cost = 0;
    d->cost_limit = COST_KERNEL;
}

/* ---- calls ---- */

static bool suits(const struct drawer *d, struct spot spot, unsigned index)
{
    const struct function *f = &d->program->functions[index], *caller = d->function;
    if (f->meets && !spot.uniform)
        return false;
    if (caller) {
        if ((f->base && !caller->base) || (f->counts && !caller->counts) || (f->meets && !caller->meets))
            return false;
        if (f->ring)
            return caller->ring && d->ring_calls < RING_CALLS && spot.times == 1;
        if (f >= caller)
            return false;
    }
    return (u64)spot.times * f->cost <= d->cost_limit - (d->cost < d->cost_limit ? d->cost : d->cost_limit);
}

bool can_invoke(const struct drawer *d, struct spot spot)
{
    for (unsigned i = 0; i < d->program->function_count; i++)
        if (suits(d, spot, i))
            return true;
    return false;
}

/* The register or number for each parameter, and where results go: each to another register, or nowhere. */
static void draw_passed(struct drawer *d, const struct function *f, struct node *n)
{
    for (unsigned i = 0; i < f->param_count; i++) {
        n->pass[i] = (uint8_t)draw_below(d, REGS);
        if (f->params[i].class != CLASS_P && draw_below(d, 4) == 0)
            n->numbers |= (uint8_t)(1u << i);
    }
    for (unsigned i = 0; i < f->result_count; i++) {
        bool again = true;
        while (again) {
            again = false;
            n->take[i] = (uint8_t)draw_below(d, REGS);
            for (unsigned k = 0; k < i; k++)
                again |= n->take[k] == n->take[i] && f->results[k].class == f->results[i].class;
        }
    }
    for (unsigned i = 0; i < f->result_count; i++)
        if (draw_below(d, 5) == 0)
            n->take[i] = NOWHERE;
}

void draw_invoke(struct drawer *d, struct node *n, struct spot spot)
{
    struct program *p = d->program;
    unsigned index;
    do
        index = draw_below(d, p->function_count);
    while (!suits(d, spot, index));
    const struct function *f = &p->functions[index];
    n->value = (s64)draw_constant(d);
    n->op = (uint16_t)index;
    n->place = (uint8_t)index;
    n->inner = f->ring && d->function;
    n->depth = (uint8_t)draw_below(d, DEPTHS + !f->meets);
    n->around = draw_below(d, 2);
    draw_passed(d, f, n);
    if (f->ring && d->function)
        d->ring_calls++;
    else
        d->cost += spot.times * f->cost;
    if (f->meets)
        return;
    if (draw_below(d, 3) == 0) {
        n->guard = (int8_t)draw_below(d, REGS);
        n->guard_not = draw_below(d, 2);
    }
    /* Each function that waits and has its address taken stands behind each call through a pointer, with all that it
     * calls: such kernels would be of 60,000 instructions. */
    if (!p->abi || (p->locks && d->function))
        return;
    for (unsigned other = 0; other < p->function_count; other++)
        if (other != index && same_signature(f, &p->functions[other]) && draw_below(d, 2)) {
            if (!f->ring && (!suits(d, spot, other)))
                continue;
            n->dynamic = true;
            n->place = (uint8_t)other;
            if (!f->ring)
                d->cost += spot.times * p->functions[other].cost;
            break;
        }
    n->dynamic |= draw_below(d, 4) == 0;
}
