/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is made before a launch asks for it: which kernels, for which class of block shapes, what a launch does
 * that comes before, meanwhile and after, and what becomes of code that nobody asks for. Two threads make it. */
#include "program_support.h"

enum { THREADS = 2, ROOM = 16, MANY = 60 };

/* Kernels k0, k1 and so on. */
static struct mr_program *of_kernels(unsigned count)
{
    static char text[200 * MANY];
    int length = snprintf(text, sizeof text, HEAD);
    for (unsigned i = 0; i < count; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, EMPTY("k%u"), i);
    return loaded(text);
}

static void hold_back(void)
{
    char gate[320];
    snprintf(gate, sizeof gate, "%s/gate", root);
    setenv("MILLRACE_FAKE_GATE", gate, 1);
}

static void open_gate(void)
{
    FILE *file = fopen(getenv("MILLRACE_FAKE_GATE"), "w");
    assert_non_null(file);
    fclose(file);
}

static void wait_for_compiled(long count)
{
    while (compiled() < count)
        sched_yield();
}

/* Keeps both threads busy until the gate opens. The caller drops the programs. */
static void hold_threads(struct mr_program *held[THREADS])
{
    long before = compiled();
    hold_back();
    for (int i = 0; i < THREADS; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("held"), i);
        held[i] = loaded(text);
        mr_program_expect(held[i], 0);
    }
    wait_for_compiled(before + THREADS);
}

static void a_kernel_that_is_asked_for_is_made(void **unused)
{
    (void)unused;
    struct mr_program *program =
        loaded(HEAD ".visible .entry open() { .reg .b32 %r<1>; mov.u32 %r0, %tid.y; ret; }\n" EMPTY(
            "line") ".visible .entry odd() .reqntid 33 { ret; }\n"
                    ".visible .entry rows() .maxntid 16, 4, 1 { .reg .b32 %r<1>; mov.u32 %r0, %tid.y; ret; }\n");
    for (size_t i = 0; i < 4; i++)
        for (int twice = 0; twice < 2; twice++)
            mr_program_expect(program, i);
    mr_ahead_settle();
    assert_int_equal(compiled(), 3); /* the shape of the first one's blocks is open */
    code_of(program, 1, 128, 1);
    code_of(program, 2, 33, 1);
    code_of(program, 3, 16, 4);
    assert_int_equal(compiled(), 3);
    code_of(program, 0, 16, 4);
    assert_int_equal(compiled(), 4);
    mr_program_drop(program);
}

/* One whose shape is open has that of the launch that it follows. */
static void the_next_ones_follow_a_launch(void **unused)
{
    (void)unused;
    struct mr_program *program = of_kernels(MANY);
    code_of(program, 0, 64, 1);
    mr_ahead_settle();
    assert_int_equal(compiled(), 1 + ROOM);
    code_of(program, MANY - 1, 64, 1);
    mr_ahead_settle();
    assert_int_equal(compiled(), 2 + ROOM);
    for (size_t i = 1; i < MANY; i++) {
        code_of(program, i, 64, 1);
        mr_ahead_settle();
        assert_int_equal(compiled(), i + ROOM + 2 < MANY ? (int)i + ROOM + 2 : MANY);
    }
    mr_program_drop(program);
    program = loaded(HEAD EMPTY("k") ".visible .entry open() { .reg .b32 %r<1>; mov.u32 %r0, %tid.y; ret; }\n");
    code_of(program, 0, 16, 4);
    mr_ahead_settle();
    code_of(program, 1, 16, 4);
    assert_int_equal(compiled(), MANY + 2);
    mr_program_drop(program);
}

static void a_launch_takes_what_waits(void **unused)
{
    (void)unused;
    struct mr_program *held[THREADS], *program = loaded(HEAD EMPTY("k"));
    hold_threads(held);
    mr_program_expect(program, 0);
    code_of(program, 0, 64, 1);
    assert_int_equal(compiled(), THREADS + 1);
    open_gate();
    mr_ahead_settle();
    assert_int_equal(compiled(), THREADS + 1);
    mr_program_drop(program);
    for (int i = 0; i < THREADS; i++)
        mr_program_drop(held[i]);
}

static _Atomic int launched;

static void *launch_64(void *program)
{
    code_of(program, 0, 64, 1);
    launched++;
    return NULL;
}

static void *launch_33(void *program)
{
    code_of(program, 0, 33, 1);
    launched++;
    return NULL;
}

/* Both kinds of launches: of the class that is being made, and of another one, whose code is made beside it. */
static void a_launch_waits_for_what_is_being_made(void **unused)
{
    (void)unused;
    for (int other = 0; other < 2; other++) {
        char text[200];
        pthread_t thread;
        snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("held"), other);
        struct mr_program *program = loaded(text);
        long before = compiled();
        hold_back();
        remove(getenv("MILLRACE_FAKE_GATE"));
        launched = 0;
        mr_program_expect(program, 0);
        wait_for_compiled(before + 1);
        assert_int_equal(pthread_create(&thread, NULL, other ? launch_33 : launch_64, program), 0);
        wait_for_compiled(before + 1 + other);
        assert_int_equal(launched, 0);
        open_gate();
        pthread_join(thread, NULL);
        mr_ahead_settle();
        code_of(program, 0, 64, 1);
        assert_int_equal(compiled(), before + 1 + other);
        mr_program_drop(program);
    }
}

static void a_launch_waits_for_no_other_kernel(void **unused)
{
    (void)unused;
    struct mr_program *program = loaded(HEAD EMPTY("held") EMPTY("other"));
    pthread_t threads[2];
    hold_back();
    launched = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_64, program), 0);
    wait_for_compiled(1);
    code_of(program, 1, 64, 1);
    assert_int_equal(launched, 0);
    open_gate();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    mr_ahead_settle();
    assert_int_equal(compiled(), 2); /* the two launches of one kernel have the same code */
    mr_program_drop(program);
}

