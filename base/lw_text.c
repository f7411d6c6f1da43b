/* SPDX-License-Identifier: Apache-2.0 */
/* Text: parses numbers, finds similar names for "did you mean", and reads and writes whole files. */
#include "base/lw.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME = 63 };

/* The edit distance is the smallest number of steps that change @a to @b. A step inserts, deletes or replaces a letter, or
 * exchanges two neighbouring letters. */
unsigned lw_edit_distance(const char *a, const char *b)
{
    unsigned rows[3][MAX_NAME + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    size_t n = strlen(a), m = strlen(b);

    /* For names longer than MAX_NAME, the larger length is returned as distance. */
    if (n > MAX_NAME || m > MAX_NAME)
        return strcmp(a, b) == 0 ? 0 : (unsigned)(n > m ? n : m);
    for (size_t j = 0; j <= m; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *oldest = before;

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);

            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        before = above;
        above = row;
        row = oldest;
    }
    return above[m];
}

const char *lw_suggest(const char *name, const char *const *names, size_t count, size_t stride)
{
    const char *best = NULL;
    size_t size = strlen(name);
    unsigned best_distance = UINT_MAX;

    if (size <= 1) /* all other names of one letter have the same distance from @name, so none of them is a better proposal */
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *candidate;
        unsigned distance;

        memcpy(&candidate, (const char *)names + i * stride, sizeof candidate);
        if (candidate == NULL)
            continue;
        distance = lw_edit_distance(name, candidate);
        /* A name that begins with @name, as "resident_warps" with "resident", has distance 1. */
        if (size >= 3 && strncmp(name, candidate, size) == 0)
            distance = 1;
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best_distance <= (size <= 3 ? 1 : size <= 6 ? 2 : 3) ? best : NULL;
}

/* Parses an integer without a sign: an optional prefix 0x or 0b, and digits up to the end of @text. */
static bool parse_magnitude(const char *text, uint64_t *out)
{
    unsigned base = 10;
    uint64_t value = 0;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    } else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
        base = 2;
        text += 2;
    }
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        unsigned digit;

        if (*text >= '0' && *text <= '9')
            digit = (unsigned)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            digit = (unsigned)(*text - 'a') + 10;
        else if (*text >= 'A' && *text <= 'F')
            digit = (unsigned)(*text - 'A') + 10;
        else
            return false;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool lw_parse_u64(const char *text, uint64_t *out)
{
    return parse_magnitude(*text == '+' ? text + 1 : text, out);
}

