/* SPDX-License-Identifier: Apache-2.0 */

/* The object file at the end. It must not refer to anything outside itself except the functions of library_calls.def;
 * one that does (LLVM would have liked another) is refused here, since the loader could not place it. */
#include "compile/codegen/llvm/llvm.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static bool is_library_call(const char *name)
{
    static const char *const calls[] = {
#define MR_LIBRARY_CALL(name) #name,
#include "compile/library_calls.def"
#undef MR_LIBRARY_CALL
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(name, calls[i]) == 0)
            return true;
    return false;
}

/* Looks for an undefined symbol; the file comes from LLVM, so its own offsets are right. */
static bool stands_alone(struct cg_unit *unit, const unsigned char *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    for (unsigned s = 0; s < header.e_shnum; s++) {
        Elf64_Shdr section, strings;
        memcpy(&section, bytes + header.e_shoff + (size_t)s * header.e_shentsize, sizeof section);
        if (section.sh_type != SHT_SYMTAB)
            continue;
        memcpy(&strings, bytes + header.e_shoff + (size_t)section.sh_link * header.e_shentsize, sizeof strings);
        for (size_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, bytes + section.sh_offset + at, sizeof symbol);
            const char *name = (const char *)bytes + strings.sh_offset + symbol.st_name;
            if (symbol.st_shndx != SHN_UNDEF || is_library_call(name))
                continue;
            char text[160];
            snprintf(text, sizeof text, "the code needs the function '%s'", name);
            cg_fail(unit, NULL, text);
            return false;
        }
    }
    return true;
}

static char *assembly_text(struct cg_unit *unit)
{
    LLVMModuleRef copy = LLVMCloneModule(unit->module);
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL, *text = NULL;
    if (!LLVMTargetMachineEmitToMemoryBuffer(unit->machine, copy, LLVMAssemblyFile, &message, &buffer)) {
        size_t size = LLVMGetBufferSize(buffer);
        text = mr_calloc(size + 1, 1);
        if (text)
            memcpy(text, LLVMGetBufferStart(buffer), size);
        LLVMDisposeMemoryBuffer(buffer);
    }
    LLVMDisposeMessage(message);
    LLVMDisposeModule(copy);
    return text;
}

bool cg_object(struct cg_unit *unit, struct mr_codegen_result *result)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (unit->request->want_assembly)
        result->assembly = assembly_text(unit);
    if (LLVMTargetMachineEmitToMemoryBuffer(unit->machine, unit->module, LLVMObjectFile, &message, &buffer)) {
        cg_fail(unit, NULL, message);
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMDisposeMessage(message);
    result->object_size = LLVMGetBufferSize(buffer);
    result->object = mr_memdup(LLVMGetBufferStart(buffer), result->object_size);
    LLVMDisposeMemoryBuffer(buffer);
    if (!result->object) {
        cg_fail(unit, NULL, "memory is short");
        return false;
    }
    /* The slots, as if all stayed in memory, so that recursion has room; but where more is spilled than they have, what
     * LLVM says. It tells nothing of alloca's memory. */
    uint64_t frames = unit->frames > unit->frame_bytes ? unit->frames : unit->frame_bytes;
    result->stack_bytes = (size_t)(frames + unit->lane_stacks) + 16384 + (size_t)unit->entry->reachable_count * 4096;
    return stands_alone(unit, result->object, result->object_size);
}
