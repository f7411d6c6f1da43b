/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public interface of timing/: GPU models described by keys, an engine that runs the functional core cycle
 * by cycle, and what it counted (docs/howto/measure-cycles.md). The engine picks a ready split of a warp, lets
 * emu execute its instruction at issue, and charges pipelines and memory for what the event says.
 * It never computes a value.
 */
#ifndef TIMING_H
#define TIMING_H

#include "emu/emu.h"

/* ---- GPU models ---------------------------------------------------------------------------- */

struct tim_config;

/** A GPU model: the name of a shipped one ("fermi", "volta" ...), or a YAML file of keys over the
 *  one that its key `base:` names, a shipped one or a file in its folder (without: fermi).
 *  Errors: "FILE:LINE: message" with what was found, the range, or the nearest name; a message
 *  when keys do not fit each other. */
enum lw_status tim_config_load(const char *name, struct tim_config **out, struct lw_error *err)
    LW_MUST_CHECK;
/** Sets one key: "l1.bytes=32768", "units.int.latency=6". @config is unchanged on an error.
 *  Errors: LW_EUSAGE. Keys are checked against each other by tim_config_check. */
enum lw_status tim_config_set(struct tim_config *config, const char *assignment,
                              struct lw_error *err) LW_MUST_CHECK;
enum lw_status tim_config_check(const struct tim_config *config, struct lw_error *err)
    LW_MUST_CHECK;
/** Puts mechanisms on it: "ccws", or several by commas. Each name's key `on` is set.
 *  Errors: LW_EUSAGE; @config is unchanged then. */
enum lw_status tim_config_add_mechanisms(struct tim_config *config, const char *names,
                                         struct lw_error *err) LW_MUST_CHECK;
/** Takes what loads did in an earlier run from its timing report @path, in which mechanism `loads` was on: mechanism
 *  `daws` predicts by it in place of sampling warps. Errors: LW_EINPUT, with the place; @config is unchanged then. */
enum lw_status tim_config_set_profile(struct tim_config *config, const char *path, struct lw_error *err) LW_MUST_CHECK;
/** The names of all mechanisms, a line each with what it does. */
void tim_mechanisms_print(struct lw_sink *out);
void tim_config_destroy(struct tim_config *config);
/** All keys as a file that loads, each with its unit, range and meaning as a comment. */
void tim_config_print(const struct tim_config *config, struct lw_sink *out);
/** Shipped GPU models: names and a line about each, NULL-terminated. */
struct tim_machine {
    const char *name, *summary;
};
extern const struct tim_machine tim_machines[];
/** The file of a shipped GPU model, with the source of each value; NULL: there is none of that
 *  name. */
const char *tim_machine_text(const char *name);
const char *tim_config_name(const struct tim_config *config); /* borrowed */
/** Do control fields say when its instructions issue? */
bool tim_config_reads_control(const struct tim_config *config);
/** Do loads give what is in memory (l1.coherent)? */
bool tim_config_coherent(const struct tim_config *config);
/** Does it detect uniform and affine registers: has it tags of its own (tags.detect)? */
bool tim_config_detects(const struct tim_config *config);
/** What the functional machine must be for it: warp width, reconvergence and, where it detects them, tags. (The engine decides how
 *  much is resident; the machine's resident_warps applies to a replay in the fixed order only.) */
void tim_config_machine(const struct tim_config *config, struct emu_config *out);

/** Is this a warp scheduler's name, a value of issue.policy? */
bool tim_is_scheduler(const char *name);

/* ---- engine -------------------------------------------------------------------------------- */

struct tim_options {
    bool reference; /* the naive model: every part is ticked in every cycle. Same counts, slow */
    uint64_t sample_cycles; /* interval samples; 0: none */
    uint64_t trace_from, trace_to; /* cycles to trace; both 0: none */
    uint64_t trace_events; /* at most; 0: TIM_TRACE_EVENTS */
};
enum { TIM_TRACE_EVENTS = 1000000, /* 100 to 200 MB of JSON */ TIM_TRACE_MOST_EVENTS = 100000000 };
/** An engine over @machine, which must fit (tim_config_machine). @config is copied.
 *  Errors: LW_EINPUT when it does not fit, or a kernel can never run here; LW_ENOMEM. */
enum lw_status tim_engine_create(struct emu_machine *machine, const struct tim_config *config,
                                 const struct tim_options *options, struct emu_engine **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Run until the given cycle has passed, or until something stops it as `run` does. */
enum lw_status tim_engine_run_cycles(struct emu_engine *engine, uint64_t cycles,
                                     struct emu_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/* ---- what was counted ------------------------------------------------------------------------ */

/** The run was ended early: reports quote the first line of @why. */
void tim_engine_ended(struct emu_engine *engine, const char *why);
/** Tables in words: the GPU, kernels, issue slots by stall reason, caches, memory. */
void tim_report_print(const struct emu_engine *engine, struct lw_sink *out);
/** The same and more as one JSON object, without a newline after it. */
void tim_report_json(const struct emu_engine *engine, struct lw_sink *out);
/** Two reports of tim_report_json, files @a and @b, side by side: cycles, then counters, stall reasons and keys that
 *  differ, with the ratio of B to A. Errors: a file that is no such report, with what it is instead. */
enum lw_status tim_report_compare(const char *a, const char *b, struct lw_sink *out,
                                  struct lw_error *err) LW_MUST_CHECK;
/** What the trace has: cycles from @from up to @to (the same: none), and how many events. */
struct tim_extent {
    uint64_t from, to;
    size_t events;
    bool full; /* it was cut off: at trace_events, or for lack of memory */
};
/** False: nothing is traced. */
bool tim_trace_size(const struct emu_engine *engine, struct tim_extent *out);
/** The trace, in the trace-event format (JSON). */
void tim_trace_print(const struct emu_engine *engine, struct lw_sink *out);

/** What the commands below need of a debugger; their context is a tim_view. */
struct tim_view {
    struct emu_engine *engine; /* NULL: nothing is timed, and the commands say what would */
    /** The warp in focus; false: none is resident. */
    bool (*focus)(void *context, struct emu_thread_ref *out);
    /** Let everything run until something stops it; says on @out what it was, unless that is the
     *  end of the cycle that was requested. */
    enum lw_status (*run)(void *context, struct lw_sink *out, struct lw_error *err);
    void *context;
};
extern const struct lw_command tim_commands[];
extern const size_t tim_command_count;

#endif
