/* SPDX-License-Identifier: Apache-2.0 */
/* Runs compilers as child processes: finds the compiler's program, creates its private folder, and reads its output. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum {
    TIMEOUT_MS = 60000, /* limit of the compiler's processor time */
    ELAPSED_MS = 300000, /* limit of the elapsed time, for a compiler that waits and does not compute */
    LOOK_MS = 50, /* interval at which the reader checks for signals */
    DUMP_LIMIT_BYTES = 32 << 20, /* limit of clang's dump. To write it takes clang as long as to compile */
    OUTPUT_LIMIT_BYTES = 1 << 16 /* limit of the compiler's output without a dump; a crash of clang prints megabytes */
};

static const char *const clang_names[] = {"clang-19", "clang-16", "clang-15", "clang-14",
                                          "clang"};

static const char *const libclc_patterns[] = {
    "/usr/lib/clc/nvptx64--nvidiacl.bc", "/usr/local/lib/clc/nvptx64--nvidiacl.bc",
    "/usr/lib/llvm-*/lib/clc/nvptx64--nvidiacl.bc",
    "/usr/lib/clang/*/lib/libclc/nvptx64--nvidiacl.bc", "/usr/lib/clang/*/nvptx64--nvidiacl.bc",
    "/usr/share/clc/nvptx64--nvidiacl.bc", "/usr/lib64/clc/nvptx64--nvidiacl.bc"};

bool ptx_is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool ptx_find_program(const char *name, char *out)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        if ((size_t)snprintf(out, PTX_PATH_BYTES, "%s", name) >= PTX_PATH_BYTES)
            return false;
        return ptx_is_file(out) && access(out, X_OK) == 0;
    }
    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path != '\0') {
        size_t size = strcspn(path, ":");

        if (size != 0 &&
            (size_t)snprintf(out, PTX_PATH_BYTES, "%.*s/%s", (int)size, path, name) < PTX_PATH_BYTES &&
            ptx_is_file(out) && access(out, X_OK) == 0)
            return true;
        path += size;
        path += *path == ':';
    }
    return false;
}

/** Returns true for names such as "gcc", "/usr/bin/g++-12" or "aarch64-linux-gnu-gcc". */
static bool is_gcc(const char *name)
{
    const char *slash = strrchr(name, '/');

    name = slash != NULL ? slash + 1 : name;
    return strncmp(name, "gcc", 3) == 0 || strncmp(name, "g++", 3) == 0 ||
           strstr(name, "-gcc") != NULL || strstr(name, "-g++") != NULL;
}

enum lw_status ptx_find_clang(const char *wanted, char *out, struct lw_error *err)
{
    const char *from = "";

    if (wanted == NULL) {
        wanted = getenv("LANEWISE_CLANG");
        from = "LANEWISE_CLANG: ";
    }
    if (wanted != NULL && *wanted != '\0') {
        if (is_gcc(wanted))
            return LW_FAIL(err, LW_EINPUT,
                           "%s%s: gcc cannot generate PTX: give a clang (or, for CUDA C++, nvcc)", from,
                           wanted);
        if (ptx_find_program(wanted, out))
            return LW_OK;
        return LW_FAIL(err, LW_ENOENT, "%s%s: the compiler was not found", from, wanted);
    }
    for (size_t i = 0; i < LW_COUNT_OF(clang_names); i++) {
        if (ptx_find_program(clang_names[i], out))
            return LW_OK;
    }
    return LW_FAIL(err, LW_ENOENT,
                   "no clang found on PATH: kernels in OpenCL C and CUDA C++ need the Debian "
                   "packages clang-19 or clang-14, and libclc-14");
}

bool ptx_find_clang_after(const char *compiler, char *out)
{
    char path[PTX_PATH_BYTES];
    bool after = false, found = false;

    /* The last name, "clang", is ignored, because the program "clang" is a link to one of the versions in the list. */
    for (size_t i = 0; i < LW_COUNT_OF(clang_names) - 1 && !found; i++) {
        if (!ptx_find_program(clang_names[i], path))
            continue;
        found = after;
        after = after || strcmp(path, compiler) == 0;
    }
    if (found)
        memcpy(out, path, sizeof path);
    return found;
}

