/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates random kernels in which warps of a block leave native code in different ways.
 *
 * Registers: v0 number of the thread in its block; v1 4 * v0; v5 4 * the thread's number in the grid; v6 16 * this number; v10 to v17
 * data; v20 to v27 temporary; v30 to v35 counters of loops, and v36 to v41 their limits; v42:43 return address; v44:45 address of a
 * function. s2:3, s6:7, s8:9, s14:15 the addresses of `out`, `in`, `other`, `more`; s4 number of the block; s10 to s13 data; p0 and p1 temporary; p4,
 * p5 and sp0 data.
 */
#include <stdarg.h>

#include "tests/native/prop_grids_gen.h"

enum { DATA = 8, MOST_DEPTH = 3, LOCAL_WORDS = 6, SHARED_WORDS = 3 };
/* What a kernel has. Each kernel gets some of these. */
enum feature {
    EXITS, SPLITS, REGIONS, LOOPS, BARRIERS, COUNTED, BOTH_SIDES, CALLS, HANDLERS, REDUCTIONS, GENERIC, TWO_BUFFERS, WRAPS, INVALID,
    SHARED, LOCAL, SCALARS, ACROSS, LONG, TAIL, FEATURES
};

struct gen {
    struct grids_program *p;
    struct prop_random *r;
    unsigned has;         /* bit f: the kernel has feature f */
    unsigned labels, bars; /* numbers that are used */
    unsigned regions;     /* number of regions that are open */
    unsigned depth, loops; /* how deep the current statement is within branches and loops, and within loops */
    bool all;             /* all threads of the block that have not exited execute the current statement equally often */
    bool apart;           /* lanes of a warp may have diverged */
    bool exited;          /* threads may have exited */
    bool callee;          /* the statement is in a function */
};
static void statements(struct gen *g, unsigned count);

static unsigned below(struct gen *g, unsigned n)
{
    return prop_below(g->r, n);
}
static bool has(const struct gen *g, enum feature feature)
{
    return (g->has >> feature & 1) != 0;
}
static void put(struct gen *g, const char *format, ...) LW_PRINTF(2, 3);
static void put(struct gen *g, const char *format, ...)
{
    char line[200];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    lw_printf(&g->p->text.sink, "    %s\n", line);
}
static void put_label(struct gen *g, unsigned label)
{
    lw_printf(&g->p->text.sink, "L%u:\n", label);
}
static unsigned data(struct gen *g)
{
    return 10 + below(g, DATA);
}
/** Returns a guard, or no guard. */
static const char *guard(struct gen *g)
{
    static const char *const guards[] = {"@p4 ", "@!p4 ", "@p5 ", "@!p5 ", "@sp0 "};

    return below(g, 3) ? "" : guards[below(g, LW_COUNT_OF(guards))];
}
/** Returns an operand: a register or a number. */
static const char *operand(struct gen *g, char text[20])
{
    static const char *const numbers[] = {"0", "1", "3", "0xff", "-1", "0x80000000", "12345"};

    switch (below(g, 4)) {
    case 0: return numbers[below(g, LW_COUNT_OF(numbers))];
    case 1: snprintf(text, 20, "s%u", 10 + below(g, 4)); break;
    default: snprintf(text, 20, "v%u", data(g)); break;
    }
    return text;
}

/* ---- conditions --------------------------------------------------------------------------------- */

enum condition { OF_LANES, OF_THREADS, OF_WARPS, OF_BLOCKS, OF_SOME_BLOCKS, OF_DATA, CONDITIONS };

/** Sets predicate @p, in some threads. A condition OF_BLOCKS is equal in all threads of a block, and a condition OF_WARPS in all threads
 *  of a warp. */
