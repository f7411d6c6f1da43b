/* SPDX-License-Identifier: Apache-2.0 */
/* Reads launch files: the program, the buffers and the limits. lnc_steps.c reads the steps. */
#include "launch/launch_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Maximum number of elements of a buffer: more than fit in the memory of any machine, but so few that their number of bytes
 * does not overflow 64 bits. */
static const uint64_t max_elements = UINT64_C(1) << 40;

enum lw_status lnc_no_memory(const struct lnc_file *file, const struct lw_yaml *node,
                             struct lw_error *err)
{
    return LW_FAIL(err, LW_ENOMEM, "%s:%u: the host has no memory for this file", lw_yaml_name(file->doc),
                   node != NULL ? node->line : 1);
}

const char *lnc_path(struct lnc_file *file, const char *path)
{
    const char *full = path[0] == '/' ? path : lw_arena_printf(&file->arena, "%s%s", file->folder, path);
    struct stat what;

    if (full != NULL && stat(full, &what) == 0 && !S_ISREG(what.st_mode))
        file->read_once = true;
    return full;
}

enum lw_status lnc_buffer_named(const struct lnc_file *file, const struct lw_yaml *node,
                                const struct lnc_buffer **out, struct lw_error *err)
{
    const struct lnc_buffer *near = NULL;
    unsigned near_distance = 0;
    const char *name;
    enum lw_status status = lw_yaml_string(file->doc, node, &name, err);

    if (status != LW_OK)
        return status;
    for (const struct lnc_buffer *b = file->buffers; b != NULL; b = b->next) /* a recorded launch may have thousands of buffers */
        if (strcmp(b->name, name) == 0) {
            *out = b;
            return LW_OK;
        }
    for (const struct lnc_buffer *b = file->buffers; b != NULL; b = b->next) {
        unsigned distance = lw_edit_distance(b->name, name);

        if (lw_suggest(name, &b->name, 1, sizeof b->name) != NULL &&
            (near == NULL || distance < near_distance)) {
            near = b;
            near_distance = distance;
        }
    }
    if (near != NULL)
        return lw_yaml_fail(file->doc, node, err,
                            "there is no buffer \"%.60s\"; did you mean \"%s\"?", name,
                            near->name);
    return lw_yaml_fail(file->doc, node, err,
                        "there is no buffer \"%.60s\": define it under \"buffers:\"", name);
}

/* Reads one number of the buffer's type. */
static enum lw_status read_number(const struct lnc_file *file, const struct lw_yaml *node,
                                  const struct lnc_type *type, uint64_t *bits,
                                  struct lw_error *err)
{
    if (node->kind == LW_YAML_SCALAR && !node->quoted && lnc_value_parse(type, node->text, bits))
        return LW_OK;
    return lw_yaml_fail(file->doc, node, err, "%s%sexpected a number of type %s, found %s%.40s%s",
                        node->key != NULL ? node->key : "", node->key != NULL ? ": " : "",
                        type->name, node->kind == LW_YAML_SCALAR ? "\"" : "",
                        node->kind == LW_YAML_SCALAR    ? node->text
                        : node->kind == LW_YAML_MAPPING ? "a mapping"
                                                        : "a list",
                        node->kind == LW_YAML_SCALAR ? "\"" : "");
}

static enum lw_status read_values(struct lnc_file *file, const struct lw_yaml *node,
                                  const struct lnc_type *type, struct lnc_init *init,
                                  struct lw_error *err)
{
    uint8_t *data = lw_arena_alloc(&file->arena, node->count * type->bytes);
    uint64_t i = 0;

    if (data == NULL)
        return lnc_no_memory(file, node, err);
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next, i++) {
        uint64_t bits;
        enum lw_status status = read_number(file, n, type, &bits, err);

        if (status != LW_OK)
            return status;
        lnc_value_store(type, data, i, bits);
    }
    init->kind = LNC_DATA;
    init->data = data;
    init->count = node->count;
    return LW_OK;
}

