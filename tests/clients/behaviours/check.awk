# SPDX-License-Identifier: Apache-2.0
# Reads the rows of tests/clients/behaviours/*.rows (run.sh describes their format). There are four uses:
#
#   -v use=commands   prints the commands that client -v client gets in session -v session; with -v row up to that row
#   -v use=check      checks the rows against a transcript: the last file, named in -v transcript
#   -v use=list       prints a line for each row, with tabs between the fields
#   -v use=launches   prints a line for each session: its launch file, and the server's options or "-"
#
# -v only=FEATURE -v row=ROW (with check): the transcript is that of a stub without the feature, and the row must
# fail.

function clients_of(i,   c) {
    if (limit[i] != "") return limit[i]
    c = ""
    if (has[i, "gdb"]) c = "gdb gdb-x86-64 gdb-aarch64"
    if (has[i, "lldb"]) c = c (c == "" ? "" : " ") "lldb"
    if (has[i, "mi"]) c = c (c == "" ? "" : " ") "mi mi-x86-64 mi-aarch64"
    return c
}
function family(c) { return c ~ /^lldb/ ? "lldb" : c ~ /^mi/ ? "mi" : "gdb" }
function serves(i, c) { return (" " clients_of(i) " ") ~ (" " c " ") }
# @FILE:TEXT@ is the number of the first line of FILE that has TEXT.
function lines(text,   file, what, n, line, key, a, head, tail) {
    while (match(text, /@[^@ ]+:[^@]+@/)) {
        head = substr(text, 1, RSTART - 1); tail = substr(text, RSTART + RLENGTH)
        key = substr(text, RSTART + 1, RLENGTH - 2)
        if (!(key in found)) {
            file = key; sub(/:.*/, "", file); what = substr(key, length(file) + 2)
            n = 0; found[key] = "0"
            while ((getline line < (dir "/" file)) > 0) {
                n++
                if (found[key] == "0" && line !~ /^(#|\/[*\/]| [*])/ && index(line, what)) found[key] = n
            }
            close(dir "/" file)
        }
        text = head found[key] tail
    }
    gsub(/@PORT@/, port, text)
    return text
}
function broken(text) { printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"; bad = 1; exit 2 }

/^#/ || /^[ \t]*$/ { next }
/^session / { current = $2; limit_session = ""; next }
/^launch: / { launch[current] = $2; options[current] = $3 == "" ? "-" : $3; next }
/^unconnected$/ { unconnected[current] = 1; next }
/^every-architecture$/ { everywhere[current] = 1; next }
/^row / {
    count++; name[count] = $2; session_of[count] = current; at = 0
    if (names[$2]++) broken("row " $2 " is there twice")
    next
}
/^shows: / { sub(/^shows: /, ""); shows[count] = $0; next }
/^off: / { sub(/^off: /, ""); off[count] = $0; next }
/^needs: / { sub(/^needs: /, ""); needs[count] = $0; next }
/^without: / { sub(/^without: /, ""); without[count] = $0; next }
/^hangs$/ { hangs[count] = 1; next }
/^no-twin: / { sub(/^no-twin: /, ""); reason[count] = $0; next }
/^clients: / { sub(/^clients: /, ""); limit[count] = $0; next }
/^(gdb|lldb|mi)> / {
    which = $1; sub(/>/, "", which); sub(/^[a-z]+> /, "")
    has[count, which] = 1
    at = ++steps[count]; of[count, at] = which; command[count, at] = $0
    next
}
/^  / {
    if (!at) broken("an expectation without a command")
    sub(/^  /, ""); k = ++wants[count, at]; want[count, at, k] = $0
    next
}
{ broken("not understood: " $0) }

function print_commands(   i, j) {
    for (i = 1; i <= count; i++) {
        if (session_of[i] != session || !serves(i, client)) continue
        print "\001" name[i]
        for (j = 1; j <= steps[i]; j++)
            if (of[i, j] == family(client)) {
                if (family(client) == "mi") print "\002" name[i] "." j
                print lines(command[i, j])
            }
        if (name[i] == row) break
    }
    print "\001end"
}
# Check row i in the transcript without line number `gone`. The result is "" if the row holds, else the reason. The output of a
# command ends at the echo of the next command. On a failure the function also sets `how`, the kind of failure (not-reached,
# not-carried-out, missing, forbidden), the range wrong_from to wrong_to of transcript lines, and whether the client returned from
# the command.
function holds(i, gone,   from, j, k, l, next_echo, e, ok, w, no) {
    how = "not-reached"
    if (!(name[i] in begins)) return "the session did not come to it"
    from = begins[name[i]]
    matched_count = 0
    how = "not-carried-out"
    for (j = 1; j <= steps[i]; j++) {
        if (of[i, j] != family(client)) continue
        e = echo(i, j)
        ok = 0
        for (l = from; l <= ends[name[i]]; l++)
            if (l != gone && text[l] == e) { ok = l; break }
        if (!ok) return "not carried out: " command[i, j]
        from = ok + 1
        next_echo = ends[name[i]] + 1
        came_back = name[i] != last_row
        e = following(i, j)
        for (l = from; l <= ends[name[i]]; l++)
            if (e != "" ? text[l] == e : is_marker(text[l])) { next_echo = l; came_back = 1; break }
        if (e != "" && next_echo > ends[name[i]]) came_back = 0
        wrong_from = from; wrong_to = next_echo - 1
        for (k = 1; k <= wants[i, j]; k++) {
            w = lines(want[i, j, k])
            no = substr(w, 1, 1) == "!"
            if (no) w = substr(w, 2)
            ok = 0
            for (l = from; l < next_echo; l++)
                if (l != gone && text[l] ~ w) { ok = l; break }
            if (no) {
                how = "forbidden"
                if (ok) return "'" command[i, j] "' gives, and must not: " text[ok]
                continue
            }
            how = "missing"
            if (!ok) return "'" command[i, j] "' does not give: " w
            matched[++matched_count] = ok
            from = ok + 1
        }
        from = next_echo
        how = "not-carried-out"
    }
    how = ""
    return ""
}
# MI does not echo commands. The number of a command is printed before its reply.
function echo(i, j) {
    if (family(client) == "mi") return "@@cmd " name[i] "." j
    return (family(client) == "gdb" ? "+" : "(lldb) ") lines(command[i, j])
}
function is_marker(t) { return t ~ /^\+echo @/ }
function following(i, j) {
    for (j++; j <= steps[i]; j++)
        if (of[i, j] == family(client)) return echo(i, j)
    return ""
}
# Check the negative counterpart of row i. The result is "" if the row fails as expected, else a message.
function twin_wrong(i, why,   l, k) {
    if (how == "") return "passes without " only
    if (how == "not-reached" || how == "not-carried-out") return "without " only ": " why
    if (!came_back && hangs[i]) return ""
    if (!came_back) return "never comes to an end without " only ": " why
    for (l = wrong_from; l <= wrong_to && without[i] == ""; l++)
        if (text[l] ~ broken_session) return "is not the wrong one, but the session, without " only ": " text[l]
    if (without[i] == "") return ""
    for (l = wrong_from; l <= wrong_to; l++)
        if (text[l] ~ lines(without[i])) return ""
    return "fails without " only ", but not with " without[i] ": " why
}
function show(from, to,   l) {
    for (l = from; l <= to && l < from + 100; l++) print "    | " substr(text[l], 1, 500)
}
function check(   i, l, line, n, why, m, keep, k, failed, current_row) {
    broken_session = "The program is not being run|No symbol table is loaded|[Pp]rocess (is|has) exited|" \
        "No registers\\.|no process|Connection refused|Remote connection closed|internal-error|Invalid process"
    while ((getline line < transcript) > 0) {
        if (family(client) == "mi" && line == "^done" && text[n] ~ /^@@/) continue # printing that
        text[++n] = line
        if (line ~ /^@@row [a-z0-9-]+$/) {
            current_row = substr(line, 7); begins[current_row] = n + 1; last_row = current_row
        }
        if (current_row != "") ends[current_row] = n
    }
    for (i = 1; i <= count; i++) {
        if (session_of[i] != session || !serves(i, client)) continue
        if (only != "") {
            if (row != name[i]) {
                why = holds(i, 0)
                if (why != "" && index(" " off[i] " " needs[i] " ", " " only " ") == 0)
                    before = before "\n    " name[i] " before it: " why
                continue
            }
            why = holds(i, 0)
            k = twin_wrong(i, why)
            if (k == "" && before != "") k = "the session is broken without " only before
            if (k == "") {
                print "ok: " client ": " name[i] " fails without " only ": " why
                if (verbose) show(wrong_from, wrong_to)
            } else {
                print "FAIL: " client ": " name[i] ": " k
                show(begins[row], n)
                failed = 1
            }
            break
        }
        why = holds(i, 0)
        if (why == "") {
            # Each matched line must be necessary. A row that holds without the line would prove nothing.
            m = matched_count
            for (k = 1; k <= m; k++) keep[k] = matched[k]
            # lldb sometimes prints a stop again when it reaches the same stop.
            for (k = 1; k <= m && why == "" && family(client) != "lldb"; k++)
                if (holds(i, keep[k]) == "") why = "holds without the line: " text[keep[k]]
            if (m == 0) why = "expects nothing"
        }
        if (why == "") { print "ok: " client ": " name[i]; continue }
        print "FAIL: " client ": " name[i] ": " why; failed = 1
        show(begins[name[i]], ends[name[i]])
    }
    exit failed
}
function list(   i) {
    for (i = 1; i <= count; i++)
        printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", session_of[i], name[i], clients_of(i), off[i] == "" ? "-" : off[i],
            hangs[i] ? "yes" : "-", reason[i] == "" ? "-" : reason[i], shows[i], everywhere[session_of[i]] ? "yes" : "-"
}
END {
    if (bad) exit 2
    if (use == "commands") print_commands()
    else if (use == "check") check()
    else if (use == "list") list()
    else if (use == "launches") for (s in launch) print s "\t" launch[s] "\t" options[s] "\t" unconnected[s]
}
