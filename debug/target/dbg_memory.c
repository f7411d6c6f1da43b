/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory as a debugger sees it: generic addresses of the machine, as one lane sees them, and debug address ranges. The top
 * byte of an address in a debug address range is 0xF0 to 0xFC:
 *
 *   F0 | 4*r                        vector register r of the lane
 *   F1 | 256*r + 4*lane             vector register r of any lane
 *   F2 | 4*n                        scalar register n
 *   F3 | 8*n, 64+8*n, 128, 136, 144, 152, 256+8*sr
 *                                   p0.. and sp0.., exec, active, pc, live, special registers
 *   F4 | warp<<40 | lane<<32 | off  call stack of a lane: return addresses
 *   F5 | 0, 16, 32, 48, 64, 68, 72  threadIdx, blockIdx, blockDim, gridDim, laneid, warpid,
 *                                   clock64 of the lane; 80 warpSize, 84 work_dim, 96 global_id,
 *                                   112 global_size, 128 global_offset
 *   F6 | slot<<32 | off             shared memory of a resident block
 *   F7 | warp<<40 | lane<<32 | off  local memory of any lane
 *   F8 | warp<<40 | lane<<32 | 4*r  vector register r of any lane of any warp; from 0x1000 on
 *                                   4*n, its scalar register n
 *   F9 | bank<<32 | off             constant bank
 *   FA | warp<<40 | lane<<32 | off  as F4, with the CFA of each frame in local memory instead of the return address:
 *                                   locations of variables are relative to this CFA
 *   FB | warp<<40 | lane<<32 | off  as F5, of any lane of any warp
 *   FC | warp<<40 | lane<<32 | location<<9 | byte
 *                                   a variable in several pieces, or a computed one (dbg_value_window.c)
 *
 * warp: number of the slot in which a warp is resident; the engine numbers the slots of all cores. slot: number of the
 * slot of a block, as the table `info os blocks` shows it. off: offset in bytes. An address of F0 to F3 or F5 contains no
 * lane: it shows the focus lane or its warp.
 */
#include "debug/debug_priv.h"

enum { WINDOW_FIRST = 0xF0, WINDOW_LAST = 0xFC };

struct view {
    struct dbg *dbg;
    dbg_thread_id id;
    struct dbg_warp warp;
    unsigned lane;
};

enum { NO_SLOT = 0xffff }; /* number for a warp without a slot; the slot number has 16 bits in an address */

static struct emu_thread_ref thread_of(const struct dbg_warp *warp)
{
    return (struct emu_thread_ref){.grid = warp->grid->sequence, .block = warp->block,
                              .warp = warp->warp};
}

/* Finds the warp or block (@kind) in slot @number. Returns false if the slot is empty or does not exist. */
static bool engine_slot(const struct dbg *dbg, enum emu_slot_kind kind, uint64_t number,
                        struct dbg_warp *out)
{
    const struct emu_engine_ops *ops = dbg->engine->ops;
    struct emu_block_view block;
    struct emu_thread_ref location;

    if (number > UINT32_MAX || !ops->slot_at(dbg->engine, kind, (unsigned)number, &location) ||
        !ops->locate(dbg->engine, location.grid, location.block, &out->core, &out->slot) ||
        !emu_block_view(out->core, out->slot, &block))
        return false;
    out->grid = block.grid;
    out->block = block.block;
    out->warp = location.warp;
    return true;
}

unsigned dbg_warp_slot(const struct dbg *dbg, const struct dbg_warp *warp)
{
    struct emu_thread_ref location = thread_of(warp);
    unsigned number;

    return dbg->engine->ops->slot_of(dbg->engine, EMU_SLOT_WARP, &location, &number) && number < NO_SLOT
               ? number
               : NO_SLOT;
}

bool dbg_warp_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *out)
{
    return number != NO_SLOT && engine_slot(dbg, EMU_SLOT_WARP, number, out);
}

unsigned dbg_block_slot(const struct dbg *dbg, const struct dbg_warp *warp)
{
    struct emu_thread_ref location = thread_of(warp);
    unsigned number;

    return dbg->engine->ops->slot_of(dbg->engine, EMU_SLOT_BLOCK, &location, &number) ? number : warp->slot;
}

bool dbg_block_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *warp)
{
    return engine_slot(dbg, EMU_SLOT_BLOCK, number, warp);
}

