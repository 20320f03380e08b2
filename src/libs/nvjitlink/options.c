/* SPDX-License-Identifier: Apache-2.0 */
/* The table of libnvJitLink's options.
 *
 * Most steer NVIDIA's assembler or its optimiser of LTO code, neither of which runs here: they are checked as NVIDIA's
 * library checks them and have no effect, since the driver compiles the joined PTX as a whole. */
#include <stdlib.h>
#include <string.h>

#include "libs/nvjitlink/link.h"
#include "ptx/arch.h"

enum action {
    ARCH,
    LTO,
    PTX,
    VERBOSE,
    TIMED,
    REGISTERS,
    NOTHING,        /* no value, no effect */
    NOTHING_VALUE,  /* a value of any kind, no effect */
    LEVEL,          /* -O0, -O3 */
    ASSEMBLER       /* an option of the assembler's */
};

static const struct option {
    const char *name;
    enum action action;
} known[] = {
    {"-arch=", ARCH},
    {"-lto", LTO},
    {"-ptx", PTX},
    {"-verbose", VERBOSE},
    {"-time", TIMED},
    {"-O", LEVEL},
    {"-g", NOTHING},
    {"-lineinfo", NOTHING},
    {"-optimize-unused-variables", NOTHING},
    {"-no-cache", NOTHING},
    {"-device-stack-protector", NOTHING},
    {"-maxrregcount=", REGISTERS},
    {"-ftz=", NOTHING_VALUE},
    {"-prec-div=", NOTHING_VALUE},
    {"-prec-sqrt=", NOTHING_VALUE},
    {"-fma=", NOTHING_VALUE},
    {"-kernels-used=", NOTHING_VALUE},
    {"-variables-used=", NOTHING_VALUE},
    {"-Xptxas=", ASSEMBLER},
    {"-split-compile=", NOTHING_VALUE},
    {"-split-compile-extended=", NOTHING_VALUE},
    {"-jump-table-density=", NOTHING_VALUE},
};

static nvJitLinkResult read_arch(struct nvJitLink *link, const char *value)
{
    bool real = false;
    switch (mr_ptx_arch_read(value, &link->capability, &real)) {
    case MR_PTX_ARCH_GOOD:
    case MR_PTX_ARCH_SUFFIX: /* linked for the architecture without the suffix; what has one keeps it */
        link->virtual_arch = !real;
        return NVJITLINK_SUCCESS;
    case MR_PTX_ARCH_MALFORMED:
        return mr_link_refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "-arch takes sm_N or compute_N, not", value);
    case MR_PTX_ARCH_NONE:
        return mr_link_refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_ARCH, "there is no architecture", value);
    default:
        return mr_link_refuse(link, NVJITLINK_ERROR_UNSUPPORTED_ARCH, "sm_50 to sm_121 are linked here, not", value);
    }
}

static nvJitLinkResult read_one(struct nvJitLink *link, const char *word)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].name);
        const char *value = word + length;
        bool valued = known[i].action == LEVEL || known[i].name[length - 1] == '=';
        if (strncmp(word, known[i].name, length) != 0 || (valued ? !*value : *value))
            continue;
        switch (known[i].action) {
        case ARCH:
            return read_arch(link, value);
        case LEVEL:
            if (strcmp(value, "0") != 0 && strcmp(value, "3") != 0)
                return mr_link_refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "unrecognized option:", word);
            break;
        case ASSEMBLER:
            if (!mr_ptx_assembler_option_is_idle(value))
                return mr_link_refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                                      "no assembler runs here that could honour", word);
            break;
        case LTO:
            link->lto = true;
            break;
        case PTX:
            link->ptx = true;
            break;
        case VERBOSE:
            link->verbose = true;
            break;
        case TIMED:
            link->timed = true;
            break;
        case REGISTERS: {
            /* As the assembler does it: what is above the most that a thread can have is no limit. */
            unsigned long number = strtoul(value, NULL, 10);
            link->registers = number <= 255 ? (unsigned)number : 0;
            break;
        }
        default:
            break;
        }
        return NVJITLINK_SUCCESS;
    }
    return mr_link_refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "unrecognized option:", word);
}

nvJitLinkResult mr_link_options(struct nvJitLink *link, uint32_t count, const char *const *options)
{
    for (uint32_t i = 0; i < count; i++) {
        nvJitLinkResult status = read_one(link, options[i]);
        if (status != NVJITLINK_SUCCESS)
            return status;
    }
    if (!link->capability)
        return mr_link_refuse(link, NVJITLINK_ERROR_MISSING_ARCH, "the option -arch=sm_N is missing", NULL);
    if (link->ptx && !link->lto)
        return mr_link_refuse(link, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "-ptx goes with -lto", NULL);
    if (link->virtual_arch && !link->ptx)
        return mr_link_refuse(link, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "-arch=compute_N goes with -ptx", NULL);
    return NVJITLINK_SUCCESS;
}
