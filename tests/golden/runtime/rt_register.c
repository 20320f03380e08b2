/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers the common module as nvcc's and clang's host code does before main:
 * a fat binary with one PTX image, and addresses of the host for its kernels and variables.
 */
#include "rt.h"

#include <stdlib.h>
#include <string.h>

char rt_host_empty, rt_host_store, rt_host_bounded, rt_host_missing;
char rt_host_counter, rt_host_table, rt_host_constants, rt_host_missing_variable;

struct wrapper {
    int magic, version;
    const void *data;
    void *unused;
};

/* What compilers call; no public header declares these. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, uint3 *thread,
                            uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                       int constant, int global);

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **params, size_t shared,
                               cudaStream_t stream);

static void **handle;

/* The stub asks for its kernel once, whatever comes of it. */
cudaError_t rt_stub_launch(dim3 grid, dim3 block, size_t shared)
{
    static cudaKernel_t kernel;
    if (!kernel)
        __cudaGetKernel(&kernel, &rt_host_empty);
    __cudaLaunchKernel(kernel, grid, block, NULL, shared, NULL);
    return cudaGetLastError();
}

static void put16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *at, unsigned value)
{
    put16(at, value);
    put16(at + 2, value >> 16);
}

/* A container with one plain PTX image for compute capability 7.5 and newer. */
static unsigned char *container(const char *ptx)
{
    size_t size = strlen(ptx) + 1, padded = (size + 7) & ~(size_t)7;
    unsigned char *room = calloc(1, 16 + 80 + padded);
    if (!room)
        abort();
    unsigned char *entry = room + 16;
    put32(room, 0xba55ed50);
    put16(room + 4, 1);
    put16(room + 6, 16);
    put32(room + 8, (unsigned)(80 + padded));
    put16(entry, 1);          /* PTX */
    put16(entry + 2, 0x101);  /* version of this header */
    put32(entry + 4, 80);     /* its size */
    put32(entry + 8, (unsigned)padded);
    put32(entry + 20, 64);    /* where the options are */
    put16(entry + 26, 7);     /* PTX 7.0 */
    put32(entry + 28, 75);
    put32(entry + 40, 0x11);
    put32(entry + 64, 72);
    memcpy(entry + 80, ptx, size);
    return room;
}

static void add_kernel(char *host, const char *name)
{
    __cudaRegisterFunction(handle, host, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void add_variable(char *host, const char *name, size_t size, int constant)
{
    __cudaRegisterVar(handle, host, (char *)(uintptr_t)name, name, 0, size, constant, 0);
}

/* exit runs this before the libraries' own ends, as it does for compiled programs. */
static void take_back(void)
{
    __cudaUnregisterFatBinary(handle);
}

__attribute__((constructor)) static void register_all(void)
{
    static struct wrapper wrapper = {.magic = 0x466243b1, .version = 1};
    wrapper.data = container(gold_ptx);
    handle = __cudaRegisterFatBinary(&wrapper);
    add_kernel(&rt_host_empty, "empty");
    add_kernel(&rt_host_store, "store");
    add_kernel(&rt_host_bounded, "bounded");
    add_variable(&rt_host_counter, "counter", 4, 0);
    add_variable(&rt_host_table, "table", 64, 0);
    add_variable(&rt_host_constants, "constants", 16, 1);
    __cudaRegisterFatBinaryEnd(handle);
    atexit(take_back);
}
