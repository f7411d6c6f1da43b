/* SPDX-License-Identifier: Apache-2.0 */
/* Tests packets, the target description, conditions and stop replies with the fake core. */
#include "tests/gdbstub/rsp_fixture.h"

static const char *const FIRST_PC = "0000000001000000"; /* ISA_CODE_BASE, little-endian */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

#define EXPECT_BEGINS(text, start)                                                     \
    do {                                                                               \
        if (!begins((text), (start)))                                                  \
            fail_msg("\"%s\" does not begin with \"%s\"", (text), (start));            \
    } while (0)

/* ---- connecting ------------------------------------------------------------------- */

static void supported_lists_what_the_table_offers(void **state)
{
    const char *reply = fix_ask(*state, "qSupported:multiprocess+;swbreak+;hwbreak+");

    EXPECT_BEGINS(reply, "PacketSize=20000;");
    assert_non_null(strstr(reply, ";QStartNoAckMode+"));
    assert_non_null(strstr(reply, ";qXfer:features:read+"));
    assert_non_null(strstr(reply, ";qXfer:threads:read+"));
    assert_non_null(strstr(reply, ";ConditionalBreakpoints+"));
    assert_non_null(strstr(reply, ";swbreak+"));
    assert_non_null(strstr(reply, ";no-resumed+"));
    /* The reply must not offer features that would break an unmodified gdb or are not supported. */
    assert_null(strstr(reply, "QNonStop"));
    assert_null(strstr(reply, "multiprocess"));
    assert_null(strstr(reply, "memory-map"));
    assert_null(strstr(reply, "exec-file")); /* no object in this fixture */
    assert_non_null(strstr(reply, ";ReverseStep+;ReverseContinue+"));
    assert_non_null(strstr(reply, ";BreakpointCommands+"));
}

static void malformed_arguments_are_an_error_and_not_a_crash(void **state)
{
    static const char *const packets[] = {
        "p", "pzz", "p11111111111111111", "P", "P1", "P1=", "P1=1", "P1=zzzz", "m", "m1", "m1,",
        "m,", "M1,1", "M1,2:00", "X1,2:0", "Hg", "Hgx", "T", "Z0,1", "Z0,", "z1,", "Z0,0,1;",
        "Z0,100000000,1;X", "Z0,100000000,1;X2,22", "Z0,100000000,1;Xffffffffffffffff,22",
        "Z0,100000000,1;cmds:1", "Z0,100000000,1;cmds:1,", "Z0,100000000,1;cmds:1,X2,27",
        "Z0,100000000,1;cmds:0,X1,27;cmds:0,X1,27", "Z2,1,4", "Z2,200000001000,0", "Z2,", "z2,1",
        "Z2,200000001000,41", "vRun;zz", "vRun;", "vRun;61;62", "vAttach;", "Z0,100000000,1;X0,", "Z0,7,1",
        "qXfer:features:read:other.xml:0,10", "qXfer:features:read:target.xml:0",
        "qXfer:features:read:target.xml:ffffffff,10", "vCont;", "vCont;x", "vCont;r1", "vCont;C",
        "vCont;s:zz", "vFile:open:zz", "vFile:open:61,0", "vFile:pread:3", "c zz", "Czz", "S",
        "qRcmd,1", "qRcmd,zz", "qCRC:1", "qSearch:memory:1;2", "qSearch:memory:200000000000;10;",
        "D;", "Dx", "qThreadExtraInfo,99", "vCont;C100",
        "qGpuWatch:1;20000000000,4,1", "qGpuWatch:1;20000000000,4,5", "qGpuWatch:1;20000000000,0,2",
        "qGpuWatch:1;20000000000,41,2", "qGpuWatch:1;20000000000,4", "qGpuWatch:1",
    };

    for (size_t i = 0; i < LW_COUNT_OF(packets); i++) {
        const char *reply = fix_ask(*state, packets[i]);

        if (reply[0] != 'E')
            fail_msg("%s gives \"%s\"", packets[i], reply);
    }
    assert_int_equal(fake_dbg_stoppoint_count(((struct fixture *)*state)->dbg), 0);
}

static void packets_without_a_row_are_unsupported(void **state)
{
    static const char *const packets[] = {
        "QNonStop:1", "!", "Z5,1,1", "z5,1,1", "QThreadEvents:1", "qXfer:siginfo:read::0,10",
        "qXfer:memory-map:read::0,10", "vMustReplyEmpty", "", "qFoo",
        "v", "q", "Q", "Z", "H", "_M1,1",
    };

    for (size_t i = 0; i < LW_COUNT_OF(packets); i++)
        assert_string_equal(fix_ask(*state, packets[i]), "");
}

static void why_names_thread_and_expedited_registers(void **state)
{
    assert_string_equal(fix_ask(*state, "?"),
                        "T05thread:1;10:0000000001000000;07:f80f0000000000f4;"
                        "06:f80f0000000000f4;");
}

