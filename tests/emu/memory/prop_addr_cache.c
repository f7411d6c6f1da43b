/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the address cache with random loops of loads through the same address registers. In many of them both halves of
 * 16 lanes have equal or consecutive addresses, as in blocks that are 16 threads wide. Loads of one basic block, and of
 * a loop of one basic block, share the address check of the first load. Between the loads registers, scalar bases and
 * exec change, branches and exits leave the basic block, and some accesses leave the allocation or are misaligned. The
 * reference (ref_lane.c) executes single lanes. If a lane faults there, the fast path must report the same fault as the
 * watched path, which checks each access by itself.
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
#include "tests/emu/exec/prop_exec_gen.h"

enum {
    WIDTH = 32, WORDS = 3 * 1024 + 9, MIDDLE = 1536, /* WORDS: words of global data, which do not fill whole pages */
    SHARED_WORDS = 1024, SHARED_MIDDLE = 512,
    OFFSETS = 3,         /* v0..v2 hold offsets of lanes */
    CACHED = 30,           /* v30.. hold the values that v0..v2 have at the start of each iteration */
    PAIR = 8, LOW = 10,  /* v8:9 holds global addresses, v10:11 shared ones */
    SUMS = 16, SUM_COUNT = 4, LOADED = 24, ADDED = 25,
    X = 50, Y = 51, OUT_AT = 46, SHARED_AT = 60,
    BASE = 8, COUNTER = 12, OUT_BYTES = 4 * (SUM_COUNT + OFFSETS)
};
enum how { INDEX, BYTES, IN_SHARED }; /* the ways in which an access uses a register of offsets */

struct made {
    struct gen g;
    enum how how[OFFSETS];
    bool is_signed;
    uint32_t from; /* index of the instruction at which the reference starts, after the initialisation of shared memory */
};

static struct isa_insn *load(struct gen *g, enum isa_op op, unsigned mode, unsigned a, int32_t disp)
{
    struct isa_insn *i = emit(g, op);

    isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
    isa_mod_set(i, ISA_MOD_AMODE, mode);
    i->a = (uint8_t)a;
    i->d = LOADED;
    i->x = (uint32_t)disp << 8;
    return i;
}

static void scalar_two(struct gen *g, enum isa_op op, unsigned d, unsigned a, uint32_t x)
{
    two(g, op, d, a, ISA_X_IMM, x);
}

static int32_t displacement(struct gen *g)
{
    unsigned kind = prop_below(&g->r, 600);

    if (kind == 0)
        return (int32_t)prop_below(&g->r, 64) - 32; /* the displacement is mostly no multiple of 4 */
    if (kind < 20)
        return 4 * ((int32_t)prop_below(&g->r, 1024) - 512);
    return 4 * ((int32_t)prop_below(&g->r, 32) - 16);
}

/** Emit an access through @r: a register of offsets, or OFFSETS for the pair of global addresses, or OFFSETS + 1 for the
 *  pair of shared addresses. */
static void load_by(struct made *t, unsigned r)
{
    struct gen *g = &t->g;
    unsigned into;
    const int32_t disp = displacement(g);
    struct isa_insn *i;

    if (r == OFFSETS) {
        i = load(g, ISA_LD_GLOBAL, ISA_AMODE_PAIR, PAIR, disp);
    } else if (r > OFFSETS) {
        i = load(g, ISA_LD_SHARED, prop_below(&g->r, 8) ? ISA_AMODE_PAIR : ISA_AMODE_32, LOW, disp);
    } else if (t->how[r] == IN_SHARED) {
        i = load(g, ISA_LD_SHARED, ISA_AMODE_32, r, disp);
    } else {
        i = load(g, ISA_LD_GLOBAL, t->is_signed ? ISA_AMODE_SS32 : ISA_AMODE_SU32, r, disp);
        i->c = (uint8_t)(prop_below(&g->r, 8) ? BASE : BASE + 2);
        if (t->how[r] == INDEX)
            isa_mod_set(i, ISA_MOD_ASCALE, 2);
    }
    if (prop_below(&g->r, 25) == 0) {
        i->guard = (uint8_t)prop_below(&g->r, 2);
        i->guard_neg = prop_below(&g->r, 2);
    }
    into = SUMS + prop_below(&g->r, SUM_COUNT);
    if (r < OFFSETS && prop_below(&g->r, 12) == 0) { /* the loaded value becomes the offset of later accesses */
        i->d = (uint8_t)r;
        two(g, ISA_V_AND_B32, r, r, ISA_X_IMM, 0x3c);
        return;
    }
    two(g, ISA_V_MUL_U32, into, into, ISA_X_IMM, 3);
    two(g, ISA_V_XOR_B32, into, into, ISA_X_VECTOR, LOADED);
}

