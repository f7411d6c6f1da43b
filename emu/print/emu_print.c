/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions vprintf and assertfail, and the order of printed text: text is output in the order of the blocks, whatever the
 * order in which the blocks ran (MACHINE 4).
 */
#include <stdlib.h>

#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_machine_priv.h"
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/bytes/emu_state_priv.h"

/* ---- ended blocks ------------------------------------------------------------------- */

void emu_text_init(struct emu_text *text)
{
    memset(text, 0, sizeof *text);
    pthread_mutex_init(&text->lock, NULL);
}

void emu_text_fini(struct emu_text *text)
{
    for (size_t i = 0; i < text->block_count; i++)
        free(text->block[i].text);
    for (size_t i = 0; i < text->grid_count; i++)
        free(text->grid[i].ended);
    free(text->block);
    free(text->grid);
    pthread_mutex_destroy(&text->lock);
}

enum lw_status emu_text_grid_launched(struct emu_machine *machine, struct emu_grid *grid,
                                      struct lw_error *err)
{
    struct emu_text *text = &machine->text;

    if (!grid->launch.program->prints)
        return LW_OK;
    if (!lw_grow(&text->grid, &text->grid_capacity, text->grid_count + 1, sizeof *text->grid))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the order of printed text");
    text->grid[text->grid_count++] = (struct emu_text_grid){.grid = grid};
    return LW_OK;
}

static struct emu_text_grid *find_grid(struct emu_text *text, uint32_t sequence)
{
    for (size_t i = 0; i < text->grid_count; i++)
        if (text->grid[i].grid->sequence == sequence)
            return &text->grid[i];
    return NULL;
}

/** Records that @block has ended. If there is no memory to record it, the block counts as running until the grid has ended, and
 *  its text is output only then. */
static void note_ended(struct emu_text_grid *g, uint64_t block)
{
    size_t i = 0;

    while (i < g->count && g->ended[i][1] < block)
        i++;
    if (i < g->count && g->ended[i][1] == block) {
        g->ended[i][1]++;
        if (i + 1 < g->count && g->ended[i + 1][0] == block + 1) {
            g->ended[i][1] = g->ended[i + 1][1];
            memmove(g->ended + i + 1, g->ended + i + 2, (g->count - i - 2) * sizeof *g->ended);
            g->count--;
        }
    } else if (i < g->count && g->ended[i][0] == block + 1) {
        g->ended[i][0] = block;
    } else if (lw_grow(&g->ended, &g->capacity, g->count + 1, sizeof *g->ended)) {
        memmove(g->ended + i + 1, g->ended + i, (g->count - i) * sizeof *g->ended);
        g->ended[i][0] = block;
        g->ended[i][1] = block + 1;
        g->count++;
    }
    if (g->count != 0 && g->ended[0][0] == g->prefix) {
        g->prefix = g->ended[0][1];
        memmove(g->ended, g->ended + 1, (g->count - 1) * sizeof *g->ended);
        g->count--;
    }
}

/* ---- output -------------------------------------------------------------------- */

static void show(struct emu_machine *machine, const char *text, size_t size)
{
    if (machine->print != NULL && size != 0)
        machine->print->write(machine->print, text, size);
}

static void show_saved(struct emu_machine *machine, struct emu_text_block *b)
{
    show(machine, b->text, b->size);
    machine->text.kept -= b->size;
    free(b->text);
    b->text = NULL;
    b->size = b->capacity = 0;
}

/** Returns true if all blocks before the block of record @b have ended, so that its text may be output. *@ended is set to whether
 *  the block itself has ended. */
static bool is_due(const struct emu_text *text, const struct emu_text_block *b, bool *ended)
{
    *ended = true;
    for (size_t i = 0; i < text->grid_count && text->grid[i].grid->sequence <= b->grid; i++) {
        const struct emu_text_grid *g = &text->grid[i];
        if (g->grid->sequence != b->grid)
            return false; /* an earlier grid is still in the list, so it has not ended */
        *ended = g->prefix > b->block;
        return g->prefix >= b->block;
    }
    return true;
}

