/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the section of address slices in object files: writing and reading preserve it, reading checks it, and malicious contents
 * cause no invalid access. */
#include "emu/lane/emu_predict_priv.h"
#include "tests/emu/exec/emu_fixture.h"

static struct isa_object *sliced(void)
{
    const char *dir = getenv("srcdir");
    struct isa_object *object;
    struct lw_error err;
    char path[1024], *text;
    size_t size;

    snprintf(path, sizeof path, "%s/tests/emu/predict/slices.s", dir != NULL ? dir : ".");
    fix_check(lw_file_read(path, &text, &size, &err), &err);
    fix_check(isa_assemble("slices.s", text, size, &object, &err), &err);
    free(text);
    fix_check(isa_object_slice(object, &err), &err);
    return object;
}

static char *text_of(const struct isa_object *object)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    isa_slices_print(object, &text.sink);
    return text.text;
}

static void the_file_keeps_them(void **state)
{
    struct isa_object *object = sliced(), *again;
    struct lw_error err;
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_int_equal(object->slice_count, 2);
    fix_check(isa_object_write(object, &bytes, &size, &err), &err);
    fix_check(isa_object_read("slices.lwo", bytes, size, &again, &err), &err);
    char *before = text_of(object), *after = text_of(again);
    assert_string_equal(before, after);
    free(before);
    free(after);
    free(bytes);
    isa_object_destroy(object);
    isa_object_destroy(again);
}

static void is_refused(const struct isa_object *object, const char *what)
{
    struct lw_error err;

    assert_int_equal(isa_object_check(object, &err), LW_EFORMAT);
    if (strstr(err.text, what) == NULL)
        fail_msg("%s", err.text);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct isa_object *object = sliced();
    struct isa_slices *s = &object->slices[0];
    struct isa_slice_site *site = &s->sites[0];
    struct lw_error err;
    uint32_t row = 0, induction = 0;

    (void)state;
    while (s->nodes[row].kind != ISA_SLICE_ROW)
        row++;
    while (s->nodes[induction].kind != ISA_SLICE_INDUCTION)
        induction++;
    struct isa_slice_node *n = &s->nodes[row], *i = &s->nodes[induction];
    assert_int_equal(isa_object_check(object, &err), LW_OK);
#define WITH(place, value, what)                                                                 \
    do {                                                                                         \
        __typeof__(place) old = (place);                                                         \
        (place) = (value);                                                                       \
        is_refused(object, what);                                                                \
        (place) = old;                                                                           \
    } while (0)
    WITH(n->a, row, "is invalid"); /* the value would depend on itself */
    WITH(n->bits, 64, "is invalid");
    WITH(n->op, ISA_V_ADD_F32, "is invalid");
    WITH(n->part, ISA_SLICE_P, "is invalid");
    WITH(n->kind, ISA_SLICE_KIND_COUNT, "is invalid");
    WITH(i->value, s->loop_count, "is invalid");
    WITH(s->loops[1].outer, 1, "loop 1 is invalid");
    WITH(s->loops[0].header, 100000, "loop 0 is invalid");
    WITH(s->loops[0].test, s->sites[0].node, "loop 0 is invalid");
    WITH(s->arrays[0].which, 77, "there is no array 0");
    WITH(site->insn, 100000, "site 0 is invalid");
    WITH(site->node, s->node_count, "site 0 is invalid");
    WITH(site->node, 0, "site 0 is invalid");
    WITH(site->loops, UINT64_C(1) << 63, "site 0 is invalid");
    WITH(site->array, ISA_SLICE_ARRAYS - 1, "site 0 is invalid");
    WITH(site->bytes, 0, "site 0 is invalid");
    WITH(s->function, 9, "is not a kernel");
    WITH(object->slices[1].function, 0, "out of order");
    assert_int_equal(isa_object_check(object, &err), LW_OK);
    isa_object_destroy(object);
}

/** Call every query function on all accepted slices. */
static void use(const struct isa_object *object)
{
    static const uint8_t params[64] = { 0, 0x10, 0, 0, 1, 0, 0, 0, 0, 0x20, 0, 0, 1, 0, 0, 0, 64, 0, 0, 0, 3 };
    static const uint64_t variables[1] = { 0x40000 };
    struct lw_error err;

    free(text_of(object));
    for (uint32_t k = 0; k < object->slice_count; k++) {
        const struct isa_slices *s = &object->slices[k];
        struct emu_predict_launch launch = { .object = object, .slices = s, .grid = { 3, 2, 1 }, .block = { 16, 4, 1 },
                                             .work_dim = 1, .warp_width = 32, .params = params,
                                             .param_bytes = sizeof params, .variables = variables };
        uint64_t iteration[ISA_SLICE_LOOPS] = { 1, 2 }, count;
        struct emu_predict_thread thread = { .ctaid = { 2, 1 }, .tid = { 5, 3 }, .iteration = iteration };
        struct emu_predict_affine sum;
        struct emu_predict *predict;
        struct emu_rect rect;

        fix_check(emu_predict_create(&launch, &predict, &err), &err);
        for (uint32_t i = 0; i < s->site_count; i++) {
            if (s->sites[i].reject != ISA_SLICE_ACCEPTED)
                continue;
            (void)emu_predict_address(predict, i, &thread);
            (void)emu_predict_affine(predict, i, &sum);
            for (uint32_t l = 0; l < s->loop_count; l++)
                (void)emu_predict_iterations(predict, i, l, &thread, &count);
        }
        for (uint32_t a = 0; a < s->array_count; a++)
            (void)emu_predict_range(predict, a, thread.ctaid, NULL, EMU_PREDICT_STORES | EMU_PREDICT_BOUNDS, &rect);
        emu_predict_destroy(predict);
    }
}

static void hostile_sections_are_refused_or_harmless(void **state)
{
    struct isa_object *object = sliced(), *again;
    struct lw_error err;
    uint8_t *bytes;
    size_t size, at = 0;
    unsigned accepted = 0, refused = 0;
    uint64_t x = 1;

    (void)state;
    fix_check(isa_object_write(object, &bytes, &size, &err), &err);
    while (memcmp(bytes + at, "LWSLC", 5) != 0)
        at++;
    size_t end = at + 400 < size ? at + 400 : size;
    for (unsigned n = 0; n < 20000; n++) {
        uint8_t old[3];
        size_t place[3];
        unsigned changes = 1 + n % 3;

        for (unsigned k = 0; k < changes; k++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            place[k] = at + (x >> 40) % (end - at);
            old[k] = bytes[place[k]];
            bytes[place[k]] = n % 2 ? (uint8_t)(x >> 33) : (uint8_t)(old[k] ^ 1u << (x >> 33) % 7);
        }
        if (isa_object_read("hostile.lwo", bytes, size, &again, &err) == LW_OK) {
            use(again);
            isa_object_destroy(again);
            accepted++;
        } else {
            refused++;
        }
        for (unsigned k = changes; k-- > 0;)
            bytes[place[k]] = old[k];
    }
    assert_true(accepted > 500 && refused > 500);
    free(bytes);
    isa_object_destroy(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_keeps_them),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(hostile_sections_are_refused_or_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
