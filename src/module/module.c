/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: a program's variables in a context, and its functions.
 *
 * Each variable is an allocation of its own, so that a kernel that runs past the end of one hits a hole. Pointers
 * inside initial values are filled in once all variables have addresses. */
#include "module/module.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "compile/layout.h"
#include "memory/allocation.h"
#include "module/reference.h"
#include "object/context.h"

static enum mr_memory_kind symbol_kind(const struct mr_symbol *symbol)
{
    return symbol->managed ? MR_MEMORY_MANAGED : MR_MEMORY_MODULE;
}

/* Runs when the last launch is done, on whatever thread that was. */
static void module_finish(void *object)
{
    struct mr_module *module = object;
    for (size_t i = 0; i < module->function_count && module->functions; i++)
        if (module->functions[i])
            mr_object_drop(module->functions[i]);
    for (size_t i = 0; i < module->symbol_count && module->references; i++)
        if (module->references[i])
            mr_object_drop(module->references[i]);
    mr_free(module->references);
    for (size_t i = 0; i < module->symbol_count && module->symbols; i++) {
        const struct mr_symbol *symbol = mr_program_symbol(module->program, i);
        bool shared = symbol->managed && module->library;
        if (symbol->what == MR_SYMBOL_VARIABLE && module->symbols[i] && !shared &&
            mr_memory_release_of(module->context, module->symbols[i], symbol_kind(symbol)) != CUDA_SUCCESS)
            mr_log(MR_LOG_DEBUG, "variable '%s' was freed with its context", symbol->name);
    }
    mr_free(module->functions);
    mr_free(module->symbols);
    if (module->library)
        mr_object_drop(module->library);
    mr_program_drop(module->program);
    mr_object_drop(module->context);
}

void mr_symbol_fill(const struct mr_symbol *symbol, uintptr_t address)
{
    mr_memory_clear(address, symbol->size ? symbol->size : 1);
    if (symbol->initial)
        memcpy((void *)address, symbol->initial, symbol->initial_size);
}

/* A variable's memory, filled with its initial value. Managed ones of a library are there already, unless this is its
 * first module. */
static CUresult allocate_variable(struct mr_module *module, size_t index, bool *made)
{
    const struct mr_symbol *symbol = mr_program_symbol(module->program, index);
    size_t size = symbol->size ? symbol->size : 1;
    if (symbol->managed && module->library)
        return mr_library_managed(module->library, index, module->context->device, &module->symbols[index], made);
    unsigned flags = symbol->managed ? CU_MEM_ATTACH_GLOBAL | MR_MEMORY_VARIABLE : 0;
    CUresult status = mr_memory_allocate(module->context, symbol_kind(symbol), size, flags, &module->symbols[index]);
    if (status != CUDA_SUCCESS)
        return status;
    *made = true;
    mr_symbol_fill(symbol, module->symbols[index]);
    return CUDA_SUCCESS;
}

/* Notes in `made` which variables are new. */
static CUresult allocate_variables(struct mr_module *module, bool *made)
{
    for (size_t i = 0; i < module->symbol_count; i++) {
        const struct mr_symbol *symbol = mr_program_symbol(module->program, i);
        if (symbol->what != MR_SYMBOL_VARIABLE)
            continue;
        CUresult status = allocate_variable(module, i, &made[i]);
        if (status != CUDA_SUCCESS) {
            mr_log(MR_LOG_INFO, "no memory for the variable '%s' of %zu bytes", symbol->name, symbol->size);
            module->symbols[i] = 0;
            return status;
        }
    }
    return CUDA_SUCCESS;
}

/* The address that a relocation stores. Functions have no address that a program could use, but a number
 * (compile/layout.h). */
static uint64_t symbol_value(const struct mr_module *module, unsigned index)
{
    if (mr_program_symbol(module->program, index)->what == MR_SYMBOL_FUNCTION)
        return MR_FUNCTION_TAG + index;
    return module->symbols[index];
}

