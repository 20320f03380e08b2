/* SPDX-License-Identifier: Apache-2.0 */
/* The object loader. (System V ABI, ELF-64 object files; its x86-64 supplement for the relocations.)
 *
 * Three passes over the section table: read and check, place, relocate. Everything goes into one mapping: code first,
 * then stubs and addresses that the relocations ask for, then read-only data on pages of its own. The mapping is
 * writable while it is filled in; then its code part is made executable and all of it read-only. Sections that would
 * have to stay writable are refused: a kernel has no state of its own.
 *
 * Undefined symbols are refused too, except for the functions in library_calls.def. */
#include "compile/loader.h"

#include <elf.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/note.h"
#include "base/alloc.h"

#define OBJECT_MAX (256u << 20)
#define ALIGN_MAX 4096u
#define PAGE 4096u            /* if the system does not say */
#define STUB_BYTES 16u
#define NOT_LOADED SIZE_MAX
#define NO_SLOT UINT32_MAX

struct loading {
    const unsigned char *file;
    size_t size;
    Elf64_Ehdr header;
    const unsigned char *section_table;
    unsigned section_count;
    size_t *offsets;             /* of each section in the mapping, or NOT_LOADED */
    const unsigned char *symbols;
    size_t symbol_count;
    const char *strings;
    size_t strings_size;
    uint32_t *slots;             /* per symbol: its place among the stubs, or NO_SLOT */
    uint32_t slot_count;
    size_t stubs_offset, data_offset, total;
    size_t page;
    unsigned char *map;
    bool no_memory;
    char *why;
    size_t room;
};

static bool refuse(struct loading *loading, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct loading *loading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (loading->room)
        vsnprintf(loading->why, loading->room, format, arguments);
    va_end(arguments);
    return false;
}

static bool in_file(const struct loading *loading, uint64_t offset, uint64_t bytes)
{
    return offset <= loading->size && bytes <= loading->size - offset;
}

static Elf64_Shdr section_at(const struct loading *loading, unsigned index)
{
    Elf64_Shdr section;
    memcpy(&section, loading->section_table + (size_t)index * sizeof section, sizeof section);
    return section;
}

static Elf64_Sym symbol_at(const struct loading *loading, size_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, loading->symbols + index * sizeof symbol, sizeof symbol);
    return symbol;
}

static bool read_header(struct loading *loading)
{
    Elf64_Ehdr *header = &loading->header;
    if (loading->size < sizeof *header || loading->size > OBJECT_MAX)
        return refuse(loading, "the object has %zu bytes", loading->size);
    memcpy(header, loading->file, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_REL)
        return refuse(loading, "not a relocatable 64-bit ELF object");
#if defined(__x86_64__)
    if (header->e_machine != EM_X86_64)
        return refuse(loading, "an object for another machine (%u)", header->e_machine);
#else
    return refuse(loading, "loading objects for this machine is not supported yet");
#endif
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0 ||
        !in_file(loading, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return refuse(loading, "a section table outside of the file");
    loading->section_table = loading->file + header->e_shoff;
    loading->section_count = header->e_shnum;
    return true;
}

static bool read_symbols(struct loading *loading)
{
    for (unsigned i = 1; i < loading->section_count; i++) {
        Elf64_Shdr section = section_at(loading, i);
        if (section.sh_type != SHT_SYMTAB)
            continue;
        if (loading->symbols)
            return refuse(loading, "two symbol tables");
        if (!in_file(loading, section.sh_offset, section.sh_size) || section.sh_link >= loading->section_count ||
            section.sh_entsize != sizeof(Elf64_Sym))
            return refuse(loading, "a broken symbol table");
        Elf64_Shdr strings = section_at(loading, section.sh_link);
        if (strings.sh_type != SHT_STRTAB || !in_file(loading, strings.sh_offset, strings.sh_size) ||
            strings.sh_size == 0 || loading->file[strings.sh_offset + strings.sh_size - 1] != '\0')
            return refuse(loading, "a broken string table");
        loading->symbols = loading->file + section.sh_offset;
        loading->symbol_count = section.sh_size / sizeof(Elf64_Sym);
        loading->strings = (const char *)loading->file + strings.sh_offset;
        loading->strings_size = strings.sh_size;
    }
    return loading->symbols ? true : refuse(loading, "no symbol table");
}

/* True for what a program needs at run time: code and data, but neither notes nor unwind tables. */
static bool is_wanted(const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_ALLOC) && (section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOBITS) &&
           section->sh_size > 0;
}

