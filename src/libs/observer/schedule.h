/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: in which order works that nothing orders are carried out.
 *
 * What is ready is asked about (obs_schedule_ask) and held, until the engine rests: nothing runs, and all that is ready
 * has been asked about. Then the schedule decides what comes next (obs_schedule_rest): one work or step, or a host
 * thread that was stopped behind a call. So one thing happens at a time, and what is decided depends on the schedule
 * and on the program alone. With one worker, and one host thread that makes calls, a run of the program is the same
 * each time.
 *
 *   plain     everything may begin at once
 *   eager     all that is ready is done, the oldest first, before the call that asked for it returns
 *   late      nothing is done before a host thread waits; then first what it waits for
 *   reversed  nothing is done before a host thread waits; then the newest first
 *   random    each stream, each step of a graph and each host thread has a priority by the seed; the highest goes on.
 *             At depth - 1 moments, drawn from `length`, what would go on becomes the lowest (PCT: Burckhardt et al.,
 *             "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", 2010)
 *
 * A witness is a plain schedule in which one operation is held until another is done. An operation is a call of the
 * program, named by its host thread and by its number among the calls of that thread; or one of the works that the call
 * queues; or one step of a graph that it launches. It is done when the call has returned and its works, or the work or
 * step named, have ended. What the program's own code does between two calls of a thread is an operation as well: it
 * begins when the first of them returns, and is done when the thread makes the next one. `until` may also be all the
 * rest: the operation is held for as long as anything else can go on.
 *
 * With eager, a witness holds nothing: it only says which operations are looked at. That is the program's own order.
 *
 * This is the schedule by itself: it knows no driver and no threads. Functions are called one at a time. */
#ifndef MR_OBSERVER_SCHEDULE_H
#define MR_OBSERVER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum obs_schedule_mode { OBS_PLAIN, OBS_EAGER, OBS_LATE, OBS_REVERSED, OBS_RANDOM };

enum obs_operation_kind {
    OBS_OF_CALL,
    OBS_OF_CODE, /* what the thread's code does behind the call, until its next one */
    OBS_REST     /* all the rest: there are no numbers */
};

/* An operation. `work` counts from 1 up; 0: all that the call does. `node`: the step's, or 0. */
struct obs_operation_name {
    enum obs_operation_kind kind;
    uint32_t thread;
    uint64_t call;
    uint32_t work;
    uint64_t node;
};

/* Bytes of an allocation that is named by the call that made it; size 0: none. */
struct obs_bytes_name {
    uint32_t thread;
    uint64_t call;
    uint64_t offset, size;
};

struct obs_schedule_options {
    enum obs_schedule_mode mode;
    uint64_t seed;
    uint32_t depth;    /* of random; at least 1 */
    uint64_t length;   /* of random: about how many decisions a run has; at least 1 */
    bool witness;      /* of plain: `hold` is held until `until` is done; of eager: both are looked at */
    struct obs_operation_name hold, until;
    struct obs_bytes_name bytes;
    uint64_t program;  /* of a witness: the program that it is for, by obs_identity; 0: any */
    unsigned patience; /* milliseconds in which nothing moves before something that is held is let go */
};

enum { OBS_DEPTH = 3, OBS_LENGTH = 100, OBS_DEPTH_MOST = 64, OBS_PATIENCE = 2000 };

/* Reads options of the tool: words with colons between. One of plain, eager, late, reversed, random; seed=N, depth=N,
 * length=N, patience=MS; of a witness hold=NAME, until=NAME, bytes=THREAD.CALL+OFFSET+SIZE, program=HEX. A NAME is
 * THREAD.CALL, THREAD.CALL.WORK, or one of them with @NODE behind, a hexadecimal number; THREAD.CALL+ for the code
 * behind the call; of `until` also "rest". False: `problem` says, in words, which option is not understood. */
bool obs_schedule_read(const char *text, struct obs_schedule_options *out, char *problem, size_t size);

/* Writes a name as obs_schedule_read reads it. */
void obs_schedule_write_name(const struct obs_operation_name *name, char *out, size_t size);

struct obs_schedule;

/* NULL: memory is short. */
struct obs_schedule *obs_schedule_new(const struct obs_schedule_options *options);
void obs_schedule_free(struct obs_schedule *schedule);

