#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests messages about modules, and that temporary folders of compilations that a signal has ended do not remain.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
unset LANEWISE_OPTIONS
cat >load.cpp <<'E'
#include <cuda.h>
#include <cstdlib>
int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuCtxCreate(&context, 0, device);
    return cuModuleLoadData(&module, argv[1]) == (CUresult)atoi(argv[2]) ? 0 : 1;
}
E
"$lanewise" cc load.cpp -lcuda -o load >err 2>&1 || { fail "load.cpp does not compile"; cat err; exit 1; }
for text in "" "hello" "__global__ void f() { }"; do
    ./load "$text" 200 2>err || { fail "\"$text\": wrong result of cuModuleLoadData"; cat err; }
    grep -q 'the data of the module is neither PTX nor a fat binary' err && [ "$(wc -l <err)" = 1 ] || { fail "\"$text\": wrong message"; cat err; }
done
./load '/* a comment */ .version 7.0
.target sm_70
.address_size 64
' 0 2>err && [ ! -s err ] || { fail "PTX after a comment is refused"; cat err; }

# The next compilation removes old folders of processes that have ended, and no others.
mkdir tmp && sleep 0 &
wait $!
ended=$!
mkdir -p "tmp/lanewise-build-$ended-abcdef/below" "tmp/lanewise-build-$ended-newnew" "tmp/lanewise-build-$$-abcdef" tmp/lanewise-other
touch "tmp/lanewise-build-$ended-abcdef/text.cl"
touch -d '2 hours ago' "tmp/lanewise-build-$ended-abcdef" "tmp/lanewise-build-$$-abcdef" tmp/lanewise-other
echo '__kernel void f(__global int *p) { *p = 1; }' >f.cl
TMPDIR=$scratch/tmp LANEWISE_CACHE=off "$lanewise" compile f.cl -o f.lwo >out 2>err || { fail "f.cl does not compile"; cat err; }
[ "$(cd tmp && echo *)" = "$(printf '%s\n' "lanewise-build-$ended-newnew" "lanewise-build-$$-abcdef" lanewise-other | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')" ] ||
    { fail "temporary folders: $(ls tmp)"; }
exit $failed
