/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchpoints and catchpoints: adds them, and makes their stops. While one of them is enabled, an observer inspects each
 * instruction (dbg_watch_hit.c finds the hits). A run stops after the instruction that made the hit.
 */
#include "debug/expr/dbg_expr_priv.h"
#include "debug/points/dbg_watch_priv.h"

#include <stdio.h>
#include <stdlib.h>

const char *const dbg_catch_names[] = {"diverge", "reconverge", "barrier", "exit",
                                      "launch",  "atomic",     "convergence", NULL};

/* ---- the observer ------------------------------------------------------------------ */

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct dbg_watch *watch = (struct dbg_watch *)(void *)observer;
    struct dbg *dbg = watch->dbg;
    const struct dbg_watch_hit *touches;
    size_t count = dbg_watch_was_hit(dbg, ev, &touches);

    for (size_t i = 0; i < count; i++) {
        struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, touches[i].point);

        /* A replay executes the start of the launch that the last stop has already shown. */
        if (touches[i].catches == DBG_CATCH_LAUNCH && ev->grid->sequence == dbg->seen.location.grid)
            continue;
        if (!dbg_stoppoint_count_hit(point))
            continue;
        if (watch->pending.point == 0)
            watch->pending = touches[i];
        else if (point->pub.owner == DBG_OWNER_GDB && dbg_stoppoint_is_gdb(dbg, watch->pending.point) &&
                 watch->later_count < LW_COUNT_OF(watch->later))
            watch->later[watch->later_count++] = (struct dbg_later){
                point->pub.address, point->pub.size_bytes, point->pub.access, touches[i]};
        else if (watch->other_count < LW_COUNT_OF(watch->others))
            watch->others[watch->other_count++] = touches[i].point;
    }
    return watch->pending.point != 0;
}

bool dbg_watch_pending(const struct dbg *dbg)
{
    return (dbg->watch != NULL && dbg->watch->pending.point != 0) || dbg_finding_pending(dbg);
}

void dbg_watch_begin(struct dbg *dbg)
{
    if (dbg->watch == NULL)
        return;
    dbg->watch->pending.point = 0;
    dbg->watch->other_count = 0;
    dbg_watch_hit_begin(dbg);
    for (unsigned i = 0; i < DBG_GHOSTS; i++)
        if (dbg->watch->ghosts[i].access != 0 && dbg->watch->ghosts[i].age++ != 0)
            dbg->watch->ghosts[i].access = 0;
    /* The last stop has reported one hit to gdb. Further hits by the same instruction are in `later`. One of them makes the
     * next stop if gdb has inserted the watchpoint of this hit again. */
    while (dbg->watch->pending.point == 0 && dbg->watch->later_count != 0) {
        const struct dbg_later *later = &dbg->watch->later[--dbg->watch->later_count];

        for (size_t i = 0; i < dbg->point_count && dbg->watch->pending.point == 0; i++) {
            const struct dbg_stoppoint *point = &dbg->points[i].pub;

            if (point->kind == DBG_STOPPOINT_WATCH && point->owner == DBG_OWNER_GDB &&
                point->enabled && point->address == later->address &&
                point->size_bytes == later->size_bytes && point->access == later->access) {
                dbg->watch->pending = later->touch;
                dbg->watch->pending.point = point->id;
            }
        }
    }
}

void dbg_watch_forget(struct dbg *dbg)
{
    if (dbg->watch == NULL)
        return;
    dbg->watch->pending.point = 0;
    dbg->watch->other_count = dbg->watch->later_count = 0;
}

void dbg_watch_removed(struct dbg *dbg, const struct dbg_stoppoint_record *point)
{
    struct dbg_ghost *ghost;

    if (point->pub.owner != DBG_OWNER_GDB || point->watched == NULL || dbg->watch == NULL ||
        point->watched->scope == DBG_SCOPE_ALL)
        return;
    ghost = &dbg->watch->ghosts[dbg->watch->ghost_next++ % DBG_GHOSTS];
    *ghost = (struct dbg_ghost){point->pub.address, point->pub.size_bytes, point->pub.access, 0,
                                *point->watched};
}

static bool is_of(const struct dbg_watched *w, const struct dbg_lane_ref *lane_ref)
{
    uint64_t warps = w->scope == DBG_SCOPE_BLOCK ? w->warps : 1;

    return lane_ref->id - w->id < warps && (w->scope != DBG_SCOPE_LANE || lane_ref->lane == w->lane);
}

/* Restores the owner of a watchpoint that gdb had removed and inserts again; the focus may be on another lane now. With
 * @lane_ref only a record whose owner includes this lane is used. Returns true if a record was found. */
static bool ghost_take(struct dbg *dbg, const struct dbg_stoppoint *point, const struct dbg_lane_ref *lane_ref,
                       struct dbg_watched *w)
{
    for (unsigned i = 0; point->owner == DBG_OWNER_GDB && i < DBG_GHOSTS; i++) {
        struct dbg_ghost *ghost = &dbg->watch->ghosts[i];

        if (ghost->access == point->access && ghost->address == point->address &&
            ghost->size_bytes == point->size_bytes &&
            (lane_ref == NULL || is_of(&ghost->watched, lane_ref))) {
            *w = ghost->watched;
            ghost->access = 0;
            return true;
        }
    }
    return false;
}

