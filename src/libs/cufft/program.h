/* SPDX-License-Identifier: Apache-2.0 */
/* How a transform is carried out: a *program*, a list of steps, made when a plan is made and never changed then.
 *
 * A *line* is a row of elements along one axis. A *step* transforms many lines, each from memory to memory, or
 * copies or combines them. Steps follow each other; the lines of one step may go in any order, on any threads.
 * Long lines are cut in two (`split`): n = n1 n2 elements are n2 lines of n1, whose results are multiplied by
 * roots of unity, and then n1 lines of n2. So the parts of one long transform can be shared out, and lie in a
 * processor's cache.
 *
 * Numbers are computed in float, or in double where elements are double. Halves and bfloat16 are converted when a
 * line is read and when it is written. */
#ifndef MR_CUFFT_PROGRAM_H
#define MR_CUFFT_PROGRAM_H

#include <library_types.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/cufft/fftw.h"
#include "libs/cufft/roots.h"

#define MR_FFT_RANK 3
#define MR_FFT_LOOPS 5 /* the batch, two other axes, two for halves of a cut line */
#define MR_FFT_STEPS 12
#define MR_FFT_LADDER 7
#define MR_FFT_CHUNK 8192

enum mr_fft_sort { MR_FFT_COMPLEX, MR_FFT_REAL_IN, MR_FFT_REAL_OUT };

/* One side of a transform, in elements. */
struct mr_fft_side {
    cudaDataType type;
    int64_t embed[MR_FFT_RANK]; /* lengths of the array that the transform's is a part of; [0] is not needed */
    int64_t stride; /* between elements along the last axis */
    int64_t distance; /* between members of the batch */
};

/* A transform. */
struct mr_fft_problem {
    enum mr_fft_sort sort;
    int rank;
    int64_t n[MR_FFT_RANK];
    int64_t batch;
    struct mr_fft_side in, out;
    bool in_place;
};

/* The memory that a step reads or writes. */
enum mr_fft_where { MR_FFT_IN, MR_FFT_OUT, MR_FFT_WORK };

/* Where a step's lines lie, in bytes. */
struct mr_fft_end {
    enum mr_fft_where where;
    cudaDataType type;
    int64_t offset; /* of the first line */
    int64_t stride; /* between elements of a line */
    int64_t gap; /* between the real and the imaginary part of an element */
    int64_t loop[MR_FFT_LOOPS]; /* between lines */
};

enum mr_fft_action {
    MR_FFT_LINES, /* transforms lines */
    MR_FFT_COPY, /* copies lines */
    MR_FFT_UNPACK, /* the spectrum of n / 2 complex elements to that of n real ones, in its place */
    MR_FFT_PACK, /* the other way, from place to place */
};

struct mr_fft_step {
    enum mr_fft_action action;
    enum mr_fft_sort sort; /* of lines */
    int64_t n; /* elements of a line as it is transformed; of real ones, the real elements */
    int rank; /* of a step whose lines are whole members: the problem's, which FFTW transforms at once; or 0 */
    int loops;
    int64_t count[MR_FFT_LOOPS]; /* how many lines: the first loop is the slowest */
    int64_t lines; /* the product; of (UN)PACK: times chunks */
    int64_t chunks; /* of (UN)PACK: how many pieces a line is cut into */
    struct mr_fft_end from, to;
    bool direct_from, direct_to; /* FFTW reads, or writes, the memory itself where it can */
    int64_t block; /* lines at a time */
    int64_t part; /* lines of a part, if parts are cut by lines: a multiple of the block */
    struct mr_roots *roots; /* of a cut line: results of the lines are multiplied by them. Of (UN)PACK: what it needs */
    int root_loop; /* the loop that says which power */
    int64_t from_room, to_room; /* from line to line in scratch, in elements */
    /* Plans of FFTW for block, block / 4, … lines, and for one line from scratch to scratch; by direction. */
    int64_t counts[MR_FFT_LADDER];
    struct mr_lines *ladder[2][MR_FFT_LADDER], *one[2];
};

struct mr_fft_program {
    _Atomic uint32_t references;
    bool wide; /* computed in double */
    bool by_member; /* parts are cut by members of the batch: each runs all steps for its own */
    int64_t batch, members; /* members of a part then */
    size_t work_size; /* bytes of the work area */
    int count;
    struct mr_fft_step steps[MR_FFT_STEPS];
};

/* What making a program can end with. */
enum mr_fft_made { MR_FFT_MADE, MR_FFT_NO_MEMORY, MR_FFT_TOO_LARGE, MR_FFT_OVERLAPS };

/* Makes the program for a valid problem, in *program, with one reference. OVERLAPS: in place, lines would be written
 * over others. TOO_LARGE: bytes don't fit 62 bits, or a length that can't be cut 31. FFTW is open. */
enum mr_fft_made mr_fft_program_new(const struct mr_fft_problem *problem, struct mr_fft_program **program)
    __attribute__((warn_unused_result));

/* How many bytes of work area the program will have, without making it; TOO_LARGE as above. */
enum mr_fft_made mr_fft_work_size(const struct mr_fft_problem *problem, size_t *size);

void mr_fft_program_hold(struct mr_fft_program *program);

/* The last drop frees it. NULL is allowed. Any thread. */
void mr_fft_program_drop(struct mr_fft_program *program);

/* Elements of scratch from line to line: long lines don't begin at places that share a set of the cache. */
static inline int64_t mr_fft_room(int64_t n)
{
    return n < 64 ? n : ((n + 7) & ~(int64_t)7) + 8;
}

/* The memory of one execution. */
struct mr_fft_bases {
    char *at[3]; /* by mr_fft_where */
    bool inverse;
    const char *function; /* for the log */
};

/* Runs lines first to end - 1 of a step on this thread. False if memory is short. */
bool mr_fft_step_run(const struct mr_fft_program *program, const struct mr_fft_step *step,
                     const struct mr_fft_bases *bases, int64_t first, int64_t end);

#endif
