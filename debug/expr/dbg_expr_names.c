/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves names in expressions: registers, special registers, the state of the lane, kernel parameters, module variables,
 * functions and buffers. */
#include "debug/expr/dbg_expr_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

void dbg_expr_fail(struct dbg_expr *e, enum lw_status status, const char *fmt, ...)
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

bool dbg_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool dbg_type_by_name(const char *name, enum dbg_type *type, unsigned *bytes)
{
    static const struct {
        const char *name;
        enum dbg_type type;
        unsigned bytes;
    } types[] = {
        {"u8",  DBG_U32, 1},
        {"s8",  DBG_S32, 1},
        {"u16", DBG_U32, 2},
        {"s16", DBG_S32, 2},
        {"u32", DBG_U32, 4},
        {"s32", DBG_S32, 4},
        {"f32", DBG_F32, 4},
        {"b32", DBG_U32, 4},
        {"u64", DBG_U64, 8},
        {"s64", DBG_S64, 8},
        {"f64", DBG_F64, 8},
        {"b64", DBG_U64, 8},
    };

    for (size_t i = 0; i < LW_COUNT_OF(types); i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = types[i].type;
            *bytes = types[i].bytes;
            return true;
        }
    return false;
}

bool dbg_expr_warp(struct dbg_expr *e)
{
    if (!e->have_warp && dbg_warp_locate(e->dbg, e->id, &e->warp))
        e->have_warp = true;
    if (!e->have_warp && e->status == LW_OK)
        e->status = dbg_exited(e->dbg, e->id, e->err);
    return e->have_warp;
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

void dbg_name_register(struct dbg_expr *e, struct dbg_operand *o)
{
    enum isa_reg_class reg_class = o->kind == DBG_TARGET_V   ? ISA_REG_V
                                   : o->kind == DBG_TARGET_S ? ISA_REG_S
                                   : o->kind == DBG_TARGET_P ? ISA_REG_P
                                                             : ISA_REG_SP;
    uint64_t low = 0, high = 0;

    if (e->dry || !dbg_expr_warp(e))
        return;
    if (!emu_reg_read(DBG_AT(&e->warp), reg_class, o->number, o->lane, &low) ||
        (o->pair && !emu_reg_read(DBG_AT(&e->warp), reg_class, o->number + 1, o->lane, &high))) {
        dbg_expr_fail(e, LW_ERANGE, "the kernel does not have register %u (in lane %u)", o->number,
                      o->lane);
        return;
    }
    if (o->kind == DBG_TARGET_P)
        low = low >> o->lane & 1;
    o->value = dbg_value_make(o->value.type, o->pair ? low | high << 32 : low);
}

/* Resolves bN, a barrier register: its value is the mask of the lanes that reconverge with this lane at that barrier.
 * This function and the following ones return false if the name does not have this form, and true after an error. */
static bool barrier_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    unsigned count = class_count(e->dbg, DBG_REG_BARRIER);
    uint64_t number;

    if (name[0] != 'b' || !isdigit((unsigned char)name[1]) || !lw_parse_u64(name + 1, &number))
        return false;
    if (number >= count) {
        dbg_expr_fail(e, LW_ENOENT, "there is no barrier register %s: the program uses %u of them", name, count);
        return true;
    }
    o->value = dbg_value_make(DBG_U64, 0);
    if (!e->dry && dbg_expr_warp(e))
        o->value.bits = emu_barrier_group(DBG_AT(&e->warp), (unsigned)number, e->lane, NULL);
    return true;
}

/* Resolves a register vN, sN, pN or spN, and parses the second register of a pair, as in v2:3. Returns false if the
 * name is not the name of a register. */
static bool register_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    static const struct {
        const char *prefix;
        enum dbg_target kind;
        enum dbg_reg_kind reg;
    } classes[] = {
        {"v",  DBG_TARGET_V,  DBG_REG_VECTOR},
        {"sp", DBG_TARGET_SP, DBG_REG_SPRED },
        {"s",  DBG_TARGET_S,  DBG_REG_SCALAR},
        {"p",  DBG_TARGET_P,  DBG_REG_PRED  },
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
                dbg_expr_fail(e, LW_ENOENT, "there is no register %s: the program uses no %s registers", name,
                              classes[i].prefix);
            else
                dbg_expr_fail(e, LW_ENOENT, "there is no register %s: the program uses %s0 to %s%u", name,
                              classes[i].prefix, classes[i].prefix, count - 1);
            return true;
        }
        o->kind = classes[i].kind;
        o->number = (unsigned)number;
        o->lane = e->lane;
        o->value = dbg_value_make(DBG_U32, 0);
        if ((o->kind == DBG_TARGET_V || o->kind == DBG_TARGET_S) && *e->at == ':' &&
            isdigit((unsigned char)e->at[1])) {
            unsigned long second = strtoul(e->at + 1, &end, 10);

            if (second != number + 1 || second >= count) {
                dbg_expr_fail(e, LW_EUSAGE, "%s:%lu is not a register pair: write %s:%lu", name,
                              second, name, number + 1);
                return true;
            }
            e->at = end;
            o->pair = true;
            o->value = dbg_value_make(DBG_U64, 0);
        }
        return true;
    }
    return false;
}

