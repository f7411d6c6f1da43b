/* SPDX-License-Identifier: Apache-2.0 */
/* Selects threads by coordinates such as "block 3 thread 17", "kernel 1 block (3,0,0)" or "sm 0 warp 2 lane 5". */
#include "debug/commands/dbg_coordinates_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- words ------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum dbg_axis axis;
} words[] = {
    {"kernel", DBG_AXIS_KERNEL}, {"grid", DBG_AXIS_KERNEL}, {"block", DBG_AXIS_BLOCK},
    {"thread", DBG_AXIS_THREAD}, {"device", DBG_AXIS_DEVICE}, {"sm", DBG_AXIS_SM},
    {"warp", DBG_AXIS_WARP},     {"lane", DBG_AXIS_LANE},
};

static const char axes[] = "kernel, block, thread, device, sm, warp and lane";

void dbg_coordinates_words_each(dbg_name_fn fn, void *context)
{
    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        fn(context, words[i].word);
}

/* Finds an axis by its name or a prefix of at least two letters. Returns false if there is no such axis. */
static bool axis_named(const char *text, size_t size, enum dbg_axis *out)
{
    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        if (size >= 2 && size <= strlen(words[i].word) && strncmp(words[i].word, text, size) == 0) {
            *out = words[i].axis;
            return true;
        }
    return false;
}

static void blanks(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
}

/* Parses one to three numbers: "3", "3,1", "(3, 1, 0)". Numbers that are not given are 0. @single: only one number is
 * allowed. @word: name of the axis, for the error message. */
static enum lw_status numbers(const char **at, uint64_t out[3], bool single, const char *word,
                              struct lw_error *err)
{
    bool bracket = **at == '(';
    unsigned count = 0;

    out[0] = out[1] = out[2] = 0;
    *at += bracket;
    for (;;) {
        char digits[24];
        size_t size = 0;

        blanks(at);
        while (isalnum((unsigned char)(*at)[size]) && size + 1 < sizeof digits) {
            digits[size] = (*at)[size];
            size++;
        }
        digits[size] = '\0';
        if (count == 3 || (single && count == 1) || !lw_parse_u64(digits, &out[count]))
            return single ? LW_FAIL(err, LW_EUSAGE, "%s takes one number, not \"%.40s\"", word, *at)
                          : LW_FAIL(err, LW_EUSAGE, "%s takes one to three numbers, as in %s (3,1,0), "
                                    "not \"%.40s\"", word, word, *at);
        *at += size;
        count++;
        blanks(at);
        if (**at != ',')
            break;
        ++*at;
    }
    if (bracket && **at != ')')
        return LW_FAIL(err, LW_EUSAGE, "add a ) after \"%s (%llu\"", word, (unsigned long long)out[0]);
    *at += bracket;
    return LW_OK;
}

enum lw_status dbg_coordinates_parse(const char *text, struct dbg_coordinates *out,
                                     struct lw_error *err)
{
    const char *at = text;

    memset(out, 0, sizeof *out);
    for (;;) {
        enum dbg_axis axis;
        char word[16];
        size_t size = 0;
        unsigned bit;

        while (isspace((unsigned char)*at) || *at == ',')
            at++;
        if (*at == '\0')
            return LW_OK;
        while (isalpha((unsigned char)at[size]))
            size++;
        if (!axis_named(at, size, &axis))
            return LW_FAIL(err, LW_EUSAGE, "\"%.40s\" is not a coordinate: use %s, as in block 3 thread 17",
                           at, axes);
        snprintf(word, sizeof word, "%.*s", (int)size, at);
        bit = 1u << axis;
        if ((out->given | out->queried | out->all) & bit)
            return LW_FAIL(err, LW_EUSAGE, "%s is given twice in \"%.80s\"", word, text);
        at += size;
        blanks(&at);
        if (strncmp(at, "all", 3) == 0 && !isalnum((unsigned char)at[3])) {
            out->all |= bit;
            at += 3;
        } else if (*at == '*') {
            out->all |= bit;
            at++;
        } else if (strncmp(at, "current", 7) == 0 && !isalnum((unsigned char)at[7])) {
            out->queried |= bit;
            at += 7;
        } else if (*at == '(' || isdigit((unsigned char)*at)) {
            bool single = axis != DBG_AXIS_BLOCK && axis != DBG_AXIS_THREAD;
            enum lw_status status = numbers(&at, out->value[axis], single, word, err);

            if (status != LW_OK)
                return status;
            out->given |= bit;
        } else if (*at == '\0' || *at == ',' || isalpha((unsigned char)*at)) {
            out->queried |= bit;
        } else {
            return LW_FAIL(err, LW_EUSAGE, "%s takes a number, not \"%.40s\"", word, at);
        }
    }
}

