/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace of a window of cycles, in the trace-event format that Perfetto and Chrome read. Each core is shown as a process
 * with a track for each warp slot (spans: issued instructions and stall reasons), one for each block slot and one for
 * requests in flight. Four more processes show the outputs of the crossbar to L2, the L2 slices, the DRAM banks, and the
 * outputs of the crossbar to the cores. Flow arrows connect the spans of a request in these processes with its warp. A
 * cycle is shown as a microsecond.
 */
#include "timing/tim_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BLOCK_TRACK = 1000,   /* number of the track of block slot 0; the tracks of warp slots have lower numbers */
    REQUEST_PROCESS = 100000, SLICE_PROCESS, BANK_PROCESS, REPLY_PROCESS, FIRST_PROCESS = REQUEST_PROCESS,
    NO_OWNER = 0xffff, /* in place of a warp: the packet is a fetch; in place of a core: L2 writes a line back */
    MAX_WARPS = 256, MAX_BLOCKS = 64 /* maximum values of the keys */
};

enum event_kind { STATE, BLOCK, PACKET, GAUGE };

struct event {
    uint64_t at, end;
    uint64_t a, b;       /* STATE: pc and lanes; BLOCK: a is the block; PACKET: line and sent; GAUGE: a is the value */
    const char *name;    /* GAUGE: name of the gauge */
    uint32_t id;         /* BLOCK: grid; PACKET: id of the packet */
    uint32_t place;      /* STATE, BLOCK, GAUGE: core; PACKET: @place of tim_trace_packet() */
    uint16_t track;      /* STATE, PACKET: warp slot; BLOCK: block slot */
    uint16_t op;         /* STATE: operation of the instruction */
    uint16_t core;       /* PACKET: core that sent the packet */
    uint8_t kind, reason; /* kind: enum event_kind. reason: STATE: stall reason; PACKET: enum tim_trace_stage */
    uint8_t packet_kind; /* PACKET: enum tim_packet_kind */
};

/* The open span of a warp slot or a block slot. */
struct open_span {
    struct event event;
    bool open;
};

struct tim_trace {
    const struct tim_config *config;
    uint64_t from, to;
    struct event *event;
    size_t count, capacity, most;
    bool full; /* the trace was truncated at cycle `to`, in which it reached the limit of events or memory ran out */
    struct open_span *warp, *block; /* [core][slot] */
    uint64_t *until[TIM_TRACE_STAGES]; /* for each stage with a process: [place] end of the last span at this place */
};

/** Returns the number of the process that shows the spans of a stage; 0: the stage has no process. */
static unsigned process_of(enum tim_trace_stage stage)
{
    return stage == TIM_TRACE_SENT || stage == TIM_TRACE_REPLIED
               ? 0 : FIRST_PROCESS + (unsigned)stage - TIM_TRACE_REQUEST;
}
/** Returns the number of tracks of the process of a stage; 0: the stage has no process. */
static unsigned tracks_of(const struct tim_config *config, enum tim_trace_stage stage)
{
    switch (stage) {
    case TIM_TRACE_REQUEST:
    case TIM_TRACE_SLICE: return config->l2_slices;
    case TIM_TRACE_DRAM: return config->dram_channels * config->dram_banks;
    case TIM_TRACE_REPLY: return config->core_count;
    default: return 0;
    }
}
_Static_assert(FIRST_PROCESS + TIM_TRACE_SLICE - TIM_TRACE_REQUEST == SLICE_PROCESS &&
                   FIRST_PROCESS + TIM_TRACE_DRAM - TIM_TRACE_REQUEST == BANK_PROCESS &&
                   FIRST_PROCESS + TIM_TRACE_REPLY - TIM_TRACE_REQUEST == REPLY_PROCESS,
               "processes in the order of the stages");

struct tim_trace *tim_trace_create(const struct tim_config *config, uint64_t from, uint64_t to,
                                   size_t events)
{
    struct tim_trace *trace = calloc(1, sizeof *trace);

    if (trace == NULL)
        return NULL;
    trace->config = config;
    trace->from = from;
    trace->to = to;
    trace->most = events;
    trace->warp = calloc((size_t)config->core_count * MAX_WARPS, sizeof *trace->warp);
    trace->block = calloc((size_t)config->core_count * MAX_BLOCKS, sizeof *trace->block);
    bool fine = trace->warp != NULL && trace->block != NULL;
    for (unsigned i = 0; i < TIM_TRACE_STAGES; i++) {
        unsigned tracks = tracks_of(config, (enum tim_trace_stage)i);
        if (tracks != 0)
            trace->until[i] = calloc(tracks, sizeof *trace->until[i]);
        fine = fine && (tracks == 0 || trace->until[i] != NULL);
    }
    if (!fine) {
        tim_trace_destroy(trace);
        return NULL;
    }
    return trace;
}

