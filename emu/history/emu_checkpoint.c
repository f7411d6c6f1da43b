/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: a file with the whole state of a machine and its engine between two instructions. The file contains a magic
 * number, the version, a fingerprint of the state's layout, the options, the programs, the host's own bytes, the state
 * (emu_state.c), the pages of global memory that are not zero, and a hash of all bytes before the hash.
 */
#include <stdio.h>
#include <stdlib.h>

#include "emu/history/emu_history_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/engine/emu_threads_priv.h"

static const char magic[8] = "LWCHECK\n";
enum { VERSION = 6, HASH_BYTES = 8 };

/* ---- saving ----------------------------------------------------------------------------- */

static void put_programs(struct emu_bytes *out, const struct emu_machine *machine)
{
    unsigned count = 0;

    for (const struct emu_program *p = machine->programs; p != NULL; p = p->next)
        count++;
    emu_put_number(out, count);
    for (const struct emu_program *p = machine->programs; p != NULL; p = p->next) {
        emu_put_number(out, p->base);
        emu_put_number(out, emu_program_fingerprint(p->object));
    }
}

/** Writes each non-zero page: its distance from the preceding written page, then its bytes. A distance of 0 ends the list. */
static void put_pages(struct emu_bytes *out, const struct emu_memory *memory)
{
    uint64_t end = memory->next_free / EMU_PAGE_BYTES, last = 0;

    for (uint64_t page = 0; page < end; page++) {
        const uint8_t *bytes = memory->host + page * EMU_PAGE_BYTES;
        if (memory->dirty[page] == 0 || emu_page_is_zero(bytes))
            continue;
        emu_put_number(out, page + 1 - last);
        emu_put(out, bytes, EMU_PAGE_BYTES);
        last = page + 1;
    }
    emu_put_number(out, 0);
}

enum lw_status emu_checkpoint_save(struct emu_engine *engine, const void *host, size_t host_bytes,
                                   const char *path, struct lw_error *err)
{
    struct emu_functional *f = emu_fixed_of(engine);
    struct emu_machine *machine = engine->machine;
    struct emu_bytes file = {0}, state = {0};
    enum lw_status status;
    uint8_t hash[HASH_BYTES];

    if (f == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "the engine '%s' does not support checkpoints: run without --timing",
                       engine->ops->name);
    if (emu_threads_are_running(f))
        return emu_fixed_on_threads(err);
    if (f->placed)
        return LW_FAIL(err, LW_EUNSUPP,
                       "cannot save a checkpoint while replaying the log of a timing model: save it in a run without "
                       "--timing");
    emu_put(&file, magic, sizeof magic);
    emu_put_number(&file, VERSION);
    emu_put_number(&file, emu_state_layout());
    emu_config_put(&file, &machine->config);
    put_programs(&file, machine);
    emu_put_number(&file, host_bytes);
    emu_put(&file, host, host_bytes);
    emu_state_save(f, &state);
    emu_put_number(&file, state.size);
    emu_put(&file, state.data, state.size);
    put_pages(&file, &machine->memory);
    lw_put64(hash, file.failed ? 0 : emu_hash_of(file.data, file.size));
    emu_put(&file, hash, sizeof hash);
    if (file.failed || state.failed)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for a checkpoint");
    else
        status = lw_file_write(path, file.data, file.size, err);
    emu_bytes_fini(&file);
    emu_bytes_fini(&state);
    return status;
}

/* ---- loading ------------------------------------------------------------------------------ */

struct loader {
    struct emu_functional *f;
    struct emu_machine *machine;
    const char *name;
    struct emu_reader in;
};

static enum lw_status damaged(const struct loader *l, struct lw_error *err, const char *what)
{
    return LW_FAIL(err, LW_EFORMAT, "file %s is damaged: %s", l->name, what);
}

/** Checks the start of a checkpoint and the hash at its end. l->in is then at the options. */
static enum lw_status check_head(struct loader *l, struct lw_error *err)
{
    struct emu_reader *in = &l->in;

    if (in->size < sizeof magic + 1 || memcmp(in->data, magic, sizeof magic) != 0)
        return LW_FAIL(err, LW_EFORMAT, "file %s is not a checkpoint", l->name);
    in->at = sizeof magic;
    uint64_t version = emu_get_number(in);
    if (version != VERSION)
        return LW_FAIL(err, LW_EUNSUPP, "file %s is a checkpoint of version %llu, but this program reads version %d",
                       l->name, (unsigned long long)version, VERSION);
    if (in->size < in->at + HASH_BYTES)
        return LW_FAIL(err, LW_EFORMAT, "%s is incomplete: the file ends too early", l->name);
    in->size -= HASH_BYTES;
    if (lw_get64(in->data + in->size) != emu_hash_of(in->data, in->size))
        return damaged(l, err, "the hash at its end does not match the data");
    if (emu_get_number(in) != emu_state_layout())
        return LW_FAIL(err, LW_EUNSUPP, "file %s was written by another version of this program with a different layout", l->name);
    return LW_OK;
}

