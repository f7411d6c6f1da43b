#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every kernel at every warp width with every policy, with every reconvergence engine, and in blocks of 1, 31, 33
# and 250 threads, and verifies the results. hash_mem must be the same in all runs of an order-free kernel, which has no
# instruction whose result depends on the order of threads. A lock between lanes of a warp must hang on a SIMT stack, and the
# report must be that of a SIMT deadlock. The test makes every seventh of these runs, so that all pairs of width and policy occur,
# or all runs with LW_LONG=1. Arguments select kernels: tests/program/test_matrix.sh vadd bfs
. "${srcdir:-.}/tests/lib/cli_lib.sh"
widths='4 8 16 32 64'
policies='converge rr_quantum rr minpc minpc_step maxpc most_lanes stack_like'
orders='smaller larger fall_through'
blocks='1 31 33 250'
# A build with sanitizers is about ten times slower, so it runs a part of the matrix.
if [ -n "${LW_SLOW:-}" ]; then
    widths='8 64'
    policies='converge rr_quantum'
    orders='smaller'
    blocks='33'
fi
# The order of threads changes the memory of these kernels, which take a lock, print or launch kernels. The other kernels are
# order-free.
observes=' spinlock hello launch_bfs cuda_launch enqueue '
# In these kernels a lane may wait for another lane of its warp. In warps of four lanes none does, because the lanes take
# different locks of the seven.
locks=' spinlock '
# These kernels run with any block size.
any_block=' vadd saxpy reduction scan histogram mandelbrot bfs nbody spinlock bitonic spmv collatz vadd_asm collatz_asm gcn_saxpy gcn_branch styles '
# The grids of these kernels need not change with the block size, because their loops distribute the work to any number of blocks.
any_grid=' saxpy reduction scan histogram bitonic '
# These kernels exchange values between 32 lanes, as CUDA defines it, so narrower warps are refused.
of_32=' cuda_reduction cuda_histogram '
runs=0
turn=0
stride=7
[ -z "${LW_SLOW:-}" ] || stride=3 # slow builds have few runs
[ "${LW_LONG:-}" != 1 ] || stride=1

# usage: drawn. Succeeds for every seventh call. Because the numbers of widths, policies and engines are not multiples of seven,
# all pairs occur.
drawn() {
    turn=$((turn + 1))
    [ $((turn % stride)) = 0 ]
}

# usage: verify LAUNCH HASH NAME OPTION... . Runs LAUNCH and checks that the hash is that of the first run, which file HASH stores
verify() {
    launch=$1
    kept=$2
    name=$3
    shift 3
    runs=$((runs + 1))
    "$lanewise" run "$launch" --hash "$@" >out 2>&1
    status=$?
    if [ $status != 0 ]; then
        fail "$name $*: exit status $status"
        head -n 5 out | sed 's/^/    /'
        return
    fi
    hash=
    while read -r word value; do [ "$word" != hash_mem ] || hash=$value; done <out
    [ -n "$hash" ] || fail "$name $*: no hash_mem"
    case $observes in *" $name "*) return ;; esac
    if [ ! -e "$kept" ]; then
        echo "$hash" >"$kept"
    elif read -r first <"$kept" && [ "$hash" != "$first" ]; then
        fail "$name $*: hash_mem $hash, expected $first"
    fi
}

# usage: hangs LAUNCH NAME OPTION... . Runs LAUNCH and expects a SIMT deadlock
hangs() {
    launch=$1
    name=$2
    shift 2
    runs=$((runs + 1))
    sed '1,/^[a-z]/s/^\(program: .*\)/machine: {hang_window: 200000}\n\1/' "$launch" >"$launch.hang"
    "$lanewise" run "$launch.hang" "$@" >out 2>&1
    status=$?
    [ $status = 4 ] || fail "$name $*: exit status $status, expected 4"
    grep -q '^hang: SIMT deadlock' out || fail "$name $*: $(head -n 1 out)"
}

