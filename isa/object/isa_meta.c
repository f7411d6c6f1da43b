/* SPDX-License-Identifier: Apache-2.0 */
/* Section .lanewise (docs/reference/object.md): functions, parameters, variables, relocations, line-table rows and files of an
 * object. The section consists of LEB128 numbers and of strings that follow their length. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/object/isa_elf_priv.h"

static const uint8_t meta_magic[8] = { 'L', 'W', 'O', 'B', 'J', 0, 0, 1 };

/* ---- growing byte arrays -------------------------------------------------------- */

void isa_bytes_put(struct isa_bytes *bytes, const void *data, size_t size)
{
    if (bytes->failed || size == 0)
        return;
    if (!lw_grow(&bytes->data, &bytes->capacity, bytes->size + size, 1)) {
        bytes->failed = true;
        return;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void isa_bytes_u8(struct isa_bytes *bytes, unsigned value)
{
    uint8_t byte = (uint8_t)value;

    isa_bytes_put(bytes, &byte, 1);
}

void isa_bytes_u16(struct isa_bytes *bytes, unsigned value)
{
    isa_bytes_u8(bytes, value);
    isa_bytes_u8(bytes, value >> 8);
}

void isa_bytes_u32(struct isa_bytes *bytes, uint32_t value)
{
    isa_bytes_put(bytes, &value, sizeof value);
}

void isa_bytes_u64(struct isa_bytes *bytes, uint64_t value)
{
    isa_bytes_put(bytes, &value, sizeof value);
}

void isa_bytes_uleb(struct isa_bytes *bytes, uint64_t value)
{
    do {
        uint8_t byte = value & 0x7f;

        value >>= 7;
        isa_bytes_u8(bytes, byte | (value != 0 ? 0x80u : 0));
    } while (value != 0);
}

void isa_bytes_sleb(struct isa_bytes *bytes, int64_t value)
{
    bool more = true;

    while (more) {
        uint8_t byte = value & 0x7f;

        value = value >> 7;
        more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
        isa_bytes_u8(bytes, byte | (more ? 0x80u : 0));
    }
}

void isa_bytes_string(struct isa_bytes *bytes, const char *text)
{
    isa_bytes_put(bytes, text, strlen(text) + 1);
}

void isa_bytes_patch32(struct isa_bytes *bytes, size_t at, uint32_t value)
{
    if (!bytes->failed)
        lw_put32(bytes->data + at, value);
}

void isa_bytes_fini(struct isa_bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

/* ---- writing -------------------------------------------------------------------- */

static void put_counted(struct isa_bytes *out, const char *text)
{
    size_t size = strlen(text);

    isa_bytes_uleb(out, size);
    isa_bytes_put(out, text, size);
}

static void put_optional(struct isa_bytes *out, const char *text)
{
    put_counted(out, text != NULL ? text : ""); /* "" stands for NULL, because no valid string is empty */
}

static void put_kernel(struct isa_bytes *out, const struct isa_function *function)
{
    isa_bytes_uleb(out, function->param_bytes);
    isa_bytes_uleb(out, function->shared_bytes);
    isa_bytes_uleb(out, function->local_bytes);
    isa_bytes_uleb(out, function->max_threads);
    for (unsigned i = 0; i < 3; i++)
        isa_bytes_uleb(out, function->required_block[i]);
    isa_bytes_uleb(out, function->param_count);
    for (unsigned i = 0; i < function->param_count; i++) {
        const struct isa_param *param = &function->params[i];

        put_counted(out, param->name);
        isa_bytes_uleb(out, param->kind);
        isa_bytes_uleb(out, param->space);
        isa_bytes_uleb(out, param->offset);
        isa_bytes_uleb(out, param->size_bytes);
        isa_bytes_uleb(out, param->align);
    }
}

static void put_functions(struct isa_bytes *out, const struct isa_object *object)
{
    isa_bytes_uleb(out, object->function_count);
    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];

        put_counted(out, function->name);
        isa_bytes_uleb(out, function->first);
        isa_bytes_uleb(out, function->count);
        isa_bytes_uleb(out, function->kernel);
        isa_bytes_uleb(out, function->file);
        isa_bytes_uleb(out, function->line);
        isa_bytes_uleb(out, function->vreg_count);
        isa_bytes_uleb(out, function->sreg_count);
        isa_bytes_uleb(out, function->breg_count);
        isa_bytes_uleb(out, function->needs_warp + function->dynamic_shared);
        if (function->kernel)
            put_kernel(out, function);
    }
}

/* Flags of a variable. */
enum { VARIABLE_INIT = 1, VARIABLE_MANAGED = 2 };

static void put_variables(struct isa_bytes *out, const struct isa_object *object)
{
    isa_bytes_uleb(out, object->variable_count);
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *variable = &object->variables[i];

        put_counted(out, variable->name);
        isa_bytes_uleb(out, variable->space);
        isa_bytes_uleb(out, variable->align);
        isa_bytes_uleb(out, variable->size_bytes);
        isa_bytes_uleb(out, variable->shared_offset);
        isa_bytes_uleb(out, (variable->init != NULL ? VARIABLE_INIT : 0) | (variable->managed ? VARIABLE_MANAGED : 0));
        if (variable->init != NULL)
            isa_bytes_put(out, variable->init, variable->size_bytes);
    }
}

