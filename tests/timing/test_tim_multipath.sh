#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the cycles of divergent branches in docs/explanation/reconvergence.md. With the engine multipath, a load on one side of a
# branch does not delay the other side, so the warp waits once for the latency of a load. With the engine stack it waits twice.
# With the engine dualpath it waits once, unless one side diverges again: then the other side waits until the lanes of this side
# have reconverged. The reference model must have the same counters.
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
# Each side of the branch has two loads; the second one waits for the first one. The right side diverges again.
cat >nest.s <<'END'
.kernel nest
.param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[out]
    v_setp_u32.lt p1, v0, 16
    v_setp_u32.lt p2, v0, 8
    bssy b0, join
    @p1 bra right, b0
    ld.global.b32 v21, [v2:3]
    v_add_u32 v22, v21, 1
    ld.global.b32 v21, [v2:3+2048]
    v_add_u32 v22, v21, v22
    bra join
right:
    bssy b1, inner
    @p2 bra other, b1
    ld.global.b32 v21, [v2:3+4096]
    v_add_u32 v22, v21, 2
    ld.global.b32 v21, [v2:3+6144]
    v_add_u32 v22, v21, v22
    bra inner
other:
    ld.global.b32 v21, [v2:3+8192]
    v_add_u32 v22, v21, 3
    ld.global.b32 v21, [v2:3+10240]
    v_add_u32 v22, v21, v22
inner:
    bsync b1
join:
    bsync b0
    exit
.end
END
cycles() { # usage: cycles KERNEL ENGINE OPTION... . Prints the cycles and the hash of all counters
    kernel=$1
    engine=$2
    shift 2
    "$lanewise" run "$kernel.s" --entry "$kernel" --grid 1 --block 32 --arg 'u32[4096]' -q --timing=fermi --timing-report r.json \
        --timing-set core.reconvergence="$engine" "$@" &&
        python3 -c 'import json; r = json.load(open("r.json")); print(r["cycles"], r["counts_hash"])'
}
overlap='--timing-set issue.switch_on_stall=true --timing-set issue.split_lanes=true'
for kernel in two nest; do
    for engine in stack dualpath multipath early; do
        # shellcheck disable=SC2086
        cycles $kernel $engine $overlap >$kernel-$engine.fast || fail "$kernel, $engine: the run fails"
        # shellcheck disable=SC2086
        cycles $kernel $engine $overlap --timing-reference >$kernel-$engine.naive ||
            fail "$kernel, $engine: the run of the reference model fails"
        cmp $kernel-$engine.fast $kernel-$engine.naive || fail "$kernel, $engine: the reference model has other counters"
    done
done
for row in two-stack:2035 two-dualpath:1681 two-multipath:1681 two-early:1681 nest-stack:3469 nest-dualpath:2740 nest-multipath:2375; do
    run=${row%:*}
    [ "$(cut -d' ' -f1 "$run.fast")" = "${row#*:}" ] || fail "$run: $(cat "$run.fast") instead of ${row#*:} cycles"
    grep -q "$(echo "${row#*:}" | sed 's/^./&,/')[ .,]" "$src/docs/explanation/reconvergence.md" || fail "docs/explanation/reconvergence.md has other cycles than $row"
done
[ $failures = 0 ]
