/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says: the findings of all processes of a run, with every name resolved. Text, JSON, SARIF and HTML are
 * written from this. Texts are UTF-8 and owned by the struct that holds them; NULL: not known. */
#ifndef MILLRACE_REPORT_MODEL_H
#define MILLRACE_REPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_frame {
    char *function, *file, *module; /* module: the path of the program or library; NULL for Python code */
    unsigned line, column;          /* 0: not known */
    uint64_t offset;                /* in the module */
    uint64_t past;                  /* bytes past the function's symbol, where there is no line */
    bool inlined;                   /* into the next frame */
};

struct report_stack {
    struct report_frame *frames; /* innermost first */
    size_t count;
};

/* One of the operations that a finding is about. */
struct report_side {
    char *what; /* "kernel", "copy", "fill", "host function", "memory operation", "allocation", "free", "host",
                   "message" */
    char *how; /* "reads", "writes", "reads and writes", "frees", "allocates" */
    char *kernel, *symbol; /* of a kernel: its readable name and its symbol */
    char *within, *within_symbol; /* the same of the kernel that it has launched, if that one did it; or NULL */
    char *call; /* the function of the interface that asked for it */
    char *stream; /* in words: "stream 5", "the legacy default stream" */
    char *file; /* of a kernel: where in its source */
    unsigned line, ptx_line;
    uint64_t number; /* of the call, in the order in which the program made them; 0: not known */
    uint64_t work, node; /* of the work, and of the step in it, as the driver numbers them; 0: none */
    uint64_t thread; /* as the system numbers it; 0: not known */
    int device; /* -1: not known */
    char *note; /* one more sentence */
    struct report_stack stack;
};

struct report_allocation {
    bool known;
    uint64_t first, size;
    char *call, *freed_call; /* freed_call NULL: it lives */
    struct report_stack stack, freed;
};

struct report_finding {
    char *tool; /* "race", "mem", "init" */
    char *kind; /* "race-write-read", ... */
    char *detail; /* what is wrong, as it follows the name of the first side; NULL: both sides say it */
    char *title; /* one line: what is wrong; made of the above (report_finish) */
    struct report_side *sides; /* the one that came second first */
    size_t side_count;
    uint64_t first, bytes; /* the bytes that it is about: bytes 0: none */
    struct report_allocation allocation;
    char *missing, *advice;
    bool rough; /* the bytes may be more than were touched */
    bool luck; /* ordered on hardware, though no manual says so */
    bool note; /* what it is about need not be wrong */
    uint64_t times; /* how often it was seen */
    uint64_t process; /* the process's number */
    const char *suppressed; /* where the rule stands that hides it ("file:line"), owned by the suppressions */
};

struct report_process {
    uint64_t pid;
    char *program, *end; /* end: how it ended: "exit", "signal 11", ... */
    char **notes; /* sentences about what was not seen, or coarsely */
    size_t note_count;
    uint64_t operations; /* that were looked at */
};

struct report {
    struct report_finding *findings;
    size_t finding_count;
    struct report_process *processes;
    size_t process_count;
};

/* Once all is read: findings that have the same sides with the same stacks become one, seen that many times, and each
 * gets its title. False: memory is short. */
bool report_finish(struct report *report);

/* Is `call` a function of the interface? Else the host's own code did it, and `number` is that of the latest call
 * before it. */
bool report_is_of_a_call(const struct report_side *side);

/* Where a side is, as far as it is known: in a kernel's source, else the innermost place of its call that has a line;
 * in a package of Python's only if nothing else is known. NULL and *line 0: nowhere. */
const char *report_place(const struct report_side *side, unsigned *line);

/* A text put together as printf does, to be freed; NULL: memory is short. */
char *report_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Findings that no rule hides, without those that are notes; and the notes. */
size_t report_shown(const struct report *report);
size_t report_notes(const struct report *report);

/* Frees all frames but the first `keep`. */
void report_cut_stack(struct report_stack *stack, size_t keep);
void report_free_finding(struct report_finding *finding);
void report_free(struct report *report);

#endif
