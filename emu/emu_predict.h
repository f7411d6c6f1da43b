/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction of the addresses that a kernel will access. The address slices of isa/isa_slice.h are evaluated for one launch, for
 * any block and thread. The result is, for each array, the rectangle of cache lines that a block accesses. An array is the
 * memory at a pointer (a kernel parameter or a variable) on which addresses depend. A site is a global load or store of the
 * kernel; an accepted site is one that has an address slice. The functions do not read guest memory. Source: Chen, "Improving
 * GPU Memory Performance via Address Pre-computation", National Taiwan University 2016, chapters 3 and 5.
 */
#ifndef EMU_PREDICT_H
#define EMU_PREDICT_H

#include "emu/emu_grid.h"

/** A thread, and for each loop of the address slices the number of the iteration in which the thread is (0: the first). iteration
 *  NULL: every loop is in its first iteration. */
struct emu_predict_thread {
    uint32_t ctaid[3], tid[3];
    const uint64_t *iteration;
};
struct emu_predict;
/** Creates the predictor of @grid. The predictor borrows the address slices that the kernel has in its object; *@out is NULL if
 *  the object has none (isa_object_slice). Errors: LW_ENOMEM. */
enum lw_status emu_predict_create_of(const struct emu_machine *machine, const struct emu_grid *grid, struct emu_predict **out,
                                     struct lw_error *err) LW_MUST_CHECK;
/** Creates the predictor of a grid from @slices, the address slices of its kernel, which are borrowed. @slices is NULL if the
 *  kernel has no address slices. */
enum lw_status emu_predict_create_with(const struct emu_machine *machine, const struct emu_grid *grid,
                                       const struct isa_slices *slices, struct emu_predict **out,
                                       struct lw_error *err) LW_MUST_CHECK;
void emu_predict_destroy(struct emu_predict *predict);
/** Address slices of a program's kernels: the object's address slices or, if the object has none, slices that were computed from
 *  the code. */
struct emu_predict_slices;
/** Creates the address slices of the kernels of @program, which is borrowed. */
enum lw_status emu_predict_slices_create(const struct emu_program *program, struct emu_predict_slices **out,
                                         struct lw_error *err) LW_MUST_CHECK;
void emu_predict_slices_destroy(struct emu_predict_slices *slices);
const struct isa_slices *emu_predict_slices_of(const struct emu_predict_slices *slices, const struct isa_function *kernel);
/** Numbers of sites of a kernel: of all sites (count), of those with an address slice (accepted), and, for each reason, of those
 *  that have no address slice for this reason (rejected). Reasons are numbered from 1. */
enum { EMU_PREDICT_ARRAYS = 5, EMU_PREDICT_REASONS = 10 };
struct emu_predict_sites {
    unsigned count, accepted, arrays; /* arrays: number of arrays that the accepted sites access */
    unsigned rejected[EMU_PREDICT_REASONS];
};
/** Counts the sites of the kernel to which @slices belong. @slices is NULL if the kernel has no address slices. */
void emu_predict_count_sites(const struct isa_slices *slices, struct emu_predict_sites *out);
/** Returns the name of a reason, such as "data-dependent". */
const char *emu_predict_reason(unsigned reason);

/** Returns the address that @thread accesses at site @site, which is accepted. */
uint64_t emu_predict_address(struct emu_predict *predict, uint32_t site, const struct emu_predict_thread *thread);
/** Gets the number of iterations of loop @loop in which a thread may reach @site. @thread gives the iterations of the loops that
 *  contain @loop. If the loop has exits that the address slices do not describe, the number is an upper bound. Returns false if
 *  the number is not known. */
bool emu_predict_iterations(struct emu_predict *predict, uint32_t site, uint32_t loop, const struct emu_predict_thread *thread,
                            uint64_t *count);
/** Bits of the result of emu_predict_depends(), for the ids on which the address of a site depends: block id, thread id, and
 *  iterations of loops. */
enum { EMU_PREDICT_BLOCK = 1, EMU_PREDICT_THREAD = 2, EMU_PREDICT_ITERATION = 4 };
unsigned emu_predict_depends(const struct emu_predict *predict, uint32_t site);
/** Returns the number of address slice evaluations so far. */
uint64_t emu_predict_evaluations(const struct emu_predict *predict);

/** An address in the first iteration of all loops: `constant` plus the sum of each id times its factor, modulo 2^64. The form is
 *  valid for all threads of the launch: no part of the sum wraps for any thread. */
struct emu_predict_affine {
    uint64_t constant;
    int64_t tid[3], ctaid[3];
};
/** Gets the address of @site in affine form. Returns false if the address has no affine form. */
bool emu_predict_affine(struct emu_predict *predict, uint32_t site, struct emu_predict_affine *out);

enum { EMU_RECT_LINE = 128 }; /* bytes of a cache line */
/** Rectangle in an array. Columns are the cache lines of an array row (the elements that differ only in the last index), rows are
 *  array rows. The rectangle is empty if w or h is 0. */
struct emu_rect {
    uint32_t x, y, w, h;
};
/** Returns the number of lines that are in both rectangles. */
uint64_t emu_rect_overlap(const struct emu_rect *a, const struct emu_rect *b);

/** Shape of an array, as a caller knows it from another source than the launch. */
struct emu_predict_shape {
    uint64_t pitch; /* bytes from array row to array row; 0: inferred from the strides of the array's sites */
    uint64_t bytes; /* size of the array, or 0 if it is not known */
};
/* flags: also predict the sites of stores; also evaluate the last iterations of loops */
enum { EMU_PREDICT_STORES = 1, EMU_PREDICT_BOUNDS = 2 };
/** Gets the lines of array @array that the first and last threads of block @ctaid access. Returns false if no site of the array
 *  is predicted. */
bool emu_predict_range(struct emu_predict *predict, uint32_t array, const uint32_t ctaid[3],
                       const struct emu_predict_shape *shape, unsigned flags, struct emu_rect *out);
/** An array in one launch. */
struct emu_predict_array {
    uint64_t base;  /* address of the first line that is entirely in the array */
    uint64_t pitch; /* bytes from array row to array row; 0: there is one array row */
    /* used: at least one site of the array is predicted. by_block: the address of one of these sites depends on the block. */
    bool used, by_block;
};
void emu_predict_array(struct emu_predict *predict, uint32_t array, const struct emu_predict_shape *shape, unsigned flags,
                       struct emu_predict_array *out);
/** Calls @each with column and array row of each line of array @array that @thread accesses, in the iterations that
 *  emu_predict_range evaluates. @each may be called several times for a line, but never for a line outside the array. */
void emu_predict_lines(struct emu_predict *predict, uint32_t array, const struct emu_predict_thread *thread,
                        const struct emu_predict_shape *shape, unsigned flags,
                        void (*each)(void *context, uint32_t x, uint32_t y), void *context);

#endif
