/* SPDX-License-Identifier: Apache-2.0 */
/* The machine: options, grids, statistics, faults as text. */
#include <stdio.h>
#include <stdlib.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/core/emu_core_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/simt/emu_split_priv.h"
#include "emu/program/emu_decode_priv.h"

enum { MOST_PENDING = 1 << 20 };

/* a constant table instead of assignments, so that the defaults are in read-only memory on every host */
static const struct emu_config defaults = {
    .warp_width = 32,
    .reconv = "cbar",
    .push_order = "smaller",
    .policy = NULL,
    .split_quantum = 0,
    .fairness_window = 1024,
    .merge = true,
    .resident_warps = 2048,
    .warp_quantum = 64,
    .arena_bytes = UINT64_C(64) << 30,
    .hang_window = EMU_HANG_WINDOW,
    .scalar_rule = EMU_SCALAR_FAULT,
    .level = 0,
    .tags = EMU_TAGS_OFF,
    .tag_rules = EMU_TAG_RULES_EXACT,
    .tag_expansion = EMU_TAG_LAZY,
    .tag_plan = EMU_TAG_PLAN_PROFITABLE,
    .launch_depth = 24,
    .pending_launches = 2048,
    .heap_bytes = 8 << 20,
};

void emu_config_default(struct emu_config *config)
{
    *config = defaults;
}

static enum lw_status unknown_name(const char *what, const char *name, const char *const *names,
                                   struct lw_error *err)
{
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    const char *near = lw_suggest(name, names, count, sizeof(char *));
    return LW_FAIL(err, LW_ERANGE, "%s '%s'%s%s%s", what, name,
                   near ? "; did you mean '" : " does not exist", near ? near : "",
                   near ? "'?" : "");
}

/* Reserves global memory of the requested size, or fails. If the size is the default, which no user has chosen, the function
 * reserves as much as the host's limit (ulimit -v) permits, but at least LEAST_BYTES. Results do not depend on the reserved
 * size. */
static enum lw_status memory_init(struct emu_machine *machine, struct lw_error *err)
{
    enum { LEAST_BYTES = 1 << 28 };
    uint64_t *bytes = &machine->config.arena_bytes;
    enum lw_status status = emu_memory_init(&machine->memory, *bytes, err);

    if (*bytes == defaults.arena_bytes)
        while (status == LW_ENOMEM && *bytes > LEAST_BYTES) {
            *bytes /= 2;
            status = emu_memory_init(&machine->memory, *bytes, err);
        }
    return status;
}

enum lw_status emu_machine_create(const struct emu_config *config, struct emu_machine **out,
                                  struct lw_error *err)
{
    unsigned w = config->warp_width;
    struct emu_machine *machine;
    const struct emu_policy *policy = emu_policy_find(config->policy != NULL ? config->policy : "converge");
    const struct emu_reconv *reconv = emu_reconv_find(config->reconv);
    int push_order = emu_push_order_find(config->push_order);
    enum lw_status status;

