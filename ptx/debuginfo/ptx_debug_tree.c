/* SPDX-License-Identifier: Apache-2.0 */
/* Converts .debug_abbrev and .debug_info of debug PTX (DWARF 2 to 4) to a tree of debug entries. The parser checks every
 * offset. If a module has an error, none of its debug sections is used. */
#include "ptx/compiler/ptx_annotation_priv.h"
#include "ptx/debuginfo/ptx_debug_priv.h"

#include <stdlib.h>

enum {
    TAG_ANNOTATION = 0x6000, /* DW_TAG_LLVM_annotation */
    MAX_ABBREVS = 1 << 16, MAX_DIES = 1 << 20, MAX_TREE_DEPTH = 150, MAX_DIE_ATTRS = 60,
    FORM_ADDR = 0x01, FORM_BLOCK2 = 0x03, FORM_BLOCK4 = 0x04, FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06, FORM_DATA8 = 0x07, FORM_STRING = 0x08, FORM_BLOCK = 0x09,
    FORM_BLOCK1 = 0x0a, FORM_DATA1 = 0x0b, FORM_FLAG = 0x0c, FORM_SDATA = 0x0d, FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f, FORM_REF_ADDR = 0x10, FORM_REF1 = 0x11, FORM_REF2 = 0x12,
    FORM_REF4 = 0x13, FORM_REF8 = 0x14, FORM_REF_UDATA = 0x15, FORM_SEC_OFFSET = 0x17,
    FORM_EXPRLOC = 0x18, FORM_FLAG_PRESENT = 0x19, FORM_REF_SIG8 = 0x20
};

struct abbrev {
    uint16_t tag;
    bool known, children;
    uint32_t first, count; /* range of the abbreviation's attributes in `rows` */
};
struct abbrev_row {
    uint16_t name, form;
};
struct reading {
    struct ptx_job *job;
    struct ptx_debug *debug;
    const struct ptx_section *section; /* the section that is being read */
    uint32_t at, end;                  /* position of the reader in the section, and the end of what it may read */
    PTX_LIST(struct abbrev) abbrevs;   /* abbreviations of the unit, by code */
    PTX_LIST(struct abbrev_row) rows;
    uint64_t unit_at;  /* offset of the unit's header in the concatenated .debug_info sections of all modules */
    uint64_t base;     /* offset of the current module's .debug_info in these concatenated sections */
    uint32_t source;   /* index of the current module */
    uint32_t unit_die; /* index of the current unit's entry */
    size_t first_die;  /* index of the current module's first entry */
};

static bool drop(struct reading *rd, const char *why)
{
    if (rd->debug->current->dropped == NULL)
        rd->debug->current->dropped = why;
    return false;
}

static bool fixed(struct reading *rd, unsigned size, uint64_t *value)
{
    if (rd->end - rd->at < size)
        return drop(rd, "a section ends too early");
    *value = ptx_debug_bytes(rd->section, rd->at, size);
    rd->at += size;
    return true;
}

