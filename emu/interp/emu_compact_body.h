/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of compact mode that are loops over lanes: materialisation of tagged registers, and loads and stores whose address
 * register has a tag. Included by emu_mem_exec.c after emu_mem_fast_body.h, and so compiled once per x86-64 level.
 */
#include "emu/memory/emu_mem_priv.h"
#include "emu/tags/emu_compact_priv.h"

/** Writes base + stride * column + rise * row to each lane of a vector register. Column and thread row are the lane number modulo
 *  @fold and divided by @fold. */
MEM_INLINE void tag_row(uint32_t *d, unsigned n, unsigned fold, uint32_t base, uint32_t stride,
                        uint32_t rise)
{
    if ((stride | rise) == 0) {
        emu_row_splat(d, n, 0, true, base);
    } else if (fold >= n || rise == fold * stride) {
        EMU_LANE_LOOP
        for (unsigned l = 0; l < n; l++)
            d[l] = base + stride * l;
    } else { /* in this case fold is a power of two */
        const uint32_t mask = fold - 1;
        const unsigned shift = (unsigned)__builtin_ctz(fold);
        EMU_LANE_LOOP
        for (unsigned l = 0; l < n; l++)
            d[l] = base + stride * (l & mask) + rise * (l >> shift);
    }
}

__attribute__((noinline)) void LEVEL(make_row)(struct emu_warp *w, unsigned index)
{
    const struct emu_ctag *t = &w->ctag[index];
    const unsigned fold = w->last_column + 1u, n = lanes_of(w);
    uint32_t *d = row_out(w, index * w->stride), kept[EMU_MAX_LANES], high = 0;
    const bool all = w->live == w->all, is_high = w->cstate[index] & EMU_C_HIGH;
    bool carries = false;

    w->cstate[index] &= (uint8_t)~EMU_C_STALE;
    w->rows_made++;
    if (!all)
        memcpy(kept, d, n * sizeof *d);
    if (is_high) {
        high = (uint32_t)(t->base >> 32);
        carries = !emu_ctag_fits32(w, t, false); /* true if in some lanes the sum carries into the high word */
    }
    if (!is_high) {
        tag_row(d, n, fold, (uint32_t)t->base, (uint32_t)t->stride, (uint32_t)t->rise);
    } else if (!carries) {
        emu_row_splat(d, n, 0, true, high);
    } else {
        for (unsigned l = 0; l < n; l++)
            d[l] = (uint32_t)((t->base + (uint64_t)(int64_t)t->stride * (l % fold) +
                               (uint64_t)(int64_t)t->rise * (l / fold)) >> 32);
    }
    for (unsigned l = 0; !all && l < n; l++) /* lanes that are not live keep the values of the vector register */
        if (!(w->live >> l & 1))
            d[l] = kept[l];
}

/** Addresses of an access whose address register has a tag. `address` is the address of the first lane. The address grows by
 *  `step` from lane to lane within a thread row of the block, and by `rise` from thread row to thread row. */
struct tag_location {
    uint64_t address;
    int64_t step, rise;
};

/** Computes the addresses from the tag of the address register. Returns false if the register has no tag, or if addresses wrap.
 *  @mode and @bytes are compile-time constants. */
MEM_INLINE bool tag_location(const struct emu_warp *w, const struct emu_dinsn *di, unsigned mode,
                          unsigned bytes, struct tag_location *out)
{
    const struct emu_ctag *t = &w->ctag[di->ta];
    const unsigned plain = mode & ~(unsigned)MEM_SCALED;
    const int64_t scale = mode & MEM_SCALED ? bytes : 1; /* factor by which the offset, its stride and its rise are multiplied */

    out->step = t->stride * scale;
    out->rise = t->rise * scale;
    out->address = t->base + (uint64_t)(int64_t)di->disp;
    if (plain == ISA_AMODE_PAIR) {
        if (!emu_ctag_paired(w, di->ta))
            return false;
    } else {
        int64_t offset = plain == ISA_AMODE_SS32 ? (int32_t)t->base : (int64_t)(uint32_t)t->base;
        if (w->cstate[di->ta] & (EMU_C_VECTOR | EMU_C_HIGH) ||
            !emu_ctag_fits32(w, t, plain == ISA_AMODE_SS32))
            return false;
        out->address = (uint64_t)(offset * scale) + (uint64_t)(int64_t)di->disp;
        if (plain != ISA_AMODE_32)
            out->address += (uint64_t)w->s[di->reg + 1] << 32 | w->s[di->reg];
    }
    return (out->address & (bytes - 1)) == 0;
}

