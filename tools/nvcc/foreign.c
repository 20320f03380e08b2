/* SPDX-License-Identifier: Apache-2.0 */
/* Another toolkit's headers. Where the command line or the environment names the folder of one (NVIDIA's, on machines
 * that have both), a source would read some headers of Millrace's and some of that toolkit's. Such a folder moves
 * behind all others: what Millrace has is taken from Millrace, and what it lacks is still found there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "shim.h"

/* Is it a toolkit's folder of headers, and not ours? */
static bool is_foreign(const struct places *places, const char *folder)
{
    char header[PATH_MAX + 32], ours[PATH_MAX + 32];
    struct stat theirs, own;
    if (snprintf(header, sizeof header, "%s/cuda_runtime_api.h", folder) >= (int)sizeof header ||
        stat(header, &theirs) != 0)
        return false;
    snprintf(ours, sizeof ours, "%s/cuda_runtime_api.h", places->include);
    return stat(ours, &own) == 0 && (own.st_dev != theirs.st_dev || own.st_ino != theirs.st_ino);
}

static void move_words(struct mr_words *words, const struct places *places)
{
    struct mr_words moved = {.items = NULL};
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        bool foreign = strncmp(word, "-I", 2) == 0 && word[2] && is_foreign(places, word + 2);
        mr_words_add(&moved, foreign ? "-idirafter" : word, foreign ? word + 2 : "");
    }
    moved.failed = moved.failed || words->failed;
    mr_words_clear(words);
    *words = moved;
}

/* Compilers read CPATH as folders behind those of -I, and before those of the system. */
static void move_variable(struct request *request, const struct places *places)
{
    const char *at = getenv("CPATH");
    struct mr_text rest = {.data = NULL};
    bool moved = false;
    while (at && *at) {
        size_t length = strcspn(at, ":");
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%.*s", (int)(length < sizeof folder ? length : 0), at);
        if (*folder && is_foreign(places, folder)) {
            mr_words_add(&request->both, "-idirafter", folder);
            moved = true;
        } else {
            mr_text_put(&rest, rest.length ? ":" : "");
            mr_text_add(&rest, at, length);
        }
        at += length + (at[length] == ':');
    }
    if (rest.failed || (moved && setenv("CPATH", mr_text_chars(&rest), 1) != 0))
        request->both.failed = true;
    mr_text_clear(&rest);
}

void foreign_headers(struct request *request, const struct places *places)
{
    move_words(&request->both, places);
    move_words(&request->host, places);
    move_variable(request, places);
}
