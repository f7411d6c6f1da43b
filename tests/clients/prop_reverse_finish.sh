#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests gdb's reverse-finish at random positions of a run, in random warps and lanes. It must end at the same position as
# `monitor reverse-finish`.
#
#   LW_RANDOM_COUNT  number of positions (20)   LW_SEED  selects other positions
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cp "$src/tests/clients/golden/calls.cl" "$work/"
cat >"$work/ends.py" <<'END'
import gdb, os, random

seed, count = int(os.environ.get("LW_SEED") or 1), int(os.environ.get("LW_RANDOM_COUNT") or 20)
rnd = random.Random(seed)
tried = failed = 0


def quiet(command):
    return gdb.execute(command, False, True)


def state():
    frame = gdb.newest_frame()
    return [int(frame.read_register(name)) for name in ("pc", "lane", "retired", "rsp")] + [gdb.selected_thread().num]


def go(at, thread, lane):
    quiet("monitor goto %d" % at)
    quiet("thread %d" % thread)
    quiet("set var $lane = %d" % lane)


quiet("monitor at-end stop")
quiet("continue")
end = int(quiet("monitor history").split("at instruction ")[1].split(";")[0])
while tried < count:
    at = rnd.randrange(end)
    quiet("monitor goto %d" % at)
    thread = rnd.choice(gdb.selected_inferior().threads()).num
    quiet("thread %d" % thread)
    pcs = gdb.newest_frame().read_register("lane_pcs")
    lane = rnd.choice([i for i in range(32) if int(pcs[i]) != 0])
    quiet("set var $lane = %d" % lane)
    older = gdb.newest_frame().older()
    if older is None or older.name() in (None, "<launch>"):
        continue  # the selected frame is that of the kernel, which has no caller
    tried += 1
    quiet("reverse-finish")
    found = state()
    go(at, thread, lane)
    quiet("monitor reverse-finish")
    if found != state():
        failed += 1
        print("from instruction %d, thread %d, lane %d (seed %d): reverse-finish ends at %s, monitor's at %s" %
              (at, thread, lane, seed, found, state()))
print("%d of %d ends are the same" % (tried - failed, tried))
END
(cd "$work" && timeout 3000 "$lanewise" gdb calls.yaml -- -nx -batch -iex 'set debuginfod enabled off' -x ends.py) \
    </dev/null >"$work/ends" 2>&1
count=${LW_RANDOM_COUNT:-20}
if grep -q "^$count of $count ends are the same$" "$work/ends"; then
    echo "ok: $count times reverse-finish ends at the same position as monitor reverse-finish"
else
    fail "reverse-finish and monitor reverse-finish end at different positions"
    grep -E '^from instruction|ends are the same|rror' "$work/ends" | head -n 20
fi
[ $failures -eq 0 ]
