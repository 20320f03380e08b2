/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler, for compilers that hand the driver what NVIDIA's makes (Triton, XLA, Mojo). Read this first.
 *
 * NVIDIA's assembler turns PTX into machine code for one chip. It is a program, ptxas, and a library, the PTX Compiler
 * API. Millrace's driver makes machine code itself, for the processor that it finds, when it loads PTX. So this
 * assembler checks the PTX as the driver would, and hands it on. Options that steer machine code have no effect, and
 * what -v asks is answered by what the driver would say.
 *
 * options.c reads the options, rounding.c keeps what one of them says of floating point, assemble.c checks; api.c is
 * the library, tools/ptxas the program. Nothing here keeps anything between calls: threads work side by side. */
#ifndef MR_LIBS_NVPTXCOMPILER_ASSEMBLER_H
#define MR_LIBS_NVPTXCOMPILER_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* What a text that is no file is called in messages, as by NVIDIA's. */
#define MR_ASSEMBLER_TEXT "ptxas application ptx input"

struct mr_assembler {
    struct mr_words words;      /* the options; strings point into them */
    const char *input, *output; /* files, for the program; NULL: not named */
    const char *ptx;            /* the text in place of `input`, from the command line; NULL: not there */
    unsigned target;            /* capability times ten; 0: not said */
    bool parse_only;            /* the target is a virtual one, compute_80: NVIDIA's makes no code for it */
    bool verbose;               /* tell what kernels use */
    bool relocatable;           /* names may be missing: a later link brings them */
    bool join_products;         /* products and sums that name no rounding may become one operation */
    struct mr_words entries;    /* the kernels that are wanted; none: all */
    bool help, version;
    struct mr_text problem; /* what is wrong with the options */
};

enum mr_assembler_result {
    MR_ASSEMBLER_DONE,
    MR_ASSEMBLER_FAILED,
    MR_ASSEMBLER_BAD_VERSION, /* the PTX is of a version that is not known */
    MR_ASSEMBLER_NO_MEMORY
};

/* Reads the options. False with the reason in assembler->problem. mr_assembler_clear frees it in both cases. */
bool mr_assembler_options(struct mr_assembler *assembler, size_t count, const char *const *words);
void mr_assembler_clear(struct mr_assembler *assembler);

/* Makes `result`, an empty text, of the PTX. `name` is the input's in messages, which are added to `errors`; what -v
 * asks for is added to `uses`. */
enum mr_assembler_result mr_assemble(const struct mr_assembler *assembler, const char *name, const char *ptx,
                                     size_t length, struct mr_text *result, struct mr_text *errors,
                                     struct mr_text *uses);

/* Adds the text to `exact`, with a rounding (.rn, which is what it means) in each addition, subtraction and
 * multiplication of floats that names none: so none of them may be joined to another. `exact` fails when memory is
 * short. */
void mr_assembler_name_roundings(const struct mr_text *ptx, struct mr_text *exact);

#endif
