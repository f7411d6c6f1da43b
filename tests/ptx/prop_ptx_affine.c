/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the classes of registers that `--emit cfg` prints (uniform, affine with its strides, varying) with execution. Random
 * structured programs store each value that they define, by thread and by the iterations of the surrounding loops. The values of
 * threads of one warp that executed a definition in the same iterations must differ as the class permits. A failure prints the
 * seed and the program. LW_SEED and LW_RANDOM_COUNT select other programs.
 */
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
#include "ptx/ptx.h"

enum { THREADS = 64, BLOCKS = 2, ALL = THREADS * BLOCKS, SLOTS = 90, ROUNDS = 16, LOOP_ROUNDS = 4,
       MUTABLE = 4, DIMS = 4, ROW = 16 };

/* The class that the output of `--emit cfg` contains for a register. */
struct class {
    bool known, varying, assumed, some[DIMS];
    uint64_t stride[DIMS];
};
struct slot {
    char reg[12];
    unsigned bits;
};
struct record {
    uint64_t there, value;
};
struct program {
    uint64_t state;
    struct lw_buffer text;
    struct slot slot[SLOTS];
    unsigned slots, words, wides, preds, labels, loops; /* registers that may be read at this point */
    unsigned next_word, next_wide, next_pred;           /* numbers of the next new registers */
    unsigned word[600], wide[600], pred[600];           /* numbers of the registers that may be read at this point */
};

static unsigned pick(struct program *p, unsigned n)
{
    uint64_t z = (p->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % n);
}

/* ---- generation --------------------------------------------------------------- */

/* Writes code that stores a register in the record of this definition, thread and iteration. */
static void put_log(struct program *p, const char *reg, unsigned bits)
{
    struct lw_sink *s = &p->text.sink;

    if (p->slots == SLOTS)
        return;
    snprintf(p->slot[p->slots].reg, sizeof p->slot[0].reg, "%s", reg);
    p->slot[p->slots].bits = bits;
    lw_printf(s, "mad.lo.u32 %%k0,%%round,%u,%u;\ncvt.u64.u32 %%kd,%%k0;\nadd.u64 %%kd,%%kd,%%row;\n"
                 "st.global.u64 [%%kd],1;\n",
              (unsigned)(ALL * sizeof(struct record)), p->slots * (unsigned)(ROUNDS * ALL * sizeof(struct record)));
    if (bits == 1)
        lw_printf(s, "selp.u32 %%k1,1,0,%s;\nst.global.u32 [%%kd+8],%%k1;\n", reg);
    else
        lw_printf(s, "st.global.u%u [%%kd+8],%s;\n", bits, reg);
    p->slots++;
}

/* Returns a register, mostly one that was defined recently. */
static unsigned recent(struct program *p, const unsigned *list, unsigned count)
{
    unsigned near = count > 8 && pick(p, 3) != 0 ? 8 : count;

    return list[count - 1 - pick(p, near)];
}

static void word(struct program *p, char *room)
{
    unsigned x = pick(p, 10);

    if (x == 0)
        snprintf(room, 12, "%%m%u", pick(p, MUTABLE));
    else
        snprintf(room, 12, "%%a%u", recent(p, p->word, p->words));
}

