/* SPDX-License-Identifier: Apache-2.0 */
/* Kept messages: their bytes stand one after the other in a ring, and a second ring has their lengths. */
#include "base/log_kept.h"

#include <sched.h>
#include <string.h>

#include "base/thread.h"

enum { MESSAGES = 1024, TRIES = 1000 };

static struct {
    mr_lock lock;
    bool on;
    unsigned next;  /* number of the next message */
    unsigned count; /* how many are kept: the last ones before `next` */
    size_t begin;   /* where the oldest starts */
    size_t used;
    unsigned short length[MESSAGES]; /* by number; with the newline */
    unsigned char level[MESSAGES];
    void *from[MESSAGES];
    char bytes[MR_LOG_KEPT_BYTES];
} kept = {.lock = MR_LOCK_INIT(LOG)};

static const struct mr_log_listener *listening; /* atomic */

void mr_log_listen(const struct mr_log_listener *listener)
{
    __atomic_store_n(&listening, listener, __ATOMIC_RELEASE);
}

void mr_log_keep(void)
{
    mr_lock_take(&kept.lock);
    kept.on = true;
    mr_lock_drop(&kept.lock);
}

static void put(const char *from, size_t length)
{
    size_t at = (kept.begin + kept.used) % MR_LOG_KEPT_BYTES, first = MR_LOG_KEPT_BYTES - at;
    if (first > length)
        first = length;
    memcpy(kept.bytes + at, from, first);
    memcpy(kept.bytes, from + first, length - first);
    kept.used += length;
}

static void forget_oldest(void)
{
    size_t length = kept.length[(kept.next - kept.count) % MESSAGES];
    kept.begin = (kept.begin + length) % MR_LOG_KEPT_BYTES;
    kept.used -= length;
    kept.count--;
}

void mr_log_kept_add(enum mr_log_level level, const char *line, size_t length)
{
    /* A process that was forked while another thread held the lock has no thread that drops it: then the message is
     * lost here. */
    const struct mr_log_listener *listener = __atomic_load_n(&listening, __ATOMIC_ACQUIRE);
    void *from = listener ? listener->from() : NULL;
    int tries = 0;
    while (!mr_lock_try(&kept.lock)) {
        if (tries++ == TRIES)
            return;
        sched_yield();
    }
    bool on = kept.on;
    unsigned number = kept.next;
    if (on) {
        while (kept.count == MESSAGES || kept.used + length + 1 > MR_LOG_KEPT_BYTES)
            forget_oldest();
        put(line, length);
        put("\n", 1);
        kept.length[kept.next % MESSAGES] = (unsigned short)(length + 1);
        kept.level[kept.next % MESSAGES] = (unsigned char)level;
        kept.from[kept.next % MESSAGES] = from;
        kept.next++;
        kept.count++;
    }
    mr_lock_drop(&kept.lock);
    if (on && listener)
        listener->added(number);
}

unsigned mr_log_kept_next(void)
{
    mr_lock_take(&kept.lock);
    unsigned next = kept.next;
    mr_lock_drop(&kept.lock);
    return next;
}

/* Copies `length` bytes from `offset` bytes behind the oldest. */
static void get(size_t offset, char *to, size_t length)
{
    size_t at = (kept.begin + offset) % MR_LOG_KEPT_BYTES, first = MR_LOG_KEPT_BYTES - at;
    if (first > length)
        first = length;
    memcpy(to, kept.bytes + at, first);
    memcpy(to + first, kept.bytes, length - first);
}

bool mr_log_kept_copy(unsigned *from, char *buffer, size_t size, size_t *written)
{
    static const char notice[] = "[earlier messages are left out]\n";
    const size_t notice_length = sizeof notice - 1;
    bool done = true;
    *written = 0;
    mr_lock_take(&kept.lock);
    unsigned wanted = from ? kept.next - *from : kept.next;
    if (wanted > kept.next) { /* a number from the future */
        mr_lock_drop(&kept.lock);
        if (size > 0)
            buffer[0] = '\0';
        return false;
    }
    unsigned some = wanted < kept.count ? wanted : kept.count;
    bool cut = some < wanted;
    size_t bytes = 0;
    for (unsigned i = kept.next - some; i != kept.next; i++)
        bytes += kept.length[i % MESSAGES];
    while (some > 0 && bytes + (cut ? notice_length : 0) + 1 > size) {
        bytes -= kept.length[(kept.next - some) % MESSAGES];
        some--;
        cut = true;
    }
    if (some > 0) {
        size_t head = cut ? notice_length : 0;
        memcpy(buffer, notice, head);
        get(kept.used - bytes, buffer + head, bytes);
        *written = head + bytes;
    } else if (wanted > 0) {
        done = false;
    }
    if (size > 0)
        buffer[*written] = '\0';
    if (done && from)
        *from = kept.next;
    mr_lock_drop(&kept.lock);
    return done;
}

bool mr_log_kept_one(unsigned number, struct mr_log_kept_message *out)
{
    size_t offset = 0;
    mr_lock_take(&kept.lock);
    bool there = kept.next - number - 1 < kept.count;
    if (there) {
        for (unsigned i = kept.next - kept.count; i != number; i++)
            offset += kept.length[i % MESSAGES];
        out->length = kept.length[number % MESSAGES] - 1u;
        if (out->length > sizeof out->text - 1)
            out->length = sizeof out->text - 1;
        get(offset, out->text, out->length);
        out->text[out->length] = '\0';
        out->level = (enum mr_log_level)kept.level[number % MESSAGES];
        out->from = kept.from[number % MESSAGES];
    }
    mr_lock_drop(&kept.lock);
    return there;
}
