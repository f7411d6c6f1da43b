# SPDX-License-Identifier: Apache-2.0
"""Runs the terminal sessions that pages and pictures of the documentation show, and compares their output.

run_block(text, directory, environment) executes the commands of a console block, and returns the block with the current
output. Text that differs between runs (times, the directory) is replaced by a fixed text. The block has the lines:

    $ command              sh executes the command
    (gdb) command          the program that the last $ line started must show this prompt, and gets the command as input
    (lanewise) command     the same
    any other line         output of the last command
"""
import difflib, os, pty, re, select, signal, struct, subprocess, sys, termios, time
import fcntl

PROMPT = re.compile(r"^(\((?:gdb|lanewise)\b[^)]*\)) ?(.*)$")
AT_PROMPT = re.compile(r"(?:^|\n)(\((?:gdb|lanewise)\b[^)\n]*\)) $")
# Lines that are removed from the output: gdb prints them about itself and the connection, not about the kernel.
NOISE = re.compile(r"^(?:warning: File transfers from remote|Use \"set sysroot\"|Reading .* from remote target"
                   r"|Source directories searched|\[Inferior 1 .* detached\]|  Id   Target Id|\[Switching to Thread"
                   r"|Remote debugging using|Reading symbols from |Continuing\.$|0x[0-9a-f]+ in \?\? \(\)$)")


