/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that execute one form of forms.txt on registers of every kind of value, as PTX, with their input. A device
 * (bench/silicon/instructions.c) and the emulator (test_ptx_silicon.c) run the same text on the same bytes.
 */
#ifndef SILICON_FORMS_H
#define SILICON_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SF_THREADS = 256,    /* of the only block */
    SF_ROW_BYTES = 256,  /* of global memory for each thread: its registers, then 64 bytes at SF_SCRATCH */
    SF_SCRATCH = 192,
    SF_BYTES = SF_THREADS * SF_ROW_BYTES,
    SF_HASHES = 4        /* hashes of a form's result, each of SF_THREADS / SF_HASHES rows */
};
/** One instruction, or a few separated by semicolons. */
struct silicon_form {
    char text[200];
    bool any_nan;      /* a NaN may be any NaN */
    bool refused;      /* the emulator refuses the form by name */
    bool differs;      /* the results are known to differ */
    bool approximate;  /* the result may differ by */
    double ulps;       /*   these units in the last place, or by */
    double difference; /*   this absolute difference */
};
/** Read forms.txt from @path with all alternatives. Return a heap array of @count forms, or NULL after a message. */
struct silicon_form *sf_read(const char *path, unsigned *count);
/** Return the head of a module of kernels, and kernel @name of @form, heap. Its parameter is the address of SF_BYTES. */
const char *sf_head(void);
char *sf_kernel(const struct silicon_form *form, const char *name);
/** Fill @memory, SF_BYTES, with the input of @form. */
void sf_fill(const struct silicon_form *form, uint8_t *memory);
/** Make the NaNs in the registers that @form writes equal if it may choose any. */
void sf_canonical(const struct silicon_form *form, uint8_t *memory);
/** Hash @bytes of @memory: FNV-1a of 64 bits, upper half and lower half combined. */
uint32_t sf_hash(const uint8_t *memory, size_t bytes);
/** Set @kind to the letter of the first register of the last instruction (h r d f g p), which @form writes, or to 0 if that
 * is no register. Return the register's offset in a row. */
unsigned sf_result(const struct silicon_form *form, char *kind);

#endif
