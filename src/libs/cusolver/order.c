/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of rows: Cuthill and McKee's, minimum degree, nested dissection. */
#include "libs/cusolver/order.h"

#include <stdlib.h>
#include <string.h>

/* ---- Cuthill and McKee ---- */

struct graph {
    int n, *first, *next; /* neighbours of i: next[first[i]] to next[first[i + 1] - 1] */
};

/* The pattern of A + A^T without the diagonal; a neighbour may be there twice. */
static bool make_graph(const struct mr_csr *a, struct graph *g)
{
    int n = a->n, entries = a->rows[n] - a->base;
    g->n = n;
    g->first = calloc((size_t)n + 2, sizeof(int));
    g->next = malloc((2 * (size_t)entries + 1) * sizeof(int));
    if (!g->first || !g->next)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++)
            for (int p = a->rows[i] - a->base; p < a->rows[i + 1] - a->base; p++) {
                int j = a->columns[p] - a->base;
                if (i == j)
                    continue;
                if (pass == 0) {
                    g->first[i + 1]++;
                    g->first[j + 1]++;
                } else {
                    g->next[g->first[i]++] = j;
                    g->next[g->first[j]++] = i;
                }
            }
        if (pass == 0)
            for (int i = 0; i < n; i++)
                g->first[i + 1] += g->first[i];
    }
    for (int i = n; i > 0; i--) /* the second pass has moved each to its end */
        g->first[i] = g->first[i - 1];
    g->first[0] = 0;
    return true;
}

static int degree(const struct graph *g, int i)
{
    return g->first[i + 1] - g->first[i];
}

/* Visits all that can be reached from `start` by breadth, neighbours with fewer neighbours first; the last one visited.
 */
static int visit(const struct graph *g, int start, int *queue, int *count, int *mark, int stamp)
{
    int head = *count;
    queue[(*count)++] = start;
    mark[start] = stamp;
    while (head < *count) {
        int i = queue[head++], begin = *count;
        for (int p = g->first[i]; p < g->first[i + 1]; p++)
            if (mark[g->next[p]] != stamp) {
                mark[g->next[p]] = stamp;
                queue[(*count)++] = g->next[p];
            }
        for (int s = begin + 1; s < *count; s++) { /* by insertion: rows are short */
            int kept = queue[s], t = s;
            for (; t > begin && degree(g, queue[t - 1]) > degree(g, kept); t--)
                queue[t] = queue[t - 1];
            queue[t] = kept;
        }
    }
    return queue[*count - 1];
}

bool mr_sparse_order(const struct mr_csr *a, int *p)
{
    int n = a->n, count = 0;
    struct graph g = {0};
    int *mark = calloc((size_t)n + 1, sizeof *mark), *far = malloc(((size_t)n + 1) * sizeof *far);
    bool fine = make_graph(a, &g) && mark && far;
    for (int i = 0; fine && i < n; i++) {
        if (mark[i])
            continue;
        int found = 0, end = visit(&g, i, far, &found, mark, 1); /* an end of the piece, as far as a start needs */
        (void)visit(&g, end, p, &count, mark, 2);
    }
    for (int i = 0; fine && i < n / 2; i++) {
        int kept = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = kept;
    }
    free(g.first);
    free(g.next);
    free(mark);
    free(far);
    return fine;
}

/* ---- approximate minimum degree ---- */

/* Eliminating a row joins its neighbours to each other. They are not joined one by one: the row becomes an *element*,
 * whose members are all neighbours of each other. A row's neighbours are `rows` that it was given, and the members of
 * its elements. An element whose members are all in a new one is dropped. */
struct vertex {
    int *rows, row_count; /* a part of the graph's lists, which only shrinks */
    int *elements, element_count, element_room;
    int *members, member_count; /* of an element */
    int degree, before, after; /* in the chain of its degree */
    bool is_gone, is_element;
};

struct degrees {
    int n, least, left;
    struct vertex *at;
    int *chains; /* by degree: the first row of the chain, or -1 */
    int *mark, stamp; /* rows that have been seen */
    int *outside,
        *outside_stamp; /* by element: members that the new element has not, if the stamp is the present one */
};

static void unchain(struct degrees *d, int i)
{
    struct vertex *v = &d->at[i];
    if (v->before >= 0)
        d->at[v->before].after = v->after;
    else
        d->chains[v->degree] = v->after;
    if (v->after >= 0)
        d->at[v->after].before = v->before;
}

