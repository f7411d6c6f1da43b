# SPDX-License-Identifier: Apache-2.0
# Of lanewise_gdb.py: watchpoints of a lane, and what gdb does not know to do by itself.


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
    # as the lane in focus sees them, and of any lane, which is in $sp (docs/reference/gdb.md, Memory)
    WINDOWS = [(0x20000000000, 1 << 32, 0xF7 << 56), (0xF0 << 56, 1 << 32, 0xF8 << 56)]
    OF_LANES = [0xF7, 0xF8]  # variables lie there
    PLACE = 0xFFFFFF << 32

    busy = False
    pinned = {}  # number: {(address, size, packet): whose}
    framed = {}  # number: what replaces it when another lane comes into focus, in MI

    @classmethod
    def created(cls, point):
        if cls.busy or cls.COMMANDS.get(point.type) is None or point.expression is None or \
                LanewiseLink.ours() is None or lanewise_thread() is None:
            return
        cls.busy = True
        try:
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
        """Binds the watchpoint to the current lane and returns its owner in words, none if all share it; size 0: only returns it."""
        return LanewiseLink.ask("qGpuWatch:%x;%x,%x,%x" %
                                (lanewise_thread().ptid[1], address, size, packet), True)

    @classmethod
    def pin(cls, point):
        """Sends the stub the lane of the addresses that gdb watches for this watchpoint."""
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
                continue  # gdb says so itself
            if place is None or not 0 < place[1] <= cls.MOST_BYTES or place in whose:
                continue  # none: `extern __shared__ float s[]` is an array without length
            owner = cls.whose(place[0], place[1], 0)
            if owner == "":
                continue
            others = [number for number, places in cls.pinned.items() if places.get(place, owner) != owner]
            if others and lanewise_is_mi():  # an editor keeps the number, and gdb watches an address once
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
        """An editor knows the watchpoint by its number: it stays while its lane is in focus."""
        what, whose = cls.place_of(point, "watches a variable of one lane")
        cls.pin(point)
        if whose:
            cls.framed[point.number] = (lanewise_thread().ptid, cls.lane(), what, LanewiseScope.place())

    @staticmethod
    def lane():
        return int(gdb.newest_frame().read_register("lane"))

    @classmethod
    def refocused(cls, _event):
        """After a stop and after `set $lane`: gdb would delete those of other lanes of this warp when it resumes."""
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
        """The memory that is watched now, as `watch` takes it, and whose it is, in words."""
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
        """That in place of the watchpoint."""
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
        """The place as an expression that says what it is: gdb shows it for what is watched."""
        lane = "%s, %s lane %d" % (expression.replace("\\", "\\\\").replace('"', '\\"'), LanewiseWarp().title(),
                                   int(gdb.selected_frame().read_register("lane")))
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

    @staticmethod
    def place():
        """Where the function of the selected frame returns to, and the condition that it is in this lane; None: a kernel."""
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
        """Deletes watchpoints whose lane has ended, recognised by gdb's words for it: its own scopes print no stop."""
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


class LanewiseFocus:
    """One thread is shown, in gdb and by `monitor`: the selected one is sent before each of these, and where a
    command has gone to another one, that is selected behind it."""

    @staticmethod
    def send():
        """Before `monitor`."""
        thread = lanewise_thread()
        if LanewiseLink.ours() is not None and thread is not None:
            LanewiseLink.ask("qGpuShown:%x" % thread.ptid[1], True)

    @staticmethod
    def follow():
        """Called after `monitor`: true if another thread is selected now."""
        wanted = int(LanewiseLink.ask("qGpuShown:0", True) or "0", 16)
        thread = lanewise_thread()
        if wanted == 0 or (thread is not None and thread.ptid[1] == wanted):
            return False
        inferior = gdb.selected_inferior()
        for thread in inferior.threads():  # gdb requests its list anew
            if thread.ptid[1] == wanted:
                if lanewise_is_mi():  # gdb itself notifies an editor
                    gdb.execute("thread %d.%d" % (inferior.num, thread.num), False, True)
                else:
                    thread.switch()
                    gdb.write("[Switching to thread %d \"%s\"]\n" % (thread.num, thread.name))
                LanewiseLink.ask("qGpuShown:%x" % wanted)
                return True
        return False


def lanewise_looks_again():
    """Called after `monitor`, which may have moved the machine. If it has not, the selected frame stays."""
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
        gdb.execute("maint flush dcache", False, True)  # the stack, which is kept apart from registers
    except gdb.error:
        pass  # gdb 11 does not know it
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
        pass  # the thread has ended: the next step reports where the machine is


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
