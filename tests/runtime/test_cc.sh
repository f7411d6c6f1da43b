#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests lanewise cc, which builds programs of several files with clang (without an SDK), and with nvcc if it is installed. It must
# refuse wrong usage.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/cc
right() { # usage: right PROGRAM [OPTION]. Runs it alone and under lanewise app, and expects right results
    LANEWISE_OPTIONS=${2-} "./$1" >out 2>err || { fail "$1 ends with exit status $?"; cat out err; }
    grep -q '^all right$' out || { fail "$1: wrong results"; cat out; }
    "$lanewise" app ${2:+"$2"} --stats - "./$1" >out 2>err || fail "lanewise app $1 ends with exit status $?"
    grep -q '"thread_instructions"' out || fail "lanewise app $1 does not print statistics"
}

for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || { fail "$clang is not installed"; continue; }
    # Builds the program with one command. Options of nvcc are accepted.
    "$lanewise" cc --compiler $clang -rdc=true -O2 -std=c++17 -arch=sm_80 -gencode arch=compute_80,code=sm_80 \
        -Xcompiler -Wall,-Wno-unused "$src/one.cu" "$src/two.cu" "$src/function.cu" "$src/three.cpp" "$src/plain.c" -o whole-$clang -lcudart >log 2>&1 ||
        { fail "$clang: compiling and linking in one command fails"; cat log; }
    [ ! -s log ] || { fail "$clang: a program without errors causes messages"; cat log; }
    right whole-$clang
    # Compiles each file separately, with options for a debugger, and links.
    "$lanewise" cc --compiler $clang -dc -G -g "$src/one.cu" "$src/two.cu" "$src/function.cu" >log 2>&1 &&
        "$lanewise" cc --compiler $clang -c -MD -DX=1 "$src/three.cpp" -o 3.o >>log 2>&1 &&
        "$lanewise" cc --compiler $clang -c -std=c++17 "$src/plain.c" >>log 2>&1 &&
        "$lanewise" cc --compiler $clang one.o two.o function.o 3.o plain.o -o parts-$clang >>log 2>&1 ||
            { fail "$clang: compiling each file separately fails"; cat log; }
    grep -q 'parts.h' 3.d || fail "$clang: -MD does not write 3.d"
    right parts-$clang
    # The linker takes an object of an archive that only device code needs. A device function that no file defines is its error.
    rm -f library.a && ar rcs library.a two.o function.o 3.o plain.o &&
        "$lanewise" cc --compiler $clang one.o library.a -o archive-$clang >log 2>&1 || { fail "$clang: linking with an archive fails"; cat log; }
    right archive-$clang
    "$lanewise" cc --compiler $clang -rdc=true -shared -Xcompiler -fPIC "$src/function.cu" -o function-$clang.so >log 2>&1 && [ ! -s log ] ||
        { fail "$clang: making a shared library fails, or causes messages"; cat log; }
    "$lanewise" cc --compiler $clang one.o two.o 3.o plain.o -o incomplete >log 2>&1 && fail "$clang: a program without function.o is linked"
    grep -q 'undefined reference.*sum(int, int) \[clone \.device\]' log || { fail "$clang: the linker does not name the missing device function"; cat log; }
    "$lanewise" cc --compiler $clang one.o two.o function.o 3.o plain.o function.o -o double >log 2>&1 && fail "$clang: a program with two device functions of a name is linked"
    grep -q 'multiple definition.*sum(int, int) \[clone \.device\]' log || { fail "$clang: the linker does not name the device function that is defined twice"; cat log; }
    "$lanewise" cc --compiler $clang "$src/grid.cu" -o grid-$clang >log 2>&1 || { fail "$clang: grid.cu does not compile"; cat log; }
    right grid-$clang
    "$lanewise" cc --compiler $clang -O2 --x cu "$src/half.cu" -o half-$clang >log 2>&1 || { fail "$clang: half.cu does not compile"; cat log; }
    right half-$clang
    # A dependency file names the object and the user's files, and no temporary file, so that make compiles again if a header changes.
    printf '#include "dep.h"\n__global__ void k(int *p) { *p = VALUE; }\n' >dep.cu
    echo '#define VALUE 1' >dep.h
    for options in -MMD "-MD -MP -MF dep.d" "-rdc=true -MMD -MP -MT dep.o"; do
        rm -f dep.o dep.d
        printf 'dep.o: dep.cu\n\t"%s" cc --compiler %s %s -c dep.cu -o dep.o\n-include dep.d\n' "$lanewise" "$clang" "$options" >Makefile
        env -u MAKEFLAGS make >log 2>&1 && env -u MAKEFLAGS make -q || { fail "$clang $options: make fails, or compiles again without a reason"; cat log dep.d; }
        grep -q 'lanewise-build' dep.d && { fail "$clang $options: a temporary file is a dependency"; cat dep.d; }
        touch -d '-1 minute' dep.o
        touch dep.h
        env -u MAKEFLAGS make -q && { fail "$clang $options: make does not compile again if a header changes"; cat dep.d; }
    done
    # C files may include the headers of CUDA that are not for C++ only.
    for std in c99 gnu17; do
        rm -f host-$clang
        "$lanewise" cc --compiler $clang -std=$std -Wall -Wextra -pedantic "$src/host.c" -o host-$clang -lcuda >log 2>&1 && [ ! -s log ] ||
            { fail "$clang: host.c does not compile with -std=$std, or has warnings"; cat log; }
        out=$("$lanewise" app ./host-$clang 2>&1)
        [ "$out" = "all right" ] || fail "$clang: host.c with -std=$std: $out"
    done
    echo '#include <cuda_fp16.h>' >only.c
    "$lanewise" cc --compiler $clang -c only.c >log 2>&1 && fail "$clang: a header for C++ is accepted in C"
    [ "$(grep -c 'error:' log)" = 1 ] && grep -q 'cuda_fp16.h> is for C++ only: name the file .cpp or .cu' log || { fail "$clang: cuda_fp16.h in C"; cat log; }
