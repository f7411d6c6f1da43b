#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sessions of stock gdb and lldb, with the shell as the oracle.

  random_sessions.py --lanewise PATH --kernels DIR [--client gdb|plain|lldb] [--count N] [--seed S]

A session is a list of abstract commands (break, continue, next, lane ...). The same list goes to the
client and to the shell of the same launch file. After each command both print where they are: block,
warp, lane, pc, active lanes, and the values of the variables that are in scope. The lines must be equal.
In gdb the packets are recorded as well: what a packet that names a thread is answered must be of that
thread. Exit status 0: all sessions were equal; 1: the first difference of each other one was printed.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

# ---- what is debugged ---------------------------------------------------------------------------

DEBUG = "[-O0, -g, -cl-opt-disable]"


class Program:
    """A launch file compiled for a debugger: the lines with code, the variables, the shape."""

    def __init__(self, args, folder, name):
        self.name, self.source = name, f"{name}.cl"
        self.path = os.path.join(folder, f"{name}.yaml")
        launch = open(self.path).read()
        code = open(os.path.join(folder, self.source)).read()
        self.warps = (int(re.search(r"block: \[(\d+)", launch).group(1)) + 31) // 32
        self.blocks = int(re.search(r"grid: \[(\d+)", launch).group(1))
        self.variables = sorted(set(re.findall(r"\b(?:u?int|float|uchar) (\w+)(?= =|;|,|\))", code)))
        self.calls = name == "calls"
        lines = len(code.splitlines())
        text = shell(args, self.path, [f"break {line}" for line in range(1, lines + 1)] +
                     [f"echo @A {{/x $v0}} {{{word}}}" for word in ("out", "sums", "counts", "key")])
        ours = [int(line) for line in re.findall(
            r"^breakpoint \d+ at .*\(" + re.escape(self.source) + r":(\d+)\)$", text, re.M)]
        # gdb skips the prologue where a line opens a function: that is another place.
        words = [word for line in sorted(set(ours)) for word in
                 ("-ex", f"echo @L {line}\\n", "-ex", f"break {self.source}:{line}")]
        run = subprocess.run([args.lanewise, "gdb", self.path, "--", "-batch", *words],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=args.timeout, check=False)
        self.lines = [int(line) for line, at in re.findall(
            r"^@L (\d+)\nBreakpoint \d+ at 0x\w+: file .*, line (\d+)\.$", run.stdout, re.M) if line == at]
        found = re.search(r"^@A \S+ (?:\S+ )?(0x2\w+|\d{10,})", text, re.M)
        self.memory = int(found.group(1), 0) if found else None
        if not self.lines:
            sys.exit(f"{self.path}: no line has code:\n{text[:2000]}")


def shell(args, launch, commands):
    run = subprocess.run([args.lanewise, "debug", launch], input="\n".join(commands) + "\n",
                         capture_output=True, text=True, timeout=args.timeout, check=False)
    return run.stdout + run.stderr


def prepare(args, folder):
    """Copies of the launch files of the sample kernels, compiled without optimisation."""
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
    for source in [os.path.join(where, name) for where in (args.kernels, tests)
                   for name in os.listdir(where)]:
        name = os.path.basename(source)
        if not name.endswith((".cl", ".yaml", ".bin")):
            continue
        data = open(source, "rb").read()
        if name.endswith(".yaml"):
            data = re.sub(rb"program: \{source: (\w+\.cl)\}",
                          rb"program: {source: \1, options: " + DEBUG.encode() + rb"}", data)
            data = re.sub(rb"grid: \[(\d\d+)\]", rb"grid: [5]", data)  # short runs
        open(os.path.join(folder, name), "wb").write(data)


PROGRAMS = ["reduction", "mandelbrot", "histogram", "bitonic", "scan", "spmv", "calls", "variables"]

# ---- abstract commands --------------------------------------------------------------------------


