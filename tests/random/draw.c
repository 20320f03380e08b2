/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a program: what it does next, on which thread and stream, with which buffers. Order is not thought of here;
 * draw_emit looks what the operation misses and has it added. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"

bool draw_emit(struct drawer *drawer, struct op op)
{
    struct program *program = drawer->program;
    struct miss miss, other;
    const struct op *outer = drawer->pending;
    bool data = false, fits = drawer->depth < 12;
    drawer->was_missing = false;
    drawer->depth++;
    for (int steps = 0; fits && !order_allows(drawer->order, &op, &miss); steps++) {
        drawer->pending = &op;
        fits = miss.op >= 0 && steps < 40 && program->count < OPS - 200 && draw_wait(drawer, &op, &miss);
        data = miss.data && !miss.by_host;
    }
    drawer->pending = outer;
    drawer->depth--;
    if (!fits || program->count >= OPS - 100)
        return false;
    if (data && drawer->was_missing && program->op[program->count - 1].kind > OP_RECORD)
        program->op[program->count - 1].needed = true;
    drawer->was_missing = outer && !order_allows(drawer->order, outer, &other);
    order_take(drawer->order, &op, program->count);
    program->op[program->count++] = op;
    return true;
}

static unsigned below(struct drawer *drawer, unsigned limit)
{
    return dice_below(&drawer->dice, limit);
}
static bool chance(struct drawer *drawer, unsigned percent)
{
    return dice_chance(&drawer->dice, percent);
}

/* A stream that the thread may use, on a device (-1: any). */
static int draw_stream(struct drawer *drawer, int thread, int device)
{
    for (int tries = 0; tries < 40; tries++) {
        unsigned draw = below(drawer, 100);
        int stream = draw < 12   ? (int)below(drawer, (unsigned)drawer->program->devices)
                     : draw < 24 ? STREAM_THREAD + thread
                                 : STREAM_FIRST + (int)below(drawer, (unsigned)(drawer->streams - STREAM_FIRST) + 1);
        if (stream < drawer->streams && order_alive_stream(drawer->order, stream) &&
            (device < 0 || order_device(drawer->order, stream) == device))
            return stream;
    }
    return STREAM_THREAD + thread;
}

enum {
    ON_DEVICE = 1 << PLACE_DEVICE,
    ON_PINNED = 1 << PLACE_PINNED,
    ON_MANAGED = 1 << PLACE_MANAGED,
    ON_PAGEABLE = 1 << PLACE_PAGEABLE
};

/* Cells of a live buffer in one of the places. `device`: where device memory must be; -1: anywhere. */
static struct range draw_range(struct drawer *drawer, unsigned places, int device, unsigned count, bool written,
                               int limit)
{
    for (int tries = 0; tries < 30; tries++) {
        int buffer = (int)below(drawer, (unsigned)limit);
        int place = drawer->place[buffer];
        if (!order_alive_buffer(drawer->order, buffer) || !(places & (1u << place)))
            continue;
        if (device >= 0 && (place == PLACE_DEVICE || place == PLACE_MANAGED) && drawer->device[buffer] != device)
            continue;
        if (device < 0 && drawer->pooled[buffer]) /* other devices would have to be let in */
            continue;
        struct range range = {.buffer = (int16_t)buffer, .count = (uint8_t)count, .step = 1};
        range.first = (uint8_t)below(drawer, CELLS - count + 1);
        if (!written || order_written(drawer->order, range))
            return range;
    }
    return (struct range){.buffer = -1};
}

static bool overlap(struct range a, struct range b)
{
    if (a.buffer != b.buffer || a.buffer < 0)
        return false;
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < b.count; j++)
            if (a.first + i * a.step == b.first + j * b.step)
                return true;
    return false;
}

static uint32_t draw_spin(struct drawer *drawer)
{
    unsigned draw = below(drawer, 100);
    return draw < 65                       ? 0
           : draw < 92                     ? below(drawer, 200)
           : drawer->program->words <= 256 ? below(drawer, 8000)
                                           : below(drawer, 1000);
}

static bool draw_by_library(struct drawer *drawer)
{
    return drawer->by_library && chance(drawer, 30);
}

