/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a launch file, and creates the machine, session and engine that run it, by the options of the command line. */
#include "cmd/cmd_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum lw_status cmd_number(const char *option, const char *text, uint64_t low, uint64_t high,
                          unsigned *out, struct lw_error *err)
{
    uint64_t value;

    if (text == NULL)
        return LW_OK;
    if (!lw_parse_u64(text, &value) || value < low || value > high)
        return LW_FAIL(err, LW_EUSAGE,
                       "--%s: expected an integer from %" PRIu64 " to %" PRIu64
                       ", found \"%.40s\"",
                       option, low, high, text);
    *out = (unsigned)value;
    return LW_OK;
}

static enum lw_status name(const char *option, const char *text, const char *const *names,
                           const char **out, struct lw_error *err)
{
    char list[240] = "";
    size_t count = 0, used = 0;
    const char *near;

    if (text == NULL)
        return LW_OK;
    for (; names[count] != NULL; count++) {
        size_t size = strlen(names[count]);

        if (strcmp(names[count], text) == 0) {
            *out = names[count];
            return LW_OK;
        }
        if (used + size + 3 < sizeof list) {
            memcpy(list + used, count != 0 ? ", " : "", count != 0 ? 2 : 0);
            used += count != 0 ? 2 : 0;
            memcpy(list + used, names[count], size + 1);
            used += size;
        }
    }
    /* With --timing, users may mistake --policy for the warp scheduler, which is another key. */
    if (strcmp(option, "policy") == 0 && tim_is_scheduler(text))
        return LW_FAIL(err, LW_EUSAGE, "--policy selects a split of a warp, but %s is a warp scheduler: use --timing "
                                       "with --timing-set issue.policy=%s", text, text);
    near = lw_suggest(text, names, count, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--%s: unknown name \"%.40s\"; did you mean \"%s\"?",
                       option, text, near);
    return LW_FAIL(err, LW_EUSAGE, "--%s: unknown name \"%.40s\"; the names are %s", option, text,
                   list);
}

/** Sets *@out to the index of the name @text in a NULL-terminated list. If @text is NULL, *@out does not change. */
static enum lw_status choice(const char *option, const char *text, const char *const *names,
                             unsigned *out, struct lw_error *err)
{
    const char *found = NULL;
    enum lw_status status = name(option, text, names, &found, err);

    for (unsigned i = 0; status == LW_OK && found != NULL && names[i] != NULL; i++)
        if (names[i] == found)
            *out = i;
    return status;
}

static enum lw_status apply(const struct cmd_machine_options *o, struct emu_config *config,
                            struct lw_error *err)
{
    unsigned tags = config->tags, rules = config->tag_rules, expansion = config->tag_expansion;
    unsigned plan = config->tag_plan;
    enum lw_status status = cmd_number("warp", o->warp, 4, EMU_MAX_LANES, &config->warp_width, err);

