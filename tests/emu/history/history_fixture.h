/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture: machines for the tests of hashes, schedule logs, history and checkpoints. */
#ifndef HISTORY_FIXTURE_H
#define HISTORY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/core/emu_core_priv.h"

enum { FIX_BYTES = 16384 };

extern uint64_t fix_seed; /* the seed of a random test, for messages */

static inline void fix_check(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)fix_seed, err->text);
}

/** Return LW_SEED from the environment, or 1. */
static inline uint64_t fix_first_seed(void)
{
    const char *text = getenv("LW_SEED");

    return text != NULL ? strtoull(text, NULL, 0) : 1;
}
/** Return whether the user has selected the seeds. Then a test does not check how often the random cases occur. */
static inline bool fix_seed_is_chosen(void)
{
    return getenv("LW_SEED") != NULL || getenv("LW_RANDOM_COUNT") != NULL;
}
/** Return the last seed: LW_RANDOM_COUNT seeds from the first one on, or @last without that variable. */
static inline uint64_t fix_last_seed(uint64_t last)
{
    const char *text = getenv("LW_RANDOM_COUNT");

    return text != NULL ? fix_first_seed() + strtoull(text, NULL, 0) - 1 : last;
}

/** Returns the number of seeds of a usual run: @count, or a quarter of it in a slow build (LW_SLOW). */
static inline unsigned fix_usual(unsigned count)
{
    return getenv("LW_SLOW") != NULL ? count / 4 : count;
}

struct fix {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    uint64_t out;
};

/** Create a machine that has a buffer and the program @text, but no launch. */
static inline void fix_open(struct fix *fix, const struct emu_config *config, const char *text)
{
    struct lw_error err;

    memset(fix, 0, sizeof *fix);
    fix_check(emu_machine_create(config, &fix->machine, &err), &err);
    fix_check(isa_assemble("test.s", text, strlen(text), &fix->object, &err), &err);
    fix_check(emu_program_load(fix->machine, fix->object, &fix->program, &err), &err);
    fix_check(emu_alloc(fix->machine, FIX_BYTES, "out", 0, &fix->out, &err), &err);
    fix_check(emu_engine_functional_create(fix->machine, &fix->engine, &err), &err);
}

static inline struct emu_grid *fix_launch(struct fix *fix, uint32_t grid, uint32_t block,
                                          uint64_t number)
{
    uint64_t params[2] = {fix->out, number};
    struct emu_launch launch = {.program = fix->program, .kernel = &fix->object->functions[0],
                                .grid = {grid, 1, 1}, .block = {block, 1, 1}, .work_dim = 1,
                                .params = params};
    struct emu_grid *out = NULL;
    struct lw_error err;

    fix_check(emu_grid_launch(fix->machine, &launch, &out, &err), &err);
    return out;
}

/** Run to the instruction count @at, or to an earlier stop. */
static inline enum emu_stop_kind fix_run(struct fix *fix, uint64_t at)
{
    struct emu_stop stop;
    struct lw_error err;

    fix->engine->stop_at = at;
    fix_check(fix->engine->ops->run(fix->engine, &stop, &err), &err);
    fix->engine->stop_at = UINT64_MAX;
    return stop.kind;
}

static inline void fix_close(struct fix *fix)
{
    emu_engine_destroy(fix->engine);
    emu_machine_destroy(fix->machine);
    isa_object_destroy(fix->object);
}

#endif
