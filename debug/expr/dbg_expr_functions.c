/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in expressions: reductions over the active lanes of a split, the value in another lane, and sizeof. */
#include "debug/expr/dbg_expr_priv.h"

enum reduction { COUNT, ANY, ALL, BALLOT, SUM, MIN, MAX, REDUCTIONS };

static const char *const reductions[REDUCTIONS] = {"count", "any", "all", "ballot",
                                                   "sum",   "min", "max"};

static uint64_t active_lanes(struct dbg_expr *e)
{
    struct emu_split_view split;
    struct emu_warp_view view;

    if (e->dry || !dbg_expr_warp(e) ||
        !emu_warp_view(DBG_AT(&e->warp), &view) ||
        !emu_lane_where(DBG_AT(&e->warp), e->lane, &split))
        return 0;
    return split.lanes & view.exec;
}

static struct dbg_value accumulate(struct dbg_expr *e, enum reduction which,
                                   struct dbg_value sum, struct dbg_value value, bool first)
{
    static const enum dbg_type wide[] = {[DBG_U32] = DBG_U64, [DBG_S32] = DBG_S64,
                                         [DBG_U64] = DBG_U64, [DBG_S64] = DBG_S64,
                                         [DBG_F32] = DBG_F64, [DBG_F64] = DBG_F64};
    struct dbg_value less;

    if (which == SUM) {
        value = dbg_value_convert(&value, wide[value.type]);
        return first ? value : dbg_expr_compute(e, "+", sum, value);
    }
    if (first)
        return value;
    less = which == MIN ? dbg_expr_compute(e, "<", value, sum) : dbg_expr_compute(e, "<", sum, value);
    return dbg_value_true(&less) ? value : sum;
}

/* Evaluates a reduction such as any(x > 3). The text in brackets is parsed once for each active lane. */
static void reduce(struct dbg_expr *e, enum reduction which, struct dbg_operand *o)
{
    const char *start = e->at;
    uint64_t lanes = active_lanes(e), hits = 0;
    unsigned own = e->lane;
    bool was_dry = e->dry, first = true;
    struct dbg_value result = dbg_value_make(DBG_S32, 0);

    if (e->reducing) {
        dbg_expr_fail(e, LW_EUSAGE, "%s(...) cannot be inside another reduction over lanes",
                      reductions[which]);
        return;
    }
    e->reducing = true;
    if (lanes == 0) {
        e->dry = true;
        result = dbg_expr_value(e);
        e->dry = was_dry;
        if (which == SUM)
            result = accumulate(e, SUM, result, result, true);
        result = dbg_value_make(result.type, 0);
        if (!was_dry && (which == MIN || which == MAX))
            dbg_expr_fail(e, LW_ERANGE, "%s(...): no lanes are active at the current pc", reductions[which]);
    }
    for (uint64_t rest = lanes; rest != 0 && e->status == LW_OK; rest &= rest - 1) {
        struct dbg_value value;

        e->at = start;
        e->lane = lw_lowest(rest);
        value = dbg_expr_value(e);
        if (e->status != LW_OK)
            break;
        if (dbg_value_true(&value))
            hits |= UINT64_C(1) << e->lane;
        if (which >= SUM)
            result = accumulate(e, which, result, value, first);
        first = false;
    }
    e->lane = own;
    e->reducing = false;
    dbg_expr_close(e, ")");
    if (which < SUM)
        result = which == BALLOT ? dbg_value_make(DBG_U64, hits)
                                 : dbg_value_make(DBG_S32, which == COUNT ? lw_popcount(hits)
                                                           : which == ANY ? hits != 0
                                                                          : hits == lanes);
    dbg_expr_plain(o, result);
}

/* Evaluates at(LANE, EXPRESSION). */
static void in_lane(struct dbg_expr *e, struct dbg_operand *o)
{
    unsigned own = e->lane, width = emu_machine_config(e->dbg->machine)->warp_width;
    struct dbg_value lane = dbg_expr_value(e);

    if (!dbg_expr_take(e, ","))
        dbg_expr_fail(e, LW_EUSAGE, "at takes a lane and an expression, as in at(3, v0)");
    if (!e->dry && dbg_value_u64(&lane) >= width)
        dbg_expr_fail(e, LW_ERANGE, "lane %lld does not exist: a warp has lanes 0 to %u",
                      (long long)dbg_value_u64(&lane), width - 1);
    if (e->status != LW_OK)
        return;
    if (!e->dry)
        e->lane = (unsigned)dbg_value_u64(&lane);
    dbg_expr_plain(o, dbg_expr_value(e));
    e->lane = own;
    dbg_expr_close(e, ")");
}

/* Evaluates sizeof(TYPE) or sizeof(EXPRESSION). EXPRESSION is parsed in a dry run, which gives only its type. */
static void size_of(struct dbg_expr *e, struct dbg_operand *o)
{
    bool was_dry = e->dry;
    struct dbg_ctype type;
    struct dbg_operand of;
    const char *before = e->at;
    uint64_t bytes = 0;

    if (dbg_expr_take(e, "(") && dbg_type_parse(e, &type) && dbg_expr_take(e, ")")) {
        bytes = type.stars != 0       ? 8
                : type.debug != NULL ? isa_type_bytes(type.debug, type.type, 0)
                                     : type.own.bytes;
    } else {
        e->at = before;
        e->dry = true;
        dbg_expr_unary(e, &of);
        dbg_expr_single(e, &of);
        e->dry = was_dry;
        if (of.stars != 0)
            bytes = 8;
        else if (of.debug != NULL)
            bytes = isa_type_bytes(of.debug, of.type, of.skip);
        else if (of.kind == DBG_TARGET_MEMORY)
            bytes = of.bytes;
        else
            bytes = of.value.type == DBG_U64 || of.value.type == DBG_S64 ||
                            of.value.type == DBG_F64
                        ? 8
                        : 4;
    }
    dbg_expr_plain(o, dbg_value_make(DBG_U64, bytes));
}

bool dbg_function(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    if (strcmp(name, "sizeof") == 0) {
        size_of(e, o);
        return true;
    }
    for (unsigned i = 0; i < REDUCTIONS; i++)
        if (strcmp(name, reductions[i]) == 0 && dbg_expr_take(e, "(")) {
            reduce(e, (enum reduction)i, o);
            return true;
        }
    if (strcmp(name, "at") == 0 && dbg_expr_take(e, "(")) {
        in_lane(e, o);
        return true;
    }
    return dbg_work_item(e, name, o);
}
