/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writes fat binaries; container.c tells the bytes. To Millrace's driver such a
 * container is a module. To any other tool it says what it is: entries by the
 * name that the caller chose.
 */
#include "ptx/pack.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "ptx/container.h"

#define HEADER_MAGIC 0xba55ed50u
#define HEADER_SIZE 16u
#define ENTRY_SIZE 64u
#define NAME_ROOM 16u /* at least */
#define ZSTD_LEVEL 9

static const char remark[] =
    "// PTX text from Millrace in place of machine code: the driver compiles it when it is loaded.\n";

static unsigned char *number(unsigned char *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *at++ = (unsigned char)(value >> (8 * i));
    return at;
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

/* An entry's bytes as they are written, packed or not. */
struct body {
    char *bytes;        /* ours, of `room` bytes, zero behind `size` */
    size_t size, room;  /* room: of the container */
    size_t full;        /* 0: not packed */
    uint64_t flag;
};

static size_t up_to_8(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* Packs the body if that makes it smaller. False when memory is short. */
static bool pack_body(struct body *body, enum mr_ptx_packing packing)
{
    bool lz4 = packing == MR_PTX_PACKING_LZ4;
    if (packing == MR_PTX_PACKING_NONE || body->size > INT32_MAX)
        return true;
    size_t most = lz4 ? (size_t)LZ4_compressBound((int)body->size) : ZSTD_compressBound(body->size), got;
    char *packed = mr_calloc(1, up_to_8(most));
    if (!packed)
        return false;
    if (lz4)
        got = (size_t)LZ4_compress_default(body->bytes, packed, (int)body->size, (int)most);
    else
        got = ZSTD_compress(packed, most, body->bytes, body->size, ZSTD_LEVEL);
    if (got == 0 || ZSTD_isError(got) || up_to_8(got) >= body->room) {
        mr_free(packed);
        return true;
    }
    mr_free(body->bytes);
    *body = (struct body){.bytes = packed,
                          .size = got,
                          .room = up_to_8(got),
                          .full = body->size,
                          .flag = lz4 ? MR_PTX_ENTRY_LZ4 : MR_PTX_ENTRY_ZSTD};
    return true;
}

/* Text ends in a NUL, also when it is packed. */
static bool make_body(const struct mr_ptx_pack_entry *entry, struct body *body)
{
    size_t before = entry->bare || entry->machine ? 0 : sizeof remark - 1;
    body->size = before + entry->length + !entry->machine;
    body->room = up_to_8(body->size);
    body->bytes = mr_calloc(1, body->room + 8);
    if (!body->bytes)
        return false;
    memcpy(body->bytes, remark, before);
    memcpy(body->bytes + before, entry->text, entry->length);
    return pack_body(body, entry->packing);
}

static void write_entry(struct mr_text *out, const struct mr_ptx_pack_entry *entry, const struct body *body)
{
    unsigned long major = 0, minor = 0;
    size_t name_length = entry->name ? strlen(entry->name) : 0, name_room = up_to_8(name_length + 1);
    size_t options_length = entry->options ? strlen(entry->options) : 0;
    name_room = name_room < NAME_ROOM ? NAME_ROOM : name_room;
    size_t options_at = options_length ? ENTRY_SIZE + name_room : 0;
    size_t size = ENTRY_SIZE + name_room + (options_length ? 8 + up_to_8(options_length + 1) : 0);
    unsigned char *head = mr_calloc(1, size), *at = head;
    if (!head) {
        out->failed = true;
        return;
    }
    if (!entry->machine)
        read_version(entry, &major, &minor);
    at = number(at, entry->machine ? MR_PTX_ENTRY_ELF : MR_PTX_ENTRY_PTX, 2);
    at = number(at, 0x101, 2);
    at = number(at, size, 4);
    at = number(at, body->room, 8);
    at = number(at, body->full ? body->size : 0, 4);
    at = number(at, options_at, 4);
    at = number(at, minor, 2);
    at = number(at, major, 2);
    at = number(at, entry->capability, 4);
    at = number(at, name_length ? ENTRY_SIZE : 0, 4);
    at = number(at, name_length, 4);
    at = number(at, MR_PTX_ENTRY_64_BIT | MR_PTX_ENTRY_LINUX | (entry->debug ? MR_PTX_ENTRY_DEBUG : 0) | body->flag, 8);
    at = number(at, 0, 8);
    number(at, body->full, 8);
    if (name_length)
        memcpy(head + ENTRY_SIZE, entry->name, name_length);
    if (options_length) {
        number(number(head + options_at, options_at + 8, 4), options_length, 4);
        memcpy(head + options_at + 8, entry->options, options_length);
    }
    mr_text_add(out, (const char *)head, size);
    mr_text_add(out, body->bytes, body->room);
    mr_free(head);
}

unsigned char *mr_ptx_pack(const struct mr_ptx_pack_entry *entries, size_t count, size_t *size)
{
    struct mr_text all = {.data = NULL};
    unsigned char head[HEADER_SIZE] = {0};
    mr_text_add(&all, (const char *)head, sizeof head);
    for (size_t i = 0; i < count && !all.failed; i++) {
        struct body body = {.bytes = NULL};
        if (make_body(&entries[i], &body))
            write_entry(&all, &entries[i], &body);
        else
            all.failed = true;
        mr_free(body.bytes);
    }
    if (all.failed) {
        mr_text_clear(&all);
        return NULL;
    }
    number(number(number(number((unsigned char *)all.data, HEADER_MAGIC, 4), 1, 2), HEADER_SIZE, 2),
           all.length - HEADER_SIZE, 8);
    *size = all.length;
    return (unsigned char *)all.data;
}
