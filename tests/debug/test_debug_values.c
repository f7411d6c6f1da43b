/* SPDX-License-Identifier: Apache-2.0 */
/* Tests expressions, assignments, registers, debug address ranges, locations and commands of the debugger (debug/). */
#include "tests/debug/debug_fixture.h"

/* ---- expressions ------------------------------------------------------------------------ */

static struct fix *in_saxpy(void)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);

    (void)fix_break(f, 21, "v0 == 19"); /* block 1, warp 0, lane 3: all values are loaded */
    assert_int_equal(fix_continue(f).lane, 3);
    return f;
}

static void expressions_have_the_values_of_c(void **state)
{
    static const struct {
        const char *text, *value;
    } cases[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 / 2", "3"},
        {"-7 / 2", "-3"},
        {"-7 % 3", "-1"},
        {"7 - 10", "-3"},
        {"1 << 4 | 3", "19"},
        {"6 & 3 ^ 1", "3"},
        {"~0", "-1"},
        {"!5", "0"},
        {"!!5", "1"},
        {"1 < 2 && 2 < 1", "0"},
        {"1 < 2 || 1 / 0", "1"},
        {"0 && 1 / 0", "0"},
        {"3 > 2 ? 10 : 1 / 0", "10"},
        {"0 ? 1 : 0 ? 2 : 3", "3"},
        {"1 == 1.0", "1"},
        {"0.5 + 1", "1.5"},
        {"1e3", "1000"},
        {"2 - -2", "4"},
        {"0x10", "16"},
        {"0b101", "5"},
        {"4294967295", "4294967295"},
        {"4294967295 + 1", "0"},
        {"4294967296 + 1", "4294967297"},
        {"0xffffffffffffffff", "18446744073709551615"},
        {"-1 < 1", "1"},
        {"-1 < u32(1)", "0"},
        {"s32(4294967295)", "-1"},
        {"u8(0x1ff)", "255"},
        {"s8(0xff)", "-1"},
        {"s16(0x8000)", "-32768"},
        {"f32(1) / 3", "0.33333334"},
        {"f64(1) / 3", "0.3333333333333333"},
        {"u32(3.99)", "3"},
        {"s32(-3.99)", "-3"},
        {"u32(-1.0)", "4294967295"},
        {"1 << 40", "0"},
        {"u64(1) << 40", "1099511627776"},
        {"-8 >> 1", "-4"},
        {"-8 >> 100", "-1"},
        {"u32(8) >> 100", "0"},
        {"s64(0x8000000000000000) / -1", "-9223372036854775808"},
        {"s32(0x80000000) / -1", "-2147483648"},
        {"s32(0x80000000) % -1", "0"},
        {"1.5 > 1", "1"},
        {"0.0 / 0", "nan"},
        {"-1.0 / 0", "-inf"},
        /* Registers of lane 3 of block 1, warp 0, in which i is 19. */
        {"v0", "19"},
        {"$v0", "19"},
        {"v0[5]", "21"},
        {"v0[lane + 1]", "20"},
        {"v6.f32", "19"},
        {"v6.f32 * 2 + v7.f32", "38"},
        {"v6.s32", "1100480512"},
        {"v6.f32[4]", "20"},
        {"v6[4].f32", "20"},
        {"v2:3 - x", "76"},
        {"v2:3 == x + 4 * v0", "1"},
        {"p0", "0"},
        {"!p0", "1"},
        {"sp0", "0"},
        {"exec", "255"},
        {"active", "255"},
        {"live", "255"},
        {"lane", "3"},
        {"warp", "0"},
        {"block", "1"},
        {"grid", "1"},
        {"pc", "4294967504"},
        {"hit_lanes", "8"},
        {"fault_code", "0"},
        {"tid.x", "3"},
        {"tid_x", "3"},
        {"threadIdx.x", "3"},
        {"blockIdx.x * blockDim.x + threadIdx.x", "19"},
        {"ctaid.y", "0"},
        {"%ntid.x", "16"},
        {"gridDim.x", "2"},
        {"laneid", "3"},
        {"n", "32"},
        {"a.f32", "2"},
        {"x == in_buffer", "1"},
        {"saxpy", "4294967296"},
        {"f32[x + 4 * v0]", "19"},
        {"((float *)x)[2]", "2"},
        {"*((float *)x + 3)", "3"},
        {"*(float *)(x + 16)", "4"},
        {"&((float *)x)[4] - (float *)x", "4"},
        {"f32[(float *)x + 8]", "2"},
        {"(float *)x + 2 == x + 8", "1"},
        {"*&*(float *)(x + 8) == 2 ? 5 : 6", "5"},
        {"*(float **)&u64[x] == *(u64 *)x", "1"},
        {"(int)2.75 + (unsigned char)257", "3"},
        {"(u8)-1", "255"},
        {"(signed char)255", "-1"},
        {"-(float)3 / 2", "-1.5"},
        {"sizeof(double) + sizeof(char *) + sizeof(unsigned short int)", "18"},
        {"sizeof v0 + sizeof v2:3 + sizeof u16[x]", "14"},
        {"count(lane & 1)", "4"},
        {"any(lane == 7) && !any(lane == 8)", "1"},
        {"all(lane < 8) + 2 * all(lane < 7)", "1"},
        {"ballot(lane > 5)", "192"},
        {"sum(lane) + min(lane) + max(lane + 1)", "36"},
        {"sum(lane * 0.5)", "14"},
        {"at(5, lane) + at(lane - 1, tid.x)", "7"},
        {"max(at(lane, v0)) == at(7, v0)", "1"},
        {"u32[x + 4 * v0] == v6", "1"},
        {"f32[v2:3 + 4]", "20"},
        {"u8[x + 7]", "63"},
        {"u16[x + 6]", "16256"},
        {"u64[x]", "4575657221408423936"},
    };
    struct fix *f = in_saxpy();
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct dbg_value value;
        struct lw_error err = {0};

        lw_buffer_clear(&text);
        if (dbg_eval(f->dbg, fix_focus(f), 3, cases[i].text, &value, &err) != LW_OK)
            fix_fail(cases[i].text, &err);
        dbg_value_print(&value, 0, &text.sink);
        if (strcmp(text.text, cases[i].value) != 0)
            fail_msg("%s: %s, wanted %s", cases[i].text, text.text, cases[i].value);
    }
    lw_buffer_fini(&text);
    fix_close(f);
}

