# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs the rows of tests/clients/behaviours/*.rows in one debugger, the client. A row consists of commands and their expected
# output, and shows that a feature of the stub works. Also runs negative counterparts of rows: the same row with a stub without
# the feature, where the row must fail. The scripts tests/clients/behaviours_*.sh source this file and select the client.
#
#   LW_LONG=1        runs all sessions and all negative counterparts; otherwise the selection of behaviours() and twins()
#   LW_TWINS=none    runs no counterparts
#   LW_SESSIONS="a b"  runs only these sessions
#   LW_ROWS="a b"    runs only the counterparts of these rows
#   LLDB=PROGRAM     lldb to use (default: lldb-19)
#   LW_JOBS=N        number of concurrent sessions (default: processors + 1, because counterparts often wait)
#   LW_KEEP=1        prints the path of the temporary folder and does not remove it
#   LW_VERBOSE=1     prints the output of counterparts
#
# A session has one debugger and one server. `launch:` names the launch file and options of the server. The rows of a session run
# one after the other in the same run of the program. `every-architecture` below the name of a session means that gdb-multiarch
# runs the session also without LW_LONG=1 (each target architecture a third of these sessions), because registers, calls,
# conditions or addresses may depend on the target architecture. A row has the form
#
#   row NAME
#   shows: WHAT           name in shown.list of what the row shows: a feature of a stub, or a rule of splits
#   off: FEATURE          the counterpart: the row fails with tests/clients/gdb_server --without FEATURE
#   needs: FEATURE...     the row also fails without these features, so counterparts of later rows may fail at this row
#   without: PATTERN      wrong output that the counterpart must print
#   hangs                 the counterpart does not end, because the debugger waits for ever
#   no-twin: WHY          the reason why the row has no counterpart
#   clients: NAME...      gdb gdb-x86-64 gdb-aarch64 lldb mi mi-x86-64 mi-aarch64; default: clients with commands
#   gdb> COMMAND          a command for gdb (`lldb>`: for lldb; `mi>`: for gdb's machine interface, which editors use)
#     PATTERN             an extended regular expression that must match the output of the command, after the matches of
#                         earlier patterns; !PATTERN must not match
#
# @FILE:TEXT@ is replaced by the number of the line of FILE that contains TEXT (not a comment line), and @PORT@ by the server's
# port.
#
# The session of a counterpart ends after its row. Earlier rows must succeed, except those that also need the feature. In the row
# itself, one command must have a wrong output, which matches `without:` if that is given, and the commands before it must have
# the expected output. An output such as "The program is not being run" is only accepted if `without:` matches it.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
rows_dir=$src/tests/clients/behaviours
kernels=$work/kernels
lldb=${LLDB:-lldb-19}
tab=$(printf '\t')
client=
# No process writes to this pipe: `read -t` from it serves as a sleep that starts no process.
mkfifo "$work/never"
exec 8<>"$work/never"

