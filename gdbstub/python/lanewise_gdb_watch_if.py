# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: sends conditions of watchpoints to the stub, which gdb does not do.


class LanewiseWatchIf:
    """Sends conditions of watchpoints to the stub, if they can be compiled to bytecode. gdb evaluates the condition of a
    watchpoint itself, at each hit that the stub reports. With the condition, the stub reports only hits at which it is true."""

    # Modes of a watched range. FORGET: there is no condition, or another watchpoint on the range needs a report of each hit.
    # CLIENT: gdb evaluates the conditions. HERE: the stub evaluates the conditions
    FORGET, CLIENT, HERE = 0, 1, 2

    # Maps a watchpoint's number to (expression, condition, enabled, watched ranges, compiled condition). The last two are None
    # if the ranges are not certain or the condition cannot be compiled. A range is (address, size, type of the Z packet)
    known = {}
    sent = {}  # maps a range to the mode and the conditions that the stub has for it

    @classmethod
    def changed(cls, point):
        if not point.is_valid() or LanewiseWatch.COMMANDS.get(point.type) is None or point.expression is None or \
                LanewiseLink.ours() is None or lanewise_thread() is None:
            return
        before = cls.known.get(point.number)
        now = (point.expression, point.condition, point.enabled)
        if before is not None and before[:3] == now:
            return  # gdb also sends this event after a hit, which changes only the hit count
        try:
            places = before[3] if before is not None else cls.places(point)
            code = before[4] if before is not None and before[1] == point.condition else cls.compiled(point.condition)
            cls.known[point.number] = now + (places, code)
            cls.send()
        except (gdb.error, LanewiseError):
            cls.known[point.number] = now + (None, None)  # gdb evaluates the condition at each hit
            cls.send()

    @classmethod
    def deleted(cls, point):
        if cls.known.pop(point.number, None) is not None and LanewiseLink.ours() is not None:
            cls.send()

    @classmethod
    def forget(cls, *unused):
        cls.known.clear()
        cls.sent.clear()

    @classmethod
    def places(cls, point):
        """Returns a list with the one range that gdb watches for this watchpoint, or None if gdb may watch more. For an
        expression with a pointer or an index, gdb also watches the variables from which it computes the address."""
        expression = point.expression
        location = expression.startswith("-location ")
        if location:
            expression = expression[len("-location "):]
        elif re.search(r"->|\[", expression) or \
                ("*" in expression and not re.fullmatch(r'(".*", )?\*\s*\([^()]*\*\)\s*(0x[0-9a-f]+|\d+)', expression)):
            return None
        value = LanewiseWatch.value(expression)
        if value.address is None or not 0 < value.type.sizeof <= LanewiseWatch.MOST_BYTES:
            return None
        return [(int(value.address), value.type.sizeof, LanewiseWatch.PACKETS[LanewiseWatch.COMMANDS[point.type]])]

    @classmethod
    def compiled(cls, condition):
        """Returns the condition in the form "LOW,HIGH,CODE" of packet qGpuWatchIf, or None if it cannot be compiled. LOW and
        HIGH are the limits of the block that declares the variables of the condition; outside it they do not exist."""
        if condition is None:
            return None
        frame = gdb.selected_frame()
        at = ""
        if frame.level() > 0:
            place = frame.find_sal()
            if place.symtab is None:
                return None
            at = "-at %s:%d, " % (place.symtab.filename, place.line)
        code = LanewiseCode.of(condition, at)
        if code is None:
            return None
        low, high = cls.block(frame, condition)
        if high != 0 and not low <= code[0] < high:
            return None
        return "%x,%x,%s" % (low, high, code[1].hex())

    @staticmethod
    def block(frame, condition):
        """Returns the first and last address of the innermost block that declares a variable of the condition. Returns (0, 0) if
        the condition has no variable of a function."""
        low, high = 0, 0
        for name in re.findall(r"(?<![\w$.>])[A-Za-z_]\w*", condition):
            block = frame.block()
            while block is not None and not block.is_global and not block.is_static:
                if any(symbol.name == name and symbol.needs_frame for symbol in block):
                    if high == 0 or block.end - block.start < high - low:
                        low, high = block.start, block.end
                    break
                if block.function is not None:
                    break
                block = block.superblock
        return low, high

    @classmethod
    def send(cls):
        points = [point for point in cls.known.values() if point[2]]
        unclear = sum(1 for point in points if point[3] is None)
        wanted = {}
        for expression, condition, _, places, code in points:
            for place in places or []:
                wanted.setdefault(place, []).append(code if condition is not None else "")
        for place in set(cls.sent) | set(wanted):
            codes = wanted.get(place, [])
            mode, rest = cls.FORGET, ""
            if codes and "" not in codes:  # no watchpoint on this range lacks a condition
                mode = cls.CLIENT
                if None not in codes and unclear == 0:
                    mode, rest = cls.HERE, "".join(";" + code for code in codes)
            if cls.sent.get(place, (cls.FORGET, "")) == (mode, rest):
                continue
            reply = LanewiseLink.ours().send_packet("qGpuWatchIf:%x,%x,%x;%x%s" % (place + (mode, rest)))
            if reply == b"OK":
                cls.sent[place] = (mode, rest)
