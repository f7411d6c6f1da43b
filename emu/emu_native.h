/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native code of kernels, as emu sees it: somebody above emu translates a kernel into host code (native/), emu runs
 * it in place of its handlers where nobody observes the difference. Native code executes whole warps: all lanes of the
 * warp are live, active and in one split. It works on the warp's registers and on the machine's memory through a
 * frame, and leaves at any instruction, which the interpreter then executes.
 */
#ifndef EMU_NATIVE_H
#define EMU_NATIVE_H

#include "isa/isa.h"

struct emu_machine;

/** Global memory that an instruction's scattered lanes accessed last: [low, low + bytes), from the arena's start;
 *  bytes 0: none. */
struct emu_native_window {
    uint64_t low, bytes;
};

/** What native code of a warp reads and writes. */
struct emu_native_frame {
    char *regs;              /* register file: vector register r at (first_row + r) * stride */
    uint32_t *s;             /* s0.. */
    uint64_t *p;             /* p0..p6: lane masks */
    uint8_t *sp;             /* sp0..sp6: 0 or 1 */
    const uint32_t *special; /* special registers of the block, from ISA_SR_NTID_X on */
    const char *bank0;       /* constant bank 0 */
    uint8_t *global;         /* host address of ISA_GLOBAL_BASE */
    uint64_t global_bytes;
    const uint16_t *load_valid, *store_valid; /* [page] bytes usable from the start of the page */
    const uint8_t *dirty;    /* [page] EMU_NATIVE_DIRTY: stores need no mark */
    uint8_t *shared;
    uint64_t shared_bytes;
    struct emu_native_window *window; /* [windows of the kernel] */
    uint64_t limit;          /* instructions after which the code leaves, at the next loop head */
    /* Results. */
    uint64_t retired;        /* warp instructions executed */
    uint64_t loads, stores;  /* of these, loads and stores that emu_native_execute() has not counted */
    uint32_t next;           /* index of the instruction to execute next */
    void *warp;              /* for the functions below */
};
enum { EMU_NATIVE_PAGE = 4096, EMU_NATIVE_DIRTY = 3 };

/** Functions that native code calls. They return false if the instruction would fault or is not simple: native code
 *  then leaves before it, with nothing changed. */

/** Executes instruction @index, which is not a control instruction, by its handlers on the warp's registers. */
bool emu_native_execute(struct emu_native_frame *frame, uint32_t index);
/** Tests that [offset, offset + bytes) of the arena may be loaded or stored, and marks the pages of a store. */
bool emu_native_reach(struct emu_native_frame *frame, uint64_t offset, uint64_t bytes, bool write);
/** Sets window @slot to the allocation that contains @offset. */
bool emu_native_find(struct emu_native_frame *frame, uint32_t slot, uint64_t offset);
/** Execute bssy and bsync of the warp's one split; @retired: instructions of the frame before this one. */
void emu_native_bssy(struct emu_native_frame *frame, uint32_t reg);
bool emu_native_bsync(struct emu_native_frame *frame, uint32_t reg, uint64_t retired);

/** What native code of a kernel is for. */
struct emu_native_request {
    const struct isa_object *object;
    const struct isa_insn *insn; /* [insn_count], of the program */
    uint32_t insn_count;
    const struct isa_function *kernel;
    unsigned width;
    uint32_t block[3];           /* threads of a block in each dimension */
    uint32_t stride, first_row;  /* register file */
    unsigned vregs;              /* vector registers that the kernel's warps have */
};

/** Native code of a kernel for one block shape. */
struct emu_native_kernel {
    /** Executes the warp from entry @entry on until it leaves. */
    void (*run)(struct emu_native_frame *frame, uint32_t entry);
    const uint16_t *entry;  /* [count]: 1 + number of the entry at instruction first + i, 0: none */
    uint32_t first, count;
    uint32_t windows, entries;
};

/** Translates kernels. */
struct emu_native {
    /** Returns the code for @request, which belongs to the translator and stays valid; NULL: there is none. */
    const struct emu_native_kernel *(*kernel)(struct emu_native *native, const struct emu_native_request *request);
};

/** Lets the machine's functional engine use native code. NULL: the interpreter executes everything. @native is
 *  borrowed. */
void emu_machine_set_native(struct emu_machine *machine, struct emu_native *native);
/** Returns the instructions that native code has executed, for statistics and tests. */
uint64_t emu_machine_native_instructions(const struct emu_machine *machine);

#endif
