/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of texture objects: tex1Dfetch, tex1D to tex3D, layers, cubemaps, gathers, levels of detail.
 *
 * Each function has two forms: tex2D<float4>(texture, x, y), and tex2D(&value, texture, x, y). An instruction always gives four channels of 32 bits, signed,
 * unsigned or floating; a type takes as many of them as it has members. */
#ifndef MILLRACE_TEXTURE_H
#define MILLRACE_TEXTURE_H

struct mr_texel_words { unsigned int x, y, z, w; };

template <class T> MR_DEVICE T mr_channel(unsigned int word)
{
    if constexpr (__is_same(T, float))
        return __builtin_bit_cast(float, word);
    else
        return (T)word;
}

/* How a type is made of channels: 's', 'u' or 'f', and how many. */
template <class T> struct mr_texel { static constexpr char kind = 0; };
#define MR_TEXEL_SCALAR(T, letter)                                                                              \
    template <> struct mr_texel<T> {                                                                            \
        static constexpr char kind = letter;                                                                    \
        static __attribute__((device)) inline T make(const mr_texel_words &w) { return mr_channel<T>(w.x); }    \
    };
#define MR_TEXEL_VECTORS(name, T, letter)                                                                       \
    template <> struct mr_texel<name##1> {                                                                      \
        static constexpr char kind = letter;                                                                    \
        static __attribute__((device)) inline name##1 make(const mr_texel_words &w) { return {mr_channel<T>(w.x)}; } \
    };                                                                                                          \
    template <> struct mr_texel<name##2> {                                                                      \
        static constexpr char kind = letter;                                                                    \
        static __attribute__((device)) inline name##2 make(const mr_texel_words &w) { return {mr_channel<T>(w.x), mr_channel<T>(w.y)}; } \
    };                                                                                                          \
    template <> struct mr_texel<name##4> {                                                                      \
        static constexpr char kind = letter;                                                                    \
        static __attribute__((device)) inline name##4 make(const mr_texel_words &w)                             \
        {                                                                                                       \
            return {mr_channel<T>(w.x), mr_channel<T>(w.y), mr_channel<T>(w.z), mr_channel<T>(w.w)};            \
        }                                                                                                       \
    };
MR_TEXEL_SCALAR(char, 's')
MR_TEXEL_SCALAR(signed char, 's')
MR_TEXEL_SCALAR(unsigned char, 'u')
MR_TEXEL_SCALAR(short, 's')
MR_TEXEL_SCALAR(unsigned short, 'u')
MR_TEXEL_SCALAR(int, 's')
MR_TEXEL_SCALAR(unsigned int, 'u')
MR_TEXEL_SCALAR(float, 'f')
MR_TEXEL_VECTORS(char, signed char, 's')
MR_TEXEL_VECTORS(uchar, unsigned char, 'u')
MR_TEXEL_VECTORS(short, short, 's')
MR_TEXEL_VECTORS(ushort, unsigned short, 'u')
MR_TEXEL_VECTORS(int, int, 's')
MR_TEXEL_VECTORS(uint, unsigned int, 'u')
MR_TEXEL_VECTORS(float, float, 'f')
#undef MR_TEXEL_SCALAR
#undef MR_TEXEL_VECTORS

#define MR_TEXEL_OUT "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
/* The function `name`: the instruction `first`, its result's type, and the rest of it; operands %0 to %3 are the result and %4 the texture. What follows are the other operands. */
#define MR_TEXTURE(name, parameters, first, rest, ...)                                                                       \
    template <class T> MR_DEVICE T name parameters                                                                           \
    {                                                                                                                        \
        static_assert(mr_texel<T>::kind != 0, "a texture is read as numbers of at most 32 bits, or vectors of 1, 2 or 4");   \
        mr_texel_words w;                                                                                                    \
        if constexpr (mr_texel<T>::kind == 'f')                                                                              \
            __asm__(first ".v4.f32" rest : MR_TEXEL_OUT : "l"(texture), __VA_ARGS__);                                        \
        else if constexpr (mr_texel<T>::kind == 's')                                                                         \
            __asm__(first ".v4.s32" rest : MR_TEXEL_OUT : "l"(texture), __VA_ARGS__);                                        \
        else                                                                                                                 \
            __asm__(first ".v4.u32" rest : MR_TEXEL_OUT : "l"(texture), __VA_ARGS__);                                        \
        return mr_texel<T>::make(w);                                                                                         \
    }
