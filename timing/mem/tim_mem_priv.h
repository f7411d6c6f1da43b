/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory side from inside (docs/reference/timing-memory.md): a network of crossbars from the cores to the
 * slices, slices of L2, channels of DRAM, and a network back. One set of structures for the two
 * implementations: the fast one ticks what a wheel of cycles says (tim_memory_fast.c) and searches bit
 * sets; the reference ticks every part at every edge of its clock and scans
 * (timing/reference/tim_reference_memory.c).
 *
 * Packets and DRAM requests lie in pools and are in lists by index. "Edge" n of a clock is the
 * n-th cycle of that clock; it falls into one cycle of clocks.core.
 */
#ifndef TIM_MEM_PRIV_H
#define TIM_MEM_PRIV_H

#include "timing/mem/tim_cache_priv.h"
#include "timing/tim_priv.h"

#define TIM_NONE UINT32_MAX

/* ---- clocks -------------------------------------------------------------------------------- */

/** A clock with @edges edges in @cycles cycles of clocks.core, in lowest terms. */
struct tim_clock {
    struct tim_divisor edges, cycles;
};
void tim_clock_init(struct tim_clock *clock, unsigned mhz, unsigned core_mhz);
/** Edges before cycle @now of the cores: its own first edge, if it has one, has this number. */
static inline uint64_t tim_clock_edge(const struct tim_clock *clock, uint64_t now)
{
    return clock->edges.by == clock->cycles.by ? now
                                               : tim_divide(&clock->cycles, now * clock->edges.by);
}
/** The cycle into which edge @edge falls. */
static inline uint64_t tim_clock_cycle(const struct tim_clock *clock, uint64_t edge)
{
    return clock->edges.by == clock->cycles.by
               ? edge : tim_divide(&clock->edges,
                                   (edge + 1) * clock->cycles.by + clock->edges.by - 1) - 1;
}

/* ---- pools and lists ------------------------------------------------------------------------ */

struct tim_list {
    uint32_t first, last, count; /* first, last: meaningless when count is 0 */
};
struct tim_node { /* a packet, in one list at a time */
    struct tim_packet packet;
    uint64_t when;  /* on its way: cycle from which the receiver sees it; in a pipe: edge */
    uint64_t local; /* packet.line in the slice's own addresses */
    uint32_t next;
    uint32_t came;  /* edge from which the slice saw it, modulo 2^32 */
    uint16_t to;    /* output port */
    uint16_t flits;
    uint16_t answer_flits;
};
struct tim_request { /* to DRAM: bursts of one line */
    uint64_t line;   /* of the slice's own addresses */
    uint64_t when;   /* of a read that comes back: cycle from which the slice sees it */
    uint64_t since;  /* first edge at which the controller saw it */
    uint64_t order;  /* fast: of its arrival at the channel */
    uint32_t next;
    uint32_t next_of_bank; /* fast */
    uint32_t packet; /* who waits, without an L2; else TIM_NONE */
    uint32_t requester;  /* who made a read, for traces; TIM_NONE: a write */
    uint32_t row;
    uint16_t slice, bank;
    uint8_t bursts;  /* left */
    uint8_t sectors;
    bool write, started;
};

/* ---- networks ------------------------------------------------------------------------------- */

struct tim_net {
    unsigned inputs, outputs;
    unsigned in_capacity, out_capacity; /* packets: at an input; on the way to and at an output */
    unsigned latency, flit_bytes;
    struct tim_list *in;
    struct tim_list *out;        /* in order; the receiver takes the first when it sees it */
    uint64_t *in_free, *out_free; /* edge from which the port moves another packet */
    uint16_t *next_input;              /* of an output: the input that is asked first */
    /* fast: inputs whose first packet goes to this output, a set each */
    uint64_t *wants;
    unsigned want_words;
};

/* ---- DRAM ---------------------------------------------------------------------------------- */

