/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares loads and stores with a byte-exact oracle.
 *
 * The oracle models which bytes exist in each space, and decides each access byte by byte. The oracle shares no code with
 * the emulator. The test puts the lowest or highest lane at every offset around both ends of memory of odd size, in every
 * space, size, addressing mode, address pattern and level.
 */
#include "tests/emu/memory/test_memory_fix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const struct emu_level *at_level; /* level of the current run, for messages */

/* ---- the oracle ------------------------------------------------------------------------ */

enum { ORACLE_BYTES = 9000 };

/** One space as the oracle sees it: only the bytes [start, start + size) exist. */
struct oracle {
    enum isa_op load, store;
    enum isa_space space;
    uint64_t start; /* address of byte 0, as the instruction computes it */
    uint64_t size;
    bool per_lane;  /* local memory, in which each lane has its own bytes */
    bool read_only;
    uint8_t (*bytes)[ORACLE_BYTES]; /* indexed by the lane if per_lane is set, otherwise [0] */
};

static bool oracle_ok(const struct oracle *o, uint64_t address, unsigned bytes)
{
    if (address % bytes != 0)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        if (address + i - o->start >= o->size)
            return false;
    return true;
}

/** Compute the register values that a lane loads. */
static void oracle_load(const struct oracle *o, unsigned lane, uint64_t address, unsigned size,
                        uint32_t *reg)
{
    const uint8_t *p = o->bytes[o->per_lane ? lane : 0] + (address - o->start);
    unsigned bytes = emu_size_bytes(size);

    for (unsigned k = 0; k < size_regs(size); k++) {
        reg[k] = 0;
        for (unsigned i = 0; i < (bytes < 4 ? bytes : 4); i++)
            reg[k] |= (uint32_t)p[4 * k + i] << (8 * i);
    }
    if (size == ISA_SIZE_S8 && reg[0] >= 0x80)
        reg[0] |= 0xffffff00u;
    if (size == ISA_SIZE_S16 && reg[0] >= 0x8000)
        reg[0] |= 0xffff0000u;
}

/** Store the register values of a lane. Return true if a byte has changed. */
static bool oracle_store(struct oracle *o, unsigned lane, uint64_t address, unsigned size,
                         const uint32_t *reg)
{
    uint8_t *p = o->bytes[o->per_lane ? lane : 0] + (address - o->start);
    bool changed = false;

    for (unsigned i = 0; i < emu_size_bytes(size); i++) {
        uint8_t byte = (uint8_t)(reg[i / 4] >> (8 * (i % 4)));
        changed |= p[i] != byte;
        p[i] = byte;
    }
    return changed;
}

/* ---- a space in the machine ------------------------------------------------------------- */

/** Return the machine's bytes of a space other than local memory. */
static uint8_t *machine_bytes(struct fix *f, const struct oracle *o)
{
    if (o->start >= ISA_GLOBAL_BASE)
        return f->machine.memory.host + (o->start - ISA_GLOBAL_BASE);
    return o->start >= ISA_CONST_BASE ? f->bank0 : f->block.shared;
}

static uint8_t *machine_local(struct fix *f, unsigned lane, uint64_t i)
{
    return f->warp->local + (i / 4 * f->warp->n + lane) * 4 + i % 4;
}

static void fill_random(struct fix *f, struct oracle *o, uint64_t *seed)
{
    for (unsigned lane = 0; lane < (o->per_lane ? f->warp->n : 1); lane++)
        for (uint64_t i = 0; i < o->size; i++) {
            o->bytes[lane][i] = (uint8_t)next_random(seed);
            if (o->per_lane)
                *machine_local(f, lane, i) = o->bytes[lane][i];
        }
    if (!o->per_lane)
        memcpy(machine_bytes(f, o), o->bytes[0], o->size);
    if (o->start >= ISA_GLOBAL_BASE)
        emu_memory_touch(&f->machine.memory, o->start - ISA_GLOBAL_BASE, o->size);
}

/** Check that every byte of the machine's space equals the byte of the oracle, and that adjacent bytes are
 *  unchanged. */
