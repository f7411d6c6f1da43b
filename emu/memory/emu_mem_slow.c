/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory instructions, executed one lane at a time: accesses that the faster stages do not handle (by lanes in several
 * allocations or spaces, or near the end of an allocation), all faults, and all atomics. Accesses are checked exactly and
 * executed in lane order. No byte changes before all lanes have been checked.
 */
#include "emu/lane/emu_math_priv.h"
#include "emu/memory/emu_mem_priv.h"

/* ---- checking all lanes ---------------------------------------------------------- */

/** Computes addresses and host addresses of @lanes. If a lane's access is invalid, raises a fault for all invalid lanes, with the
 *  kind and address of the lowest invalid lane, and returns false. */
static bool check_lanes(struct emu_warp *w, const struct emu_dinsn *di,
                        const struct isa_insn *insn, uint64_t lanes, unsigned bytes, bool write,
                        uint64_t *address, struct emu_host_address *target)
{
    enum isa_space space = (enum isa_space)emu_mem_info[insn->op].space;
    enum emu_fault_kind first = EMU_FAULT_NONE;
    uint64_t bad = 0;

    emu_addresses_raw(w, insn, di, lanes, address);
    for (LW_EACH_BIT(l, lanes)) {
        enum emu_fault_kind kind =
            emu_lane_address(w, space, (unsigned)l, address[l], bytes, write, &target[l]);
        if (kind != EMU_FAULT_NULL_PAGE && (address[l] & (bytes - 1)) != 0)
            kind = EMU_FAULT_MISALIGNED;
        if (kind == EMU_FAULT_NONE)
            continue;
        if (bad == 0)
            first = kind;
        bad |= UINT64_C(1) << l;
    }
    if (bad == 0)
        return true;
    emu_raise_memory(w, di, first, bad, space, address[lw_lowest(bad)], bytes, write);
    return false;
}

/** Sets the instruction's allocation cache to the allocation that the lowest lane accesses, if it contains the addresses of all
 *  lanes. The next scattered access of this instruction then takes the fast path. */
static void remember(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                     const uint64_t *address, const struct emu_host_address *target)
{
    const struct emu_alloc_record *record;
    unsigned first = lw_lowest(lanes);

    if (target[first].space != ISA_SPACE_GLOBAL)
        return;
    record = emu_memory_find(&w->core->machine->memory, address[first]);
    if (record == NULL)
        return;
    for (LW_EACH_BIT(l, lanes))
        if (address[l] - record->address >= record->size_bytes)
            return;
    emu_icache_set(w->code, di->index, record->address, record->address + record->size_bytes);
}

static void touch(struct emu_warp *w, const struct emu_host_address *target, uint64_t address,
                  unsigned bytes)
{
    if (target->space == ISA_SPACE_GLOBAL)
        emu_memory_touch(&w->core->machine->memory, address - ISA_GLOBAL_BASE, bytes);
}

/* ---- loads and stores -------------------------------------------------------------- */

bool emu_mem_slow(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const struct isa_insn *insn = emu_insn_of(w, di);
    bool write = emu_mem_info[insn->op].mem_class == EMU_MEM_STORE;
    unsigned size = di->sub, bytes = emu_size_bytes(size);
    uint64_t address[EMU_MAX_LANES];
    struct emu_host_address target[EMU_MAX_LANES];
    bool changed = false;

    if (lanes == 0)
        return true;
    if (!check_lanes(w, di, insn, lanes, bytes, write, address, target))
        return false;
    for (LW_EACH_BIT(l, lanes)) {
        uint8_t *host = target[l].host;
        uint32_t row = write ? di->b : di->d, word = bytes < 4 ? bytes : 4;
        for (unsigned at = 0; at < bytes; at += 4, row += w->stride, host += target[l].step) {
            uint32_t *lane = &emu_row(w, row)[l], value = 0;
            memcpy(&value, host, word);
            if (!write) {
                if (size == ISA_SIZE_S8)
                    value = (uint32_t)(int8_t)value;
                else if (size == ISA_SIZE_S16)
                    value = (uint32_t)(int16_t)value;
                *lane = value;
            } else if (memcmp(&value, lane, word) != 0) {
                memcpy(host, lane, word);
                /* a store to local memory does not count as progress, because no other lane can wait for its value */
                changed = changed || target[l].space != ISA_SPACE_LOCAL;
            }
        }
        if (write)
            touch(w, &target[l], address[l], bytes);
    }
    remember(w, di, lanes, address, target);
    if (write)
        w->core->stats.stores++;
    else
        w->core->stats.loads++;
    w->block->progress += changed;
    return true;
}

