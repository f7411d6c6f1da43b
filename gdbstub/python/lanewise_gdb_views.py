# SPDX-License-Identifier: Apache-2.0
# Of lanewise_gdb.py: backtraces and the window of lanes.


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

        def function(self):
            """gdb has a name of C++ with the types of its parameters here, but not where it shows a frame itself."""
            name = super().function()
            try:
                symbol = self.inferior_frame().function()
                if isinstance(name, str) and symbol is not None and name == str(symbol):
                    return self.inferior_frame().name() or name
            except Exception:
                pass
            return name

        def frame_args(self):
            arguments = super().frame_args()
            frame = self.inferior_frame()
            # gdb leaves those of a function without lines out
            if arguments is None and frame.function() is not None and type(self._base) is _FrameDecorator:
                arguments = _FrameVars(frame).fetch_frame_args()
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

    class LanewiseLauncher(_FrameDecorator):
        """After the outermost frame of a kernel that a kernel launched: the launch."""

        def __init__(self, frame, text):
            super().__init__(frame)
            self.text = text

        def function(self):
            return "launched by %s" % self.text

        def filename(self):
            return None

        def line(self):
            return None

        def address(self):
            return None

        def frame_args(self):
            return None

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
            """gdb's idea of the caller of a kernel, which has none."""
            try:
                return frame.inferior_frame().level() > 0 and frame.inferior_frame().name() == "<launch>"
            except Exception:
                return False

        @staticmethod
        def decorate(frames):
            outermost = None
            for index, frame in enumerate(frames):
                newest, outermost = False, frame
                if LanewiseFrameFilter.below(frame):
                    break
                if index == 0:
                    try:
                        newest = frame.inferior_frame().level() == 0
                    except Exception:
                        newest = False
                yield LanewiseFrame(frame) if newest else LanewiseArguments(frame)
            launchers = []
            try:
                launchers = LanewiseLink.show("launcher").strip().splitlines()
            except Exception:
                pass
            if outermost is not None and launchers and launchers[0] != "the host":
                yield LanewiseLauncher(outermost, "; by ".join(launchers))


# ---- the window of lanes -----------------------------------------------------------------------


class LanewiseWindow:
    """A letter for each lane: which place it is at. Below them the places, and one expression."""

    TITLE = "lanes"
    open = []
    expression = ""

    def __init__(self, window):
        self.window = window
        self.top = 0
        window.title = self.TITLE
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
        if LanewiseLink.ours() is None or lanewise_thread() is None:
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


class LanewiseRegisters(LanewiseWindow):
    """The registers of the focus lane, which gdb's own window of registers does not have: that is the carrier's
    general group. What changed since the window was drawn last is marked."""

    TITLE = "registers of the focus lane"
    KINDS = ["pc", "lane", "exec", "active", "s", "v", "p", "sp"]  # others come last
    WIDTH = 30

    def __init__(self, window):
        super().__init__(window)
        self.place, self.values, self.changed = None, {}, set()

    def lines(self):
        styled = bool(gdb.parameter("style enabled"))
        if LanewiseLink.ours() is None or lanewise_thread() is None:
            return ["no warp is selected: this window shows registers of Lanewise; `tui reg general` shows those of gdb"]
        warp = LanewiseWarp()
        values = {}
        for line in LanewiseLink.show("registers").splitlines():
            name, _, value = line.partition(" ")
            values[name] = value.strip()
        place = (lanewise_thread().ptid[1], warp.lane)
        if place != self.place:
            self.changed = set()
        elif values != self.values:
            self.changed = {name for name in values if values[name] != self.values.get(name)}
        self.place, self.values = place, values
        lines = ["%s lane %d" % (warp.title(), warp.lane), "pc " + values.pop("pc", "?")]
        room = self.window.width - 1
        columns = max(1, room // self.WIDTH)
        cells = sorted(values, key=self.order)
        for first in range(0, len(cells), columns):
            lines.append("".join(self.cell_of(name, values[name], styled)
                                 for name in cells[first:first + columns]).rstrip())
        return [line if "\033" in line else line[:room] for line in lines]

    @classmethod
    def order(cls, name):
        kind = name.rstrip("0123456789")
        number = int(name[len(kind):]) if name != kind else -1
        return (cls.KINDS.index(kind) if kind in cls.KINDS else len(cls.KINDS), number)

    def cell_of(self, name, value, styled):
        words = value.split("  ")
        text = "%-4s %s" % (name, "  ".join(words[:2]))
        text = text[:self.WIDTH - 2].ljust(self.WIDTH)
        if name not in self.changed:
            return text
        return "\033[7m%s\033[m%s" % (text.rstrip(), " " * (len(text) - len(text.rstrip()))) if styled else \
            text[:-1].replace(" ", "*", 1) + " "


def lanewise_layout_regs(*unused):
    """`layout regs` is ours if the program is: gdb's shows rax and its like, which belong to the target architecture."""
    if getattr(gdb, "lanewise_layout", False) or not hasattr(gdb, "register_window_type"):
        return
    try:
        if LanewiseLink.ours() is None:
            return
        gdb.execute("tui new-layout regs lanewise-registers 1 src 1 status 0 cmd 1", False, True)
    except (gdb.error, LanewiseError):
        return  # this gdb has no TUI
    gdb.lanewise_layout = True


class LanewiseWindowCommand(gdb.Command):
    """Select what the TUI window of lanes shows below the lanes.
Usage: lanes-window [EXPR]

EXPR is shown for every lane, as by print-lanes; without EXPR only the lanes are shown. The
window is part of `layout lanewise`."""

    def __init__(self):
        super().__init__("lanes-window", gdb.COMMAND_TUI, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        LanewiseWindow.expression = arg.strip()
        LanewiseWindow.redraw()
