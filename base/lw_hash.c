/* SPDX-License-Identifier: Apache-2.0 */
/* Hash of data that is added piece by piece: FNV-1a over little-endian words of 8 bytes, with a bit rotation after each word. */
#include "base/lw.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static void mix_word(struct lw_hash *hash, uint64_t word)
{
    /* A bit of a factor affects only bits of the product at its own position and above. The rotation moves high bits down, so
     * that they affect low bits of later products. */
    uint64_t x = (hash->state ^ word) * FNV_PRIME;

    hash->state = x << 29 | x >> 35;
}

void lw_hash_init(struct lw_hash *hash)
{
    hash->state = FNV_BASIS;
    hash->length = 0;
}

void lw_hash_bytes(struct lw_hash *hash, const void *data, size_t size)
{
    const uint8_t *p = data;

    hash->length += size;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word = 0;
        for (unsigned i = 0; i < 8; i++)
            word |= (uint64_t)p[i] << (8 * i);
        mix_word(hash, word);
    }
    if (size != 0) {
        uint64_t word = 0;
        for (unsigned i = 0; i < size; i++)
            word |= (uint64_t)p[i] << (8 * i);
        mix_word(hash, word);
    }
}

void lw_hash_u64(struct lw_hash *hash, uint64_t value)
{
    hash->length += 8;
    mix_word(hash, value);
}

uint64_t lw_hash_value(const struct lw_hash *hash)
{
    uint64_t x = hash->state ^ hash->length;

    /* The last steps of splitmix64, which mix the bits of the result. */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
