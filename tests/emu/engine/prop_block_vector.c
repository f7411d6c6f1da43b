/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random straight-line kernels, which the engine can execute for a whole block at a time (block-wide execution). The kernels
 * have integers that are linear in the thread id, floats, loads and stores at linear and other addresses, exits, guards that
 * hold in all, no or some threads, overlapping buffers, and accesses outside of buffers. The reference is the execution with
 * observers, in which each warp and each access is executed separately. The test compares memory, faults, counts, and the
 * state at instruction counts at which the run is stopped.
 *
 * LW_SEED repeats a run. LW_RANDOM_COUNT sets the number of programs. A failure prints the seed.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "emu/engine/emu_block_vector_priv.h"
#include "tests/emu/exec/prop_exec_gen.h"

enum {
    WORDS = 48 * 1024 + 1000, /* words of global data, so that the last page is partly used */
    TID = 0, GID = 1,      /* v0 and v1: number of the thread in its block and in the grid */
    LINES = 4,             /* registers of values linear in the thread: v2..v5, and the pairs v8:9 to v14:15 */
    WIDES = 4, FIRST_LINE = 2, FIRST_WIDE = 8,
    DATA = 8, FIRST_DATA = 20, /* v20..v27 */
    PARAMETERS = 32,
    LEFT_BYTES = 16384     /* bytes in which each thread stores one word */
};

static uint8_t line_reg(struct gen *g)
{
    return (uint8_t)(prop_below(&g->r, 2) ? GID : prop_below(&g->r, FIRST_LINE + LINES));
}
static uint8_t pair_reg(struct gen *g)
{
    return (uint8_t)(FIRST_WIDE + 2 * prop_below(&g->r, WIDES));
}
static uint8_t any_reg(struct gen *g)
{
    switch (prop_below(&g->r, 4)) {
    case 0: return line_reg(g);
    case 1: return (uint8_t)(pair_reg(g) + prop_below(&g->r, 2));
    default: return (uint8_t)(FIRST_DATA + prop_below(&g->r, DATA));
    }
}
static uint32_t little(struct gen *g)
{
    return prop_below(&g->r, 8) ? prop_below(&g->r, 12) - 4 : (uint32_t)prop_next(&g->r);
}

/** Complete the last instruction: clear unused register fields, align pairs, and perhaps add a guard on p0 to p2 or sp0. */
static void finish(struct gen *g, unsigned one_in)
{
    struct isa_insn *i = &g->code[g->count - 1];
    const struct isa_op_info *info = isa_op_info((enum isa_op)i->op);
    const unsigned a = isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2);
    const unsigned c = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2);

    if (!(info->flags & ISA_F_MEMORY)) {
        i->a = a == 0 ? 0 : a == 2 ? i->a & 0xfe : i->a;
        i->c = c == 0 ? 0 : c == 2 ? i->c & 0xfe : i->c;
    }
    if (prop_below(&g->r, one_in) != 0)
        return;
    i->guard_scalar = prop_below(&g->r, 4) == 0;
    i->guard = prop_below(&g->r, 12) == 0 ? ISA_PT : i->guard_scalar ? 0 : (uint8_t)prop_below(&g->r, 3);
    i->guard_neg = prop_below(&g->r, 2);
}

