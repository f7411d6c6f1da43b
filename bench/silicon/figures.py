# SPDX-License-Identifier: Apache-2.0
"""Kernels in PTX that measure latencies and bandwidth by reading the clock. The same PTX runs on a CUDA device
(bench/silicon/silicon.c) and on the timing model (bench/fidelity)."""

HEAD = '.version 6.0\n.target sm_35\n.address_size 64\n'
CHAIN = 64  # dependent instructions between two reads of the clock

# Maps a name to (declarations, link of the chain, instructions that put the result into %rd9). A link is an instruction that
# depends on the previous link, or two that are used in turn. Values depend on %r1, the thread's number, so that no instruction is
# uniform.
CHAINS = {
    # Two registers are used in turn, because the compiler of a device replaces the sum of a register and itself by a shift.
    'int_add': ('.reg .b32 %x, %y; mov.b32 %x, %r1; add.s32 %y, %r1, 1;', ('add.s32 %x, %x, %y;', 'add.s32 %y, %y, %x;'), 'cvt.u64.u32 %rd9, %x;'),
    'float_add': ('.reg .f32 %x; mov.b32 %x, %r1;', 'add.rn.f32 %x, %x, %x;', 'mov.b32 %r2, %x; cvt.u64.u32 %rd9, %r2;'),
    'float_fma': ('.reg .f32 %x, %y, %z; mov.b32 %x, %r1; add.s32 %r2, %r1, 1; mov.b32 %y, %r2; add.s32 %r2, %r1, 2; mov.b32 %z, %r2;', 'fma.rn.f32 %x, %x, %y, %z;', 'mov.b32 %r2, %x; cvt.u64.u32 %rd9, %r2;'),
    'double_add': ('.reg .f64 %x; mov.b64 %x, %rd8;', 'add.rn.f64 %x, %x, %x;', 'mov.b64 %rd9, %x;'),
    'double_fma': ('.reg .f64 %x, %y, %z; mov.b64 %x, %rd8; add.s64 %rd9, %rd8, 1; mov.b64 %y, %rd9; add.s64 %rd9, %rd8, 2; mov.b64 %z, %rd9;', 'fma.rn.f64 %x, %x, %y, %z;', 'mov.b64 %rd9, %x;'),
}


def chain(name):
    """Returns a kernel that runs CHAIN dependent instructions three times. It stores the cycles of the third time, when the
    instructions are in the caches, to out[0], and the computed value to out[1]."""
    declare, link, result = CHAINS[name]
    return '''.visible .entry %s(.param .u64 out)
{
.reg .b32 %%r<4>; .reg .b64 %%rd<12>; .reg .pred %%p<2>;
ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; cvt.u64.u32 %%rd8, %%r1;
mov.u32 %%r3, 3;
%s
again:
mov.u64 %%rd2, %%clock64;
%s
mov.u64 %%rd3, %%clock64;
%s
sub.s64 %%rd4, %%rd3, %%rd2;
sub.u32 %%r3, %%r3, 1; setp.ne.u32 %%p1, %%r3, 0;
@%%p1 bra again;
st.global.u64 [%%rd1], %%rd4; st.global.u64 [%%rd1+8], %%rd9;
ret;
}
''' % (name, declare, '\n'.join(link if isinstance(link, str) else link[i % 2] for i in range(CHAIN)), result)


# Writes a ring of addresses: each entry contains the address of the next entry, which is `stride` bytes after it. Each thread
# writes one entry.
FILL = '''.visible .entry fill(.param .u64 ring, .param .u32 stride, .param .u32 entries)
{
.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
ld.param.u64 %rd1, [ring]; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [entries];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;
setp.ge.u32 %p1, %r6, %r2;
@%p1 ret;
mul.wide.u32 %rd2, %r6, %r1; add.s64 %rd2, %rd1, %rd2;
add.u32 %r6, %r6, 1; setp.eq.u32 %p1, %r6, %r2; selp.u32 %r6, 0, %r6, %p1;
mul.wide.u32 %rd3, %r6, %r1; add.s64 %rd3, %rd1, %rd3;
st.global.u64 [%rd2], %rd3;
ret;
}
'''
# One thread follows `first` addresses of the ring, then `loads` more (a multiple of 8). It stores the cycles of the latter to
# out[0].
CHASE = '''.visible .entry NAME(.param .u64 out, .param .u64 ring, .param .u32 first, .param .u32 loads)
{
.reg .b32 %r<8>; .reg .b64 %rd<12>; .reg .pred %p<2>;
SET
ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [first]; ld.param.u32 %r2, [loads];
warm:
LINK
sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra warm;
mov.u64 %rd2, %clock64;
again:
LINKS
sub.u32 %r2, %r2, 8;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra again;
mov.u64 %rd3, %clock64;
sub.s64 %rd4, %rd3, %rd2;
st.global.u64 [%rd1], %rd4; RESULT
ret;
}
'''
SHARED_SET = '''.shared .align 4 .b8 room[4096];
mov.u32 %r3, room; mov.u32 %r6, 0;
fill: add.u32 %r7, %r3, %r6; st.shared.u32 [%r7], %r7; add.u32 %r6, %r6, 4; setp.ne.u32 %p1, %r6, 4096; @%p1 bra fill;'''


def chase(name, set_up, link, result):
    return (CHASE.replace('NAME', name).replace('SET', set_up).replace('LINKS', '\n'.join([link] * 8))
            .replace('LINK', link).replace('RESULT', result))


def chases():
    ring, result = 'ld.param.u64 %rd5, [ring];', 'st.global.u64 [%rd1+8], %rd5;'
    return (chase('chase_l1', ring, 'ld.global.ca.u64 %rd5, [%rd5];', result) +
            chase('chase_l2', ring, 'ld.global.cg.u64 %rd5, [%rd5];', result) +
            chase('chase_shared', SHARED_SET, 'ld.shared.u32 %r3, [%r3];', 'st.global.u32 [%rd1+8], %r3;'))


# Each thread reads 16 bytes `count` times; `count` is even. Neighbouring threads read neighbouring bytes.
READ = '''.visible .entry read(.param .u64 out, .param .u64 data, .param .u32 count)
{
.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<2>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [data]; ld.param.u32 %r1, [count];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
mov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r3; mov.u32 %r7, 0;
mul.wide.u32 %rd3, %r5, 16; add.s64 %rd2, %rd2, %rd3; mul.wide.u32 %rd4, %r6, 16;
again:
ld.global.cg.v4.u32 {%r8, %r9, %r10, %r11}, [%rd2]; add.s64 %rd2, %rd2, %rd4;
ld.global.cg.v4.u32 {%r12, %r13, %r14, %r15}, [%rd2]; add.s64 %rd2, %rd2, %rd4;
add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r9; add.u32 %r7, %r7, %r10; add.u32 %r7, %r7, %r11;
add.u32 %r7, %r7, %r12; add.u32 %r7, %r7, %r13; add.u32 %r7, %r7, %r14; add.u32 %r7, %r7, %r15;
sub.u32 %r1, %r1, 2; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
setp.ne.u32 %p1, %r7, 305419896; @%p1 ret;
st.global.u32 [%rd1], %r7;
ret;
}
'''


def ptx():
    return HEAD + ''.join(chain(name) for name in CHAINS) + FILL + chases() + READ


if __name__ == '__main__':
    print(ptx(), end='')
