/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds barriers of a block that complete in ways that OpenCL C and CUDA forbid: lanes reached the barrier at different
 * instructions, or lanes had exited before. The check also finds members of a mask that arrive at different cross-lane
 * operations; such operations do not exchange values (MACHINE 2). A barrier that never completes is a hang, which the
 * hang report describes.
 */
#include "check/sync/chk_barrier_priv.h"

#include <stdio.h>
#include <stdlib.h>

#define CROSS_KINDS (UINT64_C(1) << CHK_CROSS_LOCATIONS | UINT64_C(1) << CHK_CROSS_EXITED)

/** Lanes of a warp, grouped by the warpsync or .sync instruction that they reached last. */
struct warp_arrivals {
    unsigned count;
    struct {
        struct chk_arrival arrival;
        bool cross; /* the instruction is a cross-lane operation; false: it is a warpsync */
    } at[8]; /* instructions in the order of arrival; a ninth one replaces the first */
    /* For each lane, the time (state.now) at which it last reached such an instruction, and at which it exited; 0: never. The
     * exits' addresses are those of their instructions. */
    uint64_t reached[EMU_MAX_LANES], exited[EMU_MAX_LANES], exit_pc[EMU_MAX_LANES];
};
/** State of a resident block. */
struct state {
    struct chk_slot is;
    uint64_t ended; /* number of lanes that have exited */
    struct chk_arrival end; /* the first exit */
    struct {
        bool used, counted, differs; /* used: lanes have arrived; counted: the barrier has a thread count; differs: lanes
                                      * arrived at different instructions */
        struct chk_arrival first, other;
    } at[ISA_CTA_BARRIER_COUNT]; /* arrivals since the barrier last completed */
    uint64_t now; /* time: number of arrivals and exits in this slot so far */
    struct warp_arrivals *arrivals; /* [warp]; owned */
    size_t arrivals_capacity;     /* elements */
    /* decisions at branches that control barriers; owned, and reused for the slot's next block */
    struct chk_paths *paths;
    bool follows, lost; /* follows: `paths` belongs to this block; lost: `paths` is no longer valid */
    struct chk_arrivals came, left; /* threads that arrived or exited since the last barrier that waited for all live
                                     * threads */
};
struct chk_barrier {
    struct chk *chk;
    struct chk_slots states; /* records of type struct state */
    struct chk_regions **regions; /* regions of each program */
    size_t region_count, region_capacity;
    const struct chk_regions *regions_last;
};

static void end(void *state)
{
    struct chk_barrier *barrier = state;

    for (size_t i = 0; i < barrier->states.count; i++) {
        struct state *s = (struct state *)barrier->states.at[i];

        free(s->arrivals);
        chk_paths_destroy(s->paths);
        free(s->came.at);
        free(s->left.at);
        free(s);
    }
    for (size_t i = 0; i < barrier->region_count; i++)
        chk_regions_destroy(barrier->regions[i]);
    free(barrier->regions);
    free(barrier->states.at);
}

/** Returns the analysis of a program, or NULL if memory is short. */
static const struct chk_regions *regions_find(struct chk_barrier *b, const struct emu_program *program)
{
    for (size_t i = 0; i < b->region_count; i++)
        if (b->regions[i]->program == program)
            return b->regions_last = b->regions[i];
    struct chk_regions *r = chk_regions_make(program, b->chk->options.kinds >> CHK_BARRIER_DIVERGENCE & 1);
    if (r == NULL || !lw_grow(&b->regions, &b->region_capacity, b->region_count + 1, sizeof *b->regions)) {
        chk_regions_destroy(r);
        b->chk->short_of_memory = true;
        return NULL;
    }
    return b->regions_last = b->regions[b->region_count++] = r;
}

static inline const struct chk_regions *regions_of(struct chk_barrier *b, const struct emu_program *program)
{
    return b->regions_last != NULL && b->regions_last->program == program ? b->regions_last : regions_find(b, program);
}

static bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    struct chk_barrier *barrier = state;
    const uint64_t kinds = barrier->chk->options.kinds;
    const struct chk_regions *r = regions_of(barrier, program);
    const uint8_t does = r != NULL ? r->does[index] : 0;

    (void)insn;
    if (does & CHK_DOES_CROSS && (does & CHK_DOES_REGION) == 0)
        return (kinds & CROSS_KINDS) != 0;
    if (does & CHK_DOES_EXIT && r->crosses && kinds >> CHK_CROSS_EXITED & 1)
        return true;
    return (does & CHK_DOES_REGION) != 0 ||
           (does != 0 && (r->region_count != 0 ||
                          (kinds & (UINT64_C(1) << CHK_BARRIER_LOCATIONS | UINT64_C(1) << CHK_BARRIER_EXITED)) != 0));
}

/** Returns the state of a block, or NULL if memory is short. */
static struct state *state_of(struct chk_barrier *b, const struct emu_core *core, unsigned slot)
{
    struct state *s = chk_slot_at(&b->states, core, slot, sizeof *s);

    b->chk->short_of_memory |= s == NULL;
    return s;
}

static void on_block(void *state, struct emu_core *core, unsigned slot, bool begins)
{
    struct state *s = state_of(state, core, slot);

    (void)begins;
    if (s == NULL)
        return;
    /* The times of lanes of the slot's earlier block remain, and are before those of this block. */
    *s = (struct state){.is = s->is, .now = s->now, .arrivals = s->arrivals, .arrivals_capacity = s->arrivals_capacity, .paths = s->paths,
                        .came = {s->came.at, 0, s->came.room}, .left = {s->left.at, 0, s->left.room}};
    for (size_t i = 0; i < s->arrivals_capacity; i++)
        s->arrivals[i].count = 0;
}

/** Returns the record of a warp, or NULL if memory is short. */
static struct warp_arrivals *arrivals_of(struct chk_barrier *barrier, struct state *s, unsigned warp)
{
    const size_t had = s->arrivals_capacity;

    if (warp >= had) {
        if (!lw_grow(&s->arrivals, &s->arrivals_capacity, warp + 1, sizeof *s->arrivals)) {
            barrier->chk->short_of_memory = true;
            return NULL;
        }
        memset(s->arrivals + had, 0, (s->arrivals_capacity - had) * sizeof *s->arrivals);
    }
    return &s->arrivals[warp];
}

/** Records that lanes exit. */
static void leave(struct chk_barrier *barrier, struct state *s, const struct chk_arrival *now)
{
    struct warp_arrivals *m = arrivals_of(barrier, s, now->warp);

    s->now++;
    for (LW_EACH_BIT(l, m != NULL ? now->lanes : 0)) {
        m->exited[l] = s->now;
        m->exit_pc[l] = now->pc;
    }
}

/** Records the arrival @now of lanes at an instruction, and removes these lanes from earlier arrivals. @cross: the
 *  instruction is a cross-lane operation, not a warpsync. */
static void come(struct chk_barrier *barrier, struct state *s, bool cross, const struct chk_arrival *now)
{
    struct warp_arrivals *m = arrivals_of(barrier, s, now->warp);
    unsigned kept = 0, at;

    if (m == NULL)
        return;
    s->now++;
    for (LW_EACH_BIT(l, now->lanes))
        m->reached[l] = s->now;
    for (unsigned i = 0; i < m->count; i++) {
        m->at[i].arrival.lanes &= ~now->lanes;
        if (m->at[i].arrival.lanes != 0)
            m->at[kept++] = m->at[i];
    }
    m->count = kept;
    for (at = 0; at < m->count && m->at[at].arrival.pc != now->pc;)
        at++;
    if (at < m->count) {
        m->at[at].arrival.lanes |= now->lanes;
        return;
    }
    if (at == LW_COUNT_OF(m->at)) {
        at--;
        memmove(m->at, m->at + 1, at * sizeof *m->at);
    }
    m->at[at].arrival = *now;
    m->at[at].cross = cross;
    m->count = at + 1;
}

