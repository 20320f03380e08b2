/* SPDX-License-Identifier: Apache-2.0 */
/* Generations, histories and findings (libs/observer/generation.h, mappings.h, history.h, shadow.h, found.h, advice.h):
 * operations made by hand touch memory, and what is reported is compared with what should be. Random programs are
 * compared with a model that has a flag for each byte of each operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libs/observer/generation.h"
#include "libs/observer/history.h"
#include "libs/observer/mappings.h"
#include "libs/observer/shadow.h"
#include "shadow_order.h"

enum { R = MR_ACCESS_READ, W = MR_ACCESS_WRITE, A = MR_ACCESS_ATOMIC, ROUGH = MR_ACCESS_ROUGH };

static uint64_t dice_state;
static uintptr_t next_base = (uintptr_t)1 << 44;
static size_t seen; /* findings of tests before */

static unsigned dice(unsigned limit)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice_state >> 33) % limit;
}

/* Memory that no other test has. */
static uintptr_t allocate(enum mr_allocation_kind kind, size_t size, struct obs_operation *made)
{
    uintptr_t base = next_base;
    next_base += (size + 4095) / 4096 * 4096 + 4096;
    struct obs_operation *host = made ? made : operation_with(HOST_LINE, MR_SIDE_ALLOCATION, "cuMemAlloc", 0);
    assert_true(obs_generation_made(host, kind, base, size) > 0);
    if (!made)
        drop(host);
    return base;
}

static void touch(struct obs_operation *operation, uintptr_t first, size_t width, uint32_t how)
{
    struct mr_access box = {.first = first, .width = width, .rows = 1, .how = how};
    obs_shadow_touch(operation, &box, 1);
}

static void touch_rows(struct obs_operation *operation, uintptr_t first, size_t width, size_t rows, size_t pitch,
                       uint32_t how)
{
    struct mr_access box = {.first = first, .width = width, .rows = rows, .pitch = pitch, .how = how};
    obs_shadow_touch(operation, &box, 1);
}

/* An operation that touches one run, and is over. */
static struct mr_side use(uint32_t line, enum mr_side_what what, uintptr_t first, size_t width, uint32_t how)
{
    struct obs_operation *now = operation(line, what);
    struct mr_side side = now->side;
    touch(now, first, width, how);
    drop(now);
    return side;
}

static void nothing_found(void)
{
    if (obs_finding_count() != seen)
        fail_msg("%s: %s", obs_finding_kind_name(obs_finding(seen)->kind), obs_finding(seen)->missing);
}

/* The one finding that has come since the last look. */
static const struct mr_finding *found(enum mr_finding_kind kind)
{
    assert_int_equal(obs_finding_count(), seen + 1);
    const struct mr_finding *finding = obs_finding(seen++);
    assert_string_equal(obs_finding_kind_name(finding->kind), obs_finding_kind_name(kind));
    assert_int_equal(finding->number, seen);
    assert_non_null(finding->missing);
    assert_non_null(finding->advice);
    assert_true(finding->missing[0] && finding->advice[0]);
    return finding;
}

static void races_are_found(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 65536, NULL);
    wait_for(3, HOST_LINE);
    wait_for(5, HOST_LINE);
    struct mr_side kernel = use(3, MR_SIDE_KERNEL, base, 65536, W);
    nothing_found();
    struct mr_side copy = use(5, MR_SIDE_COPY, base + 100, 10, R);
    const struct mr_finding *finding = found(MR_FINDING_RACE);
    assert_int_equal(finding->first, base + 100);
    assert_int_equal(finding->end, base + 110);
    assert_int_equal(finding->earlier.site, kernel.site);
    assert_int_equal(finding->later.site, copy.site);
    assert_int_equal(finding->earlier.how, W);
    assert_int_equal(finding->later.how, R);
    assert_int_equal(finding->allocation.base, base);
    assert_int_equal(finding->allocation.size, 65536);
    assert_string_equal(finding->allocation.call, "cuMemAlloc");
    assert_null(finding->allocation.free_call);
    assert_false(finding->luck);
    assert_string_equal(finding->missing, "stream 5 does not wait for the kernel in stream 3");
    assert_string_equal(finding->advice, "make stream 5 wait for an event recorded in stream 3 after the launch");
}

