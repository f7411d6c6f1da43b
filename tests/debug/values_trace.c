/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the recorder of tests/debug/values_trace.h. The recorder executes one instruction of one split at a time, and reads
 * the state before each instruction. */
#include "tests/debug/values_trace.h"
#include "tests/isa/prop_isa_random.h"

#include <stdio.h>
#include <stdlib.h>

#define STACK_TO_FRAMES ((UINT64_C(0xFA) - 0xF4) << 56)

enum { MOST_LEAVES = 40, MOST_ELEMENTS = 8, MOST_LEVELS = 16, MOST_FRAMES = 16, SLICE = 64 };

/* ---- variables and frames at an instruction ---------------------------------------------- */

/** A scalar of a variable: the whole variable, or a part of a structure, vector or array. */
struct leaf {
    const char *text, *key; /* text: expression such as "q.p.a". key: "q#12.p.a", with the line of the declaration */
    enum dbg_type type;
    unsigned bytes;
    bool pointer;
    uint64_t offset;        /* offset from the start of the variable */
    uint32_t slot;          /* index in `slot` of struct function, or UINT32_MAX */
};
struct variable {
    bool known;
    const char *name;
    struct leaf *leaf;
    unsigned count;
};
enum { UNKNOWN, ABSENT /* the debugger shows the scalar as optimised out */, MEMORY /* in local memory */, ELSEWHERE };
/** A frame of the source. A function with code has one frame, and each inlined call has its own frame. */
struct level {
    const char *calls; /* inlined calls from the function with the code to this frame, such as "k>12:5 f" */
    struct leaf **leaf;
    uint8_t *state; /* by leaf: UNKNOWN, ABSENT, MEMORY or ELSEWHERE: where the scalar is at this instruction */
    unsigned count;
};
/** Names of an instruction's line and variables, for one path of calls to the instruction's function. */
struct bound {
    struct bound *next;
    uint32_t base;   /* id of the text of the calls that led to the function */
    uint32_t visit;  /* id of the line's name */
    uint32_t *variable[MOST_LEVELS]; /* by level and leaf: id of the variable's name */
};
/** An instruction. */
struct site {
    bool known, has_line;
    unsigned line, column, function, levels, scopes;
    struct level level[MOST_LEVELS]; /* levels, the innermost first */
    uint32_t *scope;                 /* outermost first */
    struct bound *bounds;
};
/** A scalar of a function in the reference, where all variables are in the function's frame. */
struct slot {
    const struct leaf *leaf;
    uint32_t scope;
    int64_t offset;  /* offset in local memory, from the CFA or, if is_absolute is set, from the start of local memory */
    bool is_absolute; /* true in kernels */
    const char *calls;
};
struct slots_bound {
    struct slots_bound *next;
    uint32_t base, *variable; /* by slot: id of the variable's name */
};
struct function {
    bool known;
    const char *name;
    struct slot *slot;
    unsigned count;
    struct slots_bound *bounds;
};

struct frame {
    unsigned function;
    uint32_t base, insn; /* insn: the current instruction, or in the frame of a caller the call */
    uint32_t cfa;
    const uint32_t *variable; /* by slot: id of the variable's name */
    uint8_t (*raw)[8];        /* by slot: bytes of the value */
    uint8_t *set;             /* by slot: bit set of the bytes that were stored */
    unsigned capacity;
};
struct lane {
    bool begun;
    uint32_t visit, nth; /* the line that the lane visits, and the number of the visit */
    uint64_t visits;
    unsigned depth;
    struct frame frame[MOST_FRAMES];
};
struct warp {
    struct warp *next;
    dbg_thread_id id;
    struct lane lane[EMU_MAX_LANES];
};

struct recorder {
    const struct values_options *options;
    struct values_trace *out;
    struct lw_arena arena;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_file *file;
    struct lnc_session *session;
    struct dbg *dbg;
    const struct isa_object *object;
    const struct emu_program *program;
    uint64_t base;
    struct site *site;
    struct variable *variable; /* by debug entry */
    struct function *function;
    struct warp *warps;
    uint64_t steps;
    struct prop_random r;
};

#define TEXT(...) ((const char *)values_need(lw_arena_printf(&t->arena, __VA_ARGS__)))

static void *take(struct recorder *t, size_t count, size_t size)
{
    void *memory = values_need(lw_arena_alloc(&t->arena, count != 0 ? count * size : 1));

    memset(memory, 0, count * size);
    return memory;
}

static uint64_t declared(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

    return isa_die_number(debug, origin != NULL ? (uint32_t)origin->value : die, ISA_AT_DECL_LINE, 0);
}

