/* SPDX-License-Identifier: Apache-2.0 */
/* From PTX text to a program: parsed, verified, checked against what code generation can do and what a launch could provide, laid out, described. Compilers and
 * linkers that ask whether a text would load come this way, too (uses.c); there is no machine code in it. */
#include "compile/program.h"

#define STATIC_SHARED_MAX (48u << 10)   /* more must be dynamic, as on hardware */

CUresult mr_program_status_of(const struct mr_ptx_diag *diag)
{
    if (diag->out_of_memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return diag->bad_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX;
}

/* Static shared memory that no launch could provide. */
static bool check_limits(const struct mr_program *program, struct mr_ptx_diag *diag)
{
    bool good = true;
    for (uint32_t i = 0; i < program->layout.entry_count; i++) {
        const struct mr_layout_entry *entry = &program->layout.entries[i];
        if (entry->static_shared <= STATIC_SHARED_MAX)
            continue;
        mr_ptx_diag_error(diag, entry->func->line, entry->func->column, "kernel '%s' uses %llu bytes of static shared memory; %u is the most",
            entry->func->name, (unsigned long long)entry->static_shared, STATIC_SHARED_MAX);
        good = false;
    }
    return good;
}

static bool check_target(const struct mr_ptx_module *module, int capability, struct mr_ptx_diag *diag)
{
    if (module->target_sm <= (uint32_t)capability)
        return true;
    mr_ptx_diag_error(diag, 0, 0, "the module is for sm_%u and the device is sm_%d", module->target_sm, capability);
    return false;
}

CUresult mr_program_build(struct mr_program *program, const char *text, size_t length, struct mr_program_options *options, struct mr_ptx_diag *diag)
{
    program->module = mr_ptx_parse(text, length, diag);
    if (!program->module)
        return mr_program_status_of(diag);
    if (!options->capability)
        options->capability = (int)program->module->target_sm;
    /* The verifier and the checks that follow show source lines as well. */
    diag->source = text;
    diag->source_length = length;
    program->module->is_partial = options->partial;
    bool good = mr_ptx_verify(program->module, diag) && check_target(program->module, options->capability, diag) &&
        mr_codegen_check(program->module, diag);
    if (good && !mr_layout_build(program->module, &program->layout))
        return CUDA_ERROR_OUT_OF_MEMORY;
    good = good && check_limits(program, diag);
    diag->source = NULL;
    if (!good)
        return mr_program_status_of(diag);
    return mr_program_describe(program, options) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void mr_program_unbuild(struct mr_program *program)
{
    mr_program_forget(program);
    mr_layout_clear(&program->layout);
    mr_ptx_module_destroy(program->module);
}
