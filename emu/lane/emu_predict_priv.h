/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the evaluation of slices. */
#ifndef EMU_PREDICT_PRIV_H
#define EMU_PREDICT_PRIV_H

#include "emu/emu.h"

/** Constants of a launch. */
struct emu_predict_launch {
    const struct isa_object *object;
    const struct isa_slices *slices; /* slices of the kernel, which is in `object` */
    uint32_t grid[3], block[3], offset[3], work_dim;
    unsigned warp_width;
    const uint8_t *params; /* param_bytes of parameters; bytes after them are zero */
    uint32_t param_bytes;
    const uint64_t *variables; /* addresses of the object's variables, by number; NULL: all zero */
};
/** Nodes that a value needs and that are not constant in the launch, in the order in which they are computed. */
struct emu_predict_list {
    uint32_t *node;
    uint32_t count;
    bool ready;
};
struct emu_predict {
    const struct isa_slices *slices;
    struct emu_predict_launch launch;
    uint64_t *value;    /* value of each node */
    uint8_t *depends;   /* for each node: set of EMU_PREDICT_... */
    struct emu_predict_list *list; /* for each site; then for each loop: the two sides of the loop's test */
    uint8_t *needed;    /* for each node: true if the list that is being made needs the node */
    uint64_t *variables;   /* owned; may be NULL */
    uint8_t *params;       /* owned; may be NULL */
    struct emu_affine *affine; /* affine form of each node; NULL before the first request */
    uint64_t evaluations;
    uint64_t pitch[ISA_SLICE_ARRAYS]; /* bytes a row of each array, once the pitch is requested */
    bool has_pitch[ISA_SLICE_ARRAYS];
};
/** A value as a sum, modulo 2^bits. */
struct emu_affine {
    bool ok;
    uint64_t constant;
    int64_t by[6]; /* tid, ctaid */
};

/** Creates a predictor; @launch and its slices are borrowed until the predictor is destroyed. Errors: LW_ENOMEM. */
enum lw_status emu_predict_create(const struct emu_predict_launch *launch, struct emu_predict **out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** Returns the value of node @n for the values of its sources. */
uint64_t emu_predict_row(const struct isa_slice_node *n, uint64_t a, uint64_t b, uint64_t c, bool r);
/** Returns the value of @node, which may be any node, at @thread; @list is made at the first use. */
uint64_t emu_predict_node(struct emu_predict *p, uint32_t node, const struct emu_predict_thread *thread,
                          struct emu_predict_list *list);

/** Returns the number of bytes of a row of array @array: as @shape states, otherwise from the first site that shows it;
 *  0: the array has one row. */
uint64_t emu_predict_pitch(struct emu_predict *predict, uint32_t array, const struct emu_predict_shape *shape);

/* ---- rectangles (emu_rect.c): pure arithmetic ------------------------------------------------ */

/** Bytes of an array: columns x0 .. x1 and rows y0 .. y1, both ends included. */
struct emu_byte_rect {
    int64_t x0, x1, y0, y1;
};
/** Returns column and row of the byte at @offset from the array's first line; @pitch: bytes per row, 0: there is one
 *  row. */
void emu_rect_to2d(int64_t offset, uint64_t pitch, int64_t *x, int64_t *y);
/** Returns the part of the constant displacement @c that is a multiple of whole rows; *@cx is set to the remainder,
 *  which is at most half a row. */
int64_t emu_rect_split(int64_t c, uint64_t pitch, int64_t *cx);
/** Extends @into to the smallest rectangle that contains @into and @more. @empty: @into has no bytes yet; the function
 *  clears *@empty. */
void emu_rect_join(struct emu_byte_rect *into, const struct emu_byte_rect *more, bool *empty);
/** Lines of @bytes, clipped to the columns of a row and to @rows (0: not known). */
struct emu_rect emu_rect_lines(const struct emu_byte_rect *bytes, uint64_t pitch, uint64_t rows);
/** Bytes per row, inferred from the strides of the ids; 0: there is one row. @extent: threads of the block and blocks
 *  of the grid. */
struct emu_rect_strides {
    int64_t tx, ty, bx, by;
    uint32_t block[2], grid[2];
    unsigned element; /* bytes */
};
uint64_t emu_rect_pitch(const struct emu_rect_strides *strides);

#endif
