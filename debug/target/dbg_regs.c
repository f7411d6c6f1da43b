/* SPDX-License-Identifier: Apache-2.0 */
/* The register table: the registers that the program's kernels use, for the shell and for gdb's target description. */
#include "debug/debug_priv.h"

#include <stdio.h>

static bool add(struct dbg *dbg, const char *name, enum dbg_reg_kind kind, unsigned number,
                unsigned bytes, const char *group, bool writable)
{
    struct dbg_reg *reg;

    if (!lw_grow(&dbg->regs, &dbg->reg_capacity, dbg->reg_count + 1, sizeof *dbg->regs))
        return false;
    reg = &dbg->regs[dbg->reg_count++];
    memset(reg, 0, sizeof *reg);
    snprintf(reg->name, sizeof reg->name, "%s", name);
    reg->kind = kind;
    reg->number = number;
    reg->bytes = bytes;
    reg->group = group;
    reg->writable = writable;
    return true;
}

static bool add_many(struct dbg *dbg, const char *prefix, enum dbg_reg_kind kind,
                     unsigned count, unsigned bytes, const char *group, bool writable)
{
    for (unsigned i = 0; i < count; i++) {
        char name[16];

        snprintf(name, sizeof name, "%s%u", prefix, i);
        if (!add(dbg, name, kind, i, bytes, group, writable))
            return false;
    }
    return true;
}

enum lw_status dbg_regs_build(struct dbg *dbg, struct lw_error *err)
{
    static const struct {
        const char *name;
        enum dbg_reg_kind kind;
        unsigned bytes;
        bool writable;
    } state[] = {
        {"pc", DBG_REG_PC, 8, true},
        {"lane", DBG_REG_LANE, 4, true},
        {"exec", DBG_REG_EXEC, 8, true},
        {"active", DBG_REG_ACTIVE, 8, false},
        {"hit_lanes", DBG_REG_HIT_LANES, 8, false},
        {"warp", DBG_REG_WARP, 4, false},
        {"block", DBG_REG_BLOCK, 12, false},
        {"retired", DBG_REG_RETIRED, 8, false},
        {"fault_code", DBG_REG_FAULT_CODE, 4, false},
        {"fault_addr", DBG_REG_FAULT_ADDR, 8, false},
        {"fault_lanes", DBG_REG_FAULT_LANES, 8, false},
    };
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    const struct emu_program *program = dbg_program(dbg);
    unsigned vregs = 0, sregs = 0, bregs = 0;
    bool ok = true;

    for (size_t i = 0; i < LW_COUNT_OF(state); i++)
        ok = ok && add(dbg, state[i].name, state[i].kind, 0, state[i].bytes, "warp",
                       state[i].writable);
    if (dbg->engine->ops->cycles != NULL)
        ok = ok && add(dbg, "cycle", DBG_REG_CYCLE, 0, 8, "warp", false);
    if (program != NULL) {
        const struct isa_object *object = emu_program_object(program);

        for (unsigned i = 0; i < object->function_count; i++) {
            const struct isa_function *function = &object->functions[i];

            if (!function->kernel)
                continue;
            vregs = function->vreg_count > vregs ? function->vreg_count : vregs;
            sregs = function->sreg_count > sregs ? function->sreg_count : sregs;
            bregs = function->breg_count > bregs ? function->breg_count : bregs;
        }
    }
    ok = ok && add_many(dbg, "p", DBG_REG_PRED, ISA_PRED_COUNT, 8, "predicate", true) &&
         add_many(dbg, "sp", DBG_REG_SPRED, ISA_PRED_COUNT, 4, "predicate", true) &&
         add_many(dbg, "s", DBG_REG_SCALAR, sregs, 4, "scalar", true) &&
         add_many(dbg, "b", DBG_REG_BARRIER, bregs, 8, "warp", false);
    for (unsigned sr = 0; ok && sr < ISA_SR_COUNT; sr++) {
        const struct isa_special_info *info = isa_special_info((enum isa_special)sr);
        char name[16];

        snprintf(name, sizeof name, "%s", info->name);
        /* In an expression of gdb, a dot would be a member access. */
        for (char *c = name; *c != '\0'; c++)
            if (*c == '.')
                *c = '_';
        ok = add(dbg, name, DBG_REG_SPECIAL, sr, info->width / 8u, "special", false);
    }
    ok = ok && add_many(dbg, "v", DBG_REG_VECTOR, vregs, 4 * width, "vector", true) &&
         add(dbg, "lane_pcs", DBG_REG_LANE_PCS, 0, 8 * width, "warp", false);
    return ok ? LW_OK : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the register table");
}

