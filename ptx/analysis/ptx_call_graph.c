/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph. Callees are translated before their callers, so that a caller knows which registers and barriers its
 * callees use. Mutually recursive functions are a strongly connected component ("scc"). Each of them assumes the worst
 * case for the others. A call through a register may call every function whose address is taken. The last node of the graph,
 * number functions.count, represents these functions.
 *
 * After all functions are translated, calls get their targets, and kernels get their totals (stack, registers, shared
 * memory). If a kernel has soft barriers, the bsyncs of all functions that it calls, directly or through others, become
 * soft.
 */
#include "ptx/ptx_priv.h"

enum {
    RECURSION_BYTES = 8192, /* bytes of stack that are reserved for a recursive function */
    /* a function that uses more barrier registers than this saves all of them, so that enough remain for its callers */
    BARRIERS_PRESERVED = 8
};

static const struct ptx_clobber anything = {
    /* a call may change v0:1, v4 to v95 and all predicates (docs/reference/abi.md) */
    { ~UINT64_C(0xc), UINT64_C(0xffffffff), 0, 0 }, 0x7f
};

static void join_clobber(struct ptx_clobber *into, const struct ptx_clobber *from)
{
    for (unsigned i = 0; i < LW_COUNT_OF(into->v); i++)
        into->v[i] |= from->v[i];
    into->p |= from->p;
}

/* ---- the edges of the graph ----------------------------------------------------------------- */

struct graph {
    struct ptx_job *job;
    struct ptx_module *module;
    PTX_LIST(uint32_t) work;
    PTX_LIST(uint32_t) taken; /* functions whose address the module's code or data takes */
    bool any_needed;
};

static struct ptx_calls *calls_of(struct graph *g, uint32_t function)
{
    return &g->module->functions.at[function].calls;
}

static void reach(struct graph *g, uint32_t function)
{
    if (calls_of(g, function)->reachable)
        return;
    calls_of(g, function)->reachable = true;
    *PTX_PUSH(g->job, g->work) = function;
}

/* Records that function @by takes the address of @symbol. @by is NULL if the initialiser of a variable takes it. */
static void take_address(struct graph *g, struct ptx_calls *by, const struct ptx_symbol *symbol)
{
    const struct ptx_function *fn;

    if (symbol->kind != PTX_SYM_FUNCTION)
        return;
    fn = &g->module->functions.at[symbol->function];
    if (!fn->has_body)
        return;
    if (by != NULL)
        *PTX_PUSH(g->job, by->names) = symbol->function;
    if (fn->kernel) /* The address of a kernel needs no edge: every kernel is translated, and a launch through the address is
                     * no call. */
        return;
    reach(g, symbol->function);
    if (!fn->calls.address_taken)
        *PTX_PUSH(g->job, g->taken) = symbol->function;
    calls_of(g, symbol->function)->address_taken = true;
}

static void look_at_operand(struct graph *g, struct ptx_calls *by, const struct ptx_operand *o)
{
    if ((o->kind == PTX_O_SYMBOL || o->kind == PTX_O_ADDRESS) && o->symbol != PTX_NONE)
        take_address(g, by, &g->module->symbols.at[o->symbol]);
}

static void look_at_function(struct graph *g, uint32_t function)
{
    const struct ptx_function *fn = &g->module->functions.at[function];
    struct ptx_calls *calls = calls_of(g, function);

    calls->tree.clobber = anything;
    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];
        const struct ptx_symbol *callee = in->op == PTX_CALL ? ptx_callee(g->module, in) : NULL;

        calls->tree.waits |= ptx_effect(in) == PTX_EFFECT_WAITS;
        calls->tree.syncs |= ptx_effect(in) == PTX_EFFECT_SYNCS;
        if (in->op == PTX_CALL && callee == NULL) {
            calls->any = calls->indirect = g->any_needed = true;
        } else if (callee != NULL && g->module->functions.at[callee->function].has_body) {
            calls->any = true;
            *PTX_PUSH(g->job, calls->callees) = callee->function;
            reach(g, callee->function);
        }
        for (unsigned k = 0; k < in->operand_count; k++) {
            const struct ptx_operand *o = &in->operand[k];

            if (callee != NULL && o->kind == PTX_O_SYMBOL)
                continue;
            look_at_operand(g, calls, o);
            for (unsigned e = 0; o->element != NULL && e < o->count; e++)
                look_at_operand(g, calls, &o->element[e]);
        }
    }
}

