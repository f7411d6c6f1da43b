# SPDX-License-Identifier: Apache-2.0
"""Runs the shell, gdb and lldb as child processes that execute one command at a time.

An answer consists of the text that the command printed, the position of the program after it, and the values of variables.
"""
import json
import os
import re
import select
import subprocess
import time

END = "@@end"


class Gone(Exception):
    """Raised if the child process has ended, or does not answer."""


class Answer:
    """An answer.

    text    the output of the command
    where   "block warp lane pc active retired", "none", or the client's text about a warp that has ended
    values  maps the name of a variable to its value
    thread  for gdb and lldb: (thread number, block and warp in the registers of the thread)
    """

    def __init__(self, text):
        said, _, state = text.partition("@@state\n")
        where = re.search(r"^@S (.*)$", state, re.M)
        thread = re.search(r"^@T (\d+) (\d+) (\d+)$", state, re.M)
        self.text = said
        self.where = where.group(1) if where else "none"
        self.values = dict(re.findall(r"^@V (\w+) (.*)$", state, re.M))
        self.thread = tuple(int(word) for word in thread.groups()) if thread else None


class Talk:
    """A child process that reads requests, one per line, and ends each answer with a marker line."""

    def __init__(self, command, timeout, requests=None):
        if requests is not None:
            if os.path.exists(requests):
                os.unlink(requests)
            os.mkfifo(requests)
        self.timeout, self.everything, self.rest = timeout, "", b""
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL if requests else subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pipe = self.child.stdin
        if requests is not None:
            # The pipe is opened for reading and writing, so that open() does not wait for the child, and the pipe remains open
            # after the child has ended.
            self.pipe = os.fdopen(os.open(requests, os.O_RDWR), "wb")

    def read(self, word=END):
        """Returns the text before the first line that is equal to @word."""
        until = time.monotonic() + self.timeout
        mark = ("\n" + word + "\n").encode()
        text = b"\n" + self.rest
        while mark not in text:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                self.everything += text.decode(errors="replace")
                raise Gone(f"no answer in {self.timeout} s")
            more = os.read(self.child.stdout.fileno(), 1 << 16)
            if not more:
                self.everything += text.decode(errors="replace")
                raise Gone("it has ended")
            text += more
        text, _, self.rest = text.partition(mark)
        text = text[1:].decode(errors="replace") + "\n"
        self.everything += text
        return text

    def send(self, line):
        try:
            self.pipe.write(line.encode() + b"\n")
            self.pipe.flush()
        except BrokenPipeError as error:
            raise Gone("it has ended") from error

    def close(self):
        self.child.kill()
        try:
            self.pipe.close()
        except BrokenPipeError:
            pass
        self.child.stdout.close()
        self.child.wait()


class Shell(Talk):
    """`lanewise debug`."""

    def __init__(self, lanewise, launch, timeout, variables):
        super().__init__([lanewise, "debug", launch], timeout)
        self.variables = variables
        self.commands = []

    def do(self, command, values=False):
        self.commands.append(command)
        names = self.variables if values else []
        for line in [command, "echo @@state", "echo @S {$block} {$warp} {$lane} {/x $pc} {/x $active} {$retired}",
                     *[f"echo @V {name} {{{name}}}" for name in names], "echo " + END]:
            self.send(line)
        return Answer(self.read())


# ---- gdb ----------------------------------------------------------------------------------------

GDB_DRIVER = r'''
import gdb, json
def run(text):
    try:
        gdb.execute(text)
    except gdb.error as e:
        print("error:", e)
    except KeyboardInterrupt:
        print("error: interrupted")
def value(text):
    try:
        return int(gdb.parse_and_eval(text))
    except gdb.error as e:
        return None
def here(variables):
    try:
        t = gdb.selected_thread()
        if t is None or not t.is_valid():
            return
        named = t.ptid[1] or t.ptid[2]
        print("@S %d %d %d %#x %#x %d" % tuple(value(x) for x in
              ("$block.x", "$warp", "$lane", "$pc", "$active", "$retired")))
        print("@T %d %d %d" % (named, value("$block.x"), value("$warp")))
    except (gdb.error, TypeError) as e:
        print("@E", e)
        return
    for name in variables:
        try:
            print("@V", name, gdb.parse_and_eval(name).format_string())
        except gdb.error as e:
            print("@V", name, "error:", e)
def go(number):
    for t in gdb.selected_inferior().threads():
        if (t.ptid[1] or t.ptid[2]) == number:
            run("thread %d" % t.num)
            return
    print("error: no thread", number)
def serve(path):
    with open(path) as requests:
        for line in requests:
            request = json.loads(line)
            if request["go"]:
                go(request["go"])
            else:
                run(request["run"])
            print("@@state")
            here(request["values"])
            print("@@end")
            gdb.flush(gdb.STDOUT)
serve(PATH)
'''


