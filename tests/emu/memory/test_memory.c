/* SPDX-License-Identifier: Apache-2.0 */
/* Tests each rule of memory: faults and their messages, spaces, guards, order, atomics, the arena and its
 * allocations, the hash, and reads by debuggers. */
#include "tests/emu/memory/test_memory_fix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define FIXED_HASH UINT64_C(0x1ddc8a307ebe7c01)

static const struct emu_level *at_level; /* level of the current run */

/* ---- single rules ------------------------------------------------------- */

/** Call @check once for each level that this host supports. */
static void each_level(void (*check)(struct fix *f))
{
    for (size_t i = 0; i < LW_COUNT_OF(fix_levels); i++) {
        struct fix *f;
        at_level = fix_level(fix_levels[i]);
        if (at_level == NULL)
            continue;
        f = fix_make(32);
        check(f);
        fix_free(f);
    }
}

static uint64_t make_buffer(struct fix *f, uint64_t bytes, const char *name)
{
    uint64_t address = 0;

    assert_int_equal(emu_alloc(&f->machine, bytes, name, 0, &address, NULL), LW_OK);
    return address;
}

/** Execute a load or store of b32 by the lanes in @lanes. The addresses are in register pairs. */
static bool access_b32(struct fix *f, enum isa_op op, uint64_t lanes)
{
    fix_insn(f, op, ISA_SIZE_B32, ISA_AMODE_PAIR, V_DEST, V_ADDRESS, V_DATA, V_OTHER);
    fix_lanes(f, lanes);
    return fix_run(f, at_level);
}

static void fault_is(struct fix *f, enum emu_fault_kind kind, uint64_t lanes, uint64_t address,
                     const char *detail)
{
    const struct emu_fault *fault = &f->warp->fault;

    assert_int_equal(fault->kind, kind);
    assert_int_equal(fault->lanes, lanes);
    assert_int_equal(fault->address, address);
    assert_string_equal(fault->detail, detail);
}

static void check_fault_messages(struct fix *f)
{
    uint64_t a = make_buffer(f, 13, "thirteen"), b = make_buffer(f, 100, "hundred"), c;

    assert_int_equal(a, ISA_GLOBAL_BASE);
    assert_int_equal(b, ISA_GLOBAL_BASE + 0x2000);
    assert_int_equal(emu_alloc(&f->machine, 8, "table", EMU_ALLOC_READ_ONLY, &c, NULL), LW_OK);

    for (unsigned l = 0; l < 32; l++)
        fix_pair(f, V_ADDRESS, l, a);
    fix_pair(f, V_ADDRESS, 7, a + 12);
    fix_pair(f, V_ADDRESS, 9, a + 16);
    assert_false(access_b32(f, ISA_LD_GLOBAL, f->warp->all));
    fault_is(f, EMU_FAULT_OUT_OF_BOUNDS, 1u << 7 | 1u << 9, a + 12,
             "the last 3 bytes of the access lie past the end of 'thirteen' (13 bytes at 0x200000000000)");

    assert_false(access_b32(f, ISA_ST_GLOBAL, 1u << 9));
    fault_is(f, EMU_FAULT_OUT_OF_BOUNDS, 1u << 9, a + 16,
             "3 bytes past the end of 'thirteen' (13 bytes at 0x200000000000)");

    fix_pair(f, V_ADDRESS, 9, b - 4);
    assert_false(access_b32(f, ISA_LD_GENERIC, 1u << 9));
    fault_is(f, EMU_FAULT_OUT_OF_BOUNDS, 1u << 9, b - 4,
             "4 bytes before 'hundred' (100 bytes at 0x200000002000)");

    fix_pair(f, V_ADDRESS, 9, c + 4);
    assert_true(access_b32(f, ISA_LD_GLOBAL, 1u << 9));
    assert_false(access_b32(f, ISA_ST_GLOBAL, 1u << 9));
    fault_is(f, EMU_FAULT_READ_ONLY, 1u << 9, c + 4,
             "byte 4 of 'table' (8 bytes at 0x200000004000), which is read-only for kernels");

    fix_pair(f, V_ADDRESS, 9, b + 40);
    assert_true(access_b32(f, ISA_LD_GLOBAL, 1u << 9));
    assert_int_equal(emu_free(&f->machine, b, NULL), LW_OK);
    assert_false(access_b32(f, ISA_LD_GLOBAL, 1u << 9));
    fault_is(f, EMU_FAULT_FREED, 1u << 9, b + 40,
             "byte 40 of 'hundred' (100 bytes at 0x200000002000), which was freed");

    fix_pair(f, V_ADDRESS, 9, 8);
    assert_false(access_b32(f, ISA_LD_GLOBAL, 1u << 9));
    fault_is(f, EMU_FAULT_NULL_PAGE, 1u << 9, 8,
             "the address is in the first 4096 bytes of memory: probably a null pointer");

    fix_pair(f, V_ADDRESS, 9, a + 2);
    assert_false(access_b32(f, ISA_LD_GLOBAL, 1u << 9));
    fault_is(f, EMU_FAULT_MISALIGNED, 1u << 9, a + 2, "the address must be a multiple of 4, the access size");

    fix_pair(f, V_ADDRESS, 9, 204);
    assert_false(access_b32(f, ISA_ST_SHARED, 1u << 9));
    fault_is(f, EMU_FAULT_OUT_OF_BOUNDS, 1u << 9, 204,
             "the block has 207 bytes of shared memory");

    fix_pair(f, V_ADDRESS, 9, ISA_LOCAL_BASE + 80);
    assert_false(access_b32(f, ISA_LD_GENERIC, 1u << 9));
    fault_is(f, EMU_FAULT_OUT_OF_BOUNDS, 1u << 9, ISA_LOCAL_BASE + 80,
             "each lane has 79 bytes of local memory");

    fix_pair(f, V_ADDRESS, 9, ISA_CONST_BASE + 4);
    assert_true(access_b32(f, ISA_LD_GENERIC, 1u << 9));
    assert_false(access_b32(f, ISA_ST_GENERIC, 1u << 9));
    fault_is(f, EMU_FAULT_READ_ONLY, 1u << 9, ISA_CONST_BASE + 4,
             "constant banks are read-only");
    fix_pair(f, V_ADDRESS, 9, 128);
    f->di[0].reg = 0;
    assert_true(access_b32(f, ISA_LD_CONST, 1u << 8)); /* lane 8: offset 0 */
    assert_false(access_b32(f, ISA_LD_CONST, 1u << 9));
    fault_is(f, EMU_FAULT_OUT_OF_BOUNDS, 1u << 9, ISA_CONST_BASE + 128,
             "the access at offset 128 runs past the end: constant bank 0 has 131 bytes");
}