static void order_and_reads_are_no_races(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 4096, NULL);
    use(3, MR_SIDE_KERNEL, base, 4096, W);
    use(3, MR_SIDE_KERNEL, base, 4096, R | W);
    wait_for(5, 3);
    use(5, MR_SIDE_COPY, base, 4096, R);
    wait_for(4, 3);
    use(4, MR_SIDE_COPY, base, 4096, R);
    use(5, MR_SIDE_KERNEL, base, 10, R);
    nothing_found();
    wait_for(3, 5);
    use(3, MR_SIDE_KERNEL, base + 4000, 96, W); /* stream 4 still reads */
    found(MR_FINDING_RACE);
    wait_for(3, 4);
    use(3, MR_SIDE_KERNEL, base, 4096, W);
    nothing_found();
    use(9, MR_SIDE_FILL, base + 4096, 100, W); /* nobody's */
    nothing_found();
}

static void atomics_race_with_others_alone(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 4096, NULL);
    use(3, MR_SIDE_KERNEL, base, 64, R | W | A);
    use(4, MR_SIDE_KERNEL, base, 64, R | W | A);
    use(5, MR_SIDE_KERNEL, base, 64, R | A);
    nothing_found();
    wait_for(5, 4);
    use(5, MR_SIDE_KERNEL, base, 64, R);
    assert_int_equal(found(MR_FINDING_RACE)->earlier.stream, 3);
    /* An atomic write does not make a plain one needless. */
    base = allocate(MR_ALLOCATION_DEVICE, 4096, NULL);
    use(3, MR_SIDE_KERNEL, base, 64, W);
    use(3, MR_SIDE_KERNEL, base, 64, W | A);
    use(4, MR_SIDE_KERNEL, base, 64, W | A);
    assert_int_equal(found(MR_FINDING_RACE)->earlier.how, W);
}

static void one_finding_for_a_pair_of_sites(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 4096, NULL);
    uint32_t one = ++sites, other = ++sites;
    for (int i = 0; i < 5; i++) {
        struct obs_operation *a = operation_with(10, MR_SIDE_KERNEL, "cuLaunchKernel", one);
        struct obs_operation *b = operation_with(11, MR_SIDE_KERNEL, "cuLaunchKernel", other);
        touch(i % 2 ? a : b, base, 16, W);
        touch(i % 2 ? b : a, base, 16, W);
        drop(a);
        drop(b);
        wait_for(10, 11);
        wait_for(11, 10);
    }
    assert_int_equal(found(MR_FINDING_RACE)->further, 4);
}

static void columns_are_told_apart(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 1024 * 1024, NULL);
    struct obs_operation *left = operation(3, MR_SIDE_COPY), *right = operation(4, MR_SIDE_KERNEL);
    touch_rows(left, base, 512, 1024, 1024, W);
    touch_rows(right, base + 512, 512, 1024, 1024, W);
    nothing_found();
    struct obs_operation *wide = operation(5, MR_SIDE_COPY);
    wait_for(5, 4);
    drop(wide);
    wide = operation(5, MR_SIDE_COPY);
    touch_rows(wide, base + 508, 516, 1024, 1024, W); /* one element of each row too many */
    const struct mr_finding *finding = found(MR_FINDING_RACE);
    assert_int_equal(finding->first, base + 508);
    assert_int_equal(finding->end, base + 512);
    drop(left);
    drop(right);
    drop(wide);
}

