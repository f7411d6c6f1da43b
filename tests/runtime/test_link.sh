#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests what lanewise cc -rdc=true links: device code of a program, and that of each shared library, with explicit instantiations.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/link
right() { # usage: right PROGRAM [ARGUMENT...]. Runs it and expects right results
    "$@" >out 2>err && grep -q '^all right$' out || { fail "$*: wrong results"; cat out err; }
}
build() { # usage: build OUTPUT ARGUMENT... Builds a program or library with $clang
    output=$1
    shift
    "$lanewise" cc --compiler $clang -rdc=true -std=c++17 "$@" -o "$output" >log 2>&1 || { fail "$clang: $output is not built"; cat log; }
}
# The device code of a program and of its libraries has the same names. The libraries are linked, or opened and closed.
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || { fail "$clang is not installed"; continue; }
    set -- "$src/domain.cu" "$src/domain_number.cu"
    build liblinked.so -shared -Xcompiler -fPIC -DFACTOR=2 -DFUNCTION=run_linked "$@"
    build opened3.so -shared -Xcompiler -fPIC -DFACTOR=3 -DFUNCTION=run_opened "$@"
    build opened4.so -shared -Xcompiler -fPIC -DFACTOR=4 -DFUNCTION=run_opened "$@"
    build domains -DPROGRAM -DFACTOR=1 -DFUNCTION=run "$@" -Xlinker -rpath -Xlinker "$scratch" ./liblinked.so -ldl
    right ./domains ./opened3.so ./opened4.so
    # A library is incomplete without the device function of its second file, although the program has one of this name.
    "$lanewise" cc --compiler $clang -rdc=true -shared -Xcompiler -fPIC -DFACTOR=2 -DFUNCTION=run_linked "$1" -o incomplete.so >log 2>&1 &&
        fail "$clang: a shared library without domain_number.cu is linked"
    grep -q 'number(int) \[clone \.device\]' log || { fail "$clang: the linker does not name the missing device function"; cat log; }
done
# A shared library exports a kernel only if an attribute requests it.
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    build libexported.so -shared -Xcompiler -fPIC "$src/exported.cu"
    build exported -DPROGRAM "$src/exported.cu" -Xlinker -rpath -Xlinker "$scratch" ./libexported.so
    [ ! -s log ] || { fail "$clang: exported.cu causes messages"; cat log; }
    right ./exported
done
# Explicit instantiations of templates that only the other file uses, also in an archive.
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    build instances "$src/instances.cu" "$src/users.cu"
    right ./instances
    build instances.o -c -G "$src/instances.cu"
    rm -f library.a && ar rcs library.a instances.o && build archived "$src/users.cu" library.a
    right ./archived
done
# A finding names the inlined calls and the variables of the file that is linked second, as of the first.
cat >call.cu <<'END'
__global__ void past(int *p, int n);
int main()
{
    int *p;
    cudaMalloc(&p, 64);
    past<<<1, 1>>>(p, 100);
    return cudaDeviceSynchronize() != cudaSuccess;
}
END
cat >past.cu <<'END'
static __device__ __forceinline__ void deep(int *q, int v)
{
    q[1000] = v;
}
static __device__ __forceinline__ void outer(int *p, int n)
{
    deep(p + n, n);
}
__global__ void past(int *p, int n)
{
    outer(p, n);
}
END
for options in "--compiler clang-14 -O2" "--compiler clang-19 -O2" "--compiler clang-19 -G" "--compiler nvcc -G" "--compiler nvcc -lineinfo"; do
    case $options in *nvcc*) command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || continue ;; esac
    # shellcheck disable=SC2086
    "$lanewise" cc $options -rdc=true call.cu past.cu -o past >log 2>&1 || { fail "$options: past.cu does not compile"; cat log; continue; }
    "$lanewise" app ./past >out 2>err
    grep -q 'past.cu:3: out-of-bounds: .*; in deep, inlined at past.cu:7, in outer, inlined at past.cu:11; kernel past' err ||
        { fail "$options: the finding does not name the inlined calls"; cat err; }
    case $options in *-lineinfo*) continue ;; esac # this has no variables
    grep -q 'lane 0: v = 100, .*n = 100' err || { fail "$options: the finding does not show the variables"; cat err; }
done
exit $failed
