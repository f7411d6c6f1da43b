/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of keys, and conversion of GPU models from and to text. Files and command lines use the same function,
 * assign(), to convert text to a value, so their error messages are the same.
 */
#include "timing/tim_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the table --------------------------------------------------------------------- */

/* clang-format off */
#define NUMBER(s, k, v, l, h, u, t) \
    {#s, #k, TIM_KEY_NUMBER, offsetof(struct tim_config, s##_##k), v, l, h, u, NULL, t},
#define SWITCH(s, k, v, t) \
    {#s, #k, TIM_KEY_SWITCH, offsetof(struct tim_config, s##_##k), v, 0, 1, NULL, NULL, t},
#define CHOICE(s, k, v, n, t) \
    {#s, #k, TIM_KEY_CHOICE, offsetof(struct tim_config, s##_##k), v, 0, 0, NULL, n, t},
#define UNIT_KEY(id, name, field, value, low, high, counts, help) \
    {"units", name "." #field, TIM_KEY_NUMBER, offsetof(struct tim_config, unit[ISA_UNIT_##id].field), \
     value, low, high, counts, NULL, help},
#define UNIT(id, name, p, l, c, help) \
    UNIT_KEY(id, name, pipes, p, 0, 16, "pipes", help) \
    UNIT_KEY(id, name, lanes, l, 1, 64, "lanes", "") \
    UNIT_KEY(id, name, latency, c, 1, 1000, "cycles", "")
/* clang-format on */
const struct tim_key tim_keys[] = {
#include "timing/keys.def"
};
const size_t tim_key_count = LW_COUNT_OF(tim_keys);

static const struct {
    const char *name, *help;
} sections[] = {
#define SECTION(name, help) {#name, help},
#include "timing/keys.def"
    {"units", "functional units: number of pipes of a core, lanes that start in each pipe per cycle, cycles until the result"},
};

const char *tim_section_help(const char *section)
{
    for (unsigned i = 0; i < LW_COUNT_OF(sections); i++)
        if (strcmp(sections[i].name, section) == 0)
            return sections[i].help;
    return NULL;
}

static unsigned *number(struct tim_config *config, const struct tim_key *key)
{
    return (unsigned *)(void *)((char *)config + key->offset);
}

static bool *flag(struct tim_config *config, const struct tim_key *key)
{
    return (bool *)(void *)((char *)config + key->offset);
}

static unsigned value_of(const struct tim_config *config, const struct tim_key *key)
{
    const char *at = (const char *)config + key->offset;

    return key->kind == TIM_KEY_SWITCH ? *(const bool *)at : *(const unsigned *)(const void *)at;
}

enum { MAX_NAMES = 16 };
/* Splits the names of a choice into an array; @text receives copies. Returns their number. */
static unsigned split_names(const char *names, char text[256], const char *out[MAX_NAMES])
{
    unsigned count = 0;

    snprintf(text, 256, "%s", names);
    for (char *p = text; p != NULL && count < MAX_NAMES; count++) {
        out[count] = p;
        p = strchr(p, '|');
        if (p != NULL)
            *p++ = '\0';
    }
    return count;
}

/* ---- one value ------------------------------------------------------------------------ */

/* Returns an error whose message says what @key expects, and quotes @found. */
static enum lw_status wrong(const struct tim_key *key, const char *found, struct lw_error *err)
{
    char text[256], list[256] = "";
    const char *names[MAX_NAMES], *near;
    unsigned count;

    if (key->kind == TIM_KEY_NUMBER)
        return LW_FAIL(err, LW_EINPUT,
                       "%s.%s: expected an integer from %u to %u (%s), found \"%.40s\"",
                       key->section, key->name, key->low, key->high, key->unit, found);
    if (key->kind == TIM_KEY_SWITCH)
        return LW_FAIL(err, LW_EINPUT, "%s.%s: expected true or false, found \"%.40s\"",
                       key->section, key->name, found);
    count = split_names(key->names, text, names);
    for (unsigned i = 0; i < count; i++) {
        strncat(list, i == 0 ? "" : ", ", sizeof list - strlen(list) - 1);
        strncat(list, names[i], sizeof list - strlen(list) - 1);
    }
    near = lw_suggest(found, names, count, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, LW_EINPUT, "%s.%s: unknown name \"%.40s\"; did you mean \"%s\"? The names are %s",
                       key->section, key->name, found, near, list);
    return LW_FAIL(err, LW_EINPUT, "%s.%s: unknown name \"%.40s\"; the names are %s", key->section, key->name, found,
                   list);
}

/* Parses a number. A number of bytes may end in K or M, optionally followed by "i" or "iB": 64K, 1MiB. */
static bool parse_number(const struct tim_key *key, const char *text, uint64_t *out)
{
    static const char *const suffix[] = {"", "i", "iB"};
    size_t digits = strspn(text, "0123456789");
    unsigned shift = text[digits] == 'K' ? 10 : text[digits] == 'M' ? 20 : 0;
    char number[16];

    if (shift == 0 || strcmp(key->unit, "bytes") != 0 || digits >= sizeof number)
        return lw_parse_u64(text, out);
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    for (unsigned i = 0; i < LW_COUNT_OF(suffix); i++)
        if (strcmp(text + digits + 1, suffix[i]) == 0 && lw_parse_u64(number, out) && *out <= UINT32_MAX) {
            *out <<= shift;
            return true;
        }
    return false;
}

static enum lw_status assign(struct tim_config *config, const struct tim_key *key,
                             const char *text, struct lw_error *err)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes"};
    const char *names[MAX_NAMES];
    char copy[256];
    uint64_t value;
    unsigned count;

    switch (key->kind) {
    case TIM_KEY_NUMBER:
        if (!parse_number(key, text, &value) || value < key->low || value > key->high)
            break;
        *number(config, key) = (unsigned)value;
        return LW_OK;
    case TIM_KEY_SWITCH:
        for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
            if (strcmp(text, words[i]) == 0) {
                *flag(config, key) = i % 2 != 0;
                return LW_OK;
            }
        break;
    case TIM_KEY_CHOICE:
        count = split_names(key->names, copy, names);
        for (unsigned i = 0; i < count; i++)
            if (strcmp(text, names[i]) == 0) {
                *number(config, key) = i;
                return LW_OK;
            }
        break;
    }
    return wrong(key, text, err);
}

/* ---- names of keys ---------------------------------------------------------------------- */

static enum lw_status unknown_section(const char *name, struct lw_error *err)
{
    const char *near = lw_suggest(name, &sections[0].name, LW_COUNT_OF(sections),
                                  sizeof *sections);
    char list[200] = "base";

    if (near != NULL)
        return LW_FAIL(err, LW_EINPUT, "unknown section \"%.40s\"; did you mean \"%s\"?", name,
                       near);
    for (unsigned i = 0; i < LW_COUNT_OF(sections); i++) {
        strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, sections[i].name, sizeof list - strlen(list) - 1);
    }
    return LW_FAIL(err, LW_EINPUT, "unknown section \"%.40s\"; the sections are %s", name, list);
}

static const struct tim_key *find_key(const char *section, const char *name)
{
    for (size_t i = 0; i < tim_key_count; i++)
        if (strcmp(tim_keys[i].section, section) == 0 && strcmp(tim_keys[i].name, name) == 0)
            return &tim_keys[i];
    return NULL;
}

/* Returns an error for a key @name that is not in @section. The message suggests the most similar key of @section or,
 * if there is none, another section that has the key; otherwise it lists all keys of @section. */
static enum lw_status unknown_key(const char *section, const char *name, struct lw_error *err)
{
    const char *names[LW_COUNT_OF(tim_keys)], *near, *elsewhere = NULL;
    char list[320] = "";
    size_t count = 0;

    for (size_t i = 0; i < tim_key_count; i++) {
        if (strcmp(tim_keys[i].section, section) == 0)
            names[count++] = tim_keys[i].name;
        else if (strcmp(tim_keys[i].name, name) == 0 && elsewhere == NULL)
            elsewhere = tim_keys[i].section;
    }
    near = lw_suggest(name, names, count, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, LW_EINPUT, "unknown key \"%s.%.40s\"; did you mean \"%s.%s\"?",
                       section, name, section, near);
    if (elsewhere != NULL)
        return LW_FAIL(err, LW_EINPUT, "unknown key \"%s.%.40s\"; did you mean \"%s.%.40s\"?",
                       section, name, elsewhere, name);
    for (size_t i = 0, used = 0; i < count; i++) {
        int more = snprintf(list + used, sizeof list - used, "%s%s", i != 0 ? ", " : "", names[i]);

        if (more < 0 || (size_t)more >= sizeof list - used)
            break;
        used += (size_t)more;
    }
    return LW_FAIL(err, LW_EINPUT, "unknown key \"%s.%.40s\"; the keys of this section are %s", section, name,
                   list);
}

/* Returns true for the name of a functional unit, such as "int". */
static bool is_unit(const char *name)
{
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        if (strcmp(isa_unit_name((enum isa_unit)u), name) == 0)
            return true;
    return false;
}

static enum lw_status unknown_unit(const char *name, struct lw_error *err)
{
    const char *names[ISA_UNIT_COUNT], *near;
    char list[160] = "";

    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++) {
        names[u] = isa_unit_name((enum isa_unit)u);
        strncat(list, u != 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, names[u], sizeof list - strlen(list) - 1);
    }
    near = lw_suggest(name, names, ISA_UNIT_COUNT, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, LW_EINPUT, "unknown unit \"%.40s\"; did you mean \"%s\"?", name, near);
    return LW_FAIL(err, LW_EINPUT, "unknown unit \"%.40s\"; the units are %s", name, list);
}

