/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests property A2 with random kernels. The kernels compute addresses by every instruction that an address slice may contain,
 * and by some others, under guards, in branches and in loops. Each access of an accepted site must have the address
 * that the address slice of the site computes. Before the run, each slice of an accepted site is written to a file and
 * read again. LW_SEED repeats a kernel. LW_RANDOM_COUNT sets the number of kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/emu/exec/prop_exec_gen.h"
#include "tests/emu/predict/predict_watch.h"

enum { BYTES = 4096, COUNTER = 40, BASE = 60, DEEPEST = 3, LONGEST = 900 };

/** Patch instruction @from so that it jumps to the instruction that is written next. */
static void land(struct gen *g, uint32_t from)
{
    g->code[from].x = g->count - from - 1;
}

static struct isa_insn *set(struct gen *g, enum isa_op op, unsigned d, unsigned a, unsigned kind, uint32_t x)
{
    two(g, op, d, a, kind, x);
    return &g->code[g->count - 1];
}

static void access_memory(struct gen *g)
{
    bool store = prop_below(&g->r, 3) == 0;
    struct isa_insn *i;

    set(g, ISA_V_AND_B32, BASE + 2, prop_below(&g->r, DATA_REGS - 1), ISA_X_IMM, BYTES - 4);
    if (prop_below(&g->r, 3) == 0) { /* add the halves of the address by two additions with carry */
        i = set(g, ISA_V_ADDC_U32, BASE + 4, BASE, ISA_X_VECTOR, BASE + 2);
        isa_insn_set_r(i, ISA_PT, true);
        isa_insn_set_p(i, 5);
        i = set(g, ISA_V_ADDC_U32, BASE + 5, BASE + 1, ISA_X_IMM, 0);
        isa_insn_set_r(i, 5, false);
    } else {
        i = set(g, ISA_V_LEA_U32, BASE + 4, BASE + 2, ISA_X_IMM, 0);
        i->c = BASE;
    }
    i = emit(g, store ? ISA_ST_GLOBAL : ISA_LD_GLOBAL);
    isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
    isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_PAIR);
    i->a = BASE + 4;
    i->x = store ? 255 : 0;
    if (!store)
        i->d = prop_below(&g->r, 4) ? 30 : data_reg(g);
    if (prop_below(&g->r, 4) == 0)
        i->guard = (uint8_t)prop_below(&g->r, 7);
}

static void statements(struct gen *g, unsigned depth, unsigned count);

static void branch(struct gen *g, unsigned depth)
{
    uint32_t from = g->count, over;
    struct isa_insn *i = emit(g, ISA_BRA);

    i->guard = (uint8_t)prop_below(&g->r, 7);
    i->guard_neg = prop_below(&g->r, 2);
    statements(g, depth + 1, 1 + prop_below(&g->r, 4));
    if (prop_below(&g->r, 2)) {
        over = g->count;
        emit(g, ISA_BRA);
        land(g, from);
        statements(g, depth + 1, 1 + prop_below(&g->r, 4));
        land(g, over);
    } else {
        land(g, from);
    }
}

static void loop(struct gen *g, unsigned depth)
{
    unsigned counter = COUNTER + 2 * depth;
    uint32_t head, step = 1 + prop_below(&g->r, 3);
    struct isa_insn *i;

    set(g, ISA_V_MOV_B32, counter, 0, ISA_X_IMM, prop_below(&g->r, 4));
    set(g, ISA_V_AND_B32, counter + 1, data_reg(g), ISA_X_IMM, 7); /* the loop bound differs between threads */
    head = g->count;
    statements(g, depth + 1, 1 + prop_below(&g->r, 4));
    if (prop_below(&g->r, 2)) /* a second induction variable, or one variable in two registers */
        set(g, prop_below(&g->r, 2) ? ISA_V_ADD_U32 : ISA_V_SUB_U32, counter == COUNTER ? 24 : 25,
            counter == COUNTER ? 24 : 25, ISA_X_CONST, 8 + 4 * prop_below(&g->r, 40));
    if (prop_below(&g->r, 2))
        set(g, ISA_V_ADD_U64, 26, 26, ISA_X_CONST, 8 + 8 * prop_below(&g->r, 20));
    if (prop_below(&g->r, 2))
        set(g, ISA_V_MOV_B32, prop_below(&g->r, DATA_REGS - 1), 0, ISA_X_VECTOR, prop_below(&g->r, 2) ? counter : 24 + prop_below(&g->r, 4));
    set(g, ISA_V_ADD_U32, counter, counter, ISA_X_IMM, step);
    i = set(g, prop_below(&g->r, 2) ? ISA_V_SETP_U32 : ISA_V_SETP_S32, 0, counter, ISA_X_VECTOR, counter + 1);
    isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 2) ? ISA_CMP_LT : ISA_CMP_LE);
    isa_insn_set_p(i, 6);
    i = emit(g, ISA_BRA);
    i->guard = 6;
    i->x = head - g->count;
}

