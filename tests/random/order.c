/* SPDX-License-Identifier: Apache-2.0 */
/* What happens before what, from the ordering rules alone.
 *
 * Each host thread has a timeline, and each pair of a stream and a thread that submits to it. A clock counts what is
 * known to have happened on each. Work begins after what its thread knew when it submitted it, after the earlier work
 * of its stream, and after what the default-stream rules add; a wait adds what the event's recording stood for; a
 * thread that synchronises learns what the stream or event knew. Submissions count as earlier or later only if the
 * threads that made them are ordered.
 *
 * Where the manual leaves room, or hardware takes it, less is taken for granted: a record in a blocking stream stands
 * for that stream's own work only; waits and stream-ordered allocations have no part in the default-stream rules, and
 * nothing is built on frees (is_slight), which themselves come after all that these rules name, allocations included;
 * a destroyed stream is left out of them; a stream that is made while the legacy stream is busy does
 * not wait for what that has then, for on hardware it often doesn't (the conformance case
 * default_stream.streams_created_while_legacy_is_busy). A thread's own default stream is taken to be made by the first
 * work in it. A copy out of pinned memory reads it with no regard to the default-stream rules: hardware takes a small
 * one's source when it is submitted, if nothing is pending in its stream itself
 * (default_stream.small_copy_reads_early_*). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* The last accesses. Writes are all ordered, so the latest one says it all. */
struct trace {
    int16_t line;
    uint16_t count;
    struct clock reads, adds;
};

enum {
    NAME_EVENT,
    NAME_STREAM = NAME_EVENT + EVENTS,
    NAME_BUFFER = NAME_STREAM + STREAMS,
    NAME_EXEC = NAME_BUFFER + BUFFERS,
    NAME_FLAG = NAME_EXEC + EXECS,
    NAMES = NAME_FLAG + FLAGS
};

/* `maker` and `made`: the thread that made the stream, and the tick of its timeline; 0: not made yet. */
struct stream {
    int last, device;
    bool blocking;
    uint8_t maker;
    uint16_t made;
    int16_t line[THREADS];
};

struct order {
    const struct program *program;
    struct clock host[THREADS];
    int lines;
    int owner[TIMELINES][2];              /* stream and thread; stream -1: the host thread itself */
    uint16_t ticks[TIMELINES];
    int16_t op_at[TIMELINES][OPS + 1];    /* which operation a timeline's n-th is */
    struct clock after[OPS];              /* what is known when the operation is done */
    uint16_t submitted[OPS];              /* on its thread's timeline */
    int before[OPS], before_launch[OPS];  /* the operation before in the stream; the launch before of the graph */
    uint8_t thread[OPS], kind[OPS];
    uint16_t line[OPS], count[OPS]; /* where the operation is on its timeline; `submitted`: what its host part is */
    struct stream stream[STREAMS];
    struct clock event[EVENTS], flag[FLAGS], post[POSTS];
    bool posted[POSTS];
    int last_launch[EXECS], body[EXECS];
    struct trace name[NAMES], cell[BUFFERS][CELLS];
    bool alive[NAMES], written[BUFFERS][CELLS];
};

static void join(struct clock *clock, const struct clock *other)
{
    for (int i = 0; i < TIMELINES; i++)
        if (other->at[i] > clock->at[i])
            clock->at[i] = other->at[i];
}

bool order_by_arrival;

/* Whether an operation was submitted before one that is submitted now by a thread that knows this. */
static bool is_earlier(const struct order *order, int op, const struct clock *host)
{
    return order_by_arrival || order->submitted[op] <= host->at[order->thread[op]];
}

static bool covers(const struct clock *clock, const struct clock *other, int *line)
{
    for (int i = 0; i < TIMELINES; i++) {
        if (other->at[i] > clock->at[i]) {
            *line = i;
            return false;
        }
    }
    return true;
}

struct order *order_new(void)
{
    return malloc(sizeof(struct order));
}