static void line_row(struct gen *g)
{
    static const enum isa_op narrow[] = {ISA_V_ADD_U32, ISA_V_SUB_U32, ISA_V_MUL_U32, ISA_V_SHL_B32,
                                         ISA_V_MOV_B32, ISA_V_MAD_U32};
    static const enum isa_op wide[] = {ISA_V_ADD_U64, ISA_V_SUB_U64, ISA_V_MUL_U64, ISA_V_MAD_U64,
                                       ISA_V_MOV_B64, ISA_V_SHL_B64, ISA_V_SHR_S64, ISA_V_SHR_U64};
    static const enum isa_op widen[] = {ISA_V_MULWIDE_U32, ISA_V_MULWIDE_S32, ISA_V_MADWIDE_U32,
                                        ISA_V_MADWIDE_S32, ISA_V_LEA_U32, ISA_V_LEA_S32};
    const unsigned kind = prop_below(&g->r, 10);
    struct isa_insn *i;

    if (kind < 4) {
        i = emit(g, narrow[prop_below(&g->r, LW_COUNT_OF(narrow))]);
        i->d = (uint8_t)(FIRST_LINE + prop_below(&g->r, LINES));
        i->a = line_reg(g);
        i->c = line_reg(g);
        i->xkind = prop_below(&g->r, 2) ? ISA_X_IMM : ISA_X_VECTOR;
        i->x = i->xkind == ISA_X_IMM ? little(g) : line_reg(g);
    } else if (kind < 6) {
        i = emit(g, widen[prop_below(&g->r, LW_COUNT_OF(widen))]);
        i->d = pair_reg(g);
        i->a = line_reg(g);
        i->c = pair_reg(g);
        i->xkind = ISA_X_IMM;
        i->x = little(g);
    } else if (kind < 9) {
        i = emit(g, wide[prop_below(&g->r, LW_COUNT_OF(wide))]);
        i->d = pair_reg(g);
        i->a = pair_reg(g);
        i->c = pair_reg(g);
        i->xkind = prop_below(&g->r, 2) ? ISA_X_IMM : prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_SCALAR;
        i->x = i->xkind == ISA_X_IMM      ? (prop_below(&g->r, 4) ? little(g) : 32)
               : i->xkind == ISA_X_VECTOR ? pair_reg(g)
                                          : 2 * prop_below(&g->r, 4);
    } else {
        static const uint8_t types[][2] = {{ISA_DT_U64, ISA_ST_U32}, {ISA_DT_S64, ISA_ST_S32},
                                           {ISA_DT_U32, ISA_ST_U64}, {ISA_DT_S32, ISA_ST_S64}};
        const unsigned t = prop_below(&g->r, LW_COUNT_OF(types));
        i = emit(g, ISA_V_CVT);
        isa_mod_set(i, ISA_MOD_DTYPE, types[t][0]);
        isa_mod_set(i, ISA_MOD_STYPE, types[t][1]);
        i->d = t < 2 ? pair_reg(g) : (uint8_t)(FIRST_LINE + prop_below(&g->r, LINES));
        i->xkind = ISA_X_VECTOR;
        i->x = t < 2 ? line_reg(g) : pair_reg(g);
    }
    finish(g, 12);
}

static void data_row(struct gen *g)
{
    static const enum isa_op ops[] = {ISA_V_ADD_F32, ISA_V_MUL_F32, ISA_V_FMA_F32, ISA_V_SUB_F32,
                                      ISA_V_XOR_B32, ISA_V_AND_B32, ISA_V_ADD_U32, ISA_V_MIN_S32,
                                      ISA_V_MAX_U32, ISA_V_MUL_U32, ISA_V_SHR_U32, ISA_V_MOV_B32,
                                      ISA_V_SQRT_F32, ISA_V_POPC_B32, ISA_V_ADD_U64, ISA_V_MULWIDE_U32};
    struct isa_insn *i = emit(g, ops[prop_below(&g->r, LW_COUNT_OF(ops))]);

    i->d = i->op == ISA_V_ADD_U64 || i->op == ISA_V_MULWIDE_U32
               ? (uint8_t)(FIRST_DATA + 2 * prop_below(&g->r, DATA / 2))
               : (uint8_t)(FIRST_DATA + prop_below(&g->r, DATA));
    i->a = any_reg(g);
    i->c = any_reg(g);
    if (i->op == ISA_V_ADD_U64)
        i->a &= 0xfe;
    i->xkind = prop_below(&g->r, 3) ? ISA_X_VECTOR : prop_below(&g->r, 2) ? ISA_X_IMM : ISA_X_SCALAR;
    i->x = i->xkind == ISA_X_VECTOR   ? any_reg(g)
           : i->xkind == ISA_X_SCALAR ? (prop_below(&g->r, 2) ? 2 * prop_below(&g->r, 5)
                                                              : 124 + 2 * prop_below(&g->r, 2)) /* exec */
                                      : (uint32_t)prop_next(&g->r);
    if (i->op == ISA_V_ADD_U64 && i->xkind == ISA_X_VECTOR)
        i->x &= 0xfe;
    if (!(isa_op_info((enum isa_op)i->op)->flags & ISA_F_NOSRCMOD) && i->op != ISA_V_SQRT_F32 &&
        prop_below(&g->r, 6) == 0)
        isa_insn_set_srcmod(i, 0, 1);
    finish(g, 12);
}

