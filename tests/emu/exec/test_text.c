/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the text that kernels print: a comparison of the formatter with the host's printf, malicious formats, the order
 * of text, and assertions. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "emu/print/emu_print_priv.h"

/* ---- the formatter ---------------------------------------------------------------------- */

/* The guest memory for tests of the formatter is one address range. */
enum { MEMORY = 4096, BASE = 0x10000 };
struct memory {
    uint8_t byte[MEMORY];
    uint64_t size;
};
static uint64_t read_memory(void *context, uint64_t address, void *data, uint64_t size)
{
    const struct memory *m = context;
    uint64_t n;

    if (address < BASE || address - BASE >= m->size)
        return 0;
    n = m->size - (address - BASE);
    n = n < size ? n : size;
    memcpy(data, m->byte + (address - BASE), n);
    return n;
}

static uint64_t random_state;
static uint64_t next_random(void)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
static unsigned below(unsigned n)
{
    return (unsigned)(next_random() % n);
}

struct args {
    struct memory *m;
    uint64_t at; /* offset of the next argument */
};
static void put_arg(struct args *a, const void *data, unsigned size, unsigned align)
{
    a->at = (a->at + align - 1) / align * align;
    memcpy(a->m->byte + a->at, data, size);
    a->at += size;
}

/* Offsets in the guest memory. The formatter runs with the format at BASE, strings from BASE + STRINGS on, and arguments
 * from BASE + ARGS on. */
enum { STRINGS = 1024, ARGS = 2048 };
static char out[EMU_FORMAT_LIMIT + 1];
static bool format(struct memory *m, const char *text, size_t *size, uint64_t *bad)
{
    struct emu_format_source source = {.read = read_memory, .context = m};
    bool good;

    if (text != NULL)
        strcpy((char *)m->byte, text);
    good = emu_format(&source, BASE, BASE + ARGS, out, size);
    out[*size] = '\0';
    if (bad != NULL)
        *bad = source.bad_address;
    return good;
}

