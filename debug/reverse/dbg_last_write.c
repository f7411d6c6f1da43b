/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the last writer of a value, and the origin of a value. A hidden watchpoint is set on the location, a reverse
 * search finds its last hit, and the machine returns to the instruction count at which the command began.
 */
#include "debug/expr/dbg_expr_priv.h"
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>

/** Observer that finds the last write to a location. */
struct wrote_search {
    struct emu_observer observer;
    struct dbg *dbg;
    unsigned point; /* id of the hidden watchpoint on the location */
    struct dbg_written *out;
};

/* Records the thread, lane and pc of an instruction. */
static void note_thread(const struct emu_event *ev, unsigned lane, struct dbg_thread *out)
{
    memset(out, 0, sizeof *out);
    out->id = dbg_event_thread(ev);
    out->location.grid = ev->grid->sequence;
    out->location.block = ev->block;
    out->location.warp = ev->warp;
    out->location.pc = ev->pc;
    memcpy(out->block_index, ev->block_index, sizeof out->block_index);
    out->lane = lane;
}

/* Records address and size of the lane's load, if the instruction is a load. */
static void note_load(const struct emu_event *ev, unsigned lane, struct dbg_written *out)
{
    out->load_bytes = 0;
    for (unsigned i = 0; i < ev->access_count; i++)
        if (ev->access[i].kind == EMU_ACCESS_LOAD && (ev->access[i].lanes >> lane & 1) != 0) {
            out->load_bytes = ev->access[i].bytes;
            out->load_address = ev->access[i].address[lane];
        }
}

static void look_at(struct wrote_search *w, const struct emu_event *ev, uint64_t at)
{
    const struct dbg_watch_hit *touches;
    size_t count = dbg_watch_was_hit(w->dbg, ev, &touches);

    for (size_t i = 0; i < count; i++)
        if (touches[i].point == w->point && (touches[i].access & DBG_ACCESS_WRITE) != 0) {
            unsigned lane = lw_lowest(touches[i].lanes);

            w->out->found = true;
            w->out->at = at;
            w->out->insn = ev->insn;
            w->out->touch = touches[i];
            w->out->touch.access = DBG_ACCESS_WRITE; /* so that the message says "written", not "read and written" */
            note_thread(ev, lane, &w->out->thread);
            note_load(ev, lane, w->out);
        }
}

static bool on_touch(struct emu_observer *observer, const struct emu_event *ev)
{
    struct wrote_search *w = (struct wrote_search *)(void *)observer;

    if (ev->kind == EMU_EV_RETIRED)
        look_at(w, ev, dbg_history_now(w->dbg) - 1);
    return false;
}

/** Values of a location at two instruction counts between which no instruction wrote the location. */
struct held {
    uint64_t from, to;
    uint8_t then[DBG_WATCH_MAX], now[DBG_WATCH_MAX]; /* the value at count `from`, and at count `to` */
};

/* Finds the instruction count at which the location got its current value. No instruction wrote this value, but a command of
 * the debugger, a step of the launch file or malloc. Formats a message as out->edit. */
static enum lw_status last_edit(struct dbg *dbg, const struct dbg_stoppoint_record *point,
                                struct held *h, struct dbg_written *out, struct lw_error *err)
{
    const struct dbg_watched *w = point->watched;
    uint8_t there[DBG_WATCH_MAX];
    struct lw_buffer text;

    while (h->to - h->from > 1) {
        uint64_t middle = h->from + (h->to - h->from) / 2;
        enum lw_status status = dbg_history_move(dbg, middle, err);

        if (status != LW_OK)
            return status;
        if (!dbg_watched_read(dbg, w, there)) {
            h->from = middle;
        } else if (memcmp(there, h->now, w->bytes) == 0) {
            h->to = middle;
        } else {
            h->from = middle;
            memcpy(h->then, there, w->bytes);
        }
    }
    lw_buffer_init(&text);
    if (point->text != NULL)
        lw_put(&text.sink, point->text);
    else
        lw_printf(&text.sink, "memory at 0x%" PRIx64 " (%u byte%s)", point->pub.address, w->bytes, w->bytes == 1 ? "" : "s");
    lw_printf(&text.sink, " was changed by %s, not by an instruction, at instruction %" PRIu64 ": ",
              w->memory && w->scope == DBG_SCOPE_ALL ? "a command of the debugger, a step of the launch file or malloc"
                                                     : "a command of the debugger",
              h->to);
    dbg_watched_print(dbg, w, h->then, &text.sink);
    lw_put(&text.sink, " -> ");
    dbg_watched_print(dbg, w, h->now, &text.sink);
    snprintf(out->edit, sizeof out->edit, "%s", text.text != NULL ? text.text : "");
    out->edited = true;
    lw_buffer_fini(&text);
    return LW_OK;
}