/* ---- atomics ------------------------------------------------------------------------- */

unsigned emu_atype_bytes(unsigned atype)
{
    static const uint8_t bytes[] = {
        [ISA_ATYPE_U32] = 4, [ISA_ATYPE_S32] = 4, [ISA_ATYPE_U64] = 8, [ISA_ATYPE_S64] = 8,
        [ISA_ATYPE_B32] = 4, [ISA_ATYPE_B64] = 8, [ISA_ATYPE_F32] = 4, [ISA_ATYPE_F64] = 8,
        [ISA_ATYPE_B16] = 2, [ISA_ATYPE_F16] = 2, [ISA_ATYPE_BF16] = 2, [ISA_ATYPE_F16X2] = 4,
        [ISA_ATYPE_BF16X2] = 4,
    };
    return atype < LW_COUNT_OF(bytes) ? bytes[atype] : 0;
}

/** pick_f32() and pick_f64() return the minimum or maximum of two floats, given as bits. If one operand is a NaN, the result is
 *  the other operand; -0 is less than +0. */
static uint32_t pick_f32(uint32_t a, uint32_t b, bool max)
{
    const float x = emu_f32_bits(a), y = emu_f32_bits(b);

    return BITS_f32(max ? emu_max_f32_plain(x, y) : emu_min_f32_plain(x, y));
}
static uint64_t pick_f64(uint64_t a, uint64_t b, bool max)
{
    const double x = emu_f64_bits(a), y = emu_f64_bits(b);

    return BITS_f64(max ? emu_max_f64_plain(x, y) : emu_min_f64_plain(x, y));
}

/* Executes @op on the low 16 bits of @a and @b. Bits 31:16 of the result are zero. */
static uint32_t pick_half(uint32_t a, uint32_t b, bool bf, unsigned op)
{
    float x = bf ? emu_f32_of_bf16(a & 0xffff) : emu_f32_of_f16(a);
    float y = bf ? emu_f32_of_bf16(b & 0xffff) : emu_f32_of_f16(b);

    x = op == ISA_AOP_ADD ? x + y
                          : emu_f32_bits(pick_f32(BITS_f32(x), BITS_f32(y), op == ISA_AOP_MAX));
    return bf ? emu_bf16_of_f32(x) : emu_f16_of_f32(x);
}
/* Executes @op on both 16-bit halves of @a and @b. */
static uint32_t pick_halves(uint32_t a, uint32_t b, bool bf, unsigned op)
{
    return pick_half(a, b, bf, op) | pick_half(a >> 16, b >> 16, bf, op) << 16;
}

/** Operands of an atomic, whose locations have been checked. */
struct emu_atomic_run {
    uint64_t lanes;
    uint8_t *const *place; /* [lane] host addresses; NULL: lane l accesses host + (off[l] ^ flip) */
    uint8_t *host;
    const uint32_t *off;
    uint32_t flip;
    const uint32_t *x0, *x1, *c0, *c1; /* x: registers of the operand; c: registers of the swap value of cas; 0 and 1: low and
                                        * high words */
    uint32_t *d0, *d1;                 /* registers of the result, low and high words, or NULL if there is no result */
    bool threads;                      /* other host threads may access the same memory */
};

/* types for words of guest memory, which the rest of the emulator accesses as bytes */
typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* Members of @run as local variables: stores to guest memory could otherwise force the compiler to reload these members, because
 * guest memory may alias any object to which a pointer exists. */
#define ATOMIC_LOCALS                                                                         \
    const uint32_t *const x0 = run->x0, *const x1 = run->x1, *const c0 = run->c0;             \
    const uint32_t *const c1 = run->c1, *const off = run->off, flip = run->flip;              \
    uint8_t *const host = run->host;                                                          \
    const uint64_t lanes = run->lanes;                                                        \
    const bool plain = run->place == NULL && !run->threads && run->d0 == NULL
#define ROW_word16(r0, r1, l) ((void)(r1), (word16)(r0)[l])
#define ROW_word32(r0, r1, l) ((void)(r1), (r0)[l])
#define ROW_word64(r0, r1, l) ((uint64_t)(r1)[l] << 32 | (r0)[l])
#define PUT_word16(v, l) (run->d0[l] = (v))
#define PUT_word32(v, l) (run->d0[l] = (v))
#define PUT_word64(v, l) (run->d0[l] = (uint32_t)(v), run->d1[l] = (uint32_t)((v) >> 32))

/* An operation for which the host has an atomic instruction. @expression is the value after the operation; in it, m is the value
 * before the operation. */
