/* SPDX-License-Identifier: Apache-2.0 */
/* Registration by hand, as a compiler's code does it: images that are broken or hold no PTX harm nobody but those who
 * use them. */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
                              int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);

struct wrapper {
    unsigned magic, version;
    const void *data;
    void *more;
};

#define MAGIC 0x466243b1u

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 number = 12;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_number = 3;\n"
    ".visible .entry kernel(.param .u64 to)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [to];\nld.global.u32 %r1, [number];\nld.global.u32 %r2, [shared_number];\nadd.u32 %r1, %r1, %r2;\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";

/* The bytes of a container with one entry of the given kind: 1 PTX, 2 machine code. */
static unsigned char bytes[4096];
static void build(unsigned short kind, const char *content, size_t length)
{
    size_t padded = (length + 8) / 8 * 8;
    unsigned char *at = bytes;
    memset(bytes, 0, sizeof bytes);
    const struct {
        unsigned magic;
        unsigned short version, size;
        unsigned long long rest;
    } head = {0xba55ed50u, 1, 16, 64 + padded};
    const struct {
        unsigned short kind, version;
        unsigned size;
        unsigned long long data;
        unsigned packed, options;
        unsigned short minor, major;
        unsigned target, name, name_size;
        unsigned long long flags, zero, unpacked;
    } entry = {kind, 0x101, 64, padded, 0, 0, 0, 7, 70, 0, 0, 0, 0, 0};
    memcpy(at, &head, 16);
    memcpy(at + 16, &entry, 64);
    memcpy(at + 80, content, length);
}

static char stub, other, variable;
static int *managed;

static cudaError_t launch(const void *host, int *to)
{
    void *arguments[] = {&to};
    return cudaLaunchKernel(host, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL);
}

static void test_good(void)
{
    build(1, text, sizeof text);
    managed = NULL;
    struct wrapper wrapper = {MAGIC, 1, bytes, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, &stub, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &other, &other, "no_such_kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &variable, &variable, "number", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, (void **)&managed, (char *)&managed, "shared_number", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    HOLDS(managed == NULL);
    HOLDS(__cudaInitModule(handle) == 1);
    HOLDS(managed != NULL && *managed == 3);
    *managed = 30;
    void *to, *address;
    int back = 0;
    OK(cudaMalloc(&to, 4));
    OK(launch(&stub, to));
    OK(cudaMemcpy(&back, to, 4, cudaMemcpyDeviceToHost));
    HOLDS(back == 42);
    OK(cudaGetSymbolAddress(&address, managed)); /* what the program sees of it */
    HOLDS(address == managed);
    OK(cudaGetSymbolAddress(&address, &managed));
    HOLDS(address == managed);
    GIVES(cudaErrorInvalidDeviceFunction, launch(&other, to));

    cudaKernel_t kernel;
    void *arguments[] = {&to};
    OK(__cudaGetKernel(&kernel, &stub));
    OK(__cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL));
    GIVES(cudaErrorInvalidDeviceFunction, __cudaGetKernel(&kernel, &other));
    GIVES(cudaErrorInvalidDeviceFunction,
          __cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL));
    OK(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(handle);
    GIVES(cudaErrorInvalidResourceHandle, launch(&stub, to));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, &variable));
    OK(cudaFree(to));
}