static void put_condition(struct gen *g, const char *p, enum condition condition)
{
    static const char *const compares[] = {"eq", "ne", "lt", "ge"};
    const char *compare = compares[below(g, LW_COUNT_OF(compares))];
    const unsigned mask = 1 + below(g, 15), width = g->p->width, warps = (g->p->threads + width - 1) / width;

    switch (condition) {
    case OF_LANES:
        put(g, "v_and_b32 v20, v0, %u", mask);
        put(g, "v_setp_u32.%s %s, v20, %u", compare, p, below(g, 16) & mask);
        break;
    case OF_THREADS: put(g, "v_setp_u32.%s %s, v0, %u", below(g, 2) ? "lt" : "ge", p, below(g, g->p->threads)); break;
    case OF_WARPS: put(g, "v_setp_u32.%s %s, v0, %u", below(g, 2) ? "lt" : "ge", p, below(g, warps) * width); break;
    case OF_BLOCKS:
        put(g, "v_mov_b32 v20, s4");
        put(g, "v_and_b32 v20, v20, %u", mask & 3);
        put(g, "v_setp_u32.%s %s, v20, %u", compare, p, below(g, 4) & mask);
        break;
    case OF_SOME_BLOCKS:
        put(g, "v_mad_u32 v20, v0, %u, s4", 1 + below(g, 3));
        put(g, "v_and_b32 v20, v20, %u", 15 + 16 * below(g, 8));
        put(g, "v_setp_u32.%s %s, v20, %u", compare, p, below(g, 40));
        break;
    default:
        put(g, "v_and_b32 v20, v%u, %u", data(g), mask);
        put(g, "v_setp_u32.%s %s, v20, %u", compare, p, below(g, 16) & mask);
        break;
    }
}
static enum condition any_condition(struct gen *g)
{
    return (enum condition)below(g, CONDITIONS);
}
/** Returns true if all lanes of a warp have the same condition. */
static bool is_whole(enum condition condition)
{
    return condition == OF_WARPS || condition == OF_BLOCKS;
}

/* ---- statements without control flow ------------------------------------------------------------- */

static void put_arithmetic(struct gen *g)
{
    static const char *const names[] = {"v_add_u32", "v_sub_u32", "v_mul_u32", "v_and_b32", "v_or_b32", "v_xor_b32", "v_min_u32",
                                        "v_max_s32", "v_shr_u32", "v_shl_b32", "v_add_f32", "v_div_u32"};
    char text[20];
    const char *b = operand(g, text);

    switch (below(g, 12)) {
    case 0: put(g, "%sv_mad_u32 v%u, v%u, %s, v%u", guard(g), data(g), data(g), b, data(g)); break;
    case 1: put(g, "%sv_mov_b32 v%u, %s", guard(g), data(g), b); break;
    case 2: put(g, "v_selp_b32 v%u, v%u, %s, p%u", data(g), data(g), b, 4 + below(g, 2)); break;
    case 3: put_condition(g, below(g, 2) ? "p4" : "p5", any_condition(g)); break;
    case 4: put(g, "%sv_mad_u32 v%u, v0, %u, %s", guard(g), data(g), 4 * below(g, 3), b[0] == 'v' ? b : "v5"); break;
    default:
        put(g, "%s%s v%u, v%u, %s", guard(g), names[below(g, LW_COUNT_OF(names))], data(g), data(g), b);
        break;
    }
}

/** Returns the offset of one of the first words of the thread in `out` from s2:3 + v5. */
static uint32_t column(struct gen *g)
{
    return below(g, COLUMNS) * 4 * g->p->threads * g->p->blocks;
}
/** The same for a word from s2:3 + v6. */
static uint32_t row(struct gen *g, unsigned words)
{
    return COLUMNS * 4 * g->p->threads * g->p->blocks + below(g, ROW_WORDS / words) * words * 4;
}

/** Loads or stores a word of the thread. */
static void put_own(struct gen *g)
{
    switch (below(g, 8)) {
    case 0: case 1: case 2: put(g, "%sst.global.b32 [s2:3+v5+%u], v%u", guard(g), column(g), data(g)); break;
    case 3: put(g, "%sst.global.b32 [s2:3+v6+%u], v%u", guard(g), row(g, 1), data(g)); break;
    case 4: put(g, "%sst.global.b64 [s2:3+v6+%u], v%u:%u", guard(g), row(g, 2), 10, 11); break;
    case 5: put(g, "%sst.global.u8 [s2:3+v5+%u], v%u", guard(g), column(g) + below(g, 4), data(g)); break;
    case 6: put(g, "%sld.global.b32 v%u, [s2:3+v5+%u]", guard(g), data(g), column(g)); break;
    default: put(g, "%sld.global.b32 v%u, [s2:3+v6+%u]", guard(g), data(g), row(g, 1)); break;
    }
}