static void one_load(struct made *t)
{
    struct prop_random *random = &t->g.r;

    load_by(t, prop_below(random, 2) ? 0 : prop_below(random, OFFSETS + 2));
}

static uint32_t little(struct gen *g, enum how how)
{
    const uint32_t by = prop_below(&g->r, 24) - 8;

    return prop_below(&g->r, 200) == 0 ? by : how == INDEX ? by : 4 * by;
}

/** Return a random register of offsets that is used in the same way as @r, perhaps @r itself. */
static unsigned fellow(const struct made *t, struct prop_random *random, unsigned r)
{
    unsigned other = prop_below(random, OFFSETS);

    return t->how[other] == t->how[r] ? other : r;
}

/** Guard the last instruction by sp1, so that it executes only in the last iterations. */
static void in_last_rounds(struct gen *g)
{
    g->code[g->count - 1].guard_scalar = true;
    g->code[g->count - 1].guard = 1;
}

static void change(struct made *t)
{
    struct gen *g = &t->g;
    const unsigned r = prop_below(&g->r, 2) ? 0 : prop_below(&g->r, OFFSETS), other = fellow(t, &g->r, r);
    const unsigned kind = prop_below(&g->r, 16);
    struct isa_insn *i;
    uint32_t at;

    switch (kind) {
    case 0: case 1: case 2: case 3:
        two(g, prop_below(&g->r, 3) ? ISA_V_ADD_U32 : ISA_V_SUB_U32, r, other, ISA_X_IMM,
            little(g, t->how[r]));
        break;
    case 4: /* change the register in only some lanes */
        load_by(t, other);
        two(g, ISA_V_ADD_U32, r, other, ISA_X_IMM, little(g, t->how[r]));
        g->code[g->count - 1].guard = (uint8_t)prop_below(&g->r, 2);
        load_by(t, r);
        return;
    case 5:
        two(g, ISA_V_MOV_B32, r, 0, ISA_X_VECTOR, other);
        break;
    case 6: /* a sum of two vector registers */
        two(g, ISA_V_MOV_B32, ADDED, 0, ISA_X_IMM, 0);
        two(g, ISA_V_AND_B32, ADDED, X, ISA_X_IMM, 4);
        in_last_rounds(g);
        load_by(t, other);
        two(g, ISA_V_ADD_U32, r, other, ISA_X_VECTOR, ADDED);
        load_by(t, r);
        return;
    case 7:
        two(g, ISA_V_ADD_U64, PAIR, PAIR, ISA_X_IMM, 4 * (prop_below(&g->r, 8) - 4));
        break;
    case 8:
        two(g, ISA_V_ADD_U32, LOW, LOW, ISA_X_IMM, 4 * (prop_below(&g->r, 8) - 4));
        break;
    case 9: /* change the base, so that later accesses read other data */
        scalar_two(g, ISA_S_ADD_U64, BASE, BASE, 4 * (prop_below(&g->r, 8) - 4));
        break;
    case 10: /* change exec for some instructions */
        scalar_two(g, ISA_S_MOV_B64, ISA_S_EXEC, 0,
                   prop_below(&g->r, 4) ? (uint32_t)prop_next(&g->r) : 0x0000ffff);
        if (prop_below(&g->r, 2))
            in_last_rounds(g);
        for (unsigned n = prop_below(&g->r, 3); n-- > 0;) {
            one_load(t);
            two(g, ISA_V_ADD_U32, r, other, ISA_X_IMM, little(g, t->how[r]));
        }
        scalar_two(g, ISA_S_MOV_B64, ISA_S_EXEC, 0, UINT32_MAX);
        break;
    case 11: /* a branch over an instruction, taken in some iterations */
        at = g->count;
        i = emit(g, ISA_S_BRA);
        i->guard_scalar = true;
        i->guard = 1;
        i->guard_neg = prop_below(&g->r, 2);
        one_load(t);
        two(g, ISA_V_ADD_U32, r, other, ISA_X_IMM, little(g, t->how[r]));
        g->code[at].x = g->count - at - 1;
        break;
    case 12: /* sometimes lanes exit */
        if (prop_below(&g->r, 30) == 0)
            emit(g, ISA_EXIT)->guard = (uint8_t)prop_below(&g->r, 2);
        break;
    case 13: /* change the distance between the addresses of neighbouring lanes */
        i = emit(g, ISA_V_MAD_U32);
        i->d = (uint8_t)r;
        i->a = X;
        i->c = (uint8_t)other;
        i->xkind = ISA_X_IMM;
        i->x = little(g, t->how[r]);
        break;
    default:
        two(g, ISA_V_XOR_B32, SUMS, SUMS, ISA_X_VECTOR, r);
        break;
    }
    if ((kind < 7 || kind == 13) && g->code[g->count - 1].guard == ISA_PT && prop_below(&g->r, 2))
        in_last_rounds(g);
}