enum lw_status ptx_find_libclc(char *out, struct lw_error *err)
{
    const char *wanted = getenv("LANEWISE_LIBCLC");

    if (wanted != NULL && *wanted != '\0') {
        int size = snprintf(out, PTX_PATH_BYTES, "%s", wanted);

        if (size > 0 && size < PTX_PATH_BYTES && ptx_is_file(out))
            return LW_OK;
        size = snprintf(out, PTX_PATH_BYTES, "%s/nvptx64--nvidiacl.bc", wanted);
        if (size > 0 && size < PTX_PATH_BYTES && ptx_is_file(out))
            return LW_OK;
        return LW_FAIL(err, LW_ENOENT,
                       "LANEWISE_LIBCLC: %s is neither nvptx64--nvidiacl.bc nor a folder that contains it",
                       wanted);
    }
    for (size_t i = 0; i < LW_COUNT_OF(libclc_patterns); i++) {
        glob_t found;
        bool ok = false;

        if (glob(libclc_patterns[i], 0, NULL, &found) != 0)
            continue;
        /* glob() sorts the paths, so the last one has the newest version */
        if (found.gl_pathc != 0)
            ok = (size_t)snprintf(out, PTX_PATH_BYTES, "%s", found.gl_pathv[found.gl_pathc - 1]) <
                 PTX_PATH_BYTES;
        globfree(&found);
        if (ok)
            return LW_OK;
    }
    return LW_FAIL(err, LW_ENOENT,
                   "no libclc for PTX found (nvptx64--nvidiacl.bc): install the Debian package libclc-14, or give the "
                   "file in the environment variable LANEWISE_LIBCLC");
}

/* ---- folders ----------------------------------------------------------------- */

#define SCRATCH_NAME "lanewise-build-" /* the process id and six more characters follow */
enum { OLD_SECONDS = 3600 };

/** Removes the contents of the open folder @at, at most @depth levels deep. */
static void empty_folder(int at, unsigned depth)
{
    DIR *dir = fdopendir(at);
    struct dirent *entry;

    if (dir == NULL) {
        close(at);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(dir), entry->d_name, 0) != 0 && depth != 0) {
            int below = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

            if (below >= 0) {
                empty_folder(below, depth - 1);
                (void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
            }
        }
    }
    closedir(dir);
}

void ptx_remove_scratch(const char *path)
{
    int at;

    if (path[0] == '\0')
        return;
    at = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (at >= 0)
        empty_folder(at, 4);
    (void)rmdir(path);
}

/** Removes the temporary folders of processes that a signal has ended during a compilation. A folder is removed only if it is old,
 *  because its process may be invisible here, in another container. */
static void remove_old(const char *parent)
{
    DIR *dir = opendir(parent);
    char path[PTX_PATH_BYTES];
    struct dirent *entry;
    struct stat st;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char *end = NULL;
        long process;

        if (strncmp(entry->d_name, SCRATCH_NAME, strlen(SCRATCH_NAME)) != 0)
            continue;
        process = strtol(entry->d_name + strlen(SCRATCH_NAME), &end, 10);
        if (process <= 0 || *end != '-' || kill((pid_t)process, 0) == 0 || errno != ESRCH ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
            time(NULL) - st.st_mtime < OLD_SECONDS || (size_t)snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) >= sizeof path)
            continue;
        ptx_remove_scratch(path);
    }
    if (dir != NULL)
        closedir(dir);
}

enum lw_status ptx_make_scratch(char *out, struct lw_error *err)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    remove_old(parent);
    if ((size_t)snprintf(out, PTX_PATH_BYTES, "%s/" SCRATCH_NAME "%ld-XXXXXX", parent, (long)getpid()) >= PTX_PATH_BYTES - 64 ||
        mkdtemp(out) == NULL) {
        int error = errno;

        out[0] = '\0';
        return LW_FAIL(err, LW_EIO, "cannot create a temporary folder in %s: %s", parent,
                       strerror(error));
    }
    return LW_OK;
}

