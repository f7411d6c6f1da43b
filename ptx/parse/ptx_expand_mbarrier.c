/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier as atomics on the 64 bits of the barrier object. PTX does not define the contents of the object; ours are
 *
 *   bits 0 to 20   arrivals that are missing in the present phase, signed
 *   bits 21 to 40  arrivals of the next phases
 *   bits 41 to 62  bytes that are missing in the present phase, modulo 2^22
 *   bit 63         parity of the present phase
 *
 * A phase is complete when neither arrivals nor bytes are missing. An arrival is one subtraction, because loops of
 * compare-and-swap in which all lanes of a block compete are slow. The thread whose arrival is the last one then adds the
 * arrivals of the next phase and changes the parity. Until it does so, the missing arrivals are 0 or, if threads arrive for the
 * next phase, negative: sums do not depend on the order. Operations on bytes wait until this is over, so that only one thread
 * completes a phase. The state that an arrival returns is the object before the arrival. */
#include "ptx/parse/ptx_expand_priv.h"

enum operation { INIT, INVAL, ARRIVE, ARRIVE_DROP, TEST_WAIT, TRY_WAIT, PENDING_COUNT, EXPECT_TX, COMPLETE_TX };

/** Removes the state space, and returns it as a modifier. */
static const char *take_space(struct ptx_expansion *x)
{
    if (ptx_expand_take(x, "shared::cluster"))
        ptx_expand_fail(x, LW_EUNSUPP, "barriers of other blocks, '.shared::cluster', are not supported");
    return ptx_expand_take(x, "shared") || ptx_expand_take(x, "shared::cta") ? ".shared" : "";
}

/* Removes modifiers without effect: all accesses are sequentially consistent in the order of execution. */
static void take_order(struct ptx_expansion *x)
{
    static const char *const orders[] = { "acquire", "release", "relaxed", NULL }, *const scopes[] = { "cta", "cluster", NULL };

    (void)ptx_expand_take_one(x, orders);
    (void)ptx_expand_take_one(x, scopes);
}

/* Puts a loop of compare-and-swap that adds expected bytes to the object or subtracts complete ones, and with @arrives also
 * counts one arrival. %lw_s is then the object before the change. */
static void put_bytes(struct ptx_expansion *x, const char *space, const struct ptx_expand_operand *object,
                      struct ptx_name bytes, bool complete, bool arrives)
{
    ptx_put(x, ".reg .b64 %%lw_s, %%lw_t, %%lw_u, %%lw_n, %%lw_old; .reg .b32 %%lw_c; .reg .pred %%lw_p; "
               "mov.b32 %%lw_c, " PTX_NAME_FMT "; cvt.u64.u32 %%lw_n, %%lw_c; shl.b64 %%lw_n, %%lw_n, 41; $lw_again: "
               "ld.relaxed.cta%s.b64 %%lw_s, " PTX_NAME_FMT "; and.b64 %%lw_t, %%lw_s, 0x7ffffe0000000000; "
               "bfe.s64 %%lw_u, %%lw_s, 0, 21; setp.eq.s64 %%lw_p, %%lw_t, 0; setp.le.and.s64 %%lw_p, %%lw_u, 0, %%lw_p; "
               "@%%lw_p bra $lw_again; ",
            PTX_NAME_ARG(bytes), space, PTX_NAME_ARG(object->all));
    ptx_put(x, "%s.s64 %%lw_t, %%lw_s, %%lw_n; and.b64 %%lw_t, %%lw_t, 0x7fffffffffffffff; and.b64 %%lw_u, %%lw_s, "
               "0x8000000000000000; or.b64 %%lw_t, %%lw_t, %%lw_u; ", complete ? "sub" : "add");
    if (arrives)
        ptx_put(x, "sub.s64 %%lw_t, %%lw_t, 1; ");
    ptx_put(x, "and.b64 %%lw_u, %%lw_t, 0x7ffffe00001fffff; setp.eq.s64 %%lw_p, %%lw_u, 0; shr.u64 %%lw_u, %%lw_t, 21; "
               "and.b64 %%lw_u, %%lw_u, 0xfffff; add.s64 %%lw_u, %%lw_t, %%lw_u; xor.b64 %%lw_u, %%lw_u, 0x8000000000000000; "
               "selp.b64 %%lw_t, %%lw_u, %%lw_t, %%lw_p; atom.acq_rel.cta%s.cas.b64 %%lw_old, " PTX_NAME_FMT ", %%lw_s, %%lw_t; "
               "setp.ne.s64 %%lw_p, %%lw_old, %%lw_s; @%%lw_p bra $lw_again; ",
            space, PTX_NAME_ARG(object->all));
}

