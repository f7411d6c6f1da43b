/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for the tests of debug/ and shell/: a debugger session on a kernel in assembly. */
#ifndef DEBUG_FIXTURE_H
#define DEBUG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "debug/debug_priv.h"

struct fix {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct isa_object *object;
    struct emu_program *program;
    struct dbg *dbg;
    struct lw_buffer messages;
    struct lw_command_set set;
    uint64_t out, in; /* buffers of 1,024 words */
    uint32_t grid, block;
    unsigned launches; /* number of launches that fix_next() has still to make */
    uint32_t n;        /* value of kernel parameters that are neither a pointer nor named x or a */
};

static inline enum lw_status fix_launch(struct fix *f, struct lw_error *err)
{
    uint8_t params[64] = {0};
    const struct isa_function *kernel = &f->object->functions[0];
    struct emu_launch launch = {.program = f->program,
                                .kernel = kernel,
                                .grid = {f->grid, 1, 1},
                                .block = {f->block, 1, 1},
                                .work_dim = 1,
                                .params = params};
    struct emu_grid *grid;
    float a = 2;

    for (unsigned i = 0; i < kernel->param_count; i++) {
        const struct isa_param *param = &kernel->params[i];

        if (strcmp(param->name, "x") == 0)
            lw_put64(params + param->offset, f->in);
        else if (param->kind == ISA_PARAM_POINTER)
            lw_put64(params + param->offset, f->out);
        else if (strcmp(param->name, "a") == 0)
            memcpy(params + param->offset, &a, sizeof a);
        else
            lw_put32(params + param->offset, f->n);
    }
    return emu_grid_launch(f->machine, &launch, &grid, err);
}

static inline enum lw_status fix_next(void *context, bool *more, struct lw_error *err)
{
    struct fix *f = context;

    *more = f->launches != 0;
    if (!*more)
        return LW_OK;
    f->launches--;
    return fix_launch(f, err);
}

static inline void fix_fail(const char *what, const struct lw_error *err)
{
    fail_msg("%s: %s", what, err->text);
}

/** Creates a session on the first kernel of the file @name in tests/shell/golden/. */
static inline struct fix *fix_open(const char *name, unsigned width, uint32_t grid,
                                   uint32_t block, unsigned launches)
{
    struct fix *f = calloc(1, sizeof *f);
    const char *folder = getenv("srcdir");
    struct emu_config config;
    struct lw_error err = {0};
    char path[4096], *text;
    size_t size;

    assert_non_null(f);
    f->grid = grid;
    f->block = block;
    f->launches = launches;
    f->n = grid * block;
    snprintf(path, sizeof path, "%s/tests/shell/golden/%s", folder != NULL ? folder : ".", name);
    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fix_fail(path, &err);
    if (isa_assemble(path, text, size, &f->object, &err) != LW_OK)
        fix_fail(path, &err);
    free(text);
    emu_config_default(&config);
    if (strcmp(name, "spin.s") == 0)
        config.hang_window = 0; /* the test interrupts an endless run, so there must be no hang report */
    config.warp_width = width;
    config.arena_bytes = UINT64_C(1) << 24;
    if (emu_machine_create(&config, &f->machine, &err) != LW_OK ||
        emu_program_load(f->machine, f->object, &f->program, &err) != LW_OK ||
        emu_alloc(f->machine, 4096, "out_buffer", 0, &f->out, &err) != LW_OK ||
        emu_alloc(f->machine, 4096, "in_buffer", 0, &f->in, &err) != LW_OK ||
        emu_engine_functional_create(f->machine, &f->engine, &err) != LW_OK)
        fix_fail("machine", &err);
    for (uint32_t i = 0; i < 1024; i++) {
        float x = (float)i;

        assert_int_equal(emu_global_write(f->machine, f->in + 4 * i, &x, 4, &err), LW_OK);
    }
    lw_buffer_init(&f->messages);
    struct dbg_config session = {.machine = f->machine,
                                 .engine = f->engine,
                                 .next = fix_next,
                                 .next_context = f,
                                 .messages = &f->messages.sink};
    if (dbg_create(&session, &f->dbg, &err) != LW_OK)
        fix_fail("dbg_create", &err);
    dbg_register_commands(f->dbg, &f->set);
    return f;
}