/* ---- the child process ----------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/** Returns true if the child @pid has used its processor time, or if @deadline has passed. On a busy machine a compiler that
 *  computes may need much more elapsed time than processor time. */
static bool is_expired(pid_t pid, int64_t deadline)
{
    struct timespec t;
    clockid_t clock;

    if (now_ms() >= deadline)
        return true;
    return clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0 &&
           (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 >= TIMEOUT_MS;
}

/* The object of ptx_clang_words.c, which buffers clang's dump, because clang writes the dump one word at a time. */
static const unsigned char words_object[] = {
#include "ptx/compiler/clang_words.inc"
};

/** Returns true if the program can load the object of ptx_clang_words.c. A script cannot load it, and a program for another
 *  processor would print an error. */
static bool loads_words_object(const char *program)
{
    enum { CLASS_END = 5, MACHINE = 18, MACHINE_END = 20 };
    unsigned char head[MACHINE_END] = {0};
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head && memcmp(head, words_object, CLASS_END) == 0 &&
              memcmp(head + MACHINE, words_object + MACHINE, MACHINE_END - MACHINE) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

/** Returns a descriptor of an unnamed file that contains the object, or -1 if @program cannot load the object. With -1, clang
 *  runs without the object. */
static int open_words_object(const char *program)
{
    int fd = loads_words_object(program) ? memfd_create("lanewise-clang-words", MFD_CLOEXEC) : -1;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && (write(fd, words_object, sizeof words_object) != (ssize_t)sizeof words_object || access(path, R_OK) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void free_environment(char **environment)
{
    if (environment != NULL) {
        free(environment[0]);
        free(environment[1]);
    }
    free(environment);
}

/** Returns a copy of our environment in which TMPDIR is @scratch, and LD_PRELOAD contains the object in descriptor @words. If
 *  @words is -1, LD_PRELOAD is unchanged. */
static char **child_environment(const char *scratch, int words)
{
    const char *others = getenv("LD_PRELOAD");
    size_t count = 0, kept = 3;
    char **copy;

    while (environ[count] != NULL)
        count++;
    copy = calloc(count + 4, sizeof *copy);
    if (copy == NULL)
        return NULL;
    if (asprintf(&copy[0], "TMPDIR=%s", scratch) < 0)
        copy[0] = NULL;
    /* Without an object to preload, the second entry of the environment repeats TMPDIR. */
    if ((words < 0 ? asprintf(&copy[1], "TMPDIR=%s", scratch)
                   : asprintf(&copy[1], "LD_PRELOAD=%s%s/proc/self/fd/%d", others != NULL ? others : "", others != NULL ? ":" : "",
                              words)) < 0)
        copy[1] = NULL;
    if (copy[0] == NULL || copy[1] == NULL) {
        free_environment(copy);
        return NULL;
    }
    copy[2] = (char *)(uintptr_t)"LLVM_DISABLE_SYMBOLIZATION=1"; /* without this variable, clang searches names of stack
                                                                  * frames after a crash, which can take a minute */
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "TMPDIR=", 7) != 0 && (words < 0 || strncmp(environ[i], "LD_PRELOAD=", 11) != 0))
            copy[kept++] = environ[i];
    }
    return copy;
}

/** Collects the signals that end this program and are not ignored. While a compiler runs, these signals are blocked, so that this
 *  program can kill the compiler's process group and remove its folder before it ends. */
static void ending_signals(sigset_t *set)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};

    sigemptyset(set);
    for (size_t i = 0; i < LW_COUNT_OF(all); i++) {
        struct sigaction action;

        if (sigaction(all[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, all[i]);
    }
}

/** Returns true if a signal of @set is pending. */
static bool is_interrupted(const sigset_t *set)
{
    sigset_t pending;

    if (sigpending(&pending) != 0)
        return false;
    for (int n = 1; n < 32; n++)
        if (sigismember(set, n) == 1 && sigismember(&pending, n) == 1)
            return true;
    return false;
}

/** Reads the output of the child @pid until it closes the pipe. Returns false if the time has expired, or if a signal of @ends
 *  is pending, or if the output of a program that @dumps debug values exceeds @limit. Otherwise cuts the output at @limit. */
static bool drain(pid_t pid, int fd, int64_t deadline, const sigset_t *ends, bool dumps, size_t limit, struct lw_buffer *output)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    bool cut = false;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char chunk[65536];
        ssize_t got;
        int ready;

        if (is_expired(pid, deadline) || is_interrupted(ends))
            return false;
        ready = poll(&p, 1, LOOK_MS);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        if (ready < 0)
            return true;
        got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        size_t room = cut ? 0 : limit - output->size, size = (size_t)got < room ? (size_t)got : room;
        output->sink.write(&output->sink, chunk, size);
        if (size < (size_t)got && dumps)
            return false;
        if (size < (size_t)got && !cut) {
            lw_put(&output->sink, "\n(the rest of the compiler's output is not shown)\n");
            cut = true;
        }
        /* clang may write its dump one word at a time. A reader that wakes up for each word would slow clang down. */
        if (output->size > sizeof chunk && (size_t)got < sizeof chunk / 2)
            nanosleep(&pause, NULL);
    }
}

