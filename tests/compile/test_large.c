/* SPDX-License-Identifier: Apache-2.0 */
/* Large programs load in time and memory by their length. Nothing here looks at a clock: what grows by the square of
 * fifty thousand takes gigabytes, or longer than a test may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>

#include "compile/compile.h"
#include "compile/program.h"

#define COUNT 50000u
#define MEMORY_MOST (1000L << 10)   /* KiB; the sum of what is used is a tenth of it */

/* Gives the text that `each` writes for every number, loaded. */
static struct mr_program *load(void (*each)(FILE *file, unsigned number))
{
    char *text = NULL;
    size_t length = 0;
    struct mr_program *program = NULL;
    struct mr_program_options options = {.capability = 90};
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    fputs(".version 7.0\n.target sm_75\n.address_size 64\n.visible .func common() { ret; }\n", file);
    for (unsigned i = 0; i < COUNT; i++)
        each(file, i);
    fclose(file);
    assert_int_equal(mr_program_load(text, length + 1, &options, &program), CUDA_SUCCESS);
    free(text);
    return program;
}

static void check_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_in_range(usage.ru_maxrss, 1, MEMORY_MOST);
}

static void put_entry(FILE *file, unsigned number)
{
    fprintf(file,
            ".shared .align 4 .b8 s%u[%u];\n.visible .entry k%u() { st.shared.u8 [s%u], 1; call common, (); ret; }\n",
            number, number % 1000 + 1, number, number);
}

static void kernels_load_and_are_found(void **state)
{
    char name[32];
    struct mr_program *program = load(put_entry);
    (void)state;
    assert_int_equal(mr_program_entry_count(program), COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "k%u", i);
        assert_int_equal(mr_program_find_entry(program, name), i);
        assert_int_equal(mr_program_entry(program, i)->static_shared, i % 1000 + 1);
    }
    assert_int_equal(mr_program_find_entry(program, "k"), -1);
    assert_int_equal(mr_program_find_entry(program, "common"), -1);
    mr_program_drop(program);
    check_memory();
}

static void put_variable(FILE *file, unsigned number)
{
    fprintf(file,
            ".global .u32 g%u = %u;\n.func f%u() { ret; }\n.func a%u();\n.alias a%u, f%u;\n.global .u64 p%u = a%u;\n",
            number, number, number, number, number, number, number, number);
}

static void variables_load_and_are_found(void **state)
{
    char name[32];
    struct mr_program *program = load(put_variable);
    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "g%u", i);
        assert_int_equal(mr_program_find_variable(program, name), 2 * i);
        snprintf(name, sizeof name, "p%u", i);
        size_t pointer = mr_program_find_variable(program, name);
        assert_int_equal(pointer, 2 * i + 1);
        assert_int_equal(mr_program_symbol(program, pointer)->relocation_count, 1);
        assert_int_equal(mr_program_symbol(program, pointer)->relocations[0].symbol, 2 * COUNT + 1 + i);
    }
    mr_program_drop(program);
    check_memory();
}

static void put_scoped(FILE *file, unsigned number)
{
    if (number % 10000 == 0)
        fprintf(file, ".func f%u() { .global .u32 twice; ret; }\n", number);
    if (number == 20000)
        fputs(".global .u32 twice;\n", file);
}

static void a_visible_variable_goes_before_hidden_ones(void **state)
{
    struct mr_program *program = load(put_scoped);
    size_t found = mr_program_find_variable(program, "twice");
    (void)state;
    assert_int_not_equal(found, -1);
    assert_true(mr_program_symbol(program, found)->visible);
    assert_int_equal(mr_program_find_variable(program, "twic"), -1);
    assert_int_equal(mr_program_find_variable(program, "f0"), -1);
    mr_program_drop(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_load_and_are_found),
        cmocka_unit_test(variables_load_and_are_found),
        cmocka_unit_test(a_visible_variable_goes_before_hidden_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
