/* SPDX-License-Identifier: Apache-2.0 */
/* A code generation library without LLVM: every kernel becomes a single `ret`.
 *
 * Each call of emit adds a byte to the file that MILLRACE_FAKE_COUNT names, 'h' if it is in a hurry, else the first
 * letter of the kernel's name as a capital, so that tests can tell compiling from finding in the cache. A kernel named
 * "refuse" fails, "refuse_later" unless it is in a hurry, and "damage" gives an object that cannot be loaded. One named
 * "held" is made when the file is there that MILLRACE_FAKE_GATE names; one named "gated" as well, but in a hurry at
 * once. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/codegen.h"
#include "compile/codegen_interface.h"

static const char names[] = "\0.text\0.symtab\0.strtab\0" MR_KERNEL_SYMBOL;

struct object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    unsigned char text[16];
    Elf64_Sym symbols[2];
    char strings[sizeof names];
};

static void fill_object(struct object *o)
{
    memcpy(o->header.e_ident, ELFMAG, SELFMAG);
    o->header.e_ident[EI_CLASS] = ELFCLASS64;
    o->header.e_ident[EI_DATA] = ELFDATA2LSB;
    o->header.e_type = ET_REL;
    o->header.e_machine = EM_X86_64;
    o->header.e_shoff = offsetof(struct object, sections);
    o->header.e_shentsize = sizeof(Elf64_Shdr);
    o->header.e_shnum = 4;
    o->header.e_shstrndx = 3;
    o->sections[1] = (Elf64_Shdr){.sh_name = 1,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                  .sh_offset = offsetof(struct object, text),
                                  .sh_size = sizeof o->text,
                                  .sh_addralign = 16};
    o->sections[2] = (Elf64_Shdr){.sh_name = 7,
                                  .sh_type = SHT_SYMTAB,
                                  .sh_offset = offsetof(struct object, symbols),
                                  .sh_size = sizeof o->symbols,
                                  .sh_link = 3,
                                  .sh_info = 1,
                                  .sh_entsize = sizeof(Elf64_Sym)};
    o->sections[3] = (Elf64_Shdr){.sh_name = 15,
                                  .sh_type = SHT_STRTAB,
                                  .sh_offset = offsetof(struct object, strings),
                                  .sh_size = sizeof o->strings};
    o->text[0] = 0xc3;
    o->symbols[1] = (Elf64_Sym){.st_name = 23, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1};
    memcpy(o->strings, names, sizeof names);
}

static bool emit(const struct mr_codegen_request *request, struct mr_codegen_result *result)
{
    const char *name = request->layout->entries[request->entry].func->name, *count = getenv("MILLRACE_FAKE_COUNT");
    FILE *file = count ? fopen(count, "a") : NULL;
    if (file) {
        fputc(request->hurry ? 'h' : toupper((unsigned char)name[0]), file);
        fclose(file);
    }
    bool waits = strcmp(name, "held") == 0 || (strcmp(name, "gated") == 0 && !request->hurry);
    for (const char *gate = getenv("MILLRACE_FAKE_GATE"); waits && access(gate, F_OK) != 0;)
        usleep(1000);
    *result = (struct mr_codegen_result){.symbol = MR_KERNEL_SYMBOL, .flags = MR_CODE_WAITS, .stack_bytes = 16384};
    if (strcmp(name, "refuse") == 0 || (strcmp(name, "refuse_later") == 0 && !request->hurry)) {
        result->error = strdup("refused by the fake");
        return false;
    }
    struct object *object = calloc(1, sizeof *object);
    fill_object(object);
    if (strcmp(name, "damage") == 0)
        object->header.e_machine = EM_S390;
    result->object = (unsigned char *)object;
    result->object_size = sizeof *object;
    if (request->want_ir)
        result->ir_text = strdup("; the fake's code\n");
    return true;
}

static void release(struct mr_codegen_result *result)
{
    free(result->object);
    free(result->ir_text);
    free(result->error);
}

extern const struct mr_codegen_api mr_codegen;
__attribute__((visibility("default"))) const struct mr_codegen_api mr_codegen = {.version = MR_CODEGEN_VERSION,
                                                                                 .abi = MR_ABI_VERSION,
                                                                                 .interface = MR_CODEGEN_INTERFACE,
                                                                                 .emit = emit,
                                                                                 .release = release};
