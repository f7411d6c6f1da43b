/* SPDX-License-Identifier: Apache-2.0 */
/* Tags for other parts of the emulator: saving and loading, debuggers, counts. */
#include "emu/tags/emu_compact_priv.h"

/** Gets the memory that contains a warp's tags, as up to two ranges. Returns the number of ranges. */
static unsigned tag_parts(struct emu_warp *w, void *part[2], size_t bytes[2])
{
    if (w->ctag != NULL) {
        part[0] = w->ctag + EMU_ROW_V0, bytes[0] = (w->vreg_count + 3u) * sizeof *w->ctag;
        part[1] = w->cstate + EMU_ROW_V0, bytes[1] = w->vreg_count + 3u;
        return 2;
    }
    if (w->shadow != NULL) {
        part[0] = &w->shadow->carry, bytes[0] = sizeof w->shadow->carry;
        part[1] = w->shadow->reg, bytes[1] = w->vreg_count * sizeof *w->shadow->reg;
        return 2;
    }
    return 0;
}
void emu_tags_save(const struct emu_warp *w, struct emu_bytes *out)
{
    void *part[2];
    size_t bytes[2];
    unsigned count = tag_parts((struct emu_warp *)(uintptr_t)w, part, bytes);

    emu_put_number(out, count);
    for (unsigned i = 0; i < count; i++) {
        emu_put_number(out, bytes[i]);
        emu_put(out, part[i], bytes[i]);
    }
}
bool emu_tags_load(struct emu_warp *w, struct emu_reader *in, bool trusted)
{
    void *part[2];
    size_t bytes[2];
    unsigned count = tag_parts(w, part, bytes), have = (unsigned)emu_get_limited(in, 2);

    for (unsigned i = 0; i < have; i++) {
        size_t size = (size_t)emu_get_number(in);
        const uint8_t *from = emu_get(in, size);
        if (from == NULL)
            return false;
        if (trusted && have == count && size == bytes[i])
            memcpy(part[i], from, size);
        else
            trusted = false;
    }
    if (trusted && have == count)
        return true;
    /* the register rows are complete, but the saved tags may be those of another tag mode or plan */
    emu_shadow_forget(w, EMU_ALL_REGISTERS);
    if (w->ctag != NULL)
        emu_compact_reset(w);
    return !in->bad;
}

static uint64_t value_at(const struct emu_warp *w, const struct emu_ctag *t, unsigned lane)
{
    unsigned fold = w->last_column + 1u;

    return t->base + (uint64_t)(int64_t)t->stride * (lane % fold) +
           (uint64_t)(int64_t)t->rise * (lane / fold);
}
uint32_t emu_compact_lane(const struct emu_warp *w, unsigned index, unsigned lane)
{
    /* lanes that are dead or were never launched have no tagged value; their values are only in the register row */
    if (!(w->cstate[index] & EMU_C_STALE) || !(w->live >> lane & 1))
        return emu_row(w, index * w->stride)[lane];
    uint64_t v = value_at(w, &w->ctag[index], lane);
    return (uint32_t)(w->cstate[index] & EMU_C_HIGH ? v >> 32 : v);
}

static struct emu_affine affine_of(const struct emu_ctag *t, unsigned bits)
{
    return emu_affine_make(bits, t->base, (uint64_t)(int64_t)t->stride,
                           (uint64_t)(int64_t)t->rise);
}
struct emu_tag emu_compact_tag(const struct emu_warp *w, unsigned index)
{
    unsigned fold = w->last_column + 1u, state = w->cstate[index];
    struct emu_tag out = {.kind = EMU_TAG_V, .fold = (uint8_t)fold};
    struct emu_affine v = affine_of(&w->ctag[index], state & EMU_C_HIGH ? 64 : 32);

    if (state & EMU_C_VECTOR)
        return out;
    if (state & EMU_C_HIGH)
        v = emu_affine_high(&v, fold, w->live);
    out.kind = v.kind;
    out.base = (uint32_t)v.base;
    out.stride = (int32_t)v.stride;
    out.rise = (int32_t)v.rise;
    if (emu_ctag_paired(w, index)) {
        out.pair = true;
        out.pair_base = w->ctag[index].base;
        out.pair_stride = w->ctag[index].stride;
        out.pair_rise = w->ctag[index].rise;
    }
    return out;
}

void emu_compact_count(const struct emu_warp *w, struct emu_tag_stats *stats)
{
    stats->expansions += w->expansions;
    stats->rows_made += w->rows_made;
    stats->row_lanes += w->rows_made * w->width;
    stats->lanes_saved += w->lanes_saved + w->served * (w->width - 2u);
}