#define TIM_NO_ROW UINT32_MAX
struct tim_bank {
    uint32_t row; /* open, or TIM_NO_ROW */
    unsigned streak; /* requests that the open row has served */
    bool fresh;      /* no column access since the row was opened */
    uint64_t act_ok, col_ok, pre_ok; /* edges */
};
/** Fast: kinds of commands that banks wait to give, each with its own limits of the channel. */
enum tim_command { TIM_READ, TIM_WRITE, TIM_ACTIVATE, TIM_PRECHARGE, TIM_COMMANDS };
/** Fast: what a bank works for. */
struct tim_aim {
    uint64_t order, ready;    /* of the target; edge from which the bank itself allows the command */
    uint32_t first, last;     /* requests of the bank, oldest first; TIM_NONE: none */
    uint32_t target;
    enum tim_command command;
};
struct tim_channel {
    unsigned index;
    uint32_t *queue; /* requests, oldest first */
    unsigned count;
    struct tim_bank *bank;
    uint64_t col_ok, act_ok, read_ok, bus_free; /* edges */
    uint64_t refreshed;  /* dram.tREFI: refreshes that have closed its rows */
    uint64_t counted;    /* edges before this one are in active_cycles, or were idle */
    struct tim_channel_stats stats;
    /* fast: slices that wait for room, a set of the channel's parts; what each bank works for;
     * banks by their commands, sets; requests so far */
    uint64_t capacity_waits[4];
    struct tim_aim *aim;
    uint64_t waiting[TIM_COMMANDS];
    uint64_t limit[TIM_COMMANDS]; /* edges from which the channel allows each command */
    uint64_t orders;
};

/* ---- slices -------------------------------------------------------------------------------- */

struct tim_slice {
    unsigned index, channel, part, parts; /* of the channel's slices, this one; and how many */
    struct tim_cache *cache;       /* NULL: no L2 */
    struct tim_list pipe;          /* answers, each with the edge from which it may go */
    struct tim_list fills;         /* requests that come back from DRAM */
    struct tim_list writes;        /* requests that go to DRAM as soon as it has room */
    unsigned reading;              /* without an L2: reads under way */
    bool no_capacity;                  /* the first of the input needs DRAM's room, until a fill */
    struct tim_cache_result looked; /* fast: while no_capacity, what was found */
    bool stuck;                    /* fast: it needs a fill: an MSHR, a merge, a way */
    uint64_t busy;                 /* edge before which an atomic holds it */
    uint64_t head_since;           /* edge from which the first of the input is there */
    uint32_t arrived, newest;      /* of the input: seen by the slice; the last of these */
    struct tim_slice_stats stats;
};

/* ---- all of it ------------------------------------------------------------------------------- */

struct tim_wheel;
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
    uint32_t *waiters;       /* that one fill lets go */
    uint64_t *received;      /* of a core: the cycle after its last answer */
    unsigned burst_cycles, line_bytes;
    struct tim_divisor by_slices, by_flit_bytes;
    struct tim_wheel *wheel; /* fast only */
};

/** Shared by both: memory for all of it. NULL: no memory. */
struct tim_mem *tim_mem_create(const struct tim_config *config, const struct tim_memory_ops *ops);
void tim_mem_destroy(struct tim_memory *memory);
bool tim_mem_can_send(const struct tim_memory *memory, unsigned core);
/** A packet comes in, with its slice and flits; one goes to its core, if one is there. */
uint32_t tim_mem_enter(struct tim_mem *mem, const struct tim_packet *packet);
bool tim_mem_leave(struct tim_mem *mem, unsigned core, uint64_t now, struct tim_packet *out);
uint64_t tim_mem_in_flight(const struct tim_memory *memory);
const struct tim_slice_stats *tim_mem_slice_stats(const struct tim_memory *memory, unsigned slice);
const struct tim_channel_stats *tim_mem_channel_stats(const struct tim_memory *memory, unsigned channel);
void tim_mem_show(const struct tim_memory *memory, struct lw_sink *out);
const struct tim_cache *tim_mem_slice_cache(const struct tim_memory *memory, unsigned slice);

