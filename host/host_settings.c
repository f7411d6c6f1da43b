/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a machine: lanewise_set sets them by the names of options of the command line, and host_begin applies them. */
#include "host/host_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/** A key of lanewise_set(), and the function that sets its value. */
struct key {
    const char *name;
    enum lw_status (*set)(struct host_settings *s, const struct key *key, const char *value,
                          struct lw_error *err);
};

/** Finds @value in @names, which NULL terminates, and gets its index. The error message lists the names or proposes one. */
static enum lw_status choose(const char *value, const char *const *names, unsigned *out,
                             struct lw_error *err)
{
    struct lw_buffer list;
    const char *near;
    unsigned count = 0;
    enum lw_status status;

    for (; names[count] != NULL; count++)
        if (strcmp(names[count], value) == 0) {
            *out = count;
            return LW_OK;
        }
    near = lw_suggest(value, names, count, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, LW_EUSAGE, "unknown name \"%.40s\"; did you mean \"%s\"?", value, near);
    lw_buffer_init(&list);
    for (unsigned i = 0; i < count; i++)
        lw_printf(&list.sink, "%s%s", i != 0 ? ", " : "", names[i]);
    status = LW_FAIL(err, LW_EUSAGE, "unknown name \"%.40s\"; the names are %.300s", value,
                     list.text != NULL ? list.text : "");
    lw_buffer_fini(&list);
    return status;
}

static enum lw_status number(const char *value, uint64_t low, uint64_t high, unsigned *out,
                             struct lw_error *err)
{
    uint64_t n;

    if (!lw_parse_u64(value, &n) || n < low || n > high)
        return LW_FAIL(err, LW_EUSAGE, "expected an integer from %llu to %llu, found \"%.40s\"",
                       (unsigned long long)low, (unsigned long long)high, value);
    *out = (unsigned)n;
    return LW_OK;
}

static enum lw_status keep(char **out, const char *value, struct lw_error *err)
{
    char *copy = strdup(value);

    if (copy == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for \"%.40s\"", value);
    free(*out);
    *out = copy;
    return LW_OK;
}

static enum lw_status set_warp(struct host_settings *s, const struct key *key, const char *value,
                               struct lw_error *err)
{
    unsigned n = 0;

    (void)key;
    if (number(value, 4, EMU_MAX_LANES, &n, err) != LW_OK || lw_popcount(n) != 1)
        return LW_FAIL(err, LW_EUSAGE, "expected 4, 8, 16, 32 or 64, found \"%.40s\"", value);
    s->config.warp_width = n;
    s->warp = true;
    return LW_OK;
}

/** Sets an option whose value is one of a list of names. The configuration has a pointer to the name in the list. */
static enum lw_status set_name(struct host_settings *s, const struct key *key, const char *value,
                               struct lw_error *err)
{
    const struct {
        const char *key;
        const char *const *names;
        const char **to;
    } rows[] = {
        {"reconv", emu_reconv_names, &s->config.reconv},
        {"push-order", emu_push_order_names, &s->config.push_order},
        {"policy", emu_policy_names, &s->config.policy},
    };
    unsigned at = 0;

    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++)
        if (strcmp(rows[i].key, key->name) == 0) {
            enum lw_status status = choose(value, rows[i].names, &at, err);

            if (status != LW_OK)
                return status;
            *rows[i].to = rows[i].names[at];
            s->reconv |= i == 0;
            s->push_order |= i == 1;
        }
    return LW_OK;
}

static enum lw_status set_tags(struct host_settings *s, const struct key *key, const char *value,
                               struct lw_error *err)
{
    unsigned at = 0;
    enum lw_status status = choose(value, emu_tag_mode_names, &at, err);

    (void)key;
    if (status == LW_OK)
        s->config.tags = (enum emu_tag_mode)at;
    s->tags = true;
    return status;
}