static void scattered_bytes_are_told_apart(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 1 << 20, NULL);
    struct mr_access even[500], odd[500];
    for (size_t i = 0; i < 500; i++) {
        even[i] = (struct mr_access){.first = base + i * i * 4 + (i * i) % 7 * 8, .width = 4, .rows = 1, .how = W};
        odd[i] = even[i];
        odd[i].first += 4;
    }
    struct obs_operation *one = operation(3, MR_SIDE_KERNEL), *other = operation(4, MR_SIDE_KERNEL);
    obs_shadow_touch(one, even, 500);
    size_t bytes = obs_history_bytes();
    for (size_t i = 0; i < 500; i++) { /* those that meet an even one are left out */
        for (size_t n = 0; n < 500; n++)
            if (odd[i].first == even[n].first)
                odd[i].first = base + (1 << 20) - 4;
    }
    obs_shadow_touch(other, odd, 500);
    nothing_found();
    assert_true(obs_history_bytes() - bytes < 500 * 10 + 2000); /* one note, not 500 */
    touch(other, base + 499 * 499 * 4 + (499 * 499) % 7 * 8 + 3, 1, R);
    const struct mr_finding *finding = found(MR_FINDING_RACE);
    assert_int_equal(finding->end - finding->first, 1);
    drop(one);
    drop(other);
}

static void the_host_and_its_functions(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_PINNED, 4096, NULL);
    use(3, MR_SIDE_COPY, base, 4096, W);
    use(HOST_LINE, MR_SIDE_HOST, base, 4096, R);
    const struct mr_finding *finding = found(MR_FINDING_HOST);
    assert_string_equal(finding->missing, "cuMemcpy does not wait for the copy in stream 3");
    assert_string_equal(finding->advice,
                        "synchronise with stream 3, or with an event recorded in it after the copy, before cuMemcpy");
    wait_for(HOST_LINE, 3);
    use(HOST_LINE, MR_SIDE_HOST, base, 4096, R);
    nothing_found();
    base = allocate(MR_ALLOCATION_PINNED, 4096, NULL);
    use(3, MR_SIDE_KERNEL, base, 4096, R);
    use(4, MR_SIDE_HOST_FUNCTION, base, 4, W);
    assert_string_equal(found(MR_FINDING_HOST_FUNCTION)->advice,
                        "make stream 4 wait for an event recorded in stream 3 after the launch");
}

static void memory_in_stream_order(void **state)
{
    (void)state;
    struct obs_operation *made = operation(3, MR_SIDE_ALLOCATION);
    uintptr_t base = allocate(MR_ALLOCATION_POOL, 4096, made);
    use(3, MR_SIDE_KERNEL, base, 4096, W);
    nothing_found();
    use(4, MR_SIDE_FILL, base, 1, R);
    assert_int_equal(obs_finding_count(), seen + 2); /* also a race with the kernel */
    const struct mr_finding *finding = obs_finding(seen);
    assert_int_equal(finding->kind, MR_FINDING_UNORDERED_USE);
    assert_string_equal(finding->missing, "stream 4 does not wait for the allocation in stream 3");
    assert_string_equal(finding->advice, "make stream 4 wait for an event recorded in stream 3 after the allocation");
    seen += 2;
    /* The free waits for neither line 4 nor what it did: 5 reads in order, and is not waited for. */
    wait_for(5, 3);
    wait_for(3, 4);
    use(5, MR_SIDE_COPY, base, 100, R);
    struct obs_operation *freed = operation(3, MR_SIDE_FREE);
    assert_true(obs_generation_ended(freed, base));
    finding = found(MR_FINDING_EARLY_FREE);
    assert_string_equal(finding->missing,
                        "cuMemFreeAsync in stream 3 does not wait for the copy in stream 5, which uses the memory");
    assert_string_equal(finding->allocation.free_call, "cuMemFreeAsync");
    /* And later uses of it. */
    assert_false(obs_generation_ended(freed, base));
    wait_for(5, 3);
    use(5, MR_SIDE_COPY, base + 4095, 1, R);
    finding = found(MR_FINDING_USE_AFTER_FREE);
    assert_int_equal(finding->first, base + 4095);
    drop(made);
    drop(freed);
}

