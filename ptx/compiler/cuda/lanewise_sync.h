/* SPDX-License-Identifier: Apache-2.0 */
/* <cuda/barrier>, <cuda/pipeline>, <cuda_pipeline.h> and <cooperative_groups/memcpy_async.h>. An asynchronous copy is complete when
 * its call returns, so a pipeline of one thread has nothing to wait for. */
#ifndef LANEWISE_SYNC_H
#define LANEWISE_SYNC_H

#include "cooperative_groups.h"
#include "lanewise_names_begin.h"

#define LW_SYNC __device__ inline __attribute__((always_inline, nodebug))

/** Copies @size bytes by the threads of a group of @count threads, of which this one is number @rank. */
LW_SYNC void lw_copy(void *to, const void *from, size_t size, size_t rank, size_t count)
{
    const unsigned long long all = (unsigned long long)to | (unsigned long long)from | size;

    if (all % 16 == 0)
        for (size_t i = rank; i < size / 16; i += count)
            ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    else if (all % 4 == 0)
        for (size_t i = rank; i < size / 4; i += count)
            ((unsigned int *)to)[i] = ((const unsigned int *)from)[i];
    else
        for (size_t i = rank; i < size; i += count)
            ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

/** What barriers of all headers share. */
class lw_barrier {
public:
    LW_SYNC void lw_init(int count)
    {
        expected_ = (unsigned int)count;
        arrived_ = phase_ = dropped_ = 0;
    }
    LW_SYNC bool lw_has(unsigned int phases) { return (int)(atomicAdd(&phase_, 0u) - phases) >= 0; }
    /** Waits until @phases phases are complete. */
    LW_SYNC void lw_wait_for(unsigned int phases)
    {
        while (!lw_has(phases)) {
#if __CUDA_ARCH__ >= 700
            __nanosleep(20);
#endif
        }
        __threadfence();
    }
    /** Counts @count arrivals, and removes @drop of them from the later phases. Returns the present phase. */
    LW_SYNC unsigned int lw_arrive(unsigned int count, unsigned int drop)
    {
        const unsigned int now = atomicAdd(&phase_, 0u), expected = atomicAdd(&expected_, 0u);

        __threadfence();
        if (drop != 0)
            atomicAdd(&dropped_, drop);
        if (atomicAdd(&arrived_, count) + count == expected) {
            atomicExch(&arrived_, 0u);
            atomicSub(&expected_, atomicExch(&dropped_, 0u));
            __threadfence();
            atomicAdd(&phase_, 1u);
        }
        return now;
    }

private:
    unsigned int expected_, arrived_, phase_, dropped_; /* arrivals of a phase; arrivals so far; phases that are complete */
};

/* If the user has brought libcu++, namespace cuda is that of libcu++. */
#if !__has_include(<cuda/std/version>)
namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

/** Size of a copy whose pointers are multiples of @Alignment. */
template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    __host__ __device__ explicit aligned_size_t(size_t size) : value(size) {}
    __host__ __device__ operator size_t() const { return value; }
};

template <thread_scope Scope, class Completion = void> class barrier : public lw_barrier {
    static_assert(__is_same(Completion, void), "barriers with a completion function are not supported");

public:
    typedef unsigned int arrival_token;

    barrier() = default;
    barrier(const barrier &) = delete;
    LW_SYNC explicit barrier(int count) { lw_init(count); }
    LW_SYNC arrival_token arrive(int count = 1) { return lw_arrive((unsigned int)count, 0); }
    LW_SYNC void wait(arrival_token token) { lw_wait_for(token + 1); }
    LW_SYNC void arrive_and_wait() { wait(arrive()); }
    LW_SYNC void arrive_and_drop() { (void)lw_arrive(1, 1); }
    LW_SYNC static constexpr int max() { return (1 << 20) - 1; }
};
template <thread_scope Scope, class Completion> LW_SYNC void init(barrier<Scope, Completion> *b, int count)
{
    b->lw_init(count);
}

enum class pipeline_role { producer, consumer };
template <thread_scope Scope, unsigned char Stages> struct pipeline_shared_state {
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state &) = delete;
    barrier<Scope> full[Stages], empty[Stages];
    unsigned int producers, consumers;
};

