/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: a recursive descent over the text, evaluated for one lane as it is read.
 * A dry run reads no state and checks names and syntax; the side of && || ?: that is not
 * taken is read dry too.
 */
#include "debug/debug_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64, MAX_NAME = 64 };

/* What an assignment may write to. */
enum target_kind {
    TARGET_NONE, TARGET_V, TARGET_S, TARGET_P, TARGET_SP, TARGET_EXEC, TARGET_PC,
    TARGET_LANE, TARGET_MEMORY
};
struct operand {
    struct dbg_value value;
    enum target_kind kind;
    unsigned number, lane;
    bool pair, typed;
    uint64_t address;
    unsigned bytes;
};

struct expr {
    struct dbg *dbg;
    dbg_thread_id id;
    unsigned lane, depth;
    const char *text, *at;
    bool dry;       /* read no state */
    bool have_warp; /* warp is located */
    struct dbg_warp warp;
    enum lw_status status;
    struct lw_error *err;
};

static struct dbg_value make(enum dbg_type type, uint64_t bits)
{
    struct dbg_value value = {type, bits};

    if (type == DBG_U32 || type == DBG_S32 || type == DBG_F32)
        value.bits &= UINT32_MAX;
    return value;
}

static struct dbg_value make_f32(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return make(DBG_F32, bits);
}

static struct dbg_value make_f64(double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    return make(DBG_F64, bits);
}

static bool is_float(const struct dbg_value *value)
{
    return value->type == DBG_F32 || value->type == DBG_F64;
}

static double as_double(const struct dbg_value *value)
{
    uint32_t low = (uint32_t)value->bits;
    float f;
    double d;

    switch (value->type) {
    case DBG_U32:
        return (double)low;
    case DBG_S32:
        return (double)(int32_t)low;
    case DBG_U64:
        return (double)value->bits;
    case DBG_S64:
        return (double)(int64_t)value->bits;
    case DBG_F32:
        memcpy(&f, &low, sizeof f);
        return (double)f;
    case DBG_F64:
        memcpy(&d, &value->bits, sizeof d);
        return d;
    }
    return 0;
}

