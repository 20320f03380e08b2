/* SPDX-License-Identifier: Apache-2.0 */

/*
 * See codegen_rig.h.
 */
#include "codegen_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "compile/codegen.h"
#include "compile/loader.h"
#include "kernel/footprint.h"
#include "kernel_double.h"

extern const struct mr_codegen_api mr_codegen;

unsigned rig_variant;
size_t rig_stack_limit;
void (*rig_touched)(const struct mr_access *box, const struct mr_site *site);

struct compiled {
    uint32_t entry;
    unsigned shape, variant;
    bool notes;
    struct mr_loaded loaded;
    struct mr_code code;
    char *note;
    struct compiled *next;
};

struct rig {
    struct mr_ptx_module *module;
    struct mr_layout layout;
    uintptr_t *symbols;
    struct compiled *compiled;
};

static void fill_symbols(struct rig *rig)
{
    rig->symbols = calloc(rig->layout.symbol_count + 1, sizeof *rig->symbols);
    for (uint32_t i = 0; i < rig->layout.variable_count; i++) {
        const struct mr_ptx_var *var = rig->layout.symbols[i].var;
        unsigned char *memory = mr_calloc_aligned(256, (var->size + 255) / 256 * 256 + 256);
        if (var->init)
            memcpy(memory, var->init, var->init_size);
        rig->symbols[i] = (uintptr_t)memory;
    }
    for (uint32_t i = 0; i < rig->layout.variable_count; i++) {
        const struct mr_ptx_var *var = rig->layout.symbols[i].var;
        for (uint32_t r = 0; r < var->reloc_count; r++) {
            const struct mr_ptx_reloc *reloc = &var->relocs[r];
            uint64_t value = reloc->func ? mr_layout_function_value(&rig->layout, reloc->func)
                                         : rig->symbols[mr_layout_symbol(&rig->layout, reloc->var)];
            value = (value + (uint64_t)reloc->addend) >> reloc->shift;
            memcpy((unsigned char *)rig->symbols[i] + reloc->offset, &value, reloc->width);
        }
    }
}

struct rig *rig_open(const char *ptx)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    rig->module = mr_ptx_parse(ptx, strlen(ptx), &diag);
    if (!rig->module || !mr_ptx_verify(rig->module, &diag) || !mr_codegen_check(rig->module, &diag))
        fail_msg("%s", mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
    assert_true(mr_layout_build(rig->module, &rig->layout));
    fill_symbols(rig);
    return rig;
}

struct rig *rig_open_file(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    struct rig *rig = rig_open(text);
    free(text);
    return rig;
}

void rig_refuses(const char *ptx, const char *expected)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(ptx, strlen(ptx), &diag);
    bool good = module && mr_ptx_verify(module, &diag) && mr_codegen_check(module, &diag);
    if (good || !strstr(mr_ptx_diag_text(&diag), expected))
        fail_msg("%s, expected '%s' in: %s", good ? "accepted" : "refused", expected, mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
    mr_ptx_module_destroy(module);
}

void rig_close(struct rig *rig)
{
    while (rig->compiled) {
        struct compiled *next = rig->compiled->next;
        mr_loader_unload(&rig->compiled->loaded);
        free(rig->compiled->note);
        free(rig->compiled);
        rig->compiled = next;
    }
    for (uint32_t i = 0; i < rig->layout.variable_count; i++)
        mr_free((void *)rig->symbols[i]);
    free(rig->symbols);
    mr_layout_clear(&rig->layout);
    mr_ptx_module_destroy(rig->module);
    free(rig);
}

void *rig_symbol(struct rig *rig, const char *name)
{
    for (uint32_t i = 0; i < rig->layout.variable_count; i++)
        if (strcmp(rig->layout.symbols[i].var->name, name) == 0)
            return (void *)rig->symbols[i];
    fail_msg("no variable '%s'", name);
    return NULL;
}

static uint32_t find_entry(struct rig *rig, const char *name)
{
    for (uint32_t e = 0; e < rig->layout.entry_count; e++)
        if (strcmp(rig->layout.entries[e].func->name, name) == 0)
            return e;
    fail_msg("no entry '%s'", name);
    return 0;
}

static bool makes_notes(void)
{
    return rig_touched || getenv("RIG_NOTES");
}