static bool fill_kernel(struct drawer *drawer, struct op *op, int device, int limit)
{
    unsigned count = 1u << below(drawer, 3), any = ON_DEVICE | ON_PINNED | ON_MANAGED;
    bool add = op->kind == OP_ADD;
    op->to = draw_range(drawer, add ? ON_DEVICE : any, device, count, op->kind != OP_MAKE, limit);
    op->factor = (uint32_t)dice_next(&drawer->dice) | 1;
    op->salt = (uint32_t)dice_next(&drawer->dice);
    op->spin = draw_spin(drawer);
    if (op->kind != OP_MAKE) {
        op->from = draw_range(drawer, any, device, count, true, limit);
        if (!range_is(op->from) || overlap(op->to, op->from))
            return false;
    }
    if (op->kind == OP_MIX) {
        op->with = draw_range(drawer, any, device, count, true, limit);
        if (!range_is(op->with) || overlap(op->to, op->with))
            return false;
    }
    if (!add && draw_by_library(drawer))
        op->form = FORM_LIBRARY;
    return range_is(op->to);
}

/* Two cells that aren't neighbours, for what works on boxes. */
static void spread(struct drawer *drawer, struct range *range)
{
    if (range->count != 2 || !chance(drawer, 50))
        return;
    range->first = (uint8_t)below(drawer, 2);
    range->step = 2;
}

static bool fill_copy(struct drawer *drawer, struct op *op, int device, int limit)
{
    bool graph = limit == drawer->kept, held = drawer->held >= 0;
    unsigned count = 1 + below(drawer, CELLS), any = ON_DEVICE | ON_PINNED | ON_MANAGED;
    int where = graph || !draw_can(drawer, CAN_PEER) || chance(drawer, 60) ? device : -1;
    op->to = draw_range(drawer, graph || held ? ON_DEVICE | ON_PINNED : any | ON_PAGEABLE, where, count, false, limit);
    op->from =
        draw_range(drawer, graph || held ? ON_DEVICE | ON_PINNED : any | ON_PAGEABLE, where, count, false, limit);
    if (!range_is(op->to) || !range_is(op->from))
        return false;
    int to = drawer->place[op->to.buffer], from = drawer->place[op->from.buffer];
    op->form = (uint8_t)(graph ? (count == 2 ? FORM_BOX : FORM_ASYNC) : below(drawer, FORM_PEER + 1));
    if ((to == PLACE_PAGEABLE && from != PLACE_DEVICE) || (from == PLACE_PAGEABLE && to != PLACE_DEVICE) ||
        (held && to == PLACE_PINNED && from == PLACE_PINNED))
        return false;
    if (op->form == FORM_BOX) {
        spread(drawer, &op->to);
        spread(drawer, &op->from);
    }
    if (op->form == FORM_PEER && (to != PLACE_DEVICE || from != PLACE_DEVICE))
        op->form = FORM_ASYNC;
    if (op->form == FORM_TYPED && (to == PLACE_PINNED || to == PLACE_PAGEABLE) &&
        (from == PLACE_PINNED || from == PLACE_PAGEABLE))
        op->form = FORM_ASYNC;
    if (op->form == FORM_SYNC) {
        if (held)
            return false;
        op->stream = (int8_t)device;
        op->blocks = (to == PLACE_PINNED || to == PLACE_PAGEABLE || from == PLACE_PINNED) && to != PLACE_MANAGED &&
                     from != PLACE_MANAGED;
    }
    if (to == PLACE_PAGEABLE)
        op->blocks = true;
    if (from == PLACE_PAGEABLE || from == PLACE_PINNED)
        op->place = (uint8_t)from;
    unsigned seen = ON_DEVICE | ON_PINNED | ON_MANAGED;
    if (op->form == FORM_ASYNC && where == device && (seen & 1u << to) && (seen & 1u << from) &&
        draw_by_library(drawer)) {
        op->form = FORM_LIBRARY;
        op->salt = (uint32_t)dice_next(&drawer->dice);
    }
    return !overlap(op->to, op->from) && order_written(drawer->order, op->from);
}

