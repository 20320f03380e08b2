/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own names for functions of mathematics (`__builtin_log`), as NVIDIA's C++ headers use them in kernels.
 * clang makes operations or calls of them that a GPU's code can't have, so here they are the device's functions.
 * Those that PTX has an instruction for (`__builtin_sqrt`) stay the compiler's. Part of millrace_device.h. */
#ifndef MILLRACE_BUILTINS_H
#define MILLRACE_BUILTINS_H

#ifdef __CUDA_ARCH__

/* The device's function, and a declaration for the host's code, which clang reads in this pass, too, and makes nothing
 * of. */
#define MR_BUILTIN(type, name, parameters, arguments)                                         \
    __attribute__((host)) type mr_builtin_##name parameters;                                  \
    MR_DEVICE type mr_builtin_##name parameters { return name arguments; }
/* In double and in float. */
#define MR_BUILTIN_1(name)                                                                    \
    MR_BUILTIN(double, name, (double x), (x))                                                 \
    MR_BUILTIN(float, name##f, (float x), (x))
#define MR_BUILTIN_2(name)                                                                    \
    MR_BUILTIN(double, name, (double x, double y), (x, y))                                    \
    MR_BUILTIN(float, name##f, (float x, float y), (x, y))
#define MR_BUILTIN_TO(name, type)                                                             \
    MR_BUILTIN(type, name, (double x), (x))                                                   \
    MR_BUILTIN(type, name##f, (float x), (x))
#define MR_BUILTIN_WITH(name, type)                                                           \
    MR_BUILTIN(double, name, (double x, type y), (x, y))                                      \
    MR_BUILTIN(float, name##f, (float x, type y), (x, y))
MR_BUILTIN_1(acos) MR_BUILTIN_1(acosh) MR_BUILTIN_1(asin) MR_BUILTIN_1(asinh) MR_BUILTIN_1(atan) MR_BUILTIN_1(atanh)
MR_BUILTIN_1(cbrt) MR_BUILTIN_1(cos) MR_BUILTIN_1(cosh) MR_BUILTIN_1(erf) MR_BUILTIN_1(erfc) MR_BUILTIN_1(exp)
MR_BUILTIN_1(exp10) MR_BUILTIN_1(exp2) MR_BUILTIN_1(expm1) MR_BUILTIN_1(lgamma) MR_BUILTIN_1(log) MR_BUILTIN_1(log10)
MR_BUILTIN_1(log1p) MR_BUILTIN_1(log2) MR_BUILTIN_1(logb) MR_BUILTIN_1(sin) MR_BUILTIN_1(sinh) MR_BUILTIN_1(tan)
MR_BUILTIN_1(tanh) MR_BUILTIN_1(tgamma) MR_BUILTIN_1(j0) MR_BUILTIN_1(j1) MR_BUILTIN_1(y0) MR_BUILTIN_1(y1)
MR_BUILTIN_2(atan2) MR_BUILTIN_2(fdim) MR_BUILTIN_2(fmod) MR_BUILTIN_2(hypot) MR_BUILTIN_2(nextafter) MR_BUILTIN_2(pow)
MR_BUILTIN_2(remainder)
MR_BUILTIN_TO(ilogb, int) MR_BUILTIN_TO(lrint, long) MR_BUILTIN_TO(llrint, long long) MR_BUILTIN_TO(lround, long)
MR_BUILTIN_TO(llround, long long)
MR_BUILTIN_WITH(frexp, int *) MR_BUILTIN_WITH(ldexp, int) MR_BUILTIN_WITH(scalbln, long) MR_BUILTIN_WITH(scalbn, int)
MR_BUILTIN(double, modf, (double x, double *whole), (x, whole))
MR_BUILTIN(float, modff, (float x, float *whole), (x, whole))
MR_BUILTIN(double, remquo, (double x, double y, int *quotient), (x, y, quotient))
MR_BUILTIN(float, remquof, (float x, float y, int *quotient), (x, y, quotient))
MR_BUILTIN(double, jn, (int n, double x), (n, x))
MR_BUILTIN(float, jnf, (int n, float x), (n, x))
MR_BUILTIN(double, yn, (int n, double x), (n, x))
MR_BUILTIN(float, ynf, (int n, float x), (n, x))
#undef MR_BUILTIN
#undef MR_BUILTIN_1
#undef MR_BUILTIN_2
#undef MR_BUILTIN_TO
#undef MR_BUILTIN_WITH
__attribute__((host)) double mr_builtin_powi(double x, int n);
__attribute__((host)) float mr_builtin_powif(float x, int n);
MR_DEVICE double mr_builtin_powi(double x, int n) { return pow(x, (double)n); }
MR_DEVICE float mr_builtin_powif(float x, int n) { return powf(x, (float)n); }

#define __builtin_acos(...) mr_builtin_acos(__VA_ARGS__)
#define __builtin_acosf(...) mr_builtin_acosf(__VA_ARGS__)
#define __builtin_acosh(...) mr_builtin_acosh(__VA_ARGS__)
#define __builtin_acoshf(...) mr_builtin_acoshf(__VA_ARGS__)
#define __builtin_asin(...) mr_builtin_asin(__VA_ARGS__)
#define __builtin_asinf(...) mr_builtin_asinf(__VA_ARGS__)
#define __builtin_asinh(...) mr_builtin_asinh(__VA_ARGS__)
#define __builtin_asinhf(...) mr_builtin_asinhf(__VA_ARGS__)
#define __builtin_atan(...) mr_builtin_atan(__VA_ARGS__)
#define __builtin_atanf(...) mr_builtin_atanf(__VA_ARGS__)
#define __builtin_atan2(...) mr_builtin_atan2(__VA_ARGS__)
#define __builtin_atan2f(...) mr_builtin_atan2f(__VA_ARGS__)
#define __builtin_atanh(...) mr_builtin_atanh(__VA_ARGS__)
#define __builtin_atanhf(...) mr_builtin_atanhf(__VA_ARGS__)
#define __builtin_cbrt(...) mr_builtin_cbrt(__VA_ARGS__)
#define __builtin_cbrtf(...) mr_builtin_cbrtf(__VA_ARGS__)
#define __builtin_cos(...) mr_builtin_cos(__VA_ARGS__)
#define __builtin_cosf(...) mr_builtin_cosf(__VA_ARGS__)
#define __builtin_cosh(...) mr_builtin_cosh(__VA_ARGS__)
#define __builtin_coshf(...) mr_builtin_coshf(__VA_ARGS__)
#define __builtin_erf(...) mr_builtin_erf(__VA_ARGS__)
#define __builtin_erff(...) mr_builtin_erff(__VA_ARGS__)
#define __builtin_erfc(...) mr_builtin_erfc(__VA_ARGS__)
#define __builtin_erfcf(...) mr_builtin_erfcf(__VA_ARGS__)
#define __builtin_exp(...) mr_builtin_exp(__VA_ARGS__)
#define __builtin_expf(...) mr_builtin_expf(__VA_ARGS__)
#define __builtin_exp10(...) mr_builtin_exp10(__VA_ARGS__)
#define __builtin_exp10f(...) mr_builtin_exp10f(__VA_ARGS__)
#define __builtin_exp2(...) mr_builtin_exp2(__VA_ARGS__)
#define __builtin_exp2f(...) mr_builtin_exp2f(__VA_ARGS__)
#define __builtin_expm1(...) mr_builtin_expm1(__VA_ARGS__)
#define __builtin_expm1f(...) mr_builtin_expm1f(__VA_ARGS__)
#define __builtin_fdim(...) mr_builtin_fdim(__VA_ARGS__)
#define __builtin_fdimf(...) mr_builtin_fdimf(__VA_ARGS__)
#define __builtin_fmod(...) mr_builtin_fmod(__VA_ARGS__)
#define __builtin_fmodf(...) mr_builtin_fmodf(__VA_ARGS__)
#define __builtin_frexp(...) mr_builtin_frexp(__VA_ARGS__)
#define __builtin_frexpf(...) mr_builtin_frexpf(__VA_ARGS__)
#define __builtin_hypot(...) mr_builtin_hypot(__VA_ARGS__)
#define __builtin_hypotf(...) mr_builtin_hypotf(__VA_ARGS__)
#define __builtin_ilogb(...) mr_builtin_ilogb(__VA_ARGS__)
#define __builtin_ilogbf(...) mr_builtin_ilogbf(__VA_ARGS__)
#define __builtin_j0(...) mr_builtin_j0(__VA_ARGS__)
#define __builtin_j0f(...) mr_builtin_j0f(__VA_ARGS__)
#define __builtin_j1(...) mr_builtin_j1(__VA_ARGS__)
#define __builtin_j1f(...) mr_builtin_j1f(__VA_ARGS__)
#define __builtin_jn(...) mr_builtin_jn(__VA_ARGS__)
#define __builtin_jnf(...) mr_builtin_jnf(__VA_ARGS__)
#define __builtin_ldexp(...) mr_builtin_ldexp(__VA_ARGS__)
#define __builtin_ldexpf(...) mr_builtin_ldexpf(__VA_ARGS__)
#define __builtin_lgamma(...) mr_builtin_lgamma(__VA_ARGS__)
#define __builtin_lgammaf(...) mr_builtin_lgammaf(__VA_ARGS__)
#define __builtin_llrint(...) mr_builtin_llrint(__VA_ARGS__)
#define __builtin_llrintf(...) mr_builtin_llrintf(__VA_ARGS__)
#define __builtin_llround(...) mr_builtin_llround(__VA_ARGS__)
#define __builtin_llroundf(...) mr_builtin_llroundf(__VA_ARGS__)
#define __builtin_log(...) mr_builtin_log(__VA_ARGS__)
#define __builtin_logf(...) mr_builtin_logf(__VA_ARGS__)
#define __builtin_log10(...) mr_builtin_log10(__VA_ARGS__)
#define __builtin_log10f(...) mr_builtin_log10f(__VA_ARGS__)
#define __builtin_log1p(...) mr_builtin_log1p(__VA_ARGS__)
#define __builtin_log1pf(...) mr_builtin_log1pf(__VA_ARGS__)
#define __builtin_log2(...) mr_builtin_log2(__VA_ARGS__)
#define __builtin_log2f(...) mr_builtin_log2f(__VA_ARGS__)
#define __builtin_logb(...) mr_builtin_logb(__VA_ARGS__)
#define __builtin_logbf(...) mr_builtin_logbf(__VA_ARGS__)
#define __builtin_lrint(...) mr_builtin_lrint(__VA_ARGS__)
#define __builtin_lrintf(...) mr_builtin_lrintf(__VA_ARGS__)
#define __builtin_lround(...) mr_builtin_lround(__VA_ARGS__)
#define __builtin_lroundf(...) mr_builtin_lroundf(__VA_ARGS__)
#define __builtin_modf(...) mr_builtin_modf(__VA_ARGS__)
#define __builtin_modff(...) mr_builtin_modff(__VA_ARGS__)
#define __builtin_nextafter(...) mr_builtin_nextafter(__VA_ARGS__)
#define __builtin_nextafterf(...) mr_builtin_nextafterf(__VA_ARGS__)
#define __builtin_pow(...) mr_builtin_pow(__VA_ARGS__)
#define __builtin_powf(...) mr_builtin_powf(__VA_ARGS__)
#define __builtin_powi(...) mr_builtin_powi(__VA_ARGS__)
#define __builtin_powif(...) mr_builtin_powif(__VA_ARGS__)
#define __builtin_remainder(...) mr_builtin_remainder(__VA_ARGS__)
#define __builtin_remainderf(...) mr_builtin_remainderf(__VA_ARGS__)
#define __builtin_remquo(...) mr_builtin_remquo(__VA_ARGS__)
#define __builtin_remquof(...) mr_builtin_remquof(__VA_ARGS__)
#define __builtin_scalbln(...) mr_builtin_scalbln(__VA_ARGS__)
#define __builtin_scalblnf(...) mr_builtin_scalblnf(__VA_ARGS__)
#define __builtin_scalbn(...) mr_builtin_scalbn(__VA_ARGS__)
#define __builtin_scalbnf(...) mr_builtin_scalbnf(__VA_ARGS__)
#define __builtin_sin(...) mr_builtin_sin(__VA_ARGS__)
#define __builtin_sinf(...) mr_builtin_sinf(__VA_ARGS__)
#define __builtin_sinh(...) mr_builtin_sinh(__VA_ARGS__)
#define __builtin_sinhf(...) mr_builtin_sinhf(__VA_ARGS__)
#define __builtin_tan(...) mr_builtin_tan(__VA_ARGS__)
#define __builtin_tanf(...) mr_builtin_tanf(__VA_ARGS__)
#define __builtin_tanh(...) mr_builtin_tanh(__VA_ARGS__)
#define __builtin_tanhf(...) mr_builtin_tanhf(__VA_ARGS__)
#define __builtin_tgamma(...) mr_builtin_tgamma(__VA_ARGS__)
#define __builtin_tgammaf(...) mr_builtin_tgammaf(__VA_ARGS__)
#define __builtin_y0(...) mr_builtin_y0(__VA_ARGS__)
#define __builtin_y0f(...) mr_builtin_y0f(__VA_ARGS__)
#define __builtin_y1(...) mr_builtin_y1(__VA_ARGS__)
#define __builtin_y1f(...) mr_builtin_y1f(__VA_ARGS__)
#define __builtin_yn(...) mr_builtin_yn(__VA_ARGS__)
#define __builtin_ynf(...) mr_builtin_ynf(__VA_ARGS__)

#endif

#endif
