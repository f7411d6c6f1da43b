/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of mechanisms without a core: the test calls the hooks that a core would call. */
#ifndef MECH_FIXTURE_H
#define MECH_FIXTURE_H

#include "tests/timing/tim_run.h"

/* Kernel in which each lane repeatedly reads from 32 bytes of its own. */
#define MECH_THRASH \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v1, v1, 5\n" \
    "v_mov_b32 v12, 0\n" \
    "loop:\n" \
    "ld.global.b32 v3, [s4:5+v1]\n" \
    "v_add_u32 v4, v3, 1\n" \
    "v_add_u32 v12, v12, 1\n" \
    "v_setp_u32.lt p0, v12, 20\n" \
    "@p0 bra loop\n" \
    "exit\n.end\n"

/** Settings of a model, separated by blanks, and a part of the error message with which they are refused. */
struct mech_refused {
    const char *set, *message;
};
/** Asserts that the default model with @base and each of the settings is refused. */
static inline void mech_assert_refused(const char *base, const struct mech_refused *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tim_config *config = NULL;
        struct lw_error err;
        char copy[256], *at = copy;

        fix_check(tim_config_default(&config, &err), &err);
        snprintf(copy, sizeof copy, "%s %s", base, cases[i].set);
        for (char *word = strsep(&at, " "); word != NULL; word = strsep(&at, " "))
            fix_check(tim_config_set(config, word, &err), &err);
        assert_int_equal(tim_config_check(config, &err), LW_EINPUT);
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("expected the message %s, found: %s", cases[i].message, err.text);
        tim_config_destroy(config);
    }
}

struct mech_core {
    struct tim_config *config;
    struct tim_mechs mechs;
    uint64_t count[TIM_CORE_COUNT];
    struct tim_histogram histogram[TIM_CORE_H_COUNT];
    struct tim_mech_warp warp[TIM_MAX_WARPS];
    struct tim_cache *l1;
    uint64_t lane_at[TIM_MAX_WARPS]; /* pc at which a lane of the warp waits, or 0 if no lane waits */
    uint64_t run_at[TIM_MAX_WARPS];  /* pc of the warp's lanes that run */
    struct tim_code code;            /* code from pc 0 on, with the loops that mech_loops() has set */
    uint64_t instructions;
    uint32_t changes;  /* number of calls of mech_changes() */
    uint64_t assigned; /* number of warps assigned to slots so far */
    bool waits_for_registers[TIM_MAX_WARPS]; /* the warp's next instruction cannot issue, even if all mechanisms permit its
                                              * issue */
    unsigned free_mshrs;                     /* number of free MSHRs of L1 */
    bool crossbar_is_full;
    unsigned block[TIM_MAX_WARPS];           /* index of the block of the warp in each warp slot */
};
static const struct tim_static mech_load = {.path = TIM_PATH_MEMORY, .type = TIM_TYPE_MEMORY, .load = true};
static const struct tim_static mech_store = {.path = TIM_PATH_MEMORY, .type = TIM_TYPE_MEMORY, .writes = true};
static const struct tim_static mech_branch = {.path = TIM_PATH_NONE, .type = TIM_TYPE_BRANCH, .flow = true};
static const struct tim_static mech_alu = {.path = TIM_PATH_COLLECT, .type = TIM_TYPE_VECTOR};

static void mech_look(const void *context, unsigned warp, struct tim_mech_warp *out)
{
    *out = ((const struct mech_core *)context)->warp[warp];
}

static struct tim_mech_away mech_away(const void *context, unsigned sched, unsigned word, uint64_t set)
{
    const struct mech_core *m = context;
    struct tim_mech_away out = {0, 0, 0};

    for (LW_EACH_BIT(b, set)) {
        const struct tim_mech_warp *w = &m->warp[(word * 64 + (unsigned)b) * m->config->issue_schedulers + sched];

        if (!w->used || w->ended)
            out.gone |= UINT64_C(1) << b;
        else if (w->reason == TIM_STALL_FENCE || (w->reason == TIM_STALL_LOAD && w->misses))
            out.memory |= UINT64_C(1) << b;
        else if (w->reason == TIM_STALL_BARRIER || w->reason == TIM_STALL_SLEEP || w->reason == TIM_STALL_LAUNCH)
            out.others |= UINT64_C(1) << b;
    }
    return out;
}

