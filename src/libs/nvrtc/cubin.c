/* SPDX-License-Identifier: Apache-2.0 */
/* The container that a program gets when it asks for a cubin, or for LTO code: a fat binary (ptx/pack.h) with one
 * entry, the PTX, by the name "millrace-ptx". */
#include "base/alloc.h"
#include "libs/nvrtc/program.h"
#include "ptx/pack.h"

void mr_cubin_make(struct mr_text *cubin, const struct mr_text *ptx, unsigned capability)
{
    struct mr_ptx_pack_entry entry = {mr_text_chars(ptx), ptx->length, capability, "millrace-ptx"};
    size_t size = 0;
    unsigned char *bytes = mr_ptx_pack(&entry, 1, &size);
    if (bytes)
        mr_text_add(cubin, (const char *)bytes, size);
    else
        cubin->failed = true;
    mr_free(bytes);
}
