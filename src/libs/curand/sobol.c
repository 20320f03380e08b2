/* SPDX-License-Identifier: Apache-2.0 */
/* Sobol's sequences (1967) in the order of Gray code (Antonov and Saleev, 1979), of 32 and 64 bits.
 *
 * Results are given dimension by dimension. A number is made from its place alone, and its neighbours from it. */
#include <stdlib.h>

#include "libs/curand/convert.h"
#include "libs/curand/generator.h"
#include "libs/curand/tables.h"
#include "libs/math/work.h"

#define EACH 16384u /* results of a part, of one dimension */
#define ROW MR_RAND_ROW

struct sobol {
    struct mr_rand_source head;
    unsigned dimensions;
    bool is_wide;
    uint64_t vectors[][64];
};

static uint64_t items_of(const struct mr_rand_work *work)
{
    return work->count / ((const struct sobol *)work->source)->dimensions;
}

static uint64_t parts_of(const struct mr_rand_work *work)
{
    return mr_parts_of(items_of(work), EACH) * ((const struct sobol *)work->source)->dimensions;
}

static void make(const struct mr_rand_work *work, const uint64_t *vectors, bool is_wide, uint64_t place, uint64_t count,
                 char *out)
{
    uint64_t x = 0, words[ROW];
    size_t size = mr_rand_size(work->kind);
    for (unsigned bit = 0; bit < 64; bit++)
        x ^= (place ^ place >> 1) >> bit & 1 ? vectors[bit] : 0;
    for (uint64_t done = 0; done < count; done += ROW) {
        unsigned row = count - done < ROW ? (unsigned)(count - done) : ROW;
        for (unsigned i = 0; i < row; i++) {
            words[i] = x;
            place++;
            x ^= place ? vectors[__builtin_ctzll(place)] : 0;
        }
        mr_rand_convert_one(work, is_wide, words, row, out + done * size);
    }
}

static void run(const struct mr_rand_work *work, uint64_t first, uint64_t end)
{
    const struct sobol *sobol = (const struct sobol *)work->source;
    uint64_t items = items_of(work), each = mr_parts_of(items, EACH);
    for (uint64_t part = first; part < end; part++) {
        uint64_t dimension = part / each, begin = part % each * EACH;
        uint64_t count = items - begin < EACH ? items - begin : EACH;
        make(work, sobol->vectors[dimension], sobol->is_wide, work->place + begin, count,
             (char *)work->out + (dimension * items + begin) * mr_rand_size(work->kind));
    }
}

static void release(struct mr_rand_source *source)
{
    free(source);
}

struct mr_rand_source *mr_rand_sobol_new(const struct mr_generator *generator)
{
    static const struct mr_rand_ops ops = {items_of, parts_of, run, release};
    struct sobol *sobol = malloc(sizeof *sobol + generator->dimensions * sizeof *sobol->vectors);
    if (!sobol)
        return NULL;
    sobol->head.ops = &ops;
    sobol->dimensions = generator->dimensions;
    sobol->is_wide = generator->type == CURAND_RNG_QUASI_SOBOL64;
    for (unsigned i = 0; i < generator->dimensions; i++) {
        mr_sobol_vectors(i, sobol->vectors[i]);
        for (unsigned bit = 0; bit < 64 && !sobol->is_wide; bit++)
            sobol->vectors[i][bit] = bit < 32 ? sobol->vectors[i][bit] >> 32 : 0;
    }
    return &sobol->head;
}
