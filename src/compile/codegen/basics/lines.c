/* SPDX-License-Identifier: Apache-2.0 */

/* Where code comes from: each PTX function is a function of the object's debug
 * information, each instruction's line a line of its line table, and the file is
 * the PTX as MILLRACE_DUMP writes it. Debuggers, profilers and fault reports read it
 * (compile/lines.c, compile/jit.c). DWARF 4, because its line tables need no other sections.
 *
 * What is put in front of the function's body while an instruction is emitted belongs to the function's own line. The
 * builder takes over the line of what it is put in front of, so code that comes back from there calls cg_line_again().
 *
 * No line tells which lane an instruction of the processor works for. So all code notes the warp that it runs for in
 * the block's record, and code that is asked to (MILLRACE_FAULT_THREADS) the addresses of each access before it is
 * made. */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/lines.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

static void add_flag(const struct cg_unit *unit, const char *name, unsigned value)
{
    LLVMAddModuleFlag(unit->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(unit->i32, value, false)));
}

void cg_lines_begin(struct cg_unit *unit)
{
    static const char producer[] = "Millrace";
    const char *name = unit->request->source ? unit->request->source : "kernel.ptx";
    add_flag(unit, "Dwarf Version", 4);
    add_flag(unit, "Debug Info Version", LLVMDebugMetadataVersion());
    unit->lines = LLVMCreateDIBuilder(unit->module);
    unit->file = LLVMDIBuilderCreateFile(unit->lines, name, strlen(name), ".", 1);
    LLVMDIBuilderCreateCompileUnit(unit->lines, LLVMDWARFSourceLanguageC99, unit->file, producer, sizeof producer - 1,
                                   unit->request->optimisation > 0, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, false,
                                   false, "", 0, "", 0);
    unit->no_types = LLVMDIBuilderCreateSubroutineType(unit->lines, unit->file, NULL, 0, LLVMDIFlagZero);
}

void cg_lines_end(struct cg_unit *unit)
{
    LLVMDIBuilderFinalize(unit->lines);
}

void cg_lines_clear(struct cg_unit *unit)
{
    if (unit->lines)
        LLVMDisposeDIBuilder(unit->lines);
    unit->lines = NULL;
}

void cg_lines_function(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    const struct mr_ptx_function *func = g->func;
    size_t length;
    const char *symbol = LLVMGetValueName2(g->fn, &length);
    g->scope = LLVMDIBuilderCreateFunction(
        unit->lines, unit->file, func->name, strlen(func->name), symbol, func->is_entry ? 0 : length, unit->file,
        func->line, unit->no_types, !func->is_entry, true, func->line, LLVMDIFlagZero, unit->request->optimisation > 0);
    LLVMSetSubprogram(g->fn, g->scope);
    cg_line(g, func->line, func->column);
}

void cg_line(struct cg *g, uint32_t line, uint32_t column)
{
    /* LLVM keeps 16 bits of a column. */
    g->place = LLVMDIBuilderCreateDebugLocation(g->unit->context, line, column < 0xffff ? column : 0, g->scope, NULL);
    cg_line_again(g);
}

void cg_line_again(struct cg *g)
{
    if (g->place)
        LLVMSetCurrentDebugLocation2(g->b, g->place);
}