done
# A user without a writable home has no cache, which has the headers.
env -u XDG_CACHE_HOME HOME=/dev/null "$lanewise" cc --compiler clang-19 "$src/grid.cu" -o homeless >log 2>&1 ||
    { fail "cc without a folder for the cache fails"; cat log; }
# Kernels alone, as PTX and as a fat binary, which a program can load.
"$lanewise" cc --compiler clang-19 -ptx "$src/grid.cu" >log 2>&1 && grep -q '^\.version' grid.ptx || { fail "cc -ptx writes no PTX"; cat log; }
"$lanewise" cc --compiler clang-19 -fatbin "$src/grid.cu" -o kernels.bin >log 2>&1 &&
    [ "$(od -An -tx1 -N4 kernels.bin | tr -d ' ')" = 50ed55ba ] || { fail "cc -fatbin writes no fat binary"; cat log; }
# As many blocks as the device reports are resident at the same time, also with narrow warps and with a GPU model.
for options in --warp=4 --warp=64 --timing=fermi --timing=gcn-tahiti --check=all; do
    LANEWISE_OPTIONS=$options timeout 300 ./grid-clang-19 >out 2>err && grep -q '^all right$' out &&
        ! grep -q 'race\|barrier-' err ||
        { fail "grid.cu with $options: exit status $?"; head -n 20 out err; }
done
# Textures and surfaces, the driver API of <cuda.h>, barriers and pipelines, and what header libraries expect of a toolkit.
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    "$lanewise" cc --compiler $clang "$src/texture.cu" -o texture-$clang >log 2>&1 || { fail "$clang: texture.cu does not compile"; cat log; }
    right texture-$clang
    "$lanewise" cc --compiler $clang "$src/driver.cpp" -o driver-$clang >log 2>&1 || { fail "$clang: driver.cpp does not compile"; cat log; }
    right driver-$clang
    "$lanewise" cc --compiler $clang -Wall "$src/declared.cu" -o declared-$clang >log 2>&1 && [ ! -s log ] ||
        { fail "$clang: declared.cu does not compile, or has warnings"; cat log; }
    right declared-$clang --hang-limit=13421773 # the wait that no thread ends takes 1 s
    "$lanewise" cc --compiler $clang "$src/stages.cu" -o stages-$clang >log 2>&1 || { fail "$clang: stages.cu does not compile"; cat log; }
    right stages-$clang
    "$lanewise" cc --compiler $clang "$src/toolkit.cu" -o toolkit-$clang -ldl >log 2>&1 ||
        { fail "$clang: toolkit.cu does not compile"; cat log; }
    right toolkit-$clang
    "$lanewise" cc --compiler $clang "$src/headers.cu" -o headers-$clang >log 2>&1 || { fail "$clang: headers.cu does not compile"; cat log; }
    right headers-$clang
    "$lanewise" cc --compiler $clang "$src/matrix.cu" -o matrix-$clang >log 2>&1 || { fail "$clang: matrix.cu does not compile"; cat log; }
    right matrix-$clang
    "$lanewise" cc --compiler $clang "$src/registered.cu" -o registered-$clang >log 2>&1 || { fail "$clang: registered.cu does not compile"; cat log; }
    right registered-$clang
