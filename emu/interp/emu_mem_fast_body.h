/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast stage of loads and stores (emu_mem_general_body.h describes the stages), atomics and reductions, and the selection of
 * handlers for memory instructions. Included by emu_mem_exec.c after emu_mem_general_body.h, and so compiled once per x86-64
 * level.
 */
/* ---- the fast stage: common address layouts ---------------------------------------------------- */

/** Returns the host address of the guest range [address, address + span), or NULL if the range is not valid or must be accessed
 *  by the general stage. */
MEM_INLINE uint8_t *mem_reach(struct emu_warp *w, enum isa_space space, uint64_t address,
                              uint64_t span, bool write)
{
    if (space == ISA_SPACE_SHARED) {
        if (address >= w->block->shared_bytes || span > w->block->shared_bytes - address)
            return NULL;
        return w->block->shared + address;
    }
    struct emu_memory *memory = &w->core->machine->memory;
    uint64_t offset = address - ISA_GLOBAL_BASE, page = offset / EMU_PAGE_BYTES;
    if (offset >= memory->bytes || offset % EMU_PAGE_BYTES + span >
                                       (write ? memory->store_valid : memory->load_valid)[page])
        return NULL;
    if (write)
        emu_dirty_mark(memory, page);
    return memory->host + offset;
}

/** Loads or stores for all active lanes in one operation, if their addresses are contiguous (@ramp) or uniform (!@ramp). Returns
 *  false if the addresses have another layout or are not valid; nothing was then done. @high: the high words of the addresses, or
 *  NULL. */
MEM_INLINE bool mem_fast_form(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                              bool all, enum isa_space space, unsigned kind, bool write,
                              const struct mem_rows *rows, const uint32_t *high, bool pair,
                              unsigned n, bool ramp)
{
    const unsigned bytes = mem_bytes(kind), unit = bytes >> rows->scale;
    const unsigned low = all ? 0 : lw_lowest(m);
    const unsigned last = all ? n - 1 : 63 - (unsigned)__builtin_clzll(m);
    const uint32_t first = rows->off[low], zero = first ^ rows->flip;
    const unsigned span = (ramp ? (last - low) * bytes : 0) + bytes;
    const size_t stride = w->stride / 4;
    uint64_t address = rows->base + ((uint64_t)zero << rows->scale);
    uint32_t high_first = 0, *d;
    uint8_t *host;
    bool changed = false;

    if (pair) {
        high_first = high[low];
        address += (uint64_t)high_first << 32;
    }
    if (address & (bytes - 1))
        return false;
    if (ramp && zero > UINT32_MAX - span) /* the 32-bit offsets of consecutive lanes may wrap, although the 64-bit addresses do
                                           * not wrap */
        return false;
    if (!emu_rows_affine(rows->off, high, pair, n, m, all, first - (ramp ? low * unit : 0),
                         high_first, ramp, unit))
        return false;
    d = emu_row(w, write ? di->b : di->d);
    if (space == ISA_SPACE_LOCAL) {
        if (address >= w->local_bytes || bytes > w->local_bytes - address)
            return false;
        host = w->local + address * n;
        for (unsigned k = 0; k < bytes / 4; k++, host += 4 * n) {
            if (write)
                (void)emu_row_store(host, d + k * stride, n, m, all);
            else
                emu_row_load(d + k * stride, host, n, m, all);
        }
        mem_count_local(w, write);
        return true;
    }
    host = mem_reach(w, space, address, span, write);
    if (host == NULL)
        return false;
    if (ramp && all && __builtin_constant_p(n) && n == 32 && space == ISA_SPACE_GLOBAL &&
        di->flags & EMU_D_AHEAD)
        for (unsigned k = 0; k < n * bytes; k += 64)
            __builtin_prefetch(host + EMU_AHEAD_BYTES + k);
    if (ramp)
        host -= low * bytes;
    if (write)
        changed = ramp ? mem_store_run(host, d, stride, n, m, all, kind)
                       : mem_store_equal(host, d, stride, n, m, all, kind);
    else if (ramp)
        mem_load_run(d, stride, n, m, all, host, kind);
    else
        mem_load_equal(d, stride, n, m, all, host, kind);
    mem_count(w, write, changed);
    return true;
}

/** Computes the addresses as mem_rows() does, but does not read the high words of address register pairs. If @mode contains
 *  MEM_SCALED, offsets are multiplied by @bytes. */