/** Outputs all text that is next in the order of blocks, and adds the text of ended blocks to the hash. */
static void flush(struct emu_machine *machine)
{
    struct emu_text *text = &machine->text;
    size_t done = 0;
    bool ended;

    for (; done < text->block_count; done++) {
        struct emu_text_block *b = &text->block[done];
        if (!is_due(text, b, &ended))
            break;
        show_saved(machine, b);
        if (!ended)
            break;
        lw_hash_u64(&machine->text_hash, b->grid);
        lw_hash_u64(&machine->text_hash, b->block);
        lw_hash_u64(&machine->text_hash, lw_hash_value(&b->hash));
    }
    if (done == 0)
        return;
    text->block_count -= done;
    memmove(text->block, text->block + done, text->block_count * sizeof *text->block);
}

void emu_text_block_ended(struct emu_machine *machine, const struct emu_grid *grid,
                          uint64_t block)
{
    struct emu_text *text = &machine->text;

    if (!grid->launch.program->prints)
        return;
    pthread_mutex_lock(&text->lock);
    struct emu_text_grid *g = find_grid(text, grid->sequence);
    if (g != NULL) {
        note_ended(g, block);
        if (g->prefix == grid->block_count) {
            free(g->ended);
            size_t i = (size_t)(g - text->grid);
            memmove(g, g + 1, (--text->grid_count - i) * sizeof *g);
        }
        flush(machine);
    }
    pthread_mutex_unlock(&text->lock);
}

void emu_text_stopped(struct emu_machine *machine, uint32_t grid, uint64_t block, bool drop)
{
    struct emu_text *text = &machine->text;

    pthread_mutex_lock(&text->lock);
    for (size_t i = 0; i < text->block_count; i++) {
        struct emu_text_block *b = &text->block[i];
        if (drop && (b->grid > grid || (b->grid == grid && b->block > block)))
            break;
        show_saved(machine, b);
    }
    pthread_mutex_unlock(&text->lock);
}

/** Returns the text record of a block, and creates it if necessary. Returns NULL if there is no memory. */
static struct emu_text_block *entry(struct emu_text *text, uint32_t grid, uint64_t block)
{
    size_t low = 0, high = text->block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct emu_text_block *b = &text->block[middle];
        if (b->grid < grid || (b->grid == grid && b->block < block))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < text->block_count && text->block[low].grid == grid &&
        text->block[low].block == block)
        return &text->block[low];
    if (!lw_grow(&text->block, &text->block_capacity, text->block_count + 1,
                 sizeof *text->block))
        return NULL;
    struct emu_text_block *b = &text->block[low];
    memmove(b + 1, b, (text->block_count++ - low) * sizeof *b);
    *b = (struct emu_text_block){.grid = grid, .block = block};
    lw_hash_init(&b->hash);
    return b;
}

/** Adds text that one lane of a block prints. If there is no memory to buffer it, the text is output immediately, out of order,
 *  after the earlier text of its block. */
static void text_put(struct emu_machine *machine, const struct emu_block *block,
                     const char *data, size_t size)
{
    struct emu_text *text = &machine->text;
    struct emu_text_block *b = entry(text, block->grid->sequence, block->linear);
    bool ended;

    if (b != NULL)
        lw_hash_bytes(&b->hash, data, size);
    if (b == NULL) {
        show(machine, data, size);
        return;
    }
    if (text->immediate || is_due(text, b, &ended) || size > EMU_TEXT_LIMIT - text->kept ||
        !lw_grow(&b->text, &b->capacity, b->size + size, 1)) {
        show_saved(machine, b);
        show(machine, data, size);
        return;
    }
    memcpy(b->text + b->size, data, size);
    b->size += size;
    text->kept += size;
}

void emu_machine_print_immediately(struct emu_machine *machine, bool immediate)
{
    machine->text.immediate = immediate;
}

/* ---- saving and loading -------------------------------------------------------------------- */

void emu_text_save(const struct emu_text *text, struct emu_bytes *out)
{
    emu_put_number(out, text->grid_count);
    for (size_t i = 0; i < text->grid_count; i++) {
        const struct emu_text_grid *p = &text->grid[i];
        emu_put_number(out, p->grid->sequence);
        EMU_SAVE(EMU_STATE_TEXT_GRID, p, out);
        emu_put_number(out, p->count);
        for (size_t k = 0; k < p->count; k++) {
            emu_put_number(out, p->ended[k][0]);
            emu_put_number(out, p->ended[k][1]);
        }
    }
    emu_put_number(out, text->block_count);
    for (size_t i = 0; i < text->block_count; i++) {
        const struct emu_text_block *p = &text->block[i];
        emu_put_number(out, p->grid);
        EMU_SAVE(EMU_STATE_TEXT_BLOCK, p, out);
        emu_put_number(out, p->hash.state);
        emu_put_number(out, p->hash.length);
        emu_put_number(out, p->size);
        emu_put(out, p->text, p->size);
    }
}

