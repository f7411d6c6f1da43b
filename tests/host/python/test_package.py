# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package by its public functions."""
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

import numpy
import pytest

import lanewise

PTX = """
.version 7.2
.target sm_70
.address_size 64
.file 1 "ramp.cl"
.global .align 4 .u32 counter = 5;
.visible .entry ramp(.param .u64 out, .param .u32 n, .param .f32 scale)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r3, %r4;
    @%p ret;
    cvt.rn.f32.u32 %f0, %r3;
    ld.param.f32 %f1, [scale];
    mul.f32 %f2, %f0, %f1;
    ld.param.u64 %rd0, [out];
    mul.wide.u32 %rd1, %r3, 4;
    add.u64 %rd2, %rd0, %rd1;
    .loc 1 7 1
    st.global.f32 [%rd2], %f2;
    ret;
}
.visible .entry spin(.param .u64 flag)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [flag];
again:
    ld.volatile.global.u32 %r0, [%rd0];
    setp.eq.u32 %p, %r0, 0;
    @%p bra again;
    ret;
}
"""


@pytest.fixture
def gpu():
    with lanewise.Machine() as machine:
        yield machine


@pytest.fixture
def checked():
    with lanewise.Machine(check="memory", findings="list") as machine:
        yield machine


def ramp(machine):
    return machine.compile(PTX, "two.ptx")["ramp"]


def clang(source, name, machine, **more):
    """Compiles a source on @machine. Skips the test if clang is not installed."""
    try:
        return machine.compile(source, name, **more)
    except lanewise.CompileError as error:
        if "no clang found" in error.message or "install the Debian package" in error.message:
            pytest.skip(error.message)
        raise


# ---- results -----------------------------------------------------------------------------------------------


def test_an_array_gets_what_a_kernel_stores(gpu):
    out = numpy.zeros(200, dtype=numpy.float32)
    assert ramp(gpu)(4, 64, out, 200, 0.5) == []
    assert (out == numpy.arange(200) * 0.5).all()


def test_a_kernel_runs_at_the_wait(gpu):
    out = numpy.zeros(4, dtype=numpy.float32)
    ramp(gpu).launch(1, 4, out, 4, 1)
    assert (out == 0).all()
    gpu.wait()
    assert (out == [0, 1, 2, 3]).all()


def test_an_array_that_is_not_contiguous_gets_results(gpu):
    whole = numpy.zeros((4, 2), dtype=numpy.float32)
    ramp(gpu)(1, 4, whole[:, 1], 4, 2.0)
    assert (whole == [[0, 0], [0, 2], [0, 4], [0, 6]]).all()


def test_in_is_not_copied_back_and_out_is_not_copied_in(gpu):
    out = numpy.full(4, 9, dtype=numpy.float32)
    kernel = ramp(gpu)
    kernel(1, 4, lanewise.In(out), 4, 1.0)
    assert (out == 9).all()
    kernel(1, 4, lanewise.Out(out), 2, 1.0)
    assert (out == [0, 1, 0, 0]).all()
    kernel(1, 4, lanewise.InOut(out), 1, 1.0)
    assert (out == [0, 1, 0, 0]).all()


def test_an_array_that_is_not_writable_gets_no_results(gpu):
    out = numpy.zeros(4, dtype=numpy.float32)
    out.flags.writeable = False
    with pytest.raises(lanewise.Error, match="ramp: parameter 1 .out.: the kernel has changed the copy of an array that is not writable"):
        ramp(gpu)(1, 4, out, 4, 1.0)
    assert (out == 0).all()
    with pytest.raises(lanewise.Error, match="not writable"):
        lanewise.Out(out)
    with pytest.raises(lanewise.Error, match="cannot be copied to list"):
        lanewise.InOut([1, 2])


def test_an_array_that_is_passed_twice_has_one_buffer(gpu):
    module = clang("__kernel void both(__global int *a, __global int *b) { a[get_global_id(0)] += 1; b[get_global_id(0)] += 10; }",
                   "both.cl", gpu)
    values = numpy.arange(4, dtype=numpy.int32)
    module["both"](1, 4, values, values)
    assert (values == [11, 12, 13, 14]).all()


