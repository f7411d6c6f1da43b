/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether clang writes a dump of its debug values, and finds the dump in clang's output. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "ptx/compiler/ptx_values_priv.h"

bool ptx_values_wanted(const char *const *flags, size_t count)
{
    bool optimised = true, debug = true, verbose = true;

    for (size_t i = 0; i < count; i++) {
        const char *f = flags[i];

        if (strncmp(f, "-O", 2) == 0)
            optimised = strcmp(f, "-O0") != 0;
        else if (strcmp(f, "-cl-opt-disable") == 0)
            optimised = false;
        else if (strncmp(f, "-g", 2) == 0 && strncmp(f, "-gcc", 4) != 0 && strncmp(f, "-gpu", 4) != 0)
            debug = strcmp(f, "-g0") != 0 && strcmp(f, "-g1") != 0 && strcmp(f, "-gmlt") != 0 &&
                    strcmp(f, "-gline-tables-only") != 0 && strcmp(f, "-gline-directives-only") != 0;
        else if (strcmp(f, "-fverbose-asm") == 0 || strcmp(f, PTX_NO_VALUES) == 0)
            verbose = strcmp(f, PTX_NO_VALUES) != 0;
    }
    return optimised && debug && verbose;
}

size_t ptx_values_split(char *output, size_t size, char **dump, size_t *dump_size)
{
    struct text rest = {output, output + size};
    struct lw_buffer out;
    char *to = output;
    bool inside = false;

    lw_buffer_init(&out);
    while (rest.at < rest.end) {
        struct text line = take_line(&rest);
        size_t length = (size_t)(rest.at - line.at);

        if (begins(line, "# *** IR Dump After "))
            inside = true;
        if (inside) {
            out.sink.write(&out.sink, line.at, length);
        } else {
            memmove(to, line.at, length);
            to += length;
        }
        if (begins(line, "# End machine code for function ")) {
            inside = false;
            if (rest.at < rest.end && *rest.at == '\n')
                rest.at++;
        }
    }
    *dump = out.text;
    *dump_size = out.text != NULL ? out.size : 0;
    out.text = NULL;
    lw_buffer_fini(&out);
    return (size_t)(to - output);
}