done
# The headers declare each function that the library exports, except functions that are not supported, functions that only compilers
# call, and the names for a default stream for each thread.
sed -n 's/^CU_ABSENT(\(.*\))$/\1/p' "$src/../../../runtime/cuda/calls/cu_absent.def" | LC_ALL=C sort >absent
nm -D --defined-only "$(dirname "$lanewise")/lanewise-cuda/libcudart.so.13" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    grep -v '^__cuda\|_ptsz$\|_ptds$' | LC_ALL=C sort -u | LC_ALL=C comm -23 - absent >names
[ "$(wc -l <names)" -gt 400 ] || fail "libcudart.so.13 exports $(wc -l <names) functions"
printf '#include <cuda_runtime.h>\n#include <cuda.h>\n' | tee every.cpp >every.c
sed 's/.*/using ::&;/; 1s/^/namespace every {\n/; $s/$/\n}/' names >>every.cpp
sed 's/.*/(void)(void *)\&&;/; 1s/^/void every(void)\n{\n/; $s/$/\n}/' names >>every.c # in C, functions of the same name have no address
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    "$lanewise" cc --compiler $clang -ferror-limit=0 -c every.cpp >log 2>&1 || { fail "$clang: functions are not declared in C++"; cat log; }
    "$lanewise" cc --compiler $clang -ferror-limit=0 -c every.c 2>&1 | grep 'error:' | grep -v 'overloaded function' >log
    [ ! -s log ] || { fail "$clang: functions are not declared in C"; cat log; }
done
# Mathematical functions.
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    "$lanewise" cc --compiler $clang "$src/../mathematics/mathematics.cu" -o mathematics-$clang >log 2>&1 || { fail "$clang: mathematics.cu does not compile"; cat log; }
    right mathematics-$clang
done
# Managed variables, in a program of one file, of two separate files, and of two linked files.
sed '/other_value() == 33/d' "$src/managed.cu" >managed_one.cu
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    "$lanewise" cc --compiler $clang -O2 -Wall managed_one.cu -o managed-one-$clang >log 2>&1 || { fail "$clang: managed_one.cu does not compile"; cat log; }
    [ ! -s log ] || { fail "$clang: managed_one.cu causes messages"; cat log; }
    right managed-one-$clang
    "$lanewise" cc --compiler $clang -g -G "$src/managed.cu" "$src/managed_two.cu" -o managed-two-$clang >log 2>&1 ||
        { fail "$clang: managed.cu and managed_two.cu do not compile"; cat log; }
    right managed-two-$clang
    "$lanewise" cc --compiler $clang -rdc=true "$src/managed.cu" "$src/managed_two.cu" -o managed-linked-$clang >log 2>&1 ||
        { fail "$clang: managed.cu and managed_two.cu do not compile with -rdc=true"; cat log; }
    right managed-linked-$clang
    for linked in -rdc=true -rdc=false; do
        "$lanewise" cc --compiler $clang $linked "$src/names_one.cu" "$src/names_two.cu" -o names-$clang >log 2>&1 ||
            { fail "$clang: names_one.cu and names_two.cu do not compile with $linked"; cat log; }
        right names-$clang
    done
