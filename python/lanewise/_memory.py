# SPDX-License-Identifier: Apache-2.0
"""Buffers, and arrays as arguments of launches."""
import ctypes

import numpy

from ._errors import Error


class _Passed:
    """An array as an argument of a launch. copies_in and copies_out say in which directions the array is copied."""

    copies_in = copies_out = True
    must_stay = False  # the launch must not change the array: its results would be lost

    def __init__(self, array):
        self.array = array if isinstance(array, numpy.ndarray) else numpy.asarray(array)
        if self.array.dtype.hasobject:
            raise Error("an array of Python objects (dtype %s) has no bytes for a kernel: give it a numeric dtype"
                        % self.array.dtype)
        if not self.array.dtype.isnative:
            raise Error("an array of dtype %s has big-endian numbers, which kernels cannot read: pass array.astype(%r)"
                        % (self.array.dtype.str, self.array.dtype.newbyteorder("=").str))


class In(_Passed):
    """Passes an array that the kernel only reads: the array is copied to the machine, but not back. Lists are accepted, too."""

    copies_out = False


class Out(_Passed):
    """Passes an array that the kernel only writes: it is not copied to the machine, but results are copied back to it. Checks
    treat the buffer as uninitialised until the kernel writes it."""

    copies_in = False

    def __init__(self, array):
        super().__init__(array)
        _check_writable(array)


class InOut(_Passed):
    """Passes an array that is copied to the machine before the launch, and back after it. An array that is passed without In,
    Out or InOut is passed as InOut if it is writable, and as In if it is not; wait() raises an Error if a kernel has changed
    the copy of an array that is not writable."""

    def __init__(self, array):
        super().__init__(array)
        _check_writable(array)


def _check_writable(array):
    if not isinstance(array, numpy.ndarray) or not array.flags.writeable:
        raise Error("results cannot be copied to %s: pass a numpy array that is writable, or In(...)"
                    % ("an array that is not writable" if isinstance(array, numpy.ndarray) else type(array).__name__))


def raw(array):
    """Returns the bytes of an array as an array of one dimension."""
    return numpy.frombuffer(array.tobytes(), numpy.uint8)


def passed(value):
    """Returns `value` as In, Out or InOut if it is an array to copy, otherwise None."""
    if isinstance(value, _Passed):
        return value
    if isinstance(value, numpy.ndarray):
        made = InOut(value) if value.flags.writeable else In(value)
        made.must_stay = not value.flags.writeable
        return made
    return None