static void add_leaves(struct recorder *t, struct variable *v, int64_t type, const char *text, const char *key,
                       uint64_t offset)
{
    const struct isa_debug *debug = t->object->debug;
    int64_t plain = isa_type_plain(debug, type, NULL);
    enum dbg_type scalar;
    unsigned bytes;

    if (plain == ISA_NO_DIE || v->count == MOST_LEAVES)
        return;
    if (dbg_type_scalar(debug, type, &scalar, &bytes)) {
        if (debug->dies[plain].tag != ISA_TAG_REFERENCE && debug->dies[plain].tag != ISA_TAG_RVALUE_REFERENCE &&
            bytes != 0)
            v->leaf[v->count++] = (struct leaf){
                .text = text, .key = key, .type = scalar, .bytes = bytes, .offset = offset,
                .pointer = isa_tag_is_pointer(debug->dies[plain].tag), .slot = UINT32_MAX};
    } else if (debug->dies[plain].tag == ISA_TAG_ARRAY) {
        uint64_t count = isa_type_dimension(debug, (uint32_t)plain, 0);
        bool vector = isa_die_attr(debug, (uint32_t)plain, ISA_AT_VECTOR) != NULL && count <= 4;
        int64_t element = isa_die_type(debug, (uint32_t)plain);

        if (isa_type_dimensions(debug, (uint32_t)plain) != 1)
            return;
        for (uint64_t i = 0; i < count && i < MOST_ELEMENTS; i++) {
            const char *part = vector ? TEXT(".%c", "xyzw"[i]) : TEXT("[%u]", (unsigned)i);

            add_leaves(t, v, element, TEXT("%s%s", text, part), TEXT("%s%s", key, part),
                       offset + i * isa_type_bytes(debug, element, 0));
        }
    } else if (dbg_tag_is_structure(debug->dies[plain].tag)) {
        for (uint32_t i = (uint32_t)plain + 1; i < debug->dies[plain].end; i = debug->dies[i].end) {
            const char *name = isa_die_name(debug, i);

            if (debug->dies[i].tag == ISA_TAG_MEMBER && name != NULL && !dbg_member_is_static(debug, i) &&
                isa_die_attr(debug, i, ISA_AT_DATA_BIT_OFFSET) == NULL)
                add_leaves(t, v, isa_die_type(debug, i), TEXT("%s.%s", text, name), TEXT("%s.%s", key, name),
                           offset + isa_die_number(debug, i, ISA_AT_MEMBER_LOCATION, 0));
        }
    }
}

static bool is_variable(const struct isa_debug *debug, uint32_t die)
{
    return (debug->dies[die].tag == ISA_TAG_VARIABLE || debug->dies[die].tag == ISA_TAG_PARAMETER) &&
           isa_die_name(debug, die) != NULL;
}

static struct variable *variable_of(struct recorder *t, uint32_t die)
{
    struct variable *v = &t->variable[die];

    if (!v->known) {
        v->known = true;
        v->name = isa_die_name(t->object->debug, die);
        v->leaf = take(t, MOST_LEAVES, sizeof *v->leaf);
        add_leaves(t, v, isa_die_type(t->object->debug, die), v->name,
                   TEXT("%s#%u", v->name, (unsigned)declared(t->object->debug, die)), 0);
    }
    return v;
}

static const char *function_name(struct recorder *t, unsigned index)
{
    const struct isa_function *function = &t->object->functions[index];
    int64_t die = t->object->debug != NULL ? isa_function_die(t->object, function) : ISA_NO_DIE;
    const char *name = die != ISA_NO_DIE ? isa_die_name(t->object->debug, (uint32_t)die) : NULL;

    return name != NULL ? name : function->name;
}

static const char *call_text(struct recorder *t, const char *outer, int64_t die)
{
    const struct isa_debug *debug = t->object->debug;
    const char *name = isa_die_name(debug, (uint32_t)die);

    return TEXT("%s>%u:%u %s", outer, (unsigned)isa_die_number(debug, (uint32_t)die, ISA_AT_CALL_LINE, 0),
                (unsigned)isa_die_number(debug, (uint32_t)die, ISA_AT_CALL_COLUMN, 0), name != NULL ? name : "?");
}

/** Creates a level from its scopes, which are given outermost first. A variable of an inner scope hides outer variables of the
 *  same name. */