def make(rng, program, client):
    """A session: a list of tuples. lldb 19 cannot go back, and evaluates conditions for itself."""
    session, points = [], 0
    for _ in range(rng.randint(6, 18)):
        kind = rng.choices(
            ["break", "tbreak", "continue", "next", "step", "stepi", "lane", "focus", "delete",
             "finish", "set", "watch", "monitor", "rstepi", "rnext", "rcontinue", "advance"],
            [5, 1, 7, 6, 3, 4, 4, 3, 1, 2 * program.calls, 1] +
            ([0] * 6 if client == "lldb" else [1 * (program.memory is not None),
                                               1 * (client == "gdb"), 2, 2, 2,
                                               1 * (not program.calls)]))[0]
        if points == 0 and kind in ("continue", "delete"):
            kind = "break"
        if kind in ("break", "tbreak"):
            condition = rng.choice(["", "", f"threadIdx.x == {rng.randrange(program.warps * 32)}",
                                    f"blockIdx.x == {rng.randrange(program.blocks)}",
                                    f"threadIdx.x % {rng.randint(2, 9)} == 1"] if client != "lldb" else [""])
            session.append((kind, rng.choice(program.lines), condition))
            points += 1
        elif kind == "stepi":
            session.append((kind, rng.choice([1, 1, 2, 7])))
        elif kind == "lane":
            session.append((kind, rng.randrange(32)))
        elif kind in ("focus", "monitor"):
            session.append((kind, rng.randrange(program.blocks), rng.randrange(program.warps)))
        elif kind == "set":
            session.append((kind, rng.choice(program.variables), rng.randrange(100)))
        elif kind == "watch":
            session.append((kind, program.memory + 4 * rng.randrange(8)))
            points += 1
        elif kind == "delete":
            session.append((kind, rng.randint(1, points)))
        elif kind == "advance":
            # gdb puts a breakpoint there; conditions of others in the same place are then gdb's.
            free = [line for line in program.lines
                    if not any(step[0] in ("break", "tbreak") and step[1] == line for step in session)]
            session.append((kind, rng.choice(free)) if free else ("next",))
        else:
            session.append((kind,))
    return session


REVERSE = {"rstepi": "reverse-stepi", "rnext": "reverse-next", "rcontinue": "reverse-continue"}


# ---- the shell ----------------------------------------------------------------------------------


def run_shell(args, program, session):
    commands = []
    for number, step in enumerate(session):
        kind = step[0]
        if kind in ("break", "tbreak"):
            text = f"{kind} {step[1]}" + (f" if {step[2]}" if step[2] else "")
        elif kind == "stepi":
            text = f"stepi {step[1]}"
        elif kind == "lane":
            text = f"lane {step[1]}"
        elif kind in ("focus", "monitor"):
            text = f"focus {1 + step[1] * program.warps + step[2]}"
        elif kind == "set":
            text = f"set {step[1]} = {step[2]}"
        elif kind == "watch":
            text = f"watch u32[{step[1]:#x}]"
        elif kind in ("delete", "advance"):
            text = f"{kind} {step[1]}"
        else:
            text = REVERSE.get(kind, kind)
        commands += [f"echo @@{number}", text,
                     "echo @S {$block} {$warp} {$lane} {/x $pc} {/x $active} {$retired}"]
        commands += [f"echo @V {name} {{{name}}}" for name in program.variables]
    text = shell(args, program.path, commands)
    return text, parts_of(text, len(session))


def parts_of(text, count):
    """The states in a transcript: one for each command."""
    result = []
    parts = re.split(r"^@@\d+$", text, flags=re.M)[1:]
    for part in parts[:count]:
        where = re.search(r"^@S (.*)$", part, re.M)
        values = dict(re.findall(r"^@V (\w+) (.*)$", part, re.M))
        result.append((where.group(1) if where else "none", values, part))
    return result


# ---- gdb ----------------------------------------------------------------------------------------

GDB_DRIVER = r'''
import gdb
def run(text):
    try:
        gdb.execute(text)
    except gdb.error as e:
        print("error:", e)
    except KeyboardInterrupt:
        print("error: interrupted")
def value(text):
    try:
        return int(gdb.parse_and_eval(text))
    except gdb.error as e:
        return None
def here(variables):
    try:
        t = gdb.selected_thread()
        if t is None or not t.is_valid():
            return
        named = t.ptid[1] or t.ptid[2]
        print("@S %d %d %d %#x %#x %d" % tuple(value(x) for x in
              ("$block.x", "$warp", "$lane", "$pc", "$active", "$retired")))
        print("@T %d %d %d" % (named, value("$block.x"), value("$warp")))
    except (gdb.error, TypeError) as e:
        print("@E", e)
        return
    for name in variables:
        try:
            print("@V", name, gdb.parse_and_eval(name).format_string())
        except gdb.error as e:
            print("@V", name, "error:", e)
def go(number):
    inferior = gdb.selected_inferior()
    for t in inferior.threads():
        if (t.ptid[1] or t.ptid[2]) == number:
            run("thread %d" % t.num)
            return
    print("error: no thread", number)
'''


