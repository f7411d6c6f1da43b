# SPDX-License-Identifier: Apache-2.0
"""Machines, modules and kernels."""
import collections.abc
import ctypes
import dataclasses
import json
import os
import signal
import sys
import threading

import numpy

from . import _abi, _findings, _memory, _signature
from ._errors import CompileError, Error, FaultError, FindingError, HangError, KilledError, WaitInterrupted
from ._library import library

_HERE = os.path.dirname(os.path.abspath(__file__))
_KINDS = {_abi.PARAM_VALUE: "value", _abi.PARAM_GLOBAL: "global", _abi.PARAM_CONSTANT: "constant", _abi.PARAM_LOCAL: "local"}
_PARAM_TYPES = {_abi.TYPE_UNKNOWN: "unknown", _abi.TYPE_INTEGER: "integer", _abi.TYPE_FLOAT: "float",
                _abi.TYPE_POINTER: "pointer"}
#: Keys whose value is a list of names with commas between them. A Python list for any other key sets the key several times.
_JOINED = {"check", "mechanism"}


def _caller():
    """Returns the Call by which the user's code called this package, or None."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _HERE:
        frame = frame.f_back
    if frame is None:
        return None
    name = frame.f_code.co_name
    return _findings.Call("the module" if name == "<module>" else name, frame.f_code.co_filename, frame.f_lineno)


def _setting(key, value):
    """Returns the texts that lanewise_set() gets for a key, one for each call."""
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, collections.abc.Mapping):
        return ["%s=%s" % pair for pair in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        texts = [str(v) for v in value]
        return [",".join(texts)] if key in _JOINED else texts
    return [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def _options(options):
    if options is None:
        return None
    if isinstance(options, (str, bytes)):
        raise Error("options of the compiler are a list, such as [\"-DN=3\"], but they are the text %r" % options)
    texts = [os.fsencode(o) for o in options]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


def _as_bytes(text):
    return text.encode() if isinstance(text, str) else bytes(text)


def _texts(named):
    """Returns a C array of lanewise_text and its length. `named` is a mapping from name to text, or a list of (name, text)."""
    pairs = list(named.items() if isinstance(named, collections.abc.Mapping) else named or [])
    made = (_abi.Text * max(len(pairs), 1))()
    for at, (name, text) in zip(made, pairs):
        data = _as_bytes(text)
        at.name, at.size = name.encode(), len(data)
        at.text = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
        made_keep = getattr(made, "keep", [])
        made_keep.append(data)
        made.keep = made_keep
    return made, len(pairs)


def _sizes(value, what):
    sizes = tuple(value) if isinstance(value, (tuple, list, numpy.ndarray)) else (value,)
    if not 1 <= len(sizes) <= 3 or any(not isinstance(n, (int, numpy.integer)) or isinstance(n, bool) or not 1 <= int(n) < 1 << 32
                                       for n in sizes):
        raise Error("%s is %r, but it must be one to three integers of at least 1" % (what, value))
    return tuple(int(n) for n in sizes) + (1,) * (3 - len(sizes))


class _Guard:
    """Lock of a machine. A callback of the user (print, ready) must not use the machine: it would wait for ever, because
    the thread that is in the library holds the lock. Such a use raises an Error instead."""

    def __init__(self):
        self._lock = threading.RLock()
        self.user_thread = None  # the thread on which a callback of the user runs, or None

    def __enter__(self):
        if self.user_thread == threading.get_ident():
            raise Error("a function that the machine calls must not use the machine")
        self._lock.acquire()

    def __exit__(self, *exception):
        self._lock.release()


class _Wait:
    """Runs lanewise_wait() on another thread. KeyboardInterrupt may reach the main thread at any instruction, even before the
    other thread has started to run."""

    def __init__(self, lib, handle):
        self._lib, self._handle = lib, handle
        self._mutex = threading.Lock()
        self._begun = self._cancelled = False
        self.done = threading.Lock()
        self.done.acquire()
        self.result = None

    def run(self):
        """The other thread's function: runs lanewise_wait(), unless end() was called before."""
        with self._mutex:
            if self._cancelled:
                return
            self._begun = True
        self.result = self._lib.lanewise_wait(self._handle)
        self.done.release()

    def end(self):
        """Called on the main thread after an exception: interrupts the run, and returns when the other thread no longer uses
        the machine and will not use it again."""
        while True:
            try:
                with self._mutex:
                    self._cancelled = True
                    if not self._begun:
                        return
                self._lib.lanewise_interrupt(self._handle)  # an interrupt before the run begins has no effect
                if self.done.acquire(timeout=0.01):
                    return
            except KeyboardInterrupt:
                continue  # Ctrl-C was pressed a second time