/** Waits for the exit of a child that has closed its output. Returns false if the time expires before. */
static bool wait_until(pid_t pid, int64_t deadline, int *wait_status)
{
    const struct timespec pause = {.tv_nsec = 200000};

    for (;;) {
        pid_t got = waitpid(pid, wait_status, WNOHANG);

        if (got == pid)
            return true;
        if ((got < 0 && errno != EINTR) || is_expired(pid, deadline))
            return false;
        nanosleep(&pause, NULL);
    }
}

/**
 * Runs argv[0] without a shell and reads standard output and standard error, at most about @limit bytes, into @output.
 * @dumps        the program is clang and dumps debug values
 * @wait_status  receives the status of the program from waitpid()
 * Errors: LW_EIO if the program cannot be started, LW_EINPUT if it exceeds the time limit, LW_ERANGE if it dumps more than @limit
 *         bytes, LW_ESTATE if a signal that ends this
 *         program is pending. In that case @scratch has been removed, and the signal is delivered when this function returns.
 */
static enum lw_status run_child(char *const *argv, const char *scratch, bool dumps,
                                size_t limit, struct lw_buffer *output, int *wait_status,
                                struct lw_error *err)
{
    enum lw_status status = LW_OK;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    const int words = dumps ? open_words_object(argv[0]) : -1;
    char **environment = child_environment(scratch, words);
    int fds[2] = {-1, -1}, error;
    int64_t deadline;
    bool in_time;
    sigset_t ends, before;
    pid_t pid;

