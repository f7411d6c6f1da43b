# SPDX-License-Identifier: Apache-2.0
"""Runs a CUDA kernel from Python, on a computer without a GPU. Usage: python3 saxpy.py [MODEL | check]

python3 saxpy.py volta counts the cycles of the GPU model volta. python3 saxpy.py check makes the buffer y one element
too short, and prints the finding of the check. docs/howto/python.md explains how to install the package lanewise.
"""
import sys

import lanewise
import numpy

SOURCE = """
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def main(arguments):
    n = 1000
    x = numpy.arange(n, dtype=numpy.float32)
    y = numpy.ones(n, dtype=numpy.float32)
    checks = arguments == ["check"]
    settings = {"check": "memory,races"} if checks else {"timing": arguments[0]} if arguments else {}
    with lanewise.Machine(findings="list", **settings) as gpu:
        saxpy = gpu.compile(SOURCE, "saxpy.cu")["saxpy"]
        gx = gpu.buffer(x, name="x")
        gy = gpu.buffer(y[:-1] if checks else y, name="y")
        findings = saxpy(8, 128, n, 2, gx, gy)
        for f in findings:
            print("%s: %s in %s, block (%d,%d,%d): %s" % (f.location, f.kind, f.location.kernel,
                                                        *f.location.block, f.message))
        if findings:
            return True
        wrong = (gy.read() != 2 * x + 1).sum()
        unit = "cycles" if arguments else "thread_instructions"
        print("saxpy: %d of %d elements are wrong; %d %s" % (wrong, n, gpu.statistic(unit), unit.replace("_", " ")))
    return bool(wrong != 0)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except lanewise.Error as error:
        sys.exit("saxpy: %s" % error)
