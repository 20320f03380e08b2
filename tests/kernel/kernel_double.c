/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-ins; see kernel_double.h. Also what src/kernel calls in the layers that these tests leave out. */
#include "kernel_double.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/compile.h"
#include "kernel/fault.h"
#include "memory/allocation.h"
#include "module/module.h"
#include "observe/hooks.h"

_Atomic uint32_t mr_observing;

void mr_memory_describe(uintptr_t address, char *text, size_t room)
{
    (void)address;
    (void)room;
    *text = '\0';
}

void mr_context_fail(struct mr_context *context, CUresult error)
{
    int none = CUDA_SUCCESS;
    atomic_compare_exchange_strong(&context->error, &none, (int)error);
}

/* No kernel of these tests launches others. */
size_t mr_program_entry_of(const struct mr_program *program, uint64_t address)
{
    (void)program;
    (void)address;
    return (size_t)-1;
}

const struct mr_entry *mr_program_entry(const struct mr_program *program, size_t index)
{
    (void)program;
    (void)index;
    abort();
}

CUresult mr_program_code(struct mr_program *program, size_t entry, const unsigned block[3], const struct mr_code **out)
{
    (void)program;
    (void)entry;
    (void)block;
    (void)out;
    return CUDA_ERROR_NOT_SUPPORTED;
}

unsigned mr_module_dynamic_limit(const struct mr_module *module, size_t entry)
{
    (void)module;
    (void)entry;
    return 0;
}

void mr_object_hold(void *object)
{
    (void)object;
}

void mr_object_drop(void *object)
{
    (void)object;
}

/* There are no textures or surfaces here. */
void *mr_object_find(const void *handle, enum mr_kind kind)
{
    (void)handle, (void)kind;
    return NULL;
}

struct mr_context *double_context(void)
{
    static _Atomic unsigned long long next_id = 1;
    struct mr_context *context = mr_calloc(1, sizeof *context);
    if (!context)
        abort();
    context->id = next_id++;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8u << 20;
    return context;
}

struct mr_launch *double_launch(struct mr_context *context, mr_kernel_function *function, unsigned flags,
                                unsigned blocks, unsigned threads, const void *params, size_t param_bytes)
{
    struct mr_launch *launch = mr_launch_new(param_bytes);
    struct mr_code *code = mr_calloc(1, sizeof *code);
    if (!launch || !code)
        abort();
    *code = (struct mr_code){.function = function, .flags = flags, .stack_bytes = 16384, .name = "double"};
    launch->code = code;
    launch->context = context;
    for (int i = 0; i < 3; i++)
        launch->grid[i] = launch->block[i] = 1;
    launch->shared_size = 4096;
    launch->grid[0] = blocks;
    launch->block[0] = threads;
    if (param_bytes)
        memcpy(launch->params, params, param_bytes);
    return launch;
}

void double_launch_free(struct mr_launch *launch)
{
    mr_free((void *)launch->code);
    mr_launch_free(launch);
}

CUresult double_run(struct mr_launch *launch)
{
    mr_fault_recheck();   /* cmocka changes the handlers with every test, faster than the driver looks */
    return mr_launch_run_blocks(launch, 0, (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], 0);
}
