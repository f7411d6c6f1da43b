/* SPDX-License-Identifier: Apache-2.0 */
/* Tests textures: bindings that are refused, events of a fetch, and memory faults. The values that fetches read are
 * tested by tests/emu/exec/vectors/tex.txt. */
#include "tests/emu/exec/emu_fixture.h"

#define FETCH "tex.1d.u32.s32 v12:15, v1, s4:5\n"
#define HANDLE "s_mov_b32 s4, lo(t)\ns_mov_b32 s5, hi(t)\n"
#define DESCRIPTOR ".const t 32 32\n"

static struct emu_texture texture_of(uint64_t address, uint32_t width, unsigned components)
{
    return (struct emu_texture){.address = address, .width = width, .bits = 32,
                                .components = (uint8_t)components, .kind = EMU_TEXEL_UNSIGNED,
                                .edge = {EMU_TEXTURE_CLAMP, EMU_TEXTURE_CLAMP}};
}

/* Allocate a buffer of 64 words, of which word k is k * 3, and return its address. */
static uint64_t make_texels(struct fix *f)
{
    struct lw_error err;
    uint32_t word[64];
    uint64_t address;

    for (unsigned k = 0; k < 64; k++)
        word[k] = k * 3;
    fix_check(emu_alloc(f->machine, sizeof word, "texels", 0, &address, &err), &err);
    fix_check(emu_global_write(f->machine, address, word, sizeof word, &err), &err);
    return address;
}

static void bind(struct fix *f, const struct emu_texture *texture)
{
    struct lw_error err;

    fix_check(emu_texture_bind(f->machine, emu_program_variable(f->program, "t", NULL), texture,
                               &err), &err);
}

/* Observer that stores the last event of a fetch, with copies of its registers. */
struct watcher {
    struct emu_observer observer;
    struct emu_event ev;
    uint64_t address[EMU_MAX_LANES];
    uint8_t space[EMU_MAX_LANES], old_value[EMU_MAX_LANES][16];
    unsigned count;
};
static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct watcher *w = (struct watcher *)observer;

    if (ev->insn->op != ISA_TEX)
        return false;
    w->count++;
    w->ev = *ev;
    memcpy(w->address, ev->access[0].address, sizeof w->address);
    memcpy(w->space, ev->access[0].lane_space, sizeof w->space);
    memcpy(w->old_value, ev->access[0].old_value, sizeof w->old_value);
    return false;
}

static void an_event_tells_of_the_lanes_that_read_a_texel(void **state)
{
    struct fix *f = fix_new(8);
    struct watcher w = {.observer.on_event = on_event};

    (void)state;
    fix_load(f, FIX_HEAD HANDLE "v_sub_u32 v1, v0, 2\nv_setp_u32.ne p0, v0, 5\n@p0 " FETCH
                                FIX_STORE("v13") "exit\n.end\n" DESCRIPTOR, 8);
    uint64_t texels = make_texels(f);
    struct emu_texture texture = texture_of(texels + 8, 5, 2);
    bind(f, &texture);
    emu_observer_add(f->engine, &w.observer);
    fix_go(f);
    emu_observer_remove(f->engine, &w.observer);
    fix_expect_words(f, (const uint32_t[]){0, 0, 9, 15, 21, 0, 33, 0}, 8);
    assert_int_equal(w.count, 1);
    const struct emu_access *a = &w.ev.access[0];
    assert_int_equal(w.ev.effective, 0xdf);
    assert_int_equal(w.ev.access_count, 1);
    assert_true(a->texture);
    assert_int_equal(a->kind, EMU_ACCESS_LOAD);
    assert_int_equal(a->cache, ISA_CACHE_NC);
    assert_int_equal(a->order, 0);
    assert_int_equal(a->space, ISA_SPACE_GLOBAL);
    assert_int_equal(a->bytes, 8);
    assert_int_equal(a->lanes, 0x5c); /* texels 0, 1, 2 and 4; lanes 0, 1 and 7 are outside */
    assert_true(a->in_allocation);
    assert_string_equal(a->allocation.name, "texels");
    assert_true(a->affine);
    assert_int_equal(a->base, texels + 8);
    assert_int_equal(a->stride, 8);
    assert_null(a->new_value);
    for (LW_EACH_BIT(l, a->lanes)) {
        assert_int_equal(w.address[l], texels + 8 + 8 * (l - 2));
        assert_int_equal(w.space[l], ISA_SPACE_GLOBAL);
        assert_int_equal(lw_get32(w.old_value[l] + 4), 9 + 6 * (l - 2));
    }
    fix_free(f);
}

