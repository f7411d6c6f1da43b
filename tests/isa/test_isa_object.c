/* SPDX-License-Identifier: Apache-2.0 */
/* Tests object files: writing and reading, the DWARF that other tools read, and corrupted files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <gelf.h>

#include "tests/isa/prop_isa_object.h"
#include "tests/isa/prop_isa_random.h"

static struct isa_object *assemble_file(const char *name)
{
    const char *dir = getenv("srcdir");
    struct isa_object *object = NULL;
    struct lw_error err;
    char path[1024], *text;
    size_t size;

    snprintf(path, sizeof path, "%s/tests/isa/corpus/asm/%s", dir != NULL ? dir : ".", name);
    if (lw_file_read(path, &text, &size, &err) != LW_OK ||
        isa_assemble(name, text, size, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    free(text);
    return object;
}

static const char *const sources[] = { "saxpy.s", "directives.s", "rows.s" };

static void write_object(const struct isa_object *object, uint8_t **bytes, size_t *size)
{
    struct lw_error err;

    if (isa_object_write(object, bytes, size, &err) != LW_OK)
        fail_msg("%s", err.text);
}

static void assert_equal_objects(const struct isa_object *a, const struct isa_object *b)
{
    const char *difference = prop_object_difference(a, b);

    if (difference != NULL)
        fail_msg("%s differs", difference);
}

static void an_object_written_and_read_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(sources); i++) {
        struct isa_object *object = assemble_file(sources[i]), *back = NULL;
        struct lw_error err;
        uint8_t *bytes;
        size_t size;

        write_object(object, &bytes, &size);
        if (isa_object_read("x.lwo", bytes, size, &back, &err) != LW_OK)
            fail_msg("%s", err.text);
        assert_equal_objects(object, back);
        isa_object_destroy(object);
        isa_object_destroy(back);
        free(bytes);
    }
}

static void an_object_disassembled_and_assembled_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(sources); i++) {
        struct isa_object *object = assemble_file(sources[i]), *back = NULL;
        struct lw_buffer text;
        struct lw_error err;

        lw_buffer_init(&text);
        isa_disassemble(object, &text.sink);
        if (isa_assemble("again.s", text.text, text.size, &back, &err) != LW_OK)
            fail_msg("%s", err.text);
        assert_equal_objects(object, back);
        isa_object_destroy(object);
        isa_object_destroy(back);
        lw_buffer_fini(&text);
    }
}

/* Create a random object with many functions, variables, relocations and line-table rows. */
static struct isa_object *random_object(struct prop_random *r)
{
    static const char *const names[] = { "k", "v1", ".L3", "a b", "exec", "pt", "x\"y", "\xc3\xa4",
                                         "loop", "_Z3fooPf", "$t", "0", "c", "p0", "lo", "end" };
    struct isa_object *object = isa_object_create();
    struct lw_arena *arena = &object->arena;
    uint32_t at = 0;
    struct lw_error err;

