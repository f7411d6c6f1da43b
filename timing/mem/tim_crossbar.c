/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A crossbar network. Each input has a queue, and only the first packet of the queue can move. Each output serves, by
 * round robin, the inputs whose first packet goes to the output. A packet occupies both ports for one edge per flit, and
 * arrives icnt.latency edges later.
 */
#include "timing/mem/tim_mem_priv.h"

unsigned tim_net_push(struct tim_mem *mem, struct tim_net *net, unsigned input, uint32_t index,
                      uint64_t now)
{
    tim_list_push(mem->node, &net->in[input], index);
    if (mem->wheel != NULL && net->in[input].count == 1)
        tim_fast_first(mem, net, input, tim_clock_edge(&mem->icnt, now));
    return net->in[input].count - 1;
}

uint32_t tim_net_grant(struct tim_mem *mem, struct tim_net *net, unsigned input, unsigned output,
                       uint64_t edge, uint64_t now, bool after)
{
    bool full = net->in[input].count == net->in_capacity;
    uint32_t index = tim_list_pop(mem->node, &net->in[input]);
    struct tim_node *node = &mem->node[index];
    uint64_t free = edge + node->flits, cycle;

    net->in_free[input] = net->out_free[output] = free;
    net->next_input[output] = (uint16_t)(input + 1 == net->inputs ? 0 : input + 1);
    cycle = tim_clock_cycle(&mem->icnt, free - 1 + net->latency) + after;
    node->when = cycle > now ? cycle : now + 1;
    tim_list_push(mem->node, &net->out[output], index);
    mem->slice[net == &mem->replies ? input : output].stats.count[TIM_SLICE_flits] += node->flits;
    if (mem->slow)
        mem->slice[net == &mem->replies ? input : output].stats.count[TIM_SLICE_low_flits] += node->flits;
    if (mem->base.trace != NULL) {
        uint64_t last = tim_clock_cycle(&mem->icnt, free - 1);
        tim_trace_packet(mem->base.trace, now,
                         net == &mem->replies ? TIM_TRACE_REPLY : TIM_TRACE_REQUEST, output,
                         &node->packet, last < now ? 1 : (unsigned)(last + 1 - now));
    }
    if (mem->base.wake != NULL) {
        if (net == &mem->replies)
            mem->base.wake(mem->base.context, output, node->when);
        else if (full)
            mem->base.wake(mem->base.context, input, now + 1);
    }
    return index;
}
