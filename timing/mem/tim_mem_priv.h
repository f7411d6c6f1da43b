/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the memory side (docs/reference/timing-memory.md): a network of crossbars from the cores to the
 * L2 slices, these slices, the channels of DRAM, and a network back. Two implementations share these structures. The fast
 * implementation ticks only the parts in the current bucket of its timing wheel, and searches bit sets
 * (tim_memory_fast.c). The reference ticks every part at every edge of its clock, and scans queues
 * (timing/reference/tim_reference_memory.c). "fast" in a comment marks members and functions of the fast implementation.
 *
 * Packets and DRAM requests are elements of two pools. Lists link them by their index in the pool. "Edge n" of a clock
 * is cycle n of that clock, counted from 0. Each edge falls into one cycle of clocks.core.
 */
#ifndef TIM_MEM_PRIV_H
#define TIM_MEM_PRIV_H

#include "timing/mem/tim_cache_priv.h"
#include "timing/tim_priv.h"

#define TIM_NONE UINT32_MAX

/* ---- clocks -------------------------------------------------------------------------------- */

/** A clock that from cycle `from` of clocks.core on has `edges` edges in `cycles` cycles of clocks.core; the fraction is reduced.
 *  Before cycle `from`, in which its frequency last changed, it had `own` edges. */
struct tim_clock {
    struct tim_divisor edges, cycles;
    uint64_t from, own;
};
void tim_clock_init(struct tim_clock *clock, unsigned mhz, unsigned core_mhz);
/** Gives the clock another frequency from cycle @now on. */
void tim_clock_change(struct tim_clock *clock, uint64_t mhz, uint64_t core_mhz, uint64_t now);
/** Returns the number of edges of the clock before cycle @now of clocks.core. Edges are numbered from 0, so this is also
 *  the number of the first edge in cycle @now or later. A cycle before the last change counts as the cycle of that change. */
static inline uint64_t tim_clock_edge(const struct tim_clock *clock, uint64_t now)
{
    const uint64_t passed = now > clock->from ? now - clock->from : 0;

    return clock->own + (clock->edges.by == clock->cycles.by ? passed : tim_divide(&clock->cycles, passed * clock->edges.by));
}
/** Returns the cycle of clocks.core that contains edge @edge. If the edge was before the last change, returns the cycle of that
 *  change. */
static inline uint64_t tim_clock_cycle(const struct tim_clock *clock, uint64_t edge)
{
    if (edge < clock->own)
        return clock->from;
    edge -= clock->own;
    return clock->from + (clock->edges.by == clock->cycles.by
                              ? edge : tim_divide(&clock->edges, (edge + 1) * clock->cycles.by + clock->edges.by - 1) - 1);
}

/* ---- pools and lists ------------------------------------------------------------------------ */

struct tim_list {
    uint32_t first, last, count; /* first, last: undefined if count is 0 */
};
struct tim_node { /* a packet on the memory side; it is in at most one list at a time */
    struct tim_packet packet;
    uint64_t when;  /* in a network: cycle from which on the receiver sees the packet; in the pipe of an L2 slice: edge from
                     * which on the answer may leave */
    uint64_t local; /* packet.line in the address space of the L2 slice */
    uint32_t next;
    uint32_t came;  /* first edge at which the L2 slice saw the packet, modulo 2^32 */
    uint16_t to;    /* output port */
    uint16_t flits;
    uint16_t answer_flits;
    uint8_t type;    /* MeDiC: enum tim_medic_type of the warp when the core sent the packet */
    bool bypasses;   /* MeDiC: the read takes no line of L2 */
};
struct tim_request { /* a request to DRAM: one or more bursts of one line */
    uint64_t line;   /* address in the address space of the L2 slice */
    uint64_t when;   /* completed read: cycle from which on the L2 slice sees the completion */
    uint64_t since;  /* first edge at which the controller saw the request */
    uint64_t order;  /* fast: sequence number of the request's arrival at the channel, plus TIM_LOW if the request is not `high` */
    uint32_t next;
    uint32_t next_of_bank; /* fast: next request of the same bank */
    uint32_t packet; /* a read that takes no line of L2: the packet that waits for the read; else TIM_NONE */
    uint32_t requester;  /* for traces: the packet that caused the read, or TIM_NONE for a write */
    uint32_t row;
    uint16_t slice, bank;
    uint8_t bursts;  /* number of bursts that remain */
    uint8_t sectors; /* reads: set of sectors of the line that are read */
    bool write, started; /* started: at least one burst was transferred */
    bool high;       /* the request is in the queue that DRAM serves first (MeDiC) */
};