/* ---- the order of translation ----------------------------------------------------------------- */

static uint32_t edge(struct graph *g, uint32_t node, uint32_t nth)
{
    uint32_t any = (uint32_t)g->module->functions.count;
    const struct ptx_calls *calls;

    if (node == any)
        return nth < g->taken.count ? g->taken.at[nth] : PTX_NONE;
    calls = calls_of(g, node);
    if (nth < calls->callees.count)
        return calls->callees.at[nth];
    return nth == calls->callees.count && calls->indirect ? any : PTX_NONE;
}

static uint32_t scc_of(struct graph *g, uint32_t node)
{
    return node == g->module->functions.count ? g->module->any_scc : calls_of(g, node)->scc;
}

struct tarjan {
    uint32_t *number, *low, *next, *stack, *path; /* by node: number in the traversal, or 0 if the node has not been visited */
    uint8_t *waiting;
    uint32_t count, depth, stacked;
};

static void give_number(struct graph *g, uint32_t node, uint32_t scc, bool recursive)
{
    struct ptx_tree *tree = &g->module->sccs.at[scc];

    *PTX_PUSH(g->job, g->module->order) = node;
    if (node == g->module->functions.count) {
        g->module->any_scc = scc;
    } else {
        struct ptx_calls *calls = calls_of(g, node);

        calls->scc = scc;
        calls->recursive = recursive;
        tree->waits |= calls->tree.waits;
        tree->syncs |= calls->tree.syncs;
    }
    for (uint32_t k = 0, to; (to = edge(g, node, k)) != PTX_NONE; k++) {
        uint32_t other = scc_of(g, to);

        if (other == PTX_NONE || other == scc)
            continue;
        tree->waits |= g->module->sccs.at[other].waits;
        tree->syncs |= g->module->sccs.at[other].syncs;
    }
}

static void close_scc(struct graph *g, struct tarjan *t, uint32_t root)
{
    uint32_t scc = (uint32_t)g->module->sccs.count, from = t->stacked;
    bool recursive;

    (void)PTX_PUSH(g->job, g->module->sccs);
    while (t->stack[from - 1] != root)
        from--;
    from--;
    recursive = t->stacked - from > 1;
    for (uint32_t k = 0, to; !recursive && (to = edge(g, root, k)) != PTX_NONE; k++)
        recursive = to == root;
    for (uint32_t i = from; i < t->stacked; i++)
        give_number(g, t->stack[i], scc, recursive);
    for (uint32_t i = from; i < t->stacked; i++)
        t->waiting[t->stack[i]] = 0;
    t->stacked = from;
}

static void visit(struct graph *g, struct tarjan *t, uint32_t root)
{
    if (t->number[root] != 0)
        return;
    t->path[t->depth++] = root;
    t->number[root] = t->low[root] = ++t->count;
    t->stack[t->stacked++] = root;
    t->waiting[root] = 1;
    while (t->depth != 0) {
        uint32_t node = t->path[t->depth - 1], to = edge(g, node, t->next[node]++);

        if (to == PTX_NONE) {
            t->depth--;
            if (t->low[node] == t->number[node])
                close_scc(g, t, node);
            if (t->depth != 0 && t->low[node] < t->low[t->path[t->depth - 1]])
                t->low[t->path[t->depth - 1]] = t->low[node];
        } else if (t->number[to] == 0) {
            t->path[t->depth++] = to;
            t->number[to] = t->low[to] = ++t->count;
            t->stack[t->stacked++] = to;
            t->waiting[to] = 1;
        } else if (t->waiting[to] && t->number[to] < t->low[node]) {
            t->low[node] = t->number[to];
        }
    }
}

