/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a core for visits by the engine, for the load/store queue, for packets to memory, for the bytes of L1 with l1.coherent off, and for
 * schedulers that issue nothing in a cycle. */
#ifndef TIM_SEND_PRIV_H
#define TIM_SEND_PRIV_H

#include "timing/core/tim_core_priv.h"

/* ---- visits by the engine ---- */
/** Sets the next cycle in which the engine must visit the core; 0: the engine visits it in every cycle. */
static inline void tim_core_visit(struct tim_core *core, uint64_t cycle)
{
    *core->tick_at = cycle;
    if (core->visits != NULL)
        tim_visits_set(core->visits, core->index, cycle);
}
/** Makes the engine tick the core in the core's next cycle, even if the core is idle. */
static inline void tim_core_poke(struct tim_core *core)
{
    core->poked = *core->any_poked = true;
    tim_core_visit(core, 0);
}

/* ---- the load/store queue ---- */
/** Returns the queue of lsu.separate for instruction @what, or NULL if the instruction uses the load/store queue. */
static inline struct tim_side *tim_side_of(struct tim_core *core, const struct tim_static *what)
{
    if (!tim_separate(core) || what->type == TIM_TYPE_MEMORY)
        return NULL;
    return &core->side[what->type == TIM_TYPE_SCALAR];
}
static inline void tim_enqueue(struct tim_core *core, uint32_t op)
{
    struct tim_side *side = tim_side_of(core, core->op[op].what);

    if (side != NULL) {
        if (side->queued == 0)
            side->head_at = core->op[op].at;
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_lsu_queue], side->queued);
        side->queue[side->queued++] = op;
        return;
    }
    if (core->queued == 0)
        core->head_at = core->op[op].at;
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_lsu_queue], core->queued);
    core->queue[core->queued++] = op;
}
/* ---- l1.coherent off: core->held is not NULL ---- */
/** Creates core->held, the bytes that L1 holds. Returns false if memory is short. */
bool tim_held_create(struct tim_core *core) LW_MUST_CHECK;
void tim_held_destroy(struct tim_held *held);
/** Called when a line has arrived in L1. Stores its bytes @mask, with the values that @warp sees now. @warp: the warp that
 *  requested the line. */
void tim_held_fill(struct tim_core *core, unsigned warp, uint64_t line, const uint64_t mask[4]);
/** Records that way @way of set @set belongs to line @line, which has been requested. */
void tim_held_miss(struct tim_core *core, unsigned set, unsigned way, uint64_t line);
/** Called after @warp has executed an instruction with event @ev. If @cached is set, the instruction is a load
 *  through L1, and its lanes get the bytes that L1 has. Stores update or drop the bytes of L1. Fences and acquires drop
 *  all lines. */
void tim_held_step(struct tim_core *core, unsigned warp, const struct emu_event *ev, bool cached);
/** Drops all lines of global memory. */
void tim_held_forget(struct tim_core *core);
/** Called when a block of @grid arrives: drops the lines of earlier kernels. */
void tim_held_block(struct tim_core *core, const struct emu_grid *grid, bool moves_in);
/** Part of a core that receives the answer to a packet. It is part of the packet's id, and determines the meaning of the
 *  index in the id. OP: index of an op. WRITE: result of count_write(). STATE: index of the block whose state is
 *  transferred. TIM_CLIENT_NOBODY: the answer is ignored. JOINED: list in core->packets of results of count_write(). L1,
 *  FETCH, CONSTANT, TEXTURE: the cache that requested the line; for L1 the index is that of the op that missed. */
enum tim_client { TIM_CLIENT_L1, TIM_CLIENT_OP, TIM_CLIENT_WRITE, TIM_CLIENT_FETCH,
                  TIM_CLIENT_CONSTANT, TIM_CLIENT_TEXTURE, TIM_CLIENT_NOBODY, TIM_CLIENT_STATE,
                  TIM_CLIENT_JOINED };
static inline uint32_t tim_packet_id(enum tim_client client, uint32_t index)
{
    return (uint32_t)client << 28 | index;
}
/** Returns the line size of accesses that bypass the caches. */
static inline unsigned tim_line_bytes(const struct tim_config *config)
{
    return config->l1_bytes != 0 ? config->l1_line : config->l2_line;
}
/** Sends a packet; the crossbar must have space. */
void tim_send(struct tim_core *core, uint64_t line, const uint64_t mask[4],
              enum tim_packet_kind kind, uint32_t id, unsigned warp, unsigned lanes,
              uint64_t now);
/** Sends a packet that reads sectors @sectors of a line; the crossbar must have space. @client and @index name the
 *  receiver of the answer. @index is the index of the op that missed; only TIM_CLIENT_L1 uses it. */
void tim_send_read(struct tim_core *core, const struct tim_cache *cache, uint64_t line,
                   unsigned sectors, enum tim_client client, uint32_t index, unsigned warp,
                   uint64_t now);

