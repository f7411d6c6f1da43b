# SPDX-License-Identifier: Apache-2.0
# Rows of tests/behaviours/*.rows (run.sh tells what they are), in four uses:
#
#   -v use=commands   the lines that the client of -v client gets for -v session
#   -v use=check      the same rows against a transcript: the last file, named in -v transcript
#   -v use=list       one line a row, by tabs
#   -v use=launch     the launch file of a session
#
# -v only=FEATURE (check): rows that name this feature, of which each must fail.

function clients_of(i,   c) {
    if (limit[i] != "") return limit[i]
    c = ""
    if (has[i, "gdb"]) c = "gdb gdb-x86-64 gdb-aarch64"
    if (has[i, "lldb"]) c = c (c == "" ? "" : " ") "lldb"
    return c
}
function family(c) { return c ~ /^lldb/ ? "lldb" : "gdb" }
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
/^launch: / { launch[current] = $2; next }
/^unconnected$/ { unconnected[current] = 1; next }
/^row / {
    count++; name[count] = $2; session_of[count] = current; at = 0
    if (names[$2]++) broken("row " $2 " is there twice")
    next
}
/^shows: / { sub(/^shows: /, ""); shows[count] = $0; next }
/^off: / { sub(/^off: /, ""); off[count] = $0; next }
/^twin-seconds: / { seconds[count] = $2; next }
/^clients: / { sub(/^clients: /, ""); limit[count] = $0; next }
/^(gdb|lldb)> / {
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
            if (of[i, j] == family(client)) print lines(command[i, j])
    }
}
# Lines of the transcript without number `gone`: "" if the row holds, else the reason. The
# output of a command ends where the next command is echoed.
function holds(i, gone,   from, j, k, l, next_echo, e, ok, w, no) {
    if (!(name[i] in begins)) return "the session did not come to it"
    from = begins[name[i]]
    matched_count = 0
    for (j = 1; j <= steps[i]; j++) {
        if (of[i, j] != family(client)) continue
        e = echo(lines(command[i, j]))
        ok = 0
        for (l = from; l <= ends[name[i]]; l++)
            if (l != gone && text[l] == e) { ok = l; break }
        if (!ok) return "not carried out: " command[i, j]
        from = ok + 1
        next_echo = ends[name[i]] + 1
        e = following(i, j)
        for (l = from; l <= ends[name[i]]; l++)
            if (e != "" ? text[l] == e : is_marker(text[l])) { next_echo = l; break }
        for (k = 1; k <= wants[i, j]; k++) {
            w = lines(want[i, j, k])
            no = substr(w, 1, 1) == "!"
            if (no) w = substr(w, 2)
            ok = 0
            for (l = from; l < next_echo; l++)
                if (l != gone && text[l] ~ w) { ok = l; break }
            if (no) {
                if (ok) return "'" command[i, j] "' gives, and must not: " text[ok]
                continue
            }
            if (!ok) return "'" command[i, j] "' does not give: " w
            matched[++matched_count] = ok
            from = ok + 1
        }
        from = next_echo
    }
    return ""
}
function echo(c) { return family(client) == "gdb" ? "+" c : "(lldb) " c }
function is_marker(t) { return t ~ /^\+echo @/ }
function following(i, j) {
    for (j++; j <= steps[i]; j++)
        if (of[i, j] == family(client)) return echo(lines(command[i, j]))
    return ""
}
function check(   i, l, line, n, why, m, keep, k, failed, current_row) {
    while ((getline line < transcript) > 0) {
        text[++n] = line
        if (line ~ /^@@row [a-z0-9-]+$/) {
            current_row = substr(line, 7); begins[current_row] = n + 1
        }
        if (current_row != "") ends[current_row] = n
    }
    for (i = 1; i <= count; i++) {
        if (session_of[i] != session || !serves(i, client)) continue
        if (only != "") {
            if (off[i] != only) continue
            if (row != "" && name[i] != row) continue
            why = holds(i, 0)
            if (why == "") why = "passes without " only
            else if (!(name[i] in begins) && !(family(client) == "lldb" && ended[only]))
                why = "was not reached without " only
            else {
                # lldb ends a list of commands at the first that fails
                ended[only] = 1
                print "ok: " client ": " name[i] " fails without " only ": " why
                continue
            }
            print "FAIL: " client ": " name[i] ": " why
            failed = 1
            continue
        }
        why = holds(i, 0)
        if (why == "") {
            # Any line that was found is needed: a row that holds without one shows nothing.
            m = matched_count
            for (k = 1; k <= m; k++) keep[k] = matched[k]
            # lldb tells a stop again when it comes to it, sometimes: not so there.
            for (k = 1; k <= m && why == "" && family(client) == "gdb"; k++)
                if (holds(i, keep[k]) == "") why = "holds without the line: " text[keep[k]]
            if (m == 0) why = "expects nothing"
        }
        if (why == "") { print "ok: " client ": " name[i]; continue }
        print "FAIL: " client ": " name[i] ": " why; failed = 1
        for (l = begins[name[i]]; l <= ends[name[i]]; l++) print "    | " text[l]
    }
    exit failed
}
function list(   i) {
    for (i = 1; i <= count; i++)
        printf "%s\t%s\t%s\t%s\t%s\t%s\n", session_of[i], name[i], clients_of(i), off[i], seconds[i],
            shows[i]
}
END {
    if (bad) exit 2
    if (use == "commands") print_commands()
    else if (use == "check") check()
    else if (use == "list") list()
    else if (use == "launch") print launch[session] "\t" unconnected[session]
}