    if (status == LW_OK && o->warp != NULL && lw_popcount(config->warp_width) != 1)
        status = LW_FAIL(err, LW_EUSAGE, "--warp: expected 4, 8, 16, 32 or 64, found \"%s\"",
                         o->warp);
    if (status == LW_OK)
        status = cmd_number("quantum", o->quantum, 0, 1u << 30, &config->split_quantum, err);
    if (status == LW_OK)
        status = cmd_number("fairness-limit", o->fairness_limit, 0, 1u << 30, &config->fairness_window, err);
    if (status == LW_OK && o->hang_limit != NULL && !lw_parse_u64(o->hang_limit, &config->hang_window))
        status = LW_FAIL(err, LW_EUSAGE, "--hang-limit: expected an integer of 0 or more, found "
                         "\"%.40s\"", o->hang_limit);
    if (status == LW_OK)
        status = cmd_number("level", o->level, 0, 4, &config->level, err);
    if (status == LW_OK)
        status = name("reconv", o->reconv, emu_reconv_names, &config->reconv, err);
    if (status == LW_OK)
        status = name("push-order", o->push_order, emu_push_order_names, &config->push_order, err);
    if (status == LW_OK)
        status = name("policy", o->policy, emu_policy_names, &config->policy, err);
    if (status == LW_OK)
        status = choice("tags", o->tags, emu_tag_mode_names, &tags, err);
    if (status == LW_OK)
        status = choice("tag-rules", o->tag_rules, emu_tag_rules_names, &rules, err);
    if (status == LW_OK)
        status = choice("tag-expansion", o->tag_expansion, emu_tag_expansion_names, &expansion,
                        err);
    if (status == LW_OK)
        status = choice("tag-plan", o->tag_plan, emu_tag_plan_names, &plan, err);
    config->tags = (enum emu_tag_mode)tags;
    config->tag_rules = (enum emu_tag_rules)rules;
    config->tag_expansion = (enum emu_tag_expansion)expansion;
    config->tag_plan = (enum emu_tag_plan)plan;
    if (status == LW_OK && o->push_order != NULL && !emu_reconv_has_push_order(config->reconv))
        status = LW_FAIL(err, LW_EUSAGE, "--push-order: the reconvergence engine %s of this run has no push order: add "
                                         "--reconv stack, likely, dualpath, multipath or early", config->reconv);
    if (status == LW_OK && o->tag_rules != NULL && config->tags == EMU_TAGS_OFF)
        status = LW_FAIL(err, LW_EUSAGE, "--tag-rules has no effect without tags: add --tags shadow or compact");
    if (status == LW_OK && o->tag_expansion != NULL && config->tags == EMU_TAGS_OFF)
        status = LW_FAIL(err, LW_EUSAGE, "--tag-expansion has no effect without tags: add --tags shadow or compact");
    if (status == LW_OK && o->tag_plan != NULL && config->tags != EMU_TAGS_COMPACT)
        status = LW_FAIL(err, LW_EUSAGE, "--tag-plan has an effect only on compact tags: add --tags compact");
    return status;
}

/* Checks that the options for tags agree with the GPU model; fit_timing() checks other options. A model that detects tags
 * requires tags with the rules and the kind of expansion that it simulates, which @timed contains. With any other model, tags
 * are only counted and do not affect cycles, so every option is valid. */
static enum lw_status fit_tags(const char *path, const struct cmd_machine_options *o, const struct tim_config *timing,
                               const struct emu_config *timed, const struct emu_config *config, struct lw_error *err)
{
    const char *name = tim_config_name(timing);
    const struct {
        const char *option, *value, *file, *has, *key, *line;
    } rows[] = {
        {"tag-rules", o->tag_rules, emu_tag_rules_names[config->tag_rules], emu_tag_rules_names[timed->tag_rules],
         "tags.detect", "tag_rules"},
        {"tag-expansion", o->tag_expansion, emu_tag_expansion_names[config->tag_expansion],
         emu_tag_expansion_names[timed->tag_expansion], "tags.expansion", "tag_expansion"},
    };

    if (!tim_config_detects(timing))
        return LW_OK;
    if (o->tags != NULL && strcmp(o->tags, emu_tag_mode_names[EMU_TAGS_OFF]) == 0)
        return LW_FAIL(err, LW_EUSAGE, "--tags off: the GPU model %s needs tags: also use --timing-set tags.detect=off",
                       name);
    if (o->tags == NULL && config->tags == EMU_TAGS_OFF)
        return LW_FAIL(err, LW_EINPUT, "%s: the launch file has tags: off, but the GPU model %s needs tags: use "
                                       "--timing-set tags.detect=off", path, name);
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        if (rows[i].value != NULL && strcmp(rows[i].value, rows[i].has) != 0)
            return LW_FAIL(err, LW_EUSAGE, "--%s: the GPU model %s sets this option to %s: use --timing-set %s=%.20s",
                                           rows[i].option,
                           name, rows[i].has, rows[i].key, rows[i].value);
        if (rows[i].value == NULL && strcmp(rows[i].file, rows[i].has) != 0)
            return LW_FAIL(err, LW_EINPUT, "%s: the launch file has %s: %s, but the GPU model %s has %s: use "
                                           "--timing-set %s=%s",
                           path, rows[i].line, rows[i].file, name, rows[i].has, rows[i].key, rows[i].file);
    }
    return LW_OK;
}

/* Checks that the launch file and the options agree with the GPU model of --timing. */
static enum lw_status fit_timing(const char *path, const struct cmd_machine_options *o,
                                 const struct tim_config *timing, struct emu_config *config,
                                 struct lw_error *err)
{
    const char *name = tim_config_name(timing);
    struct emu_config timed = *config;
    enum lw_status status;
    unsigned width;