/* A use that the program asked for before the free, but that is told when the memory has been handed out again. */
static void late_uses_mean_the_old_generation(void **state)
{
    (void)state;
    struct obs_operation *made = operation(3, MR_SIDE_ALLOCATION);
    uintptr_t base = allocate(MR_ALLOCATION_POOL, 4096, made);
    struct obs_operation *used = operation(3, MR_SIDE_KERNEL);
    wait_for(4, 3);
    struct obs_operation *beside = operation(4, MR_SIDE_KERNEL);
    struct obs_operation *freed = operation(3, MR_SIDE_FREE);
    struct obs_operation *again[3], *use_again[3];
    assert_true(obs_generation_ended(freed, base));
    for (int i = 0; i < 3; i++) {
        again[i] = operation(3, MR_SIDE_ALLOCATION);
        obs_generation_made(again[i], MR_ALLOCATION_POOL, base + (uintptr_t)i * 1024, 1024);
        use_again[i] = operation(3, MR_SIDE_KERNEL);
    }
    nothing_found();
    touch(used, base, 4096, W);
    nothing_found(); /* in order, although in another generation there was a free before it */
    for (int i = 0; i < 3; i++)
        touch(use_again[i], base + (uintptr_t)i * 1024, 1024, W);
    nothing_found();
    touch(beside, base + 1000, 100, R);
    found(MR_FINDING_EARLY_FREE); /* not a race with the kernels of the new generations; in order after the first kernel
                                   */
    struct obs_generation_view view;
    assert_true(obs_generation_at(base, UINT64_MAX, &view));
    assert_true(view.alive && view.size == 1024 && view.made.number == again[0]->side.number);
    assert_true(obs_generation_at(base, used->side.number, &view));
    assert_true(!view.alive && view.size == 4096 && view.ended.number == freed->side.number);
    assert_true(obs_generation_at(base + 4000, UINT64_MAX, &view));
    assert_true(!view.alive);
    assert_true(obs_generation_below(base + 2 * 1024 + 1500, &view));
    assert_true(view.base == base + 2048);
    for (int i = 0; i < 3; i++) {
        drop(again[i]);
        drop(use_again[i]);
    }
    drop(made);
    drop(used);
    drop(beside);
    drop(freed);
}

static void registered_memory_stays_the_programs(void **state)
{
    (void)state;
    uintptr_t base = allocate(MR_ALLOCATION_REGISTERED, 4096, NULL);
    use(3, MR_SIDE_COPY, base, 4096, R);
    struct obs_operation *end = operation_with(HOST_LINE, MR_SIDE_FREE, "cuMemHostUnregister", 0);
    obs_generation_ended(end, base);
    const struct mr_finding *finding = found(MR_FINDING_EARLY_FREE);
    assert_string_equal(finding->missing,
                        "cuMemHostUnregister does not wait for the copy in stream 3, which uses the memory");
    assert_string_equal(finding->advice, "synchronise with stream 3 after the copy and before cuMemHostUnregister");
    use(3, MR_SIDE_COPY, base, 4096, R);
    nothing_found();
    drop(end);
}

