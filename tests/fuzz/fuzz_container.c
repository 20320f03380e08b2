/* SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes the container reader. A wrapper holds a pointer that has to be trusted,
 * so images that begin like one are left out. */
#include <stddef.h>
#include <stdint.h>

#include "ptx/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mr_ptx_text text;
    if (mr_ptx_image_kind_find(data, size) == MR_PTX_IMAGE_WRAPPER)
        return 0;
    if (mr_ptx_container_read(data, size, 80, &text) == MR_PTX_CONTAINER_OK) {
        volatile unsigned sum = 0;
        for (size_t i = 0; i < text.length; i++)
            sum += (unsigned char)text.text[i]; /* all of it can be read */
    }
    mr_ptx_text_free(&text);
    return 0;
}
