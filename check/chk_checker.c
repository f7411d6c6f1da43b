/* SPDX-License-Identifier: Apache-2.0 */
/* The checker. Faults after which the run continues, hang reports and leaks become findings, one for each site. */
#include "check/chk_priv.h"

#include <stdlib.h>

const char *const chk_access_names[] = {
    [EMU_ACCESS_LOAD] = "load",     [EMU_ACCESS_STORE] = "store",   [EMU_ACCESS_ATOMIC] = "atomic",
    [EMU_ACCESS_REDUCE] = "atomic", [EMU_ACCESS_CONSTANT] = "load",
};

static bool wanted(const struct chk *chk, int kind)
{
    return kind >= 0 && (chk->options.kinds >> kind & 1) != 0;
}

static bool observes_races(const struct chk *chk)
{
    for (unsigned k = 0; k < CHK_KIND_COUNT; k++)
        if (chk_kinds[k].group == CHK_CLASS_RACES && wanted(chk, (int)k))
            return true;
    return false;
}

void *chk_slot_find(struct chk_slots *slots, const struct emu_core *core, unsigned slot, size_t bytes)
{
    for (size_t i = 0; i < slots->count; i++)
        if (slots->at[i]->core == core && slots->at[i]->slot == slot)
            return slots->last = slots->at[i];
    struct chk_slot *s = bytes != 0 ? calloc(1, bytes) : NULL;
    if (s == NULL || !lw_grow(&slots->at, &slots->room, slots->count + 1, sizeof *slots->at)) {
        free(s);
        return NULL;
    }
    *s = (struct chk_slot){core, slot};
    return slots->last = slots->at[slots->count++] = s;
}

bool chk_stores_global(const struct isa_insn *insn)
{
    enum isa_space space = ISA_SPACE_CONST;
    const enum isa_access access = isa_op_access((enum isa_op)insn->op, &space);

    return access != ISA_ACCESS_NONE && access != ISA_ACCESS_LOAD && (space == ISA_SPACE_GLOBAL || space == ISA_SPACE_GENERIC);
}

bool chk_is_opencl(const struct chk *chk, uint32_t sequence)
{
    const struct emu_grid *grid = emu_grid_find(chk->machine, sequence);

    if (grid == NULL)
        return false;
    const struct isa_object *object = emu_program_object(grid->launch.program);
    const char *file = chk_line_file(object, isa_object_line_at(object, grid->launch.kernel->first));
    const size_t size = strlen(file);

    return (size > 3 && strcmp(file + size - 3, ".cl") == 0) || (size > 4 && strcmp(file + size - 4, ".spv") == 0);
}

void chk_location_at(const struct chk *chk, uint32_t sequence, uint64_t block, unsigned warp,
                  uint64_t lanes, uint64_t pc, struct chk_location *out)
{
    const struct emu_grid *grid = emu_grid_find(chk->machine, sequence);
    const struct emu_program *program = emu_machine_program_at(chk->machine, pc);

    *out = (struct chk_location){.kernel = "", .function = "", .file = "", .pc = pc,
                              .grid = sequence, .warp = warp, .lanes = lanes};
    if (grid != NULL) {
        const uint32_t *g = grid->launch.grid;

        out->kernel = grid->launch.kernel->name;
        out->block[0] = (uint32_t)(block % g[0]);
        out->block[1] = (uint32_t)(block / g[0] % g[1]);
        out->block[2] = (uint32_t)(block / g[0] / g[1]);
        out->block_number = block;
    }
    if (program == NULL)
        return;
    const struct isa_object *object = emu_program_object(program);
    const uint32_t index = chk_pc_index(program, pc);
    const struct isa_function *function = isa_object_function_at(object, index);
    const struct isa_line *line = isa_object_line_at(object, index);

    if (function != NULL)
        out->function = function->name;
    if (line != NULL && line->file < object->file_count) {
        out->file = chk_file_plain(chk, object->files[line->file]);
        out->line = line->line;
    }
    if (function != NULL && !function->kernel && (out->file[0] == '\0' || chk_is_foreign(out->file)))
        out->caller = chk_caller(chk, out);
}

