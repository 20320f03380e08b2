/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions that a compiler has put in the place of their calls: what texts tell of them, by .loc and by DWARF; and
 * that debug information which is broken, cut short or without memory refuses no text and crashes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ptx/ptx.h"

static char sample[1 << 16], variables[1 << 16];

static struct mr_ptx_module *parse(const char *text)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(text, strlen(text), &diag);
    if (!module)
        fail_msg("%s", mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
    return module;
}

/* The calls that a kernel's instructions of that kind belong to, the innermost first: "inner:10 middle:14;" for each.
 */
static const char *calls(const struct mr_ptx_module *module, const char *function, int op)
{
    static char said[4096];
    size_t length = 0;
    const struct mr_ptx_function *func = mr_ptx_function_find(module, function);
    said[0] = '\0';
    assert_non_null(func);
    for (uint32_t i = 0; i < func->inst_count; i++) {
        if (func->insts[i].op != op)
            continue;
        for (uint32_t at = mr_ptx_inlined_at(module, func->insts[i].line); at; at = module->inlined[at - 1].outer) {
            const struct mr_ptx_inlined *call = &module->inlined[at - 1];
            length += (size_t)snprintf(said + length, sizeof said - length, "%s:%u ", call->name, call->line);
            assert_true(length < sizeof said);
        }
        length += (size_t)snprintf(said + length, sizeof said - length, ";");
        assert_true(length < sizeof said);
    }
    return said;
}

/* What holds of all modules. */
static void check(const struct mr_ptx_module *module)
{
    for (uint32_t i = 0; i < module->inlined_count; i++) {
        assert_non_null(module->inlined[i].name);
        assert_in_range(module->inlined[i].same, 1, module->inlined_count);
        assert_true(module->inlined[i].outer <= i);
    }
    for (uint32_t i = 0; i < module->inlined_range_count; i++) {
        assert_true(module->inlined_ranges[i].number <= module->inlined_count);
        assert_true(i == 0 || module->inlined_ranges[i - 1].line < module->inlined_ranges[i].line);
    }
    for (uint32_t i = 0; i < module->shown_count; i++) {
        const struct mr_ptx_shown *shown = &module->shown[i];
        assert_in_range(shown->type, 1, module->shown_type_count);
        assert_true(shown->inlined <= module->inlined_count && shown->from < shown->to);
        assert_true(*shown->name && *shown->place);
    }
    for (uint32_t i = 0; i < module->shown_type_count; i++) {
        const struct mr_ptx_shown_type *type = &module->shown_types[i];
        assert_true(type->name && type->of <= module->shown_type_count && type->size < UINT64_C(1) << 32);
        for (uint32_t m = 0; m < type->member_count; m++) {
            assert_in_range(type->members[m].type, 1, module->shown_type_count);
            assert_true(type->members[m].name && type->members[m].offset < type->size);
        }
    }
}

#define DIRECTIVES \
    ".version 7.2\n.target sm_80\n.address_size 64\n" \
    ".visible .entry k()\n{\n.reg .f32 %f<9>;\n.reg .u32 %r<9>;\n" \
    ".loc 1 20 0\nmov.u32 %r1, 1;\n" \
    ".loc 1 12 5, function_name $L1, inlined_at 1 20 9\nadd.f32 %f1, %f2, %f3;\n" \
    ".loc 1 5 5, function_name $L2, inlined_at 1 12 5\nmul.f32 %f1, %f2, %f3;\n" \
    ".loc 1 12 5, function_name $L1, inlined_at 1 20 9\nadd.f32 %f1, %f2, %f3;\n" \
    ".loc 1 5 5, function_name $L2, inlined_at 1 21 5\nmul.f32 %f1, %f2, %f3;\n" \
    ".loc 1 22 9, function_name $unknown, inlined_at 1 23 5\nsub.f32 %f1, %f2, %f3;\n" \
    ".loc 1 24 9, inlined_at 1 25 5\nneg.f32 %f1, %f2;\n" \
    ".loc 1 26 9\nret;\n}\n" \
    ".visible .entry other()\n{\n.reg .f32 %f<9>;\nmul.f32 %f1, %f2, %f3;\n" \
    ".loc 1 5 5, function_name $L2, inlined_at 1 12 5\nmul.f32 %f1, %f2, %f3;\nret;\n}\n" \
    ".file 1 \"x.cu\"\n"
#define NAMES \
    ".section .debug_str\n{\n$L1:\n.b8 95,90,54,109,105,100,100,108,101,102,0\n" \
    "$L2:\n.b8 105,110,110,101,114\n.b8 0\n}\n"

