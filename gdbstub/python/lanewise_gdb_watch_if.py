# SPDX-License-Identifier: Apache-2.0
# Of lanewise_gdb.py: conditions of watchpoints, which gdb does not hand over.


class LanewiseWatchIf:
    """gdb tests the conditions of watchpoints itself, at each hit. Those that it has code for are sent to the stub,
    for the places that are watched; the stub tells gdb of no hit for which they are false."""

    FORGET, CLIENT, HERE = 0, 1, 2

    known = {}  # number: (expression, condition, enabled, places, compiled)
    sent = {}  # (address, size, packet): what the stub has

    @classmethod
    def changed(cls, point):
        if not point.is_valid() or LanewiseWatch.COMMANDS.get(point.type) is None or point.expression is None or \
                LanewiseLink.ours() is None or lanewise_thread() is None:
            return
        before = cls.known.get(point.number)
        now = (point.expression, point.condition, point.enabled)
        if before is not None and before[:3] == now:
            return  # a hit is a change, too
        try:
            places = before[3] if before is not None else cls.places(point)
            code = before[4] if before is not None and before[1] == point.condition else cls.compiled(point.condition)
            cls.known[point.number] = now + (places, code)
            cls.send()
        except (gdb.error, LanewiseError):
            cls.known[point.number] = now + (None, None)  # gdb tests it, at each hit
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
        """What gdb watches for it, as far as that is known: one place, which the expression is. An expression that
        goes through a pointer watches that as well, and is none."""
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
        """(low, high, code) or None: low and high are of the block whose variables it names."""
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
        """The innermost block of what the condition names, as gdb takes it."""
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
            if codes and "" not in codes:  # one without a condition reports each hit
                mode = cls.CLIENT
                if None not in codes and unclear == 0:
                    mode, rest = cls.HERE, "".join(";" + code for code in codes)
            if cls.sent.get(place, (cls.FORGET, "")) == (mode, rest):
                continue
            reply = LanewiseLink.ours().send_packet("qGpuWatchIf:%x,%x,%x;%x%s" % (place + (mode, rest)))
            if reply == b"OK":
                cls.sent[place] = (mode, rest)