    if (w != 4 && w != 8 && w != 16 && w != 32 && w != 64)
        return LW_FAIL(err, LW_ERANGE, "warp width %u is not supported: use 4, 8, 16, 32 or 64", w);
    if (reconv == NULL)
        return unknown_name("reconvergence engine", config->reconv, emu_reconv_names, err);
    if (push_order < 0)
        return unknown_name("push order", config->push_order, emu_push_order_names, err);
    if (policy == NULL)
        return unknown_name("split policy", config->policy, emu_policy_names, err);
    if (config->resident_warps == 0 || config->resident_warps > 1u << 20)
        return LW_FAIL(err, LW_ERANGE, "option resident_warps is %u: the value must be from 1 to 1048576",
                       config->resident_warps);
    if (config->warp_quantum == 0 || config->warp_quantum > 32768)
        return LW_FAIL(err, LW_ERANGE, "option warp_quantum is %u: the value must be from 1 to 32768", config->warp_quantum);
    if (config->launch_depth >= EMU_LAUNCH_NESTING)
        return LW_FAIL(err, LW_ERANGE, "option launch_depth is %u: the value must be from 0 to %u", config->launch_depth,
                       EMU_LAUNCH_NESTING - 1);
    if (config->pending_launches == 0 || config->pending_launches > MOST_PENDING)
        return LW_FAIL(err, LW_ERANGE, "option pending_launches is %u: the value must be from 1 to %d",
                       config->pending_launches, MOST_PENDING);
    if (emu_level_choose(config->level) == NULL)
        return LW_FAIL(err, LW_ERANGE, "x86-64 level %u cannot be used: this processor does not support x86-64-v%u, or the "
                                       "level is not one of 1, 3 and 4", config->level, config->level);
    machine = calloc(1, sizeof *machine);
    if (machine == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the machine");
    machine->config = *config;
    machine->config.reconv = reconv->name;
    machine->config.push_order = emu_push_order_names[push_order];
    machine->config.policy = policy->name;
    machine->policy = policy;
    machine->reconv = reconv;
    machine->push_order = (enum emu_push_order)push_order;
    machine->next_code = ISA_CODE_BASE;
    lw_hash_init(&machine->text_hash);
    emu_text_init(&machine->text);
    status = memory_init(machine, err);
    if (status != LW_OK) {
        emu_text_fini(&machine->text);
        free(machine);
        return status;
    }
    *out = machine;
    return LW_OK;
}

void emu_machine_destroy(struct emu_machine *machine)
{
    if (machine == NULL)
        return;
    if (machine->log != NULL)
        machine->log->machine = NULL;
    while (machine->core_count != 0)
        emu_core_destroy(machine->cores[0]);
    free(machine->cores);
    emu_grids_free(machine->grids);
    emu_grids_free(machine->spare_grids);
    emu_grids_free(machine->spare_device);
    emu_grid_free_banks(machine);
    emu_programs_destroy(machine);
    emu_memory_fini(&machine->memory);
    emu_text_fini(&machine->text);
    free(machine);
}

const struct emu_config *emu_machine_config(const struct emu_machine *machine)
{
    return &machine->config;
}

void emu_machine_reduce_hang_window(struct emu_machine *machine, unsigned shift)
{
    if (machine->config.hang_window == EMU_HANG_WINDOW)
        machine->config.hang_window >>= shift;
}

void emu_machine_set_print(struct emu_machine *machine, struct lw_sink *sink)
{
    machine->print = sink;
}
struct lw_sink *emu_machine_print(const struct emu_machine *machine)
{
    return machine->print;
}

void emu_machine_add_listener(struct emu_machine *machine, struct emu_machine_listener *listener)
{
    listener->next = machine->listeners;
    machine->listeners = listener;
}
void emu_machine_filter_faults(struct emu_machine *machine, struct emu_fault_filter *filter)
{
    machine->fault_filter = filter;
}

void emu_machine_halt(struct emu_machine *machine, bool halt)
{
    machine->halt = halt;
}
bool emu_machine_consume_halt_request(struct emu_machine *machine)
{
    return emu_consume_halt_request(machine);
}
bool emu_machine_is_replaying(const struct emu_machine *machine)
{
    return machine->again;
}
void emu_machine_begin_replay(struct emu_machine *machine)
{
    if (machine->again)
        return;
    machine->again = true;
    machine->active_hooks = NULL;
}
void emu_machine_end_replay(struct emu_machine *machine, bool same)
{
    if (!machine->again)
        return;
    machine->again = false;
    machine->active_hooks = machine->attached_hooks;
    if (machine->active_hooks != NULL)
        machine->active_hooks->on_replay_end(machine->active_hooks, same);
}

void emu_machine_remove_listener(struct emu_machine *machine, struct emu_machine_listener *listener)
{
    for (struct emu_machine_listener **at = &machine->listeners; *at != NULL; at = &(*at)->next) {
        if (*at == listener) {
            *at = listener->next;
            return;
        }
    }
}
void emu_machine_notify(const struct emu_machine *machine, const struct emu_machine_event *event)
{
    for (struct emu_machine_listener *l = machine->listeners; l != NULL; l = l->next)
        l->on_machine_event(l, event);
}

void emu_machine_report_stale(const struct emu_machine *machine, const struct emu_event *ev, uint64_t lanes,
                              uint64_t address, unsigned bytes)
{
    emu_machine_notify(machine, &(struct emu_machine_event){
        .kind = EMU_MACHINE_STALE, .grid = ev->grid, .block = ev->block, .warp = ev->warp,
        .lane = lw_lowest(lanes), .lanes = lanes, .pc = ev->pc, .address = address, .size_bytes = bytes});
}

/* ---- statistics ----------------------------------------------------------------------------- */

void emu_warp_count(const struct emu_warp *w, struct emu_stats *to)
{
    to->thread_instructions += w->lane_retired;
    if (w->ctag != NULL)
        emu_compact_count(w, &to->tags);
}

void emu_stats_add(struct emu_stats *to, const struct emu_stats *s)
{
    to->thread_instructions += s->thread_instructions;
    to->blocks += s->blocks;
    to->warps += s->warps;
    to->divergences += s->divergences;
    to->reconvergences += s->reconvergences;
    to->merges += s->merges;
    to->cta_barriers += s->cta_barriers;
    to->loads += s->loads;
    to->stores += s->stores;
    to->atomics += s->atomics;
    to->stack_pops += s->stack_pops;
    if (s->stack_depth > to->stack_depth)
        to->stack_depth = s->stack_depth;
    emu_tag_stats_add(&to->tags, &s->tags);
}

uint64_t emu_machine_retired(const struct emu_machine *machine)
{
    uint64_t retired = 0;

    for (unsigned i = 0; i < machine->core_count; i++)
        retired += machine->cores[i]->retired;
    return retired;
}

const struct emu_stat_row emu_stat_rows[] = {
#define ROW(name) {#name, offsetof(struct emu_stats, name)}
    ROW(warp_instructions), ROW(thread_instructions), ROW(grids), ROW(blocks), ROW(warps),
    ROW(divergences), ROW(reconvergences), ROW(merges), ROW(cta_barriers), ROW(stack_pops),
    ROW(stack_depth), ROW(loads), ROW(stores), ROW(atomics), ROW(threads),
#undef ROW
};
const size_t emu_stat_row_count = LW_COUNT_OF(emu_stat_rows);

void emu_stats_get(const struct emu_machine *machine, struct emu_stats *out)
{
    memset(out, 0, sizeof *out);
    out->grids = machine->grid_count;
    out->threads = machine->threads_used != 0 ? machine->threads_used : 1;
    for (unsigned i = 0; i < machine->core_count; i++) {
        const struct emu_core *core = machine->cores[i];
        out->warp_instructions += core->retired;
        emu_stats_add(out, &core->stats);
        for (unsigned b = 0; b < core->slots_used; b++) {
            const struct emu_block *block = &core->block[b];
            if (!block->in_use || block->ended)
                continue;
            /* warps that still run have not yet added their counts to the counts of their block */
            for (unsigned w = 0; w < block->warp_count; w++)
                emu_warp_count(&block->warp[w], out);
            if (block->retired == 0) { /* the block was placed, or created for a debugger, but has not begun */
                out->blocks--;
                out->warps -= block->warp_count;
            }
        }
    }
}

/* ---- faults as text ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *message;
} fault_info[EMU_FAULT_COUNT] = {
    {"none", ""},
#define FAULT(id, name, message) {name, message},
#include "emu/faults.def"
};

const char *emu_fault_name(enum emu_fault_kind kind)
{
    return (unsigned)kind < EMU_FAULT_COUNT ? fault_info[kind].name : "unknown";
}

const char *emu_fault_access(const struct emu_machine *machine, const struct emu_fault *fault)
{
    const struct emu_program *p = emu_machine_program_at(machine, fault->pc);
    const uint64_t index = p == NULL ? 0 : (fault->pc - p->base) / ISA_WORD_BYTES;

    if (p != NULL && index < p->count &&
        isa_op_info((enum isa_op)p->insn[index].op)->format == ISA_FMT_ATOM)
        return "atomic";
    return fault->write ? "store" : "load";
}

void emu_fault_print(const struct emu_machine *machine, const struct emu_fault *fault,
                     struct lw_sink *out)
{
    const struct emu_grid *grid = emu_grid_find(machine, fault->grid);
    const struct emu_program *p = emu_machine_program_at(machine, fault->pc);
    char room[ISA_SYMBOL_BYTES];

    lw_printf(out, "fault: %s", emu_fault_name(fault->kind));
    if (fault->bytes != 0)
        lw_printf(out, ": %s %s of %u byte%s at 0x%llx", isa_space_name(fault->space),
                  emu_fault_access(machine, fault), fault->bytes, fault->bytes == 1 ? "" : "s",
                  (unsigned long long)fault->address);
    if (fault->detail[0] != '\0')
        lw_printf(out, ": %s", fault->detail);
    else
        lw_printf(out, ": %s", fault_info[fault->kind].message);
    if (grid != NULL) {
        const uint32_t *g = grid->launch.grid;
        lw_printf(out, "; kernel %s, block (%u,%u,%u), warp %u, lanes 0x%llx",
                  isa_symbol_text(grid->launch.kernel->name, room), (unsigned)(fault->block % g[0]),
                  (unsigned)(fault->block / g[0] % g[1]), (unsigned)(fault->block / g[0] / g[1]),
                  fault->warp, (unsigned long long)fault->lanes);
    }
    lw_printf(out, ", pc 0x%llx", (unsigned long long)fault->pc);
    if (p != NULL)
        isa_location_print(p->object, (uint32_t)((fault->pc - p->base) / ISA_WORD_BYTES), out);
    if (grid != NULL && emu_grid_of_device(grid)) {
        lw_put(out, "; ");
        emu_grid_chain_print(machine, fault->grid, out);
    }
}

/* ---- breakpoints ------------------------------------------------------------------------------------ */

bool emu_breakpoint_any(const struct emu_machine *machine)
{
    return machine->breakpoint_count != 0;
}

bool emu_breakpoint_at(const struct emu_machine *machine, uint64_t pc)
{
    const struct emu_program *p;

    if (machine->breakpoint_count == 0)
        return false;
    p = emu_machine_program_at(machine, pc);
    return p != NULL && p->breakpoint[(pc - p->base) / ISA_WORD_BYTES];
}

enum lw_status emu_breakpoint_set(struct emu_machine *machine, uint64_t pc, bool on,
                                  struct lw_error *err)
{
    struct emu_program *p = emu_machine_program_at(machine, pc);

