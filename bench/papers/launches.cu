/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of bench/papers/run dtbl, laperm and power: codes that find work while they run, each in four forms. flat: a thread
 * does all of its work itself. cdp, dtbl: a thread with much work launches a kernel (cdp) or a block group (dtbl) for it. pt:
 * persistent warps take items of work from a counter until none is left. launches.py computes inputs and expected results. */

enum { FLAT, CDP, DTBL };
enum { BLOCK = 32 }; /* threads of each block that the device launches */

/** Launches @F as a block group if @FORM is DTBL, otherwise as a kernel in a new stream. */
template <int FORM, auto *F, typename... A> __device__ void start(unsigned blocks, unsigned threads, A... args)
{
    if constexpr (FORM == DTBL) {
        lanewise::launch_group<F>(blocks, threads)(args...);
    } else {
        cudaStream_t stream;

        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        lanewise::launch<F>(blocks, threads, 0, stream)(args...);
    }
}

/* ---- items with ranges ---------------------------------------------------------------------------
 * Each code is a struct: range() returns the range of an item's elements, and element() processes one element. */

template <typename C> __global__ void elements(C code, int item, int first, int last, int more)
{
    int e = first + (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (e < last)
        code.element(item, e, more);
}

template <int FORM, typename C> __device__ void per_item(C code, int n, int many)
{
    int item = (int)(blockIdx.x * blockDim.x + threadIdx.x), first = 0, last = 0, more = 0;

    if (item >= n)
        return;
    code.range(item, first, last, more);
    if (FORM != FLAT && last - first >= many) {
        start<FORM, elements<C>>((unsigned)(last - first + BLOCK - 1) / BLOCK, BLOCK, code, item, first, last, more);
        return;
    }
#pragma unroll 1
    for (int e = first; e < last; e++)
        code.element(item, e, more);
}

/** Persistent warps: a warp takes 32 items. Each lane processes one short item; all lanes together process each long item. */
template <typename C> __device__ void persistent(C code, int n, int many, unsigned *next)
{
    int lane = (int)(threadIdx.x & 31);

    for (;;) {
        unsigned base = 0;
        int first = 0, last = 0, more = 0, item;

        if (lane == 0)
            base = atomicAdd(next, 32u);
        item = (int)__shfl_sync(~0u, base, 0) + lane;
        if (item - lane >= n)
            return;
        if (item < n)
            code.range(item, first, last, more);
        unsigned longer = __ballot_sync(~0u, last - first >= many);
        if (last - first < many)
#pragma unroll 1
            for (int e = first; e < last; e++)
                code.element(item, e, more);
        __syncwarp();
        while (longer != 0) {
            int source = __ffs((int)longer) - 1, begin = __shfl_sync(~0u, first, source), end = __shfl_sync(~0u, last, source);
            int its = __shfl_sync(~0u, more, source);

            longer &= longer - 1;
#pragma unroll 1
            for (int e = begin + lane; e < end; e += 32)
                code.element(item - lane + source, e, its);
            __syncwarp();
        }
    }
}

#define PER_ITEM(NAME, TYPE, ARGS, ...)                                                                                         \
    extern "C" __global__ void NAME##_flat(UNPACK ARGS, int n, int many, unsigned *) { per_item<FLAT>(TYPE{__VA_ARGS__}, n, many); } \
    extern "C" __global__ void NAME##_cdp(UNPACK ARGS, int n, int many, unsigned *) { per_item<CDP>(TYPE{__VA_ARGS__}, n, many); }   \
    extern "C" __global__ void NAME##_dtbl(UNPACK ARGS, int n, int many, unsigned *) { per_item<DTBL>(TYPE{__VA_ARGS__}, n, many); } \
    extern "C" __global__ void NAME##_pt(UNPACK ARGS, int n, int many, unsigned *next) { persistent(TYPE{__VA_ARGS__}, n, many, next); }
#define UNPACK(...) __VA_ARGS__

/* bfs: the host launches one kernel for each level. An element is an edge. */
struct bfs_code {
    const int *row, *column;
    int *level, *changed, current;

    __device__ void range(int v, int &first, int &last, int &) const
    {
        if (level[v] != current)
            return;
        first = row[v];
        last = row[v + 1];
    }
    __device__ void element(int, int e, int) const
    {
        int w = column[e];

        if (level[w] < 0) {
            level[w] = current + 1;
            *changed = 1;
        }
    }
};
PER_ITEM(bfs, bfs_code, (const int *row, const int *column, int *level, int *changed, int current), row, column, level, changed, current)

/* sssp: the host launches one kernel for each round, which processes the vertices whose distance the last round shortened. */
struct sssp_code {
    const int *row, *column, *weight;
    int *distance, *touched, *changed, round;

    __device__ void range(int v, int &first, int &last, int &more) const
    {
        if (touched[v] != round)
            return;
        more = distance[v];
        first = row[v];
        last = row[v + 1];
    }
    __device__ void element(int, int e, int from) const
    {
        int w = column[e], d = from + weight[e];

        if (d < distance[w] && d < atomicMin(&distance[w], d)) {
            touched[w] = round + 1;
            *changed = 1;
        }
    }
};
PER_ITEM(sssp, sssp_code, (const int *row, const int *column, const int *weight, int *distance, int *touched, int *changed, int round),
         row, column, weight, distance, touched, changed, round)

/* clr: a vertex takes the colour of the round unless a neighbour without a colour has a larger rank. */
struct clr_code {
    const int *row, *column, *rank, *colour;
    int *held, round;

    __device__ void range(int v, int &first, int &last, int &more) const
    {
        if (colour[v] >= 0)
            return;
        more = rank[v];
        first = row[v];
        last = row[v + 1];
    }
    __device__ void element(int v, int e, int mine) const
    {
        int w = column[e];

        if (colour[w] < 0 && rank[w] > mine)
            held[v] = round;
    }
};
PER_ITEM(clr, clr_code, (const int *row, const int *column, const int *rank, const int *colour, int *held, int round),
         row, column, rank, colour, held, round)

extern "C" __global__ void clr_take(int *colour, const int *held, int *changed, int round, int n)
{
    int v = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (v >= n || colour[v] >= 0)
        return;
    if (held[v] == round)
        *changed = 1;
    else
        colour[v] = round;
}

/* join: finds for each element of one relation the matches in the other relation, which is sorted. */
struct join_code {
    const int *left, *right, *payload, *place;
    int *out, matches;

    __device__ int below(int key) const
    {
        int low = 0, high = matches;

        while (low < high) {
            int middle = (low + high) / 2;

            if (right[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    __device__ void range(int i, int &first, int &last, int &more) const
    {
        first = below(left[i]);
        last = below(left[i] + 1);
        more = place[i] - first;
    }
    __device__ void element(int i, int e, int to) const { out[to + e] = payload[e] * 3 + i; }
};
PER_ITEM(join, join_code, (const int *left, const int *right, const int *payload, const int *place, int *out, int matches),
         left, right, payload, place, out, matches)

/* pre: counts, over all customers, how often each ordered pair of things was bought by one customer. */
struct pre_code {
    const int *row, *thing;
    int *together, things;

    __device__ void range(int c, int &first, int &last, int &more) const
    {
        int p = row[c + 1] - row[c];

        more = p;
        last = p * (p - 1);
    }
    __device__ void element(int c, int e, int p) const
    {
        int i = e / (p - 1), j = e % (p - 1);

        j += j >= i;
        atomicAdd(&together[thing[row[c] + i] * things + thing[row[c] + j]], 1);
    }
};
PER_ITEM(pre, pre_code, (const int *row, const int *thing, int *together, int things), row, thing, together, things)

/* ---- amr: cells that refine themselves ----------------------------------------------------------- */

enum { PARTS = 32 };

__device__ unsigned mixed(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/** Returns part @i of a cell, a hash of @cell and @i in @steps steps that depend on each other. */
__device__ unsigned part_of(unsigned cell, unsigned i, int steps)
{
    unsigned x = cell * 33 + i;

#pragma unroll 1
    for (int s = 0; s < steps; s++)
        x = mixed(x + (unsigned)s);
    return x;
}

__device__ bool is_hot(unsigned cell, int level, unsigned threshold)
{
    return (cell & 0xffff) < threshold >> level;
}

/** Returns the sum of a warp's values in lane 0. */
__device__ unsigned warp_sum(unsigned value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    return value;
}

/** Adds the number of a warp's cells and the sum of their heat (low 8 bits) to the counters of @level. */
__device__ void count_cells(int *cells, unsigned *heat, unsigned cell, int level)
{
    unsigned sum = warp_sum(cell & 0xff);

    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&cells[level], PARTS);
        atomicAdd(&heat[level], sum);
    }
}

/** The host launches one kernel for each level. @list contains the cells to refine. Their hot parts are appended to @further. */
extern "C" __global__ void amr_flat(const unsigned *list, unsigned *further, const int *count, int *added, int *cells, unsigned *heat,
                                    int level, int levels, unsigned threshold, int steps)
{
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    unsigned sum = 0;

    if (at >= *count)
        return;
#pragma unroll 1
    for (unsigned i = 0; i < PARTS; i++) {
        unsigned x = part_of(list[at], i, steps);

        sum += x & 0xff;
        if (level + 1 < levels && is_hot(x, level + 1, threshold))
            further[atomicAdd(added, 1)] = x;
    }
    atomicAdd(&cells[level + 1], PARTS);
    atomicAdd(&heat[level + 1], sum);
}

template <int FORM>
__global__ void amr_parts(unsigned cell, int *cells, unsigned *heat, int level, int levels, unsigned threshold, int steps)
{
    unsigned x = part_of(cell, threadIdx.x, steps);

    count_cells(cells, heat, x, level + 1);
    if (level + 1 < levels && is_hot(x, level + 1, threshold))
        start<FORM, amr_parts<FORM>>(1, PARTS, x, cells, heat, level + 1, levels, threshold, steps);
}

template <int FORM>
__device__ void amr(const unsigned *list, int count, int *cells, unsigned *heat, int levels, unsigned threshold, int steps)
{
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (at < count)
        start<FORM, amr_parts<FORM>>(1, PARTS, list[at], cells, heat, 0, levels, threshold, steps);
}
extern "C" __global__ void amr_cdp(const unsigned *list, int count, int *cells, unsigned *heat, int levels, unsigned threshold, int steps)
{
    amr<CDP>(list, count, cells, heat, levels, threshold, steps);
}
extern "C" __global__ void amr_dtbl(const unsigned *list, int count, int *cells, unsigned *heat, int levels, unsigned threshold, int steps)
{
    amr<DTBL>(list, count, cells, heat, levels, threshold, steps);
}

/** Persistent warps with one list. An entry of @list is valid once it is not 0. @open is the number of unfinished entries. */
extern "C" __global__ void amr_pt(volatile unsigned *list, unsigned *taken, int *added, volatile int *open, int *cells, unsigned *heat,
                                  volatile unsigned char *depth, int levels, unsigned threshold, int steps)
{
    unsigned lane = threadIdx.x & 31;

    for (;;) {
        int at = -1;

        if (lane == 0) {
            while (*open > 0) {
                unsigned mine = *taken;

                if ((int)mine >= *(volatile int *)added) {
                    __nanosleep(200);
                } else if (atomicCAS(taken, mine, mine + 1) == mine) {
                    at = (int)mine;
                    break;
                }
            }
        }
        at = __shfl_sync(~0u, at, 0);
        if (at < 0)
            return;
        unsigned cell = 0;
        while ((cell = list[at]) == 0)
            ;
        __threadfence();
        int level = depth[at];
        unsigned x = part_of(cell, lane, steps);
        count_cells(cells, heat, x, level + 1);
        if (level + 1 < levels && is_hot(x, level + 1, threshold)) {
            atomicAdd((int *)open, 1);
            int to = atomicAdd(added, 1);

            depth[to] = (unsigned char)(level + 1);
            __threadfence();
            list[to] = x;
        }
        __syncwarp();
        if (lane == 0)
            atomicSub((int *)open, 1);
    }
}

/* ---- regx: a nondeterministic automaton over strings -----------------------------------------------
 * The transitions from a state by a letter are edge[row[i]] to edge[row[i + 1] - 1], with i = state * 16 + letter. A transition
 * is the number of the next state, or -1 if the automaton accepts. A string has @length letters. */

enum { DEEPEST = 16 };

extern "C" __global__ void regx_flat(const unsigned char *text, const int *row, const int *edge, int *found, int n, int length)
{
    int s = (int)(blockIdx.x * blockDim.x + threadIdx.x), at[DEEPEST], end[DEEPEST], depth = 0, count = 0;

    if (s >= n)
        return;
    const unsigned char *mine = text + s * length;
    at[0] = row[mine[0]];
    end[0] = row[mine[0] + 1];
    while (depth >= 0) {
        if (at[depth] == end[depth]) {
            depth--;
            continue;
        }
        int to = edge[at[depth]++];
        if (to < 0) {
            count++;
        } else if (depth + 1 < length) {
            int next = to * 16 + mine[depth + 1];

            depth++;
            at[depth] = row[next];
            end[depth] = row[next + 1];
        }
    }
    found[s] = count;
}

template <int FORM>
__global__ void regx_edges(const unsigned char *mine, const int *row, const int *edge, int *found, int first, int last, int depth, int length, int many);

/** Follows all paths from state @to, which is reached before letter @depth. If a state has many transitions by a letter, launches
 *  threads for them instead. Returns how often the automaton accepts, without these threads. */
template <int FORM>
__device__ int regx_walk(const unsigned char *mine, const int *row, const int *edge, int *found, int to, int depth, int length, int many)
{
    int at[DEEPEST], end[DEEPEST], d = depth, count = 0;
    bool down = true;

    for (;;) {
        if (down) { /* continues with state @to and letter d */
            int next = to * 16 + mine[d], first = row[next], last = row[next + 1];

            if (last - first >= many) {
                start<FORM, regx_edges<FORM>>((unsigned)(last - first + BLOCK - 1) / BLOCK, BLOCK, mine, row, edge, found, first, last, d, length, many);
                first = last;
            }
            at[d] = first;
            end[d] = last;
            down = false;
        }
        if (at[d] == end[d]) {
            if (d-- == depth)
                break;
            continue;
        }
        to = edge[at[d]++];
        if (to < 0) {
            count++;
        } else if (d + 1 < length) {
            d++;
            down = true;
        }
    }
    return count;
}

template <int FORM>
__global__ void regx_edges(const unsigned char *mine, const int *row, const int *edge, int *found, int first, int last, int depth, int length, int many)
{
    int e = first + (int)(blockIdx.x * blockDim.x + threadIdx.x), count = 0;

    if (e < last) {
        int to = edge[e];

        if (to < 0)
            count = 1;
        else if (depth + 1 < length)
            count = regx_walk<FORM>(mine, row, edge, found, to, depth + 1, length, many);
    }
    __syncwarp();
    count = (int)warp_sum((unsigned)count);
    if (threadIdx.x == 0 && count != 0)
        atomicAdd(found, count);
}

template <int FORM>
__device__ void regx(const unsigned char *text, const int *row, const int *edge, int *found, int n, int length, int many)
{
    int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (s >= n)
        return;
    int count = regx_walk<FORM>(text + s * length, row, edge, found + s, 0, 0, length, many);
    if (count != 0)
        atomicAdd(found + s, count);
}
extern "C" __global__ void regx_cdp(const unsigned char *text, const int *row, const int *edge, int *found, int n, int length, int many)
{
    regx<CDP>(text, row, edge, found, n, length, many);
}
extern "C" __global__ void regx_dtbl(const unsigned char *text, const int *row, const int *edge, int *found, int n, int length, int many)
{
    regx<DTBL>(text, row, edge, found, n, length, many);
}

/** Persistent warps: each warp takes a string, and each lane follows some of the transitions from the first state. */
extern "C" __global__ void regx_pt(const unsigned char *text, const int *row, const int *edge, int *found, int n, int length, unsigned *next)
{
    unsigned lane = threadIdx.x & 31;

    for (;;) {
        unsigned s = 0;

        if (lane == 0)
            s = atomicAdd(next, 1u);
        s = __shfl_sync(~0u, s, 0);
        if ((int)s >= n)
            return;
        const unsigned char *mine = text + (int)s * length;
        int count = 0;
        for (int e = row[mine[0]] + (int)lane; e < row[mine[0] + 1]; e += 32) {
            int to = edge[e];

            if (to < 0)
                count++;
            else if (length > 1)
                count += regx_walk<CDP>(mine, row, edge, found + s, to, 1, length, 1 << 30);
        }
        __syncwarp();
        count = (int)warp_sum((unsigned)count);
        if (lane == 0)
            found[s] = count;
    }
}

/* ---- bht: forces on bodies by a tree of squares -----------------------------------------------------
 * A node consists of its centre and mass (x, y, m), its size, the number of the first node after its subtree, and a flag for
 * leaves. The first child of a node follows the node. For a body, a far node counts as one mass, and a near node is opened.
 * @top contains the children of the root. */

__device__ int walk(const int *node, int x, int y, int from)
{
    const int end = node[6 * from + 4];
    int at = from, force = 0;

#pragma unroll 1
    while (at != end) {
        const int *p = node + 6 * at;
        int dx = p[0] - x, dy = p[1] - y, d = dx * dx + dy * dy;

        if (p[5] != 0 || d > 4 * p[3] * p[3]) {
            force += p[2] * 1024 / (d + 16);
            at = p[4];
        } else {
            at++;
        }
    }
    return force;
}

enum { CHILDREN = 16 };

template <int FORM> __global__ void bht_children(const int *node, const int *top, int x, int y, int *force)
{
    atomicAdd(force, walk(node, x, y, top[threadIdx.x]));
}

extern "C" __global__ void bht_flat(const int *node, const int *, const int *body, int *force, int n, int)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        force[i] = walk(node, body[2 * i], body[2 * i + 1], 0);
}

/** A body in the square of size @dense launches a thread for each of the root's children; other bodies walk the whole tree. */
template <int FORM> __device__ void bht(const int *node, const int *top, const int *body, int *force, int n, int dense)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i >= n)
        return;
    int x = body[2 * i], y = body[2 * i + 1];
    if (x < dense && y < dense)
        start<FORM, bht_children<FORM>>(1, CHILDREN, node, top, x, y, force + i);
    else
        force[i] = walk(node, x, y, 0);
}
extern "C" __global__ void bht_cdp(const int *node, const int *top, const int *body, int *force, int n, int dense)
{
    bht<CDP>(node, top, body, force, n, dense);
}
extern "C" __global__ void bht_dtbl(const int *node, const int *top, const int *body, int *force, int n, int dense)
{
    bht<DTBL>(node, top, body, force, n, dense);
}

/** Persistent warps: each half of a warp takes a body, and each lane of the half walks one child of the root. */
extern "C" __global__ void bht_pt(const int *node, const int *top, const int *body, int *force, int n, unsigned *next)
{
    unsigned lane = threadIdx.x & 31;

    for (;;) {
        unsigned i = 0;

        if (lane == 0)
            i = atomicAdd(next, 2u);
        i = __shfl_sync(~0u, i, 0);
        if ((int)i >= n)
            return;
        i += lane / CHILDREN;
        if ((int)i < n)
            atomicAdd(&force[i], walk(node, body[2 * i], body[2 * i + 1], top[lane % CHILDREN]));
        __syncwarp();
    }
}
