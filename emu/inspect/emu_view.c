/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of emu_state_view.h by which debuggers and tests read and edit the state of blocks and warps. */
#include <stdio.h>

#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/simt/emu_split_priv.h"
#include "emu/core/emu_core_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/tags/emu_compact_priv.h"

bool emu_block_view(const struct emu_core *core, unsigned slot, struct emu_block_view *out)
{
    const struct emu_block *block = emu_core_block(core, slot);

    if (block == NULL)
        return false;
    memset(out, 0, sizeof *out);
    out->grid = block->grid;
    out->block = block->linear;
    memcpy(out->index, block->index, sizeof out->index);
    out->warp_count = block->warp_count;
    out->shared_bytes = block->shared_bytes;
    out->local_bytes = block->warp[0].local_bytes;
    out->retired = block->retired;
    out->ended = block->warps_live == 0;
    return true;
}

bool emu_warp_view(const struct emu_core *core, unsigned slot, unsigned warp,
                   struct emu_warp_view *out)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);

    if (w == NULL)
        return false;
    memset(out, 0, sizeof *out);
    out->launched = w->launched;
    out->live = w->live;
    out->exec = emu_exec_mask(w) & w->all;
    out->split_count = w->split_count;
    out->vreg_count = w->vreg_count;
    out->sreg_count = ISA_SREG_COUNT;
    out->breg_count = w->breg_count;
    out->retired = w->retired;
    return true;
}

static uint32_t *vector(const struct emu_warp *w, unsigned number)
{
    return emu_row(w, (EMU_ROW_V0 + number) * w->stride);
}

bool emu_reg_read(const struct emu_core *core, unsigned slot, unsigned warp,
                  enum isa_reg_class reg_class, unsigned number, unsigned lane,
                  uint64_t *value)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);

    if (w == NULL || lane >= w->width)
        return false;
    switch (reg_class) {
    case ISA_REG_V:
        if (number >= w->vreg_count)
            return false;
        *value = w->ctag != NULL ? emu_compact_lane(w, EMU_ROW_V0 + number, lane)
                                 : vector(w, number)[lane];
        return true;
    case ISA_REG_S:
        if (number > 127)
            return false;
        *value = w->s[number];
        return true;
    case ISA_REG_P:
        if (number > ISA_PT)
            return false;
        *value = w->p[number] & w->all;
        return true;
    case ISA_REG_SP:
        if (number > ISA_PT)
            return false;
        *value = w->sp[number];
        return true;
    case ISA_REG_B:
        if (number >= w->breg_count)
            return false;
        *value = emu_breg_number(w, number, lane);
        return true;
    }
    return false;
}

bool emu_reg_tag(const struct emu_core *core, unsigned slot, unsigned warp, unsigned number,
                 struct emu_tag *out)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);

    if (w == NULL || number >= w->vreg_count)
        return false;
    *out = emu_tag_of(w, number);
    return true;
}

/** Records an edit of @lane's state in the schedule log. */
static void note(const struct emu_warp *w, enum emu_log_kind kind, unsigned lane,
                 unsigned which, uint64_t number, uint64_t value)
{
    if (emu_log_is_recording(w->core->machine))
        emu_log_add(w->core->machine->log,
                    &(struct emu_log_entry){.kind = kind,
                                            .place = {.grid = w->block->grid->sequence,
                                                      .block = w->block->linear,
                                                      .warp = w->index,
                                                      .split = lane},
                                            .which = which,
                                            .address = number,
                                            .value = value});
}

static bool reg_write(struct emu_core *core, unsigned slot, unsigned warp,
                      enum isa_reg_class reg_class, unsigned number, unsigned lane,
                      uint64_t value, struct lw_error *err)
{
    struct emu_warp *w = emu_warp_at(core, slot, warp);
    uint64_t old;

    if (!emu_reg_read(core, slot, warp, reg_class, number, lane, &old)) {
        (void)LW_FAIL(err, LW_ERANGE, "there is no register of this number");
        return false;
    }
    w->block->formed_by = 0; /* the next block in this slot must not reuse the slot's initialised registers, because the edit may
                              * have changed registers that the program never writes */
    memset(w->proved, 0, sizeof w->proved);
    switch (reg_class) {
    case ISA_REG_V:
        emu_shadow_forget(w, number);
        if (w->ctag != NULL)
            emu_compact_vector(w, EMU_ROW_V0 + number);
        vector(w, number)[lane] = (uint32_t)value;
        return true;
    case ISA_REG_S:
        if (w->split_count > 1) {
            (void)LW_FAIL(err, LW_ESTATE,
                          "scalar registers and exec cannot be changed while the warp has diverged");
            return false;
        }
        w->s[number] = (uint32_t)value;
        if (number >= ISA_S_EXEC && w->running >= 0)
            emu_warp_set_lanes(w, w->m);
        return true;
    case ISA_REG_P:
        if (number == ISA_PT)
            break;
        w->p[number] = value & w->all;
        return true;
    case ISA_REG_SP:
        if (number == ISA_PT)
            break;
        w->sp[number] = value != 0;
        return true;
    case ISA_REG_B:
        break;
    }
    (void)LW_FAIL(err, LW_ERANGE, "this register is read-only");
    return false;
}