    if (p == NULL || (pc - p->base) % ISA_WORD_BYTES != 0)
        return LW_FAIL(err, LW_ERANGE, "0x%llx is not the address of an instruction", (unsigned long long)pc);
    uint32_t index = (uint32_t)((pc - p->base) / ISA_WORD_BYTES);
    if (p->breakpoint[index] == on)
        return LW_OK;
    p->breakpoint[index] = on;
    machine->breakpoint_count += on ? 1 : -1u;
    for (unsigned i = 0; i < machine->core_count; i++) {
        struct emu_core *core = machine->cores[i];
        for (unsigned k = 0; k < core->code_count; k++) {
            struct emu_code *code = core->code[k];
            if (code->program == p)
                emu_code_set_layer(code, index, EMU_LAYER_BREAK, on);
        }
    }
    return LW_OK;
}

void emu_block_launches_done(struct emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct emu_warp *w = &block->warp[i];
        if (w->split_in[EMU_SPLIT_LAUNCH] != 0)
            emu_split_wake(w, w->split_in[EMU_SPLIT_LAUNCH]);
    }
}

void emu_machine_allocation_name(const struct emu_machine *machine, uint64_t address, char *name, size_t size)
{
    struct emu_allocation a;
    bool inside = false;

    snprintf(name, size, "%s", emu_allocation_at(machine, address, &a, &inside) && inside ? a.name : "");
}

