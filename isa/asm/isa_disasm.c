/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an object as assembly text, from which the assembler makes an equal object. Everything that is not part of an
 * instruction becomes a directive; branch targets become labels .L<index>. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa_priv.h"

static bool is_bare(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.$";
    size_t size = strlen(name);

    /* a name that begins as the labels .L<index> do is quoted, because a quoted name is never a label */
    return size != 0 && strchr(first, *name) != NULL && strncmp(name, ".L", 2) != 0 &&
           strspn(name, first) + strspn(name + strspn(name, first),
                                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "_.$0123456789") == size;
}

void isa_name_print(const char *name, struct lw_sink *out)
{
    if (is_bare(name)) {
        lw_put(out, name);
        return;
    }
    lw_put(out, "\"");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;

        if (c == '"' || c == '\\')
            lw_printf(out, "\\%c", c);
        else if (c < ' ' || c >= 127)
            lw_printf(out, "\\x%02x", c);
        else
            out->write(out, name, 1);
    }
    lw_put(out, "\"");
}

/* Prints a file name or the producer, which are always quoted. */
static void put_text(const char *text, struct lw_sink *out)
{
    if (is_bare(text))
        lw_printf(out, "\"");
    isa_name_print(text, out);
    if (is_bare(text))
        lw_printf(out, "\"");
}

/* ---- state ------------------------------------------------------------------------ */

struct disasm {
    const struct isa_object *object;
    struct lw_sink *out;
    uint8_t *is_target; /* bit set of the instructions that have a label; NULL: there was no memory */
    const struct isa_function *function;
    struct isa_reloc *relocs; /* the object's relocations, sorted */
    size_t next_reloc, next_line;
    unsigned next_loop;
};

static bool target_index(const struct isa_insn *insn, uint32_t index, uint32_t count,
                         uint32_t *target)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    int64_t at = (int64_t)index + 1 + (int32_t)insn->x;

    if (isa_operands_find(&info->operands, ISA_TK_TARGET) < 0 || at < 0 || at >= count)
        return false;
    *target = (uint32_t)at;
    return true;
}

static bool same_function(const struct isa_object *object, uint32_t a, uint32_t b)
{
    return isa_object_function_at(object, a) == isa_object_function_at(object, b);
}

static void mark_targets(struct disasm *d)
{
    const struct isa_object *object = d->object;

    d->is_target = calloc(1, object->text_count / 8 + 1);
    if (d->is_target == NULL)
        return;
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;
        uint32_t target;

        if (isa_insn_decode(object->text[i], &insn) &&
            target_index(&insn, i, object->text_count, &target) &&
            same_function(object, i, target))
            d->is_target[target / 8] |= (uint8_t)(1u << target % 8);
    }
}

struct text_sink {
    struct lw_sink sink;
    char *text;
    size_t size, capacity;
};

static void text_write(struct lw_sink *sink, const char *text, size_t size)
{
    struct text_sink *to = (struct text_sink *)sink;

    if (size >= to->capacity - to->size)
        size = to->capacity - to->size - 1;
    memcpy(to->text + to->size, text, size);
    to->size += size;
    to->text[to->size] = '\0';
}

static void text_sink_init(struct text_sink *sink, char *text, size_t capacity)
{
    sink->sink.write = text_write;
    sink->text = text;
    sink->size = 0;
    sink->capacity = capacity;
    text[0] = '\0';
}

/* Names a branch target: a label in the same function, or the start of another function. */
static bool name_target(void *context, uint64_t address, char *text, size_t size)
{
    const struct disasm *d = context;
    uint64_t index = (address - ISA_CODE_BASE) / ISA_WORD_BYTES;
    const struct isa_function *function;
    struct text_sink sink;

    if (address < ISA_CODE_BASE || index >= d->object->text_count || d->is_target == NULL)
        return false;
    function = isa_object_function_at(d->object, (uint32_t)index);
    if (function == d->function) {
        snprintf(text, size, ".L%u", (unsigned)index);
        return true;
    }
    if (function == NULL || function->first != index)
        return false;
    text_sink_init(&sink, text, size);
    isa_name_print(function->name, &sink.sink);
    return true;
}

/* ---- directives before the functions ------------------------------------------------------- */

static void put_bytes(struct lw_sink *out, const char *directive, const uint8_t *bytes,
                      uint64_t size)
{
    for (uint64_t at = 0; at < size; at += 32) {
        lw_printf(out, "%s hex ", directive);
        for (uint64_t i = at; i < size && i < at + 32; i++)
            lw_printf(out, "%02x", bytes[i]);
        lw_put(out, "\n");
    }
}

