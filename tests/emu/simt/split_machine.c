/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/emu/simt/split_program.h"

/* ---- lanes -------------------------------------------------------------------------- */

struct sm_lane {
    int64_t r[SM_REGS];
    bool set[SM_REGS];
    uint32_t *ret;
    size_t ret_count, ret_capacity;
    int64_t *stack;
    size_t stack_count, stack_capacity;
};
struct sm_cell {
    int64_t address, value;
};

static struct sm_cell *cell_of(struct sm *m, int64_t address)
{
    size_t i = 0;

    while (i < m->cell_count && m->cell[i].address < address)
        i++;
    if (i < m->cell_count && m->cell[i].address == address)
        return &m->cell[i];
    if (!lw_grow(&m->cell, &m->cell_capacity, m->cell_count + 1, sizeof *m->cell))
        abort();
    memmove(&m->cell[i + 1], &m->cell[i], (m->cell_count - i) * sizeof *m->cell);
    m->cell_count++;
    m->cell[i] = (struct sm_cell){address, 0};
    return &m->cell[i];
}
int64_t sm_memory(struct sm *m, int64_t address)
{
    return cell_of(m, address)->value;
}
int64_t sm_register(const struct sm *m, const char *name, unsigned thread)
{
    int reg = sm_reg_index(m->program, name);

    return reg < 0 ? 0 : m->lane[thread].r[reg];
}
static void set_reg(struct sm_lane *l, int reg, int64_t v)
{
    l->r[reg] = v;
    l->set[reg] = true;
}
static void write_cell(struct sm *m, int64_t address, int64_t v)
{
    struct sm_cell *c = cell_of(m, address);

    if (c->value != v) {
        c->value = v;
        m->block.progress++;
    }
}

/** Execute an ordinary instruction of one lane. Return its next pc, or EMU_TARGET_EXIT. */
static uint32_t lane_step(struct sm *m, struct sm_lane *l, uint32_t pc)
{
    const struct sm_ins *i = &m->program->ins[pc];
    int64_t a;

    if (i->guard >= 0 && !sm_value(m->program, l->r, i->guard))
        return pc + 1;
    switch (i->op) {
    case BRA:
        return i->target;
    case MOV:
        set_reg(l, i->d, sm_value(m->program, l->r, i->x));
        break;
    case EXIT:
        return EMU_TARGET_EXIT;
    case CALL:
        if (!lw_grow(&l->ret, &l->ret_capacity, l->ret_count + 1, sizeof *l->ret))
            abort();
        l->ret[l->ret_count++] = pc + 1;
        return (uint32_t)sm_value(m->program, l->r, i->x);
    case RET:
        return l->ret_count > 0 ? l->ret[--l->ret_count] : EMU_TARGET_EXIT;
    case PUSH:
        if (!lw_grow(&l->stack, &l->stack_capacity, l->stack_count + 1, sizeof *l->stack))
            abort();
        l->stack[l->stack_count++] = l->r[i->d];
        break;
    case POP:
        set_reg(l, i->d, l->stack_count > 0 ? l->stack[--l->stack_count] : 0);
        break;
    case LD:
        set_reg(l, i->d, sm_memory(m, sm_value(m->program, l->r, i->x)));
        break;
    case CAS:
        a = sm_value(m->program, l->r, i->x);
        set_reg(l, i->d, sm_memory(m, a) == 0);
        if (l->r[i->d])
            write_cell(m, a, 1);
        break;
    case ST:
        write_cell(m, sm_value(m->program, l->r, i->a), sm_value(m->program, l->r, i->x));
        break;
    case RED:
        a = sm_value(m->program, l->r, i->a);
        write_cell(m, a, sm_value(m->program, l->r, i->x) + sm_memory(m, a));
        break;
    default:
        break;
    }
    return pc + 1;
}

/* ---- the machine -------------------------------------------------------------------- */

