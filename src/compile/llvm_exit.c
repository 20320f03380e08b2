/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM registers destructors with exit as its pieces are first used, in the middle of a compilation; see compiler.c for why that ends badly when another
 * thread calls exit just then. They would only free memory that goes with the process anyway, so the library's way to register them is led to a
 * function that does nothing: one slot of its table of imported functions, found by the documented tables of its ELF image. */
#define _GNU_SOURCE
#include "compile/llvm_exit.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#endif

/* In place of __cxa_atexit. */
static int register_nothing(void (*function)(void *data), void *data, void *library)
{
    (void)function, (void)data, (void)library;
    return 0;
}

/* The tables of an image that are needed here; addresses are absolute once the loader is through. */
struct image { const ElfW(Rela) *slots; size_t slot_bytes; const ElfW(Sym) *symbols; const char *names; };

static struct image read_dynamic(const ElfW(Dyn) *entry)
{
    struct image image = { 0 };
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_JMPREL: image.slots = (const void *)(uintptr_t)entry->d_un.d_ptr; break;
        case DT_PLTRELSZ: image.slot_bytes = entry->d_un.d_val; break;
        case DT_SYMTAB: image.symbols = (const void *)(uintptr_t)entry->d_un.d_ptr; break;
        case DT_STRTAB: image.names = (const void *)(uintptr_t)entry->d_un.d_ptr; break;
        default: break;
        }
    }
    return image;
}

/* True if the loader has made the place read-only. */
static bool is_sealed(const struct dl_phdr_info *info, uintptr_t place)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_RELRO && place >= begin && place < begin + part->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (strncmp(slash ? slash + 1 : info->dlpi_name, "libLLVM", 7) != 0)
        return 0;
#ifdef JUMP_SLOT
    struct image image = { 0 };
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            image = read_dynamic((const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    if (!image.slots || !image.symbols || !image.names)
        return 0;
    for (size_t i = 0; i < image.slot_bytes / sizeof *image.slots; i++) {
        const ElfW(Rela) *slot = &image.slots[i];
        uintptr_t place = info->dlpi_addr + slot->r_offset;
        if (ELF64_R_TYPE(slot->r_info) != JUMP_SLOT || is_sealed(info, place) ||
            strcmp(image.names + image.symbols[ELF64_R_SYM(slot->r_info)].st_name, "__cxa_atexit") != 0)
            continue;
        atomic_store((_Atomic(uintptr_t) *)place, (uintptr_t)register_nothing);
        *(bool *)data = true;
    }
#endif
    return 0;
}

bool mr_llvm_exit_silence(void)
{
    bool done = false;
    (void)dl_iterate_phdr(look_at, &done);
    return done;
}
