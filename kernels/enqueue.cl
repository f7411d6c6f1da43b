/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refines a mesh by enqueued kernels, in OpenCL C 2.0. Each work-item has a cell. If the energy of the cell is at least a
 * threshold, the work-item enqueues a kernel for the four parts of the cell. The kernels count the cells of each level and
 * add up their energies. Local memory is a parameter of the enqueued block.
 */
enum { PARTS = 4, DEEPEST = 6 };

static uint energy_of(uint seed)
{
    seed ^= seed >> 15;
    seed *= 0x2c1b3c6du;
    seed ^= seed >> 12;
    return seed * 0x297a2d39u >> 16;
}

static void refine(queue_t queue, __global uint *cells, __global uint *sums, uint seed, uint level, __local uint *part)
{
    uint rank = get_local_id(0), mine = seed * 5 + rank + 1;

    atomic_inc(&cells[level]);
    part[rank] = energy_of(mine);
    if (rank == 0) {
        uint sum = 0;

        for (uint i = 0; i < PARTS; i++) /* computes all energies, because without a barrier part[] may be incomplete */
            sum += energy_of(seed * 5 + i + 1);
        atomic_add(&sums[level], sum);
    }
    if (part[rank] < 40000 || level + 1 == DEEPEST)
        return;
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(PARTS, PARTS),
                   ^(__local void *room) { refine(get_default_queue(), cells, sums, mine, level + 1, room); },
                   PARTS * sizeof(uint));
}

__kernel void mesh(__global uint *cells, __global uint *sums, __global uint *after, __local uint *part)
{
    queue_t queue = get_default_queue();

    after[get_global_id(0)] = 1;
    refine(queue, cells, sums, get_group_id(0), 0, part);
    if (get_global_id(0) == 0) { /* the enqueued block begins when all work-items of this kernel have ended */
        const uint n = get_global_size(0);
        const size_t size[2] = {n / 8, 8}, group[2] = {8, 4};

        enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_2D(size, group), ^{
            uint at = get_global_id(1) * get_global_size(0) + get_global_id(0);

            after[n + at] = after[n - 1 - at] + at;
        });
    }
}