static const char *section_name(const struct loading *loading, const Elf64_Shdr *section)
{
    unsigned index = loading->header.e_shstrndx;
    if (index >= loading->section_count)
        return "";
    Elf64_Shdr names = section_at(loading, index);
    if (names.sh_type != SHT_STRTAB || !in_file(loading, names.sh_offset, names.sh_size) ||
        section->sh_name >= names.sh_size || loading->file[names.sh_offset + names.sh_size - 1] != '\0')
        return "";
    return (const char *)loading->file + names.sh_offset + section->sh_name;
}

/* Gives every wanted section of one kind (code or data) its offset. */
static bool place_kind(struct loading *loading, bool code, size_t *at)
{
    for (unsigned i = 1; i < loading->section_count; i++) {
        Elf64_Shdr section = section_at(loading, i);
        if (!is_wanted(&section) || ((section.sh_flags & SHF_EXECINSTR) != 0) != code)
            continue;
        const char *name = section_name(loading, &section);
        if (strcmp(name, ".eh_frame") == 0)
            continue;
        /* Constant data with addresses in it is marked writable for a dynamic linker's sake. */
        if ((section.sh_flags & SHF_WRITE) && (code || strncmp(name, ".data.rel.ro", 12) != 0))
            return refuse(loading, "the writable section '%.40s'", name);
        if (section.sh_flags & SHF_TLS)
            return refuse(loading, "thread-local data");
        uint64_t align = section.sh_addralign ? section.sh_addralign : 1;
        if ((align & (align - 1)) != 0 || align > ALIGN_MAX)
            return refuse(loading, "a section aligned to %llu", (unsigned long long)align);
        if (section.sh_size > OBJECT_MAX ||
            (section.sh_type != SHT_NOBITS && !in_file(loading, section.sh_offset, section.sh_size)))
            return refuse(loading, "a section outside of the file");
        *at = (*at + align - 1) & ~(size_t)(align - 1);
        loading->offsets[i] = *at;
        *at += section.sh_size;
        if (*at > OBJECT_MAX)
            return refuse(loading, "sections of more than %u bytes", OBJECT_MAX);
    }
    return true;
}

/* The relocations of a loaded section, if this is such a section; *count is 0 otherwise. */
static bool relocations_of(struct loading *loading, unsigned index, Elf64_Shdr *section, size_t *count)
{
    *section = section_at(loading, index);
    *count = 0;
    if ((section->sh_type != SHT_RELA && section->sh_type != SHT_REL) || section->sh_info >= loading->section_count ||
        loading->offsets[section->sh_info] == NOT_LOADED)
        return true;
    if (section->sh_type == SHT_REL || section->sh_entsize != sizeof(Elf64_Rela) ||
        !in_file(loading, section->sh_offset, section->sh_size))
        return refuse(loading, "a broken relocation table");
    *count = section->sh_size / sizeof(Elf64_Rela);
    return true;
}

static Elf64_Rela relocation_at(const struct loading *loading, const Elf64_Shdr *section, size_t index)
{
    Elf64_Rela relocation;
    memcpy(&relocation, loading->file + section->sh_offset + index * sizeof relocation, sizeof relocation);
    return relocation;
}

static bool wants_slot(const struct loading *loading, const Elf64_Rela *relocation)
{
    switch (ELF64_R_TYPE(relocation->r_info)) {
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        return true;
    case R_X86_64_PLT32:
    case R_X86_64_PC32:
        return symbol_at(loading, ELF64_R_SYM(relocation->r_info)).st_shndx == SHN_UNDEF;
    default:
        return false;
    }
}

