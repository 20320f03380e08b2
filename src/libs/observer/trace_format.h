/* SPDX-License-Identifier: Apache-2.0 */
/* The file PID.trace: what the tool trace leaves of one process, for `millrace trace`.
 *
 * The file has a head and then chunks of TRACE_CHUNK bytes. Each chunk holds records one after the other, each a
 * multiple of 8 bytes long; a record with size 0 ends the chunk. A chunk begins with a record of the thread that writes
 * into it, and has another one where it passes to another thread. All records between belong to that thread, and are in
 * the order in which it wrote them. All numbers are in the machine's order of bytes, times in nanoseconds of
 * CLOCK_MONOTONIC. A file of a process that was killed is as good as any: its head doesn't say how the process ended.
 *
 * Texts are named by a number (the address that they have in the process), which a record gives somewhere in the file,
 * or several do. */
#ifndef MR_OBSERVER_TRACE_FORMAT_H
#define MR_OBSERVER_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC "millrace trace 1"

enum { TRACE_HEAD = 4096, TRACE_CHUNK = 1 << 17, TRACE_TEXT = 1024, TRACE_FRAMES = 6 };

/* At the file's begin, in TRACE_HEAD bytes. */
struct trace_head {
    char magic[16];
    uint64_t process;    /* its number */
    uint64_t start;      /* when it was opened, in nanoseconds of CLOCK_MONOTONIC */
    uint64_t end;        /* when the process ended; 0: nobody saw it */
    uint64_t lost;       /* records that found no room: the file has its full size, or the disk is full */
    char how[32];        /* it ended: "exit", "signal 11"; "" while end is 0 */
    char program[TRACE_TEXT]; /* its path; cut if it is longer */
};

enum trace_type {
    TRACE_THREAD = 1, /* struct trace_thread */
    TRACE_NAME,
    TRACE_SITE,
    TRACE_CALL,
    TRACE_OPEN,       /* struct trace_call without an end: the thread was in it when the process ended */
    TRACE_BIND,
    TRACE_BEGIN,
    TRACE_END,
    TRACE_SLICE,
    TRACE_RANGE,
    TRACE_RANGE_END,
    TRACE_GIVEN,
    TRACE_CONTEXT,
    TRACE_STREAM,
};

/* Each record begins so. */
struct trace_record {
    uint16_t size; /* in bytes, this included; written last */
    uint16_t type; /* enum trace_type */
    uint32_t more; /* as the record says */
};

/* more: the thread's number in this file. */
struct trace_thread {
    struct trace_record record;
    uint64_t thread;   /* as the system numbers it */
    char name[16];
};

/* more: bytes of the text, which follows without a 0. */
struct trace_name {
    struct trace_record record;
    uint64_t name;
};

/* A place that a call came from; more: its number, from 1 up. `file` and `function`: texts, of Python code, else 0;
 * `module`: the path of the program or library, a text, or 0; `build`: its build-id in hexadecimal, a text, or 0. The
 * frames of a place follow each other, the innermost first. */
struct trace_site {
    struct trace_record record;
    uint64_t file, function, module, build, offset, line;
};

/* What a call does to the order of work. */
enum trace_role {
    TRACE_PLAIN,
    TRACE_RECORDS,       /* `event` in `stream` */
    TRACE_WAITS,         /* `stream` for `event` */
    TRACE_HOST_EVENT,    /* the host waits for `event` */
    TRACE_HOST_STREAM,   /* the host waits for `stream` */
    TRACE_HOST_ALL,      /* the host waits for all streams of the context */
    TRACE_FORGETS,       /* `event` ends */
    TRACE_RECORDS_ALL,   /* `event` in all streams of the context */
    TRACE_WAITS_ALL,     /* all streams of the context for `event` */
    TRACE_WRITES_VALUE,  /* `stream` writes a value at the address `event` */
    TRACE_WAITS_VALUE,   /* `stream` waits for a value at the address `event` */
};

/* A call that has returned; more: enum trace_role. `event` is a handle, which may be another event's later, or as the
 * role says. */
struct trace_call {
    struct trace_record record;
    uint64_t name, number, from, to, event, stream;
    int32_t status;
    uint32_t site;       /* its number; 0: not known */
};

/* A call has queued a work. */
struct trace_bind {
    struct trace_record record;
    uint64_t time, work, call;
};

/* A work or step begins; more: enum mr_observed_kind. */
struct trace_begin {
    struct trace_record record;
    uint64_t time, work, node, grid, stream, context, bytes, kernel;
    uint32_t blocks[3], threads[3];
};

/* more: its CUresult. */
struct trace_end {
    struct trace_record record;
    uint64_t time, work, node;
};

/* more: the worker. */
struct trace_slice {
    struct trace_record record;
    uint64_t work, node, from, to;
};

/* A context that calls are made in is of this device; more: its number. */
struct trace_context {
    struct trace_record record;
    uint64_t context;
};

/* How a stream stands to the others of its context. */
enum trace_stream_kind { TRACE_STREAM_BLOCKING, TRACE_STREAM_NONBLOCKING, TRACE_STREAM_LEGACY };

/* A stream; more: enum trace_stream_kind. A stream without such a record is a blocking one. */
struct trace_stream {
    struct trace_record record;
    uint64_t stream, context;
};

enum trace_range_kind {
    TRACE_PUSHED, /* a range of the thread, which its next pop in the same domain ends */
    TRACE_STARTED, /* a range of the process, which ends by its id */
    TRACE_MARK, /* a moment */
};

enum trace_payload {
    TRACE_NO_PAYLOAD,
    TRACE_UINT64,
    TRACE_INT64,
    TRACE_DOUBLE,
    TRACE_UINT32,
    TRACE_INT32,
    TRACE_FLOAT
};

/* NVTX: a range begins, or a mark; more: bytes of its message, which follows in UTF-8 without a 0. */
struct trace_range {
    struct trace_record record;
    uint64_t time, id, domain, payload; /* id: of a started range, unique in the process; domain: 0: the default one */
    uint32_t category, colour; /* category: 0: none; colour: 0xAARRGGBB, or 0 */
    uint16_t kind, payload_type; /* enum trace_range_kind, enum trace_payload */
    uint32_t spare;
};

/* A range ends; more: TRACE_PUSHED, or TRACE_STARTED. */
struct trace_range_end {
    struct trace_record record;
    uint64_t time, id, domain;
};

enum trace_given_kind {
    TRACE_GIVEN_DOMAIN, /* key: its number */
    TRACE_GIVEN_CATEGORY, /* key: its number in `domain` */
    TRACE_GIVEN_THREAD, /* key: the system's number */
    TRACE_GIVEN_STREAM, /* key: cuStreamGetId's answer */
    TRACE_GIVEN_EVENT, /* key: the handle; it may be another event's later */
    TRACE_GIVEN_CONTEXT, /* key: the handle */
    TRACE_GIVEN_DEVICE, /* key: its number */
    TRACE_GIVEN_KINDS
};

/* NVTX: the program gives a thing a name; more: bytes of the name, which follows as above. The latest one counts. */
struct trace_given {
    struct trace_record record;
    uint64_t time, key, domain;
    uint32_t kind, spare; /* enum trace_given_kind */
};

#endif
