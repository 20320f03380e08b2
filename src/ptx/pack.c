/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writes fat binaries; container.c tells the bytes. To Millrace's driver such a
 * container is a module. To any other tool it says what it is: entries of PTX, by
 * the name that the caller chose, and no machine code.
 */
#include "ptx/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HEADER_MAGIC 0xba55ed50u
#define HEADER_SIZE 16u
#define ENTRY_SIZE 64u
#define NAME_ROOM 16u
#define FLAGS 0x11u /* 64 bits, Linux */

static const char remark[] =
    "// PTX text from Millrace in place of machine code: the driver compiles it when it is loaded.\n";

static unsigned char *number(unsigned char *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

static size_t padded(const struct mr_ptx_pack_entry *entry)
{
    return (entry->length + sizeof remark - 1 + 1 + 7) / 8 * 8;
}

/* The PTX version that the text states; 0.0 if it states none. */
static void read_version(const struct mr_ptx_pack_entry *entry, unsigned long *major, unsigned long *minor)
{
    static const char word[] = ".version ";
    char digits[16] = "", *end = NULL;
    const char *found = memmem(entry->text, entry->length, word, sizeof word - 1);
    *major = *minor = 0;
    if (!found)
        return;
    found += sizeof word - 1;
    size_t rest = entry->length - (size_t)(found - entry->text);
    memcpy(digits, found, rest < sizeof digits - 1 ? rest : sizeof digits - 1);
    *major = strtoul(digits, &end, 10);
    *minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
}

static unsigned char *write_entry(unsigned char *at, const struct mr_ptx_pack_entry *entry)
{
    unsigned long major, minor;
    size_t name_length = entry->name ? strnlen(entry->name, NAME_ROOM - 1) : 0;
    read_version(entry, &major, &minor);
    at = number(at, 1, 2); /* PTX */
    at = number(at, 0x101, 2);
    at = number(at, ENTRY_SIZE + NAME_ROOM, 4);
    at = number(at, padded(entry), 8);
    at = number(at, 0, 4); /* not compressed */
    at = number(at, 0, 4);
    at = number(at, minor, 2);
    at = number(at, major, 2);
    at = number(at, entry->capability, 4);
    at = number(at, name_length ? ENTRY_SIZE : 0, 4);
    at = number(at, name_length, 4);
    at = number(at, FLAGS, 8);
    at = number(at, 0, 8);
    at = number(at, 0, 8);
    if (name_length)
        memcpy(at, entry->name, name_length);
    at += NAME_ROOM;
    memcpy(at, remark, sizeof remark - 1);
    memcpy(at + sizeof remark - 1, entry->text, entry->length);
    return at + padded(entry);
}

unsigned char *mr_ptx_pack(const struct mr_ptx_pack_entry *entries, size_t count, size_t *size)
{
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += ENTRY_SIZE + NAME_ROOM + padded(&entries[i]);
    unsigned char *bytes = mr_calloc(1, HEADER_SIZE + room), *at = bytes;
    if (!bytes)
        return NULL;
    at = number(at, HEADER_MAGIC, 4);
    at = number(at, 1, 2);
    at = number(at, HEADER_SIZE, 2);
    at = number(at, room, 8);
    for (size_t i = 0; i < count; i++)
        at = write_entry(at, &entries[i]);
    *size = HEADER_SIZE + room;
    return bytes;
}
