/* SPDX-License-Identifier: Apache-2.0 */
/* Generators, and the work that they submit.
 *
 * A generator is the record behind a program's handle: its kind and settings. What makes the numbers is its *source*:
 * the states of all its lanes, made from the settings when numbers are first asked for, or anew after a setting has
 * changed. Works in stream order use the source, and it lives until the last of them has gone.
 *
 * A *lane* is what is one thread on hardware: it makes numbers of a subsequence of its own. A generator of n lanes
 * gives out one *item* of each in turn: item i comes from lane i modulo n. An item is one result, or two for normal
 * numbers by Box and Muller; it may take several words of its lane's sequence. */
#ifndef MR_CURAND_GENERATOR_H
#define MR_CURAND_GENERATOR_H

#include <cuda.h>
#include <curand.h>
#include <stdbool.h>
#include <stdint.h>

#include "libs/math/form.h"

enum mr_rand_kind {
    MR_RAND_WORD,
    MR_RAND_LONG,
    MR_RAND_UNIFORM,
    MR_RAND_UNIFORM_DOUBLE,
    MR_RAND_NORMAL,
    MR_RAND_NORMAL_DOUBLE,
    MR_RAND_LOG_NORMAL,
    MR_RAND_LOG_NORMAL_DOUBLE,
    MR_RAND_POISSON,
};

/* Bytes of a result. */
static inline unsigned mr_rand_size(enum mr_rand_kind kind)
{
    return kind == MR_RAND_LONG || kind == MR_RAND_UNIFORM_DOUBLE || kind == MR_RAND_NORMAL_DOUBLE ||
                   kind == MR_RAND_LOG_NORMAL_DOUBLE
               ? 8
               : 4;
}

static inline bool mr_rand_is_normal(enum mr_rand_kind kind)
{
    return kind >= MR_RAND_NORMAL && kind <= MR_RAND_LOG_NORMAL_DOUBLE;
}

/* Whether a number of the sequence has 64 bits. */
static inline bool mr_rand_is_wide(curandRngType_t type)
{
    return type == CURAND_RNG_QUASI_SOBOL64 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

struct mr_rand_source;
struct mr_poisson;

/* One call's numbers: the record that is submitted. */
struct mr_rand_work {
    struct mr_rand_source *source; /* a reference */
    struct mr_poisson *poisson; /* owned; NULL for other kinds */
    enum mr_rand_kind kind;
    bool on_host; /* made as NVIDIA's library makes them on the host: by the C library's functions */
    void *out;
    uint64_t count; /* results */
    uint64_t place; /* of the first item, or of the first result of a dimension */
    double mean, deviation;
    uint64_t parts, times; /* how many parts a run has; how often it has run before, for this call of ops->run */
    _Atomic uint64_t parts_run;
};

/* What a kind of generator can do. A part's run may be called by any thread, parts of one work by several at once. */
struct mr_rand_ops {
    /* How many items a call for `count` results takes. */
    uint64_t (*items)(const struct mr_rand_work *work);
    uint64_t (*parts)(const struct mr_rand_work *work);
    void (*run)(const struct mr_rand_work *work, uint64_t first, uint64_t end);
    void (*release)(struct mr_rand_source *source);
};

/* The head of every source. */
struct mr_rand_source {
    const struct mr_rand_ops *ops;
    _Atomic unsigned references;
    curandRngType_t type;
};

struct mr_generator {
    curandRngType_t type;
    bool on_host;
    CUcontext context;
    CUstream stream;
    curandOrdering_t ordering;
    unsigned long long seed;
    unsigned dimensions;
    struct mr_rand_source *source; /* NULL: to be made, at the place */
    uint64_t place; /* of the next call: as many items are before it */
};

/* Sources of each kind from the generator's settings, with one reference; NULL if memory is short. */
struct mr_rand_source *mr_rand_lanes_new(const struct mr_generator *generator);
struct mr_rand_source *mr_rand_philox_new(const struct mr_generator *generator);
struct mr_rand_source *mr_rand_mtgp32_new(const struct mr_generator *generator);
struct mr_rand_source *mr_rand_mt19937_new(const struct mr_generator *generator);
struct mr_rand_source *mr_rand_sobol_new(const struct mr_generator *generator);

/* A reference more, and one less. */
struct mr_rand_source *mr_rand_source_take(struct mr_rand_source *source);
void mr_rand_source_drop(struct mr_rand_source *source);

/* The record behind a handle, or NULL; the driver is open, and a device generator's context current. */
struct mr_generator *mr_generator_enter(curandGenerator_t handle);

/* Makes the source if there is none. */
curandStatus_t mr_generator_source(struct mr_generator *generator);

#endif
