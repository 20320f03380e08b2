/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations (order_call.h): a value that a stream writes releases what it has done, and a wait for the
 * value acquires that.
 *
 * For each word the latest writes are kept. A wait that is asked for after the write acquires from the first of the
 * latest writes that all satisfy it: an earlier one of them may be what it saw, and what stands behind the others
 * needn't have happened. The point of a write is its own, so what comes after the wait may set the word back; of a
 * batch it is that of the whole batch.
 *
 * A write does not count behind which the word has been set back: by another value, or by a kernel, copy or fill (a
 * reset), whose value is unknown. Kernels and the like are known when they have run, and the wait may have been asked
 * for before: it is kept until it ends, and acquires by a late edge then.
 *
 * A wait that no write satisfies yet is open. It acquires by late edges (late.h): from the first write of a stream's
 * that satisfies it later; or, if there is none when it ends, from all that has written the word (kernels, copies,
 * fills), as a whole, and from the host, which may have written it unseen. */
#include "libs/observer/late.h"
#include "libs/observer/order_call.h"

/* Waits that are open, or were when they ended: what runs then may have written the value, and be told of later. Behind
 * them stand those which were satisfied when they were asked for, and have not ended: these may turn out to be open. */
enum { OPEN_WAITS = 64, ALL_WAITS = 128 };
struct open_wait {
    uint64_t address, value;
    unsigned flags;
    bool wide, used, ended;
    uint64_t write; /* the number of the call that satisfies it; 0: none does */
    bool doubtful; /* it was satisfied when it was asked for, unless there was a reset */
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
static struct open_wait waits[ALL_WAITS]; /* under the rules' lock */
static uint32_t next_wait, next_doubtful;

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
    for (uint32_t i = 0; i < ALL_WAITS && !obs_lanes_apart; i++)
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
    bool over = has_ended(at);
    if (over && like->doubtful)
        return;
    struct open_wait *wait =
        &waits[like->doubtful ? OPEN_WAITS + next_doubtful++ % (ALL_WAITS - OPEN_WAITS) : next_wait++ % OPEN_WAITS];
    obs_values_open += !wait->used;
    *wait = *like;
    wait->used = true;
    wait->ended = over;
    wait->timeline = at->timeline;
    wait->tick = at->tick;
    if (wait->ended)
        acquire_from_host(wait);
}

/* A stream writes a value, by a call of this number, at the point: what waits for it acquires that. */
static void satisfy(uint64_t number, const struct obs_point *before, uint64_t address, uint64_t value)
{
    struct obs_late_source source = {.point = before};
    for (uint32_t i = 0; i < ALL_WAITS && obs_values_open; i++) {
        struct open_wait *wait = &waits[i];
        if (!wait->used || wait->address != address || (wait->write && wait->write != number) ||
            (wait->ended && !wait->write) || !satisfies(value, wait->value, wait->flags, wait->wide))
            continue;
        wait->write = number;
        acquire(wait, &source);
    }
}

/* Writes whose calls have not returned, while waits are open: what they write may be seen already. Under the rules'
 * lock. */
enum { PENDING = 16 };
static struct pending {
    uint64_t number, address, value;
    struct obs_point point;
} pending[PENDING];
static uint32_t next_pending;

static void add_pending(uint64_t number, const struct obs_point *before, uint64_t address, uint64_t value)
{
    struct pending *one = &pending[next_pending++ % PENDING];
    one->number = number;
    one->address = address;
    one->value = value;
    obs_point_set(&one->point, before);
}

static void drop_pending(uint64_t number)
{
    for (uint32_t i = 0; i < PENDING; i++)
        if (pending[i].number == number) {
            pending[i].number = 0;
            obs_point_clear(&pending[i].point);
        }
}

