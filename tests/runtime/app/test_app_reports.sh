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
exit $failed