/* A graph that allocates, uses and frees: all of one launch have the same call. */
static void graph_memory(void **state)
{
    (void)state;
    uintptr_t base = next_base;
    uint64_t before = seen;
    next_base += 8192;
    for (int run = 0; run < 2; run++) {
        struct obs_operation *steps[6];
        for (int i = 0; i < 6; i++) {
            steps[i] = operation(20, i % 3 == 0 ? MR_SIDE_ALLOCATION : i % 3 == 1 ? MR_SIDE_KERNEL : MR_SIDE_FREE);
            steps[i]->side.node = (uint64_t)i + 1;
            steps[i]->side.number = steps[0]->side.number;
            steps[i]->side.work = steps[0]->side.work;
        }
        for (int i = 0; i < 2; i++) { /* both are told before any use */
            assert_true(obs_generation_made(steps[3 * i], MR_ALLOCATION_GRAPH, base, 4096) > 0);
            assert_true(obs_generation_ended(steps[3 * i + 2], base));
        }
        touch(steps[1], base, 4096, W);
        touch(steps[4], base, 4096, W);
        nothing_found();
        for (int i = 0; i < 6; i++)
            drop(steps[i]);
    }
    assert_int_equal(seen, before);
    /* A free that does not come after the use, in the same run. */
    struct obs_operation *made = operation(20, MR_SIDE_ALLOCATION);
    wait_for(21, 20);
    wait_for(22, 20);
    struct obs_operation *used = operation(21, MR_SIDE_KERNEL), *freed = operation(22, MR_SIDE_FREE);
    used->side.number = freed->side.number = made->side.number;
    used->side.work = freed->side.work = made->side.work;
    made->side.node = 1;
    used->side.node = 2;
    freed->side.node = 3;
    obs_generation_made(made, MR_ALLOCATION_GRAPH, base, 4096);
    obs_generation_ended(freed, base);
    touch(used, base, 1, W);
    assert_string_equal(found(MR_FINDING_EARLY_FREE)->missing,
                        "the graph has no path of edges from the node of the kernel to the free");
    drop(made);
    drop(used);
    drop(freed);
}

static void mappings_of_the_same_memory(void **state)
{
    (void)state;
    enum { HANDLE = 77, SIZE = 65536 };
    uintptr_t one = next_base, other = next_base + SIZE;
    next_base += 2 * SIZE;
    struct obs_operation *made = operation_with(HOST_LINE, MR_SIDE_ALLOCATION, "cuMemCreate", 0);
    obs_mapping_created(made, HANDLE, SIZE);
    obs_mapping_mapped(made, HANDLE, one, SIZE / 2, SIZE / 2);
    obs_mapping_mapped(made, HANDLE, other, SIZE, 0);
    obs_mapping_released(HANDLE);
    use(3, MR_SIDE_KERNEL, other, SIZE / 2, W);
    use(4, MR_SIDE_KERNEL, one, SIZE / 2, W);
    nothing_found();
    use(5, MR_SIDE_KERNEL, other + SIZE / 2 + 16, 8, R); /* what the one before wrote, seen elsewhere */
    const struct mr_finding *finding = found(MR_FINDING_RACE);
    assert_int_equal(finding->first, other + SIZE / 2 + 16);
    assert_int_equal(finding->allocation.base, other);
    struct obs_operation *unmap = operation_with(HOST_LINE, MR_SIDE_FREE, "cuMemUnmap", 0);
    obs_mapping_unmapped(unmap, one, SIZE / 2);
    assert_int_equal(found(MR_FINDING_EARLY_FREE)->earlier.stream, 4); /* the others used the other mapping */
    use(4, MR_SIDE_KERNEL, one, 4, R);
    found(MR_FINDING_USE_AFTER_FREE);
    use(4, MR_SIDE_KERNEL, other, 4, W);
    found(MR_FINDING_RACE);
    for (uint32_t line = 3; line <= 5; line++)
        wait_for(HOST_LINE, line);
    drop(unmap);
    unmap = operation_with(HOST_LINE, MR_SIDE_FREE, "cuMemUnmap", 0);
    obs_mapping_unmapped(unmap, other, SIZE);
    nothing_found();
    /* The same handle is other memory now. */
    obs_mapping_created(made, HANDLE, SIZE);
    obs_mapping_mapped(made, HANDLE, other, SIZE, 0);
    use(9, MR_SIDE_KERNEL, other, SIZE, W);
    nothing_found();
    obs_mapping_mapped(made, 12345, one, SIZE, 0); /* a handle that nobody has told of */
    use(9, MR_SIDE_KERNEL, one, SIZE, W);
    use(8, MR_SIDE_KERNEL, one, 1, R);
    found(MR_FINDING_RACE);
    drop(made);
    drop(unmap);
}