class Machine:
    """An emulated GPU. Several machines in one process share no state.

    Machine(warp=16, timing="volta", check=["memory", "races"], timing_set={"core.count": 4})

    Keyword arguments are options of `lanewise run` with _ in place of -, such as max_instructions; keys() lists them, and
    lanewise_set() in lanewise.h describes them. True and False mean "yes" and "no"; a dictionary means KEY=VALUE for each of
    its items; a list means several values of the option. Two more arguments are:

    findings  "raise": wait() raises FindingError if checks have new findings. "list": wait() returns the new findings. In
              both cases Machine.findings has all findings
    print     function that gets the text of kernels' printf as str; None drops the text. Without this argument the text is
              written to sys.stdout

    Several threads may use a machine; calls from different threads wait for each other. close(), or the end of a `with`,
    destroys the machine with all its modules and buffers.
    """

    def __init__(self, *, findings="raise", print=..., **settings):  # pylint: disable=redefined-builtin
        self._handle = None
        self._lib = library()
        if findings not in ("raise", "list"):
            raise Error("findings is \"raise\" or \"list\", but it is %r" % (findings,))
        self._raises = findings == "raise"
        self._lock = _Guard()
        self._garbage = []      # addresses of buffers to which no Python object refers any more
        self._pending = []      # arguments of launches for which wait() has not been called
        self._seen = 0          # number of findings that were returned or raised
        self._related = 0       # number of findings to which lanewise_finding_relate() has added the call of their launch
        self._callers = {}      # maps the number of a launch to the call that launched the kernel
        self._failed = None     # first exception that a callback of the user has raised since the last wait(), or None
        self._print = (lambda text: sys.stdout.write(text)) if print is ... else print  # sys.stdout may be replaced later
        self._handle = self._lib.lanewise_create()
        if not self._handle:
            raise MemoryError("the host has no memory for a machine")
        self._on_print = _abi.PRINT_FUNCTION(self._printed)
        self._ready = None
        self._lib.lanewise_print(self._handle, self._on_print, None)
        self._on_caller = _abi.CALLER_FUNCTION(self._called)
        self._called_texts = ()  # texts of the call that _called() has returned last
        self._lib.lanewise_caller(self._handle, self._on_caller, None)
        try:
            for key, value in settings.items():
                key = key.replace("_", "-")
                for text in _setting(key, value):
                    self.call("set", key.encode(), os.fsencode(text))
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def close(self):
        """Destroys the machine with its modules and buffers. Does nothing if the machine is already closed."""
        with self._lock:
            handle, self._handle = self._handle, None
            self._pending, self._garbage = [], []
            if handle:
                self._lib.lanewise_destroy(handle)

    @property
    def closed(self):
        """True if the machine is closed."""
        return self._handle is None

    @property
    def handle(self):
        """The lanewise_machine *, for functions of library()."""
        if self._handle is None:
            raise Error("the machine is closed")
        return self._handle

    # ---- calls ------------------------------------------------------------------------------------------

    def call(self, name, *arguments):
        """Calls lanewise_NAME(machine, ...). Returns LANEWISE_OK or LANEWISE_FINDING; for other results raises an exception."""
        with self._lock:
            self._free_garbage()
            result = getattr(self._lib, "lanewise_" + name)(self.handle, *arguments)
            if result not in (_abi.OK, _abi.FINDING):
                raise self._exception(result)
            return result

    def free_later(self, address):
        """Makes the next call() free the buffer at `address`. May be called on any thread."""
        self._garbage.append(address)

    def _free_garbage(self):
        while self._garbage:
            self._lib.lanewise_free(self.handle, self._garbage.pop())

    def _error(self):
        return _findings.text(self._lib.lanewise_error(self.handle)).rstrip("\n")

    def _exception(self, result):
        kinds = {_abi.FAULT: FaultError, _abi.HANG: HangError, _abi.INTERRUPTED: WaitInterrupted, _abi.KILLED: KilledError}
        return kinds.get(result, Error)(self._error())

    def _run_user(self, function, *arguments):
        """Runs a callback of the user for the library. An exception cannot pass through the library: it is recorded, and wait()
        raises it after the library has returned."""
        self._lock.user_thread = threading.get_ident()
        try:
            function(*arguments)
        except BaseException as error:  # pylint: disable=broad-except
            self._failed = self._failed or error
        finally:
            self._lock.user_thread = None

    def _printed(self, _context, text, size):
        if self._print is not None:
            self._run_user(self._print, ctypes.string_at(text, size).decode("utf-8", "replace"))

    # ---- programs ---------------------------------------------------------------------------------------

    def load(self, path, options=None):
        """Loads a file, whose suffix gives its language: .cl .cu .ptx .s .lwo. Returns a Module.

        options  list of options for the compiler, such as ["-DN=3"]
        """
        return self._module("load", os.fsencode(path), _options(options))

    def compile(self, source, name, options=None):
        """Loads a program from text (str or bytes). Returns a Module.

        name  name of the program in messages; its suffix gives the language: .cl (OpenCL C), .cu (CUDA C++), .ptx, .s
              (assembly), .lwo (the bytes of an object)
        """
        data = _as_bytes(source)
        return self._module("load_text", name.encode(), data, len(data), _options(options))

    def _module(self, function, *arguments):
        module = ctypes.c_void_p()
        self._loading(function, *arguments, ctypes.byref(module))
        return Module(self, module.value)

    def _loading(self, function, *arguments):
        try:
            self.call(function, *arguments)
        except Error as error:
            message, _, log = error.message.partition("\n")
            raise CompileError(message, log) from None

    def compile_ptx(self, source, name, headers=None, options=None):
        """Compiles a source to PTX, for link(). Returns (the PTX as bytes, the output of the compiler as str).

        headers  texts that the source may include: a dictionary from the name in #include to the text
        """
        texts, _ = _texts([(name, source)])
        included, count = _texts(headers)
        ptx, log, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        self._loading("compile", texts, included, count, _options(options), ctypes.byref(ptx), ctypes.byref(size),
                      ctypes.byref(log))
        try:
            return ctypes.string_at(ptx, size.value), _findings.text(ctypes.string_at(log) if log else b"")
        finally:
            self._lib.lanewise_object_free(ptx)
            self._lib.lanewise_object_free(log)

    def link(self, texts):
        """Links PTX texts to one Module: a declaration in one text may refer to a definition in another.

        texts  a dictionary from name to PTX text. A name is the name of the source from which compile_ptx() made the text, or
               ends in .ptx
        """
        made, count = _texts(texts)
        return self._module("link", made, count)

    def describe(self, source, name, headers=None, options=None):
        """Returns the declarations of the kernels of an OpenCL C source: a dictionary from name to {"attributes": text,
        "parameters": [{"name", "type", "qualifiers", "access"}]}."""
        texts, _ = _texts([(name, source)])
        included, count = _texts(headers)
        out = ctypes.c_void_p()
        self._loading("describe", texts, included, count, _options(options), ctypes.byref(out))
        try:
            lines = _findings.text(ctypes.string_at(out)).splitlines()
        finally:
            self._lib.lanewise_object_free(out)
        kernels = {}
        for line in lines:
            if line.startswith("\t"):
                parameter = dict(zip(("name", "type", "qualifiers", "access"), line[1:].split("\t")))
                kernel["parameters"].append(parameter)
            else:
                name, _, attributes = line.partition("\t")
                kernel = kernels[name] = {"attributes": attributes, "parameters": []}
        return kernels

    # ---- memory -----------------------------------------------------------------------------------------

    def buffer(self, values=None, *, shape=None, dtype=numpy.float32, name=None):
        """Allocates global memory and returns a Buffer.

        values  an array or a list that is copied to the buffer
        shape   instead of values: a number of elements, or a tuple of sizes; the memory is zeroed, but checks treat it as
                uninitialised
        dtype   type of the elements; ignored if values is an array, which has a dtype
        name    name of the buffer in reports
        """
        if (values is None) == (shape is None):
            raise Error("a buffer is made from values or from a shape: give one of them")
        if values is not None:
            data = values if isinstance(values, numpy.ndarray) else numpy.asarray(values, dtype=dtype)
            dtype, shape = data.dtype, data.shape
        dtype = numpy.dtype(dtype)
        if dtype.hasobject:
            raise Error("an array of Python objects (dtype %s) has no bytes for a kernel: give it a numeric dtype" % dtype)
        shape = (int(shape),) if isinstance(shape, (int, numpy.integer)) else tuple(int(n) for n in shape)
        nbytes = dtype.itemsize
        for n in shape:
            nbytes *= n
        address = ctypes.c_uint64()
        self.call("alloc", nbytes, name.encode() if name is not None else None, ctypes.byref(address))
        made = _memory.Buffer(self, name or "0x%x" % address.value, address.value, nbytes, dtype, shape, True)
        if values is not None:
            made.write(data)
        return made

    # ---- running ----------------------------------------------------------------------------------------

    def launch(self, kernel, grid, block, *arguments, shared=0, offset=(0, 0, 0), dimensions=0):
        """Queues a launch of a kernel, which wait() runs after all earlier launches.

        grid, block  number of blocks in the grid, and of threads in a block: one number, or a tuple of up to three
        arguments    one for each parameter of the kernel:
                     a number, for a number;
                     a Buffer, an array, an address or None (a null pointer), for a pointer. Each array gets a buffer of its
                     own, which wait() copies back and frees; see In, Out and InOut;
                     bytes, or an array or structured scalar of the same size, for a structure or a vector;
                     the size of the memory in bytes, for a pointer to __local memory
        shared       size of the dynamic shared memory in bytes
        offset       what OpenCL's get_global_offset() returns; it is added to global ids
        dimensions   what OpenCL's get_work_dim() returns, 1 to 3; 0: as many dimensions as grid and block need
        """
        if kernel.module.machine is not self:
            raise Error("%s was loaded on another machine" % kernel.plain_name)
        with self._lock:
            if len(arguments) != len(kernel.parameters):
                raise Error("%s has %d parameter%s, but %d argument%s given"
                            % (kernel.plain_name, len(kernel.parameters), "" if len(kernel.parameters) == 1 else "s",
                               len(arguments), " is" if len(arguments) == 1 else "s are"))
            shape = _abi.Shape((ctypes.c_uint32 * 3)(*_sizes(grid, "grid")), (ctypes.c_uint32 * 3)(*_sizes(block, "block")),
                               shared, dimensions, (ctypes.c_uint32 * 3)(*offset))
            copies = []
            values = [kernel.value(p, a, copies) for p, a in zip(kernel.parameters, arguments)]
            pointers = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.addressof(v) for v in values])
            self.call("launch_shape", kernel.handle, shape, ctypes.sizeof(shape), pointers)
            caller = _caller()
            if caller is not None:  # launches by kernels are grids and have numbers, too: the newest grid is this launch
                self._callers[self.statistic("grids")] = caller
            self._pending.append((arguments, copies))

    def wait(self):
        """Runs all queued launches to their end, and copies results back to arrays.

        With Machine(findings="list"), returns the list of new findings. Otherwise raises FindingError if there are new
        findings, and returns an empty list if there are none. After a FaultError or HangError the buffers of the machine can
        be read, and launches are refused until recover() is called. Ctrl-C stops the run and raises KeyboardInterrupt; another
        wait() continues the run.
        """
        with self._lock:
            self._free_garbage()
            result = self._wait()
            stopped = self._exception(result) if result not in (_abi.OK, _abi.FINDING) else None
            lost = self._copy_back() if result not in (_abi.INTERRUPTED, _abi.ERROR) else None
            failed, self._failed = self._failed, None
            if failed is not None:
                raise failed
            if stopped is not None:
                raise stopped
            if lost is not None:
                raise lost
            return self._new_findings()

    def _wait(self):
        """Calls lanewise_wait() and returns its result. If this is the main thread, which alone receives Ctrl-C in Python,
        lanewise_wait() runs on another thread, so that Ctrl-C has an effect during the run."""
        handle = self.handle
        if (threading.current_thread() is not threading.main_thread()
                or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None)):
            return self._lib.lanewise_wait(handle)
        state = _Wait(self._lib, handle)
        try:
            threading.Thread(target=state.run, name="lanewise_wait", daemon=True).start()
            state.done.acquire()
        except BaseException:
            state.end()
            raise
        return state.result

    def _copy_back(self):
        """Copies results to arrays. Returns an Error if a kernel has changed the copy of an array that is not writable, or None."""
        lost = None
        pending, self._pending = self._pending, []
        for _, copies in pending:
            for buffer, array in copies:
                if array is not None:
                    buffer.read(array)
                elif buffer.must_stay and not numpy.array_equal(_memory.raw(buffer.read()), _memory.raw(buffer.source)):
                    lost = lost or Error(
                        "%s: the kernel has changed the copy of an array that is not writable, so its results are lost: pass an array "
                        "that is writable, or In(array) if they are not needed" % buffer.use)
        for _, copies in pending:
            for buffer, _ in copies:
                buffer.free()
        return lost

    def _new_findings(self):
        new = self._findings_from(self._seen)
        self._seen += len(new)
        if new and self._raises:
            raise FindingError(new)
        return new

    def _called(self, _, out):
        """Sets the structure `out` to the user's call of this package, for findings about memory that the call reads."""
        call = _caller()
        if call is not None:
            self._called_texts = call.function.encode(), os.fsencode(call.file)
            out[0].function, out[0].file = self._called_texts
            out[0].line = call.line

    def _findings_from(self, first):
        """Returns the findings from number `first` on. Adds the Python call of the launch to each new finding, for reports."""
        with self._lock:
            found = []
            for index in range(first, self._lib.lanewise_finding_count(self.handle)):
                finding = _findings.read(self, index, self._callers)
                call = finding.launched_by
                if call is not None and index >= self._related:
                    self._lib.lanewise_finding_relate(self.handle, index, ("launched by " + call.function).encode(),
                                                      os.fsencode(call.file), call.line)
                found.append(finding)
            self._related = max(self._related, first + len(found))
            return found

    def recover(self):
        """Makes the machine usable again after a fault or a hang. Launches that have not ended are dropped; memory, modules and
        findings remain. Raises Error if a limit was reached (timeout, max_instructions): a new machine is needed then."""
        with self._lock:
            self.call("recover")
            self._copy_back()

    def interrupt(self):
        """Makes a wait() in progress raise WaitInterrupted soon. Any thread may call this function."""
        self._lib.lanewise_interrupt(self.handle)

    def gdb(self, address=None, kernel=None, history_mib=0, ready=None):
        """Lets gdb debug the kernels. wait() stops at the launch that `kernel` selects until gdb has connected; from then on
        gdb controls the launches. This function must be called before a program is loaded or memory is allocated, and only
        once.

        address      where gdb connects: "PORT", "HOST:PORT" or "unix:PATH"; None: a free port
        kernel       gdb gets control at the first launch of the kernel with this name; None: at the first launch
        history_mib  memory for reverse execution in MiB; 0: 256
        ready        function that is called when gdb can connect, with the operand of gdb's `target remote`
        """
        options = _abi.GdbOptions(address.encode() if address is not None else None,
                                  kernel.encode() if kernel is not None else None, history_mib, 0)
        if ready is not None:
            options.ready = self._ready = _abi.READY_FUNCTION(lambda _, target: self._run_user(ready, target.decode()))
        self.call("gdb", options, ctypes.sizeof(options))

    # ---- findings, statistics and reports ---------------------------------------------------------------

    @property
    def findings(self):
        """All findings so far, a list of Finding."""
        return self._findings_from(0)

    def finish(self):
        """Ends the session of gdb. If checks are enabled, ends the run: adds the findings that need a complete run (leaks,
        performance), sorts findings by file and line, and lets no more kernels be launched. Returns all findings."""
        with self._lock:
            self._findings_from(self._related)
            self.call("finish")
            # finish() has sorted the findings, so their numbers have changed
            self._seen = self._related = self._lib.lanewise_finding_count(self.handle)
            return self._findings_from(0)

    def statistic(self, name):
        """Returns a count by its name, such as "thread_instructions" or "loads"; with a GPU model also "cycles"."""
        value = ctypes.c_uint64()
        self.call("statistic", name.encode(), ctypes.byref(value))
        return value.value

    def statistics(self):
        """Returns all counts as a dictionary; with a GPU model the dictionary also has "cycles" and "timing"."""
        return json.loads(self.report("statistics"))

    def timing(self):
        """Returns the tables of the GPU model as a dictionary."""
        return json.loads(self.report("timing-json"))

    def timing_value(self, key):
        """Returns the value of a key of the GPU model, such as "core.count", as text; for the key "name", the model's name."""
        out = ctypes.create_string_buffer(4096)
        self.call("timing_value", key.encode(), ctypes.addressof(out), len(out))
        return _findings.text(out.value)

    def report(self, kind):
        """Returns a report as text: "statistics", "timing", "timing-json", "findings", "findings-json", "findings-sarif",
        "findings-junit", "findings-suppressions", "coverage" or "profile"."""
        text = ctypes.c_void_p()
        self.call("report", kind.encode(), ctypes.byref(text))
        try:
            return _findings.text(ctypes.string_at(text))
        finally:
            self._lib.lanewise_report_free(text)

    def save_log(self, path):
        """With Machine(log=True): writes the schedule log of the run so far to a file, for Machine(replay=FILE)."""
        self.call("log_save", os.fsencode(path))

    @property
    def record_message(self):
        """With Machine(record=FOLDER): the reason why the last launch was not recorded, or "" if it was recorded."""
        with self._lock:
            return _findings.text(self._lib.lanewise_record_message(self.handle))

    def hash(self):
        """Returns a hash over the contents of the machine's buffers and the text that kernels printed. Equal results have equal
        hashes."""
        with self._lock:
            self._free_garbage()
            return self._lib.lanewise_hash(self.handle)


