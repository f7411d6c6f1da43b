# SPDX-License-Identifier: Apache-2.0
# Thread-instructions of the kernels of bench.cl, as counted in the PTX which clang 19 makes of it;
# sourced by bench/run and bench/timing.

ptx_instructions() { # case, its size: of a side, elements, nodes; of bfs its levels, too
    case $1 in
    vecadd) echo $(($2 * 23)) ;;
    gemm) echo $(($2 * $2 * ($2 * 29 / 4 + 45))) ;;
    gemm_tiled) echo $(($2 * $2 * ($2 / 16 * 63 + 34))) ;;
    reduce) echo $(($2 * 93)) ;;
    mandel) echo $((49861656 * 15 + 1048576 * 35)) ;; # steps of the picture, pixels
    nbody) echo $(($2 * ($2 * 21 + 29))) ;;
    bfs) echo $(($2 * $3 * 19 + $2 * 102)) ;;
    hist) echo $(($2 * 11 + 65536 * 47)) ;;
    *) echo - ;;
    esac
}
