/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of NVIDIA's static runtime library that have no names.
 *
 * A linker puts the library's code into a program in one piece, and changes in it only what depends on addresses. So
 * the code is found by what does not change: known.def has, for each version that was to be had, where some windows of
 * 16 bytes lie and what they hash to, and where the public functions begin. The first window is looked for in all of an
 * object's code. If all others of that version are at their places too, the copy is known. */
#include "libs/redirect/known.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libs/redirect/slots.h"

/* A test has a table of its own. */
#ifndef MR_KNOWN_TABLE
#define MR_KNOWN_TABLE "libs/redirect/known.def"
#endif

/* Bytes that are read at once, and those that the table promises for a jump: five, and the mark where an indirect call
 * may arrive. */
enum { WINDOW_BYTES = 16, CHUNK = 1 << 16, ROOM = 9 };

struct runtime {
    char version[12];
    uint32_t size; /* of its code */
    uint32_t windows;
};
#define RUNTIME(version, size, windows) {version, size, windows},
#define WINDOW(at, hash)
#define FUNCTION(...)
static const struct runtime runtimes[] = {
#include MR_KNOWN_TABLE
};
#undef RUNTIME
#undef WINDOW
#undef FUNCTION
enum { RUNTIMES = sizeof runtimes / sizeof *runtimes };

/* The windows of the first version, then those of the second, and so on. */
struct window {
    uint32_t at;
    uint64_t hash;
};
#define RUNTIME(version, size, windows)
#define WINDOW(at, hash) {at, hash},
#define FUNCTION(...)
static const struct window windows[] = {
#include MR_KNOWN_TABLE
};
#undef WINDOW
#undef FUNCTION

/* Where a function begins in the code of each version; 0 where a version lacks it. */
struct function {
    char name[64];
    uint32_t places[RUNTIMES];
};
#define WINDOW(at, hash)
#define FUNCTION(name, ...) {#name, {__VA_ARGS__}},
static const struct function functions[] = {
#include MR_KNOWN_TABLE
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static uint64_t hash_of(const unsigned char *window)
{
    uint64_t low, high;
    memcpy(&low, window, sizeof low);
    memcpy(&high, window + sizeof low, sizeof high);
    return (low * 0x9e3779b97f4a7c15) ^ (high * 0xc2b2ae3d27d4eb4f);
}

/* Whether all windows of a version are where they belong in the file, if its code begins at `offset`. */
static bool is_there(int fd, uint64_t offset, const struct window *first, uint32_t count)
{
    unsigned char bytes[WINDOW_BYTES];
    for (uint32_t i = 0; i < count; i++)
        if (pread(fd, bytes, sizeof bytes, (off_t)(offset + first[i].at)) != (ssize_t)sizeof bytes ||
            hash_of(bytes) != first[i].hash)
            return false;
    return true;
}

/* A bit for each value that the first twelve bits of a hash may have. */
struct filter {
    uint64_t bits[64];
};

static bool may_be_first(const struct filter *filter, uint64_t hash)
{
    return filter->bits[hash >> 58] >> (hash >> 52 & 63) & 1;
}

/* The filter that lets the first windows of all versions through. */
static struct filter of_first_windows(void)
{
    struct filter filter = {{0}};
    const struct window *first = windows;
    for (unsigned i = 0; i < RUNTIMES; first += runtimes[i++].windows)
        filter.bits[first->hash >> 58] |= (uint64_t)1 << (first->hash >> 52 & 63);
    return filter;
}

/* Fills the list with the functions of version `number`, whose code begins `inside` bytes behind the section's. */
static const char *take(unsigned number, const Elf64_Shdr *section, uint64_t inside, struct mr_redirect_symbols *out)
{
    out->functions = calloc(FUNCTIONS, sizeof *out->functions);
    if (!out->functions)
        return "there is no memory for its functions";
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uint64_t place = inside + functions[i].places[number];
        int name = functions[i].places[number] ? mr_redirect_name(functions[i].name) : -1;
        if (name >= 0)
            out->functions[out->count++] = (struct mr_redirect_function){.name = name,
                                                                         .offset = section->sh_offset + place,
                                                                         .value = section->sh_addr + place,
                                                                         .size = ROOM,
                                                                         .room = ROOM};
    }
    out->known = runtimes[number].version;
    return NULL;
}

/* The version whose code has this window first, and lies whole in the section; RUNTIMES if there is none. `inside` is
 * where the window lies in the section. */
static unsigned version_at(int fd, const Elf64_Shdr *section, uint64_t inside, uint64_t hash)
{
    const struct window *first = windows;
    for (unsigned i = 0; i < RUNTIMES; first += runtimes[i++].windows)
        if (hash == first->hash && inside >= first->at && section->sh_size >= runtimes[i].size &&
            inside - first->at <= section->sh_size - runtimes[i].size &&
            is_there(fd, section->sh_offset + inside - first->at, first, runtimes[i].windows))
            return i;
    return RUNTIMES;
}

static uint32_t first_place(unsigned number)
{
    const struct window *first = windows;
    for (unsigned i = 0; i < number; i++)
        first += runtimes[i].windows;
    return first->at;
}

const char *mr_redirect_known(int fd, const Elf64_Shdr *section, struct mr_redirect_symbols *out)
{
    unsigned char *chunk = malloc(CHUNK);
    if (!chunk)
        return "there is no memory to look at its code";
    const char *problem = NULL;
    const struct filter filter = of_first_windows();
    /* The code lies at a multiple of 16, and so do the windows in it. */
    uint64_t at = -section->sh_addr % WINDOW_BYTES;
    for (ssize_t got = CHUNK; !problem && out->count == 0 && got >= WINDOW_BYTES && at < section->sh_size;
         at += CHUNK) {
        uint64_t rest = section->sh_size - at;
        got = pread(fd, chunk, rest < CHUNK ? rest : CHUNK, (off_t)(section->sh_offset + at));
        for (ssize_t i = 0; out->count == 0 && !problem && i + WINDOW_BYTES <= got; i += WINDOW_BYTES) {
            uint64_t hash = hash_of(chunk + i);
            if (!may_be_first(&filter, hash))
                continue;
            unsigned number = version_at(fd, section, at + (uint64_t)i, hash);
            if (number < RUNTIMES)
                problem = take(number, section, at + (uint64_t)i - first_place(number), out);
        }
    }
    free(chunk);
    return problem;
}