static void wrong_expressions_are_refused_with_a_message(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "an expression is missing"},
        {"1 +", "expected a value at the end"},
        {"(1", "expected a ) in"},
        {"1 2", "unexpected"},
        {"v9", "v0 to v8"},
        {"v300", "v0 to v8"},
        {"s0", "uses no s registers"},
        {"v2:4", "v2:3"},
        {"v8:9", "not a register pair"},
        {"v0.f64", "pair"},
        {"v0.f16", "is not a type"},
        {"v2:3.f32", "needs 4 bytes"},
        {"v0[8]", "lanes 0 to 7"},
        {"v0[-1]", "lanes 0 to 7"},
        {"nosuch", "there is no \"nosuch\""},
        {"tid + 1", "tid is a vector of three: write tid.x, .y or .z"},
        {"threadIdx", "write threadIdx.x"},
        {"out_bufer", "did you mean \"out_buffer\"?"},
        {"exac", "did you mean \"exec\"?"},
        {"sapxy", "did you mean \"saxpy\"?"},
        {"1 / 0", "division by zero"},
        {"1 % 0", "division by zero"},
        {"1.5 & 1", "integers"},
        {"~1.5", "integer"},
        {"u32[0]", "cannot read 4 bytes at 0x0"},
        {"u32[x + 4096]", "cannot read"},
        {"u32[x + 4094]", "cannot read"},
        {"u32[1.5]", "integer"},
        {"u32", "[address]"},
        {"99999999999999999999", "64 bits"},
        {"12ab", "is not a number"},
        {"1 ? 2", "expected a :"},
        {"a * ", "expected a value at the end"},
        {"@", "expected a register, a name or a number"},
        {"*x", "* needs a pointer"},
        {"*(void *)x", "a void pointer has no value to read"},
        {"*(float *)8", "cannot read 4 bytes at 0x8"},
        {"&5", "no address"},
        {"&v0", "no address"},
        {"(float *)1.5", "an address must be an integer"},
        {"(void)1", "an expression of type void has no value"},
        {"(nosuch)1", "there is no"},
        {"((float *)x).y", ".y is not a type"},
        {"((float *)x)->y", "not a structure"},
        {"sum(any(1))", "cannot be inside"},
        {"sum(1", "expected a ) in"},
        {"at(8, 1)", "lane 8 does not exist"},
        {"at(1)", "at takes a lane"},
        {"sizeof", "expected a value at the end"},
    };
    struct fix *f = in_saxpy();
    char deep[400];

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct dbg_value value;
        struct lw_error err = {0};

        if (dbg_eval(f->dbg, fix_focus(f), 3, cases[i].text, &value, &err) == LW_OK)
            fail_msg("%s was accepted", cases[i].text);
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, err.text, cases[i].part);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        struct dbg_value value;
        struct lw_error err = {0};

        assert_int_equal(dbg_eval(f->dbg, 3, 3, deep, &value, &err), LW_EUSAGE);
        assert_non_null(strstr(err.text, "nested too deeply"));
        memset(deep, '-', sizeof deep - 1);
    }
    fix_close(f);
}

static void values_print_in_every_format(void **state)
{
    static const struct {
        struct dbg_value value;
        char format;
        const char *text;
    } cases[] = {
        {{DBG_U32, 0xffffffff}, 'd', "-1"},     {{DBG_S32, 0xffffffff}, 0, "-1"},
        {{DBG_S32, 0xffffffff}, 'u', "4294967295"}, {{DBG_U32, 255}, 'x', "0xff"},
        {{DBG_U32, 255}, 'z', "0x000000ff"},    {{DBG_U32, 8}, 'o', "010"},
        {{DBG_U32, 10}, 't', "1010"},           {{DBG_U32, 0}, 't', "0"},
        {{DBG_U32, 0x3f800000}, 'f', "1"},      {{DBG_U64, 0x3ff8000000000000}, 'f', "1.5"},
        {{DBG_U32, 'A'}, 'c', "65 'A'"},        {{DBG_U32, 7}, 'c', "7"},
        {{DBG_F32, 0x3dcccccd}, 0, "0.1"},      {{DBG_F32, 0x3f800000}, 'x', "0x3f800000"},
        {{DBG_S64, UINT64_MAX}, 0, "-1"},       {{DBG_F32, 0x7f800000}, 0, "inf"},
        {{DBG_F32, 0xffc00000}, 0, "nan"},
    };
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        lw_buffer_clear(&text);
        dbg_value_print(&cases[i].value, cases[i].format, &text.sink);
        assert_string_equal(text.text, cases[i].text);
    }
    lw_buffer_fini(&text);
}

