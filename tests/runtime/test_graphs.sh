#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests captures and graphs of CUDA's runtime. The program is compiled with the headers of `lanewise cc`, and with those of nvcc if it
# is installed. The errors of wrong calls are those of tests/runtime/test_probes.sh, too.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/graphs
runs() { # usage: runs WHAT PROGRAM [OPTION...]
    what=$1
    program=$2
    shift 2
    timeout 120 "$lanewise" app "$@" "$program" graph.dot >out 2>err || { fail "$what: exit status $?"; cat out err; }
    grep -q '^all right$' out || { fail "$what: wrong results"; cat out; }
    [ ! -s err ] || { fail "$what: the run prints messages to standard error"; cat err; }
}
for clang in clang-14 clang-19; do
    "$lanewise" cc --compiler $clang -O1 "$src/graphs.cu" -o graphs-$clang -lpthread >log 2>&1 ||
        { fail "$clang: graphs.cu does not compile"; cat log; continue; }
    runs $clang ./graphs-$clang
done
"$lanewise" cc -O1 "$src/changes.cu" -o changes -lpthread >log 2>&1 || { fail "changes.cu does not compile"; cat log; }
runs changes ./changes
sed 's/0x[0-9a-f]*/P/; s/_Z3addPii/add/' graph.dot >dot
diff - dot <<'END' || fail "cudaGraphDebugDotPrint() writes another description"
digraph dot {
subgraph cluster_1 {
label="graph_1";
"graph_1_node_0" [shape="rectangle" label="0\nMEMSET\ndst P pitch 0\nvalue 10\nelementSize 4\nwidth 1\nheight 1"];
"graph_1_node_1" [shape="rectangle" label="1\nMEMCPY\nDtoH"];
"graph_1_node_2" [shape="rectangle" label="2\nGRAPH"];
"graph_1_node_0" -> "graph_1_node_1";
"graph_1_node_1" -> "graph_1_node_2";
}
subgraph cluster_2 {
label="graph_2";
"graph_2_node_0" [shape="octagon" label="0\nKERNEL\nadd\ngridDim (3, 2, 1)\nblockDim (1, 1, 1)\nsharedMemBytes 0"];
}
"graph_1_node_2" -> "graph_2_node_0" [style="dashed"];
}
END
if command -v dot >/dev/null; then
    command dot -Tsvg graph.dot >log 2>&1 || { fail "Graphviz does not accept the description of a graph"; cat log; }
fi
runs 'all checks' ./graphs-clang-19 --check=all,-performance,-api # without api, because the program tests calls that fail
"$lanewise" cc -O1 -g "$src/fault.cu" -o fault >log 2>&1 || { fail "fault.cu does not compile"; cat log; }
timeout 120 "$lanewise" app --strict ./fault >out 2>err && grep -q '^all right$' out || { fail "a fault: wrong results"; cat out err; }
line=$(grep -n 'cudaGraphLaunch(e, s) == 0' "$src/fault.cu" | cut -d: -f1)
grep -q "launched by main (.*fault.cu:$line)" err || { fail "a fault: the message does not name the launch"; cat err; }
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    "$nvcc" -w -cudart shared -gencode arch=compute_75,code=compute_75 "$src/graphs.cu" -o graphs-nvcc >log 2>&1 ||
        { fail "nvcc: graphs.cu does not compile"; cat log; }
    runs nvcc ./graphs-nvcc
    "$nvcc" -w -cudart shared -gencode arch=compute_75,code=compute_75 "$src/changes.cu" -L"$(dirname "$lanewise")/lanewise-cuda" -lcuda \
        -o changes-nvcc >log 2>&1 || { fail "nvcc: changes.cu does not compile"; cat log; }
    runs 'changes, nvcc' ./changes-nvcc
fi
exit $failed
