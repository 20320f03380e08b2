/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory for records (base/alloc.h), what the address space holds (base/mapped.h), lists (base/list.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/mapped.h"
#include "base/sanitizer.h"

static void allocations_are_counted(void **state)
{
    (void)state;
    uint64_t live = mr_alloc_live(), made = mr_alloc_count();
    char *one = mr_alloc(0), *two = mr_calloc(3, 5), *copy = mr_memdup("four", 5);
    assert_non_null(one);
    assert_non_null(two);
    assert_non_null(copy);
    assert_ptr_not_equal(one, two);
    for (int i = 0; i < 15; i++)
        assert_int_equal(two[i], 0);
    assert_string_equal(copy, "four");
    assert_int_equal(mr_alloc_live(), live + 3);
    assert_int_equal(mr_alloc_count(), made + 3);
    void *aligned = mr_calloc_aligned(256, 1000);
    assert_int_equal((uintptr_t)aligned % 256, 0);
#ifndef MR_ASAN /* which ends the process here */
    assert_null(mr_calloc(SIZE_MAX / 2, 3));
#endif
    mr_free(one);
    mr_free(two);
    mr_free(copy);
    mr_free(aligned);
    mr_free(NULL);
    assert_int_equal(mr_alloc_live(), live);
}

static void allocations_fail_when_asked(void **state)
{
    (void)state;
    uint64_t live = mr_alloc_live();
    char *kept = mr_memdup("kept", 5);
    mr_alloc_fail_after(2);
    void *one = mr_alloc(1), *two = mr_alloc(1), *three = mr_alloc(1);
    assert_non_null(one);
    assert_null(two);
    assert_non_null(three); /* once */
    mr_alloc_fail_after(1);
    assert_null(mr_realloc(kept, 100));
    assert_string_equal(kept, "kept");
    assert_int_equal(mr_alloc_fail_mine(2), 0);
    void *four = mr_alloc(1);
    assert_non_null(four);
    assert_int_equal(mr_alloc_fail_mine(1), 1);
    assert_null(mr_calloc_aligned(64, 64));
    assert_int_equal(mr_alloc_fail_mine(0), 0);
    mr_free(one);
    mr_free(three);
    mr_free(four);
    mr_free(kept);
    assert_int_equal(mr_alloc_live(), live);
}

static void arrays_grow(void **state)
{
    (void)state;
    int *array = NULL;
    size_t room = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(mr_array_reserve((void **)&array, &room, (size_t)i + 1, sizeof *array));
        array[i] = i;
    }
    assert_true(room >= 1000 && room < 2048);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    size_t before = room;
    mr_alloc_fail_after(1);
    assert_false(mr_array_reserve((void **)&array, &room, before + 1, sizeof *array));
    assert_false(mr_array_reserve((void **)&array, &room, SIZE_MAX, 1));
    assert_false(mr_array_reserve((void **)&array, &room, SIZE_MAX / 2, 8));
    mr_alloc_fail_after(0);
    assert_int_equal(room, before);
    assert_int_equal(array[999], 999);
    mr_free(array);
}

static void pages_are_asked_for(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    uintptr_t at = (uintptr_t)pages;
    assert_int_equal(mprotect(pages + page, page, PROT_READ), 0);
    assert_int_equal(mprotect(pages + 2 * page, page, PROT_NONE), 0);
    assert_true(mr_mapped_exists(at, 4 * page));
    assert_true(mr_mapped_exists(at + 1, 1));
    assert_true(mr_mapped_allows(at, page, true));
    assert_true(mr_mapped_allows(at, 2 * page, false));
    assert_false(mr_mapped_allows(at, page + 1, true));
    assert_false(mr_mapped_allows(at + page, page + 1, false));
    assert_true(mr_mapped_allows(at + 3 * page, page, true));
    assert_int_equal(munmap(pages + page, page), 0);
    assert_false(mr_mapped_exists(at, page + 1));
    assert_true(mr_mapped_exists(at, page));
    assert_false(mr_mapped_allows(at, page + 1, false));
    assert_false(mr_mapped_exists(UINTPTR_MAX - 1, 16));
    assert_false(mr_mapped_allows(UINTPTR_MAX - 1, 16, false));
    munmap(pages, 4 * page);
}

struct element {
    int number;
    struct mr_list link;
};

static void lists_keep_order(void **state)
{
    (void)state;
    struct mr_list head;
    struct element elements[4];
    mr_list_init(&head);
    assert_true(mr_list_empty(&head));
    for (int i = 0; i < 4; i++)
        elements[i].number = i;
    mr_list_append(&head, &elements[1].link);
    mr_list_append(&head, &elements[2].link);
    mr_list_prepend(&head, &elements[0].link);
    mr_list_append(&head, &elements[3].link);
    mr_list_remove(&elements[2].link);
    mr_list_remove(&elements[2].link);
    const int wanted[] = {0, 1, 3};
    int i = 0;
    for (struct mr_list *link = head.next; link != &head; link = link->next, i++) {
        assert_int_equal(MR_CONTAINER(link, struct element, link)->number, wanted[i]);
        assert_ptr_equal(link->prev->next, link);
    }
    assert_int_equal(i, 3);
    assert_ptr_equal(elements[2].link.next, &elements[2].link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_counted),
        cmocka_unit_test(allocations_fail_when_asked),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(pages_are_asked_for),
        cmocka_unit_test(lists_keep_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