/** Sets an option for the rules of tags. */
static enum lw_status set_tag_rule(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    const bool rules = strcmp(key->name, "tag-rules") == 0, plan = strcmp(key->name, "tag-plan") == 0;
    unsigned at = 0;
    enum lw_status status = choose(value, rules ? emu_tag_rules_names : plan ? emu_tag_plan_names : emu_tag_expansion_names, &at, err);

    if (status != LW_OK)
        return status;
    if (rules)
        s->config.tag_rules = (enum emu_tag_rules)at, s->tag_rules = true;
    else if (plan)
        s->config.tag_plan = (enum emu_tag_plan)at, s->tag_plan = true;
    else
        s->config.tag_expansion = (enum emu_tag_expansion)at, s->tag_expansion = true;
    return LW_OK;
}

/** Sets a number of the configuration. */
static enum lw_status set_number(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    if (strcmp(key->name, "level") == 0)
        return number(value, 0, 4, &s->config.level, err);
    return number(value, 0, 1u << 30, strcmp(key->name, "quantum") == 0 ? &s->config.split_quantum : &s->config.fairness_window, err);
}

/** Sets an option for the samples or the trace of the timing model. */
static enum lw_status set_sampling(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    static const char *const words[] = {"no", "yes", NULL};
    struct tim_options *o = &s->sampling;
    char first[32] = "";
    uint64_t n = 0, to = 0;

    if (strcmp(key->name, "timing-trace") == 0)
        return choose(value, words, &s->trace, err);
    if (strcmp(key->name, "timing-window") == 0) {
        const size_t size = strcspn(value, ":");

        if (value[size] == ':' && size < sizeof first)
            memcpy(first, value, size);
        if (!lw_parse_u64(first, &n) || !lw_parse_u64(value + size + 1, &to) || n >= to)
            return LW_FAIL(err, LW_EUSAGE, "expected FROM:TO in cycles, such as 0:5000, found \"%.60s\"", value);
        o->trace_from = n, o->trace_to = to, s->window = true;
        return LW_OK;
    }
    if (!lw_parse_u64(value, &n) || n == 0 || (strcmp(key->name, "timing-events") == 0 && n > TIM_TRACE_MOST_EVENTS))
        return LW_FAIL(err, LW_EUSAGE, "expected an integer of 1 or more%s, found \"%.40s\"",
                       strcmp(key->name, "timing-events") == 0 ? " and at most 100000000" : "", value);
    if (strcmp(key->name, "timing-events") == 0)
        o->trace_events = n, s->events = true;
    else
        o->sample_cycles = n;
    return LW_OK;
}

static enum lw_status set_gdb_arch(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    static const char *const words[] = {"x86-64", "aarch64", NULL};
    unsigned at = 0;
    enum lw_status status = choose(value, words, &at, err);

    (void)key;
    s->aarch64 = at == 1;
    return status;
}

static enum lw_status set_hang_limit(struct host_settings *s, const struct key *key,
                                      const char *value, struct lw_error *err)
{
    (void)key;
    return lw_parse_u64(value, &s->config.hang_window)
               ? LW_OK
               : LW_FAIL(err, LW_EUSAGE, "expected an integer of 0 or more, found \"%.40s\"", value);
}

static enum lw_status set_threads(struct host_settings *s, const struct key *key,
                                  const char *value, struct lw_error *err)
{
    (void)key;
    return number(value, 1, 1024, &s->threads, err);
}

static enum lw_status set_compiler(struct host_settings *s, const struct key *key,
                                   const char *value, struct lw_error *err)
{
    (void)key;
    return keep(&s->compiler, value, err);
}

static enum lw_status set_debuggable(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    (void)key;
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return LW_FAIL(err, LW_EUSAGE, "expected yes or no, found \"%.40s\"", value);
    s->debuggable = strcmp(value, "yes") == 0;
    return LW_OK;
}

static enum lw_status set_engine(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    unsigned at = 0;
    enum lw_status status = choose(value, nat_engine_names, &at, err);

    (void)key;
    s->engine = (enum nat_engine)at;
    return status;
}

static enum lw_status set_native_limit(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    (void)key;
    return lnc_limit_set(&s->native_limit, "timeout", value, err);
}

static enum lw_status set_record(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    (void)key;
    return keep(&s->record, value, err);
}