/* Reads {ramp: {start, step, modulo}}. The default of start is 0, that of step 1. */
static enum lw_status read_ramp(struct lnc_file *file, const struct lw_yaml *node,
                                const struct lnc_type *type, struct lnc_init *init,
                                struct lw_error *err)
{
    static const char *const known[] = {"start", "step", "modulo", NULL};
    const struct lw_yaml *start, *step, *modulo;
    enum lw_status status = LW_OK;

    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "ramp: expected a mapping such as {start: 0, step: 1}");
    status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    start = lw_yaml_get(node, "start");
    step = lw_yaml_get(node, "step");
    modulo = lw_yaml_get(node, "modulo");
    init->kind = LNC_RAMP;
    init->step = 1;
    init->fstep = 1;
    if (start != NULL)
        status = type->kind == LNC_FLOAT
                     ? lw_yaml_double(file->doc, start, &init->fstart, err)
                     : lw_yaml_i64(file->doc, start, INT64_MIN, INT64_MAX, &init->start, err);
    if (status == LW_OK && step != NULL)
        status = type->kind == LNC_FLOAT
                     ? lw_yaml_double(file->doc, step, &init->fstep, err)
                     : lw_yaml_i64(file->doc, step, INT64_MIN, INT64_MAX, &init->step, err);
    if (status == LW_OK && modulo != NULL)
        status = lw_yaml_u64(file->doc, modulo, 1, max_elements, &init->modulo, err);
    return status;
}

/* Reads {random: SEED} or {random: {seed, low, high}}. The keys low and high may also be in @outer, next to `random`. */
static enum lw_status read_random(struct lnc_file *file, const struct lw_yaml *outer,
                                  const struct lw_yaml *node, const struct lnc_type *type,
                                  struct lnc_init *init, struct lw_error *err)
{
    static const char *const known[] = {"seed", "low", "high", NULL};
    const struct lw_yaml *seed = node, *low = lw_yaml_get(outer, "low"),
                         *high = lw_yaml_get(outer, "high");
    enum lw_status status = LW_OK;

    if (node->kind == LW_YAML_MAPPING) {
        status = lw_yaml_known(file->doc, node, known, err);
        if (status != LW_OK)
            return status;
        seed = lw_yaml_get(node, "seed");
        if (low == NULL)
            low = lw_yaml_get(node, "low");
        if (high == NULL)
            high = lw_yaml_get(node, "high");
        if (seed == NULL)
            return lw_yaml_fail(file->doc, node, err,
                                "random: \"seed\" is missing: give any integer, so that each run generates the same "
                                "numbers");
    }
    init->kind = LNC_RANDOM;
    status = lw_yaml_u64(file->doc, seed, 0, UINT64_MAX, &init->seed, err);
    if (status != LW_OK)
        return status;
    if (type->kind == LNC_FLOAT) {
        init->fhigh = 1;
        if (low != NULL)
            status = lw_yaml_double(file->doc, low, &init->flow, err);
        if (status == LW_OK && high != NULL)
            status = lw_yaml_double(file->doc, high, &init->fhigh, err);
        if (status == LW_OK && !(init->flow <= init->fhigh))
            status = lw_yaml_fail(file->doc, node, err, "random: low is %g and high is %g, but low must not be above high",
                                  init->flow, init->fhigh);
        return status;
    }
    /* The range of integers includes both bounds. Without bounds, the range has all values of the type. */
    uint64_t low_bits, high_bits, width = lw_mask(type->bytes * 8u);
    low_bits = type->kind == LNC_SIGNED ? (width >> 1) + 1 : 0;
    high_bits = type->kind == LNC_SIGNED ? width >> 1 : width;
    if (low != NULL)
        status = read_number(file, low, type, &low_bits, err);
    else if (high != NULL)
        low_bits = 0; /* with high alone, the range begins at 0 */
    if (status == LW_OK && high != NULL)
        status = read_number(file, high, type, &high_bits, err);
    if (status != LW_OK)
        return status;
    if (lnc_value_double(type, low_bits) > lnc_value_double(type, high_bits))
        return lw_yaml_fail(file->doc, node, err, "random: low is %.0f and high is %.0f, but low must not be above high",
                            lnc_value_double(type, low_bits), lnc_value_double(type, high_bits));
    /* The sum of low and a random number below span may exceed the type: only the low bytes of an element are stored. */
    init->low = low_bits;
    init->span = ((high_bits - low_bits) & width) + 1;
    return LW_OK;
}