/* The same function's other form. */
#define MR_TEXTURE_TO(name, parameters, arguments)                                                                           \
    template <class T> MR_DEVICE void name parameters { *result = name<T> arguments; }

#define MR_T cudaTextureObject_t texture
#define MR_R T *result, cudaTextureObject_t texture
#define MR_4 "{%0, %1, %2, %3}, "

MR_TEXTURE(tex1Dfetch, (MR_T, int x), "tex.1d", ".s32 " MR_4 "[%4, {%5}];", "r"(x))
MR_TEXTURE_TO(tex1Dfetch, (MR_R, int x), (texture, x))
MR_TEXTURE(tex1D, (MR_T, float x), "tex.1d", ".f32 " MR_4 "[%4, {%5}];", "f"(x))
MR_TEXTURE_TO(tex1D, (MR_R, float x), (texture, x))
MR_TEXTURE(tex2D, (MR_T, float x, float y), "tex.2d", ".f32 " MR_4 "[%4, {%5, %6}];", "f"(x), "f"(y))
MR_TEXTURE_TO(tex2D, (MR_R, float x, float y), (texture, x, y))
MR_TEXTURE(tex3D, (MR_T, float x, float y, float z), "tex.3d", ".f32 " MR_4 "[%4, {%5, %6, %7, %7}];", "f"(x), "f"(y), "f"(z))
MR_TEXTURE_TO(tex3D, (MR_R, float x, float y, float z), (texture, x, y, z))
MR_TEXTURE(tex1DLayered, (MR_T, float x, int layer), "tex.a1d", ".f32 " MR_4 "[%4, {%5, %6}];", "r"(layer), "f"(x))
MR_TEXTURE_TO(tex1DLayered, (MR_R, float x, int layer), (texture, x, layer))
MR_TEXTURE(tex2DLayered, (MR_T, float x, float y, int layer), "tex.a2d", ".f32 " MR_4 "[%4, {%5, %6, %7, %7}];", "r"(layer), "f"(x), "f"(y))
MR_TEXTURE_TO(tex2DLayered, (MR_R, float x, float y, int layer), (texture, x, y, layer))
MR_TEXTURE(texCubemap, (MR_T, float x, float y, float z), "tex.cube", ".f32 " MR_4 "[%4, {%5, %6, %7, %7}];", "f"(x), "f"(y), "f"(z))
MR_TEXTURE_TO(texCubemap, (MR_R, float x, float y, float z), (texture, x, y, z))
MR_TEXTURE(texCubemapLayered, (MR_T, float x, float y, float z, int layer), "tex.acube", ".f32 " MR_4 "[%4, {%5, %6, %7, %8}];",
           "r"(layer), "f"(x), "f"(y), "f"(z))
MR_TEXTURE_TO(texCubemapLayered, (MR_R, float x, float y, float z, int layer), (texture, x, y, z, layer))

/* With a level of detail. */
MR_TEXTURE(tex1DLod, (MR_T, float x, float level), "tex.level.1d", ".f32 " MR_4 "[%4, {%5}], %6;", "f"(x), "f"(level))
MR_TEXTURE_TO(tex1DLod, (MR_R, float x, float level), (texture, x, level))
MR_TEXTURE(tex2DLod, (MR_T, float x, float y, float level), "tex.level.2d", ".f32 " MR_4 "[%4, {%5, %6}], %7;", "f"(x), "f"(y), "f"(level))
MR_TEXTURE_TO(tex2DLod, (MR_R, float x, float y, float level), (texture, x, y, level))
MR_TEXTURE(tex3DLod, (MR_T, float x, float y, float z, float level), "tex.level.3d", ".f32 " MR_4 "[%4, {%5, %6, %7, %7}], %8;",
           "f"(x), "f"(y), "f"(z), "f"(level))
