/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public interface of timing/: GPU models described by keys, an engine that runs the functional core cycle by
 * cycle, and its counters (docs/howto/measure-cycles.md). The engine selects a ready split of a warp, and lets emu
 * execute its instruction at issue. Pipelines and memory are modelled by events. The engine never computes a value.
 */
#ifndef TIMING_H
#define TIMING_H

#include "emu/emu.h"

/* ---- GPU models ---------------------------------------------------------------------------- */

struct tim_config;

/** Loads a GPU model. @name is a shipped model ("fermi", "volta" ...), or a YAML file. The keys of the file override
 *  the keys of its `base:`, a shipped model or a file in the same folder (default: fermi). Errors: "FILE:LINE: message"
 *  with the text found, the valid range, or a suggested name; a message also if keys contradict each other. */
enum lw_status tim_config_load(const char *name, struct tim_config **out, struct lw_error *err)
    LW_MUST_CHECK;
/** Sets one key: "l1.bytes=32768", "units.int.latency=6". @config is unchanged on an error. Errors:
 *  LW_EUSAGE. The function does not check keys against each other: call tim_config_check() after the last key. */
enum lw_status tim_config_set(struct tim_config *config, const char *assignment,
                              struct lw_error *err) LW_MUST_CHECK;
/** Checks that the keys do not contradict each other. Errors: LW_EINPUT with the keys. */
enum lw_status tim_config_check(const struct tim_config *config, struct lw_error *err)
    LW_MUST_CHECK;
/** Enables mechanisms: "ccws", or several separated by commas. Sets the key `on` of each. Errors: LW_EUSAGE;
 *  @config is then unchanged. */
enum lw_status tim_config_add_mechanisms(struct tim_config *config, const char *names,
                                         struct lw_error *err) LW_MUST_CHECK;
/** Reads a profile of loads from the timing report @path of an earlier run in which mechanism `loads` was enabled.
 *  Mechanism `daws` uses the profile instead of sampling warps. Errors: LW_EINPUT, with the position in the report;
 *  @config is then unchanged. */
enum lw_status tim_config_set_profile(struct tim_config *config, const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if the model uses the key of @assignment ("issue.limit=4"). Otherwise writes the reason why it does not
 *  to @out, without a line end. */
bool tim_config_reads(const struct tim_config *config, const char *assignment, struct lw_sink *out);
/** Prints the names of all mechanisms, each on a line with its description. */
void tim_mechanisms_print(struct lw_sink *out);
void tim_config_destroy(struct tim_config *config);
/** Prints all keys as a file that can be loaded, each with its unit, range and meaning as a comment. */
void tim_config_print(const struct tim_config *config, struct lw_sink *out);
/** A shipped GPU model: its name and a line of description. tim_machines is NULL-terminated. */
struct tim_machine {
    const char *name, *summary;
};
extern const struct tim_machine tim_machines[];
/** Returns the file of a shipped GPU model, with the source of each value; NULL: there is none with that
 *  name. */
const char *tim_machine_text(const char *name);
const char *tim_config_name(const struct tim_config *config); /* the name is borrowed from @config */
/** Writes the value of @key ("l1.bytes") to @out of @room bytes, in the syntax of files. Returns false if there is no
 *  such key. */
bool tim_config_value(const struct tim_config *config, const char *key, char *out, size_t room);
/** Returns true if control fields decide when instructions issue. */
bool tim_config_reads_control(const struct tim_config *config);
/** Returns true if the modelled hardware has wait counters instead of interlocks. */
bool tim_config_counts(const struct tim_config *config);
/** Returns true if loads return what is in memory (l1.coherent). */
bool tim_config_coherent(const struct tim_config *config);
/** Returns true if the model itself detects uniform and affine registers (tags.detect). */
bool tim_config_detects(const struct tim_config *config);
/** Sets the options of the functional machine that the model needs: warp width, reconvergence and, if the model
 *  detects them, tags. (The engine decides how many warps are resident; the machine's resident_warps applies only to
 *  a replay in the fixed order.) */
void tim_config_machine(const struct tim_config *config, struct emu_config *out);

/** Returns true for the name of a warp scheduler, a value of issue.policy. */
bool tim_is_scheduler(const char *name);

/* ---- engine -------------------------------------------------------------------------------- */

struct tim_options {
    bool reference; /* use the naive model, which ticks every part in every cycle: same counts, but slow */
    uint64_t sample_cycles; /* interval of samples; 0: none */
    uint64_t trace_from, trace_to; /* cycles to trace; both 0: no trace */
    uint64_t trace_events; /* limit of events; 0: TIM_TRACE_EVENTS */
};
enum { TIM_TRACE_EVENTS = 1000000, /* limits the JSON file to 100 to 200 MB */ TIM_TRACE_MOST_EVENTS = 100000000 };
/** Creates an engine for @machine, which must have the options of tim_config_machine. @config is copied.
 *  Errors: LW_EINPUT if the machine does not have these options, or if a kernel can never run on the model; LW_ENOMEM. */
enum lw_status tim_engine_create(struct emu_machine *machine, const struct tim_config *config,
                                 const struct tim_options *options, struct emu_engine **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Runs until the given cycle has passed, or until something stops it as `run` does. */
enum lw_status tim_engine_run_cycles(struct emu_engine *engine, uint64_t cycles,
                                     struct emu_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/* ---- counters and reports ----------------------------------------------------------------------- */

/** Records that the run was ended early. Reports quote the first line of @why. */
void tim_engine_ended(struct emu_engine *engine, const char *why);
/** Prints tables for people: the GPU, kernels, issue slots by stall reason, caches, memory. */
void tim_report_print(const struct emu_engine *engine, struct lw_sink *out);
/** Prints the contents of tim_report_print() and more counters as one JSON object, without a newline after it. */
void tim_report_json(const struct emu_engine *engine, struct lw_sink *out);
/** Compares two reports of tim_report_json, files @a and @b: prints cycles, then counters, stall reasons and keys
 *  that differ, with the ratio of B to A. Errors: a file that is not such a report; the message says what the file
 *  is. */
enum lw_status tim_report_compare(const char *a, const char *b, struct lw_sink *out,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Extent of the trace: cycles from @from up to @to (equal: none), and the number of events. */
struct tim_extent {
    uint64_t from, to;
    size_t events;
    bool full; /* the trace was truncated: at trace_events, or for lack of memory */
};
/** Gets the extent of the trace. Returns false if nothing is traced. */
bool tim_trace_size(const struct emu_engine *engine, struct tim_extent *out);
/** Prints the trace in the trace-event format (JSON). */
void tim_trace_print(const struct emu_engine *engine, struct lw_sink *out);

/** Callbacks of a debugger for the commands below. The context of the commands is a tim_view. */
struct tim_view {
    struct emu_engine *engine; /* the engine; NULL: nothing is timed, and the commands say how to enable it */
    /** Gets the warp in focus. Returns false if none is resident. */
    bool (*focus)(void *context, struct emu_thread_ref *out);
    /** Lets all warps run until something stops them. Prints the reason to @out, unless it is the end of the
     *  requested cycle. */
    enum lw_status (*run)(void *context, struct lw_sink *out, struct lw_error *err);
    void *context;
};
extern const struct lw_command tim_commands[];
extern const size_t tim_command_count;

#endif
