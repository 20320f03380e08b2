/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel cases come from tables: a row has a few PTX instructions, the kind of
 * numbers they get and the kind they give.  gold_kernel.c puts them into a
 * kernel, runs it on 1024 threads and says a hash of all results and some of
 * them in full, so that a difference of one bit in one lane shows.
 *
 * What a body finds:  %r0 the thread's number in the grid; three inputs, each
 * as %rd11..13 (64 bits), %r1..3 (the low 32), %h1..3 (the low 16), %f1..3 and
 * %d1..3 (the same bits as floats); %rd3 scratch memory in global space, zeroed.
 * It leaves its result in the tenth register of its kind and may use %r4..%r60,
 * %rd14..%rd40, %f4..%f30, %d4..%d30, %h4..%h30, %p0..%p20 as it likes.
 */
#ifndef GOLD_KERNEL_H
#define GOLD_KERNEL_H

#include "gold.h"

enum gold_input {
    IN_INDEX,  /* only the thread's number matters; inputs as IN_INT */
    IN_INT,    /* pairs of edge values and noise */
    IN_SMALL,  /* two edge values and a small third number */
    IN_FLOAT,  /* pairs of edge values in single precision, no NaN */
    IN_DOUBLE, /* the same in double precision */
    IN_NAN     /* NaNs of several payloads beside numbers, single precision */
};

struct gold_kernel {
    const char *name; /* "kernel.…" */
    enum gold_input input;
    char result; /* r, x (64 bits), f, d, h; a NaN result counts as equal to any other */
    const char *body;
    const char *globals;    /* module-scope text before the kernel, or NULL */
    unsigned scratch_words; /* how much of the scratch memory is hashed too */
    unsigned block;         /* threads per block, 256 if 0; the grid has 1024 in all */
    bool exact_nan;         /* NaN results are compared bit for bit */
    unsigned dynamic_shared;
    unsigned target;        /* 80 for sm_80; sm_75 if 0 */
    unsigned version;       /* of PTX, 81 for 8.1; 7.0 if 0 */
    const char *directives; /* of the kernel, or NULL */
};

void gold_kernel_run(const struct gold_case *self);

/* Rows leave out what they don't need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Registers ROWS, a static array of struct gold_kernel. */
#define KERNELS(rows) \
    static struct gold_case rows##_cases[sizeof(rows) / sizeof(rows)[0]]; \
    __attribute__((constructor)) static void rows##_add(void) \
    { \
        size_t count = sizeof(rows) / sizeof(rows)[0]; \
        for (size_t i = 0; i < count; i++) \
            rows##_cases[i] = (struct gold_case){.name = rows[i].name, .run = gold_kernel_run, .data = &rows[i]}; \
        gold_register_all(rows##_cases, count); \
    } \
    extern int gold_semicolon

#endif
