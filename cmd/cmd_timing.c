/* SPDX-License-Identifier: Apache-2.0 */
/* The command lanewise timing, which shows GPU models, and the options --timing... of run, gdb and debug. */
#include "cmd/cmd_priv.h"

#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- --timing and related options ---------------------------------------------------- */

enum lw_status cmd_timing_take(struct cmd_timing *t, const char *name, const char *value,
                               struct lw_error *err)
{
    const struct {
        const char *name;
        const char **to;
    } texts[] = {
        {"timing-report", &t->report}, {"timing-trace", &t->trace},
        {"timing-window", &t->window}, {"timing-events", &t->events},
        {"timing-sample", &t->sample}, {"mechanism", &t->mechanisms},
        {"timing-profile", &t->profile},
    };

    if (strcmp(name, "timing") == 0) {
        t->machine = value != NULL ? value : "fermi";
        return LW_OK;
    }
    if (t->first == NULL)
        t->first = name;
    for (unsigned i = 0; i < LW_COUNT_OF(texts); i++)
        if (strcmp(name, texts[i].name) == 0)
            *texts[i].to = value;
    if (strcmp(name, "timing-reference") == 0)
        t->reference = true;
    if (strcmp(name, "timing-set") == 0) {
        if (t->set_count == CMD_MAX_SETS)
            return LW_FAIL(err, LW_EUSAGE, "the option is given too often: at most %d times", CMD_MAX_SETS);
        t->set[t->set_count++] = value;
    }
    return LW_OK;
}

/** Loads a GPU model, and adds mechanisms, a profile and values of keys. @mechanisms and @profile may be NULL. @option: name
 *  of the option that gave the values @set, for messages. */
static enum lw_status make_config(const char *machine, const char *mechanisms, const char *profile,
                                  const char *const *set, unsigned count,
                                  const char *option, struct tim_config **out,
                                  struct lw_error *err)
{
    struct tim_config *config = NULL;
    enum lw_status status = tim_config_load(machine, &config, err);

    if (status == LW_OK && mechanisms != NULL) {
        status = tim_config_add_mechanisms(config, mechanisms, err);
        if (status != LW_OK)
            lw_error_prefix(err, "--mechanism");
    }
    if (status == LW_OK && profile != NULL) {
        status = tim_config_set_profile(config, profile, err);
        if (status != LW_OK)
            lw_error_prefix(err, "--timing-profile");
    }
    for (unsigned i = 0; i < count && status == LW_OK; i++) {
        status = tim_config_set(config, set[i], err);
        if (status != LW_OK)
            lw_error_prefix(err, "%s", option);
    }
    if (status == LW_OK && (count != 0 || mechanisms != NULL || profile != NULL))
        status = tim_config_check(config, err);
    if (status != LW_OK) {
        tim_config_destroy(config);
        return status;
    }
    *out = config;
    return LW_OK;
}

enum lw_status cmd_timing_config(const struct cmd_timing *t, struct tim_config **out,
                                 struct lw_error *err)
{
    enum lw_status status;