static void put_reloc_name(const struct isa_object *object, const struct isa_reloc *reloc,
                           struct lw_sink *out)
{
    isa_name_print(reloc->to_function ? object->functions[reloc->to].name
                                      : object->variables[reloc->to].name, out);
    if (reloc->addend != 0)
        lw_printf(out, "%+lld", (long long)reloc->addend);
}

/* Prints the initial data of a variable: bytes, and names for the addresses that the loader sets. */
static void put_init(struct disasm *d, uint32_t index)
{
    const struct isa_variable *variable = &d->object->variables[index];
    uint64_t at = 0;

    for (size_t i = 0; i < d->object->reloc_count; i++) {
        const struct isa_reloc *reloc = &d->relocs[i];

        if (reloc->insn != UINT32_MAX || reloc->in != index || reloc->offset < at)
            continue;
        put_bytes(d->out, ".init", variable->init + at, reloc->offset - at);
        lw_put(d->out, ".init addr ");
        put_reloc_name(d->object, reloc, d->out);
        lw_put(d->out, "\n");
        at = (uint64_t)reloc->offset + 8;
    }
    put_bytes(d->out, ".init", variable->init + at, variable->size_bytes - at);
}

static void put_variables(struct disasm *d)
{
    for (uint32_t i = 0; i < d->object->variable_count; i++) {
        const struct isa_variable *variable = &d->object->variables[i];

        lw_printf(d->out, ".%s ", isa_space_name(variable->space));
        isa_name_print(variable->name, d->out);
        lw_printf(d->out, " %llu %u", (unsigned long long)variable->size_bytes,
                  variable->align);
        if (variable->space == ISA_SPACE_SHARED)
            lw_printf(d->out, " %u", variable->shared_offset);
        if (variable->managed)
            lw_put(d->out, " managed");
        lw_put(d->out, "\n");
        if (variable->init != NULL)
            put_init(d, i);
    }
}

static void put_sources(const struct isa_object *object, struct lw_sink *out)
{
    lw_put(out, ".producer ");
    put_text(object->producer != NULL ? object->producer : "", out);
    lw_put(out, "\n");
    if (object->comp_dir != NULL && object->comp_dir[0] != 0) {
        lw_put(out, ".compdir ");
        put_text(object->comp_dir, out);
        lw_put(out, "\n");
    }
    for (unsigned i = 1; i < object->file_count; i++) {
        lw_printf(out, ".file %u ", i);
        put_text(object->files[i], out);
        lw_put(out, "\n");
    }
    if (object->file_count <= 1)
        lw_put(out, ".nolines\n");
}

/* ---- functions ------------------------------------------------------------------------------ */

static void put_param(const struct isa_param *param, struct lw_sink *out)
{
    if (param->kind == ISA_PARAM_POINTER) {
        lw_put(out, ".param ptr");
        if (param->space != ISA_SPACE_GENERIC)
            lw_printf(out, ".%s", isa_space_name(param->space));
    } else if (param->size_bytes == 1 || param->size_bytes == 2 || param->size_bytes == 4 ||
               param->size_bytes == 8) {
        lw_printf(out, ".param %c%u",
                  param->kind == ISA_PARAM_INTEGER ? 'u'
                  : param->kind == ISA_PARAM_FLOAT ? 'f'
                                                   : 'b',
                  8 * param->size_bytes);
    } else {
        lw_printf(out, ".param bytes %u", param->size_bytes);
    }
    lw_put(out, " ");
    isa_name_print(param->name, out);
    if (param->kind == ISA_PARAM_POINTER && param->size_bytes != 8)
        lw_printf(out, " size=%u", param->size_bytes);
    lw_printf(out, " align=%u offset=%u\n", param->align, param->offset);
}

static void put_function_head(const struct isa_function *function, struct lw_sink *out)
{
    const uint32_t *block = function->required_block;

    lw_put(out, function->kernel ? "\n.kernel " : "\n.func ");
    isa_name_print(function->name, out);
    lw_put(out, "\n");
    if (function->file != 0 || function->line != 0)
        lw_printf(out, ".decl %u %u\n", function->file, function->line);
    if (!function->kernel)
        return;
    lw_printf(out, ".parambytes %u\n", function->param_bytes);
    for (unsigned i = 0; i < function->param_count; i++)
        put_param(&function->params[i], out);
    lw_printf(out, ".regs v=%u s=%u b=%u\n", function->vreg_count, function->sreg_count,
              function->breg_count);
    lw_printf(out, ".shared %u\n", function->shared_bytes);
    if (function->local_bytes != 0)
        lw_printf(out, ".local %u\n", function->local_bytes);
    if (function->max_threads != 0)
        lw_printf(out, ".maxthreads %u\n", function->max_threads);
    if (block[0] != 0 || block[1] != 0 || block[2] != 0)
        lw_printf(out, ".reqblock %u, %u, %u\n", block[0], block[1], block[2]);
    if (function->needs_warp != 0)
        lw_printf(out, ".needswarp %u\n", function->needs_warp);
    if (function->dynamic_shared)
        lw_put(out, ".dynshared\n");
}