    tim_config_machine(timing, &timed);
    width = timed.warp_width;
    status = cmd_number("warp", o->warp, 4, EMU_MAX_LANES, &width, err);
    if (status != LW_OK)
        return status;
    if (width != timed.warp_width)
        return LW_FAIL(err, LW_EUSAGE, "--warp: the GPU model %s has warps of %u lanes: use "
                       "--timing-set core.warp_width=%.20s", name, timed.warp_width, o->warp);
    if (o->reconv != NULL && strcmp(o->reconv, timed.reconv) != 0)
        return LW_FAIL(err, LW_EUSAGE, "--reconv: the GPU model %s has %s: use --timing-set "
                       "core.reconvergence=%.20s", name, timed.reconv, o->reconv);
    if (o->replay != NULL || o->resume != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--%s and --timing cannot be combined, as %s: give one of them",
                       o->replay != NULL ? "replay" : "resume",
                       o->replay != NULL ? "both the timing model and the log determine which warp runs"
                                         : "a checkpoint does not contain the state of the timing model");
    if (o->history != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--history: a run on the timing model cannot go back in time: instead, write "
                                       "its schedule with --log FILE, and then debug with --replay FILE and without "
                                       "--timing");
    status = fit_tags(path, o, timing, &timed, config, err);
    if (status != LW_OK)
        return status;
    if (o->warp == NULL && config->warp_width != timed.warp_width) /* with --warp, the width in the launch file does not matter */
        return LW_FAIL(err, LW_EINPUT, "%s: the launch file has warps of %u lanes, but the GPU model %s has warps of "
                                       "%u: use --warp %u, or --timing-set core.warp_width=%u",
                                       path, config->warp_width, name,
                       timed.warp_width, timed.warp_width, config->warp_width);
    if (o->reconv == NULL && strcmp(config->reconv, timed.reconv) != 0)
        return LW_FAIL(err, LW_EINPUT, "%s: the launch file has the reconvergence engine %s, but the GPU model %s has "
                                       "%s: use --timing-set core.reconvergence=%s", path, config->reconv, name,
                       timed.reconv, config->reconv);
    return LW_OK;
}

/** The file of --replay or --resume. Without these options, `data` is NULL. */
struct recording {
    char *data;
    size_t size;
};

/** Reads the file of --replay or --resume, and takes the options from it on which results depend. Options of the command line
 *  are applied later; if one differs from the file, the caller refuses the file. */
static enum lw_status read_recording(const struct cmd_machine_options *o, struct recording *r, struct emu_config *config,
                                     struct lw_error *err)
{
    const char *path = o->replay != NULL ? o->replay : o->resume;
    enum lw_status status;

    if (path == NULL)
        return LW_OK;
    status = lw_file_read(path, &r->data, &r->size, err);
    if (status != LW_OK)
        return status;
    return o->replay != NULL ? emu_log_config(path, r->data, r->size, config, err)
                             : emu_checkpoint_config(path, r->data, r->size, config, err);
}

static enum lw_status open_log(struct cmd_machine *m, const struct cmd_machine_options *o, const struct recording *r,
                               struct lw_error *err)
{
    enum lw_status status;

    if (o->log != NULL && o->replay != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--log and --replay cannot be combined: give one of them");
    if (o->resume != NULL && (o->log != NULL || o->replay != NULL))
        return LW_FAIL(err, LW_EUSAGE, "--resume and --%s cannot be combined, as a schedule log starts at the start of "
                                       "the run: give one of them", o->log != NULL ? "log" : "replay");
    m->log_path = o->log;
    if (o->log != NULL) {
        status = lw_file_try_write(o->log, err);
        if (status != LW_OK)
            return lw_error_prefix(err, "--log");
        return emu_log_create(m->machine, &m->log, err);
    }
    return o->replay != NULL ? emu_log_open(m->machine, o->replay, r->data, r->size, &m->log, err) : LW_OK;
}

static enum lw_status resume(struct cmd_machine *m, const char *path, const struct recording *r, struct lw_error *err)
{
    size_t large_page_bytes;
    const void *location;
    enum lw_status status = emu_checkpoint_load(m->engine, path, r->data, r->size, &location, &large_page_bytes, err);