def test_a_buffer_keeps_what_a_kernel_stores(gpu):
    with gpu.buffer(shape=8, name="out") as out:
        kernel = ramp(gpu)
        kernel(1, 4, out, 4, 1.0)
        kernel(1, 2, out, 2, 10.0)
        assert (out.read() == [0, 10, 2, 3, 0, 0, 0, 0]).all()
        assert (out.read(numpy.zeros(2, numpy.float32), offset=8) == [2, 3]).all()
        out.write([5, 6], offset=4)
        assert (out.read()[:3] == [0, 5, 6]).all()
        out.fill(1.5)
        with gpu.buffer(shape=(2, 4)) as other:
            out.copy_to(other)
            assert (other.read() == numpy.full((2, 4), 1.5)).all()
    with pytest.raises(lanewise.Error, match="'out' was freed"):
        out.read()


def test_buffers_refuse_what_does_not_fit(gpu):
    out = gpu.buffer([1, 2, 3], dtype=numpy.int16, name="three")
    assert (out.dtype, out.shape, out.nbytes) == (numpy.int16, (3,), 6)
    for call in (lambda: out.write([1, 2, 3, 4]), lambda: out.write(b"1234567"), lambda: out.write([1], offset=-2),
                 lambda: out.read(numpy.zeros(4, numpy.int16))):
        with pytest.raises(lanewise.Error, match="do not fit into the 6 bytes of 'three'"):
            call()
    with pytest.raises(lanewise.Error, match="'three' has the dtype int16, but the array has int64"):
        out.write(numpy.array([7, 8], numpy.int64))
    out.write(numpy.array([7, 8], numpy.int64).astype(numpy.int16))
    out.write(numpy.array([9, 0], numpy.uint8), offset=4)
    assert (out.read() == [7, 8, 9]).all()
    with pytest.raises(lanewise.Error, match="no bytes for a kernel"):
        gpu.buffer(numpy.array([None, 1]))
    with pytest.raises(lanewise.Error, match="give one of them"):
        gpu.buffer()
    with lanewise.Machine() as other, pytest.raises(lanewise.Error, match="different machines"):
        out.copy_to(other.buffer(shape=9))


def test_a_buffer_is_freed_when_nothing_refers_to_it(gpu):
    gpu.buffer(shape=4)
    empty = None
    for _ in range(3):
        buffer = gpu.buffer(shape=1000)
        del buffer
        gc.collect()
        gpu.statistic("grids")
        empty = empty or gpu.hash()
        assert gpu.hash() == empty


def test_a_buffer_lives_as_long_as_a_launch_that_uses_it(gpu):
    kernel = ramp(gpu)
    kernel.launch(1, 4, gpu.buffer(shape=4), 4, 1.0)
    gc.collect()
    gpu.statistic("grids")
    gpu.wait()


def test_variables_of_a_module_are_read_and_written(gpu):
    counter = gpu.compile(PTX, "two.ptx").variable("counter", numpy.int32)
    assert counter.read()[0] == 5
    counter.write([6])
    assert counter.read()[0] == 6
    with pytest.raises(lanewise.Error, match='no variable "count"'):
        gpu.compile(PTX, "two.ptx").variable("count")


# ---- arguments ---------------------------------------------------------------------------------------------


def test_parameters_have_names_types_and_sizes(gpu):
    kernel = ramp(gpu)
    assert [(p.name, p.type, p.nbytes) for p in kernel.parameters[1:]] == [("n", "integer", 4), ("scale", "float", 4)]
    assert kernel.needs["max_threads"] == 1024
    assert [k.name for k in kernel.module] == ["ramp", "spin"]