static void each_fault_names_what_is_near_and_how_far(void **state)
{
    (void)state;
    each_level(check_fault_messages);
}

static void check_wild(struct fix *f)
{
    static const uint64_t wild[] = {
        UINT64_MAX - 3, UINT64_MAX - 15, UINT64_C(0x8000000000000000), ISA_GLOBAL_BASE - 4,
        ISA_GLOBAL_BASE - 16, ISA_CODE_BASE, ISA_SHARED_BASE - 4, ISA_SHARED_BASE + 256,
        ISA_SHARED_BASE + ISA_APERTURE_BYTES - 4, ISA_SHARED_BASE + ISA_APERTURE_BYTES,
        ISA_LOCAL_BASE - 4, ISA_LOCAL_BASE + 80, ISA_LOCAL_BASE + ISA_APERTURE_BYTES - 16,
        ISA_CONST_BASE + ISA_CONST_STRIDE, ISA_CONST_BASE + ISA_CONST_STRIDE * 32,
        UINT64_C(0xF000000000000000), ISA_GLOBAL_BASE + (UINT64_C(1) << 34),
        ISA_GLOBAL_BASE + (UINT64_C(1) << 34) - 16, 0, 4092, 4096,
    };
    static const enum isa_op ops[] = {ISA_LD_GLOBAL, ISA_ST_GLOBAL, ISA_LD_GENERIC,
                                      ISA_ST_GENERIC, ISA_LD_SHARED, ISA_ST_SHARED,
                                      ISA_LD_LOCAL, ISA_ST_LOCAL};
    uint64_t good = make_buffer(f, 4096, "good");

    /* First one lane has an invalid address and the other lanes have valid addresses. Then all lanes have invalid
     * addresses. */
    for (size_t o = 0; o < LW_COUNT_OF(ops); o++) {
        bool global = emu_mem_info[ops[o]].space <= ISA_SPACE_GLOBAL;
        for (size_t i = 0; i < LW_COUNT_OF(wild); i++) {
            if (!global && wild[i] < 64)
                continue; /* offset 0 is valid in this space */
            for (unsigned bytes = 0; bytes < 2; bytes++) {
                uint64_t lanes[] = {UINT64_C(1) << 19, f->warp->all};
                for (unsigned k = 0; k < 2; k++) {
                    for (unsigned l = 0; l < 32; l++)
                        fix_pair(f, V_ADDRESS, l,
                                 lanes[k] >> l & 1 ? wild[i] : global ? good + 16 * l : 16);
                    fix_insn(f, ops[o], bytes ? ISA_SIZE_V4B32 : ISA_SIZE_B32, ISA_AMODE_PAIR,
                             V_DEST, V_ADDRESS, V_DATA, V_OTHER);
                    fix_lanes(f, f->warp->all);
                    uint64_t bad = lanes[k];
                    assert_false(fix_run(f, at_level));
                    if (bytes && wild[i] % 16 != 0)
                        assert_true(f->warp->fault.kind == EMU_FAULT_MISALIGNED ||
                                    f->warp->fault.kind == EMU_FAULT_NULL_PAGE);
                    assert_int_equal(f->warp->fault.lanes, bad);
                    assert_int_equal(f->warp->fault.address, wild[i]);
                }
            }
        }
    }
    /* The sum of address and displacement carries into the high word, and past 2^64. */
    fix_insn(f, ISA_LD_GLOBAL, ISA_SIZE_B32, ISA_AMODE_PAIR, V_DEST, V_ADDRESS, V_DATA, V_OTHER);
    for (unsigned l = 0; l < 32; l++)
        fix_pair(f, V_ADDRESS, l, good - 64 + 4 * l);
    f->di[0].disp = 64;
    assert_true(fix_run(f, at_level));
    for (unsigned l = 0; l < 32; l++)
        fix_pair(f, V_ADDRESS, l, UINT64_MAX - 3);
    f->di[0].disp = 8;
    assert_false(fix_run(f, at_level));
    fault_is(f, EMU_FAULT_NULL_PAGE, f->warp->all, 4,
             "the address is in the first 4096 bytes of memory: probably a null pointer");
}

static void wild_and_wrapping_addresses_fault_in_every_space(void **state)
{
    (void)state;
    each_level(check_wild);
}

static void check_freed_cache(struct fix *f)
{
    uint64_t a = make_buffer(f, 65536, "a"), got;

    for (unsigned l = 0; l < 32; l++)
        fix_pair(f, V_ADDRESS, l, a + 272 * l);
    assert_true(access_b32(f, ISA_LD_GLOBAL, f->warp->all));
    assert_int_equal(f->icache.base, a); /* The access with scattered addresses has cached the allocation. */
    assert_true(access_b32(f, ISA_LD_GLOBAL, f->warp->all));
    assert_int_equal(emu_free(&f->machine, a, NULL), LW_OK);
    assert_false(access_b32(f, ISA_LD_GLOBAL, f->warp->all));
    assert_int_equal(f->warp->fault.kind, EMU_FAULT_FREED);
    assert_int_equal(f->warp->fault.lanes, f->warp->all);
    assert_int_equal(emu_global_read(&f->machine, a, &got, 8, NULL), LW_ERANGE);
}

static void scattered_lanes_fault_in_memory_that_was_freed_since(void **state)
{
    (void)state;
    each_level(check_freed_cache);
}