static double random_double(void)
{
    static const double some[] = {0, 1, 0.5, 1e10, 1e100, 123456.789, 5e-324, 1e-5, 99999.95, 2.5};
    uint64_t bits = next_random();
    double d;

    if (below(2) == 0) {
        d = some[below(10)];
        return below(2) == 0 ? d : -d;
    }
    do {
        bits = next_random();
        memcpy(&d, &bits, sizeof d);
    } while (d != d || d - d != 0);
    return d;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void formats_are_those_of_the_host(void **state)
{
    static struct memory m = {.size = MEMORY};
    static const char *const lengths[] = {"hh", "h", "", "l", "ll", "z", "j", "t", "q"};
    const char *seed = getenv("LW_SEED");

    (void)state;
    random_state = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    strcpy((char *)m.byte + STRINGS, "some text of the guest");
    for (unsigned round = 0; round < 20000; round++) {
        struct args a = {&m, ARGS};
        char text[400] = "", want[4000] = "";
        for (unsigned k = below(4) + 1; k != 0; k--) {
            static const char conversions[] = "diuxXocspfFeEgGaA%";
            char spec[60] = "%", c = conversions[below(sizeof conversions - 1)], one[1000];
            char *s = spec + 1;
            bool integer = strchr("diuxXo", c) != NULL, real = strchr("fFeEgGaA", c) != NULL;
            unsigned length = integer ? below(9) : 2;
            int width = 0, precision = 0;
            bool star_width = false, star_precision = false;
            if (c == '%') {
                strcat(text, "%%");
                strcat(want, "%");
                continue;
            }
            if (below(2))
                *s++ = '-';
            if (below(8) == 0 && (strchr("diufFgG", c) != NULL))
                *s++ = '\'';
            if (below(3) == 0 && (c == 'd' || c == 'i' || real))
                *s++ = below(2) ? '+' : ' ';
            if (below(3) == 0 && (c == 'x' || c == 'X' || c == 'o' || real))
                *s++ = '#';
            if (below(3) == 0 && (integer || real))
                *s++ = '0';
            if (below(3) == 0) {
                star_width = true;
                width = (int)below(60) - 30;
                *s++ = '*';
            } else if (below(2)) {
                s += sprintf(s, "%u", below(40) + 1);
            }
            if (below(2) && c != 'c' && c != 'p') {
                *s++ = '.';
                if (below(3) == 0) {
                    star_precision = true;
                    precision = (int)below(30) - 4;
                    *s++ = '*';
                } else if (below(4)) {
                    s += sprintf(s, "%u", below(30));
                }
            }
            s += sprintf(s, "%s%c", integer ? lengths[length] : real && below(4) == 0 ? "l" : "", c);
            if (star_width)
                put_arg(&a, &width, 4, 4);
            if (star_precision)
                put_arg(&a, &precision, 4, 4);
#define HOST(value)                                                                           \
    (star_width && star_precision ? snprintf(one, sizeof one, spec, width, precision, value) \
     : star_width                 ? snprintf(one, sizeof one, spec, width, value)            \
     : star_precision             ? snprintf(one, sizeof one, spec, precision, value)        \
                                  : snprintf(one, sizeof one, spec, value))
            if (real) {
                double d = random_double();
                put_arg(&a, &d, 8, 8);
                HOST(d);
            } else if (c == 's') {
                uint64_t address = BASE + STRINGS + below(23);
                put_arg(&a, &address, 8, 8);
                HOST((const char *)m.byte + (address - BASE));
            } else if (c == 'p') {
                uint64_t address = below(4) ? next_random() : 0;
                put_arg(&a, &address, 8, 8);
                HOST((void *)(uintptr_t)address);
            } else if (c == 'c') {
                int v = (int)below(255) + 1;
                put_arg(&a, &v, 4, 4);
                HOST(v);
            } else if (length >= 3) {
                uint64_t v = next_random() >> below(64);
                put_arg(&a, &v, 8, 8);
                HOST((unsigned long long)v);
            } else {
                uint32_t v = (uint32_t)next_random() >> below(32);
                put_arg(&a, &v, 4, 4);
                HOST(v);
            }
            strcat(text, spec);
            strcat(want, one);
            strcat(text, "~");
            strcat(want, "~");
        }
        size_t size;
        assert_true(format(&m, text, &size, NULL));
        if (strcmp(out, want) != 0)
            fail_msg("round %u: \"%s\" gives \"%s\" instead of \"%s\"", round, text, out, want);
        assert_int_equal(size, strlen(want));
    }
}
#pragma GCC diagnostic pop

static void expect_text(struct memory *m, const char *text, const char *want)
{
    size_t size;

    assert_true(format(m, text, &size, NULL));
    assert_string_equal(out, want);
    assert_int_equal(size, strlen(want));
}

static void vectors_are_printed_element_by_element(void **state)
{
    static struct memory m = {.size = MEMORY};
    static const float f[4] = {1, -2.5f, 3, 4};
    static const uint16_t halves[4] = {0x3c00, 0xc100, 0x0001, 0x7c00};
    static const double d[2] = {0.5, -8};
    static const int8_t bytes[4] = {1, -1, 127, -128};
    struct args a = {&m, ARGS};
    int32_t before = 7;

    (void)state;
    put_arg(&a, &before, 4, 4);
    put_arg(&a, f, 16, 16);
    put_arg(&a, f, 16, 16); /* a vector of three elements takes the space of four */
    put_arg(&a, d, 16, 16);
    put_arg(&a, bytes, 4, 4);
    put_arg(&a, halves, 8, 8);
    put_arg(&a, &before, 4, 4);
    expect_text(&m, "%d %v4hlf %.1v3hlf %v2lg %v4hhd %.2v4he %d",
                "7 1.000000,-2.500000,3.000000,4.000000 1.0,-2.5,3.0 0.5,-8 1,-1,127,-128 "
                "1.00e+00,-2.50e+00,5.96e-08,inf 7");
    a.at = ARGS;
    put_arg(&a, bytes, 4, 4);
    expect_text(&m, "%#5v4hhx|", "  0x1, 0xff, 0x7f, 0x80|");
    a.at = ARGS;
    put_arg(&a, f, 16, 16);
    expect_text(&m, "%v4f", "1.000000,-2.500000,3.000000,4.000000");
}

static void unknown_conversions_are_printed_as_they_stand(void **state)
{
    static struct memory m = {.size = MEMORY};
    struct args a = {&m, ARGS};
    int32_t seven = 7;

    (void)state;
    put_arg(&a, &seven, 4, 4);
    expect_text(&m, "%y %d", "%y 7");
    expect_text(&m, "%-5.3lq|%d", "%-5.3lq|7");
    expect_text(&m, "%v5d %d", "%v5d 7");
    expect_text(&m, "%hld %d", "%hld 7");
    expect_text(&m, "%v2zd %d", "%v2zd 7");
    expect_text(&m, "%zy %d", "%zy 7");
    expect_text(&m, "100%", "100%");
    expect_text(&m, "%", "%");
    expect_text(&m, "%-+ #05.", "%-+ #05.");
    expect_text(&m, "%v4s", "%v4s");
}

static void what_has_an_argument_leaves_the_next_one_its_own(void **state)
{
    static struct memory m = {.size = MEMORY};
    struct args a = {&m, ARGS};
    int32_t seven = 7;
    int64_t wide = -5000000000;
    double half = 0.5;

    (void)state;
    put_arg(&a, &seven, 4, 4);
    put_arg(&a, &wide, 8, 8);
    put_arg(&a, &seven, 4, 4);
    put_arg(&a, &half, 8, 8);
    put_arg(&a, &seven, 4, 4);
    expect_text(&m, "%d %zd %d %.1Lf %d", "7 -5000000000 7 0.5 7");
    expect_text(&m, "%d %n %d %n %d", "7 %n 7 %n 7");
    expect_text(&m, "%d %5Lx %d %'.1Lg %d", "7 fffffffed5fa0e00 7 0.5 7");
}

static void numbers_that_are_none_have_one_spelling(void **state)
{
    static struct memory m = {.size = MEMORY};
    static const uint64_t bits[] = {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
                                    UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000000001)};
    struct args a = {&m, ARGS};

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        put_arg(&a, &bits[i], 8, 8);
    expect_text(&m, "%f|%06.2F|%-6e|%A", "inf|  -INF|nan   |-NAN");
    a.at = ARGS;
    put_arg(&a, &bits[0], 8, 8);
    expect_text(&m, "%+g", "+inf");
}