@pytest.mark.parametrize("arguments, message", [
    ((numpy.zeros(4, numpy.float32), 4), "ramp has 3 parameters, but 2 arguments are given"),
    ((numpy.zeros(4, numpy.float32), 4.5, 1.0), r"parameter 2 \(n\) is an integer of 4 bytes, but the argument is float 4.5"),
    ((numpy.zeros(4, numpy.float32), 1 << 32, 1.0), "4294967296, which does not fit"),
    ((numpy.zeros(4, numpy.float32), -(1 << 31) - 1, 1.0), "which does not fit"),
    ((numpy.zeros(4, numpy.float32), 4, "1"), r"parameter 3 \(scale\) is a float of 4 bytes, but the argument is str '1'"),
    ((numpy.zeros(4, numpy.float32), 4, b"123"), "the argument is 3 bytes"),
    ((numpy.zeros(4, numpy.float32), numpy.zeros(4), 1.0), r"parameter 2 \(n\) .* but the argument is an array or buffer"),
    ((numpy.zeros(4, object), 4, 1.0), "no bytes for a kernel"),
    (([0.0] * 4, 4, 1.0), r"parameter 1 \(out\) is .*, but the argument is list"),
])
def test_arguments_of_wrong_types_are_refused(gpu, arguments, message):
    with pytest.raises(lanewise.Error, match=message):
        ramp(gpu)(1, 4, *arguments)


def test_scalars_are_converted_to_the_types_of_parameters(gpu):
    source = """
    __kernel void all(__global double *out, char c, short s, int i, ulong l, float f, double d, float2 v, __local int *piece)
    {
        piece[0] = 1;
        out[0] = c; out[1] = s; out[2] = i; out[3] = l; out[4] = f; out[5] = d; out[6] = v.y;
    }"""
    out = numpy.zeros(7)
    kernel = clang(source, "all.cl", gpu)["all"]
    assert kernel.parameters[8].kind == "local"
    vector = numpy.array([1.5, 2.5], dtype=numpy.float32)
    for value in (vector, vector.tobytes()):
        out[:] = 0
        kernel(1, 1, out, numpy.int8(-3), -300, numpy.int64(-70000), 1 << 40, 2, numpy.float32(0.25), value, 64)
        assert (out == [-3, -300, -70000, 1 << 40, 2, 0.25, 2.5]).all()
    with pytest.raises(lanewise.Error, match="whose argument is the size of that memory in bytes"):
        kernel(1, 1, out, 1, 2, 3, 4, 5, 6, vector.tobytes(), vector)
    for value in (b"1234", vector[:1]):
        with pytest.raises(lanewise.Error, match="a value of 8 bytes, but the argument is .*4 bytes"):
            kernel(1, 1, out, 1, 2, 3, 4, 5, 6, value, 64)


def test_structures_are_passed_as_structured_scalars(gpu):
    source = "struct pair { int a; float b; }; __kernel void f(__global float *out, struct pair p) { out[0] = p.a + p.b; }"
    out = numpy.zeros(1, numpy.float32)
    pair = numpy.array((3, 0.5), dtype=[("a", "<i4"), ("b", "<f4")])
    kernel = clang(source, "pair.cl", gpu)["f"]
    kernel(1, 1, out, pair)
    assert out[0] == 3.5
    kernel(1, 1, out, pair[()])
    with pytest.raises(lanewise.Error, match="8 bytes"):
        kernel(1, 1, out, numpy.zeros((), dtype=[("a", "<i4")]))


def test_grids_and_blocks_have_one_to_three_sizes(gpu):
    source = "__kernel void f(__global int *out) { out[0] = get_work_dim(); out[1] = get_global_offset(0); out[2] = get_global_size(1); }"
    out = numpy.zeros(3, numpy.int32)
    kernel = clang(source, "dim.cl", gpu)["f"]
    kernel((2, 3), (1, 2), out, offset=(7, 0, 0), dimensions=3)
    assert list(out) == [3, 7, 6]
    for grid in (0, (), (1, 1, 1, 1), -1):
        with pytest.raises(lanewise.Error, match="grid is "):
            kernel(grid, 1, out)
    with pytest.raises(lanewise.Error, match="block|threads"):
        kernel(1, 2000, out)


# ---- programs ----------------------------------------------------------------------------------------------


def test_programs_come_from_cuda_assembly_and_objects(gpu, tmp_path):
    source = "template <class T> __global__ void add(T *x, T a) { x[threadIdx.x] += a; }\ntemplate __global__ void add<int>(int *, int);"
    module = clang(source, "add.cu", gpu, options=["-O1"])
    x = numpy.zeros(4, numpy.int32)
    module["add<int>"](1, 4, x, 3)
    assert (x == 3).all()
    gpu.compile(module.object(), "add.lwo").kernels[0](1, 4, x, 1)
    assert (x == 4).all()
    path = tmp_path / "two.ptx"
    path.write_text(PTX)
    assert gpu.load(path)["ramp"].name == "ramp"
    assembly = ".kernel one\n.param ptr.global x\n    exit\n.end\n"
    assert gpu.compile(assembly, "one.s")["one"].parameters[0].kind == "global"


