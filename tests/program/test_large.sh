#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the large samples give the results that a C program computes on the host: with small sizes also on a GPU model, and
# with full sizes without one. A wrong result must be reported. bench/timing_samples must print its table for small sizes, for
# which --check fails. `make nightly` checks full sizes.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
[ -x "$src/bench/timing_samples" ] || exit 77 # the source archive does not contain bench/timing_samples
large=$src/kernels/large
"$large/prepare" --small small || fail "kernels/large/prepare --small fails"
"$large/prepare" full || fail "kernels/large/prepare fails"
names=$(cd "$large" && ls ./*.yaml | sed 's/^..//; s/\.yaml$//')
[ "$(echo "$names" | wc -l)" = 8 ] || fail "there are not eight samples"
for name in $names; do
    expect 0 '^ok: 1 check passed, 1 launch' run "small/$name.yaml"
    expect 0 '^ok: 1 check passed, 1 launch' run "full/$name.yaml"
    # A wrong word in the middle of the expected results must be reported.
    printf '\001\002\003\004' | dd of="small/$name.expected.bin" bs=4 seek=$(($(wc -c <"small/$name.expected.bin") / 8)) conv=notrunc 2>/dev/null
    expect 1 "differ" run "small/$name.yaml"
done
"$large/prepare" small bad_name 2>err && fail "prepare accepts an unknown name"
grep -q 'no sample bad_name$' err || fail "prepare does not print the wrong name"

samples() { # usage: samples STATUS ARGUMENT... . Runs bench/timing_samples and expects its exit status
    want=$1
    shift
    cases=$((cases + 1))
    LANEWISE=$lanewise "$src/bench/timing_samples" --small "$@" >out 2>err
    got=$?
    [ $got = "$want" ] || fail "bench/timing_samples --small $*: exit status $got, expected $want"
}
samples 0 lookup walsh
[ "$(grep -c '^| `\(lookup\|walsh\)` | [0-9]*, [0-9]* %, [0-9]* % |' out)" = 2 ] || fail "bench/timing_samples: rows are missing"
grep -q '^| sample | 16K | 32K | 64K | 128K | sizes differ | `l1.store=evict` | `l1.store=update` | `l1.global=off` | policies differ |$' out ||
    fail "bench/timing_samples: columns are missing"
samples 1 --check dot
grep -q 'too few samples depend' err || fail "bench/timing_samples --check does not print the reason of the failure"
samples 2 no_sample
[ $failures = 0 ] || exit 1
echo "test_large: $cases runs"
