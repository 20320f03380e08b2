/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/verify.h"

/* An architecture that is called 110 since CUDA 13. */
#define RENAMED 101

/* The newest architecture that clang 19 knows. */
#define CLANG_NEWEST 90

/* An older architecture that clang 19 does not know. */
#define UNKNOWN_TO_CLANG 88

static const int known[] = {
#define MR_CAPABILITY(major, minor, ...) (major) * 10 + (minor),
#include "base/capabilities.def"
#undef MR_CAPABILITY
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

const int *mr_ptx_arch_all(size_t *count)
{
    *count = COUNT(known);
    return known;
}

static bool is_known(long number)
{
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i] == number)
            return true;
    return false;
}

unsigned mr_ptx_arch_of_clang(unsigned capability)
{
    unsigned found = 0;
    for (size_t i = 0; i < COUNT(known); i++)
        if ((unsigned)known[i] <= capability && known[i] <= CLANG_NEWEST && known[i] != UNKNOWN_TO_CLANG)
            found = (unsigned)known[i];
    return found;
}

void mr_ptx_arch_safe_words(struct mr_words *words)
{
    /* The fault is in how LLVM's NVPTX lowers a load of 16 x i8; such loads come of its pass for straight code. */
    mr_words_add(words, "-mllvm", "");
    mr_words_add(words, "-slp-max-vf=8", "");
    /* Without it LLVM asks for functions of a library that devices don't have. */
    mr_words_add(words, "-mllvm", "");
    mr_words_add(words, "-expand-fp-convert-bits=64", "");
}

/* 'a' is for one chip, 'f' for a family of chips; what a family has, each of its chips has. */
static void add_suffix_macros(unsigned capability, char suffix, struct mr_words *words)
{
    char text[64];
    snprintf(text, sizeof text, "-D__CUDA_ARCH_FAMILY_SPECIFIC__=%u0", capability);
    mr_words_add(words, text, "");
    if (suffix != 'a')
        return;
    snprintf(text, sizeof text, "-D__CUDA_ARCH_SPECIFIC__=%u0", capability);
    mr_words_add(words, text, "");
    snprintf(text, sizeof text, "-D__CUDA_ARCH_FEAT_SM%u_ALL", capability);
    mr_words_add(words, text, "");
}

void mr_ptx_arch_clang_words(unsigned capability, char suffix, struct mr_words *words)
{
    char text[32];
    if (suffix)
        add_suffix_macros(capability, suffix, words);
    unsigned clangs = mr_ptx_arch_of_clang(capability);
    snprintf(text, sizeof text, "--cuda-gpu-arch=sm_%u", clangs);
    mr_words_add(words, text, "");
    mr_ptx_arch_safe_words(words);
    if (clangs == capability)
        return;
    snprintf(text, sizeof text, "-D__CUDA_ARCH__=%u0", capability);
    mr_words_add(words, "-U__CUDA_ARCH__", "");
    mr_words_add(words, text, "");
}

bool mr_ptx_arch_is_retargeted(unsigned capability, char suffix)
{
    return suffix || mr_ptx_arch_of_clang(capability) != capability;
}

void mr_ptx_retarget(const char *ptx, unsigned capability, char suffix, struct mr_text *out)
{
    static const char version_word[] = ".version ", target_word[] = ".target sm_";
    unsigned needed = mr_ptx_target_version(capability, suffix);
    bool seen_target = false;
    for (const char *line = ptx; *line;) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
        unsigned major, minor;
        if (!seen_target && strncmp(line, version_word, sizeof version_word - 1) == 0 &&
            sscanf(line + sizeof version_word - 1, "%u.%u", &major, &minor) == 2 && major * 10 + minor < needed) {
            mr_text_format(out, ".version %u.%u\n", needed / 10, needed % 10);
        } else if (!seen_target && strncmp(line, target_word, sizeof target_word - 1) == 0) {
            size_t old = sizeof target_word - 1 + strspn(line + sizeof target_word - 1, "0123456789");
            mr_text_format(out, ".target sm_%u", capability);
            mr_text_add(out, &suffix, suffix ? 1 : 0);
            mr_text_add(out, line + old, length - old);
            seen_target = true;
        } else {
            mr_text_add(out, line, length);
        }
        line += length;
    }
}

