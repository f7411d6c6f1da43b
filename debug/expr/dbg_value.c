/* SPDX-License-Identifier: Apache-2.0 */
/* Values of expressions: converts them by the rules of C, with a defined result where C has none, and prints them. */
#include "debug/expr/dbg_expr_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct dbg_value dbg_value_make(enum dbg_type type, uint64_t bits)
{
    struct dbg_value value = {type, bits};

    if (type == DBG_U32 || type == DBG_S32 || type == DBG_F32)
        value.bits &= UINT32_MAX;
    return value;
}

struct dbg_value dbg_value_f32(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return dbg_value_make(DBG_F32, bits);
}

struct dbg_value dbg_value_f64(double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    return dbg_value_make(DBG_F64, bits);
}

bool dbg_value_is_float(const struct dbg_value *value)
{
    return value->type == DBG_F32 || value->type == DBG_F64;
}

double dbg_value_double(const struct dbg_value *value)
{
    uint32_t low = (uint32_t)value->bits;
    float f;
    double d;

    switch (value->type) {
    case DBG_U32: return (double)low;
    case DBG_S32: return (double)(int32_t)low;
    case DBG_U64: return (double)value->bits;
    case DBG_S64: return (double)(int64_t)value->bits;
    case DBG_F32:
        memcpy(&f, &low, sizeof f);
        return (double)f;
    case DBG_F64:
        memcpy(&d, &value->bits, sizeof d);
        return d;
    }
    return 0;
}

uint64_t dbg_value_u64(const struct dbg_value *value)
{
    if (dbg_value_is_float(value)) {
        double d = dbg_value_double(value);

        if (isnan(d))
            return 0;
        if (d < 0)
            return d <= -0x1p63 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)d;
        return d >= 0x1p64 ? UINT64_MAX : (uint64_t)d;
    }
    if (value->type == DBG_S32)
        return (uint64_t)(int64_t)(int32_t)(uint32_t)value->bits;
    return value->bits;
}

struct dbg_value dbg_value_convert(const struct dbg_value *value, enum dbg_type type)
{
    if (type == DBG_F32)
        return dbg_value_f32((float)dbg_value_double(value));
    if (type == DBG_F64)
        return dbg_value_f64(dbg_value_double(value));
    return dbg_value_make(type, dbg_value_u64(value));
}

bool dbg_value_true(const struct dbg_value *value)
{
    return dbg_value_is_float(value) ? dbg_value_double(value) != 0 : value->bits != 0;
}

/* ---- printing ------------------------------------------------------------------------- */

void dbg_value_print(const struct dbg_value *value, char format, struct lw_sink *out)
{
    bool wide = value->type == DBG_U64 || value->type == DBG_S64 || value->type == DBG_F64;
    uint64_t bits = value->bits;
    int64_t as_signed = wide ? (int64_t)bits : (int64_t)(int32_t)(uint32_t)bits;
    struct dbg_value view = *value;

    switch (format) {
    case 'x':
    case 'a': lw_printf(out, "0x%llx", (unsigned long long)bits); return;
    case 'z': lw_printf(out, "0x%0*llx", wide ? 16 : 8, (unsigned long long)bits); return;
    case 'u': lw_printf(out, "%llu", (unsigned long long)bits); return;
    case 'd': lw_printf(out, "%lld", (long long)as_signed); return;
    case 'o': lw_printf(out, "0%llo", (unsigned long long)bits); return;
    case 'c':
        isa_char_print(as_signed, out);
        return;
    case 't': {
        unsigned top = bits != 0 ? 63u - (unsigned)__builtin_clzll(bits) : 0;

        for (unsigned i = top + 1; i-- > 0;)
            lw_put(out, bits >> i & 1 ? "1" : "0");
        return;
    }
    case 'f': view.type = wide ? DBG_F64 : DBG_F32; break;
    default: break;
    }
    isa_scalar_print((enum isa_scalar)view.type, bits, out);
}

/** Table of the values of a warp's lanes: one cell of text for each lane. */
struct cells {
    unsigned width, longest; /* number of lanes; length of the longest cell */
    bool colour;
    uint64_t dim; /* mask of the inactive or exited lanes, which are dimmed */
    struct lw_buffer text[EMU_MAX_LANES];
};

static const char *cell_text(const struct cells *c, unsigned lane)
{
    return c->text[lane].text != NULL ? c->text[lane].text : "";
}

