/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resuming and stop replies. A packet that resumes becomes one call of debug/, and the stop that debug/ returns becomes
 * the reply. debug/ defines what a step of a lane is (MACHINE 9). run() handles every resume in three phases:
 *
 *   answer_without_running()  sends replies that need no execution: the run has ended, the position that the client has
 *                             read is outdated, a signal ends the program, or the step is suppressed
 *   begin_run(), resume()     make the call of debug/, unless an interrupt is pending
 *   report_exit(), report()   send the reply: the thread ended in its step, or a thread stopped
 *
 * Some members of struct rsp record an earlier packet or stop, because one client needs it:
 *
 *   member              client       set by                              read by
 *   exited, exited_past gdb, lldb    report_exited(): thread ended       rsp_data.c: pc of the thread, until the next run
 *   suppress_next_step  gdb aarch64  report(): watchpoint hit            answer_without_running()
 *   reported            gdb          report(): breakpoint hit            resume(): gdb did not step over it (dprintf)
 *   locks               gdb          begin_run(): one warp ran alone     begin_run(): is this a step over a breakpoint?
 *   launch_lifted       gdb          rsp_points.c: z at <launch>         rsp_do_vcont(): ended thread steps over <launch>
 *   launch_wanted       gdb          rsp_points.c: Z at <launch>         rsp_notes.c: until, advance
 *   shown, shown_*      gdb          list of threads requested           focus_as_shown(): lane of next and finish
 *   end_reported        gdb          stop_before_end()                   is_at_end(), rsp_to_end()
 *   crowd_noted         gdb          rsp_notes.c: note printed           rsp_notes.c: the note is not repeated
 *   missing_noted       gdb          rsp_notes.c: note printed           rsp_notes.c: the note is not repeated
 *   no_resumed          gdb          qSupported                          reply "N": the only resumed thread ended
 *   interrupt_pending   gdb          Ctrl-C between two steps            run(): the next resume stops
 *   lifted[]            lldb         rsp_arrivals.c: z packet            begin_run(): step over a breakpoint
 *   unset[]             gdb          rsp_arrivals.c: z packet            resume(): blocked warp that cannot step over
 *   inside              gdb          rsp_arrivals.c: step over           resume(): the next step completes a barrier
 */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTES_MAX = 1 << 14 }; /* bytes of notes that are kept until the next run; later notes are dropped */

/* ---- notes while running -------------------------------------------------------------- */

static void note_flush(struct rsp *rsp)
{
    if (rsp->note.size != 0)
        rsp_send_console(rsp, rsp->note.text, rsp->note.size);
    lw_buffer_clear(&rsp->note);
}

static void note_write(struct lw_sink *sink, const char *text, size_t size)
{
    struct rsp *rsp = (struct rsp *)((char *)sink - offsetof(struct rsp, messages));

    if (!rsp_has(rsp, RSP_F_NOTES) && !rsp->in_monitor)
        return;
    /* Console packets are only allowed while the client waits for a stop or for the output of a monitor command. Notes
     * that arise at other times, for example at a register write, are kept until the client waits again. */
    if (!rsp->running && rsp->note.size >= NOTES_MAX)
        return;
    rsp->note.sink.write(&rsp->note.sink, text, size);
    if (rsp->running &&
        (rsp->note.size >= 1024 || (size != 0 && text[size - 1] == '\n')))
        note_flush(rsp);
}

void rsp_messages_init(struct rsp *rsp)
{
    rsp->messages.write = note_write;
    lw_buffer_init(&rsp->note);
}

void rsp_run_begin(struct rsp *rsp)
{
    rsp_lldb_close(rsp); /* deletes the file as soon as lldb has read it, so that the file never remains */
    rsp->running = true;
    rsp->threads_valid = false;
    rsp_listener_begin(rsp->listener);
    if (rsp->listener_failed) {
        rsp->listener_failed = false;
        lw_put(&rsp->messages, "note: Ctrl-C has no effect, as the host could not start a thread for it\n");
    }
}

void rsp_run_end(struct rsp *rsp)
{
    rsp_listener_end(rsp->listener);
    note_flush(rsp);
    rsp->running = false;
}

enum verb { VERB_CONTINUE, VERB_STEP, VERB_RANGE, VERB_BACK, VERB_BACK_STEP };

struct action {
    enum verb verb;
    dbg_thread_id id; /* thread of the action. The value 0 means all threads if the action is a continue, and the thread of the
                       * last stop if it is another action */
    bool locked;      /* no other warp is resumed */
    bool over;        /* lldb steps while a breakpoint is removed, which may be the breakpoint of another warp */
    bool is_step_over; /* the step only moves the thread past its breakpoint, before the client continues all warps */
    uint64_t low, high; /* VERB_RANGE: the step ends at the first pc outside of [low, high) */
    unsigned signal;
    uint64_t pc; /* pc of the thread before the action */
};

/* ---- stop replies ---------------------------------------------------------------------- */

static unsigned fault_signal(enum emu_fault_kind kind)
{
    switch (kind) {
    case EMU_FAULT_OUT_OF_BOUNDS:
    case EMU_FAULT_FREED:
    case EMU_FAULT_READ_ONLY:
    case EMU_FAULT_NULL_PAGE:
    case EMU_FAULT_TEXTURE:
    case EMU_FAULT_BAD_PC:
    case EMU_FAULT_BAD_CALL:
        return RSP_SIGSEGV;
    case EMU_FAULT_MISALIGNED:
        return RSP_SIGBUS;
    case EMU_FAULT_ASSERT:
        return RSP_SIGABRT;
    default:
        /* A fault by the instruction `trap` is not reported as SIGTRAP, which gdb would treat as the end of a step. */
        return RSP_SIGILL;
    }
}

