/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries by themselves, with a program that is made up: variables, relocations, handles, contexts,
 * lifetimes. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "compile/layout.h"
#include "fake_program.h"
#include "memory/allocation.h"
#include "module/array.h"
#include "module/module.h"
#include "module/texture.h"
#include "object/context.h"

static struct mr_context *context;

/* What api/wiring.c does, too. */
static void free_context(struct mr_context *ending)
{
    mr_modules_unload_all(ending);
    mr_textures_end_all(ending);
    mr_arrays_end_all(ending);
    mr_memory_release_context(ending);
}

static int set_up(void **state)
{
    static const struct mr_context_hooks hooks = {.free = free_context};
    (void)state;
    mr_context_set_hooks(&hooks);
    assert_int_equal(mr_devices_setup(), CUDA_SUCCESS);
    if (!mr_memory_init())
        return -1;
    context = mr_context_new(mr_device_get(0), 0, false);
    return context ? 0 : -1;
}

static struct mr_module *load(struct mr_context *where)
{
    struct mr_program *program = fake_program_new();
    struct mr_module *module = NULL;
    assert_int_equal(mr_module_new(where, program, NULL, &module), CUDA_SUCCESS);
    mr_program_drop(program);
    return module;
}

static void variables_hold_their_initial_values(void **state)
{
    struct mr_module *module = load(context);
    struct mr_allocation found;
    (void)state;
    assert_int_equal(*(uint32_t *)module->symbols[FAKE_COUNTER], 7);
    const uint64_t *pointers = (const uint64_t *)module->symbols[FAKE_POINTERS];
    assert_int_equal(pointers[0], module->symbols[FAKE_COUNTER] + 2);
    assert_int_equal(pointers[1], MR_FUNCTION_TAG + FAKE_FUNCTION);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((unsigned char *)module->symbols[FAKE_HIDDEN])[i], 0);
    assert_true(mr_memory_find(module->symbols[FAKE_HIDDEN] + 999, &found));
    assert_int_equal(found.kind, MR_MEMORY_MODULE);
    assert_int_equal(found.size, 1000);
    assert_int_equal(module->symbols[FAKE_FUNCTION], 0);
    assert_true(mr_module_unload(module));
    assert_int_equal(fake_programs_live, 0);
}

static void functions_are_made_once_and_end_with_the_module(void **state)
{
    struct mr_module *module = load(context);
    (void)state;
    struct mr_function *function = mr_module_function(module, 0);
    assert_non_null(function);
    assert_ptr_equal(mr_module_function(module, 0), function);
    assert_ptr_not_equal(mr_module_function(module, 1), function);
    void *handle = mr_object_handle(function), *module_handle = mr_object_handle(module);
    assert_ptr_equal(mr_object_find(handle, MR_KIND_FUNCTION), function);
    assert_true(mr_module_unload(module));
    assert_null(mr_object_find(handle, MR_KIND_FUNCTION));
    assert_null(mr_object_find(module_handle, MR_KIND_MODULE));
}

static void a_launch_keeps_the_module(void **state)
{
    struct mr_module *module = load(context);
    (void)state;
    mr_object_hold(module); /* as a queued launch does */
    uintptr_t counter = module->symbols[FAKE_COUNTER];
    assert_true(mr_module_unload(module));
    assert_int_equal(fake_programs_live, 1);
    assert_int_equal(*(uint32_t *)counter, 7);
    mr_object_drop(module);
    assert_int_equal(fake_programs_live, 0);
}

static void a_context_takes_its_modules_along(void **state)
{
    struct mr_context *other = mr_context_new(mr_device_get(0), 0, false);
    (void)state;
    assert_non_null(other);
    void *handles[5];
    for (int i = 0; i < 5; i++)
        handles[i] = mr_object_handle(load(other));
    assert_int_equal(fake_programs_live, 5);
    assert_true(mr_context_destroy(other));
    assert_int_equal(fake_programs_live, 0);
    for (int i = 0; i < 5; i++)
        assert_null(mr_object_find(handles[i], MR_KIND_MODULE));
}

static struct mr_library *load_library(void)
{
    struct mr_program *program = fake_program_new();
    struct mr_library *library = mr_library_new(program);
    assert_non_null(library);
    mr_program_drop(program);
    return library;
}

