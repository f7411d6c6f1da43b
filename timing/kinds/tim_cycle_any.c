/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a cycle for cores of any kind: no property of the core is a compile-time constant. */
#include "timing/kinds/tim_cycle_body.h"

static const struct tim_kind tim_kind = {0};

const struct tim_cycle tim_cycle_any = {tim_core_begin, tim_core_issue, tim_core_end};

enum tim_stall tim_stall_reason(const struct tim_core *core, const struct tim_warp *w, unsigned sched,
                                uint64_t now)
{
    return ready_check(core, w, sched, now);
}

bool tim_could_issue(const void *context, unsigned warp)
{
    const struct tim_core *core = context;
    uint64_t recheck_at;

    return tim_issue_but_capacity(core, &core->warp[warp], core->now, &recheck_at) == TIM_STALL_PICKED;
}
