# SPDX-License-Identifier: Apache-2.0
"""Runs kernels on a GPU model, by default `rogers`, and prints the claims and tables of a paper's experiments."""
import concurrent.futures
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, '..'))
from trends import Trends  # noqa: E402
from workloads import WORKLOADS, Folder  # noqa: E402

SCHEDULERS = {
    'lrr': ['issue.policy=lrr'], 'gto': [], 'two_level': ['issue.policy=two_level', 'issue.inner=gto', 'issue.outer=gto', 'issue.group=2'],
    'two_level lrr': ['issue.policy=two_level', 'issue.inner=lrr', 'issue.outer=lrr', 'issue.group=8'],
    'ccws': ['ccws.on=true'], 'daws': ['daws.on=true'],
}


def swl(limit):
    return ['issue.policy=swl', 'issue.limit=%d' % limit]


def harmonic(values):
    return len(values) / sum(1 / v for v in values)


def mean(values):
    return sum(values) / len(values)


class Result:
    def __init__(self, report):
        core, scheduler = report['sums']['cores'], report['sums']['schedulers']
        self.cycles, self.core = report['cycles'], core
        self.ipc, self.mpki = report['ratios']['thread_ipc'], report['ratios']['l1_mpki']
        self.instructions, self.thread_instructions = scheduler['instructions'], scheduler['thread_instructions']
        self.loads = core['l1_hits'] + core['l1_misses'] + core['l1_merges']
        self.gpu = report['sums']['gpu']
        self.misses = core['l1_misses'] + core['l1_merges']
        self.hits = core['l1_hits'] / self.loads if self.loads else 0
        self.dram_reads = report['sums']['channels']['reads']
        self.writes = report['sums']['channels']['writes'] # bursts of 32 bytes
        self.slices = report['sums']['slices']
        self.icnt_blocked = core['icnt_blocked']
        self.blocks_changed = core['equalizer_fewer'], core['equalizer_more']
        self.rows = {k: core['rows_' + k] for k in ('on', 'drowsy', 'off', 'named', 'missing')}
        self.orf = {k: core['orf_' + k] for k in ('reads', 'writes', 'last_reads', 'last_writes', 'writebacks', 'values', 'values_unread', 'values_once', 'values_twice', 'wrong')}
        self.prf = {k: core['prf_' + k] for k in ('fast_reads', 'fast_writes', 'slow_reads', 'slow_writes', 'best', 'low', 'slow_rows', 'wakes')}
        self.regless = {k: core['regless_' + k] for k in ('regions', 'hits', 'loads', 'writebacks', 'drops', 'dead', 'touched', 'entries', 'wrong')}
        self.main_file = core['register_reads'], core['register_writes']
        self.register_joules = report['energy']['components']['registers']
        self.occupancy = report['ratios']['occupancy']
        self.throttled = report['sums']['causes'].get('throttled', 0)
        parts = report['energy']['components']
        self.joules = sum(parts.values())
        self.memory_joules = parts['l1'] + parts['l2'] + parts['dram']
        self.histograms = report.get('histograms', {}).get('cores', {})


