/* SPDX-License-Identifier: Apache-2.0 */
/* A random program: operations in the order in which they were drawn, and what the parts of the tester know of them.
 *
 * draw.c     draws a program from a seed; draw_sync.c adds the waits that it needs, and no more
 * order.c    knows from the ordering rules alone what happens before what, and finds accesses that nothing orders
 * model.c    computes what every buffer holds, taking the operations one after the other
 * run.c      runs the program on the driver; run_graph.c its graphs; by_runtime.h has them call the runtime API instead
 * libraries.c  has the libraries of mathematics do some of its work
 * places.c   calls from a place in the code for each operation, so that a call stack says which one it was
 * main.c     seeds, mutations, shrinking
 *
 * Buffers have CELLS cells of `words` words each; an operation touches whole cells. Names (streams, events, buffers, …)
 * are numbers that are used once, so that a program stays readable when operations are taken out of it. */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    THREADS = 4,
    DEVICES = 2,
    STREAMS = 32,
    EVENTS = 400,
    BUFFERS = 64,
    EXECS = 16,
    FLAGS = 200,
    POSTS = 200,
    BODIES = 32,
    CELLS = 4,
    OPS = 2200,
    NODES = 14,
    LANES = 3,
    TIMELINES = 72
};

/* The first streams are the default ones: a legacy stream for each device, a per-thread one for each thread (on device
 * 0). */
enum { STREAM_LEGACY = 0, STREAM_THREAD = DEVICES, STREAM_FIRST = DEVICES + THREADS };

/* Groups of operations that a driver may lack, or that a run may leave out. */
enum feature {
    CAN_HOST = 1,        /* host functions */
    CAN_MANAGED = 2,     /* managed memory that the host may touch at any time */
    CAN_POOL = 4,        /* stream-ordered allocation */
    CAN_VALUES = 8,      /* writes and waits of values */
    CAN_GRAPHS = 16,     /* graphs made by hand */
    CAN_CAPTURE = 32,    /* graphs captured from streams */
    CAN_PEER = 64,       /* a second device */
    CAN_THREADS = 128,   /* several host threads */
    CAN_HOLD = 256,      /* streams held up by a host function until the program goes on */
    CAN_WIDE = 512,      /* fills of elements of 2 and 4 bytes in streams */
    CAN_LIBRARIES = 1024, /* calls of the libraries of mathematics */
    CAN_ALL = 2047
};

enum kind {
    /* Work: done in stream order. */
    OP_MIX,              /* kernel: to = f(to, from, with) */
    OP_MAKE,             /* kernel: to = f(salt), whatever it held */
    OP_ADD,              /* kernel: to += f(from), atomically; commutes with others of its kind */
    OP_COPY,
    OP_FILL,
    OP_HOST,             /* host function: to = f(to, from) in memory that the host can reach */
    OP_VALUE,            /* stream memory operation: the first word of a cell */
    OP_LAUNCH,           /* an executable graph */
    OP_WORK_END,
    /* What host threads do themselves. */
    OP_TOUCH,            /* to = f(to, from) */
    OP_CHECK,            /* compares `from` with the model */
    OP_POST,
    OP_AWAIT,   /* one thread tells another */
    OP_HOLD,
    OP_RELEASE, /* a host function that holds its stream until the release */
    /* Names come and go. */
    OP_EVENT,
    OP_EVENT_END,
    OP_STREAM,
    OP_STREAM_END,
    OP_ALLOC,
    OP_FREE,
    OP_ALLOC_ASYNC,
    OP_FREE_ASYNC,
    OP_GRAPH,
    OP_UPDATE,
    /* Order. */
    OP_RECORD,
    OP_WAIT,
    OP_EVENT_SYNC,
    OP_EVENT_QUERY,
    OP_EVENT_POLL,
    OP_STREAM_SYNC,
    OP_STREAM_QUERY,
    OP_STREAM_POLL,
    OP_DEVICE_SYNC,
    OP_FLAG,
    OP_FLAG_WAIT,
    OP_KINDS
};

/* `count` cells of a buffer, `step` apart. Buffer -1: none. */
struct range {
    int16_t buffer;
    uint8_t first, count, step;
};

enum place { PLACE_DEVICE, PLACE_PINNED, PLACE_MANAGED, PLACE_PAGEABLE };

/* How a copy is asked for. */
enum form { FORM_ASYNC, FORM_TYPED, FORM_SYNC, FORM_BOX, FORM_PEER, FORM_LIBRARY };

struct op {
    uint8_t kind, thread;
    int8_t stream;                /* -1: none */
    uint8_t form; /* of a copy; of a kernel FORM_LIBRARY if a library does the work; of a fill the bytes of its element;
                     of a graph 1 if captured; of an event or stream its flags */
    uint8_t place, device; /* of a buffer; of a copy the place that it reads, if the host's */
    bool blocks; /* the call returns when the copy is done */
    bool needed; /* an access that follows is ordered by this alone, at the time of drawing */
    int16_t event, exec, body, name; /* name: of a flag or post */
    struct range to, from, with;
    uint32_t salt, factor, spin;
    uint64_t expect; /* of a check: the model's hash; of a query: 1 if it must say that all is done */
};

