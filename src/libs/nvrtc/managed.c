/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables in a program: where the word `__managed__` was read, clang's IR says which variables are meant, and
 * their declarations in the PTX become managed ones (ptx/managed.h). */
#include <string.h>

#include "libs/nvrtc/prepare.h"
#include "libs/nvrtc/program.h"
#include "libs/nvrtc/run.h"
#include "ptx/managed.h"

static bool is_in(const struct _nvrtcProgram *program, const struct mr_run *run, const char *device)
{
    bool found = mr_ptx_managed_in(program->source, strlen(program->source)) ||
                 mr_ptx_managed_in_files(mr_text_chars(&run->depends), &device, 1);
    for (size_t i = 0; i < program->header_count && !found; i++)
        found = mr_ptx_managed_in(program->headers[i].text, strlen(program->headers[i].text));
    return found;
}

enum mr_run_status mr_managed_mark(const struct _nvrtcProgram *program, struct mr_run *run,
                                   const struct mr_words *words, const char *device)
{
    static const char *const more[] = {"-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes"};
    struct mr_words all = {.items = NULL}, names = {.items = NULL};
    struct mr_text marked = {.data = NULL};
    if (!is_in(program, run, device))
        return MR_RUN_DONE;
    for (size_t i = 0; i < words->count; i++)
        mr_words_add(&all, words->items[i], "");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        mr_words_add(&all, more[i], "");
    struct mr_run second;
    enum mr_run_status status = mr_run_again(run, &second, &all, NULL);
    if (status == MR_RUN_DONE) {
        mr_ptx_managed_names(mr_text_chars(&second.output), &names);
        mr_ptx_managed_mark(mr_text_chars(&run->output), &names, &marked);
        marked.failed = marked.failed || names.failed || second.output.failed || run->output.failed;
        mr_text_clear(&run->output);
        run->output = marked;
    }
    mr_run_forget(&second);
    mr_words_clear(&names);
    mr_words_clear(&all);
    return status;
}
