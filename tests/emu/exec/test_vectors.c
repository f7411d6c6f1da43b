/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests every row of the instruction table with its vectors, tests/emu/exec/vectors/<mnemonic>.txt.
 *
 * The expected values were computed independently of the emulator: with integers and rational numbers
 * of any size, or with functions computed to 400 bits, and rounded once. A file holds blocks of two kinds:
 *
 *   op v_addc_u32 v8, p1, v16, v20, p0     a lane-wise case: the instruction in assembly
 *   space global|shared|local|generic_...  v32 or v32:33 is the address of the lane's cell in memory
 *   scalar                                 each row is a block of one warp, and inputs are scalars
 *   noguard                                the case uses p6, so it is not run under a guard
 *   lanes N                                the rows are the lanes 0..N-1 of a warp of 32
 *   in v16 v20 p0                          input registers; m0..m3 are words of the cell
 *   out v8 p1
 *   row 00000001 00000002 1 = 00000004 0   inputs and outputs of one lane, hexadecimal
 *
 *   program WHAT                           a whole kernel; the harness adds code before it: v0 is
 *   warp 8 32                              tid.x, v8:9 the address of word v0 of `out`
 *   block 8
 *   | statement
 *   words OFFSET 00000001 ...              expected words of `out`; all others are zero
 *   fault NAME LANES                       the fault that the kernel must stop with
 *   refuse TEXT                            loading it fails, with TEXT in the message
 *   text WORDS\n                           the text that the kernel prints
 *
 * Lane-wise cases run with all lanes, with a guard that excludes every other lane, and with an exec that
 * excludes some lanes; outputs of excluded lanes must keep their values. Scalar cases run with all lanes
 * in exec and with none. All cases run on every level of the core that the host supports. Warps of 8 lanes
 * run with shadow tags, which must never differ from the registers.
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "tests/lib/prop_setup.h"

enum { MAX_ROWS = 1024, MAX_COLUMNS = 12, OUT_WORDS = 512, MODES = 3 };
static const uint32_t fill = 0x5aa5c33c; /* value that outputs hold before the instruction */
static const uint32_t exec_mask = 0x6b5d36e9;

struct column {
    char name[16];
    bool pair, predicate, memory;
};
struct vectors {
    char op[160], space[24], what[160];
    bool is_program, is_scalar, no_guard;
    unsigned lanes, ins, outs, rows, block, widths[5], width_count;
    unsigned line; /* line on which the block starts */
    struct column in[MAX_COLUMNS], out[MAX_COLUMNS];
    uint64_t value[MAX_ROWS][2 * MAX_COLUMNS]; /* inputs first, then outputs */
    char text[8192];
    uint32_t word[OUT_WORDS];
    char fault[32], refuse[80], printed[1000];
    uint64_t fault_lanes;
};

static const char *folder(void)
{
    static char path[512]; /* path of the folder with the vector files */
    const char *dir = getenv("srcdir");
    snprintf(path, sizeof path, "%s/tests/emu/exec/vectors", dir ? dir : ".");
    return path;
}

/* ---- reading ------------------------------------------------------------------------ */

