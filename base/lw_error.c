/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages: formats them and escapes control characters. */
#include "base/lw.h"

#include <stdio.h>

/* Returns the length in bytes of the UTF-8 character at @p, or 0 if it is invalid or a control character. */
static size_t printable(const char *p)
{
    const unsigned char c = (unsigned char)*p;

    if (c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)p[1] < 0xa0)) /* control characters: C0, DEL, and C1
                                                                            * (U+0080..U+009f) */
        return 0;
    return lw_utf8(p);
}

/* Copies a message and replaces control characters and invalid bytes by \xNN. A message may quote text of an input file,
 * and a terminal must not execute control sequences in that text. */
static void escape(char *to, const char *from)
{
    const char *p = from;
    size_t used = 0;

    while (*p != '\0') {
        size_t size = printable(p);

        if (used + (size != 0 ? size : 4) >= LW_ERROR_BYTES)
            break;
        if (size != 0) {
            memcpy(to + used, p, size);
        } else {
            snprintf(to + used, 5, "\\x%02x", (unsigned)(unsigned char)*p);
        }
        used += size != 0 ? size : 4;
        p += size != 0 ? size : 1;
    }
    to[used] = '\0';
}

enum lw_status lw_fail(struct lw_error *err, enum lw_status status, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;

        /* The arguments may point into err->text, so the message is formatted in a separate buffer. */
        char text[LW_ERROR_BYTES];
        va_start(args, fmt);
        vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        escape(err->text, text);
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
    /* If prefix and message together are too long, the end of the message is cut. */
    size = strnlen(err->text, sizeof text - (size_t)used - 1);
    memcpy(text + used, err->text, size);
    text[(size_t)used + size] = '\0';
    escape(err->text, text);
    return err->status;
}
