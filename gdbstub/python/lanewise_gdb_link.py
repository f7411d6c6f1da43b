# SPDX-License-Identifier: Apache-2.0
"""Commands for lanes and warps in stock gdb, version 12 or later.

`lanewise gdb` loads this file from the stub (docs/reference/gdb.md). `gdb -x lanewise_gdb.py` or `source` also load it.
`help lanewise` lists the commands. If the file is loaded a second time, its definitions replace the earlier ones.
"""

import re
import struct
import sys

import gdb

try:
    import gdb.disassembler as _disassembler
except ImportError:  # gdb 12 does not have this module: x/i and disassemble then use gdb's own disassembler
    _disassembler = None
try:
    from gdb.FrameDecorator import FrameDecorator as _FrameDecorator, FrameVars as _FrameVars
except ImportError:
    _FrameDecorator = None


# ---- the connection to the stub ------------------------------------------------------------


class LanewiseError(Exception):
    """An error whose text is shown to the user as it is."""


def lanewise_guarded(call):
    """Wraps a function so that every exception becomes a gdb.GdbError with a one-line message, without a traceback."""

    def guarded(*args):
        try:
            return call(*args)
        except KeyboardInterrupt:
            raise
        except (gdb.GdbError, LanewiseError) as error:
            text = str(error)
        except gdb.error as error:
            text = lanewise_sentence(error)
        except Exception as error:  # a bug in this file
            text = "lanewise_gdb.py: %s: %s" % (type(error).__name__, error)
        raise gdb.GdbError(text)

    guarded.__doc__ = call.__doc__
    return guarded


def lanewise_sentence(error):
    """Returns the text of an error of gdb. If gdb quotes an error reply of the stub ('E.message'), returns only the message."""
    text = str(error)
    at = text.find("'E.")
    if at >= 0 and text.endswith("'"):
        return text[at + 3:-1]
    return text


def lanewise_thread():
    """Returns the selected thread, or None if no thread is selected or the selected thread has ended."""
    try:
        return gdb.selected_thread()
    except SystemError:  # gdb 13 raises this if the selected thread has ended
        return None


class LanewiseLink:
    """The connection of gdb's selected inferior to the stub, and instructions that were read through it."""

    known = {}  # maps the number of a connection to True if it is connected to Lanewise
    insns = {}  # cache of disassembled instructions until the program continues: maps an address to (size, text)

    @staticmethod
    def connection():
        connection = getattr(gdb.selected_inferior(), "connection", None)
        kind = getattr(gdb, "RemoteTargetConnection", ())
        if connection is None or not isinstance(connection, kind):
            return None
        return connection

    @classmethod
    def ours(cls):
        """Returns the connection if it is connected to Lanewise, else None."""
        connection = cls.connection()
        if connection is None:
            return None
        if connection.num not in cls.known:
            # if the stub does not support the packet, send_packet() returns None or an empty reply
            cls.known[connection.num] = bool(connection.send_packet("qGpuAsk:0;"))
        return connection if cls.known[connection.num] else None

    @classmethod
    def ask(cls, packet, may_be_empty=False):
        if cls.connection() is None:
            raise LanewiseError("gdb is not connected to Lanewise: use `target remote :PORT`")
        connection = cls.ours()
        if connection is None:
            raise LanewiseError("gdb is connected to another program than Lanewise")
        reply = connection.send_packet(packet) or \
            (b"" if may_be_empty else b"E.this version of Lanewise does not support the request " + packet.encode())
        if reply.startswith(b"E"):
            raise LanewiseError(reply[2:].decode("utf-8", "replace")
                                if reply.startswith(b"E.") else "Lanewise refused the request " + packet)
        return bytes.fromhex(reply.decode("ascii")).decode("utf-8", "replace")

    @classmethod
    def show(cls, command):
        """Returns the output of a command of Lanewise's shell for the selected thread."""
        thread = lanewise_thread()
        if cls.connection() is not None and thread is None:
            raise LanewiseError("no warp is selected: `info threads` lists the warps, `thread N` selects one")
        number = thread.ptid[1] if thread is not None else 0
        return cls.ask("qGpuAsk:%x;%s" % (number, command.encode("utf-8").hex()))

    @classmethod
    def focus(cls, command):
        """Returns the thread to which a command of Lanewise's shell moves the focus, as (thread id, lane, output of the command).
        The focus of gdb is not moved."""
        thread = lanewise_thread()
        if cls.connection() is not None and thread is None:
            raise LanewiseError("no warp is selected: `info threads` lists the warps, `thread N` selects one")
        number = thread.ptid[1] if thread is not None else 0
        place, _, text = cls.ask("qGpuFocus:%x;%s" % (number, command.encode("utf-8").hex())).partition("\n")
        there, lane = place.split()
        return int(there), int(lane), text

    @classmethod
    def forget(cls, *unused):
        cls.insns.clear()

    @classmethod
    def forget_all(cls, *unused):
        cls.insns.clear()
        cls.known.clear()