/** Loads a word of `in`. */
static void put_load(struct gen *g)
{
    switch (below(g, 4)) {
    case 0:
        put(g, "v_mov_b32 v24, %u", 4 * below(g, IN_WORDS));
        break;
    case 1:
        put(g, "v_add_u32 v24, v1, %u", 4 * below(g, IN_WORDS - g->p->threads));
        break;
    default:
        put(g, "v_and_b32 v24, v%u, 1020", data(g));
        break;
    }
    if (below(g, 4))
        put(g, "%sld.global.b32 v%u, [s6:7+v24]", guard(g), data(g));
    else
        put(g, "%sld.global.u8 v%u, [s6:7+v24+%u]", guard(g), data(g), below(g, 4));
}

/** Loads from `in` in some threads, and from `other` in the other threads; or accesses a word of the thread in `out` or in `more`. */
static void put_two_buffers(struct gen *g)
{
    const unsigned way = below(g, 4);

    put_condition(g, "p0", any_condition(g));
    if (way < 2)
        put(g, "v_and_b32 v22, v%u, %u", data(g), 4 * (OTHER_WORDS - 1));
    else
        put(g, "v_mov_b32 v22, v5");
    put(g, "v_mov_b32 v23, 0");
    put(g, "v_mov_b64 v24:25, %s", way < 2 ? "s6:7" : "s2:3");
    put(g, "@p0 v_mov_b64 v24:25, %s", way < 2 ? "s8:9" : "s14:15");
    put(g, "v_add_u64 v24:25, v24:25, v22:23");
    if (way < 3)
        put(g, "%sld.global.b32 v%u, [v24:25]", guard(g), data(g));
    else
        put(g, "%sst.global.b32 [v24:25], v%u", guard(g), data(g));
}

/** Accesses memory at a valid address. The 32-bit register of the address wraps in some threads. */
static void put_wrap(struct gen *g)
{
    const unsigned less = 4 * below(g, 3 * g->p->threads);

    if (below(g, 3) == 0 && has(g, SHARED)) {
        put(g, "v_sub_u32 v24, v1, %u", less);
        put(g, "%sst.shared.b32 [v24+%u], v%u", guard(g), less + 4 * g->p->threads, data(g));
        return;
    }
    put(g, "v_sub_u32 v24, v5, %u", less);
    if (below(g, 2))
        put(g, "%sst.global.b32 [s2:3+v24.s+%u], v%u", guard(g), less + column(g), data(g));
    else
        put(g, "%sld.global.b32 v%u, [s2:3+v24.s+%u]", guard(g), data(g), less + column(g));
}

/** Accesses memory at addresses of which some may be invalid. */
static void put_invalid(struct gen *g)
{
    static const char *const wrong[] = {"0x7ffffffc", "0x7ffffffd", "-4", "0x40000000"};
    const char *address = wrong[below(g, LW_COUNT_OF(wrong))];

    g->p->invalid = true;
    if (below(g, 4) == 0) { /* the end of `in` */
        put(g, "v_mul_u32 v24, v0, %u", 4 * (1 + below(g, 20)));
        put(g, "%sld.global.b32 v%u, [s6:7+v24+%u]", guard(g), data(g), 4 * (IN_WORDS - below(g, IN_WORDS / 2)));
        return;
    }
    put_condition(g, "p0", any_condition(g));
    switch (below(g, 6)) {
    case 0:
        put(g, "v_mov_b32 v24, v1");
        put(g, "@p0 v_mov_b32 v24, 0x4000000%u", below(g, 2));
        put(g, "%sst.shared.b32 [v24+%u], v%u", guard(g), 4 * g->p->threads, data(g));
        break;
    case 1:
        put(g, "v_mov_b32 v24, %u", 4 * below(g, LOCAL_WORDS));
        put(g, "@p0 v_mov_b32 v24, %s", address);
        put(g, "ld.local.b32 v%u, [v24]", data(g));
        break;
    case 2:
        put(g, "v_add_u32 v24, v5, %u", below(g, 4));
        put(g, "@p0 ld.global.b32 v%u, [s2:3+v24+%u]", data(g), column(g));
        break;
    case 3:
        put(g, "@p0 st.global.b32 [s6:7+v5], v%u", data(g)); /* `in` is read-only */
        break;
    case 4:
        put(g, "v_mov_b32 v24, v5");
        put(g, "@p0 v_mov_b32 v24, %s", address);
        put(g, "%sld.global.b32 v%u, [s2:3+v24+%u]", guard(g), data(g), column(g));
        break;
    default:
        put(g, "v_mov_b32 v24, v5");
        put(g, "@p0 v_mov_b32 v24, %s", address);
        put(g, "%sst.global.b32 [s2:3+v24+%u], v%u", guard(g), column(g), data(g));
        break;
    }
}

