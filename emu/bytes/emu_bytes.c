/* SPDX-License-Identifier: Apache-2.0 */
/* Growing byte buffers, and readers of bytes from files that may be corrupt. */
#include "emu/bytes/emu_bytes_priv.h"
#include "emu/bytes/emu_state_priv.h"

#include <stdlib.h>

void emu_bytes_fini(struct emu_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct emu_bytes){0};
}

uint8_t *emu_bytes_add(struct emu_bytes *bytes, size_t size)
{
    if (bytes->failed || size > SIZE_MAX - bytes->size ||
        !lw_grow(&bytes->data, &bytes->capacity, bytes->size + size, 1)) {
        bytes->failed = true;
        return NULL;
    }
    bytes->size += size;
    return bytes->data + bytes->size - size;
}

void emu_put(struct emu_bytes *bytes, const void *data, size_t size)
{
    uint8_t *at = size != 0 ? emu_bytes_add(bytes, size) : NULL;

    if (at != NULL)
        memcpy(at, data, size);
}

uint64_t emu_hash_of(const void *data, size_t size)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size);
    return lw_hash_value(&hash);
}

void emu_put_number(struct emu_bytes *bytes, uint64_t value)
{
    uint8_t text[10];
    unsigned n = 0;

    do {
        text[n] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        n++;
        value >>= 7;
    } while (value != 0);
    emu_put(bytes, text, n);
}

void emu_put_signed(struct emu_bytes *bytes, int64_t value)
{
    uint64_t u = (uint64_t)value;

    emu_put_number(bytes, u << 1 ^ (value < 0 ? ~UINT64_C(0) : 0));
}

void emu_put_text(struct emu_bytes *bytes, const char *text)
{
    emu_put_number(bytes, strlen(text));
    emu_put(bytes, text, strlen(text));
}

const uint8_t *emu_get(struct emu_reader *reader, size_t size)
{
    if (reader->bad || size > reader->size - reader->at) {
        reader->bad = true;
        return NULL;
    }
    reader->at += size;
    return reader->data + reader->at - size;
}

uint64_t emu_get_number(struct emu_reader *reader)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = emu_get(reader, 1);
        if (byte == NULL)
            return 0;
        if (shift == 63 && *byte > 1) /* the number would have more than 64 bits */
            break;
        value |= (uint64_t)(*byte & 0x7f) << shift;
        if (!(*byte & 0x80))
            return value;
    }
    reader->bad = true;
    return 0;
}

int64_t emu_get_signed(struct emu_reader *reader)
{
    uint64_t u = emu_get_number(reader);

    return (int64_t)(u >> 1 ^ (u & 1 ? ~UINT64_C(0) : 0));
}

uint64_t emu_get_limited(struct emu_reader *reader, uint64_t limit)
{
    uint64_t value = emu_get_number(reader);

    if (value > limit) {
        reader->bad = true;
        return 0;
    }
    return value;
}

void emu_get_text(struct emu_reader *reader, char *text, size_t room)
{
    size_t size = (size_t)emu_get_limited(reader, room - 1);
    const uint8_t *from = emu_get(reader, size);

    text[0] = '\0';
    if (from == NULL)
        return;
    memcpy(text, from, size);
    text[size] = '\0';
    if (memchr(text, '\0', size) != NULL)
        reader->bad = true;
}

enum lw_status emu_state_bad(struct lw_error *err, const char *what)
{
    return LW_FAIL(err, LW_EFORMAT, "the saved state is damaged: wrong data in %s", what);
}