bool emu_reg_write(struct emu_core *core, unsigned slot, unsigned warp,
                   enum isa_reg_class reg_class, unsigned number, unsigned lane,
                   uint64_t value, struct lw_error *err)
{
    if (!reg_write(core, slot, warp, reg_class, number, lane, value, err))
        return false;
    note(emu_warp_at(core, slot, warp), EMU_LOG_REGISTER, lane, reg_class, number, value);
    return true;
}

bool emu_special_read(const struct emu_core *core, unsigned slot, unsigned warp,
                      enum isa_special sr, unsigned lane, uint64_t *value)
{
    const struct emu_warp *w = emu_warp_at(core, slot, warp);
    uint32_t low[EMU_MAX_LANES], high[EMU_MAX_LANES];

    if (w == NULL || lane >= w->width || (unsigned)sr >= ISA_SR_COUNT)
        return false;
    /* gets the value that an instruction of this lane would read, even if other lanes of the warp run at present */
    if (sr == ISA_SR_ACTIVEMASK) {
        *value = 0;
        for (LW_EACH_BIT(id, w->split_ids))
            if (w->split[id].lanes >> lane & 1)
                *value = (uint32_t)((w->split[id].lanes & emu_exec_mask(w)) >> (lane & 32));
        return true;
    }
    emu_special_rows(w, sr, low, high);
    *value = (uint64_t)high[lane] << 32 | low[lane];
    return true;
}

/** Makes a lane of split @id a separate split, which does not get the time slice. */
static enum lw_status fork_lane(struct emu_warp *w, unsigned *id, unsigned lane, struct lw_error *err)
{
    unsigned rest;

    if (w->reconv->lockstep)
        return LW_FAIL(err, LW_EUNSUPP, "the %s engine runs the lanes of a split together, so the pc of lane %u alone "
                                        "cannot be changed: `jump` moves all lanes of the split",
                                        w->reconv->name, lane);
    if ((emu_exec_mask(w) & w->live) != w->live)
        return LW_FAIL(err, LW_ESTATE, "exec does not cover all live lanes, so the pc of lane %u alone cannot be "
                                       "changed: `jump` moves all lanes of the split", lane);
    if ((int)*id == w->running) {
        uint32_t at = emu_split_pc(w, *id);
        split_end_slice(w)->pc = at;
    }
    *id = emu_split_part(w, *id, UINT64_C(1) << lane, &rest);
    w->split[*id].seq = ++w->seq_counter;
    return LW_OK;
}

enum lw_status emu_pc_write(struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                            bool alone, uint64_t pc, struct lw_error *err)
{
    struct emu_warp *w = emu_warp_at(core, slot, warp);

    if (w == NULL || lane >= w->width || !(w->live >> lane & 1))
        return LW_FAIL(err, LW_ERANGE, "lane %u is not live", lane);
    uint64_t offset = pc - w->code->program->base;
    if (offset % ISA_WORD_BYTES != 0 || offset / ISA_WORD_BYTES >= w->code->program->count)
        return LW_FAIL(err, LW_ERANGE, "0x%llx is not the address of an instruction",
                       (unsigned long long)pc);
    const struct isa_function *to =
        isa_object_function_at(w->code->program->object, (uint32_t)(offset / ISA_WORD_BYTES));
    for (LW_EACH_BIT(at, w->split_ids)) {
        unsigned id = (unsigned)at;
        struct emu_split *s = &w->split[id];
        if (!(s->lanes >> lane & 1))
            continue;
        const struct isa_function *from = isa_object_function_at(
            w->code->program->object, emu_split_pc(w, id));
        if (from != to)
            return LW_FAIL(err, LW_ERANGE, "cannot jump to another function: the target must be in the current function");
        if (s->state != EMU_SPLIT_READY)
            return LW_FAIL(err, LW_ESTATE, "the pc of a waiting lane cannot be changed; the lane's state is: %s",
                           emu_split_state_name((enum emu_split_state)s->state));
        alone = alone && s->lanes != UINT64_C(1) << lane && emu_split_pc(w, id) != offset / ISA_WORD_BYTES;
        if (alone) {
            enum lw_status status = fork_lane(w, &id, lane, err);
            if (status != LW_OK)
                return status;
            s = &w->split[id];
        }
        memset(w->proved, 0, sizeof w->proved);
        if (w->ctag != NULL) /* The tag plan does not cover a control flow with this jump, so all tags are dropped. */
            emu_compact_forget(w);
        if ((int)id == w->running)
            w->di = &w->code->insn[offset / ISA_WORD_BYTES];
        s->pc = (uint32_t)(offset / ISA_WORD_BYTES);
        s->flags &= (uint8_t)~EMU_SPLIT_SYNCED;
        if (w->running == (int)id && w->reconv->reach != NULL)
            (void)w->reconv->reach(w);
        note(w, EMU_LOG_PC, lane, 0, 0, pc | alone); /* bit 0 is free for `alone`, because addresses of instructions are even */
        if (w->core->machine->active_hooks != NULL)
            w->core->machine->active_hooks->on_pc_edited(w->core->machine->active_hooks);
        return LW_OK;
    }
    return LW_FAIL(err, LW_ERANGE, "lane %u is not live", lane);
}

uint64_t emu_core_progress(const struct emu_core *core, unsigned slot)
{
    return emu_core_block(core, slot)->progress;
}

bool emu_core_can_run(const struct emu_core *core, unsigned slot)
{
    return emu_block_can_run(emu_core_block(core, slot));
}