void order_begin(struct order *order, const struct program *program)
{
    memset(order, 0, sizeof *order);
    order->program = program;
    order->lines = THREADS;
    for (int i = 0; i < THREADS; i++) {
        order->owner[i][0] = -1;
        order->owner[i][1] = i;
    }
    for (int i = 0; i < STREAMS; i++) {
        order->stream[i].last = -1;
        for (int t = 0; t < THREADS; t++)
            order->stream[i].line[t] = -1;
    }
    for (int i = 0; i < STREAM_FIRST; i++) {
        order->stream[i].device = i < DEVICES ? i : 0;
        order->stream[i].blocking = i >= DEVICES;
        order->alive[NAME_STREAM + i] = true;
    }
    for (int i = 0; i < EXECS; i++)
        order->last_launch[i] = -1;
    for (int i = 0; i < NAMES; i++)
        order->name[i].line = -1;
    for (int i = 0; i < BUFFERS; i++)
        for (int c = 0; c < CELLS; c++)
            order->cell[i][c].line = -1;
}

/* Operations on which nothing but frees is built by the default-stream rules: hardware orders allocations less than
 * other work. */
static bool is_slight(int kind)
{
    return kind == OP_WAIT || kind == OP_FLAG_WAIT || kind == OP_ALLOC_ASYNC || kind == OP_FREE_ASYNC ||
           kind == OP_RECORD;
}

/* What the stream's operations that `host` knows of have done, or will have done before an operation submitted now.
 * `chain` links them. `solid`: except for the slight ones at its end. */
static void join_known(const struct order *order, struct clock *start, int last, const int *chain,
                       const struct clock *host, bool solid)
{
    unsigned seen = 0;
    for (int op = last; op >= 0 && seen != (1u << THREADS) - 1; op = chain[op]) {
        unsigned bit = 1u << order->thread[op];
        if ((seen & bit) || !is_earlier(order, op, host) || (solid && is_slight(order->kind[op])))
            continue;
        seen |= bit;
        join(start, &order->after[op]);
    }
}

static void join_stream(const struct order *order, struct clock *start, int stream, const struct clock *host,
                        bool solid)
{
    join_known(order, start, order->stream[stream].last, order->before, host, solid);
}

static void join_blocking(const struct order *order, struct clock *start, int device, const struct clock *host,
                          bool solid)
{
    for (int i = 0; i < STREAMS; i++)
        if (order->alive[NAME_STREAM + i] && order->stream[i].blocking && order->stream[i].device == device)
            join_stream(order, start, i, host, solid);
}

static bool is_legacy(int stream)
{
    return stream >= 0 && stream < DEVICES;
}

/* What the legacy stream was given when `stream` was there already. `solid`: without slight operations. */
static void join_legacy(const struct order *order, struct clock *start, const struct stream *stream,
                        const struct clock *host, bool solid)
{
    unsigned seen = 0;
    for (int op = order->stream[stream->device].last; op >= 0 && seen != (1u << THREADS) - 1; op = order->before[op]) {
        unsigned bit = 1u << order->thread[op];
        if ((seen & bit) || !is_earlier(order, op, host) || (solid && is_slight(order->kind[op])) ||
            stream->made == 0 || order->after[op].at[stream->maker] < stream->made)
            continue;
        seen |= bit;
        join(start, &order->after[op]);
    }
}

/* What is known when the operation begins in its stream, except for the default-stream rules. */
static void start_alone(const struct order *order, const struct op *op, struct clock *start)
{
    const struct clock *host = &order->host[op->thread];
    *start = *host;
    if (op->stream < 0)
        return;
    join_stream(order, start, op->stream, host, false);
    if (op->kind == OP_LAUNCH && op->exec >= 0)
        join_known(order, start, order->last_launch[op->exec], order->before_launch, host, false);
    if (op->kind == OP_WAIT)
        join(start, &order->event[op->event]);
    if (op->kind == OP_FLAG_WAIT)
        join(start, &order->flag[op->name]);
}

/* With these rules. */
static void start_of(const struct order *order, const struct op *op, struct clock *start)
{
    const struct clock *host = &order->host[op->thread];
    start_alone(order, op, start);
    if (op->stream < 0)
        return;
    const struct stream *stream = &order->stream[op->stream];
    bool frees = op->kind == OP_FREE_ASYNC;
    if (is_legacy(op->stream) && (!is_slight(op->kind) || op->kind == OP_RECORD || frees))
        join_blocking(order, start, stream->device, host, !frees);
    if (stream->blocking && (!is_slight(op->kind) || frees))
        join_legacy(order, start, stream, host, !frees);
}

