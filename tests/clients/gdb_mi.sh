#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests gdb's machine interface (MI), which VS Code and other front ends use: each command that they need, and its reply. A
# command is sent after the previous one has been answered.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cp "$src"/tests/clients/golden/variables.cl "$work"/
token=0
checks=0

# start: starts gdb, which reads commands from file descriptor 3 and writes to $work/mi
start() {
    rm -f "$work/in"
    mkfifo "$work/in"
    : >"$work/mi"
    (cd "$work" && exec timeout 400 gdb -nx -q -i mi3 -iex 'set debuginfod enabled off') \
        <"$work/in" >"$work/mi" 2>&1 &
    mi=$!
    exec 3>"$work/in"
}

# usage: wait_for PATTERN. Waits until a line of the output after line $from matches, at most a minute
wait_for() {
    tries=0
    until tail -n "+$from" "$work/mi" | grep -qE "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || return 1
        sleep 0.05
    done
}

check() { # KIND PATTERN
    checks=$((checks + 1))
    if tail -n "+$from" "$work/mi" | grep -qE "$2"; then
        return
    fi
    fail "$command: no $1 matches $2:"
    tail -n "+$from" "$work/mi" | cut -c1-600 | sed 's/^/    | /'
}

say() {
    token=$((token + 1))
    command=$1
    from=$(($(wc -l <"$work/mi") + 1))
    printf '%s%s\n' "$token" "$command" >&3
}

# usage: ask COMMAND PATTERN. Sends COMMAND; its result record must match PATTERN
ask() {
    say "$1"
    wait_for "^$token\\^" || fail "$command: gdb does not answer"
    check result "^$token\\^$2"
}

# usage: go COMMAND PATTERN. Sends COMMAND, which runs the program. The *stopped record must match PATTERN
go() {
    say "$1"
    wait_for '^\*stopped|\^error' || fail "$command: gdb reports neither a stop nor an error"
    check result "^$token\\^running"
    check stop "^\\*stopped,$2"
}

leave() {
    say -gdb-exit
    wait "$mi"
    exec 3>&-
}

# The commands that cpptools and Native Debug send before a session, and those of docs/howto/debug-in-vscode.md.
page() { # KEY: prints the texts in the first list with this name
    sed -n "/\"$1\": \\[/,/^ *\\],*\$/p" "$src/docs/howto/debug-in-vscode.md" | sed -n 's/.*{"text": "\(.*\)"[,}].*/\1/p' |
        sed 's/", "ignoreFailures.*//'
}
ask_page() {
    page "$1" >"$work/page"
    [ "$(wc -l <"$work/page")" = "$2" ] || fail "docs/howto/debug-in-vscode.md: $1: not $2 commands"
    while read -r text; do
        case $text in
        -*) ask "$text" done ;;
        *) ask "-interpreter-exec console \"$text\"" done ;;
        esac
    done <"$work/page"
}
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0 --gdb-file "$work/kernels.lwo"
start
ask '-gdb-set target-async on' done
ask '-gdb-set pagination off' done
ask '-gdb-set auto-solib-add on' done
ask '-environment-cd /tmp' done
ask_page setupCommands 2
ask "-file-exec-and-symbols $work/kernels.lwo" done
ask "-target-select remote 127.0.0.1:$port" connected
ask_page postRemoteConnectCommands 1
ask '-list-features' 'done,features=\[.*"thread-info".*"data-read-memory-bytes"'
ask '-list-target-features' 'done,features=\["async","reverse"\]'
ask '-list-thread-groups' 'done,groups=\[\{id="i1",type="process",pid='
ask '-thread-info' 'done,threads=\[\{id="1",target-id="Thread 1",details="pc=0x100000000 active=32/32 state=ready splits=1",name="block\(0,0,0\) w0 lane 0",frame=\{level="0",addr="0x0000000100000000",func="walk"'
ask '-thread-info 4' 'done,threads=.*core="1"'
ask '-thread-list-ids' 'done,thread-ids=\{thread-id="1",thread-id="2",thread-id="3",thread-id="4"\},current-thread-id="1",number-of-threads="4"'
ask '-file-list-exec-source-files' 'done,files=\[\{file="[^"]*walk\.s"'

