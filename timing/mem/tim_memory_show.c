/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the state of the memory side: queues, requested lines, open DRAM rows. Ports, L2 slices and channels without packets,
 * requests or open DRAM rows are omitted. Addresses are global memory addresses. */
#include "timing/mem/tim_mem_priv.h"

static void show_ports(const struct tim_mem *mem, struct lw_sink *out)
{
    for (unsigned i = 0; i < mem->config->core_count; i++)
        if (mem->requests.in[i].count != 0 || mem->replies.out[i].count != 0)
            lw_printf(out, "core %u: %u of at most %u packets wait to be sent; answers that are arriving: %u\n", i,
                      mem->requests.in[i].count, mem->requests.in_capacity,
                      mem->replies.out[i].count);
}

static void show_slice(const struct tim_mem *mem, const struct tim_slice *slice,
                       struct lw_sink *out)
{
    unsigned input = mem->requests.out[slice->index].count;
    unsigned output = mem->replies.in[slice->index].count;
    unsigned mshrs = (slice->cache != NULL ? tim_cache_mshrs_used(slice->cache) : 0) + slice->reading;

    if (input + output + mshrs + slice->pipe.count + slice->writes.count + slice->fills.count == 0)
        return;
    lw_printf(out, "slice %u: arriving packets: %u; outstanding lines: %u of at most %u; requests in the pipe: %u; "
                   "writes that wait for DRAM: %u; reads that return from DRAM: %u; answers that wait to be sent: "
                   "%u\n",
              slice->index, input, mshrs, mem->config->l2_mshrs, slice->pipe.count,
              slice->writes.count, slice->fills.count, output);
    for (unsigned set = 0; slice->cache != NULL && set < tim_cache_sets(slice->cache); set++)
        for (unsigned way = 0; way < mem->config->l2_ways; way++) {
            struct tim_cache_line line;

            if (tim_cache_line(slice->cache, set, way, &line) && line.pending != 0)
                lw_printf(out, "  line 0x%llx (set %u, way %u): sectors 0x%x requested by %u accesses\n",
                          (unsigned long long)tim_address_of(mem->config, slice->index, line.line),
                          set, way, line.pending, line.waiters);
        }
}

static void show_channel(const struct tim_mem *mem, const struct tim_channel *channel,
                         struct lw_sink *out)
{
    unsigned open = 0, shown = 0;

    for (unsigned b = 0; b < mem->config->dram_banks; b++)
        open += channel->bank[b].row != TIM_NO_ROW;
    if (channel->count + open == 0)
        return;
    lw_printf(out, "channel %u: requests %u of %u", channel->index, channel->count,
              mem->config->dram_queue);
    for (unsigned b = 0; b < mem->config->dram_banks; b++)
        if (channel->bank[b].row != TIM_NO_ROW)
            lw_printf(out, "%s %u in bank %u", shown++ == 0 ? "; open rows:" : ",",
                      channel->bank[b].row, b);
    lw_put(out, "\n");
    for (unsigned i = 0; i < channel->count; i++) {
        const struct tim_request *r = &mem->request[channel->queue[i]];

        lw_printf(out, "  %s line 0x%llx of slice %u: bank %u row %u, %u burst%s\n",
                  r->write ? "write" : "read",
                  (unsigned long long)tim_address_of(mem->config, r->slice, r->line), r->slice,
                  r->bank, r->row, r->bursts, r->bursts == 1 ? "" : "s");
    }
}

void tim_mem_show(const struct tim_memory *memory, struct lw_sink *out)
{
    const struct tim_mem *mem = (const struct tim_mem *)memory;

    lw_printf(out, "%llu packet%s without an answer\n", (unsigned long long)mem->in_flight,
              mem->in_flight == 1 ? " is" : "s are");
    show_ports(mem, out);
    if (mem->medic != NULL)
        tim_medic_show(mem->medic, out);
    for (unsigned i = 0; i < mem->config->l2_slices; i++)
        show_slice(mem, &mem->slice[i], out);
    for (unsigned i = 0; i < mem->config->dram_channels; i++)
        show_channel(mem, &mem->channel[i], out);
}

const struct tim_cache *tim_mem_slice_cache(const struct tim_memory *memory, unsigned slice)
{
    return ((const struct tim_mem *)memory)->slice[slice].cache;
}