static void check_mixed_spaces(struct fix *f)
{
    uint64_t g = make_buffer(f, 4096, "g");
    uint32_t value = 0x01020304;

    /* The lanes of one instruction access global, shared, local and constant memory. */
    for (unsigned l = 0; l < 32; l++) {
        static const uint64_t base[] = {0, ISA_SHARED_BASE, ISA_LOCAL_BASE, ISA_CONST_BASE};
        fix_pair(f, V_ADDRESS, l, (l % 4 ? base[l % 4] : g) + 4 * (l / 4));
    }
    for (unsigned i = 0; i < 32; i++)
        f->bank0[i] = (uint8_t)(0xc0 + i);
    for (unsigned i = 0; i < 8; i++) {
        value = 0x1000 + i;
        assert_int_equal(emu_global_write(&f->machine, g + 4 * i, &value, 4, NULL), LW_OK);
        lw_put32(f->block.shared + 4 * i, 0x2000 + i);
        for (unsigned l = 0; l < 32; l++)
            lw_put32(f->warp->local + (i * 32 + l) * 4, 0x3000 + 256 * l + i);
    }
    assert_true(access_b32(f, ISA_LD_GENERIC, f->warp->all));
    for (unsigned l = 0; l < 32; l++) {
        unsigned i = l / 4;
        uint32_t want[] = {0x1000 + i, 0x2000 + i, 0x3000 + 256 * l + i,
                           lw_get32(f->bank0 + 4 * i)};
        assert_int_equal(fix_row(f, V_DEST)[l], want[l % 4]);
    }
    /* A store faults only in the lanes with constant addresses, and stores nothing in any lane. */
    for (unsigned l = 0; l < 32; l++)
        fix_row(f, V_DATA)[l] = 77;
    assert_false(access_b32(f, ISA_ST_GENERIC, f->warp->all));
    assert_int_equal(f->warp->fault.kind, EMU_FAULT_READ_ONLY);
    assert_int_equal(f->warp->fault.lanes, 0x88888888u);
    assert_int_equal(lw_get32(f->block.shared), 0x2000);
    assert_int_equal(lw_get32(f->warp->local + 8), 0x3000 + 512);
    assert_int_equal(emu_global_read(&f->machine, g, &value, 4, NULL), LW_OK);
    assert_int_equal(value, 0x1000);
    assert_true(access_b32(f, ISA_ST_GENERIC, 0x77777777u));
    assert_int_equal(lw_get32(f->block.shared), 77);
    assert_int_equal(lw_get32(f->warp->local + 8), 77);
    assert_int_equal(lw_get32(f->warp->local + 12), 0x3000 + 768); /* the word belongs to another lane */
}

static void generic_lanes_in_different_spaces_each_reach_their_own(void **state)
{
    (void)state;
    each_level(check_mixed_spaces);
}

static void check_guards(struct fix *f)
{
    struct emu_warp *w = f->warp;
    uint64_t a = make_buffer(f, 128, "a");

    for (unsigned l = 0; l < 32; l++) {
        fix_pair(f, V_ADDRESS, l, l < 10 ? a + 4 * l : UINT64_C(0xdead0000beef0000) + l);
        fix_row(f, V_DATA)[l] = 100 + l;
        fix_row(f, V_DEST)[l] = 9;
    }
    w->p[3] = 0x3ff;
    fix_insn(f, ISA_ST_GLOBAL, ISA_SIZE_B32, ISA_AMODE_PAIR, V_DEST, V_ADDRESS, V_DATA, V_OTHER);
    fix_lanes(f, w->all);
    f->di[0].guard = 3;
    assert_true(fix_run(f, at_level)); /* all lanes are active, so the handler for full warps executes the access */
    fix_lanes(f, 0xfff);
    fix_insn(f, ISA_LD_GLOBAL, ISA_SIZE_B32, ISA_AMODE_PAIR, V_DEST, V_ADDRESS, V_DATA, V_OTHER);
    w->p[3] = ~UINT64_C(0x3ff);
    f->di[0].guard = 3 | 8;
    assert_true(fix_run(f, at_level));
    for (unsigned l = 0; l < 32; l++)
        assert_int_equal(fix_row(f, V_DEST)[l], l < 10 ? 100 + l : 9);
    /* No lane is active, so that invalid addresses have no effect. */
    w->p[3] = 0;
    f->di[0].guard = 3;
    assert_true(fix_run(f, at_level));
    f->di[0].guard = 2 | 16; /* sp2 is false */
    assert_true(fix_run(f, at_level));
    w->sp[2] = 1;
    assert_false(fix_run(f, at_level));
    assert_int_equal(w->fault.lanes, 0xc00);
}

static void guards_choose_lanes_and_may_leave_none(void **state)
{
    (void)state;
    each_level(check_guards);
}

static void check_own_address(struct fix *f)
{
    uint64_t a = make_buffer(f, 4096, "a");

    /* The destination registers overlap the address pair: a pair is the same pair, and a quad contains it. Addresses are
     * scattered or contiguous. */
    for (unsigned step = 16; step <= 48; step += 32) {
        for (unsigned size = ISA_SIZE_B32; size <= ISA_SIZE_V2B64; size++) {
            for (unsigned i = 0; i < 1024; i++)
                lw_put32(f->machine.memory.host + (a - ISA_GLOBAL_BASE) + 4 * i, 5000 + i);
            for (unsigned l = 0; l < 32; l++)
                fix_pair(f, V_ADDRESS, l, a + step * l);
            fix_insn(f, ISA_LD_GLOBAL, size, ISA_AMODE_PAIR, V_ADDRESS, V_ADDRESS, V_DATA,
                     V_OTHER);
            fix_lanes(f, f->warp->all);
            assert_true(fix_run(f, at_level));
            for (unsigned k = 0; k < size_regs(size); k++)
                for (unsigned l = 0; l < 32; l++)
                    assert_int_equal(fix_row(f, V_ADDRESS + k)[l], 5000 + step / 4 * l + k);
        }
    }
}

static void a_load_may_overwrite_its_own_address(void **state)
{
    (void)state;
    each_level(check_own_address);
}

