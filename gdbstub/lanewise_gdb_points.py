# SPDX-License-Identifier: Apache-2.0
# Of lanewise_gdb.py: what gdb does for the lane in focus alone is told.


class LanewiseConditions:
    """gdb compiles conditions for the stub, which tests them in each lane that arrives. What it has no code
    for (floats, members of registers, functions of gdb) it tests itself, where the focus is. `info breakpoints`
    tells, but nobody looks there first."""

    told = {}  # number of a breakpoint: its condition

    @classmethod
    def looked_at(cls, point):
        """Behind a breakpoint that was made or changed."""
        condition = point.condition if point.is_valid() else None  # a watchpoint may have been replaced
        # that of `start`; an error while gdb starts a program leaves it without a frame
        if condition is None or re.fullmatch(r"\$_inferior == \d+", condition) or \
                point.type not in (gdb.BP_BREAKPOINT, gdb.BP_HARDWARE_BREAKPOINT) or point.pending or \
                point.number <= 0 or point.location is None or \
                cls.told.get(point.number) == condition or LanewiseLink.ours() is None:
            return
        cls.told[point.number] = condition
        try:
            gdb.execute("maint agent-eval -at %s, %s" % (point.location, condition), False, True)
        except gdb.error:
            gdb.write("note: breakpoint %d: gdb itself tests \"%s\", in the lane in focus only: `monitor break %s if "
                      "...` tests it in each lane, also with floats\n" % (point.number, condition, cls.place(point.location)))

    @classmethod
    def deleted(cls, point):
        cls.told.pop(point.number, None)

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
        if cls.told or LanewiseLink.ours() is None or gdb.parameter("dprintf-style") == "agent":
            return
        cls.told = True
        gdb.write("note: gdb prints it for the lane in focus only: with `set dprintf-style agent` it is printed for "
                  "each lane (no floats)\n")