static void test_directives(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(DIRECTIVES NAMES);
    check(module);
    assert_string_equal(calls(module, "k", MR_PTX_OP_MOV), ";");
    assert_string_equal(calls(module, "k", MR_PTX_OP_ADD), "_Z6middlef:20 ;_Z6middlef:20 ;");
    assert_string_equal(calls(module, "k", MR_PTX_OP_MUL), "inner:12 _Z6middlef:20 ;inner:21 ;");
    assert_string_equal(calls(module, "k", MR_PTX_OP_SUB), ":23 ;"); /* whose name is not there */
    assert_string_equal(calls(module, "k", MR_PTX_OP_NEG), ";");
    assert_string_equal(calls(module, "k", MR_PTX_OP_RET), ";");
    /* Lines before the first .loc belong to no call; the call in line 12 is another function's. */
    assert_string_equal(calls(module, "other", MR_PTX_OP_MUL), ";inner:12 ;");
    assert_int_equal(module->inlined[1].same, module->inlined[2].same);
    assert_int_not_equal(module->inlined[0].same, module->inlined[1].same);
    mr_ptx_module_destroy(module);
    module = parse(DIRECTIVES);
    check(module);
    assert_string_equal(calls(module, "k", MR_PTX_OP_MUL), ":12 :20 ;:21 ;");
    mr_ptx_module_destroy(module);
}

/* The table of places grows, and what was in it stays known. */
static void test_many_directives(void **state)
{
    (void)state;
    char *text = malloc(1 << 20), *at = text;
    at += sprintf(at, ".version 7.2\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .f32 %%f<9>;\n");
    for (int i = 1; i <= 4000; i++) {
        at +=
            sprintf(at, ".loc 1 %d 1, function_name $L1, inlined_at 1 %d 9\nadd.f32 %%f1, %%f2, %%f3;\n", i, i + 5000);
        if (i % 100 == 0) /* in one that is some places back */
            at += sprintf(at, ".loc 1 9 9, function_name $L2, inlined_at 1 %d 1\nmul.f32 %%f1, %%f2, %%f3;\n", i - 90);
    }
    sprintf(at, "ret;\n}\n.file 1 \"x.cu\"\n" NAMES);
    struct mr_ptx_module *module = parse(text);
    check(module);
    assert_int_equal(module->inlined_count, 4040);
    assert_non_null(strstr(calls(module, "k", MR_PTX_OP_MUL), "inner:10 _Z6middlef:5010 ;inner:110 _Z6middlef:5110 ;"));
    mr_ptx_module_destroy(module);
    free(text);
}

static void test_dwarf(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(sample);
    check(module);
    assert_string_equal(calls(module, "outer", MR_PTX_OP_FMA), "middle:14 ;");
    assert_string_equal(calls(module, "outer", MR_PTX_OP_MUL), ";inner:10 middle:14 ;middle:14 ;");
    assert_string_equal(calls(module, "other", MR_PTX_OP_MUL), "inner:18 ;");
    assert_string_equal(calls(module, "_Z6middlef", MR_PTX_OP_MUL), "inner:10 ;;");
    assert_string_equal(calls(module, "_Z5innerff", MR_PTX_OP_MUL), ";");
    mr_ptx_module_destroy(module);
}

static const char *type_named(const struct mr_ptx_module *module, uint32_t number, char said[256])
{
    if (number == 0)
        return "nothing";
    const struct mr_ptx_shown_type *type = &module->shown_types[number - 1];
    char of[256];
    switch (type->kind) {
    case MR_PTX_SHOWN_NUMBER:
        snprintf(said, 256, "%s", type->name);
        break;
    case MR_PTX_SHOWN_POINTER:
        snprintf(said, 256, "*%s",
                 type->of && module->shown_types[type->of - 1].kind == MR_PTX_SHOWN_STRUCT
                     ? module->shown_types[type->of - 1].name
                     : type_named(module, type->of, of));
        break;
    case MR_PTX_SHOWN_ALIAS:
        snprintf(said, 256, "%s=%.200s", type->name, type_named(module, type->of, of));
        break;
    case MR_PTX_SHOWN_ARRAY:
        snprintf(said, 256, "%.200s[%u]", type_named(module, type->of, of), (unsigned)type->count);
        break;
    case MR_PTX_SHOWN_STRUCT:
        snprintf(said, 256, "%s{", type->name);
        for (uint32_t i = 0; i < type->member_count; i++)
            snprintf(said + strlen(said), 256 - strlen(said), "%s@%u:%.100s ", type->members[i].name,
                     (unsigned)type->members[i].offset, type_named(module, type->members[i].type, of));
        strcat(said, "}");
        break;
    }
    return said;
}

