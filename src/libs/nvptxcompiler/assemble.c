/* SPDX-License-Identifier: Apache-2.0 */
/* From PTX to PTX that the driver will load. */
#include <stdio.h>
#include <stdlib.h>

#include "compile/compile.h"
#include "libs/nvptxcompiler/assembler.h"
#include "ptx/entries.h"
#include "ptx/ptx_diag.h"

static enum mr_assembler_result out_of_memory(const char *name, struct mr_text *errors)
{
    mr_text_format(errors, "ptxas (Millrace): error: out of memory for %s\n", name);
    return MR_ASSEMBLER_NO_MEMORY;
}

/* The kernels that are wanted alone. */
static enum mr_assembler_result keep_entries(const struct mr_assembler *assembler, struct mr_text *text,
                                             struct mr_text *errors)
{
    struct mr_text kept = {.data = NULL};
    size_t wrong;
    if (!assembler->entries.count)
        return MR_ASSEMBLER_DONE;
    enum mr_ptx_entries_result result = mr_ptx_keep_entries(mr_text_chars(text), &assembler->entries, &kept, &wrong);
    if (result != MR_PTX_ENTRIES_KEPT)
        mr_ptx_entries_explain(result, assembler->entries.items[wrong], errors);
    mr_text_clear(text);
    *text = kept;
    return result == MR_PTX_ENTRIES_KEPT ? MR_ASSEMBLER_DONE : MR_ASSEMBLER_FAILED;
}

/* Joins no products to sums, if that is asked for. */
static void round_as_said(const struct mr_assembler *assembler, struct mr_text *text)
{
    struct mr_text exact = {.data = NULL};
    if (assembler->join_products)
        return;
    mr_assembler_name_roundings(text, &exact);
    mr_text_clear(text);
    *text = exact;
}

static enum mr_assembler_result check(const struct mr_assembler *assembler, const char *name,
                                      const struct mr_text *text, struct mr_text *errors, struct mr_text *uses)
{
    struct mr_program_options options = {.partial = assembler->relocatable};
    struct mr_ptx_diag diag;
    char *used = NULL;
    size_t used_length = 0;
    FILE *stream = assembler->verbose ? open_memstream(&used, &used_length) : NULL;
    mr_ptx_diag_init(&diag);
    unsigned target = mr_program_check(mr_text_chars(text), text->length, &options, &diag, stream);
    enum mr_assembler_result result = target             ? MR_ASSEMBLER_DONE
                                      : diag.bad_version ? MR_ASSEMBLER_BAD_VERSION
                                                         : MR_ASSEMBLER_FAILED;
    if (!target)
        mr_text_format(errors, "ptxas (Millrace): error: %s would not load:\n%s", name, mr_ptx_diag_text(&diag));
    if (stream && fclose(stream) == 0)
        mr_text_add(uses, used, used_length);
    free(used);
    mr_ptx_diag_clear(&diag);
    if (!target || !assembler->target || target <= assembler->target)
        return result;
    mr_text_format(errors,
                   "ptxas (Millrace): error: %s is for sm_%u, which is newer than the GPU that is named, sm_%u\n", name,
                   target, assembler->target);
    return MR_ASSEMBLER_FAILED;
}

enum mr_assembler_result mr_assemble(const struct mr_assembler *assembler, const char *name, const char *ptx,
                                     size_t length, struct mr_text *result, struct mr_text *errors,
                                     struct mr_text *uses)
{
    mr_text_add(result, ptx, length);
    enum mr_assembler_result status = keep_entries(assembler, result, errors);
    if (status != MR_ASSEMBLER_DONE)
        return status;
    round_as_said(assembler, result);
    return result->failed ? out_of_memory(name, errors) : check(assembler, name, result, errors, uses);
}
