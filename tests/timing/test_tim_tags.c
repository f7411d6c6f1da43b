/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests uniform and affine registers in the timing model: how long instructions occupy pipes, ports and banks, expansions of
 * registers to rows, and the tags of the book's saxpy (3.5, 2.5). Expected figures are computed by hand from the section
 * Tagged registers of docs/reference/timing-core.md.
 */
#include "tests/timing/tim_run.h"
#include "timing/energy/tim_energy_priv.h"

/** Create the machine of run_new(), but with tags that are detected by the exact rules. */
static struct run *tags_new(void)
{
    struct run *r = run_new();

    r->config->tags_detect = TIM_DETECT_TABLE + EMU_TAG_RULES_EXACT;
    return r;
}

static uint64_t count_of(const struct run *r, unsigned counter)
{
    struct tim_totals totals;

    tim_engine_totals(run_engine(r), &totals);
    return totals.core[0].count[counter];
}

/** Run @text in one warp. Check the issue cycles of instructions @from to @to - 1, relative to the first of them. */
static void issues_are(struct run *r, const char *text, unsigned from, unsigned to, const char *expected)
{
    char kernel[2048], trace[1024];

    snprintf(kernel, sizeof kernel, ".kernel k\n.param ptr.global out\n%s\nexit\n.end\n", text);
    run_text(r, kernel, 1, r->config->core_warp_width);
    assert_string_equal(run_trace(r, from, to, trace, sizeof trace), expected);
}

/* ---- pipes of 8 lanes: an instruction of all 32 lanes occupies its pipe for 4 cycles ----------------- */

enum { DRAW_OFF, DRAW_LANE, DRAW_PIPE };

/** Check the issue cycles of four independent additions with the sources @operands, and of an instruction that depends on the
 *  fourth. An addition that issues in cycle i may enter the pipe from cycle i + 2 on. The dependent instruction issues in the
 *  cycle after the fourth addition has entered the pipe. */
static void pipes_are(const char *setup, const char *operands[4], unsigned scalar, bool unit, const char *expected)
{
    struct run *r = tags_new();
    char text[1024];

    r->config->unit[ISA_UNIT_INT].lanes = 8;
    r->config->tags_scalar = scalar;
    r->config->tags_affine = unit;
    snprintf(text, sizeof text, "v_s2r v20, %%laneid\nv_and_b32 v22, v20, 5\n%s\nv_add_u32 v1, %s\nv_add_u32 v2, %s\n"
             "v_add_u32 v3, %s\nv_add_u32 v4, %s\nv_mov_b32 v5, v4", setup, operands[0], operands[1], operands[2],
             operands[3]);
    issues_are(r, text, 3, 8, expected);
    run_free(r);
}
static const char *const last = "v_mov_b32 v21, v22"; /* the setup instruction, at whose issue v20 and v22 are ready */

