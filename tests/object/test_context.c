/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and contexts by themselves: records, the thread's stack, sticky errors, destruction in every order. Nothing
 * is wired in. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "object/machine.h"

static int set_up(void **state)
{
    (void)state;
    setenv("MILLRACE_DEVICES", "3", 1);
    assert_int_equal(mr_devices_setup(), CUDA_SUCCESS);
    return mr_memory_init() ? 0 : -1;
}

static struct mr_context *make(void)
{
    struct mr_context *context = mr_context_new(mr_device_get(0), 0, false);
    assert_non_null(context);
    return context;
}

static void devices_differ_where_they_should(void **state)
{
    (void)state;
    assert_int_equal(mr_device_count(), 3);
    assert_null(mr_device_get(-1));
    assert_null(mr_device_get(3));
    struct mr_device *a = mr_device_get(0), *b = mr_device_get(1);
    assert_memory_not_equal(a->uuid, b->uuid, 16);
    assert_int_equal(a->uuid[6] >> 4, 8);
    assert_memory_equal(a->name, "Millrace (", 10);
    assert_true(a->total_memory > 0);
    assert_true(3 * a->total_memory <= mr_machine_memory());
    assert_true(a->clock_khz > 0);
    uint8_t before[16];
    memcpy(before, a->uuid, 16);
    assert_int_equal(mr_devices_setup(), CUDA_SUCCESS);
    assert_memory_equal(before, a->uuid, 16);
}

static void every_attribute_has_a_value(void **state)
{
    (void)state;
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++) {
        int value = -12345;
        if (mr_device_attribute(mr_device_get(0), (CUdevice_attribute)i, &value) != CUDA_SUCCESS)
            fail_msg("attribute %d has no value", i);
        assert_int_not_equal(value, -12345);
    }
    int value = 5;
    assert_int_equal(mr_device_attribute(mr_device_get(0), 0, &value), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_device_attribute(mr_device_get(0), CU_DEVICE_ATTRIBUTE_MAX, &value), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(value, 5);
}

static void capability_comes_from_the_setting(void **state)
{
    static const struct {
        const char *text;
        int major, minor;
        unsigned optin;
    } rows[] = {
        {"5.0", 5, 0, 49152},    {"7.5", 7, 5, 65536},     {"9.0", 9, 0, 232448},   {"8.6", 8, 6, 101376},
        {"4.0", 8, 0, 166912},   {"banana", 8, 0, 166912}, {"8.0x", 8, 0, 166912},  {"13.0", 8, 0, 166912},
        {"10.0", 10, 0, 232448}, {"11.0", 11, 0, 232448},  {"12.1", 12, 1, 101376}, {"10.1", 8, 0, 166912},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("MILLRACE_COMPUTE_CAPABILITY", rows[i].text, 1);
        assert_int_equal(mr_devices_setup(), CUDA_SUCCESS);
        const struct mr_device *device = mr_device_get(0);
        assert_int_equal(device->capability_major, rows[i].major);
        assert_int_equal(device->capability_minor, rows[i].minor);
        assert_int_equal(device->capability->shared_optin, rows[i].optin);
    }
    unsetenv("MILLRACE_COMPUTE_CAPABILITY");
    assert_int_equal(mr_devices_setup(), CUDA_SUCCESS);
}

static void the_stack_pops_in_order(void **state)
{
    struct mr_context *contexts[40], *out;
    (void)state;
    assert_int_equal(mr_context_require(&out), CUDA_ERROR_INVALID_CONTEXT);
    for (int i = 0; i < 40; i++) {
        contexts[i] = make();
        assert_true(mr_context_push(contexts[i]));
        assert_ptr_equal(mr_context_current(), contexts[i]);
    }
    for (int i = 39; i >= 0; i--) {
        assert_int_equal(mr_context_require(&out), CUDA_SUCCESS);
        assert_ptr_equal(out, contexts[i]);
        assert_ptr_equal(mr_context_pop(), contexts[i]);
        mr_object_drop(contexts[i]);
        assert_true(mr_context_destroy(contexts[i]));
    }
    assert_null(mr_context_pop());
    assert_true(mr_context_replace(NULL));
}