/* A call has queued a work in a stream. False: memory is short, and the work may begin whenever it likes. */
bool obs_schedule_bound(struct obs_schedule *schedule, uint64_t work, uint64_t stream, uint32_t thread, uint64_t call);

/* May the work (node 0), or the step of it, begin now? A work that was never bound may. */
bool obs_schedule_ask(struct obs_schedule *schedule, uint64_t work, uint64_t node);

/* The held ones will be asked about again: one that isn't is no longer ready. */
void obs_schedule_forget(struct obs_schedule *schedule);

/* A work or step has ended; a call is about to return. True: what was held may begin now, so it is to be asked about
 * again. */
bool obs_schedule_ended(struct obs_schedule *schedule, uint64_t work, uint64_t node);
bool obs_schedule_left(struct obs_schedule *schedule, uint32_t thread, uint64_t call);

/* A call begins: what the thread's code did before it is done. True: as above. */
bool obs_schedule_entered(struct obs_schedule *schedule, uint32_t thread, uint64_t call);

/* Which of a witness's operations a work or step is. */
enum obs_role { OBS_NO_ROLE, OBS_HELD, OBS_AWAITED };
enum obs_role obs_schedule_role(const struct obs_schedule *schedule, uint64_t work, uint64_t node);

/* Which of a witness's operations is the code behind this call? */
enum obs_role obs_schedule_code_role(const struct obs_schedule *schedule, uint32_t thread, uint64_t call);

/* What a host thread does: it runs; it has stopped behind a call, until obs_schedule_rest says that it goes; it has
 * stopped because it asks again and again whether something is done; it is held behind a call, because its code is the
 * operation that a witness holds; it waits in a call. */
enum obs_host { OBS_HOST_RUNS, OBS_HOST_STOPS, OBS_HOST_POLLS, OBS_HOST_HELD, OBS_HOST_WAITS, OBS_HOST_GONE };

/* Does a thread that is about to leave a call stop there? */
bool obs_schedule_stops(const struct obs_schedule *schedule);

/* Is it held there? It is to be told then that the thread is (OBS_HOST_HELD). */
bool obs_schedule_holds_code(struct obs_schedule *schedule, uint32_t thread, uint64_t call);

/* A thread has ended, and its code with it. True: as obs_schedule_entered. */
bool obs_schedule_gone(struct obs_schedule *schedule, uint32_t thread);

/* `wanted`: the stream that a waiting thread waits for, or 0. */
void obs_schedule_host(struct obs_schedule *schedule, uint32_t thread, enum obs_host host, uint64_t wanted);

enum obs_decision {
    OBS_NOTHING, /* it is somebody else's turn to move */
    OBS_WORK,    /* a work or step was chosen, or let go: what is held is to be asked about again */
    OBS_THREAD   /* host threads that had stopped go on: obs_schedule_runs tells which */
};

/* The engine rests: what now? */
enum obs_decision obs_schedule_rest(struct obs_schedule *schedule);

/* Nothing has moved for long: lets the threads go that have stopped, or else the oldest held work, whatever the
 * schedule says. */
enum obs_decision obs_schedule_overdue(struct obs_schedule *schedule);

/* From now on everything may begin. True: something is held, which is to be asked about again. */
bool obs_schedule_open(struct obs_schedule *schedule);

/* Does the thread run, as far as the schedule knows? */
bool obs_schedule_runs(const struct obs_schedule *schedule, uint32_t thread);

/* Are there works that were queued and have not ended? */
bool obs_schedule_any(const struct obs_schedule *schedule);

struct obs_schedule_counts {
    uint64_t decisions; /* how many things were chosen */
    uint64_t asked; /* how often it was asked whether something may begin */
    uint64_t trace; /* which ones: the same number for the same choices, by names that runs share */
    uint64_t let_go; /* held operations of a witness that began although the other was not done, */
    uint64_t overdue; /* and what was let go because nothing moved */
    bool held; /* the witness's operation was ready, and had to wait */
    bool began, until_began; /* the program came to the witness's two operations; */
    bool ended, until_ended; /* and were done */
};
struct obs_schedule_counts obs_schedule_count(const struct obs_schedule *schedule);

#endif
