/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stores of a function to a variable in the function's local memory, and reads the note with the uses of the variable
 * in the source. */
#include "ptx/debuginfo/notes/ptx_debug_memory_priv.h"

enum { MOST_TYPES = 16 };

/* ---- addresses ----------------------------------------------------------------------------------------- */

/* Merges an address into *to. The result is exact only if all merged addresses are exact and equal, and every call has
 * @exact set. */
static void add_address(struct ptx_note_address *to, struct ptx_note_address from, bool exact)
{
    if (from.kind == 0)
        return;
    if (to->kind == 0) {
        *to = from;
        to->exact &= exact;
        return;
    }
    to->exact &= exact && from.exact && from.low == to->low;
    to->low = from.low < to->low ? from.low : to->low;
    to->high = from.high > to->high ? from.high : to->high;
}

static bool is_depot(const struct ptx_placing *pl, const struct ptx_operand *o)
{
    return (o->kind == PTX_O_SYMBOL || o->kind == PTX_O_ADDRESS) && o->symbol < pl->module->symbols.count &&
           strncmp(pl->module->symbols.at[o->symbol].name, "__local_depot", 13) == 0;
}

/* Returns the address in local memory that an operand contains, or from which it is computed. */
static struct ptx_note_address address_of(const struct ptx_placing *pl, const struct ptx_note_address *of, const struct ptx_operand *o)
{
    struct ptx_note_address address = {.kind = 0};

    if (o->element != NULL) {
        for (unsigned i = 0; i < o->count; i++)
            add_address(&address, address_of(pl, of, &o->element[i]), false);
    } else if (is_depot(pl, o)) {
        address = (struct ptx_note_address){1, true, (int64_t)o->imm, (int64_t)o->imm};
    } else if ((o->kind == PTX_O_REG || o->kind == PTX_O_ADDRESS) && o->reg < pl->fn->regs.count) {
        address = of[o->reg];
        if (o->kind == PTX_O_ADDRESS && address.exact) {
            address.low += (int64_t)o->imm;
            address.high = address.low;
        }
    }
    return address;
}

/* Finds for each register the address in local memory that the register may contain. Repeats a pass over the statements until no
 * address changes. */
static const struct ptx_note_address *find_addresses(struct ptx_placing *pl, struct ptx_noting *noting)
{
    const struct ptx_function *fn = pl->fn;
    struct ptx_note_address *of = noting->addresses;
    bool changed = of == NULL;

    if (of == NULL)
        of = noting->addresses = PTX_ARRAY(pl->job, struct ptx_note_address, fn->regs.count + 1);
    for (unsigned pass = 0; changed; pass++) {
        changed = false;
        for (size_t s = 0; s < fn->insns.count && ptx_spend(pl, 1); s++) {
            const struct ptx_insn *in = &fn->insns.at[s];
            const struct ptx_operand *to = in->operand;
            struct ptx_note_address from = {.kind = 0}, *old;

            if (in->operand_count < 2 || in->op == PTX_LD || in->op == PTX_ST || to->kind != PTX_O_REG || to->reg >= fn->regs.count)
                continue;
            for (unsigned i = 1; i < in->operand_count; i++)
                add_address(&from, address_of(pl, of, &in->operand[i]), in->operand_count == 2 ? in->op == PTX_MOV || in->op == PTX_CVTA
                                                                                               : in->op == PTX_ADD);
            if (from.exact && in->op == PTX_ADD) {
                const struct ptx_operand *other = &in->operand[address_of(pl, of, &in->operand[1]).kind != 0 ? 2 : 1];
                uint64_t literal = other->imm;

                if (other->kind == PTX_O_IMM || (other->kind == PTX_O_REG && ptx_debug_literal(pl, other->reg, &literal)))
                    from.high = from.low += (int64_t)literal;
                else
                    from.exact = false;
            }
            old = &of[to->reg];
            const struct ptx_note_address before = *old;

            add_address(old, from, true);
            changed |= before.kind != old->kind || before.exact != old->exact || before.low != old->low || before.high != old->high;
        }
        if (pass > 16) /* a loop of the code computes the addresses, so every address is possible */
            for (size_t r = 0; r < fn->regs.count; r++)
                of[r] = (struct ptx_note_address){of[r].kind, false, INT64_MIN / 2, INT64_MAX / 2};
        changed &= pass <= 16;
    }
    return of;
}