/** Emit code that fills a register of offsets. The offset depends on the thread row; inside a thread row elements are mostly
 *  consecutive. */
static void offsets(struct made *t, unsigned r)
{
    struct gen *g = &t->g;
    const uint32_t unit = t->how[r] == INDEX ? 1 : 4;
    struct isa_insn *i;

    two(g, ISA_V_MUL_U32, r, Y, ISA_X_IMM, prop_below(&g->r, 4) ? unit * prop_below(&g->r, 40) : 0);
    if (prop_below(&g->r, 2)) {
        i = emit(g, ISA_V_MAD_U32);
        i->d = i->c = (uint8_t)r;
        i->a = X;
        i->xkind = ISA_X_IMM;
        i->x = prop_below(&g->r, 8) ? unit : unit * prop_below(&g->r, 4);
    }
    if (t->how[r] == IN_SHARED)
        two(g, ISA_V_ADD_U32, r, r, ISA_X_IMM, 4 * SHARED_MIDDLE);
}

static void make(struct made *t, const uint32_t block[3])
{
    struct gen *g = &t->g;
    uint32_t head;
    struct isa_insn *i;

    two(g, ISA_V_MOV_B32, SHARED_AT, 0, ISA_X_IMM, 0);
    for (unsigned k = 0; k < 2; k++) { /* compute the linear thread id in v61 */
        i = emit(g, ISA_V_S2R);
        i->d = (uint8_t)(k == 0 ? SHARED_AT + 1 : SHARED_AT + 2);
        i->x = k == 0 ? ISA_SR_TID_Y : ISA_SR_TID_X;
    }
    i = emit(g, ISA_V_MAD_U32);
    i->d = SHARED_AT + 1;
    i->a = SHARED_AT + 1;
    i->c = SHARED_AT + 2;
    i->xkind = ISA_X_IMM;
    i->x = block[0];
    two(g, ISA_V_SHL_B32, SHARED_AT, SHARED_AT + 1, ISA_X_IMM, 2);
    two(g, ISA_V_MUL_U32, SHARED_AT + 1, SHARED_AT + 1, ISA_X_IMM, 977);
    for (unsigned k = 0; k < SHARED_WORDS; k += WIDTH) { /* the first 32 threads initialise shared memory */
        i = emit(g, ISA_ST_SHARED);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_32);
        i->a = SHARED_AT;
        i->x = (SHARED_AT + 1) | 4 * k << 8;
        two(g, ISA_V_ADD_U32, SHARED_AT + 1, SHARED_AT + 1, ISA_X_IMM, 31337);
    }
    t->from = g->count;
    t->is_signed = prop_below(&g->r, 3) != 0;
    two(g, ISA_S_MOV_B64, BASE, 0, ISA_X_CONST, 0);
    scalar_two(g, ISA_S_ADD_U64, BASE, BASE, 4 * MIDDLE);
    scalar_two(g, ISA_S_ADD_U64, BASE + 2, BASE, 4 * 64);
    scalar_two(g, ISA_S_MOV_B32, COUNTER, 0, 5 + prop_below(&g->r, 8));
    for (unsigned k = 0; k < 2; k++) {
        i = emit(g, ISA_V_S2R);
        i->d = k == 0 ? X : Y;
        i->x = k == 0 ? ISA_SR_TID_X : ISA_SR_TID_Y;
    }
    i = emit(g, ISA_V_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
    isa_insn_set_p(i, 0);
    isa_insn_set_q(i, ISA_PT);
    i->a = X;
    i->xkind = ISA_X_IMM;
    i->x = prop_below(&g->r, 18);
    for (unsigned r = 0; r < OFFSETS; r++) {
        t->how[r] = r != 0 ? t->how[0] : prop_below(&g->r, 2) ? INDEX : (enum how)prop_below(&g->r, 3);
        offsets(t, r);
    }
    for (unsigned k = 0; k < 2; k++) { /* a register pair of addresses; the high word of a shared address is 0 */
        const unsigned d = k == 0 ? PAIR : LOW;
        if (k == 0)
            two(g, ISA_V_MOV_B64, d, 0, ISA_X_SCALAR, BASE);
        else
            two(g, ISA_V_MOV_B64, d, 0, ISA_X_IMM, 4 * SHARED_MIDDLE);
        for (unsigned axis = 0; axis < 2; axis++) {
            i = emit(g, ISA_V_MADWIDE_U32);
            i->d = i->c = (uint8_t)d;
            i->a = axis == 0 ? X : Y;
            i->xkind = ISA_X_IMM;
            i->x = axis == 0 ? 4 * prop_below(&g->r, 2) : 4 * prop_below(&g->r, 40);
        }
    }
    two(g, ISA_V_MOV_B64, OUT_AT, 0, ISA_X_CONST, 0);
    two(g, ISA_V_ADD_U64, OUT_AT, OUT_AT, ISA_X_CONST, 8);
    i = emit(g, ISA_V_MAD_U32);
    i->d = OUT_AT + 2;
    i->a = Y;
    i->c = X;
    i->xkind = ISA_X_IMM;
    i->x = block[0];
    i = emit(g, ISA_V_MADWIDE_U32);
    i->d = i->c = OUT_AT;
    i->a = OUT_AT + 2;
    i->xkind = ISA_X_IMM;
    i->x = OUT_BYTES;
    for (unsigned r = 0; r < OFFSETS; r++)
        two(g, ISA_V_MOV_B32, CACHED + r, 0, ISA_X_VECTOR, r);
    two(g, ISA_V_MOV_B64, CACHED + PAIR, 0, ISA_X_VECTOR, PAIR);
    two(g, ISA_V_MOV_B64, CACHED + LOW, 0, ISA_X_VECTOR, LOW);
    head = g->count;
    /* offsets are reset in each iteration, or change from one iteration to the next */
    for (unsigned r = 0; r < OFFSETS; r++)
        if (prop_below(&g->r, 2))
            two(g, ISA_V_MOV_B32, r, 0, ISA_X_VECTOR, CACHED + r);
    if (prop_below(&g->r, 2))
        two(g, ISA_V_MOV_B64, PAIR, 0, ISA_X_VECTOR, CACHED + PAIR);
    if (prop_below(&g->r, 2))
        two(g, ISA_V_MOV_B64, LOW, 0, ISA_X_VECTOR, CACHED + LOW);
    scalar_two(g, ISA_S_MUL_U32, COUNTER + 1, COUNTER, 6); /* p1: false in all lanes, except in the last iterations */
    i = emit(g, ISA_V_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, ISA_CMP_GT);
    isa_insn_set_p(i, 1);
    isa_insn_set_q(i, ISA_PT);
    i->a = X;
    i->xkind = ISA_X_SCALAR;
    i->x = COUNTER + 1;
    for (unsigned n = 6 + prop_below(&g->r, 30); n-- > 0;)
        prop_below(&g->r, 4) ? one_load(t) : change(t);
    scalar_two(g, ISA_S_ADD_U32, COUNTER, COUNTER, UINT32_MAX);
    for (unsigned p = 0; p < 2; p++) { /* sp0: the loop continues; sp1: this is one of the last iterations */
        i = emit(g, ISA_S_SETP_S32);
        isa_mod_set(i, ISA_MOD_CMP, p == 0 ? ISA_CMP_GT : ISA_CMP_LT);
        isa_insn_set_p(i, p);
        isa_insn_set_r(i, ISA_PT, false);
        i->a = COUNTER;
        i->xkind = ISA_X_IMM;
        i->x = p == 0 ? 0 : 3;
    }
    i = emit(g, ISA_S_BRA);
    i->guard_scalar = true;
    i->guard = 0;
    i->x = head - g->count;
    for (unsigned k = 0; k < SUM_COUNT + OFFSETS; k++) {
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        i->a = OUT_AT;
        i->x = (k < SUM_COUNT ? SUMS + k : k - SUM_COUNT) | 4 * k << 8;
    }
    emit(g, ISA_EXIT);
}

