/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which grids run native code (emu/interp/emu_native.c). The engine requests the code of each grid that it starts to
 * run. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/engine/emu_engine_priv.h"
#include "emu/grid/emu_grid_priv.h"
#include "emu/interp/emu_layers_priv.h"

/* REQUEST_EVERY: if there is no code yet, a core requests it again after this number of warp instructions. The interpreter needs
 * 0.1 to 1.5 ms for them. SHORT_WARPS: a grid of fewer warps counts as small. */
enum { REQUEST_EVERY = 20000, SHORT_WARPS = 256 };

bool emu_native_permitted(const struct emu_machine *machine)
{
    return machine->native != NULL && machine->breakpoint_count == 0 && machine->log == NULL;
}

/** Returns true if one of the instructions [@first, @end) of @program has operation @op or format @format, or is a call and @calls is
 *  true. */
static bool contains(const struct emu_program *program, uint32_t first, uint32_t end, enum isa_op op, unsigned format, bool calls)
{
    for (uint32_t i = first; i < end; i++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)program->insn[i].op);
        if (program->insn[i].op == op || info->format == format || (calls && (info->flags & ISA_F_CALL) != 0))
            return true;
    }
    return false;
}
/** Returns true if the kernel of @launch, or a function that it may call, has an instruction of operation @op or format @format. Any
 *  function of the program may be called. */
static bool reaches(const struct emu_launch *launch, enum isa_op op, unsigned format)
{
    const struct emu_program *program = launch->program;
    const uint32_t first = launch->kernel->first, end = first + launch->kernel->count;

    return contains(program, first, end, op, format, true) &&
           (contains(program, first, end, op, format, false) || contains(program, 0, program->count, op, format, false));
}

/** Returns true if the machine's hooks want calls at an instruction of the kernel of @launch, or of a function that it may call. */
static bool is_observed(const struct emu_machine *machine, const struct emu_launch *launch, const struct emu_code *code)
{
    const uint32_t first = launch->kernel->first, count = launch->kernel->count;

    if (machine->active_hooks == NULL)
        return false;
    const bool calls = contains(launch->program, first, first + count, ISA_OP_COUNT, UINT_MAX, true);
    const uint8_t *layers = code->layers + (calls ? 0 : first), *end = layers + (calls ? launch->program->count : count);
    while (layers < end)
        if (*layers++ & EMU_HOOK_SITE)
            return true;
    return false;
}

/** Returns true if native code can execute @grid with the same results as the interpreter. The results must not depend on the
 *  order of warps. Warps must not sleep, because the time at which a warp wakes depends on how many instructions the other warps of
 *  its block have executed. If the translator is `unshared`, the warps of a block must have no shared memory and no barriers. Tags
 *  must be off, because they are computed at each instruction. */
static bool may_use(const struct emu_core *core, const struct emu_grid *grid)
{
    const struct emu_machine *machine = core->machine;

    return machine->config.tags == EMU_TAGS_OFF && machine->reconv == &emu_reconv_cbar && !emu_grid_of_device(grid) &&
           grid->block_threads >= machine->config.warp_width && !reaches(&grid->launch, ISA_NANOSLEEP, UINT_MAX) &&
           !(machine->native->unshared && (grid->shared_bytes != 0 || reaches(&grid->launch, ISA_BAR_SYNC, ISA_FMT_BAR))) &&
           emu_kernel_order(grid->launch.program, grid->launch.kernel)->worst == ISA_ORDER_NONE;
}