/* CUDA's built-in variables, and the special registers that contain them. */
static const char *const alias[][2] = {
    {"threadIdx", "tid"   },
    {"blockIdx",  "ctaid" },
    {"blockDim",  "ntid"  },
    {"gridDim",   "nctaid"}
};

static const char *special_alias(const char *name)
{
    for (size_t i = 0; i < LW_COUNT_OF(alias); i++)
        if (strcmp(alias[i][0], name) == 0)
            return alias[i][1];
    return name;
}

/* Other built-in variables, with their offsets in debug address range 0xF5. */
static const struct {
    const char *name;
    uint8_t offset, words;
} built_in[] = {
    {"local_id", 0, 3},    {"group_id", 16, 3},     {"local_size", 32, 3},
    {"num_groups", 48, 3}, {"global_id", 96, 3},    {"global_size", 112, 3},
    {"warpSize", 80, 1},   {"global_offset", 128, 3}, {"work_dim", 84, 1},
};

/** OpenCL's work-item functions with a dimension as argument: the built-in variable that has the result, and the result for
 *  a dimension that does not exist. */
static const struct {
    const char *name, *variable;
    uint32_t beyond;
} work_item[] = {
    {"get_global_id", "global_id", 0},         {"get_local_id", "local_id", 0},
    {"get_group_id", "group_id", 0},           {"get_global_size", "global_size", 1},
    {"get_local_size", "local_size", 1},       {"get_num_groups", "num_groups", 1},
    {"get_global_offset", "global_offset", 0}, {"get_enqueued_local_size", "local_size", 1},
};

static void each_part(const char *name, dbg_name_fn fn, void *context)
{
    char part[DBG_MAX_NAME];

    for (const char *p = "xyz"; *p != '\0'; p++) {
        snprintf(part, sizeof part, "%s.%c", name, *p);
        fn(context, part);
    }
}

void dbg_built_in_each(dbg_name_fn fn, void *context)
{
    for (size_t i = 0; i < LW_COUNT_OF(alias); i++)
        each_part(alias[i][0], fn, context);
    for (size_t i = 0; i < LW_COUNT_OF(built_in); i++) {
        if (built_in[i].words == 3)
            each_part(built_in[i].name, fn, context);
        else
            fn(context, built_in[i].name);
    }
    for (size_t i = 0; i < LW_COUNT_OF(work_item); i++)
        fn(context, work_item[i].name);
}

static bool builtin_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    uint8_t raw[4] = {0};

    for (size_t i = 0; i < LW_COUNT_OF(built_in); i++) {
        uint64_t address = (UINT64_C(0xF5) << 56) + built_in[i].offset;

        if (strcmp(name, built_in[i].name) != 0)
            continue;
        if (built_in[i].words == 3) {
            if (*e->at != '.' || e->at[1] < 'x' || e->at[1] > 'z' || dbg_name_char(e->at[2])) {
                dbg_expr_fail(e, LW_EUSAGE, "%s is a vector of three: write %s.x, .y or .z", name, name);
                return true;
            }
            address += 4 * (uint64_t)(e->at[1] - 'x');
            e->at += 2;
        }
        if (!e->dry && dbg_expr_warp(e))
            (void)!dbg_mem_access(e->dbg, e->id, e->lane, address, raw, sizeof raw, false);
        o->value = dbg_value_make(DBG_U32, lw_get32(raw));
        return true;
    }
    return false;
}

static uint32_t built_in_word(struct dbg_expr *e, const char *variable, unsigned dimension)
{
    uint8_t raw[4] = {0};

    for (size_t i = 0; i < LW_COUNT_OF(built_in) && !e->dry && dbg_expr_warp(e); i++)
        if (strcmp(built_in[i].name, variable) == 0)
            (void)!dbg_mem_access(e->dbg, e->id, e->lane,
                                  (UINT64_C(0xF5) << 56) + built_in[i].offset + 4 * (uint64_t)dimension,
                                  raw, sizeof raw, false);
    return lw_get32(raw);
}

