/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the evaluation of address slices (emu/emu_predict.h). */
#ifndef EMU_PREDICT_PRIV_H
#define EMU_PREDICT_PRIV_H

#include "emu/emu.h"

/** Values that are constant in a launch. */
struct emu_predict_launch {
    const struct isa_object *object;
    const struct isa_slices *slices; /* address slices of the kernel, which is a function of `object` */
    uint32_t grid[3], block[3], offset[3], work_dim;
    unsigned warp_width;
    const uint8_t *params; /* values of the parameters; after param_bytes bytes, parameters are zero */
    uint32_t param_bytes;
    const uint64_t *variables; /* addresses of the object's variables, by number; NULL: all addresses are zero */
};
/** The nodes that must be computed to get the value of one node, in the order of computation. Nodes that are constant in the
 *  launch are not in the list. */
struct emu_predict_list {
    uint32_t *node;
    uint32_t count;
    bool ready;
};
struct emu_predict {
    const struct isa_slices *slices;
    struct emu_predict_launch launch;
    uint64_t *value;    /* [node] value of the node for the thread and iteration evaluated last */
    uint8_t *depends;   /* [node] set of the ids EMU_PREDICT_BLOCK, _THREAD, _ITERATION on which the node depends */
    struct emu_predict_list *list; /* lists of nodes: one for each site, then for each loop one with the nodes of both sides of
                                    * its exit test */
    uint8_t *needed;    /* [node] used while a list is made: 1 if the node belongs to the list */
    uint64_t *variables;   /* owned; may be NULL */
    uint8_t *params;       /* owned; may be NULL */
    struct emu_affine *affine; /* [node] affine form; NULL until a form is requested */
    uint64_t evaluations;
    uint64_t pitch[ISA_SLICE_ARRAYS]; /* [array] bytes of an array row; valid if has_pitch */
    bool has_pitch[ISA_SLICE_ARRAYS];
};
/** A value as a sum, modulo 2^bits: constant plus each id times its factor. ok false: the value has no such form. */
struct emu_affine {
    bool ok;
    uint64_t constant;
    int64_t by[6]; /* factors of tid.x, .y, .z and ctaid.x, .y, .z */
};

/** Creates a predictor. @launch and its address slices are borrowed until the predictor is destroyed. Errors: LW_ENOMEM. */
enum lw_status emu_predict_create(const struct emu_predict_launch *launch, struct emu_predict **out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** Computes the instruction of node @n from the values of its sources. */
uint64_t emu_predict_row(const struct isa_slice_node *n, uint64_t a, uint64_t b, uint64_t c, bool r);
/** Returns the value that @node, which may be any node, has for @thread. @list is the node's list, which the first call makes. */
uint64_t emu_predict_node(struct emu_predict *p, uint32_t node, const struct emu_predict_thread *thread,
                          struct emu_predict_list *list);

/** Returns the number of bytes of a row (array row) of array @array: the number in @shape, or otherwise the number inferred from
 *  the first suitable site. 0: the array has one row. */
uint64_t emu_predict_pitch(struct emu_predict *predict, uint32_t array, const struct emu_predict_shape *shape);

/* ---- rectangles (emu_rect.c): arithmetic only ------------------------------------------------- */

/** A rectangle of bytes in an array: columns x0 to x1 and array rows y0 to y1, both included. */
struct emu_byte_rect {
    int64_t x0, x1, y0, y1;
};
/** Computes column and array row of a byte from its offset from the array's first line. @pitch: bytes of an array row; 0: there
 *  is one array row. */
void emu_rect_to2d(int64_t offset, uint64_t pitch, int64_t *x, int64_t *y);
/** Splits the constant displacement @c of a site: returns the number of array rows in @c, rounded to the nearest number, and sets
 *  *@cx to the remaining bytes. */
int64_t emu_rect_split(int64_t c, uint64_t pitch, int64_t *cx);
/** Extends @into to the smallest rectangle that contains both @into and @more. If *@empty is set, @into contains no bytes yet;
 *  the function clears *@empty. */
void emu_rect_join(struct emu_byte_rect *into, const struct emu_byte_rect *more, bool *empty);
/** Returns the rectangle of lines that contain @bytes, clipped to the columns of an array row and to @rows (0: the number of
 *  array rows is not known). */
struct emu_rect emu_rect_lines(const struct emu_byte_rect *bytes, uint64_t pitch, uint64_t rows);
/** Strides of a site, from which the bytes of an array row are inferred: bytes by which the address grows with x or y of the
 *  thread (tx, ty) and of the block (bx, by). block and grid: number of threads and of blocks in x and y. */
struct emu_rect_strides {
    int64_t tx, ty, bx, by;
    uint32_t block[2], grid[2];
    unsigned element; /* size of an element, in bytes */
};
uint64_t emu_rect_pitch(const struct emu_rect_strides *strides);

#endif
