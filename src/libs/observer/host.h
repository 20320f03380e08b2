/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's own code does with memory that both sides can use, between calls and in host functions. It is seen in
 * programs that were compiled for it (observe/host.h).
 *
 * An access is an operation of the host: it comes after all that the host knows, and whatever the host asks for later
 * comes after it. In a host function it belongs to the host function's operation. Neighbouring accesses of one place in
 * the code are told together: the first at once, the others when the thread calls next or ends, or when there are as
 * many of them as have been told. */
#ifndef MR_OBSERVER_HOST_H
#define MR_OBSERVER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/operation.h"

/* Finds the parts of the process that tell of their accesses, and has them tell, for the tool race. */
void obs_host_begin(void);

/* The same for the tool mem: `look` is called with each access in the bounds of all memory, on the thread that makes
 * it. What it does itself is not told of. */
typedef void obs_host_look(uintptr_t first, size_t size, bool stores, const void *site);
void obs_host_tell(obs_host_look *look);

/* The running thread calls: tells all that it has touched until now. */
void obs_host_settle(void);

/* A host function begins on this thread, or ends (NULL). A reference is kept. */
void obs_host_function(struct obs_operation *operation);

/* The running thread's code has touched the byte at `first`, where it has been interrupted at the instruction `code`
 * (pages.c). */
void obs_host_touch(uintptr_t first, bool stores, const void *code);

/* Thread `number` (threads.h) has done so, in the host function `function` or in none (NULL), and waits for that; on
 * another thread. */
void obs_host_touch_of(uint32_t number, struct obs_operation *function, uintptr_t first, bool stores, const void *code);

/* The host function that runs on this thread, or NULL; valid until it ends. */
struct obs_operation *obs_host_function_here(void);

/* Touches will be told by these two. */
void obs_host_watched(void);

/* Does the tool race want to know of the host's code, and nothing tells of it? */
bool obs_host_unseen(void);

/* How many touches were told by these two. */
uint64_t obs_host_touches(void);

/* How many accesses were told, neighbours together; 0 if no part of the process tells of them. */
uint64_t obs_host_accesses(void);

#endif
