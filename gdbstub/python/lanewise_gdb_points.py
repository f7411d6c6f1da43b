# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: notes on what gdb does for the lane in focus alone.


class LanewiseConditions:
    """gdb compiles conditions for the stub, which tests them in each lane that arrives. What it has no code
    for (floats, members of registers, functions of gdb) it tests itself, where the focus is. `info breakpoints`
    shows this, but users do not look there first."""

    noted = {}  # number of a breakpoint: its condition
    related = {}  # the same, of notes about another breakpoint at the address
    seen = {}  # number of a breakpoint: its state at the last check; a hit changes it as well

    @classmethod
    def check_point(cls, point):
        """Called after a breakpoint was created or changed."""
        if not point.is_valid() or point.type not in (gdb.BP_BREAKPOINT, gdb.BP_HARDWARE_BREAKPOINT) or \
                point.pending or point.number <= 0 or point.location is None or LanewiseLink.ours() is None:
            return  # a watchpoint may have been replaced
        condition = point.condition
        # that of `start`; an error while gdb starts a program leaves it without a frame
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
            else:
                gdb.write("note: breakpoint %d: gdb tests the condition \"%s\" in the lane in focus only: `monitor break %s if ...` tests a condition in each lane, also with floats\n" %
                          (point.number, condition, cls.place(point.location)))
        cls.look_related()

    @classmethod
    def look_related(cls):
        """gdb sends the conditions of one address all or none: one that it has no code for, or a point without,
        leaves them all to gdb, also where that point is disabled. A point that always stops does no harm."""
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
        """The breakpoints at each address. gdb's Python knows no dprintf, and before gdb 13 no addresses."""
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
                where = re.search(r" at (\S.*:\d+)$|<([^+>]+)", line)  # an address is none for `maint agent-eval`
                point["where"][words.group(4)] = (where.group(1) or where.group(2)) if where else ""
        return places

    @staticmethod
    def compiles(location, condition):
        try:
            gdb.execute("maint agent-eval -at %s, %s" % (location, condition), False, True)
        except gdb.error:
            return False
        return True

    @classmethod
    def deleted(cls, point):
        for notes in cls.noted, cls.related, cls.seen:
            notes.pop(point.number, None)

    @staticmethod
    def place(location):
        """As the shell writes it: without the folders."""
        words = re.fullmatch(r"-source (\S+) -line (\d+)", location)
        return "%s:%s" % words.groups() if words else location.rsplit("/", 1)[-1]


class LanewiseBreakIf:
    """Conditions that gdb does not send, as it has no code for one of the place's: the stub tests them while the user
    continues. Steps set breakpoints of gdb's own that may be at the same place, which it cannot tell from the user's:
    before these nothing is sent. So what counts is what breakpoints there are when the run continues."""

    known = {}  # (place, conditions): packet
    lent = False  # the stub has some
    hooks = False  # `continue` begins with ours: where it is wanted

    @classmethod
    def takes(cls, point):
        """Can it be tested there?"""
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
                        return False  # the user's stays
                except gdb.error:
                    gdb.execute("define hook-%s\npython LanewiseBreakIf.begin()\nend" % command, False, True)
            cls.hooks = True
        return True

    @classmethod
    def code(cls, place, points):
        """The packet for the place, or None: one of them has no condition, or none that is clear."""
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
        """Before `continue`."""
        connection = LanewiseLink.ours()
        if connection is None:
            return
        cls.end()
        places = LanewiseConditions.places()
        # gdb's own, among them those of LanewiseScope
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
        """After each stop."""
        if cls.lent and LanewiseLink.ours() is not None:
            LanewiseLink.ours().send_packet("qGpuBreakIf:")
        cls.lent = False

    @classmethod
    def forget(cls, *unused):
        """The program is another one."""
        cls.known.clear()


class LanewiseDprintf:
    """Of style gdb, as gdb comes, dprintf prints for the lane in focus alone."""

    noted = False

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