/* ---- schedulers that issue nothing ---- */
/** Returns the stall reason that an issue slot counts if the warps of its scheduler have the set @reasons. */
static inline enum tim_stall tim_suggest(uint32_t reasons)
{
    return reasons != 0 ? (enum tim_stall)lw_lowest(reasons) : TIM_STALL_EMPTY;
}
static inline bool tim_is_one(uint16_t set)
{
    return set != 0 && (set & (set - 1)) == 0;
}
/** Called while the load/store queue is full. Returns whether some warp of scheduler @s can issue although the queue is full,
 *  because the warp's memory instruction joins a packet that already has a place in the queue. */
static inline bool tim_some_join(const struct tim_core *core, unsigned s)
{
    struct tim_mech *mech = core->mechs.packets;
    const unsigned first = tim_first(core, s);

    if (mech->row->packets_are_wide)
        return tim_mech_follows(mech, 0);
    for (LW_EACH_BIT(b, core->hot.known[first / 64].can[TIM_PATH_MEMORY]))
        if (tim_mech_follows(mech, tim_warp_at(core, s, first + (unsigned)b)))
            return true;
    return false;
}
/** Returns true if cached results show that no warp of scheduler @s can issue in cycle @now; sets *nearest to the stall
 *  reason that the scheduler's slots count. May be called only if core->passable is set and there are no replays. */
static inline bool tim_issues_nothing(const struct tim_core *core, unsigned s, uint64_t now, enum tim_stall *nearest)
{
    const struct tim_known *k = &core->hot.known[s];
    uint64_t roomy = k->can[TIM_PATH_MEMORY] | k->can[TIM_PATH_COLLECT];
    uint32_t reasons = k->present & ~(UINT32_C(1) << TIM_STALL_PICKED);
    enum tim_stall stops = tim_issue_stops(core, s, now);
    bool taken = stops != TIM_STALL_ISSUED;

    if (k->recheck_min <= now || k->recheck != 0 || (!taken && k->can[TIM_PATH_NONE] != 0))
        return false;
    if (taken) {
        roomy |= k->can[TIM_PATH_NONE] | k->can[TIM_PATH_DIRECT];
        reasons |= (uint32_t)(roomy != 0) << stops;
        roomy = 0;
    } else if (k->can[TIM_PATH_DIRECT] != 0) {
        if (!tim_is_one(k->direct) || tim_pipe_free_at(core, lw_lowest(k->direct), s) <= now + 1)
            return false;
        reasons |= UINT32_C(1) << TIM_STALL_UNIT;
    }
    if (tim_has_local(core) && !taken && k->can[TIM_PATH_MEMORY] != 0) {
        if (core->local[s].count < core->config->lsu_local)
            return false;
        reasons |= UINT32_C(1) << TIM_STALL_ADDRESS;
        roomy &= ~k->can[TIM_PATH_MEMORY];
    }
    if (roomy != 0) { /* the remaining warps need a collector or a place in the queue; the rules are those of tim_select() */
        bool lsu = core->lsu_used != core->config->lsu_queue;
        uint64_t takes = lsu ? roomy : k->can[TIM_PATH_COLLECT];

        if (!lsu && tim_has_packets(core) && k->can[TIM_PATH_MEMORY] != 0 && tim_some_join(core, s))
            return false;
        if (takes != 0 &&
            (core->flight.collectors[s] < core->config->registers_collectors || tim_replays(core)))
            return false;
        reasons |= (uint32_t)(!lsu && k->can[TIM_PATH_MEMORY] != 0) << TIM_STALL_LSU |
                  (uint32_t)(takes != 0) << TIM_STALL_COLLECTOR;
    }
    *nearest = tim_suggest(reasons);
    return true;
}
/** Does what tim_issues_nothing() does. If the result is true, also counts the idle slots of scheduler @s and calls
 *  tim_mechs_pick() for mechanisms that need the call in every cycle. No warp needs to be visited then. */
static inline bool tim_core_idles(struct tim_core *core, unsigned s, uint64_t now)
{
    enum tim_stall nearest;

    if (!tim_issues_nothing(core, s, now, &nearest))
        return false;
    tim_count_idle(core, s, nearest);
    if (tim_acts() && core->mechs.every_cycle && core->mechs.picks)
        core->moved |= tim_mechs_pick(&core->mechs, s, tim_no_warps);
    return true;
}
/** Returns true if scheduler @s had no ready warp when the hook `cycle` of the mechanisms ran in this cycle, and nothing that could make
 *  one ready has changed since. In this case counts the idle issue slot, so that no other call for @s is needed. */
static inline bool tim_has_none_ready(struct tim_core *core, unsigned s, uint64_t now)
{
    const struct tim_mechs_query *query = &core->mechs.query;
    const struct tim_known *known = &core->hot.known[core->hot.first[s] / 64];

    if (!core->quick || core->hot.words != 1 || core->config->issue_rotate || !query->lasts || query->at != now + 1 ||
        query->lsu_used != core->lsu_used || query->ready[s][0] != 0 || known->recheck != 0 || (query->shares_pipes && s != 0 && known->can[TIM_PATH_DIRECT] != 0))
        return false;
    tim_count_idle(core, s, (enum tim_stall)query->nearest[s]);
    return true;
}

#endif
