/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/constants.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/arch.h"
#include "ptx/statics.h"

#define ROOM UINT64_C(65536)

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

/* The bytes of a variable, by the line that declares it: `.b8 name[16]` or `.u32 name`. */
static uint64_t bytes_of(const char *name, size_t length)
{
    const char *type = name;
    while (type[-1] != '.')
        type--;
    uint64_t each = strtoull(type + 1, NULL, 10) / 8; /* behind the letter */
    return name[length] == '[' ? each * strtoull(name + length + 1, NULL, 10) : each;
}

/* Whether the text has the name other than where it is declared, and where debug information tells of it. */
static bool is_referred(const char *ptx, const char *declared, size_t length)
{
    char name[512];
    if (length >= sizeof name)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)length, declared);
    for (const char *at = strstr(ptx, name); at; at = strstr(at + length, name))
        if (at != declared && !is_name(at[-1]) && !is_name(at[length]) && !mr_ptx_debug_tells(ptx, at))
            return true;
    return false;
}

/* The constant variable that a line declares; NULL: none. */
static const char *constant_of(const char *line, size_t *length)
{
    const char *space, *name = *line == '.' ? mr_ptx_line_variable(line, length, &space) : NULL;
    return name && strncmp(space, ".const ", 7) == 0 ? name : NULL;
}

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

bool mr_ptx_constants_overflow(const char *ptx, struct mr_words *names)
{
    uint64_t all = 0, wanted = 0;
    size_t length;
    for (const char *at = ptx; *at; at = next_line(at)) {
        const char *name = constant_of(at, &length);
        all += name ? bytes_of(name, length) : 0;
    }
    for (const char *at = ptx; *at && all > ROOM; at = next_line(at)) {
        const char *name = constant_of(at, &length);
        bool filled = name && memchr(name, '=', strcspn(name, "\n"));
        if (!name || (filled && !is_referred(ptx, name, length)))
            continue;
        struct mr_text word = {.data = NULL};
        wanted += bytes_of(name, length);
        mr_text_add(&word, name, length);
        if (filled)
            mr_words_add(names, mr_text_chars(&word), "");
        names->failed |= word.failed;
        mr_text_clear(&word);
    }
    return wanted > ROOM && names->count;
}

/* The length of the name behind '@'. */
static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_name(at[length]))
        length++;
    return length;
}

void mr_ir_move_constants(const char *ir, const struct mr_words *names, struct mr_text *out)
{
    static const char space[] = "addrspace(4) ", moved[] = "addrspace(1) ";
    const char *copied = ir;
    bool declares = false; /* the line is the variable's own, and its space is not yet seen */
    for (const char *at = ir; *at; at++) {
        if (at == ir || at[-1] == '\n') {
            size_t length = *at == '@' ? name_length(at + 1) : 0;
            declares = length && strncmp(at + 1 + length, " = ", 3) == 0 && mr_words_have(names, at + 1, length);
        }
        if (*at != 'a' || strncmp(at, space, strlen(space)) != 0)
            continue;
        const char *behind = at + strlen(space);
        if (!declares && !(*behind == '@' && mr_words_have(names, behind + 1, name_length(behind + 1))))
            continue;
        declares = false;
        mr_text_add(out, copied, (size_t)(at - copied));
        mr_text_put(out, moved);
        copied = behind;
    }
    mr_text_put(out, copied);
}

void mr_ir_compiler_words(const char *clang, unsigned target, struct mr_words *words)
{
    static const char *const fixed[] = {
        "--no-default-config", "-Wno-unused-command-line-argument", "-w", "-x", "ir", "--target=nvptx64-nvidia-cuda"};
    char number[16];
    snprintf(number, sizeof number, "%u", mr_ptx_arch_of_clang(target));
    mr_words_add(words, clang, "");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        mr_words_add(words, fixed[i], "");
    mr_words_add(words, "-march=sm_", number);
    mr_words_add(words, "-O3", "");
    mr_words_add(words, "-ffp-contract=fast", "");
    mr_ptx_arch_safe_words(words);
}