    object->text_count = 40 + prop_below(r, 200);
    object->text = lw_arena_alloc(arena, object->text_count * sizeof *object->text);
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        prop_insn(r, 1 + prop_below(r, ISA_OP_COUNT - 1), &insn);
        if (prop_below(r, 8) == 0) { /* a short branch, whose target is likely in the text and gets a label */
            isa_insn_init(&insn, ISA_BRA);
            insn.x = prop_below(r, 120) - 60;
        }
        assert_int_equal(isa_insn_encode(&insn, &object->text[i], &err), LW_OK);
    }
    object->function_count = 1 + prop_below(r, 6);
    object->functions =
        lw_arena_alloc(arena, object->function_count * sizeof *object->functions);
    object->file_count = 3;
    object->files = lw_arena_alloc(arena, 3 * sizeof *object->files);
    object->files[0] = "";
    object->files[1] = "one.cl";
    object->files[2] = "dir/two words.h";
    object->producer = prop_below(r, 2) ? "someone" : NULL;
    object->comp_dir = prop_below(r, 2) ? "/tmp/x" : NULL;
    for (unsigned i = 0; i < object->function_count; i++) {
        struct isa_function *f = &object->functions[i];

        f->name = names[i];
        f->first = at + prop_below(r, 3);
        f->count = 1 + prop_below(r, object->text_count / object->function_count - 3);
        at = f->first + f->count;
        f->kernel = prop_below(r, 2);
        f->file = (uint16_t)prop_below(r, 3);
        f->line = prop_below(r, 1000);
        if (!f->kernel)
            continue;
        f->vreg_count = (uint16_t)prop_below(r, 256);
        f->sreg_count = (uint16_t)prop_below(r, 127);
        f->breg_count = (uint16_t)prop_below(r, 17);
        f->shared_bytes = prop_below(r, 100000);
        f->local_bytes = prop_below(r, 1000);
        f->max_threads = prop_below(r, 1025);
        f->required_block[0] = prop_below(r, 3);
        f->required_block[2] = prop_below(r, 3);
        f->needs_warp = prop_below(r, 2) ? 32 : 0;
        f->dynamic_shared = prop_below(r, 2);
        f->param_count = prop_below(r, 5);
        f->params = lw_arena_alloc(arena, f->param_count * sizeof *f->params);
        for (unsigned k = 0; k < f->param_count; k++) {
            struct isa_param *p = &f->params[k];

            p->name = names[k];
            p->kind = (uint8_t)prop_below(r, ISA_PARAM_KIND_COUNT);
            p->space =
                (uint8_t)(p->kind == ISA_PARAM_POINTER ? prop_below(r, ISA_SPACE_COUNT) : 0);
            p->align = 1u << prop_below(r, 5);
            p->size_bytes = p->kind == ISA_PARAM_INTEGER ? 1u << prop_below(r, 4)
                            : p->kind == ISA_PARAM_FLOAT ? 4u << prop_below(r, 2)
                                                         : 1 + prop_below(r, 20);
            p->offset = (f->param_bytes + p->align - 1) & ~(p->align - 1);
            f->param_bytes = p->offset + p->size_bytes + prop_below(r, 3);
        }
    }
    object->variable_count = prop_below(r, 6);
    object->variables =
        lw_arena_alloc(arena, object->variable_count * sizeof *object->variables);
    for (unsigned i = 0; i < object->variable_count; i++) {
        static const uint8_t spaces[] = { ISA_SPACE_GLOBAL, ISA_SPACE_CONST, ISA_SPACE_SHARED };
        struct isa_variable *v = &object->variables[i];

        v->name = names[8 + i];
        v->space = spaces[prop_below(r, 3)];
        v->align = 1u << prop_below(r, 8);
        v->size_bytes = prop_below(r, 100);
        v->shared_offset = v->space == ISA_SPACE_SHARED ? prop_below(r, 5000) : 0;
        if (v->space != ISA_SPACE_SHARED && v->size_bytes != 0 && prop_below(r, 2)) {
            uint8_t *init = lw_arena_alloc(arena, v->size_bytes);

            for (unsigned k = 0; k < v->size_bytes; k++)
                init[k] = (uint8_t)prop_next(r);
            if (v->size_bytes >= 24)
                memset(init + 8, 0, 8); /* space that a relocation may fill with an address */
            v->init = init;
        }
    }
    object->relocs = lw_arena_alloc(arena, 300 * sizeof *object->relocs);
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        assert_true(isa_insn_decode(object->text[i], &insn));
        if (insn.xkind != ISA_X_IMM || isa_operands_find(&isa_op_info(insn.op)->operands, ISA_TK_X) < 0 ||
            prop_below(r, 2))
            continue;
        object->text[i].lo &= UINT32_MAX;
        object->relocs[object->reloc_count++] =
            (struct isa_reloc){ .insn = i, .high = prop_below(r, 2), .to_function = true,
                                .to = prop_below(r, object->function_count),
                                .addend = (int64_t)(prop_next(r) >> 20) - (1 << 20) };
    }
    for (unsigned i = 0; i < object->variable_count; i++) {
        if (object->variables[i].init != NULL && object->variables[i].size_bytes >= 24)
            object->relocs[object->reloc_count++] =
                (struct isa_reloc){ .insn = UINT32_MAX, .in = i, .offset = 8,
                                    .to = prop_below(r, object->variable_count) };
    }
    object->lines = lw_arena_alloc(arena, 300 * sizeof *object->lines);
    for (uint32_t i = 0; i < object->text_count; i += prop_below(r, 4)) {
        if (object->line_count == 300)
            break;
        object->lines[object->line_count++] =
            (struct isa_line){ .insn = i, .file = (uint16_t)(1 + prop_below(r, 2)),
                               .line = prop_below(r, 300), .column = (uint16_t)prop_below(r, 90),
                               .is_stmt = prop_below(r, 4) != 0,
                               .prologue_end = prop_below(r, 8) == 0 };
    }
    return object;
}