/* 64-bit integer of any value: sign-extended, floats truncated and clamped. */
static uint64_t as_u64(const struct dbg_value *value)
{
    if (is_float(value)) {
        double d = as_double(value);

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

static struct dbg_value convert(const struct dbg_value *value, enum dbg_type type)
{
    if (type == DBG_F32)
        return make_f32((float)as_double(value));
    if (type == DBG_F64)
        return make_f64(as_double(value));
    return make(type, as_u64(value));
}

bool dbg_value_true(const struct dbg_value *value)
{
    return is_float(value) ? as_double(value) != 0 : value->bits != 0;
}

/* ---- reading ------------------------------------------------------------------ */

static void fail(struct expr *e, enum lw_status status, const char *fmt, ...) LW_PRINTF(3, 4);
static void fail(struct expr *e, enum lw_status status, const char *fmt, ...)
{
    char text[400];
    va_list args;

    if (e->status != LW_OK)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    e->status = LW_FAIL(e->err, status, "%s", text);
}

static void skip(struct expr *e)
{
    while (isspace((unsigned char)*e->at))
        e->at++;
}

static bool take(struct expr *e, const char *token)
{
    size_t size = strlen(token);

    skip(e);
    if (strncmp(e->at, token, size) != 0)
        return false;
    e->at += size;
    return true;
}

static struct dbg_value expression(struct expr *e);

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool type_by_name(const char *name, enum dbg_type *type, unsigned *bytes)
{
    static const struct {
        const char *name;
        enum dbg_type type;
        unsigned bytes;
    } types[] = {
        {"u8", DBG_U32, 1},  {"s8", DBG_S32, 1},  {"u16", DBG_U32, 2}, {"s16", DBG_S32, 2},
        {"u32", DBG_U32, 4}, {"s32", DBG_S32, 4}, {"f32", DBG_F32, 4}, {"b32", DBG_U32, 4},
        {"u64", DBG_U64, 8}, {"s64", DBG_S64, 8}, {"f64", DBG_F64, 8}, {"b64", DBG_U64, 8},
    };

    for (size_t i = 0; i < LW_COUNT_OF(types); i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = types[i].type;
            *bytes = types[i].bytes;
            return true;
        }
    return false;
}

static bool need_warp(struct expr *e)
{
    if (!e->have_warp && dbg_warp_locate(e->dbg, e->id, &e->warp))
        e->have_warp = true;
    if (!e->have_warp && e->status == LW_OK)
        e->status = dbg_gone(e->dbg, e->id, e->err);
    return e->have_warp;
}

static void load(struct expr *e, struct operand *o, enum dbg_type type, unsigned bytes,
                 uint64_t address)
{
    uint8_t raw[8] = {0};
    uint64_t bits;

    o->kind = TARGET_MEMORY;
    o->address = address;
    o->bytes = bytes;
    o->typed = true;
    o->value = make(type, 0);
    if (e->dry)
        return;
    if (dbg_mem_access(e->dbg, e->id, e->lane, address, raw, bytes, false) != bytes)
        fail(e, LW_ERANGE, "cannot read %u bytes at 0x%llx: this lane has no memory there",
             bytes, (unsigned long long)address);
    bits = lw_get64(raw);
    if (type == DBG_S32 && bytes == 1)
        bits = (uint64_t)(int64_t)(int8_t)raw[0];
    if (type == DBG_S32 && bytes == 2)
        bits = (uint64_t)(int64_t)(int16_t)(uint16_t)(raw[0] | raw[1] << 8);
    o->value = make(type, bits);
}

/* ---- names ---------------------------------------------------------------------- */

static unsigned class_count(const struct dbg *dbg, enum dbg_reg_kind kind)
{
    unsigned count = 0;
    struct dbg_reg reg;

    for (unsigned i = 0; dbg_reg_at(dbg, i, &reg); i++)
        if (reg.kind == kind && reg.number >= count)
            count = reg.number + 1;
    return count;
}

static void read_register(struct expr *e, struct operand *o)
{
    enum isa_reg_class reg_class = o->kind == TARGET_V    ? ISA_REG_V
                                   : o->kind == TARGET_S  ? ISA_REG_S
                                   : o->kind == TARGET_P  ? ISA_REG_P
                                                          : ISA_REG_SP;
    uint64_t low = 0, high = 0;

    if (e->dry || !need_warp(e))
        return;
    if (!emu_reg_read(e->warp.core, e->warp.slot, e->warp.warp, reg_class, o->number, o->lane,
                      &low) ||
        (o->pair && !emu_reg_read(e->warp.core, e->warp.slot, e->warp.warp, reg_class,
                                  o->number + 1, o->lane, &high))) {
        fail(e, LW_ERANGE, "register %u of lane %u does not exist here", o->number, o->lane);
        return;
    }
    if (o->kind == TARGET_P)
        low = low >> o->lane & 1;
    o->value = make(o->value.type, o->pair ? low | high << 32 : low);
}

/* bN: the lanes that joined the lane's group of a convergence barrier. */
static bool barrier_name(struct expr *e, const char *name, struct operand *o)
{
    unsigned count = class_count(e->dbg, DBG_REG_BARRIER);
    uint64_t number;

    if (name[0] != 'b' || !isdigit((unsigned char)name[1]) || !lw_parse_u64(name + 1, &number))
        return false;
    if (number >= count) {
        fail(e, LW_ENOENT, "%s: the program uses %u barrier registers", name, count);
        return true;
    }
    o->value = make(DBG_U64, 0);
    if (!e->dry && need_warp(e))
        o->value.bits = emu_barrier_group(e->warp.core, e->warp.slot, e->warp.warp,
                                          (unsigned)number, e->lane, NULL);
    return true;
}

/* vN, sN, pN, spN with :N+1, [lane] and .type behind. */
static bool register_name(struct expr *e, const char *name, struct operand *o)
{
    static const struct {
        const char *prefix;
        enum target_kind kind;
        enum dbg_reg_kind reg;
    } classes[] = {
        {"v", TARGET_V, DBG_REG_VECTOR},
        {"sp", TARGET_SP, DBG_REG_SPRED},
        {"s", TARGET_S, DBG_REG_SCALAR},
        {"p", TARGET_P, DBG_REG_PRED},
    };
    unsigned count;

    for (size_t i = 0; i < LW_COUNT_OF(classes); i++) {
        size_t size = strlen(classes[i].prefix);
        const char *digits = name + size;
        char *end;
        unsigned long number;

        if (strncmp(name, classes[i].prefix, size) != 0 || !isdigit((unsigned char)*digits))
            continue;
        number = strtoul(digits, &end, 10);
        if (*end != '\0')
            continue;
        count = class_count(e->dbg, classes[i].reg);
        if (number >= count) {
            if (count == 0)
                fail(e, LW_ENOENT, "%s: the program uses no %s registers", name,
                     classes[i].prefix);
            else
                fail(e, LW_ENOENT, "%s: the program uses %s0 to %s%u", name,
                     classes[i].prefix, classes[i].prefix, count - 1);
            return true;
        }
        o->kind = classes[i].kind;
        o->number = (unsigned)number;
        o->lane = e->lane;
        o->value = make(DBG_U32, 0);
        if ((o->kind == TARGET_V || o->kind == TARGET_S) && *e->at == ':' &&
            isdigit((unsigned char)e->at[1])) {
            unsigned long second = strtoul(e->at + 1, &end, 10);

            if (second != number + 1 || second >= count) {
                fail(e, LW_EUSAGE, "%s:%lu is no register pair: write %s:%lu", name, second,
                     name, number + 1);
                return true;
            }
            e->at = end;
            o->pair = true;
            o->value = make(DBG_U64, 0);
        }
        return true;
    }
    return false;
}

/* CUDA's names of the built-in variables. */
static const char *special_alias(const char *name)
{
    static const char *const alias[][2] = {{"threadIdx", "tid"},
                                           {"blockIdx", "ctaid"},
                                           {"blockDim", "ntid"},
                                           {"gridDim", "nctaid"}};

    for (size_t i = 0; i < LW_COUNT_OF(alias); i++)
        if (strcmp(alias[i][0], name) == 0)
            return alias[i][1];
    return name;
}

static bool special_name(struct expr *e, const char *name, struct operand *o)
{
    char full[MAX_NAME + 4];
    const struct isa_special_info *info;
    uint64_t value = 0;
    int sr;

    snprintf(full, sizeof full, "%s", special_alias(name));
    if (*e->at == '.' && e->at[1] >= 'x' && e->at[1] <= 'z' && !name_char(e->at[2])) {
        size_t size = strlen(full);

        full[size] = '.';
        full[size + 1] = e->at[1];
        full[size + 2] = '\0';
    }
    sr = isa_special_find(full, strlen(full));
    if (sr >= 0 && strchr(full, '.') != NULL)
        e->at += 2;
    if (sr < 0) {
        /* gdb's spelling: tid_x */
        size_t size = strlen(full);

        if (size > 2 && full[size - 2] == '_' && full[size - 1] >= 'x') {
            full[size - 2] = '.';
            sr = isa_special_find(full, size);
        }
    }
    if (sr < 0)
        return false;
    info = isa_special_info((enum isa_special)sr);
    if (!e->dry && need_warp(e) &&
        !emu_special_read(e->warp.core, e->warp.slot, e->warp.warp, (enum isa_special)sr,
                          e->lane, &value))
        fail(e, LW_ERANGE, "%s cannot be read for lane %u", full, e->lane);
    o->value = make(info->width == 64 ? DBG_U64 : DBG_U32, value);
    return true;
}

static bool state_name(struct expr *e, const char *name, struct operand *o)
{
    static const char *const names[] = {"pc",    "lane",      "warp",       "block",
                                        "grid",  "active",    "live",       "exec",
                                        "split", "hit_lanes", "fault_code", "fault_addr",
                                        "fault_lanes", "retired"};
    const struct dbg_stop *stop = &e->dbg->stop;
    struct emu_split_view split = {0};
    struct emu_warp_view view = {0};
    size_t which = 0;
    bool mine, here = true;

    while (which < LW_COUNT_OF(names) && strcmp(names[which], name) != 0)
        which++;
    if (which == LW_COUNT_OF(names))
        return false;
    o->kind = which == 0 ? TARGET_PC : which == 1 ? TARGET_LANE : TARGET_NONE;
    if (which == 7)
        o->kind = TARGET_EXEC;
    o->value = make(which == 1 || which == 2 || which == 8 || which == 10 ? DBG_U32 : DBG_U64,
                    0);
    if (e->dry || !need_warp(e))
        return true;
    mine = stop->thread == e->id;
    here = emu_lane_where(e->warp.core, e->warp.slot, e->warp.warp, e->lane, &split);
    (void)!emu_warp_view(e->warp.core, e->warp.slot, e->warp.warp, &view);
    switch (which) {
    case 0:
        if (!here)
            fail(e, LW_ERANGE, "lane %u has no pc: it is not live", e->lane);
        o->value.bits = split.pc;
        break;
    case 1:
        o->value.bits = e->lane;
        break;
    case 2:
        o->value.bits = e->warp.warp;
        break;
    case 3:
        o->value.bits = e->warp.block;
        break;
    case 4:
        o->value.bits = e->warp.grid->sequence;
        break;
    case 5:
        o->value.bits = split.lanes & view.exec;
        break;
    case 6:
        o->value.bits = view.live;
        break;
    case 7:
        o->value.bits = view.exec;
        break;
    case 8:
        o->value.bits = split.id;
        break;
    case 9:
        o->value.bits = mine ? stop->hit_lanes : 0;
        break;
    case 10:
        o->value.bits = mine && stop->kind == DBG_STOP_FAULT ? stop->fault.kind : 0;
        break;
    case 11:
        o->value.bits = mine && stop->kind == DBG_STOP_FAULT ? stop->fault.address : 0;
        break;
    case 12:
        o->value.bits = mine && stop->kind == DBG_STOP_FAULT ? stop->fault.lanes : 0;
        break;
    default:
        o->value.bits = view.retired;
        break;
    }
    return true;
}

/* Kernel parameters (their value), module variables, functions and named allocations
 * (their address). */
static bool program_name(struct expr *e, const char *name, struct operand *o)
{
    const struct emu_grid *grid = emu_grid_current(e->dbg->machine);
    const struct emu_program *program = dbg_program(e->dbg);
    const struct isa_object *object;
    struct emu_allocation allocation;

    if (grid != NULL) {
        const struct isa_function *kernel = grid->launch.kernel;

        for (unsigned i = 0; i < kernel->param_count; i++) {
            const struct isa_param *param = &kernel->params[i];
            uint8_t raw[8] = {0};

            if (param->name == NULL || strcmp(param->name, name) != 0)
                continue;
            if (param->size_bytes > 8) {
                fail(e, LW_EUNSUPP, "parameter %s has %u bytes: read it as u32[0x%llx]", name,
                     param->size_bytes, (unsigned long long)(ISA_CONST_BASE + param->offset));
                return true;
            }
            if (grid->bank0 != NULL)
                memcpy(raw, grid->bank0 + param->offset, param->size_bytes);
            o->value = make(param->size_bytes == 8 ? DBG_U64 : DBG_U32, lw_get64(raw));
            return true;
        }
    }
    if (program != NULL) {
        object = emu_program_object(program);
        for (unsigned i = 0; i < object->variable_count; i++) {
            const struct isa_variable *variable = &object->variables[i];

            if (strcmp(variable->name, name) != 0)
                continue;
            o->value = make(DBG_U64, variable->space == ISA_SPACE_SHARED
                                         ? ISA_SHARED_BASE + variable->shared_offset
                                         : emu_program_variable(program, name, NULL));
            return true;
        }
        for (unsigned i = 0; i < object->function_count; i++)
            if (strcmp(object->functions[i].name, name) == 0) {
                o->value = make(DBG_U64, dbg_function_pc(e->dbg, &object->functions[i]));
                return true;
            }
    }
    for (unsigned i = 0; emu_allocation_get(e->dbg->machine, i, &allocation); i++)
        if ((allocation.flags & EMU_ALLOC_FREED) == 0 && allocation.name != NULL &&
            strcmp(allocation.name, name) == 0) {
            o->value = make(DBG_U64, allocation.address);
            return true;
        }
    return false;
}

/* ---- the grammar ------------------------------------------------------------------ */

static void number(struct expr *e, struct operand *o)
{
    const char *start = e->at;
    char text[MAX_NAME], *end;
    bool floating = false;
    size_t size = 0;

    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X' || start[1] == 'b' ||
                            start[1] == 'B')) {
        size = 2;
        while (isxdigit((unsigned char)start[size]))
            size++;
    } else {
        while (isdigit((unsigned char)start[size]) ||
               (start[size] == '.' && isdigit((unsigned char)start[size + 1])) ||
               ((start[size] == 'e' || start[size] == 'E') &&
                (isdigit((unsigned char)start[size + 1]) ||
                 ((start[size + 1] == '-' || start[size + 1] == '+') &&
                  isdigit((unsigned char)start[size + 2]))))) {
            if (start[size] == '.' || start[size] == 'e' || start[size] == 'E')
                floating = true;
            if (start[size] == 'e' || start[size] == 'E')
                size++;
            size++;
        }
    }
    if (size >= sizeof text || name_char(start[size])) {
        fail(e, LW_EUSAGE, "\"%.20s\" is no number", start);
        return;
    }
    memcpy(text, start, size);
    text[size] = '\0';
    e->at += size;
    if (floating) {
        o->value = make_f64(strtod(text, &end));
    } else {
        uint64_t bits;

        if (!lw_parse_u64(text, &bits)) {
            fail(e, LW_EUSAGE, "%s does not fit 64 bits", text);
            return;
        }
        o->value = make(bits <= INT32_MAX    ? DBG_S32
                        : bits <= UINT32_MAX ? DBG_U32
                        : bits <= INT64_MAX  ? DBG_S64
                                             : DBG_U64,
                        bits);
    }
}

