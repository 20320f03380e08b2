/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Nothing may fail at a launch: each statement that the verifier's tests accept is
 * either refused by mr_codegen_check() or compiles, with operands that are the same
 * for all lanes and with operands that differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile/codegen.h"

extern const struct mr_codegen_api mr_codegen;

#define YES true
#define NO false

static const struct {
    bool accepted;
    const char *statement;
} cases[] = {
#define CASE(accepted, statement) {accepted, statement},
#include "../ptx/verify_cases.def"
#undef CASE
};

/* The frame of test_verify.c, which names the same registers. */
static const char head[] =
    ".version 8.8\n.target sm_90\n.address_size 64\n.global .u32 gv;\n.shared .u32 sv;\n.global .u64 gq[4];\n"
    ".func (.param .b32 ro) fu (.param .b32 pi) { st.param.b32 [ro], 1; ret; }\n"
    ".visible .entry k(.param .u64 q0) { .reg .pred p<4>; .reg .b16 h<4>; .reg .u16 us<4>; .reg .f16 hf<4>; .reg .b32 r<8>;"
    " .reg .u32 u<4>; .reg .s32 s<4>; .reg .f32 f<8>; .reg .b64 rd<8>; .reg .u64 ud<4>; .reg .f64 d<8>; .reg .b128 q<3>;"
    " .local .u32 lv[4]; .param .b32 pa; .param .b32 pb; .param .b64 pc; .reg .v2 .f32 vv;\n";

/* Makes every register a vector: its values come from addresses that differ by lanes without pattern. */
static void vary(FILE *file)
{
    static const struct {
        const char *name, *type;
        unsigned count;
    } sets[] = {{"h", "b16", 4}, {"us", "u16", 4}, {"r", "b32", 8},  {"u", "u32", 4}, {"s", "s32", 4},
                {"f", "f32", 8}, {"rd", "b64", 8}, {"ud", "u64", 4}, {"d", "f64", 8}};
    fputs(
        "mov.u32 r0, %laneid; mul.lo.u32 r0, r0, r0; cvt.u64.u32 rd0, r0; ld.param.u64 rd1, [q0]; add.u64 rd0, rd0, rd1;\n",
        file);
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++)
        for (unsigned k = 0; k < sets[i].count; k++)
            if (strcmp(sets[i].name, "rd") != 0 || k > 0)
                fprintf(file, "ld.global.%s %s%u, [rd0];\n", sets[i].type, sets[i].name, k);
    for (unsigned k = 0; k < 4; k++)
        fprintf(file, "setp.ne.u32 p%u, r%u, 0;\n", k, k);
}

enum outcome { INVALID, REFUSED, COMPILED, FAILED };

static enum outcome attempt(const char *statement, bool varying)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fputs(head, file);
    if (varying)
        vary(file);
    fprintf(file, "%s\n}\n", statement);
    fclose(file);
    struct mr_ptx_module *module = mr_ptx_parse(text, size, NULL);
    enum outcome outcome = INVALID;
    if (module && mr_ptx_verify(module, NULL))
        outcome = mr_codegen_check(module, NULL) ? FAILED : REFUSED;
    struct mr_layout layout = {0};
    if (outcome == FAILED && mr_layout_build(module, &layout)) {
        struct mr_codegen_request request = {.module = module, .layout = &layout, .optimisation = 1};
        struct mr_codegen_result result;
        if (mr_codegen.emit(&request, &result))
            outcome = COMPILED;
        else
            print_error("%s (%s): %s\n", statement, varying ? "lanes differ" : "all the same", result.error);
        mr_codegen.release(&result);
    }
    if (outcome == REFUSED && !varying && getenv("SHOW_REFUSED"))
        print_message("refused: %s\n", statement);
    mr_layout_clear(&layout);
    mr_ptx_module_destroy(module);
    free(text);
    return outcome;
}

static void what_is_accepted_compiles(void **unused)
{
    (void)unused;
    unsigned failed = 0, compiled = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int varying = 0; cases[i].accepted && varying < 2; varying++) {
            enum outcome outcome = attempt(cases[i].statement, varying);
            failed += outcome == FAILED;
            compiled += outcome == COMPILED;
        }
    assert_int_equal(failed, 0);
    assert_true(compiled > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_accepted_compiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