void chk_location_of(const struct chk *chk, const struct emu_hook_site *site, uint64_t lanes, struct chk_location *out)
{
    chk_location_at(chk, site->grid->sequence, site->block, site->warp, lanes, chk_site_pc(site), out);
}

struct chk_finding chk_finding_of(enum chk_kind kind, uint64_t count)
{
    static const struct chk_location nowhere = {.kernel = "", .function = "", .file = ""};

    return (struct chk_finding){.kind = kind, .location = nowhere, .other = nowhere, .allocation = "", .message = "", .count = count};
}

/** Returns a hash of the opcode, the function, the source line and the inlined calls of a location; 0: there is no line. */
static uint64_t line_key(const struct chk *chk, const struct chk_location *location)
{
    const struct emu_program *program = location->pc != 0 ? emu_machine_program_at(chk->machine, location->pc) : NULL;
    uint64_t key;

    if (program == NULL || location->line == 0)
        return 0;
    const struct isa_object *object = emu_program_object(program);
    const uint32_t index = chk_pc_index(program, location->pc);
    const struct isa_function *f = isa_object_function_at(object, index);
    const struct isa_line *line = isa_object_line_at(object, index);

    if (f == NULL || line == NULL)
        return 0;
    key = chk_inline_key(object, index);
    key = (key ^ chk_insn_at(program, index)->op) * UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ (uintptr_t)f) * UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ ((uint64_t)line->file << 32 | line->line)) * UINT64_C(0x9E3779B97F4A7C15);
    return key | 1;
}

static void note_site(struct chk *chk, const struct chk_finding *f, int finding)
{
    if (f->location.pc == 0)
        return;
    if (!lw_grow(&chk->sites, &chk->site_capacity, chk->site_count + 1, sizeof *chk->sites)) {
        chk->short_of_memory = true;
        return;
    }
    chk->sites[chk->site_count++] = (struct chk_site){f->kind, f->location.pc, f->other.pc, f->location.caller,
                                                      {line_key(chk, &f->location), line_key(chk, &f->other)}, finding};
}

static bool is_of(const struct chk_site *s, const struct chk_finding *f)
{
    return s->kind == f->kind && s->pc == f->location.pc && s->other == f->other.pc && s->caller == f->location.caller;
}

/** Returns the index of the earlier finding of which @f is another occurrence, CHK_DROPPED if that finding was dropped, or
 *  CHK_LOST if @f is a new finding. */
static int find_like(struct chk *chk, const struct chk_finding *f)
{
    uint64_t line[2];

    for (size_t i = 0; f->location.pc == 0 && i < chk->count; i++) {
        const struct chk_finding *o = &chk->findings[i];

        if (o->kind == f->kind && o->location.pc == 0 && o->other.pc == f->other.pc && o->location.line == f->location.line &&
            strcmp(o->location.file, f->location.file) == 0 && strcmp(o->allocation, f->allocation) == 0 &&
            (chk_origins[f->kind].from != CHK_FROM_HOST ||
             (strcmp(o->location.function, f->location.function) == 0 && strcmp(o->message, f->message) == 0)))
            return (int)i; /* equal findings: same line of the launch file and same allocation, or same call of the host
                            * program */
    }
    for (size_t i = 0; f->location.pc != 0 && i < chk->site_count; i++) {
        const struct chk_site *s = &chk->sites[i];

        if (is_of(s, f))
            return s->finding;
    }
    line[0] = line_key(chk, &f->location);
    line[1] = line_key(chk, &f->other);
    /* performance findings contain numbers for one instruction or line, so they are not merged */
    const bool folds = chk_kinds[f->kind].group != CHK_CLASS_PERFORMANCE && line[0] != 0;
    for (size_t i = 0; folds && (line[1] != 0 || f->other.pc == 0) && i < chk->site_count; i++) {
        const struct chk_site *s = &chk->sites[i];

        const bool same = s->line[0] == line[0] && s->line[1] == line[1];
        if (s->kind != f->kind || (!same && (s->line[0] != line[1] || s->line[1] != line[0])) || s->caller != f->location.caller ||
            (s->finding >= 0 && strcmp(chk->findings[s->finding].allocation, f->allocation) != 0))
            continue;
        const int finding = s->finding;
        note_site(chk, f, finding);
        return finding;
    }
    return CHK_LOST;
}

