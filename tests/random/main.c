/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds to programs to verdicts.
 *
 *     random_programs [options]
 *         --from S, --seeds N   the seeds S to S + N - 1 (default: 1, 100)
 *         --seed S              this one; the same as --from S --seeds 1
 *         --length L            operations of a program, about (default: between 30 and 400, drawn)
 *         --seconds T           stop after so long
 *         --repeat K            run each program so many times
 *         --features M          a sum of the numbers in program.h: what may be used
 *         --print               show the programs
 *         --dry                 draw and check them, but run nothing
 *         --drop                self-check: leave out one wait that is needed, and see that the checker finds that
 * (runs nothing)
 *         --drop-run            the same, and run what is left: how many of these are seen to go wrong?
 *         --places              call from a place in the code for each operation of each program (places.c), and say
 * where these are
 *         --drop-told           with --places: leave out one wait that is needed by an access that a driver can see,
 * run the rest once, look at no contents, and say which two operations nothing orders
 *         --in-turn             with --drop-told: threads take turns, so that works come to the streams as they were
 * drawn, and that counts as their order (not with held streams: --features)
 *         --scarce P            (only random_programs_inside) let one of the driver's allocations fail in P of 100
 * calls; they say so, and are called again
 *         --shrink              take operations out of a program that fails for as long as it still does, --seconds T
 * at most
 *         --patience T          after how many seconds a program counts as hanging (default: 60)
 *         --here                shrink in one process: quicker where a process begins slowly; for programs that neither
 * crash nor hang
 *
 * Exits with 0 if all is well, 1 after a difference, 2 if there is no driver, 3 if a program hangs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

struct options {
    uint64_t from, seeds;
    int length, seconds, repeat, patience;
    unsigned features;
    bool print, dry, drop, drop_run, drop_told, in_turn, places, shrink, here;
};

static struct program program, reduced;
static struct model model;
static struct order *order;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int length_of(const struct options *options, uint64_t seed)
{
    struct dice dice = {seed ^ 0x5bd1e995u};
    return options->length ? options->length : 30 + (int)dice_below(&dice, 370);
}

/* On SIGALRM: says where it hangs, with what a signal handler may use. */
static void hangs(int signal)
{
    char text[400];
    (void)signal;
    if (run_current) {
        int used = snprintf(text, sizeof text, "random: seed %llu hangs; threads are at operations",
                            (unsigned long long)run_current->program->seed);
        for (int i = 0; i < run_current->program->threads; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, " %d", atomic_load(&run_current->at[i]));
        used += snprintf(text + used, sizeof text - (size_t)used, "\n");
        if (write(2, text, (size_t)used) < 0)
            _exit(4);
    }
    _exit(3);
}

static void tell_command(const struct options *options)
{
    const char *chaos = getenv("MILLRACE_CHAOS");
    fprintf(stderr, "random: to repeat: %s%s%srandom_programs --seed %llu --features %u",
            chaos ? "MILLRACE_CHAOS=" : "", chaos ? chaos : "", chaos ? " " : "", (unsigned long long)program.seed,
            options->features);
    if (options->length)
        fprintf(stderr, " --length %d", options->length);
    fprintf(stderr, " --repeat 100\n");
}

/* Draws the program of a seed, and looks at it once more from the start: what the drawer thinks is in order must be. */
static void draw(const struct options *options, uint64_t seed)
{
    struct miss miss;
    program_draw(&program, seed, options->features, length_of(options, seed));
    int wrong = program_check(order, &program, &miss);
    if (wrong < 0)
        return;
    fprintf(stderr, "random: seed %llu: the tester drew a program that is not in order: %s\n", (unsigned long long)seed,
            miss.what);
    op_print(&program, wrong);
    exit(4);
}

static bool runs_well(const struct program *what, const struct options *options, bool loud)
{
    for (int i = 0; i < options->repeat; i++) {
        alarm((unsigned)options->patience);
        int failures = run_program(what, &model, loud);
        alarm(0);
        if (failures)
            return false;
    }
    return true;
}

