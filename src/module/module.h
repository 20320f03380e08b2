/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries, functions and kernels.
 *
 * A program (struct mr_program, compile/compile.h) is one loaded image: parsed and verified once, with its global
 * variables' layout. A module is a program in a context, with its variables allocated there. A library is a program
 * without a context; it makes a module in each context on first use. A CUkernel is a function of a library; a launch
 * through it finds the current context's function.
 *
 * Lifetimes: the program's handle on a module or library is one reference; a queued launch holds another on its module,
 * so code and variables last until the launch is done, however early the module is unloaded. Functions and kernels end
 * with their owner. */
#ifndef MR_MODULE_MODULE_H
#define MR_MODULE_MODULE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "compile/compile.h"
#include "object/device.h"
#include "object/handle.h"

struct mr_context;
struct mr_reference;

struct mr_module {
    struct mr_object object;
    struct mr_context *context;      /* counted */
    struct mr_program *program;      /* counted */
    struct mr_library *library;      /* counted; NULL for cuModuleLoad* */
    uintptr_t *symbols; /* address of each variable, by the program's symbol index; what kernels read through
                           mr_block.symbols */
    size_t symbol_count;
    _Atomic(struct mr_function *) *functions; /* by entry index; made on first request, under `lock`, and then there
                                                 as long as the module */
    size_t function_count;
    struct mr_reference *
        *references; /* by symbol index; NULL until one is asked for; made on first request, under `lock` */
    mr_lock lock;
    struct mr_list link; /* in context->modules, under context->lock */
    uint64_t number; /* from 1 up, of all that were ever made: what observers know it by */
};

/* What cuFuncSetAttribute and cuKernelSetAttribute can change. */
struct mr_function_settings {
    _Atomic int dynamic_shared; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES; -1: the default */
    _Atomic int carveout; /* CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT; a hint */
    _Atomic int cluster_policy, non_portable_cluster;
    _Atomic int cache_config; /* CUfunc_cache; a hint */
};

/* The launch state of the interface before CUDA 4.0, where a function remembers its arguments. Under module->lock. */
struct mr_old_launch {
    unsigned block[3], shared, param_size;
    unsigned char *params; /* `room` bytes */
    size_t room;
};

struct mr_function {
    struct mr_object object;
    struct mr_module *module; /* borrowed: functions end with their module */
    void *module_handle; /* to acquire the module without trusting `module` */
    unsigned entry; /* index of the entry in the program */
    const struct mr_entry *info; /* the program's */
    struct mr_kernel *kernel; /* the CUkernel it came from, or NULL */
    struct mr_function_settings settings;
    struct mr_old_launch old;
};

/* Contexts whose functions a kernel has at hand. */
#define MR_KERNEL_NEAR 8

/* A kernel's functions by context slot. Grown by replacement; old tables stay until the library ends, since readers
 * take no lock. */
struct mr_kernel_table {
    struct mr_kernel_table *older;
    size_t room;
    _Atomic(struct mr_function *) functions[];
};

struct mr_kernel {
    struct mr_object object;
    struct mr_library *library; /* borrowed: kernels end with their library */
    unsigned entry;
    const struct mr_entry *info;
    _Atomic(struct mr_function *)
        near[MR_KERNEL_NEAR]; /* by context slot: part of the record, so that a visit may read it without a reference */
    _Atomic(struct mr_kernel_table *) table; /* of all slots; a reader holds the kernel or its library */
    struct mr_function_settings settings[MR_DEVICE_LIMIT];
};

struct mr_library {
    struct mr_object object;
    struct mr_program *program; /* counted */
    mr_lock lock; /* guards what follows; taken before a context's or module's lock */
    struct mr_module **modules; /* by context slot; NULL where not loaded */
    size_t module_room;
    _Atomic(struct mr_kernel *) *kernels; /* by entry index; made on first request, and then there as long as the
                                             library */
    size_t kernel_count;
    uintptr_t *managed; /* by symbol index: managed variables, which all contexts share; made with the first module */
};

/* A module of `program` in `context`: variables are allocated and filled. The module takes a reference of its own on
 * all three arguments
 * (`library` may be NULL). CUDA_ERROR_OUT_OF_MEMORY; CUDA_ERROR_CONTEXT_IS_DESTROYED. */
