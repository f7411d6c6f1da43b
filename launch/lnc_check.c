/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of results with expected values, and output of results to files. */
#include "launch/launch_priv.h"

#include <math.h>
#include <stdlib.h>

static bool floats_agree(double got, double want, double absolute, double relative)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (got == want)
        return true;
    if (isinf(got) || isinf(want))
        return false;
    return fabs(got - want) <= absolute + relative * fabs(want);
}

static bool integers_agree(const struct lnc_type *type, uint64_t got, uint64_t want,
                           double absolute, double relative)
{
    double w;
    uint64_t distance;

    if (got == want)
        return true;
    if (absolute == 0 && relative == 0)
        return false;
    /* The distance is exact in integers; doubles would lose low bits of 64-bit values. */
    w = lnc_value_double(type, want);
    if (type->kind == LNC_SIGNED) {
        unsigned shift = 64 - 8u * type->bytes;
        int64_t a = (int64_t)(got << shift) >> shift, b = (int64_t)(want << shift) >> shift;

        distance = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    } else {
        distance = got > want ? got - want : want - got;
    }
    return (double)distance <= absolute + relative * fabs(w);
}

void lnc_compare(const struct lnc_type *type, const uint8_t *got, const uint8_t *want,
                 uint64_t count, uint64_t base, double absolute, double relative,
                 struct lnc_difference *difference)
{
    /* In the usual case all bytes are equal, and the elements need no comparison. */
    if (memcmp(got, want, count * type->bytes) == 0)
        return;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t g = lnc_value_load(type, got, i), w = lnc_value_load(type, want, i);
        bool agree = g == w;

        if (!agree && type->kind == LNC_FLOAT)
            agree = floats_agree(lnc_value_double(type, g), lnc_value_double(type, w),
                                 absolute, relative);
        else if (!agree)
            agree = integers_agree(type, g, w, absolute, relative);
        if (agree)
            continue;
        if (difference->count++ == 0) {
            difference->first = base + i;
            difference->got = g;
            difference->want = w;
        }
    }
}

/** Writes numbers, one on each line, so that lnc_data_read reads the same numbers. */
static enum lw_status write_text(const struct lnc_type *type, const uint8_t *data, uint64_t count, const char *path,
                                 struct lw_error *err)
{
    enum lw_status status;
    struct lw_buffer out;
    char text[40];

    lw_buffer_init(&out);
    for (uint64_t i = 0; i < count; i++) {
        lnc_value_format(type, lnc_value_load(type, data, i), text, sizeof text);
        lw_printf(&out.sink, "%s\n", text);
    }
    status = out.text == NULL ? LW_FAIL(err, LW_ENOMEM, "the host has no memory for the text of %s", path)
                              : lw_file_write(path, out.text, out.size, err);
    lw_buffer_fini(&out);
    return status;
}

enum lw_status lnc_session_dump(const struct lnc_session *session, const char *buffer, const char *path,
                                struct lw_error *err)
{
    uint64_t size;
    void *data;
    enum lw_status status = lnc_session_bytes(session, buffer, &data, &size, err);

    if (status != LW_OK)
        return status;
    if (lnc_data_is_binary(path)) {
        status = lw_file_write(path, data, size, err);
    } else {
        uint64_t count;
        const struct lnc_type *type = lnc_type_find(lnc_session_elements(session, buffer, &count));

        status = write_text(type, data, count, path, err);
    }
    free(data);
    return status;
}
