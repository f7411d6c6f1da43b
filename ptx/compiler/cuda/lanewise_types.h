/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA C++ for clang without an SDK: keywords, vector types, dim3. Files of C and C++ without kernels include this header, too. */
#ifndef LANEWISE_TYPES_H
#define LANEWISE_TYPES_H

#define __HOST_DEFINES_H__ /* sources that find this macro do not redefine the following keywords */
#ifdef __CUDA__
/* __NVCC__, by which sources recognise nvcc, is not defined. */
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_ARCH_LIST__ 750

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#if defined __CUDA_ARCH__ || defined LANEWISE_EXPORTS
#define __global__ __attribute__((global))
#else /* As with nvcc 13, shared libraries do not export kernels: a kernel of the same name in the program would replace theirs. If the
       * source gives a kernel another visibility, ptx_program.c finds the error and defines LANEWISE_EXPORTS. */
#define __global__ __attribute__((global, visibility("hidden")))
#endif
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device))
#elif defined LANEWISE_MANAGED
#define __managed__ __attribute__((managed))
#else /* clang has managed variables only in another mode: ptx_program.c finds this error, and compiles the host code in that mode */
#define __managed__ _Pragma("GCC error \"lanewise: managed variable\"")
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else /* source without kernels, which calls the runtime */
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define CUDARTAPI
#define CUDART_CB
#if __clang_major__ < 15
#define __noinline__ __attribute__((noinline)) /* clang 15 and later have the keyword __noinline__ */
#endif

/* Functions of these headers are always inlined and have no line information, so that a debugger that steps over a line
 * with sinf(x) stays in the kernel's source. */
#define LW_FN static __inline__ __attribute__((always_inline, nodebug)) __device__
/* Begins a function in which clang contracts no operations to fma. */
#define LW_EXACT _Pragma("clang fp contract(off)")
/* Begins inline assembly with an instruction that is newer than the version of PTX that clang writes. */
#define LW_NEWER ".pragma \"lanewise.newer\";\n\t"
#define LW_HD static __inline__ __attribute__((always_inline, nodebug)) __host__ __device__

/* The body of a function for the device, which uses an instruction, and for the host, which has the same results. */
#ifdef __CUDA_ARCH__
#define LW_SIDES(DEVICE, HOST) DEVICE
#else
#define LW_SIDES(DEVICE, HOST) HOST
#endif

/* The alignment of alignas(...), whose operand is a number or a type: for the attribute that replaces alignas in sources. */
#if __cplusplus >= 201103L
template <unsigned long N> constexpr unsigned long lanewise_alignment() { return N; }
template <typename T> constexpr unsigned long lanewise_alignment() { return alignof(T); }
#endif

typedef __SIZE_TYPE__ size_t;

/* C and C++ have the same declarations. LW_OR: value of a parameter that calls of C++ may leave out. LW_TAG: the name of a type is
 * also valid without struct or enum. LW_OVERLOAD: begins a function that another one shares its name with. */
#ifdef __cplusplus
#define LW_OR(...) = __VA_ARGS__
#define LW_TAG(KIND, NAME)
#define LW_OVERLOAD static inline
#define LW_C_BEGIN extern "C" {
#define LW_C_END }
#else
#define LW_OR(...)
#define LW_TAG(KIND, NAME) typedef KIND NAME NAME;
#define LW_OVERLOAD static inline __attribute__((overloadable))
#define LW_C_BEGIN
#define LW_C_END
#endif
/* Declares a function that the library exports under a second name. */
#define LW_ALIAS(NAME, SECOND) extern __typeof__(NAME) SECOND;

LW_HD int lw_clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

