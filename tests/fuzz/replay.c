/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs a fuzz target without a fuzzer, so that every test run covers what
 * fuzzing has found: each file on the command line as it is, then in some
 * hundred variants with bytes and words changed, dropped and repeated. The variants come
 * from a fixed sequence of numbers: two runs do the same.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

#define FILE_MAX ((size_t)64 << 10)
#define VARIANTS 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seed = 88172645463325252u;

/* A number below `limit` (xorshift). */
static size_t below(size_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return limit ? (size_t)(seed % limit) : 0;
}

/* Runs the target on a copy of exactly the right size. */
static bool run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return false;
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return true;
}

/* Changes the `size` bytes of `data` in a few places; gives the new size. */
static size_t vary(uint8_t *data, size_t size)
{
    static const uint8_t marks[] = "{}[]();,.:%@!|<>=-0x\0\xff\"/*";
    for (size_t n = 1 + below(4); n > 0 && size > 0; n--) {
        if (below(2) == 0) {
            size = fuzz_replace_word(data, size, FILE_MAX, below);
            continue;
        }
        size_t at = below(size), length = below(size - at < 40 ? size - at : 40);
        switch (below(4)) {
        case 0:
            data[at] = marks[below(sizeof marks)];
            break;
        case 1:
            data[at] = (uint8_t)below(256);
            break;
        case 2:
            memmove(data + at, data + at + length, size - at - length);
            size -= length;
            break;
        default:
            memmove(data + below(size - length + 1), data + at, length);
            break;
        }
    }
    return size;
}

static bool replay(const char *path)
{
    static uint8_t whole[FILE_MAX], variant[FILE_MAX];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    bool good = run(whole, size);
    for (int i = 0; good && i < VARIANTS; i++) {
        memcpy(variant, whole, size);
        good = run(variant, vary(variant, size));
    }
    return good;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;
    for (int i = 1; i < argc; i++)
        good = replay(argv[i]) && good;
    return good ? 0 : 1;
}
