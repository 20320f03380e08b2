/* SPDX-License-Identifier: Apache-2.0 */
/* How a fat binary lies in a host object: what the C files that fatbinary writes refer to. The runtime library finds
 * the wrapper by its address, other tools by the names of the sections. */
#ifndef fatbinary_section_INCLUDED
#define fatbinary_section_INCLUDED

#define FATBINC_MAGIC 0x466243B1
#define FATBINC_VERSION 1        /* the last field is not used */
#define FATBINC_LINK_VERSION 2   /* the last field leads to the fat binaries that were linked */
#define FATBIN_CONTROL_SECTION_NAME ".nvFatBinSegment"
#define FATBIN_DATA_SECTION_NAME ".nv_fatbin"
#define FATBIN_PRELINK_DATA_SECTION_NAME "__nv_relfatbin"

typedef struct {
    int magic;
    int version;
    const unsigned long long *data;
    void *filename_or_fatbins;
} __fatBinC_Wrapper_t;

#endif
