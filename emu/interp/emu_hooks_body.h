/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of the layer EMU_LAYER_HOOK. Included by emu_mem_exec.c after emu_compact_body.h, and so compiled once per x86-64
 * level.
 *
 * The handlers are instrumentation with inlined filters: a checker is not called for an instruction if the instruction's filter
 * excludes its accesses. Without the filters, the race check of gemm would execute 5.6 times as many host instructions
 * (docs/explanation/race-detection.md), with the same findings.
 */
#include "emu/memory/emu_mem_priv.h"
#include "emu/interp/emu_hooks_priv.h"

/** Returns true if the addresses of a segment, which begins at offset @at of an aperture, are not all in the aperture. @rise:
 *  distance from the first to the last lane's address. An address with an invalid offset, or with an offset that wraps, is
 *  outside the aperture. */
MEM_INLINE bool hook_beyond(uint64_t aperture, uint64_t at, unsigned rise)
{
    return at - aperture >= ISA_APERTURE_BYTES || at - aperture + rise >= ISA_APERTURE_BYTES;
}

/** Prefetches memory that scattered lanes will load. Called before the hook, which takes longer than the prefetch. @address need
 *  not be valid. */
MEM_INLINE void hook_prefetch(const struct emu_warp *w, uint64_t address)
{
    const uintptr_t host = (uintptr_t)w->core->machine->memory.host;

    __builtin_prefetch((const void *)(host + (uintptr_t)(address - ISA_GLOBAL_BASE)));
}

enum { HOOK_FEW = 8 };
/** Does the same as hook_segments(), lane by lane, for at most HOOK_FEW lanes. Returns false if an address is outside the
 *  aperture. */
MEM_INLINE bool hook_few(const struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                        uint64_t aperture, struct emu_hook_access *access, uint64_t *address)
{
    const struct isa_insn *insn = access->at.insn;
    const unsigned mode = EMU_MOD(insn, AMODE), low = lw_lowest(m);
    const unsigned last = 63 - (unsigned)__builtin_clzll(m), bytes = access->bytes;
    const uint32_t *off = emu_row(w, di->a), *high = emu_row(w, di->a + w->stride);
    const bool pair = mode == ISA_AMODE_PAIR;
    uint64_t base = (uint64_t)(int64_t)di->disp + aperture, beyond = 0, apart = 0, gaps = 0;
    uint32_t flip = 0;
    unsigned scale = 0;

    if (!pair && mode != ISA_AMODE_32) {
        base += emu_scalar_pair(w, di->reg);
        scale = EMU_MOD(insn, ASCALE);
        if (mode == ISA_AMODE_SS32) {
            flip = UINT32_C(1) << 31;
            base -= UINT64_C(1) << (31 + scale);
        }
    }
    const uint64_t at = base + ((uint64_t)(off[low] ^ flip) << scale) +
                        (pair ? (uint64_t)high[low] << 32 : 0);
    const uint64_t zero = at - (uint64_t)low * bytes;
    for (LW_EACH_BIT(l, m)) {
        const uint64_t here = base + ((uint64_t)(off[l] ^ flip) << scale) +
                              (pair ? (uint64_t)high[l] << 32 : 0);
        address[l] = here;
        apart |= here ^ at;
        gaps |= here ^ (zero + (uint64_t)l * bytes);
        beyond |= (here - aperture) / ISA_APERTURE_BYTES;
    }
    if (aperture != 0 && beyond != 0)
        return false;
    access->piece_count = apart == 0 || gaps == 0;
    access->piece[0] = (struct emu_addr_segment){at, (uint8_t)low, (uint8_t)last, apart != 0};
    access->address = address;
    for (LW_EACH_BIT(l, access->piece_count == 0 && aperture == 0 ? m : 0))
        hook_prefetch(w, address[l]);
    return true;
}

/** Describes the addresses of a load, store or atomic: as at most two segments if the addresses are uniform or contiguous,
 *  otherwise as an array. */