static struct emu_grid *launched(struct emu_machine *machine, uint64_t sequence)
{
    struct emu_grid *grid = machine->grids;

    while (grid != NULL && grid->sequence != sequence)
        grid = grid->next;
    return grid;
}

static enum lw_status load_text_grid(struct emu_machine *machine, struct emu_reader *in,
                                     struct lw_error *err)
{
    struct emu_text *text = &machine->text;
    struct emu_grid *grid = launched(machine, emu_get_number(in));

    if (grid == NULL || (text->grid_count != 0 &&
                         text->grid[text->grid_count - 1].grid->sequence >= grid->sequence))
        return emu_state_bad(err, "printed text");
    if (!lw_grow(&text->grid, &text->grid_capacity, text->grid_count + 1, sizeof *text->grid))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the order of printed text");
    struct emu_text_grid *p = &text->grid[text->grid_count++];
    memset(p, 0, sizeof *p);
    p->grid = grid;
    EMU_LOAD(EMU_STATE_TEXT_GRID, p, in);
    uint64_t count = emu_get_number(in), end = p->prefix;
    for (uint64_t k = 0; k < count && !in->bad; k++) {
        uint64_t first = emu_get_number(in), last = emu_get_number(in);
        if (first <= end || last <= first || last > grid->block_count)
            return emu_state_bad(err, "printed text");
        if (!lw_grow(&p->ended, &p->capacity, p->count + 1, sizeof *p->ended))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the order of printed text");
        p->ended[p->count][0] = first;
        p->ended[p->count++][1] = end = last;
    }
    return in->bad || p->prefix >= grid->block_count ? emu_state_bad(err, "printed text") : LW_OK;
}

static enum lw_status load_text_block(struct emu_text *text, struct emu_reader *in,
                                      struct lw_error *err)
{
    if (!lw_grow(&text->block, &text->block_capacity, text->block_count + 1,
                 sizeof *text->block))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for printed text");
    struct emu_text_block *p = &text->block[text->block_count++];
    memset(p, 0, sizeof *p);
    p->grid = (uint32_t)emu_get_limited(in, UINT32_MAX);
    EMU_LOAD(EMU_STATE_TEXT_BLOCK, p, in);
    p->hash.state = emu_get_number(in);
    p->hash.length = emu_get_number(in);
    p->size = (size_t)emu_get_number(in);
    const uint8_t *kept = emu_get(in, p->size);
    bool fits = p->size <= EMU_TEXT_LIMIT - text->kept;
    bool rises = text->block_count == 1 || p[-1].grid < p->grid ||
                 (p[-1].grid == p->grid && p[-1].block < p->block);
    if (kept == NULL || !rises || !fits) {
        p->size = 0;
        return emu_state_bad(err, "printed text");
    }
    if (p->size != 0 && !lw_grow(&p->text, &p->capacity, p->size, 1)) {
        p->size = 0;
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for printed text");
    }
    if (p->size != 0)
        memcpy(p->text, kept, p->size);
    text->kept += p->size;
    return LW_OK;
}

enum lw_status emu_text_load(struct emu_machine *machine, struct emu_reader *in,
                             struct lw_error *err)
{
    struct emu_text *text = &machine->text;
    enum lw_status status = LW_OK;

    for (size_t i = 0; i < text->block_count; i++)
        free(text->block[i].text);
    for (size_t i = 0; i < text->grid_count; i++)
        free(text->grid[i].ended);
    text->block_count = text->grid_count = 0;
    text->kept = 0;
    uint64_t count = emu_get_number(in);
    for (uint64_t i = 0; i < count && status == LW_OK; i++)
        status = load_text_grid(machine, in, err);
    count = status == LW_OK ? emu_get_number(in) : 0;
    for (uint64_t i = 0; i < count && status == LW_OK; i++)
        status = load_text_block(text, in, err);
    return status == LW_OK && in->bad ? emu_state_bad(err, "printed text") : status;
}

/* ---- vprintf ------------------------------------------------------------------------------ */

struct lane_reader {
    struct emu_warp *w;
    unsigned lane;
};
static uint64_t read_lane(void *context, uint64_t address, void *data, uint64_t size)
{
    const struct lane_reader *r = context;
    enum isa_space space;

    if (emu_resolve(r->w, r->lane, address, 1, false, &space) != EMU_FAULT_NONE)
        return 0; /* the lane cannot read there; only debuggers can read code */
    return emu_lane_copy(r->w, r->lane, address, data, size, false);
}