void tim_trace_destroy(struct tim_trace *trace)
{
    if (trace == NULL)
        return;
    free(trace->event);
    free(trace->warp);
    free(trace->block);
    for (unsigned i = 0; i < TIM_TRACE_STAGES; i++)
        free(trace->until[i]);
    free(trace);
}

bool tim_trace_wants(const struct tim_trace *trace, uint64_t now)
{
    return trace != NULL && now >= trace->from && now < trace->to;
}

uint64_t tim_trace_end(const struct tim_trace *trace)
{
    return trace->to;
}

/** Adds an event. Returns false if the trace is full; the trace then ends before cycle @now. */
static bool keep(struct tim_trace *trace, const struct event *event, uint64_t now)
{
    if (trace->count >= trace->most ||
        !lw_grow(&trace->event, &trace->capacity, trace->count + 1, sizeof *event)) {
        trace->full = true;
        if (now < trace->to)
            trace->to = now;
        return false;
    }
    trace->event[trace->count++] = *event;
    return true;
}

static void close_span(struct tim_trace *trace, struct open_span *span, uint64_t now)
{
    if (!span->open)
        return;
    span->event.end = now < trace->to ? now : trace->to;
    if (span->event.reason == TIM_STALL_ISSUED && span->event.kind == STATE)
        span->event.end = span->event.at + 1; /* an issue takes one cycle */
    span->open = span->event.end > span->event.at && !keep(trace, &span->event, now);
}

void tim_trace_warp(struct tim_trace *trace, uint64_t now, unsigned core, unsigned warp,
                    enum tim_stall reason, const struct isa_insn *insn, uint64_t pc,
                    uint64_t lanes)
{
    struct open_span *span;
    uint16_t op = insn != NULL ? (uint16_t)insn->op : 0;

    if (trace == NULL || core >= trace->config->core_count || warp >= MAX_WARPS)
        return;
    span = &trace->warp[(size_t)core * MAX_WARPS + warp];
    if (span->open && reason != TIM_STALL_ISSUED && span->event.reason == reason &&
        span->event.a == pc && span->event.op == op)
        return;
    close_span(trace, span, now);
    if (reason == TIM_STALL_EMPTY || now >= trace->to ||
        (reason == TIM_STALL_ISSUED && now < trace->from))
        return;
    *span = (struct open_span){
        .open = true,
        /* A span that began before the window is shown from its first cycle. */
        .event = {.at = now < trace->from ? trace->from : now, .a = pc, .b = lanes, .place = core, .track = (uint16_t)warp, .op = op,
                  .kind = STATE, .reason = (uint8_t)reason},
    };
}

void tim_trace_block(struct tim_trace *trace, uint64_t now, unsigned core, unsigned slot,
                     uint32_t grid, uint64_t block, bool begins)
{
    struct open_span *span;

    if (trace == NULL || core >= trace->config->core_count || slot >= MAX_BLOCKS)
        return;
    span = &trace->block[(size_t)core * MAX_BLOCKS + slot];
    close_span(trace, span, now);
    if (begins && now < trace->to) /* a block that arrived before the window is shown from the start of the window */
        *span = (struct open_span){
            .open = true,
            .event = {.at = now < trace->from ? trace->from : now, .a = block, .id = grid,
                      .place = core, .track = (uint16_t)slot, .kind = BLOCK},
        };
}

void tim_trace_packet(struct tim_trace *trace, uint64_t now, enum tim_trace_stage stage,
                      unsigned place, const struct tim_packet *packet, unsigned cycles)
{
    uint64_t at = now, end = now + cycles;

    if (!tim_trace_wants(trace, now) || packet->sent < trace->from)
        return;
    if (tracks_of(trace->config, stage) != 0) { /* If the stage's clock is faster than clocks.core, several spans may
                                                 * begin in one cycle. */
        uint64_t *until = &trace->until[stage][place];
        at = at < *until ? *until : at;
        if (end <= at)
            at = end = *until - 1; /* the preceding span covers this cycle, so the event is only a step of the flow */
        else
            *until = end;
        if (!tim_trace_wants(trace, at))
            return;
    }
    struct event event = {.at = at, .end = end, .a = packet->line, .b = packet->sent,
                          .id = packet->id, .place = place, .core = packet->core,
                          .track = packet->warp, .kind = PACKET, .reason = (uint8_t)stage,
                          .packet_kind = packet->kind};
    (void)keep(trace, &event, now);
}

