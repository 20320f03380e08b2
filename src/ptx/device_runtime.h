/* SPDX-License-Identifier: Apache-2.0 */

/*
 * NVIDIA's libcudadevrt.a, which programs hand to a device linker when their kernels synchronise a whole grid (Numba
 * does). It holds machine code, so in its place these functions of it are linked, as PTX: cudaCGGetIntrinsicHandle,
 * cudaCGSynchronize, cudaCGSynchronizeGrid, cudaCGGetSize and cudaCGGetRank. Its other functions launch kernels from
 * kernels, which is not supported: what calls them finds no definition.
 */
#ifndef MR_PTX_DEVICE_RUNTIME_H
#define MR_PTX_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* PTX text. */
extern const char mr_ptx_device_runtime[];

/* Whether the file is that archive. */
bool mr_ptx_is_device_runtime(const void *data, size_t size);

/* Whether the PTX is that archive's. It calls functions of NVIDIA's driver, which are not here. NVIDIA's nvcc -rdc=true
 * puts it into programs for the newest devices. */
bool mr_ptx_is_device_runtime_text(const char *text, size_t length);

#endif
