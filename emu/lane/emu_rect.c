/* SPDX-License-Identifier: Apache-2.0 */
/* Rectangles of bytes and cache lines of an array: arithmetic only. */
#include "emu/lane/emu_predict_priv.h"

static int64_t divide_down(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

void emu_rect_to2d(int64_t offset, uint64_t pitch, int64_t *x, int64_t *y)
{
    if (pitch == 0 || pitch > INT64_MAX) {
        *x = offset;
        *y = 0;
        return;
    }
    *y = divide_down(offset, (int64_t)pitch);
    *x = (int64_t)((uint64_t)offset - (uint64_t)*y * pitch);
}

int64_t emu_rect_split(int64_t c, uint64_t pitch, int64_t *cx)
{
    int64_t x, y;

    emu_rect_to2d(c, pitch, &x, &y);
    if (pitch != 0 && x > (int64_t)(pitch / 2)) {
        x -= (int64_t)pitch;
        y++;
    }
    *cx = x;
    return y;
}

void emu_rect_join(struct emu_byte_rect *into, const struct emu_byte_rect *more, bool *empty)
{
    if (*empty) {
        *into = *more;
        *empty = false;
        return;
    }
    into->x0 = more->x0 < into->x0 ? more->x0 : into->x0;
    into->x1 = more->x1 > into->x1 ? more->x1 : into->x1;
    into->y0 = more->y0 < into->y0 ? more->y0 : into->y0;
    into->y1 = more->y1 > into->y1 ? more->y1 : into->y1;
}

static int64_t clip(int64_t x, int64_t most)
{
    return x > most ? most : x;
}

struct emu_rect emu_rect_lines(const struct emu_byte_rect *bytes, uint64_t pitch, uint64_t rows)
{
    const int64_t line = EMU_RECT_LINE, far = (int64_t)UINT32_MAX * EMU_RECT_LINE;
    int64_t x0 = bytes->x0 < 0 ? 0 : bytes->x0, y0 = bytes->y0 < 0 ? 0 : bytes->y0;
    int64_t x1 = clip(bytes->x1, pitch != 0 && pitch <= (uint64_t)far ? (int64_t)pitch - 1 : far);
    int64_t y1 = clip(bytes->y1, rows != 0 && rows <= UINT32_MAX ? (int64_t)rows - 1 : UINT32_MAX - INT64_C(1));

    if (x1 < x0 || y1 < y0)
        return (struct emu_rect){ 0 };
    return (struct emu_rect){ .x = (uint32_t)(x0 / line), .y = (uint32_t)y0, .w = (uint32_t)(x1 / line - x0 / line + 1),
                              .h = (uint32_t)(y1 - y0 + 1) };
}

static uint64_t common(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size)
{
    uint64_t begin = a > b ? a : b, a_end = (uint64_t)a + a_size, b_end = (uint64_t)b + b_size;
    uint64_t end = a_end < b_end ? a_end : b_end;

    return end > begin ? end - begin : 0;
}

uint64_t emu_rect_overlap(const struct emu_rect *a, const struct emu_rect *b)
{
    return common(a->x, a->w, b->x, b->w) * common(a->y, a->h, b->y, b->h);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

uint64_t emu_rect_pitch(const struct emu_rect_strides *s)
{
    enum { LEAST = 128 };
    uint64_t tx = magnitude(s->tx), ty = magnitude(s->ty), bx = magnitude(s->bx), by = magnitude(s->by);
    uint64_t most = tx > ty ? tx : ty, other = (uint64_t)s->element * s->block[tx > ty ? 1 : 0];

    if (most > other && most >= LEAST)
        return most;
    if (s->block[1] == 1 && s->grid[1] > 1 && by > bx && by >= LEAST)
        return by;
    return 0;
}
