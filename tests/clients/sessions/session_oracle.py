# SPDX-License-Identifier: Apache-2.0
"""Computes what a session of a client (gdb or lldb) must show, by a session of the shell with the same launch file.

The shell executes each command of the session. If a client behaves differently by design, its model in this file makes the
shell execute other commands with the same effect. For example, before gdb resumes the program, it steps the warp of the last
breakpoint hit off the breakpoint, while all other warps are stopped.
"""
import re

from session_talk import Answer, Shell

STEPS = ("next", "step", "stepi", "finish", "rstepi", "rnext")
BACK = {"rstepi": "reverse-stepi", "rnext": "reverse-next", "rcontinue": "reverse-continue"}
RUNS = STEPS + ("continue", "rcontinue", "advance")


class Unknown(Exception):
    """Raised if the models cannot predict what the client shows. The comparison of the session ends then."""


class Oracle:
    """The shell, with the behaviour that all clients share."""

    def __init__(self, args, program):
        self.program = program
        self.shell = Shell(args.lanewise, program.path, args.timeout, program.variables)
        self.answer = self.shell.do("focus")
        self.functions = re.findall(r"^(?:static )?(?:__kernel void|int|uint|float|void) (\w+)\(", program.code, re.M)
        self.override = None  # why the client stopped, if this is not the reason in the shell's last answer
        self.text = ""      # the shell's answers to all commands of this step
        self.made = {}      # maps the number of a stoppoint to the command that created it
        self.numbers = []   # the shell's numbers of the session's stoppoints; None if the shell did not create one
        self.at_own = False # True if the client stopped at an internal breakpoint, which it reports as the end of a step
        self.doubt = None   # the reason why the model may be wrong in this step, or None
        self.notes = []     # descriptions of what the client, but not the shell's user, did in this step

    # ---- the shell's state ----

    def do(self, command):
        self.answer, self.override = self.shell.do(command), None
        self.text += self.answer.text
        return self.answer

    def place(self):
        """Returns (block, warp, lane, pc, active, retired) of the focus, or None if all launches have ended."""
        words = self.answer.where.split()
        return tuple(int(word, 0) for word in words) if len(words) == 6 else None

    def warp(self):
        """Returns the number of the focus warp, which is its thread number in gdb, or 0 if there is no focus warp."""
        for number, focus, _ in self.warps():
            if focus:
                return number
        return 0

    def warps(self):
        """Returns (number, True if it has the focus, pc) for each resident warp."""
        found = re.findall(r"^(\*?) +(\d+)  block.* pc=(0x\w+) ", self.shell.do("warps").text, re.M)
        return [(int(number), star == "*", int(pc, 0)) for star, number, pc in found]

    def breakpoints(self):
        """Returns the addresses of enabled breakpoints."""
        return {int(pc, 0) for pc in re.findall(r"^\d+ +enabled(?:, once)? +(0x\w+)", self.shell.do("points").text, re.M)}

    def function(self):
        """Returns the name of the function in which the focus lane is, and the depth of calls."""
        frames = re.findall(r"^#(\d+).* (\w+)(?:\+0x\w+)? \(", self.shell.do("where").text, re.M)
        return (frames[0][1], len(frames)) if frames else ("", 0)

    def kind(self):
        """Returns the reason of the last stop."""
        return self.override or kind_of(self.answer.text)

    def why(self):
        """Returns the possible results of kind() for the client. Of several hits at one stop, a client may report any one."""
        if self.at_own or self.override:
            return {"step" if self.at_own else self.override}
        also = {"breakpoint"} if re.search(r"^breakpoint \d+, lanes ", self.answer.text, re.M) else set()
        return also | {self.kind()}

    def values(self):
        """Returns the state of the shell, with the values of the variables."""
        return self.shell.do("echo", values=True)

    def caller(self):
        """Returns the location to which the function of the focus lane returns."""
        call = re.search(r"^#1 +(\w+)\+(0x\w+) \(", self.shell.do("where").text, re.M)
        if not call:
            raise Unknown("the caller of the function is not known")
        return f"*{call.group(1)}+{int(call.group(2), 0) + 16:#x}"

    def line_range(self):
        """Returns (line of the focus lane's pc, start and end of the line's code there), from gdb's line table."""
        pc = self.place()[3]
        for (low, line), (high, _) in zip(self.program.rows, self.program.rows[1:]):
            if low <= pc < high:
                return line, low, high
        return 0, 0, 0

    def source_line(self):
        """Returns (line of the focus lane's pc, True if the line's code begins at this pc)."""
        line, low, _ = self.line_range()
        return line, low == self.place()[3]

    def calls(self, line):
        code = self.program.code.splitlines()[line - 1] if line else ""
        return any(re.search(r"\b" + name + r"\(", code) for name in self.functions)

    def moved_on(self, user, lane):
        """Returns True if the last step ended for another reason than that the lane has retired an instruction."""
        place = self.place()
        return self.kind() not in ("step", "waiting") or place is None or place[2] != lane or self.warp() != user

    def is_done(self, line, depth):
        now, begins = self.source_line()
        return begins and (now != line or self.function()[1] != depth)

    # ---- commands that do not run ----

    def perform(self, step):
        self.text, self.notes, self.at_own, self.doubt = "", [], False, None
        kind = step[0]
        if kind in ("break", "tbreak", "watch"):
            what = f"u32[{step[1]:#x}]" if kind == "watch" else step[1]
            self.add(f"{kind} {what}" + (f" if {step[2]}" if kind != "watch" and step[2] else ""))
        elif kind == "delete":
            number = self.numbers[step[1] - 1]
            self.do(f"delete {number}" if number else "echo")
        elif kind == "lane":
            self.do(f"lane {step[1]}")
        elif kind in ("focus", "monitor"):
            self.do(f"focus {step[1]}")
        elif kind == "set":
            self.do(f"set {step[1]} = {step[2]}")
        elif self.place() is None and kind not in BACK:
            self.do("echo")
        else:
            self.run(step)

    def add(self, command):
        text = self.do(command).text
        found = re.search(r"(?:breakpoint |^)(\d+)(?: at |  )", text, re.M)
        self.numbers.append(int(found.group(1)) if found and "error" not in text else None)
        self.made[self.numbers[-1]] = command

    def run(self, step):
        self.do(shell_command(step))


