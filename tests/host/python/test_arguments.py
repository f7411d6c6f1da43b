# SPDX-License-Identifier: Apache-2.0
"""Tests how the Python package checks arguments of CUDA kernels, whose symbols have the types of parameters."""
import numpy
import pytest

import lanewise
from lanewise import _signature

SOURCE = """
namespace ns { template <class T> __global__ void fill(T *p, T x) { p[threadIdx.x] = x; } }
template __global__ void ns::fill<float>(float *, float);
__global__ void set(int *p) { p[threadIdx.x] = 7; }
__global__ void copy(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void numbers(unsigned char c, long long x, float f, int *to) { to[0] = c; to[1] = (int)(x >> 32); to[2] = (int)f; }
"""


@pytest.fixture(name="module")
def loaded_module():
    with lanewise.Machine() as gpu:
        try:
            yield gpu.compile(SOURCE, "arguments.cu")
        except lanewise.CompileError as error:
            if "no clang found" in error.message or "install the Debian package" in error.message:
                pytest.skip("clang is not installed")
            raise


def test_results_of_an_array_that_is_not_writable_are_not_lost_silently(module):
    array, out = numpy.zeros(4, numpy.int32), numpy.zeros(4, numpy.int32)
    array.flags.writeable = False
    with pytest.raises(lanewise.Error, match="^set: parameter 1.*: the kernel has changed the copy of an array that is not"):
        module["set"](1, 4, array)
    module["set"](1, 4, lanewise.In(array))
    module["copy"](1, 4, array, out)
    assert list(array) == [0] * 4


@pytest.mark.parametrize("array, message", [
    (numpy.zeros(4), "^set: parameter 1.* points to int, but the argument is an array of dtype float64"),
    (numpy.zeros(4, numpy.int64), "points to int, but the argument is an array of dtype int64"),
    (numpy.zeros(4, numpy.uint8), "points to int"),
    (numpy.zeros(4, ">i4"), "big-endian numbers, which kernels cannot read: pass array.astype"),
])
def test_arrays_of_other_types_are_refused(module, array, message):
    with pytest.raises(lanewise.Error, match=message):
        module["set"](1, 4, array)


def test_arrays_of_the_same_size_and_kind_are_accepted(module):
    for dtype in (numpy.int32, numpy.uint32):
        array = numpy.zeros(4, dtype)
        module["set"](1, 4, array)
        assert list(array) == [7] * 4


@pytest.mark.parametrize("arguments, message", [
    ((-1, 0, 0), "numbers: parameter 1.* -1, which does not fit into an unsigned type of 1 byte"),
    ((256, 0, 0), "256, which does not fit into"),
    ((0, 2**63, 0), "which does not fit into a signed type of 8 bytes"),
    ((0, 0, 1e300), r"1e\+300, which does not fit into a float of 4 bytes"),
    ((0, 0, -10**400), "does not fit into a float of 4 bytes"),
])
def test_numbers_that_do_not_fit_are_refused(module, arguments, message):
    with pytest.raises(lanewise.Error, match=message):
        module["numbers"](1, 1, *arguments, numpy.zeros(3, numpy.int32))


def test_numbers_that_fit_are_accepted(module):
    out = numpy.zeros(3, numpy.int32)
    module["numbers"](1, 1, 255, -2**63, numpy.float64(3), out)
    assert list(out) == [255, -2**31, 3]
    module["numbers"](1, 1, True, 2**63 - 1, float("inf"), out)
    assert list(out[:2]) == [1, 2**31 - 1]


@pytest.mark.parametrize("grid, block", [(1.0, 4), (1, 2.5), (None, 4), ((1, 2.0), 4), ("4", 1), (True, 1), ((), 1)])
def test_sizes_are_integers(module, grid, block):
    with pytest.raises(lanewise.Error, match="(grid|block) is .*, but it must be one to three integers of at least 1"):
        module["set"](grid, block, numpy.zeros(4, numpy.int32))


def test_names_are_those_of_the_source(module):
    fill = module["ns::fill<float>"]
    assert fill.plain_name == "ns::fill<float>" and fill.name.startswith("_ZN2ns4fill")
    assert repr(fill) == "<lanewise.Kernel ns::fill<float> with 2 parameters>"
    with pytest.raises(lanewise.FindingError) as raised, lanewise.Machine(check="memory") as gpu:
        gpu.compile(SOURCE, "arguments.cu")["ns::fill<float>"](1, 4, numpy.zeros(2, numpy.float32), 1)
    assert raised.value.findings[0].location.kernel == "ns::fill<float>"


def test_a_refused_launch_says_what_to_do(module):
    with pytest.raises(lanewise.FaultError):
        module["set"](1, 4, 0x1234)
    with pytest.raises(lanewise.Error, match="stopped at a fault or a hang: recover it"):
        module["set"](1, 4, numpy.zeros(4, numpy.int32))
    module.machine.recover()
    module["set"](1, 4, numpy.zeros(4, numpy.int32))


@pytest.mark.parametrize("symbol, types", [
    ("_Z1kPi", ["Pi"]), ("_Z1kPiS_", ["Pi", "Pi"]), ("_Z1cPKiPi", ["Pi", "Pi"]), ("_ZL1kP4nodePKfS2_hx", ["P?", "Pf", "Pf", "h", "x"]),
    ("_Z1kPiPfS_S0_", ["Pi", "Pf", "Pi", "Pf"]), ("_Z1fIiEvPT_", []), ("_ZN1a1kEPi", []), ("k", []), ("_Z1kN1a1bEi", []),
    ("_Z1kS9_", []), ("_Z1k", []), ("_Z9k", [])])
def test_signatures_of_symbols(symbol, types):
    assert _signature.parameters(symbol) == types