static bool leb(struct reading *rd, bool is_signed, uint64_t *value)
{
    unsigned shift = 0;
    uint8_t byte;

    *value = 0;
    do {
        if (rd->at == rd->end || shift > 63)
            return drop(rd, "a number is not terminated");
        byte = rd->section->bytes.at[rd->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && (byte & 0x40) && shift < 64)
        *value |= ~UINT64_C(0) << shift;
    return true;
}

/* ---- abbreviations ---------------------------------------------------------------- */

static bool read_abbrevs(struct reading *rd, uint32_t offset)
{
    uint64_t code, tag, children, name, form;

    rd->section = rd->debug->abbrev;
    rd->at = offset;
    rd->end = (uint32_t)rd->section->bytes.count;
    rd->abbrevs.count = rd->rows.count = 0;
    for (;;) {
        struct abbrev abbrev = { .known = true, .first = (uint32_t)rd->rows.count };

        if (rd->at == rd->end) /* clang sometimes omits the zero that ends the abbreviations */
            return true;
        if (!leb(rd, false, &code))
            return false;
        if (code == 0)
            return true;
        if (!leb(rd, false, &tag) || !fixed(rd, 1, &children))
            return false;
        if (code >= MAX_ABBREVS || tag > UINT16_MAX)
            return drop(rd, "the code of an abbreviation is out of range");
        abbrev.tag = (uint16_t)tag;
        abbrev.children = children != 0;
        for (;;) {
            if (!leb(rd, false, &name) || !leb(rd, false, &form))
                return false;
            if (name == 0 && form == 0)
                break;
            if (name > UINT16_MAX || form > UINT16_MAX || abbrev.count == MAX_DIE_ATTRS)
                return drop(rd, "the code of an abbreviation is out of range");
            *PTX_PUSH(rd->job, rd->rows) = (struct abbrev_row){ (uint16_t)name, (uint16_t)form };
            abbrev.count++;
        }
        while (rd->abbrevs.count <= code)
            *PTX_PUSH(rd->job, rd->abbrevs) = (struct abbrev){ 0 };
        rd->abbrevs.at[code] = abbrev;
    }
}

/* ---- values ------------------------------------------------------------------------- */

static bool text_at(struct reading *rd, const struct ptx_section *section, uint64_t at,
                    const char **text)
{
    const uint8_t *start, *nul;

    if (section == NULL || at >= section->bytes.count)
        return drop(rd, "a text is outside its section");
    start = section->bytes.at + at;
    nul = memchr(start, 0, section->bytes.count - (size_t)at);
    if (nul == NULL)
        return drop(rd, "a text is not terminated");
    *text = (const char *)start;
    return true;
}

static bool read_block(struct reading *rd, struct ptx_value *value, uint64_t size)
{
    value->kind = PTX_V_BLOCK;
    if (size > rd->end - rd->at)
        return drop(rd, "a block runs past the end of its section");
    value->at = rd->at;
    value->size = (uint32_t)size;
    rd->at += (uint32_t)size;
    return true;
}

/* Stores a reference to the entry at an offset of the concatenated sections. An entry of another module is none. */
static void put_reference(const struct reading *rd, struct ptx_value *value, uint64_t offset)
{
    value->kind = PTX_V_REFERENCE;
    value->number = offset - rd->base < rd->debug->info->bytes.count ? offset : UINT64_MAX;
}

static bool read_form(struct reading *rd, unsigned form, struct ptx_value *value)
{
    const struct ptx_fixup *fixup = ptx_debug_fixup(rd->section, rd->at);
    uint64_t n;

    switch (form) {
    case FORM_ADDR:
        value->kind = PTX_V_ADDRESS;
        value->fixup = fixup;
        return fixed(rd, 8, &value->number);
    case FORM_DATA1:
    case FORM_DATA2:
    case FORM_DATA4:
    case FORM_DATA8:
        value->kind = fixup != NULL ? PTX_V_OFFSET : PTX_V_NUMBER;
        value->fixup = fixup;
        return fixed(rd, form == FORM_DATA1   ? 1
                         : form == FORM_DATA2 ? 2
                         : form == FORM_DATA4 ? 4
                                              : 8, &value->number);
    case FORM_UDATA: value->kind = PTX_V_NUMBER; return leb(rd, false, &value->number);
    case FORM_SDATA: value->kind = PTX_V_SIGNED; return leb(rd, true, &value->number);
    case FORM_FLAG: value->kind = PTX_V_FLAG; return fixed(rd, 1, &value->number);
    case FORM_FLAG_PRESENT:
        value->kind = PTX_V_FLAG;
        value->number = 1;
        return true;
    case FORM_STRING:
        value->kind = PTX_V_TEXT;
        if (!text_at(rd, rd->section, rd->at, &value->text))
            return false;
        n = strlen(value->text) + 1;
        if (n > rd->end - rd->at)
            return drop(rd, "a text runs past the end of its unit");
        rd->at += (uint32_t)n;
        return true;
    case FORM_STRP:
        value->kind = PTX_V_TEXT;
        if (!fixed(rd, 4, &n))
            return false;
        if (fixup != NULL && !ptx_debug_target(rd->debug->strings, fixup, &n))
            return drop(rd, "a text is outside its section");
        return text_at(rd, rd->debug->strings, n, &value->text);
    case FORM_BLOCK1: return fixed(rd, 1, &n) && read_block(rd, value, n);
    case FORM_BLOCK2: return fixed(rd, 2, &n) && read_block(rd, value, n);
    case FORM_BLOCK4: return fixed(rd, 4, &n) && read_block(rd, value, n);
    case FORM_BLOCK:
    case FORM_EXPRLOC: return leb(rd, false, &n) && read_block(rd, value, n);
    case FORM_REF1:
    case FORM_REF2:
    case FORM_REF4:
    case FORM_REF8:
        if (!fixed(rd, 1u << (form - FORM_REF1), &n))
            return false;
        put_reference(rd, value, rd->unit_at + n);
        return true;
    case FORM_REF_UDATA:
        if (!leb(rd, false, &n))
            return false;
        put_reference(rd, value, rd->unit_at + n);
        return true;
    case FORM_REF_ADDR:
        if (!fixed(rd, 4, &n))
            return false;
        if (fixup != NULL && !ptx_debug_target(rd->section, fixup, &n))
            return drop(rd, "a reference is outside .debug_info");
        put_reference(rd, value, rd->base + n);
        return true;
    case FORM_SEC_OFFSET:
        value->kind = PTX_V_OFFSET;
        value->fixup = fixup;
        return fixed(rd, 4, &value->number);
    case FORM_REF_SIG8: return fixed(rd, 8, &n);
    default: return drop(rd, "an attribute has an unknown form");
    }
}

/* ---- entries --------------------------------------------------------------------------- */

static bool read_entries(struct reading *rd)
{
    struct ptx_debug *debug = rd->debug;
    uint32_t open[MAX_TREE_DEPTH];
    unsigned depth = 0;

    do {
        uint32_t index = (uint32_t)debug->dies.count;
        uint64_t offset = rd->base + rd->at;
        const struct abbrev *abbrev;
        uint64_t code;

        if (rd->at == rd->end)
            break; /* compilers may omit the zeros that end the last lists of children */
        if (!leb(rd, false, &code))
            return false;
        if (code == 0) {
            if (depth == 0)
                break;
            debug->dies.at[open[--depth]].end = index;
            continue;
        }
        if (code >= rd->abbrevs.count || !rd->abbrevs.at[code].known)
            return drop(rd, "an entry has an undefined abbreviation");
        if (index - rd->first_die >= MAX_DIES)
            return drop(rd, "there are too many entries");
        abbrev = &rd->abbrevs.at[code];
        *PTX_PUSH(rd->job, debug->dies) = (struct ptx_die){
            .offset = offset, .tag = abbrev->tag, .source = (uint16_t)rd->source,
            .parent = depth != 0 ? open[depth - 1] : PTX_NONE, .end = index + 1,
            .unit = rd->unit_die, .first = (uint32_t)debug->values.count, .count = abbrev->count,
            .function = PTX_NONE, .object_function = PTX_NONE, .out = PTX_NONE
        };
        for (uint32_t k = 0; k < abbrev->count; k++) {
            const struct abbrev_row row = rd->rows.at[abbrev->first + k];
            struct ptx_value value = { .name = row.name };

            if (!read_form(rd, row.form, &value))
                return false;
            *PTX_PUSH(rd->job, debug->values) = value;
        }
        if (abbrev->children) {
            if (depth == MAX_TREE_DEPTH)
                return drop(rd, "the entries are nested too deeply");
            open[depth++] = index;
        }
    } while (depth != 0);
    while (depth != 0)
        debug->dies.at[open[--depth]].end = (uint32_t)debug->dies.count;
    return true;
}

static bool read_unit(struct reading *rd)
{
    const struct ptx_section *info = rd->debug->info;
    const struct ptx_fixup *fixup;
    uint64_t length, version, abbrev, address_size;
    uint32_t next;

    rd->section = info;
    rd->unit_at = rd->base + rd->at;
    rd->end = (uint32_t)info->bytes.count;
    if (!fixed(rd, 4, &length))
        return false;
    if (length > rd->end - rd->at)
        return drop(rd, "a unit exceeds .debug_info");
    next = rd->at + (uint32_t)length;
    rd->end = next;
    if (!fixed(rd, 2, &version))
        return false;
    if (version < 2 || version > 4)
        return drop(rd, "the version of DWARF is not 2, 3 or 4");
    fixup = ptx_debug_fixup(info, rd->at);
    if (!fixed(rd, 4, &abbrev) || !fixed(rd, 1, &address_size))
        return false;
    if (fixup != NULL && !ptx_debug_target(rd->debug->abbrev, fixup, &abbrev))
        return drop(rd, "a unit has no abbreviations");
    if (abbrev > rd->debug->abbrev->bytes.count || address_size != 8)
        return drop(rd, "a unit has no abbreviations or no 64-bit addresses");
    uint32_t at = rd->at;

    if (!read_abbrevs(rd, (uint32_t)abbrev))
        return false;
    rd->section = info;
    rd->at = at;
    rd->end = next;
    rd->unit_die = (uint32_t)rd->debug->dies.count;
    if (!read_entries(rd))
        return false;
    rd->at = next;
    return true;
}

/* ---- lookup ------------------------------------------------------------------------------ */

const struct ptx_value *ptx_debug_value(const struct ptx_debug *debug, uint32_t die,
                                        unsigned name)
{
    const struct ptx_die *d = &debug->dies.at[die];

    for (uint32_t i = 0; i < d->count; i++) {
        if (debug->values.at[d->first + i].name == name)
            return &debug->values.at[d->first + i];
    }
    return NULL;
}

uint32_t ptx_debug_entry(const struct ptx_debug *debug, const struct ptx_value *value)
{
    size_t low = 0, high = debug->dies.count;

    if (value == NULL || value->kind != PTX_V_REFERENCE)
        return PTX_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (debug->dies.at[middle].offset < value->number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < debug->dies.count && debug->dies.at[low].offset == value->number
               ? (uint32_t)low : PTX_NONE;
}

uint64_t ptx_debug_type_bytes(const struct ptx_debug *debug, uint32_t die)
{
    const uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_ABSTRACT_ORIGIN));

    if (origin != PTX_NONE)
        die = origin;
    for (unsigned depth = 0; depth < 16; depth++) {
        const uint32_t type = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_TYPE));
        const struct ptx_value *bytes;

        if (type == PTX_NONE)
            return 0;
        bytes = ptx_debug_value(debug, type, ISA_AT_BYTE_SIZE);
        if (bytes != NULL)
            return bytes->kind == PTX_V_NUMBER ? bytes->number : 0;
        if (isa_tag_is_pointer(debug->dies.at[type].tag))
            return 8;
        if (debug->dies.at[type].tag == ISA_TAG_ARRAY)
            return 0;
        die = type;
    }
    return 0;
}

