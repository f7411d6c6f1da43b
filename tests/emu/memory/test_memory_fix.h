/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture: a machine, a block and a warp, with which tests call the handlers of memory instructions directly, at any
 * level and width. */
#ifndef TEST_MEMORY_FIX_H
#define TEST_MEMORY_FIX_H

#include "emu/memory/emu_mem_priv.h"

#include <stdlib.h>

enum {
    FIX_ROWS = 24,    /* v0.. */
    FIX_ZERO = FIX_ROWS,
    FIX_SINK = FIX_ZERO + 4,
    FIX_ALL_ROWS = FIX_SINK + 4,
    FIX_SHARED = 207, /* odd sizes, so that the last word lacks one byte */
    FIX_LOCAL = 79,
    FIX_BANK0 = 131,
    FIX_GUARD = 64    /* bytes before and after shared memory that must not change */
};

struct fix {
    struct emu_machine machine;
    struct emu_core core, *core_list[1];
    struct emu_grid grid;
    struct emu_block block;
    struct emu_program program;
    struct isa_insn insn;
    struct emu_dinsn di[2];
    struct emu_handlers base;
    uint8_t layers;
    struct emu_icache icache;
    uint32_t cached;
    struct emu_code code, *code_list[1];
    struct emu_warp *warp;
    uint8_t shared[FIX_SHARED + 2 * FIX_GUARD];
    uint8_t bank0[ISA_CONST_BANK_BYTES];
};

/* The handler that follows the instruction under test. */
static void fix_stop(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_leave(w, EMU_LEAVE_BUDGET, di);
}

static inline struct fix *fix_make(unsigned width)
{
    struct fix *f = calloc(1, sizeof *f);
    struct emu_warp *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);

    memset(w, 0, sizeof *w);
    if (emu_memory_init(&f->machine.memory, UINT64_C(1) << 34, NULL) != LW_OK)
        abort();
    lw_hash_init(&f->machine.text_hash);
    f->warp = w;
    f->core_list[0] = &f->core;
    f->machine.cores = f->core_list;
    f->machine.core_count = 1;
    f->core.machine = &f->machine;
    f->core.block = &f->block;
    f->core.slots = f->core.slots_used = 1;
    f->code_list[0] = &f->code;
    f->core.code = f->code_list;
    f->core.code_count = 1;
    f->grid.sequence = 1;
    f->grid.bank0 = f->bank0;
    f->grid.bank0_valid = FIX_BANK0;
    f->block = (struct emu_block){.core = &f->core, .grid = &f->grid, .in_use = true,
                                  .warp = w, .warp_count = 1,
                                  .shared = f->shared + FIX_GUARD,
                                  .shared_bytes = FIX_SHARED};
    f->program.machine = &f->machine;
    f->program.insn = &f->insn;
    f->program.count = 1;
    f->program.base = ISA_CODE_BASE;
    f->code = (struct emu_code){.program = &f->program, .insn = f->di, .icache = &f->icache,
                                .cached = &f->cached, .base = &f->base, .layers = &f->layers};
    w->width = (uint8_t)width;
    w->n = width < 8 ? 8 : width;
    w->stride = w->n * 4;
    w->all = lw_mask(width);
    w->regs = aligned_alloc(64, (FIX_ALL_ROWS + 2) * w->stride);
    memset(w->regs, 0, (FIX_ALL_ROWS + 2) * w->stride);
    w->row_c = FIX_ALL_ROWS * w->stride; /* scratch space that tests do not check */
    w->row_zero = FIX_ZERO * w->stride;
    w->row_sink = FIX_SINK * w->stride;
    w->core = &f->core;
    w->block = &f->block;
    w->code = &f->code;
    w->live = w->launched = w->all;
    w->p[ISA_PT] = ~UINT64_C(0);
    w->sp[ISA_PT] = 1;
    w->s[126] = w->s[127] = UINT32_MAX;
    w->local_bytes = FIX_LOCAL;
    w->local = calloc((FIX_LOCAL + 3) / 4 * w->n, 4);
    w->ubase[EMU_U_BANK0] = (const char *)f->bank0;
    w->split_count = 1;
    w->split[0].lanes = w->all;
    return f;
}

