/* SPDX-License-Identifier: Apache-2.0 */
/* The YAML reader: builds a tree of nodes with line numbers from the events of libyaml's parser. YAML features that readers of a
 * file easily misunderstand are errors: aliases, tags, several documents and repeated keys. */
#include "base/lw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <yaml.h>

enum {
    MAX_DEPTH = 32,
    MAX_KEYS = 8192 /* keys of one mapping, more than a recorded launch has buffers; limited because repeated keys are found by
                     * a linear search */
};

struct lw_yaml_document {
    struct lw_arena arena;
    const char *name;
    struct lw_yaml *root;
};

/* A mapping or sequence whose end has not been read yet. */
struct level {
    struct lw_yaml *node, *last;
    const char *key; /* key whose value has not been read yet, or NULL if there is no such key */
    unsigned key_line;
};

static unsigned mark_line(yaml_mark_t mark)
{
    return mark.line < UINT32_MAX ? (unsigned)mark.line + 1 : UINT32_MAX;
}

/* Appends @node to the children of @level. */
static void attach(struct level *level, struct lw_yaml *node)
{
    node->key = level->key;
    node->key_line = level->key_line;
    level->key = NULL;
    if (level->last == NULL)
        level->node->first = node;
    else
        level->last->next = node;
    level->last = node;
    level->node->count++;
}

static enum lw_status refuse(const char *name, yaml_mark_t mark, struct lw_error *err,
                             const char *what)
{
    return LW_FAIL(err, LW_EUNSUPP, "%s:%u: %s", name, mark_line(mark), what);
}

/* Returns an error if the node of an event has an anchor or a tag. */
static enum lw_status check_properties(const char *name, const yaml_event_t *event,
                                       struct lw_error *err)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor != NULL)
        return LW_FAIL(err, LW_EUNSUPP,
                       "%s:%u: the anchor \"&%.40s\" is not supported: write the value itself",
                       name, mark_line(event->start_mark), (const char *)anchor);
    if (tag != NULL)
        return LW_FAIL(err, LW_EUNSUPP,
                       "%s:%u: the tag \"%.40s\" is not supported: remove it", name,
                       mark_line(event->start_mark), (const char *)tag);
    return LW_OK;
}

static enum lw_status take_key(struct lw_yaml_document *doc, struct level *level,
                               const yaml_event_t *event, struct lw_error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    unsigned line = mark_line(event->start_mark);

    if (level->node->count >= MAX_KEYS)
        return LW_FAIL(err, LW_EUNSUPP, "%s:%u: the mapping has more than %d keys", doc->name,
                       line, MAX_KEYS);
    for (const struct lw_yaml *n = level->node->first; n != NULL; n = n->next)
        if (strcmp(n->key, text) == 0)
            return LW_FAIL(err, LW_EINPUT,
                           "%s:%u: the key \"%.60s\" is given twice; the first is on line %u",
                           doc->name, line, text, n->key_line);
    level->key = lw_arena_strdup(&doc->arena, text);
    level->key_line = line;
    if (level->key == NULL)
        return LW_FAIL(err, LW_ENOMEM, "%s:%u: the host has no memory for this file", doc->name, line);
    return LW_OK;
}

static enum lw_status take_node(struct lw_yaml_document *doc, struct level *stack,
                                unsigned *depth, const yaml_event_t *event,
                                struct lw_error *err)
{
    unsigned line = mark_line(event->start_mark);
    struct level *level = *depth != 0 ? &stack[*depth - 1] : NULL;
    struct lw_yaml *node;
    enum lw_status status = check_properties(doc->name, event, err);

