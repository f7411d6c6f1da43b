/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that are outside of the variable from which their address is computed (struct isa_bound), but in other valid
 * memory. Accesses to invalid memory are faults, and are reported as faults.
 *
 * Most accesses need no check: their variable is the only memory that they can reach, or the check of another access
 * is sufficient. If no other check observes accesses, these accesses have no hook.
 */
#include "check/chk_priv.h"

#include <stdlib.h>

/** Range of generic addresses of the variable that an instruction may access. */
struct bounds_limit {
    uint64_t first, end; /* end 0: the range has not been looked up; first 0 and end INT64_MAX: the access has no limit */
    uint32_t grid;       /* launch for which the limit is valid; 0: all launches */
};
struct bounds_program {
    const struct emu_program *program;
    /* The following arrays have an element for each instruction. */
    struct bounds_limit *limit;
    struct chk_bounds_lead *lead;
    bool *alone; /* [instruction]: its hook is disabled until blocks of another grid start */
    uint32_t alone_count; /* number of instructions whose hook is disabled */
};
struct chk_bounds {
    struct chk *chk;
    struct bounds_program *programs;
    size_t count, room;
    uint32_t grid;      /* sequence number of the grid whose block started last */
    uint64_t blocks;    /* number of running blocks */
    bool mixed;         /* blocks of several grids run, so a limit that is valid for one launch cannot be used */
    bool of_grid;       /* a filter was set that is valid only for one launch */
    bool moved;         /* a debugger has set a pc, so a lane may reach an access without having executed the access that
                         * dominates it */
    bool is_alone;      /* no other check observes accesses, so hooks of instructions may be disabled */
};

static void program_fini(struct bounds_program *p)
{
    free(p->limit);
    free(p->lead);
    free(p->alone);
}

static void end(void *state)
{
    struct chk_bounds *b = state;

    for (size_t i = 0; i < b->count; i++)
        program_fini(&b->programs[i]);
    free(b->programs);
}

/** Enables the disabled hooks of all instructions again. */
static void must_check(struct chk_bounds *b)
{
    bool wake = b->of_grid;

    for (size_t i = 0; i < b->count; i++) {
        struct bounds_program *p = &b->programs[i];
        for (uint32_t k = 0; p->alone_count != 0; k++) {
            if (!p->alone[k])
                continue;
            p->alone[k] = false;
            p->alone_count--;
            emu_hooks_enable_site(p->program, k, true);
            wake = true; /* the filters of the instruction are no longer valid, either */
        }
    }
    if (wake)
        emu_hooks_invalidate_filters(b->chk->machine);
    b->of_grid = false;
}

static void on_alone(void *state)
{
    ((struct chk_bounds *)state)->is_alone = true;
}

/** Called when a debugger has moved a lane to another pc. */
static void on_pc_edited(void *state)
{
    struct chk_bounds *b = state;

    b->moved = true;
    must_check(b);
}

static void on_replay_end(void *state, bool same)
{
    if (!same) /* a pc may have been set in the past */
        on_pc_edited(state);
}

static void on_block(void *state, struct emu_core *core, unsigned slot, bool begins)
{
    struct chk_bounds *b = state;
    struct emu_block_view view;

    if (!begins) {
        b->blocks -= b->blocks != 0;
        b->mixed = b->mixed && b->blocks != 0;
        return;
    }
    if (!emu_block_view(core, slot, &view))
        return;
    if (view.grid->sequence != b->grid) {
        must_check(b); /* the new grid has other arguments and sizes */
        b->grid = view.grid->sequence;
        b->mixed = b->blocks != 0;
    }
    b->blocks++;
}

static bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    (void)state, (void)insn;
    return isa_object_bound_at(emu_program_object(program), index) != NULL;
}

/** Returns the record of a program, or NULL if memory is short. */
static struct bounds_program *program_of(struct chk_bounds *b, const struct emu_program *program)
{
    for (size_t i = b->count; i-- > 0;)
        if (b->programs[i].program == program)
            return &b->programs[i];
    const size_t count = emu_program_object(program)->text_count + 1u;
    struct bounds_program p = {.program = program, .limit = calloc(count, sizeof *p.limit),
                               .alone = calloc(count, sizeof *p.alone), .lead = chk_bounds_leads(program)};
    if (p.limit == NULL || p.alone == NULL || p.lead == NULL ||
        !lw_grow(&b->programs, &b->room, b->count + 1, sizeof *b->programs)) {
        b->chk->short_of_memory = true;
        program_fini(&p);
        return NULL;
    }
    b->programs[b->count] = p;
    return &b->programs[b->count++];
}

