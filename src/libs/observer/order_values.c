/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations (order_call.h): a value that a stream writes releases what it has done, and a wait for the
 * value acquires that.
 *
 * For each word the latest writes are kept. A wait that is asked for after the write acquires from the first of the
 * latest writes that all satisfy it: an earlier one of them may be what it saw, and what stands behind the others
 * needn't have happened. A wait that was asked for before any write that satisfies it acquires nothing here: see
 * docs/race-rules.md. The value may be seen a moment before the operation that wrote it counts as done, so the point
 * of a write is the one before it. */
#include "libs/observer/order_call.h"

static bool satisfies(uint64_t found, uint64_t wanted, unsigned flags, bool wide)
{
    if (!wide) {
        found = (uint32_t)found;
        wanted = (uint32_t)wanted;
    }
    switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return wide ? (int64_t)(found - wanted) >= 0 : (int32_t)((uint32_t)found - (uint32_t)wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    default:
        return ~(found | wanted) << (wide ? 0 : 32) != 0;
    }
}

/* Writes that the host knew to be done when another one was asked for: the host has set the word back since. If it
 * hasn't, the wait comes after the newer write in any case that matters: the older one is done. */
static void forget_known(struct obs_flag *flag)
{
    unsigned left = 0;
    for (unsigned i = 0; i < flag->count; i++) {
        struct obs_point *point = &flag->write[i].point;
        if (obs_clock_at(obs_lane_here()->knows[0], point->timeline) >= point->tick)
            obs_point_clear(point);
        else
            flag->write[left++] = flag->write[i];
    }
    for (unsigned i = left; i < flag->count; i++)
        flag->write[i] = (struct obs_flag_write){0};
    flag->count = left;
}

static void write(const struct obs_point *before, uint64_t address, uint64_t value)
{
    struct obs_flag *flag = obs_flag_find(address, true);
    if (!flag)
        return;
    forget_known(flag);
    if (flag->count == OBS_FLAG_WRITES) {
        obs_point_clear(&flag->write[0].point);
        for (unsigned i = 1; i < flag->count; i++)
            flag->write[i - 1] = flag->write[i];
        flag->count--;
        flag->write[flag->count] = (struct obs_flag_write){0};
    }
    struct obs_flag_write *last = &flag->write[flag->count++];
    last->value = value;
    obs_point_set(&last->point, before);
}

static void wait(struct obs_stream *stream, uint64_t address, uint64_t value, unsigned flags, bool wide)
{
    const struct obs_flag *flag = obs_flag_find(address, false);
    const struct obs_flag_write *from = NULL;
    for (unsigned i = flag ? flag->count : 0; i > 0 && satisfies(flag->write[i - 1].value, value, flags, wide); i--)
        from = &flag->write[i - 1];
    if (from)
        obs_order_wait(stream, &from->point);
}

/* `tick`: what the stream had before the call. */
static void release(struct obs_stream *stream, uint64_t tick, uint64_t address, uint64_t value, unsigned flags)
{
    struct obs_point point = stream->now;
    point.tick = tick;
    write(flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? &(struct obs_point){0} : &point, address, value);
}

static void one(struct obs_stream *stream, uint64_t tick, const CUstreamBatchMemOpParams *op)
{
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        release(stream, tick, op->writeValue.address, op->writeValue.value, op->writeValue.flags);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        release(stream, tick, op->writeValue.address, op->writeValue.value64, op->writeValue.flags);
        break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wait(stream, op->waitValue.address, op->waitValue.value, op->waitValue.flags, false);
        break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait(stream, op->waitValue.address, op->waitValue.value64, op->waitValue.flags, true);
        break;
    default:
        break;
    }
}

/* What the stream has before the writes of this call. */
void obs_values_enter(struct obs_call *call)
{
    if (call->captured)
        return;
    obs_order_lock();
    const struct obs_stream *stream = obs_call_stream(call);
    call->point.tick = stream ? stream->now.tick : 0;
    obs_order_unlock();
}

/* `to` of a family is the address, `from` the value, `size` the flags; `number` is the operation; 0: a batch, whose
 * list is at `object` and its length at `size`. */
void obs_values_leave(struct obs_call *call)
{
    const struct obs_family *family = call->family;
    if (call->captured)
        return;
    obs_order_lock();
    struct obs_stream *stream = obs_call_stream(call);
    if (stream && family->number == 0) {
        const CUstreamBatchMemOpParams *list = (const void *)obs_param_handle(call, family->object);
        unsigned count = *(const unsigned *)obs_param(call, family->size);
        for (unsigned i = 0; i < count; i++)
            one(stream, call->point.tick, &list[i]);
    } else if (stream) {
        bool wide =
            family->number == CU_STREAM_MEM_OP_WRITE_VALUE_64 || family->number == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        uint64_t value = wide ? obs_param_handle(call, family->from) : *(const uint32_t *)obs_param(call, family->from);
        uint64_t address = obs_param_handle(call, family->to);
        if (family->number == CU_STREAM_MEM_OP_WAIT_VALUE_32 || family->number == CU_STREAM_MEM_OP_WAIT_VALUE_64)
            wait(stream, address, value, *(const unsigned *)obs_param(call, family->size), wide);
        else
            release(stream, call->point.tick, address, value, *(const unsigned *)obs_param(call, family->size));
    }
    obs_order_unlock();
}