static void make_level(struct recorder *t, struct level *level, const uint32_t *scopes, unsigned count)
{
    const struct isa_debug *debug = t->object->debug;
    const char *seen[256];
    unsigned names = 0, capacity = 0;

    for (unsigned n = count; n-- > 0;)
        for (uint32_t i = scopes[n] + 1; i < debug->dies[scopes[n]].end; i = debug->dies[i].end)
            if (is_variable(debug, i))
                capacity += variable_of(t, i)->count;
    level->leaf = take(t, capacity, sizeof *level->leaf);
    level->state = take(t, capacity, sizeof *level->state);
    for (unsigned n = count; n-- > 0;)
        for (uint32_t i = scopes[n] + 1; i < debug->dies[scopes[n]].end; i = debug->dies[i].end) {
            struct variable *v;
            bool hidden = !is_variable(debug, i);

            for (unsigned k = 0; !hidden && k < names; k++)
                hidden = strcmp(seen[k], isa_die_name(debug, i)) == 0;
            if (hidden || names == LW_COUNT_OF(seen))
                continue;
            v = variable_of(t, i);
            seen[names++] = v->name;
            for (unsigned k = 0; k < v->count; k++)
                level->leaf[level->count++] = &v->leaf[k];
        }
}

static struct site *site_at(struct recorder *t, uint32_t insn)
{
    struct site *site = &t->site[insn];
    const struct isa_line *row = isa_object_line_at(t->object, insn);
    const struct isa_function *function = isa_object_function_at(t->object, insn);
    const struct isa_debug *debug = t->object->debug;
    uint32_t scopes[64];
    struct dbg_where at;
    const char *calls;
    unsigned end;

    if (site->known)
        return site;
    site->known = true;
    site->function = function != NULL ? (unsigned)(function - t->object->functions) : 0;
    if (row != NULL && row->line != 0 && row->is_stmt) { /* breakpoints do not stop at other instructions */
        site->has_line = true;
        site->line = row->line;
        site->column = row->column;
    }
    calls = function_name(t, site->function);
    if (debug == NULL || !dbg_where_is(t->dbg, t->base + (uint64_t)insn * ISA_WORD_BYTES, &at))
        return site;
    site->scopes = end = dbg_find_scopes(&at, scopes, LW_COUNT_OF(scopes));
    site->scope = take(t, end, sizeof *scopes);
    memcpy(site->scope, scopes, end * sizeof *scopes);
    for (unsigned i = 0; i < end; i++)
        site->levels += i == 0 || debug->dies[scopes[i]].tag == ISA_TAG_INLINED;
    if (site->levels > MOST_LEVELS)
        site->levels = 0;
    for (unsigned n = site->levels, first = 0; n-- > 0;) {
        unsigned next = first + 1;

        while (next < end && debug->dies[scopes[next]].tag != ISA_TAG_INLINED)
            next++;
        if (first != 0)
            calls = call_text(t, calls, scopes[first]);
        site->level[n].calls = calls;
        make_level(t, &site->level[n], scopes + first, next - first);
        first = next;
    }
    if (site->levels == 0) {
        site->levels = 1;
        site->level[0].calls = calls;
    }
    return site;
}

/** Returns the names at an instruction, for one path of calls to the instruction's function. */
static struct bound *bind(struct recorder *t, struct site *site, uint32_t base)
{
    struct values_names *names = t->out->names;
    struct bound *b;

    for (b = site->bounds; b != NULL; b = b->next)
        if (b->base == base)
            return b;
    b = take(t, 1, sizeof *b);
    b->base = base;
    b->next = site->bounds;
    site->bounds = b;
    b->visit = values_name(names, TEXT("%s%s@%u", names->text[base], site->level[0].calls, site->line));
    for (unsigned n = 0; n < site->levels; n++) {
        const struct level *level = &site->level[n];

        b->variable[n] = take(t, level->count, sizeof *b->variable[n]);
        for (unsigned i = 0; i < level->count; i++)
            b->variable[n][i] =
                values_name(names, TEXT("%s%s|%s", names->text[base], level->calls, level->leaf[i]->key));
    }
    return b;
}

/* ---- frames of the reference ----------------------------------------------------------------- */

static bool is_local(const struct isa_var_location *location)
{
    return location->kind == ISA_LOCATION_ADDRESS && location->value >> 41 == ISA_LOCAL_BASE >> 41;
}

