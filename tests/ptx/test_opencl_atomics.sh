#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests atomics and generic pointers of OpenCL C 2.0 and 3.0 with each installed clang, with optimisation and for debuggers: the
# results, the absence of races, and the memory orders and scopes of the instructions.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cp "$src/tests/ptx/data/atomics.cl" .
cat >each.yaml <<'END'
program: {source: atomics.lwo}
buffers:
  out: {type: u32, count: 2}
  g: {type: u32, count: 1}
  h: {type: u64, count: 1}
  sums: {type: s32, count: 12}
  lock: {type: u32, count: 1}
  shared: {type: u32, count: 1}
  spaces: {type: s32, count: 13}
steps:
  - launch: {entry: each, grid: 1, block: 1, args: [out, g, h]}
  - check: {buffer: out, values: [0, 369]}
  - launch: {entry: many, grid: 4, block: 64, args: [sums, lock, shared]}
  - check: {buffer: sums, values: [2016, 0, 32, 6112, 64, 32, 10208, 128, 32, 14304, 192, 32]}
  - check: {buffer: shared, values: [768]}
  - launch: {entry: spaces, grid: 1, block: 3, args: [spaces]}
  - check: {buffer: spaces, values: [7, 1, 0, 0, 2, 1, 0, 0, 0, 1, 1, 0, 0]}
END
cat >orders.cl <<'END'
kernel void orders(global atomic_int *a)
{
    atomic_load(a);
    atomic_load_explicit(a, memory_order_acquire);
    atomic_load_explicit(a, memory_order_acquire, memory_scope_work_group);
    atomic_load_explicit(a, memory_order_relaxed, memory_scope_all_svm_devices);
    atomic_store(a, 1);
    atomic_store_explicit(a, 2, memory_order_release, memory_scope_work_group);
    atomic_store_explicit(a, 3, memory_order_relaxed);
    atomic_fetch_add(a, 1);
    atomic_fetch_or_explicit(a, 1, memory_order_relaxed);
    atomic_fetch_max_explicit(a, 1, memory_order_acquire, memory_scope_work_group);
    atomic_exchange_explicit(a, 1, memory_order_release, memory_scope_all_svm_devices);
    atomic_fetch_xor_explicit(a, 1, memory_order_acq_rel, memory_scope_sub_group);
}
END
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v "$clang" >/dev/null || continue
    for std in CL2.0 CL3.0; do
        level=-O3
        [ $std = CL2.0 ] || level="-O0 -X -g"
        # shellcheck disable=SC2086
        "$lanewise" compile --clang "$clang" -X -cl-std=$std -X $level -o atomics.lwo atomics.cl 2>err ||
            fail "$clang $std $level: atomics.cl does not compile"
        expect 0 "" run -q --check=default,races each.yaml
        "$lanewise" compile --clang "$clang" -X -cl-std=$std -e asm -o - orders.cl >out 2>err
        [ "$(sed -n 's/^ *\(ld\|st\|atom\|red\)\.generic\.\([^ ]*\) .*/\1.\2/p' out | grep -v volatile | tr '\n' ' ')" = \
            "ld.b32.acquire ld.b32.acquire ld.b32.acquire.cta ld.b32.relaxed.sys st.b32.release st.b32.release.cta st.b32.relaxed \
red.add.u32.acq_rel red.or.b32.relaxed red.max.s32.acquire.cta atom.exch.b32.release.sys red.xor.b32.acq_rel.cta " ] ||
            fail "$clang $std: wrong orders or scopes: $(grep -E 'generic' out)"
    done
done
[ $cases -ge 4 ] || fail "no clang is installed"
# An instruction of a later PTX version than the module's is accepted only directly after the pragma lanewise.newer. The second
# load has no pragma, so it must be refused.
cat >late.ptx <<'END'
.version 6.0
.target sm_35
.address_size 64
.visible .entry late(.param .u64 a) {
.reg .b64 %rd<2>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [a];
.pragma "lanewise.newer";
ld.acquire.gpu.b32 %r1, [%rd1];
ld.acquire.gpu.b32 %r2, [%rd1];
ret;
}
END
refuse "late.ptx:9: .*needs .target sm_70" compile -o late.lwo late.ptx
[ $failures = 0 ] && echo "ok: $cases cases"
exit $((failures > 0))