static unsigned lane_index(struct expr *e)
{
    unsigned width = emu_machine_config(e->dbg->machine)->warp_width;
    struct dbg_value value = expression(e);
    uint64_t lane = as_u64(&value);

    if (!take(e, "]"))
        fail(e, LW_EUSAGE, "a ] is missing");
    if (lane >= width) {
        if (!e->dry)
            fail(e, LW_ERANGE, "lane %lld does not exist: a warp has lanes 0 to %u",
                 (long long)lane, width - 1);
        return 0;
    }
    return (unsigned)lane;
}

/* .type reinterprets the bits; [lane] of a vector register or predicate picks a lane. */
static void suffixes(struct expr *e, struct operand *o)
{
    enum dbg_type type = o->value.type;
    bool is_register = o->kind >= TARGET_V && o->kind <= TARGET_SP;

    for (;;) {
        if (*e->at == '[' && (o->kind == TARGET_V || o->kind == TARGET_P)) {
            e->at++;
            o->lane = lane_index(e);
        } else if (*e->at == '.' && isalpha((unsigned char)e->at[1])) {
            char name[MAX_NAME];
            unsigned bytes, have = type == DBG_U64 || type == DBG_S64 || type == DBG_F64 ? 8 : 4;
            size_t size = 0;

            while (size + 1 < sizeof name && name_char(e->at[1 + size])) {
                name[size] = e->at[1 + size];
                size++;
            }
            name[size] = '\0';
            if (!type_by_name(name, &type, &bytes) || bytes < 4) {
                fail(e, LW_EUSAGE, ".%s is no type: u32, s32, f32, u64, s64 and f64 are", name);
                return;
            }
            if (bytes != have) {
                if (is_register && bytes == 8)
                    fail(e, LW_EUSAGE, ".%s needs 64 bits: name a pair, as in v2:3.%s", name,
                         name);
                else
                    fail(e, LW_EUSAGE, ".%s needs %u bytes, and this has %u", name, bytes,
                         have);
                return;
            }
            e->at += 1 + size;
            o->typed = true;
        } else {
            break;
        }
        if (e->status != LW_OK)
            return;
    }
    o->value.type = type;
    if (is_register)
        read_register(e, o);
}

