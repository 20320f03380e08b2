/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and variables of a program: from the address of the host's stub or shadow to what the driver has. */
#ifndef MR_CUDART_REGISTER_H
#define MR_CUDART_REGISTER_H

#include "libs/cudart/runtime.h"

/* The kernel that `func` stands for: the stub that a compiler registered, or a cudaKernel_t. Loads its image at the
 * first use. cudaErrorInvalidDeviceFunction, cudaErrorInvalidResourceHandle if it is neither,
 * cudaErrorNoKernelImageForDevice, …. Takes no lock once the kernel is known. */
cudaError_t mr_rt_kernel(const void *func, CUkernel *out);

/* What a launch of `func` hands to the driver: the kernel that it stands for, or `func` itself, which may be a
 * cudaKernel_t or a cudaFunction_t and which the driver looks at. Errors as above. */
cudaError_t mr_rt_launched(const void *func, CUkernel *out);

/* The same where a symbol is asked for: anything else gives cudaErrorInvalidDeviceFunction. */
cudaError_t mr_rt_symbol_kernel(const void *symbol, CUkernel *out);

/* Loads every image that is registered now, for CUDA_MODULE_LOADING=EAGER. What can't be loaded tells when it is used.
 * There is a current context. */
void mr_rt_load_all(void);

/* Calls `see` for each image that is registered now, with its fat binary and those of the objects that it is to be
 * linked of (up to NULL), or NULL. `see` must not register. */
void mr_rt_each_image(void (*see)(void *of, const void *data, void *const *objects), void *of);

/* The stub that a kernel was registered with, or the kernel itself. */
const void *mr_rt_kernel_name(CUkernel kernel);

/* Address and size of a registered variable in the current context. cudaErrorInvalidSymbol. */
cudaError_t mr_rt_symbol(const void *symbol, void **address, size_t *size);

/* The address `offset` bytes into a variable that has `count` bytes there. cudaErrorInvalidSymbol,
 * cudaErrorInvalidValue. */
cudaError_t mr_rt_symbol_range(const void *symbol, size_t count, size_t offset, void **address);

/* A texture or surface reference that a program has registered: programs of CUDA 11 have them. */
struct mr_rt_reference {
    const char *name;      /* in its image */
    bool is_surface;       /* else it is a texture */
    bool reads_normalized; /* integers are read as numbers up to 1 */
    bool is_bound;         /* this and `offset` belong to texture_reference.c, under its lock */
    size_t offset;         /* of the bound memory, from where the texture begins, in bytes */
};

/* The reference that a program has at `host`, or NULL. Valid until its program or library unregisters it. */
struct mr_rt_reference *mr_rt_reference(const void *host, bool is_surface);

/* The module of such a reference in the current context. Loads its image at the first use. */
cudaError_t mr_rt_reference_module(const void *host, CUmodule *out);

#endif
