/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler process. LLVM cannot be interrupted, and may run for minutes or crash. So another process compiles the kernels,
 * and returns an object file for each. Before the process compiles a kernel, it sets timers. If the compilation exceeds its
 * limit, a timer's handler sends the outcome NAT_TOO_LONG and ends the process. If the process crashes, the emulator reads the
 * end of the socket's stream.
 *
 * The emulator may be part of a program that has threads, children and signal handlers of its own. So
 * - the process executes a program: it does not inherit a memory allocator, a dynamic linker or an LLVM that another thread was
 *   using when the process was created. This program contains the same code (start_image()), and serve_if_started() calls serve()
 *   before its main();
 * - the process is not a child of the program: its parent is a helper that ends immediately. The helper has no exit signal, so
 *   the kernel does not return it to wait() without __WCLONE, and sends no SIGCHLD;
 * - no id of the process is needed. The process ends when the emulator closes its end of the socket, or ends.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/nat_process_priv.h"

/* Name of the process, and the descriptors that it inherits. */
static const char process_name[] = "lanewise-native";
enum { SOCKET = STDERR_FILENO + 1, IMAGE };

/* The limit is in seconds of processor time, which a busy host does not shorten. A process that waits uses no processor time.
 * Therefore a second timer, of elapsed time, ends the process after this many times the limit. */
enum { ELAPSED_FACTOR = 20 };