/* ---- networks ------------------------------------------------------------------------------- */

/** A crossbar in one direction. Each array is indexed by input port or by output port. */
struct tim_net {
    unsigned inputs, outputs;
    unsigned in_capacity, out_capacity; /* maximum number of packets in list in[i], and in list out[i] */
    unsigned latency, flit_bytes;
    struct tim_list *in;         /* [input] packets that wait at the input port */
    struct tim_list *out;        /* packets in transit to the output or at it; the receiver takes the first one when the
                                  * packet has arrived */
    uint64_t *in_free, *out_free; /* edge from which on the port can move another packet */
    uint16_t *next_input;              /* [output] the input port that has priority */
    /* fast, by output: set (of want_words words) of the inputs whose first packet goes to the output */
    uint64_t *wants;
    unsigned want_words;
};

/* ---- DRAM ---------------------------------------------------------------------------------- */

#define TIM_NO_ROW UINT32_MAX
struct tim_bank {
    uint32_t row; /* open DRAM row, or TIM_NO_ROW */
    unsigned streak; /* number of requests that the bank has served since its DRAM row was opened */
    bool fresh;      /* no burst was read or written since the DRAM row was opened */
    uint64_t act_ok, col_ok, pre_ok; /* edges from which on the bank allows activate, column access and precharge */
};
/** Fast: commands for a bank. The channel has a separate limit for each kind of command. */
enum tim_command { TIM_READ, TIM_WRITE, TIM_ACTIVATE, TIM_PRECHARGE, TIM_COMMANDS };
/** Fast: the requests of a bank, the request that the bank serves next (`target`), and the command that the target needs next. */
struct tim_aim {
    uint64_t order, ready;    /* order of `target`; edge from which on the bank allows `command` */
    uint32_t first, last;     /* oldest and youngest request of the bank; first is TIM_NONE if there is none */
    uint32_t target;          /* request that the bank serves next, or TIM_NONE if there is none */
    enum tim_command command;
};
struct tim_channel {
    unsigned index;
    uint32_t *queue; /* requests, oldest first */
    unsigned count;
    struct tim_bank *bank;
    /* edges from which on the channel allows column accesses, activates and reads, and from which on its data bus is free */
    uint64_t col_ok, act_ok, read_ok, bus_free;
    uint64_t refreshed;  /* dram.tREFI: number of refreshes that have closed the DRAM rows of the channel */
    uint64_t counted;    /* edge up to which, exclusive, the counter active_cycles is complete */
    struct tim_channel_stats stats;
    /* fast: capacity_waits: set of the channel's L2 slices that wait for space in the queue (bits are tim_slice.part). aim:
     * [bank]. waiting: [command] set of banks whose next command this is. limit: [command] edge from which on the channel
     * allows the command. orders: number of requests so far, which becomes member `order` of the next request. */
    uint64_t capacity_waits[4];
    struct tim_aim *aim;
    uint64_t waiting[TIM_COMMANDS];
    uint64_t limit[TIM_COMMANDS];
    uint64_t orders;
};

/* ---- L2 slices -------------------------------------------------------------------------------- */

struct tim_slice {
    unsigned index, channel, part, parts; /* part: index of the L2 slice among the slices of its channel; parts: their number */
    struct tim_cache *cache;       /* tags of the slice, or NULL if the model has no L2 */
    struct tim_list pipe;          /* packets whose answer leaves when the edge in `when` is reached */
    struct tim_list fills;         /* read requests that DRAM has completed */
    struct tim_list writes;        /* write requests that wait for space in the queue of DRAM */
    unsigned reading;              /* number of outstanding reads that take no line of L2: with MeDiC or without an L2 */
    bool no_capacity; /* the first packet of the input waits for space in the queue of DRAM; reset by a fill */
    struct tim_cache_result looked; /* fast: while no_capacity is set, the result of the first packet's look-up */
    bool stuck;                    /* fast: the first packet waits for a fill, because no MSHR, merge entry or way is
                                    * free */
    uint64_t busy;                 /* edge before which an atomic occupies the L2 slice */
    uint64_t head_since;           /* edge at which the first packet of the input became the first */
    uint32_t arrived, newest;      /* number of packets in the input that have arrived, and the last of them, as of the last
                                    * call of arrived() */
    struct tim_slice_stats stats;
};