static void text_beyond_the_limit_is_cut(void **state)
{
    static struct memory m = {.size = MEMORY};
    struct args a = {&m, ARGS};
    int32_t huge = INT32_MAX, least = INT32_MIN;
    double one = 1;
    size_t size;

    (void)state;
    put_arg(&a, &huge, 4, 4);
    put_arg(&a, &huge, 4, 4);
    assert_true(format(&m, "%*d|%d", &size, NULL));
    assert_int_equal(size, EMU_FORMAT_LIMIT);
    a.at = ARGS;
    put_arg(&a, &least, 4, 4);
    assert_true(format(&m, "%*d|%d", &size, NULL));
    assert_int_equal(size, EMU_FORMAT_LIMIT);
    a.at = ARGS;
    put_arg(&a, &huge, 4, 4);
    put_arg(&a, &huge, 4, 4);
    put_arg(&a, &one, 8, 8);
    assert_true(format(&m, "%*.*f%99999999999999999999d", &size, NULL));
    assert_int_equal(size, EMU_FORMAT_LIMIT);
}

static void missing_bytes_are_named(void **state)
{
    static struct memory m = {.size = MEMORY};
    struct args a = {&m, ARGS};
    uint64_t address = BASE + MEMORY - 3, bad;
    size_t size;

    (void)state;
    memset(m.byte + MEMORY - 3, 'x', 3);
    put_arg(&a, &address, 8, 8);
    assert_false(format(&m, "%s", &size, &bad)); /* the string has no terminating zero */
    assert_int_equal(bad, BASE + MEMORY);
    expect_text(&m, "%.3s", "xxx"); /* a string with a precision need not be terminated */
    m.size = ARGS + 4;
    assert_false(format(&m, "%d %d", &size, &bad));
    assert_int_equal(bad, BASE + ARGS + 4);
    assert_false(format(&m, "%f", &size, &bad));
    assert_int_equal(bad, BASE + ARGS + 4);
    m.size = 3;
    assert_false(format(&m, "hello", &size, &bad));
    assert_int_equal(bad, BASE + 3);
}