/* Finds the last write to the location of a watchpoint before instruction count @before, at which the machine is now.
 * Moves the machine to another count, and deletes the watchpoint. */
static enum lw_status last_write(struct dbg *dbg, unsigned point, unsigned last_point,
                                 uint64_t before, struct dbg_written *out, struct lw_error *err)
{
    struct wrote_search w = {.observer = {.on_event = on_touch}, .dbg = dbg, .point = point,
                             .out = out};
    const struct dbg_stoppoint_record *record = dbg_stoppoint_find(dbg, point);
    struct dbg_watch_filter_search look = {.writes = true};
    struct dbg_stop stop = {0};
    /* Only the owning warp writes a register, but any thread may write memory. */
    dbg_thread_id only = record != NULL && !record->watched->memory ? record->watched->id : 0;
    struct held held = {.from = dbg_history_earliest(dbg), .to = before};
    bool known = record != NULL && dbg_watched_read(dbg, record->watched, held.now);
    enum lw_status status;

    out->found = false;
    out->edited = false;
    status = dbg_search_back(dbg, before, only, &w.observer, &out->found, &look,
                           &out->interrupted, err);
    if (out->found) {
        dbg_watch_hit_stop(dbg, &out->touch, &stop);
        snprintf(out->text, sizeof out->text, "%s", stop.text);
        held.from = out->at;
        memcpy(held.then, out->touch.new_bytes, sizeof held.then);
    } else if (status == LW_OK && !out->interrupted && known) {
        status = dbg_history_move(dbg, held.from, err);
        known = status == LW_OK && dbg_watched_read(dbg, record->watched, held.then);
    }
    if (status == LW_OK && known && !out->interrupted &&
        memcmp(held.then, held.now, record->watched->bytes) != 0)
        status = last_edit(dbg, record, &held, out, err);
    if (dbg_stoppoint_remove(dbg, point, NULL) == LW_OK)
        dbg->last_point = last_point; /* the next stoppoint of the user gets this id again */
    return status;
}

/** Position of a session before a search. The position is restored after the search. */
struct saved_position {
    uint64_t at; /* argument of dbg_history_move(): an instruction count, or UINT64_MAX at the end of history */
    dbg_thread_id focus[2];
    struct dbg_focus_lane *pins; /* copy of the chosen focus lanes, which the search changes */
    size_t pin_count;
    uint64_t count; /* instruction count */
};

/* Saves the position. If the run has ended, moves the machine to before its last instruction, and sets *@lane_ref to a
 * lane that is resident there. */
static enum lw_status position_save(struct dbg *dbg, struct saved_position *saved_position, struct dbg_lane_ref *lane_ref,
                                 struct lw_error *err)
{
    struct dbg_thread first;
    struct emu_history_info info;
    struct dbg_stop stop;
    enum lw_status status = dbg_history_ready(dbg, &stop, err);

    if (status != LW_OK)
        return status;
    (void)dbg_history_info(dbg, &info);
    saved_position->at = info.in_past ? info.now : UINT64_MAX;
    memcpy(saved_position->focus, dbg->focus, sizeof saved_position->focus);
    saved_position->count = info.now;
    saved_position->pin_count = dbg->pin_count;
    saved_position->pins = malloc((dbg->pin_count + 1) * sizeof *saved_position->pins);
    if (saved_position->pins == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the search back in history");
    if (dbg->pin_count != 0)
        memcpy(saved_position->pins, dbg->pins, dbg->pin_count * sizeof *saved_position->pins);
    if (!dbg->ended || info.now == info.earliest)
        return LW_OK;
    /* Names are resolved in a resident thread. After the end of the run no thread is resident; before the last instruction,
     * one is. */
    status = dbg_history_move(dbg, info.now - 1, err);
    if (status == LW_OK && dbg_thread_at(dbg, 0, &first))
        *lane_ref = (struct dbg_lane_ref){first.id, first.lane};
    if (status != LW_OK)
        free(saved_position->pins);
    return status;
}

static enum lw_status position_restore(struct dbg *dbg, struct saved_position *saved_position,
                                  struct lw_error *err)
{
    enum lw_status status = dbg_history_move(dbg, saved_position->at, err);

