/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of loads, stores, atomics and reductions; included by emu_exec.c, which is
 * compiled once per x86-64 level and defines LEVEL(name).
 *
 * Three stages, each leaving what it cannot do to the next by a tail call:
 *
 *   fast     inlined in the handlers of common forms: all lanes' addresses are equal or
 *            consecutive, in one page of global memory or in the block's shared memory;
 *            local memory at one offset. One test, one move.
 *   general  by chunks of 16 lanes: equal, consecutive or scattered. A scattered chunk must
 *            lie in the allocation that the instruction used last (or in shared memory).
 *   slow     emu_mem_slow: lane by lane, also names the fault.
 *
 * Every stage is exact to the byte for the lanes with an effect, and looks at no others.
 * Stores have the effect of lanes storing one after the other, lowest first.
 */
#include "emu/emu_mem_priv.h"
#include "emu/emu_next.h"
#include "emu/emu_simd.h"

#define MEM_INLINE static inline __attribute__((always_inline, unused))
#define MEM_OUTLINE static __attribute__((noinline))
#define MEM_LIKELY(x) __builtin_expect((x), 1)

enum {
    MEM_CHUNK = 16,
    MEM_MODE_ANY = 4, /* the instruction says */
    MEM_SCALED = 8    /* beside a mode: the offset times the bytes of a lane */
};
/* Rows of fewer lanes take the masked form of fast handlers: the other has no loop for them. */
#if defined(EMU_HAVE_16)
enum { MEM_LEAST = 16 };
#else
enum { MEM_LEAST = 8 };
#endif

/* ---- addresses ------------------------------------------------------------------- */

/** Addresses in one form for all modes: base + ((off[l] ^ flip) << scale). */
struct mem_rows {
    uint64_t base;
    const uint32_t *off;
    uint32_t flip;
    uint8_t scale;
};

/** The same addresses without a scale: offsets times the factor, in a scratch row, relative to
 *  the lowest lane's address less 2^31. False when lanes are too far apart for that. */
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

/** False when the lanes are in different 4 GiB windows of a pair. @m is not 0. */
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

/** A range of addresses that is plain host memory. */
struct mem_window {
    uint8_t *host; /* of the address `base` */
    uint64_t base, size;
    bool global;   /* more than the window is there: the page map says what */
};

/**
 * Are @m's lanes equal (@*ramp false) or consecutive, aligned and in one piece?
 * @off points at lane 0 of n lanes. @*zero is the lowest lane's off ^ flip, @*span the bytes
 * from its address to the last one's end.
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
    if (*zero > UINT32_MAX - *span) /* wraps in the window (or nearly: the slow way knows) */
        return false;
    return emu_row_affine(off, n, m, all, first - (*ramp ? low * bytes : 0), *ramp, bytes);
}

/* ---- one lane's element ------------------------------------------------------------- */

/* Kinds are sizes; B64 moves as V2B32 and V2B64 as V4B32. @stride: words between rows. */
MEM_INLINE unsigned mem_bytes(unsigned kind)
{
    return kind <= ISA_SIZE_S8    ? 1
           : kind <= ISA_SIZE_S16 ? 2
           : kind == ISA_SIZE_B32 ? 4
           : kind == ISA_SIZE_V2B32 ? 8
                                    : 16;
}
/** @step: bytes from a word of the element to its next. */
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
        uint32_t word[4]; /* read all before writing: rows may hold the addresses */
        for (unsigned k = 0; k < mem_bytes(kind) / 4; k++)
            word[k] = lw_get32(p + k * step);
        for (unsigned k = 0; k < mem_bytes(kind) / 4; k++)
            d[k * stride] = word[k];
    }
}
/** Nonzero when a byte changed. */
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

/* ---- moves of a run of lanes ----------------------------------------------------------- */

