/* SPDX-License-Identifier: Apache-2.0 */
/* Main program: the tables of commands and options, and the commands help, version and manual. */
#include "cmd/cmd_priv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* The build by configure defines PACKAGE_VERSION; other builds have no version. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(unpackaged)"
#endif

static const char out_help[] = "write the output to this file; - is standard output";
#define COMPILER_OPTIONS                                                                   \
    {"compiler", 0, "PROGRAM", "the compiler for .cl and .cu sources: a clang, or nvcc"},               \
    {"clang", 0, "PROGRAM", "the compiler for .cl and .cu sources (same as --compiler)"},               \
    {"cache", 0, "MODE", "on (the default): if the same source was compiled before, or the same kernel to native code, use the stored result; off: always compile"}
#define SOURCE_OPTIONS                                                                     \
    {"define", 'D', "NAME[=VALUE]", "define a macro for the compiler of .cl and .cu sources"},            \
    {"include", 'I', "FOLDER", "add a folder in which the compiler of .cl and .cu sources searches for headers"},                 \
    {"option", 'X', "OPTION", "pass another option to the compiler of .cl and .cu sources, such as -X -O1"},        \
    COMPILER_OPTIONS
#define DEBUG_OPTION                                                                       \
    {"debuggable", 'g', NULL, "compile for a debugger: without optimisation, with all lines and variables. In the commands debug and gdb, -g together with -X -O2 means --values"}, \
    {"values", 0, NULL, "keep values of variables in optimised code for debuggers; the code needs more registers"}, \
    {"lat-barriers", 0, NULL, "insert the barrier bar.synch_partner before loads and stores of global and local memory, for mechanism dwr with dwr.bar_mode=explicit"}
#define DIRECT_OPTIONS                                                                     \
    {"grid", 0, "BLOCKS", "for a kernel file: number of blocks, such as 64 or 8,8"},                \
    {"block", 0, "THREADS", "for a kernel file: number of threads in a block, such as 256 or 16,16"}, \
    {"arg", 0, "NAME=VALUE", "for a kernel file: an argument of the kernel, such as n=1024, out=f32[4096], " \
                               "in=f32[4096]:random=1, tile=s32[256] (may be repeated)"}, \
    {"entry", 0, "NAME", "for a kernel file: name of the kernel, if there are several"},        \
    {"global", 0, "THREADS", "for a kernel file: number of threads in the grid, instead of --grid"}, \
    {"offset", 0, "THREADS", "for a kernel file: global work offset of OpenCL"},           \
    {"shared", 0, "BYTES", "for a kernel file: size of dynamic shared memory"},                   \
    {"expect", 0, "BUFFER=WHAT", "for a kernel file: expected contents of a buffer after the run, such as out=FILE, out=constant=3, " \
                                   "out=1,2,3 (may be repeated)"},                       \
    {"tolerance", 0, "T", "for a kernel file: difference that --expect allows, T + T * |expected|"}, \
    {"save-launch", 0, "FILE", "write a launch file that is equivalent to these options"}
#define REPORT_OPTIONS                                                                     \
    {"timing-report", 0, "FILE", "write the counters of the timing model as JSON; - prints tables"}, \
    {"timing-sample", 0, "CYCLES", "add the counters of each interval of CYCLES cycles to the timing report"}, \
    {"timing-trace", 0, "FILE", "write a trace of what each warp did, for Perfetto; - is standard output (the summary then goes to standard error)"}, \
    {"timing-window", 0, "FROM:TO", "range of cycles that --timing-trace records (0:10000)"}, \
    {"timing-events", 0, "N", "largest number of events in the trace of --timing-trace (1000000: 100 to 200 MB)"}

