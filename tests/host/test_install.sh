#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `make install`. Each file must be at its location. The C example must build against the installed library with the
# options of pkg-config, and the Python example must run. The library must export only the functions of lanewise.h.
set -u
here=$(pwd)
src=$(cd "${srcdir:-.}" && pwd)
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() { echo "FAIL: $*"; bad=1; }

# lanewise.pc contains the prefix of the Makefile, so pkg-config is called with the prefix of this installation.
${MAKE:-make} -s install DESTDIR="$tmp" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "make install fails"; }
pc=$(find "$tmp" -name lanewise.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
root=$tmp$prefix
for f in bin/lanewise include/lanewise.h share/man/man1/lanewise.1 \
    share/bash-completion/completions/lanewise.bash share/doc/lanewise/examples/saxpy.c \
    share/doc/lanewise/examples/saxpy.py share/lanewise/python/pyproject.toml; do
    [ -s "$root/$f" ] || fail "$prefix/$f is not installed"
done
for f in "$src"/python/lanewise/*.py; do
    cmp -s "$f" "$root/share/lanewise/python/lanewise/${f##*/}" || fail "${f#"$src"/} is not installed"
done
# All pages are installed, and their links to each other and to the examples are valid in the installed folder.
for page in "$src"/docs/*.md "$src"/docs/*/*.md; do
    name=${page#"$src"/docs/}
    [ -s "$root/share/doc/lanewise/$name" ] || fail "docs/$name is not installed"
    for link in $(sed 's/](/\n](/g' "$page" | sed -n 's/^](\([^):#]*\)[)#].*/\1/p'); do
        case $(realpath -m "$page/../$link") in "$src"/docs/*) ;; *) continue ;; esac
        [ -e "$root/share/doc/lanewise/$(dirname "$name")/$link" ] || fail "docs/$name links to $link, which is not installed"
    done
done
lib=$(dirname "$(find "$tmp" -name liblanewise.so.0)")
[ -e "$lib/liblanewise.so" ] || fail "liblanewise.so is not installed"

# The library exports exactly the functions of the header.
nm -D --defined-only "$lib/liblanewise.so.0" | sed -n 's/.* T //p' | sort >"$tmp/shown"
sed -n 's/^LANEWISE_API .*\(lanewise_[a-z_]*\)(.*/\1/p' "$root/include/lanewise.h" | sort >"$tmp/said"
[ -s "$tmp/said" ] || fail "no functions were found in lanewise.h"
grep -v '^_' "$tmp/shown" | diff "$tmp/said" - || fail "lanewise.h (<) and the library (>) differ"

pkg() { PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$tmp pkg-config "$@"; }
[ "$(pkg --modversion lanewise)" = "$("$root/bin/lanewise" version | sed 's/^lanewise //')" ] ||
    fail "lanewise.pc and the program have different versions"
if nm "$lib/liblanewise.so.0" | grep -q __asan_init; then
    echo "the library has sanitizers: programs that use it are not tested"
    exit $bad
fi
cc=${CC:-cc}
for standard in c99 gnu11; do
    # shellcheck disable=SC2046
    $cc -std=$standard -Wall -Wextra -Werror "$root/share/doc/lanewise/examples/saxpy.c" \
        $(pkg --cflags --libs lanewise) -o "$tmp/saxpy" || fail "saxpy.c does not compile as $standard"
done
# A program that is linked with -rpath finds the library without ldconfig, as docs/howto/use-from-c-or-python.md describes.
# shellcheck disable=SC2046
$cc "$root/share/doc/lanewise/examples/saxpy.c" $(pkg --cflags --libs lanewise) -Wl,-rpath,"$lib" -o "$tmp/own" &&
    env -u LD_LIBRARY_PATH ldd "$tmp/own" | grep -q "liblanewise.so.0 => $lib/" ||
        fail "a program linked with -rpath does not find the library"
case $(pkg --variable=libdir lanewise) in */lib | */lib/*) ;; *) fail "lanewise.pc has no libdir" ;; esac
echo '#include <lanewise.h>
int main() { lanewise_destroy(lanewise_create()); return 0; }' >"$tmp/plus.cc"
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2046
    c++ -Wall -Wextra -Werror "$tmp/plus.cc" $(pkg --cflags --libs lanewise) -o "$tmp/plus" &&
        LD_LIBRARY_PATH=$lib "$tmp/plus" || fail "the C++ program with lanewise.h does not compile or run"
fi
export LD_LIBRARY_PATH="$lib" LANEWISE_LIBRARY="$lib/liblanewise.so.0"
cd "$tmp" || exit 99
# The Python example needs numpy and the Python package, which is used from its installed folder.
export PYTHONPATH="$root/share/lanewise/python" PYTHONDONTWRITEBYTECODE=1
python=
for candidate in python3 /usr/bin/python3; do
    path=$(command -v $candidate) && "$path" -c 'import numpy' 2>/dev/null && { python=$path; break; }
done
[ -n "$python" ] || echo "there is no Python with numpy: saxpy.py is not tested"
for form in ./saxpy ${python:+"$python $root/share/doc/lanewise/examples/saxpy.py"}; do
    plain=$($form 2>&1)
    case $plain in
    "saxpy: 0 of 1000 elements are wrong; "[1-9]*" thread instructions") ;;
    *"no clang found"* | *"clang"*"install the Debian package"*) echo "clang is not installed: $form is not tested"; continue ;;
    *) fail "$form: unexpected output: $plain" ;;
    esac
    timed=$($form volta 2>&1)
    case $timed in
    "saxpy: 0 of 1000 elements are wrong; "[1-9]*" cycles") ;;
    *) fail "$form volta: unexpected output: $timed" ;;
    esac
    case $($form vloat 2>&1) in
    *vloat*) ;;
    *) fail "$form vloat: no message that the GPU model does not exist" ;;
    esac
    checked=$($form check 2>&1)
    case $?:$checked in
    1:*"saxpy.cu:"*": out-of-bounds in saxpy, block (7,0,0): global load of 4 bytes at "*"past the end of 'y' (3996 bytes at "*) ;;
    *) fail "$form check: unexpected output: $checked" ;;
    esac
    echo "$plain"; echo "$timed"
done | sort | uniq -c >"$tmp/lines"
cat "$tmp/lines"
# The C and the Python program print the same counts.
[ -z "$python" ] || ! grep -q wrong "$tmp/lines" || [ "$(grep -c '^ *2 saxpy: 0 of' "$tmp/lines")" = 2 ] ||
    fail "the C and the Python example print different counts"
grep -q FAIL "$tmp/lines" && bad=1
cd "$here" || exit 99
exit $bad
