/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once for many compilations: the device headers precompiled, in the cache's folder, and compilers that
 * have read them and wait (standby.h). */
#ifndef MR_NVRTC_PREPARE_H
#define MR_NVRTC_PREPARE_H

#include <limits.h>

#include "libs/nvrtc/program.h"
#include "libs/nvrtc/run.h"

/* With in-memory headers, the word at this place says where they are; the folder is known only late, and is no part of
 * a cache key. */
#define MR_HEADERS_AT 1

/* The compiler's last words in a compilation: the source from standard input, what comes out to the descriptors of
 * mr_run. */
#define MR_LAST_WORDS 5
void mr_prepare_last_words(struct mr_words *words);

/* `words` (without the last) changed to use precompiled headers, which are made if they are not there. True with the
 * words and the path of the headers. */
bool mr_prepare_precompiled(const struct mr_words *words, const char *device, struct mr_words *faster,
                            char path[PATH_MAX]);

/* The name in a line of clang's that tells of a header that was not found, of *length characters, and how many stand
 * before the message; NULL: the line is another. */
const char *mr_prepare_missing_name(const char *line, size_t size, size_t *place, size_t *length);

/* Whether these messages tell of a header that was not found: then another way of running the compiler says the same.
 */
bool mr_prepare_header_missing(const struct mr_text *messages);

/* Only preprocesses run->input; `words` are those without the last. What comes out is thrown away, the messages are
 * kept. */
enum mr_run_status mr_prepare_run_preprocessor(struct mr_run *run, const struct mr_words *words);

/* managed.c: after a compilation by `words` (with the last): marks the managed variables in its output. What is not
 * DONE is the compilation's end. */
enum mr_run_status mr_managed_mark(const struct _nvrtcProgram *program, struct mr_run *run,
                                   const struct mr_words *words, const char *device);

/* tables.c: after the same: moves const tables to global memory where they take more constant memory than there is. */
enum mr_run_status mr_tables_move(struct mr_run *run, const struct mr_words *words, unsigned capability);

/* again.c: after a compilation by `words` (with the last) was refused: compiles the preprocessed text in another
 * spelling, where that is one, launches from kernels if `launches` is not NULL, the folder of device headers, and with
 * std::move and std::forward, if those are missing and `move_forward`. DONE: then all of `run`, `words` and `source` is
 * of that text. FAILED: nothing has changed. */
enum mr_run_status mr_again(struct mr_run *run, struct mr_words *words, struct mr_text *source, const char *launches,
                            bool move_forward);

/* The same with templates' bodies read only where something instantiates them. Then `run` and `words` are of that
 * compilation, also if it is FAILED. */
enum mr_run_status mr_again_with_late_templates(struct mr_run *run, struct mr_words *words);

/* Compiles run->input in a process that waits for it. FAILED also if there is none. Then, and after all failures except
 * a missing header, nothing is in run's texts. */
enum mr_run_status mr_prepare_run_waiting(struct mr_run *run, const struct mr_words *words, const char *device,
                                          const struct mr_folder *folder);

#endif