def shell_command(step):
    if step[0] == "stepi":
        return f"stepi {step[1]}"
    if step[0] == "advance":
        return f"advance {step[1]}"
    return BACK.get(step[0], step[0])


def kind_of(text):
    """Returns why the shell stopped: fault, breakpoint, watchpoint, begin or end (of history), ended, waiting, or step."""
    if re.search(r"^fault: ", text, re.M):
        return "fault"
    if re.search(r"^watchpoint \d+: ", text, re.M):
        return "watchpoint"
    if re.search(r"^breakpoint \d+, lanes ", text, re.M):
        return "breakpoint"
    for start, kind in (("this is the start of history", "begin"), ("the replay has reached", "end"), ("all launches have ended", "ended"),
                        ("waiting: ", "waiting"), ("error: ", "error")):
        if re.search("^" + start, text, re.M):
            return kind
    return "step"


class GdbOracle(Oracle):
    """Model of gdb with one process of many threads in all-stop mode."""

    def __init__(self, args, program):
        super().__init__(args, program)
        self.reported = {}       # maps each warp whose breakpoint hit was reported, and that was not resumed since, to its pc
        self.beside = (0,)       # for a warp that waits at a breakpoint: its pc, instructions retired, and the pc shown
        self.user = 0            # the warp that the user has selected
        self.later = 0           # number of hits of watchpoints by the last instruction that are not reported yet
        self.faulted = False     # True if the last stop was a fault
        self.stopped = None      # the warp of the last stop, and its pc

    def shown_pc(self):
        """Returns the pc that the stub shows. If a warp waits, and so cannot step over the breakpoint at its pc, the stub shows
        a pc next to the breakpoint."""
        place, user = self.place(), self.warp()
        waits = re.search(rf"^\*? +{user}  .* state=(?!ready)", self.shell.do("warps").text, re.M)
        if waits and self.beside[:3] == (user, place[3], place[5]):
            return self.beside[3]
        return place[3]

    def values(self):
        answer = super().values()
        if self.place():
            answer.where = answer.where.replace(f"{self.place()[3]:#x}", f"{self.shown_pc():#x}")
        return answer

    def finish_stop(self):
        place = self.place()
        self.faulted = self.kind() == "fault"
        self.keep_temporary()
        self.later = len(self.watched_as_well())
        self.stopped = (self.warp(), self.shown_pc()) if place else None
        # A warp at a breakpoint counts as reported also if the run stopped for another reason, or if the condition is false. It
        # does not count if the stepped warp has ended, because that stop has no signal.
        ended = self.kind() == "step" and place and self.stopped[0] != self.user
        if place and not self.faulted and not ended and (self.at_own or self.stopped[1] in self.breakpoints()):
            self.reported[self.stopped[0]] = place[3]

    def watched_as_well(self):
        """Returns the ranges of the other watchpoints that the instruction has hit. gdb inserts one watchpoint for equal
        ranges."""
        found = re.search(r"^watchpoint (\d+): .*; also hit: watchpoint or catchpoint ([\d, ]+)", self.answer.text, re.M)
        if not found:
            return set()
        return {self.made[int(point)] for point in found.group(2).split(",")} - {self.made[int(found.group(1))]}

    def keep_temporary(self):
        """Creates temporary breakpoints again that the shell has deleted, but gdb has not: if several breakpoints are at one
        location, gdb treats only those as hit whose conditions are true in the focus lane."""
        answer, override = self.answer, self.override
        for number, lanes in re.findall(r"breakpoint (\d+), lanes (0x\w+)", answer.text):
            number = int(number)
            if number in self.numbers and self.made[number].startswith("tbreak") and \
                    not int(lanes, 0) >> self.place()[2] & 1:
                self.shell.do(f"delete {number}")
                found = re.search(r"breakpoint (\d+) at ", self.shell.do(self.made[number]).text)
                self.numbers[self.numbers.index(number)] = int(found.group(1))
                self.made[int(found.group(1))] = self.made[number]
        self.answer, self.override = answer, override

    def step_alone(self, warp, back=False, once=False):
        """Steps a warp over its breakpoint, as gdb does before it resumes, and over further breakpoints with false conditions
        that it reaches, unless @once. Returns True if this ends the user's command."""
        self.do(f"focus {warp}")
        before = self.place()
        while True:
            self.do("reverse-stepi" if back else "step-alone")
            after = self.place()
            if once or not self.has_reached_another(before, after):
                break
            before = after
        self.reported.pop(warp, None)
        if self.kind() == "waiting" and after[3] == before[3]:
            points, shown = self.breakpoints(), after[3] + 16
            while shown in points:
                shown += 16
            self.beside = warp, after[3], after[5], shown
        elif self.kind() == "waiting" and not back and after[3] in self.breakpoints():
            # The warp waits, for example at a barrier of the block, and its pc is at the next breakpoint. gdb reports the end of
            # its own step as a hit, also of a breakpoint without condition, which the machine reports only when the warp no
            # longer waits.
            there = re.findall(rf"^\d+ +enabled(?:, once)? +{after[3]:#x} .*", self.shell.do("points").text, re.M)
            if all(" if " in point for point in there):
                raise Unknown("a warp waits at a breakpoint whose condition gdb tests")
            self.override = "breakpoint"
            return True
        if after is not None and after[:2] == before[:2]:
            return self.kind() not in ("step", "waiting")
        if self.kind() in ("step", "ended"):
            raise Unknown("a warp ended in the step over its breakpoint")
        # Other warps ran, as they did in the recorded past, and one of them stopped. The stub reports a stop of the stepped warp.
        self.do(f"focus {warp}")
        self.override = "step"
        return True

    def has_reached_another(self, before, after):
        """Returns True if the warp has run, does not wait, and is at a breakpoint that was not reported as hit."""
        return self.kind() == "step" and after is not None and after[:2] == before[:2] and \
            after[3] != before[3] and after[3] in self.breakpoints()

    def run(self, step):
        kind = step[0]
        back = kind in BACK
        if self.faulted and not back:  # gdb delivers the signal of the fault
            self.answer = Answer("")
            return
        if self.later and not back:
            # The stub reports one watchpoint per stop. It reports the other watchpoints of the same instruction in the next
            # stops.
            self.later -= 1
            self.text, self.override = "; also hit: watchpoint or catchpoint", "watchpoint"
            return
        user, place = self.warp(), self.place()
        self.user = user
        points = self.breakpoints()
        if kind == "finish" and self.function()[1] <= 1:
            self.do("finish")  # an error in the shell and in the client
            return
        for warp, pc in sorted(self.reported.items()):
            here = [at for number, _, at in self.warps() if number == warp]
            if warp == user or here != [pc] or pc not in points:
                continue
            self.notes.append(f"warp {warp} was stepped over its breakpoint first")
            if self.step_alone(warp, back):
                self.finish_stop()
                return
            self.do(f"focus {user}")
        self.reported = {}
        over = not back and self.stopped == (user, place[3]) and place[3] in points
        if kind == "rnext":
            self.step_line_back(user)
        elif back:
            self.do(shell_command(step))
        elif kind == "stepi":
            self.stepi(user, step[1], over)
        elif kind == "continue":
            if not over or not self.step_alone(user):
                self.do("continue")
        elif kind == "advance":
            self.advance(user, step[1], over)
        elif kind == "finish":
            self.finish(user, over)
        else:
            self.step_line(user, kind, over)
        self.finish_stop()

    def stepi(self, user, count, over):
        """Steps instructions. gdb counts them itself, and after the lane has exited, it counts those of the next focus lane."""
        for number in range(count):
            if over and number == 0:
                ended = self.step_alone(user, once=True)
            else:
                self.do("stepi")
                ended = self.kind() not in ("step", "waiting") or self.place() is None or self.warp() != user
            if ended:
                return

    def run_to(self, user, lane, places, over, back=False, begun=False):
        """Runs to internal breakpoints of gdb for one warp and, if an element of @places has a frame depth, for one lane. gdb
        steps each other warp alone over them. If @begun is True, the user's breakpoints are already inserted."""
        mine, users = {}, []
        for location, depth in places:
            there = self.shell.do("points").text
            found = re.search(r"breakpoint (\d+) at ", self.do(f"break {location}").text)
            if not found:
                raise Unknown(f"break {location}: {self.answer.text}")
            mine[int(found.group(1))] = depth
            pc = re.search(rf"^{found.group(1)} .*?(0x\w+)", self.shell.do("points").text, re.M).group(1)
            users = re.findall(rf"^\d+ +enabled(?:, once)? +{pc} .*", there, re.M)
            # gdb 13 does not insert its own breakpoint if it has sent conditions for all breakpoints of the user at the same
            # address.
            if begun and users and all(" if " in point for point in users):
                self.shell.do(f"disable {found.group(1)}")
        self.at_own = False
        try:
            if over and self.step_alone(user):
                return
            while True:
                if back:  # in reverse, gdb shows a hit in the focus lane
                    self.do(f"focus {user} {lane}")
                self.do("reverse-continue" if back else "continue")
                place, warp = self.place(), self.warp()
                hits = {int(point): int(lanes, 0) for point, lanes in
                        re.findall(r"breakpoint (\d+), lanes (0x\w+)", self.answer.text)}
                depths = [depth for point, depth in mine.items() if point in hits]
                # If gdb has an internal breakpoint at the address, it tests the conditions of the user's breakpoints itself, in
                # the focus lane.
                if self.kind() != "breakpoint" or not depths or any(
                        lanes >> place[2] & 1 for point, lanes in hits.items() if point not in mine):
                    return
                if warp == user and any(depth == 0 or (place[2] == lane and self.function()[1] == depth)
                                        for depth in depths):
                    self.at_own = True
                    return
                if self.step_alone(warp, back):
                    return
                if warp == user:
                    self.do(f"lane {lane}")
        finally:
            answer, override = self.answer, self.override
            self.shell.do("delete " + " ".join(str(point) for point in mine))
            self.answer, self.override = answer, override

    def advance(self, user, line, over):
        """Executes gdb's `advance`, which stops where the first lane of the warp reaches the line, or where the function
        returns."""
        depth = self.function()[1]
        self.run_to(user, self.place()[2], [(line, 0)] + ([(self.caller(), depth - 1)] if depth > 1 else []), over)

    def finish(self, user, over):
        depth = self.function()[1]
        self.run_to(user, self.place()[2], [(self.caller(), depth - 1)], over)

    def step_line_back(self, user):
        """Executes gdb's reverse-step or reverse-next. gdb goes back by instructions, to the beginning of the current line's code
        or, if the lane is already there, of the previous line's code. It goes back over a call by a breakpoint at the function's
        entry."""
        lane, (line, low, high), (_, depth) = self.place()[2], self.line_range(), self.function()
        while True:
            self.do("reverse-stepi")
            if self.moved_on(user, lane):
                return
            name, now = self.function()
            if now > depth:
                self.run_to(user, lane, [("*" + name, now)], False, back=True, begun=True)
                if not self.at_own:
                    return
                self.at_own = False
                self.do("reverse-stepi")
                if self.moved_on(user, lane):
                    return
                now = self.function()[1]
            pc, entry = self.place()[3], self.shell.do("where").text.split()[1]
            if now == depth and low <= pc < high:
                if pc == low and "+0x" in entry:
                    return
                continue
            at, begin, end = self.line_range()
            if at == 0 or pc == begin and at != line:
                return
            line, low, high, depth = at, begin, end, now

    def step_line(self, user, kind, over):
        """Executes gdb's step or next. If the line calls a function, gdb runs all warps to an internal breakpoint. After a return
        into the middle of the caller's line, the command continues to the end of that line."""
        lane, (line, _), (_, depth) = self.place()[2], self.source_line(), self.function()
        while over:
            before = self.place()
            if self.step_alone(user, once=True) or self.moved_on(user, lane) or self.is_done(line, depth):
                return
            over = self.has_reached_another(before, self.place())
        while True:
            if not self.calls(line):
                self.do(kind)
                if self.moved_on(user, lane) or self.function()[1] >= depth:
                    return
            else:
                self.do("stepi")
                if self.moved_on(user, lane):
                    return
                if self.function()[1] > depth:
                    place = (self.caller(), depth) if kind == "next" else (self.function()[0], 0)
                    self.run_to(user, lane, [place], False, begun=True)
                    if kind == "step" or self.moved_on(user, lane) and not self.at_own:
                        return
            if self.is_done(line, depth):
                return
            line, depth = self.source_line()[0], self.function()[1]