/* The same in a process of its own, which may crash or hang. */
static bool child_runs_well(struct program *what, const struct options *options)
{
    if (options->here) {
        model_end(&model);
        model_run(&model, what);
        return runs_well(what, options, false);
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)run_begin(options->features);
        model_run(&model, what);
        _exit(runs_well(what, options, false) ? 0 : 1);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What the driver can, found out by a process of its own. */
static unsigned child_features(unsigned wanted)
{
    int ends[2];
    unsigned found = 0;
    fflush(NULL);
    if (pipe(ends) != 0)
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        found = run_begin(wanted);
        _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 4);
    }
    close(ends[1]);
    if (read(ends[0], &found, sizeof found) != (ssize_t)sizeof found)
        exit(2);
    close(ends[0]);
    (void)waitpid(child, NULL, 0);
    return found;
}

/* The program without some of its operations. */
static void leave_out(const struct program *from, struct program *to, int first, int count)
{
    memcpy(to, from, sizeof *to);
    memmove(&to->op[first], &to->op[first + count], (size_t)(to->count - first - count) * sizeof to->op[0]);
    to->count -= count;
}

static void shrink(const struct options *options, double deadline)
{
    static struct program best;
    struct miss miss;
    memcpy(&best, &program, sizeof best);
    if (child_runs_well(&best, options)) {
        fprintf(stderr, "random: seed %llu runs well; nothing to shrink (more --repeat?)\n",
                (unsigned long long)program.seed);
        return;
    }
    for (int step = best.count / 2; step >= 1; step = step == 1 ? 0 : step / 2) {
        for (int first = 0; first + step <= best.count && seconds() < deadline;) {
            leave_out(&best, &reduced, first, step);
            if (program_check(order, &reduced, &miss) < 0 && !child_runs_well(&reduced, options))
                memcpy(&best, &reduced, sizeof best);
            else
                first += step;
        }
    }
    fprintf(stderr, "random: seed %llu still fails with these %d operations (%d words a cell, %d threads):\n",
            (unsigned long long)best.seed, best.count, best.words, best.threads);
    for (int i = 0; i < best.count; i++)
        op_print(&best, i);
    if (!options->here)
        return;
    model_end(&model);
    model_run(&model, &best);
    for (int i = 0, failed = 0; i < 20 * options->repeat && failed < 5; i++)
        failed += run_program(&best, &model, true) != 0;
}

/* A query that said that all is done, by chance or not, is as good as a wait. */
static void take_queries(struct program *ran)
{
    for (int i = 0; i < ran->count; i++)
        if (run_saw[i])
            ran->op[i].kind = ran->op[i].kind == OP_EVENT_QUERY ? OP_EVENT_POLL : OP_STREAM_POLL;
}

struct totals {
    double begin;
    uint64_t programs, operations, failed, dropped, found, seen, kinds[OP_KINDS];
};

/* Leaves out one needed wait. */
static void drop(const struct options *options, struct totals *totals)
{
    struct dice dice = {program.seed};
    struct miss miss;
    int needed = 0, chosen = -1;
    for (int i = 0; i < program.count; i++)
        if (program.op[i].needed && dice_below(&dice, (unsigned)++needed) == 0)
            chosen = i;
    if (chosen < 0)
        return;
    leave_out(&program, &reduced, chosen, 1);
    totals->dropped++;
    if (program_check(order, &reduced, &miss) >= 0) {
        totals->found++;
    } else {
        fprintf(stderr, "random: seed %llu: nothing was found after this was left out:\n",
                (unsigned long long)program.seed);
        op_print(&program, chosen);
    }
    if (!options->drop_run)
        return;
    for (int i = 0; i < program.count; i++) /* what checks expect is what the whole program would give */
        if (i != chosen)
            reduced.op[i - (i > chosen)].expect = program.op[i].kind == OP_CHECK ? program.op[i].expect : 0;
    totals->seen += !child_runs_well(&reduced, options);
}

/* There if this program was compiled for observers to be told what the host touches. */
extern char millrace_host __attribute__((weak));

/* A value that a stream writes is an atomic access, as those of kernels are: such pairs count as meant. */
static bool are_atomic(const struct op *one, const struct op *other)
{
    return one->kind == OP_VALUE && (other->kind == OP_ADD || other->kind == OP_LAUNCH);
}

/* Pairs that are told: those with this later operation, and whether a certain one is among them. */
struct pairs {
    int later, earlier_wanted, later_wanted, count;
    bool found, silent;
};

static void tell_pair(int earlier, void *data)
{
    struct pairs *pairs = data;
    if (!pairs->silent)
        printf(" %d-%d", earlier, pairs->later);
    pairs->count++;
    pairs->found = pairs->found || (earlier == pairs->earlier_wanted && pairs->later == pairs->later_wanted);
}

