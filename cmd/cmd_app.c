/* SPDX-License-Identifier: Apache-2.0 */
/* The command lanewise app: runs a program in an environment in which the program uses Lanewise's OpenCL driver and CUDA
 * runtime instead of others. */
#include "cmd/cmd_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef LW_LIBRARY_FOLDER
#define LW_LIBRARY_FOLDER "/usr/local/lib"
#endif

/** The value of the environment variable LANEWISE_OPTIONS, under construction. */
struct words {
    const struct cmd *cmd;
    struct lw_buffer text;
    const char *option, *value; /* the last option with a value */
    struct cmd_app_check check;
    bool debug, gdb, sources; /* debug: --debug was given; gdb: --gdb; sources: --sources or --record */
};

/** Appends text with a backslash before white space, quotes and backslashes, because white space separates options. */
static void put_protected(struct lw_buffer *words, const char *text)
{
    for (; *text != '\0'; text++)
        lw_printf(&words->sink, strchr(" \t\r\n\"'\\", *text) != NULL ? "\\%c" : "%c", *text);
}

/** Returns the offset of a relative file name in an option's value, or -1 if the value has none. At this offset the caller
 *  inserts the current folder, because the program may have changed its folder when the runtime opens the file. */
static int before_file(const char *option, const char *value)
{
    static const char *const options[] = {"stats", "check-file", "check-suppress", "coverage", "profile", "timing-report",
                                          "timing-profile", "timing-trace", "log", "replay", "record", "sources", "include", "check-base"};
    const int prefix = strcmp(option, "gdb") == 0 && strncmp(value, "unix:", 5) == 0 ? 5 : 0;
    bool is = prefix != 0 || (strcmp(option, "timing") == 0 && tim_machine_text(value) == NULL && access(value, R_OK) == 0);

    for (unsigned i = 0; i < LW_COUNT_OF(options); i++)
        is = is || strcmp(option, options[i]) == 0;
    return is && value[prefix] != '/' && value[prefix] != '\0' && strcmp(value, "-") != 0 ? prefix : -1;
}

/** Appends the current folder and a slash. @expanded: the runtime replaces %p and %% in this option. */
static void put_here(struct lw_buffer *words, const char *here, bool expanded)
{
    for (; *here != '\0'; here++) {
        const char one[2] = {*here, '\0'};

        put_protected(words, expanded && *here == '%' ? "%%" : one);
    }
    lw_put(&words->sink, "/");
}

/** Returns true if @name names a file that can be executed and is no GPU model. */
static bool is_program(const char *name)
{
    const char *dot = name != NULL ? strrchr(name, '.') : NULL;
    struct stat at;

    return name != NULL && (dot == NULL || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0)) && stat(name, &at) == 0 && S_ISREG(at.st_mode) && access(name, X_OK) == 0;
}

/** Checks and appends an option; handles --debug itself, because the runtimes do not have this option. */
static enum lw_status take(void *context, unsigned option, const char *value, struct lw_error *err)
{
    struct lw_buffer *words = &((struct words *)context)->text;
    const char *name = ((struct words *)context)->cmd->options[option].name;
    char here[PATH_MAX];
    enum lw_status status;
    int before;

    if (strcmp(name, "debug") == 0) {
        ((struct words *)context)->debug = true;
        return LW_OK;
    }
    if (strcmp(name, "timing") == 0 && is_program(value))
        return LW_FAIL(err, LW_EUSAGE, "expected a GPU model, found the program %.200s: in \"lanewise app\" the model is not optional; write "
                                       "\"--timing volta\", for example", value);
    status = cmd_app_check_option(&((struct words *)context)->check, name, value, err);
    if (status != LW_OK)
        return status;
    ((struct words *)context)->gdb |= strcmp(name, "gdb") == 0;
    ((struct words *)context)->sources |= strcmp(name, "sources") == 0 || strcmp(name, "record") == 0;
    lw_printf(&words->sink, "--%s", name);
    if (value != NULL) {
        ((struct words *)context)->option = name;
        ((struct words *)context)->value = value;
        lw_put(&words->sink, "=");
        before = before_file(name, value);
        if (before >= 0 && getcwd(here, sizeof here) != NULL) {
            lw_printf(&words->sink, "%.*s", before, value);
            value += before;
            put_here(words, here, cmd_app_check_expands(name));
        }
        put_protected(words, value);
    }
    lw_put(&words->sink, " ");
    return LW_OK;
}

/** Returns true for "1234", "host:1234" and "unix:path", which are addresses for --gdb and not names of programs. */
static bool is_address(const char *word)
{
    const char *colon = word != NULL ? strrchr(word, ':') : NULL;
    uint64_t port;

    return word != NULL && (strncmp(word, "unix:", 5) == 0 || lw_parse_u64(colon != NULL ? colon + 1 : word, &port));
}

