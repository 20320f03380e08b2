/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The parser: that the tree says what the text says, that broken text is
 * reported with its place, and that hostile text and exhausted memory end in an
 * error instead of a crash.
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
#include "ptx/ptx_tables.h"

#define MODULE ".version 8.8\n.target sm_80\n.address_size 64\n"

/* Parses and verifies text that must be good. */
static struct mr_ptx_module *parse(const char *text)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(text, strlen(text), &diag);
    if (!module || !mr_ptx_verify(module, &diag))
        fail_msg("%s", mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
    return module;
}

static const struct mr_ptx_function *find(const struct mr_ptx_module *module, const char *name)
{
    const struct mr_ptx_function *function = mr_ptx_function_find(module, name);
    assert_non_null(function);
    return function;
}

static void test_tables(void **state)
{
    (void)state;
    assert_true(mr_ptx_tables_are_sorted());
    assert_int_equal(mr_ptx_type_bits(MR_PTX_TYPE_F16X2), 32);
    assert_int_equal(mr_ptx_type_bytes(MR_PTX_TYPE_PRED), 1);
    assert_int_equal(mr_ptx_type_class(MR_PTX_TYPE_S64), 'S');
    uint32_t number;
    assert_int_equal(mr_ptx_special_find("envreg31", 8, &number), MR_PTX_SPECIAL_ENVREG);
    assert_int_equal(number, 31);
    assert_int_equal(mr_ptx_special_find("envreg32", 8, &number), MR_PTX_SPECIAL_NONE);
    assert_int_equal(mr_ptx_special_find("pm3_64", 6, &number), MR_PTX_SPECIAL_PM64);
    assert_int_equal(mr_ptx_special_find("pm3", 3, &number), MR_PTX_SPECIAL_PM);
}

static void test_kernel(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(
        MODULE ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .f32 b, .param .align 8 .b8 c[12])\n"
               ".maxntid 256, 2\n.minnctapersm 3\n{\n"
               ".reg .pred %p<2>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<2>;\n"
               "ld.param.u64 %rd1, [a];\n"
               "ld.param.f32 %f1, [b];\n"
               "setp.gt.ftz.f32 %p1, %f1, 0f00000000;\n"
               "@!%p1 bra done;\n"
               "st.global.v2.f32 [%rd1+-8], {%f1, 0f3f800000};\n"
               "done: ret;\n}\n");
    assert_int_equal(module->version_major, 8);
    assert_int_equal(module->version_minor, 8);
    assert_int_equal(module->target_sm, 80);
    assert_int_equal(module->address_size, 64);
    const struct mr_ptx_function *function = find(module, "k");
    assert_true(function->is_entry && function->has_body);
    assert_int_equal(function->linkage, MR_PTX_LINKAGE_VISIBLE);
    assert_int_equal(function->maxntid[0], 256);
    assert_int_equal(function->maxntid[1], 2);
    assert_int_equal(function->maxntid[2], 1);
    assert_int_equal(function->minnctapersm, 3);
    assert_int_equal(function->param_count, 3);
    assert_true(function->params[0]->is_pointer);
    assert_int_equal(function->params[0]->pointer_align, 16);
    assert_int_equal(function->params[0]->pointer_space, MR_PTX_SPACE_GLOBAL);
    assert_int_equal(function->param_offsets[1], 8);
    assert_int_equal(function->param_offsets[2], 16);
    assert_int_equal(function->param_size, 28);
    assert_int_equal(function->params[2]->align, 8);
    assert_int_equal(function->reg_count, 3); /* those that are named */

    assert_int_equal(function->inst_count, 6);
    const struct mr_ptx_inst *compare = &function->insts[2];
    assert_int_equal(compare->op, MR_PTX_OP_SETP);
    assert_int_equal(compare->cmp, MR_PTX_CMP_GT);
    assert_int_equal(compare->flags, MR_PTX_FLAG_FTZ);
    assert_int_equal(compare->dst_count, 1);
    assert_int_equal(compare->operands[2].kind, MR_PTX_OPERAND_IMM_FLOAT);
    assert_true(compare->operands[2].is_single);
    const struct mr_ptx_inst *branch = &function->insts[3];
    assert_int_equal(branch->guard, compare->operands[0].reg);
    assert_true(branch->guard_negated);
    assert_int_equal(branch->operands[0].kind, MR_PTX_OPERAND_LABEL);
    assert_int_equal(function->labels[branch->operands[0].label].inst, 5);
    const struct mr_ptx_inst *store = &function->insts[4];
    assert_int_equal(store->vector, 2);
    assert_int_equal(store->space, MR_PTX_SPACE_GLOBAL);
    assert_int_equal(store->operands[0].kind, MR_PTX_OPERAND_REG_ADDRESS);
    assert_int_equal(store->operands[0].value, -8);
    assert_int_equal(store->operands[1].count, 2);
    assert_int_equal(store->operands[1].elements[1].kind, MR_PTX_OPERAND_IMM_FLOAT);
    mr_ptx_module_destroy(module);
}

