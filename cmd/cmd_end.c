/* SPDX-License-Identifier: Apache-2.0 */
/* Early end of a run, by a signal or by a limit that the user has set. The engine returns, and the results up to this
 * point are reported and written. A signal is then raised again, so that the parent process sees it. */
#include "cmd/cmd_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
} endings[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGXCPU, "SIGXCPU"}};

/* Milliseconds within which two signals count as one: `timeout` sends its signal to this process and to its process
 * group, so that it arrives twice. */
enum { SECOND_AFTER_MS = 200 };

/* State for the signal handler, which has no parameters. */
static struct emu_engine *volatile running;
static volatile sig_atomic_t came;     /* the first signal, or 0 if there is none */
static volatile int64_t came_at;       /* time of the first signal in milliseconds */
static void (*volatile at_once)(void); /* function that the handler calls at the second signal */
static int wake[2] = {-1, -1};         /* pipe that is readable after a signal */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_alarm(int number)
{
    struct emu_engine *engine = running;

    (void)number;
    if (engine != NULL)
        emu_engine_interrupt(engine);
}

static void on_ending(int number)
{
    static const char clear[] = "\r\033[K";
    struct emu_engine *engine = running;
    const int before = errno;

    if (came != 0 && now_ms() - came_at >= SECOND_AFTER_MS) {
        if (at_once != NULL)
            at_once();
        if (isatty(STDERR_FILENO) && write(STDERR_FILENO, clear, sizeof clear - 1) < 0)
            errno = before; /* restores errno: a failed write is ignored */
        signal(number, SIG_DFL);
        raise(number); /* ends the process when this handler returns */
    } else if (came == 0) {
        came_at = now_ms();
        came = number;
        if (engine != NULL)
            emu_engine_interrupt(engine);
        if (wake[1] >= 0 && write(wake[1], "", 1) < 0)
            errno = before; /* restores errno: the write fails only if the pipe is full, and a full pipe is readable */
    }
    errno = before;
}

static void catch_from(size_t first, int flags, struct emu_engine *engine, void (*quickly)(void))
{
    struct sigaction action = {.sa_handler = on_ending, .sa_flags = flags}, old;

    running = engine;
    at_once = quickly;
    if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        wake[0] = wake[1] = -1;
    sigemptyset(&action.sa_mask);
    for (size_t i = first; i < LW_COUNT_OF(endings); i++)
        if (sigaction(endings[i].number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(endings[i].number, &action, NULL); /* not for a signal that the parent has set to be ignored, as
                                                          * nohup does with SIGHUP */
}

void cmd_end_catch(struct emu_engine *engine, void (*quickly)(void))
{
    catch_from(0, SA_RESTART, engine, quickly);
}

void cmd_end_catch_in_shell(struct emu_engine *engine)
{
    catch_from(1, 0, engine, NULL);
}

void cmd_end_engine(struct emu_engine *engine)
{
    running = engine;
}

int cmd_end_fd(void)
{
    return wake[0];
}

int cmd_end_signal(void)
{
    return came;
}

const char *cmd_end_signal_name(int number)
{
    for (size_t i = 0; i < LW_COUNT_OF(endings); i++)
        if (endings[i].number == number)
            return endings[i].name;
    return "a signal";
}

void cmd_end_die(void)
{
    const int number = came;
    sigset_t set;

    if (number == 0)
        return;
    (void)fflush(NULL);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/* ---- the clock ---------------------------------------------------------------------------- */

void cmd_end_tick(double first, double every)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval timer = {
        .it_value = {(time_t)first, (suseconds_t)((first - (double)(time_t)first) * 1e6)},
        .it_interval = {(time_t)every, (suseconds_t)((every - (double)(time_t)every) * 1e6)}};

    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- limits ------------------------------------------------------------------------------- */

bool cmd_end_due(const struct lnc_limits *limits, const struct cmd_machine *m, double seconds, struct emu_stop *stop)
{
    const uint64_t instructions = m->engine->ops->instructions(m->engine);
    char why[160] = "";

    if (came != 0)
        snprintf(why, sizeof why, "ended by %s", cmd_end_signal_name(came));
    else if (limits->instructions != 0 && instructions >= limits->instructions &&
             m->engine->ops->warp_count(m->engine) != 0)
        snprintf(why, sizeof why, "%" PRIu64 " warp instruction%s executed (max-instructions %" PRIu64 ")", instructions,
                 instructions == 1 ? " was" : "s were", limits->instructions);
    else if (limits->seconds > 0 && seconds >= limits->seconds)
        snprintf(why, sizeof why, "%.3g s have passed (timeout %.3g)", seconds, limits->seconds);
    else
        return false;
    if (m->timing != NULL)
        snprintf(why + strlen(why), sizeof why - strlen(why), ", in cycle %" PRIu64 " of %.40s", m->engine->ops->cycles(m->engine),
                 tim_config_name(m->timing));
    *stop = (struct emu_stop){.kind = came != 0 ? EMU_STOP_INTERRUPTED : EMU_STOP_LIMIT};
    emu_machine_where(m->machine, why, &stop->hang);
    stop->place = (struct emu_thread_ref){.grid = stop->hang.grid, .block = stop->hang.block, .warp = stop->hang.warp,
                                     .lanes = stop->hang.lanes, .pc = stop->hang.pc};
    return true;
}