# When the script ends, removes all files and ends all processes.
leave() {
    # shellcheck disable=SC2046 # numbers
    kill $(jobs -p) 2>/dev/null
    wait
    if [ -n "${LW_KEEP:-}" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap leave EXIT
trap 'exit 1' INT TERM

# table USE [-v NAME=VALUE]...
table() {
    table_use=$1
    shift
    awk -v use="$table_use" -v dir="$kernels" "$@" -f "$rows_dir/check.awk" "$rows_dir"/*.rows
}

# prepare: puts the programs that are debugged into the folder $kernels
prepare() {
    mkdir "$kernels"
    for file in "$rows_dir"/*; do
        case $file in *.rows | *.sh | *.awk | *.md | *.list) ;; *) cp "$file" "$kernels/" ;; esac
    done
    mv "$work"/*.yaml "$work"/*.s "$work/walk.expected" "$kernels/"
    cp "$src"/tests/clients/golden/*.cl "$src"/tests/kernels/launch_chain.* "$src"/tests/kernels/simt_barrier.* \
        "$src"/tests/ptx/corpus/debug_nvcc.ptx "$src"/tests/ptx/corpus/debug_inlined.ptx "$kernels/"
    in_turns "$kernels"/*.yaml
    # Compiles each source once, so that the servers need not compile it.
    sed -n 's/^program: {source: \([a-z_]*\.c[lu]\)\(, options: \[\(.*\)\]\)\{0,1\}}$/\1 \3/p' "$kernels"/*.yaml | sort -u |
        while read -r source options; do
            # shellcheck disable=SC2046 # words
            (cd "$kernels" && "$lanewise" compile $(echo " $options" | sed 's/[ ,]\{1,\}/ -X /g; s/ -X $//') \
                -o "$source.lwo" "$source") || echo "$source" >>"$work/failed"
        done
    [ ! -e "$work/failed" ] || { echo "FAIL: kernels do not compile: $(cat "$work/failed")"; exit 1; }
    sed -i 's/^program: {source: \([a-z_]*\.c[lu]\)[,}].*/program: {source: \1.lwo}/' "$kernels"/*.yaml
}

# usage: ticks PID. Appends the CPU time of each thread of the process to $ticks, and adds it to $used. Sets $busy if a thread is
# running
ticks() {
    for stat in "/proc/$1"/task/*/stat; do
        read -r line 2>/dev/null <"$stat" || continue
        # shellcheck disable=SC2086 # words
        set -- ${line##*) }
        case $1 in S | I | Z | X | t | T) ;; *) busy=yes ;; esac
        ticks="$ticks ${12},${13}"
        used=$((used + ${12} + ${13}))
    done
}

# usage: has_child PID. Tests whether the process has a running child (as gdb has during `shell`)
has_child() {
    for stat in /proc/[0-9]*/stat; do
        read -r line 2>/dev/null <"$stat" || continue
        # shellcheck disable=SC2086 # words
        set -- "$1" ${line##*) }
        [ "$3" != "$1" ] || [ "$2" = Z ] || return 0
    done
    return 1
}

# usage: watch_client LIMIT HANGS. Waits for $client, at most LIMIT tenths of a second. If client and server both sleep and use no
# CPU time for two seconds, they wait for each other (on a loaded host they would be running), and the function ends the client.
# If HANGS is "yes", it also ends the client after they have used a second of CPU time without output. Sets $client_status as
# timeout(1) does.
watch_client() {
    waited=0 still=0 last='' printed='' used_then=0
    while kill -0 "$client" 2>/dev/null; do
        read -r -t 0.1 -u 8 _
        waited=$((waited + 1))
        ticks='' busy='' used=0
        ticks "$client"
        [ -z "$server" ] || ticks "$server"
        if [ -n "$busy" ] || [ "$ticks" != "$last" ]; then still=0; else still=$((still + 1)); fi
        last=$ticks
        [ $still -lt 20 ] || ! has_child "$client" || still=0
        if [ "$2" = yes ]; then
            size=$(stat -c %s "$work/raw")
            [ "$size" = "$printed" ] || { printed=$size used_then=$used; }
            [ $((used - used_then)) -lt 100 ] || still=20
        fi
        if [ $still -ge 20 ] || [ $waited -ge "$1" ]; then
            kill -KILL -- "-$client" 2>/dev/null
            wait "$client" 2>/dev/null
            client_status=124
            return
        fi
    done
    wait "$client"
    client_status=$?
}

# usage: launch_with CLIENT LIMIT HANGS. Starts the debugger with the commands in $work/commands. Core files are disabled, and the
# output is limited
launch_with() {
    case $1 in
    gdb | mi) debugger=gdb ;;
    gdb-* | mi-*) debugger=gdb-multiarch ;;
    lldb) debugger=$lldb ;;
    esac
    limit=$2 hangs=$3 input=/dev/null
    if [ "$1" = lldb ]; then
        # The commands are not on the command line of lldb, which would end at the first one that fails.
        sed "s/^$(printf '\001')/# @@row /" "$work/commands" >"$work/commands.lldb"
        set -- --no-lldbinit --no-use-colors --batch \
            -O 'settings set symbols.enable-external-lookup false' \
            -O 'settings set auto-confirm true'
        [ -n "$unconnected" ] || set -- "$@" -o "gdb-remote 127.0.0.1:$port"
        set -- "$@" -o "command source -s false -e false -c false $work/commands.lldb"
    elif [ "${1#mi}" != "$1" ]; then
        input=$work/commands.mi
        {
            printf '%s\n' '-gdb-set confirm off' "-environment-directory $work"
            [ -n "$unconnected" ] || echo "-target-select remote :$port"
            while IFS= read -r line; do
                case $line in
                $'\001'*) printf '%s\n' "-interpreter-exec console \"echo @@row ${line#?}\\\\n\"" ;;
                $'\002'*) printf '%s\n' "-interpreter-exec console \"echo @@cmd ${line#?}\\\\n\"" ;;
                *) printf '%s\n' "$line" ;;
                esac
            done <"$work/commands"
        } >"$input"
        set -- -nx -q -i mi3 -iex 'set debuginfod enabled off' -iex 'set tcp auto-retry off'
    else
        set -- -nx -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' -iex 'set tcp auto-retry off' \
            -iex 'set width 0' -iex 'set height 0' -iex 'set style enabled off' \
            -ex "directory $work" -ex 'set trace-commands on'
        [ -n "$unconnected" ] || set -- "$@" -ex "target remote :$port"
        while IFS= read -r line; do
            case $line in
            $'\001'*) set -- "$@" -ex "echo @@row ${line#?}\\n" ;;
            *) set -- "$@" -ex "$line" ;;
            esac
        done <"$work/commands"
    fi
    (cd "$work" && ulimit -c 0 -f 20000 && exec setsid stdbuf -o0 "$debugger" "$@") 8<&- <"$input" >"$work/raw" 2>&1 &
    client=$!
    watch_client "$limit" "$hangs"
    client=
    sed -e "s#$work/##g" -e 's/^(lldb) # @@row/@@row/' -e 's/^~"\(@@[^"\\]*\)\(\\n\)\{0,1\}"$/\1/' "$work/raw" >"$work/transcript"
}