/* Puts the subtraction of @count arrivals (without text: one), with @drops also from those of the next phases. %lw_s is then
 * the object before the arrival, as if its thread had completed earlier phases. */
static void put_arrivals(struct ptx_expansion *x, const char *space, const struct ptx_expand_operand *object,
                         struct ptx_name count, bool drops)
{
    ptx_put(x, ".reg .b64 %%lw_s, %%lw_t, %%lw_n, %%lw_next; .reg .b32 %%lw_c, %%lw_e, %%lw_k, %%lw_m; .reg .pred %%lw_p; "
               "mov.b32 %%lw_c, " PTX_NAME_FMT "; cvt.u64.u32 %%lw_n, %%lw_c; ",
            PTX_NAME_ARG(count.size != 0 ? count : ((struct ptx_name){ "1", 1 })));
    ptx_put(x, drops ? "mul.lo.u64 %%lw_t, %%lw_n, 0x200001; neg.s64 %%lw_t, %%lw_t; " : "neg.s64 %%lw_t, %%lw_n; ");
    ptx_put(x, "atom.acq_rel.cta%s.add.u64 %%lw_s, " PTX_NAME_FMT ", %%lw_t; bfe.s64 %%lw_t, %%lw_s, 0, 21; "
               "sub.s64 %%lw_s, %%lw_s, %%lw_t; cvt.u32.u64 %%lw_m, %%lw_t; shr.u64 %%lw_next, %%lw_s, 21; "
               "and.b64 %%lw_next, %%lw_next, 0xfffff; setp.gt.s32 %%lw_p, %%lw_m, 0; ",
            space, PTX_NAME_ARG(object->all));
    /* phases that other threads are about to complete */
    ptx_put(x, "@%%lw_p bra $lw_plain; cvt.u32.u64 %%lw_e, %%lw_next; sub.s32 %%lw_k, %%lw_e, %%lw_m; div.u32 %%lw_k, %%lw_k, "
               "%%lw_e; mad.lo.s32 %%lw_m, %%lw_k, %%lw_e, %%lw_m; cvt.u64.u32 %%lw_t, %%lw_k; shl.b64 %%lw_t, %%lw_t, 63; "
               "xor.b64 %%lw_s, %%lw_s, %%lw_t; $lw_plain: ");
    ptx_put(x, "and.b64 %%lw_t, %%lw_s, 0x7ffffe0000000000; setp.eq.s64 %%lw_p, %%lw_t, 0; "
               "setp.eq.and.s32 %%lw_p, %%lw_m, %%lw_c, %%lw_p; cvt.u64.u32 %%lw_t, %%lw_m; or.b64 %%lw_s, %%lw_s, %%lw_t; ");
    if (drops)
        ptx_put(x, "sub.s64 %%lw_next, %%lw_next, %%lw_n; ");
    ptx_put(x, "xor.b64 %%lw_next, %%lw_next, 0x8000000000000000; @%%lw_p red.release.cta%s.add.u64 " PTX_NAME_FMT
               ", %%lw_next; ", space, PTX_NAME_ARG(object->all));
}

static void put_init(struct ptx_expansion *x, const char *space)
{
    ptx_expand_operands(x, 2, 2);
    ptx_put(x, ".reg .b32 %%lw_c; .reg .b64 %%lw_n, %%lw_t; mov.b32 %%lw_c, " PTX_NAME_FMT "; cvt.u64.u32 %%lw_n, %%lw_c; "
               "shl.b64 %%lw_t, %%lw_n, 21; or.b64 %%lw_t, %%lw_t, %%lw_n; st%s.b64 " PTX_NAME_FMT ", %%lw_t; ",
            PTX_NAME_ARG(ptx_expand_vector(x, 1, 1)->first), space, PTX_NAME_ARG(ptx_expand_address(x, 0)->all));
}

static void put_arrive(struct ptx_expansion *x, const char *space, bool drops)
{
    const bool bytes = ptx_expand_take(x, "expect_tx");
    struct ptx_name state, count = { "", 0 };

    (void)ptx_expand_take(x, "noComplete"); /* the program promises that the arrival does not complete the phase */
    ptx_expand_operands(x, bytes ? 3 : 2, 3);
    state = ptx_expand_vector(x, 0, 1)->first;
    if (x->operand_count > 2)
        count = ptx_expand_vector(x, 2, 1)->first;
    if (bytes && drops)
        ptx_expand_fail(x, LW_EUNSUPP, "'.arrive_drop.expect_tx' is not supported");
    if (bytes)
        put_bytes(x, space, ptx_expand_address(x, 1), count, false, true);
    else
        put_arrivals(x, space, ptx_expand_address(x, 1), count, drops);
    if (!ptx_name_is(state, "_"))
        ptx_put(x, "mov.b64 " PTX_NAME_FMT ", %%lw_s; ", PTX_NAME_ARG(state));
}

