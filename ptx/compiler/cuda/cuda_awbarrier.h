/* SPDX-License-Identifier: Apache-2.0 */
/* <cuda_awbarrier.h>: barriers in shared memory whose arrival and wait are separate. Tokens do not have the number of
 * missing arrivals. */
#ifndef LANEWISE_AWBARRIER_H
#define LANEWISE_AWBARRIER_H

#include "lanewise_sync.h"
#include "lanewise_names_begin.h"

#define LW_SYNC __device__ inline __attribute__((always_inline, nodebug))
namespace nvcuda {
namespace experimental {
class awbarrier : public lw_barrier {
public:
    class arrival_token {
    public:
        arrival_token() = default;
        LW_SYNC explicit arrival_token(unsigned int phase) : lw_phase(phase) {}
        unsigned int lw_phase;
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;
    LW_SYNC arrival_token arrive() { return arrival_token(lw_arrive(1, 0)); }
    LW_SYNC arrival_token arrive_and_drop() { return arrival_token(lw_arrive(1, 1)); }
    LW_SYNC void wait(arrival_token token) { lw_wait_for(token.lw_phase + 1); }
    LW_SYNC void arrive_and_wait() { wait(arrive()); }
    /** Returns true if the phase is complete. A caller repeats the call until it is. */
    LW_SYNC bool timed_wait(arrival_token token, unsigned int)
    {
        const bool complete = lw_has(token.lw_phase + 1);

        __threadfence();
        return complete;
    }
    LW_SYNC bool try_wait(arrival_token token, unsigned int sleep) { return timed_wait(token, sleep); }
    __host__ __device__ static constexpr unsigned int max() { return (1 << 20) - 1; }
};
LW_SYNC void init(awbarrier *barrier, unsigned int count) { barrier->lw_init((int)count); }
LW_SYNC void inval(awbarrier *) {}
} // namespace experimental
} // namespace nvcuda
#undef LW_SYNC
#include "lanewise_names_end.h"
#endif
