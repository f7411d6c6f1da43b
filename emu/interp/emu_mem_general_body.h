/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of loads and stores: the general stage. Included by emu_mem_exec.c, which is compiled once per x86-64 level and
 * defines LEVEL(name). The fast stage is in emu_mem_fast_body.h.
 *
 * A memory access is executed by one of three stages. A stage that cannot execute the access calls the next stage by a tail call:
 *
 *   fast     Inlined in the handlers of common accesses. The addresses of all lanes are
 *            uniform or contiguous, and in one page of global memory or in the block's
 *            shared memory; or all lanes access the same offset of local memory. One test
 *            and one copy are made for all lanes.
 *   general  Handles 16 lanes at a time, with uniform, contiguous or scattered addresses.
 *            Scattered addresses must be in the allocation that the instruction accessed
 *            last, or in shared memory.
 *   slow     emu_mem_slow: executes one lane at a time, and determines faults.
 *
 * Every stage checks and accesses exactly the bytes of the active lanes. A store has the same effect as if the lanes stored one
 * after the other, lowest lane first.
 */
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/interp/emu_simd_priv.h"

#define MEM_INLINE static inline __attribute__((always_inline, unused))
#define MEM_OUTLINE static __attribute__((noinline))
#define MEM_PARAMS struct emu_warp *w, const struct emu_dinsn *di /* parameters of handlers */
#define MEM_LIKELY(x) __builtin_expect((x), 1)

enum {
    MEM_CHUNK = 16,
    MEM_MODE_ANY = 4, /* the handler reads the addressing mode from the instruction at run time */
    MEM_SCALED = 8,   /* bit of the mode: the offset is multiplied by the number of bytes that a lane accesses */
    MEM_GATHER_LEAST = 4 /* smallest number of lanes for which a scattered load uses vector instructions of the host */
};
#if defined(__clang__)
#define MEM_UNROLL_8 _Pragma("clang loop unroll(full)")
#else
#define MEM_UNROLL_8 _Pragma("GCC unroll 8")
#endif
/* Smallest width of a warp for the full form of fast handlers. Narrower warps use the masked form, because the loops of the full
 * form are for at least this number of lanes. */
#if defined(EMU_HAVE_16)
enum { MEM_LEAST = 16 };
#else
enum { MEM_LEAST = 8 };
#endif

/* ---- addresses ------------------------------------------------------------------- */

/** Addresses of the lanes, in one form for all addressing modes: lane l accesses base + ((off[l] ^ flip) << scale). */
struct mem_rows {
    uint64_t base;
    const uint32_t *off;
    uint32_t flip;
    uint8_t scale;
};

/** Converts scaled addresses to scale 0: writes scaled offsets to a scratch register, relative to the lowest lane's address minus
 *  2^31. Returns false if the addresses of the lanes are too far apart for 32-bit offsets. */
MEM_OUTLINE bool LEVEL(mem_unscale)(struct emu_warp *w, uint64_t m, struct mem_rows *rows)
{
    const uint32_t *off = rows->off;
    const unsigned scale = rows->scale;
    const int64_t first = (int64_t)(off[lw_lowest(m)] ^ rows->flip);
    uint32_t *out = emu_row(w, w->row_c);
    const unsigned n = w->n;
    uint64_t bad = 0;

    for (unsigned l = 0; l < n; l++) {
        uint64_t at = (uint64_t)(((int64_t)(off[l] ^ rows->flip) - first) * (1 << scale)) +
                      (UINT64_C(1) << 31);
        out[l] = (uint32_t)at;
        bad |= (m >> l & 1) != 0 ? at >> 32 : 0;
    }
    if (bad != 0)
        return false;
    rows->base += ((uint64_t)first << scale) - (UINT64_C(1) << 31);
    rows->off = out;
    rows->flip = 0;
    rows->scale = 0;
    return true;
}

/** Computes the lanes' addresses, as struct mem_rows, from the instruction's operands. Returns false if the addresses are in
 *  register pairs and not all in one 4 GiB window. @m is not 0. */