static struct compiled *compile(struct rig *rig, uint32_t entry, unsigned shape)
{
    for (struct compiled *c = rig->compiled; c; c = c->next)
        if (c->entry == entry && c->shape == shape && c->variant == rig_variant && c->notes == makes_notes())
            return c;
    static const char *const processors[RIG_VARIANTS + 1] = {[2] = "haswell", [5] = "x86-64", [7] = "haswell"};
    /* Behind a loop over the variants it is as in variant 0. The oldest has none of FMA, F16C and SSE4.1, but atomics
     * of 16 bytes, as all but the first have. */
    struct compiled *c = calloc(1, sizeof *c);
    struct mr_codegen_request request = {.module = rig->module,
                                         .layout = &rig->layout,
                                         .entry = entry,
                                         .shape = shape,
                                         .optimisation = rig_variant == 3 ? 0 : 3,
                                         .cpu = processors[rig_variant],
                                         .features = rig_variant == 5 ? "+cx16" : NULL,
                                         .hurry = rig_variant == 6 || rig_variant == 7,
                                         .notes = makes_notes(),
                                         .all_pairs = rig_variant == 4,
                                         .quick_backend = QUICK_BACKEND};
    struct mr_codegen_result result;
    if (!mr_codegen.emit(&request, &result))
        fail_msg("%s", result.error);
    char why[200];
    if (!mr_loader_load(result.object, result.object_size, result.symbol, &c->loaded, why, sizeof why))
        fail_msg("%s", why);
    c->entry = entry;
    c->shape = shape;
    c->variant = rig_variant;
    c->notes = request.notes;
    c->code = (struct mr_code){.flags = result.flags, .stack_bytes = result.stack_bytes, .sites = c->loaded.sites};
    memcpy(&c->code.function, &c->loaded.symbol, sizeof c->loaded.symbol);
    c->next = rig->compiled;
    rig->compiled = c;
    c->note = result.note ? strdup(result.note) : NULL;
    mr_codegen.release(&result);
    return c;
}

static void tell(void *data, struct mr_access *boxes, size_t count)
{
    const struct mr_code *code = data;
    for (size_t i = 0; rig_touched && i < count; i++)
        rig_touched(&boxes[i], &code->sites->site[boxes[i].place]);
}

CUresult rig_launch(struct rig *rig, const char *name, const unsigned grid[3], const unsigned block[3],
                    unsigned dynamic_shared, const void *params, size_t param_bytes)
{
    uint32_t entry = find_entry(rig, name);
    const struct mr_layout_entry *layout = &rig->layout.entries[entry];
    unsigned shape = rig_variant == 1 ? 0 : mr_shape_class(block);
    struct compiled *compiled = compile(rig, entry, shape);
    struct mr_context *context = double_context();
    atomic_store(&context->limits[CU_LIMIT_STACK_SIZE], rig_stack_limit);
    struct mr_launch *launch =
        double_launch(context, compiled->code.function, compiled->code.flags, 1, 1, params, param_bytes);
    *(struct mr_code *)launch->code = compiled->code;
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = grid[i];
        launch->block[i] = block[i];
    }
    launch->dynamic_shared = dynamic_shared;
    launch->dynamic_offset = (uint32_t)layout->dynamic_offset;
    launch->shared_size = (uint32_t)layout->dynamic_offset + dynamic_shared;
    launch->symbols = rig->symbols;
    CUresult status = double_run(launch);
    mr_footprint_give(launch, tell, &compiled->code);
    double_launch_free(launch);
    mr_free(context);
    return status;
}

void rig_run(struct rig *rig, const char *entry, unsigned blocks, unsigned threads, const void *params,
             size_t param_bytes)
{
    unsigned grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
    assert_int_equal(rig_launch(rig, entry, grid, block, 0, params, param_bytes), CUDA_SUCCESS);
}

char *rig_text(struct rig *rig, const char *entry, unsigned shape, const char *cpu, bool assembly)
{
    struct mr_codegen_request request = {.module = rig->module,
                                         .layout = &rig->layout,
                                         .entry = find_entry(rig, entry),
                                         .shape = shape,
                                         .optimisation = 3,
                                         .cpu = cpu,
                                         .want_ir = true,
                                         .want_assembly = true};
    struct mr_codegen_result result;
    if (!mr_codegen.emit(&request, &result))
        fail_msg("%s", result.error);
    char *copy = strdup(assembly ? result.assembly : result.ir_optimised);
    mr_codegen.release(&result);
    return copy;
}

const char *rig_note(struct rig *rig, const char *entry)
{
    return compile(rig, find_entry(rig, entry), 0)->note;
}

unsigned rig_flags(struct rig *rig, const char *entry)
{
    return compile(rig, find_entry(rig, entry), 0)->code.flags;
}

size_t rig_object_size(struct rig *rig, const char *entry, unsigned shape, bool hurry)
{
    struct mr_codegen_request request = {.module = rig->module,
                                         .layout = &rig->layout,
                                         .entry = find_entry(rig, entry),
                                         .shape = shape,
                                         .optimisation = 3,
                                         .hurry = hurry};
    struct mr_codegen_result result;
    if (!mr_codegen.emit(&request, &result))
        fail_msg("%s", result.error);
    size_t size = result.object_size;
    mr_codegen.release(&result);
    return size;
}
