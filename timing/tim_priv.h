/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of timing/: the keys of a model, counters, packets between cores and memory, and the interfaces
 * of cores and memory. A core (timing/core) sends packets for its memory instructions and its fetches; the memory
 * system (timing/mem) answers them; timing/grid places blocks on cores; tim_engine.c advances time.
 *
 * Time is counted in cycles of clocks.core from 0. In a cycle the phases run in this order, so that results do not
 * depend on the order in which parts are visited: DRAM, L2 slices, crossbar to the cores, cores in index order
 * (each: write-back, pipes, load/store unit, collectors, issue, fetch), crossbar from the cores, block dispatch. A
 * packet takes at least one cycle from one part to the next. Only back-pressure (a part has no space) affects later
 * phases of the same cycle.
 *
 * Comments name the source of a rule. docs/reference/mechanisms.md has the titles of the theses, and says what the
 * specification of a source is. "The book" is T. M. Aamodt, W. W. L. Fung, T. G. Rogers, "General-Purpose Graphics
 * Processor Architectures", 2018.
 */
#ifndef TIM_PRIV_H
#define TIM_PRIV_H

#include "timing/timing.h"

/* ---- keys -------------------------------------------------------------------------------- */

/* Limits; then an enumeration for each CHOICE of keys.def, with the values in the order of the key's names. */
enum { TIM_MAX_SCHEDS = 8, TIM_MAX_WIDTH = 5 }; /* schedulers of a core; issue width of a scheduler */
enum { TIM_RECONV_CBAR, TIM_RECONV_STACK, TIM_RECONV_FRONTIER, TIM_RECONV_MULTIPATH, TIM_RECONV_EARLY, TIM_RECONV_LIKELY, TIM_RECONV_DUALPATH };
enum { TIM_SCHED_LRR, TIM_SCHED_GTO, TIM_SCHED_TWO_LEVEL, TIM_SCHED_SWL, TIM_SCHED_CGGTY, TIM_SCHED_ACTIVE_PENDING, TIM_SCHED_POLICIES };
enum { TIM_SWL_OLDEST, TIM_SWL_STICKY };
enum { TIM_MRPB_WARP, TIM_MRPB_BLOCK };
enum { TIM_DYNPCAL_MAX_TLP, TIM_DYNPCAL_CCWS };
enum { TIM_CORES_MOST = 1024 }; /* largest value of core.count */
enum { TIM_GOAL_ENERGY, TIM_GOAL_SPEED };
enum { TIM_PERMUTE_NONE, TIM_PERMUTE_XOR, TIM_PERMUTE_MIRROR, TIM_PERMUTE_REVERSE, TIM_PERMUTE_ROTATE };
enum { TIM_ADEQUATE, TIM_INADEQUATE }; /* tbc.capri_initial */
enum { TIM_DWF_MAJORITY, TIM_DWF_MINORITY, TIM_DWF_TIME, TIM_DWF_PC, TIM_DWF_POLICY };
enum { TIM_LSU_QUEUE_MOST = 256 }; /* the largest value of lsu.queue */
enum { TIM_CUTOFF_END, TIM_CUTOFF_START };
enum { TIM_SCORE_MAX, TIM_SCORE_ASSIGN };
enum { TIM_BY_WARP, TIM_BY_THREAD };
enum { TIM_BY_ACCESS, TIM_BY_LOAD };
enum { TIM_DWR_ANY, TIM_DWR_SAME_PC };
enum { TIM_DWR_SUBWARP, TIM_DWR_LARGE };
enum { TIM_DWR_IMPLICIT, TIM_DWR_EXPLICIT };
enum { TIM_DAWS_AGE, TIM_DAWS_ADMITTED };
enum { TIM_TOO_BIG_LOOP, TIM_TOO_BIG_WARP };
enum { TIM_BARRIER_RESTORE, TIM_BARRIER_ZERO };
enum { TIM_LANES_ACTIVE, TIM_LANES_ALL };
enum { TIM_VWS_BOTH, TIM_VWS_GANG, TIM_VWS_SLICE };
enum { TIM_GANGS_BGTO, TIM_GANGS_GTO, TIM_GANGS_LRR, TIM_GANGS_LPC, TIM_GANGS_LGTO };
enum { TIM_GANGS_WAIT, TIM_GANGS_IMPATIENT, TIM_GANGS_GROUP };
enum { TIM_REFORM_NONE, TIM_REFORM_OPPORTUNISTIC };
enum { TIM_FETCH_LRR, TIM_FETCH_GREEDY };
enum { TIM_ORDER_LRR, TIM_ORDER_GTO };
enum { TIM_DEP_SCOREBOARD, TIM_DEP_VECTOR, TIM_DEP_CONTROL, TIM_DEP_COUNTERS };
enum { TIM_WAR_NONE, TIM_WAR_COMMIT, TIM_WAR_READ, TIM_WAR_BLOOM, TIM_WAR_COUNTERS };
enum { TIM_COLLECTOR_TICKED, TIM_COLLECTOR_RESERVED, TIM_COLLECTOR_WINDOW };
enum { TIM_REGISTERS_ROWS, TIM_REGISTERS_UNIFORM, TIM_REGISTERS_AFFINE };
enum { TIM_COMPACT_FILE, TIM_COMPACT_PART };
enum { TIM_DETECT_OFF, TIM_DETECT_TABLE }; /* the further values of key tags.detect are 1 + a value of enum emu_tag_rules */
enum { TIM_SCALAR_OFF, TIM_SCALAR_LANE, TIM_SCALAR_PIPE };
enum { TIM_AFFINE_OFF, TIM_AFFINE_UNIT };
enum { TIM_ADDRESS_LANES, TIM_ADDRESS_ONCE };
enum { TIM_SWITCH_ANY, TIM_SWITCH_GREEDY };
enum { TIM_FREEZE_HELD, TIM_FREEZE_NONE, TIM_FREEZE_ALL };
enum { TIM_COALESCE_LINE, TIM_COALESCE_HALF_STRICT, TIM_COALESCE_HALF_SEGMENT };
enum { TIM_REPLAY_NONE, TIM_REPLAY_BUFFER };
enum { TIM_COMPRESS_NONE, TIM_COMPRESS_BASIC, TIM_COMPRESS_SWIZZLED };
enum { TIM_L1_CACHE, TIM_L1_READONLY, TIM_L1_OFF };
enum { TIM_STORE_EVICT, TIM_STORE_UPDATE };
enum { TIM_BYPASS_NONE, TIM_BYPASS_STALL };
enum { TIM_HASH_NONE, TIM_HASH_XOR };
enum { TIM_L2_BACK, TIM_L2_THROUGH };
enum { TIM_ORF_CACHE, TIM_ORF_COMPILER };
enum { TIM_ROWS_BLOCK, TIM_ROWS_WARP };
enum { TIM_PRF_FIRST, TIM_PRF_CODE, TIM_PRF_PILOT, TIM_PRF_HYBRID };
enum { TIM_DRAM_FRFCFS, TIM_DRAM_FCFS };
enum { TIM_DVFS_COUNT, TIM_DVFS_DIVERT, TIM_DVFS_SCALE, TIM_DVFS_VOTE };
enum { TIM_BLOCKS_RR, TIM_BLOCKS_TB_PRI, TIM_BLOCKS_SMX_BIND, TIM_BLOCKS_ADAPTIVE, TIM_BLOCKS_BCS, TIM_BLOCKS_LA_B, TIM_BLOCKS_POLICIES };
enum { TIM_LOOP_BOUNDS, TIM_LOOP_FIRST };
enum { TIM_NEAREST_SUM, TIM_NEAREST_MOST };