MR_TEXTURE_TO(tex3DLod, (MR_R, float x, float y, float z, float level), (texture, x, y, z, level))
MR_TEXTURE(tex1DLayeredLod, (MR_T, float x, int layer, float level), "tex.level.a1d", ".f32 " MR_4 "[%4, {%5, %6}], %7;",
           "r"(layer), "f"(x), "f"(level))
MR_TEXTURE_TO(tex1DLayeredLod, (MR_R, float x, int layer, float level), (texture, x, layer, level))
MR_TEXTURE(tex2DLayeredLod, (MR_T, float x, float y, int layer, float level), "tex.level.a2d",
           ".f32 " MR_4 "[%4, {%5, %6, %7, %7}], %8;", "r"(layer), "f"(x), "f"(y), "f"(level))
MR_TEXTURE_TO(tex2DLayeredLod, (MR_R, float x, float y, int layer, float level), (texture, x, y, layer, level))
MR_TEXTURE(texCubemapLod, (MR_T, float x, float y, float z, float level), "tex.level.cube", ".f32 " MR_4 "[%4, {%5, %6, %7, %7}], %8;",
           "f"(x), "f"(y), "f"(z), "f"(level))
MR_TEXTURE_TO(texCubemapLod, (MR_R, float x, float y, float z, float level), (texture, x, y, z, level))
MR_TEXTURE(texCubemapLayeredLod, (MR_T, float x, float y, float z, int layer, float level), "tex.level.acube",
           ".f32 " MR_4 "[%4, {%5, %6, %7, %8}], %9;", "r"(layer), "f"(x), "f"(y), "f"(z), "f"(level))
MR_TEXTURE_TO(texCubemapLayeredLod, (MR_R, float x, float y, float z, int layer, float level), (texture, x, y, z, layer, level))

/* With gradients, which choose the level. */
MR_TEXTURE(tex1DGrad, (MR_T, float x, float dPdx, float dPdy), "tex.grad.1d", ".f32 " MR_4 "[%4, {%5}], {%6}, {%7};",
           "f"(x), "f"(dPdx), "f"(dPdy))
MR_TEXTURE_TO(tex1DGrad, (MR_R, float x, float dPdx, float dPdy), (texture, x, dPdx, dPdy))
MR_TEXTURE(tex2DGrad, (MR_T, float x, float y, float2 dPdx, float2 dPdy), "tex.grad.2d",
           ".f32 " MR_4 "[%4, {%5, %6}], {%7, %8}, {%9, %10};", "f"(x), "f"(y), "f"(dPdx.x), "f"(dPdx.y), "f"(dPdy.x), "f"(dPdy.y))
MR_TEXTURE_TO(tex2DGrad, (MR_R, float x, float y, float2 dPdx, float2 dPdy), (texture, x, y, dPdx, dPdy))
MR_TEXTURE(tex3DGrad, (MR_T, float x, float y, float z, float4 dPdx, float4 dPdy), "tex.grad.3d",
           ".f32 " MR_4 "[%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};", "f"(x), "f"(y), "f"(z), "f"(dPdx.x), "f"(dPdx.y), "f"(dPdx.z),
           "f"(dPdy.x), "f"(dPdy.y), "f"(dPdy.z))
MR_TEXTURE_TO(tex3DGrad, (MR_R, float x, float y, float z, float4 dPdx, float4 dPdy), (texture, x, y, z, dPdx, dPdy))
MR_TEXTURE(tex1DLayeredGrad, (MR_T, float x, int layer, float dPdx, float dPdy), "tex.grad.a1d",
           ".f32 " MR_4 "[%4, {%5, %6}], {%7}, {%8};", "r"(layer), "f"(x), "f"(dPdx), "f"(dPdy))
