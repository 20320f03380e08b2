/* SPDX-License-Identifier: Apache-2.0 */
/* The object loader: an object made here byte by byte, loaded and called; then the same object damaged in every way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/abi.h"
#include "base/alloc.h"
#include "compile/loader.h"

/* Sections: 1 .text, 2 .rodata, 3 .data.rel.ro, 4 .rela.text, 5 .rela.data.rel.ro, 6 .symtab, 7 .strtab (also the
 * section names). */
enum { TEXT = 1, RODATA, RELRO, RELA_TEXT, RELA_RELRO, SYMTAB, STRTAB, SECTIONS };
enum { SYM_NULL, SYM_RODATA, SYM_RELRO, SYM_KERNEL, SYM_HELPER, SYM_MEMCPY, SYMBOLS };

/*
 * kernel: movl constant(%rip), %eax; movq pointer(%rip), %rcx; addl (%rcx), %eax; movq helper@GOTPCREL(%rip), %rdx;
 * testq %rdx, %rdx; je out; jmp helper; out: ret helper: addl $1, %eax; ret caller: jmp memcpy
 */
static const unsigned char text[] = {
    0x8b, 0x05, 0,    0,    0, 0, /* 0: PC32 rodata */
    0x48, 0x8b, 0x0d, 0,    0, 0, 0, /* 6: PC32 relro */
    0x03, 0x01, /* 13 */
    0x48, 0x8b, 0x15, 0,    0, 0, 0, /* 15: GOTPCREL helper */
    0x48, 0x85, 0xd2, /* 22 */
    0x74, 0x05, /* 25 */
    0xe9, 0,    0,    0,    0, /* 27: PLT32 helper */
    0xc3, /* 32 */
    0x83, 0xc0, 0x01, 0xc3, /* 33: helper */
    0xe9, 0,    0,    0,    0, /* 37: PLT32 memcpy */
};
static const uint32_t rodata[2] = {40, 1};
static const char names[] =
    "\0.text\0.rodata\0.data.rel.ro\0.rela\0.symtab\0.strtab\0kernel\0helper\0memcpy\0caller\0nowhere";

struct object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    unsigned char text[48];
    uint32_t rodata[2];
    uint64_t relro[1];
    Elf64_Rela rela_text[5], rela_relro[1];
    Elf64_Sym symbols[SYMBOLS + 1];
    char strings[sizeof names];
};

static uint32_t name_of(const char *name)
{
    for (uint32_t i = 0; i < sizeof names; i++)
        if (strcmp(names + i, name) == 0)
            return i;
    abort();
}

static void section(struct object *o, unsigned index, const char *name, uint32_t type, uint64_t flags, size_t offset,
                    size_t size, uint32_t link, uint32_t info, uint64_t entry)
{
    o->sections[index] = (Elf64_Shdr){.sh_name = name_of(name),
                                      .sh_type = type,
                                      .sh_flags = flags,
                                      .sh_offset = offset,
                                      .sh_size = size,
                                      .sh_link = link,
                                      .sh_info = info,
                                      .sh_addralign = 16,
                                      .sh_entsize = entry};
}

static void symbol(struct object *o, unsigned index, const char *name, unsigned char type, uint16_t in, uint64_t value)
{
    o->symbols[index] = (Elf64_Sym){.st_name = *name ? name_of(name) : 0,
                                    .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                                    .st_shndx = in,
                                    .st_value = value};
}

static Elf64_Rela rela(uint64_t offset, unsigned sym, unsigned type, int64_t addend)
{
    return (Elf64_Rela){.r_offset = offset, .r_info = ELF64_R_INFO((uint64_t)sym, type), .r_addend = addend};
}

