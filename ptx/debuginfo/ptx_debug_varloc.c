/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the locations of a function's variables. The instruction words may have another order than the statements of the PTX
 * text. So a range of labels means the words of all statements between the labels. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdlib.h>

enum { MAX_LIST = 1 << 16 };

/* ---- words of lines ------------------------------------------------------------------ */

static int compare_words(const void *a, const void *b)
{
    const struct ptx_line_word *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static void find_words(struct ptx_placing *pl)
{
    const struct ptx_unit *unit = pl->unit;
    uint32_t n = 0;

    for (size_t i = 0; i < unit->code.count; i++)
        for (uint32_t w = pl->index[i]; w < pl->index[i + 1]; w++) {
            pl->line_at[w] = ptx_debug_statement(pl->fn, unit->code.at[i].line);
            pl->by_line[n++] = (struct ptx_line_word){ pl->line_at[w], w };
        }
    pl->count = n;
    if (n != 0)
        qsort(pl->by_line, n, sizeof *pl->by_line, compare_words);
}

void ptx_debug_mark_lines(struct ptx_placing *pl, uint32_t from, uint32_t to)
{
    uint32_t low = 0, high = pl->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (pl->by_line[middle].line < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < pl->count && pl->by_line[low].line < to && ptx_spend(pl, 4); low++) {
        uint32_t word = pl->by_line[low].word;

        pl->mark[word] = 1;
        if (word < pl->marked_from)
            pl->marked_from = word;
        if (word >= pl->marked_to)
            pl->marked_to = word + 1;
    }
}

void ptx_debug_clear_marks(struct ptx_placing *pl)
{
    if (pl->marked_from < pl->marked_to)
        memset(pl->mark + pl->marked_from, 0, pl->marked_to - pl->marked_from);
    pl->marked_from = pl->count;
    pl->marked_to = 0;
}

static void mark_all(struct ptx_placing *pl)
{
    memset(pl->mark, 1, pl->count);
    pl->marked_from = 0;
    pl->marked_to = pl->count;
}

/* Supports only addresses that are a label. Addresses relative to the unit's low_pc would be differences of labels, which no
 * compiler writes in PTX. */
bool ptx_debug_line_of(const struct ptx_placing *pl, const struct ptx_fixup *fixup, uint32_t *line)
{
    const struct ptx_mark *mark = fixup != NULL && fixup->minus.size == 0 && fixup->addend == 0
                                      ? ptx_debug_mark(pl->debug, fixup) : NULL;

    if (mark == NULL || mark->function != pl->function)
        return false;
    *line = mark->line;
    return true;
}

void *ptx_debug_keep(struct ptx_placing *pl, const void *list, size_t count, size_t size)
{
    void *copy = lw_arena_alloc(&pl->unit->object->arena, (count + 1) * size);

    if (copy == NULL)
        ptx_fail(pl->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    if (count != 0 && list != NULL)
        memcpy(copy, list, count * size);
    return copy;
}

/* ---- expressions ------------------------------------------------------------------------- */

/* Stores the location of the variable with the expression's name in @location. If the function has no such variable, the name is
 * that of a module variable. Returns false if there is no location. */
static bool symbol_location(struct ptx_placing *pl, const struct ptx_location_expr *expr, struct isa_var_location *location)
{
    char room[3 * PTX_NAME_BYTES];
    const char *name = ptx_debug_spelling(expr->address->name, room, sizeof room);
    const struct ptx_symbol *s = NULL;

    if (name == NULL)
        return false;
    for (uint32_t i = pl->fn->first_symbol; i < pl->fn->end_symbol && s == NULL && ptx_spend(pl, 1);
         i++) {
        if (strcmp(pl->module->symbols.at[i].name, name) == 0)
            s = &pl->module->symbols.at[i];
    }
    if (s == NULL)
        s = ptx_debug_symbol(pl->module, name);
    if (s == NULL)
        return false;
    *location = (struct isa_var_location){ .kind = ISA_LOCATION_ADDRESS, .value = s->offset + expr->offset };
    switch (s->space) {
    case PTX_SP_LOCAL:
        if (pl->fn->kernel) {
            location->value += ISA_LOCAL_BASE;
        } else { /* The address is v2 + offset. v2 is the CFA minus the size of the frame (docs/reference/abi.md). */
            location->kind = ISA_LOCATION_FRAME;
            location->value -= pl->fn->calls.tree.frame_bytes;
        }
        return true;
    case PTX_SP_PARAM: location->value += WINDOW_CONST; return pl->fn->kernel;
    case PTX_SP_SHARED:
        location->value += ISA_SHARED_BASE;
        return s->placed || s->size_bytes == 0;
    default: return ptx_debug_variable_location(s, expr->offset, location);
    }
}

bool ptx_debug_frame_location(struct ptx_placing *pl, uint64_t offset, struct isa_var_location *location)
{
    static const char depot[] = "__local_depot";

    for (uint32_t i = pl->fn->first_symbol; i < pl->fn->end_symbol && ptx_spend(pl, 1); i++) {
        const char *name = pl->module->symbols.at[i].name;
        struct ptx_fixup address = { .name = { name, strlen(name) } };
        const struct ptx_location_expr expr = { .address = &address, .offset = offset };

        if (strncmp(name, depot, sizeof depot - 1) == 0)
            return symbol_location(pl, &expr, location);
    }
    return false;
}

/* ---- registers that lists name ------------------------------------------------------------- */

static void want(struct ptx_placing *pl, const struct ptx_section *section, uint32_t at,
                 uint32_t size)
{
    struct ptx_location_expr expr;
    uint32_t reg;

    if (!ptx_debug_read_location_expr(section, at, size, &expr) || expr.reg[0] == '\0')
        return;
    reg = ptx_debug_register(pl, expr.reg);
    if (reg != PTX_NONE)
        pl->wanted[reg] = 1;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Reads the entry of a location list at offset *at of .debug_loc and advances *at. Returns false at the end of the list.
 * Sets @ours to whether the labels of the entry are in this function. Only if they are, sets the lines of @entry. */
static bool next_entry(struct ptx_placing *pl, uint64_t *at, struct ptx_list_entry *entry, bool *ours)
{
    const struct ptx_section *loc = pl->debug->loc;
    const struct ptx_fixup *a, *b;
    uint32_t size;

    if (*at + 16 > loc->bytes.count || !ptx_spend(pl, 1))
        return false;
    a = ptx_debug_fixup(loc, (uint32_t)*at);
    b = ptx_debug_fixup(loc, (uint32_t)*at + 8);
    if ((a == NULL && b == NULL) || *at + 18 > loc->bytes.count)
        return false;
    size = (uint32_t)ptx_debug_bytes(loc, (uint32_t)*at + 16, 2);
    if (size > loc->bytes.count - (*at + 18))
        return false;
    entry->at = (uint32_t)*at + 18;
    entry->size = size;
    *ours = ptx_debug_line_of(pl, a, &entry->from) && ptx_debug_line_of(pl, b, &entry->to);
    *at += 18 + size;
    return true;
}

static bool list_start(const struct ptx_placing *pl, const struct ptx_value *value, uint64_t *at)
{
    const struct ptx_section *loc = pl->debug->loc;

    if (loc == NULL || (value->kind != PTX_V_OFFSET && value->kind != PTX_V_NUMBER))
        return false;
    if (value->fixup != NULL)
        return ptx_debug_target(loc, value->fixup, at);
    *at = value->number;
    return *at < loc->bytes.count;
}

static bool is_variable(const struct ptx_die *die)
{
    return die->tag == ISA_TAG_VARIABLE || die->tag == ISA_TAG_PARAMETER;
}

static void want_registers(struct ptx_placing *pl, uint32_t root, const struct ptx_noting *noting)
{
    pl->wanted = PTX_ARRAY(pl->job, uint8_t, pl->fn->regs.count + 1);
    if (noting != NULL)
        ptx_debug_notes_want(pl, noting);
    for (uint32_t i = root; i < pl->debug->dies.at[root].end; i++) {
        const struct ptx_value *value =
            is_variable(&pl->debug->dies.at[i])
                ? ptx_debug_value(pl->debug, i, ISA_AT_LOCATION) : NULL;
        struct ptx_list_entry entry;
        uint64_t at;
        bool ours;

        if (value == NULL)
            continue;
        if (value->kind == PTX_V_BLOCK)
            want(pl, pl->debug->info, value->at, value->size);
        else if (list_start(pl, value, &at))
            while (next_entry(pl, &at, &entry, &ours))
                want(pl, pl->debug->loc, entry.at, entry.size);
    }
    ptx_debug_find_holders(pl);
}

/* ---- variables ------------------------------------------------------------------------------ */

/* Appends a location for all marked words. */
static void locate_marked(struct ptx_placing *pl, struct isa_var_location location)
{
    for (uint32_t w = pl->marked_from; w < pl->marked_to && ptx_spend(pl, 1); w++) {
        uint32_t start = w;

        if (!pl->mark[w])
            continue;
        while (w < pl->marked_to && pl->mark[w])
            w++;
        location.from = pl->base + start;
        location.to = pl->base + w;
        *PTX_PUSH(pl->job, pl->locations) = location;
        for (uint32_t k = start; k < w; k++)
            pl->at[k] = PTX_NONE;
    }
}

/* Appends locations for the marked words in which the register holds the variable's value. */
static void locate_register(struct ptx_placing *pl, const char *name)
{
    uint32_t reg = ptx_debug_register(pl, name);
    size_t before = pl->locations.count;
    uint64_t value;

    for (uint32_t h = reg != PTX_NONE ? pl->holder_of[reg] : 0; h != 0 && ptx_spend(pl, 1); h = pl->holders.at[h - 1].next) {
        const struct ptx_holder *holder = &pl->holders.at[h - 1];

        for (size_t i = 0; i < holder->spans.count; i++) {
            const struct isa_span *span = &holder->spans.at[i];

            for (uint32_t w = span->from; w < span->to && ptx_spend(pl, 1); w++) {
                uint32_t start = w;

                if (!pl->mark[w])
                    continue;
                while (w < span->to && pl->mark[w])
                    w++;
                *PTX_PUSH(pl->job, pl->locations) = ptx_debug_holder_location(pl, holder, start, w);
                for (uint32_t k = start; k < w; k++)
                    pl->at[k] = h;
            }
        }
    }
    if (pl->locations.count == before && reg != PTX_NONE && ptx_debug_literal(pl, reg, &value))
        locate_marked(pl, (struct isa_var_location){ .kind = ISA_LOCATION_CONSTANT, .value = value });
}

static void locate_by_expression(struct ptx_placing *pl, const struct ptx_section *section, uint32_t at,
                       uint32_t size, bool always)
{
    struct isa_var_location location;
    struct ptx_location_expr expr;

    if (!ptx_debug_read_location_expr(section, at, size, &expr))
        return;
    if (expr.reg[0] != '\0') {
        if (always)
            mark_all(pl);
        locate_register(pl, expr.reg);
        return;
    }
    if (expr.constant)
        location = (struct isa_var_location){ .kind = ISA_LOCATION_CONSTANT, .value = expr.offset };
    else if (!symbol_location(pl, &expr, &location))
        return;
    if (always) {
        *PTX_PUSH(pl->job, pl->locations) = location;
        return;
    }
    locate_marked(pl, location);
}

static int compare_locations(const void *a, const void *b)
{
    const struct isa_var_location *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts pl->locations and makes them disjoint, even if the debug sections are wrong. */
static void tidy_locations(struct ptx_placing *pl)
{
    size_t retained = 0;

    if (pl->locations.count > 1)
        qsort(pl->locations.at, pl->locations.count, sizeof *pl->locations.at, compare_locations);
    for (size_t i = 0; i < pl->locations.count && pl->locations.count > 1; i++) {
        struct isa_var_location location = pl->locations.at[i];
        struct isa_var_location *last = retained != 0 ? &pl->locations.at[retained - 1] : NULL;

        if (last != NULL && location.from < last->to)
            location.from = last->to;
        if (location.from >= location.to)
            continue;
        if (last != NULL && last->to == location.from && last->kind == location.kind &&
            last->value == location.value && last->variable == location.variable &&
            last->innermost_only == location.innermost_only)
            last->to = location.to;
        else
            pl->locations.at[retained++] = location;
    }
    if (pl->locations.count > 1)
        pl->locations.count = retained;
}

uint32_t ptx_debug_param(const struct ptx_placing *pl, uint32_t root, uint32_t index)
{
    const struct ptx_debug *debug = pl->debug;
    uint32_t n = 0, at = PTX_NONE;

    if (!pl->fn->kernel || debug->dies.at[index].parent != root || debug->dies.at[index].tag != ISA_TAG_PARAMETER)
        return PTX_NONE;
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i = debug->dies.at[i].end) {
        if (i == index)
            at = n;
        n += debug->dies.at[i].tag == ISA_TAG_PARAMETER;
    }
    return n == pl->fn->params.count && at != PTX_NONE ? pl->fn->params.at[at] : PTX_NONE;
}

/* Appends the locations that notes give a variable that has no location in the sections. Returns false if the variable has no
 * notes, or if the notes only show that a kernel parameter has the value of the launch everywhere. */
static bool locate_noted(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root, uint32_t index)
{
    const struct ptx_noted_variable *variable =
        noting != NULL ? ptx_debug_noted(pl, noting, root, index) : NULL;
    struct ptx_noted_pieces pieces = { 0 };
    const uint32_t param = ptx_debug_param(pl, root, index);

    enum ptx_noted noted;

    if (variable == NULL)
        return false;
    if (ptx_debug_memory_noted(pl, noting, variable)) {
        pl->debug->dies.at[index].noted = true;
        ptx_debug_memory_locate(pl, noting, variable, index, 0);
        if (!ptx_debug_memory_is_scalar(pl->debug, index))
            return true;
    } /* At statements at which the memory is not known to have the value, a scalar may be in a register. For structures and
       * arrays, debug values do not suffice: clang writes none for an assignment to an element of unknown index. */
    noted = ptx_debug_notes_follow(pl, noting, variable, index, param, &pieces);
    if (noted == PTX_NOTED_LAUNCH)
        return false; /* locate_params() locates this parameter in the same way as a parameter without notes */
    pl->debug->dies.at[index].noted = true;
    if (noted == PTX_NOTED_RANGES)
        ptx_debug_notes_locate(pl, noting, &pieces, param, ptx_debug_type_bytes(pl->debug, index));
    return true;
}

/* Returns true if a variable's location is in local memory and its function has notes, and stores the variable's offset in
 * local memory. A function with notes is optimised, so the memory does not always have the value of the variable. */
static bool is_doubted(const struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_value *value, uint64_t *offset)
{
    struct ptx_location_expr expr;

    if (noting == NULL || !ptx_debug_read_location_expr(pl->debug->info, value->at, value->size, &expr) || expr.address == NULL ||
        expr.address->name.size < 13 || memcmp(expr.address->name.text, "__local_depot", 13) != 0)
        return false;
    *offset = expr.offset;
    return true;
}

static void locate_variable(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root, uint32_t index)
{
    struct ptx_die *die = &pl->debug->dies.at[index];
    const struct ptx_value *value = ptx_debug_value(pl->debug, index, ISA_AT_LOCATION);
    struct ptx_list_entry entry;
    uint64_t at;
    bool ours;

    pl->locations.count = 0;
    if (value == NULL) {
        const bool noted = locate_noted(pl, noting, root, index);

        if (noting != NULL)
            ptx_debug_initialiser_locate(pl, noting, root, index);
        if (!noted && pl->locations.count == 0)
            return;
    } else if (value->kind == PTX_V_BLOCK && is_doubted(pl, noting, value, &at)) {
        die->noted = true;
        ptx_debug_memory_locate(pl, noting, NULL, index, at);
    } else if (value->kind == PTX_V_BLOCK) {
        locate_by_expression(pl, pl->debug->info, value->at, value->size, true);
        ptx_debug_clear_marks(pl);
    } else if (list_start(pl, value, &at) && ptx_spend(pl, pl->count / 4)) {
        memset(pl->listed, 0, pl->count * sizeof *pl->listed);
        memset(pl->at, 0, pl->count * sizeof *pl->at);
        pl->its.count = 0;
        for (unsigned n = 0; n < MAX_LIST && next_entry(pl, &at, &entry, &ours); n++) {
            if (!ours)
                continue;
            ptx_debug_mark_lines(pl, entry.from, entry.to);
            ptx_debug_list_entry(pl, &entry, n);
            locate_by_expression(pl, pl->debug->loc, entry.at, entry.size, false);
            ptx_debug_clear_marks(pl);
        }
        ptx_debug_gaps(pl);
    }
    tidy_locations(pl);
    die->locations = ptx_debug_keep(pl, pl->locations.at, pl->locations.count, sizeof *die->locations);
    die->location_count = (uint32_t)pl->locations.count;
}

/* Returns the end of the prologue, in which compilers copy the parameters. */
static uint32_t prologue_end(const struct ptx_placing *pl)
{
    const struct isa_object *object = pl->unit->object;

    for (unsigned i = object->line_count; i != 0 && object->lines[i - 1].insn >= pl->base; i--) {
        if (object->lines[i - 1].prologue_end)
            return object->lines[i - 1].insn;
    }
    return pl->base;
}

/* Locates kernel parameters in the constant bank if the compiler gives no location. A parameter that the prologue
 * copies to local memory is in the constant bank until the copy. A parameter that is loaded into registers is in the
 * constant bank until the load. If the steps for the analysis of notes are used up, it is unknown whether code has assigned to
 * a parameter, so parameters get no location here. */
static void locate_params(struct ptx_placing *pl, uint32_t root)
{
    const struct ptx_debug *debug = pl->debug;
    uint32_t count = 0, end = prologue_end(pl);

    if (debug->budget == 0 && pl->fn->notes.count != 0)
        return;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = 0;

        for (uint32_t i = root + 1; i < debug->dies.at[root].end; i = debug->dies.at[i].end) {
            struct ptx_die *die = &debug->dies.at[i];
            struct isa_var_location location = { .kind = ISA_LOCATION_ADDRESS };

            if (die->tag != ISA_TAG_PARAMETER)
                continue;
            if (die->noted) {
                n++;
                continue;
            }
            if (pass == 1 && die->location_count == 0 &&
                ptx_debug_value(debug, i, ISA_AT_CONST_VALUE) == NULL) {
                location.value = WINDOW_CONST + pl->module->symbols.at[pl->fn->params.at[n]].offset;
                die->locations = ptx_debug_keep(pl, &location, 1, sizeof location);
                die->location_count = 1;
            } else if (pass == 1 && die->location_count == 1 && die->locations->to == 0 &&
                       die->locations->kind == ISA_LOCATION_ADDRESS && end > pl->base &&
                       end < pl->base + pl->count && die->locations->value < WINDOW_VECTOR) {
                struct isa_var_location both[2] = { location, *die->locations };

                both[0].value =
                    WINDOW_CONST + pl->module->symbols.at[pl->fn->params.at[n]].offset;
                both[0].from = pl->base;
                both[0].to = both[1].from = end;
                both[1].to = pl->base + pl->count;
                die->locations = ptx_debug_keep(pl, both, 2, sizeof *both);
                die->location_count = 2;
            } else if (pass == 1 && die->location_count - 1 < 15 && die->locations->to != 0) {
                struct isa_var_location all[16] = { location };

                all[0].value = WINDOW_CONST + pl->module->symbols.at[pl->fn->params.at[n]].offset;
                all[0].from = pl->base;
                all[0].to = die->locations->from;
                memcpy(all + 1, die->locations, die->location_count * sizeof *all);
                for (uint32_t p = 0; p < die->location_count; p++)
                    all[0].to = all[p + 1].from < all[0].to ? all[p + 1].from : all[0].to;
                if (all[0].to > pl->base)
                    die->locations = ptx_debug_keep(pl, all, ++die->location_count, sizeof *all);
            }
            n++;
        }
        count = n;
        if (count != pl->fn->params.count)
            return;
    }
}

/* Stores the location of the local memory to which a function's prologue copies a parameter. clang copies the structures to
 * which the source assigns, but gives no location for the copy. */
static bool find_copy(struct ptx_placing *pl, uint32_t param, struct isa_var_location *location)
{
    const struct ptx_function *fn = pl->fn;

    for (size_t i = 0; i < fn->insns.count && ptx_spend(pl, 1); i++) {
        const struct ptx_loc *loc = &pl->module->locs.at[fn->insns.at[i].loc], *first = &pl->module->locs.at[fn->insns.at[0].loc];
        const struct ptx_insn *store = &fn->insns.at[i];
        const struct ptx_operand *to = &store->operand[0];
        const struct ptx_reg *base;

        if (loc->file != first->file || loc->line != first->line || loc->column != first->column)
            break; /* the prologue has ended */
        if (store->op != PTX_ST || store->operand_count != 2 || to->kind != PTX_O_ADDRESS || to->reg == PTX_NONE ||
            store->operand[1].kind != PTX_O_REG)
            continue;
        base = &fn->regs.at[to->reg];
        for (size_t k = 0; k < i && base->local != 0 && ptx_spend(pl, 1); k++) {
            const struct ptx_insn *load = &fn->insns.at[k];

            if (load->op != PTX_LD || load->operand_count != 2 || load->operand[0].kind != PTX_O_REG ||
                load->operand[0].reg != store->operand[1].reg || load->operand[1].kind != PTX_O_ADDRESS ||
                load->operand[1].symbol != param)
                continue;
            *location = (struct isa_var_location){
                .kind = ISA_LOCATION_FRAME,
                .value = pl->module->symbols.at[base->local - 1].offset + (uint64_t)base->local_offset + to->imm -
                         load->operand[1].imm - fn->calls.tree.frame_bytes};
            return true;
        }
    }
    return false;
}

/* Locates the structures that are parameters of a function compiled for debuggers: ptx_select() keeps them in the function's
 * frame. Clang gives no location for them. */
static void locate_structures(struct ptx_placing *pl, uint32_t root)
{
    const struct ptx_debug *debug = pl->debug;
    const uint32_t end = prologue_end(pl);
    uint32_t n = 0;

    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i = debug->dies.at[i].end)
        n += debug->dies.at[i].tag == ISA_TAG_PARAMETER;
    if (n != pl->fn->params.count)
        return;
    n = 0;
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i = debug->dies.at[i].end) {
        struct ptx_die *die = &debug->dies.at[i];
        const struct ptx_symbol *s;
        struct isa_var_location location = {.kind = ISA_LOCATION_FRAME};

        if (die->tag != ISA_TAG_PARAMETER)
            continue;
        s = &pl->module->symbols.at[pl->fn->params.at[n++]];
        if (die->location_count != 0 || s->home != PTX_SPILL_FRAME || ptx_debug_value(debug, i, ISA_AT_CONST_VALUE) != NULL)
            continue;
        if (!find_copy(pl, pl->fn->params.at[n - 1], &location))
            location.value = s->offset - (uint64_t)pl->fn->calls.tree.frame_bytes;
        location.from = end;
        location.to = pl->base + pl->count;
        die->locations = ptx_debug_keep(pl, &location, 1, sizeof location);
        die->location_count = 1;
    }
}

