/* SPDX-License-Identifier: Apache-2.0 */
/* Address checks that the loads of a straight-line run share. */
#ifndef EMU_ADDR_CACHE_PRIV_H
#define EMU_ADDR_CACHE_PRIV_H

#include <stdint.h>

/** Role of a load that shares an address check. emu_addr_cache.c sets the roles, emu_mem_fast_body.h uses them. All loads that
 *  share a check are loads of words in one straight-line run, and their address registers are the same or differ by the same
 *  value in all lanes. The results of the first load's check for the lower and upper half of the lanes are therefore true for the
 *  later loads, too. emu_dinsn.aux of such a load contains the role in its low bits and, from bit EMU_ADDR_CHECK_SLOT on, the
 *  index in emu_warp.proved and proof. The aux of the first load also contains, from bits EMU_ADDR_CHECK_BELOW and
 *  EMU_ADDR_CHECK_ABOVE on, how many bytes below and above its own bytes the later loads access. The aux of a later load
 *  contains, from bit EMU_ADDR_CHECK_ABOVE on, the signed distance of its bytes from the first load's. */
enum emu_addr_check_role {
    EMU_ADDR_CHECK_NONE,
    EMU_ADDR_CHECK_OPENS,
    EMU_ADDR_CHECK_FOLLOWS, /* a later load; the addresses in each half of the lanes are uniform or contiguous if the addresses of
                             * the first load are */
    EMU_ADDR_CHECK_IN_RANGE     /* a later load whose distance in bytes from the first load is also known */
};
enum {
    EMU_ADDR_CHECKS = 8, EMU_ADDR_CHECK_REACH = 2048, /* in bytes; less than a page */
    EMU_ADDR_CHECK_SLOT = 8, EMU_ADDR_CHECK_BELOW = 16, EMU_ADDR_CHECK_ABOVE = 32
};
/** Results of the first load's check. EQUAL: the addresses are uniform in each half of the lanes. RUN: the addresses are
 *  contiguous in each half. REACHED: emu_addr_check.host is set; loads with EMU_ADDR_CHECK_IN_RANGE compute their host addresses
 *  from it. */
enum { EMU_PROVED_EQUAL = 1, EMU_PROVED_RUN = 2, EMU_PROVED_REACHED = 4 };
struct emu_addr_check {
    uint8_t *host[2]; /* host addresses of the first load's words, for the lower and the upper half of the lanes */
};

#endif