#define CHECK_OPTIONS                                                                      \
    {"check", 0, "[LIST]", "enable checks: kinds, classes, default or all; a - before a name excludes it (\"lanewise explain\" lists them). A run continues after findings; a debugger stops at them"},              \
    {"check-file", 0, "FILE", "also write the findings to a file; the suffix selects the format: .txt, .json, .xml (JUnit), .sarif or, to suppress them later, .yaml (may be repeated)"},              \
    {"check-base", 0, "DIR", "folder to which file names in reports and suppressions are relative (the current folder; \"\": names as given to the compiler)"}, \
    {"check-suppress", 0, "FILE", "file with suppressions, the findings that are not reported (may be repeated)"},                    \
    {"max-findings", 0, "N", "largest number of different findings that are kept (100)"},                                       \
    {"read-poison", 0, "VALUE", "value that an invalid load returns in each 32-bit word (0)"}
#define MACHINE_OPTIONS                                                                    \
    {"warp", 'w', "W", "number of lanes in a warp: 4, 8, 16, 32 or 64"},                             \
    {"reconv", 0, "NAME", "reconvergence engine: cbar, stack, frontier, multipath, early, likely or dualpath"},                          \
    {"push-order", 0, "NAME", "which side of a divergent branch runs first (--reconv stack, likely) or is the last entry of the reconvergence table (dualpath, multipath, early): smaller or larger (the side with fewer or more lanes), or fall_through"},                                          \
    {"policy", 'p', "NAME", "policy that selects which split of a warp runs next"},                            \
    {"quantum", 0, "N", "number of warp instructions that a split runs before the policy selects again"},      \
    {"fairness-limit", 0, "N", "number of warp instructions after which a ready split runs even if the policy does not select it (1024); 0: no limit"}, \
    {"window", 0, "N", "former name of --fairness-limit"},                                      \
    {"hang-limit", 0, "N", "number of warp instructions without progress before the hang detection starts (67108864; races checked: 4194304; --timing: 1048576); 0: never"}, \
    {"hang-window", 0, "N", "former name of --hang-limit"},                                 \
    {"tags", 0, "MODE", "track which registers are uniform or affine over a warp: off, shadow (checked and counted) or compact (stored as base and stride)"},           \
    {"tag-rules", 0, "NAME", "with --tags: rules that decide whether the result of an instruction is uniform or affine: table, exact or fold"},  \
    {"tag-expansion", 0, "NAME", "with --tags: when a uniform or affine register is expanded to a value for each lane: lazy or eager"},      \
    {"tag-plan", 0, "NAME", "with --tags compact: which uniform and affine registers are stored as base and stride: gain (those for which this is profitable) or all"},               \
    {"level", 0, "N", "x86-64 level of the interpreter: 1, 3 or 4; 0: the best of this processor"},     \
    DIRECT_OPTIONS,                                                                        \
    SOURCE_OPTIONS,                                                                        \
    DEBUG_OPTION,                                                                          \
    {"timing", 0, "[MACHINE]", "run on the timing model, with a GPU model that \"lanewise timing\" lists or that a " \
                               "file defines (fermi)"},                                    \
    {"timing-set", 0, "KEY=VALUE", "change a key of the GPU model (may be repeated)"},      \
    {"mechanism", 0, "NAMES", "add mechanisms to the GPU model, such as ccws, or several separated by commas (\"lanewise timing --mechanisms\" lists them)"}, \
    {"timing-profile", 0, "FILE", "for mechanism daws: the --timing-report of an earlier run with --mechanism loads; daws uses the measurements in it instead of its own"}, \
    {"timing-reference", 0, NULL, "use the naive timing model, which simulates every part in every cycle: slower, with the same counters"},                                    \
    {"log", 0, "FILE", "write a schedule log, which records the order in which blocks and warps ran, for --replay"},                    \
    {"replay", 0, "FILE", "repeat the run that a schedule log has recorded"},                                 \
    {"resume", 0, "FILE", "continue from a checkpoint"},                                      \
    {"history", 0, "MIB", "memory for going back in time in a debugger (256); 0: none"},       \
    {"seed", 0, "N", "add N to the seed of all random contents of the launch file"}