static void test_variables(void **state)
{
    (void)state;
    static const char *const all[][3] = {
        {"first", "__local_depot0+0", "*node"},
        {"count", "__local_depot0+8", "number=unsigned int"},
        {"sum", "__local_depot0+12", "int"},
        {"i", "__local_depot0+16", "number=unsigned int"},
        {"values", "__local_depot1+0", "*float"},
        {"which", "__local_depot1+8", "colour"},
        {"one", "__local_depot1+16", "node{next@0:*node values@8:float[6] letter@32:unsigned char }"},
        {"wide", "__local_depot1+56", "double"},
    };
    struct mr_ptx_module *module = parse(variables);
    check(module);
    assert_int_equal(module->shown_count, sizeof all / sizeof *all);
    for (uint32_t i = 0; i < module->shown_count; i++) {
        const struct mr_ptx_shown *shown = &module->shown[i];
        char place[128], type[256];
        snprintf(place, sizeof place, "%s+%u", shown->place, (unsigned)shown->offset);
        assert_string_equal(shown->name, all[i][0]);
        assert_string_equal(place, all[i][1]);
        assert_string_equal(type_named(module, shown->type, type), all[i][2]);
        assert_false(shown->in_register);
    }
    /* That of the loop has a block of its own. */
    assert_true(module->shown[3].from > module->shown[2].from && module->shown[3].to < module->shown[2].to);
    mr_ptx_module_destroy(module);
}

/* Numbers of the sections are replaced; the text is taken all the same. */
static void break_dwarf(const char *good)
{
    static char text[(1 << 16) + 256];
    const char *start = strstr(good, ".debug_abbrev");
    assert_non_null(start);
    srand(17);
    for (int round = 0; round < 4000; round++) {
        strcpy(text, good);
        for (int change = rand() % 3; change >= 0; change--) {
            size_t from = (size_t)(start - good), at = from + (size_t)rand() % (strlen(text) - from);
            char *digit = strpbrk(text + at, "0123456789");
            if (!digit)
                continue;
            /* One digit, and not 0, after which others would be octal ones. */
            *digit = (char)('1' + rand() % 9);
        }
        if (round % 4 == 0) { /* cut short in the middle, the brace stays */
            char *brace = strrchr(text, '}');
            *brace = '\0';
            brace = strrchr(text, '}');
            char *row = text + (start - good) + (size_t)rand() % (size_t)(brace - text - (start - good));
            row = strchr(row, '\n');
            strcpy(row, "\n}\n");
        }
        struct mr_ptx_diag diag;
        mr_ptx_diag_init(&diag);
        struct mr_ptx_module *module = mr_ptx_parse(text, strlen(text), &diag);
        assert_true(module || round % 4 == 0);
        if (module)
            check(module);
        mr_ptx_module_destroy(module);
        mr_ptx_diag_clear(&diag);
    }
}

static void test_broken_dwarf(void **state)
{
    (void)state;
    break_dwarf(sample);
    break_dwarf(variables);
}

/* Each allocation fails once: each time an error, nothing leaks. */
static void test_out_of_memory(void **state)
{
    const char *texts[] = {DIRECTIVES NAMES, sample, variables};
    (void)state;
    for (int which = 0; which < 3; which++) {
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            struct mr_ptx_diag diag;
            mr_ptx_diag_init(&diag);
            uint64_t live = mr_alloc_live(), before = mr_alloc_count();
            mr_alloc_fail_after(n);
            struct mr_ptx_module *module = mr_ptx_parse(texts[which], strlen(texts[which]), &diag);
            mr_alloc_fail_after(0);
            done = mr_alloc_count() - before < n;
            assert_true((module != NULL) == done);
            mr_ptx_module_destroy(module);
            mr_ptx_diag_clear(&diag);
            assert_int_equal(mr_alloc_live(), live);
            assert_true(n < 1000);
        }
    }
}

static bool read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    return length > 0;
}

int main(int count, char **words)
{
    if (count < 3 || !read_file(words[1], sample, sizeof sample) || !read_file(words[2], variables, sizeof variables))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directives), cmocka_unit_test(test_many_directives), cmocka_unit_test(test_dwarf),
        cmocka_unit_test(test_variables),  cmocka_unit_test(test_broken_dwarf),    cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