# usage: run_session JOB CLIENT SESSION [FEATURE ROW HANGS]. Runs a session in a new folder. With FEATURE and ROW, runs the
# negative counterpart of this row
run_session() {
    work=$work/$1
    cp -rl "$kernels" "$work"
    server='' failures=0
    trap '[ -z "$client" ] || kill -KILL -- "-$client" 2>/dev/null; stop_server' EXIT
    trap 'exit 1' TERM
    while IFS=$tab read -r name file options unconnected; do
        [ "$name" != "$3" ] || break
    done <"$launches"
    [ "$options" != - ] || options=
    arch=x86-64
    case $2 in *-aarch64) arch=aarch64 ;; esac
    # shellcheck disable=SC2086
    serve "$server_program" "$file" $arch $options ${4:+--without "$4"}
    table commands -v session="$3" -v client="$2" -v port="$port" -v row="${5:-}" >"$work/commands" || exit 1
    launch_with "$2" "$((10 * ${LW_SESSION_SECONDS:-120}))" "${6:-}"
    stop_server
    # In a counterpart, gdb may wait for ever or fail.
    [ "$client_status" -le 1 ] || [ -n "${4:-}" ] || fail "$2: session $3 ended with status $client_status"
    if [ -z "${4:-}" ]; then
        exception=$(grep -m 1 'Python Exception' "$work/transcript") &&
            fail "$2: session $3: the Python file raises an exception: $exception"
    fi
    table check -v session="$3" -v client="$2" -v port="$port" -v only="${4:-}" -v row="${5:-}" \
        -v verbose="${LW_VERBOSE:-}" -v transcript="$work/transcript" || failures=$((failures + 1))
    exit $((failures > 0))
}

# pool: runs each line of standard input, the arguments of run_session after JOB, several at the same time
pool() {
    jobs=${LW_JOBS:-$(($(nproc) + 1))} running=0 number=0
    while IFS=$tab read -r p_client p_session p_feature p_row p_hangs; do
        if [ $running -ge "$jobs" ]; then
            wait -n 2>/dev/null
            running=$((running - 1))
        fi
        number=$((number + 1))
        name=$p_client.$p_session${p_row:+.$p_row}
        (run_session "$name" "$p_client" "$p_session" "$p_feature" "$p_row" "$p_hangs") \
            >"$work/$name.result" 2>&1 || echo "$name" >>"$work/failed" &
        echo "$name" >>"$work/order"
        running=$((running + 1))
    done
    wait
}

