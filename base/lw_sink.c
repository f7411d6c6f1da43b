/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks: write text to memory or to a file. */
#include "base/lw.h"

#include <stdio.h>
#include <stdlib.h>

void lw_put(struct lw_sink *sink, const char *text)
{
    if (sink != NULL)
        sink->write(sink, text, strlen(text));
}

void lw_printf(struct lw_sink *sink, const char *fmt, ...)
{
    char small[512], *text = small;
    va_list args;
    int need;

    if (sink == NULL)
        return;
    va_start(args, fmt);
    need = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (need < 0)
        return;
    if ((size_t)need >= sizeof small) {
        text = malloc((size_t)need + 1);
        if (text == NULL) {
            /* There is no memory for the whole text, so only its beginning is written. */
            sink->write(sink, small, sizeof small - 1);
            return;
        }
        va_start(args, fmt);
        vsnprintf(text, (size_t)need + 1, fmt, args);
        va_end(args);
    }
    sink->write(sink, text, (size_t)need);
    if (text != small)
        free(text);
}

/* Appends text to a buffer. A sink cannot return an error: if the host has no memory, the text is dropped and is_cut is
 * set. */
static void buffer_write(struct lw_sink *sink, const char *text, size_t size)
{
    struct lw_buffer *buffer = (struct lw_buffer *)sink;

    if (size >= SIZE_MAX - buffer->size - 1 ||
        !lw_grow(&buffer->text, &buffer->capacity, buffer->size + size + 1, 1)) {
        buffer->is_cut = true;
        return;
    }
    memcpy(buffer->text + buffer->size, text, size);
    buffer->size += size;
    buffer->text[buffer->size] = '\0';
}

void lw_buffer_init(struct lw_buffer *buffer)
{
    *buffer = (struct lw_buffer){.sink = {buffer_write}};
    /* a caller may read `text` before the first write */
    if (lw_grow(&buffer->text, &buffer->capacity, 1, 1))
        buffer->text[0] = '\0';
}

void lw_buffer_fini(struct lw_buffer *buffer)
{
    free(buffer->text);
    buffer->text = NULL;
    buffer->size = buffer->capacity = 0;
}

void lw_buffer_clear(struct lw_buffer *buffer)
{
    buffer->size = 0;
    if (buffer->text != NULL)
        buffer->text[0] = '\0';
}

static void file_write(struct lw_sink *sink, const char *text, size_t size)
{
    FILE *stream = ((struct lw_file_sink *)sink)->stream;

    fwrite(text, 1, size, stream);
}

void lw_file_sink_init(struct lw_file_sink *sink, void *stream)
{
    *sink = (struct lw_file_sink){.sink = {file_write}, .stream = stream};
}