/* What a graph holds: work with the nodes that each waits for. Node i stands in lane `lane`, behind the lane's node
 * before it. */
struct body {
    int count;
    uint8_t lane[NODES];
    uint32_t after[NODES]; /* bit n: node n goes first */
    struct op node[NODES];
};

struct program {
    uint64_t seed;
    unsigned features;
    int threads, words, devices;
    int count, bodies;
    struct op op[OPS];
    struct body body[BODIES];
};

/* Random numbers. */
struct dice {
    uint64_t state;
};
uint64_t dice_next(struct dice *dice);
unsigned dice_below(struct dice *dice, unsigned limit); /* 0 up to limit - 1 */
bool dice_chance(struct dice *dice, unsigned percent);

const char *op_name(int kind);
void op_print(const struct program *program, int index);

static inline bool op_is_work(int kind)
{
    return kind < OP_WORK_END;
}
static inline bool range_is(struct range range)
{
    return range.buffer >= 0;
}

/* Draws a program of about `length` operations. */
void program_draw(struct program *program, uint64_t seed, unsigned features, int length);

/* Order. A clock says, for each timeline, how many of its operations have happened. */
struct clock {
    uint16_t at[TIMELINES];
};

/* What an operation does to a cell, or to the name of something. */
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_ADD };

/* An access that nothing orders: behind which operation of the program, in its stream or (`by_host`) on its thread; and
 * whether the access itself is the host's, and whether to contents. `line` and `count` say the same as a clock does. */
struct miss {
    int op, line;
    unsigned count;
    bool by_host, host, data;
    char what[64];
};

/* Work in one stream counts as ordered as it was submitted, whether or not the threads are ordered that submit it. */
extern bool order_by_arrival;

struct order;
struct order *order_new(void);
void order_begin(struct order *order, const struct program *program);

/* Whether the operation may come next: everything that it touches is ordered and there. False: *miss says what is in
 * the way; op -1: the program makes no sense (a name that doesn't live, contents that were never written). */
bool order_allows(struct order *order, const struct op *op, struct miss *miss);

/* Takes the operation, which becomes number `index`. */
void order_take(struct order *order, const struct op *op, int index);

/* Operation `index` is about to be taken: which of those before it touch cells that it touches, so that the result
 * depends on which of the two comes first, without being ordered with it? Calls `each` for every one. */
void order_races(const struct order *order, int index, void (*each)(int earlier, void *data), void *data);

/* Whether the submission of operation `index` is known to `thread` now. */
bool order_knows(const struct order *order, int thread, int index);
/* Whether the event's recording stands for the operation of a miss. */
bool order_event_covers(const struct order *order, int event, const struct miss *miss);
bool order_alive_event(const struct order *order, int event);
bool order_alive_stream(const struct order *order, int stream);
bool order_alive_buffer(const struct order *order, int buffer);
bool order_alive_exec(const struct order *order, int exec);
bool order_written(const struct order *order, struct range range);
bool order_blocking(const struct order *order, int stream);
int order_device(const struct order *order, int stream);
/* Whether the thread knows that all of the event's recording, or of the stream's work, has happened: then a query must
 * say so. */
bool order_event_done(const struct order *order, int thread, int event);
bool order_stream_done(const struct order *order, int thread, int stream);

/* The whole program again. -1, or the number of the first operation that isn't ordered. Notes which queries must find
 * everything done. */
int program_check(struct order *order, struct program *program, struct miss *miss);

/* Contents. */
struct model {
    int words;
    uint32_t *cell[BUFFERS];
    bool alive[BUFFERS], written[BUFFERS][CELLS];
};
void model_begin(struct model *model, const struct program *program);
void model_do(struct model *model, const struct program *program, const struct op *op);
void model_end(struct model *model);
uint64_t model_hash(const uint32_t *words, int words_per_cell, struct range range, uint64_t seed);
/* Fills in what the program's checks expect, and leaves the final contents. */
void model_run(struct model *model, struct program *program);

/* The functions that kernels, host functions and host threads compute. */
uint32_t spin_value(uint32_t salt, uint32_t spin);
void touch_words(uint32_t *to, const uint32_t *from, int words_per_cell, struct range to_range, struct range from_range,
                 uint32_t factor, uint32_t salt);

/* Starts the driver. The features that it has, of those that are wanted; exits with a word if there is no driver or
 * device. */
unsigned run_begin(unsigned wanted);

/* Runs the program on the driver. 0: as the model says; else the number of differences and failures. They were told to
 * stderr, if `loud`. After a failed call the driver may be of no more use. */
int run_program(const struct program *program, const struct model *model, bool loud);

#endif
