/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images that are not PTX text: noise, ELF, and fat binaries as the public
 * tools write them, plain and compressed, whole and hostile.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define EMPTY HEAD ".visible .entry empty()\n{\n    ret;\n}\n"

/* ---- what is not PTX ---- */

/* The loader reads as far as it likes, so input stands before plenty of zeroes. */
static void load_bytes(const void *bytes, size_t size)
{
    char *room = calloc(1, 65536 + size);
    if (!room)
        gold_stop("calloc");
    memcpy(room, bytes, size);
    CUmodule module = NULL;
    say(cuModuleLoadData(&module, room));
    free(room);
}

#define NOT_AN_IMAGE \
    .alone = true, .allow = "CUDA_ERROR_INVALID_IMAGE|CUDA_ERROR_INVALID_PTX|CUDA_ERROR_NO_BINARY_FOR_GPU", \
    .why = "which of the three documented refusals is given depends on how far the loader reads"

CASE(module, empty_text, NOT_AN_IMAGE)
{
    load_bytes("", 1);
}

CASE(module, plain_text, NOT_AN_IMAGE)
{
    load_bytes("hello", 6);
}

CASE(module, binary_noise, NOT_AN_IMAGE)
{
    load_bytes("\x01\x02\x03\x04\xff\xfe\xfd\xfc", 8);
}

CASE(module, elf_magic_only, NOT_AN_IMAGE)
{
    load_bytes("\177ELF", 4);
}

CASE(module, elf_header_hostile, NOT_AN_IMAGE)
{
    unsigned char header[64];
    memset(header, 0xff, sizeof header);
    memcpy(header, "\177ELF\2\1\1", 7);
    load_bytes(header, sizeof header);
}

CASE(module, fatbin_magic_only, NOT_AN_IMAGE)
{
    load_bytes("\x50\xed\x55\xba", 4);
}

CASE(module, fatbin_empty, NOT_AN_IMAGE)
{
    static const unsigned char header[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    load_bytes(header, sizeof header);
}

CASE(module, fatbin_hostile_size, NOT_AN_IMAGE)
{
    static const unsigned char header[80] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 64, 0, 0,    0,    0,    0,
                                             0,    0,    1,    0,    1, 1, 64, 0, 0,  0, 0xff, 0xff, 0xff, 0x7f};
    load_bytes(header, sizeof header);
}

CASE(module, fatbin_wrapper_null, NOT_AN_IMAGE)
{
    static const struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    load_bytes(&wrapper, sizeof wrapper);
}

/* ---- containers with PTX inside ---- */

enum packing { PLAIN, LZ4, ZSTD };

/* Packs TEXT without saving a byte: both formats have a form for literals. */
static size_t pack(unsigned char *to, const char *text, enum packing how)
{
    size_t size = strlen(text) + 1, at = 0;
    if (how == LZ4) {
        to[at++] = 0xf0; /* literals to the end, 15 of them and more */
        size_t left = size - 15;
        for (; left >= 255; left -= 255)
            to[at++] = 255;
        to[at++] = (unsigned char)left;
    } else if (how == ZSTD) {
        static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20};
        memcpy(to, magic, sizeof magic);
        at = sizeof magic;
        to[at++] = (unsigned char)size;      /* of the contents: below 256 */
        uint32_t block = (uint32_t)size << 3 | 1; /* the last block, raw */
        memcpy(to + at, &block, 3);
        at += 3;
    }
    memcpy(to + at, text, size);
    return at + size;
}