MR_TEXTURE_TO(tex1DLayeredGrad, (MR_R, float x, int layer, float dPdx, float dPdy), (texture, x, layer, dPdx, dPdy))
MR_TEXTURE(tex2DLayeredGrad, (MR_T, float x, float y, int layer, float2 dPdx, float2 dPdy), "tex.grad.a2d",
           ".f32 " MR_4 "[%4, {%5, %6, %7, %7}], {%8, %9}, {%10, %11};", "r"(layer), "f"(x), "f"(y), "f"(dPdx.x), "f"(dPdx.y), "f"(dPdy.x), "f"(dPdy.y))
MR_TEXTURE_TO(tex2DLayeredGrad, (MR_R, float x, float y, int layer, float2 dPdx, float2 dPdy), (texture, x, y, layer, dPdx, dPdy))
MR_TEXTURE(texCubemapGrad, (MR_T, float x, float y, float z, float4 dPdx, float4 dPdy), "tex.grad.cube",
           ".f32 " MR_4 "[%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};", "f"(x), "f"(y), "f"(z), "f"(dPdx.x), "f"(dPdx.y), "f"(dPdx.z),
           "f"(dPdy.x), "f"(dPdy.y), "f"(dPdy.z))
MR_TEXTURE_TO(texCubemapGrad, (MR_R, float x, float y, float z, float4 dPdx, float4 dPdy), (texture, x, y, z, dPdx, dPdy))
MR_TEXTURE(texCubemapLayeredGrad, (MR_T, float x, float y, float z, int layer, float4 dPdx, float4 dPdy), "tex.grad.acube",
           ".f32 " MR_4 "[%4, {%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14};", "r"(layer), "f"(x), "f"(y), "f"(z), "f"(dPdx.x), "f"(dPdx.y),
           "f"(dPdx.z), "f"(dPdy.x), "f"(dPdy.y), "f"(dPdy.z))
MR_TEXTURE_TO(texCubemapLayeredGrad, (MR_R, float x, float y, float z, int layer, float4 dPdx, float4 dPdy), (texture, x, y, z, layer, dPdx, dPdy))

/* One channel of four texels. */
MR_TEXTURE(mr_gather_r, (MR_T, float x, float y), "tld4.r.2d", ".f32 " MR_4 "[%4, {%5, %6}];", "f"(x), "f"(y))
MR_TEXTURE(mr_gather_g, (MR_T, float x, float y), "tld4.g.2d", ".f32 " MR_4 "[%4, {%5, %6}];", "f"(x), "f"(y))
MR_TEXTURE(mr_gather_b, (MR_T, float x, float y), "tld4.b.2d", ".f32 " MR_4 "[%4, {%5, %6}];", "f"(x), "f"(y))
MR_TEXTURE(mr_gather_a, (MR_T, float x, float y), "tld4.a.2d", ".f32 " MR_4 "[%4, {%5, %6}];", "f"(x), "f"(y))
template <class T> MR_DEVICE T tex2Dgather(cudaTextureObject_t texture, float x, float y, int comp = 0)
{
    return comp == 1 ? mr_gather_g<T>(texture, x, y) : comp == 2 ? mr_gather_b<T>(texture, x, y) : comp == 3 ? mr_gather_a<T>(texture, x, y)
                                                                                                            : mr_gather_r<T>(texture, x, y);
}
MR_TEXTURE_TO(tex2Dgather, (MR_R, float x, float y, int comp = 0), (texture, x, y, comp))

#undef MR_TEXTURE
#undef MR_TEXTURE_TO
#undef MR_TEXEL_OUT
#undef MR_T
#undef MR_R
#undef MR_4

#endif