static void emit_access(struct gen *g, bool store)
{
    static const uint8_t sizes[] = {ISA_SIZE_B32, ISA_SIZE_B32, ISA_SIZE_B32, ISA_SIZE_U8, ISA_SIZE_U16,
                                    ISA_SIZE_S8, ISA_SIZE_S16, ISA_SIZE_B64, ISA_SIZE_V2B32,
                                    ISA_SIZE_V4B32};
    struct isa_insn *i = emit(g, store ? ISA_ST_GLOBAL : ISA_LD_GLOBAL);
    unsigned size = sizes[prop_below(&g->r, LW_COUNT_OF(sizes))];
    const unsigned data = FIRST_DATA + 4 * prop_below(&g->r, DATA / 4);
    int32_t disp = prop_below(&g->r, 4) ? 0 : (int32_t)prop_below(&g->r, 9) - 4;

    if (store && (size == ISA_SIZE_S8 || size == ISA_SIZE_S16))
        size = ISA_SIZE_B32;
    isa_mod_set(i, ISA_MOD_SIZE, size);
    disp = disp * (int32_t)isa_mem_bytes(i) + (prop_below(&g->r, 100) == 0);
    if (store)
        i->x = prop_below(&g->r, 4) ? data : size == ISA_SIZE_B32 ? any_reg(g) : 255;
    else
        i->d = (uint8_t)data;
    if (prop_below(&g->r, 6) == 0) { /* an address in a pair: parameters are bases, and linear values start from them */
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_PAIR);
        i->a = pair_reg(g);
    } else {
        const unsigned bytes = isa_mem_bytes(i);
        isa_mod_set(i, ISA_MOD_AMODE, prop_below(&g->r, 2) ? ISA_AMODE_SS32 : ISA_AMODE_SU32);
        isa_mod_set(i, ISA_MOD_ASCALE, prop_below(&g->r, 16) ? (unsigned)lw_lowest(bytes)
                                                             : prop_below(&g->r, 3));
        i->a = prop_below(&g->r, 5) ? GID : prop_below(&g->r, 12) ? line_reg(g) : any_reg(g);
        i->c = (uint8_t)(2 * prop_below(&g->r, 3));
    }
    i->x |= (uint32_t)disp << 8;
    finish(g, 12);
}

/** Emit a comparison, usually with a value for which all threads get the same result. A guarded exit may follow it. */
static void bound(struct gen *g, uint32_t threads)
{
    static const enum isa_op ops[] = {ISA_V_SETP_S32, ISA_V_SETP_U32, ISA_V_SETP_S64, ISA_V_SETP_U64,
                                      ISA_V_SETP_F32};
    struct isa_insn *i = emit(g, ops[prop_below(&g->r, LW_COUNT_OF(ops))]);
    const bool wide = i->op == ISA_V_SETP_S64 || i->op == ISA_V_SETP_U64;
    const unsigned p = prop_below(&g->r, 3);

    isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
    isa_insn_set_p(i, p);
    isa_insn_set_q(i, prop_below(&g->r, 8) ? ISA_PT : prop_below(&g->r, 3));
    if (prop_below(&g->r, 8) == 0) {
        isa_mod_set(i, ISA_MOD_BOOL, 1 + prop_below(&g->r, 3));
        isa_insn_set_r(i, prop_below(&g->r, 3), prop_below(&g->r, 2));
    } else {
        isa_insn_set_r(i, ISA_PT, false);
    }
    i->a = wide ? pair_reg(g) : prop_below(&g->r, 3) ? line_reg(g) : any_reg(g);
    i->xkind = prop_below(&g->r, 6) ? ISA_X_IMM : ISA_X_VECTOR;
    i->x = i->xkind == ISA_X_VECTOR ? (wide ? pair_reg(g) : line_reg(g))
           : prop_below(&g->r, 3) ? threads - prop_below(&g->r, 4) * prop_below(&g->r, 40)
                                  : little(g);
    if (prop_below(&g->r, 2)) {
        emit(g, ISA_EXIT)->guard = (uint8_t)p;
        g->code[g->count - 1].guard_neg = prop_below(&g->r, 2);
    }
}