/* ---- the memory side ---------------------------------------------------------------------------------- */

struct tim_wheel;
struct tim_medic;
struct tim_mem {
    struct tim_memory base;
    const struct tim_config *config;
    struct tim_clock icnt, l2, dram;
    struct tim_net requests, replies;
    struct tim_slice *slice;
    struct tim_channel *channel;
    struct tim_node *node;
    struct tim_request *request;
    uint32_t node_count, node_fresh, node_free;
    uint32_t request_count, request_fresh, request_free;
    uint64_t in_flight;
    uint32_t *waiters;       /* buffer for the waiters that one fill serves */
    uint64_t *received;      /* [core] 1 + the cycle in which the core last received an answer */
    unsigned burst_cycles, line_bytes;
    struct tim_divisor by_slices, by_flit_bytes;
    struct tim_wheel *wheel; /* timing wheel, or NULL in the reference */
    bool slow;               /* the clocks of crossbar, L2 and DRAM are lowered */
    struct tim_medic *medic; /* types of warps, or NULL if medic.on is off */
};

/** Allocates the state of either implementation. Returns NULL if memory is short. */
struct tim_mem *tim_mem_create(const struct tim_config *config, const struct tim_memory_ops *ops);
void tim_mem_destroy(struct tim_memory *memory);
bool tim_mem_can_send(const struct tim_memory *memory, unsigned core);
/** Copies a packet that a core sends in cycle @now to the pool, and determines its L2 slice and number of flits. Returns the
 *  packet's index. tim_mem_leave() removes an answer that has arrived at @core. It returns false if there is none, or if the
 *  core has already received an answer in this cycle. */
uint32_t tim_mem_enter(struct tim_mem *mem, const struct tim_packet *packet, uint64_t now);
bool tim_mem_leave(struct tim_mem *mem, unsigned core, uint64_t now, struct tim_packet *out);
uint64_t tim_mem_in_flight(const struct tim_memory *memory);
void tim_mem_set_slow(struct tim_memory *memory, bool slow, uint64_t now);
/** Fast: schedules a tick of every part in cycle @now, which has not begun. */
void tim_fast_wake_all(struct tim_mem *mem, uint64_t now);
const struct tim_slice_stats *tim_mem_slice_stats(const struct tim_memory *memory, unsigned slice);
const struct tim_channel_stats *tim_mem_channel_stats(const struct tim_memory *memory, unsigned channel);
void tim_mem_show(const struct tim_memory *memory, struct lw_sink *out);
const struct tim_cache *tim_mem_slice_cache(const struct tim_memory *memory, unsigned slice);

uint32_t tim_request_take(struct tim_mem *mem);
void tim_request_give(struct tim_mem *mem, uint32_t index);
/** Appends @index to a list of nodes or requests of @pool. */
#define tim_list_push(pool, list, index)                                             \
    do {                                                                              \
        struct tim_list *list_ = (list);                                              \
        const uint32_t index_ = (index);                                              \
        *(list_->count++ == 0 ? &list_->first : &(pool)[list_->last].next) = index_;  \
        list_->last = index_;                                                         \
    } while (0)
/** Removes the first element of a list, and returns its index. @next: the element's member `next`. */
static inline uint32_t tim_list_take(struct tim_list *list, uint32_t next)
{
    uint32_t index = list->first;

    list->first = next;
    list->count--;
    return index;
}
#define tim_list_pop(pool, list) tim_list_take(list, (pool)[(list)->first].next)

/* ---- MeDiC (tim_medic.c) ------------------------------------------------------------------------ */