#define ATOMIC_HOST(T, function, expression)                                                  \
    if (run->threads) {                                                                       \
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {                            \
            unsigned l = lw_lowest(rest);                                                     \
            T *p = (T *)(void *)(run->place != NULL ? run->place[l] : host + (off[l] ^ flip)); \
            T x = ROW_##T(x0, x1, l), m = function(p, x, __ATOMIC_SEQ_CST);                   \
            changed |= m ^ (expression);                                                      \
            if (run->d0 != NULL)                                                              \
                PUT_##T(m, l);                                                                \
        }                                                                                     \
        break;                                                                                \
    }                                                                                         \
    ATOMIC_LOOP(T, expression)

/* Loop over the lanes for one operation: m is the value in memory, x the operand. The registers of a lane are read before its
 * result is written, because the result may be in the same register. */
#define ATOMIC_LOOP(T, expression)                                                            \
    if (plain) {                                                                              \
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {                            \
            unsigned l = lw_lowest(rest);                                                     \
            T *p = (T *)(void *)(host + (off[l] ^ flip)), m = *p, x = ROW_##T(x0, x1, l), r;  \
            r = (expression);                                                                 \
            *p = r;                                                                           \
            changed |= m ^ r;                                                                 \
        }                                                                                     \
        break;                                                                                \
    }                                                                                         \
    for (LW_EACH_BIT(l, lanes)) {                                                             \
        T x = ROW_##T(x0, x1, l), m, r;                                                       \
        T *p = (T *)(void *)(run->place != NULL ? run->place[l] : host + (off[l] ^ flip));    \
        if (!run->threads) {                                                                  \
            m = *p;                                                                           \
            r = (expression);                                                                 \
            *p = r;                                                                           \
        } else {                                                                              \
            m = __atomic_load_n(p, __ATOMIC_RELAXED);                                         \
            do                                                                                \
                r = (expression);                                                             \
            while (!__atomic_compare_exchange_n(p, &m, r, true, __ATOMIC_SEQ_CST,             \
                                                __ATOMIC_RELAXED));                           \
        }                                                                                     \
        changed |= m ^ r;                                                                     \
        if (run->d0 != NULL)                                                                  \
            PUT_##T(m, l);                                                                    \
    }                                                                                         \
    break

static bool run16(const struct emu_atomic_run *run, unsigned op, unsigned type)
{
    ATOMIC_LOCALS;
    word16 changed = 0;
    (void)c1;

    switch (op) {
    case ISA_AOP_ADD:
    case ISA_AOP_MIN:
    case ISA_AOP_MAX:
        ATOMIC_LOOP(word16, (word16)pick_half(m, x, type == ISA_ATYPE_BF16, op));
    case ISA_AOP_EXCH:
        ATOMIC_LOOP(word16, x);
    default:
        ATOMIC_LOOP(word16, m == x ? ROW_word16(c0, c1, l) : m);
    }
    return changed != 0;
}

static bool run_packed(const struct emu_atomic_run *run, unsigned op, unsigned type)
{
    ATOMIC_LOCALS;
    word32 changed = 0;
    (void)c0, (void)c1;

    switch (op) {
    case ISA_AOP_EXCH:
        ATOMIC_LOOP(word32, x);
    default:
        ATOMIC_LOOP(word32, pick_halves(m, x, type == ISA_ATYPE_BF16X2, op));
    }
    return changed != 0;
}

