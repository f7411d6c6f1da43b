/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block-wide execution. If all lanes of a block run straight from the kernel's entry to an exit, the engine executes each
 * instruction once for all lanes of the block, instead of once for each warp (emu_block_vector.c). The engine follows a plan,
 * which is a list of prepared steps and is made once for each kernel (emu_block_vector_plan.c).
 */
#ifndef EMU_BLOCK_VECTOR_PRIV_H
#define EMU_BLOCK_VECTOR_PRIV_H

#include "emu/core/emu_core_priv.h"
#include "emu/program/emu_decode_priv.h"

struct emu_functional;
struct emu_block_vector;

/** Executes blocks block-wide, beginning with the current block. The function returns before the first block that has already
 *  begun, that cannot run block-wide, or that has an instruction at which a check or a stop is due. Afterwards the state is the
 *  same as after the same instructions in the fixed order. The engine must have no observers. Returns true if the last executed
 *  block was the last one of a grid that the host launched. */
bool emu_block_vector_blocks(struct emu_functional *f);
/** For tests: returns how many blocks of the last kernel were executed block-wide by the engine's own thread. Blocks that
 *  its helper threads executed do not count. */
uint64_t emu_block_vector_count(struct emu_engine *engine);
/** Destroys a core's plan, which may be NULL. */
void emu_block_vector_destroy(struct emu_block_vector *block_vector);

/* ---- the plan ------------------------------------------------------------------------------ */

enum { BV_NO_REG = ISA_VZ, BV_SOURCES = 8, BV_ACCESSES = 24 };
enum bv_kind { BV_NONE, BV_ROW, BV_COMPARE, BV_SCALAR, BV_LOAD, BV_STORE };
struct bv_step {
    struct emu_dinsn insn[2]; /* insn[0]: copy of the instruction; insn[1]: an instruction whose handler returns, to which the
                               * handler of the copy jumps as in a handler chain */
    uint8_t guard;            /* guard as in emu_dinsn.guard; insn[] itself is unguarded */
    uint8_t kind;
    uint8_t a, b, c, d;       /* vector registers by number; BV_NO_REG: none or vz */
    uint8_t source[BV_SOURCES], source_count;
    uint8_t written, written_count;
    bool special;             /* v_s2r of a thread index, selected by insn.reg */
    bool exit, ends;          /* ends: a block of which a lane reaches this step is not executed block-wide */
    bool last;                /* after this step, block-wide execution cannot be abandoned any more: only exits and scalar
                               * instructions follow, which cannot fault if all lanes execute them */
    uint8_t mode, scale;      /* addressing mode, and scale of the address's index */
    uint8_t bytes, words;     /* number of bytes that each lane accesses, and number of registers with these bytes */
    uint8_t size;
    uint32_t *saved;           /* values that this step stores, if it is a store that is deferred until the block cannot be
                                * abandoned any more */
};

/** Contents of a register: a register row, which has a value for each lane; an affine value, base + step * thread modulo 2^32; or
 *  the low or high half of a 64-bit affine value. */
enum bv_cell_state { BV_CELL_ROW, BV_CELL_AFFINE, BV_CELL_LOW, BV_CELL_HIGH };
struct affine_value {
    uint64_t base, step;
};
struct bv_cell {
    struct affine_value line;
    uint8_t state;
    bool has_row; /* true if the register row also has the values of the lanes although `state` is not BV_CELL_ROW */
};

struct bv_access {
    uint64_t low, high; /* range [low, high) of the accessed bytes, as offsets in global memory */
    uint64_t first, step;
    uint8_t bytes;
    bool write;
    struct bv_step *saved;  /* deferred store, or NULL */
};

struct emu_block_vector {
    const struct emu_code *of; /* decoded program of the core from which the plan was made */
    const struct isa_function *kernel;
    uint32_t threads;
    bool usable;
    unsigned warps, count;
    uint64_t done;             /* number of blocks executed block-wide */
    unsigned misses;           /* number of blocks since the last success that could not be executed block-wide */
    unsigned passed;           /* number of blocks that ran warp by warp without a try, because `misses` was high */
    uint64_t tried_grid, tried; /* grid and block whose block-wide execution was abandoned last */
    struct emu_code code;      /* immediates and preludes of the steps */
    struct bv_step *step;         /* [count] */
    unsigned vregs, scalars;
    struct emu_layout layout;
    uint32_t stride, n;        /* stride: that of `layout`; n: number of lanes of a register row */
    char *rows;                /* register file like a warp's, for all lanes of the block */
    uint32_t *saved;            /* values of deferred stores */
    struct bv_cell cell[256];
    struct bv_access access[BV_ACCESSES];
    unsigned access_count;
    struct emu_block block;
    struct emu_warp warp;
};

/** Makes a plan for the blocks of @grid on @core, whose decoded program is @code. If block-wide execution is impossible, the
 *  plan's member `usable` is false. Returns NULL if memory is short. */
struct emu_block_vector *emu_bv_plan(struct emu_core *core, const struct emu_grid *grid,
                                 const struct emu_code *code);

#endif