static void arrays_are_known_when_they_are_used(void **state)
{
    (void)state;
    uintptr_t one = OBS_ARRAYS + 5 * OBS_ARRAY_ROOM, other = one + OBS_ARRAY_ROOM;
    use(3, MR_SIDE_COPY, one, 65536, W);
    use(4, MR_SIDE_COPY, other, 65536, W);
    nothing_found();
    use(5, MR_SIDE_KERNEL, one + 65535, 1, R);
    const struct mr_finding *finding = found(MR_FINDING_RACE);
    assert_int_equal(finding->first, one + 65535);
    assert_int_equal(finding->allocation.number, 0);
}

static void rough_boxes_report_only_what_is_certain(void **state)
{
    (void)state;
    struct mr_race_summary before = {0}, after = {0};
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 4096, NULL);
    obs_shadow_summary(&before);
    use(3, MR_SIDE_KERNEL, base + 100, 1000, W | ROUGH);
    use(4, MR_SIDE_KERNEL, base, 1000, R);
    nothing_found();
    obs_shadow_summary(&after);
    assert_int_equal(after.coarse, before.coarse + 1);
    use(5, MR_SIDE_KERNEL, base, 1100, R);
    assert_true(found(MR_FINDING_RACE)->earlier.how & ROUGH);
}

/* Histories that may not grow forget, and say so; they report nothing that is not so. */
static void memory_is_bounded(void **state)
{
    (void)state;
    struct mr_race_summary before = {0}, after = {0};
    uintptr_t base = allocate(MR_ALLOCATION_DEVICE, 1 << 24, NULL);
    obs_shadow_summary(&before);
    size_t start = obs_history_bytes(), most = 0;
    obs_history_limit(start + 100000);
    dice_state = 5;
    for (int i = 0; i < 20000; i++) {
        use(dice(4) + 30, MR_SIDE_KERNEL, base + (uintptr_t)i * 64, 32, W);
        if (obs_history_bytes() > most)
            most = obs_history_bytes();
    }
    nothing_found();
    obs_shadow_summary(&after);
    assert_true(most < start + 110000);
    assert_true(after.forgotten > before.forgotten + 10000);
    assert_true(after.bytes >= obs_history_bytes());
    /* Scattered bytes take less room then, and are rough. */
    struct mr_access boxes[4000];
    for (size_t i = 0; i < 4000; i++)
        boxes[i] = (struct mr_access){.first = base + i * 8 + i * i % 3, .width = 4, .rows = 1, .how = W};
    for (uint32_t line = 40; line < 48; line++) {
        struct obs_operation *now = operation(line, MR_SIDE_KERNEL);
        for (size_t i = 0; i < 4000; i++)
            boxes[i].first += 32768;
        obs_shadow_touch(now, boxes, 4000);
        drop(now);
    }
    nothing_found();
    assert_true(obs_history_bytes() < start + 250000);
    obs_history_limit((size_t)256 << 20);
}

static void ended_generations_go(void **state)
{
    (void)state;
    uint64_t live = obs_operation_live(), call = calls + 1;
    uintptr_t base = next_base;
    next_base += 1 << 20;
    uint32_t site = ++sites;
    for (int i = 0; i < 3 * OBS_GENERATIONS_ENDED; i++) {
        struct obs_operation *made = operation_with(3, MR_SIDE_ALLOCATION, "cuMemAllocAsync", site);
        struct obs_operation *used = operation_with(3, MR_SIDE_KERNEL, "cuLaunchKernel", site);
        struct obs_operation *freed = operation_with(3, MR_SIDE_FREE, "cuMemFreeAsync", site);
        uintptr_t at = base + (uintptr_t)(i % 16) * 4096;
        obs_generation_made(made, MR_ALLOCATION_POOL, at, 4096);
        touch(used, at, 4096, W);
        obs_generation_ended(freed, at);
        drop(made);
        drop(used);
        drop(freed);
    }
    nothing_found();
    obs_order_lock();
    obs_operation_sweep();
    obs_order_unlock();
    assert_true(obs_operation_live() < live + 3 * OBS_GENERATIONS_ENDED + 100);
    struct obs_generation_view view;
    assert_false(obs_generation_at(base, call, &view));
    assert_true(obs_generation_at(base, calls, &view));
}

