/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reads fat binaries. The format is not documented; what stands here was learnt
 * by making containers of known contents and looking at their bytes. All numbers
 * are little-endian, and nothing is aligned for sure.
 *
 *   wrapper   u32 magic 0x466243b1, u32 version, pointer to header, pointer
 *   header    u32 magic 0xba55ed50, u16 version 1, u16 size of this header,
 *             u64 size of all entries behind it
 *   entry     u16 kind (1 PTX, 2 ELF), u16 version, u32 size of this header,
 *             u64 size of the data behind it (padded to 8),
 *             u32 size while compressed (0: not compressed), u32 place of options,
 *             u16 minor and u16 major of the PTX version, u32 target (80),
 *             u32 place and u32 length of a name, u64 flags, u64 zero,
 *             u64 size after decompression
 *
 * Flag 0x2000 says LZ4 (one raw block), 0x8000 says Zstandard (one frame).
 * Uncompressed PTX is padded with NULs, which end the text.
 */
#include "ptx/container.h"

#include <lz4.h>
#include <stdbool.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mapped.h"

#define WRAPPER_MAGIC 0x466243b1u
#define HEADER_MAGIC 0xba55ed50u
#define HEADER_SIZE 16u
#define ENTRY_SIZE 64u
#define TEXT_MAX (UINT64_C(1) << 28) /* bytes after decompression */
#define SMALLEST_PAGE 4096u
#define LZ4_RATIO_MAX 256u           /* what the format can reach, and more */

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *more;
};