void tim_trace_gauge(struct tim_trace *trace, uint64_t now, unsigned core, const char *name, uint64_t value)
{
    struct event event = {.at = now, .end = now, .a = value, .name = name, .place = core, .kind = GAUGE};

    if (tim_trace_wants(trace, now))
        (void)keep(trace, &event, now);
}

/* ---- as JSON -------------------------------------------------------------------------------- */

/* Returns a colour of Chrome's viewer; Perfetto chooses colours of its own by name. */
static const char *colour(enum tim_stall reason)
{
    switch (reason) {
    case TIM_STALL_ISSUED: return "good";
    case TIM_STALL_PICKED:
    case TIM_STALL_STALL:
    case TIM_STALL_SECOND: return "thread_state_runnable";
    case TIM_STALL_LOAD:
    case TIM_STALL_CONSTANT: return "terrible";
    case TIM_STALL_LSU:
    case TIM_STALL_FENCE: return "bad";
    case TIM_STALL_BARRIER:
    case TIM_STALL_LAUNCH:
    case TIM_STALL_SLEEP: return "thread_state_uninterruptible";
    case TIM_STALL_ENDED:
    case TIM_STALL_EMPTY: return "grey";
    case TIM_STALL_FETCH: return "yellow";
    default: return "thread_state_iowait";
    }
}

static const char *packet_name(unsigned kind)
{
    static const char *const names[] = {[TIM_PACKET_READ] = "read", [TIM_PACKET_WRITE] = "write",
                                        [TIM_PACKET_ATOMIC] = "atomic",
                                        [TIM_PACKET_REDUCE] = "reduce"};

    return kind < LW_COUNT_OF(names) ? names[kind] : "?";
}

/* Begins the JSON object of an event, with a comma if it is not the first, and prints the members that all events have.
 * The text has no spaces, because a trace may have a million events. */
static void begin_event(struct lw_sink *out, bool *first, const char *phase, uint64_t at,
                        unsigned process, unsigned track)
{
    lw_printf(out, "%s{\"ph\":\"%s\",\"ts\":%" PRIu64 ",\"pid\":%u,\"tid\":%u",
              *first ? "" : ",\n", phase, at, process, track);
    *first = false;
}

static void put_state(struct lw_sink *out, const struct event *e, bool *first)
{
    const char *name = e->op != 0 ? isa_op_info((enum isa_op)e->op)->mnemonic : "";
    enum tim_stall reason = (enum tim_stall)e->reason;

    begin_event(out, first, "X", e->at, e->place, e->track);
    lw_printf(out, ",\"dur\":%" PRIu64 ",\"cat\":\"%s\",\"name\":\"%s\",\"cname\":\"%s\",\"args\":{",
              e->end - e->at, reason == TIM_STALL_ISSUED ? "issue" : "stall",
              reason == TIM_STALL_ISSUED ? name : tim_stall_name(reason), colour(reason));
    if (reason != TIM_STALL_ISSUED)
        lw_printf(out, "\"why\":\"%s\",\"instruction\":\"%s\",", tim_stall_message(reason), name);
    lw_printf(out, "\"pc\":\"0x%" PRIx64 "\",\"lanes\":\"0x%" PRIx64 "\"}}", e->a, e->b);
}

static void put_block(struct lw_sink *out, const struct event *e, bool *first)
{
    begin_event(out, first, "X", e->at, e->place, BLOCK_TRACK + e->track);
    lw_printf(out, ",\"dur\":%" PRIu64 ",\"cat\":\"block\",\"name\":\"grid %u block %" PRIu64 "\"}",
              e->end - e->at, e->id, e->a);
}

static void put_gauge(struct lw_sink *out, const struct event *e, bool *first)
{
    begin_event(out, first, "C", e->at, e->place, 0);
    lw_printf(out, ",\"name\":\"%s\",\"args\":{\"value\":%" PRIu64 "}}", e->name, e->a);
}

/* Prints the start, a step or the end of a flow arrow; @phase is "s", "t" or "f". */
static void put_flow(struct lw_sink *out, const struct event *e, const char *phase,
                     unsigned process, unsigned track, bool *first)
{
    begin_event(out, first, phase, e->at, process, track);
    lw_printf(out, "%s,\"cat\":\"memory\",\"name\":\"%s\",\"id\":\"%u.%u.%" PRIu64 "\"}",
              *phase == 'f' ? ",\"bp\":\"e\"" : "", packet_name(e->packet_kind), e->core, e->id,
              e->b);
}