static void put_cell(const struct cells *c, unsigned lane, int columns, struct lw_sink *out)
{
    bool dim = c->colour && (c->dim >> lane & 1) != 0;

    lw_printf(out, " %s%*s%s", dim ? "\033[2m" : "", columns, cell_text(c, lane), dim ? "\033[0m" : "");
}

static void put_table(const struct cells *c, struct lw_sink *out)
{
    for (unsigned lane = 0; lane < c->width; lane++) {
        if (lane % 8 == 0)
            lw_printf(out, "%s%3u:", lane != 0 ? "\n" : "", lane);
        put_cell(c, lane, (int)c->longest, out);
    }
    lw_put(out, "\n");
}

static bool same_cell(const struct cells *c, unsigned a, unsigned b)
{
    return strcmp(cell_text(c, a), cell_text(c, b)) == 0 && (c->dim >> a & 1) == (c->dim >> b & 1);
}

/* Returns true if the cells are too long for a table with eight lanes on a line: in this case put_runs() prints them. */
static bool are_long(const struct cells *c)
{
    unsigned runs = 1;
    bool nested = false;

    for (unsigned lane = 1; lane < c->width; lane++) {
        runs += !same_cell(c, lane - 1, lane);
        nested |= strchr(cell_text(c, lane), '{') != NULL;
    }
    return c->longest > 20 || (c->longest > 10 && (nested || runs < 4));
}

/* Prints cells that are long, such as structures. Consecutive lanes with equal cells have one line. */
static void put_runs(const struct cells *c, struct lw_sink *out)
{
    for (unsigned first = 0, end; first < c->width; first = end) {
        char name[32];

        for (end = first + 1; end < c->width && same_cell(c, first, end); end++)
            ;
        if (end - first == 1)
            snprintf(name, sizeof name, "%u", first);
        else
            snprintf(name, sizeof name, "%u-%u", first, end - 1);
        lw_printf(out, "%5s:", name);
        put_cell(c, first, 0, out);
        lw_put(out, "\n");
    }
}

enum lw_status dbg_print_lanes(struct dbg *dbg, dbg_thread_id id, const char *text,
                               bool colour, struct lw_sink *out, struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width, without = width;
    enum lw_status status = LW_OK;
    struct lw_error why = {0};
    bool some = false; /* at least one lane has a value */
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;
    struct cells c = {.width = width, .longest = 1, .colour = colour};
    char format = 0;

    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_view(dbg, id, &warp, &view))
        return dbg_exited(dbg, id, err);
    if (text[0] == '/' && text[1] != '\0') {
        format = text[1];
        text += 2 + strspn(text + 2, " ");
    }
    c.dim = ~thread.active;
    for (unsigned lane = 0; lane < width; lane++)
        lw_buffer_init(&c.text[lane]);
    for (unsigned lane = 0; lane < width; lane++) {
        /* Without colour, the values of inactive lanes are printed in parentheses. */
        bool marked = (c.dim >> lane & 1) != 0 && !colour;
        struct lw_sink *cell = &c.text[lane].sink;
        struct dbg_value value;
        struct lw_error error = {0};
        enum lw_status got = LW_OK;

        if ((view.live >> lane & 1) == 0) {
            lw_put(cell, "-");
            continue;
        }
        lw_put(cell, marked ? "(" : "");
        if (!dbg_print_source(dbg, id, lane, text, format, true, cell)) {
            got = dbg_eval(dbg, id, lane, text, &value, &error);
            if (got == LW_OK)
                dbg_value_print(&value, format, cell);
            else
                lw_put(cell, "?");
        }
        lw_put(cell, marked ? ")" : "");
        /* A lane that is in another function may not have the variable: "?" is its value, and one such lane's error is
         * printed. */
        if (got != LW_OK && (without == width || lane == thread.lane)) {
            status = got;
            without = lane;
            why = error;
        }
        some |= got == LW_OK;
        if (c.text[lane].size > c.longest)
            c.longest = (unsigned)c.text[lane].size;
    }
    if (some)
        status = LW_OK;
    else if (status != LW_OK && err != NULL)
        *err = why;
    if (status == LW_OK)
        (are_long(&c) ? put_runs : put_table)(&c, out);
    if (status == LW_OK && without != width)
        lw_printf(out, "  ? lane %u: %s\n", without, why.text);
    for (unsigned lane = 0; lane < width; lane++)
        lw_buffer_fini(&c.text[lane]);
    return status;
}