static void test_bad(const void *data, unsigned magic, cudaError_t wanted)
{
    struct wrapper wrapper = {magic, 1, data, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, &stub, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &variable, &variable, "number", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    OK(cudaDeviceSynchronize());
    GIVES(wanted, launch(&stub, NULL));
    GIVES(wanted, launch(&stub, NULL));
    size_t size;
    GIVES(wanted, cudaGetSymbolSize(&size, &variable));
    HOLDS(__cudaInitModule(handle) == 0);
    HOLDS(cudaGetLastError() == wanted);
    __cudaUnregisterFatBinary(handle);
}

static void test_null(void)
{
    void **handle = __cudaRegisterFatBinary(NULL);
    __cudaRegisterFunction(handle, NULL, NULL, NULL, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(NULL, &stub, NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaUnregisterFatBinary(handle);
    __cudaUnregisterFatBinary(NULL);
    HOLDS(__cudaInitModule(NULL) == 0);
}

/* Registers a container that something is wrong with, uses it in every way, and takes it back. Which status that gives
 * is of no matter: that the process goes on is. */
static void use_damaged(const void *data, unsigned version, void *more)
{
    struct wrapper wrapper = {MAGIC, version, data, more};
    struct cudaFuncAttributes attributes;
    void *address;
    managed = NULL;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, &stub, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &variable, &variable, "number", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, (void **)&managed, (char *)&managed, "shared_number", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    bool good = __cudaInitModule(handle) == 1;
    cudaError_t status = cudaFuncGetAttributes(&attributes, &stub);
    HOLDS(good || status != cudaSuccess);
    (void)cudaGetSymbolAddress(&address, &variable);
    __cudaUnregisterFatBinary(handle);
    (void)cudaGetLastError();
    OK(cudaFree(NULL));
}

/* Bytes of a container changed one after the other, and several at once, right before a page that can't be read. */
static void test_damaged(void)
{
    static const unsigned char values[] = {0, 1, 2, 0x40, 0x7f, 0x80, 0xff};
    long page = sysconf(_SC_PAGESIZE);
    build(1, text, sizeof text);
    size_t size = 80 + (sizeof text + 8) / 8 * 8, room = (size + (size_t)page - 1) / (size_t)page * (size_t)page;
    unsigned char *pages = mmap(NULL, room + (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HOLDS(pages != MAP_FAILED && mprotect(pages + room, (size_t)page, PROT_NONE) == 0);
    unsigned char *image = pages + room - size;
    memcpy(image, bytes, size);
    use_damaged(image, 1, NULL);
    for (size_t at = 0; at < 80; at++)
        for (size_t i = 0; i < sizeof values; i++) {
            unsigned char kept = image[at];
            image[at] = values[i];
            use_damaged(image, 1, NULL);
            image[at] = kept;
        }
    unsigned seed = 1;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 4; i++) {
            seed = seed * 1103515245u + 12345u;
            image[seed / 7 % size] = (unsigned char)(seed >> 20);
        }
        use_damaged(image, 1, NULL);
        memcpy(image, bytes, size);
    }
    /* What a wrapper points to, or the list of a program that is to be linked, may be anywhere. */
    void *const wild[] = {pages + room, pages + room - 8, (void *)16, (void *)-16};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        void *objects[] = {image, wild[i], NULL};
        memcpy(image, bytes, size);
        memcpy(pages + room - 8, &wild[2], 8); /* what a list there begins with: text could lead into AddressSanitizer's
                                                  own memory, which can't be read */
        use_damaged(wild[i], 1, NULL);
        image[16] = 2; /* nothing to load, so that the list is looked at */
        use_damaged(image, 2, objects);
        use_damaged(image, 2, wild[i]);
    }
    HOLDS(munmap(pages, room + (size_t)page) == 0);
}

static void test_configuration(void)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    for (unsigned i = 1; i <= 10; i++)
        HOLDS(__cudaPushCallConfiguration((dim3){i, 1, 1}, (dim3){1, i, 1}, i * 8, NULL) == 0);
    for (unsigned i = 10; i >= 1; i--) {
        OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
        HOLDS(grid.x == i && block.y == i && shared == i * 8 && stream == NULL);
    }
    GIVES(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
}

int main(void)
{
    static const char elf[64] = "\177ELF\2\1\1";
    static const char broken[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry kernel() { nonsense; }\n";
    static const unsigned char noise[64] = {0x50, 0xed, 0x55, 0xba, 9,   9,   9,   9, 255,
                                            255,  255,  255,  255,  255, 255, 255, 1};
    test_good();
    build(2, elf, sizeof elf);
    test_bad(bytes, MAGIC, cudaErrorNoKernelImageForDevice);
    build(1, broken, sizeof broken);
    test_bad(bytes, MAGIC, cudaErrorInvalidPtx);
    test_bad(noise, MAGIC, cudaErrorInvalidKernelImage);
    test_bad(bytes, 0x12345678, cudaErrorInvalidKernelImage);
    test_bad(NULL, MAGIC, cudaErrorInvalidKernelImage);
    test_null();
    test_damaged();
    test_configuration();
    test_good();
    return finish();
}