/** Returns the kind of the fault that a lane raises when it reads a byte that it cannot read. */
static enum emu_fault_kind missing(const struct emu_warp *w, unsigned lane, uint64_t address)
{
    enum isa_space space;
    enum emu_fault_kind kind = emu_resolve(w, lane, address, 1, false, &space);

    return kind != EMU_FAULT_NONE ? kind : EMU_FAULT_OUT_OF_BOUNDS;
}

/** Texts of the lanes of one vprintf. format_lanes() writes them to the core's buffer, one after the other. Lanes whose arguments
 *  cannot be read are added to `bad`. format_lanes() returns false if there is no memory. */
struct texts {
    size_t size;
    size_t end[EMU_MAX_LANES]; /* [lane] end of the lane's text in the buffer */
    int32_t result[EMU_MAX_LANES];
    uint64_t bad, bad_address;
};
static bool format_lanes(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                         struct texts *t)
{
    const uint32_t *low = emu_row(w, di->a), *high = low + w->stride / 4;
    const uint32_t *args = emu_row(w, di->b), *args_high = args + w->stride / 4;
    struct emu_text_buffer *room = &w->core->text_capacity;
    bool row = di->ukind == EMU_U_ROW;
    uint64_t uniform = row ? 0 : emu_uniform64(w, di);

    for (LW_EACH_BIT(l, lanes)) {
        struct lane_reader reader = {w, (unsigned)l};
        struct emu_format_source source = {.read = read_lane, .context = &reader};
        uint64_t format = (uint64_t)high[l] << 32 | low[l];
        uint64_t at = row ? (uint64_t)args_high[l] << 32 | args[l] : uniform;
        size_t size = 0;
        t->result[l] = -1; /* the result of CUDA's vprintf if the format is a null pointer */
        if (format != 0) {
            if (!lw_grow(&room->data, &room->capacity, t->size + EMU_FORMAT_LIMIT + 1, 1))
                return false;
            if (emu_format(&source, format, at, room->data + t->size, &size)) {
                t->result[l] = (int32_t)source.arguments;
            } else {
                if (t->bad == 0)
                    t->bad_address = source.bad_address;
                t->bad |= UINT64_C(1) << l;
                size = 0;
            }
        }
        t->size += size;
        t->end[l] = t->size;
    }
    return true;
}

/** Source for the formatter that reads memory as a debugger does, and lists the arguments that are read. */
struct argument_reader {
    const struct emu_core *core;
    unsigned slot, warp, lane;
    struct emu_argument *out;
    unsigned count, limit;
};
static uint64_t peek_lane(void *context, uint64_t address, void *data, uint64_t size_bytes)
{
    const struct argument_reader *r = context;

    return emu_mem_peek(r->core, r->slot, r->warp, r->lane, address, data, size_bytes);
}
static void note_argument(void *context, uint64_t offset, unsigned size_bytes)
{
    struct argument_reader *r = context;

    if (r->count < r->limit)
        r->out[r->count++] = (struct emu_argument){(uint32_t)offset, size_bytes};
}

unsigned emu_print_arguments(const struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned lane, uint64_t format, uint64_t args,
                             struct emu_argument *out, unsigned limit)
{
    struct argument_reader reader = {core, slot, warp, lane, out, 0, limit};
    struct emu_format_source source = {
        .read = peek_lane, .argument = note_argument, .context = &reader};
    char text[EMU_FORMAT_LIMIT + 1];
    size_t size;

    (void)emu_format(&source, format, args, text, &size); /* the result of emu_format is not needed: if it is false, an argument
                                                           * could not be read, and the list ends before that argument */
    return reader.count;
}

/** Prints for lanes @on. Returns false if a fault was raised. The function is not part of the handler, because gcc does not
 *  compile the call of the next handler to a jump if the function has passed on the address of a local variable. */