int chk_add(struct chk *chk, struct chk_finding *finding)
{
    chk_race_flush(chk); /* adds the races of logged accesses first, because these accesses precede this finding */
    const int before = find_like(chk, finding);
    if (before == CHK_DROPPED) {
        chk->beyond += (unsigned)finding->count;
        return CHK_DROPPED;
    }
    if (before >= 0) {
        chk->findings[before].count += finding->count;
        return before;
    }
    finding->suppressed = chk_suppressed(chk, finding);
    if (!finding->suppressed && chk->count - chk->suppressed >= chk->options.max_findings) {
        chk->beyond += (unsigned)finding->count;
        chk->beyond_kinds |= UINT64_C(1) << finding->kind;
        note_site(chk, finding, CHK_DROPPED);
        return CHK_DROPPED;
    }
    finding->message = lw_arena_strdup(&chk->strings, finding->message);
    finding->allocation = lw_arena_strdup(&chk->strings, finding->allocation);
    if (finding->location.pc == 0) { /* the host program's names do not last */
        finding->location.function = lw_arena_strdup(&chk->strings, finding->location.function);
        finding->location.file = lw_arena_strdup(&chk->strings, finding->location.file);
    }
    if (finding->message == NULL || finding->allocation == NULL || finding->location.function == NULL ||
        finding->location.file == NULL ||
        !chk_inline_calls(chk, &finding->location) || !chk_inline_calls(chk, &finding->other) ||
        !lw_grow(&chk->findings, &chk->room, chk->count + 1, sizeof *chk->findings)) {
        chk->short_of_memory = true;
        return CHK_LOST;
    }
    chk_values_collect(chk, finding);
    chk->suppressed += finding->suppressed;
    note_site(chk, finding, (int)chk->count);
    chk->findings[chk->count++] = *finding;
    if (!finding->suppressed && !chk->finished && chk->options.found != NULL && chk_origins[finding->kind].from != CHK_FROM_HOST &&
        (chk->stops >> finding->kind & 1) != 0)
        chk->options.found(chk->options.context, (unsigned)chk->count - 1);
    return (int)chk->count - 1;
}

const char *chk_allocation_name(const struct chk *chk, uint64_t address)
{
    struct emu_allocation allocation;
    bool inside;

    return emu_allocation_at(chk->machine, address, &allocation, &inside) ? allocation.name : "";
}

int chk_add_text(struct chk *chk, struct chk_finding *finding, struct lw_buffer *text)
{
    finding->message = lw_buffer_text(text);
    const int at = chk_add(chk, finding);
    lw_buffer_fini(text);
    return at;
}

static void put_where(const struct chk *chk, const struct emu_fault *fault, struct lw_sink *out, const char **name)
{
    const struct emu_grid *grid = emu_grid_find(chk->machine, fault->grid);
    const uint64_t at = fault->space == ISA_SPACE_SHARED ? ISA_SHARED_BASE + fault->address : fault->address;

    if (grid != NULL)
        chk_put_where(chk->machine, emu_program_object(grid->launch.program), grid->launch.kernel, at, out, name);
}

/** If an access to local memory is past the end of a variable of the kernel, prints this variable. */
static void put_local_before(const struct chk *chk, const struct emu_fault *fault, struct lw_sink *out)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, fault->pc);
    const struct emu_grid *grid = emu_grid_find(chk->machine, fault->grid);
    const uint64_t offset = fault->space == ISA_SPACE_GENERIC ? fault->address - ISA_LOCAL_BASE : fault->address;

    if (fault->kind != EMU_FAULT_OUT_OF_BOUNDS || program == NULL || grid == NULL || offset >= ISA_APERTURE_BYTES / 2 ||
        (fault->space != ISA_SPACE_LOCAL && fault->space != ISA_SPACE_GENERIC))
        return;
    chk_put_local_before(emu_program_object(program), grid->launch.kernel, chk_pc_index(program, fault->pc), offset, out);
}