MEM_INLINE void hook_segments(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                           enum isa_space space, struct emu_hook_access *access, uint64_t *address)
{
    const unsigned n = w->n, bytes = access->bytes, low = lw_lowest(m);
    const unsigned last = 63 - (unsigned)__builtin_clzll(m);
    const bool all = m == lw_mask(n);
    const uint64_t rest = m & (m - 1),
                   aperture = space == ISA_SPACE_SHARED  ? ISA_SHARED_BASE
                              : space == ISA_SPACE_LOCAL ? ISA_LOCAL_BASE
                                                         : 0;
    struct mem_rows rows;
    uint64_t beyond = 0;

    if (lw_popcount(m) <= HOOK_FEW && space != ISA_SPACE_CONST &&
        hook_few(w, di, m, aperture, access, address))
        return;
    if (space == ISA_SPACE_CONST || !mem_rows(w, di, space, MEM_MODE_ANY, m, all, &rows)) {
        (void)emu_hook_lanes(w, di, access, address);
        return;
    }
    rows.base += aperture;
    const unsigned unit = bytes >> rows.scale;
    const uint32_t first = rows.off[low], zero = first ^ rows.flip;
    const uint32_t step = rest != 0 ? rows.off[lw_lowest(rest)] - first : 0;
    const bool ramp = step != 0;
    const uint64_t at = rows.base + ((uint64_t)zero << rows.scale);

    access->piece_count = 1;
    access->piece[0] = (struct emu_addr_segment){at, (uint8_t)low, (uint8_t)last, ramp};
    /* If @unit is 0, the distance between the addresses of consecutive lanes would be less than the access size. The other
     * conditions of this test ensure that the addresses of consecutive lanes do not wrap. */
    if ((!ramp || (unit != 0 && unit << rows.scale == bytes &&
                   step == (lw_lowest(rest) - low) * unit &&
                   zero <= UINT32_MAX - (last - low) * unit)) &&
        emu_row_affine(rows.off, n, m, all, first - (ramp ? low * unit : 0), ramp, unit)) {
        if (aperture == 0 || !hook_beyond(aperture, at, ramp ? (last - low) * bytes : 0))
            return;
        (void)emu_hook_lanes(w, di, access, address);
        return;
    }
    if (n == 32 && all && unit << rows.scale == bytes) {
        const uint32_t *off = rows.off;
        const bool run = off[1] != off[0];
        const uint32_t zero1 = off[16] ^ rows.flip, most = UINT32_MAX - 15 * unit;
        if (run == (off[17] != off[16]) && (!run || (zero <= most && zero1 <= most)) &&
            (run ? emu_halves_affine(off, off, false, true, unit)
                 : emu_halves_affine(off, off, false, false, unit))) {
            const uint64_t at1 = rows.base + ((uint64_t)zero1 << rows.scale);
            const unsigned rise = run ? 15 * bytes : 0;
            access->piece_count = 2;
            access->piece[0] = (struct emu_addr_segment){at, 0, 15, run};
            access->piece[1] = (struct emu_addr_segment){at1, 16, 31, run};
            if (aperture != 0 &&
                (hook_beyond(aperture, at, rise) || hook_beyond(aperture, at1, rise)))
                (void)emu_hook_lanes(w, di, access, address);
            return;
        }
    }
    access->piece_count = 0;
    access->address = address;
    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        address[l] = rows.base + ((uint64_t)(rows.off[l] ^ rows.flip) << rows.scale);
    if (aperture == 0) {
        for (LW_EACH_BIT(l, m))
            hook_prefetch(w, address[l]);
        return;
    }
    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        beyond |= (address[l] - aperture) / ISA_APERTURE_BYTES;
    if (beyond != 0)
        (void)emu_hook_lanes(w, di, access, address);
}

