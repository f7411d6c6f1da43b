/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL C to PTX text: clang runs as a child process, with our override library and
 * libclc as bitcode. docs/front-end-clang.md says which options and why.
 */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptx/ptx.h"

enum {
    TIMEOUT_MS = 60000,
    KEPT_OUTPUT_BYTES = 1 << 16, /* of a compiler's messages; a crash prints megabytes */
    PATH_BYTES = 4096
};

static const char *const override_source =
#include "ptx/overrides/over_cl.inc"
    ;

static const char *const clang_names[] = {"clang-19", "clang-16", "clang-15", "clang-14",
                                          "clang"};

static const char *const libclc_patterns[] = {
    "/usr/lib/clc/nvptx64--nvidiacl.bc", "/usr/local/lib/clc/nvptx64--nvidiacl.bc",
    "/usr/lib/llvm-*/lib/clc/nvptx64--nvidiacl.bc",
    "/usr/lib/clang/*/lib/libclc/nvptx64--nvidiacl.bc", "/usr/lib/clang/*/nvptx64--nvidiacl.bc",
    "/usr/share/clc/nvptx64--nvidiacl.bc", "/usr/lib64/clc/nvptx64--nvidiacl.bc"};

/** What one compilation uses. */
struct job {
    char clang[PATH_BYTES], libclc[PATH_BYTES];
    char scratch[PATH_BYTES]; /* private folder, removed at the end; "" before it is made */
    char overrides[PATH_BYTES + 16];
};

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/** Look @name up as a shell would: a path as it stands, else along PATH. */
static bool find_program(const char *name, char *out)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        if ((size_t)snprintf(out, PATH_BYTES, "%s", name) >= PATH_BYTES)
            return false;
        return is_file(out) && access(out, X_OK) == 0;
    }
    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path != '\0') {
        size_t size = strcspn(path, ":");

        if (size != 0 &&
            (size_t)snprintf(out, PATH_BYTES, "%.*s/%s", (int)size, path, name) < PATH_BYTES &&
            is_file(out) && access(out, X_OK) == 0)
            return true;
        path += size;
        path += *path == ':';
    }
    return false;
}

static enum lw_status find_clang(const char *wanted, char *out, struct lw_error *err)
{
    const char *from = "";

    if (wanted == NULL) {
        wanted = getenv("LANEWISE_CLANG");
        from = "LANEWISE_CLANG: ";
    }
    if (wanted != NULL && *wanted != '\0') {
        if (find_program(wanted, out))
            return LW_OK;
        return LW_FAIL(err, LW_ENOENT, "%s%s: no such program", from, wanted);
    }
    for (size_t i = 0; i < LW_COUNT_OF(clang_names); i++) {
        if (find_program(clang_names[i], out))
            return LW_OK;
    }
    return LW_FAIL(err, LW_ENOENT,
                   "no clang found on PATH: OpenCL C needs the Debian packages clang-19 or "
                   "clang-14, and libclc-14");
}

static enum lw_status find_libclc(char *out, struct lw_error *err)
{
    const char *wanted = getenv("LANEWISE_LIBCLC");

    if (wanted != NULL && *wanted != '\0') {
        int size = snprintf(out, PATH_BYTES, "%s", wanted);

        if (size > 0 && size < PATH_BYTES && is_file(out))
            return LW_OK;
        size = snprintf(out, PATH_BYTES, "%s/nvptx64--nvidiacl.bc", wanted);
        if (size > 0 && size < PATH_BYTES && is_file(out))
            return LW_OK;
        return LW_FAIL(err, LW_ENOENT,
                       "LANEWISE_LIBCLC: %s: neither nvptx64--nvidiacl.bc nor a folder with it",
                       wanted);
    }
    for (size_t i = 0; i < LW_COUNT_OF(libclc_patterns); i++) {
        glob_t found;
        bool ok = false;

        if (glob(libclc_patterns[i], 0, NULL, &found) != 0)
            continue;
        /* glob sorts: the last is the newest */
        if (found.gl_pathc != 0)
            ok = (size_t)snprintf(out, PATH_BYTES, "%s", found.gl_pathv[found.gl_pathc - 1]) <
                 PATH_BYTES;
        globfree(&found);
        if (ok)
            return LW_OK;
    }
    return LW_FAIL(err, LW_ENOENT,
                   "no libclc for PTX found (nvptx64--nvidiacl.bc): install the Debian package "
                   "libclc-14, or name the file in LANEWISE_LIBCLC");
}

/* ---- folders ----------------------------------------------------------------- */

