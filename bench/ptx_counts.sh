# SPDX-License-Identifier: Apache-2.0
# Defines ptx_instructions, which prints the thread-instructions of a kernel of bench.cl. They are counted in the PTX that clang
# 19 generates, so that they do not depend on Lanewise's translation. bench/run and bench/timing source this file.

ptx_instructions() { # CASE SIZE [LEVELS]: SIZE in elements of a side, elements or nodes; LEVELS for bfs
    case $1 in
    vecadd) echo $(($2 * 23)) ;;
    gemm) echo $(($2 * $2 * ($2 * 29 / 4 + 45))) ;;
    gemm_tiled) echo $(($2 * $2 * ($2 / 16 * 63 + 34))) ;;
    reduce) echo $(($2 * 93)) ;;
    mandel) echo $((49861656 * 15 + 1048576 * 35)) ;; # 49861656 steps of 1048576 pixels
    nbody) echo $(($2 * ($2 * 21 + 29))) ;;
    bfs) echo $(($2 * $3 * 19 + $2 * 102)) ;;
    hist) echo $(($2 * 11 + 65536 * 47)) ;;
    *) echo - ;;
    esac
}