    if (status != LW_OK)
        return status;
    if (event->type == YAML_SCALAR_EVENT &&
        memchr(event->data.scalar.value, 0, event->data.scalar.length) != NULL)
        return LW_FAIL(err, LW_EINPUT, "%s:%u: the value contains a zero byte (\\0): remove it", doc->name, line);
    if (level != NULL && level->node->kind == LW_YAML_MAPPING && level->key == NULL) {
        if (event->type != YAML_SCALAR_EVENT)
            return LW_FAIL(err, LW_EUNSUPP,
                           "%s:%u: a list or mapping cannot be a key: a key must be a word",
                           doc->name, line);
        return take_key(doc, level, event, err);
    }
    node = lw_arena_alloc(&doc->arena, sizeof *node);
    if (node == NULL)
        return LW_FAIL(err, LW_ENOMEM, "%s:%u: the host has no memory for this file", doc->name, line);
    node->line = line;
    if (level != NULL)
        attach(level, node);
    else
        doc->root = node;
    if (event->type == YAML_SCALAR_EVENT) {
        node->kind = LW_YAML_SCALAR;
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = lw_arena_strndup(&doc->arena, (const char *)event->data.scalar.value,
                                      event->data.scalar.length);
        if (node->text == NULL)
            return LW_FAIL(err, LW_ENOMEM, "%s:%u: the host has no memory for this file", doc->name, line);
        return LW_OK;
    }
    node->kind =
        event->type == YAML_MAPPING_START_EVENT ? LW_YAML_MAPPING : LW_YAML_SEQUENCE;
    if (*depth == MAX_DEPTH)
        return LW_FAIL(err, LW_EUNSUPP, "%s:%u: lists and mappings are nested more than %d deep", doc->name, line,
                       MAX_DEPTH);
    stack[(*depth)++] = (struct level){.node = node};
    return LW_OK;
}

static enum lw_status take_event(struct lw_yaml_document *doc, struct level *stack,
                                 unsigned *depth, const yaml_event_t *event,
                                 struct lw_error *err)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (doc->root != NULL)
            return refuse(doc->name, event->start_mark, err,
                          "a second document (\"---\") is not supported: put it into a file of its own");
        if (event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end)
            return refuse(doc->name, event->start_mark, err,
                          "a %TAG directive is not supported: remove it");
        return LW_OK;
    case YAML_ALIAS_EVENT:
        return LW_FAIL(err, LW_EUNSUPP,
                       "%s:%u: the alias \"*%.40s\" is not supported: write the value itself",
                       doc->name, mark_line(event->start_mark),
                       (const char *)event->data.alias.anchor);
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return take_node(doc, stack, depth, event, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        (*depth)--;
        return LW_OK;
    default:
        return LW_OK;
    }
}

/** Returns true if a tab follows the leading spaces of line @line, counted from 0. */
static bool indents_by_tab(const char *text, size_t size, size_t line)
{
    size_t at = 0;

    for (; line != 0 && at < size; at++)
        line -= text[at] == '\n';
    while (at < size && text[at] == ' ')
        at++;
    return at < size && text[at] == '\t';
}

enum lw_status lw_yaml_parse(const char *name, const char *text, size_t size,
                             struct lw_yaml_document **out, struct lw_error *err)
{
    enum lw_status status = LW_OK;
    struct lw_yaml_document *doc = NULL;
    struct level stack[MAX_DEPTH];
    unsigned depth = 0;
    yaml_parser_t parser;
    bool end = false;