static unsigned read_columns(char *text, struct column *out)
{
    unsigned n = 0;
    for (char *save, *w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
        if (n == MAX_COLUMNS || strlen(w) >= sizeof out->name)
            return UINT32_MAX;
        struct column *c = &out[n++];
        strcpy(c->name, w);
        c->pair = strchr(w, ':') != NULL;
        c->predicate = w[0] == 'p' || (w[0] == 's' && w[1] == 'p');
        c->memory = w[0] == 'm';
    }
    return n;
}
static bool read_row(char *text, struct vectors *t)
{
    unsigned n = 0;
    if (t->rows == MAX_ROWS)
        return false;
    for (char *save, *w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
        char *end;
        if (!strcmp(w, "=")) {
            if (n != t->ins)
                return false;
            continue;
        }
        if (n == t->ins + t->outs)
            return false;
        t->value[t->rows][n++] = strtoull(w, &end, 16);
        if (*end)
            return false;
    }
    t->rows++;
    return n == t->ins + t->outs;
}
static bool read_line(char *line, struct vectors *t)
{
    char *rest = strchr(line, ' '), *end;
    if (rest)
        *rest++ = 0;
    else
        line[strcspn(line, "\n")] = 0, rest = line + strlen(line);
    if (!strcmp(line, "space")) {
        snprintf(t->space, sizeof t->space, "%.*s", (int)strcspn(rest, "\n"), rest);
    } else if (!strcmp(line, "scalar")) {
        t->is_scalar = true;
    } else if (!strcmp(line, "noguard")) {
        t->no_guard = true;
    } else if (!strcmp(line, "lanes")) {
        t->lanes = (unsigned)strtoul(rest, NULL, 10);
    } else if (!strcmp(line, "in")) {
        t->ins = read_columns(rest, t->in);
        return t->ins <= MAX_COLUMNS;
    } else if (!strcmp(line, "out")) {
        t->outs = read_columns(rest, t->out);
        return t->outs <= MAX_COLUMNS;
    } else if (!strcmp(line, "row")) {
        return read_row(rest, t);
    } else if (!strcmp(line, "warp")) {
        while (t->width_count < 5 && (t->widths[t->width_count] = (unsigned)strtoul(rest, &end, 10)))
            t->width_count++, rest = end;
    } else if (!strcmp(line, "block")) {
        t->block = (unsigned)strtoul(rest, NULL, 10);
    } else if (!strcmp(line, "|")) {
        if (strlen(t->text) + strlen(rest) + 1 > sizeof t->text)
            return false;
        strcat(t->text, rest);
    } else if (!strcmp(line, "words")) {
        unsigned long at = strtoul(rest, &end, 10);
        for (;; at++) {
            rest = end;
            uint64_t w = strtoull(rest, &end, 16);
            if (end == rest)
                break;
            if (at >= OUT_WORDS)
                return false;
            t->word[at] = (uint32_t)w;
        }
    } else if (!strcmp(line, "refuse")) {
        snprintf(t->refuse, sizeof t->refuse, "%.*s", (int)strcspn(rest, "\n"), rest);
    } else if (!strcmp(line, "text")) {
        char *to = t->printed + strlen(t->printed);
        for (; *rest && *rest != '\n' && to < t->printed + sizeof t->printed - 1; rest++) {
            bool end = rest[0] == '\\' && rest[1] == 'n';
            *to++ = end ? '\n' : *rest;
            rest += end;
        }
        *to = 0;
    } else if (!strcmp(line, "fault")) {
        return sscanf(rest, "%31s %" SCNx64, t->fault, &t->fault_lanes) == 2;
    } else {
        return false;
    }
    return true;
}

/* ---- running ------------------------------------------------------------------------- */

static void check(const char *where, enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s: %s", where, err->text);
}

struct run {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
};

static void open_run(struct run *r, const char *where, const char *text, const char *refuse,
                     unsigned width, unsigned level)
{
    struct emu_config config;
    struct lw_error err;

    emu_config_default(&config);
    config.warp_width = width;
    config.level = level;
    config.arena_bytes = 1 << 22;
    config.hang_window = 20000;
    config.tags = width == 8 ? EMU_TAGS_SHADOW : EMU_TAGS_OFF;
    check(where, emu_machine_create(&config, &r->machine, &err), &err);
    check(where, isa_assemble("vector.s", text, strlen(text), &r->object, &err), &err);
    r->engine = NULL;
    if (refuse[0]) {
        if (emu_program_load(r->machine, r->object, &r->program, &err) == LW_OK)
            fail_msg("%s: the program is loaded instead of refused", where);
        if (!strstr(err.text, refuse))
            fail_msg("%s: refused with \"%s\" instead of \"%s\"", where, err.text, refuse);
        return;
    }
    check(where, emu_program_load(r->machine, r->object, &r->program, &err), &err);
    check(where, emu_engine_functional_create(r->machine, &r->engine, &err), &err);
}
static void close_run(const char *where, struct run *r)
{
    struct emu_stats stats;

    emu_stats_get(r->machine, &stats);
    if (stats.tags.mismatches != 0)
        fail_msg("%s: registers differ from their tags", where);
    emu_engine_destroy(r->engine);
    emu_machine_destroy(r->machine);
    isa_object_destroy(r->object);
}

