/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler cache for tests that give lanewise the same source several times. The program is installed under the name of a
 * clang. The cache runs the next program of that name on PATH once for each command, folder and content of the files that
 * the command reads. When the same command is run again, the cache repeats the stored output. tests/lib/compile_once.sh puts
 * the program on PATH. The environment variable LW_COMPILED names the cache folder, which all tests of `make check` share; a
 * test that runs alone has its own. Commands that fail are run every time, and so are all commands other than `... -o FILE
 * ... SOURCE` with FILE in a temporary folder of lanewise. Each test runs in a folder with a random name from mktemp. The
 * result of a command that does not contain this name is the same in another such folder, except for the folder's name in
 * debug information, which the cache replaces.
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

/** Find the next program on PATH that has the name of this program, in the folders after that of this program. */
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

/** The folders of a command: the temporary folder of lanewise, and the current folder. */
struct folders {
    char scratch[PATH_BYTES], current[PATH_BYTES];
};

static void replace(struct text *text, const char *before, const char *now)
{
    size_t length = strlen(before); /* `now` has the same length as `before` */

    for (char *at = text->bytes; (at = memmem(at, text->size - (size_t)(at - text->bytes), before, length)) != NULL; at += length)
        memcpy(at, now, length);
}

/** Return the number of a line ".b8 NUMBER" and set *@end to the end of the number. Return -1 for other lines. */
static int byte_of(const char *line, const char **end)
{
    char *after;
    long value;

    line += strspn(line, " \t\n");
    if (strncmp(line, ".b8 ", 4) != 0)
        return -1;
    value = strtol(line + 4, &after, 10);
    *end = after;
    return after == line + 4 ? -1 : (int)value;
}

/** Write assembly to @fd, in which each occurrence of @before is replaced by @now, also in debug information, which has one byte
 *  on each line. */
static bool write_bytes(int fd, const struct text *text, const char *before, const char *now)
{
    size_t length = strlen(before);
    const char *at = text->bytes, *done = at;
    char number[16];
    bool ok = true;

    while (ok && (at = strstr(at, ".b8 ")) != NULL) {
        const char *line = at, *end;
        size_t n = 0;

        while (n < length && line != NULL && byte_of(line, &end) == (unsigned char)before[n]) {
            n++;
            line = strchr(end, '\n');
        }
        if (n < length) {
            at++;
            continue;
        }
        for (line = at, n = 0; ok && n < length; n++) {
            (void)byte_of(line, &end);
            snprintf(number, sizeof number, ".b8 %d", (unsigned char)now[n]);
            line = strstr(line, ".b8 ");
            ok = write_all(fd, done, (size_t)(line - done)) && write_all(fd, number, strlen(number));
            done = end;
            line = strchr(end, '\n');
        }
        at = done;
    }
    return ok && write_all(fd, done, (size_t)(text->bytes + text->size - done));
}

/** Write the file @entry/@name to @fd, in which the folders @before are replaced by @now, which have the same lengths. If the
 *  file is not text and the current folders differ, write nothing and return false. */
static bool repeat(const char *entry, const char *name, int fd, const struct folders *before, const struct folders *now)
{
    char path[PATH_BYTES + 16];
    struct text text;
    bool ok;

    snprintf(path, sizeof path, "%s/%s", entry, name);
    if (!read_all(path, &text))
        return false;
    replace(&text, before->scratch, now->scratch);
    if (strcmp(before->current, now->current) == 0) {
        ok = write_all(fd, text.bytes, text.size);
    } else {
        replace(&text, before->current, now->current);
        ok = strlen(text.bytes) == text.size && write_bytes(fd, &text, before->current, now->current);
    }
    free(text.bytes);
    return ok;
}

/** Read a line of at most PATH_BYTES - 1 bytes to @line. */
static bool take_line(char **at, char *line)
{
    size_t length = strcspn(*at, "\n");

    if ((*at)[length] != '\n' || length >= PATH_BYTES)
        return false;
    memcpy(line, *at, length);
    line[length] = '\0';
    *at += length + 1;
    return true;
}

/** Return whether the source files of the cache entry @entry are unchanged. Set *@before to the folders of its command. */
static bool still_holds(const char *entry, struct folders *before, const struct folders *now)
{
    char path[PATH_BYTES + 16], *at;
    struct text text;
    uint64_t then;
    bool ok = true;
    int used;

    snprintf(path, sizeof path, "%s/inputs", entry);
    if (!read_all(path, &text))
        return false;
    at = text.bytes;
    ok = take_line(&at, before->scratch) && take_line(&at, before->current) &&
         strlen(before->scratch) == strlen(now->scratch) && strlen(before->current) == strlen(now->current);
    if (ok)
        replace(&text, before->current, now->current);
    while (ok && *at != '\0') {
        uint64_t hash = 0;
        char *end = at + strcspn(at, "\n");

        *end = '\0';
        ok = sscanf(at, "%" SCNx64 " %n", &then, &used) == 1 && hash_file(at + used, &hash) && hash == then;
        at = end + 1;
    }
    free(text.bytes);
    return ok;
}