static void chain(struct degrees *d, int i, int degree)
{
    struct vertex *v = &d->at[i];
    v->degree = degree;
    v->before = -1;
    v->after = d->chains[degree];
    if (v->after >= 0)
        d->at[v->after].before = i;
    d->chains[degree] = i;
    if (degree < d->least)
        d->least = degree;
}

/* Turns row i into an element: its neighbours are the members, and are marked. */
static bool make_element(struct degrees *d, int i)
{
    struct vertex *v = &d->at[i];
    int most = v->row_count;
    for (int e = 0; e < v->element_count; e++)
        most += d->at[v->elements[e]].member_count;
    v->members = calloc((size_t)most + 1, sizeof(int));
    if (!v->members)
        return false;
    d->mark[i] = ++d->stamp;
    for (int e = -1; e < v->element_count; e++) {
        struct vertex *from = e < 0 ? v : &d->at[v->elements[e]];
        const int *list = e < 0 ? v->rows : from->members;
        int count = e < 0 ? v->row_count : from->member_count;
        for (int k = 0; k < count; k++)
            if (!d->at[list[k]].is_gone && d->mark[list[k]] != d->stamp) {
                d->mark[list[k]] = d->stamp;
                v->members[v->member_count++] = list[k];
            }
        if (e >= 0) {
            from->is_element = false; /* all it says, the new one says */
            free(from->members);
            from->members = NULL;
        }
    }
    v->is_gone = v->is_element = true;
    return true;
}

/* Counts, for each element of the members of the new one, how many of its members the new one has not. */
static void count_outside(struct degrees *d, const struct vertex *made)
{
    for (int k = 0; k < made->member_count; k++) {
        struct vertex *v = &d->at[made->members[k]];
        for (int e = 0; e < v->element_count; e++) {
            int element = v->elements[e];
            if (!d->at[element].is_element)
                continue;
            if (d->outside_stamp[element] != d->stamp) {
                d->outside_stamp[element] = d->stamp;
                int alive = 0; /* members that were eliminated are dropped here */
                for (int m = 0; m < d->at[element].member_count; m++)
                    if (!d->at[d->at[element].members[m]].is_gone)
                        d->at[element].members[alive++] = d->at[element].members[m];
                d->at[element].member_count = d->outside[element] = alive;
            }
            d->outside[element]--;
        }
    }
}

/* A member of the new element i: its lists without what the element says, and its new degree. */
static bool update_member(struct degrees *d, int i, int member)
{
    struct vertex *v = &d->at[member], *made = &d->at[i];
    int rows = 0, elements = 0, degree = made->member_count - 1;
    for (int k = 0; k < v->row_count; k++)
        if (!d->at[v->rows[k]].is_gone && d->mark[v->rows[k]] != d->stamp)
            v->rows[rows++] = v->rows[k];
    v->row_count = rows;
    degree += rows;
    for (int e = 0; e < v->element_count; e++) {
        int element = v->elements[e];
        if (!d->at[element].is_element || d->outside[element] == 0)
            continue;
        v->elements[elements++] = element;
        degree += d->outside[element];
    }
    v->element_count = elements;
    if (elements == v->element_room) {
        int room = v->element_room * 2 + 4;
        int *list = realloc(v->elements, (size_t)room * sizeof *list);
        if (!list)
            return false;
        v->elements = list;
        v->element_room = room;
    }
    v->elements[v->element_count++] = i;
    unchain(d, member);
    chain(d, member, degree < d->left - 1 ? degree : d->left - 1);
    return true;
}

static bool start_degrees(struct degrees *d, const struct graph *g)
{
    size_t room = (size_t)g->n + 1;
    d->n = d->left = d->least = g->n;
    d->at = calloc(room, sizeof *d->at);
    d->chains = calloc(room, sizeof(int));
    d->mark = calloc(room, sizeof(int));
    d->outside = calloc(room, sizeof(int));
    d->outside_stamp = calloc(room, sizeof(int));
    if (!d->at || !d->chains || !d->mark || !d->outside || !d->outside_stamp)
        return false;
    for (int i = 0; i <= g->n; i++)
        d->chains[i] = -1;
    for (int i = 0; i < g->n; i++) {
        struct vertex *v = &d->at[i];
        v->rows = g->next + g->first[i];
        d->stamp++;
        for (int k = g->first[i]; k < g->first[i + 1]; k++)
            if (d->mark[g->next[k]] != d->stamp) {
                d->mark[g->next[k]] = d->stamp;
                v->rows[v->row_count++] = g->next[k];
            }
        chain(d, i, v->row_count);
    }
    return true;
}

