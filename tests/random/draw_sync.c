/* SPDX-License-Identifier: Apache-2.0 */
/* The waits that a program needs, drawn at random from all the ways there are, and no more than that.
 *
 * One call adds one step. The caller looks again afterwards, and calls again if something is still missing: threads
 * that don't know of each other's submissions first have to be told (post and await), and only then can an event be
 * recorded behind the work in question. */
#include "draw.h"

bool draw_can(const struct drawer *drawer, unsigned features)
{
    return (drawer->program->features & features) == features;
}

struct op draw_op(int kind, int thread, int stream)
{
    const struct range none = {.buffer = -1};
    return (struct op){.kind = (uint8_t)kind,
                       .thread = (uint8_t)thread,
                       .stream = (int8_t)stream,
                       .event = -1,
                       .exec = -1,
                       .body = -1,
                       .name = -1,
                       .to = none,
                       .from = none,
                       .with = none};
}

bool draw_release(struct drawer *drawer)
{
    if (drawer->held < 0)
        return true;
    struct op op = draw_op(OP_RELEASE, 0, -1);
    op.name = (int16_t)drawer->held;
    drawer->held = -1;
    return draw_emit(drawer, op);
}

int draw_event(struct drawer *drawer, int thread)
{
    struct miss miss;
    for (int tries = 0; tries < 4 && drawer->events; tries++) {
        struct op op = draw_op(OP_RECORD, thread, STREAM_THREAD + thread);
        op.event = (int16_t)dice_below(&drawer->dice, (unsigned)drawer->events);
        if (order_alive_event(drawer->order, op.event) && order_allows(drawer->order, &op, &miss))
            return op.event;
    }
    if (drawer->events == EVENTS)
        return -1;
    struct op op = draw_op(OP_EVENT, thread, -1);
    op.event = (int16_t)drawer->events++;
    op.form = (uint8_t)dice_below(&drawer->dice, 4);
    return draw_emit(drawer, op) ? op.event : -1;
}

/* Thread `from` tells thread `to` what it knows. */
static bool tell(struct drawer *drawer, int from, int to)
{
    if (drawer->posts == POSTS || from == to)
        return false;
    struct op post = draw_op(OP_POST, from, -1), await = draw_op(OP_AWAIT, to, -1);
    post.name = await.name = (int16_t)drawer->posts++;
    return draw_emit(drawer, post) && draw_emit(drawer, await);
}

/* The thread waits on its own for what is in a stream. */
static bool wait_on_host(struct drawer *drawer, int thread, int stream)
{
    static const uint8_t ways[] = {OP_EVENT_SYNC,  OP_EVENT_SYNC,  OP_EVENT_SYNC,  OP_EVENT_POLL,
                                   OP_STREAM_SYNC, OP_STREAM_SYNC, OP_STREAM_POLL, OP_DEVICE_SYNC};
    struct op op = draw_op(ways[dice_below(&drawer->dice, sizeof ways)], thread, stream);
    if (!draw_release(drawer))
        return false;
    if (op.kind == OP_EVENT_SYNC || op.kind == OP_EVENT_POLL) {
        struct op record = draw_op(OP_RECORD, thread, stream);
        record.event = op.event = (int16_t)draw_event(drawer, thread);
        op.stream = -1;
        return op.event >= 0 && draw_emit(drawer, record) && draw_emit(drawer, op);
    }
    if (op.kind == OP_DEVICE_SYNC) {
        op.device = (uint8_t)order_device(drawer->order, stream);
        op.stream = -1;
    }
    return draw_emit(drawer, op);
}

/* The stream waits for a word that another writes. */
static bool wait_for_value(struct drawer *drawer, int thread, int writer, int waiter)
{
    struct op flag = draw_op(OP_FLAG, thread, writer), wait = draw_op(OP_FLAG_WAIT, thread, waiter);
    if (drawer->flags == FLAGS)
        return false;
    flag.name = wait.name = (int16_t)drawer->flags++;
    return draw_emit(drawer, flag) && draw_emit(drawer, wait);
}

/* The stream waits for a recording in another, made by `recorder`. */
static bool wait_for_event(struct drawer *drawer, int recorder, int stream, const struct op *op, bool host)
{
    struct op record = draw_op(OP_RECORD, recorder, stream),
              wait = draw_op(host ? OP_EVENT_SYNC : OP_WAIT, op->thread, host ? -1 : op->stream);
    record.event = wait.event = (int16_t)draw_event(drawer, recorder);
    if (host && !draw_release(drawer))
        return false;
    if (wait.event < 0 || !draw_emit(drawer, record))
        return false;
    return draw_emit(drawer, wait);
}

/* Waits for an event that was recorded before, if one stands for what is missed. */
static bool wait_for_old_event(struct drawer *drawer, const struct op *op, const struct miss *miss)
{
    struct miss other;
    for (int tries = 0; tries < 6 && drawer->events; tries++) {
        struct op wait = draw_op(miss->host ? OP_EVENT_SYNC : OP_WAIT, op->thread, miss->host ? -1 : op->stream);
        wait.event = (int16_t)dice_below(&drawer->dice, (unsigned)drawer->events);
        if (!order_alive_event(drawer->order, wait.event) || !order_event_covers(drawer->order, wait.event, miss) ||
            !order_allows(drawer->order, &wait, &other))
            continue;
        if (miss->host && !draw_release(drawer))
            return false;
        return draw_emit(drawer, wait);
    }
    return false;
}

bool draw_wait(struct drawer *drawer, const struct op *op, const struct miss *miss)
{
    const struct op *missed = &drawer->program->op[miss->op];
    int from = missed->thread, stream = missed->stream, thread = op->thread;
    bool host = miss->host || op->stream < 0;
    if (miss->by_host)
        return tell(drawer, from, thread);
    if (dice_chance(&drawer->dice, 25) && wait_for_old_event(drawer, op, miss))
        return true;
    if (!order_alive_stream(drawer->order, stream)) {
        struct op sync = draw_op(OP_DEVICE_SYNC, order_knows(drawer->order, thread, miss->op) ? thread : from, -1);
        sync.device = (uint8_t)order_device(drawer->order, stream);
        return draw_release(drawer) && draw_emit(drawer, sync) && (sync.thread == thread || tell(drawer, from, thread));
    }
    bool own = stream >= STREAM_THREAD && stream < STREAM_FIRST;
    if (from != thread && (own || !order_knows(drawer->order, thread, miss->op))) {
        if (own || dice_chance(&drawer->dice, 50))
            return dice_chance(&drawer->dice, 20) ? wait_on_host(drawer, from, stream) && tell(drawer, from, thread)
                                                  : wait_for_event(drawer, from, stream, op, host);
        return tell(drawer, from, thread);
    }
    if (host)
        return wait_on_host(drawer, thread, stream);
    unsigned draw = dice_below(&drawer->dice, 100);
    if (draw < 60 || drawer->held >= 0)
        return wait_for_event(drawer, thread, stream, op, false);
    if (draw < 80 && draw_can(drawer, CAN_VALUES) && stream != op->stream &&
        wait_for_value(drawer, thread, stream, op->stream))
        return true;
    return wait_on_host(drawer, thread, stream);
}