done
# A finding names the program's call of a kernel, also if the program has managed variables.
printf '__managed__ int v[4];\n__global__ void k(int *p) { p[4] = 1; }\nint main()\n{\n    k<<<1, 1>>>(v);\n    return cudaDeviceSynchronize() != cudaSuccess;\n}\n' >outside.cu
"$lanewise" cc -g outside.cu -o outside >log 2>&1 && ./outside >out 2>err
grep -q "out-of-bounds: .* past the end of 'v'" err && grep -q 'launched by main' err || { fail "outside.cu: the finding is wrong"; cat log err; }
# If one kernel of a program uses something that is not supported, its launch names it, once. The other kernels run.
cat >refused.cu <<'EOF'
__global__ void fine(int *p) { *p = 3; }
__global__ void gather(cudaTextureObject_t t, float4 *p) { *p = tex2Dgather<float4>(t, 1, 1, 0); }
int main()
{
    int *p;
    cudaMallocManaged(&p, 16);
    fine<<<1, 1>>>(p);
    for (int i = 0; i < 3; i++) {
        gather<<<1, 1>>>(0, (float4 *)p);
        if (cudaGetLastError() != cudaErrorInvalidDeviceFunction)
            return 1;
    }
    return cudaDeviceSynchronize() != cudaSuccess || *p != 3;
}
EOF
"$lanewise" cc refused.cu -o refused >log 2>&1 && ./refused 2>err && [ "$(grep -c 'tex2Dgather is not supported' err)" = 1 ] ||
    { fail "refused.cu: the refused kernel is not named"; cat log err; }
# Options of nvcc that makefiles have, and the folder of an SDK, whose headers clang cannot read.
mkdir -p sdk/crt sdk/cccl/cub
echo '#error headers of the SDK are read' | tee sdk/cuda_runtime.h sdk/crt/host_config.h >sdk/cuda_fp16.h
echo '#define BLOCK 32' >sdk/cccl/cub/cub.cuh
cat >options.cu <<'EOF'
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
#include <filesystem>
#include <future>
#include <memory>
#include <regex>
__constant__ alignas(8) int table[2] = {5, 6};
__noinline__ __device__ int deep(int n, volatile int *p)
{
    volatile int own[32];
    own[n & 31] = n;
    return n == 0 ? own[0] : 1 + deep(n - 1, own);
}
template <typename T> __global__ void k(int *p, int depth)
{
    extern __shared__ alignas(16) unsigned char raw[];
    __shared__ alignas(T) unsigned char other[2 * sizeof(T)]; /* as wide as T */
    T *all = (T *)raw;
    all[threadIdx.x] = T{1, 2, 3, (float)threadIdx.x};
    *(T *)(other + sizeof(T)) = T{};
    __syncthreads();
    p[threadIdx.x] = (int)all[31 - threadIdx.x].w + table[NAME] + deep(depth, p);
}
int main()
{
    auto owner = std::make_shared<int *>();
    int *p;
    size_t limit;
    bool good = STACK == 0 || cudaDeviceSetLimit(cudaLimitStackSize, STACK) == cudaSuccess;
    good &= cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess && (STACK == 0 || limit == STACK);
    cudaMallocManaged(owner.get(), BLOCK * sizeof(int));
    p = *owner;
    k<float4><<<1, BLOCK, BLOCK * 16>>>(p, 200);
    good &= cudaDeviceSynchronize() == cudaSuccess && p[1] == 30 + 6 + 200;
    puts(good ? "all right" : "wrong");
}
EOF
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    "$lanewise" cc --compiler $clang -ftz=true -prec-div=false -prec-sqrt=true -forward-unknown-to-host-compiler -compress-mode=size -t0 -Werror all-warnings \
        -std c++17 --extra-device-vectorization --optimize 2 --define-macro NAME=1 -DSTACK=65536 --library m --include-path sdk -Xcompiler -Isdk \
        -isystem sdk options.cu -o options >log 2>&1 || { fail "$clang: options of nvcc"; cat log; }
    [ ! -s log ] || { fail "$clang: options of nvcc cause messages"; cat log; }
    right options
done
"$lanewise" cc -v -Isdk -DNAME=1 -DSTACK=0 options.cu -o overflow >log 2>&1
grep -q 'sdk: left out' log || { fail "-v does not report the folder of the SDK that is left out"; cat log; }
./overflow >out 2>err
grep -q 'stack overflow: .*cudaDeviceSetLimit(cudaLimitStackSize' err && ! grep -q 'launch file' err ||
    { fail "the message of a stack overflow does not name the call that sets a larger stack"; cat err; }