static void an_ended_machine_has_exited(void **state)
{
    struct fake_options options = {.warps = 0, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});

    (void)state;
    assert_string_equal(fix_ask(fix, "?"), "W00");
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
    assert_string_equal(fix_ask(fix, "vCont;s:1"), "W00");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "l");
    EXPECT_BEGINS(fix_ask(fix, "g"), "E");
    EXPECT_BEGINS(fix_ask(fix, "p10"), "E");
    EXPECT_BEGINS(fix_ask(fix, "m200000000000,4"), "00070e15"); /* the refused packet has not changed memory */
    fix_destroy(fix);
}

/* ---- the target description ---------------------------------------------------------- */

struct xml_reg {
    char name[32], type[32];
    unsigned bits, number;
};

static const char *attribute(const char *tag, const char *name, char *out, size_t room)
{
    char key[40];
    const char *p;
    size_t n = 0;

    snprintf(key, sizeof key, " %s=\"", name);
    p = strstr(tag, key);
    if (p == NULL)
        return NULL;
    for (p += strlen(key); *p != '"' && *p != '\0' && n + 1 < room; p++)
        out[n++] = *p;
    out[n] = '\0';
    return out;
}

/* Check the nesting and quoting of a target description, and collect its registers. */
static size_t parse_xml(const char *xml, struct xml_reg *regs, size_t room)
{
    char open[16][32];
    size_t depth = 0, count = 0;

    while (*xml != '\0') {
        char tag[512], name[32];
        size_t n = 0;

        if (*xml != '<') {
            assert_true(*xml == '\n' || depth > 0);
            assert_true(*xml != '>');
            xml++;
            continue;
        }
        while (*xml != '>') {
            assert_true(*xml != '\0' && n + 1 < sizeof tag);
            tag[n++] = *xml++;
        }
        tag[n] = '\0';
        xml++;
        if (tag[1] == '?' || tag[1] == '!')
            continue;
        assert_int_equal(sscanf(tag + 1, "%31[a-z/]", name), 1);
        if (name[0] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name + 1);
            continue;
        }
        if (strcmp(name, "reg") == 0 || strcmp(name, "reg/") == 0) {
            char text[32];
            struct xml_reg *reg = &regs[count++];

            assert_true(count <= room);
            assert_non_null(attribute(tag, "name", reg->name, sizeof reg->name));
            assert_non_null(attribute(tag, "type", reg->type, sizeof reg->type));
            assert_non_null(attribute(tag, "bitsize", text, sizeof text));
            reg->bits = (unsigned)atoi(text);
            assert_non_null(attribute(tag, "regnum", text, sizeof text));
            reg->number = (unsigned)atoi(text);
        }
        if (tag[n - 1] != '/') {
            assert_true(depth < LW_COUNT_OF(open));
            snprintf(open[depth++], sizeof open[0], "%s", name);
        }
    }
    assert_int_equal(depth, 0);
    return count;
}

static char *read_document(struct fixture *fix, const char *what)
{
    struct lw_buffer all;
    size_t at = 0;

    lw_buffer_init(&all);
    for (;;) {
        char packet[128];
        const char *reply;

        snprintf(packet, sizeof packet, "qXfer:%s:%zx,%x", what, at, 0x333);
        reply = fix_ask(fix, packet);
        assert_true(reply[0] == 'm' || reply[0] == 'l');
        all.sink.write(&all.sink, reply + 1, fix->last.size - 1);
        at += fix->last.size - 1;
        if (reply[0] == 'l')
            return all.text;
    }
}

static unsigned type_bits(const char *type)
{
    static const struct {
        const char *name;
        unsigned bits;
    } types[] = {
        {"int64", 64}, {"int32", 32}, {"data_ptr", 64}, {"code_ptr", 64}, {"i387_ext", 80},
        {"uint8", 8}, {"uint16", 16}, {"uint32", 32}, {"uint64", 64}, {"dim3", 96},
        {"uint128", 128}, {"lanes", 32 * FAKE_LANES}, {"lane_pcs", 64 * FAKE_LANES},
    };

    for (size_t i = 0; i < LW_COUNT_OF(types); i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].bits;
    fail_msg("unknown type %s", type);
    return 0;
}

static void description_holds(enum rsp_arch arch, const char *name, unsigned mandatory,
                              unsigned g_bytes)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = arch});
    struct xml_reg regs[128];
    char *xml = read_document(fix, "features:read:target.xml"), line[64];
    size_t count = parse_xml(xml, regs, LW_COUNT_OF(regs));
    unsigned bits = 0;

    snprintf(line, sizeof line, "<architecture>%s</architecture>", name);
    assert_non_null(strstr(xml, line));
    assert_non_null(strstr(xml, "<osabi>none</osabi>"));
    assert_non_null(strstr(xml, "<union id=\"lanes\"><field name=\"u32\""));
    assert_non_null(strstr(xml, "encoding=\"vector\" format=\"vector-uint32\""));
    assert_true(count > mandatory);
    for (size_t i = 0; i < count; i++) {
        char packet[32];

        assert_int_equal(regs[i].number, i);
        assert_int_equal(regs[i].bits, type_bits(regs[i].type));
        if (i < mandatory)
            bits += regs[i].bits;
        snprintf(packet, sizeof packet, "p%zx", i);
        fix_ask(fix, packet);
        assert_int_equal(fix->last.size, regs[i].bits / 4);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(regs[i].name, regs[j].name);
    }
    /* The reply to g contains only the mandatory registers. */
    assert_int_equal(bits, g_bytes * 8);
    fix_ask(fix, "g");
    assert_int_equal(fix->last.size, g_bytes * 2);
    free(xml);
    fix_destroy(fix);
}