static enum lw_status make_scratch(char *out, struct lw_error *err)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    if ((size_t)snprintf(out, PATH_BYTES, "%s/lanewise-XXXXXX", parent) >= PATH_BYTES - 64 ||
        mkdtemp(out) == NULL) {
        int error = errno;

        out[0] = '\0';
        return LW_FAIL(err, LW_EIO, "cannot make a temporary folder in %s: %s", parent,
                       strerror(error));
    }
    return LW_OK;
}

/** Remove the private folder and the plain files in it. clang makes no deeper trees. */
static void remove_scratch(const char *path)
{
    DIR *dir;
    struct dirent *entry;

    if (path[0] == '\0')
        return;
    dir = opendir(path);
    if (dir != NULL) {
        while ((entry = readdir(dir)) != NULL) {
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
        closedir(dir);
    }
    (void)rmdir(path);
}

/** The folder for bitcode that lasts, made on the way; false: there is none. */
static bool cache_folder(char *out)
{
    const char *base = getenv("XDG_CACHE_HOME");
    int size;

    /* A relative XDG path is invalid by its specification. */
    if (base != NULL && base[0] == '/') {
        size = snprintf(out, PATH_BYTES, "%s", base);
    } else {
        base = getenv("HOME");
        if (base == NULL || base[0] != '/')
            return false;
        size = snprintf(out, PATH_BYTES, "%s/.cache", base);
    }
    if (size < 0 || size >= PATH_BYTES - 128)
        return false;
    (void)mkdir(out, 0700);
    strcat(out, "/lanewise");
    (void)mkdir(out, 0700);
    return access(out, W_OK | X_OK) == 0;
}

/* ---- the child process ----------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/** Our environment with TMPDIR replaced; caller frees the array and its first entry. */
static char **child_environment(const char *scratch)
{
    size_t count = 0, kept = 1;
    char **copy;

    while (environ[count] != NULL)
        count++;
    copy = calloc(count + 2, sizeof *copy);
    if (copy == NULL)
        return NULL;
    if (asprintf(&copy[0], "TMPDIR=%s", scratch) < 0) {
        free(copy);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            copy[kept++] = environ[i];
    }
    return copy;
}

/** Read what the child prints until it closes its end; false: time is up. */
static bool drain(int fd, int64_t deadline, struct lw_buffer *output)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = deadline - now_ms();
        char chunk[4096];
        ssize_t got;
        int ready;

        if (left <= 0)
            return false;
        ready = poll(&p, 1, (int)left);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return ready < 0;
        got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        if (output->size < KEPT_OUTPUT_BYTES)
            output->sink.write(&output->sink, chunk, (size_t)got);
    }
}

/** Wait for a child that has closed its streams: it ends at once, or it hangs. */
static bool wait_until(pid_t pid, int64_t deadline, int *wait_status)
{
    const struct timespec pause = {.tv_nsec = 200000};

    for (;;) {
        pid_t got = waitpid(pid, wait_status, WNOHANG);

        if (got == pid)
            return true;
        if ((got < 0 && errno != EINTR) || now_ms() >= deadline)
            return false;
        nanosleep(&pause, NULL);
    }
}

/**
 * Run argv[0] without a shell, its two output streams into @output.
 * @status  as waitpid gives it
 * Errors: LW_EIO when it cannot be started, LW_EINPUT when it does not end in time.
 */
static enum lw_status run_child(char *const *argv, const char *scratch,
                                struct lw_buffer *output, int *wait_status,
                                struct lw_error *err)
{
    enum lw_status status = LW_OK;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = child_environment(scratch);
    int fds[2] = {-1, -1}, error;
    int64_t deadline;
    bool in_time;
    pid_t pid;

