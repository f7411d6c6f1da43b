# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: watchpoints on the memory of one lane, and actions before and after commands of gdb.


# ---- watchpoints -------------------------------------------------------------------------------


class LanewiseWatch:
    """Binds a watchpoint to the lane that was in focus when the user set it. gdb sends only the address to the stub, and local
    memory of all lanes has the same addresses, so this class sends the lane.

    If the expression contains a variable of a function, gdb deletes the watchpoint when it does not find the function's
    frame, for example because another lane is in focus. Such a watchpoint is therefore replaced by one on the address of the
    variable. A watchpoint is also replaced if the same address is already watched for another lane."""

    COMMANDS = {gdb.BP_WATCHPOINT: "watch", gdb.BP_HARDWARE_WATCHPOINT: "watch",
                gdb.BP_READ_WATCHPOINT: "rwatch", gdb.BP_ACCESS_WATCHPOINT: "awatch"}
    PACKETS = {"watch": 2, "rwatch": 3, "awatch": 4}  # types of the Z packets that insert these watchpoints
    MOST_BYTES = 64  # largest watched range
    # Each row is (first, size, window). An address first + offset, with offset below size, refers to memory of the focus lane.
    # The address window + offset, with the bits PLACE of a lane's $sp, refers to the same memory of that lane
    # (docs/reference/gdb.md, Memory).
    WINDOWS = [(0x20000000000, 1 << 32, 0xF7 << 56), (0xF0 << 56, 1 << 32, 0xF8 << 56)]
    OF_LANES = [0xF7, 0xF8]  # top bytes of the addresses in these windows
    PLACE = 0xFFFFFF << 32  # bits of $sp that contain the lane

    busy = False  # True while this class creates or deletes a watchpoint, whose events are ignored
    last = None  # the watchpoint created last: gdb 13 crashes if it is freed before all handlers of its creation have ended
    pinned = {}  # maps a watchpoint's number to {(address, size, packet): watched lane}
    # For MI: maps a watchpoint's number to (thread, lane, operand of `watch`, scope). Thread and lane are those to which the
    # watchpoint is bound. The other two belong to the watchpoint that replaces it when another lane gets the focus
    framed = {}

    @classmethod
    def created(cls, point):
        if cls.busy or cls.COMMANDS.get(point.type) is None or point.expression is None or \
                LanewiseLink.ours() is None or lanewise_thread() is None:
            return
        cls.busy, cls.last = True, point
        try:
            if cls.refused(point):
                return
            if cls.needs_frame(point.expression) and not lanewise_is_mi():
                cls.replace(point, "gdb would delete when the focus moves to another lane")
            elif cls.needs_frame(point.expression):
                cls.keep(point)
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
        cls.framed.pop(point.number, None)

    @staticmethod
    def without_option(expression):
        return expression[len("-location "):] if expression.startswith("-location ") else expression

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
        """Binds the watchpoint on this range to the focus lane, or binds nothing if @packet is 0. Returns the lane or block to
        which the memory belongs, or "" if all threads share the memory."""
        return LanewiseLink.ask("qGpuWatch:%x;%x,%x,%x" %
                                (lanewise_thread().ptid[1], address, size, packet), True)

    @classmethod
    def refused(cls, point):
        """Deletes a watchpoint that the stub will refuse, and prints the reason. gdb would report the error at the next
        command that continues, without a reason. Returns True if the watchpoint was deleted."""
        try:
            value = cls.value(cls.without_option(point.expression))
            if value.is_optimized_out:
                return cls.delete(point, cls.why_missing(point))
            if value.address is None or not 0 < value.type.sizeof <= cls.MOST_BYTES:
                return False
        except gdb.error:
            return False
        try:
            cls.whose(int(value.address), value.type.sizeof, 0)
        except LanewiseError as error:
            return cls.delete(point, error)
        return False

    @staticmethod
    def delete(point, reason):
        gdb.write("watchpoint %d deleted: %s\n" % (point.number, reason))
        point.delete()
        return True

    @classmethod
    def why_missing(cls, point):
        """Returns the reason why the expression has no value here, with the compiler option that shows more variables. The stub
        names this option, but does not know each expression of gdb."""
        expression = cls.without_option(point.expression)
        for text in [expression] + [name for name, _ in cls.symbols(expression)]:
            try:
                LanewiseLink.show("print " + text)
            except LanewiseError as error:
                if "no value here" in str(error):
                    return error
        return "%s has no value here because the compiler has optimised it out; compile with --values to see more " \
               "variables, with -g to see all" % expression

    @classmethod
    def pin(cls, point):
        """Binds each address range that gdb watches for this watchpoint to the focus lane, and prints the lane."""
        expression, packet = point.expression, cls.PACKETS[cls.COMMANDS[point.type]]
        location = expression.startswith("-location ")
        expression = cls.without_option(expression)
        wanted = [expression] + [name for name, _ in cls.symbols(expression) if not location]
        whose = {}
        for text in wanted:
            try:
                value = cls.value(text)
                place = None if value.address is None else \
                    (int(value.address), value.type.sizeof, packet)
            except gdb.error:
                continue  # gdb prints this error itself
            if place is None or not 0 < place[1] <= cls.MOST_BYTES or place in whose:
                continue  # an array without length has size 0, such as `extern __shared__ float s[]`
            owner = cls.whose(place[0], place[1], 0)
            if owner == "":
                continue
            others = [number for number, places in cls.pinned.items() if places.get(place, owner) != owner]
            # gdb inserts only one watchpoint at an address. For an editor the new watchpoint cannot be replaced by one with a
            # different address, because the editor identifies it by its number.
            if others and lanewise_is_mi():
                gdb.write("note: watchpoints %d and %d have the same address: both now watch the variable of this lane\n" %
                          (point.number, others[0]))
            elif others and text == expression:
                cls.replace(point, "has the same address as watchpoint %d of another lane" % others[0])
                return
            whose[place] = cls.whose(*place)
        cls.pinned[point.number] = whose
        if whose:
            gdb.write("[%s: %s]\n" % (point.expression, "; ".join(sorted(set(whose.values())))))

    @classmethod
    def keep(cls, point):
        """For MI: binds a watchpoint on a variable of a function to the focus lane, but does not replace it while this lane is
        in focus, because an editor identifies watchpoints by number. refocused() replaces it later."""
        what, whose = cls.place_of(point, "watches a variable of one lane")
        cls.pin(point)
        if whose:
            cls.framed[point.number] = (lanewise_thread().ptid, cls.lane(), what, LanewiseScope.place())

    @staticmethod
    def lane():
        return int(gdb.newest_frame().read_register("lane"))

    @classmethod
    def refocused(cls, _event):
        """Called after a stop and after `set $lane`. Replaces watchpoints on variables of functions in other lanes of this warp,
        because gdb would delete them when it resumes."""
        thread = lanewise_thread()
        if cls.busy or not cls.framed or thread is None or LanewiseLink.ours() is None:
            return
        points = {point.number: point for point in gdb.breakpoints()}
        cls.busy = True
        try:
            lane = cls.lane()
            for number, (ptid, of, what, scope) in list(cls.framed.items()):
                if ptid == thread.ptid and of != lane and number in points:
                    cls.put(points[number], what, scope)
                    gdb.write("this watchpoint replaces watchpoint %d, which gdb would delete because lane %d is in focus now; it watches the memory of lane %d that was watched before\n" % (number, lane, of))
        except (gdb.error, LanewiseError) as error:
            gdb.write("note: gdb deletes watchpoints of other lanes when it resumes (%s)\n" % lanewise_sentence(error))
        finally:
            cls.busy = False

    @classmethod
    def replace(cls, point, why):
        what, whose = cls.place_of(point, why)
        number, expression = point.number, cls.without_option(point.expression)
        cls.put(point, what, LanewiseScope.place() if whose else None)
        gdb.write("this watchpoint replaces watchpoint %d, which %s; it watches the memory%s where %s is now\n" % (number, why, whose, expression))

    @classmethod
    def place_of(cls, point, why):
        """Returns the watched memory as an operand of `watch`, and " of this lane" if the memory belongs to one lane."""
        expression = cls.without_option(point.expression)
        value = cls.value(expression)
        if value.address is None or value.type.sizeof > cls.MOST_BYTES:
            raise LanewiseError("which %s, and %s is not a location in memory of at most %d bytes" %
                                (why, expression, cls.MOST_BYTES))
        address = int(value.address)
        what, whose = "-location " + expression, ""
        for low, size, window in cls.WINDOWS:
            if low <= address < low + size:
                address += window - low + (int(gdb.selected_frame().read_register("sp")) & cls.PLACE)
        if address >> 56 in cls.OF_LANES:
            what, whose = cls.of_lane(expression, value, address), " of this lane"
        return what, whose

    @classmethod
    def put(cls, point, what, scope):
        """Replaces the watchpoint by one on @what, with the same condition, commands and state. The new one is deleted at the
        return that @scope describes (see LanewiseScope.place()); never if @scope is None."""
        if point.condition is not None:
            what += " if " + point.condition
        gdb.execute("%s %s" % (cls.COMMANDS[point.type], what))
        new = gdb.breakpoints()[-1]
        new.enabled, new.ignore_count, new.silent = point.enabled, point.ignore_count, point.silent
        if point.commands is not None:
            new.commands = point.commands
        point.delete()
        LanewiseScope.begin(new, scope)

    @classmethod
    def of_lane(cls, expression, value, address):
        """Returns an expression for the memory at @address. gdb shows the expression of a watchpoint at each hit, so it begins
        with a string that names the variable and the lane, and a comma operator."""
        lane = "%s, %s lane %d" % (expression.replace("\\", "\\\\").replace('"', '\\"'), LanewiseWarp().title(),
                                   int(gdb.selected_frame().read_register("lane")))
        return '"%s", *(%s) 0x%x' % (lane, cls.pointer_name(value.type), address)

    @staticmethod
    def pointer_name(kind):
        """Returns the name of the type pointer to @kind. If gdb cannot parse the name of @kind, uses an array of bytes."""
        try:
            if int(gdb.parse_and_eval("sizeof(%s)" % kind)) == kind.sizeof:
                return "%s *" % kind
        except gdb.error:
            pass
        return "unsigned char (*)[%d]" % kind.sizeof