/** Returns the value of the instruction's operand in a lane: the number of a barrier, which the machine ensures to be the same
 *  in all lanes, or the mask of a warpsync. */
static uint64_t operand_of(const struct emu_hook_site *site, unsigned lane)
{
    const uint32_t x = site->insn->x;
    uint64_t id = ISA_CTA_BARRIER_COUNT;

    switch (site->insn->xkind) {
    case ISA_X_VECTOR:
        (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_V, isa_x_reg(x), lane, &id);
        break;
    case ISA_X_SCALAR:
        (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_S, isa_x_reg(x), 0, &id);
        break;
    case ISA_X_CONST:
        id = 0;
        (void)emu_mem_peek(site->core, site->slot, site->warp, lane,
                           ISA_CONST_BASE + isa_x_bank(x) * ISA_CONST_STRIDE + isa_x_offset(x), &id, 4);
        break;
    default: return x;
    }
    return (uint32_t)id;
}

static void keep(struct chk_barrier *barrier, struct chk_arrivals *list, const struct chk_arrival *now)
{
    if (!lw_grow(&list->at, &list->room, list->count + 1, sizeof *list->at))
        barrier->chk->short_of_memory = true;
    else
        list->at[list->count++] = *now;
}

/** Handles an instruction at which the region of a branch begins or ends. */
static void follow(struct chk_barrier *barrier, struct state *s, const struct chk_regions *r, const struct emu_hook_site *site)
{
    if (!s->follows && !s->lost) {
        s->paths = chk_paths_begin(barrier->chk, r, site, s->paths);
        s->follows = s->paths != NULL;
        s->lost = s->paths == NULL;
    }
    if (!s->lost)
        chk_paths_insn(s->paths, site);
}

/** Observes barriers, branches that control them, cross-lane operations and exits. */
static void on_insn(void *state, const struct emu_hook_site *site)
{
    struct chk_barrier *barrier = state;
    const struct chk_regions *r = regions_of(barrier, site->program);
    const uint64_t lanes = site->split_lanes & site->lanes;
    const unsigned does = r != NULL ? r->does[site->index] : 0;
    struct state *s = does != 0 && wants(state, site->program, site->index, site->insn) ? state_of(barrier, site->core, site->slot) : NULL;

    if (s == NULL)
        return;
    if (does & CHK_DOES_REGION) {
        follow(barrier, s, r, site);
        if (does == CHK_DOES_REGION)
            return;
    }
    if (lanes == 0)
        return;
    const struct chk_arrival now = {.pc = chk_site_pc(site),
                                    .block = site->block, .lanes = lanes, .grid = site->grid->sequence,
                                    .warp = site->warp};
    if (does & CHK_DOES_CROSS) {
        come(barrier, s, site->insn->op != ISA_WARPSYNC, &now);
        return;
    }
    if (r->region_count != 0 && (does & (CHK_DOES_EXIT | CHK_DOES_FULL)) != 0)
        keep(barrier, does & CHK_DOES_EXIT ? &s->left : &s->came, &now);
    if (does & CHK_DOES_EXIT) {
        if (r->crosses && barrier->chk->options.kinds >> CHK_CROSS_EXITED & 1)
            leave(barrier, s, &now);
        if (s->ended == 0)
            s->end = now;
        s->ended += lw_popcount(lanes);
        return;
    }
    const uint64_t id = operand_of(site, lw_lowest(lanes));
    if (id >= ISA_CTA_BARRIER_COUNT) /* the machine refuses such an instruction */
        return;
    if (!s->at[id].used) {
        s->at[id].used = true;
        s->at[id].counted = site->insn->variant;
        s->at[id].first = now;
    } else if (now.pc != s->at[id].first.pc && !s->at[id].differs) {
        s->at[id].differs = true;
        s->at[id].other = now;
    }
}

