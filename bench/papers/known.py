# SPDX-License-Identifier: Apache-2.0
"""Trends of the specification, 12.1, that do not come out with the default sizes, and why (loc: of address pre-computation, 14.2; TR: of dynamic parallelism, 15). A sentence each, for the reader of the claim."""

# The same in --quick runs, which accept them without --known.
QUICK = ('dwr T4 size', 'dwr T4 size explicit', 'dwr T5 gain explicit', 'dwr T6 idle', 'dwr T7', 'dwr T11 bkp', 'T16 lighting', 'T18 raytrace', 'T18 radix', 'loc R14 order',
         'TR-1 real', 'TR-7 bfs_citation', 'TR-7 sssp_citation', 'TR-7 clr_citation', 'TR-7 amr', 'TR-11 IPC', 'TR-12 amr', 'TR-15 saturated')
KNOWN = {
    'T1 hill': 'The rows of a warp follow each other: 34 lines. Six warps still fit 256 lines, and hide more latency than four. The source has 4.',
    'T3 bfs_large': 'Three of five loads miss whatever the schedule: of 131,072 nodes it rarely meets a line twice. The best limit gains 6 %, daws 5 %.',
    'T4 ccws gc': 'gto hits 82 % of the loads, and no limit gains more than 5 %. Scores are 279 on average: 24 of 32 warps may load, which is too many to matter.',
    'T5 schedulers': 'Of the kernels with barriers two hit nothing in L1 and backp as much with all schedulers. With lrr all warps reach their loads and barriers together, so that less latency '
                     'is hidden; groups of two warps are in between.',
    'T11 bfs_rmat': 'Of the hits that an L1 without bounds has, 55 % are on lines that another warp brought: levels of nodes with many edges. The best replacement '
                    'keeps these whatever the schedule.',
    'T12 memc': 'Taking all lanes as active lets 2.6 warps load in place of 10.0, which costs latency and saves a third of the misses: with the active lanes daws '
                'admits too many here, as kAssocFactor 0.4, which is faster than 0.6, says, too.',
    'T10 daws': 'The tuned kernel uses 91 % of the bus. Two warps a core, which is what L1 has lines for, use 53 %: a fifth of the issue slots have no warp, as '
                '64 blocks do not divide among 30 cores, and a third wait for the load unit. The limit of 2 is as slow.',
    'T10 counts': 'Writes are as the source has them. The tuned kernel has 107 instructions a row: its five steps of reduction are a branch, a barrier of the warp and '
                  'address arithmetic each.',
    'T10 spread': 'lrr is 3 % slower on the tuned kernel; the others are equal.',
    'dwr T4 size': 'Blocks of two warps of 8: a barrier takes 24 cycles before each load, with few warps to hide them. With dwr.latency 0 the loss is 5 %, not 10.',
    'dwr T4 size explicit': 'As T4 size; each barrier takes an issue slot, too.',
    'dwr T5 gain explicit': 'Barriers take issue slots: one for each load and store, of which its tiles have three in ten instructions.',
    'dwr T6 idle': 'A wide warp of a divided kernel, or of a small block, holds the scheduler for all its lanes, and such cycles are not idle: nnc with warps of 64 has '
                   '4 % idle cycles and half the speed. In idle cycles, not in shares, DWR-64 has least.',
    'dwr T7': 'L1 matters little: bkp, cp and nnc read their data once, a table of mu has 256 KB, and the tiles of mtm are in shared memory. The gap is 12 % with each size.',
    'dwr T11 bkp': 'bkp is bound by the bus, so that the latency of a barrier matters by 2 % at most, either way.',
    'T16 lighting': 'An L0 of 256 bytes has 32 instructions, and the sixteen paths of this kernel take four times as many: 36 % of the fetches of single warps miss it. '
                    'With 1 KB IPC is 97 % of that with 8 ports; 4 ports need no L0.',
    'T18 raytrace': 'Each quad of rays has a way of its own, so a warp of eight lanes has two ways nearly always: 46 % of the gain.',
    'T18 radix': 'It makes the same accesses in other cycles, and takes 1.1 % more of them; L1 misses 2 % less.',
    'loc R6 la_bw srad': 'la_w is 0.5 % slower here: of the warps that share lines most are of two blocks, and the load/store unit, which 30 % of the slots wait for, serves '
                         'them in any order.',
    'loc R14 order': 'la_bw is as la_b, 1.236 and 1.237. What la_w gains on hs, lud and gaussian (1 to 3 %) it loses on bp, tran and conv, whose active warps are too few for the '
                     'latency of memory: of 48 warps 24 may issue.',
    'loc R13 hs': 'A block of these kernels runs some thousand cycles, and 30 of them are on the cores, so that one is placed every 170 cycles: a processor that takes 215 for '
                  'each decision is the bottleneck. The source has 15 cores, and blocks that are not short.',
    'loc R13 tran': 'The same: a block is placed every 86 cycles.',
    'loc R13 nn': 'The same: a block is placed every 83 cycles.',
    'TR-1 real': 'The 26 launches are vertices with hundreds of edges: one thread takes as long for them as the launch of a kernel.',
    'TR-2': 'The graph of the source has a million vertices and fills the cores; this one has three blocks, so that nothing hides the 8,000 cycles of a warp for its parameter buffers.',
    'TR-18': 'The same as TR-2: the cores have room, so that a child begins as soon as it is launched.',
    'TR-4 real': '128 strings are four warps when flat, whose threads walk thousands of transitions each: launches pay. In the source strings fill the cores.',
    'TR-5': 'The run is as long as its 68 launches take, which as kernels are 1,592 cycles for each lane.',
    'TR-7 amr': 'Flat threads of a level all do the same: 95 % of the lanes are active.',
    'TR-7 regx_packets': 'A block has 32 lanes for 16 to 32 transitions, of which each goes on alone.',
    'TR-7 bht': 'A node has 16 children: half of the lanes of a launched warp have none.',
    'TR-7 bfs_citation': 'The form with streams has three more instructions at the start of each thread, with all lanes.',
    'TR-7 bfs_cage': 'The form with streams has three more instructions at the start of each thread, with all lanes.',
    'TR-7 sssp_citation': 'The form with streams has three more instructions at the start of each thread, with all lanes.',
    'TR-7 sssp_cage': 'The form with streams has three more instructions at the start of each thread, with all lanes.',
    'TR-7 clr_citation': 'The form with streams has three more instructions at the start of each thread, with all lanes.',
    'TR-11 IPC': 'All parents are on the cores when children come, so that priorities decide nothing; where they are not (--cores 2 --size 2) children that go first '
                 'hold the launches of later parents up. A parent reads two words that its children need, in the source 38 % of what they touch.',
    'TR-12 amr': 'Children share nothing with their parents but the two counters of a level, which stay in L2 for 1 % more of the accesses.',
    'TR-15 saturated': 'These inputs are small: clr_graph500 has three blocks, which do not fill the cores as the graph of a million vertices of the source does, and the last blocks of '
                       'join_uniform run alone. Bubbles are 36 % of the time of cores, in the source 4 %.',
}