/* Fills in what a piece of work does. `limit`: it may use the buffers below that. */
static bool fill_work(struct drawer *drawer, struct op *op, int device, int limit)
{
    unsigned host = ON_PINNED | (draw_can(drawer, CAN_MANAGED) && limit != drawer->kept ? ON_MANAGED : 0u),
             count = 1 + below(drawer, CELLS);
    switch (op->kind) {
    case OP_MIX:
    case OP_MAKE:
    case OP_ADD:
        return fill_kernel(drawer, op, device, limit);
    case OP_COPY:
        return fill_copy(drawer, op, device, limit);
    case OP_FILL:
        op->to = draw_range(drawer, ON_DEVICE | ON_MANAGED, device, count, false, limit);
        op->form = (uint8_t)(1u << below(drawer, 3));
        if (!draw_can(drawer, CAN_WIDE))
            op->form = 1;
        op->salt = (uint32_t)dice_next(&drawer->dice);
        spread(drawer, &op->to);
        return range_is(op->to);
    case OP_HOST:
        op->to = draw_range(drawer, host, device, count, true, limit);
        op->from = draw_range(drawer, host, device, count, true, limit);
        op->factor = (uint32_t)dice_next(&drawer->dice) | 1;
        op->salt = (uint32_t)dice_next(&drawer->dice);
        op->spin = chance(drawer, 15) ? below(drawer, 300) : 0;
        return range_is(op->to) && range_is(op->from) && !overlap(op->to, op->from);
    case OP_VALUE:
        op->to = draw_range(drawer, ON_DEVICE | ON_PINNED, device, 1, true, limit);
        op->salt = (uint32_t)dice_next(&drawer->dice);
        return range_is(op->to) && !drawer->pooled[op->to.buffer];
    default:
        return false;
    }
}

static bool draw_work(struct drawer *drawer, int thread)
{
    static const uint8_t kinds[] = {OP_MIX,  OP_MIX,  OP_MIX,  OP_MIX,  OP_MIX,  OP_MAKE, OP_ADD,  OP_ADD,
                                    OP_COPY, OP_COPY, OP_COPY, OP_COPY, OP_FILL, OP_FILL, OP_HOST, OP_VALUE};
    int stream = draw_stream(drawer, thread, -1);
    struct op op = draw_op(kinds[below(drawer, sizeof kinds)], thread, stream);
    if ((op.kind == OP_HOST && !draw_can(drawer, CAN_HOST)) || (op.kind == OP_VALUE && !draw_can(drawer, CAN_VALUES)))
        op.kind = OP_MIX;
    drawer->by_library = draw_can(drawer, CAN_LIBRARIES);
    return fill_work(drawer, &op, order_device(drawer->order, stream), drawer->buffers) && draw_emit(drawer, op);
}

static bool draw_on_host(struct drawer *drawer, int thread)
{
    struct op op = draw_op(chance(drawer, 50) ? OP_TOUCH : OP_CHECK, thread, -1);
    unsigned places = ON_PINNED | ON_PAGEABLE | (draw_can(drawer, CAN_MANAGED) ? ON_MANAGED : 0u),
             count = 1 + below(drawer, CELLS);
    op.from = draw_range(drawer, places, -1, count, true, drawer->buffers);
    op.factor = (uint32_t)dice_next(&drawer->dice) | 1;
    op.salt = (uint32_t)dice_next(&drawer->dice);
    if (op.kind == OP_TOUCH) {
        op.to = draw_range(drawer, places, -1, count, true, drawer->buffers);
        if (!range_is(op.to) || overlap(op.to, op.from))
            return false;
    }
    return range_is(op.from) && draw_emit(drawer, op);
}

/* Waits and queries that nobody needs. */
static bool draw_order(struct drawer *drawer, int thread)
{
    static const uint8_t kinds[] = {OP_RECORD,      OP_RECORD,       OP_RECORD,       OP_RECORD,
                                    OP_WAIT,        OP_WAIT,         OP_WAIT,         OP_EVENT_QUERY,
                                    OP_EVENT_QUERY, OP_STREAM_QUERY, OP_STREAM_QUERY, OP_EVENT_SYNC,
                                    OP_STREAM_SYNC, OP_EVENT_POLL,   OP_STREAM_POLL,  OP_DEVICE_SYNC};
    struct op op = draw_op(kinds[below(drawer, sizeof kinds)], thread, draw_stream(drawer, thread, -1));
    bool of_event = op.kind == OP_RECORD || op.kind == OP_WAIT || op.kind == OP_EVENT_QUERY ||
                    op.kind == OP_EVENT_SYNC || op.kind == OP_EVENT_POLL;
    if (op.kind != OP_RECORD && op.kind != OP_WAIT && op.kind != OP_EVENT_QUERY && op.kind != OP_STREAM_QUERY &&
        (chance(drawer, 50) || !draw_release(drawer)))
        return false;
    if (op.kind == OP_RECORD)
        op.event = (int16_t)draw_event(drawer, thread);
    else if (of_event)
        op.event = (int16_t)(drawer->events ? (int)below(drawer, (unsigned)drawer->events) : -1);
    if (of_event && (op.event < 0 || !order_alive_event(drawer->order, op.event)))
        return false;
    if ((of_event && op.kind != OP_RECORD && op.kind != OP_WAIT) || op.kind == OP_DEVICE_SYNC)
        op.stream = -1;
    return draw_emit(drawer, op);
}

