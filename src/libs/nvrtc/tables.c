/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are const, where they take more constant memory than there is: they go to global memory, as with NVRTC
 * (ptx/constants.h). */
#include <string.h>

#include "libs/nvrtc/prepare.h"
#include "libs/nvrtc/run.h"
#include "ptx/constants.h"

/* The words that make PTX of IR: those of the first compilation that are about code. */
static void ir_words(const struct mr_words *first, unsigned capability, struct mr_words *words)
{
    mr_ir_compiler_words(first->items[0], capability, words);
    for (size_t i = 1; i < first->count; i++)
        if (strncmp(first->items[i], "-ffp-contract=", 14) == 0 || strncmp(first->items[i], "-g", 2) == 0)
            mr_words_add(words, first->items[i], "");
    static const char *const last[] = {"-S", "-o", "-", "-"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(words, last[i], "");
}

enum mr_run_status mr_tables_move(struct mr_run *run, const struct mr_words *words, unsigned capability)
{
    static const char *const more[] = {"-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes"};
    struct mr_words all = {.items = NULL}, names = {.items = NULL};
    struct mr_text moved = {.data = NULL};
    struct mr_run second = {.reason = 0}, third = {.reason = 0};
    if (run->output.failed || !mr_ptx_constants_overflow(mr_text_chars(&run->output), &names)) {
        mr_words_clear(&names);
        return MR_RUN_DONE;
    }
    for (size_t i = 0; i < words->count; i++)
        mr_words_add(&all, words->items[i], "");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        mr_words_add(&all, more[i], "");
    enum mr_run_status status = mr_run_again(run, &second, &all, NULL);
    if (status == MR_RUN_DONE) {
        mr_ir_move_constants(mr_text_chars(&second.output), &names, &moved);
        mr_words_clear(&all);
        ir_words(words, capability, &all);
        all.failed |= names.failed || second.output.failed;
        status = mr_run_again(run, &third, &all, &moved);
    }
    if (status == MR_RUN_DONE) {
        mr_text_clear(&run->output);
        run->output = third.output;
        third.output = (struct mr_text){.data = NULL};
    }
    mr_run_forget(&third);
    mr_run_forget(&second);
    mr_text_clear(&moved);
    mr_words_clear(&names);
    mr_words_clear(&all);
    return status;
}