/** Returns true if no instruction of a function has a control field. An empty control field is then printed for its first
 *  instruction, because the assembler would otherwise compute control fields. */
static bool lacks_control(const struct isa_object *object, const struct isa_function *f)
{
    const struct isa_control none = { .write_bar = 7, .read_bar = 7 };
    struct isa_insn insn;

    for (uint32_t i = f->first; i < f->first + f->count; i++)
        if (isa_insn_decode(object->text[i], &insn) && memcmp(&insn.control, &none, sizeof none) != 0)
            return false;
    return true;
}

static void put_insn(struct disasm *d, uint32_t index)
{
    const struct isa_object *object = d->object;
    char immediate[ISA_NAME_TEXT_BYTES + 16];
    const char *relocated = NULL;
    struct isa_insn insn;

    for (; d->next_line < object->line_count && object->lines[d->next_line].insn == index;
         d->next_line++) {
        const struct isa_line *line = &object->lines[d->next_line];

        lw_printf(d->out, ".loc %u %u", line->file, line->line);
        if (line->column != 0)
            lw_printf(d->out, " %u", line->column);
        lw_printf(d->out, "%s%s\n", line->is_stmt ? "" : " nostmt",
                  line->prologue_end ? " prologue_end" : "");
    }
    if (d->is_target != NULL && (d->is_target[index / 8] >> index % 8 & 1))
        lw_printf(d->out, ".L%u:\n", index);
    for (; d->next_loop < object->loop_count && object->loops[d->next_loop].header <= index;
         d->next_loop++) {
        lw_put(d->out, "# ");
        isa_loop_print(object, d->next_loop, d->out);
        lw_put(d->out, "\n");
    }
    while (d->next_reloc < object->reloc_count && d->relocs[d->next_reloc].insn < index)
        d->next_reloc++;
    if (d->next_reloc < object->reloc_count && d->relocs[d->next_reloc].insn == index) {
        const struct isa_reloc *reloc = &d->relocs[d->next_reloc];
        struct text_sink sink;

        text_sink_init(&sink, immediate, sizeof immediate);
        lw_put(&sink.sink, reloc->high ? "hi(" : "lo(");
        put_reloc_name(object, reloc, &sink.sink);
        lw_put(&sink.sink, ")");
        relocated = immediate;
    }
    lw_put(d->out, "    ");
    if (isa_insn_decode(object->text[index], &insn))
        isa_insn_print_reloc(&insn, ISA_CODE_BASE + (uint64_t)index * ISA_WORD_BYTES,
                             name_target, d, relocated, d->out);
    else
        lw_printf(d->out, "# 0x%016llx%016llx is not an instruction",
                  (unsigned long long)object->text[index].hi,
                  (unsigned long long)object->text[index].lo);
    if (d->function != NULL && index == d->function->first && lacks_control(object, d->function))
        lw_put(d->out, " {}");
    lw_put(d->out, "\n");
}

void isa_disassemble(const struct isa_object *object, struct lw_sink *out)
{
    struct disasm d = { .object = object, .out = out };
    unsigned next = 0;

    d.relocs = malloc((object->reloc_count + 1) * sizeof *d.relocs);
    if (d.relocs == NULL) {
        lw_put(out, "# the host has no memory to disassemble the rest\n");
        return;
    }
    if (object->reloc_count != 0)
        memcpy(d.relocs, object->relocs, object->reloc_count * sizeof *d.relocs);
    isa_relocs_sort(d.relocs, object->reloc_count);
    mark_targets(&d);
    put_sources(object, out);
    put_bytes(out, ".bank", object->const_bank, object->const_bank_bytes);
    put_variables(&d);
    for (uint32_t i = 0; i < object->text_count; i++) {
        if (next < object->function_count && object->functions[next].first == i) {
            d.function = &object->functions[next++];
            put_function_head(d.function, out);
        }
        put_insn(&d, i);
        if (d.function != NULL && i + 1 == d.function->first + d.function->count) {
            lw_put(out, ".end\n");
            d.function = NULL;
        }
    }
    free(d.relocs);
    free(d.is_target);
}