MEM_INLINE bool mem_rows(struct emu_warp *w, const struct emu_dinsn *di,
                         enum isa_space space, unsigned mode, uint64_t m, bool all,
                         struct mem_rows *out)
{
    out->base = (uint64_t)(int64_t)di->disp;
    out->off = emu_row(w, di->a);
    out->flip = 0;
    out->scale = 0;
    if (space == ISA_SPACE_CONST)
        mode = ISA_AMODE_32;
    if (mode == MEM_MODE_ANY)
        mode = EMU_MOD(emu_insn_of(w, di), AMODE);
    if (mode == ISA_AMODE_PAIR) {
        const uint32_t *high = emu_row(w, di->a + w->stride);
        uint32_t first = high[all ? 0 : lw_lowest(m)];
        out->base += (uint64_t)first << 32;
        return emu_row_affine(high, w->n, m, all, first, false, 0);
    }
    if (mode != ISA_AMODE_32)
        out->base += emu_scalar_pair(w, di->reg);
    const unsigned scale = mode == ISA_AMODE_32 ? 0 : EMU_MOD(emu_insn_of(w, di), ASCALE);
    if (mode == ISA_AMODE_SS32) {
        /* sext(x) = zext(x ^ 2^31) - 2^31 */
        out->flip = UINT32_C(1) << 31;
        out->base -= UINT64_C(1) << (31 + scale);
    }
    out->scale = (uint8_t)scale;
    return true;
}

/** A range of guest addresses that is contiguous in the host's memory. */
struct mem_window {
    uint8_t *host; /* host address of `base` */
    uint64_t base, size;
    bool global;   /* true: addresses outside this range may also be valid, depending on load_valid and store_valid of their
                    * page */
};

/**
 * Determines the address layout of the lanes @m. Returns true if the addresses are uniform (*@ramp is set to false) or contiguous
 * (*@ramp is set to true), aligned, and do not wrap. @off contains the offsets of n lanes from lane 0 on. *@zero is set to the
 * lowest lane's off ^ flip, and *@span to the number of bytes from the lowest lane's address to the end of the last lane's
 * access.
 */
MEM_INLINE bool mem_classify(const uint32_t *off, unsigned n, uint64_t m, bool all,
                             uint32_t flip, unsigned bytes, uint32_t *zero, unsigned *span,
                             bool *ramp)
{
    unsigned low = all ? 0 : lw_lowest(m), last = all ? n - 1 : 63 - (unsigned)__builtin_clzll(m);
    uint64_t rest = all ? 2 : m & (m - 1);
    uint32_t first = off[low], step = 0;

    *ramp = false;
    if (rest != 0) {
        unsigned next = all ? 1 : lw_lowest(rest);
        step = off[next] - first;
        *ramp = step != 0;
        if (*ramp && step != (next - low) * bytes)
            return false;
    }
    *span = (*ramp ? (last - low) * bytes : 0) + bytes;
    *zero = first ^ flip;
    if (*zero > UINT32_MAX - *span) /* the access wraps within the 4 GiB window, or almost does, so the slow stage executes it */
        return false;
    return emu_row_affine(off, n, m, all, first - (*ramp ? low * bytes : 0), *ramp, bytes);
}

/* ---- the element of one lane -------------------------------------------------------- */

/* Returns the bytes of an element. @kind is an access size, where V2B32 also stands for B64, and V4B32 for V2B64. In the
 * following functions, @stride is the number of words from one vector register to the next one. */
