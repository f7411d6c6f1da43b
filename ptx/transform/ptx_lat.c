/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LAT barriers: with --lat-barriers each load and store of global or local memory, or by a generic address, has a
 * bar.synch_partner right before it, at which the partners of dynamic warp resizing wait for each other. Other accesses have no
 * such barrier: atomics, accesses to shared and constant memory, textures, loads of the scalar unit.
 *
 * The unit's code has one instruction for the barrier and its access, and ptx_emit() emits both. So no instruction comes
 * between them, and branches to the access lead to the barrier. The barrier has no guard. Source: A. Lashgar, A. Baniasadi,
 * A. Khonsari, "Dynamic Warp Resizing in High-Performance SIMT", IV.A and listing 1.
 */
#include "ptx/ptx_priv.h"

bool ptx_has_lat_barrier(const struct ptx_unit *unit, const struct ptx_mi *mi)
{
    const struct ptx_options *options = unit->job->options;

    if (options == NULL || !options->lat_barriers)
        return false;
    switch (mi->in.op) {
    case ISA_LD_GLOBAL:
        return isa_mod_get(&mi->in, ISA_MOD_CONSTANT) != ISA_CONSTANT_ON;
    case ISA_LD_LOCAL:
    case ISA_LD_GENERIC:
    case ISA_ST_GLOBAL:
    case ISA_ST_LOCAL:
    case ISA_ST_GENERIC:
        return true;
    default:
        return false;
    }
}
