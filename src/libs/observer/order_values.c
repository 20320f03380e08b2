/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations (order_call.h): a value that a stream writes releases what it has done, and a wait for the
 * value acquires that.
 *
 * For each word the latest writes are kept. A wait that is asked for after the write acquires from the first of the
 * latest writes that all satisfy it: an earlier one of them may be what it saw, and what stands behind the others
 * needn't have happened. The value may be seen a moment before the operation that wrote it counts as done, so the point
 * of a write is the one before it.
 *
 * A wait that no write satisfies yet is open. It acquires by late edges (late.h): from the first write of a stream's
 * that satisfies it later; or, if there is none when it ends, from all that has written the word (kernels, copies,
 * fills), as a whole, and from the host, which may have written it unseen. */
#include "libs/observer/late.h"
#include "libs/observer/order_call.h"

/* Waits that are open, or were when they ended: what runs then may have written the value, and be told of later. */
enum { OPEN_WAITS = 64 };
struct open_wait {
    uint64_t address, value;
    unsigned flags;
    bool wide, used, ended;
    uint64_t write; /* the number of the call that satisfies it; 0: none does */
    uint32_t timeline, launch; /* launch: of a step's, the timeline of the graph's launch; else 0 */
    uint64_t tick, launch_tick;
};

/* The latest memory operations that have ended: a wait may end before its call returns. Under the rules' lock. */
enum { ENDED = 64 };
static struct {
    uint32_t timeline;
    uint64_t tick;
} ended[ENDED];
static uint32_t next_ended;

_Atomic uint32_t obs_values_open;
static struct open_wait waits[OPEN_WAITS]; /* under the rules' lock */
static uint32_t next_wait;

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

/* With the lock held: nobody asks for these any more, because the host knows that the wait has ended. */
static void close_known(void)
{
    for (uint32_t i = 0; i < OPEN_WAITS && !obs_lanes_apart; i++)
        if (waits[i].used && waits[i].ended &&
            obs_clock_at(obs_lane_here()->knows[OBS_EDGES_ALL], waits[i].timeline) >= waits[i].tick) {
            waits[i].used = false;
            obs_values_open--;
        }
}

/* What comes after the wait comes after the source; what comes after a graph's launch comes after its steps. */
static void acquire(const struct open_wait *wait, const struct obs_late_source *source)
{
    obs_late_add(wait->timeline, wait->tick, source);
    if (wait->launch)
        obs_late_add(wait->launch, wait->launch_tick, source);
}

/* The host may have written what the wait saw. */
static void acquire_from_host(const struct open_wait *wait)
{
    const struct obs_lane *lane = obs_lane_here();
    struct obs_point point = {.before = {lane->knows[0], lane->knows[1]}};
    struct obs_late_source source = {&point, lane->timeline, obs_stamp(), false};
    if (!obs_lanes_apart && !wait->write)
        acquire(wait, &source);
}

static bool has_ended(const struct obs_point *point)
{
    for (uint32_t i = 0; i < ENDED; i++)
        if (ended[i].timeline == point->timeline && ended[i].tick == point->tick)
            return true;
    return false;
}

/* With the lock held: a stream waits for the word. */
static void await(uint64_t address)
{
    struct obs_flag *flag = obs_flag_find(address, true);
    if (flag)
        flag->awaited = true;
}

bool obs_values_awaited(uint64_t address)
{
    const struct obs_flag *flag = obs_flag_find(address, false);
    return flag && flag->awaited;
}

static void open_wait(const struct obs_point *at, const struct open_wait *like)
{
    close_known();
    struct open_wait *wait = &waits[next_wait++ % OPEN_WAITS];
    obs_values_open += !wait->used;
    *wait = *like;
    wait->used = true;
    wait->ended = has_ended(at);
    wait->timeline = at->timeline;
    wait->tick = at->tick;
    if (wait->ended)
        acquire_from_host(wait);
}

