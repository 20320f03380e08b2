/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the file of trace_format.h.
 *
 * Each thread writes into a chunk of the file that is mapped into memory, so a record costs no system call, and what
 * was written is in the file whatever ends the process. A thread that ends gives the rest of its chunk to the next new
 * one. The file's size has a limit; what finds no room is counted. */
#ifndef MR_OBSERVER_TRACE_FILE_H
#define MR_OBSERVER_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/trace_format.h"

enum { TRACE_DEPTH = 8, TRACE_NAMES = 1024 };

/* The running thread's place in the file. */
struct trace_writer {
    struct trace_writer *next;       /* in the list of all; they stay for as long as the process */
    struct trace_writer *next_spare; /* its thread has ended: another one takes it */
    char *chunk;               /* NULL: it has none */
    size_t used;
    uint32_t number;           /* from 1 up */
    uint64_t thread;           /* as the system numbers it */
    uint64_t named[TRACE_NAMES]; /* texts that this thread has given, by a hash of their addresses */
    const void *context;       /* the last one that this thread has told of (trace_context) */
    /* Calls that the thread is in, outermost first. */
    uint32_t depth;
    struct {
        uint64_t name, number, from;
    } open[TRACE_DEPTH];
};

/* Makes the file in the folder, unless that has been done. `most`: its size at most, in bytes. False with errno set.
 * Any thread. */
bool trace_file_open(const char *folder, uint64_t most);

/* The running thread's; NULL: memory is short, or this is a child that fork has made. Any thread. */
struct trace_writer *trace_writer_here(void);

/* Room for a record of `size` bytes (a multiple of 8, at most 2,048) in the file, all 0 except its type; NULL: there is
 * none. The record counts once trace_done is called, before the thread asks for another. */
void *trace_room(struct trace_writer *writer, size_t size, enum trace_type type);
void trace_done(void *record, size_t size);

/* The text's number in the file, where it is given unless this thread has done so. The text must stay where it is. */
uint64_t trace_text(struct trace_writer *writer, const char *text);

/* The process ends: writes the calls that threads are in, and how it ends. Also in a process that has crashed: takes no
 * lock, allocates nothing. */
void trace_file_end(const char *how, uint64_t now);

#endif
