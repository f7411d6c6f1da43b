# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: commands that show or move the focus, by lane or by coordinates.


class LanewiseHelp(gdb.Command):
    """Warps and lanes of a GPU kernel that runs in Lanewise.

lanewise block 3 thread 17
                      focus on a thread by kernel, block, thread, warp, lane, sm; values are numbers or (x,y,z)
focus block (3,0,0) thread (5,1,0)
                      the same; with the name of a TUI window, the command focus of gdb
cuda block 3 thread 17, cuda kernel block thread
                      the same in the syntax of cuda-gdb; without numbers: show the focus
info cuda LIST [block 3 ...]
                      list devices, sms, warps, lanes, kernels, blocks or threads; coordinates filter the list
lane [N]              show the focus lane, or focus on lane N, as set $lane = N
lane where EXPR       focus on the first lane in which EXPR is true: in this warp, otherwise in the grid
lw EXPR, lanewise print EXPR
                      print EXPR as the shell does: v.xy, any(i > 3), get_global_id(0), OUT[3]
lanewise COMMAND      run a command of the shell that only shows something, for the selected warp
print-lanes EXPR      print the value of EXPR in every lane of this warp
info warps [all]      list resident warps
info lanes            list the lanes of this warp: split, state and location
info splits           list the splits of this warp: lanes at the same location
info barriers         list barriers in use by this warp and its block
info lane-registers [REGISTER|GROUP]...
                      show registers of the focus lane, without the registers that gdb adds
info launches         list launches that have not completed, and where they were launched
info grids            the same; with --timing also the queues in which they wait
launcher              focus on the lane that launched this kernel
info allocations      list global memory by address, size and name
lanes-window [EXPR]   select what the TUI window of lanes shows below the lanes
layout lanewise       TUI with source, lanes and commands; layout lanewise-asm with instructions
layout regs           TUI with source, registers of the focus lane and commands
$lane_of(X[,Y[,Z]])   lane of this warp with this threadIdx, otherwise -1
$lanev($v3, N)        value of a vector register in lane N; $lanev($v3, N, "f32") as a float

With this file, x/i and disassemble show GPU instructions.
Everything else works in a gdb without Python, too: see docs/reference/gdb.md of Lanewise."""

    def __init__(self):
        super().__init__("lanewise", gdb.COMMAND_SUPPORT)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        word, _, rest = arg.strip().partition(" ")
        if word == "":
            gdb.write(self.__doc__ + "\n")
        elif lanewise_is_coordinate(word):
            lanewise_go("lanewise " + arg, from_tty)
        elif word == "focus" and rest.strip():
            lanewise_go("lanewise " + rest, from_tty)
        elif word == "where":
            lanewise_lane_where(rest, from_tty)
        else:
            try:
                gdb.write(LanewiseLink.show(arg.strip()))
            except LanewiseError as error:
                if not str(error).startswith("qGpuAsk only takes"):
                    raise
                raise LanewiseError("\"%s\" is neither a coordinate nor a command that only shows something: `help lanewise` and `monitor help` list them" % word)

    def complete(self, text, word):
        if " " not in text.strip():
            return [name for name in LANEWISE_AXES + ["print", "where"] if name.startswith(text.strip())]
        return lanewise_complete(text, word)


LANEWISE_AXES = ["kernel", "block", "thread", "device", "sm", "warp", "lane"]
LANEWISE_LISTS = ["devices", "sms", "warps", "lanes", "kernels", "blocks", "threads"]


def lanewise_is_coordinate(word):
    return len(word) >= 2 and any(axis.startswith(word) for axis in LANEWISE_AXES + ["grid"])


def lanewise_complete(text, word):
    """Returns the names of coordinates that begin with @word and are not in the command line yet, for completion."""
    return [axis for axis in LANEWISE_AXES if axis.startswith(word or "") and axis not in text.split()]


