/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries: one program, a module per context, managed variables that all of these share, and kernels that stand for
 * the function of whichever context they are used in. */
#include "module/module.h"

#include <string.h>

#include "base/alloc.h"
#include "memory/allocation.h"
#include "object/context.h"

static void kernel_finish(void *object)
{
    struct mr_kernel *kernel = object;
    struct mr_kernel_table *table = atomic_load(&kernel->table);
    while (table) {
        struct mr_kernel_table *older = table->older;
        mr_free(table);
        table = older;
    }
}

static void library_finish(void *object)
{
    struct mr_library *library = object;
    for (size_t i = 0; i < library->kernel_count && library->kernels; i++)
        if (library->kernels[i])
            mr_object_drop(library->kernels[i]);
    for (size_t i = 0; library->managed && i < mr_program_symbol_count(library->program); i++)
        if (library->managed[i])
            (void)mr_memory_release(library->managed[i], MR_MEMORY_MANAGED);
    mr_free(library->managed);
    mr_free(library->kernels);
    mr_free(library->modules);
    mr_program_drop(library->program);
}

CUresult mr_library_managed(struct mr_library *library, size_t index, struct mr_device *device, uintptr_t *address,
                            bool *made)
{
    MR_HELD(&library->lock);
    const struct mr_symbol *symbol = mr_program_symbol(library->program, index);
    size_t size = symbol->size ? symbol->size : 1;
    CUresult status = CUDA_SUCCESS;
    *made = false;
    if (!library->managed) {
        library->managed = mr_calloc(mr_program_symbol_count(library->program), sizeof *library->managed);
        if (!library->managed)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!library->managed[index]) {
        status = mr_memory_allocate_unowned(device, MR_MEMORY_MANAGED, size, CU_MEM_ATTACH_GLOBAL | MR_MEMORY_VARIABLE,
                                            &library->managed[index]);
        if (status != CUDA_SUCCESS) {
            library->managed[index] = 0;
            return status;
        }
        *made = true;
        mr_symbol_fill(symbol, library->managed[index]);
    }
    *address = library->managed[index];
    return CUDA_SUCCESS;
}

CUresult mr_library_managed_alone(struct mr_library *library, size_t symbol, struct mr_device *device,
                                  uintptr_t *address)
{
    bool made;
    mr_lock_take(&library->lock);
    CUresult status = mr_library_managed(library, symbol, device, address, &made);
    mr_lock_drop(&library->lock);
    return status;
}

void mr_library_unmake_managed(struct mr_library *library, size_t index)
{
    (void)mr_memory_release(library->managed[index], MR_MEMORY_MANAGED);
    library->managed[index] = 0;
}

struct mr_library *mr_library_new(struct mr_program *program)
{
    struct mr_library *library = mr_object_new(MR_KIND_LIBRARY, sizeof *library, library_finish);
    if (!library)
        return NULL;
    mr_lock_init(&library->lock, MR_LOCK_LIBRARY);
    mr_program_hold(program);
    library->program = program;
    library->kernel_count = mr_program_entry_count(program);
    library->kernels = mr_calloc(library->kernel_count, sizeof *library->kernels);
    if (!library->kernels) {
        if (mr_object_retire(library))
            mr_object_drop(library);
        return NULL;
    }
    return library;
}

bool mr_library_unload(struct mr_library *library)
{
    if (!mr_object_retire(library))
        return false;
    for (size_t slot = 0;; slot++) {
        mr_lock_take(&library->lock);
        bool more = slot < library->module_room;
        struct mr_module *module = more ? library->modules[slot] : NULL;
        if (module)
            mr_object_hold(module);
        mr_lock_drop(&library->lock);
        if (!more)
            break;
        if (module) {
            mr_module_unload(module);
            mr_object_drop(module);
        }
    }
    mr_lock_take(&library->lock);
    for (size_t i = 0; i < library->kernel_count; i++)
        if (library->kernels[i])
            mr_object_retire(library->kernels[i]); /* the array keeps the handle's reference */
    mr_lock_drop(&library->lock);
    mr_object_drop(library);
    return true;
}

struct mr_kernel *mr_library_kernel(struct mr_library *library, size_t entry)
{
    mr_lock_take(&library->lock);
    struct mr_kernel *kernel = library->kernels[entry];
    if (!kernel) {
        kernel = mr_object_new(MR_KIND_KERNEL, sizeof *kernel, kernel_finish);
        if (kernel) {
            kernel->library = library;
            kernel->entry = (unsigned)entry;
            kernel->info = mr_program_entry(library->program, entry);
            for (int i = 0; i < MR_DEVICE_LIMIT; i++)
                mr_function_settings_reset(&kernel->settings[i]);
            library->kernels[entry] = kernel;
        }
    }
    mr_lock_drop(&library->lock);
    return kernel;
}