enum lw_status lnc_init_read(struct lnc_file *file, const struct lw_yaml *node,
                             const struct lnc_type *type, uint64_t *count,
                             struct lnc_init *init, struct lw_error *err)
{
    static const char *const known[] = {"constant", "ramp", "random", "low",
                                        "high",     "file", "values", NULL};
    const struct lw_yaml *form = NULL;
    const char *name = NULL; /* name of the data file, if there is one */
    enum lw_status status = LW_OK;

    *init = (struct lnc_init){.kind = LNC_ZERO};
    if (node->kind == LW_YAML_SCALAR) {
        init->kind = LNC_CONSTANT;
        status = read_number(file, node, type, &init->constant, err);
    } else if (node->kind == LW_YAML_SEQUENCE) {
        status = read_values(file, node, type, init, err);
    } else {
        status = lw_yaml_known(file->doc, node, known, err);
        if (status != LW_OK)
            return status;
        for (const struct lw_yaml *n = node->first; n != NULL; n = n->next) {
            if (strcmp(n->key, "low") == 0 || strcmp(n->key, "high") == 0) {
                if (lw_yaml_get(node, "random") == NULL)
                    return lw_yaml_fail(file->doc, n, err, "\"%s\" is allowed only together with \"random\"",
                                        n->key);
                continue;
            }
            if (form != NULL)
                return lw_yaml_fail(file->doc, n, err,
                                    "\"%s\" and \"%s\" cannot be combined: give one of them", form->key, n->key);
            form = n;
        }
        if (form == NULL)
            return lw_yaml_fail(file->doc, node, err,
                                "expected one of constant, ramp, random, file or values");
        if (strcmp(form->key, "constant") == 0) {
            init->kind = LNC_CONSTANT;
            status = read_number(file, form, type, &init->constant, err);
        } else if (strcmp(form->key, "ramp") == 0) {
            status = read_ramp(file, form, type, init, err);
        } else if (strcmp(form->key, "random") == 0) {
            status = read_random(file, node, form, type, init, err);
        } else if (strcmp(form->key, "values") == 0) {
            if (form->kind != LW_YAML_SEQUENCE)
                return lw_yaml_fail(file->doc, form, err, "values: expected a list of numbers");
            status = read_values(file, form, type, init, err);
        } else {
            const char *path;

            status = lw_yaml_string(file->doc, form, &name, err);
            if (status != LW_OK)
                return status;
            path = lnc_path(file, name);
            if (path == NULL)
                return lnc_no_memory(file, form, err);
            init->kind = LNC_DATA;
            status = lnc_data_read(path, type, &file->arena, &init->data, &init->count, err);
            if (status != LW_OK)
                lw_error_prefix(err, "%s:%u", lw_yaml_name(file->doc), form->line);
        }
    }
    if (status != LW_OK || init->kind != LNC_DATA)
        return status;
    if (*count == 0)
        *count = init->count;
    if (*count != init->count)
        return lw_yaml_fail(file->doc, form != NULL ? form : node, err,
                            "expected %" PRIu64 " number%s, found %" PRIu64 "%s%.120s", *count, *count == 1 ? "" : "s", init->count,
                            name != NULL ? " in " : "", name != NULL ? name : "");
    return LW_OK;
}