MEM_INLINE void mem_start(const struct emu_warp *w, const struct emu_dinsn *di, unsigned mode,
                          unsigned bytes, struct mem_rows *rows)
{
    const unsigned plain = mode & ~(unsigned)MEM_SCALED;

    *rows = (struct mem_rows){.base = (uint64_t)(int64_t)di->disp, .off = emu_row(w, di->a)};
    if (mode & MEM_SCALED)
        rows->scale = (uint8_t)lw_lowest(bytes);
    if (plain == ISA_AMODE_SU32 || plain == ISA_AMODE_SS32)
        rows->base += (uint64_t)w->s[di->reg + 1] << 32 | w->s[di->reg];
    if (plain == ISA_AMODE_SS32) {
        rows->flip = UINT32_C(1) << 31;
        rows->base -= UINT64_C(1) << (31 + rows->scale);
    }
}

MEM_INLINE bool mem_fast(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m, bool all,
                         unsigned n, enum isa_space space, unsigned mode, unsigned kind,
                         bool write)
{
    const unsigned bytes = mem_bytes(kind);
    struct mem_rows rows;
    const uint32_t *high = NULL;
    unsigned low = all ? 0 : lw_lowest(m), next = all ? 1 : low;
    uint32_t step;

    if (all && n < MEM_LEAST)
        __builtin_unreachable();
    if (mode == ISA_AMODE_PAIR)
        high = emu_row(w, di->a + w->stride);
    mem_start(w, di, mode, bytes, &rows);
    if (!all && (m & (m - 1)) != 0)
        next = lw_lowest(m & (m - 1));
    step = rows.off[next] - rows.off[low];
    if (step == 0)
        return mem_fast_form(w, di, m, all, space, kind, write, &rows, high,
                             mode == ISA_AMODE_PAIR, n, false);
    if (space == ISA_SPACE_LOCAL || step != (next - low) * (bytes >> rows.scale))
        return false;
    return mem_fast_form(w, di, m, all, space, kind, write, &rows, high,
                         mode == ISA_AMODE_PAIR, n, true);
}

/** For a warp of 32 whose lanes access words: computes the address of the first lane of each half. The addresses in each half of
 *  the lanes must be uniform, or contiguous if @ramp is set, and all addresses must be in one 4 GiB window. Such addresses are
 *  common if blocks have 16 columns. @known: the layout is known and need not be checked. Returns false if the addresses have
 *  another layout, are not aligned, or may wrap. */
MEM_INLINE bool mem_half_addresses(const struct emu_warp *w, const struct emu_dinsn *di, unsigned mode,
                                   bool ramp, bool known, uint64_t *address0, uint64_t *address1)
{
    enum { BYTES = 4, HALF = 16 };
    const unsigned plain = mode & ~(unsigned)MEM_SCALED, scale = mode & MEM_SCALED ? 2 : 0;
    const bool pair = mode == ISA_AMODE_PAIR, is_signed = plain == ISA_AMODE_SS32;
    const uint32_t *off = emu_row(w, di->a), *high = off;
    const uint32_t first0 = off[0], first1 = off[HALF];
    uint64_t base = (uint64_t)(int64_t)di->disp;

    if (pair) {
        high = emu_row(w, di->a + w->stride);
        base += (uint64_t)high[0] << 32;
    } else if (plain == ISA_AMODE_SU32 || is_signed) {
        base += (uint64_t)w->s[di->reg + 1] << 32 | w->s[di->reg];
    }
    *address0 = base + ((is_signed ? (uint64_t)(int64_t)(int32_t)first0 : first0) << scale);
    *address1 = base + ((is_signed ? (uint64_t)(int64_t)(int32_t)first1 : first1) << scale);
    if ((*address0 | *address1) & (BYTES - 1))
        return false;
    if (ramp) { /* the 32-bit offsets of consecutive lanes may wrap, although the 64-bit addresses do not wrap */
        const uint32_t flip = is_signed ? UINT32_C(1) << 31 : 0;
        const uint32_t most = (UINT32_MAX - HALF * BYTES) ^ flip;
        if (is_signed ? (int32_t)first0 > (int32_t)most || (int32_t)first1 > (int32_t)most
                      : first0 > most || first1 > most)
            return false;
    }
    return known || emu_halves_affine(off, high, pair, ramp, BYTES >> scale);
}