MEM_INLINE unsigned mem_bytes(unsigned kind)
{
    return kind <= ISA_SIZE_S8    ? 1
           : kind <= ISA_SIZE_S16 ? 2
           : kind == ISA_SIZE_B32 ? 4
           : kind == ISA_SIZE_V2B32 ? 8
                                    : 16;
}
/** Loads an element. @step: number of bytes in memory from one word of the element to the next word. */
MEM_INLINE void mem_get(uint32_t *d, size_t stride, const uint8_t *p, size_t step, unsigned kind)
{
    uint16_t half;

    if (kind == ISA_SIZE_U8) {
        d[0] = p[0];
    } else if (kind == ISA_SIZE_S8) {
        d[0] = (uint32_t)(int8_t)p[0];
    } else if (kind <= ISA_SIZE_S16) {
        memcpy(&half, p, sizeof half);
        d[0] = kind == ISA_SIZE_U16 ? half : (uint32_t)(int16_t)half;
    } else {
        uint32_t word[4]; /* all words are read before one is written, because the destination may be the address register */
        for (unsigned k = 0; k < mem_bytes(kind) / 4; k++)
            word[k] = lw_get32(p + k * step);
        for (unsigned k = 0; k < mem_bytes(kind) / 4; k++)
            d[k * stride] = word[k];
    }
}
/** Stores an element. Returns a nonzero value if a byte in memory changed. */
MEM_INLINE uint32_t mem_put(uint8_t *p, size_t step, const uint32_t *b, size_t stride,
                            unsigned kind)
{
    uint32_t changed = 0;
    uint16_t half = (uint16_t)b[0], old;

    if (kind <= ISA_SIZE_S8) {
        changed = (uint32_t)(p[0] ^ (uint8_t)b[0]);
        p[0] = (uint8_t)b[0];
    } else if (kind <= ISA_SIZE_S16) {
        memcpy(&old, p, sizeof old);
        changed = (uint32_t)(old ^ half);
        memcpy(p, &half, sizeof half);
    } else {
        for (unsigned k = 0; k < mem_bytes(kind) / 4; k++) {
            changed |= lw_get32(p + k * step) ^ b[k * stride];
            lw_put32(p + k * step, b[k * stride]);
        }
    }
    return changed;
}

/* ---- uniform, contiguous and scattered lanes ------------------------------------------ */

/** Loads the element at @p into all lanes. */
MEM_INLINE void mem_load_equal(uint32_t *d, size_t stride, unsigned n, uint64_t m, bool all,
                               const uint8_t *p, unsigned kind)
{
    uint32_t word[4];

    mem_get(word, 1, p, 4, kind);
    for (unsigned k = 0; k < (mem_bytes(kind) + 3) / 4; k++)
        emu_row_splat(d + k * stride, n, m, all, word[k]);
}

/** Loads the element at @p + l * bytes into lane l. */
MEM_INLINE void mem_load_run(uint32_t *d, size_t stride, unsigned n, uint64_t m, bool all,
                             const uint8_t *p, unsigned kind)
{
    const unsigned bytes = mem_bytes(kind);

    if (kind == ISA_SIZE_B32) {
        emu_row_load(d, p, n, m, all);
    } else if (all) {
        EMU_LANE_LOOP
        for (unsigned l = 0; l < n; l++)
            mem_get(d + l, stride, p + (size_t)l * bytes, 4, kind);
    } else {
        for (LW_EACH_BIT(l, m))
            mem_get(d + l, stride, p + l * bytes, 4, kind);
    }
}

#if defined(EMU_HAVE_16)
/** Does the same as mem_load_scattered() for lanes @m of a warp of 32. The offsets of the active lanes are packed first, so that
 *  eight lanes are loaded at a time, even if they are not adjacent. */
MEM_INLINE void mem_load_packed(uint32_t *d, uint32_t m, const uint8_t *p, const uint32_t *off,
                                uint32_t flip, unsigned scale, unsigned kind)
{
    uint32_t from[40] __attribute__((aligned(64))), word[32] __attribute__((aligned(64)));
    const unsigned count = emu_row_pack(from, off, m, flip);

    unsigned i = 0;

    do {
        uint32_t eight[8];
        MEM_UNROLL_8
        for (unsigned k = 0; k < 8; k++)
            mem_get(&eight[k], 1, p + ((uint64_t)from[i + k] << scale), 4, kind);
        emu_row_words(word, i, 0, true, eight);
        i += 8;
    } while (i < count);
    emu_row_unpack(d, m, word, count);
}
#endif

