/* SPDX-License-Identifier: Apache-2.0 */
/* Tests launch files: programs, buffers and arguments, and the messages for errors, which name the line. */
#include <math.h>

#include "tests/launch/launch_fixture.h"

/* ---- reading ------------------------------------------------------------------------- */

#define NOTHING "steps: [launch: {entry: nothing, grid: 1, block: 1}]\n"

static void a_mistake_is_one_message_with_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[1]\n", "l.yaml:1: expected a launch file: a mapping with program, buffers and steps"},
        {"porgram: {}\n", "l.yaml:1: unknown key \"porgram\"; did you mean \"program\"?"},
        {"steps: []\n",
         "l.yaml:1: \"program\" is missing: add it, such as program: {source: saxpy.cl}"},
        {"program: {sorce: k.s}\n",
         "l.yaml:1: unknown key \"sorce\"; did you mean \"source\"?"},
        {"program: {}\n",
         "l.yaml:1: program: \"source\" is missing: give a .cl, .cu, .spv, .ptx, .s or .lwo file"},
        {PROGRAM, "l.yaml:1: \"steps\" is missing: add a list of launch, copy, fill, swap, check and repeat"},
        {PROGRAM "steps: []\n", "l.yaml:2: steps: expected a list of launch, copy, fill, swap, "
                                "check and repeat"},
        {PROGRAM "machine: {wrap: 8}\n" NOTHING,
         "l.yaml:2: unknown key \"wrap\"; did you mean \"warp\"?"},
        {PROGRAM "machine:\n  warp: 12\n" NOTHING,
         "l.yaml:3: warp: expected 4, 8, 16, 32 or 64, found 12"},
        {PROGRAM "machine: {warp: 128}\n" NOTHING,
         "l.yaml:2: warp: expected an integer from 4 to 64, found \"128\""},
        {PROGRAM "machine: {policy: rr_quantm}\n" NOTHING,
         "l.yaml:2: policy: unknown name \"rr_quantm\"; did you mean \"rr_quantum\"?"},
        {PROGRAM "machine: {merge: maybe}\n" NOTHING,
         "l.yaml:2: merge: expected true or false (on or off), found \"maybe\""},
        {PROGRAM "machine: {level: 2}\n" NOTHING,
         "l.yaml:2: level: expected 0 (the best of this processor), 1, 3 or 4, found 2"},
        {PROGRAM "buffers: {A: {count: 3}}\n" NOTHING,
         "l.yaml:2: buffer A: \"type\" is missing: u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64, "
         "or C's uchar char ushort short uint int ulong long half float double"},
        {PROGRAM "buffers: {A: {type: f23, count: 3}}\n" NOTHING,
         "l.yaml:2: type: unknown type \"f23\"; did you mean \"f32\"?"},
        {PROGRAM "buffers: {A: {type: f32}}\n" NOTHING,
         "l.yaml:2: buffer A: \"count\" is missing: give the number of elements"},
        {PROGRAM "buffers: {A: {type: f32, count: 0}}\n" NOTHING,
         "l.yaml:2: count: expected an integer from 1 to 1099511627776, found \"0\""},
        {PROGRAM "buffers:\n  A: {type: u8, count: 1, variable: a, read_only: true}\n" NOTHING,
         "l.yaml:3: read_only: the key is not allowed for a variable of the program, whose declaration already says whether kernels may write it: remove the key"},
        {PROGRAM "buffers:\n  A: {type: u8, count: 1, variable: a, address: 0x200000000000}\n" NOTHING,
         "l.yaml:3: address: the key is not allowed for a variable of the program: remove the key"},
        {PROGRAM "buffers:\n  A: {type: u8, count: 1, variable: a, heap: true}\n" NOTHING,
         "l.yaml:3: heap: the key is not allowed for a variable of the program: remove the key"},
        {PROGRAM "addresses: {cod: 1}\n" NOTHING, "l.yaml:2: unknown key \"cod\"; did you mean \"code\"?"},
        {PROGRAM "addresses: [1]\n" NOTHING,
         "l.yaml:2: addresses: expected a mapping such as {code: 0x100000000, next: 0x200000100000}"},
        {PROGRAM "addresses: {next: -1}\n" NOTHING, "l.yaml:2: next: expected an integer of 1 or more, found \"-1\""},
        {PROGRAM "buffers: {A: {type: u8, count: 1, variable: a}, B: {type: u8, count: 1}}\n"
                 "steps: [swap: [A, B]]\n",
         "l.yaml:3: swap: A is a variable of the program, whose address cannot change: use copy instead"},
        {PROGRAM "buffers:\n  A: {type: u8, count: 2, init: 256}\n" NOTHING,
         "l.yaml:3: init: expected a number of type u8, found \"256\""},
        {PROGRAM "buffers:\n  A: {type: u8, count: 2, init: [1, 2, 3]}\n" NOTHING,
         "l.yaml:3: expected 2 numbers, found 3"},
        {PROGRAM "buffers:\n  A: {type: u8, count: 1, init: [1, 2]}\n" NOTHING,
         "l.yaml:3: expected 1 number, found 2"},
        {PROGRAM "buffers:\n  A: {type: s8, init: [1,\n  -129]}\n" NOTHING,
         "l.yaml:4: expected a number of type s8, found \"-129\""},
        {PROGRAM "buffers:\n  A: {type: s8, count: 1, init: {rmap: {}}}\n" NOTHING,
         "l.yaml:3: unknown key \"rmap\"; did you mean \"ramp\"?"},
        {PROGRAM "buffers:\n  A: {type: s8, count: 1, init: {low: 1}}\n" NOTHING,
         "l.yaml:3: \"low\" is allowed only together with \"random\""},
        {PROGRAM "buffers:\n  A: {type: s8, count: 1, init: {constant: 1, file: x}}\n" NOTHING,
         "l.yaml:3: \"constant\" and \"file\" cannot be combined: give one of them"},
        {PROGRAM "buffers:\n  A: {type: s8, count: 1, init: {random: {seed: 1, low: 3, high: 2}}}"
                 "\n" NOTHING,
         "l.yaml:3: random: low is 3 and high is 2, but low must not be above high"},
        {PROGRAM "buffers:\n  A: {type: s8, init: {file: none.bin}}\n" NOTHING,
         "l.yaml:3: none.bin: cannot be read: No such file or directory"},
        {PROGRAM "steps:\n  - lunch: {}\n",
         "l.yaml:3: unknown key \"lunch\"; did you mean \"launch\"?"},
        {PROGRAM "steps:\n  - launch: {entry: a, grid: 1}\n",
         "l.yaml:3: launch: \"block\" is missing: add it, such as block: 128 or block: [16, 16]"},
        {PROGRAM "steps:\n  - launch: {entry: a, grid: [1, 2, 3, 4], block: 1}\n",
         "l.yaml:3: grid: expected an integer or a list of one to three integers, such as [16, 16]"},
        {PROGRAM "steps:\n  - launch: {entry: a, grid: 1, block: [32, 33]}\n",
         "l.yaml:3: block: 32 x 33 x 1 threads are too many: a block has at most 1024"},
        {PROGRAM "steps:\n  - launch: {entry: a, global: 100, block: 32}\n",
         "l.yaml:3: global: 100 is not a multiple of the block size 32: round it up, and let the "
         "kernel test its index"},
        {PROGRAM "buffers: {in: {type: u8, count: 1}}\nsteps:\n  - launch: {entry: a, grid: 1, "
                 "block: 1, args: [im]}\n",
         "l.yaml:4: there is no buffer \"im\"; did you mean \"in\"?"},
        {PROGRAM "steps:\n  - launch: {entry: a, grid: 1, block: 1, args: [zebra]}\n",
         "l.yaml:3: there is no buffer \"zebra\": define it under \"buffers:\""},
        {PROGRAM "steps:\n  - launch: {entry: a, grid: 1, block: 1, args: [{f23: 1}]}\n",
         "l.yaml:3: args: unknown form \"f23\": expected a type (f32, u64, ...), struct, local, "
         "iteration, buffer or texture"},
        {PROGRAM "steps:\n  - launch: {entry: a, grid: 1, block: 1, args: [{iteration: {}}]}\n",
         "l.yaml:3: iteration: the launch is not inside a repeat step, so there is no iteration number"},
        {PROGRAM "buffers: {A: {type: u8, count: 4}, B: {type: u16, count: 4}}\nsteps:\n  - copy: "
                 "{from: A, to: B}\n",
         "l.yaml:4: copy: elements of A (u8) and B (u16) have different sizes"},
        {PROGRAM "buffers: {A: {type: u8, count: 4}, B: {type: s8, count: 2}}\nsteps:\n  - copy: "
                 "{from: A, to: B}\n",
         "l.yaml:4: copy: 4 elements do not fit into the remaining 2 elements of B: give a smaller \"count\""},
        {PROGRAM "buffers: {A: {type: u8, count: 4}, B: {type: u8, count: 2}}\nsteps:\n  - swap: "
                 "[A, B]\n",
         "l.yaml:4: swap: A (u8, 4) and B (u8, 2) must have equal type, count and access"},
        {PROGRAM "buffers: {A: {type: u8, count: 4}}\nsteps:\n  - check: {buffer: A}\n",
         "l.yaml:4: check: the expected contents are missing: give file, values, constant or equals"},
        {PROGRAM "buffers: {A: {type: u8, count: 4}}\nsteps:\n  - check: {buffer: A, index: 4, "
                 "constant: 1}\n",
         "l.yaml:4: index: expected an integer from 0 to 3, found \"4\""},
        {PROGRAM "buffers: {A: {type: u8, count: 4}}\nsteps:\n  - check: {buffer: A, constant: 1, "
                 "tolerance: -1}\n",
         "l.yaml:4: tolerance: expected a finite number of 0 or more"},
        {PROGRAM "buffers: {A: {type: u8, count: 4}}\nsteps:\n  - repeat:\n      until: {buffer: A, "
                 "equals: 0}\n      steps: []\n",
         "l.yaml:5: until: \"max\" is missing: add it, such as max: 100 (without a limit a wrong kernel "
         "never ends)"},
        {PROGRAM "steps:\n  - repeat: {count: 2}\n",
         "l.yaml:3: repeat: \"steps\" is missing: add it, such as repeat: {count: 10, steps: [...]}"},
        {PROGRAM "steps:\n  - fill: {buffer: A, value: 1}\n    swap: [A, B]\n",
         "l.yaml:4: \"fill\" and \"swap\" are in one step: start a new step with \"-\""},
    };
    (void)state;

    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct emu_config config;
        struct lnc_file *file;
        struct lw_error err = {.text = ""};

        assert_int_not_equal(load(cases[i].text, &file, &config, &err), LW_OK);
        assert_null(file);
        assert_string_equal(err.text, cases[i].message);
    }
}