static uint64_t read_number(const unsigned char *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static bool is_text_byte(unsigned char byte)
{
    return (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t' || byte == '\f' ||
           byte == '\v';
}

enum mr_ptx_image_kind mr_ptx_image_kind_find(const void *image, size_t size)
{
    const unsigned char *bytes = image;
    size_t count = 0;
    while (count < 4 && count < size && is_text_byte(bytes[count]))
        count++;
    if (count > 0 && (count == 4 || count == size || bytes[count] == '\0'))
        return MR_PTX_IMAGE_TEXT;
    if (size < 4)
        return MR_PTX_IMAGE_UNKNOWN;
    /* No form but text begins with a NUL or has one in its magic, so the bytes
     * of an image of unknown size are there up to the first that differs. */
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    static const unsigned char wrapper[4] = {0xb1, 0x43, 0x62, 0x46};
    static const unsigned char header[4] = {0x50, 0xed, 0x55, 0xba};
    static const struct {
        const unsigned char *magic;
        enum mr_ptx_image_kind kind;
    } forms[] = {{elf, MR_PTX_IMAGE_ELF}, {wrapper, MR_PTX_IMAGE_WRAPPER}, {header, MR_PTX_IMAGE_FATBIN}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t same = 0;
        while (same < 4 && bytes[same] == forms[i].magic[same])
            same++;
        if (same == 4)
            return forms[i].kind;
    }
    return MR_PTX_IMAGE_UNKNOWN;
}

static enum mr_ptx_container_status refuse(enum mr_ptx_container_status status, const char *reason)
{
    mr_log(MR_LOG_INFO, "module image: %s", reason);
    return status;
}

/* The text whose place and length in the entry's header are at `field`; NULL if there is none. */
static const char *header_text(const unsigned char *at, uint64_t head, uint64_t field, size_t *length)
{
    *length = 0;
    if (field > head - 8)
        return NULL;
    uint64_t place = read_number(at + field, 4), size = read_number(at + field + 4, 4);
    if (place == 0 || size == 0 || place > head || size > head - place)
        return NULL;
    *length = (size_t)size;
    return (const char *)at + place;
}

/* Reads the entry at `at`; false if it does not fit in the `room` bytes there.
 * *taken is the room that it takes. */
static bool read_entry(const unsigned char *at, uint64_t room, struct mr_ptx_container_entry *entry, uint64_t *taken)
{
    if (room < ENTRY_SIZE)
        return false;
    uint64_t head = read_number(at + 4, 4), size = read_number(at + 8, 8);
    uint64_t compressed = read_number(at + 16, 4);
    if (head < ENTRY_SIZE || head > room || size > room - head || compressed > size)
        return false;
    entry->kind = (uint32_t)read_number(at, 2);
    entry->minor = (unsigned)read_number(at + 24, 2);
    entry->major = (unsigned)read_number(at + 26, 2);
    entry->target = (uint32_t)read_number(at + 28, 4);
    entry->name = header_text(at, head, 32, &entry->name_length);
    uint64_t options = read_number(at + 20, 4);
    entry->options = options ? header_text(at, head, options, &entry->options_length) : NULL;
    if (!entry->options)
        entry->options_length = 0;
    entry->flags = read_number(at + 40, 8);
    entry->full_size = read_number(at + 56, 8);
    entry->data = at + head;
    entry->size = entry->flags & MR_PTX_ENTRY_COMPRESSED && compressed ? compressed : size;
    *taken = head + size;
    return true;
}

/* Decompresses into fresh memory. */
static enum mr_ptx_container_status unpack(const struct mr_ptx_container_entry *entry, struct mr_ptx_text *out)
{
    bool lz4 = entry->flags & MR_PTX_ENTRY_LZ4;
    uint64_t full = entry->full_size;
    if (full == 0 || full > TEXT_MAX || (lz4 && full / LZ4_RATIO_MAX > entry->size))
        return refuse(MR_PTX_CONTAINER_INVALID, "the size of compressed PTX is not plausible");
    if (!lz4) {
        unsigned long long told = ZSTD_getFrameContentSize(entry->data, entry->size);
        if (told == ZSTD_CONTENTSIZE_ERROR || (told != ZSTD_CONTENTSIZE_UNKNOWN && told > full))
            return refuse(MR_PTX_CONTAINER_INVALID, "compressed PTX is damaged");
    }
    char *text = mr_alloc(full);
    if (!text)
        return refuse(MR_PTX_CONTAINER_NO_MEMORY, "out of memory");
    bool good;
    size_t length = 0;
    if (lz4) {
        int result = LZ4_decompress_safe((const char *)entry->data, text, (int)entry->size, (int)full);
        good = result >= 0;
        length = good ? (size_t)result : 0;
    } else {
        length = ZSTD_decompress(text, full, entry->data, entry->size);
        good = !ZSTD_isError(length);
    }
    if (!good) {
        mr_free(text);
        return refuse(MR_PTX_CONTAINER_INVALID, "compressed PTX is damaged");
    }
    *out = (struct mr_ptx_text){.text = text, .length = length, .owned = text};
    return MR_PTX_CONTAINER_OK;
}

/* May the program read these bytes, of which the first is there? A range that ends in the page in which it begins is
 * there for sure, whatever the size of pages. */
static bool is_there(const unsigned char *bytes, uint64_t size)
{
    uintptr_t start = (uintptr_t)bytes;
    return size <= SIZE_MAX - start &&
           ((start ^ (start + size)) < SMALLEST_PAGE || mr_mapped_allows(start, size, false));
}

/* Whether all of a fat binary is there, of the size in its own header: a damaged header may tell of more. */
static bool all_is_there(const unsigned char *image)
{
    if (!is_there(image, HEADER_SIZE))
        return false;
    uint64_t head = read_number(image + 6, 2), room = read_number(image + 8, 8);
    return room <= UINT64_MAX - head && is_there(image, head + room);
}

enum mr_ptx_container_status mr_ptx_container_visit(const void *image, size_t size, void *user,
                                                    bool (*see)(void *user, const struct mr_ptx_container_entry *entry))
{
    const unsigned char *at = image;
    if (size < HEADER_SIZE)
        return refuse(MR_PTX_CONTAINER_INVALID, "fat binary is cut short");
    uint64_t head = read_number(at + 6, 2), room = read_number(at + 8, 8);
    if (read_number(at, 4) != HEADER_MAGIC || head < HEADER_SIZE || head > size || room > size - head)
        return refuse(MR_PTX_CONTAINER_INVALID, "fat binary has a damaged header, or is cut short");
    at += head;
    struct mr_ptx_container_entry entry;
    for (uint64_t taken; room > 0; at += taken, room -= taken) {
        if (!read_entry(at, room, &entry, &taken))
            return refuse(MR_PTX_CONTAINER_INVALID, "fat binary has a damaged entry");
        if (!see(user, &entry))
            break;
    }
    return MR_PTX_CONTAINER_OK;
}

enum mr_ptx_container_status mr_ptx_container_unpack(const struct mr_ptx_container_entry *entry,
                                                     struct mr_ptx_text *out)
{
    *out = (struct mr_ptx_text){0};
    if (entry->flags & MR_PTX_ENTRY_COMPRESSED && entry->size > INT32_MAX)
        return refuse(MR_PTX_CONTAINER_INVALID, "compressed PTX is too large");
    if (entry->flags & MR_PTX_ENTRY_COMPRESSED) {
        enum mr_ptx_container_status status = unpack(entry, out);
        if (status != MR_PTX_CONTAINER_OK)
            return status;
    } else {
        *out = (struct mr_ptx_text){.text = (const char *)entry->data, .length = entry->size};
    }
    if (entry->kind == MR_PTX_ENTRY_PTX)
        out->length = strnlen(out->text, out->length);
    return MR_PTX_CONTAINER_OK;
}

/* The search for the PTX that suits a device. */
struct search {
    struct mr_ptx_container_entry best;
    bool found;
    uint32_t capability, lowest; /* lowest: of the newer ones */
    unsigned binaries, newer;
};

static bool consider(void *user, const struct mr_ptx_container_entry *entry)
{
    struct search *search = user;
    if (entry->kind != MR_PTX_ENTRY_PTX) {
        search->binaries++;
    } else if (entry->target > search->capability) {
        search->newer++;
        search->lowest = search->lowest && search->lowest < entry->target ? search->lowest : entry->target;
    } else if (!search->found || entry->target > search->best.target) {
        search->best = *entry;
        search->found = true;
    }
    return true;
}

static enum mr_ptx_container_status read_fatbin(const unsigned char *image, size_t size, uint32_t capability,
                                                struct mr_ptx_text *out)
{
    struct search search = {.capability = capability};
    if (size == MR_PTX_SIZE_UNKNOWN && !all_is_there(image))
        return refuse(MR_PTX_CONTAINER_INVALID, "fat binary is cut short");
    enum mr_ptx_container_status status = mr_ptx_container_visit(image, size, &search, consider);
    if (status != MR_PTX_CONTAINER_OK)
        return status;
    if (search.found)
        return mr_ptx_container_unpack(&search.best, out);
    mr_log(MR_LOG_INFO,
           "module image: fat binary has no PTX for compute capability %u.%u "
           "(%u entries of machine code, %u of PTX for newer devices)",
           capability / 10, capability % 10, search.binaries, search.newer);
    out->newer = search.lowest;
    return MR_PTX_CONTAINER_NO_BINARY;
}

enum mr_ptx_container_status mr_ptx_container_read(const void *image, size_t size, uint32_t capability,
                                                   struct mr_ptx_text *out)
{
    *out = (struct mr_ptx_text){0};
    switch (mr_ptx_image_kind_find(image, size)) {
    case MR_PTX_IMAGE_TEXT:
        out->text = image;
        out->length = size == MR_PTX_SIZE_UNKNOWN ? strlen(image) : size;
        return MR_PTX_CONTAINER_OK;
    case MR_PTX_IMAGE_ELF:
        return refuse(MR_PTX_CONTAINER_NO_BINARY,
                      "machine code for another device (ELF); Millrace runs PTX, so compile to PTX instead");
    case MR_PTX_IMAGE_FATBIN:
        return read_fatbin(image, size, capability, out);
    case MR_PTX_IMAGE_WRAPPER: {
        struct wrapper wrapper;
        if (size < sizeof wrapper)
            return refuse(MR_PTX_CONTAINER_INVALID, "fat binary wrapper is cut short");
        memcpy(&wrapper, image, sizeof wrapper);
        if (!wrapper.data || !mr_mapped_allows((uintptr_t)wrapper.data, HEADER_SIZE, false) ||
            mr_ptx_image_kind_find(wrapper.data, MR_PTX_SIZE_UNKNOWN) != MR_PTX_IMAGE_FATBIN)
            return refuse(MR_PTX_CONTAINER_INVALID, "fat binary wrapper points to no fat binary");
        return read_fatbin(wrapper.data, MR_PTX_SIZE_UNKNOWN, capability, out);
    }
    default:
        return refuse(MR_PTX_CONTAINER_INVALID, "neither PTX text nor a fat binary");
    }
}

void mr_ptx_text_free(struct mr_ptx_text *text)
{
    if (!text)
        return;
    mr_free(text->owned);
    *text = (struct mr_ptx_text){0};
}
