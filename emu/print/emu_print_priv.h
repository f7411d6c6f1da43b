/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printed text: the formatter (emu_print_format.c), and the order of output (emu_print.c, which also executes vprintf and
 * assertfail).
 */
#ifndef EMU_PRINT_PRIV_H
#define EMU_PRINT_PRIV_H

#include <pthread.h>

#include "emu/emu.h"

/* ---- formatting ------------------------------------------------------------------- */

enum { EMU_FORMAT_LIMIT = 65536 }; /* limit, in bytes, of the text that one call prints, of its format, and of each string */

/** Source from which the formatter reads the format, its arguments, and strings. */
struct emu_format_source {
    /** Copies from guest memory. Returns the number of bytes copied from @address on; the number is less than @size_bytes if a
     *  byte cannot be read. */
    uint64_t (*read)(void *context, uint64_t address, void *data, uint64_t size_bytes);
    /** Called before each argument is read, with its offset from the first argument. `argument` may be NULL. */
    void (*argument)(void *context, uint64_t offset, unsigned size_bytes);
    void *context;
    unsigned arguments;   /* number of arguments that emu_format has read, with those for widths; the caller sets it to 0 */
    uint64_t bad_address; /* address of the first byte that could not be read; set when emu_format returned false */
};

/**
 * Formats text as printf of CUDA and OpenCL does.
 * @format  guest address of the format string
 * @args    guest address of the arguments. Arguments follow each other, each at its natural alignment, counted from @args.
 *          Integers have at least 32 bits; floats are doubles. An OpenCL vector has the same layout as in other memory; a vector
 *          of 3 elements takes the space of 4.
 * @out     space for EMU_FORMAT_LIMIT + 1 bytes; text beyond the limit is cut off
 * @size    set to the number of bytes written; they may include zeros (%c)
 * Returns false when a byte of the format, the arguments or a string cannot be read. docs/reference/printf.md lists the
 * conversions; other conversions are printed unchanged and take no argument.
 */
bool emu_format(struct emu_format_source *source, uint64_t format, uint64_t args, char *out,
                size_t *size);

/* ---- the order of printed text ------------------------------------------------------ */

/** A block of which some printed text is not output yet, or not yet in the hash of all text. */
struct emu_text_block {
    uint32_t grid;
    uint64_t block;
    struct lw_hash hash; /* hash of all text that the block has printed */
    char *text;          /* text that is not output yet; owned */
    size_t size, capacity;
};
/** A grid that may print, and which of its blocks have ended. */
struct emu_text_grid {
    struct emu_grid *grid;
    uint64_t prefix;        /* all blocks with numbers below `prefix` have ended */
    uint64_t (*ended)[2];   /* ranges [first, end) of ended blocks above `prefix`, ascending; owned */
    size_t count, capacity;
};
struct emu_text {
    pthread_mutex_t lock;   /* protects all other members, the sink and text_hash, because blocks may run on several threads */
    struct emu_text_block *block; /* sorted by (grid, block) */
    size_t block_count, block_capacity;
    struct emu_text_grid *grid;   /* grids that have not ended, sorted by launch order */
    size_t grid_count, grid_capacity;
    size_t kept;            /* total size, over all blocks, of the text that is not output yet; at most EMU_TEXT_LIMIT */
    bool immediate;
};
enum { EMU_TEXT_LIMIT = 64 << 20 };

/** Buffer of a core for the text that one instruction prints; data is owned. */
struct emu_text_buffer {
    char *data;
    size_t capacity;
};

void emu_text_init(struct emu_text *text);
void emu_text_fini(struct emu_text *text);
/** Adds a launched grid to the list of grids that have not ended. Errors: LW_ENOMEM. */
enum lw_status emu_text_grid_launched(struct emu_machine *machine, struct emu_grid *grid,
                                      struct lw_error *err) LW_MUST_CHECK;
/** Records that a block has ended, and outputs the text that is next in order. */
void emu_text_block_ended(struct emu_machine *machine, const struct emu_grid *grid,
                          uint64_t block);
/** Outputs, when the run ends early at block (grid, block), the remaining text of all blocks up to and including this block, in
 *  order. The text of later blocks is dropped if @drop is set; otherwise it is output as well, after the text of this block. */
void emu_text_stopped(struct emu_machine *machine, uint32_t grid, uint64_t block, bool drop);

#endif
