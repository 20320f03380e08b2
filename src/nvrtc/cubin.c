/* SPDX-License-Identifier: Apache-2.0 */
/* The container that a program gets when it asks for a cubin: a fat binary (see ptx/container.c for the bytes) with one entry, the PTX.
 *
 * Millrace's driver loads it. To any other tool it says what it is: an entry of PTX for this architecture, by the name "millrace-ptx", and no
 * machine code; the PTX begins with a comment to the same effect. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc/program.h"

#define HEADER_MAGIC 0xba55ed50u
#define HEADER_SIZE 16u
#define ENTRY_SIZE 64u
#define NAME_ROOM 16u
#define FLAGS 0x11u   /* 64 bits, Linux */

static const char entry_name[NAME_ROOM] = "millrace-ptx";
static const char remark[] = "// PTX text from Millrace in place of machine code: the driver compiles it when it is loaded.\n";

static void number(struct mr_text *text, uint64_t value, unsigned size)
{
    char bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (char)(value >> (8 * i));
    mr_text_add(text, bytes, size);
}

void mr_cubin_make(struct mr_text *cubin, const struct mr_text *ptx, unsigned capability)
{
    size_t size = ptx->length + sizeof remark - 1, padded = (size + 1 + 7) / 8 * 8;
    const char *version = strstr(mr_text_chars(ptx), ".version ");
    char *end = NULL;
    unsigned long major = version ? strtoul(version + 9, &end, 10) : 0, minor = end && *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    number(cubin, HEADER_MAGIC, 4);
    number(cubin, 1, 2);
    number(cubin, HEADER_SIZE, 2);
    number(cubin, ENTRY_SIZE + NAME_ROOM + padded, 8);
    number(cubin, 1, 2);                       /* PTX */
    number(cubin, 0x101, 2);
    number(cubin, ENTRY_SIZE + NAME_ROOM, 4);
    number(cubin, padded, 8);
    number(cubin, 0, 4);                       /* not compressed */
    number(cubin, 0, 4);
    number(cubin, minor, 2);
    number(cubin, major, 2);
    number(cubin, capability, 4);
    number(cubin, ENTRY_SIZE, 4);              /* the name */
    number(cubin, strlen(entry_name), 4);
    number(cubin, FLAGS, 8);
    number(cubin, 0, 8);
    number(cubin, 0, 8);
    mr_text_add(cubin, entry_name, NAME_ROOM);
    mr_text_put(cubin, remark);
    mr_text_put(cubin, mr_text_chars(ptx));
    static const char zeros[8] = { 0 };
    mr_text_add(cubin, zeros, padded - size);
}
