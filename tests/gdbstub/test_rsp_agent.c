/* SPDX-License-Identifier: Apache-2.0 */
/* Tests agent expressions: every opcode that gdb sends in conditions, and malicious code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gdbstub/rsp_priv.h"

#include <stdio.h>

static bool reg(void *context, unsigned number, uint64_t *value)
{
    (void)context;
    if (number != 0x1234)
        return false;
    *value = 77;
    return true;
}

static bool memory(void *context, uint64_t address, void *data, unsigned bytes)
{
    static const uint8_t bytes_at[8] = {0xf1, 0xf2, 0xf3, 0xf4, 5, 6, 7, 8};

    (void)context;
    if (address != 0xf000000000000028)
        return false;
    memcpy(data, bytes_at, bytes);
    return true;
}

static const struct rsp_agent_ops ops = {reg, memory, NULL};

static bool eval(const char *hex, uint64_t *value)
{
    uint8_t code[256];
    size_t size = strlen(hex);

    assert_true(size / 2 <= sizeof code);
    assert_true(rsp_hex_decode(hex, size, code));
    return rsp_agent_eval(code, size / 2, &ops, NULL, value);
}

static void gives(const char *hex, uint64_t expected)
{
    uint64_t value = 0;

    if (!eval(hex, &value))
        fail_msg("%s cannot be evaluated", hex);
    if (value != expected)
        fail_msg("%s gives 0x%llx, not 0x%llx", hex, (unsigned long long)value,
                 (unsigned long long)expected);
}

static void fails(const char *hex)
{
    uint64_t value = 0;

    if (eval(hex, &value))
        fail_msg("%s gives 0x%llx", hex, (unsigned long long)value);
}

static void constants_are_big_endian_and_not_sign_extended(void **state)
{
    (void)state;
    gives("22ff27", 0xff);
    gives("23fedc27", 0xfedc);
    gives("24fedcba9827", 0xfedcba98);
    gives("250102030405060708" "27", 0x0102030405060708);
}

static void arithmetic_takes_the_lower_operand_first(void **state)
{
    (void)state;
    gives("220722020227", 9);
    gives("220722020327", 5);
    gives("220722020427", 14);
    gives("220722020527", 3);
    gives("220722020627", 3);
    gives("220722020727", 1);
    gives("220722020827", 1);
    gives("22072202" "0927", 28);
    gives("220722020b27", 1);
    gives("220622030f27", 2);
    gives("220622031027", 7);
    gives("220622031127", 5);
    gives("22061227", ~UINT64_C(6));
    gives("22060e27", 0);
    gives("22000e27", 1);
    gives("220622061327", 1);
    gives("220622071327", 0);
    gives("220622071427", 1);
    gives("220622071527", 1);
}

/* The double 1.5 has the bits 3ff8000000000000, the double 0.1 the bits 3fb999999999999a, and the float 0.1 the bits
 * 3dcccccd. */
static void floats_are_computed_as_doubles_and_rounded_where_it_is_said(void **state)
{
    static const char half[] = "253ff8000000000000", tenth[] = "253fb999999999999a", nan[] = "257ff8000000000000";
    static const struct {
        const char *left, *right, *rest;
        uint64_t expected;
    } rows[] = {
        {half,  half,  "8027",   0x4008000000000000},
        {half,  tenth, "8127",   0x3ff6666666666666},
        {half,  half,  "8227",   0x4002000000000000},
        {half,  tenth, "8327",   0x402e000000000000},
        {half,  half,  "8427",   1                 },
        {half,  tenth, "8427",   0                 },
        {tenth, half,  "8527",   1                 },
        {half,  half,  "8527",   0                 },
        {nan,   nan,   "8427",   0                 },
        {nan,   half,  "8527",   0                 },
        {"",    "243dcccccd", "8627", 0x3fb99999a0000000},
        {"",    tenth, "8727",   0x3fb99999a0000000},
        {"",    "22ff1608", "8827", 0xbff0000000000000},
        {"",    "2401000001", "8827", 0x4170000010000000},
        {"",    "2401000001", "8927", 0x4170000000000000},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        char hex[100];

        snprintf(hex, sizeof hex, "%s%s%s", rows[i].left, rows[i].right, rows[i].rest);
        gives(hex, rows[i].expected);
    }
    fails("22018027");
    fails("8627");
}