    if (status == LW_OK) {
        status = lnc_session_load(m->session, location, large_page_bytes, err);
        if (status != LW_OK)
            lw_error_prefix(err, "%s", path);
    }
    return status;
}

enum lw_status cmd_machine_save(struct cmd_machine *m, const char *path, struct lw_error *err)
{
    size_t large_page_bytes;
    void *location;
    enum lw_status status = lnc_session_save(m->session, &location, &large_page_bytes, err);

    if (status != LW_OK)
        return status;
    status = emu_checkpoint_save(m->engine, location, large_page_bytes, path, err);
    free(location);
    return status;
}

bool cmd_direct_take(struct cmd_machine_options *o, const char *name, const char *value, enum lw_status *status,
                     struct lw_error *err)
{
    const struct {
        const char *name;
        const char **to;
    } texts[] = {{"grid", &o->direct.grid},     {"global", &o->direct.global}, {"block", &o->direct.block},
                 {"offset", &o->direct.offset}, {"shared", &o->direct.shared}, {"entry", &o->direct.entry},
                 {"tolerance", &o->direct.tolerance}, {"save-launch", &o->save_launch}};
    const struct {
        const char *name, **values;
        size_t *count;
    } lists[] = {{"arg", o->args, &o->direct.arg_count}, {"expect", o->expects, &o->direct.expect_count}};
    const char *first = o->direct_option;

    *status = LW_OK;
    for (unsigned i = 0; i < LW_COUNT_OF(lists); i++) {
        if (strcmp(name, lists[i].name) != 0)
            continue;
        if (*lists[i].count == CMD_MAX_ARGS)
            *status = LW_FAIL(err, LW_EUSAGE, "too many options: at most %d %s are allowed", CMD_MAX_ARGS, i == 0 ? "arguments" : "expected contents");
        else
            lists[i].values[(*lists[i].count)++] = value;
        o->direct_option = first != NULL ? first : lists[i].name;
        return true;
    }
    for (unsigned i = 0; i < LW_COUNT_OF(texts); i++) {
        if (strcmp(name, texts[i].name) != 0)
            continue;
        *texts[i].to = value;
        o->direct_option = first != NULL ? first : texts[i].name;
        return true;
    }
    return false;
}

void cmd_debuggable_resolve(struct cmd_machine_options *options)
{
    bool optimised = false;

    for (unsigned i = 0; i < options->flags.count; i++)
        if (strncmp(options->flags.flag[i], "-O", 2) == 0)
            optimised = strcmp(options->flags.flag[i], "-O0") != 0;
    if (options->debuggable && optimised) {
        options->debuggable = false;
        options->keep_values = true;
    }
}

/** Builds a launch file in memory for a kernel file, from the options that describe the launch. */
static enum lw_status load_direct(const char *path, const struct cmd_machine_options *options, struct lw_sink *words,
                                  struct cmd_machine *m, struct lw_error *err)
{
    struct lnc_direct direct = options->direct;
    const char **flags = NULL;
    enum lw_status status = LW_OK;

    direct.source = path;
    direct.compiler = options->clang;
    direct.flags = options->flags.flag;
    direct.flag_count = options->flags.count;
    direct.args = options->args;
    direct.expects = options->expects;
    direct.save = options->save_launch;
    direct.keep_values = options->keep_values;
    direct.no_values = options->no_values;
    direct.lat_barriers = options->lat_barriers;
    if (direct.grid != NULL && direct.global != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--grid (in blocks) and --global (in threads) cannot be combined: give one of "
                                       "them");
    if (options->debuggable) {
        status = lnc_options_debug(path, options->clang, direct.flags, direct.flag_count, &flags, &direct.flag_count, err);
        direct.flags = flags;
    }
    if (status == LW_OK)
        status = lnc_direct_load(&direct, &m->config, words, &m->file, err);
    free(flags);
    return status;
}

enum lw_status cmd_machine_open(const char *path, const struct cmd_machine_options *options,
                                struct lw_sink *print, struct lw_sink *messages,
                                struct cmd_machine *out, struct lw_error *err)
{
    struct lw_buffer words; /* all messages of the compiler, printed before the error, because the error has space for
                             * only three of them */
    struct lnc_options session_options = {.clang = options->clang, .print = messages,
                                          .words = &words.sink,
                                          .flags = options->flags.flag,
                                          .flag_count = options->flags.count,
                                          .debuggable = options->debuggable,
                                          .keep_values = options->keep_values,
                                          .no_values = options->no_values,
                                          .lat_barriers = options->lat_barriers};
    struct recording recording = {0};
    struct cmd_machine m = {0};
    enum lw_status status;

