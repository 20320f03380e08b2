/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of XORWOW and MRG32k3a.
 *
 * A work begins at the lane of its first item and goes round. A part is up to MR_RAND_ROW neighbouring lanes, counted
 * from there: it takes their states, makes their items row by row, and puts the states back. So parts touch nothing of
 * each other. */
#include "libs/curand/lanes.h"

#include <math.h>
#include <stdlib.h>

#include "libs/curand/convert.h"
#include "libs/curand/poisson.h"
#include "libs/math/work.h"

#define ROW MR_RAND_ROW
#define SEEDED_LANES 4096u

/* The states of one part's lanes. */
struct block {
    uint32_t word[MR_LANE_WORDS][ROW];
    float kept[ROW];
};

static uint64_t items_of(const struct mr_rand_work *work)
{
    return mr_rand_is_normal(work->kind) ? work->count / 2 : work->count;
}

static uint64_t parts_of(const struct mr_rand_work *work)
{
    const struct mr_lanes *lanes = (const struct mr_lanes *)work->source;
    uint64_t items = items_of(work);
    return mr_parts_of(items < lanes->count ? items : lanes->count, ROW);
}

/* One word of each lane. */
static void xorwow_row(struct block *b, uint32_t *out)
{
    for (unsigned i = 0; i < ROW; i++) {
        uint32_t t = b->word[1][i] ^ b->word[1][i] >> 2, last = b->word[5][i];
        b->word[1][i] = b->word[2][i];
        b->word[2][i] = b->word[3][i];
        b->word[3][i] = b->word[4][i];
        b->word[4][i] = last;
        last = last ^ last << 4 ^ t ^ t << 1;
        b->word[5][i] = last;
        b->word[0][i] += 362437;
        out[i] = last + b->word[0][i];
    }
}

static void mrg_row(struct block *b, uint32_t *out)
{
    for (unsigned i = 0; i < ROW; i++) {
        uint32_t s[MR_LANE_WORDS];
        for (unsigned w = 0; w < MR_LANE_WORDS; w++)
            s[w] = b->word[w][i];
        out[i] = mr_mrg_step(s);
        for (unsigned w = 0; w < MR_LANE_WORDS; w++)
            b->word[w][i] = s[w];
    }
}

/* One word of lane i. */
static uint32_t one_word(struct block *b, bool is_mrg, unsigned i)
{
    uint32_t s[MR_LANE_WORDS];
    for (unsigned w = 0; w < MR_LANE_WORDS; w++)
        s[w] = b->word[w][i];
    uint32_t word = is_mrg ? mr_mrg_step(s) : mr_xorwow_step(s);
    for (unsigned w = 0; w < MR_LANE_WORDS; w++)
        b->word[w][i] = s[w];
    return word;
}

/* The same of the first `count` lanes alone. */
static void make_row(struct block *b, bool is_mrg, unsigned count, uint32_t *out)
{
    if (count < ROW)
        for (unsigned i = 0; i < count; i++)
            out[i] = one_word(b, is_mrg, i);
    else if (is_mrg)
        mrg_row(b, out);
    else
        xorwow_row(b, out);
}

static void move_lanes(struct mr_lanes *lanes, unsigned lane, unsigned count, struct block *b, bool is_load)
{
    for (unsigned i = 0; i < count; i++, lane = lane + 1 == lanes->count ? 0 : lane + 1) {
        for (unsigned w = 0; w < MR_LANE_WORDS; w++)
            if (is_load)
                b->word[w][i] = lanes->word[w][lane];
            else
                lanes->word[w][lane] = b->word[w][i];
        if (is_load)
            b->kept[i] = lanes->kept[lane];
        else
            lanes->kept[lane] = b->kept[i];
    }
}

