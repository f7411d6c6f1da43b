/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs random structured programs on the emulator, and compares the results with those of the reference in ref_lane.c,
 * which executes one lane at a time. The programs run on the fast path and on the watched path, on every level
 * of the core, with random warp widths and policies. Where a warp has one split, some parts run with some lanes
 * excluded by exec.
 *
 * LW_SEED repeats a run. LW_RANDOM_COUNT sets the number of programs, and LW_RANDOM_DIVISOR divides it. A failure
 * prints the seed and the program. At the end, or if SIGINT or SIGTERM ends the test, the number of programs that have run is
 * printed.
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
#include "native/native.h"
#include "tests/emu/exec/prop_exec_gen.h"

static void branch(struct gen *g, uint32_t at, uint32_t target)
{
    g->code[at].x = target - at - 1;
}

static void sequence(struct gen *g, unsigned depth);

/* Generate a barrier of the block, or nothing. */
static void barrier(struct gen *g)
{
    if (!g->bars || prop_below(&g->at, 4) != 0)
        return;
    struct isa_insn *i = emit(g, ISA_BAR_SYNC);
    i->xkind = ISA_X_IMM;
    i->x = prop_below(&g->at, 3);
}

static void test(struct gen *g, unsigned p)
{
    struct isa_insn *i = emit(g, ISA_V_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
    isa_insn_set_p(i, p);
    isa_insn_set_q(i, ISA_PT);
    i->a = (uint8_t)prop_below(&g->r, DATA_REGS - 1);
    i->xkind = prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM;
    i->x = prop_below(&g->r, DATA_REGS - 1);
}

static void condition(struct gen *g, unsigned depth)
{
    unsigned p = prop_below(&g->r, 6);
    uint32_t join, over, skip = 0;
    bool has_else = prop_below(&g->r, 2);

    test(g, p);
    join = g->count;
    emit(g, ISA_BSSY)->d = (uint8_t)depth;
    over = g->count;
    struct isa_insn *b = emit(g, ISA_BRA);
    b->guard = (uint8_t)p;
    b->guard_neg = prop_below(&g->r, 2);
    b->variant = true;
    b->d = (uint8_t)depth;
    sequence(g, depth - 1);
    if (has_else) {
        skip = g->count;
        emit(g, ISA_BRA);
    }
    branch(g, over, g->count);
    if (has_else) {
        sequence(g, depth - 1);
        branch(g, skip, g->count);
    }
    branch(g, join, g->count);
    emit(g, ISA_BSYNC)->d = (uint8_t)depth;
}

static void loop(struct gen *g, unsigned depth)
{
    uint8_t counter = (uint8_t)(40 + depth);
    uint32_t join, head, back;
    struct isa_insn *i = emit(g, prop_below(&g->r, 2) ? ISA_V_AND_B32 : ISA_V_MOV_B32);

    i->d = counter;
    if (i->op == ISA_V_AND_B32)
        i->a = (uint8_t)prop_below(&g->r, DATA_REGS - 1);
    i->xkind = ISA_X_IMM;
    i->x = 3;
    join = g->count;
    emit(g, ISA_BSSY)->d = (uint8_t)depth;
    const bool uniform = depth == TOP && g->code[g->count - 2].op == ISA_V_MOV_B32; /* all threads of the block loop equally often */
    head = g->count;
    if (uniform)
        barrier(g);
    sequence(g, depth - 1);
    if (uniform)
        barrier(g);
    i = emit(g, ISA_V_SUB_U32);
    i->d = i->a = counter;
    i->xkind = ISA_X_IMM;
    i->x = 1;
    i = emit(g, ISA_V_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, ISA_CMP_GT);
    isa_insn_set_p(i, 6);
    isa_insn_set_q(i, ISA_PT);
    i->a = counter;
    i->xkind = ISA_X_IMM;
    i->x = 0;
    back = g->count;
    i = emit(g, ISA_BRA);
    i->guard = 6;
    i->variant = true;
    i->d = (uint8_t)depth;
    branch(g, back, head);
    branch(g, join, g->count);
    emit(g, ISA_BSYNC)->d = (uint8_t)depth;
}

/* Generate some instructions that a scalar branch may skip. */
static void jump_over(struct gen *g)
{
    uint32_t at = g->count;
    struct isa_insn *i = emit(g, ISA_S_BRA);

    i->guard = (uint8_t)prop_below(&g->r, 8);
    i->guard_neg = prop_below(&g->r, 2);
    i->guard_scalar = true;
    for (unsigned n = prop_below(&g->r, 4); n > 0; n--)
        prop_below(&g->r, 2) ? alu(g) : scalar(g);
    branch(g, at, g->count);
}

/* ---- under partial exec --------------------------------------------------------------------- */

/* Write exec, or one half of it. */
static void exec_write(struct gen *g)
{
    static const enum isa_op ops[] = {ISA_S_MOV_B64, ISA_S_AND_B64, ISA_S_OR_B64, ISA_S_XOR_B64,
                                      ISA_S_NOT_B64, ISA_S_ANDN2_B64, ISA_S_MOV_B32, ISA_S_XOR_B32};
    struct isa_insn *i = emit(g, ops[prop_below(&g->r, LW_COUNT_OF(ops))]);
    bool half = i->op == ISA_S_MOV_B32 || i->op == ISA_S_XOR_B32;

    i->d = ISA_S_EXEC + (half ? prop_below(&g->r, 2) : 0);
    if (isa_op_words(isa_op_info((enum isa_op)i->op), ISA_TOK_SA, ISA_TOK_SA2) != 0)
        i->a = prop_below(&g->r, 2) ? i->d : (uint8_t)(2 * prop_below(&g->r, 3));
    i->xkind = prop_below(&g->r, 2) ? ISA_X_SCALAR : ISA_X_IMM;
    if (i->xkind == ISA_X_SCALAR)
        i->x = prop_below(&g->r, 4) ? 2 * prop_below(&g->r, 3) : ISA_S_EXEC;
    else /* masks with few lanes, with most lanes, with no lane, and with any lanes */
        i->x = (uint32_t[]){1u << prop_below(&g->r, 32), ~(1u << prop_below(&g->r, 32)), 0,
                            (uint32_t)prop_next(&g->r)}[prop_below(&g->r, 4)];
    i->guard_scalar = true;
    if (prop_below(&g->r, 4) == 0) {
        i->guard = (uint8_t)prop_below(&g->r, 7);
        i->guard_neg = prop_below(&g->r, 2);
    }
}

/* Generate a part in GCN style: the warp has one split, exec has any lanes, and only scalar branches are used. At the
 * end of the part exec contains all lanes again (docs/reference/machine.md, 1). */
static void under_exec(struct gen *g)
{
    bool joins = prop_below(&g->r, 2); /* use a convergence barrier, which acts on all lanes, independent of exec */
    uint32_t join = g->count;
    struct isa_insn *i;

    if (joins)
        emit(g, ISA_BSSY)->d = TOP;
    exec_write(g);
    for (unsigned n = 1 + prop_below(&g->r, 12); n-- > 0;) {
        unsigned kind = prop_below(&g->r, 100);
        if (kind < 40)
            alu(g);
        else if (kind < 55)
            linear(g);
        else if (kind < 72)
            memory(g);
        else if (kind < 82)
            scalar(g);
        else if (kind < 86)
            jump_over(g);
        else if (kind < 98)
            exec_write(g);
        else /* exit ends only the active lanes */
            emit(g, ISA_EXIT)->guard = (uint8_t)prop_below(&g->r, 7);
    }
    if (joins) {
        branch(g, join, g->count);
        emit(g, ISA_BSYNC)->d = TOP;
    }
    i = emit(g, ISA_S_MOV_B64);
    i->d = ISA_S_EXEC;
    i->xkind = ISA_X_IMM;
    i->x = UINT32_MAX;
}

static void sequence(struct gen *g, unsigned depth)
{
    unsigned n = 1 + prop_below(&g->r, 8);

    while (n-- > 0 && g->count < MAX_CODE - 400) {
        unsigned kind = prop_below(&g->r, 100);
        if (depth == TOP)
            barrier(g);
        if (depth == TOP && kind < 25) /* at the top level all lanes of a warp execute together */
            scalar(g);
        else if (depth == TOP && kind < 28)
            jump_over(g);
        else if (depth == TOP && kind < 33)
            under_exec(g);
        else if (kind < 46 || depth == 0)
            alu(g);
        else if (kind < 65)
            linear(g);
        else if (kind < 82)
            memory(g);
        else if (kind < 91)
            condition(g, depth);
        else if (kind < 98)
            loop(g, depth);
        else if (depth < 3)
            emit(g, ISA_EXIT)->guard = (uint8_t)prop_below(&g->r, 6);
    }
}

/* ---- frame of a program ------------------------------------------------------------------ */

static uint32_t interesting(struct prop_random *r)
{
    static const uint32_t special[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x00000001, 0x807fffff, 0x00800000,
                                       0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x7fffffff,
                                       0xffffffff, 0x3ff00000, 0x7ff00000, 0x7ff80000, 0x43dfffff};
    switch (prop_below(r, 5)) {
    case 0: return special[prop_below(r, LW_COUNT_OF(special))];
    case 1: return prop_below(r, 64);
    case 2: return 0u - prop_below(r, 64);
    case 3: { /* a float of moderate size */
        float f = (float)((int)prop_below(r, 20001) - 10000) / (float)(1 + prop_below(r, 97));
        uint32_t b;
        memcpy(&b, &f, 4);
        return b;
    }
    default: return (uint32_t)prop_next(r);
    }
}

static void prologue(struct gen *g, unsigned threads, const uint32_t block[3])
{
    struct isa_insn *i;

    for (unsigned s = 0; s < 8; s++) {
        i = emit(g, ISA_S_MOV_B32);
        i->d = (uint8_t)s;
        i->xkind = ISA_X_IMM;
        i->x = prop_below(&g->r, 2) ? prop_below(&g->r, 40) : (uint32_t)prop_next(&g->r);
    }
    i = emit(g, ISA_S_MOV_B64);
    i->d = 8;
    i->xkind = ISA_X_CONST;
    i->x = 0;
    i = emit(g, ISA_V_S2R);
    i->d = 50;
    i->x = ISA_SR_TID_X;
    i = emit(g, ISA_V_S2R);
    i->d = 53;
    i->x = ISA_SR_TID_Y;
    i = emit(g, ISA_V_S2R);
    i->d = 54;
    i->x = ISA_SR_TID_Z;
    for (unsigned axis = 2; axis-- > 0;) { /* v50 = number of the thread in its block */
        i = emit(g, ISA_V_MAD_U32);
        i->d = axis == 1 ? 53 : 50;
        i->a = axis == 1 ? 54 : 53;
        i->xkind = ISA_X_IMM;
        i->x = block[axis];
        i->c = i->d;
    }
    two(g, ISA_V_MUL_U32, 30, 50, ISA_X_IMM, SLOT);
    for (unsigned scale = 1; scale <= ISA_ASCALE_16; scale++)
        two(g, ISA_V_MUL_U32, SCALED + scale, 50, ISA_X_IMM, SLOT >> scale);
    i = emit(g, ISA_V_MADWIDE_U32); /* v24:25 = tid * SLOT + base. The base is an operand C */
    two(g, ISA_V_MOV_B64, 24, 0, ISA_X_CONST, 0);
    g->code[g->count - 2] = g->code[g->count - 1];
    isa_insn_init(&g->code[g->count - 1], ISA_V_MADWIDE_U32);
    i = &g->code[g->count - 1];
    i->d = i->c = 24;
    i->a = 50;
    i->xkind = ISA_X_IMM;
    i->x = SLOT;
    two(g, ISA_V_MUL_U32, 26, 50, ISA_X_IMM, SHARED_SLOT);
    if (g->apart) { /* v27 = an offset in local memory that differs between lanes */
        two(g, ISA_V_AND_B32, 27, 50, ISA_X_IMM, 1);
        two(g, ISA_V_MUL_U32, 27, 27, ISA_X_IMM, LOCAL / 2);
    } else {
        two(g, ISA_V_MOV_B32, 27, 0, ISA_X_IMM, 0);
    }
    two(g, ISA_V_ADD_U32, 28, 26, ISA_X_IMM, 0);
    two(g, ISA_V_MOV_B32, 29, 0, ISA_X_IMM, (uint32_t)(ISA_SHARED_BASE >> 32));
    two(g, ISA_V_MOV_B64, 32, 0, ISA_X_CONST, 0); /* v32:33 = out */
    i = emit(g, ISA_V_MADWIDE_U32);
    i->d = i->c = 32;
    i->a = 50;
    i->xkind = ISA_X_IMM;
    i->x = OUT;
    two(g, ISA_V_ADD_U64, 32, 32, ISA_X_IMM, threads * SLOT);
    /* v36:37 is a shared address for odd threads and a global address for even threads */
    two(g, ISA_V_AND_B32, 51, 50, ISA_X_IMM, 1);
    i = emit(g, ISA_V_SETP_U32);
    isa_mod_set(i, ISA_MOD_CMP, ISA_CMP_EQ);
    isa_insn_set_p(i, 0);
    isa_insn_set_q(i, ISA_PT);
    i->a = 51;
    i->xkind = ISA_X_IMM;
    i = emit(g, ISA_V_SELP_B64);
    i->d = 36;
    i->a = 24;
    i->xkind = ISA_X_VECTOR;
    i->x = 28;
    isa_insn_set_r(i, 0, false);
    for (unsigned k = 0; k < 4; k++) {
        i = emit(g, ISA_LD_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_V4B32);
        i->d = (uint8_t)(4 * k);
        i->a = 24;
        i->x = 16 * k << 8;
    }
    for (unsigned r = 0; r < 4; r++)
        two(g, ISA_V_MOV_B32, LINEAR + r, 0, r % 2 ? ISA_X_IMM : ISA_X_VECTOR, 50);
    for (unsigned r = 0; r < 3; r++)
        two(g, ISA_V_MOV_B64, WIDE + 2 * r, 0, r % 2 ? ISA_X_IMM : ISA_X_VECTOR, 24);
    /* some registers start with equal values in all lanes, some with values linear in the thread's indices */
    for (unsigned r = 0; r < DATA_REGS; r++) {
        uint32_t value = prop_below(&g->r, 2) ? prop_below(&g->r, 40) : interesting(&g->r);
        unsigned kind = prop_below(&g->r, 3);
        if (kind == 1) {
            two(g, ISA_V_MOV_B32, r, 0, ISA_X_IMM, value);
        } else if (kind == 2) {
            i = emit(g, ISA_V_S2R);
            i->d = (uint8_t)r;
            i->x = ISA_SR_TID_X + prop_below(&g->r, 2);
            two(g, ISA_V_MUL_U32, r, r, ISA_X_IMM, 1 + prop_below(&g->r, 9));
            two(g, ISA_V_ADD_U32, r, r, ISA_X_IMM, value);
        }
    }
}

static void epilogue(struct gen *g)
{
    struct isa_insn *i = emit(g, ISA_V_P2R);

    i->d = 52;
    for (unsigned r = 0; r <= DATA_REGS; r++) {
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        i->a = 32;
        i->x = (r == DATA_REGS ? 52 : r) | 4 * r << 8;
    }
    /* store s0..s5, then s6 ^ s7 with the scalar predicates in the upper bits */
    two(g, ISA_S_XOR_B32, 6, 6, ISA_X_SCALAR, 7);
    emit(g, ISA_S_SP2R)->d = 7;
    two(g, ISA_S_MUL_U32, 7, 7, ISA_X_IMM, 0x02000001);
    two(g, ISA_S_XOR_B32, 6, 6, ISA_X_SCALAR, 7);
    for (unsigned s = 0; s <= 6; s++) {
        two(g, ISA_V_MOV_B32, 53, 0, ISA_X_SCALAR, s);
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        i->a = 32;
        i->x = 53 | 4 * (DATA_REGS + 1 + s) << 8;
    }
    emit(g, ISA_EXIT);
}

/* ---- comparing ------------------------------------------------------------------------------- */

enum { NATIVE_CODE = 500 }; /* LLVM takes seconds for larger programs */
static struct emu_native *native; /* native code that run_emulator() uses, or NULL */
static struct setup_counts counts; /* results of the last run_emulator() */
static unsigned compiled, cached; /* kernels whose native code was compiled, and came from the cache */
static uint64_t executed;         /* instructions that native code executed */

static bool no_event(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer;
    assert_true(ev->effective == (ev->split_lanes & ev->exec & ev->guard));
    return false;
}

static void run_emulator(struct isa_object *object, unsigned width, const struct setup *setup,
                         const uint32_t block[3],
                         const uint8_t *before, uint8_t *after, size_t bytes,
                         const uint8_t *params_in, uint64_t *base, char *why, size_t why_size)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct lw_error err = {0};
    struct emu_observer observer = {.on_event = no_event};
    uint8_t params[PARAMS];

    why[0] = '\0';
    emu_config_default(&config);
    config.warp_width = width;
    setup_apply(setup, &config);
    config.arena_bytes = 1 << 24;
    config.resident_warps = 64;
    config.hang_window = 1 << 18; /* a program that shrink() has changed may have an endless loop */
    if (emu_machine_create(&config, &machine, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (emu_alloc(machine, bytes, "data", 0, base, &err) != LW_OK ||
        emu_global_write(machine, *base, before, bytes, &err) != LW_OK ||
        emu_program_load(machine, object, &program, &err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, &err) != LW_OK)
        fail_msg("%s", err.text);
    memcpy(params, params_in, sizeof params);
    memcpy(params, base, 8);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {1, 1, 1},
                                .block = {block[0], block[1], block[2]}, .work_dim = 1,
                                .params = params};
    emu_machine_set_native(machine, native);
    if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (setup->watched)
        emu_observer_add(engine, &observer);
    if (engine->ops->run(engine, &stop, &err) != LW_OK)
        snprintf(why, why_size, "error: %s", err.text);
    else if (stop.kind == EMU_STOP_FAULT)
        snprintf(why, why_size, "fault %s: %s, pc 0x%" PRIx64, emu_fault_name(stop.fault.kind),
                 stop.fault.detail, stop.fault.pc);
    else if (stop.kind != EMU_STOP_IDLE)
        snprintf(why, why_size, "stop %d: %.200s", stop.kind, stop.hang.detail);
    else if (emu_global_read(machine, *base, after, bytes, &err) != LW_OK)
        snprintf(why, why_size, "%s", err.text);
    counts = setup_counts_get(machine);
    executed += emu_machine_native_instructions(machine);
    if (counts.stats.tags.mismatches != 0)
        snprintf(why, why_size, "%" PRIu64 " registers differ from their tags",
                 counts.stats.tags.mismatches);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
}

/** A program with its launch, and the results of the reference. */
struct trial {
    struct gen *g;
    struct isa_object object;
    struct isa_function kernel;
    unsigned width, threads;
    uint32_t block[3];
    size_t bytes;
    uint8_t *before, *after, *want, *params;
    uint64_t wanted_at; /* `want` is valid for a buffer at this address; 0: `want` is not valid */
    char why[700];
};

static void encode_trial(struct trial *t)
{
    struct lw_error err = {0};

    t->wanted_at = 0;

    for (uint32_t i = 0; i < t->g->count; i++)
        if (isa_insn_encode(&t->g->code[i], &t->object.text[i], &err) != LW_OK)
            fail_msg("instruction %u: %s", i, err.text);
}

/** Run each lane on the reference. If the reference stops with an error, return false and set *@why to the reason. */
static bool run_reference(struct trial *t, uint64_t base, const char **why)
{
    uint32_t scalars[128] = {0}, grid[3] = {1, 1, 1};
    size_t shared_bytes = (size_t)t->threads * SHARED_SLOT;
    uint8_t *shared = calloc(1, shared_bytes);
    struct isa_insn *code = malloc(t->g->count * sizeof *code);
    bool ends = true;

    assert_true(shared != NULL && code != NULL);
    memcpy(code, t->g->code, t->g->count * sizeof *code);
    for (uint32_t i = 0; i < t->g->count; i++) /* threads share nothing, so barriers have no effect on the results */
        if (code[i].op == ISA_BAR_SYNC)
            isa_insn_init(&code[i], ISA_NOP);
    memcpy(t->params, &base, 8);
    for (unsigned s = 0; s < 8; s++)
        scalars[s] = t->g->code[s].x;
    scalars[ISA_S_EXEC] = scalars[ISA_S_EXEC + 1] = UINT32_MAX;
    memcpy(&scalars[8], &base, 8);
    memcpy(t->want, t->before, t->bytes);
    for (unsigned n = 0; n < t->threads && ends; n++) {
        uint8_t local[LOCAL] = {0};
        struct ref_lane lane = {.bank0 = t->params,
                                .tid = {n % t->block[0], n / t->block[0] % t->block[1],
                                        n / t->block[0] / t->block[1]},
                                .lane = n % t->width, .width = t->width, .block = t->block,
                                .grid = grid, .shared = shared, .shared_bytes = shared_bytes,
                                .local = local, .local_bytes = LOCAL, .global = t->want,
                                .global_bytes = t->bytes, .global_base = base, .pc = 9};
        memcpy(lane.s, scalars, sizeof scalars);
        ends = ref_run(&lane, code, t->g->count, 1u << 22, why);
    }
    free(shared);
    free(code);
    return ends;
}

/** Run the program in the interpreter. Return true if counts and final state equal those of the run with native code. */
static bool same_counts(struct trial *t, const struct setup *setup)
{
    const struct setup_counts with = counts;
    struct emu_native *const kept = native;
    uint64_t base;

    native = NULL;
    run_emulator(&t->object, t->width, setup, t->block, t->before, t->after, t->bytes,
                 t->params, &base, t->why, sizeof t->why);
    native = kept;
    return t->why[0] == '\0' && setup_counts_agree(&with, &counts, t->why, sizeof t->why);
}

/** Run the program on the emulator with one configuration and compare the results with those of the reference. If the
 *  reference stops with an error, set *@stops to the reason. */
static bool agrees(struct trial *t, const struct setup *setup, const char **stops)
{
    uint64_t base;

    run_emulator(&t->object, t->width, setup, t->block, t->before, t->after, t->bytes,
                 t->params, &base, t->why, sizeof t->why);
    *stops = NULL;
    if (t->wanted_at != base) { /* the expected results do not depend on the configuration, so compute them once */
        if (!run_reference(t, base, stops))
            return false;
        t->wanted_at = base;
    }
    return t->why[0] == '\0' && memcmp(t->after, t->want, t->bytes) == 0 && (native == NULL || same_counts(t, setup));
}

/** Replace by nop each instruction that is not needed to reproduce the difference. */
static void shrink(struct trial *t, const struct setup *setup)
{
    const char *stops;

    for (uint32_t i = 9; i < t->g->count; i++) {
        struct isa_insn kept = t->g->code[i];
        unsigned flags = isa_op_info((enum isa_op)kept.op)->flags;
        /* comparisons and counters of loops are not replaced, so that programs end */
        bool counts = (kept.op == ISA_V_SETP_S32 && isa_insn_p(&kept) == 6) ||
                      (kept.d > 40 && kept.d < 44 &&
                       (kept.op == ISA_V_SUB_U32 || kept.op == ISA_V_AND_B32 ||
                        kept.op == ISA_V_MOV_B32));
        bool exec = flags & ISA_F_SCALAR && kept.d >= ISA_S_EXEC && kept.d != ISA_SZ;
        if (flags & ISA_F_CONTROL || kept.op == ISA_NOP || i < 40 || counts || exec)
            continue;
        isa_insn_init(&t->g->code[i], ISA_NOP);
        encode_trial(t);
        if (agrees(t, setup, &stops) || stops != NULL)
            t->g->code[i] = kept;
    }
    encode_trial(t);
    (void)agrees(t, setup, &stops);
}

static void show(const struct trial *t)
{
    struct lw_file_sink sink;
    unsigned shown = 0;

    lw_file_sink_init(&sink, stdout);
    for (uint32_t i = 0; i < t->g->count; i++) {
        if (t->g->code[i].op == ISA_NOP)
            continue;
        lw_printf(&sink.sink, "%4u  ", i);
        isa_insn_print(&t->g->code[i], ISA_CODE_BASE + 16 * (uint64_t)i, NULL, NULL, &sink.sink);
        lw_printf(&sink.sink, "\n");
    }
    for (size_t i = 0; i < t->bytes && t->why[0] == '\0' && shown < 12; i += 4) {
        uint32_t a = lw_get32(t->after + i), b = lw_get32(t->want + i);
        size_t out = i - (size_t)t->threads * SLOT;
        if (a == b)
            continue;
        shown++;
        if (i < (size_t)t->threads * SLOT)
            printf("thread %zu slot word %zu", i / SLOT, i % SLOT / 4);
        else
            printf("thread %zu v%zu", out / OUT, out % OUT / 4);
        printf(": emulator %08x, reference %08x\n", a, b);
    }
}

/** Remove what native code does not support from the program: atomics, memory orders, and writes of exec. */
static void for_native(struct gen *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct isa_insn *insn = &g->code[i];
        const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
        const bool exec = info->flags & ISA_F_SCALAR && !(info->flags & ISA_F_BRANCH) && insn->d >= ISA_S_EXEC - 1 && insn->d != ISA_SZ;
        if (info->flags & ISA_F_ATOMIC || exec)
            isa_insn_init(insn, ISA_NOP);
        else if (isa_mod_applies(ISA_MOD_MORDER, info))
            isa_mod_set(insn, ISA_MOD_MORDER, ISA_MORDER_WEAK);
    }
}