/* Creates dbg->watch if needed, and enlarges its tables for one more stoppoint. Returns false if the host has no
 * memory. */
static bool watch_capacity(struct dbg *dbg)
{
    size_t capacity = dbg->point_count + 1;
    struct dbg_watch *watch = dbg->watch;
    struct dbg_range *memory, *registers;
    struct dbg_watch_hit *touches;
    size_t *touched;

    if (watch == NULL) {
        watch = calloc(1, sizeof *watch);
        if (watch == NULL)
            return false;
        watch->dbg = dbg;
        watch->observer.on_event = on_event;
        dbg->watch = watch;
    }
    if (capacity <= watch->capacity)
        return true;
    capacity += capacity / 2 + 8;
    if ((memory = realloc(watch->memory, capacity * sizeof *memory)) != NULL)
        watch->memory = memory;
    if ((registers = realloc(watch->registers, capacity * sizeof *registers)) != NULL)
        watch->registers = registers;
    if ((touches = realloc(watch->touches, capacity * sizeof *touches)) != NULL)
        watch->touches = touches;
    if ((touched = realloc(watch->touched, capacity * sizeof *touched)) != NULL)
        watch->touched = touched;
    if (memory == NULL || registers == NULL || touches == NULL || touched == NULL)
        return false;
    watch->capacity = capacity;
    return true;
}

bool dbg_watch_ready(struct dbg *dbg)
{
    return dbg->watch != NULL || watch_capacity(dbg);
}

void dbg_watch_changed(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;
    bool wanted = false;

    if (watch == NULL)
        return;
    watch->changed = true;
    for (size_t i = 0; i < dbg->point_count && !wanted; i++)
        wanted = dbg->points[i].pub.enabled && dbg->points[i].pub.kind != DBG_STOPPOINT_BREAK;
    if (wanted && !watch->attached && !watch->filtering)
        emu_observer_add(dbg->engine, &watch->observer);
    if (!wanted && watch->attached && !watch->filtering)
        emu_observer_remove(dbg->engine, &watch->observer);
    watch->attached = wanted;
}

void dbg_watch_free(struct dbg *dbg)
{
    struct dbg_watch *watch = dbg->watch;

    if (watch == NULL)
        return;
    if (watch->attached)
        emu_observer_remove(dbg->engine, &watch->observer);
    free(watch->memory);
    free(watch->registers);
    free(watch->touches);
    free(watch->touched);
    free(watch->filter);
    free(watch);
    dbg->watch = NULL;
}

/* ---- the watched location -------------------------------------------------------------- */

static enum lw_status not_there(uint64_t address, const char *why, struct lw_error *err)
{
    return LW_FAIL(err, LW_ERANGE, "0x%llx cannot be watched: %s", (unsigned long long)address,
                   why);
}

static void scope_of_warp(struct dbg *dbg, struct dbg_watched *w, enum dbg_scope scope,
                          const struct dbg_warp *warp, unsigned lane)
{
    w->scope = scope;
    w->id = dbg_thread_id_of(dbg, warp->grid->sequence, warp->block, warp->warp);
    w->lane = lane;
    w->warps = 1;
    if (scope == DBG_SCOPE_BLOCK) {
        w->id -= warp->warp;
        w->warps = warp->grid->block_warps;
    }
}

/* Sets range and owner of a watchpoint at a generic address, as @lane of @warp sees the address. */
static enum lw_status watch_generic(struct dbg *dbg, struct dbg_watched *w,
                                    const struct dbg_warp *warp, unsigned lane,
                                    uint64_t address, struct lw_error *err)
{
    w->memory = true;
    w->low = address;
    w->scope = DBG_SCOPE_ALL;
    if (address >= ISA_CONST_BASE)
        return LW_OK;
    if (address < ISA_SHARED_BASE)
        return not_there(address, "the address is below all memory that instructions can read or write", err);
    if (warp == NULL)
        return not_there(address, "it is an address of shared or local memory, which exists only while a warp is resident", err);
    scope_of_warp(dbg, w, address < ISA_LOCAL_BASE ? DBG_SCOPE_BLOCK : DBG_SCOPE_LANE, warp,
                  lane);
    return LW_OK;
}

/* Sets register or memory range, and owner, of a watchpoint at a debug address. *@warp becomes the warp, or a warp of the
 * block, that the address names. */
static enum lw_status watch_window(struct dbg *dbg, struct dbg_watched *w,
                                   struct dbg_warp *warp, unsigned lane, uint64_t address,
                                   struct lw_error *err)
{
    static const char computed[] = "the value at this address is computed when it is read: watch a register or variable "
                                   "instead";
    uint64_t offset = address & lw_mask(56), index = offset / 8;
    unsigned window = (unsigned)(address >> 56);

