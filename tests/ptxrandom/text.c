/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program as PTX. Registers are %r0.. and so on by class; %tr %td %th %tf %tg %tp
 * are for the insides of one statement, %ti and %ta for its index and address.
 * Where lanes are counted, the lanes of a list are in %mN_k: N is the statement
 * that the list belongs to, k which of its lists.
 */
#include <string.h>

#include "text.h"

const char class_letters[] = "rdhfgp";

static enum class class_of(char letter) {
    return (enum class)(strchr(class_letters, letter >= 'a' ? letter : letter + 32) - class_letters);
}

void put_guard(struct writer *w, const struct node *n)
{
    if (n->guard >= 0)
        fprintf(w->file, "@%s%%p%d ", n->guard_not ? "!" : "", n->guard);
}

static void put_operation(struct writer *w, const struct node *n)
{
    const struct op *op = &ops[n->op];
    put_guard(w, n);
    for (const char *c = op->text; *c; c++) {
        if (*c == ';' && c[1] == ' ') {
            fputs("; ", w->file);
            put_guard(w, n);
            c++;
        } else if (*c != '$') {
            fputc(*c, w->file);
        } else if (*++c == 'd') {
            fprintf(w->file, "%%%c%u", op->result, n->dst);
        } else if (*c == 'i') {
            fprintf(w->file, "%u", n->form);
        } else {
            int i = *c - 'a';
            if (n->constant[i])
                fprintf(w->file, "%lld", (long long)n->value);
            else
                fprintf(w->file, "%%%c%u", class_letters[class_of(op->sources[i])], n->src[i]);
        }
    }
    fputc('\n', w->file);
}

/* A list whose lanes are in %mN_k, if they are counted. */
static void put_inner(struct writer *w, const struct node *n, unsigned which, int list)
{
    struct writer inner = *w;
    if (w->counts)
        snprintf(inner.mask, sizeof inner.mask, "%%m%u_%u", n->number, which);
    put_list(&inner, list);
}

static void put_if(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    if (n->uniform) {
        fprintf(f, n->form % 2 ? "and.b32 %%ti, %%block, 1;" : "shr.u32 %%ti, %%param, %u; and.b32 %%ti, %%ti, 1;",
                n->form);
        fprintf(f, " setp.ne.u32 %%c%u, %%ti, 0;\n", n->number);
    } else {
        fprintf(f, "mov.pred %%c%u, %%p%u;\n", n->number, n->src[0]);
    }
    if (w->counts)
        fprintf(f, "vote.sync.ballot.b32 %%m%u_0, %%c%u, %s; not.b32 %%ti, %%m%u_0; and.b32 %%m%u_1, %s, %%ti;\n",
                n->number, n->number, w->mask, n->number, n->number, w->mask);
    fprintf(f, "@!%%c%u bra ELSE%u;\n", n->number, n->number);
    put_inner(w, n, 0, n->body);
    if (n->other >= 0)
        fprintf(f, "bra END%u;\n", n->number);
    fprintf(f, "ELSE%u:\n", n->number);
    put_inner(w, n, 1, n->other);
    if (n->other >= 0)
        fprintf(f, "END%u:\n", n->number);
}

static void put_switch(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    const int lists[4] = {n->body, n->other, n->third, n->fourth};
    fprintf(f, "and.b32 %%s%u, %%r%u, 3;\n", n->number, n->src[0]);
    for (unsigned k = 0; k < 4 && w->counts; k++)
        fprintf(f, "setp.eq.u32 %%tp, %%s%u, %u; vote.sync.ballot.b32 %%m%u_%u, %%tp, %s;\n", n->number, k, n->number,
                k, w->mask);
    fprintf(f, "TABLE%u: .branchtargets ARM%u_0, ARM%u_1, ARM%u_2, ARM%u_3;\nbrx.idx %%s%u, TABLE%u;\n", n->number,
            n->number, n->number, n->number, n->number, n->number, n->number);
    for (unsigned k = 0; k < 4; k++) {
        fprintf(f, "ARM%u_%u:\n", n->number, k);
        put_inner(w, n, k, lists[k]);
        if (k < 3)
            fprintf(f, "bra END%u;\n", n->number);
    }
    fprintf(f, "END%u:\n", n->number);
}