class Client(Talk):
    """A debugger that executes one of the driver scripts in this file, which reads requests from a named pipe."""

    def __init__(self, command, timeout, folder, variables, server=None):
        super().__init__(command, timeout, requests_path(folder))
        self.variables, self.server = variables, server

    def do(self, command, go=0):
        self.send(json.dumps({"run": command, "go": go, "values": self.variables}))
        return Answer(self.read())

    def close(self):
        super().close()
        if self.server is not None:
            self.server.kill()
            self.server.communicate()


def requests_path(folder):
    return os.path.join(folder, "requests")


def gdb_client(args, program, folder, plain, packets):
    script = os.path.join(folder, "session.py")
    with open(script, "w") as file:
        file.write(GDB_DRIVER.replace("PATH", repr(requests_path(folder))))
    if os.path.exists(packets):
        os.unlink(packets)
    begin = ["-iex", f"set remotelogfile {packets}", "-iex", "set confirm off",
             "-iex", "set breakpoint pending off"]
    if not plain:
        return Client([args.lanewise, "gdb", program.path, "--gdb-program", args.gdb, "--",
                       "-batch", *begin, "-x", script], args.timeout, folder, program.variables)
    server, port = serve(args, program)
    return Client([args.gdb, "-nx", "-q", "-batch", *begin, "-ex", f"target remote :{port}", "-x", script],
                  args.timeout, folder, program.variables, server)


# ---- lldb ---------------------------------------------------------------------------------------

LLDB_DRIVER = r'''
import json, lldb, sys
def run(debugger, text):
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(text, result)
    print((result.GetOutput() or "") + (result.GetError() or ""))
    # In synchronous mode the step commands select their thread again after lldb has shown the thread that stopped.
    process = debugger.GetSelectedTarget().GetProcess()
    if text.startswith("thread step") and process.GetSelectedThread().GetStopReason() == lldb.eStopReasonNone:
        for thread in process:
            if thread.GetStopReason() == lldb.eStopReasonBreakpoint:
                process.SetSelectedThread(thread)
def here(debugger, variables):
    process = debugger.GetSelectedTarget().GetProcess()
    if process.GetState() != lldb.eStateStopped:
        return
    thread = process.GetSelectedThread()
    frame = thread.GetFrameAtIndex(0)
    if "(" not in (thread.GetName() or ""):  # a warp that has ended has only a pc
        print("@S %s %#x" % (thread.GetName(), frame.GetPC()))
        return
    register = lambda name: frame.FindRegister(name).GetValueAsUnsigned()
    block = int(thread.GetName().split("(")[1].split(",")[0])
    print("@S %d %d %d %#x %#x %d" % (block, register("warp"), register("lane"),
                                      frame.GetPC(), register("active"), register("retired")))
    print("@T %d %d %d" % (thread.GetThreadID(), block, register("warp")))
    for name in variables:
        value = frame.FindVariable(name)
        text = value.GetValue() if value.IsValid() and value.GetError().Success() else None
        print("@V", name, text if text is not None else "error: none")
def __lldb_init_module(debugger, names):
    debugger.SetAsync(False)
    run(debugger, "settings set target.skip-prologue false")
    run(debugger, "log enable -f " + PACKETS + " gdb-remote packets")
    run(debugger, "gdb-remote PORT")
    with open(PATH) as requests:
        for line in requests:
            request = json.loads(line)
            process = debugger.GetSelectedTarget().GetProcess()
            if not request["go"]:
                run(debugger, request["run"])
            elif process.GetThreadByID(request["go"]).IsValid():
                process.SetSelectedThreadByID(request["go"])
            else:  # lldb would select the first thread
                print("error: no thread", request["go"])
            print("@@state")
            here(debugger, request["values"])
            print("@@end")
            sys.stdout.flush()
'''


def lldb_client(args, program, folder, packets):
    server, port = serve(args, program)
    script = os.path.join(folder, "lldb_session.py")
    with open(script, "w") as file:
        file.write(LLDB_DRIVER.replace("PORT", port).replace("PATH", repr(requests_path(folder))).replace("PACKETS", repr(packets)))
    return Client([args.lldb, "-X", "-x", "-b", "-o", f"command script import {script}"], args.timeout, folder,
                  program.variables, server)


def serve(args, program):
    server = subprocess.Popen([args.lanewise, "run", program.path, "--gdb", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = server.stdout.readline()
    return server, re.search(r":(\d+)$", line.strip()).group(1)