static uint32_t mech_changes(const void *context)
{
    return ++((struct mech_core *)(uintptr_t)context)->changes;
}

static const struct tim_static *mech_next(const void *context, unsigned warp)
{
    return ((const struct mech_core *)context)->warp[warp].next;
}

static bool mech_inside(const void *context, unsigned warp, uint64_t from, uint64_t to)
{
    const struct mech_core *m = context;
    const uint64_t waits = m->lane_at[warp], runs = m->run_at[warp];

    return (waits != 0 && waits >= from && waits <= to) || (runs != 0 && runs >= from && runs <= to);
}

static bool mech_could_issue(const void *context, unsigned warp)
{
    return !((const struct mech_core *)context)->waits_for_registers[warp];
}

static unsigned mech_block_of(const void *context, unsigned warp)
{
    return ((const struct mech_core *)context)->block[warp];
}

static unsigned mech_free_mshrs(const void *context)
{
    return ((const struct mech_core *)context)->free_mshrs;
}

static bool mech_can_send(const void *context)
{
    return !((const struct mech_core *)context)->crossbar_is_full;
}

/** Create a fixture with default keys except those in @set, such as "ccws.on=on ccws.entries=4". L1 has one set of @lines lines
 *  of 128 bytes; if @lines is 0, there is no L1. */
static inline struct mech_core *mech_new(const char *set, unsigned lines)
{
    struct mech_core *m = calloc(1, sizeof *m);
    char copy[512], *at = copy;
    struct lw_error err;

    assert_non_null(m);
    assert_int_equal(tim_config_default(&m->config, &err), LW_OK);
    snprintf(copy, sizeof copy, "%s", set);
    for (char *word = strsep(&at, " "); word != NULL; word = strsep(&at, " "))
        if (tim_config_set(m->config, word, &err) != LW_OK)
            fail_msg("%s: %s", word, err.text);
    m->mechs.core.config = m->config;
    m->mechs.core.count = m->count;
    m->mechs.core.histogram = m->histogram;
    m->mechs.core.look = mech_look;
    m->mechs.core.away = mech_away;
    m->mechs.core.changes = mech_changes;
    m->mechs.core.next = mech_next;
    m->mechs.core.inside = mech_inside;
    m->mechs.core.could_issue = mech_could_issue;
    m->mechs.core.block_of = mech_block_of;
    m->mechs.core.free_mshrs = mech_free_mshrs;
    m->mechs.core.can_send = mech_can_send;
    m->mechs.core.context = m;
    assert_true(tim_mechs_init(&m->mechs));
    if (lines != 0)
        m->l1 = tim_cache_create(&(struct tim_cache_shape){lines * 128, 128, 128, lines, 4, 4, false});
    return m;
}
static inline void mech_free(struct mech_core *m)
{
    tim_mechs_fini(&m->mechs);
    tim_cache_destroy(m->l1);
    free(m->code.loop);
    free(m->code.loop_of);
    tim_config_destroy(m->config);
    free(m);
}
/** Assign warps 0 to @count - 1 of a block of launch 0 to their slots. Warp 0 is the oldest. */
static inline void mech_begin(struct mech_core *m, unsigned count)
{
    tim_mechs_block(&m->mechs, 0, true);
    for (unsigned w = 0; w < count; w++) {
        m->warp[w] = (struct tim_mech_warp){.used = true, .age = ++m->assigned};
        tim_mechs_warp(&m->mechs, w, m->warp[w].age, true);
    }
}
static inline void mech_end(struct mech_core *m, unsigned warp)
{
    m->warp[warp].ended = true;
    tim_mechs_warp(&m->mechs, warp, 0, false);
}
/** Issue @count instructions of @warp with @lanes lanes. */
static inline void mech_issue(struct mech_core *m, unsigned warp, unsigned count, unsigned lanes)
{
    for (unsigned i = 0; i < count; i++)
        tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = lanes, .what = &mech_alu});
}
/** Execute a load by @warp of one line, at instruction number @at. After the load, L1 has the line. Return true for a hit. */
static inline bool mech_access_at(struct mech_core *m, unsigned warp, uint64_t line, unsigned at)
{
    static const uint64_t word[4] = {15};
    struct tim_cache_result r;
    uint32_t waiter;

    tim_cache_read(m->l1, line * 128, word, 0, (uint16_t)warp, &r);
    tim_mechs_access(&m->mechs, &(struct tim_mech_access){
        .warp = warp, .line = line * 128, .pc = (uint64_t)at * ISA_WORD_BYTES, .code = &m->code, .lanes = 32, .count = 1, .instruction = ++m->instructions,
        .hit = r.answer == TIM_CACHE_HIT, .owner = r.owner});
    if (r.evicted)
        tim_mechs_evict(&m->mechs, r.victim, r.victim_owner);
    if (r.answer == TIM_CACHE_MISS)
        tim_cache_fill(m->l1, line * 128, 1, &waiter);
    return r.answer == TIM_CACHE_HIT;
}
static inline bool mech_access(struct mech_core *m, unsigned warp, uint64_t line)
{
    return mech_access_at(m, warp, line, 0);
}
static inline bool mech_holds(const struct mech_core *m, unsigned warp, const struct tim_static *next)
{
    return tim_mechs_holder(&m->mechs, warp, next) != NULL;
}
/** Set the code to a function of 4096 instructions with loops. @loop has the numbers of the first and the last instruction of
 *  each loop, outer loops first. */
