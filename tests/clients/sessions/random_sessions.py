#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random sessions of stock gdb and lldb, and compares them with the shell.

  random_sessions.py --lanewise PATH --kernels DIR [--client gdb|plain|lldb] [--count N] [--seed S]
  random_sessions.py --lanewise PATH --kernels DIR --client CLIENT --count 1 --program NAME --session LIST

A session is a list of abstract commands (break, continue, next, lane ...). The client (gdb or lldb) executes each command.
A model of the client (session_oracle.py) makes the shell execute an equivalent command with the same launch file. After
each command both print their position (block, warp, lane, pc, active lanes, instructions retired), the reason of the
stop, the line, and the values of the variables in scope. All of these must be equal. For gdb, packets are recorded, too:
the answer to a packet for a thread must have the values of that thread. The exit status is 0 if all sessions are equal,
and 1 if the first difference of an unequal session was printed.
"""
import argparse
import ast
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from session_oracle import BACK, RUNS, GdbOracle, LldbOracle, Unknown
from session_talk import Gone, gdb_client, lldb_client

# ---- debugged programs --------------------------------------------------------------------------

DEBUG = "[-O0, -g, -cl-opt-disable]"
PROGRAMS = ["reduction", "mandelbrot", "histogram", "bitonic", "scan", "spmv", "calls", "variables"]


class Program:
    """A launch file whose source is compiled for a debugger: the lines that have code, the variables, and the size of the
    launch."""

    def __init__(self, args, folder, name):
        self.name, self.source = name, f"{name}.cl"
        self.path = os.path.join(folder, f"{name}.yaml")
        launch = open(self.path).read()
        self.code = open(os.path.join(folder, self.source)).read()
        self.warps = (int(re.search(r"block: \[(\d+)", launch).group(1)) + 31) // 32
        self.blocks = int(re.search(r"grid: \[(\d+)", launch).group(1))
        self.variables = sorted(set(re.findall(r"\b(?:u?int|float|uchar) (\w+)(?= =|;|,|\))", self.code)))
        self.calls = name == "calls"
        lines = len(self.code.splitlines())
        text = shell(args, self.path, [f"break {line}" for line in range(1, lines + 1)] +
                     [f"echo @A {{/x $v0}} {{{word}}}" for word in ("out", "sums", "counts", "key")])
        ours = [int(line) for line in re.findall(
            r"^breakpoint \d+ at .*\(" + re.escape(self.source) + r":(\d+)\)$", text, re.M)]
        # For the first line of a function gdb skips the prologue, so that the address differs from the shell's. Such lines are
        # not used.
        words = [word for line in sorted(set(ours)) for word in
                 ("-ex", f"echo @L {line}\\n", "-ex", f"break {self.source}:{line}")]
        run = subprocess.run([args.lanewise, "gdb", self.path, "--", "-batch", *words,
                              "-ex", f"maint info line-table {self.source}"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=args.timeout, check=False)
        self.lines = [int(line) for line, at in re.findall(
            r"^@L (\d+)\nBreakpoint \d+ at 0x\w+: file .*, line (\d+)\.$", run.stdout, re.M) if line == at]
        self.rows = sorted((int(address, 0), int(line.replace("END", "0"))) for line, address in re.findall(
            r"^\d+ +(\d+|END) +(0x\w+) +Y", run.stdout, re.M))
        found = re.search(r"^@A \S+ (?:\S+ )?(0x2\w+|\d{10,})", text, re.M)
        self.memory = int(found.group(1), 0) if found else None
        if not self.lines:
            sys.exit(f"{self.path}: no line has code:\n{text[:2000]}")


def shell(args, launch, commands):
    run = subprocess.run([args.lanewise, "debug", launch], input="\n".join(commands) + "\n",
                         capture_output=True, text=True, timeout=args.timeout, check=False)
    return run.stdout + run.stderr


def prepare(args, folder):
    """Copies the launch files of the sample kernels, and adds options that disable optimisation."""
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


# ---- abstract commands --------------------------------------------------------------------------

KINDS = ["break", "tbreak", "continue", "next", "step", "stepi", "lane", "focus", "delete", "finish", "set", "watch",
         "monitor", "rstepi", "rnext", "rcontinue", "advance"]
AWAY = 9  # one of AWAY selections of a warp selects a warp that is not resident


def make(rng, program, client):
    """Returns a random session, a list of tuples. Sessions of lldb have no reverse execution, which lldb 19
    does not support, and no conditions, which lldb evaluates itself."""
    session, points = [], 0
    for _ in range(rng.randint(16, 32)):
        kind = rng.choices(KINDS, [5, 1, 7, 6, 3, 4, 4, 3, 1, 2 * program.calls, 1] +
                           ([0] * 6 if client == "lldb" else [1 * (program.memory is not None),
                                                              1 * (client == "gdb"), 2, 2, 2, 1]))[0]
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
            session.append((kind, rng.randrange(AWAY * 1000)))
        elif kind == "set":
            names = [name for name in program.variables if name != "lane"]  # in the shell, `lane` is also the focus lane
            session.append((kind, rng.choice(names), rng.randrange(100)))
        elif kind == "watch":
            session.append((kind, program.memory + 4 * rng.randrange(8)))
            points += 1
        elif kind == "delete":
            session.append((kind, rng.randint(1, points)))
        elif kind == "advance":
            session.append((kind, rng.choice(program.lines)))
        else:
            session.append((kind,))
    return session


def resolved(step, oracle):
    """Adds the number of a warp to a `focus` or `monitor` step. The warp is resident, except in one of AWAY cases."""
    if step[0] not in ("focus", "monitor"):
        return step
    warps = [number for number, _, _ in oracle.warps()]
    if step[1] % AWAY == 0 or not warps:
        return step[0], max(warps, default=0) + 1000
    return step[0], warps[step[1] % len(warps)]


def gdb_command(program, step, numbers):
    kind = step[0]
    if kind in ("break", "tbreak"):
        return f"{kind} {program.source}:{step[1]}" + (f" if {step[2]}" if step[2] else "")
    if kind == "delete":
        number = numbers[step[1] - 1]
        return f"delete {number}" if number else "echo"
    return {"lane": "set $lane = {1}", "monitor": "monitor focus {1}", "set": "set var {1} = {2}",
            "watch": "watch *(unsigned *){1}", "stepi": "stepi {1}", "advance": program.source.join(["advance ", ":{1}"]),
            "rstepi": "reverse-stepi", "rnext": "reverse-next", "rcontinue": "reverse-continue"}.get(
                kind, kind).format(*step)


def lldb_command(program, step, numbers):
    kind = step[0]
    if kind in ("break", "tbreak"):
        return f"breakpoint set -f {program.source} -l {step[1]}" + (" -o true" if kind == "tbreak" else "")
    if kind == "delete":
        number = numbers[step[1] - 1]
        return f"breakpoint delete {number}" if number else "version"
    return {"stepi": "thread step-inst --count {1}", "next": "thread step-over", "step": "thread step-in",
            "lane": "register write lane {1}", "finish": "thread step-out", "set": "expression {1} = {2}"}.get(
                kind, kind).format(*step)


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


def client_kind(client, text):
    """Returns why the client stopped, as kind_of() of session_oracle.py does, or None if the client does not show the reason."""
    if client == "lldb":
        found = re.search(r"stop reason = (\w+)", text)
        return {"breakpoint": "breakpoint", "watchpoint": "watchpoint"}.get(found.group(1), "step") if found else None
    if re.search(r"^(?:Thread .* hit )?(?:Temporary b|B)reakpoint \d+(?:\.\d+)?, ", text, re.M):
        return "breakpoint"
    if re.search(r"^(?:Thread .* hit )?Hardware watchpoint \d+: ", text, re.M):
        return "watchpoint"
    if re.search(r" received signal SIG(?:SEGV|BUS|ILL|ABRT)", text):
        return "fault"
    return "begin" if re.search(r"^No more reverse-execution history", text, re.M) else "step"


def line_shown(text):
    found = re.findall(r"^(?:0x\w+\t)?(\d+)\t", text, re.M)
    return found[-1] if found else None


class Session:
    """One session of a client, together with the session of the shell with which it is compared."""

    def __init__(self, args, program, folder, packets):
        self.args, self.program = args, program
        self.oracle = (LldbOracle if args.client == "lldb" else GdbOracle)(args, program)
        self.client = lldb_client(args, program, folder, packets) if args.client == "lldb" else \
            gdb_client(args, program, folder, args.client == "plain", packets)
        self.numbers = []   # the client's numbers of the session's stoppoints
        self.last = ("", "")
        self.packets = packets
        self.places = {}    # maps the number of a thread to its block and warp

    def close(self):
        self.oracle.shell.close()
        self.client.close()

    def ask(self, step):
        if step[0] == "focus":
            return self.client.do("", go=step[1])
        if self.args.client == "lldb":
            command = lldb_command(self.program, step, self.numbers)
        else:
            command = gdb_command(self.program, step, self.numbers)
        answer = self.client.do(command)
        if step[0] in ("break", "tbreak", "watch"):
            found = re.search(r"(?:reakpoint|watchpoint) (\d+)(?: at|:)", answer.text)
            self.numbers.append(int(found.group(1)) if found else None)
        return answer

    def step(self, step):
        """Executes a step in the shell and in the client. Returns the difference as text, or None if there is none. Raises
        Unknown if the model cannot predict what the client shows."""
        user = self.oracle.warp()
        self.oracle.perform(step)
        begin = os.path.getsize(self.packets) if os.path.exists(self.packets) else 0
        seen = self.ask(step)
        self.last = (self.oracle.text, seen.text)
        self.learn_places()
        if self.shows_ended(seen):
            # If the warp ended during the step, the client shows it at the return address of kernels, and the shell shows the
            # next warp.
            number = self.oracle.warp()
            if self.oracle.place() is None:
                return None
            seen = self.client.do("", go=number)
        here = self.oracle.answer.where
        if here != seen.where:
            self.follow(step, seen)
        expected = self.oracle.values() if self.oracle.place() else self.oracle.answer
        if expected.where != seen.where and "was written by" in self.last[1] and "hit Hardware" not in self.last[1]:
            raise Unknown("a second watchpoint of an instruction in reverse execution: gdb ignores it, because its value is old")
        if expected.where != seen.where and self.args.client == "lldb" and step[0] in RUNS and (
                carries_on(step[0], user, self.packets, begin) or
                step[0] == "continue" and client_kind("lldb", self.last[1]) == "step"):
            raise Unknown("lldb continues an earlier step that another stop has ended")
        if expected.where != seen.where and self.oracle.doubt:
            raise Unknown(self.oracle.doubt)
        if expected.where != seen.where:
            return f"shell at [{expected.where}], client at [{seen.where}]"
        if expected.where == "none":
            return None
        wrong = self.wrong_thread(seen)
        if wrong:
            return wrong
        if step[0] in RUNS and here == seen.where:
            a, b = self.oracle.why(), client_kind(self.args.client, self.last[1])
            # If a step ends at a breakpoint, lldb reports only the end of the step.
            said = self.args.client == "lldb" and b == "step"
            if not said and b not in a and b is not None and a - {"step", "waiting", "end", "ended", "error"}:
                return f"the shell stopped by {' and '.join(sorted(a))}, the client by {b}"
            a, b = (line_shown(text) for text in self.last)
            if a and b and a != b:
                return f"the shell shows line {a}, the client line {b}"
        for name, value in expected.values.items():
            other = seen.values.get(name, "error")
            if name == "lane" and other.startswith("error"):
                continue  # no variable of this name is in scope: the shell then prints the focus lane
            if value.startswith("error") != other.startswith("error") or \
                    not value.startswith("error") and not same_value(value, other):
                return f"{name}: shell {value}, client {other}"
        return None

    def shows_ended(self, seen):
        return re.search(r" 0xfffffff[08]\b", seen.where) is not None

    def follow(self, step, seen):
        """If both positions are valid, moves the shell to the client's position."""
        a, b = self.oracle.answer.where.split(), seen.where.split()
        if len(a) != 6 or len(b) != 6 or a[:2] != b[:2]:
            return
        # If several breakpoints are at one instruction, clients and shell may report different ones, with different lanes.
        several = "; also hit: watchpoint or catchpoint" in self.oracle.text or step[0] in BACK and self.oracle.kind() == "watchpoint"
        if step[0] in RUNS and several and a[3:] == b[3:]:
            self.oracle.do(f"lane {b[2]}")
        # In reverse, gdb goes to the start of the line's code, and the shell to the instruction by which the lane reached the
        # line, which in a loop is the jump to its head.
        line = [line_shown(text) for text in self.last]
        if step[0] == "rnext" and int(b[5]) > int(a[5]) and line[0] == line[1]:
            for _ in range(int(b[5]) - int(a[5]) + 1):
                self.oracle.do("stepi")
            self.oracle.do("reverse-stepi")

    def learn_places(self):
        text = self.oracle.shell.do("warps").text
        for number, block, warp in re.findall(r"^\*? +(\d+)  block\((\d+),0,0\) w(\d+) ", text, re.M):
            self.places[int(number)] = int(block), int(warp)

    def wrong_thread(self, seen):
        """Checks that the registers that the client shows for thread N are those of warp N. Returns the difference, or None."""
        if seen.thread is None:
            return None
        number, block, warp = seen.thread
        if number != self.oracle.warp():
            return f"the shell shows warp {self.oracle.warp()}, the client thread {number}"
        if self.places.get(number, (block, warp)) != (block, warp):
            return f"thread {number} shows block {block} warp {warp}"
        return None