def test_errors_of_compilers_have_their_output(gpu):
    clang("__kernel void f() {}", "f.cl", gpu)
    with pytest.raises(lanewise.CompileError) as caught:
        gpu.compile("__kernel void f() { x = 1; }", "wrong.cl")
    assert "wrong.cl:1:21" in caught.value.message and "undeclared" in caught.value.log
    with pytest.raises(lanewise.CompileError, match="nowhere.ptx"):
        gpu.load("nowhere.ptx")
    with pytest.raises(lanewise.Error, match="options of the compiler are a list"):
        gpu.compile("", "f.cl", options="-O1")
    with pytest.raises(lanewise.Error, match='did you mean "ramp"'):
        gpu.compile(PTX, "two.ptx")["ramq"]


def test_sources_are_compiled_linked_and_described(gpu):
    clang("__kernel void f() {}", "f.cl", gpu)
    ptx, log = gpu.compile_ptx('#include "n.h"\n__kernel void f(__global int *out) { *out = N; }', "f.cl", {"n.h": "#define N 12"})
    assert b".entry f" in ptx and log == ""
    out = numpy.zeros(1, numpy.int32)
    gpu.link({"f.cl": ptx})["f"](1, 1, out)
    assert out[0] == 12
    assert gpu.describe("__kernel void g(__global const float *in, int n) {}", "g.cl") == {"g": {
        "attributes": "", "parameters": [{"name": "in", "type": "float*", "qualifiers": "const", "access": "none"},
                                         {"name": "n", "type": "int", "qualifiers": "", "access": "none"}]}}


# ---- findings, faults, hangs ---------------------------------------------------------------------------------


def test_findings_are_a_list(checked):
    out = numpy.zeros(4, numpy.float32)
    found = ramp(checked)(1, 8, out, 8, 1.0)
    assert [f.kind for f in found] == ["out-of-bounds"]
    finding = found[0]
    assert finding.allocation == "out" and finding.count == 4 and finding.address != 0 and finding.previous is None
    assert (finding.location.kernel, finding.location.line, finding.location.block) == ("ramp", 7, (0, 0, 0))
    assert str(finding).endswith("ramp.cl:7: out-of-bounds: " + finding.message)
    assert finding.launched_by.file == __file__ and finding.launched_by.function == "test_findings_are_a_list"
    assert checked.findings == found and checked.wait() == []
    assert (out == [0, 1, 2, 3]).all()
    related = json.loads(checked.report("findings-json"))["findings"][0]["related"]
    assert [(r["message"], r["file"]) for r in related] == [("launched by test_findings_are_a_list", __file__)]


def test_findings_are_raised():
    out = numpy.zeros(4, numpy.float32)
    with lanewise.Machine(check=["memory", "races"]) as gpu:
        kernel = ramp(gpu)
        with pytest.raises(lanewise.FindingError, match="ramp.cl:7: out-of-bounds") as caught:
            kernel(1, 8, out, 8, 1.0)
        assert len(caught.value.findings) == 1
        assert (out == [0, 1, 2, 3]).all()
        kernel(1, 8, out, 8, 1.0)  # raises nothing: the location has already been reported
        assert len(gpu.findings) == 1


def test_an_element_that_no_kernel_writes_is_a_finding():
    with lanewise.Machine(check="all", findings="list") as gpu:
        out = numpy.zeros(4, numpy.float32)
        found = ramp(gpu)(1, 4, lanewise.Out(out), 3, 1.0)
        line = sys._getframe().f_lineno - 1
        assert [f.kind for f in found] == ["uninitialised-output"]
        assert (found[0].location.file, found[0].location.line) == (os.path.abspath(__file__), line)
        assert found[0].location.function == "test_an_element_that_no_kernel_writes_is_a_finding"


