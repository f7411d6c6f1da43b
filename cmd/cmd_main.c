/* SPDX-License-Identifier: Apache-2.0 */
/* Main program: finds the command; help and version. */
#include "cmd/cmd_priv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* configure defines it; other builds have no version. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(unpackaged)"
#endif

static const char out_help[] = "write to this file; - is standard output";
#define COMPILER_OPTIONS                                                                   \
    {"compiler", 0, "PROGRAM", "for .cl and .cu sources: a clang, or nvcc"},               \
    {"clang", 0, "PROGRAM", "the same"}
#define SOURCE_OPTIONS                                                                     \
    {"define", 'D', "NAME[=VALUE]", "for the compiler of .cl and .cu sources"},            \
    {"include", 'I', "FOLDER", "for the compiler of .cl and .cu sources"},                 \
    {"option", 'X', "OPTION", "any other option of that compiler, such as -X -O1"},        \
    COMPILER_OPTIONS
#define DEBUG_OPTION                                                                       \
    {"debuggable", 'g', NULL, "compile for a debugger: not optimised, with all lines and variables, " \
                              "whatever else is said; debug and gdb take -g -X -O2 as --values"}, \
    {"values", 0, NULL, "optimised code keeps values of variables for debuggers; it needs more registers"}, \
    {"lat-barriers", 0, NULL, "bar.synch_partner before loads and stores of global and local memory, for dwr.bar_mode=explicit"}
#define DIRECT_OPTIONS                                                                     \
    {"grid", 0, "BLOCKS", "of a kernel's file: blocks, such as 64 or 8,8"},                \
    {"block", 0, "THREADS", "of a kernel's file: threads of a block, such as 256 or 16,16"}, \
    {"arg", 0, "NAME=VALUE", "of a kernel's file: an argument, such as n=1024, out=f32[4096], " \
                               "in=f32[4096]:random=1, tile=s32[256] (may be repeated)"}, \
    {"entry", 0, "NAME", "of a kernel's file: which kernel, if there are several"},        \
    {"global", 0, "THREADS", "of a kernel's file: threads of the grid, in place of --grid"}, \
    {"offset", 0, "THREADS", "of a kernel's file: OpenCL's global work offset"},           \
    {"shared", 0, "BYTES", "of a kernel's file: dynamic shared memory"},                   \
    {"expect", 0, "BUFFER=WHAT", "of a kernel's file: what a buffer must hold after the run, such as out=FILE, out=constant=3, " \
                                   "out=1,2,3 (may be repeated)"},                       \
    {"tolerance", 0, "T", "of a kernel's file: --expect allows a difference of T + T * |expected|"}, \
    {"save-launch", 0, "FILE", "write the launch file that these options amount to"}
#define REPORT_OPTIONS                                                                     \
    {"timing-report", 0, "FILE", "write what the timing model counted as JSON; - prints tables"}, \
    {"timing-sample", 0, "CYCLES", "count for every so many cycles, too, in that report"}, \
    {"timing-trace", 0, "FILE", "write what each warp did as trace events, for Perfetto; - is standard " \
                                 "output, the summary is on standard error then"}, \
    {"timing-window", 0, "FROM:TO", "cycles to trace (0:10000)"}, \
    {"timing-events", 0, "N", "events at which that trace ends (1000000: 100 to 200 MB)"}

#define CHECK_OPTIONS                                                                      \
    {"check", 0, "[LIST]", "collect findings and continue: kinds, classes, default or all, " \
                           "- before one leaves it out (\"lanewise explain\"); a debugger stops there"},              \
    {"check-file", 0, "FILE", "write the findings, too: .txt, .json, .xml (JUnit), .sarif or, to " \
                              "suppress them later, .yaml (may be repeated)"},              \
    {"check-base", 0, "DIR", "reports and suppressions name files below it from there (the current folder; \"\": as they are)"}, \
    {"check-suppress", 0, "FILE", "a file of suppressions: findings not to report (may be repeated)"},                    \
    {"max-findings", 0, "N", "places of which findings are kept (100)"},                                       \
    {"read-poison", 0, "VALUE", "what a load that is wrong reads, in each 32 bits (0)"}
