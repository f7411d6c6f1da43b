#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests runs of kernels by options, without a launch file (docs/howto/run-and-verify.md): options, the equivalent launch file,
# missing options, -g, and files of other types.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >saxpy.cl <<'END'
__kernel void saxpy(float a, __global const float *x, __global float *y, uint n)
{
    uint i = get_global_id(0);
    float sum = a * x[i];
    if (i < n)
        y[i] += sum;
}
END
cat >several.cl <<'END'
struct pair { int a; char b; long c; };
__kernel void take(int unused, struct pair p, __global long *out, float4 v, __local int *room)
{
    room[get_local_id(0)] = v.w;
    out[get_global_id(0)] = p.a * 100 + p.b * 10 + p.c + room[get_local_id(0)];
}
__kernel void fill(__global uchar *bytes, short value) { bytes[get_global_id(0) + get_global_size(0) * get_global_id(1)] = value; }
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void fixed(__global int *out) { out[get_global_id(0)] = get_global_id(0); }
END
cat >scale.cu <<'END'
extern __shared__ double room[];
template <typename T> __global__ void scale(T *y, T a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = a;
    if (i < n)
        y[i] *= (T)room[threadIdx.x];
}
template __global__ void scale<float>(float *, float, int);
template __global__ void scale<double>(double *, double, int);
END
printf '.kernel twice\n.param ptr.global out\n.param u32 n\n    v_s2r v0, %%tid.x\n    v_setp_u32.ge p0, v0, c[n]\n    @p0 exit\n    v_shl_b32 v1, v0, 2\n    s_mov_b64 s2:3, c[out]\n    v_add_u32 v0, v0, v0\n    st.global.b32 [s2:3+v1], v0\n    exit\n.end\n' >twice.s
four='--grid 4 --block 256'
arguments='--arg a=2.5 --arg x=f32[1024]:ramp --arg y=f32[1024]:constant=3 --arg n=1000'