/* Computes a linear id, (id.z * size.y + id.y) * size.x + id.x. @offset (may be NULL) is subtracted from each id first. */
static uint64_t linear(struct dbg_expr *e, const char *id, const char *size, const char *offset)
{
    uint64_t value = 0;

    for (unsigned d = 3; d-- > 0;)
        value = value * built_in_word(e, size, d) + built_in_word(e, id, d) -
                (offset != NULL ? built_in_word(e, offset, d) : 0);
    return value;
}

bool dbg_work_item(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    bool global = strcmp(name, "get_global_linear_id") == 0;
    bool local = strcmp(name, "get_local_linear_id") == 0;
    size_t which = 0;

    while (which < LW_COUNT_OF(work_item) && strcmp(work_item[which].name, name) != 0)
        which++;
    if ((which == LW_COUNT_OF(work_item) && !global && !local && strcmp(name, "get_work_dim") != 0) ||
        !dbg_expr_take(e, "("))
        return false;
    if (which < LW_COUNT_OF(work_item)) {
        struct dbg_value dimension = dbg_expr_value(e);
        uint64_t d = dbg_value_u64(&dimension);

        dbg_expr_plain(o, dbg_value_make(DBG_U32, d < 3 ? built_in_word(e, work_item[which].variable, (unsigned)d)
                                                        : work_item[which].beyond));
    } else if (global || local) {
        dbg_expr_plain(o, dbg_value_make(DBG_U64, global ? linear(e, "global_id", "global_size", "global_offset")
                                                         : linear(e, "local_id", "local_size", NULL)));
    } else {
        dbg_expr_plain(o, dbg_value_make(DBG_U32, built_in_word(e, "work_dim", 0)));
    }
    dbg_expr_close(e, ")");
    return true;
}

static bool special_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    char full[DBG_MAX_NAME + 4];
    const struct isa_special_info *info;
    uint64_t value = 0;
    int sr;

    snprintf(full, sizeof full, "%s", special_alias(name));
    if (*e->at == '.' && e->at[1] >= 'x' && e->at[1] <= 'z' && !dbg_name_char(e->at[2])) {
        size_t size = strlen(full);

        full[size] = '.';
        full[size + 1] = e->at[1];
        full[size + 2] = '\0';
    }
    sr = isa_special_find(full, strlen(full));
    if (sr >= 0 && strchr(full, '.') != NULL)
        e->at += 2;
    if (sr < 0) {
        /* gdb's names of special registers have an underscore for the dot: tid_x */
        size_t size = strlen(full);

        if (size > 2 && full[size - 2] == '_' && full[size - 1] >= 'x') {
            full[size - 2] = '.';
            sr = isa_special_find(full, size);
        }
    }
    if (sr < 0)
        return false;
    info = isa_special_info((enum isa_special)sr);
    if (!e->dry && dbg_expr_warp(e) &&
        !emu_special_read(DBG_AT(&e->warp), (enum isa_special)sr, e->lane, &value))
        dbg_expr_fail(e, LW_ERANGE, "special register %s cannot be read for lane %u", full, e->lane);
    o->value = dbg_value_make(info->width == 64 ? DBG_U64 : DBG_U32, value);
    return true;
}

static bool state_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    static const struct {
        const char *name;
        enum dbg_target kind;
        enum dbg_type type;
    } states[] = {
        {"pc", DBG_TARGET_PC, DBG_U64},           {"lane", DBG_TARGET_LANE, DBG_U32},
        {"warp", DBG_TARGET_NONE, DBG_U32},       {"block", DBG_TARGET_NONE, DBG_U64},
        {"grid", DBG_TARGET_NONE, DBG_U64},       {"active", DBG_TARGET_NONE, DBG_U64},
        {"live", DBG_TARGET_NONE, DBG_U64},       {"exec", DBG_TARGET_EXEC, DBG_U64},
        {"split", DBG_TARGET_NONE, DBG_U32},      {"hit_lanes", DBG_TARGET_NONE, DBG_U64},
        {"fault_code", DBG_TARGET_NONE, DBG_U32}, {"fault_addr", DBG_TARGET_NONE, DBG_U64},
        {"fault_lanes", DBG_TARGET_NONE, DBG_U64}, {"retired", DBG_TARGET_NONE, DBG_U64},
    };
    const struct dbg_stop *stop = &e->dbg->stop;
    const struct emu_fault *fault = stop->thread == e->id && stop->kind == DBG_STOP_FAULT ? &stop->fault : NULL;
    struct emu_split_view split = {0};
    struct emu_warp_view view = {0};
    size_t which = 0;

    while (which < LW_COUNT_OF(states) && strcmp(states[which].name, name) != 0)
        which++;
    if (which == LW_COUNT_OF(states))
        return false;
    o->kind = states[which].kind;
    o->value = dbg_value_make(states[which].type, 0);
    if (e->dry || !dbg_expr_warp(e))
        return true;
    if (!emu_lane_where(DBG_AT(&e->warp), e->lane, &split) && o->kind == DBG_TARGET_PC)
        dbg_expr_fail(e, LW_ERANGE, "lane %u has no pc: it has exited or was never launched", e->lane);
    (void)!emu_warp_view(DBG_AT(&e->warp), &view);
    const uint64_t values[LW_COUNT_OF(states)] = { /* values of the warp's state, in the order of the names in `states` */
        split.pc, e->lane, e->warp.warp, e->warp.block, e->warp.grid->sequence, split.lanes & view.exec, view.live,
        view.exec, split.id, stop->thread == e->id ? stop->hit_lanes : 0, fault != NULL ? fault->kind : 0,
        fault != NULL ? dbg_fault_address(fault) : 0, fault != NULL ? fault->lanes : 0, view.retired};
    o->value.bits = values[which];
    return true;
}