static void a_library_has_a_module_per_context(void **state)
{
    struct mr_library *library = load_library();
    struct mr_context *other = mr_context_new(mr_device_get(0), 0, false);
    struct mr_module *one, *two, *again;
    (void)state;
    assert_non_null(other);
    assert_int_equal(mr_library_module(library, context, &one), CUDA_SUCCESS);
    assert_int_equal(mr_library_module(library, other, &two), CUDA_SUCCESS);
    assert_int_equal(mr_library_module(library, context, &again), CUDA_SUCCESS);
    assert_ptr_equal(one, again);
    assert_ptr_not_equal(one, two);
    assert_int_not_equal(one->symbols[FAKE_COUNTER], two->symbols[FAKE_COUNTER]);

    struct mr_kernel *kernel = mr_library_kernel(library, 0);
    struct mr_function *f, *g;
    assert_non_null(kernel);
    kernel->settings[0].dynamic_shared = 60000;
    assert_int_equal(mr_kernel_function_in(kernel, context, &f), CUDA_SUCCESS);
    assert_int_equal(mr_kernel_function_in(kernel, other, &g), CUDA_SUCCESS);
    assert_ptr_equal(f->module, one);
    assert_ptr_equal(g->module, two);
    assert_ptr_equal(f->kernel, kernel);
    assert_int_equal(f->settings.dynamic_shared, 60000);

    /* The other context's slot is free again; its successor there gets a module of its own. */
    unsigned slot = other->slot;
    assert_true(mr_context_destroy(other));
    struct mr_context *next = mr_context_new(mr_device_get(0), 0, false);
    assert_int_equal(next->slot, slot);
    assert_int_equal(mr_kernel_function_in(kernel, next, &g), CUDA_SUCCESS);
    assert_ptr_equal(g->module->context, next);

    void *handle = mr_object_handle(kernel), *function_handle = mr_object_handle(f);
    assert_true(mr_library_unload(library));
    assert_null(mr_object_find(handle, MR_KIND_KERNEL));
    assert_null(mr_object_find(function_handle, MR_KIND_FUNCTION));
    assert_int_equal(fake_programs_live, 0);
    assert_true(mr_context_destroy(next));
}

static void many_contexts_grow_the_table(void **state)
{
    struct mr_library *library = load_library();
    struct mr_context *contexts[40];
    struct mr_function *function, *again;
    (void)state;
    struct mr_kernel *kernel = mr_library_kernel(library, 1);
    assert_non_null(kernel);
    for (int i = 0; i < 40; i++) {
        contexts[i] = mr_context_new(mr_device_get(0), 0, false);
        assert_non_null(contexts[i]);
        assert_int_equal(mr_kernel_function_in(kernel, contexts[i], &function), CUDA_SUCCESS);
        assert_int_equal(mr_kernel_function_in(kernel, contexts[i], &again), CUDA_SUCCESS);
        assert_ptr_equal(function, again);
        assert_ptr_equal(function->module->context, contexts[i]);
    }
    for (int i = 0; i < 20; i++)
        assert_true(mr_context_destroy(contexts[i]));
    assert_true(mr_library_unload(library));
    for (int i = 20; i < 40; i++)
        assert_true(mr_context_destroy(contexts[i]));
    assert_int_equal(fake_programs_live, 0);
}

/* Each allocation fails in turn; nothing is lost and the status is right. */
static void short_memory(void **state)
{
    (void)state;
    bool done = false;
    for (unsigned n = 1; !done; n++) {
        assert_in_range(n, 1, 100);
        struct mr_program *program = fake_program_new();
        struct mr_function *function = NULL;
        CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
        mr_alloc_fail_after(n);
        struct mr_library *library = mr_library_new(program);
        struct mr_kernel *kernel = library ? mr_library_kernel(library, 0) : NULL;
        if (kernel)
            status = mr_kernel_function_in(kernel, context, &function);
        mr_alloc_fail_after(0);
        mr_program_drop(program);
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
        done = status == CUDA_SUCCESS && n > 20;
        if (library)
            assert_true(mr_library_unload(library));
        assert_int_equal(fake_programs_live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_hold_their_initial_values),
        cmocka_unit_test(functions_are_made_once_and_end_with_the_module),
        cmocka_unit_test(a_launch_keeps_the_module),
        cmocka_unit_test(a_context_takes_its_modules_along),
        cmocka_unit_test(a_library_has_a_module_per_context),
        cmocka_unit_test(many_contexts_grow_the_table),
        cmocka_unit_test(short_memory),
    };
    return cmocka_run_group_tests_name("module/module", tests, set_up, NULL);
}
