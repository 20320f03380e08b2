/* SPDX-License-Identifier: Apache-2.0 */
/* The device heap: sizes, alignment, overlap, exhaustion, bad frees, reuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernel/heap.h"
#include "kernel_double.h"

static uint64_t take(struct mr_heap *heap, uint64_t size)
{
    uint64_t result[32] = {1};
    mr_heap_allocate(heap, 1, 1, &size, NULL, result);
    return result[0];
}

static bool give(struct mr_heap *heap, uint64_t pointer)
{
    return mr_heap_release(heap, 1, 1, &pointer);
}

static void only_active_lanes_are_served(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    struct mr_heap *heap = mr_heap_get(context);
    assert_non_null(heap);
    assert_ptr_equal(mr_heap_get(context), heap);
    uint64_t size[32], result[32];
    for (int i = 0; i < 32; i++) {
        size[i] = 40;
        result[i] = 99;
    }
    mr_heap_allocate(heap, 1, 0xf0f0f0f0, size, NULL, result);
    for (int i = 0; i < 32; i++)
        if (0xf0f0f0f0u >> i & 1) {
            assert_true(result[i] != 0 && result[i] % 16 == 0);
            memset((void *)(uintptr_t)result[i], i, 40);
        } else
            assert_int_equal(result[i], 99);
    assert_true(mr_heap_release(heap, 1, 0xf0f0f0f0, result));
    assert_false(mr_heap_release(heap, 1, 0xf0f0f0f0, result));
    mr_heap_end(context);
    mr_heap_end(context);
    mr_free(context);
}

/* Each power of two up to 4 MiB, for small and large sizes; what is freed is whole again. */
static void alignment_is_as_asked_for(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    struct mr_heap *heap = mr_heap_get(context);
    static const uint64_t sizes[] = {1, 24, 100, 5000, 70000};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t alignment = 1; alignment <= 4u << 20; alignment *= 2) {
            uint64_t other = take(heap, 16), result = 0;
            mr_heap_allocate(heap, 1, 1, &sizes[i], &alignment, &result);
            assert_true(other != 0);
            /* The heap has 8 MiB: one place that is aligned to 4 at least. */
            assert_true(result != 0 && result % alignment == 0 && result % 16 == 0);
            memset((void *)(uintptr_t)result, 0x5a, sizes[i]);
            assert_true(give(heap, result) && give(heap, other));
        }
    static const uint64_t none[] = {0, 3, 48, UINT64_MAX, 1ull << 63, 16u << 20};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
        uint64_t size = 100000, result = 1;
        mr_heap_allocate(heap, 1, 1, &size, &none[i], &result);
        assert_true(result == 0 || (none[i] == 16u << 20 && result % none[i] == 0));
        give(heap, result);
    }
    uint64_t whole = take(heap, 8u << 20);
    assert_true(whole != 0);
    mr_heap_end(context);
    mr_free(context);
}

static void bad_pointers_are_refused(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    struct mr_heap *heap = mr_heap_get(context);
    uint64_t small = take(heap, 100), large = take(heap, 200000);
    int local;
    assert_true(give(heap, 0));
    assert_false(give(heap, small + 1));
    assert_false(give(heap, small + 128));
    assert_false(give(heap, large + 16));
    assert_false(give(heap, large + 65536));
    assert_false(give(heap, (uint64_t)(uintptr_t)&local));
    assert_false(give(heap, UINT64_MAX));
    assert_true(give(heap, large));
    assert_false(give(heap, large));
    assert_true(give(heap, small));
    uint64_t empty = take(heap, 0), other = take(heap, 0);
    assert_true(empty != 0 && other != 0 && empty != other);
    assert_true(give(heap, empty) && give(heap, other));
    assert_int_equal(take(heap, UINT64_MAX), 0);
    assert_int_equal(take(heap, (8u << 20) + 1), 0);
    uint64_t whole = take(heap, 8u << 20);
    assert_true(whole != 0);
    assert_int_equal(take(heap, 1), 0);
    assert_true(give(heap, whole));
    mr_heap_end(context);
    mr_free(context);
}