/** Loads the element at @p + ((off[l] ^ flip) << scale) into lane l. */
MEM_INLINE void mem_load_scattered(uint32_t *d, size_t stride, unsigned n, uint64_t m, bool all,
                                   const uint8_t *p, const uint32_t *off, uint32_t flip,
                                   unsigned scale, unsigned kind)
{
#if defined(EMU_HAVE_16)
    if (kind <= ISA_SIZE_B32 && n % 32 == 0 && !all) {
        for (unsigned l = 0; l < n; l += 32)
            if ((uint32_t)(m >> l) != 0)
                mem_load_packed(d + l, (uint32_t)(m >> l), p, off + l, flip, scale, kind);
        return;
    }
#endif
    if (kind <= ISA_SIZE_B32 && n % 8 == 0 && (all || lw_popcount(m) >= MEM_GATHER_LEAST)) {
        const uint32_t first = off[all ? 0 : lw_lowest(m)];
        for (unsigned l = 0; l < n; l += 8) {
            const uint32_t *from = off + l;
            uint32_t word[8], safe[8] __attribute__((aligned(32)));
            if (!all && (m >> l & 0xff) == 0)
                continue;
            if (!all) { /* inactive lanes load from the address of the lowest active lane, and the value is dropped */
                emu_row_pick(safe, off, l, m, first);
                from = safe;
            }
            MEM_UNROLL_8
            for (unsigned k = 0; k < 8; k++)
                mem_get(&word[k], 1, p + ((uint64_t)(from[k] ^ flip) << scale), 4, kind);
            emu_row_words(d, l, m, all, word);
        }
    } else if (all) {
        for (unsigned l = 0; l < n; l++)
            mem_get(d + l, stride, p + ((uint64_t)(off[l] ^ flip) << scale), 4, kind);
    } else {
        for (LW_EACH_BIT(l, m))
            mem_get(d + l, stride, p + ((uint64_t)(off[l] ^ flip) << scale), 4, kind);
    }
}

MEM_INLINE bool mem_store_equal(uint8_t *p, const uint32_t *b, size_t stride, unsigned n,
                                uint64_t m, bool all, unsigned kind)
{
    uint32_t changed = 0;

    if (kind == ISA_SIZE_B32) {
        /* Lanes store one after the other, so the value of the last lane remains. A byte changes if the value of any lane differs
         * from the value in memory. */
        unsigned last = all ? n - 1 : 63 - (unsigned)__builtin_clzll(m);
        changed = !emu_row_affine(b, n, m, all, lw_get32(p), false, 0);
        lw_put32(p, b[last]);
    } else {
        for (LW_EACH_BIT(l, m))
            changed |= mem_put(p, 4, b + l, stride, kind);
    }
    return changed != 0;
}

MEM_INLINE bool mem_store_run(uint8_t *p, const uint32_t *b, size_t stride, unsigned n,
                              uint64_t m, bool all, unsigned kind)
{
    const unsigned bytes = mem_bytes(kind);
    uint32_t changed = 0;

    if (kind == ISA_SIZE_B32)
        return emu_row_store(p, b, n, m, all);
    if (all) {
        EMU_LANE_LOOP
        for (unsigned l = 0; l < n; l++)
            changed |= mem_put(p + (size_t)l * bytes, 4, b + l, stride, kind);
    } else {
        for (LW_EACH_BIT(l, m))
            changed |= mem_put(p + l * bytes, 4, b + l, stride, kind);
    }
    return changed != 0;
}

/** Stores scattered elements. Returns true if a byte in memory changed. @mark: the page of each lane, (offset + ((off[l] ^ flip)
 *  << scale)) / 4096, is marked as dirty. */
MEM_INLINE bool mem_store_scattered(uint8_t *p, const uint32_t *b, size_t stride, unsigned n,
                                    uint64_t m, bool all, const uint32_t *off, uint32_t flip,
                                    unsigned scale, bool mark, struct emu_memory *memory,
                                    uint64_t offset,
                                    unsigned kind)
{
    uint32_t changed = 0;

#define STORE_LANE(l)                                                                         \
    do {                                                                                      \
        uint64_t zero = (uint64_t)(off[l] ^ flip) << scale;                                   \
        if (mark)                                                                             \
            emu_dirty_mark(memory, (offset + zero) / EMU_PAGE_BYTES);                         \
        changed |= mem_put(p + zero, 4, b + (l), stride, kind);                               \
    } while (0)
    if (all) {
        for (unsigned l = 0; l < n; l++)
            STORE_LANE(l);
    } else {
        for (LW_EACH_BIT(l, m))
            STORE_LANE(l);
    }
#undef STORE_LANE
    return changed != 0;
}

