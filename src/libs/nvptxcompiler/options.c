/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler's options. What has no meaning without machine code (registers, caches, debug sections) is taken and
 * has no effect; what would change what a program does is refused. */
#include <string.h>

#include "base/options.h"
#include "libs/nvptxcompiler/assembler.h"
#include "ptx/arch.h"
#include "ptx/entries.h"

enum effect {
    NOTHING,
    REFUSED,
    OUTPUT,
    TARGET,
    VERBOSE,
    RELOCATABLE,
    JOIN_PRODUCTS,
    MACHINE,
    HELP,
    VERSION,
    ENTRY,
    STRING
};

static const struct mr_option options[] = {
    {"output-file", "o", true, OUTPUT},
    {"gpu-name", "arch", true, TARGET},
    {"verbose", "v", false, VERBOSE},
    {"compile-only", "c", false, RELOCATABLE},
    {"fmad", "fmad", true, JOIN_PRODUCTS},
    {"machine", "m", true, MACHINE, .joined = true},
    {"help", "h", false, HELP},
    {"version", "V", false, VERSION},
    {"opt-level", "O", true, NOTHING, .joined = true},
    {"Ofast-compile", "Ofc", true, NOTHING},
    {"regAllocOptLevel", "regAllocOptLevel", true, NOTHING},
    {"register-usage-level", "regUsageLevel", true, NOTHING},
    {"maxrregcount", "maxrregcount", true, NOTHING},
    {"device-function-maxrregcount", "func-maxrregcount", true, NOTHING},
    {"allow-expensive-optimizations", "allow-expensive-optimizations", true, NOTHING},
    {"optimize-float-atomics", "opt-fp-atomics", false, NOTHING},
    {"split-compile", "split-compile", true, NOTHING},
    {"position-independent-code", "pic", true, NOTHING},
    {"device-stack-protector", "device-stack-protector", true, NOTHING},
    {"def-load-cache", "dlcm", true, NOTHING},
    {"def-store-cache", "dscm", true, NOTHING},
    {"force-load-cache", "flcm", true, NOTHING},
    {"force-store-cache", "fscm", true, NOTHING},
    {"device-debug", "g", false, NOTHING},
    {"generate-line-info", "lineinfo", false, NOTHING},
    {"suppress-debug-info", "suppress-debug-info", false, NOTHING},
    {"disable-optimizer-constants", "disable-optimizer-consts", false, NOTHING},
    {"dont-merge-basicblocks", "no-bb-merge", false, NOTHING},
    {"return-at-end", "ret-end", false, NOTHING},
    {"sp-bounds-check", "sp-bounds-check", false, NOTHING},
    {"preserve-relocs", "preserve-relocs", false, NOTHING},
    {"make-errors-visible-at-exit", "make-errors-visible-at-exit", false, NOTHING},
    {"compiler-annotations", "annotate", false, NOTHING},
    {"disable-warnings", "w", false, NOTHING},
    {"warning-as-error", "Werror", false, NOTHING},
    {"warn-on-double-precision-use", "warn-double-usage", false, NOTHING},
    {"warn-on-local-memory-usage", "warn-lmem-usage", false, NOTHING},
    {"warn-on-spills", "warn-spills", false, NOTHING},
    {"suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning", false,
     NOTHING},
    {"suppress-double-demote-warning", "suppress-double-demote-warning", false, NOTHING},
    {"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", false, NOTHING},
    {"suppress-stack-size-warning", "suppress-stack-size-warning", false, NOTHING},
    {"entry", "e", true, ENTRY},
    {"extensible-whole-program", "ewp", false, REFUSED},
    {"input-as-string", "ias", true, STRING},
    {"maxntid", "maxntid", true, REFUSED},
    {"minnctapersm", "minnctapersm", true, REFUSED},
    {"override-directive-values", "override-directive-values", false, REFUSED},
    {"options-file", "optf", true, MR_OPTIONS_FILE},
    {"sanitize", "sanitize", true, REFUSED},
};

static bool refuse(struct mr_assembler *assembler, const char *what, const char *name)
{
    mr_text_format(&assembler->problem, "%s %s", what, name);
    return false;
}

static bool read_target(struct mr_assembler *assembler, const char *value)
{
    bool real;
    switch (mr_ptx_arch_read(value, &assembler->target, &real)) {
    case MR_PTX_ARCH_GOOD:
    case MR_PTX_ARCH_SUFFIX: /* what one chip alone has is refused where it is used, by the instruction's name */
        assembler->parse_only = !real;
        return true;
    case MR_PTX_ARCH_LEFT_OUT:
        return true;
    case MR_PTX_ARCH_TOO_OLD:
        return refuse(assembler, "too old a GPU:", value);
    default:
        return refuse(assembler, "no such GPU:", value);
    }
}

static bool read_truth(struct mr_assembler *assembler, const char *value, bool *truth)
{
    *truth = strcmp(value, "true") == 0;
    return *truth || strcmp(value, "false") == 0 || refuse(assembler, "true or false is wanted, not", value);
}

static bool take(void *user, const struct mr_option *option, const char *word, const char *value)
{
    struct mr_assembler *assembler = user;
    if (!option) {
        if (assembler->input || assembler->ptx)
            return refuse(assembler, "one input at a time, not also", word);
        assembler->input = value;
        return true;
    }
    switch (option->effect) {
    case REFUSED:
        return refuse(assembler, "cannot honour the option", word);
    case OUTPUT:
        assembler->output = value;
        return true;
    case TARGET:
        return read_target(assembler, value);
    case VERBOSE:
        assembler->verbose = true;
        return true;
    case RELOCATABLE:
        assembler->relocatable = true;
        return true;
    case JOIN_PRODUCTS:
        return read_truth(assembler, value, &assembler->join_products);
    case MACHINE:
        return strcmp(value, "64") == 0 || refuse(assembler, "there are machines of 64 bits only, not", value);
    case STRING:
        if (assembler->input || assembler->ptx)
            return refuse(assembler, "one input at a time, not also", "--input-as-string");
        assembler->ptx = value;
        return true;
    case ENTRY:
        mr_ptx_entries_list(value, &assembler->entries);
        return !assembler->entries.failed || refuse(assembler, "out of memory for", word);
    case HELP:
        assembler->help = true;
        return true;
    case VERSION:
        assembler->version = true;
        return true;
    default:
        return true;
    }
}

bool mr_assembler_options(struct mr_assembler *assembler, size_t count, const char *const *words)
{
    *assembler = (struct mr_assembler){.join_products = true};
    return mr_options_read(count, words, options, sizeof options / sizeof *options, &assembler->words, take, assembler,
                           &assembler->problem);
}

void mr_assembler_clear(struct mr_assembler *assembler)
{
    mr_words_clear(&assembler->words);
    mr_words_clear(&assembler->entries);
    mr_text_clear(&assembler->problem);
}