static void statements(struct gen *g, unsigned depth, unsigned count)
{
    for (unsigned k = 0; k < count && g->count < LONGEST; k++) {
        unsigned what = prop_below(&g->r, 20);

        if (what < 3)
            access_memory(g);
        else if (what < 5 && depth < DEEPEST)
            branch(g, depth);
        else if (what < 7 && depth < DEEPEST)
            loop(g, depth);
        else if (what == 7)
            set(g, ISA_V_MOV_B32, prop_below(&g->r, DATA_REGS - 1), 0, ISA_X_VECTOR, 24 + prop_below(&g->r, 4));
        else
            alu(g);
    }
}

static void write_kernel(struct gen *g)
{
    static const uint8_t special[] = { ISA_SR_TID_X, ISA_SR_TID_Y, ISA_SR_TID_Z, ISA_SR_CTAID_X, ISA_SR_CTAID_Y, ISA_SR_NTID_X,
                                       ISA_SR_NCTAID_X, ISA_SR_LANEID, ISA_SR_WARPWIDTH };

    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);

        if (isa_slice_sources((enum isa_op)op) != 0 && !(info->flags & ISA_F_SCALAR))
            g->alu[g->alu_count++] = (enum isa_op)op;
        if (isa_slice_sources((enum isa_op)op) != 0 && info->flags & ISA_F_SCALAR)
            g->scalar[g->scalar_count++] = (enum isa_op)op;
    }
    g->alu[g->alu_count++] = ISA_V_S2R;
    g->alu[g->alu_count++] = ISA_V_ADD_F32; /* an instruction that no address slice may contain */
    set(g, ISA_V_MOV_B64, BASE, 0, ISA_X_CONST, 0);
    for (unsigned k = 0; k < LW_COUNT_OF(special); k++)
        set(g, ISA_V_S2R, k, 0, 0, special[k]);
    for (unsigned k = 0; k < 3; k++)
        set(g, ISA_S_S2R, k, 0, 0, special[3 + k]);
    for (unsigned k = 0; k < 12; k++)
        scalar(g);
    for (unsigned k = 0; k < 8; k++)
        alu(g);
    statements(g, 0, 12);
    access_memory(g);
    emit(g, ISA_EXIT);
}

static void must(enum lw_status status, const struct lw_error *err, uint64_t seed)
{
    if (status != LW_OK)
        fail_msg("LW_SEED=%" PRIu64 ": %s", seed, err->text);
}

/** Write @object to a file and return the object that is read from the file. */
static struct isa_object *reread(struct isa_object *object, uint64_t seed)
{
    struct isa_object *again = NULL;
    uint8_t *bytes, *twice;
    size_t size, size2;
    struct lw_error err;

    must(isa_object_slice(object, &err), &err, seed);
    must(isa_object_write(object, &bytes, &size, &err), &err, seed);
    must(isa_object_read("random.lwo", bytes, size, &again, &err), &err, seed);
    must(isa_object_write(again, &twice, &size2, &err), &err, seed);
    if (size != size2 || memcmp(bytes, twice, size) != 0)
        fail_msg("LW_SEED=%" PRIu64 ": the slices differ after they were written and read", seed);
    free(bytes);
    free(twice);
    return again;
}