class LldbOracle(Oracle):
    """Model of lldb. lldb steps one warp by instructions. The stub shows a warp to lldb at a breakpoint only if the warp has
    hit the breakpoint. If the stepped warp waits, and other warps run and stop, the stub reports a stop of the stepped warp."""

    def __init__(self, args, program):
        super().__init__(args, program)
        self.chosen = 0, 0      # the warp and the lane that the user selected last, to which the stub returns
        self.shown = {}          # maps a warp to what the stub has shown of it at a stop: (pc, instructions retired)
        self.free = {}           # maps a warp to its pc at the last stop, if no breakpoint was at this pc
        self.own = set()         # addresses of lldb's internal breakpoints at the last stop
        self.seen = 0            # pc of the stepped warp that lldb has read
        self.then = set()        # addresses of breakpoints at the last stop; None while the program runs
        self.reread = {}         # maps a warp to the breakpoints when the user selected one of its lanes; lldb then reads its pc

    def shown_pc(self):
        """Returns the pc that lldb shows. A warp that has not yet hit the breakpoint at its pc is shown one instruction
        earlier. lldb caches this pc, so that a breakpoint which is added or removed later does not change it."""
        place = self.place()
        points = self.breakpoints() if self.then is None else self.reread.get(self.warp(), self.then)
        pc = place[3]
        if pc in points and self.shown.get(self.warp()) != (pc, place[5]):
            pc -= 16
            while pc in points:
                pc = max(pc, place[3]) + 16
        return pc

    def values(self):
        answer, place = super().values(), self.place()
        pc = self.shown_pc() if place else 0
        if place and pc != place[3]:
            answer.where = answer.where.replace(f"{place[3]:#x}", f"{pc:#x}")
            answer.values = {}  # lldb shows the variables in scope at the shown pc
        return answer

    def source_line(self):
        line, begins = super().source_line()
        return line, begins and self.shown_pc() == self.place()[3]

    def is_ready(self):
        return re.search(r"^\*.* state=ready", self.shell.do("warps").text, re.M) is not None

    def show(self):
        place = self.place()
        if place and self.is_ready():
            self.shown[self.warp()] = place[3], place[5]

    def perform(self, step):
        runs = step[0] in RUNS and self.place()
        if runs:
            points, self.seen = self.breakpoints(), self.shown_pc()
            self.then, self.own, self.reread = None, set(), {}
        super().perform(step)
        if runs and self.place():
            self.then = points | self.own
            self.end_temporary()
            points = self.breakpoints()
            self.free = {warp: pc for warp, _, pc in self.warps() if pc not in points}
        if step[0] == "lane" and "error" not in self.text:
            self.chosen = self.warp(), step[1]
            self.reread[self.warp()] = self.breakpoints()
            self.free.pop(self.warp(), None)
            if self.place()[3] not in self.reread[self.warp()]:
                self.free[self.warp()] = self.place()[3]

    def end_temporary(self):
        """Deletes temporary breakpoints as lldb 19 does. At the end of each command, it assumes that each thread at a
        breakpoint has hit it. If a warp was at the location of a new `breakpoint set -o`, lldb therefore removes this
        breakpoint (z0) after a step of another thread."""
        once = re.findall(r"^(\d+) +enabled, once +(0x\w+)", self.shell.do("points").text, re.M)
        for number, pc in once:
            if any(at == int(pc, 0) == self.shown.get(warp, (0, 0))[0] for warp, _, at in self.warps()):
                self.shell.do(f"delete {number}")

    def at_breakpoint(self, warp):
        """Returns True if lldb assumes that the warp has hit a breakpoint; the warp then gets the focus."""
        pc = {number: at for number, _, at in self.warps()}.get(warp)
        if warp not in self.shown or pc != self.shown[warp][0] or pc not in self.breakpoints():
            return False
        self.do(f"focus {warp}")
        return self.place()[5] == self.shown[warp][1]

    def step_one(self, user):
        """Steps one instruction. Returns True if this ends the user's command."""
        lane, before = self.place()[2], self.place()
        waits = self.free.get(user) == before[3] in self.breakpoints() and not self.is_ready()
        self.free, self.own = {}, set()  # the next stop shows these warps next to their breakpoints
        # If the warp waits, and a breakpoint was set at its pc, lldb's step over the breakpoint executes no instruction, and
        # lldb shows the pc next to the breakpoint.
        self.do("step-alone" if self.at_breakpoint(user) else "echo" if waits else "stepi")
        if self.warp() == user:
            self.show()
            if self.kind() == "step" and self.shown_pc() == self.seen:
                self.do("stepi")  # the warp reached the pc that was shown before, which lldb does not count as a step
        if self.warp() != user and self.kind() not in ("step", "ended"):
            self.do(f"focus {user}")
            self.override = "step"
            self.show()
            self.doubt = "another warp stopped during a step of lldb"
            return self.place()[3] == before[3]
        if self.warp() == user:
            self.show()
            self.seen = self.shown_pc()
        return self.moved_on(user, lane)

    def resume(self):
        """Steps each warp that is at a breakpoint over it, one after the other, and then resumes all warps. Returns True if one
        of these steps ended with a stop."""
        user, stepped, self.seen = self.warp(), set(), 0
        for warp in sorted(self.shown):
            if not self.at_breakpoint(warp):
                continue
            stepped.add(warp)
            self.do("step-alone")
            self.show()
            if self.kind() not in ("step", "waiting"):
                return
        # lldb uses the pcs of the last stop. If a breakpoint was set where a warp was shown, lldb also sends `z0, vCont;s:T, Z0`
        # for this warp.
        points = self.breakpoints()
        for warp, _, pc in self.warps():
            if self.free.get(warp) == pc and pc in points and warp not in stepped:
                self.do(f"focus {warp}")
                self.do("step-alone")
                if self.kind() not in ("step", "waiting"):
                    return
        self.free = {}
        if self.warp() != user:
            self.do(f"focus {user}")
        if self.chosen[0] in [number for number, _, _ in self.warps()]:
            self.shell.do(f"focus {self.chosen[0]} {self.chosen[1]}")
        self.do("continue")
        self.show()

    def run(self, step):
        kind = step[0]
        user = self.warp()
        if kind == "continue":
            self.resume()
        elif kind == "stepi":
            for _ in range(step[1]):
                if self.step_one(user):
                    break
        elif kind == "finish":
            depth = self.function()[1]
            if depth <= 1:
                self.do("finish")  # an error in the shell and in the client
            else:
                self.run_to(user, self.place()[2], self.caller(), depth - 1)
        else:
            self.step_line(user, kind)

    def run_to(self, user, lane, location, depth=0):
        """Runs to an internal breakpoint of lldb for one warp and, if the frame depth @depth is given, for one lane."""
        text = self.do(f"break {location}").text
        found = re.search(r"breakpoint (\d+) at ", text)
        if not found:
            raise Unknown(f"break {location}: {text}")
        number, self.at_own = int(found.group(1)), False
        self.own = {int(pc, 0) for pc in re.findall(rf"^{number} .*?(0x\w+)", self.shell.do("points").text, re.M)}
        try:
            while True:
                self.resume()
                hits = [int(hit) for hit in re.findall(r"breakpoint (\d+), lanes ", self.answer.text)]
                if self.kind() != "breakpoint" or hits != [number]:
                    return
                place = self.place()
                if self.warp() == user and (depth == 0 or (place[2] == lane and self.function()[1] == depth)):
                    self.at_own = True
                    return
                if self.warp() == user:
                    self.do(f"lane {lane}")
        finally:
            answer = self.answer
            self.shell.do(f"delete {number}")
            self.answer = answer

    def step_line(self, user, kind):
        lane, (line, _), (_, depth) = self.place()[2], self.source_line(), self.function()
        while True:
            if self.step_one(user):
                return
            now = self.function()[1]
            if now > depth:
                location = self.caller() if kind == "next" else self.function()[0]
                self.run_to(user, lane, location, depth if kind == "next" else 0)
                if kind == "step" or not self.at_own:
                    if not self.at_own:
                        self.doubt = "another stop occurred during a step of lldb over or into a call"
                    return
            at, begins = self.source_line()
            if begins and at != line or self.function()[1] < depth:
                return
            line = at