static void put_relocs(struct isa_bytes *out, const struct isa_object *object)
{
    struct isa_reloc *sorted = malloc((object->reloc_count + 1) * sizeof *sorted);

    if (sorted == NULL) {
        out->failed = true;
        return;
    }
    if (object->reloc_count != 0)
        memcpy(sorted, object->relocs, object->reloc_count * sizeof *sorted);
    isa_relocs_sort(sorted, object->reloc_count);
    isa_bytes_uleb(out, object->reloc_count);
    for (unsigned i = 0; i < object->reloc_count; i++) {
        const struct isa_reloc *reloc = &sorted[i];

        isa_bytes_uleb(out, reloc->insn);
        isa_bytes_uleb(out, (reloc->high ? 1u : 0) | (reloc->to_function ? 2u : 0));
        isa_bytes_uleb(out, reloc->in);
        isa_bytes_uleb(out, reloc->offset);
        isa_bytes_uleb(out, reloc->to);
        isa_bytes_sleb(out, reloc->addend);
    }
    free(sorted);
}

static void put_lines(struct isa_bytes *out, const struct isa_object *object)
{
    uint32_t insn = 0;
    int64_t last_line = 0;

    isa_bytes_uleb(out, object->line_count);
    for (unsigned i = 0; i < object->line_count; i++) {
        const struct isa_line *line = &object->lines[i];

        isa_bytes_uleb(out, line->insn - insn);
        isa_bytes_uleb(out, line->file);
        isa_bytes_sleb(out, (int64_t)line->line - last_line);
        isa_bytes_uleb(out, line->column);
        isa_bytes_uleb(out, (line->is_stmt ? 1u : 0) | (line->prologue_end ? 2u : 0));
        insn = line->insn;
        last_line = line->line;
    }
}

void isa_meta_write(const struct isa_object *object, struct isa_bytes *out)
{
    isa_bytes_put(out, meta_magic, sizeof meta_magic);
    put_optional(out, object->producer);
    put_optional(out, object->comp_dir);
    isa_bytes_uleb(out, object->file_count - 1);
    for (unsigned i = 1; i < object->file_count; i++)
        put_counted(out, object->files[i]);
    isa_bytes_uleb(out, object->const_bank_bytes);
    isa_bytes_put(out, object->const_bank, object->const_bank_bytes);
    put_functions(out, object);
    put_variables(out, object);
    put_relocs(out, object);
    put_lines(out, object);
}

/* ---- reading ---------------------------------------------------------------------- */

