/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Additions in .shared memory whose place a byte picks, in the ways in which compilers and people write that, and in
 * ways that look like it but are not: each kernel counts in 1,024 bins of 32 bits what each thread's word of the input
 * says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

enum { THREADS = 128, BINS = 1024 };

static uint32_t in[THREADS], out[BINS];

/* %q is the address of the thread's word and %x the word, %b and %c where the bins are; `places` leaves an address in
 * %p or %r. */
#define KERNEL(name, places, addition) \
    ".visible .entry " name "(.param .u64 in, .param .u64 out)\n{\n" \
    ".shared .align 8 .b8 bins[4096]; .reg .b64 %q, %o, %p, %c, %d; .reg .b32 %t, %x, %y, %z, %b, %r, %i; .reg .b16 %h, %g; .reg .pred %v;\n" \
    "ld.param.u64 %q, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; add.u64 %q, %q, %d; ld.global.u32 %x, [%q];\n" \
    "mov.u32 %b, bins; mov.u64 %c, bins; shl.b32 %r, %t, 2; add.u32 %r, %r, %b; mov.u32 %i, 0; mov.u32 %y, 0;\n" \
    "clear: st.shared.u32 [%r], 0; add.u32 %r, %r, 512; add.u32 %i, %i, 128; setp.lt.u32 %v, %i, 1024; @%v bra clear; bar.sync 0;\n" places \
    "\n" addition "\nbar.sync 0;\n" \
    "mul.wide.u32 %d, %t, 4; shl.b32 %r, %t, 2; add.u64 %o, %o, %d; add.u32 %r, %r, %b; mov.u32 %i, 0;\n" \
    "copy: ld.shared.u32 %z, [%r]; st.global.u32 [%o], %z; add.u32 %r, %r, 512; add.u64 %o, %o, 512; add.u32 %i, %i, 128; setp.lt.u32 %v, %i, 1024; @%v bra copy;\nret;\n}\n"
#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
#define ADD_P "red.shared.add.u32 [%p], 1;"
#define ADD_R "red.shared.add.u32 [%r], 1;"

static uint32_t low_byte(uint32_t x, uint32_t t)
{
    (void)t;
    return x & 255;
}
static uint32_t high_byte(uint32_t x, uint32_t t)
{
    (void)t;
    return x >> 24;
}
static uint32_t low_half(uint32_t x, uint32_t t)
{
    (void)t;
    return x & 1023;
}
static uint32_t field(uint32_t x, uint32_t t)
{
    (void)t;
    return x >> 5 & 127;
}
static uint32_t byte_and_one(uint32_t x, uint32_t t)
{
    (void)t;
    return (x & 255) + 1;
}
static uint32_t byte_and_thread(uint32_t x, uint32_t t)
{
    return (x & 255) + t;
}
static uint32_t byte_twice(uint32_t x, uint32_t t)
{
    (void)t;
    return (x & 255) * 2;
}
static uint32_t byte_by_three(uint32_t x, uint32_t t)
{
    (void)t;
    return (x & 255) * 3;
}
static uint32_t signed_byte(uint32_t x, uint32_t t)
{
    (void)t;
    return (uint32_t)((int8_t)x + 128);
}
static uint32_t second_byte(uint32_t x, uint32_t t)
{
    (void)t;
    return x >> 8 & 255;
}
static uint32_t even_threads(uint32_t x, uint32_t t)
{
    return t % 2 ? 0 : x & 255;
}
static uint32_t quarter(uint32_t x, uint32_t t)
{
    (void)t;
    return (x & 252) / 4;
}