static void a_fetch_outside_reads_no_memory(void **state)
{
    struct fix *f = fix_new(8);
    struct watcher w = {.observer.on_event = on_event};

    (void)state;
    fix_load(f, FIX_HEAD HANDLE "v_add_u32 v1, v0, 64\n" FETCH FIX_STORE("v12")
                                "exit\n.end\n" DESCRIPTOR, 8);
    struct emu_texture texture = texture_of(make_texels(f), 64, 1);
    bind(f, &texture);
    emu_observer_add(f->engine, &w.observer);
    fix_go(f);
    emu_observer_remove(f->engine, &w.observer);
    fix_expect_words(f, (const uint32_t[8]){0}, 8);
    assert_int_equal(w.ev.access_count, 1);
    assert_int_equal(w.ev.access[0].lanes, 0);
    fix_free(f);
}

static void freed_texels_are_a_use_after_free(void **state)
{
    struct lw_error err;
    struct fix *f = fix_new(32);

    (void)state;
    fix_load(f, FIX_HEAD HANDLE "v_mov_b32 v1, v0\n" FETCH "exit\n.end\n" DESCRIPTOR, 4);
    uint64_t texels = make_texels(f);
    struct emu_texture texture = texture_of(texels, 3, 1);
    bind(f, &texture);
    fix_check(emu_free(f->machine, texels, &err), &err);
    fix_go(f);
    fix_expect_fault(f, EMU_FAULT_FREED, 7, "tex.1d.u32.s32");
    assert_int_equal(f->stop.fault.address, texels);
    assert_int_equal(f->stop.fault.bytes, 4);
    assert_non_null(strstr(f->stop.fault.detail, "'texels'"));
    fix_free(f);
}

static void an_unbound_texture_is_named(void **state)
{
    struct emu_texture got;
    struct fix *f = fix_new(32);

    (void)state;
    fix_load(f, FIX_HEAD HANDLE "v_mov_b32 v1, v0\n" FETCH "exit\n.end\n" DESCRIPTOR, 4);
    struct emu_texture texture = texture_of(make_texels(f), 3, 1);
    uint64_t handle = emu_program_variable(f->program, "t", NULL);
    assert_false(emu_texture_get(f->machine, handle, &got));
    bind(f, &texture);
    assert_true(emu_texture_get(f->machine, handle, &got));
    assert_int_equal(got.address, texture.address);
    assert_int_equal(got.width, 3);
    assert_int_equal(got.height, 0);
    assert_int_equal(got.bits, 32);
    assert_int_equal(got.components, 1);
    assert_int_equal(got.kind, EMU_TEXEL_UNSIGNED);
    assert_int_equal(got.edge[0], EMU_TEXTURE_CLAMP);
    assert_false(got.normalized_values || got.normalized_coords);
    bind(f, NULL);
    assert_false(emu_texture_get(f->machine, handle, &got));
    fix_go(f);
    fix_expect_fault(f, EMU_FAULT_TEXTURE, 15, "tex.1d.u32.s32");
    assert_non_null(strstr(f->stop.fault.detail, "texture 't' at 0x"));
    assert_non_null(strstr(f->stop.fault.detail, "no memory is bound to the texture"));
    fix_free(f);
}