def gdb_commands(program, session):
    out = [GDB_DRIVER]
    for number, step in enumerate(session):
        kind = step[0]
        out.append(f"print('@@{number}')")
        if kind in ("break", "tbreak"):
            text = f"{kind} {program.source}:{step[1]}" + (f" if {step[2]}" if step[2] else "")
        elif kind == "lane":
            text = f"set $lane = {step[1]}"
        elif kind == "focus":
            out.append(f"go({1 + step[1] * program.warps + step[2]})")
            text = None
        elif kind == "monitor":
            text = f"monitor focus {1 + step[1] * program.warps + step[2]}"
        elif kind == "set":
            text = f"set var {step[1]} = {step[2]}"
        elif kind == "watch":
            text = f"watch *(unsigned *){step[1]:#x}"
        elif kind in ("stepi", "delete"):
            text = f"{kind} {step[1]}"
        elif kind == "advance":
            text = f"advance {program.source}:{step[1]}"
        else:
            text = REVERSE.get(kind, kind)
        if text:
            out.append(f"run({text!r})")
        out.append(f"here({program.variables!r})")
    return "\n".join(out) + "\n"


def run_gdb(args, program, session, folder, plain):
    script = os.path.join(folder, "session.py")
    packets = os.path.join(folder, "packets.log")
    open(script, "w").write(gdb_commands(program, session))
    if os.path.exists(packets):
        os.unlink(packets)
    begin = ["-iex", f"set remotelogfile {packets}", "-iex", "set confirm off",
             "-iex", "set breakpoint pending off"]
    if plain:
        server, port = serve(args, program)
        command = [args.gdb, "-nx", "-q", "-batch", *begin, "-ex", f"target remote :{port}",
                   "-x", script]
    else:
        server = None
        command = [args.lanewise, "gdb", program.path, "--gdb-program", args.gdb, "--",
                   "-batch", *begin, "-x", script]
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=args.timeout, check=False)
    finally:
        if server is not None:
            server.kill()
            server.communicate()
    return run.stdout, parts_of(run.stdout, len(session)), packets


# ---- lldb ---------------------------------------------------------------------------------------

LLDB_DRIVER = r'''
import lldb
def run(debugger, text):
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(text, result)
    print((result.GetOutput() or "") + (result.GetError() or ""))
def here(debugger, variables):
    process = debugger.GetSelectedTarget().GetProcess()
    if process.GetState() != lldb.eStateStopped:
        return
    thread = process.GetSelectedThread()
    frame = thread.GetFrameAtIndex(0)
    if "(" not in (thread.GetName() or ""):  # a warp that has ended has a pc, no block and no registers
        print("@S %s %#x" % (thread.GetName(), frame.GetPC()))
        return
    register = lambda name: frame.FindRegister(name).GetValueAsUnsigned()
    named = thread.GetThreadID()
    warps = WARPS
    block = int(thread.GetName().split("(")[1].split(",")[0])
    print("@S %d %d %d %#x %#x %d" % (block, register("warp"), register("lane"),
                                      frame.GetPC(), register("active"), register("retired")))
    print("@T %d %d %d" % (named, block, register("warp")))
    for name in variables:
        value = frame.FindVariable(name)
        text = value.GetValue() if value.IsValid() and value.GetError().Success() else None
        print("@V", name, text if text is not None else "error: none")
'''