static void expand(uint32_t *row, uint64_t lanes, unsigned n)
{
    for (unsigned l = 0; l < n; l++)
        row[l] = lanes >> l & 1 ? UINT32_MAX : 0;
}

static bool mentions(const struct sm_program *p, int e, uint32_t pc)
{
    const struct sm_node *n;

    if (e < 0)
        return false;
    n = &p->node[e];
    if (n->kind == K_IF)
        return mentions(p, n->b, pc) || mentions(p, n->c, pc);
    return n->kind == K_CONST && n->value == (int64_t)pc;
}
static bool is_called(const struct sm_program *p, uint32_t pc)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->ins[i].op == CALL && mentions(p, p->ins[i].x, pc))
            return true;
    return false;
}

/** Compute the program data that the stack engine reads: the barrier that a branch names, and the instructions that
 *  can reach that barrier. */
static void make_guest(struct sm *m)
{
    static const enum isa_op ops[] = {[BRA] = ISA_BRA,     [CALL] = ISA_CALL,   [RET] = ISA_RET,
                                      [EXIT] = ISA_EXIT,   [BSSY] = ISA_BSSY,   [BSYNC] = ISA_BSYNC,
                                      [BBREAK] = ISA_BBREAK, [SYNC] = ISA_NOP};
    const struct sm_program *p = m->program;
    struct lw_error err;

    m->guest.insn = calloc(p->count + 1, sizeof *m->guest.insn);
    m->guest.rpc = malloc((p->count + 1) * sizeof *m->guest.rpc);
    if (m->guest.insn == NULL || m->guest.rpc == NULL)
        abort();
    for (uint32_t i = 0; i < p->count; i++) {
        const struct sm_ins *in = &p->ins[i];
        struct isa_insn *out = &m->guest.insn[i];
        isa_insn_init(out, ops[in->op] != ISA_OP_NONE ? ops[in->op] : ISA_NOP);
        out->guard = in->guard >= 0 ? 0 : ISA_PT;
        if (in->op == BRA || in->op == BSSY)
            out->x = in->target - (i + 1);
        if (in->op == BSSY || in->op == BSYNC || in->op == BBREAK)
            out->d = (uint8_t)in->bar;
        else if ((in->op == BRA || in->op == CALL) && in->bar >= 0)
            isa_insn_set_bo(out, (unsigned)in->bar);
        m->guest.rpc[i] = EMU_NO_RPC;
    }
    if (!m->machine.reconv->lockstep)
        return;
    if (m->machine.reconv->likely && (m->guest.lpc = malloc((p->count + 1) * sizeof *m->guest.lpc)) == NULL)
        abort();
    /* each label that a call names is the start of a function */
    for (uint32_t first = 0, end; first < p->count; first = end) {
        for (end = first + 1; end < p->count && !is_called(p, end); end++)
            ;
        if (emu_reconv_resolve(&m->guest, first, end - first, &err) != LW_OK) {
            fprintf(stderr, "%s\n", err.text);
            abort();
        }
        if (m->guest.lpc != NULL && !isa_likely_points(m->guest.insn, first, end - first, NULL, m->guest.rpc, m->guest.lpc))
            abort();
    }
}

struct sm *sm_create(struct sm_program *program, const struct sm_options *options)
{
    struct sm *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
    unsigned W, threads, warps;

