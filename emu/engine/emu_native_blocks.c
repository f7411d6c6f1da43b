/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution of whole blocks in native code. One call of native code executes many blocks, warp after warp, each warp to its next
 * CTA barrier or to its end. While all warps of a block arrive at the same barriers, and end, in native code, next_warps() updates
 * the state of barriers and splits once for all warps, and the call continues with the first warp of this or of another block. If
 * the code leaves before an exit of some lanes, the engine executes the exit, and masked code executes the other lanes. A warp that
 * leaves native code elsewhere is a *slow* warp from then on: the interpreter executes it alone, from barrier to barrier, and calls
 * native code at its entries as usual. The order of the warps cannot change results, because only order-free kernels (MACHINE 4)
 * have native code.
 */
#include <string.h>

#include "emu/engine/emu_threads_priv.h"
#include "emu/grid/emu_grid_priv.h"
#include "emu/interp/emu_native_priv.h"

/* Largest number of instructions that a block executes here without a store. After this number the engine continues the block,
 * and searches for a hang. */
enum { MOST_WITHOUT_STORE = 1 << 22 };

/** How far a block was executed. */
enum block_end {
    ENDS,         /* native code has executed all warps up to their exits. The exits are counted, too, although the block's state
                   * is still that of a running block. emu_core_block_next() can turn the block into the next block */
    ENDED_SLOWLY, /* the block has ended, and the interpreter has executed a part of it */
    STOPS         /* the engine must continue the block */
};

/** If the instruction at the warp's pc is an exit, returns the lanes that it ends; otherwise returns no lanes. @w has one split,
 *  which runs. */
static inline uint64_t leaving(const struct emu_warp *w)
{
    const struct emu_dinsn *di = &w->code->insn[w->split[w->running].pc];

    return di->op == ISA_EXIT ? w->e & emu_guard(w, di) : 0;
}
/** Returns true if all lanes of @w exit at the next instruction. */
static inline bool is_end(const struct emu_warp *w)
{
    return w->split_count == 1 && leaving(w) == w->m;
}

/** Counts @count instructions of @w, which all its lanes have executed. */
static inline void count_whole(struct emu_warp *w, uint64_t count)
{
    w->retired += count;
    w->slice_start = w->retired;
    w->lane_retired += count * w->m_count;
    w->block->retired += count;
    w->core->retired += count;
    w->core->native.missing += count * (w->width - w->m_count);
}

/** Counts @count instructions that @w has executed in a call of native code for @lanes lanes. @missing: the number of these
 *  instructions times @lanes, less the thread instructions. The lanes that run now may be fewer. */
static inline void count_visit(struct emu_warp *w, uint64_t count, unsigned lanes, uint64_t missing)
{
    const uint64_t more = count * (lanes - w->m_count) - missing; /* count_whole() counts for the lanes that run now */

    count_whole(w, count);
    w->lane_retired += more;
    w->core->native.missing -= more;
}

/** Counts the instructions of @record, which @w has executed, and @more instructions of all lanes. Returns their number. */
static inline uint64_t count_record(struct emu_warp *w, const struct emu_native_record *record, unsigned more)
{
    const uint64_t retired = (record->retired >> 32) + more;

    count_whole(w, retired);
    w->lane_retired -= record->missing;
    w->core->native.missing += record->missing;
    w->core->native.events.uneven += record->missing != 0;
    return retired;
}

/** Called when native code has left before an exit of some lanes. Executes the exit, and then masked code with the remaining
 *  lanes. Repeats this until all remaining lanes are at an exit, or masked code leaves at another instruction. */
static void run_after_exits(struct emu_warp *w)
{
    struct emu_core *core = w->core;
    struct emu_core_native *native = &core->native;
    const struct emu_native_kernel *masked = native->masked.kernel;
    uint64_t gone;

    while (w->split_count == 1 && (gone = leaving(w)) != 0 && gone != w->m && core->retired < native->until) {
        const uint32_t next = w->split[w->running].pc + 1;
        const unsigned entry = masked != NULL && next - masked->first < masked->count ? masked->entry[next - masked->first] : 0;
        if (entry == 0) {
            native->requests += masked == NULL && !native->masked_done;
            return;
        }
        count_whole(w, 1);
        native->retired++;
        emu_split_exit(w, gone, next);
        if (!emu_split_select_soon(w))
            return;
        const struct emu_native_frame *frame = emu_native_frame_of(w);
        const struct emu_native_site *site = emu_native_run(core, &native->masked, entry - 1u);
        if (frame->site == 0)
            return;
        const unsigned lanes = w->m_count;
        const uint64_t missing = frame->divided ? emu_native_divided(w, masked, site) : 0;
        w->split[w->running].pc = site->next;
        count_visit(w, frame->retired, lanes, missing);
        if (site->parks != 0) { /* the interpreter executes the barrier */
            native->park[w->index] = site->parks;
            native->parked++;
            return;
        }
    }
}