static void a_lane_that_exited_can_be_read_but_has_no_pc(void **state)
{
    struct fix *f = fix_open("exits.s", 8, 1, 8, 1);
    struct dbg_value value;
    struct lw_error err;

    (void)state;
    (void)fix_break(f, 8, NULL);
    assert_int_equal(fix_continue(f).hit_lanes, 0xf8);
    assert_int_equal(fix_eval(f, 1, "v0"), 1);
    assert_int_equal(dbg_eval(f->dbg, 1, 1, "pc", &value, &err), LW_ERANGE);
    assert_non_null(strstr(err.text, "has exited or was never launched"));
    fix_close(f);
}

static void plane_shows_every_lane_and_marks_the_inactive(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 6, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    (void)fix_break(f, 18, NULL);
    assert_int_equal(fix_continue(f).hit_lanes, 0x2a);
    assert_string_equal(fix_run(f, "plane v0", &out), "  0: (0)   1 (2)   3 (4)   5   -   -\n");
    assert_string_equal(fix_run(f, "plane /x v1 + 16", &out),
                        "  0: (0x11)   0x74 (0x12)   0x74 (0x14)   0x74      -      -\n");
    /* An error in some lanes must not prevent the output of the other lanes' values. */
    assert_string_equal(fix_run(f, "plane 12 / (v0 - 1)", &out),
                        "  0:  (0)    ? (12)    6  (4)    3    -    -\n  ? lane 1: division by zero\n");
    dbg_set_colour(f->dbg, true);
    assert_string_equal(fix_run(f, "plane v0", &out),
                        "  0: \033[2m0\033[0m 1 \033[2m2\033[0m 3 \033[2m4\033[0m 5 "
                        "\033[2m-\033[0m \033[2m-\033[0m\n");
    lw_buffer_fini(&out);
    fix_close(f);
}

/* ---- assignments -------------------------------------------------------------------------- */

static void assign(struct fix *f, unsigned lane, const char *text)
{
    struct lw_error err = {0};

    if (dbg_assign(f->dbg, fix_focus(f), lane, text, &err) != LW_OK)
        fix_fail(text, &err);
}

static void assignments_write_what_they_name(void **state)
{
    struct fix *f = in_saxpy();
    struct lw_error err;

    (void)state;
    assign(f, 3, "v7 = v0 * 2");
    assert_int_equal(fix_eval(f, 3, "v7"), 38);
    assert_int_not_equal(fix_eval(f, 2, "v7"), 38);
    assign(f, 3, "v7[5] = -1");
    assert_int_equal(fix_eval(f, 5, "v7"), UINT32_MAX);
    assign(f, 3, "v7.f32 = 1.5");
    assert_int_equal(fix_eval(f, 3, "v7"), 0x3fc00000);
    assign(f, 3, "v4:5 = 0x123456789abc");
    assert_int_equal(fix_eval(f, 3, "v4"), 0x56789abc);
    assert_int_equal(fix_eval(f, 3, "v5"), 0x1234);
    assign(f, 3, "p3 = 7 > 5");
    assert_int_equal(fix_eval(f, 3, "p3"), 1);
    assert_int_equal(fix_eval(f, 4, "p3"), 0);
    assign(f, 3, "sp2 = 1");
    assert_int_equal(fix_eval(f, 3, "sp2"), 1);
    assign(f, 3, "f32[x + 4] = 0.25");
    assert_int_equal(fix_eval(f, 3, "u32[x + 4]"), 0x3e800000);
    assign(f, 3, "u8[x] = 0x1ff");
    assert_int_equal(fix_eval(f, 3, "u32[x]"), 0xff);
    assign(f, 3, "exec = 0x3f");
    assert_int_equal(fix_eval(f, 3, "exec"), 0x3f);
    assert_int_equal(fix_eval(f, 3, "active"), 0x3f);
    assign(f, 3, "exec = 0xff");
    assign(f, 3, "pc = saxpy + 0xf0");
    assert_int_equal(fix_lane_line(f, 3), 23);
    assert_int_equal(dbg_assign(f->dbg, fix_focus(f), 3, "pc = 17", &err), LW_ERANGE);
    assign(f, 3, "lane = 6");
    assert_int_equal(dbg_lane_get(f->dbg, fix_focus(f)), 6);
    fix_close(f);
}

static void wrong_assignments_are_refused_and_write_nothing(void **state)
{
    static const char *const texts[] = {"v7",     "7 = 7",   "v7 == 7",  "v7 = ",  "v7 = 1.5",
                                        "n = 3",  "tid.x = 1", "active = 1", "v7 = 1 2",
                                        "u32[0] = 1", "lane = 77", "v7 = nosuch"};
    struct fix *f = in_saxpy();
    uint64_t before = fix_eval(f, 3, "v7");

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(texts); i++) {
        struct lw_error err = {0};

        if (dbg_assign(f->dbg, fix_focus(f), 3, texts[i], &err) == LW_OK)
            fail_msg("%s was accepted", texts[i]);
        assert_true(err.text[0] != '\0');
    }
    assert_int_equal(fix_eval(f, 3, "v7"), before);
    fix_close(f);
}