# report: prints the results of the jobs of a pool, in order
report() {
    while read -r name; do
        cat "$work/$name.result"
    done <"$work/order"
    [ ! -s "$work/failed" ] || failures=$((failures + $(grep -c . "$work/failed")))
    rm -f "$work/order" "$work/failed"
}

# usage: own SESSION CLIENT. Tests whether the session has a row that only this client runs
own() {
    while IFS=$tab read -r own_session _ own_client _; do
        [ "$own_session" != "$1" ] || [ "$own_client" != "$2" ] || return 0
    done <"$work/list"
    return 1
}

# behaviours CLIENT
behaviours() {
    case $1 in
    gdb | mi) need gdb ;;
    gdb-* | mi-*) need gdb-multiarch ;;
    lldb) need "$lldb" ;;
    esac
    prepare
    launches=$work/launches
    table launches >"$launches" || exit 1
    table list >"$work/all"
    awk -F '\t' -v c="$1" '(" " $3 " ") ~ (" " c " ")' "$work/all" >"$work/list"
    [ -s "$work/list" ] || { echo "FAIL: no rows for $1"; exit 1; }
    turn=0
    cut -f 1,8 "$work/list" | uniq | while IFS=$tab read -r session everywhere; do
        if [ -n "${LW_SESSIONS:-}" ]; then
            case " $LW_SESSIONS " in *" $session "*) ;; *) continue ;; esac
        elif [ -z "${LW_LONG:-}" ]; then
            case $1:$everywhere in gdb-*:- | mi-*:-) continue ;; esac
            turn=$((turn + 1))
            case $1 in
            *-x86-64) [ $((turn % 3)) = 2 ] || own "$session" "$1" || continue ;;
            *-aarch64) [ $((turn % 3)) = 1 ] || own "$session" "$1" || continue ;;
            esac
        fi
        printf '%s\t%s\n' "$1" "$session"
    done >"$work/jobs"
    pool <"$work/jobs"
    report
    twins "$1" >"$work/jobs"
    [ ! -s "$work/jobs" ] || { pool <"$work/jobs"; report; }
    finish
}

# usage: twins CLIENT. Prints the negative counterparts to run, as lines for pool. With LW_LONG=1 it prints all. Otherwise, for
# gdb it prints one counterpart per feature, that with the fewest rows before it. For gdb's machine interface and lldb it does
# the same for features that no row of gdb shows, and for a third of the other features. For other target architectures it prints
# the counterparts of rows that only this client has.
twins() {
    [ "${LW_TWINS:-}" != none ] || return 0
    awk -F '\t' -v OFS='\t' -v client="$1" -v all="${LW_LONG:-}" -v sessions=" ${LW_SESSIONS:-} " -v rows=" ${LW_ROWS:-} " '
        NR != FNR { if ((" " $3 " ") ~ / gdb /) in_gdb[$4] = 1; next }
        { before[NR] = same[$1]++; line[NR] = $0; rows_here = NR }
        $4 == "-" { next }
        sessions != "  " && !index(sessions, " " $1 " ") { next }
        rows != "  " { if (index(rows, " " $2 " ")) take[NR] = 1; next }
        all != "" || (client ~ /-/ && $3 == client) { take[NR] = 1; next }
        client ~ /-/ { next }
        { cost = before[NR] + ($5 == "yes" ? 1000 : 0) }
        !($4 in best) || cost < least[$4] { best[$4] = NR; least[$4] = cost }
        END {
            for (feature in best) take[best[feature]] = feature
            for (i = 1; i <= rows_here; i++) if (i in take) {
                if (client != "gdb" && (take[i] in in_gdb) && shared++ % 3 != 0) continue
                split(line[i], f); print client, f[1], f[4], f[2], f[5]
            }
        }' "$work/list" "$work/all"
}
