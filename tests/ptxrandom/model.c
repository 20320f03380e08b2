/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a program leaves in memory: all threads of a block go through the tree
 * together, each statement for all threads that are there before the next one.
 * That is one of the orders that PTX allows, and a program's outcome is the same
 * in all of them.
 */
#include <string.h>

#include "program.h"

struct block {
    const struct program *program;
    struct memory *memory;
    struct thread threads[128];
    bool broke[128], left[128];   /* has left the innermost loop, or the kernel or function */
};

static enum class class_of(char letter) {
    switch (letter | 32){
        case 'r' : return CLASS_R; case 'd' : return CLASS_D; case 'h' : return CLASS_H; case 'f' : return CLASS_F;
        case 'g' : return CLASS_G;
        default : return CLASS_P;
    }
}

static u64 cut(enum class class, u64 value)
{
    switch (class) {
    case CLASS_R:
    case CLASS_F:
        return (u32)value;
    case CLASS_H:
        return (uint16_t)value;
    case CLASS_P:
        return value != 0;
    default:
        return value;
    }
}

static u32 r_of(const struct thread *t, unsigned number)
{
    return (u32)t->reg[CLASS_R][number];
}

static void set(struct thread *t, enum class class, unsigned number, u64 value)
{
    t->reg[class][number] = cut(class, value);
}

static bool guarded(const struct node *n, const struct thread *t)
{
    return n->guard < 0 || (t->reg[CLASS_P][n->guard] != 0) != n->guard_not;
}

static void run_operation(const struct node *n, struct thread *t)
{
    const struct op *op = &ops[n->op];
    u64 v[3] = {0, 0, 0};
    for (int i = 0; op->sources[i]; i++) {
        enum class class = class_of(op->sources[i]);
        v[i] = n->constant[i] ? cut(class, (u64)n->value) : t->reg[class][n->src[i]];
    }
    set(t, class_of(op->result), n->dst, op->value(v[0], v[1], v[2], n->form, t));
}

static uint8_t *own_bytes(struct block *b, struct thread *t, const struct node *n, unsigned bytes)
{
    unsigned count = n->place == SPREAD ? SPREAD_WORDS : n->place == WINDOW ? 2 : OWN_BYTES / bytes;
    unsigned index = n->dynamic ? r_of(t, n->src[1]) & (count - 1) : (unsigned)n->value;
    unsigned all = b->program->threads * b->program->grid;
    switch (n->place) {
    case OWN:
        return &b->memory->own[t->linear][index * bytes];
    case SPREAD:
        return (uint8_t *)&b->memory->spread[index * all + t->linear];
    case LOCAL:
        return &t->local[index * bytes];
    default:
        return (uint8_t *)&t->window[index];
    }
}

static void run_access(struct block *b, const struct node *n, struct thread *t)
{
    const struct access *a = &accesses[n->type];
    uint8_t *at = own_bytes(b, t, n, a->bytes);
    u64 value = 0;
    if (n->kind == STORE) {
        memcpy(at, &t->reg[a->class][n->src[0]], a->bytes);
        return;
    }
    memcpy(&value, at, a->bytes);
    if (a->sign && value >> (8 * a->bytes - 1))
        value |= ~UINT64_C(0) << (8 * a->bytes);
    set(t, a->class, n->dst, value);
}

static u32 changed(unsigned op, u32 old, u32 value, u32 other)
{
    int32_t a = (int32_t)old, b = (int32_t)value;
    switch (op) {
    case 0:
        return old + value;
    case 1:
        return value;
    case 2:
        return (u32)(a < b ? a : b);
    case 3:
        return old > value ? old : value;
    case 4:
        return old & value;
    case 5:
        return old | value;
    case 6:
        return old ^ value;
    case 7:
        return old >= value ? 0 : old + 1;
    case 8:
        return old == 0 || old > value ? value : old - 1;
    default:
        return old == value ? other : old;
    }
}

static void run_atom(struct block *b, const struct node *n, struct thread *t)
{
    u32 *at = &b->memory->spread[(unsigned)n->value * b->program->threads * b->program->grid + t->linear], old = *at;
    *at = changed(n->form % 10, old, r_of(t, n->src[0]), r_of(t, n->src[1]));
    set(t, CLASS_R, n->dst, old);
}

