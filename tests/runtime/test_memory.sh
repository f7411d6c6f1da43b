#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the limits of memory, host functions, virtual memory management of CUDA's driver API, nodes of graphs that allocate memory or have conditions,
# and tiles of several warps. The programs are compiled with the headers of `lanewise cc`, and with those of nvcc if it is installed.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
libraries=$(dirname "$lanewise")/lanewise-cuda
src=$src/memory
runs() { # usage: runs WHAT PROGRAM [OPTION...]
    what=$1
    program=$2
    shift 2
    timeout 120 "$lanewise" app "$@" "$program" >out 2>err || { fail "$what: exit status $?"; cat out err; }
    grep -q '^all right$' out || { fail "$what: wrong results"; cat out err; }
}
unmapped() { # usage: unmapped WHAT. Tests the message about the last kernel of virtual.cu
    grep -q 'out-of-bounds: global store of 4 bytes .* reserved address to which no memory is mapped' err ||
        { fail "$1: the message does not say that no memory is mapped"; cat err; }
}
for clang in clang-14 clang-19; do
    "$lanewise" cc --compiler $clang -O1 "$src/virtual.cu" -o virtual-$clang -lcuda >log 2>&1 ||
        { fail "$clang: virtual.cu does not compile"; cat log; continue; }
    runs "$clang: virtual.cu" ./virtual-$clang
    unmapped "$clang: virtual.cu"
    rm -rf launches
    "$lanewise" app --record launches ./virtual-$clang >out 2>err
    grep -q 'is not recorded' err && { fail "$clang: --record"; cat err; }
    for file in launches/*.yaml; do
        "$lanewise" run "$file" >out 2>&1
        status=$?
        [ $status = 0 ] || { [ $status = 3 ] && grep -q 'It had findings' "$file"; } || { fail "$file: the launch differs"; cat out; }
    done
    "$lanewise" cc --compiler $clang -O1 -DCONDITIONS "$src/nodes.cu" -o nodes-$clang >log 2>&1 ||
        { fail "$clang: nodes.cu does not compile"; cat log; continue; }
    runs "$clang: nodes.cu" ./nodes-$clang
    "$lanewise" cc --compiler $clang -O1 -std=c++17 "$src/tiles.cu" -o tiles-$clang >log 2>&1 ||
        { fail "$clang: tiles.cu does not compile"; cat log; continue; }
    runs "$clang: tiles.cu" ./tiles-$clang
    [ ! -s err ] || { fail "$clang: tiles.cu: the run prints messages"; cat err; }
done
"$lanewise" cc --compiler clang-19 "$src/host_functions.cu" -o host_functions -lpthread >log 2>&1 || { fail "host_functions.cu does not compile"; cat log; }
runs 'host_functions.cu' ./host_functions
"$lanewise" cc --compiler clang-19 "$src/limits.cu" -o limits >log 2>&1 || { fail "limits.cu does not compile"; cat log; }
runs 'limits.cu' ./limits
runs 'all checks: nodes.cu' ./nodes-clang-19 --check=all,-performance
runs 'all checks: tiles.cu' ./tiles-clang-19 --check=all,-performance
[ ! -s err ] || { fail "all checks: tiles.cu: the run prints messages"; cat err; }
runs 'all checks: virtual.cu' ./virtual-clang-19 --check=all,-performance
unmapped 'all checks: virtual.cu'
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    options='-w -cudart shared -gencode arch=compute_75,code=compute_75'
    # shellcheck disable=SC2086
    "$nvcc" $options "$src/virtual.cu" -o virtual-nvcc -L"$libraries" -l:libcuda.so.1 >log 2>&1 ||
        { fail "nvcc: virtual.cu does not compile"; cat log; }
    runs 'nvcc: virtual.cu' ./virtual-nvcc
    unmapped 'nvcc: virtual.cu'
    # With -lcudadevrt the PTX does not follow the empty container of linked code in memory.
    # shellcheck disable=SC2086
    "$nvcc" $options -O2 -std=c++17 -rdc=true -DCONDITIONS "$src/nodes.cu" -lcudadevrt -o nodes-nvcc >log 2>&1 || { fail "nvcc: nodes.cu does not compile"; cat log; }
    runs 'nvcc: nodes.cu' ./nodes-nvcc
    # shellcheck disable=SC2086
    "$nvcc" $options -std=c++17 "$src/tiles.cu" -o tiles-nvcc >log 2>&1 || { fail "nvcc: tiles.cu does not compile"; cat log; }
    runs 'nvcc: tiles.cu' ./tiles-nvcc
fi
exit $failed