/** A row of keys.def, for the parser of model files, its messages and the manual. */
enum tim_key_kind { TIM_KEY_NUMBER, TIM_KEY_SWITCH, TIM_KEY_CHOICE };
struct tim_key {
    const char *section, *name; /* for a key of a functional unit, for example "units" and "int.pipes" */
    enum tim_key_kind kind;
    size_t offset;              /* offset of the key's member in struct tim_config: a bool for a switch, else an unsigned */
    unsigned value, low, high;  /* value: the default; low, high: the range */
    const char *unit;           /* unit of a number */
    const char *names;          /* names of a choice: "a|b" */
    const char *help;
};
extern const struct tim_key tim_keys[]; /* rows in the order of keys.def, with the keys of functional units at the end */
extern const size_t tim_key_count;
/** Returns the help of @section; NULL: there is none. */
const char *tim_section_help(const char *section);
/** Creates the model with all defaults. Errors: LW_ENOMEM. */
enum lw_status tim_config_default(struct tim_config **out, struct lw_error *err) LW_MUST_CHECK;
/** Reads a model's file from memory; @name is used in messages and becomes the model's name. The function does not
 *  check keys against each other. Errors: those of tim_config_load. */
enum lw_status tim_config_read(const char *name, const char *text, size_t size,
                               struct tim_config **out, struct lw_error *err) LW_MUST_CHECK;
