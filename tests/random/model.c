/* SPDX-License-Identifier: Apache-2.0 */
/* What every buffer must hold: the operations one after the other, in the order in which they were drawn. Any order
 * that keeps what conflicts in order gives the same. The kernels' arithmetic (kernels.h) is written down here a second
 * time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

uint64_t dice_next(struct dice *dice)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned dice_below(struct dice *dice, unsigned limit)
{
    return (unsigned)((dice_next(dice) >> 32) * limit >> 32);
}

bool dice_chance(struct dice *dice, unsigned percent)
{
    return dice_below(dice, 100) < percent;
}

uint32_t spin_value(uint32_t salt, uint32_t spin)
{
    uint32_t value = salt;
    while (spin--)
        value = value * 1664525u + 1013904223u;
    return value;
}

static uint32_t rotate(uint32_t value)
{
    return (value << 7) | (value >> 25);
}

/* Word `i` of a range. */
static size_t word_at(int words, struct range range, size_t i)
{
    return (size_t)(range.first + (int)(i / (size_t)words) * range.step) * (size_t)words + i % (size_t)words;
}

void touch_words(uint32_t *to, const uint32_t *from, int words, struct range to_range, struct range from_range,
                 uint32_t factor, uint32_t salt)
{
    size_t count = (size_t)to_range.count * (size_t)words;
    for (size_t i = 0; i < count; i++) {
        uint32_t *word = &to[word_at(words, to_range, i)];
        *word = rotate(*word * factor + from[word_at(words, from_range, i)]) + salt;
    }
}

uint64_t model_hash(const uint32_t *words, int words_per_cell, struct range range, uint64_t seed)
{
    uint64_t hash = seed ^ 0xcbf29ce484222325u;
    size_t count = (size_t)range.count * (size_t)words_per_cell;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ words[word_at(words_per_cell, range, i)]) * 0x100000001b3u;
    return hash;
}

/* Contents before the first write are this, in memory that the runner fills. */
static void provide(struct model *model, int buffer)
{
    if (!model->cell[buffer]) {
        model->cell[buffer] = calloc((size_t)model->words * CELLS, sizeof(uint32_t));
        if (!model->cell[buffer])
            abort();
    }
}

void model_begin(struct model *model, const struct program *program)
{
    memset(model, 0, sizeof *model);
    model->words = program->words;
}

void model_end(struct model *model)
{
    for (int i = 0; i < BUFFERS; i++)
        free(model->cell[i]);
    memset(model, 0, sizeof *model);
}

static void fill(uint32_t *to, int words, const struct op *op)
{
    size_t count = (size_t)op->to.count * (size_t)words;
    uint32_t value = op->form == 1   ? (op->salt & 0xff) * 0x01010101u
                     : op->form == 2 ? (op->salt & 0xffff) * 0x00010001u
                                     : op->salt;
    for (size_t i = 0; i < count; i++)
        to[word_at(words, op->to, i)] = value;
}

/* What libraries.c has libraries compute in a kernel's place. */
static uint32_t dot(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (uint32_t)((int8_t)(a >> i) * (int8_t)(b >> i));
    return sum;
}

static uint32_t sobol(uint32_t place)
{
    uint32_t gray = place ^ place >> 1, turned = 0;
    for (int bit = 0; bit < 32; bit++)
        turned |= (gray >> bit & 1) << (31 - bit);
    return turned;
}

static void by_library(uint32_t *to, const uint32_t *from, const uint32_t *with, int words, const struct op *op)
{
    size_t count = (size_t)op->to.count * (size_t)words;
    for (size_t i = 0; i < count; i++)
        to[word_at(words, op->to, i)] = op->kind == OP_MIX
                                            ? dot(from[word_at(words, op->from, i)], with[word_at(words, op->with, 0)])
                                            : sobol((op->salt & 0xfffff) + (uint32_t)i);
}

