/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps for x86-64. A function's first five bytes become a jump to a bridge, which lies within reach of it and jumps on
 * to the function's stub. */
#include "libs/redirect/patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "libs/redirect/eleven.h"
#include "libs/redirect/maps.h"

enum { JUMP = 5, LANDING = 4, BRIDGE = 16 };

/* Bridges lie as far as a jump reaches, less what an object's text may be long, and away from what may grow: the heap
 * behind a program, a stack. */
#define REACH ((size_t)1 << 30)
#define GAP ((size_t)1 << 16)
enum { MOST_TRIES = 100 };

static const unsigned char landing[LANDING] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64: where an indirect call may arrive */

struct mr_redirection {
    unsigned char *bridges;
    size_t size;
};

/* One object's patching. */
struct patch {
    uintptr_t address; /* what is added to its addresses */
    int fd;
    struct mr_mapping text; /* what holds all its functions */
    unsigned char *bridges;
    size_t size; /* of the bridges, in whole pages */
};

/* Why the system did not let pages be made executable. */
static const char *refusal(int reason)
{
    if (reason == EACCES || reason == EPERM)
        return "a security policy (SELinux, or a seccomp filter) lets no code be changed; loosen that policy, or link "
               "it with -cudart shared";
    return strerror(reason);
}

/* A bridge: jmp *0(%rip), and the address behind it. */
static void write_bridge(unsigned char *at, uintptr_t target)
{
    static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &target, sizeof target);
}

/* Whether what begins here is padding between functions: instructions that do nothing, as assemblers and linkers put
 * them there. */
static bool is_padding(const unsigned char *code)
{
    return code[0] == 0x90 || code[0] == 0xcc || code[0] == 0 || (code[0] == 0x0f && code[1] == 0x1f) ||
           (code[0] == 0x66 && (code[1] == 0x66 || code[1] == 0x2e || code[1] == 0x0f || code[1] == 0x90));
}

/* Whether a jump fits into the function, or into it and the padding behind it. */
static bool is_long_enough(const unsigned char *code, const struct mr_redirect_function *function)
{
    size_t needed = JUMP + (function->room >= LANDING && memcmp(code, landing, LANDING) == 0 ? LANDING : 0);
    return function->room >= needed && (function->size >= needed || is_padding(code + function->size));
}

/* The mapping that all functions are in, whose bytes must be the file's: another file of that name may have come since.
 */
static const char *check(struct patch *patch, const struct mr_mappings *mappings,
                         const struct mr_redirect_symbols *symbols)
{
    const struct mr_mapping *text = mr_mapping_at(mappings, patch->address + symbols->functions[0].value);
    if (!text || !(text->protection & PROT_EXEC) || !(text->protection & PROT_READ) ||
        (text->protection & PROT_WRITE) || !text->is_private)
        return "its code is not mapped as code";
    for (size_t i = 0; i < symbols->count; i++) {
        const struct mr_redirect_function *function = &symbols->functions[i];
        unsigned char expected[JUMP + LANDING];
        uintptr_t at = patch->address + function->value;
        size_t size = function->room < sizeof expected ? function->room : sizeof expected;
        if (at < text->begin || at >= text->end || text->end - at < size)
            return "a function lies outside of its code";
        if (pread(patch->fd, expected, size, (off_t)function->offset) != (ssize_t)size ||
            memcmp(expected, (const void *)at, size) != 0)
            return "its file has changed";
    }
    patch->text = *text;
    return NULL;
}

/* Maps pages near the code. Other threads map memory meanwhile, so a place that was free when the mappings were read
 * may be taken: then they are read again. */
static const char *map_bridges(struct patch *patch)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        struct mr_mappings mappings;
        bool known = mr_mappings_read(&mappings);
        uintptr_t hole = known ? mr_mappings_hole(&mappings, patch->text.begin, patch->size, GAP, REACH) : 0;
        mr_mappings_free(&mappings);
        if (!known)
            return "the process's mappings can't be read";
        if (!hole)
            return "there is no room near it";
        void *mapped = mmap((void *)hole, patch->size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (mapped == (void *)hole) {
            patch->bridges = mapped;
            return NULL;
        }
        if (mapped != MAP_FAILED)
            munmap(mapped, patch->size);
    }
    return "the room near it can't be had";
}

