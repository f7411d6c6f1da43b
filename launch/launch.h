/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of launch/: launch files (MACHINE 8). A file is parsed whole and checked
 * before anything runs; a session then carries out its steps on a machine.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "emu/emu.h"
#include "ptx/ptx.h"

struct lnc_file;

/** Read and check a launch file; `machine:` keys are applied over @config.
 *  Errors: "file:line: message". */
enum lw_status lnc_file_load(const char *path, struct emu_config *config,
                             struct lnc_file **out, struct lw_error *err) LW_MUST_CHECK;
void lnc_file_destroy(struct lnc_file *file);

enum { LNC_MOST_SECONDS = 31622400 }; /* a year */
/** Limits at which a run is ended; 0: no limit. */
struct lnc_limits {
    uint64_t instructions; /* of warps, over all launches */
    double seconds;        /* of the run: what was read and compiled before it does not count */
};
/** Sets one of them from text: @name "max-instructions" or "timeout". Errors: LW_EUSAGE. */
enum lw_status lnc_limit_set(struct lnc_limits *limits, const char *name, const char *value, struct lw_error *err)
    LW_MUST_CHECK;
/** What `limits:` of the file says. */
struct lnc_limits lnc_file_limits(const struct lnc_file *file);

/** A launch of one kernel that options describe, in place of a launch file (docs/howto/run-and-verify.md); texts as they were typed, NULL:
 *  not given. All is borrowed until lnc_direct_load returns. */
struct lnc_direct {
    const char *source, *compiler;
    const char *const *flags; /* for the compiler */
    size_t flag_count;
    const char *entry, *grid, *global, *block, *offset, *shared;
    bool keep_values, no_values; /* as in lnc_options */
    const char *save; /* where lnc_file_save is going to write it; NULL: nowhere */
    const char *const *args; /* "n=1024", "f32[64]:ramp" */
    size_t arg_count;
    const char *const *expects; /* "out=FILE", "out=constant=3", "out=1,2,3" */
    size_t expect_count;
    const char *tolerance; /* of all of them */
};
/** Compile the source and build a launch file from it; the result is like lnc_file_load's. @words: as
 *  in lnc_options. Errors: messages name an option instead of file and line. LW_EUSAGE: all that is
 *  missing. */
enum lw_status lnc_direct_load(const struct lnc_direct *direct, struct emu_config *config, struct lw_sink *words,
                               struct lnc_file **out, struct lw_error *err) LW_MUST_CHECK;
/** Write the launch file that lnc_direct_load made to @path, its `save`. Another file is not overwritten. */
enum lw_status lnc_file_save(const struct lnc_file *file, const char *path, struct lw_error *err) LW_MUST_CHECK;

/** Refuses a file that people give in place of a launch file or program: a program of the host or its
 *  source, machine code, SPIR-V, a folder, an image. Errors: LW_EUNSUPP with a message about what to
 *  give instead. LW_OK: it is none of these, or cannot be read. */
