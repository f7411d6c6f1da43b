# SPDX-License-Identifier: Apache-2.0
"""Finds and loads liblanewise.so.0."""
import ctypes
import os
import shutil
import subprocess
import sys
import threading

from . import _abi
from ._errors import LibraryError

NAME = "liblanewise.so.0"
_lock = threading.Lock()
_loaded = None


def _from_pkg_config(tried):
    """Returns the library folder of the package lanewise by pkg-config, or None. Adds the reason for None to `tried`."""
    try:
        done = subprocess.run(["pkg-config", "--variable=libdir", "lanewise"], capture_output=True, text=True, check=False)
    except OSError:
        tried.append("pkg-config (not installed)")
        return None
    folder = done.stdout.strip()
    if done.returncode != 0 or not folder:
        tried.append("pkg-config (no package lanewise)")
        return None
    return folder


def _folders(tried):
    """Yields (description, folder) for each folder to search, in order. The description says why the folder is searched."""
    here = os.path.dirname(os.path.abspath(__file__))
    prefixes = [("the prefix of Python", sys.prefix)]
    if here.endswith(os.path.join("share", "lanewise", "python", "lanewise")):  # where `make install` copies the package
        prefixes.insert(0, ("the prefix of the package", os.path.abspath(os.path.join(here, *[".."] * 4))))
    program = shutil.which("lanewise")
    if program:
        program = os.path.dirname(os.path.realpath(program))
        prefixes.append(("the prefix of the program lanewise", os.path.dirname(program)))
    for what, prefix in prefixes:
        yield what, os.path.join(prefix, "lib")
        multiarch = getattr(sys.implementation, "_multiarch", None)
        if multiarch:
            yield what, os.path.join(prefix, "lib", multiarch)
    folder = _from_pkg_config(tried)
    if folder:
        yield "pkg-config", folder
    if program:
        yield "the folder of the program lanewise", program
    source = os.path.dirname(os.path.dirname(here))
    if os.path.exists(os.path.join(source, "host", "lanewise.h")):  # the package is used in the source tree
        for build in (".", "build", "build-test"):
            yield "the build tree", os.path.normpath(os.path.join(source, build))
    yield "the current folder", os.getcwd()


def find():
    """Returns the path of the library. If $LANEWISE_LIBRARY is set, it is this file, or the library in this folder. Otherwise
    it is the first library found in an installed prefix, by pkg-config, next to the program lanewise, in the build tree, or in
    the current folder.

    If the library is in none of these folders, but the system's loader finds it, the result is its name without a folder.
    """
    named = os.environ.get("LANEWISE_LIBRARY")
    if named:
        if not os.path.exists(named):
            raise LibraryError("LANEWISE_LIBRARY names %s, which does not exist: name the file %s" % (named, NAME))
        return os.path.join(named, NAME) if os.path.isdir(named) else named
    tried = ["LANEWISE_LIBRARY (not set)"]
    for what, folder in _folders(tried):
        path = os.path.join(folder, NAME)
        if os.path.exists(path):
            return path
        tried.append("%s (%s)" % (folder, what))
    try:
        ctypes.CDLL(NAME)
        return NAME
    except OSError:
        tried.append("the system's loader")
    raise LibraryError("%s was not found: install Lanewise, or name the file in LANEWISE_LIBRARY; tried: %s"
                       % (NAME, ", ".join(dict.fromkeys(tried))))


def library():
    """Returns the loaded library, a ctypes.CDLL with the functions of lanewise.h and their types. The first call loads it."""
    global _loaded
    with _lock:
        if _loaded is None:
            path = find()
            try:
                loaded = ctypes.CDLL(path)
            except OSError as error:
                raise LibraryError("%s cannot be loaded: %s" % (path, error)) from None
            missing = _abi.declare(loaded)
            if missing:
                raise LibraryError("%s lacks %s: install the Lanewise that this package belongs to"
                                   % (path, ", ".join(missing)))
            _loaded = loaded
        return _loaded