static void hostile_formats_read_only_guest_memory(void **state)
{
    static struct memory m;
    static const char letters[] = "%%%%**..vhl-+ #0123456789diuxXocspfeEgaALnqz\n\xff";

    (void)state;
    random_state = 77;
    for (unsigned round = 0; round < 20000; round++) {
        size_t size;
        m.size = ARGS + below(64);
        for (unsigned i = 0; i < 40; i++)
            m.byte[i] = (uint8_t)letters[below(sizeof letters - 1)];
        m.byte[40] = 0;
        for (unsigned i = ARGS; i < m.size; i++)
            m.byte[i] = (uint8_t)(below(3) ? 0 : next_random());
        (void)format(&m, NULL, &size, NULL);
        assert_in_range(size, 0, EMU_FORMAT_LIMIT);
    }
}

/* ---- kernels ----------------------------------------------------------------------------- */

struct run {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_buffer text;
    uint64_t out, hash;
};

static void check(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}
static void open_run(struct run *r, const char *text, const struct emu_config *config,
                     uint32_t grid, uint32_t block)
{
    struct lw_error err;

    memset(r, 0, sizeof *r);
    check(emu_machine_create(config, &r->machine, &err), &err);
    check(isa_assemble("test.s", text, strlen(text), &r->object, &err), &err);
    check(emu_program_load(r->machine, r->object, &r->program, &err), &err);
    check(emu_alloc(r->machine, 4096, "out", 0, &r->out, &err), &err);
    check(emu_engine_functional_create(r->machine, &r->engine, &err), &err);
    lw_buffer_init(&r->text);
    emu_machine_set_print(r->machine, &r->text.sink);
    struct emu_launch launch = {.program = r->program, .kernel = &r->object->functions[0],
                                .grid = {grid, 1, 1}, .block = {block, 1, 1}, .work_dim = 1,
                                .params = &r->out};
    check(emu_grid_launch(r->machine, &launch, NULL, &err), &err);
}
static void go(struct run *r)
{
    struct lw_error err;

    check(r->engine->ops->run(r->engine, &r->stop, &err), &err);
    r->hash = emu_hash_mem(r->machine);
}
static void close_run(struct run *r)
{
    lw_buffer_fini(&r->text);
    emu_engine_destroy(r->engine);
    emu_machine_destroy(r->machine);
    isa_object_destroy(r->object);
}
static void small_config(struct emu_config *config)
{
    emu_config_default(config);
    config->arena_bytes = 1 << 24;
    config->hang_window = 20000;
}
static void expect_stop(const struct run *r, enum emu_stop_kind kind)
{
    if (r->stop.kind != kind)
        fail_msg("stop %d: %s%s", r->stop.kind, r->stop.fault.detail, r->stop.hang.detail);
}

#define MESSAGE(name, text) ".const " name " 64 = str \"" text "\\0\"\n"
#define ADDRESS(pair, low, high, name)                                                        \
    "v_mov_b32 " low ", lo(" name ")\nv_mov_b32 " high ", hi(" name ")\n"
/* Sets v20:21 to the generic address of the arguments, which are the block and thread numbers in local memory. */
#define BUFFER                                                                                \
    ".local 64\nv_s2r v0, %tid.x\nv_s2r v1, %ctaid.x\nv_mov_b32 v20, 16\n"                   \
    "st.local.b32 [v20], v1\nst.local.b32 [v20+4], v0\nv_mov_b32 v21, 0x200\n"