/** Records that @w is parked for entry @parks - 1 or, if @parks is 0, that it is not parked. */
static void set_parked(struct emu_warp *w, uint32_t parks)
{
    struct emu_core_native *native = &w->core->native;

    native->parked += (parks != 0) - (native->park[w->index] != 0);
    native->park[w->index] = parks;
}

/** Returns the site of element @i of native->record. */
static inline const struct emu_native_site *site_of(const struct emu_core_native *native, unsigned i)
{
    return &native->whole.kernel->site[(uint32_t)native->record[i].retired];
}

/** Called when native code has executed warps, from @w on, up to their exits or barriers. Gives these warps the state that they
 *  have there. Returns the number of these warps. */
static unsigned take_records(struct emu_warp *w)
{
    struct emu_core_native *native = &w->core->native;
    const unsigned count = (unsigned)native->frame.ended;

    for (unsigned i = 0; i < count; i++) {
        const struct emu_native_site *site = site_of(native, i);
        w[i].split[w[i].running].pc = site->next;
        native->retired += count_record(&w[i], &native->record[i], 0);
        set_parked(&w[i], site->parks);
    }
    return count;
}

/** Runs *@warp in native code: from where it is parked, or from entry @start. If @count is not 0, *@warp and the warps after it,
 *  @count in all, have just begun, or are parked for the same entry. The code may then execute all of them, up to later barriers,
 *  and further blocks (next_warps()). Sets *@warp to the warp at which the code left; native->record has the sites of this warp and
 *  of the warps before it, which are at exits or barriers. Returns false if the code executed nothing. */
static bool run_warps(struct emu_warp **warp, uint32_t start, unsigned count)
{
    struct emu_warp *w = *warp;
    struct emu_core *core = w->core;
    struct emu_core_native *native = &core->native;
    const uint32_t parked = native->park[w->index];
    const uint64_t window = core->machine->config.hang_window;

    native->entry = parked != 0 ? (parked - 1) | EMU_NATIVE_RESUME : start;
    native->call_until = core->retired + (window != 0 && window < EMU_NATIVE_LONGEST_VISIT ? window : EMU_NATIVE_LONGEST_VISIT);
    if (core->retired >= native->until)
        return false;
    (void)emu_split_select_soon(w); /* the warp has one split, which is ready */
    for (unsigned i = 1; i < count; i++)
        (void)emu_split_select_soon(&w[i]);
    struct emu_native_frame *frame = emu_native_frame_of(w);
    frame->warps = count;
    const struct emu_native_site *site = emu_native_run(core, &native->whole, native->entry);
    if (frame->site == 0)
        return false;
    w += take_records(w);
    *warp = w;
    native->record[frame->ended] = (struct emu_native_record){.retired = frame->site};
    w->split[0].pc = site->next;
    set_parked(w, site->parks);
    uint64_t missing = frame->divided ? emu_native_divided(w, native->whole.kernel, site) : frame->missing;
    frame->missing = 0;
    missing += frame->retired * lw_popcount(frame->gone);
    count_visit(w, frame->retired, w->width, missing);
    if (frame->gone != 0) {
        native->events.uneven++;
        native->spilled[w->index] = true;
        emu_split_exit(w, frame->gone, site->next);
        (void)emu_split_select_soon(w);
    }
    if (site->parks == 0 && (w->split_count != 1 || leaving(w) == 0)) {
        const bool resumed = (native->entry & EMU_NATIVE_RESUME) != 0;
        emu_native_count_visit(core, &native->whole, native->entry & ~(uint32_t)EMU_NATIVE_RESUME, frame->retired, resumed);
    } else if (site->parks == 0 && (w->code->insn[site->next].guard & 31) != ISA_PT) {
        native->spilled[w->index] = true;
        run_after_exits(w);
    }
    return true;
}

/** Lets the interpreter execute slow warp @w until no split of the warp is ready. Returns false if it stops earlier. */
static bool interpret(struct emu_warp *w)
{
    uint64_t count;
    struct emu_warp *last = w;

    if (w->core->retired >= w->core->native.until)
        return false;
    const enum emu_slice_end end = emu_warp_run_slice(&last, EMU_NATIVE_LONGEST_VISIT, &count);

    return end == EMU_SLICE_WARP_ENDED || (end == EMU_SLICE_DONE && !emu_split_has_ready(w));
}