const struct ptx_mark *ptx_debug_mark(const struct ptx_debug *debug,
                                      const struct ptx_fixup *fixup)
{
    const uint32_t *known = fixup == NULL ? NULL
                                          : ptx_map_find(debug->label_map, fixup->name.text,
                                                         fixup->name.size);

    return known != NULL ? &debug->marks.at[*known] : NULL;
}

static void find_marks(struct ptx_job *job, struct ptx_module *module)
{
    struct ptx_debug *debug = module->debug;

    for (uint32_t f = 0; f < module->functions.count; f++) {
        const struct ptx_function *fn = &module->functions.at[f];
        struct ptx_map *map = &debug->part[fn->source].label_map;

        /* A function without a body has labels if another module's definition replaces its own. */
        for (size_t i = 0; fn->has_body && fn->copy_of == 0 && i < fn->label_names.count; i++) {
            const char *name = fn->label_names.at[i];

            ptx_map_put(job, map, name, strlen(name),
                        (uint32_t)debug->marks.count);
            *PTX_PUSH(job, debug->marks) = (struct ptx_mark){ f, fn->label_lines.at[i] };
        }
    }
}

/* ---- kernels that are also functions --------------------------------------------------------- */

/** Returns 1 + the index of the function that is the copy of the kernel of entry @die, or 0 if the entry describes no such
 *  kernel. */