/* ---- a file ------------------------------------------------------------------------------ */

/* Reads the keys of one mapping. @prefix: for a functional unit its name and a dot, such as "int."; else "". */
static enum lw_status read_mapping(const struct lw_yaml_document *doc,
                                   const struct lw_yaml *mapping, const char *section,
                                   const char *prefix, struct tim_config *config,
                                   struct lw_error *err)
{
    for (const struct lw_yaml *n = mapping->first; n != NULL; n = n->next) {
        const struct tim_key *key;
        struct lw_error why;
        char name[80];

        snprintf(name, sizeof name, "%s%.60s", prefix, n->key);
        key = find_key(section, name);
        if (key == NULL) {
            (void)unknown_key(section, name, &why);
            return LW_FAIL(err, LW_EINPUT, "%s:%u: %s", lw_yaml_name(doc), n->key_line, why.text);
        }
        if (n->kind != LW_YAML_SCALAR || (n->quoted && key->kind != TIM_KEY_CHOICE))
            (void)wrong(key, n->kind == LW_YAML_SEQUENCE  ? "[...]"
                             : n->kind == LW_YAML_MAPPING ? "{...}"
                                                          : n->text, &why);
        else if (assign(config, key, n->text, &why) == LW_OK)
            continue;
        return lw_yaml_fail(doc, n, err, "%s", why.text);
    }
    return LW_OK;
}

