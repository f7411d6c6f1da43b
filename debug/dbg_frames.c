/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a lane by the ABI (docs/abi.md): a call leaves the return address in v0:1, v2 is
 * the stack pointer into local memory, and a function that calls stores its return address
 * at [CFA - 8], CFA being v2 at its entry. How far a function has come is read from its own
 * instructions: what they do to v2, and whether they saved v0:1, on the way to the pc.
 *
 * What debuggers see is a stack of return addresses alone, 8 bytes a frame, in the stack
 * window: one rule (CFA = sp + 8, return address at [CFA - 8]) then holds at every pc of
 * every function, in prologues too, and frame ids do not move while a frame lives.
 */
#include "debug/debug_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    REG_RETURN = 0, /* v0:1 */
    REG_STACK = 2,
    MAX_FRAMES = 1024
};
#define STACK_TOP UINT64_C(0x10000000)

/** Where a frame stands: its pc and v2 there. */
struct cursor {
    const struct isa_function *function;
    uint64_t pc;
    uint32_t sp;
    bool innermost;
};

static const struct isa_insn *insn_at(const struct dbg *dbg, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);

    return program != NULL ? emu_program_insn(program, pc) : NULL;
}

/* What an instruction adds to v2; false when it writes v2 otherwise. */
static bool stack_change(const struct isa_insn *insn, int32_t *change)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, uses);
    bool writes = false;

    *change = 0;
    for (unsigned i = 0; i < count; i++)
        writes = writes || (uses[i].written && uses[i].reg_class == ISA_REG_V &&
                            uses[i].first <= REG_STACK &&
                            REG_STACK < uses[i].first + uses[i].count);
    if (!writes)
        return true;
    if (insn->xkind != ISA_X_IMM || insn->a != REG_STACK || insn->a_scalar ||
        (insn->op != ISA_V_ADD_U32 && insn->op != ISA_V_SUB_U32))
        return false;
    *change = insn->op == ISA_V_ADD_U32 ? (int32_t)insn->x : (int32_t)(0 - insn->x);
    return true;
}

static bool saves_return(const struct isa_insn *insn)
{
    return (insn->op == ISA_ST_LOCAL || insn->op == ISA_ST_GENERIC) &&
           isa_x_reg(insn->x) == REG_RETURN && isa_mem_bytes(insn) == 8;
}

static bool read_reg(const struct dbg_warp *warp, unsigned lane, unsigned number,
                     uint64_t *value)
{
    return emu_reg_read(warp->core, warp->slot, warp->warp, ISA_REG_V, number, lane, value);
}

static uint64_t load_return(const struct dbg_warp *warp, unsigned lane, uint32_t cfa)
{
    uint8_t raw[8] = {0};

    (void)!emu_mem_peek(warp->core, warp->slot, warp->warp, lane,
                        ISA_LOCAL_BASE + (uint32_t)(cfa - 8), raw, sizeof raw);
    return lw_get64(raw);
}

/** How the entry of a function and an instruction of it differ, along any way between. */
struct way {
    int32_t sum; /* added to v2 */
    bool known, saved; /* the return address is at [CFA - 8] */
};

/* Follow one edge; the first way that comes to an instruction counts: code of a compiler
 * has the same frame on all of them. */
static void follow(struct way *ways, uint32_t *work, uint32_t *count, uint32_t limit,
                   uint64_t to, const struct way *way)
{
    if (to >= limit || ways[to].known)
        return;
    ways[to] = *way;
    work[(*count)++] = (uint32_t)to;
}

/* What the function did before @pc. False: no way leads there, or memory is short. */
static bool way_to(const struct dbg *dbg, const struct isa_function *function, uint64_t pc,
                   struct way *out)
{
    uint64_t entry = dbg_function_pc(dbg, function);
    uint32_t want = (uint32_t)((pc - entry) / ISA_WORD_BYTES), count = 0;
    struct way *ways = calloc(function->count, sizeof *ways);
    uint32_t *work = calloc(function->count, sizeof *work);
    bool found = false;

    if (ways != NULL && work != NULL && want < function->count) {
        struct way start = {.known = true};

        follow(ways, work, &count, function->count, 0, &start);
        while (count != 0 && !ways[want].known) {
            uint32_t at = work[--count];
            const struct isa_insn *insn =
                insn_at(dbg, entry + (uint64_t)at * ISA_WORD_BYTES);
            struct way way = ways[at];
            int32_t change;
            int64_t target;

            if (insn == NULL || !stack_change(insn, &change))
                continue;
            way.sum += change;
            way.saved = way.saved || saves_return(insn);
            if (isa_insn_jumps(insn, at, &target))
                follow(ways, work, &count, function->count, (uint64_t)target, &way);
            if (!isa_insn_ends(insn))
                follow(ways, work, &count, function->count, (uint64_t)at + 1, &way);
        }
        found = ways[want].known;
        *out = ways[want];
    }
    free(ways);
    free(work);
    return found;
}

