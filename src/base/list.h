/* SPDX-License-Identifier: Apache-2.0 */
/* Intrusive doubly linked lists: the node lives in the element, the head is a node that points to itself when empty. */
#ifndef MR_BASE_LIST_H
#define MR_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct mr_list {
    struct mr_list *next, *prev;
};

/* The element that holds `node` as its member `member`. */
#define MR_CONTAINER(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))

static inline void mr_list_init(struct mr_list *head)
{
    head->next = head->prev = head;
}
static inline bool mr_list_empty(const struct mr_list *head)
{
    return head->next == head;
}

static inline void mr_list_append(struct mr_list *head, struct mr_list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

static inline void mr_list_prepend(struct mr_list *head, struct mr_list *node)
{
    mr_list_append(head->next, node);
}

/* Takes the node out and leaves it pointing to itself, so that removing twice does no harm. */
static inline void mr_list_remove(struct mr_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    mr_list_init(node);
}

#endif
