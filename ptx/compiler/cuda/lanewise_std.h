/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematics in namespace std for sources that do not include <cmath> or <algorithm>, as with nvcc. The functions are
 * templates, because using-declarations would all appear in the debug information of every kernel. Later declarations of
 * libstdc++ are ordinary functions or more specialised templates, so they are preferred in overload resolution. */
#ifndef LANEWISE_STD_H
#define LANEWISE_STD_H
namespace std {
#define LW_STD1(R, F)                                                                             \
    template <int = 0> LW_HD R(float) F(float x) { return ::F(x); }                               \
    template <int = 0> LW_HD R(double) F(double x) { return ::F(x); }
#define LW_STD2(R, F)                                                                             \
    template <int = 0> LW_HD R(float) F(float x, float y) { return ::F(x, y); }                   \
    template <int = 0> LW_HD R(double) F(double x, double y) { return ::F(x, y); }
#define LW_SAME(T) T
#define LW_BOOL(T) bool
#define LW_INT(T) int
#define LW_LONG(T) long
#define LW_LLONG(T) long long
LW_STD1(LW_SAME, abs) LW_STD1(LW_SAME, acos) LW_STD1(LW_SAME, acosh) LW_STD1(LW_SAME, asin)
LW_STD1(LW_SAME, asinh) LW_STD1(LW_SAME, atan) LW_STD1(LW_SAME, atanh) LW_STD1(LW_SAME, cbrt)
LW_STD1(LW_SAME, ceil) LW_STD1(LW_SAME, cos) LW_STD1(LW_SAME, cosh) LW_STD1(LW_SAME, erf)
LW_STD1(LW_SAME, erfc) LW_STD1(LW_SAME, exp) LW_STD1(LW_SAME, exp2) LW_STD1(LW_SAME, expm1)
LW_STD1(LW_SAME, fabs) LW_STD1(LW_SAME, floor) LW_STD1(LW_SAME, lgamma) LW_STD1(LW_SAME, log)
LW_STD1(LW_SAME, log10) LW_STD1(LW_SAME, log1p) LW_STD1(LW_SAME, log2) LW_STD1(LW_SAME, logb)
LW_STD1(LW_SAME, nearbyint) LW_STD1(LW_SAME, rint) LW_STD1(LW_SAME, round) LW_STD1(LW_SAME, sin)
LW_STD1(LW_SAME, sinh) LW_STD1(LW_SAME, sqrt) LW_STD1(LW_SAME, tan) LW_STD1(LW_SAME, tanh)
LW_STD1(LW_SAME, tgamma) LW_STD1(LW_SAME, trunc) LW_STD1(LW_INT, ilogb)
LW_STD1(LW_LONG, lrint) LW_STD1(LW_LONG, lround) LW_STD1(LW_LLONG, llrint) LW_STD1(LW_LLONG, llround)
LW_STD1(LW_BOOL, isfinite) LW_STD1(LW_BOOL, isinf) LW_STD1(LW_BOOL, isnan)
LW_STD1(LW_BOOL, isnormal) LW_STD1(LW_BOOL, signbit)
LW_STD2(LW_SAME, atan2) LW_STD2(LW_SAME, copysign) LW_STD2(LW_SAME, fdim) LW_STD2(LW_SAME, fmax)
LW_STD2(LW_SAME, fmin) LW_STD2(LW_SAME, fmod) LW_STD2(LW_SAME, hypot) LW_STD2(LW_SAME, nextafter)
LW_STD2(LW_SAME, pow) LW_STD2(LW_SAME, remainder)
#undef LW_STD1
#undef LW_STD2
#undef LW_SAME
#undef LW_BOOL
#undef LW_INT
#undef LW_LONG
#undef LW_LLONG
template <int = 0> LW_HD int abs(int x) { return ::abs(x); }
template <int = 0> LW_HD long abs(long x) { return ::abs(x); }
template <int = 0> LW_HD long long abs(long long x) { return ::abs(x); }
template <int = 0> LW_HD double pow(float x, int y) { return ::pow(x, y); }
template <int = 0> LW_HD double pow(double x, int y) { return ::pow(x, y); }
template <int = 0> LW_HD double pow(float x, double y) { return ::pow(x, y); }
template <int = 0> LW_HD double pow(double x, float y) { return ::pow(x, y); }
template <int = 0> LW_HD float fma(float x, float y, float z) { return ::fma(x, y, z); }
template <int = 0> LW_HD double fma(double x, double y, double z) { return ::fma(x, y, z); }
template <int = 0> LW_HD float frexp(float x, int *n) { return ::frexp(x, n); }
template <int = 0> LW_HD double frexp(double x, int *n) { return ::frexp(x, n); }
template <int = 0> LW_HD float ldexp(float x, int n) { return ::ldexp(x, n); }
template <int = 0> LW_HD double ldexp(double x, int n) { return ::ldexp(x, n); }
template <int = 0> LW_HD float modf(float x, float *whole) { return ::modf(x, whole); }
template <int = 0> LW_HD double modf(double x, double *whole) { return ::modf(x, whole); }
template <int = 0> LW_HD float scalbn(float x, int n) { return ::scalbn(x, n); }
template <int = 0> LW_HD double scalbn(double x, int n) { return ::scalbn(x, n); }
/* The parameter pack, which must be empty, makes these templates less specialised than the functions of <algorithm>. A
 * call with a comparison requires <algorithm>. */
#define LW_LESSER(F, LESS)                                                                        \
    template <class T, class... None> LW_HD const T &F(const T &x, const T &y, None...)           \
    {                                                                                             \
        static_assert(sizeof...(None) == 0, "std::" #F " with a comparison: include <algorithm>"); \
        return LESS ? y : x;                                                                      \
    }
LW_LESSER(min, y < x) LW_LESSER(max, x < y)
#undef LW_LESSER
}
#endif