    w->low = offset;
    w->window = (uint8_t)window;
    switch (window) {
    case 0xF0:
        scope_of_warp(dbg, w, DBG_SCOPE_LANE, warp, lane);
        return LW_OK;
    case 0xF1:
    case 0xF2:
        scope_of_warp(dbg, w, DBG_SCOPE_WARP, warp, 0);
        return LW_OK;
    case 0xF3:
        scope_of_warp(dbg, w, DBG_SCOPE_WARP, warp, 0);
        if (index < ISA_PRED_COUNT || (index >= 8 && index < 8 + ISA_PRED_COUNT) || index == 16)
            return LW_OK;
        return not_there(address, "of the registers in this debug address range, only predicates and exec can be watched", err);
    case 0xF6:
        if (!dbg_block_by_slot(dbg, offset >> 32 & 0xffffff, warp))
            return not_there(address, "the block to which the address belongs is not resident", err);
        return watch_generic(dbg, w, warp, 0, ISA_SHARED_BASE + (offset & UINT32_MAX), err);
    case 0xF7:
    case 0xF8:
        lane = (unsigned)(offset >> 32 & 0xff);
        if (!dbg_warp_by_slot(dbg, offset >> 40 & 0xffff, warp) ||
            lane >= emu_machine_config(dbg->machine)->warp_width)
            return not_there(address, "the warp to which the address belongs is not resident, or has no such lane",
                             err);
        if (window == 0xF7)
            return watch_generic(dbg, w, warp, lane, ISA_LOCAL_BASE + (offset & UINT32_MAX),
                                 err);
        w->low = offset & UINT32_MAX;
        if (dbg_window_scalar((uint32_t)offset) < ISA_SREG_COUNT) {
            w->window = 0xF2;
            w->low = 4 * dbg_window_scalar((uint32_t)offset) + offset % 4;
            scope_of_warp(dbg, w, DBG_SCOPE_WARP, warp, 0);
            return LW_OK;
        }
        w->window = 0xF0;
        scope_of_warp(dbg, w, DBG_SCOPE_LANE, warp, lane);
        return LW_OK;
    case 0xF9:
        return watch_generic(dbg, w, warp, lane,
                             ISA_CONST_BASE + (offset >> 32 & 0xffffff) * ISA_CONST_STRIDE +
                                 (offset & UINT32_MAX),
                             err);
    case 0xFC: {
        struct isa_piece piece;
        dbg_thread_id id;

        if (!dbg_value_piece(dbg, address, &piece, &id, &lane) || piece.kind != ISA_PIECE_MEMORY)
            return not_there(address, dbg_mem_refusal(dbg, address), err);
        offset = (address & lw_mask(ISA_VALUE_BITS)) - piece.offset;
        if (offset + w->bytes > piece.bytes)
            return not_there(address, "the variable is in several registers: watch one of its members", err);
        if (piece.value >> 56 < 0xF0)
            return watch_generic(dbg, w, warp, lane, piece.value + offset, err);
        return watch_window(dbg, w, warp, lane, piece.value + offset, err);
    }
    default: return not_there(address, computed, err);
    }
}

/* Returns true if all watched bytes are readable. A test read of @address would not fail, because a debug address range
 * returns zeros for bytes that it does not map. So the function tests the memory or register that the address shows. */
static bool readable(struct dbg *dbg, const struct dbg_watched *w, struct dbg_warp *warp,
                     uint64_t address, unsigned lane, dbg_thread_id id)
{
    uint8_t data[DBG_WATCH_MAX];
    struct emu_warp_view view;

    if (w->memory && w->scope == DBG_SCOPE_ALL)
        return dbg_mem_access(dbg, id, lane, w->low, data, w->bytes, false) == w->bytes;
    if (w->memory)
        return emu_mem_peek(DBG_AT(warp), w->lane, w->low, data, w->bytes) == w->bytes;
    if (!emu_warp_view(DBG_AT(warp), &view))
        return false;
    if (w->window == 0xF0)
        return w->low + w->bytes <= 4 * (uint64_t)view.vreg_count;
    if (w->window == 0xF1)
        return (w->low + w->bytes - 1) / 256 < view.vreg_count &&
               w->low % 256 + w->bytes <=
                   4 * (uint64_t)emu_machine_config(dbg->machine)->warp_width;
    if (w->window == 0xF2)
        return w->low + w->bytes <= 4 * (uint64_t)view.sreg_count;
    return w->low % 8 + w->bytes <= 8 &&
           dbg_mem_access(dbg, id, lane, address, data, w->bytes, false) == w->bytes;
}

/* Sets the location of a watchpoint on local memory or a vector register of a lane whose warp is not resident: the warp
 * may begin later, or the user may move back to a time when it was resident. Returns false for any other location. */
static bool watch_absent(struct dbg_watched *w, const struct dbg_lane_ref *lane_ref, uint64_t address)
{
    w->memory = address >= ISA_LOCAL_BASE && address < ISA_CONST_BASE;
    if (!w->memory && address >> 56 != 0xF0)
        return false;
    w->window = w->memory ? 0 : 0xF0;
    w->low = w->memory ? address : address & lw_mask(56);
    w->scope = DBG_SCOPE_LANE;
    w->id = lane_ref->id;
    w->lane = lane_ref->lane;
    w->warps = 1;
    return true;
}