    if (m == NULL)
        abort();
    memset(m, 0, sizeof *m);
    m->program = program;
    m->options = *options;
    W = options->lanes != 0 ? options->lanes : program->lanes != 0 ? program->lanes : 4;
    threads = options->threads != 0 ? options->threads
              : program->threads != 0 ? program->threads
                                      : (program->warps != 0 ? program->warps : 1) * W;
    warps = (threads + W - 1) / W;
    m->machine.config.split_quantum = options->quantum;
    m->machine.config.fairness_window = options->window;
    m->machine.config.merge = !options->merge_off;
    m->machine.config.hang_window = options->hang;
    m->machine.policy = emu_policy_find(options->policy != NULL ? options->policy : "rr_quantum");
    m->machine.reconv = emu_reconv_find(options->reconv != NULL ? options->reconv : "cbar");
    m->machine.push_order = (enum emu_push_order)emu_push_order_find(options->push_order);
    if (m->machine.policy == NULL || m->machine.reconv == NULL)
        abort();
    m->level = (struct emu_level){.name = "test", .expand_mask = expand};
    m->core.machine = &m->machine;
    m->core.level = &m->level;
    m->core.block = &m->block;
    m->core.slots = m->core.slots_used = 1;
    m->guest.machine = &m->machine;
    m->guest.base = ISA_CODE_BASE;
    m->guest.count = (uint32_t)program->count;
    make_guest(m);
    m->code.program = &m->guest;
    m->code.insn = calloc(program->count + 1, sizeof *m->code.insn);
    m->lane = calloc(threads, sizeof *m->lane);
    m->block.core = &m->core;
    m->block.grid = &m->grid;
    m->grid.block_count = 1;
    m->block.in_use = m->block.started = true;
    m->block.warp_count = m->block.warps_live = warps;
    m->block.threads = m->block.threads_live = threads;
    m->block.warp = aligned_alloc(64, warps * sizeof *m->block.warp);
    if (m->code.insn == NULL || m->lane == NULL || m->block.warp == NULL)
        abort();
    memset(m->block.warp, 0, warps * sizeof *m->block.warp);
    for (unsigned i = 0; i < ISA_CTA_BARRIER_COUNT; i++)
        if ((m->block.cta[i].lanes = calloc(warps, sizeof(uint64_t))) == NULL)
            abort();
    for (size_t i = 0; i <= program->count; i++)
        m->code.insn[i].index = (uint32_t)i;
    for (unsigned i = 0; i < threads; i++) {
        m->lane[i].r[T_REG] = i;
        m->lane[i].r[LANE_REG] = i % W;
        m->lane[i].r[WARP_REG] = i / W;
    }
    for (unsigned i = 0; i < warps; i++) {
        struct emu_warp *w = &m->block.warp[i];
        unsigned here = threads - i * W < W ? threads - i * W : W;
        w->core = &m->core;
        w->block = &m->block;
        w->code = &m->code;
        w->index = i;
        w->width = (uint8_t)W;
        w->n = (W + 7) / 8 * 8;
        w->all = lw_mask(W);
        w->launched = w->live = lw_mask(here);
        w->s[126] = w->s[127] = UINT32_MAX;
        w->breg_count = ISA_BREG_COUNT;
        w->breg = calloc(ISA_BREG_COUNT, sizeof *w->breg);
        if (w->breg == NULL)
            abort();
        emu_split_template(w);
        emu_split_begin(w, 0);
    }
    return m;
}

void sm_destroy(struct sm *m)
{
    if (m == NULL)
        return;
    for (unsigned i = 0; i < m->block.threads; i++) {
        free(m->lane[i].ret);
        free(m->lane[i].stack);
    }
    for (unsigned i = 0; i < ISA_CTA_BARRIER_COUNT; i++)
        free(m->block.cta[i].lanes);
    for (unsigned i = 0; i < m->block.warp_count; i++) {
        emu_split_fini(&m->block.warp[i]);
        free(m->block.warp[i].breg);
    }
    free(m->guest.insn);
    free(m->guest.rpc);
    free(m->guest.lpc);
    free(m->block.warp);
    free(m->lane);
    free(m->cell);
    free(m->code.insn);
    free(m);
}

static bool fault(struct sm *m, const char *what)
{
    m->report = SM_FAULT;
    snprintf(m->message, sizeof m->message, "%s", what);
    return false;
}

static struct sm_lane *lane_at(struct sm *m, const struct emu_warp *w, unsigned l)
{
    return &m->lane[w->index * w->width + l];
}

