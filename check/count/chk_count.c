/* SPDX-License-Identifier: Apache-2.0 */
/* Counts executions of each instruction, their lanes, and the cost of memory requests. */
#include "check/count/chk_count_priv.h"
#include "check/chk_priv.h"

#include <stdlib.h>

enum { SECTOR_BYTES = 32, BANKS = 32, BANK_BYTES = 4 };

/** Returns the number of distinct 32-byte sectors of accesses of @bytes at each address. */
static unsigned sectors(const uint64_t *address, uint64_t lanes, unsigned bytes)
{
    uint64_t seen[256], last = UINT64_MAX;
    bool used[256] = {false};
    unsigned n = 0;

    for (LW_EACH_BIT(l, lanes)) {
        for (uint64_t s = address[l] / SECTOR_BYTES; s <= (address[l] + bytes - 1) / SECTOR_BYTES;
             s++) {
            unsigned at = (unsigned)(s * UINT64_C(0x9E3779B97F4A7C15) >> 56);

            if (s == last)
                continue;
            last = s;
            while (used[at] && seen[at] != s)
                at = (at + 1) % 256; /* the table is never full, because 64 lanes access at most 128 sectors */
            n += !used[at];
            used[at] = true;
            seen[at] = s;
        }
    }
    return n;
}

/** Returns the number of wavefronts of a shared access, which is the maximum number of different words of one bank. Sets
 *  *@least to the number of wavefronts for the same number of contiguous words. */
static unsigned passes(const uint64_t *address, uint64_t lanes, unsigned bytes, unsigned *least)
{
    uint64_t word[BANKS][EMU_MAX_LANES];
    uint8_t n[BANKS] = {0};
    unsigned most = 1, words = 0;

    for (LW_EACH_BIT(l, lanes)) {
        for (uint64_t w = address[l] / BANK_BYTES; w <= (address[l] + bytes - 1) / BANK_BYTES; w++) {
            unsigned bank = (unsigned)(w % BANKS), i = 0;

            while (i < n[bank] && word[bank][i] != w)
                i++;
            if (i < n[bank] || i == EMU_MAX_LANES)
                continue;
            word[bank][n[bank]++] = w;
            words++;
            most = n[bank] > most ? n[bank] : most;
        }
    }
    *least = (words + BANKS - 1) / BANKS;
    return most;
}

/** Returns the address of each lane of @access. */
static const uint64_t *addresses(struct chk_counters *c, const struct emu_hook_access *access)
{
    if (access->piece_count == 0)
        return access->address;
    for (unsigned i = 0; i < access->piece_count; i++) {
        const struct emu_addr_segment *p = &access->piece[i];

        for (unsigned l = p->first; l <= p->last; l++)
            c->address[l] = p->address + (p->run ? (uint64_t)(l - p->first) * access->bytes : 0);
    }
    return c->address;
}

static void count_memory(struct chk_counters *c, const struct emu_hook_access *access,
                         struct chk_tally *t)
{
    const uint64_t *address = addresses(c, access);
    uint64_t global = 0, shared = 0;
    unsigned least;