static unsigned gdb_signal(const struct rsp *rsp, const struct dbg_stop *stop)
{
    if (!rsp_has(rsp, RSP_F_FAULT_SIGNAL) &&
        (stop->kind == DBG_STOP_FAULT || stop->kind == DBG_STOP_FINDING))
        return RSP_SIGTRAP;
    switch (stop->kind) {
    case DBG_STOP_FAULT: return fault_signal(stop->fault.kind);
    case DBG_STOP_HANG: return RSP_SIGABRT;
    /* A finding is not reported as SIGTRAP, which gdb would treat as the end of a step. When gdb resumes with this signal, the
     * signal has no effect. */
    case DBG_STOP_FINDING: return RSP_SIGUSR1;
    case DBG_STOP_INTERRUPT: return RSP_SIGINT;
    default: return RSP_SIGTRAP;
    }
}

/* Returns the signal number of a stop. lldb uses the numbers of Linux, because it assumes that the program runs on Linux. */
static unsigned stop_signal(const struct rsp *rsp, const struct dbg_stop *stop)
{
    enum { LINUX_SIGBUS = 7, LINUX_SIGUSR1 = 10 }; /* the other signals have the same numbers in gdb and Linux */
    unsigned signal = gdb_signal(rsp, stop);

    if (!rsp->lldb)
        return signal;
    return signal == RSP_SIGBUS ? LINUX_SIGBUS : signal == RSP_SIGUSR1 ? LINUX_SIGUSR1 : signal;
}

/* Appends the reply for the end of the run. Without the feature "exit" this reply is a stop. */
static void put_exit(struct rsp *rsp)
{
    lw_put(&rsp->reply.sink, rsp_has(rsp, RSP_F_EXIT) ? "W00" : "S05");
}

static void put_expedited(struct rsp *rsp, dbg_thread_id id, unsigned number)
{
    uint8_t data[RSP_REG_BYTES];

    if (rsp_thread_read(rsp, id, number, data, NULL) != LW_OK)
        return;
    lw_printf(&rsp->reply.sink, "%02x:", number);
    rsp_put_hex(&rsp->reply, data, rsp->target.regs[number].bytes);
    lw_put(&rsp->reply.sink, ";");
}

/* Appends the reason of a stop to the reply. */
static void put_reason(struct rsp *rsp, const struct dbg_stop *stop)
{
    const struct rsp_point *point = NULL;
    const char *reason;

    switch (stop->kind) {
    case DBG_STOP_BREAKPOINT:
    case DBG_STOP_WATCH: point = rsp_point_find(rsp, stop->point); break;
    case DBG_STOP_HISTORY_BEGIN:
    case DBG_STOP_HISTORY_END:
        if (rsp_has(rsp, RSP_F_REPLAY_LOG))
            lw_printf(&rsp->reply.sink, "replaylog:%s;",
                      stop->kind == DBG_STOP_HISTORY_BEGIN ? "begin" : "end");
        return;
    default: break;
    }
    reason = point != NULL ? rsp_point_reason(rsp, point) : NULL;
    if (reason == NULL)
        return;
    lw_printf(&rsp->reply.sink, "%s:", reason);
    if (stop->kind == DBG_STOP_WATCH)
        lw_printf(&rsp->reply.sink, "%llx", (unsigned long long)point->address);
    lw_put(&rsp->reply.sink, ";");
}

/* Writes the stop reply, such as "T05thread:1;swbreak:;10:...;", with the registers that the client's unwinder needs. */
static void put_stop(struct rsp *rsp, unsigned signal, dbg_thread_id id,
                     const struct dbg_stop *stop)
{
    const struct rsp_arch_info *arch = rsp->target.arch;

    if (id == 0) {
        put_exit(rsp);
        return;
    }
    rsp_view_set(rsp, id); /* makes later register and memory packets refer to the stopped thread */
    rsp_thread_seen(rsp, id);
    rsp->named.stop = id;
    rsp_chosen_set(rsp, id);
    rsp_numbers_stop(rsp, id);
    rsp_known_record(rsp, id);
    rsp_arrivals_report(rsp, id);
    lw_printf(&rsp->reply.sink, "T%02xthread:%llx;", signal, (unsigned long long)id);
    if (stop != NULL)
        put_reason(rsp, stop);
    if (!rsp_has(rsp, RSP_F_EXPEDITED))
        return;
    put_expedited(rsp, id, arch->pc);
    put_expedited(rsp, id, arch->sp);
    put_expedited(rsp, id, arch->fp);
    if (rsp->lldb && !rsp_view_exited(rsp))
        rsp_lldb_put_threads(rsp);
}

/* Returns the thread to name in a stop reply: the stopped thread or, if it has ended, another thread. */
static dbg_thread_id stopped_thread(struct rsp *rsp, const struct dbg_stop *stop)
{
    struct dbg_thread thread;

    if (rsp_resident(rsp, stop->thread))
        return stop->thread;
    if (rsp_focus(rsp) != 0)
        return rsp_focus(rsp);
    return dbg_thread_at(rsp->dbg, 0, &thread) ? thread.id : 0;
}

