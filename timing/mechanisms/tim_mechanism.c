/* SPDX-License-Identifier: Apache-2.0 */
/* Table of mechanisms, and calls of the hooks of enabled mechanisms. */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdio.h>
#include <stdlib.h>

const struct tim_mechanism *const tim_mechanisms[] = {&tim_swl, &tim_pools, &tim_ccws, &tim_daws, &tim_belady,
                                                     &tim_loads, &tim_dwr, &tim_vws, &tim_la_w, &tim_shares, &tim_family,
                                                     &tim_pcal, &tim_reuse, &tim_equalizer, &tim_mrpb, &tim_dwf, &tim_tbc,
                                                     &tim_rows, &tim_orf, &tim_prf, &tim_regless, &tim_lwm, &tim_mascar, &tim_interweave, &tim_dynpcal};
const size_t tim_mechanism_count = LW_COUNT_OF(tim_mechanisms);
const uint64_t tim_no_warps[TIM_MAX_WARPS / 64];
_Static_assert(LW_COUNT_OF(tim_mechanisms) <= TIM_MECHANISMS_MOST, "room for all of them on a core");

void tim_mech_list_add(struct tim_mech_list *list, unsigned warp)
{
    unsigned at = list->count++;

    for (; at > 0 && list->age[list->warp[at - 1]] > list->age[warp]; at--)
        list->warp[at] = list->warp[at - 1];
    list->warp[at] = (uint16_t)warp;
}

void tim_mech_list_remove(struct tim_mech_list *list, unsigned warp)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < list->count; i++)
        if (list->warp[i] != warp)
            list->warp[kept++] = list->warp[i];
    list->count = kept;
}

/** Returns whether several schedulers share a pipe that an instruction occupies when it issues. */
static bool shares_pipes(const struct tim_config *c)
{
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        if (u != ISA_UNIT_TEX && u != ISA_UNIT_MATRIX && /* no instruction of TIM_PATH_DIRECT uses these units */
            c->unit[u].pipes != 0 && c->unit[u].pipes < c->issue_schedulers)
            return true;
    return false;
}

/** Creates the re-execution queue of @mech, if it has one. Returns false if memory is short. */
static bool make_reexecution(struct tim_mechs *mechs, struct tim_mech *mech)
{
    const unsigned size = mech->row->reexecutes != NULL ? mech->row->reexecutes(mech) : 0;

    if (size == 0)
        return true;
    mechs->reexecution = calloc(1, sizeof *mechs->reexecution);
    if (mechs->reexecution == NULL)
        return false;
    mechs->reexecution->mech = mech;
    mechs->reexecution->size = size;
    return true;
}

bool tim_mechs_init(struct tim_mechs *mechs)
{
    const struct tim_config *c = mechs->core.config;

    mechs->query.lasts = c->issue_width == 1 && !c->issue_switch_on_stall && c->lsu_local == 0 && !c->lsu_separate;
    mechs->query.shares_pipes = shares_pipes(c);
    for (size_t i = 0; i < tim_mechanism_count; i++) {
        struct tim_mech *mech;

        if (!tim_mechanisms[i]->is_on(mechs->core.config))
            continue;
        mech = tim_mechanisms[i]->create(&mechs->core);
        if (mech == NULL)
            return false;
        mech->row = tim_mechanisms[i];
        mech->core = &mechs->core;
        if (tim_mechanisms[i] == &tim_ccws)
            mechs->core.ccws = mech;
        mechs->mech[mechs->count++] = mech;
        if (!make_reexecution(mechs, mech))
            return false;
        mechs->touches |= mech->row->touches != NULL;
        mechs->resides |= mech->row->resides != NULL;
        mechs->registers |= mech->row->reads != NULL || mech->row->writes != NULL || mech->row->counts != NULL || mech->row->upper != NULL;
        mechs->bypasses |= mech->row->bypasses != NULL;
        mechs->reaches |= mech->row->reaches != NULL;
        mechs->picks |= mech->row->picks != NULL;
        mechs->picks_every_cycle |= mech->row->every_cycle;
        if (mech->row->packet != NULL)
            mechs->packets = mech;
        mechs->every_cycle |= mech->row->every_cycle || mech->row->cycle != NULL || mech->row->fetches != NULL;
        mechs->cycle |= mech->row->cycle != NULL;
        if (mech->row->fetches != NULL)
            mechs->fetches = mech;
        if (mech->row->chooses != NULL)
            mechs->chooses = mech;
        if (mech->row->upper != NULL)
            mechs->upper = mech;
        if (mech->row->orders != NULL)
            mechs->orders = mech;
        if (mech->row->accompanies != NULL || mech->row->pairs != NULL)
            mechs->forms = mech;
    }
    return true;
}