static void primary(struct expr *e, struct operand *o)
{
    char name[MAX_NAME];
    enum dbg_type type;
    unsigned bytes;
    size_t size = 0;

    memset(o, 0, sizeof *o);
    o->value = make(DBG_S32, 0);
    skip(e);
    if (take(e, "(")) {
        o->value = expression(e);
        if (!take(e, ")"))
            fail(e, LW_EUSAGE, "a ) is missing in \"%s\"", e->text);
        suffixes(e, o);
        return;
    }
    if (*e->at == '$' || *e->at == '%')
        e->at++;
    if (isdigit((unsigned char)*e->at)) {
        number(e, o);
        return;
    }
    if (!isalpha((unsigned char)*e->at) && *e->at != '_') {
        if (*e->at == '\0')
            fail(e, LW_EUSAGE, "a value is missing at the end of \"%s\"", e->text);
        else
            fail(e, LW_EUSAGE, "\"%.20s\" is not understood: a register, name or number goes here",
                 e->at);
        return;
    }
    while (name_char(e->at[size])) {
        if (size + 1 >= sizeof name) {
            fail(e, LW_EUSAGE, "the name \"%.20s...\" is too long", e->at);
            return;
        }
        name[size] = e->at[size];
        size++;
    }
    name[size] = '\0';
    e->at += size;
    if (type_by_name(name, &type, &bytes)) {
        struct dbg_value inner;

        if (take(e, "[")) {
            inner = expression(e);
            if (!take(e, "]"))
                fail(e, LW_EUSAGE, "a ] is missing in \"%s\"", e->text);
            if (e->status == LW_OK && is_float(&inner))
                fail(e, LW_EUSAGE, "an address is an integer, not a float");
            if (e->status == LW_OK)
                load(e, o, type, bytes, as_u64(&inner));
        } else if (take(e, "(")) {
            inner = expression(e);
            if (!take(e, ")"))
                fail(e, LW_EUSAGE, "a ) is missing in \"%s\"", e->text);
            o->value = convert(&inner, type);
            if (bytes < 4 && type == DBG_U32)
                o->value.bits &= lw_mask(8 * bytes);
            if (bytes < 4 && type == DBG_S32)
                o->value = make(DBG_S32, bytes == 1
                                             ? (uint64_t)(int64_t)(int8_t)o->value.bits
                                             : (uint64_t)(int64_t)(int16_t)o->value.bits);
        } else {
            fail(e, LW_EUSAGE, "%s wants [address] for a load or (value) for a conversion",
                 name);
        }
        return;
    }
    if (register_name(e, name, o) || barrier_name(e, name, o) ||
        special_name(e, name, o) || state_name(e, name, o) || program_name(e, name, o)) {
        if (e->status == LW_OK)
            suffixes(e, o);
        return;
    }
    fail(e, LW_ENOENT,
         "nothing here is called \"%s\": there are registers (v0, s0, p0), tid.x and the like, "
         "pc, lane, exec, parameters, module variables, functions and buffers, but no local "
         "variables",
         name);
}

