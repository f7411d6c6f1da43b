/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that only some GPU models read: which keys a model must have for them. A sweep of a key that nothing reads would
 * be a flat curve. */
#include "timing/tim_priv.h"

#include <stdio.h>

/** A key, or with a final "*" all keys of a name that begins so; and what reads it: alternatives with spaces between,
 *  KEY=VALUE or KEY!=VALUE. */
static const struct {
    const char *key, *readers;
} needs[] = {
    {"swl.set", "swl.on=true issue.policy=swl"},
    {"issue.limit", "swl.on=true issue.policy=swl"},
    {"issue.active", "pools.on=true issue.policy=active_pending"},
    {"issue.group", "issue.policy=two_level"},
    {"issue.outer", "issue.policy=two_level"},
    {"issue.inner", "issue.policy=two_level issue.policy=active_pending"},
    {"issue.yield", "issue.dependence=control"},
    {"issue.barrier_count", "issue.dependence=control"},
    {"issue.depbar_delay", "issue.dependence=control"},
    {"issue.control_stage", "issue.dependence=control"},
    {"issue.stall_*", "issue.dependence=control"},
    {"issue.vm_count", "issue.dependence=counters"},
    {"issue.lgkm_count", "issue.dependence=counters"},
    {"issue.exp_count", "issue.dependence=counters"},
    {"issue.vector_entries", "issue.dependence=vector"},
    {"issue.readers", "issue.war=counters"},
    {"ccws.*", "ccws.on=true"},
    {"daws.*", "daws.on=true"},
    {"belady.*", "belady.on=true"},
    {"dwr.*", "dwr.on=true"},
    {"registers.window", "registers.collector=window"},
    {"registers.rfc", "registers.collector=window"},
    {"registers.results", "registers.collector=window"},
    {"registers.collectors", "registers.collector!=window"},
    {"registers.conflict_free", "registers.collector=reserved"},
    {"registers.in_order", "registers.collector!=window"},
    {"lsu.address", "lsu.local!=0"},
    {"lsu.address_uniform", "lsu.local!=0"},
    {"lsu.interval", "lsu.local!=0"},
    {"fetch.l0_ways", "fetch.l0_bytes!=0"},
    {"fetch.link", "fetch.l0_bytes!=0"},
    {"constant.switch", "constant.l0_bytes!=0"},
    {"constant.l0_ways", "constant.l0_bytes!=0"},
    {"l1.line", "l1.bytes!=0"},
    {"l1.sector", "l1.bytes!=0"},
    {"l1.ways", "l1.bytes!=0"},
    {"l1.hash", "l1.bytes!=0"},
    {"l1.latency", "l1.bytes!=0"},
    {"l1.mshrs", "l1.bytes!=0"},
    {"l1.merges", "l1.bytes!=0"},
    {"l1.global", "l1.bytes!=0"},
    {"l1.store", "l1.bytes!=0"},
    {"l2.ways", "l2.bytes!=0"},
    {"l2.write", "l2.bytes!=0"},
    {"dram.tRFC", "dram.tREFI!=0"},
};

static bool is_of(const char *pattern, const char *key)
{
    const size_t size = strlen(pattern);

    return pattern[size - 1] == '*' ? strncmp(pattern, key, size - 1) == 0 && strstr(key, ".on") == NULL : strcmp(pattern, key) == 0;
}

/** Does the model have what the alternative of @size characters at @text says? */
static bool holds(const struct tim_config *config, const char *text, size_t size)
{
    char copy[64], value[64], *is;
    bool differs;

    snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    is = strchr(copy, '=');
    differs = is[-1] == '!';
    is[differs ? -1 : 0] = '\0';
    return tim_config_value(config, copy, value, sizeof value) && (strcmp(value, is + 1) == 0) != differs;
}

bool tim_config_reads(const struct tim_config *config, const char *assignment, struct lw_sink *out)
{
    char key[64];

    snprintf(key, sizeof key, "%.*s", (int)strcspn(assignment, "="), assignment);
    for (size_t i = 0; i < LW_COUNT_OF(needs); i++) {
        const char *const readers = needs[i].readers;

        if (!is_of(needs[i].key, key))
            continue;
        for (const char *at = readers; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
            if (holds(config, at, strcspn(at, " ")))
                return true;
        lw_printf(out, "%s: the model does not read it: only one with ", key);
        for (const char *at = readers; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
            lw_printf(out, "%s%.*s", at != readers ? " or " : "", (int)strcspn(at, " "), at);
        lw_put(out, " does");
        return false;
    }
    return true;
}