static uint64_t guarded(struct sm *m, const struct emu_warp *w, const struct sm_ins *i)
{
    uint64_t on = 0;

    if (i->guard < 0)
        return w->m;
    for (LW_EACH_BIT(l, w->m))
        if (sm_value(m->program, lane_at(m, w, (unsigned)l)->r, i->guard))
            on |= UINT64_C(1) << l;
    return on;
}

/** Execute an instruction that changes the split or barriers. Return false if it faults. */
static bool sync_step(struct sm *m, struct emu_warp *w, const struct sm_ins *i, uint32_t pc)
{
    uint64_t on = guarded(m, w, i), value[EMU_MAX_LANES], bad;
    char why[200];

    w->di = &m->code.insn[pc + 1];
    if (i->op == SCALAR) {
        if (w->m == w->live)
            return true;
        snprintf(why, sizeof why, "pc %u: scalar write by %" PRIX64 ", live %" PRIX64, pc, w->m,
                 w->live);
        return fault(m, why);
    }
    if (on == 0 || (w->reconv->ignores_barriers && (i->op == BSSY || i->op == BSYNC ||
                                            i->op == BBREAK || i->op == YIELD)))
        return true;
    if (w->reconv->room != NULL && !w->reconv->room(w, 1))
        return fault(m, "no room");
    if (i->x >= 0)
        for (LW_EACH_BIT(l, on))
            value[l] = (uint64_t)sm_value(m->program, lane_at(m, w, (unsigned)l)->r, i->x);
    switch (i->op) {
    case BSSY:
        emu_split_bssy(w, (unsigned)i->bar, on);
        break;
    case BSYNC:
        m->passed = emu_split_bsync(w, (unsigned)i->bar, i->soft, on, pc + 1);
        break;
    case BBREAK:
        emu_split_bbreak(w, (unsigned)i->bar, on);
        break;
    case YIELD:
        emu_split_yield(w, on, pc + 1);
        break;
    case TAKE:
        emu_breg_save(w, (unsigned)i->bar, on, value);
        for (LW_EACH_BIT(l, on))
            set_reg(lane_at(m, w, (unsigned)l), i->d, (int64_t)value[l]);
        break;
    case GIVE:
        emu_breg_restore(w, (unsigned)i->bar, on, value);
        break;
    case WARPSYNC:
        if (!emu_split_warpsync(w, on, value, pc + 1, &bad))
            return fault(m, "warpsync: own bit missing");
        break;
    case BAR:
    case ARRIVE:
        if (emu_split_bar(w, (unsigned)i->bar, on, i->label >= 0, (uint32_t)i->label,
                          i->op == BAR, pc + 1, NULL, why, sizeof why) == EMU_CTA_BAD)
            return fault(m, why);
        break;
    case SLEEP:
        emu_split_sleep(w, on, value[lw_lowest(on)], pc + 1);
        break;
    case SYNC:
        on = emu_split_sync(w, on, value, pc);
        if (on == 0)
            break;
        w->di = &m->code.insn[pc + 1];
        for (LW_EACH_BIT(l, on))
            set_reg(lane_at(m, w, (unsigned)l), i->d, (int64_t)on);
        break;
    default:
        break;
    }
    return true;
}

static void ordinary_step(struct sm *m, struct emu_warp *w, const struct sm_ins *i, uint32_t pc)
{
    uint32_t target[EMU_MAX_LANES];
    uint64_t lanes = w->m, taken = 0, gone = 0;
    unsigned first = lw_lowest(lanes);
    bool same = true;

    for (LW_EACH_BIT(l, lanes)) {
        target[l] = lane_step(m, lane_at(m, w, (unsigned)l), pc);
        same = same && target[l] == target[first];
        if (target[l] == EMU_TARGET_EXIT)
            gone |= UINT64_C(1) << l;
        else if (target[l] != pc + 1)
            taken |= UINT64_C(1) << l;
    }
    if (w->reconv->room != NULL && !w->reconv->room(w, lw_popcount(lanes)))
        abort();
    if (same && gone == 0 && w->reconv->jumped != NULL && target[first] != pc + 1)
        w->reconv->jumped(w, pc);
    if (same && gone == 0)
        w->di = &m->code.insn[target[first]];
    else if (i->op == EXIT)
        emu_split_exit(w, gone, pc + 1);
    else if (i->op == BRA)
        emu_split_branch2(w, taken, i->target, pc + 1);
    else
        emu_split_branch(w, target, pc + 1);
}