static struct dbg_value unary(struct expr *e)
{
    struct operand o;
    struct dbg_value value = make(DBG_S32, 0);

    if (e->status != LW_OK)
        return value;
    if (++e->depth > MAX_DEPTH) {
        fail(e, LW_EUSAGE, "the expression is nested too deeply");
        return value;
    }
    skip(e);
    if (*e->at == '-' || *e->at == '+' || *e->at == '~' || *e->at == '!') {
        char op = *e->at++;

        value = unary(e);
        if (op == '!') {
            value = make(DBG_S32, !dbg_value_true(&value));
        } else if (op == '~') {
            if (is_float(&value))
                fail(e, LW_EUSAGE, "~ needs an integer");
            value = make(value.type, ~value.bits);
        } else if (op == '-') {
            if (value.type == DBG_F32)
                value = make(DBG_F32, value.bits ^ 0x80000000u);
            else if (value.type == DBG_F64)
                value = make(DBG_F64, value.bits ^ UINT64_C(1) << 63);
            else
                value = make(value.type, 0 - value.bits);
        }
    } else {
        primary(e, &o);
        value = o.value;
    }
    e->depth--;
    return value;
}

struct binary {
    const char *token;
    int precedence;
};

/* Longer tokens first. */
static const struct binary binaries[] = {
    {"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&&", 2}, {"||", 1},
    {"<", 7},  {">", 7},  {"&", 5},  {"^", 4},  {"|", 3},  {"+", 9},  {"-", 9},  {"*", 10},
    {"/", 10}, {"%", 10},
};

static const struct binary *peek_binary(struct expr *e)
{
    skip(e);
    for (size_t i = 0; i < LW_COUNT_OF(binaries); i++)
        if (strncmp(e->at, binaries[i].token, strlen(binaries[i].token)) == 0)
            return &binaries[i];
    return NULL;
}

