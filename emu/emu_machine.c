/* SPDX-License-Identifier: Apache-2.0 */
/* The machine: options, grids, statistics, faults as text. */
#include <stdio.h>
#include <stdlib.h>

#include "emu/emu_core.h"
#include "emu/emu_log.h"
#include "emu/emu_compact.h"

/* A table, so that it is read-only on every host. */
static const struct emu_config defaults = {
    .warp_width = 32,
    .reconv = "cbar",
    .push_order = "smaller",
    .policy = "rr_quantum",
    .split_quantum = 0,
    .fairness_window = 1024,
    .merge = true,
    .resident_warps = 2048,
    .warp_quantum = 64,
    .arena_bytes = UINT64_C(64) << 30,
    .hang_window = UINT64_C(1) << 26,
    .scalar_rule = EMU_SCALAR_FAULT,
    .level = 0,
    .tags = EMU_TAGS_OFF,
    .tag_rules = EMU_TAG_RULES_EXACT,
    .tag_expansion = EMU_TAG_LAZY,
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
    const char *near = lw_nearest(name, names, count, sizeof(char *));
    return LW_FAIL(err, LW_ERANGE, "%s '%s'%s%s%s", what, name,
                   near ? "; did you mean '" : " does not exist", near ? near : "",
                   near ? "'?" : "");
}

enum lw_status emu_machine_create(const struct emu_config *config, struct emu_machine **out,
                                  struct lw_error *err)
{
    unsigned w = config->warp_width;
    struct emu_machine *machine;
    const struct emu_policy *policy = emu_policy_find(config->policy);
    const struct emu_reconv *reconv = emu_reconv_find(config->reconv);
    int push_order = emu_push_order_find(config->push_order);
    enum lw_status status;

    if (w != 4 && w != 8 && w != 16 && w != 32 && w != 64)
        return LW_FAIL(err, LW_ERANGE, "warp width %u; 4, 8, 16, 32 and 64 exist", w);
    if (reconv == NULL)
        return unknown_name("reconvergence engine", config->reconv, emu_reconv_names, err);
    if (push_order < 0)
        return unknown_name("push order", config->push_order, emu_push_order_names, err);
    if (policy == NULL)
        return unknown_name("split policy", config->policy, emu_policy_names, err);
    if (config->resident_warps == 0 || config->resident_warps > 1u << 20)
        return LW_FAIL(err, LW_ERANGE, "resident_warps %u; 1..1048576", config->resident_warps);
    if (config->warp_quantum == 0 || config->warp_quantum > 32768)
        return LW_FAIL(err, LW_ERANGE, "warp_quantum %u; 1..32768", config->warp_quantum);
    if (emu_level_choose(config->level) == NULL)
        return LW_FAIL(err, LW_ERANGE, "level %u; this processor has no x86-64-v%u or there is no "
                       "such level (1, 3, 4)", config->level, config->level);
    machine = calloc(1, sizeof *machine);
    if (machine == NULL)
        return LW_FAIL(err, LW_ENOMEM, "machine");
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
    status = emu_memory_init(&machine->memory, config->arena_bytes, err);
    if (status != LW_OK) {
        emu_text_fini(&machine->text);
        free(machine);
        return status;
    }
    *out = machine;
    return LW_OK;
}

static void free_grids(struct emu_grid *grid)
{
    while (grid != NULL) {
        struct emu_grid *next = grid->next;
        free((void *)(uintptr_t)grid->bank0);
        free(grid);
        grid = next;
    }
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
    free_grids(machine->grids);
    free_grids(machine->spare_grids);
    emu_programs_destroy(machine);
    emu_memory_fini(&machine->memory);
    emu_text_fini(&machine->text);
    free(machine);
}

const struct emu_config *emu_machine_config(const struct emu_machine *machine)
{
    return &machine->config;
}
void emu_machine_set_print(struct emu_machine *machine, struct lw_sink *sink)
{
    machine->print = sink;
}
struct lw_sink *emu_machine_print(const struct emu_machine *machine)
{
    return machine->print;
}

void emu_life_listen(struct emu_machine *machine, struct emu_life_listener *listener)
{
    listener->next = machine->listeners;
    machine->listeners = listener;
}
void emu_life_ignore(struct emu_machine *machine, struct emu_life_listener *listener)
{
    for (struct emu_life_listener **at = &machine->listeners; *at != NULL; at = &(*at)->next) {
        if (*at == listener) {
            *at = listener->next;
            return;
        }
    }
}
void emu_life_tell(const struct emu_machine *machine, const struct emu_life *life)
{
    for (struct emu_life_listener *l = machine->listeners; l != NULL; l = l->next)
        l->on_life(l, life);
}

/* ---- grids --------------------------------------------------------------------------- */