static void a_lane_executes_uniform_instructions(void **state)
{
    const char *uniform[4] = {"v10, v11", "v10, v11", "v10, v11", "v10, v11"};

    (void)state;
    /* Cycles count from the issue of the first addition. The instruction that writes v22 occupies the pipe until cycle 2, and the
     * instruction that writes v21 occupies it from then until cycle 6. */
    pipes_are(last, uniform, TIM_SCALAR_OFF, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@19");
    pipes_are(last, uniform, TIM_SCALAR_LANE, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@10");
    pipes_are(last, uniform, TIM_SCALAR_PIPE, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@6");
}

static void the_scalar_unit_executes_base_and_stride(void **state)
{
    const char *affine[4] = {"v20, v11", "v20, v11", "v20, v11", "v20, v20"};

    (void)state;
    pipes_are(last, affine, TIM_SCALAR_PIPE, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@19");
    pipes_are(last, affine, TIM_SCALAR_OFF, true, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@9");
}

static void generic_operands_take_all_lanes(void **state)
{
    const char *generic[4] = {"v22, v11", "v22, v20", "v22, v22", "v22, v11"};

    (void)state;
    pipes_are(last, generic, TIM_SCALAR_PIPE, true, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@19");
}

/* Two additions with uniform sources alternate with two whose sources are neither uniform nor affine. With TIM_SCALAR_LANE the
 * four enter the pipe in cycles 6, 7, 11 and 12. With TIM_SCALAR_PIPE the uniform ones enter the scalar pipe in cycles 2 and
 * 4, and the others their pipe in 6 and 10. */
static void uniform_and_generic_instructions_pair(void **state)
{
    const char *both[4] = {"v10, v11", "v22, v11", "v10, v11", "v22, v11"};

    (void)state;
    pipes_are(last, both, TIM_SCALAR_OFF, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@19");
    pipes_are(last, both, TIM_SCALAR_LANE, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@13");
    pipes_are(last, both, TIM_SCALAR_PIPE, false, "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.4@11");
}

/* The book's T12.10: with a scalar pipe, a kernel whose registers are all uniform never uses the vector pipes. */
static void a_uniform_kernel_leaves_vector_pipes_free(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\nv_s2r v0, %ctaid.x\nv_mul_u32 v1, v0, 3\n"
                                    "v_add_f32 v2, v1, v0\nv_setp_u32.lt p0, v1, 4\nv_selp_b32 v3, v1, v2, p0\n"
                                    "v_rcp_f32 v4, v2\nexit\n.end\n";

    (void)state;
    for (unsigned pipe = 0; pipe < 2; pipe++) {
        struct run *r = tags_new();
        uint64_t vector = 0;

        r->config->tags_scalar = pipe ? TIM_SCALAR_PIPE : TIM_SCALAR_OFF;
        run_text(r, text, 1, 32);
        const struct tim_core *core = run_engine(r)->core[0];
        for (unsigned u = ISA_UNIT_INT; u <= ISA_UNIT_CVT; u++)
            vector |= core->pipe[u][0].free_at;
        assert_true((vector == 0) == (pipe == 1));
        assert_true((core->pipe[ISA_UNIT_SCALAR][0].free_at != 0) == (pipe == 1));
        assert_int_equal(count_of(r, TIM_CORE_scalar_executed), pipe ? 6 : 0);
        run_free(r);
    }
}

/* ---- which unit executes an instruction ------------------------------------------------------------------ */

/** Run @text and check the number of instructions that one lane executes (@scalar), and that the affine unit executes
 *  (@affine). */
static void executed_is(const char *text, unsigned scalar, unsigned affine)
{
    struct run *r = tags_new();
    char kernel[2048];

    r->config->tags_scalar = TIM_SCALAR_LANE;
    r->config->tags_affine = TIM_AFFINE_UNIT;
    snprintf(kernel, sizeof kernel, ".kernel k\n.param ptr.global out\n%s\nexit\n.end\n", text);
    run_text(r, kernel, 1, 32);
    if (count_of(r, TIM_CORE_scalar_executed) != scalar || count_of(r, TIM_CORE_affine_executed) != affine)
        fail_msg("%s: %u executed by a lane, %u by the affine unit", text, (unsigned)count_of(r, TIM_CORE_scalar_executed),
                 (unsigned)count_of(r, TIM_CORE_affine_executed));
    run_free(r);
}

static void what_lanes_decide_takes_all_lanes(void **state)
{
    (void)state;
    executed_is("v_s2r v0, %laneid", 0, 1);
    executed_is("v_s2r v0, %ctaid.x", 1, 0);
    executed_is("v_s2r v0, %clock", 0, 0);
    executed_is("v_rcp_f32 v1, v2", 1, 0); /* one lane executes special functions, too */
    executed_is("v_s2r v0, %laneid\nv_rcp_f32 v1, v0", 0, 1);
    executed_is("v_setp_u32.lt p0, v1, 4", 1, 0);
    executed_is("v_s2r v0, %laneid\nv_setp_u32.lt p0, v0, 4", 0, 2);
    /* the affine v1 wraps around as an unsigned number, but not as a signed number */
    executed_is("v_s2r v0, %laneid\nv_sub_u32 v1, v0, 4\nv_setp_u32.lt p0, v1, 4", 0, 2);
    executed_is("v_s2r v0, %laneid\nv_sub_u32 v1, v0, 4\nv_setp_s32.lt p0, v1, 4", 0, 3);
    /* the select depends on a predicate that differs between lanes */
    executed_is("v_s2r v0, %laneid\nv_setp_u32.lt p0, v0, 4\nv_selp_b32 v1, v2, 5, p0", 0, 2);
    /* the select depends on a predicate that is equal in all lanes */
    executed_is("v_setp_u32.lt p0, v0, 4\nv_selp_b32 v1, v2, 5, p0", 2, 0);
    executed_is("v_s2r v0, %laneid\nv_and_b32 v1, v0, 5", 0, 1);
    executed_is("shfl.idx v1, _, v2, 0, 31", 0, 0);
}

/* If only some lanes are active, one lane still executes an instruction with uniform sources. A register that only these lanes
 * write is not uniform. */
static void divergent_lanes_execute_uniform_sources_once(void **state)
{
    (void)state;
    executed_is("v_s2r v0, %laneid\nv_setp_u32.lt p0, v0, 4\n@p0 v_add_u32 v1, v2, 7\nv_add_u32 v4, v1, v1", 1, 2);
    executed_is("v_s2r v0, %laneid\nv_setp_u32.lt p0, v0, 4\n@p0 v_add_u32 v1, v0, v3", 0, 2);
}

/* ---- banks ------------------------------------------------------------------------------------------------- */

/** Create a core with 4 banks for one scheduler. Registers 4, 8 and 12 of warp 0 are all in bank 0. */
static struct run *banks_new(unsigned tags, unsigned compact, unsigned ports, unsigned parts)
{
    struct run *r = tags_new();

    r->config->registers_banks = 4;
    r->config->registers_tags = tags;
    r->config->registers_compact = compact;
    r->config->registers_compact_ports = ports;
    r->config->registers_parts = parts;
    return r;
}

/** Check the cycles from the issue of `v1 = a * b + c` with the sources @operands to the issue of an instruction that needs v1.
 *  Without conflicts, there are 3 such cycles. Check the number of reads of register rows and of compact entries, the number of
 *  waits for conflicts, and the number of conflicts that entries avoid. */
static void reads_are(struct run *r, const char *setup, const char *operands, unsigned cycles, unsigned rows,
                      unsigned entries, unsigned waits, unsigned avoided)
{
    char text[1024], expected[64];
    uint64_t setup_rows, setup_entries;

    snprintf(text, sizeof text, "v_s2r v20, %%laneid\n%s\nv_mad_u32 v1, %s\nv_mov_b32 v2, v1", setup, operands);
    snprintf(expected, sizeof expected, "w0.0@0 w0.1@%u", cycles);
    issues_are(r, text, 2, 4, expected);
    bool kept = r->config->registers_tags != TIM_REGISTERS_ROWS;
    setup_rows = r->config->registers_tags == TIM_REGISTERS_AFFINE ? 0 : 1; /* The second setup instruction reads v20
                                                                             * as a row unless affine registers are
                                                                             * entries. */
    setup_entries = 1 - setup_rows;
    /* v1 is uniform, so `v2 = v1` reads an entry unless all registers are rows */
    assert_int_equal(count_of(r, TIM_CORE_register_reads), rows + setup_rows + !kept);
    assert_int_equal(count_of(r, TIM_CORE_register_reads_compact), entries + setup_entries + kept);
    assert_int_equal(count_of(r, kept && entries != 0 ? TIM_CORE_compact_conflicts : TIM_CORE_bank_conflicts), waits);
    assert_int_equal(count_of(r, TIM_CORE_conflicts_avoided), avoided);
    run_free(r);
}

static void entries_are_in_no_bank(void **state)
{
    const char *wait = "v_mov_b32 v21, v20", *uniform = "v4, v8, v12";

    (void)state;
    reads_are(banks_new(TIM_REGISTERS_ROWS, TIM_COMPACT_FILE, 3, 8), wait, uniform, 5, 3, 0, 3, 0);
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_FILE, 3, 8), wait, uniform, 3, 0, 3, 0, 0);
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_FILE, 2, 8), wait, uniform, 4, 0, 3, 1, 0);
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_FILE, 1, 8), wait, uniform, 5, 0, 3, 3, 0);
}

/* In a bank with eight parts, the entries of registers 4, 8 and 12 are in parts 1, 2 and 3. With two parts they are in parts 1,
 * 0 and 1. */
static void entries_are_in_parts_of_a_bank(void **state)
{
    const char *wait = "v_mov_b32 v21, v20", *uniform = "v4, v8, v12";

    (void)state;
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_PART, 1, 8), wait, uniform, 3, 0, 3, 0, 2);
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_PART, 1, 2), wait, uniform, 4, 0, 3, 1, 1);
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_PART, 1, 1), wait, uniform, 5, 0, 3, 3, 0);
}