static void exec_of_a_split_warp_cannot_be_written(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct lw_error err;
    uint64_t exec = 1;
    int index = dbg_reg_find(f->dbg, "exec");

    (void)state;
    assert_int_equal(dbg_reg_write(f->dbg, 1, (unsigned)index, &exec, 8, &err), LW_OK);
    exec = 0xff;
    assert_int_equal(dbg_reg_write(f->dbg, 1, (unsigned)index, &exec, 8, &err), LW_OK);
    (void)fix_break(f, 18, NULL);
    (void)fix_continue(f);
    assert_int_equal(dbg_reg_write(f->dbg, 1, (unsigned)index, &exec, 8, &err), LW_ESTATE);
    assert_non_null(strstr(err.text, "diverged into 2 splits"));
    assert_int_equal(dbg_assign(f->dbg, fix_focus(f), 1, "exec = 255", &err), LW_ESTATE);
    assert_int_equal(dbg_mem_write(f->dbg, 1, UINT64_C(0xF3) << 56 | 128, &exec, 8), 0);
    fix_close(f);
}

/* ---- the register table ----------------------------------------------------------------------- */

static void the_register_table_has_what_the_kernel_uses(void **state)
{
    struct fix *f = in_saxpy();
    unsigned vectors = 0, scalars = 0;
    struct dbg_reg reg;

    (void)state;
    for (unsigned i = 0; dbg_reg_at(f->dbg, i, &reg); i++) {
        assert_int_equal(dbg_reg_find(f->dbg, reg.name), (int)i); /* names are unique */
        assert_null(strchr(reg.name, '.'));
        assert_true(reg.bytes >= 4);
        vectors += reg.kind == DBG_REG_VECTOR;
        scalars += reg.kind == DBG_REG_SCALAR;
        if (reg.kind == DBG_REG_VECTOR)
            assert_int_equal(reg.bytes, 4 * 8);
    }
    assert_int_equal(vectors, 9);
    assert_int_equal(scalars, 0);
    assert_int_equal(dbg_reg_find(f->dbg, "tid.x"), dbg_reg_find(f->dbg, "tid_x"));
    assert_int_equal(dbg_reg_find(f->dbg, "$v3"), dbg_reg_find(f->dbg, "v3"));
    assert_int_equal(dbg_reg_find(f->dbg, "v9"), -1);
    fix_close(f);
}

static uint64_t reg_value(struct fix *f, const char *name)
{
    uint8_t data[8 * EMU_MAX_LANES] = {0};
    struct lw_error err = {0};
    int index = dbg_reg_find(f->dbg, name);

    assert_true(index >= 0);
    if (dbg_reg_read(f->dbg, fix_focus(f), (unsigned)index, data, sizeof data, &err) != LW_OK)
        fix_fail(name, &err);
    return lw_get64(data);
}

static void registers_are_read_through_the_focus_lane(void **state)
{
    struct fix *f = in_saxpy();
    struct lw_error err;
    uint8_t data[8 * EMU_MAX_LANES];
    int index;

    (void)state;
    assert_int_equal(reg_value(f, "pc"), fix_line(f, 21));
    assert_int_equal((uint32_t)reg_value(f, "lane"), 3);
    assert_int_equal((uint32_t)reg_value(f, "tid_x"), 3);
    assert_int_equal(reg_value(f, "hit_lanes"), 8);
    assert_int_equal(reg_value(f, "active"), 0xff);
    assert_int_equal((uint32_t)reg_value(f, "block"), 1);
    assert_int_equal(reg_value(f, "retired"), 13);
    index = dbg_reg_find(f->dbg, "v0");
    assert_int_equal(dbg_reg_read(f->dbg, 3, (unsigned)index, data, 4, &err), LW_ERANGE);
    assert_int_equal(dbg_reg_read(f->dbg, 3, (unsigned)index, data, sizeof data, &err), LW_OK);
    for (unsigned lane = 0; lane < 8; lane++)
        assert_int_equal(lw_get32(data + 4 * lane), 16 + lane);
    index = dbg_reg_find(f->dbg, "lane_pcs");
    assert_int_equal(dbg_reg_read(f->dbg, 3, (unsigned)index, data, sizeof data, &err), LW_OK);
    assert_int_equal(lw_get64(data + 8 * 7), fix_line(f, 21));
    assert_int_equal(dbg_reg_read(f->dbg, 99, (unsigned)index, data, sizeof data, &err),
                     LW_ESTATE);
    fix_close(f);
}

static void registers_are_written_whole(void **state)
{
    struct fix *f = in_saxpy();
    struct lw_error err;
    uint32_t row[8] = {10, 11, 12, 13, 14, 15, 16, 17}, lane = 5, word = 1;
    uint64_t pc = fix_line(f, 23);

    (void)state;
    assert_int_equal(dbg_reg_write(f->dbg, 3, (unsigned)dbg_reg_find(f->dbg, "v8"), row,
                                   sizeof row, &err),
                     LW_OK);
    assert_int_equal(fix_eval(f, 7, "v8"), 17);
    assert_int_equal(dbg_reg_write(f->dbg, 3, (unsigned)dbg_reg_find(f->dbg, "v8"), row, 4,
                                   &err),
                     LW_ERANGE);
    assert_int_equal(dbg_reg_write(f->dbg, 3, (unsigned)dbg_reg_find(f->dbg, "lane"), &lane, 4,
                                   &err),
                     LW_OK);
    assert_int_equal(dbg_lane_get(f->dbg, 3), 5);
    lane = 8;
    assert_int_equal(dbg_reg_write(f->dbg, 3, (unsigned)dbg_reg_find(f->dbg, "lane"), &lane, 4,
                                   &err),
                     LW_ERANGE);
    assert_int_equal(dbg_reg_write(f->dbg, 3, (unsigned)dbg_reg_find(f->dbg, "warp"), &word, 4,
                                   &err),
                     LW_EUSAGE);
    assert_int_equal(dbg_reg_write(f->dbg, 3, (unsigned)dbg_reg_find(f->dbg, "pc"), &pc, 8,
                                   &err),
                     LW_OK);
    assert_int_equal(fix_lane_line(f, 5), 23); /* only the focus lane moves; the other lanes of its split do not */
    assert_int_equal(fix_lane_line(f, 0), 21);
    assert_int_equal(fix_lane_line(f, 7), 21);
    fix_close(f);
}