/* Counts the stubs: one for each symbol that is reached through an address in memory. */
static bool count_slots(struct loading *loading)
{
    for (size_t i = 0; i < loading->symbol_count; i++)
        loading->slots[i] = NO_SLOT;
    for (unsigned i = 1; i < loading->section_count; i++) {
        Elf64_Shdr section;
        size_t count;
        if (!relocations_of(loading, i, &section, &count))
            return false;
        for (size_t r = 0; r < count; r++) {
            Elf64_Rela relocation = relocation_at(loading, &section, r);
            size_t symbol = ELF64_R_SYM(relocation.r_info);
            if (symbol >= loading->symbol_count)
                return refuse(loading, "a relocation to symbol %zu of %zu", symbol, loading->symbol_count);
            if (wants_slot(loading, &relocation) && loading->slots[symbol] == NO_SLOT)
                loading->slots[symbol] = loading->slot_count++;
        }
    }
    return true;
}

static bool place_sections(struct loading *loading)
{
    size_t at = 0;
    for (unsigned i = 0; i < loading->section_count; i++)
        loading->offsets[i] = NOT_LOADED;
    if (!place_kind(loading, true, &at))
        return false;
    /* Data offsets are final only after the stubs are counted, which needs to know what is loaded. */
    size_t data = 0;
    if (!place_kind(loading, false, &data) || !count_slots(loading))
        return false;
    loading->stubs_offset = (at + 15) & ~(size_t)15;
    size_t code_end = loading->stubs_offset + (size_t)loading->slot_count * STUB_BYTES;
    loading->data_offset = (code_end + loading->page - 1) & ~(loading->page - 1);
    for (unsigned i = 1; i < loading->section_count; i++)
        if (loading->offsets[i] != NOT_LOADED && !(section_at(loading, i).sh_flags & SHF_EXECINSTR))
            loading->offsets[i] += loading->data_offset;
    /* The addresses behind the stubs follow the data. */
    loading->total =
        loading->data_offset + ((data + 15) & ~(size_t)15) + (size_t)loading->slot_count * sizeof(uint64_t);
    return true;
}

/* These convert between halves and other numbers, whose types not every compiler of C has; here only their addresses
 * are wanted. */
void __extendhfsf2(void);
void __truncsfhf2(void);
void __truncdfhf2(void);

static uint64_t library_address(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } calls[] = {
#define MR_LIBRARY_CALL(name) {#name, (void (*)(void))name},
#include "compile/library_calls.def"
#undef MR_LIBRARY_CALL
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(name, calls[i].name) == 0)
            return (uint64_t)(uintptr_t)calls[i].function;
    return 0;
}

static bool symbol_address(struct loading *loading, size_t index, uint64_t *address)
{
    Elf64_Sym symbol = symbol_at(loading, index);
    if (symbol.st_shndx == SHN_UNDEF) {
        const char *name = symbol.st_name < loading->strings_size ? loading->strings + symbol.st_name : "";
        *address = library_address(name);
        return *address ? true : refuse(loading, "the undefined symbol '%.60s'", name);
    }
    if (symbol.st_shndx == SHN_ABS) {
        *address = symbol.st_value;
        return true;
    }
    if (symbol.st_shndx >= loading->section_count || loading->offsets[symbol.st_shndx] == NOT_LOADED)
        return refuse(loading, "a symbol in section %u, which is not loaded", symbol.st_shndx);
    if (symbol.st_value > section_at(loading, symbol.st_shndx).sh_size)
        return refuse(loading, "a symbol past the end of its section");
    *address = (uint64_t)(uintptr_t)loading->map + loading->offsets[symbol.st_shndx] + symbol.st_value;
    return true;
}

static unsigned char *slot_stub(const struct loading *loading, uint32_t slot)
{
    return loading->map + loading->stubs_offset + (size_t)slot * STUB_BYTES;
}

static unsigned char *slot_address(const struct loading *loading, uint32_t slot)
{
    return loading->map + loading->total - (size_t)(loading->slot_count - slot) * sizeof(uint64_t);
}

/* A stub is `jmp *address(%rip)`; references to the address itself use only its second half. */
static bool fill_slots(struct loading *loading)
{
    for (size_t i = 0; i < loading->symbol_count && loading->slot_count; i++) {
        uint32_t slot = loading->slots[i];
        uint64_t address;
        if (slot == NO_SLOT)
            continue;
        if (!symbol_address(loading, i, &address))
            return false;
        unsigned char *stub = slot_stub(loading, slot), *place = slot_address(loading, slot);
        int32_t distance = (int32_t)(place - (stub + 6));
        stub[0] = 0xff;
        stub[1] = 0x25;
        memcpy(stub + 2, &distance, sizeof distance);
        memcpy(place, &address, sizeof address);
    }
    return true;
}

