/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The verifier, statement by statement: every line of verify_*cases.def is put in
 * a kernel of its own and must be accepted or refused as the line says; a
 * refusal must name the line that the statement stands in. Then what concerns
 * whole modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx/ptx_tables.h"

#define YES true
#define NO false

#define HEAD \
    ".version 8.8\n.target sm_90\n.address_size 64\n" \
    ".global .u32 gv;\n.shared .u32 sv;\n.global .u64 gq[4];\n" \
    ".func (.param .b32 ro) fu (.param .b32 pi) { st.param.b32 [ro], 1; ret; }\n" \
    ".visible .entry k(.param .u64 q0) { .reg .pred p<4>; .reg .b16 h<9>;" \
    " .reg .u16 us<4>; .reg .f16 hf<4>; .reg .b32 r<17>; .reg .u32 u<9>; .reg .s32 s<9>;" \
    " .reg .f32 f<17>; .reg .b64 rd<9>; .reg .u64 ud<4>; .reg .f64 d<17>; .reg .b128 q<3>; .reg .f16x2 hh<9>;" \
    " .local .u32 lv[4]; .param .b32 pa; .param .b32 pb; .param .b64 pc; .reg .v2 .f32 vv;\n"
#define STATEMENT_LINE 9

static const struct {
    bool accepted;
    const char *statement;
} cases[] = {
#define CASE(accepted, statement) {accepted, statement},
#include "verify_cases.def"
#include "verify_video_cases.def"
#include "verify_matrix_cases.def"
#include "verify_async_cases.def"
#undef CASE
};

/* Parses and verifies; true if both pass. */
static bool check(const char *text, struct mr_ptx_diag *diag)
{
    struct mr_ptx_module *module = mr_ptx_parse(text, strlen(text), diag);
    bool good = module && mr_ptx_verify(module, diag);
    mr_ptx_module_destroy(module);
    return good;
}

static void test_statements(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        struct mr_ptx_diag diag;
        snprintf(text, sizeof text, "%s%s\n}\n", HEAD, cases[i].statement);
        mr_ptx_diag_init(&diag);
        bool accepted = check(text, &diag);
        if (accepted != cases[i].accepted || (!accepted && diag.first_error_line != STATEMENT_LINE)) {
            print_error("%s was %s: %s\n", cases[i].statement, accepted ? "accepted" : "refused",
                        mr_ptx_diag_text(&diag));
            wrong++;
        }
        mr_ptx_diag_clear(&diag);
    }
    assert_int_equal(wrong, 0);
}

#define VERSION_HEAD \
    ".version %u.%u\n.target sm_%u\n.address_size 64\n" \
    ".global .u32 gv;\n.shared .u32 sv;\n" \
    ".visible .entry k(.param .u64 q0) { .reg .pred p<4>; .reg .b16 h<4>;" \
    " .reg .u16 us<4>; .reg .b32 r<8>; .reg .u32 u<4>; .reg .s32 s<4>;" \
    " .reg .f32 f<8>; .reg .b64 rd<8>; .reg .u64 ud<4>; .reg .f64 d<8>;" \
    " .local .u32 lv[4]; .param .b32 pa;\n"

/* Whether the statement may stand in a module of that version and target. */
static bool stands(const char *statement, uint32_t version, uint32_t sm)
{
    char text[1024];
    snprintf(text, sizeof text, VERSION_HEAD "%s\n}\n", version / 10, version % 10, sm, statement);
    return check(text, NULL);
}

/* The newest target before `sm` and the newest version before `version`. */
static uint32_t target_before(uint32_t sm)
{
    do
        sm--;
    while (mr_ptx_target_version(sm, 0) == 0);
    return sm;
}

static uint32_t version_before(uint32_t version)
{
    do
        version--;
    while (!mr_ptx_version_is_known(version) || version == 51);
    return version;
}

