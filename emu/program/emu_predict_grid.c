/* SPDX-License-Identifier: Apache-2.0 */
/* Predictors for grids: connects the address slices of an object with the launch of a kernel. */
#include "emu/emu.h"
#include "emu/lane/emu_predict_priv.h"

#include <stdlib.h>

struct emu_predict_slices {
    const struct isa_object *object;
    struct isa_object own; /* copy of the object's structure, with address slices and an arena of its own */
};

enum lw_status emu_predict_slices_create(const struct emu_program *program, struct emu_predict_slices **out,
                                         struct lw_error *err)
{
    const struct isa_object *object = emu_program_object(program);
    struct emu_predict_slices *s = calloc(1, sizeof *s);
    enum lw_status status = LW_OK;

    if (s == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for address slices");
    s->object = object;
    if (object->slice_count == 0) {
        s->own = *object;
        lw_arena_init(&s->own.arena);
        status = isa_object_slice(&s->own, err);
        s->object = &s->own;
    }
    if (status != LW_OK) {
        emu_predict_slices_destroy(s);
        return status;
    }
    *out = s;
    return LW_OK;
}

void emu_predict_slices_destroy(struct emu_predict_slices *slices)
{
    if (slices == NULL)
        return;
    if (slices->object == &slices->own)
        lw_arena_fini(&slices->own.arena);
    free(slices);
}

const struct isa_slices *emu_predict_slices_of(const struct emu_predict_slices *slices, const struct isa_function *kernel)
{
    return isa_object_slices_of(slices->object, kernel);
}

_Static_assert((int)EMU_PREDICT_REASONS == (int)ISA_SLICE_REJECT_COUNT && (int)EMU_PREDICT_ARRAYS == (int)ISA_SLICE_ARRAYS, "as of slices");

void emu_predict_count_sites(const struct isa_slices *slices, struct emu_predict_sites *out)
{
    *out = (struct emu_predict_sites){ .count = 0 };
    if (slices == NULL)
        return;
    out->count = slices->site_count;
    out->arrays = slices->array_count;
    for (uint32_t i = 0; i < slices->site_count; i++) {
        out->accepted += slices->sites[i].reject == ISA_SLICE_ACCEPTED;
        out->rejected[slices->sites[i].reject]++;
    }
    out->rejected[ISA_SLICE_ACCEPTED] = 0;
}

const char *emu_predict_reason(unsigned reason)
{
    return isa_slice_reject_name(reason);
}

enum lw_status emu_predict_create_of(const struct emu_machine *machine, const struct emu_grid *grid, struct emu_predict **out,
                                     struct lw_error *err)
{
    const struct isa_object *object = emu_program_object(grid->launch.program);

    return emu_predict_create_with(machine, grid, isa_object_slices_of(object, grid->launch.kernel), out, err);
}

enum lw_status emu_predict_create_with(const struct emu_machine *machine, const struct emu_grid *grid,
                                       const struct isa_slices *slices, struct emu_predict **out, struct lw_error *err)
{
    const struct isa_object *object = emu_program_object(grid->launch.program);
    struct emu_predict_launch launch = { .object = object, .work_dim = grid->launch.work_dim,
                                         .warp_width = emu_machine_config(machine)->warp_width,
                                         .param_bytes = grid->launch.kernel->param_bytes,
                                         .slices = slices };
    uint64_t *variables = calloc((size_t)object->variable_count + 1, sizeof *variables);
    uint8_t *params = calloc((size_t)launch.param_bytes + 1, 1);
    enum lw_status status = LW_OK;

    *out = NULL;
    if (variables == NULL || params == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory to predict addresses of a launch");
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
