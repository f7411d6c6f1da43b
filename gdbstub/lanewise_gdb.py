# SPDX-License-Identifier: Apache-2.0
"""Lanes and warps in stock gdb, version 12 or later, on top of what works without Python.

The stub sends this file (docs/gdb.md); `gdb -x lanewise_gdb.py` and `source` work as well.
`help lanewise` lists what it adds. Loading it again replaces what was loaded before.
"""

import re
import sys

import gdb

try:
    import gdb.disassembler as _disassembler
except ImportError:  # gdb 12: its own disassembler stays
    _disassembler = None
try:
    from gdb.FrameDecorator import FrameDecorator as _FrameDecorator
except ImportError:
    _FrameDecorator = None


# ---- the other end of the connection -----------------------------------------------------


class LanewiseError(Exception):
    """A sentence for the user."""


def lanewise_guarded(call):
    """Turns whatever goes wrong into one sentence: no traceback ever reaches the user."""

    def guarded(*args):
        try:
            return call(*args)
        except KeyboardInterrupt:
            raise
        except (gdb.GdbError, LanewiseError) as error:
            text = str(error)
        except gdb.error as error:
            text = lanewise_sentence(error)
        except Exception as error:  # a mistake of ours: still only a sentence
            text = "lanewise_gdb.py: %s: %s" % (type(error).__name__, error)
        raise gdb.GdbError(text)

    guarded.__doc__ = call.__doc__
    return guarded


def lanewise_sentence(error):
    """What the stub said, without gdb's words around it."""
    text = str(error)
    at = text.find("'E.")
    if at >= 0 and text.endswith("'"):
        return text[at + 3:-1]
    return text


class LanewiseLink:
    """The connection of the selected inferior, and what is kept of it until the next stop."""

    known = {}  # number of a connection: is Lanewise there
    insns = {}  # address: (bytes, text)

    @staticmethod
    def connection():
        connection = getattr(gdb.selected_inferior(), "connection", None)
        kind = getattr(gdb, "RemoteTargetConnection", ())
        if connection is None or not isinstance(connection, kind):
            return None
        return connection

    @classmethod
    def ours(cls):
        """The connection if it leads to Lanewise, or None."""
        connection = cls.connection()
        if connection is None:
            return None
        if connection.num not in cls.known:
            # None or nothing: a stub that does not know the packet
            cls.known[connection.num] = bool(connection.send_packet("qGpuAsk:0;"))
        return connection if cls.known[connection.num] else None

    @classmethod
    def ask(cls, packet):
        if cls.connection() is None:
            raise LanewiseError("there is no connection; say: target remote :PORT")
        connection = cls.ours()
        if connection is None:
            raise LanewiseError("the program at the other end is not Lanewise")
        reply = connection.send_packet(packet) or b"E.the stub does not know " + packet.encode()
        if reply.startswith(b"E"):
            raise LanewiseError(reply[2:].decode("utf-8", "replace")
                                if reply.startswith(b"E.") else "the stub refused " + packet)
        return bytes.fromhex(reply.decode("ascii")).decode("utf-8", "replace")

    @classmethod
    def show(cls, command):
        """The output of one of the shell's commands, as of the selected thread."""
        thread = gdb.selected_thread()
        if cls.connection() is not None and thread is None:
            raise LanewiseError("no warp is selected; `info threads` lists them")
        number = thread.ptid[1] if thread is not None else 0
        return cls.ask("qGpuAsk:%x;%s" % (number, command.encode("utf-8").hex()))

    @classmethod
    def forget(cls, *unused):
        cls.insns.clear()

    @classmethod
    def forget_all(cls, *unused):
        cls.insns.clear()
        cls.known.clear()


def lanewise_styled():
    """Only a terminal that shows styles gets escapes."""
    try:
        return bool(gdb.parameter("style enabled")) and sys.__stdout__.isatty()
    except (gdb.error, RuntimeError, AttributeError):
        return False