static void run_program(const char *where, const struct vectors *t, unsigned width, unsigned level)
{
    char text[10000];
    uint32_t got[OUT_WORDS];
    struct lw_error err;
    struct lw_buffer printed;
    struct run r;
    struct emu_stop stop;
    uint64_t out, params[1];

    snprintf(text, sizeof text,
             ".kernel k\n.param ptr.global out\nv_s2r v0, %%tid.x\nv_mov_b64 v8:9, c[out]\n"
             "v_madwide_u32 v8:9, v0, 4, v8:9\n%s",
             t->text);
    open_run(&r, where, text, t->refuse, width, level);
    if (t->refuse[0]) {
        close_run(where, &r);
        return;
    }
    lw_buffer_init(&printed);
    emu_machine_set_print(r.machine, &printed.sink);
    check(where, emu_alloc(r.machine, sizeof got, "out", 0, &out, &err), &err);
    params[0] = out;
    struct emu_launch launch = {.program = r.program, .kernel = &r.object->functions[0],
                                .grid = {1, 1, 1}, .block = {t->block, 1, 1}, .work_dim = 1,
                                .params = params};
    check(where, emu_grid_launch(r.machine, &launch, NULL, &err), &err);
    check(where, r.engine->ops->run(r.engine, &stop, &err), &err);
    if (t->fault[0]) {
        if (stop.kind != EMU_STOP_FAULT || strcmp(emu_fault_name(stop.fault.kind), t->fault) ||
            stop.fault.lanes != t->fault_lanes)
            fail_msg("%s: width %u, level %u: stop %d, fault %s, lanes %" PRIx64
                     " instead of %s, lanes %" PRIx64,
                     where, width, level, stop.kind,
                     stop.kind == EMU_STOP_FAULT ? emu_fault_name(stop.fault.kind) : "none",
                     stop.kind == EMU_STOP_FAULT ? stop.fault.lanes : 0, t->fault, t->fault_lanes);
    } else if (stop.kind != EMU_STOP_IDLE) {
        fail_msg("%s: width %u, level %u: stop %d: %s", where, width, level, stop.kind,
                 stop.kind == EMU_STOP_FAULT ? stop.fault.detail : "");
    }
    check(where, emu_global_read(r.machine, out, got, sizeof got, &err), &err);
    for (unsigned k = 0; k < OUT_WORDS; k++)
        if (got[k] != t->word[k])
            fail_msg("%s: width %u, level %u: word %u is %08x instead of %08x", where, width, level,
                     k, got[k], t->word[k]);
    if (strcmp(printed.text, t->printed))
        fail_msg("%s: width %u, level %u: it prints \"%s\"", where, width, level, printed.text);
    lw_buffer_fini(&printed);
    close_run(where, &r);
}

/* Emit code that sets v32 (or v32:33) to the address of the lane's cell of 16 bytes. */
static void put_cell(struct lw_sink *s, const struct vectors *t)
{
    if (strstr(t->space, "global"))
        lw_printf(s, "v_mov_b64 v32:33, c[cells]\nv_madwide_u32 v32:33, v0, 16, v32:33\n");
    else if (strstr(t->space, "shared"))
        lw_printf(s, ".shared %u\nv_mul_u32 v32, v0, 16\nv_mov_b32 v33, 0x%x\n",
                  MAX_ROWS * 16, (unsigned)(ISA_SHARED_BASE >> 32));
    else if (strstr(t->space, "local"))
        lw_printf(s, ".local 64\nv_mov_b32 v32, 16\nv_mov_b32 v33, 0x%x\n",
                  (unsigned)(ISA_LOCAL_BASE >> 32));
}
static const char *cell_suffix(const struct vectors *t)
{
    return strstr(t->space, "global") ? "global" : strstr(t->space, "shared") ? "shared" : "local";
}
static const char *cell_register(const struct vectors *t)
{
    return strstr(t->space, "global") ? "v32:33" : "v32";
}

