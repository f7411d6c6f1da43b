/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: grids, blocks, tiles of static size, coalesced groups, reductions and scans. A kernel that synchronises a
 * cluster is refused, and the message names the function. */
#ifndef LANEWISE_COOPERATIVE_GROUPS_H
#define LANEWISE_COOPERATIVE_GROUPS_H
#ifndef __cplusplus
#error <cooperative_groups.h> is for C++ only: name the file .cpp or .cu
#else

#include "lanewise_cuda.h"
#include "lanewise_names_begin.h"

#define LW_CG __device__ inline __attribute__((always_inline, nodebug))

/* Libraries declare the groups in this inner namespace, as CUDA's header does, before they include this header. */
namespace cooperative_groups {
namespace __v1 {

namespace lw {
LW_FN unsigned int thread_rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
LW_FN unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
LW_FN unsigned int lanes_below() { return (1u << lw_lane()) - 1; }
/** Returns the number of the lane that has rank @rank among the lanes of @mask. */
LW_FN unsigned int lane_of(unsigned int mask, unsigned int rank)
{
    for (; rank != 0; rank--)
        mask &= mask - 1;
    return (unsigned int)__ffs((int)mask) - 1;
}
/** Moves a value of any size between lanes as 32-bit words. */
template <class T, class F> LW_FN T by_words(const T &x, F move)
{
    T r;
    if constexpr (sizeof(T) % 4 == 0) {
        unsigned int words[sizeof(T) / 4];

        __builtin_memcpy(words, &x, sizeof x);
#pragma unroll
        for (unsigned int i = 0; i < sizeof(T) / 4; i++)
            words[i] = move(words[i]);
        __builtin_memcpy(&r, words, sizeof r);
    } else {
        unsigned int words[sizeof(T) / 4 + 1] = {};

        __builtin_memcpy(words, &x, sizeof x);
#pragma unroll
        for (unsigned int i = 0; i < sizeof(T) / 4 + 1; i++)
            words[i] = move(words[i]);
        __builtin_memcpy(&r, words, sizeof r);
    }
    return r;
}
/** Memory for the communication of warps in tiles of several warps. */
struct tile_memory {
    /* Barriers of all tiles: 16 tiles of 64 threads, 8 of 128, and so on. */
    unsigned int arrived[31]; /* number of warps that have arrived in this phase */
    unsigned int phase[31];
    unsigned int word[32];    /* [warp] values that warps exchange */
};
} // namespace lw

/** Memory of a block for tiles of several warps. Kernels declare it as a shared variable. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    static_assert(MaxBlockSize <= 1024, "a block has at most 1024 threads");
    lw::tile_memory lw_memory;
};

class thread_group {
public:
    enum kind { BLOCK, LANES, GRID };
    LW_CG unsigned int size() const
    {
        return kind_ == BLOCK ? lw::block_size() : (unsigned int)__popc(mask_);
    }
    LW_CG unsigned int num_threads() const { return size(); }
    LW_CG unsigned int thread_rank() const
    {
        return kind_ == BLOCK ? lw::thread_rank() : (unsigned int)__popc(mask_ & lw::lanes_below());
    }
    LW_CG bool is_valid() const { return true; }
    LW_CG void sync() const
    {
        if (kind_ == BLOCK)
            __syncthreads();
        else
            __syncwarp(mask_);
    }
    LW_CG thread_group(kind k, unsigned int mask) : kind_(k), mask_(mask) {}

protected:
    kind kind_;
    unsigned int mask_; /* lanes of this warp that belong to the group */
    friend LW_CG thread_group tiled_partition(const thread_group &group, unsigned int size);
};

class thread_block {
public:
    LW_CG static void sync() { __syncthreads(); }
    LW_CG static unsigned int size() { return lw::block_size(); }
    LW_CG static unsigned int num_threads() { return lw::block_size(); }
    LW_CG static unsigned int thread_rank() { return lw::thread_rank(); }
    LW_CG static dim3 group_index() { return blockIdx; }
    LW_CG static dim3 thread_index() { return threadIdx; }
    LW_CG static dim3 group_dim() { return blockDim; }
    LW_CG static dim3 dim_threads() { return blockDim; }
    LW_CG operator thread_group() const { return thread_group(thread_group::BLOCK, 0); }
    thread_block() = default;
    LW_CG explicit thread_block(lw::tile_memory *memory) : memory_(memory) {}
    LW_CG lw::tile_memory *lw_memory() const { return memory_; }

private:
    lw::tile_memory *memory_ = nullptr;
};
/* Host code may call it in an operand of decltype. With a second overload, clang accepts this only if host code could call it. */
__host__ LW_CG thread_block this_thread_block() { return thread_block(); }
/** Returns the block, which can be divided into tiles of several warps. All threads of the block call this function. */
template <unsigned int N> LW_CG thread_block this_thread_block(block_tile_memory<N> &memory)
{
    unsigned int *const word = (unsigned int *)&memory.lw_memory;

    for (unsigned int i = lw::thread_rank(); i < sizeof(lw::tile_memory) / 4; i += lw::block_size())
        word[i] = 0;
    __syncthreads();
    return thread_block(&memory.lw_memory);
}

namespace lw {
/** Barrier of all blocks of a grid. The last block to arrive begins the next phase, for which the other blocks wait. */
struct grid_barrier {
    unsigned int arrived; /* number of blocks that have arrived in this phase */
    unsigned int phase;
};
LW_FN grid_barrier *barrier_of_grid()
{
    static __device__ grid_barrier barrier;

    return &barrier;
}
} // namespace lw

/* In a launch that is not cooperative, is_valid() returns true, too. sync() then works if all blocks are resident. Otherwise
 * the blocks wait for ever, and the emulator reports the hang. */
class grid_group {
public:
    LW_CG static bool is_valid() { return true; }
    LW_CG static void sync()
    {
        __syncthreads();
        if (lw::thread_rank() == 0) {
            lw::grid_barrier *const barrier = lw::barrier_of_grid();
            /* Only atomic operations access the barrier, so the race checker finds no race in it. */
            const unsigned int now = atomicAdd(&barrier->phase, 0u);

            __threadfence();
            if (atomicAdd(&barrier->arrived, 1u) == num_blocks() - 1) {
                atomicExch(&barrier->arrived, 0u);
                __threadfence();
                atomicAdd(&barrier->phase, 1u);
            } else {
                while (atomicAdd(&barrier->phase, 0u) == now) {
#if __CUDA_ARCH__ >= 700
                    __nanosleep(100);
#endif
                }
            }
            __threadfence();
        }
        __syncthreads();
    }
    LW_CG static unsigned long long size()
    {
        return (unsigned long long)num_blocks() * lw::block_size();
    }
    LW_CG static unsigned long long num_threads() { return size(); }
    LW_CG static unsigned int num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
    LW_CG static unsigned int block_rank()
    {
        return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    LW_CG static unsigned long long thread_rank()
    {
        return (unsigned long long)block_rank() * lw::block_size() + lw::thread_rank();
    }
    LW_CG static dim3 group_dim() { return gridDim; }
    LW_CG static dim3 dim_blocks() { return gridDim; }
    LW_CG static dim3 block_index() { return blockIdx; }
};
LW_CG grid_group this_grid() { return grid_group(); }

/** Group of the lanes that execute together. The ranks of threads follow the order of lanes. */
class coalesced_group {
public:
    LW_CG explicit coalesced_group(unsigned int mask) : mask_(mask) {}
    LW_CG unsigned int size() const { return (unsigned int)__popc(mask_); }
    LW_CG unsigned int num_threads() const { return size(); }
    LW_CG unsigned int thread_rank() const { return (unsigned int)__popc(mask_ & lw::lanes_below()); }
    LW_CG unsigned int meta_group_size() const { return 1; }
    LW_CG unsigned int meta_group_rank() const { return 0; }
    LW_CG void sync() const { __syncwarp(mask_); }
    LW_CG bool is_valid() const { return true; }
    template <class T> LW_CG T shfl(T x, unsigned int rank) const
    {
        const unsigned int mask = mask_, at = lw::lane_of(mask, rank % size());

        return lw::by_words(x, [=](unsigned int w) { return __shfl_sync(mask, w, (int)at); });
    }
    /* A lane whose source lane would be outside the group keeps its own value. */
    template <class T> LW_CG T shfl_down(T x, unsigned int n) const
    {
        const unsigned int rank = thread_rank() + n;

        return shfl(x, rank < size() ? rank : thread_rank());
    }
    template <class T> LW_CG T shfl_up(T x, unsigned int n) const
    {
        const unsigned int rank = thread_rank();

        return shfl(x, rank >= n ? rank - n : rank);
    }
    LW_CG int any(int x) const { return __any_sync(mask_, x); }
    LW_CG int all(int x) const { return __all_sync(mask_, x); }
    LW_CG unsigned int ballot(int x) const { return packed(__ballot_sync(mask_, x)); }
    template <class T> LW_CG unsigned int match_any(T x) const { return packed(__match_any_sync(mask_, x)); }
    template <class T> LW_CG unsigned int match_all(T x, int &equal) const
    {
        return packed(__match_all_sync(mask_, x, &equal));
    }
    LW_CG operator thread_group() const { return thread_group(thread_group::LANES, mask_); }
    LW_CG unsigned int lw_mask() const { return mask_; }

private:
    /** Returns the bits of @lanes that belong to lanes of the group, moved to consecutive bits. */
    LW_CG unsigned int packed(unsigned int lanes) const
    {
        unsigned int r = 0, to = 0;

        for (unsigned int left = mask_; left != 0; left &= left - 1)
            r |= (lanes >> (__ffs((int)left) - 1) & 1) << to++;
        return r;
    }
    unsigned int mask_;
};
LW_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/** What tiles of all sizes share. */
template <unsigned int Size> class lw_any_tile {
public:
    lw_any_tile() = default;
    LW_CG explicit lw_any_tile(unsigned int parent) : parent_(parent) {}
    LW_CG static constexpr unsigned int size() { return Size; }
    LW_CG static constexpr unsigned int num_threads() { return Size; }
    LW_CG static unsigned int thread_rank() { return lw::thread_rank() & (Size - 1); }
    LW_CG unsigned int meta_group_rank() const
    {
        return (parent_ != 0 ? lw::thread_rank() & (parent_ - 1) : lw::thread_rank()) / Size;
    }
    LW_CG unsigned int meta_group_size() const
    {
        return ((parent_ != 0 ? parent_ : lw::block_size()) + Size - 1) / Size;
    }
    LW_CG unsigned int lw_parent() const { return parent_; }
    LW_CG static bool is_valid() { return true; }

private:
    unsigned int parent_ = 0; /* size of the tile that contains this tile; 0: the parent is the block */
};
/** A tile of at most one warp. */
template <unsigned int Size, class Parent> class lw_small_tile : public lw_any_tile<Size> {
    static_assert(Size != 0 && (Size & (Size - 1)) == 0, "the size of a tile must be a power of two");

public:
    lw_small_tile() = default;
    template <class Other> LW_CG lw_small_tile(const lw_small_tile<Size, Other> &other) : lw_any_tile<Size>(other.lw_parent()) {}
    LW_CG explicit lw_small_tile(unsigned int parent) : lw_any_tile<Size>(parent) {}
    LW_CG static void sync() { __syncwarp(lw_mask()); }
    template <class T> LW_CG T shfl(T x, int rank) const
    {
        return lw::by_words(x, [=](unsigned int w) { return __shfl_sync(lw_mask(), w, rank, Size); });
    }
    template <class T> LW_CG T shfl_up(T x, unsigned int n) const
    {
        return lw::by_words(x, [=](unsigned int w) { return __shfl_up_sync(lw_mask(), w, n, Size); });
    }
    template <class T> LW_CG T shfl_down(T x, unsigned int n) const
    {
        return lw::by_words(x, [=](unsigned int w) { return __shfl_down_sync(lw_mask(), w, n, Size); });
    }
    template <class T> LW_CG T shfl_xor(T x, unsigned int n) const
    {
        return lw::by_words(x, [=](unsigned int w) { return __shfl_xor_sync(lw_mask(), w, (int)n, Size); });
    }
    LW_CG int any(int x) const { return __any_sync(lw_mask(), x); }
    LW_CG int all(int x) const { return __all_sync(lw_mask(), x); }
    LW_CG unsigned int ballot(int x) const { return __ballot_sync(lw_mask(), x) >> first(); }
    template <class T> LW_CG unsigned int match_any(T x) const
    {
        return __match_any_sync(lw_mask(), x) >> first();
    }
    template <class T> LW_CG unsigned int match_all(T x, int &equal) const
    {
        return __match_all_sync(lw_mask(), x, &equal) >> first();
    }
    LW_CG operator thread_group() const { return thread_group(thread_group::LANES, lw_mask()); }
    LW_CG static unsigned int lw_mask()
    {
        return (Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1) << first();
    }

private:
    LW_CG static unsigned int first() { return lw_lane() & ~(Size - 1); }
};
/** A tile of several warps, which communicate by the block_tile_memory of the block. */
template <unsigned int Size, class Parent> class lw_large_tile : public lw_any_tile<Size> {
    using any_tile = lw_any_tile<Size>;
    static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "the size of a tile must be a power of two, at most 1024");

public:
    lw_large_tile() = default;
    template <class Other> LW_CG lw_large_tile(const lw_large_tile<Size, Other> &other)
        : any_tile(other.lw_parent()), memory_(other.lw_memory())
    {
    }
    LW_CG lw_large_tile(unsigned int parent, lw::tile_memory *memory) : any_tile(parent), memory_(memory) {}
    LW_CG void sync() const
    {
        const unsigned int at = 32 - 2048 / Size + lw::thread_rank() / Size;

        __syncwarp();
        if (lw_lane() == 0) { /* only atomic operations access the barrier, as for grid_group::sync() */
            const unsigned int now = atomicAdd(&memory_->phase[at], 0u);

            __threadfence_block();
            if (atomicAdd(&memory_->arrived[at], 1u) == warps() - 1) {
                atomicExch(&memory_->arrived[at], 0u);
                __threadfence_block();
                atomicAdd(&memory_->phase[at], 1u);
            } else {
                while (atomicAdd(&memory_->phase[at], 0u) == now) {
#if __CUDA_ARCH__ >= 700
                    __nanosleep(20);
#endif
                }
            }
            __threadfence_block();
        }
        __syncwarp();
    }
    template <class T> LW_CG T shfl(T x, unsigned int rank) const
    {
        return lw::by_words(x, [this, rank](unsigned int w) {
            if (any_tile::thread_rank() == rank % Size)
                memory_->word[first()] = w;
            sync();
            const unsigned int r = memory_->word[first()];
            sync();
            return r;
        });
    }
    LW_CG int any(int x) const { return combined(__any_sync(0xffffffffu, x) != 0) != 0; }
    LW_CG int all(int x) const { return combined(__all_sync(0xffffffffu, x) != 0) == warps(); }
    /** Returns the @x of the first lane of the tile's warp number @warp. */
    template <class T> LW_CG T lw_of_warp(T x, unsigned int warp) const
    {
        return lw::by_words(x, [this, warp](unsigned int w) {
            if (lw_lane() == 0)
                memory_->word[lw::thread_rank() / 32] = w;
            sync();
            const unsigned int r = memory_->word[first() + warp];
            sync();
            return r;
        });
    }
    LW_CG static unsigned int warps() { return Size / 32; }
    LW_CG lw::tile_memory *lw_memory() const { return memory_; }

private:
    LW_CG static unsigned int first() { return lw::thread_rank() / Size * (Size / 32); } /* number of the tile's first warp */
    /** Returns the number of warps that pass true. */
    LW_CG unsigned int combined(bool x) const
    {
        unsigned int count = 0;

        if (lw_lane() == 0)
            memory_->word[lw::thread_rank() / 32] = x;
        sync();
        for (unsigned int i = 0; i < warps(); i++)
            count += memory_->word[first() + i];
        sync();
        return count;
    }
    lw::tile_memory *memory_ = nullptr;
};
template <bool large, unsigned int Size, class Parent> struct lw_tile_of { using type = lw_small_tile<Size, Parent>; };
template <unsigned int Size, class Parent> struct lw_tile_of<true, Size, Parent> { using type = lw_large_tile<Size, Parent>; };
/* Libraries declare this class, so it has the two parameters that CUDA documents. */
template <unsigned int Size, class Parent = void> class thread_block_tile : public lw_tile_of<(Size > 32), Size, Parent>::type {
    using base = typename lw_tile_of<(Size > 32), Size, Parent>::type;

public:
    thread_block_tile() = default;
    /* The parent's type does not matter for the conversion: a tile of any parent converts to thread_block_tile<32>. */
    template <class Other> LW_CG thread_block_tile(const thread_block_tile<Size, Other> &other) : base(other) {}
    LW_CG explicit thread_block_tile(unsigned int parent) : base(parent) {}
    LW_CG thread_block_tile(unsigned int parent, lw::tile_memory *memory) : base(parent, memory) {}
};
template <class Group> LW_CG unsigned int lw_tile_size(const Group &) { return 0; }
template <unsigned int Size, class Parent> LW_CG unsigned int lw_tile_size(const thread_block_tile<Size, Parent> &)
{
    return Size;
}
template <unsigned int Size, class Group> LW_CG thread_block_tile<Size, Group> tiled_partition(const Group &group)
{
    if constexpr (Size > 32)
        return thread_block_tile<Size, Group>(lw_tile_size(group), group.lw_memory());
    else
        return thread_block_tile<Size, Group>(lw_tile_size(group));
}
/** Returns the group of the calling thread alone. */
LW_CG thread_block_tile<1> this_thread() { return tiled_partition<1>(this_thread_block()); }
/** Calls @function by one thread of the group. The other threads do not wait for it. */
template <class Group, class Function, class... Arguments>
LW_CG void invoke_one(const Group &group, Function &&function, Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
}
/** Calls @function by one thread of the group, and returns its result in all threads. */
template <class Group, class Function, class... Arguments>
LW_CG auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> decltype(function(static_cast<Arguments &&>(arguments)...))
{
    decltype(function(static_cast<Arguments &&>(arguments)...)) result;

    if (group.thread_rank() == 0)
        result = static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}
LW_CG thread_group tiled_partition(const thread_group &group, unsigned int size)
{
    if (group.kind_ == thread_group::BLOCK) {
        const unsigned int lane = lw_lane() & ~(size - 1);

        return thread_group(thread_group::LANES,
                            (size >= 32 ? 0xffffffffu : (1u << size) - 1) << lane);
    }
    /* Finds the tile of this thread among the ranks of its group. */
    unsigned int first = group.thread_rank() & ~(size - 1), rank = 0, mask = 0;

    for (unsigned int left = group.mask_; left != 0; left &= left - 1, rank++) {
        if (rank >= first && rank < first + size)
            mask |= left & (0u - left);
    }
    return thread_group(thread_group::LANES, mask);
}
LW_CG coalesced_group lw_group_of(const coalesced_group &g) { return g; }
template <unsigned int N, class P> LW_CG coalesced_group lw_group_of(const thread_block_tile<N, P> &t)
{
    return coalesced_group(t.lw_mask());
}
template <class Group> LW_CG coalesced_group binary_partition(const Group &group, bool x)
{
    const unsigned int mask = lw_group_of(group).lw_mask(), yes = __ballot_sync(mask, x);

    return coalesced_group(x ? yes : mask & ~yes);
}
template <class Group, class T> LW_CG coalesced_group labeled_partition(const Group &group, T label)
{
    return coalesced_group(__match_any_sync(lw_group_of(group).lw_mask(), label));
}
template <class Group> LW_CG void sync(const Group &group) { group.sync(); }
template <class Group> LW_CG auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> LW_CG auto group_size(const Group &group) { return group.size(); }

/* ---- <cooperative_groups/reduce.h> and <cooperative_groups/scan.h> ---------------------------- */

template <class T> struct plus { LW_CG T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { LW_CG T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { LW_CG T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { LW_CG T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { LW_CG T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { LW_CG T operator()(T a, T b) const { return a ^ b; } };

template <unsigned int Size, class P, class T, class Op>
LW_CG T reduce(const thread_block_tile<Size, P> &tile, T x, Op op)
{
    if constexpr (Size > 32) {
        const T of_warp = reduce(tiled_partition<32>(tile), x, op);

        x = tile.lw_of_warp(of_warp, 0);
        for (unsigned int i = 1; i < tile.warps(); i++)
            x = op(x, tile.lw_of_warp(of_warp, i));
    } else {
#pragma unroll
        for (unsigned int n = Size / 2; n != 0; n /= 2)
            x = op(x, tile.shfl_xor(x, n));
    }
    return x;
}
template <class T, class Op> LW_CG T reduce(const coalesced_group &group, T x, Op op)
{
    T r = group.shfl(x, 0);

    for (unsigned int i = 1; i < group.size(); i++)
        r = op(r, group.shfl(x, i));
    return r;
}
template <class Group, class T, class Op> LW_CG T inclusive_scan(const Group &group, T x, Op op)
{
    const unsigned int rank = group.thread_rank();

    for (unsigned int n = 1; n < group.size(); n *= 2) {
        T before = group.shfl_up(x, n);

        if (rank >= n)
            x = op(before, x);
    }
    return x;
}
template <class Group, class T> LW_CG T inclusive_scan(const Group &group, T x)
{
    return inclusive_scan(group, x, plus<T>());
}
template <class Group, class T, class Op> LW_CG T exclusive_scan(const Group &group, T x, Op op)
{
    T before = group.shfl_up(inclusive_scan(group, x, op), 1);

    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> LW_CG T exclusive_scan(const Group &group, T x)
{
    return exclusive_scan(group, x, plus<T>());
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups

#undef LW_CG
#include "lanewise_names_end.h"
#endif
#endif