static void put_loop(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    u32 k = n->number;
    if (n->uniform)
        fprintf(f, "mov.u32 %%n%u, %lld;\n", k, (long long)n->value);
    else
        fprintf(f, "and.b32 %%n%u, %%r%u, 7;\n", k, n->src[0]);
    if (w->counts)
        fprintf(f, "mov.b32 %%m%u_0, %s;\n", k, w->mask);
    fprintf(f, "LOOP%u: setp.ne.u32 %%c%u, %%n%u, 0;\n", k, k, k);
    if (w->counts)
        fprintf(f, "vote.sync.ballot.b32 %%m%u_0, %%c%u, %%m%u_0;\n", k, k, k);
    fprintf(f, "@!%%c%u bra END%u;\nsub.u32 %%n%u, %%n%u, 1;\n", k, k, k, k);
    struct writer inner = *w;
    inner.loop = k;
    put_inner(&inner, n, 0, n->body);
    fprintf(f, "bra LOOP%u;\nEND%u:\n", k, k);
}

/* Puts the address of an own element into %ta, or %ti where the space has 32-bit addresses; returns how it is written
 * in brackets. */
static const char *put_address(struct writer *w, const struct node *n, unsigned bytes)
{
    static char text[48];
    static const char *const bases[] = {"%own", "%spread", "%loc", "%win"};
    bool words = n->place == SPREAD || n->place == WINDOW, shared = n->place == WINDOW;
    bool converts = n->generic && (shared || n->place == LOCAL);
    unsigned count = n->place == SPREAD ? SPREAD_WORDS : n->place == WINDOW ? 2 : OWN_BYTES / bytes;
    unsigned step = !words ? bytes : shared ? 4 * w->program->threads : 4 * w->program->threads * w->program->grid;
    if (!n->dynamic && !converts) {
        snprintf(text, sizeof text, "[%s+%llu]", bases[n->place], (unsigned long long)n->value * step);
        return text;
    }
    if (n->dynamic)
        fprintf(w->file, "and.b32 %%ti, %%r%u, %u; ", n->src[1], count - 1);
    else
        fprintf(w->file, "mov.u32 %%ti, %lld; ", (long long)n->value);
    if (shared) {
        fprintf(w->file, "mad.lo.u32 %%ti, %%ti, %u, %%win; ", step);
        if (n->generic)
            fputs("cvt.u64.u32 %ta, %ti; cvta.shared.u64 %ta, %ta; ", w->file);
        return n->generic ? "[%ta]" : "[%ti]";
    }
    fprintf(w->file, "mad.wide.u32 %%ta, %%ti, %u, %s; ", step, bases[n->place]);
    if (converts)
        fputs("cvta.local.u64 %ta, %ta; ", w->file);
    return "[%ta]";
}

static void put_access(struct writer *w, const struct node *n)
{
    static const char *const spaces[] = {".global", ".global", ".local", ".shared"};
    const struct access *a = &accesses[n->type];
    char address[48];
    snprintf(address, sizeof address, "%s", put_address(w, n, a->bytes));
    const char *space = n->generic ? "" : spaces[n->place];
    char letter = class_letters[a->class];
    put_guard(w, n);
    if (n->kind == LOAD)
        fprintf(w->file, "ld%s.%s %%%c%u, %s;\n", space, a->name, letter, n->dst, address);
    else
        fprintf(w->file, "st%s.%s %s, %%%c%u;\n", space, a->name, address, letter, n->src[0]);
}

static void put_shuffle(struct writer *w, const struct node *n)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    FILE *f = w->file;
    u64 bits = (u64)n->value;
    if (!n->uniform) {
        fprintf(f, "brev.b32 %%ti, %s; clz.b32 %%ti, %%ti; shfl.sync.idx.b32 %%r%u, %%r%u, %%ti, 31, %s;\n", w->mask,
                n->dst, n->src[0], w->mask);
        return;
    }
    unsigned mode = bits & 3, segment = bits >> 2 & 31, clamp = mode == 0 ? 0 : 31;
    fprintf(f, "shfl.sync.%s.b32 %%r%u", modes[mode], n->dst);
    if (bits >> 7 & 1)
        fprintf(f, "|%%p%u", n->src[2]);
    fprintf(f, ", %%r%u, ", n->src[0]);
    if (bits >> 8 & 1)
        fprintf(f, "%%r%u", n->src[1]);
    else
        fprintf(f, "%u", (unsigned)(bits >> 9 & 31));
    fprintf(f, ", %u, %s;\n", segment << 8 | clamp, w->mask);
}