bool lw_parse_i64(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    uint64_t magnitude;

    if (!parse_magnitude(*text == '-' || *text == '+' ? text + 1 : text, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

enum { MOST_STREAM_BYTES = 1 << 28 };

enum lw_status lw_file_read(const char *path, char **data, size_t *size, struct lw_error *err)
{
    enum lw_status status = LW_OK;
    FILE *file = NULL;
    char *bytes = NULL;
    size_t used = 0, capacity = 0;
    struct stat st = {0};

    file = fopen(path, "rb");
    if (file == NULL)
        return LW_FAIL(err, errno == ENOENT || errno == ENOTDIR ? LW_ENOENT : LW_EIO,
                       "%s: cannot be read: %s", path, strerror(errno));
    if (fstat(fileno(file), &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            status = LW_FAIL(err, LW_EIO, "%s: is a directory, not a file", path);
            goto cleanup;
        }
        /* the size is only used for the first allocation, because pipes and growing files are read to their end */
        if (S_ISREG(st.st_mode) && st.st_size > 0 &&
            !lw_grow(&bytes, &capacity, (size_t)st.st_size + 2, 1)) {
            status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for %lld bytes", path,
                             (long long)st.st_size);
            goto cleanup;
        }
    }
    for (;;) {
        size_t got;

        if (!lw_grow(&bytes, &capacity, used + 2, 1) ||
            (capacity - used < 4096 && !lw_grow(&bytes, &capacity, used + 4096, 1))) {
            status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for %zu bytes", path, used);
            goto cleanup;
        }
        got = fread(bytes + used, 1, capacity - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (used > MOST_STREAM_BYTES && !S_ISREG(st.st_mode)) { /* a device or pipe, whose input may have no end, as that of
                                                                 * /dev/zero */
            status = LW_FAIL(err, LW_EIO, "%s: the input is longer than %d MiB, the limit for a pipe or device: copy the "
                                          "input to a regular file", path,
                             MOST_STREAM_BYTES >> 20);
            goto cleanup;
        }
    }
    if (ferror(file)) {
        status = LW_FAIL(err, LW_EIO, "%s: cannot be read: %s", path, strerror(errno));
        goto cleanup;
    }
    bytes[used] = '\0';
    *data = bytes;
    *size = used;
    bytes = NULL;
cleanup:
    free(bytes);
    fclose(file);
    return status;
}

/** Creates and opens a temporary file in the folder of @path. Returns the file's descriptor, or -1 in case of an error.
 *  *@temporary is set to the name of the file, which the caller frees. */
static int open_beside(const char *path, char **temporary)
{
    size_t room = strlen(path) + 8;

    *temporary = malloc(room);
    if (*temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(*temporary, room, "%s.XXXXXX", path);
    return mkstemp(*temporary);
}

static enum lw_status no_file(const char *path, struct lw_error *err)
{
    return LW_FAIL(err, errno == ENOMEM ? LW_ENOMEM
                        : errno == ENOENT || errno == ENOTDIR ? LW_ENOENT : LW_EIO,
                   "%s: cannot be written: %s", path, strerror(errno));
}

/** Returns true if @path is a device, pipe or symbolic link, such as /dev/stdout. rename() must not replace such a file. */
static bool is_direct(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

enum lw_status lw_file_try_write(const char *path, struct lw_error *err)
{
    enum lw_status status = LW_OK;
    struct stat st;
    char *temporary = NULL;
    int fd;

    if (is_direct(path)) {
        if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            /* ENOENT: the target of the link does not exist, and fopen() will create it. */
            return access(path, W_OK) == 0 || errno == ENOENT ? LW_OK : no_file(path, err);
        errno = EISDIR;
        return no_file(path, err);
    }
    fd = open_beside(path, &temporary);
    if (fd < 0) {
        status = no_file(path, err);
    } else {
        close(fd);
        unlink(temporary);
    }
    free(temporary);
    return status;
}

enum lw_status lw_file_write(const char *path, const void *data, size_t size,
                             struct lw_error *err)
{
    enum lw_status status = LW_OK;
    struct stat st;
    FILE *file = NULL;
    char *temporary = NULL;
    bool failed, direct;

    direct = is_direct(path);
    if (direct) {
        file = fopen(path, "wb");
    } else {
        int fd = open_beside(path, &temporary);

        if (fd >= 0) {
            /* mkstemp() creates the file with mode 0600. The mode becomes that of the file that is replaced, or, if no file is
             * replaced, the usual mode of a new file. */
            mode_t mask = umask(0);
            umask(mask);
            if (fchmod(fd, lstat(path, &st) == 0 ? st.st_mode & 07777 : 0666 & ~mask) != 0) {
                /* no error is returned, because the content of the file is correct */
            }
            file = fdopen(fd, "wb");
            if (file == NULL)
                close(fd);
        }
    }
    if (file == NULL) {
        status = no_file(path, err);
        goto cleanup;
    }
    failed = size != 0 && fwrite(data, 1, size, file) != size;
    failed |= fclose(file) != 0;
    if (!failed && !direct)
        failed = rename(temporary, path) != 0;
    if (failed) {
        status = LW_FAIL(err, LW_EIO, "%s: cannot be written: %s", path, strerror(errno));
        if (!direct)
            unlink(temporary);
    }
cleanup:
    free(temporary);
    return status;
}

void lw_put_relative(struct lw_sink *sink, const char *text, const char *folder)
{
    char here[PATH_MAX];
    const char *from = text;

    if (folder == NULL)
        folder = getcwd(here, sizeof here) != NULL && here[1] != '\0' ? here : NULL;
    const size_t size = folder != NULL ? strlen(folder) : 0;

    for (const char *at = text; folder != NULL && *at != '\0'; at++) {
        if ((at != text && at[-1] != ' ' && at[-1] != '(') || strncmp(at, folder, size) != 0 || at[size] != '/' ||
            at[size + 1] == ' ' || at[size + 1] == '\0')
            continue;
        lw_printf(sink, "%.*s", (int)(at - from), from);
        from = at + size + 1;
        at += size;
    }
    lw_put(sink, from);
}