/** Makes @w a slow warp, and lets the interpreter execute it. */
static bool slow_down(struct emu_warp *w)
{
    struct emu_core_native *native = &w->core->native;

    native->slow[w->index] = true;
    native->events.slow++;
    if (native->park[w->index] != 0)
        emu_native_unpark_warp(w);
    w->running = -1; /* the warp continues at the pc of its split */
    return interpret(w);
}

/** Executes the exits of the warps of @block that have ended (emu_core_native.ended). */
static void exit_ended(struct emu_block *block)
{
    struct emu_core_native *native = &block->core->native;

    for (struct emu_warp *w = block->warp, *end = w + block->warp_count; w < end; w++) {
        if (!native->ended[w->index])
            continue;
        native->ended[w->index] = false;
        native->events.ended++;
        count_whole(w, 1);
        native->retired++;
        emu_split_exit(w, w->m, w->split[w->running].pc + 1);
    }
}

/** Prepares @block to be continued by the engine. */
static enum block_end hand_over(struct emu_block *block)
{
    exit_ended(block);
    emu_native_unpark(block);
    for (unsigned i = 0; i < block->warp_count; i++)
        if (!block->core->native.slow[i])
            block->warp[i].running = -1;
    return STOPS;
}

/** Called when all warps of @block have left native code at @site, and none of the warps is slow. If @site is a barrier at which
 *  all of them can arrive together, executes the arrival; otherwise returns false. */
static bool continue_together(struct emu_block *block, const struct emu_native_site *site)
{
    const unsigned id = block->warp->code->insn[site->next].reg;

    if (site->parks == 0 || !emu_split_bar_usual(block->warp, id))
        return false;
    for (unsigned i = 0; i < block->warp_count; i++) {
        count_whole(&block->warp[i], 1);
        block->warp[i].split[0].pc++;
    }
    block->core->native.retired += block->warp_count;
    emu_split_bar_together(block, id);
    return true;
}

/** Called when @w, which is not slow, is at its end or is parked before a barrier. Executes the exit, or the arrival at the
 *  barrier. Returns false if the engine must continue the block. */
static bool arrive(struct emu_warp *w)
{
    struct emu_core_native *native = &w->core->native;
    const struct emu_dinsn *di = &w->code->insn[w->split[0].pc];

    if (native->park[w->index] == 0 || !emu_split_bar_usual(w, di->reg))
        return slow_down(w);
    count_whole(w, 1);
    native->retired++;
    (void)emu_split_bar_alone(w, di->reg, w->split[0].pc + 1);
    return true;
}

/** Returns true if the engine must do something else than execute @block. */
static bool must_stop(const struct emu_functional *f, const struct emu_block *block)
{
    const struct emu_claims *claims = f->claims;
    const struct emu_engine *engine = claims != NULL ? claims->engine : &f->base;

    return __atomic_load_n(&engine->interrupted, __ATOMIC_RELAXED) || f->base.machine->halt ||
           (claims != NULL && block->linear > __atomic_load_n(&claims->limit, __ATOMIC_RELAXED));
}

/** Ends @block, the current block of @f, which native code has executed to its end. The caller has already counted the block's
 *  instructions. */
static void end_block(struct emu_functional *f, struct emu_block *block)
{
    emu_split_block_ends(block);
    emu_text_block_ended(f->base.machine, block->grid, block->linear);
    block->ended = false; /* its instructions are counted */
    if (!emu_resident_advance(f))
        emu_fixed_leave(f, f->current);
}

/** All warps of @block have arrived at their exits in a call of native code. Ends the block, and begins another one in its place.
 *  Returns false if there is none. */
static bool next_block(struct emu_functional *f, struct emu_block *block)
{
    struct emu_core *core = f->core;
    struct emu_core_native *native = &core->native;
    const bool writes = native->whole.kernel->writes, begun_here = block->retired == 0;
    uint64_t retired = 0;

    if (!emu_resident_prepare_next(f))
        return false;
    for (unsigned i = 0; i < block->warp_count; i++) {
        retired += native->record[i].retired >> 32;
        native->missing += native->record[i].missing;
        native->events.uneven += native->record[i].missing != 0;
    }
    if (native->parked != 0)
        memset(native->park, 0, block->warp_count * sizeof *native->park);
    native->parked = 0;
    native->retired += retired;
    retired += block->warp_count; /* counts the exits, too */
    core->retired += retired;
    core->stats.thread_instructions += (block->retired + retired) * block->warp->width - native->missing;
    native->missing = 0;
    end_block(f, block);
    emu_core_block_next(block, f->resident[f->current].linear, writes, begun_here ? NULL : native->spilled);
    for (unsigned i = 0; writes && i < block->warp_count; i++)
        (void)emu_split_select_soon(&block->warp[i]);
    native->entry = native->begin_entry;
    native->events.successors++;
    return true;
}