static void put_load(struct lw_sink *s, const struct vectors *t, const struct column *c, unsigned k)
{
    if (c->pair && !t->is_scalar) {
        lw_printf(s, "ld.global.b64 %s, [v2:3+%u]\n", c->name, 8 * k);
        return;
    }
    lw_printf(s, "ld.global.b64 v4:5, [v2:3+%u]\n", 8 * k);
    if (c->predicate && c->name[0] == 's')
        lw_printf(s, "v_readfirstlane_b32 s99, v4\ns_setp_u32.ne %s, s99, 0\n", c->name);
    else if (c->predicate)
        lw_printf(s, "v_setp_u32.ne %s, v4, 0\n", c->name);
    else if (c->memory)
        lw_printf(s, "st.%s.b32 [%s+%d], v4\n", cell_suffix(t), cell_register(t),
                  4 * atoi(c->name + 1));
    else if (t->is_scalar) {
        int r = atoi(c->name + 1);
        lw_printf(s, "v_readfirstlane_b32 s%d, v4\n", r);
        if (c->pair)
            lw_printf(s, "v_readfirstlane_b32 s%d, v5\n", r + 1);
    } else {
        lw_printf(s, "v_mov_b32 %s, v4\n", c->name);
    }
}
static void put_store(struct lw_sink *s, const struct vectors *t, const struct column *c, unsigned k)
{
    int r = atoi(c->name + 1);
    lw_printf(s, "v_mov_b64 v4:5, 0\n");
    if (c->predicate)
        lw_printf(s, "@%s v_mov_b32 v4, 1\n", c->name);
    else if (c->memory)
        lw_printf(s, "ld.%s.b32 v4, [%s+%d]\n", cell_suffix(t), cell_register(t),
                  4 * atoi(c->name + 1));
    else {
        lw_printf(s, "v_mov_b32 v4, %c%d\n", t->is_scalar ? 's' : 'v', r);
        if (c->pair)
            lw_printf(s, "v_mov_b32 v5, %c%d\n", t->is_scalar ? 's' : 'v', r + 1);
    }
    lw_printf(s, "st.global.b64 [v6:7+%u], v4:5\n", 8 * k);
}
static bool is_input(const struct vectors *t, const char *name)
{
    for (unsigned k = 0; k < t->ins; k++)
        if (!strcmp(t->in[k].name, name))
            return true;
    return false;
}

/* Emit the kernel of a lane-wise or scalar case. Inputs and outputs are 64-bit values in memory, one lane after the
 * other. The inputs include the values that the outputs have before the instruction. */
static void put_kernel(struct lw_sink *s, const struct vectors *t, unsigned mode)
{
    lw_printf(s, ".kernel k%u\n.param ptr.global inputs\n.param ptr.global outputs\n"
                 ".param ptr.global cells\n", mode);
    lw_printf(s, "v_s2r v0, %s\n", t->is_scalar ? "%ctaid.x" : "%tid.x");
    lw_printf(s, "v_mov_b64 v2:3, c[inputs]\nv_mov_b64 v6:7, c[outputs]\n");
    lw_printf(s, "v_madwide_u32 v2:3, v0, %u, v2:3\nv_madwide_u32 v6:7, v0, %u, v6:7\n",
              8 * (t->ins + t->outs), 8 * t->outs);
    put_cell(s, t);
    for (unsigned k = 0; k < t->outs; k++)
        if (!is_input(t, t->out[k].name) && !(t->is_scalar && t->out[k].predicate))
            put_load(s, t, &t->out[k], t->ins + k);
    for (unsigned k = 0; k < t->ins; k++)
        put_load(s, t, &t->in[k], k);
    if (mode == 1 && !t->is_scalar) {
        lw_printf(s, "v_and_b32 v4, v0, 1\nv_setp_u32.eq p6, v4, 0\n@p6 %s\n", t->op);
    } else if (mode == 2 || (t->is_scalar && mode == 1)) {
        lw_printf(s, "s_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0\n%s\ns_mov_b64 exec, -1\n",
                  t->is_scalar ? 0 : exec_mask, t->op);
    } else {
        lw_printf(s, "%s\n", t->op);
    }
    for (unsigned k = 0; k < t->outs; k++)
        put_store(s, t, &t->out[k], k);
    lw_printf(s, "exit\n.end\n");
}
static bool mode_runs(const struct vectors *t, unsigned mode)
{
    return mode == 0 || (!t->lanes && (mode == 2 ? !t->is_scalar : !t->no_guard));
}
static bool lane_on(const struct vectors *t, unsigned mode, unsigned width, unsigned row)
{
    if (t->is_scalar || mode == 0)
        return true;
    return mode == 1 ? row % 2 == 0 : exec_mask >> (row % width) & 1;
}