#define LW_VECTOR(T, N, A1, A2, A4)                                                               \
    struct N##1 { T x; };                                                                         \
    struct __attribute__((aligned(A2))) N##2 { T x, y; };                                         \
    struct N##3 { T x, y, z; };                                                                   \
    struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; };                                   \
    LW_TAG(struct, N##1) LW_TAG(struct, N##2) LW_TAG(struct, N##3) LW_TAG(struct, N##4)           \
    LW_HD N##1 make_##N##1(T x) { N##1 v; v.x = x; return v; }                                    \
    LW_HD N##2 make_##N##2(T x, T y) { N##2 v; v.x = x; v.y = y; return v; }                      \
    LW_HD N##3 make_##N##3(T x, T y, T z) { N##3 v; v.x = x; v.y = y; v.z = z; return v; }        \
    LW_HD N##4 make_##N##4(T x, T y, T z, T w)                                                    \
    {                                                                                             \
        N##4 v;                                                                                   \
        v.x = x; v.y = y; v.z = z; v.w = w;                                                       \
        return v;                                                                                 \
    }
LW_VECTOR(signed char, char, 1, 2, 4)
LW_VECTOR(unsigned char, uchar, 1, 2, 4)
LW_VECTOR(short, short, 2, 4, 8)
LW_VECTOR(unsigned short, ushort, 2, 4, 8)
LW_VECTOR(int, int, 4, 8, 16)
LW_VECTOR(unsigned int, uint, 4, 8, 16)
LW_VECTOR(long, long, 8, 16, 16)
LW_VECTOR(unsigned long, ulong, 8, 16, 16)
LW_VECTOR(long long, longlong, 8, 16, 16)
LW_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
LW_VECTOR(float, float, 4, 8, 16)
LW_VECTOR(double, double, 8, 16, 16)
#undef LW_VECTOR
/* Vectors of four 64-bit elements whose names contain their alignment, as in CUDA 13. */
#define LW_ALIGNED(T, N, A)                                                                       \
    struct __attribute__((aligned(A))) N##4_##A##a { T x, y, z, w; };                             \
    LW_TAG(struct, N##4_##A##a)                                                                   \
    LW_HD N##4_##A##a make_##N##4_##A##a(T x, T y, T z, T w)                                      \
    {                                                                                             \
        N##4_##A##a v;                                                                            \
        v.x = x; v.y = y; v.z = z; v.w = w;                                                       \
        return v;                                                                                 \
    }
#define LW_BOTH(T, N) LW_ALIGNED(T, N, 16) LW_ALIGNED(T, N, 32)
LW_BOTH(long, long) LW_BOTH(unsigned long, ulong) LW_BOTH(long long, longlong)
LW_BOTH(unsigned long long, ulonglong) LW_BOTH(double, double)
#undef LW_BOTH
#undef LW_ALIGNED

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr __host__ __device__ __attribute__((nodebug))
    dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr __host__ __device__ __attribute__((nodebug)) dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr __host__ __device__ __attribute__((nodebug)) operator uint3() const
    {
        return uint3{x, y, z};
    }
#endif
};
LW_TAG(struct, dim3)

#ifdef __CUDA__
/* threadIdx etc. read special registers. Unoptimised code takes the addresses of these objects when all three values
 * are read together (dim3 b = blockIdx), but reads no memory. The objects have other names, because debuggers have
 * their own variables of these names. */
#define LW_COORDINATE(FIELD, REGISTER)                                                            \
    __declspec(property(get = lw_##FIELD)) unsigned int FIELD;                                    \
    LW_FN unsigned int lw_##FIELD(void) { return (unsigned int)__nvvm_read_ptx_sreg_##REGISTER(); }
#define LW_COORDINATES(NAME, REGISTER)                                                            \
    struct lw_##NAME {                                                                            \
        LW_COORDINATE(x, REGISTER##_x)                                                            \
        LW_COORDINATE(y, REGISTER##_y)                                                            \
        LW_COORDINATE(z, REGISTER##_z)                                                            \
        __device__ __attribute__((always_inline, nodebug)) operator dim3() const                  \
        {                                                                                         \
            return dim3(lw_x(), lw_y(), lw_z());                                                  \
        }                                                                                         \
        __device__ __attribute__((always_inline, nodebug)) operator uint3() const                 \
        {                                                                                         \
            return uint3{lw_x(), lw_y(), lw_z()};                                                 \
        }                                                                                         \
        constexpr __host__ __device__ __attribute__((nodebug)) lw_##NAME() {}                      \
        lw_##NAME(const lw_##NAME &) = delete;                                                    \
    };                                                                                            \
    static const __device__ __attribute__((unused, nodebug)) lw_##NAME NAME __asm__("lw_" #REGISTER);
LW_COORDINATES(threadIdx, tid)
LW_COORDINATES(blockIdx, ctaid)
LW_COORDINATES(blockDim, ntid)
LW_COORDINATES(gridDim, nctaid)
#undef LW_COORDINATES
#undef LW_COORDINATE
__device__ __attribute__((nodebug)) const int warpSize = 32;
#endif

#endif