static void a_destroyed_context_stays_readable_on_stacks(void **state)
{
    struct mr_context *context = make(), *out;
    (void)state;
    CUcontext handle = context->handle;
    assert_true(mr_context_push(context));
    assert_true(mr_context_destroy(context));
    assert_int_equal(mr_context_require(&out), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_int_equal(mr_context_resolve(handle, &out), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_ptr_equal(mr_context_current()->handle, handle);
    struct mr_context *other = make(); /* must not reuse the record */
    assert_ptr_not_equal(other, context);
    assert_true(mr_context_destroy(other));
    assert_true(mr_context_replace(NULL));
    assert_int_equal(mr_context_resolve(handle, &out), CUDA_ERROR_INVALID_CONTEXT);
}

static void the_first_error_sticks(void **state)
{
    struct mr_context *context = make(), *out;
    (void)state;
    assert_true(mr_context_push(context));
    mr_context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
    mr_context_fail(context, CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(mr_context_require(&out), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(mr_context_error(context), CUDA_ERROR_ILLEGAL_ADDRESS);
    mr_object_drop(mr_context_pop());
    assert_true(mr_context_destroy(context));
}

static void host_functions_may_not_call(void **state)
{
    struct mr_context *context = make(), *out;
    (void)state;
    mr_in_host_function = true;
    assert_int_equal(mr_context_require(&out), CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(mr_context_resolve(context->handle, &out), CUDA_ERROR_NOT_PERMITTED);
    mr_in_host_function = false;
    assert_true(mr_context_destroy(context));
}

static void slots_are_small_and_reused(void **state)
{
    struct mr_context *contexts[200];
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        contexts[i] = make();
        assert_true(contexts[i]->slot < 256);
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(contexts[i]->slot, contexts[j]->slot);
    }
    unsigned slot = contexts[100]->slot;
    assert_true(mr_context_destroy(contexts[100]));
    contexts[100] = make();
    assert_int_equal(contexts[100]->slot, slot);
    for (unsigned i = 0; i < 200; i++)
        assert_true(mr_context_destroy(contexts[i]));
}

static void *thread_that_leaves_its_stack(void *data)
{
    struct mr_context *context = data;
    for (int i = 0; i < 10; i++)
        if (!mr_context_push(context))
            return NULL;
    return data;
}

static void a_thread_gives_its_references_back(void **state)
{
    struct mr_context *context = make();
    pthread_t thread;
    void *result;
    (void)state;
    unsigned before = context->object.references;
    assert_int_equal(pthread_create(&thread, NULL, thread_that_leaves_its_stack, context), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, context);
    assert_int_equal(context->object.references, before);
    assert_true(mr_context_destroy(context));
}

static void flags(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(mr_context_flags_check(i),
                         i == 0 || i == 1 || i == 2 || i == 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_context_flags_check(0x98), CUDA_SUCCESS);
    assert_int_equal(mr_context_flags_check(CU_CTX_COREDUMP_ENABLE), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(mr_context_flags_check(0x100), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_context_flags_check(0x80000000u), CUDA_ERROR_INVALID_VALUE);
}

static void creation_survives_short_memory(void **state)
{
    (void)state;
    uint64_t live = 0;
    for (unsigned n = 1; n < 50; n++) {
        mr_alloc_fail_after(n);
        struct mr_context *context = mr_context_new(mr_device_get(0), 0, false);
        bool pushed = context && mr_context_push(context);
        mr_alloc_fail_after(0);
        if (pushed)
            mr_object_drop(mr_context_pop());
        if (context)
            assert_true(mr_context_destroy(context));
        if (n > 40 && !live)
            live = mr_alloc_live(); /* pools are warm now */
    }
    assert_int_equal(mr_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_differ_where_they_should),
        cmocka_unit_test(every_attribute_has_a_value),
        cmocka_unit_test(capability_comes_from_the_setting),
        cmocka_unit_test(the_stack_pops_in_order),
        cmocka_unit_test(a_destroyed_context_stays_readable_on_stacks),
        cmocka_unit_test(the_first_error_sticks),
        cmocka_unit_test(host_functions_may_not_call),
        cmocka_unit_test(slots_are_small_and_reused),
        cmocka_unit_test(a_thread_gives_its_references_back),
        cmocka_unit_test(flags),
        cmocka_unit_test(creation_survives_short_memory),
    };
    return cmocka_run_group_tests_name("object/context", tests, set_up, NULL);
}
