/* SPDX-License-Identifier: Apache-2.0 */
/* Status and error sentences. */
#include "base/lw.h"

#include <stdio.h>

enum lw_status lw_fail(struct lw_error *err, enum lw_status status, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;

        /* The arguments may point into err->text itself, so the sentence is made aside. */
        char text[LW_ERROR_BYTES];
        va_start(args, fmt);
        vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        memcpy(err->text, text, sizeof text);
        err->status = status;
    }
    return status;
}

enum lw_status lw_error_prefix(struct lw_error *err, const char *fmt, ...)
{
    char text[LW_ERROR_BYTES];
    va_list args;
    size_t size;
    int used;

    if (err == NULL)
        return LW_OK;
    va_start(args, fmt);
    used = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (used < 0 || (size_t)used >= sizeof text - 3)
        return err->status;
    text[used++] = ':';
    text[used++] = ' ';
    /* A sentence too long for both loses its end, never its place. */
    size = strnlen(err->text, sizeof text - (size_t)used - 1);
    memcpy(text + used, err->text, size);
    text[(size_t)used + size] = '\0';
    memcpy(err->text, text, (size_t)used + size + 1);
    return err->status;
}
