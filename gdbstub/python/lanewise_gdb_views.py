# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: backtraces, and the TUI windows of lanes and registers.


# ---- frames ------------------------------------------------------------------------------------

if _FrameDecorator is not None:

    class LanewiseUnread:
        """Replaces an argument whose memory cannot be read, for example after a stack overflow. For such an argument gdb would
        end the line of the frame; this class has an error text as its value."""

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
                pass  # gdb prints this error itself
            return argument

        def function(self):
            """Returns the function's name without parameter types, as gdb's own backtrace shows it. The method of the base class
            returns names of C++ functions with parameter types."""
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
            # gdb omits the arguments of a function without line numbers
            if arguments is None and frame.function() is not None and type(self._base) is _FrameDecorator:
                arguments = _FrameVars(frame).fetch_frame_args()
            return [self.readable(frame, argument) for argument in arguments] if arguments else arguments

    class LanewiseFrame(LanewiseArguments):
        """The innermost frame of a backtrace. Its name is followed by the lane whose frames the backtrace shows."""

        def function(self):
            name = super().function()
            try:
                frame = self.inferior_frame()
                lane = int(frame.read_register("lane"))
                return "%s [lane %d]" % (name, lane) if isinstance(name, str) else name
            except Exception:
                return name

    class LanewiseLauncher(_FrameDecorator):
        """The last line of the backtrace of a kernel that was launched by a kernel. It shows the launching lane."""

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
            """Returns True for the frame <launch>. gdb shows it as the caller of the kernel, but kernels have no caller."""
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
    """TUI window that shows a letter for each lane. Lanes with the same letter are at the same pc; the letter of a lane that
    does not run together with the focus lane is lower-case. The lines below show the source location of each letter and, after
    `lanes-window EXPR`, the value of EXPR in each lane."""

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
                # all pcs after the first 26 share the sign +
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
        # Lines are cut at the width of the window, because it would wrap them. Lines with escape sequences are not cut: they
        # have more characters than columns.
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
    """TUI window with the registers of the focus lane. Registers that changed at the last step are marked. gdb's own register
    window shows the general registers of the target architecture instead, such as rax."""

    TITLE = "registers of the focus lane"
    KINDS = ["pc", "lane", "exec", "active", "s", "v", "p", "sp"]  # order of registers by name without number; others are last
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
    """Defines `layout regs` with the window LanewiseRegisters, if gdb is connected to Lanewise. gdb's own layout shows the
    registers of the target architecture, such as rax."""
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

The value of EXPR is shown for every lane, as by print-lanes. Without EXPR only the lanes are shown.
The window is part of `layout lanewise`."""

    def __init__(self):
        super().__init__("lanes-window", gdb.COMMAND_TUI, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        LanewiseWindow.expression = arg.strip()
        LanewiseWindow.redraw()