/* ---- coordinates of a thread ------------------------------------------------------------- */

void dbg_thread_index(const struct emu_grid *grid, uint64_t linear, uint32_t index[3])
{
    const uint32_t *size = grid->launch.block;

    index[0] = (uint32_t)(linear % size[0]);
    index[1] = (uint32_t)(linear / size[0] % size[1]);
    index[2] = (uint32_t)(linear / size[0] / size[1]);
}

void dbg_hardware_ids(struct dbg *dbg, const struct dbg_thread *thread, uint64_t *sm, uint64_t *warp)
{
    struct dbg_warp where;

    *sm = 0;
    *warp = thread->location.warp;
    if (!dbg_warp_locate(dbg, thread->id, &where))
        return;
    (void)!emu_special_read(DBG_AT(&where), ISA_SR_SMID, thread->lane, sm);
    (void)!emu_special_read(DBG_AT(&where), ISA_SR_WARPID, thread->lane, warp);
}

void dbg_coordinates_print(struct dbg *dbg, const struct dbg_thread *thread, unsigned which,
                           struct lw_sink *out)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, thread->location.grid);
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    const char *comma = "";
    uint32_t index[3];
    uint64_t sm, warp;

    if (grid == NULL)
        return;
    dbg_hardware_ids(dbg, thread, &sm, &warp);
    dbg_thread_index(grid, (uint64_t)thread->location.warp * width + thread->lane, index);
    for (unsigned axis = 0; axis < DBG_AXES; axis++) {
        if ((which >> axis & 1) == 0)
            continue;
        lw_put(out, comma);
        comma = ", ";
        switch (axis) {
        case DBG_AXIS_KERNEL: lw_printf(out, "kernel %u", grid->sequence); break;
        case DBG_AXIS_BLOCK:
            lw_printf(out, "block (%u,%u,%u)", thread->block_index[0], thread->block_index[1],
                      thread->block_index[2]);
            break;
        case DBG_AXIS_THREAD: lw_printf(out, "thread (%u,%u,%u)", index[0], index[1], index[2]); break;
        case DBG_AXIS_DEVICE: lw_put(out, "device 0"); break;
        case DBG_AXIS_SM: lw_printf(out, "sm %llu", (unsigned long long)sm); break;
        case DBG_AXIS_WARP: lw_printf(out, "warp %u", thread->location.warp); break;
        default: lw_printf(out, "lane %u", thread->lane); break;
        }
    }
}

/* ---- from coordinates to a thread ------------------------------------------------------- */

static bool given(const struct dbg_coordinates *c, enum dbg_axis axis)
{
    return (c->given >> axis & 1) != 0;
}

/* Returns the error for a kernel @sequence that is not running. */
static enum lw_status no_kernel(const struct dbg *dbg, uint64_t sequence, struct lw_error *err)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);

    if (sequence != 0 && (grid == NULL || sequence < grid->sequence))
        return LW_FAIL(err, LW_ERANGE, "kernel %llu has ended: `info kernels` lists the kernels that have not",
                       (unsigned long long)sequence);
    return LW_FAIL(err, LW_ERANGE, "kernel %llu is not running: it has ended or was not launched yet; `info kernels` "
                                   "lists running kernels", (unsigned long long)sequence);
}

/* Computes the linear number of a block in its grid, or (@thread) of a thread in its block, from its index @at. */
static enum lw_status number_in(const struct emu_grid *grid, bool thread, const uint64_t at[3], uint64_t *out,
                                struct lw_error *err)
{
    const uint32_t *size = thread ? grid->launch.block : grid->launch.grid;
    const char *what = thread ? "thread" : "block";

    if (at[0] >= size[0] || at[1] >= size[1] || at[2] >= size[2])
        return LW_FAIL(err, LW_ERANGE, "%s (%llu,%llu,%llu) does not exist: %s of kernel %u has (%u,%u,%u) %ss", what,
                       (unsigned long long)at[0], (unsigned long long)at[1], (unsigned long long)at[2],
                       thread ? "a block" : "the grid", grid->sequence, size[0], size[1], size[2], what);
    *out = at[0] + size[0] * (at[1] + size[1] * at[2]);
    return LW_OK;
}

/* Finds the first resident warp of a block of a grid. If @block is UINT64_MAX, finds the first resident warp of any
 * block. Returns false if no such warp is resident. */