static void put_machine_event(struct lw_sink *out, const struct event *e, uint64_t at, const char *phase,
                     bool *first)
{
    begin_event(out, first, phase, at, e->core, 0);
    lw_printf(out, ",\"cat\":\"request\",\"name\":\"%s\",\"id\":\"%u.%u.%" PRIu64 "\"",
              packet_name(e->packet_kind), e->core, e->id, e->b);
    if (*phase == 'b')
        lw_printf(out, ",\"args\":{\"line\":\"0x%" PRIx64 "\"}", e->a);
    lw_put(out, "}");
}

/* Prints the span in which a packet occupies a crossbar output, slice or bank. */
static void put_busy(struct lw_sink *out, const struct event *e, unsigned process, bool *first)
{
    begin_event(out, first, "X", e->at, process, e->place);
    lw_printf(out, ",\"dur\":%" PRIu64 ",\"cat\":\"memory\",\"name\":\"%s\",\"args\":{",
              e->end - e->at, e->core == NO_OWNER ? "write back" : packet_name(e->packet_kind));
    if (e->core != NO_OWNER)
        lw_printf(out, "\"line\":\"0x%" PRIx64 "\",\"core\":%u,\"sent\":%" PRIu64, e->a, e->core,
                  e->b);
    lw_put(out, "}}");
}

/* Prints an event of a packet. @last: it is the last event of a packet that was not answered, so the flow ends here. */
static void put_packet(struct lw_sink *out, const struct event *e, bool last, bool *first)
{
    bool from_warp = e->track != NO_OWNER; /* false for a fetch, which has no flow because it has no warp */
    unsigned process = process_of((enum tim_trace_stage)e->reason);

    switch ((enum tim_trace_stage)e->reason) {
    case TIM_TRACE_SENT:
        put_machine_event(out, e, e->at, "b", first);
        if (from_warp && !last)
            put_flow(out, e, "s", e->core, e->track, first);
        break;
    case TIM_TRACE_REPLIED:
        put_machine_event(out, e, e->at, "e", first);
        if (from_warp)
            put_flow(out, e, "f", e->core, e->track, first);
        break;
    default:
        if (e->end > e->at)
            put_busy(out, e, process, first);
        if (from_warp)
            put_flow(out, e, last ? "f" : "t", process, e->place, first);
        break;
    }
}

static void put_name(struct lw_sink *out, const char *what, unsigned process, unsigned track,
                     const char *name, unsigned number, bool *first)
{
    begin_event(out, first, "M", 0, process, track);
    lw_printf(out, ",\"name\":\"%s\",\"args\":{\"name\":\"%s %u\"}}", what, name, number);
}

