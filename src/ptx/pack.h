/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing a fat binary: what container.c reads.
 */
#ifndef MR_PTX_PACK_H
#define MR_PTX_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_ptx_packing { MR_PTX_PACKING_NONE, MR_PTX_PACKING_LZ4, MR_PTX_PACKING_ZSTD };

struct mr_ptx_pack_entry {
    const char *text;
    size_t length;
    uint32_t capability; /* 80 for sm_80 */
    const char *name;    /* what other tools show of the entry, or NULL */
    bool bare;           /* the text is for readers that know PTX as such: without the remark */
    bool machine;        /* no PTX, but an ELF file of machine code, which is kept as it is */
    bool debug;          /* compiled for a debugger */
    enum mr_ptx_packing packing; /* where that saves bytes */
    const char *options; /* for the assembler, or NULL */
};

/*
 * A fat binary with these entries, in this order. Each text of PTX that is not bare gets a first line,
 * the remark, that says what it is, for readers that expect machine code. *size bytes, a
 * multiple of 8, which the caller frees with mr_free(); NULL when memory is
 * short. Any thread.
 */
unsigned char *mr_ptx_pack(const struct mr_ptx_pack_entry *entries, size_t count, size_t *size);

#endif