/* Prints, as console text, the details of a stop that cannot be part of the stop reply. */
static void explain(struct rsp *rsp, const struct action *action, const struct dbg_stop *stop)
{
    struct lw_buffer text;
    bool fault = stop->kind == DBG_STOP_FAULT || stop->kind == DBG_STOP_HANG;
    bool foreign = (stop->kind == DBG_STOP_BREAKPOINT || stop->kind == DBG_STOP_WATCH ||
                    stop->kind == DBG_STOP_CATCH) &&
                   rsp_point_find(rsp, stop->point) == NULL;

    if (((fault || stop->kind == DBG_STOP_FINDING) && !rsp_has(rsp, RSP_F_FAULT_TEXT)) ||
        (stop->kind == DBG_STOP_BLOCKED &&
         (!rsp_has(rsp, RSP_F_LOCKING_STOP) || action->is_step_over)))
        return;
    if (!fault && stop->kind != DBG_STOP_BLOCKED && !foreign && stop->text[0] == '\0')
        return;
    lw_buffer_init(&text);
    if (stop->kind == DBG_STOP_HANG)
        emu_hang_print(&stop->hang, &text.sink);
    else if (fault || foreign || stop->kind == DBG_STOP_BLOCKED)
        dbg_stop_print(rsp->dbg, stop, &text.sink);
    else
        lw_put(&text.sink, stop->text);
    /* Only the first line of the text is printed. The second line is the source line, which gdb shows itself. */
    if (text.size != 0 && stop->kind != DBG_STOP_HANG && strchr(text.text, '\n') != NULL)
        text.size = (size_t)(strchr(text.text, '\n') - text.text) + 1;
    if (text.size != 0 && text.text[text.size - 1] != '\n')
        lw_put(&text.sink, "\n");
    rsp_send_console(rsp, text.text, text.size);
    lw_buffer_fini(&text);
}

/* Without the feature "watch-lane", moves the focus at a watchpoint hit to the lowest live lane, as a stub that does not
 * distinguish lanes would. */
static void forget_lane(struct rsp *rsp, const struct dbg_stop *stop)
{
    struct dbg_thread thread;

    if (stop->kind == DBG_STOP_WATCH && !rsp_has(rsp, RSP_F_WATCH_LANE) &&
        dbg_thread_get(rsp->dbg, stop->thread, &thread) && thread.live != 0)
        (void)!dbg_lane_set(rsp->dbg, stop->thread, lw_lowest(thread.live), NULL);
}

/* Returns true if a range step has stopped while the thread is still in the range. If the stop were reported with SIGTRAP,
 * gdb would repeat the step for ever. */
static bool is_in_range(struct rsp *rsp, dbg_thread_id id, const struct action *action)
{
    struct dbg_thread thread;

    uint64_t pc;

    if (action->verb != VERB_RANGE || !dbg_thread_get(rsp->dbg, id, &thread))
        return false;
    pc = rsp_arrivals_pc(rsp, id, thread.location.pc);
    return pc >= action->low && pc < action->high;
}

/* Returns true if the machine is still at the stop of stop_before_end(). */
static bool is_at_end(const struct rsp *rsp)
{
    struct emu_history_info info;

    return rsp->end_reported != 0 && dbg_history_info(rsp->dbg, &info) && info.in_past &&
           info.now == rsp->end_reported - 1;
}

/* Called at the end of the run. Undoes the last instruction and reports a stop, because after the end gdb would have no
 * process in which the user could execute backwards. The next resume from this stop reports the end. Returns false if this
 * stop is switched off or not possible. */
static bool stop_before_end(struct rsp *rsp, struct dbg_stop *stop)
{
    static const char text[] = "all launches have ended: the last instruction was undone, so that you can go back from "
                               "here; `continue` ends the program\n";
    struct emu_history_info info;

    if (!rsp->config.stop_at_end || !rsp_has(rsp, RSP_F_REPLAY_LOG) || rsp->lldb ||
        !dbg_history_info(rsp->dbg, &info) || !info.kept || info.now <= info.earliest ||
        dbg_goto(rsp->dbg, info.now - 1, stop, NULL) != LW_OK || stop->kind != DBG_STOP_STEP)
        return false;
    rsp->end_reported = info.now;
    stop->kind = DBG_STOP_HISTORY_END;
    rsp_send_console(rsp, text, sizeof text - 1);
    return true;
}

void rsp_to_end(struct rsp *rsp)
{
    struct emu_history_info info;
    struct dbg_stop stop;

    if (rsp->end_reported != 0 && dbg_history_info(rsp->dbg, &info) && info.in_past)
        (void)!dbg_goto(rsp->dbg, UINT64_MAX, &stop, NULL); /* if this fails, the machine remains in the past */
}

static void put_exception(struct rsp *rsp, const char *text)
{
    lw_put(&rsp->reply.sink, "reason:exception;description:");
    rsp_put_hex(&rsp->reply, text, strlen(text));
    lw_put(&rsp->reply.sink, ";");
}

/* Handles a stop of a thread other than the resumed one: reports it as a stop of the resumed thread, and prints which
 * thread stopped. A reply that names the other thread makes lldb step for ever. It makes gdb report an internal error
 * if gdb has resumed one thread alone. If the resumed thread has not moved, lldb would continue its step, so the reply
 * then names an exception as the reason, which ends the step. Returns false, without a reply, if the client accepts a
 * stop of the other thread, or if the resumed thread has ended. */
