/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of an entry's machine code: from the disk cache (a file is read and relocated), or made by the code
 * generation library.
 *
 * The first version for a class of block shapes is made in a hurry, unless the optimised one is in the cache or the
 * program has said how much to optimise: that takes some third of the time, and its code two or three times as long to
 * run. tiers.c replaces it if that turns out to matter. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "compile/codegen_interface.h"
#include "compile/compiler.h"
#include "compile/debugger.h"
#include "compile/dump.h"
#include "compile/lines.h"
#include "compile/perf.h"
#include "compile/program.h"

#define SOURCE_ROOM 24
#define NS_PER_BYTE 500u /* of a hurried version's object: see enough_for */

uint32_t (*mr_program_place)(const char *kernel, const char *file, uint32_t line, uint32_t ptx_line);

/* The setting's text; NULL for the default. */
static bool copy_setting(enum mr_setting setting, char **out)
{
    const char *text = mr_setting_in_force(setting);
    *out = *text ? mr_memdup(text, strlen(text) + 1) : NULL;
    return *out || !*text;
}

bool mr_code_settings_read(struct mr_code_settings *settings)
{
    uint64_t after = mr_setting_number(MR_SETTING_OPTIMISE_AFTER, UINT64_MAX);
    settings->enough = after > UINT64_MAX / 1000 ? UINT64_MAX : after * 1000;
    settings->note_accesses = mr_setting_on(MR_SETTING_FAULT_THREADS);
    settings->notes = mr_program_place != NULL;
    settings->stages = mr_dump_settings().stages & (MR_DUMP_IR | MR_DUMP_ASM);
    return copy_setting(MR_SETTING_CPU, &settings->cpu) && copy_setting(MR_SETTING_CPU_FEATURES, &settings->features);
}

void mr_code_settings_clear(struct mr_code_settings *settings)
{
    mr_free(settings->cpu);
    mr_free(settings->features);
}

/* Everything that the code of one entry and shape depends on. */
static bool variant_key(const struct mr_wanted *wanted, struct mr_cache_key *key)
{
    const struct mr_program *program = wanted->program;
    const struct mr_code_settings *settings = &program->settings;
    struct mr_cache_hash hash;
    uint64_t facts[] = {MR_CODEGEN_INTERFACE, MR_ABI_VERSION,          wanted->shape,  program->optimisation,
                        wanted->hurry,        settings->note_accesses, settings->notes};
    if (!mr_cache_hash_begin(&hash))
        return false;
    mr_cache_hash_text(&hash, MR_VERSION);
    mr_cache_hash_text(&hash, mr_compiler_identity());
    mr_cache_hash_add(&hash, facts, sizeof facts);
    mr_cache_hash_add(&hash, &program->text, sizeof program->text);
    mr_cache_hash_text(&hash, program->entries[wanted->entry].name);
    mr_cache_hash_text(&hash, settings->cpu ? settings->cpu : "");
    mr_cache_hash_text(&hash, settings->features ? settings->features : "");
    mr_cache_hash_processor(&hash);
    *key = mr_cache_hash_end(&hash);
    return true;
}

/* The file that debug information names. */
static void name_source(const struct mr_program *program, char name[SOURCE_ROOM])
{
    snprintf(name, SOURCE_ROOM, "%016llx.ptx", (unsigned long long)program->text.high);
}

static uint32_t line_of(const struct mr_code *code, uintptr_t address)
{
    const struct mr_variant *variant =
        (const struct mr_variant *)(const void *)((const char *)code - offsetof(struct mr_variant, code));
    return mr_lines_find(variant->loaded.object, variant->loaded.object_size, address);
}

/* The instruction on that line of the text, or the one before it that has a place: what a compiler adds has none. */
static const struct mr_ptx_inst *find_inst(const struct mr_ptx_module *module, uint32_t line)
{
    const struct mr_ptx_inst *found = NULL;
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct mr_ptx_function *function = module->functions[f];
        if (!function->has_body || function->inst_count == 0 || line < function->line ||
            function->insts[function->inst_count - 1].line < line)
            continue;
        for (uint32_t i = 0; i < function->inst_count && function->insts[i].line <= line; i++)
            if (function->insts[i].loc_line)
                found = &function->insts[i];
    }
    return found;
}

static uint32_t source_of(const struct mr_code *code, uint32_t line, char *file, size_t room)
{
    const struct mr_variant *variant =
        (const struct mr_variant *)(const void *)((const char *)code - offsetof(struct mr_variant, code));
    struct mr_tree *tree = mr_tree_take(variant->program);
    const struct mr_ptx_inst *inst = tree ? find_inst(tree->module, line) : NULL;
    uint32_t result = 0;
    if (inst && inst->loc_file < tree->module->file_count && tree->module->files[inst->loc_file]) {
        snprintf(file, room, "%s", tree->module->files[inst->loc_file]);
        result = inst->loc_line;
    }
    mr_tree_keep(variant->program, tree);
    return result;
}

