/* SPDX-License-Identifier: Apache-2.0 */

/* The fuzzers' own way of changing PTX: words half of the time, bytes otherwise. */
#include <stddef.h>
#include <stdint.h>

#include "words.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static uint64_t state;

static size_t below(size_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return limit ? (size_t)(state >> 33) % limit : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    state = seed;
    if (below(2) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (size_t n = 1 + below(4); n > 0; n--)
        size = fuzz_replace_word(data, size, most, below);
    return size;
}
