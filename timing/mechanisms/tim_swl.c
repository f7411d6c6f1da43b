/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static warp limiting: only a limited number of warps of a core issue. Warps that wait at a barrier or for their
 * launches do not count towards the limit; otherwise a block with more warps than the limit could never pass a barrier.
 * Source: specification of the warp scheduling thesis, section 3.4. The thesis does not say which warps issue; swl.set
 * selects them (choice A24).
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

struct swl {
    struct tim_mech base;
    bool sticky;
    unsigned limit;
    struct tim_mech_list running; /* warps that have not ended and do not wait at a barrier or for launches */
    bool active[TIM_MAX_WARPS];   /* by slot: the warp may issue */
    unsigned admitted;            /* number of warps that may issue */
};

static bool is_on(const struct tim_config *config)
{
    return config->swl_on || config->issue_policy == TIM_SCHED_SWL;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct swl *swl = calloc(1, sizeof *swl);

    if (swl == NULL)
        return NULL;
    swl->limit = config->issue_limit;
    swl->sticky = config->swl_set == TIM_SWL_STICKY;
    return &swl->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

/** Determines the warps that may issue: the oldest running warps, up to the limit. With swl.set sticky, warps that were
 *  allowed to issue continue to be allowed. Then the oldest other warps are admitted until the limit is reached. */
static void admit(struct swl *swl)
{
    unsigned left = swl->limit;

    for (unsigned i = 0; i < swl->running.count; i++) {
        bool *active = &swl->active[swl->running.warp[i]];

        *active = *active && swl->sticky && left != 0;
        left -= *active;
    }
    for (unsigned i = 0; i < swl->running.count && left != 0; i++)
        if (!swl->active[swl->running.warp[i]]) {
            swl->active[swl->running.warp[i]] = true;
            left--;
        }
    swl->admitted = swl->limit - left;
    swl->base.idle_until = swl->running.count <= swl->limit ? UINT64_MAX : 0;
}

static void leave(struct swl *swl, unsigned warp)
{
    tim_mech_list_remove(&swl->running, warp);
    swl->active[warp] = false;
    admit(swl);
}

static void enter(struct swl *swl, unsigned warp)
{
    tim_mech_list_add(&swl->running, warp);
    admit(swl);
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct swl *swl = (struct swl *)mech;

    swl->running.age[warp] = age;
    enter(swl, warp);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    leave((struct swl *)mech, warp);
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    struct swl *swl = (struct swl *)mech;

    mech->core->count[TIM_CORE_swl_lifts] += begins && swl->active[warp] && swl->running.count > swl->limit;
    (begins ? leave : enter)(swl, warp);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    if (tim_is_data_load(issue->what))
        tim_histogram_add(&mech->core->histogram[TIM_CORE_H_swl_allowed], ((struct swl *)mech)->admitted);
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    (void)next;
    return !((struct swl *)mech)->active[warp];
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct swl *swl = (const struct swl *)mech;
    unsigned older = 0;

    while (older < swl->running.count && swl->running.warp[older] != warp)
        older++;
    lw_printf(out, "%u older warps of the core run, and issue.limit is %u", older, swl->limit);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    *name = "swl: warps that may issue";
    *value = ((const struct swl *)mech)->admitted;
    return index == 0;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct swl *swl = (const struct swl *)mech;

    lw_printf(out, "limit %u; running warps: %u; warps that may issue, the oldest first:", swl->limit, swl->running.count);
    for (unsigned i = 0; i < swl->running.count; i++)
        if (swl->active[swl->running.warp[i]])
            lw_printf(out, " %u", swl->running.warp[i]);
    lw_put(out, "\n");
}

const struct tim_mechanism tim_swl = {
    .name = "swl", .summary = "static warp limiting: only the oldest issue.limit warps of a core issue",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .warp_ends = warp_ends,
    .waits = waits, .issues = issues, .holds = holds, .why = why, .gauge = gauge, .show = show,
};