# Dependencies do not name the headers of Lanewise, which are in the cache.
"$lanewise" cc -Isdk -DNAME=1 -DSTACK=0 --generate-dependencies-with-compile -generate-dependency-targets -c options.cu -o options.o && [ -s options.d ] && ! grep -q lanewise options.d &&
    grep -q '^options.o: options.cu' options.d && grep -q 'features.h' options.d || { fail "-MD"; cat options.d; }
printf 'all: options.o\n\ninclude options.d\n' >dependencies.mk && make -f dependencies.mk >log 2>&1 || { fail "make cannot read the dependencies"; cat log; }
for option in -M -MM --generate-dependencies -generate-nonsystem-dependencies; do
    "$lanewise" cc -Isdk -DNAME=1 -DSTACK=0 $option -rdc=true options.cu >out && grep -q '^options.o: options.cu' out && ! grep -q lanewise out ||
        { fail "$option"; cat out; }
done
rm -f options.o
"$lanewise" cc -Isdk -DNAME=1 -DSTACK=0 -M options.cu -o listed && ! [ -e options.o ] && grep -q 'options.cu' listed || fail "-M -o"
printf '__global__ void named(int *p) { *p = 1; }\n' >kernel.cu
"$lanewise" cc -ptx kernel.cu -o - | grep -q 'named' && [ ! -e ./- ] || fail "-ptx -o - does not write to standard output"
# Lists of options for the host's compiler and linker; languages
printf '#ifndef A\n#error\n#endif\nint main() { return puts(B) < 0; }\n' >lists.txt.cu
"$lanewise" cc -Xcompiler '-DA -Wall,-Werror "-DB=\"all right\""' --compiler-options "-fPIC -pthread" -Xlinker -rpath,/nowhere,-z,now \
    -x c++ -xcu lists.txt.cu -o lists >log 2>&1 || { fail "lists of options"; cat log; }
right_output=$(./lists) && [ "$right_output" = "all right" ] && readelf -d lists | grep -q '/nowhere' && readelf -d lists | grep -q NOW ||
    fail "lists of options have no effect"
printf 'int main() { return sizeof('"'a'"') == 1 ? 0 : 1; }\n' >language.c
"$lanewise" cc -x c++ language.c -o language && ./language || fail "-x c++ compiles C"
cp language.c language.cpp
"$lanewise" cc -x c language.cpp -o language && ! ./language || fail "-x c compiles C++"
"$lanewise" cc -x none language.c -o language && ! ./language || fail "-x none does not select the language by the suffix"
"$lanewise" cc --dryrun options.cu -o dry >log 2>&1 && [ ! -e dry ] || { fail "cc --dryrun compiles"; cat log; }
"$lanewise" cc --version | grep -q 'release [0-9.]*,' || fail "cc --version does not print a release"
# If the user brings libcu++, <cuda/barrier> and namespace cuda are its own, also together with <cooperative_groups/memcpy_async.h>.
mkdir -p brought/cuda/std && : >brought/cuda/std/version
printf 'namespace cuda { inline namespace own { template <int N> struct barrier { int n = N; }; } }\n' >brought/cuda/barrier
printf '#include <cuda/barrier>\n#include <cooperative_groups/memcpy_async.h>\n#include <cuda_pipeline.h>
int main() { printf("%%s\\n", cuda::barrier<3>().n == 3 ? "all right" : "wrong"); }\n' >brought.cu
"$lanewise" cc -Ibrought brought.cu -o brought.out >log 2>&1 || { fail "headers that the user brings conflict with ours"; cat log; }
./brought.out >out 2>err && grep -q '^all right$' out || fail "brought.out: wrong results"
# Steps of makefiles for nvcc: a static library, to which one object comes as a file, and an object of the device's linker.
"$lanewise" cc -dc "$src/function.cu" -o function.o && "$lanewise" cc -rdc=true -Xlinker -O1 -lm -L "$src" -lib "$src/one.cu" "$src/two.cu" function.o -o parts.a &&
    "$lanewise" cc -dlink parts.a -o linked.o && "$lanewise" cc "$src/three.cpp" "$src/plain.c" linked.o parts.a -o parts >log 2>&1 ||
    { fail "a library and an object of -dlink cannot be built"; cat log; }
