/* SPDX-License-Identifier: Apache-2.0 */
/* The device address space by itself: alignment, holes, limits, lookup, reuse, packing, failure, threads. The devices
 * are stand-ins. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "object/machine.h"

#define TOTAL ((size_t)1 << 30)
#define MIB ((size_t)1 << 20)

static struct mr_device the_device = {.total_memory = TOTAL};
static struct mr_context first, second;

int mr_device_count(void)
{
    return 1;
}

size_t mr_machine_memory(void)
{
    return (size_t)4 << 30;
}

struct mr_device *mr_device_get(int ordinal)
{
    return ordinal == 0 ? &the_device : NULL;
}

struct mr_device *mr_device_numbered(int number)
{
    return mr_device_get(number);
}

static size_t used(void)
{
    return atomic_load(&the_device.used_memory);
}

static uint32_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * limit) >> 32);
}

static uintptr_t take(struct mr_context *context, enum mr_memory_kind kind, size_t size)
{
    uintptr_t address = 0;
    assert_int_equal(mr_memory_allocate(context, kind, size, 0, &address), CUDA_SUCCESS);
    assert_true(address != 0);
    return address;
}

static sigjmp_buf fault_return;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(fault_return, 1);
}

/* Does a read of the address fault? */
static bool faults(uintptr_t address)
{
    struct sigaction old, mine = {.sa_handler = on_fault};
    volatile bool hit = true;
    sigaction(SIGSEGV, &mine, &old);
    if (sigsetjmp(fault_return, 1) == 0) {
        (void)*(volatile char *)address;
        hit = false;
    }
    sigaction(SIGSEGV, &old, NULL);
    return hit;
}

static int setup(void **state)
{
    (void)state;
    first.device = second.device = &the_device;
    mr_list_init(&first.allocations);
    mr_list_init(&second.allocations);
    return mr_memory_init() ? 0 : -1;
}

/* Every test leaves nothing allocated. */
static int check_empty(void **state)
{
    (void)state;
    struct mr_memory_statistics now;
    mr_memory_pack_after(8192);
    mr_memory_trim();
    mr_memory_statistics_get(&now);
    return now.live == 0 && now.packed == 0 && now.cached == 0 && used() == 0 ? 0 : -1;
}

static void test_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,      255, 256,     4095,        4096,      4097,      8192,     65536,
                                   100000, MIB, 2 * MIB, 2 * MIB + 1, 127 * MIB, 128 * MIB, 300 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uintptr_t base = take(&first, MR_MEMORY_DEVICE, sizes[i]);
        struct mr_allocation found;
        assert_int_equal(base % 256, 0);
        if (sizes[i] >= 2 * MIB)
            assert_int_equal(base % (2 * MIB), 0);
        *(volatile char *)base = 1;
        *(volatile char *)(base + sizes[i] - 1) = 2;
        assert_true(mr_memory_find(base + sizes[i] / 2, &found));
        assert_int_equal(found.base, base);
        assert_int_equal(found.size, sizes[i]);
        assert_int_equal(found.kind, MR_MEMORY_DEVICE);
        assert_ptr_equal(found.context, &first);
        assert_true(mr_memory_is_known(base));
        assert_true(mr_memory_is_known(base + sizes[i] - 1));
        assert_false(mr_memory_is_known(base + sizes[i]));
        assert_false(mr_memory_is_known(base - 1));
        assert_true(mr_memory_is_reserved(base + sizes[i]));
        assert_true(used() >= sizes[i]);
        assert_int_equal(mr_memory_release(base, MR_MEMORY_DEVICE), CUDA_SUCCESS);
        assert_false(mr_memory_find(base, &found));
    }
}