/** Returns the name of a policy, reconvergence engine or push order that equals @text, or NULL. */
static const char *name_of(const char *key, const char *text)
{
    const char *const *names = strcmp(key, "policy") == 0   ? emu_policy_names
                               : strcmp(key, "reconv") == 0 ? emu_reconv_names
                                                            : emu_push_order_names;

    while (*names != NULL && strcmp(*names, text) != 0)
        names++;
    return *names;
}

enum lw_status emu_log_config(const char *name, const void *data, size_t size, struct emu_config *config, struct lw_error *err)
{
    struct emu_reader reader = {.data = data, .size = size};
    enum lw_status status = emu_log_open_file(&reader, name, err);

    if (status == LW_OK)
        emu_config_get(&reader, config, name_of);
    return status;
}

enum lw_status emu_checkpoint_config(const char *name, const void *data, size_t size, struct emu_config *config,
                                     struct lw_error *err)
{
    struct loader l = {.name = name, .in = {.data = data, .size = size}};
    enum lw_status status = check_head(&l, err);

    if (status == LW_OK)
        emu_config_get(&l.in, config, name_of);
    return status;
}

static enum lw_status check_programs(struct loader *l, struct lw_error *err)
{
    const struct emu_program *p = l->machine->programs;
    uint64_t count = emu_get_number(&l->in);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t base = emu_get_number(&l->in), fingerprint = emu_get_number(&l->in);
        if (l->in.bad)
            return damaged(l, err, "its list of programs cannot be read");
        if (p == NULL || p->base != base || emu_program_fingerprint(p->object) != fingerprint)
            return LW_FAIL(err, LW_EINPUT, "file %s was written with another program: load the same program", l->name);
        p = p->next;
    }
    if (p != NULL)
        return LW_FAIL(err, LW_EINPUT, "file %s was written with fewer programs: load the same programs", l->name);
    return LW_OK;
}

/** Returns true if the bytes after the last usable byte of a page are zero. On a machine these bytes are always zero, because no
 *  store can reach them. */
static bool page_fits(const struct emu_memory *memory, uint64_t page, const uint8_t *bytes)
{
    uint64_t any = 0;

    for (unsigned i = memory->load_valid[page]; i < EMU_PAGE_BYTES; i++)
        any |= bytes[i];
    return any == 0;
}

static enum lw_status load_pages(struct loader *l, struct lw_error *err)
{
    struct emu_memory *memory = &l->machine->memory;
    uint64_t end = memory->next_free / EMU_PAGE_BYTES, page = 0, step;

    while ((step = emu_get_number(&l->in)) != 0) {
        const uint8_t *bytes = emu_get(&l->in, EMU_PAGE_BYTES);
        if (bytes == NULL || step > end - page)
            return damaged(l, err, "its memory pages cannot be read");
        page += step;
        if (!page_fits(memory, page - 1, bytes))
            return damaged(l, err, "it has memory past the end of an allocation");
        emu_page_put(memory, page - 1, bytes);
    }
    return l->in.bad || l->in.at != l->in.size ? damaged(l, err, "its memory pages cannot be read") : LW_OK;
}

/** Clears global memory, including the data that the host has written. */
static void clear_memory(struct emu_memory *memory)
{
    uint64_t end = memory->next_free / EMU_PAGE_BYTES;

    for (uint64_t page = 0; page < end; page++)
        if (memory->dirty[page] != 0)
            emu_page_put(memory, page, NULL);
}

enum lw_status emu_checkpoint_load(struct emu_engine *engine, const char *name, const void *data,
                                   size_t size, const void **host, size_t *host_bytes,
                                   struct lw_error *err)
{
    struct loader l = {.f = emu_fixed_of(engine), .machine = engine->machine, .name = name,
                       .in = {.data = data, .size = size}};
    enum lw_status status;

    if (l.f == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "the engine '%s' does not support checkpoints: run without --timing",
                       engine->ops->name);
    if (l.machine->grid_count != 0 || l.machine->log != NULL)
        return LW_FAIL(err, LW_ESTATE, "a checkpoint can be loaded only before anything has run, and without schedule "
                                       "log or history");
    status = check_head(&l, err);
    if (status == LW_OK)
        status = emu_config_match(&l.in, &l.machine->config, name, err);
    if (status == LW_OK)
        status = check_programs(&l, err);
    if (status != LW_OK)
        return status;
    size_t bytes = (size_t)emu_get_number(&l.in);
    *host = emu_get(&l.in, bytes);
    *host_bytes = bytes;
    size_t state_bytes = (size_t)emu_get_number(&l.in);
    struct emu_reader state = {.data = emu_get(&l.in, state_bytes), .size = state_bytes};
    if (l.in.bad)
        return damaged(&l, err, "its sections cannot be read");
    clear_memory(&l.machine->memory);
    status = emu_state_load(l.f, &state, false, err);
    if (status == LW_OK && state.at != state.size)
        status = emu_state_bad(err, "the size of the state");
    if (status != LW_OK)
        return lw_error_prefix(err, "%s", name);
    if (l.f->placed)
        return damaged(&l, err, "it has blocks that another engine has placed");
    return load_pages(&l, err);
}
