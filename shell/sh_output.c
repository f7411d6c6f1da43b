/* SPDX-License-Identifier: Apache-2.0 */
/* Output of text to the user: stops at full pages on a terminal, and is copied to a log. */
#include "shell/shell_priv.h"

#include <errno.h>

static void write_text(struct lw_sink *sink, const char *text, size_t size)
{
    struct sh_output *o = (struct sh_output *)sink;

    if (o->log != NULL)
        (void)!fwrite(text, 1, size, o->log);
    while (size > 0 && !o->dropped) {
        const char *end = o->paged ? memchr(text, '\n', size) : NULL;
        size_t part = end != NULL ? (size_t)(end - text) + 1 : size;

        if (o->paged && o->line + 1 >= o->rows) {
            o->line = 0;
            o->dropped = !o->more(o->context);
            if (o->dropped)
                return;
        }
        o->out->write(o->out, text, part);
        o->line += end != NULL;
        text += part;
        size -= part;
    }
}

void sh_output_init(struct sh_output *output, struct lw_sink *out)
{
    *output = (struct sh_output){.sink = {.write = write_text}, .out = out};
}

void sh_output_begin(struct sh_output *output, bool pages)
{
    output->paged = pages && output->rows > 2 && output->more != NULL;
    output->line = 0;
    output->dropped = false;
}

void sh_output_end(struct sh_output *output)
{
    fflush(stdout);
    if (output->log != NULL && fflush(output->log) != 0 && output->log_error == 0)
        output->log_error = errno;
}

void sh_output_note(struct sh_output *output, const char *prompt, const char *text)
{
    if (output->log != NULL)
        fprintf(output->log, "%s%s\n", prompt, text);
}

enum lw_status sh_output_close_log(struct sh_output *output, struct lw_error *err)
{
    int error;

    sh_output_end(output);
    if (output->log != NULL && fclose(output->log) != 0 && output->log_error == 0)
        output->log_error = errno;
    error = output->log_error;
    output->log = NULL;
    output->log_error = 0;
    return error == 0 ? LW_OK : LW_FAIL(err, LW_EIO, "cannot write all of the log file: %s",
                                        strerror(error));
}