unsigned dbg_window_scalar(uint32_t offset)
{
    enum { FIRST_SCALAR = 0x1000 };

    return offset < FIRST_SCALAR ? UINT32_MAX : (offset - FIRST_SCALAR) / 4;
}

static bool special(const struct view *v, enum isa_special sr, uint64_t *value)
{
    return emu_special_read(DBG_AT(&v->warp), sr, v->lane, value);
}

/* ---- debug address ranges that show registers ---------------------------------------- */

struct register_ref {
    struct dbg_warp warp;
    enum isa_reg_class of;
    uint64_t number;
    unsigned lane;
};

/* Finds the register that a word of the ranges F0, F1, F2 and F8 shows. Returns false if the word shows no register. */
static bool register_at(const struct view *v, unsigned window, uint64_t offset, struct register_ref *out)
{
    *out = (struct register_ref){v->warp, ISA_REG_V, offset / 4, v->lane};
    switch (window) {
    case 0xF0: break;
    case 0xF1:
        out->number = offset / 256;
        out->lane = (unsigned)(offset % 256 / 4);
        break;
    case 0xF2:
        out->of = ISA_REG_S;
        out->lane = 0;
        break;
    case 0xF8:
        if (!dbg_warp_by_slot(v->dbg, offset >> 40 & 0xffff, &out->warp))
            return false;
        out->number = dbg_window_scalar((uint32_t)offset);
        out->of = out->number < ISA_SREG_COUNT ? ISA_REG_S : ISA_REG_V;
        out->lane = out->of == ISA_REG_S ? 0 : (unsigned)(offset >> 32 & 0xff);
        if (out->of == ISA_REG_V)
            out->number = (offset & UINT32_MAX) / 4;
        break;
    default: return false;
    }
    return out->number < (out->of == ISA_REG_S ? ISA_SREG_COUNT : ISA_VREG_COUNT);
}

/* Reads an aligned word of the ranges that show registers. A word that shows no register reads as zero. */
static uint32_t word_read(const struct view *v, unsigned window, uint64_t offset)
{
    struct emu_split_view split = {0};
    struct emu_warp_view warp = {0};
    struct register_ref reg;
    struct view other = *v;
    uint64_t value = 0, index = offset / 8;

    if (register_at(v, window, offset, &reg)) {
        (void)!emu_reg_read(DBG_AT(&reg.warp), reg.of, (unsigned)reg.number, reg.lane, &value);
        return (uint32_t)value;
    }
    switch (window) {
    case 0xF3:
        (void)!emu_warp_view(DBG_AT(&v->warp), &warp);
        (void)!emu_lane_where(DBG_AT(&v->warp), v->lane, &split);
        if (index < ISA_PRED_COUNT)
            (void)!emu_reg_read(DBG_AT(&v->warp), ISA_REG_P, (unsigned)index, v->lane, &value);
        else if (index >= 8 && index < 8 + ISA_PRED_COUNT)
            (void)!emu_reg_read(DBG_AT(&v->warp), ISA_REG_SP, (unsigned)index - 8, v->lane, &value);
        else if (index == 16)
            value = warp.exec;
        else if (index == 17)
            value = split.lanes & warp.exec;
        else if (index == 18)
            value = split.pc;
        else if (index == 19)
            value = warp.live;
        else if (index >= 32 && index < 32 + ISA_SR_COUNT)
            (void)!special(v, (enum isa_special)(index - 32), &value);
        if (offset % 8 == 4)
            value >>= 32;
        break;
    case 0xF5: value = emu_builtin_read(DBG_AT(&v->warp), v->lane, offset); break;
    case 0xFB:
        other.lane = (unsigned)(offset >> 32 & 0xff);
        if (dbg_warp_by_slot(v->dbg, offset >> 40 & 0xffff, &other.warp) &&
            other.lane < emu_machine_config(v->dbg->machine)->warp_width)
            value = emu_builtin_read(DBG_AT(&other.warp), other.lane, offset & UINT32_MAX);
        break;
    default: break;
    }
    return (uint32_t)value;
}

static bool whole_warp(const struct dbg_warp *of)
{
    struct emu_warp_view warp;

    return emu_warp_view(DBG_AT(of), &warp) && warp.split_count == 1;
}