/* ---- debug address ranges ------------------------------------------------------------------------ */

static uint64_t window(unsigned top, uint64_t offset)
{
    return (uint64_t)top << 56 | offset;
}

static uint32_t peek(struct fix *f, uint64_t address)
{
    uint32_t word = 0;

    assert_int_equal(dbg_mem_read(f->dbg, fix_focus(f), address, &word, 4), 4);
    return word;
}

static void windows_show_registers_and_builtins(void **state)
{
    struct fix *f = in_saxpy();
    uint64_t both;

    (void)state;
    assert_int_equal(peek(f, window(0xF0, 0)), 19);
    assert_int_equal(peek(f, window(0xF0, 4 * 6)), 0x41980000);
    assert_int_equal(dbg_mem_read(f->dbg, 3, window(0xF0, 4 * 2), &both, 8), 8);
    assert_int_equal(both, f->in + 76);
    assert_int_equal(peek(f, window(0xF1, 256 * 0 + 4 * 6)), 22);
    assert_int_equal(peek(f, window(0xF3, 128)), 0xff);
    assert_int_equal(peek(f, window(0xF3, 144)), (uint32_t)fix_line(f, 21));
    assert_int_equal(peek(f, window(0xF3, 148)), 1);
    assert_int_equal(peek(f, window(0xF3, 256 + 8 * ISA_SR_NTID_X)), 16);
    assert_int_equal(peek(f, window(0xF5, 0)), 3);
    assert_int_equal(peek(f, window(0xF5, 4)), 0);
    assert_int_equal(peek(f, window(0xF5, 12)), 0);
    assert_int_equal(peek(f, window(0xF5, 16)), 1);
    assert_int_equal(peek(f, window(0xF5, 32)), 16);
    assert_int_equal(peek(f, window(0xF5, 36)), 1);
    assert_int_equal(peek(f, window(0xF5, 48)), 2);
    assert_int_equal(peek(f, window(0xF5, 64)), 3);
    assert_int_equal(peek(f, window(0xF5, 68)), 0);
    assert_int_not_equal(peek(f, window(0xF5, 72)), 0);
    assert_int_equal(peek(f, window(0xF9, 20)), 32); /* constant bank 0 has parameter n */
    assert_int_equal(peek(f, window(0xF9, UINT64_C(99) << 32)), 0);
    fix_close(f);
}

static void windows_answer_whole_lines_at_any_offset(void **state)
{
    struct fix *f = in_saxpy();
    uint8_t line[512], bytes[7];

    (void)state;
    memset(line, 0xaa, sizeof line);
    for (unsigned top = 0xF0; top <= 0xFB; top++) {
        assert_int_equal(dbg_mem_read(f->dbg, 3, window(top, 0), line, sizeof line), 512);
        assert_int_equal(dbg_mem_read(f->dbg, 3, window(top, lw_mask(56) - 3), line, 16), 4);
    }
    assert_int_equal(dbg_mem_read(f->dbg, 3, window(0xFC, 0), line, 4), 0);
    assert_int_equal(dbg_mem_read(f->dbg, 3, window(0xEF, 0), line, 4), 0);
    /* Bytes in the middle of words: v0 is 19 in lane 3 and 20 in lane 4. */
    assert_int_equal(dbg_mem_read(f->dbg, 3, window(0xF1, 4 * 3 + 3), bytes, 7), 7);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1], 20);
    assert_int_equal(bytes[5], 21);
    fix_close(f);
}

static void windows_are_written_through(void **state)
{
    struct fix *f = in_saxpy();
    uint32_t word = 77;
    uint8_t byte = 1;

    (void)state;
    assert_int_equal(dbg_mem_write(f->dbg, 3, window(0xF0, 4 * 8), &word, 4), 4);
    assert_int_equal(fix_eval(f, 3, "v8"), 77);
    assert_int_equal(dbg_mem_write(f->dbg, 3, window(0xF0, 4 * 8 + 1), &byte, 1), 1);
    assert_int_equal(fix_eval(f, 3, "v8"), 0x14d);
    assert_int_equal(dbg_mem_write(f->dbg, 3, window(0xF1, 256 * 8 + 4 * 7), &word, 4), 4);
    assert_int_equal(fix_eval(f, 7, "v8"), 77);
    assert_int_equal(dbg_mem_write(f->dbg, 3, window(0xF5, 0), &word, 4), 0);
    assert_int_equal(dbg_mem_write(f->dbg, 3, window(0xF9, 0), &word, 4), 0);
    assert_int_equal(fix_eval(f, 3, "tid.x"), 3);
    fix_close(f);
}