static enum lw_status need_mapping(const struct lw_yaml_document *doc, const struct lw_yaml *n,
                                   const char *example, struct lw_error *err)
{
    return n->kind == LW_YAML_MAPPING
               ? LW_OK
               : lw_yaml_fail(doc, n, err, "%.40s: expected a mapping such as %s", n->key, example);
}

static enum lw_status read_units(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                 struct tim_config *config, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    for (const struct lw_yaml *n = node->first; n != NULL && status == LW_OK; n = n->next) {
        char prefix[40];

        if (!is_unit(n->key)) {
            struct lw_error why;

            (void)unknown_unit(n->key, &why);
            return LW_FAIL(err, LW_EINPUT, "%s:%u: %s", lw_yaml_name(doc), n->key_line, why.text);
        }
        status = need_mapping(doc, n, "{pipes: 2, lanes: 16, latency: 14}", err);
        snprintf(prefix, sizeof prefix, "%s.", n->key);
        if (status == LW_OK)
            status = read_mapping(doc, n, "units", prefix, config, err);
    }
    return status;
}

/** The text of a GPU model that is being read. */
struct source {
    const char *name;
    bool shipped;
    const struct source *above; /* the text whose `base:` names this text, or NULL if there is none */
};
static enum lw_status read_text(const struct source *source, const char *text, size_t size,
                                struct tim_config *config, struct lw_error *err);

