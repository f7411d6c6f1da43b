/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a grid that was launched. */
#include "emu/emu.h"
#include "emu/lane/emu_predict_priv.h"

#include <stdlib.h>

enum lw_status emu_predict_create_of(const struct emu_machine *machine, const struct emu_grid *grid, struct emu_predict **out,
                                     struct lw_error *err)
{
    const struct isa_object *object = emu_program_object(grid->launch.program);
    struct emu_predict_launch launch = { .object = object, .work_dim = grid->launch.work_dim,
                                         .warp_width = emu_machine_config(machine)->warp_width,
                                         .param_bytes = grid->launch.kernel->param_bytes,
                                         .slices = isa_object_slices_of(object, grid->launch.kernel) };
    uint64_t *variables = calloc((size_t)object->variable_count + 1, sizeof *variables);
    uint8_t *params = calloc((size_t)launch.param_bytes + 1, 1);
    enum lw_status status = LW_OK;

    *out = NULL;
    if (variables == NULL || params == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "addresses of a launch");
    if (status != LW_OK || launch.slices == NULL)
        goto cleanup;
    for (unsigned k = 0; k < 3; k++) {
        launch.grid[k] = grid->launch.grid[k];
        launch.block[k] = grid->launch.block[k];
        launch.offset[k] = grid->launch.offset[k];
    }
    for (unsigned i = 0; i < object->variable_count; i++)
        variables[i] = emu_program_variable(grid->launch.program, object->variables[i].name, NULL);
    memcpy(params, grid->bank0, launch.param_bytes < grid->bank0_valid ? launch.param_bytes : grid->bank0_valid);
    launch.params = params;
    launch.variables = variables;
    status = emu_predict_create(&launch, out, err);
    if (status == LW_OK) {
        (*out)->variables = variables;
        (*out)->params = params;
        return LW_OK;
    }
cleanup:
    free(variables);
    free(params);
    return status;
}