static void find(struct chk *chk, enum chk_kind kind, const char *message,
                 const struct chk_arrival *at, const struct chk_arrival *other)
{
    struct chk_finding f = chk_finding_of(kind, 1);

    f.message = message;
    f.stopped = true;
    chk_location_at(chk, at->grid, at->block, at->warp, at->lanes, at->pc, &f.location);
    chk_location_at(chk, other->grid, other->block, other->warp, other->lanes, other->pc, &f.other);
    (void)chk_add(chk, &f);
}

/** Handles a completed barrier. A barrier with a count is not checked, because the program decides which lanes arrive
 *  there. */
static void on_cta(void *state, struct emu_core *core, unsigned slot, unsigned id, const uint64_t *all)
{
    struct chk_barrier *barrier = state;
    struct chk *chk = barrier->chk;
    struct state *s = state_of(barrier, core, slot);

    (void)all;
    if (s == NULL || !s->at[id].used)
        return;
    const bool explained = !s->at[id].counted && s->follows && !s->lost && chk_paths_converge(s->paths, &s->came, &s->left);
    if (!s->at[id].counted)
        s->came.count = s->left.count = 0;
    if (s->at[id].differs && !explained && !s->at[id].counted && chk->options.kinds >> CHK_BARRIER_LOCATIONS & 1)
        find(chk, CHK_BARRIER_LOCATIONS, "threads of a block wait at different barriers, but each of these barriers is "
                                         "for all threads",
             &s->at[id].other, &s->at[id].first);
    if (s->ended != 0 && !s->at[id].counted && chk->options.kinds >> CHK_BARRIER_EXITED & 1 &&
        (chk->exited_anywhere || chk_is_opencl(chk, s->at[id].first.grid))) {
        char message[96];

        snprintf(message, sizeof message, "%llu lane%s of the block had exited when this barrier completed",
                 (unsigned long long)s->ended, s->ended == 1 ? "" : "s");
        find(chk, CHK_BARRIER_EXITED, message, &s->at[id].first, &s->end);
    }
    s->at[id].used = s->at[id].differs = false;
}

bool chk_barrier_hang(const struct chk *chk, const struct emu_hang *hang)
{
    const struct chk_barrier *barrier = chk_state(chk, &chk_barrier_observer);
    bool reported = false;

    for (size_t i = 0; barrier != NULL && i < barrier->states.count; i++) {
        struct state *s = (struct state *)barrier->states.at[i];

        if (s->follows && !s->lost && s->came.count != 0 && s->came.at[0].grid == hang->grid &&
            s->came.at[0].block == hang->block)
            reported |= chk_paths_stuck(s->paths, &s->came, &s->left, s->is.core, s->is.slot);
    }
    return reported;
}

/** Called when a debugger has moved a lane to another pc, so that the decisions recorded for resident blocks are no longer
 *  valid. */
static void on_pc_edited(void *state)
{
    struct chk_barrier *barrier = state;

    for (size_t i = 0; i < barrier->states.count; i++)
        ((struct state *)barrier->states.at[i])->lost = true;
}

/** Returns the member mask of the warpsync or .sync operation at @pc in a lane that waits there. */
static uint64_t mask_of(const struct chk *chk, const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, pc);
    const struct isa_insn *insn = program != NULL ? emu_program_insn(program, pc) : NULL;
    struct emu_hook_site site = {.insn = insn, .core = (struct emu_core *)core, .slot = slot, .warp = warp};
    uint64_t mask = 0;

    if (insn == NULL)
        return 0;
    if (insn->op == ISA_WARPSYNC)
        return operand_of(&site, lane);
    if (isa_x_member(insn->x) == ISA_VZ) /* all lanes */
        return UINT64_MAX;
    (void)emu_reg_read(core, slot, warp, ISA_REG_V, isa_x_member(insn->x), lane, &mask);
    return (uint32_t)mask;
}