static void check_store_order(struct fix *f)
{
    uint64_t a = make_buffer(f, 64, "a"), progress;
    uint32_t got;

    for (unsigned l = 0; l < 32; l++) {
        fix_pair(f, V_ADDRESS, l, a + 8);
        fix_row(f, V_DATA)[l] = 50 + l;
    }
    assert_true(access_b32(f, ISA_ST_GLOBAL, 0x00ff00f0));
    assert_int_equal(emu_global_read(&f->machine, a + 8, &got, 4, NULL), LW_OK);
    assert_int_equal(got, 50 + 23);
    assert_true(access_b32(f, ISA_ST_GLOBAL, f->warp->all));
    assert_int_equal(emu_global_read(&f->machine, a + 8, &got, 4, NULL), LW_OK);
    assert_int_equal(got, 50 + 31);

    /* A store that changes no byte does not count as progress. A store that changes one byte does. */
    for (unsigned l = 0; l < 32; l++)
        fix_row(f, V_DATA)[l] = 81;
    progress = f->block.progress;
    assert_true(access_b32(f, ISA_ST_GLOBAL, f->warp->all));
    assert_int_equal(f->block.progress, progress);
    fix_row(f, V_DATA)[12] = 80;
    assert_true(access_b32(f, ISA_ST_GLOBAL, f->warp->all));
    assert_int_equal(f->block.progress, progress + 1);
}

static void the_highest_of_lanes_storing_to_one_location_wins(void **state)
{
    (void)state;
    each_level(check_store_order);
}

static void check_windows(struct fix *f)
{
    /* An allocation of 8 GiB is large enough to contain a multiple of 4 GiB in its middle. */
    uint64_t small = make_buffer(f, 4096, "small"), big = make_buffer(f, UINT64_C(8) << 30, "big");
    uint64_t line = ISA_GLOBAL_BASE + (UINT64_C(1) << 32);
    struct emu_memory *memory = &f->machine.memory;

    assert_true(big < line && small < big);
    for (unsigned shift = 0; shift <= 128; shift += 4) {
        for (unsigned l = 0; l < 32; l++) {
            uint64_t address = line - shift + 4 * l;
            lw_put32(memory->host + (address - ISA_GLOBAL_BASE), 7000 + l);
            fix_pair(f, V_ADDRESS, l, address);
        }
        assert_true(access_b32(f, ISA_LD_GLOBAL, f->warp->all));
        for (unsigned l = 0; l < 32; l++)
            assert_int_equal(fix_row(f, V_DEST)[l], 7000 + l);
        for (unsigned l = 0; l < 32; l++)
            fix_row(f, V_DATA)[l] = 9000 + l;
        assert_true(access_b32(f, ISA_ST_GLOBAL, 0x7fffffff));
        for (unsigned l = 0; l < 32; l++)
            assert_int_equal(lw_get32(memory->host + (line - shift + 4 * l - ISA_GLOBAL_BASE)),
                             l < 31 ? 9000 + l : 7031);
    }
    /* The low words of some lanes wrap while all high words are equal, so the addresses of these lanes are 4 GiB off. */
    for (unsigned i = 0; i < 256; i++) {
        lw_put32(memory->host + 4 * i, 3000 + i); /* the words at the start of the allocation */
        lw_put32(memory->host + (line - 128 - ISA_GLOBAL_BASE) + 4 * i, 7000 + i);
    }
    for (unsigned wrap = 1; wrap < 32; wrap++) {
        for (unsigned part = 0; part < 6; part++) {
            uint64_t lanes = part % 3 == 0   ? f->warp->all
                             : part % 3 == 1 ? 0xfffffffe
                                             : 0x7ffeffff;
            unsigned words = part < 3 ? 0 : 64; /* the displacement makes the address wrap inside a page */
            for (unsigned l = 0; l < 32; l++) {
                fix_pair(f, V_ADDRESS, l, ISA_GLOBAL_BASE + (uint32_t)(4 * l - 4 * wrap));
                fix_row(f, V_DEST)[l] = 1;
            }
            fix_insn(f, ISA_LD_GLOBAL, ISA_SIZE_B32, ISA_AMODE_PAIR, V_DEST, V_ADDRESS, V_DATA,
                     V_OTHER);
            f->di[0].disp = 4 * (int32_t)words;
            fix_lanes(f, lanes);
            assert_true(fix_run(f, at_level));
            for (unsigned l = 0; l < 32; l++)
                assert_int_equal(fix_row(f, V_DEST)[l],
                                 !(lanes >> l & 1) ? 1
                                 : l < wrap        ? 7032 + words + l - wrap
                                                   : 3000 + words + l - wrap);
        }
    }
}

static void rows_across_a_4_gib_line_are_right(void **state)
{
    (void)state;
    each_level(check_windows);
}

/* ---- atomics ------------------------------------------------------------ */

static uint64_t reference_atomic(unsigned op, unsigned type, uint64_t m, uint64_t x, uint64_t c)
{
    bool wide = emu_atype_bytes(type) == 8;
    uint64_t mask = wide ? ~UINT64_C(0) : UINT32_MAX;
    int64_t sm = wide ? (int64_t)m : (int32_t)m, sx = wide ? (int64_t)x : (int32_t)x;
    bool is_signed = type == ISA_ATYPE_S32 || type == ISA_ATYPE_S64;
    bool less = is_signed ? sm < sx : m < x;

    if (type == ISA_ATYPE_F32 && op <= ISA_AOP_MAX) {
        uint32_t mb = (uint32_t)m, xb = (uint32_t)x, rb;
        float a, b, r;
        memcpy(&a, &mb, 4);
        memcpy(&b, &xb, 4);
        r = op == ISA_AOP_ADD ? a + b : (op == ISA_AOP_MIN) == (a < b) ? a : b;
        memcpy(&rb, &r, 4);
        return rb;
    }
    if (type == ISA_ATYPE_F64 && op <= ISA_AOP_MAX) {
        double a, b, r;
        memcpy(&a, &m, 8);
        memcpy(&b, &x, 8);
        r = op == ISA_AOP_ADD ? a + b : (op == ISA_AOP_MIN) == (a < b) ? a : b;
        memcpy(&m, &r, 8);
        return m;
    }
    switch (op) {
    case ISA_AOP_ADD: return (m + x) & mask;
    case ISA_AOP_MIN: return less ? m : x;
    case ISA_AOP_MAX: return less ? x : m;
    case ISA_AOP_INC: return m >= x ? 0 : m + 1;
    case ISA_AOP_DEC: return m == 0 || m > x ? x : m - 1;
    case ISA_AOP_AND: return m & x;
    case ISA_AOP_OR: return m | x;
    case ISA_AOP_XOR: return m ^ x;
    case ISA_AOP_EXCH: return x;
    default: return m == x ? c : m;
    }
}

