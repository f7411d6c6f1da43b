/* SPDX-License-Identifier: Apache-2.0 */
/* Guest faults as values: a faulting warp leaves its handler chain, and w->fault describes the cause. */
#include "emu/memory/emu_mem_priv.h"

#include <stdarg.h>
#include <stdio.h>

static struct emu_fault *fault_begin(struct emu_warp *w, const struct emu_dinsn *di,
                                     enum emu_fault_kind kind, uint64_t lanes)
{
    struct emu_fault *fault = &w->fault;

    memset(fault, 0, sizeof *fault);
    fault->kind = kind;
    fault->lanes = lanes;
    fault->pc = w->code->program->base + (uint64_t)di->index * ISA_WORD_BYTES;
    fault->grid = w->block->grid->sequence;
    fault->block = w->block->linear;
    fault->warp = w->index;
    if (w->run_start <= di)
        emu_count_before(w, di);
    emu_leave(w, EMU_LEAVE_FAULT, di);
    return fault;
}

void emu_raise(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
               uint64_t lanes, const char *fmt, ...)
{
    struct emu_fault *fault = fault_begin(w, di, kind, lanes);
    va_list args;

    va_start(args, fmt);
    vsnprintf(fault->detail, sizeof fault->detail, fmt, args);
    va_end(args);
}

void emu_raise_memory(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
                      uint64_t lanes, enum isa_space space, uint64_t address, unsigned bytes,
                      bool write)
{
    struct emu_fault *fault = fault_begin(w, di, kind, lanes);

    fault->space = space;
    fault->address = address;
    fault->bytes = (uint8_t)bytes;
    fault->write = write;
    emu_describe_address(w, kind, space, address, bytes, write, fault->detail,
                         sizeof fault->detail);
}