static void check_bytes(struct fix *f, struct oracle *o)
{
    static const uint8_t zero[EMU_PAGE_BYTES];

    if (o->per_lane) {
        for (unsigned lane = 0; lane < f->warp->n; lane++)
            for (uint64_t i = 0; i < o->size; i++)
                if (*machine_local(f, lane, i) != o->bytes[lane][i])
                    fail_msg("byte %u of lane %u differs", (unsigned)i, lane);
        return;
    }
    assert_memory_equal(machine_bytes(f, o), o->bytes[0], o->size);
    assert_memory_equal(f->shared, zero, FIX_GUARD);
    assert_memory_equal(f->shared + FIX_GUARD + FIX_SHARED, zero, FIX_GUARD);
    if (o->start >= ISA_GLOBAL_BASE)
        assert_memory_equal(machine_bytes(f, o) + o->size, zero, EMU_PAGE_BYTES);
}

/* ---- one instruction against the oracle ---------------------------------------------------- */

/** Fill four vector registers from @reg on with random words, which are copied from a random position of a pool. */
static void random_rows(struct fix *f, unsigned reg, uint64_t *seed)
{
    static uint32_t pool[2048];

    if (pool[0] == 0)
        for (size_t i = 0; i < LW_COUNT_OF(pool); i++)
            pool[i] = (uint32_t)next_random(seed) | 1;
    for (unsigned k = 0; k < 4; k++)
        memcpy(fix_row(f, reg + k), pool + next_random(seed) % 1900, f->warp->stride);
}

/** Run the instruction in f->insn for the addresses @address, and compare registers, memory and fault with the oracle. */
static void run_and_compare(struct fix *f, struct oracle *o, const uint64_t *address,
                            uint64_t lanes, unsigned size, bool write, uint64_t *seed)
{
    struct emu_warp *w = f->warp;
    static uint32_t before[FIX_ALL_ROWS][EMU_MAX_LANES];
    uint64_t bad = 0, progress = w->block->progress;
    unsigned bytes = emu_size_bytes(size), regs = size_regs(size);
    bool changed = false;

    random_rows(f, V_DATA, seed);
    random_rows(f, V_DEST, seed);
    for (unsigned r = 0; r < FIX_ALL_ROWS; r++)
        memcpy(before[r], fix_row(f, r), w->stride);
    for (LW_EACH_BIT(l, lanes))
        if (!oracle_ok(o, address[l], bytes) || (write && o->read_only))
            bad |= UINT64_C(1) << l;

    bool good = fix_run(f, at_level);

    if (good != (bad == 0))
        fail_msg("level %u, %s of size %u, lane %u at 0x%llx: %s, unlike in the oracle",
                 at_level->level, write ? "store" : "load", size, lw_lowest(lanes),
                 (unsigned long long)address[lw_lowest(lanes)], good ? "accepted" : "faulted");
    if (bad != 0) {
        assert_int_equal(w->fault.lanes, bad);
        assert_int_equal(w->fault.address, address[lw_lowest(bad)]);
        assert_int_equal(w->fault.bytes, bytes);
        assert_int_equal(w->fault.write, write);
        assert_int_equal(w->leave, EMU_LEAVE_FAULT);
        assert_int_not_equal(w->fault.detail[0], 0);
    } else {
        for (LW_EACH_BIT(l, lanes)) {
            uint32_t reg[4];
            if (write) {
                for (unsigned k = 0; k < 4; k++)
                    reg[k] = before[V_DATA + k][l];
                changed |= oracle_store(o, (unsigned)l, address[l], size, reg);
            } else {
                oracle_load(o, (unsigned)l, address[l], size, reg);
                for (unsigned k = 0; k < regs; k++)
                    before[V_DEST + k][l] = reg[k];
            }
        }
    }
    /* a change of local memory is no progress, since no other lane can see it */
    assert_int_equal(w->block->progress, progress + (changed && !o->per_lane));
    for (unsigned r = 0; r < FIX_ALL_ROWS; r++)
        if (memcmp(before[r], fix_row(f, r), w->stride) != 0)
            fail_msg("level %u, %s of size %u at 0x%llx: register v%u differs", at_level->level,
                     write ? "store" : "load", size,
                     (unsigned long long)address[lw_lowest(lanes)], r);
    if (write)
        check_bytes(f, o);
}

