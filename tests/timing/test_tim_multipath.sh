#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# With the engine multipath, a load on one side of a branch does not hold up the other side: the warp waits for the
# latency of a load once. With the engine stack it waits twice. The reference model has the same counters. These are
# the figures of docs/explanation/reconvergence.md.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >two.s <<'END'
.kernel two
.param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[out]
    v_setp_u32.lt p1, v0, 16
    bssy b0, join
    @p1 bra right, b0
    ld.global.b32 v21, [v2:3]
    v_add_u32 v22, v21, 1
    bra join
right:
    ld.global.b32 v21, [v2:3+4096]
    v_add_u32 v22, v21, 2
join:
    bsync b0
    exit
.end
END
cycles() { # engine, more options of run: prints the cycles and the hash of all counters
    engine=$1
    shift
    "$lanewise" run two.s --entry two --grid 1 --block 32 --arg 'u32[4096]' -q --timing=fermi --timing-report r.json \
        --timing-set core.reconvergence="$engine" "$@" &&
        python3 -c 'import json; r = json.load(open("r.json")); print(r["cycles"], r["counts_hash"])'
}
overlap='--timing-set issue.switch_on_stall=true --timing-set issue.split_lanes=true'
for engine in stack multipath early; do
    # shellcheck disable=SC2086
    cycles $engine $overlap >$engine.fast || fail "$engine: no run"
    # shellcheck disable=SC2086
    cycles $engine $overlap --timing-reference >$engine.naive || fail "$engine: no run of the reference model"
    cmp $engine.fast $engine.naive || fail "$engine: the reference model counts otherwise"
done
for row in stack:2035 multipath:1681 early:1681; do
    engine=${row%:*}
    [ "$(cut -d' ' -f1 $engine.fast)" = "${row#*:}" ] || fail "$engine: $(cat $engine.fast) instead of ${row#*:} cycles"
    grep -q "$(echo "${row#*:}" | sed 's/^./&,/')[ .]" "$src/docs/explanation/reconvergence.md" || fail "docs/explanation/reconvergence.md has other cycles than $row"
done
[ $failures = 0 ]
