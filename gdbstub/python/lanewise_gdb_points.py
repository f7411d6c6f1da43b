# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: notes on breakpoint conditions and dprintf that gdb evaluates in the focus lane only, and conditions
# that this file sends to the stub because gdb does not.


class LanewiseConditions:
    """Prints a note for each condition that gdb evaluates in the focus lane only. gdb sends compiled conditions to the stub,
    which evaluates them in each lane that reaches the breakpoint. If gdb cannot compile a condition (with floats, members of
    registers, or functions of gdb), gdb evaluates it, in the focus lane only. `info breakpoints` shows which conditions gdb
    evaluates, but users do not look there first."""

    noted = {}  # maps a breakpoint's number to the condition for which check_point() printed the last note
    related = {}  # maps a breakpoint's number to the condition for which look_related() printed the last note
    # Maps a breakpoint's number to its condition and state at the last event. Hits cause events, too, but change neither
    seen = {}

    @classmethod
    def check_point(cls, point):
        """Called after a breakpoint was created or changed. Prints the notes that it needs."""
        if not point.is_valid() or point.type not in (gdb.BP_BREAKPOINT, gdb.BP_HARDWARE_BREAKPOINT) or \
                point.pending or point.number <= 0 or point.location is None or LanewiseLink.ours() is None:
            return  # for example, is_valid() is false for a watchpoint that LanewiseWatch has replaced
        condition = point.condition
        # This is the condition of the temporary breakpoint of `start`. It is not compiled here, because an error while the
        # program starts would leave gdb without a frame
        if condition is not None and re.fullmatch(r"\$_inferior == \d+", condition):
            return
        if cls.seen.get(point.number) == (condition, point.enabled):
            return
        cls.seen[point.number] = (condition, point.enabled)
        if condition is not None and cls.noted.get(point.number) != condition and \
                not cls.compiles(point.location, condition):
            cls.noted[point.number] = condition
            if LanewiseBreakIf.takes(point):
                gdb.write("note: breakpoint %d: the condition \"%s\" is tested in each lane only by `continue`; other commands test it in the lane in focus only\n" % (point.number, condition))
            elif cls.is_optimized_out(point.location, condition):
                count = sum(any(each["number"] == point.number for each in points) for points in cls.places().values())
                gdb.write("note: breakpoint %d: a variable of the condition \"%s\" has no value %s, so gdb cannot evaluate the condition there and stops for each warp: compile with --values to see more variables, with -g to see all\n" %
                          (point.number, condition, "there" if count == 1 else "in at least one of the %d locations" % count))
            else:
                gdb.write("note: breakpoint %d: gdb tests the condition \"%s\" in the lane in focus only: `monitor break %s if ...` tests a condition in each lane, also with floats\n" %
                          (point.number, condition, cls.place(point.location)))
        cls.look_related()

    @classmethod
    def look_related(cls):
        """Prints notes on breakpoints that share an address. gdb sends either all conditions of an address to the stub or none.
        If gdb cannot compile one of them, or if a dprintf or disabled breakpoint at the address has no condition, gdb evaluates
        all of them itself, in the focus lane only."""
        for place, points in cls.places().items():
            for point in points:
                others = [other for other in points if other["number"] != point["number"]]
                if not others or not point["enabled"] or cls.related.get(point["number"]) == point["condition"]:
                    continue
                if point["type"] == "dprintf":
                    others = [other for other in others if other["type"] != "dprintf"]
                    if others and gdb.parameter("dprintf-style") == "agent":
                        cls.note(point, "note: dprintf %d prints nothing in the style agent while breakpoint %d is at the same location\n" % (point["number"], others[0]["number"]))
                elif point["condition"] and cls.compiles(point["where"][place], point["condition"]) and \
                        not LanewiseBreakIf.code(place, points):
                    for other in others:
                        if not cls.compiles(point["where"][place], other["condition"]) if other["condition"] else \
                                other["type"] == "dprintf" or not other["enabled"]:
                            cls.note(point, "note: breakpoint %d: gdb tests the condition \"%s\" in the lane in focus only, until you delete breakpoint %d at the same location\n" %
                                     (point["number"], point["condition"], other["number"]))
                            break

    @classmethod
    def note(cls, point, text):
        cls.related[point["number"]] = point["condition"]
        gdb.write(text)

    @staticmethod
    def places():
        """Returns a dictionary from address to the breakpoints at this address. It is read from the output of `info breakpoints`,
        because gdb's Python API does not list dprintfs, and lists no addresses of breakpoints before gdb 13."""
        places = {}
        point = None
        for line in gdb.execute("with print address on -- info breakpoints", False, True).splitlines():
            words = re.match(r"(\d+)(?:\.\d+)?\s+(?:(breakpoint|hw breakpoint|dprintf)\s+\w+\s+)?([yn])\S*\s+"
                             r"(0x[0-9a-f]+)?", line)
            condition = re.match(r"\tstop only if (.*?)(?: \((?:host|target) evals\))?$", line)
            if words and words.group(2):
                point = {"number": int(words.group(1)), "type": words.group(2), "enabled": words.group(3) == "y",
                         "condition": "", "where": {}}
            elif re.match(r"\d+\s", line):
                point = None  # a watchpoint
            if point and condition:
                point["condition"] = condition.group(1)
            if point and words and words.group(4) and point not in places.setdefault(words.group(4), []):
                places[words.group(4)].append(point)
                # the place as FILE:LINE or as a function, because `maint agent-eval -at` does not accept an address
                where = re.search(r" at (\S.*:\d+)$|<([^+>]+)", line)
                point["where"][words.group(4)] = (where.group(1) or where.group(2)) if where else ""
        return places

    @staticmethod
    def error_of(location, condition):
        """Returns gdb's message if gdb cannot compile the condition, otherwise ""."""
        try:
            gdb.execute("maint agent-eval -at %s, %s" % (location, condition), False, True)
        except gdb.error as error:
            return str(error) or "error"
        return ""

    @classmethod
    def compiles(cls, location, condition):
        return not cls.error_of(location, condition)

    @classmethod
    def is_optimized_out(cls, location, condition):
        return "optimized out" in cls.error_of(location, condition)

    @classmethod
    def deleted(cls, point):
        for notes in cls.noted, cls.related, cls.seen:
            notes.pop(point.number, None)

    @staticmethod
    def place(location):
        """Returns a location in the form of Lanewise's shell, FILE:LINE or a function, without folders."""
        words = re.fullmatch(r"-source (\S+) -line (\d+)", location)
        return "%s:%s" % words.groups() if words else location.rsplit("/", 1)[-1]


