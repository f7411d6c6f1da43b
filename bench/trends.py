# SPDX-License-Identifier: Apache-2.0
"""Code that the scripts in bench/ share: runs on a GPU model, comparison of figures with their sources, and the private-stream
kernel."""
import json
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Trends:
    """Runs kernels, prints whether claims about their figures hold, and stores the figures for tables."""

    def __init__(self, program, work, out):
        self.program, self.work, self.out = program, work, out
        self.bad = 0
        self.rows = []

    def run(self, launch, machine, keys, dump=None, name='launch', options=()):
        """Runs a launch file with the text @launch. Returns the report and, if @dump is given, the words of this buffer. Calls
        with different @name may run at the same time. The folder of @name contains the files of the launch. @options: more
        words of the command line."""
        at, name = os.path.split(os.path.join(self.work, name))
        with open(os.path.join(at, name + '.yaml'), 'w') as f:
            f.write(launch)
        command = [self.program, 'run', name + '.yaml', '-q', '--timing=' + machine, '--timing-report', name + '.report', *options]
        for key in keys:
            command += ['--timing-set', key]
        if dump:
            command += ['--dump', '%s=%s.bin' % (dump, name)]
        if subprocess.run(command, cwd=at).returncode != 0:
            sys.exit('bench/%s: the run failed: %s' % (os.path.basename(sys.argv[0]), ' '.join(command)))
        with open(os.path.join(at, name + '.report')) as f:
            report = json.load(f)
        if not dump:
            return report
        with open(os.path.join(at, name + '.bin'), 'rb') as f:
            data = f.read()
        return report, struct.unpack('<%dI' % (len(data) // 4), data)

    def opencl(self, kernel, threads, block, n, machine, keys):
        """Runs a kernel of bench/trends.cl, and returns the report."""
        return self.run('program: {source: %s/trends.cl}\nbuffers:\n'
                        '  a: {type: s32, count: %d, init: {random: {seed: 5, low: 0, high: 4095}}}\n'
                        '  out: {type: s32, count: %d}\n'
                        'steps: [launch: {entry: %s, grid: [%d], block: [%d], args: [a, out, %d]}]\n' %
                        (HERE, threads * n + 8192, threads, kernel, threads // block, block, n), machine, keys)

    def claim(self, holds, text):
        print('%s  %s' % ('ok  ' if holds else 'FAIL', text), flush=True)
        self.bad |= not holds

    def band(self, what, ours, expected, share):
        """Claims that our figure differs from the source's figure @expected by at most @share."""
        inside = abs(ours / expected - 1) <= share + 1e-9
        self.rows.append((what, expected, share, ours, inside))
        self.claim(inside, '%s: %.5g, band %g +-%g %%' % (what, ours, expected, 100 * share))

    def keep(self, name, heading, rows):
        if self.out:
            with open(os.path.join(self.out, name + '.txt'), 'w') as f:
                for row in [heading, *rows]:
                    f.write(' '.join(str(x) for x in row) + '\n')


def thread_ipc(report):
    return report['ratios']['thread_ipc']


def miss_rate(report):
    core = report['cores'][0]
    loads = core['l1_hits'] + core['l1_misses'] + core['l1_merges']
    return (core['l1_misses'] + core['l1_merges']) / loads


# ---- the private-stream kernel: specification of the warp scheduling thesis, section 12.2 -------------

WAVES, WARPS, ITERATIONS = 2, 32, 82
ARRAY = 384  # bytes between the arrays of neighbouring lanes: three lines, so that a lane misses 3 times in 82 loads
AT = 13312   # address of the arrays modulo 64 KB. It affects swl with 3 and 4 warps and one load; the source does not state it


def private_stream(loads, loop=False):
    """Returns the text of a kernel that executes, 82 times, @loads loads from the lane's own arrays and six dependent additions.
    With @loop the kernel is a loop, otherwise it has no branch.

    All loads write the same register, so the second load issues when the first one has its data. Only this rule gives the
    source's figures for two loads: a script of twelve lines that models the source's machine has thread IPC .28 and miss rate .72
    under gto, as in the source. If both loads were outstanding together, it would have .47 and .43."""
    text = '.kernel k\n.param ptr.global x\n.param ptr.global out\n'
    text += '    v_s2r v0, %ctaid.x\n    v_s2r v1, %ntid.x\n    v_s2r v2, %tid.x\n    v_mad_u32 v0, v0, v1, v2\n'
    text += '    v_mov_b32 v20, 0\n    v_mov_b64 v6:7, c[x]\n'
    for k in range(loads):
        a = 'v%d:%d' % (8 + 2 * k, 9 + 2 * k)
        text += '    v_mulwide_u32 %s, v0, %d\n    v_add_u64 %s, %s, v6:7\n' % (a, ARRAY * loads, a, a)
        text += '    v_add_u64 %s, %s, %d\n' % (a, a, ARRAY * k + AT)
    if loop:
        text += '    s_mov_b32 s1, 0\nagain:\n'
    for i in range(1 if loop else ITERATIONS):
        for k in range(loads):
            text += '    ld.global.b32 v21, [v%d:%d+%d]\n' % (8 + 2 * k, 9 + 2 * k, 4 * i)
        text += '    v_add_u32 v20, v21, v20\n'
        text += '    v_add_u32 v20, v20, 1\n' * 5
    if loop:
        text += ''.join('    v_add_u64 v%d:%d, v%d:%d, 4\n' % (8 + 2 * k, 9 + 2 * k, 8 + 2 * k, 9 + 2 * k) for k in range(loads))
        text += '    s_add_u32 s1, s1, 1\n    s_setp_u32.lt sp0, s1, %d\n    @sp0 s_bra again\n' % ITERATIONS
    return text + ('    v_mulwide_u32 v4:5, v0, 4\n    v_mov_b64 v6:7, c[out]\n    v_add_u64 v4:5, v4:5, v6:7\n'
                   '    st.global.b32 [v4:5], v20\n    exit\n.end\n')


# Keys for the machine of the source: one SM that issues an instruction every four cycles; blocks of one warp; an L1 of 32 KB with
# hashed sets. A hit takes 10 cycles; a miss takes 400 cycles, and memory delivers a line every 20 cycles; an addition takes 20
# cycles. Instruction fetches do not miss. lsu.queue has the value of the GPU model, 1.
SANITY = ['core.count=1', 'core.blocks=32', 'l1.hash=xor', 'l1.latency=10', 'fetch.perfect=true', 'constant.perfect=true',
          'clocks.core=1300', 'clocks.icnt=1300', 'clocks.l2=1300', 'clocks.dram=1300', 'l2.bytes=0', 'l2.slices=1',
          'dram.channels=1', 'dram.burst_bytes=128', 'dram.bus_bytes=8', 'dram.tCCD=20', 'dram.latency=300',
          'units.int.latency=20', 'issue.lanes=8', 'registers.collector=reserved'] + \
         ['dram.%s=1' % key for key in ('tRCD', 'tRP', 'tRAS', 'tRC', 'tRRD', 'tCL', 'tWL', 'tWR', 'tWTR')]


def sanity(t, loads, policy, *keys, loop=False, name='private'):
    """Returns thread IPC and miss rate of the private-stream kernel. With @loop, IPC counts the instructions of the kernel
    without the loop, so that both forms can be compared."""
    with open(os.path.join(t.work, name + '.s'), 'w') as f:
        f.write(private_stream(loads, loop))
    threads = WAVES * WARPS * 32
    report = t.run('program: {source: %s.s}\nbuffers:\n  x: {type: u32, count: %d}\n  out: {type: u32, count: %d}\n'
                   'steps: [launch: {entry: k, grid: [%d], block: [32], args: [x, out]}]\n' %
                   (name, (threads * ARRAY * loads + AT) // 4, threads, threads // 32), 'rogers', SANITY + policy + list(keys), name=name)
    if loop:
        return threads * ITERATIONS * (loads + 6) / report['cycles'], miss_rate(report)
    return thread_ipc(report), miss_rate(report)
