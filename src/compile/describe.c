/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest of the driver sees of a program: its symbols and entries, copied out of the syntax tree and the layout,
 * which do not stay. */
#include <string.h>

#include "base/alloc.h"
#include "compile/program.h"

/* The initial bytes, up to the last that was written. */
static bool describe_initial(struct mr_symbol *symbol, const struct mr_ptx_var *var)
{
    size_t size = var->init_size < symbol->size ? (size_t)var->init_size : symbol->size;
    if (!var->init || size == 0)
        return true;
    symbol->initial = mr_memdup(var->init, size);
    symbol->initial_size = size;
    return symbol->initial;
}

static bool describe_relocations(const struct mr_tree *tree, struct mr_symbol *symbol, const struct mr_ptx_var *var)
{
    if (var->reloc_count == 0)
        return true;
    struct mr_symbol_relocation *relocations = mr_calloc(var->reloc_count, sizeof *relocations);
    if (!relocations)
        return false;
    symbol->relocations = relocations;
    for (uint32_t i = 0; i < var->reloc_count; i++) {
        const struct mr_ptx_reloc *from = &var->relocs[i];
        uint32_t index =
            mr_layout_symbol(&tree->layout, from->var ? (const void *)from->var : (const void *)from->func);
        if (index == MR_LAYOUT_NONE || from->offset > symbol->size || from->width > symbol->size - from->offset)
            continue;
        relocations[symbol->relocation_count++] = (struct mr_symbol_relocation){.offset = from->offset,
                                                                                .width = from->width,
                                                                                .shift = from->shift,
                                                                                .symbol = index,
                                                                                .addend = from->addend};
    }
    return true;
}

static bool describe_symbol(struct mr_program *program, const struct mr_tree *tree, size_t index)
{
    const struct mr_layout_symbol *from = &tree->layout.symbols[index];
    struct mr_symbol *symbol = &program->symbols[index];
    if (from->func) {
        symbol->what = MR_SYMBOL_FUNCTION;
        symbol->visible = from->func->linkage == MR_PTX_LINKAGE_VISIBLE;
        return true;
    }
    const struct mr_ptx_var *var = from->var;
    symbol->what = MR_SYMBOL_VARIABLE;
    symbol->size = (size_t)var->size;
    symbol->alignment = var->align;
    /* Hardware finds variables without .visible as well, but not those inside functions. */
    symbol->visible = var->owner == NULL;
    symbol->constant = var->space == MR_PTX_SPACE_CONST;
    symbol->managed = var->is_managed;
    symbol->reference = var->type == MR_PTX_TYPE_TEXREF       ? MR_REFERENCE_TEXTURE
                        : var->type == MR_PTX_TYPE_SAMPLERREF ? MR_REFERENCE_SAMPLER
                        : var->type == MR_PTX_TYPE_SURFREF    ? MR_REFERENCE_SURFACE
                                                              : MR_REFERENCE_NONE;
    return describe_initial(symbol, var) && describe_relocations(tree, symbol, var);
}

#define REGISTER_FILE 65536u /* of a multiprocessor */
#define PARTITIONS 4u /* of a multiprocessor */
#define THREADS_OF_SM 2048u
#define REGISTERS_LEAST 24u /* lower limits are taken for this one */
#define REGISTERS_MOST 255u

/* So many blocks of so many threads have to find room; 0 blocks: one. Warps are spread over the partitions, and the
 * fullest one decides. */
static unsigned registers_for(uint64_t threads, uint64_t blocks)
{
    uint64_t warps = (threads + 31) / 32 * (blocks ? blocks : 1);
    uint64_t fullest = (warps + PARTITIONS - 1) / PARTITIONS, most = REGISTER_FILE / PARTITIONS / 32;
    uint64_t each = fullest && fullest <= most ? most / fullest / 8 * 8 : REGISTERS_MOST;
    return each > REGISTERS_MOST ? REGISTERS_MOST : each < REGISTERS_LEAST ? REGISTERS_LEAST : (unsigned)each;
}

/* The most threads of a block that has room with so many registers each. */
static unsigned threads_for(unsigned registers)
{
    unsigned warps = REGISTER_FILE / PARTITIONS / 32 / ((registers + 7) / 8 * 8) * PARTITIONS;
    return warps * 32 < 1024 ? warps * 32 : 1024;
}

static unsigned registers_said(unsigned most)
{
    return most == 0 || most > REGISTERS_MOST ? REGISTERS_MOST : most < REGISTERS_LEAST ? REGISTERS_LEAST : most;
}

/* The threads that a block has at most and the blocks that a multiprocessor has room for, from directives and options;
 * 0: not said. Options of blocks and threads don't count beside those of registers. */