/* Every thread prints a line. Odd threads print another line than even ones. */
static const char lines[] =
    MESSAGE("even", "block %d thread %3d\\n") MESSAGE("odd", "block %d odd %d\\n")
    ".kernel k\n.param ptr.global out\n" BUFFER
    ADDRESS("v4:5", "v4", "v5", "even") ADDRESS("v6:7", "v6", "v7", "odd")
    "vprintf v3, v4:5, v20:21\n"
    "v_and_b32 v8, v0, 1\nv_setp_u32.ne p0, v8, 0\n"
    "bssy b0, join\n@!p0 bra join, b0\n"
    "vprintf v3, v6:7, v20:21\n"
    "join: bsync b0\nexit\n.end\n";

static void text_comes_out_in_block_order_everywhere(void **state)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64}, resident[] = {1, 5, 2048};
    struct lw_buffer want;

    (void)state;
    lw_buffer_init(&want);
    for (unsigned w = 0; w < LW_COUNT_OF(widths); w++) {
        uint64_t hash = 0;
        lw_buffer_clear(&want);
        for (unsigned b = 0; b < 7; b++) {
            for (unsigned first = 0; first < 40; first += widths[w]) { /* the warps execute one after the other */
                for (unsigned t = first; t < 40 && t < first + widths[w]; t++)
                    lw_printf(&want.sink, "block %u thread %3u\n", b, t);
                for (unsigned t = first + 1; t < 40 && t < first + widths[w]; t += 2)
                    lw_printf(&want.sink, "block %u odd %u\n", b, t);
            }
        }
        for (const char *const *policy = emu_policy_names; *policy != NULL; policy++) {
            for (unsigned i = 0; i < LW_COUNT_OF(resident); i++) {
                struct emu_config config;
                struct run r;
                small_config(&config);
                config.warp_width = widths[w];
                config.policy = *policy;
                config.resident_warps = resident[i];
                open_run(&r, lines, &config, 7, 40);
                go(&r);
                expect_stop(&r, EMU_STOP_IDLE);
                if (strcmp(r.text.text, want.text) != 0)
                    fail_msg("%s, W %u, %u resident: %s", *policy, widths[w], resident[i],
                             r.text.text);
                if (hash != 0)
                    assert_int_equal(r.hash, hash);
                hash = r.hash;
                close_run(&r);
            }
        }
    }
    lw_buffer_fini(&want);
}

/* Block 0 waits for a flag that block 2 sets, so block 2 prints before block 0. */
static const char waiting[] =
    MESSAGE("hello", "block %d\\n") MESSAGE("last", "block %d goes on\\n")
    ".kernel k\n.param ptr.global out\n" BUFFER
    ADDRESS("v4:5", "v4", "v5", "hello") ADDRESS("v6:7", "v6", "v7", "last")
    "v_mov_b64 v8:9, c[out]\n"
    "v_setp_u32.eq p0, v1, 0\n@p0 bra wait\n"
    "vprintf v3, v4:5, v20:21\n"
    "v_setp_u32.ne p0, v1, 2\n@p0 exit\n"
    "v_mov_b32 v10, 1\nst.global.b32.release [v8:9], v10\nexit\n"
    "wait: yield\nld.global.b32.acquire v10, [v8:9]\n"
    "v_setp_u32.eq p0, v10, 0\n@p0 bra wait\n"
    "vprintf v3, v4:5, v20:21\n"
    "vprintf v3, v6:7, v20:21\nexit\n.end\n";

static void a_debugger_sees_text_at_once_but_the_hash_takes_block_order(void **state)
{
    struct emu_config config;
    struct run kept, live;

    (void)state;
    small_config(&config);
    config.hang_window = 1 << 24;
    open_run(&kept, waiting, &config, 4, 1);
    go(&kept);
    expect_stop(&kept, EMU_STOP_IDLE);
    assert_string_equal(kept.text.text,
                        "block 0\nblock 0 goes on\nblock 1\nblock 2\nblock 3\n");
    open_run(&live, waiting, &config, 4, 1);
    emu_machine_print_immediately(live.machine, true);
    go(&live);
    expect_stop(&live, EMU_STOP_IDLE);
    assert_string_equal(live.text.text,
                        "block 1\nblock 2\nblock 3\nblock 0\nblock 0 goes on\n");
    assert_int_equal(live.hash, kept.hash);
    close_run(&kept);
    close_run(&live);
}

