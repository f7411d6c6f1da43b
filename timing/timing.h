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
 *  the keys of its `base:`, a shipped model or a file in the same folder (default: fermi). An error message has the form
 *  "FILE:LINE: message", and contains the text found, the valid range or a suggested name. Keys that contradict each
 *  other are an error, too. */
enum lw_status tim_config_load(const char *name, struct tim_config **out, struct lw_error *err)
    LW_MUST_CHECK;
/** Sets one key: "l1.bytes=32768", "units.int.latency=6". The function does not check keys against each other: call
 *  tim_config_check() after the last key. Errors: LW_EUSAGE; @config is then unchanged. */
enum lw_status tim_config_set(struct tim_config *config, const char *assignment,
                              struct lw_error *err) LW_MUST_CHECK;
/** Checks that the keys do not contradict each other. Errors: LW_EINPUT, with a message that names the keys. */
enum lw_status tim_config_check(const struct tim_config *config, struct lw_error *err)
    LW_MUST_CHECK;
/** Enables mechanisms: sets the key `on` of each. @names: "ccws", or several names separated by commas. Errors:
 *  LW_EUSAGE; @config is then unchanged. */
enum lw_status tim_config_add_mechanisms(struct tim_config *config, const char *names,
                                         struct lw_error *err) LW_MUST_CHECK;
/** Reads a profile of loads from the timing report @path of an earlier run in which mechanism `loads` was enabled.
 *  Mechanism `daws` uses the profile instead of sampled warps. Errors: LW_EINPUT, with the position in the report;
 *  @config is then unchanged. */
enum lw_status tim_config_set_profile(struct tim_config *config, const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if the model uses the key of @assignment ("issue.limit=4"). Otherwise returns false and writes to @out the
 *  reason why the model ignores the key, without a line end. */
bool tim_config_reads(const struct tim_config *config, const char *assignment, struct lw_sink *out);
/** Prints the names of all mechanisms, each on a line with its description. */
void tim_mechanisms_print(struct lw_sink *out);
void tim_config_destroy(struct tim_config *config);
/** Prints all keys as a file that can be loaded, each with its unit, range and meaning as a comment. */
void tim_config_print(const struct tim_config *config, struct lw_sink *out);
/** A shipped GPU model: its name and a line of description. In the last element of tim_machines, both members are NULL. */
struct tim_machine {
    const char *name, *summary;
};
extern const struct tim_machine tim_machines[];
/** Returns the text of the file of a shipped GPU model, which gives the source of each value; NULL: there is no such
 *  model. */
const char *tim_machine_text(const char *name);
const char *tim_config_name(const struct tim_config *config); /* the name is borrowed from @config */
/** Writes the value of @key ("l1.bytes") to @out, in the form that model files use. @out has @room bytes. Returns false if
 *  there is no such key. */
bool tim_config_value(const struct tim_config *config, const char *key, char *out, size_t room);
/** Returns true if the control fields of instructions determine when an instruction may issue (issue.dependence control). */
bool tim_config_reads_control(const struct tim_config *config);
/** Returns true if the modelled hardware has wait counters for memory instructions (issue.dependence counters). */
bool tim_config_counts(const struct tim_config *config);
/** Returns true if loads return what is in memory (l1.coherent). */
bool tim_config_coherent(const struct tim_config *config);
/** Returns true if the model itself detects uniform and affine registers (tags.detect). */
bool tim_config_detects(const struct tim_config *config);
/** Sets the options of the functional machine that the model needs: warp width, reconvergence and, if the model
 *  detects uniform and affine registers, tags. The function does not set option resident_warps: the timing engine itself
 *  limits the number of resident warps. That option applies only to a replay that runs warps in the fixed order, without
 *  timing. */
void tim_config_machine(const struct tim_config *config, struct emu_config *out);

/** Returns true if @name is the name of a warp scheduler, which is a value of key issue.policy. */
bool tim_is_scheduler(const char *name);

/* ---- engine -------------------------------------------------------------------------------- */

struct tim_options {
    bool reference; /* use the reference, a slow model that visits every part in every cycle; its counts are the same */
    uint64_t sample_cycles; /* number of cycles from one sample of the counters to the next; 0: no samples are taken */
    uint64_t trace_from, trace_to; /* first traced cycle, and the cycle after the last traced one; both 0: no trace */
    uint64_t trace_events; /* maximum number of events of the trace; 0: TIM_TRACE_EVENTS */
};
enum { TIM_TRACE_EVENTS = 1000000, /* with this limit the JSON file has 100 to 200 MB */ TIM_TRACE_MOST_EVENTS = 100000000 };
/** Creates an engine for @machine, which must have been created with the options that tim_config_machine() sets. @config
 *  is copied. Errors: LW_EINPUT if the machine's warp width differs from the model's; LW_ENOMEM. */
enum lw_status tim_engine_create(struct emu_machine *machine, const struct tim_config *config,
                                 const struct tim_options *options, struct emu_engine **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Runs for @cycles cycles, or until an event stops the run, such as a breakpoint or an observer. */
enum lw_status tim_engine_run_cycles(struct emu_engine *engine, uint64_t cycles,
                                     struct emu_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Runs to the cycle in which the first block of a launch is placed on a core, so that a debugger can show warps. If the launch
 *  ends or hangs before, the next run of the engine reports it. */
enum lw_status tim_engine_run_to_warp(struct emu_engine *engine, struct lw_error *err) LW_MUST_CHECK;

/* ---- counters and reports ----------------------------------------------------------------------- */

/** Records that the run was ended early. Reports quote the first line of @why. */
void tim_engine_ended(struct emu_engine *engine, const char *why);
/** Prints tables for people: the GPU, kernels, issue slots by stall reason, caches, memory. */
void tim_report_print(const struct emu_engine *engine, struct lw_sink *out);
/** Prints the contents of tim_report_print() and more counters as one JSON object, without a newline after it. */
void tim_report_json(const struct emu_engine *engine, struct lw_sink *out);
/** Compares two reports of tim_report_json(), the files @a and @b. Prints the cycles, then all counters, stall reasons
 *  and keys that differ, with the ratio of B to A. A file that is not such a report is an error; the message says what
 *  the file is. */
enum lw_status tim_report_compare(const char *a, const char *b, struct lw_sink *out,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Extent of the trace: the traced cycles are [from, to). */
struct tim_extent {
    uint64_t from, to;
    size_t events;
    bool full; /* the trace was truncated: it reached trace_events, or the host had no memory */
};
/** Gets the extent of the trace. Returns false if the engine has no trace. */
bool tim_trace_size(const struct emu_engine *engine, struct tim_extent *out);
/** Prints the trace in the trace-event format (JSON). */
void tim_trace_print(const struct emu_engine *engine, struct lw_sink *out);

/** Context of tim_commands: the engine, and callbacks of the debugger. */
struct tim_view {
    struct emu_engine *engine; /* the timing engine; NULL: the run has none, and the commands say how to enable it */
    /** Gets the warp in focus. Returns false if none is resident. */
    bool (*focus)(void *context, struct emu_thread_ref *out);
    /** Runs all warps until an event stops them. Prints the reason to @out, unless the run stopped at the end of the
     *  requested cycle. */
    enum lw_status (*run)(void *context, struct lw_sink *out, struct lw_error *err);
    void *context;
};
extern const struct lw_command tim_commands[];
extern const size_t tim_command_count;

#endif
