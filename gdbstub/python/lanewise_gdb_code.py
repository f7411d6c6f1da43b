# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: compiles conditions of breakpoints and watchpoints to bytecode that the stub evaluates.


class LanewiseUnclear(Exception):
    """Raised if it is not certain how gdb would evaluate a condition. The condition is then not compiled: gdb evaluates it."""


class LanewiseCode:
    """Compiles a condition to gdb's agent bytecode. gdb itself compiles the parts of the condition that use only integers,
    names and memory. This class adds the operations on floats for which it is certain what gdb would compute: floats and
    doubles in memory, + - * /, comparisons, && || !, and casts to float and double."""

    # opcodes of gdb's agent expressions by name (gdb/ax.def)
    CODE = {name: at for at, name in enumerate(
        """- float add sub mul div_signed div_unsigned rem_signed rem_unsigned lsh rsh_signed rsh_unsigned trace
        trace_quick log_not bit_and bit_or bit_xor bit_not equal less_signed less_unsigned ext ref8 ref16 ref32 ref64
        ref_float ref_double ref_long_double l_to_d d_to_l if_goto goto const8 const16 const32 const64 reg end dup pop
        zero_ext swap getv setv tracev tracenz trace16 - pick rot printf""".split())}
    # opcodes of the extension for floats in gdbstub/run/rsp_agent.c
    F_ADD, F_SUB, F_MUL, F_DIV, F_EQUAL, F_LESS, F_WIDEN, F_NARROW, F_FROM, F_FROM_NARROW = range(0x80, 0x8a)
    FLOAT_OPS = {"+": F_ADD, "-": F_SUB, "*": F_MUL, "/": F_DIV}
    PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
                  "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
    FLOAT = r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?f?(?![\w.])"
    TOKEN = re.compile(r"\s*(?:(?P<float>" + FLOAT + r")|(?P<integer>(?:0|[1-9]\d*)(?![\w.]))|(?P<name>\$?[A-Za-z_]\w*)|"
                       r"(?P<sign>->|&&|\|\||[<>=!]=|<<|>>|[-+*/%<>!~&|^().\[\]])|(?P<end>$))")

    @classmethod
    def of(cls, condition, at, scope=None):
        """Returns (address, bytecode), or None if gdb must evaluate the condition. Names in the condition are resolved at the
        address. @at is "-at LOCATION, ", or "" for the selected frame. If the location has several addresses, @scope is the one
        to use."""
        try:
            try:
                if not re.search(r"(?<![\w.])" + cls.FLOAT, condition):  # gdb would compile the literal 0.5 as integer 0
                    return cls.compiled(condition, at, scope)
            except gdb.error:
                pass
            return cls(condition, at, scope).whole()
        except (gdb.error, LanewiseError, LanewiseUnclear):
            return None

    @classmethod
    def compiled(cls, text, at, scope=None):
        """Returns the address at which names are resolved, and the bytecode that gdb itself compiles for @text."""
        text = gdb.execute("maint agent-eval %s%s" % (at, text), False, True)
        found = [(int(one[:one.index("\n")], 16), one) for one in text.split("Scope: ")[1:]]
        found = [one for one in found if scope in (None, one[0])]
        if len(found) != 1:
            raise LanewiseError("the condition has several places")
        return found[0][0], cls.bytes_of(found[0][1])

    @classmethod
    def bytes_of(cls, text):
        """Returns the bytes of bytecode that gdb has printed as lines such as "  17  const8 252"."""
        lines = re.findall(r"^ *(\d+)  (\w+)(?: (-?\d+))?$", text, re.M)
        code = b""
        for at, (offset, name, operand) in enumerate(lines):
            size = int(lines[at + 1][0]) - int(offset) - 1 if at + 1 < len(lines) else 0
            if name not in cls.CODE or (size > 0) != (operand != ""):
                raise LanewiseError("gdb's code for the condition is not understood")
            code += bytes([cls.CODE[name]])
            if size > 0:
                code += (int(operand) & (1 << 8 * size) - 1).to_bytes(size, "big")
        if not lines or lines[-1][1] != "end" or len(code) != int(lines[-1][0]) + 1:
            raise LanewiseError("gdb's code for the condition is not understood")
        return code

    def __init__(self, condition, at, scope):
        self.text, self.at, self.code, self.pos = condition, at, b"", 0
        self.scope = self.compiled("0", at, scope)[0]
        self.block = gdb.block_for_pc(self.scope)
        if self.block is None or gdb.parameter("language") not in ("auto", "c", "c++"):
            raise LanewiseUnclear
        self.next()

    def whole(self):
        emit = self.truth(self.binary(1))
        if self.kind != "end":
            raise LanewiseUnclear
        emit()
        self.code += bytes([self.CODE["end"]])
        return self.scope, self.code

    # ---- the parser: each method returns a value (kind, type, emit) -------------------------------
    # kind is "int" for an integer that a signed 64-bit integer can hold, "wide" for any other value that gdb compiles, "bool"
    # for 0 or 1, 4 for a float, and 8 for a double. type is the gdb.Type of a variable, or None. emit() appends the bytecode
    # that computes the value.

    def next(self):
        found = self.TOKEN.match(self.text, self.pos)
        if found is None:
            raise LanewiseUnclear
        self.kind, self.begin, self.before = found.lastgroup, found.start(found.lastgroup), self.pos
        self.token, self.pos = found[found.lastgroup], found.end()

    def take(self, token):
        if self.token != token or self.kind == "end":
            return False
        self.next()
        return True

    def need(self, token):
        if not self.take(token):
            raise LanewiseUnclear

    def since(self, begin, kind, of=None):
        """Returns a value whose bytecode gdb compiles from the text between @begin and the current token."""
        text = self.text[begin:self.before]
        return kind, of, lambda: self.gdbs(text)

    def binary(self, lowest):
        begin = self.begin
        left = self.unary()
        while self.kind == "sign" and self.PRECEDENCE.get(self.token, 0) >= lowest:
            op = self.token
            self.next()
            right = self.binary(self.PRECEDENCE[op] + 1)
            kinds = left[0], right[0]
            if all(kind in ("int", "wide") for kind in kinds):
                left = self.since(begin, "int" if "wide" not in kinds or self.PRECEDENCE[op] in (1, 2, 6, 7) else "wide")
            elif op in ("&&", "||"):
                left = self.logic(op, left, right)
            elif all(kind in ("int", 4, 8) for kind in kinds):
                left = self.floats(op, left, right)
            else:
                raise LanewiseUnclear
        return left

    def floats(self, op, left, right):
        """Returns the value of an operation on floats. Both operands are converted to double if one of them is a double,
        otherwise to float."""
        size = max(value[0] for value in (left, right) if value[0] != "int")
        left, right = self.converted(left, size), self.converted(right, size)
        if op in self.FLOAT_OPS:
            return size, None, self.sequence(left, right, [self.FLOAT_OPS[op]] + [self.F_NARROW] * (size == 4))
        if op in (">", ">="):
            left, right = right, left
        less = self.sequence(left, right, [self.F_LESS])
        equal = self.sequence(left, right, [self.F_EQUAL])
        if op in ("<", ">"):
            return "bool", None, less
        if op in ("<=", ">="):
            return "bool", None, self.sequence(less, equal, [self.CODE["bit_or"]])
        if op in ("==", "!="):
            return "bool", None, self.sequence(equal, [self.CODE["log_not"]] * (op == "!="))
        raise LanewiseUnclear

    def converted(self, value, size):
        kind, _, emit = value
        if kind == "int":
            return self.sequence(emit, [self.F_FROM if size == 8 else self.F_FROM_NARROW])
        if kind in (4, 8):
            return self.sequence(emit, [self.F_NARROW] * (kind > size))
        raise LanewiseUnclear

    def logic(self, op, left, right):
        left, right = self.truth(left), self.truth(right)

        def emit():
            left()
            self.code += bytes([self.CODE["if_goto"]])
            at = len(self.code)
            self.code += bytes(2)
            if op == "&&":
                self.code += bytes([self.CODE["const8"], 0])
            else:
                right()
            self.code += bytes([self.CODE["goto"], 0, 0])
            self.target(at)
            at = len(self.code) - 2
            if op == "&&":
                right()
            else:
                self.code += bytes([self.CODE["const8"], 1])
            self.target(at)
        return "bool", None, emit

    def target(self, at):
        self.code = self.code[:at] + len(self.code).to_bytes(2, "big") + self.code[at + 2:]

    def truth(self, value):
        kind, _, emit = value
        if kind == "bool":
            return emit
        not_not = [self.CODE["log_not"]] * 2
        if kind in (4, 8):  # a NaN is true; +0 and -0 are false
            return self.sequence(emit, [self.CODE["const8"], 0, self.F_EQUAL, self.CODE["log_not"]])
        return self.sequence(emit, not_not)

    def sequence(self, *parts):
        def emit():
            for part in parts:
                if callable(part):
                    part()
                else:
                    self.code += bytes(part)
        return emit

    def unary(self):
        begin = self.begin
        if self.take("!"):
            value = self.unary()
            if value[0] in ("int", "wide"):
                return self.since(begin, "int")
            return "bool", None, self.sequence(self.truth(value), [self.CODE["log_not"]])
        if self.kind == "sign" and self.token in "-+~":
            op = self.token
            self.next()
            literal = self.kind == "float"
            value = self.unary()
            if value[0] in ("int", "wide"):
                return self.since(begin, value[0])
            if op != "-" or not literal or self.text[begin + 1:self.before].strip(" 0.f") == "":
                raise LanewiseUnclear  # gdb computes -x as 0 - x, which is +0 instead of -0 if x is +0
            return value[0], None, self.sequence([self.CODE["const8"], 0], value[2], [self.F_SUB])
        if self.take("*"):
            value = self.unary()
            return self.place(begin, self.pointed(value[1]))
        if self.take("&"):
            value = self.unary()
            return self.since(begin, "wide", value[1].pointer() if value[1] is not None else None)
        return self.postfix(begin)

    def postfix(self, begin):
        value = self.primary(begin)
        of = value[1]
        while self.kind == "sign" and self.token in (".", "->", "["):
            if of is None:
                raise LanewiseUnclear
            of = of.strip_typedefs()
            if self.take("["):
                of = self.pointed(of)
                if self.binary(1)[0] not in ("int", "wide"):
                    raise LanewiseUnclear
                self.need("]")
            else:
                self.next()
                if of.code == gdb.TYPE_CODE_PTR:
                    of = of.target().strip_typedefs()
                if self.kind != "name" or of.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
                    raise LanewiseUnclear
                fields = [field for field in of.fields() if field.name == self.token and not field.is_base_class]
                if len(fields) != 1 or not hasattr(fields[0], "bitpos"):
                    raise LanewiseUnclear
                of = fields[0].type
                self.next()
            value = self.place(begin, of)
        return value

    @staticmethod
    def pointed(of):
        of = of.strip_typedefs() if of is not None else None
        if of is None or of.code not in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY):
            raise LanewiseUnclear
        return of.target()

    def primary(self, begin):
        kind, token = self.kind, self.token
        self.next()
        if kind == "integer" and int(token) < 1 << 31:  # the type of larger integers depends on gdb's version
            return self.since(begin, "int")
        if kind == "float":
            narrow = token.endswith("f")
            if narrow and len(token) > 10:
                raise LanewiseUnclear  # the literal would be rounded twice, to double and then to float
            bits = struct.pack(">d", float(token.rstrip("f")))
            return (4 if narrow else 8), None, self.sequence([self.CODE["const64"]] + list(bits), [self.F_NARROW] * narrow)
        if kind == "name" and token[0] == "$":
            return self.since(begin, "wide")
        if kind == "name":
            symbol = gdb.lookup_symbol(token, self.block)[0]
            if symbol is None or not (symbol.is_variable or symbol.is_argument):
                raise LanewiseUnclear
            return self.place(begin, symbol.type)
        if token != "(":
            raise LanewiseUnclear
        if self.token in ("float", "double"):
            size = 4 if self.token == "float" else 8
            self.next()
            self.need(")")
            return size, None, self.converted(self.unary(), size)
        value = self.binary(1)
        self.need(")")
        return self.since(begin, value[0], value[1]) if value[0] in ("int", "wide") else value

    def place(self, begin, of):
        """Returns the value of a variable, member or array element of type @of."""
        kind = of.strip_typedefs()
        text = self.text[begin:self.before]
        if kind.code == gdb.TYPE_CODE_FLT and kind.sizeof in (4, 8):
            bits = "*(unsigned %s *)&(%s)" % ("int" if kind.sizeof == 4 else "long", text)
            widen = [self.F_WIDEN] * (kind.sizeof == 4)
            return kind.sizeof, of, self.sequence(lambda: self.gdbs(bits), widen)
        if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM):
            return self.since(begin, "int" if kind.sizeof < 8 or (kind.sizeof == 8 and
                              getattr(kind, "is_signed", False)) else "wide", of)
        if kind.code in (gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            raise LanewiseUnclear
        if kind.code == gdb.TYPE_CODE_BOOL:  # kind "bool" prevents arithmetic, in which gdb differs from C
            return "bool", of, lambda: self.gdbs(text)
        return self.since(begin, "wide", of)

    def gdbs(self, text):
        """Appends the bytecode that gdb compiles for a part of the condition. Adds the offset of this part to jump targets."""
        code = self.compiled(text, self.at, self.scope)[1]
        base, at = len(self.code), 0
        sizes = {self.CODE["const8"]: 1, self.CODE["const16"]: 2, self.CODE["const32"]: 4, self.CODE["const64"]: 8,
                 self.CODE["reg"]: 2, self.CODE["ext"]: 1, self.CODE["zero_ext"]: 1, self.CODE["pick"]: 1,
                 self.CODE["trace_quick"]: 1, self.CODE["if_goto"]: 2, self.CODE["goto"]: 2}
        while code[at] != self.CODE["end"]:
            size = sizes.get(code[at], 0)
            operand = int.from_bytes(code[at + 1:at + 1 + size], "big")
            if code[at] in (self.CODE["if_goto"], self.CODE["goto"]):
                operand += base
            self.code += code[at:at + 1] + operand.to_bytes(size, "big")
            at += 1 + size