static bool count_alive(const struct obs_generation_view *view, void *data)
{
    uint64_t *call = data;
    if (view->made.number > call[0])
        call[1]++;
    return true;
}

static void the_living_are_listed(void **state)
{
    (void)state;
    uint64_t counts[2] = {calls, 0};
    uintptr_t base[3];
    for (int i = 0; i < 3; i++)
        base[i] = allocate(MR_ALLOCATION_DEVICE, 100, NULL);
    struct obs_operation *freed = operation_with(HOST_LINE, MR_SIDE_FREE, "cuMemFree", 0);
    obs_generation_ended(freed, base[1]);
    obs_generation_each(true, count_alive, counts);
    assert_int_equal(counts[1], 2);
    drop(freed);
}

/* The model of random programs. */
enum { SPACE = 256, OPERATIONS = 36, STREAMS = 4, SEEDS = 150 };

struct done {
    struct obs_operation *operation;
    bool reads[SPACE], writes[SPACE], atomic;
    bool after[OPERATIONS]; /* comes after that one */
    struct mr_access boxes[3];
    size_t count;
};

static struct done done[OPERATIONS];
static bool line_after[LINES][OPERATIONS];

static bool race_at(const struct done *one, const struct done *other, size_t at)
{
    bool both = (one->reads[at] || one->writes[at]) && (other->reads[at] || other->writes[at]);
    return both && (one->writes[at] || other->writes[at]) && !(one->atomic && other->atomic);
}

static void make_program(uint32_t first_line, uintptr_t base)
{
    memset(line_after, 0, sizeof line_after);
    for (size_t i = 0; i < OPERATIONS; i++) {
        struct done *now = &done[i];
        uint32_t line = first_line + dice(STREAMS);
        if (dice(3) == 0) {
            uint32_t earlier = first_line + dice(STREAMS);
            wait_for(line, earlier);
            for (size_t n = 0; n < OPERATIONS; n++)
                line_after[line][n] |= line_after[earlier][n];
        }
        *now = (struct done){.operation = operation(line, MR_SIDE_KERNEL), .atomic = dice(5) == 0};
        memcpy(now->after, line_after[line], sizeof now->after);
        line_after[line][i] = true;
        now->count = 1 + dice(3);
        for (size_t b = 0; b < now->count; b++) {
            static const size_t pitches[] = {16, 16, 32, 12};
            struct mr_access *box = &now->boxes[b];
            uint32_t how = dice(3) == 0 ? R : dice(2) ? W : R | W;
            *box = (struct mr_access){.first = base + dice(SPACE - 64), .width = 1 + dice(40), .rows = 1, .how = how};
            if (dice(3) == 0)
                *box = (struct mr_access){.first = base + dice(8) * 8,
                                          .width = 1 + dice(10),
                                          .rows = 1 + dice(8),
                                          .pitch = pitches[dice(4)],
                                          .how = how};
            while (box->first + (box->rows - 1) * box->pitch + box->width > base + SPACE)
                box->rows--;
            if (now->atomic)
                box->how |= A;
            for (size_t row = 0; row < box->rows; row++)
                for (size_t at = 0; at < box->width; at++) {
                    now->reads[box->first - base + row * box->pitch + at] |= (how & R) != 0;
                    now->writes[box->first - base + row * box->pitch + at] |= (how & W) != 0;
                }
        }
    }
}

