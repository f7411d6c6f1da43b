/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks in one sweep: a block whose lanes all go straight from the kernel's entry to an exit is
 * executed row by row, each row once for all lanes of the block (emu_block_vector.c), by a plan of the kernel
 * (emu_block_vector_plan.c).
 */
#ifndef EMU_BLOCK_VECTOR_PRIV_H
#define EMU_BLOCK_VECTOR_PRIV_H

#include "emu/core/emu_core_priv.h"
#include "emu/program/emu_decode_priv.h"

struct emu_functional;
struct emu_block_vector;

/** Sweep blocks, from the current one, as long as they have not begun, can be swept, and
 *  nothing is due at an instruction inside. All is as after the same instructions of the fixed
 *  order. There may be no observers. True: a grid of the host ended with them. */
bool emu_block_vector_blocks(struct emu_functional *f);
/** Blocks of the kernel that ran last which the engine's own thread swept, for tests. */
uint64_t emu_block_vector_count(struct emu_engine *engine);
/** Of a core; may be NULL. */
void emu_block_vector_destroy(struct emu_block_vector *block_vector);

/* ---- the plan ------------------------------------------------------------------------------ */

enum { BV_NO_REG = ISA_VZ, BV_SOURCES = 8, BV_ACCESSES = 24 };
enum bv_kind { BV_NONE, BV_ROW, BV_COMPARE, BV_SCALAR, BV_LOAD, BV_STORE };
struct bv_step {
    struct emu_dinsn insn[2]; /* the second ends the chain */
    uint8_t guard;            /* as dinsn.guard; insn has none */
    uint8_t kind;
    uint8_t a, b, c, d;       /* registers of vector rows; BV_NO_REG: none or vz */
    uint8_t source[BV_SOURCES], source_count;
    uint8_t written, written_count;
    bool special;             /* of v_s2r: of threads, by insn.reg */
    bool exit, ends;          /* ends: who comes here is not for a sweep */
    bool last;                /* nothing after it can abandon block-wide execution: exits, scalar rows, none of
                               * which can fault where all lanes are there */
    uint8_t mode, scale;      /* of addresses */
    uint8_t bytes, words;     /* of a lane's access, and its registers */
    uint8_t size;
    uint32_t *saved;           /* of stores that wait: rows */
};

/** What a register holds: a row; a line, base + step * thread modulo 2^32; a half of a 64-bit line. */
enum bv_cell_state { BV_CELL_ROW, BV_CELL_AFFINE, BV_CELL_LOW, BV_CELL_HIGH };
struct affine_value {
    uint64_t base, step;
};
struct bv_cell {
    struct affine_value line;
    uint8_t state;
    bool has_row; /* the row is there, too */
};

struct bv_access {
    uint64_t low, high; /* offsets in global memory, [low, high) */
    uint64_t first, step;
    uint8_t bytes;
    bool write;
    struct bv_step *saved;  /* a store that waits */
};

struct emu_block_vector {
    const struct emu_code *of; /* the core's code, and what the plan was made for */
    const struct isa_function *kernel;
    uint32_t threads;
    bool usable;
    unsigned warps, count;
    uint64_t done;             /* blocks */
    unsigned misses;           /* in a row, */
    unsigned passed;           /* and blocks that came when they were many */
    uint64_t tried_grid, tried; /* the block that was given up last */
    struct emu_code code;      /* immediates and preludes of the steps */
    struct bv_step *step;         /* [count] */
    unsigned vregs, scalars;
    struct emu_layout layout;
    uint32_t stride, n;        /* the layout's, and lanes of a row */
    char *rows;                /* as a warp's, of all lanes of the block */
    uint32_t *saved;            /* rows of stores */
    struct bv_cell cell[256];
    struct bv_access access[BV_ACCESSES];
    unsigned access_count;
    struct emu_block block;
    struct emu_warp warp;
};

/** A plan for the blocks of @grid, on @core, which decoded the program to @code; it may not be usable.
 *  NULL: no memory. */
struct emu_block_vector *emu_bv_plan(struct emu_core *core, const struct emu_grid *grid,
                                 const struct emu_code *code);

#endif