static bool apply(struct loading *loading, const Elf64_Rela *relocation, unsigned char *base, uint64_t section_size)
{
    unsigned type = ELF64_R_TYPE(relocation->r_info);
    size_t symbol = ELF64_R_SYM(relocation->r_info), width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
    if (type == R_X86_64_NONE)
        return true;
    if (relocation->r_offset > section_size || width > section_size - relocation->r_offset)
        return refuse(loading, "a relocation past the end of its section");
    unsigned char *place = base + relocation->r_offset;
    uint64_t target = 0, from = (uint64_t)(uintptr_t)place, value;
    uint32_t slot = loading->slots[symbol];
    switch (type) {
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        target = (uint64_t)(uintptr_t)slot_address(loading, slot);
        break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        if (symbol_at(loading, symbol).st_shndx == SHN_UNDEF) {
            target = (uint64_t)(uintptr_t)slot_stub(loading, slot);
            break;
        }
        /* fall through */
    case R_X86_64_64:
    case R_X86_64_PC64:
        if (!symbol_address(loading, symbol, &target))
            return false;
        break;
    default:
        return refuse(loading, "relocation type %u, which position-independent code does not need", type);
    }
    value = target + (uint64_t)relocation->r_addend - (type == R_X86_64_64 ? 0 : from);
    if (width == 4 && (int64_t)value != (int32_t)value)
        return refuse(loading, "a relocation that does not fit in 32 bits");
    memcpy(place, &value, width);
    return true;
}

static bool relocate(struct loading *loading)
{
    for (unsigned i = 1; i < loading->section_count; i++) {
        Elf64_Shdr section;
        size_t count;
        if (!relocations_of(loading, i, &section, &count))
            return false;
        unsigned char *base = count ? loading->map + loading->offsets[section.sh_info] : NULL;
        for (size_t r = 0; r < count; r++) {
            Elf64_Rela relocation = relocation_at(loading, &section, r);
            if (!apply(loading, &relocation, base, section_at(loading, section.sh_info).sh_size))
                return false;
        }
    }
    return true;
}

/* The named function; it must be inside code. */
static bool find_function(struct loading *loading, const char *name, void **address)
{
    for (size_t i = 1; i < loading->symbol_count; i++) {
        Elf64_Sym symbol = symbol_at(loading, i);
        if (symbol.st_name >= loading->strings_size || strcmp(loading->strings + symbol.st_name, name) != 0)
            continue;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= loading->section_count ||
            loading->offsets[symbol.st_shndx] == NOT_LOADED ||
            !(section_at(loading, symbol.st_shndx).sh_flags & SHF_EXECINSTR) ||
            symbol.st_value >= section_at(loading, symbol.st_shndx).sh_size)
            return refuse(loading, "the symbol '%.60s' is not a function", name);
        *address = loading->map + loading->offsets[symbol.st_shndx] + symbol.st_value;
        return true;
    }
    return refuse(loading, "no symbol '%.60s'", name);
}

/* Whether the table lies in the `room` bytes that are left of its section, and its names in the table. */
static bool is_table(const struct mr_sites *sites, size_t room)
{
    if (room < sizeof *sites || (uintptr_t)sites % _Alignof(struct mr_sites) != 0 || sites->size > room ||
        sites->size < sizeof *sites || sites->count > (sites->size - sizeof *sites) / sizeof sites->site[0])
        return false;
    size_t names = sizeof *sites + sites->count * sizeof sites->site[0];
    for (uint32_t i = 0; i < sites->count; i++)
        if (sites->site[i].file && (sites->site[i].file < names || sites->site[i].file >= sites->size))
            return false;
    return sites->size == names || ((const char *)sites)[sites->size - 1] == '\0';
}