/** Accesses a word of the thread in shared memory. The first word is for put_barrier(). */
static void put_shared(struct gen *g)
{
    const unsigned at = 4 * g->p->threads * (1 + below(g, SHARED_WORDS - 1));

    if (below(g, 2))
        put(g, "%sst.shared.b32 [v1+%u], v%u", guard(g), at, data(g));
    else
        put(g, "%sld.shared.b32 v%u, [v1+%u]", guard(g), data(g), at);
}

static void put_local(struct gen *g)
{
    if (below(g, 2)) {
        put(g, "v_mov_b32 v24, %u", 4 * below(g, LOCAL_WORDS));
    } else {
        put(g, "v_and_b32 v24, v%u, 12", data(g));
    }
    if (below(g, 2))
        put(g, "%sst.local.b32 [v24], v%u", guard(g), data(g));
    else
        put(g, "%sld.local.b32 v%u, [v24]", guard(g), data(g));
}

/** Puts an instruction that the interpreter's handler executes. */
static void put_handler(struct gen *g)
{
    static const char *const names[] = {"%nctaid.x", "%offset.x", "%lanemask_lt", "%total_smem", "%laneid", "%workdim", "%warpwidth",
                                        "%ntid.y", "%ctaid.y"};

    if (below(g, 12) == 0)
        put(g, "yield");
    else if (below(g, 3))
        put(g, "%sv_s2r v%u, %s", guard(g), data(g), names[below(g, LW_COUNT_OF(names))]);
    else
        put(g, "%sv_prmt_b32 v%u, v%u, v%u, v%u", guard(g), data(g), data(g), data(g), data(g));
}

/** Accesses a word of the thread by a generic address. */
static void put_generic(struct gen *g)
{
    put(g, "v_mov_b32 v22, v5");
    put(g, "v_mov_b32 v23, 0");
    put(g, "v_add_u64 v24:25, v22:23, s2:3");
    if (below(g, 2))
        put(g, "%sst.generic.b32 [v24:25+%u], v%u", guard(g), column(g), data(g));
    else
        put(g, "%sld.generic.b32 v%u, [v24:25+%u]", guard(g), data(g), column(g));
}

static void put_reduction(struct gen *g)
{
    if (has(g, SHARED) && below(g, 2))
        put(g, "%sred.shared.add.u32 [v1+%u], v%u", guard(g), 4 * g->p->threads, data(g));
    else
        put(g, "%sred.global.add.u32 [s2:3+v5+%u], v%u", guard(g), column(g), data(g));
}

static void put_scalar(struct gen *g)
{
    static const char *const names[] = {"s_add_u32", "s_mul_u32", "s_xor_b32", "s_and_b32"};
    const char *name = names[below(g, LW_COUNT_OF(names))];

    if (below(g, 4) == 0)
        put(g, "s_setp_u32.%s sp0, s%u, %u", below(g, 2) ? "lt" : "ne", below(g, 2) ? 4 : 10 + below(g, 4), below(g, 8));
    else if (below(g, 2))
        put(g, "%s s%u, s%u, %u", name, 10 + below(g, 4), 10 + below(g, 4), 1 + below(g, 9));
    else
        put(g, "%s s%u, s4, s%u", name, 10 + below(g, 4), 10 + below(g, 4));
}