/** Prints all keys as a JSON object: {"core": {"count": 15, ...}, ..., "units": {"int": {...}}}. */
void tim_config_json(const struct tim_config *config, struct lw_sink *out);

/** A functional unit. The unit's pipes are divided evenly among the schedulers. With fewer pipes than schedulers, scheduler s
 *  uses pipe s mod pipes; otherwise scheduler s uses each pipe p with p mod schedulers = s. The keys are `units: {NAME:
 *  {pipes: , lanes: , latency: }}`, with a NAME of isa_unit_name. */
struct tim_unit_config {
    unsigned pipes;   /* pipes in a core; 0: this unit's instructions use a pipe of unit `int`, with the lanes and latency of
                       * this unit */
    unsigned lanes;   /* lanes that start in a cycle: an instruction occupies the pipe for ceil(W / lanes) cycles */
    unsigned latency; /* cycles from the start of the first lane to the result of all lanes */
};

/** A profile of loads (timing/tables/tim_profile_priv.h). */
struct tim_profile;
/** Adds a user of a profile. @profile may be NULL. */
void tim_profile_share(struct tim_profile *profile);
/** Removes a user of a profile, and frees the profile if it has no other user. @profile may be NULL. */
void tim_profile_release(struct tim_profile *profile);

struct tim_config {
    char *name; /* name of the model; owned */
    struct tim_profile *profile; /* profile of loads from an earlier run, shared with other models, or NULL if there is none */
#define NUMBER(section, key, value, low, high, unit, help) unsigned section##_##key;
#define SWITCH(section, key, value, help) bool section##_##key;
#define CHOICE(section, key, value, names, help) unsigned section##_##key;
#include "timing/keys.def"
    struct tim_unit_config unit[ISA_UNIT_COUNT];
};

/* ---- counters ---------------------------------------------------------------------------- */

enum tim_stall {
#define STALL_REASON(id, name, message) TIM_STALL_##id,
#include "timing/stall_reasons.def"
    TIM_STALL_COUNT
};

const char *tim_stall_name(enum tim_stall reason);
const char *tim_stall_message(enum tim_stall reason); /* for example "waits for data of a load" */

#include "timing/tim_counts_priv.h"

/** A row of stats.def. */
struct tim_counter {
    const char *name, *unit, *help;
};
extern const struct tim_counter tim_gpu_counters[TIM_GPU_COUNT];
extern const struct tim_counter tim_core_counters[TIM_CORE_COUNT];
extern const struct tim_counter tim_sched_counters[TIM_SCHED_COUNT];
extern const struct tim_counter tim_slice_counters[TIM_SLICE_COUNT];
extern const struct tim_counter tim_channel_counters[TIM_CHANNEL_COUNT];
extern const struct tim_counter tim_core_histograms[TIM_CORE_H_COUNT];
extern const struct tim_counter tim_slice_histograms[TIM_SLICE_H_COUNT];
extern const struct tim_counter tim_channel_histograms[TIM_CHANNEL_H_COUNT];

/** Histogram buckets by powers of two: bucket b counts values in [2^(b-1), 2^b), and bucket 0 counts zeros. */
enum { TIM_BUCKETS = 24 };
struct tim_histogram {
    uint64_t sum, most;           /* sum and maximum of the values */
    uint64_t bucket[TIM_BUCKETS]; /* the sum of the buckets is the number of values */
};
static inline void tim_histogram_add(struct tim_histogram *h, uint64_t value)
{
    unsigned b = value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);

    h->bucket[b < TIM_BUCKETS ? b : TIM_BUCKETS - 1]++;
    h->sum += value;
    if (value > h->most)
        h->most = value;
}
uint64_t tim_histogram_count(const struct tim_histogram *h);