enum { MOST_BASES = 16 };

static unsigned files_of(const struct source *source)
{
    unsigned count = 0;

    for (; source != NULL; source = source->above)
        count++;
    return count;
}

/* Returns true if the file at @path is one of the texts that are being read. */
static bool is_being_read(const struct source *source, const char *path)
{
    char *found = realpath(path, NULL);
    bool is = false;

    for (; source != NULL && found != NULL && !is; source = source->above) {
        char *other = source->shipped ? NULL : realpath(source->name, NULL);

        is = other != NULL && strcmp(found, other) == 0;
        free(other);
    }
    free(found);
    return is;
}

/* Reads the file that `base: FILE` names, which is in the same folder. Returns LW_ENOENT if there is no such file. */
static enum lw_status read_base_file(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                     const struct source *source, const char *name,
                                     struct tim_config *config, struct lw_error *err)
{
    const char *slash = strrchr(source->name, '/');
    int folder = slash != NULL && *name != '/' ? (int)(slash + 1 - source->name) : 0;
    enum lw_status status;
    struct lw_error why;
    char path[4096], *data = NULL;
    size_t size;

    if (snprintf(path, sizeof path, "%.*s%s", folder, source->name, name) >= (int)sizeof path)
        return lw_yaml_fail(doc, node, err, "base: the name of the file is too long");
    if (is_being_read(source, path))
        return lw_yaml_fail(doc, node, err, "base: %.200s is, directly or through other files, its own base: one of "
                                            "the files must have a shipped GPU model as its base", name);
    if (files_of(source) > MOST_BASES)
        return lw_yaml_fail(doc, node, err, "base: %.200s ends a chain of more than %u files, each the base of the "
                                            "next: join some of them", name, MOST_BASES);
    status = lw_file_read(path, &data, &size, &why);
    if (status != LW_OK) {
        (void)lw_yaml_fail(doc, node, err, "base: %s", why.text);
        return status;
    }
    status = read_text(&(struct source){path, false, source}, data, size, config, err);
    free(data);
    return status == LW_ENOENT ? LW_EINPUT : status; /* LW_ENOENT here means that the base file exists but names a missing
                                                      * base, which `err` reports */
}

/* Reads the base that `base: NAME` names: a shipped model, or another file. */
static enum lw_status read_base(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                const struct source *source, struct tim_config *config,
                                struct lw_error *err)
{
    const char *name, *text, *names[32], *near;
    char list[200] = "";
    size_t count = 0;
    enum lw_status status = lw_yaml_string(doc, node, &name, err);

    if (status != LW_OK)
        return status;
    if (source->shipped) /* shipped models are based on the defaults of keys.def, so the recursion ends */
        return lw_yaml_fail(doc, node, err, "base: a shipped GPU model has no base");
    text = tim_machine_text(name);
    if (text != NULL)
        return read_text(&(struct source){name, true, source}, text, strlen(text), config, err);
    status = read_base_file(doc, node, source, name, config, err);
    if (status != LW_ENOENT || strchr(name, '/') != NULL || strchr(name, '.') != NULL)
        return status;
    for (; tim_machines[count].name != NULL && count < LW_COUNT_OF(names); count++) {
        names[count] = tim_machines[count].name;
        strncat(list, count != 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, names[count], sizeof list - strlen(list) - 1);
    }
    near = lw_suggest(name, names, count, sizeof *names);
    if (near != NULL)
        return lw_yaml_fail(doc, node, err, "base: unknown GPU model \"%.60s\"; did you mean "
                            "\"%s\"?", name, near);
    return lw_yaml_fail(doc, node, err, "base: \"%.60s\" is neither a shipped GPU model nor a file; the shipped models "
                                        "are %s", name, list);
}

static enum lw_status read_text(const struct source *source, const char *text, size_t size,
                                struct tim_config *config, struct lw_error *err)
{
    struct lw_yaml_document *doc = NULL;
    enum lw_status status = lw_yaml_parse(source->name, text, size, &doc, err);
    const struct lw_yaml *root, *base, *old;