/** Return the lanes of a warp that wait for other lanes. */
static uint64_t waiting(const struct emu_warp *w)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_BLOCKED] | w->split_in[EMU_SPLIT_WARPSYNC] |
                             w->split_in[EMU_SPLIT_CTA]))
        lanes |= w->split[id].lanes;
    return lanes;
}

bool sm_step(struct sm *m, struct emu_warp *w, bool account)
{
    uint32_t pc = (uint32_t)(w->di - m->code.insn);
    const struct sm_ins *i = &m->program->ins[pc];
    uint64_t progress = m->block.progress, lanes = w->m, came, before[256], released = 0;

    if (pc >= m->program->count)
        return fault(m, "ran past the end of the program");
    came = i->op == BSYNC ? lanes & w->bform[i->bar & 15].lanes : i->op == WARPSYNC || i->op == BAR ? lanes : 0;
    came &= guarded(m, w, i);
    for (unsigned k = 0; k < m->block.warp_count; k++)
        before[k] = waiting(&m->block.warp[k]) | (&m->block.warp[k] == w ? came : 0);
    m->passed = false;
    memset(&m->flow, 0, sizeof m->flow);
    w->flow = m->options.chunked ? NULL : &m->flow; /* single steps are observed, time slices are not */
    w->retired++;
    m->block.retired++;
    w->slice_start = w->retired;
    w->budget--;
    if (i->op < BSSY)
        ordinary_step(m, w, i, pc);
    else if (!sync_step(m, w, i, pc))
        return false;
    w->flow = NULL;
    if (account)
        emu_split_ran(w, 1);
    for (unsigned k = 0; k < m->block.warp_count; k++)
        released |= before[k] & ~waiting(&m->block.warp[k]);
    if (m->block.progress != progress || released != 0)
        m->last_progress = m->issues;
    m->issues++;
    m->slots += lw_popcount(lanes);
    return true;
}

static bool after_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    uint64_t limit = m->options.limit != 0 ? m->options.limit : 1 << 20;
    uint64_t hang = m->options.hang != 0 ? m->options.hang : 1 << 20;

    if (m->on_step != NULL)
        m->on_step(m, w, pc, lanes);
    if (m->options.check && !m->options.chunked) {
        uint64_t went = m->flow.exited;
        emu_split_outcomes(w, lanes, &m->flow);
        for (unsigned i = 0; i < m->flow.count; i++)
            went |= m->flow.outcome[i].lanes;
        if (went != lanes) {
            m->report = SM_BROKEN;
            snprintf(m->message, sizeof m->message, "a step lost lanes");
            return false;
        }
    }
    if (m->options.check && !emu_split_check(w, m->message, sizeof m->message)) {
        m->report = SM_BROKEN;
        return false;
    }
    if (m->issues > limit) {
        m->report = SM_LIMIT;
        return false;
    }
    if (m->issues - m->last_progress > hang) {
        m->report = SM_LIVELOCK;
        return false;
    }
    return true;
}

/** Runs a warp for one time slice of the rotation: until no split is ready or 64 instructions have been executed. Sets *@moved if
 *  it executes an instruction. Returns false if the run must stop. */