/** Puts an instruction that reads other lanes of the warp. */
static void put_across(struct gen *g)
{
    static const char *const names[] = {"shfl.bfly", "shfl.up", "shfl.down"};

    if (below(g, 3) == 0)
        put(g, "vote.ballot.b32 v%u, p%u", data(g), 4 + below(g, 2));
    else
        put(g, "%s v%u, v%u, %u, %s", names[below(g, 3)], data(g), data(g), 1 + below(g, 3), below(g, 2) ? "31" : "7");
}

/* ---- barriers of a block -------------------------------------------------------------------------- */

/** All threads that have not exited meet. They may read a word of another thread. */
static void put_barrier(struct gen *g)
{
    const unsigned by = 1 + below(g, g->p->threads);

    switch (has(g, SHARED) ? below(g, 9) : below(g, 5)) {
    case 0: put(g, "bar.red.popc v%u, 0, p%u", data(g), 4 + below(g, 2)); break;
    case 1:
        put(g, "v_mov_b32 v26, 0");
        put(g, "bar.sync v26");
        break;
    case 2: case 3: case 4: put(g, "bar.sync 0"); break;
    default:
        put(g, "v_add_u32 v24, v0, %u", by);
        put(g, "v_setp_u32.ge p0, v24, %u", g->p->threads);
        put(g, "@p0 v_sub_u32 v24, v24, %u", g->p->threads);
        put(g, "v_shl_b32 v24, v24, 2");
        put(g, "%sst.shared.b32 [v1], v%u", guard(g), data(g));
        put(g, "bar.sync 0");
        put(g, "%sld.shared.b32 v%u, [v24]", guard(g), data(g));
        put(g, "bar.sync 0");
        break;
    }
}

/** The first threads of the block meet, or the last ones wait for the arrival of the first ones. No thread has exited. */
static void put_counted(struct gen *g)
{
    const unsigned first = 32 * (1 + below(g, g->p->threads / 32)), id = ++g->bars, other = ++g->labels;
    const bool arrives = g->loops == 0 && g->p->threads % 32 == 0 && below(g, 3) == 0;

    put(g, "v_mov_b32 v26, %u", arrives ? g->p->threads : first);
    put(g, "v_setp_u32.ge p0, v0, %u", first);
    put(g, "@p0 bra L%u", other);
    put(g, "bar.%s %u, v26", arrives ? "arrive" : "sync", id);
    if (arrives) {
        put(g, "bra L%u", ++g->labels);
        put_label(g, other);
        put(g, "bar.sync %u, v26", id);
        put_label(g, other + 1);
    } else {
        put_label(g, other);
    }
    g->apart = g->apart || first % g->p->width != 0;
}

/* ---- control flow -------------------------------------------------------------------------------- */

/** Puts a few statements that only some threads execute. */
static void put_side(struct gen *g)
{
    const bool all = g->all;

    g->all = false;
    g->depth++;
    statements(g, below(g, 4));
    g->depth--;
    g->all = all;
}

static void put_exit(struct gen *g)
{
    enum condition condition = any_condition(g);
    const unsigned way = below(g, 8);

    g->exited = true;
    if (g->depth != 0 && way == 0) {
        put(g, "exit");
    } else if (way == 1) {
        put(g, "%sexit", "@sp0 ");
    } else {
        if (below(g, 3) == 0)
            condition = below(g, 3) ? OF_WARPS : OF_BLOCKS;
        put_condition(g, "p1", condition);
        put(g, "@%sp1 exit", below(g, 4) ? "" : "!");
    }
    if (g->all && has(g, BARRIERS) && below(g, 4)) { /* a barrier for the lanes and warps that remain */
        put(g, "v_mov_b32 v%u, %u", data(g), below(g, 1000));
        put_arithmetic(g);
        put_barrier(g);
    }
}