def test_a_race_has_the_previous_access(checked):
    source = "__kernel void f(__global int *out) { out[0] = get_global_id(0); }"
    with lanewise.Machine(check="races", findings="list") as gpu:
        found = clang(source, "race.cl", gpu)["f"](2, 32, numpy.zeros(1, numpy.int32))
        assert found and found[0].previous is not None and found[0].previous.line == 1


def test_finish_returns_findings_of_the_end():
    source = "__global__ void leak() { *(volatile char *)malloc(16) = 1; }"
    with lanewise.Machine(check="heap-leak", findings="list") as gpu:
        clang(source, "leak.cu", gpu)["leak"](1, 1)
        assert gpu.findings == []
        assert [f.kind for f in gpu.finish()] == ["heap-leak"]
        with pytest.raises(lanewise.Error, match="finished"):
            gpu.compile(PTX, "two.ptx")["ramp"](1, 1, numpy.zeros(1, numpy.float32), 1, 1.0)


def test_a_fault_is_raised_and_the_machine_recovers(gpu):
    out = numpy.zeros(4, numpy.float32)
    kernel = ramp(gpu)
    with pytest.raises(lanewise.FaultError, match="out-of-bounds.*ramp.cl:7"):
        kernel(1, 8, out, 8, 1.0)
    with pytest.raises(lanewise.Error, match="stopped at a fault"):
        kernel(1, 4, out, 4, 1.0)
    gpu.recover()
    kernel(1, 4, out, 4, 2.0)
    assert (out == [0, 2, 4, 6]).all()


def test_a_limit_is_a_hang():
    with lanewise.Machine(max_instructions=1000) as gpu:
        with pytest.raises(lanewise.HangError, match="max-instructions 1000"):
            gpu.compile(PTX, "two.ptx")["spin"](1, 1, numpy.zeros(1, numpy.uint32))


def test_another_thread_interrupts_a_wait():
    with lanewise.Machine(hang_limit=0) as gpu:
        flag = gpu.buffer([0], dtype=numpy.uint32)
        gpu.compile(PTX, "two.ptx")["spin"].launch(1, 1, flag)
        timer = threading.Timer(0.1, gpu.interrupt)
        timer.start()
        with pytest.raises(lanewise.WaitInterrupted):
            gpu.wait()
        timer.join()
        flag.write([1])
        assert gpu.wait() == []