static bool report_of_another(struct rsp *rsp, const struct action *action, dbg_thread_id id)
{
    bool steps = action->verb == VERB_STEP || action->verb == VERB_RANGE;
    struct emu_history_info info;
    struct dbg_thread thread;
    struct lw_buffer text;

    if (!(rsp->lldb ? steps : action->locked) || id == action->id ||
        !dbg_thread_get(rsp->dbg, action->id, &thread))
        return false;
    lw_buffer_init(&text);
    rsp_warp_print(rsp, id, &text.sink);
    lw_printf(&text.sink, " stopped; this warp ran %s",
              dbg_history_info(rsp->dbg, &info) && info.in_past ? "as recorded in history"
                                                                : "because the stepped warp waits for it");
    rsp_send_console(rsp, text.text, text.size);
    rsp_send_console(rsp, "\n", 1);
    rsp_focus_on(rsp, action->id);
    put_stop(rsp, rsp->lldb ? RSP_SIGTRAP : 0, action->id, NULL);
    if (rsp->lldb && thread.location.pc == action->pc)
        put_exception(rsp, text.text);
    lw_buffer_fini(&text);
    return true;
}

static void report(struct rsp *rsp, const struct action *action, struct dbg_stop *stop)
{
    dbg_thread_id id;
    unsigned signal = stop_signal(rsp, stop);

    if (rsp_test_is_silent(rsp, stop))
        stop->text[0] = '\0';
    rsp_test_reported(rsp, stop);

    if (stop->kind == DBG_STOP_ENDED) {
        put_exit(rsp);
        return;
    }
    explain(rsp, action, stop);
    id = stopped_thread(rsp, stop);
    rsp_note_stop(rsp, stop, id);
    if (report_of_another(rsp, action, id))
        return;
    rsp_focus_on(rsp, id);
    /* An aarch64 gdb assumes that the watched access has not happened yet, and steps over it before it reads the value.
     * The stub suppresses that step. */
    if (stop->kind == DBG_STOP_WATCH && rsp->target.arch->watch_before &&
        rsp_point_find(rsp, stop->point) != NULL)
        rsp->suppress_next_step = id;
    /* gdb treats SIGTRAP as the end of its step, or else as a trap of the program. Neither is right if the stepped warp
     * has ended and the stop names another warp, or if a warp that runs alone waits for others. The signal is then 0, for
     * which gdb prints "stopped". */
    if ((stop->kind == DBG_STOP_STEP && id != action->id) ||
        (stop->kind == DBG_STOP_BLOCKED && rsp_has(rsp, RSP_F_LOCKING_STOP) &&
         (action->verb == VERB_CONTINUE || is_in_range(rsp, id, action))))
        signal = 0;
    if (action->verb == VERB_CONTINUE)
        rsp_arrivals_record(rsp, stop);
    if (stop->kind == DBG_STOP_BREAKPOINT && rsp_point_find(rsp, stop->point) != NULL) {
        rsp->reported.id = stop->thread;
        rsp->reported.pc = stop->pc;
    }
    put_stop(rsp, signal, id, stop);
}

void rsp_do_why(struct rsp *rsp, const struct rsp_args *args)
{
    const struct dbg_stop *last = dbg_last_stop(rsp->dbg);
    dbg_thread_id id = rsp_focus(rsp);
    struct dbg_thread thread;
    unsigned signal = RSP_SIGTRAP;

    (void)args;
    if (dbg_ended(rsp->dbg) || !rsp_has_process(rsp)) {
        put_exit(rsp);
        return;
    }
    if (!rsp_resident(rsp, id))
        id = dbg_thread_at(rsp->dbg, 0, &thread) ? thread.id : 0;
    /* A client that reconnects after a fault gets the fault's signal again. */
    if (last != NULL && (last->kind == DBG_STOP_FAULT || last->kind == DBG_STOP_HANG))
        signal = stop_signal(rsp, last);
    rsp_focus_on(rsp, id);
    put_stop(rsp, signal, id, NULL);
    if (rsp->lldb && id != 0 && !rsp->config.has_file)
        lw_put(&rsp->reply.sink, "library:1;"); /* makes lldb request the list of libraries */
}

/* ---- resuming ----------------------------------------------------------------------------- */

/*
 * Steps a lane past its breakpoint if gdb 13 continues without a step over it, so that the same hit is not reported for
 * ever. gdb does this at a dprintf of style agent that gdb cannot compile, because the dprintf prints a float or a string
 * literal. After the step the caller continues all warps.
 */
static enum lw_status pass_reported(struct rsp *rsp, bool *passed, struct dbg_stop *stop,
                                    struct lw_error *err)
{
    struct dbg_thread thread;
    dbg_thread_id id = rsp->reported.id;

    *passed = !rsp->lldb && rsp_has(rsp, RSP_F_DPRINTF_PASS) && dbg_thread_get(rsp->dbg, id, &thread) &&
              thread.location.pc == rsp->reported.pc;
    if (!*passed)
        return LW_OK;
    if (!rsp->reported.noted) {
        struct lw_buffer text;

        rsp->reported.noted = true;
        lw_buffer_init(&text);
        dbg_print_location(rsp->dbg, rsp->reported.pc, &text.sink);
        lw_printf(&rsp->messages, "note: a dprintf at the breakpoint at %s printed nothing: in the style agent gdb "
                                  "cannot print floats or strings; use `set dprintf-style gdb`\n",
                                  text.text != NULL ? text.text : "");
        lw_buffer_fini(&text);
    }
    return dbg_step(rsp->dbg, id, false, stop, err);
}