/* Writes an aligned word of the ranges that show registers. Returns false if the word cannot be written. */
static bool word_write(const struct view *v, unsigned window, uint64_t offset, uint32_t word)
{
    const unsigned index = (unsigned)(offset / 8 < 64 ? offset / 8 : 64), shift = offset % 8 == 4 ? 32 : 0;
    const uint64_t kept = ~((uint64_t)UINT32_MAX << shift), put = (uint64_t)word << shift;
    struct emu_warp_view warp;
    struct register_ref reg;
    uint64_t value = 0;

    if (register_at(v, window, offset, &reg))
        return (reg.of == ISA_REG_V || whole_warp(&reg.warp)) &&
               emu_reg_write(DBG_AT(&reg.warp), reg.of, (unsigned)reg.number, reg.lane, word, NULL);
    if (window != 0xF3)
        return false;
    if (index < ISA_PRED_COUNT) {
        (void)!emu_reg_read(DBG_AT(&v->warp), ISA_REG_P, index, v->lane, &value);
        return emu_reg_write(DBG_AT(&v->warp), ISA_REG_P, index, v->lane, (value & kept) | put, NULL);
    }
    if (index >= 8 && index < 8 + ISA_PRED_COUNT)
        return shift != 0 || (whole_warp(&v->warp) &&
                              emu_reg_write(DBG_AT(&v->warp), ISA_REG_SP, index - 8, v->lane, word, NULL));
    return index == 16 && whole_warp(&v->warp) && emu_warp_view(DBG_AT(&v->warp), &warp) &&
           emu_reg_write(DBG_AT(&v->warp), ISA_REG_S, ISA_S_EXEC, v->lane, (warp.exec & kept) | put, NULL);
}

static uint64_t words_access(const struct view *v, unsigned window, uint64_t offset,
                             uint8_t *data, uint64_t size, bool write)
{
    for (uint64_t done = 0; done < size;) {
        uint64_t at = offset + done, in = at % 4, count = 4 - in;
        uint8_t bytes[4];

        if (count > size - done)
            count = size - done;
        lw_put32(bytes, word_read(v, window, at - in));
        if (write) {
            memcpy(bytes + in, data + done, count);
            if (!word_write(v, window, at - in, lw_get32(bytes)))
                return done;
        } else {
            memcpy(data + done, bytes + in, count);
        }
        done += count;
    }
    return size;
}

/* ---- debug address ranges that show memory ----------------------------------------------- */

static uint64_t memory_access(const struct dbg_warp *warp, unsigned lane, uint64_t address,
                              void *data, uint64_t size, bool write, bool fill)
{
    uint64_t done = write ? emu_mem_poke(DBG_AT(warp), lane, address, data, size)
                          : emu_mem_peek(DBG_AT(warp), lane, address, data, size);

    /* gdb reads more bytes than it needs. In a debug address range, bytes without memory therefore read as zeros. */
    if (!write && fill) {
        memset((uint8_t *)data + done, 0, size - done);
        return size;
    }
    return done;
}

/* Access to unmapped addresses of a debug address range: reads give zeros, writes change nothing and return 0. */
static uint64_t nothing(void *data, uint64_t size, bool write)
{
    if (write)
        return 0;
    memset(data, 0, size);
    return size;
}

static uint64_t lane_access(const struct view *v, uint64_t offset, void *data, uint64_t size,
                            bool write)
{
    unsigned lane = (unsigned)(offset >> 32 & 0xff);
    struct dbg_warp warp;

    if (!dbg_warp_by_slot(v->dbg, offset >> 40 & 0xffff, &warp) ||
        lane >= emu_machine_config(v->dbg->machine)->warp_width)
        return nothing(data, size, write);
    return memory_access(&warp, lane, ISA_LOCAL_BASE + (offset & UINT32_MAX), data, size,
                         write, true);
}

static uint64_t stack_access(const struct view *v, bool frames, uint64_t offset, void *data,
                             uint64_t size, bool write)
{
    struct dbg_warp warp;

    if (write)
        return 0;
    memset(data, 0, size);
    if (dbg_warp_by_slot(v->dbg, offset >> 40 & 0xffff, &warp))
        dbg_stack_read(v->dbg,
                       dbg_thread_id_of(v->dbg, warp.grid->sequence, warp.block, warp.warp),
                       (unsigned)(offset >> 32 & 0xff), offset & UINT32_MAX, frames, data, size);
    return size;
}

