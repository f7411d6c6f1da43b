/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of a core, and the choice of its interpreter level. */
#include "emu/core/emu_core_priv.h"

#include <stdlib.h>

#include "emu/engine/emu_block_vector_priv.h"
#include "emu/program/emu_decode_priv.h"
#include "emu/tags/emu_tags_priv.h"

#if defined __x86_64__ && !defined LW_ONE_LEVEL
#define HAS_OTHER_LEVELS
#endif

const struct emu_level *emu_level_choose(unsigned wanted)
{
#ifdef HAS_OTHER_LEVELS
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");

#ifndef LW_NO_LEVEL_4
    if ((wanted == 0 || wanted == 4) && v3 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &emu_level_v4;
#endif
#ifndef LW_NO_LEVEL_3
    if ((wanted == 0 || wanted == 3) && v3)
        return &emu_level_v3;
#endif
    (void)v3;
#endif
    return wanted == 0 || wanted == 1 ? &emu_level_v1 : NULL;
}

/** Returns true if a core other than @core uses @code. */
static bool is_shared(const struct emu_core *core, const struct emu_code *code)
{
    const struct emu_machine *machine = core->machine;

    for (unsigned c = 0; c < machine->core_count; c++)
        for (unsigned i = 0; machine->cores[c] != core && i < machine->cores[c]->code_count; i++)
            if (machine->cores[c]->code[i] == code)
                return true;
    return false;
}

enum lw_status emu_core_create(struct emu_machine *machine, unsigned slots,
                               const struct emu_core_ops *ops, void *context,
                               struct emu_core **out, struct lw_error *err)
{
    /* blocks and counters of a core change often, so no two cores may share a cache line */
    struct emu_core *core = aligned_alloc(128, emu_round_up(sizeof *core, 128));
    struct emu_core **cores;

    if (core == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the core");
    memset(core, 0, sizeof *core);
    core->machine = machine;
    core->level = emu_level_choose(machine->config.level);
    if (ops != NULL)
        core->ops = *ops;
    core->context = context;
    core->slots = slots;
    /* most slots are never used, because they exist only for blocks that wait for launches; lw_reserve() maps memory that costs
     * nothing until it is used */
    core->block = lw_reserve(slots * sizeof *core->block);
    core->scratch = calloc(1, sizeof *core->scratch);
    core->tag_step = calloc(1, sizeof *core->tag_step);
    core->warp_template = emu_warp_template_create();
    cores = realloc(machine->cores, (machine->core_count + 1) * sizeof *cores);
    if (cores != NULL)
        machine->cores = cores;
    if (core->block == NULL || core->scratch == NULL || core->tag_step == NULL ||
        core->warp_template == NULL || cores == NULL) {
        lw_release(core->block, slots * sizeof *core->block);
        free(core->scratch);
        free(core->tag_step);
        free(core->warp_template);
        free(core);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the core of %u blocks", slots);
    }
    machine->cores[machine->core_count++] = core;
    *out = core;
    return LW_OK;
}

void emu_core_destroy(struct emu_core *core)
{
    struct emu_machine *machine;

    if (core == NULL)
        return;
    machine = core->machine;
    for (unsigned i = 0; i < machine->core_count; i++) {
        if (machine->cores[i] == core) {
            machine->cores[i] = machine->cores[--machine->core_count];
            break;
        }
    }
    machine->helper_count -= core->helper;
    for (unsigned i = 0; i < core->slots_used; i++) {
        if (core->block[i].in_use)
            emu_core_block_free(core, i);
        free(core->block[i].memory);
        lw_release(core->block[i].bregs, core->block[i].bregs_bytes);
    }
    free(core->native.whole.window);
    free(core->native.masked.window);
    free(core->native.part);
    free(core->native.uniform);
    free(core->native.park);
    free(core->native.slow);
    free(core->native.record);
    free(core->native.whole.gain);
    free(core->native.masked.gain);
    for (unsigned i = 0; i < core->code_count; i++) {
        if (is_shared(core, core->code[i]))
            continue;
        emu_code_destroy(core->code[i]);
        free(core->code[i]);
    }
    free(core->code);
    lw_release(core->block, core->slots * sizeof *core->block);
    free(core->text_capacity.data);
    free(core->scratch);
    free(core->tag_step);
    free(core->warp_template);
    emu_block_vector_destroy(core->block_vector);
    free(core);
}

struct emu_block *emu_core_block(const struct emu_core *core, unsigned slot)
{
    return slot < core->slots && core->block[slot].in_use ? &core->block[slot] : NULL;
}

struct emu_warp *emu_warp_at(const struct emu_core *core, unsigned slot, unsigned warp)
{
    const struct emu_block *block = emu_core_block(core, slot);

    return block != NULL && block->warp != NULL && warp < block->warp_count ? &block->warp[warp] : NULL;
}