static uint32_t copy_of_entry(const struct ptx_module *module, const struct ptx_debug *debug, uint32_t die)
{
    const uint32_t function = debug->dies.at[die].function;

    return function == PTX_NONE ? 0 : module->functions.at[function].callable;
}

/* Copies the debug entries of each kernel that another kernel calls. The copied entries describe the function that is the
 * kernel's copy. The copied entries directly follow the original entries. Each copy has the offset of the last original
 * entry, so that offsets remain ascending and references find the originals. */
static void copy_entries(struct ptx_job *job, struct ptx_module *module)
{
    struct ptx_debug *debug = module->debug;
    const struct ptx_die *old = debug->dies.at;
    const uint32_t count = (uint32_t)debug->dies.count;
    uint32_t *to = PTX_ARRAY(job, uint32_t, count + 1); /* by entry: the new index of the entry */
    uint32_t more = 0, after = 0;
    struct ptx_die *dies;

    for (uint32_t i = 0, inside = 0, within = 0; i <= count; i++) {
        if (i == inside)
            more += within, within = 0;
        to[i] = i + more;
        if (i < count && i >= inside && copy_of_entry(module, debug, i) != 0) {
            inside = old[i].end;
            within = inside - i;
        }
    }
    if (more == 0)
        return;
    dies = PTX_ARRAY(job, struct ptx_die, count + more + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_die *d = &dies[to[i]];

        if (i >= after && copy_of_entry(module, debug, i) != 0)
            after = old[i].end;
        *d = old[i];
        d->parent = d->parent != PTX_NONE ? to[d->parent] : PTX_NONE;
        d->unit = d->unit != PTX_NONE ? to[d->unit] : PTX_NONE;
        /* An entry at the end of the original tree ends before the copy, which follows the tree. */
        d->end = i < after ? to[old[i].end - 1] + 1 : to[old[i].end];
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t function = copy_of_entry(module, debug, i), first = to[i], size = old[i].end - i;

        if (function == 0)
            continue;
        for (uint32_t k = 0; k < size; k++) {
            struct ptx_die *d = &dies[first + size + k];

            *d = dies[first + k];
            d->offset = old[old[i].end - 1].offset;
            d->end += size;
            d->parent += k != 0 ? size : 0;
            d->function = PTX_NONE;
        }
        dies[first + size].function = function - 1;
        debug->subprogram[function - 1] = first + size;
        i = old[i].end - 1;
    }
    for (size_t f = 0; f < module->functions.count; f++)
        if (module->functions.at[f].copy_of == 0 && debug->subprogram[f] != PTX_NONE)
            debug->subprogram[f] = to[debug->subprogram[f]];
    debug->dies.at = dies;
    debug->dies.count = debug->dies.capacity = count + more;
}

