/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings in library functions. The check ignores intermediate results of these functions. Examples are an infinity that a
 * division turns to zero, and an out-of-range shift or conversion whose result a select discards. An infinity, a NaN, or the
 * result of an out-of-range float conversion is reported only when it leaves the library, which is when code outside the
 * library uses it.
 *
 * Until then the warp executes in single steps, and such values are tracked by register and lane (taint tracking).
 * The tracking follows copies and selects. If a library operation reads a tracked infinity or NaN, and its result is not
 * finite, the result is tracked, too. An example of such an operation is a select that replaces the value by another one that
 * is not finite, such as NAN for the root of a negative number.
 */
#include "check/arith/chk_fp_taint_priv.h"

#include <stdlib.h>

enum { MOST_VALUES = 64, LOOK_EVERY = 8 };

/** A tracked value: the vector registers from v[first] on, `count` in number, in some lanes. The value was first generated
 *  by instruction `index`. */
struct value {
    uint64_t lanes, caller; /* lanes: lanes in which the value is tracked; caller: chk_location.caller at the time when the
                             * value was generated */
    uint32_t index;
    uint8_t first, count, kind; /* kind: enum chk_kind */
    bool unless_finite;         /* set only in warp.results: the value is tracked only in lanes in which it is not finite */
};
struct values {
    struct value at[MOST_VALUES];
    unsigned count;
};
struct warp {
    const struct emu_core *core;
    unsigned slot, warp, steps;
    const struct emu_program *program;
    struct values held, results; /* held: values that are tracked now; results: tracked results of the instruction that is
                                  * about to execute */
};
struct chk_fp_taint {
    struct chk *chk;
    struct init_set *live; /* result of chk_live() for the program live_of; owned */
    const struct emu_program *live_of;
    struct warp **warps;
    size_t count, room;
    struct chk_library library;
    bool stepping; /* true between on_step and on_stepped */
};

static struct warp *warp_of(const struct chk_fp_taint *taint, const struct emu_hook_site *site)
{
    for (size_t i = 0; i < taint->count; i++)
        if (taint->warps[i]->core == site->core && taint->warps[i]->slot == site->slot &&
            taint->warps[i]->warp == site->warp)
            return taint->warps[i];
    return NULL;
}

static void let_go(struct chk_fp_taint *taint, const struct warp *w)
{
    for (size_t i = 0; i < taint->count; i++)
        if (taint->warps[i] == w) {
            free(taint->warps[i]);
            taint->warps[i] = taint->warps[--taint->count];
            return;
        }
}

static void put(struct values *to, struct value v)
{
    for (unsigned i = 0; i < to->count; i++) {
        struct value *old = &to->at[i];

        if (old->index == v.index && old->first == v.first && old->count == v.count && old->kind == v.kind && old->caller == v.caller &&
            old->unless_finite == v.unless_finite) {
            old->lanes |= v.lanes;
            return;
        }
    }
    /* If @to is full, the value is no longer tracked, and its use is not reported. A missing report is better than a
     * report of a value that code may discard. */
    if (to->count < MOST_VALUES)
        to->at[to->count++] = v;
}

/** Gets the vector registers that an instruction writes. Returns false if it writes none. */
static bool result_of(const struct isa_insn *insn, uint8_t *first, uint8_t *count)
{
    struct isa_reg_use use[ISA_MAX_USES];

    for (unsigned i = 0, n = isa_insn_uses(insn, use); i < n; i++)
        if (use[i].written && use[i].reg_class == ISA_REG_V) {
            *first = use[i].first;
            *count = use[i].count;
            return true;
        }
    return false;
}

bool chk_fp_taint_reads(struct chk_fp_taint *taint, const struct emu_hook_site *site)
{
    return chk_library_has(&taint->library, site->program, site->index);
}

const struct init_set *chk_fp_taint_live(struct chk_fp_taint *taint, const struct emu_program *program)
{
    if (taint->live_of != program) {
        free(taint->live);
        taint->live = chk_live(program);
        taint->live_of = taint->live != NULL ? program : NULL;
    }
    return taint->live;
}

bool chk_fp_taint_begin(struct chk_fp_taint *taint, const struct emu_hook_site *site)
{
    struct warp *w = warp_of(taint, site);

    if (w == NULL) {
        w = calloc(1, sizeof *w);
        if (w == NULL || !lw_grow(&taint->warps, &taint->room, taint->count + 1, sizeof *taint->warps)) {
            free(w);
            taint->chk->short_of_memory = true;
            return false;
        }
        *w = (struct warp){.core = site->core, .slot = site->slot, .warp = site->warp};
        taint->warps[taint->count++] = w;
    }
    w->program = site->program;
    if (taint->stepping)
        return false;
    emu_hooks_single_step(site->core, site->slot, site->warp, true);
    taint->chk->look = CHK_LOOK_REPEATED;
    return true;
}