/** Returns true if the filter excludes the accesses of all lanes in @m. @all: @m contains all lanes of the warp. */
MEM_INLINE bool hook_excluded(const struct emu_warp *w, const struct emu_dinsn *di,
                          const struct emu_hook_filters *q, uint64_t m, bool all, unsigned n)
{
    const uint32_t *off = emu_row(w, di->a);
    uint64_t base = (uint64_t)(int64_t)di->disp;
    uint32_t flip = 0;

    if (q->mode == ISA_AMODE_PAIR) {
        const uint32_t *high = emu_row(w, di->a + w->stride);
        const uint32_t first = high[all ? 0 : lw_lowest(m)];
        base += (uint64_t)first << 32;
        if (!emu_row_affine(high, n, m, all, first, false, 0))
            return false;
    } else if (q->mode != ISA_AMODE_32) {
        base += emu_scalar_pair(w, di->reg);
        if (q->mode == ISA_AMODE_SS32) {
            flip = UINT32_C(1) << 31;
            base -= UINT64_C(1) << (31 + q->scale);
        }
    }
    /* an access is inside the filter's range if its offset is at least `low` and at most `high` */
    int64_t low = (int64_t)(q->span.first - base), high = (int64_t)(q->span.end - q->bytes - base);
    low = low <= 0 ? 0 : (low + (1 << q->scale) - 1) >> q->scale;
    high = high < 0 ? -1 : high >> q->scale;
    high = high > (int64_t)UINT32_MAX ? (int64_t)UINT32_MAX : high;
    return low <= high && emu_row_within(off, n, m, all, flip, (uint32_t)low,
                                         (uint32_t)(high - low), 0, 0);
}
MEM_OUTLINE bool LEVEL(hook_excluded_part)(const struct emu_warp *w, const struct emu_dinsn *di,
                                       const struct emu_hook_filters *q, uint64_t m)
{
    return hook_excluded(w, di, q, m, false, w->n);
}
/** Returns the same as hook_excluded() for lanes @m. Usually one comparison of all lanes of a warp of 32 with precomputed bounds
 *  is enough. */
MEM_INLINE bool hook_excluded_some(const struct emu_warp *w, const struct emu_dinsn *di, const struct emu_hook_filters *q,
                               uint64_t m)
{
    if (!q->bounded || w->n != 32 ||
        (q->mode != ISA_AMODE_PAIR && q->mode != ISA_AMODE_32 && emu_scalar_pair(w, di->reg) != q->base))
        return LEVEL(hook_excluded_part)(w, di, q, m);
    return emu_row_within(emu_row(w, di->a), 32, m, false, 0, q->low, q->range, 0, 0) &&
           (q->mode != ISA_AMODE_PAIR ||
            emu_row_strided(emu_row(w, di->a + w->stride), 32, m, false, q->high, 0));
}
/** Tests, for all lanes of a warp of 32 and a filter with `quick`, whether the filter excludes the accesses. If the result is
 *  true, hook_excluded() would return true, too; if the result is false, hook_excluded() may return true or false. */
MEM_INLINE bool hook_quick(const struct emu_warp *w, const struct emu_dinsn *di, const struct emu_hook_filters *q)
{
    return q->quick && q->epoch == w->core->machine->hooks_epoch && w->n == 32 && !w->stepped && !w->halting &&
           (q->span.ignore_split || w->hooked_lanes == w->m) &&
           (q->mode == ISA_AMODE_PAIR || q->mode == ISA_AMODE_32 || emu_scalar_pair(w, di->reg) == q->base) &&
           emu_row_within(emu_row(w, di->a), 32, UINT32_MAX, true, 0, q->low, q->range, 0, 0) &&
           (q->mode != ISA_AMODE_PAIR ||
            emu_row_affine(emu_row(w, di->a + w->stride), 32, UINT32_MAX, true, q->high, false, 0));
}
/** Computes the members `low`, `range` and `high` of a filter, if addresses can be compared with such bounds. The other members
 *  of @q are already set. */
