/* SPDX-License-Identifier: Apache-2.0 */

/* A kernel that waits, as PTX. %left counts what the thread still waits for, %dp is its list, %base the words; %sum
 * grows by each word that has come. */
#include <stdarg.h>

#include "polls.h"

struct text {
    FILE *file;
    const struct polls *p;
    char arm; /* makes labels of two loops differ */
};

/* Writes a text, in which $ stands for the loop's letter, and @@ for the next of the strings behind it. */
static void put(const struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (const char *at = format; *at; at++) {
        if (at[0] == '$')
            fputc(t->arm, t->file);
        else if (at[0] == '@' && at[1] == '@')
            fputs(va_arg(arguments, const char *), t->file), at++;
        else
            fputc(*at, t->file);
    }
    va_end(arguments);
}

static const char *space_of(const struct polls *p)
{
    return p->generic ? "" : p->grain == SHARED_GRAIN ? ".shared" : ".global";
}

/* %v is the word at %addr. */
static void put_load(const struct text *t)
{
    static const struct {
        const char *front, *back, *more;
    } loads[LOADS] = {
        [VOLATILE] = {"ld.volatile", ".u32", ";"},
        [RELAXED_GPU] = {"ld.relaxed.gpu", ".u32", ";"},
        [RELAXED_SYS] = {"ld.relaxed.sys", ".u32", ";"},
        [ACQUIRE] = {"ld.acquire.gpu", ".u32", ";"},
        [NO_CACHE] = {"ld", ".cv.u32", ";"},
        [ATOM_ADD] = {"atom", ".add.u32", ", 0;"},
        [ATOM_CAS] = {"atom", ".cas.b32", ", 1, 1;"},
        [FENCED] = {"ld", ".u32", "; membar.gl;"},
        [PLAIN] = {"ld", ".u32", ";"},
    };
    const struct polls *p = t->p;
    put(t, " @@@@@@ %v, [%addr]@@\n", loads[p->load].front, space_of(p), loads[p->load].back, loads[p->load].more);
    if (p->scratch)
        put(t, " st.global.u32 [%scratch], %t;\n");
}

/* %addr is the address of the word that comes next in the list. */
static void put_address(const struct text *t, const char *number)
{
    put(t,
        " sub.u32 %k, @@, 1;\n mul.wide.u32 %q, %k, 4;\n add.u64 %q, %dp, %q;\n ld.global.u32 %k, [%q];\n mul.wide.u32 %q, %k, 4;\n add.u64 %addr, %base, %q;\n",
        number);
}

#define DONE_IF_NONE_LEFT " setp.eq.u32 %p, %left, 0;\n @%p bra done$;\n"
#define IF_NOT_READY(where) " setp.eq.u32 %p, %v, 0;\n @%p bra " where ";\n"
#define TAKE " add.u32 %sum, %sum, %v;\n sub.u32 %left, %left, 1;\n"

/* The thread's own word, %sum with the bit that says that it is there. */
static void put_publish(const struct text *t)
{
    static const char *const stores[STORES][2] = {
        [ST_VOLATILE] = {"st.volatile", ".u32 "},   [ST_RELAXED] = {"st.relaxed.gpu", ".u32 "},
        [ST_RELEASE] = {"st.release.gpu", ".u32 "}, [ST_EXCHANGE] = {"atom", ".exch.b32 %k, "},
        [ST_REDUCE] = {"red", ".or.b32 "},          [ST_PLAIN] = {"st", ".u32 "}};
    const struct polls *p = t->p;
    put(t, " or.b32 %sum, %sum, 0x80000000;\n membar.gl;\n @@@@@@[%word], %sum;\n st.global.u32 [%out], %sum;\n",
        stores[p->store][0], space_of(p), stores[p->store][1]);
}

/* What goes round until a count is 0 that a branch lowers. */
static void put_counts(const struct text *t)
{
    const struct polls *p = t->p;
    bool local = p->way == BY_LOCAL_COUNT;
    if (local)
        put(t, " st.local.u32 [count], %left;\n");
    put(t, "again$:\n");
    if (local)
        put(t, " ld.local.u32 %left, [count];\n");
    put(t, DONE_IF_NONE_LEFT);
    put_address(t, "%left");
    if (p->way == BY_LOOK)
        put(t, " call (%v), look, (%addr, %scratch, %t);\n");
    else
        put_load(t);
    if (p->way == BY_FLAG)
        put(t,
            " mov.u32 %s, 0;\n setp.ge.s32 %p, %v, 0;\n @%p bra flat$;\n mov.u32 %s, 1;\nflat$:\n setp.eq.u32 %p, %s, 0;\n @%p bra skip$;\n");
    else
        put(t, IF_NOT_READY("skip$"));
    put(t, TAKE);
    if (local)
        put(t, " st.local.u32 [count], %left;\n");
    put(t, "skip$:\n bra again$;\n");
}

/* All that the thread waits for is looked at in each round, and nothing is kept of a round that did not find all of it.
 */
