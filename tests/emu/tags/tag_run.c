/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/emu/tags/tag_run.h"

void check(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

static bool note(struct emu_observer *observer, const struct emu_event *ev)
{
    struct run *r = (struct run *)(void *)((char *)observer - offsetof(struct run, observer));
    struct step *s = &r->step[r->count];

    if (ev->block != r->block || ev->warp != r->warp || ev->kind != EMU_EV_RETIRED)
        return false;
    assert_true(r->count < STEPS);
    r->count++;
    *s = (struct step){.index = (uint32_t)((ev->pc - r->base) / ISA_WORD_BYTES),
                       .tag = {.kind = 255}, .expansions = ev->expansions,
                       .effective = ev->effective};
    for (unsigned i = ev->tag_count; i-- > 0;)
        if (ev->tags[i].written)
            s->tag = ev->tags[i].after;
    (void)emu_reg_read(ev->core, ev->slot, ev->warp, ISA_REG_P, 0, 0, &s->p0);
    return false;
}

struct emu_config shadow(enum emu_tag_rules rules)
{
    struct emu_config config;

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    config.tags = EMU_TAGS_SHADOW;
    config.tag_rules = rules;
    return config;
}

struct run *run_kernel(const struct emu_config *config, const char *text,
                              const uint32_t grid[3], const uint32_t block[3], uint64_t linear,
                              unsigned warp, uint64_t a, uint32_t b)
{
    struct run *r = calloc(1, sizeof *r);
    struct lw_error err;
    uint64_t params[3];

    assert_non_null(r);
    r->block = linear;
    r->warp = warp;
    check(emu_machine_create(config, &r->machine, &err), &err);
    check(isa_assemble("tags.s", text, strlen(text), &r->object, &err), &err);
    check(emu_program_load(r->machine, r->object, &r->program, &err), &err);
    check(emu_alloc(r->machine, sizeof r->word, "out", 0, &r->out, &err), &err);
    check(emu_engine_functional_create(r->machine, &r->engine, &err), &err);
    r->base = emu_program_base(r->program);
    params[0] = r->out;
    params[1] = a;
    params[2] = b;
    struct emu_launch launch = {.program = r->program, .kernel = &r->object->functions[0],
                                .grid = {grid[0], grid[1], grid[2]},
                                .block = {block[0], block[1], block[2]}, .work_dim = 1,
                                .params = params};
    check(emu_grid_launch(r->machine, &launch, NULL, &err), &err);
    r->observer.on_event = note;
    emu_observer_add(r->engine, &r->observer);
    check(r->engine->ops->run(r->engine, &r->stop, &err), &err);
    check(emu_global_read(r->machine, r->out, r->word, sizeof r->word, &err), &err);
    emu_stats_get(r->machine, &r->stats);
    if (r->stop.kind == EMU_STOP_FAULT)
        fail_msg("fault %s: %s", emu_fault_name(r->stop.fault.kind), r->stop.fault.detail);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    assert_int_equal(r->stats.tags.mismatches, 0);
    return r;
}
struct run *run_one(const struct emu_config *config, const char *text)
{
    static const uint32_t one[3] = {1, 1, 1};
    uint32_t block[3] = {config->warp_width, 1, 1};

    return run_kernel(config, text, one, block, 0, 0, 0, 0);
}
void end(struct run *r)
{
    emu_engine_destroy(r->engine);
    emu_machine_destroy(r->machine);
    isa_object_destroy(r->object);
    free(r);
}

struct emu_tag tag_at(const struct run *r, uint32_t index)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->step[i].index == index)
            return r->step[i].tag;
    fail_msg("instruction %u was not executed", index);
    return (struct emu_tag){0};
}
void expect(const struct run *r, uint32_t index, unsigned kind, uint32_t base,
                   int32_t stride)
{
    struct emu_tag t = tag_at(r, index);

    if (t.kind != kind || (kind != V && (t.base != base || t.stride != stride)))
        fail_msg("instruction %u: %c(0x%x, %d), expected %c(0x%x, %d)", index, "UAV"[t.kind],
                 t.base, t.stride, "UAV"[kind], base, stride);
}
void expect_pair(const struct run *r, uint32_t index, uint64_t base, int64_t stride)
{
    struct emu_tag t = tag_at(r, index);

    if (!t.pair || t.pair_base != base || t.pair_stride != stride)
        fail_msg("instruction %u: pair %d (0x%" PRIx64 ", %" PRId64 ")", index, t.pair,
                 t.pair_base, t.pair_stride);
}
