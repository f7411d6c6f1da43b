/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc and free of kernels. Each object that malloc returns is an allocation of the machine, so that accesses to each byte of
 * it are checked, and use after free is detected. The lanes of a malloc or free are served in ascending order.
 */
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"

static uint64_t operand(const struct emu_warp *w, const struct emu_dinsn *di, unsigned lane)
{
    return di->ukind == EMU_U_ROW ? emu_lane_pair(w, di->b, lane) : emu_uniform64(w, di);
}

void emu_heap_limit(struct emu_machine *machine, uint32_t bytes)
{
    const uint64_t used = machine->memory.heap_used;

    machine->config.heap_bytes = bytes > used ? bytes : (unsigned)used;
}

uint64_t emu_heap_used(const struct emu_machine *machine)
{
    return machine->memory.heap_used;
}

void emu_stack_advise(struct emu_machine *machine, const char *advice)
{
    machine->stack_advice = advice;
}

void emu_c_malloc(struct emu_warp *w, const struct emu_dinsn *di)
{
    struct emu_machine *machine = w->core->machine;

    for (LW_EACH_BIT(l, w->e & emu_guard(w, di))) {
        uint64_t bytes = operand(w, di, (unsigned)l), address = 0;
        uint64_t left = machine->config.heap_bytes - machine->memory.heap_used;

        /* A size that would overflow when it is rounded up is refused. The result 0 means that there is no memory, as in C. */
        if (bytes == 0 || bytes > left || emu_heap_charge(bytes) > left ||
            emu_memory_alloc(machine, bytes, "malloc", EMU_ALLOC_HEAP, &address, NULL) != LW_OK)
            address = 0;
        emu_lane_pair_put(w, di, (unsigned)l, address);
    }
    EMU_GO(w, di + 1);
}

/** Returns a clause for the message of a fault that states why @address cannot be freed, or NULL if it can be freed. */
static const char *refusal(const struct emu_machine *machine, uint64_t address)
{
    struct emu_allocation a;
    bool inside;

    if (!emu_allocation_at(machine, address, &a, &inside) || !inside ||
        !(a.flags & EMU_ALLOC_HEAP))
        return "malloc did not return this address";
    if (a.flags & EMU_ALLOC_FREED)
        return "this memory was freed before";
    return a.address != address ? "the address is not the start of the memory that malloc returned" : NULL;
}

void emu_c_free(struct emu_warp *w, const struct emu_dinsn *di)
{
    struct emu_machine *machine = w->core->machine;
    const uint64_t on = w->e & emu_guard(w, di);
    const char *why = "";
    uint64_t bad = 0;

    /* all lanes are checked before any memory is freed, because a fault must not change anything */
    for (LW_EACH_BIT(l, on)) {
        uint64_t address = operand(w, di, (unsigned)l);
        const char *no = address != 0 ? refusal(machine, address) : NULL;

        for (LW_EACH_BIT(k, on & lw_mask((unsigned)l)))
            if (address != 0 && no == NULL && operand(w, di, (unsigned)k) == address)
                no = "another lane frees the same address in this instruction";
        if (no != NULL && bad == 0)
            why = no;
        bad |= (uint64_t)(no != NULL) << l;
    }
    if (bad != 0) {
        uint64_t address = operand(w, di, lw_lowest(bad));

        emu_raise(w, di, EMU_FAULT_FREE, bad, "lane %u frees 0x%llx: %s", lw_lowest(bad), (unsigned long long)address, why);
        w->fault.address = address;
        return;
    }
    for (LW_EACH_BIT(l, on)) {
        uint64_t address = operand(w, di, (unsigned)l);

        if (address != 0)
            (void)!emu_memory_free(machine, address, NULL);
    }
    EMU_GO(w, di + 1);
}
