/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler cache for tests that give lanewise the same source several times. The program has the name of a clang.
 * It runs the next program of that name on PATH once for each command, folder and content of the files that the
 * command reads. Later it repeats the stored output.
 * tests/lib/cli_lib.sh puts the program on PATH. The environment variable LW_COMPILED names the cache folder, which
 * belongs to the test. Commands that fail are run every time, and so is any command other than `... -o FILE ...
 * SOURCE` with FILE in a folder of lanewise.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 4096

struct text {
    char *bytes;
    size_t size;
};

static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return (hash ^ size) * 0x100000001b3u;
}

static bool read_all(const char *path, struct text *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    size_t got = 0;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        (out->bytes = malloc((size_t)st.st_size + 1)) == NULL) {
        close(fd);
        return false;
    }
    out->size = (size_t)st.st_size;
    while (got < out->size) {
        ssize_t n = read(fd, out->bytes + got, out->size - got);

        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    out->size = got;
    out->bytes[got] = '\0';
    return true;
}

static bool hash_file(const char *path, uint64_t *hash)
{
    struct text text;

    if (!read_all(path, &text))
        return false;
    *hash = add_bytes(*hash, text.bytes, text.size);
    free(text.bytes);
    return true;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size != 0) {
        ssize_t n = write(fd, bytes, size);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/** Find the next program on PATH, after our own folder, that has our name. */
static bool find_next(const char *self, char *out)
{
    const char *name = strrchr(self, '/'), *path = getenv("PATH");
    struct stat own, st;

    name = name != NULL ? name + 1 : self;
    if (path == NULL || stat("/proc/self/exe", &own) != 0)
        return false;
    while (*path != '\0') {
        size_t size = strcspn(path, ":");

        if ((size_t)snprintf(out, PATH_BYTES, "%.*s/%s", (int)size, path, name) < PATH_BYTES && size != 0 &&
            stat(out, &st) == 0 && S_ISREG(st.st_mode) && access(out, X_OK) == 0 &&
            (st.st_ino != own.st_ino || st.st_dev != own.st_dev))
            return true;
        path += size;
        path += *path == ':';
    }
    return false;
}

/** Write the file @entry/@name to @fd. Replace the name of the scratch folder @before in the file by @scratch, which has the
 *  same length. */
static bool repeat(const char *entry, const char *name, int fd, const char *before, const char *scratch)
{
    char path[PATH_BYTES + 16];
    struct text text;
    size_t length = strlen(before);
    bool ok;

    snprintf(path, sizeof path, "%s/%s", entry, name);
    if (!read_all(path, &text))
        return false;
    for (char *at = text.bytes; (at = memmem(at, text.size - (size_t)(at - text.bytes), before, length)) != NULL; at += length)
        memcpy(at, scratch, length);
    ok = write_all(fd, text.bytes, text.size);
    free(text.bytes);
    return ok;
}

/** Return whether the source files of @entry are unchanged. @before becomes the scratch folder of the stored command. */
static bool still_holds(const char *entry, char *before)
{
    char path[PATH_BYTES + 16], *at;
    struct text text;
    uint64_t then;
    bool ok = true;
    int used;

    snprintf(path, sizeof path, "%s/inputs", entry);
    if (!read_all(path, &text))
        return false;
    at = text.bytes + strcspn(text.bytes, "\n");
    ok = *at == '\n' && at - text.bytes < PATH_BYTES;
    if (ok) {
        *at++ = '\0';
        strcpy(before, text.bytes);
    }
    while (ok && *at != '\0') {
        uint64_t now = 0;
        char *end = at + strcspn(at, "\n");

        *end = '\0';
        ok = sscanf(at, "%" SCNx64 " %n", &then, &used) == 1 && hash_file(at + used, &now) && now == then;
        at = end + 1;
    }
    free(text.bytes);
    return ok;
}

/** Convert the make rule in @rule (spaces in names are "\ ") to lines in @out: hash and file name. */
static bool write_inputs(const char *rule, const char *scratch, const char *path)
{
    struct text text;
    FILE *out = fopen(path, "w");
    char name[PATH_BYTES], *at;
    bool ok;

    if (out == NULL)
        return false;
    if (!read_all(rule, &text)) {
        fclose(out);
        return false;
    }
    fprintf(out, "%s\n", scratch);
    at = strstr(text.bytes, ": ");
    ok = at != NULL;
    for (at = ok ? at + 2 : NULL; ok && *at != '\0';) {
        uint64_t hash = 0;
        size_t n = 0;

        if (strchr(" \n\\", *at) != NULL && !(at[0] == '\\' && at[1] == ' ')) {
            at++;
            continue;
        }
        while (*at != '\0' && *at != ' ' && *at != '\n' && n + 1 < sizeof name) {
            at += at[0] == '\\' && at[1] == ' ';
            name[n++] = *at++;
        }
        name[n] = '\0';
        ok = hash_file(name, &hash);
        fprintf(out, "%" PRIx64 " %s\n", hash, name);
    }
    free(text.bytes);
    return fclose(out) == 0 && ok;
}

/** Run @argv with its output in @output, and return its status as a shell would. */
static int run(const char *program, char **argv, const char *output)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);

        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(126);
        close(fd);
        execv(program, argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool copy_file(const char *from, const char *to)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    struct text text;
    bool ok = fd >= 0 && read_all(from, &text);

    if (ok) {
        ok = write_all(fd, text.bytes, text.size);
        free(text.bytes);
    }
    return (fd < 0 || close(fd) == 0) && ok;
}