static void put_vote(struct writer *w, const struct node *n)
{
    static const char *const modes[] = {"all", "any", "uni"};
    if (n->form % 4 == 3)
        fprintf(w->file, "vote.sync.ballot.b32 %%r%u, %%p%u, %s;\n", n->dst, n->src[0], w->mask);
    else
        fprintf(w->file, "vote.sync.%s.pred %%p%u, %s%%p%u, %s;\n", modes[n->form % 4], n->dst, n->form >= 6 ? "!" : "",
                n->src[0], w->mask);
}

static void put_match(struct writer *w, const struct node *n)
{
    fprintf(w->file, "and.b32 %%ti, %%r%u, 3; ", n->src[0]);
    if (n->form % 3 == 0)
        fprintf(w->file, "match.all.sync.b32 %%r%u|%%p%u, %%ti, %s;\n", n->dst, n->src[1], w->mask);
    else if (n->form % 3 == 1)
        fprintf(w->file, "match.any.sync.b32 %%r%u, %%ti, %s;\n", n->dst, w->mask);
    else
        fprintf(w->file, "cvt.u64.u32 %%td, %%ti; match.any.sync.b64 %%r%u, %%td, %s;\n", n->dst, w->mask);
}

static void put_sum(struct writer *w, const struct node *n)
{
    static const char *const names[] = {"add.u32", "add.u32", "add.u32", "min.u32",
                                        "max.s32", "and.b32", "or.b32",  "xor.b32"};
    if (n->dynamic && n->value < 6)
        fprintf(w->file, "and.b32 %%ti, %%r%u, 3; mad.wide.u32 %%ta, %%ti, 4, %%sums; ", n->src[1]);
    else
        fprintf(w->file, "add.u64 %%ta, %%sums, %lld; ", (long long)n->value * 4);
    put_guard(w, n);
    fprintf(w->file, "red.global.%s [%%ta], %%r%u;\n", names[n->value / 2], n->src[0]);
}

/* A lane that has the lock gives it back before the others of its warp can go on. */
static void put_locked(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    fprintf(
        f,
        "TAKE%u: atom.global.acquire.gpu.cas.b32 %%tr, [%%sums+%u], 0, 1; setp.ne.u32 %%tp, %%tr, 0; @%%tp bra TAKE%u;\n",
        n->number, SUMS * 4, n->number);
    fprintf(
        f,
        "ld.relaxed.gpu.global.u32 %%tr, [%%sums+%u]; add.u32 %%tr, %%tr, %%r%u; st.relaxed.gpu.global.u32 [%%sums+%u], %%tr; "
        "st.release.gpu.global.u32 [%%sums+%u], 0;\n",
        SUMS * 4 + 4, n->src[0], SUMS * 4 + 4, SUMS * 4);
}

static void put_atom(struct writer *w, const struct node *n)
{
    static const char *const names[] = {"add.u32", "exch.b32", "min.s32", "max.u32", "and.b32",
                                        "or.b32",  "xor.b32",  "inc.u32", "dec.u32", "cas.b32"};
    unsigned op = n->form % 10;
    put_guard(w, n);
    fprintf(w->file, "atom.global.%s %%r%u, [%%spread+%llu], %%r%u", names[op], n->dst,
            (unsigned long long)n->value * 4 * w->program->threads * w->program->grid, n->src[0]);
    if (op == 9)
        fprintf(w->file, ", %%r%u", n->src[1]);
    fputs(";\n", w->file);
}