class LanewiseScope(gdb.Breakpoint):
    """Internal breakpoint at the address to which a function returns. When the watched lane reaches it, the watchpoint on a
    variable of the function is deleted, as gdb deletes watchpoints whose frame has ended."""

    open = []  # all breakpoints of this class

    @staticmethod
    def place():
        """Returns the address to which the selected frame returns, and a condition that is true for this frame's return only.
        Returns None for the frame of a kernel."""
        caller = gdb.selected_frame().older()
        if caller is None or not caller.is_valid() or caller.name() in (None, "<launch>"):
            return None
        sp = "$rsp" if caller.architecture().name().startswith("i386") else "$sp"
        return "*0x%x" % caller.pc(), "%s == 0x%x" % (sp, int(caller.read_register("sp")))

    @classmethod
    def begin(cls, point, place):
        if place is None:
            return
        scope = cls(place[0], internal=True)
        scope.condition = place[1]
        scope.silent = True
        scope.point = point
        cls.open.append(scope)

    def stop(self):
        return self.point.is_valid()

    @classmethod
    def stopped(cls, event):
        """Called after a stop. Deletes the watchpoints whose function has returned, and prints the message that gdb prints in
        this case. Breakpoints of this class are silent, so this function also prints the frame."""
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
        """Called before the program is started again. Deletes all watchpoints on variables of functions, because their frames
        do not exist in the new run."""
        for scope in list(cls.open):
            if scope.point.is_valid():
                scope.point.delete()
            cls.close(scope)