/** All warps of @block have arrived at @site, a barrier, in a call of native code. Executes the arrival of all of them. Returns
 *  false if they cannot arrive together. */
static bool next_phase(struct emu_block *block, const struct emu_native_site *site)
{
    struct emu_core_native *native = &block->core->native;
    struct emu_warp *const warp = block->warp;
    const unsigned id = warp->code->insn[site->next].reg, count = block->warp_count;
    uint64_t retired = 0;

    if (!emu_split_bar_usual(warp, id))
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct emu_warp *w = &warp[i];
        retired += count_record(w, &native->record[i], 1);
        w->split[w->running].pc = site->next + 1;
        native->park[i] = site->parks;
    }
    native->retired += retired;
    native->parked = count;
    emu_split_bar_together(block, id);
    for (unsigned i = 0; i < count; i++)
        (void)emu_split_select_soon(&warp[i]);
    native->entry = (site->parks - 1) | EMU_NATIVE_RESUME;
    return true;
}

/** Implements emu_native_calls.next_warps(). Returns no entry if the call of native code did not begin with the block's first
 *  warp. */
static uint32_t next_warps(struct emu_functional *f)
{
    struct emu_core *core = f->core;
    struct emu_core_native *native = &core->native;
    struct emu_block *block = ((struct emu_warp *)native->frame.warp)->block;
    const struct emu_native_site *site = site_of(native, 0);

    if (native->frame.first_thread != 0 || must_stop(f, block) || core->retired >= native->until || core->retired >= native->call_until)
        return EMU_NATIVE_NO_ENTRY;
    for (unsigned i = 1; i < block->warp_count; i++)
        if (site_of(native, i)->parks != site->parks)
            return EMU_NATIVE_NO_ENTRY;
    return (site->parks != 0 ? next_phase(block, site) : next_block(f, block)) ? native->entry : EMU_NATIVE_NO_ENTRY;
}

/** Executes @block by code for whole warps and by the interpreter. @block has just begun, and no warp of it has missing lanes.
 *  The caller has called emu_native_use(), and there is code for the kernel's first instruction. Native code may execute further
 *  blocks in the place of @block. The result describes the last block that was executed. This block is then the current block of
 *  @f. */
static enum block_end run_block(struct emu_functional *f, struct emu_block *block)
{
    const uint64_t window = f->base.machine->config.hang_window;
    const uint64_t most = window != 0 && window < MOST_WITHOUT_STORE ? window : MOST_WITHOUT_STORE;
    uint64_t progress = 0, progress_at = 0; /* progress: last value of block->progress; progress_at: value of block->retired when
                                             * block->progress was last found to have grown */
    struct emu_core *core = block->core;
    struct emu_core_native *native = &core->native;
    const struct emu_native_kernel *kernel = native->whole.kernel;
    const uint32_t start = kernel->entry[block->grid->launch.kernel->first - kernel->first] - 1u;
    unsigned slow = 0;
    bool abreast = true; /* all warps that have not moved since the last barrier have just begun, or are parked for the same entry */