/* Tells the operations in a random order that keeps to theirs, and their boxes in one call or several. */
static void tell_program(void)
{
    bool told[OPERATIONS] = {false};
    for (size_t left = OPERATIONS; left > 0; left--) {
        size_t now = dice(OPERATIONS);
        for (bool ready = false; !ready; now = ready ? now : (now + 1) % OPERATIONS) {
            ready = !told[now];
            for (size_t i = 0; i < OPERATIONS; i++)
                ready = ready && (told[i] || !done[now].after[i]);
        }
        told[now] = true;
        size_t split = dice(2) ? done[now].count : dice((unsigned)done[now].count);
        obs_shadow_touch(done[now].operation, done[now].boxes, split);
        obs_shadow_touch(done[now].operation, done[now].boxes + split, done[now].count - split);
    }
}

static size_t index_of(const struct mr_side *side)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (done[i].operation->side.site == side->site)
            return i;
    fail_msg("an operation of another program");
    return 0;
}

/* Each finding is a race. Each race at a byte is a finding, or one of its operations races there with an operation that
 * comes after the other one. */
static void check_program(uintptr_t base)
{
    static bool reported[OPERATIONS][OPERATIONS];
    memset(reported, 0, sizeof reported);
    for (; seen < obs_finding_count(); seen++) {
        const struct mr_finding *finding = obs_finding(seen);
        size_t one = index_of(&finding->earlier), other = index_of(&finding->later);
        assert_int_equal(finding->kind, MR_FINDING_RACE);
        assert_false(done[one].after[other] || done[other].after[one]);
        assert_true(finding->end > finding->first);
        for (uintptr_t at = finding->first; at < finding->end; at++)
            assert_true(race_at(&done[one], &done[other], at - base));
        reported[one][other] = reported[other][one] = true;
    }
    for (size_t one = 0; one < OPERATIONS; one++)
        for (size_t other = 0; other < one; other++)
            for (size_t at = 0; at < SPACE; at++) {
                if (done[one].after[other] || done[other].after[one] || !race_at(&done[one], &done[other], at))
                    continue;
                bool good = reported[one][other];
                for (size_t i = 0; i < OPERATIONS && !good; i++)
                    good = (done[i].after[one] && reported[i][other] && race_at(&done[i], &done[other], at)) ||
                           (done[i].after[other] && reported[i][one] && race_at(&done[i], &done[one], at));
                assert_true(good);
            }
}

static void random_programs_as_in_the_model(void **state)
{
    (void)state;
    size_t before = seen;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        dice_state = seed;
        uintptr_t base = allocate(MR_ALLOCATION_DEVICE, SPACE, NULL);
        uint32_t first_line = 50;
        for (uint32_t line = 0; line < STREAMS; line++) {
            wait_for(first_line, first_line + line);
            wait_for(first_line + line, first_line);
        }
        make_program(first_line, base);
        tell_program();
        check_program(base);
        for (size_t i = 0; i < OPERATIONS; i++)
            drop(done[i].operation);
    }
    assert_true(seen - before > SEEDS * 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_are_found),
        cmocka_unit_test(order_and_reads_are_no_races),
        cmocka_unit_test(atomics_race_with_others_alone),
        cmocka_unit_test(one_finding_for_a_pair_of_sites),
        cmocka_unit_test(columns_are_told_apart),
        cmocka_unit_test(scattered_bytes_are_told_apart),
        cmocka_unit_test(the_host_and_its_functions),
        cmocka_unit_test(memory_in_stream_order),
        cmocka_unit_test(late_uses_mean_the_old_generation),
        cmocka_unit_test(registered_memory_stays_the_programs),
        cmocka_unit_test(graph_memory),
        cmocka_unit_test(mappings_of_the_same_memory),
        cmocka_unit_test(arrays_are_known_when_they_are_used),
        cmocka_unit_test(rough_boxes_report_only_what_is_certain),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(ended_generations_go),
        cmocka_unit_test(the_living_are_listed),
        cmocka_unit_test(random_programs_as_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