static void put_exchange(struct writer *w, const struct node *n)
{
    static const char *const barriers[] = {"bar.sync 0", "barrier.sync.aligned 1", "bar.sync 2", "bar.sync 15"};
    const char *barrier = barriers[n->form % 4];
    unsigned threads = w->program->threads, by = (unsigned)n->value % threads;
    fprintf(w->file, "st.shared.u64 [%%slot], %%d%u; %s;\n", n->src[0], barrier);
    fprintf(
        w->file,
        "add.u32 %%ti, %%lin, %u; setp.ge.u32 %%tp, %%ti, %u; @%%tp sub.u32 %%ti, %%ti, %u; mov.u32 %%tr, slots; mad.lo.u32 %%ti, %%ti, 8, %%tr;\n",
        by, threads, threads);
    fprintf(w->file, "ld.shared.u64 %%d%u, [%%ti]; %s;\n", n->dst, barrier);
}

static void put_meet(struct writer *w, const struct node *n)
{
    unsigned form = n->form % 3;
    if (form == 0)
        fprintf(w->file, "bar.red.popc.u32 %%r%u, 0, %%p%u;\n", n->dst, n->src[0]);
    else
        fprintf(w->file, "bar.red.%s.pred %%p%u, 1, %%p%u;\n", form == 1 ? "and" : "or", n->dst, n->src[0]);
}

static void put_call(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    fputs("{ .param .b32 x; .param .b32 y; .param .b64 z; .param .b32 o;\n", f);
    fprintf(f, "st.param.b32 [x], %%r%u; st.param.b32 [y], %%r%u; st.param.b64 [z], %%d%u;\n", n->src[0], n->src[1],
            n->src[2]);
    if (n->dynamic)
        fprintf(
            f,
            "mov.u64 %%ta, f%lld; mov.u64 %%td, f%u; selp.b64 %%ta, %%ta, %%td, %%p%u;\ncall (o), %%ta, (x, y, z), shape;\n",
            (long long)n->value, n->place, n->form % REGS);
    else
        fprintf(f, "call (o), f%lld, (x, y, z);\n", (long long)n->value);
    fprintf(f, "ld.param.b32 %%r%u, [o]; }\n", n->dst);
}

static void put_reduce(struct writer *w, const struct node *n)
{
    static const char *const names[] = {"add.u32", "min.u32", "max.u32", "add.s32", "min.s32",
                                        "max.s32", "and.b32", "or.b32",  "xor.b32"};
    fprintf(w->file, "redux.sync.%s %%r%u, %%r%u, %s;\n", names[n->form % 9], n->dst, n->src[0], w->mask);
}

static void put_node(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    switch (n->kind) {
    case OPERATION:
        put_operation(w, n);
        break;
    case IF:
        put_if(w, n);
        break;
    case SWITCH:
        put_switch(w, n);
        break;
    case LOOP:
        put_loop(w, n);
        break;
    case BREAK:
        if (w->counts)
            fprintf(f, "vote.sync.ballot.b32 %s, !%%p%u, %s;\n", w->mask, n->src[0], w->mask);
        fprintf(f, "@%%p%u bra END%u;\n", n->src[0], w->loop);
        break;
    case LOAD:
    case STORE:
        put_access(w, n);
        break;
    case INPUT:
        fprintf(f, "and.b32 %%ti, %%r%u, %u; mad.wide.u32 %%ta, %%ti, 4, %%in; ", n->src[0], INPUT_WORDS - 1);
        put_guard(w, n);
        fprintf(f, "ld.global%s.u32 %%r%u, [%%ta];\n", n->form % 2 ? ".nc" : "", n->dst);
        break;
    case ATOM:
        put_atom(w, n);
        break;
    case SUM:
        put_sum(w, n);
        break;
    case LOCKED:
        put_locked(w, n);
        break;
    case SHUFFLE:
        put_shuffle(w, n);
        break;
    case VOTE:
        put_vote(w, n);
        break;
    case MATCH:
        put_match(w, n);
        break;
    case REDUCE:
        put_reduce(w, n);
        break;
    case EXCHANGE:
        put_exchange(w, n);
        break;
    case MEET:
        put_meet(w, n);
        break;
    case CALL:
        put_call(w, n);
        break;
    case INVOKE:
        put_invoke(w, n);
        break;
    default:
        if (w->function)
            put_results(w);
        if (w->counts)
            fprintf(f, "vote.sync.ballot.b32 %s, !%%p%u, %s;\n", w->mask, n->src[0], w->mask);
        fprintf(f, "@%%p%u %s;\n", n->src[0], w->function ? "ret" : "exit");
        break;
    }
}