static void run_sum(struct block *b, const struct node *n, struct thread *t)
{
    u32 value = r_of(t, n->src[0]),
        *at = &b->memory->sums[n->dynamic && n->value < 6 ? r_of(t, n->src[1]) & 3 : (u32)n->value];
    switch (n->value / 2) {
    case 0:
    case 1:
    case 2:
        *at += value;
        break;
    case 3:
        *at = value < *at ? value : *at;
        break;
    case 4:
        *at = (int32_t)value > (int32_t)*at ? value : *at;
        break;
    case 5:
        *at &= value;
        break;
    case 6:
        *at |= value;
        break;
    default:
        *at ^= value;
        break;
    }
}

/* ---- warps ---- */

struct warp {
    struct thread *first;
    const bool *here;
    unsigned lanes;
};

static struct warp warp_at(struct block *b, const bool *here, unsigned start)
{
    unsigned left = b->program->threads - start;
    return (struct warp){&b->threads[start], &here[start], left < 32 ? left : 32};
}

static void run_shuffle(const struct node *n, struct warp w)
{
    u64 bits = (u64)n->value;
    u32 results[32];
    bool inside[32] = {false};
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        int segment = bits >> 2 & 31, mode = bits & 3, clamp = mode == 0 ? 0 : 31, me = (int)lane, j;
        int by = (int)(bits >> 8 & 1 ? r_of(&w.first[lane], n->src[1]) & 31 : bits >> 9 & 31);
        int limit = (me & segment) | (clamp & ~segment);
        if (!w.here[lane])
            continue;
        if (!n->uniform) {
            for (j = 0; !w.here[j]; j++)
                ;
        } else {
            j = mode == 0 ? me - by : mode == 1 ? me + by : mode == 2 ? me ^ by : (me & segment) | (by & ~segment);
            inside[lane] = mode == 0 ? j >= limit : j <= limit;
            j = inside[lane] ? j : me;
        }
        results[lane] = r_of(&w.first[j], n->src[0]);
    }
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        if (!w.here[lane])
            continue;
        set(&w.first[lane], CLASS_R, n->dst, results[lane]);
        if (n->uniform && (bits >> 7 & 1))
            set(&w.first[lane], CLASS_P, n->src[2], inside[lane]);
    }
}

static void run_vote(const struct node *n, struct warp w)
{
    u32 ballot = 0, all = 0, negate = n->form % 4 != 3 && n->form >= 6;
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        all |= (u32)w.here[lane] << lane;
        ballot |= (u32)(w.here[lane] && (w.first[lane].reg[CLASS_P][n->src[0]] ^ negate)) << lane;
    }
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        if (!w.here[lane])
            continue;
        switch (n->form % 4) {
        case 0:
            set(&w.first[lane], CLASS_P, n->dst, ballot == all);
            break;
        case 1:
            set(&w.first[lane], CLASS_P, n->dst, ballot != 0);
            break;
        case 2:
            set(&w.first[lane], CLASS_P, n->dst, ballot == all || ballot == 0);
            break;
        default:
            set(&w.first[lane], CLASS_R, n->dst, ballot);
            break;
        }
    }
}

static void run_match(const struct node *n, struct warp w)
{
    u32 same[32] = {0}, all = 0;
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        all |= (u32)w.here[lane] << lane;
        for (unsigned other = 0; other < w.lanes; other++)
            if (w.here[lane] && w.here[other] &&
                !((r_of(&w.first[lane], n->src[0]) ^ r_of(&w.first[other], n->src[0])) & 3))
                same[lane] |= 1u << other;
    }
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        if (!w.here[lane])
            continue;
        bool is_all = n->form % 3 == 0;
        set(&w.first[lane], CLASS_R, n->dst, !is_all ? same[lane] : same[lane] == all ? all : 0);
        if (is_all)
            set(&w.first[lane], CLASS_P, n->src[1], same[lane] == all);
    }
}

static void run_reduce(const struct node *n, struct warp w)
{
    u32 result = 0;
    bool any = false;
    for (unsigned lane = 0; lane < w.lanes; lane++) {
        u32 x = r_of(&w.first[lane], n->src[0]);
        int32_t a = (int32_t)result, b = (int32_t)x;
        if (!w.here[lane])
            continue;
        switch (any ? n->form % 9 : 99) {
        case 0:
        case 3:
            result += x;
            break;
        case 1:
            result = x < result ? x : result;
            break;
        case 2:
            result = x > result ? x : result;
            break;
        case 4:
            result = (u32)(b < a ? b : a);
            break;
        case 5:
            result = (u32)(b > a ? b : a);
            break;
        case 6:
            result &= x;
            break;
        case 7:
            result |= x;
            break;
        case 8:
            result ^= x;
            break;
        default:
            result = x;
            break;
        }
        any = true;
    }
    for (unsigned lane = 0; lane < w.lanes; lane++)
        if (w.here[lane])
            set(&w.first[lane], CLASS_R, n->dst, result);
}