static inline void fix_close(struct fix *f)
{
    dbg_destroy(f->dbg);
    emu_engine_destroy(f->engine);
    emu_machine_destroy(f->machine);
    isa_object_destroy(f->object);
    lw_buffer_fini(&f->messages);
    free(f);
}

static inline dbg_thread_id fix_focus(struct fix *f)
{
    return dbg_focus_get(f->dbg, DBG_FOCUS_RUN);
}

static inline struct dbg_thread fix_thread(struct fix *f)
{
    struct dbg_thread thread = {0};

    assert_true(dbg_thread_get(f->dbg, fix_focus(f), &thread));
    return thread;
}

/** Returns the first pc of a line of the kernel's source. */
static inline uint64_t fix_line(struct fix *f, unsigned line)
{
    uint64_t pcs[8];
    unsigned count = 0;
    char text[16];
    struct lw_error err = {0};

    snprintf(text, sizeof text, "%u", line);
    if (dbg_location_parse(f->dbg, text, pcs, 8, &count, &err) != LW_OK)
        fix_fail("fix_line", &err);
    assert_true(count >= 1);
    return pcs[0];
}

static inline unsigned fix_break(struct fix *f, unsigned line, const char *condition)
{
    struct lw_error err = {0};
    unsigned id = 0;

    if (dbg_breakpoint_add(f->dbg, DBG_OWNER_SHELL, fix_line(f, line), condition, false, &id,
                      &err) != LW_OK)
        fix_fail("fix_break", &err);
    return id;
}

static inline struct dbg_stop fix_continue(struct fix *f)
{
    struct dbg_stop stop;
    struct lw_error err = {0};

    if (dbg_continue(f->dbg, &stop, &err) != LW_OK)
        fix_fail("dbg_continue", &err);
    return stop;
}

static inline struct dbg_stop fix_step(struct fix *f, bool locked)
{
    struct dbg_stop stop;
    struct lw_error err = {0};

    if (dbg_step(f->dbg, fix_focus(f), locked, &stop, &err) != LW_OK)
        fix_fail("dbg_step", &err);
    return stop;
}

static inline struct dbg_stop fix_step_line(struct fix *f, bool over)
{
    struct dbg_stop stop;
    struct lw_error err = {0};

    if (dbg_step_line(f->dbg, fix_focus(f), over, false, &stop, &err) != LW_OK)
        fix_fail("dbg_step_line", &err);
    return stop;
}

/** Returns the source line of a lane of the focus warp, or 0 if the lane is not live. */
static inline unsigned fix_lane_line(struct fix *f, unsigned lane)
{
    struct dbg_value value;
    const char *file;
    unsigned line = 0;

    if (dbg_eval(f->dbg, fix_focus(f), lane, "pc", &value, NULL) != LW_OK)
        return 0;
    assert_true(dbg_source_at(f->dbg, value.bits, &file, &line));
    return line;
}

/** Returns the value of an integer expression for a lane of the focus warp. */
static inline uint64_t fix_eval(struct fix *f, unsigned lane, const char *text)
{
    struct dbg_value value = {0};
    struct lw_error err = {0};

    if (dbg_eval(f->dbg, fix_focus(f), lane, text, &value, &err) != LW_OK)
        fix_fail(text, &err);
    return value.bits;
}

/** Runs a command line and returns its output, which is valid until the next call with the same buffer. */
static inline const char *fix_run(struct fix *f, const char *line, struct lw_buffer *out)
{
    struct lw_error err = {0};

    lw_buffer_clear(out);
    if (lw_command_run(&f->set, line, &out->sink, &err) != LW_OK)
        fix_fail(line, &err);
    return out->text != NULL ? out->text : "";
}

static inline bool fix_said(const struct fix *f, const char *text)
{
    return f->messages.text != NULL && strstr(f->messages.text, text) != NULL;
}

#endif
