/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner: chooses cases, gives them child processes, and turns what comes
 * back into lines.
 *
 * The parent never calls the driver.  A child takes a row of cases and writes
 * "@NAME" before and "=ANSWER" after each.  Silence for CASE_LIMIT_MS, or an
 * early end, belongs to the case that began last; the rest of the row
 * goes to a new child.  So every case has exactly one line, whatever happens.
 */
#include "gold.h"
#include "gold_peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_SIZE = 4096 };

#ifndef CASE_LIMIT_MS
#define CASE_LIMIT_MS 20000
#endif

/* A child as the parent sees it. */
struct child {
    pid_t pid;
    int fd;
    char text[2 * ANSWER_SIZE];
    size_t length;
};

static FILE *times; /* --times: where to say how long each case took */

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void write_line(int fd, char mark, const char *text)
{
    char line[ANSWER_SIZE + 2];
    int length = snprintf(line, sizeof line, "%c%s\n", mark, text);
    for (int done = 0; done < length;) {
        ssize_t step = write(fd, line + done, (size_t)(length - done));
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            _exit(3);
        done += (int)step;
    }
}

static void child_run(int fd, struct gold_case **row, size_t count)
{
    static char answer[ANSWER_SIZE];
    dup2(STDERR_FILENO, STDOUT_FILENO);
    gold_child_begin(row[0]->bare);
    for (size_t i = 0; i < count; i++) {
        write_line(fd, '@', row[i]->name);
        gold_run(row[i], answer, sizeof answer);
        write_line(fd, '=', answer);
        if (i + 1 < count && !gold_child_reset())
            _exit(2); /* the context is beyond use: the parent starts afresh */
    }
    _exit(0);
}

static bool child_start(struct child *child, struct gold_case **row, size_t count)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    child->pid = fork();
    if (child->pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (child->pid == 0) {
        close(ends[0]);
        child_run(ends[1], row, count);
    }
    close(ends[1]);
    child->fd = ends[0];
    child->length = 0;
    return true;
}

/* Gets one line of the child into LINE: 1, or 0 at its end, or -1 when time is up. */
static int child_line(struct child *child, char *line, size_t size, long long deadline)
{
    for (;;) {
        char *end = memchr(child->text, '\n', child->length);
        if (end) {
            *end = '\0';
            snprintf(line, size, "%s", child->text);
            size_t used = (size_t)(end + 1 - child->text);
            memmove(child->text, end + 1, child->length - used);
            child->length -= used;
            return 1;
        }
        long long left = deadline - now_ms();
        if (left <= 0)
            return -1;
        struct pollfd wait = {.fd = child->fd, .events = POLLIN};
        int ready = poll(&wait, 1, (int)left);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return -1;
        ssize_t got = read(child->fd, child->text + child->length, sizeof child->text - child->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        child->length += (size_t)got;
    }
}

/* Says how a child that left CASE unfinished came to its end. */
static void print_end(const struct gold_case *test, bool late, int status)
{
    if (late)
        printf("%s: timeout\n", test->name);
    else if (WIFSIGNALED(status))
        printf("%s: signal %d\n", test->name, WTERMSIG(status));
    else
        printf("%s: exit %d\n", test->name, WEXITSTATUS(status));
}

/* How long a case took: a child's first one with its start, its last one with its end. */
static void print_time(const struct gold_case *test, long long since)
{
    if (times) {
        fprintf(times, "%lld %s\n", now_ms() - since, test->name);
        fflush(times);
    }
}

/* Runs a row in one child; returns how many of its cases have their line now. */
static size_t row_run(struct gold_case **row, size_t count)
{
    struct child child;
    long long since = now_ms();
    if (!child_start(&child, row, count)) {
        fprintf(stderr, "golden_cases: cannot start a child: %s\n", strerror(errno));
        exit(2);
    }
    static char line[2 * ANSWER_SIZE];
    size_t done = 0;
    bool begun = false, late = false;
    while (done < count) {
        int got = child_line(&child, line, sizeof line, now_ms() + CASE_LIMIT_MS);
        if (got <= 0) {
            late = got < 0;
            break;
        }
        if (line[0] == '@') {
            begun = true;
        } else {
            printf("%s: %s\n", row[done]->name, line + 1);
            begun = false;
            if (++done < count) {
                print_time(row[done - 1], since);
                since = now_ms();
            }
        }
    }
    if (late)
        kill(child.pid, SIGKILL);
    close(child.fd);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        ;
    /* A child that ended before its first case began would end so for ever. */
    if (done < count && (begun || late || done == 0)) {
        print_end(row[done], late, status);
        done++;
    }
    if (done > 0)
        print_time(row[done - 1], since);
    fflush(stdout);
    return done;
}

static void cases_run(struct gold_case **cases, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        if (!cases[i]->alone && !cases[i]->bare)
            while (end < count && !cases[end]->alone && !cases[end]->bare)
                end++;
        i += row_run(cases + i, end - i);
    }
}