def lanewise_select(number, lane):
    """Selects the thread with this id in gdb, and the newest frame of its lane @lane."""
    selected = lanewise_thread()
    if selected is None or selected.ptid[1] != number:
        if not any(thread.ptid[1] == number for thread in gdb.selected_inferior().threads()):
            gdb.execute("info threads 1", False, True)  # makes gdb read the list of threads again, which now has this thread
        for thread in gdb.selected_inferior().threads():
            if thread.is_valid() and thread.ptid[1] == number:
                thread.switch()
                break
        else:
            raise LanewiseError("warp %d is not in the list of threads of gdb: use `monitor threads all` first" % number)
    lanewise_set_lane(lane)


def lanewise_show_frame(from_tty):
    """Prints the selected frame. If the TUI is active, the text is captured and written by gdb.write(). gdb 13 would not write
    the output of a command that Python executes to the TUI's command window: it would scroll the terminal."""
    try:
        plain = "not active" in gdb.execute("info win", False, True)
    except gdb.error:
        plain = True  # a gdb without a TUI
    if plain:
        gdb.execute("frame", from_tty)
    else:
        gdb.write(gdb.execute("frame", False, True))


def lanewise_go(command, from_tty):
    """Executes a command of Lanewise's shell that moves the focus, and moves gdb's focus to the same thread. If the command
    names no thread, only prints its output."""
    LanewiseWarp()  # raises an error if no warp is selected
    number, lane, text = LanewiseLink.focus(command)
    if not text.startswith("["):
        gdb.write(text)
        return
    lanewise_select(number, lane)
    gdb.write(text.splitlines()[0] + "\n")
    lanewise_show_frame(from_tty)


class LanewiseCuda(gdb.Command):
    """Focus on a thread by coordinates, in the syntax of cuda-gdb.
Usage: cuda [kernel N] [block X|(X,Y,Z)] [thread X|(X,Y,Z)] [device N] [sm N] [warp N] [lane N]

Coordinates that are not given do not change. Without numbers, the command shows the focus: cuda kernel block thread."""

    def __init__(self):
        super().__init__("cuda", gdb.COMMAND_DATA)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        lanewise_go("cuda " + arg, from_tty)

    def complete(self, text, word):
        return lanewise_complete(text, word)


class LanewiseFocusCommand(gdb.Command):
    """Focus on a thread by coordinates, or on a window of the TUI.
Usage: focus [kernel N] [block X|(X,Y,Z)] [thread X|(X,Y,Z)] [device N] [sm N] [warp N] [lane N]
       focus WINDOW|next|prev

Coordinates that are not given do not change. The second form is the same as gdb's command `tui focus`."""

    def __init__(self):
        super().__init__("focus", gdb.COMMAND_DATA)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        if lanewise_is_coordinate(arg.strip().partition(" ")[0].partition("(")[0]):
            lanewise_go("lanewise " + arg, from_tty)
        else:
            gdb.execute("tui focus " + arg, from_tty)

    def complete(self, text, word):
        return lanewise_complete(text, word)


def lanewise_to_launcher(from_tty):
    """Focuses on the lane that launched this kernel."""
    line = LanewiseLink.show("launcher").strip().splitlines()[0]
    place = re.search(r"launch (\d+) block(\([0-9,]+\)| \d+) w(\d+) lane (\d+)$", line)
    if place is None:
        raise LanewiseError("this kernel was launched by the host")
    gdb.write("launched by %s\n" % line)
    lanewise_go("lanewise kernel %s block %s warp %s lane %s" % place.groups(), from_tty)


class LanewiseLaunchingLane(gdb.Command):
    """Focus on the lane that launched this kernel, if that lane is live: launcher"""

    def __init__(self):
        super().__init__("launcher", gdb.COMMAND_STACK)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        lanewise_to_launcher(from_tty)


