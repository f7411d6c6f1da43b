/* SPDX-License-Identifier: Apache-2.0 */
/* What loads of one straight-line run share. */
#ifndef EMU_ADDR_CACHE_PRIV_H
#define EMU_ADDR_CACHE_PRIV_H

#include <stdint.h>

/** Loads of words in one straight-line run whose addresses come from the same registers, or from
 *  such that differ by the same in all lanes: what the first finds of the halves of its row serves
 *  those after it (emu_addr_cache.c marks them, emu_mem_fast_body.h uses it). aux of such a load: what
 *  it is; the slot from bit EMU_ADDR_CHECK_SLOT; of the first how many bytes below and above its own
 *  those after it reach, from EMU_ADDR_CHECK_BELOW and EMU_ADDR_CHECK_ABOVE; of one of these how many bytes,
 *  signed, its own are above the first's, from EMU_ADDR_CHECK_ABOVE. */
enum emu_addr_check_role {
    EMU_ADDR_CHECK_NONE,
    EMU_ADDR_CHECK_OPENS,
    EMU_ADDR_CHECK_FOLLOWS, /* the halves of its row are what the first's are */
    EMU_ADDR_CHECK_IN_RANGE     /* and where its words lie is known, too */
};
enum {
    EMU_ADDR_CHECKS = 8, EMU_ADDR_CHECK_REACH = 2048, /* bytes, less than a page */
    EMU_ADDR_CHECK_SLOT = 8, EMU_ADDR_CHECK_BELOW = 16, EMU_ADDR_CHECK_ABOVE = 32
};
/** What was found: both halves of the row equal, or both consecutive; and reached: the words of
 *  all that LIE there are in emu_addr_check.host. */
enum { EMU_PROVED_EQUAL = 1, EMU_PROVED_RUN = 2, EMU_PROVED_REACHED = 4 };
struct emu_addr_check {
    uint8_t *host[2]; /* of the first's words, by half */
};

#endif