static void LEVEL(hook_make_bounds)(const struct emu_warp *w, const struct emu_dinsn *di, struct emu_hook_filters *q)
{
    const bool scalar = q->mode == ISA_AMODE_SU32 || q->mode == ISA_AMODE_SS32;
    const uint64_t base = scalar ? emu_scalar_pair(w, di->reg) : 0;
    /* a signed offset is compared as unsigned, after 2^31 was added to it; the base is lowered accordingly */
    const uint64_t less = q->mode == ISA_AMODE_SS32 ? UINT64_C(1) << (31 + q->scale) : 0;
    const uint64_t from = base + (uint64_t)(int64_t)di->disp - less;
    int64_t low = (int64_t)(q->span.first - from), high = (int64_t)(q->span.end - q->bytes - from);

    low = low <= 0 ? 0 : (low + (1 << q->scale) - 1) >> q->scale;
    high = high < 0 ? -1 : high >> q->scale;
    if (scalar && high > (int64_t)UINT32_MAX)
        high = (int64_t)UINT32_MAX;
    if (low > high || low >> 32 != high >> 32 || (q->mode != ISA_AMODE_PAIR && low >> 32 != 0))
        return;
    q->bounded = true;
    q->quick = q->span.log == NULL && w->ctag == NULL && (di->guard & 15) == ISA_PT;
    q->base = base;
    q->low = (uint32_t)low ^ (less != 0 ? UINT32_C(1) << 31 : 0);
    q->range = (uint32_t)(high - low);
    q->high = (uint32_t)(low >> 32);
}
/* number of units of 8 bytes for the words that emu_row_pack may write past the last word of its result */
enum { HOOK_BEYOND = 20 };
/** Records the accesses of lanes @m in the log of filter @q. Returns false if the hook must be called instead. */
MEM_OUTLINE bool LEVEL(hook_log)(const struct emu_warp *w, const struct emu_dinsn *di,
                                  struct emu_hook_filters *q, uint64_t m)
{
    struct emu_access_log *log = q->span.log;
    const bool store = emu_mem_info[di->op].mem_class == EMU_MEM_STORE;
    const unsigned count = lw_popcount(m), n = w->n, low = lw_lowest(m), unit = 4u >> q->scale;
    const uint32_t *off = emu_row(w, di->a), first = off[low];
    enum emu_addr_form form = EMU_ADDR_GATHER;
    uint64_t base = (uint64_t)(int64_t)di->disp;
    uint32_t flip = 0;

    if (q->span.remaining == 0 || log->core != w->core || log->program != w->code->program ||
        log->capacity - log->used < emu_access_record_size(count, EMU_ADDR_GATHER, store) + HOOK_BEYOND)
        return false;
    q->span.remaining--;
    if (q->mode == ISA_AMODE_PAIR) {
        base += (uint64_t)emu_row(w, di->a + w->stride)[low] << 32;
    } else if (q->mode != ISA_AMODE_32) {
        base += emu_scalar_pair(w, di->reg);
        if (q->mode == ISA_AMODE_SS32) {
            flip = UINT32_C(1) << 31;
            base -= UINT64_C(1) << (31 + q->scale);
        }
    }
    struct emu_access_record *e = (void *)&log->data[log->used];
    const uint64_t others = m & (m - 1);
    uint32_t step = 0;
    if (others != 0) {
        const unsigned second = lw_lowest(others), gap = second - low;
        const uint32_t apart = off[second] - first;
        step = gap == 1 ? apart : (uint32_t)((int32_t)apart / (int)gap);
        form = step == 0                 ? EMU_ADDR_UNIFORM
               : step == unit            ? EMU_ADDR_CONTIGUOUS
               : count <= 2 || store     ? EMU_ADDR_GATHER /* a stride would save no words, or the access is a store, for which
                                                            * the record has no strided form */
                                         : EMU_ADDR_STRIDED;
        const uint32_t zero = first - low * step;
        if (form != EMU_ADDR_GATHER && !(n == 32 ? emu_row_strided(off, 32, m, false, zero, step)
                                              : emu_row_strided(off, n, m, false, zero, step)))
            form = EMU_ADDR_GATHER;
    }
    e->word[0] = first ^ flip;
    if (form == EMU_ADDR_STRIDED) {
        e->word[1] = step;
    } else if (form == EMU_ADDR_GATHER && count == n) {
        EMU_LANE_LOOP
        for (unsigned l = 0; l < n; l++)
            e->word[l] = off[l] ^ flip;
#if defined(EMU_HAVE_16)
    } else if (form == EMU_ADDR_GATHER && count > 1 && n == 32) { /* without a loop, because the host's branch predictor could not
                                                                   * predict the number of iterations */
        (void)emu_row_pack(e->word, off, (uint32_t)m, flip);
#endif
    } else if (form == EMU_ADDR_GATHER) {
        uint32_t *word = e->word;
        for (LW_EACH_BIT(l, m))
            *word++ = off[l] ^ flip;
    }
    log->used += emu_access_record_size(count, form, store);
    e->lanes = m;
    e->base = base;
    e->index = di->index;
    e->tag = q->span.tag;
    e->slot = (uint16_t)w->block->slot;
    e->warp = (uint16_t)w->index;
    e->count = (uint8_t)count;
    e->scale = q->scale;
    e->form = (uint8_t)form;
    e->store = store;
    if (!store)
        return true;
    const uint8_t *host = w->core->machine->memory.host + (base - ISA_GLOBAL_BASE);
    const uint32_t *d = emu_row(w, di->b);
    uint32_t *value = e->word + (form == EMU_ADDR_GATHER ? count : 1), *there = value + count;
    for (LW_EACH_BIT(l, m)) {
        *value++ = d[l];
        memcpy(there++, host + ((uint64_t)(off[l] ^ flip) << q->scale), sizeof *there);
    }
    return true;
}