/* The numbers that observers have for the sites; NULL when memory is short, or there are none. */
static uint32_t *number_places(const struct mr_sites *sites, const char *kernel)
{
    uint32_t *places = sites ? mr_alloc((sites->count + 1) * sizeof *places) : NULL;
    for (uint32_t i = 0; places && i < sites->count; i++) {
        const struct mr_site *site = &sites->site[i];
        const char *file = site->file ? (const char *)sites + site->file : NULL;
        places[i] = mr_program_place(kernel, file, site->source_line, site->line);
    }
    return places;
}

/* What goes wrong ahead of a launch goes wrong there, too. */
static enum mr_log_level failure_level(const struct mr_wanted *wanted)
{
    return wanted->by == MR_WANTED_AHEAD ? MR_LOG_DEBUG : MR_LOG_ERROR;
}

static CUresult load_variant(const struct mr_wanted *wanted, const struct mr_cache_item *from,
                             struct mr_variant *variant)
{
    const char *name = wanted->program->entries[wanted->entry].name;
    char why[200] = "";
    if (!mr_loader_load(from->object, from->object_size, MR_KERNEL_SYMBOL, &variant->loaded, why, sizeof why)) {
        mr_log(failure_level(wanted), "compiled code cannot be loaded: %s", why);
        return variant->loaded.no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_IMAGE;
    }
    memcpy(&variant->code.function, &variant->loaded.symbol, sizeof variant->code.function);
    variant->code.text = variant->loaded.map;
    variant->code.text_bytes = variant->loaded.bytes;
    variant->code.flags = from->flags;
    variant->code.stack_bytes = from->stack_bytes;
    const struct mr_entry *entry = &wanted->program->entries[wanted->entry];
    variant->code.name = name;
    variant->code.uses.registers = entry->registers;
    variant->code.uses.local = (uint32_t)entry->local_bytes;
    variant->code.uses.shared = (uint32_t)entry->static_shared;
    variant->program = wanted->program;
    variant->code.line_of = line_of;
    variant->code.source_of = source_of;
    variant->code.sites = variant->loaded.sites;
    variant->code.places = number_places(variant->loaded.sites, name);
    if (variant->code.sites && !variant->code.places) {
        mr_loader_unload(&variant->loaded);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    char source[SOURCE_ROOM];
    name_source(wanted->program, source);
    variant->seen = mr_debugger_show(variant->loaded.object, variant->loaded.object_size);
    mr_perf_note(&variant->loaded, name, source);
    return CUDA_SUCCESS;
}

static void dump_variant(const struct mr_wanted *wanted, const struct mr_codegen_result *result)
{
    const struct {
        unsigned stage;
        const char *suffix, *text;
    } files[] = {{MR_DUMP_IR, "ll", result->ir_text},
                 {MR_DUMP_IR, "opt.ll", result->ir_optimised},
                 {MR_DUMP_ASM, "s", result->assembly}};
    char name[256];
    snprintf(name, sizeof name, "%.200s-%u", wanted->program->entries[wanted->entry].name, wanted->shape);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].text)
            mr_dump_text(files[i].stage, wanted->program->text.high, name, files[i].suffix, files[i].text,
                         strlen(files[i].text));
}

/* Generates the code. The object goes to the cache if `key` is given. */
static CUresult generate(const struct mr_wanted *wanted, const struct mr_cache_key *key, struct mr_variant *variant)
{
    struct mr_program *program = wanted->program;
    const struct mr_code_settings *settings = &program->settings;
    const char *name = program->entries[wanted->entry].name;
    const struct mr_codegen_api *compiler = mr_compiler_open();
    if (!compiler)
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    struct mr_tree *tree = mr_tree_take(program);
    if (!tree)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char source[SOURCE_ROOM];
    name_source(program, source);
    struct mr_codegen_request request = {.module = tree->module,
                                         .layout = &tree->layout,
                                         .entry = (uint32_t)wanted->entry,
                                         .shape = wanted->shape,
                                         .optimisation = program->optimisation,
                                         .hurry = wanted->hurry,
                                         .cpu = settings->cpu,
                                         .features = settings->features,
                                         .want_ir = settings->stages & MR_DUMP_IR,
                                         .want_assembly = settings->stages & MR_DUMP_ASM,
                                         .source = source,
                                         .note_accesses = settings->note_accesses,
                                         .notes = settings->notes};
    struct mr_codegen_result result = {.object = NULL};
    uint64_t start = mr_clock_ns(), worked = mr_clock_thread_ns();
    CUresult status;
    if (compiler->emit(&request, &result)) {
        struct mr_cache_item made = {.flags = result.flags,
                                     .stack_bytes = result.stack_bytes,
                                     .object = result.object,
                                     .object_size = result.object_size};
        status = load_variant(wanted, &made, variant);
        if (status == CUDA_SUCCESS && key)
            mr_cache_store(*key, &made);
        dump_variant(wanted, &result);
        if (result.note)
            mr_log(MR_LOG_INFO, "kernel '%s': %s", name, result.note);
        mr_log(MR_LOG_DEBUG, "compiled kernel '%s' for block shape class %u%s%s in %llu µs, %llu of processor time",
               name, wanted->shape, wanted->hurry ? ", in a hurry," : "",
               wanted->by == MR_WANTED_AHEAD ? " ahead of its launch," : "",
               (unsigned long long)(mr_clock_ns() - start) / 1000,
               (unsigned long long)(mr_clock_thread_ns() - worked) / 1000);
    } else {
        status = result.error ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_OUT_OF_MEMORY;
        mr_log(failure_level(wanted), "kernel '%s' could not be compiled: %s", name,
               result.error ? result.error : "out of memory");
    }
    compiler->release(&result);
    mr_tree_keep(program, tree);
    return status;
}

