/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as users get it: which model of cores and memory is under it. */
#include "timing/tim_engine_priv.h"

enum lw_status tim_engine_create(struct emu_machine *machine, const struct tim_config *config,
                                 const struct tim_options *options, struct emu_engine **out,
                                 struct lw_error *err)
{
    return tim_engine_create_over(machine, config, options,
                                  options != NULL && options->reference ? tim_memory_reference_create
                                                                        : tim_memory_fast_create,
                                  out, err);
}