    if (environment == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the environment of %s", argv[0]);
        goto cleanup;
    }
    if (pipe2(fds, O_CLOEXEC) != 0) {
        status = LW_FAIL(err, LW_EIO, "cannot create a pipe to %s: %s", argv[0], strerror(errno));
        goto cleanup;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
    if (words >= 0)
        posix_spawn_file_actions_adddup2(&actions, words, words); /* the descriptor remains open in the child */
    ending_signals(&ends);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    /* The compiler has its own process group, so that the processes that the compiler starts are killed together with it. */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &before);
    error = posix_spawn(&pid, argv[0], &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        status = LW_FAIL(err, LW_EIO, "cannot start %s: %s", argv[0], strerror(error));
        goto cleanup;
    }
    close(fds[1]);
    fds[1] = -1;
    deadline = now_ms() + ELAPSED_MS;
    in_time = drain(pid, fds[0], deadline, &ends, dumps, limit, output) && wait_until(pid, deadline, wait_status);
    if (!in_time) {
        (void)kill(-pid, SIGKILL);
        while (waitpid(pid, wait_status, 0) < 0 && errno == EINTR)
            ;
    }
    if (is_interrupted(&ends)) {
        ptx_remove_scratch(scratch);
        status = LW_FAIL(err, LW_ESTATE, "%s was stopped by a signal", argv[0]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* delivers a pending signal, which by default ends this program */
    if (!in_time && status == LW_OK && dumps && output->size >= limit)
        status = LW_FAIL(err, LW_ERANGE, "%s wrote more than %zu bytes", argv[0], limit);
    else if (!in_time && status == LW_OK)
        status = LW_FAIL(err, LW_EINPUT, "%s was stopped, because it did not end within %d s of processor time or %d s", argv[0],
                         TIMEOUT_MS / 1000, ELAPSED_MS / 1000);
cleanup:
    if (fds[0] >= 0)
        close(fds[0]);
    if (fds[1] >= 0)
        close(fds[1]);
    if (words >= 0)
        close(words);
    free_environment(environment);
    return status;
}

enum lw_status ptx_run_program(const char *const *argv, const char *scratch, struct lw_buffer *output, int *wait_status,
                               struct lw_error *err)
{
    /* posix_spawn() does not modify argv, although the parameter's type is not const. */
    return run_child((char *const *)(uintptr_t)argv, scratch, false, OUTPUT_LIMIT_BYTES, output, wait_status, err);
}

/* ---- the compiler's messages ----------------------------------------------------------- */

/** Writes the compiler's output to @words. The output contains lines of the source, so control characters are written as \\xNN,
 *  as in messages. */
static void put_words(const struct lw_buffer *output, struct lw_sink *words)
{
    for (size_t i = 0; i < output->size;) {
        const unsigned char *p = (const unsigned char *)output->text + i;
        size_t n = 0;

        while (i + n < output->size && ((p[n] >= ' ' && p[n] != 0x7f) || p[n] == '\n' ||
                                        p[n] == '\t') &&
               !(p[n] == 0xc2 && i + n + 1 < output->size && p[n + 1] < 0xa0))
            n++;
        words->write(words, (const char *)p, n);
        /* U+0080 to U+009f are control characters of two bytes */
        for (unsigned k = 0, count = i + n < output->size && p[n] == 0xc2 ? 2 : 1;
             k < count && i + n < output->size; k++)
            lw_printf(words, "\\x%02x", (unsigned)p[n++]);
        i += n;
    }
    if (output->size != 0 && output->text[output->size - 1] != '\n')
        lw_put(words, "\n");
}

/** Copies the first lines of @text that contain "error:" to @out, separated by "; ", and appends the number of further lines with
 *  "error:". Returns the number of all these lines. Lines of the compiler's driver about failed commands do not count. */
static unsigned first_errors(const char *text, char *out, size_t room)
{
    unsigned count = 0, shown = 0;
    size_t used = 0;

    out[0] = '\0';
    while (text != NULL && *text != '\0') {
        size_t size = strcspn(text, "\n");
        const char *found = memmem(text, size, "error:", 6);
        bool noise = memmem(text, size, "linker command", 14) != NULL ||
                     memmem(text, size, "frontend command failed", 23) != NULL;

        if (found != NULL && !noise) {
            count++;
            if (shown < 3 && used + size + 4 < room) {
                used += (size_t)snprintf(out + used, room - used, "%s%.*s", shown ? "; " : "",
                                         (int)size, text);
                shown++;
            } else if (shown == 0) {
                used += (size_t)snprintf(out, room, "%.*s...", (int)room - 8, text);
                shown++;
            }
        }
        text += size;
        text += *text == '\n';
    }
    if (count > shown && used + 64 < room)
        snprintf(out + used, room - used, " (and %u more)",
                 count - shown);
    return count;
}

#define ANOTHER "to use another compiler, give it with --compiler, or in the environment variable LANEWISE_CLANG or LANEWISE_NVCC"

#define CCCL "CUB, Thrust and libcu++ are header libraries (github.com/NVIDIA/cccl): name the folders of their headers with -I"

/* Returns a message about a library if the error in @text is that a header of this library was not found. Otherwise
 * returns NULL. */
static const char *missing_library(const char *text)
{
    static const struct {
        const char *header, *what;
    } libraries[] = {
        {"'thrust/", CCCL}, {"'cub/", CCCL}, {"'cuda/", CCCL}, {"'nv/target", CCCL},
        {"'cutlass/", "CUTLASS is not supported"}, {"'cute/", "CUTLASS is not supported"},
        {"'cudnn", "cuDNN is not supported"}, {"'nccl", "NCCL is not supported"},
    };

    if (strstr(text, "file not found") == NULL)
        return NULL;
    for (size_t i = 0; i < LW_COUNT_OF(libraries); i++)
        if (strstr(text, libraries[i].header) != NULL)
            return libraries[i].what;
    return NULL;
}

static enum lw_status report(const char *path, const struct ptx_job *job, int wait_status,
                             const struct lw_buffer *output, struct lw_error *err)
{
    const char *slash = strrchr(job->compiler, '/');
    const char *name = slash != NULL ? slash + 1 : job->compiler;
    const char *text = output->text != NULL ? output->text : "";
    char said[360];
    unsigned count = first_errors(text, said, sizeof said);
    const char *library = missing_library(said);

    if (WIFSIGNALED(wait_status))
        return LW_FAIL(err, LW_EINPUT, "%s: %s crashed (signal %d)%s%s; " ANOTHER, path,
                       job->compiler, WTERMSIG(wait_status), count ? ": " : "", said);
    if (WEXITSTATUS(wait_status) >= 70)
        return LW_FAIL(err, LW_EINPUT, "%s: %s crashed (exit status %d)%s%s; " ANOTHER, path,
                       job->compiler, WEXITSTATUS(wait_status), count ? ": " : "", said);
    if (strstr(text, "cannot open file") != NULL && strstr(text, job->libclc) != NULL)
        return LW_FAIL(err, LW_ENOENT,
                       "%s cannot read %s, which was made by a newer compiler: install a libclc of the compiler's "
                       "version, or give another file in the environment variable LANEWISE_LIBCLC",
                       name, job->libclc);
    if (count == 0)
        return LW_FAIL(err, LW_EINPUT, "%s: %s failed (exit status %d)%s%.*s; " ANOTHER,
                       path, job->compiler, WEXITSTATUS(wait_status),
                       *text != '\0' ? ": " : " without output", (int)strcspn(text, "\n"), text);
    return LW_FAIL(err, LW_EINPUT, "%s%s%s%s%s",
                   strncmp(said, path, strlen(path)) == 0 ? "" : path,
                   strncmp(said, path, strlen(path)) == 0 ? "" : ": ", said,
                   library != NULL ? "; " : "", library != NULL ? library : "");
}

/* ---- one compilation -------------------------------------------------------------------------- */

enum lw_status ptx_check_source(const char *path, struct lw_error *err)
{
    if (access(path, R_OK) != 0)
        return LW_FAIL(err, LW_ENOENT, "%s: %s", path, strerror(errno));
    if (!ptx_is_file(path))
        return LW_FAIL(err, LW_EINPUT, "%s is not a file", path);
    if (path[0] == '-')
        return LW_FAIL(err, LW_EINPUT,
                       "%s: the compiler would read this name as an option: write ./%s", path, path);
    return LW_OK;
}

static bool has_failed(int wait_status)
{
    return !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0;
}

/** Returns true if the compiler crashed. clang's driver exits with 70 if its child, the compiler proper, crashed. */
static bool has_crashed(int wait_status)
{
    return WIFSIGNALED(wait_status) || WEXITSTATUS(wait_status) >= 70;
}

bool ptx_wants_warnings(const char *const *flags, size_t count)
{
    static const char *const others[] = {"-Wno-", "-Wa,", "-Wl,", "-Wp,"};

    for (size_t i = 0; i < count; i++) {
        bool wants = strncmp(flags[i], "-W", 2) == 0 || strcmp(flags[i], "-pedantic") == 0 ||
                     strcmp(flags[i], "-pedantic-errors") == 0;

        for (size_t k = 0; k < LW_COUNT_OF(others); k++)
            wants = wants && strncmp(flags[i], others[k], strlen(others[k])) != 0;
        if (wants)
            return true;
    }
    return false;
}

/** Works as run_child(), with the spelling of PTX_CLANG_MAYBE_UNWRITTEN that this clang accepts. The program's name usually
 *  shows whether this is clang 14. clang refuses an unknown spelling immediately, and the function tries the next spelling. */
static enum lw_status run_spelled(const char **argv, const char *scratch, bool dumps, size_t limit, struct lw_buffer *output,
                                  int *wait_status, struct lw_error *err)
{
    /* The first spelling is for clang 15 and later, the second one for clang 14. The third, "-w", stands for no option: older
     * versions never assume that arguments are initialised. */
    static const char *const spellings[] = {PTX_CLANG_MAYBE_UNWRITTEN, "-disable-noundef-analysis",
                                            "-w"};
    const char *slash = strrchr(argv[0], '/');
    size_t first = strstr(slash != NULL ? slash : argv[0], "-14") != NULL, at = 0;
    enum lw_status status;

    while (argv[at] != NULL && strcmp(argv[at], spellings[0]) != 0)
        at++;
    for (size_t k = 0;; k++) {
        if (argv[at] != NULL)
            argv[at] = spellings[k < 2 ? k ^ first : k];
        /* posix_spawn() does not modify argv, although the parameter's type is not const. */
        status = run_child((char *const *)argv, scratch, dumps, limit, output, wait_status, err);
        if (status != LW_OK || !has_failed(*wait_status) || argv[at] == NULL ||
            k + 1 == LW_COUNT_OF(spellings) || output->text == NULL ||
            strstr(output->text, "unknown argument") == NULL ||
            strstr(output->text, argv[at]) == NULL)
            return status;
        lw_buffer_fini(output);
        lw_buffer_init(output);
    }
}

/** Reads the source and its headers, in which assignments to variables are searched. If the source uses the preprocessor, runs
 *  the compiler's preprocessor. @argv is the command line of the compilation, which writes @result. */
static void read_sources(const struct ptx_job *job, const char *path, const char *const *argv, const char *result,
                        struct ptx_sources *sources)
{
    char preprocessed[PTX_PATH_BYTES + 16], *text = NULL;
    size_t count = 0, n = 0, size = 0;
    const char **command;
    struct lw_buffer messages;
    int wait_status = 0;

    ptx_sources_read(sources, path, argv);
    if (ptx_sources_are_preprocessed(sources, argv))
        return;
    while (argv[count] != NULL)
        count++;
    command = calloc(count + 1, sizeof *command);
    snprintf(preprocessed, sizeof preprocessed, "%s/kernel.i", job->scratch);
    for (size_t i = 0; command != NULL && i < count; i++) {
        if (strcmp(argv[i], "-mllvm") == 0 || strcmp(argv[i], "-MF") == 0)
            i++;
        else if (strcmp(argv[i], "-MD") != 0 && strcmp(argv[i], "-fverbose-asm") != 0)
            command[n++] = strcmp(argv[i], "-S") == 0 ? "-E" : strcmp(argv[i], result) == 0 ? preprocessed : argv[i];
    }
    lw_buffer_init(&messages);
    if (command != NULL &&
        run_child((char *const *)command, job->scratch, false, OUTPUT_LIMIT_BYTES, &messages, &wait_status, NULL) == LW_OK &&
        !has_failed(wait_status) && lw_file_read(preprocessed, &text, &size, NULL) != LW_OK)
        size = 0;
    ptx_sources_preprocessed(sources, argv, text, size);
    lw_buffer_fini(&messages);
    free(command);
    free(text);
}

/** Removes the option for a dump of debug values from a command line. */
static void remove_dump(const char **argv)
{
    static const char *const values[] = {PTX_CLANG_VALUES};
    const char *const dump = values[LW_COUNT_OF(values) - 1];

    size_t at = 0;

    while (argv[at] != NULL && strcmp(argv[at], dump) != 0)
        at++;
    if (argv[at] == NULL)
        return;
    at--; /* the word before it is -mllvm */
    while ((argv[at] = argv[at + 2]) != NULL)
        at++;
}

/** Runs the compiler. Parameters are those of ptx_run_compiler(). @output receives the compiler's messages. */
static enum lw_status run(struct ptx_job *job, const char *path, const char **argv, const char *result, struct lw_buffer *output,
                          char **ptx, size_t *size, struct lw_error *err)
{
    enum lw_status status;
    int wait_status = 0;
    char *dump = NULL;
    size_t dump_size = 0;

    status = run_spelled(argv, job->scratch, job->values, job->values ? DUMP_LIMIT_BYTES : OUTPUT_LIMIT_BYTES, output, &wait_status, err);
    if (status == LW_ERANGE) { /* the code is large */
        if (job->words != NULL)
            lw_printf(job->words, "%s: the code is large, so variables of optimised code have no values in debuggers\n", path);
        lw_buffer_fini(output);
        lw_buffer_init(output);
        remove_dump(argv);
        job->values = false;
        status = run_spelled(argv, job->scratch, false, OUTPUT_LIMIT_BYTES, output, &wait_status, err);
    }
    if (job->values && output->text != NULL) {
        output->size = ptx_values_split(output->text, output->size, &dump, &dump_size);
        if (output->size > OUTPUT_LIMIT_BYTES)
            output->size = OUTPUT_LIMIT_BYTES;
        output->text[output->size] = '\0';
    }
    job->crashed = status == LW_OK && has_crashed(wait_status);
    if (status == LW_OK && has_failed(wait_status))
        status = report(path, job, wait_status, output, err);
    if (status == LW_OK)
        status = lw_file_read(result, ptx, size, err);
    if (status == LW_OK && dump != NULL && job->has_no_source) {
        ptx_values_annotate(ptx, size, dump, dump_size, NULL);
    } else if (status == LW_OK && dump != NULL) {
        struct ptx_sources sources;

        read_sources(job, path, argv, result, &sources);
        ptx_values_annotate(ptx, size, dump, dump_size, &sources);
        ptx_sources_free(&sources);
    }
    free(dump);
    if (status == LW_ENOENT)
        return LW_FAIL(err, LW_EINPUT, "%s: %s succeeded but wrote no output; " ANOTHER, path,
                       job->compiler);
    return status;
}

/** Works as run(), and stores the result in the cache. */
static enum lw_status run_cached(struct ptx_job *job, const char *path, const char **argv, const char *result, struct lw_buffer *output,
                                 char **ptx, size_t *size, struct lw_error *err)
{
    struct ptx_cache_key *key = malloc(sizeof *key);
    const char **listing = NULL; /* the command line, with options to list the files that the compiler reads */
    char rule[PTX_PATH_BYTES + 16];
    enum lw_status status = LW_OK;
    size_t n = 0;

    while (argv[n] != NULL)
        n++;
    const bool caches = key != NULL && (listing = calloc(n + 4, sizeof *listing)) != NULL && ptx_cache_key(job, path, argv, result, key);
    if (!caches || !ptx_cache_find(key, path, output, ptx, size)) {
        snprintf(rule, sizeof rule, "%s/rule", job->scratch);
        for (size_t i = 0; i < n && caches; i++)
            listing[i] = argv[i];
        if (caches) {
            listing[n] = "-MD";
            listing[n + 1] = "-MF";
            listing[n + 2] = rule;
        }
        status = run(job, path, caches ? listing : argv, result, output, ptx, size, err);
        if (caches && status == LW_OK)
            ptx_cache_store(key, path, rule, output, *ptx, *size);
    }
    if (key != NULL && listing != NULL)
        lw_buffer_fini(&key->cache.text);
    free(key);
    free(listing);
    return status;
}

enum lw_status ptx_run_compiler(struct ptx_job *job, const char *path, const char **argv, const char *result, char **ptx,
                                size_t *size, struct lw_error *err)
{
    struct lw_buffer output;
    enum lw_status status;

    lw_buffer_init(&output);
    status = (job->cached ? run_cached : run)(job, path, argv, result, &output, ptx, size, err);
    if ((status == LW_EINPUT || status == LW_OK) && job->words != NULL && !(job->crashed && job->has_other))
        put_words(&output, job->words);
    lw_buffer_fini(&output);
    return status;
}