static void add_slots(struct recorder *t, struct function *f, uint32_t scope, const char *calls)
{
    const struct isa_debug *debug = t->object->debug;

    for (uint32_t i = scope + 1; i < debug->dies[scope].end; i = debug->dies[i].end) {
        const struct isa_attr *attr = isa_die_attr(debug, i, ISA_AT_LOCATION);
        const struct isa_var_location *site = NULL;
        struct variable *v;

        /* A kernel's parameter has another location until it is stored to local memory, so the locations are searched. */
        for (uint32_t k = 0; attr != NULL && k < attr->count; k++)
            if (debug->locations[attr->value + k].kind == ISA_LOCATION_FRAME ||
                is_local(&debug->locations[attr->value + k]))
                site = &debug->locations[attr->value + k];
        if (debug->dies[i].tag == ISA_TAG_BLOCK)
            add_slots(t, f, i, calls);
        else if (debug->dies[i].tag == ISA_TAG_INLINED)
            add_slots(t, f, i, call_text(t, calls, i));
        if (!is_variable(debug, i) || site == NULL)
            continue;
        v = variable_of(t, i);
        for (unsigned k = 0; k < v->count; k++) {
            if (f->count % 64 == 0)
                f->slot = values_need(realloc(f->slot, (f->count + 64) * sizeof *f->slot));
            v->leaf[k].slot = f->count;
            f->slot[f->count++] = (struct slot){
                .leaf = &v->leaf[k], .scope = scope, .calls = calls,
                .is_absolute = is_local(site), .offset = (int64_t)(site->value + v->leaf[k].offset)};
        }
    }
}

static struct function *function_at(struct recorder *t, unsigned index)
{
    struct function *f = &t->function[index];

    if (!f->known) {
        int64_t die = t->object->debug != NULL ? isa_function_die(t->object, &t->object->functions[index])
                                               : ISA_NO_DIE;

        f->known = true;
        f->name = function_name(t, index);
        if (die != ISA_NO_DIE && t->options->reference)
            add_slots(t, f, (uint32_t)die, f->name);
    }
    return f;
}

static const uint32_t *bind_slots(struct recorder *t, struct function *f, uint32_t base)
{
    struct values_names *names = t->out->names;
    struct slots_bound *b;

    for (b = f->bounds; b != NULL; b = b->next)
        if (b->base == base)
            return b->variable;
    b = take(t, 1, sizeof *b);
    b->base = base;
    b->next = f->bounds;
    f->bounds = b;
    b->variable = take(t, f->count, sizeof *b->variable);
    for (unsigned i = 0; i < f->count; i++) {
        b->variable[i] =
            values_name(names, TEXT("%s%s|%s", names->text[base], f->slot[i].calls, f->slot[i].leaf->key));
        *values_table_at(&t->out->known, values_known_key(b->variable[i])) = 1;
    }
    return b->variable;
}

static uint32_t cfa_of(struct recorder *t, dbg_thread_id id, unsigned lane)
{
    struct dbg_frame frame;
    uint8_t raw[8] = {0};

    if (dbg_frame_at(t->dbg, id, lane, 0, &frame))
        (void)!dbg_mem_access(t->dbg, id, lane, frame.cfa - 8 + STACK_TO_FRAMES, raw, 8, false);
    return (uint32_t)lw_get64(raw);
}

/** Updates the frames of a lane that has entered a function, or returned to one. */
static void change_function(struct recorder *t, dbg_thread_id id, unsigned number, struct lane *lane,
                            unsigned function)
{
    struct function *f = function_at(t, function);
    struct frame *frame;
    uint32_t base = 0;

    for (unsigned i = lane->depth; i-- > 0;)
        if (lane->frame[i].function == function) {
            lane->depth = i + 1;
            return;
        }
    if (lane->depth == MOST_FRAMES)
        return;
    if (lane->depth != 0) {
        struct frame *caller = &lane->frame[lane->depth - 1];
        struct site *from = site_at(t, caller->insn);

        base = values_name(t->out->names, TEXT("%s%s>%u:%u ", t->out->names->text[caller->base],
                                               from->level[0].calls, from->line, from->column));
    }
    frame = &lane->frame[lane->depth++];
    frame->function = function;
    frame->base = base;
    if (!t->options->reference)
        return;
    if (frame->capacity < f->count) {
        frame->capacity = f->count;
        frame->raw = values_need(realloc(frame->raw, f->count * sizeof *frame->raw));
        frame->set = values_need(realloc(frame->set, f->count));
    }
    if (f->count != 0) {
        memset(frame->set, 0, f->count);
        memset(frame->raw, 0, f->count * sizeof *frame->raw);
    }
    frame->variable = bind_slots(t, f, base);
    frame->cfa = cfa_of(t, id, number);
}

/** Marks the variables of the scopes that a lane enters as uninitialised. */
static void change_scope(struct recorder *t, struct frame *frame, const struct site *from,
                         const struct site *to)
{
    const struct function *f = function_at(t, to->function);

    for (unsigned i = 0; i < to->scopes; i++) {
        bool was = false;

        for (unsigned k = 0; k < from->scopes && !was; k++)
            was = from->scope[k] == to->scope[i];
        for (unsigned k = 0; k < f->count && !was; k++)
            if (f->slot[k].scope == to->scope[i])
                frame->set[k] = 0;
    }
}