CUresult mr_module_new(struct mr_context *context, struct mr_program *program, struct mr_library *library,
                       struct mr_module **out) __attribute__((warn_unused_result));

/* The address of a library's managed variable, made on the first request, on that device, with its initial value
 * (*made; relocations are the caller's). The library's lock is held. */
CUresult mr_library_managed(struct mr_library *library, size_t symbol, struct mr_device *device, uintptr_t *address,
                            bool *made) __attribute__((warn_unused_result));

/* The same for a caller that holds no lock, and a variable without relocations. */
CUresult mr_library_managed_alone(struct mr_library *library, size_t symbol, struct mr_device *device,
                                  uintptr_t *address) __attribute__((warn_unused_result));

/* Frees it again, when the module that was to give it its pointers fails. */
void mr_library_unmake_managed(struct mr_library *library, size_t symbol);

/* Gives a variable's new memory its initial value, pointers left out. */
void mr_symbol_fill(const struct mr_symbol *symbol, uintptr_t address);

/* Ends the handles of the module and its functions; memory goes with the last launch. False if it was unloaded already.
 */
bool mr_module_unload(struct mr_module *module);

/* Unloads every module of a context (context destruction). */
void mr_modules_unload_all(struct mr_context *context);

/* Most bytes of dynamic shared memory that a launch may ask for: `asked` is what the program has set, or negative. */
static inline unsigned mr_dynamic_limit(const struct mr_entry *info, int asked)
{
    if (asked >= 0)
        return (unsigned)asked;
    return info->static_shared < MR_SHARED_DEFAULT ? MR_SHARED_DEFAULT - (unsigned)info->static_shared : 0;
}

/* Most bytes that a launch by a kernel may ask for, by what was set for the entry's function, or else its kernel: all
 * that the device has once more than the default was set, as on an H200. Takes no lock; the caller holds the module. */
unsigned mr_module_dynamic_limit(const struct mr_module *module, size_t entry);

/* The function of an entry, made on first request; NULL when memory is short. */
struct mr_function *mr_module_function(struct mr_module *module, size_t entry) __attribute__((warn_unused_result));

/* The reference of a module's variable, made on the first request; ends with the module. NULL when memory is short. */
struct mr_reference *mr_module_reference(struct mr_module *module, size_t symbol, enum mr_kind kind)
    __attribute__((warn_unused_result));

/* Whether a reference is one of the module's. */
bool mr_module_owns(struct mr_module *module, const struct mr_reference *reference);

/* A library of `program`; takes a reference of its own. NULL when memory is short. */
struct mr_library *mr_library_new(struct mr_program *program) __attribute__((warn_unused_result));

/* Ends the library, its kernels, and its modules in every context. False if it was unloaded already. */
bool mr_library_unload(struct mr_library *library);

/* The kernel of an entry, made on first request; NULL when memory is short. */
struct mr_kernel *mr_library_kernel(struct mr_library *library, size_t entry) __attribute__((warn_unused_result));

/* The library's module in a context, loaded on first use. No reference is taken. Errors as mr_module_new. */
CUresult mr_library_module(struct mr_library *library, struct mr_context *context, struct mr_module **out)
    __attribute__((warn_unused_result));

/* A kernel's function in a context, made on first use; a few nanoseconds and no lock later on. */
CUresult mr_kernel_function_in(struct mr_kernel *kernel, struct mr_context *context, struct mr_function **out)
    __attribute__((warn_unused_result));

/* The function that a kernel has in the context with this slot, or NULL: none yet, or not to be had without a reference
 * to the kernel. For launches. */
static inline struct mr_function *mr_kernel_function_near(struct mr_kernel *kernel, unsigned slot)
{
    return slot < MR_KERNEL_NEAR ? atomic_load_explicit(&kernel->near[slot], memory_order_acquire) : NULL;
}

/* Forgets a module that is being unloaded; called by mr_module_unload. */
void mr_library_forget(struct mr_library *library, struct mr_module *module);

/* Default settings, and a copy from a kernel's to a function's. */
void mr_function_settings_reset(struct mr_function_settings *settings);
void mr_function_settings_copy(struct mr_function_settings *to, struct mr_function_settings *from);

#endif