/* Poisson numbers from normal ones: each lane makes two, and keeps the second for its next count. */
static void large_row(const struct mr_rand_work *work, struct block *b, bool is_mrg, unsigned count, uint32_t *out)
{
    for (unsigned i = 0; i < count; i++) {
        float normal = b->kept[i];
        b->kept[i] = NAN;
        if (isnan(normal)) {
            uint32_t words[ROW + 1];
            float pair[2];
            words[0] = one_word(b, is_mrg, i);
            words[ROW] = one_word(b, is_mrg, i);
            mr_rand_normal_pairs(is_mrg, words, 1, pair);
            normal = pair[0];
            b->kept[i] = pair[1];
        }
        out[i] = mr_poisson_of_normal(work->poisson, normal);
    }
}

static void poisson_row(const struct mr_rand_work *work, struct block *b, bool is_mrg, unsigned count, uint32_t *out)
{
    uint32_t words[ROW];
    if (!work->poisson->length) {
        large_row(work, b, is_mrg, count, out);
        return;
    }
    make_row(b, is_mrg, count, words);
    for (unsigned i = 0; i < count; i++)
        out[i] = mr_poisson_of(work->poisson, mr_rand_fraction(is_mrg, words[i]));
}

static void run_part(const struct mr_rand_work *work, uint64_t part)
{
    struct mr_lanes *lanes = (struct mr_lanes *)work->source;
    struct block b;
    uint32_t words[4 * ROW];
    uint64_t items = items_of(work), first = part * ROW;
    unsigned width = first + ROW <= lanes->count ? ROW : (unsigned)(lanes->count - first);
    unsigned each = mr_rand_words(work->kind, lanes->is_mrg);
    size_t size = (size_t)mr_rand_size(work->kind) * (mr_rand_is_normal(work->kind) ? 2 : 1);
    unsigned lane = (unsigned)((work->place + first) % lanes->count);
    move_lanes(lanes, lane, width, &b, true);
    for (uint64_t at = first; at < items; at += lanes->count) {
        unsigned count = items - at < width ? (unsigned)(items - at) : width;
        char *out = (char *)work->out + at * size;
        if (work->kind == MR_RAND_POISSON) {
            poisson_row(work, &b, lanes->is_mrg, count, (uint32_t *)(void *)out);
            continue;
        }
        for (unsigned w = 0; w < each; w++)
            make_row(&b, lanes->is_mrg, count, words + w * ROW);
        mr_rand_convert(work, lanes->is_mrg, words, count, out);
    }
    move_lanes(lanes, lane, width, &b, false);
}

static void run(const struct mr_rand_work *work, uint64_t first, uint64_t end)
{
    for (uint64_t part = first; part < end; part++)
        run_part(work, part);
}

static void release(struct mr_rand_source *source)
{
    free(source);
}

struct mr_rand_source *mr_rand_lanes_new(const struct mr_generator *generator)
{
    static const struct mr_rand_ops ops = {items_of, parts_of, run, release};
    bool is_mrg = generator->type == CURAND_RNG_PSEUDO_MRG32K3A;
    bool is_legacy = generator->ordering == CURAND_ORDERING_PSEUDO_LEGACY;
    unsigned count = is_mrg && !is_legacy ? 81920 : SEEDED_LANES;
    struct mr_lanes *lanes = malloc(sizeof *lanes + (size_t)count * (MR_LANE_WORDS + 1) * sizeof(uint32_t));
    if (!lanes)
        return NULL;
    lanes->head.ops = &ops;
    lanes->count = count;
    lanes->is_mrg = is_mrg;
    for (unsigned w = 0; w < MR_LANE_WORDS; w++)
        lanes->word[w] = lanes->memory + (size_t)w * count;
    lanes->kept = (float *)(void *)(lanes->memory + (size_t)MR_LANE_WORDS * count);
    for (unsigned i = 0; i < count; i++)
        lanes->kept[i] = NAN;
    if (is_mrg)
        mr_lanes_start_mrg(lanes, generator);
    else
        mr_lanes_start_xorwow(lanes, generator);
    return &lanes->head;
}