static int type_rank(enum dbg_type type)
{
    static const int rank[] = {[DBG_S32] = 0, [DBG_U32] = 1, [DBG_S64] = 2,
                               [DBG_U64] = 3, [DBG_F32] = 4, [DBG_F64] = 5};

    return rank[type];
}

static struct dbg_value compute_float(char op, enum dbg_type type, double a, double b)
{
    double r = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;

    return type == DBG_F32 ? make_f32((float)r) : make_f64(r);
}

static struct dbg_value divide(struct expr *e, char op, enum dbg_type type, uint64_t a,
                               uint64_t b)
{
    bool is_signed = type == DBG_S32 || type == DBG_S64;

    if (b == 0) {
        if (!e->dry)
            fail(e, LW_ERANGE, "division by zero");
        return make(type, 0);
    }
    if (is_signed && b == UINT64_MAX) /* the quotient of the smallest number has no sign bit */
        return make(type, op == '/' ? 0 - a : 0);
    if (is_signed)
        return make(type, (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b
                                               : (int64_t)a % (int64_t)b));
    return make(type, op == '/' ? a / b : a % b);
}

static struct dbg_value compute(struct expr *e, const char *op, struct dbg_value x,
                                struct dbg_value y)
{
    enum dbg_type type = type_rank(x.type) > type_rank(y.type) ? x.type : y.type;
    struct dbg_value a = convert(&x, type), b = convert(&y, type);
    uint64_t ia = as_u64(&a), ib = as_u64(&b);
    bool is_signed = type == DBG_S32 || type == DBG_S64;

    if (strchr("<>=!", op[0]) != NULL && strcmp(op, "<<") != 0 && strcmp(op, ">>") != 0) {
        double da = as_double(&a), db = as_double(&b);
        bool less = is_float(&a) ? da < db : is_signed ? (int64_t)ia < (int64_t)ib : ia < ib;
        bool equal = is_float(&a) ? da == db : ia == ib;
        bool greater = is_float(&a) ? da > db : !less && !equal;
        bool yes = op[0] == '!'   ? !equal
                   : op[0] == '=' ? equal
                   : op[0] == '<' ? less || (op[1] == '=' && equal)
                                  : greater || (op[1] == '=' && equal);

        return make(DBG_S32, yes);
    }
    if (is_float(&a)) {
        if (strchr("+-*/", op[0]) == NULL) {
            fail(e, LW_EUSAGE, "%s needs integers", op);
            return make(DBG_S32, 0);
        }
        return compute_float(op[0], type, as_double(&a), as_double(&b));
    }
    switch (op[0]) {
    case '+':
        return make(type, ia + ib);
    case '-':
        return make(type, ia - ib);
    case '*':
        return make(type, ia * ib);
    case '/':
    case '%':
        return divide(e, op[0], type, ia, ib);
    case '&':
        return make(type, ia & ib);
    case '|':
        return make(type, ia | ib);
    case '^':
        return make(type, ia ^ ib);
    default: { /* shifts: the type of the left side; counts past the width shift all out */
        unsigned width = x.type == DBG_U64 || x.type == DBG_S64 ? 64 : 32;
        bool arithmetic = x.type == DBG_S64 || x.type == DBG_S32;
        uint64_t left = as_u64(&x), count = as_u64(&y);

        if (op[0] == '<')
            return make(x.type, count >= width ? 0 : left << count);
        if (arithmetic)
            return make(x.type, (uint64_t)((int64_t)left >> (count >= width ? 63 : count)));
        return make(x.type, count >= width ? 0 : left >> count);
    }
    }
}

static struct dbg_value binary(struct expr *e, int lowest)
{
    struct dbg_value left = unary(e);

    for (;;) {
        const struct binary *op = e->status == LW_OK ? peek_binary(e) : NULL;
        struct dbg_value right;

        if (op == NULL || op->precedence < lowest)
            return left;
        e->at += strlen(op->token);
        if (op->precedence <= 2) {
            bool was_dry = e->dry, truth = dbg_value_true(&left);

            if (truth == (op->token[0] == '|'))
                e->dry = true;
            right = binary(e, op->precedence + 1);
            e->dry = was_dry;
            left = make(DBG_S32, op->token[0] == '|' ? truth || dbg_value_true(&right)
                                                     : truth && dbg_value_true(&right));
        } else {
            right = binary(e, op->precedence + 1);
            if (e->status == LW_OK)
                left = compute(e, op->token, left, right);
        }
    }
}

static struct dbg_value expression(struct expr *e)
{
    struct dbg_value value = make(DBG_S32, 0);

    if (++e->depth > MAX_DEPTH) {
        fail(e, LW_EUSAGE, "the expression is nested too deeply");
        return value;
    }
    value = binary(e, 0);
    if (e->status == LW_OK && take(e, "?")) {
        bool was_dry = e->dry, truth = dbg_value_true(&value);
        struct dbg_value yes, no;

        e->dry = was_dry || !truth;
        yes = expression(e);
        if (!take(e, ":"))
            fail(e, LW_EUSAGE, "a : is missing behind the ? in \"%s\"", e->text);
        e->dry = was_dry || truth;
        no = expression(e);
        e->dry = was_dry;
        value = truth ? yes : no;
    }
    e->depth--;
    return value;
}