class Experiment(Trends):
    """An experiment on the GPU model rogers with @cores of its 30 cores, and an L2 slice and a DRAM channel for each four cores
    (the whole model has one for each 3.75 cores). Each combination of kernel and keys runs only once."""

    model = 'rogers'

    def __init__(self, program, work, out, cores, size, jobs, known=()):
        super().__init__(program, work, out)
        self.machine = ['core.count=%d' % cores, 'l2.slices=%d' % max(1, cores // 4), 'dram.channels=%d' % max(1, cores // 4)]
        self.cores, self.size, self.known = cores, size, known
        self.folder = self.make_folder()
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.launches, self.running, self.smaller = {}, {}, None
        self.table = []
        self.seen = set()

    def make_folder(self):
        return Folder(self.work, self.program)

    def make(self, name):
        return WORKLOADS[name][2]

    def result(self, report):
        return Result(report)

    def launch(self, name):
        if name not in self.launches:
            self.launches[name] = self.make(name)(self.folder, self.size)
        return self.launches[name]

    def launch_with(self, name, keys):
        """Returns the text of the launch file for a run of kernel @name with @keys."""
        return self.launch(name)

    def start(self, name, keys, machine=None):
        keys = tuple((self.machine if machine is None else machine) + keys)
        if (name, keys) not in self.running:
            self.running[name, keys] = self.pool.submit(
                lambda text, at: self.result(self.run(text, self.model, keys, name='run%d' % at)), self.launch_with(name, keys), len(self.running))
        return self.running[name, keys]

    def start_profiled(self, name, keys):
        """Starts a run of kernel @name with @keys and a profile of its loads. The profile is measured first, in a run with inputs
        of half the size."""
        def job(number):
            self.run(smaller, 'rogers', self.machine, name='profile/%s' % name, options=['--mechanism', 'loads'])
            return Result(self.run(self.launch(name), 'rogers', self.machine + keys, name='run%d' % number,
                                   options=['--timing-profile', 'profile/%s.report' % name]))
        key = (name, 'profiled') + tuple(keys)
        if key not in self.running:
            if self.smaller is None:
                os.mkdir(os.path.join(self.work, 'profile'))
                self.smaller = Folder(os.path.join(self.work, 'profile'), self.program)
            smaller = WORKLOADS[name][2](self.smaller, self.size / 2)
            self.running[key] = self.pool.submit(job, len(self.running))
        return self.running[key]

    def get(self, name, keys, machine=None, profiled=False):
        future = self.start_profiled(name, keys) if profiled else self.start(name, keys, machine)
        while True:
            try:
                return future.result(3600)
            except SystemExit as e:
                print(e, flush=True)
                os._exit(1)

    def all(self, names, variants):
        """Runs each kernel of @names with each of @variants (name to keys). Returns {kernel: {variant: Result}}."""
        for name in names:
            for keys in variants.values():
                self.start(name, keys)
        return {name: {v: self.get(name, keys) for v, keys in variants.items()} for name in names}

    def functional(self, name):
        """Runs the kernel without the timing model. Returns True if its result is equal to the result of the host."""
        with open(os.path.join(self.work, 'functional.yaml'), 'w') as f:
            f.write(self.launch(name))
        return subprocess.run([self.program, 'run', 'functional.yaml', '-q'], cwd=self.work).returncode == 0

    # ---- rows, trends and tables ----

    def row(self, what, source, ours, where):
        """Adds a row to the table that finish() prints. @source and @ours are texts, @where is a section of the source."""
        self.table.append((what, source, ours, where))

    def trend(self, name, holds, text):
        """Prints a trend and whether it holds. The experiment fails if a trend does not hold. Trends in self.known are known not
        to hold: for these the method prints the known reason, and the experiment fails if such a trend holds."""
        self.seen.add(name)
        if name in self.known:
            print('%s  %s: %s' % ('NOW ' if holds else 'off ', name, text), flush=True)
            if not holds:
                print('      ' + self.known[name], flush=True)
            self.bad |= holds
        else:
            self.claim(holds, '%s: %s' % (name, text))

    def report(self, name, text):
        """Prints a trend for which the specification gives no expected result, so that it cannot fail."""
        print('--    %s: %s' % (name, text), flush=True)

    def lay_out(self, heading, rows):
        """Prints a table with aligned columns."""
        rows = [[str(x) for x in row] for row in rows]
        widths = [max(len(row[i]) for row in [heading] + rows) for i in range(len(heading))]
        for row in [heading] + rows:
            print('  ' + '  '.join(x.ljust(w) if i == 0 else x.rjust(w) for i, (x, w) in enumerate(zip(row, widths))).rstrip(), flush=True)

    def finish(self):
        if self.table:
            print('\n| figure | source | ours | section |\n|---|---|---|---|')
            for row in self.table:
                print('| %s |' % ' | '.join(row))
