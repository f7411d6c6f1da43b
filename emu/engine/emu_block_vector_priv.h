/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block-wide execution: a block whose lanes all run straight from the kernel's entry to an exit is executed
 * instruction by instruction, each once for all lanes of the block (emu_block_vector.c), by a plan of the
 * kernel (emu_block_vector_plan.c).
 */
#ifndef EMU_BLOCK_VECTOR_PRIV_H
#define EMU_BLOCK_VECTOR_PRIV_H

#include "emu/core/emu_core_priv.h"
#include "emu/program/emu_decode_priv.h"

struct emu_functional;
struct emu_block_vector;

/** Executes blocks block-wide, from the current block on, as long as the next block has not begun, can run block-wide,
 *  and no check or stop is due at one of its instructions. Afterwards the state is the state after the same
 *  instructions of the fixed order. The engine must have no observers. Returns true if a host grid ended with them. */
bool emu_block_vector_blocks(struct emu_functional *f);
/** Returns the number of blocks of the last kernel that the engine's own thread executed block-wide, for
 *  tests. */
uint64_t emu_block_vector_count(struct emu_engine *engine);
/** Destroys a core's plan, which may be NULL. */
void emu_block_vector_destroy(struct emu_block_vector *block_vector);

/* ---- the plan ------------------------------------------------------------------------------ */

enum { BV_NO_REG = ISA_VZ, BV_SOURCES = 8, BV_ACCESSES = 24 };
enum bv_kind { BV_NONE, BV_ROW, BV_COMPARE, BV_SCALAR, BV_LOAD, BV_STORE };
struct bv_step {
    struct emu_dinsn insn[2]; /* a copy of the instruction, and a second one that ends the chain */
    uint8_t guard;            /* guard as in dinsn.guard; insn has none */
    uint8_t kind;
    uint8_t a, b, c, d;       /* vector registers by number; BV_NO_REG: none or vz */
    uint8_t source[BV_SOURCES], source_count;
    uint8_t written, written_count;
    bool special;             /* v_s2r of a thread index, selected by insn.reg */
    bool exit, ends;          /* ends: a block with lanes that reach this step is not executed block-wide */
    bool last;                /* after this step, block-wide execution cannot be abandoned: only exits and scalar
                               * instructions follow, which cannot fault if all lanes execute */
    uint8_t mode, scale;      /* addressing mode, and scale of the address's index */
    uint8_t bytes, words;     /* bytes of a lane's access, and its registers */
    uint8_t size;
    uint32_t *saved;           /* deferred stores: values */
};

/** Contents of a register: a row with a value for each lane; an affine value, base + step * thread modulo 2^32; or the
 *  low or high half of a 64-bit affine value. */
enum bv_cell_state { BV_CELL_ROW, BV_CELL_AFFINE, BV_CELL_LOW, BV_CELL_HIGH };
struct affine_value {
    uint64_t base, step;
};
struct bv_cell {
    struct affine_value line;
    uint8_t state;
    bool has_row; /* the lanes are valid as well */
};

struct bv_access {
    uint64_t low, high; /* offsets in global memory, [low, high) */
    uint64_t first, step;
    uint8_t bytes;
    bool write;
    struct bv_step *saved;  /* deferred store, or NULL */
};

struct emu_block_vector {
    const struct emu_code *of; /* the core's code from which the plan was made */
    const struct isa_function *kernel;
    uint32_t threads;
    bool usable;
    unsigned warps, count;
    uint64_t done;             /* blocks executed block-wide */
    unsigned misses;           /* consecutive failures */
    unsigned passed;           /* number of blocks that were not tried after many failures */
    uint64_t tried_grid, tried; /* grid and block that were abandoned last */
    struct emu_code code;      /* immediates and preludes of the steps */
    struct bv_step *step;         /* [count] */
    unsigned vregs, scalars;
    struct emu_layout layout;
    uint32_t stride, n;        /* stride of the layout, and lanes of a row */
    char *rows;                /* register file like a warp's, for all lanes of the block */
    uint32_t *saved;            /* values of deferred stores */
    struct bv_cell cell[256];
    struct bv_access access[BV_ACCESSES];
    unsigned access_count;
    struct emu_block block;
    struct emu_warp warp;
};

/** Makes a plan for the blocks of @grid on @core, whose decoded program is @code; the plan may show that block-wide
 *  execution is impossible. Returns NULL without memory. */
struct emu_block_vector *emu_bv_plan(struct emu_core *core, const struct emu_grid *grid,
                                 const struct emu_code *code);

#endif
