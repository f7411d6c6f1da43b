/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix fragments of a warp: namespace nvcuda::wmma. The functions compute with shuffles and ordinary arithmetic, because the
 * emulator executes no matrix instructions. A lane holds consecutive elements of a matrix: of A and of the accumulator in the
 * order of rows, of B in the order of columns. So the elements that a step of the multiplication needs have the same index in
 * all lanes. */
#ifndef LANEWISE_MMA_H
#define LANEWISE_MMA_H
#ifndef __cplusplus
#error <mma.h> is for C++ only: name the file .cpp or .cu
#else
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "lanewise_names_begin.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/* Storage of an element, and the types in which products are computed and passed between lanes. */
template <typename T> struct lw_element {
    typedef T stored;
    typedef float word;
};
template <> struct lw_element<precision::tf32> {
    typedef float stored;
    typedef float word;
};
template <> struct lw_element<signed char> {
    typedef signed char stored;
    typedef int word;
};
template <> struct lw_element<unsigned char> {
    typedef unsigned char stored;
    typedef int word;
};
template <> struct lw_element<double> {
    typedef double stored;
    typedef double word;
};

/* Whether CUDA has matrices A and B of this shape and type. */
template <int M, int N, int K, typename T> struct lw_shape {
    static constexpr bool known = false;
};
#define LW_SHAPE(M, N, K, T)                                                                                           \
    template <> struct lw_shape<M, N, K, T> {                                                                          \
        static constexpr bool known = true;                                                                            \
    };
#define LW_SHAPES(T) LW_SHAPE(16, 16, 16, T) LW_SHAPE(32, 8, 16, T) LW_SHAPE(8, 32, 16, T)
LW_SHAPES(__half) LW_SHAPES(__nv_bfloat16) LW_SHAPES(signed char) LW_SHAPES(unsigned char)
LW_SHAPE(16, 16, 8, precision::tf32) LW_SHAPE(8, 8, 4, double)
#undef LW_SHAPES
#undef LW_SHAPE

template <typename T, int COUNT> struct lw_fragment {
    typedef typename lw_element<T>::stored element_type;
    typedef element_type storage_element_type;
    static constexpr int num_elements = COUNT, num_storage_elements = COUNT;
    element_type x[COUNT];
};

/* Rows and columns of a fragment's matrix; columns_first: consecutive elements of a lane are in a column. */
template <typename USE, int M, int N, int K> struct lw_matrix;
template <int M, int N, int K> struct lw_matrix<matrix_a, M, N, K> {
    static constexpr int rows = M, columns = K;
    static constexpr bool columns_first = false;
};
template <int M, int N, int K> struct lw_matrix<matrix_b, M, N, K> {
    static constexpr int rows = K, columns = N;
    static constexpr bool columns_first = true;
};
template <int M, int N, int K> struct lw_matrix<accumulator, M, N, K> {
    static constexpr int rows = M, columns = N;
    static constexpr bool columns_first = false;
};

template <typename USE, int M, int N, int K, typename T, typename LAYOUT = void>
class fragment : public lw_fragment<T, lw_matrix<USE, M, N, K>::rows * lw_matrix<USE, M, N, K>::columns / 32> {
    static_assert(__is_same(USE, accumulator) || lw_shape<M, N, K, T>::known,
                  "Lanewise has no fragments of matrices with this shape and type");
    static_assert(!__is_same(USE, accumulator) || __is_same(T, float) || __is_same(T, __half) || __is_same(T, int) ||
                      __is_same(T, double),
                  "Lanewise has no accumulators of this type");
};