class LanewiseUp(gdb.Command):
    """Select and print the stack frame that called this one.
From the frame of a kernel that a kernel has launched, focus on the launching lane.
An argument says how many frames up to go."""

    def __init__(self):
        super().__init__("up", gdb.COMMAND_STACK)

    @staticmethod
    def above(frame):
        older = frame.older()
        try:
            return None if older is not None and LanewiseLink.ours() is not None and older.name() == "<launch>" else older
        except Exception:
            return older

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        count = int(gdb.parse_and_eval(arg)) if arg.strip() else 1
        frame = gdb.selected_frame()
        older = self.above(frame)
        if count > 0 and older is None:
            if LanewiseLink.ours() is None or LanewiseLink.show("launcher").startswith("the host"):
                raise gdb.GdbError("Initial frame selected; you can't go up.")
            lanewise_to_launcher(from_tty)
            return
        while count > 0 and older is not None:
            frame, older, count = older, self.above(older), count - 1
        while count < 0 and frame.newer() is not None:
            frame, count = frame.newer(), count + 1
        frame.select()
        gdb.execute("frame", from_tty)


class LanewiseInfoCuda(gdb.Command):
    """Show lists as in cuda-gdb: devices, sms, warps, lanes, kernels, blocks, threads.
Usage: info cuda LIST [kernel N] [block X|(X,Y,Z)] [thread X|(X,Y,Z)] [sm N] [warp N] [lane N]

Coordinates filter a list. `current` means the coordinate of the focus, and `all` removes a filter that applies by default."""

    def __init__(self):
        super().__init__("info cuda", gdb.COMMAND_STATUS)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        gdb.write(LanewiseLink.show(("info cuda " + arg).strip()))

    def complete(self, text, word):
        if " " not in text.strip():
            return [name for name in LANEWISE_LISTS if name.startswith(text.strip())]
        return lanewise_complete(text, word)


class LanewisePrint(gdb.Command):
    """Print an expression as Lanewise's shell evaluates it, in the focus lane.
Usage: lw[/FMT] EXPR

EXPR may contain what gdb does not support: parts of OpenCL vectors (v.xy, v.lo), get_global_id(0), any(i > 3), sum(x),
at(5, x), buffers of the launch file (OUT[3]). `lanewise print` is the same command."""

    def __init__(self):
        super().__init__("lw", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        gdb.write(LanewiseLink.show("print " + arg.strip()))


def lanewise_lane_where(expression, from_tty):
    expression = expression.strip()
    if expression == "":
        raise LanewiseError("lane where takes an expression, as in: lane where i == 3")
    warp = LanewiseWarp()
    try:
        number, lane, text = LanewiseLink.focus("lane where " + expression)
    except LanewiseError as error:
        if "is not true in any lane" in str(error):
            raise
        # the shell cannot evaluate the expression, so gdb evaluates it in each lane of this warp
        try:
            found = LanewiseLane.first(warp, expression)
        except LanewiseError:
            if "$" in expression:
                raise
            raise error  # names the unknown name; gdb names the first name, which may be known in other lanes
        if found is None:
            raise LanewiseError("%s is not true in any lane of this warp" % expression)
        number, lane, text = lanewise_thread().ptid[1], found, ""
    lanewise_select(number, lane)
    for line in text.splitlines():
        gdb.write(line + "\n")
        if line.startswith("true in "):
            break
    gdb.write("[%s lane %d]\n" % (LanewiseWarp().title(), lane))
    lanewise_show_frame(from_tty)


class LanewiseLane(gdb.Command):
    """Show or move the focus lane of the selected warp.
Usage: lane [N]
       lane where EXPR

Without an operand, show the focus lane. With a number, focus on that lane, as `set $lane = N` does, and
show the frame. With `where`, focus on the first live lane in which EXPR is true: in this warp, otherwise in
the resident warps of the grid. If EXPR is true in no lane, the focus does not change."""

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
            lanewise_lane_where(rest, from_tty)
            return
        lane = int(gdb.parse_and_eval(arg))
        if lane < 0 or lane >= warp.width:
            raise LanewiseError("lane %d: this warp has lanes 0 to %d" % (lane, warp.width - 1))
        if not warp.live(lane):
            raise LanewiseError("lane %d has exited" % lane)
        lanewise_set_lane(lane)
        gdb.write("[%s lane %d]\n" % (warp.title(), lane))
        lanewise_show_frame(from_tty)

    @staticmethod
    def first(warp, expression):
        for lane, value, error in warp.each(expression):
            if error is None and int(value) != 0:
                return lane
        return None