/* All pairs of operations of the program that nothing orders, though the result depends on their order. */
static void find_pairs(const struct program *what, struct pairs *pairs)
{
    order_begin(order, what);
    for (pairs->later = 0; pairs->later < what->count; pairs->later++) {
        order_races(order, pairs->later, tell_pair, pairs);
        order_take(order, &what->op[pairs->later], pairs->later);
    }
}

/* Tells them. What orders this one? */
static const char *tell_unordered(const struct program *what, bool in_turn, int earlier, int later)
{
    struct pairs pairs = {.earlier_wanted = earlier, .later_wanted = later}, all = pairs;
    all.silent = true;
    find_pairs(what, &all);
    order_by_arrival = in_turn;
    printf("random: seed %llu: unordered", (unsigned long long)what->seed);
    find_pairs(what, &pairs);
    order_by_arrival = false;
    printf("\n");
    if (all.count > 0 && pairs.count == 0)
        printf("random: seed %llu: the order of arrival orders all %d\n", (unsigned long long)what->seed, all.count);
    return pairs.found ? "nothing orders" : all.found ? "arrival orders" : "a query orders";
}

/* Leaves out a needed wait, and runs the rest. If what the host touches can't be seen, the wait is one that works need.
 */
static void drop_told(const struct options *options, struct totals *totals)
{
    static int waits[OPS];
    struct dice dice = {program.seed};
    struct miss miss = {.op = -1};
    int needed = 0, wrong = -1, chosen = -1;
    for (int i = 0; i < program.count; i++)
        if (program.op[i].needed)
            waits[needed++] = i;
    while (wrong < 0 && needed > 0) {
        unsigned drawn = dice_below(&dice, (unsigned)needed);
        chosen = waits[drawn];
        waits[drawn] = waits[--needed];
        leave_out(&program, &reduced, chosen, 1);
        wrong = program_check(order, &reduced, &miss);
        if (wrong >= 0 && miss.op >= 0 &&
            (are_atomic(&reduced.op[miss.op], &reduced.op[wrong]) ||
             are_atomic(&reduced.op[wrong], &reduced.op[miss.op])))
            wrong = -1;
        if (wrong >= 0 && (miss.op < 0 || !miss.data || ((miss.by_host || miss.host) && !&millrace_host)))
            wrong = -1;
    }
    if (wrong < 0) {
        printf("random: seed %llu: no wait that an access needs\n", (unsigned long long)program.seed);
        return;
    }
    for (int i = 0; i < reduced.count && options->print; i++)
        op_print(&reduced, i);
    fflush(stdout);
    totals->dropped++;
    totals->found++;
    alarm((unsigned)options->patience);
    totals->seen += run_program(&reduced, &model, false) != 0;
    alarm(0);
    take_queries(&reduced);
    const char *orders = tell_unordered(&reduced, options->in_turn, miss.op, wrong);
    printf("random: seed %llu: left out %s, number %d; %s %d (%s) and %d (%s)\n", (unsigned long long)program.seed,
           op_name(program.op[chosen].kind), chosen, orders, miss.op, op_name(reduced.op[miss.op].kind), wrong,
           op_name(reduced.op[wrong].kind));
}

static bool one(const struct options *options, uint64_t seed, struct totals *totals)
{
    draw(options, seed);
    model_run(&model, &program);
    totals->programs++;
    totals->operations += (uint64_t)program.count * (uint64_t)(options->dry || options->drop ? 1 : options->repeat);
    for (int i = 0; i < program.count; i++)
        totals->kinds[program.op[i].kind]++;
    for (int i = 0; i < program.count && options->print && !options->drop_told; i++)
        op_print(&program, i);
    if (options->places)
        run_program_number = (unsigned)totals->programs;
    bool well = true;
    if (options->drop_told)
        drop_told(options, totals);
    else if (options->drop)
        drop(options, totals);
    else if (options->shrink)
        shrink(options, options->seconds ? totals->begin + options->seconds : 1e300);
    else if (!options->dry)
        well = runs_well(&program, options, true);
    model_end(&model);
    if (!well) {
        totals->failed++;
        tell_command(options);
    }
    return well;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text ? text : "", &end, 10);
    if (!text || *end || end == text) {
        fprintf(stderr, "random: '%s' is not a number\n", text ? text : "");
        exit(4);
    }
    return value;
}