static enum lw_status location(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, uint64_t address,
                            struct dbg_watched *w, struct lw_error *err)
{
    struct dbg_warp warp = {0};
    dbg_thread_id id = lane_ref->id;
    unsigned lane = lane_ref->lane;
    bool there = dbg_warp_locate(dbg, id, &warp);
    enum lw_status status;

    if (address >> 56 < 0xF0)
        status = watch_generic(dbg, w, there ? &warp : NULL, lane, address, err);
    else if (there)
        status = watch_window(dbg, w, &warp, lane, address, err);
    else
        status = dbg_exited(dbg, id, err);
    if (status == LW_OK && !readable(dbg, w, &warp, address, lane, id))
        status = not_there(address, "no memory or register can be read there", err);
    return status;
}

/* ---- variables in registers -------------------------------------------------------------- */

/* Returns true if a location of a variable in the watched register includes instruction @insn. If @begins is set, the location
 * must begin at the instruction. */
static bool has_variable(const struct dbg_watched *w, const struct isa_debug *d, uint32_t die, uint32_t insn, bool begins)
{
    const struct isa_attr *attr = isa_die_attr(d, die, ISA_AT_LOCATION);
    const uint64_t bytes = attr != NULL ? isa_type_bytes(d, isa_die_type(d, die), 0) : 0;

    for (uint32_t k = 0; attr != NULL && k < attr->count; k++) {
        const struct isa_var_location *p = &d->locations[attr->value + k];
        const uint64_t first = p->value & lw_mask(56);

        if (p->kind == ISA_LOCATION_ADDRESS && p->value >> 56 == w->window && first <= w->low &&
            w->low + w->bytes <= first + bytes &&
            (begins ? p->from == insn && p->to != 0 : p->to == 0 || (insn >= p->from && insn < p->to)))
            return true;
    }
    return false;
}

bool dbg_watched_has_variable(const struct dbg_watched *w, uint32_t insn, bool begins)
{
    const struct isa_debug *d = emu_program_object(w->program)->debug;

    for (unsigned i = 0; d != NULL && i < w->variable_count; i++)
        if (w->variables[i] < d->die_count && has_variable(w, d, w->variables[i], insn, begins))
            return true;
    return false;
}

/* Finds the variables that the watched register contains at a lane's pc. If there are none, or too many, the watchpoint watches
 * the register itself. */
static void find_variables(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, struct dbg_watched *w)
{
    struct emu_split_view split;
    struct dbg_warp warp;
    struct dbg_where at;
    uint32_t scopes[64];

    if (w->memory || (w->window != 0xF0 && w->window != 0xF2) ||
        !dbg_lane_locate(dbg, lane_ref->id, lane_ref->lane, &warp, &split) || !dbg_where_is(dbg, split.pc, &at) || at.object->debug == NULL)
        return;
    const struct isa_debug *d = at.object->debug;

    for (unsigned n = dbg_find_scopes(&at, scopes, LW_COUNT_OF(scopes)); n-- > 0;)
        for (uint32_t i = scopes[n] + 1; i < d->dies[scopes[n]].end; i = d->dies[i].end) {
            if ((d->dies[i].tag != ISA_TAG_VARIABLE && d->dies[i].tag != ISA_TAG_PARAMETER) ||
                isa_die_name(d, i) == NULL || !has_variable(w, d, i, at.insn, false))
                continue;
            if (w->variable_count == LW_COUNT_OF(w->variables)) {
                w->variable_count = 0;
                return;
            }
            w->variables[w->variable_count++] = i;
        }
    if (w->variable_count != 0)
        w->program = at.program;
}

/* Names the watched register, or the variables in it, for messages. The watched bytes get the type of the variables if all have
 * the same scalar type. Returns NULL for memory, for other registers, or if the host has no memory. */
static char *register_name(struct dbg_watched *w)
{
    const struct isa_debug *d = w->variable_count != 0 ? emu_program_object(w->program)->debug : NULL;
    struct lw_buffer name;
    enum dbg_type type = DBG_U64;
    unsigned bytes;

    if (w->memory || (w->window != 0xF0 && w->window != 0xF2))
        return NULL;
    lw_buffer_init(&name);
    for (unsigned i = 0; i < w->variable_count; i++) {
        const bool typed = dbg_type_scalar(d, isa_die_type(d, w->variables[i]), &type, &bytes) && bytes == w->bytes;
        const char *const one = isa_die_name(d, w->variables[i]);

        if (i == 0 || strcmp(one, isa_die_name(d, w->variables[i - 1])) != 0)
            lw_printf(&name.sink, "%s%s", i != 0 ? " and " : "", one);
        w->typed = typed && (i == 0 || (w->typed && type == w->type));
        w->type = type;
    }
    if (w->variable_count == 0)
        lw_printf(&name.sink, "register %c%u", w->window == 0xF0 ? 'v' : 's', (unsigned)(w->low / 4));
    return name.text;
}

/* ---- adding ------------------------------------------------------------------------------ */

/** Sets the type of the watched bytes to the element type of the buffer that contains them, if the element type is a float
 *  type and the watched bytes are exactly one element. */