    if (!yaml_parser_initialize(&parser))
        return LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for this file", name);
    doc = calloc(1, sizeof *doc);
    if (doc == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for this file", name);
        goto cleanup;
    }
    lw_arena_init(&doc->arena);
    doc->name = lw_arena_strdup(&doc->arena, name);
    if (doc->name == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for this file", name);
        goto cleanup;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    while (!end && status == LW_OK) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event)) {
            unsigned line = mark_line(parser.problem_mark);

            if (parser.error == YAML_MEMORY_ERROR)
                status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for this file", name);
            else if (parser.error == YAML_READER_ERROR)
                status = LW_FAIL(err, LW_EINPUT, "%s: the file is not text in UTF-8: %s at byte %zu", name,
                                 parser.problem, parser.problem_offset);
            else if (indents_by_tab(text, size, parser.problem_mark.line))
                status = LW_FAIL(err, LW_EINPUT, "%s:%u: a tab cannot be used for indentation in YAML: use blanks",
                                 name, line);
            else if (parser.context != NULL && parser.context_mark.line != parser.problem_mark.line)
                status = LW_FAIL(err, LW_EINPUT, "%s:%u: YAML syntax: %s %s that started on line %u", name,
                                 line, parser.problem, parser.context,
                                 mark_line(parser.context_mark));
            else
                status = LW_FAIL(err, LW_EINPUT, "%s:%u: YAML syntax: %s%s%s", name, line,
                                 parser.problem != NULL ? parser.problem : "not YAML",
                                 parser.context != NULL ? " " : "",
                                 parser.context != NULL ? parser.context : "");
            break;
        }
        end = event.type == YAML_STREAM_END_EVENT;
        status = take_event(doc, stack, &depth, &event, err);
        yaml_event_delete(&event);
    }
    if (status == LW_OK && doc->root == NULL)
        status = LW_FAIL(err, LW_EINPUT, "%s:1: the file is empty", name);
    if (status == LW_OK) {
        *out = doc;
        doc = NULL;
    }
cleanup:
    lw_yaml_destroy(doc);
    yaml_parser_delete(&parser);
    return status;
}

void lw_yaml_destroy(struct lw_yaml_document *document)
{
    if (document == NULL)
        return;
    lw_arena_fini(&document->arena);
    free(document);
}

const struct lw_yaml *lw_yaml_root(const struct lw_yaml_document *document)
{
    return document->root;
}

const char *lw_yaml_name(const struct lw_yaml_document *document)
{
    return document->name;
}

const struct lw_yaml *lw_yaml_get(const struct lw_yaml *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != LW_YAML_MAPPING)
        return NULL;
    for (const struct lw_yaml *n = mapping->first; n != NULL; n = n->next)
        if (strcmp(n->key, key) == 0)
            return n;
    return NULL;
}

/* Returns the line for messages about @node. For a mapping or list, the result is the line of the key, because users search for
 * the key, and the value may start on the next line. */
static unsigned node_line(const struct lw_yaml *node)
{
    if (node == NULL)
        return 1;
    return node->key != NULL && node->kind != LW_YAML_SCALAR ? node->key_line : node->line;
}

enum lw_status lw_yaml_fail(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            struct lw_error *err, const char *fmt, ...)
{
    char text[LW_ERROR_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return LW_FAIL(err, LW_EINPUT, "%s:%u: %s", document->name, node_line(node), text);
}

enum lw_status lw_yaml_known(const struct lw_yaml_document *document,
                             const struct lw_yaml *mapping, const char *const *known,
                             struct lw_error *err)
{
    size_t count = 0;

    while (known[count] != NULL)
        count++;
    for (const struct lw_yaml *n = mapping->first; n != NULL; n = n->next) {
        const char *near, *key = n->key != NULL ? n->key : "";
        char list[256] = "";
        bool found = false;

        for (size_t i = 0; i < count && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (found)
            continue;
        near = lw_suggest(key, known, count, sizeof *known);
        if (near != NULL)
            return LW_FAIL(err, LW_EINPUT,
                           "%s:%u: unknown key \"%.60s\"; did you mean \"%s\"?",
                           document->name, n->key_line, key, near);
        for (size_t i = 0, used = 0; i < count; i++) {
            int more = snprintf(list + used, sizeof list - used, "%s%s", i != 0 ? ", " : "",
                                known[i]);
            if (more < 0 || (size_t)more >= sizeof list - used)
                break;
            used += (size_t)more;
        }
        return LW_FAIL(err, LW_EINPUT, "%s:%u: unknown key \"%.60s\"; the keys here are: %s",
                       document->name, n->key_line, key, list);
    }
    return LW_OK;
}

/* Describes the value of @node for a message. The result is constant or is stored in @text. */
static const char *found_text(const struct lw_yaml *node, char text[64])
{
    if (node->kind == LW_YAML_SEQUENCE)
        return "a list";
    if (node->kind == LW_YAML_MAPPING)
        return "a mapping";
    if (*node->text == '\0' && !node->quoted)
        return "nothing";
    if (node->quoted)
        snprintf(text, 64, "the text \"%.40s\"", node->text);
    else
        snprintf(text, 64, "\"%.40s\"", node->text);
    return text;
}

static enum lw_status wrong(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            struct lw_error *err, const char *expected)
{
    char text[64];

