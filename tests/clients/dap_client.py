# SPDX-License-Identifier: Apache-2.0
"""dap_client.py ADAPTER PAGE PORT PROGRAM SOURCE LINE [CONDITION]: runs a session of the debug adapter protocol, as an
editor does. It attaches with the first `attachCommands` in PAGE (with PORT in place of 4711), sets a breakpoint at
SOURCE:LINE, and continues until the end.

Prints a line for each stop: its reason, the name of its thread, function:line, and lid=VALUE with the value of variable lid.
Exits with status 1 if the adapter does not answer."""
import json
import queue
import re
import subprocess
import sys
import threading

SECONDS = 60


class Adapter:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.messages = queue.Queue()
        self.kept = []
        self.number = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Reads messages until the adapter ends. The last message may be incomplete."""
        data = self.process.stdout.read1()
        rest = b""
        while data:
            rest += data
            head = re.match(rb"Content-Length: (\d+)\r\n\r\n", rest)
            while head and len(rest) >= head.end() + int(head.group(1)):
                end = head.end() + int(head.group(1))
                self.messages.put(json.loads(rest[head.end():end]))
                rest = rest[end:]
                head = re.match(rb"Content-Length: (\d+)\r\n\r\n", rest)
            data = self.process.stdout.read1()
        self.messages.put(None)

    def wait(self, wanted):
        """Returns the first message for which wanted() is true. Other messages are stored for later calls."""
        for i, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(i)
        while True:
            try:
                message = self.messages.get(timeout=SECONDS)
            except queue.Empty:
                message = None
            if message is None:
                sys.exit("no answer; last: %s" % self.kept[-3:])
            if wanted(message):
                return message
            self.kept.append(message)

    def send(self, command, **arguments):
        self.number += 1
        body = json.dumps({"seq": self.number, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.number

    def reply(self, number):
        message = self.wait(lambda m: m["type"] == "response" and m["request_seq"] == number)
        if not message["success"]:
            sys.exit("%s: %s" % (message["command"], message.get("message")))
        return message.get("body", {})

    def ask(self, command, **arguments):
        return self.reply(self.send(command, **arguments))

    def event(self, *names):
        return self.wait(lambda m: m["type"] == "event" and m["event"] in names)


def attach_commands(page, port):
    with open(page, encoding="utf-8") as f:
        commands = json.loads(re.search(r'"attachCommands": (\[.*?\])', f.read(), re.S).group(1))
    return [c.replace("4711", port) for c in commands]


def show(adapter, stop):
    thread = stop["body"]["threadId"]
    names = {t["id"]: t["name"] for t in adapter.ask("threads")["threads"]}
    frame = adapter.ask("stackTrace", threadId=thread, startFrame=0, levels=20)["stackFrames"][0]
    scope = adapter.ask("scopes", frameId=frame["id"])["scopes"][0]
    values = {v["name"]: v["value"] for v in adapter.ask("variables", variablesReference=scope["variablesReference"])["variables"]}
    print(stop["body"].get("reason", "no reason"), names.get(thread), "%s:%d" % (frame["name"], frame["line"]), "lid=%s" % values.get("lid"), flush=True)
    adapter.ask("continue", threadId=thread)


def main():
    program, page, port, binary, source, line = sys.argv[1:7]
    adapter = Adapter(program)
    adapter.ask("initialize", adapterID="lldb-dap", clientID="test", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
    attach = adapter.send("attach", program=binary, attachCommands=attach_commands(page, port))
    first = adapter.wait(lambda m: m.get("event") == "initialized" or m.get("command") == "attach")
    if first["type"] == "response" and not first["success"]:
        sys.exit("attach: %s" % first.get("message"))
    point = {"line": int(line)}
    if len(sys.argv) > 7:
        point["condition"] = sys.argv[7]
    adapter.ask("setBreakpoints", source={"path": source}, breakpoints=[point])
    adapter.ask("setExceptionBreakpoints", filters=[])
    adapter.ask("configurationDone")
    adapter.ask("threads")  # as editors do. lldb-dap 22 answers the first request with the state that it read when it attached
    if first["type"] == "event":
        adapter.reply(attach)
    while True:
        event = adapter.event("stopped", "exited", "terminated")
        if event["event"] != "stopped":
            break
        show(adapter, event)
    print(event["event"])
    adapter.send("disconnect")
    try:
        adapter.process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        adapter.process.kill()
        sys.exit("the adapter does not end")


main()