static int add_fault(struct chk *chk, int kind, const struct emu_fault *fault)
{
    struct chk_finding f = chk_finding_of((enum chk_kind)kind, lw_popcount(fault->lanes));
    struct emu_allocation allocation;
    struct lw_buffer text;
    bool inside;

    chk_location_at(chk, fault->grid, fault->block, fault->warp, fault->lanes, fault->pc, &f.location);
    f.stopped = true;
    lw_buffer_init(&text);
    if (fault->kind == EMU_FAULT_FREE) {
        f.address = fault->address;
        if (emu_allocation_at(chk->machine, fault->address, &allocation, &inside) && inside)
            f.allocation = allocation.name;
    }
    if (fault->bytes != 0) {
        f.address = fault->address;
        if (emu_fault_allocation(chk->machine, fault, &allocation))
            f.allocation = allocation.name;
        lw_printf(&text.sink, "%s %s of %u byte%s at 0x%llx", isa_space_name(fault->space),
                  emu_fault_access(chk->machine, fault), fault->bytes, fault->bytes == 1 ? "" : "s",
                  (unsigned long long)fault->address);
        if (fault->kind == EMU_FAULT_MISALIGNED) /* for other faults, fault->detail already names the memory */
            put_where(chk, fault, &text.sink, &f.allocation);
        lw_put(&text.sink, ": ");
    }
    lw_put(&text.sink, fault->detail[0] != '\0' ? fault->detail : chk_kinds[kind].summary);
    put_local_before(chk, fault, &text.sink);
    return chk_add_text(chk, &f, &text);
}

static bool skip(struct emu_fault_filter *filter, const struct emu_fault *fault,
                 uint32_t *read_value)
{
    struct chk *chk = (struct chk *)(void *)((char *)filter - offsetof(struct chk, filter));
    int kind = chk_kind_of(CHK_FROM_FAULT, fault->kind);

    /* only faults of memory accesses (bytes is not 0) and frees can be skipped; other faults end the run, and
     * chk_finish reports them */
    if (!wanted(chk, kind) || (fault->bytes == 0 && fault->kind != EMU_FAULT_FREE))
        return false;
    if (emu_fault_is_full_stack(chk->machine, fault)) /* the program cannot continue, because the return address is
                                                       * lost */
        return false;
    if (!emu_machine_is_replaying(chk->machine))
        (void)add_fault(chk, kind, fault);
    *read_value = chk->options.read_poison;
    return true;
}

static void on_machine_event(struct emu_machine_listener *listener, const struct emu_machine_event *event)
{
    chk_hooks_machine_event((struct chk *)(void *)((char *)listener - offsetof(struct chk, listener)), event);
}

enum lw_status chk_create(struct emu_machine *machine, const struct chk_options *options,
                          struct chk **out, struct lw_error *err)
{
    struct chk *chk = calloc(1, sizeof *chk);