static struct options read_options(char **argv)
{
    struct options options = {.from = 1, .seeds = 100, .repeat = 1, .patience = 60, .features = CAN_ALL};
    for (char **at = argv + 1; *at; at++) {
        if (!strcmp(*at, "--from") || !strcmp(*at, "--seed")) {
            options.seeds = (*at)[2] == 's' ? 1 : options.seeds;
            options.from = number(*++at);
        } else if (!strcmp(*at, "--seeds")) {
            options.seeds = number(*++at);
        } else if (!strcmp(*at, "--length")) {
            options.length = (int)number(*++at);
        } else if (!strcmp(*at, "--seconds")) {
            options.seconds = (int)number(*++at);
        } else if (!strcmp(*at, "--repeat")) {
            options.repeat = (int)number(*++at);
        } else if (!strcmp(*at, "--patience")) {
            options.patience = (int)number(*++at);
        } else if (!strcmp(*at, "--features")) {
            options.features = (unsigned)number(*++at);
        } else if (!strcmp(*at, "--scarce")) {
            run_scarce = run_can_be_scarce() ? (unsigned)number(*++at) : 0;
            if (!run_scarce) {
                fprintf(stderr, "random: --scarce needs a driver that is part of the program\n");
                exit(4);
            }
        } else if (!strcmp(*at, "--print")) {
            options.print = true;
        } else if (!strcmp(*at, "--dry")) {
            options.dry = true;
        } else if (!strcmp(*at, "--drop")) {
            options.drop = true;
        } else if (!strcmp(*at, "--drop-run")) {
            options.drop = options.drop_run = true;
        } else if (!strcmp(*at, "--places")) {
            options.places = true;
        } else if (!strcmp(*at, "--drop-told")) {
            options.drop_told = true;
        } else if (!strcmp(*at, "--in-turn")) {
            options.in_turn = run_in_turn = true;
        } else if (!strcmp(*at, "--shrink")) {
            options.shrink = true;
        } else if (!strcmp(*at, "--here")) {
            options.here = true;
        } else {
            fprintf(stderr, "random: unknown option %s; the head of tests/random/main.c lists them\n", *at);
            exit(4);
        }
        if (!*at)
            break;
    }
    if (options.places && options.seeds > RUN_PLACES_PROGRAMS) {
        fprintf(stderr, "random: there are places for %d programs at most\n", RUN_PLACES_PROGRAMS);
        exit(4);
    }
    if (options.length > OPS - 300)
        options.length = OPS - 300;
    return options;
}

int main(int argc, char **argv)
{
    (void)argc;
    struct options options = read_options(argv);
    double begin = seconds();
    struct totals totals = {.begin = begin};
    order = order_new();
    if (!order)
        return 4;
    signal(SIGALRM, hangs);
    if (options.drop_run || (options.shrink && !options.here))
        options.features = child_features(options.features);
    else if (!options.dry && !options.drop)
        options.features = run_begin(options.features);
    if (options.places)
        run_tell_places();
    uint64_t live = 0;
    for (uint64_t i = 0; i < options.seeds; i++) {
        if (i == options.seeds / 2)
            live = run_live_allocations();
        if (options.seconds && seconds() - begin > options.seconds)
            break;
        if (!one(&options, options.from + i, &totals))
            break;
    }
    printf("random: %llu operations in %llu programs (from seed %llu, features %u) in %.1f s: %llu failed\n",
           (unsigned long long)totals.operations, (unsigned long long)totals.programs, (unsigned long long)options.from,
           options.features, seconds() - begin, (unsigned long long)totals.failed);
    if (run_scarce)
        printf("random: %lu calls failed for want of memory; %lld allocations more at the end than in the middle\n",
               (unsigned long)run_scarce_failures, (long long)(run_live_allocations() - live));
    if (options.drop || options.drop_told)
        printf("random: %llu programs with a needed wait left out: the checker found %llu, runs %llu\n",
               (unsigned long long)totals.dropped, (unsigned long long)totals.found, (unsigned long long)totals.seen);
    for (int i = 0; i < OP_KINDS && totals.programs > 1; i++)
        if (totals.kinds[i])
            printf(" %s %llu", op_name(i), (unsigned long long)totals.kinds[i]);
    printf("\n");
    return totals.failed || totals.found < totals.dropped ? 1 : 0;
}