enum mr_ptx_arch mr_ptx_arch_read(const char *text, unsigned *capability, bool *real)
{
    bool is_real = strncmp(text, "sm_", 3) == 0;
    const char *digits = text + (is_real ? 3 : 8);
    if ((!is_real && strncmp(text, "compute_", 8) != 0) || *digits < '1' || *digits > '9')
        return MR_PTX_ARCH_MALFORMED;
    char *end;
    long number = strtol(digits, &end, 10);
    if (*end && strcmp(end, "a") != 0 && strcmp(end, "f") != 0)
        return MR_PTX_ARCH_MALFORMED;
    if (number == RENAMED)
        return MR_PTX_ARCH_LEFT_OUT;
    if (number < known[0])
        return MR_PTX_ARCH_TOO_OLD;
    if (!is_known(number) || mr_ptx_target_version((uint32_t)number, *end) == 0)
        return MR_PTX_ARCH_NONE;
    *capability = (unsigned)number;
    *real = is_real;
    return *end ? MR_PTX_ARCH_SUFFIX : MR_PTX_ARCH_GOOD;
}

char mr_ptx_arch_suffix(const char *text)
{
    const char *number = text + strcspn(text, "0123456789");
    return number[strspn(number, "0123456789")];
}

bool mr_ptx_assembler_option_is_idle(const char *option)
{
    static const char *const begins[] = {"-v",
                                         "--verbose",
                                         "-O",
                                         "--opt-level",
                                         "--Ofast-compile",
                                         "-w",
                                         "--disable-warnings",
                                         "--warn-",
                                         "-warn-",
                                         "--warning-as-error",
                                         "-Werror",
                                         "-suppress-",
                                         "--suppress-",
                                         "-dlcm",
                                         "-dscm",
                                         "-flcm",
                                         "-fscm",
                                         "--def-load-cache",
                                         "--def-store-cache",
                                         "--force-load-cache",
                                         "--force-store-cache",
                                         "-maxrregcount",
                                         "--maxrregcount",
                                         "-func-maxrregcount",
                                         "--device-function-maxrregcount",
                                         "-regUsageLevel",
                                         "--register-usage-level",
                                         "-regAllocOptLevel",
                                         "--regAllocOptLevel",
                                         "--fmad",
                                         "-fmad",
                                         "-lineinfo",
                                         "--generate-line-info",
                                         "-g",
                                         "--device-debug",
                                         "-opt-fp-atomics",
                                         "--optimize-float-atomics",
                                         "--allow-expensive-optimizations",
                                         "-allow-expensive-optimizations",
                                         "-split-compile",
                                         "--split-compile",
                                         "-pic",
                                         "--position-independent-code",
                                         "-device-stack-protector",
                                         "--device-stack-protector",
                                         "-disable-optimizer-consts",
                                         "--disable-optimizer-constants",
                                         "-no-bb-merge",
                                         "--dont-merge-basicblocks",
                                         "-ret-end",
                                         "--return-at-end",
                                         "-sp-bounds-check",
                                         "--sp-bounds-check",
                                         "-preserve-relocs",
                                         "--preserve-relocs"};
    for (size_t i = 0; i < COUNT(begins); i++)
        if (strncmp(option, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

bool mr_ptx_assembler_option_is_verbose(const char *option)
{
    return strcmp(option, "-v") == 0 || strcmp(option, "--verbose") == 0 || strcmp(option, "-verbose") == 0;
}

void mr_ptx_arch_flush_words(struct mr_words *words)
{
    bool flushes = false, by_fast_math = false;
    for (size_t i = 0; i < words->count; i++) {
        bool fast_math = strcmp(words->items[i], MR_PTX_FAST_MATH_WORD) == 0;
        if (fast_math || strcmp(words->items[i], "-fgpu-flush-denormals-to-zero") == 0)
            flushes = true;
        else if (strcmp(words->items[i], "-fno-gpu-flush-denormals-to-zero") == 0)
            flushes = false;
        by_fast_math |= fast_math;
    }
    if (flushes && by_fast_math)
        mr_words_add(words, "-fgpu-flush-denormals-to-zero", "");
    if (flushes)
        mr_words_add(words, "-DMILLRACE_FLUSHES=1", "");
}