# usage: object LAUNCH SOURCE NAME OPTIONS. Compiles SOURCE to NAME.lwo, and writes a launch file NAME.object that runs this
# object
object() {
    # shellcheck disable=SC2086
    if ! "$lanewise" compile "$2" -o "$3.lwo" $4 >out 2>&1; then
        fail "$3: lanewise compile: $(head -n 1 out)"
        return 1
    fi
    sed "s/^program: .*/program: {source: $3.lwo}/" "$1" >"$3.object"
}

# usage: in_blocks LAUNCH SIZE KEEP. Prints the launch file with one-dimensional blocks of SIZE threads. If KEEP is 1, the
# number of blocks does not change; if it is 0, it changes so that the grid has the same number of threads
in_blocks() {
    awk -v size="$2" -v keep="$3" '
        match($0, /grid: \[[0-9]+\], block: \[[0-9]+\]/) {
            text = substr($0, RSTART, RLENGTH)
            split(text, part, /[^0-9]+/)
            grid = part[2]
            if (!keep)
                grid = int((part[2] * part[3] + size - 1) / size)
            $0 = substr($0, 1, RSTART - 1) "grid: [" grid "], block: [" size "]" \
                 substr($0, RSTART + RLENGTH)
        }
        { print }' "$1"
}

sh "$src/kernels/prepare" "$work" || exit 1
for launch in *.yaml; do
    name=${launch%.yaml}
    [ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    # Compiles the kernel once for all runs, which test the machine and not the compiler.
    source=$(sed -n 's/^program: {source: \([^,}]*\).*/\1/p' "$launch")
    options=$(sed -n 's/^program: .*options: \[\(.*\)\]}.*/\1/p' "$launch" | tr ',' ' ' | sed 's/[^ ][^ ]*/-X &/g')
    object "$launch" "$source" "$name" "$options" || continue
    wide=$widths
    case $of_32 in *" $name "*) wide=$(echo "$widths" | tr ' ' '\n' | awk '$1 >= 32') ;; esac
    for w in $wide; do
        for p in $policies; do
            drawn || continue
            verify "$name.object" "$name.hash" "$name" --warp "$w" --policy "$p"
        done
        for o in $orders; do
            drawn || continue
            case "$w$locks" in
            [!4]*" $name "*) hangs "$name.object" "$name" --warp "$w" --reconv stack --push-order "$o" ;;
            *) verify "$name.object" "$name.hash" "$name" --warp "$w" --reconv stack \
                --push-order "$o" ;;
            esac
        done
        case "$w$locks" in
        [!4]*" $name "*) ;; # skipped: the lanes that spin would run first, for ever
        *) ! drawn || verify "$name.object" "$name.hash" "$name" --warp "$w" --reconv frontier ;;
        esac
    done
    # The code of the oldest compiler differs, but its results must be the same.
    case $source in *.cl | *.cu)
        if command -v clang-14 >/dev/null && [ -z "${LANEWISE_CLANG:-}" ]; then
            object "$launch" "$source" "$name.14" "$options --clang=clang-14" || continue
            for w in $wide; do
                drawn || continue
                verify "$name.14.object" "$name.hash" "$name" --warp "$w"
            done
        fi ;;
    esac
    case $any_block in *" $name "*) ;; *) continue ;; esac
    keep=0
    case $any_grid in *" $name "*) keep=1 ;; esac
    for b in $blocks; do
        in_blocks "$name.object" "$b" $keep >"$name.$b"
        for w in $widths; do
            ! drawn || verify "$name.$b" "$name.hash.$b" "$name" --warp "$w"
            case $locks in *" $name "*) continue ;; esac
            ! drawn || verify "$name.$b" "$name.hash.$b" "$name" --warp "$w" --reconv stack
        done
    done
done
echo "$runs runs, $failures failures"
[ $failures = 0 ] && [ $runs -gt 0 ]
