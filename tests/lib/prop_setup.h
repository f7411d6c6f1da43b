/* SPDX-License-Identifier: Apache-2.0 */
/* Random machine configurations for property tests. None of the options that vary may change the results of a program. */
#ifndef PROP_SETUP_H
#define PROP_SETUP_H

#include "emu/emu.h"
#include "tests/isa/prop_isa_random.h"

struct setup {
    const char *reconv, *push_order, *policy;
    unsigned level, quantum, window;
    bool merge, watched;
    enum emu_tag_mode tags;
    enum emu_tag_rules rules;
    enum emu_tag_expansion expansion;
    enum emu_tag_plan plan;
};

static inline const char *setup_name(struct prop_random *r, const char *const *names)
{
    unsigned count = 0;

    while (names[count] != NULL)
        count++;
    return names[prop_below(r, count)];
}

static inline struct setup setup_random(struct prop_random *r, unsigned level, bool watched)
{
    static const unsigned windows[] = {0, 7, 64, 1024};
    struct setup s = {.level = level, .watched = watched};

    s.reconv = setup_name(r, emu_reconv_names);
    s.push_order = setup_name(r, emu_push_order_names);
    s.policy = setup_name(r, emu_policy_names);
    s.quantum = prop_below(r, 3) ? 0 : 1 + prop_below(r, 9);
    s.window = windows[prop_below(r, LW_COUNT_OF(windows))];
    s.merge = prop_below(r, 3) != 0;
    s.tags = (enum emu_tag_mode)prop_below(r, 3);
    s.rules = (enum emu_tag_rules)prop_below(r, 3);
    s.expansion = (enum emu_tag_expansion)prop_below(r, 2);
    s.plan = (enum emu_tag_plan)prop_below(r, 2);
    return s;
}

static inline void setup_apply(const struct setup *s, struct emu_config *config)
{
    config->level = s->level;
    config->reconv = s->reconv;
    config->push_order = s->push_order;
    config->policy = s->policy;
    config->split_quantum = s->quantum;
    config->fairness_window = s->window;
    config->merge = s->merge;
    config->tags = s->tags;
    config->tag_rules = s->rules;
    config->tag_expansion = s->expansion;
    config->tag_plan = s->plan;
}

static inline void setup_print(const struct setup *s, char *text, size_t size)
{
    snprintf(text, size, "level v%u, %s (%s), policy %s, quantum %u, window %u, merge %s, tags %s, "
             "rules %s, %s, plan %s, %s path", s->level, s->reconv, s->push_order, s->policy, s->quantum,
             s->window, s->merge ? "on" : "off", emu_tag_mode_names[s->tags],
             emu_tag_rules_names[s->rules], emu_tag_expansion_names[s->expansion],
             emu_tag_plan_names[s->plan],
             s->watched ? "watched" : "fast");
}

/** Return a configuration in which kernels can run in native code. */
static inline struct setup setup_native(struct prop_random *r)
{
    static const unsigned windows[] = {0, 7, 64, 1024, 1024, 1024};
    struct setup s = {.reconv = "cbar", .push_order = "smaller", .merge = prop_below(r, 4) != 0};

    s.policy = prop_below(r, 2) ? setup_name(r, emu_policy_names) : "converge";
    s.quantum = prop_below(r, 3) ? 0 : 1 + prop_below(r, 90);
    s.window = windows[prop_below(r, LW_COUNT_OF(windows))];
    return s;
}

/** Counts and final state of a run, which are equal in native code and in the interpreter. */
struct setup_counts {
    struct emu_stats stats;
    uint64_t hash_state;
};
static inline struct setup_counts setup_counts_get(struct emu_machine *machine)
{
    struct setup_counts counts = {.hash_state = emu_hash_state(machine)};

    emu_stats_get(machine, &counts.stats);
    return counts;
}
/** Return true if the counts of a run with native code equal those of a run in the interpreter. Otherwise set @why. */
static inline bool setup_counts_agree(const struct setup_counts *with, const struct setup_counts *without, char *why, size_t size)
{
    for (size_t i = 0; i < emu_stat_row_count; i++) {
        uint64_t have, want;
        memcpy(&have, (const char *)&with->stats + emu_stat_rows[i].offset, sizeof have);
        memcpy(&want, (const char *)&without->stats + emu_stat_rows[i].offset, sizeof want);
        if (have != want) {
            snprintf(why, size, "%s: %" PRIu64 ", in the interpreter %" PRIu64, emu_stat_rows[i].name, have, want);
            return false;
        }
    }
    if (with->hash_state != without->hash_state)
        snprintf(why, size, "the state differs from that of the interpreter");
    return with->hash_state == without->hash_state;
}

/** Return whether this processor and this build support the level. */
static inline bool setup_have_level(unsigned level)
{
    struct emu_config probe;
    struct emu_machine *machine;

    emu_config_default(&probe);
    probe.level = level;
    probe.arena_bytes = 1 << 20;
    if (emu_machine_create(&probe, &machine, NULL) != LW_OK)
        return false;
    emu_machine_destroy(machine);
    return true;
}

#endif