static enum lw_status set_replay(struct host_settings *s, const struct key *key, const char *value, struct lw_error *err)
{
    (void)key;
    return keep(&s->replay, value, err);
}

static enum lw_status set_timing(struct host_settings *s, const struct key *key, const char *value,
                                 struct lw_error *err)
{
    struct tim_config *config = NULL;
    enum lw_status status = tim_config_load(value, &config, err);

    (void)key;
    if (status != LW_OK)
        return status;
    tim_config_destroy(config);
    return keep(&s->timing, value, err);
}

static enum lw_status set_timing_key(struct host_settings *s, const struct key *key,
                                     const char *value, struct lw_error *err)
{
    enum lw_status status;

    (void)key;
    if (s->set_count == HOST_MAX_SETS)
        return LW_FAIL(err, LW_EUSAGE, "the key is set too often: at most %d times", HOST_MAX_SETS);
    status = keep(&s->sets[s->set_count], value, err);
    s->set_count += status == LW_OK;
    return status;
}

static enum lw_status set_mechanism(struct host_settings *s, const struct key *key, const char *value,
                                    struct lw_error *err)
{
    (void)key;
    return keep(&s->mechanisms, value, err);
}

static enum lw_status set_timing_profile(struct host_settings *s, const struct key *key, const char *value,
                                         struct lw_error *err)
{
    (void)key;
    return keep(&s->timing_profile, value, err);
}

static enum lw_status set_reference(struct host_settings *s, const struct key *key,
                                    const char *value, struct lw_error *err)
{
    static const char *const words[] = {"no", "yes", NULL};
    unsigned at = 0;
    enum lw_status status = choose(value, words, &at, err);

    (void)key;
    if (status == LW_OK)
        s->reference = at == 1;
    return status;
}

static enum lw_status set_check(struct host_settings *s, const struct key *key, const char *value,
                                struct lw_error *err)
{
    enum lw_status status = chk_select(value, &s->kinds, err);

    (void)key;
    s->check = s->check || status == LW_OK;
    return status;
}

static enum lw_status set_suppress(struct host_settings *s, const struct key *key,
                                   const char *value, struct lw_error *err)
{
    (void)key;
    return chk_suppressions_load(value, &s->suppressions, err);
}

static enum lw_status set_base(struct host_settings *s, const struct key *key, const char *value,
                               struct lw_error *err)
{
    struct stat at;

    (void)key;
    if (value[0] != '\0' && (stat(value, &at) != 0 || !S_ISDIR(at.st_mode)))
        return LW_FAIL(err, LW_EUSAGE, "%.200s: the folder does not exist", value);
    return keep(&s->base, value, err);
}

static enum lw_status set_run(struct host_settings *s, const struct key *key, const char *value,
                              struct lw_error *err)
{
    (void)key;
    if (value[0] == '\0')
        return LW_FAIL(err, LW_EUSAGE, "expected the name that reports give to this run, found an empty text");
    return keep(&s->run, value, err);
}

static enum lw_status set_most(struct host_settings *s, const struct key *key, const char *value,
                               struct lw_error *err)
{
    (void)key;
    return number(value, 1, 1000000, &s->max_findings, err);
}

static enum lw_status set_count(struct host_settings *s, const struct key *key, const char *value,
                                struct lw_error *err)
{
    static const char *const words[] = {"no", "yes", NULL}, *const by[] = {"kernel", "launch", NULL};
    const bool is_by = strcmp(key->name, "profile-by") == 0;

    return choose(value, is_by ? by : words,
                  is_by                                 ? &s->by_launch
                  : strcmp(key->name, "profile") == 0 ? &s->profile
                  : strcmp(key->name, "log") == 0     ? &s->log
                                                        : &s->coverage, err);
}

static enum lw_status set_poison(struct host_settings *s, const struct key *key, const char *value,
                                 struct lw_error *err)
{
    (void)key;
    return number(value, 0, UINT32_MAX, &s->read_poison, err);
}

static enum lw_status set_limit(struct host_settings *s, const struct key *key, const char *value,
                                struct lw_error *err)
{
    return lnc_limit_set(&s->limits, key->name, value, err);
}

