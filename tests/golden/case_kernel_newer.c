/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms that NVIDIA's assembler takes beside the manual: vectors of eight narrow numbers, 128 bits of an address,
 * products of f64 in wmma's larger shapes.
 */
#include "gold_kernel.h"

#define WORDS ".shared .align 16 .b32 words[16]; .global .align 16 .b32 far_words[16];\n"
#define OWN_SCRATCH "mul.wide.u32 %rd14, %r0, 16; add.u64 %rd14, %rd3, %rd14; "

static const struct gold_kernel newer[] = {
    {"kernel.st_v8_b16", IN_INT, 'r',
     OWN_SCRATCH "st.global.v8.b16 [%rd14], {%h1, %h2, %h3, %h1, %h2, %h3, %h1, %h2}; mov.u32 %r10, 1;",
     .scratch_words = 4096, .target = 90, .version = 83},
    {"kernel.st_v8_u8", IN_INT, 'r',
     OWN_SCRATCH "st.global.v8.u8 [%rd14+8], {%h1, %h2, %h3, %h1, %h2, %h3, %h1, %h2}; mov.u32 %r10, 1;",
     .scratch_words = 4096, .target = 90, .version = 83},
    {"kernel.st_v8_shared", IN_INT, 'x',
     "mov.u32 %r4, room; mov.u32 %r5, %tid.x; mad.lo.u32 %r4, %r5, 16, %r4; mov.u64 %rd16, 0; st.shared.v2.b64 [%r4], {%rd16, %rd16}; st.shared.v8.b16 [%r4], {%h1, %h2, %h3, %h1, %h2, %h3, %h1, 7}; "
     "ld.shared.v2.b64 {%rd14, %rd15}, [%r4]; mad.lo.u64 %rd10, %rd14, 3, %rd15;",
     ".shared .align 16 .b8 room[8192];\n", .target = 90, .version = 83},
    {"kernel.mov_b128_element", IN_INDEX, 'x',
     ".reg .b128 %q1; and.b32 %r4, %r0, 7; mov.b128 %q1, words[%r4]; mov.b128 {%rd14, %rd15}, %q1; mov.u64 %rd16, words; sub.u64 %rd14, %rd14, %rd16; "
     "mad.lo.u64 %rd10, %rd15, 1000, %rd14;",
     WORDS, .target = 90, .version = 83},
    {"kernel.mov_b128_far_element", IN_INDEX, 'x',
     ".reg .b128 %q1; and.b32 %r4, %r0, 7; mov.b128 %q1, far_words[%r4]; mov.b128 {%rd14, %rd15}, %q1; mov.u64 %rd16, far_words; sub.u64 %rd14, %rd14, %rd16; "
     "mad.lo.u64 %rd10, %rd15, 1000, %rd14;",
     WORDS, .target = 90, .version = 83},
    {"kernel.wmma_f64_k8", IN_INDEX, 'd',
     "mov.f64 %d4, 0d4000000000000000; mov.f64 %d10, 0d4008000000000000; mov.f64 %d11, %d10; mov.f64 %d20, 0d4014000000000000; "
     "wmma.mma.sync.aligned.row.col.m16n16k8.f64.f64.f64.f64 {%d10, %d11, %d12, %d13, %d14, %d15, %d16, %d17}, {%d4, %d4, %d4, %d4}, {%d4, %d4, %d4, %d4}, "
     "{%d20, %d20, %d20, %d20, %d20, %d20, %d20, %d20};",
     .target = 90, .version = 83},
    {"kernel.wmma_f64_k16_in_place", IN_INDEX, 'd',
     "mov.f64 %d4, 0d4000000000000000; mov.f64 %d10, 0d4008000000000000; mov.f64 %d11, %d10; mov.f64 %d12, %d10; "
     "wmma.mma.sync.aligned.row.col.m16n16k16.f64.f64.f64.f64 {%d10, %d11, %d12, %d13, %d14, %d15, %d16, %d17}, {%d4, %d4, %d4, %d4, %d4, %d4, %d4, %d4}, "
     "{%d4, %d4, %d4, %d4, %d4, %d4, %d4, %d4}, {%d10, %d11, %d12, %d13, %d14, %d15, %d16, %d17};",
     .target = 90, .version = 83},
};
KERNELS(newer);