static void scalar_row(struct gen *g)
{
    struct isa_insn *i;

    if (prop_below(&g->r, 6) == 0) { /* a write of exec, although each warp starts with all lanes in exec */
        two(g, ISA_S_MOV_B32, 124 + prop_below(&g->r, 2), 0, ISA_X_IMM, (uint32_t)prop_next(&g->r));
        return;
    }
    if (prop_below(&g->r, 2)) {
        two(g, ISA_S_ADD_U64, 2 * prop_below(&g->r, 3), 2 * prop_below(&g->r, 3), ISA_X_IMM,
            4 * (prop_below(&g->r, 8) - 4));
        g->code[g->count - 1].a = g->code[g->count - 1].d;
        return;
    }
    i = emit(g, ISA_S_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
    isa_insn_set_p(i, 0);
    isa_insn_set_r(i, ISA_PT, false);
    i->a = 8;
    i->xkind = ISA_X_IMM;
    i->x = prop_below(&g->r, 6);
}

static void make(struct gen *g, uint32_t grid, uint32_t block)
{
    struct isa_insn *i;

    for (unsigned k = 0; k < 3; k++)
        two(g, ISA_S_MOV_B64, 2 * k, 0, ISA_X_CONST, 8 * k);
    for (unsigned k = 0; k < 2; k++) {
        i = emit(g, ISA_S_S2R);
        i->d = (uint8_t)(8 + k);
        i->x = k == 0 ? ISA_SR_CTAID_X : ISA_SR_NTID_X;
    }
    i = emit(g, ISA_V_S2R);
    i->d = TID;
    i->x = ISA_SR_TID_X;
    two(g, ISA_S_MUL_U32, 9, 8, ISA_X_SCALAR, 9);
    two(g, ISA_V_ADD_U32, GID, TID, ISA_X_SCALAR, 9);
    for (unsigned k = 0; k < WIDES; k++) { /* base + thread * size */
        two(g, ISA_V_MOV_B64, FIRST_WIDE + 2 * k, 0, ISA_X_SCALAR, 2 * prop_below(&g->r, 3));
        i = emit(g, ISA_V_MADWIDE_U32);
        i->d = i->c = (uint8_t)(FIRST_WIDE + 2 * k);
        i->a = prop_below(&g->r, 8) ? GID : TID;
        i->xkind = ISA_X_IMM;
        i->x = 1u << (prop_below(&g->r, 3) ? 2 : prop_below(&g->r, 5));
    }
    for (unsigned n = 2 + prop_below(&g->r, 14); n-- > 0;) {
        switch (prop_below(&g->r, 12)) {
        case 0: case 1: line_row(g); break;
        case 2: case 3: data_row(g); break;
        case 4: bound(g, grid * block); break;
        case 5: scalar_row(g); break;
        case 6: case 7: case 8: emit_access(g, false); break;
        case 9: emit_access(g, true); break;
        default: data_row(g); break;
        }
    }
    for (unsigned n = prop_below(&g->r, 3); n-- > 0;)
        emit_access(g, true);
    for (unsigned k = 0, n = 1 + prop_below(&g->r, 3); k < n; k++) { /* store the final values of registers */
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_SU32);
        isa_mod_set(i, ISA_MOD_ASCALE, 2);
        i->a = GID;
        i->c = 4;
        i->x = (uint32_t)any_reg(g) | (k + 1) * LEFT_BYTES << 8;
    }
    emit(g, ISA_EXIT);
}

