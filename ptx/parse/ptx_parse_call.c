/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the operands of a call into results, target and arguments. */
#include "ptx/ptx_priv.h"

void ptx_call_split(const struct ptx_module *module, const struct ptx_insn *in,
                       struct ptx_call_parts *out)
{
    *out = (struct ptx_call_parts){ 0 };
    for (unsigned k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operand[k];

        if (o->kind == PTX_O_LIST && out->target == NULL) {
            out->results = o->element;
            out->result_count = o->count;
        } else if (o->kind == PTX_O_LIST) {
            out->args = o->element;
            out->arg_count = o->count;
        } else if (out->target == NULL) {
            out->target = o;
        }
    }
    if (out->target != NULL && out->target->kind == PTX_O_SYMBOL)
        out->callee = &module->symbols.at[out->target->symbol];
    if (out->callee != NULL && out->callee->kind != PTX_SYM_FUNCTION)
        out->callee = NULL;
    if (out->callee != NULL)
        out->function = &module->functions.at[out->callee->function];
}

const struct ptx_symbol *ptx_callee(const struct ptx_module *module, const struct ptx_insn *in)
{
    struct ptx_call_parts call;

    ptx_call_split(module, in, &call);
    return call.callee;
}