struct isa_reader isa_reader_begin(const char *section, const uint8_t magic[8], const uint8_t *data,
                                   size_t size, struct isa_object *object, struct lw_error *err)
{
    struct isa_reader r = { section, data, data + size, object, LW_OK, err };

    if (size < 8 || memcmp(data, magic, 8) != 0)
        r.status = LW_FAIL(err, LW_EFORMAT, "section %s: the version is not supported", section);
    else
        r.p += 8;
    return r;
}

enum lw_status isa_reader_end(struct isa_reader *r, const char *last)
{
    char what[80];

    snprintf(what, sizeof what, "bytes after the last %s", last);
    if (r->status == LW_OK && r->p != r->end)
        isa_reader_bad(r, what);
    return r->status;
}

void isa_reader_bad(struct isa_reader *r, const char *what)
{
    if (r->status == LW_OK)
        r->status = LW_FAIL(r->err, LW_EFORMAT, "section %s is damaged %zu bytes before its end, in this item: %s", r->section,
                            (size_t)(r->end - r->p), what);
}

uint64_t isa_reader_number(struct isa_reader *r, uint64_t limit, const char *what)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    if (r->status != LW_OK)
        return 0;
    do {
        if (r->p == r->end || shift > 63 || (shift == 63 && *r->p > 1)) {
            isa_reader_bad(r, what);
            return 0;
        }
        byte = *r->p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if ((byte == 0 && shift > 7) || value > limit) {
        isa_reader_bad(r, what);
        return 0;
    }
    return value;
}

int64_t isa_reader_signed(struct isa_reader *r, const char *what)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte, last = 0;

    if (r->status != LW_OK)
        return 0;
    do {
        if (r->p == r->end || shift > 63) {
            isa_reader_bad(r, what);
            return 0;
        }
        last = shift == 0 ? 0 : byte;
        byte = *r->p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift > 63) {
        if (byte != 0 && byte != 0x7f)
            isa_reader_bad(r, what);
    } else if (byte & 0x40) {
        value |= ~UINT64_C(0) << shift;
    }
    if (shift > 7 && ((byte == 0 && !(last & 0x40)) || (byte == 0x7f && (last & 0x40))))
        isa_reader_bad(r, what); /* a shorter encoding exists */
    return (int64_t)value;
}

size_t isa_reader_count(struct isa_reader *r, size_t each, const char *what)
{
    return (size_t)isa_reader_number(r, (uint64_t)(r->end - r->p) / each, what);
}

void *isa_reader_capacity(struct isa_reader *r, size_t count, size_t size)
{
    void *room;

    if (r->status != LW_OK || count == 0)
        return NULL;
    room = lw_arena_alloc(&r->object->arena, count * size);
    if (room == NULL)
        r->status = LW_FAIL(r->err, LW_ENOMEM, "the host has no memory for an object");
    return room;
}

const char *isa_reader_text(struct isa_reader *r, const char *what)
{
    size_t size = isa_reader_count(r, 1, what);
    const char *text = "";

    if (r->status != LW_OK || size == 0)
        return text;
    if (size > ISA_NAME_BYTES || memchr(r->p, 0, size) != NULL) {
        isa_reader_bad(r, what);
        return text;
    }
    text = lw_arena_strndup(&r->object->arena, (const char *)r->p, size);
    if (text == NULL) {
        r->status = LW_FAIL(r->err, LW_ENOMEM, "the host has no memory for an object");
        return "";
    }
    r->p += size;
    return text;
}

static const uint8_t *get_block(struct isa_reader *r, uint64_t size, const char *what)
{
    uint8_t *block;

    if (r->status == LW_OK && size > (uint64_t)(r->end - r->p))
        isa_reader_bad(r, what);
    block = isa_reader_capacity(r, (size_t)size, 1);
    if (r->status != LW_OK || block == NULL)
        return NULL;
    memcpy(block, r->p, (size_t)size);
    r->p += size;
    return block;
}