class LanewiseWarp:
    """The selected warp: its lanes as registers show them."""

    def __init__(self):
        if LanewiseLink.ours() is None:
            LanewiseLink.ask("qGpuAsk:0;")  # says why
        if gdb.selected_thread() is None:
            raise LanewiseError("no warp is selected; `info threads` lists them")
        self.frame = gdb.newest_frame()
        self.lane = self.number("lane")
        self.active = self.number("active")
        pcs = self.frame.read_register("lane_pcs")
        low, high = pcs.type.range()
        self.pcs = [int(pcs[i]) for i in range(low, high + 1)]
        self.width = len(self.pcs)

    def number(self, register):
        return int(self.frame.read_register(register))

    def live(self, lane):
        return self.pcs[lane] != 0  # no code is there: such a lane has exited

    def is_active(self, lane):
        return self.active >> lane & 1 != 0

    def title(self):
        """"block(0,0,0) w1", from the thread's name, whose lane may be an old one."""
        name = gdb.selected_thread().name or ""
        return name.rsplit(" lane ", 1)[0]

    def each(self, expression):
        """[(lane, value or None, error)] of @expression; the focus lane is put back."""
        expression = lanewise_in_lane(expression)
        frame = gdb.selected_frame()
        level, found = frame.level(), []
        try:
            for lane in range(self.width):
                if not self.live(lane):
                    found.append((lane, None, "exited"))
                    continue
                try:
                    lanewise_set_lane(lane, level)
                    value = gdb.parse_and_eval(expression)
                    if value.is_lazy:
                        value.fetch_lazy()
                    found.append((lane, value, None))
                except gdb.error as error:
                    found.append((lane, None, lanewise_sentence(error)))
        finally:
            lanewise_set_lane(self.lane, level)
        if all(error is not None for _, _, error in found):
            raise LanewiseError(next((error for _, _, error in found if error != "exited"),
                                     "all lanes have exited"))
        return found


def lanewise_set_lane(lane, level=0):
    """Move the focus; gdb forgets registers and frames, so an upper frame is selected again."""
    gdb.execute("set var $lane = %d" % lane, False, True)
    frame = gdb.newest_frame()
    while level > 0 and frame is not None:
        frame = frame.older()
        level -= 1
    if frame is None:
        raise gdb.error("this lane has fewer frames")
    frame.select()


# ---- instructions --------------------------------------------------------------------------

if _disassembler is not None:

    class LanewiseDisassembler(_disassembler.Disassembler):
        """Our instructions in x/i, disassemble, display/i and the TUI: a block a packet."""

        BLOCK = 64

        def __init__(self):
            super().__init__("lanewise")

        def __call__(self, info):
            try:
                if LanewiseLink.ours() is None:
                    return None
                known = LanewiseLink.insns
                if info.address not in known:
                    text = LanewiseLink.ask("qGpuDis:%x,%x" % (info.address, self.BLOCK))
                    at = info.address
                    for line in text.splitlines():
                        size, _, insn = line.partition(" ")
                        known[at] = (int(size), insn)
                        at += int(size)
                size, insn = known[info.address]
                return _disassembler.DisassemblerResult(length=size, string=insn)
            except Exception:  # no code of ours there: gdb's own disassembler says what it can
                return None


# ---- commands --------------------------------------------------------------------------------


class LanewiseHelp(gdb.Command):
    """Warps and lanes of a GPU kernel that runs in Lanewise.

lane [N]              the focus lane, or another one: the same as set $lane = N
lane where EXPR       focus on the first lane of this warp where EXPR is true
print-lanes EXPR      the value of EXPR in every lane of this warp
info warps [all]      warps that are resident
info lanes            lanes of this warp: split, state and place
info splits           where the lanes of this warp are, by place
info barriers         barriers in use by this warp and its block
info lane-registers [REGISTER|GROUP]...
                      registers of the focus lane, without gdb's own
info launches         launches that are open
info allocations      global memory by address, size and name
lanes-window [EXPR]   what the window of lanes shows below the lanes
layout lanewise       source, lanes and commands as a TUI; layout lanewise-asm with code
$lane_of(X[,Y[,Z]])   lane of this warp whose threadIdx that is, else -1
$lanev($v3, N)        value of a vector register in lane N; $lanev($v3, N, "f32") as a float

x/i and disassemble show the machine's own instructions.
All but these works without Python: see docs/gdb.md of Lanewise."""

    def __init__(self):
        super().__init__("lanewise", gdb.COMMAND_SUPPORT)

    def invoke(self, arg, from_tty):
        gdb.write(self.__doc__ + "\n")


class LanewiseInfo(gdb.Command):
    """`info NAME`: one of the shell's tables for the selected warp."""

    def __init__(self, name, what, command=None):
        self.__doc__ = what + ".\nUsage: info " + name
        self.name = command or name
        super().__init__("info " + name, gdb.COMMAND_STATUS)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        gdb.write(LanewiseLink.show((self.name + " " + arg).strip()))