static enum lw_status read_buffer(struct lnc_file *file, const struct lw_yaml *node,
                                  struct lnc_buffer *buffer, struct lw_error *err)
{
    static const char *const known[] = {"type", "count", "init", "read_only", "variable", "address", "heap", NULL};
    const struct lw_yaml *n;
    enum lw_status status;
    const char *name;

    buffer->name = node->key;
    buffer->node = node;
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "buffer %.60s: expected a mapping such as {type: f32, count: 1024}",
                            node->key);
    status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    n = lw_yaml_get(node, "type");
    if (n == NULL)
        return lw_yaml_fail(file->doc, node, err,
                            "buffer %.60s: \"type\" is missing: " LNC_TYPE_WORDS,
                            node->key);
    status = lw_yaml_string(file->doc, n, &name, err);
    if (status != LW_OK)
        return status;
    buffer->type = lnc_type_find(name);
    if (buffer->type == NULL) {
        const char *near = lnc_type_suggest(name);

        return lw_yaml_fail(file->doc, n, err, "type: unknown type \"%.40s\"%s%s%s", name,
                            near != NULL ? "; did you mean \"" : ": " LNC_TYPE_WORDS,
                            near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
    n = lw_yaml_get(node, "count");
    if (n != NULL) {
        status = lw_yaml_u64(file->doc, n, 1, max_elements, &buffer->count, err);
        if (status != LW_OK)
            return status;
    }
    n = lw_yaml_get(node, "init");
    if (n != NULL) {
        status = lnc_init_read(file, n, buffer->type, &buffer->count, &buffer->init, err);
        if (status != LW_OK)
            return status;
    }
    if (buffer->count == 0)
        return lw_yaml_fail(file->doc, node, err,
                            "buffer %.60s: \"count\" is missing: give the number of elements",
                            node->key);
    n = lw_yaml_get(node, "read_only");
    if (n != NULL)
        status = lw_yaml_bool(file->doc, n, &buffer->read_only, err);
    n = lw_yaml_get(node, "heap");
    if (status == LW_OK && n != NULL)
        status = lw_yaml_bool(file->doc, n, &buffer->heap, err);
    n = lw_yaml_get(node, "address");
    if (status == LW_OK && n != NULL)
        status = lw_yaml_u64(file->doc, n, 1, UINT64_MAX, &buffer->address, err);
    if (status != LW_OK || lw_yaml_get(node, "variable") == NULL)
        return status;
    n = lw_yaml_get(node, "read_only");
    if (n != NULL)
        return lw_yaml_fail(file->doc, n, err,
                            "read_only: the key is not allowed for a variable of the program, whose declaration already "
                            "says whether kernels may write it: remove the key");
    n = lw_yaml_get(node, lw_yaml_get(node, "heap") != NULL ? "heap" : "address");
    if (n != NULL)
        return lw_yaml_fail(file->doc, n, err, "%s: the key is not allowed for a variable of the program: remove the key", n->key);
    return lw_yaml_string(file->doc, lw_yaml_get(node, "variable"), &buffer->variable, err);
}

static enum lw_status read_buffers(struct lnc_file *file, const struct lw_yaml *node,
                                   struct lw_error *err)
{
    struct lnc_buffer **tail = &file->buffers;

    if (node == NULL)
        return LW_OK; /* a kernel without buffers is unusual, but valid */
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "buffers: expected a mapping such as {A: {type: f32, count: 64}}");
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next) {
        struct lnc_buffer *buffer = lw_arena_alloc(&file->arena, sizeof *buffer);
        enum lw_status status;

        if (buffer == NULL)
            return lnc_no_memory(file, n, err);
        status = read_buffer(file, n, buffer, err);
        if (status != LW_OK)
            return status;
        buffer->index = file->buffer_count++;
        *tail = buffer;
        tail = &buffer->next;
    }
    return LW_OK;
}

static enum lw_status read_sources(struct lnc_file *file, const struct lw_yaml *node,
                                   struct lw_error *err)
{
    const char *text;

