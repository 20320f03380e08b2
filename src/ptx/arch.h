/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What commands and libraries that compile and link device code take from their
 * users: the architectures, from sm_50 up to the newest that the device can be,
 * and options for the assembler, which is not there.
 */
#ifndef MR_PTX_ARCH_H
#define MR_PTX_ARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum mr_ptx_arch {
    MR_PTX_ARCH_GOOD,
    MR_PTX_ARCH_MALFORMED, /* not sm_ or compute_ and a number */
    MR_PTX_ARCH_SUFFIX,    /* ends in 'a' or 'f': may use features of one chip or one family of chips alone */
    MR_PTX_ARCH_TOO_OLD,
    MR_PTX_ARCH_LEFT_OUT,  /* exists, and no code is made for it */
    MR_PTX_ARCH_NONE       /* there is none of that number, or none with that suffix */
};

/* Reads "sm_80" or "compute_80": its number, and in *real whether it is an sm_, if it is good or has a suffix. */
enum mr_ptx_arch mr_ptx_arch_read(const char *text, unsigned *capability, bool *real);

/* The suffix of one that is good or has a suffix: 'a', 'f' or 0. */
char mr_ptx_arch_suffix(const char *text);

/* The numbers of all, oldest first; *count of them. */
const int *mr_ptx_arch_all(size_t *count);

/* The architecture that clang 19 is to compile for, to make code for `capability`: the newest that it knows and that is
 * no newer. */
unsigned mr_ptx_arch_of_clang(unsigned capability);

/* Adds the options by which clang 19 compiles device code for `capability`: with that in __CUDA_ARCH__, also where
 * clang does not know it, and with the macros that announce a suffix ('a', 'f' or 0). The PTX is for mr_ptx_retarget
 * then. */
void mr_ptx_arch_clang_words(unsigned capability, char suffix, struct mr_words *words);

/* Adds the options that keep clang 19 from wrong code and from its own end: it reads 16 neighbouring bytes as four
 * words at an address that need not be a multiple of 16, so it joins eight things at most; and it crashes at
 * conversions between floats and integers of more than 64 bits, unless these are written out. mr_ptx_arch_clang_words
 * adds them too. */
void mr_ptx_arch_safe_words(struct mr_words *words);

/* Adds the PTX, as clang wrote it for an older architecture or one without a suffix, to `out`, with `capability` and
 * `suffix` ('a', 'f' or 0) as its target and the version of PTX that this needs. */
void mr_ptx_retarget(const char *ptx, unsigned capability, char suffix, struct mr_text *out);

/* Whether clang's PTX for `capability` and `suffix` names another target, so that it is for mr_ptx_retarget. */
bool mr_ptx_arch_is_retargeted(unsigned capability, char suffix);

/* Whether an option for the assembler can be taken: it would only change messages, or machine code for GPUs, which
 * nobody makes here. */
bool mr_ptx_assembler_option_is_idle(const char *option);

/* Whether it asks what each kernel uses: -v, --verbose. Such options are idle, too. */
bool mr_ptx_assembler_option_is_verbose(const char *option);

/* The word for -use_fast_math among clang's: device headers ask for the macro, and floats are flushed. */
#define MR_PTX_FAST_MATH_WORD "-DMILLRACE_FAST_MATH=1"

/* The word for -lineinfo: lines, and which functions were put in the place of their calls (parse_debug.h). clang's own
 * word for kernels that are optimised (-gline-directives-only) gives lines alone. */
#define MR_PTX_LINES_WORD "-Xclang=-debug-info-kind=line-tables-only"

/* The word for -G: variables and their types, too. */
#define MR_PTX_VARIABLES_WORD "-Xclang=-debug-info-kind=constructor"

/* The word by which clang does not take for granted that what is passed to a function has a value. In warps one lane
 * often sets a variable that all then hand to a shuffle. */
#define MR_PTX_UNDEFINED_WORD "-Xclang=-no-enable-noundef-analysis"

/* Adds the macro by which the device headers know that subnormal floats count as 0, if clang's words for a kernel say
 * so; the last word about it counts. */
void mr_ptx_arch_flush_words(struct mr_words *words);

#endif