uint32_t tim_request_take(struct tim_mem *mem);
void tim_request_give(struct tim_mem *mem, uint32_t index);
/** Append @index to a list of @pool's, nodes or requests; take the first. */
#define tim_list_push(pool, list, index)                                             \
    do {                                                                              \
        struct tim_list *list_ = (list);                                              \
        const uint32_t index_ = (index);                                              \
        *(list_->count++ == 0 ? &list_->first : &(pool)[list_->last].next) = index_;  \
        list_->last = index_;                                                         \
    } while (0)
static inline uint32_t tim_list_take(struct tim_list *list, uint32_t next)
{
    uint32_t index = list->first;

    list->first = next;
    list->count--;
    return index;
}
#define tim_list_pop(pool, list) tim_list_take(list, (pool)[(list)->first].next)

/** Flits of a packet towards memory, and of its answer. */
void tim_packet_flits(const struct tim_mem *mem, const struct tim_packet *packet, uint16_t *flits,
                      uint16_t *answer_flits);
/** Slice of an address, and its address in the slice's own space (gaps closed). @by_slices: divides by their number. */
unsigned tim_address_locate(const struct tim_config *config, const struct tim_divisor *by_slices,
                           uint64_t address, uint64_t *local);
/** Place in DRAM of an address of a slice's own. */
void tim_dram_locate(const struct tim_config *config, const struct tim_slice *slice, uint64_t local,
                    uint16_t *bank, uint32_t *row);

/** A packet enters an input, which has room, in cycle @now. Returns those before it there. */
unsigned tim_net_push(struct tim_mem *mem, struct tim_net *net, unsigned input, uint32_t index,
                  uint64_t now);
/** The fast one hears of it: a request came; a packet became an input's first, at @edge at the
 *  soonest. */
void tim_fast_requested(struct tim_mem *mem, struct tim_channel *channel, uint32_t request);
void tim_fast_first(struct tim_mem *mem, struct tim_net *net, unsigned input, uint64_t edge);
/** The first packet of @input goes to @output at @edge of cycle @now. @after: its arrival is seen from the cycle
 *  after its edge's (the receiver's phase comes before the network's). */
uint32_t tim_net_grant(struct tim_mem *mem, struct tim_net *net, unsigned input, unsigned output,
                       uint64_t edge, uint64_t now, bool after);

/** Edge @edge of a slice in cycle @now: an answer, a write, a fill, a look-up: one each at most.
 *  True: something was done. */
bool tim_slice_tick(struct tim_mem *mem, struct tim_slice *slice, uint64_t edge, uint64_t now);

/** A request enters a controller's queue, which has room, in cycle @now. */
void tim_channel_push(struct tim_mem *mem, struct tim_channel *channel, uint32_t request,
                      uint64_t now);
static inline bool tim_channel_has_capacity(const struct tim_mem *mem,
                                        const struct tim_channel *channel)
{
    return channel->count < mem->config->dram_queue;
}
/** Commands, as a scheduler decided: opens a row, closes one. */
void tim_channel_activate(struct tim_mem *mem, struct tim_channel *channel, unsigned bank,
                          uint32_t row, uint64_t edge);
void tim_channel_precharge(struct tim_mem *mem, struct tim_channel *channel, unsigned bank,
                           uint64_t edge);
/** At edge @edge: a refresh that began since the last call has closed all rows (*closed). True: it is not over, no
 *  command may be given. */
bool tim_channel_refresh(const struct tim_mem *mem, struct tim_channel *channel, uint64_t edge, bool *closed);
/** The first edge after @edge at which a refresh is over; UINT64_MAX: there are none. */
uint64_t tim_channel_refresh_over(const struct tim_mem *mem, const struct tim_channel *channel, uint64_t edge);

/** A burst of @index, whose place in the queue is @at: read for its last burst alone. True: the
 *  request has left the queue. */
bool tim_channel_column(struct tim_mem *mem, struct tim_channel *channel, uint32_t index, unsigned at,
                        uint64_t edge);

#endif