static enum lw_status resume(struct rsp *rsp, const struct action *action,
                             struct dbg_stop *stop, struct lw_error *err)
{
    if (action->over && rsp_arrivals_is_past(rsp, action->id, stop))
        return LW_OK;
    if (action->is_step_over && rsp->lldb)
        return rsp_arrivals_step_over(rsp, action->id, action->pc, stop, err);
    if (rsp->lldb && action->verb != VERB_CONTINUE)
        rsp_arrivals_drop(rsp, action->id);
    if (rsp->lldb && action->verb == VERB_CONTINUE && rsp_arrivals_next_lane(rsp, stop))
        return LW_OK;
    if ((action->verb == VERB_STEP || action->verb == VERB_RANGE) && rsp_arrivals_is_inside(rsp, action->id))
        return dbg_step_out_of_wait(rsp->dbg, action->id, action->low, action->high, action->locked, stop, err);
    switch (action->verb) {
    case VERB_STEP: {
        enum lw_status status = dbg_step(rsp->dbg, action->id, action->locked, stop, err);

        /* gdb evaluates the condition of a breakpoint after its step over another one, but does not know guards. */
        while (status == LW_OK && action->locked && rsp_point_is_unhit(rsp, action->id, action->pc, stop))
            status = dbg_step(rsp->dbg, action->id, true, stop, err);
        if (status == LW_OK && action->locked)
            rsp_arrivals_stepped_alone(rsp, action->id, action->pc, stop);
        return status;
    }
    case VERB_RANGE:
        return dbg_step_range(rsp->dbg, action->id, action->low, action->high,
                              action->locked, stop, err);
    case VERB_BACK_STEP: return rsp_reverse_step(rsp, action->id, stop, err);
    case VERB_BACK: return dbg_reverse_continue(rsp->dbg, stop, err);
    case VERB_CONTINUE: break;
    }
    if (rsp->reported.id != 0) {
        bool passed;
        enum lw_status status = pass_reported(rsp, &passed, stop, err);

        rsp->reported.id = 0;
        if (status != LW_OK || (passed && stop->kind != DBG_STOP_STEP))
            return status;
        memset(stop, 0, sizeof *stop);
    }
    /* To continue one thread alone, steps it through the range of all addresses, which it never leaves. */
    if (action->locked)
        return dbg_step_range(rsp->dbg, action->id, 0, UINT64_MAX, true, stop, err);
    return dbg_continue(rsp->dbg, stop, err);
}

/* Reports a stop of a warp that ended while it was stepped alone. */
static void report_exited(struct rsp *rsp, dbg_thread_id id, unsigned signal)
{
    struct dbg_stop none = {0};

    rsp_focus_on(rsp, stopped_thread(rsp, &none));
    rsp->exited_past = rsp->exited == id; /* the client has stepped the ended thread again */
    rsp->exited = id;
    put_stop(rsp, signal, id, NULL);
}

/* Returns the thread that the user has selected, or the view thread if the selection is not known. */
static dbg_thread_id selected(const struct rsp *rsp)
{
    bool known = !rsp->lldb && rsp_has(rsp, RSP_F_MONITOR_THREAD) && rsp_resident(rsp, rsp_chosen(rsp));

    return known ? rsp_chosen(rsp) : rsp_view(rsp);
}

/*
 * Returns the focus to the lane that the user saw, before anything runs, so that the arrival of this lane at a breakpoint
 * is reported. For `next` over a call and for `finish`, gdb inserts a breakpoint and compares frames there: if a lane in
 * another frame hits the breakpoint, gdb continues without showing the stop, and the focus is then on the wrong lane.
 */
static void focus_as_shown(struct rsp *rsp, struct action *action)
{
    const bool on = action->id == 0 && (action->verb == VERB_CONTINUE || action->verb == VERB_BACK) &&
                    rsp_has(rsp, RSP_F_KEEP_LANE);
    struct dbg_thread thread;

    if (rsp->shown) {
        rsp->shown_thread = selected(rsp);
        rsp->shown_lane = dbg_lane_get(rsp->dbg, rsp->shown_thread);
        rsp->shown = false;
        rsp_reverse_begin(rsp, action->verb == VERB_BACK);
        /* `thread N` may have selected another thread since the last stop. */
        if (on && !rsp->lldb && rsp_resident(rsp, rsp->shown_thread))
            action->id = rsp->shown_thread;
    } else if (on && dbg_thread_get(rsp->dbg, rsp->shown_thread, &thread) &&
               (thread.live >> rsp->shown_lane & 1) != 0) {
        action->id = rsp->shown_thread;
        (void)!dbg_lane_set(rsp->dbg, action->id, rsp->shown_lane, NULL); /* cannot fail, because the lane is live */
    }
}

/*
 * Replies to a step from an outdated position, without executing anything: `monitor` has moved the thread, or the thread
 * has ended. The reply has the new position of the thread, or the position of the focus thread if the thread has ended.
 */
static void answer_position(struct rsp *rsp, dbg_thread_id id)
{
    static const char moved[] = "a monitor command has moved the machine: nothing was executed, and this is its new "
                                "position\n";
    static const char ended[] = "that warp has ended: nothing was executed, and gdb now shows the warp in the focus\n";
    const char *text = id == rsp->exited ? ended : moved;
    struct dbg_stop none = {0};

    rsp->exited = 0;
    rsp->threads_valid = false;
    rsp_known_forget(rsp);
    if (dbg_ended(rsp->dbg)) {
        put_exit(rsp);
        return;
    }
    rsp_send_console(rsp, text, strlen(text));
    if (!rsp_resident(rsp, id))
        id = stopped_thread(rsp, &none);
    rsp_focus_on(rsp, id);
    put_stop(rsp, 0, id, NULL);
}

