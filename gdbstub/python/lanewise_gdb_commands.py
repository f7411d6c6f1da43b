# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: disassembly, commands that show tables or values of lanes, and convenience functions.


# ---- instructions --------------------------------------------------------------------------

if _disassembler is not None:

    class LanewiseDisassembler(_disassembler.Disassembler):
        """Disassembles GPU instructions for x/i, disassemble, display/i and the TUI. It requests BLOCK instructions at once from
        the stub and caches their texts."""

        BLOCK = 64
        BYTES = 16  # size of an instruction

        def __init__(self):
            super().__init__("lanewise")

        def __call__(self, info):
            try:
                if LanewiseLink.ours() is None:
                    return None
                known = LanewiseLink.insns
                inside = info.address % self.BYTES  # the pc of a warp that waits at a barrier may be inside the instruction
                begin = info.address - inside
                if begin not in known:
                    text = LanewiseLink.ask("qGpuDis:%x,%x" % (begin, self.BLOCK))
                    at = begin
                    for line in text.splitlines():
                        size, _, insn = line.partition(" ")
                        known[at] = (int(size), insn)
                        at += int(size)
                size, insn = known[begin]
                return _disassembler.DisassemblerResult(length=size - inside, string=insn)
            except Exception:  # no GPU code at the address: gdb uses its own disassembler
                return None


# ---- commands --------------------------------------------------------------------------------


class LanewiseInfo(gdb.Command):
    """Defines `info NAME`, which prints the output of a command of Lanewise's shell for the selected warp."""

    def __init__(self, name, what, command=None):
        self.__doc__ = what + ".\nUsage: info " + name
        self.name = command or name
        super().__init__("info " + name, gdb.COMMAND_STATUS)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        gdb.write(LanewiseLink.show((self.name + " " + arg).strip()))


class LanewiseInfoGrids(gdb.Command):
    """List launches and where they were launched; with --timing also the queues in which they wait.
Usage: info grids"""

    def __init__(self):
        super().__init__("info grids", gdb.COMMAND_STATUS)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        try:
            gdb.write(LanewiseLink.show("grids"))
        except LanewiseError:
            gdb.write(LanewiseLink.show("launches"))