static void make_word(struct program *p)
{
    static const char *const rows[] = {
        "add.u32 %s,%s,%s", "sub.u32 %s,%s,%s", "mul.lo.u32 %s,%s,%s", "and.b32 %s,%s,%s",
        "xor.b32 %s,%s,%s", "min.s32 %s,%s,%s", "shl.b32 %s,%s,%s", "add.u32 %s,%s,%s",
        "sub.u32 %s,%s,%s", "mul.lo.u32 %s,%s,%s", "shl.b32 %s,%s,%s", "shr.u32 %s,%s,%s",
    };
    static const char *const special[] = { "tid.x", "tid.y", "tid.z", "laneid", "ctaid.x", "ntid.x",
                                           "ntid.y", "tid.x", "warpid" };
    struct lw_sink *s = &p->text.sink;
    char d[12], a[12], b[16];
    unsigned x = pick(p, 20), n = p->next_word++;

    snprintf(d, sizeof d, "%%a%u", n);
    word(p, a);
    word(p, b);
    if (x < 12) {
        unsigned row = pick(p, 12);
        bool shift = row == 6 || row >= 10;

        if (shift || pick(p, 2) == 0)
            snprintf(b, sizeof b, "%d", shift ? (int)pick(p, 6) : (int)pick(p, 200) - 60);
        lw_printf(s, rows[row], d, a, b);
    } else if (x < 13)
        lw_printf(s, "mad.lo.u32 %s,%s,%d,%s", d, a, (int)pick(p, 30) - 9, b);
    else if (x < 14)
        lw_printf(s, "%s %s,%s", pick(p, 2) ? "neg.s32" : "not.b32", d, a);
    else if (x < 15)
        lw_printf(s, "selp.b32 %s,%s,%s,%%p%u", d, a, b, recent(p, p->pred, p->preds));
    else if (x < 17)
        lw_printf(s, "mov.u32 %s,%%%s", d, special[pick(p, 9)]);
    else if (x < 18)
        lw_printf(s, "ld.param.u32 %s,[n]", d);
    else if (x < 19)
        lw_printf(s, "cvt.u32.u64 %s,%%w%u", d, recent(p, p->wide, p->wides));
    else
        lw_printf(s, "ld.global.u32 %s,[%%in+%u]", d, 4 * pick(p, 2));
    lw_put(s, ";\n");
    put_log(p, d, 32);
    p->word[p->words++] = n;
}

static void make_wide(struct program *p)
{
    struct lw_sink *s = &p->text.sink;
    char d[12], a[12];
    unsigned x = pick(p, 10), n = p->next_wide++;
    unsigned v = recent(p, p->wide, p->wides), w = recent(p, p->wide, p->wides);

    snprintf(d, sizeof d, "%%w%u", n);
    word(p, a);
    switch (x) {
    case 0: lw_printf(s, "mul.wide.%c32 %s,%s,%u", "us"[pick(p, 2)], d, a, 1 + pick(p, 12)); break;
    case 1: lw_printf(s, "cvt.%s %s,%s", pick(p, 2) ? "u64.u32" : "s64.s32", d, a); break;
    case 2: lw_printf(s, "mad.wide.%c32 %s,%s,%d,%%w%u", "us"[pick(p, 2)], d, a, (int)pick(p, 20) - 4, v); break;
    case 3: lw_printf(s, "shl.b64 %s,%%w%u,%u", d, v, pick(p, 5)); break;
    case 4: lw_printf(s, "mul.lo.u64 %s,%%w%u,%d", d, v, (int)pick(p, 20) - 6); break;
    case 5: lw_printf(s, "xor.b64 %s,%%w%u,%%w%u", d, v, w); break;
    case 6: lw_printf(s, "mul.lo.u64 %s,%%w%u,%%w%u", d, v, w); break;
    case 7: lw_printf(s, "add.s64 %s,%%w%u,%d", d, v, (int)pick(p, 900) - 400); break;
    default: lw_printf(s, "%s.s64 %s,%%w%u,%%w%u", x == 8 ? "add" : "sub", d, v, w); break;
    }
    lw_put(s, ";\n");
    put_log(p, d, 64);
    p->wide[p->wides++] = n;
}

static void make_pred(struct program *p)
{
    static const char *const cmp[] = { "eq", "ne", "lt", "gt" };
    char d[12], a[12], b[16];
    unsigned n = p->next_pred++;

    snprintf(d, sizeof d, "%%p%u", n);
    word(p, a);
    word(p, b);
    if (pick(p, 4) == 0)
        lw_printf(&p->text.sink, "setp.%s.s64 %s,%%w%u,%%w%u;\n", cmp[pick(p, 2)], d,
                  recent(p, p->wide, p->wides), recent(p, p->wide, p->wides));
    else {
        if (pick(p, 3) == 0) { /* equal strides, but one operand may wrap around in some lanes */
            unsigned m = p->next_word++;

            snprintf(b, sizeof b, "%%a%u", m);
            lw_printf(&p->text.sink, "sub.u32 %s,%s,%u;\n", b, a, 1 + pick(p, 40));
            p->word[p->words++] = m;
        } else if (pick(p, 2)) {
            snprintf(b, sizeof b, "%d", (int)pick(p, 40));
        }
        lw_printf(&p->text.sink, "setp.%s.%c32 %s,%s,%s;\n", cmp[pick(p, 4)], "us"[pick(p, 2)], d, a, b);
    }
    put_log(p, d, 1);
    p->pred[p->preds++] = n;
}

