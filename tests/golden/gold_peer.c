/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers: starting this program again, and asking it to run functions.
 *
 * Both processes run the same file, so a function is named by its distance
 * from a fixed one.  A request is a header and the note; a reply is a header,
 * the note and the words that the task said.
 */
#define _GNU_SOURCE
#include "gold_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PEER_IN = 3, PEER_OUT = 4, WORDS_MAX = 2048 };

struct request {
    intptr_t task; /* distance from gold_peer_main */
    size_t size;
};

struct reply {
    size_t words; /* bytes of text after the note */
};

static bool write_all(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t step = write(fd, (const char *)bytes + done, size - done);
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            return false;
        done += (size_t)step;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t step = read(fd, (char *)bytes + done, size - done);
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            return false;
        done += (size_t)step;
    }
    return true;
}

/* ---- in the case's process ---- */

static void peer_exec(int in, int out, bool bare)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Out of the way first: either may be the number that the other is to get. */
    int in_high = fcntl(in, F_DUPFD, 64), out_high = fcntl(out, F_DUPFD, 64);
    dup2(in_high, PEER_IN);
    dup2(out_high, PEER_OUT);
    for (int fd = PEER_OUT + 1; fd < 1024; fd++)
        close(fd);
    execl("/proc/self/exe", "golden_cases", bare ? "--peer-bare" : "--peer", (char *)NULL);
    _exit(127);
}

struct gold_peer gold_peer_start(bool bare)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        gold_stop("pipe");
    signal(SIGPIPE, SIG_IGN);
    struct gold_peer peer = {.to = down[1], .from = up[0]};
    peer.pid = fork();
    if (peer.pid < 0)
        gold_stop("fork");
    if (peer.pid == 0)
        peer_exec(down[0], up[1], bare);
    close(down[0]);
    close(up[1]);
    return peer;
}

static _Noreturn void peer_lost(struct gold_peer *peer)
{
    int status = 0;
    waitpid(peer->pid, &status, 0);
    if (WIFSIGNALED(status))
        say_value("peer_signal", WTERMSIG(status));
    else
        say_value("peer_exit", WEXITSTATUS(status));
    gold_stop("peer");
}

void gold_peer_send(struct gold_peer *peer, void (*task)(void *note), const void *note, size_t size)
{
    struct request request = {.task = (intptr_t)task - (intptr_t)gold_peer_main, .size = size};
    if (size > GOLD_NOTE_MAX)
        gold_stop("note");
    if (!write_all(peer->to, &request, sizeof request) || !write_all(peer->to, note, size))
        peer_lost(peer);
}

void gold_peer_receive(struct gold_peer *peer, void *note, size_t size)
{
    struct reply reply;
    char words[WORDS_MAX];
    if (!read_all(peer->from, &reply, sizeof reply) || !read_all(peer->from, note, size) ||
        !read_all(peer->from, words, reply.words))
        peer_lost(peer);
    words[reply.words] = '\0';
    if (words[0])
        say_text(words);
    if (strstr(words, "stopped:"))
        gold_stop("peer");
}

void gold_peer_ask(struct gold_peer *peer, void (*task)(void *note), void *note, size_t size)
{
    gold_peer_send(peer, task, note, size);
    gold_peer_receive(peer, note, size);
}

static void peer_wait(struct gold_peer *peer)
{
    close(peer->to);
    close(peer->from);
    int status = 0;
    while (waitpid(peer->pid, &status, 0) < 0 && errno == EINTR)
        ;
}

void gold_peer_end(struct gold_peer *peer)
{
    close(peer->to); /* its end of file */
    peer->to = -1;
    peer_wait(peer);
}

void gold_peer_kill(struct gold_peer *peer)
{
    kill(peer->pid, SIGKILL);
    peer_wait(peer);
}

/* ---- in the peer ---- */

struct errand {
    void (*task)(void *note);
    void *note;
};

static void errand_run(const struct gold_case *self)
{
    const struct errand *errand = self->data;
    errand->task(errand->note);
}

int gold_peer_main(bool bare)
{
    static _Alignas(64) char note[GOLD_NOTE_MAX];
    static char words[WORDS_MAX];
    fcntl(PEER_IN, F_SETFD, FD_CLOEXEC);
    fcntl(PEER_OUT, F_SETFD, FD_CLOEXEC);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    gold_child_begin(bare);
    struct request request;
    while (read_all(PEER_IN, &request, sizeof request) && request.size <= sizeof note &&
           read_all(PEER_IN, note, request.size)) {
        void (*task)(void *) = (void (*)(void *))((intptr_t)gold_peer_main + request.task);
        struct errand errand = {.task = task, .note = note};
        struct gold_case test = {.name = "peer", .run = errand_run, .data = &errand};
        gold_run(&test, words, sizeof words);
        struct reply reply = {.words = strlen(words)};
        if (!write_all(PEER_OUT, &reply, sizeof reply) || !write_all(PEER_OUT, note, request.size) ||
            !write_all(PEER_OUT, words, reply.words))
            return 3;
    }
    return 0;
}
