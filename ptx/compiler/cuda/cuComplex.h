/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers as pairs. Quotients and absolute values are scaled so that squares do not overflow. */
#ifndef LANEWISE_CU_COMPLEX_H
#define LANEWISE_CU_COMPLEX_H

#include "lanewise_cuda.h"
#include "lanewise_names_begin.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define LW_COMPLEX(S, F, T, ABS, ROOT)                                                            \
    LW_HD T cuCreal##F(S x) { return x.x; }                                                       \
    LW_HD T cuCimag##F(S x) { return x.y; }                                                       \
    LW_HD S make_##S(T re, T im)                                                                  \
    {                                                                                             \
        S r;                                                                                      \
                                                                                                  \
        r.x = re;                                                                                 \
        r.y = im;                                                                                 \
        return r;                                                                                 \
    }                                                                                             \
    LW_HD S cuConj##F(S x) { return make_##S(x.x, -x.y); }                                        \
    LW_HD S cuCadd##F(S x, S y) { return make_##S(x.x + y.x, x.y + y.y); }                        \
    LW_HD S cuCsub##F(S x, S y) { return make_##S(x.x - y.x, x.y - y.y); }                        \
    LW_HD S cuCmul##F(S x, S y)                                                                   \
    {                                                                                             \
        return make_##S(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);                            \
    }                                                                                             \
    LW_HD S cuCdiv##F(S x, S y)                                                                   \
    {                                                                                             \
        T scale = 1 / (ABS(y.x) + ABS(y.y));                                                      \
        T a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;                     \
        T whole = 1 / (c * c + d * d);                                                            \
                                                                                                  \
        return make_##S((a * c + b * d) * whole, (b * c - a * d) * whole);                        \
    }                                                                                             \
    LW_HD T cuCabs##F(S x)                                                                        \
    {                                                                                             \
        T a = ABS(x.x), b = ABS(x.y), most = a > b ? a : b, least = a > b ? b : a, q;             \
                                                                                                  \
        if (most == 0 || most - most != 0 || least - least != 0) /* a part is infinite or NaN */  \
            return a - a != 0 && a == a ? a : b - b != 0 && b == b ? b : most + least;            \
        q = least / most;                                                                         \
        return most * ROOT(1 + q * q);                                                            \
    }
#define LW_ROOT(x) __builtin_sqrt(x)
#define LW_ROOTF(x) __builtin_sqrtf(x)
LW_COMPLEX(cuFloatComplex, f, float, __builtin_fabsf, LW_ROOTF)
LW_COMPLEX(cuDoubleComplex, , double, __builtin_fabs, LW_ROOT)
#undef LW_ROOTF
#undef LW_ROOT
#undef LW_COMPLEX
LW_HD cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
LW_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex(x.x, x.y); }
LW_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x)
{
    return make_cuFloatComplex((float)x.x, (float)x.y);
}
LW_HD cuComplex cuCfmaf(cuComplex x, cuComplex y, cuComplex d)
{
    return make_cuComplex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);
}
LW_HD cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex d)
{
    return make_cuDoubleComplex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);
}

#include "lanewise_names_end.h"
#endif