static bool slot_value(const struct frame *frame, const struct slot *slot, unsigned index, uint64_t *value)
{
    uint8_t all = (uint8_t)lw_mask(slot->leaf->bytes);

    if ((frame->set[index] & all) != all)
        return false;
    *value = dbg_scalar(slot->leaf->type, slot->leaf->bytes, lw_get64(frame->raw[index])).bits;
    return true;
}

/** Updates the values of a lane's variables after a store of the lane to its local memory. */
static void store(struct recorder *t, uint64_t thread, struct lane *lane, uint32_t address, unsigned bytes,
                  const uint8_t *data)
{
    for (unsigned d = 0; d < lane->depth; d++) {
        struct frame *frame = &lane->frame[d];
        const struct function *f = &t->function[frame->function];

        for (unsigned i = 0; i < f->count; i++) {
            const struct slot *slot = &f->slot[i];
            uint32_t first = (slot->is_absolute ? 0 : frame->cfa) + (uint32_t)slot->offset;
            uint64_t value;

            if (address >= first + slot->leaf->bytes || address + bytes <= first)
                continue;
            for (unsigned b = 0; b < bytes; b++)
                if (address + b - first < slot->leaf->bytes) {
                    frame->raw[i][address + b - first] = data[b];
                    frame->set[i] |= (uint8_t)(1u << (address + b - first));
                }
            if (!slot_value(frame, slot, i, &value))
                continue;
            *values_table_at(&t->out->had, values_had_key(thread, frame->variable[i], value)) = 1;
            if (lane->begun)
                *values_table_at(&t->out->assigned, values_at_key(thread, lane->visit, lane->nth, frame->variable[i])) = value;
            if (slot->leaf->pointer && (value >> 41 == 1 || value >> 32 == 0))
                t->out->names->pointer[frame->variable[i]] = true;
        }
    }
}

/* ---- visits -------------------------------------------------------------------------------------- */

static void record_reference(struct recorder *t, uint64_t thread, const struct lane *lane, uint32_t visit,
                             uint32_t nth)
{
    for (unsigned d = 0; d < lane->depth; d++) {
        const struct frame *frame = &lane->frame[d];
        const struct function *f = &t->function[frame->function];
        const struct site *site = site_at(t, frame->insn);

        for (unsigned n = 0; n < site->levels; n++)
            for (unsigned i = 0; i < site->level[n].count; i++) {
                const struct leaf *leaf = site->level[n].leaf[i];
                uint64_t value;

                if (leaf->slot < f->count && slot_value(frame, &f->slot[leaf->slot], leaf->slot, &value))
                    *values_table_at(&t->out->at, values_at_key(thread, visit, nth,
                                                                frame->variable[leaf->slot])) = value;
            }
    }
}

static void add_visit(struct recorder *t, struct lane *lane, uint64_t thread, uint32_t visit, uint32_t nth)
{
    struct values_trace *out = t->out;

    if (out->order_count == out->order_capacity) {
        out->order_capacity = out->order_capacity != 0 ? 2 * out->order_capacity : 4096;
        out->order = values_need(realloc(out->order, out->order_capacity * sizeof *out->order));
    }
    out->order[out->order_count++] = (struct values_visit){.thread = thread, .visit = visit, .nth = nth};
    *values_table_at(&out->when, values_when_key(thread, visit, nth)) = ++lane->visits;
}

static void add_shown(struct recorder *t, struct values_shown shown)
{
    struct values_trace *out = t->out;

    if (out->count == out->capacity) {
        out->capacity = out->capacity != 0 ? 2 * out->capacity : 4096;
        out->shown = values_need(realloc(out->shown, out->capacity * sizeof *out->shown));
    }
    out->shown[out->count++] = shown;
}

/** Records the values that the debugger shows for the variables of a frame. */
static void record_level(struct recorder *t, dbg_thread_id id, unsigned lane, struct site *site,
                         const struct bound *b, unsigned n, struct values_shown shown)
{
    struct level *level = &site->level[n];

    for (unsigned i = 0; i < level->count; i++) {
        struct dbg_value value;
        struct dbg_operand operand = {.in_memory = false};
        struct lw_error err;
        enum lw_status status;

        t->out->requested++;
        if (level->state[i] == ABSENT && prop_below(&t->r, 64) != 0)
            continue;
        status = dbg_eval(t->dbg, id, lane, level->leaf[i]->text, &value, &err);
        if (status != LW_OK) {
            if (strstr(err.text, "optimised it out") == NULL && t->out->unreadable++ == 0 &&
                getenv("LW_VALUES_UNKNOWN") != NULL)
                printf("%s at instruction %u: %s\n", level->leaf[i]->text, shown.insn, err.text);
            level->state[i] = ABSENT;
            continue;
        }
        if (level->state[i] == ABSENT)
            printf("%s at instruction %u is there for some lanes only\n", level->leaf[i]->text, shown.insn);
        if (level->state[i] != MEMORY && level->state[i] != ELSEWHERE) {
            bool known = dbg_expr_location(t->dbg, id, lane, level->leaf[i]->text, &operand, &err) == LW_OK;

            level->state[i] =
                known && operand.in_memory && operand.address >> 41 == ISA_LOCAL_BASE >> 41 ? MEMORY : ELSEWHERE;
        }
        shown.memory = level->state[i] == MEMORY;
        shown.variable = b->variable[n][i];
        shown.value = dbg_scalar(level->leaf[i]->type, level->leaf[i]->bytes, value.bits).bits;
        shown.outer = n != 0;
        add_shown(t, shown);
    }
}