void ptx_debug_memory_stores(struct ptx_memory *m)
{
    struct ptx_placing *pl = m->pl;
    const struct ptx_note_address *of = find_addresses(pl, m->noting);
    const int64_t first = (int64_t)m->offset, end = first + m->size;

    for (uint32_t s = 0; s < pl->fn->insns.count && ptx_spend(pl, 1); s++) {
        const struct ptx_insn *in = &pl->fn->insns.at[s];
        const bool stores = in->op == PTX_ST;
        struct ptx_memory_store store = {.statement = s, .wild = !stores || in->guard != PTX_NONE};
        struct ptx_note_address address;
        int64_t bytes = stores && in->operand_count == 2 ? ptx_type_bytes(in->type[0]) : 0;

        if (in->op != PTX_ST && in->op != PTX_ATOM && in->op != PTX_RED && in->op != PTX_CALL)
            continue;
        address = (struct ptx_note_address){.kind = 0};
        if (stores) {
            address = address_of(pl, of, &in->operand[0]);
            store.combined = in->operand[1].element != NULL;
            if (store.combined)
                bytes *= in->operand[1].count;
        } else {
            for (unsigned i = 0; i < in->operand_count; i++)
                add_address(&address, address_of(pl, of, &in->operand[i]), false);
        }
        if (address.kind == 0)
            continue;
        store.exact = address.exact && bytes != 0;
        if (store.exact) {
            if (address.low >= end || address.low + bytes <= first)
                continue;
            store.wild |= address.low < first || address.low + bytes > end;
            store.bytes.first = address.low < first ? 0 : (uint32_t)(address.low - first);
            store.bytes.end = address.low + bytes > end ? m->size : (uint32_t)(address.low + bytes - first);
        } else {
            if (address.low >= end || address.high < first)
                continue;
            store.wild |= address.low < first || address.high >= end || bytes == 0;
            store.bytes = (struct ptx_memory_bytes){0, m->size};
        }
        *PTX_PUSH(pl->job, m->stores) = store;
    }
}

/* ---- uses -------------------------------------------------------------------------------------------- */

uint64_t ptx_debug_memory_number(const struct ptx_debug *debug, uint32_t die, unsigned name, uint64_t none)
{
    const struct ptx_value *value = ptx_debug_value(debug, die, name);

    return value != NULL && (value->kind == PTX_V_NUMBER || value->kind == PTX_V_SIGNED) ? value->number : none;
}

/* Returns the offset of a member: a number, or the expression DW_OP_plus_uconst OFFSET. */
static uint64_t member_offset(const struct ptx_debug *debug, uint32_t die)
{
    const struct ptx_value *value = ptx_debug_value(debug, die, ISA_AT_MEMBER_LOCATION);
    uint64_t offset = 0;

    if (value == NULL || value->kind != PTX_V_BLOCK || value->size < 2 || debug->info->bytes.at[value->at] != 0x23)
        return ptx_debug_memory_number(debug, die, ISA_AT_MEMBER_LOCATION, value == NULL ? 0 : UINT64_MAX);
    for (uint32_t i = 1; i < value->size && i < 5; i++)
        offset |= (uint64_t)(debug->info->bytes.at[value->at + i] & 0x7f) << 7 * (i - 1);
    return offset;
}

/* Returns the type of an entry without qualifiers and typedef names, or PTX_NONE if the entry has no type. */
static uint32_t type_of(const struct ptx_debug *debug, uint32_t die)
{
    uint32_t type = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_TYPE));

    for (unsigned depth = 0; depth < MOST_TYPES && type != PTX_NONE; depth++) {
        const unsigned tag = debug->dies.at[type].tag;

        if (tag != ISA_TAG_TYPEDEF && tag != ISA_TAG_CONST && tag != ISA_TAG_VOLATILE && tag != ISA_TAG_RESTRICT)
            return type;
        type = ptx_debug_entry(debug, ptx_debug_value(debug, type, ISA_AT_TYPE));
    }
    return PTX_NONE;
}