static bool warp_slice(struct sm *m, struct emu_warp *w, bool *moved)
{
    int64_t left = 64;

    while (left > 0 && emu_split_select(w)) {
        int64_t budget = m->options.chunked ? emu_split_allowance(w) : 1;
        unsigned count = 0;

        *moved = true;
        w->budget = budget < left ? budget : left;
        do {
            uint32_t pc = (uint32_t)(w->di - m->code.insn);
            uint64_t lanes = w->m;
            if (!sm_step(m, w, false))
                return false;
            count++;
            left--;
            if (w->reconv->reach != NULL) /* does what the emulator's handler at a reconvergence pc does */
                (void)w->reconv->reach(w);
            if (w->running < 0 || w->budget <= 0)
                emu_split_ran(w, count);
            if (!after_step(m, w, pc, lanes))
                return false;
        } while (w->running >= 0 && w->budget > 0);
        if (!emu_split_has_ready(w))
            break;
    }
    return true;
}

enum sm_hang_report sm_run(struct sm *m)
{
    m->report = SM_ENDS;
    while (m->block.warps_live > 0) {
        bool moved = false;
        for (unsigned i = 0; i < m->block.warp_count; i++)
            if (!warp_slice(m, &m->block.warp[i], &moved))
                return m->report;
        if (!moved)
            return m->report = SM_DEADLOCK;
    }
    return m->report;
}

/* ---- views -------------------------------------------------------------------------- */

const char *sm_mnemonic(const struct sm *m, uint32_t pc)
{
    return m->program->ins[pc].name;
}

/** Print "(rpc,pc,lanes)" for each entry of the stack, the bottom first. An entry that waits at its rpc for another barrier
 *  is printed as if popped, because the model that printed the golden traces (split_golden.h) pops before it
 *  waits. */
static void show_stack(const struct emu_warp *w, struct lw_sink *out)
{
    const struct emu_simt_entry *e = emu_simt_entries(w);
    unsigned count = w->simt.count;

    while (count > 0) {
        const struct emu_simt_entry *top = &e[count - 1];
        uint32_t pc = top->split >= 0 ? emu_split_pc(w, (unsigned)top->split) : top->pc;
        if (top->rpc != pc || top->depth != top->rdepth)
            break;
        count--;
    }
    for (unsigned i = 0; i < count; i++) {
        uint32_t pc = e[i].split >= 0 ? emu_split_pc(w, (unsigned)e[i].split) : e[i].pc;
        lw_put(out, i > 0 ? " (" : "(");
        if (e[i].rpc == EMU_NO_RPC)
            lw_put(out, "-");
        else
            lw_printf(out, "%u", e[i].rpc);
        lw_printf(out, ",%u,%" PRIX64 ")", pc, e[i].lanes);
    }
}

void sm_show(const struct emu_warp *w, struct lw_sink *out)
{
    struct lw_buffer text;

    if (w->reconv->lockstep) {
        show_stack(w, out);
        return;
    }
    lw_buffer_init(&text);
    for (LW_EACH_BIT(id, w->split_ids)) {
        const struct emu_split *s = &w->split[id];
        if (text.size > 0)
            lw_put(&text.sink, " ");
        lw_printf(&text.sink, "%u:%u/%" PRIX64, (unsigned)id, emu_split_pc(w, (unsigned)id),
                  s->lanes);
        if (w->running == (int)id && w->split_count > 1) /* A lone split always has the time slice, so it gets no
                                                          * mark. */
            lw_put(&text.sink, "/*");
        else if (s->state == EMU_SPLIT_BLOCKED)
            lw_printf(&text.sink, "/b%u", s->barrier);
        else if (s->state == EMU_SPLIT_CTA)
            lw_printf(&text.sink, "/cta%u", s->barrier);
        else if (s->state != EMU_SPLIT_READY)
            lw_put(&text.sink, s->state == EMU_SPLIT_YIELDED    ? "/y"
                               : s->state == EMU_SPLIT_WARPSYNC ? "/ws"
                               : s->state == EMU_SPLIT_SLEEPING ? "/z"
                                                                : "/sus");
    }
    bool any = false;
    for (unsigned reg = 0; reg < w->breg_count; reg++) {
        uint64_t last = 0;
        for (;;) { /* prints the group numbers in ascending order */
            uint64_t next = UINT64_MAX, members = 0;
            for (LW_EACH_BIT(l, w->live)) {
                uint64_t n = emu_breg_number(w, reg, (unsigned)l);
                if (n > last && n < next)
                    next = n;
            }
            if (next == UINT64_MAX)
                break;
            for (LW_EACH_BIT(l, w->live))
                if (emu_breg_number(w, reg, (unsigned)l) == next)
                    members |= UINT64_C(1) << l;
            if (!any)
                lw_put(&text.sink, text.size > 0 ? " |" : "|");
            any = true;
            lw_printf(&text.sink, " b%u#%" PRIu64 "=%" PRIX64, reg, next, members);
            last = next;
        }
    }
    lw_put(out, text.text != NULL ? text.text : "");
    lw_buffer_fini(&text);
}