def lanewise_styled():
    """Returns True if the terminal shows styles, so that escape sequences may be written."""
    try:
        return bool(gdb.parameter("style enabled")) and sys.__stdout__.isatty()
    except (gdb.error, RuntimeError, AttributeError):
        return False


class LanewiseWarp:
    """The selected warp, with the state of its lanes as gdb's registers show it."""

    def __init__(self):
        if LanewiseLink.ours() is None:
            LanewiseLink.ask("qGpuAsk:0;")  # raises an error with the reason
        if lanewise_thread() is None:
            raise LanewiseError("no warp is selected: `info threads` lists the warps, `thread N` selects one")
        self.frame = gdb.newest_frame()
        self.lane = self.number("lane")
        self.active = self.number("active")
        pcs = self.frame.read_register("lane_pcs")
        low, high = pcs.type.range()
        self.pcs = [int(pcs[i]) for i in range(low, high + 1)]
        self.width = len(self.pcs)

    def number(self, register):
        return int(self.frame.read_register(register))

    def live(self, lane):
        return self.pcs[lane] != 0  # a lane that has exited has the pc 0

    def is_active(self, lane):
        return self.active >> lane & 1 != 0

    def title(self):
        """Returns the thread's name without its lane, for example "block(0,0,0) w1". gdb may have read the name before the
        focus moved to another lane."""
        name = lanewise_thread().name or ""
        return name.rsplit(" lane ", 1)[0]

    def each(self, expression):
        """Evaluates an expression in each lane and returns [(lane, value or None, error)]. Restores the focus lane."""
        expression = lanewise_in_lane(expression)
        frame = gdb.selected_frame()
        level, found = frame.level(), []
        above = len(lanewise_frames(frame)) if level > 0 else 0
        try:
            for lane in range(self.width):
                if not self.live(lane):
                    found.append((lane, None, "exited"))
                    continue
                try:
                    lanewise_set_lane(lane)
                    if above != 0:  # select the frame that has the same distance from the kernel's frame as in the focus lane
                        frames = lanewise_frames(gdb.newest_frame())
                        if len(frames) < above:
                            raise gdb.error("this lane does not have this frame")
                        frames[-above].select()
                    value = gdb.parse_and_eval(expression)
                    if value.is_lazy:
                        value.fetch_lazy()
                    found.append((lane, value, None))
                except gdb.error as error:
                    found.append((lane, None, lanewise_sentence(error)))
        finally:
            lanewise_set_lane(self.lane, level)
        if all(error is not None for _, _, error in found):
            raise LanewiseError(next((error for _, _, error in found if error != "exited"),
                                     "all lanes have exited"))
        return found


def lanewise_frames(frame):
    """Returns a list of @frame and its callers."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.older()
    return frames


def lanewise_set_lane(lane, level=0):
    """Moves the focus to @lane. gdb then drops its frames, so the frame at @level is selected again."""
    gdb.execute("set var $lane = %d" % lane, False, True)
    frame = gdb.newest_frame()
    while level > 0 and frame is not None:
        frame = frame.older()
        level -= 1
    if frame is None:
        raise gdb.error("this lane has fewer frames")
    frame.select()