static uint64_t dimension_of(const struct ptx_debug *debug, uint32_t die)
{
    const uint64_t upper = ptx_debug_memory_number(debug, die, ISA_AT_UPPER_BOUND, UINT64_MAX);

    return ptx_debug_memory_number(debug, die, ISA_AT_COUNT, upper != UINT64_MAX ? upper + 1 : 0);
}

/* Returns the size of the type of an entry, or 0 if the size is unknown. If the type is an array, the first @skipped
 * dimensions do not count. */
static uint64_t size_of(const struct ptx_debug *debug, uint32_t die, unsigned skipped)
{
    uint64_t elements = 1;

    for (unsigned depth = 0; depth < MOST_TYPES; depth++) {
        const uint32_t type = type_of(debug, die);

        if (type == PTX_NONE)
            return 0;
        if (isa_tag_is_pointer(debug->dies.at[type].tag))
            return 8 * elements;
        if (debug->dies.at[type].tag != ISA_TAG_ARRAY)
            return ptx_debug_memory_number(debug, type, ISA_AT_BYTE_SIZE, 0) * elements;
        for (uint32_t i = type + 1; i < debug->dies.at[type].end; i = debug->dies.at[i].end) {
            if (debug->dies.at[i].tag != ISA_TAG_SUBRANGE)
                continue;
            if (skipped != 0)
                skipped--;
            else if (__builtin_mul_overflow(elements, dimension_of(debug, i), &elements) || elements > UINT32_MAX)
                return 0;
        }
        skipped = 0;
        die = type;
    }
    return 0;
}

/* A part of a variable: a member or an array element. */
struct part {
    uint32_t die;     /* debug entry with the part's type */
    unsigned skipped; /* number of dimensions of the array type for which the text has an index */
    uint64_t offset;
    bool computed, stopped; /* computed: an index is not constant. stopped: the rest of the text cannot be parsed, or names
                             * memory outside the variable. */
};

static void take_member(const struct ptx_debug *debug, struct part *part, struct ptx_name name)
{
    const uint32_t type = type_of(debug, part->die);

    part->stopped = true;
    for (uint32_t i = type + 1; type != PTX_NONE && i < debug->dies.at[type].end; i = debug->dies.at[i].end) {
        const struct ptx_value *its = debug->dies.at[i].tag == ISA_TAG_MEMBER ? ptx_debug_value(debug, i, ISA_AT_NAME) : NULL;

        if (its == NULL || its->kind != PTX_V_TEXT || !ptx_name_is(name, its->text) || member_offset(debug, i) == UINT64_MAX)
            continue;
        part->die = i;
        part->skipped = 0;
        part->offset += member_offset(debug, i);
        part->stopped = false;
        return;
    }
}

/* Returns the part of a variable that a text of ".MEMBER" and "[INDEX]" names. */
static struct part find_part(const struct ptx_debug *debug, uint32_t die, struct ptx_name text)
{
    struct part part = {.die = die};
    const char *end = text.text + text.size;

    for (const char *p = text.text; p < end && !part.stopped;) {
        const uint32_t type = type_of(debug, part.die);
        const bool is_array = type != PTX_NONE && debug->dies.at[type].tag == ISA_TAG_ARRAY;
        struct ptx_name word = {p + 1, 0};
        uint64_t index;

        while (word.text + word.size < end && word.text[word.size] != '.' && word.text[word.size] != '[' && word.text[word.size] != ']')
            word.size++;
        p = word.text + word.size;
        if (word.text[-1] == '.') {
            take_member(debug, &part, word);
        } else if (word.text[-1] == '[' && is_array) {
            part.skipped++;
            if (word.size == 0 || part.computed || !ptx_note_number(word, 10, &index))
                part.computed = true;
            else
                part.offset += index * size_of(debug, part.die, part.skipped);
            p += p < end;
        } else {
            part.stopped = true;
        }
    }
    return part;
}

/* Returns whether a part is an array, with fewer indices than it has dimensions. */
static bool is_array(const struct ptx_debug *debug, const struct part *part)
{
    const uint32_t type = type_of(debug, part->die);
    unsigned dimensions = 0;

    if (type == PTX_NONE || debug->dies.at[type].tag != ISA_TAG_ARRAY || ptx_debug_value(debug, type, ISA_AT_VECTOR) != NULL)
        return false;
    for (uint32_t i = type + 1; i < debug->dies.at[type].end; i = debug->dies.at[i].end)
        dimensions += debug->dies.at[i].tag == ISA_TAG_SUBRANGE;
    return part->skipped < dimensions;
}

