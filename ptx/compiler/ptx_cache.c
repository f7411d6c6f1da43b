/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache of compiled sources. An entry is a file in the cache folder. It has the PTX of one compilation, the compiler's messages,
 * and the names, sizes and hashes of all files that the compiler has read. The entry is valid as long as these files are the
 * same. The key of an entry has everything else on which the result depends: the build of Lanewise, the compiler, its options,
 * the working folder, and variables of the environment.
 *
 * An entry is written to a temporary file and then renamed. A hash at its end shows entries that are cut or changed; these are
 * not used. If the entries together are larger than a limit, those that have not been used for the longest time are deleted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { HASH_BYTES = 8, MOST_FILES = 4096 };
#define LIMIT_BYTES (UINT64_C(256) << 20) /* limit of all entries together */
#define ENTRY_BYTES (UINT64_C(16) << 20)  /* a larger entry is not stored */
#define PREFIX "ptx-"
static const char magic[8] = {'L', 'W', 'C', 'A', 'C', 'H', 'E', '1'};

/* ---- the key ------------------------------------------------------------------------------------ */

static void put_u64(struct lw_sink *out, uint64_t value)
{
    char bytes[8];

    lw_put64(bytes, value);
    out->write(out, bytes, sizeof bytes);
}

static void put_block(struct lw_sink *out, const char *data, size_t size)
{
    put_u64(out, size);
    out->write(out, data, size);
}

static void put_text(struct lw_sink *out, const char *text)
{
    put_block(out, text, strlen(text));
}

/** Finds the note with the build id in a loaded object that contains this function, and writes the id. */
static int put_build_id(struct dl_phdr_info *info, size_t size, void *context)
{
    enum { BUILD_ID = 3 };
    const uintptr_t self = (uintptr_t)put_block;
    struct lw_sink *out = context;
    bool is_ours = false;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        is_ours |= info->dlpi_phdr[i].p_type == PT_LOAD && self - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz;
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
                put_block(out, at + name, note.n_descsz);
                return 1;
            }
            at += name + text;
        }
    }
    return 0;
}

/** Writes the size and the time of modification of a file. Returns false if there is no such file. */
static bool put_file_state(struct lw_sink *out, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    put_u64(out, (uint64_t)st.st_size);
    put_u64(out, (uint64_t)st.st_mtim.tv_sec);
    put_u64(out, (uint64_t)st.st_mtim.tv_nsec);
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
        put_u64(out, strlen(name) - size + 1);
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
    const char *wanted = getenv("LANEWISE_CACHE");
    char folder[PTX_PATH_BYTES];
    struct lw_sink *out = &key->text.sink;
    struct lw_hash hash;
    bool ok;

    lw_buffer_init(&key->text);
    clock_gettime(CLOCK_REALTIME_COARSE, &key->start);
    if ((wanted != NULL && strcmp(wanted, "off") == 0) || !ptx_cache_folder(folder) || getcwd(key->path, sizeof key->path) == NULL)
        return false;
    put_text(out, key->path);
    if (dl_iterate_phdr(put_build_id, out) == 0)
        return false;
    ok = ptx_cache_put_compiler(job, out);
    put_u64(out, job->values);
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
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, lw_buffer_text(&key->text), key->text.size);
    return ok && !key->text.is_cut &&
           (size_t)snprintf(key->path, sizeof key->path, "%s/" PREFIX "%016llx", folder, (unsigned long long)lw_hash_value(&hash)) < sizeof key->path;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/** Position in an entry that is being read. */
struct reader {
    const char *at;
    size_t left;
    bool bad; /* the entry has ended too early */
};

static uint64_t get_u64(struct reader *r)
{
    uint64_t value = 0;

    r->bad |= r->left < 8;
    if (!r->bad) {
        value = lw_get64(r->at);
        r->at += 8;
        r->left -= 8;
    }
    return value;
}

static const char *get_block(struct reader *r, size_t *size)
{
    const uint64_t bytes = get_u64(r);
    const char *at = r->at;

    r->bad |= bytes > r->left;
    *size = r->bad ? 0 : (size_t)bytes;
    r->at += *size;
    r->left -= *size;
    return at;
}

static uint64_t hash_of(const char *data, size_t size)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size);
    return lw_hash_value(&hash);
}