    *out = NULL;
    if (t->machine == NULL && t->first != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--%s has no effect without the timing model: add --timing", t->first);
    if (t->machine == NULL)
        return LW_OK;
    status = make_config(t->machine, t->mechanisms, t->profile, t->set, t->set_count, "--timing-set", out, err);
    /* Errors that name no option concern the GPU model itself, the operand of --timing. */
    if (status != LW_OK && strncmp(err->text, "--timing-set", 12) != 0 && strncmp(err->text, "--mechanism", 11) != 0 &&
        strncmp(err->text, "--timing-profile", 16) != 0)
        lw_error_prefix(err, "--timing");
    return status;
}

/* Parses "FROM:TO", in cycles. Returns false if the text has another form, or if FROM is not below TO. */
static bool parse_window(const char *text, uint64_t *from, uint64_t *to)
{
    const char *colon = strchr(text, ':');
    char first[32];

    if (colon == NULL || (size_t)(colon - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(colon - text));
    first[colon - text] = '\0';
    return lw_parse_u64(first, from) && lw_parse_u64(colon + 1, to) && *from < *to;
}

void cmd_timing_heap(void)
{
#ifdef __GLIBC__
    enum { PART = 128 << 20, ONE = 24 << 20, PAGE = 2 << 20, MAPPED = 128 << 10 };
    uintptr_t from = ((uintptr_t)sbrk(0) + PAGE - 1) / PAGE * PAGE, to;

    /* With these settings, the allocation of ONE bytes grows the heap by PART bytes, and its release does not shrink the
     * heap. */
    if (mallopt(M_MMAP_THRESHOLD, ONE + PAGE) == 0 || mallopt(M_TRIM_THRESHOLD, INT_MAX) == 0 ||
        mallopt(M_TOP_PAD, PART - ONE) == 0)
        return;
    void *volatile one = malloc(ONE);
    to = (uintptr_t)sbrk(0) / PAGE * PAGE;
    if (to > from) /* a failure of madvise() is ignored, because the call is only a hint to the host */
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    free(one);
    (void)mallopt(M_TOP_PAD, MAPPED);
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED); /* large allocations do not use large pages, because they are often accessed only
                                              * in part */
#endif
}

/** Prints a note for each key of --timing-set that has no effect on this GPU model. */
static void note_keys(const struct cmd_timing *t, const struct tim_config *config)
{
    for (unsigned i = 0; i < t->set_count; i++) {
        struct lw_buffer text;

        lw_buffer_init(&text);
        if (!tim_config_reads(config, t->set[i], &text.sink) && text.text != NULL)
            fprintf(stderr, "lanewise: note: --timing-set %s\n", text.text);
        lw_buffer_fini(&text);
    }
}

/** Prints a note with the instructions that read a register too early on hardware with wait counters, because no "waitcnt"
 *  before them waits for the register. */
static void note_waits(const struct tim_config *config, const struct isa_object *object)
{
    unsigned findings = 0;
    struct lw_buffer text;
    struct lw_error err;

    lw_buffer_init(&text);
    if (isa_waitcnt_count(object, &findings, &text.sink, &err) == LW_EFORMAT && text.text != NULL)
        fprintf(stderr, "lanewise: note: hardware like GPU model %s waits for memory instructions only at a \"waitcnt\". Such "
                        "hardware would use registers too early at %u instruction%s, before which a \"waitcnt\" is missing "
                        "(the timing model waits there):\n%s",
                        tim_config_name(config), findings, findings == 1 ? "" : "s", text.text);
    lw_buffer_fini(&text);
}

void cmd_timing_note(const struct cmd_timing *t, const struct tim_config *config, const struct isa_object *object)
{
    unsigned findings = 0;
    struct lw_error err;

    note_keys(t, config);
    if (tim_config_counts(config))
        note_waits(config, object);
    if (!tim_config_reads_control(config) || isa_control_count(object, &findings, NULL, &err) != LW_EFORMAT)
        return;
    fprintf(stderr, "lanewise: note: %s; on %s, which issues by control fields, %u instruction%s may issue before the "
                    "values that %s are ready: \"lanewise asm\" fills in the fields of functions that have none, "
                    "\"lanewise dis --check-control\" lists the instructions\n",
                    err.text, tim_config_name(config), findings,
            findings == 1 ? "" : "s", findings == 1 ? "it reads" : "they read");
}

enum lw_status cmd_timing_options(const struct cmd_timing *t, struct tim_options *out,
                                  struct lw_error *err)
{
    *out = (struct tim_options){.reference = t->reference};
    if (t->sample != NULL && (!lw_parse_u64(t->sample, &out->sample_cycles) ||
                              out->sample_cycles == 0))
        return LW_FAIL(err, LW_EUSAGE, "--timing-sample: expected a number of cycles, found "
                       "\"%.40s\"", t->sample);
    if (t->sample != NULL && t->report == NULL)
        return LW_FAIL(err, LW_EUSAGE, "--timing-sample has no effect without a report: add --timing-report FILE");
    if (t->sample != NULL && strcmp(t->report, "-") == 0)
        return LW_FAIL(err, LW_EUSAGE, "--timing-sample: a report on standard output has no samples: write the report to a file");
    if (t->window != NULL && t->trace == NULL)
        return LW_FAIL(err, LW_EUSAGE, "--timing-window has no effect without a trace: add --timing-trace FILE");
    if (t->window != NULL && !parse_window(t->window, &out->trace_from, &out->trace_to))
        return LW_FAIL(err, LW_EUSAGE, "--timing-window: expected FROM:TO in cycles, such as "
                       "0:5000, found \"%.60s\"", t->window);
    if (t->trace != NULL && t->window == NULL)
        out->trace_to = 10000;
    if (t->events != NULL && t->trace == NULL)
        return LW_FAIL(err, LW_EUSAGE, "--timing-events has no effect without a trace: add --timing-trace FILE");
    if (t->events != NULL && (!lw_parse_u64(t->events, &out->trace_events) ||
                              out->trace_events == 0 || out->trace_events > TIM_TRACE_MOST_EVENTS))
        return LW_FAIL(err, LW_EUSAGE, "--timing-events: expected an integer from 1 to %d, found "
                       "\"%.40s\"", TIM_TRACE_MOST_EVENTS, t->events);
    return LW_OK;
}

enum lw_status cmd_timing_try(const struct cmd_timing *t, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    if (t->report != NULL && strcmp(t->report, "-") != 0) {
        status = lw_file_try_write(t->report, err);
        if (status != LW_OK)
            lw_error_prefix(err, "--timing-report");
    }
    if (t->trace != NULL && strcmp(t->trace, "-") != 0 && status == LW_OK) {
        status = lw_file_try_write(t->trace, err);
        if (status != LW_OK)
            lw_error_prefix(err, "--timing-trace");
    }
    return status;
}

/** Warns if the trace is empty or truncated. */
static void warn_of_trace(const struct cmd_timing *t, const struct emu_engine *engine)
{
    struct tim_extent trace;

    if (!tim_trace_size(engine, &trace))
        return;
    if (trace.from >= engine->ops->cycles(engine))
        fprintf(stderr, "lanewise: --timing-window %s: the trace has no events, as the run ended at cycle %" PRIu64 "\n", t->window != NULL ? t->window : "0:10000",
                engine->ops->cycles(engine));
    else if (trace.full)
        fprintf(stderr, "lanewise: --timing-trace: the trace ends at cycle %" PRIu64 ", after %zu events: give a "
                                                                                     "shorter --timing-window, or more "
                                                                                     "events with --timing-events\n",
                trace.to, trace.events);
}

int cmd_timing_write(const struct cmd_timing *t, const struct emu_engine *engine, FILE *out)
{
    int status = CMD_FINE;
    struct lw_buffer text;

    if (t->report != NULL && strcmp(t->report, "-") == 0) {
        struct lw_file_sink sink;

        lw_file_sink_init(&sink, out);
        tim_report_print(engine, &sink.sink);
    } else if (t->report != NULL) {
        lw_buffer_init(&text);
        tim_report_json(engine, &text.sink);
        lw_put(&text.sink, "\n");
        status = cmd_write(t->report, text.text, text.size);
        lw_buffer_fini(&text);
    }
    if (t->trace != NULL) {
        lw_buffer_init(&text);
        tim_trace_print(engine, &text.sink);
        if (cmd_write(t->trace, text.text, text.size) != CMD_FINE)
            status = CMD_USAGE;
        lw_buffer_fini(&text);
        warn_of_trace(t, engine);
    }
    return status;
}

/* ---- the command -------------------------------------------------------------------------- */

struct options {
    const struct cmd *cmd;
    const char *output, *set[CMD_MAX_SETS];
    unsigned set_count;
    bool source, mechanisms;
};

static enum lw_status take(void *context, unsigned option, const char *value,
                           struct lw_error *err)
{
    struct options *o = context;
    const char *name = o->cmd->options[option].name;

