/* SPDX-License-Identifier: Apache-2.0 */
/* The ptxas shim. Compilers such as Triton call NVIDIA's assembler, and give the driver what it made. Millrace's driver
 * makes machine code itself, for the processor that it finds: so this one checks the PTX as the driver will, and hands
 * it on. */
#include <stdio.h>
#include <string.h>

#include "assembler.h"
#include "base/log.h"
#include "compile/compile.h"
#include "ptx/entries.h"
#include "ptx/ptx_diag.h"

#define FAILED 255 /* NVIDIA's has no other status */

static const char version[] = "ptxas: Millrace " MR_VERSION ", in place of NVIDIA's assembler\n"
                              "Checks PTX and hands it on to the driver, which makes machine code for the CPU.\n"
                              "Cuda compilation tools, release 13.0, V13.0.0\n";

static const char usage[] =
    "Usage: ptxas [options] FILE\n"
    "\n"
    "Checks FILE, in PTX, as Millrace's driver will when it loads it, and writes it to where NVIDIA's assembler would write machine code.\n"
    "\n"
    "  -o, --output-file FILE   instead of elf.o\n"
    "  -arch, --gpu-name NAME   refuse PTX for newer GPUs than this one\n"
    "  -c, --compile-only       functions and variables may be missing, for a later link\n"
    "  -e, --entry NAMES        these kernels alone\n"
    "  -fmad, --fmad false      products and sums are never joined to one operation\n"
    "  -v, --verbose            tell what kernels use\n"
    "  --version, --help\n"
    "\n"
    "Options about registers, caches and debug sections have no effect. One that can't be honoured is an error.\n";

const char toolkit_program[] = "ptxas";

static bool check(const struct request *request, const struct mr_text *text)
{
    struct mr_program_options options = {.partial = request->relocatable};
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    unsigned target =
        mr_program_check(mr_text_chars(text), text->length, &options, &diag, request->verbose ? stderr : NULL);
    if (!target)
        fprintf(stderr, "ptxas (Millrace): error: %s would not load:\n%s", request->input, mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
    if (!target || !request->target || target <= request->target)
        return target != 0;
    fprintf(stderr, "ptxas (Millrace): error: %s is for sm_%u, which is newer than the GPU that is named, sm_%u\n",
            request->input, target, request->target);
    return false;
}

/* The text with the kernels that are wanted alone. */
static bool keep_entries(const struct request *request, struct mr_text *text)
{
    struct mr_text kept = {.data = NULL}, said = {.data = NULL};
    size_t wrong;
    if (!request->entries.count)
        return true;
    enum mr_ptx_entries_result result = mr_ptx_keep_entries(mr_text_chars(text), &request->entries, &kept, &wrong);
    if (result != MR_PTX_ENTRIES_KEPT)
        mr_ptx_entries_explain(result, request->entries.items[wrong], &said);
    fputs(mr_text_chars(&said), stderr);
    mr_text_clear(&said);
    mr_text_clear(text);
    *text = kept;
    return result == MR_PTX_ENTRIES_KEPT && (!kept.failed || toolkit_complain("out of memory for", request->input));
}

static bool assemble(const struct request *request)
{
    struct mr_text text = {.data = NULL}, exact = {.data = NULL};
    bool good = toolkit_read(request->input, &text) && keep_entries(request, &text);
    if (good && !request->join_products) {
        rounding_name(&text, &exact);
        good = !exact.failed || toolkit_complain("out of memory for", request->input);
    }
    const struct mr_text *result = request->join_products ? &text : &exact;
    /* With the NUL: the driver gets an address and no size. */
    good = good && check(request, result) && toolkit_write(request->output, mr_text_chars(result), result->length + 1);
    mr_text_clear(&text);
    mr_text_clear(&exact);
    return good;
}

int main(int argc, char **argv)
{
    struct request request;
    mr_log_setup();
    bool good = options_read(argc, argv, &request);
    if (good && (request.help || request.version))
        fputs(request.help ? usage : version, stdout);
    else if (good)
        good = assemble(&request);
    mr_words_clear(&request.entries);
    mr_words_clear(&request.words);
    return toolkit_end(good ? 0 : FAILED, FAILED);
}