static struct object good_object(void)
{
    struct object o;
    memset(&o, 0, sizeof o);
    memcpy(o.header.e_ident, ELFMAG, SELFMAG);
    o.header.e_ident[EI_CLASS] = ELFCLASS64;
    o.header.e_ident[EI_DATA] = ELFDATA2LSB;
    o.header.e_type = ET_REL;
    o.header.e_machine = EM_X86_64;
    o.header.e_shoff = offsetof(struct object, sections);
    o.header.e_shentsize = sizeof(Elf64_Shdr);
    o.header.e_shnum = SECTIONS;
    o.header.e_shstrndx = STRTAB;
#define AT(member) offsetof(struct object, member), sizeof o.member
    section(&o, TEXT, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, AT(text), 0, 0, 0);
    section(&o, RODATA, ".rodata", SHT_PROGBITS, SHF_ALLOC, AT(rodata), 0, 0, 0);
    section(&o, RELRO, ".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, AT(relro), 0, 0, 0);
    section(&o, RELA_TEXT, ".rela", SHT_RELA, 0, AT(rela_text), SYMTAB, TEXT, sizeof(Elf64_Rela));
    section(&o, RELA_RELRO, ".rela", SHT_RELA, 0, AT(rela_relro), SYMTAB, RELRO, sizeof(Elf64_Rela));
    section(&o, SYMTAB, ".symtab", SHT_SYMTAB, 0, AT(symbols), STRTAB, 3, sizeof(Elf64_Sym));
    section(&o, STRTAB, ".strtab", SHT_STRTAB, 0, AT(strings), 0, 0, 0);
    memcpy(o.text, text, sizeof text);
    memcpy(o.rodata, rodata, sizeof rodata);
    memcpy(o.strings, names, sizeof names);
    o.rela_text[0] = rela(2, SYM_RODATA, R_X86_64_PC32, -4);
    o.rela_text[1] = rela(9, SYM_RELRO, R_X86_64_PC32, -4);
    o.rela_text[2] = rela(18, SYM_HELPER, R_X86_64_REX_GOTPCRELX, -4);
    o.rela_text[3] = rela(28, SYM_HELPER, R_X86_64_PLT32, -4);
    o.rela_text[4] = rela(38, SYM_MEMCPY, R_X86_64_PLT32, -4);
    o.rela_relro[0] = rela(0, SYM_RODATA, R_X86_64_64, 4);
    symbol(&o, SYM_RODATA, "", STT_SECTION, RODATA, 0);
    symbol(&o, SYM_RELRO, "", STT_SECTION, RELRO, 0);
    symbol(&o, SYM_KERNEL, "kernel", STT_FUNC, TEXT, 0);
    symbol(&o, SYM_HELPER, "helper", STT_FUNC, TEXT, 33);
    symbol(&o, SYM_MEMCPY, "memcpy", STT_NOTYPE, SHN_UNDEF, 0);
    symbol(&o, SYMBOLS, "caller", STT_FUNC, TEXT, 37);
    return o;
}

static bool loads(const struct object *object, size_t size)
{
    struct mr_loaded loaded;
    char why[128] = "";
    bool good = mr_loader_load(object, size, "kernel", &loaded, why, sizeof why);
    assert_true(good || *why);
    if (good)
        mr_loader_unload(&loaded);
    else
        assert_null(loaded.map);
    return good;
}

MR_CALLS_GENERATED static void a_good_object_runs(void **unused)
{
    (void)unused;
#if defined(__x86_64__)
    struct object object = good_object();
    unsigned char shifted[sizeof object + 1];
    memcpy(shifted + 1, &object, sizeof object);
    struct mr_loaded loaded;
    char why[128] = "";
    assert_true(mr_loader_load(shifted + 1, sizeof object, "kernel", &loaded, why, sizeof why));
    int (*kernel)(void);
    memcpy(&kernel, &loaded.symbol, sizeof kernel);
    assert_int_equal(kernel(), 42);
    mr_loader_unload(&loaded);
    mr_loader_unload(&loaded);
    assert_true(mr_loader_load(&object, sizeof object, "caller", &loaded, why, sizeof why));
    void *(*copy)(void *, const void *, size_t);
    memcpy(&copy, &loaded.symbol, sizeof copy);
    char to[8] = "";
    copy(to, "abcdefg", 8);
    assert_string_equal(to, "abcdefg");
    mr_loader_unload(&loaded);
#else
    skip();
#endif
}

#define REFUSED(change) \
    do { \
        struct object o = good_object(); \
        change; \
        assert_false(loads(&o, sizeof o)); \
    } while (0)

static void hostile_objects_are_refused(void **unused)
{
    (void)unused;
    REFUSED(o.header.e_ident[0] = 0);
    REFUSED(o.header.e_ident[EI_CLASS] = ELFCLASS32);
    REFUSED(o.header.e_type = ET_DYN);
    REFUSED(o.header.e_machine = EM_AARCH64);
    REFUSED(o.header.e_shnum = 0);
    REFUSED(o.header.e_shnum = 60000);
    REFUSED(o.header.e_shoff = UINT64_MAX - 8);
    REFUSED(o.header.e_shentsize = 1);
    REFUSED(o.sections[TEXT].sh_offset = UINT64_MAX);
    REFUSED(o.sections[TEXT].sh_size = UINT64_MAX);
    REFUSED(o.sections[TEXT].sh_addralign = 3);
    REFUSED(o.sections[TEXT].sh_addralign = 1u << 20);
    REFUSED(o.sections[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE);
    REFUSED(o.sections[TEXT].sh_flags = SHF_ALLOC);
    REFUSED(o.sections[TEXT].sh_type = SHT_NULL);
    REFUSED(o.sections[RODATA].sh_flags = SHF_ALLOC | SHF_WRITE);
    REFUSED(o.sections[RODATA].sh_flags = SHF_ALLOC | SHF_TLS);
    REFUSED((o.sections[RODATA].sh_type = SHT_NOBITS, o.sections[RODATA].sh_size = UINT64_MAX));
    REFUSED(o.sections[RODATA].sh_type = SHT_NOTE);
    REFUSED(o.sections[SYMTAB].sh_type = SHT_PROGBITS);
    REFUSED(o.sections[SYMTAB].sh_offset = sizeof o);
    REFUSED(o.sections[SYMTAB].sh_entsize = 23);
    REFUSED(o.sections[SYMTAB].sh_link = 77);
    REFUSED(o.sections[SYMTAB].sh_link = TEXT);
    REFUSED(o.sections[SYMTAB].sh_size = sizeof(Elf64_Sym) * 2);
    REFUSED(o.sections[RELA_TEXT].sh_type = SHT_REL);
    REFUSED(o.sections[RELA_TEXT].sh_entsize = 16);
    REFUSED(o.sections[RELA_TEXT].sh_size = UINT64_MAX);
    REFUSED(o.sections[STRTAB].sh_size = 0);
    REFUSED(o.sections[STRTAB].sh_size = 3);
    REFUSED(o.rela_text[0].r_offset = 45);
    REFUSED(o.rela_text[0].r_offset = UINT64_MAX);
    REFUSED(o.rela_relro[0].r_offset = 1);
    REFUSED(o.rela_text[0].r_info = ELF64_R_INFO(1000ull, R_X86_64_PC32));
    REFUSED(o.rela_text[0].r_info = ELF64_R_INFO(1ull, R_X86_64_32));
    REFUSED(o.rela_text[0].r_addend = INT64_C(1) << 40);
    REFUSED(o.symbols[SYM_KERNEL].st_name = name_of("nowhere"));
    REFUSED(o.symbols[SYM_KERNEL].st_name = UINT32_MAX);
    REFUSED(o.symbols[SYM_KERNEL].st_shndx = RODATA);
    REFUSED(o.symbols[SYM_KERNEL].st_shndx = SHN_UNDEF);
    REFUSED(o.symbols[SYM_KERNEL].st_shndx = SHN_COMMON);
    REFUSED(o.symbols[SYM_KERNEL].st_value = 48);
    REFUSED(o.symbols[SYM_HELPER].st_shndx = STRTAB);
    REFUSED(o.symbols[SYM_HELPER].st_value = UINT64_MAX);
    REFUSED(o.symbols[SYM_MEMCPY].st_name = name_of("nowhere"));
}

static void truncated_objects_are_refused(void **unused)
{
    (void)unused;
    struct object object = good_object();
    /* At the end of a page that nothing follows: a read past the end would be seen. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (sizeof object + page - 1) / page * page;
    unsigned char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    mprotect(map + room, page, PROT_NONE);
    for (size_t size = 0; size + sizeof names < sizeof object; size++) {
        memcpy(map + room - size, &object, size);
        assert_false(loads((const struct object *)(const void *)(map + room - size), size));
    }
    munmap(map, room + page);
}

/* Any byte may change: the loader must answer, and never touch what it should not. What loads isn't run. */
static void random_damage_does_no_harm(void **unused)
{
    (void)unused;
    uint64_t seed = 99;
    for (int round = 0; round < 20000; round++) {
        struct object object = good_object();
        unsigned char *bytes = (unsigned char *)&object;
        for (int i = 0; i < 1 + round % 4; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[(seed >> 33) % sizeof object] = (unsigned char)(seed >> 20);
        }
        loads(&object, sizeof object);
    }
}

static void memory_shortage_is_reported(void **unused)
{
    (void)unused;
    struct object object = good_object();
    for (uint64_t n = 1; n <= 2; n++) {
        mr_alloc_fail_after(n);
        assert_false(loads(&object, sizeof object));
    }
    mr_alloc_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_object_runs),
        cmocka_unit_test(hostile_objects_are_refused),
        cmocka_unit_test(truncated_objects_are_refused),
        cmocka_unit_test(random_damage_does_no_harm),
        cmocka_unit_test(memory_shortage_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