    if (status != LW_OK)
        return status;
    root = lw_yaml_root(doc);
    if (root->kind != LW_YAML_MAPPING)
        status = lw_yaml_fail(doc, root, err, "expected sections such as core: {count: 15}");
    base = lw_yaml_get(root, "base");
    old = lw_yaml_get(root, "machine"); /* `machine` is the former name of `base` */
    if (status == LW_OK && base != NULL && old != NULL)
        status = lw_yaml_fail(doc, old, err, "machine is the former name of base: remove one of the two keys");
    if (base == NULL)
        base = old;
    if (status == LW_OK && base != NULL) /* reads the base first, because the file's own keys override the base's keys */
        status = read_base(doc, base, source, config, err);
    for (const struct lw_yaml *n = root->first; n != NULL && status == LW_OK; n = n->next) {
        if (n == base)
            continue;
        if (tim_section_help(n->key) == NULL) {
            struct lw_error why;

            (void)unknown_section(n->key, &why);
            status = LW_FAIL(err, LW_EINPUT, "%s:%u: %s", source->name, n->key_line, why.text);
            break;
        }
        if (n->kind == LW_YAML_SCALAR && !n->quoted && *n->text == '\0')
            continue; /* the section is empty: all its keys are commented out */
        if (strcmp(n->key, "units") == 0) {
            status = need_mapping(doc, n, "{int: {latency: 14}}", err);
            if (status == LW_OK)
                status = read_units(doc, n, config, err);
        } else {
            status = need_mapping(doc, n, "{KEY: VALUE}", err);
            if (status == LW_OK)
                status = read_mapping(doc, n, n->key, "", config, err);
        }
    }
    lw_yaml_destroy(doc);
    return status;
}

/* ---- machines ------------------------------------------------------------------------------ */

static enum lw_status create(const char *name, struct tim_config **out, struct lw_error *err)
{
    struct tim_config *config = calloc(1, sizeof *config);

    if (config != NULL)
        config->name = strdup(name);
    if (config == NULL || config->name == NULL) {
        free(config);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a GPU model");
    }
    for (size_t i = 0; i < tim_key_count; i++) {
        if (tim_keys[i].kind == TIM_KEY_SWITCH)
            *flag(config, &tim_keys[i]) = tim_keys[i].value != 0;
        else
            *number(config, &tim_keys[i]) = tim_keys[i].value;
    }
    *out = config;
    return LW_OK;
}

enum lw_status tim_config_default(struct tim_config **out, struct lw_error *err)
{
    return create("default", out, err);
}

const char *tim_config_name(const struct tim_config *config)
{
    return config->name;
}

bool tim_config_coherent(const struct tim_config *config)
{
    return config->l1_coherent;
}

bool tim_config_reads_control(const struct tim_config *config)
{
    return config->issue_dependence == TIM_DEP_CONTROL;
}

bool tim_config_counts(const struct tim_config *config)
{
    return config->issue_dependence == TIM_DEP_COUNTERS;
}

void tim_config_destroy(struct tim_config *config)
{
    if (config == NULL)
        return;
    free(config->name);
    tim_profile_release(config->profile);
    free(config);
}

static enum lw_status read_config(const char *name, const char *text, size_t size, bool shipped,
                                  struct tim_config **out, struct lw_error *err)
{
    struct tim_config *config = NULL;
    enum lw_status status = create(name, &config, err);

    if (status == LW_OK)
        status = read_text(&(struct source){name, shipped, NULL}, text, size, config, err);
    if (status != LW_OK) {
        tim_config_destroy(config);
        return status;
    }
    *out = config;
    return LW_OK;
}

enum lw_status tim_config_read(const char *name, const char *text, size_t size,
                               struct tim_config **out, struct lw_error *err)
{
    return read_config(name, text, size, false, out, err);
}

/* Returns an error for a name that is neither a shipped model nor a file. The message suggests a name. */
static enum lw_status no_machine(const char *name, struct lw_error *err)
{
    const char *near;
    char list[200] = "";
    size_t count = 0;

    for (; tim_machines[count].name != NULL; count++) {
        strncat(list, count != 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, tim_machines[count].name, sizeof list - strlen(list) - 1);
    }
    near = lw_suggest(name, &tim_machines[0].name, count, sizeof *tim_machines);
    if (near != NULL)
        return LW_FAIL(err, LW_EINPUT, "\"%.80s\" is neither a shipped GPU model nor a file; did you "
                       "mean \"%s\"?", name, near);
    return LW_FAIL(err, LW_EINPUT, "\"%.80s\" is neither a shipped GPU model nor a file; the shipped models are %s",
                   name, list);
}