struct outcome {
    bool faults;
    struct emu_fault fault;
    uint64_t base;
    char why[LW_ERROR_BYTES + 16];
};

static bool no_event(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer;
    (void)ev;
    return false;
}

static void run_emulator(struct isa_object *object, const struct setup *setup, const uint32_t block[3],
                         const uint8_t *before, uint8_t *after, size_t bytes, struct outcome *out)
{
    struct emu_observer observer = {.on_event = no_event};
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct lw_error err = {0};
    uint8_t params[16];

    memset(out, 0, sizeof *out);
    emu_config_default(&config);
    config.warp_width = WIDTH;
    setup_apply(setup, &config);
    config.arena_bytes = 1 << 22;
    if (emu_machine_create(&config, &machine, &err) != LW_OK ||
        emu_alloc(machine, bytes, "data", 0, &out->base, &err) != LW_OK ||
        emu_global_write(machine, out->base, before, bytes, &err) != LW_OK ||
        emu_program_load(machine, object, &program, &err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, &err) != LW_OK)
        fail_msg("%s", err.text);
    lw_put64(params, out->base);
    lw_put64(params + 8, 4 * WORDS);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {1, 1, 1}, .block = {block[0], block[1], block[2]},
                                .work_dim = 1, .params = params};
    if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (setup->watched)
        emu_observer_add(engine, &observer);
    if (engine->ops->run(engine, &stop, &err) != LW_OK) {
        snprintf(out->why, sizeof out->why, "error: %s", err.text);
    } else if (stop.kind == EMU_STOP_FAULT) {
        out->faults = true;
        out->fault = stop.fault;
    } else if (stop.kind != EMU_STOP_IDLE) {
        snprintf(out->why, sizeof out->why, "stop %d", stop.kind);
    }
    if (emu_global_read(machine, out->base, after, bytes, &err) != LW_OK)
        fail_msg("%s", err.text);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
}

