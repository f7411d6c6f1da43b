# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs the rows of tests/clients/behaviours/*.rows in one client, the real program, and negative twins of
# them: the same rows against a stub without what they show. Sourced by tests/clients/behaviours_*.sh, which
# say which client.
#
#   LW_TWINS=all     every negative twin, LW_TWINS=none: none; else a choice for some clients (twins below)
#   LW_SESSIONS="a b" those sessions alone; LW_ROWS="a b": the twins of those rows alone
#   LLDB=PROGRAM     another lldb than lldb-19
#   LW_JOBS=N        so many sessions at once (one more than processors: twins often wait)
#   LW_KEEP=1        keeps the folder and says where; LW_VERBOSE=1 shows what the twins answer
#
# A session is one debugger and one server, of `launch:`, a launch file and an option of the server; its rows run one after the other, in order,
# and hand the machine on. A row:
#
#   row NAME
#   shows: what it shows: a row of the features of a stub, or a sentence on splits
#   off: FEATURE          its twin: it fails against tests/clients/gdb_server --without FEATURE
#   needs: FEATURE...     it also fails without these: the twins of rows behind it may find it so
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
# The session of a twin ends behind its row. It must fail there and for its own reason: the rows before
# hold (but those that need the feature as well), the row is come to, its commands before the wrong
# one give what they should, that one is carried out and comes to its end with the wrong answer,
# `without:` if that is told; "The program is not being run" and the like must be told.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
rows_dir=$src/tests/clients/behaviours
kernels=$work/kernels
lldb=${LLDB:-lldb-19}
tab=$(printf '\t')
client=

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
}