static void signed_operations_see_the_sign(void **state)
{
    (void)state;
    gives("22ff1608" "27", UINT64_MAX);        /* ext 8 */
    gives("22ff16082a0827", 0xff);             /* zero_ext 8 */
    gives("22f916082202" "0527", (uint64_t)-3); /* -7 / 2 */
    gives("22f916082202" "0727", (uint64_t)-1);
    gives("22f916082201" "0a27", (uint64_t)-4);
    gives("22ff1608" "22001427", 1);           /* -1 < 0 */
    gives("22ff1608" "22001527", 0);           /* unsigned: 2^64 - 1 < 0 */
}

static void the_smallest_number_by_minus_one_is_defined(void **state)
{
    (void)state;
    gives("25800000000000000022ff16080527", UINT64_C(1) << 63);
    gives("25800000000000000022ff16080727", 0);
}

static void shifts_beyond_the_width_are_defined(void **state)
{
    (void)state;
    gives("220122400927", 0);
    gives("220122400b27", 0);
    gives("22ff160822400a27", UINT64_MAX);
}

static void memory_is_read_little_endian_and_zero_extended(void **state)
{
    (void)state;
    gives("25f0000000000000281727", 0xf1);
    gives("25f0000000000000281827", 0xf2f1);
    gives("25f0000000000000281927", 0xf4f3f2f1);
    gives("25f0000000000000281a27", 0x08070605f4f3f2f1);
    gives("25f00000000000002819162027", 0xfffffffff4f3f2f1);
}

static void a_register_is_taken_by_its_number(void **state)
{
    (void)state;
    gives("26123427", 77);
    fails("26000027");
}

static void jumps_go_to_offsets_in_the_code(void **state)
{
    (void)state;
    gives("2201200008220027220927", 9); /* the jump is taken and skips "22 00 27" */
    gives("22002000082205272209", 5);
    gives("2100052200220727", 7);
    fails("21ffff");
}

static void stack_operations_rearrange(void **state)
{
    (void)state;
    gives("220728022827", 14);     /* the code is dup, add, dup */
    gives("220722082927", 7);      /* pop */
    gives("220722022b0327", (uint64_t)-5);
    gives("220722022203320227", 7); /* pick 2 */
    gives("22012202220333" "27", 2); /* a b c -> c a b */
}

static void what_it_cannot_do_is_no_value(void **state)
{
    (void)state;
    fails("");
    fails("27");           /* the stack is empty at the end */
    fails("02");           /* the stack underflows */
    fails("ff27");         /* the opcode does not exist */
    fails("2201");         /* the end opcode is missing */
    fails("22");           /* the operand of an opcode is missing */
    fails("25010203");
    fails("220122000527"); /* division by zero */
    fails("2200" "1927");  /* unreadable memory */
    fails("220116002727"); /* a sign extension from 0 bits */
    fails("21000027");     /* an endless loop reaches the limit of steps */
    fails("22012921000027"); /* an endless loop with pops reaches the limit, too */
    fails("220121000027");   /* an endless loop fills the stack */
}

static void the_condition_of_the_manual_is_evaluated(void **state)
{
    (void)state;
    gives("25f00000000000002819162022091327", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_big_endian_and_not_sign_extended),
        cmocka_unit_test(arithmetic_takes_the_lower_operand_first),
        cmocka_unit_test(floats_are_computed_as_doubles_and_rounded_where_it_is_said),
        cmocka_unit_test(signed_operations_see_the_sign),
        cmocka_unit_test(the_smallest_number_by_minus_one_is_defined),
        cmocka_unit_test(shifts_beyond_the_width_are_defined),
        cmocka_unit_test(memory_is_read_little_endian_and_zero_extended),
        cmocka_unit_test(a_register_is_taken_by_its_number),
        cmocka_unit_test(jumps_go_to_offsets_in_the_code),
        cmocka_unit_test(stack_operations_rearrange),
        cmocka_unit_test(what_it_cannot_do_is_no_value),
        cmocka_unit_test(the_condition_of_the_manual_is_evaluated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