static void run_warps(struct block *b, const struct node *n, const bool *here)
{
    for (unsigned start = 0; start < b->program->threads; start += 32) {
        struct warp w = warp_at(b, here, start);
        switch (n->kind) {
        case SHUFFLE:
            run_shuffle(n, w);
            break;
        case VOTE:
            run_vote(n, w);
            break;
        case MATCH:
            run_match(n, w);
            break;
        default:
            run_reduce(n, w);
            break;
        }
    }
}

/* ---- blocks ---- */

static void run_exchange(struct block *b, const struct node *n, const bool *here)
{
    unsigned threads = b->program->threads;
    for (unsigned i = 0; i < threads; i++)
        if (here[i])
            b->threads[i].slot = b->threads[i].reg[CLASS_D][n->src[0]];
    for (unsigned i = 0; i < threads; i++)
        if (here[i])
            set(&b->threads[i], CLASS_D, n->dst, b->threads[(i + (unsigned)n->value % threads) % threads].slot);
}

static void run_meet(struct block *b, const struct node *n, const bool *here)
{
    unsigned count = 0, all = 0, form = n->form % 3;
    for (unsigned i = 0; i < b->program->threads; i++) {
        all += here[i];
        count += here[i] && b->threads[i].reg[CLASS_P][n->src[0]];
    }
    for (unsigned i = 0; i < b->program->threads; i++)
        if (here[i])
            set(&b->threads[i], form == 0 ? CLASS_R : CLASS_P, n->dst,
                form == 0   ? count
                : form == 1 ? count == all
                            : count != 0);
}

static void fill_registers(struct thread *t)
{
    for (unsigned i = 0; i < REGS; i++) {
        int32_t value = (int32_t)r_of(t, i);
        float single = (float)value;
        double wide = value;
        u32 bits;
        memcpy(&bits, &single, 4);
        set(t, CLASS_H, i, (u32)value);
        set(t, CLASS_F, i, bits);
        memcpy(&t->reg[CLASS_G][i], &wide, 8);
        set(t, CLASS_P, i, value & 1);
    }
}

static void run_list(struct block *b, int at, const bool *here);

static void call_function(struct block *b, unsigned function, const struct node *n, const bool *here)
{
    struct thread *saved = b->threads, before[128];
    bool broke[128];
    memcpy(before, saved, sizeof before);
    memcpy(broke, b->broke, sizeof broke);
    memset(b->broke, 0, sizeof b->broke);
    for (unsigned i = 0; i < b->program->threads; i++) {
        struct thread *t = &b->threads[i];
        u32 x = r_of(&before[i], n->src[0]), y = r_of(&before[i], n->src[1]),
            values[REGS] = {x, y, x ^ y, 17, x + y, y};
        for (unsigned k = 0; k < REGS; k++) {
            set(t, CLASS_R, k, values[k]);
            set(t, CLASS_D, k, before[i].reg[CLASS_D][n->src[2]] + k);
        }
        fill_registers(t);
    }
    run_list(b, b->program->functions[function].body, here);
    for (unsigned i = 0; i < b->program->threads; i++) {
        u32 result = r_of(&b->threads[i], function % REGS);
        memcpy(b->threads[i].reg, before[i].reg, sizeof before[i].reg);
        if (here[i])
            set(&b->threads[i], CLASS_R, n->dst, result);
    }
    memcpy(b->broke, broke, sizeof broke);
}

static void run_call(struct block *b, const struct node *n, const bool *here)
{
    bool first[128], second[128];
    for (unsigned i = 0; i < b->program->threads; i++) {
        bool choice = !n->dynamic || b->threads[i].reg[CLASS_P][n->form % REGS];
        first[i] = here[i] && choice;
        second[i] = here[i] && !choice;
    }
    call_function(b, (unsigned)n->value, n, first);
    if (n->dynamic)
        call_function(b, n->place, n, second);
}