static void run_one(uint64_t seed, struct predict_counts *counts)
{
    struct gen *g = calloc(1, sizeof *g);
    struct isa_param param = { .name = "buffer", .kind = ISA_PARAM_POINTER, .space = ISA_SPACE_GLOBAL, .size_bytes = 8,
                               .align = 8 };
    struct isa_function kernel = { .name = "random", .kernel = true, .params = &param, .param_count = 1,
                                   .param_bytes = PARAMS, .vreg_count = 80, .sreg_count = 16 };
    struct isa_object object = { .functions = &kernel, .function_count = 1, .file_count = 1 };
    const char *no_file = "";
    struct predict_watch watch = { .name = "random" };
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_config config;
    struct emu_stop stop;
    struct lw_error err;
    uint8_t params[PARAMS];
    uint64_t buffer;

    assert_non_null(g);
    g->r.state = seed;
    write_kernel(g);
    lw_arena_init(&object.arena);
    object.files = &no_file;
    object.text = lw_arena_alloc(&object.arena, g->count * sizeof *object.text);
    object.text_count = kernel.count = g->count;
    for (uint32_t i = 0; i < g->count; i++)
        must(isa_insn_encode(&g->code[i], &object.text[i], &err), &err, seed);
    struct isa_object *read = reread(&object, seed);
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    config.warp_width = 4u << prop_below(&g->r, 5);
    config.tags = EMU_TAGS_SHADOW;
    must(emu_machine_create(&config, &machine, &err), &err, seed);
    must(emu_program_load(machine, read, &program, &err), &err, seed);
    must(emu_alloc(machine, BYTES, "buffer", 0, &buffer, &err), &err, seed);
    must(emu_engine_functional_create(machine, &engine, &err), &err, seed);
    for (unsigned i = 0; i < PARAMS; i += 4)
        lw_put32(params + i, prop_below(&g->r, 3) ? prop_below(&g->r, 100) : (uint32_t)prop_next(&g->r));
    lw_put64(params, buffer);
    struct emu_launch launch = { .program = program, .kernel = &read->functions[0], .work_dim = 3, .params = params,
                                 .grid = { 1 + prop_below(&g->r, 3), 1 + prop_below(&g->r, 3), 1 },
                                 .block = { 1 + prop_below(&g->r, 40), 1 + prop_below(&g->r, 3), 1 + prop_below(&g->r, 2) } };
    must(emu_grid_launch(machine, &launch, NULL, &err), &err, seed);
    predict_watch_begin(&watch, machine, engine);
    must(engine->ops->run(engine, &stop, &err), &err, seed);
    if (stop.kind != EMU_STOP_IDLE)
        fail_msg("LW_SEED=%" PRIu64 ": stop %d %s", seed, stop.kind, stop.kind == EMU_STOP_FAULT ? stop.fault.detail : "");
    predict_watch_end(&watch);
    if (watch.counts.different != 0) {
        struct lw_file_sink out;

        lw_file_sink_init(&out, stdout);
        isa_disassemble(read, &out.sink);
        isa_slices_print(read, &out.sink);
    }
    if (watch.counts.different != 0)
        fail_msg("LW_SEED=%" PRIu64 ": %" PRIu64 " accesses differ", seed, watch.counts.different);
    predict_counts_add(counts, &watch.counts);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(read);
    lw_arena_fini(&object.arena);
    free(g);
}

static void random_kernels_access_where_their_slices_say(void **state)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(400, seed);
    struct predict_counts counts = { 0 };

    (void)state;
    for (unsigned long k = 0; k < count; k++)
        run_one(seed + k, &counts);
    predict_counts_print("random kernels", &counts);
    assert_true(count < 50 || (counts.compared > counts.accesses / 20 && counts.sites[ISA_SLICE_MERGE] != 0 &&
                               counts.sites[ISA_SLICE_LOADED] != 0 && counts.sites[ISA_SLICE_OPERATION] != 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_kernels_access_where_their_slices_say) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
