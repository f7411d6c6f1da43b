/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments: write the value of an expression to a register, to memory, or to pc, lane or exec. */
#include "debug/expr/dbg_expr_priv.h"

static void store_register(struct dbg_expr *e, const struct dbg_operand *o, uint64_t bits)
{
    struct emu_warp_view view;
    enum isa_reg_class reg_class = o->kind == DBG_TARGET_V    ? ISA_REG_V
                                   : o->kind == DBG_TARGET_P  ? ISA_REG_P
                                   : o->kind == DBG_TARGET_SP ? ISA_REG_SP
                                                              : ISA_REG_S;

    if (!dbg_expr_warp(e))
        return;
    if (o->kind != DBG_TARGET_V && o->kind != DBG_TARGET_P &&
        emu_warp_view(DBG_AT(&e->warp), &view) &&
        view.split_count > 1) {
        dbg_expr_fail(
            e, LW_ESTATE,
            "scalar registers and exec are shared by the whole warp, which has diverged into %u splits: write them "
            "after the lanes reconverge",
            view.split_count);
        return;
    }
    if (o->kind == DBG_TARGET_P) {
        uint64_t mask = 0;

        (void)!emu_reg_read(DBG_AT(&e->warp), ISA_REG_P, o->number, 0, &mask);
        mask &= ~(UINT64_C(1) << o->lane);
        bits = mask | (uint64_t)(bits != 0) << o->lane;
    }
    if (!emu_reg_write(
            DBG_AT(&e->warp), reg_class, o->number, o->lane,
            o->kind == DBG_TARGET_P || o->kind == DBG_TARGET_EXEC ? bits : bits & UINT32_MAX,
            e->err) ||
        (o->pair && !emu_reg_write(DBG_AT(&e->warp), reg_class, o->number + 1, o->lane, bits >> 32, e->err)))
        e->status = e->err != NULL && e->err->status != LW_OK ? e->err->status : LW_ERANGE;
}

enum lw_status dbg_assign(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_error *err)
{
    struct lw_error local;
    struct dbg_operand target;
    struct dbg_value value;
    uint64_t bits;
    struct dbg_expr e;

    if (err == NULL)
        err = &local;
    err->status = LW_OK;
    dbg_expr_init(&e, dbg, id, lane, text, err);
    dbg_expr_unary(&e, &target);
    if (e.status == LW_OK && (!dbg_expr_take(&e, "=") || *e.at == '='))
        dbg_expr_fail(&e, LW_EUSAGE, "\"%s\" is not an assignment: write TARGET = EXPRESSION",
                      text);
    if (e.status == LW_OK && target.kind == DBG_TARGET_NONE)
        dbg_expr_fail(
            &e, LW_EUSAGE,
            "cannot assign to the left side: it must be a variable, a register, pc, lane, exec or memory, as in "
            "u32[ADDRESS]");
    value = dbg_expr_value(&e);
    dbg_expr_end(&e);
    if (e.status != LW_OK)
        return e.status;
    if (dbg_value_is_float(&value) && !dbg_value_is_float(&target.value) && !target.typed &&
        target.kind <= DBG_TARGET_S && target.kind >= DBG_TARGET_V) {
        dbg_expr_fail(&e, LW_EUSAGE,
                      "a register has no type: to assign a float, write %s = ...",
                      target.pair ? "v2:3.f64" : "v2.f32");
        return e.status;
    }
    value = dbg_value_convert(&value, target.value.type);
    bits = value.bits;
    switch (target.kind) {
    case DBG_TARGET_MEMORY: {
        uint8_t raw[8];
        uint64_t done = 0;

        lw_put64(raw, bits);
        done = dbg_mem_access(dbg, id, lane, target.address, raw, target.bytes, true);
        if (e.status == LW_OK && done != target.bytes)
            dbg_expr_fail(&e, LW_ERANGE, "cannot write %u byte%s at 0x%llx: %s", target.bytes, target.bytes == 1 ? "" : "s",
                          (unsigned long long)target.address, dbg_mem_refusal(dbg, target.address));
        break;
    }
    case DBG_TARGET_PC:
        if (dbg_expr_warp(&e))
            e.status = dbg_pc_set(dbg, id, lane, true, bits, err);
        break;
    case DBG_TARGET_LANE:
        e.status = bits < EMU_MAX_LANES ? dbg_lane_set(dbg, id, (unsigned)bits, err)
                                        : LW_FAIL(err, LW_ERANGE, "lane %llu does not exist",
                                                  (unsigned long long)bits);
        break;
    case DBG_TARGET_EXEC:
        target.number = ISA_S_EXEC;
        target.pair = false;
        store_register(&e, &target, bits);
        break;
    default:
        store_register(&e, &target, bits);
    }
    return e.status;
}