static void bounds_of(const struct mr_ptx_function *function, const struct mr_program_limits *limits, uint64_t *threads,
                      uint64_t *blocks)
{
    const uint32_t *size = function->reqntid[0] ? function->reqntid : function->maxntid;
    bool options = !limits->registers && !limits->block_threads;
    *threads = (uint64_t)size[0] * size[1] * size[2];
    *blocks = function->minnctapersm;
    if (options && limits->most_threads && (*threads == 0 || limits->override))
        *threads = limits->most_threads;
    if (options && limits->blocks && (*blocks == 0 || limits->override))
        *blocks = limits->blocks;
    if (*threads == 0 || *blocks > THREADS_OF_SM || (*threads + 31) / 32 * 32 * *blocks > THREADS_OF_SM)
        *blocks = 0;
}

/* The most registers that a thread may have, as NVIDIA's compiler settles it (driver 580 on an H200 and ptxas 13.0,
 * November 2026). */
static unsigned register_limit(const struct mr_ptx_function *function, const struct mr_program_limits *limits)
{
    uint64_t threads, blocks;
    bounds_of(function, limits, &threads, &blocks);
    if (limits->override && limits->registers)
        return registers_said(limits->registers);
    if (function->maxnreg) {
        unsigned said = registers_said(function->maxnreg),
                 room = blocks ? registers_for(threads, blocks) : REGISTERS_MOST;
        return said < room ? said : room;
    }
    if (threads)
        return registers_for(threads, blocks);
    unsigned said = registers_said(limits->registers),
             room = limits->block_threads ? registers_for(limits->block_threads, 1) : REGISTERS_MOST;
    return said < room ? said : room;
}

/* 32-bit registers in use; what a compiler for hardware would make of them is anybody's guess, so a plausible number,
 * but within the limits that hardware's would keep. As there, it leaves room for a block of the most threads that may
 * be launched: programs reckon a grid from the occupancy, which must not be 0 for a launch that is allowed. */
static unsigned estimate_registers(const struct mr_ptx_function *function, unsigned max_threads,
                                   const struct mr_program_limits *limits)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < function->reg_count; i++) {
        unsigned bits = mr_ptx_type_bits((enum mr_ptx_type)function->regs[i].type);
        words += bits > 64 ? 4 : bits > 32 ? 2 : bits > 1 ? 1 : 0;
    }
    unsigned limit = register_limit(function, limits), room = registers_for(max_threads, 1);
    uint32_t estimate = 8 + words / 4, most = limit < room ? limit : room;
    return estimate > most ? most : estimate;
}

static size_t constant_bytes(const struct mr_ptx_module *module)
{
    size_t total = 0;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (module->vars[i]->space == MR_PTX_SPACE_CONST)
            total = (total + module->vars[i]->align - 1) / module->vars[i]->align * module->vars[i]->align +
                    (size_t)module->vars[i]->size;
    return total;
}

static bool reads_rows(const struct mr_ptx_operand *operand)
{
    if (operand->kind == MR_PTX_OPERAND_SPECIAL)
        return operand->special == MR_PTX_SPECIAL_TID && operand->component > 0;
    for (uint32_t i = 0; i < operand->count; i++)
        if (reads_rows(&operand->elements[i]))
            return true;
    return false;
}

/* Whether a block's second and third dimension count in the kernel itself. */
static bool has_rows(const struct mr_ptx_function *function)
{
    for (uint32_t i = 0; i < function->inst_count; i++)
        for (uint32_t k = 0; k < function->insts[i].operand_count; k++)
            if (reads_rows(&function->insts[i].operands[k]))
                return true;
    return false;
}

/* The class of shapes of the blocks that the kernel will probably be launched with; MR_SHAPE_COUNT if that is open. */
static unsigned guess_shape(const struct mr_ptx_function *function)
{
    const uint32_t *most = function->maxntid;
    if (function->reqntid[0])
        return mr_shape_class(function->reqntid);
    if (has_rows(function))
        return most[1] > 1 ? mr_shape_class(most) : MR_SHAPE_COUNT;
    return most[0] ? mr_shape_class(most) : MR_SHAPE_LINEAR | MR_SHAPE_FULL | MR_SHAPE_PAIRED;
}

/* Of a thread. Driver 580 on an H100 refuses launches of 524,272 bytes and more, and not those of 523,248 (for want of
 * memory only). */
#define LOCAL_MOST 523712u