/** All lanes read the element at @p. */
MEM_INLINE void mem_load_equal(uint32_t *d, size_t stride, unsigned n, uint64_t m, bool all,
                               const uint8_t *p, unsigned kind)
{
    uint32_t word[4];

    mem_get(word, 1, p, 4, kind);
    for (unsigned k = 0; k < (mem_bytes(kind) + 3) / 4; k++)
        emu_row_splat(d + k * stride, n, m, all, word[k]);
}

/** Lane l reads the element at @p + l * bytes. */
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

/** Lane l reads the element at @p + ((off[l] ^ flip) << scale). */
MEM_INLINE void mem_load_scattered(uint32_t *d, size_t stride, unsigned n, uint64_t m, bool all,
                                   const uint8_t *p, const uint32_t *off, uint32_t flip,
                                   unsigned scale, unsigned kind)
{
    if (all) {
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
        /* One after the other: the last stays, and any that differs changed a byte. */
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

/** With @mark lane l's page is (offset + ((off[l] ^ flip) << scale)) / 4096. */
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

MEM_INLINE void mem_count(struct emu_warp *w, bool write, bool changed)
{
    if (write) {
        w->core->stats.stores++;
        w->block->progress += changed;
    } else {
        w->core->stats.loads++;
    }
}

/* ---- general: flat spaces ------------------------------------------------------------------ */

/** Host of the offset 0 that scattered lanes are relative to, if all of @m lie in @window. */
MEM_INLINE uint8_t *mem_scattered(const struct mem_rows *rows, const struct mem_window *window,
                                  unsigned n, uint64_t m, unsigned bytes)
{
    const unsigned scale = rows->scale;
    uint64_t ahead = rows->base - window->base; /* of the window's start, modulo 2^64 */
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
    /* from bytes to steps of the offset row */
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
    /* May lie outside the window; the sums do not. */
    return (uint8_t *)((uintptr_t)window->host + (uintptr_t)ahead);
}

/** All lanes of @m scattered, with the host of offset 0. */
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

    /* What came here is seldom equal or consecutive: the fast stage had it first. */
    if (n <= 32 || rows->scale != 0) {
        scattered_host = mem_scattered(rows, window, n, m, bytes);
        if (scattered_host != NULL)
            return mem_gather(w, di, m, rows, window->global, scattered_host, n, kind, write);
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
        /* Consecutive lanes: host[] is the lowest one's; count from lane 0. */
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

/* ---- general: local memory ----------------------------------------------------------------- */

MEM_INLINE bool mem_local(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                          const struct mem_rows *rows, const struct mem_window *window,
                          unsigned kind, bool write)
{
    const unsigned bytes = mem_bytes(kind), n = w->n;
    const size_t stride = w->stride / 4;
    const bool all = m == lw_mask(n);
    uint32_t changed = 0, *d = emu_row(w, write ? di->b : di->d);
    uint32_t first = rows->off[lw_lowest(m)];

    if (mem_scattered(rows, window, n, m, bytes) == NULL)
        return emu_mem_slow(w, di, m);
    if (bytes >= 4 && emu_row_affine(rows->off, n, m, all, first, false, 0)) {
        /* One offset: rows of memory are rows of lanes. */
        uint8_t *p = w->local + (rows->base + (first ^ rows->flip)) * n;
        for (unsigned k = 0; k < bytes / 4; k++, p += 4 * n) {
            if (write)
                changed |= emu_row_store(p, d + k * stride, n, m, all);
            else
                emu_row_load(d + k * stride, p, n, m, all);
        }
        mem_count(w, write, changed != 0);
        return true;
    }
    for (LW_EACH_BIT(l, m)) {
        uint64_t at = rows->base + (rows->off[l] ^ rows->flip);
        uint8_t *p = w->local + (at / 4 * n + l) * 4 + at % 4;
        if (write)
            changed |= mem_put(p, 4 * n, d + l, stride, kind);
        else
            mem_get(d + l, stride, p, 4 * n, kind);
    }
    mem_count(w, write, changed != 0);
    return true;
}

/* ---- general: an instruction ----------------------------------------------------------------- */

typedef bool mem_worker_fn(struct emu_warp *w, const struct emu_dinsn *di, uint64_t m,
                           struct mem_rows *rows, const struct mem_window *window);

/** Addresses, space and window of @m's lanes, generic ones by the lowest lane's. False: the
 *  slow way must do it. */
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
        window->host = (uint8_t *)(uintptr_t)emu_const_bank(w, di->reg, &bytes); /* only read */
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

/** Find the space and run its worker; false: a fault was raised. */
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

/* Workers of each kind, and the handlers of each space: these stand in both chains, guarded
 * or not, in all modes. */
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
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind)(struct emu_warp * w,                  \
                                                        const struct emu_dinsn *di)           \
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

/* ---- fast: the common forms ------------------------------------------------------------------ */

/** Host of [address, address + span), or NULL: not there, or not simply. */
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

/** One move for the whole row: @ramp is known, to be compared with. False: nothing was
 *  done. @rows is not yet checked, its high words are in @high if there are. */
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
    if (ramp && zero > UINT32_MAX - span) /* the row wraps, addresses do not */
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
                changed |= emu_row_store(host, d + k * stride, n, m, all);
            else
                emu_row_load(d + k * stride, host, n, m, all);
        }
        mem_count(w, write, changed);
        return true;
    }
    host = mem_reach(w, space, address, span, write);
    if (host == NULL)
        return false;
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