unsigned dbg_reg_count(const struct dbg *dbg)
{
    return (unsigned)dbg->reg_count;
}

bool dbg_reg_at(const struct dbg *dbg, unsigned index, struct dbg_reg *out)
{
    if (index >= dbg->reg_count)
        return false;
    *out = dbg->regs[index];
    return true;
}

int dbg_reg_find(const struct dbg *dbg, const char *name)
{
    if (*name == '$' || *name == '%')
        name++;
    for (size_t i = 0; i < dbg->reg_count; i++) {
        const char *a = dbg->regs[i].name, *b = name;

        while (*a != '\0' && (*a == *b || (*a == '_' && *b == '.'))) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0')
            return (int)i;
    }
    return -1;
}

static enum emu_fault_kind fault_of(const struct dbg *dbg, dbg_thread_id id)
{
    return dbg->stop.kind == DBG_STOP_FAULT && dbg->stop.thread == id ? dbg->stop.fault.kind
                                                                      : EMU_FAULT_NONE;
}

uint64_t dbg_fault_address(const struct emu_fault *fault)
{
    uint64_t base = fault->space == ISA_SPACE_LOCAL    ? ISA_LOCAL_BASE
                    : fault->space == ISA_SPACE_SHARED ? ISA_SHARED_BASE
                                                       : 0;

    /* The address of a fault in local or shared memory is an offset of 32 bits. If its top bit is set, the offset is
     * negative: the access was below the start of that memory. */
    return fault->address < base ? base + (uint64_t)(int64_t)(int32_t)fault->address : fault->address;
}

static enum isa_reg_class reg_class_of(enum dbg_reg_kind kind)
{
    return kind == DBG_REG_VECTOR ? ISA_REG_V
           : kind == DBG_REG_PRED ? ISA_REG_P
           : kind == DBG_REG_SPRED ? ISA_REG_SP
                                   : ISA_REG_S;
}

enum lw_status dbg_reg_read(const struct dbg *dbg, dbg_thread_id id, unsigned index,
                            void *data, size_t capacity, struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    uint8_t *bytes = data;
    const struct dbg_reg *reg;
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;
    uint64_t value = 0;

    if (index >= dbg->reg_count)
        return LW_FAIL(err, LW_ERANGE, "there is no register number %u", index);
    reg = &dbg->regs[index];
    if (capacity < reg->bytes)
        return LW_FAIL(err, LW_ERANGE, "the buffer is too small for register %s, which needs %u bytes",
                       reg->name, reg->bytes);
    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_view(dbg, id, &warp, &view))
        return dbg_exited(dbg, id, err);
    memset(bytes, 0, reg->bytes);
    switch (reg->kind) {
    case DBG_REG_VECTOR:
        /* The table has the registers of the kernel that uses most registers. Registers that this kernel does not have read as
         * zero. */
        for (unsigned lane = 0; lane < width; lane++) {
            value = 0;
            (void)!emu_reg_read(DBG_AT(&warp), ISA_REG_V, reg->number, lane, &value);
            lw_put32(bytes + 4 * lane, (uint32_t)value);
        }
        return LW_OK;
    case DBG_REG_SCALAR:
    case DBG_REG_PRED:
    case DBG_REG_SPRED:
        (void)!emu_reg_read(DBG_AT(&warp), reg_class_of(reg->kind), reg->number, thread.lane, &value);
        break;
    case DBG_REG_SPECIAL:
        (void)!emu_special_read(DBG_AT(&warp), (enum isa_special)reg->number, thread.lane, &value);
        break;
    case DBG_REG_EXEC: value = view.exec; break;
    case DBG_REG_PC: value = thread.location.pc; break;
    case DBG_REG_LANE: value = thread.lane; break;
    case DBG_REG_ACTIVE: value = thread.active; break;
    case DBG_REG_HIT_LANES: value = dbg->stop.thread == id ? dbg->stop.hit_lanes : 0; break;
    case DBG_REG_WARP: value = warp.warp; break;
    case DBG_REG_BLOCK:
        for (unsigned i = 0; i < 3; i++)
            lw_put32(bytes + 4 * i, thread.block_index[i]);
        return LW_OK;
    case DBG_REG_RETIRED: value = view.retired; break;
    case DBG_REG_CYCLE: value = dbg->engine->ops->cycles(dbg->engine); break;
    case DBG_REG_FAULT_CODE: value = fault_of(dbg, id); break;
    case DBG_REG_FAULT_ADDR:
        value = fault_of(dbg, id) != EMU_FAULT_NONE ? dbg_fault_address(&dbg->stop.fault) : 0;
        break;
    case DBG_REG_FAULT_LANES: value = fault_of(dbg, id) != EMU_FAULT_NONE ? dbg->stop.fault.lanes : 0; break;
    case DBG_REG_BARRIER: value = emu_barrier_group(DBG_AT(&warp), reg->number, thread.lane, NULL); break;
    case DBG_REG_LANE_PCS:
        for (unsigned lane = 0; lane < width; lane++) {
            struct emu_split_view split = {0};

            if (emu_lane_where(DBG_AT(&warp), lane, &split))
                lw_put64(bytes + 8 * lane, split.pc);
        }
        return LW_OK;
    }
    memcpy(bytes, &value, reg->bytes < 8 ? reg->bytes : 8);
    return LW_OK;
}