void tim_mechs_fini(struct tim_mechs *mechs)
{
    for (unsigned i = 0; i < mechs->count; i++)
        mechs->mech[i]->row->destroy(mechs->mech[i]);
    mechs->count = 0;
    free(mechs->reexecution);
    mechs->reexecution = NULL;
    mechs->packets = mechs->upper = mechs->fetches = mechs->chooses = mechs->orders = mechs->forms = NULL;
}

uint32_t tim_mech_formed_packet(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together)
{
    const unsigned schedulers = mech->core->config->issue_schedulers;

    (void)what;
    *together = true;
    return (uint32_t)((mech->core->now * schedulers + warp % schedulers) % UINT32_MAX) + 1;
}

bool tim_mech_live(const struct tim_mech_core *core, unsigned warp, struct tim_vectors *out)
{
    struct emu_split_view views[EMU_MAX_LANES];
    struct tim_mech_warp is;
    unsigned count;

    core->look(core->context, warp, &is);
    count = core->views(core->context, warp, views);
    *out = (struct tim_vectors){{0}};
    for (unsigned i = 0; i < count; i++)
        if (views[i].pc >= is.code->base && views[i].pc < is.code->end)
            tim_vectors_join(out, &is.code->live[(views[i].pc - is.code->base) / ISA_WORD_BYTES]);
    return count != 0;
}

/** Calls hook @hook of each mechanism that has it. */
#define CALL(mechs, hook, ...)                                                                     \
    for (unsigned i = 0; i < (mechs)->count; i++) {                                                \
        if ((mechs)->mech[i]->row->hook != NULL)                                                   \
            (mechs)->mech[i]->row->hook((mechs)->mech[i], __VA_ARGS__);                            \
    }

void tim_mechs_block(struct tim_mechs *mechs, uint64_t launch, bool begins)
{
    CALL(mechs, block, launch, begins)
}

void tim_mechs_reside(struct tim_mechs *mechs, const struct tim_mech_block *block, bool begins)
{
    CALL(mechs, resides, block, begins)
}

void tim_mechs_touch(struct tim_mechs *mechs, unsigned warp, uint64_t line)
{
    CALL(mechs, touches, warp, line)
}

void tim_mechs_wait(struct tim_mechs *mechs, unsigned warp, bool begins)
{
    uint64_t *waits = &mechs->waits[warp / 64], bit = UINT64_C(1) << warp % 64;

    if ((mechs->live[warp / 64] & bit) == 0 || ((*waits & bit) != 0) == begins)
        return;
    *waits ^= bit;
    CALL(mechs, waits, warp, begins)
}

void tim_mechs_warp(struct tim_mechs *mechs, unsigned warp, uint64_t age, bool begins)
{
    const uint64_t bit = UINT64_C(1) << warp % 64;

    if (!begins)
        tim_mechs_wait(mechs, warp, false);
    mechs->live[warp / 64] = begins ? mechs->live[warp / 64] | bit : mechs->live[warp / 64] & ~bit;
    if (begins) {
        CALL(mechs, warp_begins, warp, age)
    } else {
        CALL(mechs, warp_ends, warp)
    }
}

void tim_mechs_issue(struct tim_mechs *mechs, const struct tim_mech_issue *issue)
{
    CALL(mechs, issues, issue)
}

void tim_mechs_read(struct tim_mechs *mechs, unsigned warp, const struct tim_static *what)
{
    CALL(mechs, reads, warp, what)
}

void tim_mechs_write(struct tim_mechs *mechs, unsigned warp, const struct tim_static *what)
{
    CALL(mechs, writes, warp, what)
}

void tim_mechs_count(struct tim_mechs *mechs)
{
    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->counts != NULL)
            mechs->mech[i]->row->counts(mechs->mech[i]);
}

void tim_mechs_reach(struct tim_mechs *mechs, unsigned warp, uint64_t pc, const struct tim_static *next)
{
    CALL(mechs, reaches, warp, pc, next)
}