/** Loads or stores @rows thread rows of @fold lanes each, one after the other. The addresses of all thread rows are checked
 *  before memory is accessed. Returns false if a check failed, and nothing was done. */
MEM_INLINE bool tag_rows(struct emu_warp *w, const struct emu_dinsn *di, enum isa_space space,
                         unsigned kind, bool write, const struct tag_location *at, unsigned fold,
                         unsigned rows, bool ramp)
{
    const unsigned bytes = mem_bytes(kind);
    const size_t stride = w->stride / 4;
    uint8_t *host[EMU_MAX_LANES / 8];
    uint32_t *d = emu_row(w, write ? di->b : di->d);
    uint64_t address = at->address;
    bool changed = false;

    if (at->rise & (int64_t)(bytes - 1))
        return false;
    for (unsigned r = 0; r < rows; r++, address += (uint64_t)at->rise) {
        host[r] = mem_reach(w, space, address, ramp ? fold * bytes : bytes, write);
        if (host[r] == NULL)
            return false;
    }
    for (unsigned r = 0; r < rows; r++, d += fold) {
        if (write)
            changed |= ramp ? mem_store_run(host[r], d, stride, fold, 0, true, kind)
                            : mem_store_equal(host[r], d, stride, fold, lw_mask(fold), true,
                                              kind);
        else if (ramp)
            mem_load_run(d, stride, fold, 0, true, host[r], kind);
        else
            mem_load_equal(d, stride, fold, 0, true, host[r], kind);
    }
    mem_count(w, write, changed);
    return true;
}

MEM_INLINE bool tag_local(struct emu_warp *w, const struct emu_dinsn *di, unsigned kind,
                          bool write, const struct tag_location *at, unsigned n)
{
    const unsigned bytes = mem_bytes(kind);
    uint32_t *d = emu_row(w, write ? di->b : di->d);

    if ((at->step | at->rise) != 0 || at->address >= w->local_bytes ||
        bytes > w->local_bytes - at->address)
        return false;
    uint8_t *host = w->local + at->address * n;
    for (unsigned k = 0; k < bytes / 4; k++, host += 4 * n) {
        if (write)
            (void)emu_row_store(host, d + k * (w->stride / 4), n, 0, true);
        else
            emu_row_load(d + k * (w->stride / 4), host, n, 0, true);
    }
    mem_count_local(w, write);
    return true;
}

/**
 * Loads or stores through an address register that has a tag, for all lanes. Returns false, without any effect, if the address
 * register has no tag, or if another form of access is needed. @uniform: all lanes load from one address, and the loaded value
 * becomes a tag. @easy: the function handles only warps of 32 lanes, and only cases that need no function call.
 */
MEM_INLINE bool mem_tagged(struct emu_warp *w, const struct emu_dinsn *di, enum isa_space space,
                           unsigned mode, unsigned kind, bool write, bool uniform, unsigned n,
                           const bool easy)
{
    const unsigned bytes = mem_bytes(kind), words = (bytes + 3) / 4;
    const unsigned fold = w->last_column + 1u, rows = w->last_row + 1u;
    struct tag_location at;
    bool done = false;

    if (!tag_location(w, di, mode, bytes, &at))
        return false;
    for (unsigned k = 0; write && k < words; k++) {
        if (__builtin_expect(w->cstate[di->td + k] & EMU_C_STALE, 0)) {
            if (easy)
                return false;
            LEVEL(make_row)(w, di->td + k);
        }
    }
    if (space == ISA_SPACE_LOCAL) {
        done = tag_local(w, di, kind, write, &at, n);
    } else if ((at.step | at.rise) == 0) {
        if (uniform) {
            uint8_t *host = mem_reach(w, space, at.address, bytes, false);
            uint32_t word[4];
            if (host == NULL)
                return false;
            mem_get(word, 1, host, 4, kind);
            for (unsigned k = 0; k < words; k++) {
                w->ctag[di->td + k].words = (emu_tag_words){word[k]};
                w->cstate[di->td + k] = EMU_C_STALE;
            }
            mem_count(w, false, false);
            w->served++;
            return true;
        }
        done = tag_rows(w, di, space, kind, write, &at, n, 1, false);
    } else if (rows == 1 || at.rise == at.step * fold) {
        at.rise = 0; /* the addresses of all lanes are affine in the lane number */
        done = at.step == (int64_t)bytes && tag_rows(w, di, space, kind, write, &at, n, 1, true);
    } else if (n == 32 && rows == 2) {
        done = at.step == (int64_t)bytes
                   ? tag_rows(w, di, space, kind, write, &at, 16, 2, true)
                   : at.step == 0 && tag_rows(w, di, space, kind, write, &at, 16, 2, false);
    } else if (!easy && fold >= 8 && (at.step == 0 || at.step == (int64_t)bytes)) {
        done = tag_rows(w, di, space, kind, write, &at, fold, rows, at.step != 0);
    }
    for (unsigned k = 0; !write && done && k < words; k++)
        w->cstate[di->td + k] = EMU_C_VECTOR;
    return done;
}