static void record_shown(struct recorder *t, dbg_thread_id id, unsigned lane, struct site *site,
                         const struct bound *b, uint32_t nth, bool outer)
{
    struct lw_error err;
    struct values_shown shown = {.thread = id * EMU_MAX_LANES + lane, .visit = b->visit, .nth = nth,
                                 .insn = (uint32_t)(site - t->site)};

    record_level(t, id, lane, site, b, 0, shown);
    if (!outer || site->levels == 1 || dbg_focus_set(t->dbg, DBG_FOCUS_VIEW, id, &err) != LW_OK ||
        dbg_lane_set(t->dbg, id, lane, &err) != LW_OK)
        return;
    for (unsigned n = 1; n < site->levels; n++) {
        dbg_frame_choose(t->dbg, id, lane, n);
        record_level(t, id, lane, site, b, n, shown);
    }
    dbg_frame_choose(t->dbg, id, lane, 0);
}

static struct warp *warp_of(struct recorder *t, dbg_thread_id id)
{
    struct warp *w;

    for (w = t->warps; w != NULL; w = w->next)
        if (w->id == id)
            return w;
    w = take(t, 1, sizeof *w);
    w->id = id;
    w->next = t->warps;
    t->warps = w;
    return w;
}

/** Records the state before a split executes an instruction. */
static void look(struct recorder *t, struct warp *w, uint64_t lanes, uint64_t effective, uint32_t insn)
{
    struct site *site = site_at(t, insn);
    uint64_t outer = effective &= t->options->lanes;

    lanes &= t->options->lanes;
    if (effective != 0) { /* chooses one lane, whose outer frames are recorded, too */
        for (unsigned skip = prop_below(&t->r, 8); skip != 0 && (outer & (outer - 1)) != 0; skip--)
            outer &= outer - 1;
        outer &= -outer;
    }
    for (LW_EACH_BIT(l, lanes)) {
        struct lane *lane = &w->lane[l];
        uint64_t thread = w->id * EMU_MAX_LANES + l;
        struct frame *frame;
        struct bound *b;

        if (lane->depth == 0 || lane->frame[lane->depth - 1].function != site->function) {
            change_function(t, w->id, l, lane, site->function);
        } else if (t->options->reference) {
            frame = &lane->frame[lane->depth - 1];
            if (frame->insn != insn) {
                const struct site *from = site_at(t, frame->insn);

                if (from->scopes != site->scopes ||
                    (from->scopes != 0 && from->scope[from->scopes - 1] != site->scope[site->scopes - 1]))
                    change_scope(t, frame, from, site);
            }
        }
        frame = &lane->frame[lane->depth - 1];
        frame->insn = insn;
        if ((effective >> l & 1) == 0 || !site->has_line)
            continue;
        b = bind(t, site, frame->base);
        if (!lane->begun || lane->visit != b->visit) {
            uint32_t nth = (uint32_t)++*values_table_at(&t->out->visits, values_visits_key(thread, b->visit));

            lane->begun = true;
            lane->visit = b->visit;
            lane->nth = nth;
            add_visit(t, lane, thread, b->visit, nth);
            if (t->options->reference)
                record_reference(t, thread, lane, b->visit, nth);
            else
                record_shown(t, w->id, l, site, b, nth, (outer >> l & 1) != 0);
        } else if (t->options->steps && (outer >> l & 1) != 0 && !t->options->reference) {
            record_shown(t, w->id, l, site, b, 0, false);
        }
    }
}

/** Records the stores of an instruction that a split has executed. */
static void look_after(struct recorder *t, struct warp *w, const struct emu_event *ev)
{
    if (!t->options->reference || ev->kind != EMU_EV_RETIRED)
        return;
    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *a = &ev->access[i];

        if (a->new_value == NULL)
            continue;
        for (LW_EACH_BIT(l, a->lanes))
            if (a->lane_space[l] == ISA_SPACE_LOCAL)
                store(t, w->id * EMU_MAX_LANES + l, &w->lane[l], (uint32_t)a->address[l], a->bytes,
                      a->new_value[l]);
    }
}

