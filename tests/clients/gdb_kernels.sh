#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests a file with several kernels in stock gdb. In each kernel, `next` over a call and `finish` must follow the focus lane
# even if other lanes return first, and backtraces must end at the kernel.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
need gdb-multiarch
for k in first second third fourth; do
    cat >>"$work/team.s" <<END
.kernel $k
.param ptr.global out
    v_s2r v3, %laneid
    v_setp_u32.lt p0, _, v3, 8
    call v0:1, _Z5earlyi                    # $k calls
    call v0:1, _Z5earlyi                    # $k calls again
    v_mov_b64 v6:7, c[out]              # $k goes on
    v_madwide_u32 v6:7, v3, 4, v6:7
    st.global.b32 [v6:7], v4
    exit
.end
END
done
cat >>"$work/team.s" <<'END'
# Lanes 8 to 31 return before the others.
.func _Z5earlyi
    v_mov_b32 v4, 5
    @p0 bra slow
    ret v0:1
slow:
    v_sub_u32 v4, v4, 1
    v_setp_u32.gt p3, _, v4, 0
    @p3 bra slow
    ret v0:1
.end
END
cat >"$work/team.yaml" <<'END'
program: {source: team.s}
buffers: {out: {type: u32, count: 32}}
steps:
  - launch: {entry: second, grid: [1], block: [32], args: [out]}
  - launch: {entry: first, grid: [1], block: [32], args: [out]}
  - launch: {entry: fourth, grid: [1], block: [32], args: [out]}
END
line() { grep -n "# $1\$" "$work/team.s" | cut -d: -f1; }

# usage: walk GDB TARGET-ARCHITECTURE LAST-LINE-OF-BACKTRACE KERNEL
walk() {
    for k in second first fourth; do
        cat <<END
tbreak team.s:$(line "$k calls")
continue
set \$lane = 5
next
print \$lane
print \$v4.u32[5]
print \$v4.u32[20]
backtrace
step
finish
print \$lane
print \$v4.u32[5]
print \$v4.u32[20]
info line
END
    done >"$work/session"
    echo continue >>"$work/session"
    serve "$lanewise" run team.yaml --gdb 127.0.0.1:0 --gdb-arch $2
    session $1
    for k in second first fourth; do
        cat <<END
Temporary breakpoint [0-9]+, $k \\(
^\\+next
# $k calls again
^\\\$[0-9]+ = 5
^\\\$[0-9]+ = 0
^\\\$[0-9]+ = 5
^\\+backtrace
^#0 +$k
END
        [ $k != fourth ] || echo '^#1 +0x0+fffffff0 in <launch> \(\)$'
        cat <<END
^\\+step
^early \\(\\) at
^\\+finish
# $k goes on
^\\+print \\\$lane
^\\\$[0-9]+ = 5
^\\\$[0-9]+ = 0
^\\\$[0-9]+ = 5
^\\+info line
END
    done >"$work/want"
    echo 'exited normally' >>"$work/want"
    expect "$1, $2: next and finish in three kernels" <"$work/want"
    # gdb shows frames outside the kernel if it does not know that the kernel is the outermost function.
    n=$(grep -c '^#1' "$work/transcript")
    [ "$n" = 1 ] || fail "$1, $2: $n backtraces continue past the kernel, expected 1"
    server_ends
}
walk gdb x86-64
walk gdb-multiarch aarch64

# With the Python file, backtraces omit that frame, and gdb finds a function main at the start of the code.
(cd "$work" && timeout 400 "$lanewise" gdb team.yaml -- -nx -batch -ex 'tbreak fourth' -ex continue \
    -ex backtrace -ex 'break main' -ex 'info symbol early' </dev/null) >"$work/transcript" 2>&1
sed -i "s#$work/##g" "$work/transcript"
expect "Python shows no frame below a kernel" <<'END'
Temporary breakpoint 1, fourth \(
^#0  fourth \[lane 0\] \(
^Breakpoint 2 at .* file .*team\.s, line 3
^early\(int\) in section
END
! grep -q '^#1' "$work/transcript" || fail "there is a frame outside the kernel: $(grep '^#1' "$work/transcript")"
finish