static const char *make_bridges(struct patch *patch, const struct mr_redirect_symbols *symbols,
                                enum mr_redirect_version version)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    patch->size = (symbols->count * BRIDGE + page - 1) & ~(page - 1);
    const char *problem = map_bridges(patch);
    if (problem)
        return problem;
    memset(patch->bridges, 0xcc, patch->size);
    for (size_t i = 0; i < symbols->count; i++)
        write_bridge(patch->bridges + i * BRIDGE, mr_redirect_target(symbols->functions[i].name, version));
    return mprotect(patch->bridges, patch->size, PROT_READ | PROT_EXEC) == 0 ? NULL : refusal(errno);
}

/* Writes the jumps; the pages are writable. Returns their number. */
static size_t write_jumps(const struct patch *patch, const struct mr_redirect_symbols *symbols)
{
    size_t done = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        unsigned char *at = (unsigned char *)(patch->address + symbols->functions[i].value);
        if (!is_long_enough(at, &symbols->functions[i]))
            continue;
        if (memcmp(at, landing, LANDING) == 0)
            at += LANDING;
        int32_t distance = (int32_t)(patch->bridges + i * BRIDGE - (at + JUMP));
        at[0] = 0xe9;
        memcpy(at + 1, &distance, sizeof distance);
        done++;
    }
    return done;
}

/* Changes the text. If it can't be made executable again, the file's pages take its place, as they were. */
static const char *change_text(const struct patch *patch, const struct mr_redirect_symbols *symbols, size_t *done)
{
    const struct mr_mapping *text = &patch->text;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = text->end, last = text->begin;
    for (size_t i = 0; i < symbols->count; i++) {
        uintptr_t at = patch->address + symbols->functions[i].value;
        first = at < first ? at : first;
        last = at + JUMP + LANDING > last ? at + JUMP + LANDING : last;
    }
    first &= ~(page - 1);
    last = (last + page - 1) & ~(page - 1);
    last = last < text->end ? last : text->end;
    if (mprotect((void *)first, last - first, PROT_READ | PROT_WRITE) != 0)
        return refusal(errno);
    *done = write_jumps(patch, symbols);
    if (mprotect((void *)first, last - first, text->protection) == 0)
        return NULL;
    const char *problem = refusal(errno);
    *done = 0;
    if (mmap((void *)first, last - first, text->protection, MAP_PRIVATE | MAP_FIXED, patch->fd,
             (off_t)(text->offset + (first - text->begin))) == MAP_FAILED)
        mr_log(MR_LOG_ERROR, "the code of an object could not be mapped again: %s", strerror(errno));
    return problem;
}

const char *mr_redirect_patch(uintptr_t address, int fd, const struct mr_redirect_symbols *symbols,
                              enum mr_redirect_version version, struct mr_redirection **out, size_t *done)
{
    struct patch patch = {.address = address, .fd = fd};
    struct mr_mappings mappings = {0};
    *out = NULL;
    *done = 0;
    struct mr_redirection *redirection = malloc(sizeof *redirection);
    const char *problem = !redirection || !mr_mappings_read(&mappings) ? "the process's mappings can't be read"
                                                                       : check(&patch, &mappings, symbols);
    if (!problem)
        problem = make_bridges(&patch, symbols, version);
    if (!problem)
        problem = change_text(&patch, symbols, done);
    mr_mappings_free(&mappings);
    if (problem) {
        if (patch.bridges)
            munmap(patch.bridges, patch.size);
        free(redirection);
        return problem;
    }
    *redirection = (struct mr_redirection){.bridges = patch.bridges, .size = patch.size};
    *out = redirection;
    return NULL;
}

void mr_redirection_end(struct mr_redirection *redirection)
{
    munmap(redirection->bridges, redirection->size);
    free(redirection);
}