/** As mem_rows, but for the high words. @mode may have MEM_SCALED: times @bytes. */
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

/** A row of 32 lanes whose halves are equal or consecutive, words in one 4 GiB window: blocks
 *  that are 16 wide. False: nothing was done. */
MEM_INLINE bool mem_halves(struct emu_warp *w, const struct emu_dinsn *di, enum isa_space space,
                           unsigned mode, bool write)
{
    enum { BYTES = 4, HALF = 16 };
    const unsigned unit = mode & MEM_SCALED ? 1 : BYTES;
    const bool pair = mode == ISA_AMODE_PAIR;
    struct mem_rows rows;
    uint64_t base;

    mem_start(w, di, mode, BYTES, &rows);
    const uint32_t *high = pair ? emu_row(w, di->a + w->stride) : rows.off;
    const uint32_t high_first = pair ? high[0] : 0;
    const uint32_t first0 = rows.off[0], first1 = rows.off[HALF];
    const uint32_t step0 = rows.off[1] - first0, step1 = rows.off[HALF + 1] - first1;
    const uint32_t zero0 = first0 ^ rows.flip, zero1 = first1 ^ rows.flip;
    if ((step0 & ~unit) | (step1 & ~unit))
        return false;
    base = rows.base + ((uint64_t)high_first << 32);
    const uint64_t address0 = base + ((uint64_t)zero0 << rows.scale);
    const uint64_t address1 = base + ((uint64_t)zero1 << rows.scale);
    if ((address0 | address1) & (BYTES - 1))
        return false;
    if (zero0 > UINT32_MAX - HALF * BYTES || zero1 > UINT32_MAX - HALF * BYTES)
        return false; /* a half may wrap, addresses do not */
    if (!emu_halves_affine(rows.off, high, pair, high_first, first0, step0, first1, step1, unit))
        return false;
    uint8_t *host0 = mem_reach(w, space, address0, step0 ? HALF * BYTES : BYTES, write);
    uint8_t *host1 = mem_reach(w, space, address1, step1 ? HALF * BYTES : BYTES, write);
    uint32_t *d = emu_row(w, write ? di->b : di->d);
    if (host0 == NULL || host1 == NULL)
        return false;
    if (write) {
        bool changed = step0 ? mem_store_run(host0, d, 0, HALF, 0xffff, true, ISA_SIZE_B32)
                             : mem_store_equal(host0, d, 0, HALF, 0xffff, true, ISA_SIZE_B32);
        d += HALF;
        changed |= step1 ? mem_store_run(host1, d, 0, HALF, 0xffff, true, ISA_SIZE_B32)
                         : mem_store_equal(host1, d, 0, HALF, 0xffff, true, ISA_SIZE_B32);
        mem_count(w, true, changed);
    } else {
        emu_half_load(d, host0, step0 != 0);
        emu_half_load(d + HALF, host1, step1 != 0);
        mem_count(w, false, false);
    }
    return true;
}

