/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printed text: the formatter (emu_print_format.c), and the order of output (emu_print.c, which also has the
 * instructions vprintf and assertfail).
 */
#ifndef EMU_PRINT_PRIV_H
#define EMU_PRINT_PRIV_H

#include <pthread.h>

#include "emu/emu.h"

/* ---- formatting ------------------------------------------------------------------- */

enum { EMU_FORMAT_LIMIT = 65536 }; /* limit, in bytes, of the text of one call, of its format, and of a string */

/** Access to a format, its arguments and strings. */
struct emu_format_source {
    /** Copies from guest memory. Returns the number of bytes from the start that are mapped. */
    uint64_t (*read)(void *context, uint64_t address, void *data, uint64_t size_bytes);
    /** NULL, or called for each argument before it is read, with its offset from the first */
    void (*argument)(void *context, uint64_t offset, unsigned size_bytes);
    void *context;
    uint64_t bad_address; /* set when emu_format returned false: the first byte that is not mapped */
};

/**
 * Formats as CUDA's and OpenCL's printf do.
 * @format  guest address of the format string
 * @args    guest address of the arguments: each at its natural alignment after the preceding argument (counted
 *          from @args), integers with at least 32 bits, floats as doubles; OpenCL vectors as in memory, and vectors
 *          of 3 elements as vectors of 4
 * @out     capacity for EMU_FORMAT_LIMIT + 1 bytes; text beyond the limit is cut off
 * @size    set to the bytes written; they may contain zeros (%c)
 * Returns false when a byte of format, arguments or strings cannot be read. Conversions: docs/reference/printf.md;
 * other conversions are printed unchanged and take no argument.
 */
bool emu_format(struct emu_format_source *source, uint64_t format, uint64_t args, char *out,
                size_t *size);

/* ---- the order of text -------------------------------------------------------------- */

/** Text of a block that has not been output, or that is not in the hash of all text. */
struct emu_text_block {
    uint32_t grid;
    uint64_t block;
    struct lw_hash hash; /* hash of all text of the block */
    char *text;          /* text that has not been output; owned */
    size_t size, capacity;
};
/** Ended blocks of a grid that may print. */
struct emu_text_grid {
    struct emu_grid *grid;
    uint64_t prefix;        /* all blocks with a lower number than `prefix` have ended */
    uint64_t (*ended)[2];   /* ranges [first, end) of ended blocks beyond `prefix`, ascending; owned */
    size_t count, capacity;
};
struct emu_text {
    pthread_mutex_t lock;   /* protects all members, the sink and text_hash: blocks may run on threads */
    struct emu_text_block *block; /* sorted by (grid, block) */
    size_t block_count, block_capacity;
    struct emu_text_grid *grid;   /* grids that have not ended, ascending */
    size_t grid_count, grid_capacity;
    size_t kept;            /* bytes of text in all blocks, at most EMU_TEXT_LIMIT */
    bool immediate;
};
enum { EMU_TEXT_LIMIT = 64 << 20 };

/** A core's buffer for the text of one instruction; data is owned. */
struct emu_text_buffer {
    char *data;
    size_t capacity;
};

void emu_text_init(struct emu_text *text);
void emu_text_fini(struct emu_text *text);
/** Adds a grid that was launched. Errors: LW_ENOMEM. */
enum lw_status emu_text_grid_launched(struct emu_machine *machine, struct emu_grid *grid,
                                      struct lw_error *err) LW_MUST_CHECK;
/** Records the end of a block, and outputs text that is next in order. */
void emu_text_block_ended(struct emu_machine *machine, const struct emu_grid *grid,
                          uint64_t block);
/** Handles an early end of the run: outputs in order the remaining text of blocks up to (grid, block),
 *  inclusive. Text of later blocks is dropped if @drop, otherwise it is also output. */
void emu_text_stopped(struct emu_machine *machine, uint32_t grid, uint64_t block, bool drop);

#endif