# Breakpoints.
ask '-break-insert -f -c "$lane == 2" walk.s:18' 'done,bkpt=\{number="1",type="breakpoint".*addr="0x00000001000000b0",func="walk".*line="18".*cond="\$lane == 2"'
ask '-break-list' 'done,BreakpointTable=\{nr_rows="1",.*line="18"'
go '-exec-continue' 'reason="breakpoint-hit",disp="keep",bkptno="1",frame=\{addr="0x00000001000000b0".*line="18".*thread-id="1",stopped-threads="all"'
ask '-break-info 1' 'done,BreakpointTable=.*evaluated-by="target".*times="1"'
ask '-break-disable 1' done
ask '-break-enable 1' done
ask '-break-condition 1 $lane == 3' done
ask '-break-after 1 1' done

# Frames, variables, registers, memory.
ask '-stack-info-depth' 'done,depth="1"'
ask '-stack-list-frames 0 1000' 'done,stack=\[frame=\{level="0",addr="0x00000001000000b0",func="walk".*line="18"'
ask '-stack-list-arguments 1 0 0' 'done,stack-args=\[frame=\{level="0",args=\[\{name="out",value="0x200000000000"\},\{name="n",value="96"\}\]'
ask '-stack-list-variables --simple-values' 'done,variables=\[\{name="out",arg="1",type="void \*",value="0x200000000000"\}'
ask '-data-list-register-names' 'done,register-names=\["rax",.*"rip",.*"lane",.*"exec",.*"v7"'
ask '-data-list-register-values x 16' 'done,register-values=\[\{number="16",value="0x1000000b0"\}\]'
ask '-data-list-changed-registers' 'done,changed-registers=\['
ask '-data-evaluate-expression $v7.u32[3]' 'done,value="3"'
ask '-data-evaluate-expression "$lane=6"' 'done,value="6"'
ask '-stack-info-frame' 'done,frame=\{level="0".*func="walk"'
ask '-var-create reg * $v7' 'done,name="reg",numchild="3",value="\{\.\.\.\}",type="lanes"'
ask '-var-list-children --all-values reg' 'done,numchild="3",children=\[child=\{name="reg\.u32",exp="u32",numchild="32"'
ask '-var-list-children --all-values reg.u32 0 8' 'done,numchild="8",children=\[child=\{name="reg\.u32\.0",exp="0",numchild="0",value="0",type="uint32_t".*name="reg\.u32\.3",exp="3",numchild="0",value="3"'
ask '-var-assign reg.u32.9 1234' 'done,value="1234"'
ask '-data-evaluate-expression $v7.u32[9]' 'done,value="1234"'
ask '-var-assign reg.u32.9 1' 'done,value="1"'
ask '-var-update --all-values reg' 'done,changelist=\['
ask '-var-delete reg' 'done,ndeleted='
ask '-data-disassemble -s $pc -e "$pc + 32" -- 0' 'done,asm_insns=\[\{address="0x00000001000000b0",func-name="walk",offset="176",inst="v_add_u32 v6, v6, v7"\},\{address="0x00000001000000c0",'
ask '-data-disassemble -f walk.s -l 18 -n -1 -- 1' 'done,asm_insns=\[src_and_asm_line=\{line="6",.*line="18",file="walk\.s",.*inst="v_add_u32 v6, v6, v7"'
ask '-data-read-memory-bytes 0x200000000000 8' 'done,memory=\[\{begin="0x0000200000000000",offset="0x0000000000000000",end="0x0000200000000008",contents="0000000000000000"'
ask '-data-write-memory-bytes 0x200000000000 2a000000' done
ask '-data-read-memory-bytes 0x200000000000 4' 'done,.*contents="2a000000"'
ask '-data-read-memory-bytes 0x7fff 4' 'error,msg="Unable to read memory\."'
ask '-thread-select 2' 'done,new-thread-id="2",frame=\{level="0",addr="0x0000000100000000"'
ask '-data-evaluate-expression --thread 1 --frame 0 $lane' 'done,value="6"'
ask '-thread-select 1' 'done,new-thread-id="1"'

