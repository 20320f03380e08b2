/* SPDX-License-Identifier: Apache-2.0 */
/* MTGP32 (Saito and Matsumoto, Variants of Mersenne Twister suitable for graphic processors, 2013). Its period is
 * 2^11213 - 1.
 *
 * A lane is one generator with parameters of its own (mtgp32.def). A lane gives 256 results, then the next lane has its
 * turn. Calls go on where the one before stopped, also within a lane's 256. */
#include <stdlib.h>
#include <string.h>

#include "libs/curand/convert.h"
#include "libs/curand/generator.h"
#include "libs/math/work.h"

#define TURN 256u
#define SIZE 351u /* words of state */
#define MASK 0xfff80000u

static const struct parameters {
    uint16_t pick; /* which word of the state is taken as the second */
    uint8_t left, right; /* shifts */
    uint32_t recursion[4], tempering[4]; /* what each of four bits adds */
} parameters[] = {
#define MTGP32(pick, left, right, a, b, c, d, e, f, g, h) {pick, left, right, {a, b, c, d}, {e, f, g, h}},
#include "libs/curand/mtgp32.def"
#undef MTGP32
};

struct lane {
    uint32_t state[SIZE];
    uint32_t next; /* place of the oldest word */
    uint32_t recursion[16], tempering[16];
};

struct mtgp32 {
    struct mr_rand_source head;
    unsigned count;
    struct lane lane[];
};

/* The next `count` words, TURN at most. */
static void make(struct lane *lane, const struct parameters *p, unsigned count, uint32_t *out)
{
    uint32_t window[SIZE + TURN];
    memcpy(window, lane->state + lane->next, (SIZE - lane->next) * sizeof *window);
    memcpy(window + (SIZE - lane->next), lane->state, lane->next * sizeof *window);
    for (unsigned i = 0; i < count; i++) {
        uint32_t x = (window[i] & MASK) ^ window[i + 1], t = window[i + p->pick - 1];
        x ^= x << p->left;
        uint32_t y = x ^ window[i + p->pick] >> p->right;
        uint32_t r = y ^ lane->recursion[y & 15];
        window[SIZE + i] = r;
        t ^= t >> 16;
        t ^= t >> 8;
        out[i] = r ^ lane->tempering[t & 15];
    }
    memcpy(lane->state, window + count, sizeof lane->state);
    lane->next = 0;
}

static uint64_t items_of(const struct mr_rand_work *work)
{
    return work->count;
}

/* A part is one lane. */
static uint64_t parts_of(const struct mr_rand_work *work)
{
    const struct mtgp32 *source = (const struct mtgp32 *)work->source;
    uint64_t turns = mr_parts_of(work->place % TURN + work->count, TURN);
    return turns < source->count ? turns : source->count;
}

static void store(const struct mr_rand_work *work, const uint32_t *words, unsigned count, void *out)
{
    uint64_t wide[TURN];
    for (unsigned i = 0; i < count; i++)
        wide[i] = words[i];
    mr_rand_convert_one(work, false, wide, count, out);
}

static void run(const struct mr_rand_work *work, uint64_t first, uint64_t end)
{
    struct mtgp32 *source = (struct mtgp32 *)work->source;
    uint64_t last = work->place + work->count;
    size_t size = mr_rand_size(work->kind);
    for (uint64_t part = first; part < end; part++) {
        uint64_t turn = work->place / TURN + part;
        unsigned index = (unsigned)(turn % source->count);
        for (; turn * TURN < last; turn += source->count) {
            uint32_t words[TURN];
            uint64_t from = turn * TURN, to = from + TURN;
            from = from < work->place ? work->place : from;
            to = to > last ? last : to;
            make(&source->lane[index], &parameters[index], (unsigned)(to - from), words);
            store(work, words, (unsigned)(to - from), (char *)work->out + (from - work->place) * size);
        }
    }
}

static void release(struct mr_rand_source *source)
{
    free(source);
}

static void start(struct lane *lane, const struct parameters *p, uint32_t seed)
{
    for (unsigned i = 0; i < 16; i++)
        for (unsigned bit = 0; bit < 4; bit++) {
            lane->recursion[i] ^= i >> bit & 1 ? p->recursion[bit] : 0;
            lane->tempering[i] ^= i >> bit & 1 ? p->tempering[bit] : 0;
        }
    uint32_t hidden = lane->recursion[4] ^ lane->recursion[8] << 16, fill = hidden;
    fill += fill >> 16;
    fill += fill >> 8;
    memset(lane->state, (int)(fill & 0xff), sizeof lane->state);
    lane->state[0] = seed;
    lane->state[1] = hidden;
    for (unsigned i = 1; i < SIZE; i++)
        lane->state[i] ^= 1812433253u * (lane->state[i - 1] ^ lane->state[i - 1] >> 30) + i;
}

/* How many words lane i of `count` has given before a place. */
static uint64_t words_before(uint64_t place, unsigned i, unsigned count)
{
    uint64_t turns = place / TURN, words = (turns / count + (i < turns % count)) * TURN;
    return i == turns % count ? words + place % TURN : words;
}

static void skip(struct lane *lane, const struct parameters *p, uint64_t words)
{
    uint32_t unused[TURN];
    for (; words >= TURN; words -= TURN)
        make(lane, p, TURN, unused);
    make(lane, p, (unsigned)words, unused);
}

struct mr_rand_source *mr_rand_mtgp32_new(const struct mr_generator *generator)
{
    static const struct mr_rand_ops ops = {items_of, parts_of, run, release};
    unsigned count = generator->ordering == CURAND_ORDERING_PSEUDO_LEGACY ? 64 : 192;
    struct mtgp32 *source = calloc(1, sizeof *source + count * sizeof *source->lane);
    if (!source)
        return NULL;
    source->head.ops = &ops;
    source->count = count;
    uint32_t seed = (uint32_t)(generator->seed ^ generator->seed >> 32);
    for (unsigned i = 0; i < count; i++) {
        start(&source->lane[i], &parameters[i], seed + i + 1);
        skip(&source->lane[i], &parameters[i], words_before(generator->place, i, count));
    }
    return &source->head;
}
