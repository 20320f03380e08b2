/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes that are kept, compared and told. */
#include "outcomes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct outcome *outcomes_add(struct exploration *all)
{
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 64;
        struct outcome *more = realloc(all->outcomes, room * sizeof *more);
        if (!more) {
            fputs("millrace check: memory is short\n", stderr);
            return NULL;
        }
        all->outcomes = more;
        all->room = room;
    }
    all->outcomes[all->count] = (struct outcome){0};
    return &all->outcomes[all->count++];
}

static bool differs(const struct exploration *all, const struct outcome *outcome)
{
    return outcome->out_of_time || outcome->status != all->eager.status ||
           (!all->output_varies && outcome->sum != all->eager.sum);
}

static bool same_end(const struct exploration *all, const struct outcome *one, const struct outcome *other)
{
    return one->out_of_time == other->out_of_time && one->status == other->status &&
           (all->output_varies || one->sum == other->sum);
}

static const char *shown(const struct outcome *outcome)
{
    return *outcome->schedule ? outcome->schedule : "plain";
}

static void tell_group(const struct exploration *all, size_t first)
{
    const struct outcome *outcome = &all->outcomes[first], *again = outcome;
    size_t times = 0, named = 0;
    for (size_t i = first; i < all->count; i++) {
        times += same_end(all, &all->outcomes[i], outcome);
        if (!*again->schedule && same_end(all, &all->outcomes[i], outcome))
            again = &all->outcomes[i]; /* a plain run need not end so again */
    }
    if (outcome->out_of_time)
        printf("%zu schedule%s: did not end in time", times, times == 1 ? "" : "s");
    else
        printf("%zu schedule%s: exit status %d", times, times == 1 ? "" : "s", outcome->status);
    if (*outcome->line)
        printf(", and its output has: %s", outcome->line);
    printf("\n ");
    for (size_t i = first; i < all->count && named < 8; i++)
        if (same_end(all, &all->outcomes[i], outcome)) {
            printf(" %s", shown(&all->outcomes[i]));
            named++;
        }
    printf("%s\n", times > named ? " ..." : "");
    if (*again->schedule)
        printf("  again: MILLRACE_WORKERS=1 MILLRACE_OBSERVE=schedule:%s millrace run -- %s\n", again->schedule,
               all->program ? all->program : "PROGRAM");
}

static int by_schedule(const void *one, const void *other)
{
    const struct outcome *a = one, *b = other;
    size_t length = strlen(a->schedule), with = strlen(b->schedule);
    return length != with ? (length < with ? -1 : 1) : strcmp(a->schedule, b->schedule);
}

size_t outcomes_tell(struct exploration *all)
{
    size_t differing = 0;
    if (all->count > 0)
        qsort(all->outcomes, all->count, sizeof *all->outcomes, by_schedule);
    for (size_t i = 0; i < all->count; i++) {
        bool first = true;
        if (!differs(all, &all->outcomes[i]))
            continue;
        differing++;
        for (size_t before = 0; before < i && first; before++)
            first = !differs(all, &all->outcomes[before]) || !same_end(all, &all->outcomes[before], &all->outcomes[i]);
        if (first)
            tell_group(all, i);
    }
    printf("%zu schedules: %zu end as an eager run does (exit status %d), %zu differ\n", all->count,
           all->count - differing, all->eager.status, differing);
    if (all->output_varies)
        puts("The output of eager runs differs by itself, so exit statuses alone were compared.");
    fflush(stdout);
    return differing;
}

void outcomes_free(struct exploration *all)
{
    free(all->outcomes);
    free(all->program);
}