static void type_of_buffer(const struct dbg *dbg, struct dbg_watched *w)
{
    struct emu_allocation allocation;
    struct dbg_buffer buffer;
    enum dbg_type type;
    unsigned bytes;
    bool is_inside;

    if (!w->memory || w->scope != DBG_SCOPE_ALL || dbg->config.buffer == NULL ||
        !emu_allocation_at(dbg->config.machine, w->low, &allocation, &is_inside) || !is_inside ||
        !dbg->config.buffer(dbg->config.buffer_context, allocation.name, &buffer) ||
        !dbg_type_by_name(buffer.type, &type, &bytes) || (type != DBG_F32 && type != DBG_F64))
        return;
    if (w->bytes == bytes && (w->low - allocation.address) % bytes == 0) {
        w->typed = true;
        w->type = type;
    }
}

/* Adds a watchpoint at @address as lane @lane_ref sees it, or as the focus lane of @id sees it if @lane_ref is NULL. */
static enum lw_status watch_add(struct dbg *dbg, enum dbg_owner owner, dbg_thread_id id,
                                const struct dbg_lane_ref *lane_ref, uint64_t address,
                                unsigned size_bytes, unsigned access, const char *condition,
                                const char *text, unsigned *point, struct lw_error *err)
{
    struct dbg_lane_ref focus = {id, dbg_lane_get(dbg, id)};
    struct dbg_warp warp;
    struct dbg_stoppoint_record record = {.pub = {.kind = DBG_STOPPOINT_WATCH,
                                              .owner = owner,
                                              .address = address,
                                              .size_bytes = size_bytes,
                                              .access = access,
                                              .enabled = true}};
    struct dbg_watched *w;
    enum lw_status status;
    bool taken;

    if (size_bytes == 0 || size_bytes > DBG_WATCH_MAX)
        return LW_FAIL(err, LW_ERANGE, "%u bytes cannot be watched: a watchpoint covers 1 to %u bytes",
                       size_bytes, (unsigned)DBG_WATCH_MAX);
    if (access == 0 || access > DBG_ACCESS_BOTH)
        return LW_FAIL(err, LW_ERANGE, "a watchpoint must be for writes, reads or both");
    status = dbg_stoppoint_copy_condition(dbg, condition, 0, &record.condition, err);
    if (status != LW_OK)
        return status;
    w = record.watched = calloc(1, sizeof *w);
    record.text = text != NULL && *text != '\0' ? strdup(text) : NULL;
    if (w == NULL || !watch_capacity(dbg) || (record.text == NULL && text != NULL && *text != '\0')) {
        dbg_stoppoint_free(&record);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for another breakpoint, watchpoint or catchpoint");
    }
    w->bytes = size_bytes;
    taken = ghost_take(dbg, &record.pub, lane_ref, w);
    if (!taken &&
        (lane_ref == NULL || dbg_warp_locate(dbg, lane_ref->id, &warp) ||
         !watch_absent(w, lane_ref, address)))
        status = location(dbg, lane_ref != NULL ? lane_ref : &focus, address, w, err);
    if (status != LW_OK) {
        dbg_stoppoint_free(&record);
        return status;
    }
    if (!taken && owner == DBG_OWNER_GDB) /* for a new watchpoint gdb sends only an address, so the variables at the
                                           * address are looked up */
        find_variables(dbg, lane_ref != NULL ? lane_ref : &focus, w);
    if (record.text == NULL)
        record.text = register_name(w);
    record.pub.thread = w->scope != DBG_SCOPE_ALL ? w->id : 0;
    record.pub.lane = w->scope == DBG_SCOPE_LANE ? w->lane : 0;
    type_of_buffer(dbg, w);
    return dbg_stoppoint_insert(dbg, &record, point, err);
}

enum lw_status dbg_watch_add(struct dbg *dbg, enum dbg_owner owner, dbg_thread_id id,
                             uint64_t address, unsigned size_bytes, unsigned access,
                             const char *condition, const char *text, unsigned *point,
                             struct lw_error *err)
{
    return watch_add(dbg, owner, id, NULL, address, size_bytes, access, condition, text, point, err);
}

enum lw_status dbg_watch_add_of(struct dbg *dbg, enum dbg_owner owner, const struct dbg_lane_ref *lane_ref,
                                uint64_t address, unsigned size_bytes, unsigned access,
                                unsigned *point, struct lw_error *err)
{
    return watch_add(dbg, owner, lane_ref->id, lane_ref, address, size_bytes, access, NULL, NULL, point, err);
}

/* Computes address and size of the watchpoint for an operand: a register's debug address, or the address of a variable
 * or of memory. */
