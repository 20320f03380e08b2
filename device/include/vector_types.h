/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in vector types, char1 to double4, and dim3, for C, C++ and CUDA C++, on the host as in kernels. */
#ifndef MILLRACE_VECTOR_TYPES_H
#define MILLRACE_VECTOR_TYPES_H
#define __VECTOR_TYPES_H__

/* Between these NVIDIA's headers name a type that is deprecated there. Here none is. */
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#define __NV_SILENCE_HOST_DEPRECATION_BEGIN
#define __NV_SILENCE_HOST_DEPRECATION_END

/* What functions of host and device are. */
#ifdef __CUDA__
#define MR_VECTOR_BOTH __attribute__((host, device, unused))
#else
#define MR_VECTOR_BOTH __attribute__((unused))
#endif

/* The type T with 1 to 4 members; two and four of them are aligned as loads of a whole vector need it. */
#define MR_VECTOR_TYPES(name, T, align2, align4)                                     \
    struct name##1 { T x; };                                                         \
    struct __attribute__((aligned(align2))) name##2 { T x, y; };                     \
    struct name##3 { T x, y, z; };                                                   \
    struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };               \
    typedef struct name##1 name##1;                                                  \
    typedef struct name##2 name##2;                                                  \
    typedef struct name##3 name##3;                                                  \
    typedef struct name##4 name##4;
/* Four members of eight bytes, with the alignment in the type's name. */
#define MR_VECTOR_WIDE(name, T)                                                      \
    struct __attribute__((aligned(16))) name##4_16a { T x, y, z, w; };               \
    struct __attribute__((aligned(32))) name##4_32a { T x, y, z, w; };               \
    typedef struct name##4_16a name##4_16a;                                          \
    typedef struct name##4_32a name##4_32a;
MR_VECTOR_TYPES(char, signed char, 2, 4)
MR_VECTOR_TYPES(uchar, unsigned char, 2, 4)
MR_VECTOR_TYPES(short, short, 4, 8)
MR_VECTOR_TYPES(ushort, unsigned short, 4, 8)
MR_VECTOR_TYPES(int, int, 8, 16)
MR_VECTOR_TYPES(uint, unsigned int, 8, 16)
MR_VECTOR_TYPES(long, long, 16, 16)
MR_VECTOR_TYPES(ulong, unsigned long, 16, 16)
MR_VECTOR_TYPES(longlong, long long, 16, 16)
MR_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
MR_VECTOR_TYPES(float, float, 8, 16)
MR_VECTOR_TYPES(double, double, 16, 16)
MR_VECTOR_WIDE(long, long)
MR_VECTOR_WIDE(ulong, unsigned long)
MR_VECTOR_WIDE(longlong, long long)
MR_VECTOR_WIDE(ulonglong, unsigned long long)
MR_VECTOR_WIDE(double, double)
#undef MR_VECTOR_TYPES
#undef MR_VECTOR_WIDE

/* Numbers of blocks or threads in three dimensions; what C++ leaves out is 1. */
#ifdef __cplusplus
#if __cplusplus >= 201103L
#define MR_VECTOR_CONSTEXPR constexpr
#else
#define MR_VECTOR_CONSTEXPR
#endif
struct dim3 {
    unsigned int x, y, z;
    MR_VECTOR_BOTH MR_VECTOR_CONSTEXPR dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    MR_VECTOR_BOTH MR_VECTOR_CONSTEXPR dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
#ifdef __CUDA__
    /* threadIdx and the like, each of a type of its own here, become this type in one step. */
    template <class Builtin>
    __attribute__((device, always_inline)) inline dim3(const Builtin &of, typename Builtin::mr_builtin * = 0) : x(of.x), y(of.y), z(of.z)
    {
    }
#endif
#if __cplusplus >= 201103L
    MR_VECTOR_BOTH constexpr operator uint3() const { return uint3{x, y, z}; }
#else
    MR_VECTOR_BOTH operator uint3() const { uint3 v = { x, y, z }; return v; }
#endif
};
#undef MR_VECTOR_CONSTEXPR
#else
struct dim3 {
    unsigned int x, y, z;
};
#endif
typedef struct dim3 dim3;

#endif