/** Sends all @bytes at @out if it is not NULL; otherwise receives @bytes to @in. */
static bool transfer(int socket, const char *out, char *in, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = out != NULL ? send(socket, out + done, bytes - done, MSG_NOSIGNAL)
                                      : recv(socket, in + done, bytes - done, 0);
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

/** Ends the process when the emulator closes its end of the socket, even if another thread is compiling a kernel: its code is no
 *  longer needed. */
static void *watch(void *context)
{
    struct pollfd socket = {.fd = SOCKET}; /* events == 0: poll() returns only when the other end is closed */

    (void)context;
    while (poll(&socket, 1, -1) < 0)
        ;
    _exit(0);
}

/** Handler of the timers. */
static void give_up(int number)
{
    const enum nat_outcome outcome = NAT_TOO_LONG;

    (void)number;
    (void)!send(SOCKET, &outcome, sizeof outcome, MSG_NOSIGNAL);
    _exit(0);
}

/** Compiles kernels until the emulator closes its end of the socket. */
static void serve(void)
{
    struct nat_llvm llvm;
    struct nat_compiler compiler = {.llvm = &llvm};
    bool loaded = false;
    struct nat_job job;
    struct nat_code code;

    while (receive_all(SOCKET, &job, sizeof job)) {
        struct isa_insn *insn = malloc(job.count * sizeof *insn);
        if (insn == NULL || !receive_all(SOCKET, insn, job.count * sizeof *insn))
            break;
        start_timer(ITIMER_PROF, job.seconds);
        start_timer(ITIMER_REAL, job.seconds * ELAPSED_FACTOR);
        loaded = loaded || nat_llvm_load(&llvm, NULL) == LW_OK;
        const enum nat_outcome outcome = loaded && nat_compile(&compiler, &job, insn, &code) ? NAT_COMPILED : NAT_UNSUPPORTED;
        start_timer(ITIMER_PROF, 0);
        start_timer(ITIMER_REAL, 0);
        free(insn);
        if (!send_all(SOCKET, &outcome, sizeof outcome))
            break;
        if (outcome != NAT_COMPILED)
            continue;
        if (!(send_all(SOCKET, &code.size, sizeof code.size) && send_all(SOCKET, code.entry, job.count * sizeof *code.entry) &&
              send_all(SOCKET, code.site, code.size.sites * sizeof *code.site) &&
              send_all(SOCKET, code.object, code.size.object) && send_all(SOCKET, code.assembly, code.size.assembly)))
            break;
        nat_code_free(&code);
    }
}

/** Makes the process independent of the program that has started it: its signals, and its open files that do not close when a
 *  program is executed. A signal to the process group must not end the compilation. */
static void detach(void)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
    const struct rlimit none = {0, 0};

    (void)prctl(PR_SET_NAME, process_name);
    for (int s = 1; s < NSIG; s++)
        (void)signal(s, SIG_DFL);
    for (size_t i = 0; i < LW_COUNT_OF(ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)signal(SIGPROF, give_up);
    (void)signal(SIGALRM, give_up);
    (void)setrlimit(RLIMIT_CORE, &none);
    closefrom(SOCKET + 1);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
}

/** Identifies the build of this code as a text: two processes can exchange structures only if they run the same build. */
static void write_build(struct lw_sink *out)
{
    struct lw_buffer id;

    lw_buffer_init(&id);
    (void)lw_write_build_id(&id.sink, (uintptr_t)write_build);
    for (size_t i = 0; i < id.size; i++)
        lw_printf(out, "%02x", (uint8_t)lw_buffer_text(&id)[i]);
    lw_buffer_fini(&id);
}

/** Called before main() in all programs that contain this code. In the compiler process, this function does not return. */
__attribute__((constructor)) static void serve_if_started(int argc, char **argv)
{
    struct lw_buffer build;
    pthread_t watcher;
    sigset_t none;

    if (argc != 2 || strcmp(argv[0], process_name) != 0)
        return;
    detach();
    lw_buffer_init(&build);
    write_build(&build.sink);
    if (strcmp(argv[1], lw_buffer_text(&build)) == 0 && pthread_create(&watcher, NULL, watch, NULL) == 0) {
        sigemptyset(&none);
        (void)pthread_sigmask(SIG_SETMASK, &none, NULL); /* start() has blocked all signals; the watcher gets none */
        serve();
    }
    _exit(0);
}

/* ---- in the emulator -------------------------------------------------------------------------- */

/** What the new process executes. */
struct start {
    const char *path;
    char *const *argv, *const *envp;
    int socket, image; /* image: descriptor of the object that contains this code, or -1 */
    char *stack;       /* stack of the new process, until it executes the program */
    int error;         /* errno, if the process cannot be started */
};
enum { STACK_BYTES = 64 << 10 };

/** Moves a descriptor to @to, where it stays open in the executed program. */
static bool place(int from, int to)
{
    return from == to ? fcntl(to, F_SETFD, 0) == 0 : dup2(from, to) == to;
}

/* The two functions below run in new processes that share the memory of the emulator, while the calling thread waits. They call
 * only functions that are safe in a signal handler. */

static int execute(void *context)
{
    struct start *s = context;
    const int image = s->image < 0 ? -1 : fcntl(s->image, F_DUPFD_CLOEXEC, IMAGE + 1); /* the copies are above IMAGE, so place()
                                                                                        * overwrites neither */
    const int socket = fcntl(s->socket, F_DUPFD_CLOEXEC, IMAGE + 1);

    if (socket >= 0 && place(socket, SOCKET) && (s->image < 0 || (image >= 0 && place(image, IMAGE))))
        (void)execve(s->path, s->argv, s->envp);
    s->error = errno;
    return 127;
}

static int help(void *context)
{
    struct start *s = context;

    if (clone(execute, s->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, s) < 0)
        s->error = errno;
    return 0;
}

/** Executes the program in a process that is not a child of this one. Returns false, and sets errno, if that fails. */
static bool start(struct start *s)
{
    char *stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    sigset_t all, before;
    pid_t helper;

    if (stack == MAP_FAILED)
        return false;
    s->stack = stack + STACK_BYTES;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of the program runs in the new processes */
    helper = clone(help, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, s);
    if (helper < 0 && errno == EINVAL) /* qemu's user mode runs only helpers with an exit signal */
        helper = clone(help, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
    if (helper < 0)
        s->error = errno;
    while (helper > 0 && waitpid(helper, NULL, __WALL) < 0 && errno == EINTR)
        ;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)munmap(stack, 2 * STACK_BYTES);
    errno = s->error;
    return s->error == 0;
}

/** Starts a program that contains this code. If the code is linked into the calling program, that program is started again. If
 *  the code is in a shared object, a program that does nothing is started, with this object preloaded. */
static bool start_image(int socket, const char *build)
{
    char preload[40];
    char *argv[] = {(char *)(uintptr_t)process_name, (char *)(uintptr_t)build, NULL};
    struct start s = {.path = "/proc/self/exe", .argv = argv, .envp = environ, .socket = socket, .image = -1};
    struct link_map *object = NULL;
    size_t count = 0, kept = 0;
    char **envp;
    Dl_info info;
    bool good;

    if (dladdr1(start_image, &info, (void **)&object, RTLD_DL_LINKMAP) == 0)
        return false;
    if (object->l_name[0] == '\0')
        return start(&s);
    while (environ[count] != NULL)
        count++;
    envp = calloc(count + 2, sizeof *envp);
    if (envp == NULL)
        return false;
    s.image = open(object->l_name, O_RDONLY | O_CLOEXEC);
    if (s.image < 0) {
        free(envp);
        return false;
    }
    snprintf(preload, sizeof preload, "LD_PRELOAD=/proc/self/fd/%d", IMAGE);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
            envp[kept++] = environ[i];
    envp[kept] = preload;
    s.path = "/bin/true";
    s.envp = envp;
    good = start(&s);
    (void)close(s.image);
    free(envp);
    return good;
}

bool nat_process_start(struct nat_process *process)
{
    struct lw_buffer build;
    int end[2];
    bool good;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0)
        return false;
    lw_buffer_init(&build);
    write_build(&build.sink);
    good = start_image(end[1], lw_buffer_text(&build));
    lw_buffer_fini(&build);
    (void)close(end[1]);
    if (good)
        *process = (struct nat_process){getpid(), end[0]};
    else
        (void)close(end[0]);
    return good;
}