static void one_program(uint64_t seed)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64}, levels[] = {1, 3, 4};
    struct trial t = {.g = calloc(1, sizeof *t.g)};
    struct gen *g = t.g;

    assert_non_null(g);
    g->r.state = seed;
    g->at.state = ~seed; /* a separate generator for barriers, so that programs with and without barriers are otherwise equal */
    g->apart = seed % 5 < 2;
    g->bars = getenv("LW_NATIVE") != NULL && seed % 3 != 1;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++)
        if (plain_alu((enum isa_op)op))
            g->alu[g->alu_count++] = (enum isa_op)op;
        else if (scalar_alu((enum isa_op)op))
            g->scalar[g->scalar_count++] = (enum isa_op)op;
    t.width = widths[prop_below(&g->r, 5)];
    if (prop_below(&g->r, 2)) {
        t.block[0] = 1 + prop_below(&g->r, 3 * t.width);
        t.block[1] = t.block[2] = 1;
    } else { /* block widths are often powers of two, for which the thread rows of a block end inside or at the end of a warp */
        t.block[0] = prop_below(&g->r, 3) ? 1u << prop_below(&g->r, 6)
                                          : 1 + prop_below(&g->r, 12);
        t.block[1] = 1 + prop_below(&g->r, 5);
        t.block[2] = 1 + prop_below(&g->r, 2);
    }
    t.threads = t.block[0] * t.block[1] * t.block[2];
    prologue(g, t.threads, t.block);
    for (unsigned k = 0; k < 4; k++)
        sequence(g, TOP);
    epilogue(g);
    if (getenv("LW_NATIVE") != NULL)
        for_native(g);

    lw_arena_init(&t.object.arena);
    t.object.text = lw_arena_alloc(&t.object.arena, g->count * sizeof *t.object.text);
    t.object.text_count = g->count;
    encode_trial(&t);
    t.kernel.name = "random";
    t.kernel.count = g->count;
    t.kernel.kernel = true;
    t.kernel.param_bytes = PARAMS;
    t.kernel.shared_bytes = t.threads * SHARED_SLOT;
    t.kernel.local_bytes = LOCAL;
    t.object.functions = &t.kernel;
    t.object.function_count = 1;
    t.bytes = (size_t)t.threads * (SLOT + OUT);
    t.before = calloc(1, t.bytes);
    t.after = malloc(t.bytes);
    t.want = malloc(t.bytes);
    t.params = calloc(1, ISA_CONST_BANK_BYTES + 8);
    assert_true(t.before && t.after && t.want && t.params);
    for (size_t i = 0; i < (size_t)t.threads * SLOT; i += 4)
        lw_put32(t.before + i, interesting(&g->r));
    for (size_t i = 8; i < PARAMS; i += 4)
        lw_put32(t.params + i, interesting(&g->r));

    for (unsigned k = 0; k < (getenv("LW_NATIVE") != NULL ? 0 : 8); k++) {
        struct setup setup = setup_random(&g->r, levels[k % 3], k >= 4);
        const char *stops;
        char how[400];
        if (!setup_have_level(setup.level))
            setup.level = 1;
        if (agrees(&t, &setup, &stops))
            continue;
        if (stops != NULL)
            fail_msg("LW_SEED=%" PRIu64 ": the reference stops: %s", seed, stops);
        shrink(&t, &setup);
        show(&t);
        setup_print(&setup, how, sizeof how);
        fail_msg("LW_SEED=%" PRIu64 ": W %u, block [%u, %u, %u], %s: %s", seed, t.width, t.block[0],
                 t.block[1], t.block[2], how, t.why[0] ? t.why : "results differ");
    }
    if (getenv("LW_NATIVE") != NULL && g->count <= NATIVE_CODE) { /* tests/native/prop_native.sh sets this variable */
        struct setup setup = setup_native(&g->r);
        char how[400];
        struct lw_error err = {0};
        const char *stops;
        if (nat_create(NAT_NATIVE, &native, &err) != LW_OK)
            fail_msg("%s", err.text);
        native->masked_after = 0;
        nat_set_cached(native, getenv("LW_NATIVE_CACHE") != NULL);
        if (seed & 1) /* compile as if the kernel were large, or as if it were small */
            nat_set_most_leave_cost(native, 0);
        else if (g->count <= 250)
            nat_set_most_leave_cost(native, UINT64_MAX);
        const bool good = agrees(&t, &setup, &stops);
        struct nat_stats stats;
        nat_get_stats(native, &stats);
        compiled += stats.kernels;
        cached += stats.cached;
        if (!good && stops == NULL) {
            shrink(&t, &setup);
            show(&t);
            setup_print(&setup, how, sizeof how);
            fail_msg("LW_SEED=%" PRIu64 ": W %u, block [%u, %u, %u], native code, %s: %s", seed, t.width, t.block[0],
                     t.block[1], t.block[2], how, t.why[0] ? t.why : "results differ");
        }
        nat_destroy(native);
        native = NULL;
    }
    free(t.before);
    free(t.after);
    free(t.want);
    free(t.params);
    lw_arena_fini(&t.object.arena);
    free(g);
}