    if (node->kind != LW_YAML_SEQUENCE || node->count == 0)
        return lw_yaml_fail(file->doc, node, err,
                            "sources: expected a list of .cl, .cu, .spv and .ptx files such as [a.ptx, b.ptx]");
    file->sources = lw_arena_alloc(&file->arena, node->count * sizeof *file->sources);
    if (file->sources == NULL)
        return lnc_no_memory(file, node, err);
    file->source_node = node;
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next) {
        enum lw_status status = lw_yaml_string(file->doc, n, &text, err);

        if (status != LW_OK)
            return status;
        file->sources[file->source_count] = lnc_path(file, text);
        if (file->sources[file->source_count++] == NULL)
            return lnc_no_memory(file, n, err);
    }
    file->source = file->sources[0];
    return LW_OK;
}

static enum lw_status read_program(struct lnc_file *file, const struct lw_yaml *node,
                                   struct lw_error *err)
{
    static const char *const known[] = {"source", "sources", "options", "compiler", "stack", "values", "lat_barriers", NULL};
    const struct lw_yaml *n;
    const char *text;
    enum lw_status status;

    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "program: expected a mapping such as {source: saxpy.cl}");
    status = lw_yaml_known(file->doc, node, known, err);
    if (status != LW_OK)
        return status;
    n = lw_yaml_get(node, "source");
    if (n != NULL && lw_yaml_get(node, "sources") != NULL)
        return lw_yaml_fail(file->doc, node, err, "program: \"source\" and \"sources\" cannot be combined: give one of "
                                                  "them");
    if (n != NULL) {
        status = lw_yaml_string(file->doc, n, &text, err);
        if (status != LW_OK)
            return status;
        file->source_node = n;
        file->source = lnc_path(file, text);
        if (file->source == NULL)
            return lnc_no_memory(file, n, err);
    } else {
        n = lw_yaml_get(node, "sources");
        if (n == NULL)
            return lw_yaml_fail(file->doc, node, err,
                                "program: \"source\" is missing: give a .cl, .cu, .spv, .ptx, .s or .lwo file");
        status = read_sources(file, n, err);
        if (status != LW_OK)
            return status;
    }
    n = lw_yaml_get(node, "compiler");
    if (n != NULL) {
        status = lw_yaml_string(file->doc, n, &file->compiler, err);
        if (status != LW_OK)
            return status;
    }
    n = lw_yaml_get(node, "stack");
    if (n != NULL) {
        uint64_t bytes;

        status = lw_yaml_u64(file->doc, n, 1, 1u << 22, &bytes, err);
        if (status != LW_OK)
            return status;
        file->stack_bytes = (uint32_t)bytes;
    }
    n = lw_yaml_get(node, "values");
    if (n != NULL) {
        status = lw_yaml_string(file->doc, n, &text, err);
        if (status != LW_OK)
            return status;
        if (strcmp(text, "kept") != 0 && strcmp(text, "same_code") != 0)
            return lw_yaml_fail(file->doc, n, err, "values: expected kept or same_code, found \"%.40s\"", text);
        file->keep_values = strcmp(text, "kept") == 0;
    }
    n = lw_yaml_get(node, "lat_barriers");
    if (n != NULL) {
        status = lw_yaml_bool(file->doc, n, &file->lat_barriers, err);
        if (status != LW_OK)
            return status;
    }
    n = lw_yaml_get(node, "options");
    if (n == NULL)
        return LW_OK;
    if (n->kind != LW_YAML_SEQUENCE)
        return lw_yaml_fail(file->doc, n, err,
                            "options: expected a list such as [-DN=512, -O3]");
    file->options = lw_arena_alloc(&file->arena, n->count * sizeof *file->options);
    if (file->options == NULL)
        return lnc_no_memory(file, n, err);
    for (n = n->first; n != NULL; n = n->next) {
        status = lw_yaml_string(file->doc, n, &file->options[file->option_count++], err);
        if (status != LW_OK)
            return status;
    }
    if (!lnc_options_relocate(file->options, file->option_count, file->folder, file->folder, &file->arena))
        return lnc_no_memory(file, NULL, err);
    return LW_OK;
}