/* ---- running --------------------------------------------------------------------------------------- */

static enum lw_status next(void *context, bool *more, struct lw_error *err)
{
    struct recorder *t = context;
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(t->session, &state, err);

    *more = state == LNC_LAUNCHED;
    return status;
}

/** Finds a split of the warp that can run, and stores it in @out. @first selects where the search begins. */
static bool pick(const struct emu_core *core, unsigned slot, unsigned warp, uint64_t first,
                 struct emu_split_view *out)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    unsigned count = emu_split_views(core, slot, warp, splits, LW_COUNT_OF(splits));

    for (unsigned i = 0; i < count; i++) {
        *out = splits[(first + i) % count];
        if (out->state == EMU_SPLIT_READY || out->state == EMU_SPLIT_YIELDED)
            return true;
    }
    return false;
}

/** Executes one instruction of a split. Sets *moved to whether the split was not blocked. */
static enum lw_status step(struct recorder *t, const struct emu_thread_ref *where, struct emu_core *core,
                           unsigned slot, const struct emu_split_view *split, bool *moved,
                           struct lw_error *err)
{
    struct emu_thread_ref site = *where;
    struct emu_grid *grid = emu_grid_find(t->machine, site.grid);
    struct warp *w = warp_of(t, dbg_grid_thread(grid, site.block, site.warp));
    const struct isa_insn *insn = emu_program_insn(t->program, split->pc);
    struct emu_warp_view view;
    struct emu_event ev = {0};
    struct emu_stop stop = {0};
    uint64_t guard = UINT64_MAX;
    enum lw_status status;

    *moved = false;
    if (insn == NULL || emu_machine_program_at(t->machine, split->pc) != t->program ||
        !emu_warp_view(core, slot, site.warp, &view))
        return LW_OK;
    if (insn->guard != ISA_PT) {
        (void)!emu_reg_read(core, slot, site.warp, insn->guard_scalar ? ISA_REG_SP : ISA_REG_P, insn->guard, 0,
                            &guard);
        if (insn->guard_scalar)
            guard = guard & 1 ? UINT64_MAX : 0;
    }
    if (insn->guard_neg)
        guard = ~guard;
    if (isa_op_info(insn->op)->flags & ISA_F_CONTROL)
        guard = UINT64_MAX; /* all lanes of the split execute the instruction */
    look(t, w, split->lanes, split->lanes & view.exec & guard, (uint32_t)((split->pc - t->base) / ISA_WORD_BYTES));
    site.split = split->id;
    site.lanes = split->lanes;
    site.pc = split->pc;
    status = t->engine->ops->step_warp(t->engine, &site, &ev, &stop, err);
    if (status != LW_OK)
        return status;
    if (stop.kind == EMU_STOP_FAULT)
        return LW_FAIL(err, LW_ESTATE, "a fault at instruction %" PRIu64,
                       (split->pc - t->base) / ISA_WORD_BYTES);
    *moved = stop.kind != EMU_STOP_BLOCKED;
    if (*moved) {
        t->steps++;
        look_after(t, w, &ev);
    }
    return LW_OK;
}

/** Runs the recorded blocks of the queued grids. Sets *all to whether all of these blocks ran to their ends. */
static enum lw_status run_recorded(struct recorder *t, bool *all, struct lw_error *err)
{
    enum lw_status status;
    bool any = true;

    *all = true;
    while (any) {
        struct emu_thread_ref site;

        any = false;
        for (unsigned i = 0; t->engine->ops->warp_at(t->engine, i, &site) && site.block < t->options->blocks;
             i++) {
            struct emu_core *core;
            struct emu_split_view split;
            unsigned slot;
            bool moved = true;

            *all = false;
            for (unsigned n = 0; n < SLICE && moved; n++) {
                if (t->steps >= t->options->most)
                    return LW_OK;
                if (!t->engine->ops->locate(t->engine, site.grid, site.block, &core, &slot) ||
                    !pick(core, slot, site.warp, t->steps, &split))
                    break;
                status = step(t, &site, core, slot, &split, &moved, err);
                if (status != LW_OK)
                    return status;
                any = any || moved;
            }
        }
        if (!any)
            break;
        *all = true;
    }
    return LW_OK;
}