static void machine_keys_change_the_configuration(void **state)
{
    struct emu_config config;
    struct lnc_file *file;
    struct lw_error err;
    (void)state;

    assert_int_equal(load("machine: {warp: 8, policy: minpc, quantum: 5, window: 0, merge: off, "
                          "resident_warps: 4, warp_quantum: 7, memory: 0x100000, hang_window: 99, "
                          "scalar_rule: allow, level: 1, reconv: stack, "
                          "push_order: larger, launch_depth: 3, pending_launches: 5}\n"
                          PROGRAM NOTHING,
                          &file, &config, &err),
                     LW_OK);
    assert_int_equal(config.warp_width, 8);
    assert_string_equal(config.policy, "minpc");
    assert_int_equal(config.split_quantum, 5);
    assert_int_equal(config.fairness_window, 0);
    assert_false(config.merge);
    assert_int_equal(config.resident_warps, 4);
    assert_int_equal(config.warp_quantum, 7);
    assert_int_equal(config.arena_bytes, 1 << 20);
    assert_int_equal(config.hang_window, 99);
    assert_int_equal(config.scalar_rule, EMU_SCALAR_ALLOW);
    assert_int_equal(config.level, 1);
    assert_string_equal(config.reconv, "stack");
    assert_string_equal(config.push_order, "larger");
    assert_int_equal(config.launch_depth, 3);
    assert_int_equal(config.pending_launches, 5);
    lnc_file_destroy(file);
}

