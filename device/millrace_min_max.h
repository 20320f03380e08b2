/* SPDX-License-Identifier: Apache-2.0 */
/* min and max, of whole numbers and of floats, on both sides. Part of millrace_device.h.
 *
 * Of a signed and an unsigned number of one size the signed one is converted first; of a float and a double the result is a double. Any other mixture is found by
 * the language's own rules, or is ambiguous. Of a number and a NaN the number is the result. */
#ifndef MILLRACE_MIN_MAX_H
#define MILLRACE_MIN_MAX_H

#define MR_MIN_MAX(result, left, right)                                                                           \
    MR_BOTH result min(left x, right y) { return (result)y < (result)x ? (result)y : (result)x; }                 \
    MR_BOTH result max(left x, right y) { return (result)x < (result)y ? (result)y : (result)x; }
#define MR_MIN_MAX_OF(type)                                                                                       \
    MR_MIN_MAX(type, type, type) MR_MIN_MAX(unsigned type, unsigned type, unsigned type)                          \
    MR_MIN_MAX(unsigned type, type, unsigned type) MR_MIN_MAX(unsigned type, unsigned type, type)
MR_MIN_MAX_OF(int) MR_MIN_MAX_OF(long) MR_MIN_MAX_OF(long long)
#undef MR_MIN_MAX_OF
#undef MR_MIN_MAX

MR_DEVICE float min(float x, float y) { return __nvvm_fmin_f(x, y); }
MR_DEVICE float max(float x, float y) { return __nvvm_fmax_f(x, y); }
MR_DEVICE double min(double x, double y) { return __nvvm_fmin_d(x, y); }
MR_DEVICE double max(double x, double y) { return __nvvm_fmax_d(x, y); }
MR_HOST float min(float x, float y) { return __builtin_fminf(x, y); }
MR_HOST float max(float x, float y) { return __builtin_fmaxf(x, y); }
MR_HOST double min(double x, double y) { return __builtin_fmin(x, y); }
MR_HOST double max(double x, double y) { return __builtin_fmax(x, y); }
MR_BOTH double min(float x, double y) { return min((double)x, y); }
MR_BOTH double min(double x, float y) { return min(x, (double)y); }
MR_BOTH double max(float x, double y) { return max((double)x, y); }
MR_BOTH double max(double x, float y) { return max(x, (double)y); }

/* By the names of C. */
MR_BOTH unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
MR_BOTH unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
MR_BOTH long long llmin(long long x, long long y) { return min(x, y); }
MR_BOTH long long llmax(long long x, long long y) { return max(x, y); }
MR_BOTH unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
MR_BOTH unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }

#endif
