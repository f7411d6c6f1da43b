/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the versions and targets of PTX that a module may name. */
#include "ptx/ptx_priv.h"

bool ptx_version_known(unsigned version)
{
    static const uint8_t last[] = { [1] = 5, [2] = 3, [3] = 2, [4] = 3, [5] = 1, [6] = 5, [7] = 8,
                                    [8] = 8, [9] = 9 }; /* last minor version of each major version. 9.1 to 9.9 are accepted,
                                                         * because later compilers may write these versions */

    return version / 10 < LW_COUNT_OF(last) && version >= 10 && version % 10 <= last[version / 10];
}

unsigned ptx_target_since(const char *name, size_t size)
{
    static const struct {
        const char *name;
        uint8_t plain, arch, family; /* the first version that supports sm_90, sm_90a, sm_90f */
    } targets[] = {
        { "10", 10, 0, 0 }, { "11", 10, 0, 0 }, { "12", 12, 0, 0 }, { "13", 12, 0, 0 },
        { "20", 20, 0, 0 }, { "21", 20, 0, 0 }, { "30", 30, 0, 0 }, { "32", 40, 0, 0 },
        { "35", 31, 0, 0 }, { "37", 41, 0, 0 }, { "50", 40, 0, 0 }, { "52", 41, 0, 0 },
        { "53", 42, 0, 0 }, { "60", 50, 0, 0 }, { "61", 50, 0, 0 }, { "62", 50, 0, 0 },
        { "70", 60, 0, 0 }, { "72", 61, 0, 0 }, { "75", 63, 0, 0 }, { "80", 70, 0, 0 },
        { "86", 71, 0, 0 }, { "87", 74, 0, 0 }, { "88", 73, 0, 0 }, { "89", 78, 0, 0 },
        { "90", 78, 80, 0 }, { "100", 86, 86, 88 }, { "101", 86, 86, 88 },
        { "103", 88, 88, 88 }, { "110", 90, 90, 90 }, { "120", 87, 87, 88 }, { "121", 88, 88, 88 },
    };

    for (size_t i = 0; i < LW_COUNT_OF(targets); i++) {
        size_t digits = strlen(targets[i].name);

        if (size < 3 + digits || memcmp(name, "sm_", 3) != 0 ||
            memcmp(name + 3, targets[i].name, digits) != 0)
            continue;
        if (size == 3 + digits)
            return targets[i].plain;
        if (size == 4 + digits && name[3 + digits] == 'a')
            return targets[i].arch;
        if (size == 4 + digits && name[3 + digits] == 'f')
            return targets[i].family;
    }
    return 0;
}
