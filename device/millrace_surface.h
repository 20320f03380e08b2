/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes of surface objects. x counts bytes. Each read has two forms: surf2Dread<float4>(surface, x, y), and surf2Dread(&value, surface, x, y).
 *
 * The instruction depends on the value's size only: 1 to 8 bytes in one register, 16 in two. */
#ifndef MILLRACE_SURFACE_H
#define MILLRACE_SURFACE_H

/* `geometry` and `place` of the instruction; operands of a load begin with the value, those of a store end with it. */
#define MR_SURFACE_LOAD(geometry, outside, place, ...)                                                                                  \
    if constexpr (sizeof(T) == 1)                                                                                                       \
        __asm__ volatile("suld.b." geometry ".b8." outside " %0, [%2, " place "];" : "=h"(small), "=r"(unused) : "l"(surface), __VA_ARGS__ : "memory"); \
    else if constexpr (sizeof(T) == 2)                                                                                                  \
        __asm__ volatile("suld.b." geometry ".b16." outside " %0, [%2, " place "];" : "=h"(small), "=r"(unused) : "l"(surface), __VA_ARGS__ : "memory"); \
    else if constexpr (sizeof(T) == 4)                                                                                                  \
        __asm__ volatile("suld.b." geometry ".b32." outside " %0, [%2, " place "];" : "=r"(word), "=r"(unused) : "l"(surface), __VA_ARGS__ : "memory"); \
    else if constexpr (sizeof(T) == 8)                                                                                                  \
        __asm__ volatile("suld.b." geometry ".b64." outside " %0, [%2, " place "];" : "=l"(wide[0]), "=r"(unused) : "l"(surface), __VA_ARGS__ : "memory"); \
    else                                                                                                                                \
        __asm__ volatile("suld.b." geometry ".v2.b64." outside " {%0, %1}, [%2, " place "];" : "=l"(wide[0]), "=l"(wide[1]) : "l"(surface), __VA_ARGS__ : "memory");

#define MR_SURFACE_STORE(geometry, outside, place, ...)                                                                                 \
    if constexpr (sizeof(T) == 1)                                                                                                       \
        __asm__ volatile("sust.b." geometry ".b8." outside " [%2, " place "], %0;" : : "h"(small), "r"(0), "l"(surface), __VA_ARGS__ : "memory"); \
    else if constexpr (sizeof(T) == 2)                                                                                                  \
        __asm__ volatile("sust.b." geometry ".b16." outside " [%2, " place "], %0;" : : "h"(small), "r"(0), "l"(surface), __VA_ARGS__ : "memory"); \
    else if constexpr (sizeof(T) == 4)                                                                                                  \
        __asm__ volatile("sust.b." geometry ".b32." outside " [%2, " place "], %0;" : : "r"(word), "r"(0), "l"(surface), __VA_ARGS__ : "memory"); \
    else if constexpr (sizeof(T) == 8)                                                                                                  \
        __asm__ volatile("sust.b." geometry ".b64." outside " [%2, " place "], %0;" : : "l"(wide[0]), "r"(0), "l"(surface), __VA_ARGS__ : "memory"); \
    else                                                                                                                                \
        __asm__ volatile("sust.b." geometry ".v2.b64." outside " [%2, " place "], {%0, %1};" : : "l"(wide[0]), "l"(wide[1]), "l"(surface), __VA_ARGS__ : "memory");

/* An access outside does what `boundaryMode` says, which is nearly always known when the source is compiled. */
#define MR_SURFACE_MODES(which, geometry, place, ...)                     \
    if (boundaryMode == cudaBoundaryModeZero) {                           \
        which(geometry, "zero", place, __VA_ARGS__)                       \
    } else if (boundaryMode == cudaBoundaryModeClamp) {                   \
        which(geometry, "clamp", place, __VA_ARGS__)                      \
    } else {                                                              \
        which(geometry, "trap", place, __VA_ARGS__)                       \
    }

#define MR_SURFACE_VALUE                                                                                                                \
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "surfaces hold values of 1 to 16 bytes"); \
    unsigned short small = 0;                                                                                                           \
    unsigned int word = 0;                                                                                                              \
    unsigned long long wide[2] = {0, 0};                                                                                                \
    (void)small, (void)word, (void)wide;