/** Counts an access to local memory. A store to local memory is no progress, because no other lane can wait for it (MACHINE 4,
 *  Progress). */
MEM_INLINE void mem_count_local(struct emu_warp *w, bool write)
{
    if (write)
        w->core->stats.stores++;
    else
        w->core->stats.loads++;
}

MEM_INLINE void mem_count(struct emu_warp *w, bool write, bool changed)
{
    if (write) {
        w->core->stats.stores++;
        w->block->progress += changed;
    } else {
        w->core->stats.loads++;
    }
}

/* ---- the general stage: all spaces except local memory --------------------------------------- */

/** If the addresses of all lanes @m are in @window, returns the host address that corresponds to offset 0 of the lanes; otherwise
 *  NULL. */
MEM_INLINE uint8_t *mem_scattered(const struct mem_rows *rows, const struct mem_window *window,
                                  unsigned n, uint64_t m, unsigned bytes)
{
    const unsigned scale = rows->scale;
    uint64_t ahead = rows->base - window->base; /* distance from the window's start to the base of the addresses, modulo 2^64 */
    uint64_t room = window->size - bytes, low = 0, high;

    if (window->size < bytes)
        return NULL;
    if (ahead <= room) {
        high = room - ahead;
    } else {
        low = 0 - ahead;
        if (low > (uint64_t)UINT32_MAX << scale)
            return NULL;
        high = low + room;
    }
    /* converts bytes to units of the lanes' offsets */
    low = (low + (UINT64_C(1) << scale) - 1) >> scale;
    high >>= scale;
    if (low > high || low > UINT32_MAX || (rows->base & (bytes - 1) & ((1u << scale) - 1)) != 0)
        return NULL;
    if (high > UINT32_MAX)
        high = UINT32_MAX;
    if (!emu_row_within(rows->off, n, m, false, rows->flip, (uint32_t)low,
                        (uint32_t)(high - low), (uint32_t)(rows->base >> scale),
                        (bytes - 1) >> scale))
        return NULL;
    /* The returned address may be outside the window, but its sum with the offset of any lane of @m is inside. */
    return (uint8_t *)((uintptr_t)window->host + (uintptr_t)ahead);
}

/** Prefetches the memory that lanes @m will access in the loop's next iteration, at the indices that they will then load (struct
 *  emu_chain). Most indices of the next iteration are adjacent to those of this iteration, and therefore in the host's cache, so
 *  that reading them now takes little time. */
MEM_OUTLINE void LEVEL(mem_ask_chained)(const struct emu_warp *w, const struct emu_dinsn *di,
                                        uint64_t m, const struct mem_rows *rows,
                                        const struct mem_window *window)
{
    const struct emu_chain *chain = &w->code->chain[di->index];
    const uint64_t first = rows->base + (uint64_t)(int64_t)chain->advance - window->base;
    const uint64_t room = window->size - 4; /* at least 0, because the window contains the words of this iteration */
    const uint64_t flip = chain->is_signed ? UINT64_C(1) << 31 : 0;
    /* computed modulo 2^64; prefetching an invalid address is harmless */
    const uint8_t *to = w->core->machine->memory.host;
    const uintptr_t ahead = (uintptr_t)(emu_scalar_pair(w, chain->base) +
                                        (uint64_t)(int64_t)chain->disp - (flip << chain->scale) -
                                        ISA_GLOBAL_BASE);

    __asm__ volatile(""); /* without this statement, the compiler would remove calls of the function, which has no effect that it
                           * can see */
    for (LW_EACH_BIT(l, m)) {
        const uint64_t at = first + ((uint64_t)(rows->off[l] ^ rows->flip) << rows->scale);
        if (at > room)
            continue;
        const uint64_t word = lw_get32(window->host + at) ^ flip;
        __builtin_prefetch((const void *)((uintptr_t)to + ahead + (uintptr_t)(word << chain->scale)));
    }
}

