/* SPDX-License-Identifier: Apache-2.0 */
/* The command lanewise gdb: a run with a gdb that is started in this terminal and connected to the run. */
#include "cmd/cmd_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Command that makes gdb load the Python file from the stub, so that no file has to be found (docs/reference/gdb.md). */
static const char load_python[] =
    "python exec(bytes.fromhex(gdb.selected_inferior().connection.send_packet('qGpuPy').decode()))";

/* Times for which end_child() waits for the end of gdb, before SIGTERM and in all, in steps of 20 ms. */
enum { WAITS_BEFORE = 10, WAITS = 100 };

/* Makes gdb read code from the program file. An x86-64 gdb reads the code at the pc four times at each stop, and would
 * otherwise send packets for it. */
static const char quick[] = "set trust-readonly-sections on";

/* Turns off the line that gdb prints for each new thread. During a run many blocks start, and each of their warps is a
 * thread. */
static const char calm[] = "set print thread-events off";

/** Returns true for "-batch", "--ex" etc., which are options of gdb but not of lanewise gdb. */
static bool is_of_gdb(const char *word)
{
    static const char *const names[] = {"batch", "batch-silent", "ex", "iex", "eval-command", "nx", "nh", "tui",
                                        "args", "return-child-result"};

    if (*word != '-')
        return false;
    word += word[1] == '-' ? 2 : 1;
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

int cmd_gdb(const struct cmd *cmd, int argc, char **argv)
{
    struct cmd_gdb gdb = {.exited_fd = -1};
    int own = 1;

    /* Arguments after "--" are passed to gdb. */
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    gdb.options = own < argc ? argv + own + 1 : NULL;
    for (int i = 1; i < own; i++)
        if (is_of_gdb(argv[i]) && strcmp(argv[i - 1], "-X") != 0)
            return cmd_wrong_usage(cmd, "\"%s\" is an option of gdb: give it after --, as in lanewise gdb LAUNCH.yaml "
                                        "-- %s", argv[i],
                                   argv[i]);
    gdb.option_count = own < argc ? argc - own - 1 : 0;
    return cmd_run_with(cmd, own, argv, &gdb);
}

bool cmd_gdb_is_interactive(const struct cmd_gdb *gdb)
{
    for (int i = 0; i < gdb->option_count; i++) {
        const char *option = gdb->options[i];

        if (option[0] == '-' && strcmp(option + (option[1] == '-' ? 2 : 1), "batch") == 0)
            return false;
    }
    return true;
}

static const char *program_of(const struct cmd_gdb *gdb)
{
    const char *set = getenv("GDB");

    return gdb->program != NULL          ? gdb->program
           : set != NULL && *set != '\0' ? set
           : gdb->aarch64                ? "gdb-multiarch"
                                         : "gdb";
}

/* The gdb that was prepared or started, for the signal handler, which has no parameters. */
static struct cmd_gdb *volatile ours;

static void remove_folder(struct cmd_gdb *gdb)
{
    ours = NULL;
    unlink(gdb->program_file);
    unlink(gdb->address + strlen("unix:"));
    rmdir(gdb->folder);
    gdb->folder[0] = '\0';
}

/* Without this function, after a second signal the folder would remain, and gdb would wait for a server that has ended. */
void cmd_gdb_quickly(void)
{
    struct cmd_gdb *gdb = ours;

    if (gdb == NULL)
        return;
    if (gdb->child > 0)
        kill(gdb->child, SIGTERM);
    remove_folder(gdb);
}

enum lw_status cmd_gdb_prepare(struct cmd_gdb *gdb, struct lw_error *err)
{
    const char *folder = getenv("TMPDIR");

    /* A folder with a long name is not used, because the path of a socket has at most about a hundred characters. */
    snprintf(gdb->folder, sizeof gdb->folder, "%s/lanewise-XXXXXX",
             folder != NULL && *folder == '/' && strlen(folder) < 60 && strchr(folder, ':') == NULL
                 ? folder
                 : "/tmp");
    if (mkdtemp(gdb->folder) == NULL) {
        enum lw_status status =
            LW_FAIL(err, LW_EIO, "gdb: cannot create the folder %s: %s", gdb->folder, strerror(errno));

        gdb->folder[0] = '\0';
        return status;
    }
    snprintf(gdb->address, sizeof gdb->address, "unix:%s/socket", gdb->folder);
    snprintf(gdb->program_file, sizeof gdb->program_file, "%s/kernels", gdb->folder);
    ours = gdb;
    return LW_OK;
}

/* Executes gdb in the child process; never returns. */
static void become_gdb(const struct cmd_gdb *gdb, const char *target, const char *sources,
                       int failed_fd)
{
    const char *words[] = {program_of(gdb), "-q", "-ex", sources, "-ex", quick, "-ex", calm, "-ex", target,
                           "-ex", load_python, gdb->program_file};
    size_t count = LW_COUNT_OF(words) - gdb->served;
    char **all = calloc(count + (size_t)gdb->option_count + 1, sizeof *all);
    int number = ENOMEM;

    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (all != NULL) {
        for (size_t i = 0; i < count; i++)
            all[i] = (char *)(uintptr_t)words[i];
        for (int i = 0; i < gdb->option_count; i++)
            all[count++] = gdb->options[i];
        execvp(all[0], all);
        number = errno;
    }
    if (write(failed_fd, &number, sizeof number) != sizeof number)
        _exit(126);
    _exit(127);
}

enum lw_status cmd_gdb_start(struct cmd_gdb *gdb, const char *launch_file, struct lw_error *err)
{
    char target[200], sources[4200], folder[4096];
    const char *slash = strrchr(launch_file, '/');
    int failed[2], number = 0;
    ssize_t got;

    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - launch_file) : 1,
             slash != NULL ? launch_file : ".");
    snprintf(sources, sizeof sources, "set directories %s:$cdir:$cwd",
             folder[0] != '\0' ? folder : "/");
    snprintf(target, sizeof target, "target %s %s", gdb->served ? "remote" : "extended-remote", gdb->address + strlen("unix:"));
    if (pipe2(failed, O_CLOEXEC) != 0)
        return LW_FAIL(err, LW_EIO, "gdb: %s", strerror(errno));
    fflush(stdout);
    gdb->child = fork();
    if (gdb->child < 0) {
        close(failed[0]);
        close(failed[1]);
        return LW_FAIL(err, LW_EIO, "gdb: cannot start a process for gdb: %s", strerror(errno));
    }
    if (gdb->child == 0)
        become_gdb(gdb, target, sources, failed[1]);
    close(failed[1]);
    /* Ctrl-C in this terminal reaches both processes. Only gdb handles it, and sends an interrupt to the server. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    do
        got = read(failed[0], &number, sizeof number);
    while (got < 0 && errno == EINTR);
    if (got == sizeof number) {
        cmd_gdb_wait(gdb);
        gdb->exited_fd = failed[0]; /* this end of the pipe is readable, because the other end is closed; so the server ends */
        return LW_FAIL(err, LW_EIO,
                       "gdb: cannot start \"%s\": %s; install the Debian package %s, or give another gdb with "
                       "--gdb-program or in the environment variable GDB",
                       program_of(gdb), strerror(number), gdb->aarch64 ? "gdb-multiarch" : "gdb");
    }
    close(failed[0]);
    gdb->exited_fd = (int)syscall(SYS_pidfd_open, gdb->child, 0);
    return LW_OK;
}

/* Ends gdb after a signal. A gdb that executes commands from its command line ends when its connection is closed. A gdb that
 * does not end when its connection is closed gets SIGTERM, and then SIGKILL. */
static void end_child(int child)
{
    const struct timespec pause = {.tv_nsec = 20000000};

    for (unsigned i = 0; i < WAITS; i++) {
        if (waitpid(child, NULL, WNOHANG) != 0)
            return;
        if (i == WAITS_BEFORE)
            kill(child, SIGTERM);
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
}

void cmd_gdb_wait(struct cmd_gdb *gdb)
{
    if (gdb->exited_fd >= 0)
        close(gdb->exited_fd);
    gdb->exited_fd = -1;
    if (gdb->child > 0 && cmd_end_signal() != 0)
        end_child(gdb->child);
    while (gdb->child > 0 && waitpid(gdb->child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (gdb->folder[0] != '\0')
        remove_folder(gdb);
    if (gdb->child == 0)
        return;
    gdb->child = 0;
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
}