/* Pointers in variables that are new. Those in a library's managed variables lead to the first module's. */
static void relocate_variables(struct mr_module *module, const bool *made)
{
    for (size_t i = 0; i < module->symbol_count; i++) {
        const struct mr_symbol *symbol = mr_program_symbol(module->program, i);
        if (symbol->what != MR_SYMBOL_VARIABLE || !made[i])
            continue;
        for (unsigned r = 0; r < symbol->relocation_count; r++) {
            const struct mr_symbol_relocation *relocation = &symbol->relocations[r];
            uint64_t value =
                (symbol_value(module, relocation->symbol) + (uint64_t)relocation->addend) >> relocation->shift;
            if (relocation->width <= sizeof value && relocation->offset + relocation->width <= symbol->size)
                memcpy((char *)module->symbols[i] + relocation->offset, &value, relocation->width);
        }
    }
}

/* mr_module_new, while the context can't go. */
static CUresult module_make(struct mr_context *context, struct mr_program *program, struct mr_library *library,
                            struct mr_module **out)
{
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    bool *made = NULL;    /* by symbol: the variable is new */
    struct mr_module *module = mr_object_new(MR_KIND_MODULE, sizeof *module, module_finish);
    if (!module)
        return status;
    mr_lock_init(&module->lock, MR_LOCK_MODULE);
    mr_object_hold(context);
    module->context = context;
    mr_program_hold(program);
    module->program = program;
    if (library)
        mr_object_hold(library);
    module->library = library;
    mr_list_init(&module->link);
    static _Atomic uint64_t modules;
    module->number = atomic_fetch_add_explicit(&modules, 1, memory_order_relaxed) + 1;
    module->symbol_count = mr_program_symbol_count(program);
    module->function_count = mr_program_entry_count(program);
    module->symbols = mr_calloc(module->symbol_count, sizeof *module->symbols);
    module->functions = mr_calloc(module->function_count, sizeof *module->functions);
    made = mr_calloc(module->symbol_count, sizeof *made);
    if (!module->symbols || !module->functions || !made)
        goto failed;
    status = allocate_variables(module, made);
    if (status != CUDA_SUCCESS)
        goto failed;
    relocate_variables(module, made);

    mr_lock_take(&context->lock);
    bool alive = !atomic_load_explicit(&context->destroyed, memory_order_acquire);
    if (alive)
        mr_list_append(&context->modules, &module->link);
    mr_lock_drop(&context->lock);
    if (!alive) {
        status = CUDA_ERROR_CONTEXT_IS_DESTROYED;
        goto failed;
    }
    mr_free(made);
    *out = module;
    return CUDA_SUCCESS;

failed:
    for (size_t i = 0; library && made && i < module->symbol_count; i++)
        if (made[i] && mr_program_symbol(program, i)->managed)
            mr_library_unmake_managed(library, i);
    mr_free(made);
    if (mr_object_retire(module))
        mr_object_drop(module);
    return status;
}

CUresult mr_module_new(struct mr_context *context, struct mr_program *program, struct mr_library *library,
                       struct mr_module **out)
{
    if (!mr_context_enter(context))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    CUresult status = module_make(context, program, library, out);
    mr_context_leave(context);
    return status;
}

bool mr_module_unload(struct mr_module *module)
{
    if (!mr_object_retire(module))
        return false;
    mr_lock_take(&module->context->lock);
    mr_list_remove(&module->link);
    mr_lock_drop(&module->context->lock);
    if (module->library)
        mr_library_forget(module->library, module);
    mr_lock_take(&module->lock);
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i])
            mr_object_retire(module->functions[i]); /* the array keeps the handle's reference */
    for (size_t i = 0; i < module->symbol_count && module->references; i++)
        if (module->references[i])
            mr_reference_part(module->references[i]);
    mr_lock_drop(&module->lock);
    mr_object_drop(module);
    return true;
}

