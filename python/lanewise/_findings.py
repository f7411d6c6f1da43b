# SPDX-License-Identifier: Apache-2.0
"""Findings of checks, as Python values."""
import ctypes
import dataclasses
from typing import Optional

from . import _abi


def text(value):
    return value.decode("utf-8", "replace") if value else ""


def plain_name(lib, symbol):
    """Returns the name that a symbol of C++ has in the source."""
    out = ctypes.create_string_buffer(256)
    lib.lanewise_plain_name(symbol, ctypes.addressof(out), len(out))
    return text(out.value)


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a function: an inlined call in a kernel, or the Python call that launched a kernel.

    function  for an inlined call, the inlined function; for a launch, the Python function that contains the call
    line      line of the call, or 0 if it is not known
    """

    function: str
    file: str
    line: int

    def __str__(self):
        return "%s (%s:%d)" % (self.function, self.file, self.line)


@dataclasses.dataclass(frozen=True)
class Location:
    """Location of a finding. kernel, function and file are "" if they are not known; line is 0 if it is not known.

    block   coordinates (x, y, z) of the block
    warp    index of the warp in its block
    launch  number of the launch: 1, 2, ...
    lanes   mask of the lanes of the warp that the finding concerns; bit 0 is lane 0
    calls   inlined calls that contain the location, the innermost first
    """

    kernel: str
    function: str
    file: str
    line: int
    block: tuple
    warp: int
    launch: int
    lanes: int
    pc: int
    calls: tuple = ()

    def __str__(self):
        return "%s:%d" % (self.file, self.line) if self.line else self.kernel


@dataclasses.dataclass(frozen=True)
class Finding:
    """A finding of a check. If it occurred several times, location and message describe the first occurrence.

    kind         name of the kind, such as "race"; `lanewise explain` lists the kinds
    previous     location of the previous access of a race; None for other findings
    address      address of the access, or 0 if the finding is not about an access
    allocation   name of the buffer that contains the address, or of the nearest buffer below it; "" if there is none
    count        number of lanes with the finding, summed over all occurrences
    launched_by  the Python call that launched the kernel, or None if it is not known
    """

    kind: str
    message: str
    location: Location
    previous: Optional[Location]
    address: int
    allocation: str
    count: int
    launched_by: Optional[Call] = None

    def __str__(self):
        return "%s: %s: %s" % (self.location, self.kind, self.message)


def _location(machine, index, other, c, call_count):
    calls = []
    for number in range(call_count):
        call = _abi.Call()
        machine.call("finding_call", index, other, number, call, ctypes.sizeof(call))
        calls.append(Call(text(call.function), text(call.file), call.line))
    lib = machine._lib  # pylint: disable=protected-access
    return Location(plain_name(lib, c.kernel), plain_name(lib, c.function), text(c.file), c.line, tuple(c.block), c.warp,
                    c.launch, c.lanes, c.pc, tuple(calls))


def read(machine, index, launched_by):
    """Returns finding `index` of a machine. `launched_by` maps the number of a launch to the Call that launched the kernel."""
    c = _abi.Finding()
    machine.call("finding_get", index, c, ctypes.sizeof(c))
    location = _location(machine, index, 0, c.location, c.call_count)
    previous = _location(machine, index, 1, c.other, c.other_call_count) if text(c.other.kernel) else None
    return Finding(text(c.kind), text(c.message), location, previous, c.address, text(c.allocation), c.count,
                   launched_by.get(location.launch))