static void a_wrong_file_leaves_the_configuration_alone(void **state)
{
    struct emu_config config;
    struct lnc_file *file;
    struct lw_error err;
    (void)state;

    assert_int_equal(load("machine: {warp: 8}\n" PROGRAM "steps: 1\n", &file, &config, &err),
                     LW_EINPUT);
    assert_int_equal(config.warp_width, 32);
}

/* ---- programs ------------------------------------------------------------------------ */

static void programs_are_known_by_their_suffix(void **state)
{
    struct isa_object *object = NULL;
    struct lw_error err;
    static const char *const option = "-O2";
    (void)state;

    assert_int_equal(lnc_object_load("k.cu", NULL, 0, NULL, &object, &err), LW_ENOENT);
    assert_memory_equal(err.text, "k.cu: No such file", 18);
    assert_int_equal(lnc_object_load("k.c", NULL, 0, NULL, &object, &err), LW_EINPUT);
    assert_non_null(strstr(err.text, ".cl, .cu, .spv, .ptx, .s or .lwo"));
    assert_int_equal(lnc_object_load("dir.s/k", NULL, 0, NULL, &object, &err), LW_EINPUT);
    assert_int_equal(lnc_object_load("none.s", NULL, 0, NULL, &object, &err), LW_ENOENT);
    assert_int_equal(lnc_object_load("k.s", &option, 1, NULL, &object, &err), LW_EINPUT);
    put("junk.lwo", "not an object", 13);
    assert_int_equal(lnc_object_load("junk.lwo", NULL, 0, NULL, &object, &err), LW_EFORMAT);
    assert_null(object);
    assert_int_equal(lnc_object_load("k.s", NULL, 0, NULL, &object, &err), LW_OK);
    isa_object_destroy(object);
}

static void an_object_gives_what_its_source_gives(void **state)
{
    struct isa_object *object = NULL;
    struct lw_error err;
    struct run r;
    uint8_t *bytes;
    size_t size;
    uint32_t x;
    (void)state;

    assert_int_equal(lnc_object_load("k.s", NULL, 0, NULL, &object, &err), LW_OK);
    assert_int_equal(isa_object_write(object, &bytes, &size, &err), LW_OK);
    put("k.lwo", bytes, size);
    free(bytes);
    isa_object_destroy(object);
    run_all(&r, "program: {source: k.lwo}\nbuffers: {x: {type: u32, count: 1, init: 5}}\n"
                "steps: [launch: {entry: bump, grid: 1, block: 1, args: [x, 7]}]\n");
    read_buffer(&r, "x", &x, 4);
    assert_int_equal(x, 12);
    close_run(&r);
}

/* ---- buffers ------------------------------------------------------------------------- */