static const struct key keys[] = {
    {"warp", set_warp},         {"reconv", set_name},         {"push-order", set_name},
    {"policy", set_name},       {"tags", set_tags},           {"threads", set_threads},
    {"compiler", set_compiler}, {"record", set_record}, {"log", set_count}, {"replay", set_replay}, {"debuggable", set_debuggable},       {"timing", set_timing},       {"timing-set", set_timing_key},
    {"mechanism", set_mechanism}, {"timing-profile", set_timing_profile},
    {"timing-reference", set_reference}, {"check", set_check}, {"check-suppress", set_suppress},
    {"check-base", set_base},   {"check-run", set_run},
    {"max-findings", set_most}, {"hang-limit", set_hang_limit},     {"hang-window", set_hang_limit},
    {"read-poison", set_poison}, {"coverage", set_count},     {"profile", set_count},
    {"quantum", set_number},    {"fairness-limit", set_number}, {"level", set_number},
    {"tag-rules", set_tag_rule}, {"tag-expansion", set_tag_rule}, {"tag-plan", set_tag_rule},
    {"timing-sample", set_sampling}, {"timing-trace", set_sampling}, {"timing-window", set_sampling}, {"timing-events", set_sampling},
    {"gdb-arch", set_gdb_arch},
    {"engine", set_engine},     {"native-timeout", set_native_limit}, {"profile-by", set_count},  {"max-instructions", set_limit}, {"timeout", set_limit},
};

const char *lanewise_key(unsigned index)
{
    return index < LW_COUNT_OF(keys) ? keys[index].name : NULL;
}

int lanewise_set(lanewise_machine *m, const char *name, const char *value)
{
    struct lw_error err;

    if (m == NULL || name == NULL || value == NULL)
        return host_missing(m, "lanewise_set", name == NULL ? "the key" : "the value");
    if (m->machine != NULL)
        return host_refuse(m, "%.40s: the machine is already in use: set this key before you load a program or "
                              "allocate memory", name);
    for (unsigned i = 0; i < LW_COUNT_OF(keys); i++)
        if (strcmp(keys[i].name, name) == 0) {
            if (keys[i].set(&m->settings, &keys[i], value, &err) == LW_OK)
                return LANEWISE_OK;
            lw_error_prefix(&err, "%s", name);
            return host_fail(m, &err);
        }
    const char *near = lw_suggest(name, &keys[0].name, LW_COUNT_OF(keys), sizeof keys[0]);
    if (near != NULL)
        return host_refuse(m, "unknown key \"%.40s\"; did you mean \"%s\"?", name, near);
    return host_refuse(m, "unknown key \"%.40s\"; lanewise_key() lists the keys", name);
}

void host_settings_fini(struct host_settings *s)
{
    free(s->timing);
    free(s->mechanisms);
    free(s->timing_profile);
    free(s->compiler);
    free(s->record);
    free(s->replay);
    free(s->base);
    free(s->run);
    chk_suppressions_destroy(s->suppressions);
    for (unsigned i = 0; i < s->set_count; i++)
        free(s->sets[i]);
}

