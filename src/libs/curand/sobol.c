/* SPDX-License-Identifier: Apache-2.0 */
/* Sobol's sequences (1967) in the order of Gray code (Antonov and Saleev, 1979), of 32 and 64 bits.
 *
 * Results are given dimension by dimension. A number is made from its place alone, and its neighbours from it. A
 * scrambled sequence has other direction vectors and begins at a constant (tables.h). */
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
    struct dimension {
        uint64_t start, vectors[64];
    } dimension[];
};

static uint64_t items_of(const struct mr_rand_work *work)
{
    return work->count / ((const struct sobol *)work->source)->dimensions;
}

static uint64_t parts_of(const struct mr_rand_work *work)
{
    return mr_parts_of(items_of(work), EACH) * ((const struct sobol *)work->source)->dimensions;
}

static void make(const struct mr_rand_work *work, const struct dimension *dimension, bool is_wide, uint64_t place,
                 uint64_t count, char *out)
{
    const uint64_t *vectors = dimension->vectors;
    uint64_t x = dimension->start, words[ROW];
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
        make(work, &sobol->dimension[dimension], sobol->is_wide, work->place + begin, count,
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
    struct sobol *sobol = malloc(sizeof *sobol + generator->dimensions * sizeof *sobol->dimension);
    if (!sobol)
        return NULL;
    bool is_scrambled =
        generator->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || generator->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
    sobol->head.ops = &ops;
    sobol->dimensions = generator->dimensions;
    sobol->is_wide = mr_rand_is_wide(generator->type);
    for (unsigned i = 0; i < generator->dimensions; i++) {
        struct dimension *dimension = &sobol->dimension[i];
        mr_sobol_vectors(i, dimension->vectors);
        dimension->start = is_scrambled ? mr_sobol_scramble(i, dimension->vectors) : 0;
        dimension->start = sobol->is_wide ? dimension->start : dimension->start >> 32;
        for (unsigned bit = 0; bit < 64 && !sobol->is_wide; bit++)
            dimension->vectors[bit] = bit < 32 ? dimension->vectors[bit] >> 32 : 0;
    }
    return &sobol->head;
}
