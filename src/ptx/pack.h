/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing a fat binary: what container.c reads, with PTX in it and nothing else.
 */
#ifndef MR_PTX_PACK_H
#define MR_PTX_PACK_H

#include <stddef.h>
#include <stdint.h>

struct mr_ptx_pack_entry {
    const char *text;
    size_t length;
    uint32_t capability; /* 80 for sm_80 */
    const char *name;    /* what other tools show of the entry; up to 15 characters, or NULL */
};

/*
 * A fat binary with these entries, in this order. Each text gets a first line
 * that says what it is, for readers that expect machine code. *size bytes, a
 * multiple of 8, which the caller frees with mr_free(); NULL when memory is
 * short. Any thread.
 */
unsigned char *mr_ptx_pack(const struct mr_ptx_pack_entry *entries, size_t count, size_t *size);

#endif