/* A guess that was wrong takes no room any more, and its code is there for launches that it suits. */
static void another_shape_has_its_own(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 2 * ROOM; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "// %u\n" EMPTY("k"), i);
        struct mr_program *program = loaded(text);
        mr_program_expect(program, 0);
        mr_ahead_settle();
        code_of(program, 0, 33, 1);
        assert_int_equal(compiled(), 2 * i + 2);
        code_of(program, 0, 64, 1);
        assert_int_equal(compiled(), 2 * i + 2);
        mr_program_drop(program);
    }
}

/* While some are made, wait or are ready. */
static void programs_may_end(void **unused)
{
    (void)unused;
    uint64_t before = mr_alloc_live();
    struct mr_program *ready = of_kernels(MANY), *waits = of_kernels(4), *held[THREADS];
    code_of(ready, 0, 64, 1);
    mr_ahead_settle();
    mr_program_drop(ready);
    hold_threads(held);
    for (size_t i = 0; i < 4; i++)
        mr_program_expect(waits, i);
    mr_program_drop(waits);
    for (int i = 0; i < THREADS; i++)
        mr_program_drop(held[i]);
    open_gate();
    mr_ahead_settle();
    assert_int_equal(compiled(), 1 + ROOM + THREADS); /* nothing of a program that nobody has any more */
    while (mr_alloc_live() != before)
        sched_yield(); /* the thread lets go of the last one after it has said that it is made */
}

static void failures_are_left_to_the_launch(void **unused)
{
    (void)unused;
    struct mr_program *program = loaded(HEAD EMPTY("refuse") EMPTY("damage"));
    const struct mr_code *code = NULL;
    mr_program_expect(program, 0);
    mr_program_expect(program, 1);
    mr_ahead_settle();
    assert_int_equal(compiled(), 2);
    assert_int_equal(mr_program_code(program, 0, (unsigned[3]){64, 1, 1}, &code), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(mr_program_code(program, 1, (unsigned[3]){64, 1, 1}, &code), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(compiled(), 4);
    mr_program_drop(program);
}

static void what_is_on_disk_is_not_made(void **unused)
{
    (void)unused;
    struct mr_program *program = of_kernels(3);
    for (size_t i = 0; i < 3; i++)
        code_of(program, i, 64, 1);
    mr_ahead_settle();
    mr_program_drop(program);
    program = of_kernels(3);
    for (size_t i = 0; i < 3; i++)
        mr_program_expect(program, i);
    mr_ahead_settle();
    for (size_t i = 0; i < 3; i++)
        code_of(program, i, 64, 1);
    assert_int_equal(compiled(), 3);
    mr_program_drop(program);
}

static void code_for_reading_is_that_of_launches(void **unused)
{
    (void)unused;
    setenv("MILLRACE_DUMP", "ir", 1);
    setenv("MILLRACE_DUMP_DIR", dump, 1);
    struct mr_program *program = of_kernels(3);
    unsetenv("MILLRACE_DUMP");
    mr_program_expect(program, 1);
    code_of(program, 0, 64, 1);
    mr_ahead_settle();
    assert_int_equal(compiled(), 1);
    mr_program_drop(program);
}

static void memory_shortage(void **unused)
{
    (void)unused;
    uint64_t before = mr_alloc_live();
    setenv("MILLRACE_CACHE", "off", 1);
    mr_cache_reset();
    bool good = false;
    for (uint64_t n = 1; n < 100 && !good; n++) {
        struct mr_program *program = of_kernels(2);
        long made = compiled();
        mr_alloc_fail_after(n);
        mr_program_expect(program, 0);
        mr_ahead_settle();
        mr_alloc_fail_after(0);
        good = compiled() == made + 1;
        code_of(program, 0, 64, 1);
        good = good && compiled() <= made + 2; /* with the other kernel, which follows */
        mr_ahead_settle();
        mr_program_drop(program);
        while (mr_alloc_live() != before)
            sched_yield();
    }
    assert_true(good);
}

/* Launches of all kernels, of half of them in another shape as well, each thread in an order of its own. */
static void *launch_all(void *program)
{
    static _Atomic unsigned next;
    unsigned step = (unsigned[]){1, 7, 11, 13}[next++ % 4], at = 0;
    for (unsigned i = 0; i < MANY; i++, at = (at + step) % MANY) {
        if (i % 3 == 0)
            mr_program_expect(program, (at + 5) % MANY);
        code_of(program, at, at % 2 ? 64 : 33, 1);
        if (at % 2 == 0)
            code_of(program, at, 64, 1);
    }
    return NULL;
}

static void many_threads(void **unused)
{
    (void)unused;
    for (int round = 0; round < 10; round++) {
        pthread_t threads[4];
        setenv("MILLRACE_CACHE", "off", 1);
        mr_cache_reset();
        long before = compiled();
        struct mr_program *program = of_kernels(MANY);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, launch_all, program), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        mr_ahead_settle();
        assert_int_equal(compiled() - before, MANY + MANY / 2);
        mr_program_drop(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_kernel_that_is_asked_for_is_made),
        TEST(the_next_ones_follow_a_launch),
        TEST(a_launch_takes_what_waits),
        TEST(a_launch_waits_for_what_is_being_made),
        TEST(a_launch_waits_for_no_other_kernel),
        TEST(another_shape_has_its_own),
        TEST(programs_may_end),
        TEST(failures_are_left_to_the_launch),
        TEST(what_is_on_disk_is_not_made),
        TEST(code_for_reading_is_that_of_launches),
        TEST(memory_shortage),
        TEST(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