static void get_kernel(struct isa_reader *r, struct isa_function *function)
{
    size_t count;

    function->param_bytes = (uint32_t)isa_reader_number(r, ISA_CONST_BANK_BYTES, "parameter bytes");
    function->shared_bytes = (uint32_t)isa_reader_number(r, UINT32_MAX, "shared bytes");
    function->local_bytes = (uint32_t)isa_reader_number(r, UINT32_MAX, "local bytes");
    function->max_threads = (uint32_t)isa_reader_number(r, UINT32_MAX, "thread limit");
    for (unsigned i = 0; i < 3; i++)
        function->required_block[i] = (uint32_t)isa_reader_number(r, UINT32_MAX, "block size");
    count = isa_reader_count(r, 6, "parameter count");
    function->params = isa_reader_capacity(r, count, sizeof *function->params);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        struct isa_param *param = &function->params[i];

        param->name = isa_reader_text(r, "name of a parameter");
        param->kind = (uint8_t)isa_reader_number(r, ISA_PARAM_KIND_COUNT - 1, "parameter kind");
        param->space = (uint8_t)isa_reader_number(r, ISA_SPACE_COUNT - 1, "parameter space");
        param->offset = (uint32_t)isa_reader_number(r, ISA_CONST_BANK_BYTES, "parameter offset");
        param->size_bytes = (uint32_t)isa_reader_number(r, ISA_CONST_BANK_BYTES, "parameter size");
        param->align = (uint32_t)isa_reader_number(r, UINT32_MAX, "parameter alignment");
        function->param_count = (unsigned)i + 1;
    }
}

static void get_functions(struct isa_reader *r)
{
    size_t count = isa_reader_count(r, 10, "function count");

    r->object->functions = isa_reader_capacity(r, count, sizeof *r->object->functions);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        struct isa_function *function = &r->object->functions[i];

        function->name = isa_reader_text(r, "name of a function");
        function->first = (uint32_t)isa_reader_number(r, UINT32_MAX, "first instruction");
        function->count = (uint32_t)isa_reader_number(r, UINT32_MAX, "instruction count");
        function->kernel = isa_reader_number(r, 1, "kernel flag");
        function->file = (uint16_t)isa_reader_number(r, UINT16_MAX, "file of a function");
        function->line = (uint32_t)isa_reader_number(r, UINT32_MAX, "line of a function");
        function->vreg_count = (uint16_t)isa_reader_number(r, ISA_VREG_COUNT, "vector registers");
        function->sreg_count = (uint16_t)isa_reader_number(r, ISA_SREG_COUNT, "scalar registers");
        function->breg_count = (uint16_t)isa_reader_number(r, ISA_BREG_COUNT, "barrier registers");
        uint8_t warp = (uint8_t)isa_reader_number(r, 64, "warp width");

        function->needs_warp = warp & 0xfe;
        function->dynamic_shared = warp & 1;
        if (function->kernel)
            get_kernel(r, function);
        r->object->function_count = (unsigned)i + 1;
    }
}

static void get_variables(struct isa_reader *r)
{
    size_t count = isa_reader_count(r, 6, "variable count");

    r->object->variables = isa_reader_capacity(r, count, sizeof *r->object->variables);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        struct isa_variable *variable = &r->object->variables[i];

        variable->name = isa_reader_text(r, "name of a variable");
        variable->space = (uint8_t)isa_reader_number(r, ISA_SPACE_COUNT - 1, "space of a variable");
        variable->align = (uint32_t)isa_reader_number(r, UINT32_MAX, "alignment of a variable");
        variable->size_bytes = isa_reader_number(r, UINT64_MAX, "size of a variable");
        variable->shared_offset = (uint32_t)isa_reader_number(r, UINT32_MAX, "offset of a variable");
        const unsigned flags = (unsigned)isa_reader_number(r, VARIABLE_INIT | VARIABLE_MANAGED, "flags of a variable");

        variable->managed = (flags & VARIABLE_MANAGED) != 0;
        if ((flags & VARIABLE_INIT) != 0)
            variable->init = get_block(r, variable->size_bytes, "initial value");
        r->object->variable_count = (unsigned)i + 1;
    }
}