./parts >out 2>err && right parts
[ "$(ar t parts.a | wc -l)" = 3 ] || { fail "parts.a has other members than three objects:"; ar t parts.a; }
(mkdir default && cd default && "$lanewise" cc --lib "$src/../vector.cu" && "$lanewise" cc -dlink "$src/../vector.cu" && ar t a.a >/dev/null &&
    [ -s a_dlink.o ]) || fail "-lib and -dlink without -o do not write a.a and a_dlink.o"
# Without -rdc=true, each file is a separate module, as with nvcc. The message names the missing symbol.
"$lanewise" cc "$src/one.cu" "$src/two.cu" "$src/function.cu" "$src/three.cpp" "$src/plain.c" -o apart >log 2>&1 && fail "kernels were linked without -rdc=true"
grep -q 'kernels use sum, which this file declares but does not define.*-rdc=true' log || { fail "the message does not name the function of the other file"; cat log; }

if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    "$lanewise" cc --compiler nvcc -arch=sm_75 -std=c++17 --expt-relaxed-constexpr "$src/../vector.cu" -o vector-nvcc >log 2>&1 ||
        { fail "nvcc: vector.cu does not compile"; cat log; }
    ./vector-nvcc >out 2>err || fail "vector-nvcc ends with exit status $?"
    grep -q '^all right$' out || { fail "vector-nvcc: wrong results"; cat out; }
    "$lanewise" cc --compiler nvcc -c "$src/../vector.cu" && "$lanewise" cc --compiler nvcc vector.o -o vector-2 && ./vector-2 2>/dev/null | grep -q '^all right$' ||
        fail "nvcc: the object and the program cannot be built"
    echo 'int x = ;' >bad.cu
    "$lanewise" cc --compiler nvcc bad.cu -o bad >log 2>&1 && fail "nvcc: bad.cu compiles"
    grep -q 'bad.cu(1): error' log && [ ! -e bad ] || { fail "nvcc: its error message is not shown"; cat log; }
fi

# Errors of clang are shown unchanged. After an error, an existing program is unchanged, and no incomplete file remains.
mkdir empty && cd empty || exit 99
printf '__global__ void k(int *p) { p[0] = nothing; }\nint main() { k<<<1, 1>>>(0); }\n' >bad.cu
printf 'int main() { return also_nothing; }\n' >bad.cpp
printf '__global__ void k(int *p) { p[0] = 1; }\nint missing(void);\nint main() { k<<<1, 1>>>(0); return missing(); }\n' >link.cu
printf '__managed__ int m;\nint main() { return m + no_name; }\n' >managed.cu
echo before >program
refused() { # message, arguments...
    want=$1
    shift
    "$lanewise" cc "$@" >log 2>&1 && fail "cc $*: expected an error, but the exit status is 0"
    grep -qF -- "$want" log || { fail "cc $*: expected \"$want\", found:"; cat log; }
    [ "$(cat program)" = before ] || fail "cc $*: the output changed"
    rm log
    [ "$(echo *)" = "bad.cpp bad.cu link.cu managed.cu program" ] || { fail "cc $*: files remain: $(echo *)"; }
}
refused "use of undeclared identifier 'nothing'" bad.cu -o program
refused "use of undeclared identifier 'also_nothing'" bad.cpp -o program
refused "undefined reference to \`missing()'" link.cu -o program
refused "use of undeclared identifier 'no_name'" managed.cu -o program
refused 'none.cu: No such file' none.cu -o program
refused 'expected a file' -O2
refused 'name a file' link.cu -o -
refused 'none.o: No such file' -dlink none.o -o program
refused 'none.o: No such file' -lib none.o -o program
refused 'one file at a time' -c bad.cu link.cu -o program
refused 'is not a source file' -c program
refused 'option "-o" needs an operand' link.cu -o
refused 'the compiler was not found' --compiler no-such-clang link.cu -o program
refused 'write the PTX of kernels' -cubin link.cu
"$lanewise" cc --threads 2 -t 2 -keep --keep-dir . -res-usage --source-in-ptx -lineinfo link.cu -c -o link.o >log 2>&1 && [ ! -s log ] ||
    { fail "options of nvcc without an effect:"; cat log; }
rm -f link.o log
refused 'unknown argument' -fno-such-option link.cu -o program
refused "cannot be written" link.cu -c -o none/program
exit $failed
