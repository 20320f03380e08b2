/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The container reader: from the bytes that a program hands to cuModuleLoadData
 * and its kin to PTX text. Four forms are known: PTX text, a fat binary, the
 * wrapper struct that points to one, and ELF (machine code, which is refused).
 */
#ifndef MR_PTX_CONTAINER_H
#define MR_PTX_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of an image whose size is not known: text then ends at its NUL, and
 * a fat binary where its own header says. */
#define MR_PTX_SIZE_UNKNOWN SIZE_MAX

enum mr_ptx_container_status {
    MR_PTX_CONTAINER_OK,
    MR_PTX_CONTAINER_NO_BINARY, /* well-formed, but no PTX that fits: only machine
                                   code, or PTX for newer devices */
    MR_PTX_CONTAINER_INVALID,   /* none of the known forms, or damaged */
    MR_PTX_CONTAINER_NO_MEMORY
};

enum mr_ptx_image_kind {
    MR_PTX_IMAGE_UNKNOWN,
    MR_PTX_IMAGE_TEXT,
    MR_PTX_IMAGE_ELF,
    MR_PTX_IMAGE_FATBIN,
    MR_PTX_IMAGE_WRAPPER
};

/* PTX text out of an image. `text` need not end in a NUL. */
struct mr_ptx_text {
    const char *text; /* into the image, or into `owned` */
    size_t length;
    void *owned;      /* decompressed text, or NULL */
    uint32_t newer;   /* after MR_PTX_CONTAINER_NO_BINARY: the lowest target of the PTX for newer devices, or 0 */
};

/* What the first bytes say. Reads at most 4 bytes and never past a NUL of text. */
enum mr_ptx_image_kind mr_ptx_image_kind_find(const void *image, size_t size);

/*
 * Finds the PTX in `image` that suits `capability` best (80 for 8.0): the newest
 * target that is not newer than the device. Plain text is given as it is, its
 * target is not looked at. On OK, free *out with mr_ptx_text_free() when the
 * image is no longer needed; otherwise *out is all zero, except for `newer`. The reason of a refusal
 * goes to the log at level info. Any thread.
 *
 * Nothing is read beyond `size` bytes of the image, nor beyond the size in a fat
 * binary's header; where the size is not known, nor beyond the memory that the
 * program may read there. A wrapper's pointer to its fat binary may be wild.
 */
enum mr_ptx_container_status mr_ptx_container_read(const void *image, size_t size, uint32_t capability,
                                                   struct mr_ptx_text *out);

/* One entry of a fat binary. All pointers are into the container. */
struct mr_ptx_container_entry {
    const unsigned char *data;
    uint64_t size;       /* of `data`, without padding if compressed */
    uint64_t full_size;  /* after decompression; of no meaning if not compressed */
    uint64_t flags;
    uint32_t kind, target; /* MR_PTX_ENTRY_*; 80 for sm_80 */
    unsigned major, minor; /* of PTX, or of machine code's format */
    const char *name, *options; /* whose code it is, and the assembler's options; not NUL-ended; NULL: not told */
    size_t name_length, options_length;
};

#define MR_PTX_ENTRY_PTX 1u
#define MR_PTX_ENTRY_ELF 2u

/* Flags of an entry. */
#define MR_PTX_ENTRY_64_BIT UINT64_C(0x1)
#define MR_PTX_ENTRY_DEBUG UINT64_C(0x2)
#define MR_PTX_ENTRY_LINUX UINT64_C(0x10)
#define MR_PTX_ENTRY_LZ4 UINT64_C(0x2000)
#define MR_PTX_ENTRY_ZSTD UINT64_C(0x8000)
#define MR_PTX_ENTRY_COMPRESSED (MR_PTX_ENTRY_LZ4 | MR_PTX_ENTRY_ZSTD)

/*
 * Shows `see` each entry of the fat binary in `size` bytes, in their order, until it returns false. Nothing is read
 * beyond `size`. INVALID if it is damaged; entries before the damage were shown. Any thread.
 */
enum mr_ptx_container_status mr_ptx_container_visit(const void *image, size_t size, void *user,
                                                    bool (*see)(void *user,
                                                                const struct mr_ptx_container_entry *entry));

/* What the entry holds, decompressed if need be; PTX ends before its padding. As with mr_ptx_container_read, the caller
 * frees it. */
enum mr_ptx_container_status mr_ptx_container_unpack(const struct mr_ptx_container_entry *entry,
                                                     struct mr_ptx_text *out);

/* NULL is allowed, and so is a second call. */
void mr_ptx_text_free(struct mr_ptx_text *text);

#endif