static void test_scopes(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(MODULE ".entry k() {\n.reg .b32 %r<4>;\nmov.b32 %r1, 1;\n"
                                                "{ .reg .f32 %r<4>; mov.f32 %r1, 0f00000000; L: bra L; }\n"
                                                "{ .reg .b64 %r1; mov.b64 %r1, 2; mov.b32 %r2, 1; L: bra L; }\n"
                                                "mov.b32 %r1, 3;\nL: bra L;\nret;\n}\n");
    const struct mr_ptx_function *function = find(module, "k");
    const struct mr_ptx_inst *insts = function->insts;
    assert_int_equal(insts[0].operands[0].reg, insts[6].operands[0].reg);
    assert_int_equal(function->regs[insts[1].operands[0].reg].type, MR_PTX_TYPE_F32);
    assert_int_equal(function->regs[insts[3].operands[0].reg].type, MR_PTX_TYPE_B64);
    assert_int_equal(function->regs[insts[4].operands[0].reg].type, MR_PTX_TYPE_B32);
    assert_int_equal(function->labels[insts[2].operands[0].label].inst, 2);
    assert_int_equal(function->labels[insts[5].operands[0].label].inst, 5);
    assert_int_equal(function->labels[insts[7].operands[0].label].inst, 7);
    mr_ptx_module_destroy(module);
}

static void test_initial_values(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(MODULE ".func f() { ret; }\n"
                                                ".global .align 4 .u32 a[2][3] = {{1, 2}, {3}};\n"
                                                ".const .f32 b[] = {1.5, 0fBF800000, -2.0};\n"
                                                ".global .u64 c[2] = {generic(a)+8, f};\n"
                                                ".global .v2 .u16 d[2] = {{1, 2}, {3, 4}};\n"
                                                ".global .u8 e[3] = {0xFF(a), 0xFF00(a), 0xFF0000(a)};\n"
                                                ".global .s32 g = (1 << 4 | 3) - -2 * (7 > 3 ? 5 : 6), h = WARP_SZ;\n"
                                                ".extern .shared .align 16 .b8 s[];\n"
                                                ".visible .global .align 8 .b8 z[100];\n");
    const struct mr_ptx_var *a = mr_ptx_var_find(module, "a");
    static const uint32_t a_words[] = {1, 2, 0, 3};
    assert_int_equal(a->size, 24);
    assert_int_equal(a->init_size, sizeof a_words);
    assert_memory_equal(a->init, a_words, sizeof a_words);
    const struct mr_ptx_var *b = mr_ptx_var_find(module, "b");
    static const float b_words[] = {1.5f, -1.0f, -2.0f};
    assert_int_equal(b->size, 12);
    assert_int_equal(b->dims[0], 3);
    assert_memory_equal(b->init, b_words, sizeof b_words);
    const struct mr_ptx_var *c = mr_ptx_var_find(module, "c");
    assert_int_equal(c->reloc_count, 2);
    assert_ptr_equal(c->relocs[0].var, a);
    assert_int_equal(c->relocs[0].addend, 8);
    assert_true(c->relocs[0].generic);
    assert_ptr_equal(c->relocs[1].func, find(module, "f"));
    assert_int_equal(c->relocs[1].offset, 8);
    assert_true(find(module, "f")->address_taken);
    const struct mr_ptx_var *d = mr_ptx_var_find(module, "d");
    static const uint16_t d_words[] = {1, 2, 3, 4};
    assert_memory_equal(d->init, d_words, sizeof d_words);
    assert_int_equal(d->element_size, 4);
    const struct mr_ptx_var *e = mr_ptx_var_find(module, "e");
    assert_int_equal(e->relocs[2].shift, 16);
    assert_int_equal(e->relocs[2].width, 1);
    int32_t g;
    memcpy(&g, mr_ptx_var_find(module, "g")->init, sizeof g);
    assert_int_equal(g, 29);
    assert_int_equal(mr_ptx_var_find(module, "h")->init[0], 32);
    assert_true(mr_ptx_var_find(module, "s")->incomplete);
    assert_int_equal(mr_ptx_var_find(module, "s")->align, 16);
    assert_null(mr_ptx_var_find(module, "z")->init);
    assert_int_equal(mr_ptx_var_find(module, "z")->align, 8);
    mr_ptx_module_destroy(module);
}