/** Checks whether lanes of the mask of an operation have exited since the first of @lanes, the lanes that execute it now, has
 *  begun to wait. Lanes that had exited before do not take part in the operation. */
static void check_exits(struct chk_barrier *barrier, const struct warp_arrivals *m, const struct chk_arrival *at, struct emu_core *core,
                        unsigned slot, uint64_t lanes)
{
    struct chk_arrival here = *at, gone = *at;
    uint64_t first = UINT64_MAX, late = 0;
    char message[160];

    for (LW_EACH_BIT(l, lanes))
        first = m->reached[l] < first ? m->reached[l] : first;
    for (unsigned l = 0; l < EMU_MAX_LANES; l++)
        if (m->exited[l] > first)
            late |= UINT64_C(1) << l;
    if (late != 0)
        late &= mask_of(barrier->chk, core, slot, at->warp, lw_lowest(lanes), at->pc);
    if (late == 0)
        return;
    here.lanes &= lanes;
    gone.lanes = 0;
    gone.pc = m->exit_pc[lw_lowest(late)];
    for (LW_EACH_BIT(l, late))
        gone.lanes |= m->exit_pc[l] == gone.pc ? UINT64_C(1) << l : 0;
    snprintf(message, sizeof message, "lanes waited for %u lane%s of their mask, which exited and did not execute the operation",
             lw_popcount(late), lw_popcount(late) == 1 ? "" : "s");
    find(barrier->chk, CHK_CROSS_EXITED, message, &here, &gone);
}

/** Handles @lanes of a warp, which name each other as members of a mask and have synchronised. */
static void on_warpsync(void *state, struct emu_core *core, unsigned slot, unsigned warp, uint64_t lanes)
{
    struct chk_barrier *barrier = state;
    struct state *s = state_of(barrier, core, slot);

    if (s == NULL || warp >= s->arrivals_capacity)
        return;
    const struct warp_arrivals *m = &s->arrivals[warp];
    unsigned last = m->count; /* index of the operation that was reached last; each other operation is reported together with
                               * it */
    for (unsigned i = 0; i < m->count; i++)
        if (m->at[i].cross && (m->at[i].arrival.lanes & lanes) != 0)
            last = i;
    for (unsigned i = 0; barrier->chk->options.kinds >> CHK_CROSS_EXITED & 1 && i < m->count; i++)
        if ((m->at[i].arrival.lanes & lanes) != 0) {
            check_exits(barrier, m, &m->at[i].arrival, core, slot, lanes);
            break;
        }
    for (unsigned i = 0; last != m->count && i < m->count && barrier->chk->options.kinds >> CHK_CROSS_LOCATIONS & 1; i++) {
        struct chk_arrival here = m->at[last].arrival, other = m->at[i].arrival;

        here.lanes &= lanes;
        other.lanes &= lanes;
        if (i != last && other.lanes != 0)
            find(barrier->chk, CHK_CROSS_LOCATIONS,
                 "lanes of one mask wait for each other at different cross-lane operations, so that they do not get "
                 "each other's values", &here, &other);
    }
}

const struct chk_observer chk_barrier_observer = {
    .kinds = CROSS_KINDS | UINT64_C(1) << CHK_BARRIER_LOCATIONS |
             UINT64_C(1) << CHK_BARRIER_EXITED | UINT64_C(1) << CHK_BARRIER_DIVERGENCE,
    .past = CHK_PAST_NOTED, .state_bytes = sizeof(struct chk_barrier), .end = end, .wants = wants, .on_insn = on_insn,
    .on_block = on_block, .on_cta = on_cta, .on_warpsync = on_warpsync, .on_pc_edited = on_pc_edited};