/* Finds the static shared variables whose offset must be the same in every kernel: the variables that a function refers
 * to. If a function refers to dynamic shared memory, which begins after the static variables, all static shared
 * variables of the module are such variables. */
static void find_shared(struct graph *g)
{
    struct ptx_module *module = g->module;

    for (size_t f = 0; f < module->functions.count; f++) {
        const struct ptx_function *fn = &module->functions.at[f];

        for (size_t i = 0; fn->calls.reachable && !fn->kernel && i < fn->insns.count; i++) {
            const struct ptx_insn *in = &fn->insns.at[i];

            for (unsigned k = 0; k < in->operand_count; k++) {
                const struct ptx_operand *o = &in->operand[k];
                struct ptx_symbol *s;

                if ((o->kind != PTX_O_SYMBOL && o->kind != PTX_O_ADDRESS) ||
                    o->symbol == PTX_NONE)
                    continue;
                s = &module->symbols.at[o->symbol];
                if (s->kind != PTX_SYM_VARIABLE || s->space != PTX_SP_SHARED)
                    continue;
                s->used = true;
                module->common_dynamic |= s->size_bytes == 0;
            }
        }
    }
    for (size_t i = 0; module->common_dynamic && i < module->symbols.count; i++) {
        struct ptx_symbol *s = &module->symbols.at[i];

        s->used |= s->kind == PTX_SYM_VARIABLE && s->space == PTX_SP_SHARED;
    }
}

void ptx_calls_find(struct ptx_job *job, struct ptx_module *module)
{
    struct graph g = { .job = job, .module = module };
    size_t nodes = module->functions.count + 1;
    struct tarjan t = { .number = PTX_ARRAY(job, uint32_t, nodes),
                        .low = PTX_ARRAY(job, uint32_t, nodes),
                        .next = PTX_ARRAY(job, uint32_t, nodes),
                        .stack = PTX_ARRAY(job, uint32_t, nodes),
                        .path = PTX_ARRAY(job, uint32_t, nodes),
                        .waiting = PTX_ARRAY(job, uint8_t, nodes) };
    uint32_t index = 0;

    module->any_scc = PTX_NONE;
    module->frame_align = 16;
    for (size_t i = 0; i < module->symbols.count; i++) {
        const struct ptx_symbol *s = &module->symbols.at[i];

        if ((s->kind == PTX_SYM_PARAM || s->space == PTX_SP_LOCAL) &&
            module->frame_align < s->align)
            module->frame_align = s->align;
        for (size_t k = 0; k < s->addresses.count; k++)
            take_address(&g, NULL, &module->symbols.at[s->addresses.at[k].symbol]);
    }
    for (uint32_t f = 0; f < module->functions.count; f++) {
        module->functions.at[f].calls.scc = PTX_NONE;
        if (module->functions.at[f].kernel && module->functions.at[f].has_body)
            reach(&g, f);
    }
    while (g.work.count != 0)
        look_at_function(&g, g.work.at[--g.work.count]);
    /* Functions to which only an initialiser refers are visited first, then each kernel after its callees. */
    for (size_t i = 0; i < g.taken.count; i++)
        visit(&g, &t, g.taken.at[i]);
    for (uint32_t f = 0; f < module->functions.count; f++) {
        if (module->functions.at[f].calls.reachable)
            visit(&g, &t, f);
    }
    for (size_t i = 0; i < module->order.count; i++) {
        uint32_t f = module->order.at[i];

        if (f == module->functions.count)
            continue;
        calls_of(&g, f)->index = index++;
        calls_of(&g, f)->tree.waits = module->sccs.at[calls_of(&g, f)->scc].waits;
        calls_of(&g, f)->tree.syncs = module->sccs.at[calls_of(&g, f)->scc].syncs;
    }
    if (module->any_scc != PTX_NONE)
        module->any = module->sccs.at[module->any_scc];
    find_shared(&g);
}