/* Writes an instruction that changes a register which several instructions write. None of these is a plain copy, because the
 * analysis propagates copies. */
static void change(struct program *p)
{
    char d[12], a[12];

    snprintf(d, sizeof d, "%%m%u", pick(p, MUTABLE));
    word(p, a);
    if (pick(p, 3) == 0)
        lw_printf(&p->text.sink, "@%s%%p%u ", pick(p, 2) ? "!" : "", recent(p, p->pred, p->preds));
    lw_printf(&p->text.sink, "add.u32 %s,%s,%u;\n", d, pick(p, 2) ? d : a, 1 + pick(p, 9));
    if (pick(p, 2))
        put_log(p, d, 32);
}

static void make_list(struct program *p, unsigned depth, unsigned loop, unsigned out);

static void make_inner(struct program *p, unsigned depth, unsigned loop, unsigned out)
{
    unsigned words = p->words, wides = p->wides, preds = p->preds;

    make_list(p, depth, loop, out);
    p->words = words; /* registers of the inner list must not be read after the list */
    p->wides = wides;
    p->preds = preds;
}

static void make_if(struct program *p, unsigned depth, unsigned loop, unsigned out)
{
    struct lw_sink *s = &p->text.sink;
    unsigned l = p->labels += 2;
    bool other = pick(p, 2);

    lw_printf(s, "@%s%%p%u bra L%u;\n", pick(p, 2) ? "!" : "", recent(p, p->pred, p->preds), l);
    make_inner(p, depth - 1, loop, out);
    if (other) {
        lw_printf(s, "bra L%u;\nL%u:\n", l + 1, l);
        make_inner(p, depth - 1, loop, out);
    }
    lw_printf(s, "L%u:\n", other ? l + 1 : l);
}

/* Generates a loop of up to four iterations. The number of the iteration is a digit of %round. */
static void make_loop(struct program *p, unsigned depth, unsigned loop)
{
    struct lw_sink *s = &p->text.sink;
    unsigned l = p->labels += 2, c = p->loops++, q = p->next_pred++;
    char a[12];

    word(p, a);
    lw_printf(s, "and.b32 %%c%u,%s,%u;\nmov.u32 %%i%u,0;\nL%u:\n", c, a, LOOP_ROUNDS - 1, c, l);
    snprintf(a, sizeof a, "%%i%u", c);
    put_log(p, a, 32);
    make_inner(p, depth - 1, loop + 1, l + 1);
    lw_printf(s, "add.u32 %%round,%%round,%u;\nadd.u32 %%i%u,%%i%u,1;\nsetp.le.u32 %%p%u,%%i%u,%%c%u;\n"
                 "@%%p%u bra L%u;\nL%u:\nand.b32 %%round,%%round,%u;\n",
              loop == 0 ? 1 : LOOP_ROUNDS, c, c, q, c, c, q, l, l + 1,
              loop == 0 ? 0 : LOOP_ROUNDS - 1);
    if (pick(p, 2))
        put_log(p, a, 32);
}

static void make_list(struct program *p, unsigned depth, unsigned loop, unsigned out)
{
    for (unsigned i = 3 + pick(p, depth == 3 ? 14 : 5); i-- > 0;) {
        unsigned x = pick(p, 30);

        if (x < 9)
            make_word(p);
        else if (x < 14)
            make_wide(p);
        else if (x < 17)
            make_pred(p);
        else if (x < 20)
            change(p);
        else if (x < 21) {
            char m[12];

            snprintf(m, sizeof m, "%%m%u", pick(p, MUTABLE));
            put_log(p, m, 32);
        } else if (x < 22 && loop != 0)
            lw_printf(&p->text.sink, "@%%p%u bra L%u;\n", recent(p, p->pred, p->preds), out);
        else if (depth != 0 && x < 26)
            make_if(p, depth, loop, out);
        else if (depth != 0 && loop < 2 && p->loops < 12)
            make_loop(p, depth, loop);
    }
}

