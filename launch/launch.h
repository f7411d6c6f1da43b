/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of launch/, which reads and runs launch files (MACHINE 8). A launch file is parsed as a whole and
 * checked before anything runs. A session then carries out the steps of the file on a machine.
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
/** Limits at which a run is ended. A value of 0 sets no limit. */
struct lnc_limits {
    uint64_t instructions; /* maximum number of warp instructions, summed over all launches */
    double seconds;        /* maximum time of the run in seconds, without the time for reading and compiling */
};
/** Sets the limit @name, "max-instructions" or "timeout", to the number or time in @value. Errors: LW_EUSAGE. */
enum lw_status lnc_limit_set(struct lnc_limits *limits, const char *name, const char *value, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the limits that a launch file has under `limits:`. */
struct lnc_limits lnc_file_limits(const struct lnc_file *file);
/** Returns false if a file that the launch file names can be read only once, such as a pipe. */
bool lnc_file_is_repeatable(const struct lnc_file *file);

/** A launch of one kernel that options describe instead of a launch file (docs/howto/run-and-verify.md). Texts are the
 *  operands of options as the user typed them; NULL: the option is not given. All texts are borrowed until
 *  lnc_direct_load returns. */
struct lnc_direct {
    const char *source, *compiler;
    const char *const *flags; /* options for the compiler */
    size_t flag_count;
    const char *entry, *grid, *global, *block, *offset, *shared;
    bool keep_values, no_values, lat_barriers; /* as in struct lnc_options */
    const char *save; /* path to which lnc_file_save will write the launch file, or NULL if there is none */
    const char *const *args; /* operands of --arg, such as "n=1024" or "f32[64]:ramp" */
    size_t arg_count;
    const char *const *expects; /* operands of --expect, such as "out=FILE", "out=constant=3" or "out=1,2,3" */
    size_t expect_count;
    const char *tolerance; /* tolerance for all of `expects` */
};
/** Compiles the source, and builds a launch file from the options. The result is used like the result of lnc_file_load().
 *  @words: as in struct lnc_options. Errors: messages name an option instead of file and line. LW_EUSAGE: one message names
 *  all missing options. */
enum lw_status lnc_direct_load(const struct lnc_direct *direct, struct emu_config *config, struct lw_sink *words,
                               struct lnc_file **out, struct lw_error *err) LW_MUST_CHECK;
/** Writes the launch file that lnc_direct_load() built to @path, which must be the `save` of its options. A file with other
 *  contents is not overwritten. */
enum lw_status lnc_file_save(const struct lnc_file *file, const char *path, struct lw_error *err) LW_MUST_CHECK;

/** Refuses a file that users pass by mistake instead of a launch file or program: a program of the host or its source,
 *  machine code, SPIR-V, a folder, an image. Errors: LW_EUNSUPP with a message about what to pass instead. LW_OK: the
 *  file has none of these kinds, or cannot be read. */
enum lw_status lnc_kind_refuse(const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if the name has the suffix of a program: .cl .cu .spv .ptx .s .lwo. */
bool lnc_is_source(const char *path);

/** Assembles a file to an object. */
enum lw_status lnc_object_assemble(const char *path, enum isa_asm_control control, struct isa_object **out,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Compiles or reads a program, whose kind the suffix gives: .cl .cu .spv .ptx .s .lwo. The assembler fills in the control
 *  fields of a .s file (ISA_ASM_AUTO). The caller owns the object. */
enum lw_status lnc_object_load(const char *path, const char *const *options,
                               size_t option_count, const char *clang,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** Loads a program as lnc_object_load() does. @translation: options for the translation from PTX; NULL: the defaults. @words,
 *  here and in the functions below, receives all output of a compiler that failed, or that had options for warnings
 *  (ptx_compile_cl); it may be NULL. */
enum lw_status lnc_object_load_as(const char *path, const char *const *options,
                                  size_t option_count, const char *clang,
                                  const struct ptx_options *translation, struct lw_sink *words,
                                  struct isa_object **out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** Copies the source files of an object that can be read to a folder next to the object file @object_path, which must have the suffix
 *  .lwo. Does not copy a file whose name another file next to @object_path has, or whose copy exists. */
void lnc_sources_copy(const struct isa_object *object, const char *object_path);
/** Compiles several sources (.cl .cu .spv .ptx) to one object, as lnc_object_load_as() compiles one. ptx_translate_all() links
 *  their PTX. The options are for the sources that a compiler reads. @debuggable: each source is compiled with the options of
 *  lnc_options_debug(). @translation: NULL for the defaults. */
enum lw_status lnc_object_link(const char *const *paths, size_t count,
                               const char *const *options, size_t option_count,
                               const char *clang, bool debuggable, const struct ptx_options *translation,
                               struct lw_sink *words, struct isa_object **out,
                               struct lw_error *err) LW_MUST_CHECK;
/** Compiles one source that is text in memory. @name has the suffix that gives the language, and appears in messages
 *  and in the line table. The other parameters and errors are those of lnc_object_load. */
enum lw_status lnc_object_load_text(const char *name, const char *text, size_t size,
                                    const char *const *options, size_t option_count,
                                    const char *clang, const struct ptx_options *translation, struct lw_sink *words,
                                    struct isa_object **out,
                                    struct lw_error *err) LW_MUST_CHECK;

/** Finds a kernel by its symbol or its readable name: "saxpy" for _Z5saxpyifPfS_. Errors: LW_EUNSUPP if the kernel was
 *  not translated from PTX; LW_ENOENT otherwise, with a message that lists the kernels of @source that may be meant. */
enum lw_status lnc_kernel_named(const struct isa_object *object, const char *source,
                                const char *wanted, const struct isa_function **out,
                                struct lw_error *err) LW_MUST_CHECK;
/** Writes @text, and inserts the readable name of each symbol before the symbol, as in "f (_Z1fi)", unless the text
 *  already has it there. */
void lnc_names_put(const char *text, struct lw_sink *out);
/** Places a region of shared memory for each parameter i of a kernel with @bytes[i] != LNC_NO_REGION, after the first @end bytes of shared
 *  memory, and writes its offset to @params. Returns the end of the regions. A region is aligned for every type of which it can be an array:
 *  to the largest power of two that divides its size, but at least to 16 and at most to 128 bytes, the size of double16. Regions with a
 *  larger alignment are before the others, so that no gaps hide accesses past the end of a region. */
#define LNC_NO_REGION UINT64_MAX
uint64_t lnc_local_layout(const struct isa_function *kernel, const uint64_t *bytes, uint64_t end, uint8_t *params);
/**
 * Finds a variable of the module by its symbol or readable name.
 * @count set to the number of variables that @wanted names equally well; unless the number is 1, NULL is returned
 */
const struct isa_variable *lnc_variable_find(const struct isa_object *object, const char *wanted,
                                             unsigned *count);

/** Text for messages that says how a kernel is written in each language. */
#define LNC_KERNEL_WORDS \
    "a __global__ function in CUDA C++ (for a template, an instance such as template __global__ void k<int>(int *);), " \
    "a __kernel in OpenCL C, an .entry in PTX"

/** Returns the compiler options with which a debugger can show all variables and lines of @path, a .cl or .cu source.
 *  @compiler: NULL means clang. The list is terminated by NULL. The list is empty for other files. */
const char *const *lnc_debug_options(const char *path, const char *compiler);
/** Makes compiler options for a debugger from @options: the options of lnc_debug_options() replace those for optimisation
 *  and debug information. The caller frees the array; its texts are borrowed. Errors: LW_EUSAGE if @path is a file that is
 *  not compiled. */
enum lw_status lnc_options_debug(const char *path, const char *compiler, const char *const *options,
                                 size_t option_count, const char ***out, size_t *count,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Returns the path of the working folder, with a final slash, as it is written in a launch file at @path. If the launch
 *  file is in a folder of the working folder, the path is relative, such as "../", so that a user can move both folders
 *  together. The result is "" if the launch file is in the working folder, and otherwise absolute. NULL: there is no memory,
 *  or no working folder. */
const char *lnc_way_back(const char *path, struct lw_arena *arena);
/** Inserts @folder ("", or with a final slash) before relative names in compiler options: before folders of -I and similar
 *  options, and before files of -include that exist relative to folder @from. The compiler searches other files among its
 *  headers. Changed options are allocated in @arena. Returns false if memory is short. */
bool lnc_options_relocate(const char **options, size_t count, const char *from, const char *folder,
                       struct lw_arena *arena) LW_MUST_CHECK;

/**
 * Prints a launch file to start from: all kernels of @object with buffers and numbers for their parameters,
 * as text. The launch file can be run unchanged, unless a guessed size does not fit the kernel. Names and types of
 * parameters come from the object's debug information, if it has some.
 * @source, @options, @compiler  values for the section `program`; if @compiler is NULL, the section names no compiler
 * Errors: LW_ENOENT if @object has no kernel; LW_ENOMEM.
 */
enum lw_status lnc_template_print(const struct isa_object *object, const char *source,
                                  const char *const *options, size_t option_count,
                                  const char *compiler, struct lw_sink *out,
                                  struct lw_error *err) LW_MUST_CHECK;

/** A run of a launch file on a machine, on which the program has been loaded and the buffers created. lnc_session_next()
 *  carries out the steps. The session borrows the machine and the launch file. The machine's program borrows the session's
 *  object: destroy the engine and the machine first, then the session, then the file. */
struct lnc_session;
struct lnc_options {
    const char *clang;      /* the compiler; NULL: that of the launch file or, if it names none, the one that
                             * ptx_compile() chooses */
    const char *const *flags; /* more options for the compiler, after those of the launch file; borrowed */
    size_t flag_count;
    struct lw_sink *print;  /* messages about checks, one line each; may be NULL */
    struct lw_sink *words;  /* receives all output of a compiler that fails or warns while the session is created; may
                             * be NULL */
    bool debuggable;        /* true: compile for a debugger, regardless of the launch file (lnc_options_debug) */
    bool keep_values;       /* true: compile as with `program: {values: kept}` (ptx_options) */
    bool no_values;         /* true: neither a debugger nor a check reads variables (ptx_options) */
    bool lat_barriers;      /* true: compile as with `program: {lat_barriers: true}` (ptx_options) */
    uint64_t seed;          /* number that is added to the seed of all random contents (modulo 2^64) */
};
enum lw_status lnc_session_create(struct lnc_file *file, struct emu_machine *machine,
                                  const struct lnc_options *options, struct lnc_session **out,
                                  struct lw_error *err) LW_MUST_CHECK;
void lnc_session_destroy(struct lnc_session *session);
const struct isa_object *lnc_session_object(const struct lnc_session *session);

enum lnc_state {
    LNC_LAUNCHED, /* one or more launches were queued: run the engine until it is idle, then call the function again */
    LNC_DONE      /* all steps are done */
};
/** Carries out host steps (copy, fill, swap, check, repeat, until) up to and including the next launch, or the next launches
 *  if they are in streams. Failed checks are counted, and printed to lnc_options.print; the session continues. */
enum lw_status lnc_session_next(struct lnc_session *session, enum lnc_state *state,
                                struct lw_error *err) LW_MUST_CHECK;
/** Callbacks for host steps, which get the line of the step in the launch file. A callback may be NULL. */
struct lnc_watch {
    void (*step)(void *context, const char *file, uint32_t line); /* called before a step */
    /** Called after a check, or after an until that failed. @failed: message without location; NULL: the check passed. */
    void (*checked)(void *context, const char *file, uint32_t line, const char *failed);
    void *context;
};
void lnc_session_watch(struct lnc_session *session, struct lnc_watch watch);
struct lnc_result {
    unsigned checks, failed_checks, launches;
};
void lnc_session_result(const struct lnc_session *session, struct lnc_result *out);
/** Returns an estimate of the fraction of the run that is done, in [0, 1], from steps and blocks of the current launch. */
double lnc_session_progress(const struct lnc_session *session);
/** Gets address and size of a buffer by name. Returns false if there is none. */
bool lnc_session_buffer(const struct lnc_session *session, const char *name,
                        uint64_t *address, uint64_t *size_bytes);
/** Gets address and size of buffer @index, from 0, among the buffers for which the launch file gives no contents, and which
 *  are therefore zeroed. Returns false if there are fewer such buffers. */
bool lnc_session_unfilled(const struct lnc_session *session, unsigned index, uint64_t *address,
                          uint64_t *size_bytes);
/** Gets file and line of check @index, from 0, of the launch file; for a launch by options, the option and line 0. Returns
 *  false if there are fewer checks. */
bool lnc_session_check(const struct lnc_session *session, unsigned index, const char **file,
                       uint32_t *line);
/** Returns true if the launch file has a check or an until, which read the contents of a buffer. */
bool lnc_session_reads(const struct lnc_session *session);
/** Returns the name of a buffer's element type ("f32"), and sets *@count to its number of elements. NULL: there is no such
 *  buffer. */
const char *lnc_session_elements(const struct lnc_session *session, const char *name,
                                 uint64_t *count);
/** Saves the session's position in its steps, for history and checkpoints. The caller frees *@data. */
enum lw_status lnc_session_save(const struct lnc_session *session, void **data, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;
/** Moves a session to a position that a session of the same launch file saved earlier. The caller must restore the machine's
 *  state. The function verifies @data. Errors: LW_EFORMAT; LW_EINPUT if the position belongs to another launch file. */
enum lw_status lnc_session_load(struct lnc_session *session, const void *data, size_t size,
                                struct lw_error *err) LW_MUST_CHECK;
/** Prints a line for each buffer: the number of elements that differ from the initial contents, and some elements, from the
 *  start or from the first change on. */
enum lw_status lnc_session_print_outputs(const struct lnc_session *session, struct lw_sink *out,
                                         struct lw_error *err) LW_MUST_CHECK;
/** Gets a copy of a buffer's bytes, which the caller frees. */
enum lw_status lnc_session_bytes(const struct lnc_session *session, const char *buffer, void **out, uint64_t *out_size,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Writes a buffer to a file in the form that `check` and `init` read: raw bytes if the suffix is .bin or .raw, otherwise
 *  numbers as text. */
enum lw_status lnc_session_dump(const struct lnc_session *session, const char *buffer,
                                const char *path, struct lw_error *err) LW_MUST_CHECK;

#endif
