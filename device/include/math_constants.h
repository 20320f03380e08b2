/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of mathematics and of the floating-point types under the names that kernel sources know them by. */
#ifndef MILLRACE_MATH_CONSTANTS_H
#define MILLRACE_MATH_CONSTANTS_H

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_bit_cast(float, 0x7fffffff)
#define CUDART_MIN_DENORM_F 0x1p-149f
#define CUDART_MAX_NORMAL_F 0x1.fffffep127f
#define CUDART_NEG_ZERO_F (-0.0f)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0x1.6a09e6p-1f
#define CUDART_SQRT_TWO_F 0x1.6a09e6p+0f
#define CUDART_PI_F 0x1.921fb6p+1f
#define CUDART_PIO2_F 0x1.921fb6p+0f
#define CUDART_PIO4_F 0x1.921fb6p-1f
#define CUDART_2_OVER_PI_F 0x1.45f306p-1f
#define CUDART_LN2_F 0x1.62e43p-1f
#define CUDART_L2E_F 0x1.715476p+0f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_bit_cast(double, 0xfff8000000000000ull)
#define CUDART_NEG_ZERO (-0.0)
#define CUDART_MIN_DENORM 0x1p-1074
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_SQRT_TWO 0x1.6a09e667f3bcdp+0
#define CUDART_SQRT_HALF 0x1.6a09e667f3bcdp-1
#define CUDART_PI 0x1.921fb54442d18p+1
#define CUDART_PIO2 0x1.921fb54442d18p+0
#define CUDART_PIO4 0x1.921fb54442d18p-1
#define CUDART_2_OVER_PI 0x1.45f306dc9c883p-1
#define CUDART_LN2 0x1.62e42fefa39efp-1
#define CUDART_L2E 0x1.71547652b82fep+0
#define CUDART_LN10 0x1.26bb1bbb55516p+1

#endif