/* `bytes`: the places are taken as bytes, so that the case tests what it is for. */
static const struct {
    const char *name;
    bool bytes;
    uint32_t (*place)(uint32_t x, uint32_t t);
    const char *text;
} kernels[] = {
#define CASE(name, place, places, addition) \
    { \
        name, true, place, KERNEL(name, places, addition) \
    } \
    ,
#define OTHER(name, place, places, addition) \
    { \
        name, false, place, KERNEL(name, places, addition) \
    } \
    ,
    CASE("load", low_byte, "ld.global.u8 %y, [%q]; mul.wide.u32 %d, %y, 4; add.s64 %p, %c, %d;",
         ADD_P) CASE("load_short", low_byte, "ld.global.u8 %h, [%q]; mul.wide.u16 %r, %h, 4; add.s32 %r, %r, %b;",
                     ADD_R) CASE("load_converted", low_byte,
                                 "ld.global.u8 %h, [%q]; cvt.u32.u16 %y, %h; shl.b32 %z, %y, 2; add.s32 %r, %b, %z;",
                                 ADD_R) CASE("load_vector", second_byte,
                                             "ld.global.v2.u8 {%h, %g}, [%q]; mad.wide.u16 %r, %g, 4, %b;",
                                             ADD_R) CASE("load_offset", byte_and_one,
                                                         "ld.global.u8 %y, [%q]; mad.lo.s32 %r, %y, 4, %b;",
                                                         "red.shared.add.u32 [%r+4], 1;")
        CASE("load_offset_back", low_byte,
             "ld.global.u8 %y, [%q]; shl.b32 %z, %y, 2; add.u32 %b, %b, 64; add.u32 %r, %b, %z;",
             "red.shared.add.u32 [%r+-64], 1; sub.u32 %b, %b, 64;")
            OTHER("load_signed", signed_byte, "ld.global.s8 %y, [%q]; shl.b32 %y, %y, 2; add.s32 %r, %b, %y;",
                  "red.shared.add.u32 [%r+512], 1;")
                OTHER("load_word", low_half,
                      "ld.global.u16 %y, [%q]; and.b32 %y, %y, 1023; shl.b32 %y, %y, 2; add.s32 %r, %b, %y;", ADD_R)
                    CASE("masked", low_byte, "and.b32 %y, %x, 255; shl.b32 %z, %y, 2; add.u32 %r, %z, %b;", ADD_R) CASE(
                        "masked_after", quarter, "and.b32 %y, %x, 252; add.u32 %r, %y, %b;",
                        ADD_R) CASE("shifted", high_byte, "shr.u32 %y, %x, 24; mad.lo.u32 %r, %y, 4, %b;",
                                    ADD_R) OTHER("shifted_signed", signed_byte,
                                                 "shl.b32 %y, %x, 24; shr.s32 %y, %y, 24; mad.lo.s32 %r, %y, 4, %b;",
                                                 "red.shared.add.u32 [%r+512], 1;")
                        CASE("field", field, "bfe.u32 %y, %x, 5, 7; mul.lo.u32 %z, %y, 4; add.u32 %r, %z, %b;", ADD_R) OTHER(
                            "field_wide", low_half, "bfe.u32 %y, %x, 0, 10; mul.lo.u32 %y, %y, 4; add.u32 %r, %y, %b;",
                            ADD_R) CASE("converted", low_byte,
                                        "cvt.u32.u8 %y, %x; cvt.u64.u32 %d, %y; shl.b64 %d, %d, 2; add.u64 %p, %d, %c;",
                                        ADD_P)
                            CASE(
                                "cut_to_a_byte", second_byte,
                                "shr.u32 %y, %x, 8; add.u32 %y, %y, 0; cvt.u16.u32 %h, %y; cvt.u32.u8 %y, %h; shl.b32 %z, %y, 2; add.u32 %r, %z, %b;",
                                ADD_R) CASE("address_converted", low_byte,
                                            "and.b32 %y, %x, 255; mad.lo.u32 %z, %y, 4, %b; cvt.u64.u32 %p, %z;",
                                            ADD_P) CASE("address_moved", low_byte,
                                                        "and.b32 %y, %x, 255; mad.lo.u32 %z, %y, 4, %b; mov.u32 %r, %z;",
                                                        ADD_R) CASE("eights",
                                                                    byte_twice, "and.b32 %y, %x, 255; shl.b32 %z, %y, 1; mad.lo.u32 %r, %z, 4, %b;",
                                                                    "red.shared.add.u32 [%r], 1;")
                                OTHER("twelves", byte_by_three, "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 12, %b;", ADD_R) OTHER(
                                    "added_first",
                                    byte_and_one,
                                    "and.b32 %y, %x, 255; add.u32 %y, %y, 1; mad.lo.u32 %r, %y, 4, %b;",
                                    ADD_R) OTHER("two_bases", byte_and_one,
                                                 "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, 4; add.u32 %r, %r, %b;",
                                                 ADD_R)
                                    OTHER(
                                        "base_differs",
                                        byte_and_thread,
                                        "shl.b32 %z, %t, 2; add.u32 %z, %z, %b; and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %z;",
                                        ADD_R) OTHER("base_changes", low_byte,
                                                     "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %b; add.u32 %b, %b, 16;",
                                                     ADD_R
                                                     "sub.u32 %b, %b, 16;")
                                        OTHER(
                                            "byte_changes",
                                            low_byte,
                                            "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %b; and.b32 %y, %x, 3;",
                                            ADD_R) OTHER("byte_changes_in_place", low_byte,
                                                         "and.b32 %r, %x, 255; shl.b32 %r, %r, 2; add.u32 %r, %r, %b;",
                                                         ADD_R)
                                            OTHER(
                                                "guarded_step",
                                                even_threads,
                                                "and.b32 %y, %x, 255; and.b32 %z, %t, 1; setp.eq.u32 %v, %z, 0; mov.u32 %r, %b; @%v mad.lo.u32 %r, %y, 4, %b;",
                                                ADD_R) OTHER("guarded_byte", even_threads,
                                                             "and.b32 %z, %t, 1; setp.eq.u32 %v, %z, 0; mov.u32 %y, 0; @%v and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %b;",
                                                             ADD_R)
                                                CASE(
                                                    "results", low_byte,
                                                    "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %b;", /* the second
                                                                                                         addition takes
                                                                                                         off what the
                                                                                                         first saw */
                                                    "atom.shared.add.u32 %z, [%r], 1; add.u32 %z, %z, 1; red.shared.add.u32 [%r], %z; neg.s32 %z, %z; red.shared.add.u32 [%r], %z;")
                                                    CASE(
                                                        "some_lanes", even_threads,
                                                        "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %b; and.b32 %z, %t, 1; setp.eq.u32 %v, %z, 0;",
                                                        "@%v red.shared.add.u32 [%r], 1; @!%v red.shared.add.u32 [bins], 1;")
                                                        CASE(
                                                            "largest", low_byte,
                                                            "and.b32 %y, %x, 255; mad.lo.u32 %r, %y, 4, %b;",
                                                            "atom.shared.cas.b32 %z, [%r], 77, 78; atom.shared.or.b32 %z, [%r], 0; atom.shared.add.u32 %z, [%r], 1;")};

