/* SPDX-License-Identifier: Apache-2.0 */
/* Which grids run native code (emu/interp/emu_native.c): the engine asks for the code of each grid that it takes up. */
#include <stdlib.h>
#include <string.h>

#include "emu/engine/emu_engine_priv.h"
#include "emu/grid/emu_grid_priv.h"
#include "emu/interp/emu_layers_priv.h"

/** Returns true if nothing can observe the order of the warps of @grid, or its instructions. */
static bool may_use(const struct emu_core *core, const struct emu_grid *grid)
{
    const struct emu_machine *machine = core->machine;

    return machine->native != NULL && machine->config.tags == EMU_TAGS_OFF && machine->reconv == &emu_reconv_cbar &&
           machine->fault_filter == NULL && machine->log == NULL &&
           !emu_grid_of_device(grid) && grid->block_threads >= machine->config.warp_width &&
           emu_kernel_order(grid->launch.program, grid->launch.kernel)->worst == ISA_ORDER_NONE;
}

/** Gets the native code of @grid and puts its entries into the decoded program. */
static void take_up(struct emu_core *core, struct emu_grid *grid)
{
    struct emu_core_native *native = &core->native;
    const struct emu_launch *launch = &grid->launch;
    struct emu_code *code;
    struct emu_layout layout;

    native->grid = grid;
    native->sequence = grid->sequence;
    native->kernel = NULL;
    if (!may_use(core, grid) || emu_core_code(core, launch, &code, NULL) != LW_OK)
        return;
    emu_layout_make(&layout, core->machine->config.warp_width, core->level);
    struct emu_native_request request = {
        .object = launch->program->object, .insn = launch->program->insn, .insn_count = launch->program->count,
        .kernel = launch->kernel, .width = core->machine->config.warp_width, .stride = layout.stride,
        .first_row = EMU_ROW_V0, .vregs = emu_kernel_use(launch->program, launch->kernel)->vregs};
    memcpy(request.block, launch->block, sizeof request.block);
    const struct emu_native_kernel *kernel = core->machine->native->kernel(core->machine->native, &request);
    if (kernel == NULL)
        return;
    if (kernel->windows > native->windows) {
        struct emu_native_window *more = realloc(native->window, kernel->windows * sizeof *more);
        if (more == NULL)
            return;
        native->window = more;
        native->windows = kernel->windows;
    }
    if (kernel->entries > native->gains) {
        struct emu_native_gain *more = realloc(native->gain, kernel->entries * sizeof *more);
        if (more == NULL)
            return;
        native->gain = more;
        native->gains = kernel->entries;
    }
    memset(native->gain, 0, native->gains * sizeof *native->gain);
    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->entry[i] != 0 && !(code->layers[kernel->first + i] & EMU_LAYER_NATIVE)) /* cores may share code */
            emu_code_set_layer(code, kernel->first + i, EMU_LAYER_NATIVE, true);
    native->kernel = kernel;
}

void emu_native_use(struct emu_core *core, struct emu_grid *grid, uint64_t until)
{
    struct emu_core_native *native = &core->native;
    const struct emu_machine *machine = core->machine;

    native->until = 0;
    if (machine->native == NULL || machine->active_hooks != NULL || machine->breakpoint_count != 0)
        return;
    if (native->grid != grid || native->sequence != grid->sequence) {
        take_up(core, grid);
        if (native->windows != 0) /* allocations may have changed */
            memset(native->window, 0, native->windows * sizeof *native->window);
    }
    if (native->kernel != NULL)
        native->until = until;
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