/** Compute the folder of the command's result, @out, and the cache key of the command, @key. Return false if the
 *  command cannot be cached. */
static bool describe(int argc, char **argv, const char *program, char *out, const char **result, uint64_t *key)
{
    char cwd[PATH_BYTES];
    size_t length;

    *result = NULL;
    for (int i = 1; i + 2 < argc; i++)
        if (strcmp(argv[i], "-o") == 0)
            *result = argv[i + 1];
    if (*result == NULL || strrchr(*result, '/') == NULL || strlen(*result) >= PATH_BYTES ||
        getcwd(cwd, sizeof cwd) == NULL)
        return false;
    length = (size_t)(strrchr(*result, '/') - *result);
    memcpy(out, *result, length);
    out[length] = '\0';
    if (strstr(out, "/lanewise-") == NULL) /* lanewise did not start this command */
        return false;
    *key = 0xcbf29ce484222325u;
    *key = add_bytes(*key, program, strlen(program));
    *key = add_bytes(*key, cwd, strlen(cwd));
    *key = add_bytes(*key, &length, sizeof length);
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];

        if (strncmp(text, out, length) == 0)
            text += length;
        *key = add_bytes(*key, text, strlen(text));
    }
    return hash_file(argv[argc - 1], key);
}

/** Run the command. Store its output in @entry unless the command fails. */
static int compile(int argc, char **argv, char *program, const char *scratch, const char *result, const char *entry)
{
    char pending[PATH_BYTES + 32], rule[PATH_BYTES + 64], path[PATH_BYTES + 64];
    char **all = calloc((size_t)argc + 4, sizeof *all);
    int status = 126;

    snprintf(pending, sizeof pending, "%s.%ld", entry, (long)getpid());
    if (all != NULL && mkdir(pending, 0777) == 0) {
        memcpy(all, argv, (size_t)argc * sizeof *all);
        snprintf(rule, sizeof rule, "%s/rule", pending);
        all[0] = program;
        all[argc + 2] = argv[argc - 1]; /* the source remains the last argument */
        all[argc - 1] = (char *)"-MD";
        all[argc] = (char *)"-MF";
        all[argc + 1] = rule;
        snprintf(path, sizeof path, "%s/output", pending);
        status = run(program, all, path);
        (void)repeat(pending, "output", 1, scratch, scratch);
        snprintf(path, sizeof path, "%s/inputs", pending);
        if (status == 0 && write_inputs(rule, scratch, path)) {
            snprintf(path, sizeof path, "%s/result", pending);
            if (copy_file(result, path))
                (void)!rename(pending, entry); /* another process may have stored the entry first */
        }
    }
    free(all);
    return status;
}

int main(int argc, char **argv)
{
    char program[PATH_BYTES], scratch[PATH_BYTES], before[PATH_BYTES], entry[PATH_BYTES];
    const char *folder = getenv("LW_COMPILED"), *result;
    uint64_t key;

    if (!find_next(argv[0], program)) {
        fprintf(stderr, "%s: no other program of that name on PATH\n", argv[0]);
        return 127;
    }
    if (folder == NULL || strlen(folder) > PATH_BYTES / 2 || (mkdir(folder, 0777) != 0 && errno != EEXIST) ||
        !describe(argc, argv, program, scratch, &result, &key)) {
        argv[0] = program;
        execv(program, argv);
        return 127;
    }
    snprintf(entry, sizeof entry, "%s/%016" PRIx64, folder, key);
    if (still_holds(entry, before) && strlen(before) == strlen(scratch)) {
        int fd = open(result, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        bool ok = fd >= 0 && repeat(entry, "result", fd, before, scratch);

        ok = (fd < 0 || close(fd) == 0) && ok;
        return ok && repeat(entry, "output", 1, before, scratch) ? 0 : 126;
    }
    return compile(argc, argv, program, scratch, result, entry);
}
