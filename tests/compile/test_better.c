/* SPDX-License-Identifier: Apache-2.0 */
/* Better versions of kernels' code, made by several threads. The code generation library is the fake of this folder. */
#include "program_support.h"

enum { COUNT = 12, ROUNDS = 20 };

static const struct mr_code *make_hot(struct mr_program *program)
{
    const struct mr_code *first = code_of(program, 0, 32, 1);
    mr_code_ran(first, first->tier->enough);
    return first;
}

/* While one version takes long others are made. */
static void a_long_one_stops_no_others(void **unused)
{
    (void)unused;
    char gate[320];
    snprintf(gate, sizeof gate, "%s/gate", root);
    setenv("MILLRACE_FAKE_GATE", gate, 1);
    struct mr_program *gated = loaded(HEAD EMPTY("gated")), *programs[COUNT];
    const struct mr_code *long_one = make_hot(gated), *firsts[COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) {
            char text[200];
            snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("k"), round * COUNT + i);
            programs[i] = loaded(text);
            firsts[i] = make_hot(programs[i]);
        }
        for (int i = 0; i < COUNT; i++)
            while (mr_code_now(firsts[i]) == firsts[i])
                usleep(1000);
        for (int i = 0; i < COUNT; i++)
            mr_program_drop(programs[i]);
    }
    assert_ptr_equal(mr_code_now(long_one), long_one);
    FILE *file = fopen(gate, "w");
    assert_non_null(file);
    fclose(file);
    mr_tiers_settle();
    assert_ptr_not_equal(mr_code_now(long_one), long_one);
    assert_int_equal(compiled(), 2 * (1 + ROUNDS * COUNT));
    mr_program_drop(gated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_long_one_stops_no_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