#define MEM_TAGGED(space, mode, kind, rw, write, suffix, uniform)                             \
    MEM_OUTLINE void LEVEL(tag_##rw##suffix##_##space##_##kind##_##mode##_h)(MEM_PARAMS)      \
    {                                                                                         \
        if (w->n == w->width && mem_tagged(w, di, ISA_SPACE_##space, MEM_MODE_##mode,         \
                                           ISA_SIZE_##kind, write, uniform, w->n, false))     \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL emu_plain_full(w, di);                                                       \
    }                                                                                         \
    static void LEVEL(tag_##rw##suffix##_##space##_##kind##_##mode)(MEM_PARAMS)               \
    {                                                                                         \
        if (MEM_LIKELY(w->width == 32 &&                                                      \
                       mem_tagged(w, di, ISA_SPACE_##space, MEM_MODE_##mode,                  \
                                  ISA_SIZE_##kind, write, uniform, 32, true)))                \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(tag_##rw##suffix##_##space##_##kind##_##mode##_h)(w, di);              \
    }
#define FORM(space, mode, kind)                                                               \
    MEM_TAGGED(space, mode, kind, ld, false, , false)                                         \
    MEM_TAGGED(space, mode, kind, ld, false, u, true)                                         \
    MEM_TAGGED(space, mode, kind, st, true, , false)
MEM_FAST_FORMS(FORM)
#undef FORM

bool LEVEL(tagged_memory)(const struct isa_insn *insn, const struct emu_dinsn *di,
                                 bool uniform, struct emu_handlers *out)
{
    static const struct {
        uint8_t space, mode, kind, write, uniform;
        emu_handler_fn *full;
    } forms[] = {
#define FORM(space, mode, kind)                                                               \
    {ISA_SPACE_##space, MEM_MODE_##mode, ISA_SIZE_##kind, 0, 0,                               \
     LEVEL(tag_ld_##space##_##kind##_##mode)},                                                \
        {ISA_SPACE_##space, MEM_MODE_##mode, ISA_SIZE_##kind, 0, 1,                           \
         LEVEL(tag_ldu_##space##_##kind##_##mode)},                                           \
        {ISA_SPACE_##space, MEM_MODE_##mode, ISA_SIZE_##kind, 1, 0,                           \
         LEVEL(tag_st_##space##_##kind##_##mode)},
        MEM_FAST_FORMS(FORM)
#undef FORM
    };
    const bool write = emu_mem_info[insn->op].mem_class == EMU_MEM_STORE;
    unsigned mode = EMU_MOD(insn, AMODE), space = emu_mem_info[insn->op].space;
    unsigned kind = LEVEL(mem_kind)(di->sub, write);
    bool scalar = mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32;
    unsigned scale = scalar ? EMU_MOD(insn, ASCALE) : 0;

    if (scale != 0 && 1u << scale != mem_bytes(kind))
        return false;
    if (scale != 0)
        mode |= MEM_SCALED;
    if ((!write && emu_mem_info[insn->op].mem_class != EMU_MEM_LOAD) ||
        (scalar && di->reg > 126))
        return false;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        if (forms[i].space == space && forms[i].mode == mode && forms[i].kind == kind &&
            forms[i].write == write && forms[i].uniform == uniform) {
            out->full = forms[i].full;
            out->part = emu_plain_part;
            return true;
        }
    }
    return false;
}
