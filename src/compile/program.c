/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: loading an image, and machine code on demand.
 *
 * Loading does everything that can fail because of the image: the container is opened here, its text goes through build.c. Machine code is made at the
 * first launch with a class of block shapes: from the disk cache if it is there (a file is read and relocated), else by the code generation library.
 * (Driver API manual, Module Management: cuModuleLoadDataEx and its statuses.) */
#include "compile/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/settings.h"
#include "compile/codegen_interface.h"
#include "compile/compiler.h"
#include "compile/debugger.h"
#include "compile/dump.h"
#include "compile/lines.h"
#include "compile/perf.h"
#include "ptx/container.h"
#include "ptx/join.h"

#define SOURCE_ROOM 24

/* Puts a text into a log of the caller's, cut to its room. */
static void give_log(char *log, size_t room, size_t *used, const char *text)
{
    *used = 0;
    if (!log || room == 0)
        return;
    size_t length = strlen(text);
    if (length >= room)
        length = room - 1;
    memcpy(log, text, length);
    log[length] = '\0';
    *used = length + 1;
}

static void free_program(struct mr_program *program)
{
    for (size_t i = 0; i < program->entry_count && program->code; i++)
        for (unsigned shape = 0; shape < MR_SHAPE_COUNT; shape++) {
            struct mr_variant *variant = atomic_load(&program->code[i].variants[shape]);
            if (variant) {
                mr_debugger_forget(variant->seen);
                mr_loader_unload(&variant->loaded);
            }
            mr_free(variant);
        }
    mr_tree_forget(program);
    mr_program_forget(program);
    mr_free(program->source.packed);
    mr_free(program);
}

/* PTX begins with its version, after white space and comments; text that doesn't is no image at all to hardware. */
static bool begins_with_version(const char *text, size_t length)
{
    static const char word[] = ".version";
    size_t at = 0;
    for (;;) {
        while (at < length && strchr(" \t\r\n\f\v", text[at]) && text[at])
            at++;
        if (length - at < 2 || text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*'))
            return length - at >= sizeof word - 1 && memcmp(text + at, word, sizeof word - 1) == 0;
        const char *end = text[at + 1] == '/' ? memchr(text + at, '\n', length - at) : memmem(text + at + 2, length - at - 2, "*/", 2);
        if (!end)
            return false;
        at = (size_t)(end - text) + (text[at + 1] == '/' ? 1 : 2);
    }
}

/* Warnings, and for CU_JIT_LOG_VERBOSE what each kernel uses. */
static void give_info(const struct mr_program *program, const struct mr_tree *tree, struct mr_program_options *options, const struct mr_ptx_diag *diag)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = options->verbose && options->info_room ? open_memstream(&text, &size) : NULL;
    if (file) {
        mr_program_put_uses(file, program, tree);
        fputs(mr_ptx_diag_text(diag), file);
        fclose(file);
    }
    give_log(options->info_log, options->info_room, &options->info_used, text ? text : mr_ptx_diag_text(diag));
    free(text);
}

static CUresult load_text(const char *text, size_t length, struct mr_program_options *options, struct mr_program **out)
{
    struct mr_ptx_diag diag;
    struct mr_tree *tree = NULL;
    struct mr_program *program = mr_calloc(1, sizeof *program);
    if (!program)
        return CUDA_ERROR_OUT_OF_MEMORY;
    atomic_store(&program->references, 1);
    program->optimisation = options->optimisation;
    program->text = mr_cache_hash_of(text, length);
    mr_ptx_diag_init(&diag);
    mr_dump_text(MR_DUMP_PTX, program->text.high, "", "ptx", text, length);
    CUresult status = mr_program_build(program, text, length, options, &diag, &tree);
    if (status == CUDA_SUCCESS && !mr_source_pack(&program->source, text, length))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && program->entry_count > 0 && !mr_compiler_present())
        status = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    if (status != CUDA_SUCCESS) {
        give_log(options->error_log, options->error_room, &options->error_used, mr_ptx_diag_text(&diag));
        mr_log(MR_LOG_INFO, "PTX refused: %s", status == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : mr_ptx_diag_text(&diag));
        mr_tree_free(tree);
        free_program(program);
    } else {
        give_info(program, tree, options, &diag);
        mr_tree_keep(program, tree);
        *out = program;
    }
    mr_ptx_diag_clear(&diag);
    return status;
}