    for (LW_EACH_BIT(l, access->at.lanes)) {
        uint64_t a = address[l];

        if (a >= ISA_GLOBAL_BASE)
            global |= UINT64_C(1) << l;
        else if (a >= ISA_LOCAL_BASE && a < ISA_CONST_BASE)
            t->local += access->bytes;
        else if (a >= ISA_SHARED_BASE && a < ISA_LOCAL_BASE)
            shared |= UINT64_C(1) << l;
    }
    if (global != 0) {
        unsigned n = sectors(address, global, access->bytes), few =
            (lw_popcount(global) * access->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;

        t->global.count++;
        t->global.parts += n;
        t->global.least += few < n ? few : n;
    }
    if (shared != 0) {
        t->shared.count++;
        t->shared.parts += passes(address, shared, access->bytes, &least);
        t->shared.least += least;
    }
}

static void counts_destroy(struct chk_counts *counts)
{
    free(counts->what);
    free(counts->tally);
    free(counts->scopes);
    free(counts);
}

/** Returns the counts of a program, created if needed, or NULL if memory is short. */
static struct chk_counts *make_counts(struct chk_counters *c, const struct emu_program *program)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->programs[i]->program == program)
            return c->programs[i];
    const struct isa_object *object = emu_program_object(program);
    struct chk_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        return NULL;
    counts->what = calloc(object->text_count + 1u, sizeof *counts->what);
    counts->tally = calloc(object->text_count + 1u, sizeof *counts->tally);
    if (counts->what == NULL || counts->tally == NULL || !lw_grow(&c->programs, &c->room, c->count + 1, sizeof *c->programs)) {
        counts_destroy(counts);
        return NULL;
    }
    counts->program = program;
    counts->object = object;
    for (uint32_t i = 0; i < object->text_count; i++) {
        const struct isa_insn *insn = chk_insn_at(program, i);
        int64_t target;

        if (insn->guard != ISA_PT &&
            (isa_insn_jumps(insn, i, &target) || insn->op == ISA_EXIT || insn->op == ISA_RET))
            counts->what[i] |= CHK_COUNT_BRANCH;
        if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_MEMORY)
            counts->what[i] |= CHK_COUNT_MEMORY;
        if (insn->op == ISA_BSSY || insn->op == ISA_BSYNC)
            counts->what[i] |= CHK_COUNT_JOIN;
    }
    c->programs[c->count++] = counts;
    return counts;
}

static struct chk_counts *counts_of(struct chk_counters *c, const struct emu_program *program)
{
    if (c->last == NULL || c->last->program != program) {
        c->last = make_counts(c, program);
        c->chk->short_of_memory |= c->last == NULL;
    }
    return c->last;
}

static void note_kernel(struct chk_tally *t, const struct emu_hook_site *site)
{
    if (t->kernel != NULL)
        return;
    t->kernel = site->grid->launch.kernel;
    t->grid = site->grid->sequence;
}

/** Returns the counts of a launch, which are created if needed, or NULL if memory is short. */
static struct chk_counters *launch_of(struct chk_counters *c, const struct emu_grid *grid)
{
    struct chk_launch_counts now = {.kernel = grid->launch.kernel, .grid = grid->sequence};

    if (c->launch_last < c->launch_count && c->launches[c->launch_last].grid == grid->sequence)
        return c->launches[c->launch_last].counters;
    for (c->launch_last = 0; c->launch_last < c->launch_count; c->launch_last++)
        if (c->launches[c->launch_last].grid == grid->sequence || c->launches[c->launch_last].grid == 0)
            return c->launches[c->launch_last].counters;
    if (c->launch_count == CHK_MOST_LAUNCHES)
        now = (struct chk_launch_counts){.kernel = NULL};
    memcpy(now.size, grid->launch.grid, sizeof now.size);
    memcpy(now.block, grid->launch.block, sizeof now.block);
    now.counters = calloc(1, sizeof *now.counters);
    if (now.counters == NULL || !lw_grow(&c->launches, &c->launch_capacity, c->launch_count + 1, sizeof *c->launches)) {
        free(now.counters);
        c->chk->short_of_memory = true;
        return NULL;
    }
    now.counters->chk = c->chk;
    now.counters->memory = c->memory;
    c->launches[c->launch_count++] = now;
    return now.counters;
}

static void on_insn(void *state, const struct emu_hook_site *site)
{
    struct chk_counters *counters = state;
    struct chk_counters *launch = counters->by_launch ? launch_of(counters, site->grid) : NULL;
    struct chk_counts *counts = counts_of(counters, site->program);

    if (launch != NULL)
        on_insn(launch, site);
    if (counts == NULL)
        return;
    struct chk_tally *t = &counts->tally[site->index];
    uint64_t lanes = site->lanes;
    if (counts->what[site->index] & CHK_COUNT_BRANCH) {
        uint64_t others = site->split_lanes & ~lanes;

        t->others += lw_popcount(others);
        t->parted += lanes != 0 && others != 0;
    }
    t->times++;
    t->lanes += lw_popcount(lanes);
    note_kernel(t, site);
}

static void on_access(void *state, const struct emu_hook_access *access)
{
    struct chk_counters *counters = state;
    struct chk_counters *launch = counters->by_launch ? launch_of(counters, access->at.grid) : NULL;
    struct chk_counts *counts = counts_of(counters, access->at.program);

    if (launch != NULL)
        on_access(launch, access);
    if (counts == NULL)
        return;
    struct chk_tally *t = &counts->tally[access->at.index];
    t->times++;
    t->lanes += lw_popcount(access->at.lanes);
    note_kernel(t, &access->at);
    if (counters->memory)
        count_memory(counters, access, t);
}