void sm_chars(const struct sm *m, const struct emu_warp *w, char *out)
{
    memset(out, 'X', w->width);
    out[lw_popcount(w->launched)] = '\0';
    for (LW_EACH_BIT(id, w->split_ids)) {
        const struct emu_split *s = &w->split[id];
        char c = "R?YWCSP"[s->state];
        if (s->state == EMU_SPLIT_BLOCKED)
            c = "0123456789abcdef"[s->barrier];
        if (w->running == (int)id && !m->passed)
            c = '*';
        for (LW_EACH_BIT(l, s->lanes))
            out[l] = c;
    }
}

uint64_t sm_members(const struct emu_warp *w, unsigned reg)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(l, w->live))
        if (emu_breg_number(w, reg, (unsigned)l) != 0)
            lanes |= UINT64_C(1) << l;
    return lanes;
}
uint64_t sm_blocked(const struct emu_warp *w, unsigned reg)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(id, w->split_ids))
        if (w->split[id].state == EMU_SPLIT_BLOCKED && w->split[id].barrier == reg)
            lanes |= w->split[id].lanes;
    return lanes;
}

void sm_trace_line(struct sm *m, const struct emu_warp *w, uint32_t pc, uint64_t lanes,
                   struct lw_sink *out)
{
    lw_printf(out, "%" PRIu64 " ", m->issues - 1);
    if (m->block.warp_count > 1)
        lw_printf(out, "w%u ", w->index);
    lw_printf(out, "%u %s %" PRIX64 "  ", pc, sm_mnemonic(m, pc), lanes);
    sm_show(w, out);
    lw_put(out, "\n");
}

void sm_finish(struct sm *m, struct lw_sink *out)
{
    static const char *const reports[] = {"ends",  "deadlock", "livelock",
                                           "limit", "fault",    "broken"};
    struct sm_program *p = m->program;

    lw_printf(out, "%s\n%" PRIu64 " issues, %" PRIu64 " lane-slots\nmemory:", reports[m->report],
              m->issues, m->slots);
    for (size_t i = 0; i < m->cell_count; i++)
        if (m->cell[i].value != 0)
            lw_printf(out, " [%" PRId64 "]=%" PRId64, m->cell[i].address, m->cell[i].value);
    lw_put(out, "\n");
    const char *last = "";
    for (;;) { /* prints the registers in the order of their names */
        int next = -1;
        for (unsigned i = WARP_REG + 1; i < p->reg_count; i++) {
            bool set = false;
            for (unsigned t = 0; t < m->block.threads; t++)
                set = set || m->lane[t].set[i];
            if (set && strcmp(p->reg[i], last) > 0 &&
                (next < 0 || strcmp(p->reg[i], p->reg[next]) < 0))
                next = (int)i;
        }
        if (next < 0)
            return;
        last = p->reg[next];
        lw_printf(out, "%s:", last);
        for (unsigned t = 0; t < m->block.threads; t++)
            lw_printf(out, " %" PRId64, m->lane[t].r[next]);
        lw_put(out, "\n");
    }
}