static const struct cmd_option run_options[] = {
    {"stats", 's', "FILE", "write statistics as JSON; - is standard output (the summary then goes to standard error)"},
    {"hash", 0, NULL, "print hash_mem and hash_state, hashes of the memory and of the state at the end of the run"},
    {"dump", 'd', "BUFFER=FILE", "write a buffer after the run, in the format that \"check\" reads: bytes for .bin and .raw, otherwise text; - writes bytes to standard output (the summary then goes to standard error)"},
    {"gdb", 0, "[ADDR]", "wait for a connection from gdb at PORT, HOST:PORT or unix:PATH (default: a free port of this machine)"},
    {"gdb-arch", 0, "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"gdb-file", 0, "FILE", "write the program that gdb receives (an ELF file) to this file, for debuggers and editors that need a file"},
    {"threads", 't', "N", "number of host threads that run blocks; used only if results cannot depend on the block order (all cores)"},
    {"engine", 0, "NAME", "engine that runs kernels: interpreter; native, which compiles kernels to host code if nothing can observe the difference; auto, which begins in the interpreter and compiles kernels that run for long; or auto-unshared (the default), which does so for kernels that have neither shared memory nor barriers. Without this option, if a kernel stops, the interpreter runs the file from the start and reports the stop"},
    {"native-timeout", 0, "SECONDS", "--engine native or auto: limit of the processor time to compile a kernel; the interpreter executes a kernel that needs more (10)"},
    {"host-code", 0, "FILE", "write for each kernel that is compiled to native code its source lines, its instructions, and their host code; - is standard output; the default engine is then native"},
    {"host-profile", 0, "FILE", "add the counts of a profile, which --profile FILE has written in another run, to the source lines of --host-code"},
    {"checkpoint", 0, "FILE", "write a checkpoint, the whole state of the machine, at the end of the run; --resume continues from it"},
    {"checkpoint-at", 0, "N", "write the checkpoint after N warp instructions, not at the end (may be repeated; %n in the name of --checkpoint is replaced by the instruction count)"},
    {"checkpoint-every", 0, "N", "write a checkpoint after each N warp instructions, not at the end"},
    CHECK_OPTIONS,
    {"coverage", 0, "FILE", "write which lines and branches were executed and by how many lanes, for lcov and genhtml"},
    {"profile", 0, "FILE", "write the source with the executed instructions, lanes and memory requests of each line; - prints it"},
    {"max-instructions", 0, "N", "end the run after N warp instructions, with status 4 and the location of all lanes"},
    {"timeout", 0, "SECONDS", "end the run after SECONDS seconds, with status 4 and the location of all lanes; the time to read and compile files does not count"},
    {"profile-by", 0, "WHAT", "what a profile covers: launch (each launch separately) or kernel (all launches of a kernel together, the default)"},
    {"verbose", 'v', NULL, "print for each kernel in which order its blocks run, and the reason"},
    {"quiet", 'q', NULL, "print neither the summary of a successful run nor warnings of the compiler"},
    REPORT_OPTIONS,
    MACHINE_OPTIONS,
};
/* Options that lanewise app passes to the runtimes in LANEWISE_OPTIONS; runtime/rt_device.c reads them. */
static const struct cmd_option app_options[] = {
    {"gdb", 0, "[ADDR]", "wait for gdb at the first launch, at PORT, HOST:PORT or unix:PATH (default: a free port of this machine)"},
    {"debug", 0, NULL, "wait at the first launch, and start gdb in this terminal; the program gets no input"},
    {"gdb-kernel", 0, "NAME", "wait at the first launch of this kernel"},
    {"gdb-arch", 0, "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"history", 0, "MIB", "memory for going back in time in gdb (256)"},
    {"debuggable", 'g', NULL, "compile OpenCL programs for a debugger: not optimised, with all lines and variables"},
    {"strict", 0, NULL, "stop the device at the first invalid access; without this option the access is reported and the program continues"},
    {"fail-on-findings", 0, NULL, "if the program ends with status 0, end with the status of lanewise run: 1 after findings, 3 after a fault, 4 after a hang or limit"},
    {"sources", 0, "FOLDER", "write the sources of OpenCL programs to files in this folder, so that reports and debuggers can refer to them"},
    {"record", 0, "FOLDER", "write a launch file for each launch, with its object, its buffers and their expected contents after the launch"},
    {"log", 0, "FILE", "write a schedule log, which records the order in which blocks and warps ran, for --replay"},
    {"replay", 0, "FILE", "repeat the run that a schedule log has recorded; the program must make the same calls"},
    {"stats", 's', "FILE", "write statistics as JSON; - is standard output"},
    {"hash", 0, NULL, "print hash_mem, a hash of the memory at the end of the run, to standard error"},
    {"threads", 't', "N", "number of host threads that run blocks; used only if results cannot depend on the block order (1)"},
    {"engine", 0, "NAME", "engine that runs kernels: interpreter; native, which compiles kernels to host code if nothing can observe the difference; auto, which begins in the interpreter and compiles kernels that run for long; or auto-unshared (the default without --gdb and --debug), which does so for kernels that have neither shared memory nor barriers. With native and auto, variable-bounds is off unless --check is given"},
    {"native-timeout", 0, "SECONDS", "--engine native or auto: limit of the processor time to compile a kernel; the interpreter executes a kernel that needs more (10)"},
    {"check", 0, "[LIST]", "enable checks, and continue after findings: kinds, classes, default or all (without this option: memory)"},
    {"check-file", 0, "FILE", "also write the findings to a file; the suffix selects the format: .txt, .json, .xml (JUnit) or .sarif (may be repeated)"},
    {"check-base", 0, "DIR", "folder to which file names in reports and suppressions are relative (the current folder; \"\": names as given to the compiler)"},
    {"check-suppress", 0, "FILE", "file with suppressions, the findings that are not reported (may be repeated)"},
    {"max-findings", 0, "N", "largest number of different findings that are kept (100)"},
    {"read-poison", 0, "VALUE", "value that an invalid load returns in each 32-bit word (0)"},
    {"coverage", 0, "FILE", "write which lines and branches were executed, for lcov and genhtml"},
    {"profile", 0, "FILE", "write the source with the cost of each line; - prints it"},
    {"profile-by", 0, "WHAT", "what a profile covers: launch (each launch separately) or kernel (all launches of a kernel together, the default)"},
    {"max-instructions", 0, "N", "stop the device after N warp instructions, and print the location of all lanes"},
    {"timeout", 0, "SECONDS", "stop the device after SECONDS seconds of execution, and print the location of all lanes"},
    {"timing", 0, "MACHINE", "run on the timing model, with a GPU model that \"lanewise timing\" lists or that a file defines"},
    {"timing-set", 0, "KEY=VALUE", "change a key of the GPU model (may be repeated)"},
    {"timing-report", 0, "FILE", "write the counters of the timing model, as JSON to a .json file, otherwise as text; - prints the text"},
    {"timing-sample", 0, "CYCLES", "add the counters of each interval of CYCLES cycles to the timing report"},
    {"timing-trace", 0, "FILE", "write a trace of what each warp did, for Perfetto; - is standard output"},
    {"timing-window", 0, "FROM:TO", "range of cycles that --timing-trace records (0:10000)"},
    {"timing-events", 0, "N", "largest number of events in the trace of --timing-trace (1000000: 100 to 200 MB)"},
    {"mechanism", 0, "NAMES", "add mechanisms to the GPU model, separated by commas (\"lanewise timing --mechanisms\" lists them)"},
    {"timing-profile", 0, "FILE", "for mechanism daws: the --timing-report of an earlier run with --mechanism loads; daws uses the measurements in it instead of its own"},
    {"timing-reference", 0, NULL, "use the naive timing model, which simulates every part in every cycle: slower, with the same counters"},
    {"warp", 'w', "W", "number of lanes in a warp: 4, 8, 16, 32 or 64"},
    {"reconv", 0, "NAME", "reconvergence engine: cbar, stack, frontier, multipath, early, likely or dualpath"},
    {"push-order", 0, "NAME", "which side of a divergent branch runs first (--reconv stack, likely) or is the last entry of the reconvergence table (dualpath, multipath, early): smaller or larger (the side with fewer or more lanes), or fall_through"},
    {"policy", 'p', "NAME", "policy that selects which split of a warp runs next"},
    {"quantum", 0, "N", "number of warp instructions that a split runs before the policy selects again"},
    {"fairness-limit", 0, "N", "number of warp instructions after which a ready split runs even if the policy does not select it (1024); 0: no limit"},
    {"tags", 0, "MODE", "track which registers are uniform or affine over a warp: off, shadow (checked and counted) or compact (stored as base and stride)"},
    {"tag-rules", 0, "NAME", "with --tags: rules that decide whether the result of an instruction is uniform or affine: table, exact or fold"},
    {"tag-expansion", 0, "NAME", "with --tags: when a uniform or affine register is expanded to a value for each lane: lazy or eager"},
    {"tag-plan", 0, "NAME", "with --tags compact: which uniform and affine registers are stored as base and stride: gain (those for which this is profitable) or all"},
    {"level", 0, "N", "x86-64 level of the interpreter: 1, 3 or 4; 0: the best of this processor"},
    {"hang-limit", 0, "N", "number of warp instructions without progress before the hang detection starts; 0: never"},
    {"compiler", 0, "PROGRAM", "the clang that compiles kernels"},
    {"define", 'D', "NAME[=VALUE]", "define a macro for the compiler of OpenCL programs"},
    {"include", 'I', "FOLDER", "add a folder in which the compiler of OpenCL programs searches for headers"},
    {"option", 'X', "OPTION", "pass another option to the compiler of OpenCL programs, such as -X -O1"},
    {"cache", 0, "MODE", "on (the default): if the same source was compiled before, or the same kernel to native code, use the stored result; off: always compile"},
};
static const struct cmd_option gdb_options[] = {
    {"arch", 'a', "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"gdb-program", 0, "PROGRAM", "the gdb to start (default: the environment variable GDB, or gdb)"},
    {"stats", 's', "FILE", "write statistics as JSON; - is standard output (the summary then goes to standard error)"},
    {"hash", 0, NULL, "print hash_mem and hash_state, hashes of the memory and of the state at the end of the run"},
    {"dump", 'd', "BUFFER=FILE", "write a buffer after the run, in the format that \"check\" reads: bytes for .bin and .raw, otherwise text; - writes bytes to standard output (the summary then goes to standard error)"},
    {"quiet", 'q', NULL, "print neither the summary of a successful run nor warnings of the compiler"},
    CHECK_OPTIONS,
    REPORT_OPTIONS,
    MACHINE_OPTIONS,
};
static const struct cmd_option debug_options[] = {
    {"execute", 'x', "FILE", "first run the shell commands in a file"},
    {"command", 'c', "COMMAND", "first run one shell command"},
    {"batch", 'b', NULL, "exit after the commands of -x and -c, or at the first that fails"},
    {"gdb", 0, "[ADDR]", "wait for a connection from gdb instead of starting the shell: PORT, HOST:PORT or unix:PATH"},
    {"gdb-arch", 0, "ARCH", "target architecture reported to gdb: x86-64 (any gdb) or aarch64 (gdb-multiarch)"},
    {"gdb-file", 0, "FILE", "write the program that gdb receives (an ELF file) to this file, for debuggers and editors that need a file"},
    CHECK_OPTIONS,
    MACHINE_OPTIONS,
};
static const struct cmd_option compile_options[] = {
    {"output", 'o', "FILE", out_help},
    {"emit", 'e', "KIND", "kind of output: obj (an object, the default), ptx, asm (assembly) or cfg (control flow graph)"},
    SOURCE_OPTIONS,
    DEBUG_OPTION,
    {"stack", 0, "BYTES", "stack size of a thread for recursive functions (8192)"},
    {"registers", 0, "NUMBER", "number of vector registers that a kernel without calls may use, 16 to 255 (default: .maxnreg, otherwise all)"},
    {"strip", 0, NULL, "do not write types and variables of the source into the object"},
    {"no-scalar", 0, NULL, "do not compute addresses on the scalar unit, for reconvergence engines that divide warps at any point"},
    {"slices", 0, NULL, "store in the object how each kernel computes the addresses of its global accesses"},
};
static const struct cmd_option template_options[] = {
    {"output", 'o', "FILE", "write to this file, which must not exist yet, instead of to standard output"},
    SOURCE_OPTIONS,
};
static const struct cmd_option asm_options[] = {
    {"output", 'o', "FILE", out_help},
    {"control", 0, "HOW", "control fields: auto (the default) computes them for functions that have none, keep leaves all fields as written"},
};

/* Only for help: cmd_cc.c parses the command line itself, because it may have any option of a compiler. */
static const struct cmd_option cc_options[] = {
    {"output", 'o', "FILE", "the program (a.out), or with -c the object"},
    {"compile", 'c', NULL, "compile to objects NAME.o, and do not link"},
    {"compiler", 0, "PROGRAM", "a clang, or nvcc (clang-19, else 16, 15, 14)"},
    {"device-debug", 'G', NULL, "compile kernels for a debugger: not optimised, with all lines and variables"},
    {"device-c", 0, NULL, "the same as -c -rdc=true (-dc is a short form)"},
    {"rdc", 0, "BOOL", "true: kernels may use functions and variables of other files"},
    {"ptx", 0, NULL, "compile kernels only, to PTX in NAME.ptx"},
    {"fatbin", 0, NULL, "compile kernels only, to a fat binary in NAME.fatbin"},
    {"lib", 0, NULL, "make a static library of the objects (a.a)"},
    {"dlink", 0, NULL, "write an object without content (a_dlink.o), because the runtime links kernels when the program runs"},
    {"define", 'D', "NAME[=VALUE]", "define a macro. Options that are not listed here (-I, -O, -g, -std, -W, -l, -L) are passed to the compiler"},
};

static const struct cmd_option dis_options[] = {
    {"output", 'o', "FILE", out_help},
    {"check-control", 0, NULL, "instead of assembly, list the instructions that may issue before the values that they read are ready, according to their control fields"},
    {"slices", 0, NULL, "instead of assembly, show how each kernel computes the addresses of its global accesses from the ids of block and thread"},
    {"host", 0, "INSTRUCTION", "show the host code of the interpreter for one instruction: a mnemonic, or the whole instruction"},
    {"level", 0, "N", "x86-64 level for --host: 1, 3 or 4; 0: the best of this processor"},
    {"warp", 'w', "W", "number of lanes in a warp for --host"},
};

static const struct cmd_option timing_options[] = {
    {"output", 'o', "FILE", out_help},
    {"set", 's', "KEY=VALUE", "change a key, such as l1.bytes=32768 (may be repeated)"},
    {"source", 0, NULL, "print the file of a GPU model of Lanewise, in which comments name the source of each value"},
    {"mechanisms", 0, NULL, "list the mechanisms that the option --mechanism of run, app, debug and gdb can add to a GPU model"},
};

static int help(const struct cmd *cmd, int argc, char **argv);

const char *cmd_version(void)
{
    return PACKAGE_VERSION;
}

static int version(const struct cmd *cmd, int argc, char **argv)
{
    (void)cmd, (void)argc, (void)argv;
    printf("lanewise %s\n", cmd_version());
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
    {"run", "LAUNCH.yaml|KERNEL", "run a launch file and check its results, or run a kernel file with options", run_options,
     LW_COUNT_OF(run_options), cmd_run},
    {"app", "PROGRAM [ARGUMENT]...", "run an unchanged program that uses OpenCL or CUDA on the emulator", app_options,
     LW_COUNT_OF(app_options), cmd_app},
    {"cc", "FILE...", "compile and link a program of CUDA's runtime, host code and kernels", cc_options, LW_COUNT_OF(cc_options),
     cmd_cc},
    {"gdb", "LAUNCH.yaml|KERNEL", "start gdb and debug in it; arguments after -- are passed to gdb", gdb_options, LW_COUNT_OF(gdb_options), cmd_gdb},
    {"debug", "LAUNCH.yaml|KERNEL", "debug in the shell, stopped at the entry of the first kernel", debug_options,
     LW_COUNT_OF(debug_options), cmd_debug},
    {"template", "FILE", "write a launch file to start from, with the kernels of a program and their arguments",
     template_options, LW_COUNT_OF(template_options), cmd_template},
    {"compile", "FILE...", "compile .cl, .cu, .spv or .ptx sources, and link them to one object", compile_options,
     LW_COUNT_OF(compile_options), cmd_compile},
    {"asm", "FILE.s", "assemble an assembly file to an object", asm_options, LW_COUNT_OF(asm_options),
     cmd_asm},
    {"dis", "[FILE]", "disassemble an object, or print the assembly of a source; with --host, print an instruction's host code",
     dis_options, LW_COUNT_OF(dis_options), cmd_dis},
    {"timing", "[MACHINE|FILE|compare A.json B.json]", "list the GPU models of the timing model, print all keys of a GPU model or of a file, or compare two reports", timing_options,
     LW_COUNT_OF(timing_options), cmd_timing},
    {"explain", "[KIND]", "list the kinds of findings of --check, or explain one kind with a kernel that has the error and a kernel that does not",
     NULL, 0, cmd_explain},
    {"manual", "", "print the manual of the instruction set", NULL, 0, manual},
    {"help", "[COMMAND]", "print this list, or the options of a command", NULL, 0, help},
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
        cmd_wrong_usage(NULL, "there is no command \"%s\"; did you mean \"lanewise run %s\"?", name, name);
        return NULL;
    }
    near = lw_suggest(name, &cmd_table[0].name, cmd_count, sizeof *cmd_table);
    if (near != NULL)
        cmd_wrong_usage(NULL, "there is no command \"%s\"; did you mean \"%s\"?", name, near);
    else
        cmd_wrong_usage(NULL, "there is no command \"%s\"; \"lanewise help\" lists the commands", name);
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
    lw_put(&out.sink, "Lanewise runs GPU kernels without a GPU, and debugs, checks and times them.\n\n"
                      "usage: lanewise COMMAND [OPTION]... [OPERAND]...\n\n");
    for (size_t i = 0; i < cmd_count; i++) {
        const struct cmd *c = &cmd_table[i];
        const size_t used = strlen(c->name) + 1 + strlen(c->operands);

        lw_printf(&out.sink, "  %s %s", c->name, c->operands);
        if (used > 26) /* the command and its operands are long, so the summary is printed on the next line */
            lw_printf(&out.sink, "\n  %-26s", "");
        else
            lw_printf(&out.sink, "%*s", (int)(26 - used), "");
        lw_printf(&out.sink, " %s\n", c->summary);
    }
    lw_put(&out.sink, "\n\"lanewise help COMMAND\" lists the options of a command.\nexit status: 0 success, 1 wrong "
                      "result or finding, 2 wrong usage or input, 3 fault of a kernel, 4 hang or limit; a command that "
                      "a signal ends has the status of that signal\n");
    return CMD_FINE;
}

int main(int argc, char **argv)
{
    const struct cmd *cmd;
    int status;

    signal(SIGCHLD, SIG_DFL); /* if the parent process has set SIGCHLD to be ignored, waitpid() would return no exit status
                               * of a compiler */
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
            return cmd_wrong_usage(cmd, "too many operands: remove \"%s\"", argv[argc - 1]);
    }
    status = cmd->run(cmd, argc - 1, argv + 1);
    /* An error of the output, for example a full disk, must result in an error status. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "lanewise: cannot write to standard output\n");
        return CMD_USAGE;
    }
    return status;
}
