# SPDX-License-Identifier: Apache-2.0
"""Exceptions that the package raises."""


class Error(RuntimeError):
    """Base class of all exceptions of this package. Error itself is raised if a call is refused; the call has changed nothing.

    message  message of the library
    """

    def __init__(self, message):
        super().__init__(message)
        self.message = message


class LibraryError(Error):
    """liblanewise.so.0 was not found, cannot be loaded, or lacks functions that this version of the package needs."""


class CompileError(Error):
    """A source could not be compiled, or a program could not be loaded.

    log  all output of the compiler; "" if there was no output
    """

    def __init__(self, message, log=""):
        super().__init__(message + ("\n" + log if log else ""))
        self.message = message
        self.log = log


class FaultError(Error):
    """A kernel faulted, for example by an out-of-bounds or misaligned access, or a trap. message is the whole report."""


class HangError(Error):
    """No thread can continue, or a limit was reached (timeout, max_instructions). message is the whole report."""


class WaitInterrupted(Error):
    """Machine.interrupt() has stopped the run. Another Machine.wait() continues the run."""


class KilledError(Error):
    """The user of gdb has killed the program (see Machine.gdb())."""


class FindingError(Error):
    """Checks have reported findings that no earlier Machine.wait() returned or raised.

    findings  these findings, a list of Finding
    """

    def __init__(self, findings):
        more = len(findings) - 1
        super().__init__("%s%s" % (findings[0], "; and %d more finding%s" % (more, "s" if more > 1 else "") if more else ""))
        self.findings = findings