static void what_cannot_be_is_not_bound(void **state)
{
    static const struct {
        struct emu_texture texture;
        const char *why;
    } cases[] = {
        {{.width = 1, .bits = 24, .components = 1}, "8, 16 or 32 bits"},
        {{.width = 1, .bits = 8, .components = 3}, "1, 2 or 4 components"},
        {{.width = 1, .bits = 8, .components = 1, .kind = EMU_TEXEL_FLOAT}, "float components must have"},
        {{.width = 1, .bits = 8, .components = 1, .kind = (enum emu_texel_kind)3}, "unsigned, signed"},
        {{.width = 1, .bits = 32, .components = 1, .normalized_values = true}, "8 or 16 bits"},
        {{.width = 0, .bits = 8, .components = 1}, "no texels"},
        {{.width = 1, .bits = 8, .components = 1, .edge = {0, (enum emu_texture_edge)4}}, "an addressing mode must be"},
    };
    struct lw_error err;
    struct emu_texture good = texture_of(ISA_GLOBAL_BASE, 1, 1);
    struct fix *f = fix_new(32);

    (void)state;
    fix_load(f, FIX_HEAD HANDLE "v_mov_b32 v1, v0\n" FETCH "exit\n.end\n" DESCRIPTOR, 4);
    uint64_t handle = emu_program_variable(f->program, "t", NULL);
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        assert_int_equal(emu_texture_bind(f->machine, handle, &cases[i].texture, &err), LW_EINPUT);
        if (strstr(err.text, cases[i].why) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].why);
    }
    assert_int_equal(emu_texture_bind(f->machine, handle + 4, &good, &err), LW_ERANGE);
    assert_int_equal(emu_texture_bind(f->machine, handle + 8, &good, &err), LW_ERANGE);
    assert_int_equal(emu_texture_bind(f->machine, 0, &good, &err), LW_ERANGE);
    fix_free(f);
}

/* Set each byte of a descriptor to each value. The fetch must fault, or read from addresses that have been checked. */
static void a_corrupted_descriptor_does_no_harm(void **state)
{
    (void)state;
    for (unsigned at = 0; at < EMU_TEXTURE_BYTES; at++) {
        for (unsigned value = 0; value < 256; value += at < 20 ? 51 : 1) {
            struct lw_error err;
            struct fix *f = fix_new(4);
            uint8_t byte = (uint8_t)value;

            fix_load(f, FIX_HEAD HANDLE "v_mov_b32 v1, v0\n" FETCH FIX_STORE("v12")
                                        "exit\n.end\n" DESCRIPTOR, 4);
            struct emu_texture texture = texture_of(make_texels(f), 64, 1);
            uint64_t handle = emu_program_variable(f->program, "t", NULL);
            bind(f, &texture);
            fix_check(emu_global_write(f->machine, handle + at, &byte, 1, &err), &err);
            fix_go(f);
            assert_true(f->stop.kind == EMU_STOP_IDLE || f->stop.kind == EMU_STOP_FAULT);
            fix_free(f);
        }
    }
}

/* The emulator handles lanes that fetch from one texture together, and lanes that fetch from different textures one by
 * one. With two equal textures both ways must give equal values. */