/* v20, which is affine, is also in bank 0. If affine registers are rows, the bank cannot read v20 and an entry in one cycle. */
static void an_affine_register_is_a_row_or_an_entry(void **state)
{
    const char *wait = "v_mov_b32 v21, v20", *mixed = "v20, v8, v12";

    (void)state;
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_FILE, 3, 8), wait, mixed, 3, 1, 2, 0, 2);
    reads_are(banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_PART, 3, 8), wait, mixed, 4, 1, 2, 2, 1);
    reads_are(banks_new(TIM_REGISTERS_AFFINE, TIM_COMPACT_FILE, 3, 8), wait, mixed, 3, 0, 3, 0, 0);
}

/* Reads of rows use the only port of a collector, one per cycle. Reads of entries do not use this port. */
static void entries_take_no_port_of_a_collector(void **state)
{
    struct run *r = banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_FILE, 3, 8);

    (void)state;
    r->config->registers_banks = 64;
    r->config->registers_ports = 1;
    reads_are(r, "v_mov_b32 v21, v20", "v4, v8, v12", 3, 0, 3, 0, 0);
    r = banks_new(TIM_REGISTERS_ROWS, TIM_COMPACT_FILE, 3, 8);
    r->config->registers_banks = 64;
    r->config->registers_ports = 1;
    reads_are(r, "v_mov_b32 v21, v20", "v4, v8, v12", 5, 3, 0, 3, 0);
}

