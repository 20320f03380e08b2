/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ELF64 and ar, as far as finding device code needs them. Fat binaries are in the
 * section .nv_fatbin; those that were compiled to be linked with others are in
 * __nv_relfatbin. A section may hold several, each at a multiple of 8.
 */
#include "ptx/host_object.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_MAGIC 0xba55ed50u
#define CONTAINER_HEADER 16u

struct walk {
    const struct mr_ptx_object_visitor *visitor;
    bool ended;
};

static const char archive_magic[] = "!<arch>\n";

/* The `size` bytes at `offset` of the object, or NULL if they are not all there. */
static const unsigned char *part(const unsigned char *data, size_t room, uint64_t offset, uint64_t size)
{
    return offset <= room && size <= room - offset ? data + offset : NULL;
}

static void visit_section(struct walk *walk, const unsigned char *data, size_t size, bool relocatable)
{
    size_t at = 0;
    while (!walk->ended && size - at >= CONTAINER_HEADER) {
        uint32_t magic;
        uint16_t head;
        uint64_t body;
        memcpy(&magic, data + at, sizeof magic);
        memcpy(&head, data + at + 6, sizeof head);
        memcpy(&body, data + at + 8, sizeof body);
        if (magic != CONTAINER_MAGIC) { /* padding */
            at += 8;
            continue;
        }
        if (head > size - at || body > size - at - head)
            return;
        walk->ended = !walk->visitor->container(walk->visitor->user, data + at, (size_t)(head + body), relocatable);
        at += (head + body + 7) / 8 * 8;
        if (at > size)
            return;
    }
}

/* The NUL-ended string at `offset` of a string table, or NULL. */
static const char *string_at(const unsigned char *table, uint64_t size, uint64_t offset)
{
    if (!table || offset >= size || !memchr(table + offset, 0, size - offset))
        return NULL;
    return (const char *)table + offset;
}

static bool visit_symbols(struct walk *walk, const unsigned char *data, size_t room, const Elf64_Shdr *symbols,
                          const Elf64_Shdr *strings)
{
    const unsigned char *table = part(data, room, symbols->sh_offset, symbols->sh_size);
    const unsigned char *names = part(data, room, strings->sh_offset, strings->sh_size);
    if (!table || !names || symbols->sh_entsize != sizeof(Elf64_Sym))
        return false;
    for (uint64_t i = 1; i < symbols->sh_size / sizeof(Elf64_Sym) && !walk->ended; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, table + i * sizeof symbol, sizeof symbol);
        const char *name = string_at(names, strings->sh_size, symbol.st_name);
        if (!name)
            return false;
        if (symbol.st_shndx == SHN_UNDEF && *name)
            walk->ended = !walk->visitor->needed(walk->visitor->user, name);
    }
    return true;
}

static bool read_section(const unsigned char *data, size_t room, const Elf64_Ehdr *head, uint64_t number,
                         Elf64_Shdr *section)
{
    const unsigned char *at =
        number < head->e_shnum ? part(data, room, head->e_shoff + number * sizeof *section, sizeof *section) : NULL;
    if (at)
        memcpy(section, at, sizeof *section);
    return at != NULL;
}

