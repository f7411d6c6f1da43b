# SPDX-License-Identifier: Apache-2.0
# Runs the rows of tests/behaviours/*.rows in one client, the real program, and a few of them
# against a stub without the feature that they show (README there). Sourced by
# tests/behaviours_*.sh, which say which client; LW_TWINS=all runs every negative twin, LW_TWINS=none
# none; LW_SESSIONS="a b" those sessions alone; LW_KEEP=1 keeps the folder and says where.
#
# A session is one debugger and one server, of `launch:`; its rows run one after the other, in order,
# and hand the machine on. A row:
#
#   row NAME
#   shows: what it shows: a row of the features of a stub, or a sentence on splits
#   off: FEATURE          the row fails against tests/gdb_server --without FEATURE; left out: no
#                         feature can be taken away
#   twin-seconds: N       without it the debugger waits for ever: end it then
#   clients: NAME...      gdb gdb-x86-64 gdb-aarch64 lldb; else those that it has commands for
#   gdb> COMMAND          for gdb (`lldb>`: for lldb), and below, indented by two blanks, what its
#     PATTERN             output has: extended regular expressions, in order; !PATTERN must not be there
#
# @FILE:TEXT@ is the number of the line of FILE that has TEXT (not a comment line), @PORT@ the server's port.
. "${srcdir:-.}/tests/gdb_lib.sh"
rows_dir=$src/tests/behaviours
tab=$(printf '\t')
[ -z "${LW_KEEP:-}" ] || { trap 'stop_server; echo "kept: $work"' EXIT; }

# table USE [-v NAME=VALUE]...
table() {
    table_use=$1
    shift
    awk -v use="$table_use" -v dir="$work" "$@" -f "$rows_dir/check.awk" "$rows_dir"/*.rows
}

# prepare: kernels in $work; what a compiler has to see is compiled once
prepare() {
    for file in "$rows_dir"/*; do
        case $file in *.rows | *.sh | *.awk | *.md) ;; *) cp "$file" "$work/" ;; esac
    done
    cp "$src"/tests/golden/gdb/*.cl "$src"/tests/kernels/launch_chain.* "$src"/tests/kernels/simt_barrier.* \
        "$src"/tests/corpus/ptx/debug_nvcc.ptx "$src"/tests/corpus/ptx/debug_inlined.ptx "$work/"
}

# launch_with CLIENT: the debugger, with the commands of $work/commands
launch_with() {
    case $1 in
    gdb) debugger=gdb ;;
    gdb-*) debugger=gdb-multiarch ;;
    lldb) debugger=lldb-19 ;;
    esac
    if [ "$debugger" = lldb-19 ]; then
        set -- --no-lldbinit --no-use-colors \
            -O 'settings set symbols.enable-external-lookup false' \
            -O 'settings set auto-confirm true'
        [ -n "$unconnected" ] || set -- "$@" -o "gdb-remote 127.0.0.1:$port"
        while IFS= read -r line; do
            case $line in
            "$(printf '\001')"*) set -- "$@" -o "# @@row ${line#?}" ;;
            *) set -- "$@" -o "$line" ;;
            esac
        done <"$work/commands"
    else
        set -- -nx -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' \
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
    (cd "$work" && exec timeout "${LW_SESSION_SECONDS:-60}" "$debugger" "$@") </dev/null >"$work/raw" 2>&1
    client_status=$?
    sed -e "s#$work/##g" -e 's/^(lldb) # @@row/@@row/' "$work/raw" >"$work/transcript"
}

# run_session CLIENT SESSION WITHOUT [ROW]: WITHOUT is empty, or a feature that is off
run_session() {
    table launch -v session="$2" >"$work/launch" || exit 1
    IFS=$tab read -r file unconnected <"$work/launch"
    arch=x86-64
    [ "$1" != gdb-aarch64 ] || arch=aarch64
    # shellcheck disable=SC2086
    serve "$server_program" "$file" $arch ${3:+--without "$3"}
    table commands -v session="$2" -v client="$1" -v port="$port" >"$work/commands" || exit 1
    launch_with "$1"
    stop_server
    # Without a feature gdb may well wait for ever, or give up.
    [ "$client_status" -le 1 ] || [ -n "$3" ] || fail "$1: session $2 ended with status $client_status"
    table check -v session="$2" -v client="$1" -v port="$port" -v only="$3" -v row="${4:-}" \
        -v transcript="$work/transcript" >"$work/verdict" || failures=$((failures + 1))
    cat "$work/verdict"
    [ -z "${LW_KEEP:-}" ] || cp "$work/transcript" "$work/transcript.$1.$2${3:+.$3}"
}

# behaviours CLIENT
behaviours() {
    case $1 in
    gdb) need gdb ;;
    gdb-*) need gdb-multiarch ;;
    lldb) need lldb-19 ;;
    esac
    prepare
    table list | awk -F '\t' -v c="$1" '(" " $3 " ") ~ (" " c " ")' >"$work/list"
    [ -s "$work/list" ] || { echo "FAIL: no rows for $1"; exit 1; }
    for session in ${LW_SESSIONS:-$(cut -f 1 "$work/list" | uniq)}; do
        run_session "$1" "$session" ''
    done
    twins "$1"
    finish
}

# Negative twins: the rows of a feature fail against a stub that lacks it. In ./test.sh one
# row of each feature, in plain gdb; nightly all of them in all clients.
twins() {
    case ${LW_TWINS:-some} in
    none) return ;;
    all)
        awk -F '\t' '$4 != "" { if ($5 > s[$1 "\t" $4]) s[$1 "\t" $4] = $5; seen[$1 "\t" $4] }
        END { for (k in seen) print k "\t" (k in s && s[k] ? s[k] : 20) "\t" }' "$work/list" | sort >"$work/twins"
        ;;
    *)
        [ "$1" = gdb ] || return
        awk -F '\t' '$4 != "" && !seen[$4]++ { print $1 "\t" $4 "\t" ($5 ? $5 : 20) "\t" $2 }' "$work/list" >"$work/twins"
        ;;
    esac
    while IFS=$tab read -r session feature LW_SESSION_SECONDS row <&3; do
        [ -z "${LW_SESSIONS:-}" ] || case " $LW_SESSIONS " in *" $session "*) ;; *) continue ;; esac
        run_session "$1" "$session" "$feature" "$row"
    done 3<"$work/twins"
}