static bool resident(const struct dbg *dbg, const struct emu_grid *grid, uint64_t block,
                     struct dbg_thread *out)
{
    for (unsigned i = 0; dbg_thread_at(dbg, i, out); i++)
        if (out->location.grid == grid->sequence && (block == UINT64_MAX || out->location.block == block))
            return true;
    return false;
}

/* Returns the error for a block that is not resident. The message says whether the block has ended or has not started yet. */
static enum lw_status absent(const struct dbg *dbg, const struct emu_grid *grid, uint64_t block,
                             struct lw_error *err)
{
    uint32_t index[3];

    (void)dbg;
    dbg_block_index(grid, block, index);
    if (emu_grid_was_resident(grid, block))
        return LW_FAIL(err, LW_ESTATE, "block (%u,%u,%u) has ended", index[0], index[1], index[2]);
    return LW_FAIL(err, LW_ESTATE, "block (%u,%u,%u) has not started yet: %llu of %llu blocks have started",
                   index[0], index[1], index[2], (unsigned long long)grid->blocks_placed,
                   (unsigned long long)grid->block_count);
}

/* Gets lane @lane of a warp (NULL: the warp's focus lane), to which the focus is to move. Fails if the lane is not live. */
static enum lw_status take_lane(struct dbg *dbg, const struct emu_grid *grid, uint64_t block,
                                unsigned warp, const uint64_t *lane, struct dbg_lane_ref *out,
                                struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    uint32_t at[3], thread[3];
    struct dbg_thread found;
    uint64_t linear;

    if (lane != NULL && *lane >= width)
        return LW_FAIL(err, LW_ERANGE, "lane %llu does not exist: a warp has lanes 0 to %u",
                       (unsigned long long)*lane, width - 1);
    linear = (uint64_t)warp * width + (lane != NULL ? *lane : 0);
    if (linear >= grid->block_threads)
        return LW_FAIL(err, LW_ERANGE, "lane %llu of warp %u has no thread: a block has only %u thread%s",
                       (unsigned long long)*lane, warp, grid->block_threads, grid->block_threads == 1 ? "" : "s");
    dbg_block_index(grid, block, at);
    dbg_thread_index(grid, linear, thread);
    out->id = dbg_grid_thread(grid, block, warp);
    if (!dbg_thread_get(dbg, out->id, &found)) {
        if (!resident(dbg, grid, block, &found))
            return absent(dbg, grid, block, err);
        if (lane == NULL)
            return LW_FAIL(err, LW_ESTATE, "all threads of warp %u of block (%u,%u,%u) have exited", warp,
                           at[0], at[1], at[2]);
    } else if (lane == NULL) {
        out->lane = found.lane;
        return LW_OK;
    } else if (found.live >> *lane & 1) {
        out->lane = (unsigned)*lane;
        return LW_OK;
    }
    return LW_FAIL(err, LW_ESTATE, "thread (%u,%u,%u) of block (%u,%u,%u) has exited", thread[0],
                   thread[1], thread[2], at[0], at[1], at[2]);
}

/* Finds a warp by its SM and %warpid. If several warps have these numbers, a warp of the focus block is preferred. */
static enum lw_status find_on_sm(struct dbg *dbg, const struct dbg_coordinates *c,
                                 const struct dbg_thread *focus, struct dbg_thread *out,
                                 struct lw_error *err)
{
    uint64_t want_sm = c->value[DBG_AXIS_SM][0], sm, warp;
    bool found = false, any = false;
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(dbg, i, &thread); i++) {
        bool own;

        dbg_hardware_ids(dbg, &thread, &sm, &warp);
        if (sm != want_sm || (given(c, DBG_AXIS_KERNEL) && thread.location.grid != c->value[DBG_AXIS_KERNEL][0]))
            continue;
        any = true;
        if (given(c, DBG_AXIS_WARP) && warp != c->value[DBG_AXIS_WARP][0])
            continue;
        own = thread.location.grid == focus->location.grid && thread.location.block == focus->location.block;
        if (!found || own)
            *out = thread;
        found = true;
        if (own)
            break;
    }
    if (found)
        return LW_OK;
    if (any)
        return LW_FAIL(err, LW_ERANGE, "there is no warp %llu on sm %llu",
                       (unsigned long long)c->value[DBG_AXIS_WARP][0],
                       (unsigned long long)want_sm);
    return LW_FAIL(err, LW_ERANGE, "no warps are resident on sm %llu", (unsigned long long)want_sm);
}

