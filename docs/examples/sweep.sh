#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sweep.sh LAUNCH.yaml: runs the launch file with three warp schedulers and three sizes of L1; writes reports, and prints a table.
for policy in lrr gto swl; do
    for bytes in 16K 32K 64K; do
        lanewise run -q "$1" --timing fermi --timing-set issue.policy=$policy --timing-set issue.limit=4 \
            --timing-set l1.bytes=$bytes --timing-report sweep-$policy-$bytes.json || exit
    done
done
python3 - sweep-*.json <<'END'
import json, sys
for name in sys.argv[1:]:
    r = json.load(open(name))
    print('%-4s %2d KiB  %6d cycles, ipc %.2f, %4.1f %% hits in L1' % (r['config']['issue']['policy'],
        r['config']['l1']['bytes'] // 1024, r['cycles'], r['ratios']['ipc'], 100 * r['ratios']['l1_hit_rate']))
END