/** A launch that history went back from keeps its place in memory when it comes again. */
static struct emu_grid *take_spare(struct emu_machine *machine, uint32_t sequence)
{
    for (struct emu_grid **at = &machine->spare_grids; *at != NULL; at = &(*at)->next) {
        struct emu_grid *grid = *at;
        if (grid->sequence == sequence) {
            *at = grid->next;
            return grid;
        }
    }
    return NULL;
}

enum lw_status emu_grid_launch(struct emu_machine *machine, const struct emu_launch *launch,
                               struct emu_grid **out, struct lw_error *err)
{
    const struct isa_function *kernel = launch->kernel;
    unsigned width = machine->config.warp_width;
    uint64_t blocks = 1, threads = 1;
    struct emu_grid *grid;
    uint8_t *bank;

    for (unsigned i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->block[i] == 0)
            return LW_FAIL(err, LW_ERANGE, "kernel %s: a grid or block size of 0", kernel->name);
        if (launch->block[i] > EMU_MAX_BLOCK_THREADS)
            return LW_FAIL(err, LW_ERANGE, "kernel %s: block size %u; %u threads a block at most",
                           kernel->name, launch->block[i], EMU_MAX_BLOCK_THREADS);
        if (launch->grid[i] > INT32_MAX || blocks > (UINT64_C(1) << 40) / launch->grid[i])
            return LW_FAIL(err, LW_ERANGE, "kernel %s: grid of more than 2^40 blocks",
                           kernel->name);
        blocks *= launch->grid[i];
        threads *= launch->block[i];
        if (kernel->required_block[i] != 0 && launch->block[i] != kernel->required_block[i])
            return LW_FAIL(err, LW_ERANGE,
                           "kernel %s: block [%u, %u, %u], but it was compiled for [%u, %u, %u]",
                           kernel->name, launch->block[0], launch->block[1], launch->block[2],
                           kernel->required_block[0], kernel->required_block[1],
                           kernel->required_block[2]);
    }
    if (threads > EMU_MAX_BLOCK_THREADS)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: %llu threads a block; at most %u",
                       kernel->name, (unsigned long long)threads, EMU_MAX_BLOCK_THREADS);
    if (kernel->max_threads != 0 && threads > kernel->max_threads)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: %llu threads a block; it was compiled for at "
                       "most %u", kernel->name, (unsigned long long)threads, kernel->max_threads);
    if (kernel->needs_warp != 0 && width < kernel->needs_warp)
        return LW_FAIL(err, LW_ERANGE, "kernel %s relies on warps of %u lanes; the machine has %u: "
                       "run it with a warp width of %u or 64", kernel->name, kernel->needs_warp,
                       width, kernel->needs_warp);
    uint64_t shared = ((uint64_t)kernel->shared_bytes + 15) / 16 * 16;
    shared = launch->dynamic_shared_bytes ? shared + launch->dynamic_shared_bytes
                                          : kernel->shared_bytes;
    if (shared > 1u << 24)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: %llu bytes of shared memory; 16 MiB at most",
                       kernel->name, (unsigned long long)shared);
    if ((uint64_t)kernel->local_bytes > 1u << 24)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: %u bytes of local memory a thread; 16 MiB at "
                       "most", kernel->name, kernel->local_bytes);
    if (kernel->param_bytes > ISA_CONST_BANK_BYTES)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: %u bytes of parameters; 65536 at most",
                       kernel->name, kernel->param_bytes);
    grid = take_spare(machine, machine->grid_count + 1);
    bank = grid != NULL ? (uint8_t *)(uintptr_t)grid->bank0 : calloc(1, ISA_CONST_BANK_BYTES + 8);
    if (grid == NULL)
        grid = calloc(1, sizeof *grid);
    else
        memset(bank, 0, ISA_CONST_BANK_BYTES + 8);
    if (grid == NULL || bank == NULL) {
        free(grid);
        free(bank);
        return LW_FAIL(err, LW_ENOMEM, "grid");
    }
    memset(grid, 0, sizeof *grid);
    if (kernel->param_bytes != 0 && launch->params != NULL)
        memcpy(bank, launch->params, kernel->param_bytes);
    grid->launch = *launch;
    grid->launch.params = NULL;
    if (emu_text_grid_launched(machine, grid, err) != LW_OK) {
        free(grid);
        free(bank);
        return LW_ENOMEM;
    }
    grid->sequence = ++machine->grid_count;
    if (grid->launch.work_dim < 1 || grid->launch.work_dim > 3)
        grid->launch.work_dim = 1;
    grid->block_count = blocks;
    grid->block_threads = (uint32_t)threads;
    grid->block_warps = (uint32_t)((threads + width - 1) / width);
    grid->shared_bytes = (uint32_t)shared;
    grid->first_warp_id = machine->warp_ids;
    grid->bank0 = bank;
    grid->bank0_valid = kernel->param_bytes;
    machine->warp_ids += blocks * grid->block_warps;
    if (machine->last_grid != NULL)
        machine->last_grid->next = grid;
    else
        machine->grids = grid;
    machine->last_grid = grid;
    emu_life_tell(machine, &(struct emu_life){.kind = EMU_LIFE_LAUNCH, .grid = grid});
    if (out != NULL)
        *out = grid;
    return emu_log_launch_step(machine, grid, err);
}

