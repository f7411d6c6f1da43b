/* SPDX-License-Identifier: Apache-2.0 */
/* Texture fetches from texture references and texture objects by PTX instructions. clang converts a texture reference
 * to its handle. A fetch of an unsupported kind calls an undefined function, so the kernel is refused with that
 * function's name. */
#ifndef LANEWISE_TEXTURE_H
#define LANEWISE_TEXTURE_H

/* Coordinates of a fetch from a layer, and of one from a cube. */
struct lw_layer { int number; };
struct lw_cube {};

/* Four registers of float, int or unsigned. H is a texture reference or object. */
template <class C> struct lw_registers;
#define LW_REGISTERS(C, TYPE, LETTER)                                                             \
    template <> struct lw_registers<C> {                                                          \
        C r[4];                                                                                   \
        template <class H> LW_FN void fetch(lw_registers &f, H h, int x)                          \
        {                                                                                         \
            asm("tex.1d.v4." TYPE ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                            \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "r"(x));                                                                \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, float x)                        \
        {                                                                                         \
            asm("tex.1d.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5}];"                            \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "f"(x));                                                                \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, float x, float y)               \
        {                                                                                         \
            asm("tex.2d.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                        \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "f"(x), "f"(y));                                                        \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, float x, float y, float z)      \
        {                                                                                         \
            asm("tex.3d.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "f"(x), "f"(y), "f"(z));                                                \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, lw_layer layer, float x)        \
        {                                                                                         \
            asm("tex.a1d.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                       \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "r"(layer.number), "f"(x));                                             \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, lw_layer layer, float x, float y)\
        {                                                                                         \
            asm("tex.a2d.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"               \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "r"(layer.number), "f"(x), "f"(y));                                     \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, lw_cube, float x, float y, float z)\
        {                                                                                         \
            asm("tex.cube.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"              \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "f"(x), "f"(y), "f"(z));                                                \
        }                                                                                         \
        template <class H> LW_FN void fetch(lw_registers &f, H h, lw_cube, lw_layer layer, float x, float y, float z)\
        {                                                                                         \
            asm("tex.acube.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %8}];"             \
                : LETTER(f.r[0]), LETTER(f.r[1]), LETTER(f.r[2]), LETTER(f.r[3])                  \
                : "l"(h), "r"(layer.number), "f"(x), "f"(y), "f"(z));                             \
        }                                                                                         \
    };
LW_REGISTERS(float, "f32", "=f")
LW_REGISTERS(int, "s32", "=r")
LW_REGISTERS(unsigned int, "u32", "=r")
#undef LW_REGISTERS

/* Conversion of a texel in registers to type T. With cudaReadModeElementType the elements have the element type of T. With
 * cudaReadModeNormalizedFloat they are floats from 0 to 1, or from -1 to 1 if the element type is signed. */
template <class T, enum cudaTextureReadMode M = cudaReadModeElementType> struct lw_texel;
#define LW_TEXEL(T, MODE, RESULT, C, PARTS)                                                       \
    template <> struct lw_texel<T, MODE> {                                                        \
        typedef RESULT type;                                                                      \
        template <class... A> LW_FN RESULT get(A... a)                                            \
        {                                                                                         \
            lw_registers<C> f;                                                                    \
            RESULT t;                                                                             \
            lw_registers<C>::fetch(f, a...);                                                      \
            PARTS;                                                                                \
            return t;                                                                             \
        }                                                                                         \
    };
#define LW_PART0(S) t = (S)f.r[0]
#define LW_PART1(S) t.x = (S)f.r[0]
#define LW_PART2(S) LW_PART1(S), t.y = (S)f.r[1]
#define LW_PART4(S) LW_PART2(S), t.z = (S)f.r[2], t.w = (S)f.r[3]
#define LW_TEXELS(S, V, C)                                                                        \
    LW_TEXEL(S, cudaReadModeElementType, S, C, LW_PART0(S))                                       \
    LW_TEXEL(V##1, cudaReadModeElementType, V##1, C, LW_PART1(S))                                 \
    LW_TEXEL(V##2, cudaReadModeElementType, V##2, C, LW_PART2(S))                                 \
    LW_TEXEL(V##4, cudaReadModeElementType, V##4, C, LW_PART4(S))
#define LW_TEXELS_OF_FLOATS(S, V)                                                                 \
    LW_TEXEL(S, cudaReadModeNormalizedFloat, float, float, LW_PART0(float))                       \
    LW_TEXEL(V##1, cudaReadModeNormalizedFloat, float1, float, LW_PART1(float))                   \
    LW_TEXEL(V##2, cudaReadModeNormalizedFloat, float2, float, LW_PART2(float))                   \
    LW_TEXEL(V##4, cudaReadModeNormalizedFloat, float4, float, LW_PART4(float))
LW_TEXELS(float, float, float)
LW_TEXELS(int, int, int)
LW_TEXELS(unsigned int, uint, unsigned int)
LW_TEXELS(short, short, int)
LW_TEXELS(unsigned short, ushort, unsigned int)
LW_TEXELS(signed char, char, int)
LW_TEXELS(unsigned char, uchar, unsigned int)
LW_TEXEL(char, cudaReadModeElementType, char, int, LW_PART0(char))
LW_TEXELS_OF_FLOATS(short, short)
LW_TEXELS_OF_FLOATS(unsigned short, ushort)
LW_TEXELS_OF_FLOATS(signed char, char)
LW_TEXELS_OF_FLOATS(unsigned char, uchar)
LW_TEXEL(char, cudaReadModeNormalizedFloat, float, float, LW_PART0(float))
#undef LW_TEXELS_OF_FLOATS
#undef LW_TEXELS
#undef LW_TEXEL
#undef LW_PART0
#undef LW_PART1
#undef LW_PART2
#undef LW_PART4

#define LW_FETCH(NAME, COORDINATES, NAMES)                                                        \
    template <class T, int D, enum cudaTextureReadMode M>                                         \
    LW_FN typename lw_texel<T, M>::type NAME(texture<T, D, M> t, LW_REST COORDINATES)             \
    {                                                                                             \
        return lw_texel<T, M>::get(t, LW_REST NAMES);                                             \
    }                                                                                             \
    template <class T> LW_FN T NAME(cudaTextureObject_t t, LW_REST COORDINATES)                   \
    {                                                                                             \
        return lw_texel<T>::get(t, LW_REST NAMES);                                                \
    }                                                                                             \
    template <class T> LW_FN void NAME(T *to, cudaTextureObject_t t, LW_REST COORDINATES)         \
    {                                                                                             \
        *to = lw_texel<T>::get(t, LW_REST NAMES);                                                 \
    }
#define LW_REST(...) __VA_ARGS__
LW_FETCH(tex1Dfetch, (int x), (x))
LW_FETCH(tex1D, (float x), (x))
LW_FETCH(tex2D, (float x, float y), (x, y))
LW_FETCH(tex3D, (float x, float y, float z), (x, y, z))
LW_FETCH(tex1DLayered, (float x, int layer), (lw_layer{layer}, x))
LW_FETCH(tex2DLayered, (float x, float y, int layer), (lw_layer{layer}, x, y))
LW_FETCH(texCubemap, (float x, float y, float z), (lw_cube(), x, y, z))
LW_FETCH(texCubemapLayered, (float x, float y, float z, int layer), (lw_cube(), lw_layer{layer}, x, y, z))
/* A texture has one mipmap level, so a level or derivatives do not change the result. */
LW_FETCH(tex1DLod, (float x, float), (x))
LW_FETCH(tex2DLod, (float x, float y, float), (x, y))
LW_FETCH(tex3DLod, (float x, float y, float z, float), (x, y, z))
LW_FETCH(tex1DLayeredLod, (float x, int layer, float), (lw_layer{layer}, x))
LW_FETCH(tex2DLayeredLod, (float x, float y, int layer, float), (lw_layer{layer}, x, y))
LW_FETCH(texCubemapLod, (float x, float y, float z, float), (lw_cube(), x, y, z))
LW_FETCH(texCubemapLayeredLod, (float x, float y, float z, int layer, float), (lw_cube(), lw_layer{layer}, x, y, z))
LW_FETCH(tex1DGrad, (float x, float, float), (x))
LW_FETCH(tex2DGrad, (float x, float y, float2, float2), (x, y))
LW_FETCH(tex3DGrad, (float x, float y, float z, float4, float4), (x, y, z))
LW_FETCH(tex1DLayeredGrad, (float x, int layer, float, float), (lw_layer{layer}, x))
LW_FETCH(tex2DLayeredGrad, (float x, float y, int layer, float2, float2), (lw_layer{layer}, x, y))
LW_FETCH(texCubemapGrad, (float x, float y, float z, float4, float4), (lw_cube(), x, y, z))
LW_FETCH(texCubemapLayeredGrad, (float x, float y, float z, int layer, float4, float4), (lw_cube(), lw_layer{layer}, x, y, z))
#undef LW_FETCH

/* Fetches of unsupported kinds: NAME<T>(object, ...), NAME(&t, object, ...), NAME(t, object, ...), also of texture
 * references. */
#define LW_MISSING(NAME)                                                                          \
    extern "C" __device__ void NAME##_is_not_supported(void);                                     \
    template <class T, class... A> LW_FN T NAME(cudaTextureObject_t, A...)                        \
    {                                                                                             \
        NAME##_is_not_supported();                                                                \
        return T();                                                                               \
    }                                                                                             \
    template <class T, class... A> LW_FN void NAME(T *, cudaTextureObject_t, A...)                \
    {                                                                                             \
        NAME##_is_not_supported();                                                                \
    }                                                                                             \
    template <class T, int D, enum cudaTextureReadMode M, class... A>                             \
    LW_FN typename lw_texel<T, M>::type NAME(texture<T, D, M>, A...)                              \
    {                                                                                             \
        NAME##_is_not_supported();                                                                \
        return typename lw_texel<T, M>::type();                                                   \
    }
LW_MISSING(tex2Dgather)
#undef LW_MISSING

/* Surfaces. The object is the address of a descriptor. The coordinate x counts bytes, the others count rows, planes, layers or
 * faces. An access outside the surface is a trap, or reads zeros and writes nothing, or accesses the nearest element. */
struct lw_surface {
    unsigned long long address;
    unsigned int width, height, pitch;
    unsigned char bits, components, kind, flags, edge[2];
    unsigned short depth;
    unsigned int mark;
};
/** Moves a coordinate into the range from 0 to @last. The range is empty if @last is negative: the element is wider than a row.
 *  Returns false if the access must not be executed. */
LW_FN bool lw_surface_index(int &at, int last, enum cudaSurfaceBoundaryMode mode)
{
    if (at >= 0 && at <= last)
        return true;
    if (mode == cudaBoundaryModeTrap)
        asm volatile("trap 2;"); /* ISA_TRAP_OUTSIDE_SURFACE */
    at = at < 0 ? 0 : last;
    return mode == cudaBoundaryModeClamp && last >= 0;
}
template <class T> LW_FN T *lw_surface_at(cudaSurfaceObject_t object, int x, int y, int z, enum cudaSurfaceBoundaryMode mode)
{
    const lw_surface *s = (const lw_surface *)object;
    const int rows = s->height != 0 ? (int)s->height : 1, planes = s->depth != 0 ? s->depth : 1;
    bool inside = lw_surface_index(x, (int)s->width * (s->bits / 8 * s->components) - (int)sizeof(T), mode);

    inside = lw_surface_index(y, rows - 1, mode) && inside;
    inside = lw_surface_index(z, planes - 1, mode) && inside;
    return inside ? (T *)(s->address + ((unsigned long long)z * rows + y) * s->pitch + x) : nullptr;
}
#define LW_SURFACE(NAME, COORDINATES, NAMES)                                                      \
    template <class T>                                                                            \
    LW_FN T NAME##read(cudaSurfaceObject_t s, LW_REST COORDINATES,                                \
                       enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                  \
    {                                                                                             \
        const T *from = lw_surface_at<T>(s, LW_REST NAMES, mode);                                 \
                                                                                                  \
        return from != nullptr ? *from : T();                                                     \
    }                                                                                             \
    template <class T>                                                                            \
    LW_FN void NAME##read(T *to, cudaSurfaceObject_t s, LW_REST COORDINATES,                      \
                          enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)               \
    {                                                                                             \
        const T *from = lw_surface_at<T>(s, LW_REST NAMES, mode);                                 \
                                                                                                  \
        *to = from != nullptr ? *from : T();                                                      \
    }                                                                                             \
    template <class T>                                                                            \
    LW_FN void NAME##write(T value, cudaSurfaceObject_t s, LW_REST COORDINATES,                   \
                           enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)              \
    {                                                                                             \
        T *to = lw_surface_at<T>(s, LW_REST NAMES, mode);                                         \
                                                                                                  \
        if (to != nullptr)                                                                        \
            *to = value;                                                                          \
    }
LW_SURFACE(surf1D, (int x), (x, 0, 0))
LW_SURFACE(surf2D, (int x, int y), (x, y, 0))
LW_SURFACE(surf3D, (int x, int y, int z), (x, y, z))
LW_SURFACE(surf1DLayered, (int x, int layer), (x, 0, layer))
LW_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer))
LW_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face))
LW_SURFACE(surfCubemapLayered, (int x, int y, int face), (x, y, face))
#undef LW_SURFACE
#undef LW_REST

/* Loads through the texture path: ld.global.nc; types without such a PTX load use a plain load. */
template <class T> LW_FN T __ldg(const T *p) { return *p; }
#define LW_LDG(T, B) LW_FN T __ldg(const T *p) { return __nvvm_ldg_##B(p); }
LW_LDG(char, c) LW_LDG(unsigned char, uc) LW_LDG(short, s) LW_LDG(unsigned short, us)
LW_LDG(int, i) LW_LDG(unsigned int, ui) LW_LDG(long, l) LW_LDG(unsigned long, ul)
LW_LDG(long long, ll) LW_LDG(unsigned long long, ull) LW_LDG(float, f) LW_LDG(double, d)
#undef LW_LDG
#define LW_LDG_PARTS2 r.x = v[0], r.y = v[1]
#define LW_LDG_PARTS4 LW_LDG_PARTS2, r.z = v[2], r.w = v[3]
#define LW_LDG(V, T, N, B)                                                                        \
    LW_FN V##N __ldg(const V##N *p)                                                               \
    {                                                                                             \
        typedef T lw_vector __attribute__((ext_vector_type(N)));                                  \
        lw_vector v = __nvvm_ldg_##B##N((const lw_vector *)p);                                    \
        V##N r;                                                                                   \
        LW_LDG_PARTS##N;                                                                          \
        return r;                                                                                 \
    }
#define LW_LDG24(V, T, B) LW_LDG(V, T, 2, B) LW_LDG(V, T, 4, B)
LW_LDG24(char, char, c) LW_LDG24(uchar, unsigned char, uc) LW_LDG24(short, short, s)
LW_LDG24(ushort, unsigned short, us) LW_LDG24(int, int, i) LW_LDG24(uint, unsigned int, ui)
LW_LDG(longlong, long long, 2, ll) LW_LDG(ulonglong, unsigned long long, 2, ull)
LW_LDG24(float, float, f) LW_LDG(double, double, 2, d)
#undef LW_LDG24
#undef LW_LDG
#undef LW_LDG_PARTS2
#undef LW_LDG_PARTS4

#endif
