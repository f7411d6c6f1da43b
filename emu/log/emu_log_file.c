/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule log as a file: magic number, version, options of the machine, entries, instruction count, and a hash of everything
 * before it. The data of the host's writes is not in the file, because in a replay the host writes it again.
 */
#include "emu/log/emu_log_priv.h"

#include <stdio.h>
#include <stdlib.h>

static const char magic[8] = "LWSCHED\n";
enum { VERSION = 1, HASH_BYTES = 8 };

/** Copies the entries without the data of host writes. The log must be one that this run has recorded. */
static bool copy_entries(struct emu_log *log, struct emu_bytes *out)
{
    struct emu_log copy = {.bytes = *out};
    struct emu_log_cursor at = {0}, behind;
    struct emu_log_entry e;
    bool bad = false;

    for (; emu_log_peek(log, &at, &e, &behind, &bad); at = behind)
        emu_log_add(&copy, &e);
    if (log->committed)
        emu_log_add(&copy, &(struct emu_log_entry){.kind = EMU_LOG_COMMIT});
    emu_log_add(&copy, &(struct emu_log_entry){.kind = EMU_LOG_STOP, .count = log->retired});
    *out = copy.bytes;
    return !bad && !copy.bytes.failed;
}

enum lw_status emu_log_save(struct emu_log *log, const char *path, struct lw_error *err)
{
    struct emu_bytes file = {0}, entries = {0};
    enum lw_status status = LW_OK;
    uint8_t hash[HASH_BYTES];

    if (log->machine != NULL)
        log->retired = emu_machine_retired(log->machine);
    emu_put(&file, magic, sizeof magic);
    emu_put_number(&file, VERSION);
    emu_put(&file, log->options.data, log->options.size);
    if (log->bytes.failed || !copy_entries(log, &entries)) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the schedule log");
        goto cleanup;
    }
    emu_put_number(&file, entries.size);
    emu_put(&file, entries.data, entries.size);
    lw_put64(hash, emu_hash_of(file.data, file.size));
    emu_put(&file, hash, sizeof hash);
    status = file.failed ? LW_FAIL(err, LW_ENOMEM, "the host has no memory for the schedule log")
                         : lw_file_write(path, file.data, file.size, err);
cleanup:
    emu_bytes_fini(&entries);
    emu_bytes_fini(&file);
    return status;
}

/** Checks that every entry can be decoded, and that the last entry marks the end of a complete log. */
static enum lw_status check_entries(struct emu_log *log, struct lw_error *err)
{
    struct emu_log_cursor at = {0}, behind;
    struct emu_log_entry e;
    bool bad = false;

    while (emu_log_peek(log, &at, &e, &behind, &bad)) {
        if (e.kind == EMU_LOG_STOP && behind.at == log->bytes.size) {
            log->bytes.size = at.at; /* the EMU_LOG_STOP at the end is not replayed */
            log->retired = e.count;
            log->complete = true;
            return LW_OK;
        }
        bool part = emu_log_is_counted(e.kind) && e.count == 0 && e.kind != EMU_LOG_SLICE;
        if (part || e.kind == EMU_LOG_STOP || (e.kind == EMU_LOG_WRITE && e.bytes != NULL))
            return LW_FAIL(err, LW_EFORMAT, "%s is damaged: the entry at byte %zu cannot be read", log->name,
                           at.at);
        at = behind;
    }
    if (bad)
        return LW_FAIL(err, LW_EFORMAT, "%s is damaged: the entry at byte %zu cannot be read", log->name, at.at);
    return LW_FAIL(err, LW_EFORMAT, "%s is damaged: the log has no end mark", log->name);
}

enum lw_status emu_log_open_file(struct emu_reader *reader, const char *name, struct lw_error *err)
{
    const uint8_t *data = reader->data;
    size_t size = reader->size;

    if (size < sizeof magic + 1 || memcmp(data, magic, sizeof magic) != 0)
        return LW_FAIL(err, LW_EFORMAT, "%s is not a schedule log", name);
    reader->at = sizeof magic;
    uint64_t version = emu_get_number(reader);
    if (version != VERSION)
        return LW_FAIL(err, LW_EUNSUPP, "%s is a schedule log of version %llu, but this program reads version %d",
                       name, (unsigned long long)version, VERSION);
    if (size < reader->at + HASH_BYTES)
        return LW_FAIL(err, LW_EFORMAT, "%s is incomplete: the file ends too early", name);
    reader->size -= HASH_BYTES;
    if (lw_get64(data + reader->size) != emu_hash_of(data, reader->size))
        return LW_FAIL(err, LW_EFORMAT, "%s is damaged: the hash at its end does not match the data",
                       name);
    return LW_OK;
}

enum lw_status emu_log_open(struct emu_machine *machine, const char *name, const void *data,
                            size_t size, struct emu_log **out, struct lw_error *err)
{
    struct emu_reader reader = {.data = data, .size = size};
    struct emu_log *log = NULL;
    enum lw_status status = emu_log_open_file(&reader, name, err);

    if (status == LW_OK)
        status = emu_config_match(&reader, emu_machine_config(machine), name, err);
    if (status != LW_OK)
        return status;
    uint64_t bytes = emu_get_number(&reader);
    const uint8_t *entries = reader.bad ? NULL : emu_get(&reader, (size_t)bytes);
    if (entries == NULL || reader.at != reader.size)
        return LW_FAIL(err, LW_EFORMAT, "%s is damaged: the size of its entries is wrong", name);
    status = emu_log_create(machine, &log, err);
    if (status != LW_OK)
        return status;
    snprintf(log->name, sizeof log->name, "%s", name);
    log->mode = EMU_LOG_REPLAY;
    emu_put(&log->bytes, entries, (size_t)bytes);
    if (log->bytes.failed)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the %llu bytes of %s",
                         (unsigned long long)bytes, name);
    else
        status = check_entries(log, err);
    if (status == LW_OK) {
        *out = log;
        log = NULL;
    }
    emu_log_destroy(log);
    return status;
}

enum lw_status emu_log_finish(const struct emu_log *log, struct lw_error *err)
{
    uint64_t retired = log->machine != NULL ? emu_machine_retired(log->machine) : 0;

    if (!log->complete)
        return LW_OK; /* this run has recorded the log, or has already differed from it */
    if (emu_log_in_history(log))
        return LW_FAIL(err, LW_EINPUT, "%s does not match this run: the run ends at instruction %llu, but the log at "
                                       "%llu", log->name,
                       (unsigned long long)retired, (unsigned long long)log->retired);
    if (retired != log->retired)
        return LW_FAIL(err, LW_EINPUT, "%s does not match this run: the run ends at instruction %llu, but the log at "
                                       "%llu", log->name, (unsigned long long)retired,
                       (unsigned long long)log->retired);
    return LW_OK;
}
