/* SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes lexer, parser and verifier: any bytes must end in a tree or an error. */
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse((const char *)data, size, &diag);
    if (!module && diag.errors == 0)
        __builtin_trap(); /* a refusal without a reason */
    if (module && !mr_ptx_verify(module, &diag) && diag.errors == 0)
        __builtin_trap();
    mr_ptx_module_destroy(module);
    mr_ptx_diag_clear(&diag);
    return 0;
}