static void make_program(struct program *p)
{
    struct lw_sink *s = &p->text.sink;

    lw_put(s, ".version 7.0\n.target sm_75\n.address_size 64\n"
              ".visible .entry k(.param .u64 log, .param .u64 input, .param .u32 n)\n{\n"
              ".reg .b32 %a<600>, %m<4>, %c<12>, %i<12>, %k<2>, %round, %t<3>;\n"
              ".reg .b64 %w<600>, %row, %in, %kd;\n.reg .pred %p<600>;\n"
              "mov.u32 %t0,%ntid.x;\nmov.u32 %t1,%tid.z;\nmov.u32 %t2,%ntid.y;\nmul.lo.u32 %t1,%t1,%t2;\n"
              "mov.u32 %t2,%tid.y;\nadd.u32 %t1,%t1,%t2;\nmul.lo.u32 %t1,%t1,%t0;\nmov.u32 %t2,%tid.x;\n"
              "add.u32 %t1,%t1,%t2;\nmov.u32 %t2,%ctaid.x;\n");
    lw_printf(s, "mad.lo.u32 %%t1,%%t2,%u,%%t1;\nld.param.u64 %%row,[log];\nmul.wide.u32 %%kd,%%t1,%u;\n"
                 "add.u64 %%row,%%row,%%kd;\nld.param.u64 %%in,[input];\nmul.wide.u32 %%kd,%%t1,8;\n"
                 "add.u64 %%in,%%in,%%kd;\nmov.u32 %%round,0;\n",
              THREADS, ROW);
    for (unsigned i = 0; i + 1 < MUTABLE; i++) /* the last register is read before it is written */
        lw_printf(s, "mov.u32 %%m%u,%s;\n", i, i == 0 ? "%tid.x" : i == 1 ? "%ctaid.x" : "7");
    lw_put(s, "mov.u32 %a0,%tid.x;\nld.param.u32 %a1,[n];\nmov.u32 %a2,%tid.y;\nadd.u32 %a3,%a0,5;\n"
              "ld.global.u32 %a4,[%in];\nmul.wide.u32 %w0,%a0,4;\nmul.wide.u32 %w1,%a1,8;\n"
              "setp.lt.u32 %p0,%a0,9;\nsetp.lt.u32 %p1,%a1,9;\nsetp.gt.s32 %p2,%a4,0;\n");
    for (p->next_word = 0; p->next_word < 5; p->next_word++)
        p->word[p->words++] = p->next_word;
    for (p->next_wide = 0; p->next_wide < 2; p->next_wide++)
        p->wide[p->wides++] = p->next_wide;
    for (p->next_pred = 0; p->next_pred < 3; p->next_pred++)
        p->pred[p->preds++] = p->next_pred;
    make_list(p, 3, 0, 0);
    for (unsigned i = 0; i < MUTABLE; i++) {
        char m[12];

        snprintf(m, sizeof m, "%%m%u", i);
        put_log(p, m, 32);
    }
    lw_put(s, "ret;\n}\n");
}

/* ---- classes in the output -------------------------------------------------------------- */

static struct class class_of(const char *graph, const char *reg)
{
    static const char *const dims[DIMS] = { "tid.x", "tid.y", "tid.z", "lane" };
    struct class c = { 0 };
    char line[40];
    const char *p;

    snprintf(line, sizeof line, "\n  %s: ", reg);
    p = strstr(graph, line);
    if (p == NULL)
        return c;
    p += strlen(line);
    size_t size = strcspn(p, "\n");
    char text[160];

    assert_true(size < sizeof text);
    memcpy(text, p, size);
    text[size] = '\0';
    c.known = true;
    c.varying = strcmp(text, "varying") == 0;
    c.assumed = strstr(text, "wraps") != NULL;
    for (unsigned d = 0; d < DIMS; d++) {
        char *at = strstr(text, dims[d]);

        if (at == NULL)
            continue;
        assert_true(at[-1] == '*');
        for (at--; at > text && at[-1] != ' '; at--)
            ;
        if (*at == 's')
            c.some[d] = true;
        else
            c.stride[d] = (uint64_t)strtoll(at, NULL, 10);
    }
    return c;
}

/* ---- values of the threads -------------------------------------------------------------- */

struct shape {
    uint32_t block[3];
    unsigned width;
};
struct count {
    unsigned uniform, affine, strides, varying, wrong_found, wrong_missed, programs;
};

static uint32_t index_of(const struct shape *s, unsigned thread, unsigned dim)
{
    unsigned t = thread % THREADS;

    switch (dim) {
    case 0: return t % s->block[0];
    case 1: return t / s->block[0] % s->block[1];
    case 2: return t / s->block[0] / s->block[1];
    default: return t % (s->width < 32 ? s->width : 32);
    }
}