static void test_calls(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(
        MODULE ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 b[16]);\n"
               ".func (.param .b32 r) g (.param .b32 a)\n"
               "{ .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }\n"
               ".entry k() {\n.reg .b64 t; .reg .b32 i;\n.param .b32 r, a; .param .align 8 .b8 b[16];\n"
               "call (r), f, (a, b);\n"
               "call.uni (i), g, (5);\n"
               "mov.b64 t, g;\n"
               "call (r), t, (a), proto;\n"
               "proto: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;\n"
               "call (r), t, (a), targets;\n"
               "targets: .calltargets g, g;\n"
               "brx.idx i, table;\ntable: .branchtargets A, B;\nA: B: ret;\n}\n"
               ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 b[16]) { st.param.b32 [r], 1; ret; }\n");
    const struct mr_ptx_function *function = find(module, "k");
    const struct mr_ptx_call *call = function->insts[0].call;
    assert_ptr_equal(call->callee, find(module, "f"));
    assert_true(call->callee->has_body);
    assert_int_equal(call->return_count, 1);
    assert_int_equal(call->arg_count, 2);
    assert_int_equal(call->args[1].var->size, 16);
    assert_int_equal(function->insts[1].flags, MR_PTX_FLAG_UNI);
    assert_int_equal(function->insts[1].call->args[0].value, 5);
    assert_int_equal(function->insts[2].operands[1].kind, MR_PTX_OPERAND_FUNCTION);
    call = function->insts[3].call;
    assert_null(call->callee);
    assert_non_null(call->prototype);
    assert_true(call->prototype->noreturn);
    call = function->insts[4].call;
    assert_int_equal(function->tables[call->table].count, 2);
    assert_ptr_equal(function->tables[call->table].functions[1], find(module, "g"));
    const struct mr_ptx_table *table = &function->tables[function->insts[5].operands[1].label];
    assert_int_equal(table->count, 2);
    assert_int_equal(function->labels[table->labels[1]].inst, 6);
    assert_true(find(module, "g")->address_taken);
    mr_ptx_module_destroy(module);
}