def lanewise_is_mi():
    """Returns True if gdb was started with an MI interpreter, as by an editor. An editor identifies watchpoints by number."""
    try:
        with open("/proc/self/cmdline", "rb") as words:
            return re.search(rb"\0(-i|--?interpreter)[=\0]mi|\0-i=?mi", words.read()) is not None
    except OSError:
        return False


class LanewiseFocus:
    """Makes gdb and `monitor` use the same thread. Before each `monitor` command, gdb's selected thread is sent to the stub.
    After the command, gdb selects the thread to which the command has moved the focus."""

    @staticmethod
    def send():
        """Called before a `monitor` command: sends the selected thread."""
        thread = lanewise_thread()
        if LanewiseLink.ours() is not None and thread is not None:
            LanewiseLink.ask("qGpuShown:%x" % thread.ptid[1], True)

    @staticmethod
    def follow():
        """Called after a `monitor` command: selects the thread in the stub's focus. Returns True if another thread was selected
        before."""
        wanted = int(LanewiseLink.ask("qGpuShown:0", True) or "0", 16)
        thread = lanewise_thread()
        if wanted == 0 or (thread is not None and thread.ptid[1] == wanted):
            return False
        inferior = gdb.selected_inferior()
        for thread in inferior.threads():  # gdb reads the thread list again
            if thread.ptid[1] == wanted:
                if lanewise_is_mi():  # gdb notifies an editor only after the command `thread`
                    gdb.execute("thread %d.%d" % (inferior.num, thread.num), False, True)
                else:
                    thread.switch()
                    gdb.write("[Switching to thread %d \"%s\"]\n" % (thread.num, thread.name))
                LanewiseLink.ask("qGpuShown:%x" % wanted)
                return True
        return False


