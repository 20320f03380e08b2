/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers that wait; see standby.h for what they are and standby_protocol.h for how they are spoken to.
 *
 * The table is small and its lock is only ever tried: a thread that finds it taken, or a process forked while it was,
 * compiles in the usual way. */
#include "libs/nvrtc/standby.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"
#include "libs/nvrtc/program.h"
#include "libs/nvrtc/standby_protocol.h"

#define ENTRIES 8   /* combinations remembered */
#define LIVE 3      /* compilers that wait at a time */

enum state { UNUSED, SEEN, STARTING, READY, BROKEN };

static mr_lock lock = MR_LOCK_INIT(STANDBY);
static struct entry {
    struct mr_cache_key key;
    enum state state;
    int control;        /* while STARTING or READY */
    int messages;       /* while STARTING: what the compiler says of the lines that it reads before it waits */
    struct timespec begun;
    uint64_t used;      /* when: a count of calls */
} table[ENTRIES];
static uint64_t calls;

static bool is_live(const struct entry *entry)
{
    return entry->state == STARTING || entry->state == READY;
}

static void end(struct entry *entry, enum state state)
{
    if (is_live(entry))
        close(entry->control);
    if (entry->state == STARTING)
        close(entry->messages);
    entry->state = state;
}

/* The least recently used entry, of those with a compiler if `live`. */
static struct entry *oldest(bool live)
{
    struct entry *found = NULL;
    for (struct entry *at = table; at < table + ENTRIES; at++)
        if ((!live || is_live(at)) && (!found || at->used < found->used))
            found = at;
    return found;
}

/* A descriptor of a file in memory with this text, above the numbers that a child's copies take. */
static int memory_file(const char *text)
{
    int low = memfd_create("millrace-standby", MFD_CLOEXEC), fd = -1;
    if (low >= 0 && write(low, text, strlen(text)) == (ssize_t)strlen(text) && lseek(low, 0, SEEK_SET) == 0)
        fd = fcntl(low, F_DUPFD_CLOEXEC, 16);
    if (low >= 0)
        close(low);
    return fd;
}

static int above(int low)
{
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 16) : -1;
    if (low >= 0)
        close(low);
    return fd;
}