    memcpy(dbg->focus, saved_position->focus, sizeof saved_position->focus);
    if (saved_position->pin_count != 0) /* dbg->pins has capacity for the saved elements, because this array never shrinks */
        memcpy(dbg->pins, saved_position->pins, saved_position->pin_count * sizeof *saved_position->pins);
    dbg->pin_count = saved_position->pin_count;
    free(saved_position->pins);
    return status;
}

/* Changes the error of watch_location() for a variable that no instruction writes, because its value is not stored. */
static enum lw_status not_written(struct dbg *dbg, const struct dbg_operand *o, const char *text, enum lw_status status,
                                  struct lw_error *err)
{
    struct isa_piece piece;
    dbg_thread_id id;
    unsigned lane;

    switch (o->address >> 56) {
    case 0xF5:
    case 0xFB: return LW_FAIL(err, LW_ERANGE, "no instruction writes %s: it is a special register", text);
    case 0xFC:
        if (dbg_value_piece(dbg, o->address, &piece, &id, &lane) && piece.kind == ISA_PIECE_MEMORY)
            return status;
        return dbg_value_is_missing(dbg, o->address)
                   ? LW_FAIL(err, LW_ERANGE, "%s has no value here because the compiler has optimised it out", text)
                   : LW_FAIL(err, LW_ERANGE, "no instruction writes %s: the compiler has optimised the variable out, and the "
                                             "debugger computes its value from other values", text);
    default: return status;
    }
}

/* Adds a hidden watchpoint on the location that @text names, or on @size_bytes (0: four) at the address @text. */
static enum lw_status watch_location(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, const char *text,
                                  unsigned size_bytes, unsigned *point, struct lw_error *err)
{
    struct lw_error ignored;
    struct dbg_value value;
    struct dbg_operand operand;
    enum lw_status status = LW_EINPUT;

    if (size_bytes == 0) {
        status = dbg_watch_expression(dbg, lane_ref->id, lane_ref->lane, text, DBG_ACCESS_BOTH, NULL, point,
                                      err);
        if (status == LW_OK) {
            struct dbg_watched *w = dbg_stoppoint_find(dbg, *point)->watched;
            if (!w->memory)
                w->program = NULL; /* all writes of the register count, also where the variable is not in the register yet */
            return LW_OK;
        }
        if (dbg_expr_location(dbg, lane_ref->id, lane_ref->lane, text, &operand, &ignored) == LW_OK && dbg_typed(&operand))
            return not_written(dbg, &operand, text, status, err); /* a variable that cannot be watched: its value is no address */
    }
    if (dbg_eval(dbg, lane_ref->id, lane_ref->lane, text, &value, size_bytes != 0 ? err : &ignored) == LW_OK)
        status = dbg_watch_add(dbg, DBG_OWNER_SHELL, lane_ref->id, value.bits,
                               size_bytes != 0 ? size_bytes : 4, DBG_ACCESS_BOTH, NULL, NULL,
                               point, err);
    return status;
}

enum lw_status dbg_last_write(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                         unsigned size_bytes, struct dbg_written *out, struct lw_error *err)
{
    struct dbg_lane_ref lane_ref = {id, lane};
    unsigned point, last = dbg->last_point;
    struct saved_position saved_position;
    enum lw_status status = position_save(dbg, &saved_position, &lane_ref, err), restored;