/* Where the code is in the cache, false if nowhere. */
static bool find_key(const struct mr_wanted *wanted, struct mr_cache_key *key)
{
    return mr_cache_folder() && variant_key(wanted, key);
}

static bool load_cached(const struct mr_wanted *wanted, const struct mr_cache_key *key, struct mr_variant *variant)
{
    struct mr_cache_item found;
    if (wanted->program->settings.stages || !mr_cache_find(*key, &found))
        return false;
    CUresult status = load_variant(wanted, &found, variant);
    mr_cache_release(&found);
    return status == CUDA_SUCCESS;   /* else whole but unusable: compiled anew, which replaces it */
}

CUresult mr_variant_make(const struct mr_wanted *wanted, struct mr_variant *variant)
{
    struct mr_cache_key key;
    bool cached = find_key(wanted, &key);
    if (cached && load_cached(wanted, &key, variant))
        return CUDA_SUCCESS;
    return generate(wanted, cached ? &key : NULL, variant);
}

void mr_variant_free(struct mr_variant *variant)
{
    while (variant) {
        struct mr_variant *first = variant->first;
        if (variant->code.tier)
            variant->tier.ends(&variant->tier);
        mr_debugger_forget(variant->seen);
        mr_loader_unload(&variant->loaded);
        mr_free((void *)variant->code.places);
        mr_free(variant);
        variant = first;
    }
}

/* What a version in a hurry may run for: a fifth or so of what making the optimised one takes, which goes with the size
 * of the code. */
static uint64_t enough_for(const struct mr_program *program, const struct mr_variant *variant)
{
    return program->settings.enough != UINT64_MAX ? program->settings.enough
                                                  : variant->loaded.object_size * NS_PER_BYTE;
}

/* A program has one version of a kernel, or also a first one in a hurry. */
static bool has_one_version(const struct mr_program *program)
{
    return program->level_is_said || program->settings.enough == 0 || program->settings.stages;
}

bool mr_variant_on_disk(struct mr_program *program, size_t entry, unsigned shape)
{
    struct mr_wanted wanted = {.program = program, .entry = entry, .shape = shape};
    struct mr_cache_key key;
    struct mr_cache_item found;
    for (int hurry = 0; hurry < (has_one_version(program) ? 1 : 2); hurry++) {
        wanted.hurry = hurry;
        if (find_key(&wanted, &key) && mr_cache_find(key, &found)) {
            mr_cache_release(&found);
            return true;
        }
    }
    return false;
}

/* Notes what may take the place of a version in a hurry (tiers.c). */
static void promise_better(const struct mr_wanted *hurried, struct mr_variant *variant)
{
    variant->better = *hurried;
    variant->better.hurry = false;
    variant->better.by = MR_WANTED_BETTER;
    variant->tier.enough = enough_for(hurried->program, variant);
}

bool mr_variant_from_disk(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant *variant)
{
    struct mr_wanted wanted = {.program = program, .entry = entry, .shape = shape};
    struct mr_cache_key key;
    if (find_key(&wanted, &key) && load_cached(&wanted, &key, variant))
        return true;
    wanted.hurry = true;
    if (has_one_version(program) || !find_key(&wanted, &key) || !load_cached(&wanted, &key, variant))
        return false;
    promise_better(&wanted, variant);
    return true;
}

CUresult mr_variant_new(struct mr_program *program, size_t entry, unsigned shape, enum mr_wanted_by by,
                        struct mr_variant *variant)
{
    struct mr_wanted wanted = {
        .program = program, .entry = entry, .shape = shape, .hurry = !has_one_version(program), .by = by};
    struct mr_cache_key key;
    bool cached = find_key(&wanted, &key);
    CUresult status = generate(&wanted, cached ? &key : NULL, variant);
    if (status == CUDA_SUCCESS && wanted.hurry)
        promise_better(&wanted, variant);
    return status;
}

struct mr_variant *mr_variant_put(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant *variant)
{
    struct mr_variant *none = NULL;
    atomic_fetch_add_explicit(&program->made, 1, memory_order_relaxed);
    if (atomic_compare_exchange_strong_explicit(&program->code[entry].variants[shape], &none, variant,
                                                memory_order_release, memory_order_relaxed))
        return NULL;
    atomic_fetch_sub_explicit(&program->made, 1, memory_order_relaxed);
    return variant;
}