/* ---- annotations of sources ---------------------------------------------------------------- */

/* Returns a copy of @text in which C numbers have PTX syntax, without the suffixes u and l. */
static const char *without_suffixes(struct ptx_job *job, const char *text)
{
    char *copy = PTX_ARRAY(job, char, strlen(text) + 1), *to = copy;
    bool number = false, word = false;

    for (; *text != '\0'; text++) {
        bool digit = *text >= '0' && *text <= '9';
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_';

        number = digit ? !word || number : letter && number;
        word = digit || letter;
        if (!number || strchr("uUlL", *text) == NULL)
            *to++ = *text;
    }
    return copy;
}

/* Parses three sizes in a text of the source after macro expansion, such as "16, 2 * 8, 1". Returns false if the text does
 * not consist of three constants from 1 to UINT32_MAX. */
static bool read_sizes(struct ptx_job *job, const char *text, uint32_t sizes[3])
{
    const char *plain = without_suffixes(job, text);
    struct ptx_lexer lex = { .job = job, .p = plain, .end = plain + strlen(plain), .line = 1 };
    jmp_buf *outer = job->stop, stop;
    bool good = true;

    job->stop = &stop;
    if (setjmp(stop) != 0) {
        job->stop = outer;
        job->status = LW_OK;
        return false;
    }
    for (unsigned i = 0; good && i < 3; i++) {
        enum ptx_literal literal;
        uint64_t value = 0;

        good = (i == 0 || ptx_lex_accept(&lex, ',')) && ptx_lex_constant(&lex, &value, &literal) &&
               literal == PTX_LIT_INT && value != 0 && value <= UINT32_MAX;
        sizes[i] = (uint32_t)value;
    }
    job->stop = outer;
    return good && ptx_lex_peek(&lex) == '\0';
}