static void expr_init(struct expr *e, struct dbg *dbg, dbg_thread_id id, unsigned lane,
                      const char *text, struct lw_error *err)
{
    memset(e, 0, sizeof *e);
    e->dbg = dbg;
    e->id = id;
    e->lane = lane;
    e->text = e->at = text;
    e->status = LW_OK;
    e->err = err;
}

static void expect_end(struct expr *e)
{
    skip(e);
    if (*e->at != '\0')
        fail(e, LW_EUSAGE, "\"%.40s\" is left over behind the expression", e->at);
}

enum lw_status dbg_eval(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                        struct dbg_value *out, struct lw_error *err)
{
    struct expr e;
    struct dbg_value value;

    expr_init(&e, dbg, id, lane, text, err);
    value = expression(&e);
    expect_end(&e);
    if (e.status == LW_OK)
        *out = value;
    return e.status;
}

enum lw_status dbg_expr_check(struct dbg *dbg, const char *text, struct lw_error *err)
{
    struct expr e;

    expr_init(&e, dbg, 0, 0, text, err);
    e.dry = true;
    (void)expression(&e);
    expect_end(&e);
    return e.status;
}

/* ---- assignment --------------------------------------------------------------------- */

static void store_register(struct expr *e, const struct operand *o, uint64_t bits)
{
    struct emu_warp_view view;
    enum isa_reg_class reg_class = o->kind == TARGET_V    ? ISA_REG_V
                                   : o->kind == TARGET_P  ? ISA_REG_P
                                   : o->kind == TARGET_SP ? ISA_REG_SP
                                                          : ISA_REG_S;

    if (!need_warp(e))
        return;
    if (o->kind != TARGET_V && o->kind != TARGET_P &&
        emu_warp_view(e->warp.core, e->warp.slot, e->warp.warp, &view) &&
        view.split_count > 1) {
        fail(e, LW_ESTATE,
             "scalar registers and exec belong to the whole warp, which is split in %u now",
             view.split_count);
        return;
    }
    if (o->kind == TARGET_P) {
        uint64_t mask = 0;

        (void)!emu_reg_read(e->warp.core, e->warp.slot, e->warp.warp, ISA_REG_P, o->number, 0,
                            &mask);
        mask &= ~(UINT64_C(1) << o->lane);
        bits = mask | (uint64_t)(bits != 0) << o->lane;
    }
    if (!emu_reg_write(e->warp.core, e->warp.slot, e->warp.warp, reg_class, o->number, o->lane,
                       o->kind == TARGET_P || o->kind == TARGET_EXEC ? bits : bits & UINT32_MAX,
                       e->err) ||
        (o->pair && !emu_reg_write(e->warp.core, e->warp.slot, e->warp.warp, reg_class,
                                   o->number + 1, o->lane, bits >> 32, e->err)))
        e->status = e->err != NULL && e->err->status != LW_OK ? e->err->status : LW_ERANGE;
}

enum lw_status dbg_assign(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_error *err)
{
    struct lw_error local;
    struct operand target;
    struct dbg_value value;
    uint64_t bits;
    struct expr e;

    if (err == NULL)
        err = &local;
    err->status = LW_OK;
    expr_init(&e, dbg, id, lane, text, err);
    primary(&e, &target);
    if (e.status == LW_OK && (!take(&e, "=") || *e.at == '='))
        fail(&e, LW_EUSAGE, "\"%s\" is no assignment: write TARGET = EXPRESSION", text);
    if (e.status == LW_OK && target.kind == TARGET_NONE)
        fail(&e, LW_EUSAGE,
             "the left side cannot be written: registers, pc, lane, exec and loads as u32[...] "
             "can");
    value = expression(&e);
    expect_end(&e);
    if (e.status != LW_OK)
        return e.status;
    if (is_float(&value) && !is_float(&target.value) && !target.typed &&
        target.kind <= TARGET_S && target.kind >= TARGET_V) {
        fail(&e, LW_EUSAGE, "the register holds plain bits: write %s = ... for a float",
             target.pair ? "v2:3.f64" : "v2.f32");
        return e.status;
    }
    value = convert(&value, target.value.type);
    bits = value.bits;
    switch (target.kind) {
    case TARGET_MEMORY: {
        uint8_t raw[8];
        uint64_t done = 0;

        lw_put64(raw, bits);
        done = dbg_mem_access(dbg, id, lane, target.address, raw, target.bytes, true);
        if (e.status == LW_OK && done != target.bytes)
            fail(&e, LW_ERANGE, "cannot write %u bytes at 0x%llx", target.bytes,
                 (unsigned long long)target.address);
        break;
    }
    case TARGET_PC:
        if (need_warp(&e)) {
            e.status = emu_pc_write(e.warp.core, e.warp.slot, e.warp.warp, lane, bits, err);
            if (e.status == LW_OK)
                dbg_arrival_moved(dbg, id, UINT64_C(1) << lane);
        }
        break;
    case TARGET_LANE:
        e.status = bits < EMU_MAX_LANES
                       ? dbg_lane_set(dbg, id, (unsigned)bits, err)
                       : LW_FAIL(err, LW_ERANGE, "lane %llu does not exist",
                                 (unsigned long long)bits);
        break;
    case TARGET_EXEC:
        target.number = ISA_S_EXEC;
        target.pair = false;
        store_register(&e, &target, bits);
        break;
    default:
        store_register(&e, &target, bits);
    }
    return e.status;
}

