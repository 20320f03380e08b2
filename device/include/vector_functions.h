/* SPDX-License-Identifier: Apache-2.0 */
/* make_int4(1, 2, 3, 4) and its like, for C, C++ and CUDA C++. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

/* NVRTC has no definitions of these that a source's own could meet, and Slang's sources have their own. A template gives way to them. */
#ifdef __CUDACC_RTC__
#define MR_VECTOR_MAKES template <int = 0> static inline MR_VECTOR_BOTH
#else
#define MR_VECTOR_MAKES static inline MR_VECTOR_BOTH
#endif
#define MR_VECTOR_FUNCTIONS(name, T)                                                                          \
    MR_VECTOR_MAKES name##1 make_##name##1(T x) { name##1 v = { x }; return v; }                        \
    MR_VECTOR_MAKES name##2 make_##name##2(T x, T y) { name##2 v = { x, y }; return v; }                \
    MR_VECTOR_MAKES name##3 make_##name##3(T x, T y, T z) { name##3 v = { x, y, z }; return v; }        \
    MR_VECTOR_MAKES name##4 make_##name##4(T x, T y, T z, T w) { name##4 v = { x, y, z, w }; return v; }
#define MR_VECTOR_FUNCTIONS_WIDE(name, T)                                                                                  \
    MR_VECTOR_MAKES name##4_16a make_##name##4_16a(T x, T y, T z, T w) { name##4_16a v = { x, y, z, w }; return v; } \
    MR_VECTOR_MAKES name##4_32a make_##name##4_32a(T x, T y, T z, T w) { name##4_32a v = { x, y, z, w }; return v; }
MR_VECTOR_FUNCTIONS(char, signed char)
MR_VECTOR_FUNCTIONS(uchar, unsigned char)
MR_VECTOR_FUNCTIONS(short, short)
MR_VECTOR_FUNCTIONS(ushort, unsigned short)
MR_VECTOR_FUNCTIONS(int, int)
MR_VECTOR_FUNCTIONS(uint, unsigned int)
MR_VECTOR_FUNCTIONS(long, long)
MR_VECTOR_FUNCTIONS(ulong, unsigned long)
MR_VECTOR_FUNCTIONS(longlong, long long)
MR_VECTOR_FUNCTIONS(ulonglong, unsigned long long)
MR_VECTOR_FUNCTIONS(float, float)
MR_VECTOR_FUNCTIONS(double, double)
MR_VECTOR_FUNCTIONS_WIDE(long, long)
MR_VECTOR_FUNCTIONS_WIDE(ulong, unsigned long)
MR_VECTOR_FUNCTIONS_WIDE(longlong, long long)
MR_VECTOR_FUNCTIONS_WIDE(ulonglong, unsigned long long)
MR_VECTOR_FUNCTIONS_WIDE(double, double)
#undef MR_VECTOR_MAKES
#undef MR_VECTOR_FUNCTIONS
#undef MR_VECTOR_FUNCTIONS_WIDE

#endif