static enum lw_status operand_address(struct dbg *dbg, dbg_thread_id id,
                                      const struct dbg_operand *o, const char *text,
                                      uint64_t *address, uint64_t *bytes, struct lw_error *err)
{
    struct dbg_warp warp;
    uint64_t slot;

    *bytes = o->pair ? 8 : 4;
    switch (o->kind) {
    case DBG_TARGET_V:
        if (!dbg_warp_locate(dbg, id, &warp))
            return dbg_exited(dbg, id, err);
        slot = dbg_warp_slot(dbg, &warp);
        *address = UINT64_C(0xF8) << 56 | slot << 40 | (uint64_t)o->lane << 32 | 4 * o->number;
        return LW_OK;
    case DBG_TARGET_S:
        *address = UINT64_C(0xF2) << 56 | 4 * o->number;
        return LW_OK;
    case DBG_TARGET_P:
        *bytes = 8;
        *address = UINT64_C(0xF3) << 56 | 8 * o->number;
        return LW_OK;
    case DBG_TARGET_SP:
        *bytes = 1;
        *address = UINT64_C(0xF3) << 56 | (64 + 8 * o->number);
        return LW_OK;
    case DBG_TARGET_EXEC:
        *bytes = 8;
        *address = UINT64_C(0xF3) << 56 | 128;
        return LW_OK;
    default: break;
    }
    if (o->kind != DBG_TARGET_MEMORY && (o->debug == NULL || !o->in_memory))
        return LW_FAIL(err, LW_EUSAGE,
                       "\"%s\" cannot be watched, as its value is not stored: watch a variable, a register, exec or "
                       "memory, as in u32[ADDRESS]",
                       text);
    *address = o->address;
    *bytes = dbg_typed_bytes(o);
    if (*bytes == 0)
        return LW_FAIL(err, LW_ERANGE, "the size of %s is not known: watch a part of it, as in %s[0]", text, text);
    if (*bytes > DBG_WATCH_MAX)
        return LW_FAIL(err, LW_ERANGE,
                       "%s has %llu bytes, but a watchpoint covers at most %u: watch a part of it",
                       text, (unsigned long long)*bytes, (unsigned)DBG_WATCH_MAX);
    return LW_OK;
}

enum lw_status dbg_watch_expression(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    const char *text, unsigned access, const char *condition,
                                    unsigned *point, struct lw_error *err)
{
    struct dbg_operand o;
    struct dbg_watched *w;
    struct dbg_stoppoint_record *record;
    uint64_t address = 0, bytes = 0;
    enum lw_status status = dbg_expr_location(dbg, id, lane, text, &o, err);

    if (status == LW_OK)
        status = operand_address(dbg, id, &o, text, &address, &bytes, err);
    if (status == LW_OK)
        status = dbg_watch_add(dbg, DBG_OWNER_SHELL, id, address, (unsigned)bytes, access,
                               condition, text, point, err);
    if (status != LW_OK)
        return status;
    record = dbg_stoppoint_find(dbg, *point);
    w = record->watched;
    w->typed = (o.debug == NULL || o.typed) && bytes <= 8 && o.bit_count == 0;
    w->type = o.value.type;
    if (dbg_typed(&o) && o.in_memory && o.bit_count == 0) {
        w->operand = malloc(sizeof *w->operand);
        if (w->operand == NULL) {
            (void)!dbg_stoppoint_remove(dbg, *point, NULL);
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for another breakpoint, watchpoint or catchpoint");
        }
        *w->operand = o;
        find_variables(dbg, &(struct dbg_lane_ref){id, lane}, w);
    }
    if (o.kind == DBG_TARGET_P) { /* a predicate is a mask of all lanes; only the bit of this lane is watched */
        w->bit = true;
        w->bytes = record->pub.size_bytes = 1;
        w->scope = DBG_SCOPE_LANE;
        w->lane = record->pub.lane = o.lane;
    }
    return LW_OK;
}

enum lw_status dbg_catch_add(struct dbg *dbg, enum dbg_owner owner, unsigned catches,
                             const char *condition, bool temporary, unsigned *point,
                             struct lw_error *err)
{
    struct dbg_stoppoint_record record = {.pub = {.kind = DBG_STOPPOINT_CATCH, .owner = owner, .catches = catches,
                                                  .enabled = true, .temporary = temporary}};
    enum lw_status status;

    if (catches == 0 || catches >= 2 * DBG_CATCH_CONVERGENCE)
        return LW_FAIL(err, LW_ERANGE, "there is no such event to catch");
    status = dbg_stoppoint_copy_condition(dbg, condition, 0, &record.condition, err);
    if (status != LW_OK)
        return status;
    if (!watch_capacity(dbg)) {
        dbg_stoppoint_free(&record);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for another breakpoint, watchpoint or catchpoint");
    }
    return dbg_stoppoint_insert(dbg, &record, point, err);
}

/* ---- stops --------------------------------------------------------------------------------- */

void dbg_watched_print(struct dbg *dbg, const struct dbg_watched *w, const uint8_t *bytes,
                       struct lw_sink *out)
{
    uint8_t raw[8] = {0};
    struct dbg_value value = {DBG_U64, 0};

    if (w->operand != NULL) {
        struct dbg_operand o = *w->operand;
        const struct dbg_image image = {o.address, w->bytes, bytes};

        dbg_typed_print_image(dbg, &o, &image, DBG_WATCH_MAX, out);
        return;
    }
    if (w->bytes > 8) {
        for (unsigned i = 0; i < w->bytes; i++)
            lw_printf(out, "%s%02x", i != 0 && i % 4 == 0 ? " " : "", bytes[i]);
        return;
    }
    memcpy(raw, bytes, w->bytes);
    value.bits = lw_get64(raw);
    if (w->typed) {
        value.type = w->type;
        if (w->type == DBG_S32 && w->bytes == 1)
            value.bits = (uint64_t)(int64_t)(int8_t)raw[0];
        if (w->type == DBG_S32 && w->bytes == 2)
            value.bits = (uint64_t)(int64_t)(int16_t)(uint16_t)value.bits;
        if (w->type == DBG_S32)
            value.bits &= UINT32_MAX;
    }
    dbg_value_print(&value, '\0', out);
}

