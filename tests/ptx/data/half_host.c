/* SPDX-License-Identifier: Apache-2.0 */
/* Writes in.bin and want.bin, the input and the expected output of half.cl, into the current folder. Halves are represented by
 * their bits, with which functions of soft_float.h compute. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host_random.h"
#include "soft_float.h"

#define F (&soft_f16)
enum { N = 4000, CASES = 22 };
static int in[4 * N], out[CASES * N];

static uint32_t of_float(uint32_t bits)
{
    if (soft_is_nan(&soft_f32, bits))
        return 0x7fff;
    if (soft_is_infinite(&soft_f32, bits))
        return (uint32_t)soft_infinity(F) | (bits >> 16 & 0x8000);
    return (uint32_t)soft_round(F, soft_number(&soft_f32, bits), false, SOFT_RN, bits >> 31);
}
static uint32_t of_int(int64_t k)
{
    return (uint32_t)soft_round(F, (struct soft_number){k, 0}, false, SOFT_RN, false);
}
static uint32_t to_float(uint32_t h)
{
    if (soft_is_nan(F, h))
        return 0x7fffffff;
    if (soft_is_infinite(F, h))
        return 0x7f800000 | (h & 0x8000) << 16;
    return (uint32_t)soft_round(&soft_f32, soft_number(F, h), false, SOFT_RN, h & 0x8000);
}
static float value(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

#define BITS(h) ((int)(h))
#define ADD(a, b) soft_half_add(F, a, b)
#define SUB(a, b) soft_half_add(F, a, soft_is_nan(F, b) ? (b) : (b) ^ 0x8000)
#define MUL(a, b) soft_half_mul(F, a, b)
#define DIV(a, b) soft_half_div(F, a, b)
#define NEG(a) ((a) ^ 0x8000)
#define LESS(a, b) (value(to_float(a)) < value(to_float(b)))
#define FLESS(a, b) (value(a) < value(b))
#define SAME(a, b) (value(to_float(a)) == value(to_float(b)))
#define CHOOSE(c, a, b) ((c) ? (a) : (b))
#define OF_FLOAT(f) of_float(f)
#define OF_INT(i) of_int(i)
#define TO_FLOAT(a) to_float(a)
#define TO_INT(a) ((int)value(to_float(a)))
#define FBITS(f) ((int)(f))
#define HALF(n) of_int(n)

static int save(const char *name, const int *data, size_t count)
{
    FILE *file = fopen(name, "wb");
    int bad = file == NULL || fwrite(data, sizeof *data, count, file) != count;
    return (file != NULL && fclose(file) != 0) || bad;
}

int main(void)
{
    static const uint16_t corners[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3c01,
                                       0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x4900, 0x5640};
    for (int i = 0; i < N; i++) {
        uint32_t r = next();
        in[i] = (int)(r & 3 ? next() & 0xffff : corners[r >> 8 & 15]);
        in[N + i] = (int)(r & 12 ? next() & 0xffff : corners[r >> 12 & 15]);
        in[2 * N + i] = (int)(r & 16 ? to_float(next() & 0xffff) + (next() & 0x3fff) - 0x2000 : next());
        in[3 * N + i] = (int)(r & 32 ? next() & 0x1ffff : next());
        uint32_t x = (uint32_t)in[i], y = (uint32_t)in[N + i];
        uint32_t f = (uint32_t)in[2 * N + i];
        int k = in[3 * N + i];
#define OP(c, e) out[c * N + i] = (e);
#include "half.inc"
        out[20 * N + i] = (int)(ADD(x, y) | ADD(y, x) << 16);
        out[21 * N + i] = (int)(SUB(MUL(x, y), x) | SUB(MUL(y, x), y) << 16);
    }
    return save("in.bin", in, 4 * N) || save("want.bin", out, CASES * N);
}