void put_list(struct writer *w, int at)
{
    for (; at >= 0; at = w->program->nodes[at].next)
        put_node(w, &w->program->nodes[at]);
}

/* Registers of a function, and what its statements need for themselves. Floats are in registers of type .b32 in every
 * second program, as newer compilers have them. */
void put_registers(struct writer *w)
{
    FILE *f = w->file;
    const char *number = w->program->seed % 2 ? "f32" : "b32";
    if (!w->function)
        fprintf(
            f,
            ".reg .b32 %%r<%u>; .reg .b64 %%d<%u>; .reg .b16 %%h<%u>; .reg .%s %%f<%u>; .reg .f64 %%g<%u>; .reg .pred %%p<%u>;\n",
            REGS, REGS, REGS, number, REGS, REGS, REGS);
    fprintf(
        f,
        ".reg .b32 %%tr, %%ti; .reg .b64 %%td, %%ta; .reg .b16 %%th; .reg .%s %%tf; .reg .f64 %%tg; .reg .pred %%tp;\n",
        number);
    if (w->program->calls)
        fputs(".reg .b32 %cm, %cn; .reg .b64 %ca; .reg .pred %cg;\n", f);
    for (unsigned i = 0; i < w->program->node_count; i++) {
        unsigned kind = w->program->nodes[i].kind;
        if (kind == IF || kind == LOOP)
            fprintf(f, ".reg .pred %%c%u; ", i);
        if (kind == LOOP || kind == SWITCH)
            fprintf(f, ".reg .b32 %%%c%u; ", kind == LOOP ? 'n' : 's', i);
        if (w->counts && (kind == IF || kind == LOOP || kind == SWITCH))
            fprintf(f, ".reg .b32 %%m%u_0, %%m%u_1, %%m%u_2, %%m%u_3;\n", i, i, i, i);
    }
    fputc('\n', f);
}

/* What model.c's fill_registers does. */
static void put_fill(FILE *f)
{
    for (unsigned i = 0; i < REGS; i++)
        fprintf(
            f,
            "cvt.u16.u32 %%h%u, %%r%u; cvt.rn.f32.s32 %%f%u, %%r%u; cvt.rn.f64.s32 %%g%u, %%r%u; and.b32 %%tr, %%r%u, 1; setp.ne.u32 %%p%u, %%tr, 0;\n",
            i, i, i, i, i, i, i, i);
}

static void put_function(FILE *file, const struct program *p, unsigned index)
{
    struct writer w = {.file = file, .program = p};
    fprintf(file, ".func (.param .b32 o) f%u(.param .b32 x, .param .b32 y, .param .b64 z)\n{\n", index);
    put_registers(&w);
    fputs(
        "ld.param.u32 %r0, [x]; ld.param.u32 %r1, [y]; xor.b32 %r2, %r0, %r1; mov.u32 %r3, 17; add.u32 %r4, %r0, %r1; mov.u32 %r5, %r1;\nld.param.u64 %d0, [z];\n",
        file);
    for (unsigned i = 1; i < REGS; i++)
        fprintf(file, "add.u64 %%d%u, %%d0, %u;\n", i, i);
    put_fill(file);
    put_list(&w, p->functions[index].body);
    fprintf(file, "st.param.b32 [o], %%r%u; ret;\n}\n", index % REGS);
}