/** Set the registers and the displacement so that the addressing mode gives the addresses @address. Inactive lanes get
 *  random register values. */
static void set_addresses(struct fix *f, enum isa_op op, unsigned mode, unsigned scale,
                          const uint64_t *address, uint64_t lanes, uint64_t *seed)
{
    struct emu_warp *w = f->warp;
    int32_t disp = (int32_t)(next_random(seed) % 20001) - 10000;
    uint64_t base = 0;

    if (op == ISA_LD_CONST) {
        base = ISA_CONST_BASE;
        mode = ISA_AMODE_32;
    }
    /* sums of 32-bit addresses wrap, so the register may have any value */
    const bool wraps = mode == ISA_AMODE_32 && op != ISA_LD_CONST;
    if (mode == ISA_AMODE_32 && disp > 0 && !wraps)
        disp = -disp; /* otherwise the register would have to be negative for low addresses */
    if (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) {
        base = address[lw_lowest(lanes)] - (uint64_t)(int64_t)disp;
        if (mode == ISA_AMODE_SU32)
            base -= 100000; /* lanes below the lowest active lane have smaller offsets */
        f->di[0].reg = S_BASE;
        w->s[S_BASE] = (uint32_t)base;
        w->s[S_BASE + 1] = (uint32_t)(base >> 32);
    }
    for (unsigned l = 0; l < w->n; l++)
        if (mode == ISA_AMODE_32 && !wraps && (lanes >> l & 1) &&
            address[l] - (uint64_t)(int64_t)disp - base > UINT32_MAX)
            disp = -10000;
    f->di[0].disp = disp;
    for (unsigned l = 0; l < w->n; l++) {
        uint64_t value = address[l] - (uint64_t)(int64_t)disp - base;
        if (lanes >> l & 1) {
            assert_int_equal(value & ((1u << scale) - 1), 0);
            value = (uint64_t)((int64_t)value >> scale);
        }
        if (!(lanes >> l & 1)) {
            fix_pair(f, V_ADDRESS, l, next_random(seed));
            continue;
        }
        if (wraps)
            value = (uint32_t)value;
        if (mode == ISA_AMODE_32 || mode == ISA_AMODE_SU32)
            assert_true(value <= UINT32_MAX);
        if (mode == ISA_AMODE_SS32)
            assert_true((uint64_t)(int64_t)(int32_t)value == value);
        fix_pair(f, V_ADDRESS, l, value);
        if (mode != ISA_AMODE_PAIR) /* the next register is not part of the address */
            fix_row(f, V_ADDRESS + 1)[l] = (uint32_t)next_random(seed);
    }
}

enum pattern { EQUAL, RUN, HALVES, BACKWARDS, STRIDED, SCATTERED, PATTERN_COUNT };

static int64_t pattern_offset(enum pattern p, unsigned lane, unsigned first, unsigned bytes,
                              uint64_t *seed)
{
    int64_t n = (int64_t)lane - first;

    switch (p) {
    case EQUAL:
        return 0;
    case RUN:
        return n * bytes;
    case HALVES: /* two contiguous runs, as in blocks 16 threads wide */
        return lane / 16 == first / 16 ? n * bytes : (int64_t)(lane % 16) * bytes - 16;
    case BACKWARDS:
        return -n * bytes;
    case STRIDED:
        return n * (bytes + 4) / bytes * bytes;
    default:
        return ((int64_t)(next_random(seed) % 64) - 48) / bytes * bytes;
    }
}

struct block_vector {
    const char *name;
    enum isa_op load, store;
    enum isa_space space;
    unsigned mode;
    uint64_t start;
    uint64_t size;
    bool read_only;
    int coarse; /* distance of the tested offsets */
    bool scaled;
};