/* Random programs contain only instructions that the reference implements. Check that the others are those listed here. */
static void the_reference_knows_every_row_but_these(void **state)
{
    /* approximate functions, which tests/emu/exec/test_math.c tests, and instructions that read the machine's state */
    static const char *const others[] = {"v_ex2_", "v_lg2_", "v_sin_", "v_cos_", "v_tanh_", "v_rsq_f16", "v_s2r", "s_s2r", "v_writelane"};

    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        struct isa_insn insn;
        bool known;

        if (info->flags & (ISA_F_CONTROL | ISA_F_MEMORY | ISA_F_CROSS))
            continue;
        isa_insn_init(&insn, (enum isa_op)op);
        known = ref_knows(&insn);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            known = known || strncmp(info->mnemonic, others[i], strlen(others[i])) == 0;
        if (!known)
            fail_msg("tests/model/ref_lane.c does not implement %s: random programs do not contain it", info->mnemonic);
    }
}

static void random_programs_give_what_single_lanes_give(void **state)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(5000, seed);

    (void)state;
    for (unsigned long i = 0; i < count; i++) {
        one_program(seed + i);
        prop_campaign_ran(count);
    }
    if (getenv("LW_NATIVE") != NULL) {
        printf("native code: %u kernels, %u from the cache, %" PRIu64 " warp instructions\n", compiled + cached, cached, executed);
        assert_true(count < 10 || (compiled + cached != 0 && executed != 0)); /* ten programs include some that native code executes */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_knows_every_row_but_these),
        cmocka_unit_test_setup_teardown(random_programs_give_what_single_lanes_give, prop_campaign_begin, prop_campaign_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
