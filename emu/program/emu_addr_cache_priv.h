/* SPDX-License-Identifier: Apache-2.0 */
/* Address checks that the loads of a straight-line run share. */
#ifndef EMU_ADDR_CACHE_PRIV_H
#define EMU_ADDR_CACHE_PRIV_H

#include <stdint.h>

/** Role of a load that shares an address check. emu_addr_cache.c sets the roles, emu_mem_fast_body.h uses them. All loads that
 *  share a check are loads of words in one straight-line run; their address registers are the same or differ by the same value in
 *  all lanes. So what the first load finds out about the halves of its address vector is true for the later loads. In
 *  emu_dinsn.aux, the load has its role, and from bit EMU_ADDR_CHECK_SLOT on its slot. The first load also has there, from bits
 *  EMU_ADDR_CHECK_BELOW and EMU_ADDR_CHECK_ABOVE on, how many bytes below and above its own bytes the later loads access. A later
 *  load has, from bit EMU_ADDR_CHECK_ABOVE on, the signed distance of its bytes from those of the first load. */
enum emu_addr_check_role {
    EMU_ADDR_CHECK_NONE,
    EMU_ADDR_CHECK_OPENS,
    EMU_ADDR_CHECK_FOLLOWS, /* a later load: each half of its addresses is uniform or contiguous if the first load's is */
    EMU_ADDR_CHECK_IN_RANGE     /* a later load whose words are also at a known distance from those of the first load */
};
enum {
    EMU_ADDR_CHECKS = 8, EMU_ADDR_CHECK_REACH = 2048, /* bytes, less than a page */
    EMU_ADDR_CHECK_SLOT = 8, EMU_ADDR_CHECK_BELOW = 16, EMU_ADDR_CHECK_ABOVE = 32
};
/** Facts that a check found out. EQUAL: both halves of the addresses are uniform. RUN: both are contiguous. REACHED:
 *  emu_addr_check.host is set, from which the words of all loads with EMU_ADDR_CHECK_IN_RANGE are at known distances. */
enum { EMU_PROVED_EQUAL = 1, EMU_PROVED_RUN = 2, EMU_PROVED_REACHED = 4 };
struct emu_addr_check {
    uint8_t *host[2]; /* host addresses of the first load's words, for the lower and the upper half of the lanes */
};

#endif