/** Return a value with few bits, so that lanes have equal values and comparisons succeed. */
static uint64_t small_value(unsigned type, uint64_t *seed)
{
    uint64_t v = next_random(seed) % 7, r;
    float f = (float)v - 3;
    double g = (double)v * 0.5 - 1;
    uint32_t b;

    if (type == ISA_ATYPE_F32) {
        memcpy(&b, &f, 4);
        return b;
    }
    if (type == ISA_ATYPE_F64) {
        memcpy(&r, &g, 8);
        return r;
    }
    if (type == ISA_ATYPE_S32)
        return (uint32_t)((int32_t)v - 3);
    if (type == ISA_ATYPE_S64)
        return (uint64_t)((int64_t)v - 3);
    return v;
}

static void check_atomics(struct fix *f)
{
    static const enum isa_op ops[] = {ISA_ATOM_GLOBAL, ISA_ATOM_SHARED, ISA_ATOM_GENERIC,
                                      ISA_RED_GLOBAL, ISA_RED_SHARED, ISA_RED_GENERIC};
    struct emu_warp *w = f->warp;
    uint64_t buffer = make_buffer(f, 203, "counters"), seed = 12345, model[16];

    for (unsigned o = 0; o < LW_COUNT_OF(ops); o++) {
        bool shared = emu_mem_info[ops[o]].space == ISA_SPACE_SHARED, result = o < 3;
        uint8_t *host = shared ? f->block.shared
                               : f->machine.memory.host + (buffer - ISA_GLOBAL_BASE);
        for (unsigned type = 0; type <= ISA_ATYPE_F64; type++) { /* The types of 16 bits are vectors of two halves. */
            unsigned bytes = emu_atype_bytes(type);
            for (unsigned op = 0; op <= ISA_AOP_CAS; op++) {
                uint64_t lanes = next_random(&seed) | 1, progress = f->block.progress;
                uint64_t old[EMU_MAX_LANES] = {0};
                bool changed = false;
                fix_atomic(f, ops[o], op, type, ISA_AMODE_PAIR, V_DEST, V_ADDRESS, V_DATA,
                           V_OTHER);
                if (isa_atomic_refused(&f->insn) != NULL)
                    continue;
                fix_lanes(f, op % 2 ? lanes & w->all : w->all);
                for (unsigned i = 0; i < 16; i++) {
                    model[i] = small_value(type, &seed);
                    memcpy(host + i * bytes, &model[i], bytes);
                }
                for (unsigned l = 0; l < 32; l++) {
                    unsigned i = next_random(&seed) % 16;
                    uint64_t x = small_value(type, &seed), c = small_value(type, &seed);
                    fix_pair(f, V_DATA, l, x);
                    fix_pair(f, V_OTHER, l, c);
                    fix_pair(f, V_DEST, l, UINT64_C(0x5555555566666666));
                    if (!(w->e >> l & 1)) {
                        fix_pair(f, V_ADDRESS, l, next_random(&seed));
                        continue;
                    }
                    fix_pair(f, V_ADDRESS, l, (shared ? 0 : buffer) + i * bytes);
                    /* Compute the expected values in lane order. */
                    old[l] = model[i];
                    model[i] = reference_atomic(op, type, model[i], x, c);
                    changed |= model[i] != old[l];
                }
                assert_true(fix_run(f, at_level));
                for (unsigned i = 0; i < 16; i++)
                    assert_memory_equal(host + i * bytes, &model[i], bytes);
                for (unsigned l = 0; l < 32; l++) {
                    bool written = result && (w->e >> l & 1);
                    assert_int_equal(fix_row(f, V_DEST)[l],
                                     written ? (uint32_t)old[l] : 0x66666666u);
                    assert_int_equal(fix_row(f, V_DEST + 1)[l],
                                     written && bytes == 8 ? old[l] >> 32 : 0x55555555u);
                }
                assert_int_equal(f->block.progress, progress + changed);
                /* If one lane has an invalid address, nothing happens in any lane. */
                if (w->e >> 31 & 1) {
                    fix_pair(f, V_ADDRESS, 31, shared ? 208 : buffer + 200);
                    assert_false(fix_run(f, at_level));
                    assert_int_equal(w->fault.lanes, UINT64_C(1) << 31);
                    assert_true(w->fault.write);
                    for (unsigned i = 0; i < 16; i++)
                        assert_memory_equal(host + i * bytes, &model[i], bytes);
                }
            }
        }
    }
    /* Local memory by its generic address: each lane accesses its own words. */
    fix_atomic(f, ISA_ATOM_GENERIC, ISA_AOP_ADD, ISA_ATYPE_U64, ISA_AMODE_PAIR, V_DEST,
               V_ADDRESS, V_DATA, V_OTHER);
    fix_lanes(f, w->all);
    for (unsigned l = 0; l < 32; l++) {
        fix_pair(f, V_ADDRESS, l, ISA_LOCAL_BASE + 8);
        fix_pair(f, V_DATA, l, UINT64_C(0x100000001) * l);
    }
    assert_true(fix_run(f, at_level));
    assert_true(fix_run(f, at_level));
    for (unsigned l = 0; l < 32; l++) {
        assert_int_equal(fix_row(f, V_DEST)[l], l);
        assert_int_equal(lw_get32(w->local + (2 * 32 + l) * 4), 2 * l);
        assert_int_equal(lw_get32(w->local + (3 * 32 + l) * 4), 2 * l);
    }
}

