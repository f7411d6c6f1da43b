/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PTX kernels that each execute one form of forms.txt, and their input, which has every kind of value in the registers.
 * A device (bench/silicon/instructions.c) and the emulator (test_ptx_silicon.c) run the same text on the same bytes.
 */
#ifndef SILICON_FORMS_H
#define SILICON_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SF_THREADS = 256,    /* number of threads in the only block */
    SF_ROW_BYTES = 256,  /* bytes of global memory for each thread (its row): its registers, then 64 bytes at offset SF_SCRATCH */
    SF_SCRATCH = 192,
    SF_BYTES = SF_THREADS * SF_ROW_BYTES,
    SF_HASHES = 4        /* number of hashes of a form's result; each covers SF_THREADS / SF_HASHES rows */
};
/** One instruction, or a few separated by semicolons. */
struct silicon_form {
    char text[200];
    bool any_nan;      /* if the result is a NaN, the device may choose which NaN */
    bool refused;      /* the emulator refuses the form by name */
    bool differs;      /* the results of the device and of the emulator are known to differ */
    bool approximate;  /* the two results may differ by up to `ulps` or `difference` */
    double ulps;       /* permitted difference in units in the last place */
    double difference; /* permitted absolute difference */
};
/** Read forms.txt from @path with all alternatives. Return a heap array of @count forms, or NULL after a message. */
struct silicon_form *sf_read(const char *path, unsigned *count);
/** Return the text that precedes the kernels in a module. */
const char *sf_head(void);
/** Return the text of a kernel named @name that executes @form. The caller frees the text. The kernel's parameter is the
 * address of SF_BYTES of memory. */
char *sf_kernel(const struct silicon_form *form, const char *name);
/** Fill @memory, SF_BYTES, with the input of @form. */
void sf_fill(const struct silicon_form *form, uint8_t *memory);
/** If the device may choose which NaN @form returns, replace the NaNs in @memory by canonical ones. */
void sf_canonical(const struct silicon_form *form, uint8_t *memory);
/** Hash @bytes of @memory: FNV-1a of 64 bits, upper half and lower half combined. */
uint32_t sf_hash(const uint8_t *memory, size_t bytes);
/** Set @kind to the letter of the first register of the last instruction (h r d f g p), which @form writes, or to 0 if that
 * is no register. Return the register's offset in a row. */
unsigned sf_result(const struct silicon_form *form, char *kind);

#endif