class Buffer:
    """Global memory of a machine: memory that Machine.buffer() has allocated, or a variable of Module.variable().

    Allocated memory is freed by free(), at the end of a `with`, when no object refers to the Buffer any more, or when the
    machine is closed.

    machine       the Machine
    name          name in reports
    address       address in the machine's global memory
    nbytes        size in bytes
    dtype, shape  dtype and shape of the arrays that read() returns
    """

    def __init__(self, machine, name, address, nbytes, dtype, shape, owned):
        self.machine, self.name, self.address, self.nbytes = machine, name, address, nbytes
        self.dtype, self.shape = dtype, shape
        self._owned = owned
        self._live = True
        self.must_stay = False  # buffer of an array that is not writable

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()

    def __del__(self):
        # Python may run this function on any thread and inside any other function, so it must not call the library. The
        # machine frees the memory at its next call.
        if getattr(self, "_live", False) and self._owned:
            self._live = False
            self.machine.free_later(self.address)

    def __repr__(self):
        return "<lanewise.Buffer %r: %d bytes at 0x%x%s>" % (self.name, self.nbytes, self.address,
                                                             "" if self._live else ", freed")

    def _check(self):
        if not self._live:
            raise Error("the buffer '%s' was freed" % self.name)

    def free(self):
        """Frees the memory. Launches that use the memory must not be queued: call Machine.wait() first."""
        if self._live and self._owned and not self.machine.closed:
            self.machine.call("free", self.address)
        self._live = False

    def write(self, values, offset=0):
        """Copies an array, a list or bytes to the buffer, from byte `offset` of the buffer on.

        A list or a number is converted to the buffer's dtype. Bytes, and arrays of bytes, are copied unchanged. Another array must
        have the buffer's dtype, unless this is a byte."""
        self._check()
        if isinstance(values, (bytes, bytearray, memoryview)):
            data = numpy.frombuffer(values, dtype=numpy.uint8)
        elif isinstance(values, (numpy.ndarray, numpy.generic)):
            data = numpy.ascontiguousarray(values)
            if data.dtype != self.dtype and numpy.uint8 not in (data.dtype, self.dtype) and "V" not in (data.dtype.kind, self.dtype.kind):
                raise Error("write: '%s' has the dtype %s, but the array has %s: convert the array by astype(numpy.%s), or pass "
                            "its bytes by tobytes()" % (self.name, self.dtype, data.dtype, self.dtype))
        else:
            data = numpy.ascontiguousarray(values, dtype=self.dtype)
        self._range(offset, data.nbytes)
        self.machine.call("write", self.address + offset, data.ctypes.data, data.nbytes)

    def read(self, out=None, offset=0):
        """Returns the contents of the buffer, from byte `offset` of the buffer on, as an array of the buffer's dtype.

        Without an offset the array has the buffer's shape, otherwise one dimension. If the array `out` is given, its bytes are
        overwritten, and it is returned."""
        self._check()
        if out is None:
            count = (self.nbytes - offset) // self.dtype.itemsize
            out = numpy.empty(self.shape if offset == 0 else count, dtype=self.dtype)
        data = out if out.flags.c_contiguous and out.flags.writeable else numpy.empty(out.shape, out.dtype)
        self._range(offset, data.nbytes)
        self.machine.call("read", self.address + offset, data.ctypes.data, data.nbytes)
        if data is not out:
            out[...] = data
        return out

    def fill(self, value=0):
        """Sets each element of the buffer to `value`."""
        self._check()
        pattern = numpy.array([value], dtype=self.dtype)
        if self.nbytes != 0:
            self.machine.call("fill", self.address, pattern.ctypes.data, pattern.nbytes, self.nbytes)

    def copy_to(self, other):
        """Copies the contents to the beginning of another buffer of the same machine, which must be at least as large."""
        self._check()
        other._check()  # pylint: disable=protected-access
        if other.machine is not self.machine:
            raise Error("'%s' and '%s' are on different machines" % (self.name, other.name))
        if other.nbytes < self.nbytes:
            raise Error("the %d bytes of '%s' do not fit into the %d bytes of '%s'"
                        % (self.nbytes, self.name, other.nbytes, other.name))
        if self.nbytes != 0:
            self.machine.call("copy", other.address, self.address, self.nbytes)

    def _range(self, offset, nbytes):
        if offset < 0 or offset + nbytes > self.nbytes:
            raise Error("%d bytes from byte %d on do not fit into the %d bytes of '%s'"
                        % (nbytes, offset, self.nbytes, self.name))


def value_bytes(value, what, size, kind, is_type, signed=None):
    """Returns the bytes of a value for a parameter of `size` bytes; `kind` is "unknown", "integer", "float" or "pointer".

    what     name of the parameter in messages
    is_type  description of the parameter's type in messages
    signed   whether an integer type has a sign, or None if that is not known
    """
    def refuse(found):
        return Error("%s is %s, but the argument is %s" % (what, is_type, found))

    if isinstance(value, (bytes, bytearray)):
        if len(value) != size:
            raise refuse("%d bytes" % len(value))
        return bytes(value)
    if isinstance(value, ctypes.Structure):
        return value_bytes(bytes(value), what, size, kind, is_type, signed)
    if isinstance(value, (numpy.generic, numpy.ndarray)):  # a structured scalar, or a number that has a dtype
        if value.dtype.kind == "V" or kind == "unknown":
            if value.nbytes != size:
                raise refuse("%s of %d bytes" % (value.dtype, value.nbytes))
            return value.tobytes()
        value = value.item()
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, int) and size in (1, 2, 4, 8) and kind != "float":
        least, limit = (0 if signed is False else -(1 << (8 * size - 1))), 1 << (8 * size - 1 if signed else 8 * size)
        if not least <= value < limit:
            raise refuse("%d, which does not fit into %s%d byte%s" % (value, "" if signed is None else "a signed type of " if signed
                                                                    else "an unsigned type of ", size, "" if size == 1 else "s"))
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    if isinstance(value, (int, float)) and kind in ("float", "unknown") and size in (2, 4, 8):
        with numpy.errstate(over="ignore"):
            try:
                made = numpy.array(value, dtype="<f%d" % size)
            except OverflowError:
                made = numpy.array(numpy.inf)
        if numpy.isinf(made) and value not in (float("inf"), float("-inf")):
            raise refuse("%r, which does not fit into a float of %d bytes" % (value, size))
        return made.tobytes()
    raise refuse("%s %r" % (type(value).__name__, value))
