# SPDX-License-Identifier: Apache-2.0
"""Types of the parameters of CUDA kernels, from their symbols (Itanium C++ ABI, section 5.1.5)."""
import re

#: Maps the letter of a builtin type to its name, the kind of its dtype and its size.
_BUILTINS = {
    "b": ("bool", "b", 1), "c": ("char", "i", 1), "a": ("signed char", "i", 1), "h": ("unsigned char", "u", 1),
    "s": ("short", "i", 2), "t": ("unsigned short", "u", 2), "i": ("int", "i", 4), "j": ("unsigned int", "u", 4),
    "l": ("long", "i", 8), "m": ("unsigned long", "u", 8), "x": ("long long", "i", 8), "y": ("unsigned long long", "u", 8),
    "f": ("float", "f", 4), "d": ("double", "f", 8)}


class _Reader:
    """Reads types. A later type may refer to an earlier one by its number in `seen`."""

    def __init__(self, text):
        self.text, self.seen = text, []

    def type(self):
        """Returns the next type without const: letters of pointers, and a letter of _BUILTINS, "v" or "?". Returns None if the type
        cannot be read."""
        found = re.match(r"S(?:([0-9A-Z]*)_)", self.text)
        if found:
            number = int(found.group(1), 36) + 1 if found.group(1) else 0
            self.text = self.text[found.end():]
            return self.seen[number] if number < len(self.seen) else None
        found = re.match(r"[rVK]+|[PRO]", self.text)
        if found:
            self.text = self.text[found.end():]
            inner = self.type()
            if inner is None:
                return None
            made = inner if found.group()[0] in "rVK" else "P" + inner
            self.seen.append(made)
            return made
        found = re.match(r"[0-9]+", self.text)
        if found:
            self.text = self.text[found.end() + int(found.group()):]
            if self.text.startswith("I"):
                return None
            self.seen.append("?")
            return "?"
        letter, self.text = self.text[:1], self.text[1:]
        return letter if letter == "v" or letter in _BUILTINS else None


def parameters(symbol):
    """Returns the types of the first parameters of a kernel, as far as they can be read. A template or a kernel in a namespace has
    none."""
    found = re.match(r"_ZL?([0-9]+)", symbol)
    if not found:
        return []
    reader = _Reader(symbol[found.end() + int(found.group(1)):])
    types = []
    while reader.text and not reader.text.startswith(("I", ".")):
        made = reader.type()
        if made is None:
            break
        types.append(made)
    return types


def mismatch(signature, dtype):
    """Returns the name of the type to which a pointer points if the elements of an array are of another type, else None. Integers
    with and without a sign are the same type here, and characters may be bytes of any type."""
    name, kind, size = _BUILTINS.get(signature[1:], (None, "", 0)) if signature.startswith("P") else (None, "", 0)
    if name is None or dtype.kind not in "biufc" or (size == 1 and kind != "b"):
        return None
    part = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    if part == size and ((kind == "f") == (dtype.kind in "fc") or (size == 2 and dtype.kind == "f")):
        return None
    return name


def has_sign(signature):
    """Returns whether an integer type has a sign, or None if it is not known or not an integer."""
    kind = _BUILTINS.get(signature, (None, "", 0))[1]
    return {"i": True, "u": False}.get(kind) if signature != "c" else None
