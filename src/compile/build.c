/* SPDX-License-Identifier: Apache-2.0 */
/* From PTX text to a program: parsed, verified, checked against what code generation can do and what a launch could
 * provide, laid out, described. Compilers and linkers that ask whether a text would load come this way, too (uses.c);
 * there is no machine code in it. */
#include "base/alloc.h"
#include "compile/program.h"

#define STATIC_SHARED_MAX (48u << 10)   /* more must be dynamic, as on hardware */
#define LOCAL_MAX \
    (UINT64_C(0x7fffffff)) /* of a thread, what CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES can tell; NVIDIA's compiler wraps \
                              around */

CUresult mr_program_status_of(const struct mr_ptx_diag *diag)
{
    if (diag->out_of_memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return diag->bad_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX;
}

/* Static shared memory that no launch could provide, and local memory beyond all measure. What is more local memory
 * than a thread can have, but can be told, is loaded and fails at the launch, as on hardware. */
static bool check_limits(const struct mr_layout *layout, struct mr_ptx_diag *diag)
{
    bool good = true;
    for (uint32_t i = 0; i < layout->entry_count; i++) {
        const struct mr_layout_entry *entry = &layout->entries[i];
        if (entry->static_shared > STATIC_SHARED_MAX) {
            mr_ptx_diag_error(diag, entry->func->line, entry->func->column,
                              "kernel '%s' uses %llu bytes of static shared memory; %u is the most", entry->func->name,
                              (unsigned long long)entry->static_shared, STATIC_SHARED_MAX);
            good = false;
        }
        if (entry->local_bytes > LOCAL_MAX) {
            mr_ptx_diag_error(diag, entry->func->line, entry->func->column,
                              "kernel '%s' uses %llu bytes of local memory for each thread; %llu is the most",
                              entry->func->name, (unsigned long long)entry->local_bytes, (unsigned long long)LOCAL_MAX);
            good = false;
        }
    }
    return good;
}

static bool check_target(const struct mr_ptx_module *module, int capability, struct mr_ptx_diag *diag)
{
    if (module->target_sm <= (uint32_t)capability)
        return true;
    mr_ptx_diag_error(
        diag, 0, 0,
        "the module is for sm_%u and the device is sm_%d; MILLRACE_COMPUTE_CAPABILITY=%u.%u makes it one that "
        "runs the module",
        module->target_sm, capability, module->target_sm / 10, module->target_sm % 10);
    return false;
}

/* ptxas has no optimised debugging, and so hardware's driver refuses such a module with a level above 0. */
static bool check_level(const struct mr_ptx_module *module, const struct mr_program_options *options,
                        struct mr_ptx_diag *diag)
{
    if (!module->target_debug || !options->level_is_said || options->optimisation == 0)
        return true;
    mr_ptx_diag_error(diag, 0, 0,
                      "optimised debugging is not supported: a module for debugging (-G) is loaded with "
                      "CU_JIT_OPTIMIZATION_LEVEL 0, or without that option, not with %u",
                      options->optimisation);
    return false;
}

/* The tree in parts, and with what it lacks if something is wrong. */
static CUresult fill(struct mr_tree *tree, const char *text, size_t length, struct mr_program_options *options,
                     struct mr_ptx_diag *diag)
{
    tree->module = mr_ptx_parse(text, length, diag);
    if (!tree->module)
        return mr_program_status_of(diag);
    if (!options->capability)
        options->capability = (int)tree->module->target_sm;
    /* The verifier and the checks that follow show source lines as well. */
    diag->source = text;
    diag->source_length = length;
    tree->module->is_partial = options->partial;
    bool good = mr_ptx_verify(tree->module, diag) && check_target(tree->module, options->capability, diag) &&
                check_level(tree->module, options, diag) && mr_codegen_check(tree->module, diag);
    if (good && !mr_layout_build(tree->module, &tree->layout))
        return CUDA_ERROR_OUT_OF_MEMORY;
    good = good && check_limits(&tree->layout, diag);
    diag->source = NULL;
    return good ? CUDA_SUCCESS : mr_program_status_of(diag);
}

CUresult mr_program_build(struct mr_program *program, const char *text, size_t length,
                          struct mr_program_options *options, struct mr_ptx_diag *diag, struct mr_tree **out)
{
    struct mr_tree *tree = mr_calloc(1, sizeof *tree);
    CUresult status = tree ? fill(tree, text, length, options, diag) : CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && !mr_program_describe(program, tree, options))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && tree->module->shown_count && !program->level_is_said) {
        /* A module that tells of variables was made for debugging (-G): code stays in the order of its lines. */
        program->optimisation = 0;
        program->level_is_said = true;
    }
    if (status == CUDA_SUCCESS)
        *out = tree;
    else
        mr_tree_free(tree);
    return status;
}

struct mr_tree *mr_tree_again(const char *text, size_t length)
{
    struct mr_tree *tree = mr_calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->module = mr_ptx_parse(text, length, NULL);
    /* The verifier notes in the tree what code generation asks for. */
    if (tree->module && mr_ptx_verify(tree->module, NULL) && mr_layout_build(tree->module, &tree->layout))
        return tree;
    mr_tree_free(tree);
    return NULL;
}

void mr_tree_free(struct mr_tree *tree)
{
    if (!tree)
        return;
    mr_layout_clear(&tree->layout);
    mr_ptx_module_destroy(tree->module);
    mr_free(tree);
}