static enum mr_ptx_object_status visit_object(struct walk *walk, const unsigned char *data, size_t room)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, section, strings;
    if (room < sizeof head)
        return MR_PTX_OBJECT_DAMAGED;
    memcpy(&head, data, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return MR_PTX_OBJECT_UNKNOWN;
    if (head.e_shnum == 0) /* no sections: nothing to find */
        return MR_PTX_OBJECT_OK;
    if (head.e_shentsize != sizeof section || head.e_shoff > room ||
        !read_section(data, room, &head, head.e_shstrndx, &names))
        return MR_PTX_OBJECT_DAMAGED;
    const unsigned char *table = part(data, room, names.sh_offset, names.sh_size);
    for (uint64_t i = 0; i < head.e_shnum && !walk->ended; i++) {
        if (!read_section(data, room, &head, i, &section))
            return MR_PTX_OBJECT_DAMAGED;
        const char *name = string_at(table, names.sh_size, section.sh_name);
        const unsigned char *bytes =
            section.sh_type == SHT_NOBITS ? NULL : part(data, room, section.sh_offset, section.sh_size);
        if (!name || (!bytes && section.sh_type != SHT_NOBITS))
            return MR_PTX_OBJECT_DAMAGED;
        bool whole = strcmp(name, ".nv_fatbin") == 0, relocatable = strcmp(name, "__nv_relfatbin") == 0;
        if (walk->visitor->container && bytes && (whole || relocatable))
            visit_section(walk, bytes, section.sh_size, relocatable);
        if (walk->visitor->needed && section.sh_type == SHT_SYMTAB &&
            (!read_section(data, room, &head, section.sh_link, &strings) ||
             !visit_symbols(walk, data, room, &section, &strings)))
            return MR_PTX_OBJECT_DAMAGED;
    }
    return MR_PTX_OBJECT_OK;
}

static bool is_elf(const unsigned char *data, size_t size)
{
    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

/* Tells a member's name: up to a slash in the header's first 16 characters, or "/" and a place in the member "//". */
static void tell_member(const struct walk *walk, const unsigned char *head, const unsigned char *names,
                        size_t names_size)
{
    char field[17] = "", *end;
    const char *name = field;
    size_t length;
    memcpy(field, head, 16);
    length = strcspn(field, "/ ");
    if (field[0] == '/') {
        unsigned long place = strtoul(field + 1, &end, 10);
        if (end == field + 1 || place >= names_size)
            return;
        name = (const char *)names + place;
        for (length = 0; length < names_size - place && name[length] != '\n'; length++)
            continue;
        length -= length > 0 && name[length - 1] == '/';
    }
    walk->visitor->member(walk->visitor->user, name, length);
}

/* Members: a header of 60 characters, whose size is in decimal at 48, and the bytes, padded to 2. */
static enum mr_ptx_object_status visit_archive(struct walk *walk, const unsigned char *data, size_t size)
{
    size_t at = sizeof archive_magic - 1, names_size = 0;
    const unsigned char *names = NULL;
    while (!walk->ended && at < size) {
        char digits[11] = "", *end;
        if (size - at < 60 || memcmp(data + at + 58, "`\n", 2) != 0)
            return MR_PTX_OBJECT_DAMAGED;
        memcpy(digits, data + at + 48, 10);
        unsigned long length = strtoul(digits, &end, 10);
        at += 60;
        if (end == digits || *digits == '-' || length > size - at)
            return MR_PTX_OBJECT_DAMAGED;
        if (memcmp(data + at - 60, "// ", 3) == 0) {
            names = data + at;
            names_size = length;
        }
        if (is_elf(data + at, length)) {
            if (walk->visitor->member)
                tell_member(walk, data + at - 60, names, names_size);
            enum mr_ptx_object_status status = visit_object(walk, data + at, length);
            if (status == MR_PTX_OBJECT_DAMAGED)
                return status;
        }
        at += length + (length & 1);
    }
    return MR_PTX_OBJECT_OK;
}

static bool is_archive(const unsigned char *data, size_t size)
{
    return size >= sizeof archive_magic - 1 && memcmp(data, archive_magic, sizeof archive_magic - 1) == 0;
}

bool mr_ptx_object_is(const void *data, size_t size)
{
    return is_elf(data, size) || is_archive(data, size);
}

enum mr_ptx_object_status mr_ptx_object_visit(const void *data, size_t size,
                                              const struct mr_ptx_object_visitor *visitor)
{
    struct walk walk = {.visitor = visitor};
    if (is_archive(data, size))
        return visit_archive(&walk, data, size);
    return is_elf(data, size) ? visit_object(&walk, data, size) : MR_PTX_OBJECT_UNKNOWN;
}