static void end_degrees(struct degrees *d)
{
    for (int i = 0; d->at && i < d->n; i++) {
        free(d->at[i].elements);
        free(d->at[i].members);
    }
    free(d->at);
    free(d->chains);
    free(d->mark);
    free(d->outside);
    free(d->outside_stamp);
}

bool mr_sparse_minimum_degree(const struct mr_csr *a, int *p)
{
    struct graph g = {0};
    struct degrees d = {0};
    bool fine = make_graph(a, &g) && start_degrees(&d, &g);
    for (int put = 0; fine && put < d.n; put++) {
        while (d.chains[d.least] < 0)
            d.least++;
        int i = d.chains[d.least];
        unchain(&d, i);
        p[put] = i;
        d.left--;
        fine = make_element(&d, i);
        if (fine)
            count_outside(&d, &d.at[i]);
        for (int k = 0; fine && k < d.at[i].member_count; k++)
            fine = update_member(&d, i, d.at[i].members[k]);
    }
    end_degrees(&d);
    free(g.first);
    free(g.next);
    return fine;
}

/* ---- nested dissection ---- */

enum { SMALL_PIECE = 3 };

/* A piece: rows p[begin] to p[end - 1], which have `piece` as their label. */
struct piece {
    int begin, end;
};

struct dissection {
    const struct graph *g;
    int *p, *label, *level, *queue;
    int labels;
    struct piece *stack;
    int depth;
};

/* Levels by breadth from `start` within the label; how many rows are reached. They are in d->queue, by level. */
static int levels_from(struct dissection *d, int start, int label, int begin, int end)
{
    int count = 0, head = 0;
    for (int i = begin; i < end; i++)
        d->level[d->p[i]] = -1;
    d->level[start] = 0;
    d->queue[count++] = start;
    while (head < count) {
        int i = d->queue[head++];
        for (int k = d->g->first[i]; k < d->g->first[i + 1]; k++) {
            int other = d->g->next[k];
            if (d->label[other] == label && d->level[other] < 0) {
                d->level[other] = d->level[i] + 1;
                d->queue[count++] = other;
            }
        }
    }
    return count;
}

/* Parts a piece: the rows before the level that parts it, those behind it, those not reached, the level itself. */
static void part(struct dissection *d, struct piece piece)
{
    int label = d->label[d->p[piece.begin]], size = piece.end - piece.begin;
    int reached = levels_from(d, d->p[piece.begin], label, piece.begin, piece.end);
    reached = levels_from(d, d->queue[reached - 1], label, piece.begin, piece.end);
    int cut = d->level[d->queue[reached / 2]], last = d->level[d->queue[reached - 1]];
    if (cut == 0)
        cut = 1;
    bool is_whole = reached == size;
    if (is_whole && last < 2)
        return; /* all are neighbours of one: any order */
    int put = piece.begin;
    struct piece made[3];
    int *copy = d->queue + size; /* the queue has room for two */
    memcpy(copy, d->p + piece.begin, (size_t)size * sizeof(int));
    for (int turn = 0; turn < 4; turn++) {
        int begin = put, its_label = d->labels++;
        for (int k = 0; k < size; k++) {
            int level = d->level[copy[k]];
            int its_turn = level < 0 ? 2 : last < 2 || level < cut ? 0 : level > cut ? 1 : 3;
            if (its_turn == turn) {
                d->p[put++] = copy[k];
                d->label[copy[k]] = its_label;
            }
        }
        if (turn < 3)
            made[turn] = (struct piece){begin, put};
    }
    for (int turn = 0; turn < 3; turn++)
        if (made[turn].end - made[turn].begin > SMALL_PIECE && made[turn].end - made[turn].begin < size)
            d->stack[d->depth++] = made[turn];
}

bool mr_sparse_dissection(const struct mr_csr *a, int *p)
{
    struct graph g = {0};
    size_t room = (size_t)a->n + 1;
    struct dissection d = {.g = &g,
                           .p = p,
                           .label = calloc(room, sizeof(int)),
                           .level = malloc(room * sizeof(int)),
                           .queue = malloc(2 * room * sizeof(int)),
                           .stack = malloc(room * sizeof *d.stack),
                           .labels = 1};
    bool fine = make_graph(a, &g) && d.label && d.level && d.queue && d.stack;
    for (int i = 0; fine && i < a->n; i++)
        p[i] = i;
    if (fine && a->n > SMALL_PIECE)
        d.stack[d.depth++] = (struct piece){0, a->n};
    while (fine && d.depth > 0)
        part(&d, d.stack[--d.depth]);
    free(d.label);
    free(d.level);
    free(d.queue);
    free(d.stack);
    free(g.first);
    free(g.next);
    return fine;
}