static void put_names(struct lw_sink *out, const struct tim_config *config, bool *first)
{
    for (unsigned c = 0; c < config->core_count; c++) {
        put_name(out, "process_name", c, 0, "core", c, first);
        for (unsigned w = 0; w < config->core_warps; w++)
            put_name(out, "thread_name", c, w, "warp slot", w, first);
        for (unsigned b = 0; b < config->core_blocks; b++)
            put_name(out, "thread_name", c, BLOCK_TRACK + b, "block slot", b, first);
    }
    static const char *const process[TIM_TRACE_STAGES] = {
        [TIM_TRACE_REQUEST] = "crossbar to L2", [TIM_TRACE_SLICE] = "L2", [TIM_TRACE_DRAM] = "DRAM",
        [TIM_TRACE_REPLY] = "crossbar to the cores"};
    static const char *const track[TIM_TRACE_STAGES] = {
        [TIM_TRACE_REQUEST] = "to slice", [TIM_TRACE_SLICE] = "slice", [TIM_TRACE_REPLY] = "to core"};
    for (unsigned s = 0; s < TIM_TRACE_STAGES; s++) {
        unsigned id = process_of((enum tim_trace_stage)s);
        unsigned tracks = tracks_of(config, (enum tim_trace_stage)s);
        if (tracks == 0)
            continue;
        begin_event(out, first, "M", 0, id, 0);
        lw_printf(out, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", process[s]);
        for (unsigned i = 0; i < tracks; i++) {
            char name[40];
            snprintf(name, sizeof name, "channel %u bank", i / config->dram_banks);
            if (track[s] != NULL)
                put_name(out, "thread_name", id, i, track[s], i, first);
            else
                put_name(out, "thread_name", id, i, name, i % config->dram_banks, first);
        }
    }
}

static void put_event(struct lw_sink *out, const struct event *e, bool last, bool *first)
{
    if (e->kind == STATE)
        put_state(out, e, first);
    else if (e->kind == BLOCK)
        put_block(out, e, first);
    else if (e->kind == GAUGE)
        put_gauge(out, e, first);
    else
        put_packet(out, e, last, first);
}

/* Prints a span that is still open, ending in cycle @end. */
static void put_open(struct lw_sink *out, const struct open_span *span, uint64_t end, bool *first)
{
    struct event event = span->event;

    event.end = event.kind == STATE && event.reason == TIM_STALL_ISSUED ? event.at + 1 : end;
    if (span->open && event.at < end && event.end > event.at)
        put_event(out, &event, false, first);
}

/* ---- requests that are under way at the end ---------------------------------------------------- */

/* An event of a packet; sent, id and core identify the packet. */
struct step {
    uint64_t sent;
    uint32_t id, at; /* at: index of the event */
    uint16_t core;
};

static int by_packet(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_same(const struct step *x, const struct step *y)
{
    return x->core == y->core && x->id == y->id && x->sent == y->sent;
}

/** Handles each packet that was not answered before cycle @end. Sets the bit of its last event in @last, because the packet's
 *  flow ends there. Prints the end of its request. Returns false if memory is short. */
static bool end_lives(const struct tim_trace *trace, uint64_t end, uint64_t *last,
                      struct lw_sink *out, bool *first)
{
    struct step *step;
    size_t count = 0;

    for (size_t i = 0; i < trace->count; i++)
        count += trace->event[i].kind == PACKET;
    step = malloc((count + 1) * sizeof *step);
    if (step == NULL)
        return false;
    count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct event *e = &trace->event[i];
        if (e->kind == PACKET && e->core != NO_OWNER && e->at < end)
            step[count++] = (struct step){e->b, e->id, (uint32_t)i, e->core};
    }
    qsort(step, count, sizeof *step, by_packet);
    for (size_t i = 0, of = 0; i < count; i++) { /* of: index of the packet's first event */
        const struct event *e = &trace->event[step[i].at];
        of = is_same(&step[of], &step[i]) ? of : i;
        if ((i + 1 < count && is_same(&step[i], &step[i + 1])) || e->reason == TIM_TRACE_REPLIED)
            continue;
        last[step[i].at / 64] |= UINT64_C(1) << step[i].at % 64;
        if (trace->event[step[of].at].reason == TIM_TRACE_SENT)
            put_machine_event(out, e, end, "e", first);
    }
    free(step);
    return true;
}

void tim_trace_extent(const struct tim_trace *trace, uint64_t cycles, struct tim_extent *out)
{
    uint64_t end = cycles < trace->to ? cycles : trace->to;

    *out = (struct tim_extent){.from = trace->from,
                               .to = end > trace->from ? end : trace->from,
                               .events = trace->count,
                               .full = trace->full};
}

void tim_trace_json(const struct tim_trace *trace, uint64_t cycles, struct lw_sink *out)
{
    size_t cores = trace->config->core_count;
    uint64_t *last = calloc(trace->count / 64 + 1, sizeof *last);
    struct tim_extent extent;
    bool first = true;

    tim_trace_extent(trace, cycles, &extent);
    lw_printf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"cycles\":\"%" PRIu64 " to %" PRIu64
                   "\",\"unit\":\"a microsecond is a cycle\",\"ends\":\"", extent.from, extent.to);
    if (extent.full)
        lw_printf(out, "after %zu events", extent.events);
    else
        lw_put(out, cycles < trace->to ? "with the run" : "with its window");
    lw_put(out, "\"},\n\"traceEvents\":[\n");
    put_names(out, trace->config, &first);
    /* If memory is short, the flows of unanswered packets have no end. */
    bool marked = last != NULL && end_lives(trace, extent.to, last, out, &first);
    for (size_t i = 0; i < trace->count; i++) {
        struct event event = trace->event[i];

        event.end = event.end < extent.to ? event.end : extent.to;
        if (event.at < extent.to)
            put_event(out, &event, marked && (last[i / 64] >> i % 64 & 1) != 0, &first);
    }
    for (size_t i = 0; i < cores * MAX_WARPS; i++)
        put_open(out, &trace->warp[i], extent.to, &first);
    for (size_t i = 0; i < cores * MAX_BLOCKS; i++)
        put_open(out, &trace->block[i], extent.to, &first);
    lw_put(out, "\n]}\n");
    free(last);
}