static void atomics_act_lane_by_lane_lowest_first(void **state)
{
    (void)state;
    each_level(check_atomics);
}

static uint32_t atomic_f32(struct fix *f, unsigned op, uint32_t memory, uint32_t operand)
{
    lw_put32(f->block.shared, memory);
    fix_atomic(f, ISA_RED_SHARED, op, ISA_ATYPE_F32, ISA_AMODE_32, V_DEST, V_ADDRESS, V_DATA,
               V_OTHER);
    fix_lanes(f, 1);
    fix_row(f, V_ADDRESS)[0] = 0;
    fix_row(f, V_DATA)[0] = operand;
    assert_true(fix_run(f, at_level));
    return lw_get32(f->block.shared);
}

static void check_float_atomics(struct fix *f)
{
    const uint32_t nan = 0xffc12345, one = 0x3f800000, zero = 0, minus_zero = 0x80000000u;

    assert_int_equal(atomic_f32(f, ISA_AOP_ADD, nan, one), 0x7fffffff);
    assert_int_equal(atomic_f32(f, ISA_AOP_ADD, 0x7f800000, 0xff800000), 0x7fffffff);
    assert_int_equal(atomic_f32(f, ISA_AOP_MIN, nan, one), one);
    assert_int_equal(atomic_f32(f, ISA_AOP_MAX, one, nan), one);
    assert_int_equal(atomic_f32(f, ISA_AOP_MAX, nan, nan), 0x7fffffff);
    assert_int_equal(atomic_f32(f, ISA_AOP_MIN, zero, minus_zero), minus_zero);
    assert_int_equal(atomic_f32(f, ISA_AOP_MIN, minus_zero, zero), minus_zero);
    assert_int_equal(atomic_f32(f, ISA_AOP_MAX, minus_zero, zero), zero);
    assert_int_equal(atomic_f32(f, ISA_AOP_EXCH, one, nan), nan); /* moves keep bits */
}

static void float_atomics_have_canonical_nans_and_ordered_zeros(void **state)
{
    (void)state;
    each_level(check_float_atomics);
}

/* ---- allocations -------------------------------------------------------- */

static void allocations_start_on_pages_of_their_own_with_a_dead_one_after(void **state)
{
    struct fix *f = fix_make(32);
    uint64_t a = make_buffer(f, 0, "empty"), b = make_buffer(f, 4096, "page");
    uint64_t c = make_buffer(f, 4097, NULL);
    struct emu_allocation out;
    bool inside;

    (void)state;
    assert_int_equal(a, ISA_GLOBAL_BASE);
    assert_int_equal(b, a + 2 * EMU_PAGE_BYTES);
    assert_int_equal(c, b + 2 * EMU_PAGE_BYTES);
    assert_int_equal(emu_allocation_count(&f->machine), 3);
    assert_true(emu_allocation_get(&f->machine, 1, &out));
    assert_string_equal(out.name, "page");
    assert_false(emu_allocation_get(&f->machine, 3, &out));
    assert_true(emu_allocation_at(&f->machine, c + 4096, &out, &inside));
    assert_true(inside);
    assert_string_equal(out.name, "");
    assert_true(emu_allocation_at(&f->machine, c + 4097, &out, &inside));
    assert_false(inside);
    assert_int_equal(out.address, c);
    assert_true(emu_allocation_at(&f->machine, a, &out, &inside));
    assert_false(inside); /* the allocation has a size of 0 bytes */
    assert_false(emu_allocation_at(&f->machine, a - 1, &out, &inside));
    fix_free(f);
}

static void host_copies_must_lie_in_one_live_allocation(void **state)
{
    struct fix *f = fix_make(32);
    uint64_t a = make_buffer(f, 100, "a"), r;
    uint8_t data[128] = {1, 2, 3}, back[128] = {0};
    struct lw_error err;

    (void)state;
    assert_int_equal(emu_alloc(&f->machine, 10, "r", EMU_ALLOC_READ_ONLY, &r, &err), LW_OK);
    assert_int_equal(emu_global_write(&f->machine, a, data, 100, &err), LW_OK);
    assert_int_equal(emu_global_read(&f->machine, a, back, 100, &err), LW_OK);
    assert_memory_equal(data, back, 100);
    assert_int_equal(emu_global_write(&f->machine, r, data, 10, &err), LW_OK);
    assert_int_equal(emu_global_write(&f->machine, a, data, 101, &err), LW_ERANGE);
    assert_string_equal(err.text, "an access of 101 bytes at 0x200000000000 runs past the end of the "
                                  "allocation of 100 bytes at 0x200000000000");
    assert_int_equal(emu_global_read(&f->machine, a + 100, back, 1, &err), LW_ERANGE);
    assert_int_equal(emu_global_read(&f->machine, a + 1, back, UINT64_MAX, &err), LW_ERANGE);
    assert_int_equal(emu_global_read(&f->machine, 0, back, 1, &err), LW_ERANGE);
    assert_int_equal(emu_global_read(&f->machine, 0, back, 0, &err), LW_OK);
    assert_int_equal(emu_free(&f->machine, a + 1, &err), LW_ENOENT);
    assert_int_equal(emu_free(&f->machine, a, &err), LW_OK);
    assert_int_equal(emu_free(&f->machine, a, &err), LW_ENOENT);
    assert_int_equal(emu_global_read(&f->machine, a, back, 1, &err), LW_ERANGE);
    fix_free(f);
}