/* A wait that turns out to be open. */
static void acquire_from_pending(struct open_wait *wait)
{
    for (uint32_t i = 0; i < PENDING && !wait->write; i++)
        if (pending[i].number && pending[i].address == wait->address &&
            satisfies(pending[i].value, wait->value, wait->flags, wait->wide)) {
            wait->write = pending[i].number;
            acquire(wait, &(struct obs_late_source){.point = &pending[i].point});
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

/* `before` stands for what a call of this number releases by the value. */
static void write(uint64_t number, const struct obs_point *before, uint64_t address, uint64_t value)
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
    last->number = number;
    obs_point_set(&last->point, before);
}

/* One operation of a call. `leaves`: the call has succeeded; else it is about to be made. */
struct one {
    struct obs_call *call;
    struct obs_stream *stream;
    bool leaves;
};

/* Has the word been set back behind this write? Where the order of two writes can't be seen, they haven't. */
static bool is_stale(const struct obs_flag *flag, const struct obs_flag_write *write, const struct open_wait *wait)
{
    bool stale = false;
    if (!write->point.timeline)
        return false;
    for (unsigned i = 0; i < flag->count && !stale; i++)
        stale = flag->write[i].point.timeline &&
                !satisfies(flag->write[i].value, wait->value, wait->flags, wait->wide) &&
                obs_late_point_after(&flag->write[i].point, &write->point);
    for (unsigned i = 0; i < OBS_FLAG_RESETS && i < flag->resets && !stale; i++)
        stale = obs_late_point_after(&flag->reset[i], &write->point);
    return stale;
}

/* The write from which such a wait acquires, or NULL. Where the latest one has been set back since, *old is that one: a
 * kernel, copy or fill may have left a value that satisfies, too. */
static const struct obs_flag_write *write_for(const struct open_wait *wait, const struct obs_flag_write **old)
{
    const struct obs_flag *flag = obs_flag_find(wait->address, false);
    const struct obs_flag_write *from = NULL, *last = flag && flag->count ? &flag->write[flag->count - 1] : NULL;
    for (unsigned i = flag ? flag->count : 0; i > 0; i--) {
        const struct obs_flag_write *write = &flag->write[i - 1];
        if (!satisfies(write->value, wait->value, wait->flags, wait->wide) || is_stale(flag, write, wait))
            break;
        from = write;
    }
    *old = last && !from && satisfies(last->value, wait->value, wait->flags, wait->wide) ? last : NULL;
    return from;
}

static void wait(const struct one *one, uint64_t address, uint64_t value, unsigned flags, bool wide)
{
    struct open_wait open = {.address = address, .value = value, .flags = flags, .wide = wide};
    await(address);
    if (!one->leaves)
        return;
    const struct obs_flag_write *old, *from = write_for(&open, &old);
    if (from || old)
        obs_order_wait(one->stream, from ? &from->point : &old->point);
    open.write = from ? from->number : 0;
    open.doubtful = from != NULL;
    open_wait(&one->stream->now, &open);
}

static void release(const struct one *one, uint64_t address, uint64_t value, unsigned flags)
{
    struct obs_point none = {0}, point = one->stream->now;
    if (point.timeline == one->call->point.timeline)
        point.tick = one->call->point.tick + 1; /* what the stream had before the call, and the call's own work */
    const struct obs_point *before = flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? &none : &point;
    satisfy(one->call->side.number, before, address, value);
    if (one->leaves)
        write(one->call->side.number, before, address, value);
    else
        add_pending(one->call->side.number, before, address, value);
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
    const struct obs_flag_write *old = NULL, *from = obs_values_is_wait(op) ? write_for(&wait, &old) : NULL;
    if (from || old)
        obs_point_join(to, from ? &from->point : &old->point);
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
    const struct obs_point *before = op->writeValue.flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? &none : &point;
    if (!wide && op->operation != CU_STREAM_MEM_OP_WRITE_VALUE_32)
        return;
    satisfy(number, before, address, value);
    write(number, before, address, value);
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
    if (one.stream && obs_values_open)
        obs_order_timeline(one.stream); /* the call's own work has a place in it */
    call->point.timeline = one.stream ? one.stream->now.timeline : 0;
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
    drop_pending(call->side.number);
    obs_order_unlock();
}

void obs_values_ended(const struct obs_operation *operation)
{
    uint64_t tick = atomic_load(&((struct obs_operation *)operation)->tick);
    ended[next_ended % ENDED].timeline = operation->timeline;
    ended[next_ended++ % ENDED].tick = tick;
    for (uint32_t i = 0; i < ALL_WAITS && obs_values_open; i++)
        if (waits[i].used && !waits[i].ended && waits[i].timeline == operation->timeline && waits[i].tick == tick) {
            waits[i].ended = true;
            waits[i].used = !waits[i].doubtful;
            obs_values_open -= waits[i].doubtful;
            acquire_from_host(&waits[i]);
        }
}

size_t obs_values_waited(const struct obs_operation *operation, uint64_t addresses[], size_t most)
{
    size_t count = 0;
    uint64_t tick = atomic_load(&((struct obs_operation *)operation)->tick);
    obs_order_lock();
    for (uint32_t i = 0; i < ALL_WAITS && count < most; i++)
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

static bool is_behind(const struct obs_point *point, const struct open_wait *wait)
{
    return point->timeline == wait->timeline ? point->tick > wait->tick
                                             : obs_clock_at(point->before[OBS_EDGES_ALL], wait->timeline) >= wait->tick;
}

static bool any_holds(const struct mr_access *boxes, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (holds(&boxes[i], address))
            return true;
    return false;
}

/* With the lock held: the word may have been set back before the wait, which was taken to be satisfied. */
static void doubt(struct open_wait *wait)
{
    const struct obs_flag_write *old, *from = write_for(wait, &old);
    if (from && from->number == wait->write)
        return;
    wait->write = from ? from->number : 0;
    wait->doubtful = from != NULL;
    if (from)
        acquire(wait, &(struct obs_late_source){.point = &from->point});
    else
        acquire_from_pending(wait);
}

/* What no stream's write of a value has written to words that streams wait for. */
static void note_resets(const struct obs_point *point, const struct mr_access *boxes, size_t count)
{
    for (struct obs_flag *flag = obs_flags; flag; flag = flag->next_of_all) {
        if (!flag->awaited || !any_holds(boxes, count, flag->address))
            continue;
        obs_point_set(&flag->reset[flag->resets++ % OBS_FLAG_RESETS], point);
        for (uint32_t i = 0; i < ALL_WAITS && obs_values_open; i++)
            if (waits[i].used && waits[i].doubtful && waits[i].address == flag->address && !is_behind(point, &waits[i]))
                doubt(&waits[i]);
    }
}

void obs_values_written(const struct obs_operation *operation, const struct mr_access *boxes, size_t count)
{
    struct obs_point point;
    struct obs_late_source source = obs_late_source_of(operation, &point);
    obs_order_lock();
    close_known();
    note_resets(&point, boxes, count);
    for (uint32_t i = 0; i < ALL_WAITS && obs_values_open; i++) {
        const struct open_wait *wait = &waits[i];
        bool after = operation->timeline == wait->timeline || is_behind(&point, wait);
        for (size_t n = 0; n < count && wait->used && !wait->write && !after; n++)
            if (holds(&boxes[n], wait->address)) {
                acquire(wait, &source);
                break;
            }
    }
    obs_order_unlock();
}