/* A thread in a function with a signature of its own, at its start. */
static void enter_function(struct thread *t, const struct thread *before, const struct function *f,
                           const struct node *n)
{
    for (unsigned class = 0; class < CLASSES; class ++)
        for (unsigned k = 0; k < REGS; k++)
            set(t, (enum class) class, k, value_at_start((enum class) class, k));
    memset(t->local, 0, sizeof t->local);
    t->count = n->inner ? before->count - 1 : n->depth < DEPTHS ? n->depth : r_of(before, n->src[0]) & 3;
    for (unsigned i = 0; i < f->param_count; i++) {
        enum class class = (enum class)f->params[i].class;
        set(t, class, f->params[i].reg,
            n->numbers >> i & 1 ? value_of_constant(class, n->value) : before->reg[class][n->pass[i]]);
    }
}

static void invoke_function(struct block *b, const struct function *f, const struct node *n, const bool *here)
{
    struct thread before[128];
    bool broke[128], left[128];
    bool any = false;
    for (unsigned i = 0; i < b->program->threads; i++)
        any |= here[i];
    if (!any)
        return;
    memcpy(before, b->threads, sizeof before);
    memcpy(broke, b->broke, sizeof broke);
    memcpy(left, b->left, sizeof left);
    memset(b->broke, 0, sizeof b->broke);
    memset(b->left, 0, sizeof b->left);
    for (unsigned i = 0; i < b->program->threads; i++)
        if (here[i])
            enter_function(&b->threads[i], &before[i], f, n);
    run_list(b, f->body, here);
    for (unsigned i = 0; i < b->program->threads; i++) {
        struct thread after = b->threads[i];
        b->threads[i] = before[i];
        for (unsigned k = 0; k < f->result_count && here[i]; k++)
            if (n->take[k] != NOWHERE)
                set(&b->threads[i], (enum class)f->results[k].class, n->take[k],
                    after.reg[f->results[k].class][f->results[k].reg]);
    }
    memcpy(b->broke, broke, sizeof broke);
    memcpy(b->left, left, sizeof left);
}

static void run_invoke(struct block *b, const struct node *n, const bool *here)
{
    bool first[128], second[128];
    for (unsigned i = 0; i < b->program->threads; i++) {
        const struct thread *t = &b->threads[i];
        bool calls = here[i] && guarded(n, t) && (!n->inner || t->count > 0),
             choice = !n->dynamic || t->reg[CLASS_P][n->form % REGS];
        first[i] = calls && choice;
        second[i] = calls && !choice;
    }
    invoke_function(b, &b->program->functions[n->op], n, first);
    if (n->dynamic)
        invoke_function(b, &b->program->functions[n->place], n, second);
}

static void run_if(struct block *b, const struct node *n, const bool *here)
{
    bool yes[128], no[128];
    for (unsigned i = 0; i < b->program->threads; i++) {
        const struct thread *t = &b->threads[i];
        bool c =
            n->uniform ? (n->form % 2 ? t->block & 1 : b->program->param >> n->form & 1) : t->reg[CLASS_P][n->src[0]];
        yes[i] = here[i] && c;
        no[i] = here[i] && !c;
    }
    run_list(b, n->body, yes);
    run_list(b, n->other, no);
}

static void run_switch(struct block *b, const struct node *n, const bool *here)
{
    const int lists[4] = {n->body, n->other, n->third, n->fourth};
    bool arms[4][128];
    for (unsigned i = 0; i < b->program->threads; i++)
        for (unsigned k = 0; k < 4; k++)
            arms[k][i] = here[i] && (r_of(&b->threads[i], n->src[0]) & 3) == k;
    for (unsigned k = 0; k < 4; k++)
        run_list(b, lists[k], arms[k]);
}

static void run_loop(struct block *b, const struct node *n, const bool *here)
{
    u32 left[128];
    bool inside[128], outer[128], any;
    memcpy(outer, b->broke, sizeof outer);
    for (unsigned i = 0; i < b->program->threads; i++) {
        left[i] = n->uniform ? (u32)n->value : r_of(&b->threads[i], n->src[0]) & 7;
        if (here[i])
            b->broke[i] = false;
    }
    do {
        any = false;
        for (unsigned i = 0; i < b->program->threads; i++) {
            inside[i] = here[i] && !b->broke[i] && !b->left[i] && left[i]-- != 0;
            if (!inside[i])
                left[i] = 0;
            any |= inside[i];
        }
        if (any)
            run_list(b, n->body, inside);
    } while (any);
    memcpy(b->broke, outer, sizeof outer);
}