/** The threads of a pipeline of more than one thread count stages. Stage n uses barriers number n % Stages. */
template <thread_scope Scope> class pipeline {
public:
    LW_SYNC pipeline(barrier<Scope> *full, barrier<Scope> *empty, unsigned int stages)
        : full_(full), empty_(empty), stages_(stages), produced_(0), consumed_(0)
    {
    }
    LW_SYNC void producer_acquire()
    {
        if (Scope != thread_scope_thread)
            empty_[produced_ % stages_].lw_wait_for(produced_ / stages_);
    }
    LW_SYNC void producer_commit()
    {
        if (Scope != thread_scope_thread)
            (void)full_[produced_ % stages_].arrive();
        produced_++;
    }
    LW_SYNC void consumer_wait() { lw_wait_for(consumed_ + 1); }
    LW_SYNC void consumer_release()
    {
        if (Scope != thread_scope_thread)
            (void)empty_[consumed_ % stages_].arrive();
        consumed_++;
    }
    LW_SYNC bool quit() { return true; }
    LW_SYNC void lw_wait_prior(unsigned int later)
    {
        if (produced_ > later)
            lw_wait_for(produced_ - later);
    }

private:
    /** Waits until the first @count stages are full. */
    LW_SYNC void lw_wait_for(unsigned int count)
    {
        if (Scope != thread_scope_thread)
            full_[(count - 1) % stages_].lw_wait_for((count - 1) / stages_ + 1);
    }
    barrier<Scope> *full_, *empty_;
    unsigned int stages_, produced_, consumed_;
};
LW_SYNC pipeline<thread_scope_thread> make_pipeline()
{
    return pipeline<thread_scope_thread>(nullptr, nullptr, 1);
}
template <class Group, thread_scope Scope, unsigned char Stages>
LW_SYNC pipeline<Scope> lw_make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state, bool produces,
                                         bool consumes)
{
    const bool first = group.thread_rank() == 0;

    if (first)
        state->producers = state->consumers = 0;
    group.sync();
    if (produces)
        atomicAdd(&state->producers, 1u);
    if (consumes)
        atomicAdd(&state->consumers, 1u);
    group.sync();
    for (unsigned int i = 0; i < Stages && first; i++) {
        init(&state->full[i], (int)state->producers);
        init(&state->empty[i], (int)state->consumers);
    }
    group.sync();
    return pipeline<Scope>(state->full, state->empty, Stages);
}
template <class Group, thread_scope Scope, unsigned char Stages>
LW_SYNC pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state)
{
    return lw_make_pipeline(group, state, true, true);
}
template <class Group, thread_scope Scope, unsigned char Stages>
LW_SYNC pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state, pipeline_role role)
{
    return lw_make_pipeline(group, state, role == pipeline_role::producer, role == pipeline_role::consumer);
}
template <unsigned char Later, thread_scope Scope> LW_SYNC void pipeline_consumer_wait_prior(pipeline<Scope> &p)
{
    p.lw_wait_prior(Later);
}

template <class Size, class Sync> LW_SYNC void memcpy_async(void *to, const void *from, Size size, Sync &)
{
    lw_copy(to, from, size, 0, 1);
}
template <class Group, class Size, class Sync>
LW_SYNC void memcpy_async(const Group &group, void *to, const void *from, Size size, Sync &)
{
    lw_copy(to, from, size, group.thread_rank(), group.size());
}

} // namespace cuda
#endif

namespace cooperative_groups {
template <class Group, class Size> LW_SYNC void memcpy_async(const Group &group, void *to, const void *from, const Size &size)
{
    lw_copy(to, from, size, group.thread_rank(), group.size());
}
/** Layouts count elements. */
template <class Group, class T, class To, class From>
LW_SYNC void memcpy_async(const Group &group, T *to, const To &to_count, const T *from, const From &from_count)
{
    const size_t count = (size_t)to_count < (size_t)from_count ? (size_t)to_count : (size_t)from_count;

    lw_copy(to, from, count * sizeof(T), group.thread_rank(), group.size());
}
template <class Group> LW_SYNC void wait(const Group &group) { group.sync(); }
template <unsigned int Later, class Group> LW_SYNC void wait_prior(const Group &group) { group.sync(); }
} // namespace cooperative_groups

/* <cuda_pipeline.h>: the last @zeros bytes of the destination become 0. */
LW_SYNC void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0)
{
    lw_copy(to, from, size - zeros, 0, 1);
    for (size_t i = size - zeros; i < size; i++)
        ((unsigned char *)to)[i] = 0;
}
LW_SYNC void __pipeline_commit() {}
LW_SYNC void __pipeline_wait_prior(size_t) {}

#undef LW_SYNC
#include "lanewise_names_end.h"
#endif
