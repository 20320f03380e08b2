/* SPDX-License-Identifier: Apache-2.0 */
/* Places in kernels: numbers from 1 on, in the order in which they are first asked for. Nothing is ever forgotten, so
 * what an observer has kept stays true when a module is unloaded; a module that is loaded again gets the same numbers.
 */
#include "base/alloc.h"
#include "base/thread.h"
#include "observe/names.h"
#include "observe/place.h"

#define CHUNK 1024u /* places; they never move */
#define CHUNKS 16384u

struct place {
    struct mr_observed_place told;
    uint32_t next; /* in its bucket; 0: the last */
};

#define BUCKETS 4096u

static mr_lock lock = MR_LOCK_INIT(PLACES);
static uint32_t buckets[BUCKETS];
static struct place *chunks[CHUNKS];
static uint32_t count; /* of places, numbered from 1 */

static struct place *at(uint32_t number)
{
    return &chunks[number / CHUNK][number % CHUNK];
}

/* Lock held; the texts are kept ones. */
static uint32_t find_or_add(const struct mr_observed_place *wanted)
{
    MR_HELD(&lock);
    uint32_t *bucket = &buckets[((uintptr_t)wanted->kernel / 16 + wanted->ptx_line * 7919u) % BUCKETS];
    for (uint32_t number = *bucket; number; number = at(number)->next) {
        const struct mr_observed_place *told = &at(number)->told;
        if (told->kernel == wanted->kernel && told->file == wanted->file && told->line == wanted->line &&
            told->ptx_line == wanted->ptx_line)
            return number;
    }
    uint32_t number = count + 1;
    if (number / CHUNK >= CHUNKS)
        return 0;
    if (!chunks[number / CHUNK] && !(chunks[number / CHUNK] = mr_calloc(CHUNK, sizeof(struct place))))
        return 0;
    *at(number) = (struct place){*wanted, *bucket};
    *bucket = count = number;
    return number;
}

uint32_t mr_place_number(const char *kernel, const char *file, uint32_t line, uint32_t ptx_line)
{
    struct mr_observed_place wanted = {mr_observe_name(kernel), mr_observe_name(file), file ? line : 0, ptx_line};
    if (!wanted.kernel || (file && !wanted.file))
        return 0;
    mr_lock_take(&lock);
    uint32_t number = find_or_add(&wanted);
    mr_lock_drop(&lock);
    return number;
}

bool mr_place_tell(uint32_t place, struct mr_observed_place *out)
{
    mr_lock_take(&lock);
    bool known = place && place <= count;
    if (known)
        *out = at(place)->told;
    mr_lock_drop(&lock);
    return known;
}
