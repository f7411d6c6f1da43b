/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of launch files: a temporary folder with small kernels, and functions that run launch files in it. */
#ifndef LAUNCH_FIXTURE_H
#define LAUNCH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/launch.h"

#define PROGRAM "program: {source: k.s}\n"

/* ---- fixture: a temporary folder with small kernels ------------------------------- */

static const char kernels[] =
    /* a kernel with parameters of each size, and with pointers to global and shared memory */
    ".kernel params\n"
    ".param u8 a\n.param u16 b\n.param u32 c\n.param f32 d\n.param u64 e\n.param f64 f\n"
    ".param ptr.global p\n.param ptr.shared q\n.param ptr.shared r\n.param bytes 16 v\n"
    "    exit\n.end\n"
    ".kernel nothing\n    exit\n.end\n"
    ".kernel sized\n.reqblock 8, 4, 1\n    exit\n.end\n"
    /* x[0] += k */
    ".kernel bump\n.param ptr.global x\n.param u32 k\n"
    "    v_mov_b64 v2:3, c[x]\n"
    "    ld.global.b32 v0, [v2:3]\n"
    "    v_add_u32 v0, v0, c[k]\n"
    "    st.global.b32 [v2:3], v0\n"
    "    exit\n.end\n"
    ".kernel typed\n.param f32 a\n.param f64 b\n.param s32 c\n.param u8 d\n.param b32 e\n"
    ".param b32 f\n    exit\n.end\n";

struct fixture {
    char folder[32];
};

static inline void put(const char *name, const void *text, size_t size)
{
    struct lw_error err;

    if (lw_file_write(name, text, size, &err) != LW_OK)
        fail_msg("%s", err.text);
}

static inline int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    strcpy(f->folder, "/tmp/lw_launch_XXXXXX");
    if (mkdtemp(f->folder) == NULL || chdir(f->folder) != 0)
        return -1;
    put("k.s", kernels, sizeof kernels - 1);
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    if (chdir("/") != 0 || system(command) != 0)
        return -1;
    free(f);
    return 0;
}

static inline enum lw_status load(const char *text, struct lnc_file **file, struct emu_config *config,
                           struct lw_error *err)
{
    put("l.yaml", text, strlen(text));
    emu_config_default(config);
    *file = NULL;
    return lnc_file_load("l.yaml", config, file, err);
}

/* A launch file, its machine and its output. */
struct run {
    struct emu_config config;
    struct lnc_file *file;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_session *session;
    struct lw_buffer out;
    struct lw_error err;
};

static inline enum lw_status open_run(struct run *r, const char *text)
{
    struct lnc_options options = {.print = &r->out.sink};

    memset(r, 0, sizeof *r);
    options.print = &r->out.sink;
    lw_buffer_init(&r->out);
    if (load(text, &r->file, &r->config, &r->err) != LW_OK)
        fail_msg("%s", r->err.text);
    if (emu_machine_create(&r->config, &r->machine, &r->err) != LW_OK ||
        emu_engine_functional_create(r->machine, &r->engine, &r->err) != LW_OK)
        fail_msg("%s", r->err.text);
    return lnc_session_create(r->file, r->machine, &options, &r->session, &r->err);
}

static inline void close_run(struct run *r)
{
    emu_engine_destroy(r->engine);
    emu_machine_destroy(r->machine);
    lnc_session_destroy(r->session);
    lnc_file_destroy(r->file);
    lw_buffer_fini(&r->out);
}

/* Executes all steps of the launch file, and the kernels that they launch. */
static inline struct lnc_result run_all(struct run *r, const char *text)
{
    enum lnc_state state = LNC_LAUNCHED;
    struct emu_stop stop = {0};
    struct lnc_result result;
    double progress = 0;

    if (open_run(r, text) != LW_OK)
        fail_msg("%s", r->err.text);
    for (;;) {
        assert_int_equal(lnc_session_next(r->session, &state, &r->err), LW_OK);
        if (state == LNC_DONE)
            break;
        assert_int_equal(r->engine->ops->run(r->engine, &stop, &r->err), LW_OK);
        assert_int_equal(stop.kind, EMU_STOP_IDLE);
        assert_true(lnc_session_progress(r->session) >= progress);
        progress = lnc_session_progress(r->session);
        assert_true(progress >= 0 && progress <= 1);
    }
    assert_true(lnc_session_progress(r->session) == 1);
    lnc_session_result(r->session, &result);
    return result;
}

static inline void read_buffer(const struct run *r, const char *name, void *data, size_t size)
{
    uint64_t address, bytes;
    struct lw_error err;

    assert_true(lnc_session_buffer(r->session, name, &address, &bytes));
    assert_true(size <= bytes);
    assert_int_equal(emu_global_read(r->machine, address, data, size, &err), LW_OK);
}

#endif