/** Gets the range of dynamic shared memory to which argument @which of a launch points. The range ends where the range of
 *  another argument begins. */
static void param_limit(const struct emu_grid *grid, unsigned which, struct bounds_limit *out)
{
    const struct isa_function *kernel = grid->launch.kernel;
    uint64_t first = 0, end = grid->shared_bytes;

    out->grid = grid->sequence;
    if (which >= kernel->param_count || grid->bank0 == NULL)
        return;
    memcpy(&first, grid->bank0 + kernel->params[which].offset,
           kernel->params[which].size_bytes < 8 ? 4 : 8);
    if (first < kernel->shared_bytes || first >= end)
        return; /* The argument does not point to dynamic shared memory. This cannot happen in a launch by the host. */
    for (unsigned i = 0; i < kernel->param_count; i++) {
        const struct isa_param *p = &kernel->params[i];
        uint64_t at = 0;

        memcpy(&at, grid->bank0 + p->offset, p->size_bytes < 8 ? 4 : 8);
        if (p->kind == ISA_PARAM_POINTER && p->space == ISA_SPACE_SHARED && at > first && at < end)
            end = at;
    }
    out->first = ISA_SHARED_BASE + first;
    out->end = ISA_SHARED_BASE + end;
}

static void look_up(const struct emu_hook_site *site, struct bounds_limit *out)
{
    const struct isa_object *object = emu_program_object(site->program);
    const struct isa_bound *b = isa_object_bound_at(object, site->index);
    uint64_t bytes, inside;
    int64_t die;

    *out = (struct bounds_limit){0, INT64_MAX, 0};
    if (b == NULL)
        return;
    switch ((enum isa_bound_kind)b->kind) {
    case ISA_BOUND_VARIABLE: {
        const struct isa_variable *v = &object->variables[b->which];
        const uint64_t address = v->space == ISA_SPACE_SHARED
                                     ? ISA_SHARED_BASE + v->shared_offset
                                     : emu_program_variable(site->program, v->name, &bytes);
        if (address != 0)
            *out = (struct bounds_limit){address, address + v->size_bytes, 0};
        return;
    }
    case ISA_BOUND_PARAM: param_limit(site->grid, b->which, out); return;
    case ISA_BOUND_LOCAL:
        *out = (struct bounds_limit){ISA_LOCAL_BASE + b->which, ISA_LOCAL_BASE + b->which + b->bytes, 0};
        return;
    case ISA_BOUND_SOURCE:
        die = chk_local_die(object, isa_object_function_at(object, site->index), site->index, b->which,
                            &inside);
        bytes = die != ISA_NO_DIE
                    ? isa_type_bytes(object->debug, isa_die_type(object->debug, (uint32_t)die), 0) : 0;
        if (bytes != 0)
            *out = (struct bounds_limit){ISA_LOCAL_BASE + b->which - inside,
                                         ISA_LOCAL_BASE + b->which - inside + bytes, 0};
        return;
    case ISA_BOUND_KIND_COUNT: return;
    }
}

/** Returns true if the memory is valid. An access to any other address causes a fault. */
static bool is_memory(const struct chk_bounds *b, const struct emu_hook_site *site, uint64_t address,
                      unsigned bytes)
{
    struct emu_allocation a;
    bool inside;

    if (address - ISA_SHARED_BASE < ISA_APERTURE_BYTES)
        return address - ISA_SHARED_BASE + bytes <= site->grid->shared_bytes;
    if (address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES)
        return address - ISA_LOCAL_BASE + bytes <= site->grid->launch.kernel->local_bytes;
    return emu_allocation_at(b->chk->machine, address, &a, &inside) && inside &&
           address + bytes <= a.address + a.size_bytes;
}

/** Prints the variable that the instruction may access: "'a' (256 bytes, declared in line 3)". Returns its name. */
static const char *put_bound(const struct emu_hook_site *site, const struct bounds_limit *limit,
                             struct lw_sink *out)
{
    const struct isa_object *object = emu_program_object(site->program);
    const struct isa_bound *b = isa_object_bound_at(object, site->index);
    const struct isa_debug *d = object->debug;
    const struct isa_function *kernel = site->grid->launch.kernel;
    int64_t die = ISA_NO_DIE;
    const char *name = "local memory";
    char room[ISA_SYMBOL_BYTES];
    uint64_t inside;

