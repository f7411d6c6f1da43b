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
# Functions of awk for programs that write random kernels. Each prints the instructions that it needs, which change v2, v3, v6 and v7.
# s0:1 is the start of the global memory that the kernel accesses, and v5 a value that differs between the lanes.
random_functions='
function random(n) { return int(rand() * n) }
function address(space, bytes,   at) { # returns an address at byte v2, or a few elements of @bytes after it
    at = space == "global" ? "[s0:1+v2" : "[v2"
    if (space == "global" && random(2)) {
        print "    v_lea_u32 v6:7, v2, 0, s0:1"
        at = "[v6:7"
    }
    return at (random(3) ? "]" : "+" bytes * random(8) "]")
}
function guard(must_run) { # returns a random guard, or none, as with @must_run
    if (random(3) != 0 || must_run)
        return ""
    printf "    v_shr_u32 v3, v5, %d\n    v_and_b32 v3, v3, %d\n    v_setp_u32.eq p2, v3, 0\n", random(28), random(4)
    return random(2) ? "@p2 " : "@!p2 "
}
'
# Sets and prints the seed of random kernels.
take_seed() {
    seed=${LW_SEED:-1}
    [ "$seed" = random ] && seed=$(date +%s)
    echo "LW_SEED=$seed"
}