/* Block 1 prints 65,535 bytes, repeated by the count in the parameter. Then it lets block 0 print. */
static const char much[] =
    MESSAGE("line", "%65533d\\n.") MESSAGE("first", "block 0\\n")
    ".kernel k\n.param ptr.global out\n" BUFFER
    ADDRESS("v4:5", "v4", "v5", "line") ADDRESS("v6:7", "v6", "v7", "first")
    "v_mov_b64 v8:9, c[out]\n"
    "v_setp_u32.eq p0, v1, 0\n@p0 bra wait\n"
    "ld.global.b32 v11, [v8:9+4]\n"
    "more: vprintf v3, v4:5, v20:21\nv_sub_u32 v11, v11, 1\n"
    "v_setp_u32.ne p1, v11, 0\n@p1 bra more\n"
    "v_mov_b32 v10, 1\nst.global.b32.release [v8:9], v10\nexit\n"
    "wait: ld.global.b32.acquire v10, [v8:9]\nv_setp_u32.eq p1, v10, 0\n@p1 bra wait\n"
    "vprintf v3, v6:7, v20:21\nexit\n.end\n";

static void print_much(uint32_t times, size_t first_at)
{
    static const char first[] = "block 0\n";
    struct emu_config config;
    struct lw_error err;
    uint8_t word[4];
    struct run r;

    small_config(&config);
    config.hang_window = 10000000;
    open_run(&r, much, &config, 2, 1);
    lw_put32(word, times);
    check(emu_global_write(r.machine, r.out + 4, word, sizeof word, &err), &err);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_int_equal(r.text.size, times * (size_t)65535 + sizeof first - 1);
    assert_memory_equal(r.text.text + first_at, first, sizeof first - 1);
    for (size_t k = 0; k < times; k++) { /* the text of block 1, in its order */
        size_t at = (k + 1) * (size_t)65535 - 1;

        at += at >= first_at ? sizeof first - 1 : 0;
        assert_int_equal(r.text.text[at], '.');
    }
    close_run(&r);
}
static void text_beyond_the_buffer_is_printed_immediately(void **state)
{
    enum { FITS = (64 << 20) / 65535 };

    (void)state;
    print_much(3, 0);
    print_much(FITS, 0);
    /* One more message does not fit in the buffer. The buffered text is printed first, and the new message after it. */
    print_much(FITS + 1, (FITS + 1) * (size_t)65535);
    /* After that the buffer has space again. */
    print_much(FITS + 3, (FITS + 1) * (size_t)65535);
}
static void printed_text_is_part_of_the_memory_hash(void **state)
{
    static const char *const texts[] = {
#define SAYS(text)                                                                            \
    MESSAGE("m", text) ".kernel k\n.param ptr.global out\n" BUFFER                             \
    ADDRESS("v4:5", "v4", "v5", "m") "vprintf v3, v4:5, v20:21\nexit\n.end\n"
        SAYS("a %d"), SAYS("b %d"), SAYS("a %d")
    };
    uint64_t hash[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct emu_config config;
        struct run r;
        small_config(&config);
        open_run(&r, texts[i], &config, 1, 1);
        go(&r);
        expect_stop(&r, EMU_STOP_IDLE);
        hash[i] = r.hash;
        assert_int_equal(strlen(r.text.text), 3);
        close_run(&r);
    }
    assert_int_equal(hash[0], hash[2]);
    assert_true(hash[0] != hash[1]);
}

struct diary {
    struct emu_machine_listener base;
    char text[2000];
};
static void note(struct emu_machine_listener *listener, const struct emu_machine_event *life)
{
    struct diary *d = (struct diary *)listener;
    size_t n = strlen(d->text);

    if (life->kind == EMU_MACHINE_TEXT || life->kind == EMU_MACHINE_ASSERT)
        snprintf(d->text + n, sizeof d->text - n, "%s %u.%u.%u.%u %" PRIx64 ": %.*s\n",
                 life->kind == EMU_MACHINE_TEXT ? "text" : "assert", life->grid->sequence,
                 (unsigned)life->block, life->warp, life->lane, life->lanes,
                 (int)life->size_bytes, life->text);
}

