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