/* Reads the block size that OpenCL C's reqd_work_group_size requires. clang does not write this size to PTX, so ptx_clang.c
 * makes clang write it as an annotation of the kernel (PTX_CLANG_BLOCK). */
static void read_annotation(struct ptx_job *job, struct ptx_module *module, uint32_t die)
{
    static const char mark[] = PTX_CLANG_BLOCK;
    struct ptx_debug *debug = module->debug;
    const struct ptx_value *value = ptx_debug_value(debug, die, ISA_AT_CONST_VALUE);
    uint32_t parent = debug->dies.at[die].parent, sizes[3];
    struct ptx_function *fn;

    if (value == NULL || value->kind != PTX_V_TEXT || parent == PTX_NONE ||
        strncmp(value->text, mark, sizeof mark - 1) != 0 || debug->dies.at[parent].function == PTX_NONE)
        return;
    fn = &module->functions.at[debug->dies.at[parent].function];
    if (!fn->kernel)
        return;
    if (read_sizes(job, value->text + sizeof mark - 1, sizes)) {
        uint64_t threads = (uint64_t)sizes[0] * sizes[1];

        fn->max_threads = threads * sizes[2] <= UINT32_MAX ? (uint32_t)(threads * sizes[2]) : UINT32_MAX;
        memcpy(fn->required_block, sizes, sizeof sizes);
    } else if (job->options != NULL && job->options->notes != NULL) {
        lw_printf(job->options->notes, "warning: kernel %s: reqd_work_group_size(%s) is ignored: write numbers\n",
                  fn->name, value->text + sizeof mark - 1);
    }
}

/* Finds the sections of module @source. */
static void find_sections(struct ptx_debug *debug, uint32_t source)
{
    struct ptx_debug_part *part = &debug->part[source];

    part->info = ptx_debug_find(debug, source, ".debug_info");
    part->abbrev = ptx_debug_find(debug, source, ".debug_abbrev");
    part->strings = ptx_debug_find(debug, source, ".debug_str");
    part->loc = ptx_debug_find(debug, source, ".debug_loc");
    part->ranges = ptx_debug_find(debug, source, ".debug_ranges");
}

