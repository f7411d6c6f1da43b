# SPDX-License-Identifier: Apache-2.0
"""A CUDA kernel from Python, on a machine without a GPU: python3 saxpy.py [MACHINE]

With a machine's name, such as volta, it is timed; with "check" the buffer y is an element short,
and what a check of memory finds is told. The library is found as the system finds
libraries; LANEWISE_LIBRARY names another one.
"""
import array
import ctypes
import ctypes.util
import os
import sys

SOURCE = b"""
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""

path = os.environ.get("LANEWISE_LIBRARY") or ctypes.util.find_library("lanewise") or "liblanewise.so.0"
lib = ctypes.CDLL(path)
for name in ("lanewise_create", "lanewise_kernel_find"):
    getattr(lib, name).restype = ctypes.c_void_p
lib.lanewise_error.restype = ctypes.c_char_p


FINDING = 1


class Location(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("function", ctypes.c_char_p), ("file", ctypes.c_char_p),
                ("line", ctypes.c_uint32), ("block", ctypes.c_uint32 * 3), ("warp", ctypes.c_uint32),
                ("launch", ctypes.c_uint32), ("lanes", ctypes.c_uint64), ("pc", ctypes.c_uint64)]


class Finding(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char_p), ("message", ctypes.c_char_p), ("location", Location),
                ("other", Location), ("address", ctypes.c_uint64), ("allocation", ctypes.c_char_p),
                ("count", ctypes.c_uint64)]


class Machine:
    """One machine; a call that fails raises RuntimeError with the message."""

    def __init__(self, **settings):
        self.handle = ctypes.c_void_p(lib.lanewise_create())
        for key, value in settings.items():
            self.call("set", key.replace("_", "-").encode(), str(value).encode())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        lib.lanewise_destroy(self.handle)

    def call(self, name, *arguments):
        result = getattr(lib, "lanewise_" + name)(self.handle, *arguments)
        if result not in (0, FINDING):
            raise RuntimeError(lib.lanewise_error(self.handle).decode())
        return result

    def load(self, name, text):
        module = ctypes.c_void_p()
        self.call("load_text", name.encode(), text, ctypes.c_size_t(len(text)), None,
                  ctypes.byref(module))
        return module

    def kernel(self, module, name):
        kernel = lib.lanewise_kernel_find(module, name.encode())
        if not kernel:
            raise RuntimeError(lib.lanewise_error(self.handle).decode())
        return ctypes.c_void_p(kernel)

    def buffer(self, name, values):
        address = ctypes.c_uint64()
        size = len(values) * values.itemsize
        self.call("alloc", ctypes.c_uint64(size), name.encode(), ctypes.byref(address))
        self.call("write", address, values.tobytes(), ctypes.c_size_t(size))
        return address

    def read(self, address, values):
        memory = (ctypes.c_char * (len(values) * values.itemsize)).from_buffer(values)
        self.call("read", address, memory, ctypes.c_size_t(len(memory)))

    def launch(self, kernel, grid, block, *values):
        """Values are ctypes numbers, as the kernel's parameters are wide."""
        pointers = (ctypes.c_void_p * len(values))(
            *[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        self.call("launch", kernel, (ctypes.c_uint32 * 3)(*grid), (ctypes.c_uint32 * 3)(*block),
                  ctypes.c_uint32(0), pointers)
        return self.call("wait")

    def findings(self):
        for index in range(lib.lanewise_finding_count(self.handle)):
            finding = Finding()
            self.call("finding_get", ctypes.c_uint(index), ctypes.byref(finding),
                      ctypes.c_size_t(ctypes.sizeof(finding)))
            yield finding

    def count(self, name):
        value = ctypes.c_uint64()
        self.call("statistic", name.encode(), ctypes.byref(value))
        return value.value


def main(arguments):
    n = 1000
    x = array.array("f", range(n))
    y = array.array("f", [1.0] * n)
    checks = arguments == ["check"]
    with Machine(**({"check": "memory,races"} if checks else
                    {"timing": arguments[0]} if arguments else {})) as gpu:
        saxpy = gpu.kernel(gpu.load("saxpy.cu", SOURCE), "saxpy")
        gx, gy = gpu.buffer("x", x), gpu.buffer("y", y[:-1] if checks else y)
        result = gpu.launch(saxpy, (8, 1, 1), (128, 1, 1), ctypes.c_int(n), ctypes.c_float(2), gx, gy)
        if result == FINDING:
            for f in gpu.findings():
                print("%s:%d: %s in %s, block (%d,%d,%d): %s"
                      % (f.location.file.decode(), f.location.line, f.kind.decode(), f.location.kernel.decode(),
                         *f.location.block, f.message.decode()))
            return True
        gpu.read(gy, y)
        wrong = sum(y[i] != 2.0 * i + 1.0 for i in range(n))
        unit = "cycles" if arguments else "thread_instructions"
        print("saxpy: %d of %d elements are wrong; %d %s"
              % (wrong, n, gpu.count(unit), unit.replace("_", " ")))
    return wrong != 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as error:
        sys.exit("saxpy: %s" % error)
