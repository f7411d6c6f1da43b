/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the `machine:` part of a launch file. */
#include "launch/launch_priv.h"

#include <stdio.h>

/* Reads a value that must be one of the NULL-terminated list @names. Sets *@out to the list's own string. */
static enum lw_status read_name(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                const char *const *names, const char **out,
                                struct lw_error *err)
{
    const char *text, *near;
    char list[256] = "";
    size_t count = 0, used = 0;
    enum lw_status status = lw_yaml_string(doc, node, &text, err);

    if (status != LW_OK)
        return status;
    for (; names[count] != NULL; count++) {
        int more;

        if (strcmp(names[count], text) == 0) {
            *out = names[count];
            return LW_OK;
        }
        more = snprintf(list + used, sizeof list - used, "%s%s", count != 0 ? ", " : "",
                        names[count]);
        if (more > 0 && (size_t)more < sizeof list - used)
            used += (size_t)more;
    }
    near = lw_suggest(text, names, count, sizeof *names);
    if (near != NULL)
        return lw_yaml_fail(doc, node, err, "%s: unknown name \"%.60s\"; did you mean \"%s\"?",
                            node->key, text, near);
    return lw_yaml_fail(doc, node, err, "%s: unknown name \"%.60s\"; the names are %s", node->key,
                        text, list);
}

enum lw_status lnc_machine_read(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                struct emu_config *config, struct lw_error *err)
{
    static const char *const known[] = {
        "warp",           "policy",       "reconv", "quantum",     "window",      "merge",
        "resident_warps", "warp_quantum", "memory", "hang_window", "scalar_rule", "level",
        "push_order",     "tags",         "tag_rules", "tag_expansion", "tag_plan",
        "launch_depth",   "pending_launches", "heap_bytes", "fairness_limit", "hang_limit", "child_order", "child_seed", NULL};
    static const char *const rules[] = {"fault", "warn", "allow", NULL};
    static const enum emu_scalar_rule rule_values[] = {EMU_SCALAR_FAULT, EMU_SCALAR_WARN,
                                                       EMU_SCALAR_ALLOW};
    /* Keys whose values are plain numbers: key, range, destination (32 or 64 bits). */
    const struct {
        const char *key;
        uint64_t low, high;
        unsigned *narrow;
        uint64_t *wide;
    } numbers[] = {
        {"quantum", 0, 1u << 30, &config->split_quantum, NULL},
        {"window", 0, 1u << 30, &config->fairness_window, NULL}, /* the former name */
        {"fairness_limit", 0, 1u << 30, &config->fairness_window, NULL},
        {"resident_warps", 1, 1u << 20, &config->resident_warps, NULL},
        {"warp_quantum", 1, 32768, &config->warp_quantum, NULL},
        {"memory", 1u << 20, UINT64_C(1) << 44, NULL, &config->arena_bytes},
        {"hang_window", 0, UINT64_MAX, NULL, &config->hang_window}, /* the former name */
        {"hang_limit", 0, UINT64_MAX, NULL, &config->hang_window},
        {"launch_depth", 0, 63, &config->launch_depth, NULL},
        {"pending_launches", 1, 1u << 20, &config->pending_launches, NULL},
        {"heap_bytes", 0, UINT32_MAX, &config->heap_bytes, NULL},
        {"child_seed", 0, UINT32_MAX, &config->child_seed, NULL},
    };
    unsigned tags = config->tags, rules_of_tags = config->tag_rules;
    unsigned expansion = config->tag_expansion, plan = config->tag_plan, children = config->child_order;
    const struct {
        const char *key;
        const char *const *names;
        unsigned *out;
    } choices[] = {
        {"tags", emu_tag_mode_names, &tags},
        {"tag_rules", emu_tag_rules_names, &rules_of_tags},
        {"tag_expansion", emu_tag_expansion_names, &expansion},
        {"tag_plan", emu_tag_plan_names, &plan},
        {"child_order", emu_child_order_names, &children},
    };
    const struct lw_yaml *n;
    enum lw_status status;
    uint64_t value;

    if (node == NULL)
        return LW_OK;
    if (node->kind != LW_YAML_MAPPING)
        return lw_yaml_fail(doc, node, err,
                            "machine: expected a mapping such as {warp: 32, policy: rr}");
    status = lw_yaml_known(doc, node, known, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; i < LW_COUNT_OF(numbers); i++) {
        n = lw_yaml_get(node, numbers[i].key);
        if (n == NULL)
            continue;
        status = lw_yaml_u64(doc, n, numbers[i].low, numbers[i].high, &value, err);
        if (status != LW_OK)
            return status;
        if (numbers[i].narrow != NULL)
            *numbers[i].narrow = (unsigned)value;
        else
            *numbers[i].wide = value;
    }
    if ((n = lw_yaml_get(node, "warp")) != NULL) {
        status = lw_yaml_u64(doc, n, 4, EMU_MAX_LANES, &value, err);
        if (status == LW_OK && lw_popcount(value) != 1)
            status = lw_yaml_fail(doc, n, err, "warp: expected 4, 8, 16, 32 or 64, found %u",
                                  (unsigned)value);
        if (status != LW_OK)
            return status;
        config->warp_width = (unsigned)value;
    }
    if ((n = lw_yaml_get(node, "level")) != NULL) {
        status = lw_yaml_u64(doc, n, 0, 4, &value, err);
        if (status == LW_OK && value == 2)
            status = lw_yaml_fail(doc, n, err, "level: expected 0 (the best of this processor), 1, 3 or 4, found 2");
        if (status != LW_OK)
            return status;
        config->level = (unsigned)value;
    }
    if ((n = lw_yaml_get(node, "merge")) != NULL) {
        status = lw_yaml_bool(doc, n, &config->merge, err);
        if (status != LW_OK)
            return status;
    }
    if ((n = lw_yaml_get(node, "policy")) != NULL) {
        status = read_name(doc, n, emu_policy_names, &config->policy, err);
        if (status != LW_OK)
            return status;
    }
    if ((n = lw_yaml_get(node, "reconv")) != NULL) {
        status = read_name(doc, n, emu_reconv_names, &config->reconv, err);
        if (status != LW_OK)
            return status;
    }
    if ((n = lw_yaml_get(node, "push_order")) != NULL) {
        status = read_name(doc, n, emu_push_order_names, &config->push_order, err);
        if (status != LW_OK)
            return status;
    }
    for (unsigned i = 0; i < LW_COUNT_OF(choices); i++) {
        const char *name;

        if ((n = lw_yaml_get(node, choices[i].key)) == NULL)
            continue;
        status = read_name(doc, n, choices[i].names, &name, err);
        if (status != LW_OK)
            return status;
        for (unsigned k = 0; choices[i].names[k] != NULL; k++)
            if (choices[i].names[k] == name)
                *choices[i].out = k;
    }
    config->tags = (enum emu_tag_mode)tags;
    config->tag_rules = (enum emu_tag_rules)rules_of_tags;
    config->tag_expansion = (enum emu_tag_expansion)expansion;
    config->tag_plan = (enum emu_tag_plan)plan;
    config->child_order = (enum emu_child_order)children;
    if ((n = lw_yaml_get(node, "scalar_rule")) != NULL) {
        const char *name;

        status = read_name(doc, n, rules, &name, err);
        if (status != LW_OK)
            return status;
        for (unsigned i = 0; rules[i] != NULL; i++)
            if (rules[i] == name)
                config->scalar_rule = rule_values[i];
    }
    return LW_OK;
}
