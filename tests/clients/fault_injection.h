/* SPDX-License-Identifier: Apache-2.0 */
/* Switches off features of the debugger core in tests/clients/gdb_server. The features are the rows of
 * tests/clients/fault_injection.def. */
#ifndef FAULT_INJECTION_H
#define FAULT_INJECTION_H

#include <stdbool.h>

enum spoil {
#define SPOIL(id, name, summary) SPOIL_##id,
#include "tests/clients/fault_injection.def"
    SPOIL_COUNT
};
/** Returns the name of the feature with this number, or NULL if there is none. */
const char *spoil_name(unsigned spoil);
const char *spoil_summary(unsigned spoil);
/** Switches a feature off for the rest of the process. Returns false if there is no feature of this name. */
bool spoil_begin(const char *name);
bool spoil_is(enum spoil spoil);

#endif
