/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the frames of a lane by the rules of the ABI (emu_frame_caller()).
 *
 * gdb does not see this stack. In a debug address range gdb sees a stack that contains only return addresses, 8 bytes for each
 * frame. One rule (CFA = sp + 8, return address at [CFA - 8]) is then true at every pc of every function, even in a prologue,
 * and the id of a frame does not change while the frame exists.
 */
#include "debug/debug_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_FRAMES = 1024 };
#define STACK_TOP UINT64_C(0x10000000)

/* Gets the pcs of the lane's frames, innermost first, and the frames' CFAs in local memory. @cfas may be NULL; the CFA of a
 * kernel is 0. Returns the number of frames, at most @capacity. The last frame is the kernel's, or one whose return address
 * is in no function. */
static unsigned collect(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t *pcs,
                        uint32_t *cfas, unsigned capacity)
{
    struct emu_split_view split;
    struct dbg_warp warp;
    struct emu_frame at;
    unsigned count = 0;

    if (!dbg_lane_locate(dbg, id, lane, &warp, &split))
        return 0;
    at = emu_frame_first(DBG_AT(&warp), lane, split.pc);
    while (count < capacity) {
        struct emu_frame caller;

        if (cfas != NULL)
            cfas[count] = 0;
        pcs[count++] = at.innermost ? at.pc : at.pc + ISA_WORD_BYTES;
        if (!emu_frame_caller(DBG_AT(&warp), lane, &at, &caller) || dbg_function_at(dbg, caller.pc) == NULL)
            break;
        if (cfas != NULL)
            cfas[count - 1] = caller.sp;
        at = caller;
    }
    return count;
}

/* Returns the address at @offset of a lane's stack in debug address range 0xF4. */
static uint64_t window(const struct dbg *dbg, const struct dbg_warp *warp, unsigned lane,
                       uint64_t offset)
{
    return UINT64_C(0xF4) << 56 | (uint64_t)dbg_warp_slot(dbg, warp) << 40 |
           (uint64_t)lane << 32 | offset;
}

bool dbg_frame_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame *out)
{
    uint64_t pcs[MAX_FRAMES];
    unsigned count = collect(dbg, id, lane, pcs, NULL, MAX_FRAMES);
    struct dbg_warp warp;

    if (index >= count || !dbg_warp_locate(dbg, id, &warp))
        return false;
    out->pc = pcs[index];
    out->cfa = window(dbg, &warp, lane, STACK_TOP - 8 * (uint64_t)(count - 1 - index));
    out->function = dbg_function_at(dbg, pcs[index]);
    out->entry = out->function != NULL ? dbg_function_pc(dbg, out->function) : 0;
    return true;
}

void dbg_stack_read(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t offset,
                    bool frames, uint8_t *data, uint64_t size)
{
    uint64_t pcs[MAX_FRAMES];
    uint32_t cfas[MAX_FRAMES];
    unsigned count = collect(dbg, id, lane, pcs, cfas, MAX_FRAMES);

    for (uint64_t i = 0; i < size; i++) {
        uint64_t at = offset + i, slot, value;

        data[i] = 0;
        if (at >= STACK_TOP)
            continue;
        /* Each frame occupies 8 bytes of this range, its slot. Slot 0 is the kernel's and ends at STACK_TOP. The slot of a
         * called function is directly below the slot of its caller. */
        slot = (STACK_TOP - 1 - at) / 8;
        if (slot >= count || (slot == 0 && frames))
            continue;
        value = frames      ? ISA_LOCAL_BASE + cfas[count - slot - 1]
                : slot == 0 ? DBG_LAUNCH_PC
                            : pcs[count - slot];
        data[i] = (uint8_t)(value >> 8 * (at % 8));
    }
}

/* ---- frames of a backtrace: inlined calls are frames, too ------------------------------- */

bool dbg_frame_location_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame_location *out)
{
    struct dbg_inlined inlined[16];
    uint64_t pcs[MAX_FRAMES];
    unsigned count = collect(dbg, id, lane, pcs, NULL, MAX_FRAMES);

    for (unsigned i = 0; i < count; i++) {
        const struct isa_function *function = dbg_function_at(dbg, pcs[i]);
        const struct emu_program *program;
        unsigned calls;

        memset(out, 0, sizeof *out);
        out->pc = i == 0 ? pcs[0] : pcs[i] - ISA_WORD_BYTES; /* the pc of a caller is that of its call instruction */
        out->frame = i;
        out->inner = -1;
        calls = dbg_inlined_at(dbg, out->pc, inlined, LW_COUNT_OF(inlined));
        if (index > calls) {
            index -= calls + 1;
            continue;
        }
        out->inlined = index < calls;
        out->call = index < calls ? inlined[index].die : -1;
        if (index < calls)
            snprintf(out->name, sizeof out->name, "%s",
                     inlined[index].name != NULL ? inlined[index].name : "");
        else if (function != NULL)
            dbg_function_short_name(dbg, function, out->name, sizeof out->name);
        program = emu_machine_program_at(dbg->machine, out->pc);
        if (index == 0) {
            (void)!dbg_source_at(dbg, out->pc, &out->file, &out->line);
        } else if (program != NULL) {
            const struct isa_object *object = emu_program_object(program);

            out->inner = inlined[index - 1].die;
            out->line = inlined[index - 1].line;
            if (out->line != 0 && inlined[index - 1].file < object->file_count)
                out->file = object->files[inlined[index - 1].file];
        }
        return true;
    }
    return false;
}

/* Gets the lane's pc and the instruction count of its warp. Returns false if the lane has exited or is not resident. If
 * both are unchanged later, the lane has not moved. */
static bool stands(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t *pc,
                   uint64_t *retired)
{
    struct emu_split_view split;
    struct emu_warp_view view;
    struct dbg_warp warp;

    if (!dbg_lane_locate(dbg, id, lane, &warp, &split) ||
        !emu_warp_view(DBG_AT(&warp), &view))
        return false;
    *pc = split.pc;
    *retired = view.retired;
    return true;
}

unsigned dbg_frame_number(const struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    uint64_t pc, retired;

    if (dbg->frame.index == 0 || dbg->frame.id != id || dbg->frame.lane != lane ||
        !stands(dbg, id, lane, &pc, &retired) || pc != dbg->frame.pc ||
        retired != dbg->frame.retired)
        return 0;
    return dbg->frame.index;
}

unsigned dbg_frame_count(struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    struct dbg_frame_location location;
    unsigned count = 0;

    while (dbg_frame_location_at(dbg, id, lane, count, &location))
        count++;
    return count;
}

bool dbg_frame_shown(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned *index)
{
    unsigned focus, from, to;

    *index = 0;
    if (dbg->frame.index == 0 || dbg->frame.id != id)
        return true;
    focus = dbg_lane_get(dbg, id);
    *index = dbg->frame.lane == focus ? dbg_frame_number(dbg, id, focus) : 0;
    if (*index == 0 || lane == focus)
        return true;
    from = dbg_frame_count(dbg, id, focus);
    to = dbg_frame_count(dbg, id, lane);
    if (from - *index > to)
        return false;
    *index = to - (from - *index);
    return true;
}

void dbg_frame_choose(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index)
{
    dbg->frame.id = id;
    dbg->frame.lane = lane;
    dbg->frame.index = index;
    if (!stands(dbg, id, lane, &dbg->frame.pc, &dbg->frame.retired))
        dbg->frame.index = 0;
}
