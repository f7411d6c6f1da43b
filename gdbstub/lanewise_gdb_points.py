# SPDX-License-Identifier: Apache-2.0
# Of lanewise_gdb.py: what gdb does for the lane in focus alone is told.


class LanewiseConditions:
    """gdb compiles conditions for the stub, which tests them in each lane that arrives. What it has no code
    for (floats, members of registers, functions of gdb) it tests itself, where the focus is. `info breakpoints`
    tells, but nobody looks there first."""

    told = {}  # number of a breakpoint: its condition
    beside = {}  # the same, of what is told for another's sake
    seen = {}  # number of a breakpoint: what it was looked at with; a hit changes it as well

    @classmethod
    def looked_at(cls, point):
        """Behind a breakpoint that was made or changed."""
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
        if condition is not None and cls.told.get(point.number) != condition and \
                not cls.compiles(point.location, condition):
            cls.told[point.number] = condition
            gdb.write("note: breakpoint %d: gdb itself tests \"%s\", in the lane in focus only: `monitor break %s if "
                      "...` tests it in each lane, also with floats\n" % (point.number, condition, cls.place(point.location)))
        cls.look_beside()

    @classmethod
    def look_beside(cls):
        """gdb sends the conditions of one address all or none: one that it has no code for, or a point without,
        leaves them all to gdb, also where that point is disabled. A point that always stops does no harm."""
        for points in cls.places().values():
            for point in points:
                others = [other for other in points if other["number"] != point["number"]]
                if not others or not point["enabled"] or cls.beside.get(point["number"]) == point["condition"]:
                    continue
                if point["type"] == "dprintf":
                    others = [other for other in others if other["type"] != "dprintf"]
                    if others and gdb.parameter("dprintf-style") == "agent":
                        cls.tell(point, "note: dprintf %d prints nothing in agent style while breakpoint %d is at the same "
                                 "place\n" % (point["number"], others[0]["number"]))
                elif point["condition"] and cls.compiles(point["where"], point["condition"]):
                    for other in others:
                        if not cls.compiles(point["where"], other["condition"]) if other["condition"] else \
                                other["type"] == "dprintf" or not other["enabled"]:
                            cls.tell(point, "note: breakpoint %d: gdb itself tests \"%s\", in the lane in focus only, "
                                     "until %d at the same place is deleted\n" %
                                     (point["number"], point["condition"], other["number"]))
                            break

    @classmethod
    def tell(cls, point, text):
        cls.beside[point["number"]] = point["condition"]
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
                         "condition": "", "where": ""}
            elif re.match(r"\d+\s", line):
                point = None  # a watchpoint
            if point and condition:
                point["condition"] = condition.group(1)
            if point and words and words.group(4) and point not in places.setdefault(words.group(4), []):
                places[words.group(4)].append(point)
                where = re.search(r" at (\S.*:\d+)$|<([^+>]+)", line)  # an address is none for `maint agent-eval`
                if where:
                    point["where"] = where.group(1) or where.group(2)
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
        for told in cls.told, cls.beside, cls.seen:
            told.pop(point.number, None)

    @staticmethod
    def place(location):
        """As the shell writes it: without the folders."""
        words = re.fullmatch(r"-source (\S+) -line (\d+)", location)
        return "%s:%s" % words.groups() if words else location.rsplit("/", 1)[-1]


class LanewiseDprintf:
    """Of style gdb, as gdb comes, dprintf prints for the lane in focus alone."""

    told = False

    @classmethod
    def used(cls):
        """Behind each `dprintf`."""
        if LanewiseLink.ours() is None:
            return
        LanewiseConditions.look_beside()
        if cls.told or gdb.parameter("dprintf-style") == "agent":
            return
        cls.told = True
        gdb.write("note: gdb prints it for the lane in focus only: with `set dprintf-style agent` it is printed for "
                  "each lane (no floats)\n")