/** Allocates the memory that native code of @kernel needs for a core. Returns false if the host has no memory. */
static bool reserve(struct emu_core_native *native, struct emu_native_form *form, const struct emu_native_kernel *kernel,
                    uint32_t warps, uint32_t vregs)
{
    /* an odd number of 64-byte lines, so that the values of different warps are in different sets of the host's cache */
    const uint32_t stride = 8 * ((2 * vregs + 2 + 7) / 8 | 1);

    if (warps > native->warps || stride > native->uniform_stride) {
        const uint32_t count = warps > native->warps ? warps : native->warps;
        const uint32_t width = stride > native->uniform_stride ? stride : native->uniform_stride;
        uint64_t *uniform = calloc((size_t)count * width, sizeof *uniform);
        uint32_t *park = calloc(count, sizeof *park);
        bool *slow = calloc(3 * (size_t)count, sizeof *slow);
        struct emu_native_record *record = calloc(count, sizeof *record);
        if (uniform == NULL || park == NULL || slow == NULL || record == NULL) {
            free(record);
            free(uniform);
            free(park);
            free(slow);
            return false;
        }
        free(native->uniform);
        free(native->park);
        free(native->slow);
        free(native->record);
        native->record = record;
        native->uniform = uniform;
        native->park = park;
        native->slow = slow;
        native->spilled = slow + count;
        native->ended = slow + 2 * (size_t)count;
        native->warps = count;
        native->uniform_stride = width;
    }
    if (kernel->windows > form->windows) {
        struct emu_native_window *more = realloc(form->window, kernel->windows * sizeof *more);
        if (more == NULL)
            return false;
        form->window = more;
        form->windows = kernel->windows;
    }
    if (kernel->count > native->parts) {
        struct emu_native_part *part = calloc(kernel->count, sizeof *part);
        if (part == NULL)
            return false;
        free(native->part);
        native->part = part;
        native->parts = kernel->count;
    }
    emu_native_forget(form); /* the windows may be those of another kernel */
    if (kernel->entries > form->gains) {
        struct emu_native_gain *more = realloc(form->gain, kernel->entries * sizeof *more);
        if (more == NULL)
            return false;
        form->gain = more;
        form->gains = kernel->entries;
    }
    memset(form->gain, 0, form->gains * sizeof *form->gain);
    return true;
}

/** Estimates how many warp instructions the core will execute in @grid after @block begins. Blocks begin in the order of their
 *  numbers, and the blocks before this one are assumed to be typical. Returns 0 if @block is the first one. */
static uint64_t rest_of(const struct emu_core *core, const struct emu_grid *grid, const struct emu_block *block)
{
    if (block == NULL || block->linear == 0)
        return 0;
    const double executed = (double)(core->retired - core->native.begin);
    const double rest = executed * (double)(grid->block_count - block->linear) / (double)block->linear;

    return rest < 0x1p62 ? (uint64_t)rest : UINT64_C(1) << 62;
}

/** Returns the processor time of this thread. */
static double thread_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Gets one form of the native code of @grid, and marks its entries in the decoded program. */
static void take_up(struct emu_core *core, const struct emu_grid *grid, const struct emu_block *block, struct emu_native_form *form)
{
    struct emu_core_native *native = &core->native;
    const struct emu_launch *launch = &grid->launch;
    struct emu_code *code;
    struct emu_layout layout;

    form->later = false;
    if (!may_use(core, grid) || emu_core_code(core, launch, &code, NULL) != LW_OK || is_observed(core->machine, launch, code))
        return;
    emu_layout_make(&layout, core->machine->config.warp_width, core->level);
    struct emu_native_request request = {
        .object = launch->program->object, .insn = launch->program->insn, .insn_count = launch->program->count,
        .kernel = launch->kernel, .width = core->machine->config.warp_width, .stride = layout.stride,
        .first_row = EMU_ROW_V0, .vregs = emu_kernel_use(launch->program, launch->kernel)->vregs,
        .masked = form == &native->masked, .executed = core->retired > native->reported ? core->retired - native->reported : 0,
        .rest = rest_of(core, grid, block)};
    memcpy(request.block, launch->block, sizeof request.block);
    /* The first request of a small grid does not read the clock, because programs may launch many short kernels. */
    const bool is_short = core->retired == native->begin && grid->block_count * grid->block_warps < SHORT_WARPS;
    const double now = core->machine->native->timed && !is_short ? thread_seconds() : 0;
    request.seconds = native->reported_seconds > 0 && now > native->reported_seconds ? now - native->reported_seconds : 0;
    native->reported_seconds = now;
    native->reported = core->retired;
    const struct emu_native_kernel *kernel = core->machine->native->kernel(core->machine->native, &request, &form->later);
    form->request_at = core->retired + REQUEST_EVERY;
    const uint32_t warps = (grid->block_threads + request.width - 1) / request.width;
    if (kernel == NULL || !reserve(native, form, kernel, warps, request.vregs))
        return;
    for (uint32_t i = 0; i < kernel->count; i++) /* the layers can be changed, because no other core uses this decoded program */
        if (kernel->entry[i] != 0)
            emu_code_set_layer(code, kernel->first + i, EMU_LAYER_NATIVE, true);
    form->kernel = kernel;
}

