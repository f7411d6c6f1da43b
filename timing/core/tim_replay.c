/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays of memory instructions (lsu.replay: buffer). After an access, an instruction may have more work, because banks
 * conflict, lanes access other lines, or resources are missing. The instruction then leaves the load/store queue, and
 * issues again: it takes all issue slots of its scheduler in a cycle, before any warp. It reads its operands again and
 * returns to the end of the queue. Source: specification of the book, section 10 (replay from the instruction buffer). The
 * source does not specify the time of the return and the priority of replays over warps; these are choices of this model.
 */
#include "timing/core/tim_core_priv.h"

void tim_replay_add(struct tim_core *core, uint32_t op, uint64_t now)
{
    core->replay[core->replays++] = (struct tim_replay){.op = op, .at = now + 1, .issued = false};
    core->replays_wait[core->op[op].sched]++;
}

bool tim_replay_issue(struct tim_core *core, unsigned s, uint64_t now)
{
    const struct tim_config *c = core->config;
    unsigned i = 0;

    if (core->replays_wait[s] == 0)
        return false;
    while (i < core->replays && (core->replay[i].issued || core->replay[i].at > now ||
                                 core->op[core->replay[i].op].sched != s))
        i++;
    if (i == core->replays)
        return false;
    const struct tim_op *op = &core->op[core->replay[i].op];
    unsigned entries = lw_popcount(op->compact_reads), rows = op->what->row_reads - entries;
    unsigned collect = rows == 0 ? 1 : (rows + c->registers_ports - 1) / c->registers_ports;
    core->replay[i].issued = true;
    core->replay[i].at = now + 1 + collect + c->lsu_latency;
    core->replays_wait[s]--;
    core->stats->sched[s].count[TIM_SCHED_replays]++;
    core->stats->count[TIM_CORE_register_reads] += rows;
    core->stats->count[TIM_CORE_register_reads_compact] += entries;
    for (unsigned slot = 0; slot < c->issue_width; slot++)
        core->stats->sched[s].reason[slot][TIM_STALL_REPLAY]++;
    return true;
}

void tim_replay_tick(struct tim_core *core, uint64_t now)
{
    unsigned left = 0;

    core->moved |= core->replays != 0;
    for (unsigned i = 0; i < core->replays; i++) {
        struct tim_replay *r = &core->replay[i];
        if (r->issued && r->at <= now) {
            core->op[r->op].at = now;
            tim_enqueue(core, r->op);
        } else {
            core->replay[left++] = *r;
        }
    }
    core->replays = left;
}