/* The random number generator SplitMix64 with its published constants. It shares no code with the tested generator. */
static uint64_t splitmix(uint64_t *s)
{
    uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void buffers_begin_as_their_init_says(void **state)
{
    struct run r;
    static float f[400000];
    uint32_t u[5];
    int32_t s[1000];
    int8_t c[300];
    double d[3];
    uint64_t seed;
    static const int16_t raw[] = {1, -2, 3};
    int16_t got[3];
    (void)state;

    put("raw.bin", raw, sizeof raw);
    put("text.txt", "1.5, -2e3\n# a note 7\n\t.inf\r\n", 28);
    run_all(&r, PROGRAM
            "buffers:\n"
            "  zero: {type: u32, count: 5}\n"
            "  one: {type: u32, count: 5, init: {constant: 0xffffffff}}\n"
            "  ramp: {type: i8, count: 300, init: {ramp: {start: -3, step: 2}}}\n"
            "  framp: {type: float, count: 400000, init: {ramp: {start: 1, step: 0.5, modulo: 7}}}\n"
            "  rand: {type: f32, count: 400000, init: {random: 9}}\n"
            "  range: {type: s32, count: 1000, init: {random: {seed: 4, low: -3, high: 3}}}\n"
            "  beside: {type: s32, count: 1000, init: {random: 4, low: -3, high: 3}}\n"
            "  raw: {type: s16, init: {file: raw.bin}}\n"
            "  text: {type: f64, count: 3, init: {file: text.txt}}\n"
            "  list: {type: u64, init: [1, 18446744073709551615]}\n"
            "steps: [launch: {entry: nothing, grid: 1, block: 1}]\n");
    read_buffer(&r, "zero", u, sizeof u);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(u[i], 0);
    read_buffer(&r, "one", u, sizeof u);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(u[i], UINT32_MAX);
    read_buffer(&r, "ramp", c, sizeof c);
    for (int i = 0; i < 300; i++)
        assert_int_equal(c[i], (int8_t)(-3 + 2 * i));
    read_buffer(&r, "framp", f, sizeof f);
    for (unsigned i = 0; i < 400000; i++)
        assert_true(f[i] == 1.0f + (float)(i % 7) * 0.5f);
    /* The buffer is larger than the parts in which it is initialised. */
    read_buffer(&r, "rand", f, sizeof f);
    seed = 9;
    for (unsigned i = 0; i < 400000; i++)
        assert_true(f[i] == (float)((double)(splitmix(&seed) >> 11) / 9007199254740992.0));
    read_buffer(&r, "range", s, sizeof s);
    seed = 4;
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(s[i], -3 + (int32_t)(splitmix(&seed) % 7));
    int32_t beside[1000];
    read_buffer(&r, "beside", beside, sizeof beside);
    assert_memory_equal(s, beside, sizeof s);
    read_buffer(&r, "raw", got, sizeof got);
    assert_memory_equal(got, raw, sizeof raw);
    read_buffer(&r, "text", d, sizeof d);
    assert_true(d[0] == 1.5 && d[1] == -2000 && isinf(d[2]));
    uint64_t list[2];
    read_buffer(&r, "list", list, sizeof list);
    assert_true(list[0] == 1 && list[1] == UINT64_MAX);
    close_run(&r);
}

/* Returns the value of the finite f16 number with the bits @bits, computed from the definition of the format. */
static double half(unsigned bits)
{
    double value = (bits & 0x3ff) / 1024.0 + (bits >= 0x400);
    int power = bits >= 0x400 ? (int)(bits >> 10) - 15 : -14;

    for (; power < 0; power++)
        value /= 2;
    for (; power > 0; power--)
        value *= 2;
    return value;
}

/* Returns the largest double below a positive @value. */
static double before(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits--;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void halves_are_rounded_once_to_the_nearest_even(void **state)
{
    enum { FINITE = 0x7c00 };
    static uint16_t got[4 * FINITE + 8], ramp[64], list[8];
    struct lw_buffer text;
    struct run r;
    char *data;
    size_t size;
    unsigned n = 0;
    (void)state;

    lw_buffer_init(&text);
    for (unsigned i = 0; i < FINITE; i++) {
        double next = i + 1 < FINITE ? half(i + 1) : 65536, middle = (half(i) + next) / 2;

        /* Writes four numbers: the f16 number; the midpoint between it and its successor; the negative of a number just
         * below the midpoint; and a number above the midpoint whose nearest double is the midpoint. */
        if (i + 1 < FINITE)
            lw_printf(&text.sink, "%.17g %.40g %.17g ", half(i), middle, -before(middle));
        else
            lw_printf(&text.sink, "%.17g 65504 -65519.9999 ", half(i));
        if (i + 1 < FINITE && i >= 0x3800 && i < 0x4000) /* this number has more digits than the midpoint */
            lw_printf(&text.sink, "%.14f0001\n", middle);
        else
            lw_printf(&text.sink, "%.17g\n", half(i));
    }
    lw_put(&text.sink, "-0 .inf -.inf .nan 1e-9 -65519 0x1p-24 1e-7\n");
    put("halves.txt", text.text, text.size);
    lw_buffer_fini(&text);
    run_all(&r, PROGRAM
            "buffers:\n"
            "  all: {type: f16, init: {file: halves.txt}}\n"
            "  ramp: {type: half, count: 64, init: {ramp: {start: 2048, step: 0.5, modulo: 50}}}\n"
            "  list: {type: f16, init: [0.1, -2.5, 65504, 1e-8]}\n"
            "  rand: {type: f16, count: 64, init: {random: {seed: 9, low: 1000, high: 3000}}}\n"
            "  one: {type: f16, count: 3, init: 1}\n"
            "  got: {type: u16, count: 64}\n"
            "steps: [launch: {entry: nothing, grid: 1, block: 1}]\n");
    read_buffer(&r, "all", got, sizeof got);
    for (unsigned i = 0; i < FINITE; i++, n += 4) {
        bool last = i + 1 == FINITE, wide = !last && i >= 0x3800 && i < 0x4000;

        assert_int_equal(got[n], i);
        assert_int_equal(got[n + 1], last ? i : i + (i & 1));
        assert_int_equal(got[n + 2], 0x8000 | i);
        assert_int_equal(got[n + 3], wide ? i + 1 : i);
    }
    assert_memory_equal(&got[n], ((uint16_t[]){0x8000, 0x7c00, 0xfc00, 0x7fff, 0, 0xfbff, 1, 2}), 16);
    read_buffer(&r, "ramp", ramp, sizeof ramp); /* neighbouring f16 numbers differ by 2 here, so 2049 is a midpoint */
    for (unsigned i = 0; i < 64; i++) {
        double value = 2048 + 0.5 * (i % 50);
        unsigned low = (unsigned)(value - 2048) / 2;
        double over = value - 2048 - 2 * low;

        assert_int_equal(ramp[i], 0x6800 + low + (over > 1 || (over == 1 && low % 2 != 0)));
    }
    read_buffer(&r, "list", list, 8);
    assert_memory_equal(list, ((uint16_t[]){0x2e66, 0xc100, 0x7bff, 0}), 8);
    read_buffer(&r, "rand", ramp, sizeof ramp);
    for (unsigned i = 0; i < 64; i++)
        assert_true(half(ramp[i]) >= 1000 && half(ramp[i]) <= 3000);
    read_buffer(&r, "one", list, 6);
    assert_memory_equal(list, ((uint16_t[]){0x3c00, 0x3c00, 0x3c00}), 6);
    assert_int_equal(lnc_session_dump(r.session, "one", "one.bin", &r.err), LW_OK);
    assert_int_equal(lw_file_read("one.bin", &data, &size, &r.err), LW_OK);
    assert_int_equal(size, 6);
    free(data);
    close_run(&r);
}

static void a_half_that_is_too_large_is_refused(void **state)
{
    struct emu_config config;
    struct lnc_file *file;
    struct lw_error err;
    (void)state;

    assert_int_equal(load(PROGRAM "buffers: {A: {type: f16, init: [65520]}}\n" NOTHING, &file, &config, &err),
                     LW_EINPUT);
    assert_string_equal(err.text, "l.yaml:2: expected a number of type f16, found \"65520\"");
}

static void a_file_with_a_wrong_number_names_its_line(void **state)
{
    struct emu_config config;
    struct lnc_file *file;
    struct lw_error err;
    (void)state;

    put("bad.txt", "1 2\n3 4x\n", 9);
    assert_int_equal(load(PROGRAM "buffers: {A: {type: u8, init: {file: bad.txt}}}\n" NOTHING,
                          &file, &config, &err),
                     LW_EINPUT);
    assert_string_equal(err.text, "l.yaml:2: bad.txt:2: \"4x\" is not a number of type u8");
    put("odd.bin", "12345", 5);
    assert_int_equal(load(PROGRAM "buffers: {A: {type: u16, init: {file: odd.bin}}}\n" NOTHING,
                          &file, &config, &err),
                     LW_EINPUT);
    assert_string_equal(err.text,
                        "l.yaml:2: odd.bin: 5 bytes are not a whole number of u16 elements");
}

static void a_dump_has_the_bytes_of_the_buffer(void **state)
{
    struct run r;
    char *data;
    size_t size;
    (void)state;

    run_all(&r, PROGRAM "buffers: {A: {type: u16, init: [1, 2, 0xabcd]}}\n" NOTHING);
    assert_int_equal(lnc_session_dump(r.session, "A", "a.bin", &r.err), LW_OK);
    assert_int_equal(lw_file_read("a.bin", &data, &size, &r.err), LW_OK);
    assert_int_equal(size, 6);
    assert_memory_equal(data, "\1\0\2\0\xcd\xab", 6);
    free(data);
    assert_int_equal(lnc_session_dump(r.session, "A", "a.txt", &r.err), LW_OK);
    assert_int_equal(lw_file_read("a.txt", &data, &size, &r.err), LW_OK);
    assert_string_equal(data, "1\n2\n43981\n");
    free(data);
    assert_int_equal(lnc_session_dump(r.session, "B", "b.bin", &r.err), LW_EUSAGE);
    assert_int_not_equal(access("b.bin", F_OK), 0);
    close_run(&r);
}

static void a_read_only_buffer_is_one_for_kernels(void **state)
{
    struct run r;
    struct emu_stop stop = {0};
    enum lnc_state s;
    (void)state;

    assert_int_equal(
        open_run(&r, PROGRAM "buffers: {x: {type: u32, count: 1, init: 1, read_only: true}}\n"
                             "steps: [launch: {entry: bump, grid: 1, block: 1, args: [x, 7]}]\n"),
        LW_OK);
    assert_int_equal(lnc_session_next(r.session, &s, &r.err), LW_OK);
    assert_int_equal(r.engine->ops->run(r.engine, &stop, &r.err), LW_OK);
    assert_int_equal(stop.kind, EMU_STOP_FAULT);
    assert_int_equal(stop.fault.kind, EMU_FAULT_READ_ONLY);
    close_run(&r);
}

/* With key "variable" a buffer is a global variable of the program, which a CUDA host program writes by cudaMemcpyToSymbol. */
static void a_buffer_may_be_a_variable_of_the_program(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};\n"
        ".global .align 4 .u32 counter = 5;\n"
        ".global .align 4 .u32 _ZN2ns5innerE;\n"
        ".global .align 4 .u32 _ZN2nt5innerE;\n"
        ".visible .entry k(.param .u64 out)\n{\n"
        ".reg .b32 %r<6>; .reg .b64 %rd<6>;\n"
        "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
        "mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2; ld.const.u32 %r2, [%rd3];\n"
        "st.global.u32 [%rd1], %r2;\n"
        "atom.global.add.u32 %r3, [counter], %r1;\n"
        "st.global.u32 [_ZN2ns5innerE], %r2;\n"
        "ret;\n}\n";
    static const struct {
        const char *buffer, *message;
    } cases[] = {
        {"v: {type: u32, count: 4, variable: tabel}",
         "l.yaml:2: variable: the program has no global or constant variable \"tabel\""},
        {"v: {type: u32, count: 5, variable: table}",
         "l.yaml:2: buffer v has 20 bytes, more than the 16 bytes of variable table"},
        {"v: {type: u32, count: 1, variable: inner}",
         "l.yaml:2: variable: several variables are called \"inner\": give the mangled name, as the compiler writes it"},
    };
    struct lnc_result result;
    struct run r;
    (void)state;

    put("v.ptx", text, sizeof text - 1);
    result = run_all(&r,
                     "program: {source: v.ptx}\n"
                     "buffers:\n"
                     "  out: {type: u32, count: 4}\n"
                     "  half: {type: u32, count: 2, variable: table, init: [10, 20]}\n"
                     "  table: {type: u32, count: 4, variable: table}\n"
                     "  counter: {type: u32, count: 1, variable: counter}\n"
                     "  inner: {type: u32, count: 1, variable: \"ns::inner\", init: 9}\n"
                     "steps:\n"
                     "  - check: {buffer: inner, constant: 9}\n"
                     "  - launch: {entry: k, grid: 1, block: 4, args: [out]}\n"
                     "  - check: {buffer: out, values: [10, 20, 3, 4]}\n"
                     "  - check: {buffer: counter, constant: 11}\n"
                     "  - check: {buffer: inner, constant: 4}\n"
                     "  - fill: {buffer: table, value: 7}\n"
                     "  - copy: {from: out, to: half, count: 1}\n"
                     "  - launch: {entry: k, grid: 1, block: 4, args: [out]}\n"
                     "  - check: {buffer: out, values: [10, 7, 7, 7]}\n"
                     "  - check: {buffer: counter, constant: 17}\n");
    assert_int_equal(result.checks, 6);
    assert_int_equal(result.failed_checks, 0);
    close_run(&r);
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        char launch[256];

        snprintf(launch, sizeof launch,
                 "program: {source: v.ptx}\nbuffers: {%s, out: {type: u32, count: 4}}\n"
                 "steps: [launch: {entry: k, grid: 1, block: 4, args: [out]}]\n",
                 cases[i].buffer);
        assert_int_not_equal(open_run(&r, launch), LW_OK);
        assert_string_equal(r.err.text, cases[i].message);
        close_run(&r);
    }
}

