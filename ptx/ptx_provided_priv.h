/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of device code that the translation provides. */
#ifndef PTX_PROVIDED_PRIV_H
#define PTX_PROVIDED_PRIV_H

#include <stdbool.h>

/** Returns whether function @name, which no module defines, can be called nevertheless: printing, assertions, malloc, launches. */
bool ptx_is_provided(const char *name);

#endif