/* If reads are reserved at issue, they take the same cycles as in the tests above. */
static void entries_are_reserved(void **state)
{
    const char *wait = "v_mov_b32 v21, v20", *uniform = "v4, v8, v12";
    struct run *r;

    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        r = k == 0   ? banks_new(TIM_REGISTERS_ROWS, TIM_COMPACT_FILE, 3, 8)
            : k == 1 ? banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_FILE, 2, 8)
            : k == 2 ? banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_PART, 1, 2)
                     : banks_new(TIM_REGISTERS_UNIFORM, TIM_COMPACT_PART, 1, 8);
        r->config->registers_collector = TIM_COLLECTOR_RESERVED;
        reads_are(r, wait, uniform, k == 0 ? 5 : k < 3 ? 4 : 3, k == 0 ? 3 : 0, k == 0 ? 0 : 3, k == 0 ? 3 : k < 3, 0);
    }
}

/* With a window of one cycle, and one bank with one port, reads of three rows take three cycles. The first instruction leaves
 * the pipeline stage Allocate two cycles after its issue, and reads in the following three cycles. The second instruction, one
 * cycle later, needs three cycles, of which two are reserved; so it waits for two cycles. */
static void entries_are_read_in_the_window(void **state)
{
    static const struct {
        unsigned tags, ports, holds;
    } cases[] = {{TIM_REGISTERS_ROWS, 3, 2}, {TIM_REGISTERS_UNIFORM, 3, 0}, {TIM_REGISTERS_UNIFORM, 1, 2}};

    (void)state;
    for (unsigned k = 0; k < LW_COUNT_OF(cases); k++) {
        struct run *r = banks_new(cases[k].tags, TIM_COMPACT_FILE, cases[k].ports, 8);

        r->config->registers_banks = r->config->registers_ports = r->config->registers_window = 1;
        r->config->registers_collector = TIM_COLLECTOR_WINDOW;
        run_text(r, ".kernel k\n.param ptr.global out\nv_mad_u32 v1, v4, v8, v12\nv_mad_u32 v2, v4, v8, v12\nexit\n.end\n",
                 1, 32);
        bool entries = cases[k].tags != TIM_REGISTERS_ROWS;
        assert_int_equal(count_of(r, TIM_CORE_allocate_holds), cases[k].holds);
        assert_int_equal(count_of(r, TIM_CORE_register_reads), entries ? 0 : 6);
        assert_int_equal(count_of(r, TIM_CORE_register_reads_compact), entries ? 6 : 0);
        assert_int_equal(count_of(r, TIM_CORE_register_writes), entries ? 0 : 2);
        assert_int_equal(count_of(r, TIM_CORE_register_writes_compact), entries ? 2 : 0);
        run_free(r);
    }
}

