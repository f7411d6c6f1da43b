# SPDX-License-Identifier: Apache-2.0
"""Trends that are known not to hold with the default sizes, and the reasons, which bench/papers/run prints after the trends. The
names of the trends are those of the specifications of the warp scheduling thesis (section 12.1), of dynamic warp resizing (dwr),
of address pre-computation (loc, section 14.2) and of dynamic parallelism (TR, section 15)."""

# Trends that do not hold in --quick runs. Such runs accept them without --known.
QUICK = ('dwr T4 size', 'dwr T4 size explicit', 'dwr T5 gain explicit', 'dwr T6 idle', 'dwr T7', 'dwr T11 bkp', 'T16 lighting', 'T18 raytrace', 'T18 radix',
         'TR-1 real', 'TR-7 bfs_citation', 'TR-7 sssp_citation', 'TR-7 clr_citation', 'TR-7 amr', 'TR-11 IPC', 'TR-12 amr', 'TR-15 saturated')
KNOWN = {
    'T1 hill': 'The best limit is 6. The rows of a warp are consecutive and fill 34 lines, so that the lines of six warps still fit into the 256 lines of L1, and six warps hide more latency than four. '
               'The best limit of the source is 4.',
    'T3 bfs_large': 'Three of five loads miss with any schedule: with 131,072 nodes, the search rarely reads a line twice. The best limit and daws both gain 6 %.',
    'T4 ccws gc': 'With gto 82 % of the loads hit, and no limit gains more than 5 %. Scores are 279 on average, so that 24 of 32 warps may load: ccws throttles too few warps to have an effect.',
    'T5 schedulers': 'Of the kernels with barriers, two hit nothing in L1, and backp hits as often with all schedulers. With lrr all warps reach their loads and barriers together, so that less latency '
                     'is hidden; two_level with groups of two warps is between lrr and the others.',
    'T11 bfs_rmat': 'In an L1 of unlimited size, 55 % of the hits are to lines that another warp loaded: the levels of nodes with many edges. Optimal replacement '
                    'keeps these lines with any schedule.',
    'T12 memc': 'With all lanes counted as active, 2.6 warps may load instead of 10.0. This hides less latency, but saves a third of the misses: with the active '
                'lanes, daws admits too many warps on this kernel. A kAssocFactor of 0.4 is also faster than 0.6.',
    'T17': 'On gc, ccws throttles too few warps to have an effect (T4 ccws gc): the memory system takes as much energy as with gto, 6 % more than with daws.',
    'T10 daws': 'The tuned kernel uses 91 % of the bus. Two warps on each core, for which L1 has enough lines, use 53 %: a fifth of the issue slots have no warp, as '
                '64 blocks cannot be distributed evenly to 30 cores, and in a third the warps wait for the load/store unit. A static limit of 2 warps is as slow.',
    'T10 counts': 'The number of writes is as in the source. The tuned kernel executes 107 instructions for each row: each of its five steps of reduction has a branch, '
                  'a barrier of the warp and address arithmetic.',
    'T10 spread': 'On the tuned kernel, lrr is 3 % slower; the other schedulers are equally fast.',
    'dwr T4 size': 'A block has two warps of 8: before each load, a barrier takes 24 cycles, which few warps hide. With dwr.latency 0, the loss is 5 % and not 10 %.',
    'dwr T4 size explicit': 'The reason is that of dwr T4 size; in addition, each barrier takes an issue slot.',
    'dwr T5 gain explicit': 'Barriers take issue slots: there is one for each load and store, which are three of ten instructions of mtm.',
    'dwr T6 idle': 'A wide warp holds the scheduler for all of its lanes, also where few of them are active or exist, and such cycles are not idle: nnc with warps of 64 '
                   'has 4 % idle cycles, but half the speed. DWR-64 has the fewest idle cycles, though not the smallest share of them.',
    'dwr T7': 'The size of L1 has little effect: bkp, cp and nnc read their data once, each table of mu has 256 KB, and the tiles of mtm are in shared memory. The gain of DWR is 12 % with each size.',
    'dwr T11 bkp': 'The bus limits bkp, so that the latency of a barrier changes its speed by at most 2 %.',
    'T16 lighting': 'An L0 of 256 bytes has room for 32 instructions, and the sixteen paths of this kernel have four times as many: 36 % of the fetches of single warps miss L0. '
                    'With an L0 of 1 KB, IPC is 99 % of that with 8 ports; with 4 ports, no L0 is needed.',
    'T18 raytrace': 'Each quad of rays has a path of its own, so that a warp of eight lanes nearly always has two paths: base width 8 reaches 46 % of the gain of base width 4.',
    'T18 radix': 'With base width 8, the kernel makes the same accesses in other cycles. L1 has 2 % fewer misses, but the kernel takes 1.1 % more cycles.',
    'loc R6 la_bw srad': 'la_bw is as fast as la_b: most of the warps that share lines are of two blocks. 30 % of the issue slots wait for the load/store unit, which serves '
                         'these warps in any order.',
    'loc R11': 'The sizes of the vectors change the IPC by at most 7 %, in no order. With larger vectors fewer pairs of warps share a bit: with 10+16 bits, 77 % of the promotions on hs, 70 % on srad '
               'and 84 % on lud are of warps without locality, with 4+4 bits 11, 7 and 16 %. la_w then issues in the order of age. Exact lines give 30 % of such promotions on hs, and warps wait 6 % longer at barriers. '
               'On sift, 4+4 bits have 9 % fewer misses of L1 than 10+16 bits.',
    'loc R13 hs': 'A block of these kernels runs for several thousand cycles, and 30 blocks are on the cores, so that a block is placed every 170 cycles: a dispatch processor that takes 215 cycles '
                  'for each decision is the bottleneck. The source has 15 cores, and longer blocks.',
    'loc R13 tran': 'The reason is that of loc R13 hs: a block is placed every 86 cycles.',
    'loc R13 nn': 'The reason is that of loc R13 hs: a block is placed every 83 cycles.',
    'TR-1 real': 'The 26 launches are for vertices with hundreds of edges: one thread takes as long for such a vertex as a launch of a kernel takes.',
    'TR-2': 'A core has 32 vertices (source: 80,000), so that no other warps hide the latencies. Without the latency of parameter buffers, DTBL has 0.95 times the speed of the flat form, without that of '
            'launches 0.90 times, and without both 1.42 times. With 640 vertices on one core the trend holds: 1.00 for DTBL, 0.90 for CDP.',
    'TR-18': 'The reason is that of TR-2: the cores have free resources, so that a child starts as soon as it is launched. With 1,920 vertices on one core, launches of the first round wait '
             '0.999 times (CDP) and 0.986 times (DTBL) as long as without latencies.',
    'TR-4 real': 'In the flat form, 128 strings are four warps. With 2,048 strings on one core, DTBL has 1.04 times the speed of the flat form; but then DTBLI has only 1.03 times its speed, and '
                 'TR-4 ideal does not hold. The children are too large: a launch brings 26,000 cycles of warps, so that latencies cost 14 %. In an automaton whose launches bring 8,600 cycles, DTBLI is 3.2 times as fast as DTBL (source: 3.3).',
    'TR-5': 'The latency of streams and launches makes the run of CDP longer: without it, the ratio is 1.004. With inputs of four times the size it is 0.966, because the parents of CDP occupy '
            'warp slots while they wait for their launches, and because DTBL reads records of groups (dtbl.spill) before it places their blocks. Without both times, it is 0.997.',
    'TR-7 amr': 'In the flat form, all threads of a level do the same: 95 % of the lanes are active.',
    'TR-7 regx_packets': 'A launched block has 32 lanes for 16 to 32 transitions, and each transition continues on a path of its own.',
    'TR-7 bht': 'A node has 16 children, so that half of the lanes of a launched warp have no work.',
    'TR-7 bfs_citation': 'The CDP form creates streams and thus executes three more instructions at the start of each thread, with all lanes active, so that its warp activity is higher.',
    'TR-7 bfs_cage': 'The CDP form creates streams and thus executes three more instructions at the start of each thread, with all lanes active, so that its warp activity is higher.',
    'TR-7 sssp_citation': 'The CDP form creates streams and thus executes three more instructions at the start of each thread, with all lanes active, so that its warp activity is higher.',
    'TR-7 sssp_cage': 'The CDP form creates streams and thus executes three more instructions at the start of each thread, with all lanes active, so that its warp activity is higher.',
    'TR-7 clr_citation': 'The CDP form creates streams and thus executes three more instructions at the start of each thread, with all lanes active, so that its warp activity is higher.',
    'TR-11 IPC': 'Parents access 52 % of the lines of their children (source: 38 %), but on each core other blocks access most of these lines, too, so that a child finds them on any core: even with an L1 of 1 MB, '
                 'SMX-Bind has only 2 percentage points more hits of L1 than RR. Neither launches without latency nor inputs of four times the size change the gain by more than 2 %.',
    'TR-12 amr': 'Children share nothing with their parents except the two counters of a level. The counters stay in L2 more often, so that 1 % more of the accesses hit.',
    'TR-15 saturated': 'On clr_graph500, rounds are short. A round begins while cores are diverted, and they come back one at a sample: four rounds of 1,280 vertices take 64 % longer, one round 2 %, and four rounds of '
                       '5,120 vertices 0 %. The source has a million vertices. The other codes have small inputs: with inputs of four times the size on 2 cores, bubbles are 1.3 % of their time, and 0.3 % of the energy is saved.',
}
# Trends that hold with the default sizes, but not in --quick runs, whose inputs are smaller
QUICK_ONLY = {
    'loc R4': 'With images of .8 of the size, the gains of la_b differ by 0.5 %.',
    'loc R14 order': 'The mean IPCs of la_bw and la_b differ by 0.1 %. What la_w gains on some kernels, it loses on others.',
}