/** Reads `addresses:`, which recorded launches have. */
static enum lw_status read_addresses(struct lnc_file *file, const struct lw_yaml *node, struct lw_error *err)
{
    static const char *const known[] = {"code", "variables", "next", NULL};
    uint64_t *const values[] = {&file->layout.code, &file->layout.variables, &file->next_address};
    enum lw_status status;

    if (node == NULL)
        return LW_OK;
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err, "addresses: expected a mapping such as {code: 0x100000000, next: 0x200000100000}");
    file->addresses = node;
    status = lw_yaml_known(file->doc, node, known, err);
    for (unsigned i = 0; known[i] != NULL && status == LW_OK; i++)
        if (lw_yaml_get(node, known[i]) != NULL)
            status = lw_yaml_u64(file->doc, lw_yaml_get(node, known[i]), 1, UINT64_MAX, values[i], err);
    return status;
}

static enum lw_status read_limits(struct lnc_file *file, const struct lw_yaml *node, struct lw_error *err)
{
    static const char *const known[] = {"instructions", "seconds", NULL};
    const struct lw_yaml *n;
    enum lw_status status;

    if (node == NULL)
        return LW_OK;
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, node, err,
                            "limits: expected a mapping such as {instructions: 1000000000, seconds: 60}");
    status = lw_yaml_known(file->doc, node, known, err);
    n = lw_yaml_get(node, "instructions");
    if (status == LW_OK && n != NULL)
        status = lw_yaml_u64(file->doc, n, 1, UINT64_MAX, &file->limits.instructions, err);
    n = lw_yaml_get(node, "seconds");
    if (status == LW_OK && n != NULL)
        status = lw_yaml_double(file->doc, n, &file->limits.seconds, err);
    if (status == LW_OK && n != NULL && !(file->limits.seconds > 0 && file->limits.seconds <= LNC_MOST_SECONDS))
        status = lw_yaml_fail(file->doc, n, err, "seconds: expected a number above 0 and up to %d, found %g",
                              LNC_MOST_SECONDS, file->limits.seconds);
    return status;
}

/** Parses a number of instructions such as "1000", "1M", "2.5G" or "1e6". Returns false if the text has another form. */
static bool read_instructions(const char *value, uint64_t *out)
{
    static const char suffixes[] = "kKmMgG";
    const char *suffix;
    char *rest;
    double n;

    if (lw_parse_u64(value, out))
        return *out != 0;
    if (*value < '0' || *value > '9' || value[1] == 'x' || value[1] == 'X')
        return false;
    n = strtod(value, &rest);
    if (*rest != '\0') {
        suffix = rest[1] == '\0' ? strchr(suffixes, *rest) : NULL;
        if (suffix == NULL)
            return false;
        for (long i = 0; i <= (suffix - suffixes) / 2; i++)
            n *= 1000;
    }
    if (!(n >= 1 && n < 1e18) || n != floor(n))
        return false;
    *out = (uint64_t)n;
    return true;
}

enum lw_status lnc_limit_set(struct lnc_limits *limits, const char *name, const char *value,
                             struct lw_error *err)
{
    char *rest;
    double seconds;

    if (strcmp(name, "max-instructions") == 0)
        return read_instructions(value, &limits->instructions)
                   ? LW_OK
                   : LW_FAIL(err, LW_EUSAGE, "expected an integer of 1 or more, such as 1000000, 1M or 1e6, found \"%.40s\"",
                             value);
    errno = 0;
    seconds = strtod(value, &rest);
    if (rest != value && *rest != '\0' && rest[1] == '\0' && strchr("smh", *rest) != NULL) {
        seconds *= *rest == 'm' ? 60 : *rest == 'h' ? 3600 : 1;
        rest++;
    }
    if (*value == '\0' || *rest != '\0' || errno != 0 || !(seconds > 0 && seconds <= LNC_MOST_SECONDS))
        return LW_FAIL(err, LW_EUSAGE, "expected a time above 0 and up to %d seconds, such as 600, 0.5 or 10m, found \"%.40s\"",
                       LNC_MOST_SECONDS, value);
    limits->seconds = seconds;
    return LW_OK;
}