def lanewise_looks_again():
    """Called after a `monitor` command, which may have run or changed the machine: makes gdb read registers and memory again.
    If the pc has not changed, the selected frame remains selected."""
    if LanewiseLink.ours() is None:
        return
    if lanewise_thread() is None:
        LanewiseFocus.follow()
        return
    try:
        level, pc = gdb.selected_frame().level(), gdb.newest_frame().pc()
    except gdb.error:
        level, pc = 0, None
    try:
        gdb.execute("maint flush dcache", False, True)  # drops gdb's cache of stack memory
    except gdb.error:
        pass  # this gdb does not have the command
    gdb.execute("maint flush register-cache", False, True)
    if LanewiseFocus.follow():
        return
    try:
        frame = gdb.newest_frame()
        if level == 0 or frame.pc() != pc:
            return
        while frame is not None and frame.level() < level:
            frame = frame.older()
        if frame is not None:
            frame.select()
    except gdb.error:
        pass  # the selected thread has ended; the next step shows the position of the machine


class LanewiseRenew(gdb.Command):
    """Build the program again and write it to the file with which gdb was started. `run`, `start` and `starti` execute
this command first, because gdb reads that file again when it executes one of them."""

    def __init__(self):
        super().__init__("lanewise-renew", gdb.COMMAND_OBSCURE)
        for command in ["run", "start", "starti"]:
            try:
                gdb.execute("show user hook-" + command, False, True)
            except gdb.error:  # the user has not defined this hook
                gdb.execute("define hook-%s\nlanewise-renew\nend" % command, False, True)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        LanewiseScope.close_all()
        connection = LanewiseLink.ours()
        reply = connection.send_packet("qGpuRenew") if connection is not None else None
        if reply and reply.startswith(b"E."):
            raise LanewiseError(reply[2:].decode("utf-8", "replace"))