/** Run single lanes on the reference, from the instruction at which shared memory has been initialised. No lane sees the
 *  final store of another lane. Return false if a lane faults. */
static bool run_reference(const struct made *t, const uint32_t block[3], uint64_t base,
                          const uint8_t *before, uint8_t *want, size_t bytes)
{
    static uint32_t grid[3] = {1, 1, 1};
    uint8_t *params = calloc(1, ISA_CONST_BANK_BYTES + 8), shared[4 * SHARED_WORDS];
    uint8_t *memory = malloc(bytes);
    const char *why = NULL;
    bool ends = true;

    assert_true(params && memory);
    lw_put64(params, base);
    lw_put64(params + 8, 4 * WORDS);
    memcpy(want, before, bytes);
    for (unsigned n = 0; n < block[0] * block[1] && ends; n++) {
        struct ref_lane lane = {.bank0 = params, .tid = {n % block[0], n / block[0], 0},
                                .lane = n % WIDTH, .width = WIDTH, .block = block, .grid = grid,
                                .shared = shared, .shared_bytes = sizeof shared, .global = memory,
                                .global_bytes = bytes, .global_base = base, .pc = t->from};
        for (unsigned k = 0; k < SHARED_WORDS; k++)
            lw_put32(shared + 4 * k, k % WIDTH * 977 + k / WIDTH * 31337);
        memcpy(memory, before, bytes);
        lane.s[ISA_S_EXEC] = lane.s[ISA_S_EXEC + 1] = UINT32_MAX;
        lane.sp[7] = true;
        ends = ref_run(&lane, t->g.code, t->g.count, 1u << 16, &why);
        if (!ends && lane.fault == NULL)
            fail_msg("the reference stops: %s", why);
        memcpy(want + 4 * WORDS + n * OUT_BYTES, memory + 4 * WORDS + n * OUT_BYTES, OUT_BYTES);
    }
    free(memory);
    free(params);
    return ends;
}