enum lw_status dbg_pc_set(struct dbg *dbg, dbg_thread_id id, unsigned lane, bool alone, uint64_t pc,
                          struct lw_error *err)
{
    struct emu_split_view before, after;
    struct dbg_warp warp;
    enum lw_status status;

    if (!dbg_lane_locate(dbg, id, lane, &warp, &before))
        return dbg_exited(dbg, id, err);
    status = emu_pc_write(DBG_AT(&warp), lane, alone, pc, err);
    if (status != LW_OK || !emu_lane_where(DBG_AT(&warp), lane, &after))
        return status;
    dbg->pc_changed = true;
    dbg_reported_lanes_moved(dbg, id, after.lanes);
    if (after.lanes != before.lanes)
        dbg_message(dbg, "only the pc of lane %u was changed: the lane is now a split of its own; `jump` moves all lanes that run together", lane);
    return LW_OK;
}

enum lw_status dbg_reg_write(struct dbg *dbg, dbg_thread_id id, unsigned index,
                             const void *data, size_t size, struct lw_error *err)
{
    struct lw_error local;
    const struct dbg_reg *reg;
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;
    uint64_t value = 0;
    bool ok = true;

    if (err == NULL)
        err = &local;
    if (index >= dbg->reg_count)
        return LW_FAIL(err, LW_ERANGE, "there is no register number %u", index);
    reg = &dbg->regs[index];
    if (size != reg->bytes)
        return LW_FAIL(err, LW_ERANGE, "register %s has %u bytes, but %zu were given", reg->name,
                       reg->bytes, size);
    if (!reg->writable)
        return LW_FAIL(err, LW_EUSAGE, "register %s is read-only", reg->name);
    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_view(dbg, id, &warp, &view))
        return dbg_exited(dbg, id, err);
    memcpy(&value, data, size < 8 ? size : 8);
    if (view.split_count > 1 && (reg->kind == DBG_REG_SCALAR || reg->kind == DBG_REG_SPRED ||
                                 reg->kind == DBG_REG_EXEC))
        return LW_FAIL(err, LW_ESTATE,
                       "%s is shared by the whole warp, which has diverged into %u splits: write it after the lanes "
                       "reconverge", reg->name,
                       view.split_count);
    err->status = LW_OK;
    switch (reg->kind) {
    case DBG_REG_VECTOR:
        for (unsigned lane = 0; ok && 4 * lane < size; lane++)
            ok = emu_reg_write(DBG_AT(&warp), ISA_REG_V, reg->number, lane,
                               lw_get32((const uint8_t *)data + 4 * lane), err);
        break;
    case DBG_REG_EXEC:
        ok = emu_reg_write(DBG_AT(&warp), ISA_REG_S, ISA_S_EXEC, thread.lane, value, err);
        break;
    case DBG_REG_PC: return dbg_pc_set(dbg, id, thread.lane, true, value, err);
    case DBG_REG_LANE: return dbg_lane_set(dbg, id, (unsigned)value, err);
    default:
        ok = emu_reg_write(DBG_AT(&warp), reg_class_of(reg->kind), reg->number, thread.lane, value, err);
    }
    if (ok)
        return LW_OK;
    return err->status != LW_OK
               ? err->status
               : LW_FAIL(err, LW_ERANGE, "register %s cannot be written: this kernel does not have it",
                         reg->name);
}