/** Type of a warp, by the share of its reads that hit in L2. */
enum tim_medic_type {
    TIM_MEDIC_ALL_MISS, TIM_MEDIC_MOSTLY_MISS, TIM_MEDIC_BALANCED, TIM_MEDIC_MOSTLY_HIT, TIM_MEDIC_ALL_HIT
};
#define TIM_LOW (UINT64_C(1) << 63)
struct tim_medic *tim_medic_create(const struct tim_config *config);
void tim_medic_destroy(struct tim_medic *medic);
/** Sets the type of @node's packet, which a core sends in cycle @now, and whether it bypasses L2. */
void tim_medic_send(struct tim_medic *medic, struct tim_node *node, uint64_t now);
/** Called when an L2 slice, whose counters are @count, has looked up @node's packet, or has let it bypass L2. */
void tim_medic_looked(struct tim_medic *medic, const struct tim_node *node, bool hit, uint64_t now, uint64_t *count);
void tim_medic_show(const struct tim_medic *medic, struct lw_sink *out);

/* ---- functions of the parts ------------------------------------------------------------------- */

/** Computes the number of flits of a packet to memory, and of its answer. */
void tim_packet_flits(const struct tim_mem *mem, const struct tim_packet *packet, uint16_t *flits,
                      uint16_t *answer_flits);
/** Returns the L2 slice of a global address. If @local is not NULL, sets *local to the address in the contiguous address
 *  space of the slice. @by_slices divides by the number of slices. */
unsigned tim_address_locate(const struct tim_config *config, const struct tim_divisor *by_slices,
                           uint64_t address, uint64_t *local);
/** Sets *bank and *row to the DRAM bank and row of @local, an address in the address space of the slice. */
void tim_dram_locate(const struct tim_config *config, const struct tim_slice *slice, uint64_t local,
                    uint16_t *bank, uint32_t *row);

/** Adds a packet to @input, which must have space, in cycle @now. Returns the number of packets before it at the input. */
unsigned tim_net_push(struct tim_mem *mem, struct tim_net *net, unsigned input, uint32_t index,
                  uint64_t now);
/** Fast: called when a request has been added to the queue of a DRAM controller. */
void tim_fast_requested(struct tim_mem *mem, struct tim_channel *channel, uint32_t request);
/** Fast: called when another packet has become the first one of @input. This packet can move from @edge on. */
void tim_fast_first(struct tim_mem *mem, struct tim_net *net, unsigned input, uint64_t edge);
/** Moves the first packet of @input to @output at @edge of cycle @now, and returns its index. @after: the receiver sees
 *  the packet one cycle after its arrival, because the receiver's phase is before the phase of the network. */
uint32_t tim_net_grant(struct tim_mem *mem, struct tim_net *net, unsigned input, unsigned output,
                       uint64_t edge, uint64_t now, bool after);

/** Runs edge @edge of an L2 slice in cycle @now: sends at most one answer and one write, and processes at most one fill and
 *  one look-up. Returns true if the slice did any of these. */
bool tim_slice_tick(struct tim_mem *mem, struct tim_slice *slice, uint64_t edge, uint64_t now);

/** Adds a request to a controller's queue, which must have space, in cycle @now. */
void tim_channel_push(struct tim_mem *mem, struct tim_channel *channel, uint32_t request,
                      uint64_t now);
static inline bool tim_channel_has_capacity(const struct tim_mem *mem,
                                        const struct tim_channel *channel)
{
    return channel->count < mem->config->dram_queue;
}
/** Opens DRAM row @row of a bank: executes the command that a scheduler selected. */
void tim_channel_activate(struct tim_mem *mem, struct tim_channel *channel, unsigned bank,
                          uint32_t row, uint64_t edge);
/** Closes the DRAM row of a bank: executes the command that a scheduler selected. */
void tim_channel_precharge(struct tim_mem *mem, struct tim_channel *channel, unsigned bank,
                           uint64_t edge);
/** Handles refresh at edge @edge. If a refresh has begun since the last call, closes all DRAM rows. Sets *closed to whether a
 *  refresh has begun since the last call. Returns true if a refresh is in progress, so that no command may be given. */
bool tim_channel_refresh(const struct tim_mem *mem, struct tim_channel *channel, uint64_t edge, bool *closed);
/** Returns the first edge after @edge at which a refresh ends, or UINT64_MAX if there are no refreshes. */
uint64_t tim_channel_refresh_over(const struct tim_mem *mem, const struct tim_channel *channel, uint64_t edge);

/** Transfers one burst of request @index. @at: position of the request in the queue, which is used only for the last
 *  burst. Returns true if the burst was the last one, so that the request has left the queue. */
bool tim_channel_column(struct tim_mem *mem, struct tim_channel *channel, uint32_t index, unsigned at,
                        uint64_t edge);

#endif