static bool same_fault(const struct emu_fault *a, const struct emu_fault *b)
{
    return a->kind == b->kind && a->lanes == b->lanes && a->pc == b->pc && a->address == b->address;
}

/** Run one program. Return whether a lane faults. */
static bool one_program(uint64_t seed)
{
    static const uint32_t blocks[][3] = {{16, 2, 1}, {16, 2, 1}, {32, 1, 1}, {8, 4, 1}, {16, 1, 1}};
    static const unsigned levels[] = {3, 4, 1};
    struct made *t = calloc(1, sizeof *t);
    struct isa_object object = {0};
    struct isa_function kernel = {0};
    struct lw_error err = {0};
    struct outcome watched, fast;
    struct prop_random *r;
    size_t bytes;

    assert_non_null(t);
    r = &t->g.r;
    r->state = seed;
    const uint32_t *block = blocks[prop_below(r, LW_COUNT_OF(blocks))];
    const unsigned threads = block[0] * block[1];
    make(t, block);
    bytes = 4 * WORDS + threads * OUT_BYTES;
    uint8_t *before = calloc(1, bytes), *after = malloc(bytes), *want = malloc(bytes);
    assert_true(before && after && want);
    for (size_t k = 0; k < WORDS; k++)
        lw_put32(before + 4 * k, (uint32_t)prop_next(r));
    lw_arena_init(&object.arena);
    object.text = lw_arena_alloc(&object.arena, t->g.count * sizeof *object.text);
    object.text_count = t->g.count;
    for (uint32_t k = 0; k < t->g.count; k++)
        if (isa_insn_encode(&t->g.code[k], &object.text[k], &err) != LW_OK)
            fail_msg("LW_SEED=%" PRIu64 ": instruction %u: %s", seed, k, err.text);
    kernel.name = "loads";
    kernel.count = t->g.count;
    kernel.kernel = true;
    kernel.param_bytes = 16;
    kernel.shared_bytes = 4 * SHARED_WORDS;
    object.functions = &kernel;
    object.function_count = 1;

    struct setup setup = setup_random(r, 1, true);
    setup.tags = EMU_TAGS_OFF;
    run_emulator(&object, &setup, block, before, after, bytes, &watched);
    /* the reference accepts misaligned accesses, and models shared memory only for the first 32 threads */
    if (threads == WIDTH && !(watched.faults && watched.fault.kind == EMU_FAULT_MISALIGNED)) {
        const bool ends = run_reference(t, block, watched.base, before, want, bytes);
        if (watched.why[0] != '\0' || ends == watched.faults ||
            (ends && memcmp(after, want, bytes) != 0))
            fail_msg("LW_SEED=%" PRIu64 ": the path with observers differs from single lanes: %s%s", seed,
                     watched.why, watched.faults ? watched.fault.detail : "");
    }
    memcpy(want, after, bytes);
    for (unsigned k = 0; k < LW_COUNT_OF(levels); k++) {
        setup = setup_random(r, levels[k], false);
        if (prop_below(r, 4))
            setup.tags = EMU_TAGS_OFF;
        if (!setup_have_level(setup.level))
            continue;
        run_emulator(&object, &setup, block, before, after, bytes, &fast);
        if (fast.why[0] != '\0' || fast.faults != watched.faults ||
            (fast.faults && !same_fault(&fast.fault, &watched.fault)) ||
            memcmp(after, want, bytes) != 0) {
            char how[400];
            setup_print(&setup, how, sizeof how);
            fail_msg("LW_SEED=%" PRIu64 ": block [%u, %u], %s: differs from the path with observers: %s",
                     seed, block[0], block[1], how, fast.why);
        }
    }
    free(before);
    free(after);
    free(want);
    lw_arena_fini(&object.arena);
    free(t);
    return watched.faults;
}

static void loads_that_share_a_check_give_what_each_alone_gives(void **state)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(150, seed), faults = 0;

    (void)state;
    for (unsigned long i = 0; i < count; i++)
        faults += one_program(seed + i);
    printf("%lu faulted\n", faults);
    assert_true(count < 50 || (faults > 0 && faults < count * 3 / 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_that_share_a_check_give_what_each_alone_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