/* One access against the trace of those before. */
static bool is_ordered(const struct trace *trace, enum access access, const struct clock *start, int *line,
                       unsigned *count)
{
    if (trace->line >= 0 && start->at[trace->line] < trace->count) {
        *line = trace->line;
        *count = trace->count;
        return false;
    }
    if (access != ACCESS_READ && !covers(start, &trace->reads, line)) {
        *count = trace->reads.at[*line];
        return false;
    }
    if (access != ACCESS_ADD && !covers(start, &trace->adds, line)) {
        *count = trace->adds.at[*line];
        return false;
    }
    return true;
}

static void leave_trace(struct trace *trace, enum access access, int line, unsigned count)
{
    if (access == ACCESS_WRITE) {
        trace->line = (int16_t)line;
        trace->count = (uint16_t)count;
    } else {
        (access == ACCESS_READ ? &trace->reads : &trace->adds)->at[line] = (uint16_t)count;
    }
}

/* Everything that an operation touches: names on its thread's timeline, cells where it is done. */
struct touch {
    bool name, host;
    int16_t what;
    uint8_t cell;
    uint8_t access;
    bool fresh;
};
struct touches {
    int count;
    struct touch list[NODES * 3 * (CELLS + 1) + 8];
};

static void touch_name(struct touches *touches, int name, enum access access)
{
    touches->list[touches->count++] =
        (struct touch){.name = true, .host = true, .what = (int16_t)name, .access = (uint8_t)access};
}

/* `fresh`: needn't have been written before. */
static void touch_range(struct touches *touches, struct range range, enum access access, bool host, bool fresh)
{
    if (!range_is(range))
        return;
    touch_name(touches, NAME_BUFFER + range.buffer, ACCESS_READ);
    for (int i = 0; i < range.count; i++)
        touches->list[touches->count++] = (struct touch){.host = host,
                                                         .what = range.buffer,
                                                         .cell = (uint8_t)(range.first + i * range.step),
                                                         .access = (uint8_t)access,
                                                         .fresh = fresh};
}

static void touch_work(struct touches *touches, const struct op *op)
{
    touch_range(touches, op->from, ACCESS_READ, op->kind == OP_COPY && op->place == PLACE_PAGEABLE, false);
    touch_range(touches, op->with, ACCESS_READ, false, false);
    touch_range(touches, op->to, op->kind == OP_ADD ? ACCESS_ADD : ACCESS_WRITE, false,
                op->kind == OP_MAKE || op->kind == OP_COPY || op->kind == OP_FILL);
}

static void touch_all(const struct program *program, const struct op *op, struct touches *touches)
{
    touches->count = 0;
    if (op->kind == OP_STREAM || op->kind == OP_STREAM_END)
        touch_name(touches, NAME_STREAM + op->stream, ACCESS_WRITE);
    else if (op->stream >= 0)
        touch_name(touches, NAME_STREAM + op->stream, ACCESS_READ);
    if (op->event >= 0)
        touch_name(touches, NAME_EVENT + op->event,
                   op->kind == OP_EVENT || op->kind == OP_EVENT_END || op->kind == OP_RECORD ? ACCESS_WRITE
                                                                                             : ACCESS_READ);
    if (op->exec >= 0)
        touch_name(touches, NAME_EXEC + op->exec, op->kind == OP_LAUNCH ? ACCESS_READ : ACCESS_WRITE);
    if (op->kind == OP_FLAG || op->kind == OP_FLAG_WAIT)
        touch_name(touches, NAME_FLAG + op->name, op->kind == OP_FLAG ? ACCESS_WRITE : ACCESS_READ);
    switch (op->kind) {
    case OP_ALLOC:
    case OP_FREE:
        touch_name(touches, NAME_BUFFER + op->to.buffer, ACCESS_WRITE);
        for (int c = 0; c < CELLS; c++)
            touches->list[touches->count++] = (struct touch){
                .host = true, .what = op->to.buffer, .cell = (uint8_t)c, .access = ACCESS_WRITE, .fresh = true};
        break;
    case OP_ALLOC_ASYNC:
    case OP_FREE_ASYNC:
        touch_name(touches, NAME_BUFFER + op->to.buffer, ACCESS_WRITE);
        for (int c = 0; c < CELLS; c++)
            touches->list[touches->count++] =
                (struct touch){.what = op->to.buffer, .cell = (uint8_t)c, .access = ACCESS_WRITE, .fresh = true};
        break;
    case OP_LAUNCH:
        for (int i = 0; i < program->body[op->body].count; i++)
            touch_work(touches, &program->body[op->body].node[i]);
        break;
    case OP_GRAPH:
    case OP_UPDATE: /* addresses are looked up now */
        for (int i = 0; i < program->body[op->body].count; i++) {
            const struct range *ranges[] = {&program->body[op->body].node[i].to, &program->body[op->body].node[i].from,
                                            &program->body[op->body].node[i].with};
            for (int j = 0; j < 3; j++)
                if (range_is(*ranges[j]))
                    touch_name(touches, NAME_BUFFER + ranges[j]->buffer, ACCESS_READ);
        }
        break;
    case OP_TOUCH:
    case OP_CHECK:
        touch_range(touches, op->from, ACCESS_READ, true, false);
        touch_range(touches, op->to, ACCESS_WRITE, true, false);
        break;
    default:
        if (op_is_work(op->kind))
            touch_work(touches, op);
        break;
    }
}

