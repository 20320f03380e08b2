/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels, as PTX. model.c says what each computes. All take the same parameters:
 *     to, from, with (addresses), count (words), factor, salt, spin
 * so that one parameter block fits all. Words of a range stand one after the other. */
#ifndef RANDOM_KERNELS_H
#define RANDOM_KERNELS_H

#define KERNEL_HEAD(name) \
    ".visible .entry " name \
    "(.param .u64 to, .param .u64 from, .param .u64 with, .param .u32 count, .param .u32 factor,\n" \
    "    .param .u32 salt, .param .u32 spin)\n{\n" \
    "    .reg .pred %p<4>;\n    .reg .b32 %r<24>;\n    .reg .b64 %rd<16>;\n" \
    "    ld.param.u64 %rd1, [to];\n    ld.param.u64 %rd2, [from];\n    ld.param.u64 %rd3, [with];\n" \
    "    cvta.to.global.u64 %rd1, %rd1;\n    cvta.to.global.u64 %rd2, %rd2;\n    cvta.to.global.u64 %rd3, %rd3;\n" \
    "    ld.param.u32 %r1, [count];\n    ld.param.u32 %r2, [factor];\n    ld.param.u32 %r3, [salt];\n" \
    "    ld.param.u32 %r4, [spin];\n" \
    "    mov.u32 %r5, %ctaid.x;\n    mov.u32 %r6, %ntid.x;\n    mov.u32 %r7, %tid.x;\n" \
    "    mad.lo.u32 %r8, %r5, %r6, %r7;\n" \
    "    setp.ge.u32 %p1, %r8, %r1;\n    @%p1 bra $end;\n" \
    "    mov.u32 %r9, %r3;\n" \
    "$spin:\n    setp.eq.u32 %p2, %r4, 0;\n    @%p2 bra $spun;\n" \
    "    mad.lo.u32 %r9, %r9, 1664525, 1013904223;\n    sub.u32 %r4, %r4, 1;\n    bra $spin;\n" \
    "$spun:\n" \
    "    mul.wide.u32 %rd4, %r8, 4;\n    add.s64 %rd5, %rd1, %rd4;\n    add.s64 %rd6, %rd2, %rd4;\n"

#define KERNEL_TAIL "$end:\n    ret;\n}\n"

static const char random_ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n" KERNEL_HEAD(
    "mix") "    ld.global.u32 %r10, [%rd5];\n    ld.global.u32 %r11, [%rd6];\n"
           "    add.u32 %r12, %r8, %r3;\n    sub.u32 %r13, %r1, 1;\n    and.b32 %r12, %r12, %r13;\n"
           "    mul.wide.u32 %rd7, %r12, 4;\n    add.s64 %rd8, %rd3, %rd7;\n    ld.global.u32 %r14, [%rd8];\n"
           "    mad.lo.u32 %r15, %r10, %r2, %r11;\n    xor.b32 %r15, %r15, %r14;\n    add.u32 %r15, %r15, %r9;\n"
           "    shl.b32 %r16, %r15, 7;\n    shr.u32 %r17, %r15, 25;\n    or.b32 %r18, %r16, %r17;\n"
           "    st.global.u32 [%rd5], %r18;\n" KERNEL_TAIL KERNEL_HEAD(
               "make") "    xor.b32 %r10, %r8, %r9;\n    mul.lo.u32 %r10, %r10, %r2;\n    shr.u32 %r11, %r10, 15;\n"
                       "    xor.b32 %r10, %r10, %r11;\n    st.global.u32 [%rd5], %r10;\n" KERNEL_TAIL KERNEL_HEAD(
                           "add") "    ld.global.u32 %r10, [%rd6];\n    mad.lo.u32 %r10, %r10, %r2, %r9;\n"
                                  "    red.global.add.u32 [%rd5], %r10;\n" KERNEL_TAIL;

#endif