static inline void mech_loops(struct mech_core *m, const unsigned loop[][2], unsigned count)
{
    m->code.count = 4096;
    m->code.loop = calloc(count, sizeof *m->code.loop);
    m->code.loop_of = calloc(m->code.count, sizeof *m->code.loop_of);
    m->code.loop_count = count;
    for (unsigned i = 0; i < count; i++) {
        m->code.loop[i] = (struct tim_loop){.begin = loop[i][0] * ISA_WORD_BYTES, .end = loop[i][1] * ISA_WORD_BYTES,
                                            .to = 4096 * ISA_WORD_BYTES, .parent = m->code.loop_of[loop[i][0]]};
        for (unsigned at = loop[i][0]; at <= loop[i][1]; at++)
            m->code.loop_of[at] = (uint16_t)(i + 1);
    }
}
/** Let @warp branch from its current instruction to instruction number @at, which issues with @lanes lanes. */
static inline void mech_at(struct mech_core *m, unsigned warp, unsigned at, unsigned lanes)
{
    uint64_t branch = m->run_at[warp] + ISA_WORD_BYTES;

    m->run_at[warp] = (uint64_t)at * ISA_WORD_BYTES;
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = lanes, .what = &mech_branch, .code = &m->code,
                                                        .pc = branch});
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = lanes, .what = &mech_alu, .code = &m->code,
                                                        .pc = (uint64_t)at * ISA_WORD_BYTES});
}
/** Return the warps from 0 to @count - 1 that may issue a load, as "0 2 3". */
static inline const char *mech_may_load(const struct mech_core *m, unsigned count)
{
    static char text[1024];

    *text = '\0';
    for (unsigned w = 0; w < count; w++)
        if (!m->warp[w].ended && !mech_holds(m, w, &mech_load))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", *text != '\0' ? " " : "", w);
    return text;
}

/** Program of the tests of register files: the example in section 13 of the specification of the book on GPU architectures, a
 *  store of v4 in place of the end of the example, and then the instructions @more. */
#define REGISTER_EXAMPLE(more) \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_mov_b32 v1, 1\n" \
    "v_mov_b32 v2, 2\n" \
    "v_add_u32 v3, v1, v2\n" \
    "v_add_u32 v4, v3, v2\n" \
    "st.global.b32 [s4:5+vz], v4\n" \
    more \
    "exit\n.end\n"

#endif