    if (b->kind == ISA_BOUND_VARIABLE) {
        name = isa_own_name(object->variables[b->which].name);
        die = chk_variable_die(object, &object->variables[b->which], kernel);
    } else if (b->kind == ISA_BOUND_PARAM) {
        name = kernel->params[b->which].name;
        die = isa_function_parameter(d, isa_function_die(object, kernel), b->which);
    } else if (b->kind == ISA_BOUND_SOURCE) {
        die = chk_local_die(object, kernel, site->index, b->which, &inside);
    }
    if (die != ISA_NO_DIE && isa_die_name(d, (uint32_t)die) != NULL)
        name = isa_die_name(d, (uint32_t)die);
    else
        die = ISA_NO_DIE;
    if (b->kind == ISA_BOUND_LOCAL && die == ISA_NO_DIE && d != NULL) { /* the name is known if one variable fills this whole
                                                                         * range of local memory */
        die = chk_local_die(object, kernel, site->index, b->which, &inside);
        if (die != ISA_NO_DIE && inside == 0 && isa_type_bytes(d, isa_die_type(d, (uint32_t)die), 0) == b->bytes) {
            chk_put_sized(d, die, b->bytes, out);
            return isa_die_name(d, (uint32_t)die);
        }
        die = ISA_NO_DIE;
    }
    lw_printf(out, b->kind == ISA_BOUND_LOCAL ? "the kernel's variables (" : "'%s' (", isa_symbol_text(name, room));
    lw_printf(out, "%llu bytes", (unsigned long long)(limit->end - limit->first));
    if (die != ISA_NO_DIE && isa_die_attr(d, (uint32_t)die, ISA_AT_DECL_LINE) != NULL)
        lw_printf(out, ", declared in line %llu",
                  (unsigned long long)isa_die_attr(d, (uint32_t)die, ISA_AT_DECL_LINE)->value);
    lw_put(out, ")");
    return name;
}

/** Prints the variable at @address, if it is known: ", in 'b[0]', declared in line 4". */
static void put_other(const struct chk_bounds *b, const struct emu_hook_site *site, uint64_t address,
                      struct lw_sink *out)
{
    const struct isa_object *object = emu_program_object(site->program);
    const struct isa_function *kernel = site->grid->launch.kernel;
    const struct isa_debug *d = object->debug;
    struct emu_allocation a;
    char room[ISA_SYMBOL_BYTES];
    uint64_t offset = 0;
    bool inside;

    if (address - ISA_SHARED_BASE < ISA_APERTURE_BYTES) {
        const uint32_t at = (uint32_t)(address - ISA_SHARED_BASE);
        const struct isa_variable *v = isa_shared_variable(object, kernel, at);
        const int64_t die = v != NULL ? chk_variable_die(object, v, kernel) : ISA_NO_DIE;

        if (v == NULL)
            lw_put(out, at >= kernel->shared_bytes ? ", in dynamic shared memory" : "");
        else if (die == ISA_NO_DIE)
            lw_printf(out, ", in '%s', byte %u", isa_symbol_text(isa_own_name(v->name), room), at - v->shared_offset);
        else {
            lw_put(out, ", in '");
            chk_put_element(d, die, at - v->shared_offset, out);
        }
    } else if (address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES) {
        const int64_t die = chk_local_die(object, kernel, site->index,
                                          (uint32_t)(address - ISA_LOCAL_BASE), &offset);

        if (die == ISA_NO_DIE)
            return;
        lw_put(out, ", in '");
        chk_put_element(d, die, offset, out);
    } else if (emu_allocation_at(b->chk->machine, address, &a, &inside) && a.name[0] != '\0') {
        lw_printf(out, ", in '%s', byte %llu", isa_symbol_text(a.name, room), (unsigned long long)(address - a.address));
    }
}

static void report(struct chk_bounds *b, const struct emu_hook_access *a, const struct bounds_limit *limit,
                 uint64_t lanes, uint64_t address)
{
    struct chk_finding f = chk_finding_of(CHK_VARIABLE, lw_popcount(lanes));
    const uint64_t before = limit->first - address, after = address - limit->end;
    struct lw_buffer text;

    f.address = address;
    chk_location_of(b->chk, &a->at, lanes, &f.location);
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s %s of %u byte%s at 0x%llx: ",
              address - ISA_SHARED_BASE < ISA_APERTURE_BYTES  ? "shared"
              : address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES ? "local"
                                                              : "global",
              chk_access_names[a->kind], a->bytes, a->bytes == 1 ? "" : "s", (unsigned long long)address);
    if (address < limit->first)
        lw_printf(&text.sink, "%llu byte%s before ", (unsigned long long)before, before == 1 ? "" : "s");
    else if (address < limit->end)
        lw_put(&text.sink, "the access runs past the end of ");
    else
        lw_printf(&text.sink, "%llu byte%s past the end of ", (unsigned long long)after,
                  after == 1 ? "" : "s");
    f.allocation = put_bound(&a->at, limit, &text.sink);
    put_other(b, &a->at, address < limit->first || address >= limit->end ? address : limit->end, &text.sink);
    (void)chk_add_text(b->chk, &f, &text);
}

