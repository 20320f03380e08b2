/* SPDX-License-Identifier: Apache-2.0 */
/* 200 sets of parameters of MTGP32 for curand_mtgp32_host.h, from the table of its authors (millrace_mtgp32.def). The check sums of their
 * polynomials (poly_sha1) are not there. */
#ifndef MTGP32DC_P_11213_H
#define MTGP32DC_P_11213_H

#include "millrace_curand_states.h"

/* What four bits add: each sum of the four numbers; as bits of a float from 1 up to 2. */
#define MR_MTGP32_SUM(i, a, b, c, d) (((i) & 1 ? (a) : 0) ^ ((i) & 2 ? (b) : 0) ^ ((i) & 4 ? (c) : 0) ^ ((i) & 8 ? (d) : 0))
#define MR_MTGP32_BITS(i, a, b, c, d) (MR_MTGP32_SUM(i, a, b, c, d) >> 9 | 0x3f800000u)
#define MR_MTGP32_ALL(of, a, b, c, d) \
    {of(0, a, b, c, d), of(1, a, b, c, d), of(2, a, b, c, d), of(3, a, b, c, d), of(4, a, b, c, d), of(5, a, b, c, d), of(6, a, b, c, d), of(7, a, b, c, d), \
     of(8, a, b, c, d), of(9, a, b, c, d), of(10, a, b, c, d), of(11, a, b, c, d), of(12, a, b, c, d), of(13, a, b, c, d), of(14, a, b, c, d), of(15, a, b, c, d)}
#define MTGP32(pick, left, right, a, b, c, d, e, f, g, h) \
    {MTGPDC_MEXP, pick, left, right, MR_MTGP32_ALL(MR_MTGP32_SUM, a, b, c, d), MR_MTGP32_ALL(MR_MTGP32_SUM, e, f, g, h), \
     MR_MTGP32_ALL(MR_MTGP32_BITS, e, f, g, h), 0xfff80000u, {0}},
#if defined(__GNUC__)
__attribute__((unused))
#endif
static mtgp32_params_fast_t mtgp32dc_params_fast_11213[] = {
#include "millrace_mtgp32.def"
};
#undef MTGP32
#undef MR_MTGP32_ALL
#undef MR_MTGP32_BITS
#undef MR_MTGP32_SUM

#endif