/* ---- while functions are translated ----------------------------------------------------------- */

const struct ptx_tree *ptx_calls_tree(const struct ptx_module *module, uint32_t callee)
{
    return callee == PTX_NONE ? &module->any : &module->functions.at[callee].calls.tree;
}

static void add_callee(struct ptx_unit *unit, const struct ptx_calls *callee)
{
    if (callee->scc == unit->function->calls.scc) {
        join_clobber(&unit->clobber, &anything);
        return;
    }
    join_clobber(&unit->clobber, &callee->tree.clobber);
    if (unit->shared_below < unit->module->sccs.at[callee->scc].shared_end)
        unit->shared_below = unit->module->sccs.at[callee->scc].shared_end;
    if (unit->function->calls.tree.below_bytes < unit->module->sccs.at[callee->scc].stack_bytes)
        unit->function->calls.tree.below_bytes = unit->module->sccs.at[callee->scc].stack_bytes;
    if (unit->breg_base < unit->module->sccs.at[callee->scc].barriers)
        unit->breg_base = unit->module->sccs.at[callee->scc].barriers;
}

/* Returns the number of barrier registers that callees outside the SCC need. No function of the SCC may use these registers
 * itself. If a function of the SCC used one, a region around its call of another function of the SCC would lose its barrier,
 * because the called function may call a callee outside the SCC. */
static unsigned below_scc(const struct ptx_module *module, uint32_t scc)
{
    struct ptx_tree *recursion = &module->sccs.at[scc];

    for (size_t f = 0; !recursion->below_known && f < module->functions.count; f++) {
        const struct ptx_calls *calls = &module->functions.at[f].calls;

        if (!calls->reachable || calls->scc != scc)
            continue;
        for (size_t i = 0; i < calls->callees.count; i++) {
            uint32_t callee = module->functions.at[calls->callees.at[i]].calls.scc;

            if (callee != scc && recursion->below < module->sccs.at[callee].barriers)
                recursion->below = module->sccs.at[callee].barriers;
        }
        for (size_t k = 0; calls->indirect && k < module->functions.count; k++) {
            const struct ptx_calls *callee = &module->functions.at[k].calls;

            if (callee->address_taken && callee->scc != scc &&
                recursion->below < module->sccs.at[callee->scc].barriers)
                recursion->below = module->sccs.at[callee->scc].barriers;
        }
    }
    recursion->below_known = true;
    return recursion->below;
}

void ptx_calls_begin(struct ptx_unit *unit)
{
    const struct ptx_module *module = unit->module;
    const struct ptx_calls *calls = &unit->function->calls;

    if (unit->function->kernel)
        unit->framed = calls->any;
    else
        unit->framed = true;
    for (size_t i = 0; i < calls->callees.count; i++)
        add_callee(unit, &module->functions.at[calls->callees.at[i]].calls);
    for (size_t f = 0; calls->indirect && f < module->functions.count; f++) {
        if (module->functions.at[f].calls.address_taken)
            add_callee(unit, &module->functions.at[f].calls);
    }
    if (calls->recursive) {
        unsigned below = below_scc(module, calls->scc);

        unit->breg_base = unit->breg_base > below ? unit->breg_base : below;
    }
    if (calls->tree.below_bytes > 1u << 22)
        ptx_fail(unit->job, unit->function->line, LW_EUNSUPP,
                 "'%s' needs more than 4 MiB of stack", unit->function->name);
    if (unit->function->kernel) { /* The local memory of a kernel contains first the stack of the kernel's callees, then the
                                   * kernel's own frame. */
        unit->frame_base = unit->local_bytes = (uint32_t)calls->tree.below_bytes;
        unit->shared_bytes = unit->shared_below;
    }
}