/* The table of sites, if there is one: when everything is in its place. */
static bool find_sites(struct loading *loading, const struct mr_sites **sites)
{
    *sites = NULL;
    for (size_t i = 1; i < loading->symbol_count; i++) {
        Elf64_Sym symbol = symbol_at(loading, i);
        if (symbol.st_name >= loading->strings_size || strcmp(loading->strings + symbol.st_name, MR_SITES_SYMBOL) != 0)
            continue;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= loading->section_count ||
            loading->offsets[symbol.st_shndx] == NOT_LOADED ||
            symbol.st_value > section_at(loading, symbol.st_shndx).sh_size)
            return refuse(loading, "a table of sites that is not there");
        *sites = (const void *)(loading->map + loading->offsets[symbol.st_shndx] + symbol.st_value);
        return is_table(*sites, section_at(loading, symbol.st_shndx).sh_size - symbol.st_value) ||
               refuse(loading, "a broken table of sites");
    }
    return true;
}

static bool map_and_fill(struct loading *loading, const char *symbol, void **address)
{
    if (loading->total == 0)
        return refuse(loading, "no code");
    loading->map = mmap(NULL, loading->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (loading->map == MAP_FAILED) {
        loading->map = NULL;
        loading->no_memory = true;
        return refuse(loading, "no memory for %zu bytes of code", loading->total);
    }
    for (unsigned i = 1; i < loading->section_count; i++) {
        Elf64_Shdr section = section_at(loading, i);
        if (loading->offsets[i] != NOT_LOADED && section.sh_type != SHT_NOBITS)
            memcpy(loading->map + loading->offsets[i], loading->file + section.sh_offset, section.sh_size);
    }
    if (!fill_slots(loading) || !relocate(loading) || !find_function(loading, symbol, address))
        return false;
    if (mprotect(loading->map, loading->total, PROT_READ) != 0 ||
        (loading->data_offset && mprotect(loading->map, loading->data_offset, PROT_READ | PROT_EXEC) != 0))
        return refuse(loading, "the system does not let code be made executable");
    __builtin___clear_cache((char *)loading->map, (char *)loading->map + loading->data_offset);
    return true;
}

/* The file, with the address of each section that is in memory: NULL when memory is short. */
static unsigned char *placed_copy(const struct loading *loading)
{
    unsigned char *copy = mr_memdup(loading->file, loading->size);
    size_t table = (size_t)(loading->section_table - loading->file);
    for (unsigned i = 1; copy && i < loading->section_count; i++) {
        if (loading->offsets[i] == NOT_LOADED)
            continue;
        Elf64_Addr address = (uintptr_t)loading->map + loading->offsets[i];
        memcpy(copy + table + (size_t)i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_addr), &address, sizeof address);
    }
    return copy;
}

bool mr_loader_load(const void *object, size_t size, const char *symbol, struct mr_loaded *out, char *why, size_t room)
{
    struct loading loading = {.file = object, .size = size, .why = why, .room = room};
    long page = sysconf(_SC_PAGESIZE);
    loading.page = page > 0 ? (size_t)page : PAGE;
    bool good = read_header(&loading) && read_symbols(&loading);
    if (good) {
        loading.offsets = mr_calloc(loading.section_count, sizeof *loading.offsets);
        loading.slots = mr_calloc(loading.symbol_count, sizeof *loading.slots);
        loading.no_memory = !loading.offsets || !loading.slots;
        good = !loading.no_memory || refuse(&loading, "out of memory");
    }
    good = good && place_sections(&loading) && map_and_fill(&loading, symbol, &out->symbol) &&
           find_sites(&loading, &out->sites);
    unsigned char *placed = good ? placed_copy(&loading) : NULL;
    if (good && !placed) {
        loading.no_memory = true;
        good = refuse(&loading, "out of memory");
    }
    mr_free(loading.offsets);
    mr_free(loading.slots);
    if (!good) {
        if (loading.map)
            munmap(loading.map, loading.total);
        *out = (struct mr_loaded){.no_memory = loading.no_memory};
        return false;
    }
    out->map = loading.map;
    out->bytes = loading.total;
    out->object = placed;
    out->object_size = size;
    return true;
}

void mr_loader_unload(struct mr_loaded *loaded)
{
    if (loaded->map)
        munmap(loaded->map, loaded->bytes);
    mr_free(loaded->object);
    *loaded = (struct mr_loaded){.map = NULL};
}