/** Returns the index of the program's name in @argv, after the options and their operands. */
static int count_own(const struct cmd *cmd, int argc, char **argv)
{
    int i = 1;

    while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
        const char *name = argv[i];

        if (strcmp(name, "--") == 0)
            return i + 1;
        for (size_t k = 0; k < cmd->option_count; k++) {
            const struct cmd_option *o = &cmd->options[k];
            const bool is = strncmp(name, "--", 2) == 0 ? strcmp(name + 2, o->name) == 0
                                                        : o->letter != 0 && name[1] == o->letter && name[2] == '\0';

            if (is && o->operand != NULL && (o->operand[0] != '[' || (strcmp(o->name, "gdb") == 0 && is_address(argv[i + 1]))))
                i++;
        }
        i++;
    }
    return i < argc ? i : argc;
}

bool cmd_find_folder(const char *name, const char *file, char *folder, size_t room)
{
    static const char *const from_here[] = {"", "../lib/"};
    char here[PATH_MAX], path[PATH_MAX + 64];
    ssize_t size = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash;

    for (unsigned i = 0; size > 0 && i < LW_COUNT_OF(from_here); i++) {
        here[size] = '\0';
        slash = strrchr(here, '/');
        snprintf(folder, room, "%.*s/%s%s", (int)(slash - here), here, from_here[i], name);
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(folder, room, "%s/%s", LW_LIBRARY_FOLDER, name);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return access(path, R_OK) == 0;
}

/** Adds @folder as the first entry to an environment variable that has a list of folders. */
static void prepend(const char *variable, const char *folder)
{
    const char *before = getenv(variable);
    struct lw_buffer list;

    lw_buffer_init(&list);
    lw_printf(&list.sink, "%s%s%s", folder, before != NULL && *before != '\0' ? ":" : "", before != NULL ? before : "");
    setenv(variable, lw_buffer_text(&list), 1);
    lw_buffer_fini(&list);
}

/** Starts the program in a process group of its own, so that only gdb gets Ctrl-C, and without standard input, from which
 *  gdb reads. Returns its process id, or -1; *failed is set to errno if the program cannot be executed, else to 0. */
static pid_t start_program(char *const *program, const struct lw_buffer *options, int *failed)
{
    int pipes[2];
    pid_t child;

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return -1;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        const int empty = open("/dev/null", O_RDONLY);

        setpgid(0, 0);
        signal(SIGTTOU, SIG_IGN);
        dup2(empty, STDIN_FILENO);
        setenv("LANEWISE_OPTIONS", lw_buffer_text(options), 1);
        execvp(*program, program);
        (void)!write(pipes[1], &errno, sizeof errno);
        _exit(127);
    }
    close(pipes[1]);
    if (child > 0 && read(pipes[0], failed, sizeof *failed) != (ssize_t)sizeof *failed)
        *failed = 0;
    close(pipes[0]);
    return child;
}

/** Waits until the program has ended. Returns its exit status or, as shells do, 128 plus the number of the signal that
 *  ended it. */
static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/** Removes the folder with the program's OpenCL sources, and the private folder of gdb that contains it. */
static void remove_sources(char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "program-", 8) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/** Prints why the program cannot be started. Returns the exit status. @error is the errno of exec. */
static int cannot_start(const struct cmd *cmd, const char *program, int error)
{
    const char *why = error == ENOENT ? "the program does not exist" : strerror(error), *dot = strrchr(program, '.');

    if (error == ENOENT && access(program, X_OK) == 0)
        return cmd_wrong_usage(cmd, "%s: no folder of PATH has this program: for the file in this folder, write ./%s", program, program);
    if (access(program, R_OK) == 0 && dot != NULL && strcmp(dot, ".cu") == 0)
        return cmd_wrong_usage(cmd, "%s: is a source file: compile it with \"lanewise cc %s -o PROGRAM\", and run the program", program, program);
    return cmd_wrong_usage(cmd, "%s: %s", program, why);
}

/** Runs the program, and starts gdb in this terminal when the runtime waits for it at a launch. @has_sources: options
 *  request that sources are written to a folder. Returns the program's exit status. */
