/* SPDX-License-Identifier: Apache-2.0 */
/* MT19937 (Matsumoto and Nishimura, Mersenne Twister, 1998).
 *
 * 8,192 lanes, 2^2048 words apart in one sequence, give eight results each in turn: a *row* of a lane. In 78 rows, a
 * *cycle*, a lane gives each word of its next state once, in an order of its own (place_of): not that of the sequence.
 * One result takes one word.
 *
 * A part is a group of 64 neighbouring lanes. Lanes are made when numbers of them are first asked for, each by a jump
 * from its neighbour. */
#include <stdlib.h>
#include <string.h>

#include "libs/curand/convert.h"
#include "libs/curand/generator.h"
#include "libs/curand/mt_jump.h"
#include "libs/math/work.h"

#define LANES 8192u
#define WIDTH 8u   /* results of a row */
#define CYCLE 78u  /* rows in which a lane gives its whole state */
#define GROUP 64u  /* lanes of a part */
#define GROUPS (LANES / GROUP)
#define GROUP_POWER 6u
#define ROUND ((uint64_t)LANES * WIDTH)

struct group {
    unsigned made; /* so many of its lanes have states */
    uint64_t cycle[GROUP]; /* of the words in the state; the first is 0 */
    uint64_t more; /* a place's row is so many behind the one that the place itself says */
    uint64_t end, row; /* the place behind the last work, and the first row that no work has touched */
};

struct mt19937 {
    struct mr_rand_source head;
    uint32_t first[MR_MT_SIZE]; /* lane 0, cycle 0 */
    struct group group[GROUPS];
    uint32_t state[LANES][MR_MT_SIZE];
};

/* Which word of the state a lane gives. Row 0 has eight that split the others into eleven stretches of 56; the rows
 * behind it go through one stretch after the other, seven rows each. */
static unsigned place_of(unsigned row, unsigned column)
{
    static const uint16_t splits[WIDTH] = {0, 113, 170, 283, 340, 397, 510, 567};
    static const uint16_t stretches[] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
    return row == 0 ? splits[column] : stretches[(row - 1) / 7] + (row - 1) % 7 + 7 * column;
}

static uint32_t temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* The next MR_MT_SIZE words. */
static void next_cycle(uint32_t *state)
{
    uint32_t words[2 * MR_MT_SIZE];
    memcpy(words, state, MR_MT_SIZE * sizeof *words);
    for (unsigned i = 0; i < MR_MT_SIZE; i++)
        words[MR_MT_SIZE + i] = mr_mt_next(words + i);
    memcpy(state, words + MR_MT_SIZE, MR_MT_SIZE * sizeof *words);
}

/* Makes the group's first lanes up to `count`. False if memory is short. */
static bool make_lanes(struct mt19937 *source, unsigned index, unsigned count)
{
    struct group *group = &source->group[index];
    uint32_t(*state)[MR_MT_SIZE] = source->state + (size_t)index * GROUP;
    for (; group->made < count; group->made++) {
        unsigned lane = group->made;
        uint32_t *last = lane ? state[lane - 1] : source->first, at[MR_MT_SIZE];
        /* The lane before may have moved on: both by the same number of cycles. */
        uint64_t moved = lane ? group->cycle[lane - 1] : 0;
        memcpy(at, last, sizeof at);
        if (lane && !mr_mt_jump(0, at, at))
            return false;
        for (unsigned bit = 0; lane == 0 && index >> bit; bit++)
            if (index >> bit & 1 && !mr_mt_jump(GROUP_POWER + bit, at, at))
                return false;
        memcpy(state[lane], at, sizeof at);
        group->cycle[lane] = moved;
    }
    return true;
}

static uint64_t items_of(const struct mr_rand_work *work)
{
    return work->count;
}

static uint64_t parts_of(const struct mr_rand_work *work)
{
    uint64_t groups = mr_parts_of(work->place % (GROUP * WIDTH) + work->count, GROUP * WIDTH);
    return groups < GROUPS ? groups : GROUPS;
}

/* The results from place `from` on, which are words of one lane's row. */
static void store(const struct mr_rand_work *work, struct mt19937 *source, unsigned index, uint64_t from,
                  unsigned count)
{
    struct group *group = &source->group[index];
    unsigned lane = (unsigned)(from / WIDTH % GROUP);
    uint32_t *state = source->state[(size_t)index * GROUP + lane];
    uint64_t row = from / ROUND + group->more, words[WIDTH];
    for (; group->cycle[lane] < row / CYCLE; group->cycle[lane]++)
        next_cycle(state);
    for (unsigned i = 0; i < count; i++)
        words[i] = temper(state[place_of((unsigned)(row % CYCLE), (unsigned)(from % WIDTH) + i)]);
    mr_rand_convert_one(work, false, words, count, (char *)work->out + (from - work->place) * mr_rand_size(work->kind));
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The results of one group. Its lanes can't go back: a work that comes again, as one of a graph, gets rows that no work
 * before it has touched. */
static void run_group(const struct mr_rand_work *work, struct mt19937 *source, unsigned index)
{
    struct group *group = &source->group[index];
    uint64_t end = work->place + work->count, row = work->place / ROUND;
    uint64_t begin = row * ROUND + (uint64_t)index * GROUP * WIDTH; /* of the group's row */
    if (begin + (uint64_t)GROUP * WIDTH <= work->place) {
        begin += ROUND;
        row++;
    }
    uint64_t rows = mr_parts_of(end - begin, ROUND), from = begin < work->place ? work->place : begin;
    unsigned lanes = (unsigned)least(rows > 1 ? GROUP : mr_parts_of(end - begin, WIDTH), GROUP);
    if (work->place < group->end)
        group->more = group->row - row;
    if (!make_lanes(source, index, lanes)) {
        mr_math_short_of_memory("curandGenerate");
        return;
    }
    for (; begin < end; begin += ROUND, from = begin)
        while (from < least(begin + (uint64_t)GROUP * WIDTH, end)) {
            unsigned count = (unsigned)least(WIDTH - from % WIDTH, end - from);
            store(work, source, index, from, count);
            from += count;
        }
    group->end = end;
    group->row = row + rows + group->more;
}

static void run(const struct mr_rand_work *work, uint64_t first, uint64_t end)
{
    for (uint64_t part = first; part < end; part++)
        run_group(work, (struct mt19937 *)work->source, (unsigned)((work->place / (GROUP * WIDTH) + part) % GROUPS));
}

static void release(struct mr_rand_source *source)
{
    free(source);
}

struct mr_rand_source *mr_rand_mt19937_new(const struct mr_generator *generator)
{
    static const struct mr_rand_ops ops = {items_of, parts_of, run, release};
    struct mt19937 *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->head.ops = &ops;
    source->first[0] = (uint32_t)generator->seed;
    for (unsigned i = 1; i < MR_MT_SIZE; i++)
        source->first[i] = 1812433253u * (source->first[i - 1] ^ source->first[i - 1] >> 30) + i;
    next_cycle(source->first);
    return &source->head;
}
