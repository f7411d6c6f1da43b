/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixture for tests of the machine's rules: it runs a kernel in assembly on a new machine. Thread t of the kernel has
 * tid.x in v0 and the address of word t of `out` in v8:9.
 */
#ifndef EMU_FIXTURE_H
#define EMU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"

enum { FIX_WORDS = 1024 };

struct fix {
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    uint64_t out;
    uint32_t word[FIX_WORDS];
};

#define FIX_HEAD                                                                           \
    ".kernel k\n.param ptr.global out\n"                                                   \
    "v_s2r v0, %tid.x\nv_mov_b64 v8:9, c[out]\nv_madwide_u32 v8:9, v0, 4, v8:9\n"
#define FIX_STORE(reg) "st.global.b32 [v8:9], " reg "\n"

static inline void fix_check(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/** Create a new fixture. The test may change its config before fix_load. */
static inline struct fix *fix_new(unsigned width)
{
    struct fix *f = calloc(1, sizeof *f);

    assert_non_null(f);
    emu_config_default(&f->config);
    f->config.warp_width = width;
    f->config.arena_bytes = 1 << 24;
    f->config.hang_window = 20000;
    return f;
}

/** Load @text and queue its first kernel with @blocks blocks of @threads threads. The first parameter is the address of
 *  `out`, and all others are 0. */
static inline void fix_load_grid(struct fix *f, const char *text, unsigned blocks,
                                 unsigned threads)
{
    struct lw_error err;
    uint64_t params[8] = {0};

    fix_check(emu_machine_create(&f->config, &f->machine, &err), &err);
    fix_check(isa_assemble("test.s", text, strlen(text), &f->object, &err), &err);
    fix_check(emu_program_load(f->machine, f->object, &f->program, &err), &err);
    fix_check(emu_alloc(f->machine, sizeof f->word, "out", 0, &f->out, &err), &err);
    fix_check(emu_engine_functional_create(f->machine, &f->engine, &err), &err);
    struct emu_launch launch = {.program = f->program, .kernel = &f->object->functions[0],
                                .grid = {blocks, 1, 1}, .block = {threads, 1, 1},
                                .work_dim = 1, .params = params};
    params[0] = f->out;
    assert_true(f->object->functions[0].param_bytes <= sizeof params);
    fix_check(emu_grid_launch(f->machine, &launch, NULL, &err), &err);
}
/** Load @text and queue its first kernel with one block. */
static inline void fix_load(struct fix *f, const char *text, unsigned threads)
{
    fix_load_grid(f, text, 1, threads);
}

static inline void fix_go(struct fix *f)
{
    struct lw_error err;

    fix_check(f->engine->ops->run(f->engine, &f->stop, &err), &err);
    fix_check(emu_global_read(f->machine, f->out, f->word, sizeof f->word, &err), &err);
}

static inline void fix_free(struct fix *f)
{
    emu_engine_destroy(f->engine);
    emu_machine_destroy(f->machine);
    isa_object_destroy(f->object);
    free(f);
}

static inline struct fix *fix_run(const char *text, unsigned width, unsigned threads)
{
    struct fix *f = fix_new(width);

    fix_load(f, text, threads);
    fix_go(f);
    return f;
}

/** Fail unless the run stops with a fault of @kind that names @lanes, at an instruction whose text begins with @insn. */
static inline void fix_expect_fault(struct fix *f, enum emu_fault_kind kind, uint64_t lanes,
                                    const char *insn)
{
    struct lw_buffer text;

    if (f->stop.kind != EMU_STOP_FAULT)
        fail_msg("stop %d instead of fault %s", f->stop.kind, emu_fault_name(kind));
    if (f->stop.fault.kind != kind)
        fail_msg("fault %s (%s) instead of %s", emu_fault_name(f->stop.fault.kind),
                 f->stop.fault.detail, emu_fault_name(kind));
    assert_int_equal(f->stop.fault.lanes, lanes);
    lw_buffer_init(&text);
    isa_insn_print(emu_program_insn(f->program, f->stop.fault.pc), f->stop.fault.pc, NULL, NULL,
                   &text.sink);
    if (strncmp(text.text, insn, strlen(insn)) != 0)
        fail_msg("the fault is at '%s' instead of '%s'", text.text, insn);
    lw_buffer_fini(&text);
}

/** Fail unless the kernel has ended and the first @count words of `out` equal @expected. */
static inline void fix_expect_words(struct fix *f, const uint32_t *expected, unsigned count)
{
    if (f->stop.kind != EMU_STOP_IDLE)
        fail_msg("stop %d: %s%s", f->stop.kind,
                 f->stop.kind == EMU_STOP_FAULT ? f->stop.fault.detail : "",
                 f->stop.kind == EMU_STOP_HANG ? f->stop.hang.detail : "");
    for (unsigned t = 0; t < count; t++)
        if (f->word[t] != expected[t])
            fail_msg("thread %u stored 0x%x instead of 0x%x", t, f->word[t], expected[t]);
}

#endif