/* mr_library_module with the library's lock held. */
static CUresult module_in(struct mr_library *library, struct mr_context *context, struct mr_module **out)
{
    MR_HELD(&library->lock);
    size_t old = library->module_room;
    if (!mr_array_reserve((void **)&library->modules, &library->module_room, (size_t)context->slot + 1,
                          sizeof *library->modules))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (library->module_room > old)
        memset(library->modules + old, 0, (library->module_room - old) * sizeof *library->modules);
    CUresult status = CUDA_SUCCESS;
    if (!library->modules[context->slot])
        status = mr_module_new(context, library->program, library, &library->modules[context->slot]);
    if (status == CUDA_SUCCESS)
        *out = library->modules[context->slot];
    return status;
}

CUresult mr_library_module(struct mr_library *library, struct mr_context *context, struct mr_module **out)
{
    mr_lock_take(&library->lock);
    CUresult status = module_in(library, context, out);
    if (status == CUDA_SUCCESS && !mr_object_keep(*out))
        status = CUDA_ERROR_INVALID_HANDLE;   /* another thread is unloading the library */
    mr_lock_drop(&library->lock);
    return status;
}

/* Puts a function into the kernel's table, under the library's lock. False when memory is short. */
static bool publish(struct mr_kernel *kernel, unsigned slot, struct mr_function *function)
{
    struct mr_kernel_table *table = atomic_load_explicit(&kernel->table, memory_order_relaxed);
    if (!table || slot >= table->room) {
        size_t room = ((size_t)slot / 8 + 1) * 8;
        struct mr_kernel_table *larger = mr_calloc(1, sizeof *larger + room * sizeof larger->functions[0]);
        if (!larger)
            return false;
        larger->older = table;
        larger->room = room;
        for (size_t i = 0; table && i < table->room; i++)
            atomic_store_explicit(&larger->functions[i], atomic_load(&table->functions[i]), memory_order_relaxed);
        atomic_store_explicit(&kernel->table, larger, memory_order_release);
        table = larger;
    }
    atomic_store_explicit(&table->functions[slot], function, memory_order_release);
    if (slot < MR_KERNEL_NEAR)
        atomic_store_explicit(&kernel->near[slot], function, memory_order_release);
    return true;
}

static struct mr_function *published(struct mr_kernel *kernel, unsigned slot)
{
    struct mr_kernel_table *table = atomic_load_explicit(&kernel->table, memory_order_acquire);
    return table && slot < table->room ? atomic_load_explicit(&table->functions[slot], memory_order_acquire) : NULL;
}

CUresult mr_kernel_function_in(struct mr_kernel *kernel, struct mr_context *context, struct mr_function **out)
{
    struct mr_function *function = published(kernel, context->slot);
    if (function) {
        *out = function;
        return CUDA_SUCCESS;
    }
    struct mr_library *library = kernel->library;
    struct mr_module *module;
    if (!mr_object_try_hold(library))  /* unloaded by another thread during this call */
        return CUDA_ERROR_INVALID_HANDLE;
    mr_lock_take(&library->lock);
    CUresult status = module_in(library, context, &module);
    if (status == CUDA_SUCCESS && !published(kernel, context->slot)) {
        function = mr_module_function(module, kernel->entry);
        if (function) {
            function->kernel = kernel;
            mr_function_settings_copy(&function->settings, &kernel->settings[context->device->ordinal]);
        }
        if (!function || !publish(kernel, context->slot, function))
            status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status == CUDA_SUCCESS)
        *out = published(kernel, context->slot);
    mr_lock_drop(&library->lock);
    mr_object_drop(library);
    return status;
}

void mr_library_forget(struct mr_library *library, struct mr_module *module)
{
    unsigned slot = module->context->slot;
    mr_lock_take(&library->lock);
    if (slot < library->module_room && library->modules[slot] == module)
        library->modules[slot] = NULL;
    for (size_t i = 0; i < library->kernel_count; i++) {
        struct mr_kernel *kernel = library->kernels[i];
        struct mr_kernel_table *table = kernel ? atomic_load(&kernel->table) : NULL;
        if (table && slot < table->room)
            atomic_store_explicit(&table->functions[slot], NULL, memory_order_release);
        if (kernel && slot < MR_KERNEL_NEAR)
            atomic_store_explicit(&kernel->near[slot], NULL, memory_order_release);
    }
    mr_lock_drop(&library->lock);
}