/** Imitates a wrong compiler: exchanges two locations of variables in the debug information that are not in local memory. */
static void corrupt(struct recorder *t)
{
    const struct isa_debug *debug = t->object->debug;
    struct prop_random r = {t->options->corrupt};

    for (unsigned tries = 0; debug != NULL && debug->location_count > 1 && tries < 500; tries++) {
        /* The object belongs to the session and may be changed, although the session returns a pointer to a const object. */
        struct isa_var_location *a = &debug->locations[prop_below(&r, debug->location_count)];
        struct isa_var_location *b = &debug->locations[prop_below(&r, debug->location_count)];
        const struct isa_var_location old = *a;

        if (is_local(a) || is_local(b) || (a->kind == b->kind && a->value == b->value) ||
            a->kind == ISA_LOCATION_FRAME || b->kind == ISA_LOCATION_FRAME || a->kind == ISA_LOCATION_VARIABLE ||
            b->kind == ISA_LOCATION_VARIABLE)
            continue;
        a->kind = b->kind;
        a->variable = b->variable;
        a->value = b->value;
        b->kind = old.kind;
        b->variable = old.variable;
        b->value = old.value;
        t->out->corrupted += 2;
        return;
    }
}

static enum lw_status open_recorder(struct recorder *t, struct lw_error *err)
{
    const struct values_options *o = t->options;
    struct emu_config config;
    struct lnc_options options = {.clang = o->compiler, .flags = o->flags, .flag_count = o->flag_count,
                                  .debuggable = o->reference};
    struct dbg_config dbg = {.next = next, .next_context = t};
    enum lw_status status;

    emu_config_default(&config);
    status = lnc_file_load(o->launch, &config, &t->file, err);
    if (status == LW_OK)
        status = emu_machine_create(&config, &t->machine, err);
    if (status == LW_OK)
        status = emu_engine_functional_create(t->machine, &t->engine, err);
    if (status == LW_OK)
        status = lnc_session_create(t->file, t->machine, &options, &t->session, err);
    if (status != LW_OK)
        return status;
    t->object = lnc_session_object(t->session);
    if (o->corrupt != 0)
        corrupt(t);
    dbg.machine = t->machine;
    dbg.engine = t->engine;
    status = dbg_create(&dbg, &t->dbg, err);
    if (status != LW_OK || dbg_program(t->dbg) == NULL)
        return status;
    t->program = dbg_program(t->dbg);
    t->base = emu_program_base(t->program);
    t->site = values_need(calloc(t->object->text_count, sizeof *t->site));
    t->variable = values_need(calloc(t->object->debug != NULL ? t->object->debug->die_count + 1 : 1, sizeof *t->variable));
    t->function = values_need(calloc(t->object->function_count + 1, sizeof *t->function));
    return LW_OK;
}

static void close_recorder(struct recorder *t)
{
    for (unsigned i = 0; t->function != NULL && i < t->object->function_count; i++)
        free(t->function[i].slot);
    for (struct warp *w = t->warps; w != NULL; w = w->next)
        for (unsigned l = 0; l < EMU_MAX_LANES; l++)
            for (unsigned d = 0; d < MOST_FRAMES; d++) {
                free(w->lane[l].frame[d].raw);
                free(w->lane[l].frame[d].set);
            }
    free(t->site);
    free(t->variable);
    free(t->function);
    dbg_destroy(t->dbg);
    emu_engine_destroy(t->engine);
    emu_machine_destroy(t->machine);
    lnc_session_destroy(t->session);
    lnc_file_destroy(t->file);
    lw_arena_fini(&t->arena);
}

enum lw_status values_trace_make(const struct values_options *options, struct values_names *names,
                                 struct values_trace *out, struct lw_error *err)
{
    struct recorder recorder = {.options = options, .out = out, .r = {options->seed}}, *t = &recorder;
    struct emu_stop stop;
    enum lw_status status;
    bool more = true, all;
    void *bytes = NULL;

    *out = (struct values_trace){.names = names, .complete = true};
    lw_arena_init(&t->arena);
    status = open_recorder(t, err);
    while (status == LW_OK && more && t->program != NULL) {
        status = run_recorded(t, &all, err);
        out->complete = out->complete && all;
        /* Runs the remaining blocks of the launch. Recorded blocks may wait for some of these. */
        if (status == LW_OK)
            status = t->engine->ops->run(t->engine, &stop, err);
        if (status == LW_OK && stop.kind != EMU_STOP_IDLE)
            status = LW_FAIL(err, LW_ESTATE, "the run ends with stop %d", stop.kind);
        if (status == LW_OK)
            status = next(t, &more, err);
    }
    if (status == LW_OK && lnc_session_bytes(t->session, "out", &bytes, &out->result_bytes, NULL) == LW_OK)
        out->results = bytes;
    close_recorder(t);
    return status;
}