# ticks PID: adds the processor time of its threads to $ticks; $busy: one of them runs
ticks() {
    for stat in "/proc/$1"/task/*/stat; do
        read -r line 2>/dev/null <"$stat" || continue
        # shellcheck disable=SC2086 # words
        set -- ${line##*) }
        case $1 in S | I | Z | X | t | T) ;; *) busy=yes ;; esac
        ticks="$ticks ${12},${13}"
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

# watch_client LIMIT: waits for $client, at most LIMIT tenths of a second. When it and the server both
# sleep and use no processor time for two seconds, however loaded the machine is, each waits for the other
# for ever: it is ended then. $client_status as of timeout(1).
watch_client() {
    waited=0 still=0 last=
    while kill -0 "$client" 2>/dev/null; do
        sleep 0.1
        waited=$((waited + 1))
        ticks= busy=
        ticks "$client"
        [ -z "$server" ] || ticks "$server"
        if [ -n "$busy" ] || [ "$ticks" != "$last" ]; then still=0; else still=$((still + 1)); fi
        last=$ticks
        [ $still -lt 20 ] || ! has_child "$client" || still=0
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

# launch_with CLIENT LIMIT: the debugger, with the commands of $work/commands; no core where it
# aborts, and no endless output
launch_with() {
    case $1 in
    gdb | mi) debugger=gdb ;;
    gdb-* | mi-*) debugger=gdb-multiarch ;;
    lldb) debugger=$lldb ;;
    esac
    limit=$2 input=/dev/null
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
                "$(printf '\001')"*) printf '%s\n' "-interpreter-exec console \"echo @@row ${line#?}\\\\n\"" ;;
                "$(printf '\002')"*) printf '%s\n' "-interpreter-exec console \"echo @@cmd ${line#?}\\\\n\"" ;;
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
            "$(printf '\001')"*) set -- "$@" -ex "echo @@row ${line#?}\\n" ;;
            *) set -- "$@" -ex "$line" ;;
            esac
        done <"$work/commands"
    fi
    (cd "$work" && ulimit -c 0 -f 20000 && exec setsid stdbuf -o0 "$debugger" "$@") <"$input" >"$work/raw" 2>&1 &
    client=$!
    watch_client "$limit"
    client=
    sed -e "s#$work/##g" -e 's/^(lldb) # @@row/@@row/' -e 's/^~"\(@@[^"\\]*\)\(\\n\)\{0,1\}"$/\1/' "$work/raw" >"$work/transcript"
}

# run_session JOB CLIENT SESSION LIMIT [FEATURE ROW]: in a folder of its own; with a feature
# and a row it is the twin of that row
run_session() {
    work=$work/$1
    cp -r "$kernels" "$work"
    server= failures=0
    trap '[ -z "$client" ] || kill -KILL -- "-$client" 2>/dev/null; stop_server' EXIT
    trap 'exit 1' TERM
    table launch -v session="$3" >"$work/launch" || exit 1
    IFS=$tab read -r file options unconnected <"$work/launch"
    [ "$options" != - ] || options=
    arch=x86-64
    case $2 in *-aarch64) arch=aarch64 ;; esac
    # shellcheck disable=SC2086
    serve "$server_program" "$file" $arch $options ${5:+--without "$5"}
    table commands -v session="$3" -v client="$2" -v port="$port" -v row="${6:-}" >"$work/commands" || exit 1
    began=$EPOCHREALTIME
    launch_with "$2" "$4"
    ended=$EPOCHREALTIME
    stop_server
    echo $(((${ended/./} - ${began/./}) / 100000)) >"$work/tenths"
    # Without a feature gdb may well wait for ever, or give up.
    [ "$client_status" -le 1 ] || [ -n "${5:-}" ] || fail "$2: session $3 ended with status $client_status"
    if grep -q 'Python Exception' "$work/transcript" && [ -z "${5:-}" ]; then
        fail "$2: session $3: $(grep -m 1 'Python Exception' "$work/transcript")"
    fi
    table check -v session="$3" -v client="$2" -v port="$port" -v only="${5:-}" -v row="${6:-}" \
        -v verbose="${LW_VERBOSE:-}" -v transcript="$work/transcript" || failures=$((failures + 1))
    exit $((failures > 0))
}

# pool: runs the lines of standard input, the arguments of run_session behind JOB, some at once
pool() {
    jobs=${LW_JOBS:-$(($(nproc) + 1))} running=0 number=0
    while IFS=$tab read -r p_client p_session p_limit p_feature p_row; do
        if [ $running -ge "$jobs" ]; then
            wait -n 2>/dev/null
            running=$((running - 1))
        fi
        number=$((number + 1))
        name=$p_client.$p_session${p_row:+.$p_row}
        (run_session "$name" "$p_client" "$p_session" "$p_limit" "$p_feature" "$p_row") \
            >"$work/$name.verdict" 2>&1 || echo "$name" >>"$work/failed" &
        echo "$name" >>"$work/order"
        running=$((running + 1))
    done
    wait
}

# report: what the jobs of a pool say, in order
report() {
    while read -r name; do
        cat "$work/$name.verdict"
    done <"$work/order"
    [ ! -s "$work/failed" ] || failures=$((failures + $(grep -c . "$work/failed")))
    rm -f "$work/order" "$work/failed"
}

# behaviours CLIENT
behaviours() {
    case $1 in
    gdb | mi) need gdb ;;
    gdb-* | mi-*) need gdb-multiarch ;;
    lldb) need "$lldb" ;;
    esac
    prepare
    table list | awk -F '\t' -v c="$1" '(" " $3 " ") ~ (" " c " ")' >"$work/list"
    [ -s "$work/list" ] || { echo "FAIL: no rows for $1"; exit 1; }
    cut -f 1 "$work/list" | uniq | while read -r session; do
        [ -z "${LW_SESSIONS:-}" ] || case " $LW_SESSIONS " in *" $session "*) ;; *) continue ;; esac
        printf '%s\t%s\t%s\t\t\n' "$1" "$session" "$((10 * ${LW_SESSION_SECONDS:-120}))"
    done >"$work/jobs"
    pool <"$work/jobs"
    report
    twins "$1" >"$work/jobs"
    [ ! -s "$work/jobs" ] || { pool <"$work/jobs"; report; }
    finish
}

# twins CLIENT: which twins are run, as lines for pool. In ./test.sh all of them in plain gdb and in lldb; in
# gdb-multiarch one of each row of the features of a stub. A session that hangs with the processor busy
# is waited for three times as long as it takes when it is whole.
twins() {
    [ "${LW_TWINS:-some}" != none ] || return 0
    while IFS=$tab read -r session row clients feature hangs _ shows; do
        [ "$feature" != - ] || continue
        [ -z "${LW_SESSIONS:-}" ] || case " $LW_SESSIONS " in *" $session "*) ;; *) continue ;; esac
        if [ -n "${LW_ROWS:-}" ]; then
            case " $LW_ROWS " in *" $row "*) ;; *) continue ;; esac
        elif [ "${LW_TWINS:-some}" != all ]; then
            case $1:$shows in
            gdb-*:"MACHINE 9"* | gdb-*:"Source level"*) continue ;;
            gdb-* | mi-*)
                grep -qxF "$shows" "$work/chosen" 2>/dev/null && continue
                echo "$shows" >>"$work/chosen"
                ;;
            esac
        fi
        limit=$((10 * ${LW_SESSION_SECONDS:-120}))
        read -r whole <"$work/$1.$session/tenths" || whole=300
        [ "$hangs" != yes ] || limit=$((30 + 3 * whole))
        printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$session" "$limit" "$feature" "$row"
    done <"$work/list"
}