void chk_fp_taint_generated(struct chk_fp_taint *taint, const struct emu_hook_site *site, enum chk_kind kind, uint64_t lanes)
{
    struct warp *w = warp_of(taint, site);
    struct value v = {.lanes = lanes, .index = site->index, .kind = (uint8_t)kind};
    struct chk_location location;

    chk_location_of(taint->chk, site, lanes, &location);
    v.caller = location.caller;
    if (w != NULL && lanes != 0 && result_of(site->insn, &v.first, &v.count))
        put(&w->results, v);
}

/* ---- through an instruction --------------------------------------------------------------------- */

enum passing { ENDS, PASSES, UNLESS_FINITE /* tracked in lanes in which the result is not finite */ };

/** Returns whether the result of @insn, which reads a tracked value of @kind, is tracked as well. @library: the instruction
 *  belongs to a library. */
static enum passing through(const struct isa_insn *insn, enum chk_kind kind, bool library)
{
    switch (insn->op) {
    case ISA_V_MOV_B32: case ISA_V_MOV_B64: return PASSES;
    case ISA_V_SELP_B32: case ISA_V_SELP_B64:
        return library && (kind == CHK_NAN || kind == CHK_INFINITY) ? UNLESS_FINITE : PASSES;
    case ISA_V_AND_B32: case ISA_V_PRMT_B32: case ISA_V_BFE_U32: case ISA_V_BFE_S32:
        if (kind == CHK_CONVERSION) /* the value is narrowed to a smaller integer */
            return PASSES;
        break;
    case ISA_V_CVT:
        if (isa_mod_get(insn, ISA_MOD_STYPE) < ISA_DT_F16)
            return kind == CHK_CONVERSION ? PASSES : ENDS; /* In `double d = convert_int(f)`, for example, the compiler
                                                            * gives the conversion to double the position of the call,
                                                            * so the conversion counts as library code. */
        break;
    default: break;
    }
    return kind == CHK_NAN || kind == CHK_INFINITY ? UNLESS_FINITE : ENDS;
}

/** Returns the lanes in which the instruction at @site reads registers of @v. Unless @any is set, a select that chooses
 *  its other source does not count as a read. */
static uint64_t readers(const struct emu_hook_site *site, const struct isa_reg_use *use, unsigned count,
                        const struct value *v, bool any)
{
    const bool whole = isa_op_info((enum isa_op)site->insn->op)->flags & ISA_F_SCALAR;
    uint64_t lanes = 0;

    for (unsigned i = 0; i < count && lanes == 0; i++)
        if (!use[i].written && use[i].reg_class == ISA_REG_V && use[i].first < v->first + v->count &&
            v->first < use[i].first + use[i].count)
            lanes = v->lanes & (whole ? site->split_lanes : site->lanes);
    if (lanes != 0 && !any && (site->insn->op == ISA_V_SELP_B32 || site->insn->op == ISA_V_SELP_B64)) {
        const uint64_t all = lanes;

        for (LW_EACH_BIT(l, all))
            if (!chk_arith_takes(site, (unsigned)l, v->first, v->count))
                lanes &= ~(UINT64_C(1) << l);
    }
    return lanes;
}

static void on_step(void *state, const struct emu_hook_site *site)
{
    struct chk_fp_taint *taint = state;
    struct warp *w = warp_of(taint, site);
    struct isa_reg_use use[ISA_MAX_USES];
    uint8_t first = 0, count = 0;

    taint->stepping = true;
    if (w == NULL)
        return;
    w->results.count = 0;
    const bool library = w->held.count != 0 && chk_library_has(&taint->library, site->program, site->index);
    const bool store = isa_op_info((enum isa_op)site->insn->op)->flags & ISA_F_STORE;
    const bool writes = result_of(site->insn, &first, &count);
    const unsigned uses = isa_insn_uses(site->insn, use);
    for (unsigned i = 0; i < w->held.count; i++) {
        struct value *v = &w->held.at[i];
        const enum chk_kind kind = (enum chk_kind)v->kind;
        const enum passing how = through(site->insn, kind, library);
        const uint64_t lanes = readers(site, use, uses, v, how == UNLESS_FINITE);

        if (lanes == 0)
            continue;
        if (library ? store : how != PASSES) { /* The library stores the value (values are not tracked through memory),
                                                * or other code uses it. */
            chk_arith_found(taint->chk, kind, site, v->index, v->caller, lanes);
            v->lanes &= ~lanes;
        } else if (writes && how != ENDS) {
            put(&w->results, (struct value){.lanes = lanes, .caller = v->caller, .index = v->index, .first = first, .count = count,
                                         .kind = v->kind, .unless_finite = how == UNLESS_FINITE});
        }
    }
}

enum number { FINITE, INFINITE, NOT_A_NUMBER };

/** Classifies a lane's value in the registers of @v, which the instruction has written. */
static enum number number_of(const struct emu_hook_site *site, const struct value *v, unsigned lane)
{
    const unsigned type = site->insn->op == ISA_V_CVT ? isa_mod_get(site->insn, ISA_MOD_DTYPE) : ISA_DT_F32;
    uint64_t low = 0, word = 0, exponent;