/** Convert the make rule in file @rule, in which "\ " is a space in a name, to lines with hash and file name in file @path. */
static bool write_inputs(const char *rule, const struct folders *now, const char *path)
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
    fprintf(out, "%s\n%s\n", now->scratch, now->current);
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

/** Run @argv with its output in file @output, and return its exit status in the way of a shell. */
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

/** Add the properties of a file to @hash from which a change of the file is detected. */
static uint64_t add_file(uint64_t hash, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return hash;
    hash = add_bytes(hash, &st.st_size, sizeof st.st_size);
    return add_bytes(hash, &st.st_mtim, sizeof st.st_mtim);
}

/** Compute the folders of the command, and its cache key, @key. Return false if the command cannot be cached. */
static bool describe(int argc, char **argv, const char *program, struct folders *now, const char **result, uint64_t *key)
{
    char *out = now->scratch, *cwd = now->current;
    size_t length, cwd_length;
    bool anywhere;

    *result = NULL;
    for (int i = 1; i + 2 < argc; i++)
        if (strcmp(argv[i], "-o") == 0)
            *result = argv[i + 1];
    if (*result == NULL || strrchr(*result, '/') == NULL || strlen(*result) >= PATH_BYTES ||
        getcwd(cwd, PATH_BYTES) == NULL)
        return false;
    length = (size_t)(strrchr(*result, '/') - *result);
    memcpy(out, *result, length);
    out[length] = '\0';
    if (strstr(out, "/lanewise-") == NULL) /* the command was not started by lanewise, so it is not cached */
        return false;
    *key = 0xcbf29ce484222325u;
    *key = add_bytes(*key, program, strlen(program));
    *key = add_file(*key, program);
    anywhere = strstr(cwd, "/tmp.") != NULL;
    for (int i = 1; i < argc; i++)
        anywhere &= strstr(argv[i], cwd) == NULL;
    cwd_length = strlen(cwd);
    *key = anywhere ? add_bytes(*key, &cwd_length, sizeof cwd_length) : add_bytes(*key, cwd, cwd_length);
    *key = add_bytes(*key, &length, sizeof length);
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];

        if (strncmp(text, out, length) == 0) {
            text += length;
            if (argv[i] != *result)
                (void)hash_file(argv[i], key); /* the file is an input but no source, for example the device code that is
                                                * embedded in a host object */
        } else if (text[0] == '/')
            *key = add_file(*key, text); /* for example a library that the make rule does not name */
        *key = add_bytes(*key, text, strlen(text));
    }
    return hash_file(argv[argc - 1], key);
}

static void remove_entry(const char *entry)
{
    static const char *const names[] = {"rule", "output", "inputs", "result"};
    char path[PATH_BYTES + 64];

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", entry, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(entry);
}

/** Run the command. Store its output in the cache entry @entry unless the command fails. An entry whose header files have
 *  changed is not removed, because another process may be reading it. */
static int compile(int argc, char **argv, char *program, const struct folders *now, const char *result, const char *entry)
{
    char pending[PATH_BYTES + 32], rule[PATH_BYTES + 64], path[PATH_BYTES + 64];
    char **all = calloc((size_t)argc + 4, sizeof *all);
    bool is_stored = false;
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
        (void)repeat(pending, "output", 1, now, now);
        snprintf(path, sizeof path, "%s/inputs", pending);
        if (status == 0 && write_inputs(rule, now, path)) {
            snprintf(path, sizeof path, "%s/result", pending);
            if (copy_file(result, path))
                is_stored = rename(pending, entry) == 0; /* another process may have stored the entry first */
        }
        if (!is_stored)
            remove_entry(pending);
    }
    free(all);
    return status;
}

int main(int argc, char **argv)
{
    char program[PATH_BYTES], entry[PATH_BYTES];
    struct folders before, now;
    const char *folder = getenv("LW_COMPILED"), *result;
    uint64_t key;

    if (!find_next(argv[0], program)) {
        fprintf(stderr, "%s: no other program of that name on PATH\n", argv[0]);
        return 127;
    }
    if (folder == NULL || strlen(folder) > PATH_BYTES / 2 || (mkdir(folder, 0777) != 0 && errno != EEXIST) ||
        !describe(argc, argv, program, &now, &result, &key)) {
        argv[0] = program;
        execv(program, argv);
        return 127;
    }
    snprintf(entry, sizeof entry, "%s/%016" PRIx64, folder, key);
    if (still_holds(entry, &before, &now)) {
        int fd = open(result, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        bool ok = fd >= 0 && repeat(entry, "result", fd, &before, &now);

        ok = (fd < 0 || close(fd) == 0) && ok;
        if (ok && repeat(entry, "output", 1, &before, &now))
            return 0;
    }
    return compile(argc, argv, program, &now, result, entry);
}
