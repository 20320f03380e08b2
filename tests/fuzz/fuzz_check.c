/* SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes what a module goes through until it is loaded: parser, verifier, and
 * the code generator's own check. */
#include <stddef.h>
#include <stdint.h>

#include "compile/codegen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse((const char *)data, size, &diag);
    if (module && mr_ptx_verify(module, &diag) && !mr_codegen_check(module, &diag) && diag.errors == 0)
        __builtin_trap(); /* a refusal without a reason */
    mr_ptx_module_destroy(module);
    mr_ptx_diag_clear(&diag);
    return 0;
}