static bool draw_memory(struct drawer *drawer, int thread)
{
    bool pool = draw_can(drawer, CAN_POOL) && chance(drawer, 70),
         make = chance(drawer, 60) && drawer->buffers < BUFFERS;
    struct op op = draw_op(make ? (pool ? OP_ALLOC_ASYNC : OP_ALLOC) : (pool ? OP_FREE_ASYNC : OP_FREE), thread, -1);
    if (drawer->held >= 0)
        return false;
    int buffer =
        make ? drawer->buffers : drawer->kept + (int)below(drawer, (unsigned)(drawer->buffers - drawer->kept) + 1);
    if (!make && (buffer >= drawer->buffers || !order_alive_buffer(drawer->order, buffer)))
        return false;
    op.to = (struct range){.buffer = (int16_t)buffer, .count = CELLS, .step = 1};
    op.device = make ? (uint8_t)below(drawer, (unsigned)drawer->program->devices) : drawer->device[buffer];
    op.place = make ? (uint8_t)(pool || chance(drawer, 60) ? PLACE_DEVICE : PLACE_PINNED) : drawer->place[buffer];
    if (!make && op.place != PLACE_DEVICE)
        op.kind = OP_FREE;
    if (op.kind == OP_ALLOC_ASYNC || op.kind == OP_FREE_ASYNC)
        op.stream = (int8_t)draw_stream(drawer, thread, op.device);
    if (op.stream >= 0 && order_device(drawer->order, op.stream) != op.device)
        return false;
    if (!draw_emit(drawer, op))
        return false;
    if (make) {
        drawer->place[buffer] = op.place;
        drawer->device[buffer] = op.device;
        drawer->pooled[buffer] = op.kind == OP_ALLOC_ASYNC;
        drawer->buffers++;
    }
    return true;
}

static bool draw_name(struct drawer *drawer, int thread)
{
    struct op op = draw_op(OP_EVENT, thread, -1);
    unsigned draw = below(drawer, 100);
    if (draw < 25 && drawer->events < EVENTS) {
        op.event = (int16_t)drawer->events++;
        op.form = (uint8_t)below(drawer, 4);
        return draw_emit(drawer, op);
    }
    if (draw < 50 && drawer->events) {
        op.kind = OP_EVENT_END;
        op.event = (int16_t)below(drawer, (unsigned)drawer->events);
        return order_alive_event(drawer->order, op.event) && draw_emit(drawer, op);
    }
    if (drawer->held >= 0)
        return false;
    if (draw < 78 && drawer->streams < STREAMS) {
        op.kind = OP_STREAM;
        op.stream = (int8_t)drawer->streams;
        op.form = (uint8_t)below(drawer, 8);
        op.device = (uint8_t)(chance(drawer, 70) ? 0 : below(drawer, (unsigned)drawer->program->devices));
        drawer->streams += draw_emit(drawer, op);
        return true;
    }
    op.kind = OP_STREAM_END;
    op.stream = (int8_t)(STREAM_FIRST + (int)below(drawer, (unsigned)(drawer->streams - STREAM_FIRST) + 1));
    return op.stream < drawer->streams && order_alive_stream(drawer->order, op.stream) && draw_emit(drawer, op);
}

/* Graphs. */

static bool conflicts(const struct op *a, const struct op *b)
{
    const struct range *left[] = {&a->to, &a->from, &a->with}, *right[] = {&b->to, &b->from, &b->with};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (overlap(*left[i], *right[j]) && (i == 0 || j == 0) &&
                !(i == 0 && j == 0 && a->kind == OP_ADD && b->kind == OP_ADD))
                return true;
    return false;
}

