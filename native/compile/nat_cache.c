/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native code in the cache of results (base/lw_cache.c). An entry contains the code that the compiler process returns for a
 * kernel. The key contains everything on which this code depends, including the guest addresses of variables and functions, which
 * relocation has written to the instructions. Native code contains no addresses of the emulator, so another process can link it.
 */
#include <stdlib.h>

#include "native/nat_process_priv.h"

bool nat_cache_put_compiler(const struct nat_llvm *llvm, struct lw_sink *out)
{
    char *const text[] = {llvm->GetDefaultTargetTriple(), llvm->GetHostCPUName(), llvm->GetHostCPUFeatures()};
    uintptr_t library;

    for (size_t i = 0; i < LW_COUNT_OF(text); i++) {
        lw_write_block(out, text[i], strlen(text[i]));
        llvm->DisposeMessage(text[i]);
    }
    memcpy(&library, &llvm->ContextCreate, sizeof library);
    return lw_write_build_id(out, (uintptr_t)nat_cache_put_compiler) && lw_write_build_id(out, library);
}

bool nat_cache_key(const struct lw_buffer *compiler, struct nat_job *job, const struct isa_word *text, const uint32_t *x,
                   struct lw_cache_key *key)
{
    const uint64_t numbers[] = {job->first, job->count, job->width, job->block[0], job->block[1], job->block[2], job->stride,
                                job->first_row, job->vregs, job->masked, job->most_leave_cost};

    lw_buffer_init(&key->text);
    lw_write_block(&key->text.sink, lw_buffer_text(compiler), compiler->size);
    for (size_t i = 0; i < LW_COUNT_OF(numbers); i++)
        lw_write_u64(&key->text.sink, numbers[i]);
    lw_write_block(&key->text.sink, text, job->count * sizeof *text);
    lw_write_block(&key->text.sink, x, job->count * sizeof *x);
    const bool good = lw_cache_key_end(key, "native");
    job->number = key->hash;
    return good && !compiler->is_cut;
}

/** Copies the next block to @out, which the caller frees. Returns false if the size of the block is not @bytes, or if memory is
 *  short. */
static bool copy_block(struct lw_reader *reader, void *out, size_t bytes)
{
    size_t size;
    const char *at = lw_read_block(reader, &size);
    void *copy = size == bytes && !reader->is_cut ? malloc(size != 0 ? size : 1) : NULL;

    if (copy != NULL)
        memcpy(copy, at, size);
    memcpy(out, &copy, sizeof copy);
    return copy != NULL;
}

enum lw_status nat_cache_read(const struct lw_cache_key *key, const struct nat_job *job, struct nat_code *out, struct lw_error *err)
{
    struct lw_cache_entry entry;
    struct lw_reader *reader = &entry.reader;
    const enum lw_status status = lw_cache_read(key, &entry, err);

    *out = (struct nat_code){.entry = NULL};
    if (status != LW_OK)
        return status;
    const uint64_t entries = lw_read_u64(reader), windows = lw_read_u64(reader), sites = lw_read_u64(reader);
    const uint64_t writes = lw_read_u64(reader), object = lw_read_u64(reader);
    out->size = (struct nat_code_size){(uint32_t)entries, (uint32_t)windows, (uint32_t)sites, (uint32_t)writes, (size_t)object, 0};
    const bool good = (entries | windows | sites | writes) <= UINT32_MAX && copy_block(reader, &out->entry, job->count * sizeof *out->entry) &&
                      copy_block(reader, &out->site, (size_t)sites * sizeof *out->site) && copy_block(reader, &out->object, (size_t)object) &&
                      nat_code_is_valid(out, job);
    free(entry.data);
    if (!good) {
        nat_code_free(out);
        return LW_FAIL(err, LW_EFORMAT, "%s is damaged", key->path);
    }
    return LW_OK;
}

void nat_cache_write(const struct lw_cache_key *key, const struct nat_job *job, const struct nat_code *code)
{
    struct lw_buffer result;
    struct lw_sink *out = &result.sink;

    lw_buffer_init(&result);
    lw_write_u64(out, code->size.entries);
    lw_write_u64(out, code->size.windows);
    lw_write_u64(out, code->size.sites);
    lw_write_u64(out, code->size.writes);
    lw_write_u64(out, code->size.object);
    lw_write_block(out, code->entry, job->count * sizeof *code->entry);
    lw_write_block(out, code->site, code->size.sites * sizeof *code->site);
    lw_write_block(out, code->object, code->size.object);
    lw_cache_write(key, &result);
    lw_buffer_fini(&result);
}
