/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries, functions and kernels.
 *
 * A program (struct mr_program) is one loaded PTX image: parsed and verified once, with its global variables' layout. A module is a program in a
 * context with its globals allocated there. A library is a program without a context; it makes a module in each context on first use. A CUkernel is a
 * function of a library; a launch through a CUkernel resolves it to the current context's CUfunction. */
#ifndef MR_OBJECT_MODULE_H
#define MR_OBJECT_MODULE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "object/object.h"

struct mr_context;
struct mr_program;   /* compile/compile.h */

struct mr_global {
    const char *name;          /* borrowed from the program */
    uintptr_t address;
    size_t size;
};

struct mr_module {
    struct mr_object object;
    struct mr_context *context;      /* counted */
    struct mr_program *program;      /* counted by the program's own count */
    uintptr_t *symbols;              /* address of each of the program's symbols, by symbol index; what kernels read through mr_block.symbols */
    struct mr_global *globals;       /* variables that cuModuleGetGlobal can find */
    size_t global_count;
    struct mr_function **functions;  /* by entry index; made on first request, under `lock` */
    mr_lock lock;
    struct mr_library *library;      /* NULL for cuModuleLoad* */
    struct mr_list link;             /* in context->modules */
    unsigned loading_mode;
};

struct mr_function {
    struct mr_object object;
    struct mr_module *module;        /* borrowed: functions end with their module */
    unsigned entry;                  /* index of the entry in the program */
    int dynamic_shared_limit;        /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    int carveout, cache_config, shared_config;
    struct mr_kernel *kernel;        /* the CUkernel it came from, or NULL */
    /* Old launch interface (cuFuncSetBlockShape, cuParamSet*, cuFuncSetSharedSize), guarded by module->lock. */
    unsigned old_block[3], old_shared, old_param_size;
    unsigned char *old_params;
};

struct mr_library {
    struct mr_object object;
    struct mr_program *program;
    mr_lock lock;
    struct mr_module *modules[64];   /* per context slot, made on first use; see library.c */
    size_t module_count;
    struct mr_kernel **kernels;
};

struct mr_kernel {
    struct mr_object object;
    struct mr_library *library;      /* borrowed */
    unsigned entry;
    int attributes[32];              /* set with cuKernelSetAttribute; -1 = not set */
};

#endif
