/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the function's stack frame (docs/reference/abi.md) after register allocation, which determines the size of the
 * frame and the registers that the function must preserve. The prologue replaces the instruction that ptx_select()
 * marked; an epilogue precedes every return. Offsets relative to the CFA become offsets from v2. */
#include "ptx/ptx_priv.h"

struct frame {
    struct ptx_unit *unit;
    PTX_LIST(struct ptx_mi) code;
    uint32_t bytes;
    bool saves_link;
    uint32_t save_at;      /* offset of the first saved register */
    unsigned saves;        /* number of pieces; each has 1, 2 or 4 saved registers */
    uint8_t piece_row[ISA_VREG_COUNT], piece_rows[ISA_VREG_COUNT];
    ptx_ref row[ISA_VREG_COUNT]; /* by vector register: a virtual register that is assigned to the vector register, or 0
                                  * before it is created */
};

static struct ptx_mi *put(struct frame *f, enum isa_op op, const struct ptx_mi *like)
{
    struct ptx_mi *mi = PTX_PUSH(f->unit->job, f->code);

    ptx_mi_init(mi, op, like->loc, like->line);
    mi->flags = PTX_MI_SPILL;
    return mi;
}

/* Returns a virtual register that is assigned to @rows vector registers from @row on. Register allocation has already run,
 * so this function assigns the register. */
static ptx_ref in_row(struct frame *f, unsigned row, unsigned rows)
{
    struct ptx_unit *unit = f->unit;
    struct ptx_vreg *v;

    if (f->row[row] != 0)
        return f->row[row];
    v = ptx_vreg_new(unit, rows);
    v->fixed = (uint16_t)(row + 1);
    size_t n = unit->vregs.count;
    uint16_t *assigned = PTX_ARRAY(unit->job, uint16_t, n + 1);

    memcpy(assigned, unit->assigned, (n - 1) * sizeof *assigned);
    assigned[n - 1] = (uint16_t)row;
    unit->assigned = assigned;
    f->row[row] = ptx_ref_of((uint32_t)(n - 1), 0);
    return f->row[row];
}

static void move_local(struct frame *f, bool store, ptx_ref ref, unsigned rows, uint32_t offset,
                       const struct ptx_mi *like)
{
    struct ptx_mi *mi = put(f, store ? ISA_ST_LOCAL : ISA_LD_LOCAL, like);

    mi->ref[PTX_S_A] = f->unit->stack;
    mi->ref[store ? PTX_S_X : PTX_S_D] = ref;
    mi->rows[PTX_S_A] = 1;
    mi->rows[PTX_S_X] = mi->rows[PTX_S_D] = (uint8_t)rows;
    mi->in.x = offset << 8;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_32);
    isa_mod_set(&mi->in, ISA_MOD_SIZE,
                rows == 1 ? ISA_SIZE_B32 : rows == 2 ? ISA_SIZE_B64 : ISA_SIZE_V4B32);
}

static void add_to_stack(struct frame *f, uint32_t bytes, const struct ptx_mi *like)
{
    struct ptx_mi *mi = put(f, ISA_V_ADD_U32, like);

    mi->ref[PTX_S_D] = mi->ref[PTX_S_A] = f->unit->stack;
    memset(mi->rows, 1, sizeof mi->rows);
    mi->in.xkind = ISA_X_IMM;
    mi->in.x = bytes;
}

static void move_saved(struct frame *f, bool store, const struct ptx_mi *like)
{
    uint32_t at = f->save_at;

    if (f->saves_link)
        move_local(f, store, f->unit->link, 2, f->bytes - 8, like);
    for (unsigned i = 0; i < f->saves; i++) {
        unsigned rows = f->piece_rows[i];

        move_local(f, store, in_row(f, f->piece_row[i], rows), rows, at, like);
        at += 16; /* each piece gets 16 bytes, so that all pieces are aligned */
    }
}

static void prologue(struct frame *f, const struct ptx_mi *like)
{
    if (f->unit->function->kernel) {
        struct ptx_mi *mi = put(f, ISA_V_MOV_B32, like);

        mi->ref[PTX_S_D] = f->unit->stack;
        memset(mi->rows, 1, sizeof mi->rows);
        mi->in.xkind = ISA_X_IMM;
        mi->in.x = f->unit->frame_base;
        return;
    }
    if (f->bytes == 0)
        return;
    add_to_stack(f, 0 - f->bytes, like);
    move_saved(f, true, like);
}

static void epilogue(struct frame *f, const struct ptx_mi *like)
{
    if (f->bytes == 0)
        return;
    move_saved(f, false, like);
    add_to_stack(f, f->bytes, like);
}

/* Finds the registers that the function must preserve, and divides them into aligned pieces of at most four. */
static void find_saved(struct frame *f)
{
    const struct ptx_unit *unit = f->unit;
    bool used[ISA_VREG_COUNT + 4] = { false };

    if (unit->function->kernel)
        return;
    for (size_t v = 0; v < unit->vregs.count; v++) {
        for (unsigned k = 0; unit->assigned[v] != 0xffff && k < unit->vregs.at[v].rows; k++)
            used[unit->assigned[v] + k] = true;
    }
    for (unsigned r = PTX_FIRST_SAVED; r < ISA_VREG_COUNT;) {
        unsigned rows = r % 4 == 0 && used[r + 1] && used[r + 2] && used[r + 3] ? 4
                        : r % 2 == 0 && used[r + 1]                             ? 2
                                                                                : 1;

        if (!used[r]) {
            r++;
            continue;
        }
        f->piece_row[f->saves] = (uint8_t)r;
        f->piece_rows[f->saves++] = (uint8_t)rows;
        r += rows;
    }
}

static void find_size(struct frame *f)
{
    struct ptx_unit *unit = f->unit;
    uint32_t align = unit->module->frame_align;
    uint64_t bytes = ((uint64_t)(unit->local_bytes - unit->frame_base) + 15) & ~UINT64_C(15);

    f->save_at = (uint32_t)bytes;
    bytes += 16 * (uint64_t)f->saves;
    f->saves_link = !unit->function->kernel && unit->function->calls.any;
    if (f->saves_link)
        bytes += 8;
    bytes = (bytes + align - 1) & ~(uint64_t)(align - 1);
    if (bytes > 1u << 22)
        ptx_fail(unit->job, unit->function->line, LW_EUNSUPP,
                 "'%s' needs more than 4 MiB of local memory", unit->function->name);
    f->bytes = (uint32_t)bytes;
}

void ptx_frame(struct ptx_unit *unit)
{
    struct frame *f;

    if (!unit->framed)
        return;
    f = PTX_NEW(unit->job, struct frame);
    f->unit = unit;
    find_saved(f);
    find_size(f);
    unit->function->calls.tree.frame_bytes = f->bytes;
    for (size_t k = 0; k < unit->blocks.count; k++) {
        struct ptx_block *b = &unit->blocks.at[k];
        uint32_t first = (uint32_t)f->code.count;

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            struct ptx_mi mi = unit->code.at[i];

            if (mi.flags & PTX_MI_PROLOGUE) {
                prologue(f, &mi);
                continue;
            }
            if (mi.in.op == ISA_RET)
                epilogue(f, &mi);
            if (mi.flags & PTX_MI_CFA)
                mi.in.x += f->bytes << 8;
            *PTX_PUSH(unit->job, f->code) = mi;
        }
        b->first = first;
        b->count = (uint32_t)f->code.count - first;
    }
    unit->code.at = f->code.at;
    unit->code.count = f->code.count;
    unit->code.capacity = f->code.capacity;
}