/* ---- before the function has registers ----------------------------------------------------- */

enum { MAX_KEEPS = 4096 };

static int compare_keeps(const void *a, const void *b)
{
    const struct ptx_keep *x = a, *y = b;

    if (x->insn != y->insn)
        return x->insn < y->insn ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static void put_keep(struct ptx_placing *pl, uint32_t at, uint32_t size,
                     const struct ptx_section *section, uint32_t line,
                     struct ptx_keep *keeps, size_t *count)
{
    struct ptx_location_expr expr;
    uint32_t reg, low;

    if (*count == MAX_KEEPS || !ptx_debug_read_location_expr(section, at, size, &expr) || expr.reg[0] == '\0')
        return;
    reg = ptx_debug_register(pl, expr.reg);
    if (reg == PTX_NONE || pl->fn->insns.count == 0)
        return;
    low = ptx_debug_statements_before(pl->fn, line);
    if (low == pl->fn->insns.count) /* the line is after the last statement */
        low--;
    keeps[(*count)++] = (struct ptx_keep){ low, reg };
}

/* Returns the line of the text at which the innermost scope around a variable ends, or UINT32_MAX if no scope has an end. */
static uint32_t scope_end(const struct ptx_placing *pl, uint32_t die)
{
    for (uint32_t at = pl->debug->dies.at[die].parent; at != PTX_NONE;
         at = pl->debug->dies.at[at].parent) {
        const struct ptx_value *high = ptx_debug_value(pl->debug, at, 0x12);
        uint32_t line;

        if (high != NULL && ptx_debug_line_of(pl, high->fixup, &line))
            return line;
    }
    return UINT32_MAX;
}

/* Returns the index of the function that has the labels of this function's text: the original kernel if this function is the
 * copy of a kernel, otherwise this function. */
static uint32_t text_of(const struct ptx_unit *unit)
{
    return unit->function->copy_of != 0 ? unit->function->copy_of - 1
                                        : (uint32_t)(unit->function - unit->module->functions.at);
}

const struct ptx_keep *ptx_debug_keeps(struct ptx_unit *unit, size_t *count)
{
    struct ptx_debug *debug = unit->module->debug;
    struct ptx_placing pl = { .unit = unit, .job = unit->job, .module = unit->module, .debug = debug,
                          .fn = unit->function };
    struct ptx_keep *keeps;
    uint32_t root;

    *count = 0;
    if (debug == NULL || debug->dies.count == 0)
        return NULL;
    pl.function = text_of(unit);
    root = debug->subprogram[unit->function - unit->module->functions.at];
    if (root == PTX_NONE)
        return NULL;
    ptx_debug_look_at(debug, unit->function->source);
    keeps = PTX_ARRAY(unit->job, struct ptx_keep, MAX_KEEPS);
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i++) {
        const struct ptx_value *value = is_variable(&debug->dies.at[i])
                                            ? ptx_debug_value(debug, i, ISA_AT_LOCATION) : NULL;
        struct ptx_list_entry entry;
        uint64_t at;
        bool ours;

        if (value == NULL)
            continue;
        if (value->kind == PTX_V_BLOCK)
            put_keep(&pl, value->at, value->size, debug->info, scope_end(&pl, i), keeps, count);
        else if (list_start(&pl, value, &at))
            while (next_entry(&pl, &at, &entry, &ours))
                if (ours)
                    put_keep(&pl, entry.at, entry.size, debug->loc, entry.to, keeps, count);
    }
    if (*count > 1)
        qsort(keeps, *count, sizeof *keeps, compare_keeps);
    return keeps;
}