static bool draw_body(struct drawer *drawer, struct body *body)
{
    static const uint8_t kinds[] = {OP_MIX, OP_MIX, OP_MIX, OP_MAKE, OP_ADD, OP_COPY, OP_COPY, OP_FILL, OP_HOST};
    uint32_t before[NODES] = {0};
    int wanted = 1 + (int)below(drawer, NODES), lanes = 1 + (int)below(drawer, LANES), last[LANES] = {-1, -1, -1};
    body->count = 0;
    for (int tries = 0; tries < 60 && body->count < wanted; tries++) {
        int number = body->count;
        struct op *node = &body->node[number];
        *node = draw_op(kinds[below(drawer, sizeof kinds)], 0, -1);
        if ((node->kind == OP_HOST && !draw_can(drawer, CAN_HOST)) || !fill_work(drawer, node, 0, drawer->kept))
            continue;
        int lane = (int)below(drawer, (unsigned)lanes);
        uint32_t after = last[lane] >= 0 ? 1u << last[lane] : 0, known = after ? after | before[last[lane]] : 0;
        for (int other = number - 1; other >= 0; other--) {
            bool needs = conflicts(&body->node[other], node) && !(known & (1u << other));
            if (needs || chance(drawer, 4)) {
                after |= 1u << other;
                known |= (1u << other) | before[other];
            }
        }
        body->lane[number] = (uint8_t)lane;
        body->after[number] = after;
        before[number] = known;
        last[lane] = number;
        body->count++;
    }
    return body->count > 0;
}

/* The same nodes with other numbers. */
static void vary_body(struct drawer *drawer, struct body *body)
{
    for (int i = 0; i < body->count; i++) {
        struct op *node = &body->node[i];
        node->salt = (uint32_t)dice_next(&drawer->dice);
        node->factor = (uint32_t)dice_next(&drawer->dice) | 1;
        if (node->kind <= OP_ADD)
            node->spin = draw_spin(drawer);
    }
}

static bool draw_graph(struct drawer *drawer, int thread)
{
    struct program *program = drawer->program;
    bool hand = draw_can(drawer, CAN_GRAPHS), captured = draw_can(drawer, CAN_CAPTURE);
    if ((!hand && !captured) || drawer->held >= 0)
        return false;
    unsigned draw = below(drawer, 100);
    int exec = drawer->execs ? (int)below(drawer, (unsigned)drawer->execs) : -1;
    if (exec >= 0 && draw < 70) {
        struct op op = draw_op(OP_LAUNCH, thread, draw_stream(drawer, thread, 0));
        op.exec = (int16_t)exec;
        op.body = (int16_t)drawer->exec_body[exec];
        return order_device(drawer->order, op.stream) == 0 && draw_emit(drawer, op);
    }
    if (program->bodies == BODIES)
        return false;
    struct body *body = &program->body[program->bodies];
    if (exec >= 0 && draw < 80) {
        struct op op = draw_op(OP_UPDATE, thread, -1);
        op.exec = (int16_t)exec;
        op.body = (int16_t)program->bodies;
        *body = program->body[drawer->exec_body[exec]];
        for (int i = 0; i < body->count; i++)
            if (body->node[i].form == FORM_BOX &&
                body->node[i].kind == OP_COPY) /* hardware changes no graphs with copies of boxes */
                return false;
        vary_body(drawer, body);
        program->bodies++;
        if (!draw_emit(drawer, op))
            return false;
        drawer->exec_body[exec] = op.body;
        return true;
    }
    bool has_libraries = draw_can(drawer, CAN_LIBRARIES);
    drawer->by_library = has_libraries && captured && (!hand || chance(drawer, 50));
    if (drawer->execs == EXECS || !draw_body(drawer, body))
        return false;
    struct op op = draw_op(OP_GRAPH, thread, -1);
    op.exec = (int16_t)drawer->execs;
    op.body = (int16_t)program->bodies++;
    op.form = (uint8_t)(has_libraries ? drawer->by_library : !hand || (captured && chance(drawer, 50)));
    if (!draw_emit(drawer, op))
        return false;
    drawer->exec_body[drawer->execs++] = op.body;
    return true;
}