/* Replies as answer_position() does, for the case that gdb steps one thread alone over a breakpoint and that thread has ended.
 * A reply that names another thread, or none, makes gdb 13 report an internal error. The reply therefore reports a stop of the
 * ended thread. */
static void answer_exited(struct rsp *rsp, dbg_thread_id id)
{
    static const char text[] = "a monitor command has moved the machine: nothing was executed, and this warp does not "
                               "exist at the new position; `info threads` shows the other warps\n";

    rsp_send_console(rsp, text, sizeof text - 1);
    rsp->threads_valid = false;
    rsp_known_forget(rsp);
    report_exited(rsp, id, RSP_SIGTRAP);
}

/* Phase 1: sends the reply if it needs no execution. Returns true if the reply is complete. */
static bool answer_without_running(struct rsp *rsp, struct action *action)
{
    const struct dbg_stop *last = dbg_last_stop(rsp->dbg);
    bool back = action->verb == VERB_BACK || action->verb == VERB_BACK_STEP;

    if (dbg_ended(rsp->dbg) && !back) {
        put_exit(rsp);
        return true;
    }
    if (action->id != 0 && action->verb != VERB_CONTINUE && action->verb != VERB_BACK && rsp_known_wrong(rsp, action->id)) {
        answer_position(rsp, action->id);
        return true;
    }
    rsp_known_forget(rsp);
    /* When gdb continues after a fault or hang, gdb passes the signal of the stop to the program. This signal ends the
     * program. */
    if (action->signal != 0 && last != NULL && rsp_has(rsp, RSP_F_FAULT_EXIT) &&
        (last->kind == DBG_STOP_FAULT || last->kind == DBG_STOP_HANG) &&
        action->signal == stop_signal(rsp, last)) {
        lw_printf(&rsp->reply.sink, "X%02x", action->signal);
        rsp_process_ended(rsp);
        return true;
    }
    rsp_test_resumes(rsp);
    focus_as_shown(rsp, action);
    if (action->id == 0)
        action->id = rsp_resident(rsp, rsp->named.stop) ? rsp->named.stop : rsp_focus(rsp);
    if (rsp->suppress_next_step != 0) {
        bool same = rsp->suppress_next_step == action->id &&
                    (action->verb == VERB_STEP || action->verb == VERB_BACK_STEP);

        rsp->suppress_next_step = 0;
        if (same) {
            put_stop(rsp, RSP_SIGTRAP, action->id, NULL);
            return true;
        }
    }
    return false;
}

/* Begins phase 2: fills in the rest of the action, and clears the state that lasts only until a resume. */
static void begin_run(struct rsp *rsp, struct action *action)
{
    const struct dbg_stop *last = dbg_last_stop(rsp->dbg);
    struct dbg_thread thread;

    rsp->exited = 0;
    if (dbg_thread_get(rsp->dbg, action->id, &thread))
        action->pc = rsp->lldb ? rsp_arrivals_pc(rsp, action->id, thread.location.pc) : thread.location.pc;
    /* If gdb steps one warp alone although its last resume let all warps run, gdb only steps the warp over a breakpoint. */
    action->is_step_over = action->verb == VERB_STEP &&
                           (rsp->lldb ? rsp_arrivals_lifted(rsp, action->pc)
                                      : action->locked && !rsp->locks && last != NULL &&
                                            last->kind == DBG_STOP_BREAKPOINT &&
                                            last->thread == action->id && last->pc == action->pc);
    action->over = rsp->lldb && action->verb == VERB_STEP && rsp->lifted_count != 0;
    rsp->launch_lifted = false;
    if (action->verb != VERB_CONTINUE)
        rsp->reported.id = 0;
    rsp->locks = action->locked && !action->is_step_over;
    rsp_arrivals_resume(rsp);
    rsp_run_begin(rsp);
    rsp_test_progress(rsp);
}

/* Phase 3 if the resumed thread has ended. Returns true if the reply is complete. @lived: the thread was resident before
 * the resume. */
static bool report_exit(struct rsp *rsp, const struct action *action, const struct dbg_stop *stop, bool lived)
{
    bool stepped = stop->kind == DBG_STOP_STEP;

    if (rsp_resident(rsp, action->id) || dbg_ended(rsp->dbg))
        return false;
    if (action->locked && lived && stepped && action->verb == VERB_STEP) {
        report_exited(rsp, action->id, RSP_SIGTRAP);
        return true;
    }
    /* The run stopped for another reason than the end of the step. gdb has resumed this thread alone, and accepts only a
     * stop of this thread. */
    if (action->locked && !rsp->lldb && lived && !stepped) {
        explain(rsp, action, stop);
        report_exited(rsp, action->id, 0);
        return true;
    }
    /* When the thread that lldb steps has ended, lldb would run to the end of the program. */
    if (rsp->lldb && rsp_has(rsp, RSP_F_GONE_STEP) && lived && stepped &&
        (action->verb == VERB_STEP || action->verb == VERB_RANGE)) {
        explain(rsp, action, stop);
        report_exited(rsp, action->id, RSP_SIGTRAP);
        lw_put(&rsp->reply.sink, "reason:trace;"); /* the reason by which lldb recognises the end of a step */
        return true;
    }
    /* The only resumed thread has ended, and other threads are stopped. "N" reports that no thread is running. */
    if (action->locked && stepped && rsp->no_resumed) {
        rsp_focus_on(rsp, stopped_thread(rsp, stop));
        lw_put(&rsp->reply.sink, "N");
        return true;
    }
    return false;
}