/* A container with one PTX image, for CAPABILITY and newer; ROOM is 4096 zero bytes. */
static unsigned char *container(const char *ptx, unsigned capability, enum packing how)
{
    unsigned char *room = calloc(1, 4096);
    if (!room)
        gold_stop("calloc");
    unsigned char *entry = room + 16;
    size_t size = pack(entry + 80, ptx, how), padded = (size + 7) & ~(size_t)7;
    *(uint32_t *)(void *)room = 0xba55ed50;
    *(uint16_t *)(void *)(room + 4) = 1;
    *(uint16_t *)(void *)(room + 6) = 16;
    *(uint64_t *)(void *)(room + 8) = 80 + padded;
    *(uint16_t *)(void *)entry = 1;           /* PTX */
    *(uint16_t *)(void *)(entry + 2) = 0x101; /* version of this header */
    *(uint32_t *)(void *)(entry + 4) = 80;    /* its size */
    *(uint64_t *)(void *)(entry + 8) = padded;
    *(uint32_t *)(void *)(entry + 16) = how == PLAIN ? 0 : (uint32_t)size;
    *(uint32_t *)(void *)(entry + 20) = 64; /* where the options are */
    *(uint16_t *)(void *)(entry + 26) = 7;  /* PTX 7.0 */
    *(uint32_t *)(void *)(entry + 28) = capability;
    *(uint64_t *)(void *)(entry + 40) = how == PLAIN ? 0x11 : how == LZ4 ? 0x2011 : 0x8011;
    *(uint64_t *)(void *)(entry + 56) = how == PLAIN ? 0 : strlen(ptx) + 1;
    *(uint64_t *)(void *)(entry + 64) = 72;
    return room;
}

static void load_container(unsigned char *room, bool fat)
{
    CUmodule module;
    CUfunction function;
    CUresult status = fat ? cuModuleLoadFatBinary(&module, room) : cuModuleLoadData(&module, room);
    say(status);
    if (status == CUDA_SUCCESS) {
        say(cuModuleGetFunction(&function, module, "empty"));
        say(gold_launch(function, 1, NULL, NULL));
        say(cuCtxSynchronize());
        say(cuModuleUnload(module));
    }
}

CASE(module, fatbin_with_ptx)
{
    load_container(container(EMPTY, 75, PLAIN), true);
    load_container(container(EMPTY, 75, PLAIN), false);
}

CASE(module, fatbin_with_lz4)
{
    load_container(container(EMPTY, 75, LZ4), true);
}

CASE(module, fatbin_with_zstd)
{
    load_container(container(EMPTY, 75, ZSTD), true);
}

struct wrapper {
    int magic, version;
    const void *data;
    void *unused;
};

CASE(module, fatbin_wrapped, .alone = true, .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_SUCCESS",
     .why = "the wrapper is the one that compilers write; why hardware's driver crashes on this one is not known")
{
    struct wrapper wrapper = {0x466243b1, 1, container(EMPTY, 75, PLAIN), NULL};
    CUmodule module;
    CUfunction function;
    say(cuModuleLoadFatBinary(&module, &wrapper));
    say(cuModuleGetFunction(&function, module, "empty"));
    say(cuModuleLoadData(&module, &wrapper));
}

CASE(module, fatbin_newer_than_device)
{
    load_container(container(EMPTY, 999, PLAIN), true);
}

CASE(module, fatbin_broken_ptx)
{
    load_container(container(HEAD "nonsense\n", 75, PLAIN), true);
}

CASE(module, fatbin_null)
{
    CUmodule module;
    say(cuModuleLoadFatBinary(&module, NULL));
    say(cuModuleLoadFatBinary(NULL, EMPTY));
}

/* A container whose compressed bytes are noise. */
static void load_noise(enum packing how)
{
    unsigned char *room = container(EMPTY, 75, how);
    memset(room + 16 + 80 + 2, 0xa5, 40);
    load_container(room, true);
}

CASE(module, fatbin_noise_lz4, NOT_AN_IMAGE)
{
    load_noise(LZ4);
}

CASE(module, fatbin_noise_zstd, NOT_AN_IMAGE)
{
    load_noise(ZSTD);
}

CASE(module, fatbin_lies_about_size, NOT_AN_IMAGE)
{
    unsigned char *room = container(EMPTY, 75, ZSTD);
    *(uint64_t *)(void *)(room + 16 + 56) = 7;
    load_container(room, true);
}

CASE(module, fatbin_entry_past_the_end, NOT_AN_IMAGE)
{
    unsigned char *room = container(EMPTY, 75, PLAIN);
    *(uint64_t *)(void *)(room + 16 + 8) = (uint64_t)1 << 40;
    load_container(room, true);
}
