/* SPDX-License-Identifier: Apache-2.0 */
/* --run: the program that was linked, or one that is named alone, is started where it finds Millrace's libraries. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "shim.h"

/* Objects, archives and libraries are no programs. */
static bool is_program(const char *path)
{
    unsigned char head[sizeof(Elf64_Ehdr)] = {0};
    FILE *file = access(path, X_OK) == 0 ? fopen(path, "re") : NULL;
    size_t got = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    const Elf64_Ehdr *elf = (const void *)head;
    bool is_elf = got == sizeof head && memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0;
    return is_elf ? elf->e_type == ET_EXEC || (elf->e_type == ET_DYN && elf->e_entry != 0)
                  : got > 2 && head[0] == '#' && head[1] == '!';
}

bool run_alone(const struct request *request, char path[PATH_MAX])
{
    if (!request->run || request->input_count != 1)
        return false;
    const char *word = request->inputs->path;
    size_t length = strlen(word);
    bool quoted = length > 1 && *word == '"' && word[length - 1] == '"'; /* as Meson has it: for a shell */
    snprintf(path, PATH_MAX, "%.*s", (int)(quoted ? length - 2 : length), word + quoted);
    return is_program(path);
}

static void find_libraries(const struct places *places)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    struct mr_text path = {.data = NULL};
    mr_text_format(&path, "%s%s%s", places->libraries, before && *before ? ":" : "", before ? before : "");
    if (path.failed || setenv("LD_LIBRARY_PATH", mr_text_chars(&path), 1) != 0)
        complain("out of memory", NULL);
    mr_text_clear(&path);
}

int run_program(const struct request *request, const struct places *places, const char *path)
{
    struct mr_words words = {.items = NULL};
    if (request->shared)
        return failed("a library can't be run:", path);
    mr_words_add(&words, strchr(path, '/') ? path : "./", strchr(path, '/') ? "" : path);
    words_add_all(&words, &request->run_arguments);
    find_libraries(places);
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}