static void test_operands(void **state)
{
    (void)state;
    struct mr_ptx_module *module =
        parse(MODULE ".shared .u32 s[4];\n"
                     ".entry k() {\n.reg .v4 .f32 v; .reg .b32 r<4>; .reg .pred p, q; .reg .b64 d;\n"
                     "mov.u32 r1, %ctaid.y;\n"
                     "mov.b64 {r1, _}, d;\n"
                     "shfl.sync.down.b32 r1|p, r2, 1, 0x1f, -1;\n"
                     "lop3.and.b32 _|q, r1, r2, r3, 0x80, !p;\n"
                     "ld.shared.v4.f32 v, [s];\n"
                     "mov.f32 v.y, v.a;\n"
                     "ld.shared.u32 r1, [s+8];\n"
                     "mov.u32 r1, s[3];\n"
                     "bar.red.popc.u32 r1, 2, 64, p;\n"
                     "barrier.cta.arrive.aligned 1, 32;\n"
                     "add.u32 r1, r2, -(3 + 4);\n"
                     "atom.acq_rel.cta.shared.cas.b32 r1, [s], r2, r3;\n"
                     "prmt.b32.f4e r1, r2, r3, 0;\n"
                     "ret;\n}\n");
    const struct mr_ptx_inst *insts = find(module, "k")->insts;
    assert_int_equal(insts[0].operands[1].special, MR_PTX_SPECIAL_CTAID);
    assert_int_equal(insts[0].operands[1].component, 1);
    assert_int_equal(insts[1].operands[0].elements[1].kind, MR_PTX_OPERAND_SINK);
    assert_int_equal(insts[2].operands[0].kind, MR_PTX_OPERAND_PAIR);
    assert_int_equal(insts[2].mode, MR_PTX_MODE_DOWN);
    assert_int_equal(insts[3].operands[0].reg, MR_PTX_NONE);
    assert_true(insts[3].operands[5].negated);
    assert_int_equal(insts[3].boolop, MR_PTX_BOOL_AND);
    assert_int_equal(insts[4].operands[0].count, 4);
    assert_int_equal(insts[5].operands[0].reg, insts[4].operands[0].elements[1].reg);
    assert_int_equal(insts[5].operands[1].reg, insts[4].operands[0].elements[3].reg);
    assert_int_equal(insts[6].operands[1].kind, MR_PTX_OPERAND_SYMBOL_ADDRESS);
    assert_int_equal(insts[6].operands[1].value, 8);
    assert_int_equal(insts[7].operands[1].kind, MR_PTX_OPERAND_SYMBOL);
    assert_int_equal(insts[7].operands[1].value, 12);
    assert_int_equal(insts[8].mode, MR_PTX_MODE_RED);
    assert_int_equal(insts[8].mode2, MR_PTX_MODE_POPC);
    assert_int_equal(insts[9].mode, MR_PTX_MODE_ARRIVE);
    assert_int_equal(insts[9].flags, MR_PTX_FLAG_ALIGNED);
    assert_int_equal(insts[10].operands[2].value, -7);
    assert_int_equal(insts[11].semantics, MR_PTX_SEM_ACQ_REL);
    assert_int_equal(insts[11].scope, MR_PTX_SCOPE_CTA);
    assert_int_equal(insts[11].atom, MR_PTX_ATOM_CAS);
    assert_int_equal(insts[12].mode, MR_PTX_MODE_F4E);
    mr_ptx_module_destroy(module);
}

/* --- Errors ------------------------------------------------------------------ */

static void expect_error(const char *text, uint32_t line, const char *part)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(text, strlen(text), &diag);
    if (module || diag.first_error_line != line || !strstr(mr_ptx_diag_text(&diag), part))
        fail_msg("expected '%s' in line %u, got: %s", part, line, mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
}