/* Random sizes with a pattern in each; overlap would show as a changed pattern. */
static void live_allocations_never_overlap(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    struct mr_heap *heap = mr_heap_get(context);
    static struct {
        uint64_t address, size;
        unsigned char tag;
    } live[512];
    uint64_t seed = 12345;
    unsigned full = 0;
    memset(live, 0, sizeof live);
    for (int step = 0; step < 20000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned slot = (unsigned)(seed >> 40) % 512;
        if (live[slot].address) {
            unsigned char *bytes = (unsigned char *)(uintptr_t)live[slot].address;
            for (uint64_t i = 0; i < live[slot].size; i += 61)
                assert_int_equal(bytes[i], live[slot].tag);
            assert_int_equal(bytes[live[slot].size - 1], live[slot].tag);
            assert_true(give(heap, live[slot].address));
            live[slot].address = 0;
            continue;
        }
        live[slot].size = 1 + (seed >> 33) % (step % 50 == 0 ? 300000 : 3000);
        live[slot].address = take(heap, live[slot].size);
        live[slot].tag = (unsigned char)step;
        full += live[slot].address == 0;
        if (live[slot].address)
            memset((void *)(uintptr_t)live[slot].address, live[slot].tag, live[slot].size);
    }
    assert_true(full < 10000);
    for (unsigned i = 0; i < 512; i++)
        if (live[i].address)
            assert_true(give(heap, live[i].address));
    uint64_t whole = take(heap, 8u << 20);
    assert_true(whole != 0);
    mr_heap_end(context);
    mr_free(context);
}

static void memory_shortage_gives_no_heap(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    mr_alloc_fail_after(1);
    assert_null(mr_heap_get(context));
    struct mr_heap *heap = mr_heap_get(context);
    assert_non_null(heap);
    mr_alloc_fail_after(1);
    assert_int_equal(take(heap, 64), 0);
    assert_true(take(heap, 64) != 0);
    mr_heap_end(context);
    mr_free(context);
}

/* A kernel allocates, a second one frees; a third frees what it must not. */
static void allocate_kernel(struct mr_block *block, uint32_t first, uint32_t end)
{
    uint64_t **out = (uint64_t **)(void *)block->params, size[32];
    (void)end;
    for (int i = 0; i < 32; i++)
        size[i] = 1000;
    block->runtime->allocate(block, UINT32_MAX, size, NULL, *out + 32 * first);
}

static void release_kernel(struct mr_block *block, uint32_t first, uint32_t end)
{
    uint64_t **out = (uint64_t **)(void *)block->params;
    (void)end;
    block->runtime->release(block, UINT32_MAX, *out + 32 * first);
}

static void kernels_share_the_context_s_heap(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    uint64_t pointers[64] = {0}, *params = pointers;
    static mr_kernel_function *const steps[] = {allocate_kernel, release_kernel, release_kernel};
    for (int i = 0; i < 3; i++) {
        struct mr_launch *launch = double_launch(context, steps[i], MR_CODE_COOPERATIVE, 1, 64, &params, sizeof params);
        assert_int_equal(double_run(launch), i < 2 ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED);
        double_launch_free(launch);
        if (i == 0)
            for (int lane = 0; lane < 64; lane++)
                memset((void *)(uintptr_t)pointers[lane], lane, 1000);
    }
    mr_heap_end(context);
    mr_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_active_lanes_are_served),  cmocka_unit_test(alignment_is_as_asked_for),
        cmocka_unit_test(bad_pointers_are_refused),      cmocka_unit_test(live_allocations_never_overlap),
        cmocka_unit_test(memory_shortage_gives_no_heap), cmocka_unit_test(kernels_share_the_context_s_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
