/* SPDX-License-Identifier: Apache-2.0 */
/* Emits the names that a front end offers for completion: variables, built-in names, coordinates, functions, marks. */
#include "debug/expr/dbg_expr_priv.h"

void dbg_names_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, enum dbg_names which,
                    dbg_name_fn fn, void *context)
{
    const struct emu_program *program = dbg_program(dbg);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    char name[512];

    if (which == DBG_NAMES_VARIABLES) {
        dbg_variables_each(dbg, id, lane, fn, context);
        return;
    }
    if (which == DBG_NAMES_BUILT_IN) {
        dbg_built_in_each(fn, context);
        return;
    }
    if (which == DBG_NAMES_COORDINATES) {
        dbg_coordinates_words_each(fn, context);
        return;
    }
    if (which == DBG_NAMES_CUDA) {
        dbg_cuda_names_each(fn, context);
        return;
    }
    if (which == DBG_NAMES_MARKS) {
        fn(context, "start");
        fn(context, "end");
        for (size_t i = 0; i < dbg->mark_count; i++)
            fn(context, dbg->marks[i].name);
        return;
    }
    for (unsigned i = 0; object != NULL && i < object->function_count; i++) {
        dbg_function_short_name(dbg, &object->functions[i], name, sizeof name);
        dbg_name_cut_template(name);
        fn(context, name);
    }
}