static void test_errors(void **state)
{
    (void)state;
    expect_error("", 1, "'.version' at the beginning");
    expect_error("int main;", 1, "'.version' at the beginning");
    expect_error(".version 42.0\n.target sm_80\n", 1, "Unsupported .version 42.0; current version is '9.5'");
    expect_error(".version 9.6\n.target sm_80\n", 1, "current version is '9.5'");
    expect_error(".version 9.5\n.target sm_81\n", 2, "sm_81");
    expect_error(".version x\n", 1, "a version");
    expect_error(".version 8.0\n.entry k() {}\n", 2, "'.target'");
    expect_error(".version 8.0\n.target sm_banana\n", 2, "unknown target");
    expect_error(MODULE ".entry k() {\nadd.u32 %r1, %r1, 1;\n}\n", 5, "'%r1' is not declared");
    expect_error(MODULE ".entry k() {\nbra nowhere;\n}\n", 5, "'nowhere' is not declared");
    expect_error(MODULE ".entry k() {\nL: ret;\nL: ret;\n}\n", 6, "declared twice");
    expect_error(MODULE ".entry k() {\n.reg .u32 a;\n.reg .u32 a;\n}\n", 6, "declared twice");
    expect_error(MODULE ".entry k() { ret; }\n.entry k() { ret; }\n", 5, "defined twice");
    expect_error(MODULE ".func f(.param .u32 a);\n.func f(.param .u64 a) { ret; }\n", 5, "declared differently");
    expect_error(MODULE ".entry k() {\n.reg .u32 %r<2>;\nadd.banana.u32 %r1, %r1, 1;\n}\n", 6, "unknown modifier");
    expect_error(MODULE ".entry k() {\n.reg .u32 %r<2>;\nadd.volatile.u32 %r1, %r1, 1;\n}\n", 6, "no modifier");
    expect_error(MODULE ".entry k() {\n.reg .u32 %r<2>;\nadd.u32 %r1, %r1;\n}\n", 6, "more operands");
    expect_error(MODULE ".entry k() {\n.reg .u32 %r<2>;\nadd.u32 %r1, %r1, 1, 2;\n}\n", 6, "too many operands");
    expect_error(MODULE ".entry k() {\n.reg .u32 %r<2>;\nmov.u32 %r2, 1;\n}\n", 6, "'%r2' is not declared");
    expect_error(MODULE ".entry k() {\n.reg .u32 %r<20>;\nmov.u32 %r07, 1;\n}\n", 6, "'%r07' is not declared");
    expect_error(MODULE ".entry k() {\nret;\n", 6, "the text ends");
    expect_error(MODULE ".global .u32 a = 1/0;\n", 4, "division by zero");
    expect_error(MODULE ".global .u32 a[2] = {1, 2, 3};\n", 4, "too many initial values");
    expect_error(MODULE ".global .u32 a = b;\n", 4, "not declared");
    expect_error(MODULE ".global .u32 a[99999999999999];\n", 4, "");
    expect_error(MODULE ".global .u32 a[999999999][999999999];\n", 4, "too large");
    expect_error(MODULE ".global .align 3 .u32 a;\n", 4, "power of two");
    expect_error(MODULE ".shared .u32 a = 1;\n", 4, "initial values");
}

/* Several errors in one run, each with its line and caret. */
static void test_recovery(void **state)
{
    (void)state;
    static const char text[] = MODULE ".entry k() {\n"
                                      "\t.reg .u32 r;\n"
                                      "  mov.u32 r, q;\n"
                                      "  mov.u32 r, 1;\n"
                                      "  frob.u32 r, {r, 1}, 1;\n"
                                      "  st.global.u32 [r], 08;\n"
                                      "}\n";
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    assert_null(mr_ptx_parse(text, sizeof text, &diag));
    assert_int_equal(diag.errors, 3);
    assert_string_equal(mr_ptx_diag_text(&diag), "error: line 6, column 14: 'q' is not declared\n"
                                                 "      mov.u32 r, q;\n"
                                                 "                 ^\n"
                                                 "error: line 8, column 3: unknown instruction 'frob'\n"
                                                 "      frob.u32 r, {r, 1}, 1;\n"
                                                 "      ^\n"
                                                 "error: line 9, column 22: malformed number\n"
                                                 "      st.global.u32 [r], 08;\n"
                                                 "                         ^\n");
    mr_ptx_diag_clear(&diag);
}

/* The log stays small, whatever the text is. */
static void test_many_errors(void **state)
{
    (void)state;
    size_t length = 200000;
    char *text = malloc(length + 1);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, MODULE ".entry k() {\n");
    while (at + 8 < length)
        at += (size_t)sprintf(text + at, "xx;\n");
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    assert_null(mr_ptx_parse(text, at, &diag));
    assert_int_equal(diag.errors, MR_PTX_DIAG_ERRORS_MAX + 1);
    assert_true(diag.length < 10000);
    assert_non_null(strstr(mr_ptx_diag_text(&diag), "further errors"));
    mr_ptx_diag_clear(&diag);
    assert_null(mr_ptx_parse(text, at, NULL)); /* a log is not needed */
    free(text);
}

/* `head`, then `unit` again and again, `count` times. */
static void parse_repeated(const char *head, const char *unit, size_t count)
{
    size_t head_length = strlen(head), unit_length = strlen(unit);
    char *text = malloc(head_length + unit_length * count + 1);
    assert_non_null(text);
    memcpy(text, head, head_length);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head_length + i * unit_length, unit, unit_length);
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    struct mr_ptx_module *module = mr_ptx_parse(text, head_length + unit_length * count, &diag);
    assert_null(module);
    assert_true(diag.errors > 0);
    mr_ptx_diag_clear(&diag);
    free(text);
}