static bool begin(void *state)
{
    struct chk_counters *counters = state;
    const struct chk_options *options = &counters->chk->options;

    counters->memory = options->counting == CHK_COUNT_REQUESTS || (options->kinds & chk_class_kinds(CHK_CLASS_PERFORMANCE)) != 0;
    counters->by_launch = options->by_launch;
    return true;
}

static void end(void *state)
{
    struct chk_counters *counters = state;

    for (size_t i = 0; i < counters->count; i++)
        counts_destroy(counters->programs[i]);
    for (size_t i = 0; i < counters->launch_count; i++) {
        end(counters->launches[i].counters);
        free(counters->launches[i].counters);
    }
    free(counters->launches);
    free(counters->programs);
}

const struct chk_observer chk_count_observer = {
    .classes = 1u << CHK_CLASS_PERFORMANCE, .state_bytes = sizeof(struct chk_counters), .begin = begin, .end = end,
    .on_insn = on_insn, .on_access = on_access};

/* ---- by line ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const struct chk_line_entry *x = a, *y = b;
    int order = strcmp(x->file, y->file);

    if (order == 0)
        order = (x->line > y->line) - (x->line < y->line);
    if (order == 0 && x->counts != y->counts) {
        uint64_t p = emu_program_base(x->counts->program), q = emu_program_base(y->counts->program);
        order = (p > q) - (p < q);
    }
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

struct chk_line_entry *chk_lines(const struct chk_counters *counters, bool lines, size_t *count)
{
    size_t most = 0, n = 0;

    *count = 0;
    for (size_t i = 0; i < counters->count; i++)
        most += counters->programs[i]->object->text_count;
    struct chk_line_entry *entries = calloc(most + 1, sizeof *entries);
    if (entries == NULL)
        return NULL;
    for (size_t i = 0; i < counters->count; i++) {
        const struct chk_counts *c = counters->programs[i];

        for (uint32_t k = 0; k < c->object->text_count && c->tally != NULL; k++) {
            const struct isa_line *line = isa_object_line_at(c->object, k);
            const bool has = line != NULL && line->line != 0 && line->file < c->object->file_count;
            const struct isa_function *f = lines || has ? NULL : isa_object_function_at(c->object, k);

            if (f != NULL && !f->kernel)
                entries[n++] = (struct chk_line_entry){.file = "", .index = k, .counts = c};
            else if (lines && has)
                entries[n++] = (struct chk_line_entry){.file = c->object->files[line->file],
                                                       .line = line->line, .index = k,
                                                       .counts = c};
        }
    }
    if (n != 0)
        qsort(entries, n, sizeof *entries, compare);
    *count = n;
    return entries;
}

size_t chk_line_end(const struct chk_line_entry *entries, size_t count, size_t from, bool file)
{
    size_t to = from;

    while (to < count && (file || entries[to].line == entries[from].line) &&
           strcmp(entries[to].file, entries[from].file) == 0)
        to++;
    return to;
}

static void add_requests(struct chk_requests *sum, const struct chk_requests *r)
{
    sum->count += r->count;
    sum->parts += r->parts;
    sum->least += r->least;
}

void chk_tally_add(struct chk_tally *sum, const struct chk_tally *t)
{
    sum->times += t->times;
    sum->lanes += t->lanes;
    sum->others += t->others;
    sum->parted += t->parted;
    add_requests(&sum->global, &t->global);
    add_requests(&sum->shared, &t->shared);
    sum->local += t->local;
    if (t->kernel != NULL && (sum->kernel == NULL || t->grid < sum->grid)) {
        sum->kernel = t->kernel;
        sum->grid = t->grid;
    }
}

struct chk_tally chk_line_sum(const struct chk_line_entry *entries, size_t from, size_t to)
{
    struct chk_tally sum = {0};

    for (size_t i = from; i < to; i++)
        chk_tally_add(&sum, &entries[i].counts->tally[entries[i].index]);
    return sum;
}
