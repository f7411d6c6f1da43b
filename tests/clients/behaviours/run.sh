# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs the rows of tests/clients/behaviours/*.rows in one client, the real program, and negative counterparts of
# them: the same rows against a stub without what they show. Sourced by tests/clients/behaviours_*.sh, which
# say which client.
#
#   LW_LONG=1        every session and every negative counterpart; else a choice of them (behaviours and twins below)
#   LW_TWINS=none    no counterpart
#   LW_SESSIONS="a b" those sessions alone; LW_ROWS="a b": the counterparts of those rows alone
#   LLDB=PROGRAM     another lldb than lldb-19
#   LW_JOBS=N        so many sessions at once (one more than processors: counterparts often wait)
#   LW_KEEP=1        keeps the folder and says where; LW_VERBOSE=1 shows what the counterparts answer
#
# A session is one debugger and one server, of `launch:`, a launch file and an option of the server; its rows run one after the other, in order,
# and hand the machine on. `every-architecture` below its name: gdb-multiarch runs it without LW_LONG=1, too (a third
# of them for each target architecture), since registers, calls, conditions or addresses may differ there. A row:
#
#   row NAME
#   shows: what it shows: a row of the features of a stub, or a sentence on splits
#   off: FEATURE          its counterpart: it fails against tests/clients/gdb_server --without FEATURE
#   needs: FEATURE...     it also fails without these: the counterparts of rows behind it may find it so
#   without: PATTERN      what the command whose answer is then wrong gives in place of it
#   hangs                 or it never comes to an end: the debugger waits
#   no-twin: WHY          there is no feature that could be taken away
#   clients: NAME...      gdb gdb-x86-64 gdb-aarch64 lldb mi mi-x86-64 mi-aarch64; else those that it has commands for
#   gdb> COMMAND          for gdb (`lldb>`: for lldb, `mi>`: for gdb's machine interface, as editors
#     PATTERN             drive it), and below, indented by two blanks, what its output has:
#                         extended regular expressions, in order; !PATTERN must not be there
#
# @FILE:TEXT@ is the number of the line of FILE that has TEXT (not a comment line), @PORT@ the server's port.
#
# The session of a counterpart ends behind its row. It must fail there and for its own reason: the rows before
# hold (but those that need the feature as well), the row is come to, its commands before the wrong
# one give what they should, that one is carried out and comes to its end with the wrong answer,
# `without:` if that is told; "The program is not being run" and the like must be told.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
rows_dir=$src/tests/clients/behaviours
kernels=$work/kernels
lldb=${LLDB:-lldb-19}
tab=$(printf '\t')
client=
# No process writes there: `read -t` from it waits without a process for each time.
mkfifo "$work/never"
exec 8<>"$work/never"

# Nothing stays behind when this is ended.
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

# prepare: what is debugged, in $kernels
prepare() {
    mkdir "$kernels"
    for file in "$rows_dir"/*; do
        case $file in *.rows | *.sh | *.awk | *.md | *.list) ;; *) cp "$file" "$kernels/" ;; esac
    done
    mv "$work"/*.yaml "$work"/*.s "$work/walk.expected" "$kernels/"
    cp "$src"/tests/clients/golden/*.cl "$src"/tests/kernels/launch_chain.* "$src"/tests/kernels/simt_barrier.* \
        "$src"/tests/ptx/corpus/debug_nvcc.ptx "$src"/tests/ptx/corpus/debug_inlined.ptx "$kernels/"
    # Each source is compiled once, not by each server.
    sed -n 's/^program: {source: \([a-z_]*\.c[lu]\)\(, options: \[\(.*\)\]\)\{0,1\}}$/\1 \3/p' "$kernels"/*.yaml | sort -u |
        while read -r source options; do
            # shellcheck disable=SC2046 # words
            (cd "$kernels" && "$lanewise" compile $(echo " $options" | sed 's/[ ,]\{1,\}/ -X /g; s/ -X $//') \
                -o "$source.lwo" "$source") || echo "$source" >>"$work/failed"
        done
    [ ! -e "$work/failed" ] || { echo "FAIL: not compiled: $(cat "$work/failed")"; exit 1; }
    sed -i 's/^program: {source: \([a-z_]*\.c[lu]\)[,}].*/program: {source: \1.lwo}/' "$kernels"/*.yaml
}

# ticks PID: adds the processor time of its threads to $ticks and to $used, their sum; $busy: one of them runs
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

# has_child PID: another process works for it (gdb's `shell`)
has_child() {
    for stat in /proc/[0-9]*/stat; do
        read -r line 2>/dev/null <"$stat" || continue
        # shellcheck disable=SC2086 # words
        set -- "$1" ${line##*) }
        [ "$3" != "$1" ] || [ "$2" = Z ] || return 0
    done
    return 1
}

# watch_client LIMIT HANGS: waits for $client, at most LIMIT tenths of a second. When it and the server both
# sleep and use no processor time for two seconds, however loaded the machine is, each waits for the other
# for ever: it is ended then. So it is where HANGS is "yes" and they use a second of processor time without
# output. $client_status as of timeout(1).
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

# launch_with CLIENT LIMIT HANGS: the debugger, with the commands of $work/commands; no core where it
# aborts, and no endless output
launch_with() {
    case $1 in
    gdb | mi) debugger=gdb ;;
    gdb-* | mi-*) debugger=gdb-multiarch ;;
    lldb) debugger=$lldb ;;
    esac
    limit=$2 hangs=$3 input=/dev/null
    if [ "$1" = lldb ]; then
        # Commands on its own line would end at the first that fails.
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

# run_session JOB CLIENT SESSION [FEATURE ROW HANGS]: in a folder of its own; with a feature
# and a row it is the counterpart of that row
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
    # Without a feature gdb may well wait for ever, or give up.
    [ "$client_status" -le 1 ] || [ -n "${4:-}" ] || fail "$2: session $3 ended with status $client_status"
    if [ -z "${4:-}" ]; then
        exception=$(grep -m 1 'Python Exception' "$work/transcript") && fail "$2: session $3: $exception"
    fi
    table check -v session="$3" -v client="$2" -v port="$port" -v only="${4:-}" -v row="${5:-}" \
        -v verbose="${LW_VERBOSE:-}" -v transcript="$work/transcript" || failures=$((failures + 1))
    exit $((failures > 0))
}

# pool: runs the lines of standard input, the arguments of run_session behind JOB, some at once
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

# report: what the jobs of a pool say, in order
report() {
    while read -r name; do
        cat "$work/$name.result"
    done <"$work/order"
    [ ! -s "$work/failed" ] || failures=$((failures + $(grep -c . "$work/failed")))
    rm -f "$work/order" "$work/failed"
}

# own SESSION CLIENT: it has a row for that client alone
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

# twins CLIENT: which counterparts are run, as lines for pool: with LW_LONG=1 all. Else one of each feature, that with the fewest
# rows before it, in gdb; in its machine interface and lldb the same for what gdb does not show, and a third of the others; on other
# target architectures those of rows for that client alone.
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