LW_FN unsigned int lw_lane(void)
{
    unsigned int lane;

    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

template <typename FROM, typename TO> LW_FN void lw_convert(FROM from, TO &to)
{
    to = (TO)from;
}
LW_FN void lw_convert(__half from, float &to)
{
    to = __half2float(from);
}
LW_FN void lw_convert(float from, __half &to)
{
    to = __float2half(from);
}
LW_FN void lw_convert(__nv_bfloat16 from, float &to)
{
    to = __bfloat162float(from);
}

/* Calls @each(index in the fragment, offset in memory) for each element of the lane. */
template <typename USE, int M, int N, int K, typename F> LW_FN void lw_each(unsigned int step, bool by_rows, F each)
{
    typedef lw_matrix<USE, M, N, K> matrix;
    constexpr int count = matrix::rows * matrix::columns / 32, inner = matrix::columns_first ? matrix::rows : matrix::columns;

#pragma unroll
    for (int i = 0; i < count; i++) {
        const unsigned int at = lw_lane() * count + i, first = at / inner, second = at % inner;
        const unsigned int row = matrix::columns_first ? second : first, column = matrix::columns_first ? first : second;

        each(i, by_rows ? (size_t)row * step + column : (size_t)column * step + row);
    }
}

template <typename USE, int M, int N, int K, typename T, typename LAYOUT, typename P>
LW_FN void load_matrix_sync(fragment<USE, M, N, K, T, LAYOUT> &to, const P *from, unsigned int step)
{
    static_assert(!__is_same(LAYOUT, void), "name the layout of an accumulator as the fourth argument");
    __syncwarp();
    lw_each<USE, M, N, K>(step, __is_same(LAYOUT, row_major), [&](int i, size_t at) { to.x[i] = from[at]; });
    __syncwarp();
}
template <int M, int N, int K, typename T, typename P>
LW_FN void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const P *from, unsigned int step, layout_t layout)
{
    __syncwarp();
    lw_each<accumulator, M, N, K>(step, layout == mem_row_major, [&](int i, size_t at) { to.x[i] = from[at]; });
    __syncwarp();
}
template <int M, int N, int K, typename T, typename P>
LW_FN void store_matrix_sync(P *to, const fragment<accumulator, M, N, K, T> &from, unsigned int step, layout_t layout)
{
    __syncwarp();
    lw_each<accumulator, M, N, K>(step, layout == mem_row_major, [&](int i, size_t at) { to[at] = from.x[i]; });
    __syncwarp();
}
template <typename USE, int M, int N, int K, typename T, typename LAYOUT, typename V>
LW_FN void fill_fragment(fragment<USE, M, N, K, T, LAYOUT> &to, const V &value)
{
#pragma unroll
    for (int i = 0; i < to.num_elements; i++)
        to.x[i] = (typename lw_element<T>::stored)value;
}

/* Sums of products: integers do not overflow before they are stored. */
template <typename W> struct lw_sum {
    typedef W type;
};
template <> struct lw_sum<int> {
    typedef long long type;
};
LW_FN float lw_add_product(float a, float b, float sum)
{
    return __builtin_fmaf(a, b, sum);
}
LW_FN double lw_add_product(double a, double b, double sum)
{
    return __builtin_fma(a, b, sum);
}
LW_FN long long lw_add_product(int a, int b, long long sum)
{
    return sum + (long long)(a * b);
}
template <typename S, typename T> LW_FN void lw_store_sum(S sum, T &to, bool)
{
    lw_convert(sum, to);
}
LW_FN void lw_store_sum(long long sum, int &to, bool saturates)
{
    to = saturates && sum > 0x7fffffff ? 0x7fffffff : saturates && sum < -0x7fffffffLL - 1 ? -0x7fffffff - 1 : (int)sum;
}

template <int M, int N, int K, typename D, typename T, typename C, typename LAYOUT_A, typename LAYOUT_B>
LW_FN void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, LAYOUT_A> &a,
                    const fragment<matrix_b, M, N, K, T, LAYOUT_B> &b, const fragment<accumulator, M, N, K, C> &c,
                    bool saturates = false)
{
    typedef typename lw_element<T>::word word;
    constexpr int count = M * N / 32, of_a = M * K / 32, of_b = K * N / 32;
    const unsigned int row = lw_lane() * count / N, column = lw_lane() * count % N;
    word left[K];

    static_assert(__is_same(word, int) == __is_same(D, int) && __is_same(word, double) == __is_same(D, double),
                  "Lanewise has no multiplication of these types");
    __syncwarp();
#pragma unroll
    for (int k = 0; k < K; k++) {
        lw_convert(a.x[k % of_a], left[k]);
        left[k] = __shfl_sync(0xffffffff, left[k], (row * K + k) / of_a);
    }
#pragma unroll
    for (int i = 0; i < count; i++) {
        word first;
        typename lw_sum<word>::type sum;

        lw_convert(c.x[i], first);
        sum = first;
#pragma unroll
        for (int k = 0; k < K; k++) {
            word right;

            lw_convert(b.x[k % of_b], right);
            right = __shfl_sync(0xffffffff, right, ((column + i) * K + k) / of_b);
            sum = lw_add_product(left[k], right, sum);
        }
        lw_store_sum(sum, d.x[i], saturates);
    }
    __syncwarp();
}

/* Rounds to the precision of tf32, which has 10 bits after the point. */
LW_FN float __float_to_tf32(float x)
{
    const unsigned int bits = __float_as_uint(x);

    return x - x != 0 ? x : __uint_as_float((bits + 0x1000) & ~0x1fffu);
}

} // namespace wmma
} // namespace nvcuda
#include "lanewise_names_end.h"
#endif
#endif