void tim_mechs_access(struct tim_mechs *mechs, const struct tim_mech_access *access)
{
    CALL(mechs, access, access)
}

bool tim_mechs_bypass(struct tim_mechs *mechs, unsigned warp, uint64_t pc)
{
    bool bypasses = false;

    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->bypasses != NULL)
            bypasses |= mechs->mech[i]->row->bypasses(mechs->mech[i], warp, pc);
    return bypasses;
}

void tim_mechs_evict(struct tim_mechs *mechs, uint64_t line, unsigned owner)
{
    CALL(mechs, evict, line, owner)
}

void tim_mechs_drop(struct tim_mechs *mechs, uint64_t line)
{
    CALL(mechs, drop, line)
}

void tim_mechs_refuse(struct tim_mechs *mechs, unsigned warp)
{
    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->refused != NULL)
            mechs->mech[i]->row->refused(mechs->mech[i], warp);
}

struct tim_mech *tim_mechs_stuck(const struct tim_mechs *mechs, unsigned warp)
{
    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->is_stuck != NULL && mechs->mech[i]->row->is_stuck(mechs->mech[i], warp))
            return mechs->mech[i];
    return NULL;
}

void tim_mechs_account(struct tim_mechs *mechs)
{
    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->account != NULL)
            mechs->mech[i]->row->account(mechs->mech[i]);
}

void tim_mechs_trace(struct tim_mechs *mechs, struct tim_trace *trace, unsigned core, uint64_t now)
{
    for (unsigned i = 0; i < mechs->count; i++)
        for (unsigned g = 0; g < TIM_GAUGES && mechs->mech[i]->row->gauge != NULL; g++) {
            const char *name;
            uint64_t value;

            if (!mechs->mech[i]->row->gauge(mechs->mech[i], g, &name, &value) || mechs->shown[i][g] == value + 1)
                continue;
            mechs->shown[i][g] = value + 1;
            tim_trace_gauge(trace, now, core, name, value);
        }
}

void tim_mechs_flow(struct tim_mechs *mechs, unsigned warp)
{
    CALL(mechs, flows, warp)
}

bool tim_mechs_cycle(struct tim_mechs *mechs, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    bool changed = false;

    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->cycle != NULL)
            changed |= mechs->mech[i]->row->cycle(mechs->mech[i], ready);
    return changed;
}

bool tim_mechs_pick(struct tim_mechs *mechs, unsigned sched, const uint64_t *ready)
{
    bool changed = false;

    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->picks != NULL && !tim_mech_is_idle(mechs, mechs->mech[i]))
            changed |= mechs->mech[i]->row->picks(mechs->mech[i], sched, ready);
    return changed;
}

struct tim_mech *tim_mechs_holder(const struct tim_mechs *mechs, unsigned warp, const struct tim_static *next)
{
    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row->holds != NULL && mechs->mech[i]->row->holds(mechs->mech[i], warp, next))
            return mechs->mech[i];
    return NULL;
}

uint64_t tim_mechs_next(const struct tim_mechs *mechs, uint64_t since)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < mechs->count; i++) {
        const struct tim_mechanism *row = mechs->mech[i]->row;
        uint64_t at = row->next == NULL ? UINT64_MAX : row->next(mechs->mech[i], since);

        next = at < next ? at : next;
    }
    return next;
}