#define MACHINE_OPTIONS                                                                    \
    {"warp", 'w', "W", "lanes of a warp: 4, 8, 16, 32 or 64"},                             \
    {"reconv", 0, "NAME", "reconvergence engine: cbar, stack or frontier"},                          \
    {"push-order", 0, "NAME", "stack: the side of a branch that runs first: smaller, larger " \
                              "or fall_through"},                                          \
    {"policy", 'p', "NAME", "which split of a warp runs next"},                            \
    {"quantum", 0, "N", "warp instructions a split runs before the policy selects again"},      \
    {"fairness-limit", 0, "N", "warp instructions after which a split that could run comes first (1024); 0: no limit"}, \
    {"window", 0, "N", "the same: its former name"},                                      \
    {"hang-limit", 0, "N", "warp instructions without progress before a hang is searched for (67108864; --timing: 1048576); 0: never"}, \
    {"hang-window", 0, "N", "the same: its former name"},                                 \
    {"tags", 0, "MODE", "uniform and affine registers: off, shadow or compact"},           \
    {"tag-rules", 0, "NAME", "how tags pass through instructions: table, exact or fold"},  \
    {"tag-expansion", 0, "NAME", "when tagged registers become rows: lazy or eager"},      \
    {"tag-plan", 0, "NAME", "what compact mode keeps as tags: gain or all"},               \
    {"level", 0, "N", "x86-64 level of the interpreter: 1, 3 or 4; 0: the best here"},     \
    DIRECT_OPTIONS,                                                                        \
    SOURCE_OPTIONS,                                                                        \
    DEBUG_OPTION,                                                                          \
    {"timing", 0, "[MACHINE]", "run on the timing model: a GPU model of \"lanewise timing\" or a " \
                               "file (fermi)"},                                            \
    {"timing-set", 0, "KEY=VALUE", "change a key of that GPU model (may be repeated)"},      \
    {"mechanism", 0, "NAMES", "put mechanisms of \"lanewise timing --mechanisms\" on it: ccws, or several by commas"}, \
    {"timing-profile", 0, "FILE", "mechanism daws predicts by the loads of an earlier run: its --timing-report, with --mechanism loads"}, \
    {"timing-reference", 0, NULL, "by the naive model that ticks every part in every cycle: " \
                                  "same counts, slow"},                                    \
    {"log", 0, "FILE", "write the schedule: what ran, in which order"},                    \
    {"replay", 0, "FILE", "run what a schedule log says"},                                 \
    {"resume", 0, "FILE", "continue from a checkpoint"},                                      \
    {"history", 0, "MIB", "memory to go back in time in a debugger (256); 0: none"},       \
    {"seed", 0, "N", "add N to the seed of all random contents of the launch file"}