static void run(struct rsp *rsp, struct action *action)
{
    struct dbg_stop stop = {0};
    struct lw_error err = {0};
    struct emu_history_info began = {0};
    enum lw_status status;
    bool lived, from_end = is_at_end(rsp);

    if (answer_without_running(rsp, action))
        return;
    lived = rsp_resident(rsp, action->id);
    begin_run(rsp, action);
    (void)dbg_history_info(rsp->dbg, &began);
    if ((rsp_has(rsp, RSP_F_INTERRUPT) && (rsp->interrupt_pending || rsp_interrupt_ahead(rsp))) ||
        rsp_listener_ask(rsp->listener)) {
        rsp->interrupt_pending = false;
        stop.kind = DBG_STOP_INTERRUPT;
        stop.thread = action->id;
        status = LW_OK;
    } else {
        rsp_focus_on(rsp, action->id);
        status = resume(rsp, action, &stop, &err);
        if (status == LW_OK)
            (void)rsp_test_before(rsp, action->verb == VERB_BACK || action->verb == VERB_BACK_STEP, began.now, &stop);
    }
    rsp_run_end(rsp);
    rsp->unset_count = 0; /* not cleared after a monitor command, because gdb does not send its z packets again then */
    if (status != LW_OK) {
        char text[LW_ERROR_BYTES + 16];

        snprintf(text, sizeof text, "error: %s\n", err.text);
        rsp_send_console(rsp, text, strlen(text));
        stop.kind = DBG_STOP_NONE;
        stop.thread = action->id;
        if (dbg_ended(rsp->dbg))
            stop.kind = DBG_STOP_ENDED;
    }
    if (stop.kind == DBG_STOP_ENDED && !from_end && stop_before_end(rsp, &stop))
        action->id = stop.thread;
    forget_lane(rsp, &stop);
    if (!report_exit(rsp, action, &stop, lived))
        report(rsp, action, &stop);
}

void rsp_do_vcont_query(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    /* gdb uses vCont only if the reply has C and S. */
    lw_put(&rsp->reply.sink, "vCont;c;C;s;S;t");
    if (rsp_has(rsp, RSP_F_RANGE_STEP))
        lw_put(&rsp->reply.sink, ";r");
}

/* Parses one ";action[:thread]" and advances *text past it. @out->id is 0 if no thread is named, or all threads are.
 * Returns false if the text is malformed. */
static bool parse_action(const char **text, const char *end, char *verb, struct action *out)
{
    const char *p = *text;
    uint64_t value;

    if (p == end || *p++ != ';' || p == end)
        return false;
    *verb = *p++;
    memset(out, 0, sizeof *out);
    switch (*verb) {
    case 'c':
    case 't': break;
    case 'C':
        if (!rsp_hex_number(&p, end, &value) || value > 255)
            return false;
        out->signal = (unsigned)value;
        break;
    case 's': out->verb = VERB_STEP; break;
    case 'S':
        out->verb = VERB_STEP;
        if (!rsp_hex_number(&p, end, &value) || value > 255)
            return false;
        out->signal = (unsigned)value;
        break;
    case 'r':
        out->verb = VERB_RANGE;
        if (!rsp_hex_number(&p, end, &out->low) || p == end || *p++ != ',' ||
            !rsp_hex_number(&p, end, &out->high))
            return false;
        break;
    default: return false;
    }
    if (p < end && *p == ':') {
        p++;
        if (end - p >= 2 && p[0] == '-' && p[1] == '1')
            p += 2;
        else if (!rsp_hex_number(&p, end, &out->id))
            return false;
    }
    *text = p;
    return p == end || *p == ';';
}

/*
 * Handles vCont. gdb sends either a step of one thread, with or without `;c` for the others, or a continue of all threads or of
 * one. For a step, only the step is executed; `;c` permits the other threads to run while the stepped thread waits for them.
 */
void rsp_do_vcont(struct rsp *rsp, const struct rsp_args *args)
{
    const char *p = args->rest, *end = p + args->rest_size;
    struct action chosen = {0};
    dbg_thread_id gone = 0;
    bool have = false, others = false, dropped = false, step_dropped = false;

    while (p < end) {
        struct action action;
        char verb;

        if (!parse_action(&p, end, &verb, &action)) {
            lw_put(&rsp->reply.sink, "E01");
            return;
        }
        if (verb == 't')
            continue; /* the action t, which stops threads, exists only in gdb's non-stop mode */
        if (action.id != 0 && !rsp_resident(rsp, action.id)) {
            dropped = true;
            gone = action.id;
            step_dropped |= action.verb != VERB_CONTINUE;
            continue;
        }
        if (action.verb == VERB_CONTINUE && action.id == 0)
            others = true;
        if (!have || (chosen.verb == VERB_CONTINUE && action.verb != VERB_CONTINUE)) {
            unsigned signal = chosen.signal;

            chosen = action;
            if (chosen.signal == 0)
                chosen.signal = signal;
            have = true;
        } else if (chosen.signal == 0) { /* lldb sends, for example, c:2;C0b:1 */
            chosen.signal = action.signal;
        }
    }
    if (dropped && !have && rsp->lldb && gone == rsp->exited) {
        report_exited(rsp, gone, RSP_SIGTRAP);
        put_exception(rsp, "this warp has ended: select another one with `thread select`");
        return;
    }
    /* gdb steps the ended thread over the breakpoint at <launch>. Without a stop of this thread gdb 13 crashes with a
     * segmentation fault. */
    if (dropped && !have && step_dropped && gone == rsp->exited && rsp->launch_lifted) {
        rsp->launch_lifted = false;
        report_exited(rsp, gone, RSP_SIGTRAP);
        return;
    }
    if (!have) {
        rsp->exited = 0;
        rsp->threads_valid = false;
        if (dropped && dbg_ended(rsp->dbg))
            put_exit(rsp);
        else if (dropped && rsp_known_wrong(rsp, gone))
            answer_exited(rsp, gone);
        else
            lw_put(&rsp->reply.sink, dropped && rsp->no_resumed ? "N" : "E01");
        return;
    }
    /* The stepped thread has ended. `c` only permitted the other threads to run during its step, so nothing runs. */
    if (step_dropped && chosen.verb == VERB_CONTINUE && rsp_has(rsp, RSP_F_GONE_STEP)) {
        answer_position(rsp, gone);
        return;
    }
    chosen.locked = rsp_has(rsp, RSP_F_LOCKING) && !rsp->lldb && !others &&
                    !(chosen.verb == VERB_CONTINUE && chosen.id == 0);
    run(rsp, &chosen);
}