static void leave_alone(struct bounds_program *p, uint32_t index)
{
    p->alone_count += !p->alone[index];
    p->alone[index] = true;
    emu_hooks_enable_site(p->program, index, false);
}

/** Returns true if the instruction can access no valid memory outside of its variable, or if its access has no limit. */
static bool is_everything(const struct chk_bounds *b, const struct emu_hook_access *a,
                          const struct bounds_limit *limit)
{
    if (limit->first == 0 && limit->end == INT64_MAX)
        return limit->grid == 0 || !b->mixed;
    return !b->mixed && a->space == ISA_SPACE_SHARED && limit->first == ISA_SHARED_BASE &&
           limit->end - ISA_SHARED_BASE >= a->at.grid->shared_bytes;
}

/** Returns the lanes of @a that are outside @limit. */
static uint64_t lanes_beyond(const struct emu_hook_access *a, const struct bounds_limit *limit)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(l, a->at.lanes)) {
        const uint64_t at = chk_hook_address(a, (unsigned)l);

        if (at < limit->first || at >= limit->end || limit->end - at < a->bytes)
            lanes |= UINT64_C(1) << l;
    }
    return lanes;
}

/** Handles an access @a by a leader. If @a is so far inside the variable that the accesses of all instructions with
 *  this leader are inside the variable, too, disables the hooks of these instructions, and narrows *@limit to the
 *  addresses of the leader for which this holds. Otherwise, these instructions are checked by themselves from now on. */
static void lead(struct bounds_program *p, const struct emu_hook_access *a, struct bounds_limit *limit)
{
    const uint32_t index = a->at.index, last = p->lead[index].last;
    const struct bounds_limit narrow = {limit->first + (uint64_t)-(int64_t)p->lead[index].below,
                                        limit->end - (uint64_t)(int64_t)p->lead[index].above, limit->grid};
    const bool stays_inside = narrow.first < narrow.end && lanes_beyond(a, &narrow) == 0;

    for (uint32_t i = index + 1; i <= last; i++) {
        if (p->lead[i].lead != index)
            continue;
        if (stays_inside) {
            leave_alone(p, i);
        } else {
            p->alone_count -= p->alone[i];
            p->alone[i] = false;
            p->lead[i].lead = i;
            emu_hooks_enable_site(p->program, i, true);
        }
    }
    if (stays_inside)
        *limit = narrow;
    else
        p->lead[index].last = index;
}

/** Checks an access, and sets the filter to the addresses that the instruction may access without a call of the hook. */
static void on_access(void *state, const struct emu_hook_access *a)
{
    struct chk_bounds *b = state;
    struct bounds_program *p = program_of(b, a->at.program);
    uint64_t lanes = 0, first = 0;

    if (p == NULL)
        return;
    struct bounds_limit *limit = &p->limit[a->at.index];
    if (limit->end == 0 || (limit->grid != 0 && limit->grid != a->at.grid->sequence))
        look_up(&a->at, limit);
    struct bounds_limit skipped = *limit;
    if (b->is_alone && is_everything(b, a, limit))
        leave_alone(p, a->at.index);
    else if (b->is_alone && !b->moved && p->lead[a->at.index].last != a->at.index && !(limit->grid != 0 && b->mixed))
        lead(p, a, &skipped);
    if (limit->grid != 0 && b->mixed)
        skipped = (struct bounds_limit){0, 0, 0};
    b->of_grid = b->of_grid || limit->grid != 0;
    *a->filter = (struct emu_hook_filter){.first = skipped.first, .end = skipped.end, .ignore_split = true};
    for (LW_EACH_BIT(l, lanes_beyond(a, limit))) {
        const uint64_t at = chk_hook_address(a, (unsigned)l);

        if (!is_memory(b, &a->at, at, a->bytes) || (at & (a->bytes - 1u)) != 0)
            continue;
        if (lanes == 0)
            first = at;
        lanes |= UINT64_C(1) << l;
    }
    if (lanes != 0)
        report(b, a, limit, lanes, first);
}

const struct chk_observer chk_bounds_observer = {
    .kinds = UINT64_C(1) << CHK_VARIABLE, .state_bytes = sizeof(struct chk_bounds),
    .end = end, .wants = wants, .on_access = on_access, .on_alone = on_alone, .on_block = on_block,
    .on_pc_edited = on_pc_edited, .on_replay_end = on_replay_end};