static __attribute__((noinline)) bool print_lanes(struct emu_warp *w, const struct emu_dinsn *di,
                                                  uint64_t on)
{
    struct emu_machine *machine = w->core->machine;
    uint32_t *d = emu_row(w, di->d);
    struct texts t = {0};
    size_t from = 0;

    if (!format_lanes(w, di, on, &t)) { /* the host has no memory: the result is that of CUDA's vprintf for an internal error */
        for (LW_EACH_BIT(l, on))
            d[l] = (uint32_t)-2;
        return true;
    }
    if (t.bad != 0) {
        emu_raise_memory(w, di, missing(w, lw_lowest(t.bad), t.bad_address), t.bad,
                         ISA_SPACE_GENERIC, t.bad_address, 1, false);
        return false;
    }
    const char *text = w->core->text_capacity.data;
    pthread_mutex_lock(&machine->text.lock);
    for (LW_EACH_BIT(l, on)) {
        size_t size = t.end[l] - from;
        if (size != 0) {
            text_put(machine, w->block, text + from, size);
            emu_machine_notify(machine, &(struct emu_machine_event){
                                       .kind = EMU_MACHINE_TEXT, .grid = w->block->grid,
                                       .block = w->block->linear, .warp = w->index,
                                       .lane = (unsigned)l, .lanes = UINT64_C(1) << l,
                                       .text = text + from, .size_bytes = size});
        }
        from = t.end[l];
        d[l] = (uint32_t)t.result[l];
    }
    pthread_mutex_unlock(&machine->text.lock);
    w->block->progress += t.size != 0;
    return true;
}

void emu_c_vprintf(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di);

    if (on == 0 || print_lanes(w, di, on))
        EMU_GO(w, di + 1);
}

/* ---- assertfail ------------------------------------------------------------------------------ */

/** Reads a string of CUDA's assertion record. Characters outside printable ASCII are replaced. */
static void read_words(struct emu_warp *w, unsigned lane, uint64_t address, uint64_t charsize,
                       char *out, size_t room)
{
    size_t n = 0;

    if (charsize != 2 && charsize != 4)
        charsize = 1;
    for (; n + 1 < room; n++) {
        uint8_t unit[4] = {0};
        if (emu_lane_copy(w, lane, address + n * charsize, unit, charsize, false) != charsize)
            break;
        uint32_t c = lw_get32(unit);
        if (c == 0)
            break;
        out[n] = c >= ' ' && c < 127 ? (char)c : '?';
    }
    if (n == 0)
        out[n++] = '?';
    out[n] = '\0';
}

static __attribute__((noinline)) void assert_lanes(struct emu_warp *w,
                                                   const struct emu_dinsn *di, uint64_t on)
{
    uint64_t bad = 0, bad_address = 0;
    const uint32_t *low = emu_row(w, di->a), *high = low + w->stride / 4;
    uint8_t record[40] = {0};
    char message[90], file[60], function[40];

    for (LW_EACH_BIT(l, on)) {
        uint64_t at = (uint64_t)high[l] << 32 | low[l], got;
        uint8_t bytes[sizeof record];
        got = emu_lane_copy(w, (unsigned)l, at, bytes, sizeof bytes, false);
        if (got == sizeof bytes) {
            if (l == lw_lowest(on))
                memcpy(record, bytes, sizeof record);
            continue;
        }
        if (bad == 0)
            bad_address = at + got;
        bad |= UINT64_C(1) << l;
    }
    unsigned lane = lw_lowest(on);
    if (bad != 0) {
        emu_raise_memory(w, di, missing(w, lw_lowest(bad), bad_address), bad, ISA_SPACE_GENERIC,
                         bad_address, 1, false);
        return;
    }
    uint64_t charsize = lw_get64(record + 32);
    read_words(w, lane, lw_get64(record), charsize, message, sizeof message);
    read_words(w, lane, lw_get64(record + 8), charsize, file, sizeof file);
    read_words(w, lane, lw_get64(record + 24), charsize, function, sizeof function);
    emu_raise(w, di, EMU_FAULT_ASSERT, on, "%s:%u: %s: assertion `%s' failed", file,
              lw_get32(record + 16), function, message);
    pthread_mutex_lock(&w->core->machine->text.lock);
    emu_machine_notify(w->core->machine,
                  &(struct emu_machine_event){.kind = EMU_MACHINE_ASSERT, .grid = w->block->grid,
                                     .block = w->block->linear, .warp = w->index, .lane = lane,
                                     .lanes = on, .text = w->fault.detail,
                                     .size_bytes = strlen(w->fault.detail)});
    pthread_mutex_unlock(&w->core->machine->text.lock);
}

void emu_c_assertfail(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di);

    if (on != 0)
        assert_lanes(w, di, on);
    else
        EMU_GO(w, di + 1);
}