/** Puts a branch without a region. */
static void put_split(struct gen *g)
{
    const enum condition condition = any_condition(g);
    const unsigned other = ++g->labels;

    put_condition(g, "p0", condition);
    put(g, "@%sp0 bra L%u", below(g, 2) ? "" : "!", other);
    g->apart = g->apart || !is_whole(condition);
    put_side(g);
    if (below(g, 2)) {
        const unsigned end = ++g->labels;
        put(g, "bra L%u", end);
        put_label(g, other);
        put_side(g);
        put_label(g, end);
    } else {
        put_label(g, other);
    }
}

/** Puts a branch in a region. Some lanes may leave the region without its bsync. */
static void put_region(struct gen *g)
{
    const unsigned other = ++g->labels, end = ++g->labels, after = ++g->labels, reg = g->regions++;
    const bool leaves = below(g, 6) == 0, apart = g->apart || leaves;

    put(g, "bssy b%u, L%u", reg, end);
    put_condition(g, "p0", any_condition(g));
    put(g, "@p0 bra L%u, b%u", below(g, 2) ? other : end, reg);
    put_side(g);
    put(g, "bra L%u", end);
    put_label(g, other);
    put_side(g);
    if (leaves)
        put(g, "bbreak b%u", reg);
    put(g, "bra L%u", leaves ? after : end);
    put_label(g, end);
    put(g, "bsync b%u", reg);
    put_label(g, after);
    g->regions--;
    g->apart = apart;
}

static void put_loop(struct gen *g)
{
    const unsigned head = ++g->labels, end = ++g->labels, reg = g->regions, limit = 36 + g->depth, counter = 30 + g->depth;
    const bool all = g->all, apart = g->apart, region = below(g, 3) == 0, breaks = below(g, 4) == 0;
    const unsigned kind = below(g, 5);
    const bool is_long = has(g, LONG) && g->depth == 0 && below(g, 3) == 0;

    if (kind == 0) { /* each lane has a limit of its own */
        put(g, "v_and_b32 v%u, v%u, 3", limit, below(g, 2) ? 0 : data(g));
    } else if (kind == 1) { /* each warp has a limit of its own */
        put(g, "v_div_u32 v%u, v0, %u", limit, g->p->width);
        put(g, "v_and_b32 v%u, v%u, 3", limit, limit);
    } else if (kind == 2) {
        put(g, "v_mov_b32 v%u, s4", limit);
        put(g, "v_and_b32 v%u, v%u, 3", limit, limit);
    } else {
        put(g, "v_mov_b32 v%u, %u", limit, below(g, 6));
    }
    if (is_long)
        put(g, "v_mul_u32 v%u, v%u, 600", limit, limit);
    put(g, "v_mov_b32 v%u, 0", counter);
    if (region) {
        put(g, "bssy b%u, L%u", reg, end);
        g->regions++;
    }
    put_label(g, head);
    g->all = all && kind >= 2 && !region && !breaks;
    g->apart = g->apart || kind == 0 || breaks;
    g->depth++;
    g->loops++;
    if (is_long) {
        put_arithmetic(g);
        put_arithmetic(g);
    } else {
        statements(g, 1 + below(g, 4));
    }
    if (breaks) {
        put_condition(g, "p0", any_condition(g));
        put(g, "@p0 bra L%u", end);
        statements(g, below(g, 3));
    }
    g->loops--;
    g->depth--;
    g->all = all;
    put(g, "v_add_u32 v%u, v%u, 1", counter, counter);
    put(g, "v_setp_u32.lt p0, v%u, v%u", counter, limit);
    put(g, "@p0 bra L%u", head);
    if (region)
        put(g, "bra L%u", end);
    put_label(g, end);
    if (region) {
        put(g, "bsync b%u", reg);
        g->regions--;
        g->apart = apart;
    }
}

/** Some threads meet the others at another instruction. */
static void put_both_sides(struct gen *g)
{
    const enum condition condition = any_condition(g);
    const unsigned other = ++g->labels, end = ++g->labels;

    put_condition(g, "p0", condition);
    put(g, "@p0 bra L%u", other);
    g->apart = g->apart || !is_whole(condition);
    put_side(g);
    put(g, "bar.sync 0");
    put_side(g);
    put(g, "bra L%u", end);
    put_label(g, other);
    put_side(g);
    if (below(g, 5) == 0) {
        put(g, "exit");
        g->exited = true;
    } else {
        put(g, "bar.sync 0");
        put_side(g);
    }
    put_label(g, end);
}