/** Returns true if @di is a memory instruction whose hook need not be called if no lane is active. The hook layer must run if
 *  w->halting is set, because the layer resets this member, or if the instruction is scalar. */
MEM_INLINE bool hook_skip_none(const struct emu_warp *w, const struct emu_dinsn *di)
{
    /* a scalar load accesses memory even if no lane is active */
    return emu_mem_info[di->op].mem_class != EMU_MEM_NONE && !w->halting && !emu_mem_info[di->op].scalar;
}
/** Returns true if the hook need not be called, because the filter excludes the accesses of all lanes in @m; @m is not empty.
 *  @whole: @m contains all lanes of a warp of 32. */
MEM_INLINE bool hook_skip(const struct emu_warp *w, const struct emu_dinsn *di, uint64_t m, bool whole)
{
    struct emu_hook_filters *q = &w->code->hook_filter[di->index];

    if (q->epoch != w->core->machine->hooks_epoch || (w->hooked_lanes != w->m && !q->span.ignore_split) || w->stepped ||
        w->halting || w->ctag != NULL)
        return false;
    if (!(whole ? hook_excluded(w, di, q, m, true, 32) : hook_excluded_some(w, di, q, m)))
        return false;
    return q->span.log == NULL || LEVEL(hook_log)(w, di, q, m);
}

/** Called after the hook of @di. Returns false if the hook has requested a halt; the warp has then left the chain before @di. */
MEM_INLINE bool hook_continues(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (!w->core->machine->halt || w->stepped)
        return true;
    emu_hooks_split_runs(w, di, false);
    return false;
}

