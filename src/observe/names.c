/* SPDX-License-Identifier: Apache-2.0 */
/* A table of names that only grows: lists that are only ever put to, at their heads, without a lock. */
#include "observe/names.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#define LISTS 1024u

struct name {
    struct name *next;
    char text[];
};

static _Atomic(struct name *) lists[LISTS];

static unsigned list_of(const char *text, size_t *length)
{
    uint64_t sum = 0xcbf29ce484222325u;
    size_t i = 0;
    for (; text[i]; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    *length = i;
    return (unsigned)((sum ^ sum >> 32) % LISTS);
}

static const char *find(struct name *from, const struct name *end, const char *text)
{
    for (; from != end; from = from->next)
        if (strcmp(from->text, text) == 0)
            return from->text;
    return NULL;
}

const char *mr_observe_name(const char *text)
{
    size_t length;
    if (!text)
        return NULL;
    _Atomic(struct name *) *list = &lists[list_of(text, &length)];
    struct name *head = atomic_load_explicit(list, memory_order_acquire);
    const char *known = find(head, NULL, text);
    if (known)
        return known;
    struct name *made = mr_alloc(sizeof *made + length + 1);
    if (!made)
        return NULL;
    memcpy(made->text, text, length + 1);
    made->next = head;
    while (
        !atomic_compare_exchange_weak_explicit(list, &made->next, made, memory_order_acq_rel, memory_order_acquire)) {
        known = find(made->next, head, text);
        if (known) {
            mr_free(made);
            return known;
        }
        head = made->next;
    }
    return made->text;
}