static void listeners_get_the_printing_thread(void **state)
{
    struct diary diary = {.base = {.on_machine_event = note}};
    struct emu_config config;
    struct run r;

    (void)state;
    small_config(&config);
    config.warp_width = 8;
    open_run(&r, MESSAGE("m", "%d/%d")
                 ".kernel k\n.param ptr.global out\n" BUFFER ADDRESS("v4:5", "v4", "v5", "m")
                 "v_setp_u32.ge p0, v0, 8\nv_setp_u32.and.ne p0, v0, 9, p0\n@p0 exit\n"
                 "v_setp_u32.ne p1, v0, 9\nv_setp_u32.and.ge p1, v0, 2, p1\n@p1 exit\n"
                 "vprintf v3, v4:5, v20:21\nexit\n.end\n",
             &config, 2, 12);
    emu_machine_add_listener(r.machine, &diary.base);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_string_equal(diary.text, "text 1.0.0.0 1: 0/0\ntext 1.0.0.1 2: 0/1\n"
                                    "text 1.0.1.1 2: 0/9\ntext 1.1.0.0 1: 1/0\n"
                                    "text 1.1.0.1 2: 1/1\ntext 1.1.1.1 2: 1/9\n");
    close_run(&r);
}

static void new_text_is_progress(void **state)
{
    struct emu_config config;
    struct run r;

    (void)state;
    small_config(&config);
    open_run(&r, MESSAGE("m", ".")
                 ".kernel k\n.param ptr.global out\n" BUFFER ADDRESS("v4:5", "v4", "v5", "m")
                 "v_mov_b32 v8, 0\n"
                 "again: v_add_u32 v8, v8, 1\nv_and_b32 v9, v8, 0x7ff\n"
                 "v_setp_u32.eq p0, v9, 0\n@p0 vprintf v3, v4:5, v20:21\n"
                 "v_setp_u32.lt p1, v8, 0x8000\n@p1 bra again\nexit\n.end\n",
             &config, 1, 1);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_string_equal(r.text.text, "................");
    close_run(&r);
}

static void expect_fault(const char *body, const char *kind, uint64_t lanes, const char *text,
                         const char *detail)
{
    struct emu_config config;
    static const char head[] =
        MESSAGE("m", "%d/%d\\n") MESSAGE("s", "%s\\n")
        ".const rest 5 = str \"xxxxx\"\n"
        ".kernel k\n.param ptr.global out\n" BUFFER ADDRESS("v4:5", "v4", "v5", "m")
        "v_mov_b64 v22:23, v20:21\n";
    char source[3000];
    struct run r;

    snprintf(source, sizeof source, "%s%s\n", head, body);
    small_config(&config);
    config.warp_width = 8;
    open_run(&r, source, &config, 3, 8);
    go(&r);
    expect_stop(&r, EMU_STOP_FAULT);
    assert_string_equal(emu_fault_name(r.stop.fault.kind), kind);
    assert_int_equal(r.stop.fault.lanes, lanes);
    assert_string_equal(r.text.text, text);
    assert_non_null(strstr(r.stop.fault.detail, detail));
    close_run(&r);
}

static void what_cannot_be_read_is_a_fault_and_nothing_is_printed(void **state)
{
    (void)state;
    expect_fault("v_setp_u32.ge p0, v0, 5\n@p0 v_mov_b64 v22:23, 0\n"
                 "vprintf v3, v4:5, v22:23\nexit\n.end\n",
                 "null-page", 0xe0, "", "null pointer");
    expect_fault("v_setp_u32.eq p0, v0, 5\n@p0 v_mov_b32 v5, 0x3000\n"
                 "vprintf v3, v4:5, v22:23\nexit\n.end\n",
                 "out-of-bounds", 0x20, "", "");
    /* a string that extends past the end of its variable */
    expect_fault(ADDRESS("v6:7", "v6", "v7", "rest") ADDRESS("v4:5", "v4", "v5", "s")
                 "st.local.b64 [v20+8], v6:7\nv_add_u64 v22:23, v20:21, 8\n"
                 "vprintf v3, v4:5, v22:23\nexit\n.end\n",
                 "out-of-bounds", 0xff, "", "'rest'");
    /* the format is at a code address, which is not readable as data */
    expect_fault("v_mov_b32 v4, 0\nv_mov_b32 v5, 1\nvprintf v3, v4:5, v22:23\nexit\n.end\n",
                 "out-of-bounds", 0xff, "", "");
}

