#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that each key of a shipped GPU model has the value in the model's source. machine_sources.tsv lists these values with
# their sources. A key with another value is reported with its row.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
python3 - "$lanewise" "$src/tests/timing/machine_sources.tsv" <<'END'
import re, subprocess, sys
program, table = sys.argv[1:]
keys, bad, seen, sourced = {}, 0, 0, 0
for line in open(table):
    if line.startswith('#'):
        continue
    machine, key, value, place = line.rstrip('\n').split('\t')
    if machine not in keys:
        text = subprocess.run([program, 'timing', machine], capture_output=True, text=True, check=True).stdout
        of, section = {}, None
        for row in text.split('\n'):
            row = row.split('#')[0].rstrip()
            if re.match(r'\w+:$', row):
                section = row[:-1]
            elif m := re.match(r'  (\w+): \{(.*)\}', row):
                for part in m[2].split(', '):
                    of['%s.%s.%s' % (section, m[1], part.split(': ')[0])] = part.split(': ')[1]
            elif m := re.match(r'  (\w+): (\S+)', row):
                of['%s.%s' % (section, m[1])] = m[2]
        keys[machine] = of
    seen += 1
    if not re.match(r'ours($|:)', place):
        sourced += 1
    if re.match(r'published|public|same machine', place):
        print('FAIL: %s: %s: "%s" names no document' % (machine, key, place))
        bad = 1
    if keys[machine].get(key) != value:
        print('FAIL: %s: %s is %s; the source has %s (%s)' % (machine, key, keys[machine].get(key), value, place))
        bad = 1
names = {l.split()[0] for l in subprocess.run([program, 'timing'], capture_output=True, text=True).stdout.split('\n') if re.match(r'\s*[a-z0-9-]+\s{2,}', l)}
for name in sorted(names - set(keys)):
    print('FAIL: %s: machine_sources.tsv has no row' % name)
    bad = 1
print('%d keys of %d machines, %d of a source' % (seen, len(keys), sourced))
sys.exit(bad)
END
