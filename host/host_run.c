/* SPDX-License-Identifier: Apache-2.0 */
/* Queues launches, runs them within limits, and returns counts and reports. */
#include "host/host_priv.h"

#include <errno.h>
#include <stdio.h>
#include <pthread.h>
#include <time.h>
#include <inttypes.h>
#include <stdlib.h>

/** Copies the values of parameters to @params, and the sizes of the __local memory to which parameters point to @regions, as
 *  lnc_local_layout() reads them. */
static int fill_params(struct lanewise_machine *m, const struct isa_object *object, const struct isa_function *f,
                       const void *const *arguments, uint8_t *params, uint64_t *regions)
{
    char room[ISA_SYMBOL_BYTES];

    for (unsigned i = 0; i < f->param_count; i++) {
        const struct isa_param *p = &f->params[i];

        if (arguments == NULL || arguments[i] == NULL) {
            const char *name = isa_param_name(object, f, i);

            return host_refuse(m, "%.200s: parameter %u%s%.100s%s of %u has no value: set it before the launch", isa_symbol_text(f->name, room),
                               i + 1, name != NULL ? " (" : "", name != NULL ? name : "", name != NULL ? ")" : "", f->param_count);
        }
        if ((uint64_t)p->offset + p->size_bytes > f->param_bytes)
            return host_refuse(m, "%.200s: parameter %u is outside the %u byte%s of parameters", f->name, i + 1,
                               f->param_bytes, f->param_bytes == 1 ? "" : "s");
        regions[i] = LNC_NO_REGION;
        if (p->kind != ISA_PARAM_POINTER || p->space != ISA_SPACE_SHARED) {
            memcpy(params + p->offset, arguments[i], p->size_bytes);
            continue;
        }
        memcpy(&regions[i], arguments[i], sizeof regions[i]);
        if (regions[i] > UINT32_MAX)
            return host_refuse(m, "%.200s: %" PRIu64 " bytes of __local memory for parameter %u are "
                               "too many", f->name, regions[i], i + 1);
    }
    return LANEWISE_OK;
}

int lanewise_launch_shape(lanewise_machine *m, const lanewise_kernel *kernel, const lanewise_shape *given,
                          size_t shape_bytes, const void *const *arguments)
{
    const struct isa_function *f;
    struct lanewise_shape shape = {0};
    uint64_t static_end, shared, *regions;
    struct emu_launch launch = {0};
    struct emu_grid *queued;
    struct lw_error err;
    uint8_t *params;
    int result;

    if (m == NULL || kernel == NULL || given == NULL)
        return host_missing(m, "lanewise_launch_shape", kernel == NULL ? "the kernel" : "the shape");
    memcpy(&shape, given, shape_bytes < sizeof shape ? shape_bytes : sizeof shape);
    f = kernel->function;
    if (shape.dimensions > 3)
        return host_refuse(m, "%.200s: expected 1 to 3 dimensions, found %u", f->name, shape.dimensions);
    static_end = ((uint64_t)f->shared_bytes + 15) & ~UINT64_C(15);
    shared = static_end + shape.shared_bytes;
    launch.program = kernel->module->program;
    launch.kernel = f;
    if (kernel->module->machine != m)
        return host_refuse(m, "%.200s: the kernel was loaded on another machine", f->name);
    if (m->stopped)
        return host_refuse(m, "%.200s: cannot launch, because the machine has %s", f->name,
                           m->stop.kind == EMU_STOP_IDLE    ? "finished: create a new machine"
                           : m->stop.kind == EMU_STOP_LIMIT ? "reached a limit: create a new machine"
                                                            : "stopped at a fault or a hang: recover it (lanewise_recover) first");
    if (m->record != NULL && emu_grid_current(m->machine) != NULL && (result = lanewise_wait(m)) > LANEWISE_FINDING)
        return result;
    params = calloc(1, f->param_bytes + 1u);
    regions = malloc((f->param_count + 1u) * sizeof *regions);
    if (params == NULL || regions == NULL) {
        free(params);
        free(regions);
        return host_refuse(m, "the host has no memory for %u bytes of parameters", f->param_bytes);
    }
    memcpy(launch.grid, shape.grid, sizeof launch.grid);
    memcpy(launch.block, shape.block, sizeof launch.block);
    memcpy(launch.offset, shape.offset, sizeof launch.offset);
    launch.work_dim = shape.dimensions != 0 ? shape.dimensions : 1;
    for (unsigned i = 1; i < 3 && shape.dimensions == 0; i++)
        if (shape.grid[i] != 1 || shape.block[i] != 1)
            launch.work_dim = i + 1;
    shape.dimensions = launch.work_dim;
    launch.params = params;
    result = fill_params(m, kernel->module->object, f, arguments, params, regions);
    if (result == LANEWISE_OK)
        shared = lnc_local_layout(f, regions, shared, params);
    if (result == LANEWISE_OK && shared - static_end > UINT32_MAX)
        result = host_refuse(m, "%.200s: %" PRIu64 " bytes of shared memory are too many", f->name,
                             shared);
    launch.dynamic_shared_bytes = (uint32_t)(shared - static_end);
    if (result == LANEWISE_OK && m->record != NULL)
        host_record_launch(m, kernel, &shape, arguments);
    if (result == LANEWISE_OK && emu_grid_launch(m->machine, &launch, &queued, &err) != LW_OK) {
        host_record_refused(m);
        result = host_fail(m, &err);
    }
    free(regions);
    free(params);
    return result;
}

