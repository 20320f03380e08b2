/* SPDX-License-Identifier: Apache-2.0 */
/* Words by which a kernel or a stream and the program's own code tell each other something: one waits in a loop until
 * the other has written. CUDA has no call for that, so the order that it makes is taken from the accesses.
 *
 * A kernel *talks* by volatile accesses, and by others in the scope of the system, to memory of both sides
 * (MR_ACCESS_TALKS); a stream by the values that it writes. The host's code *looks* when it loads a single word of such
 * memory. It is seen where `millrace cc --check` has compiled it. So:
 *
 * - What the host asks for after it has looked at a word comes after a work that writes the word, asked for before the
 *   look. That is more than is promised if the look came too early, or if the kernel goes on afterwards.
 * - A kernel that reads a word in this way comes after what the host did and knew when it stored to the word last.
 *
 * Where no host code is seen, all that is asked for after such a kernel comes after it, and the kernel comes after all
 * that the host knows when it ends. With values that streams write it is the same, unless streams wait for the word.
 *
 * None of this counts with the options strict and threads. */
#ifndef MR_OBSERVER_TALK_H
#define MR_OBSERVER_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/operation.h"
#include "observe/observe.h"

enum { OBS_WORD = 8 }; /* the most bytes of a single word */

/* A part of the process tells of what the host's code touches. Before anything is observed. */
void obs_talk_sees_host(void);

/* The host's code touches a single word, as this operation, and has been told of. Without a lock. */
void obs_talk_host(const struct obs_operation *host, uintptr_t first, bool stores);

/* The work or step touches these boxes; those that talk count. Once before the shadow is told of them, and once
 * after. Without a lock. */
void obs_talk_work(const struct obs_operation *work, const struct mr_access *boxes, size_t count);

#endif
