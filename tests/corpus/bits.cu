/* SPDX-License-Identifier: Apache-2.0 */
/* Bit fields, permutations, shifts through two words, dot products of bytes, video instructions. */
#include "corpus.h"

UNARY(bits_popc, u32, u32, __popc(a))
UNARY(bits_popcll, u32, u64, __popcll(a))
UNARY(bits_clz, u32, u32, __clz(a))
UNARY(bits_clzll, u32, u64, __clzll(a))
UNARY(bits_ffs, u32, u32, __ffs(a))
UNARY(bits_ffsll, u32, u64, __ffsll(a))
UNARY(bits_brev, u32, u32, __brev(a))
UNARY(bits_brevll, u64, u64, __brevll(a))
TERNARY(bits_byte_perm, u32, u32, __byte_perm(a, b, c))
TERNARY(bits_funnel_l, u32, u32, __funnelshift_l(a, b, c))
TERNARY(bits_funnel_r, u32, u32, __funnelshift_r(a, b, c))
TERNARY(bits_funnel_lc, u32, u32, __funnelshift_lc(a, b, c))
TERNARY(bits_funnel_rc, u32, u32, __funnelshift_rc(a, b, c))
BINARY(bits_rotl, u32, u32, (a << (b & 31)) | (a >> (-b & 31)))
BINARY(bits_rotl_64, u64, u64, (a << (b & 63)) | (a >> (-b & 63)))
UNARY(bits_swap, u32, u32, (a >> 24) | ((a >> 8) & 0xff00) | ((a << 8) & 0xff0000) | (a << 24))
UNARY(bits_extract_signed, s32, u32, (s32)(a << 7) >> 19)
UNARY(bits_extract, u32, u32, (a >> 5) & 0x7ff)
BINARY(bits_insert, u32, u32, (a & ~0xff00u) | ((b & 0xff) << 8))
PTX3(bits_bfe_u32, u32, u32, u32, u32, "bfe.u32 %0, %1, %2, %3;")
PTX3(bits_bfe_s32, s32, s32, u32, u32, "bfe.s32 %0, %1, %2, %3;")
PTX3(bits_bfe_u64, u64, u64, u32, u32, "bfe.u64 %0, %1, %2, %3;")
PTX3(bits_bfe_s64, s64, s64, u32, u32, "bfe.s64 %0, %1, %2, %3;")
PTX3(bits_bfe_small, s32, s32, u32, u32, "{ .reg .u32 p, l;\n\tand.b32 p, %2, 31;\n\tand.b32 l, %3, 31;\n\tbfe.s32 %0, %1, p, l; }")
PTX3(bits_bfi_b32, u32, u32, u32, u32, "bfi.b32 %0, %1, %2, %3, 9;")
PTX3(bits_bfi_length, u32, u32, u32, u32, "bfi.b32 %0, %1, %2, 5, %3;")
PTX3(bits_bfi_b64, u64, u64, u64, u32, "bfi.b64 %0, %1, %2, %3, 21;")
PTX1(bits_bfind_u32, u32, u32, "bfind.u32 %0, %1;")
PTX1(bits_bfind_s32, u32, s32, "bfind.s32 %0, %1;")
PTX1(bits_bfind_shift, u32, s32, "bfind.shiftamt.s32 %0, %1;")
PTX1(bits_bfind_u64, u32, u64, "bfind.u64 %0, %1;")
PTX1(bits_bfind_s64, u32, s64, "bfind.shiftamt.s64 %0, %1;")
PTX2(bits_bmsk_clamp, u32, u32, u32, "bmsk.clamp.b32 %0, %1, %2;")
PTX2(bits_bmsk_wrap, u32, u32, u32, "bmsk.wrap.b32 %0, %1, %2;")
PTX2(bits_szext_clamp, s32, s32, u32, "szext.clamp.s32 %0, %1, %2;")
PTX2(bits_szext_wrap, u32, u32, u32, "szext.wrap.u32 %0, %1, %2;")
PTX3(bits_fns, u32, u32, u32, s32, "{ .reg .u32 b;\n\tand.b32 b, %2, 31;\n\tfns.b32 %0, %1, b, %3; }")
PTX1(bits_cnot_b32, u32, u32, "cnot.b32 %0, %1;")
PTX1(bits_cnot_b64, u64, u64, "cnot.b64 %0, %1;")
PTX1(bits_cnot_b16, u16, u16, "cnot.b16 %0, %1;")
PTX2(bits_shl_clamp, u32, u32, u32, "shl.b32 %0, %1, %2;")
PTX2(bits_shr_clamp, s32, s32, u32, "shr.s32 %0, %1, %2;")
PTX2(bits_shl_b64, u64, u64, u32, "shl.b64 %0, %1, %2;")
PTX2(bits_shr_u64, u64, u64, u32, "shr.u64 %0, %1, %2;")
PTX2(bits_shr_s64, s64, s64, u32, "shr.s64 %0, %1, %2;")
PTX2(bits_shl_b16, u16, u16, u32, "shl.b16 %0, %1, %2;")
PTX2(bits_shr_u16, u16, u16, u32, "shr.u16 %0, %1, %2;")
PTX3(bits_prmt, u32, u32, u32, u32, "prmt.b32 %0, %1, %2, %3;")
PTX3(bits_prmt_f4e, u32, u32, u32, u32, "prmt.b32.f4e %0, %1, %2, %3;")
PTX3(bits_prmt_b4e, u32, u32, u32, u32, "prmt.b32.b4e %0, %1, %2, %3;")
PTX3(bits_prmt_rc8, u32, u32, u32, u32, "prmt.b32.rc8 %0, %1, %2, %3;")
PTX3(bits_prmt_ecl, u32, u32, u32, u32, "prmt.b32.ecl %0, %1, %2, %3;")
PTX3(bits_prmt_ecr, u32, u32, u32, u32, "prmt.b32.ecr %0, %1, %2, %3;")
PTX3(bits_prmt_rc16, u32, u32, u32, u32, "prmt.b32.rc16 %0, %1, %2, %3;")
PTX3(bits_lop3_96, u32, u32, u32, u32, "lop3.b32 %0, %1, %2, %3, 0x96;")
PTX3(bits_lop3_e8, u32, u32, u32, u32, "lop3.b32 %0, %1, %2, %3, 0xe8;")
PTX3(bits_lop3_ca, u32, u32, u32, u32, "lop3.b32 %0, %1, %2, %3, 0xca;")
PTX3(bits_lop3_17, u32, u32, u32, u32, "lop3.b32 %0, %1, %2, %3, 0x17;")
PTX3(bits_lop3_d2, u32, u32, u32, u32, "lop3.b32 %0, %1, %2, %3, 0xd2;")
PTX3(bits_shf_l_clamp, u32, u32, u32, u32, "shf.l.clamp.b32 %0, %1, %2, %3;")
PTX3(bits_shf_r_clamp, u32, u32, u32, u32, "shf.r.clamp.b32 %0, %1, %2, %3;")
PTX3(bits_shf_l_wrap, u32, u32, u32, u32, "shf.l.wrap.b32 %0, %1, %2, %3;")
PTX3(bits_shf_r_wrap, u32, u32, u32, u32, "shf.r.wrap.b32 %0, %1, %2, %3;")
TERNARY(dot_dp4a_s, s32, s32, __dp4a(a, b, c))
TERNARY(dot_dp4a_u, u32, u32, __dp4a(a, b, c))
PTX3(dot_dp4a_su, s32, s32, u32, s32, "dp4a.s32.u32 %0, %1, %2, %3;")
PTX3(dot_dp4a_us, s32, u32, s32, s32, "dp4a.u32.s32 %0, %1, %2, %3;")
PTX3(dot_dp2a_lo_ss, s32, s32, s32, s32, "dp2a.lo.s32.s32 %0, %1, %2, %3;")
PTX3(dot_dp2a_hi_ss, s32, s32, s32, s32, "dp2a.hi.s32.s32 %0, %1, %2, %3;")
PTX3(dot_dp2a_lo_uu, u32, u32, u32, u32, "dp2a.lo.u32.u32 %0, %1, %2, %3;")
PTX3(dot_dp2a_hi_su, s32, s32, u32, s32, "dp2a.hi.s32.u32 %0, %1, %2, %3;")
PTX3(video_vadd_sat, s32, s32, s32, s32, "vadd.s32.s32.s32.sat.add %0, %1.b1, %2.h1, %3;")
PTX3(video_vsub_b, s32, s32, u32, s32, "vsub.s32.s32.u32 %0.b2, %1.h0, %2.b3, %3;")
PTX3(video_vabsdiff, u32, u32, u32, u32, "vabsdiff.u32.u32.u32.min %0, %1.b0, %2.b2, %3;")
PTX3(video_vmad, s32, s32, s32, s32, "vmad.s32.s32.s32.shr7 %0, %1.h0, %2.h1, %3;")
PTX3(video_vshl_clamp, u32, u32, u32, u32, "vshl.u32.u32.u32.clamp.add %0, %1, %2, %3;")
PTX3(video_vset, u32, s32, s32, u32, "vset.s32.s32.lt.add %0, %1, %2, %3;")
PTX3(video_vadd4, u32, u32, u32, u32, "vadd4.s32.s32.s32.sat %0, %1, %2, %3;")
PTX3(video_vsub4, u32, u32, u32, u32, "vsub4.u32.u32.u32 %0, %1, %2, %3;")
PTX3(video_vabsdiff4, u32, u32, u32, u32, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;")
PTX3(video_vavrg2, u32, u32, u32, u32, "vavrg2.s32.s32.s32 %0, %1, %2, %3;")
PTX3(video_vmax2, u32, u32, u32, u32, "vmax2.s32.s32.s32 %0, %1, %2, %3;")
PTX3(video_vmin4, u32, u32, u32, u32, "vmin4.u32.u32.u32 %0, %1, %2, %3;")
PTX3(video_vset4, u32, u32, u32, u32, "vset4.u32.u32.ge %0, %1, %2, %3;")

/* Fields of a structure, which compilers put together from shifts and masks. */
struct fields {
    u32 a : 3, b : 9;
    s32 c : 7, d : 13;
    u64 e : 40, f : 24;
};
KERNEL(bits_fields)
{
    fields x;
    x.a = LOAD(u32, 0);
    x.b = LOAD(u32, 1);
    x.c = LOAD(s32, 2);
    x.d = x.c * x.b;
    x.e = LOAD(u64, 0);
    x.f = x.e >> 13;
    STORE((u64)x.a + x.b * 3 + x.c * 5 + x.d * 7 + x.e * 11 + x.f * 13);
}
/* Gray code, Morton code, bit tricks. */
UNARY(bits_gray, u32, u32, a ^ (a >> 1))
KERNEL(bits_morton)
{
    u32 x = LOAD(u32, 0) & 0xffff, y = LOAD(u32, 1) & 0xffff;
    x = (x | x << 8) & 0x00ff00ff, y = (y | y << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f, y = (y | y << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333, y = (y | y << 2) & 0x33333333;
    x = (x | x << 1) & 0x55555555, y = (y | y << 1) & 0x55555555;
    STORE(x | y << 1);
}
UNARY(bits_power_of_two, u32, u32, (a && !(a & (a - 1))) | (a & -a) << 1)
KERNEL(bits_loop_popc)
{
    u32 count = 0;
    for (u64 x = LOAD(u64, 0); x; x &= x - 1)
        count++;
    STORE(count);
}
