/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler process. LLVM cannot be interrupted, and may run for minutes or crash. So a child process compiles the kernels,
 * and returns an object file for each. The process is forked when the translator is created, when the memory of the emulator is
 * small, so that the fork is fast, and again after it has ended. With --engine native it has LLVM loaded already; with --engine
 * auto it loads LLVM for the first kernel. It sets timers before it compiles a kernel. If the compilation exceeds its limit, a timer ends the process. The emulator then receives the end of the stream.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/nat_process_priv.h"

/* The limit is in seconds of processor time, which a busy host does not shorten. A process that waits uses no processor time,
 * so a second timer ends it after this many times the limit. */
enum { ELAPSED_FACTOR = 20 };

/** Sends all @bytes at @out if it is not NULL; otherwise receives @bytes to @in. */
static bool transfer(int socket, const char *out, char *in, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = out != NULL ? send(socket, out + done, bytes - done, MSG_NOSIGNAL) : recv(socket, in + done, bytes - done, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool send_all(int socket, const void *data, size_t bytes)
{
    return transfer(socket, data, NULL, bytes);
}

static bool receive_all(int socket, void *data, size_t bytes)
{
    return transfer(socket, NULL, data, bytes);
}

/* ---- in the process --------------------------------------------------------------------------- */

static void start_timer(int which, double seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};

    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)timer.it_value.tv_sec));
    if (seconds > 0 && timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    (void)setitimer(which, &timer, NULL);
}

/** Compiles kernels until the emulator closes its end of @socket. */
static void serve(const struct nat_llvm *llvm, int socket)
{
    struct nat_llvm own;
    struct nat_compiler compiler = {.llvm = llvm->library != NULL ? llvm : &own};
    bool loaded = llvm->library != NULL;
    struct nat_job job;
    struct nat_code code;

    while (receive_all(socket, &job, sizeof job)) {
        struct isa_insn *insn = malloc(job.count * sizeof *insn);
        if (insn == NULL || !receive_all(socket, insn, job.count * sizeof *insn))
            break;
        start_timer(ITIMER_PROF, job.seconds);
        start_timer(ITIMER_REAL, job.seconds * ELAPSED_FACTOR);
        loaded = loaded || nat_llvm_load(&own, NULL) == LW_OK;
        const bool good = loaded && nat_compile(&compiler, &job, insn, &code);
        start_timer(ITIMER_PROF, 0);
        start_timer(ITIMER_REAL, 0);
        free(insn);
        if (!send_all(socket, &good, sizeof good))
            break;
        if (good && !(send_all(socket, &code.size, sizeof code.size) &&
                      send_all(socket, code.entry, job.count * sizeof *code.entry) &&
                      send_all(socket, code.site, code.size.sites * sizeof *code.site) &&
                      send_all(socket, code.object, code.size.object)))
            break;
        nat_code_free(&code);
    }
    _exit(0);
}

/** Makes the new process independent of what the emulator has set up: its signal handlers, timers and open files. A signal to
 *  the process group must not end the compilation. */
static void detach(int socket)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
    const struct rlimit none = {0, 0};
    sigset_t all;

    (void)prctl(PR_SET_NAME, "lanewise-native");
    for (int s = 1; s < NSIG; s++)
        (void)signal(s, SIG_DFL);
    for (size_t i = 0; i < LW_COUNT_OF(ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
    sigemptyset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setrlimit(RLIMIT_CORE, &none);
    if (socket != STDERR_FILENO + 1)
        (void)dup2(socket, STDERR_FILENO + 1);
    closefrom(STDERR_FILENO + 2);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
}

/* ---- in the emulator -------------------------------------------------------------------------- */

bool nat_process_start(struct nat_process *process, const struct nat_llvm *llvm)
{
    int end[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        detach(end[1]);
        serve(llvm, STDERR_FILENO + 1);
    }
    (void)close(end[1]);
    if (pid < 0) {
        (void)close(end[0]);
        return false;
    }
    *process = (struct nat_process){pid, getpid(), end[0]};
    return true;
}

/** Closes the socket and waits for the end of the process. Returns its status, or 0 if the status is not known. */
static int end(struct nat_process *process)
{
    int status = 0;
    pid_t pid;

    (void)close(process->socket);
    do
        pid = waitpid(process->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    process->pid = 0;
    return pid < 0 ? 0 : status;
}

bool nat_process_send(struct nat_process *process, const struct nat_job *job, const struct isa_insn *insn)
{
    return send_all(process->socket, job, sizeof *job) && send_all(process->socket, insn, job->count * sizeof *insn);
}

static void *allocate(size_t bytes)
{
    return malloc(bytes != 0 ? bytes : 1);
}

enum nat_outcome nat_process_receive(struct nat_process *process, const struct nat_job *job, struct nat_code *out)
{
    const int from = process->socket;
    bool good;

    *out = (struct nat_code){.entry = NULL};
    if (receive_all(from, &good, sizeof good)) {
        if (!good)
            return NAT_UNSUPPORTED;
        if (receive_all(from, &out->size, sizeof out->size) &&
            (out->entry = allocate(job->count * sizeof *out->entry)) != NULL &&
            (out->site = allocate(out->size.sites * sizeof *out->site)) != NULL &&
            (out->object = allocate(out->size.object)) != NULL &&
            receive_all(from, out->entry, job->count * sizeof *out->entry) &&
            receive_all(from, out->site, out->size.sites * sizeof *out->site) && receive_all(from, out->object, out->size.object) &&
            nat_code_is_valid(out, job))
            return NAT_COMPILED;
        nat_code_free(out);
    }
    const int status = end(process);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM) ? NAT_TOO_LONG : NAT_CRASHED;
}

bool nat_process_is_ours(struct nat_process *process)
{
    if (process->pid == 0 || process->owner == getpid())
        return true;
    (void)close(process->socket);
    process->pid = 0;
    return false;
}

bool nat_process_is_ready(const struct nat_process *process)
{
    struct pollfd socket = {.fd = process->socket, .events = POLLIN};

    return process->pid == 0 || poll(&socket, 1, 0) != 0;
}

void nat_process_end(struct nat_process *process)
{
    siginfo_t info;

    if (process->pid == 0)
        return;
    if (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) /* the program has not waited for this child,
                                                                                     * so the pid is still that of the child */
        (void)kill(process->pid, SIGKILL); /* the process may be compiling a kernel that is not needed any more */
    (void)end(process);
}