/* The PTX of an image; free it with mr_ptx_text_free if all went well. */
static CUresult open_image(const void *image, size_t size, struct mr_program_options *options, struct mr_ptx_text *ptx)
{
    options->error_used = options->info_used = 0;
    switch (mr_ptx_container_read(image, size, (uint32_t)options->capability, ptx)) {
    case MR_PTX_CONTAINER_OK: break;
    case MR_PTX_CONTAINER_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case MR_PTX_CONTAINER_NO_BINARY:
        give_log(options->error_log, options->error_room, &options->error_used, "error: the image has no PTX that suits this device\n");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
        give_log(options->error_log, options->error_room, &options->error_used, "error: the image is neither PTX nor a fat binary\n");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (begins_with_version(ptx->text, ptx->length))
        return CUDA_SUCCESS;
    mr_log(MR_LOG_INFO, "image refused: it does not begin with .version");
    give_log(options->error_log, options->error_room, &options->error_used, "error: the image does not begin with .version\n");
    mr_ptx_text_free(ptx);
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult mr_program_join(const struct mr_program_image *images, unsigned count, struct mr_program_options *options, char **text)
{
    struct mr_ptx_text *texts = mr_calloc(count, sizeof *texts);
    struct mr_ptx_join_input *inputs = mr_calloc(count, sizeof *inputs);
    CUresult status = texts && inputs ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    unsigned opened = 0;
    while (status == CUDA_SUCCESS && opened < count) {
        status = open_image(images[opened].data, images[opened].size, options, &texts[opened]);
        if (status != CUDA_SUCCESS)
            break;
        inputs[opened] = (struct mr_ptx_join_input){ texts[opened].text, texts[opened].length };
        opened++;
    }
    if (status == CUDA_SUCCESS) {
        struct mr_ptx_diag diag;
        mr_ptx_diag_init(&diag);
        *text = mr_ptx_join(inputs, count, options->limits.registers, &diag);
        if (!*text) {
            status = mr_program_status_of(&diag);
            give_log(options->error_log, options->error_room, &options->error_used, mr_ptx_diag_text(&diag));
        }
        mr_ptx_diag_clear(&diag);
    }
    while (opened > 0)
        mr_ptx_text_free(&texts[--opened]);
    mr_free(texts);
    mr_free(inputs);
    return status;
}

CUresult mr_program_load(const void *image, size_t size, struct mr_program_options *options, struct mr_program **out)
{
    struct mr_ptx_text ptx;
    CUresult status = open_image(image, size, options, &ptx);
    if (status != CUDA_SUCCESS)
        return status;
    status = load_text(ptx.text, ptx.length, options, out);
    mr_ptx_text_free(&ptx);
    return status;
}

void mr_program_hold(struct mr_program *program)
{
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
}

void mr_program_drop(struct mr_program *program)
{
    if (program && atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) == 1)
        free_program(program);
}

/* Machine code. */

/* Everything that the code of one entry and shape depends on. */
static bool variant_key(const struct mr_program *program, size_t entry, unsigned shape, struct mr_cache_key *key)
{
    struct mr_cache_hash hash;
    uint64_t facts[] = { MR_CODEGEN_INTERFACE, MR_ABI_VERSION, shape, program->optimisation, mr_setting_on(MR_SETTING_FAULT_THREADS) };
    if (!mr_cache_hash_begin(&hash))
        return false;
    mr_cache_hash_text(&hash, MR_VERSION);
    mr_cache_hash_text(&hash, mr_compiler_identity());
    mr_cache_hash_add(&hash, facts, sizeof facts);
    mr_cache_hash_add(&hash, &program->text, sizeof program->text);
    mr_cache_hash_text(&hash, program->entries[entry].name);
    mr_cache_hash_text(&hash, mr_setting_text(MR_SETTING_CPU));
    mr_cache_hash_text(&hash, mr_setting_text(MR_SETTING_CPU_FEATURES));
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
    const struct mr_variant *variant = (const struct mr_variant *)(const void *)((const char *)code - offsetof(struct mr_variant, code));
    return mr_lines_find(variant->loaded.object, variant->loaded.object_size, address);
}

static CUresult load_variant(const struct mr_program *program, const struct mr_cache_entry *from, const char *name, struct mr_variant *variant)
{
    char why[200] = "";
    if (!mr_loader_load(from->object, from->object_size, MR_KERNEL_SYMBOL, &variant->loaded, why, sizeof why)) {
        mr_log(MR_LOG_ERROR, "compiled code cannot be loaded: %s", why);
        return variant->loaded.no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_IMAGE;
    }
    memcpy(&variant->code.function, &variant->loaded.symbol, sizeof variant->code.function);
    variant->code.flags = from->flags;
    variant->code.stack_bytes = from->stack_bytes;
    variant->code.name = name;
    variant->code.line_of = line_of;
    char source[SOURCE_ROOM];
    name_source(program, source);
    variant->seen = mr_debugger_show(variant->loaded.object, variant->loaded.object_size);
    mr_perf_note(&variant->loaded, name, source);
    return CUDA_SUCCESS;
}

static void dump_variant(const struct mr_program *program, size_t entry, unsigned shape, const struct mr_codegen_result *result)
{
    const struct { unsigned stage; const char *suffix, *text; } files[] = {
        { MR_DUMP_IR, "ll", result->ir_text }, { MR_DUMP_IR, "opt.ll", result->ir_optimised }, { MR_DUMP_ASM, "s", result->assembly } };
    char name[256];
    snprintf(name, sizeof name, "%.200s-%u", program->entries[entry].name, shape);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].text)
            mr_dump_text(files[i].stage, program->text.high, name, files[i].suffix, files[i].text, strlen(files[i].text));
}