static void absolute_windows_name_lanes_and_blocks_by_slot(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 2, 16, 1);
    struct dbg_frame frame;
    uint64_t slot;
    uint32_t word = 0;

    (void)state;
    (void)fix_break(f, 22, "block == 1 && warp == 1 && lane == 6");
    assert_int_equal(fix_continue(f).lane, 6);
    assert_true(dbg_frame_at(f->dbg, fix_focus(f), 6, 0, &frame));
    slot = frame.cfa >> 40 & 0xffff;
    /* v3, the argument, is 14 in lane 6 of warp 1, and was stored at [v2] by the last instruction. */
    assert_int_equal(peek(f, window(0xF8, slot << 40 | UINT64_C(6) << 32 | 4 * 3)), 14);
    assert_int_equal(peek(f, window(0xF7, slot << 40 | UINT64_C(6) << 32 |
                                              fix_eval(f, 6, "v2"))),
                     14);
    assert_int_equal(peek(f, window(0xF7, slot << 40 | UINT64_C(5) << 32 |
                                              fix_eval(f, 5, "v2"))),
                     13);
    assert_int_equal(peek(f, window(0xFB, slot << 40 | UINT64_C(6) << 32 | 64)), 6); /* laneid */
    assert_int_equal(peek(f, window(0xFB, slot << 40 | UINT64_C(5) << 32 | 0)), 13); /* threadIdx.x */
    assert_int_equal(peek(f, window(0xFB, (slot - 1) << 40 | UINT64_C(5) << 32 | 0)), 5);
    assert_int_equal(peek(f, window(0xFB, slot << 40 | UINT64_C(8) << 32 | 64)), 0);
    word = 9;
    assert_int_equal(dbg_mem_write(f->dbg, fix_focus(f),
                                   window(0xF8, slot << 40 | UINT64_C(6) << 32 | 12), &word, 4),
                     4);
    assert_int_equal(fix_eval(f, 6, "v3"), 9);
    fix_close(f);
}

static void the_shared_window_shows_a_blocks_memory(void **state)
{
    struct fix *f = fix_open("team.s", 8, 1, 24, 1);
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 13, NULL); /* after the barrier */
    stop = fix_continue(f);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    for (unsigned i = 0; i < 24; i++) {
        assert_int_equal(peek(f, window(0xF6, 4 * i)), 10 * i + 1);
        assert_int_equal(peek(f, ISA_SHARED_BASE + 4 * i), 10 * i + 1);
    }
    fix_close(f);
}

static void memory_can_be_read_after_the_end(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    uint32_t words[4];

    (void)state;
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_int_equal(dbg_mem_read(f->dbg, 0, f->out + 12, words, 4), 4);
    assert_int_equal(words[0], 0x40c00000); /* 6 */
    assert_int_equal(dbg_mem_read(f->dbg, 0, f->out + 4096 - 8, words, 16), 8);
    assert_int_equal(dbg_mem_read(f->dbg, 0, 0, words, 4), 0);
    fix_close(f);
}

/* ---- locations --------------------------------------------------------------------------------------- */

static void locations_lead_to_instructions(void **state)
{
    static const struct {
        const char *text;
        uint64_t index;
    } cases[] = {
        {"saxpy", 0},        {"18", 10},         {"saxpy.s:18", 10}, {"*0x1000000a0", 10},
        {"*saxpy + 0xa0", 10}, {"*pc", 0},       {"+1", 1},          {"1", 0},
        {"saxpy.s:2", 0},
    };
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct lw_error err = {0};
        uint64_t pcs[4];
        unsigned count;

        if (dbg_location_parse(f->dbg, cases[i].text, pcs, 4, &count, &err) != LW_OK)
            fix_fail(cases[i].text, &err);
        assert_int_equal(count, 1);
        if (pcs[0] != ISA_CODE_BASE + 16 * cases[i].index)
            fail_msg("location %s is at 0x%llx", cases[i].text, (unsigned long long)pcs[0]);
    }
    fix_close(f);
}

static void wrong_locations_say_what_is_known(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"saxp", "did you mean \"saxpy\""}, {"nothing_like_it", "FILE:LINE"},
        {"24", "no code at line 24"},       {"other.c:3", "no source file \"other.c\""},
        {"*5", "not the address"},          {"*0x100000001", "not the address"},
        {"*", "an expression is missing"},                   {"-99", "no line"},
        {"1x", "not a line number"},
    };
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct lw_error err = {0};
        uint64_t pcs[4];
        unsigned count;

        if (dbg_location_parse(f->dbg, cases[i].text, pcs, 4, &count, &err) == LW_OK)
            fail_msg("%s was accepted", cases[i].text);
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, err.text, cases[i].part);
    }
    fix_close(f);
}

/* ---- commands ------------------------------------------------------------------------------------------- */

/* Returns the command with index @i in the concatenated command tables of the debugger, or NULL after the last one. */
static const struct lw_command *command_at(size_t i)
{
    struct lw_command_set set = {0};

    dbg_register_commands(NULL, &set);
    for (size_t t = 0; t < set.count; i -= set.tables[t].count, t++)
        if (i < set.tables[t].count)
            return &set.tables[t].rows[i];
    return NULL;
}