    /* in a pair of registers, the second register has the exponent; the top bits of an f64 have the layout of an f32 */
    (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_V, v->first, lane, &low);
    (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_V, v->first + v->count - 1u, lane, &word);
    exponent = type == ISA_DT_F16 ? 0x7c00 : type == ISA_DT_BF16 ? 0x7f80 : v->count == 1 ? 0x7f800000 : 0x7ff00000;
    if (type == ISA_DT_F16 || type == ISA_DT_BF16)
        word &= 0xffff;
    if ((word & exponent) != exponent)
        return FINITE;
    return (word & ((exponent & -exponent) - 1)) != 0 || (v->count == 2 && low != 0) ? NOT_A_NUMBER : INFINITE;
}

/** Tracks value @results, a result of the instruction at @site, after the instruction has executed. */
static void keep(const struct chk *chk, struct warp *w, const struct emu_hook_site *site, const struct value *results)
{
    const bool nans = chk->options.kinds >> CHK_NAN & 1, infinities = chk->options.kinds >> CHK_INFINITY & 1;
    struct value v = *results;

    v.unless_finite = false;
    if (!results->unless_finite) {
        put(&w->held, v);
        return;
    }
    for (LW_EACH_BIT(l, results->lanes)) {
        const enum number n = number_of(site, results, (unsigned)l);

        if (n == FINITE)
            continue;
        v.lanes = UINT64_C(1) << l;
        v.kind = n == NOT_A_NUMBER && nans ? CHK_NAN : n == INFINITE && infinities ? CHK_INFINITY : results->kind;
        put(&w->held, v);
    }
}

static void overwrite(struct warp *w, const struct emu_hook_site *site)
{
    struct isa_reg_use use[ISA_MAX_USES];

    for (unsigned i = 0, n = isa_insn_uses(site->insn, use); i < n; i++)
        for (unsigned k = 0; k < w->held.count && use[i].written && use[i].reg_class == ISA_REG_V; k++) {
            struct value *v = &w->held.at[k];

            if (use[i].first < v->first + v->count && v->first < use[i].first + use[i].count)
                v->lanes &= ~site->lanes;
        }
}

/** Stops tracking values in lanes in which no later instruction can read them. */
static void keep_live(struct chk_fp_taint *taint, struct warp *w, const struct emu_hook_site *site)
{
    struct emu_split_view split[EMU_MAX_LANES];
    const struct init_set *live = chk_fp_taint_live(taint, site->program);
    const uint64_t base = emu_program_base(site->program);
    const unsigned n = emu_split_views(site->core, site->slot, site->warp, split, EMU_MAX_LANES);

    for (unsigned i = 0; i < w->held.count && live != NULL; i++) {
        struct value *v = &w->held.at[i];
        uint64_t lanes = 0;

        for (unsigned s = 0; s < n; s++)
            for (unsigned r = v->first; r < v->first + v->count; r++) {
                const struct isa_reg_use one = {.reg_class = ISA_REG_V, .first = (uint8_t)r, .count = 1};

                if (init_set_has(&live[(split[s].pc - base) / ISA_WORD_BYTES], isa_reg_number(&one)))
                    lanes |= split[s].lanes;
            }
        v->lanes &= lanes;
    }
}

static bool on_stepped(void *state, const struct emu_hook_site *site, bool retired)
{
    struct chk_fp_taint *taint = state;
    struct warp *w = warp_of(taint, site);
    unsigned kept = 0;

    taint->stepping = false;
    if (w == NULL)
        return true;
    if (retired) {
        overwrite(w, site);
        for (unsigned i = 0; i < w->results.count; i++)
            keep(taint->chk, w, site, &w->results.at[i]);
        if (++w->steps % LOOK_EVERY == 0)
            keep_live(taint, w, site);
        for (unsigned i = 0; i < w->held.count; i++)
            if (w->held.at[i].lanes != 0)
                w->held.at[kept++] = w->held.at[i];
        w->held.count = kept;
    }
    w->results.count = 0;
    if (!retired || w->held.count != 0)
        return false;
    let_go(taint, w);
    return true;
}

static void on_block(void *state, struct emu_core *core, unsigned slot, bool begins)
{
    struct chk_fp_taint *taint = state;

    (void)begins;
    for (size_t i = taint->count; i-- > 0;)
        if (taint->warps[i]->core == core && taint->warps[i]->slot == slot)
            let_go(taint, taint->warps[i]);
}

/** Stops tracking all values when replay ends, because the lanes are then at other instructions than before the replay. */
static void on_replay_end(void *state, bool same)
{
    struct chk_fp_taint *taint = state;

    (void)same;
    while (taint->count != 0)
        let_go(taint, taint->warps[0]);
}

static void end(void *state)
{
    struct chk_fp_taint *taint = state;

    on_replay_end(taint, false);
    free(taint->warps);
    free(taint->live);
    chk_library_fini(&taint->library);
}

const struct chk_observer chk_arith_observer = {
    .classes = 1u << CHK_CLASS_ARITHMETIC, .state_bytes = sizeof(struct chk_fp_taint), .end = end, .wants = chk_arith_wants,
    .on_insn = chk_arith_insn, .on_step = on_step, .on_stepped = on_stepped, .on_block = on_block,
    .on_replay_end = on_replay_end};