    if (chk == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the checks");
    chk->machine = machine;
    chk->options = *options;
    chk->options.kinds &= ~CHK_EXITED_ANYWHERE;
    chk->exited_anywhere = (options->kinds & CHK_EXITED_ANYWHERE) != 0;
    chk->stops = chk->options.kinds;
    chk->filter.skip = skip;
    chk->listener.on_machine_event = on_machine_event;
    lw_arena_init(&chk->strings);
    chk->files = chk_files_create();
    enum lw_status status = chk->files != NULL ? chk_hooks_begin(chk, err)
                                               : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the checks");
    if (status != LW_OK) {
        chk_files_destroy(chk->files);
        free(chk);
        return status;
    }
    if (observes_races(chk)) /* a loop of loads or atomics runs about 20 times slower */
        emu_machine_reduce_hang_window(machine, 4);
    emu_machine_add_listener(machine, &chk->listener);
    emu_machine_filter_faults(machine, &chk->filter);
    *out = chk;
    return LW_OK;
}

void chk_destroy(struct chk *chk)
{
    if (chk == NULL)
        return;
    emu_machine_filter_faults(chk->machine, NULL);
    emu_machine_remove_listener(chk->machine, &chk->listener);
    chk_hooks_end(chk);
    lw_arena_fini(&chk->strings);
    chk_files_destroy(chk->files);
    free(chk->findings);
    free(chk->sites);
    free(chk->checks);
    free(chk);
}

static int add_hang(struct chk *chk, int kind, const struct emu_hang *hang)
{
    struct chk_finding f = chk_finding_of((enum chk_kind)kind, 1);
    size_t first = strcspn(hang->detail, "\n");
    char message[256];

    chk_location_at(chk, hang->grid, hang->block, hang->warp, hang->lanes, hang->pc, &f.location);
    f.stopped = true;
    first = first < sizeof message ? first : sizeof message - 1;
    memcpy(message, hang->detail, first);
    message[first] = '\0';
    f.message = first != 0 ? message : chk_kinds[kind].summary;
    return chk_add(chk, &f);
}

static int compare(const void *a, const void *b)
{
    const struct chk_finding *x = a, *y = b;
    int order = strcmp(x->location.file, y->location.file);

    if (order == 0)
        order = (x->location.line > y->location.line) - (x->location.line < y->location.line);
    if (order == 0)
        order = (x->kind > y->kind) - (x->kind < y->kind);
    if (order == 0)
        order = (x->location.pc > y->location.pc) - (x->location.pc < y->location.pc);
    if (order == 0)
        order = (x->location.caller > y->location.caller) - (x->location.caller < y->location.caller);
    return order != 0 ? order : (x->other.pc > y->other.pc) - (x->other.pc < y->other.pc);
}

/** Returns a copy of @text in chk->strings, in which the source file of the instruction at @pc has the name that
 *  findings show. Returns NULL if memory is short. */
static char *with_plain_file(struct chk *chk, const char *text, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, pc);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    const char *file = object != NULL ? chk_line_file(object, isa_object_line_at(object, chk_pc_index(program, pc))) : "";
    const char *at = file[0] != '\0' ? strstr(text, file) : NULL;
    struct lw_buffer out;

    if (at == NULL)
        return lw_arena_strdup(&chk->strings, text);
    lw_buffer_init(&out);
    lw_printf(&out.sink, "%.*s%s%s", (int)(at - text), text, chk_file_plain(chk, file), at + strlen(file));
    char *copy = out.text != NULL ? lw_arena_strdup(&chk->strings, out.text) : NULL;
    lw_buffer_fini(&out);
    return copy;
}

/** Returns a copy of @text in chk->strings. If memory is short, sets chk->short_of_memory and returns NULL. */
static const char *keep(struct chk *chk, const char *text)
{
    const char *copy = lw_arena_strdup(&chk->strings, text);

    chk->short_of_memory |= copy == NULL;
    return copy;
}

/** Records the location of the lanes at which the run ended. */
static void end_at(struct chk *chk, const struct emu_thread_ref *place)
{
    struct chk_location *at = &chk->ended_at;

    chk_location_at(chk, place->grid, place->block, place->warp, place->lanes, place->pc, at);
    at->file = keep(chk, at->file);
    at->line = at->file != NULL ? at->line : 0;
}

/** Sets the text about the end of the run. @text: NULL if there was no memory for it. */
static void set_ended(struct chk *chk, const char *text)
{
    chk->short_of_memory |= text == NULL;
    chk->ended = text != NULL ? text : "the run ended early";
}

/** Reports what ended a run, whichever kinds are enabled, because the report of an aborted run must not seem to be the
 *  report of a run without errors. */
static void add_end(struct chk *chk, const struct emu_stop *stop)
{
    const bool fault = stop->kind == EMU_STOP_FAULT;
    const int kind = fault ? chk_kind_of(CHK_FROM_FAULT, stop->fault.kind)
                           : chk_kind_of(CHK_FROM_HANG, stop->hang.kind);
    struct lw_buffer text;

    end_at(chk, &stop->place);
    lw_buffer_init(&text);
    if (fault)
        emu_fault_print(chk->machine, &stop->fault, &text.sink);
    else
        lw_printf(&text.sink, "hang: %.*s", (int)strcspn(stop->hang.detail, "\n"), stop->hang.detail);
    set_ended(chk, text.text != NULL ? with_plain_file(chk, text.text, fault ? stop->fault.pc : stop->hang.pc) : NULL);
    lw_buffer_fini(&text);
    if (kind < 0) {
        chk->ended_kind = emu_fault_name(stop->fault.kind);
        return;
    }
    /* For a barrier that not all lanes reach, a finding at the diverging branch is more useful than the hang report. */
    if (!fault && wanted(chk, CHK_BARRIER_DIVERGENCE) && chk_barrier_hang(chk, &stop->hang) &&
        kind == CHK_BARRIER_DIVERGENCE) {
        if (chk->count == chk->suppressed)
            chk->ended_kind = chk_kinds[kind].name;
        return;
    }
    const int at = fault ? add_fault(chk, kind, &stop->fault) : add_hang(chk, kind, &stop->hang);
    if (at < 0 || chk->findings[at].suppressed) /* no reported finding describes how the run ended, so the reports name the
                                                 * kind */
        chk->ended_kind = chk_kinds[kind].name;
}