# ---- commands that run, and their output
# shellcheck disable=SC2086
{
expect 0 '^y f32\[1024\]: 999 elements changed: 3 5.5 8 10.5 13 15.5 18 20.5 ...$' run saxpy.cl $four $arguments
grep -q '^x f32\[1024\]: unchanged$' out || fail "the summary does not say that x is unchanged"
grep -q '^ok: results were not checked, 1 launch, ' out || fail "the summary does not say that results were not checked"
expect 0 '^y f32\[1024\]: 999 elements changed: 3 5.5 8' run saxpy.cl --global 1024 --block 256 --arg 2.5 --arg f32[1024]:ramp --arg f32[1024]:3 --arg 1000
expect 0 '^y f32\[1024\]: 999 elements changed: 3 5.5 8' run saxpy.cl $four --arg 2.5 --arg n=1000 --arg y=float4[256]:3 --arg f32[32*32]:ramp=0,1,1024
expect 0 '^y f32\[4\]: 4 elements changed: 6 7 8 9$' run saxpy.cl --grid 1 --block 4 --arg 1 --arg 'f32[]:6,7,8,9' --arg f32[4] --arg 4
expect 0 '^y f32\[2000\]: 1 element changed from \[1999\]: 2$' run saxpy.cl --grid 1 --block 1 --offset 1999 --arg 1 --arg f32[2000]:2 --arg f32[2000] --arg 2000
expect 0 '^x f32\[1024\]: 1000 elements changed: 0 2 4 6' run saxpy.cl $four --arg a=1 --arg x=f32[1024]:ramp --arg y=x --arg n=1001
expect 0 '^bytes u8\[12\]: 12 elements changed: 255 255 ' run several.cl --entry fill --grid 2x3 --block 2,1 --arg bytes=u8[12] --arg value=-1
expect 0 '^out s64\[2\]: 2 elements changed: 764 764$' run several.cl --entry take --grid 1 --block 2 --arg 'p={struct: [{s32: 7}, {s8: 5}, {s64: 10}]}' --arg unused=1 --arg v=f32:1,2,3,4 --arg room=local[8] --arg out=s64[2]
expect 0 '^out s64\[2\]: 2 elements changed: 764 764$' run several.cl --entry take --grid 1 --block 2 --arg 'p={struct: [{s32: 7}, {s8: 5}, {s64: 10}]}' --arg unused=1 --arg v=f32:1,2,3,4 --arg room=s32[2] --arg out=s64[2]
expect 2 '^lanewise: --arg room=s32\[2\]:1: expected __local memory without contents' run several.cl --entry take --grid 1 --block 2 --arg p=0 --arg unused=1 --arg v=f32:1,2,3,4 --arg 'room=s32[2]:1' --arg out=s64[2]
expect 0 '^out s64\[2\]: 2 elements changed: 4 4$' run several.cl --entry take --grid 1 --block 2 --arg p=0 --arg unused=1 --arg v=float4:1,2,3,4 --arg room=local[8] --arg out=s64[2]
expect 0 '^out s32\[32\]: 31 elements changed: 0 1 2' run several.cl --entry fixed --grid 2 --arg s32[32]
expect 0 '^y f64\[30\]: 29 elements changed: 0 3 6 9' run scale.cu --entry 'scale<double>' --grid 1 --block 32 --arg y=f64[30]:ramp --arg a=3 --arg n=30 --shared 256
expect 0 '^out u32\[8\]: 6 elements changed: 0 2 4 6 8 10 12 0$' run twice.s --grid 1 --block 32 --arg out=u32[8] --arg n=7
expect 0 '' asm twice.s
expect 0 '^out u32\[8\]: 6 elements changed: 0 2 4' run twice.lwo --grid 1 --block 32 --arg out=u32[8] --arg n=7
expect 0 '' compile saxpy.cl --emit ptx -o saxpy.ptx
expect 0 ': 999 elements changed: 3 5.5 8' run saxpy.ptx $four --arg 2.5 --arg f32[1024]:ramp --arg f32[1024]:3 --arg 1000
expect 0 '^y f32\[1024\]: 999 elements changed' run saxpy.cl $four $arguments --timing --warp 32
grep -q ' cycles on fermi$' out || fail "the summary has no cycles"
expect 0 '' run saxpy.cl $four $arguments --dump y=y.bin -q
[ "$(wc -c <y.bin)" = 4096 ] && [ ! -s out ] || fail "the buffer is not dumped by its parameter's name, or -q prints something"
expect 1 'out-of-bounds' run saxpy.cl $four --check --arg 2.5 --arg f32[1024] --arg f32[1000] --arg 1024
expect 0 '^ok: no findings; results were not checked, 1 launch, .* s (races and uninitialised values were not checked: use --check=all,-performance)$' run saxpy.cl $four --check $arguments
expect 0 '^ok: no findings; .* s$' run saxpy.cl $four --check=default,races $arguments
expect 2 '^lanewise: --arg x=int\[1024\]: x of saxpy is const float \*, .*: give f32\[1024\], or bytes as u8\[\]$' run saxpy.cl $four --arg a=2 --arg x=int[1024] --arg y=f32[1024] --arg n=10
expect 2 ': --arg y=f64\[1024\]: y of saxpy' run saxpy.cl $four --arg a=2 --arg x=u8[4096] --arg y=f64[1024] --arg n=10
expect 0 '1 launch' run several.cl --entry fill --grid 1 --block 4 --arg f32[1] --arg 3
expect 0 '1 launch' run saxpy.cl $four --arg a=2 --arg x=u8[4096] --arg y=f32[1024] --arg n=10
echo '__kernel void late(__global int *out, __global int *in) { out[0] = in[0]; }' >late.cl
expect 1 '^late.cl: uninitialised-output: ' run late.cl --grid 1 --block 1 --arg s32[2] --arg s32[2]:1,2 --check=all --dump out=- --check-file u.json --check-file u.xml
grep -q 'by options:' err u.json u.xml && fail "a finding at a host step names a line, but options have no lines"
grep -q 'late.cl' u.json || fail "JSON does not contain the file of the finding"
expect 3 'end of .y. (4000 bytes' run saxpy.cl $four --arg 2.5 --arg f32[1024] --arg f32[1000] --arg 1024
expect 0 '^hash_mem' run saxpy.cl $four --arg 2.5 --arg f32[1024]:random=7,-1,1 --arg f32[1024] --arg 1024 --hash
grep -v '^ok' out >seven
expect 0 '^hash_mem' run saxpy.cl $four --arg 2.5 --arg f32[1024]:random=3,-1,1 --arg f32[1024] --arg 1024 --hash --seed 4
grep -v '^ok' out | cmp -s - seven || fail "--seed 4 with random=3 gives other numbers than random=7"

# ---- expected results
expect 0 '^ok: 1 check passed, 1 launch, ' run saxpy.cl --grid 1 --block 4 --arg 1 --arg 'f32[]:6,7,8,9' --arg f32[4]:1 --arg 4 --expect y=7,8,9,10
expect 0 '^ok: 3 checks passed' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[8]:6 --arg f32[8] --arg 8 --expect y=6,6,6,6,0 --expect x=6 --expect x=constant=6 --save-launch expect.yaml
grep -qx '  - check: {buffer: y, values: \[6, 6, 6, 6, 0\]}' expect.yaml && [ "$(grep -cx '  - check: {buffer: x, constant: 6}' expect.yaml)" = 2 ] &&
    ! grep -q 'expected results:' expect.yaml || fail "the saved file does not contain the checks"
expect 0 '^ok: 3 checks passed' run expect.yaml
expect 1 '^--expect y=1,6,5: check failed: y\[0\] is 6, expected 1; 2 of 3 elements differ$' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[8]:6 --arg f32[8] --arg 8 --expect y=1,6,5 --expect y=6,6
grep -q '^failed: 1 of 2 checks failed, ' out || fail "the summary does not count failed checks"
expect 1 'by more than 0.1 + 0.1' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:6 --arg f32[4] --arg 4 --expect y=5.2,5.1,6,6 --tolerance 0.1
expect 0 '^ok: 1 check passed' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:6 --arg f32[4] --arg 4 --expect y=5.6 --tolerance 0.1
printf '7 7\n7 7\n' >face.bin.txt
expect 0 '^ok: 2 checks passed' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:7 --arg f32[4] --arg 4 --expect y=face.bin.txt --expect y=file=face.bin.txt
expect 1 '1 of 1 checks failed' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:7 --arg y=x --arg 4 --expect y=7
expect 1 'check failed' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:7 --arg f32[4] --arg 4 --expect y=7 --expect y=1,2 --check --check-file expect.xml --check-file expect.json --check-file expect.sarif
grep -q '<testcase classname="check" name="--expect y=7"/>' expect.xml && grep -q '<testcase classname="check" name="--expect y=1,2">' expect.xml ||
    fail "JUnit does not name the options: $(cat expect.xml)"
grep -q '"startLine": 0' expect.sarif && fail "SARIF has a line 0"
mkdir -p below
expect 0 '' run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:7 --arg f32[4] --arg 4 --expect y=face.bin.txt --save-launch below/expect.yaml
expect 0 '1 check passed' run below/expect.yaml
four_of='run saxpy.cl --grid 1 --block 4 --arg 1 --arg f32[4]:7 --arg f32[4] --arg 4'
refuse '--expect y: expected a buffer and its expected contents, such as out=FILE, out=constant=3 or out=1,2,3$' $four_of --expect y
refuse '--expect z=1: saxpy has no buffer "z"; it has x, y$' $four_of --expect z=1
refuse '--expect n=4: saxpy has no buffer "n"; it has x, y$' $four_of --expect n=4
refuse '--expect y=1,2,3,4,5: ' $four_of --expect y=1,2,3,4,5
refuse '--expect y=none.bin: none.bin: cannot be read' $four_of --expect y=none.bin
refuse '--expect y=constant=x: expected one number after "constant="' $four_of --expect y=constant=x
refuse '--tolerance lots: expected a number such as 1e-5' $four_of --expect y=1 --tolerance lots
refuse '--tolerance is used only with --expect: add --expect$' $four_of --tolerance 1
refuse '--expect can be used only with a kernel file' run expect.yaml --expect y=1

# ---- a structure that is passed by value, given by its members
cat >view.cu <<'END'
struct span { const int *from; int *to; };
struct view { int count; char sign; span data; double factor; int steps[2]; };
struct size { int x, y; };
__global__ void move(view v, size s, int *v_data_to)
{
    int i = threadIdx.x;
    if (i < v.count)
        v.data.to[i] = (int)(v.data.from[i] * v.factor) * v.sign + v.steps[0] * 100 + v.steps[1] + s.x + s.y;
    v_data_to[i] = v.data.from != nullptr;
}
END
view='--grid 1 --block 4 --arg v.count=3 --arg v.sign=-1 --arg v.data.to=s32[4] --arg v.factor=0.5 --arg v.steps=1,2 --arg s=s32:10,20 --arg v_data_to=s32[4]'
expect 0 '^v_data_to_ s32\[4\]: 3 elements changed: 131 130 129 0$' run view.cu $view --arg v.data.from=s32[]:2,4,6,8 --save-launch view.yaml
grep -q '^v_data_to s32\[4\]: 4 elements changed: 1 1 1 1$' out || fail "the buffer of a member has the same name as a parameter"
grep -qx '        - {struct: \[{s32: 3}, {s8: -1}, {struct: \[v_data_from, v_data_to_\]}, {f64: 0.5}, {s32: \[1, 2\]}\]} # count, sign, data (from, to), factor, steps' view.yaml ||
    fail "the saved file does not contain the structure and the names of its members"
echo '  - check: {buffer: v_data_to_, values: [131, 130, 129, 0]}' >>view.yaml
expect 0 '1 check passed' run view.yaml
expect 0 '^v_data_to_ s32\[4\]: 3 elements changed: 130 130 129 0$' run view.cu $(echo "$view" | sed 's/ --arg s=[^ ]*//') --arg s.y=30 --arg s.x=0 --arg v.data.from=s32[]:5,4,6,8
expect 3 '' run view.cu $view --arg v.data.from=0
expect 0 '^v_data_to_ s32\[4\]: 3 elements changed: 132 132 132 0$' run view.cu $view --arg v.data.from=v.data.to
refuse 'also give the arguments v.data.from (const int \*), s (size), for example --arg v.data.from=s32\[4\] --arg s=s32:0,0$' run view.cu $(echo "$view" | sed 's/ --arg s=[^ ]*//')
refuse 'also give the arguments v.data.from (const int \*), s.y (int), for example' run view.cu $(echo "$view" | sed 's/ --arg s=[^ ]*/ --arg s.x=1/')
refuse '--arg v.count=1.5: v.count (int) of move takes a number of type s32$' run view.cu $(echo "$view" | sed 's/count=3/count=1.5/')
refuse '--arg v.sign=300: v.sign (char) of move takes a number of type s8$' run view.cu $(echo "$view" | sed 's/sign=-1/sign=300/')
refuse '--arg v.steps=1,2,3: v.steps (array) of move takes 2 numbers of type s32 separated by commas, or 0$' run view.cu $(echo "$view" | sed 's/steps=1,2/steps=1,2,3/')
refuse '--arg v.steps=1: ' run view.cu $(echo "$view" | sed 's/steps=1,2/steps=1/')
refuse '--arg v.factor=: ' run view.cu $(echo "$view" | sed 's/factor=0.5/factor=/')
refuse '--arg v=f32\[4\]: v (view) of move is a structure: give its members, such as --arg v.count=4 --arg v.sign=1 --arg v.data.from=s32\[4\] ' run view.cu --grid 1 --block 4 --arg v=f32[4]
refuse '--arg v=7: v (view) of move is a structure' run view.cu --grid 1 --block 4 --arg v=7
refuse '--arg v=0: "v" is given twice' run view.cu $view --arg v=0
refuse '--arg s.x=0: "s.x" is given twice' run view.cu $view --arg s.x=0
refuse '--arg v.conut=0: move has no parameter "v.conut"; did you mean "v.count"' run view.cu $view --arg v.conut=0
refuse '--arg v.zzzzzz=0: .*; it has v.count, v.sign, v.data.from, v.data.to, v.factor, v.steps, s, s.x, s.y, v_data_to$' run view.cu $view --arg v.zzzzzz=0
expect 2 'also give' run view.cu
expect 0 '1 launch' run view.cu $(sed 's/.*, for example//; s/, or write.*//; s/count=[0-9]*/count=1/' err)

# ---- the launch file that is equivalent to the options
expect 0 '^hash_state' run saxpy.cl $four $arguments -D UNUSED=1 -I . --hash --save-launch saved.yaml
grep '^hash' out >by-options
expect 0 '^hash_state' run saved.yaml --hash
grep '^hash' out | cmp -s - by-options || fail "the saved launch file gives other results"
expect 0 '' run saxpy.cl $four $arguments -D UNUSED=1 -I . --save-launch saved.yaml
grep -qx '  x: {type: f32, count: 1024, init: {ramp: {start: 0, step: 1}}}' saved.yaml ||
    fail "the saved file does not contain the ramp"
grep -q '^  # - check: {buffer: y, file: expected.bin, tolerance: 1e-5}$' saved.yaml || fail "the saved file does not show how results are compared"
refuse 'save-launch: saved.yaml: the file exists and would be overwritten' run saxpy.cl --grid 5 --block 256 $arguments --save-launch saved.yaml
refuse 'save-launch saxpy.cl: the output would overwrite the program' run saxpy.cl $four $arguments --save-launch saxpy.cl
mkdir elsewhere
printf '0 1 2 3\n' >numbers.txt
expect 0 '' debug saxpy.cl --grid 1 --block 4 --arg 2 --arg f32[]:file=numbers.txt --arg f32[4] --arg 4 -I . --save-launch elsewhere/saved.yaml --batch
expect 0 'ok: results were not checked (no "check" step), 1 launch' run elsewhere/saved.yaml
# The files are in another folder, as if they had been moved to another host.
mkdir -p moved/elsewhere away && cp saxpy.cl numbers.txt moved && cp elsewhere/saved.yaml moved/elsewhere
sed -i '1i #error the launch file names the original folder' saxpy.cl
expect 0 'ok: results were not checked (no "check" step), 1 launch' run moved/elsewhere/saved.yaml
sed -i 1d saxpy.cl
grep -q '"-I../."' elsewhere/saved.yaml || fail "wrong path of a folder of headers: $(head -n 1 elsewhere/saved.yaml)"
expect 0 '' run saxpy.cl $four $arguments --save-launch ./here.yaml
grep -qx 'program: {source: saxpy.cl}' here.yaml || fail "the path of a source in the current folder contains a folder"
(cd away && "$lanewise" run ../saxpy.cl $four $arguments --save-launch ../back.yaml >/dev/null) ||
    fail "the launch file was not written to the parent folder"
expect 0 'ok: results were not checked (no "check" step), 1 launch' run back.yaml
expect 0 '^y f32\[4\]: 3 elements changed: 0 2 4 6$' run saxpy.cl --grid 1 --block 4 --arg 2 --arg f32[]:file=numbers.txt --arg f32[4] --arg 4

# ---- messages about arguments of a launch file contain the kernel, and the position, name and type of the parameter
argument() { # usage: argument ARGS MESSAGE
    printf 'program: {source: saxpy.cl}\nbuffers: {x: {type: f32, count: 4}}\nsteps: [launch: {entry: saxpy, grid: 1, block: 4, args: [%s]}]\n' "$1" >argument.yaml
    refuse "^lanewise: argument.yaml:3: $2\$" run argument.yaml
}
argument '1, x, x, 1.5' "argument 4 'n' (uint) of kernel 'saxpy': \"1.5\" is not an integer of 4 bytes"
argument '1, 7, x, 1' "argument 2 'x' (const float \*) of kernel 'saxpy': expected the name of a buffer, found \"7\""
argument '1, x, x, x' "argument 4 'n' (uint) of kernel 'saxpy': expected a value of 4 bytes, found the buffer x"
argument '1, x, {local: 16}, 1' "argument 3 'y' (float \*) of kernel 'saxpy': {local: ...} cannot be passed here: the parameter is not a pointer to __local memory"
argument '1, x, x' "args: kernel 'saxpy' takes 4 arguments: 'a' (float), 'x' (const float \*), 'y' (float \*), 'n' (uint); found 3"

# ---- missing and wrong arguments: one error message each
echo '__kernel void see(__read_only image2d_t im, sampler_t s, __global float4 *o) { o[0] = read_imagef(im, s, (int2)(0, 0)); }
__kernel void other(__global int *o) { o[0] = 1; }' >image.cl
refuse '^lanewise: image.cl: kernel see has an image as a parameter' run image.cl --entry see --grid 1 --block 1
refuse 'saxpy.cl: to launch saxpy, also give a grid and a block, and the arguments a (float), x (const float \*), y (float \*), n (uint), for example --grid 4 --block 256 --arg a=1.5 --arg x=f32\[1024\] --arg y=f32\[1024\] --arg n=1024, or write a launch file with "lanewise template"$' run saxpy.cl
cp err told
expect 0 '1 launch' run saxpy.cl $(sed 's/.*, for example//; s/, or write.*//' told)
cat >plane.cl <<'END'
__kernel void multiply(__global const float *a, __global const float *b, __global float *c, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
__kernel void box(__global int *out, int rows, int columns) { out[(get_global_id(2) * rows + get_global_id(1)) * columns + get_global_id(0)] = 1; }
END
refuse 'for example --grid 2,2 --block 16,16 --arg a=f32\[1024\] --arg b=f32\[1024\] --arg c=f32\[1024\] --arg n=32, or' run plane.cl --entry multiply
cp err told
expect 0 '1 launch' run plane.cl --entry multiply $(sed 's/.*, for example//; s/, or write.*//' told)
refuse 'for example --arg c=f32\[512\] --arg n=16$' run plane.cl --entry multiply --grid 4,1 --block 8x16 --arg a=f32[512] --arg b=f32[512]
refuse 'for example --grid 2,2,2 --block 4,4,4 --arg out=s32\[512\] --arg rows=8 --arg columns=8, or' run plane.cl --entry box
cp err told
expect 0 '^out s32.512.: 512 elements changed: 1 1' run plane.cl --entry box $(sed 's/.*, for example//; s/, or write.*//' told)
refuse 'to launch saxpy, also give the argument n (uint), for example --arg n=1024$' run saxpy.cl $four --arg 1 --arg f32[1] --arg f32[1]
# For a whole program, the message says how to run it.
printf '#include <cstdio>\n// main(): no program\n__global__ void scale(float *p, float by) { p[threadIdx.x] *= by; }\n' >part.cu
{ cat part.cu; printf 'int main(int argc, char **argv)\n{\n    scale<<<1, 1>>>(nullptr, 1);\n}\n'; } >whole.cu
{ printf '__global__ void second() {}\n'; cat whole.cu; } >two.cu
refuse 'template"; to run the whole program with its main(): "lanewise cc whole.cu -o program", then "lanewise app ./program"$' run whole.cu
refuse 'with its main(): "lanewise cc two.cu -o program", then' run two.cu
refuse 'or write a launch file with "lanewise template"$' run part.cu
refuse 'also give a grid, for example --grid 4$' run saxpy.cl --block 1 $arguments
refuse 'also give the argument out (int \*), for example --arg out=s32\[32\]$' run several.cl --entry fixed --grid 2
refuse 'w.* also give .*p.a (int), p.b (char), p.c (long).*--arg p.a=1024 --arg p.b=1 --arg p.c=1024 --arg out=.*--arg v=f32:0,0,0,0 --arg room=local\[1024\]' run several.cl --entry take $four
refuse 'several.cl has 3 kernels: choose one with --entry NAME: take, fill, fixed$' run several.cl $four
refuse 'entry: several.cl has no kernel "fil"; did you mean "fill"' run several.cl $four --entry fil
refuse '--arg m=1: saxpy has no parameter "m"; it has a, x, y, n$' run saxpy.cl $four --arg m=1
refuse '--arg unusd=1: take has no parameter "unusd"; did you mean "unused"' run several.cl --entry take $four --arg unusd=1
refuse '--arg n=2: "n" is given twice' run saxpy.cl $four $arguments --arg n=2
refuse '--arg 7: too many arguments: saxpy takes 4 arguments: a (float), x (const float \*), y (float \*), n (uint)$' run saxpy.cl $four $arguments --arg 7
refuse '--arg n=1.5: n (uint) of saxpy takes an integer such as 3, found "1.5"$' run saxpy.cl $four --arg 1 --arg f32[1] --arg f32[1] --arg n=1.5
refuse '--arg x=7: x of saxpy is a pointer, and this is not a value of that type: give one such as --arg x=f32\[1024\]' run saxpy.cl $four --arg 1 --arg x=7 --arg f32[1] --arg 1
refuse '--arg a=abc: a of saxpy is a number' run saxpy.cl $four --arg a=abc --arg f32[1] --arg f32[1] --arg 1
echo 'kernel void tally(global uint *bins, global uint *in) { atomic_add(&bins[in[get_global_id(0)] & 3], 1); }' >tally.cl
expect 1 "uninitialised-atomic: .*: 'bins' (16 bytes at .*); if the buffer should start with zeros, initialise it: --arg bins=TYPE.COUNT.:0; kernel tally" run tally.cl --grid 1 --block 8 --arg bins=u32[4] --arg in=u32[8]:ramp --check=uninitialised
expect 0 '^bins u32.4.: 4 elements changed: 2 2 2 2$' run tally.cl --grid 1 --block 8 --arg bins=u32[4]:0 --arg in=u32[8]:ramp --check=uninitialised
printf 'program: {source: tally.cl}\nbuffers: {bins: {type: u32, count: 4}, in: {type: u32, count: 8, init: 1}}\nsteps: [launch: {entry: tally, grid: 1, block: 8, args: [bins, in]}]\n' >tally.yaml
expect 1 "uninitialised-atomic: .*: 'bins' (16 bytes at [0-9a-fx]*); kernel tally" run tally.yaml --check=uninitialised
cat >vector.cl <<'END'
kernel void shift(float2 bias, int4 whole, global const float4 *in, global float *out) { out[get_global_id(0)] = in[get_global_id(0)].w + bias.y + whole.z; }
END
expect 0 '^out f32\[4\]: 4 elements changed: 37 37 37 37$' run vector.cl --grid 1 --block 4 --arg bias=1,2 --arg whole=1,2,0x20,4 --arg in=float4[4]:3 --arg out=f32[4]
refuse '--arg bias=1,2,3: bias of shift is 2 numbers of type f32, and this is not a value of that type: give one such as --arg bias=f32:0,0$' run vector.cl --grid 1 --block 4 --arg bias=1,2,3 --arg whole=1,2,3,4 --arg in=float4[4] --arg out=f32[4]
refuse '--arg whole=1,x,3,4: whole of shift is 4 numbers of type s32, ' run vector.cl --grid 1 --block 4 --arg bias=1,2 --arg whole=1,x,3,4 --arg in=float4[4] --arg out=f32[4]
refuse 'for example --arg in=float4\[4\]$' run vector.cl --grid 1 --block 4 --arg bias=1,2 --arg whole=1,2,3,4 --arg out=f32[4]
refuse '--arg room=8: room of take is __local memory, .*: give one such as --arg room=local\[1024\]' run several.cl --entry take $four --arg room=8
refuse 'x=f23\[4\]: unknown type "f23"; did you mean "f32"' run saxpy.cl $four --arg 1 --arg x=f23[4] --arg f32[1] --arg 1
refuse 'x=f32\[\]: the number of elements is missing' run saxpy.cl $four --arg 1 --arg 'x=f32[]' --arg f32[1] --arg 1
refuse 'x=f32\[4\]:1,2,3: expected 4 numbers, found 3' run saxpy.cl $four --arg 1 --arg x=f32[4]:1,2,3 --arg f32[1] --arg 1
refuse 'x=f32\[4\]:rand: the contents "rand" of the buffer are not valid' run saxpy.cl $four --arg 1 --arg x=f32[4]:rand --arg f32[1] --arg 1
refuse 'x=f32\[9\]:file=numbers.txt: expected 9 numbers, found 4 in numbers.txt$' run saxpy.cl $four --arg 1 --arg x=f32[9]:file=numbers.txt --arg f32[1] --arg 1
refuse 'x=f32\[9\]:file=none.bin: none.bin: cannot be read' run saxpy.cl $four --arg 1 --arg x=f32[9]:file=none.bin --arg f32[1] --arg 1
refuse 'a={f32: 1}, {f32: 2}: expected one argument as in launch files' run saxpy.cl $four --arg 'a={f32: 1}, {f32: 2}'
refuse 'a={f32: 1: expected an argument as in launch files' run saxpy.cl $four --arg 'a={f32: 1'
refuse '--arg: remove the control character' run saxpy.cl $four --arg 'a=1
steps: []'
refuse '--grid 4x: expected one to three numbers' run saxpy.cl --grid 4x --block 1 $arguments
refuse '--grid 1,2,3,4: expected one to three numbers' run saxpy.cl --grid 1,2,3,4 --block 1 $arguments
refuse '--grid 4xx: expected one to three numbers' run saxpy.cl --grid 4xx
refuse '--block 4,,: expected one to three numbers' run saxpy.cl --block 4,,
for sizes in '--grid 2 --block 8' '--block 512' '--grid 3' '--global 100 --block 10' ''; do # the suggested command must run
    expect 2 'also give' run saxpy.cl $sizes
    cp err told
    expect 0 '1 launch' run saxpy.cl $sizes $(sed 's/.*, for example//; s/, or write.*//' told)
done
refuse 'n (uint), for example .* --arg n=16$' run saxpy.cl --grid 2 --block 8
refuse '"f32\[256\]" after the kernel: did you mean --arg f32\[256\]?' run saxpy.cl $four f32[256]
refuse '"n=3" after the kernel: did you mean --arg n=3?' debug saxpy.cl $four n=3
refuse 'did you mean "lanewise run saxpy.cl"?' saxpy.cl
refuse '"-batch" is an option of gdb: give it after --' gdb saved.yaml -batch
cp saxpy.cl saxpy.txt
refuse "saxpy.txt: the file contains a kernel, but its suffix does not say in which language: rename it to .cl, .cu, .spv, .ptx, .s or .lwo" run saxpy.txt
for n in 1M 1e6 2G 500k; do expect 0 '1 launch' run saxpy.cl $four $arguments --max-instructions $n --timeout 10m; done
expect 4 'max-instructions 3000' run saxpy.cl --grid 4096 --block 256 $arguments --max-instructions 3k
for n in 1.5 M 1Q -1M 1e99 0; do refuse 'such as 1000000, 1M or 1e6, found' run saxpy.cl $four $arguments --max-instructions $n; done
refuse 'such as 600, 0.5 or 10m, found "10d"' run saxpy.cl $four $arguments --timeout 10d
echo '__kernel void spins(__global int *out, int n) { out[n + get_local_id(0)] = 1; while (n == 100) out[0] += n; }' >spins.cl
expect 4 '^spins.cl: 1 finding' run spins.cl --grid 1 --block 1 --arg s32[2] --arg 100 --check --max-instructions 10k
[ "$(grep -c '10000 warp instructions were executed' err)" = 1 ] || fail "the message about the limit is not printed exactly once"
refuse '--block 2000: block: 2000 x 1 x 1 threads are too many: a block has at most 1024' run saxpy.cl --grid 1 --block 2000 $arguments
refuse '--block 8: block: fixed was compiled for blocks of \[16, 1, 1\]' run several.cl --entry fixed --grid 2 --block 8 --arg s32[32]
refuse '--global 1000: global: 1000 is not a multiple' run saxpy.cl --global 1000 --block 256 $arguments
refuse 'give one of them' run saxpy.cl --global 1000 --grid 4 --block 256 $arguments
refuse '--grid can be used only with a kernel file .*, but saved.yaml is a launch file' run saved.yaml --grid 4
refuse 'option "-DN=1" is for\|compiler options such as "-DN=1" are for .cl and .cu' run twice.s -DN=1 --grid 1 --block 1 --arg u32[1] --arg 1
refuse 'at most 256 arguments' run saxpy.cl $(yes -- --arg=1 | head -n 257)
}

# ---- -g compiles for a debugger, regardless of the options in the launch file
printf 'program: {source: saxpy.cl, options: [-O3, -g0]}\nbuffers: {x: {type: f32, count: 64, init: 2}, y: {type: f32, count: 64}}\nsteps: [launch: {entry: saxpy, grid: 1, block: 64, args: [3, x, y, 64]}]\n' >fast.yaml
for how in "fast.yaml" "saxpy.cl --grid 1 --block 64 --arg 3 --arg f32[64]:2 --arg f32[64] --arg 64" "saxpy.cl -X -O3 --grid 1 --block 64 --arg 3 --arg f32[64]:2 --arg f32[64] --arg 64"; do
    # shellcheck disable=SC2086
    expect 0 '^sum = 6$' debug -g $how --batch -c 'break 6' -c continue -c 'print sum'
done
expect 2 '' debug fast.yaml --batch -c 'break 6' -c continue -c 'print sum'
expect 0 '' compile -g saxpy.cl -X -O3 -o debuggable.lwo
expect 0 '' compile saxpy.cl -X -O0 -X -g -X -cl-opt-disable -o by-hand.lwo
cmp -s debuggable.lwo by-hand.lwo || fail "compile -g differs from a compilation with the corresponding options"
expect 0 '1 launch' run -g fast.yaml
printf '#!/bin/sh\necho "$@" >>words\nexit 1\n' >nvcc
chmod +x nvcc
expect 2 '' run -g scale.cu --compiler ./nvcc -X -O3 -X -lineinfo -X -Xptxas -X -O2 -X --optimize -X 3 -DN=4 --grid 1 --block 1
grep -q -- ' -DN=4.* -G' words && grep -q -- '-Xptxas -O2' words || fail "nvcc does not get -G: $(cat words)"
! grep -q -- ' -O3\| -lineinfo\|--optimize' words || fail "nvcc gets options to optimise: $(cat words)"
expect 2 '' compile -g scale.cu --compiler ./nvcc
grep -q -- ' -G' words || fail "compile -g does not pass -G to nvcc"
printf 'program: {source: twice.s}\nsteps: [launch: {entry: twice, grid: 1, block: 1, args: [0, 0]}]\n' >assembly.yaml
for c in run debug gdb; do refuse '-g has no effect on twice.s, which is not compiled' $c -g assembly.yaml; done
refuse '-g has no effect on saxpy.ptx' compile -g saxpy.ptx
refuse '-g compiles for a debugger and takes no operand; to wait for gdb, use --gdb=1234' run fast.yaml -g 1234
refuse '"-g:1234": -g compiles for a debugger and takes no operand; to wait for gdb, use --gdb=:1234' debug fast.yaml -g:1234
if command -v gdb >/dev/null; then
    expect 0 '^\$1 = 6$' gdb -g fast.yaml -- -batch -ex 'break 6' -ex continue -ex 'print sum' -ex delete -ex continue
    # shellcheck disable=SC2086
    expect 0 '^y f32\[1024\]: 999 elements changed: 3 5.5' gdb -g saxpy.cl $four $arguments -- -batch -ex 'break 6 if i == 7' -ex continue -ex 'print sum' -ex delete -ex continue
    grep -q '^\$1 = 17.5$' out || fail "gdb does not show the variable"
fi

# ---- files of other types: the message names the type and what to do
echo 'int main(void) { return 0; }' >host.c
cp host.c host.cpp
cp host.c program.h
echo 'import pyopencl' >host.py
printf '#!/usr/bin/env python3\nimport pyopencl\n' >script
echo '; ModuleID' >module.ll
: >empty.yaml
printf '\003\002\043\007\000\000\001\000\000\000\000\000\000\000\000\000' >kernel.spir
printf 'BC\300\336\065\024\000\000' >kernel.bc
printf '!<arch>\nx.o/            0           0     0     644     4         `\n' >lib.a
printf '\211PNG\r\n\032\n\000\000\000\rIHDR' >picture.png
printf '\037\213\010\000\000\000' >kernels.tar.gz
printf 'abc\000def' >unknown
printf 'LWCHECK\nxxxxxxxx' >saved.checkpoint
cp twice.lwo object
for c in run debug gdb template; do
    for row in 'host.c|this file is a host program in C: Lanewise runs kernels, not whole programs' 'host.cpp|this file is a host program in C++' \
        'program.h|this file is a header: give the file that includes it' 'host.py|this file is a host program in Python' 'script|this file is a script' \
        'module.ll|this file is LLVM assembly' 'empty.yaml|the file is empty: "lanewise template k.cl" writes a launch file' \
        'kernel.spir|this file is SPIR-V: rename it to .spv' 'kernel.bc|this file is LLVM bitcode' \
        'lib.a|this file is an archive of host object files' 'picture.png|this file is an image: give a launch file' 'kernels.tar.gz|this file is compressed (gzip)' \
        'elsewhere|this is a folder: give a launch file in it' 'unknown|the file is not text, and its format' \
        'saved.checkpoint|this file is a checkpoint: give the launch file .* with --resume' 'object|rename it' \
        "$lanewise|this file is a program or library of the host: Lanewise runs kernels, not whole programs: give the file that has the kernel"; do
        refuse ": ${row#*|}" $c "${row%%|*}"
    done
done
printf 'program: {source: host.c}\nsteps: [launch: {entry: k, grid: 1, block: 1}]\n' >wrong.yaml
refuse 'wrong.yaml:1: host.c: this file is a host program in C' run wrong.yaml
printf '%d cases, %d failures\n' "$cases" "$failures"
[ "$failures" = 0 ]