static void a_fault_shows_the_text_of_lower_blocks_and_its_own(void **state)
{
    (void)state;
    expect_fault("v_setp_u32.gt p0, v0, 1\n@p0 exit\nvprintf v3, v4:5, v22:23\n"
                 "v_setp_u32.eq p1, v1, 1\n@p1 trap 4\nvprintf v3, v4:5, v22:23\nexit\n.end\n",
                 "trap", 3, "0/0\n0/1\n0/0\n0/1\n1/0\n1/1\n", "");
}

static void assertions_name_location_and_words(void **state)
{
    struct diary diary = {.base = {.on_machine_event = note}};
    struct emu_config config;
    struct lw_buffer message;
    struct run r;

    (void)state;
    small_config(&config);
    open_run(&r, MESSAGE("message", "n < 3") MESSAGE("file", "dir/a.cu") MESSAGE("function", "f")
                 ".const record 40 = addr message, addr file, u32 17, 0, addr function, u64 1\n"
                 ".kernel k\n.param ptr.global out\nv_s2r v0, %tid.x\nv_s2r v1, %ctaid.x\n"
                 ADDRESS("v4:5", "v4", "v5", "record")
                 "v_add_u32 v1, v1, v0\nv_setp_u32.ge p0, v1, 7\n@p0 assertfail v4:5\nexit\n.end\n",
             &config, 3, 6);
    emu_machine_add_listener(r.machine, &diary.base);
    go(&r);
    expect_stop(&r, EMU_STOP_FAULT);
    assert_int_equal(r.stop.fault.kind, EMU_FAULT_ASSERT);
    assert_int_equal(r.stop.fault.block, 2);
    assert_int_equal(r.stop.fault.lanes, 0x20);
    lw_buffer_init(&message);
    emu_fault_print(r.machine, &r.stop.fault, &message.sink);
    if (strstr(message.text, "fault: assert: dir/a.cu:17: f: assertion `n < 3' failed") == NULL)
        fail_msg("%s", message.text);
    assert_string_equal(diary.text, "assert 1.2.0.5 20: dir/a.cu:17: f: assertion `n < 3' failed\n");
    lw_buffer_fini(&message);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_those_of_the_host),
        cmocka_unit_test(vectors_are_printed_element_by_element),
        cmocka_unit_test(unknown_conversions_are_printed_as_they_stand),
        cmocka_unit_test(what_has_an_argument_leaves_the_next_one_its_own),
        cmocka_unit_test(numbers_that_are_none_have_one_spelling),
        cmocka_unit_test(text_beyond_the_limit_is_cut),
        cmocka_unit_test(missing_bytes_are_named),
        cmocka_unit_test(hostile_formats_read_only_guest_memory),
        cmocka_unit_test(text_comes_out_in_block_order_everywhere),
        cmocka_unit_test(a_debugger_sees_text_at_once_but_the_hash_takes_block_order),
        cmocka_unit_test(text_beyond_the_buffer_is_printed_immediately),
        cmocka_unit_test(printed_text_is_part_of_the_memory_hash),
        cmocka_unit_test(listeners_get_the_printing_thread),
        cmocka_unit_test(new_text_is_progress),
        cmocka_unit_test(what_cannot_be_read_is_a_fault_and_nothing_is_printed),
        cmocka_unit_test(a_fault_shows_the_text_of_lower_blocks_and_its_own),
        cmocka_unit_test(assertions_name_location_and_words),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