/* Returns the bytes that an assignment to a part of the variable may change. If an index is computed, the bytes are all
 * elements of the outermost array with a computed index. If the part is unknown, the bytes are the whole variable. */
static struct ptx_memory_bytes bytes_of(const struct ptx_memory *m, struct ptx_name text, bool *computed)
{
    const struct ptx_debug *debug = m->pl->debug;
    const struct part part = find_part(debug, m->die, text);
    const char *bracket = part.computed ? memmem(text.text, text.size, "[]", 2) : NULL;
    struct part of = part;
    uint64_t size;

    if (bracket != NULL)
        of = find_part(debug, m->die, (struct ptx_name){text.text, (size_t)(bracket - text.text)});
    size = size_of(debug, of.die, of.skipped);
    *computed = part.computed;
    if (of.stopped || size == 0 || size > m->size || of.offset > m->size - size)
        return (struct ptx_memory_bytes){0, m->size};
    return (struct ptx_memory_bytes){(uint32_t)of.offset, (uint32_t)(of.offset + size)};
}

bool ptx_debug_memory_uses(struct ptx_memory *m, struct ptx_name text)
{
    struct ptx_note_words words = {text.text, text.text + text.size};

    m->gives_away = UINT32_MAX;
    for (struct ptx_name word = ptx_note_word(&words); word.size != 0 && ptx_spend(m->pl, 8); word = ptx_note_word(&words)) {
        uint64_t number[4];
        struct ptx_memory_use use = {.first = 0};
        char kind;

        for (unsigned i = 0; i < 4; i++) {
            const char *colon = memchr(word.text, ':', word.size);

            if (colon == NULL || !ptx_note_number((struct ptx_name){word.text, (size_t)(colon - word.text)}, 10, &number[i]) || number[i] > UINT32_MAX)
                return false;
            word.size -= (size_t)(colon + 1 - word.text);
            word.text = colon + 1;
        }
        if (word.size == 0)
            return false;
        kind = *word.text++;
        word.size--;
        if (kind == '?') {
            const struct part part = find_part(m->pl->debug, m->die, word);

            kind = !part.stopped && is_array(m->pl->debug, &part) ? '&' : '?';
        }
        use = (struct ptx_memory_use){.first = (uint32_t)number[0], .last = (uint32_t)number[1], .reached = (uint32_t)number[2], .begin = (uint32_t)number[3]};
        for (size_t i = 0; i < m->lines->loops.count; i++) { /* the list has outer loops before inner loops, so the last
                                                              * matching loop is the innermost one */
            const struct ptx_noted_line *loop = &m->lines->loops.at[i];

            if (loop->line > use.first || loop->reached < use.first)
                continue;
            if (kind == '&' && use.loop == 0 && loop->line < m->gives_away)
                m->gives_away = loop->line;
            use.loop = loop->line;
            use.loop_end = loop->reached;
            use.jumps = loop->begins != 0;
        }
        if (kind == '&' && use.first < m->gives_away)
            m->gives_away = use.first;
        if (kind == '?')
            continue;
        use.bytes = kind == '=' ? bytes_of(m, word, &use.computed) : (struct ptx_memory_bytes){0, m->size};
        *PTX_PUSH(m->pl->job, m->uses) = use;
    }
    return true;
}

uint64_t ptx_debug_memory_size(const struct ptx_debug *debug, uint32_t die)
{
    return size_of(debug, die, 0);
}

bool ptx_debug_memory_is_scalar(const struct ptx_debug *debug, uint32_t die)
{
    const uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_ABSTRACT_ORIGIN));
    const uint32_t type = type_of(debug, origin != PTX_NONE ? origin : die);
    const unsigned tag = type != PTX_NONE ? debug->dies.at[type].tag : ISA_TAG_ARRAY;

    return tag == ISA_TAG_BASE || tag == ISA_TAG_ENUMERATION || isa_tag_is_pointer(tag);
}
