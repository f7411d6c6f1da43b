/* SPDX-License-Identifier: Apache-2.0 */
/* Registers from which the value of another register can be computed again (ptx_debug_notesources.c). */
#ifndef PTX_DEBUG_NOTESOURCES_PRIV_H
#define PTX_DEBUG_NOTESOURCES_PRIV_H

#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

enum { PTX_NOTE_REGISTERS = 32 };
/** PTX registers of a variable's values, and after these the registers from which the values can be computed again. */
struct ptx_note_registers {
    uint32_t reg[PTX_NOTE_REGISTERS];
    unsigned count;
    uint32_t expanded; /* bit set: the list contains all registers from which the register is computed */
};
/** Which bits of the operands of an operation must be known. */
enum ptx_note_sure { PTX_NOTE_SURE_LOW, PTX_NOTE_SURE_SHIFT, PTX_NOTE_SURE_ALL };
/** The operation of DWARF that computes the result of an integer operation of PTX. */
struct ptx_note_operation {
    uint8_t op, dwarf;
    enum ptx_note_sure sure;
};

/** Returns NULL if an expression cannot compute the operation of a statement. */
const struct ptx_note_operation *ptx_note_operation_of(const struct ptx_insn *in);
/** Returns the index of a register in the list, or -1. */
int ptx_note_find_register(const struct ptx_note_registers *regs, uint32_t reg);
/** Returns the statement that writes a register. Returns NULL if several statements write the register, or if the statement has a
 *  guard or is not before statement @before. */
const struct ptx_insn *ptx_note_only_write(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg,
                                           uint32_t before);
/** Sets pl->wanted for all registers from which wanted registers can be computed. */
void ptx_note_want_sources(struct ptx_placing *pl, const struct ptx_noting *noting);
/** Appends registers from which the registers of the list can be computed at statements from @before on. */
void ptx_note_add_sources(struct ptx_placing *pl, const struct ptx_noting *noting, struct ptx_note_registers *regs,
                          uint32_t before);
/** Sets noting->unusable for all words of statements [@from, @to): the registers that may have other values there than the
 *  operations of the list read. */
void ptx_note_mark_sources(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note_registers *regs,
                           uint32_t from, uint32_t to);

#endif