static void put_all(const struct text *t)
{
    put(t, DONE_IF_NONE_LEFT
        " mov.u32 %s, 0;\nagain$:\n mov.u32 %x, %sum;\n mov.u32 %n, %left;\neach$:\n setp.eq.u32 %p, %n, 0;\n @%p bra all$;\n");
    put_address(t, "%n");
    put_load(t);
    put(t,
        IF_NOT_READY(
            "check$") " add.u32 %x, %x, %v;\n sub.u32 %n, %n, 1;\n bra each$;\nall$:\n mov.u32 %sum, %x;\n mov.u32 %s, 1;\n"
                      "check$:\n setp.eq.u32 %p, %s, 0;\n @%p bra again$;\n");
}

static void put_state(const struct text *t)
{
    put(t,
        " setp.eq.u32 %p, %left, 0;\n selp.u32 %s, 2, 0, %p;\nround$:\nstates$: .branchtargets look$, take$, done$;\n brx.idx %s, states$;\nlook$:\n");
    put_address(t, "%left");
    put_load(t);
    put(t, IF_NOT_READY("round$") " mov.u32 %s, 1;\n bra round$;\ntake$:\n" TAKE
                                  " setp.eq.u32 %p, %left, 0;\n selp.u32 %s, 2, 0, %p;\n bra round$;\n");
}

/* An inner loop that looks three times at most. */
static void put_rounds(const struct text *t)
{
    put(t, "again$:\n" DONE_IF_NONE_LEFT);
    put_address(t, "%left");
    put(t, " mov.u32 %n, 0;\ninner$:\n");
    put_load(t);
    put(t,
        " add.u32 %n, %n, 1;\n setp.eq.u32 %p, %v, 0;\n setp.lt.u32 %c, %n, 3;\n and.pred %c, %c, %p;\n @%c bra inner$;\n @%p bra again$;\n" TAKE
        " bra again$;\n");
}

/* For each word a loop of its own, or a call that waits. */
static void put_values(const struct text *t)
{
    put(t, "next$:\n" DONE_IF_NONE_LEFT);
    put_address(t, "%left");
    if (t->p->way == BY_WAIT) {
        put(t, " call (%v), wait, (%addr, %scratch, %t);\n");
    } else {
        put(t, "again$:\n");
        put_load(t);
        if (t->p->way == BY_TABLE)
            put(t, " shr.u32 %x, %v, 31;\nways$: .branchtargets again$, on$;\n brx.idx %x, ways$;\non$:\n");
        else
            put(t, IF_NOT_READY("again$"));
    }
    put(t, TAKE " bra next$;\n");
}

/* The count is lowered in every round, by 0 or 1; or the instruction that lowers it has a guard; or what the loop asks
 * for is a predicate. */
static void put_predicates(const struct text *t)
{
    if (t->p->way == BY_PREDICATE)
        put(t, " setp.eq.u32 %c, %left, 0;\n@%c bra done$;\n");
    put(t, "again$:\n");
    if (t->p->way != BY_PREDICATE)
        put(t, DONE_IF_NONE_LEFT);
    put_address(t, "%left");
    put_load(t);
    switch (t->p->way) {
    case BY_CHOICE:
        put(t,
            " setp.ne.u32 %p, %v, 0;\n selp.u32 %x, 1, 0, %p;\n add.u32 %sum, %sum, %v;\n sub.u32 %left, %left, %x;\n bra again$;\n");
        break;
    case BY_GUARD:
        put(t, " setp.ne.u32 %p, %v, 0;\n @%p add.u32 %sum, %sum, %v;\n @%p sub.u32 %left, %left, 1;\n bra again$;\n");
        break;
    default:
        put(t, IF_NOT_READY("skip$") TAKE " setp.eq.u32 %c, %left, 0;\nskip$:\n @!%c bra again$;\n");
        break;
    }
}

/* The thread leaves the kernel from inside of the loop. */
static void put_exit(const struct text *t)
{
    put(t, "again$:\n setp.ne.u32 %p, %left, 0;\n @%p bra look$;\n");
    put_publish(t);
    put(t, " exit;\nlook$:\n");
    put_address(t, "%left");
    put_load(t);
    put(t, IF_NOT_READY("again$") TAKE " bra again$;\n");
}

static void put_waiting(const struct text *t)
{
    switch (t->p->way) {
    case BY_ALL:
        put_all(t);
        break;
    case BY_STATE:
        put_state(t);
        break;
    case BY_ROUNDS:
        put_rounds(t);
        break;
    case BY_VALUE:
    case BY_WAIT:
    case BY_TABLE:
        put_values(t);
        break;
    case BY_CHOICE:
    case BY_GUARD:
    case BY_PREDICATE:
        put_predicates(t);
        break;
    case BY_EXIT:
        put_exit(t);
        break;
    default:
        put_counts(t);
        break;
    }
    put(t, "done$:\n");
}