/** Test the offsets from -140 to +140 around one end of the space. */
static void check_end(struct fix *f, struct oracle *o, const struct block_vector *s, uint64_t end,
                      bool write, unsigned size, uint64_t *seed)
{
    const uint64_t masks[] = {~UINT64_C(0) << 1, 0x5a5a9c3ce17a5a5aULL, 1,
                              UINT64_C(0x8000800080008000), 0xffff0000ffff0000ULL};
    const enum isa_op op = write ? s->store : s->load;

    for (int at = -140; at <= 140; at += s->coarse) {
        for (unsigned p = 0; p < PATTERN_COUNT; p++) {
            uint64_t address[EMU_MAX_LANES] = {0}, some = next_random(seed);
            /* All lanes are active in every second case, and some lanes in the others. */
            uint64_t lanes = some >> 61 & 1 ? ~UINT64_C(0)
                             : some % 3     ? masks[some / 3 % LW_COUNT_OF(masks)]
                                            : next_random(seed);
            lanes &= f->warp->all;
            if (lanes == 0)
                continue;
            /* The offset belongs to the lowest or to the highest lane of the access. */
            unsigned pivot = some >> 60 & 1 ? lw_lowest(lanes)
                                            : 63 - (unsigned)__builtin_clzll(lanes);
            for (LW_EACH_BIT(l, lanes))
                address[l] = end + (uint64_t)(int64_t)at +
                             (uint64_t)pattern_offset((enum pattern)p, (unsigned)l, pivot,
                                                      emu_size_bytes(size), seed);
            if (s->mode == ISA_AMODE_32 && s->space != ISA_SPACE_CONST) /* addresses wrap (docs/reference/machine.md, 6) */
                for (LW_EACH_BIT(l, lanes))
                    address[l] = (uint32_t)address[l];
            unsigned scales = lw_lowest(emu_size_bytes(size)) + 1;
            unsigned scale = s->scaled ? (unsigned)(next_random(seed) % (2 * scales)) : 0;
            /* the scale is mostly the access size, for which the emulator has a separate handler */
            if (scale >= scales)
                scale = scales - 1;
            fix_insn(f, op, size, s->mode, V_DEST, V_ADDRESS, V_DATA, V_OTHER);
            f->insn.mod |= scale << EMU_MOD_ASCALE;
            fix_lanes(f, lanes);
            set_addresses(f, op, s->mode, scale, address, lanes, seed);
            run_and_compare(f, o, address, lanes, size, write, seed);
        }
    }
}

