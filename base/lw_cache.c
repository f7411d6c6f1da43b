/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache of results in the user's cache folder. An entry is a file with a key and a result. The key contains everything on which
 * the result depends. The name of the file contains a hash of the key. An entry is written to a temporary file, which is then
 * renamed. By a hash at the end of the file, a reader detects an entry that was cut or changed. If the entries of all kinds
 * together are larger than a limit, those that have not been used for the longest time are deleted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/lw.h"

enum { HASH_BYTES = 8, NAME_DIGITS = 16 };
#define LIMIT_BYTES (UINT64_C(256) << 20) /* limit of all entries together */
#define ENTRY_BYTES (UINT64_C(16) << 20)  /* a larger entry is not stored */
static const char magic[8] = {'L', 'W', 'C', 'A', 'C', 'H', 'E', '2'};

/* ---- bytes -------------------------------------------------------------------------------------- */

void lw_write_u64(struct lw_sink *out, uint64_t value)
{
    char bytes[8];

    lw_put64(bytes, value);
    out->write(out, bytes, sizeof bytes);
}

void lw_write_block(struct lw_sink *out, const void *data, size_t size)
{
    lw_write_u64(out, size);
    out->write(out, data, size);
}

uint64_t lw_read_u64(struct lw_reader *reader)
{
    uint64_t value = 0;

    reader->is_cut |= reader->left < 8;
    if (!reader->is_cut) {
        value = lw_get64(reader->at);
        reader->at += 8;
        reader->left -= 8;
    }
    return value;
}

const char *lw_read_block(struct lw_reader *reader, size_t *size)
{
    const uint64_t bytes = lw_read_u64(reader);
    const char *at = reader->at;

    reader->is_cut |= bytes > reader->left;
    *size = reader->is_cut ? 0 : (size_t)bytes;
    reader->at += *size;
    reader->left -= *size;
    return at;
}

static uint64_t hash_of(const char *data, size_t size)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size);
    return lw_hash_value(&hash);
}

/* ---- keys --------------------------------------------------------------------------------------- */

struct build_id {
    struct lw_sink *out;
    uintptr_t address;
};

/** Finds the note with the build id in a loaded object, if the object contains the address, and writes the id. */
static int write_build_id(struct dl_phdr_info *info, size_t size, void *context)
{
    enum { BUILD_ID = 3 };
    const struct build_id *id = context;
    bool is_ours = false;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        is_ours |= info->dlpi_phdr[i].p_type == PT_LOAD &&
                   id->address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz;
    for (unsigned i = 0; i < info->dlpi_phnum && is_ours; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_memsz;

        while (segment->p_type == PT_NOTE && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;

            memcpy(&note, at, sizeof note);
            const size_t name = ((size_t)note.n_namesz + 3) / 4 * 4, text = ((size_t)note.n_descsz + 3) / 4 * 4;

            at += sizeof note;
            if ((size_t)(end - at) < name || (size_t)(end - at) - name < text)
                break;
            if (note.n_type == BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0) {
                lw_write_block(id->out, at + name, note.n_descsz);
                return 1;
            }
            at += name + text;
        }
    }
    return 0;
}

bool lw_write_build_id(struct lw_sink *out, uintptr_t address)
{
    struct build_id id = {out, address};

    return dl_iterate_phdr(write_build_id, &id) != 0;
}

bool lw_cache_folder(char *out)
{
    const char *base = getenv("XDG_CACHE_HOME");
    int size;

    /* By the XDG specification, a relative path is invalid. */
    if (base != NULL && base[0] == '/') {
        size = snprintf(out, LW_PATH_BYTES, "%s", base);
    } else {
        base = getenv("HOME");
        if (base == NULL || base[0] != '/')
            return false;
        size = snprintf(out, LW_PATH_BYTES, "%s/.cache", base);
    }
    if (size < 0 || size >= LW_PATH_BYTES - 128)
        return false;
    (void)mkdir(out, 0700);
    strcat(out, "/lanewise");
    (void)mkdir(out, 0700);
    return access(out, W_OK | X_OK) == 0;
}

bool lw_cache_is_off(void)
{
    const char *wanted = getenv("LANEWISE_CACHE");

    return wanted != NULL && strcmp(wanted, "off") == 0;
}