/** Returns true if the file that the entry describes next is the same as when the entry was written. */
static bool is_same_file(struct reader *r, const char *source)
{
    size_t length, size = 0;
    const char *name = get_block(r, &length);
    const uint64_t bytes = get_u64(r), hash = get_u64(r);
    const bool is_private = length != 0 && name[0] == '\1';
    char path[2 * PTX_PATH_BYTES], *data = NULL;
    bool same = false;

    if (r->bad || length >= PTX_PATH_BYTES)
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
    char *data = NULL;
    const char *text, *messages;
    size_t bytes = 0, length, message_bytes;
    struct reader r;
    bool ok = ptx_is_file(key->path) && lw_file_read(key->path, &data, &bytes, NULL) == LW_OK && bytes >= sizeof magic + HASH_BYTES &&
              memcmp(data, magic, sizeof magic) == 0 && hash_of(data, bytes - HASH_BYTES) == lw_get64(data + bytes - HASH_BYTES);

    if (ok) {
        r = (struct reader){.at = data + sizeof magic, .left = bytes - sizeof magic - HASH_BYTES};
        text = get_block(&r, &length);
        ok = length == key->text.size && memcmp(text, key->text.text, length) == 0;
        for (uint64_t files = get_u64(&r); files != 0 && ok; files--)
            ok = is_same_file(&r, source);
    }
    if (ok) {
        messages = get_block(&r, &message_bytes);
        text = get_block(&r, &length);
        ok = !r.bad && (*ptx = malloc(length + 1)) != NULL;
    }
    if (ok) {
        output->sink.write(&output->sink, messages, message_bytes);
        memcpy(*ptx, text, length);
        (*ptx)[*size = length] = '\0';
        (void)utimensat(AT_FDCWD, key->path, NULL, 0); /* the entry was used now */
    }
    free(data);
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
        put_u64(out, size);
        put_u64(out, hash_of(data, size));
    }
    free(data);
    return ok;
}

/** An entry in the cache folder. */
struct entry {
    char name[32];
    struct timespec used;
    uint64_t bytes;
};

static int compare_used(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/** Deletes the entries that have not been used for the longest time, if all entries together exceed the limit. */
static void limit_size(const char *path)
{
    const size_t length = (size_t)(strrchr(path, '/') - path);
    char folder[PTX_PATH_BYTES];
    struct entry *entries = NULL;
    size_t count = 0, capacity = 0;
    uint64_t bytes = 0;
    DIR *dir;

    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    dir = opendir(folder);
    if (dir == NULL)
        return;
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        struct stat st;

        if (strncmp(d->d_name, PREFIX, strlen(PREFIX)) != 0 || strlen(d->d_name) >= sizeof entries->name ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (count == capacity) {
            struct entry *more = realloc(entries, (capacity = 2 * capacity + 64) * sizeof *entries);

            if (more == NULL)
                break;
            entries = more;
        }
        strcpy(entries[count].name, d->d_name);
        entries[count].used = st.st_mtim;
        entries[count++].bytes = (uint64_t)st.st_size;
        bytes += (uint64_t)st.st_size;
    }
    if (bytes > LIMIT_BYTES) {
        qsort(entries, count, sizeof *entries, compare_used);
        for (size_t i = 0; i < count && bytes > LIMIT_BYTES / 4 * 3; bytes -= entries[i++].bytes)
            (void)unlinkat(dirfd(dir), entries[i].name, 0);
    }
    closedir(dir);
    free(entries);
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

        out->write(out, magic, sizeof magic);
        put_block(out, key->text.text, key->text.size);
        put_u64(out, files);
        out->write(out, list.text, list.size);
        put_block(out, lw_buffer_text(output), output->size);
        put_block(out, ptx, size);
        put_u64(out, hash_of(entry.text, entry.size));
        /* A failure to write is ignored, because its only effect is that the next compilation takes longer. */
        if (!entry.is_cut && !list.is_cut && entry.size <= ENTRY_BYTES && lw_file_write(key->path, entry.text, entry.size, NULL) == LW_OK)
            limit_size(key->path);
    }
    lw_buffer_fini(&list);
    lw_buffer_fini(&entry);
    free(text);
}
