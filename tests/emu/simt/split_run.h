/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a mini program and records its steps. Include this file after cmocka.h. */
#ifndef SPLIT_RUN_H
#define SPLIT_RUN_H

#include "tests/emu/simt/split_machine.h"

typedef void run_step_fn(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes);

struct run {
    struct sm_program *program;
    struct sm *m;
    struct lw_buffer seq;  /* pc and lanes of each step: "pc/lanes pc/lanes ..." */
    struct lw_buffer rows; /* the state after each step, in the test's format */
    unsigned kind;         /* format of rows, defined by the test */
};

/** Runs a program, without a fairness limit unless @o.window is set. After each step checks the invariants and calls @step,
 *  with the run as the machine's context. */
static inline struct run run_program(const char *text, struct sm_options o, run_step_fn *step,
                                     unsigned kind)
{
    struct run r = {.kind = kind};
    struct lw_error err;

    o.check = true;
    o.hang = o.hang != 0 ? o.hang : 2000;
    r.program = sm_parse(text, strlen(text), &err);
    if (r.program == NULL)
        fail_msg("%s", err.text);
    r.m = sm_create(r.program, &o);
    lw_buffer_init(&r.seq);
    lw_buffer_init(&r.rows);
    r.m->on_step = step;
    r.m->context = &r;
    sm_run(r.m);
    if (r.m->report == SM_BROKEN)
        fail_msg("invariant: %s", r.m->message);
    return r;
}
static inline void done(struct run *r)
{
    sm_destroy(r->m);
    sm_program_free(r->program);
    lw_buffer_fini(&r->seq);
    lw_buffer_fini(&r->rows);
}

#endif