/* Returns whether class @c permits that the values of threads @a and @b differ by @difference in the same iteration. If
 * some_known[d] is set, an earlier pair of threads has determined an unknown stride, which is some[d]. *@given is set if the
 * class and the known strides determine the difference of this pair. */
static bool agrees(const struct class *c, const struct shape *s, unsigned a, unsigned b,
                   uint64_t difference, uint64_t mask, uint64_t some[DIMS], bool some_known[DIMS],
                   bool *given)
{
    unsigned open = 0, which = 0;

    *given = false;
    for (unsigned d = 0; d < DIMS; d++) {
        uint64_t by = (uint64_t)index_of(s, b, d) - index_of(s, a, d);

        if (!c->some[d]) {
            difference -= c->stride[d] * by;
        } else if (by != 0 && some_known[d]) {
            difference -= some[d] * by;
        } else if (by != 0) {
            open++;
            which = d;
            if (by != 1)
                open++; /* the pair does not determine the stride */
        }
    }
    if (open == 1) {
        some[which] = difference & mask;
        some_known[which] = true;
    }
    *given = open == 0;
    return open != 0 || (difference & mask) == 0;
}

/* Returns false if the values of two threads that executed this definition together differ in a way that the class does not
 * permit. Adds the number of compared pairs to @pairs. */
static bool holds(const struct class *c, const struct shape *s, const struct record *log,
                  unsigned bits, unsigned *pairs)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : bits == 32 ? UINT32_MAX : 1;

    *pairs = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct record *of = log + round * ALL;

        for (unsigned warp = 0; warp < ALL; warp += s->width) {
            uint64_t some[DIMS] = { 0 };
            bool some_known[DIMS] = { false }, given;

            for (unsigned pass = 0; pass < 2; pass++) { /* the first pass determines unknown strides */
                for (unsigned t = warp; t < warp + s->width; t++) {
                    for (unsigned u = t + 1; u < warp + s->width && of[t].there; u++) {
                        if (!of[u].there)
                            continue;
                        if (!agrees(c, s, t, u, of[u].value - of[t].value, mask, some, some_known,
                                    &given) && pass == 1)
                            return false;
                        *pairs += given && pass == 1;
                    }
                }
            }
        }
    }
    return true;
}

/* Tests that a wrong class is detected: a class with another stride, or uniform. */
static void try_wrong(const struct class *c, const struct shape *s, const struct record *log,
                      unsigned bits, struct count *n)
{
    struct class wrong = *c;
    unsigned pairs;

    for (unsigned d = 0; d < DIMS; d++) {
        if (c->some[d])
            return;
    }
    wrong.stride[0]++; /* values of threads that differ only in tid.x differ by this stride */
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned warp = 0; warp < ALL; warp += s->width) {
            for (unsigned t = warp; t + 1 < warp + s->width; t++) {
                const struct record *of = log + round * ALL;

                if (!of[t].there || !of[t + 1].there || index_of(s, t, 0) == index_of(s, t + 1, 0))
                    continue;
                if (bits > 1 && holds(&wrong, s, log, bits, &pairs))
                    n->wrong_missed++;
                else
                    n->wrong_found += bits > 1;
                return;
            }
        }
    }
}

static bool run(const struct program *p, const struct shape *shape, struct record *log,
                struct lw_error *err)
{
    struct emu_config config;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct emu_program *program = NULL;
    struct isa_object *object = NULL;
    struct emu_stop stop;
    uint64_t size = (uint64_t)SLOTS * ROUNDS * ALL * sizeof *log, params[3] = { 0, 0, 24 };
    uint64_t state = p->state;
    uint32_t input[2 * ALL];
    bool ok = false;

    for (unsigned i = 0; i < 2 * ALL; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        input[i] = (uint32_t)(state >> 40) - 8000000;
    }
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.warp_width = shape->width;
    config.policy = emu_policy_names[p->state % 3];
    if (ptx_translate("random.ptx", p->text.text, p->text.size, NULL, &object, err) != LW_OK ||
        emu_machine_create(&config, &machine, err) != LW_OK ||
        emu_program_load(machine, object, &program, err) != LW_OK ||
        emu_alloc(machine, size, "log", 0, &params[0], err) != LW_OK ||
        emu_alloc(machine, sizeof input, "input", 0, &params[1], err) != LW_OK ||
        emu_global_write(machine, params[1], input, sizeof input, err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, err) != LW_OK)
        goto cleanup;
    struct emu_launch launch = { .program = program, .kernel = emu_program_kernel(program, "k"),
                                 .grid = { BLOCKS, 1, 1 },
                                 .block = { shape->block[0], shape->block[1], shape->block[2] },
                                 .work_dim = 3, .params = params };

