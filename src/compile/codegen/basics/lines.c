/* SPDX-License-Identifier: Apache-2.0 */

/* Where code comes from: each PTX function is a function of the object's debug information, each instruction's line a
 * line of its line table. If the module tells that a compiler has put a function in the place of its call, that is a
 * function there, too, which debuggers show as called (ptx.h, mr_ptx_inlined). Debuggers, profilers and fault reports
 * read it (compile/lines.c, compile/perf.c). DWARF 4, because its line tables need no other sections.
 *
 * Where the module tells of its own source (.loc), the line is that source's, and the PTX's line is the discriminator,
 * which debuggers pass over. Elsewhere the file is the PTX as MILLRACE_DUMP writes it.
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
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void add_flag(const struct cg_unit *unit, const char *name, unsigned value)
{
    LLVMAddModuleFlag(unit->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(unit->i32, value, false)));
}

/* A file of the module's, by its number; NULL if it has no name. */
static LLVMMetadataRef file_of(struct cg_unit *unit, uint32_t number)
{
    const struct mr_ptx_module *module = unit->request->module;
    const char *name = number < module->file_count ? module->files[number] : NULL;
    if (!name || !unit->files)
        return NULL;
    if (!unit->files[number])
        unit->files[number] = LLVMDIBuilderCreateFile(unit->lines, name, strlen(name), ".", 1);
    return unit->files[number];
}

void cg_lines_begin(struct cg_unit *unit)
{
    /* gdb takes the line table's word for where a prologue ends if the producer's name begins like this. */
    static const char producer[] = "clang (LLVM's back end, by Millrace)";
    const char *name = unit->request->source ? unit->request->source : "kernel.ptx";
    bool mangled = strncmp(unit->entry->func->name, "_Z", 2) == 0;
    add_flag(unit, "Dwarf Version", 4);
    add_flag(unit, "Debug Info Version", LLVMDebugMetadataVersion());
    unit->lines = LLVMCreateDIBuilder(unit->module);
    unit->files = mr_calloc((size_t)unit->request->module->file_count + 1, sizeof *unit->files);
    unit->inlined = mr_calloc((size_t)unit->request->module->inlined_count + 1, sizeof *unit->inlined);
    unit->file = LLVMDIBuilderCreateFile(unit->lines, name, strlen(name), ".", 1);
    LLVMDIBuilderCreateCompileUnit(unit->lines,
                                   mangled ? LLVMDWARFSourceLanguageC_plus_plus_14 : LLVMDWARFSourceLanguageC99,
                                   unit->file, producer, sizeof producer - 1, unit->request->optimisation > 0, "", 0, 0,
                                   "", 0, LLVMDWARFEmissionFull, 0, false, false, "", 0, "", 0);
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
    mr_free(unit->files);
    mr_free(unit->inlined);
    unit->files = unit->inlined = NULL;
}

/* The function's own name, of a mangled one: its last part before the arguments of a template ("_ZN2ns5saxpyIfEEvi":
 * saxpy). Debuggers show what the mangled name says; this is what it is looked for by. */
static void plain_name(const char *name, const char **from, size_t *length)
{
    const char *at = name + 2;
    *from = name;
    *length = strlen(name);
    if (strncmp(name, "_Z", 2) != 0)
        return;
    if (*at == 'N')
        at++;
    for (;;) {
        char *text;
        at += *at == 'L'; /* of its source alone: static */
        if (*at < '1' || *at > '9')
            return;
        unsigned long count = strtoul(at, &text, 10);
        if (count > strlen(text))
            return;
        *from = text;
        *length = count;
        at = text + count;
    }
}

void cg_lines_function(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    const struct mr_ptx_function *func = g->func;
    size_t length, plain;
    const char *symbol = LLVMGetValueName2(g->fn, &length), *name;
    LLVMMetadataRef file = NULL;
    plain_name(func->name, &name, &plain);
    if (name != func->name) { /* its mangled name, though the object's symbol may be another one */
        symbol = func->name;
        length = strlen(symbol);
    } else if (func->is_entry) {
        length = 0;
    }
    g->loc_file = g->loc_line = 0;
    /* Of its own lines the first one; where it has none, any. */
    for (unsigned any = 0; any < 2 && !file; any++)
        for (uint32_t i = 0; i < func->inst_count && !file; i++) {
            const struct mr_ptx_inst *inst = &func->insts[i];
            bool own = inst->loc_line && (any || !mr_ptx_inlined_at(unit->request->module, inst->line));
            if (own && (file = file_of(unit, inst->loc_file))) {
                g->loc_file = inst->loc_file;
                g->loc_line = inst->loc_line;
            }
        }
    g->scope = LLVMDIBuilderCreateFunction(unit->lines, file ? file : unit->file, name, plain, symbol, length,
                                           file ? file : unit->file, file ? g->loc_line : func->line, unit->no_types,
                                           !func->is_entry, true, file ? g->loc_line : func->line, LLVMDIFlagZero,
                                           unit->request->optimisation > 0);
    LLVMSetSubprogram(g->fn, g->scope);
    cg_line_own(g);
}