    memset(out, 0, sizeof *out);
    if (status != LW_OK)
        return status;
    status = watch_location(dbg, &lane_ref, text, size_bytes, &point, err);
    if (status == LW_OK)
        status = last_write(dbg, point, last, saved_position.count, out, err);
    restored = position_restore(dbg, &saved_position, status == LW_OK ? err : NULL);
    return status != LW_OK ? status : restored;
}

/* ---- the origin of a value ---------------------------------------------------------------------- */

/** Location from which an instruction has copied a value: a register of a lane, or memory as the lane sees it. */
struct source {
    struct dbg_lane_ref lane_ref;
    uint64_t address; /* generic address of memory, or debug address of a register */
    unsigned bytes;
    char name[48];
};

static void source_register(struct source *s, const struct isa_reg_use *use)
{
    bool vector = use->reg_class == ISA_REG_V;

    s->address = UINT64_C(0xF0) << 56 | (vector ? 0 : UINT64_C(2) << 56) | 4u * use->first;
    s->bytes = 4u * use->count;
    snprintf(s->name, sizeof s->name, use->count == 2 ? "%c%u:%u" : "%c%u", vector ? 'v' : 's',
             use->first, use->first + 1u);
}

/** Type of the value whose origin is searched. The type remains the same through moves, loads and stores. With `bytes` 0 the
 *  type is not known. */
struct number {
    enum dbg_type type;
    unsigned bytes;
};

static struct number watched_number(const struct dbg *dbg, unsigned point)
{
    const struct dbg_stoppoint_record *record = dbg_stoppoint_find(dbg, point);
    const struct dbg_watched *w = record != NULL ? record->watched : NULL;
    struct number n = {DBG_U32, 0};

    if (w != NULL && w->typed)
        n = (struct number){w->type, w->bytes};
    else if (w == NULL || w->operand == NULL || w->operand->debug == NULL || w->operand->stars != 0 ||
             w->operand->bit_count != 0 || !dbg_type_scalar(w->operand->debug, w->operand->type, &n.type, &n.bytes) ||
             n.bytes != w->bytes)
        n.bytes = 0;
    return n;
}

/** Returns the type with which a floating-point instruction computes, from its mnemonic. */
static struct number computed_number(const struct isa_insn *insn)
{
    const char *name = isa_op_info((enum isa_op)insn->op)->mnemonic;
    const size_t n = strlen(name);

    return n > 4 && strcmp(name + n - 4, "_f32") == 0   ? (struct number){DBG_F32, 4}
           : n > 4 && strcmp(name + n - 4, "_f64") == 0 ? (struct number){DBG_F64, 8}
                                                        : (struct number){DBG_U32, 0};
}

/* Prints the registers that the instruction reads, with their values before the instruction: "v6 = 3, v8 = 2". @followed is the
 * location from which the instruction has copied the value; the location has type @number. NULL: the instruction has copied no
 * value. */
static void print_sources(struct dbg *dbg, const struct dbg_written *w, const struct source *followed,
                          struct number number, struct lw_sink *out)
{
    const struct number computed = computed_number(w->insn);
    static const char *const prefix[] = {
        [ISA_REG_V] = "v", [ISA_REG_S] = "s", [ISA_REG_P] = "p", [ISA_REG_SP] = "sp"};
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(w->insn, uses);
    bool first = true;

    for (unsigned i = 0; i < count; i++) {
        struct dbg_value value;
        char name[32];

        if (uses[i].written || uses[i].reg_class >= LW_COUNT_OF(prefix) ||
            prefix[uses[i].reg_class] == NULL)
            continue;
        snprintf(name, sizeof name, uses[i].count == 2 ? "%s%u:%u" : "%s%u",
                 prefix[uses[i].reg_class], uses[i].first, uses[i].first + 1u);
        if (dbg_eval(dbg, w->thread.id, w->thread.lane, name, &value, NULL) != LW_OK)
            continue;
        if (uses[i].reg_class == ISA_REG_V && 4u * uses[i].count == computed.bytes)
            value.type = computed.type;
        else if (followed != NULL && strcmp(followed->name, name) == 0 && followed->bytes == number.bytes)
            value.type = number.type;
        lw_printf(out, "%s%s = ", first ? "     from " : ", ", name);
        dbg_value_print(&value, '\0', out);
        first = false;
    }
    if (w->load_bytes != 0) {
        lw_printf(out, "%s%u byte%s at 0x%" PRIx64, first ? "     from " : ", ", w->load_bytes,
                  w->load_bytes == 1 ? "" : "s", w->load_address);
        first = false;
    }
    if (!first)
        lw_put(out, "\n");
}

/* Finds the location from which a move, load or store has copied the value. Returns false for any other instruction. */
static bool follow(const struct dbg_written *w, struct source *next)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(w->insn, uses), op = w->insn->op;
    unsigned flags = isa_op_info((enum isa_op)op)->flags;