static bool saves_all(const struct ptx_unit *unit)
{
    const struct ptx_options *options = unit->job->options;
    unsigned available = options != NULL && options->barrier_registers != 0
                        ? options->barrier_registers / 2 : BARRIERS_PRESERVED;

    return !unit->function->kernel && unit->breg_count > available;
}

/* Returns the first barrier register that the function saves. Each function of an SCC saves the registers that it uses. A
 * function that uses more than BARRIERS_PRESERVED saves all of them, so that its callers may use these registers. */
static unsigned first_saved(const struct ptx_unit *unit)
{
    if (unit->function->kernel)
        return ISA_BREG_COUNT;
    if (saves_all(unit))
        return 0;
    return unit->function->calls.recursive ? unit->breg_base : ISA_BREG_COUNT;
}

uint32_t ptx_entry_own(const struct ptx_unit *unit)
{
    const struct ptx_block *b = &unit->blocks.at[unit->entry];
    uint32_t i = b->first;

    while (i < b->first + b->count && unit->code.at[i].flags & PTX_MI_PIN)
        i++;
    return i;
}

static struct ptx_mi *barrier_move(struct ptx_unit *unit, enum isa_op op, unsigned barrier,
                                   ptx_ref pair, const struct ptx_block *like)
{
    struct ptx_mi *mi = PTX_PUSH(unit->job, unit->code);

    ptx_mi_init(mi, op, like->loc, like->line);
    memset(mi->rows, 2, sizeof mi->rows);
    if (op == ISA_V_MOV_TAKE_B) {
        mi->ref[PTX_S_D] = pair;
        mi->in.x = barrier;
    } else {
        mi->ref[PTX_S_A] = pair;
        mi->in.d = (uint8_t)barrier;
    }
    return mi;
}

void ptx_calls_save_barriers(struct ptx_unit *unit)
{
    unsigned first = first_saved(unit), count = 0;
    ptx_ref pair[ISA_BREG_COUNT];

    for (unsigned b = first; b < unit->breg_count; b++) {
        (void)ptx_vreg_new(unit, 2);
        pair[count++] = ptx_ref_of((uint32_t)(unit->vregs.count - 1), 0);
    }
    if (count == 0)
        return;
    for (unsigned end = 0; end < 2; end++) {
        struct ptx_block *b = &unit->blocks.at[end == 0 ? unit->entry : unit->final_block];
        uint32_t from = b->first, old = b->count;

        uint32_t at = end == 0 ? ptx_entry_own(unit) - from : 0; /* In the last block, the code is inserted before the first
                                                                  * instruction. In the entry block, the code is inserted
                                                                  * after the prologue. */

        b->first = (uint32_t)unit->code.count;
        for (uint32_t i = 0; i <= old; i++) {
            if (i == at) {
                for (unsigned k = 0; k < count; k++)
                    (void)barrier_move(unit, end == 0 ? ISA_V_MOV_TAKE_B : ISA_V_MOV_GIVE_B,
                                       first + k, pair[k], b);
            }
            if (i < old) {
                struct ptx_mi mi = unit->code.at[from + i];

                *PTX_PUSH(unit->job, unit->code) = mi;
            }
        }
        b->count = (uint32_t)unit->code.count - b->first;
    }
}

/* Finds the registers that a call of this function changes. Registers must have been allocated. */
static void find_clobber(struct ptx_unit *unit, struct ptx_clobber *out)
{
    *out = unit->clobber;
    out->v[0] |= 3;
    for (size_t v = 0; v < unit->vregs.count; v++) {
        unsigned at = unit->assigned[v], rows = unit->vregs.at[v].rows;

        if (at == 0xffff)
            continue;
        if (rows == 0)
            out->p |= (uint8_t)(1u << at);
        for (unsigned k = 0; k < rows; k++) {
            if (at + k < PTX_FIRST_SAVED)
                out->v[(at + k) / 64] |= UINT64_C(1) << ((at + k) % 64);
        }
    }
    out->v[0] &= ~UINT64_C(0xc);
}

