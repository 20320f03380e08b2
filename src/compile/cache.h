/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache of compiled kernels: one file per kernel and shape class, named by a hash of everything that its code
 * depends on.
 *
 * The folder is private to the user (0700; it is not used if others may write to it). Files appear whole, by renaming,
 * so that any number of processes may use it at a time; each carries a checksum and is ignored, and removed, if that is
 * wrong. Nothing here is fatal: a cache that can't be used costs time only, and is mentioned in the log. */
#ifndef MR_COMPILE_CACHE_H
#define MR_COMPILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash of 128 bits over a sequence of parts. */
struct mr_cache_key {
    uint64_t low, high;
};

/* Collects the parts of a key; each goes in with its length, so that "ab","c" and "a","bc" differ. */
struct mr_cache_hash {
    void *state;
};
bool mr_cache_hash_begin(struct mr_cache_hash *hash) __attribute__((warn_unused_result));
void mr_cache_hash_add(struct mr_cache_hash *hash, const void *data, size_t size);
void mr_cache_hash_text(struct mr_cache_hash *hash, const char *text);
struct mr_cache_key mr_cache_hash_end(struct mr_cache_hash *hash);

/* The hash of one block of bytes. */
struct mr_cache_key mr_cache_hash_of(const void *data, size_t size);

/* Adds what identifies this processor's instruction set. */
void mr_cache_hash_processor(struct mr_cache_hash *hash);

/* How a file of the cache begins; the object follows. Its name ends in MR_CACHE_SUFFIX. */
struct mr_cache_file {
    uint32_t magic, header_bytes;
    struct mr_cache_key key;      /* a renamed file must not pass for another */
    struct mr_cache_key checksum; /* of the whole file with this field zero */
    uint64_t object_bytes, stack_bytes;
    uint32_t flags, abi;          /* abi: MR_ABI_VERSION; a file of another is of no use any more */
};

#define MR_CACHE_MAGIC 0x314b524du /* "MRK1" */
#define MR_CACHE_SUFFIX ".mrk"

/* What is kept of a compiled kernel. */
struct mr_cache_item {
    unsigned flags;              /* MR_CODE_* */
    size_t stack_bytes;
    const unsigned char *object; /* the relocatable object */
    size_t object_size;
    void *file;                  /* what a found item's object points into; freed by mr_cache_release */
};

/* True with the item if the cache is on and has it. */
bool mr_cache_find(struct mr_cache_key key, struct mr_cache_item *item) __attribute__((warn_unused_result));
void mr_cache_release(struct mr_cache_item *item);

/* Keeps an item; removes the oldest ones when the cache has grown past its limit. Failure is logged only. */
void mr_cache_store(struct mr_cache_key key, const struct mr_cache_item *item);

/* The folder in use, or NULL if the cache is off or can't be used. Valid until the process ends. */
const char *mr_cache_folder(void);

/* Tests only: reads the settings again. */
void mr_cache_reset(void);

#endif