static uint64_t shared_access(const struct view *v, uint64_t offset, void *data,
                              uint64_t size, bool write)
{
    struct dbg_warp warp = v->warp;

    if (!dbg_block_by_slot(v->dbg, offset >> 32 & 0xffffff, &warp))
        return nothing(data, size, write);
    return memory_access(&warp, 0, ISA_SHARED_BASE + (offset & UINT32_MAX), data, size, write,
                         true);
}

static uint64_t bank_access(const struct view *v, uint64_t offset, void *data, uint64_t size,
                            bool write)
{
    uint64_t bank = offset >> 32 & 0xffffff;

    if (write || bank >= ISA_CONST_BANK_COUNT)
        return nothing(data, size, write);
    return memory_access(&v->warp, v->lane,
                         ISA_CONST_BASE + bank * ISA_CONST_STRIDE + (offset & UINT32_MAX),
                         data, size, false, true);
}

/* Reads or writes global memory when no warp is resident, for example after the last one has ended. */
static uint64_t global_access(const struct dbg *dbg, uint64_t address, void *data,
                              uint64_t size, bool write)
{
    struct emu_allocation allocation;
    enum lw_status status;
    bool inside;

    if (!emu_allocation_at(dbg->machine, address, &allocation, &inside) || !inside ||
        (allocation.flags & EMU_ALLOC_FREED) != 0)
        return 0;
    if (size > allocation.address + allocation.size_bytes - address)
        size = allocation.address + allocation.size_bytes - address;
    status = write ? emu_global_write(dbg->machine, address, data, size, NULL)
                   : emu_global_read(dbg->machine, address, data, size, NULL);
    return status == LW_OK ? size : 0;
}

uint64_t dbg_mem_access(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                        void *data, uint64_t size_bytes, bool write)
{
    unsigned window = (unsigned)(address >> 56);
    uint64_t offset = address & lw_mask(56);
    struct view v = {.dbg = dbg, .id = id, .lane = lane};

    if (size_bytes == 0)
        return 0;
    if (!dbg_warp_locate(dbg, id, &v.warp))
        return global_access(dbg, address, data, size_bytes, write);
    if (window < WINDOW_FIRST)
        return memory_access(&v.warp, lane, address, data, size_bytes, write, false);
    if (window > WINDOW_LAST)
        return 0;
    if (size_bytes > lw_mask(56) - offset)
        size_bytes = lw_mask(56) - offset + 1;
    switch (window) {
    case 0xF4:
    case 0xFA: return stack_access(&v, window == 0xFA, offset, data, size_bytes, write);
    case 0xF7: return lane_access(&v, offset, data, size_bytes, write);
    case 0xF6: return shared_access(&v, offset, data, size_bytes, write);
    case 0xF9: return bank_access(&v, offset, data, size_bytes, write);
    case 0xFC: return dbg_value_access(dbg, address, data, size_bytes, write);
    default: return words_access(&v, window, offset, data, size_bytes, write);
    }
}

uint64_t dbg_mem_read(struct dbg *dbg, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size_bytes)
{
    return dbg_mem_access(dbg, id, dbg_lane_get(dbg, id), address, data, size_bytes, false);
}

uint64_t dbg_mem_write(struct dbg *dbg, dbg_thread_id id, uint64_t address, const void *data,
                       uint64_t size_bytes)
{
    /* For a write, dbg_mem_access() does not modify @data. The cast is therefore safe. */
    return dbg_mem_access(dbg, id, dbg_lane_get(dbg, id), address, (void *)(uintptr_t)data,
                          size_bytes, true);
}

const char *dbg_mem_refusal(struct dbg *dbg, uint64_t address)
{
    if (address >> 56 == 0xFC)
        return dbg_value_is_missing(dbg, address) ? "the variable has no value here"
                                                  : "this is the value of a variable that the compiler has optimised out, and the "
                                                    "debugger computes it from other values";
    if (address >> 56 == 0xF9 || (address >= ISA_CONST_BASE && address < ISA_GLOBAL_BASE))
        return "parameters and constants are read-only after the launch";
    return address >> 56 >= WINDOW_FIRST ? "this part of the debug address range is read-only, or does not exist"
                                         : "the memory does not exist here";
}
