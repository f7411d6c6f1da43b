/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printed text: the formatter (emu_print_format.c), and the order in which text comes out
 * (emu_print.c, where the rows vprintf and assertfail are, too).
 */
#ifndef EMU_PRINT_PRIV_H
#define EMU_PRINT_PRIV_H

#include <pthread.h>

#include "emu/emu.h"

/* ---- formatting ------------------------------------------------------------------- */

enum { EMU_FORMAT_LIMIT = 65536 }; /* bytes of one call's text, of its format, of a string */

/** Where a format, its arguments and strings lie. */
struct emu_format_source {
    /** Copy from guest memory: the bytes from the start that are there. */
    uint64_t (*read)(void *context, uint64_t address, void *data, uint64_t size_bytes);
    /** NULL, or called for each argument before it is read: its offset from the first. */
    void (*argument)(void *context, uint64_t offset, unsigned size_bytes);
    void *context;
    uint64_t bad_address; /* emu_format answered false: the first byte that is not there */
};

/**
 * Format as CUDA's and OpenCL's printf do.
 *
 * @format  guest address of the format string
 * @args    guest address of the arguments: each at its natural alignment after the one
 *          before (counted from @args), integers at least 32 bits, floats as doubles;
 *          OpenCL vectors as they lie in memory, those of 3 elements as of 4
 * @out     room for EMU_FORMAT_LIMIT + 1 bytes; text beyond the limit is cut off
 * @size    gets the bytes written; they may hold zeros (%c)
 *
 * False when a byte of format, arguments or strings cannot be read. Conversions: docs/reference/printf.md;
 * others are printed as they are and take no argument.
 */
bool emu_format(struct emu_format_source *source, uint64_t format, uint64_t args, char *out,
                size_t *size);

/* ---- the order of text -------------------------------------------------------------- */

/** What a block printed and is not shown yet, or is not in the hash yet. */
struct emu_text_block {
    uint32_t grid;
    uint64_t block;
    struct lw_hash hash; /* of all its text */
    char *text;          /* not shown yet; owned */
    size_t size, capacity;
};
/** Ended blocks of a grid that may print. */
struct emu_text_grid {
    struct emu_grid *grid;
    uint64_t prefix;        /* blocks below have all ended */
    uint64_t (*ended)[2];   /* ranges [first, end) beyond it, ascending; owned */
    size_t count, capacity;
};
struct emu_text {
    pthread_mutex_t lock;   /* over all of it, the sink and text_hash: blocks may run on threads */
    struct emu_text_block *block; /* ascending (grid, block) */
    size_t block_count, block_capacity;
    struct emu_text_grid *grid;   /* ascending; those that have not ended */
    size_t grid_count, grid_capacity;
    size_t kept;            /* bytes of text in all blocks, at most EMU_TEXT_LIMIT */
    bool immediate;
};
enum { EMU_TEXT_LIMIT = 64 << 20 };

/** A core's room for what one instruction prints; data is owned. */
struct emu_text_buffer {
    char *data;
    size_t capacity;
};

void emu_text_init(struct emu_text *text);
void emu_text_fini(struct emu_text *text);
/** A grid was launched. Errors: LW_ENOMEM. */
enum lw_status emu_text_grid_launched(struct emu_machine *machine, struct emu_grid *grid,
                                      struct lw_error *err) LW_MUST_CHECK;
/** A block ended: text that is next in order is shown. */
void emu_text_block_ended(struct emu_machine *machine, const struct emu_grid *grid,
                          uint64_t block);
/** The run ends early: show what is left of blocks up to (grid, block), those included, in
 *  order; what higher ones printed is dropped if @drop, else shown too. */
void emu_text_stopped(struct emu_machine *machine, uint32_t grid, uint64_t block, bool drop);

#endif
