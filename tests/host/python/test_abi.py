# SPDX-License-Identifier: Apache-2.0
"""Compares the tables of lanewise/_abi.py with lanewise.h by a C compiler: sizes, offsets, types and values must be equal."""
import ctypes
import os
import re
import subprocess

import pytest

from lanewise import _abi

SOURCE = os.environ["LANEWISE_SOURCE"]
COMPILER = os.environ.get("CC", "cc").split()


def compiled(text, *options):
    """Compiles a program that includes the header. Returns the output of the compiler, and True if it succeeded."""
    done = subprocess.run(COMPILER + ["-std=gnu11", "-Werror", "-I" + SOURCE, "-x", "c", "-", *options],
                          input='#include "host/lanewise.h"\n' + text, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode == 0


def assert_all(conditions):
    """Lets the compiler check each condition. Its messages name the conditions that are false."""
    text = "".join('_Static_assert(%s, "%s");\n' % (c, c.replace("\\", "\\\\").replace('"', '\\"')) for c in conditions)
    output, good = compiled(text, "-fsyntax-only")
    assert good, output


@pytest.fixture(scope="module")
def header():
    """Returns the preprocessed header, without the lines of other headers."""
    output, good = compiled("", "-E")
    assert good, output
    kept, inside = [], False
    for line in output.splitlines():
        if line.startswith("# "):
            inside = line.split('"')[1].endswith("host/lanewise.h")
        elif inside:
            kept.append(line)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)\)", "", " ".join(kept))


def test_the_table_has_every_function_of_the_header(header):
    declared = set(re.findall(r"\b(lanewise_\w+)\s*\((?=[^;{}]*\)\s*;)", header))
    assert len(declared) > 40
    assert declared == set(_abi.FUNCTIONS)


def test_functions_have_the_types_of_the_header():
    def pointer(result, parameters):
        made = [p if "(*)" not in p else p for p in parameters]
        return "%s(%s)" % (result, ", ".join(made) or "void")

    assert_all("__builtin_types_compatible_p(__typeof__(%s), %s)" % (name, pointer(result, parameters))
               for name, (result, parameters) in _abi.FUNCTIONS.items())


def test_functions_are_called_with_as_many_arguments_as_the_table_has():
    for name, (_, parameters) in _abi.FUNCTIONS.items():
        output, good = compiled("void f(void) { (void)%s(%s); }\n" % (name, ", ".join(["0"] * (len(parameters) + 1))), "-fsyntax-only")
        assert not good and "too many arguments" in output, name


def test_the_table_has_every_structure_of_the_header(header):
    assert set(re.findall(r"struct\s+(lanewise_\w+)\s*\{", header)) == set(_abi.STRUCTURES)


@pytest.mark.parametrize("name", list(_abi.STRUCTURES))
def test_structures_have_the_members_of_the_header(name, header):
    body = re.search(r"struct\s+%s\s*\{(.*?)\}" % name, header, re.S).group(1)
    members = []
    for declaration in filter(None, (d.strip() for d in body.split(";"))):
        function = re.search(r"\(\*(\w+)\)", declaration)
        members += [function.group(1)] if function else [
            re.search(r"(\w+)\s*(\[\w+\])?\s*$", part).group(1) for part in declaration.split(",")]
    assert members == [member for member, _ in _abi.STRUCTURES[name]]


@pytest.mark.parametrize("name", list(_abi.STRUCTURES))
def test_structures_have_the_layout_of_the_header(name):
    made = _abi.TYPES[name]
    conditions = ["sizeof(%s) == %d" % (name, ctypes.sizeof(made))]
    for member, c in _abi.STRUCTURES[name]:
        field = getattr(made, member)
        conditions += ["offsetof(%s, %s) == %d" % (name, member, field.offset),
                       "sizeof(((%s *)0)->%s) == %d" % (name, member, field.size),
                       "__builtin_types_compatible_p(__typeof__(((%s *)0)->%s), %s)" % (name, member, c)]
    assert_all(conditions)


def test_types_of_ctypes_have_the_sizes_of_the_types_in_c():
    assert_all("sizeof(%s) == %d" % (c, ctypes.sizeof(made)) for c, made in _abi.TYPES.items() if made is not None)


def test_the_table_has_every_enumerator_with_its_value(header):
    named = set()
    for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", header, re.S):
        named |= set(re.findall(r"\b(LANEWISE_\w+)", body))
    assert named == set(_abi.ENUMERATORS)
    assert_all("%s == %d" % pair for pair in _abi.ENUMERATORS.items())


def test_a_changed_table_is_found():
    """Tests the comparison itself: it must fail if a value differs."""
    for wrong in ("sizeof(lanewise_shape) == 40", "__builtin_types_compatible_p(__typeof__(lanewise_wait), int(void))",
                  "LANEWISE_FAULT == 4"):
        output, good = compiled('_Static_assert(%s, "differs");\n' % wrong, "-fsyntax-only")
        assert not good and "differs" in output