/* The three functions of a geometry, `name`read twice and `name`write. `parameters` stand behind the surface, and are handed on as `arguments`. */
#define MR_SURFACE(name, geometry, place, parameters, arguments, ...)                                                                   \
    template <class T> MR_DEVICE T name##read(cudaSurfaceObject_t surface, MR_LIST parameters, cudaSurfaceBoundaryMode boundaryMode = cudaBoundaryModeTrap) \
    {                                                                                                                                   \
        MR_SURFACE_VALUE                                                                                                                \
        unsigned int unused;                                                                                                            \
        T value;                                                                                                                        \
        (void)unused;                                                                                                                   \
        MR_SURFACE_MODES(MR_SURFACE_LOAD, geometry, place, __VA_ARGS__)                                                                 \
        if constexpr (sizeof(T) <= 2)                                                                                                   \
            __builtin_memcpy(&value, &small, sizeof(T));                                                                                \
        else if constexpr (sizeof(T) == 4)                                                                                              \
            __builtin_memcpy(&value, &word, sizeof(T));                                                                                 \
        else                                                                                                                            \
            __builtin_memcpy(&value, wide, sizeof(T));                                                                                  \
        return value;                                                                                                                   \
    }                                                                                                                                   \
    template <class T> MR_DEVICE void name##read(T *result, cudaSurfaceObject_t surface, MR_LIST parameters,                            \
                                                 cudaSurfaceBoundaryMode boundaryMode = cudaBoundaryModeTrap)                           \
    {                                                                                                                                   \
        *result = name##read<T>(surface, MR_LIST arguments, boundaryMode);                                                              \
    }                                                                                                                                   \
    template <class T> MR_DEVICE void name##write(T value, cudaSurfaceObject_t surface, MR_LIST parameters,                             \
                                                  cudaSurfaceBoundaryMode boundaryMode = cudaBoundaryModeTrap)                          \
    {                                                                                                                                   \
        MR_SURFACE_VALUE                                                                                                                \
        if constexpr (sizeof(T) <= 2)                                                                                                   \
            __builtin_memcpy(&small, &value, sizeof(T));                                                                                \
        else if constexpr (sizeof(T) == 4)                                                                                              \
            __builtin_memcpy(&word, &value, sizeof(T));                                                                                 \
        else                                                                                                                            \
            __builtin_memcpy(wide, &value, sizeof(T));                                                                                  \
        MR_SURFACE_MODES(MR_SURFACE_STORE, geometry, place, __VA_ARGS__)                                                                \
    }
#define MR_LIST(...) __VA_ARGS__

MR_SURFACE(surf1D, "1d", "{%3}", (int x), (x), "r"(x))
MR_SURFACE(surf2D, "2d", "{%3, %4}", (int x, int y), (x, y), "r"(x), "r"(y))
MR_SURFACE(surf3D, "3d", "{%3, %4, %5, %5}", (int x, int y, int z), (x, y, z), "r"(x), "r"(y), "r"(z))
MR_SURFACE(surf1DLayered, "a1d", "{%3, %4}", (int x, int layer), (x, layer), "r"(layer), "r"(x))
MR_SURFACE(surf2DLayered, "a2d", "{%3, %4, %5, %5}", (int x, int y, int layer), (x, y, layer), "r"(layer), "r"(x), "r"(y))
MR_SURFACE(surfCubemap, "a2d", "{%3, %4, %5, %5}", (int x, int y, int face), (x, y, face), "r"(face), "r"(x), "r"(y))
MR_SURFACE(surfCubemapLayered, "a2d", "{%3, %4, %5, %5}", (int x, int y, int layerFace), (x, y, layerFace), "r"(layerFace), "r"(x), "r"(y))

#undef MR_SURFACE
#undef MR_SURFACE_LOAD
#undef MR_SURFACE_STORE
#undef MR_SURFACE_MODES
#undef MR_SURFACE_VALUE
#undef MR_LIST

#endif