class LanewiseLane(gdb.Command):
    """Show or move the focus lane of the selected warp.
Usage: lane [N]
       lane where EXPR

Without an operand: says which one it is. With a number: the same as `set $lane = N`, then shows the
frame. `where`: the first live lane in which EXPR is true; the frame stays where it is if there is none."""

    def __init__(self):
        super().__init__("lane", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        warp = LanewiseWarp()
        word, _, rest = arg.strip().partition(" ")
        if word == "":
            count = bin(warp.active).count("1")
            state = ("active, %d of %d lanes run together" % (count, warp.width)
                     if warp.is_active(warp.lane) else "not active")
            gdb.write("[%s lane %d: %s]\n" % (warp.title(), warp.lane, state))
            return
        if word == "where":
            if rest.strip() == "":
                raise LanewiseError("lane where: an expression is missing, as in: lane where i == 3")
            lane = self.first(warp, rest)
            if lane is None:
                raise LanewiseError("%s is true in no lane of this warp" % rest.strip())
        else:
            lane = int(gdb.parse_and_eval(arg))
            if lane < 0 or lane >= warp.width:
                raise LanewiseError("lane %d: this warp has lanes 0 to %d" % (lane, warp.width - 1))
            if not warp.live(lane):
                raise LanewiseError("lane %d has exited" % lane)
        lanewise_set_lane(lane)
        gdb.write("[%s lane %d]\n" % (warp.title(), lane))
        self.show_frame(from_tty)

    @staticmethod
    def show_frame(from_tty):
        """What gdb 13 prints itself in Python's name goes past the TUI and scrolls its windows."""
        try:
            plain = "not active" in gdb.execute("info win", False, True)
        except gdb.error:
            plain = True  # a gdb without a TUI
        if plain:
            gdb.execute("frame", from_tty)
        else:
            gdb.write(gdb.execute("frame", False, True))

    @staticmethod
    def first(warp, expression):
        for lane, value, error in warp.each(expression):
            if error is None and int(value) != 0:
                return lane
        return None


class LanewisePrintLanes(gdb.Command):
    """Print the value of an expression in every lane of the selected warp.
Usage: print-lanes[/FMT] EXPR

EXPR is what `print` takes: variables of the source, registers, memory; $v3 is the lane's part of
that vector register, $v3.f32 the same as a float. A lane that does not
run with the focus lane is dim, or in parentheses where the terminal shows no styles; one that
has exited is `-`, one in which EXPR has no value `?`."""

    def __init__(self):
        super().__init__("print-lanes", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        form = ""
        arg = arg.strip()
        if arg.startswith("/"):
            form, _, arg = arg[1:].partition(" ")
        if arg.strip() == "":
            raise LanewiseError("print-lanes: an expression is missing, as in: print-lanes $v3")
        if form not in ("", "x", "d", "u", "o", "t", "z", "a", "c", "f", "s"):
            raise LanewiseError("print-lanes: /%s is no format; one letter of xduotzacfs" % form)
        gdb.write("\n".join(lanewise_table(LanewiseWarp(), arg, form, lanewise_styled())) + "\n")


def lanewise_in_lane(expression):
    """A vector register that stands alone means its part in the lane: $v3 is $v3.u32[$lane]."""
    if "$lanev" in expression:  # takes the whole register
        return expression
    return re.sub(r"(\$v[0-9]+)(\.[uif]32)?(?![0-9.\[])",
                  lambda found: found[1] + (found[2] or ".u32") + "[$lane]", expression)


def lanewise_value(value, form):
    return value.format_string(format=form) if form else value.format_string()


def lanewise_columns(most, size, room):
    """How many cells of a row fit beside its number: @most, or a half, a quarter, ... of it."""
    while most > 1 and 5 + most * size > room:
        most //= 2
    return most


def lanewise_table(warp, expression, form, styled, room=None):
    cells, why = [], []
    for lane, value, error in warp.each(expression):
        if error == "exited":
            cells.append("-")
        elif error is not None:  # in another function, say
            cells.append("?")
            why = why or ["   ? lane %d: %s" % (lane, error.rstrip("."))]
        else:
            cells.append(lanewise_value(value, form).replace("\n", " "))
    dim = [not warp.is_active(lane) and warp.live(lane) for lane in range(warp.width)]
    if not styled:
        cells = ["(" + cell + ")" if dim[lane] else cell for lane, cell in enumerate(cells)]
    size = max(len(cell) for cell in cells)
    runs = sum(1 for lane in range(1, warp.width) if cells[lane] != cells[lane - 1])
    if size > 20 or (size > 10 and runs < 4):
        return lanewise_runs(cells, dim, styled) + why
    columns = 8 if room is None else lanewise_columns(8, size + 1, room)
    lines = []
    for first in range(0, warp.width, columns):
        line = "%4d:" % first
        for lane in range(first, min(first + columns, warp.width)):
            text = " " + cells[lane].rjust(size)
            line += "\033[2m" + text + "\033[m" if styled and dim[lane] else text
        lines.append(line)
    return lines + why


def lanewise_runs(cells, dim, styled):
    """Long values: a line for each run of lanes that have the same one."""
    lines, first = [], 0
    for lane in range(1, len(cells) + 1):
        if lane < len(cells) and cells[lane] == cells[first] and dim[lane] == dim[first]:
            continue
        name = "%d" % first if lane - first == 1 else "%d-%d" % (first, lane - 1)
        text = "%7s: %s" % (name, cells[first])
        lines.append("\033[2m" + text + "\033[m" if styled and dim[first] else text)
        first = lane
    return lines


# ---- functions ---------------------------------------------------------------------------------


class LanewiseLaneOf(gdb.Function):
    """$lane_of(X[, Y[, Z]]): the lane of the selected warp whose threadIdx that is, else -1."""

    def __init__(self):
        super().__init__("lane_of")

    @lanewise_guarded
    def invoke(self, *operands):
        if not 1 <= len(operands) <= 3:
            raise LanewiseError("$lane_of takes a thread's index in its block: $lane_of(X[, Y[, Z]])")
        warp = LanewiseWarp()
        size = [warp.number("ntid_" + axis) for axis in "xyz"]
        at = ([int(index) for index in operands] + [0, 0])[:3]
        if any(at[i] < 0 or at[i] >= size[i] for i in range(3)):
            return -1
        lane = at[0] + size[0] * (at[1] + size[1] * at[2]) - warp.number("warp") * warp.width
        return lane if 0 <= lane < warp.width else -1


class LanewiseLaneValue(gdb.Function):
    """$lanev(REGISTER, LANE[, VIEW]): a vector register in one lane; VIEW: "u32", "i32" or "f32"."""

    def __init__(self):
        super().__init__("lanev")

    @lanewise_guarded
    def invoke(self, *operands):
        if not 2 <= len(operands) <= 3:
            raise LanewiseError("$lanev takes a register and a lane: $lanev($v3, 5[, \"f32\"])")
        register, lane = operands[:2]
        view = operands[2].string() if len(operands) == 3 else "u32"
        kind = register.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_UNION:
            if view not in [field.name for field in kind.fields()]:
                raise LanewiseError('$lanev: "%s" is no view; use "u32", "i32" or "f32"' % view)
            register = register[view]
            kind = register.type.strip_typedefs()
        if kind.code != gdb.TYPE_CODE_ARRAY:
            raise LanewiseError("$lanev: expected a vector register, as in $lanev($v3, 5)")
        low, high = kind.range()
        if int(lane) < low or int(lane) > high:
            raise LanewiseError("$lanev: lane %d: this warp has lanes 0 to %d" % (int(lane), high))
        return register[int(lane)]


# ---- frames ------------------------------------------------------------------------------------

if _FrameDecorator is not None:

    class LanewiseUnread:
        """An argument whose memory is not there, as on a stack that overflows. gdb would end the frame's line at it."""

        def __init__(self, name, error):
            self.name, self.error = name, "<error reading variable: %s>" % error

        def symbol(self):
            return self.name

        def value(self):
            return self.error

    class LanewiseArguments(_FrameDecorator):
        @staticmethod
        def readable(frame, argument):
            symbol = argument.symbol()
            try:
                if argument.value() is None and isinstance(symbol, gdb.Symbol):
                    value = symbol.value(frame)
                    if not value.is_optimized_out:
                        value.fetch_lazy()
            except gdb.MemoryError as error:
                return LanewiseUnread(symbol.print_name, error)
            except gdb.error:
                pass  # gdb says so itself
            return argument

        def frame_args(self):
            arguments = super().frame_args()
            frame = self.inferior_frame()
            return [self.readable(frame, argument) for argument in arguments] if arguments else arguments

    class LanewiseFrame(LanewiseArguments):
        """The innermost frame of a backtrace says whose frames these are."""

        def function(self):
            name = super().function()
            try:
                frame = self.inferior_frame()
                lane = int(frame.read_register("lane"))
                return "%s [lane %d]" % (name, lane) if isinstance(name, str) else name
            except Exception:
                return name

    class LanewiseFrameFilter:
        def __init__(self):
            self.name, self.priority, self.enabled = "lanewise", 100, True
            gdb.frame_filters[self.name] = self

        def filter(self, frames):
            try:
                if LanewiseLink.ours() is None:
                    return frames
            except Exception:
                return frames
            return self.decorate(frames)

        @staticmethod
        def below(frame):
            """gdb's idea of who called a kernel, where it does not know that nobody did."""
            try:
                return frame.inferior_frame().level() > 0 and frame.inferior_frame().name() == "<launch>"
            except Exception:
                return False

        @staticmethod
        def decorate(frames):
            for index, frame in enumerate(frames):
                newest = False
                if LanewiseFrameFilter.below(frame):
                    return
                if index == 0:
                    try:
                        newest = frame.inferior_frame().level() == 0
                    except Exception:
                        newest = False
                yield LanewiseFrame(frame) if newest else LanewiseArguments(frame)


# ---- the window of lanes -----------------------------------------------------------------------


class LanewiseWindow:
    """A letter for each lane: which place it is at. Below them the places, and one expression."""

    open = []
    expression = ""

    def __init__(self, window):
        self.window = window
        self.top = 0
        window.title = "lanes"
        LanewiseWindow.open.append(self)

    def close(self):
        if self in LanewiseWindow.open:
            LanewiseWindow.open.remove(self)

    def vscroll(self, lines):
        self.top = max(0, self.top + lines)
        self.render()

    def hscroll(self, columns):
        pass

    def render(self):
        try:
            lines = self.lines()
        except Exception as error:
            lines = [str(error)]
        room = max(1, self.window.height)
        self.top = min(self.top, max(0, len(lines) - room))
        if hasattr(self.window, "erase"):
            self.window.erase()
        self.window.write("\n".join(lines[self.top:self.top + room]))

    def lines(self):
        styled = bool(gdb.parameter("style enabled"))
        if LanewiseLink.ours() is None or gdb.selected_thread() is None:
            return ["no warp"]
        warp = LanewiseWarp()
        letters, places = {}, []
        for lane in [warp.lane] + list(range(warp.width)):
            pc = warp.pcs[lane]
            if warp.live(lane) and pc not in letters:
                # more places than letters: the last one stands for the rest
                letters[pc] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ+"[min(len(places), 26)]
                places.append(pc)
        lines = ["%s lane %d  %d of %d active" % (warp.title(), warp.lane,
                                                 bin(warp.active).count("1"), warp.width)]
        room = self.window.width - 1
        columns = lanewise_columns(16 if warp.width > 32 else 8, 3, room)
        for first in range(0, warp.width, columns):
            line = "%3d " % first
            for lane in range(first, min(first + columns, warp.width)):
                line += self.cell(warp, lane, letters, styled)
            lines.append(line)
        for pc in places[:26]:
            count = sum(1 for lane in range(warp.width) if warp.pcs[lane] == pc)
            lines.append("%s %2d at %s" % (letters[pc], count, self.place(pc)))
        if any(not warp.live(lane) for lane in range(warp.width)):
            lines.append("- exited")
        if LanewiseWindow.expression:
            lines.append(LanewiseWindow.expression + ":")
            try:
                lines += lanewise_table(warp, LanewiseWindow.expression, "", styled, room)
            except (gdb.error, gdb.GdbError, LanewiseError) as error:
                lines.append(lanewise_sentence(error))
        # one that is too long would be wrapped; colours take no room
        return [line if "\033" in line else line[:room] for line in lines]

    @staticmethod
    def cell(warp, lane, letters, styled):
        if not warp.live(lane):
            text = "-"
        else:
            text = letters[warp.pcs[lane]]
            if not warp.is_active(lane):
                text = text.lower()
        if lane == warp.lane:
            return "[" + text + "]" if not styled else "[\033[7m" + text + "\033[m]"
        if styled and not warp.is_active(lane):
            return " \033[2m" + text + "\033[m "
        return " " + text + " "

    @staticmethod
    def place(pc):
        line = gdb.find_pc_line(pc)
        if line.symtab is not None and line.line != 0:
            return "%s:%d" % (line.symtab.filename.rsplit("/", 1)[-1], line.line)
        return "0x%x" % pc

    @classmethod
    def redraw(cls, *unused):
        for window in list(cls.open):
            try:
                if window.window.is_valid():
                    window.render()
            except Exception:
                pass


class LanewiseWindowCommand(gdb.Command):
    """Choose what the window of lanes shows below the lanes.
Usage: lanes-window [EXPR]

EXPR is shown for every lane, as print-lanes does; without one only the lanes are shown. The
window is part of `layout lanewise`."""

    def __init__(self):
        super().__init__("lanes-window", gdb.COMMAND_TUI, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        LanewiseWindow.expression = arg.strip()
        LanewiseWindow.redraw()


# ---- watchpoints -------------------------------------------------------------------------------


class LanewiseWatch:
    """Watchpoints are the lane's that was in focus when they were set, which gdb does not tell the stub.

    `watch out[1]` with a variable of a frame: gdb takes the watchpoint for over where it does not
    find that frame, and lanes have frames of their own. The place is watched instead, as where two lanes'
    are watched at one address."""

    COMMANDS = {gdb.BP_WATCHPOINT: "watch", gdb.BP_HARDWARE_WATCHPOINT: "watch",
                gdb.BP_READ_WATCHPOINT: "rwatch", gdb.BP_ACCESS_WATCHPOINT: "awatch"}
    PACKETS = {"watch": 2, "rwatch": 3, "awatch": 4}
    MOST_BYTES = 64
    # as the lane in focus sees them, and of any lane, which is in $sp (docs/gdb.md, Memory)
    WINDOWS = [(0x20000000000, 1 << 32, 0xF7 << 56), (0xF0 << 56, 1 << 32, 0xF8 << 56)]
    PLACE = 0xFFFFFF << 32

    busy = False
    pinned = {}  # number: {(address, size, packet): whose}

    @classmethod
    def created(cls, point):
        if cls.busy or cls.COMMANDS.get(point.type) is None or point.expression is None or \
                LanewiseLink.ours() is None or gdb.selected_thread() is None:
            return
        cls.busy = True
        try:
            if cls.needs_frame(point.expression) and not lanewise_is_mi():
                cls.replace(point, "gdb would drop where another lane comes into focus")
            else:
                cls.pin(point)
        except (gdb.error, LanewiseError) as error:
            gdb.write("note: watchpoint %d is not bound to this lane (%s)\n" %
                      (point.number, lanewise_sentence(error)))
        finally:
            cls.busy = False

    @classmethod
    def deleted(cls, point):
        cls.pinned.pop(point.number, None)

    @staticmethod
    def symbols(expression):
        for name in re.findall(r"(?<![\w$.>])[A-Za-z_]\w*", expression):
            symbol = gdb.lookup_symbol(name)[0]
            if symbol is not None and (symbol.is_variable or symbol.is_argument):
                yield name, symbol

    @classmethod
    def needs_frame(cls, expression):
        return not expression.startswith("-location ") and \
            any(symbol.needs_frame for _, symbol in cls.symbols(expression))

    @classmethod
    def value(cls, expression):
        value = gdb.parse_and_eval(expression)
        if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
        return value

    @staticmethod
    def whose(address, size, packet):
        """Binds what is watched there to whose it is now, in words; 0: only tells."""
        return LanewiseLink.ask("qGpuWatch:%x;%x,%x,%x" %
                                (gdb.selected_thread().ptid[1], address, size, packet))

    @classmethod
    def pin(cls, point):
        """Tells the stub whose the places are that gdb watches for this one."""
        expression, packet = point.expression, cls.PACKETS[cls.COMMANDS[point.type]]
        location = expression.startswith("-location ")
        expression = expression[len("-location "):] if location else expression
        wanted = [expression] + [name for name, _ in cls.symbols(expression) if not location]
        whose = {}
        for text in wanted:
            try:
                value = cls.value(text)
                place = None if value.address is None else \
                    (int(value.address), value.type.sizeof, packet)
            except gdb.error:
                continue  # gdb says so itself
            if place is None or place[1] > cls.MOST_BYTES or place in whose:
                continue
            owner = cls.whose(place[0], place[1], 0)
            if owner == "":
                continue
            others = [number for number, places in cls.pinned.items() if places.get(place, owner) != owner]
            if others and lanewise_is_mi():  # an editor keeps the number, and gdb watches an address once
                gdb.write("note: watchpoint %d has one address with %d: both are this lane's now\n" %
                          (point.number, others[0]))
            elif others and text == expression:
                cls.replace(point, "has one address with %d, of another lane" % others[0])
                return
            whose[place] = cls.whose(*place)
        cls.pinned[point.number] = whose
        if whose:
            gdb.write("[%s: %s]\n" % (point.expression, "; ".join(sorted(set(whose.values())))))

    @classmethod
    def replace(cls, point, why):
        expression = point.expression
        if expression.startswith("-location "):
            expression = expression[len("-location "):]
        value = cls.value(expression)
        if value.address is None or value.type.sizeof > cls.MOST_BYTES:
            raise LanewiseError("which %s, and %s is no place of at most %d bytes" %
                                (why, expression, cls.MOST_BYTES))
        address = int(value.address)
        what, whose = "-location " + expression, ""
        for low, size, window in cls.WINDOWS:
            if low <= address < low + size:
                what, whose = cls.of_lane(expression, value, address - low + window), " of this lane"
        if point.condition is not None:
            what += " if " + point.condition
        gdb.execute("%s %s" % (cls.COMMANDS[point.type], what))
        gdb.write("in place of %d, which %s: the memory%s where %s is now\n" % (point.number, why, whose, expression))
        point.delete()
        if whose:
            LanewiseScope.begin(gdb.breakpoints()[-1])

    @classmethod
    def of_lane(cls, expression, value, address):
        """The place as an expression that says what it is: gdb shows it for what is watched."""
        frame = gdb.selected_frame()
        address += int(frame.read_register("sp")) & cls.PLACE
        lane = "%s, %s lane %d" % (expression.replace("\\", "\\\\").replace('"', '\\"'), LanewiseWarp().title(),
                                   int(frame.read_register("lane")))
        return '"%s", *(%s) 0x%x' % (lane, cls.pointer_name(value.type), address)

    @staticmethod
    def pointer_name(kind):
        """A pointer to that type, as an expression can say it, else to bytes."""
        try:
            if int(gdb.parse_and_eval("sizeof(%s)" % kind)) == kind.sizeof:
                return "%s *" % kind
        except gdb.error:
            pass
        return "unsigned char (*)[%d]" % kind.sizeof


class LanewiseScope(gdb.Breakpoint):
    """Where the function returns to, in that lane: the watchpoint of one of its variables ends, as
    gdb's own would."""

    open = []

    @classmethod
    def begin(cls, point):
        caller = gdb.selected_frame().older()
        if caller is None or not caller.is_valid() or caller.name() in (None, "<launch>"):
            return
        sp = "$rsp" if caller.architecture().name().startswith("i386") else "$sp"
        scope = cls("*0x%x" % caller.pc(), internal=True)
        scope.condition = "%s == 0x%x" % (sp, int(caller.read_register("sp")))
        scope.silent = True
        scope.point = point
        cls.open.append(scope)

    def stop(self):
        return self.point.is_valid()

    @classmethod
    def stopped(cls, event):
        """Deletes what has ended, and is told by gdb's words for it: its own scopes print no stop."""
        hit, told = getattr(event, "breakpoints", []), False
        for scope in list(cls.open):
            if scope.is_valid() and scope.point.is_valid() and scope in hit:
                gdb.write("\nWatchpoint %d deleted because the program has left the block in\n"
                          "which its expression is valid.\n" % scope.point.number)
                scope.point.delete()
                told = True
            if not scope.is_valid() or not scope.point.is_valid():
                cls.close(scope)
        if told:
            gdb.write(gdb.execute("frame", False, True))

    @classmethod
    def close(cls, scope):
        cls.open.remove(scope)
        if scope.is_valid():
            scope.delete()

    @classmethod
    def close_all(cls):
        """The run begins again: no frame of it is left."""
        for scope in list(cls.open):
            if scope.point.is_valid():
                scope.point.delete()
            cls.close(scope)


def lanewise_is_mi():
    """An editor drives this gdb, and keeps the numbers of watchpoints itself."""
    try:
        with open("/proc/self/cmdline", "rb") as words:
            return re.search(rb"\0(-i|--?interpreter)[=\0]mi|\0-i=?mi", words.read()) is not None
    except OSError:
        return False


def lanewise_looks_again():
    """Behind `monitor`, which may have moved the machine. The frame that was chosen stays if it did not."""
    if LanewiseLink.ours() is None or gdb.selected_thread() is None:
        return
    try:
        level, pc = gdb.selected_frame().level(), gdb.newest_frame().pc()
    except gdb.error:
        level, pc = 0, None
    try:
        gdb.execute("maint flush dcache", False, True)  # the stack, which is kept apart from registers
    except gdb.error:
        pass  # gdb 11 does not know it
    gdb.execute("maint flush register-cache", False, True)
    try:
        frame = gdb.newest_frame()
        if level == 0 or frame.pc() != pc:
            return
        while frame is not None and frame.level() < level:
            frame = frame.older()
        if frame is not None:
            frame.select()
    except gdb.error:
        pass  # the thread is gone: the next step tells where the machine stands


class LanewiseRenew(gdb.Command):
    """Build what `run` will run, and put it into the file that gdb was given. `run` and `start` begin with
this: gdb reads its file anew then, and at no other time."""

    def __init__(self):
        super().__init__("lanewise-renew", gdb.COMMAND_OBSCURE)
        for command in ["run", "start", "starti"]:
            try:
                gdb.execute("show user hook-" + command, False, True)
            except gdb.error:  # the user has none
                gdb.execute("define hook-%s\nlanewise-renew\nend" % command, False, True)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        LanewiseScope.close_all()
        connection = LanewiseLink.ours()
        reply = connection.send_packet("qGpuRenew") if connection is not None else None
        if reply and reply.startswith(b"E."):
            raise LanewiseError(reply[2:].decode("utf-8", "replace"))


# ---- all of it ---------------------------------------------------------------------------------


def lanewise_handlers():
    """Events that end what is kept; those of an earlier load of this file are undone."""
    events = [("cont", LanewiseLink.forget), ("memory_changed", LanewiseLink.forget),
              ("new_objfile", LanewiseLink.forget), ("exited", LanewiseLink.forget),
              ("connection_removed", LanewiseLink.forget_all),
              ("before_prompt", LanewiseWindow.redraw),
              ("breakpoint_created", LanewiseWatch.created),
              ("breakpoint_deleted", LanewiseWatch.deleted), ("stop", LanewiseScope.stopped)]
    for registry, handler in getattr(gdb, "lanewise_connected", []):
        try:
            registry.disconnect(handler)
        except ValueError:
            pass
    gdb.lanewise_connected = []
    for name, handler in events:
        registry = getattr(gdb.events, name, None)
        if registry is not None:
            registry.connect(handler)
            gdb.lanewise_connected.append((registry, handler))


def lanewise_start():
    if not hasattr(gdb, "RemoteTargetConnection"):
        gdb.write("lanewise_gdb.py needs gdb 12 or later; gdb works without it\n", gdb.STDERR)
        return
    LanewiseHelp()
    for name, what in [("warps", "Warps that are resident"),
                       ("lanes", "Lanes of the selected warp: split, state and place"),
                       ("splits", "Splits of the selected warp: lanes that are together"),
                       ("barriers", "Barriers in use by the selected warp and its block"),
                       ("launches", "Launches that are open, and what they wait for"),
                       ("allocations", "Global memory: addresses, sizes and names")]:
        LanewiseInfo(name, what)
    LanewiseInfo("lane-registers", "Registers of the focus lane: all, or by name or group "
                 "(vector, scalar, predicate, warp, special)", "registers")
    LanewiseLane()
    LanewisePrintLanes()
    LanewiseRenew()
    LanewiseWindowCommand()
    LanewiseLaneOf()
    LanewiseLaneValue()
    if _FrameDecorator is not None:
        LanewiseFrameFilter()
    if _disassembler is not None:
        _disassembler.register_disassembler(LanewiseDisassembler())
    lanewise_handlers()
    if LanewiseLink.connection() is not None:
        LanewiseLink.ours()  # the stub knows of us then
    gdb.execute("define hookpost-monitor\npython lanewise_looks_again()\nend", False, True)
    if hasattr(gdb, "register_window_type"):
        gdb.register_window_type("lanes", LanewiseWindow)
        for layout in ["lanewise {-horizontal src 3 lanes 2} 3 status 0 cmd 2",
                       "lanewise-asm {-horizontal asm 3 lanes 2} 3 status 0 cmd 2"]:
            try:
                gdb.execute("tui new-layout " + layout, False, True)
            except gdb.error:
                pass  # this gdb has no TUI, or knows the layout


lanewise_start()