/* Defines the function that executes an atomic on words of N bits, for all lanes of @run. */
#define RUN_WORDS(N)                                                                          \
    static bool run##N(const struct emu_atomic_run *run, unsigned op, unsigned type)          \
    {                                                                                         \
        ATOMIC_LOCALS;                                                                        \
        word##N changed = 0;                                                                  \
        const bool is_signed = type == ISA_ATYPE_S##N, is_float = type == ISA_ATYPE_F##N;     \
                                                                                              \
        switch (op) {                                                                         \
        case ISA_AOP_ADD:                                                                     \
            if (is_float) {                                                                   \
                ATOMIC_LOOP(word##N, BITS_f##N(emu_f##N##_bits(m) + emu_f##N##_bits(x)));     \
            }                                                                                 \
            ATOMIC_HOST(word##N, __atomic_fetch_add, m + x);                                  \
        case ISA_AOP_MIN:                                                                     \
            if (is_float) {                                                                   \
                ATOMIC_LOOP(word##N, pick_f##N(m, x, false));                                 \
            }                                                                                 \
            if (is_signed) {                                                                  \
                ATOMIC_LOOP(word##N, (int##N##_t)m < (int##N##_t)x ? m : x);                  \
            }                                                                                 \
            ATOMIC_LOOP(word##N, m < x ? m : x);                                              \
        case ISA_AOP_MAX:                                                                     \
            if (is_float) {                                                                   \
                ATOMIC_LOOP(word##N, pick_f##N(m, x, true));                                  \
            }                                                                                 \
            if (is_signed) {                                                                  \
                ATOMIC_LOOP(word##N, (int##N##_t)m > (int##N##_t)x ? m : x);                  \
            }                                                                                 \
            ATOMIC_LOOP(word##N, m > x ? m : x);                                              \
        case ISA_AOP_INC:                                                                     \
            ATOMIC_LOOP(word##N, m >= x ? 0 : m + 1);                                         \
        case ISA_AOP_DEC:                                                                     \
            ATOMIC_LOOP(word##N, m == 0 || m > x ? x : m - 1);                                \
        case ISA_AOP_AND:                                                                     \
            ATOMIC_HOST(word##N, __atomic_fetch_and, m & x);                                  \
        case ISA_AOP_OR:                                                                      \
            ATOMIC_HOST(word##N, __atomic_fetch_or, m | x);                                   \
        case ISA_AOP_XOR:                                                                     \
            ATOMIC_HOST(word##N, __atomic_fetch_xor, m ^ x);                                  \
        case ISA_AOP_EXCH:                                                                    \
            ATOMIC_LOOP(word##N, x);                                                          \
        default: /* cas: x is the value with which m is compared */                                      \
            ATOMIC_LOOP(word##N, m == x ? ROW_word##N(c0, c1, l) : m);                        \
        }                                                                                     \
        return changed != 0;                                                                  \
    }
RUN_WORDS(32)
RUN_WORDS(64)

static void run_atomic(struct emu_warp *w, const struct emu_dinsn *di,
                       struct emu_atomic_run *run)
{
    const struct isa_insn *insn = emu_insn_of(w, di);
    unsigned op = EMU_MOD(insn, AOP), type = EMU_MOD(insn, ATYPE);
    bool changed;

    run->x0 = emu_row(w, di->b);
    run->x1 = emu_row(w, di->b + w->stride);
    run->c0 = emu_row(w, di->c);
    run->c1 = emu_row(w, di->c + w->stride);
    if (emu_mem_info[insn->op].mem_class == EMU_MEM_ATOMIC) {
        run->d0 = emu_row(w, di->d);
        run->d1 = emu_row(w, di->d + w->stride);
    }
    if (type == ISA_ATYPE_F16X2 || type == ISA_ATYPE_BF16X2)
        changed = run_packed(run, op, type);
    else if (emu_atype_bytes(type) == 2)
        changed = run16(run, op, type);
    else
        changed = emu_atype_bytes(type) == 8 ? run64(run, op, type) : run32(run, op, type);
    w->core->stats.atomics++;
    w->block->progress += changed;
}

void emu_atomic_rows(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                     uint8_t *host, const uint32_t *off, uint32_t flip, bool global)
{
    struct emu_atomic_run run = {.lanes = lanes, .host = host, .off = off, .flip = flip,
                                 .threads = global && w->core->machine->threaded};

    run_atomic(w, di, &run);
}

bool emu_atomic(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const struct isa_insn *insn = emu_insn_of(w, di);
    unsigned bytes = emu_atype_bytes(EMU_MOD(insn, ATYPE));
    uint64_t address[EMU_MAX_LANES], wide[EMU_MAX_LANES], local = 0;
    struct emu_host_address target[EMU_MAX_LANES];
    uint8_t *place[EMU_MAX_LANES];
    struct emu_atomic_run run = {.lanes = lanes, .place = place,
                                 .threads = w->core->machine->threaded};

    if (lanes == 0)
        return true;
    if (!check_lanes(w, di, insn, lanes, bytes, true, address, target))
        return false;
    for (LW_EACH_BIT(l, lanes)) {
        place[l] = target[l].host;
        touch(w, &target[l], address[l], bytes);
        if (target[l].space == ISA_SPACE_LOCAL && bytes == 8) {
            /* the two words of a lane in local memory are not contiguous; the atomic works on a copy, which is safe because no
             * other thread can access local memory */
            local |= UINT64_C(1) << l;
            wide[l] = lw_get32(place[l]) | (uint64_t)lw_get32(place[l] + target[l].step) << 32;
            place[l] = (uint8_t *)&wide[l];
        }
    }
    remember(w, di, lanes, address, target);
    run_atomic(w, di, &run);
    for (LW_EACH_BIT(l, local)) {
        lw_put32(target[l].host, (uint32_t)wide[l]);
        lw_put32(target[l].host + target[l].step, (uint32_t)(wide[l] >> 32));
    }
    return true;
}
