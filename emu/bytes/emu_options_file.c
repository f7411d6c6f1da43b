/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's options in files: a log or checkpoint can only be loaded on a machine with the same options. */
#include "emu/bytes/emu_bytes_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* Every member of struct emu_config, in order. NUMBER and TEXT (the option's type): results depend on the option, so it is
 * written. FREE: results do not depend on the option, and it is not written. */
#define OPTIONS(NUMBER, TEXT, FREE)                                                           \
    NUMBER(warp_width, "warp")                                                                \
    TEXT(reconv, "reconv")                                                                    \
    TEXT(push_order, "push_order")                                                            \
    TEXT(policy, "policy")                                                                    \
    NUMBER(split_quantum, "quantum")                                                          \
    NUMBER(fairness_window, "window")                                                         \
    NUMBER(merge, "merge")                                                                    \
    NUMBER(resident_warps, "resident_warps")                                                  \
    NUMBER(warp_quantum, "warp_quantum")                                                      \
    NUMBER(arena_bytes, "memory")                                                             \
    FREE(hang_window, "hang_window")                                                          \
    NUMBER(scalar_rule, "scalar_rule")                                                        \
    FREE(level, "level")                                                                      \
    FREE(tags, "tags")                                                                        \
    FREE(tag_rules, "tag_rules")                                                              \
    FREE(tag_expansion, "tag_expansion")                                                      \
    FREE(tag_plan, "tag_plan")                                                            \
    NUMBER(launch_depth, "launch_depth")                                                      \
    NUMBER(pending_launches, "pending_launches")                                              \
    NUMBER(child_order, "child_order")                                                        \
    NUMBER(child_seed, "child_seed")                                                          \
    NUMBER(heap_bytes, "heap_bytes")

#define MEMBER(member, key) __typeof__(((struct emu_config *)0)->member) member;
struct mirror {
    OPTIONS(MEMBER, MEMBER, MEMBER)
};
_Static_assert(sizeof(struct mirror) == sizeof(struct emu_config),
               "a member of emu_config is missing in OPTIONS");

static const char *text_or_none(const char *text)
{
    return text != NULL ? text : "";
}

void emu_config_put(struct emu_bytes *bytes, const struct emu_config *config)
{
#define ONE(member, key) +1
#define NONE(member, key)
    emu_put_number(bytes, 0 OPTIONS(ONE, ONE, NONE));
#define PUT_NUMBER(member, key)                                                               \
    emu_put_text(bytes, key);                                                                 \
    emu_put_number(bytes, 0);                                                                 \
    emu_put_number(bytes, (uint64_t)config->member);
#define PUT_TEXT(member, key)                                                                 \
    emu_put_text(bytes, key);                                                                 \
    emu_put_number(bytes, 1);                                                                 \
    emu_put_text(bytes, text_or_none(config->member));
    OPTIONS(PUT_NUMBER, PUT_TEXT, NONE)
}

/** Formats the value that option @key has on this machine. Returns false if the option does not exist. */
static bool value_of(const struct emu_config *config, const char *key, char *text, size_t size)
{
#define SHOW_NUMBER(member, name)                                                             \
    if (strcmp(key, name) == 0) {                                                             \
        snprintf(text, size, "%llu", (unsigned long long)config->member);                     \
        return true;                                                                          \
    }
#define SHOW_TEXT(member, name)                                                               \
    if (strcmp(key, name) == 0) {                                                             \
        snprintf(text, size, "%s", text_or_none(config->member));                                          \
        return true;                                                                          \
    }
    OPTIONS(SHOW_NUMBER, SHOW_TEXT, NONE)
    return false;
}

/** Reads one option of a file: its name, and its value as text. Returns false if the file is damaged there. */
static bool get_option(struct emu_reader *reader, char key[40], char value[40])
{
    emu_get_text(reader, key, 40);
    if (emu_get_limited(reader, 1) != 0)
        emu_get_text(reader, value, 40);
    else
        snprintf(value, 40, "%llu", (unsigned long long)emu_get_number(reader));
    return !reader->bad;
}

void emu_config_get(struct emu_reader *reader, struct emu_config *config, const char *(*name)(const char *key, const char *text))
{
    uint64_t count = emu_get_limited(reader, 100);
    char key[40], value[40];

    for (uint64_t i = 0; i < count && get_option(reader, key, value); i++) {
#define TAKE_NUMBER(member, own)                                                              \
        if (strcmp(key, own) == 0)                                                            \
            config->member = (__typeof__(config->member))strtoull(value, NULL, 10);
#define TAKE_TEXT(member, own)                                                                \
        if (strcmp(key, own) == 0 && name(key, value) != NULL)                                \
            config->member = name(key, value);
        OPTIONS(TAKE_NUMBER, TAKE_TEXT, NONE)
    }
}

enum lw_status emu_config_match(struct emu_reader *reader, const struct emu_config *config,
                                const char *name, struct lw_error *err)
{
    uint64_t count = emu_get_limited(reader, 100), known = 0 OPTIONS(ONE, ONE, NONE);
    char key[40], theirs[40], mine[40];

    for (uint64_t i = 0; i < count && !reader->bad; i++) {
        if (!get_option(reader, key, theirs))
            break;
        if (!value_of(config, key, mine, sizeof mine))
            return LW_FAIL(err, LW_EINPUT, "file %s was written with the option %s, which this version does not have",
                           name, key);
        if (strcmp(mine, theirs) != 0)
            return LW_FAIL(err, LW_EINPUT, "file %s was written with option %s=%s, but in this run the option is %s: use "
                                           "the same options",
                           name, key, theirs, mine);
    }
    if (reader->bad)
        return LW_FAIL(err, LW_EFORMAT, "file %s is damaged: its list of options cannot be read", name);
    if (count != known)
        return LW_FAIL(err, LW_EINPUT, "file %s was written by another version of this program: it has %llu options, "
                                       "but this version has %llu", name, (unsigned long long)count,
                       (unsigned long long)known);
    return LW_OK;
}