class LanewisePrintLanes(gdb.Command):
    """Print the value of an expression in every lane of the selected warp.
Usage: print-lanes[/FMT] EXPR

EXPR is an expression as for `print`, with source variables, registers and memory. $v3 means the value of
vector register v3 in the lane as an integer, and $v3.f32 the value as a float. Values of lanes that do not
run together with the focus lane are dim, or in parentheses if the terminal shows no styles. A lane that
has exited is shown as `-`, and a lane in which EXPR has no value as `?`."""

    def __init__(self):
        super().__init__("print-lanes", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    @lanewise_guarded
    def invoke(self, arg, from_tty):
        form = ""
        arg = arg.strip()
        if arg.startswith("/"):
            form, _, arg = arg[1:].partition(" ")
        if arg.strip() == "":
            raise LanewiseError("print-lanes takes an expression, as in: print-lanes $v3")
        if form not in ("", "x", "d", "u", "o", "t", "z", "a", "c", "f", "s"):
            raise LanewiseError("print-lanes: /%s is not a format; use one letter of xduotzacfs" % form)
        gdb.write("\n".join(lanewise_table(LanewiseWarp(), arg, form, lanewise_styled())) + "\n")


def lanewise_in_lane(expression):
    """Replaces each vector register by its value in the focus lane: $v3 by $v3.u32[$lane], $v3.f32 by $v3.f32[$lane]."""
    if "$lanev" in expression:  # an operand of $lanev is the whole register
        return expression
    return re.sub(r"(\$v[0-9]+)(\.[uif]32)?(?![0-9.\[])",
                  lambda found: found[1] + (found[2] or ".u32") + "[$lane]", expression)


def lanewise_value(value, form):
    return value.format_string(format=form) if form else value.format_string()


def lanewise_columns(most, size, room):
    """Returns the number of columns of @size characters that fit into a line of @room characters: @most, or @most halved until
    they fit. The line begins with 5 other characters."""
    while most > 1 and 5 + most * size > room:
        most //= 2
    return most


def lanewise_table(warp, expression, form, styled, room=None):
    cells, why = [], []
    for lane, value, error in warp.each(expression):
        if error == "exited":
            cells.append("-")
        elif error is not None:  # for example, the lane is in another function
            cells.append("?")
            why = why or ["   ? lane %d: %s" % (lane, error.rstrip("."))]
        else:
            cells.append(lanewise_value(value, form).replace("\n", " "))
    dim = [not warp.is_active(lane) and warp.live(lane) for lane in range(warp.width)]
    if not styled:
        cells = ["(" + cell + ")" if dim[lane] else cell for lane, cell in enumerate(cells)]
    size = max(len(cell) for cell in cells)
    runs = sum(1 for lane in range(1, warp.width) if cells[lane] != cells[lane - 1])
    if size > 20 or (size > 10 and runs < 4):
        return lanewise_runs(cells, dim, styled) + why
    columns = 8 if room is None else lanewise_columns(8, size + 1, room)
    lines = []
    for first in range(0, warp.width, columns):
        line = "%4d:" % first
        for lane in range(first, min(first + columns, warp.width)):
            text = " " + cells[lane].rjust(size)
            line += "\033[2m" + text + "\033[m" if styled and dim[lane] else text
        lines.append(line)
    return lines + why


def lanewise_runs(cells, dim, styled):
    """Returns the lines of a table of long values: one line for each run of consecutive lanes that have the same value."""
    lines, first = [], 0
    for lane in range(1, len(cells) + 1):
        if lane < len(cells) and cells[lane] == cells[first] and dim[lane] == dim[first]:
            continue
        name = "%d" % first if lane - first == 1 else "%d-%d" % (first, lane - 1)
        text = "%7s: %s" % (name, cells[first])
        lines.append("\033[2m" + text + "\033[m" if styled and dim[first] else text)
        first = lane
    return lines


# ---- functions ---------------------------------------------------------------------------------


class LanewiseLaneOf(gdb.Function):
    """Return the lane whose threadIdx is (X, Y, Z), or -1 if it is not in the selected warp: $lane_of(X[, Y[, Z]])"""

    def __init__(self):
        super().__init__("lane_of")

    @lanewise_guarded
    def invoke(self, *operands):
        if not 1 <= len(operands) <= 3:
            raise LanewiseError("$lane_of takes the index of a thread in its block: $lane_of(X[, Y[, Z]])")
        warp = LanewiseWarp()
        size = [warp.number("ntid_" + axis) for axis in "xyz"]
        at = ([int(index) for index in operands] + [0, 0])[:3]
        if any(at[i] < 0 or at[i] >= size[i] for i in range(3)):
            return -1
        lane = at[0] + size[0] * (at[1] + size[1] * at[2]) - warp.number("warp") * warp.width
        return lane if 0 <= lane < warp.width else -1


class LanewiseLaneValue(gdb.Function):
    """Return the value of a vector register in one lane: $lanev(REGISTER, LANE[, TYPE]). TYPE is "u32", "i32" or "f32"."""

    def __init__(self):
        super().__init__("lanev")

    @lanewise_guarded
    def invoke(self, *operands):
        if not 2 <= len(operands) <= 3:
            raise LanewiseError("$lanev takes a register and a lane: $lanev($v3, 5[, \"f32\"])")
        register, lane = operands[:2]
        view = operands[2].string() if len(operands) == 3 else "u32"
        kind = register.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_UNION:
            if view not in [field.name for field in kind.fields()]:
                raise LanewiseError('$lanev: "%s" is not a type; use "u32", "i32" or "f32"' % view)
            register = register[view]
            kind = register.type.strip_typedefs()
        if kind.code != gdb.TYPE_CODE_ARRAY:
            raise LanewiseError("$lanev: expected a vector register, as in $lanev($v3, 5)")
        low, high = kind.range()
        if int(lane) < low or int(lane) > high:
            raise LanewiseError("$lanev: lane %d: this warp has lanes 0 to %d" % (int(lane), high))
        return register[int(lane)]