static bool makes(int kind)
{
    return kind == OP_EVENT || kind == OP_STREAM || kind == OP_ALLOC || kind == OP_ALLOC_ASYNC || kind == OP_GRAPH ||
           kind == OP_FLAG;
}

static bool ends(int kind)
{
    return kind == OP_EVENT_END || kind == OP_STREAM_END || kind == OP_FREE || kind == OP_FREE_ASYNC;
}

static int line_of(const struct order *order, const struct op *op)
{
    return op->stream < 0 ? op->thread : order->stream[op->stream].line[op->thread];
}

/* What keeps an operation from making sense, whatever the order. */
static const char *nonsense(const struct order *order, const struct op *op, const struct touches *touches)
{
    if (op->stream >= 0 && line_of(order, op) < 0 && order->lines == TIMELINES)
        return "no timeline is left";
    if (op->kind == OP_AWAIT && !order->posted[op->name])
        return "nobody has posted";
    if (op->kind == OP_LAUNCH && order->body[op->exec] != op->body)
        return "the graph was changed, or was not";
    for (int i = 0; i < touches->count; i++) {
        const struct touch *touch = &touches->list[i];
        bool made = touch->name && touch->access == ACCESS_WRITE && makes(op->kind);
        if (touch->name && order->alive[touch->what] == made)
            return made ? "made twice" : "used, but not alive";
        if (!touch->name && !touch->fresh && !order->written[touch->what][touch->cell])
            return "contents that were never written";
    }
    return NULL;
}

bool order_allows(struct order *order, const struct op *op, struct miss *miss)
{
    struct touches touches;
    touch_all(order->program, op, &touches);
    const char *why = nonsense(order, op, &touches);
    *miss = (struct miss){.op = -1};
    if (why) {
        snprintf(miss->what, sizeof miss->what, "%s", why);
        return false;
    }
    struct clock start, alone;
    start_of(order, op, &start);
    start_alone(order, op, &alone);
    bool early = op->kind == OP_COPY && op->place == PLACE_PINNED;
    for (int i = 0; i < touches.count; i++) {
        const struct touch *touch = &touches.list[i];
        const struct trace *trace = touch->name ? &order->name[touch->what] : &order->cell[touch->what][touch->cell];
        int line = 0;
        unsigned count = 0;
        const struct clock *known = touch->host                             ? &order->host[op->thread]
                                    : early && touch->access == ACCESS_READ ? &alone
                                                                            : &start;
        if (is_ordered(trace, (enum access)touch->access, known, &line, &count))
            continue;
        miss->op = order->op_at[line][count];
        miss->line = line;
        miss->count = count;
        miss->by_host = line < THREADS;
        miss->host = touch->host;
        miss->data = !touch->name && op->kind != OP_FREE && op->kind != OP_FREE_ASYNC && op->kind != OP_ALLOC_ASYNC;
        snprintf(miss->what, sizeof miss->what, touch->name ? "name %d" : "buffer %d cell %d", touch->what,
                 touch->cell);
        return false;
    }
    return true;
}

