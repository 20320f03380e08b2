/* SPDX-License-Identifier: Apache-2.0 */
/* See carried.h. VERSION is 12 or 13. */
#define _GNU_SOURCE
#include "carried.h"

#include <dlfcn.h>
#include <stdio.h>

volatile int carried_runs;

/* The real library finds the driver so; an object that does not import dlsym is not looked at. */
static int wrong(const char *name)
{
    carried_runs++;
    printf("%s of the runtime library inside ran (%d)\n", name, dlsym(RTLD_DEFAULT, "cuInit") != NULL);
    return WRONG;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = 0;
    return wrong(__func__);
}
int cudaMalloc(void **memory, size_t size)
{
    *memory = NULL;
    (void)size;
    return wrong(__func__);
}
int cudaFree(void *memory)
{
    (void)memory;
    return wrong(__func__);
}
int cudaMemset(void *memory, int value, size_t count)
{
    (void)memory;
    (void)value;
    (void)count;
    return wrong(__func__);
}
int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind, void *stream)
{
    (void)to;
    (void)to_pitch;
    (void)from;
    (void)from_pitch;
    (void)width;
    (void)height;
    (void)kind;
    (void)stream;
    return wrong(__func__);
}
int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    return wrong(__func__);
}
int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    (void)pool;
    (void)device;
    return wrong(__func__);
}
int cudaUnbindTexture(const void *texture)
{
    (void)texture;
    return wrong(__func__);
}
#if VERSION == 12
int cudaThreadExit(void)
{
    return wrong(__func__);
}
#endif

/* Three bytes, xor %eax,%eax; ret, and padding behind them. The other, which has two names, has a neighbour in place of
 * padding, so it must stay as it is. */
__asm__(
    ".text\n.p2align 4\n.globl cudaGetLastError\n.hidden cudaGetLastError\n.type cudaGetLastError, @function\ncudaGetLastError:\nxorl %eax, %eax\nret\n"
    ".size cudaGetLastError, 3\n.p2align 4\n"
    ".globl cudaPeekAtLastError\n.hidden cudaPeekAtLastError\n.type cudaPeekAtLastError, @function\ncudaPeekAtLastError:\nxorl %eax, %eax\nret\n"
    ".size cudaPeekAtLastError, 3\n"
    ".globl cudaProfilerStop\n.hidden cudaProfilerStop\n.set cudaProfilerStop, cudaPeekAtLastError\n"
    ".globl neighbour\n.hidden neighbour\n.type neighbour, @function\nneighbour:\nmovl $42, %eax\nret\n.size neighbour, 6\n.p2align 4\n");