/** Loads or stores scattered elements for lanes @m. @host: host address that corresponds to offset 0. */
MEM_INLINE bool mem_gather(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                           const struct mem_rows *rows, bool global, uint8_t *host, unsigned n,
                           unsigned kind, bool write)
{
    struct emu_memory *memory = &w->core->machine->memory;
    const size_t stride = w->stride / 4;
    const bool all = m == lw_mask(n);
    uint32_t *d = emu_row(w, write ? di->b : di->d);
    bool changed = false;

    if (!write)
        mem_load_scattered(d, stride, n, m, all, host, rows->off, rows->flip, rows->scale, kind);
    else
        changed = mem_store_scattered(host, d, stride, n, m, all, rows->off, rows->flip,
                                      rows->scale, global, memory,
                                      rows->base - ISA_GLOBAL_BASE, kind);
    mem_count(w, write, changed);
    return true;
}

MEM_INLINE bool mem_flat(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                         struct mem_rows *rows, const struct mem_window *window, unsigned n,
                         unsigned kind, bool write)
{
    enum form { NONE, EQUAL, RUN, SCATTERED };
    struct emu_memory *memory = &w->core->machine->memory;
    const unsigned bytes = mem_bytes(kind), chunk = n < MEM_CHUNK ? n : MEM_CHUNK;
    const size_t stride = w->stride / 4;
    uint8_t *host[EMU_MAX_LANES / MEM_CHUNK], *scattered_host = NULL;
    uint8_t form[EMU_MAX_LANES / MEM_CHUNK];
    uint64_t scattered = 0;
    bool changed = false;

    /* scattered addresses are tested first: uniform and contiguous addresses are rare here, because the fast stage handles
     * them */
    if (n <= 32 || rows->scale != 0) {
        scattered_host = mem_scattered(rows, window, n, m, bytes);
        if (scattered_host != NULL) {
            if (!write && kind == ISA_SIZE_B32 && di->flags & EMU_D_CHAIN)
                LEVEL(mem_ask_chained)(w, di, m, rows, window);
            return mem_gather(w, di, m, rows, window->global, scattered_host, n, kind, write);
        }
        if (rows->scale != 0 && !LEVEL(mem_unscale)(w, m, rows))
            return emu_mem_slow(w, di, m);
    }
    for (unsigned l = 0, i = 0; l < n; l += chunk, i++) {
        uint64_t cm = m >> l & lw_mask(chunk), address;
        bool all = cm == lw_mask(chunk), ramp, good;
        uint32_t zero;
        unsigned span;
        form[i] = NONE;
        if (cm == 0)
            continue;
        good = all ? mem_classify(rows->off + l, chunk, cm, true, rows->flip, bytes, &zero,
                                  &span, &ramp)
                   : mem_classify(rows->off + l, chunk, cm, false, rows->flip, bytes, &zero,
                                  &span, &ramp);
        if (good) {
            address = rows->base + zero;
            if (window->global) {
                good = emu_global_ok(memory, write ? memory->store_valid : memory->load_valid,
                                     address, span);
                host[i] = good ? memory->host + (address - ISA_GLOBAL_BASE) : NULL;
            } else {
                good = address < window->size && span <= window->size - address;
                host[i] = good ? window->host + address : NULL;
            }
            good = good && address % bytes == 0;
            if (good && write && window->global)
                emu_memory_touch(memory, address - ISA_GLOBAL_BASE, span);
            form[i] = ramp ? RUN : EQUAL;
        }
        if (!good) {
            form[i] = SCATTERED;
            scattered |= cm << l;
        }
    }
    if (scattered != 0) {
        scattered_host = mem_scattered(rows, window, n, scattered, bytes);
        if (scattered_host == NULL)
            return emu_mem_slow(w, di, m);
    }
    for (unsigned l = 0, i = 0; l < n; l += chunk, i++) {
        uint64_t cm = m >> l & lw_mask(chunk);
        bool all = cm == lw_mask(chunk);
        uint32_t *d = emu_row(w, write ? di->b : di->d) + l;
        const uint32_t *off = rows->off + l;
        if (form[i] == NONE)
            continue;
        /* for contiguous lanes, converts the host address of the lowest active lane to that of lane 0 */
        uint8_t *run = form[i] == RUN ? host[i] - lw_lowest(cm) * bytes : NULL;
        if (!write) {
            if (form[i] == SCATTERED)
                mem_load_scattered(d, stride, chunk, cm, all, scattered_host, off, rows->flip,
                                   0, kind);
            else if (form[i] == EQUAL)
                mem_load_equal(d, stride, chunk, cm, all, host[i], kind);
            else if (all)
                mem_load_run(d, stride, chunk, cm, true, run, kind);
            else
                mem_load_run(d, stride, chunk, cm, false, run, kind);
        } else {
            if (form[i] == SCATTERED)
                changed |= window->global
                               ? mem_store_scattered(scattered_host, d, stride, chunk, cm, all,
                                                     off, rows->flip, 0, true, memory,
                                                     rows->base - ISA_GLOBAL_BASE, kind)
                               : mem_store_scattered(scattered_host, d, stride, chunk, cm, all,
                                                     off, rows->flip, 0, false, NULL, 0, kind);
            else if (form[i] == EQUAL)
                changed |= mem_store_equal(host[i], d, stride, chunk, cm, all, kind);
            else if (all)
                changed |= mem_store_run(run, d, stride, chunk, cm, true, kind);
            else
                changed |= mem_store_run(run, d, stride, chunk, cm, false, kind);
        }
    }
    mem_count(w, write, changed);
    return true;
}