enum lw_status lnc_kind_refuse(const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Does the name end as those of programs do: .cl .cu .ptx .s .lwo? */
bool lnc_is_source(const char *path);

/** Assembly to object. */
enum lw_status lnc_object_assemble(const char *path, enum isa_asm_control control, struct isa_object **out,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Source to object by its suffix: .cl .cu .ptx .s .lwo; of assembly, control fields are filled in (ISA_ASM_AUTO).
 *  The object is the caller's. */
enum lw_status lnc_object_load(const char *path, const char *const *options,
                               size_t option_count, const char *clang,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** The same with options of the translation to our ISA; NULL: the usual ones. @words gets all the
 *  output of a compiler that failed or had options for warnings (ptx_compile_cl), here and below; may be NULL. */
enum lw_status lnc_object_load_as(const char *path, const char *const *options,
                                  size_t option_count, const char *clang,
                                  const struct ptx_options *translation, struct lw_sink *words,
                                  struct isa_object **out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** The same of several sources that become PTX (.cl .cu .ptx), linked as ptx_translate_all does;
 *  the options are for those that a compiler reads. @debuggable: each with what lnc_options_debug makes of them.
 *  @translation: NULL for the usual. */
enum lw_status lnc_object_link(const char *const *paths, size_t count,
                               const char *const *options, size_t option_count,
                               const char *clang, bool debuggable, const struct ptx_options *translation,
                               struct lw_sink *words, struct isa_object **out,
                               struct lw_error *err) LW_MUST_CHECK;
/** One source that is text in memory. @name has its suffix, and appears in messages and in the line
 *  table. Otherwise as lnc_object_load. */
enum lw_status lnc_object_load_text(const char *name, const char *text, size_t size,
                                    const char *const *options, size_t option_count,
                                    const char *clang, struct lw_sink *words,
                                    struct isa_object **out,
                                    struct lw_error *err) LW_MUST_CHECK;

/** A kernel by its name in the object or as people write it: "saxpy" for _Z5saxpyifPfS_. Errors: LW_ENOENT, with the
 *  kernels of @source that may be meant. */
enum lw_status lnc_kernel_named(const struct isa_object *object, const char *source,
                                const char *wanted, const struct isa_function **out,
                                struct lw_error *err) LW_MUST_CHECK;
/** Writes @text. Before each compiler's name in it is put the name that people write, "f (_Z1fi)",
 *  unless it is already there. */
void lnc_names_put(const char *text, struct lw_sink *out);
/** A variable of the module by its name in the object or as people write it.
 * @count  how many variables @wanted names equally well; NULL is returned unless it is 1 */
const struct isa_variable *lnc_variable_find(const struct isa_object *object, const char *wanted,
                                             unsigned *count);

/** For messages: what a kernel looks like in each language. */
#define LNC_KERNEL_WORDS \
    "a __global__ function in CUDA C++ (of a template, an instance: template __global__ void k<int>(int *);), a __kernel in OpenCL C, an .entry in PTX"

/** Compiler options that keep all variables and lines of @path, a .cl or .cu source, for a debugger.
 *  @compiler: NULL is a clang. The list ends with NULL; it is empty for other files. */
const char *const *lnc_debug_options(const char *path, const char *compiler);
/** Options for a debugger, whatever @options say: @options without those of optimisation and debug
 *  information, then lnc_debug_options. The array is from malloc and the caller's; its texts are
 *  borrowed. Errors: LW_EUSAGE, no compiler reads @path. */
enum lw_status lnc_options_debug(const char *path, const char *compiler, const char *const *options,
                                 size_t option_count, const char ***out, size_t *count,
                                 struct lw_error *err) LW_MUST_CHECK;
/** The working folder as a launch file at @path names it, with a slash at its end. From a folder
 *  below the working folder it is "../", so that both can move together; from the working folder "";
 *  else the absolute path. NULL: no memory, or there is no working folder. */
const char *lnc_way_back(const char *path, struct lw_arena *arena);
/** Put @folder ("", or with a slash at its end) before the names in options for a compiler, which are those of folder
 *  @from: relative folders of -I and its like, and files of -include that are there; others the compiler looks for among
 *  its headers. What changes is put into @arena. False: no memory. */
bool lnc_options_relocate(const char **options, size_t count, const char *from, const char *folder,
                       struct lw_arena *arena) LW_MUST_CHECK;

/**
 * A launch file to start from: all kernels of @object with buffers and numbers for their parameters,
 * as text. It can be run as it is, as far as a guess of sizes can.
 *
 * @source, @options, @compiler  of `program`, NULL: none is named; names and types come from the object's
 *                               debug information, if any
 * Errors: LW_ENOENT, no kernel; LW_ENOMEM.
 */
enum lw_status lnc_template_print(const struct isa_object *object, const char *source,
                                  const char *const *options, size_t option_count,
                                  const char *compiler, struct lw_sink *out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** A launch file on a machine: program loaded, buffers made. Steps are carried out by
 *  lnc_session_next. The machine is borrowed, @file too. The machine's program borrows the
 *  session's object: destroy engine and machine first, then the session, then the file. */
struct lnc_session;
struct lnc_options {
    const char *clang;      /* the compiler; NULL: as ptx_compile */
    const char *const *flags; /* more options for it, after those of the launch file; borrowed */
    size_t flag_count;
    struct lw_sink *print;  /* messages about checks, one line each; may be NULL */
    struct lw_sink *words;  /* all that a compiler said that failed or warns, while the session is created;
                               may be NULL */
    bool debuggable;        /* compile for a debugger, whatever the launch file says (lnc_options_debug) */
    bool keep_values;       /* as `program: {values: kept}` (ptx_options) */
    bool no_values;         /* no debugger and no check reads variables (ptx_options) */
    uint64_t seed;          /* added to the seed of all random contents (modulo 2^64) */
};
enum lw_status lnc_session_create(struct lnc_file *file, struct emu_machine *machine,
                                  const struct lnc_options *options, struct lnc_session **out,
                                  struct lw_error *err) LW_MUST_CHECK;
void lnc_session_destroy(struct lnc_session *session);
const struct isa_object *lnc_session_object(const struct lnc_session *session);

enum lnc_state {
    LNC_LAUNCHED, /* a grid, or several in streams, were queued: run the engine until it is idle, then call again */
    LNC_DONE      /* all steps are carried out */
};
/** Carry out host steps (copy, fill, swap, check, repeat, until) up to and including the
 *  next launch. Failed checks are counted and described on lnc_options.print; the session continues. */
enum lw_status lnc_session_next(struct lnc_session *session, enum lnc_state *state,
                                struct lw_error *err) LW_MUST_CHECK;
/** Callbacks for steps of the host, each with its line in the launch file; NULL: none. */
struct lnc_watch {
    void (*step)(void *context, const char *file, uint32_t line); /* it is about to be carried out */
    /** A check or until was carried out. @failed: what is wrong, without location; NULL: nothing. */
    void (*checked)(void *context, const char *file, uint32_t line, const char *failed);
    void *context;
};
void lnc_session_watch(struct lnc_session *session, struct lnc_watch watch);
struct lnc_result {
    unsigned checks, failed_checks, launches;
};
void lnc_session_result(const struct lnc_session *session, struct lnc_result *out);
/** Fraction done in [0, 1] as far as known (blocks of the current launch, steps). */
double lnc_session_progress(const struct lnc_session *session);
/** Address and size of a buffer by name; false: none. */
bool lnc_session_buffer(const struct lnc_session *session, const char *name,
                        uint64_t *address, uint64_t *size_bytes);
/** Address and size of the @index-th of the buffers for which the file gives no contents: they begin as
 *  zeros. False: there are fewer. */
bool lnc_session_unfilled(const struct lnc_session *session, unsigned index, uint64_t *address,
                          uint64_t *size_bytes);
/** File and line of check @index of the launch file, in its order; of a launch by options the option, and line 0. False:
 *  there are fewer checks. */
bool lnc_session_check(const struct lnc_session *session, unsigned index, const char **file,
                       uint32_t *line);
/** Does a step of the host read what is in a buffer: a check, an until, a copy? */
bool lnc_session_reads(const struct lnc_session *session);
/** Name of the type of its elements ("f32"), and their count; NULL: no such buffer. */
const char *lnc_session_elements(const struct lnc_session *session, const char *name,
                                 uint64_t *count);
/** Where the session is in its steps, as a heap block: for history and checkpoints. */
enum lw_status lnc_session_save(const struct lnc_session *session, void **data, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;
/** Moves a session of the same launch file to that position, back or ahead; the machine's state is
 *  there already. The bytes may be hostile. Errors: LW_EFORMAT; LW_EINPUT, another launch file. */
enum lw_status lnc_session_load(struct lnc_session *session, const void *data, size_t size,
                                struct lw_error *err) LW_MUST_CHECK;
/** A line for each buffer: how many elements differ from what it began with, and the first of them. */
enum lw_status lnc_session_print_outputs(const struct lnc_session *session, struct lw_sink *out,
                                         struct lw_error *err) LW_MUST_CHECK;
/** A buffer's bytes, a heap block. */
enum lw_status lnc_session_bytes(const struct lnc_session *session, const char *buffer, void **out, uint64_t *out_size,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Write it to a file that `check` and `init` read as the same: bytes to .bin and .raw, else numbers in text. */
enum lw_status lnc_session_dump(const struct lnc_session *session, const char *buffer,
                                const char *path, struct lw_error *err) LW_MUST_CHECK;

#endif