/* Return the value that an output holds before the instruction: the input of the same name, else the fill value. */
static uint64_t before(const struct vectors *t, unsigned row, unsigned k)
{
    const struct column *c = &t->out[k];
    for (unsigned i = 0; i < t->ins; i++)
        if (!strcmp(t->in[i].name, c->name))
            return t->value[row][i];
    return c->predicate ? row >> 1 & 1 : c->pair ? (uint64_t)fill << 32 | fill : fill;
}

static void run_rows(const char *where, const struct vectors *t, unsigned width, unsigned level)
{
    struct lw_buffer text;
    struct lw_error err;
    struct run r;
    uint64_t params[3];
    size_t columns = t->ins + t->outs;
    uint64_t *in = calloc(t->rows * columns, 8), *out = calloc(t->rows * t->outs, 8);

    assert_non_null(in);
    assert_non_null(out);
    for (unsigned row = 0; row < t->rows; row++) {
        memcpy(in + row * columns, t->value[row], 8 * t->ins);
        for (unsigned k = 0; k < t->outs; k++)
            in[row * columns + t->ins + k] = before(t, row, k);
    }
    lw_buffer_init(&text);
    for (unsigned mode = 0; mode < MODES; mode++)
        if (mode_runs(t, mode))
            put_kernel(&text.sink, t, mode);
    open_run(&r, where, text.text, "", width, level);
    check(where, emu_alloc(r.machine, t->rows * columns * 8, "inputs", 0, &params[0], &err), &err);
    check(where, emu_alloc(r.machine, t->rows * t->outs * 8, "outputs", 0, &params[1], &err), &err);
    check(where, emu_alloc(r.machine, t->rows * 16, "cells", 0, &params[2], &err), &err);
    check(where, emu_global_write(r.machine, params[0], in, t->rows * columns * 8, &err), &err);
    for (unsigned mode = 0; mode < MODES; mode++) {
        char name[8];
        struct emu_stop stop;
        if (!mode_runs(t, mode))
            continue;
        snprintf(name, sizeof name, "k%u", mode);
        struct emu_launch launch = {.program = r.program,
                                    .kernel = emu_program_kernel(r.program, name),
                                    .grid = {t->is_scalar ? t->rows : 1, 1, 1},
                                    .block = {t->is_scalar ? width : t->rows, 1, 1},
                                    .work_dim = 1, .params = params};
        check(where, emu_grid_launch(r.machine, &launch, NULL, &err), &err);
        check(where, r.engine->ops->run(r.engine, &stop, &err), &err);
        if (stop.kind != EMU_STOP_IDLE)
            fail_msg("%s: width %u, level %u, mode %u: stop %d: %s", where, width, level, mode,
                     stop.kind, stop.kind == EMU_STOP_FAULT ? stop.fault.detail : "");
        check(where, emu_global_read(r.machine, params[1], out, t->rows * t->outs * 8, &err), &err);
        for (unsigned row = 0; row < t->rows; row++)
            for (unsigned k = 0; k < t->outs; k++) {
                uint64_t want = lane_on(t, mode, width, row) ? t->value[row][t->ins + k]
                                                             : before(t, row, k);
                uint64_t got = out[row * t->outs + k];
                if (got != want)
                    fail_msg("%s: %s: width %u, level %u, mode %u: row %u: inputs %" PRIx64
                             " %" PRIx64 " %" PRIx64 ": %s is %" PRIx64 " instead of %" PRIx64,
                             where, t->op, width, level, mode, row + 1,
                             t->ins > 0 ? t->value[row][0] : 0, t->ins > 1 ? t->value[row][1] : 0,
                             t->ins > 2 ? t->value[row][2] : 0, t->out[k].name, got, want);
            }
    }
    close_run(where, &r);
    lw_buffer_fini(&text);
    free(in);
    free(out);
}