/* ---- expansion ----------------------------------------------------------------------------------------------- */

/* An instruction writes lanes 0 to 15 of v1, which is uniform. The row of v1 is first written with the value of the entry, and
 * then with the values of these lanes. */
static void an_expansion_writes_the_row_twice(void **state)
{
    static const char *const text = "v_s2r v20, %laneid\nv_setp_u32.lt p0, v20, 16\nv_mov_b32 v21, v20\n"
                                    "@p0 v_mov_b32 v1, 5\nv_mov_b32 v2, v1\n@p0 v_mov_b32 v1, 6\nv_mov_b32 v3, v1";
    struct run *r = banks_new(TIM_REGISTERS_ROWS, TIM_COMPACT_FILE, 3, 8);

    (void)state;
    issues_are(r, text, 3, 7, "w0.0@0 w0.1@3 w0.2@4 w0.3@7");
    assert_int_equal(count_of(r, TIM_CORE_tag_expansions), 1);
    assert_int_equal(count_of(r, TIM_CORE_register_writes), 6);
    run_free(r);
    for (unsigned collector = TIM_COLLECTOR_TICKED; collector <= TIM_COLLECTOR_WINDOW; collector++) {
        r = banks_new(TIM_REGISTERS_AFFINE, TIM_COMPACT_FILE, 3, 8);
        r->config->registers_collector = collector;
        if (collector != TIM_COLLECTOR_WINDOW) /* the first write has made v1 a row, so the second write does not expand
                                                * v1 */
            issues_are(r, text, 3, 7, "w0.0@0 w0.1@4 w0.2@5 w0.3@8");
        else /* a bypass delivers the result, so its user does not wait for the write of the row */
            issues_are(r, text, 3, 7, "w0.0@0 w0.1@2 w0.2@3 w0.3@5");
        assert_int_equal(count_of(r, TIM_CORE_tag_expansions), 1);
        assert_int_equal(count_of(r, TIM_CORE_register_writes), 5);         /* v1 twice, v2, v1, v3 */
        assert_int_equal(count_of(r, TIM_CORE_register_writes_compact), 2); /* v20 and v21 */
        assert_int_equal(count_of(r, TIM_CORE_register_reads_compact), 3);  /* v20 twice, and v1 for its expansion */
        run_free(r);
    }
}

/* Section 12.8 of the book: two affine registers r1 = (0, 1) and r2 = (100, 4), two uniform ones r3 = 9 and r4 = 1, and half of
 * the lanes compute r1 = r1 + r4. Here the registers are v0 to v3. Lazy expansion expands one register, and eager expansion
 * all four. */
static void a_divergent_branch_expands_one_or_all(void **state)
{
    static const char *const text = "v_s2r v0, %laneid\nv_mov_b32 v2, 9\nv_mov_b32 v3, 1\nv_shl_b32 v1, v0, 2\n"
                                    "v_add_u32 v1, v1, 100\n"
                                    "v_setp_u32.ge p0, v0, 16\nbssy b0, join\n@p0 bra join, b0\n"
                                    "v_add_u32 v0, v0, v3\njoin:\nbsync b0\nv_mov_b32 v3, v0";
    for (unsigned eager = 0; eager < 2; eager++) {
        struct run *r = banks_new(TIM_REGISTERS_AFFINE, TIM_COMPACT_FILE, 3, 8);

        r->config->tags_expansion = eager;
        /* The lanes that jump reach the join first: in cycle 2 if expansion is lazy, in cycle 5 if it is eager, as four
         * registers are expanded before. Then instructions are fetched for the other lanes. */
        issues_are(r, text, 7, 10, eager ? "w0.0@0 w0.2@5 w0.1@7 w0.2@8" : "w0.0@0 w0.2@2 w0.1@4 w0.2@5");
        assert_int_equal(count_of(r, TIM_CORE_tag_expansions), eager ? 4 : 1);
        assert_int_equal(run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_EXPANSION], eager ? 3 : 0); /* one more: fetch */
        assert_int_equal(count_of(r, TIM_CORE_register_writes), eager ? 4 + 2 : 2 + 1);
        run_free(r);
    }
    (void)state;
}

