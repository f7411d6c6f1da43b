/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a library's functions. */
#ifndef CHK_LIBRARY_PRIV_H
#define CHK_LIBRARY_PRIV_H

#include "check/chk_priv.h"

/** What is known of the program of the last query. Zero at first. */
struct chk_library {
    const struct emu_program *program;
    uint8_t *known;   /* by instruction */
    char **texts;     /* by file of the program; NULL: not read, or @no_text */
    bool *no_text;
    unsigned file_count;
};

/** Is instruction @index of @program of a library: of a compiler's header, of a function without lines next to
 *  those that have some, or at the place of a call of a function that has none? Where the source cannot be
 *  read, the last is not known, and the answer no. */
bool chk_library_has(struct chk_library *library, const struct emu_program *program, uint32_t index);
void chk_library_fini(struct chk_library *library);
/** Is at @line and @column of a source's @text (NULL: none) a name that is called, and which the
 *  text does not define as a macro? */
bool chk_library_call_stands(const char *text, uint32_t line, unsigned column);

#endif