static void get_relocs(struct isa_reader *r)
{
    size_t count = isa_reader_count(r, 6, "relocation count");

    r->object->relocs = isa_reader_capacity(r, count, sizeof *r->object->relocs);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        struct isa_reloc *reloc = &r->object->relocs[i];
        unsigned flags;

        reloc->insn = (uint32_t)isa_reader_number(r, UINT32_MAX, "relocated instruction");
        flags = (unsigned)isa_reader_number(r, 3, "relocation flags");
        reloc->high = flags & 1;
        reloc->to_function = flags & 2;
        reloc->in = (uint32_t)isa_reader_number(r, UINT32_MAX, "relocated variable");
        reloc->offset = (uint32_t)isa_reader_number(r, UINT32_MAX, "relocation offset");
        reloc->to = (uint32_t)isa_reader_number(r, UINT32_MAX, "relocation target");
        reloc->addend = isa_reader_signed(r, "relocation addend");
        r->object->reloc_count = (unsigned)i + 1;
    }
}

static void get_lines(struct isa_reader *r)
{
    size_t count = isa_reader_count(r, 5, "line-table row count");
    uint64_t insn = 0;
    int64_t last_line = 0;

    r->object->lines = isa_reader_capacity(r, count, sizeof *r->object->lines);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        struct isa_line *line = &r->object->lines[i];
        unsigned flags;
        int64_t delta;

        insn += isa_reader_number(r, UINT32_MAX - insn, "instruction of a line-table row");
        line->insn = (uint32_t)insn;
        line->file = (uint16_t)isa_reader_number(r, UINT16_MAX, "file of a line-table row");
        delta = isa_reader_signed(r, "line of a line-table row");
        if (delta < -last_line || delta > (int64_t)UINT32_MAX - last_line) {
            isa_reader_bad(r, "line of a line-table row");
            return;
        }
        last_line += delta;
        line->line = (uint32_t)last_line;
        line->column = (uint16_t)isa_reader_number(r, UINT16_MAX, "column of a line-table row");
        flags = (unsigned)isa_reader_number(r, 3, "flags of a line-table row");
        line->is_stmt = flags & 1;
        line->prologue_end = flags & 2;
        r->object->line_count = (unsigned)i + 1;
    }
}

static void get_files(struct isa_reader *r)
{
    size_t count = isa_reader_count(r, 1, "file count");
    const char **files = isa_reader_capacity(r, count + 1, sizeof *files);

    if (files == NULL)
        return;
    files[0] = "";
    for (size_t i = 1; i <= count; i++)
        files[i] = isa_reader_text(r, "name of a file");
    r->object->files = files;
    r->object->file_count = (unsigned)count + 1;
}

enum lw_status isa_meta_read(const uint8_t *data, size_t size, struct isa_object *object,
                             struct lw_error *err)
{
    struct isa_reader r = isa_reader_begin(".lanewise", meta_magic, data, size, object, err);
    const char *text;

    if (r.status != LW_OK)
        return r.status;
    text = isa_reader_text(&r, "producer");
    object->producer = *text != '\0' ? text : NULL;
    text = isa_reader_text(&r, "compilation directory");
    object->comp_dir = *text != '\0' ? text : NULL;
    get_files(&r);
    object->const_bank_bytes =
        (uint32_t)isa_reader_number(&r, ISA_CONST_BANK_BYTES, "size of the constant bank");
    object->const_bank = get_block(&r, object->const_bank_bytes, "constant bank");
    get_functions(&r);
    get_variables(&r);
    get_relocs(&r);
    get_lines(&r);
    return isa_reader_end(&r, "table");
}