static void x86_64_description_is_well_formed_and_sizes_agree(void **state)
{
    (void)state;
    description_holds(RSP_X86_64, "i386:x86-64", 40, 17 * 8 + 7 * 4 + 80 + 8 * 4);
}

static void aarch64_description_is_well_formed_and_sizes_agree(void **state)
{
    (void)state;
    description_holds(RSP_AARCH64, "aarch64", 34, 33 * 8 + 4);
}

static unsigned number_of(struct fixture *fix, const char *name)
{
    struct xml_reg regs[128];
    char *xml = read_document(fix, "features:read:target.xml");
    size_t count = parse_xml(xml, regs, LW_COUNT_OF(regs));

    free(xml);
    for (size_t i = 0; i < count; i++)
        if (strcmp(regs[i].name, name) == 0)
            return regs[i].number;
    fail_msg("no register %s", name);
    return 0;
}

static const char *ask_reg(struct fixture *fix, const char *name)
{
    char packet[32];

    snprintf(packet, sizeof packet, "p%x", number_of(fix, name));
    return fix_ask(fix, packet);
}

static const char *set_reg(struct fixture *fix, const char *name, const char *hex)
{
    char packet[1024];

    snprintf(packet, sizeof packet, "P%x=%s", number_of(fix, name), hex);
    return fix_ask(fix, packet);
}

static void three_components_are_a_struct_register_too(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(set_reg(fix, "lane", "05000000"), "OK");
    assert_string_equal(ask_reg(fix, "tid"), "050000000000000000000000");
    assert_string_equal(ask_reg(fix, "tid_x"), "05000000");
}

static void the_focus_lane_is_a_writable_register(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(ask_reg(fix, "lane"), "00000000");
    assert_string_equal(set_reg(fix, "lane", "07000000"), "OK");
    assert_string_equal(ask_reg(fix, "lane"), "07000000");
    assert_int_equal(dbg_lane_get(fix->dbg, 1), 7);
    /* The value of rsp contains the lane, so that gdb's frame ids differ between lanes. */
    assert_string_equal(fix_ask(fix, "p7"), "f80f0000070000f4");
    assert_string_equal(set_reg(fix, "lane", "28000000"), "E.lane 40 does not exist");
}

static void a_vector_register_is_written_whole(void **state)
{
    struct fixture *fix = *state;
    char hex[8 * FAKE_LANES + 1];

    for (unsigned l = 0; l < FAKE_LANES; l++)
        snprintf(hex + 8 * l, 9, "%02x000000", l + 1);
    assert_string_equal(set_reg(fix, "v2", hex), "OK");
    assert_int_equal(fake_dbg_vector(fix->dbg, 1, 2, 31), 32);
    assert_string_equal(ask_reg(fix, "v2"), hex);
}

static void target_registers_without_a_meaning_cannot_be_written(void **state)
{
    struct fixture *fix = *state;

    /* The error says that the GPU does not have the register, and that gdb cannot call functions, since a call writes the
     * register. */
    EXPECT_BEGINS(fix_ask(fix, "P0=0000000000000001"),
                  "E. rax cannot be written, because it is a register of the target architecture that the GPU does not have; "
                  "gdb cannot call functions of the program");
    EXPECT_BEGINS(set_reg(fix, "exec", "0000000000000001"), "E. exec is read-only");
}

static void the_pc_is_written_by_p_and_by_g(void **state)
{
    struct fixture *fix = *state;
    char *g;

    assert_string_equal(fix_ask(fix, "P10=2000000001000000"), "OK");
    assert_string_equal(fix_ask(fix, "p10"), "2000000001000000");
    fix_ask(fix, "g");
    g = malloc(fix->last.size + 2);
    assert_non_null(g);
    g[0] = 'G';
    memcpy(g + 1, fix->last.text, fix->last.size + 1);
    memcpy(g + 1 + 16 * 16, FIRST_PC, 16);
    assert_string_equal(fix_ask(fix, g), "OK");
    assert_string_equal(fix_ask(fix, "p10"), FIRST_PC);
    free(g);
}

/* ---- threads ------------------------------------------------------------------------------ */