/* Each statement on the oldest target in the oldest version, and just before. */
static void test_versions(void **state)
{
    static const struct {
        uint32_t sm, version;
        const char *statement;
    } needs[] = {
#define NEEDS(sm, version, statement) {sm, version, statement},
#include "version_cases.def"
#undef NEEDS
    };
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        uint32_t first = mr_ptx_target_version(needs[i].sm, 0);
        uint32_t version = needs[i].version ? needs[i].version : first;
        bool good = stands(needs[i].statement, version, needs[i].sm) &&
                    stands(needs[i].statement, version > 90 ? version : 90, 121);
        if (needs[i].sm > 20)
            good = good && !stands(needs[i].statement, 90, target_before(needs[i].sm));
        if (version > first)
            good = good && !stands(needs[i].statement, version_before(version), needs[i].sm);
        if (!good) {
            print_error("%s does not need sm_%u and PTX %u\n", needs[i].statement, needs[i].sm, version);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* setmaxnreg is for targets with features of their own. What NVIDIA's assembler says of each. */
static void test_register_counts(void **state)
{
    (void)state;
    static const struct {
        const char *version, *target, *statement, *error; /* NULL: accepted */
    } rows[] = {
        {"8.0", "sm_90a", "setmaxnreg.inc.sync.aligned.u32 64;", NULL},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 24;", NULL},
        {"8.0", "sm_90a", "setmaxnreg.dec.aligned.sync.u32 256;", NULL},
        {"8.0", "sm_90a", "@p1 setmaxnreg.dec.sync.aligned.s32 40;", NULL},
        {"8.6", "sm_100a", "setmaxnreg.dec.sync.aligned.u32 24;", NULL},
        {"8.8", "sm_100f", "setmaxnreg.dec.sync.aligned.u32 24;", NULL},
        {"8.8", "sm_120a", "setmaxnreg.inc.sync.aligned.u32 24;", NULL},
        {"8.0", "sm_90", "setmaxnreg.inc.sync.aligned.u32 64;", "needs a target like sm_90a"},
        {"8.8", "sm_120", "setmaxnreg.inc.sync.aligned.u32 64;", "needs a target like sm_90a"},
        {"8.0", "sm_80", "setmaxnreg.inc.sync.aligned.u32 64;", "needs target sm_90"},
        {"7.8", "sm_90", "setmaxnreg.inc.sync.aligned.u32 64;", "needs PTX 8.0"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 16;", "24 to 256"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 264;", "24 to 256"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 -8;", "24 to 256"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 25;", "multiple of 8"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 r1;", "constant"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 24, 24;", "operand"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.u32 24;", "setmaxnreg"},
        {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned 24;", "setmaxnreg"},
        {"8.0", "sm_90a", "setmaxnreg.sync.aligned.u32 24;", "setmaxnreg"},
        {"8.0", "sm_90a", "setmaxnreg.sync.dec.aligned.u32 24;", "setmaxnreg"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        struct mr_ptx_diag diag;
        snprintf(text, sizeof text,
                 ".version %s\n.target %s\n.address_size 64\n"
                 ".visible .entry k() { .reg .pred p<4>; .reg .b32 r<8>;\n%s\n}\n",
                 rows[i].version, rows[i].target, rows[i].statement);
        mr_ptx_diag_init(&diag);
        bool good = check(text, &diag);
        if (good != !rows[i].error || (rows[i].error && !strstr(mr_ptx_diag_text(&diag), rows[i].error))) {
            print_error("%s, %s, %s: %s\n", rows[i].version, rows[i].target, rows[i].statement,
                        good ? "accepted" : mr_ptx_diag_text(&diag));
            wrong++;
        }
        mr_ptx_diag_clear(&diag);
    }
    assert_int_equal(wrong, 0);
}

/* mad.f32 without a rounding: on targets before sm_20 in any version, on others in versions before 3.1. */
static void test_old_mad(void **state)
{
    (void)state;
    static const char statement[] = "mad.f32 f1, f2, f3, f4;\nmad.sat.f32 f1, f2, f3, f4;\nmad.ftz.f32 f1, f2, f3, f4;";
    assert_true(stands(statement, 23, 10));
    assert_true(stands(statement, 90, 13));
    assert_true(stands(statement, 23, 20));
    assert_true(stands(statement, 30, 30));
    assert_false(stands(statement, 31, 20));
    assert_false(stands(statement, 90, 90));
    assert_false(stands("mad.rn.f32 f1, f2, f3, f4;", 23, 13));
    assert_false(stands("mad.f64 d1, d2, d3, d4;", 23, 13));
    assert_false(stands("mad.f64 d1, d2, d3, d4;", 30, 20));
    assert_true(check(
        ".version 1.4\n.target sm_10, map_f64_to_f32\n.entry k() { .reg .f32 f<5>;\nmad.f32 f1, f2, f3, f4;\nexit; }\n",
        NULL));
}

/* What targets before sm_20 have not. */
static void test_old_targets(void **state)
{
    static const char *const statements[] = {
        "add.rm.f32 f1, f2, f3;",
        "sub.rp.f32 f1, f2, f3;",
        "mul.rm.ftz.f32 f1, f2, f3;",
        "div.rn.f32 f1, f2, f3;",
        "rcp.rz.f32 f1, f2;",
        "sqrt.rn.f32 f1, f2;",
        "fma.rn.f32 f1, f2, f3, f4;",
        "mad.rn.f32 f1, f2, f3, f4;",
        "testp.notanumber.f32 p1, f1;",
        "copysign.f32 f1, f2, f3;",
        "popc.b32 u1, r1;",
        "clz.b32 u1, r1;",
        "bfe.u32 u1, u2, u3, u3;",
        "bfi.b32 r1, r2, r3, u1, u2;",
        "bfind.u32 u1, u2;",
        "brev.b32 r1, r2;",
        "prmt.b32 r1, r2, r3, r4;",
        "ld.u32 u1, [rd1];",
        "st.u32 [rd1], u1;",
        "atom.add.u32 u1, [rd1], u2;",
        "red.add.u32 [rd1], u2;",
        "ldu.global.u32 u1, [rd1];",
        "prefetch.global.L1 [rd1];",
        "cvta.global.u64 rd1, rd2;",
        "isspacep.global p1, rd1;",
        "bar.arrive 1, 64;",
        "bar.red.popc.u32 u1, 0, p1;",
        "membar.sys;",
        "vote.ballot.b32 r1, p1;",
        "mov.u64 ud1, %clock64;",
        "mov.u32 u1, %lanemask_lt;",
    };
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (!stands(statements[i], 50, 20) || stands(statements[i], 50, 13))
            fail_msg("%s does not need sm_20", statements[i]);
    assert_true(stands("vote.all.pred p1, p2;", 23, 12));
    assert_false(stands("vote.all.pred p1, p2;", 23, 11));
    assert_true(stands(
        "add.f32 f1, f2, f3; add.rz.f32 f1, f2, f3; div.approx.f32 f1, f2, f3; rcp.approx.f32 f1, f2; sqrt.approx.f32 f1, f2; membar.gl; bar.sync 0;",
        23, 10));
}

static void expect_error(const char *text, uint32_t line, const char *part)
{
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    bool accepted = check(text, &diag);
    if (accepted || diag.first_error_line != line || !strstr(mr_ptx_diag_text(&diag), part))
        fail_msg("expected '%s' in line %u, got: %s", part, line, mr_ptx_diag_text(&diag));
    mr_ptx_diag_clear(&diag);
}

#define MODULE ".version 7.0\n.target sm_80\n.address_size 64\n"

static void test_modules(void **state)
{
    (void)state;
    expect_error(".version 7.0\n.target sm_80\n.address_size 32\n.entry k() { ret; }\n", 0, "32-bit addresses");
    expect_error(MODULE ".extern .func f ();\n.entry k() { call f, (); }\n", 5, "defined nowhere");
    expect_error(MODULE ".extern .global .u32 g;\n", 4, "defined nowhere");
    expect_error(MODULE ".const .b8 a[60000];\n.const .b8 b[60000];\n", 5, "constant variables");
    expect_error(MODULE ".entry k(.param .b8 a[5000]) { ret; }\n", 4, "parameters of 'k'");
    expect_error(MODULE ".entry k(.reg .u32 a) { ret; }\n", 4, "space '.param'");
    expect_error(MODULE ".func f(.reg .v2 .b32 a) { ret; }\n", 4, "several registers");
    expect_error(MODULE ".func (.reg .b32 o[2]) f() { ret; }\n", 4, "several registers");
    expect_error(MODULE ".entry k() { ret; }\n.entry l() { call k, (); }\n", 5, "is a kernel");
    expect_error(MODULE ".entry k() .maxntid 1 .reqntid 1 { ret; }\n", 4, "exclude");
    expect_error(MODULE ".global .samplerref t;\n", 4, "not supported");
    expect_error(MODULE ".tex .u32 t;\n", 4, "not supported");
    expect_error(MODULE ".const .texref t;\n", 4, "has to be");
    expect_error(MODULE ".entry k(.param .u64 a) { st.param.u64 [a], 1; }\n", 4, "cannot be written");
}

/* Versions, targets and directives that need them. */
static void test_module_versions(void **state)
{
    (void)state;
#define ENTRY "\n.entry k() { ret; }\n"
    expect_error(".version 6.0\n.target sm_80" ENTRY, 2, "'sm_80' needs PTX 7.0");
    expect_error(".version 6.9\n.target sm_70" ENTRY, 1, "no PTX version");
    expect_error(".version 9.6\n.target sm_70" ENTRY, 1, "current version is");
    expect_error(".version 8.0\n.target sm_99" ENTRY, 2, "unknown target");
    expect_error(".version 7.8\n.target sm_90a" ENTRY, 2, "needs PTX 8.0");
    expect_error(".version 9.0\n.target sm_90f" ENTRY, 2, "unknown target");
    expect_error(".version 7.0\n.target sm_80\n.version 7.0" ENTRY, 3, "already");
    expect_error(".version 7.0\n.target sm_80\n.target sm_80" ENTRY, 3, "already");
    expect_error(".version 7.0\n.target sm_80, map_f64_to_f32" ENTRY, 2, "before sm_13");
    expect_error(".version 7.0\n.target sm_80" ENTRY ".address_size 64\n", 4, "before declarations");
    expect_error(".version 7.0\n.target sm_80\n.local .u32 x;" ENTRY, 3, "belong to functions");
    expect_error(".version 7.0\n.target sm_80\n.entry k() .minnctapersm 0 { ret; }\n", 3, "at least 1");
    assert_true(check(".version 5.1\n.target sm_70" ENTRY, NULL)); /* 5.1 is an early 6.0 */
    assert_true(check(".version 1.4\n.target sm_13" ENTRY, NULL));
    expect_error(".version 3.0\n.target sm_30\n.weak .global .u32 x;" ENTRY, 3, "weak needs PTX 3.1");
    expect_error(".version 4.3\n.target sm_30\n.common .global .u32 x;" ENTRY, 3, "common needs PTX 5.0");
    expect_error(".version 3.2\n.target sm_30\n.global .attribute(.managed) .u32 x;" ENTRY, 3, "needs PTX 4.0");
    expect_error(".version 7.0\n.target sm_80\n.global .u32 y;\n.global .u8 x = 0xff(y);" ENTRY, 4, "needs PTX 7.1");
    expect_error(".version 7.0\n.target sm_80\n.global .b128 x;" ENTRY, 3, "needs PTX 8.3");
    expect_error(".version 8.0\n.target sm_80\n.entry k() .maxclusterrank 4 { ret; }\n", 3, "needs target sm_90");
    expect_error(".version 6.3\n.target sm_70\n.func f() .noreturn { trap; }" ENTRY, 3, "needs PTX 6.4");
    expect_error(".version 5.0\n.target sm_60\n.entry k() { T: .branchtargets L; L: ret; }\n", 3, "needs PTX 6.0");
    expect_error(".version 5.0\n.target sm_60\n.func g();\n.func f() { ret; }\n.alias g, f;" ENTRY, 5, "needs PTX 6.3");
}

static void test_runtime_functions(void **state)
{
    (void)state;
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    assert_true(check(MODULE ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                             ".entry k() { .param .b64 a, b; .param .b32 r;\n call.uni (r), vprintf, (a, b); ret; }\n",
                      &diag));
    mr_ptx_diag_clear(&diag);
}

/* A gap of Millrace is told from a fault of the text. */
static void test_unsupported(void **state)
{
    (void)state;
    struct mr_ptx_diag diag;
    mr_ptx_diag_init(&diag);
    assert_false(check(MODULE ".entry k() {\n  wgmma.fence.sync.aligned;\n}\n", &diag));
    assert_true(diag.unsupported);
    assert_string_equal(mr_ptx_diag_text(&diag),
                        "error: line 5, column 3: unsupported instruction 'wgmma.fence.sync.aligned'\n"
                        "      wgmma.fence.sync.aligned;\n"
                        "      ^\n");
    mr_ptx_diag_clear(&diag);
    assert_false(check(MODULE ".entry k() { nonsense.u32; }\n", &diag));
    assert_false(diag.unsupported);
    mr_ptx_diag_clear(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),      cmocka_unit_test(test_versions),
        cmocka_unit_test(test_register_counts), cmocka_unit_test(test_old_mad),
        cmocka_unit_test(test_old_targets),     cmocka_unit_test(test_modules),
        cmocka_unit_test(test_module_versions), cmocka_unit_test(test_runtime_functions),
        cmocka_unit_test(test_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