static int usage(FILE *out)
{
    fprintf(out, "usage: golden_cases [--list] [--allow] [--filter TEXT] [--shard I/N] [--times FILE] [--child NAME]\n"
                 "  --list         names of the cases\n"
                 "  --allow        cases with more than one right answer: name, answers, reason\n"
                 "  --filter TEXT  only cases whose name contains TEXT (may be repeated)\n"
                 "  --shard I/N    part I (from 0) of N of the work, to run parts side by side\n"
                 "  --times FILE   add to FILE how many milliseconds each case took\n"
                 "  --child NAME   one case in this very process, for a debugger\n");
    return out == stdout ? 0 : 2;
}

static int run_here(const char *name)
{
    static char answer[ANSWER_SIZE];
    for (struct gold_case *test = gold_first(); test; test = test->next) {
        if (strcmp(test->name, name) != 0)
            continue;
        gold_child_begin(test->bare);
        gold_run(test, answer, sizeof answer);
        printf("%s: %s\n", test->name, answer);
        return 0;
    }
    fprintf(stderr, "golden_cases: no case is called %s\n", name);
    return 2;
}

static bool chosen(const char *name, char **filters, int count)
{
    for (int i = 0; i < count; i++)
        if (strstr(name, filters[i]))
            return true;
    return count == 0;
}

/* How many devices the driver has; asked in a child, because the parent never calls the driver. */
static int device_count(void)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int count = gold_device_count();
        _exit(count < 100 ? count : 0);
    }
    if (pid < 0)
        return 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* False for a case that needs more devices than there are. */
static bool enough_devices(const struct gold_case *test)
{
    static int count = -1;
    if (test->devices < 2)
        return true;
    if (count < 0)
        count = device_count();
    return count >= test->devices;
}

/*
 * Keeps what shard PART of PARTS runs: the first takes the ordinary cases, the
 * others share those that need a process each, which take most of the time.
 */
static size_t keep_shard(struct gold_case **cases, size_t count, unsigned part, unsigned parts)
{
    size_t kept = 0, alone = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned owner = cases[i]->alone || cases[i]->bare ? 1 + (unsigned)(alone++ % (parts - 1)) : 0;
        if (owner == part)
            cases[kept++] = cases[i];
    }
    return kept;
}

int main(int argc, char **argv)
{
    bool list = false, allow = false;
    int filters = 0;
    unsigned part = 0, parts = 0;
    static char *filter[64]; /* cases end the process anywhere: nothing of this function's is left over then */
    /* Loading a kernel lazily may wait for a stream that a case keeps busy. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--list"))
            list = true;
        else if (!strcmp(argv[i], "--allow"))
            allow = true;
        else if (!strcmp(argv[i], "--filter") && i + 1 < argc && filters < 64)
            filter[filters++] = argv[++i];
        else if (!strcmp(argv[i], "--shard") && i + 1 < argc && sscanf(argv[i + 1], "%u/%u", &part, &parts) == 2 &&
                 parts > 1 && part < parts)
            i++;
        else if (!strcmp(argv[i], "--times") && i + 1 < argc)
            times = fopen(argv[++i], "a");
        else if (!strcmp(argv[i], "--child") && i + 1 < argc)
            return run_here(argv[++i]);
        else if (!strcmp(argv[i], "--peer") || !strcmp(argv[i], "--peer-bare"))
            return gold_peer_main(argv[i][6] != '\0'); /* started by a case, see gold_peer.h */
        else
            return usage(strcmp(argv[i], "--help") ? stderr : stdout);
    }
    size_t total = 0, count = 0;
    for (struct gold_case *test = gold_first(); test; test = test->next)
        total++;
    struct gold_case **cases = calloc(total + 1, sizeof *cases);
    if (!cases)
        return 2;
    for (struct gold_case *test = gold_first(); test; test = test->next)
        if (chosen(test->name, filter, filters) && enough_devices(test))
            cases[count++] = test;
    if (parts > 0)
        count = keep_shard(cases, count, part, parts);
    for (size_t i = 0; i < count; i++) {
        if (list)
            printf("%s\n", cases[i]->name);
        if (allow && cases[i]->allow)
            printf("%s\t%s\t%s\n", cases[i]->name, cases[i]->allow, cases[i]->why ? cases[i]->why : "");
    }
    if (!list && !allow)
        cases_run(cases, count);
    free(cases);
    return 0;
}
