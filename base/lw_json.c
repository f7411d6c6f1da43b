/* SPDX-License-Identifier: Apache-2.0 */
/* Checks UTF-8 characters and writes JSON strings. */
#include "base/lw.h"

#include <stdio.h>
#include <stdlib.h>

unsigned lw_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    /* The range of the second byte excludes overlong forms, surrogates and characters above U+10FFFF. */
    const unsigned low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80,
                   high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
    const unsigned bytes = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

    if (bytes > 1 && (p[1] < low || p[1] > high))
        return 0;
    for (unsigned i = 2; i < bytes; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    return bytes;
}

void lw_put_json(struct lw_sink *sink, const char *text)
{
    lw_put(sink, "\"");
    while (*text != '\0') {
        const unsigned bytes = lw_utf8(text);
        const unsigned char c = (unsigned char)*text;

        if (bytes == 0)
            lw_put(sink, "\\ufffd");
        else if (c == '"' || c == '\\')
            lw_printf(sink, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            lw_printf(sink, "\\u%04x", c);
        else
            lw_printf(sink, "%.*s", (int)bytes, text);
        text += bytes != 0 ? bytes : 1;
    }
    lw_put(sink, "\"");
}

void lw_printf_json(struct lw_sink *sink, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    va_end(args);
    lw_put_json(sink, text != NULL ? text : "");
    free(text);
}