static bool describe_entry(struct mr_program *program, const struct mr_tree *tree, size_t index, size_t constants,
                           const struct mr_program_options *options)
{
    const struct mr_layout_entry *from = &tree->layout.entries[index];
    const struct mr_ptx_function *function = from->func;
    struct mr_entry *entry = &program->entries[index];
    struct mr_param *params = function->param_count ? mr_calloc(function->param_count, sizeof *params) : NULL;
    if (!params && function->param_count)
        return false;
    for (uint32_t i = 0; i < function->param_count; i++)
        params[i] = (struct mr_param){.offset = function->param_offsets[i], .size = (size_t)function->params[i]->size};
    entry->param_count = function->param_count;
    entry->params = params;
    entry->param_bytes = (size_t)function->param_size;
    entry->static_shared = (size_t)from->static_shared;
    entry->dynamic_offset = (size_t)from->dynamic_offset;
    entry->constant_bytes = constants;
    entry->local_bytes = (size_t)from->local_bytes;
    entry->prints = from->prints;
    uint64_t most, blocks;
    bounds_of(function, &options->limits, &most, &blocks);
    entry->max_threads = most && most < 1024 ? (unsigned)most : 1024;
    /* A block of the required size is the only one that is launched; what is told as the most threads follows from the
     * registers then. */
    bool required = function->reqntid[0] != 0;
    entry->registers = estimate_registers(
        function, required ? function->reqntid[0] * function->reqntid[1] * function->reqntid[2] : entry->max_threads,
        &options->limits);
    if (required)
        entry->max_threads = threads_for(entry->registers);
    entry->launch_threads = from->local_bytes > LOCAL_MOST ? 0 : entry->max_threads;
    for (int i = 0; i < 3; i++)
        entry->required[i] = function->reqntid[i];
    entry->ptx_version = tree->module->target_sm;
    entry->binary_version = (unsigned)options->capability;
    program->code[index].guess = (uint8_t)guess_shape(function);
    return true;
}

static const char *symbol_name(const struct mr_layout_symbol *symbol)
{
    return symbol->func ? symbol->func->name : symbol->var->name;
}

static const char *copy_name(char **to, const char *name)
{
    size_t size = strlen(name) + 1;
    const char *copy = memcpy(*to, name, size);
    *to += size;
    return copy;
}

static bool describe_names(struct mr_program *program, const struct mr_layout *layout)
{
    size_t bytes = 0;
    for (size_t i = 0; i < layout->symbol_count; i++)
        bytes += strlen(symbol_name(&layout->symbols[i])) + 1;
    for (size_t i = 0; i < layout->entry_count; i++)
        bytes += strlen(layout->entries[i].func->name) + 1;
    char *at = program->names = mr_alloc(bytes);
    if (!at)
        return false;
    for (size_t i = 0; i < layout->symbol_count; i++)
        program->symbols[i].name = copy_name(&at, symbol_name(&layout->symbols[i]));
    for (size_t i = 0; i < layout->entry_count; i++)
        program->entries[i].name = copy_name(&at, layout->entries[i].func->name);
    return true;
}

bool mr_program_describe(struct mr_program *program, const struct mr_tree *tree,
                         const struct mr_program_options *options)
{
    program->symbol_count = tree->layout.symbol_count;
    program->entry_count = tree->layout.entry_count;
    program->symbols = mr_calloc(program->symbol_count, sizeof *program->symbols);
    program->entries = mr_calloc(program->entry_count, sizeof *program->entries);
    program->code = mr_calloc(program->entry_count, sizeof *program->code);
    if (!program->symbols || !program->entries || !program->code || !describe_names(program, &tree->layout))
        return false;
    for (size_t i = 0; i < program->symbol_count; i++)
        if (!describe_symbol(program, tree, i))
            return false;
    size_t constants = constant_bytes(tree->module);
    for (size_t i = 0; i < program->entry_count; i++)
        if (!describe_entry(program, tree, i, constants, options))
            return false;
    return mr_names_sort(program);
}

void mr_program_forget(struct mr_program *program)
{
    for (size_t i = 0; i < program->symbol_count && program->symbols; i++) {
        mr_free((void *)program->symbols[i].initial);
        mr_free((void *)program->symbols[i].relocations);
    }
    for (size_t i = 0; i < program->entry_count && program->entries; i++)
        mr_free((void *)program->entries[i].params);
    mr_free(program->symbols);
    mr_free(program->entries);
    mr_free(program->code);
    mr_free(program->names);
    mr_free(program->entry_names);
    mr_free(program->variable_names);
}

size_t mr_program_symbol_count(const struct mr_program *program)
{
    return program->symbol_count;
}

const struct mr_symbol *mr_program_symbol(const struct mr_program *program, size_t index)
{
    return &program->symbols[index];
}

size_t mr_program_entry_count(const struct mr_program *program)
{
    return program->entry_count;
}

const struct mr_entry *mr_program_entry(const struct mr_program *program, size_t index)
{
    return &program->entries[index];
}