enum lw_status tim_config_load(const char *name, struct tim_config **out, struct lw_error *err)
{
    const char *text = tim_machine_text(name);
    struct tim_config *config = NULL;
    enum lw_status status;
    char *data = NULL;
    size_t size;

    if (text != NULL) {
        status = read_config(name, text, strlen(text), true, &config, err);
    } else {
        struct lw_error why;

        status = lw_file_read(name, &data, &size, &why);
        if (status == LW_ENOENT && strchr(name, '/') == NULL && strchr(name, '.') == NULL)
            return no_machine(name, err);
        if (status != LW_OK)
            return LW_FAIL(err, status, "%s", why.text);
        status = read_config(name, data, size, false, &config, err);
        free(data);
    }
    if (status == LW_OK && tim_config_check(config, err) != LW_OK)
        status = lw_error_prefix(err, "%s", name);
    if (status != LW_OK) {
        tim_config_destroy(config);
        return status;
    }
    *out = config;
    return LW_OK;
}

enum lw_status tim_config_set(struct tim_config *config, const char *assignment,
                              struct lw_error *err)
{
    const char *equal = strchr(assignment, '='), *dot = strchr(assignment, '.');
    const struct tim_key *key;
    char section[40], name[80];
    enum lw_status status;

    if (equal == NULL || dot == NULL || dot > equal || dot == assignment || dot + 1 == equal)
        return LW_FAIL(err, LW_EUSAGE, "expected SECTION.KEY=VALUE such as l1.bytes=32768, found "
                       "\"%.80s\"", assignment);
    snprintf(section, sizeof section, "%.*s", (int)(dot - assignment), assignment);
    snprintf(name, sizeof name, "%.*s", (int)(equal - dot - 1), dot + 1);
    key = find_key(section, name);
    if (key != NULL) {
        status = assign(config, key, equal + 1, err);
    } else if (tim_section_help(section) == NULL) {
        status = unknown_section(section, err);
    } else {
        char *rest = strchr(name, '.');

        if (strcmp(section, "units") == 0 && rest != NULL) {
            *rest = '\0';
            if (!is_unit(name)) {
                (void)unknown_unit(name, err);
                return err != NULL ? err->status = LW_EUSAGE : LW_EUSAGE;
            }
            *rest = '.';
        }
        status = unknown_key(section, name, err);
    }
    if (status != LW_OK && err != NULL)
        err->status = LW_EUSAGE;
    return status == LW_OK ? LW_OK : LW_EUSAGE;
}

bool tim_config_detects(const struct tim_config *config)
{
    return config->tags_detect != TIM_DETECT_OFF;
}

void tim_config_machine(const struct tim_config *config, struct emu_config *out)
{
    out->warp_width = config->core_warp_width;
    out->reconv = emu_reconv_names[config->core_reconvergence]; /* the array is in the order of TIM_RECONV_CBAR ... */
    if (out->policy == NULL) /* a core of a GPU has no order of blocks */
        out->policy = "rr_quantum";
    if (out->hang_window == EMU_HANG_WINDOW) /* reduces the default hang limit, because the timing model runs about 50 times
                                              * slower than emu alone */
        out->hang_window >>= 6;
    if (!tim_config_detects(config))
        return;
    out->tags = EMU_TAGS_SHADOW;
    out->tag_rules = (enum emu_tag_rules)(config->tags_detect - TIM_DETECT_TABLE);
    out->tag_expansion = (enum emu_tag_expansion)config->tags_expansion;
}

/* ---- as a file -------------------------------------------------------------------------------- */

static void print_value(const struct tim_config *config, const struct tim_key *key,
                        struct lw_sink *out)
{
    unsigned value = value_of(config, key), count;
    const char *names[MAX_NAMES];
    char text[256];

    if (key->kind == TIM_KEY_SWITCH) {
        lw_put(out, value != 0 ? "true" : "false");
    } else if (key->kind == TIM_KEY_CHOICE) {
        count = split_names(key->names, text, names);
        lw_put(out, value < count ? names[value] : "?");
    } else {
        lw_printf(out, "%u", value);
    }
}