/** The same where both halves have one form, known in advance: equal or (@ramp) consecutive. */
MEM_INLINE bool mem_half_form(struct emu_warp *w, const struct emu_dinsn *di,
                              enum isa_space space, unsigned mode, bool write, bool ramp)
{
    enum { BYTES = 4, HALF = 16 };
    const unsigned plain = mode & ~(unsigned)MEM_SCALED, scale = mode & MEM_SCALED ? 2 : 0;
    const unsigned unit = BYTES >> scale, span = ramp ? HALF * BYTES : BYTES;
    const bool pair = mode == ISA_AMODE_PAIR, is_signed = plain == ISA_AMODE_SS32;
    const uint32_t *off = emu_row(w, di->a), *high = off;
    const uint32_t first0 = off[0], first1 = off[HALF];
    uint64_t address0, address1, base = (uint64_t)(int64_t)di->disp;

    if (pair) {
        high = emu_row(w, di->a + w->stride);
        base += (uint64_t)high[0] << 32;
    } else if (plain == ISA_AMODE_SU32 || is_signed) {
        base += (uint64_t)w->s[di->reg + 1] << 32 | w->s[di->reg];
    }
    address0 = base + ((is_signed ? (uint64_t)(int64_t)(int32_t)first0 : first0) << scale);
    address1 = base + ((is_signed ? (uint64_t)(int64_t)(int32_t)first1 : first1) << scale);
    if ((address0 | address1) & (BYTES - 1))
        return false;
    if (ramp) { /* the row may wrap, addresses do not */
        const uint32_t flip = is_signed ? UINT32_C(1) << 31 : 0;
        const uint32_t most = (UINT32_MAX - HALF * BYTES) ^ flip;
        if (is_signed ? (int32_t)first0 > (int32_t)most || (int32_t)first1 > (int32_t)most
                      : first0 > most || first1 > most)
            return false;
    }
    if (!emu_halves_form(off, high, pair, ramp, unit))
        return false;
    uint8_t *host0 = mem_reach(w, space, address0, span, write);
    if (host0 == NULL)
        return false;
    uint8_t *host1 = mem_reach(w, space, address1, span, write);
    if (host1 == NULL)
        return false;
    uint32_t *d = emu_row(w, write ? di->b : di->d);
    if (write) {
        bool changed = ramp ? mem_store_run(host0, d, 0, HALF, 0xffff, true, ISA_SIZE_B32)
                            : mem_store_equal(host0, d, 0, HALF, 0xffff, true, ISA_SIZE_B32);
        changed |= ramp ? mem_store_run(host1, d + HALF, 0, HALF, 0xffff, true, ISA_SIZE_B32)
                        : mem_store_equal(host1, d + HALF, 0, HALF, 0xffff, true, ISA_SIZE_B32);
        mem_count(w, true, changed);
    } else if (ramp) {
        emu_row_load(d, host0, HALF, 0xffff, true);
        emu_row_load(d + HALF, host1, HALF, 0xffff, true);
        mem_count(w, false, false);
    } else {
        emu_row_splat(d, HALF, 0xffff, true, lw_get32(host0));
        emu_row_splat(d + HALF, HALF, 0xffff, true, lw_get32(host1));
        mem_count(w, false, false);
    }
    return true;
}

/** Which of its full handlers an instruction tries first: it follows what served it last.
 *  Breakpoints and the end of a budget stand in the same place and stay. */
MEM_INLINE void mem_prefer(struct emu_warp *w, const struct emu_dinsn *di, emu_handler_fn *from,
                           emu_handler_fn *to)
{
    struct emu_dinsn *at = &w->code->insn[di->index];
    struct emu_handlers *normal = &w->code->normal[di->index];

    if (at->h.full == from)
        at->h.full = to;
    if (normal->full == from)
        normal->full = to;
}