/* ---- the general stage: local memory ---------------------------------------------------------- */

MEM_INLINE bool mem_local(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                          const struct mem_rows *rows, const struct mem_window *window,
                          unsigned kind, bool write)
{
    const unsigned bytes = mem_bytes(kind), n = w->n;
    const size_t stride = w->stride / 4;
    const bool all = m == lw_mask(n);
    uint32_t *d = emu_row(w, write ? di->b : di->d);
    uint32_t first = rows->off[lw_lowest(m)];

    if (mem_scattered(rows, window, n, m, bytes) == NULL)
        return emu_mem_slow(w, di, m);
    if (bytes >= 4 && emu_row_affine(rows->off, n, m, all, first, false, 0)) {
        /* all lanes have the same offset, so their words are adjacent, in the order of the lanes */
        uint8_t *p = w->local + (rows->base + (first ^ rows->flip)) * n;
        for (unsigned k = 0; k < bytes / 4; k++, p += 4 * n) {
            if (write)
                (void)emu_row_store(p, d + k * stride, n, m, all);
            else
                emu_row_load(d + k * stride, p, n, m, all);
        }
        mem_count_local(w, write);
        return true;
    }
    for (LW_EACH_BIT(l, m)) {
        uint64_t at = rows->base + (rows->off[l] ^ rows->flip);
        uint8_t *p = w->local + (at / 4 * n + l) * 4 + at % 4;
        if (write)
            (void)mem_put(p, 4 * n, d + l, stride, kind);
        else
            mem_get(d + l, stride, p, 4 * n, kind);
    }
    mem_count_local(w, write);
    return true;
}

/* ---- the general stage: a whole instruction ----------------------------------------------------- */

typedef bool mem_worker_fn(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                           struct mem_rows *rows, const struct mem_window *window);

/** Gets space, addresses (struct mem_rows) and window of the lanes @m. For generic addresses, the lowest lane determines the
 *  space. Returns false if the slow stage must execute the access. */
MEM_INLINE bool mem_open(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                         enum isa_space *space, struct mem_rows *rows, struct mem_window *window)
{
    uint32_t bytes;

    *window = (struct mem_window){0};
    if (!mem_rows(w, di, *space, MEM_MODE_ANY, m, false, rows))
        return false;
    if (*space == ISA_SPACE_GENERIC) {
        uint64_t address = rows->base +
                           ((uint64_t)(rows->off[lw_lowest(m)] ^ rows->flip) << rows->scale);
        *space = ISA_SPACE_GLOBAL;
        if (address - ISA_SHARED_BASE < ISA_APERTURE_BYTES) {
            *space = ISA_SPACE_SHARED;
            rows->base -= ISA_SHARED_BASE;
        } else if (address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES) {
            *space = ISA_SPACE_LOCAL;
            rows->base -= ISA_LOCAL_BASE;
        }
    }
    if (*space == ISA_SPACE_SHARED) {
        window->host = w->block->shared;
        window->size = w->block->shared_bytes;
    } else if (*space == ISA_SPACE_CONST) {
        /* the cast removes const; constant banks are only read */
        window->host = (uint8_t *)(uintptr_t)emu_const_bank(w, di->reg, &bytes);
        window->size = bytes;
    } else if (*space == ISA_SPACE_LOCAL) {
        window->host = w->local;
        window->size = w->local_bytes;
    } else {
        const struct emu_icache *cache = &w->code->icache[di->index];
        window->global = true;
        window->base = cache->base;
        window->size = cache->limit - cache->base;
        if (window->size != 0)
            window->host = w->core->machine->memory.host + (cache->base - ISA_GLOBAL_BASE);
    }
    return true;
}

