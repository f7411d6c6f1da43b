#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the Python package with the library of this build: its tests by pytest, its installation by pip in a new virtual
# environment, and the session of docs/howto/python.md. Exit status 77 means that Python, numpy or pytest is missing.
set -u
src=$(cd "${srcdir:-.}" && pwd)
build=$(pwd)
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() { echo "FAIL: $*"; bad=1; }

# Uses the first Python that has the packages: the Python on PATH may lack packages that Debian's Python has.
python=
for candidate in python3 /usr/bin/python3; do
    path=$(command -v $candidate) || continue
    "$path" -c 'import numpy, pytest' 2>/dev/null && { python=$path; break; }
done
[ -n "$python" ] || { echo "no Python with numpy and pytest (Debian packages python3-numpy, python3-pytest)"; exit 77; }
library=$build/liblanewise.so.0
if nm "$library" | grep -qE '__(asan|tsan|ubsan)_'; then
    echo "the library has sanitizers, so Python cannot load it"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 LANEWISE_LIBRARY="$library" LANEWISE_SOURCE="$src"
work=$tmp
. "$src/tests/lib/compile_once.sh"
cd "$tmp" || exit 99

# Tests that need clang are skipped if it is not installed.
PYTHONPATH=$src/python "$python" -X faulthandler -m pytest -q -p no:cacheprovider -o faulthandler_timeout=300 \
    --rootdir "$src/tests/host/python" "$src/tests/host/python" >out 2>&1 || { tail -n 60 out; fail "pytest fails"; }
tail -n 1 out

# The installed package must find the library in $LANEWISE_LIBRARY. pip installs from a copy, because it writes to the source
# folder.
if "$python" -c 'import setuptools, wheel, pip' 2>/dev/null; then
    cp -R "$src/python" package && chmod -R u+w package
    "$python" -m venv --without-pip --system-site-packages env || fail "python -m venv fails"
    env/bin/python -m pip install -q --no-index --no-build-isolation --disable-pip-version-check ./package >log 2>&1 ||
        { cat log; fail "pip install fails"; }
    installed=$(env/bin/python -c 'import lanewise; print(lanewise.__file__, lanewise.version())')
    case $installed in
    "$tmp"/env/lib/*" 0."*) echo "installed: ${installed##* }" ;;
    *) fail "the package is not installed in the environment: $installed" ;;
    esac
    interpreter=$tmp/env/bin/python
else
    echo "pip, setuptools or wheel is not installed: the installation is not tested"
    export PYTHONPATH="$src/python"
    interpreter=$python
fi

# The code blocks of the page form one program. Comments in it state the output.
sed -n '/^```python$/,/^```$/p' "$src/docs/howto/python.md" | grep -v '^```' >session.py
[ -s session.py ] || fail "docs/howto/python.md has no code"
if "$interpreter" session.py >said 2>err; then
    sed -n 's/^ *print(.*# //p' session.py >expected
    [ -s expected ] || fail "docs/howto/python.md has no comments with output"
    diff expected said || fail "docs/howto/python.md: the output (>) differs from the comments (<)"
elif grep -qE 'no clang found|install the Debian package' err; then
    echo "clang is not installed: the session of docs/howto/python.md is not tested"
else
    cat err
    fail "docs/howto/python.md"
fi
exit $bad