/** Loads both halves of a vector register from their two host addresses. */
MEM_INLINE void mem_half_load(struct emu_warp *w, const struct emu_dinsn *di, const uint8_t *host0,
                              const uint8_t *host1, bool ramp)
{
    enum { HALF = 16 };
    uint32_t *d = emu_row(w, di->d);

    if (ramp) {
        emu_row_load(d, host0, HALF, 0xffff, true);
        emu_row_load(d + HALF, host1, HALF, 0xffff, true);
    } else {
        emu_row_splat(d, HALF, 0xffff, true, lw_get32(host0));
        emu_row_splat(d + HALF, HALF, 0xffff, true, lw_get32(host1));
    }
    mem_count(w, false, false);
}

/** Loads or stores a word for each lane in one operation, if the addresses in each half of the lanes are uniform, or contiguous
 *  if @ramp is set. If the addresses have another layout, does nothing and returns false. */
MEM_INLINE bool mem_half_form(struct emu_warp *w, const struct emu_dinsn *di,
                              enum isa_space space, unsigned mode, bool write, bool ramp,
                              bool known)
{
    enum { BYTES = 4, HALF = 16 };
    const unsigned span = ramp ? HALF * BYTES : BYTES;
    uint64_t address0, address1;

    if (!mem_half_addresses(w, di, mode, ramp, known, &address0, &address1))
        return false;
    uint8_t *host0 = mem_reach(w, space, address0, span, write);
    if (host0 == NULL)
        return false;
    uint8_t *host1 = host0; /* both halves may access the same addresses, for example if the lanes are two thread rows
                             * that read the same data */
    if (address1 != address0)
        host1 = mem_reach(w, space, address1, span, write);
    if (host1 == NULL)
        return false;
    if (write) {
        const uint32_t *d = emu_row(w, di->b);
        bool changed = ramp ? mem_store_run(host0, d, 0, HALF, 0xffff, true, ISA_SIZE_B32)
                            : mem_store_equal(host0, d, 0, HALF, 0xffff, true, ISA_SIZE_B32);
        changed |= ramp ? mem_store_run(host1, d + HALF, 0, HALF, 0xffff, true, ISA_SIZE_B32)
                        : mem_store_equal(host1, d + HALF, 0, HALF, 0xffff, true, ISA_SIZE_B32);
        mem_count(w, true, changed);
    } else {
        mem_half_load(w, di, host0, host1, ramp);
    }
    return true;
}

/** Executes the first of the loads that share an address check (enum emu_addr_check_role). */
MEM_INLINE bool mem_half_open(struct emu_warp *w, const struct emu_dinsn *di, enum isa_space space,
                              unsigned mode, bool ramp)
{
    enum { BYTES = 4, HALF = 16 };
    const unsigned slot = (uint8_t)(di->aux >> EMU_ADDR_CHECK_SLOT);
    const unsigned below = (uint16_t)(di->aux >> EMU_ADDR_CHECK_BELOW);
    const unsigned all = below + (uint16_t)(di->aux >> EMU_ADDR_CHECK_ABOVE);
    const unsigned span = ramp ? HALF * BYTES : BYTES;
    unsigned proved = ramp ? EMU_PROVED_RUN : EMU_PROVED_EQUAL;
    uint64_t address0, address1;
    /* The check in the previous iteration of the loop has shown the layout of the low words. Since that check, a carry may have
     * changed the high words of one half only. */
    const uint32_t *high = emu_row(w, mode == ISA_AMODE_PAIR ? di->a + w->stride : di->a);
    const bool known = (w->proved[slot] & proved) != 0 &&
                       (mode != ISA_AMODE_PAIR || high[0] == high[HALF]);

    w->proved[slot] = 0; /* if a following test fails, the result of the previous iteration is not valid for the later loads
                          * either */
    if (!mem_half_addresses(w, di, mode, ramp, known, &address0, &address1))
        return false;
    uint8_t *host0 = mem_reach(w, space, address0 - below, span + all, false);
    uint8_t *host1 = mem_reach(w, space, address1 - below, span + all, false);
    if (MEM_LIKELY(host0 != NULL && host1 != NULL)) {
        host0 += below;
        host1 += below;
        w->proof[slot].host[0] = host0;
        w->proof[slot].host[1] = host1;
        proved |= EMU_PROVED_REACHED;
    } else { /* the range that also contains the words of the later loads is not valid, but this load's own words may be */
        host0 = mem_reach(w, space, address0, span, false);
        host1 = mem_reach(w, space, address1, span, false);
        if (host0 == NULL || host1 == NULL)
            return false;
    }
    w->proved[slot] = (uint8_t)proved;
    mem_half_load(w, di, host0, host1, ramp);
    return true;
}