static void put_prologue(struct writer *w)
{
    const struct program *p = w->program;
    FILE *f = w->file;
    fputs(
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %own, [own]; ld.param.u64 %spread, [spread]; ld.param.u64 %sums, [sums]; "
        "ld.param.u32 %param, [param];\n"
        "mov.u32 %block, %ctaid.x; mov.u32 %lin, %tid.z; mov.u32 %tr, %ntid.y; mov.u32 %ti, %tid.y; mad.lo.u32 %lin, %lin, %tr, %ti; mov.u32 %tr, %ntid.x; "
        "mov.u32 %ti, %tid.x; mad.lo.u32 %lin, %lin, %tr, %ti;\n",
        f);
    fprintf(
        f,
        "mad.lo.u32 %%r0, %%block, %u, %%lin; mul.wide.u32 %%ta, %%r0, %u; add.u64 %%own, %%own, %%ta; mul.wide.u32 %%ta, %%r0, 4; add.u64 %%spread, %%spread, %%ta;\n",
        p->threads, OWN_BYTES);
    fprintf(f, "mul.wide.u32 %%ta, %%r0, %u; add.u64 %%out, %%out, %%ta; mov.u64 %%loc, mine;\n",
            (unsigned)(CLASSES * REGS * 8));
    fputs(
        "mov.u32 %win, window; mad.lo.u32 %win, %lin, 4, %win; mov.u32 %slot, slots; mad.lo.u32 %slot, %lin, 8, %slot; mov.u64 %d0, 0; mov.u32 %r1, 0;\n",
        f);
    for (unsigned i = 0; i < OWN_BYTES; i += 8)
        fprintf(f, "st.local.u64 [%%loc+%u], %%d0; ", i);
    fprintf(f, "st.shared.u32 [%%win], %%r1; st.shared.u32 [%%win+%u], %%r1; st.shared.u64 [%%slot], %%d0;\n",
            4 * p->threads);
    if (w->counts)
        /* The lanes of this warp that exist. */
        fprintf(
            f,
            "and.b32 %%ti, %%lin, 0xffffffe0; sub.u32 %%ti, %u, %%ti; min.u32 %%ti, %%ti, 32; sub.u32 %%ti, 32, %%ti; shr.u32 %%m, 0xffffffff, %%ti;\n",
            p->threads);
    fprintf(
        f,
        "mov.u32 %%r1, %%block; mov.u32 %%r2, %%param; and.b32 %%ti, %%r0, %u; mad.wide.u32 %%ta, %%ti, 4, %%in; ld.global.u32 %%r3, [%%ta]; "
        "mov.u32 %%r4, %%laneid; mov.u32 %%r5, %%tid.y;\n",
        INPUT_WORDS - 1);
    fputs(
        "cvt.u64.u32 %d0, %r0; mov.b64 %d1, {%r2, %r3}; mov.u64 %d2, 0x123456789; mul.wide.u32 %d3, %r3, %r0; mov.u64 %d4, 1; cvt.s64.s32 %d5, %r2;\n",
        f);
    put_fill(f);
    fputs("mov.b32 %f1, %r3; mov.b32 %f5, %r2; mov.f32 %f3, 0f3FC00000;\n", f);
}

static void put_epilogue(FILE *f)
{
    static const char *const types[] = {"u32", "u64", "u16", "f32", "f64"};
    for (unsigned class = 0; class < CLASSES; class ++)
        for (unsigned i = 0; i < REGS; i++) {
            unsigned at = (class * REGS + i) * 8;
            if (class == CLASS_P)
                fprintf(f, "selp.u32 %%tr, 1, 0, %%p%u; st.global.u32 [%%out+%u], %%tr;\n", i, at);
            else
                fprintf(f, "st.global.%s [%%out+%u], %%%c%u;\n", types[class], at, class_letters[class], i);
        }
}

void put_program(FILE *file, const struct program *p)
{
    struct writer w = {.file = file, .program = p, .counts = p->warps, .mask = "%m"};
    fprintf(file, "// seed %llu\n.version 8.0\n.target sm_80\n.address_size 64\n", (unsigned long long)p->seed);
    for (unsigned i = 0; i < p->function_count && p->calls; i++)
        put_declaration(file, p, i);
    for (unsigned i = 0; i < p->function_count; i++)
        (p->calls ? put_signed_function : put_function)(file, p, i);
    fputs(
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 own, .param .u64 spread, .param .u64 sums, .param .u32 param)\n{\n",
        file);
    fprintf(file, ".local .align 8 .b8 mine[%u]; .shared .align 8 .b8 slots[%u]; .shared .align 4 .b8 window[%u];\n",
            OWN_BYTES, 8 * p->threads, 8 * p->threads);
    put_registers(&w);
    fputs(".reg .b64 %in, %out, %own, %spread, %sums, %loc; .reg .b32 %param, %block, %lin, %win, %slot, %m;\n", file);
    if (p->function_count && !p->calls)
        fputs("shape: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _);\n", file);
    put_prologue(&w);
    put_list(&w, p->body);
    put_epilogue(file);
    fputs("ret;\n}\n", file);
}