    if (environment == NULL)
        return LW_FAIL(err, LW_ENOMEM, "environment of %s", argv[0]);
    if (pipe2(fds, O_CLOEXEC) != 0) {
        status = LW_FAIL(err, LW_EIO, "cannot make a pipe to %s: %s", argv[0], strerror(errno));
        goto cleanup;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
    /* A group of its own: what the compiler starts is killed with it. */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    error = posix_spawn(&pid, argv[0], &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        status = LW_FAIL(err, LW_EIO, "cannot start %s: %s", argv[0], strerror(error));
        goto cleanup;
    }
    close(fds[1]);
    fds[1] = -1;
    deadline = now_ms() + TIMEOUT_MS;
    in_time = drain(fds[0], deadline, output) && wait_until(pid, deadline, wait_status);
    if (!in_time) {
        (void)kill(-pid, SIGKILL);
        while (waitpid(pid, wait_status, 0) < 0 && errno == EINTR)
            ;
    }
    if (!in_time)
        status = LW_FAIL(err, LW_EINPUT, "%s did not end within %d s and was stopped", argv[0],
                         TIMEOUT_MS / 1000);
cleanup:
    if (fds[0] >= 0)
        close(fds[0]);
    if (fds[1] >= 0)
        close(fds[1]);
    free(environment[0]);
    free(environment);
    return status;
}

/* ---- what the compiler said ------------------------------------------------------------ */

/** Copy the first lines that contain "error:" into @out, "; " between them; the rest is
 *  counted. Returns how many there were. */
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
    if (count > shown && used + 32 < room)
        snprintf(out + used, room - used, " (and %u more)", count - shown);
    return count;
}

static enum lw_status report(const char *path, const struct job *job, int wait_status,
                             const struct lw_buffer *output, struct lw_error *err)
{
    const char *slash = strrchr(job->clang, '/');
    const char *name = slash != NULL ? slash + 1 : job->clang;
    const char *text = output->text != NULL ? output->text : "";
    char said[360];
    unsigned count = first_errors(text, said, sizeof said);

    if (WIFSIGNALED(wait_status))
        return LW_FAIL(err, LW_EINPUT, "%s: %s crashed (signal %d)%s%s", path, name,
                       WTERMSIG(wait_status), count ? ": " : "", said);
    if (WEXITSTATUS(wait_status) >= 70)
        return LW_FAIL(err, LW_EINPUT, "%s: %s crashed (exit status %d)%s%s", path, name,
                       WEXITSTATUS(wait_status), count ? ": " : "", said);
    if (strstr(text, "cannot open file") != NULL && strstr(text, job->libclc) != NULL)
        return LW_FAIL(err, LW_ENOENT,
                       "%s cannot read %s, made by a newer compiler: install libclc of its own "
                       "version, or name another in LANEWISE_LIBCLC",
                       name, job->libclc);
    if (count == 0)
        return LW_FAIL(err, LW_EINPUT, "%s: %s failed (exit status %d): %.*s", path, name,
                       WEXITSTATUS(wait_status), (int)strcspn(text, "\n"), text);
    return LW_FAIL(err, LW_EINPUT, "%s%s%s",
                   strncmp(said, path, strlen(path)) == 0 ? "" : path,
                   strncmp(said, path, strlen(path)) == 0 ? "" : ": ", said);
}

/* ---- the override library ----------------------------------------------------------------- */

/** The name holds the compiler's identity (path, size, date) and the source. */
static bool cached_name(const struct job *job, char *out)
{
    char folder[PATH_BYTES], *real = realpath(job->clang, NULL);
    struct lw_hash hash;
    struct stat st;
    bool ok = false;

    if (real != NULL && stat(real, &st) == 0 && cache_folder(folder)) {
        lw_hash_init(&hash);
        lw_hash_bytes(&hash, override_source, strlen(override_source));
        lw_hash_bytes(&hash, real, strlen(real));
        lw_hash_u64(&hash, (uint64_t)st.st_size);
        lw_hash_u64(&hash, (uint64_t)st.st_mtim.tv_sec);
        lw_hash_u64(&hash, (uint64_t)st.st_mtim.tv_nsec);
        ok = (size_t)snprintf(out, PATH_BYTES, "%s/overrides-%016llx.bc", folder,
                              (unsigned long long)lw_hash_value(&hash)) < PATH_BYTES;
    }
    free(real);
    return ok;
}

static enum lw_status build_overrides(struct job *job, struct lw_error *err)
{
    enum lw_status status;
    struct lw_buffer output;
    char source[PATH_BYTES + 16], bitcode[PATH_BYTES + 16], cached[PATH_BYTES], *data = NULL;
    size_t size = 0;
    int wait_status = 0;
    bool keep = cached_name(job, cached);

