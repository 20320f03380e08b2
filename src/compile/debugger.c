/* SPDX-License-Identifier: Apache-2.0 */
/* The names, the records and their order are GDB's. (Debugging with GDB: JIT Compilation Interface.)
 *
 * The two symbols are hidden: other code generators in the process have their own, and a debugger looks into each
 * library's. */
#include "compile/debugger.h"

#include <stdint.h>

#include "base/alloc.h"
#include "base/thread.h"

enum { NOTHING, REGISTERED, UNREGISTERED };

struct mr_debugger_object {
    struct mr_debugger_object *next, *previous;
    const char *file;
    uint64_t size;
};

struct jit_descriptor {
    uint32_t version, action;
    struct mr_debugger_object *relevant, *first;
};

extern struct jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code(void);

struct jit_descriptor __jit_debug_descriptor = {.version = 1};

/* A debugger has a breakpoint here and reads the descriptor. */
__attribute__((noinline)) void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

static mr_lock lock = MR_LOCK_INIT(DEBUGGER); /* held while the list is changed and shown */

struct mr_debugger_object *mr_debugger_show(const void *object, size_t size)
{
    struct mr_debugger_object *shown = mr_calloc(1, sizeof *shown);
    if (!shown)
        return NULL;
    shown->file = object;
    shown->size = size;
    mr_lock_take(&lock);
    shown->next = __jit_debug_descriptor.first;
    if (shown->next)
        shown->next->previous = shown;
    __jit_debug_descriptor.first = __jit_debug_descriptor.relevant = shown;
    __jit_debug_descriptor.action = REGISTERED;
    __jit_debug_register_code();
    mr_lock_drop(&lock);
    return shown;
}

void mr_debugger_forget(struct mr_debugger_object *shown)
{
    if (!shown)
        return;
    mr_lock_take(&lock);
    if (shown->previous)
        shown->previous->next = shown->next;
    else
        __jit_debug_descriptor.first = shown->next;
    if (shown->next)
        shown->next->previous = shown->previous;
    __jit_debug_descriptor.relevant = shown;
    __jit_debug_descriptor.action = UNREGISTERED;
    __jit_debug_register_code();
    __jit_debug_descriptor.relevant = NULL;
    mr_lock_drop(&lock);
    mr_free(shown);
}