def carries_on(kind, user, path, begin):
    """Returns True if lldb continues an earlier command that another stop has ended, such as a `next` during which another
    breakpoint was hit. lldb keeps the plans of the thread of that command: a later command, even in another thread, begins with
    the remaining steps of the earlier one, or with its breakpoint at the return address of a call."""
    lifted, seen, ran, last = set(), set(), False, 0
    with open(path, errors="replace") as log:
        log.seek(begin)
        for word, what in re.findall(r"send packet: \$(vCont;s:|[zZ]0,|c#)(\w*)", log.read()):
            if word == "z0,":
                lifted.add(what)
                seen.add(what)
            elif word == "Z0,":
                if what not in seen and not ran and kind != "finish":
                    return True
                lifted.discard(what)
            else:
                thread = int(what, 16) if what else 0
                if thread and (kind == "continue" and not lifted or thread != user and (not lifted or last == user)):
                    return True
                ran, last = True, thread
                continue
            last = 0
    return False


def check_packets(places, path):
    """Checks that the stub answers each `p` packet for $warp or $block for the thread of the last Hg packet or stop."""
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
        if stop:  # if the warp has ended, its pc is the return address of kernels
            general = None if ":f0ffffff00000000;" in answer else int(stop.group(1), 16)
        elif asked and asked.startswith("Hg") and answer == "OK" and asked not in ("Hg0", "Hg-1"):
            general = int(asked[2:], 16)
        elif asked and re.match(r"p\w+$", asked) and general in places and \
                int(asked[1:], 16) in numbers and not answer.startswith("E"):
            value = int.from_bytes(bytes.fromhex(answer[:8]), "little")
            if value != places[general][numbers[int(asked[1:], 16)] == "warp"]:
                return f"packet {asked} for thread {general} was answered {answer} (line {at})"
    return None


