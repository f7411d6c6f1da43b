# SPDX-License-Identifier: Apache-2.0
# Compares probes: awk -f compare.awk differences.tsv DEVICE.api... LANEWISE. Prints each difference that differences.tsv does not
# allow, and each row of this file that allows nothing. The exit status is 1 if there is one.
FNR == 1 { file++ }
/^#/ || NF == 0 { next }
file == 1 {
    if (split($0, part, "\t") != 3) { print "differences.tsv:" FNR ": expected three columns"; bad = 1; next }
    rows++; pattern[rows] = part[1]; want[rows] = part[2]
    next
}
{
    at = index($0, " = ")
    if (at == 0) { print FILENAME ":" FNR ": expected NAME = RESULT"; bad = 1; next }
    name = substr($0, 1, at - 1)
    result[file, name] = substr($0, at + 3)
    if (!(name in seen)) { seen[name] = 1; names[++count] = name }
}
function allows(row, name,   n) {
    n = length(pattern[row])
    return substr(pattern[row], n) == "*" ? substr(name, 1, n - 1) == substr(pattern[row], 1, n - 1) : name == pattern[row]
}
END {
    for (device = 2; device < file; device++)
        for (i = 1; i <= count; i++) {
            name = names[i]
            theirs = (device, name) in result ? result[device, name] : "-"
            ours = (file, name) in result ? result[file, name] : "-"
            if (theirs == ours) { equal++; continue }
            for (row = 1; row <= rows && !allows(row, name); row++) ;
            if (row > rows) { print name ": Lanewise: " ours ", the device: " theirs; bad = 1; continue }
            used[row] = 1; allowed++
            if (want[row] != "*" && want[row] != ours) { print name ": Lanewise: " ours ", differences.tsv: " want[row]; bad = 1 }
        }
    for (row = 1; row <= rows; row++)
        if (!(row in used)) { print "differences.tsv allows a difference that does not exist: " pattern[row]; bad = 1 }
    print count " probes, " equal + 0 " results are equal, " allowed + 0 " differ as differences.tsv allows"
    exit bad
}
