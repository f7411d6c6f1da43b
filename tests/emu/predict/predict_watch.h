/* SPDX-License-Identifier: Apache-2.0 */
/* An observer that compares the address of each access of an accepted site with the address that the site's address slice
 * gives. */
#ifndef PREDICT_WATCH_H
#define PREDICT_WATCH_H

#include "emu/lane/emu_predict_priv.h"
#include "isa/isa_priv.h"

struct predict_counts {
    uint64_t sites[ISA_SLICE_REJECT_COUNT]; /* number of sites in the kernels that ran, by reason of rejection */
    uint64_t affine_sites; /* number of accepted sites that are affine in a launch */
    uint64_t accesses;     /* number of accesses by lanes at all sites */
    /* number of accesses by lanes at accepted sites, with the affine sum, and with tags */
    uint64_t compared, affine, tagged;
    uint64_t different;
};
void predict_counts_add(struct predict_counts *into, const struct predict_counts *more);
void predict_counts_print(const char *name, const struct predict_counts *counts);

struct predict_grid;
struct predict_watch {
    struct emu_observer observer;
    const char *name;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct predict_counts counts;
    struct lw_table warps; /* table of struct predict_warp */
    struct predict_grid *grids;
    const struct isa_object *counted[64]; /* kernels whose sites have been counted */
    const struct isa_function *kernel[64];
    unsigned kernels;
};
/** Begin to inspect each instruction of @engine. */
void predict_watch_begin(struct predict_watch *watch, struct emu_machine *machine, struct emu_engine *engine);
void predict_watch_end(struct predict_watch *watch);

#endif
