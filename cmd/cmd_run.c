/* SPDX-License-Identifier: Apache-2.0 */
/* The command lanewise run. */
#include "cmd/cmd_priv.h"
#include "native/native.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DUMPS = 64, MAX_THREADS = 1024 };

struct options {
    const struct cmd *cmd;
    struct cmd_machine_options machine;
    const char *stats, *gdb;
    const char *dump_file[MAX_DUMPS];
    char *dump_name[MAX_DUMPS];
    unsigned dump_count;
    struct cmd_checkpoint checkpoint;
    struct cmd_check check;
    unsigned threads; /* value of --threads, or 0 if it is not given */
    struct lnc_limits limits; /* limits that options give; the launch file later supplies the limits that no option gives */
    struct cmd_gdb *our_gdb; /* gdb that `lanewise gdb` starts, or NULL if there is none */
    bool hash, serve, silent, verbose;
    enum nat_engine engine;
    bool engine_given; /* the user has chosen the engine; otherwise native code only makes runs faster, and must not be observable */
    bool repeats;      /* the run repeats one that has stopped in native code, and prints only what that one has not printed */
    struct lnc_limits native_limit; /* time limit of --native-timeout, or 0 if it is not given */
    const char *host_code, *host_profile; /* values of --host-code and --host-profile, or NULL */
};

static enum lw_status take_engine(struct options *o, const char *value, struct lw_error *err)
{
    for (o->engine = NAT_INTERPRETER; nat_engine_names[o->engine] != NULL && strcmp(value, nat_engine_names[o->engine]) != 0; o->engine++)
        ;
    o->engine_given = true;
    return nat_engine_names[o->engine] != NULL
               ? LW_OK : LW_FAIL(err, LW_EUSAGE, "expected interpreter, native, auto or auto-unshared, found \"%.40s\"", value);
}

static enum lw_status take(void *context, unsigned option, const char *value,
                           struct lw_error *err)
{
    struct options *o = context;
    const char *name = o->cmd->options[option].name;
    enum lw_status status = LW_OK;
    struct {
        const char *name;
        const char **to;
    } texts[] = {
        {"stats", &o->stats},          {"gdb", &o->gdb},
        {"arch", &o->machine.gdb_arch},
        {"warp", &o->machine.warp},    {"reconv", &o->machine.reconv},
        {"policy", &o->machine.policy}, {"quantum", &o->machine.quantum},
        {"fairness-limit", &o->machine.fairness_limit}, {"window", &o->machine.fairness_limit},
        {"hang-limit", &o->machine.hang_limit}, {"hang-window", &o->machine.hang_limit}, {"seed", &o->machine.seed},
        {"level", &o->machine.level},
        {"tags", &o->machine.tags}, {"tag-rules", &o->machine.tag_rules},
        {"tag-expansion", &o->machine.tag_expansion},
        {"tag-plan", &o->machine.tag_plan},
        {"clang", &o->machine.clang},   {"compiler", &o->machine.clang},   {"gdb-arch", &o->machine.gdb_arch},
        {"gdb-file", &o->machine.gdb_file},
        {"log", &o->machine.log},
        {"history", &o->machine.history},       {"replay", &o->machine.replay},
        {"push-order", &o->machine.push_order}, {"resume", &o->machine.resume},
        {"host-code", &o->host_code}, {"host-profile", &o->host_profile},
    };

    for (unsigned i = 0; i < LW_COUNT_OF(texts); i++)
        if (strcmp(name, texts[i].name) == 0)
            *texts[i].to = value;
    if (cmd_flags_take(&o->machine.flags, name, value, &status, err))
        return status;
    if (cmd_direct_take(&o->machine, name, value, &status, err))
        return status;
    if (strcmp(name, "debuggable") == 0)
        o->machine.debuggable = true;
    if (strcmp(name, "values") == 0)
        o->machine.keep_values = true;
    if (strcmp(name, "lat-barriers") == 0)
        o->machine.lat_barriers = true;
    if (strncmp(name, "timing", 6) == 0 || strcmp(name, "mechanism") == 0) {
        return cmd_timing_take(&o->machine.timing, name, value, err);
    } else if (strcmp(name, "gdb") == 0) {
        o->serve = true;
    } else if (strcmp(name, "gdb-program") == 0) {
        o->our_gdb->program = value;
    } else if (strcmp(name, "hash") == 0) {
        o->hash = true;
    } else if (strcmp(name, "quiet") == 0) {
        o->silent = o->machine.silent = true;
    } else if (strcmp(name, "verbose") == 0) {
        o->verbose = true;
    } else if (strcmp(name, "engine") == 0) {
        return take_engine(o, value, err);
    } else if (strcmp(name, "native-timeout") == 0) {
        return lnc_limit_set(&o->native_limit, "timeout", value, err);
    } else if (strcmp(name, "threads") == 0) {
        uint64_t threads;

        if (!lw_parse_u64(value, &threads) || threads == 0)
            return LW_FAIL(err, LW_EUSAGE, "expected an integer of 1 or more, found \"%.40s\"",
                           value);
        if (threads > MAX_THREADS)
            return LW_FAIL(err, LW_EUSAGE, "expected at most %d, found %.40s", MAX_THREADS, value);
        o->threads = (unsigned)threads;
    } else if (strcmp(name, "check") == 0 || strncmp(name, "check-", 6) == 0 ||
               strcmp(name, "max-findings") == 0 || strcmp(name, "coverage") == 0 ||
               strncmp(name, "profile", 7) == 0 || strcmp(name, "read-poison") == 0) {
        return cmd_check_take(&o->check, name, value, err);
    } else if (strcmp(name, "max-instructions") == 0 || strcmp(name, "timeout") == 0) {
        return lnc_limit_set(&o->limits, name, value, err);
    } else if (strncmp(name, "checkpoint", 10) == 0) {
        return cmd_checkpoint_take(&o->checkpoint, name, value, err);
    } else if (strcmp(name, "dump") == 0) {
        const char *equal = strchr(value, '=');

        if (equal == NULL || equal == value || equal[1] == '\0')
            return LW_FAIL(err, LW_EUSAGE, "expected BUFFER=FILE, found \"%.80s\"", value);
        if (o->dump_count == MAX_DUMPS)
            return LW_FAIL(err, LW_EUSAGE, "the option is given too often: at most %d times", MAX_DUMPS);
        o->dump_name[o->dump_count] = strndup(value, (size_t)(equal - value));
        if (o->dump_name[o->dump_count] == NULL)
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a name");
        o->dump_file[o->dump_count++] = equal + 1;
    }
    return LW_OK;
}

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/** Returns the stream for the summary and for output of kernels. The stream is standard error if JSON or the bytes of a buffer
 *  are written to standard output. */