/** Counters of a core and of its schedulers. */
struct tim_core_stats {
    uint64_t count[TIM_CORE_COUNT];
    struct {
        uint64_t count[TIM_SCHED_COUNT];
        /** [issue slot in a cycle][stall reason]: number of cycles. The counts of one slot add up to all cycles. */
        uint64_t reason[TIM_MAX_WIDTH][TIM_STALL_COUNT];
    } sched[TIM_MAX_SCHEDS];
    struct tim_histogram histogram[TIM_CORE_H_COUNT];
};
struct tim_slice_stats {
    uint64_t count[TIM_SLICE_COUNT];
    struct tim_histogram histogram[TIM_SLICE_H_COUNT];
};
struct tim_channel_stats {
    uint64_t count[TIM_CHANNEL_COUNT];
    struct tim_histogram histogram[TIM_CHANNEL_H_COUNT];
};

/** All counters, summed over cores, schedulers, L2 slices and channels. */
struct tim_sums {
    uint64_t gpu[TIM_GPU_COUNT], core[TIM_CORE_COUNT], sched[TIM_SCHED_COUNT];
    uint64_t reason[TIM_STALL_COUNT]; /* number of issue slots with each stall reason */
    uint64_t slice[TIM_SLICE_COUNT], channel[TIM_CHANNEL_COUNT];
};
struct tim_kernel_stats {
    const char *name;              /* borrowed from the program */
    uint32_t grid;                 /* sequence number of the launch */
    /** The cycles in which these events happened: `queued`: the kernel was launched. `dispatched`: the kernel entered
     *  the distributor for the first time. `started`: first cycle with a block of the kernel on a core; 0: not yet.
     *  `begun`: the kernel issued its first instruction. `ended`: the kernel's last block ended; 0: not yet. */
    uint64_t queued, dispatched, started, begun, ended;
    bool is_dispatched;
    uint64_t blocks, warp_instructions, thread_instructions; /* counts of this kernel alone */
    /** Growth of the GPU's counters from `started` to `ended`, both inclusive. Other kernels that run at the same time
     *  contribute to it. While the kernel runs, the member contains the values of the counters before `started`. */
    struct tim_sums sums;
};
/** An interval sample: the counters up to the end of a cycle. */
struct tim_sample {
    uint64_t cycle;
    struct tim_sums sums;
};
/** Counters of an engine for reports, borrowed until the engine runs again. All counters include the cycles before
 *  gpu[TIM_GPU_cycles]: tim_engine_totals() first updates the counters that the engine updates lazily. */
struct tim_totals {
    const struct tim_config *config;
    uint64_t gpu[TIM_GPU_COUNT];
    const struct tim_core_stats *core;                 /* [config->core_count] */
    const struct tim_slice_stats *const *slice;        /* [config->l2_slices] */
    const struct tim_channel_stats *const *channel;    /* [config->dram_channels] */
    const struct tim_kernel_stats *kernel;             /* sorted by `queued` */
    size_t kernel_count;
    const struct tim_sample *sample;
    size_t sample_count;
    uint64_t sample_cycles; /* interval between samples */
    const char *ended;      /* text for reports: why the run ended early; NULL: it did not end early */
    /** Writes further parts of a report: tables as text or, if @json, members of the report's JSON object, with a comma
     *  before each. NULL: there are no further parts. */
    void (*more)(const void *context, bool json, struct lw_sink *out);
    const void *context;    /* first argument of `more` */
};
/** Samples of an engine: a growing array that tim_totals borrows. A zeroed struct is empty. */
struct tim_samples {
    struct tim_sample *sample; /* owned */
    size_t count, capacity;
    uint64_t every; /* interval in cycles, or 0 if no samples are taken */
    bool full;      /* a sample was lost for lack of memory */
};
/** Returns the value of TIM_GPU_cycles at which the next sample is to be taken, or UINT64_MAX if no samples are taken. */
static inline uint64_t tim_samples_next(const struct tim_samples *samples)
{
    return samples->every == 0 ? UINT64_MAX : (samples->count + 1) * samples->every;
}
void tim_samples_add(struct tim_samples *samples, uint64_t cycle,
                     const struct tim_totals *totals);