    status = lnc_kind_refuse(path, err);
    if (status != LW_OK)
        return status;
    m.direct = lnc_is_source(path);
    if (!m.direct && options->direct_option != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--%s can be used only with a kernel file (.cl, .cu, .spv, .ptx, .s, .lwo), but %s is "
                                       "a launch file: remove the option, or change the launch file",
                                       options->direct_option, path);
    if (options->seed != NULL && !lw_parse_u64(options->seed, &session_options.seed))
        return LW_FAIL(err, LW_EUSAGE, "--seed: expected an integer of 0 or more, found \"%.40s\"",
                       options->seed);
    struct tim_options timing_options;

    lw_buffer_init(&words);
    emu_config_default(&m.config);
    status = cmd_timing_config(&options->timing, &m.timing, err);
    if (status == LW_OK)
        status = cmd_timing_options(&options->timing, &timing_options, err);
    if (status == LW_OK && m.timing != NULL) /* sets defaults, which the launch file may override */
        tim_config_machine(m.timing, &m.config);
    if (status == LW_OK)
        status = m.direct ? load_direct(path, options, &words.sink, &m, err)
                          : lnc_file_load(path, &m.config, &m.file, err);
    if (status == LW_OK && m.timing != NULL)
        status = fit_timing(path, options, m.timing, &m.config, err);
    if (status == LW_OK)
        status = read_recording(options, &recording, &m.config, err);
    if (status == LW_OK)
        status = apply(options, &m.config, err);
    if (status == LW_OK)
        status = emu_machine_create(&m.config, &m.machine, err);
    if (status == LW_OK)
        status = open_log(&m, options, &recording, err);
    if (status == LW_OK) {
        emu_machine_set_print(m.machine, print);
        status = lnc_session_create(m.file, m.machine, &session_options, &m.session, err);
    }
    if (words.size != 0 && (status != LW_OK || !options->silent))
        fwrite(words.text, 1, words.size, stderr);
    lw_buffer_fini(&words);
    if (status == LW_OK && m.timing != NULL)
        cmd_timing_heap();
    if (status == LW_OK)
        status = m.timing != NULL
                     ? tim_engine_create(m.machine, m.timing, &timing_options, &m.engine, err)
                 : options->replay != NULL
                     ? emu_engine_replay_create(m.machine, &m.engine, err)
                     : emu_engine_functional_create(m.machine, &m.engine, err);
    if (status == LW_OK && m.timing != NULL && !options->silent)
        cmd_timing_note(&options->timing, m.timing, lnc_session_object(m.session));
    if (status == LW_OK && options->resume != NULL)
        status = resume(&m, options->resume, &recording, err);
    free(recording.data);
    if (status != LW_OK) {
        cmd_machine_close(&m);
        return status;
    }
    *out = m;
    return LW_OK;
}

void cmd_machine_close(struct cmd_machine *m)
{
    emu_engine_destroy(m->engine);
    emu_machine_destroy(m->machine);
    emu_log_destroy(m->log);
    lnc_session_destroy(m->session); /* after the machine, whose program borrows the object that the session owns */
    lnc_file_destroy(m->file);
    tim_config_destroy(m->timing);
    *m = (struct cmd_machine){0};
}

enum lw_status cmd_machine_finish(struct cmd_machine *m, bool whole, struct lw_error *err)
{
    if (m->log == NULL)
        return LW_OK;
    if (m->log_path != NULL)
        return emu_log_save(m->log, m->log_path, err);
    return whole ? emu_log_finish(m->log, err) : LW_OK;
}

enum lw_status cmd_machine_next(void *context, bool *more, struct lw_error *err)
{
    struct cmd_machine *m = context;
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(m->session, &state, err);

    *more = status == LW_OK && state == LNC_LAUNCHED;
    return status == LW_OK && *more && m->timing != NULL ? tim_engine_run_to_warp(m->engine, err) : status;
}