static int run_with_gdb(const struct cmd *cmd, char *const *program, bool has_sources, struct lw_buffer *options)
{
    char sources[sizeof ((struct cmd_gdb *)0)->folder + 16];
    struct cmd_gdb gdb = {.exited_fd = -1, .served = true};
    struct lw_error err;
    int failed = 0, status;
    bool waits = false;
    pid_t child;

    if (cmd_gdb_prepare(&gdb, &err) != LW_OK)
        return cmd_error(&err);
    snprintf(sources, sizeof sources, "%s/sources", gdb.folder);
    lw_printf(&options->sink, "--gdb=%s --gdb-own ", gdb.address);
    if (!has_sources) /* gdb needs the sources in files; this process removes them when the program has ended */
        lw_printf(&options->sink, "--sources=%s ", sources);
    child = start_program(program, options, &failed);
    if (child < 0 || failed != 0) {
        if (child > 0)
            wait_for(child);
        remove_sources(sources);
        cmd_gdb_wait(&gdb);
        return cannot_start(cmd, *program, child < 0 ? errno : failed);
    }
    cmd_end_catch(NULL, cmd_gdb_quickly);
    for (;;) { /* waits until the runtime has created the socket, the program has ended, or a signal is received */
        siginfo_t info = {0};

        waits = access(gdb.address + strlen("unix:"), F_OK) == 0;
        if (waits || cmd_end_signal() != 0 || (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    if (waits && cmd_end_signal() == 0 && cmd_gdb_start(&gdb, "./program", &err) != LW_OK) {
        cmd_error(&err);
        kill(child, SIGTERM);
    }
    cmd_gdb_wait(&gdb);
    if (cmd_end_signal() != 0)
        kill(child, SIGTERM);
    status = wait_for(child);
    remove_sources(sources);
    if (!waits && status == CMD_FINE)
        fprintf(stderr, "lanewise: gdb was not started, as the program ended without launching a matching kernel\n");
    return status;
}

/** Runs the program with the options @words. Returns an exit status. */
static int run_program(const struct cmd *cmd, char *const *program, struct words *words)
{
    char folder[2 * PATH_MAX];

    /* The folder is set even if Lanewise was built without OpenCL and has no driver, so that the program finds no OpenCL
     * platform rather than the platform of another driver. */
    cmd_find_folder("lanewise-icd", "lanewise.icd", folder, sizeof folder);
    setenv("OCL_ICD_VENDORS", folder, 1);
    unsetenv("OCL_ICD_FILENAMES"); /* this variable may name further drivers, which the ICD loader would add */
    if (!cmd_find_folder("lanewise-cuda", "libcudart.so.13", folder, sizeof folder)) /* `make lanewise` builds no runtimes */
        return cmd_wrong_usage(cmd, "the runtimes of Lanewise are not in %s, so the program would find no device: run \"make\" in the "
                                    "build folder, which builds them", folder);
    prepend("LD_LIBRARY_PATH", folder);
    if (words->debug)
        return words->gdb ? cmd_wrong_usage(cmd, "--debug starts its own gdb: leave --gdb out")
                          : run_with_gdb(cmd, program, words->sources, &words->text);
    setenv("LANEWISE_OPTIONS", lw_buffer_text(&words->text), 1);
    execvp(*program, program);
    return cannot_start(cmd, *program, errno);
}

int cmd_app(const struct cmd *cmd, int argc, char **argv)
{
    const int own = count_own(cmd, argc, argv);
    char *const *program = argv + own;
    char *mine[own + 1];
    const char *before = getenv("LANEWISE_OPTIONS");
    struct words words = {.cmd = cmd};
    struct lw_error err;
    int status = CMD_USAGE;

    memcpy(mine, argv, (size_t)own * sizeof *mine);
    mine[own] = NULL;
    if (own > 1 && strcmp(mine[own - 1], "--") == 0)
        mine[own - 1] = NULL;
    lw_buffer_init(&words.text);
    if (before != NULL)
        lw_printf(&words.text.sink, "%s ", before);
    if (cmd_app_check_begin(&words.check, &err) != LW_OK) {
        status = cmd_error(&err);
    } else if (cmd_parse(cmd, mine[own - 1] != NULL ? own : own - 1, mine, take, &words, &status) >= 0) {
        /* Options in the environment may add a GPU model to those of the command line, so then only the runtime can check
         * all options together. */
        const bool fits = (before != NULL && *before != '\0') || cmd_app_check_all(&words.check, &err) == LW_OK;

        if (fits && *program != NULL)
            cmd_app_check_unlink(&words.check);
        cmd_app_check_end(&words.check);
        if (!fits)
            status = cmd_error(&err);
        else if (*program == NULL && words.value != NULL && words.value == mine[own - 1])
            status = cmd_wrong_usage(cmd, "expected the name of a program after \"--%s %s\": \"%s\" is the value of --%s",
                                     words.option, words.value, words.value, words.option);
        else if (*program == NULL)
            status = cmd_wrong_usage(cmd, "expected the name of a program, such as \"lanewise app --check ./saxpy 1000\"");
        else
            status = run_program(cmd, program, &words);
    }
    cmd_app_check_end(&words.check);
    lw_buffer_fini(&words.text);
    return status;
}
