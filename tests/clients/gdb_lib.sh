# SPDX-License-Identifier: Apache-2.0
# Library of the tests gdb_*.sh: starts a program that serves gdb, runs sessions of real gdb with it, and checks
# their transcripts. The check itself is tested with transcripts from which a line was removed.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
server_program=${GDB_SERVER:-$(pwd)/tests/clients/gdb_server}
python_file=$(pwd)/gdbstub/lanewise_gdb.py
work=$(mktemp -d)
server=
failures=0
trap 'stop_server; rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
cp "$src"/tests/clients/golden/*.yaml "$src"/tests/clients/golden/*.s \
    "$src"/tests/clients/golden/walk.expected "$work"/

# usage: in_turns FILE... . Gives launch files the split policy rr_quantum, whose order of the lanes the transcripts have.
in_turns() {
    for file in "$@"; do
        grep -q 'policy:' "$file" && continue
        sed -i 's/^machine: {/machine: {policy: rr_quantum, /; s/^machine:$/machine:\n  policy: rr_quantum/' "$file"
        grep -q '^machine:' "$file" || echo 'machine: {policy: rr_quantum}' >>"$file"
    done
}
in_turns "$work"/*.yaml

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# If a debugger is missing, its tests fail: they are not skipped.
need() {
    command -v "$1" >/dev/null || { echo "FAIL: $1 is not installed"; exit 1; }
}

stop_server() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null
        wait "$server" 2>/dev/null
    fi
    server=
}

# usage: serve COMMAND... . Starts the program in $work, waits for the port that it prints, and sets $port
serve() {
    stop_server
    : >"$work/server.out"
    (cd "$work" && exec "$@") >"$work/server.out" 2>&1 &
    server=$!
    port=
    tries=0
    while [ -z "$port" ]; do
        [ $tries = 0 ] || sleep 0.1
        while read -r server_line; do # read returns 0 only for a complete line
            case $server_line in
            "gdb: target remote "*:[1-9]* | "listening on "*:[1-9]*) port=${server_line##*:}; break ;;
            esac
        done <"$work/server.out"
        case $port in *[!0-9]*) port= ;; esac
        tries=$((tries + 1))
        if [ $tries -gt 1200 ] || { [ -z "$port" ] && ! kill -0 "$server" 2>/dev/null; }; then
            echo "FAIL: $* does not serve gdb:"
            cat "$work/server.out"
            exit 1
        fi
    done
}

# usage: serve_unix COMMAND... . Does the same as serve, for a Unix domain socket
serve_unix() {
    stop_server
    : >"$work/server.out"
    (cd "$work" && exec "$@") >"$work/server.out" 2>&1 &
    server=$!
    tries=0
    while ! grep -q '^gdb: target remote /' "$work/server.out" && [ $tries -lt 1200 ]; do
        kill -0 "$server" 2>/dev/null || { echo "FAIL: $*"; cat "$work/server.out"; exit 1; }
        sleep 0.1
        tries=$((tries + 1))
    done
}

# wait_until_busy: waits until a program under test in $work has used some CPU time, as a running kernel does. It measures CPU
# time, so it also works on a loaded host
wait_until_busy() {
    tries=0 ticks_before=
    while [ $tries -lt 1200 ]; do
        ticks_now=0
        for process in /proc/[0-9]*; do
            case $(readlink "$process/cwd" 2>/dev/null):$(cat "$process/comm" 2>/dev/null) in
            "$work":lanewise | "$work":gdb_server) ;;
            *) continue ;;
            esac
            user=$(sed 's/.*) //' "$process/stat" 2>/dev/null | cut -d ' ' -f 12)
            ticks_now=$((ticks_now + ${user:-0}))
        done
        : "${ticks_before:=$ticks_now}"
        [ $((ticks_now - ticks_before)) -lt 20 ] || return 0
        sleep 0.1
        tries=$((tries + 1))
    done
    fail "the server and gdb use no CPU time, so no kernel runs"
}

# server_ends: waits for the server (at most a minute), and sets $status to its exit status or "running"
server_ends() {
    tries=0
    while kill -0 "$server" 2>/dev/null && [ $tries -lt 600 ]; do
        # kill -0 also succeeds for a zombie process.
        grep -q '^State:.*Z' "/proc/$server/status" 2>/dev/null && break
        sleep 0.1
        tries=$((tries + 1))
    done
    if [ $tries -ge 600 ]; then
        status=running
        return
    fi
    wait "$server"
    status=$?
    server=
}

# usage: session GDB. Runs a batch session that is connected to $port, with the commands in $work/session. Writes the transcript
# to $work/transcript, which also contains the commands. A command that fails does not end the session.
session() {
    session_gdb=$1
    # Optional variables: $gdb_off is a command of gdb that disables a feature; $connect may be extended-remote; $target is the
    # address to connect to, instead of $port.
    set -- -nx -batch ${gdb_off:+-iex "$gdb_off"} -iex 'set debuginfod enabled off' -iex 'set confirm off' \
        -iex 'set width 0' -iex 'set height 0' -iex 'set style enabled off' \
        -ex "directory $work" -ex "target ${connect:-remote} ${target:-:$port}" -ex 'set trace-commands on'
    while read -r command; do
        set -- "$@" -ex "$command"
    done <"$work/session"
    timeout 400 "$session_gdb" "$@" </dev/null >"$work/raw" 2>&1
    session_status=$?
    sed -e "s#$work/##g" -e '/^warning: File transfers from remote/d' \
        -e '/^Use "set sysroot"/d' -e '/^Reading .* from remote target/d' \
        -e '/^Source directories searched/d' "$work/raw" >"$work/transcript"
    [ $session_status -le 1 ] || fail "$session_gdb ended with status $session_status"
}

# usage: in_order EXPECTATIONS TRANSCRIPT. Each line of EXPECTATIONS (an extended regular expression) must match a
# line of TRANSCRIPT, in this order. Prints the numbers of the matching lines. On a failure the status is 1, and
# standard error has the first expression that does not match.
in_order() {
    awk -v quiet="${3:-}" '
        NR == FNR { if ($0 != "") want[++n] = $0; next }
        BEGIN { at = 1 }
        at <= n && $0 ~ want[at] { print FNR; at++ }
        END { if (at <= n) { if (!quiet) print "not found: " want[at] >"/dev/stderr"; exit 1 } }
    ' "$1" "$2"
}

# usage: expect NAME <EXPECTATIONS. The last transcript must match EXPECTATIONS. If one of the matched lines is removed, it must
# not match: this shows that the check would detect a missing feature.
expect() {
    cat >"$work/expected"
    if ! in_order "$work/expected" "$work/transcript" >"$work/lines"; then
        fail "$1: the transcript lacks an expected line"
        sed 's/^/    | /' "$work/transcript"
        return
    fi
    before=$failures
    awk '
        NR == FNR { if ($0 != "") want[++n] = $0; next }
        FILENAME == ARGV[2] { needed[++m] = $1; next }
        { text[++lines] = $0 }
        function holds(gone,   at, l) {
            at = 1
            for (l = 1; l <= lines && at <= n; l++) if (l != gone && text[l] ~ want[at]) at++
            return at > n
        }
        END { for (k = 1; k <= m; k++) if (holds(needed[k])) print needed[k] ": " text[needed[k]] }
    ' "$work/expected" "$work/lines" "$work/transcript" >"$work/unneeded"
    while read -r number; do
        fail "$1: the transcript also matches without line ${number%%:*}: ${number#*: }"
    done <"$work/unneeded"
    [ $failures != $before ] || echo "ok: $1"
}

finish() {
    [ $failures = 0 ] || echo "$failures failures"
    exit $((failures > 0))
}

# usage: write_halves BLOCKS. Writes a kernel of which the compiler converts a branch to guarded instructions, and its launch file.
write_halves() {
    cat >"$work/halves.cl" <<'END'
kernel void halves(global uint *out, global const uint *in)
{
    local uint part[36];
    uint t = get_local_id(0);
    part[t] = in[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 2; s > 0; s /= 2) {
        if (t % 4 < s)
            part[t] += part[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[t] = part[t];
}
END
    cat >"$work/halves.yaml" <<END
program: {source: halves.cl, options: [-O2]}
buffers: {out: {type: u32, count: 64}, in: {type: u32, count: 32, init: {ramp: {start: 0}}}}
steps:
  - launch: {entry: halves, grid: [$1], block: [32], args: [out, in]}
END
}