    if (keep && is_file(cached)) {
        memcpy(job->overrides, cached, sizeof cached);
        return LW_OK;
    }
    snprintf(source, sizeof source, "%s/overrides.cl", job->scratch);
    snprintf(bitcode, sizeof bitcode, "%s/overrides.bc", job->scratch);
    lw_buffer_init(&output);
    status = lw_file_write(source, override_source, strlen(override_source), err);
    if (status != LW_OK)
        goto cleanup;
    {
        char *const argv[] = {job->clang, "-x", "cl", "-cl-no-stdinc", "-cl-std=CL1.2",
                              "-target", "nvptx64--nvidiacl", "-Xclang",
                              "-cl-ext=+cl_khr_fp16", "-O2", "-w", "-fno-crash-diagnostics",
                              "-emit-llvm", "-c", source, "-o", bitcode, NULL};

        status = run_child(argv, job->scratch, &output, &wait_status, err);
    }
    if (status != LW_OK)
        goto cleanup;
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0) {
        status = report("the override library", job, wait_status, &output, err);
        goto cleanup;
    }
    snprintf(job->overrides, sizeof job->overrides, "%s", bitcode);
    /* Keeping it is a convenience: a full or read-only disk is no failure. */
    if (keep && lw_file_read(bitcode, &data, &size, NULL) == LW_OK &&
        lw_file_write(cached, data, size, NULL) == LW_OK)
        memcpy(job->overrides, cached, sizeof cached);
cleanup:
    free(data);
    lw_buffer_fini(&output);
    return status;
}

/* ---- the door -------------------------------------------------------------------------------- */

static enum lw_status compile(struct job *job, const char *path, const char *const *flags,
                              size_t flag_count, char **ptx, size_t *size,
                              struct lw_error *err)
{
    /* User options stand behind these and may override them. */
    static const char *const before[] = {"-cl-std=CL1.2", "-O3", "-gdwarf-2",
                                         "-fgnu89-inline", "-target", "nvptx64-nvidia-nvcl"};
    enum lw_status status;
    struct lw_buffer output;
    char result[PATH_BYTES + 16];
    const char **argv = calloc(flag_count + 32, sizeof *argv);
    size_t n = 0;
    int wait_status = 0;

    if (argv == NULL)
        return LW_FAIL(err, LW_ENOMEM, "command line for %s", path);
    lw_buffer_init(&output);
    snprintf(result, sizeof result, "%s/kernel.ptx", job->scratch);
    argv[n++] = job->clang;
    for (size_t i = 0; i < LW_COUNT_OF(before); i++)
        argv[n++] = before[i];
    for (size_t i = 0; i < flag_count; i++)
        argv[n++] = flags[i];
    argv[n++] = "-w";
    argv[n++] = "-fno-crash-diagnostics";
    argv[n++] = "-Xclang";
    argv[n++] = "-mlink-builtin-bitcode";
    argv[n++] = "-Xclang";
    argv[n++] = job->overrides;
    argv[n++] = "-Xclang";
    argv[n++] = "-mlink-builtin-bitcode";
    argv[n++] = "-Xclang";
    argv[n++] = job->libclc;
    argv[n++] = "-S";
    argv[n++] = "-o";
    argv[n++] = result;
    argv[n++] = "-x";
    argv[n++] = "cl";
    argv[n++] = path;
    argv[n] = NULL;
    /* posix_spawn does not write through argv; its type is older than const. */
    status = run_child((char *const *)argv, job->scratch, &output, &wait_status, err);
    if (status != LW_OK)
        goto cleanup;
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0) {
        status = report(path, job, wait_status, &output, err);
        goto cleanup;
    }
    status = lw_file_read(result, ptx, size, err);
    if (status != LW_OK)
        (void)lw_error_prefix(err, "%s: %s made no PTX", path, job->clang);
cleanup:
    lw_buffer_fini(&output);
    free(argv);
    return status;
}

enum lw_status ptx_compile_cl(const char *path, const char *const *flags, size_t flag_count,
                              const char *clang, char **ptx, size_t *size,
                              struct lw_error *err)
{
    enum lw_status status;
    struct job *job;

    if (access(path, R_OK) != 0)
        return LW_FAIL(err, LW_ENOENT, "%s: %s", path, strerror(errno));
    if (!is_file(path))
        return LW_FAIL(err, LW_EINPUT, "%s: not a file", path);
    if (path[0] == '-')
        return LW_FAIL(err, LW_EINPUT, "%s: write ./%s, clang would take this for an option", path,
                       path);
    job = calloc(1, sizeof *job);
    if (job == NULL)
        return LW_FAIL(err, LW_ENOMEM, "compilation of %s", path);
    status = find_clang(clang, job->clang, err);
    if (status == LW_OK)
        status = find_libclc(job->libclc, err);
    if (status == LW_OK)
        status = make_scratch(job->scratch, err);
    if (status == LW_OK)
        status = build_overrides(job, err);
    if (status == LW_OK)
        status = compile(job, path, flags, flag_count, ptx, size, err);
    remove_scratch(job->scratch);
    free(job);
    return status;
}