/* A wait that may suspend its thread (try_wait) does not: its program repeats it in a loop. */
static void put_test(struct ptx_expansion *x, const char *space, bool may_suspend)
{
    const bool parity = ptx_expand_take(x, "parity");
    struct ptx_name done;

    ptx_expand_operands(x, 3, may_suspend ? 4 : 3);
    done = ptx_expand_vector(x, 0, 1)->first;
    ptx_put(x, ".reg .b64 %%lw_s, %%lw_t; .reg .b32 %%lw_c; .reg .pred %%lw_p; ld.acquire.cta%s.b64 %%lw_s, " PTX_NAME_FMT "; ",
            space, PTX_NAME_ARG(ptx_expand_address(x, 1)->all));
    if (parity)
        ptx_put(x, "mov.b32 %%lw_c, " PTX_NAME_FMT "; cvt.u64.u32 %%lw_t, %%lw_c; shl.b64 %%lw_t, %%lw_t, 63; ",
                PTX_NAME_ARG(ptx_expand_vector(x, 2, 1)->first));
    else
        ptx_put(x, "mov.b64 %%lw_t, " PTX_NAME_FMT "; ", PTX_NAME_ARG(ptx_expand_vector(x, 2, 1)->first));
    ptx_put(x, "xor.b64 %%lw_t, %%lw_t, %%lw_s; setp.lt.s64 %%lw_p, %%lw_t, 0; mov.pred " PTX_NAME_FMT ", %%lw_p; ",
            PTX_NAME_ARG(done));
}

static void put_pending_count(struct ptx_expansion *x)
{
    ptx_expand_operands(x, 2, 2);
    ptx_put(x, ".reg .b64 %%lw_t; .reg .b32 %%lw_c; and.b64 %%lw_t, " PTX_NAME_FMT ", 0xfffff; cvt.u32.u64 %%lw_c, %%lw_t; "
               "mov.b32 " PTX_NAME_FMT ", %%lw_c; ",
            PTX_NAME_ARG(ptx_expand_vector(x, 1, 1)->first), PTX_NAME_ARG(ptx_expand_vector(x, 0, 1)->first));
}

void ptx_expand_mbarrier(struct ptx_expansion *x)
{
    static const char *const operations[] = { "init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count",
                                              "expect_tx", "complete_tx", NULL };
    const int operation = ptx_expand_take_one(x, operations);
    const char *space = take_space(x);

    take_order(x);
    switch (operation) {
    case INIT: put_init(x, space); break;
    case INVAL:
        ptx_expand_operands(x, 1, 1);
        (void)ptx_expand_address(x, 0);
        x->is_empty = true;
        break;
    case ARRIVE: case ARRIVE_DROP: put_arrive(x, space, operation == ARRIVE_DROP); break;
    case TEST_WAIT: case TRY_WAIT: put_test(x, space, operation == TRY_WAIT); break;
    case PENDING_COUNT: put_pending_count(x); break;
    case EXPECT_TX: case COMPLETE_TX:
        ptx_expand_operands(x, 2, 2);
        put_bytes(x, space, ptx_expand_address(x, 0), ptx_expand_vector(x, 1, 1)->first, operation == COMPLETE_TX, false);
        break;
    default: ptx_expand_fail(x, LW_EINPUT, "expected an operation, such as '.init' or '.arrive'");
    }
    if (!ptx_expand_take(x, "b64"))
        ptx_expand_fail(x, LW_EINPUT, "expected .b64");
}

void ptx_expand_put_complete(struct ptx_expansion *x, const struct ptx_expand_operand *object, struct ptx_name bytes)
{
    put_bytes(x, ".shared", object, bytes, true, false);
}

/** Expands cp.async.mbarrier.arrive. The copies of the thread are complete, so the instruction is an arrival. Without .noinc
 *  it also adds the arrival to those of the phase, so that nothing changes. */
void ptx_expand_copy_arrive(struct ptx_expansion *x)
{
    const char *space = take_space(x);

    if (!ptx_expand_take(x, "async") || !ptx_expand_take(x, "mbarrier") || !ptx_expand_take(x, "arrive") ||
        !ptx_expand_take(x, "b64"))
        ptx_expand_fail(x, LW_EINPUT, "expected cp.async.mbarrier.arrive.b64");
    ptx_expand_operands(x, 1, 1);
    if (ptx_expand_take(x, "noinc"))
        put_arrivals(x, space, ptx_expand_address(x, 0), (struct ptx_name){ "", 0 }, false);
    else
        x->is_empty = ptx_expand_address(x, 0) != NULL;
}
