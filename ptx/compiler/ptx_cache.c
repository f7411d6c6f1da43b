/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache of compiled sources (base/lw_cache.c). An entry has the PTX of one compilation, the compiler's messages, and the names,
 * sizes and hashes of all files that the compiler has read. The entry is valid as long as these files are the same. The key of an
 * entry has everything else on which the result depends: the build of Lanewise, the compiler, its options, the working folder,
 * and variables of the environment.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { MOST_FILES = 4096 };

/* ---- the key ------------------------------------------------------------------------------------ */

static void put_text(struct lw_sink *out, const char *text)
{
    lw_write_block(out, text, strlen(text));
}

/** Writes the size and the time of modification of a file. Returns false if there is no such file. */
static bool put_file_state(struct lw_sink *out, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    lw_write_u64(out, (uint64_t)st.st_size);
    lw_write_u64(out, (uint64_t)st.st_mtim.tv_sec);
    lw_write_u64(out, (uint64_t)st.st_mtim.tv_nsec);
    return true;
}

/** Returns the length of the private folder in which ptx_compile_texts() compiles @source, or 0 if @source is elsewhere. */
static size_t private_folder(const char *source)
{
    const char *parent = getenv("TMPDIR"), *name;
    size_t size;

    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    size = strlen(parent);
    if (strncmp(source, parent, size) != 0)
        return 0;
    name = source + size;
    return strncmp(name, "/lanewise-", 10) == 0 && strlen(name) > 16 && memchr(name + 10, '/', 6) == NULL && name[16] == '/' ? size + 16 : 0;
}

/** Writes a name, in which '\1' replaces the private folder of @source, which has another name in each compilation. */
static void put_name(struct lw_sink *out, const char *name, const char *source)
{
    const size_t size = private_folder(source);

    if (size != 0 && strncmp(name, source, size) == 0) {
        lw_write_u64(out, strlen(name) - size + 1);
        lw_put(out, "\1");
        lw_put(out, name + size);
    } else {
        put_text(out, name);
    }
}

