/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Z0 and Z1: breakpoints, with conditions as agent expressions. debug/ calls the condition
 * once per active lane with that lane in focus, so memory windows and registers answer
 * for it and the focus is right before the stop reply leaves.
 */
#include "gdbstub/rsp_priv.h"

#include <stdlib.h>

struct expression {
    struct expression *next;
    size_t size;
    uint8_t code[];
};

struct condition {
    struct rsp *rsp;
    struct expression *first;
};

static void condition_release(void *context)
{
    struct condition *condition = context;

    if (condition == NULL)
        return;
    while (condition->first != NULL) {
        struct expression *next = condition->first->next;

        free(condition->first);
        condition->first = next;
    }
    free(condition);
}

struct lane_view {
    struct rsp *rsp;
    dbg_thread_id id;
};

static bool lane_reg(void *context, unsigned number, uint64_t *value)
{
    struct lane_view *view = context;
    const struct rsp_target *target = &view->rsp->target;
    uint8_t data[RSP_REG_BYTES] = {0};

    if (number >= target->count || target->regs[number].bytes > 8 ||
        rsp_reg_read(target, view->rsp->dbg, view->id, number, data, NULL) != LW_OK)
        return false;
    *value = lw_get64(data);
    return true;
}

static bool lane_memory(void *context, uint64_t address, void *data, unsigned bytes)
{
    struct lane_view *view = context;

    return rsp_mem_read(view->rsp, view->id, address, data, bytes) == bytes;
}

/* Several expressions are several gdb breakpoints at one place: any true one stops. */
static bool condition_true(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    static const struct rsp_agent_ops ops = {.reg = lane_reg, .memory = lane_memory};
    const struct condition *condition = context;
    struct lane_view view = {.rsp = condition->rsp, .id = id};

    (void)dbg; /* the connection's, with the lane in focus already */
    if (lane != 0 && !rsp_has(condition->rsp, RSP_F_COND_LANES))
        return false;
    for (const struct expression *e = condition->first; e != NULL; e = e->next) {
        uint64_t value = 0;

        /* What cannot be evaluated here stops: gdb asks again on the host. */
        if (!rsp_agent_eval(e->code, e->size, &ops, &view, &value) || value != 0)
            return true;
    }
    return false;
}

/* ";X10,25f0..X.." into *@out, NULL when there is none. False: malformed. gdb 13 writes one
 * semicolon before the first of several expressions, its manual one before each: both do. */
static bool condition_parse(struct rsp *rsp, const char *text, size_t size,
                            struct condition **out)
{
    const char *p = text, *end = text + size;
    struct condition *condition = NULL;

    while (p < end && (*p == ';' || (*p == 'X' && condition != NULL))) {
        struct expression *e;
        uint64_t bytes;

        p += *p == ';';
        if (p == end || *p != 'X' || !rsp_has(rsp, RSP_F_CONDITIONS))
            goto malformed; /* "cmds:" was not offered */
        p++;
        if (!rsp_hex_number(&p, end, &bytes) || p == end || *p++ != ',' || bytes == 0 ||
            bytes > (uint64_t)(end - p) / 2)
            goto malformed;
        if (condition == NULL) {
            condition = calloc(1, sizeof *condition);
            if (condition == NULL)
                goto malformed;
            condition->rsp = rsp;
        }
        e = malloc(sizeof *e + bytes);
        if (e == NULL)
            goto malformed;
        e->size = (size_t)bytes;
        e->next = condition->first;
        condition->first = e;
        if (!rsp_hex_decode(p, e->size * 2, e->code))
            goto malformed;
        p += e->size * 2;
    }
    if (p != end)
        goto malformed;
    *out = condition;
    return true;
malformed:
    condition_release(condition);
    return false;
}

const struct rsp_point *rsp_point_find(const struct rsp *rsp, unsigned id)
{
    for (size_t i = 0; i < rsp->point_count; i++)
        if (rsp->points[i].id == id)
            return &rsp->points[i];
    return NULL;
}

static bool point_drop(struct rsp *rsp, uint64_t pc, unsigned type, struct lw_error *err)
{
    for (size_t i = 0; i < rsp->point_count; i++) {
        struct rsp_point *point = &rsp->points[i];

        if (point->pc != pc || point->type != type)
            continue;
        /* Gone already when `monitor` removed it. */
        if (dbg_point_remove(rsp->dbg, point->id, err) != LW_OK && err != NULL)
            err->text[0] = '\0';
        *point = rsp->points[--rsp->point_count];
        return true;
    }
    return false;
}

void rsp_do_point_add(struct rsp *rsp, const struct rsp_args *args, unsigned type)
{
    struct condition *condition = NULL;
    struct lw_error err = {0};
    struct rsp_point point = {.pc = args->n[0], .type = type};

    if (rsp->point_count == RSP_MAX_POINTS ||
        !condition_parse(rsp, args->rest, args->rest_size, &condition)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    /* gdb sends Z again, without z, when only the condition changed. */
    point_drop(rsp, point.pc, type, &err);
    if (!lw_grow(&rsp->points, &rsp->point_capacity, rsp->point_count + 1,
                 sizeof *rsp->points) ||
        dbg_point_add(rsp->dbg, DBG_OWNER_GDB, point.pc, NULL, false, &point.id, &err) !=
            LW_OK) {
        condition_release(condition);
        rsp_put_error(&rsp->reply, err.text);
        return;
    }
    if (condition != NULL && dbg_point_set_condition(rsp->dbg, point.id, condition_true,
                                                     condition, condition_release,
                                                     &err) != LW_OK) {
        struct lw_error ignored;
        enum lw_status status = dbg_point_remove(rsp->dbg, point.id, &ignored);

        (void)status;
        condition_release(condition);
        rsp_put_error(&rsp->reply, err.text);
        return;
    }
    rsp->points[rsp->point_count++] = point;
    lw_put(&rsp->reply.sink, "OK");
}

void rsp_do_point_remove(struct rsp *rsp, const struct rsp_args *args, unsigned type)
{
    struct lw_error err;

    /* Removing what is not there is fine: after an error gdb removes all it knows. */
    point_drop(rsp, args->n[0], type, &err);
    lw_put(&rsp->reply.sink, "OK");
}

void rsp_points_clear(struct rsp *rsp)
{
    struct lw_error err;

    for (size_t i = 0; i < rsp->point_count; i++) {
        enum lw_status status = dbg_point_remove(rsp->dbg, rsp->points[i].id, &err);

        (void)status; /* gone already when `monitor` removed it */
    }
    rsp->point_count = 0;
}
