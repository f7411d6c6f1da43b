/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests that compile objects from PTX, write them to a file, read them again and corrupt them. */
#ifndef OBJECT_FIXTURE_H
#define OBJECT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx.h"

static inline struct isa_object *object_of(const char *ptx)
{
    struct isa_object *object;
    struct lw_error err;

    if (ptx_translate("t.ptx", ptx, strlen(ptx), NULL, &object, &err) != LW_OK)
        fail_msg("%s\n%s", ptx, err.text);
    return object;
}

/** Write the object to a file and return the object that is read from the file. */
static inline struct isa_object *object_reread(const struct isa_object *object)
{
    struct isa_object *again;
    struct lw_error err;
    uint8_t *bytes;
    size_t size;

    if (isa_object_write(object, &bytes, &size, &err) != LW_OK ||
        isa_object_read("t.lwo", bytes, size, &again, &err) != LW_OK)
        fail_msg("%s", err.text);
    free(bytes);
    return again;
}

static inline void object_is_refused(const struct isa_object *object, const char *what)
{
    struct lw_error err;

    assert_int_equal(isa_object_check(object, &err), LW_EFORMAT);
    if (strstr(err.text, what) == NULL)
        fail_msg("%s", err.text);
}

#endif