    return lw_yaml_fail(document, node, err, "%.60s%sexpected %s, found %s",
                        node->key != NULL ? node->key : "", node->key != NULL ? ": " : "",
                        expected, found_text(node, text));
}

static bool plain(const struct lw_yaml *node)
{
    return node->kind == LW_YAML_SCALAR && !node->quoted;
}

enum lw_status lw_yaml_u64(const struct lw_yaml_document *document, const struct lw_yaml *node,
                           uint64_t low, uint64_t high, uint64_t *out, struct lw_error *err)
{
    uint64_t value;
    char expected[96];

    if (plain(node) && lw_parse_u64(node->text, &value) && value >= low && value <= high) {
        *out = value;
        return LW_OK;
    }
    if (high == UINT64_MAX && low == 0)
        snprintf(expected, sizeof expected, "an integer of 0 or more");
    else if (high == UINT64_MAX)
        snprintf(expected, sizeof expected, "an integer of %llu or more",
                 (unsigned long long)low);
    else
        snprintf(expected, sizeof expected, "an integer from %llu to %llu",
                 (unsigned long long)low, (unsigned long long)high);
    return wrong(document, node, err, expected);
}

enum lw_status lw_yaml_i64(const struct lw_yaml_document *document, const struct lw_yaml *node,
                           int64_t low, int64_t high, int64_t *out, struct lw_error *err)
{
    int64_t value;
    char expected[96];

    if (plain(node) && lw_parse_i64(node->text, &value) && value >= low && value <= high) {
        *out = value;
        return LW_OK;
    }
    snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)low,
             (long long)high);
    return wrong(document, node, err, expected);
}

enum lw_status lw_yaml_double(const struct lw_yaml_document *document,
                              const struct lw_yaml *node, double *out, struct lw_error *err)
{
    if (plain(node) && *node->text != '\0') {
        const char *text = node->text;
        bool sign = *text == '-' || *text == '+';
        uint64_t integer;
        double value;
        char *end;

        if (lw_parse_u64(text + sign, &integer)) {
            value = (double)integer;
            *out = *text == '-' ? -value : value;
            return LW_OK;
        }
        /* In YAML, infinity is written .inf, and not-a-number .nan. */
        if (strcasecmp(text + sign, ".inf") == 0 || strcasecmp(text + sign, ".nan") == 0) {
            value = strtod(text + sign + 1, NULL);
            *out = *text == '-' ? -value : value;
            return LW_OK;
        }
        value = strtod(text, &end);
        if (*end == '\0') {
            *out = value;
            return LW_OK;
        }
    }
    return wrong(document, node, err, "a number");
}

enum lw_status lw_yaml_bool(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            bool *out, struct lw_error *err)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes"};

    if (plain(node))
        for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
            if (strcasecmp(node->text, words[i]) == 0) {
                *out = i % 2 != 0;
                return LW_OK;
            }
    return wrong(document, node, err, "true or false (on or off)");
}

enum lw_status lw_yaml_string(const struct lw_yaml_document *document,
                              const struct lw_yaml *node, const char **out,
                              struct lw_error *err)
{
    if (node->kind == LW_YAML_SCALAR && (node->quoted || *node->text != '\0')) {
        *out = node->text;
        return LW_OK;
    }
    return wrong(document, node, err, "a text");
}
