/* SPDX-License-Identifier: Apache-2.0 */
/* Prints address slices, for `lanewise dis --slices`. */
#include "isa/slice/isa_slice_priv.h"

struct printer {
    const struct isa_object *object;
    const struct isa_function *function;
    const struct isa_slices *slices;
    struct lw_sink *out;
};

static void put_address(uint32_t insn, struct lw_sink *out)
{
    lw_printf(out, "0x%llx", (unsigned long long)(ISA_CODE_BASE + (uint64_t)insn * ISA_WORD_BYTES));
}

static void put_insn(const struct printer *p, uint32_t index)
{
    struct isa_insn insn;

    if (!isa_insn_decode(p->object->text[index], &insn))
        return;
    insn.control = (struct isa_control){ .write_bar = 7, .read_bar = 7 };
    isa_insn_print(&insn, ISA_CODE_BASE + (uint64_t)index * ISA_WORD_BYTES, NULL, NULL, p->out);
}

static void put_param(const struct printer *p, const struct isa_slice_node *n)
{
    unsigned bytes = n->part != 0 ? (n->part & 127) / 8u : n->bits / 8u;

    for (unsigned k = 0; k < p->function->param_count; k++) {
        const struct isa_param *param = &p->function->params[k];

        if (param->offset == n->value && param->size_bytes == bytes) {
            isa_name_print(param->name, p->out);
            return;
        }
    }
    lw_printf(p->out, "c[0][0x%llx]%s", (unsigned long long)n->value,
              n->bits == 64 ? ".64" : n->part == 8 ? ".u8" : n->part == 136 ? ".s8" : n->part == 16 ? ".u16"
              : n->part == 144 ? ".s16" : "");
}

/** Prints a node as an operand: a simple value in full, any other node by its number. */
static void put_value(const struct printer *p, uint32_t number)
{
    const struct isa_slice_node *n = &p->slices->nodes[number];
    bool negated = false;

    for (; n->kind == ISA_SLICE_NOT; n = &p->slices->nodes[number = n->a])
        negated = !negated;
    lw_put(p->out, negated ? "!" : "");
    int64_t value = n->bits == 32 ? (int32_t)n->value : (int64_t)n->value;

    switch (n->kind) {
    case ISA_SLICE_IMMEDIATE:
        if (n->bits == 1)
            lw_put(p->out, n->value != 0 ? "pt" : "!pt");
        else if (value > -65536 && value < 65536)
            lw_printf(p->out, "%lld", (long long)value);
        else
            lw_printf(p->out, "0x%llx", (unsigned long long)n->value);
        break;
    case ISA_SLICE_SPECIAL: lw_put(p->out, isa_special_info((enum isa_special)n->value)->name); break;
    case ISA_SLICE_PARAM: put_param(p, n); break;
    case ISA_SLICE_VARIABLE:
        isa_name_print(p->object->variables[n->op].name, p->out);
        if (n->value != 0)
            lw_printf(p->out, "%+lld", (long long)n->value);
        break;
    default: lw_printf(p->out, "%%%u", number); break;
    }
}

/** Prints the instruction of a node, with its modifiers, as in assembly. */
static void put_row(const struct printer *p, const struct isa_slice_node *n)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)n->op);
    const struct isa_insn insn = { .op = n->op, .mod = n->mod };
    const uint32_t link[4] = { n->a, n->b, n->c, n->r };
    const char *comma = " ";

    lw_put(p->out, info->mnemonic);
    for (unsigned m = 0; m < ISA_MOD_COUNT && n->op != ISA_V_PLOP3; m++) {
        const struct isa_mod_info *mod = isa_mod_info((enum isa_mod)m);
        unsigned value = isa_mod_get(&insn, (enum isa_mod)m);

        if (!isa_mod_applies((enum isa_mod)m, info) || (mod->deflt != -1 && (int)value == mod->deflt))
            continue;
        for (unsigned v = 0; v < mod->value_count; v++)
            if (mod->values[v].value == value && mod->values[v].suffix[0] != 0)
                lw_printf(p->out, ".%s", mod->values[v].suffix);
    }
    for (unsigned k = 0; k < 4; k++) {
        const struct isa_slice_node *from = &p->slices->nodes[link[k]];

        if (!(isa_slice_links(n) >> k & 1) || (k == 3 && from->kind == ISA_SLICE_IMMEDIATE && from->value != 0))
            continue;
        lw_put(p->out, comma);
        put_value(p, link[k]);
        comma = ", ";
    }
    if (n->op == ISA_V_PLOP3)
        lw_printf(p->out, ", 0x%x", n->mod);
    else if (isa_op_has(info, ISA_TOK_LT))
        lw_printf(p->out, ", 0x%x", isa_insn_lut(&insn));
}