static void threads_are_listed_in_both_forms(void **state)
{
    struct fixture *fix = *state;
    struct xml_reg none[1];
    char *xml;

    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,2,3");
    assert_string_equal(fix_ask(fix, "qsThreadInfo"), "l");
    xml = read_document(fix, "threads:read:");
    parse_xml(xml, none, 1);
    assert_non_null(strstr(xml, "<thread id=\"2\" core=\"0\" name=\"block(0,0,0) w1 lane 0\">"
                                "pc=0x100000000 &lt;&amp;&quot;ready&quot;&gt;</thread>"));
    free(xml);
}

static void the_thread_list_is_built_once_per_stop(void **state)
{
    struct fixture *fix = *state;

    free(read_document(fix, "threads:read:"));
    free(read_document(fix, "threads:read:"));
    assert_int_equal(fake_dbg_state_calls(fix->dbg), 3);
    fix_ask(fix, "vCont;s:1;c");
    free(read_document(fix, "threads:read:"));
    assert_int_equal(fake_dbg_state_calls(fix->dbg), 6);
    set_reg(fix, "lane", "05000000"); /* the name of the thread contains the lane */
    free(read_document(fix, "threads:read:"));
    assert_int_equal(fake_dbg_state_calls(fix->dbg), 9);
}

/* Return the text of gdb's thread list for this number of warps, after `monitor threads all`. */
static char *list_of(unsigned warps)
{
    struct fake_options options = {.warps = warps, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    char *xml;

    fix_ask(fix, "qRcmd,7468726561647320616c6c"); /* threads all */
    xml = read_document(fix, "threads:read:");
    assert_int_equal(fake_dbg_state_calls(fix->dbg), 1);
    assert_non_null(strstr(xml, "<thread id=\"1\" core=\"0\" name=\"block(0,0,0) w0 lane 0\">pc="));
    fix_destroy(fix);
    return xml;
}

static unsigned threads_in(const char *xml)
{
    unsigned n = 0;

    while ((xml = strstr(xml, "<thread ")) != NULL) {
        n++;
        xml++;
    }
    return n;
}

/* The list contains the first threads, those that have been reported to gdb, and the number of the others. */
static void beyond_256_warps_some_are_listed(void **state)
{
    struct fake_options options = {.warps = 257, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    char *xml = read_document(fix, "threads:read:");
    unsigned before = threads_in(xml), after;

    (void)state;
    assert_in_range(before, 64, 128);
    assert_non_null(strstr(xml, " more warps: monitor threads all</thread>"));
    assert_null(strstr(xml, "<thread id=\"81\""));
    free(xml);
    fix_ask(fix, "Hg81"); /* a selected thread is added to the list, and remains in it */
    fix_ask(fix, "vCont;s:81");
    xml = read_document(fix, "threads:read:");
    after = threads_in(xml);
    assert_non_null(strstr(xml, "<thread id=\"81\""));
    assert_in_range(after, before + 1, 129);
    free(xml);
    fix_ask(fix, "Hg1");
    fix_ask(fix, "vCont;s:1");
    xml = read_document(fix, "threads:read:");
    assert_non_null(strstr(xml, "<thread id=\"81\""));
    free(xml);
    fix_destroy(fix);
    options.warps = 256;
    fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    xml = read_document(fix, "threads:read:");
    assert_int_equal(threads_in(xml), 256);
    assert_null(strstr(xml, "more warps"));
    free(xml);
    fix_destroy(fix);
}

static void beyond_512_warps_the_list_has_names_without_states(void **state)
{
    char *xml = list_of(513);

    (void)state;
    assert_non_null(strstr(xml, "<thread id=\"201\" name=\"block(0,0,0) w512 lane 0\"/>"));
    free(xml);
}

static void beyond_2048_warps_the_list_has_ids_only(void **state)
{
    char *xml = list_of(2049);

    (void)state;
    assert_non_null(strstr(xml, "<thread id=\"801\"/>"));
    free(xml);
}

static void a_thread_is_chosen_for_viewing_and_for_running(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "Hg2"), "OK");
    assert_string_equal(fix_ask(fix, "qC"), "QC2");
    assert_string_equal(ask_reg(fix, "tid"), "200000000000000000000000");
    assert_string_equal(fix_ask(fix, "Hg0"), "OK");
    assert_string_equal(fix_ask(fix, "Hc-1"), "OK");
    assert_string_equal(fix_ask(fix, "qC"), "QC2");
    assert_string_equal(fix_ask(fix, "Hg9"), "E01");
    /* After the refused Hg9, reads still refer to the same warp. */
    assert_string_equal(ask_reg(fix, "tid"), "000000000000000000000000");
    assert_string_equal(fix_ask(fix, "m20000000000,4"), "E01");
    assert_string_equal(fix_ask(fix, "mf000000000000000,4"), "E01");
    assert_string_equal(fix_ask(fix, "M20000000000,4:00000000"), "E01");
    assert_memory_equal(fix_ask(fix, "P10=0000000001000000"), "E.", 2);
    assert_string_equal(fix_ask(fix, "Hg0"), "OK");
    assert_string_equal(ask_reg(fix, "tid"), "200000000000000000000000");
    assert_string_equal(fix_ask(fix, "T3"), "OK");
    assert_string_equal(fix_ask(fix, "T4"), "E01");
    assert_string_equal(fix_ask(fix, "Hc3"), "OK");
    fix_ask(fix, "s");
    assert_string_equal(fake_dbg_trace(fix->dbg), "step 3");
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void memory_is_read_and_written(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "m200000000000,4"), "00070e15");
    assert_string_equal(fix_ask(fix, "M200000000001,2:aabb"), "OK");
    assert_string_equal(fix_ask(fix, "m200000000000,4"), "00aabb15");
    assert_string_equal(fix_ask(fix, "X200000000000,0:"), "OK");
    assert_string_equal(fix_ask_bytes(fix, "X200000000000,3:\x01\x00\x02", 19), "OK");
    assert_string_equal(fix_ask(fix, "m200000000000,4"), "01000215");
    assert_string_equal(fix_ask(fix, "x0,0"), "OK");
    fix_ask(fix, "x200000000000,4");
    assert_int_equal(fix->last.size, 4);
    assert_memory_equal(fix->last.text, "\x01\x00\x02\x15", 4);
}

