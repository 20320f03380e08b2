/* SPDX-License-Identifier: Apache-2.0 */
/* The messages that a program can read back (cuLogsDumpToMemory): the latest of those that MILLRACE_LOG=info would
 * write, whether they are written or not.
 *
 * Messages are numbered from 0 as they come. Those that no longer fit are forgotten, the oldest first. Any thread; a
 * leaf lock inside. */
#ifndef MR_BASE_LOG_KEPT_H
#define MR_BASE_LOG_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

/* Room for all messages that are kept; no dump is larger. */
#define MR_LOG_KEPT_BYTES 25600

/* From now on messages are kept. */
void mr_log_keep(void);

/* Called by mr_log: a line, without its newline. */
void mr_log_kept_add(enum mr_log_level level, const char *line, size_t length);

/* The number that the next message will have. */
unsigned mr_log_kept_next(void);

/* Copies the messages from number *from on, or all if `from` is NULL, as lines that end in newlines, and a null
 * character behind them. `size` is the room. If some are forgotten, or don't fit, a line in front says so, and the
 * latest are there. *written is without the null character: 0 if there are none. False if there are some but not even
 * the last one fits, or if *from is still to come; else *from becomes the next number. */
bool mr_log_kept_copy(unsigned *from, char *buffer, size_t size, size_t *written);

/* A message for a listener. */
struct mr_log_kept_message {
    char text[2100];
    size_t length; /* there is no newline */
    enum mr_log_level level;
    void *from;    /* what the listener's `from` said */
};

/* Copies message `number`, if it is still there. */
bool mr_log_kept_one(unsigned number, struct mr_log_kept_message *out);

/* Who wants to hear of messages. Both functions are called by the thread that writes one, without a lock of the log:
 * `from` before, to note something of the thread with the message, and `added` after, with the message's number. */
struct mr_log_listener {
    void *(*from)(void);
    void (*added)(unsigned number);
};
void mr_log_listen(const struct mr_log_listener *listener);

#endif
