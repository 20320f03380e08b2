/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 (Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011).
 *
 * Its numbers come in groups of four from a counter. Four results are an item, of one of 65,536 subsequences in turn:
 * the counter's upper half is the subsequence, its lower half counts the groups that it has given. Any result can be
 * made alone, from its place. A work that a graph runs again takes the groups behind those that it took before. */
#include <stdlib.h>

#include "libs/curand/convert.h"
#include "libs/curand/generator.h"
#include "libs/curand/poisson.h"
#include "libs/math/work.h"

#define LANES 65536u
#define GROUP 4u
#define EACH 4096u /* results of a part; a multiple of ROW */

struct philox {
    struct mr_rand_source head;
    uint32_t key[2];
};

static void group(const struct philox *philox, uint64_t row, uint32_t lane, uint32_t out[GROUP])
{
    uint32_t c[GROUP] = {(uint32_t)row, (uint32_t)(row >> 32), lane, 0}, k0 = philox->key[0], k1 = philox->key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t first = 0xd2511f53ull * c[0], second = 0xcd9e8d57ull * c[2];
        c[0] = (uint32_t)(second >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)second;
        c[2] = (uint32_t)(first >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)first;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    for (unsigned i = 0; i < GROUP; i++)
        out[i] = c[i];
}

static uint64_t items_of(const struct mr_rand_work *work)
{
    return work->count;
}

static uint64_t parts_of(const struct mr_rand_work *work)
{
    return mr_parts_of(work->count + work->place % GROUP, EACH);
}

/* The four results whose first is at a place that is a multiple of four. */
static void make_group(const struct mr_rand_work *work, uint64_t place, void *out)
{
    const struct philox *philox = (const struct philox *)work->source;
    uint64_t row = place / GROUP / LANES;
    uint32_t lane = (uint32_t)(place / GROUP % LANES), x[2 * GROUP], words[4 * MR_RAND_ROW];
    unsigned each = mr_rand_words(work->kind, false), all = mr_rand_is_normal(work->kind) ? GROUP / 2 : GROUP;
    if (work->kind == MR_RAND_POISSON && !work->poisson->length) {
        float pairs[GROUP];
        group(philox, row, lane, x);
        for (unsigned i = 0; i < GROUP; i++)
            words[i % 2 * MR_RAND_ROW + i / 2] = x[i];
        mr_rand_normal_pairs(false, words, GROUP / 2, pairs);
        for (unsigned i = 0; i < GROUP; i++)
            ((uint32_t *)out)[i] = mr_poisson_of_normal(work->poisson, pairs[i]);
        return;
    }
    if (each * all > GROUP) {
        group(philox, 2 * row, lane, x);
        group(philox, 2 * row + 1, lane, x + GROUP);
    } else {
        group(philox, row, lane, x);
    }
    for (unsigned i = 0; i < all; i++)
        for (unsigned w = 0; w < each; w++)
            words[w * MR_RAND_ROW + i] = x[i * each + w];
    if (work->kind == MR_RAND_POISSON)
        for (unsigned i = 0; i < GROUP; i++)
            ((uint32_t *)out)[i] = mr_poisson_of(work->poisson, mr_rand_fraction(false, x[i]));
    else
        mr_rand_convert(work, false, words, all, out);
}

static void copy(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

/* How far behind its place a work begins when it is run for the n-th time: so many whole rounds of the lanes. */
static uint64_t behind(const struct mr_rand_work *work)
{
    uint64_t round = (uint64_t)LANES * GROUP;
    return work->times * mr_parts_of(work->count, round) * round;
}

static void run(const struct mr_rand_work *work, uint64_t first, uint64_t end)
{
    size_t size = mr_rand_size(work->kind);
    uint64_t begin = work->place - work->place % GROUP + first * EACH, last = work->place + work->count;
    uint64_t stop = begin + (end - first) * EACH, more = behind(work);
    for (uint64_t place = begin; place < stop && place < last; place += GROUP) {
        if (place >= work->place && place + GROUP <= last) {
            make_group(work, place + more, (char *)work->out + (place - work->place) * size);
            continue;
        }
        _Alignas(8) char four[GROUP * 8];
        uint64_t from = place < work->place ? work->place - place : 0, to = last - place < GROUP ? last - place : GROUP;
        make_group(work, place + more, four);
        copy((char *)work->out + (place + from - work->place) * size, four + from * size, (to - from) * size);
    }
}

static void release(struct mr_rand_source *source)
{
    free(source);
}

struct mr_rand_source *mr_rand_philox_new(const struct mr_generator *generator)
{
    static const struct mr_rand_ops ops = {items_of, parts_of, run, release};
    struct philox *philox = calloc(1, sizeof *philox);
    if (!philox)
        return NULL;
    philox->head.ops = &ops;
    philox->key[0] = (uint32_t)generator->seed;
    philox->key[1] = (uint32_t)(generator->seed >> 32);
    return &philox->head;
}
