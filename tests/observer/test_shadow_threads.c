/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow with many threads at once (libs/observer/shadow.h): each touches memory of its own and memory that all
 * use, allocates and frees. What is in order is not reported; of what is not, each pair is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libs/observer/generation.h"
#include "libs/observer/history.h"
#include "libs/observer/shadow.h"
#include "shadow_order.h"

enum { THREADS = 8, ROUNDS = 400, SIZE = 4096 };

static const uintptr_t base = (uintptr_t)1 << 44;
static const uintptr_t shared = base, disputed = base + SIZE, columns = base + 2 * SIZE, own = base + 64 * SIZE;
static uint32_t site_of[THREADS];

static void touch(struct obs_operation *operation, uintptr_t first, size_t width, size_t rows, size_t pitch,
                  uint32_t how)
{
    struct mr_access box = {.first = first, .width = width, .rows = rows, .pitch = pitch, .how = how};
    obs_shadow_touch(operation, &box, 1);
}

/* All that a thread does is in a line of its own. */
static void *run(void *number)
{
    uint32_t index = (uint32_t)(uintptr_t)number, line = index + 1;
    uintptr_t mine = own + index * 16 * SIZE;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct obs_operation *made = operation_with(line, MR_SIDE_ALLOCATION, "cuMemAllocAsync", 1000 + index);
        struct obs_operation *used = operation_with(line, MR_SIDE_KERNEL, "cuLaunchKernel", site_of[index]);
        struct obs_operation *freed = operation_with(line, MR_SIDE_FREE, "cuMemFreeAsync", 2000 + index);
        uintptr_t at = mine + round % 8 * SIZE;
        if (obs_generation_made(made, MR_ALLOCATION_POOL, at, SIZE) == 0)
            return (void *)1;
        bool late = round % 3 == 0;
        if (late && !obs_generation_ended(freed, at))
            return (void *)1;
        touch(used, at, SIZE / 2, 1, 0, MR_ACCESS_WRITE);
        touch(used, at + SIZE / 2, SIZE / 2, 1, 0, MR_ACCESS_WRITE);
        touch(used, shared, SIZE, 1, 0, MR_ACCESS_READ);
        touch(used, columns + index * 4, 4, SIZE / 64, 64, MR_ACCESS_WRITE);
        touch(used, disputed + round % 64, 1, 1, 0, MR_ACCESS_WRITE);
        if (!late && !obs_generation_ended(freed, at))
            return (void *)1;
        obs_operation_drop(made);
        obs_operation_drop(used);
        obs_operation_drop(freed);
    }
    return NULL;
}

/* Looks while others work. */
static void *look(void *unused)
{
    (void)unused;
    struct obs_generation_view view;
    struct mr_race_summary seen;
    for (uint32_t round = 0; round < ROUNDS * 4; round++) {
        if (obs_generation_at(own + round % (THREADS * 16) * SIZE, calls, &view) && view.size != SIZE)
            return (void *)1;
        obs_shadow_summary(&seen);
        for (size_t i = 0; i < obs_finding_count(); i++)
            if (!obs_finding(i)->missing)
                return (void *)1;
        if (round % 64 == 0)
            obs_generation_forget_ended();
    }
    return NULL;
}

static void threads_agree(void **state)
{
    (void)state;
    pthread_t threads[THREADS + 1];
    struct obs_operation *made = operation_with(HOST_LINE, MR_SIDE_ALLOCATION, "cuMemAlloc", 500);
    obs_generation_made(made, MR_ALLOCATION_DEVICE, shared, SIZE);
    obs_generation_made(made, MR_ALLOCATION_DEVICE, disputed, SIZE);
    obs_generation_made(made, MR_ALLOCATION_DEVICE, columns, SIZE);
    for (uint32_t i = 0; i < THREADS; i++)
        site_of[i] = i + 1;
    assert_int_equal(pthread_create(&threads[THREADS], NULL, look, NULL), 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)i), 0);
    for (int i = 0; i <= THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    /* Each pair of threads writes the disputed bytes; nothing else is found. */
    bool pairs[THREADS + 1][THREADS + 1] = {{false}};
    for (size_t i = 0; i < obs_finding_count(); i++) {
        const struct mr_finding *finding = obs_finding(i);
        assert_int_equal(finding->kind, MR_FINDING_RACE);
        assert_true(finding->first >= disputed && finding->end <= disputed + SIZE);
        pairs[finding->earlier.site][finding->later.site] = pairs[finding->later.site][finding->earlier.site] = true;
    }
    for (int one = 1; one <= THREADS; one++)
        for (int other = 1; other < one; other++)
            assert_true(pairs[one][other]);
    assert_int_equal(obs_finding_count(), THREADS * (THREADS - 1) / 2);
    obs_operation_drop(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
