/* SPDX-License-Identifier: Apache-2.0 */
/* Work in stream order: what every function of the libraries comes down to.
 *
 * A body checks its arguments, fills in a record of them, and submits it with a function that carries it out in parts.
 * The driver runs the parts when the stream's turn has come, on as many of its threads as are free; or it puts them
 * into the graph to which the stream is captured, and runs them whenever that is launched. Parts are cut by the
 * problem's size alone, never by the number of threads: so results are the same on every run.
 *
 * Scalars: with host pointers the record has a copy, made when the function is called; with device pointers it has the
 * pointer, which is read when the work runs. */
#ifndef MR_MATH_WORK_H
#define MR_MATH_WORK_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_scalar {
    const void *device; /* where it is read; NULL: `value` has it */
    _Alignas(16) unsigned char value[16];
};

/* A scalar of `size` bytes (16 at most) behind a pointer that is not NULL. */
struct mr_scalar mr_scalar_take(const void *pointer, size_t size, bool on_device);

static inline const void *mr_scalar_at(const struct mr_scalar *scalar)
{
    return scalar->device ? scalar->device : scalar->value;
}

/* Submits `parts` parts of run(record, first, end), which gets a copy of the `size` bytes at `record`. No part may call
 * the driver. No part at all is a success. The thread has a current context. Statuses are those of cuLaunchHostFunc. */
CUresult mr_math_submit(CUstream stream, uint64_t parts, void (*run)(void *record, uint64_t first, uint64_t end),
                        const void *record, size_t size) __attribute__((warn_unused_result));

/* The same with `extra` more bytes behind a copied record: bytes at `more`, for arrays that a function gets by host
 * pointer. */
CUresult mr_math_submit_more(CUstream stream, uint64_t parts, void (*run)(void *record, uint64_t first, uint64_t end),
                             const void *record, size_t size, const void *more, size_t extra)
    __attribute__((warn_unused_result));

/* The same with a record that the caller has allocated: on success it is given up, and `release` gets it once the work
 * has run or the last graph with it has gone. Otherwise, also for no part at all, the caller keeps it. */
CUresult mr_math_submit_own(CUstream stream, uint64_t parts, void (*run)(void *record, uint64_t first, uint64_t end),
                            void (*release)(void *record), void *record) __attribute__((warn_unused_result));

/* Observers find races of a library's work if the library tells what it touches: before each mr_math_submit, all of
 * it, or nothing. What is told must be touched for certain: else work that is in order would be reported. These
 * functions tell of one operand each, with the library's function by name. They do nothing unless somebody asks. */
enum { MR_READS = 1, MR_WRITES = 2, MR_NAMES = 4 }; /* as MR_PARTS_READ and the like (command/parts.h) */

/* `rows` runs of `width` bytes, `pitch` bytes apart. False: nobody asks. */
bool mr_tell_rows(const char *function, const void *at, size_t width, size_t rows, size_t pitch, unsigned how);
/* Columns of m elements. */
bool mr_tell_matrix(const char *function, const void *at, int64_t m, int64_t n, int64_t ld, size_t size, unsigned how);
/* One triangle of n rows and columns, without the diagonal if `unit`. */
bool mr_tell_triangle(const char *function, const void *at, bool upper, bool unit, int64_t n, int64_t ld, size_t size,
                      unsigned how);
/* n elements, of which the first or last is at `at`, as BLAS has it. */
bool mr_tell_vector(const char *function, const void *at, int64_t n, int64_t increment, size_t size, unsigned how);
/* Called by mr_math_submit and its like: the work has the name of the function that the thread is in; one of a call
 * that has told all is told of. */
void mr_tell_work(void);
/* The same where there is none after all: what was told of it alone is forgotten. */
void mr_tell_no_work(void);

/* A scalar that is read when the work runs. */
bool mr_tell_scalar(const char *function, const struct mr_scalar *scalar, size_t size);

/* A library's call that may have several works, and tells all that they touch at once, before the first of them: what
 * this thread tells from here on is all of it, and later works of the call touch no more. False: nobody asks, and
 * nothing need be told. The exported functions call both where spec/math says what they touch (spec/math/README.md). */
bool mr_tell_call(const char *function);
/* The same where the body tells, or nobody: works that it submits have this name. */
void mr_tell_in(const char *function);
void mr_tell_call_over(void);

/* As mr_tell_matrix, for each of `count` matrices whose pointers lie at `at`, where they are read when the work runs.
 */
bool mr_tell_members(const char *function, const void *at, int64_t count, int64_t m, int64_t n, int64_t ld, size_t size,
                     unsigned how);

/* One of the two: with a count of 0 the matrix itself. */
static inline bool mr_tell_batch(const char *function, const void *at, int64_t count, int64_t m, int64_t n, int64_t ld,
                                 size_t size, unsigned how)
{
    return count ? mr_tell_members(function, at, count, m, n, ld, size, how)
                 : mr_tell_matrix(function, at, m, n, ld, size, how);
}
/* Elements of `size` bytes by their indices, which are read when the work runs, and are told of apart. */
bool mr_tell_indexed(const char *function, const void *at, size_t size, const void *indices, size_t index_size,
                     bool from_1, int64_t count, unsigned how);
/* As many elements as the int at `count` says when the work has run, less `less`. */
bool mr_tell_counted(const char *function, const void *at, size_t size, const int *count, int less, unsigned how);

/* As many as the n ints at `counts` add up to. */
bool mr_tell_summed(const char *function, const void *at, size_t size, const int *counts, int64_t n, unsigned how);

/* Known to be 0 by now. */
bool mr_scalar_is_0(const struct mr_scalar *scalar, size_t size);

/* How many parts of `each` there are in `all`; 0 for 0. */
static inline uint64_t mr_parts_of(uint64_t all, uint64_t each)
{
    return all / each + (all % each != 0);
}

/* Memory of this part's own for a while, on a boundary of 64 bytes; each thread keeps some for the next part. NULL when
 * memory is short. Slots are 0 to 3: a later call with the same slot on the same thread takes it over. */
void *mr_math_scratch(unsigned slot, size_t bytes) __attribute__((warn_unused_result));

/* The same, of which each byte is 0. A part that has made each byte 0 again gives them back, so that the next part need
 * not clear them; after one that did not come so far (a fault ends a part), they are cleared. */
void *mr_math_zeros(size_t bytes) __attribute__((warn_unused_result));
void mr_math_zeros_back(void);

/* For a part that can't go on because memory is short: says so in the log, and the context fails with
 * CUDA_ERROR_OUT_OF_MEMORY. What the part would have written is left as it was. */
void mr_math_short_of_memory(const char *function);

#endif