static FILE *text_stream(const struct options *o)
{
    bool taken = is_stdout(o->stats) || is_stdout(o->machine.timing.trace);

    for (unsigned i = 0; i < o->dump_count; i++)
        taken = taken || is_stdout(o->dump_file[i]);
    return taken ? stderr : stdout;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- progress on a terminal ----------------------------------------------------- */

/** Writes a number to @out, in short form from a million on: "999999", "1.5 M", "2.25 G". */
static const char *short_count(double n, char out[32])
{
    if (n >= 1e9)
        snprintf(out, 32, "%.2f G", n * 1e-9);
    else if (n >= 1e6)
        snprintf(out, 32, "%.1f M", n * 1e-6);
    else
        snprintf(out, 32, "%.0f", n);
    return out;
}

static void progress_show(const struct cmd_machine *m, double started)
{
    struct emu_stats stats;
    char text[120], count[32];

    emu_stats_get(m->machine, &stats);
    int used = snprintf(text, sizeof text, "%5.1f %%  %s thread instructions  %.1f s",
                        100 * lnc_session_progress(m->session),
                        short_count((double)stats.thread_instructions, count), seconds() - started);
    if (m->timing != NULL)
        snprintf(text + used, sizeof text - (size_t)used, "  %s cycles",
                 short_count((double)m->engine->ops->cycles(m->engine), count));
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
}

/* Starts the timer that interrupts the engine to show progress and to check the time limit. On a terminal it first fires
 * after half a second, or at an earlier time limit; otherwise at the time limit. After that, the timer fires five times a
 * second, because the limit may not have been reached exactly at the first time. */
static void start_clock(bool terminal, double seconds)
{
    double first = terminal ? 0.5 : seconds;

    if (seconds > 0 && seconds < first)
        first = seconds;
    if (first > 0)
        cmd_end_tick(first, 0.2);
}

/* ---- threads ----------------------------------------------------------------------- */

/** Returns the number of processors that this process may use. */
static unsigned host_threads(void)
{
    cpu_set_t set;
    int n = 1;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

/** Prints how the next launch runs. With --verbose, prints a line for each kernel; otherwise only once, if --threads requested
 *  several threads and the kernel can observe the order of its blocks, so that they run on one. */
static void report_order(const struct cmd_machine *m, const struct options *o, bool *reported,
                       const struct isa_function **last)
{
    const struct emu_grid *grid = emu_grid_current(m->machine);
    struct lw_file_sink out;
    char room[ISA_SYMBOL_BYTES];

    if (grid == NULL || o->repeats)
        return;
    const struct emu_program *program = grid->launch.program;
    const struct isa_function *kernel = grid->launch.kernel;
    bool fixed = !emu_kernel_block_order_free(program, kernel) && m->engine->threads > 1;
    bool person = o->threads > 1; /* --threads requested more than one thread */
    if (o->verbose ? *last == kernel : !fixed || !person || *reported)
        return;
    *last = kernel;
    *reported = *reported || fixed;
    lw_file_sink_init(&out, stderr);
    lw_printf(&out.sink, "lanewise: kernel %s: ", isa_symbol_text(kernel->name, room));
    isa_order_print(emu_program_object(program), emu_kernel_order(program, kernel), &out.sink);
    if (fixed)
        lw_put(&out.sink, "; its blocks run in the fixed order on one host thread");
    else if (o->verbose)
        lw_printf(&out.sink, "; its blocks run on up to %u host thread%s", m->engine->threads,
                  m->engine->threads == 1 ? "" : "s");
    lw_put(&out.sink, "\n");
}

/* ---- the run --------------------------------------------------------------------- */

/** Executes the steps of the launch file to the end, or to a stop. @resume: first continues the launch that is in
 *  progress. */
static enum lw_status run(struct cmd_machine *m, struct options *o, bool resume,
                          struct cmd_outcome *outcome, struct lw_error *err)
{
    const struct isa_function *last = NULL;
    struct emu_stop *stop = &outcome->stop;
    bool terminal = isatty(STDERR_FILENO), shown = false, more = true, reported = false;
    double started = seconds();
    enum lw_status status = LW_OK;

    *stop = (struct emu_stop){.kind = EMU_STOP_IDLE};
    start_clock(terminal, o->limits.seconds);
    while (status == LW_OK) {
        if (!resume)
            status = cmd_machine_next(m, &more, err);
        resume = false;
        if (status != LW_OK || !more)
            break;
        report_order(m, o, &reported, &last);
        do {
            double launched = seconds();

            if (cmd_end_due(&o->limits, m, launched - started, stop))
                break;
            const uint64_t now = m->engine->ops->instructions(m->engine), limit = o->limits.instructions;
            const uint64_t checkpoint = cmd_checkpoint_next(&o->checkpoint, now);
            m->engine->stop_at = limit > now && limit < checkpoint ? limit : checkpoint;
            status = m->engine->ops->run(m->engine, stop, err);
            outcome->launch_seconds += seconds() - launched;
            if (status == LW_OK && stop->kind == EMU_STOP_COUNT && m->engine->stop_at == checkpoint)
                cmd_checkpoint_write(&o->checkpoint, m);
            if (status == LW_OK && stop->kind == EMU_STOP_INTERRUPTED && terminal) {
                shown = true;
                progress_show(m, started);
            }
        } while (status == LW_OK &&
                 (stop->kind == EMU_STOP_INTERRUPTED || stop->kind == EMU_STOP_COUNT));
        if (stop->kind != EMU_STOP_IDLE)
            break;
    }
    cmd_end_tick(0, 0);
    if (shown)
        fputs("\r\033[K", stderr);
    return status;
}

static void print_summary(const struct cmd_machine *m, const struct cmd_outcome *outcome,
                          FILE *out)
{
    const struct lnc_result *r = &outcome->result;
    const char *good = cmd_colour(fileno(out)) ? "\033[1;32m" : "";
    const char *bad = cmd_colour(fileno(out)) ? "\033[1;31m" : "";
    struct emu_stats stats;
    double n;
    char count[32];

    emu_stats_get(m->machine, &stats);
    n = (double)stats.thread_instructions;
    if (r->failed_checks != 0)
        fprintf(out, "%sfailed:%s %u of %u checks failed", bad, *bad ? "\033[0m" : "",
                r->failed_checks, r->checks);
    else if (outcome->found != 0)
        fprintf(out, "%sfailed:%s %u finding%s", bad, *bad ? "\033[0m" : "", outcome->found,
                outcome->found == 1 ? "" : "s");
    else if (r->checks != 0)
        fprintf(out, "%sok:%s %u check%s passed", good, *good ? "\033[0m" : "",
                r->checks, r->checks == 1 ? "" : "s");
    else if (outcome->looked)
        fprintf(out, "%sok:%s no findings; results were not checked%s%s", good, *good ? "\033[0m" : "",
                m->direct ? "" : " (no \"check\" step)", outcome->unread ? ", no buffer was read" : "");
    else if (m->direct)
        fprintf(out, "%sok:%s results were not checked", good, *good ? "\033[0m" : "");
    else
        fprintf(out, "%sok:%s results were not checked (no \"check\" step)", good, *good ? "\033[0m" : "");
    if (outcome->found != 0 && r->failed_checks != 0)
        fprintf(out, ", %u finding%s", outcome->found, outcome->found == 1 ? "" : "s");
    else if (outcome->found != 0 && r->checks != 0)
        fprintf(out, "; %u check%s passed", r->checks, r->checks == 1 ? "" : "s");
    if (outcome->suppressed != 0)
        fprintf(out, ", %u finding%s suppressed", outcome->suppressed, outcome->suppressed == 1 ? "" : "s");
    fprintf(out, ", %u launch%s, ", r->launches, r->launches == 1 ? "" : "es");
    fprintf(out, "%s thread instructions, %.2f s", short_count(n, count), outcome->run_seconds);
    if (m->timing != NULL)
        fprintf(out, ", %" PRIu64 " cycles on %s", m->engine->ops->cycles(m->engine),
                tim_config_name(m->timing));
    if (outcome->usual && outcome->found == 0 && r->failed_checks == 0)
        fputs(" (races and uninitialised values were not checked: use --check=all,-performance)", out);
    fputc('\n', out);
    if (emu_machine_config(m->machine)->tags != EMU_TAGS_OFF) {
        struct lw_file_sink sink;

        fflush(out);
        lw_file_sink_init(&sink, out);
        lw_put(&sink.sink, "tags: ");
        emu_tag_stats_print(&stats, &sink.sink);
        lw_put(&sink.sink, "\n");
    }
}

/* Sink for output of kernels, or for messages. */
struct text_sink {
    struct lw_sink sink;
    struct lw_file_sink file;
    bool open_line; /* the last line has no newline yet */
    uint64_t bytes; /* number of bytes of text in this run */
    uint64_t known; /* number of bytes at the start of the text that an earlier run has written */
};

/** Lets the next run print only what follows the text of this one. */
static void repeat_text(struct text_sink *t)
{
    t->known = t->bytes;
    t->bytes = 0;
}

static void write_text(struct lw_sink *sink, const char *text, size_t size)
{
    struct text_sink *t = (struct text_sink *)(void *)sink;
    const uint64_t left = t->known > t->bytes ? t->known - t->bytes : 0;
    const size_t skipped = left < size ? (size_t)left : size;

    if (size != 0)
        t->open_line = text[size - 1] != '\n';
    t->bytes += size;
    t->file.sink.write(&t->file.sink, text + skipped, size - skipped);
}

/** Prints an error of a run. If a replay does not match its log, adds a possible reason: only one of the two runs had --check.
 *  With --check, a fault is reported as a finding and skipped, and does not end the run. */
static int run_error(const struct options *o, struct lw_error *err)
{
    const size_t used = strlen(err->text);

    if (o->machine.replay != NULL && strstr(err->text, "does not match this run") != NULL &&
        (o->check.enabled || strstr(err->text, "faults") != NULL))
        snprintf(err->text + used, sizeof err->text - used, "; replay a log with the same --check with which it was "
                                                            "written");
    return cmd_error(err);
}

static enum lw_status dump(const struct cmd_machine *m, const char *buffer, const char *path, struct lw_error *err)
{
    enum lw_status status;
    uint64_t size;
    void *data;

    if (!is_stdout(path))
        return lnc_session_dump(m->session, buffer, path, err);
    status = lnc_session_bytes(m->session, buffer, &data, &size, err);
    if (status == LW_OK) {
        (void)cmd_write(path, data, size); /* if this fails, main() reports the failure of standard output */
        free(data);
    }
    return status;
}

static int finish(struct cmd_machine *m, struct options *o, const char *path,
                  const struct text_sink *text, struct cmd_outcome *outcome)
{
    FILE *out = text_stream(o);
    struct lw_file_sink errors;
    struct lw_buffer why;
    struct emu_stats stats;
    bool dumped = true;
    int status = CMD_FINE;

    fflush(stdout);
    lw_file_sink_init(&errors, stderr);
    lnc_session_result(m->session, &outcome->result);
    emu_stats_get(m->machine, &stats);
    for (unsigned i = 0; i < o->dump_count; i++) { /* before the summary, so that "ok" also means that these were written */
        struct lw_error err;

        if (dump(m, o->dump_name[i], o->dump_file[i], &err) != LW_OK) {
            status = cmd_error(&err);
            dumped = false;
        }
    }
    if (stats.tags.mismatches != 0) {
        fprintf(stderr,
                "lanewise: internal error: the tags of uniform and affine registers were wrong %" PRIu64 " time%s; the results "
                "are those of a run with --tags off\n",
                stats.tags.mismatches, stats.tags.mismatches == 1 ? "" : "s");
        status = CMD_USAGE;
    }
    if (cmd_check_end(&o->check, &outcome->stop, path, &outcome->found) != CMD_FINE)
        status = CMD_USAGE;
    outcome->suppressed = cmd_check_suppressed(&o->check);
    outcome->looked = o->check.enabled;
    outcome->usual = cmd_check_is_usual(&o->check);
    outcome->unread = o->check.enabled && (o->check.kinds >> CHK_UNINIT_OUTPUT & 1) != 0 && o->dump_count == 0 &&
                      !lnc_session_reads(m->session);
    if (outcome->unread && !o->silent && !o->serve && outcome->stop.kind == EMU_STOP_IDLE)
        fprintf(stderr, "lanewise: %s: uninitialised-output is checked only when the host reads a buffer, but %s\n",
                path,
                m->direct ? "this run reads none: add --expect BUFFER=VALUES or --dump BUFFER=FILE"
                          : "this launch file reads none: add a check step or --dump BUFFER=FILE");
    if (cmd_check_wants_stale(&o->check) && (m->timing == NULL || tim_config_coherent(m->timing)) && !o->silent && !o->serve)
        fprintf(stderr, "lanewise: %s: the check stale finds nothing if L1 is coherent: add %s--timing-set "
                        "l1.coherent=off\n",
                path, m->timing == NULL ? "--timing=fermi and " : "");
    lw_buffer_init(&why);
    if (outcome->stop.kind == EMU_STOP_FAULT) {
        outcome->exit = CMD_FAULT;
        emu_fault_print(m->machine, &outcome->stop.fault, &why.sink);
    } else if (outcome->stop.kind == EMU_STOP_HANG) {
        outcome->exit = CMD_HANG;
        emu_hang_print(&outcome->stop.hang, &why.sink);
    } else if (outcome->stop.kind == EMU_STOP_LIMIT || outcome->stop.kind == EMU_STOP_INTERRUPTED) {
        const bool limit = outcome->stop.kind == EMU_STOP_LIMIT;

        outcome->exit = limit ? CMD_HANG : CMD_WRONG;
        if (m->timing != NULL)
            tim_engine_ended(m->engine, outcome->stop.hang.detail);
        lw_put(&why.sink, limit ? "limit: " : "interrupted: ");
        emu_where_print(&outcome->stop.hang, &why.sink);
    } else if (outcome->stop.kind != EMU_STOP_IDLE) {
        /* gdb has disconnected. The status is not CMD_FINE, because the results were not checked. */
        outcome->exit = CMD_WRONG;
        fprintf(stderr, "lanewise: the debugger disconnected before the program ended: results were not checked\n");
    } else {
        outcome->exit = cmd_exit_status(m, &outcome->stop);
        if (outcome->exit == CMD_FINE && outcome->found != 0)
            outcome->exit = CMD_WRONG;
        outcome->hashed = o->hash;
        if (o->hash) {
            outcome->hash_mem = emu_hash_mem(m->machine);
            outcome->hash_state = emu_hash_state(m->machine);
        }
        if (text->open_line && (o->hash || !o->silent || outcome->exit == CMD_WRONG))
            fputc('\n', out);
        if (m->direct && !o->silent) { /* a launch by options may have no checks, so the results are printed */
            struct lw_file_sink sink;
            struct lw_error err;

            lw_file_sink_init(&sink, out);
            if (lnc_session_print_outputs(m->session, &sink.sink, &err) != LW_OK)
                status = cmd_error(&err);
        }
        if ((!o->silent && dumped) || outcome->exit == CMD_WRONG)
            print_summary(m, outcome, out);
        if (o->hash)
            fprintf(out, "hash_mem %016" PRIx64 "\nhash_state %016" PRIx64 "\n",
                    outcome->hash_mem, outcome->hash_state);
    }
    if (why.size != 0) {
        lw_put(&why.sink, "\n");
        lw_put_relative(&errors.sink, lw_buffer_text(&why), NULL);
    }
    lw_buffer_fini(&why);
    struct lw_error log_error;
    if (!cmd_checkpoint_end(&o->checkpoint, m))
        status = CMD_USAGE;
    bool whole = outcome->stop.kind == EMU_STOP_IDLE || outcome->stop.kind == EMU_STOP_FAULT ||
                 outcome->stop.kind == EMU_STOP_HANG;
    if (cmd_machine_finish(m, whole, &log_error) != LW_OK)
        status = run_error(o, &log_error);
    if (m->timing != NULL && cmd_timing_write(&o->machine.timing, m->engine, out) != CMD_FINE)
        status = CMD_USAGE;
    if (o->stats != NULL && cmd_stats_write(o->stats, path, m, outcome) != CMD_FINE)
        status = CMD_USAGE;
    return status != CMD_FINE ? status : (int)outcome->exit;
}

/** Checks before a long run that its output files can be written. */
static enum lw_status try_files(const struct options *o, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    if (o->stats != NULL && strcmp(o->stats, "-") != 0) {
        status = lw_file_try_write(o->stats, err);
        if (status != LW_OK)
            lw_error_prefix(err, "run: --stats");
    }
    if (status == LW_OK && o->host_code != NULL && !is_stdout(o->host_code)) {
        status = lw_file_try_write(o->host_code, err);
        if (status != LW_OK)
            lw_error_prefix(err, "run: --host-code");
    }
    if (status == LW_OK) {
        status = cmd_timing_try(&o->machine.timing, err);
        if (status != LW_OK)
            lw_error_prefix(err, "run");
    }
    for (unsigned i = 0; i < o->dump_count && status == LW_OK; i++) {
        if (is_stdout(o->dump_file[i]))
            continue;
        status = lw_file_try_write(o->dump_file[i], err);
        if (status != LW_OK)
            lw_error_prefix(err, "run: --dump %s", o->dump_name[i]);
    }
    return status;
}

/** An output file of a run. */
struct output {
    const char *option, *path;
    enum { NAMED, TEXT, JSON } dash; /* meaning of the path "-". NAMED: a file of that name. TEXT: standard output,
                                      * which gets other texts, too. JSON: standard output, which gets nothing else */
};

/** Gets the state of the folder that contains @path. Returns false if the folder does not exist. */
static bool folder_of(const char *path, struct stat *out)
{
    const char *slash = strrchr(path, '/');
    struct lw_buffer folder;
    bool known = false;

    lw_buffer_init(&folder);
    if (slash != NULL)
        lw_printf(&folder.sink, "%.*s/", (int)(slash - path), path);
    else
        lw_put(&folder.sink, ".");
    known = folder.text != NULL && stat(folder.text, out) == 0;
    lw_buffer_fini(&folder);
    return known;
}

/** Returns true if two outputs would be written to the same regular file, or mixed on standard output. Other outputs may
 *  share a device such as /dev/null. */
static bool is_one_file(const struct output *a, const struct output *b)
{
    bool on_stdout = a->dash != NAMED && is_stdout(a->path);
    bool other_too = b->dash != NAMED && is_stdout(b->path);
    struct stat one, other;

    if (on_stdout || other_too)
        return on_stdout && other_too && (a->dash == JSON || b->dash == JSON);
    const bool is = stat(a->path, &one) == 0, too = stat(b->path, &other) == 0;
    if (!is && !too) { /* neither file exists yet, so their folders and names are compared */
        const char *x = strrchr(a->path, '/'), *y = strrchr(b->path, '/');

        return strcmp(x != NULL ? x + 1 : a->path, y != NULL ? y + 1 : b->path) == 0 &&
               folder_of(a->path, &one) && folder_of(b->path, &other) && one.st_dev == other.st_dev &&
               one.st_ino == other.st_ino;
    }
    if (!is || !too)
        return false;
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/** Refuses options that would write to the same file, or to the launch file or program. */
static enum lw_status check_outputs(const struct options *o, const char *launch_file, struct lw_error *err)
{
    const struct cmd_timing *t = &o->machine.timing;
    struct output output[10 + MAX_DUMPS + LW_COUNT_OF(o->check.files)] = {
        {"stats", o->stats, JSON},
        {"timing-trace", t->trace, JSON},
        {"timing-report", is_stdout(t->report) ? NULL : t->report, NAMED}, /* "-" adds the report to the summary */
        {"log", o->machine.log, NAMED},
        {"coverage", o->check.coverage, TEXT},
        {"profile", o->check.profile, TEXT},
        {"checkpoint", o->checkpoint.path, NAMED},
        {"gdb-file", o->machine.gdb_file, NAMED},
        {"save-launch", o->machine.save_launch, NAMED},
        {"host-code", o->host_code, TEXT},
    };
    unsigned count = 10;

    for (unsigned i = 0; i < o->check.file_count; i++)
        output[count++] = (struct output){"check-file", o->check.files[i], TEXT};
    for (unsigned i = 0; i < o->dump_count; i++)
        output[count++] = (struct output){"dump", o->dump_file[i], JSON};
    for (unsigned i = 0; i < count; i++)
        if (output[i].path != NULL && is_one_file(&output[i], &(struct output){NULL, launch_file, NAMED}))
            return LW_FAIL(err, LW_EUSAGE, "%s: --%s %.200s: the output would overwrite the %s: write to another file",
                           o->cmd->name, output[i].option, output[i].path,
                           lnc_is_source(launch_file) ? "program" : "launch file");
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < i; k++)
            if (output[i].path != NULL && output[k].path != NULL &&
                is_one_file(&output[i], &output[k]))
                return LW_FAIL(err, LW_EUSAGE, "%s: --%s and --%s both write to %s: give two different files",
                               o->cmd->name, output[k].option, output[i].option,
                               output[i].dash != NAMED && is_stdout(output[i].path) ? "standard output"
                                                                                    : output[i].path);
    return LW_OK;
}

int cmd_run(const struct cmd *cmd, int argc, char **argv)
{
    return cmd_run_with(cmd, argc, argv, NULL);
}

/** The listing that --host-code writes. */
struct host_code {
    struct nat_listing listing;
    struct lw_buffer text;
    char *profile; /* contents of the file of --host-profile, or NULL; owned */
};

static bool profile_count(void *context, const char *file, uint32_t line, uint64_t *count)
{
    return chk_profile_count(context, file, line, count);
}

/** Lets @native list the code of kernels. */
static enum lw_status list_host_code(struct host_code *h, const struct options *o, struct emu_native *native, struct lw_error *err)
{
    size_t size;

    if (o->host_profile != NULL && lw_file_read(o->host_profile, &h->profile, &size, err) != LW_OK)
        return err->status;
    h->listing = (struct nat_listing){&h->text.sink, h->profile != NULL ? profile_count : NULL, h->profile};
    nat_set_listing(native, &h->listing);
    return LW_OK;
}

/** Writes the listing. Returns the exit status: @status, or CMD_USAGE if the file cannot be written. */
static int write_host_code(struct host_code *h, const struct options *o, int status)
{
    if (o->host_code == NULL)
        return status;
    if (h->text.size == 0)
        fprintf(stderr, "lanewise: --host-code: no kernel was compiled to native code%s\n", status == CMD_FINE ? "; -v states why" : "");
    const int written = cmd_write(o->host_code, lw_buffer_text(&h->text), h->text.size);
    return status == CMD_FINE ? written : status;
}

/** Opens the launch file or program @path and runs it. Returns the exit status. Sets *@unreported to true if a kernel has stopped that
 *  the user did not ask to run in native code: there, the warps of a block run in another order, and other warps may have run when a
 *  warp stops. Then nothing is reported, and the caller lets the interpreter run the file. */
static int execute(struct options *o, const char *path, struct cmd_gdb *gdb, struct text_sink *out, struct text_sink *messages,
                   bool *unreported)
{
    struct cmd_machine m = {0};
    struct emu_native *native = NULL;
    struct cmd_outcome outcome = {0};
    struct lw_file_sink native_messages;
    struct host_code host = {.profile = NULL};
    struct lw_error err;
    double started = seconds();
    int status = CMD_FINE;

    *unreported = false;
    lw_file_sink_init(&native_messages, stderr);
    lw_buffer_init(&host.text);
    o->machine.no_values = !o->serve && !o->check.enabled && o->machine.log == NULL && o->machine.replay == NULL;
    if (o->engine != NAT_INTERPRETER) { /* the translator is created before the machine that will use it */
        if (nat_create(o->engine, &native, &err) != LW_OK) {
            status = cmd_error(&err);
            goto cleanup;
        }
        if (o->native_limit.seconds > 0)
            nat_set_limit(native, o->native_limit.seconds);
        nat_set_cached(native, true);
        if (o->check.enabled) /* findings are in the same order in each run */
            nat_set_steady(native);
        nat_set_sink(native, o->verbose ? &native_messages.sink : NULL);
        if (o->host_code != NULL && list_host_code(&host, o, native, &err) != LW_OK) {
            status = cmd_error(&err);
            goto cleanup;
        }
    }
    if (cmd_machine_open(path, &o->machine, &out->sink, &messages->sink, &m, &err) != LW_OK) {
        status = cmd_open_error(&err, o->machine.clang);
        goto cleanup;
    }
    cmd_end_catch(o->serve ? NULL : m.engine, gdb != NULL ? cmd_gdb_quickly : NULL);
    const struct lnc_limits limits = lnc_file_limits(m.file);
    if (o->limits.instructions == 0 && !o->serve)
        o->limits.instructions = limits.instructions;
    if (!(o->limits.seconds > 0) && !o->serve)
        o->limits.seconds = limits.seconds;
    if (o->machine.save_launch != NULL && lnc_file_save(m.file, o->machine.save_launch, &err) != LW_OK) {
        lw_error_prefix(&err, "%s: --save-launch", o->cmd->name);
        status = cmd_error(&err);
        goto cleanup;
    }
    for (unsigned i = 0; i < o->dump_count; i++) {
        uint64_t address, size;

        /* The names of buffers are checked now, so that a wrong one is not found after a long run. */
        if (!lnc_session_buffer(m.session, o->dump_name[i], &address, &size)) {
            if (lnc_session_dump(m.session, o->dump_name[i], "", &err) != LW_OK)
                lw_error_prefix(&err, "run: --dump");
            status = cmd_error(&err);
            goto cleanup;
        }
    }
    o->check.debugged = o->serve;
    o->check.by_options = m.direct;
    o->check.replayed = o->machine.replay != NULL;
    if (cmd_check_begin(&o->check, m.machine, m.session, &err) != LW_OK) {
        status = cmd_check_begin_error(&o->check, o->cmd->name, o->machine.resume, &err);
        goto cleanup;
    }
    if (cmd_checkpoint_begin(&o->checkpoint, m.engine->ops->instructions(m.engine), &err) !=
        LW_OK) {
        status = cmd_error(&err);
        goto cleanup;
    }
    m.engine->threads = o->checkpoint.path != NULL || m.timing != NULL ? 1
                        : o->threads != 0          ? o->threads
                                                  : host_threads();
    if (o->threads > 1 && !o->repeats && (o->serve || o->machine.log != NULL || o->machine.replay != NULL ||
                          o->checkpoint.path != NULL || o->check.chk != NULL || o->limits.instructions != 0))
        fprintf(stderr, "lanewise: --threads has no effect, as %s: blocks run in the fixed order on one host thread\n",
                o->serve                      ? "gdb is connected"
                : o->machine.log != NULL    ? "the schedule is logged"
                : o->machine.replay != NULL ? "a schedule is replayed"
                : o->check.enabled            ? "findings are collected in their order"
                : o->check.chk != NULL      ? "executed instructions are counted"
                : o->limits.instructions != 0 ? "instructions are counted in their order"
                                             : "checkpoints are written");
    const bool exact = o->limits.instructions != 0 || o->limits.seconds > 0 || !lnc_file_is_repeatable(m.file);
    if (native != NULL && (o->engine_given || !exact))
        emu_machine_set_native(m.machine, native);
    outcome.load_seconds = seconds() - started;
    started = seconds();
    bool detached = false;
    struct cmd_serve how = {.launch_file = path,
                            .address = o->gdb,
                            .options = &o->machine,
                            .check = &o->check,
                            .print = &out->sink,
                            .messages = &messages->sink,
                            .once = true,
                            .gdb = gdb};
    if ((o->serve ? cmd_serve_gdb(&m, &how, &outcome.stop, &detached, &err)
                 : run(&m, o, emu_grid_current(m.machine) != NULL, &outcome, &err)) != LW_OK) {
        status = run_error(o, &err);
        goto cleanup;
    }
    if (gdb != NULL)
        cmd_gdb_wait(gdb); /* the results are printed after gdb has left the terminal */
    cmd_end_catch(m.engine, NULL);
    if (cmd_end_signal() != 0 && outcome.stop.kind == EMU_STOP_NONE) {
        detached = false;
        (void)cmd_end_due(&o->limits, &m, 0, &outcome.stop);
    }
    if (detached && outcome.stop.kind == EMU_STOP_NONE) {
        fprintf(stderr, "lanewise: gdb has detached; the run continues\n");
        if (run(&m, o, true, &outcome, &err) != LW_OK) {
            status = cmd_error(&err);
            goto cleanup;
        }
    }
    outcome.run_seconds = seconds() - started;
    outcome.native = o->engine_given ? native : NULL;
    *unreported = !o->engine_given && emu_machine_native_instructions(m.machine) != 0 &&
             (outcome.stop.kind == EMU_STOP_FAULT || outcome.stop.kind == EMU_STOP_HANG);
    if (!*unreported)
        status = write_host_code(&host, o, finish(&m, o, path, out, &outcome));
cleanup:
    if (gdb != NULL)
        cmd_gdb_wait(gdb);
    cmd_check_close(&o->check);
    cmd_end_engine(NULL);
    if (native != NULL && m.machine != NULL && o->verbose && (o->engine_given || emu_machine_native_instructions(m.machine) != 0)) {
        struct nat_stats counts;
        nat_get_stats(native, &counts);
        fprintf(stderr, "native code: %u kernel%s compiled and %u taken from the cache in %.0f ms, %u left to the interpreter; %" PRIu64
            " warp instructions ran in native code\n",
                counts.kernels, counts.kernels == 1 ? "" : "s", counts.cached, 1e3 * counts.seconds, counts.refused,
                emu_machine_native_instructions(m.machine));
    }
    cmd_machine_close(&m);
    nat_destroy(native);
    lw_buffer_fini(&host.text);
    free(host.profile);
    return status;
}

/** Chooses the engine if the user has not. Native code is not used if the run has checks or a limit, or if the launch file or
 *  program @path could not be read once more. */
static enum lw_status default_engine(struct options *o, const char *path, struct lw_error *err)
{
    const char *engine = getenv("LANEWISE_ENGINE");
    struct stat file;

    if (o->host_code != NULL && o->engine_given && o->engine == NAT_INTERPRETER)
        return LW_FAIL(err, LW_EUSAGE, "run: --host-code lists native code, and --engine interpreter uses none: give one of them");
    if (o->host_profile != NULL && o->host_code == NULL)
        return LW_FAIL(err, LW_EUSAGE, "run: --host-profile adds counts to the listing of --host-code: give both");
    if (o->host_code != NULL && !o->engine_given)
        return take_engine(o, nat_engine_names[NAT_NATIVE], err);
    if (o->engine_given)
        return LW_OK;
    if (engine != NULL && *engine != '\0') {
        enum lw_status status = take_engine(o, engine, err);
        if (status != LW_OK)
            lw_error_prefix(err, "the environment variable LANEWISE_ENGINE");
        return status;
    }
    const bool limited = o->limits.instructions != 0 || o->limits.seconds > 0;
    const bool exact = o->serve || limited || o->check.enabled || o->checkpoint.path != NULL || o->machine.resume != NULL;
    o->engine = exact || stat(path, &file) != 0 || !S_ISREG(file.st_mode) ? NAT_INTERPRETER : NAT_AUTO_UNSHARED;
    return LW_OK;
}

int cmd_run_with(const struct cmd *cmd, int argc, char **argv, struct cmd_gdb *gdb)
{
    struct options o = {.cmd = cmd, .our_gdb = gdb, .serve = gdb != NULL};
    struct text_sink out = {.sink = {write_text}}, messages = out;
    struct lw_error err;
    int status, operands = cmd_parse(cmd, argc, argv, take, &o, &status);

    if (operands < 0)
        goto cleanup;
    if (operands != 1) {
        status = cmd_wrong_operands(cmd, operands, argv + 1, &o.machine);
        goto cleanup;
    }
    if (o.serve)
        cmd_debuggable_resolve(&o.machine);
    if (o.machine.gdb_arch != NULL && !o.serve) {
        status = cmd_wrong_usage(cmd, CMD_GDB_ARCH_ALONE);
        goto cleanup;
    }
    if (o.machine.gdb_file != NULL && !o.serve) {
        status = cmd_wrong_usage(cmd, CMD_GDB_FILE_ALONE);
        goto cleanup;
    }
    if (o.machine.history != NULL && !o.serve) {
        status = cmd_wrong_usage(cmd, CMD_HISTORY_ALONE);
        goto cleanup;
    }
    if (check_outputs(&o, argv[1], &err) != LW_OK || cmd_checkpoint_check(&o.checkpoint, &err) != LW_OK ||
        try_files(&o, &err) != LW_OK) {
        status = cmd_error(&err);
        goto cleanup;
    }
    for (unsigned i = 0; i < o.dump_count; i++)
        if (is_stdout(o.dump_file[i]) && o.serve) {
            status = cmd_wrong_usage(cmd, "--dump %s=- and --gdb cannot be combined, as standard output shows the address "
                                          "to which gdb connects: write the dump to a file", o.dump_name[i]);
            goto cleanup;
        }
    if ((o.limits.instructions != 0 || o.limits.seconds > 0) && o.serve) {
        status = cmd_wrong_usage(cmd, "--%s and --gdb cannot be combined, as gdb decides how far a kernel runs: give "
                                      "one of them",
                                 o.limits.instructions != 0 ? "max-instructions" : "timeout");
        goto cleanup;
    }
    if ((o.check.coverage != NULL || o.check.profile != NULL) && o.serve) {
        status = cmd_wrong_usage(cmd, "--%s and --gdb cannot be combined, as executed instructions are not counted in gdb, "
                                      "which may run a kernel backwards: give one of them",
                                 o.check.coverage != NULL ? "coverage" : "profile");
        goto cleanup;
    }
    o.check.silent = o.silent;
    if (cmd_check_prepare(&o.check, cmd->name, argv[1], &err) != LW_OK) {
        status = cmd_error(&err);
        goto cleanup;
    }
    if (o.checkpoint.path != NULL && (o.serve || o.machine.replay != NULL)) {
        status = cmd_wrong_usage(cmd, "--checkpoint and --%s cannot be combined, as %s: give one of them",
                                 o.serve ? "gdb" : "replay",
                                 o.serve ? "gdb decides what runs"
                                         : "a checkpoint does not contain the rest of the log");
        goto cleanup;
    }
    if (o.machine.timing.machine != NULL &&
        (o.threads > 1 || o.checkpoint.path != NULL)) {
        status = cmd_wrong_usage(cmd, o.threads > 1
                                          ? "--threads and --timing cannot be combined, as the timing model runs on "
                                            "one host thread: give one of them"
                                          : "--checkpoint and --timing cannot be combined, as a checkpoint does not "
                                            "contain the state of the timing model: give one of them");
        goto cleanup;
    }
    if (default_engine(&o, argv[1], &err) != LW_OK) {
        status = cmd_error(&err);
        goto cleanup;
    }
    lw_file_sink_init(&out.file, text_stream(&o));
    lw_file_sink_init(&messages.file, stderr);
    bool unreported;
    status = execute(&o, argv[1], gdb, &out, &messages, &unreported);
    if (unreported) {
        if (o.verbose)
            fputs("lanewise: a kernel has stopped in native code: the interpreter runs the file from the start\n", stderr);
        o.engine = NAT_INTERPRETER;
        o.repeats = o.machine.silent = true;
        repeat_text(&out);
        repeat_text(&messages);
        status = execute(&o, argv[1], gdb, &out, &messages, &unreported);
    }
cleanup:
    if (gdb != NULL)
        cmd_gdb_wait(gdb);
    cmd_check_close(&o.check);
    lw_arena_fini(&o.machine.flags.arena);
    for (unsigned i = 0; i < o.dump_count; i++)
        free(o.dump_name[i]);
    cmd_end_die();
    return status;
}