    if (emu_grid_launch(machine, &launch, NULL, err) != LW_OK ||
        engine->ops->run(engine, &stop, err) != LW_OK)
        goto cleanup;
    ok = stop.kind == EMU_STOP_IDLE && emu_global_read(machine, params[0], log, size, err) == LW_OK;
    if (stop.kind != EMU_STOP_IDLE)
        snprintf(err->text, sizeof err->text, "stopped: %d %.300s", stop.kind, stop.fault.detail);
cleanup:
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
    return ok;
}

static void one_program(uint64_t seed, struct record *log, struct count *n)
{
    static const uint32_t blocks[][3] = { { 64, 1, 1 }, { 16, 4, 1 }, { 32, 2, 1 }, { 8, 4, 2 }, { 4, 2, 8 } };
    static const unsigned widths[] = { 32, 64, 32 };
    struct program *p = calloc(1, sizeof *p);
    struct shape shape = { .width = widths[seed % 3] };
    struct lw_error err = { LW_OK, "" };
    struct lw_buffer graph;
    char why[600] = "";

    assert_non_null(p);
    p->state = seed * 1000003;
    memcpy(shape.block, blocks[seed / 3 % 5], sizeof shape.block);
    lw_buffer_init(&p->text);
    lw_buffer_init(&graph);
    make_program(p);
    if (ptx_print_cfg("random.ptx", p->text.text, p->text.size, &graph.sink, &err) != LW_OK ||
        !run(p, &shape, log, &err))
        snprintf(why, sizeof why, "%s", err.text);
    for (unsigned i = 0; i < p->slots && why[0] == '\0'; i++) {
        struct class c = class_of(graph.text, p->slot[i].reg);
        const struct record *of = log + i * ROUNDS * ALL;
        unsigned pairs;
        bool some = false, stride = false;

        if (!c.known || c.assumed)
            continue;
        if (c.varying) {
            n->varying++;
            continue;
        }
        if (!holds(&c, &shape, of, p->slot[i].bits, &pairs))
            snprintf(why, sizeof why, "place %u: %s is not what --emit cfg says", i, p->slot[i].reg);
        for (unsigned d = 0; d < DIMS; d++) {
            some |= c.some[d];
            stride |= c.stride[d] != 0;
        }
        if (pairs != 0)
            (*(some ? &n->strides : stride ? &n->affine : &n->uniform))++;
        try_wrong(&c, &shape, of, p->slot[i].bits, n);
    }
    n->programs++;
    if (why[0] != '\0') {
        printf("%s\n%s\n", p->text.text, graph.text != NULL ? graph.text : "");
        fflush(stdout);
        fail_msg("seed %" PRIu64 ": width %u, block %u %u %u: %s", seed, shape.width, shape.block[0],
                 shape.block[1], shape.block[2], why);
    }
    lw_buffer_fini(&graph);
    lw_buffer_fini(&p->text);
    free(p);
}

static void lanes_differ_as_the_classes_of_registers_say(void **state)
{
    const char *seed = getenv("LW_SEED"), *count = getenv("LW_RANDOM_COUNT");
    uint64_t first = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    uint64_t programs = count != NULL ? strtoull(count, NULL, 0) : seed != NULL ? 1 : 200;
    struct record *log = malloc(sizeof *log * SLOTS * ROUNDS * ALL);
    struct count n = { 0 };

    (void)state;
    assert_non_null(log);
    for (uint64_t i = 0; i < programs; i++)
        one_program(first + i, log, &n);
    free(log);
    printf("%u programs: %u places uniform, %u affine, %u of unknown stride, %u varying; %u wrong classes seen, %u not\n",
           n.programs, n.uniform, n.affine, n.strides, n.varying, n.wrong_found, n.wrong_missed);
    assert_int_equal(n.wrong_missed, 0);
    if (programs >= 100) { /* checks that the analysis does not find too many registers varying */
        assert_true(n.uniform > 3 * programs && n.affine > 2 * programs && n.strides > programs / 4);
        assert_true(n.wrong_found > 5 * programs && n.varying > programs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_differ_as_the_classes_of_registers_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