static void memory_that_ends_gives_what_there_is(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "m200000001ffe,10");
    assert_int_equal(fix->last.size, 4);
    assert_string_equal(fix_ask(fix, "m200000002000,4"), "E01");
    assert_string_equal(fix_ask(fix, "mffffffffffffffff,ffffffffffffffff"), "E01");
    assert_string_equal(fix_ask(fix, "M200000001fff,2:0000"), "E01");
    fix_ask(fix, "m200000000000,ffffffff");
    assert_int_equal(fix->last.size, 2 * FAKE_MEMORY_BYTES);
}

static void crc_is_the_one_gdb_computes(void **state)
{
    struct fixture *fix = *state;

    fix_ask_bytes(fix, "X200000000000,9:123456789", 25);
    assert_string_equal(fix_ask(fix, "qCRC:200000000000,9"), "C0376e6e7");
    assert_string_equal(fix_ask(fix, "qCRC:200000001ffc,8"), "E01");
}

static void search_finds_patterns_across_pieces(void **state)
{
    struct fixture *fix = *state;

    fix_ask_bytes(fix, "X200000000ffd,6:needle", 22);
    assert_string_equal(fix_ask(fix, "qSearch:memory:200000000000;2000;needle"),
                        "1,200000000ffd");
    assert_string_equal(fix_ask(fix, "qSearch:memory:200000000000;1002;needle"), "0");
    assert_string_equal(fix_ask(fix, "qSearch:memory:200000000ffe;1000;needle"), "0");
}

/* ---- served files ----------------------------------------------------------------------------- */

static uint64_t big_endian(const char *bytes, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++)
        value = value << 8 | (uint8_t)bytes[i];
    return value;
}