/* A stream writes a value, by a call of this number, at the point: what waits for it acquires that. */
static void satisfy(uint64_t number, const struct obs_point *before, uint64_t address, uint64_t value)
{
    struct obs_late_source source = {.point = before};
    for (uint32_t i = 0; i < OPEN_WAITS && obs_values_open; i++) {
        struct open_wait *wait = &waits[i];
        if (!wait->used || wait->address != address || (wait->write && wait->write != number) ||
            (wait->ended && !wait->write) || !satisfies(value, wait->value, wait->flags, wait->wide))
            continue;
        wait->write = number;
        acquire(wait, &source);
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

/* One operation of a call. `leaves`: the call has succeeded; else it is about to be made. */
struct one {
    struct obs_call *call;
    struct obs_stream *stream;
    bool leaves;
};

/* The write from which such a wait acquires, or NULL. */
static const struct obs_flag_write *write_for(const struct open_wait *wait)
{
    const struct obs_flag *flag = obs_flag_find(wait->address, false);
    const struct obs_flag_write *from = NULL;
    for (unsigned i = flag ? flag->count : 0;
         i > 0 && satisfies(flag->write[i - 1].value, wait->value, wait->flags, wait->wide); i--)
        from = &flag->write[i - 1];
    return from;
}

static void wait(const struct one *one, uint64_t address, uint64_t value, unsigned flags, bool wide)
{
    struct open_wait open = {.address = address, .value = value, .flags = flags, .wide = wide};
    await(address);
    const struct obs_flag_write *from = one->leaves ? write_for(&open) : NULL;
    if (from)
        obs_order_wait(one->stream, &from->point);
    else if (one->leaves)
        open_wait(&one->stream->now, &open);
}

static void release(const struct one *one, uint64_t address, uint64_t value, unsigned flags)
{
    struct obs_point none = {0}, point = one->stream->now;
    point.tick = one->call->point.tick; /* what the stream had before the call */
    const struct obs_point *before = flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? &none : &point;
    satisfy(one->call->side.number, before, address, value);
    if (one->leaves)
        write(before, address, value);
}

static void of_batch(const struct one *one, const CUstreamBatchMemOpParams *op)
{
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        release(one, op->writeValue.address, op->writeValue.value, op->writeValue.flags);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        release(one, op->writeValue.address, op->writeValue.value64, op->writeValue.flags);
        break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wait(one, op->waitValue.address, op->waitValue.value, op->waitValue.flags, false);
        break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait(one, op->waitValue.address, op->waitValue.value64, op->waitValue.flags, true);
        break;
    default:
        break;
    }
}

static struct open_wait wait_of(const CUstreamBatchMemOpParams *op)
{
    bool wide = op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    return (struct open_wait){.address = op->waitValue.address,
                              .value = wide ? op->waitValue.value64 : op->waitValue.value,
                              .flags = op->waitValue.flags,
                              .wide = wide};
}

bool obs_values_acquire(const CUstreamBatchMemOpParams *op, const struct obs_clock *to[OBS_EDGES_KINDS])
{
    struct open_wait wait = wait_of(op);
    if (obs_values_is_wait(op))
        await(wait.address);
    const struct obs_flag_write *from = obs_values_is_wait(op) ? write_for(&wait) : NULL;
    if (from)
        obs_point_join(to, &from->point);
    return from != NULL;
}

void obs_values_await(const CUstreamBatchMemOpParams *op, const struct obs_operation *step)
{
    struct obs_point point;
    struct open_wait wait = wait_of(op);
    (void)obs_late_source_of(step, &point);
    wait.launch = step->launch;
    wait.launch_tick = step->launch_tick;
    open_wait(&point, &wait);
}

void obs_values_release(const CUstreamBatchMemOpParams *op, const struct obs_operation *step, uint64_t number)
{
    bool wide = op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    uint64_t value = wide ? op->writeValue.value64 : op->writeValue.value, address = op->writeValue.address;
    struct obs_point none = {0}, point;
    (void)obs_late_source_of(step, &point);
    point.tick--; /* what comes before the step */
    const struct obs_point *before = op->writeValue.flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? &none : &point;
    if (!wide && op->operation != CU_STREAM_MEM_OP_WRITE_VALUE_32)
        return;
    satisfy(number, before, address, value);
    write(before, address, value);
}

/* `to` of a family is the address, `from` the value, `size` the flags; `number` is the operation; 0: a batch, whose
 * list is at `object` and its length at `size`. */
static void all(const struct one *one)
{
    const struct obs_call *call = one->call;
    const struct obs_family *family = call->family;
    if (family->number == 0) {
        const CUstreamBatchMemOpParams *list = (const void *)obs_param_handle(call, family->object);
        unsigned count = *(const unsigned *)obs_param(call, family->size);
        for (unsigned i = 0; list && i < count; i++)
            of_batch(one, &list[i]);
        return;
    }
    bool wide = family->number == CU_STREAM_MEM_OP_WRITE_VALUE_64 || family->number == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    uint64_t value = wide ? obs_param_handle(call, family->from) : *(const uint32_t *)obs_param(call, family->from);
    uint64_t address = obs_param_handle(call, family->to);
    unsigned flags = *(const unsigned *)obs_param(call, family->size);
    if (family->number == CU_STREAM_MEM_OP_WAIT_VALUE_32 || family->number == CU_STREAM_MEM_OP_WAIT_VALUE_64)
        wait(one, address, value, flags, wide);
    else
        release(one, address, value, flags);
}

/* What the stream has before the writes of this call. Open waits may end before the call returns: they acquire what is
 * known now, and the rest when it returns. */
void obs_values_enter(struct obs_call *call)
{
    struct obs_point now = {0};
    if (call->captured)
        return;
    obs_order_lock();
    struct one one = {call, obs_call_stream(call), false};
    call->point.tick = one.stream ? one.stream->now.tick : 0;
    if (one.stream && obs_values_open) {
        obs_order_record(one.stream, false, &now); /* the stream learns what the host knows */
        obs_point_clear(&now);
        all(&one);
    }
    obs_order_unlock();
}

void obs_values_leave(struct obs_call *call)
{
    if (call->captured)
        return;
    obs_order_lock();
    struct one one = {call, obs_call_stream(call), true};
    if (one.stream)
        all(&one);
    obs_order_unlock();
}

void obs_values_ended(const struct obs_operation *operation)
{
    uint64_t tick = atomic_load(&((struct obs_operation *)operation)->tick);
    ended[next_ended % ENDED].timeline = operation->timeline;
    ended[next_ended++ % ENDED].tick = tick;
    for (uint32_t i = 0; i < OPEN_WAITS && obs_values_open; i++)
        if (waits[i].used && !waits[i].ended && waits[i].timeline == operation->timeline && waits[i].tick == tick) {
            waits[i].ended = true;
            acquire_from_host(&waits[i]);
        }
}

size_t obs_values_waited(const struct obs_operation *operation, uint64_t addresses[], size_t most)
{
    size_t count = 0;
    uint64_t tick = atomic_load(&((struct obs_operation *)operation)->tick);
    obs_order_lock();
    for (uint32_t i = 0; i < OPEN_WAITS && count < most; i++)
        if (waits[i].used && !waits[i].write && waits[i].timeline == operation->timeline && waits[i].tick == tick)
            addresses[count++] = waits[i].address;
    obs_order_unlock();
    return count;
}

static bool holds(const struct mr_access *box, uint64_t address)
{
    uint64_t at = address - box->first;
    if (!(box->how & MR_ACCESS_WRITE) || address < box->first)
        return false;
    return box->rows > 1 && box->pitch ? at / box->pitch < box->rows && at % box->pitch < box->width : at < box->width;
}

void obs_values_written(const struct obs_operation *operation, const struct mr_access *boxes, size_t count)
{
    struct obs_point point;
    struct obs_late_source source = obs_late_source_of(operation, &point);
    obs_order_lock();
    close_known();
    for (uint32_t i = 0; i < OPEN_WAITS && obs_values_open; i++) {
        const struct open_wait *wait = &waits[i];
        bool after = operation->timeline == wait->timeline ||
                     obs_clock_at(operation->before[OBS_EDGES_ALL], wait->timeline) >= wait->tick;
        for (size_t n = 0; n < count && wait->used && !wait->write && !after; n++)
            if (holds(&boxes[n], wait->address)) {
                acquire(wait, &source);
                break;
            }
    }
    obs_order_unlock();
}