# ---- campaigns ----------------------------------------------------------------------------------


class Campaign:
    """A series of sessions: counts compared commands, and the reasons why sessions ended."""

    def __init__(self, args):
        self.args = args
        self.programs = {}
        self.bad = self.done = 0
        self.kinds = collections.Counter()
        self.ends = collections.Counter()

    def program(self, name, folder):
        if name not in self.programs:
            self.programs[name] = Program(self.args, folder, name)
        return self.programs[name]

    def run(self, seed, folder):
        rng = random.Random(seed)
        program = self.program(rng.choice([self.args.program] if self.args.program else PROGRAMS), folder)
        steps = ast.literal_eval(self.args.session) if self.args.session else make(rng, program, self.args.client)
        packets = os.path.join(folder, "packets.log")
        session = Session(self.args, program, folder, packets)
        said, wrong, why = [], None, "their end"
        try:
            for step in steps:
                step = step if self.args.session else resolved(step, session.oracle)
                said.append(step)
                wrong = session.step(step)
                if wrong:
                    break
                self.kinds[step[0]] += 1
                if session.oracle.place() is None:
                    why = "the end of the program"
                    break
        except Unknown as end:
            why = str(end)
        except Gone as gone:
            wrong = f"{self.args.client} or the shell: {gone}"
        finally:
            session.close()
        if os.path.exists(packets):
            wrong = wrong or self.args.client != "lldb" and check_packets(session.places, packets)
            if self.args.packets:
                shutil.copy(packets, self.args.packets)
        broken = re.search(r"^.*(?:internal-error|Fatal signal|Python Exception|Traceback).*$",
                           session.client.everything, re.M)
        if broken:
            wrong = f"{self.args.client} prints {broken.group(0)!r}"
        self.done += 1
        if not wrong:
            self.ends[why] += 1
            return
        self.bad += 1
        print(f"seed {seed} {program.name}: after command {len(said) - 1} {said[-1]}: {wrong}")
        print("   session:", said)
        if self.args.verbose:
            print("---- commands of the shell", *session.oracle.shell.commands, sep="\n")
            print("---- shell", session.last[0], "---- client", session.last[1], sep="\n")
        sys.stdout.flush()

    def summary(self):
        for why, times in self.ends.most_common():
            print(f"{times} sessions were compared until {why}")
        print("compared:", ", ".join(f"{kind} {times}" for kind, times in self.kinds.most_common()))
        print(f"{self.done - self.bad} of {self.done} sessions are equal, {sum(self.kinds.values())} commands compared")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--client", default="gdb", choices=["gdb", "plain", "lldb"])
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--program", choices=PROGRAMS, help="uses only this program")
    parser.add_argument("--session", help="runs this session instead of random ones; the form is that of reports")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--packets", help="writes the packets of the last session to this file")
    args = parser.parse_args()
    args.lanewise = os.path.abspath(args.lanewise)
    campaign = Campaign(args)
    with tempfile.TemporaryDirectory() as folder:
        prepare(args, folder)
        for seed in range(args.seed, args.seed + args.count):
            campaign.run(seed, folder)
            if campaign.done % 20 == 0 and campaign.done != args.count:
                print(f"{campaign.done} sessions, {campaign.bad} differ, {sum(campaign.kinds.values())} commands compared",
                      flush=True)
    campaign.summary()
    if args.count >= 6 and sum(campaign.kinds.values()) < 12 * args.count:
        print("too few commands were compared")
        return 1
    return 1 if campaign.bad else 0


if __name__ == "__main__":
    sys.exit(main())
