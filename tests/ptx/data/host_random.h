/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for the programs that write test data, with the same sequence in each run. */
#include <stdint.h>

static uint64_t state = 88172645463325252u;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}