/* Resolves `cycle`, the current cycle of a run with a GPU model. This name needs no resident warp. Returns false for
 * another name, or if the engine counts no cycles. */
static bool cycle_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    const struct emu_engine *engine = e->dbg->engine;

    if (strcmp(name, "cycle") != 0 || engine->ops->cycles == NULL)
        return false;
    o->value = dbg_value_make(DBG_U64, e->dry ? 0 : engine->ops->cycles(engine));
    return true;
}

/* Resolves a buffer of the launch file: NAME[INDEX] is the value of an element, and NAME alone the address of the
 * buffer. Returns false if no buffer has the name. */
static bool buffer_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    const struct dbg_config *config = &e->dbg->config;
    struct dbg_buffer buffer;
    struct dbg_value index;
    enum dbg_type type;
    unsigned bytes;

    if (config->buffer == NULL || !config->buffer(config->buffer_context, name, &buffer))
        return false;
    o->value = dbg_value_make(DBG_U64, buffer.address);
    if (*e->at != '[')
        return true;
    /* Expressions have no 16-bit floats: the value is the bits of the element. */
    if (!dbg_type_by_name(strcmp(buffer.type, "f16") == 0 ? "u16" : buffer.type, &type, &bytes))
        return true;
    e->at++;
    index = dbg_expr_value(e);
    if (!dbg_expr_close(e, "]"))
        return true;
    if (dbg_value_is_float(&index))
        dbg_expr_fail(e, LW_EUSAGE, "the index of %s[...] must be an integer, not a float", name);
    else if (!e->dry && dbg_value_u64(&index) >= buffer.count)
        dbg_expr_fail(e, LW_ERANGE, "%s has only %llu element%s: there is no %s[%lld]", name,
                      (unsigned long long)buffer.count, buffer.count == 1 ? "" : "s", name, (long long)dbg_value_u64(&index));
    if (e->status == LW_OK)
        dbg_expr_load(e, o, type, bytes, buffer.address + dbg_value_u64(&index) * bytes);
    return true;
}

/* Resolves names of the program. The value of a kernel parameter is the parameter's value; the value of a module
 * variable, a function or a named allocation is its address. Returns false if nothing in the program has the name. */