static void random_objects_survive_both_round_trips(void **state)
{
    struct prop_random r = { *(uint64_t *)*state };

    for (unsigned i = 0; i < 60; i++) {
        struct isa_object *object = random_object(&r), *back = NULL;
        struct lw_buffer text;
        struct lw_error err;
        uint8_t *bytes;
        size_t size;

        write_object(object, &bytes, &size);
        if (isa_object_read("x.lwo", bytes, size, &back, &err) != LW_OK)
            fail_msg("%s", err.text);
        assert_equal_objects(object, back);
        isa_object_destroy(back);
        back = NULL;
        lw_buffer_init(&text);
        isa_disassemble(object, &text.sink);
        if (isa_assemble("again.s", text.text, text.size, &back, &err) != LW_OK) {
            print_error("%s\n", text.text);
            fail_msg("%s", err.text);
        }
        assert_equal_objects(object, back);
        isa_object_destroy(object);
        isa_object_destroy(back);
        lw_buffer_fini(&text);
        free(bytes);
    }
}

/* ---- what other tools see ------------------------------------------------------------- */

static const uint8_t *section(const uint8_t *bytes, size_t size, const char *name,
                              size_t *section_size)
{
    Elf *elf;
    Elf_Scn *scn = NULL;
    size_t names;
    const uint8_t *found = NULL;

    elf_version(EV_CURRENT);
    elf = elf_memory((char *)(uintptr_t)bytes, size);
    assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr header;

        gelf_getshdr(scn, &header);
        if (strcmp(elf_strptr(elf, names, header.sh_name), name) == 0) {
            found = bytes + header.sh_offset;
            *section_size = header.sh_size;
        }
    }
    elf_end(elf);
    assert_non_null(found);
    return found;
}

static void the_file_is_an_elf_with_text_at_the_code_base(void **state)
{
    struct isa_object *object = assemble_file("saxpy.s");
    uint8_t *bytes;
    size_t size, text_size, meta_size, symbol_size;
    const uint8_t *symbols;
    Elf64_Sym symbol;

    (void)state;
    write_object(object, &bytes, &size);
    assert_memory_equal(bytes, "\177ELF\2\1\1", 7);
    assert_int_equal(bytes[18] | bytes[19] << 8, ISA_ELF_MACHINE);
    assert_int_equal(lw_get64(bytes + 24), ISA_CODE_BASE); /* e_entry */
    section(bytes, size, ".text", &text_size);
    assert_int_equal(text_size, object->text_count * ISA_WORD_BYTES);
    section(bytes, size, ".lanewise", &meta_size);
    symbols = section(bytes, size, ".symtab", &symbol_size);
    memcpy(&symbol, symbols + sizeof symbol, sizeof symbol);
    assert_int_equal(symbol.st_value, ISA_CODE_BASE);
    assert_int_equal(symbol.st_size, object->functions[0].count * ISA_WORD_BYTES);
    assert_int_equal(ELF64_ST_TYPE(symbol.st_info), STT_FUNC);
    isa_object_destroy(object);
    free(bytes);
}