/* Sets *@out to the thread that the last Hc packet selected, or 0 if it selected none. If that thread has ended, writes an
 * error reply and returns false. */
static bool run_thread(struct rsp *rsp, dbg_thread_id *out)
{
    *out = rsp->named.run == rsp->exited ? 0 : rsp->named.run;
    if (*out == 0 || rsp_resident(rsp, *out) || dbg_ended(rsp->dbg))
        return true;
    rsp_put_error(&rsp->reply, "this warp has ended");
    return false;
}

/* Handles the packets c, s, C and S, which lldb uses: "c", "cADDRESS", "CSIGNAL", "CSIGNAL;ADDRESS". */
static void plain(struct rsp *rsp, enum verb verb, unsigned signal, const char *address,
                  size_t size)
{
    struct action action = {.verb = verb, .signal = signal};
    dbg_thread_id id;

    if (!run_thread(rsp, &id))
        return;
    if (size != 0) {
        const char *p = address, *end = address + size;
        uint8_t data[8];
        uint64_t pc;
        struct lw_error err;

        if (!rsp_hex_number(&p, end, &pc) || p != end) {
            lw_put(&rsp->reply.sink, "E01");
            return;
        }
        lw_put64(data, pc);
        rsp_known_forget(rsp);
        if (rsp_reg_write(&rsp->target, rsp->dbg, id != 0 ? id : selected(rsp), rsp->target.arch->pc, data,
                          &err) != LW_OK) {
            rsp_put_error(&rsp->reply, err.text);
            return;
        }
    }
    if (verb == VERB_CONTINUE)
        rsp_focus_on(rsp, id); /* a continue runs all warps, so it has no thread of its own */
    else
        action.id = id;
    run(rsp, &action);
}

void rsp_do_continue(struct rsp *rsp, const struct rsp_args *args)
{
    plain(rsp, VERB_CONTINUE, 0, args->rest, args->rest_size);
}

void rsp_do_step(struct rsp *rsp, const struct rsp_args *args)
{
    plain(rsp, VERB_STEP, 0, args->rest, args->rest_size);
}

/* Handles a reverse step. vCont has no reverse step, so the thread is the one of the last Hc packet. If that packet names
 * thread 0 (any thread), gdb does not send Hc again after `thread N`. The step is then for the thread that the user has
 * selected, even if gdb has stepped another thread off its breakpoint before. */
void rsp_do_reverse_step(struct rsp *rsp, const struct rsp_args *args)
{
    struct action action = {.verb = VERB_BACK_STEP};

    (void)args;
    if (!run_thread(rsp, &action.id))
        return;
    action.locked = action.id != 0 && !rsp->lldb && rsp_has(rsp, RSP_F_LOCKING);
    if (action.id == 0 && !rsp->lldb && rsp_has(rsp, RSP_F_MONITOR_THREAD)) {
        if (rsp->shown)
            action.id = selected(rsp);
        else if (rsp_resident(rsp, rsp->shown_thread))
            action.id = rsp->shown_thread;
    }
    run(rsp, &action);
}

void rsp_do_reverse_continue(struct rsp *rsp, const struct rsp_args *args)
{
    struct action action = {.verb = VERB_BACK};
    dbg_thread_id id;

    (void)args;
    if (!run_thread(rsp, &id))
        return;
    rsp_focus_on(rsp, id); /* a reverse-continue moves all warps back, so it has no thread of its own */
    run(rsp, &action);
}

static void plain_signal(struct rsp *rsp, enum verb verb, const struct rsp_args *args)
{
    const char *p = args->rest, *end = p + args->rest_size;
    uint64_t signal;

    if (!rsp_hex_number(&p, end, &signal) || signal > 255 || (p < end && *p++ != ';')) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    plain(rsp, verb, (unsigned)signal, p, (size_t)(end - p));
}

void rsp_do_continue_signal(struct rsp *rsp, const struct rsp_args *args)
{
    plain_signal(rsp, VERB_CONTINUE, args);
}

void rsp_do_step_signal(struct rsp *rsp, const struct rsp_args *args)
{
    plain_signal(rsp, VERB_STEP, args);
}