/** @di shares an address check with other loads. Returns the results (EMU_PROVED_*) of this check, which the first of these loads
 *  has made in this straight-line run. */
MEM_INLINE unsigned mem_proved(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return w->proved[(uint8_t)(di->aux >> EMU_ADDR_CHECK_SLOT)];
}

/** Replaces the full base handler of instruction @di by @to, if it is @from, so that the handler that has just executed the
 *  instruction is tried first the next time. The layers do not change. */
MEM_INLINE void mem_prefer(struct emu_warp *w, const struct emu_dinsn *di, emu_handler_fn *from,
                           emu_handler_fn *to)
{
    struct emu_handlers *base = &w->code->base[di->index];

    if (base->full != from)
        return;
    base->full = to;
    emu_code_relink(w->code, di->index);
}

/* Suffixes of handlers. _f: for all lanes of a warp of 32. _h: for accesses that _f cannot execute; handles each half of the
 * lanes separately. _U and _R: for both halves in one operation, if the addresses in each half are uniform (_U) or contiguous
 * (_R); an instruction uses the handler of the two that executed its last access. _bU and _bR: make _f the instruction's handler
 * again. _a: for all lanes of a warp of at least MEM_LEAST lanes. _p: for the lanes that mask and guard select; calls _f if these
 * are all lanes, otherwise _w, which is for a warp of 32. _q: as _w, for any width, because the last warp of a block may have
 * fewer lanes than its vector registers. */