    if (strcmp(name, "output") == 0) {
        o->output = value;
    } else if (strcmp(name, "source") == 0) {
        o->source = true;
    } else if (strcmp(name, "mechanisms") == 0) {
        o->mechanisms = true;
    } else {
        if (o->set_count == CMD_MAX_SETS)
            return LW_FAIL(err, LW_EUSAGE, "the option is given too often: at most %d times", CMD_MAX_SETS);
        o->set[o->set_count++] = value;
    }
    return LW_OK;
}

static void list(struct lw_sink *out)
{
    for (unsigned i = 0; tim_machines[i].name != NULL; i++)
        lw_printf(out, "%-12s %s\n", tim_machines[i].name, tim_machines[i].summary);
}

/* Executes "lanewise timing compare A.json B.json". */
static int compare(const struct options *o, int operands, char **argv)
{
    struct lw_buffer text;
    struct lw_error err;
    int status;

    if (operands != 3 || o->set_count != 0 || o->source)
        return cmd_wrong_usage(o->cmd, "compare: expected two reports, as in compare A.json B.json");
    lw_buffer_init(&text);
    if (tim_report_compare(argv[2], argv[3], &text.sink, &err) == LW_OK)
        status = cmd_write(o->output, text.text, text.size);
    else
        status = cmd_error(&err);
    lw_buffer_fini(&text);
    return status;
}

int cmd_timing(const struct cmd *cmd, int argc, char **argv)
{
    struct options o = {.cmd = cmd};
    struct tim_config *config = NULL;
    struct lw_buffer text;
    struct lw_error err;
    int status, operands = cmd_parse(cmd, argc, argv, take, &o, &status);

    if (operands < 0)
        return status;
    if (operands > 0 && strcmp(argv[1], "compare") == 0)
        return compare(&o, operands, argv);
    if (operands > 1)
        return cmd_wrong_usage(cmd, "expected only one GPU model");
    if (operands == 0 && (o.set_count != 0 || o.source))
        return cmd_wrong_usage(cmd, "expected a GPU model: give MACHINE or FILE");
    if (o.mechanisms && (operands != 0 || o.set_count != 0 || o.source))
        return cmd_wrong_usage(cmd, "--mechanisms lists the mechanisms for all GPU models: remove the other options "
                                    "and operands");
    lw_buffer_init(&text);
    if (o.mechanisms) {
        tim_mechanisms_print(&text.sink);
    } else if (operands == 0) {
        list(&text.sink);
    } else if (o.source) {
        const char *source = tim_machine_text(argv[1]);

        if (source == NULL || o.set_count != 0) {
            lw_buffer_fini(&text);
            return cmd_wrong_usage(cmd, source == NULL ? "--source works only for the GPU models that Lanewise ships, "
                                                         "not for a file"
                                                       : "--source and --set cannot be combined: give one of them");
        }
        lw_put(&text.sink, source);
    } else {
        if (make_config(argv[1], NULL, NULL, o.set, o.set_count, "timing: --set", &config, &err) != LW_OK) {
            lw_buffer_fini(&text);
            return cmd_error(&err);
        }
        tim_config_print(config, &text.sink);
        tim_config_destroy(config);
    }
    status = cmd_write(o.output, text.text, text.size);
    lw_buffer_fini(&text);
    return status;
}