void mr_modules_unload_all(struct mr_context *context)
{
    for (;;) {
        struct mr_module *module = NULL;
        mr_lock_take(&context->lock);
        if (!mr_list_empty(&context->modules)) {
            module = MR_CONTAINER(context->modules.next, struct mr_module, link);
            mr_object_hold(module);
            mr_list_remove(&module->link);
        }
        mr_lock_drop(&context->lock);
        if (!module)
            return;
        mr_module_unload(module);
        mr_object_drop(module);
    }
}

static void function_finish(void *object)
{
    struct mr_function *function = object;
    mr_free(function->old.params);
}

void mr_function_settings_reset(struct mr_function_settings *settings)
{
    atomic_store_explicit(&settings->dynamic_shared, -1, memory_order_relaxed);
    atomic_store_explicit(&settings->carveout, CU_SHAREDMEM_CARVEOUT_DEFAULT, memory_order_relaxed);
    atomic_store_explicit(&settings->cluster_policy, CU_CLUSTER_SCHEDULING_POLICY_DEFAULT, memory_order_relaxed);
    atomic_store_explicit(&settings->non_portable_cluster, 0, memory_order_relaxed);
    atomic_store_explicit(&settings->cache_config, CU_FUNC_CACHE_PREFER_NONE, memory_order_relaxed);
}

void mr_function_settings_copy(struct mr_function_settings *to, struct mr_function_settings *from)
{
    to->dynamic_shared = atomic_load_explicit(&from->dynamic_shared, memory_order_relaxed);
    to->carveout = atomic_load_explicit(&from->carveout, memory_order_relaxed);
    to->cluster_policy = atomic_load_explicit(&from->cluster_policy, memory_order_relaxed);
    to->non_portable_cluster = atomic_load_explicit(&from->non_portable_cluster, memory_order_relaxed);
    to->cache_config = atomic_load_explicit(&from->cache_config, memory_order_relaxed);
}

struct mr_function *mr_module_function(struct mr_module *module, size_t entry)
{
    mr_lock_take(&module->lock);
    struct mr_function *function = module->functions[entry];
    if (!function) {
        function = mr_object_new(MR_KIND_FUNCTION, sizeof *function, function_finish);
        if (function) {
            function->module = module;
            function->module_handle = mr_object_handle(module);
            function->entry = (unsigned)entry;
            function->info = mr_program_entry(module->program, entry);
            mr_function_settings_reset(&function->settings);
            module->functions[entry] = function;
        }
    }
    mr_lock_drop(&module->lock);
    return function;
}

unsigned mr_module_dynamic_limit(const struct mr_module *module, size_t entry)
{
    struct mr_function *function = module->functions[entry];
    struct mr_kernel *kernel = module->library ? module->library->kernels[entry] : NULL;
    int asked = function ? atomic_load(&function->settings.dynamic_shared) : -1;
    if (asked < 0 && kernel)
        asked = atomic_load(&kernel->settings[module->context->device->ordinal].dynamic_shared);
    const struct mr_entry *info = mr_program_entry(module->program, entry);
    if (asked > (int)MR_SHARED_DEFAULT)
        asked = (int)(module->context->device->capability->shared_optin - (unsigned)info->static_shared);
    return mr_dynamic_limit(info, asked);
}

struct mr_reference *mr_module_reference(struct mr_module *module, size_t symbol, enum mr_kind kind)
{
    struct mr_reference *reference = NULL;
    mr_lock_take(&module->lock);
    if (!module->references)
        module->references = mr_calloc(module->symbol_count, sizeof(struct mr_reference *));
    if (module->references && !(reference = module->references[symbol]))
        reference = module->references[symbol] = mr_reference_new(kind, module->context, module->symbols[symbol]);
    mr_lock_drop(&module->lock);
    return reference;
}

bool mr_module_owns(struct mr_module *module, const struct mr_reference *reference)
{
    bool owns = false;
    mr_lock_take(&module->lock);
    for (size_t i = 0; i < module->symbol_count && module->references && !owns; i++)
        owns = module->references[i] == reference;
    mr_lock_drop(&module->lock);
    return owns;
}