#define MEM_HALF_FORM(space, mode, kind, rw, write, form, back, ramp)                         \
    static void LEVEL(mem_##rw##_##space##_##kind##_##mode##_##form)(MEM_PARAMS)              \
    {                                                                                         \
        if (MEM_LIKELY(w->width == 32 && mem_half_form(w, di, ISA_SPACE_##space,              \
                                                       MEM_MODE_##mode, write, ramp, false))) \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_##back)(w, di);                 \
    }                                                                                         \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_##back)(MEM_PARAMS)         \
    {                                                                                         \
        mem_prefer(w, di, LEVEL(mem_##rw##_##space##_##kind##_##mode##_halves)(di, ramp),     \
                   LEVEL(mem_##rw##_##space##_##kind##_##mode##_f));                          \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_f)(w, di);                      \
    }
/* Suffixes of loads that share an address check. _O: for the first of these loads. _S: for a later load if the layout of its
 * addresses is known. _L: for a later load if its host addresses are known, too. */
#define MEM_PROVED_FORM(space, mode, kind, form, ramp)                                        \
    static void LEVEL(mem_ld_##space##_##kind##_##mode##_O##form)(MEM_PARAMS)                 \
    {                                                                                         \
        if (MEM_LIKELY(w->width == 32 &&                                                      \
                       mem_half_open(w, di, ISA_SPACE_##space, MEM_MODE_##mode, ramp)))       \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_ld_##space##_##kind##_##mode##_b##form)(w, di);                    \
    }                                                                                         \
    static void LEVEL(mem_ld_##space##_##kind##_##mode##_S##form)(MEM_PARAMS)                 \
    {                                                                                         \
        if (MEM_LIKELY(mem_proved(w, di) & (ramp ? EMU_PROVED_RUN : EMU_PROVED_EQUAL) &&      \
                       mem_half_form(w, di, ISA_SPACE_##space, MEM_MODE_##mode, false, ramp,  \
                                     true)))                                                  \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_ld_##space##_##kind##_##mode##_##form)(w, di);                     \
    }                                                                                         \
    static void LEVEL(mem_ld_##space##_##kind##_##mode##_L##form)(MEM_PARAMS)                 \
    {                                                                                         \
        if (MEM_LIKELY(mem_proved(w, di) ==                                                   \
                       ((ramp ? EMU_PROVED_RUN : EMU_PROVED_EQUAL) | EMU_PROVED_REACHED))) {  \
            const struct emu_addr_check *proof = &w->proof[(uint8_t)(di->aux >> EMU_ADDR_CHECK_SLOT)];  \
            const int32_t above = (int32_t)(uint32_t)(di->aux >> EMU_ADDR_CHECK_ABOVE);            \
            mem_half_load(w, di, proof->host[0] + above, proof->host[1] + above, ramp);       \
            EMU_NEXT_FULL(w, di);                                                             \
        }                                                                                     \
        EMU_TAIL LEVEL(mem_ld_##space##_##kind##_##mode##_S##form)(w, di);                    \
    }
/* Returns the handler that executes the access by halves. */
#define MEM_HALF_PLAIN(space, mode, kind, rw, write)                                          \
    MEM_INLINE emu_handler_fn *LEVEL(mem_##rw##_##space##_##kind##_##mode##_halves)(          \
        const struct emu_dinsn *di, bool ramp)                                                \
    {                                                                                         \
        (void)di;                                                                             \
        return ramp ? LEVEL(mem_##rw##_##space##_##kind##_##mode##_R)                         \
                    : LEVEL(mem_##rw##_##space##_##kind##_##mode##_U);                        \
    }                                                                                         \
    MEM_HALF_FORM(space, mode, kind, rw, write, U, bU, false)                                 \
    MEM_HALF_FORM(space, mode, kind, rw, write, R, bR, true)
#define MEM_HALF_PROVED(space, mode, kind, rw, write)                                         \
    static emu_handler_fn LEVEL(mem_ld_##space##_##kind##_##mode##_OU),                       \
        LEVEL(mem_ld_##space##_##kind##_##mode##_OR), LEVEL(mem_ld_##space##_##kind##_##mode##_SU), \
        LEVEL(mem_ld_##space##_##kind##_##mode##_SR), LEVEL(mem_ld_##space##_##kind##_##mode##_LU), \
        LEVEL(mem_ld_##space##_##kind##_##mode##_LR);                                         \
    static emu_handler_fn *LEVEL(mem_ld_##space##_##kind##_##mode##_halves)(                  \
        const struct emu_dinsn *di, bool ramp)                                                \
    {                                                                                         \
        static emu_handler_fn *const by_role[][2] = {                                         \
            [EMU_ADDR_CHECK_NONE] = {LEVEL(mem_ld_##space##_##kind##_##mode##_U),                  \
                                LEVEL(mem_ld_##space##_##kind##_##mode##_R)},                 \
            [EMU_ADDR_CHECK_OPENS] = {LEVEL(mem_ld_##space##_##kind##_##mode##_OU),                \
                                 LEVEL(mem_ld_##space##_##kind##_##mode##_OR)},               \
            [EMU_ADDR_CHECK_FOLLOWS] = {LEVEL(mem_ld_##space##_##kind##_##mode##_SU),              \
                                   LEVEL(mem_ld_##space##_##kind##_##mode##_SR)},             \
            [EMU_ADDR_CHECK_IN_RANGE] = {LEVEL(mem_ld_##space##_##kind##_##mode##_LU),                 \
                                LEVEL(mem_ld_##space##_##kind##_##mode##_LR)},                \
        };                                                                                    \
        return by_role[di->flags & EMU_D_MODIFIED ? EMU_ADDR_CHECK_NONE : (uint8_t)di->aux][ramp]; \
    }                                                                                         \
    MEM_HALF_FORM(space, mode, kind, ld, false, U, bU, false)                                 \
    MEM_HALF_FORM(space, mode, kind, ld, false, R, bR, true)                                  \
    MEM_PROVED_FORM(space, mode, kind, U, false)                                              \
    MEM_PROVED_FORM(space, mode, kind, R, true)
/* Makes _h try to execute an access by halves before the general stage. The last parameter is empty for accesses that have no
 * handlers by halves. */
#define MEM_HALVES(space, mode, kind, rw, write, HALF)                                        \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_bU)(MEM_PARAMS);            \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_bR)(MEM_PARAMS);            \
    static emu_handler_fn LEVEL(mem_##rw##_##space##_##kind##_##mode##_f),                    \
        LEVEL(mem_##rw##_##space##_##kind##_##mode##_U),                                      \
        LEVEL(mem_##rw##_##space##_##kind##_##mode##_R);                                      \
    HALF(space, mode, kind, rw, write)                                                        \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_h)(MEM_PARAMS)              \
    {                                                                                         \
        const uint32_t *off = emu_row(w, di->a);                                              \
        const bool ramp = off[0] != off[1];                                                   \
        if (ramp == (off[16] != off[17]) &&                                                   \
            (ramp ? mem_half_form(w, di, ISA_SPACE_##space, MEM_MODE_##mode, write, true,     \
                                  false)                                                      \
                  : mem_half_form(w, di, ISA_SPACE_##space, MEM_MODE_##mode, write, false,    \
                                  false))) {                                                  \
            mem_prefer(w, di, LEVEL(mem_##rw##_##space##_##kind##_##mode##_f),                \
                       LEVEL(mem_##rw##_##space##_##kind##_##mode##_halves)(di, ramp));       \
            EMU_NEXT_FULL(w, di);                                                             \
        }                                                                                     \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }
#define MEM_WHOLE(space, mode, kind, rw, write)                                               \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_h)(MEM_PARAMS)              \
    {                                                                                         \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }
#define MEM_FAST(space, mode, kind, rw, write)                                                \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_q)(MEM_PARAMS)              \
    {                                                                                         \
        uint64_t m = w->e & emu_guard(w, di);                                                 \
        if (m == 0 ||                                                                         \
            MEM_LIKELY(mem_fast(w, di, m, false, w->n, ISA_SPACE_##space, MEM_MODE_##mode,    \
                                ISA_SIZE_##kind, write)))                                     \
            EMU_NEXT(w, di);                                                                  \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }                                                                                         \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_w)(MEM_PARAMS)              \
    {                                                                                         \
        if (!MEM_LIKELY(w->width == 32))                                                      \
            EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_q)(w, di);                  \
        if (MEM_LIKELY(mem_fast(w, di, w->e & emu_guard(w, di), false, 32, ISA_SPACE_##space, \
                                MEM_MODE_##mode, ISA_SIZE_##kind, write)))                    \
            EMU_NEXT(w, di);                                                                  \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }                                                                                         \
    static emu_handler_fn LEVEL(mem_##rw##_##space##_##kind##_##mode##_f);                    \
    static void LEVEL(mem_##rw##_##space##_##kind##_##mode##_p)(MEM_PARAMS)                   \
    {                                                                                         \
        const uint64_t m = w->e & emu_guard(w, di);                                           \
        if (m == 0) /* a frequent case, for which no stack frame is needed */                               \
            EMU_NEXT(w, di);                                                                  \
        if (m == w->all) /* continues with the handler for all lanes */                        \
            EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_f)(w, di);                  \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_w)(w, di);                      \
    }                                                                                         \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_a)(MEM_PARAMS)              \
    {                                                                                         \
        if (w->width < MEM_LEAST)                                                             \
            EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_q)(w, di);                  \
        if (MEM_LIKELY(mem_fast(w, di, w->all, true, w->n, ISA_SPACE_##space,                 \
                                MEM_MODE_##mode, ISA_SIZE_##kind, write)))                    \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }                                                                                         \
    static void LEVEL(mem_##rw##_##space##_##kind##_##mode##_f)(MEM_PARAMS)                   \
    {                                                                                         \
        if (!MEM_LIKELY(w->width == 32)) /* all lanes are active, because this is a full handler */ \
            EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_a)(w, di);                  \
        if (MEM_LIKELY(mem_fast(w, di, UINT32_MAX, true, 32, ISA_SPACE_##space,               \
                                MEM_MODE_##mode, ISA_SIZE_##kind, write)))                    \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_h)(w, di);                      \
    }
enum {
    MEM_MODE_PAIR = ISA_AMODE_PAIR,
    MEM_MODE_M32 = ISA_AMODE_32,
    MEM_MODE_SU32 = ISA_AMODE_SU32,
    MEM_MODE_SS32 = ISA_AMODE_SS32,
    MEM_MODE_SU32X = ISA_AMODE_SU32 | MEM_SCALED,
    MEM_MODE_SS32X = ISA_AMODE_SS32 | MEM_SCALED
};
/* Accesses that have fast handlers, by space, addressing mode and size. All other accesses use the general handlers. */
#define MEM_PROVED_FORMS(FORM)                                                                \
    FORM(GLOBAL, PAIR, B32) FORM(GLOBAL, SU32X, B32) FORM(GLOBAL, SS32X, B32)                 \
    FORM(SHARED, M32, B32) FORM(SHARED, PAIR, B32)
#define MEM_HALF_FORMS(FORM)                                                                  \
    FORM(GLOBAL, SU32, B32) FORM(GLOBAL, SS32, B32) FORM(GENERIC, PAIR, B32)
#define MEM_WHOLE_FORMS(FORM)                                                                 \
    FORM(GLOBAL, PAIR, V2B32) FORM(GLOBAL, PAIR, V4B32)                                       \
    FORM(GLOBAL, SU32, V2B32) FORM(GLOBAL, SU32, V4B32)                                       \
    FORM(GLOBAL, SU32X, V2B32) FORM(GLOBAL, SU32X, V4B32)                                     \
    FORM(GLOBAL, SS32X, V2B32) FORM(GLOBAL, SS32X, V4B32)                                     \
    FORM(SHARED, M32, V2B32) FORM(SHARED, M32, V4B32)                                         \
    FORM(SHARED, PAIR, V2B32) FORM(SHARED, PAIR, V4B32)                                       \
    FORM(LOCAL, M32, B32) FORM(LOCAL, M32, V2B32)                                             \
    FORM(GENERIC, PAIR, V2B32)
#define MEM_FAST_FORMS(FORM) MEM_PROVED_FORMS(FORM) MEM_HALF_FORMS(FORM) MEM_WHOLE_FORMS(FORM)
#define FORM(space, mode, kind)                                                               \
    MEM_HALVES(space, mode, kind, ld, false, MEM_HALF_PROVED)                                 \
    MEM_HALVES(space, mode, kind, st, true, MEM_HALF_PLAIN)                                   \
    MEM_FAST(space, mode, kind, ld, false) MEM_FAST(space, mode, kind, st, true)
MEM_PROVED_FORMS(FORM)
#undef FORM
#define FORM(space, mode, kind)                                                               \
    MEM_HALVES(space, mode, kind, ld, false, MEM_HALF_PLAIN)                                  \
    MEM_HALVES(space, mode, kind, st, true, MEM_HALF_PLAIN)                                   \
    MEM_FAST(space, mode, kind, ld, false) MEM_FAST(space, mode, kind, st, true)
MEM_HALF_FORMS(FORM)
#undef FORM
#define FORM(space, mode, kind)                                                               \
    MEM_WHOLE(space, mode, kind, ld, false) MEM_WHOLE(space, mode, kind, st, true)            \
    MEM_FAST(space, mode, kind, ld, false) MEM_FAST(space, mode, kind, st, true)
MEM_WHOLE_FORMS(FORM)
#undef FORM

/* ---- atomics ----------------------------------------------------------------------- */

/** Marks the pages to which scattered lanes store; often this is a single page. */
MEM_INLINE void mem_touch(struct emu_memory *memory, const struct mem_rows *rows, unsigned n,
                          uint64_t m)
{
    uint64_t start = rows->base - ISA_GLOBAL_BASE;
    uint64_t page = (start + (rows->off[lw_lowest(m)] ^ rows->flip)) / EMU_PAGE_BYTES;
    uint64_t low = page * EMU_PAGE_BYTES - start;

    if (low <= UINT32_MAX - EMU_PAGE_BYTES &&
        emu_row_within(rows->off, n, m, false, rows->flip, (uint32_t)low, EMU_PAGE_BYTES - 1, 0,
                       0)) {
        emu_dirty_mark(memory, page);
        return;
    }
    for (LW_EACH_BIT(l, m)) {
        page = (start + (rows->off[l] ^ rows->flip)) / EMU_PAGE_BYTES;
        emu_dirty_mark(memory, page);
    }
}

static void LEVEL(mem_atomic)(struct emu_warp *w, const struct emu_dinsn *di)
{
    enum isa_space space = (enum isa_space)emu_mem_info[di->op].space;
    uint64_t m = w->e & emu_guard(w, di);
    struct mem_rows rows;
    struct mem_window window;
    uint8_t *host = NULL;

    if (m != 0) {
        if (mem_open(w, di, m, &space, &rows, &window) && space != ISA_SPACE_LOCAL &&
            (rows.scale == 0 || LEVEL(mem_unscale)(w, m, &rows)))
            host = mem_scattered(&rows, &window, w->n, m, emu_atype_bytes(di->sub));
        if (host != NULL && window.global)
            mem_touch(&w->core->machine->memory, &rows, w->n, m);
        if (host != NULL)
            emu_atomic_rows(w, di, m, host, rows.off, rows.flip, window.global);
        else if (!emu_atomic(w, di, m))
            return;
    }
    EMU_NEXT(w, di);
}

static void LEVEL(mem_texture)(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t m = w->e & emu_guard(w, di);

    if (m != 0 && !emu_texture_fetch(w, di, m))
        return;
    EMU_NEXT(w, di);
}

/* ---- selection of handlers ---------------------------------------------------------- */

/** Maps access sizes that are executed in the same way to one kind. */
static unsigned LEVEL(mem_kind)(unsigned size, bool write)
{
    if (size == ISA_SIZE_B64)
        return ISA_SIZE_V2B32;
    if (size == ISA_SIZE_V2B64)
        return ISA_SIZE_V4B32;
    if (write && size == ISA_SIZE_S8)
        return ISA_SIZE_U8;
    if (write && size == ISA_SIZE_S16)
        return ISA_SIZE_U16;
    return size;
}

static bool LEVEL(mem_handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                                bool write, struct emu_handlers *out, const char **why)
{
#define MEM_KINDS(space, rw)                                                                  \
    {[ISA_SIZE_U8] = LEVEL(mem_##rw##_##space##_U8),                                          \
     [ISA_SIZE_S8] = MEM_SIGNED(space, rw, S8),                                               \
     [ISA_SIZE_U16] = LEVEL(mem_##rw##_##space##_U16),                                        \
     [ISA_SIZE_S16] = MEM_SIGNED(space, rw, S16),                                             \
     [ISA_SIZE_B32] = LEVEL(mem_##rw##_##space##_B32),                                        \
     [ISA_SIZE_V2B32] = LEVEL(mem_##rw##_##space##_V2B32),                                    \
     [ISA_SIZE_V4B32] = LEVEL(mem_##rw##_##space##_V4B32)}
#define MEM_SIGNED(space, rw, kind) MEM_SIGNED_##rw(space, kind)
#define MEM_SIGNED_ld(space, kind) LEVEL(mem_ld_##space##_##kind)
#define MEM_SIGNED_st(space, kind) NULL
    static emu_handler_fn *const general[2][ISA_SPACE_COUNT][ISA_SIZE_V2B64 + 1] = {
        {[ISA_SPACE_GLOBAL] = MEM_KINDS(GLOBAL, ld),
         [ISA_SPACE_SHARED] = MEM_KINDS(SHARED, ld),
         [ISA_SPACE_LOCAL] = MEM_KINDS(LOCAL, ld),
         [ISA_SPACE_GENERIC] = MEM_KINDS(GENERIC, ld),
         [ISA_SPACE_CONST] = MEM_KINDS(CONST, ld)},
        {[ISA_SPACE_GLOBAL] = MEM_KINDS(GLOBAL, st),
         [ISA_SPACE_SHARED] = MEM_KINDS(SHARED, st),
         [ISA_SPACE_LOCAL] = MEM_KINDS(LOCAL, st),
         [ISA_SPACE_GENERIC] = MEM_KINDS(GENERIC, st)},
    };
    static const struct {
        uint8_t space, mode, kind, write;
        struct emu_handlers h;
    } fast[] = {
#define FORM(space, mode, kind)                                                               \
    FORM_ROW(space, mode, kind, ld, 0) FORM_ROW(space, mode, kind, st, 1)
#define FORM_ROW(space, mode, kind, rw, write)                                                \
    {ISA_SPACE_##space, MEM_MODE_##mode, ISA_SIZE_##kind, write,                              \
     {LEVEL(mem_##rw##_##space##_##kind##_##mode##_f),                                        \
      LEVEL(mem_##rw##_##space##_##kind##_##mode##_p)}},
        MEM_FAST_FORMS(FORM)
#undef FORM
    };
    unsigned size = di->sub, mode = EMU_MOD(insn, AMODE), space = emu_mem_info[insn->op].space;
    bool guarded = (di->guard & 15) != ISA_PT;

    if (emu_size_bytes(size) == 0) {
        *why = "there is no such access size";
        return false;
    }
    if (space == ISA_SPACE_CONST && di->reg >= ISA_CONST_BANK_COUNT) {
        *why = "there are 32 constant banks";
        return false;
    }
    size = LEVEL(mem_kind)(size, write);
    out->full = out->part = general[write][space][size];
    for (size_t i = 0; i < LW_COUNT_OF(fast); i++) {
        bool scalar = mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32;
        unsigned scale = scalar ? EMU_MOD(insn, ASCALE) : 0;
        unsigned wanted = scale == 0 ? mode : mode | MEM_SCALED;
        if (scale != 0 && 1u << scale != mem_bytes(size))
            continue;
        if (fast[i].space != space || fast[i].mode != wanted || fast[i].kind != size ||
            fast[i].write != write || (scalar && di->reg > 126))
            continue;
        out->part = fast[i].h.part;
        out->full = guarded ? fast[i].h.part : fast[i].h.full;
    }
    return true;
}