def lldb_commands(program, session, port):
    out = [LLDB_DRIVER.replace("WARPS", str(program.warps)),
           "def __lldb_init_module(debugger, names):",
           "    debugger.SetAsync(False)",
           "    run(debugger, 'settings set target.skip-prologue false')",
           f"    run(debugger, 'gdb-remote {port}')"]
    for number, step in enumerate(session):
        kind = step[0]
        out.append(f"    print('@@{number}')")
        if kind in ("break", "tbreak"):
            text = f"breakpoint set -f {program.source} -l {step[1]}"
            text += " -o true" if kind == "tbreak" else ""
        else:
            text = {"stepi": f"thread step-inst --count {step[-1]}", "next": "thread step-over",
                    "step": "thread step-in", "lane": f"register write lane {step[-1]}",
                    "finish": "thread step-out",
                    "set": f"expression {step[1 % len(step)]} = {step[-1]}",
                    "delete": f"breakpoint delete {step[-1]}"}.get(kind, kind)
        if kind == "focus":
            number = 1 + step[1] * program.warps + step[2]
            out.append("    process = debugger.GetSelectedTarget().GetProcess()")
            # of a thread that is not there lldb selects the first
            out.append(f"    if process.GetThreadByID({number}).IsValid():")
            out.append(f"        process.SetSelectedThreadByID({number})")
        else:
            out.append(f"    run(debugger, {text!r})")
        out.append(f"    here(debugger, {program.variables!r})")
    return "\n".join(out) + "\n"