/** Determines the space of an access, and calls @local for local memory, or @flat for any other space. Returns false if a fault
 *  was raised. */
MEM_INLINE bool mem_general(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                            enum isa_space space, mem_worker_fn *flat, mem_worker_fn *local)
{
    struct mem_rows rows;
    struct mem_window window;

    if (m == 0)
        return true;
    if (!mem_open(w, di, m, &space, &rows, &window) ||
        (space == ISA_SPACE_LOCAL && rows.scale != 0 && !LEVEL(mem_unscale)(w, m, &rows)))
        return emu_mem_slow(w, di, m);
    return (space == ISA_SPACE_LOCAL ? local : flat)(w, di, m, &rows, &window);
}

/* Defines the functions for each kind, and the handlers for each space. A handler is used as full and as masked handler, with and
 * without guard, for all addressing modes. */
#define MEM_WORKERS(kind, rw, write)                                                          \
    MEM_OUTLINE bool LEVEL(mem_flat_##rw##_##kind)(                                           \
        struct emu_warp * w, const struct emu_dinsn *di, uint64_t m,                          \
        struct mem_rows *rows, const struct mem_window *window)                               \
    {                                                                                         \
        if (ISA_SIZE_##kind == ISA_SIZE_B32 && w->n == 32)                                    \
            return mem_flat(w, di, m, rows, window, 32, ISA_SIZE_##kind, write);              \
        return mem_flat(w, di, m, rows, window, w->n, ISA_SIZE_##kind, write);                \
    }                                                                                         \
    MEM_OUTLINE bool LEVEL(mem_local_##rw##_##kind)(                                          \
        struct emu_warp * w, const struct emu_dinsn *di, uint64_t m,                          \
        struct mem_rows *rows, const struct mem_window *window)                               \
    {                                                                                         \
        return mem_local(w, di, m, rows, window, ISA_SIZE_##kind, write);                     \
    }
#define MEM_GENERAL(space, kind, rw)                                                          \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind)(MEM_PARAMS)                           \
    {                                                                                         \
        if (mem_general(w, di, w->e & emu_guard(w, di), ISA_SPACE_##space,                    \
                        LEVEL(mem_flat_##rw##_##kind), LEVEL(mem_local_##rw##_##kind)))       \
            EMU_NEXT(w, di);                                                                  \
    }
#define MEM_LOADS(kind)                                                                       \
    MEM_WORKERS(kind, ld, false)                                                              \
    MEM_GENERAL(GLOBAL, kind, ld)                                                             \
    MEM_GENERAL(SHARED, kind, ld)                                                             \
    MEM_GENERAL(LOCAL, kind, ld)                                                              \
    MEM_GENERAL(GENERIC, kind, ld)                                                            \
    MEM_GENERAL(CONST, kind, ld)
#define MEM_STORES(kind)                                                                      \
    MEM_WORKERS(kind, st, true)                                                               \
    MEM_GENERAL(GLOBAL, kind, st)                                                             \
    MEM_GENERAL(SHARED, kind, st)                                                             \
    MEM_GENERAL(LOCAL, kind, st)                                                              \
    MEM_GENERAL(GENERIC, kind, st)

/* clang-format off */
MEM_LOADS(U8) MEM_LOADS(S8) MEM_LOADS(U16) MEM_LOADS(S16)
MEM_LOADS(B32) MEM_LOADS(V2B32) MEM_LOADS(V4B32)
MEM_STORES(U8) MEM_STORES(U16) MEM_STORES(B32) MEM_STORES(V2B32) MEM_STORES(V4B32)
/* clang-format on */
