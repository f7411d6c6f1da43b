/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of check/ share. */
#ifndef CHK_PRIV_H
#define CHK_PRIV_H

#include "check/check.h"

enum chk_from { CHK_FROM_FAULT, CHK_FROM_HANG, CHK_FROM_END };
/** Columns of kinds.def that only check/ reads. */
struct chk_origin {
    uint8_t from, value;
};
extern const struct chk_origin chk_origins[CHK_KIND_COUNT];
/** The kind of a fault or verdict; -1: none has it. */
int chk_kind_of(enum chk_from from, unsigned value);
/** By name; -1: none. */
int chk_kind_named(const char *name);

struct chk {
    struct emu_machine *machine;
    struct emu_fault_filter filter;
    struct emu_life_listener life;
    struct chk_options options;
    struct lw_arena strings;
    struct chk_finding *findings;
    size_t count, room;
    unsigned suppressed, beyond;
    bool short_of_memory;
};

bool chk_suppressed(const struct chk_suppressions *suppressions,
                    const struct chk_finding *finding);

#endif
