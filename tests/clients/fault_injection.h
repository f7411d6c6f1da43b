/* SPDX-License-Identifier: Apache-2.0 */
/* Features of the debugger core that tests/clients/gdb_server can switch off: rows of
 * tests/clients/fault_injection.def. */
#ifndef FAULT_INJECTION_H
#define FAULT_INJECTION_H

#include <stdbool.h>

enum spoil {
#define SPOIL(id, name, summary) SPOIL_##id,
#include "tests/clients/fault_injection.def"
    SPOIL_COUNT
};
/** NULL past the last. */
const char *spoil_name(unsigned spoil);
const char *spoil_summary(unsigned spoil);
/** False: there is none of this name. From here on the whole process does without it. */
bool spoil_begin(const char *name);
bool spoil_is(enum spoil spoil);

#endif