/** Returns true if the option lets the compiler write or read other files than those that the cache knows. */
static bool has_other_files(const char *word)
{
    static const char *const prefixes[] = {"-save-temps", "--save-temps", "-ftime-trace", "-M", "-o", "-fprofile", "-fcrash-diagnostics",
                                           "-serialize-diagnostics", "--serialize-diagnostics", "-fmodules", "-ivfsoverlay", "@"};

    for (size_t i = 0; i < LW_COUNT_OF(prefixes); i++)
        if (strncmp(word, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

bool ptx_cache_put_compiler(const struct ptx_job *job, struct lw_sink *out)
{
    char *real = realpath(job->compiler, NULL);
    const bool ok = real != NULL && put_file_state(out, real);

    if (ok)
        put_text(out, real);
    put_text(out, job->compiler); /* several compilers may be links to the same wrapper program, such as ccache */
    free(real);
    return ok;
}

bool ptx_cache_key(const struct ptx_job *job, const char *source, const char *const *argv, const char *result, struct ptx_cache_key *key)
{
    static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH",
                                            "CLANG_CONFIG_PATH", "LANG", "LC_ALL", "LC_MESSAGES", "COLUMNS"};
    char folder[PTX_PATH_BYTES];
    struct lw_sink *out = &key->cache.text.sink;
    bool ok;

    lw_buffer_init(&key->cache.text);
    clock_gettime(CLOCK_REALTIME_COARSE, &key->start);
    if (lw_cache_is_off() || getcwd(folder, sizeof folder) == NULL)
        return false;
    put_text(out, folder);
    if (!lw_write_build_id(out, (uintptr_t)ptx_cache_key))
        return false;
    ok = ptx_cache_put_compiler(job, out);
    lw_write_u64(out, job->values);
    for (size_t i = 0; i < LW_COUNT_OF(variables); i++)
        put_text(out, getenv(variables[i]) != NULL ? getenv(variables[i]) : "");
    for (size_t i = 0; argv[i] != NULL && ok; i++) {
        if (strcmp(argv[i], result) == 0 || (strcmp(argv[i], "-o") == 0 && argv[i + 1] != NULL && strcmp(argv[i + 1], result) == 0))
            continue;
        ok = !has_other_files(argv[i]) && strncmp(argv[i], job->scratch, strlen(job->scratch)) != 0;
        put_name(out, argv[i], source);
        if (strcmp(argv[i], source) != 0)
            (void)put_file_state(out, argv[i]); /* such as a library of bitcode */
    }
    return ok && lw_cache_key_end(&key->cache, "ptx");
}

/* ---- reading ------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *data, size_t size)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size);
    return lw_hash_value(&hash);
}

/** Returns true if the file that the entry describes next is the same as when the entry was written. */
static bool is_same_file(struct lw_reader *r, const char *source)
{
    size_t length, size = 0;
    const char *name = lw_read_block(r, &length);
    const uint64_t bytes = lw_read_u64(r), hash = lw_read_u64(r);
    const bool is_private = length != 0 && name[0] == '\1';
    char path[2 * PTX_PATH_BYTES], *data = NULL;
    bool same = false;

    if (r->is_cut || length >= PTX_PATH_BYTES)
        return false;
    if (is_private)
        snprintf(path, sizeof path, "%.*s%.*s", (int)private_folder(source), source, (int)length - 1, name + 1);
    else
        snprintf(path, sizeof path, "%.*s", (int)length, name);
    if (ptx_is_file(path) && lw_file_read(path, &data, &size, NULL) == LW_OK)
        same = size == bytes && hash_of(data, size) == hash;
    free(data);
    return same;
}

bool ptx_cache_find(const struct ptx_cache_key *key, const char *source, struct lw_buffer *output, char **ptx, size_t *size)
{
    struct lw_cache_entry entry;
    struct lw_reader *r = &entry.reader;
    const char *text, *messages;
    size_t length, message_bytes;
    bool ok = true;

    if (lw_cache_read(&key->cache, &entry, NULL) != LW_OK)
        return false;
    for (uint64_t files = lw_read_u64(r); files != 0 && ok; files--)
        ok = is_same_file(r, source);
    if (ok) {
        messages = lw_read_block(r, &message_bytes);
        text = lw_read_block(r, &length);
        ok = !r->is_cut && (*ptx = malloc(length + 1)) != NULL;
    }
    if (ok) {
        output->sink.write(&output->sink, messages, message_bytes);
        memcpy(*ptx, text, length);
        (*ptx)[*size = length] = '\0';
    }
    free(entry.data);
    return ok;
}

/* ---- writing ------------------------------------------------------------------------------------- */

/** Reads the next file name of a rule of `make` from *@at into @name. Returns false at the end of the rule. */
static bool next_name(const char **at, char *name, size_t room)
{
    const char *c = *at;
    size_t n = 0;

    while (*c == ' ' || *c == '\n' || (*c == '\\' && c[1] == '\n'))
        c++;
    for (; *c != '\0' && *c != ' ' && *c != '\n' && !(*c == '\\' && c[1] == '\n') && n + 1 < room; c++) {
        if ((*c == '\\' && (c[1] == ' ' || c[1] == '#')) || (*c == '$' && c[1] == '$'))
            c++;
        name[n++] = *c;
    }
    name[n] = '\0';
    *at = c;
    return n != 0;
}

/** Returns true if the text has a macro whose value differs in each compilation. */
static bool has_time(const char *text, size_t size)
{
    static const char *const macros[] = {"__DATE__", "__TIME__", "__TIMESTAMP__"};

    for (size_t i = 0; i < LW_COUNT_OF(macros); i++)
        if (memmem(text, size, macros[i], strlen(macros[i])) != NULL)
            return true;
    return false;
}

/** Writes name, size and hash of a file that the compiler has read. Returns false if the file may have changed since the
 *  compilation began, or has a time macro. */
static bool put_file(struct lw_sink *out, const char *path, const char *source, const struct timespec *start)
{
    const size_t folder = private_folder(source);
    const bool is_private = folder != 0 && strncmp(path, source, folder) == 0; /* no other process writes to this folder */
    struct stat st;
    char *data = NULL;
    size_t size = 0;
    bool ok = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
              (is_private || st.st_mtim.tv_sec < start->tv_sec ||
               (st.st_mtim.tv_sec == start->tv_sec && st.st_mtim.tv_nsec < start->tv_nsec)) &&
              lw_file_read(path, &data, &size, NULL) == LW_OK && !has_time(data, size);

    if (ok) {
        put_name(out, path, source);
        lw_write_u64(out, size);
        lw_write_u64(out, hash_of(data, size));
    }
    free(data);
    return ok;
}

void ptx_cache_store(const struct ptx_cache_key *key, const char *source, const char *rule, const struct lw_buffer *output,
                     const char *ptx, size_t size)
{
    char *text = NULL, name[PTX_PATH_BYTES];
    const char *at;
    size_t bytes = 0, files = 0;
    struct lw_buffer entry, list;
    bool ok = lw_file_read(rule, &text, &bytes, NULL) == LW_OK && (at = strstr(text, ": ")) != NULL;

    lw_buffer_init(&list);
    lw_buffer_init(&entry);
    if (ok)
        for (at += 2; ok && next_name(&at, name, sizeof name); files++)
            ok = files < MOST_FILES && put_file(&list.sink, name, source, &key->start);
    if (ok && files != 0) {
        struct lw_sink *out = &entry.sink;

        lw_write_u64(out, files);
        out->write(out, list.text, list.size);
        lw_write_block(out, lw_buffer_text(output), output->size);
        lw_write_block(out, ptx, size);
        entry.is_cut |= list.is_cut;
        lw_cache_write(&key->cache, &entry);
    }
    lw_buffer_fini(&list);
    lw_buffer_fini(&entry);
    free(text);
}