/** Sorts the findings by compare(), and updates the indexes of findings in chk->sites. */
static void sort(struct chk *chk)
{
    int *now = calloc(chk->count + 1, sizeof *now);

    qsort(chk->findings, chk->count, sizeof *chk->findings, compare);
    for (size_t i = 0; now != NULL && i < chk->count; i++)
        for (size_t k = 0; k < chk->site_count; k++)
            if (chk->sites[k].finding >= 0 && is_of(&chk->sites[k], &chk->findings[i]))
                now[chk->sites[k].finding] = (int)i;
    for (size_t k = 0; k < chk->site_count; k++)
        if (chk->sites[k].finding >= 0)
            chk->sites[k].finding = now != NULL ? now[chk->sites[k].finding] : CHK_LOST;
    chk->short_of_memory |= now == NULL;
    free(now);
}

void chk_ended_by(struct chk *chk, const char *name, int number)
{
    chk->signal = keep(chk, name);
    chk->signal_number = number;
}

void chk_broke_off(struct chk *chk)
{
    chk->broken_off = true;
}

/** Records for the reports that the user has ended the run early. */
static void add_break(struct chk *chk, const struct emu_stop *stop)
{
    const char *text = stop->hang.detail;

    if (stop->place.lanes != 0) /* between two launches the stop names no lanes */
        end_at(chk, &stop->place);
    chk->ended_kind = stop->kind == EMU_STOP_LIMIT ? "limit" : "signal";
    set_ended(chk, lw_arena_printf(&chk->strings, "%s: %.*s; the report covers the run up to this point",
                                   stop->kind == EMU_STOP_LIMIT ? "limit" : "interrupted", (int)strcspn(text, "\n"), text));
}

enum lw_status chk_finish(struct chk *chk, const struct emu_stop *stop, struct lw_error *err)
{
    chk_race_flush(chk);
    chk->finished = true;
    chk->broken_off |= stop->kind != EMU_STOP_IDLE;
    if (chk->options.kinds != 0 && (stop->kind == EMU_STOP_FAULT || stop->kind == EMU_STOP_HANG))
        add_end(chk, stop);
    if (stop->kind == EMU_STOP_LIMIT || stop->kind == EMU_STOP_INTERRUPTED)
        add_break(chk, stop);
    if (wanted(chk, CHK_LEAK) && stop->kind == EMU_STOP_IDLE)
        chk_leaks_add(chk);
    chk_lint(chk);
    if (chk->count != 0)
        sort(chk);
    if (chk->short_of_memory)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for some findings: they are missing in the report");
    return LW_OK;
}

/** Returns the record of the host's comparisons at a line, which is created if needed, or NULL if memory is short. */
static struct chk_check *check_at(struct chk *chk, const char *file, uint32_t line)
{
    for (size_t i = 0; i < chk->check_count; i++)
        if (chk->checks[i].line == line && strcmp(chk->checks[i].file, file) == 0)
            return &chk->checks[i];
    const char *name = lw_arena_strdup(&chk->strings, file);
    if (name == NULL ||
        !lw_grow(&chk->checks, &chk->check_capacity, chk->check_count + 1, sizeof *chk->checks)) {
        chk->short_of_memory = true;
        return NULL;
    }
    chk->checks[chk->check_count] = (struct chk_check){.file = name, .line = line};
    return &chk->checks[chk->check_count++];
}

void chk_declare_host_check(struct chk *chk, const char *file, uint32_t line)
{
    (void)check_at(chk, file, line);
}

bool chk_wants(const struct chk *chk, enum chk_kind kind)
{
    return wanted(chk, (int)kind);
}

