/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the fast paths of the race checker with random kernels that read small buffers repeatedly and sometimes write them.
 * The findings must be equal in two configurations. In the first configuration, the checker gets each access and checks each
 * lane separately. In the second one, it gets only accesses that may add information, checks many lanes together, and defers
 * some accesses. (The checker gets all accesses if performance checks, which count requests, are enabled.)
 *
 * If two readers race with a write, the two configurations may report different readers, and the previous and the
 * current access of a race may be swapped. The test therefore compares kinds and pairs of locations, and the total
 * counts. In few kernels a finding of one configuration may share only one of its two locations with the findings of
 * the other configuration.
 *
 * A second form of kernels accesses shared memory in barrier intervals with and without writes. In some kernels of the first
 * form, the buffers are large and the accessed words far apart, so that the checker may use the packed shadow, and some
 * accesses have 8, 2 or 1 bytes. LW_SEED repeats a run. LW_RANDOM_COUNT sets the number of kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "check/check.h"

enum { ROUNDS = 120, BYTES = 256, WIDE_BYTES = 1 << 17, BUFFERS = 3, LOOPS = 40, BLOCKS = 4, THREADS = 64, MOST = 200 };

/** A finding that is compared. The lower pc of a race's two accesses is @pc, and the higher is @other. */
struct finding {
    uint64_t kind, pc, other, count;
};