struct lnc_limits lnc_file_limits(const struct lnc_file *file)
{
    return file->limits;
}

bool lnc_file_is_repeatable(const struct lnc_file *file)
{
    return !file->read_once;
}

static enum lw_status read_root(struct lnc_file *file, struct emu_config *config,
                                struct lw_error *err)
{
    static const char *const known[] = {"machine", "program", "buffers", "textures", "steps", "limits", "addresses", NULL};
    const struct lw_yaml *root = lw_yaml_root(file->doc), *node;
    struct emu_config changed = *config;
    enum lw_status status;

    if (root->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(file->doc, root, err,
                            "expected a launch file: a mapping with program, buffers and steps");
    status = lw_yaml_known(file->doc, root, known, err);
    if (status != LW_OK)
        return status;
    status = lnc_machine_read(file->doc, lw_yaml_get(root, "machine"), &changed, err);
    if (status != LW_OK)
        return status;
    node = lw_yaml_get(root, "program");
    if (node == NULL)
        return lw_yaml_fail(file->doc, root, err,
                            "\"program\" is missing: add it, such as program: {source: saxpy.cl}");
    status = read_program(file, node, err);
    if (status != LW_OK)
        return status;
    status = read_buffers(file, lw_yaml_get(root, "buffers"), err);
    if (status != LW_OK)
        return status;
    status = lnc_textures_read(file, lw_yaml_get(root, "textures"), err);
    if (status == LW_OK)
        status = read_limits(file, lw_yaml_get(root, "limits"), err);
    if (status == LW_OK)
        status = read_addresses(file, lw_yaml_get(root, "addresses"), err);
    if (status != LW_OK)
        return status;
    node = lw_yaml_get(root, "steps");
    if (node == NULL)
        return lw_yaml_fail(file->doc, root, err,
                            "\"steps\" is missing: add a list of launch, copy, fill, swap, check and repeat");
    status = lnc_steps_read(file, node, err);
    if (status == LW_OK)
        *config = changed;
    return status;
}

enum lw_status lnc_file_read(struct lnc_file *file, const char *name, const char *folder, const char *text, size_t size,
                             struct emu_config *config, struct lw_error *err)
{
    struct lw_hash hash;
    enum lw_status status;

    file->folder = folder;
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, text, size);
    file->hash = lw_hash_value(&hash);
    status = lw_yaml_parse(name, text, size, &file->doc, err);
    return status == LW_OK ? read_root(file, config, err) : status;
}

enum lw_status lnc_file_load(const char *path, struct emu_config *config,
                             struct lnc_file **out, struct lw_error *err)
{
    struct lnc_file *file = NULL;
    const char *slash = strrchr(path, '/'), *folder;
    char *text = NULL;
    size_t size = 0;
    enum lw_status status = lw_file_read(path, &text, &size, err);

    if (status != LW_OK)
        return status;
    file = calloc(1, sizeof *file);
    if (file == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for this file", path);
        goto cleanup;
    }
    lw_arena_init(&file->arena);
    folder = lw_arena_strndup(&file->arena, path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    if (folder == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for this file", path);
        goto cleanup;
    }
    status = lnc_file_read(file, path, folder, text, size, config, err);
    if (status == LW_OK) {
        *out = file;
        file = NULL;
    }
cleanup:
    free(text);
    lnc_file_destroy(file);
    return status;
}

void lnc_file_destroy(struct lnc_file *file)
{
    if (file == NULL)
        return;
    lw_yaml_destroy(file->doc);
    isa_object_destroy(file->object);
    lw_arena_fini(&file->arena);
    free(file);
}
