/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/gdb_server leaves away of the debugger core's work: rows of tests/gdb_spoils.def. */
#ifndef GDB_SPOILS_H
#define GDB_SPOILS_H

#include <stdbool.h>

enum spoil {
#define SPOIL(id, name, summary) SPOIL_##id,
#include "tests/gdb_spoils.def"
    SPOIL_COUNT
};
/** NULL past the last. */
const char *spoil_name(unsigned spoil);
const char *spoil_summary(unsigned spoil);
/** False: there is none of this name. From here on the whole process does without it. */
bool spoil_begin(const char *name);
bool spoil_is(enum spoil spoil);

#endif