/* Generates the code. The object goes to the cache if `key` is given. */
static CUresult generate(struct mr_program *program, size_t entry, unsigned shape, const struct mr_cache_key *key, struct mr_variant *variant)
{
    const struct mr_codegen_api *compiler = mr_compiler_open();
    if (!compiler)
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    struct mr_tree *tree = mr_tree_take(program);
    if (!tree)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const char *cpu = mr_setting_text(MR_SETTING_CPU), *features = mr_setting_text(MR_SETTING_CPU_FEATURES);
    unsigned stages = mr_dump_settings().stages;
    char source[SOURCE_ROOM];
    name_source(program, source);
    struct mr_codegen_request request = { .module = tree->module, .layout = &tree->layout, .entry = (uint32_t)entry, .shape = shape,
        .optimisation = program->optimisation, .cpu = *cpu ? cpu : NULL, .features = *features ? features : NULL, .want_ir = stages & MR_DUMP_IR,
        .want_assembly = stages & MR_DUMP_ASM, .source = source, .note_accesses = mr_setting_on(MR_SETTING_FAULT_THREADS) };
    struct mr_codegen_result result = { .object = NULL };
    uint64_t start = mr_clock_ns();
    CUresult status;
    if (compiler->emit(&request, &result)) {
        struct mr_cache_entry made = { .flags = result.flags, .stack_bytes = result.stack_bytes, .object = result.object, .object_size = result.object_size };
        status = load_variant(program, &made, program->entries[entry].name, variant);
        if (status == CUDA_SUCCESS && key)
            mr_cache_store(*key, &made);
        dump_variant(program, entry, shape, &result);
        if (result.note)
            mr_log(MR_LOG_INFO, "kernel '%s': %s", program->entries[entry].name, result.note);
        mr_log(MR_LOG_DEBUG, "compiled kernel '%s' for block shape class %u in %llu µs", program->entries[entry].name, shape,
            (unsigned long long)(mr_clock_ns() - start) / 1000);
    } else {
        status = result.error ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_OUT_OF_MEMORY;
        mr_log(MR_LOG_ERROR, "kernel '%s' could not be compiled: %s", program->entries[entry].name, result.error ? result.error : "out of memory");
    }
    compiler->release(&result);
    mr_tree_keep(program, tree);
    return status;
}

static CUresult make_variant(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant *variant)
{
    struct mr_cache_key key;
    struct mr_cache_entry found;
    bool cached = mr_cache_folder() && variant_key(program, entry, shape, &key);
    if (cached && !(mr_dump_settings().stages & (MR_DUMP_IR | MR_DUMP_ASM)) && mr_cache_find(key, &found)) {
        CUresult status = load_variant(program, &found, program->entries[entry].name, variant);
        mr_cache_release(&found);
        if (status == CUDA_SUCCESS)
            return status;
        /* Whole but unusable: compile anew, which replaces it. */
    }
    return generate(program, entry, shape, cached ? &key : NULL, variant);
}

static CUresult add_variant(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant **out)
{
    _Atomic(struct mr_variant *) *place = &program->code[entry].variants[shape];
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&program->lock);
    struct mr_variant *variant = atomic_load_explicit(place, memory_order_acquire);
    if (!variant) {
        variant = mr_calloc(1, sizeof *variant);
        status = variant ? make_variant(program, entry, shape, variant) : CUDA_ERROR_OUT_OF_MEMORY;
        if (status == CUDA_SUCCESS)
            atomic_store_explicit(place, variant, memory_order_release);
        else {
            mr_free(variant);
            variant = NULL;
        }
    }
    mr_lock_drop(&program->lock);
    *out = variant;
    return status;
}

CUresult mr_program_code(struct mr_program *program, size_t entry, const unsigned block[3], const struct mr_code **out)
{
    unsigned shape = mr_shape_class(block);
    if (entry >= program->entry_count)
        return CUDA_ERROR_INVALID_VALUE;
    struct mr_variant *variant = atomic_load_explicit(&program->code[entry].variants[shape], memory_order_acquire);
    if (__builtin_expect(!variant, 0)) {
        CUresult status = add_variant(program, entry, shape, &variant);
        if (status != CUDA_SUCCESS)
            return status;
    }
    *out = &variant->code;
    return CUDA_SUCCESS;
}