static const struct cmd_option run_options[] = {
    {"stats", 's', "FILE", "write statistics as JSON; - is standard output, the summary is on "
                          "standard error then"},
    {"hash", 0, NULL, "print hash_mem and hash_state of the end"},
    {"dump", 'd', "BUFFER=FILE", "write a buffer after the run, as \"check\" reads it: bytes to .bin and .raw, else text; - is its bytes on standard output, the summary is on standard error then"},
    {"gdb", 0, "[ADDR]", "wait for gdb at PORT, HOST:PORT or unix:PATH (a free port of this machine)"},
    {"gdb-arch", 0, "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"gdb-file", 0, "FILE", "write the program that gdb is served, for front ends that want a file"},
    {"threads", 't', "N", "host threads for blocks; used only where results cannot depend on block order (all cores)"},
    {"engine", 0, "NAME", "interpreter, or native: compile kernels to host code where nothing can observe the difference (interpreter)"},
    {"checkpoint", 0, "FILE", "write the whole state, for --resume: where the run ends, or"},
    {"checkpoint-at", 0, "N", "at this count of warp instructions (may be repeated, with %n in "
                              "FILE), or"},
    {"checkpoint-every", 0, "N", "whenever so many warp instructions have run"},
    CHECK_OPTIONS,
    {"coverage", 0, "FILE", "write which lines and branches ran, for how many lanes, for lcov and "
                            "genhtml"},
    {"profile", 0, "FILE", "write the source with the instructions, lanes and memory requests of "
                           "each line; - prints it"},
    {"max-instructions", 0, "N", "end the run after so many warp instructions, with status 4 and the location of all lanes"},
    {"timeout", 0, "SECONDS", "the same after so many seconds, not counting those for reading and compiling"},
    {"profile-by", 0, "WHAT", "that, of each launch for itself: launch; or of all together: kernel (the default)"},
    {"verbose", 'v', NULL, "say of each kernel in which order its blocks run, and why"},
    {"quiet", 'q', NULL, "no line about success, no warnings of the compiler"},
    REPORT_OPTIONS,
    MACHINE_OPTIONS,
};
/* Options of the runtimes (runtime/rt_device.c), which reads them from LANEWISE_OPTIONS. */
static const struct cmd_option app_options[] = {
    {"gdb", 0, "[ADDR]", "wait for gdb at the first launch, at PORT, HOST:PORT or unix:PATH (a free port of this machine)"},
    {"debug", 0, NULL, "the same with a gdb of its own, in this terminal; the program gets no input"},
    {"gdb-kernel", 0, "NAME", "wait at the first launch of this kernel"},
    {"history", 0, "MIB", "memory for gdb to go back in time (256)"},
    {"debuggable", 'g', NULL, "compile OpenCL programs for a debugger: not optimised, with all lines and variables"},
    {"strict", 0, NULL, "the first wrong access ends what the device does; else it is reported and the program continues"},
    {"sources", 0, "FOLDER", "keep the sources of OpenCL programs in files of this folder, which reports and debuggers name"},
    {"record", 0, "FOLDER", "make a launch file of each launch, with its object, its buffers and what they must hold after it"},
    {"stats", 's', "FILE", "write statistics as JSON; - is standard output"},
    {"hash", 0, NULL, "print hash_mem of the end on standard error"},
    {"threads", 't', "N", "host threads for blocks; used only where results cannot depend on block order (1)"},
    {"check", 0, "[LIST]", "collect findings of these kinds and continue: kinds, classes, default or all (memory)"},
    {"check-file", 0, "FILE", "write the findings, too: .txt, .json, .xml (JUnit) or .sarif"},
    {"check-suppress", 0, "FILE", "a file of suppressions: findings not to report (may be repeated)"},
    {"max-findings", 0, "N", "places of which findings are kept (100)"},
    {"read-poison", 0, "VALUE", "what a load that is wrong reads, in each 32 bits (0)"},
    {"coverage", 0, "FILE", "write which lines and branches ran, for lcov and genhtml"},
    {"profile", 0, "FILE", "write the source with the cost of each line; - prints it"},
    {"max-instructions", 0, "N", "stop the device after so many warp instructions, with the location of all lanes"},
    {"timeout", 0, "SECONDS", "the same after so many seconds of execution"},
    {"timing", 0, "MACHINE", "run on the timing model: a GPU model of \"lanewise timing\" or a file"},
    {"timing-set", 0, "KEY=VALUE", "change a key of that GPU model (may be repeated)"},
    {"timing-report", 0, "FILE", "write the counters of the timing model: .json, or a text; - prints it"},
    {"mechanism", 0, "NAMES", "put mechanisms of \"lanewise timing --mechanisms\" on it, by commas"},
    {"warp", 'w', "W", "lanes of a warp: 4, 8, 16, 32 or 64"},
    {"reconv", 0, "NAME", "reconvergence engine: cbar, stack or frontier"},
    {"policy", 'p', "NAME", "which split of a warp runs next"},
    {"tags", 0, "MODE", "uniform and affine registers: off, shadow or compact"},
    {"hang-limit", 0, "N", "warp instructions without progress before a hang is searched for; 0: never"},
    {"compiler", 0, "PROGRAM", "the clang that compiles kernels"},
};
static const struct cmd_option gdb_options[] = {
    {"arch", 'a', "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"gdb-program", 0, "PROGRAM", "the gdb to start (that of GDB, or gdb)"},
    {"stats", 's', "FILE", "write statistics as JSON; - is standard output, the summary is on "
                          "standard error then"},
    {"hash", 0, NULL, "print hash_mem and hash_state of the end"},
    {"dump", 'd', "BUFFER=FILE", "write a buffer after the run, as \"check\" reads it: bytes to .bin and .raw, else text; - is its bytes on standard output, the summary is on standard error then"},
    {"quiet", 'q', NULL, "no line about success, no warnings of the compiler"},
    CHECK_OPTIONS,
    REPORT_OPTIONS,
    MACHINE_OPTIONS,
};
static const struct cmd_option debug_options[] = {
    {"execute", 'x', "FILE", "run the shell commands of a file first"},
    {"command", 'c', "COMMAND", "run one shell command first"},
    {"batch", 'b', NULL, "exit after the -x and -c commands, or at the first that fails"},
    {"gdb", 0, "[ADDR]", "wait for gdb instead: PORT, HOST:PORT or unix:PATH"},
    {"gdb-arch", 0, "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"gdb-file", 0, "FILE", "write the program that gdb is served, for front ends that want a file"},
    CHECK_OPTIONS,
    MACHINE_OPTIONS,
};
static const struct cmd_option compile_options[] = {
    {"output", 'o', "FILE", out_help},
    {"emit", 'e', "KIND", "obj (an object, the default), ptx, asm or cfg"},
    SOURCE_OPTIONS,
    DEBUG_OPTION,
    {"stack", 0, "BYTES", "of a thread's stack for functions that call each other in a circle "
                          "(8192)"},
    {"registers", 0, "NUMBER", "of vectors that a kernel without calls may use, 16 to 255 (as "
                               ".maxnreg says, else all)"},
    {"strip", 0, NULL, "leave types and variables of the source out of the object"},
    {"no-scalar", 0, NULL, "keep addresses off the scalar unit, for engines that divide warps freely"},
    {"slices", 0, NULL, "keep in the object how each kernel computes the addresses of its global accesses"},
};
static const struct cmd_option template_options[] = {
    {"output", 'o', "FILE", "a file that is not there yet, in place of standard output"},
    SOURCE_OPTIONS,
};
static const struct cmd_option asm_options[] = {
    {"output", 'o', "FILE", out_help},
    {"control", 0, "HOW", "auto (the default) fills in the control fields of functions without any, keep leaves all "
                          "as written"},
};

/* cmd_cc.c reads the line itself, because all other options are those of a compiler. */
static const struct cmd_option cc_options[] = {
    {"output", 'o', "FILE", "the program (a.out), or with -c the object"},
    {"compile", 'c', NULL, "objects only, NAME.o"},
    {"compiler", 0, "PROGRAM", "a clang, or nvcc (clang-19, else 16, 15, 14)"},
    {"device-debug", 'G', NULL, "kernels are not optimised, and have all lines and variables"},
    {"device-c", 0, NULL, "-c -rdc=true; -dc is the same"},
    {"rdc", 0, "BOOL", "true: kernels of several files may use each other's functions and variables"},
    {"define", 'D', "NAME[=VALUE]", "for the compiler, as all options that are not listed here (-I, -O, -g, -std, -W, -l, -L)"},
};

static const struct cmd_option dis_options[] = {
    {"output", 'o', "FILE", out_help},
    {"check-control", 0, NULL, "instead: a line for each instruction that may issue too early, by control fields"},
    {"slices", 0, NULL, "instead: how each kernel computes the addresses of its global accesses from the ids of block and thread"},
    {"host", 0, "INSTRUCTION", "the host code that runs one instruction here: a mnemonic, or the "
                               "whole text"},
    {"level", 0, "N", "x86-64 level for --host: 1, 3 or 4; 0: the best here"},
    {"warp", 'w', "W", "lanes of a warp for --host"},
};

static const struct cmd_option timing_options[] = {
    {"output", 'o', "FILE", out_help},
    {"set", 's', "KEY=VALUE", "change a key, such as l1.bytes=32768 (may be repeated)"},
    {"source", 0, NULL, "the shipped file, which says of each value where it comes from"},
    {"mechanisms", 0, NULL, "what --mechanism of run, debug and gdb puts on a GPU model, a line each"},
};

static int help(const struct cmd *cmd, int argc, char **argv);

static int version(const struct cmd *cmd, int argc, char **argv)
{
    (void)cmd, (void)argc, (void)argv;
    printf("lanewise %s\n", PACKAGE_VERSION);
    return CMD_FINE;
}

static int manual(const struct cmd *cmd, int argc, char **argv)
{
    struct lw_file_sink out;

    (void)cmd, (void)argc, (void)argv;
    lw_file_sink_init(&out, stdout);
    isa_manual_print(&out.sink);
    return CMD_FINE;
}

const struct cmd cmd_table[] = {
    {"run", "LAUNCH.yaml|KERNEL", "run a launch file and check its results, or a kernel's file by options", run_options,
     LW_COUNT_OF(run_options), cmd_run},
    {"app", "PROGRAM [ARGUMENT]...", "run a program that uses OpenCL or CUDA, unchanged, on the emulator", app_options,
     LW_COUNT_OF(app_options), cmd_app},
    {"cc", "FILE...", "compile and link a program of CUDA's runtime, host code and kernels", cc_options, LW_COUNT_OF(cc_options),
     cmd_cc},
    {"gdb", "LAUNCH.yaml|KERNEL", "the same in gdb, started and connected; arguments after -- are passed to gdb", gdb_options, LW_COUNT_OF(gdb_options), cmd_gdb},
    {"debug", "LAUNCH.yaml|KERNEL", "the shell, stopped at the first kernel's entry", debug_options,
     LW_COUNT_OF(debug_options), cmd_debug},
    {"template", "FILE", "a launch file to start from: the kernels of a program and their arguments",
     template_options, LW_COUNT_OF(template_options), cmd_template},
    {"compile", "FILE...", "a .cl, .cu or .ptx source, or several linked, to an object", compile_options,
     LW_COUNT_OF(compile_options), cmd_compile},
    {"asm", "FILE.s", "assembly to an object", asm_options, LW_COUNT_OF(asm_options),
     cmd_asm},
    {"dis", "[FILE]", "an object, or a source, to assembly; or --host: an instruction's host code",
     dis_options, LW_COUNT_OF(dis_options), cmd_dis},
    {"timing", "[MACHINE|FILE|compare A.json B.json]", "GPU models of the timing model, or all keys of one, or of a file of keys; or two reports side by side", timing_options,
     LW_COUNT_OF(timing_options), cmd_timing},
    {"explain", "[KIND]", "kinds of findings of run --check, all or of a class, or one with a wrong and a right kernel",
     NULL, 0, cmd_explain},
    {"manual", "", "print the manual of the instruction set", NULL, 0, manual},
    {"help", "[COMMAND]", "this list, or a command's options", NULL, 0, help},
    {"version", "", "print the version", NULL, 0, version},
};
const size_t cmd_count = LW_COUNT_OF(cmd_table);

static const struct cmd *find(const char *name)
{
    const char *near;

    for (size_t i = 0; i < cmd_count; i++)
        if (strcmp(cmd_table[i].name, name) == 0)
            return &cmd_table[i];
    if (lnc_is_source(name) || (strrchr(name, '.') != NULL && strcmp(strrchr(name, '.'), ".yaml") == 0)) {
        cmd_wrong_usage(NULL, "\"%s\" is no command; did you mean \"lanewise run %s\"?", name, name);
        return NULL;
    }
    near = lw_suggest(name, &cmd_table[0].name, cmd_count, sizeof *cmd_table);
    if (near != NULL)
        cmd_wrong_usage(NULL, "\"%s\" is no command; did you mean \"%s\"?", name, near);
    else
        cmd_wrong_usage(NULL, "\"%s\" is no command; \"lanewise help\" lists them", name);
    return NULL;
}

static int help(const struct cmd *cmd, int argc, char **argv)
{
    struct lw_file_sink out;

    lw_file_sink_init(&out, stdout);
    if (argc > 1) {
        cmd = find(argv[1]);
        if (cmd == NULL)
            return CMD_USAGE;
        cmd_help(cmd, &out.sink);
        return CMD_FINE;
    }
    lw_put(&out.sink, "Lanewise runs GPU kernels without a GPU and lets you see everything.\n\n"
                      "usage: lanewise COMMAND [OPTION]... [OPERAND]...\n\n");
    for (size_t i = 0; i < cmd_count; i++) {
        const struct cmd *c = &cmd_table[i];
        const size_t used = strlen(c->name) + 1 + strlen(c->operands);

        lw_printf(&out.sink, "  %s %s", c->name, c->operands);
        if (used > 26) /* the summary gets a line of its own */
            lw_printf(&out.sink, "\n  %-26s", "");
        else
            lw_printf(&out.sink, "%*s", (int)(26 - used), "");
        lw_printf(&out.sink, " %s\n", c->summary);
    }
    lw_put(&out.sink, "\n\"lanewise help COMMAND\" lists a command's options.\n"
                      "exit status: 0 fine, 1 wrong result or finding, 2 usage or input, 3 guest fault, "
                      "4 hang or limit; a signal ends it as such\n");
    return CMD_FINE;
}

int main(int argc, char **argv)
{
    const struct cmd *cmd;
    int status;

    signal(SIGCHLD, SIG_DFL); /* the parent process may ignore SIGCHLD, and then the ends of compilers would not be
                               * signalled */
    if (argc < 2) {
        help(NULL, 0, NULL);
        return CMD_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(NULL, argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0)
        return version(NULL, 0, NULL);
    cmd = find(argv[1]);
    if (cmd == NULL)
        return CMD_USAGE;
    if (cmd->options == NULL) {
        if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
            struct lw_file_sink out;

            lw_file_sink_init(&out, stdout);
            cmd_help(cmd, &out.sink);
            return CMD_FINE;
        }
        if (argc > (cmd->operands[0] != '\0' ? 3 : 2))
            return cmd_wrong_usage(cmd, "\"%s\" is one operand too many", argv[argc - 1]);
    }
    status = cmd->run(cmd, argc - 1, argv + 1);
    /* A full disk or a closed pipe must result in an error status. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "lanewise: standard output could not be written\n");
        return CMD_USAGE;
    }
    return status;
}