void tim_samples_fini(struct tim_samples *samples);
/** Returns the number of cycles from `started` to `ended`, both inclusive, of a kernel that has ended. */
static inline uint64_t tim_kernel_cycles(const struct tim_kernel_stats *kernel)
{
    return kernel->ended - kernel->started + 1;
}
/** A ratio of counters: one row for reports and the manual. */
struct tim_ratio {
    const char *name, *unit, *help;
    bool share; /* the ratio is a share, which is printed in % */
    /** Computes the ratio; NAN: the divisor is 0. */
    double (*value)(const struct tim_sums *sums, const struct tim_config *config);
};
extern const struct tim_ratio tim_ratios[];
extern const size_t tim_ratio_count;
/** Histograms of the whole GPU. */
struct tim_histograms {
    struct tim_histogram core[TIM_CORE_H_COUNT], slice[TIM_SLICE_H_COUNT],
        channel[TIM_CHANNEL_H_COUNT];
};
void tim_histograms_take(const struct tim_totals *totals, struct tim_histograms *out);
void tim_sums_take(const struct tim_totals *totals, struct tim_sums *out);
/** Subtracts all counters of @from from the counters of @sums. */
void tim_sums_subtract(struct tim_sums *sums, const struct tim_sums *from);
/** These functions implement tim_report_print(), tim_report_json() and tim_counts_hash() for the totals of an engine. */
void tim_totals_print(const struct tim_totals *totals, struct lw_sink *out);
void tim_totals_json(const struct tim_totals *totals, struct lw_sink *out);
uint64_t tim_totals_hash(const struct tim_totals *totals);

/** Address at which caches see the local memory of warps; addresses of global memory are lower. */
#define TIM_LOCAL_BASE (UINT64_C(1) << 46)

/* ---- packets ----------------------------------------------------------------------------- */

enum tim_packet_kind {
    TIM_PACKET_READ,   /* the answer has the sectors that were requested */
    TIM_PACKET_WRITE,  /* the answer has no data; it is sent when the write has reached L2 (fences wait for the answer) */
    TIM_PACKET_ATOMIC, /* the answer has a value for each lane */
    TIM_PACKET_REDUCE  /* an atomic whose result is not used; the answer has no data, as for a write */
};
/** A packet from a core to memory; the answer is the same packet. */
struct tim_packet {
    uint64_t line;     /* address of the first byte of the cache line */
    uint64_t mask[4];  /* bytes of [line, line + 256) that are read or written */
    uint64_t sent;     /* cycle in which the core sent it */
    uint32_t id;       /* tim_packet_id(): the part of the core that receives the answer */
    uint16_t core;
    uint16_t warp;     /* slot of the warp that sent it, which policies and owners of cache lines use; 0xffff: none (fetches) */
    uint8_t kind;      /* enum tim_packet_kind */
    uint8_t lanes;     /* number of operations of an atomic */
};

/* ---- memory side (timing/mem) -------------------------------------------------------------- */

/** Crossbar, L2 slices and DRAM. There are two implementations, which give the same answers in the same cycles. The reference
 *  ticks every part in every cycle. The fast implementation ticks a part only if the part has work. */