static void lanes_together_read_what_each_reads_alone(void **state)
{
    uint64_t seed = 7;
    unsigned different = 0;

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        static const uint8_t sizes[] = {8, 16, 32}, counts[] = {1, 2, 4};
        char text[2000];
        uint32_t where[64], noise[256];
        struct lw_error err;
        struct fix *f = fix_new(32);
        struct emu_texture t = {.edge = {EMU_TEXTURE_CLAMP, EMU_TEXTURE_CLAMP}};
        uint64_t r = seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bool floats = r >> 20 & 1, two = r >> 21 & 1;

        t.bits = sizes[(r >> 22) % 3];
        t.components = counts[(r >> 24) % 3];
        t.kind = (enum emu_texel_kind)((r >> 26) % (t.bits == 8 ? 2 : 3));
        t.normalized_values = t.kind != EMU_TEXEL_FLOAT && t.bits != 32 && r >> 28 & 1;
        t.normalized_coords = r >> 29 & 1;
        t.edge[0] = (enum emu_texture_edge)(r >> 30 & 3);
        t.edge[1] = (enum emu_texture_edge)(r >> 32 & 3);
        t.width = 1 + (r >> 34) % 7;
        t.height = two ? 1 + (r >> 38) % 5 : 0;
        t.pitch_bytes = two ? 112 : 0;
        const char *type = t.kind == EMU_TEXEL_FLOAT || t.normalized_values ? "f32"
                           : t.kind == EMU_TEXEL_SIGNED                     ? "s32"
                                                                            : "u32";
        for (unsigned i = 0; i < 256; i++) {
            r = seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            noise[i] = (uint32_t)(r >> 32);
            float x = ((float)(int32_t)(r >> 40 & 0xfff) - 0x600) / 0x100;
            if (i >= 64)
                continue;
            memcpy(&where[i], &x, sizeof x);
            if (!floats)
                where[i] = (uint32_t)((int32_t)(r >> 40 & 15) - 4);
        }
        snprintf(text, sizeof text,
                 "%sv_mov_b32 v2, lo(where)\nv_mov_b32 v3, hi(where)\n"
                          "v_madwide_u32 v2:3, v0, 8, v2:3\nld.global.v2.b32 v6:7, [v2:3]\n"
                          "v_mov_b32 v4, lo(t)\nv_mov_b32 v5, hi(t)\nv_madwide_u32 v8:9, v0, 12, v8:9\n"
                          "tex.%s.%s.%s v12:15, %s, v4:5\nst.global.v4.b32 [v8:9], v12:15\n"
                          "v_mov_b32 v10, lo(u)\nv_and_b32 v11, v0, 1\nv_setp_u32.eq p0, v11, 1\n"
                          "@p0 v_mov_b32 v4, v10\n"
                          "tex.%s.%s.%s v12:15, %s, v4:5\nst.global.v4.b32 [v8:9+512], v12:15\n"
                          "exit\n.end\n.const t 32 32\n.const u 32 32\n.global where 256 8\n",
                 FIX_HEAD, two ? "2d" : "1d", type, floats ? "f32" : "s32", two ? "v6:7" : "v6",
                 two ? "2d" : "1d", type, floats ? "f32" : "s32", two ? "v6:7" : "v6");
        fix_load(f, text, 32);
        fix_check(emu_alloc(f->machine, sizeof noise, "noise", 0, &t.address, &err), &err);
        fix_check(emu_global_write(f->machine, t.address, noise, sizeof noise, &err), &err);
        fix_check(emu_global_write(f->machine, emu_program_variable(f->program, "where", NULL),
                                   where, sizeof where, &err), &err);
        bind(f, &t);
        fix_check(emu_texture_bind(f->machine, emu_program_variable(f->program, "u", NULL), &t,
                                   &err), &err);
        fix_go(f);
        if (f->stop.kind != EMU_STOP_IDLE)
            fail_msg("round %u: stop %d: %s", round, f->stop.kind, f->stop.fault.detail);
        for (unsigned i = 0; i < 128; i++) {
            if (f->word[i] != f->word[128 + i])
                fail_msg("round %u: thread %u, component %u: %08x, alone %08x", round, i / 4, i % 4,
                         f->word[i], f->word[128 + i]);
            different += f->word[i] != f->word[0];
        }
        fix_free(f);
    }
    assert_true(different > 400 * 10); /* at least one value is not zero */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_tells_of_the_lanes_that_read_a_texel),
        cmocka_unit_test(a_fetch_outside_reads_no_memory),
        cmocka_unit_test(freed_texels_are_a_use_after_free),
        cmocka_unit_test(an_unbound_texture_is_named),
        cmocka_unit_test(what_cannot_be_is_not_bound),
        cmocka_unit_test(a_corrupted_descriptor_does_no_harm),
        cmocka_unit_test(lanes_together_read_what_each_reads_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