void nat_process_end(struct nat_process *process)
{
    if (process->owner == 0)
        return;
    (void)shutdown(process->socket, SHUT_RDWR); /* close() would not suffice: a fork of the program may have a copy of the
                                                 * descriptor */
    (void)close(process->socket);
    process->owner = 0;
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
    enum nat_outcome outcome;

    *out = (struct nat_code){.entry = NULL};
    if (!receive_all(from, &outcome, sizeof outcome))
        outcome = NAT_CRASHED;
    if (outcome == NAT_UNSUPPORTED)
        return outcome;
    if (outcome == NAT_COMPILED) {
        if (receive_all(from, &out->size, sizeof out->size) &&
            (out->entry = allocate(job->count * sizeof *out->entry)) != NULL &&
            (out->site = allocate(out->size.sites * sizeof *out->site)) != NULL &&
            (out->object = allocate(out->size.object)) != NULL &&
            (out->size.assembly == 0 || (out->assembly = allocate(out->size.assembly)) != NULL) &&
            receive_all(from, out->entry, job->count * sizeof *out->entry) &&
            receive_all(from, out->site, out->size.sites * sizeof *out->site) &&
            receive_all(from, out->object, out->size.object) &&
            receive_all(from, out->assembly, out->size.assembly) &&
            (out->size.assembly == 0 || out->assembly[out->size.assembly - 1] == '\0') &&
            nat_code_is_valid(out, job))
            return NAT_COMPILED;
        nat_code_free(out);
    }
    nat_process_end(process);
    return outcome == NAT_TOO_LONG ? NAT_TOO_LONG : NAT_CRASHED;
}

bool nat_process_is_ours(struct nat_process *process)
{
    if (process->owner == 0 || process->owner == getpid())
        return true;
    (void)close(process->socket);
    process->owner = 0;
    return false;
}

bool nat_process_is_ready(const struct nat_process *process)
{
    struct pollfd socket = {.fd = process->socket, .events = POLLIN};

    return process->owner == 0 || poll(&socket, 1, 0) != 0;
}
