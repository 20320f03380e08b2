/* SPDX-License-Identifier: Apache-2.0 */
/* The ptxas shim, for compilers that call NVIDIA's assembler and hand the driver what it makes (Triton, XLA).
 *
 * NVIDIA's ptxas turns PTX into machine code for one chip. This one checks the PTX as the driver would, tells errors as
 * ptxas tells them, and writes the PTX itself where machine code would be written; the driver compiles it when it is
 * loaded. So options that steer machine code have no effect, and those that ask about it (-v) are answered by what the
 * driver would say. options.c reads the command line, rounding.c keeps what an option says of floating point. */
#ifndef MR_TOOLS_PTXAS_H
#define MR_TOOLS_PTXAS_H

#include <stdbool.h>

#include "base/text.h"
#include "toolkit.h"

/* The command line. */
struct request {
    struct mr_words words;   /* into which the strings point */
    const char *input, *output;
    unsigned target;     /* capability times ten */
    bool verbose;        /* tell what kernels use */
    bool relocatable;    /* names may be missing: a later link brings them */
    bool join_products;  /* products and sums that name no rounding may become one operation */
    struct mr_words entries; /* the kernels that are wanted; none: all */
    bool help, version;
};

/* options.c: false after a message. */
bool options_read(int argc, char **argv, struct request *request);

/* rounding.c: the text with a rounding (.rn, which is what it means) in each addition, subtraction and multiplication
 * of floats that names none: so none of them may be joined to another. `exact` fails when memory is short. */
void rounding_name(const struct mr_text *ptx, struct mr_text *exact);

#endif