/* ---- energy ----------------------------------------------------------------------------------------------------- */

/* Section 21 of the book: if one lane executes a uniform integer addition, it costs 0.1 pJ and three accesses of 5 pJ. If all
 * lanes execute it, it costs 32 times as much. */
static void a_uniform_addition_costs_a_lane(void **state)
{
    (void)state;
    for (unsigned scalar = 0; scalar < 2; scalar++) {
        struct run *r = banks_new(scalar ? TIM_REGISTERS_UNIFORM : TIM_REGISTERS_ROWS, TIM_COMPACT_FILE, 3, 8);
        struct tim_totals totals;
        struct tim_energy energy;
        struct tim_sums sums;

        r->config->tags_scalar = scalar ? TIM_SCALAR_LANE : TIM_SCALAR_OFF;
        r->config->energy_scale = 100;
        run_text(r, ".kernel k\n.param ptr.global out\nv_add_u32 v1, v2, v3\nexit\n.end\n", 1, 32);
        tim_engine_totals(run_engine(r), &totals);
        tim_sums_take(&totals, &sums);
        tim_energy_of(&sums, r->config, &energy);
        const double lanes = scalar ? 1 : 32;
        assert_int_equal((long)(energy.component[TIM_COMPONENT_UNITS] * 1e15 + 0.5), (long)(lanes * 100));
        assert_int_equal((long)(energy.component[TIM_COMPONENT_REGISTER] * 1e15 + 0.5), (long)(lanes * 15000));
        run_free(r);
    }
}

/* ---- the book's saxpy ------------------------------------------------------------------------------------------ */

/* With n = 550, 18 of 24 warps have elements, and the last of these 18 has 6. Array x begins at `out`, and y begins 1,024
 * bytes after it. The values of the arrays do not matter. */
static const char *const saxpy = ".kernel saxpy\n.param ptr.global out\n"
                                 "v_s2r v0, %ctaid.x\n"
                                 "v_s2r v2, %tid.x\n"
                                 "v_mad_u32 v2, v0, 256, v2\n"
                                 "v_setp_u32.ge p0, v2, 550\n"
                                 "@p0 exit\n"
                                 "v_mov_b64 v4:5, c[out]\n"
                                 "v_lea_u32 v6:7, v2, 2, v4:5\n"
                                 "ld.global.b32 v8, [v6:7]\n"
                                 "ld.global.b32 v9, [v6:7+1024]\n"
                                 "v_fma_f32 v9, v8, 2.5, v9\n"
                                 "st.global.b32 [v6:7+1024], v9\n"
                                 "exit\n.end\n";

static void saxpy_has_the_tags_of_the_book(void **state)
{
    static const struct {
        unsigned counter, count;
    } expected[] = {
        {TIM_CORE_tag_instructions_uniform, 24 * 2 + 18},
        {TIM_CORE_tag_instructions_affine, 24 * 2 + 18 * 3},
        {TIM_CORE_tag_instructions_vector, 18 * 2},
        {TIM_CORE_tag_reads_uniform, 24 + 18 * 5}, /* v0 once; v4, v5, and v7 three times */
        {TIM_CORE_tag_reads_affine, 24 * 2 + 18 * 4},
        {TIM_CORE_tag_reads_vector, 18 * 3},
        {TIM_CORE_tag_writes_uniform, 24 + 18 * 3},
        {TIM_CORE_tag_writes_affine, 24 * 2 + 18},
        {TIM_CORE_tag_writes_vector, 18 * 3},
        {TIM_CORE_tag_addresses_uniform, 0},
        {TIM_CORE_tag_addresses_affine, 18 * 3},
        {TIM_CORE_tag_addresses_vector, 0},
        {TIM_CORE_tag_expansions, 0},
        {TIM_CORE_scalar_executed, 24 + 18},
        {TIM_CORE_affine_executed, 24 * 3 + 18},
        {TIM_CORE_addresses_once, 18 * 2}, /* two loads; the store has varying data */
        {TIM_CORE_lane_operations_saved, 24 * 31 + (17 * 31 + 5) + 24 * 3 * 30 + 3 * (17 * 30 + 4)},
        {TIM_CORE_register_reads_compact, 24 * 3 + 18 * 9},
        {TIM_CORE_register_reads, 18 * 3},
        {TIM_CORE_register_writes_compact, 24 * 3 + 18 * 4},
        {TIM_CORE_register_writes, 18 * 3},
    };
    static const unsigned rules[] = {EMU_TAG_RULES_TABLE, EMU_TAG_RULES_EXACT};

    (void)state;
    for (unsigned k = 0; k < LW_COUNT_OF(rules); k++) {
        struct run *r = banks_new(TIM_REGISTERS_AFFINE, TIM_COMPACT_FILE, 3, 8);

        r->config->tags_detect = TIM_DETECT_TABLE + rules[k];
        r->config->tags_scalar = TIM_SCALAR_LANE;
        r->config->tags_affine = TIM_AFFINE_UNIT;
        r->config->tags_address = TIM_ADDRESS_ONCE;
        run_text(r, saxpy, 3, 256);
        for (unsigned i = 0; i < LW_COUNT_OF(expected); i++)
            if (count_of(r, expected[i].counter) != expected[i].count)
                fail_msg("rules %u: %s is %u, by hand %u", rules[k], tim_core_counters[expected[i].counter].name,
                         (unsigned)count_of(r, expected[i].counter), expected[i].count);
        run_free(r);
    }
}

