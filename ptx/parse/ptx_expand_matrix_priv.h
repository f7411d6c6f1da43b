/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments of matrices, shared by ptx_expand_matrix.c and ptx_expand_wmma.c. Lane l has the numbers g = l / 4 and t = l % 4.
 * A matrix consists of tiles of 8 x 8 elements of D, 8 rows of A or 8 columns of B. A row of A or a column of B consists of
 * blocks: a register of lane l has the E elements from E * t on of row or column g of a tile, in one block of 4 * E elements.
 * A lane has the elements (g, 2 t) and (g, 2 t + 1) of each tile of the accumulator. PTX defines these positions for mma; those
 * of wmma are not defined, and are the same here. */
#ifndef PTX_EXPAND_MATRIX_PRIV_H
#define PTX_EXPAND_MATRIX_PRIV_H

#include "ptx/parse/ptx_expand_priv.h"

enum ptx_cell { PTX_CELL_F16, PTX_CELL_BF16, PTX_CELL_TF32, PTX_CELL_S8, PTX_CELL_U8, PTX_CELL_F64, PTX_CELL_F32, PTX_CELL_S32 };
/** An element type of a matrix. */
struct ptx_cell_info {
    const char *name, *access; /* names of the type of the element, and of a register in loads and stores */
    unsigned bytes, packed;    /* bytes of an element; elements in a register */
};
extern const struct ptx_cell_info ptx_cells[];
struct ptx_shape {
    unsigned m, n, k;
};

/** Returns the element type of a name, or -1. */
int ptx_cell_find(struct ptx_name name);
/** Removes the modifier mMnNkK. */
struct ptx_shape ptx_expand_take_shape(struct ptx_expansion *x);
/** Removes '.sync' and '.aligned', which must both be there. */
void ptx_expand_take_sync(struct ptx_expansion *x);

/** Puts the multiplication d = a * b + c.
 *  @cells      types of the elements of d, a, b and c
 *  @registers  registers of a and b in the statement, which may be more than the multiplication needs; 0: exactly these
 *  @saturates  whether integers saturate */
void ptx_expand_multiply(struct ptx_expansion *x, struct ptx_shape shape, const int cells[4], unsigned registers, bool saturates);

#endif