static void freed_pages_are_dead_until_the_arena_is_full(void **state)
{
    struct fix *f = fix_make(32);
    uint64_t a, b, c, d, got = 1;
    struct emu_allocation out;
    struct lw_error err;

    (void)state;
    emu_memory_fini(&f->machine.memory);
    assert_int_equal(emu_memory_init(&f->machine.memory, 8 * EMU_PAGE_BYTES, &err), LW_OK);
    a = make_buffer(f, 4096, "a");
    b = make_buffer(f, 4096, "b");
    assert_int_equal(emu_global_write(&f->machine, a, &got, 8, &err), LW_OK);
    assert_int_equal(emu_free(&f->machine, a, &err), LW_OK);
    c = make_buffer(f, 4096, "c");
    assert_int_equal(c, b + 2 * EMU_PAGE_BYTES); /* the pages of a are not used again yet */
    assert_int_equal(emu_allocation_count(&f->machine), 3);
    assert_int_equal(emu_alloc(&f->machine, 4 * EMU_PAGE_BYTES, "big", 0, &d, &err), LW_ENOMEM);
    assert_int_equal(emu_alloc(&f->machine, UINT64_MAX - 5, "huge", 0, &d, &err), LW_ENOMEM);
    d = make_buffer(f, 4096, "d"); /* the last never-used pages */
    assert_int_equal(emu_alloc(&f->machine, 100, "e", 0, &d, &err), LW_OK);
    assert_int_equal(d, a);
    assert_int_equal(emu_global_read(&f->machine, d, &got, 8, &err), LW_OK);
    assert_int_equal(got, 0);
    assert_int_equal(emu_allocation_count(&f->machine), 4);
    assert_true(emu_allocation_get(&f->machine, 0, &out));
    assert_string_equal(out.name, "e");
    assert_int_equal(emu_alloc(&f->machine, 0, "none", 0, &d, &err), LW_ENOMEM);
    /* Adjacent freed allocations are merged to one free range. */
    assert_int_equal(emu_free(&f->machine, b, &err), LW_OK);
    assert_int_equal(emu_free(&f->machine, c, &err), LW_OK);
    assert_int_equal(emu_alloc(&f->machine, 3 * EMU_PAGE_BYTES, "f", 0, &d, &err), LW_OK);
    assert_int_equal(d, b);
    fix_free(f);
}

static void hash_mem_is_a_function_of_live_contents_and_text(void **state)
{
    struct fix *f = fix_make(32), *g = fix_make(32);
    uint64_t a = make_buffer(f, 20000, "a"), b = make_buffer(g, 20000, "other name"), c, empty;
    uint8_t one = 1, zero = 0;

    (void)state;
    empty = emu_hash_mem(&f->machine);
    assert_int_equal(empty, emu_hash_mem(&g->machine));
    assert_int_equal(emu_global_write(&f->machine, a + 19999, &one, 1, NULL), LW_OK);
    assert_int_not_equal(emu_hash_mem(&f->machine), empty);
    assert_int_equal(emu_global_write(&g->machine, b + 15999, &one, 1, NULL), LW_OK);
    assert_int_not_equal(emu_hash_mem(&f->machine), emu_hash_mem(&g->machine));
    /* A page that contains only zeros hashes like a page that was never used. */
    assert_int_equal(emu_global_write(&f->machine, a + 19999, &zero, 1, NULL), LW_OK);
    assert_int_equal(emu_hash_mem(&f->machine), empty);
    /* The hash ignores freed memory, and depends on sizes and contents. */
    c = make_buffer(f, 1, "c");
    assert_int_not_equal(emu_hash_mem(&f->machine), empty);
    assert_int_equal(emu_free(&f->machine, c, NULL), LW_OK);
    assert_int_equal(emu_hash_mem(&f->machine), empty);
    lw_hash_bytes(&f->machine.text_hash, "hello", 5);
    assert_int_not_equal(emu_hash_mem(&f->machine), empty);
    /* The definition of the hash is fixed, so this value must never change. */
    uint64_t words[2] = {UINT64_C(0x0123456789abcdef), 42};
    assert_int_equal(emu_global_write(&g->machine, b, words, sizeof words, NULL), LW_OK);
    assert_int_equal(emu_hash_mem(&g->machine), FIXED_HASH);
    fix_free(f);
    fix_free(g);
}

static void stores_mark_the_pages_they_touch(void **state)
{
    struct fix *f = fix_make(32);
    uint64_t a = make_buffer(f, 3 * EMU_PAGE_BYTES, "a");
    uint8_t *dirty = f->machine.memory.dirty;

    (void)state;
    at_level = emu_level_choose(1);
    for (unsigned l = 0; l < 32; l++)
        fix_pair(f, V_ADDRESS, l, a + EMU_PAGE_BYTES - 8 + 4 * l); /* the addresses cross the end of a page */
    assert_true(access_b32(f, ISA_LD_GLOBAL, f->warp->all));
    assert_int_equal(dirty[0], 0);
    assert_true(access_b32(f, ISA_ST_GLOBAL, 1));
    assert_int_not_equal(dirty[0], 0);
    assert_int_equal(dirty[1], 0);
    assert_true(access_b32(f, ISA_ST_GLOBAL, f->warp->all));
    assert_int_not_equal(dirty[1], 0);
    assert_int_equal(dirty[2], 0);
    fix_pair(f, V_ADDRESS, 3, a + 2 * EMU_PAGE_BYTES);
    assert_true(access_b32(f, ISA_ST_GLOBAL, f->warp->all)); /* with scattered addresses */
    assert_int_not_equal(dirty[2], 0);
    fix_free(f);
}

/* ---- addresses of 32 bits ---------------------------------------------------------------- */

