/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations kept on disk, in the folder and under the rules of the cache of kernels (compile/cache.h;
 * MILLRACE_CACHE=off turns both off).
 *
 * An item's key covers the source, the in-memory headers, the names, the compiler's words and its file. An item lists
 * the files that were included with their sizes and times; it holds as long as these are unchanged. A new header that
 * would now be found earlier in the search is not noticed. */
#ifndef MR_NVRTC_KEEP_H
#define MR_NVRTC_KEEP_H

#include <stdbool.h>
#include <time.h>

#include "compile/cache.h"
#include "libs/nvrtc/program.h"

/* The key of a compilation with the headers of the folder `device`; false if nothing can be kept. With neither program
 * nor source it is the key of the device headers alone under these words. */
bool mr_keep_key(const struct _nvrtcProgram *program, const struct mr_text *source, const struct mr_words *words,
                 const char *device, struct mr_cache_key *key);

/* True with the compiler's output and messages. */
bool mr_keep_find(struct mr_cache_key key, struct mr_text *output, struct mr_text *messages);

/* Keeps them. `depends` is the compiler's list of included files in make's form; those under `temporary` ("" if none)
 * and in the cache's own folder are part of the key. Files changed since `begun` keep nothing. */
void mr_keep_store(struct mr_cache_key key, const struct mr_text *output, const struct mr_text *messages,
                   const struct mr_text *depends, const char *temporary, struct timespec begun);

/* Whether all files of such a list are there, and none has changed since `begun`. */
bool mr_keep_older(const struct mr_text *depends, struct timespec begun);

#endif