static void counts(void **unused)
{
    (void)unused;
    for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        char text[8192];
        strcpy(text, ".version 8.3\n.target sm_80\n.address_size 64\n");
        assert_true(strlen(text) + strlen(kernels[k].text) < sizeof text);
        strcat(text, kernels[k].text);
        struct rig *rig = rig_open(text);
        char *ir = rig_text(rig, kernels[k].name, 0, NULL, false);
        if ((strstr(ir, "store <32 x i8>") != NULL) != kernels[k].bytes)
            fail_msg("%s: places are %staken as bytes", kernels[k].name, kernels[k].bytes ? "not " : "");
        free(ir);
        FOR_VARIANTS {
            uint32_t expected[BINS] = {0};
            for (uint32_t t = 0; t < THREADS; t++) {
                in[t] = (t + k) * 0x9e3779b1u;
                expected[kernels[k].place(in[t], t)]++;
            }
            memset(out, 0xee, sizeof out);
            struct {
                uint32_t *in, *out;
            } params = {in, out};
            unsigned grid[3] = {1, 1, 1}, block[3] = {THREADS, 1, 1};
            assert_int_equal(rig_launch(rig, kernels[k].name, grid, block, 0, &params, sizeof params), CUDA_SUCCESS);
            for (uint32_t bin = 0; bin < BINS; bin++)
                if (out[bin] != expected[bin])
                    fail_msg("%s: bin %u holds %u, not %u", kernels[k].name, bin, out[bin], expected[bin]);
        }
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
