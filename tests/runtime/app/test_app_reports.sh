#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that several processes of a program do not replace each other's reports.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
unset LANEWISE_OPTIONS
cat >add.cu <<'E'
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <sys/wait.h>
__global__ void add(int *p) { *p += 1; }
static int work(int launches)
{
    int *p, h = 0;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    for (int i = 0; i < launches; i++)
        add<<<1, 1>>>(p);
    return cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && h == launches ? 0 : 1;
}
int main(int argc, char **argv)
{
    const int launches = atoi(argv[1]);
    if (argc > 2) { /* two children use the device, the parent does not */
        for (int i = 0; i < 2; i++)
            if (fork() == 0)
                exit(work(launches + i));
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    return work(launches);
}
E
"$lanewise" cc add.cu -o add >err 2>&1 || { fail "add.cu does not compile"; cat err; exit 1; }
grids() { sed -n 's/.*"grids": \([0-9]*\).*/\1/p' "$@" | sort | tr '\n' ' '; } # the numbers of launches in reports

# Processes one after another, at the same time, and after fork(): the first writes the file, the other one a file with its process id.
for program in './add 1; ./add 2' './add 1 & ./add 2 & wait' './add 1 fork'; do
    rm -rf reports && mkdir reports
    "$lanewise" app --stats reports/s.json --check-file reports/f.json sh -c "$program" >out 2>err || fail "$program: status $?"
    [ -s reports/s.json ] && [ "$(grids reports/s*.json)" = "1 2 " ] || { fail "$program: $(grids reports/*): $(ls reports)"; cat err; }
    [ "$(ls reports | grep -c '^[sf]\.[0-9]*\.json$')" = 2 ] || fail "$program: names of reports: $(ls reports)"
    [ "$(grep -c 'reports/[sf].json exists, so the report of process' err)" = 2 ] || { fail "$program: no message"; cat err; }
    [ "$(ls reports | wc -l)" = 4 ] || fail "$program: other files are left: $(ls reports)"
done
# Children of a program that has used the device have copies of it. The first child makes an invalid access, the second one does not
# use the device. The first one writes reports with its findings, and ends with their status; the second one writes none.
cat >late.cu <<'E'
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <sys/wait.h>
__global__ void put(int *p, int at) { p[at] = 1; }
int main()
{
    int *p, status;
    cudaMalloc(&p, 4);
    put<<<1, 1>>>(p, 0);
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            if (i == 0)
                put<<<1, 1>>>(p, 5000);
            cudaDeviceSynchronize();
            exit(0);
        }
        wait(&status);
        printf("child %d: status %d\n", i, WEXITSTATUS(status));
        fflush(stdout);
    }
    return 0;
}
E
"$lanewise" cc late.cu -o late >err 2>&1 || { fail "late.cu does not compile"; cat err; exit 1; }
rm -rf reports && mkdir reports
"$lanewise" app --fail-on-findings --stats 'reports/s-%p.json' --check-file 'reports/f-%p.json' ./late >out 2>err || fail "late: status $?"
[ "$(cat out)" = "child 0: status 1
child 1: status 0" ] || { fail "late: wrong statuses"; cat out err; }
[ "$(grids reports/s-*.json)" = "1 2 " ] || fail "late: numbers of launches: $(grids reports/s-*.json)"
[ "$(grep -l '"out-of-bounds"' reports/f-*.json | wc -l)" = 1 ] && [ "$(ls reports | wc -l)" = 4 ] || fail "late: reports: $(ls reports)"

# The report of an earlier run is deleted.
"$lanewise" app --stats reports/s.json ./add 3 >out 2>err && [ "$(grids reports/s.json)" = "3 " ] && [ ! -s err ] ||
    { fail "a second run does not replace the report"; cat err; }
# A wrong command deletes nothing.
"$lanewise" app --stats reports/s.json --warp 7 ./add 3 >out 2>err
[ -s reports/s.json ] || fail "a wrong command deletes a report"
# %p is the process id, and %% a percent sign.
mkdir '100%pc' && cd '100%pc' || exit 99
"$lanewise" app --stats 's%%-%p.json' --record 'r-%p' sh -c '../add 1; ../add 2' >../out 2>../err || fail "%p: status $?"
[ "$(grids s%-[0-9]*.json)" = "1 2 " ] && [ ! -s ../err ] || { fail "%p: $(ls)"; cat ../err; }
[ "$(echo r-[0-9]*/000?-add.yaml | wc -w)" = 3 ] || fail "%p: folders of --record: $(ls r-*)"
LANEWISE_OPTIONS='--stats e-%p.json' ../add 4 && [ "$(grids e-*.json)" = "4 " ] || fail "LANEWISE_OPTIONS: %p: $(ls)"
cd ..
# With LANEWISE_OPTIONS a process replaces no report either.
LANEWISE_OPTIONS='--stats e.json' ./add 1 2>err && LANEWISE_OPTIONS='--stats e.json' ./add 2 2>err
[ "$(grids e.json)" = "1 " ] && [ "$(grids e.[0-9]*.json)" = "2 " ] || fail "LANEWISE_OPTIONS: $(ls e*)"

# Findings on standard error are those of the report file, with kernel, lanes, count and calls. A finding in a header of the system
# names the line of the program first. The report can be a list of suppressions.
cat >calls.cu <<'E'
__device__ int at(const int *p, int i) { return p[i]; }
__device__ int sum(const int *p, int i) { return at(p, i) + at(p, i + 1); }
__global__ void twice(const int *p, int *o) { o[threadIdx.x] = sum(p, threadIdx.x); }
__global__ void once(const int *p, int *o) { o[threadIdx.x] = at(p, threadIdx.x + 5); }
__global__ void heap(int **o)
{
    int *p = new int[4];
    p[0] = 1;
    *o = p;
}
int main()
{
    int *p, *o;
    cudaMalloc(&p, 128);
    cudaMalloc(&o, 128);
    cudaMemset(p, 0, 128);
    twice<<<1, 32>>>(p, o);
    once<<<1, 32>>>(p, o);
    heap<<<1, 1>>>((int **)o);
    cudaDeviceSynchronize();
}
E
"$lanewise" cc -g -O2 calls.cu -o calls >err 2>&1 || { fail "calls.cu does not compile"; cat err; exit 1; }
"$lanewise" app --check=memory,heap-leak --check-file r.txt --check-file r.yaml --check-file r.YML ./calls >out 2>err || fail "calls: status $?"
grep -q '^lanewise: calls.cu:1: out-of-bounds: .*; in at, inlined at calls.cu:2, in sum, inlined at calls.cu:3; kernel twice, block (0,0,0), warp 0, lanes 0x80000000, pc 0x[0-9a-f]*$' err ||
    { fail "calls: the finding of kernel twice"; cat err; }
grep -q '^lanewise: calls.cu:1: out-of-bounds: .*; in at, inlined at calls.cu:4; kernel once, .*; 5 times$' err || { fail "calls: the finding of kernel once"; cat err; }
grep -q '^lanewise: calls.cu:7: heap-leak: .*; at /.*:[0-9]* in operator new, inlined at .*inlined at calls.cu:7; kernel heap, ' err ||
    { fail "calls: the finding in a header"; cat err; }
sed -n 's/^lanewise: \(calls.cu:.*\)/\1/p; s/^lanewise: \(    lane .*\)/\1/p' err | sort >printed
grep -v '^calls: ' r.txt | sort | diff printed - >difference || { fail "calls: the report differs from standard error"; cat difference; }
cmp -s r.yaml r.YML && grep -q '^- {kind: heap-leak, kernel: "heap", file: "calls.cu", line: 7}$' r.yaml || { fail "calls: the list of suppressions"; cat r.yaml; }
"$lanewise" app --fail-on-findings --check=memory,heap-leak --check-suppress r.yaml ./calls >out 2>err && [ ! -s err ] ||
    { fail "calls: findings although all are suppressed"; cat err; }

# An address far from all allocations names none, and memory of the host is named. Variables of Lanewise's own headers are not named.
# Messages give the advice for programs.
cat >far.cu <<'E'
#include <cooperative_groups.h>
#include <cstring>
__global__ void store(int *p) { *p = 1; }
__global__ void grid(int *p) { cooperative_groups::this_grid().sync(); *p = 1; }
__global__ void shared(int *p) { extern __shared__ int s[]; s[0] = 1; *p = s[0]; }
int main(int argc, char **argv)
{
    static int host;
    int *p;

    cudaMalloc(&p, 64);
    int *to = strcmp(argv[1], "host") == 0 ? &host : strcmp(argv[1], "far") == 0 ? p + (1 << 20) : p + 100;
    void *all[] = {&to};
    if (strcmp(argv[1], "shared") == 0)
        shared<<<1, 1>>>(p);
    else if (strcmp(argv[1], "grid") == 0)
        cudaLaunchCooperativeKernel((void *)grid, 1, 1, all);
    else
        store<<<1, 1>>>(to);
    return cudaDeviceSynchronize();
}
E
"$lanewise" cc -g far.cu -o far >err 2>&1 || { fail "far.cu does not compile"; cat err; exit 1; }
says() { # case, pattern
    "$lanewise" app --check=memory --check-file far.json ./far "$1" >out 2>err
    grep -q "$2" err || { fail "far $1: no '$2'"; cat err; }
}
says far 'out-of-bounds: .*: no allocation is near this address;'
grep -q 'was created by\|of the host' err && { fail "far: an allocation is named"; cat err; }
says near "336 bytes past the end of 'buffer 1' (64 bytes"
says grid "past the end of 'buffer 1' (64 bytes"
says host '^lanewise:     the address is in memory of the host, which kernels cannot access'
grep -q '"message": "the address is in memory of the host' far.json || fail "far host: the report does not say it"
says shared 'the third value in <<<...>>>'

# A fault or hang that ends the run is printed once, and reports have it with the launch.
cat >ends.cu <<'E'
__global__ void wait(volatile int *p) { while (*p == 0) ; }
__global__ void trap() { __trap(); }
__global__ void surface(cudaSurfaceObject_t s) { surf1Dwrite(1.0f, s, 4 * threadIdx.x); }
static cudaSurfaceObject_t surface_of_16(void)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t s = 0;
    resource.resType = cudaResourceTypeArray;
    cudaMallocArray(&resource.res.array.array, &format, 16, 0, cudaArraySurfaceLoadStore);
    cudaCreateSurfaceObject(&s, &resource);
    return s;
}
int main(int argc, char **argv)
{
    int *p;
    cudaMalloc(&p, 64);
    cudaMemset(p, 0, 64);
    if (argc > 2)
        surface<<<1, 32>>>(surface_of_16());
    else if (argc > 1)
        trap<<<1, 1>>>();
    else
        wait<<<1, 1>>>(p);
    return cudaDeviceSynchronize() == cudaSuccess;
}
E
"$lanewise" cc -g ends.cu -o ends >err 2>&1 || { fail "ends.cu does not compile"; cat err; exit 1; }
"$lanewise" app --hang-limit 100000 --check=progress --check-file ends.json ./ends >out 2>err || fail "ends: status $?"
[ "$(grep -c 'a value that is never written' err)" = 1 ] && [ "$(grep -c 'launched by main' err)" = 1 ] || { fail "ends: the hang is not printed once"; cat err; }
grep -q '"kind": "spin-wait"' ends.json && grep -q '"message": "launched by main"' ends.json || { fail "ends: the report lacks the hang"; cat ends.json; }
"$lanewise" app --check=progress ./ends trap >out 2>err || fail "ends trap: status $?"
[ "$(grep -c 'the code of the trap' err)" = 1 ] || { fail "ends: the trap is not printed once"; cat err; }
"$lanewise" app ./ends trap surface >out 2>err || fail "ends surface: status $?"
grep -q 'an access outside the surface; kernel surface, block (0,0,0), warp 0, lanes 0xffff0000' err || { fail "ends: wrong report of a surface"; cat err; }
exit $failed
