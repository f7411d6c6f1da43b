/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: accesses to consecutive words. The code is compiled for each of the host's instruction sets. */
#include "check/race/chk_race_priv.h"

#define LEVEL_FOUR(read, tid, site, write) read, tid, site, write

#define LEVEL_TARGET
#define LEVEL_CELLS 1
#define LEVEL_QUADS(four) {LEVEL_FOUR four}
#define LEVEL(name) name##_plain
#define LEVEL_COUNT(n) ((void)(n), RACE_CHUNK)
#include "check/race/chk_race_access_wide_body.h"
#undef LEVEL
#undef LEVEL_COUNT
#define LEVEL(name) name##_few
#define LEVEL_COUNT(n) n
#include "check/race/chk_race_access_wide_body.h"
#undef LEVEL
#undef LEVEL_COUNT
#undef LEVEL_TARGET
#undef LEVEL_CELLS
#undef LEVEL_QUADS

#if defined __x86_64__ && !defined LW_ONE_LEVEL
#define LEVEL(name) name##_avx2
#define LEVEL_COUNT(n) ((void)(n), RACE_CHUNK)
#define LEVEL_TARGET __attribute__((target("avx2")))
#define LEVEL_CELLS 2
#define LEVEL_QUADS(four) {LEVEL_FOUR four, LEVEL_FOUR four}
#include "check/race/chk_race_access_wide_body.h"
#endif

void race_chunk_choose(struct chk_race *race)
{
    race->short_chunk[false] = chunk_read_few;
    race->short_chunk[true] = chunk_write_few;
    race->chunk[false] = chunk_read_plain;
    race->chunk[true] = chunk_write_plain;
#if defined __x86_64__ && !defined LW_ONE_LEVEL
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) {
        race->chunk[false] = chunk_read_avx2;
        race->chunk[true] = chunk_write_avx2;
    }
#endif
}