static void test_hostile(void **state)
{
    (void)state;
    parse_repeated(MODULE ".entry k() {", "{", 100000);
    parse_repeated(MODULE ".entry k() {", "L:", 100000);
    parse_repeated(MODULE ".entry k() {", "bra L;", 100000);
    parse_repeated(MODULE ".entry k() {", "{ L: bra M; }", 50000);
    parse_repeated(MODULE ".global .u32 a = ", "(", 100000);
    parse_repeated(MODULE ".global .u32 a = ", "-", 100000);
    parse_repeated(MODULE ".global .u32 a = ", "1?", 100000);
    parse_repeated(MODULE ".global .u32 a = ", "1+", 100000);
    parse_repeated(MODULE ".global .u32 a = ", "{", 100000);
    parse_repeated(MODULE ".global .b8 a[2][30000000] = {{1}, {1}}, ", "a[2][30000000] = {{1}, {1}}, ", 1000);
    parse_repeated(MODULE ".global .u32 a", "[1]", 100000);
    parse_repeated(MODULE ".global .u32 a", "9", 1000000);
    parse_repeated(MODULE, ".global ", 100000);
    parse_repeated(MODULE ".entry k() { .reg .b32 %r<4294967295>; mov.b32 %r", "1", 100000);
    parse_repeated(MODULE ".entry k() { add", ".u32", 100000);
    parse_repeated(MODULE ".entry k() { mov.u32 {", "a,", 100000);
    parse_repeated(MODULE ".section .debug {", ".b8 1,", 100000);
    parse_repeated(MODULE ".entry k(", ".param .u32 a,", 50000);
}

/* A large range costs nothing. */
static void test_large_range(void **state)
{
    (void)state;
    struct mr_ptx_module *module = parse(MODULE ".entry k() { .reg .b32 %r<4294967295>;\n"
                                                "mov.b32 %r4294967294, 1; mov.b32 %r0, 1; ret; }\n");
    assert_int_equal(find(module, "k")->reg_count, 2);
    mr_ptx_module_destroy(module);
}

/* Every allocation fails once: each time an error, nothing leaks. */
static void test_out_of_memory(void **state)
{
    (void)state;
    static const char text[] = MODULE ".global .u32 a[] = {1, 2, 3};\n"
                                      ".entry k(.param .u64 p) { .reg .b32 %r<9>; L: add.u32 %r1, %r2, 1; bra L; }\n";
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct mr_ptx_diag diag;
        mr_ptx_diag_init(&diag);
        uint64_t live = mr_alloc_live(), before = mr_alloc_count();
        mr_alloc_fail_after(n);
        struct mr_ptx_module *module = mr_ptx_parse(text, sizeof text, &diag);
        mr_alloc_fail_after(0);
        done = mr_alloc_count() - before < n;
        assert_true((module != NULL) == done);
        if (!done)
            assert_true(diag.errors > 0);
        mr_ptx_module_destroy(module);
        mr_ptx_diag_clear(&diag);
        assert_int_equal(mr_alloc_live(), live);
        assert_true(n < 1000);
    }
}

/* Blocks inside each other: hardware takes hundreds of them. */
static void test_nesting(void **state)
{
    (void)state;
    static const struct {
        size_t depth;
        bool good;
    } cases[] = {{200, true}, {1000, true}, {1100, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const char head[] = MODULE ".entry k() { .reg .b32 r; L: ", inside[] = "mov.b32 r, 1; bra L;";
        char *text = calloc(1, sizeof head + sizeof inside + 2 * cases[i].depth + 16);
        assert_non_null(text);
        strcpy(text, head);
        memset(text + strlen(text), '{', cases[i].depth);
        strcat(text, inside);
        memset(text + strlen(text), '}', cases[i].depth);
        strcat(text, " ret; }");
        struct mr_ptx_module *module = mr_ptx_parse(text, strlen(text), NULL);
        assert_int_equal(module != NULL, cases[i].good);
        mr_ptx_module_destroy(module);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),         cmocka_unit_test(test_kernel),   cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_initial_values), cmocka_unit_test(test_calls),    cmocka_unit_test(test_operands),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_recovery), cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_hostile),        cmocka_unit_test(test_nesting),  cmocka_unit_test(test_large_range),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