/* Reads the entries of the current module, whose index is rd->source. */
static void read_module(struct reading *rd)
{
    struct ptx_debug *debug = rd->debug;
    const size_t first_value = debug->values.count;
    bool good = debug->current->dropped == NULL;

    if (debug->info == NULL || debug->abbrev == NULL)
        return;
    rd->first_die = debug->dies.count;
    rd->at = 0;
    while (good && rd->at < debug->info->bytes.count)
        good = read_unit(rd);
    if (!good) {
        debug->dies.count = rd->first_die;
        debug->values.count = first_value;
    }
    rd->base += debug->info->bytes.count;
    debug->current->has_entries = debug->dies.count != rd->first_die;
}

/* Finds, by their names, the variables that each module defines. */
static void find_variables(struct ptx_job *job, struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->symbols.count; i++) {
        const struct ptx_symbol *s = &module->symbols.at[i];

        if (s->kind == PTX_SYM_VARIABLE && s->space != PTX_SP_LOCAL && (!s->external || s->space == PTX_SP_SHARED))
            ptx_map_put(job, &module->debug->part[s->source].variables, s->name, strlen(s->name), i);
    }
}

/* Finds the entries of the functions. */
static void find_subprograms(struct ptx_job *job, struct ptx_module *module)
{
    struct ptx_debug *debug = module->debug;

    debug->subprogram = PTX_ARRAY(job, uint32_t, module->functions.count + 1);
    for (size_t f = 0; f < module->functions.count; f++)
        debug->subprogram[f] = PTX_NONE;
    for (uint32_t i = 0; i < debug->dies.count; i++) {
        struct ptx_die *die = &debug->dies.at[i];
        const struct ptx_value *pc = die->tag == ISA_TAG_SUBPROGRAM
                                         ? ptx_debug_value(debug, i, ISA_AT_LOW_PC) : NULL;

        ptx_debug_look_at(debug, die->source);
        const struct ptx_mark *mark = pc != NULL ? ptx_debug_mark(debug, pc->fixup) : NULL;

        if (mark != NULL && debug->subprogram[mark->function] == PTX_NONE) {
            die->function = mark->function;
            debug->subprogram[mark->function] = i;
        }
    }
}

void ptx_debug_read(struct ptx_job *job, struct ptx_module *module)
{
    struct ptx_debug *debug = module->debug;
    struct reading rd = { .job = job };
    bool all_have_entries = true;

    if (debug == NULL && module->locs.count > 1) /* the PTX has only line information and no debug entries */
        module->debug = debug = PTX_NEW(job, struct ptx_debug);
    if (debug == NULL)
        return;
    rd.debug = debug;
    debug->part_count = (uint32_t)job->source_count;
    debug->part = PTX_ARRAY(job, struct ptx_debug_part, debug->part_count + 1);
    debug->budget = UINT64_C(1) << 23;
    for (size_t i = 0; i < debug->sections.count; i++) {
        const struct ptx_section *section = &debug->sections.at[i];

        debug->budget += 2048 * (uint64_t)section->bytes.count;
        if (section->invalid)
            debug->part[section->source].dropped = "a debug section contains something that is not data";
    }
    debug->gap_budget = debug->budget;
    for (uint32_t i = 0; i < debug->part_count; i++) {
        struct ptx_debug_part *part = &debug->part[i];

        find_sections(debug, i);
        ptx_debug_look_at(debug, i);
        rd.source = i;
        read_module(&rd);
        part->file_base = part->has_entries ? module->file_bases[i] : 0;
        all_have_entries &= part->has_entries || part->dropped != NULL;
    }
    if (!all_have_entries)
        debug->inlined = PTX_ARRAY(job, struct ptx_inlined_list, module->functions.count + 1);
    if (debug->dies.count == 0)
        return;
    find_marks(job, module);
    find_variables(job, module);
    find_subprograms(job, module);
    copy_entries(job, module);
    for (uint32_t i = 0; i < debug->dies.count; i++) {
        if (debug->dies.at[i].tag == TAG_ANNOTATION)
            read_annotation(job, module, i);
    }
}