/* Adds up the stack of the function and its callees. The recursion depth of a recursive function is unknown, so its stack
 * counts as a fixed number of bytes, or as more if one call needs more. */
static void add_stack(struct ptx_unit *unit)
{
    const struct ptx_options *options = unit->job->options;
    const struct ptx_calls *calls = &unit->function->calls;
    struct ptx_tree *scc = &unit->module->sccs.at[calls->scc];
    uint64_t align = unit->module->frame_align, own;
    uint64_t recursion = options != NULL && options->stack_bytes != 0 ? options->stack_bytes
                                                                   : RECURSION_BYTES;

    scc->frame_bytes += calls->tree.frame_bytes;
    if (scc->below_bytes < calls->tree.below_bytes)
        scc->below_bytes = calls->tree.below_bytes;
    own = scc->frame_bytes;
    if (calls->recursive && own < recursion)
        own = recursion;
    scc->stack_bytes = ((own + align - 1) & ~(align - 1)) + scc->below_bytes;
}

void ptx_calls_barriers(struct ptx_unit *unit)
{
    struct ptx_calls *calls = &unit->function->calls;
    struct ptx_tree *recursion = &unit->module->sccs.at[calls->scc];
    unsigned own = unit->breg_count > unit->breg_base ? unit->breg_count : unit->breg_base;

    calls->tree.barriers = saves_all(unit) ? 0 : own;
    calls->tree.lossy = unit->lossy;
    if (recursion->barriers < calls->tree.barriers)
        recursion->barriers = calls->tree.barriers;
}

void ptx_calls_end(struct ptx_unit *unit)
{
    struct ptx_calls *calls = &unit->function->calls;

    find_clobber(unit, &calls->tree.clobber);
    ptx_calls_barriers(unit);
    calls->tree.breg_count = unit->breg_count;
    calls->tree.soft = unit->soft;
    calls->tree.needs_warp_32 = unit->needs_warp_32;
    calls->tree.dynamic_shared = unit->dynamic_shared;
    calls->tree.vreg_count = unit->vreg_count;
    calls->tree.shared_bytes = unit->shared_bytes;
    if (unit->module->sccs.at[calls->scc].shared_end < unit->shared_bytes)
        unit->module->sccs.at[calls->scc].shared_end = unit->shared_bytes;
    if (unit->module->sccs.at[calls->scc].shared_end < unit->shared_below)
        unit->module->sccs.at[calls->scc].shared_end = unit->shared_below;
    if (!unit->framed)
        calls->tree.frame_bytes = (unit->local_bytes + 15) & ~UINT64_C(15);
    add_stack(unit);
}

/* ---- after all functions are translated -------------------------------------------------------- */

static void add_tree(struct ptx_tree *into, const struct ptx_tree *from)
{
    into->soft |= from->soft;
    into->needs_warp_32 |= from->needs_warp_32;
    into->dynamic_shared |= from->dynamic_shared;
    if (into->breg_count < from->breg_count)
        into->breg_count = from->breg_count;
    if (into->vreg_count < from->vreg_count)
        into->vreg_count = from->vreg_count;
    if (into->shared_bytes < from->shared_bytes)
        into->shared_bytes = from->shared_bytes;
}