/* ---- arguments ------------------------------------------------------------------------- */

static void arguments_lie_where_the_kernel_reads_them(void **state)
{
    struct run r;
    enum lnc_state s;
    const struct emu_grid *grid;
    const struct isa_function *k;
    uint64_t address, size;
    uint16_t b;
    float d, v[4];
    double f;
    (void)state;

    assert_int_equal(
        open_run(&r, PROGRAM "buffers: {A: {type: u32, count: 8}}\n"
                             "steps:\n  - launch: {entry: params, grid: [2, 3], block: [4, 2], "
                             "offset: [5, 6], shared: 20, args: [255, -2, 0xfffffffe, 1.5, "
                             "0x123456789a, 2.5, {buffer: A, index: 3}, {local: 17}, {local: 8}, "
                             "{f32: [1, 2, 3, -4]}]}\n"),
        LW_OK);
    assert_int_equal(lnc_session_next(r.session, &s, &r.err), LW_OK);
    assert_int_equal(s, LNC_LAUNCHED);
    grid = emu_grid_current(r.machine);
    assert_non_null(grid);
    k = grid->launch.kernel;
    assert_int_equal(grid->bank0[k->params[0].offset], 255);
    memcpy(&b, grid->bank0 + k->params[1].offset, 2);
    assert_int_equal(b, 0xfffe);
    assert_int_equal(lw_get32(grid->bank0 + k->params[2].offset), 0xfffffffe);
    memcpy(&d, grid->bank0 + k->params[3].offset, 4);
    assert_true(d == 1.5f);
    assert_true(lw_get64(grid->bank0 + k->params[4].offset) == UINT64_C(0x123456789a));
    memcpy(&f, grid->bank0 + k->params[5].offset, 8);
    assert_true(f == 2.5);
    assert_true(lnc_session_buffer(r.session, "A", &address, &size));
    assert_int_equal(size, 32);
    assert_true(lw_get64(grid->bank0 + k->params[6].offset) == address + 12);
    /* There is no static shared memory. The launch requests 20 bytes, and each {local: ...} is aligned to 16 bytes. */
    assert_int_equal(lw_get64(grid->bank0 + k->params[7].offset), 32);
    assert_int_equal(lw_get64(grid->bank0 + k->params[8].offset), 64);
    assert_int_equal(grid->launch.dynamic_shared_bytes, 72);
    memcpy(v, grid->bank0 + k->params[9].offset, 16);
    assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3 && v[3] == -4);
    assert_int_equal(grid->launch.grid[0], 2);
    assert_int_equal(grid->launch.grid[1], 3);
    assert_int_equal(grid->launch.grid[2], 1);
    assert_int_equal(grid->launch.block[1], 2);
    assert_int_equal(grid->launch.offset[1], 6);
    assert_int_equal(grid->launch.work_dim, 2);
    close_run(&r);
}

