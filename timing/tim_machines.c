/* SPDX-License-Identifier: Apache-2.0 */
/* Shipped GPU models. The files timing/machines/NAME.yaml are compiled into the program, which thus needs no files. */
#include "timing/timing.h"

/* machines.inc has a row MACHINE(name, summary, text) for each file. timing/machines.awk generates it. */
const struct tim_machine tim_machines[] = {
#define MACHINE(name, summary, text) {name, summary},
#include "timing/machines.inc"
#undef MACHINE
    {NULL, NULL},
};

const char *tim_machine_text(const char *name)
{
    static const struct {
        const char *name, *text;
    } texts[] = {
#define MACHINE(name, summary, text) {name, text},
#include "timing/machines.inc"
#undef MACHINE
    };

    for (unsigned i = 0; i < LW_COUNT_OF(texts); i++)
        if (strcmp(texts[i].name, name) == 0)
            return texts[i].text;
    return NULL;
}