/* _f: all lanes of a warp of 32; _h: what _f left, by halves; _U and _R: halves of equal and of
 * consecutive lanes at once, where that served the last time; _bU, _bR: back to _f; _a: all
 * lanes of a warp of MEM_LEAST or more; _p: the lanes that mask and guard leave, of a warp of
 * 32; _q: the same, any width. A warp may have fewer lanes than its row, at the end of a block. */
#define MEM_HALF_FORM(space, mode, kind, rw, write, form, back, ramp)                         \
    static void LEVEL(mem_##rw##_##space##_##kind##_##mode##_##form)(                         \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        if (MEM_LIKELY(w->width == 32 &&                                                      \
                       mem_half_form(w, di, ISA_SPACE_##space, MEM_MODE_##mode, write, ramp))) \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_##back)(w, di);                 \
    }                                                                                         \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_##back)(                    \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        mem_prefer(w, di, LEVEL(mem_##rw##_##space##_##kind##_##mode##_##form),               \
                   LEVEL(mem_##rw##_##space##_##kind##_##mode##_f));                          \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_f)(w, di);                      \
    }
/* What _h of a form by halves has beside the general way; of all other forms: nothing. */
#define MEM_HALVES(space, mode, kind, rw, write)                                              \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_bU)(                        \
        struct emu_warp * w, const struct emu_dinsn *di);                                     \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_bR)(                        \
        struct emu_warp * w, const struct emu_dinsn *di);                                     \
    static emu_handler_fn LEVEL(mem_##rw##_##space##_##kind##_##mode##_f);                    \
    MEM_HALF_FORM(space, mode, kind, rw, write, U, bU, false)                                 \
    MEM_HALF_FORM(space, mode, kind, rw, write, R, bR, true)                                  \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_h)(                         \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        const uint32_t *off = emu_row(w, di->a);                                              \
        const bool ramp = off[0] != off[1], alike = ramp == (off[16] != off[17]);             \
        if (mem_halves(w, di, ISA_SPACE_##space, MEM_MODE_##mode, write)) {                   \
            if (alike)                                                                        \
                mem_prefer(w, di, LEVEL(mem_##rw##_##space##_##kind##_##mode##_f),            \
                           ramp ? LEVEL(mem_##rw##_##space##_##kind##_##mode##_R)             \
                                : LEVEL(mem_##rw##_##space##_##kind##_##mode##_U));           \
            EMU_NEXT_FULL(w, di);                                                             \
        }                                                                                     \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }
#define MEM_WHOLE(space, mode, kind, rw, write)                                               \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_h)(                         \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }
#define MEM_FAST(space, mode, kind, rw, write)                                                \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_q)(                         \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        uint64_t m = w->e & emu_guard(w, di);                                                 \
        if (m == 0 ||                                                                         \
            MEM_LIKELY(mem_fast(w, di, m, false, w->n, ISA_SPACE_##space, MEM_MODE_##mode,    \
                                ISA_SIZE_##kind, write)))                                     \
            EMU_NEXT(w, di);                                                                  \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }                                                                                         \
    static void LEVEL(mem_##rw##_##space##_##kind##_##mode##_p)(struct emu_warp * w,          \
                                                                const struct emu_dinsn *di)   \
    {                                                                                         \
        uint64_t m = w->e & emu_guard(w, di);                                                 \
        if (!MEM_LIKELY(w->width == 32))                                                      \
            EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_q)(w, di);                  \
        if (m == 0 || MEM_LIKELY(mem_fast(w, di, m, false, 32, ISA_SPACE_##space,             \
                                          MEM_MODE_##mode, ISA_SIZE_##kind, write)))          \
            EMU_NEXT(w, di);                                                                  \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }                                                                                         \
    MEM_OUTLINE void LEVEL(mem_##rw##_##space##_##kind##_##mode##_a)(                         \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        if (w->width < MEM_LEAST)                                                             \
            EMU_TAIL LEVEL(mem_##rw##_##space##_##kind##_##mode##_q)(w, di);                  \
        if (MEM_LIKELY(mem_fast(w, di, w->all, true, w->n, ISA_SPACE_##space,                 \
                                MEM_MODE_##mode, ISA_SIZE_##kind, write)))                    \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL LEVEL(mem_##rw##_##space##_##kind)(w, di);                                   \
    }                                                                                         \
    static void LEVEL(mem_##rw##_##space##_##kind##_##mode##_f)(struct emu_warp * w,          \
                                                                const struct emu_dinsn *di)   \
    {                                                                                         \
        if (!MEM_LIKELY(w->width == 32)) /* the full chain: e is all of them */              \
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
/* Forms that have fast handlers; all others use the general ones. */
#define MEM_HALF_FORMS(FORM)                                                                  \
    FORM(GLOBAL, PAIR, B32) FORM(GLOBAL, SU32, B32) FORM(GLOBAL, SS32, B32)                   \
    FORM(GLOBAL, SU32X, B32) FORM(GLOBAL, SS32X, B32)                                         \
    FORM(SHARED, M32, B32) FORM(SHARED, PAIR, B32) FORM(GENERIC, PAIR, B32)
#define MEM_WHOLE_FORMS(FORM)                                                                 \
    FORM(GLOBAL, PAIR, V2B32) FORM(GLOBAL, PAIR, V4B32)                                       \
    FORM(GLOBAL, SU32, V2B32) FORM(GLOBAL, SU32, V4B32)                                       \
    FORM(GLOBAL, SU32X, V2B32) FORM(GLOBAL, SU32X, V4B32)                                     \
    FORM(GLOBAL, SS32X, V2B32) FORM(GLOBAL, SS32X, V4B32)                                     \
    FORM(SHARED, M32, V2B32) FORM(SHARED, M32, V4B32)                                         \
    FORM(SHARED, PAIR, V2B32) FORM(SHARED, PAIR, V4B32)                                       \
    FORM(LOCAL, M32, B32) FORM(LOCAL, M32, V2B32)                                             \
    FORM(GENERIC, PAIR, V2B32)
#define MEM_FAST_FORMS(FORM) MEM_HALF_FORMS(FORM) MEM_WHOLE_FORMS(FORM)
#define FORM(space, mode, kind)                                                               \
    MEM_HALVES(space, mode, kind, ld, false) MEM_HALVES(space, mode, kind, st, true)          \
    MEM_FAST(space, mode, kind, ld, false) MEM_FAST(space, mode, kind, st, true)
MEM_HALF_FORMS(FORM)
#undef FORM
#define FORM(space, mode, kind)                                                               \
    MEM_WHOLE(space, mode, kind, ld, false) MEM_WHOLE(space, mode, kind, st, true)            \
    MEM_FAST(space, mode, kind, ld, false) MEM_FAST(space, mode, kind, st, true)
MEM_WHOLE_FORMS(FORM)
#undef FORM

/* ---- atomics ----------------------------------------------------------------------- */

/** Mark the pages of scattered lanes; often there is one. */
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

/* ---- which handlers ---------------------------------------------------------------- */

/** Sizes that move alike. */
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

static bool LEVEL(load_handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                                 struct emu_handlers *out, const char **why)
{
    return LEVEL(mem_handlers)(insn, di, false, out, why);
}

static bool LEVEL(store_handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                                  struct emu_handlers *out, const char **why)
{
    return LEVEL(mem_handlers)(insn, di, true, out, why);
}

static bool LEVEL(atomic_handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                                   struct emu_handlers *out, const char **why)
{
    (void)di;
    *why = emu_atomic_refused(insn);
    if (*why != NULL)
        return false;
    out->full = out->part = LEVEL(mem_atomic);
    return true;
}
