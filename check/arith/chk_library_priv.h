/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which instructions belong to library functions. */
#ifndef CHK_LIBRARY_PRIV_H
#define CHK_LIBRARY_PRIV_H

#include "check/chk_priv.h"

/** Cached properties of the program of the last query; zeroed at first. */
struct chk_library {
    const struct emu_program *program;
    uint8_t *known;   /* [instruction] cached result of chk_library_has(), or 0 before the first query */
    char **texts;     /* [file of the program]: its text; NULL: not read yet, or not readable */
    bool *no_text;    /* [file of the program]: the file cannot be read */
    unsigned file_count;
};

/** Returns true if instruction @index of @program belongs to a library. There are three cases. The instruction is in a
 *  compiler's header. The instruction is in a function without line information, although other functions of the
 *  program have it. The instruction has the source position of a call of a function without line information. The last
 *  case is not recognised if the source cannot be read. */
bool chk_library_has(struct chk_library *library, const struct emu_program *program, uint32_t index);
void chk_library_fini(struct chk_library *library);
/** Returns true if the source @text has a name before a parenthesis at @line and @column, and does not define this name as
 *  a macro. @text may be NULL. */
bool chk_library_call_stands(const char *text, uint32_t line, unsigned column);

#endif
