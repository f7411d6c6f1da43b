/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of tests that translate PTX texts, of which some must be refused. Include after <cmocka.h>. */
#ifndef PTX_REFUSAL_H
#define PTX_REFUSAL_H

#include "ptx/ptx.h"

static inline void ok(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/** A text, and a part of the message with which its translation fails. */
struct refusal {
    const char *text, *why;
};
/** Translates all texts. Each must fail with a message that begins with @place, such as "t.ptx:8". */
static inline void must_refuse(const struct refusal *cases, size_t count, const char *place)
{
    for (size_t i = 0; i < count; i++) {
        struct isa_object *object = NULL;
        struct lw_error err = {.text = ""};
        enum lw_status status = ptx_translate("t.ptx", cases[i].text, strlen(cases[i].text), NULL, &object, &err);

        if (status == LW_OK)
            fail_msg("case %zu is translated: %s", i, cases[i].why);
        if (strncmp(err.text, place, strlen(place)) != 0 || strstr(err.text, cases[i].why) == NULL)
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.text, cases[i].why);
    }
}

#endif