static void every_commands_example_runs(void **state)
{
    const struct lw_command *row;

    (void)state;
    for (size_t i = 0; (row = command_at(i)) != NULL; i++) {
        /* The focus is moved into a function, so that `finish` is possible. The example of `delete` deletes this breakpoint. */
        struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
        struct lw_error err = {0};
        struct lw_buffer out;
        enum lw_status status;

        lw_buffer_init(&out);
        (void)fix_run(f, "break 14", &out);
        if (strcmp(row->name, "finish") == 0 || strcmp(row->name, "reverse-finish") == 0) {
            fix_close(f);
            f = fix_open("calls.s", 8, 1, 8, 1);
            (void)fix_run(f, "break 17", &out);
            if (dbg_history_start(f->dbg, 0, NULL, NULL, NULL, &err) != LW_OK)
                fix_fail("history", &err);
            (void)fix_run(f, "continue", &out);
        } else if (dbg_history_start(f->dbg, 0, NULL, NULL, NULL, &err) != LW_OK) {
            fix_fail("history", &err);
        }
        lw_buffer_clear(&out);
        status = lw_command_run(&f->set, row->example, &out.sink, &err);
        if (strcmp(row->name, "returned") == 0) { /* assembly has no debug information about results of calls */
            assert_int_equal(status, LW_ESTATE);
            assert_non_null(strstr(err.text, "compiled with -g"));
            status = LW_OK;
        }
        if (status != LW_OK)
            fail_msg("%s: %s", row->example, err.text);
        if (row->operands[0] != '\0' && out.size == 0 && strcmp(row->name, "delete") != 0 &&
            strcmp(row->name, "disable") != 0 && strcmp(row->name, "enable") != 0 &&
            strcmp(row->name, "set") != 0)
            fail_msg("%s prints nothing", row->example);
        assert_true(row->summary[0] != '\0' &&
                    row->summary[strlen(row->summary) - 1] != '.');
        assert_non_null(strstr(row->example, row->name));
        lw_buffer_fini(&out);
        fix_close(f);
    }
}

static void commands_survive_the_end_of_everything(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    (void)fix_run(f, "continue", &out);
    assert_string_equal(out.text, "all launches have ended\n");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        struct lw_error err = {0};
        enum lw_status status = lw_command_run(&f->set, command_at(i)->example, &out.sink, &err);

        assert_true(status == LW_OK || err.text[0] != '\0');
    }
    lw_buffer_fini(&out);
    fix_close(f);
}

static void commands_on_types_symbols_and_memory_answer(void **state)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"whatis v0", "type = u32\n"},
        {"whatis v2:3.f64", "type = f64\n"},
        {"whatis (const char *)x", "type = char *\n"},
        {"ptype unsigned long", "type = u64\n"},
        {"find x, 3.0", NULL},
        {"find /w x, 16, 0x40000000", NULL},
        {"find x, 16, 99", "not found\n"},
        {"info symbol pc", NULL},
        {"print *(float *)x@4", "*(float *)x@4 = {0, 1, 2, 3}\n"},
        {"print f32[x + 4]@2", "f32[x + 4]@2 = {1, 2}\n"},
        {"info functions axp", "0x100000000  kernel  saxpy\n"},
    };
    struct fix *f = in_saxpy();
    struct lw_buffer out;
    char text[64];

    (void)state;
    lw_buffer_init(&out);
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        const char *said = fix_run(f, cases[i].line, &out);

        if (strncmp(cases[i].line, "find x, 3.0", 11) == 0) {
            snprintf(text, sizeof text, "0x%llx\n", (unsigned long long)f->in + 12);
            assert_string_equal(said, text);
        } else if (strncmp(cases[i].line, "find /w", 7) == 0) {
            snprintf(text, sizeof text, "0x%llx\n", (unsigned long long)f->in + 8);
            assert_string_equal(said, text);
        } else if (cases[i].text == NULL) {
            assert_non_null(strstr(said, "saxpy+0x"));
        } else if (strcmp(said, cases[i].text) != 0) {
            fail_msg("%s: \"%s\"", cases[i].line, said);
        }
    }
    (void)fix_run(f, "set u32[x] = 0x00216948", &out);
    assert_non_null(strstr(fix_run(f, "x /2s x", &out), " \"Hi!\"\n"));
    (void)fix_run(f, "set *(float *)(x + 4) = 7.5", &out);
    assert_string_equal(fix_run(f, "print f32[x + 4]", &out), "f32[x + 4] = 7.5\n");
    lw_buffer_fini(&out);
    fix_close(f);
}