/* Starts a compiler on its way to waiting. The control socket and a descriptor of its messages, or -1. */
static int start(const struct mr_words *compiler, const char *lines, int *messages)
{
    char program[PATH_MAX], library[PATH_MAX], seconds[24];
    int pair[2] = {-1, -1}, files[MR_STANDBY_FIRST_FREE_FD], control = -1;
    struct mr_words words = {.items = NULL};
    pid_t child;
    if (!mr_program_beside("millrace-standby", program) || !mr_program_beside("libmillrace-standby.so", library))
        return -1;
    snprintf(seconds, sizeof seconds, "%u", (unsigned)mr_setting_number(MR_SETTING_STANDBY, 0));
    mr_words_add(&words, program, "");
    mr_words_add(&words, library, "");
    mr_words_add(&words, seconds, "");
    for (size_t i = 0; i < compiler->count; i++)
        mr_words_add(&words, compiler->items[i], "");
    bool good = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 && !words.failed;
    files[0] = memory_file(lines);
    files[1] = memory_file("");
    files[2] = memory_file("");
    files[3] = memory_file("");
    files[MR_STANDBY_CONTROL_FD] = above(pair[1]);
    /* A folder that no program searches for headers. */
    files[MR_STANDBY_HEADERS_FD] = above(open(mr_cache_folder(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < MR_STANDBY_FIRST_FREE_FD; i++)
        good = good && files[i] >= 0;
    *messages = good ? fcntl(files[2], F_DUPFD_CLOEXEC, 16) : -1;
    if (*messages >= 0 && mr_run_start(words.items, files, MR_STANDBY_FIRST_FREE_FD, &child) == 0) {
        control = pair[0];
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    } else {
        if (pair[0] >= 0)
            close(pair[0]);
        if (*messages >= 0)
            close(*messages);
    }
    for (int i = 0; i < MR_STANDBY_FIRST_FREE_FD; i++)
        if (files[i] >= 0)
            close(files[i]);
    mr_words_clear(&words);
    return control;
}

static void begin(struct entry *entry, const struct mr_words *words, const char *program)
{
    unsigned live = 0;
    for (const struct entry *at = table; at < table + ENTRIES; at++)
        live += is_live(at);
    if (live >= LIVE)
        end(oldest(true), SEEN);
    clock_gettime(CLOCK_REALTIME_COARSE, &entry->begun);
    entry->control = start(words, program, &entry->messages);
    entry->state = entry->control >= 0 ? STARTING : BROKEN;
}

/* Brings an entry's state up to what its compiler has told. */
static void look(struct entry *entry, const struct mr_words *words, const char *program)
{
    char byte;
    if (entry->state == STARTING) {
        struct stat said;
        ssize_t got = recv(entry->control, &byte, 1, MSG_DONTWAIT);
        if (got == 1 && fstat(entry->messages, &said) == 0 && said.st_size == 0) {
            close(entry->messages);
            entry->state = READY;
        } else if (got == 1) {
            end(entry, BROKEN);   /* each compilation is to say it */
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            mr_log(MR_LOG_INFO, "nvrtc: '%s' ended where it was to wait for programs; each compilation starts it anew",
                   words->items[0]);
            end(entry, BROKEN);
        }
    } else if (entry->state == READY) {
        struct pollfd control = {.fd = entry->control};
        if (poll(&control, 1, 0) > 0) {   /* it has waited long enough */
            end(entry, SEEN);
            begin(entry, words, program);
        }
    } else if (entry->state == SEEN) {
        begin(entry, words, program);
    }
}

bool mr_standby_take(struct mr_standby *standby, struct mr_cache_key key, const struct mr_words *words,
                     const char *program)
{
    struct entry *entry = NULL;
    *standby = (struct mr_standby){.control = -1, .key = key};
    if (!mr_setting_number(MR_SETTING_STANDBY, 0) || !mr_cache_folder() || !mr_lock_try(&lock))
        return false;
    for (struct entry *at = table; at < table + ENTRIES; at++)
        if (at->state != UNUSED && at->key.low == key.low && at->key.high == key.high)
            entry = at;
    if (entry) {
        look(entry, words, program);
        if (entry->state == READY)
            standby->control = fcntl(entry->control, F_DUPFD_CLOEXEC, 16);
        standby->begun = entry->begun;
        standby->broken = entry->state == BROKEN;
    } else {
        entry = oldest(false);
        end(entry, SEEN);
        entry->key = key;
    }
    entry->used = ++calls;
    mr_lock_drop(&lock);
    return standby->control >= 0;
}

void mr_standby_release(struct mr_standby *standby)
{
    if (standby->control >= 0)
        close(standby->control);
    standby->control = -1;
}

void mr_standby_drop(const struct mr_standby *standby)
{
    if (!mr_lock_try(&lock))
        return;
    for (struct entry *at = table; at < table + ENTRIES; at++)
        if (is_live(at) && at->key.low == standby->key.low && at->key.high == standby->key.high)
            end(at, SEEN);
    mr_lock_drop(&lock);
}

static bool request(int control, const int files[MR_STANDBY_FILES])
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(MR_STANDBY_FILES * sizeof(int))];
    } extra = {.room = {0}};
    struct iovec part = {"", 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = extra.room, .msg_controllen = sizeof extra.room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(MR_STANDBY_FILES * sizeof(int));
    memcpy(CMSG_DATA(header), files, MR_STANDBY_FILES * sizeof(int));
    ssize_t sent;
    do
        sent = sendmsg(control, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

/* The compiler's status, or -1 if it ended without one, or -2 if the program no longer wants it. */
static int await(int reply, int (*cancel)(void *, void *), void *cancel_data)
{
    struct pollfd one = {.fd = reply, .events = POLLIN};
    unsigned char byte;
    for (;;) {
        int ready = poll(&one, 1, cancel ? 2 : -1);
        if (ready > 0) {
            ssize_t got = read(reply, &byte, 1);
            if (got < 0 && errno == EINTR)
                continue;
            return got == 1 ? byte : -1;
        }
        if (ready < 0 && errno != EINTR)
            return -1;
        if (ready == 0 && cancel && cancel(cancel_data, NULL) != 0)
            return -2;
    }
}

enum mr_run_status mr_standby_run(const struct mr_standby *standby, const int files[], int (*cancel)(void *, void *),
                                  void *cancel_data)
{
    int all[MR_STANDBY_FILES], reply[2], status = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, reply) != 0)
        return MR_RUN_FAILED;
    memcpy(all, files, 4 * sizeof *files);
    all[MR_STANDBY_REPLY] = reply[1];
    all[MR_STANDBY_FOLDER] =
        open(standby->folder ? standby->folder : mr_cache_folder(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool sent = all[MR_STANDBY_FOLDER] >= 0 && request(standby->control, all);
    close(reply[1]);
    if (sent)
        status = await(reply[0], cancel, cancel_data);
    close(reply[0]);   /* which also ends a compiler that is still at work */
    if (all[MR_STANDBY_FOLDER] >= 0)
        close(all[MR_STANDBY_FOLDER]);
    return status == -2 ? MR_RUN_CANCELLED : status == 0 ? MR_RUN_DONE : MR_RUN_FAILED;
}
