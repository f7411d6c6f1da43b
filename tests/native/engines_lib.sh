# SPDX-License-Identifier: Apache-2.0
# The beginning of tests that run kernels of their own in both engines, in a working folder. The tests set bad=1 after a failure.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lanewise=$PWD/lanewise
. "${srcdir:-.}/tests/native/compare_lib.sh"
export LANEWISE_CACHE=off
cd "$work" || exit 1
bad=0
# Sets and prints the seed of random kernels.
take_seed() {
    seed=${LW_SEED:-1}
    [ "$seed" = random ] && seed=$(date +%s)
    echo "LW_SEED=$seed"
}