struct tim_memory;
struct tim_cache;
struct tim_memory_ops {
    const char *name;
    void (*destroy)(struct tim_memory *memory);
    /** Runs three phases of cycle @now: DRAM, L2 slices, and crossbar to the cores. The caller must call the function of
     *  the reference for each cycle in order, but the function of the fast implementation only for cycles that `next`
     *  returned. */
    void (*tick_replies)(struct tim_memory *memory, uint64_t now);
    /** Runs the phase of cycle @now in which the crossbar moves packets from the cores. Must also be called in each cycle
     *  in which `send` was called. */
    void (*tick_requests)(struct tim_memory *memory, uint64_t now);
    /** Returns true if the input of @core has capacity for one more packet. */
    bool (*can_send)(const struct tim_memory *memory, unsigned core);
    /** Sends a packet in the cores' phase of cycle @now; there must be capacity. Returns the number of packets in
     *  the input before this one. */
    unsigned (*send)(struct tim_memory *memory, const struct tim_packet *packet, uint64_t now);
    /** Receives one answer that has reached @core by cycle @now. Returns false if there is none, or if @core has already
     *  received an answer in this cycle. */
    bool (*receive)(struct tim_memory *memory, unsigned core, uint64_t now, struct tim_packet *out);
    /** Returns the first cycle after @now in which a tick may do something; UINT64_MAX: none without a new packet. */
    uint64_t (*next)(const struct tim_memory *memory, uint64_t now);
    /** Returns the number of packets that are not answered yet. */
    uint64_t (*in_flight)(const struct tim_memory *memory);
    /** Returns the counters of a slice. At the end of a kernel, dirty lines remain in L2 and are not counted as written
     *  back. A waiting time is counted when it ends. */
    const struct tim_slice_stats *(*slice_stats)(const struct tim_memory *memory, unsigned slice);
    const struct tim_channel_stats *(*channel_stats)(const struct tim_memory *memory,
                                                     unsigned channel);
    /** Prints the unanswered packets, queues, MSHRs and open DRAM rows, for the shell. */
    void (*show)(const struct tim_memory *memory, struct lw_sink *out);
    /** Returns the cache of an L2 slice, or NULL if the model has no L2. Line addresses in this cache are local to the slice;
     *  tim_address_of() converts them to global addresses. */
    const struct tim_cache *(*slice_cache)(const struct tim_memory *memory, unsigned slice);
    /** Lowers the clocks of crossbar, L2 and DRAM from cycle @now on, by dvfs.low_mhz / dvfs.high_mhz, or raises them again.
     *  Must be called between cycles @now - 1 and @now. Packets and bursts that are on their way arrive as before. NULL: the
     *  memory has no such clocks. */
    void (*set_slow)(struct tim_memory *memory, bool slow, uint64_t now);
};
struct tim_memory {
    const struct tim_memory_ops *ops;
    /** Notifies that @core has work in a later cycle, @cycle: @core can receive an answer, or its input, which was full,
     *  has space again. Set by the creator of the memory system; may be NULL. */
    void (*wake)(void *context, unsigned core, uint64_t cycle);
    void *context;
    struct tim_trace *trace; /* trace that records the progress of packets, set by the creator, or NULL if there is no trace */
};
/** Creates the reference memory system with all its storage. @config is borrowed. Returns NULL if memory is short. */
struct tim_memory *tim_memory_reference_create(const struct tim_config *config);
/** Creates a faster memory system that gives the same answers in the same cycles. */
struct tim_memory *tim_memory_fast_create(const struct tim_config *config);
/** Returns the global address of @local, an address in the contiguous address space of L2 slice @slice. */
uint64_t tim_address_of(const struct tim_config *config, unsigned slice, uint64_t local);

/* ---- traces (tim_trace.c) --------------------------------------------------------------------- */

/** A trace stores the events of a window of cycles, which are then printed as trace-event JSON. The number of events is
 *  limited by @events and by memory; the window ends before the first event that does not fit. The functions that record
 *  an event do nothing for a NULL trace. Before the window, tim_trace_warp() and tim_trace_block() only store the latest
 *  state, which is shown from the start of the window. The other functions do nothing outside the window. */
struct tim_trace;
struct tim_trace *tim_trace_create(const struct tim_config *config, uint64_t from, uint64_t to,
                                   size_t events);
void tim_trace_destroy(struct tim_trace *trace);
/** Returns true if cycle @now is in the window. Outside the window a caller need not compute the values of events. */
bool tim_trace_wants(const struct tim_trace *trace, uint64_t now);
/** Returns the first cycle after the window, which may end earlier while events are added. */
uint64_t tim_trace_end(const struct tim_trace *trace);
/** Records the state of the warp in slot @warp of @core from cycle @now on, until the next call for that slot.
 *  TIM_STALL_ISSUED: the warp issues @insn for @lanes at @pc in this cycle; in other states @insn (may be NULL) is its
 *  next instruction. TIM_STALL_EMPTY: the slot is free. The same state may be added twice. */
void tim_trace_warp(struct tim_trace *trace, uint64_t now, unsigned core, unsigned warp,
                    enum tim_stall reason, const struct isa_insn *insn, uint64_t pc,
                    uint64_t lanes);
/** Records that a block starts to occupy slot @slot of @core or, if @begins is false, that it leaves the slot. */
void tim_trace_block(struct tim_trace *trace, uint64_t now, unsigned core, unsigned slot,
                     uint32_t grid, uint64_t block, bool begins);
/** Records the value of a gauge of a core, such as a queue length, from cycle @now on. @name must remain valid as long
 *  as the trace. */
