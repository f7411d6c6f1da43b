#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that docs/recording.svg equals what scripts/record-svg draws with the current program. UPDATE_GOLDEN=1 writes the file.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
picture=$src/docs/recording.svg

# usage: draw [SESSION]. Runs a session in a new folder with the examples, and draws picture.svg from it.
draw() {
    rm -rf run
    mkdir run
    cp "$src"/docs/examples/* run/
    timeout 120 python3 "$src/scripts/record-svg" "$lanewise" "$work/run" "$@" >picture.svg 2>err || fail "record-svg: $(cat err)"
}

draw
[ -z "${UPDATE_GOLDEN:-}" ] || cp picture.svg "$picture"
if ! cmp -s picture.svg "$picture"; then
    fail "docs/recording.svg differs from what the program prints now (UPDATE_GOLDEN=1 renews it)"
    diff "$picture" picture.svg
fi
[ "$(wc -c <"$picture")" -lt 100000 ] || fail "docs/recording.svg has 100000 bytes or more"
python3 - "$picture" <<'END' || fail "docs/recording.svg: unexpected elements or text, or GitHub would not show it"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
name = '{http://www.w3.org/2000/svg}'
assert {e.tag for e in root.iter()} <= {name + t for t in ('svg', 'style', 'rect', 'circle', 'text')}
assert not any('href' in a or a.startswith('on') for e in root.iter() for a in e.attrib)
assert 'url(' not in open(sys.argv[1]).read() and '@import' not in open(sys.argv[1]).read()
lines = [e.text for e in root.iter(name + 'text')]
assert 15 < len(lines) < 40 and max(map(len, lines)) <= 96
assert any('reverse-continue' in l for l in lines) and any('was written by lane 31' in l for l in lines)
END

# Two drawings of one session are equal. Another session gives another drawing.
draw
cmp -s picture.svg "$picture" || fail "a second drawing of the same session differs from the first"
printf '$ lanewise run overwrite.yaml --check\n$ lanewise run nothing.yaml\n' >other
draw other
cmp -s picture.svg "$picture" && fail "another session gives the same drawing"
grep -q 'nothing.yaml' picture.svg || fail "the drawing of the other session lacks nothing.yaml"
echo "$failures failures"
exit $((failures > 0))
