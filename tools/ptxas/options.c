/* SPDX-License-Identifier: Apache-2.0 */
/* Options of ptxas. What has no meaning without machine code (registers, caches, debug sections) is taken and
 * has no effect; what would change what a program does is refused. */
#include <string.h>

#include "assembler.h"
#include "ptx/arch.h"
#include "ptx/entries.h"

enum effect { NOTHING, REFUSED, OUTPUT, TARGET, VERBOSE, RELOCATABLE, JOIN_PRODUCTS, MACHINE, HELP, VERSION, ENTRY };

static const struct toolkit_option options[] = {
    {"output-file", "o", true, OUTPUT},
    {"gpu-name", "arch", true, TARGET},
    {"verbose", "v", false, VERBOSE},
    {"compile-only", "c", false, RELOCATABLE},
    {"fmad", "fmad", true, JOIN_PRODUCTS},
    {"machine", "m", true, MACHINE},
    {"help", "h", false, HELP},
    {"version", "V", false, VERSION},
    {"opt-level", "O", true, NOTHING, .joined = true},
    {"Ofast-compile", "Ofc", true, NOTHING},
    {"regAllocOptLevel", "regAllocOptLevel", true, NOTHING},
    {"register-usage-level", "regUsageLevel", true, NOTHING},
    {"maxrregcount", "maxrregcount", true, NOTHING},
    {"device-function-maxrregcount", "func-maxrregcount", true, NOTHING},
    {"allow-expensive-optimizations", "allow-expensive-optimizations", true, NOTHING},
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
    {"input-as-string", "ias", true, REFUSED},
    {"maxntid", "maxntid", true, REFUSED},
    {"minnctapersm", "minnctapersm", true, REFUSED},
    {"override-directive-values", "override-directive-values", false, REFUSED},
    {"options-file", "optf", true, TOOLKIT_OPTIONS_FILE},
    {"sanitize", "sanitize", true, REFUSED},
};

static bool read_target(const char *value, struct request *request)
{
    bool real;
    switch (mr_ptx_arch_read(value, &request->target, &real)) {
    case MR_PTX_ARCH_GOOD:
    case MR_PTX_ARCH_SUFFIX: /* what one chip alone has is refused where it is used, by the instruction's name */
    case MR_PTX_ARCH_LEFT_OUT:
        return true;
    case MR_PTX_ARCH_TOO_OLD:
        return toolkit_complain("too old a GPU:", value);
    default:
        return toolkit_complain("no such GPU:", value);
    }
}

static bool read_truth(const char *value, bool *truth)
{
    *truth = strcmp(value, "true") == 0;
    return *truth || strcmp(value, "false") == 0 || toolkit_complain("true or false is wanted, not", value);
}

static bool take(void *user, const struct toolkit_option *option, const char *word, const char *value)
{
    struct request *request = user;
    if (!option) {
        if (request->input)
            return toolkit_complain("one file at a time, not also", word);
        request->input = value;
        return true;
    }
    switch (option->effect) {
    case REFUSED:
        return toolkit_complain("cannot honour the option", word);
    case OUTPUT:
        request->output = value;
        return true;
    case TARGET:
        return read_target(value, request);
    case VERBOSE:
        request->verbose = true;
        return true;
    case RELOCATABLE:
        request->relocatable = true;
        return true;
    case JOIN_PRODUCTS:
        return read_truth(value, &request->join_products);
    case MACHINE:
        return strcmp(value, "64") == 0 || toolkit_complain("there are machines of 64 bits only, not", value);
    case ENTRY:
        mr_ptx_entries_list(value, &request->entries);
        return !request->entries.failed || toolkit_complain("out of memory for", word);
    case HELP:
        request->help = true;
        return true;
    case VERSION:
        request->version = true;
        return true;
    default:
        return true;
    }
}

bool options_read(int argc, char **argv, struct request *request)
{
    *request = (struct request){.output = "elf.o", .join_products = true};
    if (!toolkit_words(argc, argv, options, sizeof options / sizeof *options, &request->words, take, request))
        return false;
    return request->input || request->help || request->version ||
           toolkit_complain("name the file with PTX, as in", "ptxas kernel.ptx -o kernel.cubin");
}