static void wrong_operands_are_refused(void **state)
{
    static const char *const lines[] = {
        "break nowhere",  "break 18 when lane == 3", "break 18 if",    "delete x",
        "delete 9",       "enable 9",                "continue now",   "step 0",
        "step x",         "stepi 1 2",               "advance", "until 1 2", "up x", "frame 9", "down 0", "display /q v0", "display nothing", "undisplay 4", "watch", "rwatch v0 if", "catch", "tcatch fire", "condition x", "condition 9 v0", "ignore 1",         "finish 2",
        "focus x",        "focus 99",                "block 1,2,3,4",  "block x",
        "block 9",        "warp",                    "warp 9",         "lane 9",
        "lane -1",        "warps some",              "lanes 2",        "print",
        "print /q v0",    "print nosuch",            "plane",          "plane v99",
        "registers nosuch", "set",                   "set v0",         "x",
        "x /3q 0",        "x 0",                     "x /fh v2:3",     "disassemble nowhere",
        "disassemble saxpy 0", "list 99",            "list a b",       "info",
        "info nothing",   "x /0xw 0",                "focus 1 9",
        "whatis",         "ptype nosuch",            "find",           "find x",
        "find 0, 4",      "find /q x, 1",            "find x, 64, nosuch", "info symbol",
        "info line 99",   "info source x",           "table nosuch",   "table warps 1",           "info functions a b", "find 8, 16, 1",
    };
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    for (size_t i = 0; i < LW_COUNT_OF(lines); i++) {
        struct lw_error err = {0};

        if (lw_command_run(&f->set, lines[i], &out.sink, &err) == LW_OK)
            fail_msg("%s was accepted", lines[i]);
        if (err.text[0] == '\0')
            fail_msg("%s failed without a message", lines[i]);
    }
    assert_int_equal(dbg_stoppoint_count(f->dbg), 0);
    assert_int_equal(fix_thread(f).location.pc, ISA_CODE_BASE);
    lw_buffer_fini(&out);
    fix_close(f);
}

/* Any text must either be accepted as an expression or command, or give an error message. */
static void no_text_upsets_expressions_or_commands(void **state)
{
    static const char *const words[] = {
        "v0",  "v2:3", "v8:9", "v99", "s0",  "p0",   "sp6", "b0",   "exec", "pc",  "lane", "tid.x",
        "n",   "a",    "x",    "u32", "f32", "u8[",  "s16(", "[",   "]",    "(",   ")",    "+",
        "-",   "*",    "/",    "%",   "<<",  ">>",   "<=",  "==",   "!=",   "&&",  "||",   "?",
        ":",   "!",    "~",    "=",   "0",   "1",    "63",  "0x",   "1e",   "1.5", "1e400", "$",
        "%",   ".f32", ".u64", ".",   "\x80", "'",   "\"",  "#",    ",",    " ",   "18446744073709551615",
        "0xf000000000000000", "0xf400000000000000", "(float *)", "(char*)", "sizeof", "sum(",
        "any(", "at(", "unsigned ", "->", "&", "lane_pcs", "saxpy", "@", "\\", "/x", "/99999xw"};
    static const char *const heads[] = {"print ", "plane ", "x ", "x /4xg ", "set ", "break ",
                                        "break *", "registers ", "list ", "disassemble ",
                                        "block ", "lane ", "info ", "focus ", "points "};
    struct fix *f = in_saxpy();
    struct lw_buffer out;
    uint64_t seed = 0x9e3779b97f4a7c15;

    (void)state;
    lw_buffer_init(&out);
    for (unsigned round = 0; round < 20000; round++) {
        struct lw_error err = {0};
        struct dbg_value value;
        char text[600] = "";
        enum lw_status status;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        for (unsigned i = 0, count = 1 + (seed >> 60); i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            strcat(text, words[(seed >> 33) % LW_COUNT_OF(words)]);
        }
        status = dbg_eval(f->dbg, 3, 3, text, &value, &err);
        if (status != LW_OK && err.text[0] == '\0')
            fail_msg("round %u: \"%s\" failed without a sentence", round, text);
        memmove(text + 32, text, strlen(text) + 1);
        memset(text, ' ', 32);
        memcpy(text, heads[seed % LW_COUNT_OF(heads)],
               strlen(heads[seed % LW_COUNT_OF(heads)]));
        err.text[0] = '\0';
        lw_buffer_clear(&out);
        status = lw_command_run(&f->set, text, &out.sink, &err);
        if (status != LW_OK && err.text[0] == '\0')
            fail_msg("round %u: \"%s\" failed without a sentence", round, text);
        while (dbg_stoppoint_count(f->dbg) > 1)
            (void)fix_run(f, "delete", &out);
    }
    lw_buffer_fini(&out);
    fix_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_the_values_of_c),
        cmocka_unit_test(wrong_expressions_are_refused_with_a_message),
        cmocka_unit_test(values_print_in_every_format),
        cmocka_unit_test(a_lane_that_exited_can_be_read_but_has_no_pc),
        cmocka_unit_test(plane_shows_every_lane_and_marks_the_inactive),
        cmocka_unit_test(assignments_write_what_they_name),
        cmocka_unit_test(wrong_assignments_are_refused_and_write_nothing),
        cmocka_unit_test(exec_of_a_split_warp_cannot_be_written),
        cmocka_unit_test(the_register_table_has_what_the_kernel_uses),
        cmocka_unit_test(registers_are_read_through_the_focus_lane),
        cmocka_unit_test(registers_are_written_whole),
        cmocka_unit_test(windows_show_registers_and_builtins),
        cmocka_unit_test(windows_answer_whole_lines_at_any_offset),
        cmocka_unit_test(windows_are_written_through),
        cmocka_unit_test(absolute_windows_name_lanes_and_blocks_by_slot),
        cmocka_unit_test(the_shared_window_shows_a_blocks_memory),
        cmocka_unit_test(memory_can_be_read_after_the_end),
        cmocka_unit_test(locations_lead_to_instructions),
        cmocka_unit_test(wrong_locations_say_what_is_known),
        cmocka_unit_test(every_commands_example_runs),
        cmocka_unit_test(commands_survive_the_end_of_everything),
        cmocka_unit_test(commands_on_types_symbols_and_memory_answer),
        cmocka_unit_test(wrong_operands_are_refused),
        cmocka_unit_test(no_text_upsets_expressions_or_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
