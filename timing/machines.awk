# SPDX-License-Identifier: Apache-2.0
# Converts the files of GPU models to rows of C: MACHINE(name, summary, text). The second line of a file is its summary.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return text
}
BEGIN { print "/* SPDX-License-Identifier: Apache-2.0 */\n/* From the files of timing/machines. */" }
FNR == 1 {
    if (NR != 1) print ")"
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.yaml$/, "", name)
    printf "MACHINE(\"%s\", ", name
    first = $0
    next
}
FNR == 2 {
    summary = $0
    sub(/^# */, "", summary)
    printf "\"%s\",\n    \"%s\\n\"\n", quoted(summary), quoted(first)
}
{ printf "    \"%s\\n\"\n", quoted($0) }
END { if (NR != 0) print ")" }