static bool program_name(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    const struct emu_grid *grid = dbg_thread_grid(e->dbg, e->id);
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
                dbg_expr_fail(
                    e, LW_EUNSUPP, "parameter %s has %u bytes, too many for one value: read its parts, as in "
                                   "u32[0x%llx]", name,
                    param->size_bytes, (unsigned long long)(ISA_CONST_BASE + param->offset));
                return true;
            }
            if (grid->bank0 != NULL)
                memcpy(raw, grid->bank0 + param->offset, param->size_bytes);
            o->value =
                dbg_value_make(param->size_bytes == 8 ? DBG_U64 : DBG_U32, lw_get64(raw));
            return true;
        }
    }
    if (program != NULL) {
        object = emu_program_object(program);
        /* A condition that is checked in a dry run may be for another kernel than the current one. */
        for (unsigned k = 0; e->dry && k < object->function_count; k++)
            for (unsigned i = 0; i < object->functions[k].param_count; i++)
                if (object->functions[k].params[i].name != NULL &&
                    strcmp(object->functions[k].params[i].name, name) == 0) {
                    o->value = dbg_value_make(DBG_U64, 0);
                    return true;
                }
        for (unsigned i = 0; i < object->variable_count; i++) {
            const struct isa_variable *variable = &object->variables[i];

            if (strcmp(variable->name, name) != 0)
                continue;
            o->value =
                dbg_value_make(DBG_U64, variable->space == ISA_SPACE_SHARED
                                            ? ISA_SHARED_BASE + variable->shared_offset
                                            : emu_program_variable(program, name, NULL));
            return true;
        }
        for (unsigned i = 0; i < object->function_count; i++)
            if (strcmp(object->functions[i].name, name) == 0) {
                o->value =
                    dbg_value_make(DBG_U64, dbg_function_pc(e->dbg, &object->functions[i]));
                return true;
            }
    }
    if (buffer_name(e, name, o))
        return true;
    for (unsigned i = 0; emu_allocation_get(e->dbg->machine, i, &allocation); i++)
        if ((allocation.flags & EMU_ALLOC_FREED) == 0 && allocation.name != NULL &&
            strcmp(allocation.name, name) == 0) {
            o->value = dbg_value_make(DBG_U64, allocation.address);
            return true;
        }
    return false;
}

bool dbg_name_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    return register_name(e, name, o) || barrier_name(e, name, o) || special_name(e, name, o) ||
           state_name(e, name, o) || cycle_name(e, name, o) || program_name(e, name, o) ||
           builtin_name(e, name, o);
}

/* ---- unknown names ---------------------------------------------------------------- */

struct nearest {
    const char *name;
    char found[DBG_MAX_NAME];
    unsigned distance;
};

static void nearer(void *context, const char *candidate)
{
    struct nearest *n = context;
    unsigned distance = lw_edit_distance(n->name, candidate);

    /* A distance of 0 is not proposed: the user has typed the name of a variable with a $, which is for registers. */
    if (distance != 0 && distance < n->distance && distance * 3 <= strlen(n->name) + 1 &&
        strlen(candidate) < sizeof n->found) {
        strcpy(n->found, candidate);
        n->distance = distance;
    }
}

void dbg_name_unknown(struct dbg_expr *e, const char *name)
{
    struct nearest n = {.name = name, .distance = UINT32_MAX};
    struct emu_allocation allocation;
    struct dbg_reg reg;
    unsigned frame;
    char full[DBG_MAX_NAME + 4];

    if (e->place != 0) {
        dbg_expr_fail(e, LW_ENOENT, "there is no \"%s\" at that location", name);
        return;
    }
    if (!dbg_frame_shown(e->dbg, e->id, e->lane, &frame)) {
        dbg_expr_fail(e, LW_ENOENT, "lane %u does not have the selected frame, and there is no other \"%s\": select a "
                                    "frame of the lane with `frame`",
                      e->lane, name);
        return;
    }
    if (strcmp(name, "cycle") == 0) {
        dbg_expr_fail(e, LW_ENOENT, "there is no value \"cycle\" in this run: start it with --timing to count cycles");
        return;
    }
    snprintf(full, sizeof full, "%s.x", special_alias(name));
    if (isa_special_find(full, strlen(full)) >= 0) {
        dbg_expr_fail(e, LW_ENOENT, "%s is a vector of three: write %s.x, .y or .z", name, name);
        return;
    }
    dbg_names_each(e->dbg, e->id, e->lane, DBG_NAMES_VARIABLES, nearer, &n);
    dbg_names_each(e->dbg, e->id, e->lane, DBG_NAMES_FUNCTIONS, nearer, &n);
    for (unsigned i = 0; emu_allocation_get(e->dbg->machine, i, &allocation); i++)
        if (allocation.name != NULL)
            nearer(&n, allocation.name);
    for (unsigned i = 0; dbg_reg_at(e->dbg, i, &reg); i++)
        if (reg.kind != DBG_REG_VECTOR && reg.kind != DBG_REG_SCALAR)
            nearer(&n, reg.name);
    if (n.distance != UINT32_MAX)
        dbg_expr_fail(e, LW_ENOENT, "there is no \"%s\" here; did you mean \"%s\"?", name,
                      n.found);
    else if (e->dbg->ended)
        dbg_expr_fail(e, LW_ENOENT,
                      "there is no \"%s\": all launches have ended, so that only buffers, functions and types can be "
                      "named",
                      name);
    else
        dbg_expr_fail(e, LW_ENOENT,
                      "there is no \"%s\" here: names are registers (v0, s0, p0), tid.x and the like, pc, lane, exec, "
                      "parameters, source variables, functions and buffers",
                      name);
}