static void put_call(struct gen *g)
{
    const unsigned way = below(g, 3);

    g->apart = true;
    if (way == 0) {
        put(g, "%scall v42:43, f%u", guard(g), below(g, 2));
        return;
    }
    put(g, "v_mov_b32 v44, lo(f0)");
    put(g, "v_mov_b32 v45, hi(f0)");
    if (way == 1) {
        put(g, "@p4 v_mov_b32 v44, lo(f1)");
        put(g, "@p4 v_mov_b32 v45, hi(f1)");
    }
    put(g, "%scallx v42:43, v44:45", guard(g));
}

/** Returns one of the features that the kernel has. */
static enum feature any_feature(struct gen *g)
{
    enum feature feature;

    do
        feature = (enum feature)below(g, FEATURES);
    while (!has(g, feature));
    return feature;
}

/** Puts one statement of the kind @feature. Returns false if it is not permitted here. */
static bool put_feature(struct gen *g, enum feature feature)
{
    const bool deep = g->depth == MOST_DEPTH || g->callee;

    if ((deep && feature <= CALLS && feature != EXITS) || (g->callee && feature == EXITS))
        return false;
    switch (feature) {
    case EXITS: put_exit(g); return true;
    case SPLITS: put_split(g); return true;
    case REGIONS: put_region(g); return true;
    case LOOPS: put_loop(g); return true;
    case BARRIERS: return g->all && (put_barrier(g), true);
    case COUNTED:
        /* threads that have exited may cause a hang */
        return g->all && ((!g->exited && (g->loops == 0 || !has(g, EXITS))) || (!g->p->invalid && !has(g, INVALID) && below(g, 8) == 0)) &&
               g->p->threads >= 32 && g->bars < 14 && (put_counted(g), true);
    case BOTH_SIDES: return g->all && (put_both_sides(g), true);
    case CALLS: put_call(g); return true;
    case HANDLERS: put_handler(g); return true;
    case REDUCTIONS: put_reduction(g); return true;
    case GENERIC: put_generic(g); return true;
    case TWO_BUFFERS: put_two_buffers(g); return true;
    case WRAPS: put_wrap(g); return true;
    case INVALID: put_invalid(g); return true;
    case SHARED: put_shared(g); return true;
    case LOCAL: put_local(g); return true;
    case ACROSS: return g->p->width >= 32 && g->all && !g->apart && (put_across(g), true);
    case SCALARS: return g->all && !g->apart && (put_scalar(g), true);
    default: return false;
    }
}

static void statements(struct gen *g, unsigned count)
{
    while (count > 0) {
        const unsigned way = below(g, 10);
        if (way < 3)
            put_arithmetic(g);
        else if (way < 4)
            put_load(g);
        else if (way < 5)
            put_own(g);
        else if (!put_feature(g, any_feature(g)))
            continue;
        count--;
    }
}

static void choose_shape(struct grids_program *p, struct gen *g)
{
    static const unsigned widths[] = {8, 16, 32, 64, 32};
    static const unsigned shapes[][2] = {{64, 1}, {128, 1}, {16, 4}, {8, 8}, {96, 1}, {32, 1}, {16, 16}, {32, 3}, {256, 1}, {160, 1}, {8, 4}};
    const unsigned *shape = shapes[below(g, LW_COUNT_OF(shapes))];

    p->width = widths[below(g, LW_COUNT_OF(widths))];
    p->block[0] = shape[0];
    p->block[1] = shape[1];
    p->block[2] = shape[0] == 8 && below(g, 2) ? 2 : 1;
    if (below(g, 8) == 0)
        p->block[0] += below(g, 30); /* the last warp may have missing lanes */
    p->threads = p->block[0] * p->block[1] * p->block[2];
    if (p->threads < p->width) {
        p->block[0] *= 2;
        p->threads *= 2;
    }
    p->grid[0] = 1 + below(g, 12);
    p->grid[1] = below(g, 3) ? 1 : 2;
    p->grid[2] = 1;
    p->blocks = p->grid[0] * p->grid[1];
    p->more_bytes = 4 * p->threads * p->blocks;
    p->out_bytes = 4 * (COLUMNS + ROW_WORDS) * p->threads * p->blocks;
}

