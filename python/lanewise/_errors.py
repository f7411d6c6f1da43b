# SPDX-License-Identifier: Apache-2.0
"""Exceptions."""


class Error(RuntimeError):
    """Base of all exceptions of this package. A refused call raises an Error, and has changed nothing.

    message  the library's message
    """

    def __init__(self, message):
        super().__init__(message)
        self.message = message


class LibraryError(Error):
    """liblanewise.so.0 was not found, or has another version."""


class CompileError(Error):
    """A source was not compiled, or a program was not loaded.

    log  all output of the compiler; "" if there was no output
    """

    def __init__(self, message, log=""):
        super().__init__(message + ("\n" + log if log else ""))
        self.message = message
        self.log = log


class FaultError(Error):
    """A kernel faulted: an access out of bounds or misaligned, or a trap. message is the whole report."""


class HangError(Error):
    """No thread can continue, or a limit was reached (timeout, max_instructions). message is the whole report."""


class WaitInterrupted(Error):
    """Machine.interrupt() has stopped Machine.wait(), which may be called again."""


class KilledError(Error):
    """The debugger of Machine.gdb() has killed the program."""


class FindingError(Error):
    """Checks have new findings.

    findings  the new findings, a list of Finding
    """

    def __init__(self, findings):
        more = len(findings) - 1
        super().__init__("%s%s" % (findings[0], "; and %d more finding%s" % (more, "s" if more > 1 else "") if more else ""))
        self.findings = findings