/* ---- programs: look-up by address ------------------------------------------------- */

const struct isa_object *emu_program_object(const struct emu_program *program)
{
    return program->object;
}

struct emu_program *emu_machine_program_at(const struct emu_machine *machine, uint64_t pc)
{
    for (struct emu_program *p = machine->programs; p != NULL; p = p->next)
        if (pc >= p->base && pc - p->base < (uint64_t)p->count * ISA_WORD_BYTES)
            return p;
    return NULL;
}

const struct emu_program *emu_machine_program_next(const struct emu_machine *machine,
                                                   const struct emu_program *program)
{
    return program != NULL ? program->next : machine->programs;
}

uint64_t emu_program_base(const struct emu_program *program)
{
    return program->base;
}

const struct isa_insn *emu_program_insn(const struct emu_program *program, uint64_t pc)
{
    uint64_t offset = pc - program->base;

    if (offset % ISA_WORD_BYTES != 0 || offset / ISA_WORD_BYTES >= program->count)
        return NULL;
    return &program->insn[offset / ISA_WORD_BYTES];
}

const char *emu_program_location(const struct isa_object *object, uint32_t index, char *text,
                              size_t size)
{
    const struct isa_line *line = isa_object_line_at(object, index);
    const struct isa_function *f = isa_object_function_at(object, index);
    char room[ISA_SYMBOL_BYTES];

    if (line != NULL && line->file < object->file_count)
        snprintf(text, size, "%s:%u", object->files[line->file], line->line);
    else
        snprintf(text, size, "%s+0x%x", f != NULL ? isa_symbol_text(f->name, room) : "code",
                 (index - (f != NULL ? f->first : 0)) * ISA_WORD_BYTES);
    return text;
}

enum lw_status emu_pending_limit(struct emu_machine *machine, uint32_t launches, struct lw_error *err)
{
    if (launches == 0 || launches > MOST_PENDING)
        return LW_FAIL(err, LW_ERANGE, "%u pending launches: the number must be from 1 to %d", launches, MOST_PENDING);
    machine->config.pending_launches = launches;
    return LW_OK;
}
