/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async.bulk as a loop in which the thread copies 16 bytes at a time. The copy is complete when the instruction ends. */
#include "ptx/parse/ptx_expand_priv.h"

static void put_copy(struct ptx_expansion *x, bool to_shared)
{
    const char *to = to_shared ? ".shared" : ".global", *from = to_shared ? ".global" : ".shared";

    ptx_expand_put_address(x, ptx_expand_address(x, 0), "%lw_to");
    ptx_expand_put_address(x, ptx_expand_address(x, 1), "%lw_from");
    ptx_put(x, ".reg .b32 %%lw_n, %%lw_w<4>; .reg .pred %%lw_p; mov.b32 %%lw_n, " PTX_NAME_FMT "; $lw_copy: "
               "setp.lt.u32 %%lw_p, %%lw_n, 16; @%%lw_p bra $lw_end; "
               "ld%s.v4.b32 {%%lw_w0, %%lw_w1, %%lw_w2, %%lw_w3}, [%%lw_from]; "
               "st%s.v4.b32 [%%lw_to], {%%lw_w0, %%lw_w1, %%lw_w2, %%lw_w3}; add.s64 %%lw_from, %%lw_from, 16; "
               "add.s64 %%lw_to, %%lw_to, 16; sub.s32 %%lw_n, %%lw_n, 16; bra $lw_copy; $lw_end: ",
            PTX_NAME_ARG(ptx_expand_vector(x, 2, 1)->first), from, to);
}

void ptx_expand_copy_bulk(struct ptx_expansion *x)
{
    (void)ptx_expand_take(x, "async");
    (void)ptx_expand_take(x, "bulk");
    if (ptx_expand_take(x, "tensor"))
        ptx_expand_fail(x, LW_EUNSUPP, "copies of tensors are not supported");
    ptx_expand_need(x, 80, 90);
    if (ptx_expand_take(x, "commit_group")) { /* copies are complete, so groups are, too */
        ptx_expand_operands(x, 0, 0);
        x->is_empty = true;
    } else if (ptx_expand_take(x, "wait_group")) {
        (void)ptx_expand_take(x, "read");
        ptx_expand_operands(x, 1, 1);
        x->is_empty = true;
    } else if (ptx_expand_take(x, "bulk_group")) {
        if (!ptx_name_is(x->modifier[2], "global") || !ptx_expand_take(x, "global") || !ptx_expand_take(x, "shared::cta"))
            ptx_expand_fail(x, LW_EINPUT, "expected '.global.shared::cta' with '.bulk_group'");
        ptx_expand_operands(x, 3, 3);
        put_copy(x, false);
    } else if (ptx_expand_take(x, "mbarrier::complete_tx::bytes")) {
        /* a block is a cluster of its own, whose shared memory has the same addresses */
        const bool other = ptx_expand_take(x, "shared::cluster");

        if (!ptx_expand_take(x, "global") || (!other && !ptx_expand_take(x, "shared::cta")))
            ptx_expand_fail(x, LW_EUNSUPP, "copies between blocks are not supported");
        ptx_expand_operands(x, 4, 4);
        put_copy(x, true);
        ptx_put(x, "{ ");
        ptx_expand_put_complete(x, ptx_expand_address(x, 3), ptx_expand_vector(x, 2, 1)->first);
        ptx_put(x, "} ");
    } else {
        ptx_expand_leftovers(x);
        ptx_expand_fail(x, LW_EINPUT,
                        "expected '.bulk_group', '.mbarrier::complete_tx::bytes', '.commit_group' or '.wait_group'");
    }
}