bool lw_cache_key_end(struct lw_cache_key *key, const char *kind)
{
    size_t size;

    key->hash = hash_of(lw_buffer_text(&key->text), key->text.size);
    if (key->text.is_cut || lw_cache_is_off() || !lw_cache_folder(key->path)) {
        key->path[0] = '\0';
        return false;
    }
    size = strlen(key->path);
    snprintf(key->path + size, sizeof key->path - size, "/%s-%0*llx", kind, NAME_DIGITS, (unsigned long long)key->hash);
    return true;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/** Reads the open file of an entry, whose size is at most ENTRY_BYTES. Returns NULL if it cannot be read. */
static char *read_entry(int fd, size_t size)
{
    char *data = malloc(size + 1);
    size_t done = 0;

    while (data != NULL && done < size) {
        const ssize_t n = read(fd, data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            free(data);
            return NULL;
        }
        done += (size_t)n;
    }
    return data;
}

enum lw_status lw_cache_read(const struct lw_cache_key *key, struct lw_cache_entry *entry, struct lw_error *err)
{
    enum { HEAD = sizeof magic, LEAST = HEAD + HASH_BYTES };
    enum lw_status status = LW_OK;
    const char *text;
    size_t size = 0, length;
    struct stat st;
    char *data = NULL;
    int fd = open(key->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return LW_FAIL(err, LW_ENOENT, "%s: %s", key->path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        status = LW_FAIL(err, LW_EFORMAT, "%s is not a file", key->path);
        goto cleanup;
    }
    if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        status = LW_FAIL(err, LW_EFORMAT, "%s belongs to another user, or other users may write it: delete the file", key->path);
        goto cleanup;
    }
    size = (uint64_t)st.st_size <= ENTRY_BYTES ? (size_t)st.st_size : 0;
    data = size >= LEAST ? read_entry(fd, size) : NULL;
    if (data == NULL || memcmp(data, magic, HEAD) != 0 || hash_of(data, size - HASH_BYTES) != lw_get64(data + size - HASH_BYTES)) {
        status = LW_FAIL(err, LW_EFORMAT, "%s is damaged", key->path);
        goto cleanup;
    }
    entry->reader = (struct lw_reader){.at = data + HEAD, .left = size - LEAST};
    text = lw_read_block(&entry->reader, &length);
    if (length != key->text.size || memcmp(text, lw_buffer_text(&key->text), length) != 0) {
        status = LW_FAIL(err, LW_EFORMAT, "%s has another key", key->path);
        goto cleanup;
    }
    entry->data = data;
    data = NULL;
    (void)futimens(fd, NULL); /* the entry was used now */
cleanup:
    free(data);
    (void)close(fd);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* TEMPORARY: length of the suffix of an entry that is being written; OLD: seconds after which such an entry is deleted. */
enum { TEMPORARY = 7, OLD = 3600 };

/** A file in the cache folder. */
struct file {
    char name[64];
    struct timespec used;
    uint64_t bytes;
};

static int compare_used(const void *a, const void *b)
{
    const struct timespec *x = &((const struct file *)a)->used, *y = &((const struct file *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/** Returns true if the name is that of an entry: a kind, a hyphen and the hash. */
static bool is_entry_name(const char *name)
{
    const char *hyphen = strrchr(name, '-');

    return hyphen != NULL && strlen(name) < sizeof((struct file *)0)->name && strlen(hyphen + 1) == NAME_DIGITS &&
           strspn(hyphen + 1, "0123456789abcdef") == NAME_DIGITS;
}

/** Returns true if the name is that of a temporary file, to which a process writes an entry. */
static bool is_temporary_name(const char *name)
{
    const size_t length = strlen(name);
    char entry[sizeof((struct file *)0)->name];

    if (length < TEMPORARY + 1 || length - TEMPORARY >= sizeof entry || name[length - TEMPORARY] != '.')
        return false;
    snprintf(entry, sizeof entry, "%.*s", (int)(length - TEMPORARY), name);
    return is_entry_name(entry);
}

/** Writes @bytes to a temporary file, and renames it to @path when it is complete. Only the user may read and write the file,
 *  because Lanewise executes native code from entries. */
static bool write_entry(const char *path, const char *data, size_t bytes)
{
    char temporary[LW_PATH_BYTES + TEMPORARY];

    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < bytes) {
        const ssize_t n = write(fd, data + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    const bool good = fd >= 0 && close(fd) == 0 && done == bytes && rename(temporary, path) == 0;
    if (fd >= 0 && !good)
        (void)unlink(temporary);
    return good;
}

/** If all entries together exceed the limit, deletes those that have not been used for the longest time, until the others take
 *  at most three quarters of the limit. */
static void limit_size(const char *path)
{
    const size_t length = (size_t)(strrchr(path, '/') - path);
    char folder[LW_PATH_BYTES];
    struct file *files = NULL;
    size_t count = 0, capacity = 0;
    uint64_t bytes = 0;
    DIR *dir;

    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    dir = opendir(folder);
    if (dir == NULL)
        return;
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        struct stat st;

        if (is_temporary_name(d->d_name) && fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec < time(NULL) - OLD)
            (void)unlinkat(dirfd(dir), d->d_name, 0); /* the process that wrote this entry has ended before the entry was
                                                       * complete */
        if (!is_entry_name(d->d_name) || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (!lw_grow(&files, &capacity, count + 1, sizeof *files))
            break;
        strcpy(files[count].name, d->d_name);
        files[count].used = st.st_mtim;
        files[count++].bytes = (uint64_t)st.st_size;
        bytes += (uint64_t)st.st_size;
    }
    if (bytes > LIMIT_BYTES) {
        qsort(files, count, sizeof *files, compare_used);
        for (size_t i = 0; i < count && bytes > LIMIT_BYTES / 4 * 3; bytes -= files[i++].bytes)
            (void)unlinkat(dirfd(dir), files[i].name, 0);
    }
    closedir(dir);
    free(files);
}

void lw_cache_write(const struct lw_cache_key *key, const struct lw_buffer *result)
{
    struct lw_buffer entry;
    struct lw_sink *out = &entry.sink;

    lw_buffer_init(&entry);
    out->write(out, magic, sizeof magic);
    lw_write_block(out, lw_buffer_text(&key->text), key->text.size);
    out->write(out, lw_buffer_text(result), result->size);
    lw_write_u64(out, hash_of(lw_buffer_text(&entry), entry.size));
    if (!entry.is_cut && !result->is_cut && entry.size <= ENTRY_BYTES && write_entry(key->path, entry.text, entry.size))
        limit_size(key->path);
    lw_buffer_fini(&entry);
}