static void put_node(const struct printer *p, uint32_t number)
{
    const struct isa_slice_node *n = &p->slices->nodes[number];

    if (n->kind <= ISA_SLICE_VARIABLE || n->kind == ISA_SLICE_NOT)
        return;
    lw_printf(p->out, "    %%%u%s = ", number, n->kind != ISA_SLICE_ROW || n->part == ISA_SLICE_D ? ""
                                          : n->part == ISA_SLICE_P ? ".p" : ".q");
    switch (n->kind) {
    case ISA_SLICE_ROW: put_row(p, n); break;
    case ISA_SLICE_PAIR:
        lw_put(p->out, "pair ");
        put_value(p, n->a);
        lw_put(p->out, ", ");
        put_value(p, n->b);
        break;
    case ISA_SLICE_LOW: case ISA_SLICE_HIGH:
        lw_put(p->out, n->kind == ISA_SLICE_LOW ? "low " : "high ");
        put_value(p, n->a);
        break;
    case ISA_SLICE_SELECT:
        lw_put(p->out, "if ");
        put_value(p, n->r);
        lw_put(p->out, ": ");
        put_value(p, n->a);
        lw_put(p->out, ", else ");
        put_value(p, n->b);
        break;
    default:
        put_value(p, n->a);
        lw_put(p->out, " + iteration * ");
        put_value(p, n->b);
        lw_printf(p->out, ", loop %llu", (unsigned long long)n->value);
        break;
    }
    lw_put(p->out, "\n");
}

static void put_loop(const struct printer *p, uint32_t number)
{
    const struct isa_slice_loop *l = &p->slices->loops[number];

    lw_printf(p->out, "    loop %u at ", number);
    put_address(l->header, p->out);
    if (l->outer != UINT32_MAX)
        lw_printf(p->out, " in loop %u", l->outer);
    if (l->tested) {
        lw_printf(p->out, ": until %s", l->ends ? "" : "not ");
        put_value(p, l->test);
        lw_put(p->out, l->only ? "" : ", or earlier");
    } else {
        lw_put(p->out, ": the number of iterations is not known");
    }
    lw_put(p->out, "\n");
}

static const char *array_name(const struct printer *p, const struct isa_slice_array *a)
{
    return a->variable ? p->object->variables[a->which].name : p->function->params[a->which].name;
}

static void put_site(const struct printer *p, const struct isa_slice_site *s)
{
    lw_put(p->out, "    ");
    put_address(s->insn, p->out);
    lw_put(p->out, " ");
    put_insn(p, s->insn);
    if (s->reject != ISA_SLICE_ACCEPTED) {
        lw_printf(p->out, ": rejected, %s", isa_slice_reject_name(s->reject));
        if (s->culprit != UINT32_MAX) {
            lw_put(p->out, " by ");
            put_insn(p, s->culprit);
            lw_put(p->out, " at ");
            put_address(s->culprit, p->out);
        }
    } else {
        lw_put(p->out, ": ");
        isa_name_print(array_name(p, &p->slices->arrays[s->array]), p->out);
        lw_put(p->out, ", address ");
        put_value(p, s->node);
        for (uint32_t l = 0; l < p->slices->loop_count; l++)
            if (s->loops >> l & 1)
                lw_printf(p->out, ", loop %u%s", l, s->after >> l & 1 ? " after its test" : "");
    }
    lw_put(p->out, s->guarded ? ", guarded\n" : "\n");
}

void isa_slices_print(const struct isa_object *object, struct lw_sink *out)
{
    for (uint32_t i = 0; i < object->slice_count; i++) {
        const struct isa_slices *s = &object->slices[i];
        const struct printer p = { object, &object->functions[s->function], s, out };
        char room[ISA_SYMBOL_BYTES];
        uint32_t accepted = 0;

        for (uint32_t k = 0; k < s->site_count; k++)
            accepted += s->sites[k].reject == ISA_SLICE_ACCEPTED;
        lw_printf(out, "kernel %s: address slices for %u of %u global accesses\n",
                  isa_symbol_text(p.function->name, room), accepted, s->site_count);
        for (uint32_t k = 0; k < s->array_count; k++)
            lw_printf(out, "    array %u: %s, %u %s\n", k, array_name(&p, &s->arrays[k]), s->arrays[k].sites,
                      s->arrays[k].sites == 1 ? "site" : "sites");
        for (uint32_t k = 0; k < s->node_count; k++)
            put_node(&p, k);
        for (uint32_t k = 0; k < s->loop_count; k++)
            put_loop(&p, k);
        for (uint32_t k = 0; k < s->site_count; k++)
            put_site(&p, &s->sites[k]);
    }
}