/* At first all 10 registers of a warp are uniform, so they are entries. The loads make rows of v8 and v9. */
static void rows_in_use_are_counted_by_cycle(void **state)
{
    struct run *r = banks_new(TIM_REGISTERS_AFFINE, TIM_COMPACT_FILE, 3, 8);
    const struct tim_histogram *rows, *saved;

    (void)state;
    run_text(r, saxpy, 1, 32);
    rows = &run_engine(r)->stats[0].histogram[TIM_CORE_H_register_rows];
    saved = &run_engine(r)->stats[0].histogram[TIM_CORE_H_register_rows_saved];
    assert_int_equal(rows->most, 2);
    assert_int_equal(saved->most, 10);
    assert_int_equal(tim_histogram_count(rows), 3); /* one sample for each number of registers that occupy a
                                                     * row: 0 at the start of the block, then 1 and 2 at the loads */
    /* both counters together count 10 registers in each cycle from the block's launch to its end */
    assert_int_equal(count_of(r, TIM_CORE_register_rows) + count_of(r, TIM_CORE_register_rows_saved),
                     10 * count_of(r, TIM_CORE_active_cycles));
    uint64_t first = run_cycle(r, ISA_LD_GLOBAL, 0, 0), second = run_cycle(r, ISA_LD_GLOBAL, 0, 1);
    /* number of cycles from the issue of the first load to the end of the run, including the cycle of the issue */
    uint64_t end = run_engine(r)->now - r->issue[7].cycle;
    assert_int_equal(count_of(r, TIM_CORE_register_rows),
                     2 * (end - 1) - (second - first) - 2 * (run_engine(r)->now - count_of(r, TIM_CORE_active_cycles) - 1));
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_executes_uniform_instructions),
        cmocka_unit_test(the_scalar_unit_executes_base_and_stride),
        cmocka_unit_test(generic_operands_take_all_lanes),
        cmocka_unit_test(uniform_and_generic_instructions_pair),
        cmocka_unit_test(a_uniform_kernel_leaves_vector_pipes_free),
        cmocka_unit_test(what_lanes_decide_takes_all_lanes),
        cmocka_unit_test(divergent_lanes_execute_uniform_sources_once),
        cmocka_unit_test(entries_are_in_no_bank),
        cmocka_unit_test(entries_are_in_parts_of_a_bank),
        cmocka_unit_test(an_affine_register_is_a_row_or_an_entry),
        cmocka_unit_test(entries_take_no_port_of_a_collector),
        cmocka_unit_test(entries_are_reserved),
        cmocka_unit_test(entries_are_read_in_the_window),
        cmocka_unit_test(an_expansion_writes_the_row_twice),
        cmocka_unit_test(a_divergent_branch_expands_one_or_all),
        cmocka_unit_test(a_uniform_addition_costs_a_lane),
        cmocka_unit_test(saxpy_has_the_tags_of_the_book),
        cmocka_unit_test(rows_in_use_are_counted_by_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