class LanewiseBreakIf:
    """Sends the conditions of an address to the stub if gdb does not, because gdb cannot compile one of them. They are sent
    only before `continue` and `reverse-continue`, and removed after the stop. For a step, gdb inserts breakpoints of its own,
    possibly at the same address, which the stub could not distinguish from the user's breakpoints."""

    known = {}  # maps (address, conditions) to the packet qGpuBreakIf that sends them, or to None if they cannot be compiled
    lent = False  # True while the stub has conditions that begin() has sent
    hooks = False  # True if this class has defined hooks of `continue` and `reverse-continue`

    @classmethod
    def takes(cls, point):
        """Returns True if the stub can evaluate the condition of this breakpoint. Defines the hooks of `continue` and
        `reverse-continue`, which call begin(), if they are not defined yet."""
        mine = [(place, points) for place, points in LanewiseConditions.places().items()
                if any(each["number"] == point.number for each in points)]
        if lanewise_is_mi() or not mine or not all(
                LanewiseCode.of(point.condition, "-at %s, " % each["where"][place], int(place, 16))
                for place, points in mine for each in points if each["number"] == point.number):
            return False
        if not cls.hooks:
            for command in ["continue", "reverse-continue"]:
                try:
                    if "LanewiseBreakIf" not in gdb.execute("show user hook-" + command, False, True):
                        return False  # the user has defined a hook of this name, and this file does not replace it
                except gdb.error:
                    gdb.execute("define hook-%s\npython LanewiseBreakIf.begin()\nend" % command, False, True)
            cls.hooks = True
        return True

    @classmethod
    def code(cls, place, points):
        """Returns the packet that sends the conditions at an address. Returns None if a breakpoint at the address has no
        condition, or has a condition that cannot be compiled."""
        points = [point for point in points if point["enabled"]]
        key = place, tuple((point["condition"], point["where"][place]) for point in points)
        if not cls.hooks:
            return None
        if key not in cls.known:
            codes = [LanewiseCode.of(condition, "-at %s, " % where, int(place, 16)) if condition else None
                     for condition, where in key[1]]
            cls.known[key] = None
            if codes and None not in codes:
                cls.known[key] = "qGpuBreakIf:%x" % int(place, 16) + \
                    "".join(";X%x,%s" % (len(code), code.hex()) for _, code in codes)
        return cls.known[key]

    @classmethod
    def begin(cls):
        """Called before `continue` and `reverse-continue`: sends the conditions."""
        connection = LanewiseLink.ours()
        if connection is None:
            return
        cls.end()
        places = LanewiseConditions.places()
        # Addresses with an internal breakpoint of gdb (also those of LanewiseScope) are left out, because such a breakpoint
        # must stop in any case
        for line in gdb.execute("with print address on -- maint info breakpoints", False, True).splitlines():
            own = re.match(r"(?:-\d|0).*?\s(0x[0-9a-f]+)", line)
            if own:
                places.pop(own[1], None)
        for place, points in places.items():
            packet = cls.code(place, points)
            if packet is not None:
                connection.send_packet(packet)
                cls.lent = True

    @classmethod
    def end(cls, *unused):
        """Called after each stop: removes the conditions."""
        if cls.lent and LanewiseLink.ours() is not None:
            LanewiseLink.ours().send_packet("qGpuBreakIf:")
        cls.lent = False

    @classmethod
    def forget(cls, *unused):
        """Called when gdb has loaded another program. Drops the compiled conditions, whose addresses may be invalid now."""
        cls.known.clear()


class LanewiseDprintf:
    """Prints a note, once, that a dprintf of the default style prints for the lane in focus only."""

    noted = False  # True after the note was printed

    @classmethod
    def used(cls):
        """Called after each `dprintf`."""
        if LanewiseLink.ours() is None:
            return
        LanewiseConditions.look_related()
        if cls.noted or gdb.parameter("dprintf-style") == "agent":
            return
        cls.noted = True
        gdb.write("note: this dprintf prints only for the lane in focus; after `set dprintf-style agent` it prints for each lane (but no floats)\n")