    next->lane_ref = (struct dbg_lane_ref){w->thread.id, w->thread.lane};
    if (w->load_bytes != 0 && !(flags & ISA_F_ATOMIC)) {
        next->address = w->load_address;
        next->bytes = w->load_bytes;
        snprintf(next->name, sizeof next->name, "0x%" PRIx64, w->load_address);
        return true;
    }
    if ((flags & ISA_F_STORE) && !(flags & ISA_F_ATOMIC)) {
        unsigned data = isa_x_reg(w->insn->x);

        for (unsigned i = 0; i < count; i++)
            if (!uses[i].written && uses[i].reg_class == ISA_REG_V && uses[i].first == data &&
                uses[i].count <= 2) {
                source_register(next, &uses[i]);
                return true;
            }
        return false;
    }
    if (op != ISA_V_MOV_B32 && op != ISA_V_MOV_B64 && op != ISA_S_MOV_B32 && op != ISA_S_MOV_B64)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!uses[i].written && (uses[i].reg_class == ISA_REG_V || uses[i].reg_class == ISA_REG_S)) {
            source_register(next, &uses[i]);
            return true;
        }
    return false;
}

enum { MOST_HOPS = 32 };

enum lw_status dbg_origin(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_sink *out, struct lw_error *err)
{
    unsigned point, last = dbg->last_point;
    struct dbg_written w = {0};
    struct source next;
    struct number number = {DBG_U32, 0};
    struct dbg_stoppoint_record *record;
    bool more;
    struct saved_position saved_position;
    struct dbg_lane_ref lane_ref = {id, lane};
    enum lw_status status = position_save(dbg, &saved_position, &lane_ref, err), restored;

    if (status != LW_OK)
        return status;
    w.at = saved_position.count;
    status = watch_location(dbg, &lane_ref, text, 0, &point, err);
    if (status == LW_OK)
        number = watched_number(dbg, point);
    for (unsigned hop = 1; status == LW_OK && hop <= MOST_HOPS; hop++) {
        status = last_write(dbg, point, last, w.at, &w, err);
        if (status != LW_OK)
            break;
        if (w.interrupted || !w.found || w.edited) {
            if (w.interrupted)
                lw_put(out, "interrupted\n");
            else if (w.edited)
                lw_printf(out, "%2u.  %s\n", hop, w.edit);
            else
                lw_printf(out, "%sno instruction has written %s since the start of history\n",
                          hop > 1 ? "     " : "", hop > 1 ? "this source" : text);
            break;
        }
        lw_printf(out, "%2u.  %s\n", hop, w.text);
        dbg_written_print(dbg, &w, "     ", out);
        status = dbg_history_move(dbg, w.at, err);
        if (status != LW_OK)
            break;
        more = follow(&w, &next);
        print_sources(dbg, &w, more ? &next : NULL, number, out);
        if (!more)
            break;
        if (hop == MOST_HOPS) { /* no watchpoint is added, because only last_write() would delete it */
            lw_printf(out, "     only %d steps are shown; for earlier ones, use `goto %" PRIu64 "` and then `origin` "
                                                                                                "of the source of the "
                                                                                                "last step\n",
                      MOST_HOPS, w.at);
            break;
        }
        dbg_lane_pin(dbg, next.lane_ref.id, next.lane_ref.lane);
        if (dbg_watch_add(dbg, DBG_OWNER_SHELL, next.lane_ref.id, next.address, next.bytes,
                          DBG_ACCESS_BOTH, NULL, next.name, &point, NULL) != LW_OK)
            break;
        record = dbg_stoppoint_find(dbg, point);
        if (record != NULL && record->watched != NULL && record->watched->bytes == number.bytes) {
            record->watched->typed = true;
            record->watched->type = number.type;
        }
    }
    restored = position_restore(dbg, &saved_position, status == LW_OK ? err : NULL);
    return status != LW_OK ? status : restored;
}

void dbg_written_print(struct dbg *dbg, const struct dbg_written *w, const char *indent,
                       struct lw_sink *out)
{
    const char *file, *line_text = NULL;
    unsigned line = 0;

    lw_printf(out, "%sby ", indent);
    dbg_thread_name(dbg, &w->thread, out);
    lw_printf(out, " at instruction %" PRIu64 "; `goto %" PRIu64 "` goes back to just before it\n", w->at, w->at);
    if (dbg_source_at(dbg, w->thread.location.pc, &file, &line))
        line_text = dbg_source_line(dbg, file, line);
    lw_put(out, indent);
    if (line_text != NULL)
        lw_printf(out, "%u\t%s\n", line, line_text);
    else
        dbg_disassemble(dbg, w->thread.location.pc, 1, false, out);
}