class Module:
    """A program that is loaded on a machine. module["name"] is the Kernel with this name, which may be a C++ name such as
    "reduce<float, 256>".

    machine  the Machine on which the program is loaded
    """

    def __init__(self, machine, handle):
        self.machine, self._module = machine, handle

    @property
    def handle(self):
        """The lanewise_module *, for functions of library()."""
        self.machine.handle  # raises if the machine is closed  pylint: disable=pointless-statement
        return self._module

    @property
    def log(self):
        """All output of the compiler; "" if there was no output."""
        return _findings.text(self.machine._lib.lanewise_module_log(self.handle))  # pylint: disable=protected-access

    @property
    def kernels(self):
        """The list of the program's kernels, in the order of its file."""
        lib, found = self.machine._lib, []  # pylint: disable=protected-access
        while True:
            kernel = lib.lanewise_kernel_at(self.handle, len(found))
            if not kernel:
                return found
            found.append(Kernel(self, kernel))

    def __getitem__(self, name):
        machine = self.machine
        with machine._lock:  # pylint: disable=protected-access
            kernel = machine._lib.lanewise_kernel_find(self.handle, name.encode())  # pylint: disable=protected-access
            if not kernel:
                raise Error(machine._error())  # pylint: disable=protected-access
            return Kernel(self, kernel)

    def __iter__(self):
        return iter(self.kernels)

    def variable(self, name, dtype=numpy.uint8):
        """Returns a variable of the module (__device__, __constant__) as a Buffer with elements of `dtype`."""
        address, nbytes = ctypes.c_uint64(), ctypes.c_uint64()
        with self.machine._lock:  # pylint: disable=protected-access
            result = self.machine._lib.lanewise_variable(  # pylint: disable=protected-access
                self.handle, name.encode(), ctypes.byref(address), ctypes.byref(nbytes))
            if result != _abi.OK:
                raise self.machine._exception(result)  # pylint: disable=protected-access
        dtype = numpy.dtype(dtype)
        if nbytes.value % dtype.itemsize != 0:
            raise Error("'%s' has %d bytes, which is not a multiple of the %d bytes of %s"
                        % (name, nbytes.value, dtype.itemsize, dtype))
        return _memory.Buffer(self.machine, name, address.value, nbytes.value, dtype, (nbytes.value // dtype.itemsize,), False)

    def object(self):
        """Returns the bytes of an object file with the module; Machine.compile(bytes, "name.lwo") loads it again."""
        lib, machine = self.machine._lib, self.machine  # pylint: disable=protected-access
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        with machine._lock:  # pylint: disable=protected-access
            result = lib.lanewise_module_object(self.handle, ctypes.byref(data), ctypes.byref(size))
            if result != _abi.OK:
                raise machine._exception(result)  # pylint: disable=protected-access
        try:
            return ctypes.string_at(data, size.value)
        finally:
            lib.lanewise_object_free(data)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    index   index of the parameter, from 0
    name    name of the parameter; "" if it is not known: compilers keep names only with options such as -g
    kind    memory to which a pointer points: "global", "constant" or "local"; "value" for numbers, structures and CUDA pointers
    type    "integer", "float", "pointer", or "unknown" (a structure, a vector, a half)
    nbytes  size of the value in bytes
    signature  type in a kernel of CUDA, as its symbol has it, such as "i" or "Pf"; "" if it is not known
    """

    index: int
    name: str
    kind: str
    type: str
    nbytes: int
    signature: str = ""

    def __str__(self):
        return "parameter %d%s" % (self.index + 1, " (%s)" % self.name if self.name else "")

    @property
    def plain_type(self):
        """Description of the type for messages, such as "an integer of 4 bytes"."""
        if self.kind == "local":
            return "a pointer to __local memory, whose argument is the size of that memory in bytes"
        if self.type == "pointer":
            return "a pointer"
        return "%s of %d byte%s" % ({"integer": "an integer", "float": "a float", "unknown": "a value"}[self.type], self.nbytes,
                                    "" if self.nbytes == 1 else "s")


class Kernel:
    """A kernel of a module. kernel(grid, block, *arguments) launches it, waits for its end, and returns the result of
    Machine.wait().

    module      the Module that contains the kernel
    name        name of the kernel; for C++, its symbol
    plain_name  name of the kernel in the source, with template arguments
    parameters  list of Parameter
    """

    def __init__(self, module, handle):
        lib = module.machine._lib  # pylint: disable=protected-access
        self.module, self._kernel = module, handle
        self.name = _findings.text(lib.lanewise_kernel_name(handle))
        self.plain_name = _findings.plain_name(lib, lib.lanewise_kernel_name(handle))
        self.parameters = []
        types = _signature.parameters(self.name)
        for index in range(lib.lanewise_kernel_param_count(handle)):
            p = _abi.Param()
            if lib.lanewise_kernel_param(handle, index, p, ctypes.sizeof(p)) != _abi.OK:
                raise Error(module.machine._error())  # pylint: disable=protected-access
            name = _findings.text(p.name)
            if name == "%s_param_%d" % (self.name, index):  # the name that clang gives without debug information
                name = ""
            self.parameters.append(Parameter(index, name, _KINDS[p.kind], _PARAM_TYPES[p.type], p.bytes,
                                             types[index] if index < len(types) else ""))

    def __repr__(self):
        return "<lanewise.Kernel %s with %d parameters>" % (self.plain_name, len(self.parameters))

    @property
    def handle(self):
        """The lanewise_kernel *, for functions of library()."""
        self.module.handle  # raises if the machine is closed  pylint: disable=pointless-statement
        return self._kernel

    @property
    def needs(self):
        """The resources that the kernel needs, and limits of its launches, as a dictionary:

        max_threads                         largest number of threads of a block
        required_block                      the only possible size of a block; (0, 0, 0): any size is possible
        shared_bytes                        static shared memory of a block
        local_bytes                         local memory of a thread, including its stack
        vector_registers, scalar_registers  numbers of registers
        """
        needs = _abi.KernelNeeds()
        lib = self.module.machine._lib  # pylint: disable=protected-access
        if lib.lanewise_kernel_get_needs(self.handle, needs, ctypes.sizeof(needs)) != _abi.OK:
            raise Error(self.module.machine._error())  # pylint: disable=protected-access
        values = {name: getattr(needs, name) for name, _ in _abi.STRUCTURES["lanewise_kernel_needs"]}
        values["required_block"] = tuple(needs.required_block)
        return values

    def __call__(self, grid, block, *arguments, **shape):
        """Launches the kernel and waits for its end. Arguments are as in Machine.launch(). Returns the result of
        Machine.wait()."""
        self.launch(grid, block, *arguments, **shape)
        return self.module.machine.wait()

    def launch(self, grid, block, *arguments, **shape):
        """Queues the kernel; see Machine.launch()."""
        self.module.machine.launch(self, grid, block, *arguments, **shape)

    def value(self, parameter, argument, copies):
        """Returns the C value of an argument. For an array it allocates a buffer and adds (buffer, array) to `copies`: results
        are copied from the buffer to this array after the launch. The array is None if nothing is copied back."""
        machine = self.module.machine
        what = "%s: %s" % (self.plain_name, parameter)
        takes_address = parameter.kind != "local" and (parameter.type == "pointer" or (
            parameter.nbytes == 8 and parameter.type != "float"))
        if (isinstance(argument, numpy.ndarray) and parameter.kind == "value"
                and (parameter.type == "unknown" or (parameter.type != "pointer" and argument.ndim == 0))):
            array = None  # the argument is the value of a vector, a structure or a number
        else:
            array = _memory.passed(argument)
        if array is not None or isinstance(argument, _memory.Buffer):
            if not takes_address:
                raise Error("%s is %s, but the argument is an array or buffer" % (what, parameter.plain_type))
            if array is not None:
                found = _signature.mismatch(parameter.signature, array.array.dtype)
                if found:
                    raise Error("%s points to %s, but the argument is an array of dtype %s" % (what, found, array.array.dtype))
            buffer = argument if array is None else self._buffer_of(array, parameter, copies)
            if buffer.machine is not machine:
                raise Error("%s: the buffer '%s' is on another machine" % (what, buffer.name))
            buffer._check()  # pylint: disable=protected-access
            return ctypes.c_uint64(buffer.address)
        if parameter.kind == "local":
            if not isinstance(argument, (int, numpy.integer)) or isinstance(argument, bool) or argument < 0:
                raise Error("%s is %s, but the argument is %s" % (what, parameter.plain_type, type(argument).__name__))
            return ctypes.c_uint64(int(argument))
        if argument is None and takes_address:
            return ctypes.c_uint64(0)
        data = _memory.value_bytes(argument, what, parameter.nbytes, parameter.type, parameter.plain_type,
                                   _signature.has_sign(parameter.signature))
        return (ctypes.c_char * max(len(data), 8)).from_buffer_copy(data.ljust(8, b"\0"))

    def _buffer_of(self, passed, parameter, copies):
        """Returns a buffer for an array. If several arguments of a launch are the same array, they share one buffer."""
        for at, (buffer, array) in enumerate(copies):
            if buffer.source is passed.array:
                if passed.copies_in and not buffer.filled:
                    buffer.write(passed.array)
                    buffer.filled = True
                if passed.copies_out and array is None:
                    copies[at] = (buffer, passed.array)
                return buffer
        buffer = self.module.machine.buffer(shape=passed.array.shape, dtype=passed.array.dtype, 
                                            name=parameter.name or "argument %d" % (parameter.index + 1))
        buffer.source, buffer.filled, buffer.must_stay = passed.array, passed.copies_in, passed.must_stay
        buffer.use = "%s: %s" % (self.plain_name, parameter)
        if passed.copies_in:
            buffer.write(passed.array)
        copies.append((buffer, passed.array if passed.copies_out else None))
        return buffer