/* CFA and return address of a function that is not a kernel. */
static bool unwind(const struct dbg *dbg, const struct dbg_warp *warp, unsigned lane,
                   const struct cursor *at, uint32_t *cfa, uint64_t *ra)
{
    uint64_t low = 0, high = 0;
    struct way way;

    if (!way_to(dbg, at->function, at->pc, &way))
        return false;
    *cfa = at->sp - (uint32_t)way.sum;
    if (way.saved || !at->innermost) {
        *ra = load_return(warp, lane, *cfa);
        return true;
    }
    if (!read_reg(warp, lane, REG_RETURN, &low) ||
        !read_reg(warp, lane, REG_RETURN + 1, &high))
        return false;
    *ra = low | high << 32;
    return true;
}

/* pcs of the lane's frames, innermost first, and their CFAs in local memory (@cfas may be NULL; a
 * kernel's is 0); the count, at most @room are filled. Ends at the kernel, or where a return address leads nowhere. */
static unsigned collect(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t *pcs,
                        uint32_t *cfas, unsigned room)
{
    struct emu_split_view split;
    struct dbg_warp warp;
    struct cursor at = {.innermost = true};
    uint64_t sp = 0;
    unsigned count = 0;

    if (!dbg_warp_locate(dbg, id, &warp) ||
        !emu_lane_where(warp.core, warp.slot, warp.warp, lane, &split))
        return 0;
    (void)!read_reg(&warp, lane, REG_STACK, &sp);
    at.pc = split.pc;
    at.sp = (uint32_t)sp;
    while (count < room) {
        uint32_t cfa;
        uint64_t ra;

        if (cfas != NULL)
            cfas[count] = 0;
        pcs[count++] = at.pc;
        at.function = dbg_function_at(dbg, at.pc);
        if (at.function == NULL || at.function->kernel ||
            !unwind(dbg, &warp, lane, &at, &cfa, &ra) || dbg_function_at(dbg, ra) == NULL)
            break;
        if (cfas != NULL)
            cfas[count - 1] = cfa;
        at.pc = ra;
        at.sp = cfa;
        at.innermost = false;
    }
    return count;
}

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

uint64_t dbg_stack_pointer(const struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    uint64_t pcs[MAX_FRAMES];
    unsigned count = collect(dbg, id, lane, pcs, NULL, MAX_FRAMES);
    struct dbg_warp warp;

    if (count == 0 || !dbg_warp_locate(dbg, id, &warp))
        return 0;
    return window(dbg, &warp, lane, STACK_TOP - 8 * (uint64_t)count);
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
        /* Slot d, counted from the top, is at the bottom of frame d's 8 bytes; the kernel's is 0. */
        slot = (STACK_TOP - 1 - at) / 8;
        if (slot >= count || (slot == 0 && frames))
            continue;
        value = frames      ? ISA_LOCAL_BASE + cfas[count - slot - 1]
                : slot == 0 ? DBG_LAUNCH_PC
                            : pcs[count - slot];
        data[i] = (uint8_t)(value >> 8 * (at % 8));
    }
}

/* ---- frames as users count them ------------------------------------------------------- */

bool dbg_place_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_place *out)
{
    struct dbg_inlined inlined[16];
    uint64_t pcs[MAX_FRAMES];
    unsigned count = collect(dbg, id, lane, pcs, NULL, MAX_FRAMES);

    for (unsigned i = 0; i < count; i++) {
        const struct isa_function *function = dbg_function_at(dbg, pcs[i]);
        const struct emu_program *program;
        unsigned calls;

        memset(out, 0, sizeof *out);
        out->pc = i == 0 ? pcs[0] : pcs[i] - ISA_WORD_BYTES; /* the call, not what is behind it */
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

/* The lane's pc and its warp's count: they tell that it has not moved. */
static bool stands(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t *pc,
                   uint64_t *retired)
{
    struct emu_split_view split;
    struct emu_warp_view view;
    struct dbg_warp warp;

    if (!dbg_warp_locate(dbg, id, &warp) ||
        !emu_lane_where(warp.core, warp.slot, warp.warp, lane, &split) ||
        !emu_warp_view(warp.core, warp.slot, warp.warp, &view))
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
    struct dbg_place place;
    unsigned count = 0;

    while (dbg_place_at(dbg, id, lane, count, &place))
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