/** Mechanisms without an entry in tim_mechanisms[], because the core itself (dws) or timing/grid implements them. */
static const struct {
    const char *name, *summary, *assignment; /* assignment: one or more KEY=VALUE, separated by a space */
} others[] = {
    {"dws", "dynamic warp subdivision: lanes whose data is in L1 run ahead of lanes that wait for a load",
     "dws.on=on issue.split_lanes=on issue.switch_on_stall=on"},
    {"capri", "CAPRI: mechanism tbc, where warps wait only at branches at which compaction is predicted to help",
     "tbc.on=on tbc.capri=on issue.split_lanes=on"},
    {"sbi", "mechanism interweave, only for branches: two paths of a warp issue in the same cycle",
     "interweave.on=on interweave.warps=off issue.split_lanes=on"},
    {"swi", "mechanism interweave, only for warps: two warps issue in the same cycle, on different lanes",
     "interweave.on=on interweave.branches=off issue.split_lanes=on"},
    {"drowsy", "mechanism rows, with drowsy rows: register rows that no instruction accesses use less power",
     "rows.on=on rows.drowsy=on"},
    {"rename", "mechanism rows, with renaming: registers have a register row only from their first write to their last read",
     "rows.on=on rows.rename=on kernels.mixed=off kernels.suspend=off"},
    {"medic", "MeDiC: warps that mostly miss in L2 bypass L2, and DRAM serves warps that mostly hit first", "medic.on=on"},
    {"dtbl", "dynamic thread block launch: block groups that the device launches join kernels of the distributor", "dtbl.on=on"},
    {"laperm", "LaPerm: blocks of device launches are dispatched first, and to the core of their launcher", "kernels.policy=adaptive_bind"},
    {"dvfs", "diversion and voltage scaling: sends no blocks to cores with few warps, and lowers their clock and voltage", "dvfs.on=on"},
    {"vote", "Equalizer with votes: mechanism equalizer, and the clocks of all cores are lowered by 15 % while memory limits most of them",
     "equalizer.on=on dvfs.on=on dvfs.act=vote dvfs.sample=4096 dvfs.low_mhz=595 dvfs.low_mv=850"},
    {"bcs", "block pairs: places two neighbouring blocks together on a core", "kernels.policy=bcs"},
    {"la_b", "locality-aware block scheduling: places blocks where they share most lines", "kernels.policy=la_b"},
    {"la_bw", "mechanisms la_b and la_w together", "kernels.policy=la_b la_w.on=on"},
};

void tim_mechanisms_print(struct lw_sink *out)
{
    for (size_t i = 0; i < tim_mechanism_count; i++)
        lw_printf(out, "%-6s %s\n", tim_mechanisms[i]->name, tim_mechanisms[i]->summary);
    for (size_t i = 0; i < LW_COUNT_OF(others); i++)
        lw_printf(out, "%-6s %s\n", others[i].name, others[i].summary);
}

/** Writes the KEY=VALUE assignments that enable a mechanism to @out, which has @room bytes. @name, of @size characters, is the
 *  name of the mechanism. Returns false if no mechanism has this name. */
static bool find(const char *name, size_t size, char *out, size_t room)
{
    for (size_t i = 0; i < tim_mechanism_count; i++)
        if (strlen(tim_mechanisms[i]->name) == size && strncmp(tim_mechanisms[i]->name, name, size) == 0) {
            snprintf(out, room, "%s.on=on%s", tim_mechanisms[i]->name,
                     tim_mechanisms[i]->accompanies != NULL || tim_mechanisms[i]->pairs != NULL ? " issue.split_lanes=on" : "");
            return true;
        }
    for (size_t i = 0; i < LW_COUNT_OF(others); i++)
        if (strlen(others[i].name) == size && strncmp(others[i].name, name, size) == 0) {
            snprintf(out, room, "%s", others[i].assignment);
            return true;
        }
    return false;
}

static enum lw_status refuse(const char *name, size_t size, struct lw_error *err)
{
    struct lw_buffer names;
    enum lw_status status;

    lw_buffer_init(&names);
    for (size_t i = 0; i < tim_mechanism_count; i++)
        lw_printf(&names.sink, "%s%s", i == 0 ? "" : ", ", tim_mechanisms[i]->name);
    for (size_t i = 0; i < LW_COUNT_OF(others); i++)
        lw_printf(&names.sink, ", %s", others[i].name);
    status = LW_FAIL(err, LW_EUSAGE, "expected mechanisms of %s, separated by commas, found \"%.*s\"",
                     names.text != NULL ? names.text : "", (int)(size < 40 ? size : 40), name);
    lw_buffer_fini(&names);
    return status;
}

enum lw_status tim_config_add_mechanisms(struct tim_config *config, const char *names, struct lw_error *err)
{
    for (unsigned pass = 0; pass < 2; pass++) /* pass 0 checks all names, before pass 1 sets keys */
        for (const char *at = names, *end; at != NULL; at = *end != '\0' ? end + 1 : NULL) {
            char assignment[96];

            end = at + strcspn(at, ",");
            if (!find(at, (size_t)(end - at), assignment, sizeof assignment))
                return refuse(at, (size_t)(end - at), err);
            for (char *next = assignment, *one = strsep(&next, " "); pass != 0 && one != NULL; one = strsep(&next, " ")) {
                enum lw_status status = tim_config_set(config, one, err);

                if (status != LW_OK)
                    return status;
            }
        }
    return LW_OK;
}