static void mark(struct order *order, const struct op *op, const struct touches *touches, int line, unsigned count)
{
    for (int i = 0; i < touches->count; i++) {
        const struct touch *touch = &touches->list[i];
        bool host = touch->host;
        leave_trace(touch->name ? &order->name[touch->what] : &order->cell[touch->what][touch->cell],
                    (enum access)touch->access, host ? op->thread : line,
                    host ? order->host[op->thread].at[op->thread] : count);
        if (!touch->name && touch->access != ACCESS_READ)
            order->written[touch->what][touch->cell] = op->kind != OP_ALLOC && op->kind != OP_ALLOC_ASYNC;
        if (touch->name && touch->access == ACCESS_WRITE && (makes(op->kind) || ends(op->kind)))
            order->alive[touch->what] = makes(op->kind);
    }
}

static void learn(struct order *order, const struct op *op)
{
    struct clock *host = &order->host[op->thread], known;
    switch (op->kind) {
    case OP_EVENT_SYNC:
    case OP_EVENT_POLL:
        join(host, &order->event[op->event]);
        break;
    case OP_STREAM_SYNC:
    case OP_STREAM_POLL:
        known = *host;
        join_stream(order, &known, op->stream, host, false);
        if (is_legacy(op->stream))
            join_blocking(order, &known, order->stream[op->stream].device, host, true);
        *host = known;
        break;
    case OP_DEVICE_SYNC:
        known = *host;
        for (int i = 0; i < STREAMS; i++)
            if (order->stream[i].device == op->device)
                join_stream(order, &known, i, host, false);
        *host = known;
        break;
    case OP_AWAIT:
        join(host, &order->post[op->name]);
        break;
    default:
        break;
    }
}

static bool is_queued(int kind)
{
    return op_is_work(kind) || kind == OP_WAIT || kind == OP_FLAG || kind == OP_FLAG_WAIT || kind == OP_ALLOC_ASYNC ||
           kind == OP_FREE_ASYNC || kind == OP_HOLD || kind == OP_RECORD;
}

void order_take(struct order *order, const struct op *op, int index)
{
    struct touches touches;
    struct clock *host = &order->host[op->thread];
    touch_all(order->program, op, &touches);
    host->at[op->thread]++;
    order->op_at[op->thread][host->at[op->thread]] = (int16_t)index;
    order->submitted[index] = host->at[op->thread];
    order->thread[index] = op->thread;
    order->kind[index] = op->kind;
    if (op->kind == OP_STREAM) {
        order->stream[op->stream].device = op->device;
        order->stream[op->stream].blocking = !(op->form & 1);
    }
    if (op->kind == OP_STREAM || (is_queued(op->kind) && !is_slight(op->kind) && order->stream[op->stream].made == 0)) {
        order->stream[op->stream].maker = op->thread;
        order->stream[op->stream].made = (uint16_t)host->at[op->thread];
    }
    int line = op->thread;
    unsigned count = host->at[op->thread];
    if (is_queued(op->kind)) {
        struct stream *stream = &order->stream[op->stream];
        struct clock start, full;
        start_of(order, op, &full);
        start = full;
        if (op->kind == OP_RECORD) { /* what the event stands for is more than what later work may build on */
            start = *host;
            join_stream(order, &start, op->stream, host, false);
        }
        if (stream->line[op->thread] < 0) {
            stream->line[op->thread] = (int16_t)order->lines;
            order->owner[order->lines][0] = op->stream;
            order->owner[order->lines][1] = op->thread;
            order->lines++;
        }
        line = stream->line[op->thread];
        if (op->kind == OP_FLAG) /* the value may be seen a moment before the operation that wrote it counts as done */
            order->flag[op->name] = start;
        count = start.at[line] = full.at[line] = ++order->ticks[line];
        order->op_at[line][count] = (int16_t)index;
        order->after[index] = start;
        order->before[index] = stream->last;
        stream->last = index;
        if (op->kind == OP_LAUNCH) {
            order->before_launch[index] = order->last_launch[op->exec];
            order->last_launch[op->exec] = index;
        }
        if (op->kind == OP_RECORD)
            order->event[op->event] = full;
    } else if (op->kind == OP_POST) {
        order->post[op->name] = *host;
        order->posted[op->name] = true;
    }
    if (op->kind == OP_GRAPH || op->kind == OP_UPDATE)
        order->body[op->exec] = op->body;
    order->line[index] = (uint16_t)line;
    order->count[index] = (uint16_t)count;
    mark(order, op, &touches, line, count);
    if (op->kind == OP_EVENT)
        memset(&order->event[op->event], 0, sizeof order->event[op->event]);
    if (op->blocks)
        join(host, &order->after[index]);
    learn(order, op);
}