# Forward and reverse steps.
go '-exec-next' 'reason="end-stepping-range",frame=\{addr="0x00000001000000c0".*line="19"'
go '-exec-step-instruction' 'reason="end-stepping-range",frame=\{addr="0x00000001000000d0".*line="20"'
go '-exec-next --reverse' 'reason="end-stepping-range",frame=\{addr="0x00000001000000c0".*line="19"'
go '-exec-step' 'reason="end-stepping-range",frame=\{.*line="20"'
ask '-break-delete 1' done
ask '-break-insert square' 'done,bkpt=\{number="2".*func="square"'
go '-exec-continue' 'reason="breakpoint-hit",.*bkptno="2",.*func="square"'
ask '-stack-list-frames' 'done,stack=\[frame=\{level="0",.*func="square".*frame=\{level="1",.*func="walk"'
ask '-stack-select-frame 1' done
ask '-stack-info-frame' 'done,frame=\{level="1",.*func="walk"'
ask '-stack-select-frame 0' done
go '-exec-finish' 'reason="function-finished",frame=\{.*func="walk".*line="2[34]"'
go '-exec-continue --reverse' 'reason="breakpoint-hit",.*bkptno="2",.*func="square"'
ask '-break-delete' done
go '-exec-continue --reverse' 'frame=\{addr="0x0000000100000000",func="walk"'
check note '^~".*No more reverse-execution history'
ask '-break-watch *(int*)0x200000000010' 'done,(hw-)?wpt=\{number="3",exp='
go '-exec-continue' 'reason="watchpoint-trigger",(hw-)?wpt=\{number="3".*value=\{old="0",new="'
ask '-break-delete 3' done
go '-exec-continue' 'reason="exited-normally"'
leave
server_ends
[ "$status" = 0 ] || fail "the run ended with status $status, not 0"

# Variables of a kernel, as a tree.
serve "$lanewise" run variables.yaml --gdb 127.0.0.1:0
start
line=$(sed -n '/in the loop/=' "$work/variables.cl")
ask "-target-select remote 127.0.0.1:$port" connected
ask "-break-insert -t -c \"k == 2 && global_id.x == 70\" variables.cl:$line" 'done,bkpt=\{number="1",.*disp="del"'
go '-exec-continue' 'reason="breakpoint-hit",disp="del",.*thread-id="3"'
ask '-stack-list-variables --thread 3 --frame 0 --all-values' 'done,variables=\[.*\{name="k",value="2"\}'
ask '-var-create r * r' 'done,name="r",numchild="3",value="\{\.\.\.\}",type="record"'
ask '-var-list-children --all-values r' 'done,numchild="3",children=\[child=\{name="r\.id",exp="id",numchild="0",value="70",type="int"'
ask '-var-list-children r.weight' 'done,numchild="3"'
ask '-var-info-path-expression r.weight.1' 'done,path_expr="\(\(r\)\.weight\)\[1\]"'
ask '-var-evaluate-expression r.id' 'done,value="70"'
ask '-data-evaluate-expression blockIdx.x' 'done,value="1"'
# With the Python file, a watchpoint belongs to the lane that is in focus when the watchpoint is set.
ask "-interpreter-exec console \"python exec(bytes.fromhex(gdb.selected_inferior().connection.send_packet('qGpuPy').decode()))\"" done
ask '-interpreter-exec console "set $lane = 3"' done
ask '-break-watch k' 'done,(hw-)?wpt=\{number="2",exp="k"\}'
check note '^~"\[k: block\(1,0,0\) w0 lane 3\]'
go '-exec-continue' 'reason="watchpoint-trigger",(hw-)?wpt=\{number="2",exp="k"\}'
ask '-data-evaluate-expression $lane' 'done,value="3"'
# When another lane gets the focus, gdb would delete the watchpoint, so the Python file replaces it by one on the address.
ask '-interpreter-exec console "set $lane = 9"' done
check replacement '^=breakpoint-created,bkpt=\{number="3",type="hw watchpoint"'
check replacement '^=breakpoint-deleted,id="2"'
check note '^~"this watchpoint replaces watchpoint 2, which gdb would delete because lane 9 is in focus now; it watches the memory of lane 3'
go '-exec-continue' 'reason="watchpoint-trigger",(hw-)?wpt=\{number="3",.*value=\{old="3",new="4"\}'
ask '-data-evaluate-expression $lane' 'done,value="3"'
ask '-break-delete 3' done
say '-exec-run'
wait_for "^$token\\^" && check refusal "^$token\\^error"
leave
stop_server

# The negative counterpart: if the stub does not send the program's object, gdb has no lines, and the check of lines fails.
serve "$server_program" walk.yaml x86-64 --without exec-file
start
ask "-target-select remote 127.0.0.1:$port" connected
say '-break-insert walk.s:18'
wait_for "^$token\\^"
check twin "^$token\\^error,msg=\"No symbol table is loaded"
leave
[ $failures != 0 ] || echo "ok: $checks replies of gdb's machine interface"
finish
