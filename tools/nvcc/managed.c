/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables (`__managed__`), which clang 19 has in HIP alone.
 *
 * In the device headers the word is a variable of the device in a section of its own. Where a source, or a header that
 * it includes, has the word, both halves take one step more. In the device's, clang's IR says which variables are in
 * that section, and their declarations in the PTX get `.attribute(.managed)` (ptx/managed.h). The host's is compiled to
 * IR, millrace-managed (tools/managed) turns the variables into pointers that the runtime library fills, and clang goes
 * on from there. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ptx/managed.h"
#include "shim.h"

static struct mr_words known; /* sources with the word in them */

bool managed_known(const char *source)
{
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.items[i], source) == 0)
            return true;
    return false;
}

/* Reads the list of what the device half included. */
static bool look(const struct places *places, const char *source, const char *depends)
{
    struct mr_text list = {.data = NULL};
    const char *const ours[] = {places->device, places->include};
    if (managed_known(source))
        return true;
    bool found = file_read(depends, &list) && mr_ptx_managed_in_files(mr_text_chars(&list), ours, 2);
    mr_text_clear(&list);
    if (found)
        mr_words_add(&known, source, "");
    return found;
}

int managed_mark(const struct request *request, const struct places *places, const struct mr_words *device,
                 const char *source, const char *compiled, const char *depends, const char *output)
{
    struct mr_words words = {.items = NULL}, names = {.items = NULL};
    struct mr_text ir = {.data = NULL}, ptx = {.data = NULL}, marked = {.data = NULL};
    if (request->dry_run || !look(places, source, depends))
        return 0;
    char *file = step_file(request, source, ".device.ll");
    words_add_all(&words, device);
    const char *const last[] = {"-w", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes",
                                "-o", file, "--",         compiled};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&words, last[i], "");
    int status = step_run(request, &words, NULL);
    if (status == 0 && !(file_read(file, &ir) && file_read(output, &ptx)))
        status = 1;
    mr_ptx_managed_names(mr_text_chars(&ir), &names);
    mr_ptx_managed_mark(mr_text_chars(&ptx), &names, &marked);
    if (status == 0 && (names.failed || marked.failed))
        status = failed("out of memory", NULL);
    if (status == 0 && names.count && !file_write(request, output, mr_text_chars(&marked), marked.length))
        status = 1;
    mr_text_clear(&marked);
    mr_text_clear(&ptx);
    mr_text_clear(&ir);
    mr_words_clear(&names);
    mr_words_clear(&words);
    mr_free(file);
    return status;
}

int managed_object(const struct request *request, const struct mr_words *to_ir, const char *source, const char *output)
{
    struct mr_words words = {.items = NULL};
    char program[PATH_MAX];
    if (!managed_program(program))
        return 1;
    char *first = step_file(request, source, ".host.bc"), *second = step_file(request, source, ".managed.bc");
    words_add_all(&words, to_ir);
    const char *const last[] = {"-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", first, "--", source};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&words, last[i], "");
    int status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    const char *const change[] = {program, first, second};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++)
        mr_words_add(&words, change[i], "");
    if (status == 0)
        status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    const char *const begin[] = {host_clang(), "--no-default-config", "-Wno-unused-command-line-argument", "-x", "ir"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        mr_words_add(&words, begin[i], "");
    words_add_all(&words, &request->both);
    words_add_all(&words, &request->host);
    host_check_words(request, true, &words);
    const char *const end[] = {"-c", "-o", output, "--", second};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        mr_words_add(&words, end[i], "");
    if (status == 0)
        status = step_run(request, &words, NULL);
    mr_words_clear(&words);
    mr_free(first);
    mr_free(second);
    return status;
}