void tim_trace_gauge(struct tim_trace *trace, uint64_t now, unsigned core, const char *name, uint64_t value);
/** Stages of a packet, in order; in parentheses the meaning of @place of tim_trace_packet() at each stage.
 *  SENT: the core sends the packet (core). REQUEST: the packet leaves the crossbar to the L2 slices (slice). SLICE: the
 *  packet is in a slice (slice). DRAM: a bank serves the packet (channel x number of banks + bank). REPLY: the answer
 *  leaves the crossbar to the cores (core). REPLIED: the core receives the answer (core). */
enum tim_trace_stage {
    TIM_TRACE_SENT, TIM_TRACE_REQUEST, TIM_TRACE_SLICE, TIM_TRACE_DRAM, TIM_TRACE_REPLY,
    TIM_TRACE_REPLIED, TIM_TRACE_STAGES
};
/** Records that a packet is at @place in cycle @now, if the packet was sent in the window. @cycles: number of cycles for
 *  which the packet occupies @place; unused for TIM_TRACE_SENT and TIM_TRACE_REPLIED. */
void tim_trace_packet(struct tim_trace *trace, uint64_t now, enum tim_trace_stage stage,
                      unsigned place, const struct tim_packet *packet, unsigned cycles);
/** Gets the extent of the trace. @cycles: number of cycles of the run so far. If the window ends later, the trace and all
 *  open spans end in that cycle. */
void tim_trace_extent(const struct tim_trace *trace, uint64_t cycles, struct tim_extent *out);
void tim_trace_json(const struct tim_trace *trace, uint64_t cycles, struct lw_sink *out);

/* ---- access lists (timing/mem/tim_coalesce.c, timing/mem/tim_shared.c) --------------------------------- */

/** An access of a memory instruction to one line. */
struct tim_line {
    uint64_t line;    /* address of the first byte of the line */
    uint64_t mask[4]; /* bytes of the line that are accessed */
    uint64_t lanes;
};
/** Maximum number of accesses of one instruction: 16 bytes of local memory for each lane, each word in a line of its
 *  own. */
enum { TIM_LINES_MOST = 4 * EMU_MAX_LANES };
/**
 * Coalesces the lanes of @access that do not access shared memory, and returns the number of the resulting accesses to
 * lines. The accesses are in the order in which the load/store unit makes them: sorted by the lowest lane of each. With
 * lsu.coalesce half_strict or half_segment, all accesses of the first half warp come before those of the second one. No
 * access crosses a line. The addresses of @access may be in segments or in an array (EMU_EVENT_ADDRESSES); both give the
 * same accesses.
 * @line_bytes  line size of the cache that serves the accesses, at least 32
 * @local_base  address of this warp's local memory in the memory system, a multiple of
 *              @line_bytes: word w of lane l is at local_base + (w * W + l) * 4
 * @out         the accesses; capacity TIM_LINES_MOST. The mask of an access contains the bytes of its lanes. For loads
 *              with half_strict or half_segment it contains all bytes of the transaction.
 */
unsigned tim_coalesce(const struct tim_config *config, const struct emu_access *access,
                      unsigned line_bytes, uint64_t local_base, struct tim_line *out);
/** Stores to @out the accesses of a load to the constant cache, sorted by the lowest lane of each. Returns the number of
 *  accesses, which is at most the number of lanes. One access serves all lanes that read the same word or, for wider loads,
 *  the same address. All lanes must address memory that the cache can contain. @access and @line_bytes are as for
 *  tim_coalesce(). */
unsigned tim_constant_words(const struct emu_access *access, unsigned line_bytes, struct tim_line *out);
/** Expands the addresses of an access in segments to @address, indexed by lane, and returns @address. */
uint64_t *tim_access_rows(const struct emu_access *access, uint64_t *address);
/** Returns the number of wavefronts of a shared memory access; 0 if no lane accesses shared memory. An access that is
 *  wider than a bank is made in parts: half of the warp at a time, or a quarter. Lanes of an atomic that use the same
 *  word need a wavefront each. */
unsigned tim_shared_passes(const struct tim_config *config, const struct emu_access *access);
/** Returns what tim_shared_passes() returns, but for a warp of @width lanes. */
unsigned tim_shared_passes_of(const struct tim_config *config, const struct emu_access *access, unsigned width);

/* ---- caches (timing/mem/tim_cache.c): tags only, also for L2 --------------------------------- */

/** Set-associative tags with LRU, sectors and byte masks for dirty data. The caches hold no values. */
struct tim_cache;

#endif
