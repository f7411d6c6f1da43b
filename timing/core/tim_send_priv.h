/* SPDX-License-Identifier: Apache-2.0 */
/* Packets from a core to memory, bytes of lines that the core holds with l1.coherent off, and schedulers that issue
 * nothing. */
#ifndef TIM_SEND_PRIV_H
#define TIM_SEND_PRIV_H

#include "timing/core/tim_core_priv.h"

/* ---- l1.coherent off: core->held is not NULL ---- */
/** Returns false without memory. */
bool tim_held_create(struct tim_core *core) LW_MUST_CHECK;
void tim_held_destroy(struct tim_held *held);
/** Stores bytes @mask of a line that have arrived. @warp requested them. */
void tim_held_fill(struct tim_core *core, unsigned warp, uint64_t line, const uint64_t mask[4]);
/** Assigns way @way of set @set to line @line, which has been requested. */
void tim_held_miss(struct tim_core *core, unsigned set, unsigned way, uint64_t line);
/** Handles an instruction that @warp has executed. If @cached, it loads through L1, and its lanes get the bytes of
 *  L1. */
void tim_held_step(struct tim_core *core, unsigned warp, const struct emu_event *ev, bool cached);
/** Drops all lines of global memory. */
void tim_held_forget(struct tim_core *core);
/** Called when a block of @grid arrives: drops the lines of earlier kernels. */
void tim_held_block(struct tim_core *core, const struct emu_grid *grid, bool moves_in);
/** Receivers of an answer, part of a packet's id. STATE: the block whose state is transferred. */
enum tim_client { TIM_CLIENT_L1, TIM_CLIENT_OP, TIM_CLIENT_WRITE, TIM_CLIENT_FETCH,
                  TIM_CLIENT_CONSTANT, TIM_CLIENT_TEXTURE, TIM_CLIENT_NOBODY, TIM_CLIENT_STATE,
                  TIM_CLIENT_JOINED }; /* index: a list in core->packets of the receivers */
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
/** Sends a read of @sectors of a line; the crossbar must have space. @index: for L1, the op that requests; else 0. */
void tim_send_read(struct tim_core *core, const struct tim_cache *cache, uint64_t line,
                   unsigned sectors, enum tim_client client, uint32_t index, unsigned warp,
                   uint64_t now);

/* ---- schedulers that issue nothing ---- */
/** Selects, from a set of stall reasons of warps, the reason that the slot counts. */
static inline enum tim_stall tim_suggest(uint32_t reasons)
{
    return reasons != 0 ? (enum tim_stall)lw_lowest(reasons) : TIM_STALL_EMPTY;
}
static inline bool tim_is_one(uint16_t set)
{
    return set != 0 && (set & (set - 1)) == 0;
}
/** Returns whether a warp of scheduler @s that only the load/store queue can stop joins a packet that has a place in
 *  the queue. */
static inline bool tim_some_join(const struct tim_core *core, unsigned s)
{
    struct tim_mech *mech = core->mechs.packets;
    const unsigned first = tim_first(core, s);

    if (mech->row->packets_are_wide)
        return mech->row->follows(mech, 0);
    for (LW_EACH_BIT(b, core->hot.known[first / 64].can[TIM_PATH_MEMORY]))
        if (mech->row->follows(mech, tim_warp_at(core, s, first + (unsigned)b)))
            return true;
    return false;
}
/** Returns true if it is known that no warp of scheduler @s can issue in cycle @now, and which reason its slots then
 *  count. The core has one word of places for each scheduler, no replays and no separate queues. */
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
    if (roomy != 0) { /* the rules of tim_select() hold for these warps, too */
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
/** Returns true if scheduler @s of a passable core without replays issues nothing in cycle @now, without a
 *  visit of any warp: the slots are then counted, and mechanisms that want to are notified. */
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

#endif