static bool draw_hold(struct drawer *drawer)
{
    if (!draw_can(drawer, CAN_HOLD | CAN_HOST) || drawer->program->threads > 1 || drawer->held >= 0 ||
        drawer->posts == POSTS)
        return false;
    struct op op = draw_op(OP_HOLD, 0, draw_stream(drawer, 0, -1));
    op.name = (int16_t)drawer->posts++;
    if (!draw_emit(drawer, op))
        return false;
    drawer->held = op.name;
    drawer->hold_until = drawer->program->count + 4 + (int)below(drawer, 40);
    return true;
}

/* Buffers that live throughout, written once. */
static void draw_start(struct drawer *drawer)
{
    static const uint8_t places[] = {PLACE_DEVICE, PLACE_DEVICE,   PLACE_DEVICE,  PLACE_DEVICE, PLACE_PINNED,
                                     PLACE_PINNED, PLACE_PAGEABLE, PLACE_MANAGED, PLACE_DEVICE, PLACE_DEVICE};
    drawer->streams = STREAM_FIRST;
    drawer->held = -1;
    for (unsigned i = 0; i < sizeof places; i++) {
        int device = i >= 8, number = drawer->buffers;
        if ((device && drawer->program->devices < 2) || (places[i] == PLACE_MANAGED && !draw_can(drawer, CAN_MANAGED)))
            continue;
        struct op op = draw_op(OP_ALLOC, 0, -1);
        op.to = (struct range){.buffer = (int16_t)number, .count = CELLS, .step = 1};
        op.place = drawer->place[number] = places[i];
        op.device = drawer->device[number] = (uint8_t)device;
        drawer->buffers++;
        (void)draw_emit(drawer, op);
        op = draw_op(places[i] == PLACE_PAGEABLE ? OP_COPY : OP_MAKE, 0, device);
        op.to = (struct range){.buffer = (int16_t)number, .count = CELLS, .step = 1};
        op.salt = (uint32_t)dice_next(&drawer->dice);
        op.factor = (uint32_t)dice_next(&drawer->dice) | 1;
        if (places[i] == PLACE_PAGEABLE) {
            op.from = (struct range){.buffer = 0, .count = CELLS, .step = 1};
            op.blocks = true;
        }
        (void)draw_emit(drawer, op);
    }
    drawer->kept = drawer->buffers;
    for (int i = 0; i < 3; i++) {
        struct op op = draw_op(OP_STREAM, 0, drawer->streams);
        op.form = (uint8_t)below(drawer, 8);
        drawer->streams += draw_emit(drawer, op);
    }
}

void program_draw(struct program *program, uint64_t seed, unsigned features, int length)
{
    static const int words[] = {16, 16, 64, 64, 64, 256, 256, 1024, 8192, 32768};
    static struct order *order;
    struct drawer drawer = {.program = program, .dice = {seed * 0x9e3779b97f4a7c15u + 1}};
    if (!order && !(order = order_new()))
        abort();
    memset(program, 0, sizeof *program);
    drawer.order = order;
    program->seed = seed;
    program->features = features;
    program->words = words[below(&drawer, sizeof words / sizeof *words)];
    program->devices = features & CAN_PEER ? 2 : 1;
    program->threads = features & CAN_THREADS && chance(&drawer, 50) ? 2 + (int)below(&drawer, THREADS - 1) : 1;
    order_begin(order, program);
    draw_start(&drawer);
    for (int tries = 0; tries < 4 * length && program->count < length; tries++) {
        int thread = (int)below(&drawer, (unsigned)program->threads);
        unsigned draw = below(&drawer, 100);
        if (drawer.held >= 0 && program->count >= drawer.hold_until)
            (void)draw_release(&drawer);
        if (draw < 58)
            (void)draw_work(&drawer, thread);
        else if (draw < 66)
            (void)draw_on_host(&drawer, thread);
        else if (draw < 78)
            (void)draw_order(&drawer, thread);
        else if (draw < 85)
            (void)draw_memory(&drawer, thread);
        else if (draw < 89)
            (void)draw_name(&drawer, thread);
        else if (draw < 98)
            (void)draw_graph(&drawer, thread);
        else
            (void)draw_hold(&drawer);
    }
    (void)draw_release(&drawer);
}