def run_lldb(args, program, session, folder):
    server, port = serve(args, program)
    script = os.path.join(folder, "lldb_session.py")
    open(script, "w").write(lldb_commands(program, session, port))
    try:
        run = subprocess.run([args.lldb, "-X", "-x", "-b", "-o", f"command script import {script}"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=args.timeout, check=False)
    finally:
        server.kill()
        server.communicate()
    return run.stdout, parts_of(run.stdout, len(session)), None


def serve(args, program):
    server = subprocess.Popen([args.lanewise, "run", program.path, "--gdb", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = server.stdout.readline()
    return server, re.search(r":(\d+)$", line.strip()).group(1)


def check_threads(program, text):
    """Registers that gdb shows of a thread are those of the warp that its number names."""
    text = re.sub(r"^@S .* 0xfffffff0 .*\n@T.*$", "", text, flags=re.M)  # a warp that has ended
    for number, block, warp in re.findall(r"^@T (\d+) (\d+) (\d+)$", text, re.M):
        launch_threads = program.blocks * program.warps
        if (int(number) - 1) % launch_threads != (int(block) * program.warps + int(warp)) and \
                int(number) - 1 < launch_threads:
            return f"thread {number} shows block {block} warp {warp}"
    return None


def check_packets(program, path):
    """Each `p` of $warp or of $block is answered for the thread of the last Hg or stop."""
    general, asked, numbers = None, None, {}
    for at, line in enumerate(open(path, errors="replace"), 1):
        if "<reg name" in line:
            for name in ("warp", "block"):
                found = re.search(r'name="' + name + r'"[^>]*regnum="(\d+)"', line)
                if found:
                    numbers[int(found.group(1))] = name
        sent = re.match(r"w \$(.*)#..$", line)
        if sent:
            asked = sent.group(1)
            continue
        got = re.match(r"r .*\$([^$]*)#..$", line)
        if not got:
            continue
        answer = got.group(1)
        stop = re.match(r"T..(?:.*;)?thread:(\w+);", answer)
        if stop:  # a warp that has ended has no place of its own: its pc is the one that kernels return to
            general = None if ":f0ffffff00000000;" in answer else int(stop.group(1), 16)
        elif asked and asked.startswith("Hg") and answer == "OK" and asked not in ("Hg0", "Hg-1"):
            general = int(asked[2:], 16)
        elif asked and re.match(r"p\w+$", asked) and general is not None and \
                int(asked[1:], 16) in numbers and not answer.startswith("E"):
            value = int.from_bytes(bytes.fromhex(answer[:8]), "little")
            index = (general - 1) % (program.blocks * program.warps)
            right = index % program.warps if numbers[int(asked[1:], 16)] == "warp" else \
                index // program.warps
            if general <= program.blocks * program.warps and value != right:
                return f"packet {asked} for thread {general} was answered {answer} (line {at})"
    return None


# ---- comparison ---------------------------------------------------------------------------------


def number_of(text):
    try:
        return float(text)
    except ValueError:
        return None


def same_value(a, b):
    if a == b:
        return True
    x, y = number_of(a), number_of(b)
    return x is not None and y is not None and (x == y or abs(x - y) <= 1e-6 * max(abs(x), abs(y)))


STEPS = ("next", "step", "stepi", "finish", "rstepi", "rnext")
RUNS = STEPS + ("continue", "rcontinue", "advance")


def difference(program, session, oracle, seen):
    """(commands compared, what differs or None, what both said; or why no more was compared, or None)."""
    at_point = False  # some warp stands at a breakpoint that was reported
    left = False      # and another one was chosen since
    reported = set()  # blocks and warps that were reported at one
    advanced = False  # there was an `advance`
    waited = False    # others ran in a step since the last run of all
    before, function = ("none", {}, ""), None  # the shell's last state
    for number, step in enumerate(session):
        a = oracle[number] if number < len(oracle) else ("none", {}, "")
        b = seen[number] if number < len(seen) else ("none", {}, "")
        # A warp that ended in the client's step is shown at the place where kernels return to; the
        # shell shows the next one.
        if re.search(r" 0xfffffff[08]\b", b[0]):
            return number, None, "the client shows a warp that has ended"
        # Before a step of another thread the client steps the one that was reported off its
        # breakpoint: all others stand where they do in the shell, that one does not.
        if step[0] in ("focus", "monitor"):
            left = at_point
        elif left and step[0] in STEPS:
            return number, None, "a step of another thread than the one that was reported"
        last = left and step[0] in ("continue", "rcontinue", "advance")
        # The client steps off a breakpoint with the other warps held, so a lane that waits at a
        # barrier is shown after it; in the shell the others run, and may reach a breakpoint.
        if step[0] in STEPS and a[0] != b[0] and (re.search(r"waits? .*: others ran", a[2]) or other_hit(before, a)):
            return number, None, "the lane waited at a barrier"
        # A return ends a step of lines in the shell, in the caller's line; gdb walks on to the next line, as it
        # does natively with clang's line tables.
        if step[0] in ("next", "step") and a[0] != b[0] and is_later(a, b) and \
                function_of(a, function) != function:
            return number, None, "the lane returned from a function"
        # gdb stops at `advance` where the first lane of the warp arrives, and says so.
        if step[0] == "advance" and "came here first" in b[2]:
            return number, None, "another lane came first to the place of `advance`"
        # `next` over a call and `finish` run everything in gdb and lldb, the lane's split in the shell.
        if program.calls and step[0] in ("next", "step", "finish", "rnext"):
            return number, None, "a step of lines in a program with calls"
        # Clients count the steps themselves, and in the next lane where theirs has exited; the shell ends there.
        if step[0] == "stepi" and step[1] > 1 and "the focus is on lane" in a[2]:
            return number, None, "the lane exited within a count of steps"
        # gdb goes back to where the line's code begins, the shell to the instruction with which the lane reached
        # the line: in a loop that is the jump to its head.
        if step[0] == "rnext" and a[0] != b[0] and begins_within(a, b):
            return number, None, "the lane reached the line by a jump"
        # Others ran in a step, and others than in the shell where the client steps off a breakpoint with them held.
        if waited and a[0] != b[0] and step[0] not in STEPS:
            return number, None, "after a step in which the lane waited at a barrier"
        # The warp of the breakpoint gets a whole time slice after the client's step; in the shell the rest of one.
        if at_point and a[0] != b[0] and step[0] in RUNS and step[0] not in STEPS and \
                (is_parted(before) or before[0].split()[:2] == b[0].split()[:2] != a[0].split()[:2]):
            return number, None, "a run from a breakpoint, whose warp got a whole time slice"
        # A thread that the client stepped off its breakpoint, when all were resumed.
        if step[0] in ("focus", "monitor") and a[0] != b[0] and step[1:] in reported and is_later(a, b):
            return number, None, "a thread that was stepped off its breakpoint with the others held"
        # gdb steps other warps over the place of its `advance`.
        if step[0] in ("focus", "monitor") and advanced and a[0] != b[0] and is_later(a, b):
            return number, None, "a thread that was stepped over the place of `advance`"
        advanced = advanced or step[0] == "advance"
        # Of several points of one instruction each client names its own first, with that one's lanes.
        if step[0] in RUNS and a[0] != b[0] and "; as well point" in a[2] and a[0].split()[:2] == b[0].split()[:2]:
            return number, None, "one instruction touched several points"
        # lldb carries on a step that a breakpoint has interrupted.
        if step[0] == "continue" and a[0] != b[0] and re.search(r"stop reason = (?:step|instruction step)", b[2]):
            return number, None, "lldb carried on the step that a breakpoint had interrupted"
        if step[0] in RUNS:
            waited = step[0] in STEPS and (waited or "others ran" in a[2])
        before, function = a, function_of(a, function)
        if step[0] in RUNS:
            at_point, left = "breakpoint" in a[2], False
            if at_point and a[0] != "none":
                reported.add(tuple(int(x) for x in a[0].split()[:2]))
        if a[0] != b[0]:
            return number, f"shell at [{a[0]}], client at [{b[0]}]", a[2], b[2]
        if a[0] == "none":
            return number, None, "the program has ended"
        for name, value in a[1].items():
            other = b[1].get(name)
            if value.startswith("error") or other is None or other.startswith("error"):
                continue
            if not same_value(value, other):
                return number, f"{name}: shell {value}, client {other}", a[2], b[2]
        if last:
            return number, None, "a run after another thread than the one that was reported was chosen"
    return len(session), None, None


def is_later(a, b):
    """Do both show the same lane, and the client later in its run?"""
    x, y = a[0].split(), b[0].split()
    return len(x) == len(y) == 6 and x[:3] == y[:3] and int(y[5]) > int(x[5])


def begins_within(a, b):
    """The same, in the same line?"""
    lines = [re.findall(r"^(\d+)\t", part[2], re.M) for part in (a, b)]
    return is_later(a, b) and lines[0] and lines[0] == lines[1]


def function_of(state, last):
    """Where the shell said that it stopped; it says nothing where it did not move."""
    found = re.findall(r"^.*block\(.* at (\w+)(?:\+0x\w+)? \(", state[2], re.M)
    return found[-1] if found else last


def is_parted(state):
    """Is the warp's focus lane in a split of its own?"""
    words = state[0].split()
    return len(words) == 6 and words[4] != "0xffffffff"


def other_hit(before, a):
    """Did the shell's step end at a breakpoint of another warp?"""
    return "breakpoint" in a[2] and before[0].split()[:2] != a[0].split()[:2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--client", default="gdb", choices=["gdb", "plain", "lldb"])
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--packets", help="keeps the packets of the last session in this file")
    args = parser.parse_args()
    args.lanewise = os.path.abspath(args.lanewise)
    bad = compared = 0
    ends = {}  # sessions by why no more of them was compared
    with tempfile.TemporaryDirectory() as folder:
        prepare(args, folder)
        programs = [Program(args, folder, name) for name in PROGRAMS]
        for seed in range(args.seed, args.seed + args.count):
            rng = random.Random(seed)
            program = rng.choice(programs)
            session = make(rng, program, args.client)
            oracle_text, oracle = run_shell(args, program, session)
            try:
                if args.client == "lldb":
                    text, seen, packets = run_lldb(args, program, session, folder)
                else:
                    text, seen, packets = run_gdb(args, program, session, folder,
                                                  args.client == "plain")
            except subprocess.TimeoutExpired:
                bad += 1
                print(f"seed {seed} {program.name}: {args.client} did not end in {args.timeout} s")
                print("   session:", session)
                continue
            found = difference(program, session, oracle, seen)
            compared += found[0]
            if not found[1]:
                ends[found[2]] = ends.get(found[2], 0) + 1
                found = None
            wrong = check_threads(program, text)
            if packets and args.packets:
                shutil.copy(packets, args.packets)
            if packets and not wrong:
                wrong = check_packets(program, packets)
            broken = re.search(r"^.*(?:internal-error|Fatal signal|Python Exception|Traceback).*$", text, re.M)
            if broken:  # also behind the place up to which the sessions are compared
                wrong = f"{args.client} says {broken.group(0)!r}"
            if wrong:
                found = found or (0, wrong, "", text)
            if found:
                bad += 1
                number, what, a, b = found
                print(f"seed {seed} {program.name}: after command {number} {session[number]}: {what}")
                print("   session:", session[:number + 1])
                if args.verbose:
                    print("---- shell", a, "---- client", b, sep="\n")
    for why, times in sorted(ends.items(), key=lambda end: -end[1]):
        print(f"{times} ended: {why}" if why else f"{times} were compared to their end")
    print(f"{args.count - bad} of {args.count} sessions are equal, {compared} commands compared")
    if args.count >= 8 and compared < 3 * args.count:
        print("too few commands were compared to show anything")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