/* Does the result depend on the order of the two accesses? */
static bool conflict(const struct touch *one, const struct touch *other)
{
    return !one->name && !other->name && one->what == other->what && one->cell == other->cell &&
           (one->access != other->access || one->access == ACCESS_WRITE);
}

void order_races(const struct order *order, int index, void (*each)(int earlier, void *data), void *data)
{
    const struct op *op = &order->program->op[index];
    struct touches now, before;
    struct clock start, alone;
    touch_all(order->program, op, &now);
    start_of(order, op, &start);
    start_alone(order, op, &alone);
    bool early = op->kind == OP_COPY && op->place == PLACE_PINNED;
    for (int earlier = 0; earlier < index; earlier++) {
        bool found = false;
        touch_all(order->program, &order->program->op[earlier], &before);
        for (int i = 0; i < now.count && !found; i++) {
            const struct touch *touch = &now.list[i];
            const struct clock *known = touch->host                             ? &order->host[op->thread]
                                        : early && touch->access == ACCESS_READ ? &alone
                                                                                : &start;
            for (int j = 0; j < before.count && !found; j++)
                found = conflict(touch, &before.list[j]) &&
                        (before.list[j].host ? known->at[order->thread[earlier]] < order->submitted[earlier]
                                             : known->at[order->line[earlier]] < order->count[earlier]);
        }
        if (found)
            each(earlier, data);
    }
}

bool order_knows(const struct order *order, int thread, int index)
{
    return order->submitted[index] <= order->host[thread].at[order->thread[index]];
}

bool order_event_covers(const struct order *order, int event, const struct miss *miss)
{
    return order->event[event].at[miss->line] >= miss->count;
}

bool order_alive_event(const struct order *order, int event)
{
    return order->alive[NAME_EVENT + event];
}
bool order_alive_stream(const struct order *order, int stream)
{
    return order->alive[NAME_STREAM + stream];
}
bool order_alive_buffer(const struct order *order, int buffer)
{
    return order->alive[NAME_BUFFER + buffer];
}
bool order_alive_exec(const struct order *order, int exec)
{
    return order->alive[NAME_EXEC + exec];
}
bool order_blocking(const struct order *order, int stream)
{
    return order->stream[stream].blocking;
}
int order_device(const struct order *order, int stream)
{
    return order->stream[stream].device;
}

bool order_written(const struct order *order, struct range range)
{
    for (int i = 0; i < range.count; i++)
        if (!order->written[range.buffer][range.first + i * range.step])
            return false;
    return true;
}

bool order_event_done(const struct order *order, int thread, int event)
{
    int line;
    return covers(&order->host[thread], &order->event[event], &line);
}

/* Never with several threads: another may be about to submit something. */
bool order_stream_done(const struct order *order, int thread, int stream)
{
    int line;
    if (is_legacy(stream) || order->program->threads > 1)
        return false;
    for (int op = order->stream[stream].last; op >= 0; op = order->before[op])
        if (!order_knows(order, thread, op) || !covers(&order->host[thread], &order->after[op], &line))
            return false;
    return true;
}

int program_check(struct order *order, struct program *program, struct miss *miss)
{
    order_begin(order, program);
    for (int i = 0; i < program->count; i++) {
        struct op *op = &program->op[i];
        if (!order_allows(order, op, miss))
            return i;
        if (op->kind == OP_EVENT_QUERY)
            op->expect = order_event_done(order, op->thread, op->event);
        if (op->kind == OP_STREAM_QUERY)
            op->expect = order_stream_done(order, op->thread, op->stream);
        order_take(order, op, i);
    }
    for (int i = 0; i < program->count; i++) {
        bool let_go = program->op[i].kind != OP_HOLD;
        for (int j = i + 1; j < program->count && !let_go; j++)
            let_go = program->op[j].kind == OP_RELEASE && program->op[j].name == program->op[i].name;
        *miss = (struct miss){.op = -1, .what = "held for ever"};
        if (!let_go)
            return i;
    }
    return -1;
}
