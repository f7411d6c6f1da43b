#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the target architecture aarch64 in gdb-multiarch, detaching and reconnecting, and lldb if it is installed.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
need gdb-multiarch

serve "$server_program" walk.yaml aarch64
cat >"$work/session" <<'END'
show architecture
break walk.s:23
continue
info registers wave
info registers predicate
print $v5.u32[3]
set $lane = 5
print $lane
stepi
backtrace
finish
print $lane
next
print $hit_lanes
detach
END
session gdb-multiarch
expect "aarch64: register groups, stepping, frames" <<'END'
"aarch64"
hit Breakpoint 1
^lane +0x0 +0
^hit_lanes +0xffffffff
^p0 +0x0 +0
\$1 = 3
\$2 = 5
^square \(\) at walk\.s:31
#0  square \(\) at walk\.s:31
#1  0x[0-9a-f]+ in walk \(.*\) at walk\.s:23
^\+finish
^walk \(.*\) at walk\.s:24
\$3 = 5
^25	
detached
END

# The machine is still where the first session detached, and breakpoints of that session have been removed.
cat >"$work/session" <<'END'
print $lane
info threads
break walk.s:26
continue
delete
continue
END
session gdb-multiarch
expect "aarch64: a second client finds the machine as it was" <<'END'
\$1 = 5
^\* 1 .*w0 lane 5
hit Breakpoint 1
exited normally
END

# A gdb that does not support the target architecture gets a message, and the server continues.
serve "$server_program" walk.yaml aarch64
cat >"$work/session" <<'END'
print $lane
END
session gdb
grep -q 'unknown architecture' "$work/transcript" ||
    fail "plain gdb prints no message that it does not support aarch64"
session gdb-multiarch
expect "aarch64: the server survives a client that cannot use it" <<'END'
\$1 = 0
END

if command -v lldb-19 >/dev/null; then
    serve "$server_program" walk.yaml x86-64
    timeout 400 lldb-19 --no-use-colors -b -o "gdb-remote 127.0.0.1:$port" \
        -o 'breakpoint set -a 0x1000000b0' -o 'process continue' -o 'thread list' \
        -o 'register read lane exec v7' -o 'thread step-inst' -o 'thread step-over' \
        -o 'process detach' </dev/null >"$work/raw" 2>&1
    sed -e "s#$work/##g" "$work/raw" >"$work/transcript"
    # lldb must not download symbols.
    expect "x86-64: lldb connects, stops, reads registers and steps" <<'END'
^\* thread #1, .*stop reason = breakpoint
thread #2
^ *lane = 
^ *exec = 
^ *v7 = 
stop reason = instruction step into
detached
END
fi
finish