static inline void fix_free(struct fix *f)
{
    emu_memory_fini(&f->machine.memory);
    free(f->warp->regs);
    free(f->warp->local);
    free(f->warp);
    free(f);
}

static inline uint32_t *fix_row(struct fix *f, unsigned reg)
{
    return emu_row(f->warp, reg * f->warp->stride);
}

/** Set the 64-bit value of a lane's register pair. */
static inline void fix_pair(struct fix *f, unsigned reg, unsigned lane, uint64_t value)
{
    fix_row(f, reg)[lane] = (uint32_t)value;
    fix_row(f, reg + 1)[lane] = (uint32_t)(value >> 32);
}

static inline void fix_lanes(struct fix *f, uint64_t lanes)
{
    struct emu_warp *w = f->warp;

    w->e = w->m = lanes;
    w->full = lanes == w->all;
    for (unsigned l = 0; l < w->n; l++)
        w->mask_row[l] = lanes >> l & 1 ? UINT32_MAX : 0;
}

/** Create an instruction whose operands D, A, X and C are vector registers @d, @a, @x and @c. */
static inline void fix_insn(struct fix *f, enum isa_op op, unsigned size, unsigned amode,
                            unsigned d, unsigned a, unsigned x, unsigned c)
{
    uint32_t stride = f->warp->stride;

    if (f->insn.op != op) { /* an instruction with another opcode starts with empty caches */
        f->icache = (struct emu_icache){0, 0};
        f->code.cached_count = 0;
    }
    f->insn = (struct isa_insn){.op = (uint16_t)op, .guard = ISA_PT};
    f->insn.mod = amode << EMU_MOD_AMODE | size << EMU_MOD_SIZE;
    f->di[0] = (struct emu_dinsn){.d = d * stride, .a = a * stride, .b = x * stride,
                                  .c = c * stride, .op = (uint16_t)op, .guard = ISA_PT,
                                  .sub = (uint8_t)size, .run = 1};
    f->di[1].h.full = f->di[1].h.part = fix_stop;
}

/** Create an atomic with operation @aop and type @atype; the other parameters are those of fix_insn(). */
static inline void fix_atomic(struct fix *f, enum isa_op op, unsigned aop, unsigned atype,
                              unsigned amode, unsigned d, unsigned a, unsigned x, unsigned c)
{
    fix_insn(f, op, 0, amode, d, a, x, c);
    f->insn.mod = amode << EMU_MOD_AMODE | aop << EMU_MOD_AOP | atype << EMU_MOD_ATYPE;
    f->di[0].sub = (uint8_t)atype;
    f->di[0].aux = aop;
}

/** Run the instruction with the handlers of @level. Return false if it raised a fault, which is in f->warp->fault. */
static inline bool fix_run(struct fix *f, const struct emu_level *level)
{
    struct emu_warp *w = f->warp;
    const char *why = NULL;

    level->handlers(&f->insn, &f->di[0], &f->di[0].h, &why);
    if (f->di[0].h.full == NULL)
        abort();
    w->leave = EMU_RUNNING;
    w->fault.kind = EMU_FAULT_NONE;
    w->run_start = w->di = &f->di[0];
    if (w->full)
        f->di[0].h.full(w, &f->di[0]);
    else
        f->di[0].h.part(w, &f->di[0]);
    return w->fault.kind == EMU_FAULT_NONE;
}

/* ---- what tests share -------------------------------------------------------- */

enum { V_ADDRESS = 0, V_DATA = 4, V_DEST = 12, V_OTHER = 20, S_BASE = 10 };

static const unsigned fix_levels[] = {1, 3, 4};

/** Return the handlers of the level, or NULL if this host cannot run them. */
static inline const struct emu_level *fix_level(unsigned wanted)
{
    const struct emu_level *level = emu_level_choose(wanted);

    return level != NULL && level->level == wanted ? level : NULL;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Return the number of registers that a value of size @size takes. */
static inline unsigned size_regs(unsigned size)
{
    unsigned bytes = emu_size_bytes(size);

    return bytes <= 4 ? 1 : bytes / 4;
}

#endif
