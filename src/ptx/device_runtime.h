/* SPDX-License-Identifier: Apache-2.0 */

/*
 * NVIDIA's libcudadevrt.a, which programs hand to a device linker when their kernels launch others or synchronise a
 * whole grid. It holds machine code, and PTX that calls functions of NVIDIA's driver, so in its place PTX is linked
 * that device_runtime.cu becomes: the functions cudaCG… for grids, and __cudaCDP2…, by which NVIDIA's compilers call
 * the runtime API in kernels. Its other functions are not there: what calls them finds no definition.
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