/** Checks options that need other options. */
static enum lw_status check_needs(const struct host_settings *s, struct lw_error *err)
{
    if (s->timing == NULL && (s->set_count != 0 || s->reference || s->mechanisms != NULL || s->timing_profile != NULL ||
                              s->sampling.sample_cycles != 0 || s->trace != 0 || s->window || s->events))
        return LW_FAIL(err, LW_EUSAGE, "%s has no effect without the timing model: also set \"timing\"",
                       s->reference                        ? "timing-reference"
                       : s->set_count != 0                 ? "timing-set"
                       : s->mechanisms != NULL             ? "mechanism"
                       : s->timing_profile != NULL         ? "timing-profile"
                       : s->sampling.sample_cycles != 0    ? "timing-sample"
                       : s->trace != 0                     ? "timing-trace"
                       : s->window                         ? "timing-window"
                                                           : "timing-events");
    if (s->replay != NULL && (s->log != 0 || s->timing != NULL))
        return LW_FAIL(err, LW_EUSAGE, "replay cannot be combined with %s: give one of them", s->log != 0 ? "log" : "timing");
    if (s->trace == 0 && (s->window || s->events))
        return LW_FAIL(err, LW_EUSAGE, "%s has no effect without a trace: also give timing-trace",
                       s->window ? "timing-window" : "timing-events");
    if (s->push_order && !emu_reconv_has_push_order(s->config.reconv) && s->timing == NULL)
        return LW_FAIL(err, LW_EUSAGE, "push-order: the reconvergence engine %s of this machine has no push order; stack, "
                                       "likely, dualpath, multipath and early have one", s->config.reconv);
    if ((s->tag_rules || s->tag_expansion) && s->config.tags == EMU_TAGS_OFF && s->timing == NULL)
        return LW_FAIL(err, LW_EUSAGE, "%s has no effect without tags: set tags to shadow or compact",
                       s->tag_rules ? "tag-rules" : "tag-expansion");
    if (s->tag_plan && s->config.tags != EMU_TAGS_COMPACT)
        return LW_FAIL(err, LW_EUSAGE, "tag-plan has an effect only on compact tags: set tags to compact");
    return LW_OK;
}

/** Loads the GPU model, applies its options, and copies its functional properties to @config. Options of the user that
 *  contradict the model are errors. */
static enum lw_status begin_timing(struct lanewise_machine *m, struct emu_config *config,
                                   struct lw_error *err)
{
    struct host_settings *s = &m->settings;
    enum lw_status status = tim_config_load(s->timing, &m->timing, err);

    if (status != LW_OK)
        lw_error_prefix(err, "timing");
    if (status == LW_OK && s->mechanisms != NULL) {
        status = tim_config_add_mechanisms(m->timing, s->mechanisms, err);
        if (status != LW_OK)
            lw_error_prefix(err, "mechanism");
    }
    if (status == LW_OK && s->timing_profile != NULL) {
        status = tim_config_set_profile(m->timing, s->timing_profile, err);
        if (status != LW_OK)
            lw_error_prefix(err, "timing-profile");
    }
    for (unsigned i = 0; i < s->set_count && status == LW_OK; i++) {
        status = tim_config_set(m->timing, s->sets[i], err);
        if (status != LW_OK)
            lw_error_prefix(err, "timing-set");
    }
    if (status == LW_OK && (s->set_count != 0 || s->mechanisms != NULL || s->timing_profile != NULL))
        status = tim_config_check(m->timing, err);
    if (status == LW_OK && (s->warp || s->reconv))
        status = LW_FAIL(err, LW_EUSAGE, "%s: the GPU model %s determines this value: set its key %s by \"timing-set\"",
                         s->warp ? "warp" : "reconv", tim_config_name(m->timing),
                         s->warp ? "core.warp_width" : "core.reconvergence");
    if (status == LW_OK && s->tags && s->config.tags == EMU_TAGS_OFF && tim_config_detects(m->timing))
        status = LW_FAIL(err, LW_EUSAGE, "tags: the GPU model %s needs tags: set tags.detect=off by \"timing-set\"",
                         tim_config_name(m->timing));
    if (status == LW_OK && s->threads > 1)
        status = LW_FAIL(err, LW_EUSAGE, "threads: the timing model runs on one host thread, so the number must be 1");
    if (status == LW_OK)
        tim_config_machine(m->timing, config);
    if (status == LW_OK && s->push_order && !emu_reconv_has_push_order(config->reconv))
        status = LW_FAIL(err, LW_EUSAGE, "push-order: the reconvergence engine %s of GPU model %s has no push order", config->reconv,
                         tim_config_name(m->timing));
    if (status == LW_OK && ((s->tag_rules && config->tag_rules != s->config.tag_rules) ||
                            (s->tag_expansion && config->tag_expansion != s->config.tag_expansion)))
        status = LW_FAIL(err, LW_EUSAGE, "%s: the GPU model %s determines this value: set its key %s by \"timing-set\"",
                         s->tag_rules && config->tag_rules != s->config.tag_rules ? "tag-rules" : "tag-expansion", tim_config_name(m->timing),
                         s->tag_rules && config->tag_rules != s->config.tag_rules ? "tags.detect" : "tags.expansion");
    if (status == LW_OK && s->tags) /* the user's choice of tags is valid with any GPU model */
        config->tags = s->config.tags;
    return status;
}