/* struct { float *a; int n; struct { char c; double d; } in; unsigned short u[3]; float *b; } */
static void a_structure_is_laid_out_as_c_does(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 s[48])\n{\n"
        ".reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f64 %fd<2>; .reg .f32 %f<2>; .reg .b16 %h<2>;\n"
        "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"
        "ld.param.u64 %rd2, [s]; cvta.to.global.u64 %rd2, %rd2;\n"
        "ld.global.f32 %f1, [%rd2]; cvt.rzi.s32.f32 %r1, %f1; st.global.u32 [%rd1], %r1;\n"
        "ld.param.u32 %r1, [s+8]; st.global.u32 [%rd1+4], %r1;\n"
        "ld.param.s8 %r1, [s+16]; st.global.u32 [%rd1+8], %r1;\n"
        "ld.param.f64 %fd1, [s+24]; cvt.rzi.s32.f64 %r1, %fd1; st.global.u32 [%rd1+12], %r1;\n"
        "ld.param.u16 %r1, [s+36]; st.global.u32 [%rd1+16], %r1;\n"
        "ld.param.u64 %rd2, [s+40]; cvta.to.global.u64 %rd2, %rd2;\n"
        "ld.global.f32 %f1, [%rd2]; cvt.rzi.s32.f32 %r1, %f1; st.global.u32 [%rd1+20], %r1;\n"
        "ret;\n}\n";
    static const struct {
        const char *arg, *message;
    } cases[] = {
        {"{struct: [A, 5]}",
         "l.yaml:3: struct: the type of 5 is not known: give it, such as {s32: 5}"},
        {"{struct: [A, {local: 5}]}", "l.yaml:3: struct: expected a member: a buffer, a texture, a number with its type or another struct"},
        {"{struct: A}", "l.yaml:3: struct: expected a list of members, such as [A, {s32: 5}]"},
        {"{struct: [C]}", "l.yaml:3: there is no buffer \"C\": define it under \"buffers:\""},
        {"{struct: [{u8: 1}, A]}",
         "l.yaml:3: argument 2 's' (value of 48 bytes) of kernel 'k': expected a value of 48 bytes, found one of 16"},
    };
    struct lnc_result result;
    struct run r;
    (void)state;

    put("s.ptx", text, sizeof text - 1);
    result = run_all(&r,
                     "program: {source: s.ptx}\n"
                     "buffers: {out: {type: s32, count: 6}, A: {type: f32, count: 1, init: 21}, "
                     "B: {type: f32, count: 4, init: [1, 2, 3, 4]}}\n"
                     "steps:\n"
                     "  - launch: {entry: k, grid: 1, block: 1, args: [out, {struct: [A, {s32: -7}, "
                     "{struct: [{s8: -3}, {f64: 1e6}]}, {u16: [1, 2, 60000]}, "
                     "{buffer: B, index: 2}]}]}\n"
                     "  - check: {buffer: out, values: [21, -7, -3, 1000000, 60000, 3]}\n");
    assert_int_equal(result.failed_checks, 0);
    close_run(&r);
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        char launch[512];
        struct emu_config config;
        struct lnc_file *file;
        struct lw_error err = {.text = ""};

        snprintf(launch, sizeof launch,
                 "program: {source: s.ptx}\nbuffers: {A: {type: f32, count: 1}}\n"
                 "steps: [launch: {entry: k, grid: 1, block: 1, args: [A, %s]}]\n",
                 cases[i].arg);
        if (load(launch, &file, &config, &err) == LW_OK) {
            lnc_file_destroy(file);
            assert_int_not_equal(open_run(&r, launch), LW_OK);
            err = r.err;
            close_run(&r);
        }
        assert_string_equal(err.text, cases[i].message);
    }
}

