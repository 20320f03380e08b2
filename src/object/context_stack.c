/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of current contexts that each thread has.
 *
 * The top is also kept in mr_thread_context, which is all that the hot path reads. Entries are references, so that a
 * context that another thread destroys stays readable (and is reported as destroyed) for as long as it is on a stack; a
 * thread that ends gives its references back. (Driver API manual, Context Management.) */
#include "object/context.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

_Thread_local struct mr_context *mr_thread_context;
_Thread_local bool mr_in_host_function;

struct stack {
    size_t depth, room;
    struct mr_context **entries;       /* the top is entries[depth - 1] */
};

static _Thread_local struct stack stack;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void end_of_thread(void *data)
{
    struct stack *mine = data;
    mr_thread_context = NULL;
    while (mine->depth > 0)
        mr_object_drop(mine->entries[--mine->depth]);
    mr_free(mine->entries);
    memset(mine, 0, sizeof *mine);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_of_thread) == 0;
}

bool mr_context_push(struct mr_context *context)
{
    pthread_once(&key_once, make_key);
    if (stack.depth == 0 && (!key_made || pthread_setspecific(key, &stack) != 0))
        return false;
    if (!mr_array_reserve((void **)&stack.entries, &stack.room, stack.depth + 1, sizeof *stack.entries))
        return false;
    mr_object_hold(context);
    stack.entries[stack.depth++] = context;
    mr_thread_context = context;
    return true;
}

struct mr_context *mr_context_pop(void)
{
    if (stack.depth == 0)
        return NULL;
    struct mr_context *top = stack.entries[--stack.depth];
    mr_thread_context = stack.depth ? stack.entries[stack.depth - 1] : NULL;
    return top;
}

bool mr_context_replace(struct mr_context *context)
{
    if (!context) {
        struct mr_context *top = mr_context_pop();
        if (top)
            mr_object_drop(top);
        return true;
    }
    if (stack.depth == 0)
        return mr_context_push(context);
    struct mr_context *old = stack.entries[stack.depth - 1];
    mr_object_hold(context);
    stack.entries[stack.depth - 1] = context;
    mr_thread_context = context;
    mr_object_drop(old);
    return true;
}
