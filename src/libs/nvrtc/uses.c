/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's kernels use, for its log (--ptxas-options=-v): told where NVIDIA's library would run its
 * assembler, which is for -arch=sm_XY alone. */
#include <stdlib.h>

#include "compile/compile.h"
#include "libs/nvrtc/program.h"
#include "ptx/ptx.h"

void mr_uses_tell(struct _nvrtcProgram *program)
{
    struct mr_program_options options = {.partial = true};
    struct mr_ptx_diag diag;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    mr_ptx_diag_init(&diag);
    if (!file || !mr_program_check(mr_text_chars(&program->ptx), program->ptx.length, &options, &diag, file))
        mr_text_format(&program->log, "nvrtc: warning: the PTX would not load:\n%s",
                       file ? mr_ptx_diag_text(&diag) : "out of memory\n");
    if (file)
        fclose(file);
    mr_text_put(&program->log, text ? text : "");
    free(text);
    mr_ptx_diag_clear(&diag);
}