enum lw_status host_engine_begin(struct lanewise_machine *m, struct lw_error *err)
{
    struct tim_options timing = m->settings.sampling;
    enum lw_status status;

    timing.reference = m->settings.reference;
    if (m->settings.trace != 0 && timing.trace_to == 0)
        timing.trace_to = 10000;
    status = m->timing != NULL
                     ? tim_engine_create(m->machine, m->timing, &timing, &m->engine, err)
                 : m->settings.replay != NULL
                     ? emu_engine_replay_create(m->machine, &m->engine, err)
                     : emu_engine_functional_create(m->machine, &m->engine, err);

    if (status == LW_OK)
        m->engine->threads = m->settings.threads;
    return status;
}

enum lw_status host_begin(struct lanewise_machine *m, struct lw_error *err)
{
    struct host_settings *s = &m->settings;
    struct emu_config config = s->config;
    enum lw_status status;

    if (m->machine != NULL)
        return LW_OK;
    status = check_needs(s, err);
    if (status == LW_OK && s->timing != NULL)
        status = begin_timing(m, &config, err);
    if (status == LW_OK && s->engine != NAT_INTERPRETER) { /* the translator is created before the machine that will use it */
        status = nat_create(s->engine, &m->native, err);
        if (status != LW_OK)
            lw_error_prefix(err, "engine");
        else
            nat_set_cached(m->native, true);
        if (status == LW_OK) /* reports are the same in each run */
            nat_set_steady(m->native);
        if (status == LW_OK && s->native_limit.seconds > 0)
            nat_set_limit(m->native, s->native_limit.seconds);
    }
    if (status == LW_OK)
        status = emu_machine_create(&config, &m->machine, err);
    if (status == LW_OK)
        emu_machine_set_native(m->machine, m->native);
    if (status == LW_OK)
        emu_stack_advise(m->machine, "cudaDeviceSetLimit(cudaLimitStackSize, N) or lanewise_stack_limit()");
    if (status == LW_OK)
        status = host_log_begin(m, err);
    if (status == LW_OK)
        status = host_engine_begin(m, err);
    if (status == LW_OK)
        status = host_check_begin(m, err);
    if (status == LW_OK && s->record != NULL)
        status = host_record_begin(m, s->record, err);
    if (status != LW_OK) { /* destroys everything, because the user may change options and try again */
        host_check_end(m);
        emu_engine_destroy(m->engine);
        m->engine = NULL;
        emu_machine_destroy(m->machine);
        host_log_end(m);
        nat_destroy(m->native);
        tim_config_destroy(m->timing);
        m->machine = NULL;
        m->native = NULL;
        m->timing = NULL;
        return status;
    }
    emu_machine_set_print(m->machine, &m->print.sink);
    return LW_OK;
}

int lanewise_begin(lanewise_machine *m)
{
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    return host_begin(m, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}

int lanewise_timing_value(lanewise_machine *m, const char *key, char *out, size_t room)
{
    struct lw_error err;

    if (m == NULL || key == NULL || out == NULL)
        return host_missing(m, "lanewise_timing_value", key == NULL ? "the key" : "the text");
    if (host_begin(m, &err) != LW_OK)
        return host_fail(m, &err);
    if (m->timing == NULL)
        return host_refuse(m, "%.40s: there is no timing model: set \"timing\" before the machine is used", key);
    if (strcmp(key, "name") == 0)
        snprintf(out, room, "%s", tim_config_name(m->timing));
    else if (!tim_config_value(m->timing, key, out, room))
        return host_refuse(m, "unknown key \"%.60s\"; `lanewise timing MACHINE` lists the keys", key);
    return LANEWISE_OK;
}
