/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of launch/: launch files (MACHINE 8). A file is parsed as a whole and checked before
 * anything runs; a session then carries out its steps on a machine.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "emu/emu.h"
#include "ptx/ptx.h"

struct lnc_file;

/** Reads and checks a launch file; `machine:` keys override @config. Errors: "file:line: message". */
enum lw_status lnc_file_load(const char *path, struct emu_config *config,
                             struct lnc_file **out, struct lw_error *err) LW_MUST_CHECK;
void lnc_file_destroy(struct lnc_file *file);

enum { LNC_MOST_SECONDS = 31622400 }; /* a year */
/** Limits at which a run is ended; 0: no limit. */
struct lnc_limits {
    uint64_t instructions; /* warp instructions, over all launches */
    double seconds;        /* time of the run, without reading and compiling */
};
/** Sets a limit from text: @name "max-instructions" or "timeout". Errors: LW_EUSAGE. */
enum lw_status lnc_limit_set(struct lnc_limits *limits, const char *name, const char *value, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the `limits:` of a launch file. */
struct lnc_limits lnc_file_limits(const struct lnc_file *file);

/** A launch of one kernel that options describe instead of a launch file (docs/howto/run-and-verify.md). Texts are as
 *  the user typed them; NULL: not given. All texts are borrowed until lnc_direct_load returns. */
struct lnc_direct {
    const char *source, *compiler;
    const char *const *flags; /* options for the compiler */
    size_t flag_count;
    const char *entry, *grid, *global, *block, *offset, *shared;
    bool keep_values, no_values, lat_barriers; /* as in lnc_options */
    const char *save; /* path to which lnc_file_save will write the launch file; NULL: none */
    const char *const *args; /* "n=1024", "f32[64]:ramp" */
    size_t arg_count;
    const char *const *expects; /* "out=FILE", "out=constant=3", "out=1,2,3" */
    size_t expect_count;
    const char *tolerance; /* tolerance for all of `expects` */
};
/** Compiles the source and builds a launch file from the options; the result is like lnc_file_load's. @words:
 *  as in lnc_options. Errors: messages name an option instead of file and line. LW_EUSAGE: one message names all
 *  missing options. */
enum lw_status lnc_direct_load(const struct lnc_direct *direct, struct emu_config *config, struct lw_sink *words,
                               struct lnc_file **out, struct lw_error *err) LW_MUST_CHECK;
/** Writes the launch file that lnc_direct_load built to @path, its `save`. A different existing file is not
 *  overwritten. */
enum lw_status lnc_file_save(const struct lnc_file *file, const char *path, struct lw_error *err) LW_MUST_CHECK;

/** Refuses a file that users pass by mistake instead of a launch file or program: a program of the host or its source,
 *  machine code, SPIR-V, a folder, an image. Errors: LW_EUNSUPP with a message about what to pass instead. LW_OK: the
 *  file has none of these kinds, or cannot be read. */
enum lw_status lnc_kind_refuse(const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if the name has the suffix of a program: .cl .cu .ptx .s .lwo. */
bool lnc_is_source(const char *path);

/** Assembles a file to an object. */
enum lw_status lnc_object_assemble(const char *path, enum isa_asm_control control, struct isa_object **out,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Compiles a source to an object by its suffix: .cl .cu .ptx .s .lwo; in assembly, control fields are filled
 *  in (ISA_ASM_AUTO). The caller owns the object. */
enum lw_status lnc_object_load(const char *path, const char *const *options,
                               size_t option_count, const char *clang,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** Does what lnc_object_load() does, with options of the translation to our ISA; NULL: the defaults. @words, here and
 *  in the functions below, receives all output of a compiler that failed, or that had options for warnings
 *  (ptx_compile_cl); may be NULL. */
enum lw_status lnc_object_load_as(const char *path, const char *const *options,
                                  size_t option_count, const char *clang,
                                  const struct ptx_options *translation, struct lw_sink *words,
                                  struct isa_object **out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** Does what lnc_object_load_as() does, for several sources that become PTX (.cl .cu .ptx), linked as ptx_translate_all
 *  does. The options are for the sources that a compiler reads. @debuggable: each source uses the options of
 *  lnc_options_debug. @translation: NULL for the defaults. */
enum lw_status lnc_object_link(const char *const *paths, size_t count,
                               const char *const *options, size_t option_count,
                               const char *clang, bool debuggable, const struct ptx_options *translation,
                               struct lw_sink *words, struct isa_object **out,
                               struct lw_error *err) LW_MUST_CHECK;
/** Compiles one source that is text in memory. @name has the suffix that gives the language, and appears in messages
 *  and in the line table. The other parameters and errors are those of lnc_object_load. */
enum lw_status lnc_object_load_text(const char *name, const char *text, size_t size,
                                    const char *const *options, size_t option_count,
                                    const char *clang, struct lw_sink *words,
                                    struct isa_object **out,
                                    struct lw_error *err) LW_MUST_CHECK;

/** Finds a kernel by its symbol or its readable name: "saxpy" for _Z5saxpyifPfS_. Errors: LW_ENOENT, with the
 *  kernels of @source that may be meant. */
enum lw_status lnc_kernel_named(const struct isa_object *object, const char *source,
                                const char *wanted, const struct isa_function **out,
                                struct lw_error *err) LW_MUST_CHECK;
/** Writes @text. Before each symbol in it the readable name is inserted, "f (_Z1fi)", unless it is already
 *  there. */
void lnc_names_put(const char *text, struct lw_sink *out);
/**
 * Finds a variable of the module by its symbol or readable name.
 * @count set to the number of variables that @wanted names equally well; unless the number is 1, NULL is returned
 */
const struct isa_variable *lnc_variable_find(const struct isa_object *object, const char *wanted,
                                             unsigned *count);

/** For messages: the form of a kernel in each language. */
#define LNC_KERNEL_WORDS \
    "a __global__ function in CUDA C++ (for a template, an instance such as template __global__ void k<int>(int *);), " \
    "a __kernel in OpenCL C, an .entry in PTX"

/** Returns compiler options that keep all variables and lines of @path, a .cl or .cu source, for a debugger.
 *  @compiler: NULL is clang. The list is terminated by NULL; it is empty for other files. */
const char *const *lnc_debug_options(const char *path, const char *compiler);
/** Makes options for a debugger from @options: lnc_debug_options replace the options of optimisation and debug
 *  information. The caller owns the array, which is from malloc; its texts are borrowed. Errors: LW_EUSAGE, @path is
 *  not compiled. */
enum lw_status lnc_options_debug(const char *path, const char *compiler, const char *const *options,
                                 size_t option_count, const char ***out, size_t *count,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Returns a name of the working folder for a launch file at @path, with a final slash: "../" if the launch file is in
 *  a folder of the working folder, so that both can move together; "" if it is in the working folder; else the absolute
 *  path. NULL: no memory, or there is no working folder. */
const char *lnc_way_back(const char *path, struct lw_arena *arena);
/** Inserts @folder ("", or with a final slash) before names in compiler options, which are relative to folder
 *  @from: relative folders of -I and similar options, and existing files of -include; others are searched
 *  among the compiler's headers. Changed options are allocated in @arena. Returns false without memory. */
bool lnc_options_relocate(const char **options, size_t count, const char *from, const char *folder,
                       struct lw_arena *arena) LW_MUST_CHECK;

/**
 * Prints a launch file to start from: all kernels of @object with buffers and numbers for their parameters,
 * as text. The launch file can be run unchanged, unless a guessed size does not fit the kernel.
 * @source, @options, @compiler values for the section `program`; NULL: the section does not name one. Names and types
 *                               come from the object's debug information, if it has some
 * Errors: LW_ENOENT, no kernel; LW_ENOMEM.
 */
enum lw_status lnc_template_print(const struct isa_object *object, const char *source,
                                  const char *const *options, size_t option_count,
                                  const char *compiler, struct lw_sink *out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** A launch file on a machine: program loaded, buffers created. lnc_session_next carries out its steps. The
 *  machine is borrowed, @file too. The machine's program borrows the session's object: destroy engine and
 *  machine first, then the session, then the file. */
struct lnc_session;
struct lnc_options {
    const char *clang;      /* the compiler; NULL: ptx_compile chooses the compiler */
    const char *const *flags; /* more options for it, after those of the launch file; borrowed */
    size_t flag_count;
    struct lw_sink *print;  /* messages about checks, one line each; may be NULL */
    struct lw_sink *words;  /* receives all output of a compiler that fails or warns while the session is created; may
                             * be NULL */
    bool debuggable;        /* compile for a debugger, whatever the launch file says (lnc_options_debug) */
    bool keep_values;       /* true: compile as with `program: {values: kept}` (ptx_options) */
    bool no_values;         /* no debugger and no check reads variables (ptx_options) */
    bool lat_barriers;      /* true: compile as with `program: {lat_barriers: true}` (ptx_options) */
    uint64_t seed;          /* added to the seed of all random contents (modulo 2^64) */
};
enum lw_status lnc_session_create(struct lnc_file *file, struct emu_machine *machine,
                                  const struct lnc_options *options, struct lnc_session **out,
                                  struct lw_error *err) LW_MUST_CHECK;
void lnc_session_destroy(struct lnc_session *session);
const struct isa_object *lnc_session_object(const struct lnc_session *session);

enum lnc_state {
    LNC_LAUNCHED, /* a grid, or several in streams, were queued: run the engine until it is idle, then call again */
    LNC_DONE      /* all steps are done */
};
/** Carries out host steps (copy, fill, swap, check, repeat, until) up to and including the next launch.
 *  Failed checks are counted and described on lnc_options.print; the session continues. */
enum lw_status lnc_session_next(struct lnc_session *session, enum lnc_state *state,
                                struct lw_error *err) LW_MUST_CHECK;
/** Callbacks for host steps, each with its line in the launch file; NULL: none. */
struct lnc_watch {
    void (*step)(void *context, const char *file, uint32_t line); /* called before a step */
    /** Called after a check or until. @failed: message without location; NULL: it passed. */
    void (*checked)(void *context, const char *file, uint32_t line, const char *failed);
    void *context;
};
void lnc_session_watch(struct lnc_session *session, struct lnc_watch watch);
struct lnc_result {
    unsigned checks, failed_checks, launches;
};
void lnc_session_result(const struct lnc_session *session, struct lnc_result *out);
/** Returns the fraction done in [0, 1] as far as known (blocks of the current launch, steps). */
double lnc_session_progress(const struct lnc_session *session);
/** Gets address and size of a buffer by name. Returns false if there is none. */
bool lnc_session_buffer(const struct lnc_session *session, const char *name,
                        uint64_t *address, uint64_t *size_bytes);
/** Gets address and size of the @index-th buffer without contents in the file: these are zeroed. Returns
 *  false if there are fewer. */
bool lnc_session_unfilled(const struct lnc_session *session, unsigned index, uint64_t *address,
                          uint64_t *size_bytes);
/** Gets file and line of check @index of the launch file, in its order; for a launch by options, the option
 *  and line 0. Returns false if there are fewer checks. */
bool lnc_session_check(const struct lnc_session *session, unsigned index, const char **file,
                       uint32_t *line);
/** Returns true if a host step reads the contents of a buffer: a check, an until, a copy. */
bool lnc_session_reads(const struct lnc_session *session);
/** Returns the name of a buffer's element type ("f32"), and gets its number of elements; NULL: no such
 *  buffer. */
const char *lnc_session_elements(const struct lnc_session *session, const char *name,
                                 uint64_t *count);
/** Saves the session's position in its steps to a heap block, for history and checkpoints. */
enum lw_status lnc_session_save(const struct lnc_session *session, void **data, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;
/** Moves a session of the same launch file to a saved position, back or ahead; the caller moves the machine's
 *  state. The bytes may be hostile. Errors: LW_EFORMAT; LW_EINPUT, another launch file. */
enum lw_status lnc_session_load(struct lnc_session *session, const void *data, size_t size,
                                struct lw_error *err) LW_MUST_CHECK;
/** Prints a line for each buffer: the number of elements that differ from the initial contents, and the first elements
 *  from there on. */
enum lw_status lnc_session_print_outputs(const struct lnc_session *session, struct lw_sink *out,
                                         struct lw_error *err) LW_MUST_CHECK;
/** Gets a copy of a buffer's bytes, a heap block. */
enum lw_status lnc_session_bytes(const struct lnc_session *session, const char *buffer, void **out, uint64_t *out_size,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Writes a buffer to a file, so that `check` and `init` read the same contents: bytes to .bin and .raw, else numbers
 *  in text. */
enum lw_status lnc_session_dump(const struct lnc_session *session, const char *buffer,
                                const char *path, struct lw_error *err) LW_MUST_CHECK;

#endif