static void writing_twice_gives_the_same_bytes(void **state)
{
    struct isa_object *object = assemble_file("directives.s");
    uint8_t *a, *b;
    size_t a_size, b_size;

    (void)state;
    write_object(object, &a, &a_size);
    write_object(object, &b, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    isa_object_destroy(object);
    free(a);
    free(b);
}

static uint64_t read_uleb(const uint8_t **p)
{
    uint64_t value = 0;
    unsigned shift = 0;

    do
        value |= (uint64_t)(**p & 0x7f) << shift, shift += 7;
    while (*(*p)++ & 0x80);
    return value;
}

static int64_t read_sleb(const uint8_t **p)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = *(*p)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if ((byte & 0x40) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* The functions below are a line-number machine as specified in DWARF 4, section 6.2.5. The machine reads the section that
 * the object writer has written. */
/* Check that the writer was allowed to omit the line-table row, because it differs from its predecessor only in the column. */
static void assert_goes_on(const struct isa_object *object, unsigned row)
{
    const struct isa_line *here = &object->lines[row], *before = here - 1;

    assert_true(row != 0);
    assert_int_equal(here->line, before->line);
    assert_int_equal(here->file, before->file);
    assert_false(here->prologue_end);
    assert_ptr_equal(isa_object_function_at(object, here->insn),
                     isa_object_function_at(object, before->insn));
}

/* Return whether the writer has omitted the line-table row, the first of two of an instruction. The writer must not omit the
 * second one. */
static bool is_left_out_here(const struct isa_object *object, unsigned row, int64_t line)
{
    return row + 1 < object->line_count &&
           object->lines[row].insn == object->lines[row + 1].insn &&
           object->lines[row].line != line;
}

/** Return whether an instruction after @index jumps to @index. */
static bool is_come_back_to(const struct isa_object *object, uint32_t index)
{
    for (uint32_t i = index; i < object->text_count; i++) {
        struct isa_insn insn;
        int64_t target;

        if (isa_insn_decode(object->text[i], &insn) && isa_insn_jumps(&insn, i, &target) &&
            target == index)
            return true;
    }
    return false;
}

static void the_line_program_gives_back_every_row_that_begins_a_line(void **state)
{
    struct prop_random r = { *(uint64_t *)*state + 7 };

    for (unsigned round = 0; round < 20; round++) {
        struct isa_object *object = random_object(&r);
        uint8_t *bytes;
        size_t size, line_size;
        const uint8_t *p, *end;
        uint64_t address = 0;
        int64_t line = 1;
        unsigned file = 1, column = 0, rows = 0;
        bool is_stmt = true;

        write_object(object, &bytes, &size);
        p = section(bytes, size, ".debug_line", &line_size);
        end = p + line_size;
        assert_int_equal(lw_get32(p), line_size - 4);
        assert_int_equal(p[4], 4);
        p += 10 + lw_get32(p + 6);
        while (p < end) {
            unsigned opcode = *p++;
            bool row = false;

            if (opcode >= 13) {
                address += (opcode - 13) / 14 * 16;
                line += (int)((opcode - 13) % 14) - 5;
                row = true;
            } else if (opcode == 0) {
                unsigned length = (unsigned)read_uleb(&p);

                if (*p == 2) {
                    assert_int_equal(length, 9);
                    address = lw_get64(p + 1);
                } else {
                    assert_int_equal(*p, 1);
                    assert_true(address <= ISA_CODE_BASE +
                                               (uint64_t)object->text_count * ISA_WORD_BYTES);
                    line = 1, file = 1, column = 0, is_stmt = true, address = 0;
                }
                p += length;
            } else if (opcode == 2) {
                address += read_uleb(&p) * 16;
            } else if (opcode == 3) {
                line += read_sleb(&p);
            } else if (opcode == 4) {
                file = (unsigned)read_uleb(&p);
            } else if (opcode == 5) {
                column = (unsigned)read_uleb(&p);
            } else if (opcode == 6) {
                is_stmt = !is_stmt;
            } else {
                assert_int_equal(opcode, 10);
            }
            if (row) {
                const struct isa_line *want;

                while (rows < object->line_count &&
                       ISA_CODE_BASE + (uint64_t)object->lines[rows].insn * 16 < address)
                    assert_goes_on(object, rows++);
                if (rows != 0 && (rows == object->line_count ||
                                  ISA_CODE_BASE + (uint64_t)object->lines[rows].insn * 16 > address)) {
                    /* the writer has added a line-table row, since the head of a loop is in the middle of a source line */
                    assert_true(is_come_back_to(object, (uint32_t)((address - ISA_CODE_BASE) / 16)));
                    want = &object->lines[rows - 1];
                    assert_int_equal(line, want->line);
                    assert_int_equal(file, want->file);
                    assert_int_equal(is_stmt, want->is_stmt);
                    continue;
                }
                while (rows < object->line_count && is_left_out_here(object, rows, line))
                    assert_goes_on(object, rows++);
                assert_true(rows < object->line_count);
                want = &object->lines[rows++];
                assert_int_equal(address, ISA_CODE_BASE + (uint64_t)want->insn * 16);
                assert_int_equal(line, want->line);
                assert_int_equal(file, want->file);
                assert_int_equal(column, want->column);
                assert_int_equal(is_stmt, want->is_stmt);
            }
        }
        while (rows < object->line_count)
            assert_goes_on(object, rows++);
        isa_object_destroy(object);
        free(bytes);
    }
}

/* ---- corrupted files ---------------------------------------------------------------------- */

static void every_truncation_is_refused(void **state)
{
    struct isa_object *object = assemble_file("directives.s"), *back = NULL;
    uint8_t *bytes;
    size_t size;

    (void)state;
    write_object(object, &bytes, &size);
    for (size_t n = 0; n < size; n++) {
        struct lw_error err = { LW_OK, "" };
        uint8_t *exact = malloc(n + 1); /* allocates the exact size, so that the sanitizer detects an overrun */
        enum lw_status status;

        memcpy(exact, bytes, n);
        status = isa_object_read("cut.lwo", exact, n, &back, &err);
        assert_int_equal(status, LW_EFORMAT);
        assert_null(back);
        assert_memory_equal(err.text, "cut.lwo: ", 9);
        if (n >= 64) { /* the input has a whole header */
            char message[160];

            snprintf(message, sizeof message, "cut.lwo: the object is truncated: its header says %zu bytes, but it has %zu: compile or assemble it again", size, n);
            assert_string_equal(err.text, message);
        }
        free(exact);
    }
    isa_object_destroy(object);
    free(bytes);
}

static void flipped_bits_never_do_harm(void **state)
{
    struct prop_random r = { *(uint64_t *)*state + 3 };
    unsigned accepted = 0, refused = 0;

    for (size_t i = 0; i < LW_COUNT_OF(sources); i++) {
        struct isa_object *object = assemble_file(sources[i]);
        uint8_t *bytes;
        size_t size;

        write_object(object, &bytes, &size);
        for (unsigned round = 0; round < 1500; round++) {
            struct isa_object *back = NULL;
            struct lw_error err = { LW_OK, "" };
            uint8_t *copy = malloc(size);
            enum lw_status status;

            memcpy(copy, bytes, size);
            for (unsigned flips = 1 + prop_below(&r, 3); flips > 0; flips--)
                copy[prop_below(&r, (unsigned)size)] ^= (uint8_t)(1u << prop_below(&r, 8));
            status = isa_object_read("flip.lwo", copy, size, &back, &err);
            if (status == LW_OK) {
                struct lw_buffer text;

                lw_buffer_init(&text);
                isa_disassemble(back, &text.sink);
                lw_buffer_fini(&text);
                accepted++;
            } else {
                assert_int_equal(status, LW_EFORMAT);
                assert_true(err.text[0] != '\0');
                refused++;
            }
            isa_object_destroy(back);
            free(copy);
        }
        isa_object_destroy(object);
        free(bytes);
    }
    assert_true(accepted > 50 && refused > 50);
}

static void foreign_files_are_refused_with_a_message(void **state)
{
    struct isa_object *object = assemble_file("saxpy.s"), *back = NULL;
    struct lw_error err;
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_int_equal(isa_object_read("a", (const uint8_t *)"", 0, &back, &err), LW_EFORMAT);
    assert_string_equal(err.text, "a: the file has only 0 bytes, too few for an object");
    write_object(object, &bytes, &size);
    bytes[18] = 62;
    bytes[19] = 0;
    assert_int_equal(isa_object_read("a", bytes, size, &back, &err), LW_EFORMAT);
    assert_string_equal(err.text, "a: this ELF file is for machine 0x3e, but Lanewise objects have 0x4c57");
    assert_int_equal(isa_object_read("a", bytes, size, &back, NULL), LW_EFORMAT);
    memset(bytes, 'x', size);
    assert_int_equal(isa_object_read("a", bytes, size, &back, &err), LW_EFORMAT);
    assert_string_equal(err.text, "a: this file is not an ELF file");
    isa_object_destroy(object);
    free(bytes);
}

/* ---- rules that an incorrect translator would violate ------------------------------------------- */

static void objects_that_break_a_rule_are_not_written(void **state)
{
    struct lw_error err;
    uint8_t *bytes = NULL;
    size_t size;

    (void)state;
#define BROKEN(change, message)                                                            \
    do {                                                                                   \
        struct isa_object *o = assemble_file("directives.s");                              \
        change;                                                                            \
        assert_int_equal(isa_object_write(o, &bytes, &size, &err), LW_EFORMAT);            \
        assert_string_equal(err.text, message);                                            \
        assert_null(bytes);                                                                \
        isa_object_destroy(o);                                                             \
    } while (0)
    BROKEN(o->functions[1].first = 0, "function k2 (instructions 0 to 1) overlaps its "
           "predecessor, is out of order or exceeds the text of 10 instructions");
    BROKEN(o->functions[2].count = 99, "function f 2 (instructions 9 to 107) overlaps its "
           "predecessor, is out of order or exceeds the text of 10 instructions");
    BROKEN(o->functions[1].name = "k", "k is defined twice");
    BROKEN(o->functions[1].name = "", "function 1 has a name that is empty, too long, or has control characters");
    BROKEN(o->text[3] = ((struct isa_word){ 0xcc, 1 }),
           "word 3 (0x000000000000000100000000000000cc) is not an instruction");
    BROKEN(o->variables[0].align = 3, "variable g: 32 bytes aligned to 3 are not possible");
    BROKEN(o->relocs[0].to = 9, "relocation 0: variable 9 does not exist");
    BROKEN(o->relocs[0].insn = 2, "relocation 0: instruction 2 (variable 0, offset 0) cannot hold "
           "an address");
    BROKEN(o->lines[0].file = 7, "line-table row 0 (instruction 0, file 7) is out of order or out of range");
    BROKEN(o->functions[0].params[0].size_bytes = 99,
           "kernel k: parameter a (99 bytes at 0, aligned to 8) does not fit the 44 bytes of "
           "parameters");
    BROKEN(o->functions[2].shared_bytes = 4, "function f 2 is not a kernel, but has parameters, memory or a block size of a kernel");
#undef BROKEN
}

int main(void)
{
    static uint64_t seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_written_and_read_is_the_same),
        cmocka_unit_test(an_object_disassembled_and_assembled_is_the_same),
        cmocka_unit_test_prestate(random_objects_survive_both_round_trips, &seed),
        cmocka_unit_test(the_file_is_an_elf_with_text_at_the_code_base),
        cmocka_unit_test(writing_twice_gives_the_same_bytes),
        cmocka_unit_test_prestate(the_line_program_gives_back_every_row_that_begins_a_line, &seed),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test_prestate(flipped_bits_never_do_harm, &seed),
        cmocka_unit_test(foreign_files_are_refused_with_a_message),
        cmocka_unit_test(objects_that_break_a_rule_are_not_written),
    };

    seed = prop_seed();
    printf("seed: LW_SEED=%llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