enum lw_status dbg_coordinates_find(struct dbg *dbg, const struct dbg_coordinates *c,
                                    struct dbg_lane_ref *out, struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    const uint64_t *lane = given(c, DBG_AXIS_LANE) ? c->value[DBG_AXIS_LANE] : NULL;
    uint64_t block, number, warp;
    const struct emu_grid *grid;
    struct dbg_thread focus, first;
    enum lw_status status = dbg_view(dbg, &focus, err);

    if (status != LW_OK)
        return status;
    if (c->all != 0)
        return LW_FAIL(err, LW_EUSAGE, "the focus must be one thread, so `all` is not allowed here: `info threads` "
                                       "lists many");
    if (given(c, DBG_AXIS_DEVICE) && c->value[DBG_AXIS_DEVICE][0] != 0)
        return LW_FAIL(err, LW_ERANGE, "device %llu does not exist: device 0 is the only one",
                       (unsigned long long)c->value[DBG_AXIS_DEVICE][0]);
    if (given(c, DBG_AXIS_SM) && !given(c, DBG_AXIS_BLOCK) && !given(c, DBG_AXIS_THREAD)) {
        status = find_on_sm(dbg, c, &focus, &first, err);
        return status != LW_OK ? status
                               : take_lane(dbg, dbg_grid_numbered(dbg, first.location.grid),
                                           first.location.block, first.location.warp, lane, out, err);
    }
    number = given(c, DBG_AXIS_KERNEL) ? c->value[DBG_AXIS_KERNEL][0] : focus.location.grid;
    grid = dbg_grid_numbered(dbg, number);
    if (grid == NULL || emu_grid_complete(grid))
        return no_kernel(dbg, number, err);
    block = focus.location.block;
    if (given(c, DBG_AXIS_BLOCK)) {
        status = number_in(grid, false, c->value[DBG_AXIS_BLOCK], &block, err);
        if (status != LW_OK)
            return status;
    } else if (grid->sequence != focus.location.grid) {
        if (!resident(dbg, grid, UINT64_MAX, &first))
            return LW_FAIL(err, LW_ESTATE, "no block of kernel %u is resident: `info kernels` shows what the kernel "
                                           "waits for", grid->sequence);
        block = first.location.block;
    }
    warp = focus.location.warp;
    if (given(c, DBG_AXIS_THREAD)) {
        status = number_in(grid, true, c->value[DBG_AXIS_THREAD], &number, err);
        if (status != LW_OK)
            return status;
        warp = number / width;
        number %= width;
        if ((given(c, DBG_AXIS_WARP) && c->value[DBG_AXIS_WARP][0] != warp) ||
            (lane != NULL && *lane != number))
            return LW_FAIL(err, LW_EUSAGE, "the coordinates contradict each other: the thread is lane %llu of warp "
                                           "%llu of its block",
                           (unsigned long long)number, (unsigned long long)warp);
        lane = &number;
    } else if (given(c, DBG_AXIS_WARP)) {
        warp = c->value[DBG_AXIS_WARP][0];
        if (warp >= grid->block_warps)
            return LW_FAIL(err, LW_ERANGE, "warp %llu does not exist: a block of kernel %u has warps 0 to %u",
                           (unsigned long long)warp, grid->sequence, grid->block_warps - 1);
    } else if (given(c, DBG_AXIS_BLOCK) || grid->sequence != focus.location.grid) {
        if (!resident(dbg, grid, block, &first))
            return absent(dbg, grid, block, err);
        warp = first.location.warp;
    }
    status = take_lane(dbg, grid, block, (unsigned)warp, lane, out, err);
    if (status == LW_OK && given(c, DBG_AXIS_SM) && dbg_thread_get(dbg, out->id, &first)) {
        dbg_hardware_ids(dbg, &first, &number, &warp);
        if (number != c->value[DBG_AXIS_SM][0])
            return LW_FAIL(err, LW_ERANGE, "the coordinates contradict each other: the thread is on sm %llu, not on sm "
                                           "%llu",
                           (unsigned long long)number, (unsigned long long)c->value[DBG_AXIS_SM][0]);
    }
    return status;
}

enum lw_status dbg_focus_choose(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, struct lw_error *err)
{
    enum lw_status status = dbg_focus_set(dbg, DBG_FOCUS_RUN, lane_ref->id, err);

    if (status == LW_OK)
        status = dbg_focus_set(dbg, DBG_FOCUS_VIEW, lane_ref->id, err);
    return status != LW_OK ? status : dbg_lane_set(dbg, lane_ref->id, lane_ref->lane, err);
}