/* ---- printing ------------------------------------------------------------------------- */

/* The shortest decimal that reads back as the same float. */
static void print_float(double d, bool single, struct lw_sink *out)
{
    char text[40];

    for (int digits = single ? 6 : 15; digits <= 17; digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, d);
        back = strtod(text, NULL);
        if (single ? (float)back == (float)d : back == d)
            break;
    }
    if (isnan(d))
        snprintf(text, sizeof text, "nan");
    lw_put(out, text);
}

void dbg_value_print(const struct dbg_value *value, char format, struct lw_sink *out)
{
    bool wide = value->type == DBG_U64 || value->type == DBG_S64 || value->type == DBG_F64;
    uint64_t bits = value->bits;
    int64_t as_signed = wide ? (int64_t)bits : (int64_t)(int32_t)(uint32_t)bits;
    struct dbg_value view = *value;

    switch (format) {
    case 'x':
    case 'a':
        lw_printf(out, "0x%llx", (unsigned long long)bits);
        return;
    case 'z':
        lw_printf(out, "0x%0*llx", wide ? 16 : 8, (unsigned long long)bits);
        return;
    case 'u':
        lw_printf(out, "%llu", (unsigned long long)bits);
        return;
    case 'd':
        lw_printf(out, "%lld", (long long)as_signed);
        return;
    case 'o':
        lw_printf(out, "0%llo", (unsigned long long)bits);
        return;
    case 'c':
        lw_printf(out, isprint((int)(bits & 0x7f)) && bits < 0x80 ? "%lld '%c'" : "%lld",
                  (long long)as_signed, (int)(bits & 0x7f));
        return;
    case 't': {
        unsigned top = bits != 0 ? 63u - (unsigned)__builtin_clzll(bits) : 0;

        for (unsigned i = top + 1; i-- > 0;)
            lw_put(out, bits >> i & 1 ? "1" : "0");
        return;
    }
    case 'f':
        view.type = wide ? DBG_F64 : DBG_F32;
        break;
    default:
        break;
    }
    if (is_float(&view))
        print_float(as_double(&view), view.type == DBG_F32, out);
    else if (view.type == DBG_S32 || view.type == DBG_S64)
        lw_printf(out, "%lld", (long long)as_signed);
    else
        lw_printf(out, "%llu", (unsigned long long)bits);
}

enum lw_status dbg_print_lanes(struct dbg *dbg, dbg_thread_id id, const char *text,
                               bool colour, struct lw_sink *out, struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width, longest = 1;
    enum lw_status status = LW_OK;
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;
    struct lw_buffer cells[EMU_MAX_LANES];
    char format = 0;

    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_locate(dbg, id, &warp) ||
        !emu_warp_view(warp.core, warp.slot, warp.warp, &view))
        return dbg_gone(dbg, id, err);
    if (text[0] == '/' && text[1] != '\0') {
        format = text[1];
        text += 2;
    }
    for (unsigned lane = 0; lane < width; lane++)
        lw_buffer_init(&cells[lane]);
    for (unsigned lane = 0; lane < width && status == LW_OK; lane++) {
        bool live = (view.live >> lane & 1) != 0;
        struct dbg_value value;

        if (!live) {
            lw_put(&cells[lane].sink, "-");
        } else {
            bool active = (thread.active >> lane & 1) != 0;

            status = dbg_eval(dbg, id, lane, text, &value, err);
            if (status == LW_OK) {
                /* Without colour the lanes that do not run now stand in parentheses. */
                if (!active && !colour)
                    lw_put(&cells[lane].sink, "(");
                dbg_value_print(&value, format, &cells[lane].sink);
                if (!active && !colour)
                    lw_put(&cells[lane].sink, ")");
            }
        }
        if (cells[lane].size > longest)
            longest = (unsigned)cells[lane].size;
    }
    for (unsigned lane = 0; lane < width && status == LW_OK; lane++) {
        bool dim = colour && (thread.active >> lane & 1) == 0;

        if (lane % 8 == 0)
            lw_printf(out, "%s%3u:", lane != 0 ? "\n" : "", lane);
        lw_printf(out, " %s%*s%s", dim ? "\033[2m" : "", (int)longest,
                  cells[lane].text != NULL ? cells[lane].text : "", dim ? "\033[0m" : "");
    }
    if (status == LW_OK)
        lw_put(out, "\n");
    for (unsigned lane = 0; lane < width; lane++)
        lw_buffer_fini(&cells[lane]);
    return status;
}
