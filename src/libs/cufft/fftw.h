/* SPDX-License-Identifier: Apache-2.0 */
/* FFTW, as this library uses it: transforms of *lines*, elements in a row, some lines at a time.
 *
 * FFTW 3 is opened at the first plan, never linked: its licence is the GPL (docs/math-libraries.md). Its planner
 * may not be used by several threads at once. Here one lock guards it. FFTW is told to lock it as well, because the
 * program may use the same library. Plans are made by FFTW's estimate, without measuring: so they are the same on every
 * run, and so are the results. */
#ifndef MR_CUFFT_FFTW_H
#define MR_CUFFT_FFTW_H

#include <stdbool.h>
#include <stdint.h>

enum mr_line_kind {
    MR_LINE_FORWARD, /* complex to complex */
    MR_LINE_INVERSE,
    MR_LINE_REAL_IN, /* n real elements to n / 2 + 1 complex ones */
    MR_LINE_REAL_OUT, /* the other way; what is read is overwritten */
};

/* What a plan for lines does. */
struct mr_lines_key {
    bool wide; /* double, not float */
    bool in_place; /* complex to complex only */
    enum mr_line_kind kind;
    int rank; /* of whole arrays instead of lines: 2 or 3, and their lengths in n; 0 for lines */
    int64_t n[3];
    int64_t length; /* elements of a line, or of an array */
    int64_t count; /* lines */
    int64_t from_distance, to_distance; /* from line to line, in elements of that side */
};

struct mr_lines;

/* Opens FFTW for float, or for double. False, with a line in the log that names the package, if it is missing. Any
 * thread. */
bool mr_fftw_open(bool wide);

/* The plan for that, with a reference; NULL when memory is short. FFTW is open. Any thread; takes the planner's
 * lock. */
struct mr_lines *mr_lines_get(const struct mr_lines_key *key) __attribute__((warn_unused_result));

/* Gives the reference back. NULL is allowed. Any thread. */
void mr_lines_drop(struct mr_lines *lines);

/* Transforms. Both pointers are on boundaries of 16 bytes. Any number of threads at once. */
void mr_lines_run(const struct mr_lines *lines, void *from, void *to);

#endif