void grids_generate(struct grids_program *p, struct prop_random *r)
{
    struct gen g = {.p = p, .r = r, .all = true};

    choose_shape(p, &g);
    for (unsigned n = 2 + below(&g, 9); n > 0; n--)
        g.has |= 1u << below(&g, FEATURES);
    g.has |= below(&g, 4) ? 1u << EXITS : 0;
    g.has |= below(&g, 4) ? 0 : 1u << INVALID;
    g.has |= below(&g, 3) ? 0 : 1u << TAIL;
    g.has |= below(&g, 2) ? 0 : 1u << BARRIERS;
    lw_printf(&p->text.sink, ".kernel work\n.param ptr.global out\n.param ptr.global in\n.param ptr.global other\n.param ptr.global more\n");
    lw_printf(&p->text.sink, ".shared %u\n.local %u\n", 4 * SHARED_WORDS * p->threads, 4 * LOCAL_WORDS);
    put(&g, "v_s2r v0, %%tid.x");
    put(&g, "v_s2r v14, %%tid.y");
    put(&g, "v_mov_b32 v13, v0");
    if (p->block[1] != 1)
        put(&g, "v_mad_u32 v0, v14, %u, v0", p->block[0]);
    if (p->block[2] != 1) {
        put(&g, "v_s2r v16, %%tid.z");
        put(&g, "v_mad_u32 v0, v16, %u, v0", p->block[0] * p->block[1]);
    }
    put(&g, "s_s2r s4, %%ctaid.x");
    if (p->grid[1] != 1) {
        put(&g, "s_s2r s10, %%ctaid.y");
        put(&g, "s_mul_u32 s10, s10, %u", p->grid[0]);
        put(&g, "s_add_u32 s4, s4, s10");
    }
    put(&g, "s_mov_b64 s2:3, c[out]");
    put(&g, "s_mov_b64 s6:7, c[in]");
    put(&g, "s_mov_b64 s8:9, c[other]");
    put(&g, "s_mov_b64 s14:15, c[more]");
    put(&g, "v_shl_b32 v1, v0, 2");
    put(&g, "s_mul_u32 s11, s4, %u", p->threads);
    put(&g, "v_add_u32 v5, v0, s11");
    put(&g, "v_shl_b32 v6, v5, 4");
    put(&g, "v_shl_b32 v5, v5, 2");
    put(&g, "v_mov_b32 v10, v0");
    put(&g, "v_mov_b32 v15, v5");
    put(&g, "v_mov_b32 v11, s4");
    put(&g, "ld.global.b32 v12, [s6:7+v1]");
    for (unsigned n = below(&g, 4); n > 0; n--)
        put_scalar(&g);
    put_condition(&g, "p4", any_condition(&g));
    put_condition(&g, "p5", any_condition(&g));
    if (has(&g, EXITS) && below(&g, 2))
        put_exit(&g);
    statements(&g, 2 + below(&g, 11));
    const bool calls = has(&g, CALLS);
    if (has(&g, TAIL)) { /* code without branches and barriers after an exit */
        put_exit(&g);
        g.has &= ~(1u << SPLITS | 1u << REGIONS | 1u << LOOPS | 1u << BARRIERS | 1u << COUNTED | 1u << BOTH_SIDES | 1u << CALLS);
        statements(&g, 1 + below(&g, 8));
    }
    for (unsigned i = 0; i < COLUMNS; i++)
        if (below(&g, 2))
            put(&g, "st.global.b32 [s2:3+v5+%u], v%u", i * 4 * p->threads * p->blocks, 10 + i);
    put(&g, "exit");
    lw_printf(&p->text.sink, ".end\n");
    g.callee = true;
    g.all = false;
    for (unsigned f = 0; f < 2 && calls; f++) {
        lw_printf(&p->text.sink, ".func f%u\n", f);
        statements(&g, 1 + below(&g, 3));
        put(&g, "ret v42:43");
        lw_printf(&p->text.sink, ".end\n");
    }
}