enum lw_status chk_add_host(struct chk *chk, const struct chk_host_finding *finding, struct lw_error *err)
{
    struct chk_finding f = chk_finding_of(finding->kind, finding->count);

    if (!chk_wants(chk, finding->kind))
        return LW_OK;
    f.message = finding->message;
    f.location.function = finding->function;
    f.location.file = finding->file;
    f.location.line = finding->line;
    if (chk_add(chk, &f) == CHK_LOST)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a finding");
    return LW_OK;
}

void chk_record_host_check(struct chk *chk, const char *file, uint32_t line, const char *failed)
{
    struct chk_check *c = check_at(chk, file, line);

    if (c == NULL)
        return;
    c->came = true;
    if (failed != NULL && c->failed == NULL)
        c->failed = keep(chk, failed);
}

unsigned chk_count(const struct chk *chk)
{
    chk_race_flush(chk);
    return (unsigned)chk->count - chk->suppressed;
}

unsigned chk_suppressed_count(const struct chk *chk)
{
    chk_race_flush(chk);
    return chk->suppressed;
}

unsigned chk_dropped_count(const struct chk *chk)
{
    chk_race_flush(chk);
    return chk->beyond;
}

enum lw_status chk_relate(struct chk *chk, const struct chk_finding *finding, const struct chk_related *related,
                          struct lw_error *err)
{
    struct chk_finding *f = &chk->findings[finding - chk->findings];
    const struct chk_related copy = {lw_arena_strdup(&chk->strings, related->what), lw_arena_strdup(&chk->strings, related->file),
                                     related->line};

    if (f->related_count == CHK_MOST_RELATED)
        return LW_FAIL(err, LW_ERANGE, "a finding has at most %d related locations", CHK_MOST_RELATED);
    if (copy.what == NULL || copy.file == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the location");
    f->related[f->related_count++] = copy;
    return LW_OK;
}

const struct chk_finding *chk_get(const struct chk *chk, unsigned index)
{
    chk_race_flush(chk);
    return index < chk->count ? &chk->findings[index] : NULL;
}

bool chk_stops_for(const struct chk *chk, const struct chk_finding *finding)
{
    return (chk->stops >> finding->kind & 1) != 0;
}

bool chk_ordered(unsigned how, double a, double b)
{
    const bool unordered = a != a || b != b;

    switch (how) {
    case ISA_CMP_EQ: return !unordered && !(a < b) && !(a > b);
    case ISA_CMP_NE: return a < b || a > b;
    case ISA_CMP_LT: return a < b;
    case ISA_CMP_LE: return a <= b;
    case ISA_CMP_GT: return a > b;
    case ISA_CMP_GE: return a >= b;
    case ISA_CMP_EQU: return unordered || (!(a < b) && !(a > b));
    case ISA_CMP_NEU: return unordered || a < b || a > b;
    case ISA_CMP_LTU: return unordered || a < b;
    case ISA_CMP_LEU: return unordered || a <= b;
    case ISA_CMP_GTU: return unordered || a > b;
    case ISA_CMP_GEU: return unordered || a >= b;
    case ISA_CMP_NUM: return !unordered;
    default: return unordered;
    }
}

bool chk_compare(const struct isa_insn *insn, uint64_t a, uint64_t b)
{
    const unsigned how = isa_mod_get(insn, ISA_MOD_CMP);
    const uint32_t low[2] = {(uint32_t)a, (uint32_t)b};
    uint64_t sign = 0;
    double d[2];
    float f[2];

    switch (insn->op) {
    case ISA_V_SETP_F32: memcpy(f, low, sizeof f); return chk_ordered(how, (double)f[0], (double)f[1]);
    case ISA_V_SETP_F64:
        memcpy(&d[0], &a, sizeof a);
        memcpy(&d[1], &b, sizeof b);
        return chk_ordered(how, d[0], d[1]);
    case ISA_V_SETP_S32: sign = UINT64_C(1) << 31; break;
    case ISA_V_SETP_S64: sign = UINT64_C(1) << 63; break;
    default: break;
    }
    a ^= sign; /* maps signed values to unsigned values and preserves their order */
    b ^= sign;
    return chk_ordered(how, a < b ? -1 : a > b, 0);
}