void dbg_watch_owner_print(const struct dbg *dbg, unsigned id, struct lw_sink *out)
{
    const struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);
    const struct dbg_watched *w = point != NULL ? point->watched : NULL;
    struct dbg_thread thread;

    if (w == NULL || w->scope < DBG_SCOPE_WARP || !dbg_thread_get(dbg, w->id, &thread))
        return;
    lw_printf(out, " w%u", thread.location.warp);
    if (w->scope == DBG_SCOPE_LANE)
        lw_printf(out, " lane %u", w->lane);
}

static void watch_text(struct dbg *dbg, const struct dbg_stoppoint_record *point,
                       const struct dbg_watch_hit *touch, struct lw_sink *out)
{
    static const char *const done[] = {"", "written", "read", "read and written"};

    if (point->text != NULL)
        lw_put(out, point->text);
    else
        lw_printf(out, "memory at 0x%llx (%u byte%s)", (unsigned long long)point->pub.address, point->pub.size_bytes,
                  point->pub.size_bytes == 1 ? "" : "s");
    lw_printf(out, " was %s by lane%s ", done[touch->access & DBG_ACCESS_BOTH],
              lw_popcount(touch->lanes) == 1 ? "" : "s");
    if (lw_popcount(touch->lanes) == 1)
        lw_printf(out, "%u", lw_lowest(touch->lanes));
    else
        dbg_show_mask(dbg, touch->lanes, out);
    lw_put(out, " at ");
    dbg_print_location(dbg, touch->pc, out);
    lw_put(out, ": ");
    if (touch->access & DBG_ACCESS_WRITE) {
        dbg_watched_print(dbg, point->watched, touch->old_bytes, out);
        lw_put(out, " -> ");
    }
    dbg_watched_print(dbg, point->watched, touch->new_bytes, out);
}

/* Called for an instruction that made lanes diverge: prints for these lanes the pcs at which they continue, with the lanes of
 * each pc. Prints nothing if the lanes are still together, as in a reverse search, which stops before the instruction. */
static void put_parts(const struct dbg *dbg, const struct dbg_watch_hit *touch, struct lw_sink *out)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    struct dbg_warp warp;
    unsigned count, parts = 0;

    if (!dbg_warp_locate(dbg, touch->thread, &warp))
        return;
    count = emu_split_views(DBG_AT(&warp), splits, EMU_MAX_LANES);
    for (unsigned i = 0; i < count; i++)
        parts += (splits[i].lanes & touch->lanes) != 0;
    for (unsigned i = 0; i < count && parts > 1; i++) {
        if ((splits[i].lanes & touch->lanes) == 0)
            continue;
        lw_put(out, "; lanes ");
        dbg_show_mask(dbg, splits[i].lanes & touch->lanes, out);
        lw_put(out, " continue at ");
        dbg_print_location(dbg, splits[i].pc, out);
    }
}

static void catch_text(const struct dbg *dbg, const struct dbg_watch_hit *touch,
                       struct lw_sink *out)
{
    static const char *const what[] = {"diverged", "reconverged", "reached a CTA barrier", "exited",
                                       "started a launch", "executed an atomic operation",
                                       "reached a convergence barrier"};
    bool first = true;

    lw_put(out, "lanes ");
    dbg_show_mask(dbg, touch->lanes, out);
    for (unsigned i = 0; i < LW_COUNT_OF(what); i++)
        if (touch->catches >> i & 1) {
            lw_printf(out, "%s %s", first ? "" : ",", what[i]);
            first = false;
        }
    lw_put(out, " at ");
    dbg_print_location(dbg, touch->pc, out);
    if (touch->catches & DBG_CATCH_DIVERGE)
        put_parts(dbg, touch, out);
}

void dbg_watch_hit_stop(struct dbg *dbg, const struct dbg_watch_hit *touch, struct dbg_stop *stop)
{
    const struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, touch->point);
    struct lw_buffer text;

    if (point == NULL)
        return;
    stop->kind = point->pub.kind == DBG_STOPPOINT_WATCH ? DBG_STOP_WATCH : DBG_STOP_CATCH;
    stop->point = touch->point;
    stop->hit_lanes = touch->lanes;
    stop->writer_pc = touch->pc;
    stop->catches = touch->catches;
    stop->watch_access = touch->access;
    stop->watch_address = point->pub.address;
    stop->watch_bytes = touch->bytes;
    memcpy(stop->old_bytes, touch->old_bytes, touch->bytes);
    memcpy(stop->new_bytes, touch->new_bytes, touch->bytes);
    lw_buffer_init(&text);
    if (point->pub.kind == DBG_STOPPOINT_WATCH)
        watch_text(dbg, point, touch, &text.sink);
    else
        catch_text(dbg, touch, &text.sink);
    snprintf(stop->text, sizeof stop->text, "%s", text.text != NULL ? text.text : "");
    lw_buffer_fini(&text);
}