void model_do(struct model *model, const struct program *program, const struct op *op)
{
    int words = model->words;
    size_t count = (size_t)op->to.count * (size_t)words;
    if (range_is(op->to))
        provide(model, op->to.buffer);
    uint32_t *to = range_is(op->to) ? model->cell[op->to.buffer] : NULL;
    const uint32_t *from = range_is(op->from) ? model->cell[op->from.buffer] : NULL,
                   *with = range_is(op->with) ? model->cell[op->with.buffer] : NULL;
    bool is_library = op->kind <= OP_ADD && op->form == FORM_LIBRARY;
    uint32_t spun = op->kind <= OP_ADD ? spin_value(op->salt, op->spin) : 0;
    if (is_library)
        by_library(to, from, with, words, op);
    switch (is_library ? OP_KINDS : op->kind) {
    case OP_MIX:
        for (size_t i = 0; i < count; i++) {
            uint32_t *word = &to[word_at(words, op->to, i)];
            *word = rotate(((*word * op->factor + from[word_at(words, op->from, i)]) ^
                            with[word_at(words, op->with, (i + op->salt) & (count - 1))]) +
                           spun);
        }
        break;
    case OP_MAKE:
        for (size_t i = 0; i < count; i++) {
            uint32_t value = ((uint32_t)i ^ spun) * op->factor;
            to[word_at(words, op->to, i)] = value ^ (value >> 15);
        }
        break;
    case OP_ADD:
        for (size_t i = 0; i < count; i++)
            to[word_at(words, op->to, i)] += from[word_at(words, op->from, i)] * op->factor + spun;
        break;
    case OP_COPY:
        for (size_t i = 0; i < count; i++)
            to[word_at(words, op->to, i)] = from[word_at(words, op->from, i)];
        break;
    case OP_FILL:
        fill(to, words, op);
        break;
    case OP_HOST:
    case OP_TOUCH:
        touch_words(to, from, words, op->to, op->from, op->factor, op->salt);
        break;
    case OP_VALUE:
        to[(size_t)op->to.first * (size_t)words] = op->salt;
        break;
    case OP_LAUNCH:
        for (int i = 0; i < program->body[op->body].count; i++)
            model_do(model, program, &program->body[op->body].node[i]);
        break;
    case OP_ALLOC:
    case OP_ALLOC_ASYNC:
    case OP_FREE:
    case OP_FREE_ASYNC:
        model->alive[op->to.buffer] = op->kind == OP_ALLOC || op->kind == OP_ALLOC_ASYNC;
        return;
    default:
        break;
    }
    for (int i = 0; range_is(op->to) && i < op->to.count; i++)
        model->written[op->to.buffer][op->to.first + i * op->to.step] = true;
}

void model_run(struct model *model, struct program *program)
{
    model_begin(model, program);
    for (int i = 0; i < program->count; i++) {
        struct op *op = &program->op[i];
        if (op->kind == OP_CHECK)
            op->expect = model_hash(model->cell[op->from.buffer], model->words, op->from, program->seed);
        model_do(model, program, op);
    }
}

const char *op_name(int kind)
{
    static const char *const names[OP_KINDS] = {
        "mix",         "make",         "add",         "copy",        "fill",        "host",
        "value",       "launch",       "?",           "touch",       "check",       "post",
        "await",       "hold",         "release",     "event",       "event-end",   "stream",
        "stream-end",  "alloc",        "free",        "alloc-async", "free-async",  "graph",
        "update",      "record",       "wait",        "event-sync",  "event-query", "event-poll",
        "stream-sync", "stream-query", "stream-poll", "device-sync", "flag",        "flag-wait",
    };
    return kind >= 0 && kind < OP_KINDS ? names[kind] : "?";
}

static void print_range(const char *what, struct range range)
{
    if (!range_is(range))
        return;
    fprintf(stderr, " %s b%d[%d", what, range.buffer, range.first);
    for (int i = 1; i < range.count; i++)
        fprintf(stderr, ",%d", range.first + i * range.step);
    fprintf(stderr, "]");
}

static void print_work(const struct op *op)
{
    print_range("to", op->to);
    print_range("from", op->from);
    print_range("with", op->with);
    if (op->kind == OP_COPY || op->kind == OP_FILL || op->form == FORM_LIBRARY || op->kind == OP_GRAPH ||
        op->kind == OP_STREAM || op->kind == OP_EVENT)
        fprintf(stderr, " form %d%s", op->form, op->blocks ? " blocks" : "");
    if (op->spin)
        fprintf(stderr, " spin %u", op->spin);
}

void op_print(const struct program *program, int index)
{
    const struct op *op = &program->op[index];
    fprintf(stderr, "%4d t%d %-12s", index, op->thread, op_name(op->kind));
    if (op->stream >= 0)
        fprintf(stderr, " s%d%s", op->stream,
                op->stream < DEVICES        ? "(legacy)"
                : op->stream < STREAM_FIRST ? "(thread)"
                                            : "");
    if (op->event >= 0)
        fprintf(stderr, " e%d", op->event);
    if (op->name >= 0)
        fprintf(stderr, " n%d", op->name);
    if (op->exec >= 0)
        fprintf(stderr, " x%d", op->exec);
    print_work(op);
    if (op->kind == OP_ALLOC) {
        static const char *const places[] = {[PLACE_DEVICE] = "device",
                                             [PLACE_PINNED] = "pinned",
                                             [PLACE_MANAGED] = "managed",
                                             [PLACE_PAGEABLE] = "pageable"};
        fprintf(stderr, " %s", places[op->place]);
    }
    if (op->kind == OP_STREAM)
        fprintf(stderr, "%s", op->form & 1 ? " non-blocking" : " blocking");
    fprintf(stderr, "%s\n", op->needed ? "  (needed)" : "");
    if (op->body < 0)
        return;
    const struct body *body = &program->body[op->body];
    for (int i = 0; i < body->count; i++) {
        fprintf(stderr, "          node %d lane %d after %#x %s", i, body->lane[i], body->after[i],
                op_name(body->node[i].kind));
        print_work(&body->node[i]);
        fprintf(stderr, "\n");
    }
}