static int by_location(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

static unsigned draw(uint64_t *state, unsigned below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)((*state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

static void must(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/** Emit code that sets v10 to the index of a word of a buffer. With @wide the indexes are far apart, except for sixteen of
 *  them. */
static void put_word(bool wide, struct lw_sink *out)
{
    lw_put(out, "v_and_b32 v10, v10, 63\n");
    if (wide)
        lw_put(out, "v_shr_u32 v11, v10, 4\nv_and_b32 v10, v10, 15\nv_mul_u32 v11, v11, 3072\n"
                    "v_add_u32 v10, v10, v11\n");
}

/** Emit code that sets v10 to the index of a word of a buffer, with a random pattern. */
static void put_number(uint64_t *r, bool wide, struct lw_sink *out)
{
    static const char *const words[] = {
        "v_mov_b32 v10, v0\n", "v_mov_b32 v10, v4\n", "v_add_u32 v10, v0, v4\n",
        "v_mul_u32 v10, v0, 5\n", "v_mov_b32 v10, v1\n", "v_and_b32 v10, v0, 15\n",
        "v_xor_b32 v10, v0, v4\n", "v_mad_u32 v10, v0, v4, v1\n"};

    lw_put(out, words[draw(r, sizeof words / sizeof words[0])]);
    put_word(wide, out);
}

/** Emit code that sets v10:11 to the address of a word of a buffer. */
static void put_location(uint64_t *r, bool wide, struct lw_sink *out)
{
    put_number(r, wide, out);
    lw_put(out, "v_madwide_u32 v10:11, v10, 4, v12:13\n");
}

/** Emit a load of @bytes bytes from a random word of a buffer, in all lanes or in some. The addresses of lanes are
 *  equidistant or not, and all addressing modes occur. */
static void put_load(uint64_t *r, bool wide, unsigned buffer, unsigned bytes, struct lw_sink *out)
{
    static const char *const guards[] = {"v_and_b32 v24, v0, 3\nv_setp_u32.ne p4, v24, 1\n",
                                         "v_add_u32 v24, v0, v4\nv_and_b32 v24, v24, 7\nv_setp_u32.lt p4, v24, 3\n",
                                         "v_setp_u32.gt p4, v0, v4\n"};
    const char *what = bytes == 4 ? "b32 v20" : bytes == 8 ? "b64 v20:21" : bytes == 2 ? "u16 v20" : "u8 v20";
    const bool guarded = draw(r, 3) == 0;

    if (guarded)
        lw_put(out, guards[draw(r, sizeof guards / sizeof guards[0])]);
    if (draw(r, 4) == 0) { /* adjacent words, or words a few apart, ascending or descending */
        lw_printf(out, "v_mul_u32 v10, v0, %u\n", 1 + draw(r, 7));
        if (draw(r, 3) == 0)
            lw_put(out, "v_mov_b32 v24, 447\nv_sub_u32 v10, v24, v10\n");
        if (draw(r, 2) == 0)
            lw_printf(out, "v_and_b32 v10, v10, %u\n", wide ? 511 : 62);
        else if (!wide)
            lw_put(out, "v_and_b32 v10, v10, 63\n");
    } else {
        put_number(r, wide, out);
    }
    if (bytes == 8)
        lw_put(out, "v_and_b32 v10, v10, -2\n");
    lw_printf(out, "v_madwide_u32 v12:13, v10, 4, v12:13\n%sld.global.", guarded ? "@p4 " : "");
    switch (draw(r, 3)) {
    case 0:
        lw_printf(out, "%s, [s%u:%u+v10*4]\n", what, 4 + 2 * buffer, 5 + 2 * buffer);
        break;
    case 1:
        lw_printf(out, "%s, [s%u:%u+v10.s*4]\n", what, 4 + 2 * buffer, 5 + 2 * buffer);
        break;
    default:
        lw_printf(out, "%s, [v12:13]\n", what);
    }
    lw_put(out, "v_xor_b32 v21, v21, v20\n");
}

/** Write a random kernel. With @sizes some accesses have other sizes than 4 bytes. */
static void put_kernel(uint64_t *r, bool wide, bool sizes, struct lw_sink *out)
{
    static const unsigned bytes[] = {4, 4, 8, 2, 1};
    unsigned count = 2 + draw(r, 4);

    lw_put(out, ".kernel k\n.param ptr.global a\n.param ptr.global b\n.param ptr.global c\n"
                "v_s2r v0, %tid.x\nv_s2r v1, %ctaid.x\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v21, 0\n"
                "v_mov_b32 v20, 0\ns_mov_b64 s4:5, c[a]\ns_mov_b64 s6:7, c[b]\ns_mov_b64 s8:9, c[c]\nagain:\n");
    for (unsigned i = 0; i < count; i++) {
        const unsigned buffer = draw(r, BUFFERS);

        lw_printf(out, "v_mov_b64 v12:13, c[%c]\n", 'a' + (int)buffer);
        put_load(r, wide, buffer, sizes ? bytes[draw(r, 5)] : 4, out);
        lw_printf(out, "v_mov_b64 v12:13, c[%c]\n", 'a' + (int)buffer);
        if (draw(r, 4) == 0)
            lw_put(out, "bar.sync 0\n");
        if (draw(r, 3) != 0)
            continue;
        /* all lanes access the same word, which may be shared by all blocks or belong to one block */
        if (draw(r, 3) == 0) {
            lw_put(out, draw(r, 2) == 0 ? "v_mov_b32 v10, 9\n" : "v_add_u32 v10, v1, 20\n");
            put_word(wide, out);
            lw_put(out, "v_madwide_u32 v10:11, v10, 4, v12:13\n");
            lw_put(out, draw(r, 3) != 0 ? "st.global.b32 [v10:11], vz\n"
                                        : "v_shr_u32 v22, v4, 4\nst.global.b32 [v10:11], v22\n");
            continue;
        }
        /* a store that happens once, early or late, by a few lanes of one block or of all blocks */
        lw_printf(out, "v_setp_u32.eq p0, v4, %u\nv_setp_u32.lt.and p0, v0, %u, p0\n", draw(r, LOOPS),
                  1 + draw(r, THREADS));
        if (draw(r, 2) == 0)
            lw_printf(out, "v_setp_u32.eq.and p0, v1, %u, p0\n", draw(r, BLOCKS));
        put_location(r, wide, out);
        if (sizes && draw(r, 2) == 0)
            lw_put(out, draw(r, 3) == 0   ? "v_and_b32 v10, v10, -8\n@p0 st.global.b64 [v10:11], v4:5\n"
                        : draw(r, 2) == 0 ? "@p0 st.global.u16 [v10:11+2], v4\n"
                                          : "@p0 st.global.u8 [v10:11+1], v20\n");
        else
            lw_put(out, draw(r, 4) == 0 ? "@p0 red.global.add.u32 [v10:11], v0\n"
                        : draw(r, 2) == 0 ? "@p0 st.global.b32 [v10:11], v20\n"
                                          : "@p0 st.global.b32 [v10:11], v4\n");
    }
    lw_printf(out, "v_add_u32 v4, v4, 1\nv_setp_u32.lt p1, v4, %u\n@p1 bra again\n", LOOPS);
    lw_put(out, "v_setp_u32.eq p2, v21, 7\n@p2 v_mov_b32 v21, 0\nexit\n.end\n");
}

/** Emit code that sets v10 to an offset in shared memory. */
static void put_tile_location(uint64_t *r, struct lw_sink *out)
{
    static const char *const words[] = {
        "v_mov_b32 v10, v0\n", "v_mov_b32 v10, v4\n", "v_add_u32 v10, v0, v4\n",
        "v_mov_b32 v10, 9\n", "v_and_b32 v10, v0, 15\n", "v_xor_b32 v10, v0, v4\n",
        "v_mov_b32 v10, v0\n", "v_mov_b32 v10, v0\n"};

    lw_put(out, words[draw(r, sizeof words / sizeof words[0])]);
    lw_put(out, "v_and_b32 v10, v10, 63\nv_shl_b32 v10, v10, 2\n");
}

static void put_tile_access(uint64_t *r, bool reads, struct lw_sink *out)
{
    const bool wide = false;
    const char *guard = draw(r, 3) == 0 ? "@p3 " : "";

    if (draw(r, 6) == 0) { /* an access to global memory; loads use generic addresses */
        lw_put(out, "v_mov_b64 v12:13, c[a]\n");
        put_location(r, wide, out);
        lw_put(out, reads ? "ld.generic.b32 v20, [v10:11]\n" : "st.global.b32 [v10:11], v4\n");
        return;
    }
    put_tile_location(r, out);
    if (reads || draw(r, 3) == 0) {
        if (draw(r, 3) != 0) {
            lw_printf(out, "%sld.shared.b32 v20, [v10]\n", guard);
        } else { /* the access is by a generic address */
            lw_printf(out, "v_mov_b32 v11, 256\n%sld.generic.b32 v20, [v10:11]\n", guard);
        }
        lw_put(out, "v_xor_b32 v21, v21, v20\n");
    } else if (draw(r, 5) == 0) {
        lw_printf(out, "%sred.shared.add.u32 [v10], v0\n", guard);
    } else {
        lw_printf(out, "%sst.shared.b32 [v10], v%u\n", guard, draw(r, 2) == 0 ? 4u : 21u);
    }
}

/** Emit a barrier for all threads or for half of the block. Some barriers have a guard, a count, or two instructions.
 *  With @odd every barrier has one of these. */
static void put_barrier(uint64_t *r, unsigned i, bool odd, struct lw_sink *out)
{
    enum { GUARDED = 12 };
    const unsigned which = draw(r, 12);

    switch (!odd || which < 6 ? which : which < 9 ? 5 : GUARDED) {
    case 0:
        lw_put(out, "v_mov_b32 v3, 32\n@p3 bar.sync 1, v3\n");
        return;
    case 1: /* a barrier of all threads, with a count */
        lw_put(out, "v_mov_b32 v3, 64\nbar.sync 2, v3\n");
        return;
    case 2: /* the warps wait at different barrier instructions, so that a barrier interval begins at two instructions */
        lw_printf(out, "@p3 bra w%u\nbar.sync 0\n", i);
        put_tile_access(r, true, out);
        lw_printf(out, "bra o%u\nw%u:\nbar.sync 0\n", i, i);
        put_tile_access(r, false, out);
        lw_printf(out, "o%u:\n", i);
        return;
    case 3:
        lw_put(out, "@p3 bar.sync 0\n@!p3 bar.sync 0\n");
        return;
    case 4: /* One half of the threads arrives later, or in the next iteration. */
        lw_printf(out, "@p3 bra w%u\nbar.sync 0\nw%u:\n", i, i);
        lw_put(out, "@p3 bar.sync 0\n");
        return;
    case 5: /* a barrier of half of the threads, with a count */
        if (odd) /* other threads probably read the words that the threads write */
            put_tile_location(r, out);
        lw_printf(out, "v_mov_b32 v3, 32\n@p3 bra w%u\n", i);
        if (odd)
            lw_put(out, "ld.shared.b32 v20, [v10]\nv_xor_b32 v21, v21, v20\n");
        else
            put_tile_access(r, true, out);
        lw_printf(out, "bra o%u\nw%u:\nbar.sync 1, v3\n", i, i);
        if (odd)
            lw_put(out, "st.shared.b32 [v10], v4\n");
        else
            put_tile_access(r, false, out);
        lw_printf(out, "o%u:\nbar.sync 0\n", i);
        return;
    case GUARDED: /* half of the threads arrive under a guard; the other half continues to the next barrier */
        put_tile_location(r, out);
        lw_put(out, "ld.shared.b32 v20, [v10]\nv_xor_b32 v21, v21, v20\n@p3 bar.sync 0\n"
                    "st.shared.b32 [v10], v4\nbar.sync 0\n@!p3 bar.sync 0\n");
        return;
    default:
        lw_put(out, "bar.sync 0\n");
        return;
    }
}

static void put_phases(uint64_t *r, struct lw_sink *out)
{
    /* Counts of findings are compared only for kernels with few accesses. With many accesses, another access of the same
     * location may race as well. */
    const bool few = draw(r, 2) == 0;
    const unsigned count = few ? draw(r, 3) : 3 + draw(r, 7);

    lw_put(out, ".kernel k\n.param ptr.global a\n.param ptr.global b\n.param ptr.global c\n.shared tile 512\n"
                "v_s2r v0, %tid.x\nv_s2r v1, %ctaid.x\nv_mov_b32 v4, 0\nv_mov_b32 v21, 0\n"
                "v_setp_u32.lt p3, v0, 32\n");
    if (draw(r, 3) != 0) {
        lw_put(out, "v_shl_b32 v10, v0, 2\nst.shared.b32 [v10], v0\n");
        put_barrier(r, 100, false, out);
    }
    lw_put(out, "again:\n");
    if (few)
        put_barrier(r, 101, true, out);
    for (unsigned i = 0; i < count; i++) {
        if (draw(r, 2) == 0)
            put_barrier(r, i, few, out);
        put_tile_access(r, draw(r, 3) != 0, out);
    }
    if (draw(r, 2) == 0)
        lw_put(out, "bar.sync 0\n");
    lw_printf(out, "v_add_u32 v4, v4, 1\nv_setp_u32.lt p1, v4, %u\n@p1 bra again\n", 8);
    lw_put(out, "v_setp_u32.eq p2, v21, 7\n@p2 v_mov_b32 v21, 0\nexit\n.end\n");
}

/** Run the kernel once. Write the sorted findings to @found, and return their number. */
static unsigned run(const char *text, const char *list, unsigned unwritten, unsigned bytes,
                    bool all, struct finding *found)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct chk *chk;
    struct lw_error err;
    const struct chk_finding *f;
    uint64_t params[BUFFERS], kinds;
    unsigned count = 0;

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    must(emu_machine_create(&config, &machine, &err), &err);
    must(isa_assemble("k.s", text, strlen(text), &object, &err), &err);
    must(emu_program_load(machine, object, &program, &err), &err);
    for (unsigned i = 0; i < BUFFERS; i++)
        must(emu_alloc(machine, bytes, "buffer", 0, &params[i], &err), &err);
    must(chk_select(list, &kinds, &err), &err);
    const struct chk_options options = {.kinds = kinds, .max_findings = MOST,
                                        .counting = all ? CHK_COUNT_REQUESTS : CHK_COUNT_NOTHING};
    must(chk_create(machine, &options, &chk, &err), &err);
    chk_mark_uninitialised(chk, params[1], unwritten);
    must(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .work_dim = 1,
                                .params = params};
    for (unsigned i = 0; i < 2; i++) {
        must(emu_grid_launch(machine, &launch, NULL, &err), &err);
        must(engine->ops->run(engine, &stop, &err), &err);
        assert_int_equal(stop.kind, EMU_STOP_IDLE);
    }
    must(chk_finish(chk, &stop, &err), &err);
    for (; (f = chk_get(chk, count)) != NULL && count < MOST; count++) {
        const bool up = f->location.pc <= f->other.pc;
        found[count] = (struct finding){f->kind, up ? f->location.pc : f->other.pc,
                                        up ? f->other.pc : f->location.pc, f->count};
    }
    qsort(found, count, sizeof *found, by_location);
    emu_engine_destroy(engine);
    chk_destroy(chk);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
    return count;
}

/** Return whether one of @count findings has this kind and one of its locations. */
static bool has_like(const struct finding *found, unsigned count, const struct finding *f)
{
    for (unsigned i = 0; i < count; i++)
        if (found[i].kind == f->kind && (found[i].pc == f->pc || found[i].other == f->other ||
                                         found[i].pc == f->other || found[i].other == f->pc))
            return true;
    return false;
}

static void filtered_accesses_change_no_finding(void **state)
{
    static const char *const lists[] = {"races,benign-race", "uninitialised", "races",
                                        "races,benign-race,uninitialised"};
    const char *given = getenv("LW_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) | 1 : 3;
    const char *rounds_given = getenv("LW_RANDOM_COUNT");
    const unsigned rounds = rounds_given != NULL ? (unsigned)strtoul(rounds_given, NULL, 0) : ROUNDS;
    unsigned total = 0, differ = 0;

    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        struct finding some[MOST], all[MOST];
        const bool phases = round % 3 == 2, wide = !phases && round % 2 == 0;
        const unsigned bytes = wide ? WIDE_BYTES : BYTES;
        const char *list = lists[phases && round % 4 == 1 ? 0 : round % 4]; /* The check of uninitialised values does
                                                                             * not depend on barrier intervals, so these
                                                                             * kernels get list 0 instead of list 1. */
        struct lw_buffer text;

        lw_buffer_init(&text);
        if (phases)
            put_phases(&seed, &text.sink);
        else
            put_kernel(&seed, wide, round % 8 == 0 || round % 8 == 7, &text.sink);
        /* only some kernels have uninitialised memory, because the checker steps warps with undefined registers one
         * instruction at a time, which is slow */
        unsigned unwritten = round % 8 == 1 ? 4 : 0;
        unsigned n = run(text.text, list, unwritten, bytes, false, some);
        unsigned m = run(text.text, list, unwritten, bytes, true, all);
        total += n;
        uint64_t times = 0;
        bool same = n == m;
        for (unsigned i = 0; i < n || i < m; i++) {
            same = same && some[i].kind == all[i].kind && some[i].pc == all[i].pc &&
                   some[i].other == all[i].other;
            if ((i < n && !has_like(all, m, &some[i])) || (i < m && !has_like(some, n, &all[i]))) {
                fprintf(stderr, "%s", text.text);
                fail_msg("round %u, %s: %u and %u findings; finding %u is in only one configuration: pc "
                         "%llx and %llx, other %llx and %llx", round, list, n, m, i,
                         (unsigned long long)some[i].pc, (unsigned long long)all[i].pc,
                         (unsigned long long)some[i].other, (unsigned long long)all[i].other);
            }
            times += (i < n ? some[i].count : 0) - (i < m ? all[i].count : 0);
        }
        differ += !same;
        if (times != 0) {
            fprintf(stderr, "%s", text.text);
            fail_msg("round %u, %s: the counts of findings differ by %lld", round, list, (long long)times);
        }
        lw_buffer_fini(&text);
    }
    if (differ > rounds / 200)
        fail_msg("in %u of %u kernels the pairs of locations differ", differ, rounds);
    if (total < rounds)
        fail_msg("only %u findings", total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filtered_accesses_change_no_finding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