static void elf_is_served(enum rsp_arch arch, unsigned machine)
{
    static const char source[] = ".kernel k\n    exit\n.end\n";
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct isa_object *object = NULL;
    struct lw_error err = {0};
    struct fixture *fix;
    char packet[512], *name;
    size_t size, n;

    if (isa_assemble("dir/ker nel.s", source, strlen(source), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    fix = fix_create(&options, (struct rsp_config){.arch = arch, .object = object});
    assert_non_null(strstr(fix_ask(fix, "qSupported"), ";qXfer:exec-file:read+"));
    name = read_document(fix, "exec-file:read:1");
    assert_string_equal(name, "/lanewise/ker_nel.s.lwo");
    assert_string_equal(fix_ask(fix, "vFile:setfs:0"), "F0");
    assert_string_equal(fix_ask(fix, "vFile:open:6a7573742070726f62696e67,0,1c0"), "F-1,2");
    n = (size_t)snprintf(packet, sizeof packet, "vFile:open:");
    for (const char *p = name; *p != '\0'; p++)
        n += (size_t)snprintf(packet + n, sizeof packet - n, "%02x", (unsigned char)*p);
    snprintf(packet + n, sizeof packet - n, ",1,1c0");
    assert_string_equal(fix_ask(fix, packet), "F-1,1e"); /* the file cannot be opened for writing */
    snprintf(packet + n, sizeof packet - n, ",0,1c0");
    assert_string_equal(fix_ask(fix, packet), "F3");
    EXPECT_BEGINS(fix_ask(fix, "vFile:fstat:3"), "F40;");
    assert_int_equal(fix->last.size, 4 + 64);
    size = (size_t)big_endian(fix->last.text + 4 + 28, 8);
    assert_true(size > 64);
    EXPECT_BEGINS(fix_ask(fix, "vFile:pread:3,40,0"), "F40;\x7f"
                                                      "ELF");
    assert_int_equal((uint8_t)fix->last.text[4 + 18] | (uint8_t)fix->last.text[4 + 19] << 8,
                     machine);
    assert_int_equal(big_endian(fix->last.text + 4 + 48, 4), 0);
    snprintf(packet, sizeof packet, "vFile:pread:3,ffffffff,%zx", size - 5);
    EXPECT_BEGINS(fix_ask(fix, packet), "F5;");
    assert_string_equal(fix_ask(fix, "vFile:pread:3,10,ffffffffffffffff"), "F0;");
    assert_string_equal(fix_ask(fix, "vFile:pread:4,10,0"), "F-1,9");
    assert_string_equal(fix_ask(fix, "vFile:close:3"), "F0");
    free(name);
    fix_destroy(fix);
    isa_object_destroy(object);
}

static void the_elf_is_served_with_the_target_machine(void **state)
{
    (void)state;
    elf_is_served(RSP_X86_64, 62);
    elf_is_served(RSP_AARCH64, 183);
}

/* ---- breakpoints -------------------------------------------------------------------------------- */

static void a_breakpoint_stops_and_says_swbreak_when_negotiated(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "Z0,100000020,1"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;10:2000000001000000;");
    fix_ask(fix, "qSupported:swbreak+;hwbreak+");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:2;swbreak:;10:2000000001000000;");
    assert_string_equal(fix_ask(fix, "z0,100000020,1"), "OK");
    assert_string_equal(fix_ask(fix, "Z1,100000030,1"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:2;hwbreak:;");
    assert_string_equal(fix_ask(fix, "z1,100000030,1"), "OK");
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
}

static void a_condition_is_tested_in_every_lane_and_moves_the_focus(void **state)
{
    struct fixture *fix = *state;
    char packet[128];

    /* v1 == 107 through debug address range F0: const64, ref32, const8 107, equal, end */
    assert_string_equal(fix_ask(fix, "Z0,100000020,1;Xe,25f00000000000000419226b1327"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;");
    assert_int_equal(dbg_lane_get(fix->dbg, 1), 7);
    assert_int_equal(dbg_last_stop(fix->dbg)->hit_lanes, 0x80);
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
    (void)packet;
}

static void the_focus_remains_on_a_lane_that_hits_itself(void **state)
{
    struct fixture *fix = *state;

    set_reg(fix, "lane", "05000000");
    fix_ask(fix, "Z0,100000020,1");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;10:2000000001000000;07:f80f0000050000f4;");
    assert_int_equal(dbg_lane_get(fix->dbg, 1), 5);
    /* v1 == 107 holds in lane 7, so that lane 5 does not hit. */
    fix_ask(fix, "z0,100000020,1");
    fix_ask(fix, "Z0,100000030,1;Xe,25f00000000000000419226b1327");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;10:3000000001000000;07:f80f0000070000f4;");
}

static void a_condition_may_use_registers_by_number(void **state)
{
    struct fixture *fix = *state;
    char packet[128];

    /* $lane == 9 */
    snprintf(packet, sizeof packet, "Z0,100000010,1;X7,26%04x22091327", number_of(fix, "lane"));
    assert_string_equal(fix_ask(fix, packet), "OK");
    fix_ask(fix, "vCont;c");
    assert_int_equal(dbg_last_stop(fix->dbg)->hit_lanes, 0x200);
    assert_int_equal(dbg_lane_get(fix->dbg, 1), 9);
}

static void one_true_condition_of_several_stops(void **state)
{
    struct fixture *fix = *state;
    char packet[128];
    unsigned lane = number_of(fix, "lane");

    /* the form of the packet that gdb 13 sends, and the form that its manual describes */
    for (unsigned i = 0; i < 2; i++) {
        snprintf(packet, sizeof packet, "Z0,100000010,1;X7,26%04x22091327%sX7,26%04x22031327",
                 lane, i == 0 ? "" : ";", lane);
        assert_string_equal(fix_ask(fix, packet), "OK");
    }
    fix_ask(fix, "vCont;c");
    assert_int_equal(dbg_last_stop(fix->dbg)->hit_lanes, 0x208);
}

static void a_condition_that_cannot_be_evaluated_stops(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "Z0,100000010,1;X3,2200ff"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;");
}

static void a_new_condition_replaces_the_old_one(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "Z0,100000010,1;X3,220127");
    fix_ask(fix, "Z0,100000010,1;X3,220027");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 1);
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
}

static void points_are_gone_with_the_connection(void **state)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct dbg *dbg = fake_dbg_create(&options);
    struct rsp_config config = {.dbg = dbg, .arch = RSP_X86_64};
    struct lw_buffer out;
    struct rsp *rsp = NULL;
    struct lw_error err;

    (void)state;
    lw_buffer_init(&out);
    assert_int_equal(rsp_create(&config, &out.sink, &rsp, &err), LW_OK);
    rsp_packet(rsp, "Z0,100000010,1", 14);
    assert_int_equal(fake_dbg_stoppoint_count(dbg), 1);
    rsp_packet(rsp, "D", 1);
    assert_int_equal(rsp_ended(rsp), RSP_DETACHED);
    rsp_destroy(rsp);
    assert_int_equal(fake_dbg_stoppoint_count(dbg), 0);
    /* The next client finds the machine unchanged. */
    assert_int_equal(rsp_create(&config, &out.sink, &rsp, &err), LW_OK);
    lw_buffer_clear(&out);
    rsp_packet(rsp, "?", 1);
    EXPECT_BEGINS(out.text, "$T05thread:1;");
    rsp_destroy(rsp);
    lw_buffer_fini(&out);
    dbg_destroy(dbg);
}

/* ---- running -------------------------------------------------------------------------------------- */

static void resume_packets_become_the_right_calls(void **state)
{
    static const struct {
        const char *packet, *trace;
    } cases[] = {
        {"vCont;s:1;c", "step 1"},
        {"vCont;s:1", "step 1 locked"},
        {"vCont;s:2;c:1;c", "step 2"},
        {"vCont;c:2;s:1", "step 1 locked"},
        {"vCont;r100000000,100000020:1;c", "range 1"},
        {"vCont;r100000000,100000030:1", "range 1 locked"},
        {"vCont;S05:1;c", "step 1"},
        {"vCont;s:99;s:3;c", "step 3"}, /* a thread that has ended is ignored */
        {"vCont;s", "step 3 locked"},
        {"vCont;c", "continue"},
    };

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        fix_ask(*state, cases[i].packet);
        if (strcmp(fake_dbg_trace(((struct fixture *)*state)->dbg), cases[i].trace) != 0)
            fail_msg("%s became %s", cases[i].packet,
                     fake_dbg_trace(((struct fixture *)*state)->dbg));
    }
}

static void a_locked_continue_runs_one_warp_to_its_end(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "qSupported:no-resumed+");
    assert_string_equal(fix_ask(fix, "vCont;c:2"), "N");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,3");
    assert_string_equal(fix_ask(fix, "vCont;s:2"), "N");
    EXPECT_BEGINS(fix_ask(fix, "?"), "T05thread:1;");
}

/* `advance` sets a breakpoint of gdb at the return address of kernels. If a warp ends in a step, gdb steps it over that
 * breakpoint. If the stub replies N, or reports a stop at the same address, gdb 13 crashes with a segmentation fault. */
static void a_warp_that_ended_in_its_step_can_be_stepped_past_where_it_stands(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "qSupported:no-resumed+");
    for (unsigned i = 1; i < FAKE_INSNS; i++)
        fix_ask(fix, "vCont;s:2");
    assert_string_equal(fix_ask(fix, "Z0,fffffff0,1"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;s:2"), "T05thread:2;10:f0ffffff00000000;");
    assert_string_equal(fix_ask(fix, "z0,fffffff0,1"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;s:2"), "T05thread:2;10:f8ffffff00000000;");
    fix_ask(fix, "Hg2");
    assert_string_equal(fix_ask(fix, "p10"), "f8ffffff00000000");
    fix_ask(fix, "vCont;s:2;c"); /* a step with which other warps may run: the console says that this warp has ended */
    EXPECT_BEGINS(fix->console.text, "that warp has ended: nothing was executed, and gdb now shows the warp in the focus\n");
    for (unsigned i = 0; i < FAKE_INSNS; i++)
        fix_ask(fix, "vCont;s:1");
    assert_string_equal(fix_ask(fix, "vCont;s:1"), "N"); /* a step of the user, not a step over a breakpoint */
}

static void plain_continue_and_step_work_for_lldb(void **state)
{
    struct fixture *fix = *state;

    EXPECT_BEGINS(fix_ask(fix, "s"), "T05thread:1;10:1000000001000000;");
    EXPECT_BEGINS(fix_ask(fix, "s100000040"), "T05thread:1;10:5000000001000000;");
    EXPECT_BEGINS(fix_ask(fix, "S05"), "T05thread:1;10:6000000001000000;");
    assert_string_equal(fix_ask(fix, "C05;100000000"), "W00");
    EXPECT_BEGINS(fix_ask(fix, "qHostInfo"), "triple:7838365f3634");
    EXPECT_BEGINS(fix_ask(fix, "qProcessInfo"), "pid:1;triple:");
}

static void a_fault_is_reported_in_words_and_as_a_signal(void **state)
{
    struct fake_options options = {.warps = 2, .fault_at = 3};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});

    (void)state;
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T0bthread:1;");
    assert_string_equal(fix->console.text, "fault: lanes 0x80: address 0xdeadbeef\n");
    EXPECT_BEGINS(fix_ask(fix, "?"), "T0bthread:1;"); /* a client that reconnects gets the same reply */
    assert_string_equal(fix_ask(fix, "vCont;C0b:1;c"), "X0b"); /* the signal ends the program */
    assert_int_equal(rsp_ended(fix->rsp), RSP_KILLED);
    fix_destroy(fix);
    fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T0bthread:1;");
    assert_string_equal(fix_ask(fix, "vCont;c:2;C0b:1"), "X0b"); /* lldb names all threads in this way */
    fix_destroy(fix);
}

static void notes_of_a_run_are_console_text_before_the_stop(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
    assert_string_equal(fix->console.text, "a note\n");
    EXPECT_BEGINS(fix->out.text, "$O61");
}

static void vcont_lists_what_gdb_insists_on(void **state)
{
    assert_string_equal(fix_ask(*state, "vCont?"), "vCont;c;C;s;S;t;r");
}

/* ---- monitor ---------------------------------------------------------------------------------------- */

static enum lw_status say(const struct lw_call *call, struct lw_error *err)
{
    (void)err;
    lw_printf(call->out, "said %s\n", call->argc > 1 ? call->argv[1] : "nothing");
    return LW_OK;
}

static enum lw_status lane(const struct lw_call *call, struct lw_error *err)
{
    return dbg_lane_set(*(struct dbg **)call->context, 1, 6, err);
}

static void monitor_runs_the_commands_it_was_given(void **state)
{
    static struct dbg *dbg;
    static const struct lw_command rows[] = {
        {"say", NULL, "[word]", "Say a word", "say hello", say, 0},
        {"lane", NULL, "<lane>", "Set the lane", "lane 6", lane, 0},
        {"set", "se", "<word>", "Change something", "set hello", say, LW_COMMAND_CHANGES},
    };
    struct lw_command_set set = {.tables = {{rows, LW_COUNT_OF(rows), &dbg}}, .count = 1};
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct fixture *fix =
        fix_create(&options, (struct rsp_config){.arch = RSP_X86_64, .monitor = &set});

    (void)state;
    dbg = fix->dbg;
    assert_string_equal(fix_ask(fix, "qRcmd,7361792068656c6c6f"), "OK");
    assert_string_equal(fix->console.text, "said hello\n");
    assert_string_equal(fix_ask(fix, "qRcmd,626164"), "OK");
    EXPECT_BEGINS(fix->console.text, "error: ");
    assert_string_equal(fix_ask(fix, "qRcmd,6c616e652036"), "OK");
    assert_non_null(strstr(fix->console.text, "maint flush register-cache"));
    /* The command does not change the focus, but may change a register that gdb has read. */
    assert_string_equal(fix_ask(fix, "qRcmd,73652061"), "OK");
    EXPECT_BEGINS(fix->console.text, "said a\nnote: gdb still shows");
    fix_destroy(fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)
        TEST(supported_lists_what_the_table_offers),
        TEST(malformed_arguments_are_an_error_and_not_a_crash),
        TEST(packets_without_a_row_are_unsupported),
        TEST(why_names_thread_and_expedited_registers),
        TEST(an_ended_machine_has_exited),
        TEST(x86_64_description_is_well_formed_and_sizes_agree),
        TEST(aarch64_description_is_well_formed_and_sizes_agree),
        TEST(three_components_are_a_struct_register_too),
        TEST(the_focus_lane_is_a_writable_register),
        TEST(a_vector_register_is_written_whole),
        TEST(target_registers_without_a_meaning_cannot_be_written),
        TEST(the_pc_is_written_by_p_and_by_g),
        TEST(threads_are_listed_in_both_forms),
        TEST(the_thread_list_is_built_once_per_stop),
        TEST(beyond_256_warps_some_are_listed),
        cmocka_unit_test(beyond_512_warps_the_list_has_names_without_states),
        TEST(beyond_2048_warps_the_list_has_ids_only),
        TEST(a_thread_is_chosen_for_viewing_and_for_running),
        TEST(memory_is_read_and_written),
        TEST(memory_that_ends_gives_what_there_is),
        TEST(crc_is_the_one_gdb_computes),
        TEST(search_finds_patterns_across_pieces),
        TEST(the_elf_is_served_with_the_target_machine),
        TEST(a_breakpoint_stops_and_says_swbreak_when_negotiated),
        TEST(a_condition_is_tested_in_every_lane_and_moves_the_focus),
        TEST(the_focus_remains_on_a_lane_that_hits_itself),
        TEST(a_condition_may_use_registers_by_number),
        TEST(one_true_condition_of_several_stops),
        TEST(a_condition_that_cannot_be_evaluated_stops),
        TEST(a_new_condition_replaces_the_old_one),
        TEST(points_are_gone_with_the_connection),
        TEST(resume_packets_become_the_right_calls),
        TEST(a_locked_continue_runs_one_warp_to_its_end),
        TEST(a_warp_that_ended_in_its_step_can_be_stepped_past_where_it_stands),
        TEST(plain_continue_and_step_work_for_lldb),
        TEST(a_fault_is_reported_in_words_and_as_a_signal),
        TEST(notes_of_a_run_are_console_text_before_the_stop),
        TEST(vcont_lists_what_gdb_insists_on),
        TEST(monitor_runs_the_commands_it_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