bool tim_config_value(const struct tim_config *config, const char *key, char *out, size_t room)
{
    for (size_t i = 0; i < tim_key_count; i++) {
        const size_t section = strlen(tim_keys[i].section);
        struct lw_buffer text;

        if (strncmp(key, tim_keys[i].section, section) != 0 || key[section] != '.' ||
            strcmp(key + section + 1, tim_keys[i].name) != 0)
            continue;
        lw_buffer_init(&text);
        print_value(config, &tim_keys[i], &text.sink);
        snprintf(out, room, "%s", text.text != NULL ? text.text : "");
        lw_buffer_fini(&text);
        return true;
    }
    return false;
}

static void print_comment(const struct tim_key *key, struct lw_sink *out)
{
    const char *names[MAX_NAMES];
    char text[256];
    unsigned count;

    if (key->kind == TIM_KEY_NUMBER) {
        lw_printf(out, "%s, %u to %u", key->unit, key->low, key->high);
    } else if (key->kind == TIM_KEY_SWITCH) {
        lw_put(out, "true or false");
    } else {
        count = split_names(key->names, text, names);
        for (unsigned i = 0; i < count; i++)
            lw_printf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    }
    if (*key->help != '\0')
        lw_printf(out, ": %s", key->help);
}

/* Prints a line of a model file: @left, padded so that all comments begin in one column, and the comment of @key. */
static void print_line(struct lw_sink *out, const char *left, const struct tim_key *key)
{
    lw_printf(out, "%-32s # ", left);
    print_comment(key, out);
    lw_put(out, "\n");
}

void tim_config_print(const struct tim_config *config, struct lw_sink *out)
{
    const char *section = "";

    lw_printf(out, "# The GPU model %s: all keys, each with its unit, range and meaning.\n",
              config->name);
    for (size_t i = 0; i < tim_key_count; i++) {
        const struct tim_key *key = &tim_keys[i];
        struct lw_buffer left;

        if (strcmp(section, key->section) != 0) {
            section = key->section;
            lw_printf(out, "\n# %s\n%s:\n", tim_section_help(section), section);
        }
        if (strcmp(section, "units") == 0)
            continue; /* printed below, one line for each unit */
        lw_buffer_init(&left);
        lw_printf(&left.sink, "  %s: ", key->name);
        print_value(config, key, &left.sink);
        print_line(out, left.text, key);
        lw_buffer_fini(&left);
    }
    for (size_t i = 0; i + 2 < tim_key_count; i++) {
        const struct tim_key *key = &tim_keys[i];
        const char *dot = strchr(key->name, '.');

        if (strcmp(key->section, "units") != 0 || strcmp(dot, ".pipes") != 0)
            continue;
        lw_printf(out, "  %.*s: {pipes: %u, lanes: %u, latency: %u} # %s\n",
                  (int)(dot - key->name), key->name, value_of(config, &key[0]),
                  value_of(config, &key[1]), value_of(config, &key[2]), key->help);
    }
}

void tim_config_json(const struct tim_config *config, struct lw_sink *out)
{
    const char *section = "";

    lw_put(out, "{");
    for (size_t i = 0; i < tim_key_count; i++) {
        const struct tim_key *key = &tim_keys[i];
        const char *dot = strchr(key->name, '.'), *quote = key->kind == TIM_KEY_CHOICE ? "\"" : "";

        if (strcmp(section, key->section) != 0) {
            lw_printf(out, "%s\n    \"%s\": {", *section != '\0' ? "}," : "", key->section);
            section = key->section;
        } else {
            lw_put(out, dot != NULL && strcmp(dot, ".pipes") == 0 ? "}, " : ", ");
        }
        if (dot != NULL && strcmp(dot, ".pipes") == 0)
            lw_printf(out, "\"%.*s\": {", (int)(dot - key->name), key->name);
        lw_printf(out, "\"%s\": %s", dot != NULL ? dot + 1 : key->name, quote);
        print_value(config, key, out);
        lw_put(out, quote);
    }
    lw_put(out, "}}}");
}