static void run_block(const char *file, const struct vectors *t)
{
    static const unsigned levels[] = {1, 3, 4}, two[] = {8, 32};
    char where[256];

    snprintf(where, sizeof where, "%s:%u", file, t->line);
    for (unsigned l = 0; l < LW_COUNT_OF(levels); l++) {
        if (!setup_have_level(levels[l]))
            continue;
        if (t->is_program) {
            if (!t->width_count || !t->block)
                fail_msg("%s: a program without warp or block", where);
            for (unsigned k = 0; k < t->width_count; k++)
                run_program(where, t, t->widths[k], levels[l]);
            continue;
        }
        if (!t->rows || !t->outs || (t->lanes && t->lanes != t->rows))
            fail_msg("%s: no rows, no outputs or not as many rows as lanes", where);
        for (unsigned k = 0; k < LW_COUNT_OF(two); k++)
            if (!t->lanes || two[k] == 32)
                run_rows(where, t, two[k], levels[l]);
    }
}

/* ---- tests ---------------------------------------------------------------------------- */

static void every_row_has_its_file_and_every_file_its_row(void **state)
{
    unsigned files = 0;
    char path[600];

    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const char *name = isa_op_info((enum isa_op)op)->mnemonic;
        snprintf(path, sizeof path, "%s/%s.txt", folder(), name);
        FILE *f = fopen(path, "r");
        if (!f)
            fail_msg("%s has no vectors: write %s", name, path);
        fclose(f);
    }
    DIR *dir = opendir(folder());
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        bool known = false;
        if (e->d_name[0] == '.')
            continue;
        for (unsigned op = 1; op < ISA_OP_COUNT && !known; op++) {
            snprintf(path, sizeof path, "%s.txt", isa_op_info((enum isa_op)op)->mnemonic);
            known = !strcmp(path, e->d_name);
        }
        if (!known)
            fail_msg("%s/%s belongs to no instruction", folder(), e->d_name);
        files++;
    }
    closedir(dir);
    assert_int_equal(files, ISA_OP_COUNT - 1);
}

static void instruction_does_what_its_vectors_say(void **state)
{
    const char *name = *state;
    char path[600], line[2000], file[80];
    struct vectors *t = calloc(1, sizeof *t);
    unsigned number = 0, blocks = 0;
    size_t length = strlen(name);

    assert_non_null(t);
    snprintf(file, sizeof file, "%s.txt", name);
    snprintf(path, sizeof path, "%s/%s", folder(), file);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, f)) {
        bool op = !strncmp(line, "op ", 3), program = !strncmp(line, "program ", 8);
        number++;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (op || program) {
            if (blocks++)
                run_block(file, t);
            memset(t, 0, sizeof *t);
            t->line = number;
            t->is_program = program;
            snprintf(op ? t->op : t->what, sizeof t->op, "%.*s",
                     (int)strcspn(strchr(line, ' ') + 1, "\n"), strchr(line, ' ') + 1);
            if (op && (strncmp(t->op, name, length) || !strchr(" .", t->op[length])))
                fail_msg("%s:%u: a case of another instruction", file, number);
            continue;
        }
        if (!blocks || !read_line(line, t))
            fail_msg("%s:%u: this line is not understood", file, number);
    }
    if (!blocks)
        fail_msg("%s has no cases", file);
    run_block(file, t);
    fclose(f);
    free(t);
}

int main(void)
{
    static struct CMUnitTest tests[ISA_OP_COUNT]; /* cmocka stores the pointers, so the names must remain valid */
    tests[0] = (struct CMUnitTest)cmocka_unit_test(every_row_has_its_file_and_every_file_its_row);
    for (unsigned op = 1; op < ISA_OP_COUNT; op++)
        tests[op] = (struct CMUnitTest){
            .name = isa_op_info((enum isa_op)op)->mnemonic,
            .test_func = instruction_does_what_its_vectors_say,
            .initial_state = (void *)(uintptr_t)isa_op_info((enum isa_op)op)->mnemonic};
    return cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
}
