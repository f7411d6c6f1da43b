/* SPDX-License-Identifier: Apache-2.0 */
/* Guest faults, and reports about runs that make no progress. */
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

/** A guest fault. A fault is returned as a value; it is never an error of the emulator. */
struct emu_fault {
    enum emu_fault_kind kind;
    uint64_t lanes;        /* lanes that fault */
    uint64_t pc;
    uint64_t address;      /* memory faults: address accessed by the lowest faulting lane */
    enum isa_space space;
    uint8_t bytes;
    bool write;
    uint32_t grid;         /* sequence number */
    uint64_t block;        /* linear index */
    unsigned warp;         /* index in the block */
    char detail[200];      /* clause for the message: the allocation, the distance of the address from it, or the violated rule */
};
/** Returns the kind of access by the instruction at the fault's pc: "load", "store" or "atomic". */
const char *emu_fault_access(const struct emu_machine *machine, const struct emu_fault *fault);
/** Returns true if the fault is a full stack: there was no space for the frame of a called function. After such a fault, the
 *  values that the caller saved are lost. */
bool emu_fault_is_full_stack(const struct emu_machine *machine, const struct emu_fault *fault);
struct emu_allocation;
/** Gets the allocation that fault->detail names: the one with the address, or the nearest one. Returns false if the fault is not an
 *  access to global memory, or no allocation is near. */
bool emu_fault_allocation(const struct emu_machine *machine, const struct emu_fault *fault, struct emu_allocation *out);
/** Prints "fault: out-of-bounds global store of 4 bytes at 0x... ...": one line, no newline. */
void emu_fault_print(const struct emu_machine *machine, const struct emu_fault *fault,
                     struct lw_sink *out);

enum emu_hang_kind {
    EMU_HANG_NONE,
    EMU_HANG_DEADLOCK,      /* no warp is ready or sleeping, and no launch is pending that could make a warp ready */
    EMU_HANG_CONVERGENCE,   /* lanes wait at a convergence barrier for lanes that cannot reach the barrier */
    EMU_HANG_CTA_BARRIER,   /* lanes wait at a CTA barrier that some lanes never reach */
    EMU_HANG_LIVELOCK,      /* lanes repeat a cycle for ever */
    EMU_HANG_SIMT,          /* the running lanes wait for lanes of their own warp, and these lanes are below the top of the SIMT
                             * stack, where they wait to reconverge with the running lanes */
    EMU_HANG_VALUE          /* lanes repeat a cycle for ever because they wait for a value that no thread writes */
};
/** Returns "deadlock", "convergence", "cta-barrier", "livelock", "simt", "value", or "none". */
const char *emu_hang_name(enum emu_hang_kind kind);
struct emu_hang {
    enum emu_hang_kind kind;
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    uint64_t lanes, pc;
    /** The report. The first line of the report is a summary. Each further line of the report is about lanes that wait together,
     *  and states what they wait for: other lanes, with pcs and source lines; a barrier; or a memory location, with its value. */
    char detail[4000];
};
/** Prints "hang: ...", then the other lines indented; no newline at the end. */
void emu_hang_print(const struct emu_hang *hang, struct lw_sink *out);
/** Fills out->detail for a run that ends early without a hang. The first line is @why, a clause. Each further line names a
 *  location and the lanes that are there, as in a hang report. out->kind is EMU_HANG_NONE; the other members describe the first
 *  warp. */
void emu_machine_where(const struct emu_machine *machine, const char *why, struct emu_hang *out);
/** Prints where->detail: its first line, then the other lines indented; no newline at the end. */
void emu_where_print(const struct emu_hang *where, struct lw_sink *out);

#endif
