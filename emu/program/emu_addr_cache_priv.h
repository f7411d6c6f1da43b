/* SPDX-License-Identifier: Apache-2.0 */
/* Address checks that loads of one straight-line run share. */
#ifndef EMU_ADDR_CACHE_PRIV_H
#define EMU_ADDR_CACHE_PRIV_H

#include <stdint.h>

/** Role of a load that shares an address check (emu_addr_cache.c marks them, emu_mem_fast_body.h uses them).
 *  The loads are of words, in one straight-line run, and their addresses are in the same registers, or in registers
 *  that differ by the same value in all lanes: the facts that the first load finds about the halves of its row are true
 *  for the later loads. aux of such a load has its role and, from bit EMU_ADDR_CHECK_SLOT on, the slot. For the first
 *  load aux also has the number of bytes below and above its own bytes that the later loads access, in bits from
 *  EMU_ADDR_CHECK_BELOW and EMU_ADDR_CHECK_ABOVE on. For a later load, aux has the signed distance of its bytes from
 *  the first load's, in bits from EMU_ADDR_CHECK_ABOVE on. */
enum emu_addr_check_role {
    EMU_ADDR_CHECK_NONE,
    EMU_ADDR_CHECK_OPENS,
    EMU_ADDR_CHECK_FOLLOWS, /* a later load: the halves of its row have the form of the first load's row */
    EMU_ADDR_CHECK_IN_RANGE     /* a later load for which the host addresses of its words are known as well */
};
enum {
    EMU_ADDR_CHECKS = 8, EMU_ADDR_CHECK_REACH = 2048, /* bytes, less than a page */
    EMU_ADDR_CHECK_SLOT = 8, EMU_ADDR_CHECK_BELOW = 16, EMU_ADDR_CHECK_ABOVE = 32
};
/** Facts found by a check: both halves of the row equal, or both consecutive; reached: the words of all loads with
 *  EMU_ADDR_CHECK_IN_RANGE are at known distances from emu_addr_check.host. */
enum { EMU_PROVED_EQUAL = 1, EMU_PROVED_RUN = 2, EMU_PROVED_REACHED = 4 };
struct emu_addr_check {
    uint8_t *host[2]; /* host address of the first load's words, by half */
};

#endif