int lanewise_launch(lanewise_machine *m, const lanewise_kernel *kernel, const uint32_t grid[3],
                    const uint32_t block[3], uint32_t shared_bytes,
                    const void *const *arguments)
{
    lanewise_shape shape = {.shared_bytes = shared_bytes};

    if (m == NULL || kernel == NULL || grid == NULL || block == NULL)
        return host_missing(m, "lanewise_launch", kernel == NULL ? "the kernel"
                                                  : grid == NULL ? "the grid"
                                                                 : "the block");
    memcpy(shape.grid, grid, sizeof shape.grid);
    memcpy(shape.block, block, sizeof shape.block);
    return lanewise_launch_shape(m, kernel, &shape, sizeof shape, arguments);
}

/** Timer with a thread of its own. The thread interrupts the engine at time `until`, unless `quit` is set before. */
struct alarm {
    struct emu_engine *engine;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct timespec until;
    bool over, quit; /* over: the time limit was reached; quit: the run ended before the limit */
};

static void *alarm_main(void *argument)
{
    struct alarm *a = argument;

    pthread_mutex_lock(&a->mutex);
    while (!a->quit && !a->over)
        a->over = pthread_cond_timedwait(&a->changed, &a->mutex, &a->until) == ETIMEDOUT;
    if (a->over)
        emu_engine_interrupt(a->engine);
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

/** Runs the queued launches until the machine's limits. The time limit applies to the sum of all waits. */
static enum lw_status run_limited(struct lanewise_machine *m, struct emu_stop *stop, struct lw_error *err)
{
    const struct lnc_limits *l = &m->settings.limits;
    struct alarm a = {.engine = m->engine};
    const double left = l->seconds - m->seconds;
    const struct emu_engine_ops *ops = m->engine->ops;
    struct timespec begin, end;
    pthread_condattr_t attr;
    pthread_t thread;
    enum lw_status status;
    char why[120] = "";
    bool timed = l->seconds > 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (timed) {
        const double seconds = left > 0 ? left : 0;

        pthread_mutex_init(&a.mutex, NULL);
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&a.changed, &attr);
        pthread_condattr_destroy(&attr);
        a.until = begin;
        a.until.tv_sec += (time_t)seconds;
        a.until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
        a.until.tv_sec += a.until.tv_nsec / 1000000000;
        a.until.tv_nsec %= 1000000000;
        timed = pthread_create(&thread, NULL, alarm_main, &a) == 0;
        if (!timed) {
            pthread_cond_destroy(&a.changed);
            pthread_mutex_destroy(&a.mutex);
            return LW_FAIL(err, LW_EIO, "timeout: the host cannot start the thread that stops the run when the time is over");
        }
    }
    m->engine->stop_at = l->instructions != 0 ? l->instructions : UINT64_MAX;
    status = ops->run(m->engine, stop, err);
    if (status == LW_OK && stop->kind == EMU_STOP_COUNT && ops->warp_count(m->engine) == 0) {
        m->engine->stop_at = UINT64_MAX; /* all warps have ended at the limit, so this run only completes the launch */
        status = ops->run(m->engine, stop, err);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    m->seconds += (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (timed) {
        pthread_mutex_lock(&a.mutex);
        a.quit = true;
        pthread_cond_signal(&a.changed);
        pthread_mutex_unlock(&a.mutex);
        pthread_join(thread, NULL);
        pthread_cond_destroy(&a.changed);
        pthread_mutex_destroy(&a.mutex);
    }
    if (status == LW_OK && stop->kind == EMU_STOP_COUNT)
        snprintf(why, sizeof why, "%" PRIu64 " warp instruction%s executed (max-instructions %" PRIu64 ")",
                 ops->instructions(m->engine), ops->instructions(m->engine) == 1 ? " was" : "s were", l->instructions);
    else if (status == LW_OK && stop->kind == EMU_STOP_INTERRUPTED && a.over)
        snprintf(why, sizeof why, "%.3g s have passed (timeout %.3g)", m->seconds, l->seconds);
    if (why[0] != '\0') {
        stop->kind = EMU_STOP_LIMIT;
        emu_machine_where(m->machine, why, &stop->hang);
    }
    return status;
}

int lanewise_wait(lanewise_machine *m)
{
    struct emu_stop stop = {.kind = EMU_STOP_IDLE};
    struct lw_error err;
    struct lw_buffer why; /* why the machine has stopped */
    bool left = true;
    int result;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (m->machine == NULL)
        return LANEWISE_OK;
    if (m->stopped)
        return host_refuse(m, "the machine has %s", m->stop.kind == EMU_STOP_IDLE
                                                        ? "finished"
                                                        : "stopped at a fault, a hang or a limit");
    if (emu_grid_current(m->machine) != NULL && host_gdb_wants(m)) {
        result = host_gdb_run(m, &left);
        if (result != LANEWISE_OK)
            return result;
    }
    if (left && emu_grid_current(m->machine) != NULL && run_limited(m, &stop, &err) != LW_OK)
        return host_fail(m, &err);
    if (stop.kind != EMU_STOP_INTERRUPTED)
        host_record_ended(m, &stop);
    lw_buffer_clear(&m->error);
    if (stop.kind == EMU_STOP_FAULT || stop.kind == EMU_STOP_HANG || stop.kind == EMU_STOP_LIMIT) {
        m->stop = stop;
        if (m->chk != NULL)
            chk_broke_off(m->chk);
    }
    if (stop.kind == EMU_STOP_IDLE)
        return host_check_report(m);
    lw_buffer_init(&why);
    switch (stop.kind) {
    case EMU_STOP_FAULT:
        emu_fault_print(m->machine, &stop.fault, &why.sink);
        result = LANEWISE_FAULT;
        break;
    case EMU_STOP_HANG:
        emu_hang_print(&stop.hang, &why.sink);
        result = LANEWISE_HANG;
        break;
    case EMU_STOP_LIMIT:
        lw_put(&why.sink, "limit: ");
        emu_where_print(&stop.hang, &why.sink);
        result = LANEWISE_HANG;
        break;
    default:
        lw_put(&why.sink, "interrupted");
        result = LANEWISE_INTERRUPTED;
        break;
    }
    m->stopped = result != LANEWISE_INTERRUPTED;
    lw_put_relative(&m->error.sink, lw_buffer_text(&why), NULL);
    lw_buffer_fini(&why);
    return result;
}

_Static_assert((int)LANEWISE_FAULT_TEXTURE + 1 == (int)EMU_FAULT_COUNT, "both list the same faults, see tests/host/test_library.c");

enum lanewise_fault lanewise_fault_kind(const lanewise_machine *m)
{
    return m != NULL && m->stopped && m->stop.kind == EMU_STOP_FAULT ? (enum lanewise_fault)m->stop.fault.kind : LANEWISE_FAULT_NONE;
}

const char *lanewise_fault_allocation(const lanewise_machine *m)
{
    struct emu_allocation allocation;

    if (lanewise_fault_kind(m) == LANEWISE_FAULT_NONE || !emu_fault_allocation(m->machine, &m->stop.fault, &allocation))
        return NULL;
    return allocation.name[0] != '\0' ? allocation.name : NULL;
}

/** Adds each count of @more (emu_stat_rows lists them) to the same count of @to. */
static void add_counts(struct emu_stats *to, const struct emu_stats *more)
{
    for (size_t i = 0; i < emu_stat_row_count; i++) {
        char *at = (char *)to + emu_stat_rows[i].offset;

        lw_put64(at, lw_get64(at) + lw_get64((const char *)more + emu_stat_rows[i].offset));
    }
}

/** Gets the counts of the current engine and of those that lanewise_recover has destroyed, together. @out must not be
 *  m->past. */
static void all_counts(const struct lanewise_machine *m, struct emu_stats *out)
{
    struct emu_stats now = {0};

    if (m->machine != NULL)
        emu_stats_get(m->machine, &now);
    *out = now;
    add_counts(out, &m->past);
    out->grids = now.grids; /* not added, because the machine counts grids, so that the value already includes earlier engines */
    out->threads = now.threads > m->past.threads ? now.threads : m->past.threads;
    out->stack_depth = now.stack_depth > m->past.stack_depth ? now.stack_depth : m->past.stack_depth;
}

int lanewise_recover(lanewise_machine *m)
{
    struct emu_stats counts;
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (m->machine == NULL || (!m->stopped && emu_grid_current(m->machine) == NULL))
        return LANEWISE_OK;
    if (m->finished || (m->stopped && m->stop.kind == EMU_STOP_IDLE))
        return host_refuse(m, "the machine has finished: create a new machine");
    if (m->stop.kind == EMU_STOP_LIMIT)
        return host_refuse(m, "the machine has reached a limit, which is for all its launches together: create a new machine");
    if (m->log != NULL)
        return host_refuse(m, "a run with a schedule log ends at a fault or a hang: create a new machine");
    host_gdb_end(m);
    all_counts(m, &counts);
    m->past = counts;
    if (m->engine->ops->cycles != NULL)
        m->past_cycles += m->engine->ops->cycles(m->engine);
    emu_engine_destroy(m->engine);
    m->engine = NULL;
    emu_grids_abandon(m->machine);
    if (host_engine_begin(m, &err) != LW_OK) {
        m->stopped = true;
        return host_fail(m, &err);
    }
    m->stopped = false;
    m->stop = (struct emu_stop){.kind = EMU_STOP_IDLE};
    return LANEWISE_OK;
}

void lanewise_interrupt(lanewise_machine *m)
{
    if (m != NULL && m->engine != NULL)
        emu_engine_interrupt(m->engine);
}

/* ---- counts and reports ------------------------------------------------------------------------------ */

static bool has_cycles(const struct lanewise_machine *m)
{
    return m->engine != NULL && m->engine->ops->cycles != NULL;
}

const char *lanewise_statistic_name(unsigned index)
{
    if (index < emu_stat_row_count)
        return emu_stat_rows[index].name;
    return index == emu_stat_row_count ? "cycles" : NULL;
}

int lanewise_statistic(lanewise_machine *m, const char *name, uint64_t *value)
{
    struct emu_stats stats;
    const char *near = NULL;
    size_t nearest = SIZE_MAX;

    if (m == NULL || name == NULL || value == NULL)
        return host_missing(m, "lanewise_statistic", name == NULL ? "the name" : "the value");
    *value = 0;
    all_counts(m, &stats);
    if (strcmp(name, "cycles") == 0) {
        if (!has_cycles(m))
            return host_refuse(m, "cycles: there is no timing model: set \"timing\" before the machine is used");
        *value = m->past_cycles + m->engine->ops->cycles(m->engine);
        return LANEWISE_OK;
    }
    for (size_t i = 0; i < emu_stat_row_count; i++) {
        const struct emu_stat_row *row = &emu_stat_rows[i];

        if (strcmp(row->name, name) == 0) {
            *value = lw_get64((const char *)&stats + row->offset);
            return LANEWISE_OK;
        }
        if (lw_edit_distance(row->name, name) < nearest) {
            nearest = lw_edit_distance(row->name, name);
            near = row->name;
        }
    }
    return host_refuse(m, "unknown counter \"%.60s\"; did you mean \"%s\"?", name, near);
}

static void put_statistics(struct lanewise_machine *m, struct lw_sink *out)
{
    struct emu_stats stats;

    all_counts(m, &stats);
    lw_put(out, "{");
    for (size_t i = 0; i < emu_stat_row_count; i++)
        lw_printf(out, "%s\n  \"%s\": %" PRIu64, i != 0 ? "," : "", emu_stat_rows[i].name,
                  lw_get64((const char *)&stats + emu_stat_rows[i].offset));
    if (m->native != NULL)
        lw_printf(out, ",\n  \"native_warp_instructions\": %" PRIu64, emu_machine_native_instructions(m->machine));
    if (has_cycles(m)) {
        lw_printf(out, ",\n  \"cycles\": %" PRIu64 ",\n  \"timing\": ",
                  m->past_cycles + m->engine->ops->cycles(m->engine));
        tim_report_json(m->engine, out);
    }
    lw_put(out, "\n}\n");
}

static void put_timing(struct lanewise_machine *m, struct lw_sink *out)
{
    tim_report_print(m->engine, out);
}

static void put_timing_json(struct lanewise_machine *m, struct lw_sink *out)
{
    tim_report_json(m->engine, out);
}

static void put_trace(struct lanewise_machine *m, struct lw_sink *out)
{
    tim_trace_print(m->engine, out);
}

static const struct {
    const char *kind;
    bool timed; /* the report needs a GPU model */
    void (*put)(struct lanewise_machine *m, struct lw_sink *out); /* writes the report; NULL: it is a report of findings */
    const char *suffix;                                           /* suffix of the file format of a report of findings */
} reports[] = {
    {"statistics", false, put_statistics, NULL},
    {"timing", true, put_timing, NULL},
    {"timing-json", true, put_timing_json, NULL},
    {"timing-trace", true, put_trace, NULL},
    {"findings", false, NULL, ".txt"},
    {"findings-json", false, NULL, ".json"},
    {"findings-sarif", false, NULL, ".sarif"},
    {"findings-junit", false, NULL, ".xml"},
    {"findings-suppressions", false, NULL, ".yaml"},
};

/** Gets the report "coverage" or "profile". If @kind is another report, sets *@is to false and returns LANEWISE_ERROR without
 *  a message. */
static int report_counts(struct lanewise_machine *m, const char *kind, char **out, bool *is)
{
    const bool profile = strcmp(kind, "profile") == 0;
    struct lw_buffer text;
    struct lw_error err;
    enum lw_status status;

    *is = profile || strcmp(kind, "coverage") == 0;
    if (!*is)
        return LANEWISE_ERROR;
    if ((profile ? m->settings.profile : m->settings.coverage) == 0)
        return host_refuse(m, "%s: there are no counts: set \"%s\" to \"yes\" before the machine is used", kind, kind);
    if (m->chk == NULL)
        return host_refuse(m, "%s: the machine was not used yet: load a program or allocate memory first", kind);
    lw_buffer_init(&text);
    status = profile ? chk_write_profile(m->chk, m->settings.run != NULL ? m->settings.run : "lanewise.h", &text.sink, &err)
                     : chk_write_coverage(m->chk, &text.sink, &err);
    *out = status == LW_OK ? strdup(text.text != NULL ? text.text : "") : NULL;
    lw_buffer_fini(&text);
    if (status != LW_OK)
        return host_fail(m, &err);
    return *out != NULL ? LANEWISE_OK : host_refuse(m, "the host has no memory for the report");
}

int lanewise_report(lanewise_machine *m, const char *kind, char **out)
{
    struct lw_buffer text;
    bool counts;
    int result;

    if (out != NULL)
        *out = NULL;
    if (m == NULL || kind == NULL || out == NULL)
        return host_missing(m, "lanewise_report", kind == NULL ? "the kind" : "the text");
    result = report_counts(m, kind, out, &counts);
    if (counts)
        return result;
    for (unsigned i = 0; i < LW_COUNT_OF(reports); i++) {
        if (strcmp(reports[i].kind, kind) != 0)
            continue;
        if (reports[i].timed && !has_cycles(m))
            return host_refuse(m, "%s: there is no timing model: set \"timing\" before the machine is used",
                               kind);
        if (reports[i].put == put_trace && m->settings.trace == 0)
            return host_refuse(m, "%s: there is no trace: set \"%s\" to \"yes\" before the machine is used", kind, kind);
        if (reports[i].suffix != NULL && (m->chk == NULL || !m->settings.check))
            return host_refuse(m, m->settings.check && m->machine == NULL
                                      ? "%s: the machine was not used yet: load a program or allocate memory first"
                                      : "%s: no checks are enabled: set \"check\" before the machine is used", kind);
        lw_buffer_init(&text);
        if (reports[i].put != NULL)
            reports[i].put(m, &text.sink);
        else
            chk_format_for(reports[i].suffix)->write(
                m->chk, m->settings.run != NULL ? m->settings.run : "lanewise.h", lanewise_version(), &text.sink);
        *out = strdup(text.text != NULL ? text.text : "");
        lw_buffer_fini(&text);
        return *out != NULL ? LANEWISE_OK : host_refuse(m, "the host has no memory for the report");
    }
    return host_refuse(m, "unknown report \"%.40s\"; the reports are statistics, timing, timing-json, timing-trace, findings, "
                       "findings-json, findings-sarif, findings-junit, findings-suppressions, coverage and profile",
                       kind);
}

void lanewise_report_free(char *text)
{
    free(text);
}

uint64_t lanewise_hash(const lanewise_machine *m)
{
    return m != NULL && m->machine != NULL ? emu_hash_mem(m->machine) : 0;
}