/* Returns the lane on which the stop puts the focus: the warp's focus lane if that lane made the access, else the first lane
 * that made it. */
static unsigned lane_shown(const struct dbg_watch_hit *touch, const struct dbg_thread *thread)
{
    uint64_t lanes = touch->lanes & thread->live;

    if (lanes == 0 || (lanes >> thread->lane & 1) != 0)
        return thread->lane;
    return lw_lowest(lanes);
}

static void remove_temporary(struct dbg *dbg, unsigned id)
{
    const struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    if (point != NULL && point->pub.temporary)
        (void)!dbg_stoppoint_remove(dbg, id, NULL);
}

void dbg_watch_stand(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_stop *stop)
{
    char others[sizeof stop->text] = "";
    struct dbg_thread thread;
    uint64_t lanes = 0;
    unsigned breakpoint = 0;

    /* The stop makes the lanes reported lanes, so a later breakpoint stop at their new pc would not occur. Breakpoints at
     * that pc are therefore hit now. */
    dbg_lane_pin(dbg, id, lane);
    if (dbg_thread_get(dbg, id, &thread) && dbg_breakpoint_inserted(dbg, thread.location.pc))
        breakpoint = dbg_breakpoint_hit(dbg, id, thread.location.pc, thread.active, &lanes, others,
                                   sizeof others);
    dbg_stop_on(dbg, stop, DBG_STOP_WATCH, id, lane);
    stop->breakpoint = breakpoint;
    stop->breakpoint_lanes = lanes;
}

enum lw_status dbg_watch_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg_watch *watch = dbg->watch;
    struct dbg_watch_hit touch;
    struct dbg_thread thread;
    enum lw_status status = LW_OK;

    if (watch == NULL || watch->pending.point == 0)
        return dbg_stop_on_finding(dbg, stop, err);
    touch = watch->pending;
    dbg_finding_print(dbg);
    watch->pending.point = 0;
    if (dbg_thread_get(dbg, touch.thread, &thread)) {
        dbg_watch_stand(dbg, touch.thread, lane_shown(&touch, &thread), stop);
    } else {
        /* The instruction has ended the warp. A message reports the hit, and the stop shows the new focus. */
        dbg_watch_hit_stop(dbg, &touch, stop);
        dbg_message(dbg, "watchpoint or catchpoint %u: %s", touch.point, stop->text);
        status = dbg_finish_stop(dbg, DBG_STOP_WATCH, stop, err);
        if (status != LW_OK || stop->kind == DBG_STOP_ENDED)
            return status;
    }
    dbg_watch_hit_stop(dbg, &touch, stop);
    for (unsigned i = 0; i < watch->other_count; i++) {
        size_t used = strlen(stop->text);

        snprintf(stop->text + used, sizeof stop->text - used, "%s %u",
                 i == 0 ? "; also hit: watchpoint or catchpoint" : ",", watch->others[i]);
    }
    remove_temporary(dbg, touch.point);
    for (unsigned i = 0; i < watch->other_count; i++)
        remove_temporary(dbg, watch->others[i]);
    watch->other_count = 0;
    return status;
}

/* ---- ends ------------------------------------------------------------------------------------- */

/* Returns true if the lane, warp or block that owns a watched location has ended; false if it has not begun yet. */
static bool has_ended(const struct dbg *dbg, const struct dbg_watched *w)
{
    struct dbg_thread thread;

    if (w->scope == DBG_SCOPE_ALL)
        return false;
    for (uint64_t i = 0; i < w->warps; i++)
        if (dbg_thread_get(dbg, w->id + i, &thread))
            return w->scope == DBG_SCOPE_LANE && (thread.live >> w->lane & 1) == 0;
    return dbg_thread_over(dbg, w->id);
}

void dbg_watch_remove_ended(struct dbg *dbg)
{
    static const char *const lane_ref[] = {"", "the block", "the warp", "lane"};
    struct emu_history_info history;
    bool back = dbg_history_info(dbg, &history) && history.kept;

    for (size_t i = dbg->point_count; dbg->watch != NULL && i-- > 0;) {
        const struct dbg_stoppoint_record *point = &dbg->points[i];
        struct dbg_watched *w = point->watched;
        char lane[16] = "";
        bool end_reported;

        /* gdb removes its own watchpoints at each stop and inserts them again at each resume. */
        if (w == NULL || point->pub.owner == DBG_OWNER_GDB)
            continue;
        end_reported = w->end_reported;
        w->end_reported = has_ended(dbg, w);
        if (!w->end_reported || end_reported)
            continue;
        if (w->scope == DBG_SCOPE_LANE)
            snprintf(lane, sizeof lane, " %u", w->lane);
        dbg_message(dbg, "watchpoint %u%s%s is %s: %s%s, which owns the watched location, has ended",
                    point->pub.id, point->text != NULL ? " on " : "",
                    point->text != NULL ? point->text : "",
                    back ? "kept for going back in time" : "deleted", lane_ref[w->scope], lane);
        if (!back)
            (void)!dbg_stoppoint_remove(dbg, point->pub.id, NULL);
    }
}
