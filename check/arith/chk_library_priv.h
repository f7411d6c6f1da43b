/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of library functions. */
#ifndef CHK_LIBRARY_PRIV_H
#define CHK_LIBRARY_PRIV_H

#include "check/chk_priv.h"

/** Cached properties of the program of the last query; zeroed at first. */
struct chk_library {
    const struct emu_program *program;
    uint8_t *known;   /* result for each instruction, once known */
    char **texts;     /* text of each file of the program; NULL: not read, or @no_text */
    bool *no_text;
    unsigned file_count;
};

/** Returns true if instruction @index of @program belongs to a library: it is in a compiler's header, in a
 *  function without lines next to others with lines, or at the position of a call to a function without
 *  lines. If the source cannot be read, the last case cannot be determined, and the result is false. */
bool chk_library_has(struct chk_library *library, const struct emu_program *program, uint32_t index);
void chk_library_fini(struct chk_library *library);
/** Returns true if a name that is called is at @line and @column of a source's @text (NULL: none), and the
 *  text does not define it as a macro. */
bool chk_library_call_stands(const char *text, uint32_t line, unsigned column);

#endif
