/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the results of halfmath.cl with the host's double-precision functions. The differences must be within the bounds of
 * cl_khr_fp16, in units in the last place. Arguments: the files with the results of kernels one() and two(). */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double value(uint16_t bits)
{
    const int e = bits >> 10 & 31, m = bits & 1023;
    const double x = e == 31 ? (m != 0 ? NAN : INFINITY) : e == 0 ? ldexp(m, -24) : ldexp(m + 1024, e - 25);

    return bits & 0x8000 ? -x : x;
}
static double acospi_(double x) { return acos(x) / M_PI; }
static double asinpi_(double x) { return asin(x) / M_PI; }
static double atanpi_(double x) { return atan(x) / M_PI; }
static double atan2pi_(double y, double x) { return atan2(y, x) / M_PI; }
static double sinpi_(double x) { x = fmod(x, 2); return x == floor(x) ? 0 : sin(M_PI * x); }
static double cospi_(double x) { x = fmod(fabs(x), 2); return x == 0.5 || x == 1.5 ? 0 : cos(M_PI * x); }
static double tanpi_(double x) { x = fmod(x, 1); return fabs(x) == 0.5 ? copysign(INFINITY, x) : tan(M_PI * x); }
static double rsqrt_(double x) { return 1 / sqrt(x); }
static double powr_(double x, double y)
{
    if (x < 0 || isnan(x) || isnan(y) || (x == 0 && y == 0) || (isinf(x) && y == 0) || (x == 1 && isinf(y)))
        return NAN;
    return fabs(pow(x, y));
}
static double nextafter_(double x, double y)
{
    const double step = ldexp(1, (int)fmax(x == 0 ? -14 : logb(x), -14) - 10);
    const int inward = (fabs(y) < fabs(x) || signbit(x) != signbit(y)) && x != 0;

    if (x == y || isnan(x) || isnan(y))
        return x == y ? y : NAN;
    if (isinf(x))
        return copysign(65504, x);
    /* The neighbour below a power of two is half a step away. */
    return x + (y > x ? 1 : -1) * (inward && fabs(x) > 0x1p-14 && frexp(fabs(x), &(int){0}) == 0.5 ? step / 2 : step);
}
struct row {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double bound;
};
static const struct row ones[] = {
    {"acos", acos, NULL, 2}, {"acosh", acosh, NULL, 2}, {"acospi", acospi_, NULL, 2}, {"asin", asin, NULL, 2},
    {"asinh", asinh, NULL, 2}, {"asinpi", asinpi_, NULL, 2}, {"atan", atan, NULL, 2}, {"atanh", atanh, NULL, 2},
    {"atanpi", atanpi_, NULL, 2}, {"cbrt", cbrt, NULL, 2}, {"ceil", ceil, NULL, 0}, {"cos", cos, NULL, 2},
    {"cosh", cosh, NULL, 2}, {"cospi", cospi_, NULL, 2}, {"erfc", erfc, NULL, 4}, {"erf", erf, NULL, 4},
    {"exp", exp, NULL, 2}, {"exp2", exp2, NULL, 2}, {"exp10", exp10, NULL, 2}, {"expm1", expm1, NULL, 2},
    {"fabs", fabs, NULL, 0}, {"floor", floor, NULL, 0}, {"log", log, NULL, 2}, {"log2", log2, NULL, 2},
    {"log10", log10, NULL, 2}, {"log1p", log1p, NULL, 2}, {"logb", logb, NULL, 0}, {"rint", rint, NULL, 0},
    {"round", round, NULL, 0}, {"rsqrt", rsqrt_, NULL, 1}, {"sin", sin, NULL, 2}, {"sinh", sinh, NULL, 2},
    {"sinpi", sinpi_, NULL, 2}, {"sqrt", sqrt, NULL, 0.5}, {"tan", tan, NULL, 2}, {"tanh", tanh, NULL, 2},
    {"tanpi", tanpi_, NULL, 2}, {"tgamma", tgamma, NULL, 4}, {"trunc", trunc, NULL, 0}};
static const struct row twos[] = {
    {"atan2", NULL, atan2, 2}, {"atan2pi", NULL, atan2pi_, 2}, {"fdim", NULL, fdim, 0.5}, {"fmod", NULL, fmod, 0},
    {"hypot", NULL, hypot, 2}, {"pow", NULL, pow, 4}, {"powr", NULL, powr_, 4}, {"remainder", NULL, remainder, 0},
    {"fmax", NULL, fmax, 0}, {"fmin", NULL, fmin, 0}, {"nextafter", NULL, nextafter_, 0}};

/** Returns the error of @got in units in the last place of @want. */
static double error(double got, double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got)) /* infinity counts as 65536, the number that would follow the largest half */
        return fabs(want) >= 65520 && signbit(got) == signbit(want) ? 0 : isinf(want) && want == got ? 0 : (65536 - fabs(want)) / 32;
    if (isinf(want))
        return INFINITY;
    return fabs(got - want) / ldexp(1, (int)fmax(want == 0 ? -14 : logb(want), -14) - 10);
}

static int compare(const char *path, const struct row *rows, unsigned count)
{
    static uint16_t got[65536];
    FILE *file = fopen(path, "rb");
    int failed = file == NULL;

    for (unsigned f = 0; f < count && !failed; f++) {
        double worst = 0;
        unsigned worst_at = 0;

        if (fread(got, sizeof got, 1, file) != 1)
            return printf("%s: too short\n", path), 1;
        for (uint32_t i = 0; i < 65536; i++) {
            const uint32_t r = i * 2654435761u + 12345;
            const uint16_t second = (uint16_t)(i % 2 != 0 ? r >> 13 : (i & 0xfc00) + (r >> 22));
            const double want = rows[f].one != NULL ? rows[f].one(value((uint16_t)i)) : rows[f].two(value((uint16_t)i), value(second));
            const double e = error(value(got[i]), want);

            if (e > worst)
                worst = e, worst_at = i;
        }
        if (worst > rows[f].bound) {
            printf("%s: %g units of the last place, more than %g, at 0x%04x\n", rows[f].name, worst, rows[f].bound, worst_at);
            failed = 1;
        }
    }
    if (file != NULL)
        fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    const int one = argc == 3 ? compare(argv[1], ones, sizeof ones / sizeof *ones) : 1;

    return one | (argc == 3 ? compare(argv[2], twos, sizeof twos / sizeof *twos) : 1);
}
