# SPDX-License-Identifier: Apache-2.0
"""Runs GPU kernels from Python on any computer, without a GPU. The package calls the C library liblanewise (lanewise.h).

    import lanewise, numpy

    y = numpy.ones(1000, dtype=numpy.float32)
    x = numpy.arange(1000, dtype=numpy.float32)
    with lanewise.Machine(check="memory,races") as gpu:
        saxpy = gpu.compile(SOURCE, "saxpy.cu")["saxpy"]
        saxpy(8, 128, 1000, 2.0, x, y)              # grid, block, arguments; x and y are copied to the machine and back
        print(gpu.statistics()["thread_instructions"])

The page docs/howto/python.md of Lanewise is a guide to this package.
"""
from ._errors import (CompileError, Error, FaultError, FindingError, HangError, KilledError, LibraryError,
                      WaitInterrupted)
from ._findings import Call, Finding, Location
from ._library import library
from ._machine import Kernel, Machine, Module, Parameter
from ._memory import Buffer, In, InOut, Out


def version():
    """Returns the version of the C library, such as "0.1.0"."""
    return library().lanewise_version().decode()


def keys():
    """Returns the names of the keyword arguments of Machine() that set options of the machine: "warp", "push_order", ..."""
    found = []
    while True:
        key = library().lanewise_key(len(found))
        if key is None:
            return found
        found.append(key.decode().replace("-", "_"))


__all__ = ["Buffer", "Call", "CompileError", "Error", "FaultError", "Finding", "FindingError", "HangError", "In", "InOut",
           "Kernel", "KilledError", "LibraryError", "Location", "Machine", "Module", "Out", "Parameter", "WaitInterrupted",
           "keys", "library", "version"]