static void a_number_becomes_what_its_parameter_is(void **state)
{
    struct run r;
    enum lnc_state s;
    const struct isa_param *p;
    const uint8_t *bank;
    float f;
    double d;
    (void)state;

    assert_int_equal(
        open_run(&r, PROGRAM "steps:\n  - launch: {entry: typed, grid: 1, block: 1, "
                             "args: [2, -3, -4, 200, 2, 2.5]}\n"),
        LW_OK);
    assert_int_equal(lnc_session_next(r.session, &s, &r.err), LW_OK);
    assert_int_equal(s, LNC_LAUNCHED);
    p = emu_grid_current(r.machine)->launch.kernel->params;
    bank = emu_grid_current(r.machine)->bank0;
    memcpy(&f, bank + p[0].offset, sizeof f);
    assert_true(f == 2.0f);
    memcpy(&d, bank + p[1].offset, sizeof d);
    assert_true(d == -3.0);
    assert_int_equal(lw_get32(bank + p[2].offset), (uint32_t)-4);
    assert_int_equal(bank[p[3].offset], 200);
    assert_int_equal(lw_get32(bank + p[4].offset), 2); /* the type of this parameter is unknown, so 2 is an integer */
    memcpy(&f, bank + p[5].offset, sizeof f);
    assert_true(f == 2.5f);
    close_run(&r);
}

