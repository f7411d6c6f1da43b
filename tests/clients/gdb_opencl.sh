#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests kernels in OpenCL C, compiled by clang, in stock gdb: lines, conditions on threads, barriers.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
sh "$src/kernels/prepare" "$work/k" || exit 1
cp -r "$work"/k/* "$work"/

serve "$lanewise" run saxpy.yaml --gdb 127.0.0.1:0
line=$(sed -n '/y\[i\] = alpha/=' "$src/kernels/saxpy.cl")
cat >"$work/session" <<END
break saxpy.cl:$line if threadIdx.x == 37 && blockIdx.x == 2
continue
print threadIdx
print \$lane
info threads
backtrace
print \$active
next
delete
continue
END
session gdb
expect "saxpy: a condition on a thread, from a source line" <<END
hit Breakpoint 1, saxpy \(
^$line	
^\\\$1 = \{x = 37, y = 0, z = 0\}
^\\\$2 = 5
^\* 10 .*block\(2,0,0\) w1 lane 5.* saxpy .* at saxpy\.cl:
^#0  saxpy \(.* at saxpy\.cl:$line
^\\\$3 = 4294967295
^\+next
exited normally
END
server_ends
[ "$status" = 0 ] || fail "saxpy: the run ended with status $status"

# gdb can print the values of OpenCL's work-item functions, for which it has no variables, and use them in conditions that the
# stub evaluates.
serve "$lanewise" run saxpy.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break saxpy.cl:$line if get_local_id(0) == 37 && get_group_id(0) == 2
continue
info breakpoints
print get_global_id(0) - get_group_id(0) * get_local_size(0)
print get_global_linear_id() == get_global_id(0)
print get_local_linear_id()
print get_num_groups(0) * get_local_size(0) == get_global_size(0)
print get_global_id(1) + get_global_id(5)
print get_global_size(5)
print get_work_dim()
delete
continue
END
session gdb
expect "saxpy: work-item functions" <<END
hit Breakpoint 1, saxpy \\(
get_group_id\\(0\\) == 2 \\(target evals\\)
^\\\$1 = 37$
^\\\$2 = 1$
^\\\$3 = 37$
^\\\$4 = 1$
^\\\$5 = 0$
^\\\$6 = 1$
^\\\$7 = 1$
exited normally
END
server_ends

# For two conditional breakpoints at one line, gdb sends one packet with two expressions.
serve "$lanewise" run saxpy.yaml --gdb 127.0.0.1:0
line=$(sed -n '/y\[i\] = alpha/=' "$src/kernels/saxpy.cl")
cat >"$work/session" <<END
break saxpy.cl:$line if threadIdx.x == 37 && blockIdx.x == 0
break saxpy.cl:$line if \$lane == 6 && blockIdx.x == 1
continue
print \$lane
delete 1
continue
print \$lane
delete
continue
END
session gdb
expect "saxpy: two conditions at one place" <<END
hit Breakpoint 1, saxpy \\(
^\\\$1 = 5
hit Breakpoint 2, saxpy \\(
^\\\$2 = 6
exited normally
END
server_ends
[ "$status" = 0 ] || fail "saxpy: the run ended with status $status"

# Steps one warp to a barrier, then over it. The other warps run, because the stepped warp waits for them.
serve "$lanewise" run reduction.yaml --gdb 127.0.0.1:0
line=$(sed -n '/barrier(/=' "$src/kernels/reduction.cl" | head -n 1)
cat >"$work/session" <<END
break reduction.cl:$line
continue
delete
next
info threads
continue
END
session gdb
expect "reduction: next goes over a barrier" <<END
hit Breakpoint 1, reduc.* at reduction\.cl:$line
^\+next
^\* 1 
exited normally
END
server_ends
[ "$status" = 0 ] || fail "reduction: the run ended with status $status"

# The second launch of the file has other threads; a condition on threads of the first launch is not true for them.
serve "$lanewise" run reduction.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break reduction.cl:$line if \$gridid == 2 && threadIdx.x == 64
continue
print gridDim
info threads
delete
continue
END
session gdb
expect "reduction: a breakpoint in the second launch" <<END
^Thread [0-9]+ "block\(0,0,0\) w2 lane 0" hit Breakpoint 1
^\\\$1 = \{x = 1, y = 1, z = 1\}
^\* [0-9]+ .*Thread 35 
exited normally
END
finish
