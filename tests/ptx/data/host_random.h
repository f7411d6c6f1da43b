/* SPDX-License-Identifier: Apache-2.0 */
/* Random arguments for the host's programs, which are the same in each run. */
#include <stdint.h>

static uint64_t state = 88172645463325252u;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}