/* Counts variables of a function: parameters with a location, other variables with a location, and other variables without a
 * location. clang writes no location for a parameter that is a structure, even at -O0. */
struct located {
    uint32_t params, with, without;
};

static void count_located(const struct ptx_debug *debug, uint32_t root, struct located *count)
{
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i++) {
        const struct ptx_die *die = &debug->dies.at[i];

        if (die->tag == ISA_TAG_INLINED)
            i = die->end - 1;
        else if (is_variable(die) && ptx_debug_value(debug, i, ISA_AT_LOCATION) == NULL)
            count->without += die->tag != ISA_TAG_PARAMETER;
        else if (is_variable(die))
            *(die->tag == ISA_TAG_PARAMETER ? &count->params : &count->with) += 1;
    }
}

/* Returns whether all functions of module @source are compiled for debuggers, which the locations of their variables show. */
static bool is_module_stepped(const struct ptx_module *module, uint32_t source)
{
    const struct ptx_debug *debug = module->debug;
    struct ptx_debug_part *part = &debug->part[source];
    struct located count = {0};

    for (size_t f = 0; f < module->functions.count && part->stepped == 0; f++)
        if (module->functions.at[f].source == source && debug->subprogram[f] != PTX_NONE)
            count_located(debug, debug->subprogram[f], &count);
    if (part->stepped == 0)
        part->stepped = count.without == 0 && count.params + count.with != 0 ? 2 : 1;
    return part->stepped == 2;
}