static void put_functions(struct text *t)
{
    if (t->p->way != BY_LOOK && t->p->way != BY_WAIT)
        return;
    put(t, ".func (.reg .b32 %v) @@(.reg .b64 %addr, .reg .b64 %scratch, .reg .b32 %t)\n{\n .reg .pred %p;\nagain:\n",
        t->p->way == BY_LOOK ? "look" : "wait");
    put_load(t);
    if (t->p->way == BY_WAIT)
        put(t, IF_NOT_READY("again"));
    put(t, " ret;\n}\n");
}

/* Registers that depend on the thread; shared words begin as 0. */
static void put_head(const struct text *t)
{
    const struct polls *p = t->p;
    bool shared = p->grain == SHARED_GRAIN;
    put(t,
        ".visible .entry polls(.param .u64 words, .param .u64 deps, .param .u64 counts, .param .u64 own, .param .u64 out, .param .u64 scratch)\n{\n"
        " .reg .b32 %t, %at, %left, %v, %sum, %own, %k, %s, %x, %n, %phase, %mine, %all, %place;\n .reg .b64 %words, %deps, %counts, %outs, %base, %word, %out, %addr, %dp, %q, %scratch;\n"
        " .reg .pred %p, %c, %odd;\n .local .align 4 .u32 count;\n");
    if (shared)
        fprintf(t->file, " .shared .align 4 .u32 mine[%u];\n", p->threads * p->phases);
    put(t,
        " ld.param.u64 %base, [words];\n ld.param.u64 %deps, [deps];\n ld.param.u64 %counts, [counts];\n ld.param.u64 %outs, [out];\n ld.param.u64 %scratch, [scratch];\n"
        " mov.u32 %mine, %tid.x;\n mov.u32 %k, %ctaid.x;\n mov.u32 %n, %ntid.x;\n mad.lo.u32 %t, %k, %n, %mine;\n mov.u32 %all, %nctaid.x;\n mul.lo.u32 %all, %all, %n;\n"
        " ld.param.u64 %q, [own];\n mul.wide.u32 %word, %t, 4;\n add.u64 %q, %q, %word;\n ld.global.u32 %own, [%q];\n add.u64 %scratch, %scratch, %word;\n mov.u32 %phase, 0;\n");
    if (shared) {
        put(t, p->generic ? " mov.u64 %base, mine;\n cvta.shared.u64 %base, %base;\n" : " mov.u64 %base, mine;\n");
        for (u32 phase = 0; phase < p->phases; phase++)
            fprintf(
                t->file,
                " add.u32 %%k, %%mine, %u;\n mul.wide.u32 %%q, %%k, 4;\n add.u64 %%q, %%base, %%q;\n st%s.u32 [%%q], 0;\n",
                phase * p->threads, space_of(p));
    }
    if (p->meets_before)
        put(t, " bar.sync 0;\n");
}

void put_polls(FILE *file, const struct polls *p)
{
    struct text t = {file, p, 'a'};
    bool shared = p->grain == SHARED_GRAIN;
    put(&t, ".version 7.0\n.target sm_70\n.address_size 64\n");
    put_functions(&t);
    put_head(&t);
    put(&t,
        "phase:\n mad.lo.u32 %at, %phase, %all, %t;\n mul.wide.u32 %q, %at, 4;\n add.u64 %out, %outs, %q;\n add.u64 %word, %counts, %q;\n ld.global.u32 %left, [%word];\n"
        " mul.wide.u32 %dp, %at, 12;\n add.u64 %dp, %deps, %dp;\n");
    put(&t, shared ? " mad.lo.u32 %place, %phase, %n, %mine;\n mul.wide.u32 %q, %place, 4;\n" : "");
    put(&t, " add.u64 %word, %base, %q;\n add.u32 %sum, %own, %phase;\n");
    if (p->parted) {
        put(&t, " and.b32 %k, %t, 1;\n setp.ne.u32 %odd, %k, 0;\n @%odd bra odd;\n");
        put_waiting(&t);
        put(&t, " bra both;\nodd:\n");
        t.arm = 'b';
    }
    put_waiting(&t);
    put(&t, "both:\n");
    if (p->way != BY_EXIT)
        put_publish(&t);
    if (p->meets_behind) {
        put(&t,
            " bar.sync 0;\n add.u32 %k, %mine, 1;\n mov.u32 %x, %ntid.x;\n rem.u32 %k, %k, %x;\n sub.u32 %k, %k, %mine;\n mul.wide.s32 %q, %k, 4;\n add.u64 %addr, %word, %q;\n");
        fprintf(file,
                " ld.volatile%s.u32 %%v, [%%addr];\n add.u32 %%sum, %%sum, %%v;\n st.global.u32 [%%out], %%sum;\n",
                space_of(p));
    }
    put(&t, " mov.u32 %n, %ntid.x;\n add.u32 %phase, %phase, 1;\n");
    fprintf(file, " setp.lt.u32 %%p, %%phase, %u;\n @%%p bra phase;\n ret;\n}\n", p->phases);
}