void emu_native_use(struct emu_core *core, struct emu_grid *grid, struct emu_block *block, uint64_t until)
{
    struct emu_core_native *native = &core->native;
    const struct emu_machine *machine = core->machine;

    native->until = 0;
    if (!emu_native_permitted(machine))
        return;
    if (native->grid != grid || native->sequence != grid->sequence) {
        native->grid = grid;
        native->sequence = grid->sequence;
        native->whole.kernel = native->masked.kernel = NULL;
        native->whole.later = true;
        native->masked.later = false;
        native->masked_done = false;
        /* the last warp of an incomplete block has inactive lanes from its start */
        native->requests = grid->block_threads % machine->config.warp_width != 0 ? machine->native->masked_after : 0;
        native->reported_seconds = 0;
        native->whole.request_at = native->masked.request_at = native->begin = core->retired;
        emu_native_forget(&native->whole); /* the allocations in the windows may have been freed since the last use */
        emu_native_forget(&native->masked);
    }
    if (native->whole.later && core->retired >= native->whole.request_at)
        take_up(core, grid, block, &native->whole);
    if (!native->masked_done && core->retired >= native->masked.request_at && native->requests >= machine->native->masked_after) {
        take_up(core, grid, block, &native->masked);
        native->masked_done = !native->masked.later;
    }
    if (block == NULL || (native->whole.kernel == NULL && native->masked.kernel == NULL))
        return;
    const struct emu_memory *memory = &machine->memory;
    native->until = until;
    native->frame.threads = grid->block_count * grid->block_threads;
    native->frame.shares = machine->threaded;
    native->frame.special = block->special;
    native->frame.bank0 = block->warp->ubase[EMU_U_BANK0];
    native->frame.bank1 = block->warp->ubase[EMU_U_BANK1];
    native->frame.global = memory->host;
    native->frame.global_bytes = memory->bytes;
    native->frame.load_valid = memory->load_valid;
    native->frame.store_valid = memory->store_valid;
    native->frame.dirty = memory->dirty;
    native->frame.shared = block->shared;
    native->frame.shared_bytes = block->shared_bytes;
    native->frame.calls = &emu_native_calls;
    native->frame.part = native->part;
    native->frame.record = native->record;
    native->frame.warp_step = sizeof(struct emu_warp);
    native->frame.uniform_step = native->uniform_stride * sizeof *native->uniform;
    native->frame.regs_step = block->warp_count > 1 ? (uint64_t)(block->warp[1].regs - block->warp[0].regs) : 0;
    native->divides = block->warp->policy->steady && block->warp->merge &&
                      (block->warp->window == 0 || block->warp->window >= EMU_NATIVE_WINDOW);
    native->frame.row_functions = core->level->row_functions;
}

void emu_machine_set_native(struct emu_machine *machine, struct emu_native *native)
{
    machine->native = native;
}

uint64_t emu_machine_native_instructions(const struct emu_machine *machine)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < machine->core_count; i++)
        sum += machine->cores[i]->native.retired;
    return sum;
}