static void arguments_are_compared_with_the_kernel_first(void **state)
{
#define BUFFERS PROGRAM "buffers: {A: {type: u32, count: 8}}\nsteps:\n"
#define LAUNCH(entry, args) \
    BUFFERS "  - launch: {entry: " entry ", grid: 1, block: 1, args: [" args "]}\n"
    static const struct {
        const char *text, *message;
    } cases[] = {
        {LAUNCH("bmup", "A, 1"),
         "l.yaml:4: entry: k.s has no kernel \"bmup\"; did you mean \"bump\"?"},
        {LAUNCH("zebra", "A, 1"),
         "l.yaml:4: entry: k.s has no kernel \"zebra\"; its kernels are params, nothing, sized, "
         "bump, typed"},
        {LAUNCH("bump", "A"), "l.yaml:4: args: kernel 'bump' takes 2 arguments: 'x' (pointer), 'k' (integer of 4 bytes); found 1"},
        {LAUNCH("nothing", "A"), "l.yaml:4: args: kernel 'nothing' takes 0 arguments; found 1"},
        {LAUNCH("bump", "1, 1"),
         "l.yaml:4: argument 1 'x' (pointer) of kernel 'bump': expected the name of a buffer, found \"1\""},
        {LAUNCH("bump", "A, A"),
         "l.yaml:4: argument 2 'k' (integer of 4 bytes) of kernel 'bump': expected a value of 4 bytes, found the buffer A"},
        {LAUNCH("bump", "A, 0x100000000"),
         "l.yaml:4: argument 2 'k' (integer of 4 bytes) of kernel 'bump': \"0x100000000\" is not an integer of 4 bytes"},
        {LAUNCH("bump", "A, 2.5"),
         "l.yaml:4: argument 2 'k' (integer of 4 bytes) of kernel 'bump': \"2.5\" is not an integer of 4 bytes"},
        {LAUNCH("bump", "A, 1e3"),
         "l.yaml:4: argument 2 'k' (integer of 4 bytes) of kernel 'bump': \"1e3\" is not an integer of 4 bytes"},
        {BUFFERS "  - repeat: {count: 2, steps: [{launch: {entry: typed, grid: 1, block: 1, args: "
                 "[{iteration: {}}, 1, 1, 1, 1, 1]}}]}\n",
         "l.yaml:4: argument 1 'a' (float) of kernel 'typed': {iteration: ...} cannot be passed here: the parameter is not an integer"},
        {LAUNCH("typed", "1, 1, 1, 1, 1, 0x100000000"),
         "l.yaml:4: argument 6 'f' (value of 4 bytes) of kernel 'typed': \"0x100000000\" does not fit into 4 bytes: give its type, such as {f32: 1.5}"},
        {LAUNCH("bump", "A, {u64: 1}"),
         "l.yaml:4: argument 2 'k' (integer of 4 bytes) of kernel 'bump': expected a value of 4 bytes, found one of 8"},
        {LAUNCH("bump", "{local: 4}, 1"),
         "l.yaml:4: argument 1 'x' (pointer) of kernel 'bump': {local: ...} cannot be passed here: the parameter is not a pointer to __local memory"},
        {BUFFERS "  - launch: {entry: sized, grid: 1, block: [4, 8]}\n",
         "l.yaml:4: block: sized was compiled for blocks of [8, 4, 1], found [4, 8, 1]"},
        {"program: {source: none.s}\nsteps: [launch: {entry: a, grid: 1, block: 1}]\n",
         "l.yaml:1: none.s: cannot be read: No such file or directory"},
        {"program: {source: k.cu}\nsteps: [launch: {entry: a, grid: 1, block: 1}]\n",
         "l.yaml:1: k.cu: No such file or directory"},
    };
    (void)state;

    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run r;

        assert_int_not_equal(open_run(&r, cases[i].text), LW_OK);
        assert_null(r.session);
        assert_string_equal(r.err.text, cases[i].message);
        close_run(&r);
    }
}

static void kernels_of_cpp_are_found_by_the_names_that_people_write(void **state)
{
    static const char text[] =
        ".kernel _Z5saxpyifPfS_\n    exit\n.end\n"
        ".kernel _Z4twini\n    exit\n.end\n"
        ".kernel _Z4twinPf\n    exit\n.end\n"
        ".kernel _ZN4tool5inner4workEv\n    exit\n.end\n"
        ".kernel _ZN12_GLOBAL__N_14mineEv\n    exit\n.end\n"
        ".kernel _Z6reduceIfLi256EEvPKT_i\n    exit\n.end\n"
        ".kernel _Z6reduceIdLin1ELb1EEvPKT_i\n    exit\n.end\n"
        ".kernel _Z99short\n    exit\n.end\n";
    static const struct {
        const char *entry, *message;
    } cases[] = {
        {"saxpy", NULL},
        {"_Z5saxpyifPfS_", NULL},
        {"_Z4twini", NULL},
        {"work", NULL},
        {"\"tool::inner::work\"", NULL},
        {"mine", NULL},
        {"\"reduce<float, 256>\"", NULL},
        {"\"reduce<double, -1, true>\"", NULL},
        {"_Z99short", NULL},
        {"twin", "l.yaml:2: entry: cpp.s has 2 kernels with a name like \"twin\"; choose one: "
                 "_Z4twini, _Z4twinPf"},
        {"reduce", "l.yaml:2: entry: cpp.s has 2 kernels with a name like \"reduce\"; choose one: "
                   "reduce<float, 256>, reduce<double, -1, true>"},
        {"saxpi", "l.yaml:2: entry: cpp.s has no kernel \"saxpi\"; did you mean \"saxpy\"?"},
        {"wholly_unknown",
         "l.yaml:2: entry: cpp.s has no kernel \"wholly_unknown\"; its kernels are saxpy, twin, twin, "
         "tool::inner::work, (anonymous namespace)::mine, reduce<float, 256>, "
         "reduce<double, -1, true>, _Z99short"},
    };
    (void)state;

    put("cpp.s", text, sizeof text - 1);
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        char launch[256];
        struct run r;

        snprintf(launch, sizeof launch,
                 "program: {source: cpp.s}\n"
                 "steps: [launch: {entry: %s, grid: 1, block: 1}]\n",
                 cases[i].entry);
        if (open_run(&r, launch) == LW_OK)
            assert_null(cases[i].message);
        else if (cases[i].message == NULL)
            fail_msg("%s", r.err.text);
        else
            assert_string_equal(r.err.text, cases[i].message);
        close_run(&r);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_mistake_is_one_message_with_its_line),
        T(machine_keys_change_the_configuration),
        T(a_wrong_file_leaves_the_configuration_alone),
        T(programs_are_known_by_their_suffix),
        T(an_object_gives_what_its_source_gives),
        T(buffers_begin_as_their_init_says),
        T(halves_are_rounded_once_to_the_nearest_even),
        T(a_half_that_is_too_large_is_refused),
        T(a_file_with_a_wrong_number_names_its_line),
        T(a_dump_has_the_bytes_of_the_buffer),
        T(a_read_only_buffer_is_one_for_kernels),
        T(a_buffer_may_be_a_variable_of_the_program),
        T(arguments_lie_where_the_kernel_reads_them),
        T(a_structure_is_laid_out_as_c_does),
        T(a_number_becomes_what_its_parameter_is),
        T(arguments_are_compared_with_the_kernel_first),
        T(kernels_of_cpp_are_found_by_the_names_that_people_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
