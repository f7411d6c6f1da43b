/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates PTX kernels, each of which executes one form of forms.txt, and their input, which contains every kind of value. A
 * device (bench/silicon/instructions.c) and the emulator (test_ptx_silicon.c) run the same kernels with the same input.
 */
#ifndef SILICON_FORMS_H
#define SILICON_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SF_THREADS = 256,    /* number of threads in the only block */
    SF_ROW_BYTES = 256,  /* bytes of a thread's row of global memory, with its registers, and 64 bytes at offset SF_SCRATCH */
    SF_SCRATCH = 192,
    SF_BYTES = SF_THREADS * SF_ROW_BYTES,
    SF_HASHES = 4        /* number of hashes of a form's result; each covers SF_THREADS / SF_HASHES rows */
};
/** One instruction, or a few separated by semicolons. */
struct silicon_form {
    char text[200];
    bool any_nan;      /* if the result is a NaN, the device may return any NaN */
    bool refused;      /* the emulator refuses the form by name */
    bool differs;      /* the results of the device and of the emulator are known to differ */
    bool approximate;  /* the results of the device and of the emulator may differ by up to `ulps` or `difference` */
    double ulps;       /* permitted difference in units in the last place */
    double difference; /* permitted absolute difference */
};
/** Reads forms.txt from @path, with all alternatives. Returns an array of @count forms on the heap, or NULL after it has printed
 *  a message. */
struct silicon_form *sf_read(const char *path, unsigned *count);
/** Returns the text that precedes the kernels in a module. */
const char *sf_head(void);
/** Returns the text of a kernel named @name that executes @form. The caller frees the text. The kernel's parameter is the
 *  address of SF_BYTES of memory. */
char *sf_kernel(const struct silicon_form *form, const char *name);
/** Fills @memory, which has SF_BYTES, with the input of @form. */
void sf_fill(const struct silicon_form *form, uint8_t *memory);
/** If the device may return any NaN for @form, replaces the NaNs in @memory by the canonical NaN. */
void sf_canonical(const struct silicon_form *form, uint8_t *memory);
/** Returns a hash of @bytes of @memory: the 64-bit FNV-1a hash, whose upper and lower half are combined. */
uint32_t sf_hash(const uint8_t *memory, size_t bytes);
/** Sets @kind to the letter (h r d f g p) of the result register of @form, which is the first operand of the last instruction, or
 *  to 0 if that operand is no register. Returns the register's offset in a row. */
unsigned sf_result(const struct silicon_form *form, char *kind);

#endif