static void check_spaces(unsigned width, int coarse)
{
    static uint8_t bytes[EMU_MAX_LANES][ORACLE_BYTES];
    struct fix *f = fix_make(width);
    uint64_t a, b, c, d, seed = UINT64_C(0x9e3779b97f4a7c15);

    assert_int_equal(emu_alloc(&f->machine, 1, "first", 0, &a, NULL), LW_OK);
    assert_int_equal(emu_alloc(&f->machine, 4099, "odd", 0, &b, NULL), LW_OK);
    assert_int_equal(emu_alloc(&f->machine, 8192, "whole", 0, &c, NULL), LW_OK);
    assert_int_equal(emu_alloc(&f->machine, 333, "const", EMU_ALLOC_READ_ONLY, &d, NULL), LW_OK);
    const struct block_vector spaces_of[] = {
        {"global", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_PAIR, b, 4099, 0, 1, false},
        {"whole pages", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_PAIR, c, 8192,
         0, 3, false},
        {"one byte", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_PAIR, a, 1, 0, 3, false},
        {"scalar + u32", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_SU32, b, 4099,
         0, 1, false},
        {"scalar + s32", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_SS32, b, 4099,
         0, 1, false},
        {"scalar + u32 * size", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_SU32, b,
         4099, 0, 1, true},
        {"scalar + s32 * size", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_SS32, b,
         4099, 0, 1, true},
        {"generic, scalar + s32 * size", ISA_LD_GENERIC, ISA_ST_GENERIC, ISA_SPACE_GENERIC,
         ISA_AMODE_SS32, b, 4099, 0, 2, true},
        {"local, scalar + u32 * size", ISA_LD_LOCAL, ISA_ST_LOCAL, ISA_SPACE_LOCAL,
         ISA_AMODE_SS32, 0, FIX_LOCAL, 0, 2, true},
        {"read-only", ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_SPACE_GLOBAL, ISA_AMODE_PAIR, d, 333, 1,
         3, false},
        {"generic", ISA_LD_GENERIC, ISA_ST_GENERIC, ISA_SPACE_GENERIC, ISA_AMODE_PAIR, b, 4099,
         0, 1, false},
        {"shared", ISA_LD_SHARED, ISA_ST_SHARED, ISA_SPACE_SHARED, ISA_AMODE_32, 0, FIX_SHARED,
         0, 1, false},
        {"shared, 64-bit", ISA_LD_SHARED, ISA_ST_SHARED, ISA_SPACE_SHARED, ISA_AMODE_PAIR, 0,
         FIX_SHARED, 0, 2, false},
        {"generic shared", ISA_LD_GENERIC, ISA_ST_GENERIC, ISA_SPACE_GENERIC, ISA_AMODE_PAIR,
         ISA_SHARED_BASE, FIX_SHARED, 0, 1, false},
        {"local", ISA_LD_LOCAL, ISA_ST_LOCAL, ISA_SPACE_LOCAL, ISA_AMODE_32, 0, FIX_LOCAL, 0, 1, false},
        {"local, scalar", ISA_LD_LOCAL, ISA_ST_LOCAL, ISA_SPACE_LOCAL, ISA_AMODE_SS32, 0,
         FIX_LOCAL, 0, 2, false},
        {"generic local", ISA_LD_GENERIC, ISA_ST_GENERIC, ISA_SPACE_GENERIC, ISA_AMODE_PAIR,
         ISA_LOCAL_BASE, FIX_LOCAL, 0, 1, false},
        {"constant bank", ISA_LD_CONST, ISA_OP_NONE, ISA_SPACE_CONST, ISA_AMODE_PAIR,
         ISA_CONST_BASE, FIX_BANK0, 1, 1, false},
        {"generic constant", ISA_LD_GENERIC, ISA_ST_GENERIC, ISA_SPACE_CONST, ISA_AMODE_PAIR,
         ISA_CONST_BASE, FIX_BANK0, 1, 3, false},
    };

    for (size_t i = 0; i < LW_COUNT_OF(spaces_of); i++) {
        struct block_vector s = spaces_of[i];
        struct oracle o = {.load = s.load, .store = s.store, .space = s.space, .start = s.start,
                           .size = s.size, .read_only = s.read_only, .bytes = bytes,
                           .per_lane = s.space == ISA_SPACE_LOCAL || s.start == ISA_LOCAL_BASE};
        s.coarse *= coarse;
        fill_random(f, &o, &seed);
        for (size_t v = 0; v < LW_COUNT_OF(fix_levels); v++) {
            at_level = fix_level(fix_levels[v]);
            if (at_level == NULL)
                continue;
            for (unsigned size = 0; emu_size_bytes(size) != 0; size++) {
                for (int write = 0; write < (s.store != ISA_OP_NONE ? 2 : 1); write++) {
                    check_end(f, &o, &s, s.start + s.size, write, size, &seed);
                    check_end(f, &o, &s, s.start, write, size, &seed);
                }
            }
        }
    }
    fix_free(f);
}

static void accesses_are_exact_to_the_byte_at_both_ends_of_every_space(void **state)
{
    (void)state;
    check_spaces(32, 1);
}

static void accesses_are_exact_in_narrow_and_wide_warps(void **state)
{
    (void)state;
    check_spaces(4, 17);
    check_spaces(8, 17);
    check_spaces(16, 17);
    check_spaces(64, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_exact_to_the_byte_at_both_ends_of_every_space),
        cmocka_unit_test(accesses_are_exact_in_narrow_and_wide_warps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
