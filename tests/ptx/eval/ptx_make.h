/* SPDX-License-Identifier: Apache-2.0 */
/* Generates random PTX kernels whose results do not depend on the order of threads. */
#ifndef PTX_MAKE_H
#define PTX_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_SHARED = 64 };
/** Registers of one kind that have the same value in all threads: number of registers so far, and those that may be read at this
 *  point. */
struct pm_shared {
    unsigned synthetic, count, visible[PM_SHARED];
};
enum {
    PM_ROW_BYTES = 512,  /* bytes of global memory for each thread: 128 of input, 128 of scratch memory, then the results */
    PM_SUM_BYTES = 128,  /* words for reductions, after the memory of all threads */
    PM_PARAM_BYTES = 64,
    PM_PARAMETERS = 6,
    PM_KERNELS = 20      /* number of kernels of a module for a device */
};
/** A statement of a kernel. A kernel is a list of statements. */
struct pm_statement {
    char *text;
    int match; /* if the statement opens or closes a block: index of the statement at the block's other end; otherwise -1 */
    bool middle; /* the statement belongs to the surrounding block */
    char kind;   /* 's', 'e' or 'q' if the statement is the only one that defines register @defines of this kind; without the
                  * statement, the register would be 0 */
    unsigned defines;
};
struct pm_kernel {
    struct pm_statement *at;
    int count, room;
    bool warp;           /* the kernel has cross-lane operations, so it needs whole warps of 32 lanes */
    bool scalar;         /* most of the kernel is computed identically by all threads, control flow too */
    bool leaves;         /* threads may end early, so that the kernel has no barriers */
    bool traps;          /* threads may reach a trap, which ends the run */
    bool device;         /* the kernel contains only instructions that a device with sm_90 computes exactly as PTX defines them */
    struct pm_shared s, e, q; /* registers of 32 and 64 bits, and predicates, that are equal in all threads */
    char kind;           /* kind of the register that the current statement defines, or 0; @defines is its number */
    unsigned defines;
    uint64_t state;      /* state of the random number generator */
    unsigned labels, counters, written; /* written: the f64 register that the current statement writes */
    char name[16];
};
/**
 * Generates kernel @name from @seed. If @calls is set, the kernel calls the functions that pm_head() writes. If @device is set,
 * a device with sm_90 computes the results that PTX defines: the kernel has no approximations and no traps, and reads no
 * uninitialised memory.
 */
void pm_make(struct pm_kernel *kernel, uint64_t seed, const char *name, bool calls, bool device);
void pm_free(struct pm_kernel *kernel);
/** Returns the head of a module with the functions that its kernels call. The caller frees the text. */
char *pm_head(uint64_t seed, bool calls, bool device);
/** Returns the text of the kernel. The caller frees the text. */
char *pm_text(const struct pm_kernel *kernel);

/** Blocks and threads of a launch, and the bytes of its global memory. */
struct pm_shape {
    uint32_t grid, block;
    size_t bytes;
};
/** Returns the shape of the launch of kernel @seed. If @warp is set, the blocks consist of whole warps of 32. */
struct pm_shape pm_shape(uint64_t seed, bool warp);
/** Fills @memory with the input of kernel @seed, which are numbers of every kind. */
void pm_fill(uint8_t *memory, const struct pm_shape *shape, uint64_t seed);
/** Sets the parameters of kernel @seed in the layout of C, except for the first one, which is the address of the memory. */
void pm_parameters(uint64_t parameters[PM_PARAM_BYTES / 8], uint64_t seed);
/** Offset of each parameter in this layout, in bytes. */
extern const unsigned pm_offsets[PM_PARAMETERS];
/** Generates module @seed with kernels for a device. Kernel i of the module is generated from seed * PM_KERNELS + i. Returns the
 *  text of the module, which the caller frees. */
char *pm_module(uint64_t seed, struct pm_kernel kernels[PM_KERNELS]);
/** Returns the next random number of @state. The sequence is the same on every host. */
uint64_t pm_random(uint64_t *state);

#endif