static void run_thread(struct block *b, const struct node *n, unsigned i)
{
    struct thread *t = &b->threads[i];
    if (!guarded(n, t))
        return;
    switch (n->kind) {
    case OPERATION:
        run_operation(n, t);
        break;
    case LOAD:
    case STORE:
        run_access(b, n, t);
        break;
    case INPUT:
        set(t, CLASS_R, n->dst, b->program->input[r_of(t, n->src[0]) & (INPUT_WORDS - 1)]);
        break;
    case ATOM:
        run_atom(b, n, t);
        break;
    case SUM:
        run_sum(b, n, t);
        break;
    case LOCKED:
        b->memory->sums[SUMS + 1] += r_of(t, n->src[0]);
        break;
    case BREAK:
        b->broke[i] = b->broke[i] || t->reg[CLASS_P][n->src[0]];
        break;
    default:
        b->left[i] = b->left[i] || t->reg[CLASS_P][n->src[0]];
        break; /* LEAVE */
    }
}

static void run_list(struct block *b, int at, const bool *in)
{
    bool here[128];
    for (; at >= 0; at = b->program->nodes[at].next) {
        const struct node *n = &b->program->nodes[at];
        for (unsigned i = 0; i < b->program->threads; i++)
            here[i] = in[i] && !b->broke[i] && !b->left[i];
        switch (n->kind) {
        case IF:
            run_if(b, n, here);
            break;
        case SWITCH:
            run_switch(b, n, here);
            break;
        case LOOP:
            run_loop(b, n, here);
            break;
        case CALL:
            run_call(b, n, here);
            break;
        case INVOKE:
            run_invoke(b, n, here);
            break;
        case EXCHANGE:
            run_exchange(b, n, here);
            break;
        case MEET:
            run_meet(b, n, here);
            break;
        case SHUFFLE:
        case VOTE:
        case MATCH:
        case REDUCE:
            run_warps(b, n, here);
            break;
        default:
            for (unsigned i = 0; i < b->program->threads; i++)
                if (here[i])
                    run_thread(b, n, i);
            break;
        }
    }
}

static void start_thread(struct block *b, unsigned block, unsigned i)
{
    const struct program *p = b->program;
    struct thread *t = &b->threads[i];
    memset(t, 0, sizeof *t);
    t->tid[0] = i % p->block[0];
    t->tid[1] = i / p->block[0] % p->block[1];
    t->tid[2] = i / (p->block[0] * p->block[1]);
    t->block = block;
    t->lane = i % 32;
    t->linear = block * p->threads + i;
    u32 input = p->input[t->linear & (INPUT_WORDS - 1)],
        values[REGS] = {t->linear, block, p->param, input, t->lane, t->tid[1]};
    for (unsigned k = 0; k < REGS; k++)
        set(t, CLASS_R, k, values[k]);
    const u64 wide[REGS] = {t->linear, (u64)input << 32 | p->param, UINT64_C(0x123456789), (u64)input * t->linear,
                            1,         (u64)(s64)(int32_t)p->param};
    memcpy(t->reg[CLASS_D], wide, sizeof wide);
    fill_registers(t);
    set(t, CLASS_F, 1, input);
    set(t, CLASS_F, 5, p->param);
    set(t, CLASS_F, 3, 0x3fc00000);
}

void model_run(const struct program *program, struct memory *memory)
{
    for (unsigned block = 0; block < program->grid; block++) {
        static struct block b;
        bool all[128];
        memset(&b, 0, sizeof b);
        b.program = program;
        b.memory = memory;
        for (unsigned i = 0; i < program->threads; i++) {
            all[i] = true;
            start_thread(&b, block, i);
        }
        run_list(&b, program->body, all);
        for (unsigned i = 0; i < program->threads; i++)
            if (!b.left[i])
                for (unsigned class = 0; class < CLASSES; class ++)
                    for (unsigned k = 0; k < REGS; k++) {
                        static const unsigned bytes[CLASSES] = {4, 8, 2, 4, 8, 4};
                        memcpy(&memory->out[b.threads[i].linear][class * REGS + k], &b.threads[i].reg[class][k],
                               bytes[class]);
                    }
    }
}