class Terminal:
    """A program that runs on a terminal of 400 columns. read_to_prompt() returns the output up to the next prompt."""

    def __init__(self, command, directory, environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execve("/bin/sh", ["sh", "-c", "exec " + command], environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, 400, 0, 0))
        self.ended = False

    def read_to_prompt(self, seconds=120):
        text, end = "", time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("no prompt after %d s: %s" % (seconds, text[-500:]))
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the program has closed the terminal
                data = b""
            if not data:
                self.ended = True
                return plain(text)
            text += data.decode("utf-8", "replace")
            at_prompt = AT_PROMPT.search(plain(text))
            if at_prompt:
                self.prompt = at_prompt.group(1)
                return plain(text)[:at_prompt.start(1)]

    def type(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def close(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGHUP)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def plain(text):
    """Returns the text without escape sequences and carriage returns."""
    text = re.sub(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|[=>])", "", text)
    return text.replace("\r", "").replace("\a", "")


def same(text, directory):
    """Returns the lines of the text without empty lines, lines in NOISE, and the directory; replaces times by 0.00 s."""
    text = text.replace(os.path.realpath(directory) + "/", "").replace(directory + "/", "")
    text = re.sub(r"\b\d+\.\d+ s\b", "0.00 s", text)
    lines = [line.rstrip() for line in text.split("\n")]
    return [line for line in lines if line and not NOISE.match(line)]


def run_block(text, directory, environment):
    out, waiting = [], []
    lines = text.split("\n")
    commands = [l for l in lines if l.startswith("$ ") or PROMPT.match(l)]
    terminal = None
    for number, line in enumerate(commands):
        if line.startswith("$ "):
            if terminal:
                terminal.close()
                terminal = None
            out.append(line)
            following = commands[number + 1] if number + 1 < len(commands) else "$ "
            if following.startswith("$ "):
                done = subprocess.run(["sh", "-c", line[2:]], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
                out += same(done.stdout.decode("utf-8", "replace"), directory)
            else:
                terminal = Terminal(line[2:], directory, environment)
                out += same(terminal.read_to_prompt(), directory)
        else:
            typed = PROMPT.match(line).group(2)
            if terminal is None or terminal.ended:
                raise RuntimeError("the program has ended before: %s; its output ends with: %s" % (line, "\n".join(out)[-500:]))
            out.append(terminal.prompt + " " + typed)
            terminal.type(typed)
            if typed == "quit":  # gdb may ask for confirmation, so no prompt follows
                terminal.close()
                terminal = None
                continue
            answer = terminal.read_to_prompt()
            answer = answer[len(typed):] if answer.startswith(typed) else answer  # removes the echo
            out += same(answer, directory)
    if terminal:
        terminal.close()
    return "\n".join(out) + "\n"


def environment_for(lanewise):
    """Returns environment variables with which the command `lanewise` is the file @lanewise, the terminal is plain, and
    no configuration of the user is read."""
    folder = os.path.dirname(os.path.abspath(lanewise))
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LANEWISE", "INPUTRC"))}
    environment.update(PATH=folder + ":" + os.environ.get("PATH", ""), TERM="dumb", LC_ALL="C.UTF-8", HOME="/nonexistent",
                       INPUTRC="/dev/null", DEBUGINFOD_URLS="", PAGER="cat")
    return environment


def fits(said, line):
    """Returns True if the output line @said matches @line of a page, in which "..." matches any text."""
    return re.fullmatch(".*".join(re.escape(part) for part in line.split("...")), said) is not None


def merge(page, today):
    """Returns the current output, in which each line that matches a line of the page is replaced by the page's line. A line
    "..." of the page matches all output lines up to the one that matches the page's next line."""
    out, at = [], 0
    for line in today:
        if at < len(page) and page[at] == "...":
            command = line.startswith("$ ") or PROMPT.match(line)
            if not command and not (at + 1 < len(page) and fits(line, page[at + 1])):
                if not (out and out[-1] == "..."):
                    out.append("...")
                continue
            at += 1
        if at < len(page) and fits(line, page[at]):
            out.append(page[at])
            at += 1
        else:
            out.append(line)
            while at < len(page) and not (page[at].startswith("$ ") or PROMPT.match(page[at])) \
                    and (line.startswith("$ ") or PROMPT.match(line)):
                at += 1  # skips the page's output of the previous command
            if at < len(page) and (line.startswith("$ ") or PROMPT.match(line)):
                at += 1
    return out


def check_page(name, source, directory, environment, update=False):
    """Runs the console blocks of a Markdown page, in order, in one directory, and compares their output with the page. Also
    checks that a code block after a comment <!-- FILE --> is part of this file. Returns the differences as lines of text.
    With @update, writes the current output to the page."""
    page = open(name).read()
    differences = []

    def console(found):
        try:
            today = run_block(found.group(2), directory, environment).rstrip("\n").split("\n")
        except RuntimeError as error:  # differences in blocks before this one may show the reason
            differences.append("%s: %s" % (name, error))
            return found.group(0)
        lines = [l for l in found.group(2).rstrip("\n").split("\n")]
        merged = merge(lines, today)
        if merged != lines:
            differences.extend("%s: %s" % (name, l) for l in difflib.unified_diff(lines, merged, "page", "today", lineterm=""))
        return found.group(1) + "\n".join(merged) + "\n" + found.group(3)

    for file, text in re.findall(r"^<!-- ([\w./-]+) -->\n```\w*\n(.*?)^```$", page, re.M | re.S):
        if text not in open(os.path.join(source, file)).read():
            differences.append("%s: the block after <!-- %s --> is not part of this file" % (name, file))
    renewed = re.sub(r"(^```console\n)(.*?)(^```$)", console, page, flags=re.M | re.S)
    if "```console" not in page:
        differences.append(name + ": the page has no console block")
    if update:
        open(name, "w").write(renewed)
    return differences


if __name__ == "__main__":
    # usage: session.py LANEWISE SOURCE DIRECTORY [--update] PAGE... . Runs the console blocks of the pages in DIRECTORY with the
    # program LANEWISE. If the output differs from a page, prints the differences and ends with status 1. SOURCE is the root of
    # the source tree
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    said = [d for page in arguments[3:] for d in check_page(page, arguments[1], arguments[2], environment_for(arguments[0]),
                                                            "--update" in sys.argv)]
    print("\n".join(said) if said else "ok: " + " ".join(os.path.basename(p) for p in arguments[3:]))
    sys.exit(1 if said else 0)
