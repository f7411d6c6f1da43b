/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for users how a run has changed the buffers. */
#include "launch/launch_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK_ELEMENTS = 1 << 16, HEAD = 8 };

/** The elements of a buffer that differ from the initial contents. */
struct change {
    uint64_t count, first; /* first: index of the first such element, if count is not 0 */
};

static enum lw_status find_changes(const struct lnc_session *session, const struct lnc_buffer *b, uint64_t address,
                                   uint8_t *was, uint8_t *is, struct change *out, struct lw_error *err)
{
    const unsigned bytes = b->type->bytes;

    *out = (struct change){0};
    for (uint64_t done = 0; done < b->count; done += CHUNK_ELEMENTS) {
        const uint64_t n = b->count - done < CHUNK_ELEMENTS ? b->count - done : CHUNK_ELEMENTS;
        enum lw_status status =
            emu_global_read(lnc_session_machine(session), address + done * bytes, is, n * bytes, err);

        if (status != LW_OK)
            return status;
        lnc_init_make(&b->init, b->type, lnc_session_seed(session), done, n, was);
        if (memcmp(was, is, n * bytes) == 0)
            continue;
        for (uint64_t i = 0; i < n; i++) {
            if (memcmp(was + i * bytes, is + i * bytes, bytes) == 0)
                continue;
            if (out->count++ == 0)
                out->first = done + i;
        }
    }
    return LW_OK;
}

/* Prints HEAD elements: the first ones or, if @first is not among them, those from @first on. */
static enum lw_status put_head(const struct lnc_session *session, const struct lnc_buffer *b, uint64_t address,
                               uint64_t first, uint8_t *data, struct lw_sink *out, struct lw_error *err)
{
    const uint64_t from = first < HEAD ? 0 : first, n = b->count - from < HEAD ? b->count - from : HEAD;
    enum lw_status status = emu_global_read(lnc_session_machine(session), address + from * b->type->bytes, data,
                                            n * b->type->bytes, err);
    char text[40];

    if (status != LW_OK)
        return status;
    if (from != 0)
        lw_printf(out, " from [%" PRIu64 "]", from);
    lw_put(out, ":");
    for (uint64_t i = 0; i < n; i++) {
        lnc_value_format(b->type, lnc_value_load(b->type, data, i), text, sizeof text);
        lw_printf(out, " %s", text);
    }
    lw_put(out, from + n < b->count ? " ...\n" : "\n");
    return LW_OK;
}

enum lw_status lnc_session_print_outputs(const struct lnc_session *session, struct lw_sink *out, struct lw_error *err)
{
    uint8_t *was = malloc(CHUNK_ELEMENTS * 8), *is = malloc(CHUNK_ELEMENTS * 8);
    enum lw_status status = LW_OK;

    if (was == NULL || is == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory to compare buffers");
    for (const struct lnc_buffer *b = lnc_session_file(session)->buffers; b != NULL && status == LW_OK; b = b->next) {
        uint64_t address, size;
        struct change change;

        if (b->variable != NULL || !lnc_session_buffer(session, b->name, &address, &size))
            continue;
        status = find_changes(session, b, address, was, is, &change, err);
        if (status != LW_OK)
            break;
        lw_printf(out, "%s %s[%" PRIu64 "]: ", b->name, b->type->name, b->count);
        if (change.count == 0) {
            lw_put(out, "unchanged\n");
            continue;
        }
        lw_printf(out, "%" PRIu64 " element%s changed", change.count, change.count == 1 ? "" : "s");
        status = put_head(session, b, address, change.first, is, out, err);
    }
    free(was);
    free(is);
    return status;
}