/* Addresses of 32 bits wrap. nvcc generates such sums: an array row is at [v + 64], where v is its address minus 64. */
static void check_narrow_sums(struct fix *f)
{
    static const enum isa_op loads[] = {ISA_LD_SHARED, ISA_LD_LOCAL},
                             stores[] = {ISA_ST_SHARED, ISA_ST_LOCAL};

    for (unsigned o = 0; o < 2; o++) {
        for (unsigned wrap = 0; wrap <= 32; wrap++) {
            for (unsigned form = 0; form < 3; form++) { /* addresses are ascending, descending, or equal */
                uint64_t lanes = wrap % 2 ? f->warp->all : 0x7ffeffff;
                for (unsigned l = 0; l < 32; l++) {
                    unsigned i = form == 0 ? l % 16 : form == 1 ? (31 - l) % 16 : 3;
                    fix_row(f, V_ADDRESS)[l] = 4 * i - 4 * wrap;
                    fix_row(f, V_ADDRESS + 1)[l] = 0xdead0000 + l; /* the next register is not part of the address */
                    fix_row(f, V_DATA)[l] = 100 * wrap + i;
                    fix_row(f, V_DEST)[l] = 1;
                }
                for (unsigned write = 2; write-- > 0;) {
                    fix_insn(f, (write ? stores : loads)[o], ISA_SIZE_B32, ISA_AMODE_32, V_DEST,
                             V_ADDRESS, V_DATA, V_OTHER);
                    f->di[0].disp = 4 * (int32_t)wrap;
                    fix_lanes(f, lanes);
                    assert_true(fix_run(f, at_level));
                }
                for (unsigned l = 0; l < 32; l++)
                    assert_int_equal(fix_row(f, V_DEST)[l],
                                     lanes >> l & 1 ? fix_row(f, V_DATA)[l] : 1);
            }
        }
        /* Invalid addresses below 2^32 fault, too. */
        for (unsigned l = 0; l < 32; l++)
            fix_row(f, V_ADDRESS)[l] = l == 9 ? 0 : 4;
        fix_insn(f, loads[o], ISA_SIZE_B32, ISA_AMODE_32, V_DEST, V_ADDRESS, V_DATA, V_OTHER);
        f->di[0].disp = -4;
        fix_lanes(f, f->warp->all);
        assert_false(fix_run(f, at_level));
        assert_int_equal(f->warp->fault.lanes, 1u << 9);
        assert_int_equal(f->warp->fault.address, 0xfffffffc);
    }
}

static void sums_of_32_bits_wrap_in_shared_and_local_memory(void **state)
{
    (void)state;
    each_level(check_narrow_sums);
}

/* ---- views -------------------------------------------------------------- */

static void peek_and_poke_reach_what_a_lane_sees_and_stop_at_its_end(void **state)
{
    struct fix *f = fix_make(32);
    uint64_t a = make_buffer(f, 10, "a"), r;
    struct isa_word text[2] = {{1, 2}, {3, 4}};
    struct isa_object object = {.text = text, .text_count = 2};
    uint8_t data[16] = {10, 11, 12, 13, 14, 15, 16, 17}, back[64];

    (void)state;
    f->program.object = &object;
    f->program.count = 2;
    f->machine.programs = &f->program;
    assert_int_equal(emu_alloc(&f->machine, 4, "r", EMU_ALLOC_READ_ONLY, &r, NULL), LW_OK);
    assert_int_equal(emu_mem_poke(&f->core, 0, 0, 5, a + 8, data, 4), 2);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 5, a + 7, back, 10), 3);
    assert_memory_equal(back, ((uint8_t[]){0, 10, 11}), 3);
    assert_int_equal(emu_mem_poke(&f->core, 0, 0, 5, r, data, 4), 4); /* debuggers may write read-only memory */
    assert_int_equal(emu_lane_copy(f->warp, 5, r, data, 4, true), 0);
    assert_int_equal(emu_mem_poke(&f->core, 0, 0, 5, ISA_LOCAL_BASE + 76, data, 8), 3);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 6, ISA_LOCAL_BASE + 76, back, 8), 3);
    assert_memory_equal(back, ((uint8_t[]){0, 0, 0}), 3); /* the local memory of another lane is unchanged */
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 5, ISA_LOCAL_BASE + 75, back, 8), 4);
    assert_memory_equal(back, ((uint8_t[]){0, 10, 11, 12}), 4);
    assert_int_equal(emu_mem_poke(&f->core, 0, 0, 5, ISA_SHARED_BASE + 202, data, 8), 5);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 9, ISA_SHARED_BASE + 202, back, 8), 5);
    assert_memory_equal(back, data, 5);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 5, ISA_CONST_BASE + 130, back, 8), 1);
    assert_int_equal(emu_mem_poke(&f->core, 0, 0, 5, ISA_CONST_BASE, data, 1), 0);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 5, ISA_CODE_BASE + 8, back, 64), 24);
    assert_int_equal(lw_get64(back), 2);
    assert_int_equal(emu_mem_poke(&f->core, 0, 0, 5, ISA_CODE_BASE, data, 1), 0);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 5, 0, back, 1), 0);
    assert_int_equal(emu_mem_peek(&f->core, 0, 0, 5, UINT64_C(0xF100000000000000), back, 1), 0);
    assert_int_equal(emu_mem_peek(&f->core, 7, 0, 5, ISA_SHARED_BASE, back, 1), 0);
    assert_int_equal(emu_mem_peek(&f->core, 7, 0, 5, a, back, 1), 1);
    f->machine.programs = NULL;
    fix_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_names_what_is_near_and_how_far),
        cmocka_unit_test(wild_and_wrapping_addresses_fault_in_every_space),
        cmocka_unit_test(scattered_lanes_fault_in_memory_that_was_freed_since),
        cmocka_unit_test(generic_lanes_in_different_spaces_each_reach_their_own),
        cmocka_unit_test(guards_choose_lanes_and_may_leave_none),
        cmocka_unit_test(a_load_may_overwrite_its_own_address),
        cmocka_unit_test(the_highest_of_lanes_storing_to_one_location_wins),
        cmocka_unit_test(rows_across_a_4_gib_line_are_right),
        cmocka_unit_test(sums_of_32_bits_wrap_in_shared_and_local_memory),
        cmocka_unit_test(atomics_act_lane_by_lane_lowest_first),
        cmocka_unit_test(float_atomics_have_canonical_nans_and_ordered_zeros),
        cmocka_unit_test(allocations_start_on_pages_of_their_own_with_a_dead_one_after),
        cmocka_unit_test(host_copies_must_lie_in_one_live_allocation),
        cmocka_unit_test(freed_pages_are_dead_until_the_arena_is_full),
        cmocka_unit_test(hash_mem_is_a_function_of_live_contents_and_text),
        cmocka_unit_test(stores_mark_the_pages_they_touch),
        cmocka_unit_test(peek_and_poke_reach_what_a_lane_sees_and_stop_at_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