    memset(native->slow, 0, block->warp_count * sizeof *native->slow);
    memset(native->spilled, 0, block->warp_count * sizeof *native->spilled);
    memset(native->ended, 0, block->warp_count * sizeof *native->ended);
    native->missing = 0;
    native->begin_entry = start;
    for (;;) {
        const struct emu_native_site *common = NULL;
        bool together = slow == 0;
        unsigned moved = 0, ended = 0;
        if (block->progress != progress || block->retired < progress_at) { /* the second: native code has begun another block */
            progress = block->progress;
            progress_at = block->retired;
        }
        if (must_stop(f, block) || block->retired - progress_at > most)
            return hand_over(block);
        for (struct emu_warp *w = block->warp, *end = w + block->warp_count; w < end; w++) {
            if (!emu_split_has_ready(w))
                continue;
            moved++;
            if (native->slow[w->index]) {
                if (!interpret(w))
                    return hand_over(block);
                continue;
            }
            struct emu_warp *const first = w;
            if (!run_warps(&w, start, abreast ? (unsigned)(end - w) : 0))
                return hand_over(block);
            moved += (unsigned)(w - first);
            for (struct emu_warp *x = first; x <= w; x++) {
                const struct emu_native_site *site = site_of(native, (unsigned)(x - first));
                together = together && (common == NULL || common->next == site->next);
                common = site;
                if (x < w ? site->parks == 0 : is_end(x)) {
                    ended++;
                    native->ended[x->index] = x < w;
                } else if (x->m != x->all || x->split_count != 1 || site->parks == 0) {
                    slow++;
                    together = false;
                    if (!slow_down(x))
                        return hand_over(block);
                }
            }
        }
        if (moved == 0)
            return hand_over(block); /* all warps wait, and the engine decides whether the block hangs */
        abreast = false;
        if (ended == block->warp_count && slow == 0) {
            core->retired += ended; /* counts the exits, too */
            core->stats.thread_instructions += block->retired * block->warp->width + block->threads_live - native->missing;
            return ENDS;
        }
        if (together && moved == block->warp_count && continue_together(block, common)) {
            abreast = true;
            continue;
        }
        exit_ended(block);
        for (struct emu_warp *w = block->warp, *end = w + block->warp_count; w < end; w++) {
            if (native->slow[w->index] || w->running < 0) /* the arrival of another warp has just woken this warp, so it has
                                                           * already passed the barrier */
                continue;
            if (!arrive(w))
                return hand_over(block);
            slow += native->slow[w->index];
        }
        if (block->threads_live == 0)
            return ENDED_SLOWLY;
    }
}

/** Returns true if visits of the entry of code for whole warps at instruction @index were too short to pay. */
static bool avoids(const struct emu_core *core, uint32_t index)
{
    const struct emu_native_form *form = &core->native.whole;

    return form->gain[form->kernel->entry[index - form->kernel->first] - 1].instructions == (uint32_t)EMU_NATIVE_NOT_USED;
}

/** Returns true if blocks of @grid can be executed by run_block(). */
static bool runs_blocks(struct emu_core *core, struct emu_grid *grid)
{
    const struct emu_core_native *native = &core->native;
    const uint32_t first = grid->launch.kernel->first;

    if (native->grid != grid || native->sequence != grid->sequence)
        emu_native_use(core, grid, NULL, 0);
    const struct emu_native_kernel *kernel = native->whole.kernel;
    return kernel != NULL && grid->block_threads % core->machine->config.warp_width == 0 && first - kernel->first < kernel->count &&
           kernel->entry[first - kernel->first] != 0 && !avoids(core, first);
}

bool emu_native_blocks(struct emu_functional *f)
{
    struct emu_core *core = f->core;
    const struct emu_machine *machine = core->machine;
    const struct emu_engine *engine = f->claims != NULL ? f->claims->engine : &f->base;
    const uint64_t until = emu_fixed_native_until(f);
    struct emu_block *block = NULL;
    struct emu_grid *grid = NULL;
    unsigned slot;
    enum block_end end = ENDS;

    if (!emu_native_permitted(machine))
        return false;
    core->native.next_warps = next_warps;
    core->native.engine = f;
    while (end != STOPS && core->retired < until && !machine->halt && emu_fixed_take_up_next(f) && f->order_free && f->count != 0 &&
           !__atomic_load_n(&engine->interrupted, __ATOMIC_RELAXED)) {
        struct emu_resident *r = &f->resident[f->current];
        if (r->slot >= 0 || (grid != NULL && r->grid != grid))
            break;
        if (block == NULL || end == ENDED_SLOWLY) {
            grid = r->grid;
            block = NULL;
            if (!runs_blocks(core, grid) || emu_core_block_start(core, grid, r->linear, &slot, NULL) != LW_OK)
                break; /* the engine starts the block, and reports the error */
            block = emu_core_block(core, slot);
            block->next_warp = block->warp_count - 1;
            emu_native_use(core, grid, block, until);
        } else {
            emu_core_block_next(block, r->linear, core->native.whole.kernel->writes, core->native.spilled);
        }
        if (!__atomic_load_n(&grid->started, __ATOMIC_RELAXED))
            emu_grid_begin(core->machine, grid);
        end = run_block(f, block);
        if (end == STOPS) {
            f->resident[f->current].slot = (int)slot;
            break;
        }
        if (end == ENDS) {
            end_block(f, block);
        } else {
            emu_core_block_free(core, slot);
            emu_fixed_leave(f, f->current);
        }
    }
    core->native.until = 0;
    if (block != NULL && end == ENDS)
        emu_core_block_free(core, slot);
    return grid != NULL && end != STOPS && f->claims == NULL && f->grid != grid;
}