/* Adds up the totals of each SCC. Callees come first in the order, so their totals are complete when a caller adds them. */
static void sum_up(struct graph *g)
{
    struct ptx_module *module = g->module;

    for (size_t i = 0; i < module->order.count; i++) {
        uint32_t node = module->order.at[i], scc = scc_of(g, node);

        if (node != module->functions.count)
            add_tree(&module->sccs.at[scc], &calls_of(g, node)->tree);
        for (uint32_t k = 0, to; (to = edge(g, node, k)) != PTX_NONE; k++) {
            if (scc_of(g, to) != scc)
                add_tree(&module->sccs.at[scc], &module->sccs.at[scc_of(g, to)]);
        }
    }
}

/* Makes all barriers soft (MACHINE 2) in functions that a kernel with soft barriers calls, directly or through others. */
static void spread_soft(struct graph *g)
{
    struct ptx_module *module = g->module;
    uint8_t *soft = PTX_ARRAY(g->job, uint8_t, module->sccs.count + 1);

    for (size_t i = module->order.count; i-- > 0;) {
        uint32_t node = module->order.at[i], scc = scc_of(g, node);

        if (node != module->functions.count && module->functions.at[node].kernel)
            soft[scc] = module->sccs.at[scc].soft;
        for (uint32_t k = 0, to; soft[scc] && (to = edge(g, node, k)) != PTX_NONE; k++)
            soft[scc_of(g, to)] = 1;
    }
    for (size_t f = 0; f < module->functions.count; f++) {
        struct ptx_calls *calls = &module->functions.at[f].calls;

        if (calls->reachable)
            calls->soft = soft[calls->scc];
    }
}

static void patch_function(struct ptx_job *job, const struct ptx_module *module,
                           const struct ptx_calls *calls)
{
    struct isa_object *object = job->object;
    const struct isa_function *fn = &object->functions[calls->index];
    struct lw_error err;

    for (uint32_t i = fn->first; i < fn->first + fn->count; i++) {
        struct isa_insn in;
        bool change = false;

        if (!isa_insn_decode(object->text[i], &in))
            ptx_fail(job, 0, LW_ESTATE, "internal error: word %u cannot be read", i);
        if (in.op == ISA_CALL) { /* The target of the call is a function's number, as stored by ptx_emit(). */
            const struct ptx_calls *to = &module->functions.at[in.x].calls;

            in.x = object->functions[to->index].first - (i + 1);
            change = true;
        } else if (in.op == ISA_BSYNC && calls->soft && !in.variant) {
            in.variant = change = true;
        }
        if (change && isa_insn_encode(&in, &object->text[i], &err) != LW_OK)
            ptx_fail(job, 0, LW_ESTATE, "internal error: %s", err.text);
    }
}

void ptx_calls_finish(struct ptx_job *job, struct ptx_module *module)
{
    struct graph g = { .job = job, .module = module };

    for (uint32_t f = 0; f < module->functions.count; f++) {
        if (module->functions.at[f].calls.address_taken)
            *PTX_PUSH(job, g.taken) = f;
    }
    sum_up(&g);
    spread_soft(&g);
    for (size_t f = 0; f < module->functions.count; f++) {
        const struct ptx_function *fn = &module->functions.at[f];
        const struct ptx_tree *tree;
        struct isa_function *out;

        if (!fn->calls.reachable)
            continue;
        out = &job->object->functions[fn->calls.index];
        if (fn->calls.any || (fn->calls.soft && !fn->calls.tree.soft))
            patch_function(job, module, &fn->calls);
        if (!fn->kernel)
            continue;
        tree = &module->sccs.at[fn->calls.scc];
        if (tree->stack_bytes > 1u << 23)
            ptx_fail(job, fn->line, LW_EUNSUPP, "'%s' needs more than 8 MiB of local memory",
                     fn->name);
        out->local_bytes = (uint32_t)tree->stack_bytes;
        out->shared_bytes = tree->shared_bytes;
        out->vreg_count = (uint16_t)tree->vreg_count;
        out->breg_count = (uint16_t)tree->breg_count;
        out->needs_warp = tree->needs_warp_32 ? 32 : 0;
        out->dynamic_shared = tree->dynamic_shared;
    }
}