@pytest.fixture
def control_c():
    """Makes SIGINT raise KeyboardInterrupt during a test. If pytest runs in the background, the shell has started it with SIGINT
    ignored, and Python would raise nothing."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def test_control_c_ends_a_wait_and_another_wait_continues(control_c):
    with lanewise.Machine(hang_limit=0) as gpu:
        flag = gpu.buffer([0], dtype=numpy.uint32)
        gpu.compile(PTX, "two.ptx")["spin"].launch(1, 1, flag)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            gpu.wait()
        timer.join()
        flag.write([1])
        assert gpu.wait() == []


# ---- settings, counts, text -----------------------------------------------------------------------------------


def test_counts_are_a_dictionary(gpu):
    ramp(gpu)(4, 64, numpy.zeros(200, numpy.float32), 200, 1.0)
    counts = gpu.statistics()
    assert counts["blocks"] == 4 == gpu.statistic("blocks") and "cycles" not in counts
    for call in (gpu.timing, lambda: gpu.statistic("cycles"), lambda: gpu.timing_value("core.count")):
        with pytest.raises(lanewise.Error, match="no timing model"):
            call()


def test_a_timing_report_is_a_dictionary():
    with lanewise.Machine(timing="volta", timing_set={"core.count": 2}) as gpu:
        assert gpu.timing_value("core.count") == "2"
        ramp(gpu)(4, 64, numpy.zeros(200, numpy.float32), 200, 1.0)
        assert gpu.timing()["cycles"] == gpu.statistic("cycles") == gpu.statistics()["cycles"] > 100


def test_keys_are_arguments(tmp_path):
    assert {"warp", "push_order", "timing_set"} <= set(lanewise.keys())
    with lanewise.Machine(warp=16, coverage=True, record=tmp_path / "launches") as gpu:
        ramp(gpu)(1, 4, numpy.zeros(4, numpy.float32), 4, 1.0)
        assert gpu.report("coverage").startswith("TN:") and gpu.record_message == ""
        assert any(f.suffix == ".yaml" for f in (tmp_path / "launches").iterdir())
    for settings, message in (({"wrap": 32}, 'did you mean "warp"'), ({"warp": 5}, "found \"5\""),
                              ({"timing": "vloat"}, "vloat"), ({"findings": "none"}, "findings is")):
        with pytest.raises(lanewise.Error, match=message):
            lanewise.Machine(**settings).compile(PTX, "two.ptx")


def test_schedule_logs_are_replayed(tmp_path):
    log, out = tmp_path / "run.log", numpy.zeros(8, numpy.float32)
    with lanewise.Machine(log=True) as gpu:
        ramp(gpu)(1, 8, out, 8, 2.0)
        gpu.save_log(log)
    with lanewise.Machine(replay=log) as gpu:
        again = numpy.zeros(8, numpy.float32)
        ramp(gpu)(1, 8, again, 8, 2.0)
        gpu.finish()
        assert (again == out).all()
    with lanewise.Machine(replay=log) as gpu:
        with pytest.raises(lanewise.Error, match="does not match this run"):
            ramp(gpu)(2, 4, numpy.zeros(8, numpy.float32), 8, 2.0)
    with lanewise.Machine(replay=log) as gpu: # a run that ends before its log
        gpu.compile(PTX, "two.ptx")
        with pytest.raises(lanewise.Error, match="the run ends at"):
            gpu.finish()
    with lanewise.Machine() as gpu:
        with pytest.raises(lanewise.Error, match="no schedule log"):
            gpu.save_log(log)


def test_suppressions_are_a_list_of_files(tmp_path):
    (tmp_path / "a.txt").write_text("- kind: out-of-bounds\n")
    (tmp_path / "b.txt").write_text("- kind: race\n")
    with lanewise.Machine(check="memory", check_suppress=[tmp_path / "a.txt", tmp_path / "b.txt"]) as gpu:
        assert ramp(gpu)(1, 8, numpy.zeros(4, numpy.float32), 8, 1.0) == []


PRINTING = '#include <stdio.h>\n__global__ void say(int n) { printf("n is %d\\n", n); }'


def test_text_of_kernels_goes_to_the_standard_output_of_python(gpu, capsys):
    clang(PRINTING, "say.cu", gpu)["say"](1, 1, 3)
    assert capsys.readouterr().out == "n is 3\n"


def test_text_of_kernels_goes_to_a_function():
    lines = []
    with lanewise.Machine(print=lines.append) as gpu:
        clang(PRINTING, "say.cu", gpu)["say"](1, 1, 3)
    assert "".join(lines) == "n is 3\n"
    with lanewise.Machine(print=None) as gpu:
        clang(PRINTING, "say.cu", gpu)["say"](1, 1, 3)


def test_an_exception_of_the_print_function_is_raised():
    def fail(text):
        raise ValueError(text)

    with lanewise.Machine(print=fail) as gpu:
        with pytest.raises(ValueError, match="n is 3"):
            clang(PRINTING, "say.cu", gpu)["say"](1, 1, 3)
    with lanewise.Machine(print=lambda text: gpu.statistics()) as gpu:
        with pytest.raises(lanewise.Error, match="must not use the machine"):
            clang(PRINTING, "say.cu", gpu)["say"](1, 1, 3)


# ---- machines ----------------------------------------------------------------------------------------------


def test_two_machines_share_nothing():
    a, b = numpy.zeros(4, numpy.float32), numpy.zeros(4, numpy.float32)
    with lanewise.Machine(warp=8) as one, lanewise.Machine(check="memory", findings="list") as two:
        ramp(one).launch(1, 4, a, 4, 1.0)
        ramp(two).launch(1, 8, b, 8, 2.0)
        assert len(two.wait()) == 1 and (b == [0, 2, 4, 6]).all() and (a == 0).all()
        assert one.wait() == [] and (a == [0, 1, 2, 3]).all()
        assert one.findings == [] and len(two.findings) == 1
        kernel = ramp(one)
        with pytest.raises(lanewise.Error, match="on another machine"):
            two.launch(kernel, 1, 4, a, 4, 1.0)
        with pytest.raises(lanewise.Error, match="on another machine"):
            kernel(1, 4, two.buffer(shape=4), 4, 1.0)


def test_two_threads_use_two_machines_and_one_machine():
    def work(machine, results):
        for _ in range(20):
            out = numpy.zeros(64, numpy.float32)
            ramp(machine)(1, 64, out, 64, 1.0)
            results.append((out == numpy.arange(64)).all())

    with lanewise.Machine() as one, lanewise.Machine() as two:
        results = []
        threads = [threading.Thread(target=work, args=(m, results)) for m in (one, two, one)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 60 and all(results)


def test_a_closed_machine_refuses_calls():
    gpu = lanewise.Machine()
    kernel, buffer = ramp(gpu), gpu.buffer(shape=4)
    gpu.close()
    gpu.close()
    for call in (lambda: gpu.buffer(shape=4), gpu.wait, lambda: gpu.findings, gpu.hash, lambda: kernel(1, 4, buffer, 4, 1.0),
                 kernel.module.object, lambda: kernel.module.log, lambda: kernel.needs, buffer.read, gpu.interrupt):
        with pytest.raises(lanewise.Error, match="the machine is closed"):
            call()
    buffer.free()


# ---- the library -------------------------------------------------------------------------------------------


def run(code, **environment):
    """Runs Python code in a new process, with additional environment variables."""
    changed = {k: v for k, v in {**os.environ, **environment}.items() if v is not None}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=changed, check=False)


def test_the_version_is_that_of_the_package():
    assert lanewise.version() == "0.1.0" or lanewise.version() == "(unpackaged)"


def test_a_missing_library_is_one_error_with_what_was_tried(tmp_path):
    # Tests a copy, because the package in the source tree would find the library of a build.
    package = tmp_path / "lanewise"
    package.mkdir()
    for name in os.listdir(os.path.dirname(lanewise.__file__)):
        if name.endswith(".py"):
            (package / name).write_bytes(open(os.path.join(os.path.dirname(lanewise.__file__), name), "rb").read())
    code = "import os; os.chdir(%r); import lanewise; lanewise.version()" % str(tmp_path)
    done = run(code, LANEWISE_LIBRARY=None, PYTHONPATH=str(tmp_path), PATH="/nowhere", LD_LIBRARY_PATH=None)
    message = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and "LibraryError: liblanewise.so.0 was not found" in message
    for tried in ("LANEWISE_LIBRARY (not set)", os.path.join(sys.prefix, "lib"), "pkg-config (not installed)", str(tmp_path),
                  "the system's loader"):
        assert tried in message
    done = run(code, LANEWISE_LIBRARY="/nowhere/liblanewise.so.0")
    assert "LANEWISE_LIBRARY names /nowhere/liblanewise.so.0, which does not exist" in done.stderr


def test_a_library_without_the_functions_is_refused():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        path = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
    done = run("import lanewise; lanewise.version()", LANEWISE_LIBRARY=path)
    assert "lacks lanewise_version" in done.stderr.splitlines()[-1]


def test_the_library_is_found_by_pkg_config_and_in_a_prefix(tmp_path):
    library = os.environ["LANEWISE_LIBRARY"]
    code = "import lanewise._library as l; print(l.find())"
    prefix = tmp_path / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "lib" / "liblanewise.so.0").symlink_to(library)
    (prefix / "lib" / "lanewise.pc").write_text("libdir=%s\nName: lanewise\nDescription: d\nVersion: 0\n" % (prefix / "lib"))
    tools = tmp_path / "tools"  # the new PATH, without an installed program lanewise
    tools.mkdir()
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config")
    (tools / "pkg-config").symlink_to(shutil.which("pkg-config"))
    done = run(code, LANEWISE_LIBRARY=None, PKG_CONFIG_PATH=str(prefix / "lib"), PATH=str(tools))
    assert done.stdout.strip() == str(prefix / "lib" / "liblanewise.so.0")
    program = prefix / "bin" / "lanewise"
    program.write_text("")
    program.chmod(0o755)
    done = run(code, LANEWISE_LIBRARY=None, PATH="%s:%s" % (prefix / "bin", os.environ["PATH"]))
    assert done.stdout.strip() == str(prefix / "lib" / "liblanewise.so.0")
