/* SPDX-License-Identifier: Apache-2.0 */
/* Guest faults, and reports on runs that make no progress. */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "emu/emu_machine.h"

enum emu_fault_kind {
    EMU_FAULT_NONE,
#define FAULT(id, name, message) EMU_FAULT_##id,
#include "emu/faults.def"
    EMU_FAULT_COUNT
};
const char *emu_fault_name(enum emu_fault_kind kind);

/** A guest fault: a value, never a host error. */
struct emu_fault {
    enum emu_fault_kind kind;
    uint64_t lanes;        /* lanes that fault */
    uint64_t pc;
    uint64_t address;      /* memory faults: address of the lowest faulting lane */
    enum isa_space space;
    uint8_t bytes;
    bool write;
    uint32_t grid;         /* sequence number */
    uint64_t block;        /* linear index */
    unsigned warp;         /* index in the block */
    char detail[200];      /* clause for the message, such as the allocation, the distance outside it, or the violated
                            * rule */
};
/** Returns the kind of access by the instruction at the fault's pc: "load", "store" or "atomic". */
const char *emu_fault_access(const struct emu_machine *machine, const struct emu_fault *fault);
/** Returns true if the stack had no space for the frame of a called function, whose saved values are lost. */
bool emu_fault_is_full_stack(const struct emu_machine *machine, const struct emu_fault *fault);
/** Prints "fault: out-of-bounds global store of 4 bytes at 0x... ...": one line, no newline. */
void emu_fault_print(const struct emu_machine *machine, const struct emu_fault *fault,
                     struct lw_sink *out);

enum emu_hang_kind {
    EMU_HANG_NONE,
    EMU_HANG_DEADLOCK,      /* no warp is ready, sleeping or pending */
    EMU_HANG_CONVERGENCE,   /* lanes wait at a convergence barrier for lanes that cannot reach it */
    EMU_HANG_CTA_BARRIER,   /* lanes wait at a CTA barrier that not all lanes reach */
    EMU_HANG_LIVELOCK,      /* lanes repeat a cycle for ever */
    EMU_HANG_SIMT,          /* running lanes wait for lanes of their warp that wait, below the top of a SIMT stack, to
                             * reconverge with the running lanes */
    EMU_HANG_VALUE          /* lanes repeat a cycle for ever, and the value that they read repeatedly is never written */
};
/** Returns "deadlock", "convergence", "cta-barrier", "livelock", "simt", "value", or "none". */
const char *emu_hang_name(enum emu_hang_kind kind);
struct emu_hang {
    enum emu_hang_kind kind;
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    uint64_t lanes, pc;
    /** The report: a summary, then a line for each group of waiting lanes. A line states what the lanes wait for:
     *  lanes, pcs with source lines, barriers, memory locations with their values. */
    char detail[4000];
};
/** Prints "hang: ...", then the other lines indented; no newline at the end. */
void emu_hang_print(const struct emu_hang *hang, struct lw_sink *out);
/** Fills out->detail for a run that is ended early: @why, a clause, then a line for each location at which
 *  lanes are, as in a hang report. The run does not hang: out->kind is EMU_HANG_NONE. The other members
 *  describe the first warp. */
void emu_machine_where(const struct emu_machine *machine, const char *why, struct emu_hang *out);
/** Prints where->detail: its first line, then the other lines indented; no newline at the end. */
void emu_where_print(const struct emu_hang *where, struct lw_sink *out);

#endif