/** Calls the hook of @di. Returns false if the warp has left the chain. */
MEM_OUTLINE bool LEVEL(hook_call)(struct emu_warp *w, const struct emu_dinsn *di)
{
    static const uint8_t kinds[] = {[EMU_MEM_NONE] = EMU_ACCESS_LOAD,
                                    [EMU_MEM_LOAD] = EMU_ACCESS_LOAD,
                                    [EMU_MEM_STORE] = EMU_ACCESS_STORE,
                                    [EMU_MEM_ATOMIC] = EMU_ACCESS_ATOMIC,
                                    [EMU_MEM_REDUCE] = EMU_ACCESS_REDUCE};
    struct emu_hooks *active_hooks = w->core->machine->active_hooks;
    const struct emu_mem_info *memory = &emu_mem_info[di->op];
    const uint64_t m = w->e & emu_guard(w, di);
    uint64_t address[EMU_MAX_LANES];
    struct emu_hook_access access;

    if (active_hooks == NULL || w->halting) {
        w->halting = false;
        return true;
    }
    if (memory->mem_class == EMU_MEM_NONE &&
        !(isa_op_info((enum isa_op)di->op)->flags & ISA_F_MEMORY)) {
        const bool stepped = w->stepped;

        emu_hook_site(w, di, m, &access.at);
        active_hooks->on_insn(active_hooks, &access.at);
        if (stepped || !w->stepped)
            return hook_continues(w, di);
        emu_hooks_split_runs(w, di, true); /* single steps start with @di */
        return false;
    }
    const uint64_t lanes = memory->scalar ? w->m & emu_guard(w, di) : m;
    if (lanes == 0)
        return true;
    emu_hook_site(w, di, lanes, &access.at);
    if (w->ctag != NULL)
        emu_compact_sources(w, di);
    access.kind = (enum emu_access_kind)kinds[memory->mem_class];
    access.space = (enum isa_space)memory->space;
    if (memory->scalar || di->op == ISA_TEX) {
        if (!emu_hook_lanes(w, di, &access, address))
            return true;
    } else {
        access.bytes = memory->mem_class >= EMU_MEM_ATOMIC ? emu_atype_bytes(di->sub)
                                                           : emu_size_bytes(di->sub);
        hook_segments(w, di, m, access.space, &access, address);
    }
    struct emu_hook_filter hook_filter = {0};
    access.filter = &hook_filter;
    if (access.space != ISA_SPACE_LOCAL && access.space != ISA_SPACE_CONST)
        w->hooked_lanes = w->m;
    const bool leaves = active_hooks->on_access(active_hooks, &access);
    /* in shared and local memory, the filter's range is compared with offsets in the aperture */
    const uint64_t aperture = access.space == ISA_SPACE_SHARED  ? ISA_SHARED_BASE
                              : access.space == ISA_SPACE_LOCAL ? ISA_LOCAL_BASE
                                                                : 0;
    if (hook_filter.end - hook_filter.first >= access.bytes && !memory->scalar &&
        di->op != ISA_TEX && access.space != ISA_SPACE_CONST && (aperture == 0 || hook_filter.ignore_split)) {
        hook_filter.first = hook_filter.first > aperture ? hook_filter.first - aperture : 0;
        hook_filter.end = hook_filter.end - aperture < ISA_APERTURE_BYTES || aperture == 0 ? hook_filter.end - aperture
                                                                               : ISA_APERTURE_BYTES;
        const uint8_t mode = (uint8_t)EMU_MOD(emu_insn_of(w, di), AMODE);
        w->code->hook_filter[di->index] = (struct emu_hook_filters){
            .span = hook_filter, .epoch = w->core->machine->hooks_epoch, .mode = mode,
            .scale = mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32
                         ? (uint8_t)EMU_MOD(emu_insn_of(w, di), ASCALE) : 0,
            .bytes = (uint8_t)access.bytes};
        LEVEL(hook_make_bounds)(w, di, &w->code->hook_filter[di->index]);
    }
    if (!leaves || w->stepped)
        return hook_continues(w, di);
    emu_hooks_split_runs(w, di, true);
    return false;
}
MEM_OUTLINE void LEVEL(hook_called_full)(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (LEVEL(hook_call)(w, di))
        EMU_TAIL w->code->base[di->index].full(w, di);
}
MEM_OUTLINE void LEVEL(hook_some_full)(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (hook_skip(w, di, w->e & emu_guard(w, di), false))
        EMU_TAIL w->code->base[di->index].full(w, di);
    EMU_TAIL LEVEL(hook_called_full)(w, di);
}
MEM_OUTLINE void LEVEL(hook_slow_full)(struct emu_warp *w, const struct emu_dinsn *di)
{
    const uint64_t m = w->e & emu_guard(w, di);

    if (m == 0) {
        if (hook_skip_none(w, di))
            EMU_TAIL w->code->base[di->index].full(w, di);
        EMU_TAIL LEVEL(hook_called_full)(w, di);
    }
    if (w->n != 32 || m != lw_mask(32))
        EMU_TAIL LEVEL(hook_some_full)(w, di);
    if (MEM_LIKELY(hook_skip(w, di, m, true)))
        EMU_TAIL w->code->base[di->index].full(w, di);
    EMU_TAIL LEVEL(hook_called_full)(w, di);
}
void LEVEL(hooked_full)(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (MEM_LIKELY(hook_quick(w, di, &w->code->hook_filter[di->index])))
        EMU_TAIL w->code->base[di->index].full(w, di);
    EMU_TAIL LEVEL(hook_slow_full)(w, di);
}
MEM_OUTLINE void LEVEL(hook_called_part)(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (LEVEL(hook_call)(w, di))
        EMU_TAIL w->code->base[di->index].part(w, di);
}
void LEVEL(hooked_part)(struct emu_warp *w, const struct emu_dinsn *di)
{
    const uint64_t m = w->e & emu_guard(w, di);

    if (m != 0 ? hook_skip(w, di, m, false) : hook_skip_none(w, di))
        EMU_TAIL w->code->base[di->index].part(w, di);
    EMU_TAIL LEVEL(hook_called_part)(w, di);
}