static void print_program(const struct gen *g)
{
    struct lw_file_sink sink;

    lw_file_sink_init(&sink, stdout);
    for (uint32_t k = 0; k < g->count; k++) {
        lw_printf(&sink.sink, "%4u  ", k);
        isa_insn_print(&g->code[k], ISA_CODE_BASE + 16 * (uint64_t)k, NULL, NULL, &sink.sink);
        lw_printf(&sink.sink, "\n");
    }
}

struct outcome {
    struct emu_stop stop;
    uint64_t base, state[4], memory, loads, stores, threads, warps, blocks, instructions, swept;
};

static bool no_event(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer;
    (void)ev;
    return false;
}

struct task {
    struct isa_object object;
    const uint8_t *before;
    size_t bytes;
    uint64_t offset[3]; /* offsets of the three buffers in the data */
    uint32_t grid, block, width;
    uint64_t stop[4];   /* instruction counts at which the run is stopped */
};

static void run(const struct task *t, const struct setup *setup, uint8_t *after, struct outcome *out)
{
    struct emu_observer observer = {.on_event = no_event};
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_stats stats;
    struct lw_error err = {0};
    uint8_t params[PARAMETERS] = {0};
    uint64_t behind;

    memset(out, 0, sizeof *out);
    emu_config_default(&config);
    config.warp_width = t->width;
    setup_apply(setup, &config);
    config.arena_bytes = 1 << 23;
    if (emu_machine_create(&config, &machine, &err) != LW_OK ||
        emu_alloc(machine, t->bytes, "data", 0, &out->base, &err) != LW_OK ||
        emu_global_write(machine, out->base, t->before, t->bytes, &err) != LW_OK ||
        emu_alloc(machine, 1 << 16, "behind it", 0, &behind, &err) != LW_OK ||
        emu_program_load(machine, &t->object, &program, &err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (unsigned k = 0; k < 3; k++)
        lw_put64(params + 8 * k, out->base + t->offset[k]);
    struct emu_launch launch = {.program = program, .kernel = &t->object.functions[0],
                                .grid = {t->grid, 1, 1}, .block = {t->block, 1, 1},
                                .work_dim = 1, .params = params};
    if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (setup->watched)
        emu_observer_add(engine, &observer);
    for (unsigned k = 0; k < 4; k++) {
        engine->stop_at = t->stop[k];
        if (engine->ops->run(engine, &out->stop, &err) != LW_OK)
            fail_msg("%s", err.text);
        out->state[k] = emu_hash_state(machine);
        if (out->stop.kind != EMU_STOP_COUNT)
            break;
    }
    engine->stop_at = UINT64_MAX;
    if (out->stop.kind != EMU_STOP_FAULT && engine->ops->run(engine, &out->stop, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (emu_global_read(machine, out->base, after, t->bytes, &err) != LW_OK)
        fail_msg("%s", err.text);
    out->memory = emu_hash_mem(machine);
    out->instructions = engine->ops->instructions(engine);
    emu_stats_get(machine, &stats);
    out->loads = stats.loads;
    out->stores = stats.stores;
    out->threads = stats.thread_instructions;
    out->warps = stats.warps;
    out->blocks = stats.blocks;
    out->swept = emu_block_vector_count(engine);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
}

static const char *difference(const struct outcome *a, const struct outcome *b)
{
    if (a->stop.kind != b->stop.kind)
        return "the run stops in another way";
    if (a->stop.kind == EMU_STOP_FAULT &&
        (a->stop.fault.kind != b->stop.fault.kind || a->stop.fault.lanes != b->stop.fault.lanes ||
         a->stop.fault.pc != b->stop.fault.pc || a->stop.fault.block != b->stop.fault.block ||
         a->stop.fault.warp != b->stop.fault.warp || a->stop.fault.address != b->stop.fault.address))
        return "another fault";
    if (a->memory != b->memory)
        return "another hash_mem";
    if (a->instructions != b->instructions || a->threads != b->threads)
        return "other counts of instructions";
    if (a->loads != b->loads || a->stores != b->stores)
        return "other counts of accesses";
    if (a->blocks != b->blocks || a->warps != b->warps)
        return "other counts of blocks";
    if (memcmp(a->state, b->state, sizeof a->state) != 0)
        return "another state at a stop";
    return NULL;
}

/** Return the number of blocks executed as one vector. *@faulted is set if the run ends in a fault. */
static uint64_t one_program(uint64_t seed, bool *faulted)
{
    static const unsigned levels[] = {4, 3, 1};
    static const uint32_t widths[] = {32, 32, 32, 4, 8, 16, 64};
    struct gen *g = calloc(1, sizeof *g);
    struct isa_function kernel = {0};
    struct task t = {0};
    struct outcome watched, fast;
    struct lw_error err = {0};
    uint64_t swept = 0;

    assert_non_null(g);
    g->r.state = seed;
    t.grid = 1 + prop_below(&g->r, 12);
    t.block = prop_below(&g->r, 3) ? 32 * (1 + prop_below(&g->r, 8)) : 1 + prop_below(&g->r, 300);
    if (prop_below(&g->r, 20) == 0) {
        t.grid = 1 + t.grid / 4;
        t.block = prop_below(&g->r, 3) ? 1024 - prop_below(&g->r, 40) : 1;
    }
    t.width = widths[prop_below(&g->r, LW_COUNT_OF(widths))];
    t.bytes = 4 * WORDS;
    for (unsigned k = 0; k < 3; k++) /* the buffers are separate, adjacent or overlapping */
        t.offset[k] = prop_below(&g->r, 4) ? 64 * 1024 * k + 4096
                                           : 4096 + 4 * prop_below(&g->r, 64) * prop_below(&g->r, 64);
    if (prop_below(&g->r, 12) == 0)
        t.offset[2] = t.bytes - 4 * prop_below(&g->r, 4 * t.block);
    make(g, t.grid, t.block);
    uint8_t *before = malloc(t.bytes), *after = malloc(t.bytes), *want = malloc(t.bytes);
    assert_true(before && after && want);
    for (size_t k = 0; k < WORDS; k++)
        lw_put32(before + 4 * k, prop_below(&g->r, 4) ? 0x3f800000 + prop_below(&g->r, 1 << 24)
                                                      : (uint32_t)prop_next(&g->r));
    t.before = before;
    for (unsigned k = 0; k < 4; k++)
        t.stop[k] = (k == 0 ? 0 : t.stop[k - 1]) +
                    prop_below(&g->r, g->count * t.grid * ((t.block + t.width - 1) / t.width) / 3 + 2);
    lw_arena_init(&t.object.arena);
    t.object.text = lw_arena_alloc(&t.object.arena, g->count * sizeof *t.object.text);
    t.object.text_count = g->count;
    for (uint32_t k = 0; k < g->count; k++)
        if (isa_insn_encode(&g->code[k], &t.object.text[k], &err) != LW_OK)
            fail_msg("LW_SEED=%" PRIu64 ": instruction %u: %s", seed, k, err.text);
    kernel.name = "line";
    kernel.count = g->count;
    kernel.kernel = true;
    kernel.param_bytes = PARAMETERS;
    t.object.functions = &kernel;
    t.object.function_count = 1;

    struct setup setup = setup_random(&g->r, 1, true);
    setup.tags = EMU_TAGS_OFF;
    run(&t, &setup, want, &watched);
    *faulted = watched.stop.kind == EMU_STOP_FAULT;
    for (unsigned k = 0; k < LW_COUNT_OF(levels); k++) {
        setup.level = levels[k]; /* the compared state contains the splits, so the splits must be equal, too */
        setup.watched = false;
        if (!setup_have_level(setup.level))
            continue;
        run(&t, &setup, after, &fast);
        const char *why = difference(&watched, &fast);
        if (why == NULL && memcmp(after, want, t.bytes) != 0)
            why = "other bytes";
        if (why != NULL) {
            char how[400];
            print_program(g);
            setup_print(&setup, how, sizeof how);
            fail_msg("LW_SEED=%" PRIu64 ": grid %u, block %u, W %u, %s: differs from the path with observers: "
                     "%s", seed, t.grid, t.block, t.width, how, why);
        }
        swept += fast.swept;
    }
    free(before);
    free(after);
    free(want);
    lw_arena_fini(&t.object.arena);
    free(g);
    return swept;
}

static void block_wide_execution_is_as_warp_by_warp(void **state)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(600, seed), swept = 0, faults = 0;

    (void)state;
    for (unsigned long i = 0; i < count; i++) {
        bool faulted;
        swept += one_program(seed + i, &faulted) != 0;
        faults += faulted;
    }
    printf("of %lu programs, %lu ran with block-wide execution, %lu faulted\n", count, swept, faults);
    assert_true(count < 50 || (swept > count / 4 && faults < count / 2));
}

/* When a warp starts, its registers are zero and exec contains all lanes, whatever the previous warp of the slot has
 * left. */
static void exec_is_whole_beside_registers_that_are_cleared(void **state)
{
    static const char text[] = ".kernel line\n.parambytes 32\n"
                               "s_mov_b64 s0:1, c[0][0x0]\n"
                               "s_mov_b32 s125, 7\n"
                               "v_s2r v0, %%tid.x\n"
                               "v_mov_b32 v1, s126\n"
                               "%s"
                               "st.global.b32 [s0:1+v0.s*4], v1\n"
                               "exit\n.end\n";

    (void)state;
    /* k = 0: the block executes as one vector; k = 1: the warps of the block execute one by one */
    for (unsigned k = 0; k < 2; k++) {
        char whole[600];
        struct emu_config config;
        struct emu_machine *machine;
        struct emu_program *program;
        struct emu_engine *engine;
        struct isa_object *object;
        struct emu_stop stop;
        struct lw_error err = {0};
        uint64_t params[4] = {0};
        uint32_t out[128];

        snprintf(whole, sizeof whole, text, k == 0 ? "" : "v_s2r v2, %laneid\n");
        emu_config_default(&config);
        config.arena_bytes = 1 << 20;
        if (emu_machine_create(&config, &machine, &err) != LW_OK ||
            isa_assemble("line.s", whole, strlen(whole), &object, &err) != LW_OK ||
            emu_alloc(machine, sizeof out, "out", 0, &params[0], &err) != LW_OK ||
            emu_program_load(machine, object, &program, &err) != LW_OK ||
            emu_engine_functional_create(machine, &engine, &err) != LW_OK)
            fail_msg("%s", err.text);
        struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                    .grid = {3, 1, 1}, .block = {128, 1, 1}, .work_dim = 1,
                                    .params = params};
        if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK ||
            engine->ops->run(engine, &stop, &err) != LW_OK ||
            emu_global_read(machine, params[0], out, sizeof out, &err) != LW_OK)
            fail_msg("%s", err.text);
        assert_int_equal(stop.kind, EMU_STOP_IDLE);
        assert_int_equal(emu_block_vector_count(engine), k == 0 ? 3 : 0);
        for (unsigned l = 0; l < 128; l++)
            assert_int_equal(out[l], UINT32_MAX);
        emu_engine_destroy(engine);
        emu_machine_destroy(machine);
        isa_object_destroy(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exec_is_whole_beside_registers_that_are_cleared),
        cmocka_unit_test(block_wide_execution_is_as_warp_by_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