bool ptx_debug_is_stepped(const struct ptx_unit *unit)
{
    const struct ptx_debug *debug = unit->module->debug;
    size_t function = (size_t)(unit->function - unit->module->functions.at);
    struct located count = {0};

    if (debug == NULL || debug->dies.count == 0 || debug->subprogram[function] == PTX_NONE)
        return false;
    count_located(debug, debug->subprogram[function], &count);
    if (count.params + count.with + count.without == 0)
        return is_module_stepped(unit->module, unit->function->source);
    return count.params != 0 || (count.with != 0 && count.without == 0);
}

void ptx_debug_function(struct ptx_unit *unit, uint32_t base, const uint32_t *index)
{
    struct ptx_debug *debug = unit->module->debug;
    struct ptx_placing pl = { .unit = unit, .job = unit->job, .module = unit->module, .debug = debug,
                          .fn = unit->function, .base = base, .index = index };
    const uint32_t words = index[unit->code.count];
    uint32_t root;

    if (debug == NULL)
        return;
    ptx_debug_look_at(debug, unit->function->source);
    if (!debug->current->has_entries) {
        ptx_debug_inlines(unit, base, index);
        return;
    }
    pl.function = text_of(unit);
    root = debug->subprogram[unit->function - unit->module->functions.at];
    if (root == PTX_NONE)
        return;
    pl.by_line = PTX_ARRAY(unit->job, struct ptx_line_word, words + 1);
    pl.mark = PTX_ARRAY(unit->job, uint8_t, words + 1);
    pl.line_at = PTX_ARRAY(unit->job, uint32_t, words + 1);
    pl.listed = PTX_ARRAY(unit->job, uint32_t, words + 1);
    pl.at = PTX_ARRAY(unit->job, uint32_t, words + 1);
    pl.owner = PTX_ARRAY(unit->job, uint32_t, words + 1);
    find_words(&pl);
    ptx_debug_clear_marks(&pl);
    ptx_debug_find_moves(&pl);
    struct ptx_noting *noting = ptx_debug_notes_read(&pl);

    ptx_debug_find_scopes(&pl, root, noting);
    const uint32_t *copy = ptx_debug_find_copies(unit, index, pl.owner, ptx_debug_call_site, &pl);

    if (copy != NULL) {
        struct ptx_duplicates *copies = PTX_ARRAY(unit->job, struct ptx_duplicates, debug->dies.at[root].end - root);

        ptx_debug_copies(unit, base, index, pl.owner, copy, root, copies);
        for (uint32_t i = root; i < debug->dies.at[root].end; i++)
            debug->dies.at[i].copies = copies[i - root];
    }
    if (noting != NULL)
        ptx_debug_notes_match(&pl, noting, root);
    want_registers(&pl, root, noting);
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i++) {
        struct ptx_die *die = &debug->dies.at[i];

        if (is_variable(die))
            locate_variable(&pl, noting, root, i);
    }
    if (unit->function->kernel)
        locate_params(&pl, root);
    else if (noting == NULL)
        locate_structures(&pl, root);
}

void ptx_debug_number(struct ptx_unit *unit, unsigned number)
{
    struct ptx_debug *debug = unit->module->debug;

    if (debug != NULL && debug->inlined != NULL)
        debug->inlined[unit->function - unit->module->functions.at].number = number;
    if (debug == NULL || debug->dies.count == 0)
        return;
    uint32_t root = debug->subprogram[unit->function - unit->module->functions.at];

    if (root != PTX_NONE)
        debug->dies.at[root].object_function = number;
}