static void test_bad_requests(void **state)
{
    (void)state;
    uintptr_t address = 7;
    assert_int_equal(mr_memory_allocate(&first, MR_MEMORY_DEVICE, 0, 0, &address), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_allocate(&first, MR_MEMORY_DEVICE, TOTAL + 1, 0, &address), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(mr_memory_allocate(&first, MR_MEMORY_DEVICE, SIZE_MAX, 0, &address), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(mr_memory_allocate(&first, MR_MEMORY_PINNED, SIZE_MAX - 4096, 0, &address),
                     CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(mr_memory_allocate(&first, MR_MEMORY_PINNED, SIZE_MAX / 2, 0, &address), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(address, 7);
    uintptr_t base = take(&first, MR_MEMORY_DEVICE, 10000);
    assert_int_equal(mr_memory_release(base + 256, MR_MEMORY_DEVICE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_release(base, MR_MEMORY_PINNED), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_release(base + ((uintptr_t)1 << 36), MR_MEMORY_DEVICE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_release(0, MR_MEMORY_DEVICE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_release((uintptr_t)&address, MR_MEMORY_DEVICE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_release(base, MR_MEMORY_DEVICE), CUDA_SUCCESS);
    assert_int_equal(mr_memory_release(base, MR_MEMORY_DEVICE), CUDA_ERROR_INVALID_VALUE);
}

static void test_holes(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 4096, 12288, 70000, MIB, 3 * MIB, 200 * MIB};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    uintptr_t base[COUNT * 2];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++)
            base[round * COUNT + i] = take(&first, MR_MEMORY_DEVICE, sizes[i]);
    for (int i = 0; i < COUNT * 2; i++) {
        size_t mapped = (sizes[i % COUNT] + 4095) & ~(size_t)4095;
        assert_true(faults(base[i] - 1));
        assert_false(faults(base[i]));
        assert_false(faults(base[i] + mapped - 1));
        assert_true(faults(base[i] + mapped));
    }
    for (int i = 0; i < COUNT * 2; i++)
        mr_memory_release(base[i], MR_MEMORY_DEVICE);
    mr_memory_trim();
    for (int i = 0; i < COUNT * 2; i++)
        assert_true(faults(base[i]));
}

static void test_limit(void **state)
{
    (void)state;
    uintptr_t base[128];
    unsigned count = 0;
    while (count < 128 && mr_memory_allocate(&first, MR_MEMORY_DEVICE, 16 * MIB, 0, &base[count]) == CUDA_SUCCESS)
        count++;
    assert_int_equal(count, 64);
    assert_int_equal(used(), TOTAL);
    assert_int_equal(mr_memory_release(base[--count], MR_MEMORY_DEVICE), CUDA_SUCCESS);
    uintptr_t again = take(&first, MR_MEMORY_MANAGED, 16 * MIB);
    assert_int_equal(mr_memory_allocate(&first, MR_MEMORY_MODULE, 1, 0, &base[count]), CUDA_ERROR_OUT_OF_MEMORY);
    uintptr_t pinned = take(&first, MR_MEMORY_PINNED, 16 * MIB);   /* not the device's */
    mr_memory_release(pinned, MR_MEMORY_PINNED);
    mr_memory_release(again, MR_MEMORY_MANAGED);
    while (count)
        mr_memory_release(base[--count], MR_MEMORY_DEVICE);
    assert_int_equal(used(), 0);
}

static void test_reuse(void **state)
{
    (void)state;
    struct mr_memory_statistics now;
    uintptr_t base = take(&first, MR_MEMORY_DEVICE, MIB);
    mr_memory_release(base, MR_MEMORY_DEVICE);
    mr_memory_statistics_get(&now);
    assert_int_equal(now.cached, MIB);
    assert_int_equal(take(&first, MR_MEMORY_DEVICE, MIB), base);
    mr_memory_release(base, MR_MEMORY_DEVICE);
    /* Other sizes of the same stride reuse the pages too, and get their hole. */
    assert_int_equal(take(&first, MR_MEMORY_DEVICE, MIB + 5000), base);
    assert_true(faults(base + MIB + 8192));
    mr_memory_release(base, MR_MEMORY_DEVICE);
    assert_int_equal(take(&first, MR_MEMORY_DEVICE, MIB + 10), base);
    assert_true(faults(base + MIB + 4096));
    mr_memory_release(base, MR_MEMORY_DEVICE);
    /* What is kept never exceeds an eighth of the device. */
    uintptr_t many[64];
    for (int i = 0; i < 64; i++)
        many[i] = take(&first, MR_MEMORY_DEVICE, 8 * MIB);
    for (int i = 0; i < 64; i++)
        mr_memory_release(many[i], MR_MEMORY_DEVICE);
    mr_memory_statistics_get(&now);
    assert_true(now.cached <= TOTAL / 8);
    assert_true(now.cached > 0);
}

static void test_freed_memory_is_sealed(void **state)
{
    (void)state;
    static const size_t sizes[] = {5 * MIB, 2 * MIB, 40 * MIB, 100 * MIB, 500 * MIB};
    struct mr_memory_statistics now;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uintptr_t base = take(&first, MR_MEMORY_DEVICE, sizes[i]);
        memset((void *)base, 1, 2 * MIB);
        mr_memory_release(base, MR_MEMORY_DEVICE);
        assert_true(faults(base) && faults(base + 4096) && faults(base + sizes[i] - 1));
        /* Taken again, with the same size or another one of the stride, all of it is there, and its hole. */
        size_t other = i % 2 ? sizes[i] + MIB / 2 : sizes[i] - MIB / 2;
        for (int k = 0; k < 2; k++) {
            size_t size = k ? sizes[i] : other;
            uintptr_t again = take(&first, MR_MEMORY_DEVICE, size);
            ((volatile char *)again)[0] = 1;
            ((volatile char *)again)[size - 1] = 1;
            assert_true(faults(again + size));
            mr_memory_release(again, MR_MEMORY_DEVICE);
            assert_true(faults(again));
        }
    }
    mr_memory_statistics_get(&now);
    assert_true(now.cached > 0);
}

static void test_little_open_memory_is_kept(void **state)
{
    (void)state;
    struct mr_memory_statistics now;
    uintptr_t many[256];
    for (int i = 0; i < 256; i++)
        many[i] = take(&first, MR_MEMORY_DEVICE, MIB);
    for (int i = 0; i < 256; i++)
        mr_memory_release(many[i], MR_MEMORY_DEVICE);
    mr_memory_statistics_get(&now);
    assert_int_equal(now.cached, TOTAL / 8 / 4);
}

struct item {
    uintptr_t base;
    size_t size;
    unsigned char mark;
};

static void item_take(struct item *item, uint32_t most)
{
    item->size = 1 + random_below(random_below(4) ? most / 64 : most);
    item->mark = (unsigned char)random_below(256);
    item->base = take(&first, MR_MEMORY_DEVICE, item->size);
    assert_int_equal(item->base % 256, 0);
    memset((void *)item->base, item->mark, item->size < 4096 ? item->size : 4096);
    ((unsigned char *)item->base)[item->size - 1] = item->mark;
}

static void item_check_release(struct item *item)
{
    struct mr_allocation found;
    const unsigned char *bytes = (const unsigned char *)item->base;
    for (size_t i = 0; i < item->size && i < 4096; i++)
        assert_int_equal(bytes[i], item->mark);
    assert_int_equal(bytes[item->size - 1], item->mark);
    assert_true(mr_memory_find(item->base + random_below((uint32_t)item->size), &found));
    assert_int_equal(found.base, item->base);
    assert_int_equal(found.size, item->size);
    assert_int_equal(mr_memory_release(item->base, MR_MEMORY_DEVICE), CUDA_SUCCESS);
    item->size = 0;
}

static int by_base(const void *a, const void *b)
{
    uintptr_t x = ((const struct item *)a)->base, y = ((const struct item *)b)->base;
    return x < y ? -1 : x > y;
}

static void stress(unsigned items, unsigned steps, uint32_t most)
{
    struct item *all = calloc(items, sizeof *all), *sorted = malloc(items * sizeof *all);
    for (unsigned i = 0; i < steps; i++) {
        struct item *item = &all[random_below(items)];
        if (item->size)
            item_check_release(item);
        else
            item_take(item, most);
    }
    unsigned live = 0;
    for (unsigned i = 0; i < items; i++)
        if (all[i].size)
            sorted[live++] = all[i];
    qsort(sorted, live, sizeof *sorted, by_base);
    for (unsigned i = 1; i < live; i++)
        assert_true(sorted[i - 1].base + sorted[i - 1].size <= sorted[i].base);
    for (unsigned i = 0; i < items; i++)
        if (all[i].size)
            item_check_release(&all[i]);
    free(all);
    free(sorted);
}

static void test_stress(void **state)
{
    (void)state;
    stress(200, 6000, 4 << 20);
}

static void test_packed(void **state)
{
    (void)state;
    struct mr_memory_statistics now;
    mr_memory_pack_after(0);
    stress(2000, 20000, 60000);
    uintptr_t one = take(&first, MR_MEMORY_DEVICE, 300), two = take(&first, MR_MEMORY_DEVICE, 300);
    mr_memory_statistics_get(&now);
    assert_int_equal(now.packed, 2);
    assert_true(two > one && two - one == 512);
    assert_false(mr_memory_is_known(one + 300));
    struct mr_allocation found;
    assert_true(mr_memory_find(two + 299, &found));
    assert_int_equal(found.base, two);
    assert_int_equal(mr_memory_release(one + 256, MR_MEMORY_DEVICE), CUDA_ERROR_INVALID_VALUE);
    mr_memory_release(one, MR_MEMORY_DEVICE);
    mr_memory_release(two, MR_MEMORY_DEVICE);
}

/* More allocations than the kernel lets a process have mappings. */
static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    uintptr_t *base = malloc(COUNT * sizeof *base);
    for (int i = 0; i < COUNT; i++) {
        base[i] = take(&first, MR_MEMORY_DEVICE, 64);
        *(int *)base[i] = i;
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(*(int *)base[i], i);
        assert_int_equal(mr_memory_release(base[i], MR_MEMORY_DEVICE), CUDA_SUCCESS);
    }
    free(base);
}

static void test_short_memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 30000, MIB, 600 * MIB};
    for (int mode = 0; mode < 2; mode++) {
        mr_memory_pack_after(mode ? 0 : 8192);
        for (size_t i = 0; i < 4; i++) {
            uintptr_t address = 0;
            size_t before = used();
            mr_memory_trim();
            CUresult status = CUDA_ERROR_UNKNOWN;
            for (uint64_t nth = 1; status != CUDA_SUCCESS && nth < 10; nth++) {
                mr_alloc_fail_after(nth);
                status = mr_memory_allocate(&first, MR_MEMORY_DEVICE, sizes[i] + nth * 256, 0, &address);
                mr_alloc_fail_after(0);
                if (status != CUDA_SUCCESS) {
                    assert_int_equal(status, CUDA_ERROR_OUT_OF_MEMORY);
                    assert_int_equal(used(), before);
                }
            }
            assert_int_equal(status, CUDA_SUCCESS);
            assert_int_equal(mr_memory_release(address, MR_MEMORY_DEVICE), CUDA_SUCCESS);
        }
    }
}

static void test_context_end(void **state)
{
    (void)state;
    char *host = malloc(100000);
    uintptr_t mine = take(&first, MR_MEMORY_DEVICE, 1000);
    take(&second, MR_MEMORY_DEVICE, 5000);
    take(&second, MR_MEMORY_PINNED, 5000);
    take(&second, MR_MEMORY_MANAGED, 3 * MIB);
    assert_int_equal(mr_memory_register(&second, host, 1000, 0), CUDA_SUCCESS);
    assert_int_equal(mr_memory_register(&first, host + 1000, 1000, 0), CUDA_SUCCESS);
    mr_memory_release_context(&second);
    assert_false(mr_memory_is_known((uintptr_t)host));
    assert_true(mr_memory_is_known((uintptr_t)host + 1000));
    assert_true(mr_memory_is_known(mine));
    mr_memory_release_context(&first);
    assert_false(mr_memory_is_known((uintptr_t)host + 1000));
    assert_false(mr_memory_is_known(mine));
    free(host);
}

static void test_registered(void **state)
{
    (void)state;
    char *host = malloc(100000);
    uintptr_t start = (uintptr_t)host;
    struct mr_allocation found;
    uintptr_t device = take(&first, MR_MEMORY_DEVICE, 5000);
    assert_int_equal(mr_memory_register(&first, NULL, 10, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_register(&first, host, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_register(&first, host, SIZE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_register(&first, (void *)(uintptr_t)4096, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_register(&first, (void *)device, 100, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(mr_memory_register(&first, host + 1000, 1000, 2), CUDA_SUCCESS);
    assert_int_equal(mr_memory_register(&first, host + 3000, 1000, 0), CUDA_SUCCESS);
    assert_int_equal(mr_memory_register(&first, host, 1001, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    assert_int_equal(mr_memory_register(&first, host + 1999, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    assert_int_equal(mr_memory_register(&first, host, 90000, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    assert_int_equal(mr_memory_register(&first, host + 2000, 1000, 0), CUDA_SUCCESS);
    assert_false(mr_memory_is_known(start + 999));
    assert_true(mr_memory_is_known(start + 1000));
    assert_true(mr_memory_find(start + 1999, &found));
    assert_int_equal(found.base, start + 1000);
    assert_int_equal(found.flags, 2);
    assert_int_equal(found.kind, MR_MEMORY_REGISTERED);
    assert_true(mr_memory_find(start + 2000, &found));
    assert_int_equal(found.base, start + 2000);
    assert_false(mr_memory_find(start + 4000, &found));
    assert_int_equal(mr_memory_unregister(host + 1001), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(mr_memory_unregister(host + i * 1000), CUDA_SUCCESS);
    assert_int_equal(mr_memory_unregister(host + 1000), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    for (uint64_t nth = 1; nth < 3; nth++) {
        mr_alloc_fail_after(nth);
        CUresult status = mr_memory_register(&first, host, 10, 0);
        mr_alloc_fail_after(0);
        assert_int_equal(status, nth == 1 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    }
    assert_int_equal(mr_memory_unregister(host), CUDA_SUCCESS);
    mr_memory_release(device, MR_MEMORY_DEVICE);
    free(host);
}

static void test_sync_memops(void **state)
{
    (void)state;
    struct mr_allocation found;
    uintptr_t base = take(&first, MR_MEMORY_DEVICE, 5000);
    assert_true(mr_memory_find(base, &found));
    assert_false(found.sync_memops);
    assert_true(mr_memory_set_sync_memops(base + 100, true));
    assert_true(mr_memory_find(base, &found));
    assert_true(found.sync_memops);
    assert_false(mr_memory_set_sync_memops(base + 5000, true));
    assert_false(mr_memory_set_sync_memops((uintptr_t)&found, true));
    mr_memory_release(base, MR_MEMORY_DEVICE);
    assert_int_equal(take(&first, MR_MEMORY_DEVICE, 5000), base);
    assert_true(mr_memory_find(base, &found));
    assert_false(found.sync_memops);
    mr_memory_release(base, MR_MEMORY_DEVICE);
}

static void test_low(void **state)
{
    (void)state;
    uintptr_t address[3];
    struct mr_allocation found;
    static const size_t sizes[] = {10, 70000, 20 * MIB};
    for (int i = 0; i < 3; i++) {
        CUresult status = mr_memory_allocate_low(&first, MR_MEMORY_DEVICE, sizes[i], 0, &address[i]);
        if (i == 0 && status == CUDA_ERROR_OUT_OF_MEMORY)
            skip();   /* sanitizers may own that part of the address space */
        assert_int_equal(status, CUDA_SUCCESS);
        assert_true(address[i] + sizes[i] <= UINT32_MAX);
        *(char *)(address[i] + sizes[i] - 1) = 1;
        assert_true(mr_memory_find(address[i] + sizes[i] - 1, &found));
        assert_int_equal(found.base, address[i]);
    }
    assert_int_equal(mr_memory_allocate_low(&first, MR_MEMORY_DEVICE, TOTAL, 0, &address[0]), CUDA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mr_memory_release(address[i], MR_MEMORY_DEVICE), CUDA_SUCCESS);
}

static _Atomic uintptr_t shared_base;

static void *churn(void *data)
{
    uint32_t state = (uint32_t)(uintptr_t)data;
    uintptr_t base[16] = {0};
    size_t size[16];
    for (int i = 0; i < 3000; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned slot = (state >> 8) % 16;
        struct mr_allocation found;
        if (base[slot]) {
            if (!mr_memory_find(base[slot] + size[slot] - 1, &found) || found.base != base[slot] ||
                found.context != &first)
                return (void *)1;
            if (mr_memory_release(base[slot], MR_MEMORY_DEVICE) != CUDA_SUCCESS)
                return (void *)2;
            base[slot] = 0;
        } else {
            size[slot] = 1 + (state >> 12) % 50000;
            if (mr_memory_allocate(&first, MR_MEMORY_DEVICE, size[slot], 0, &base[slot]) != CUDA_SUCCESS)
                return (void *)3;
            atomic_store(&shared_base, base[slot]);
        }
        /* A neighbour's allocation: it may go at any time, but what is seen must be whole. */
        uintptr_t other = atomic_load(&shared_base);
        if (mr_memory_find(other, &found) &&
            (found.context != &first || !found.size || other - found.base >= found.size))
            return (void *)4;
    }
    for (unsigned slot = 0; slot < 16; slot++)
        if (base[slot])
            mr_memory_release(base[slot], MR_MEMORY_DEVICE);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sizes, check_empty),
        cmocka_unit_test_teardown(test_bad_requests, check_empty),
        cmocka_unit_test_teardown(test_holes, check_empty),
        cmocka_unit_test_teardown(test_limit, check_empty),
        cmocka_unit_test_teardown(test_reuse, check_empty),
        cmocka_unit_test_teardown(test_freed_memory_is_sealed, check_empty),
        cmocka_unit_test_teardown(test_little_open_memory_is_kept, check_empty),
        cmocka_unit_test_teardown(test_stress, check_empty),
        cmocka_unit_test_teardown(test_packed, check_empty),
        cmocka_unit_test_teardown(test_many, check_empty),
        cmocka_unit_test_teardown(test_short_memory, check_empty),
        cmocka_unit_test_teardown(test_context_end, check_empty),
        cmocka_unit_test_teardown(test_registered, check_empty),
        cmocka_unit_test_teardown(test_sync_memops, check_empty),
        cmocka_unit_test_teardown(test_low, check_empty),
        cmocka_unit_test_teardown(test_threads, check_empty),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