/* The scope of a line of that file, in a function. */
static LLVMMetadataRef in_file(struct cg *g, LLVMMetadataRef scope, LLVMMetadataRef file, uint32_t discriminator)
{
    return file ? LLVMDIBuilderCreateLexicalBlockFile(g->unit->lines, scope, file, discriminator) : scope;
}

/* The function that was put in the place of that call. Where it begins is not known: at the line it is met at. */
static LLVMMetadataRef inlined_function(struct cg *g, const struct mr_ptx_inlined *call, LLVMMetadataRef file)
{
    struct cg_unit *unit = g->unit;
    LLVMMetadataRef *function = &unit->inlined[call->same];
    if (!*function) {
        size_t plain;
        const char *name;
        plain_name(call->name, &name, &plain);
        size_t mangled = name == call->name ? 0 : strlen(call->name);
        *function = LLVMDIBuilderCreateFunction(unit->lines, file ? file : unit->file, name, plain, call->name, mangled,
                                                file ? file : unit->file, g->loc_line, unit->no_types, true, true,
                                                g->loc_line, LLVMDIFlagZero, unit->request->optimisation > 0);
    }
    return *function;
}

#define CALLS_DEEP 64u

/* Of a call by its number: the scope in its body, where the code is that file's, and the place of the call. NULL and
 * the PTX function without one. */
static LLVMMetadataRef inlined_at(struct cg *g, uint32_t number, LLVMMetadataRef file, LLVMMetadataRef *scope)
{
    const struct mr_ptx_module *module = g->unit->request->module;
    const struct mr_ptx_inlined *calls[CALLS_DEEP];
    uint32_t count = 0;
    LLVMMetadataRef at = NULL;
    *scope = g->scope;
    if (!g->unit->inlined)
        return NULL;
    for (; number && count < CALLS_DEEP; number = module->inlined[number - 1].outer)
        if (*module->inlined[number - 1].name)
            calls[count++] = &module->inlined[number - 1];
    while (count > 0) {
        const struct mr_ptx_inlined *call = calls[--count];
        at = LLVMDIBuilderCreateDebugLocation(g->unit->context, call->line, call->column < 0xffff ? call->column : 0,
                                              in_file(g, *scope, file_of(g->unit, call->file), 0), at);
        *scope = inlined_function(g, call, count == 0 ? file : file_of(g->unit, calls[count - 1]->file));
    }
    return at;
}

LLVMMetadataRef cg_inlined_scope(struct cg *g, uint32_t number, LLVMMetadataRef *at)
{
    LLVMMetadataRef scope;
    *at = inlined_at(g, number, file_of(g->unit, g->loc_file), &scope);
    return scope;
}

/* The line of the source if one is known, with the PTX line as its discriminator. */
static void set_line(struct cg *g, uint32_t line, uint32_t column)
{
    LLVMMetadataRef scope = g->scope, file = g->loc_line ? file_of(g->unit, g->loc_file) : NULL, at = NULL;
    if (file) {
        at = inlined_at(g, mr_ptx_inlined_at(g->unit->request->module, line), file, &scope);
        scope = in_file(g, scope, file, line);
        line = g->loc_line;
        column = 0;
    }
    /* LLVM keeps 16 bits of a column. */
    g->place = LLVMDIBuilderCreateDebugLocation(g->unit->context, line, column < 0xffff ? column : 0, scope, at);
    cg_line_again(g);
}

void cg_line_own(struct cg *g)
{
    set_line(g, g->func->line, g->func->column);
}

void cg_line_body(struct cg *g)
{
    const struct mr_ptx_function *func = g->func;
    uint32_t file = g->loc_file, line = g->loc_line, first = 0;
    while (line && first < func->inst_count && (!func->insts[first].loc_line || func->insts[first].loc_line == line))
        first++;
    if (first < func->inst_count)
        cg_line(g, &func->insts[first]);
    g->loc_file = file;
    g->loc_line = line;
}

void cg_line(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->loc_line) {
        g->loc_file = inst->loc_file;
        g->loc_line = inst->loc_line;
    }
    set_line(g, inst->line, inst->column);
}

void cg_line_again(struct cg *g)
{
    if (g->place)
        LLVMSetCurrentDebugLocation2(g->b, g->place);
}