struct emu_grid *emu_grid_current(const struct emu_machine *machine)
{
    struct emu_grid *grid = machine->grids;

    while (grid != NULL && grid->blocks_ended == grid->block_count)
        grid = grid->next;
    return grid;
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

void emu_stats_get(const struct emu_machine *machine, struct emu_stats *out)
{
    memset(out, 0, sizeof *out);
    out->grids = machine->grid_count;
    out->threads = machine->threads_used != 0 ? machine->threads_used : 1;
    for (unsigned i = 0; i < machine->core_count; i++) {
        const struct emu_core *core = machine->cores[i];
        out->warp_instructions += core->retired;
        emu_stats_add(out, &core->stats);
        /* warps that still run have not been added yet */
        for (unsigned b = 0; b < core->slots; b++)
            if (core->block[b].in_use && !core->block[b].ended)
                for (unsigned w = 0; w < core->block[b].warp_count; w++)
                    emu_warp_count(&core->block[b].warp[w], out);
    }
}

/* ---- faults as text ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *sentence;
} fault_info[EMU_FAULT_COUNT] = {
    {"none", ""},
#define FAULT(id, name, sentence) {name, sentence},
#include "emu/faults.def"
};

const char *emu_fault_name(enum emu_fault_kind kind)
{
    return (unsigned)kind < EMU_FAULT_COUNT ? fault_info[kind].name : "unknown";
}

static const struct emu_grid *grid_by_sequence(const struct emu_machine *machine,
                                               uint32_t sequence)
{
    const struct emu_grid *grid = machine->grids;

    while (grid != NULL && grid->sequence != sequence)
        grid = grid->next;
    return grid;
}

void emu_fault_print(const struct emu_machine *machine, const struct emu_fault *fault,
                     struct lw_sink *out)
{
    const struct emu_grid *grid = grid_by_sequence(machine, fault->grid);
    const struct emu_program *p = emu_machine_program_at(machine, fault->pc);

    lw_printf(out, "fault: %s", emu_fault_name(fault->kind));
    if (fault->bytes != 0)
        lw_printf(out, ": %s %s of %u bytes at 0x%llx", isa_space_name(fault->space),
                  fault->write ? "store" : "load", fault->bytes,
                  (unsigned long long)fault->address);
    if (fault->detail[0] != '\0')
        lw_printf(out, ": %s", fault->detail);
    else
        lw_printf(out, ": %s", fault_info[fault->kind].sentence);
    if (grid != NULL) {
        const uint32_t *g = grid->launch.grid;
        lw_printf(out, "; kernel %s, block (%u,%u,%u), warp %u, lanes 0x%llx",
                  grid->launch.kernel->name, (unsigned)(fault->block % g[0]),
                  (unsigned)(fault->block / g[0] % g[1]), (unsigned)(fault->block / g[0] / g[1]),
                  fault->warp, (unsigned long long)fault->lanes);
    }
    lw_printf(out, ", pc 0x%llx", (unsigned long long)fault->pc);
    if (p != NULL) {
        uint32_t index = (uint32_t)((fault->pc - p->base) / ISA_WORD_BYTES);
        const struct isa_line *line = isa_object_line_at(p->object, index);
        if (line != NULL && line->file < p->object->file_count)
            lw_printf(out, " (%s:%u)", p->object->files[line->file], line->line);
    }
}

/* ---- breakpoints ------------------------------------------------------------------------------------ */

enum lw_status emu_breakpoint_set(struct emu_machine *machine, uint64_t pc, bool on,
                                  struct lw_error *err)
{
    struct emu_program *p = emu_machine_program_at(machine, pc);

    if (p == NULL || (pc - p->base) % ISA_WORD_BYTES != 0)
        return LW_FAIL(err, LW_ERANGE, "0x%llx is no instruction", (unsigned long long)pc);
    uint32_t index = (uint32_t)((pc - p->base) / ISA_WORD_BYTES);
    if (p->breakpoint[index] == on)
        return LW_OK;
    p->breakpoint[index] = on;
    machine->breakpoint_count += on ? 1 : -1u;
    for (unsigned i = 0; i < machine->core_count; i++) {
        struct emu_core *core = machine->cores[i];
        for (unsigned k = 0; k < core->code_count; k++) {
            struct emu_code *code = core->code[k];
            if (code->program != p)
                continue;
            if (on)
                code->insn[index].h.full = code->insn[index].h.part = emu_break_handler;
            else
                code->insn[index].h = code->normal[index];
        }
    }
    return LW_OK;
}
