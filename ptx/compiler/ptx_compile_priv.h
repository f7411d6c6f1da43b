/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of ptx/compiler/, which runs compilers as child processes. */
#ifndef PTX_COMPILE_PRIV_H
#define PTX_COMPILE_PRIV_H

#include <time.h>

#include "ptx/ptx.h"

enum { PTX_PATH_BYTES = LW_PATH_BYTES };

/** Parameters of one compilation. */
struct ptx_job {
    char compiler[PTX_PATH_BYTES], libclc[PTX_PATH_BYTES];
    char scratch[PTX_PATH_BYTES]; /* private folder, removed at the end; "" before it is created */
    char overrides[PTX_PATH_BYTES + 16]; /* path of the bitcode of our override library, which is linked before libclc and
                                          * replaces functions of libclc */
    char originals[PTX_PATH_BYTES + 16]; /* path of the bitcode of libclc's functions that our override library calls */
    char scratch_library[PTX_PATH_BYTES + 16]; /* path of the bitcode that defines the overrides' local memory */
    char images[PTX_PATH_BYTES + 16]; /* path of the bitcode of the functions for images, if a compilation needs them */
    char headers[PTX_PATH_BYTES + 16];   /* folder of our headers for CUDA C++ */
    char overlay[PTX_PATH_BYTES + 16];   /* description of clang's virtual file system (ptx_device_launches()), or "" */
    bool linked;                         /* the source is one of several modules that will be linked */
    bool values;                         /* clang prints the dump of its debug values (ptx_values.c) */
    bool has_no_source;                  /* the text that clang reads is LLVM IR, so no value is compared with a source */
    bool has_other;                      /* if the compiler crashes, another installed clang is tried */
    bool crashed;                        /* the compiler crashed in its last run */
    bool cached;                         /* the result may come from the cache (ptx_cache.c) */
    struct lw_sink *words;               /* receives the compiler's output, including warnings; may be NULL */
};

/* ---- values of variables in optimised code (ptx_values.c) ------------------------------------ */

/** Options with which clang dumps its machine code with all debug values, and writes a comment to the PTX at the place of each
 *  debug value. */
#define PTX_CLANG_VALUES "-fverbose-asm", "-mllvm", "-print-after=fentry-insert"
/** Returns true if clang optimises and writes debug information with the user's options, and none of them disables debug values.
 *  Without options, the result is true. */
bool ptx_values_wanted(const char *const *flags, size_t count);
/** Removes the dump from clang's @output and stores it in *@dump, which the caller frees, or NULL if there is no dump. Returns
 *  the size of the remaining output. */
size_t ptx_values_split(char *output, size_t size, char **dump, size_t *dump_size);
/** Brace at index @at of a source. @end of an opening brace is the index of its closing brace in the source, or SIZE_MAX if there
 *  is none. @parent is the index in ptx_assigned.braces of the opening brace of the enclosing block, or SIZE_MAX. */
struct ptx_brace {
    size_t at, end, parent;
};
/** Text of a source in which ptx_assigned.c finds assignments. The structure owns its arrays. */
struct ptx_assigned {
    const char *text; /* without comments and preprocessor directives (ptx_source_text.c) */
    size_t size, scanned; /* size: number of bytes of the text; scanned: number of bytes that all searches have read, which
                           * is limited */
    bool has_asm;          /* the source contains an asm statement, which may assign to its operands */
    bool has_references;   /* the source is C++: functions may assign through references */
    bool jumps;            /* the source may contain a goto */
    bool is_pointer;       /* the variable whose assignments are searched is a pointer, so an assignment to NAME[...] does not
                            * change it */
    size_t *lines, line_count; /* indices in @text of the newline characters */
    struct ptx_brace *braces;
    struct ptx_source_loop {
        unsigned first, last; /* numbers of the loop's first and last line */
        bool has_jumps;       /* the loop contains `continue`, `break`, `return` or `goto`, so an iteration may skip statements */
        bool is_do;           /* the loop is a `do` loop, which has at least one iteration */
        bool has_branches;    /* the loop contains `if`, `switch`, `?`, `&&` or `||` */
    } *loops;
    size_t brace_count, loop_count;
};
/** Prepares the search in a text, which must remain valid. In an empty text every variable counts as assigned. */
void ptx_assigned_read(struct ptx_assigned *source, const char *text, size_t size, bool is_cpp);
void ptx_assigned_forget(struct ptx_assigned *source);
/** Returns true if a block of statements contains index @i of the text. */
bool ptx_assigned_is_in_block(const struct ptx_assigned *source, size_t i);
/** Returns true if the name occurs in the source and nothing may assign to a variable of that name. */
bool ptx_is_never_assigned(struct ptx_assigned *source, const char *name, size_t size);
/** Writes the scope of variable @name, declared on line @declared, and the lines that may assign to it, in the format that
 *  ptx_values.c describes ("END,ONCE,BODY,..."). Returns false if the lines are not known. */
bool ptx_assigned_lines(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out);
/** Writes all uses of a variable in its scope, each after a blank, as FIRST:LAST:REACHED:BEGIN:KIND and PARTS:
 *     FIRST:LAST     first and last line of the statement with the use
 *     REACHED:BEGIN  last and first line of a block. Whenever this block is executed, the statement is executed, too. 0 if the
 *                    block is unknown
 *     KIND           `=` is an assignment. `&` may give the variable's address to other code. `?` is another use, which gives
 *                    the address to other code if the part is an array
 *     PARTS          part of the variable, such as ".a[2]", or "[]" for a computed index
 *  Returns false if the source does not have the variable. */
bool ptx_assigned_uses(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out);
/** A file whose code clang compiles. The structure owns its texts. */
struct ptx_source_file {
    char *name, *path;      /* name: in the output of the preprocessor; path: of the file */
    struct lw_buffer text;  /* text without comments, with the lines of debug information */
    unsigned reached;       /* number of the last line of @text */
    size_t *cuts, cut_count; /* indices in @text at which text of other files is */
    bool is_unknown;        /* some text is on other lines than in debug information */
    bool is_ready;          /* @assigned is initialised */
    struct ptx_assigned assigned;
};
/** A source and its headers (ptx_source_text.c). */
struct ptx_sources {
    struct ptx_source_file *files;
    size_t count, capacity;
    bool is_output;  /* the texts are the output of the preprocessor */
    bool had_output; /* the source itself is the output of a preprocessor: it has no macros, and states the files of its lines */
    bool is_cpp;     /* the language is C++ */
    struct ptx_sources_found { /* last results of ptx_sources_find(): programs have many variables, and may have 1,000 headers */
        char *name;
        size_t size, file; /* index of the file, or SIZE_MAX: the name is of no file, or of several */
    } found[64];
};
/** Reads a source, and replaces its comments by blanks. The text is empty if the source cannot be read. @argv: the compiler's
 *  command line. */
void ptx_sources_read(struct ptx_sources *sources, const char *path, const char *const *argv);
void ptx_sources_free(struct ptx_sources *sources);
/** Returns true if the preprocessor would not change the text. The command line @argv may define macros. */
bool ptx_sources_are_preprocessed(const struct ptx_sources *sources, const char *const *argv);
/** Replaces the text by the output of clang's preprocessor for it. With an empty @output, the text counts as unknown. */
void ptx_sources_preprocessed(struct ptx_sources *sources, const char *const *argv, const char *output, size_t size);
/** Returns the text of the file whose path ends with @name, or NULL if no file or several files have such a path. The text is empty if
 *  its statements may be on other lines than in debug information. */
struct ptx_assigned *ptx_sources_find(struct ptx_sources *sources, const char *name, size_t size);
/** Returns true if no file but @file has the name on line @line. */
bool ptx_sources_are_single(const struct ptx_sources *sources, const struct ptx_source_file *file, unsigned line, const char *name,
                            size_t size);
/** Prepares the search in the text of a file of the sources. The text is empty if a function in it includes text of another file. */
struct ptx_assigned *ptx_sources_prepare(struct ptx_sources *sources, struct ptx_source_file *file);
/** Writes a comment for each variable whose value follows from its initialiser (ptx_initialisers.c). @whole: the text of @file. */
void ptx_assigned_initialisers(const struct ptx_assigned *whole, const struct ptx_sources *sources, const struct ptx_source_file *file,
                               struct lw_sink *out);
/** Replaces clang's comments about debug values in *@ptx, a text on the heap, by comments that the parser reads, and removes
 *  clang's other comments. @sources: the texts in which assignments to variables are searched. With NULL, no value is
 *  compared with a source. */
void ptx_values_annotate(char **ptx, size_t *size, const char *dump, size_t dump_size, struct ptx_sources *sources);
/** Position in the dump of a function that corresponds to a position in the function's PTX (ptx_dump_calls.c). The caller sets
 *  @at and @end to the start and end of the dump. */
struct ptx_dump_calls {
    const char *at, *end;
    const char *id; /* number of the dump's location for the last .loc */
    size_t id_size;
    bool returns;   /* code of line 0 follows the last .loc, so that the next .loc may be for the same location */
};
/** Writes the inlined calls in the text of a location as LINE:COLUMN,..., innermost first, or `-` if there are none. Returns
 *  false if the calls cannot be parsed. */
bool ptx_dump_put_calls(const char *at, const char *end, struct lw_sink *out);
/** Advances the position past the debug value that ends before @at, when the caller has reached its comment in the PTX. */
void ptx_dump_passes(struct ptx_dump_calls *dump, const char *at);
/** Advances the position to the start of a block, when the caller has reached the block's label in the PTX. */
void ptx_dump_enters(struct ptx_dump_calls *dump, uint32_t block);
/** Finds the instruction of the dump to which the next .loc of the PTX belongs, and writes the instruction's inlined calls.
 *  Returns false if there is no such instruction before the next debug value and in the same block. */
bool ptx_dump_locate(struct ptx_dump_calls *dump, uint32_t line, uint32_t column, struct lw_sink *out);

bool ptx_is_file(const char *path);
/** Returns true for the name of a SPIR-V module: .spv. */
bool ptx_is_spirv(const char *path);
/** Finds program @name as a shell would: a path is used as it is, other names are searched in PATH. @out has
 *  PTX_PATH_BYTES. */
bool ptx_find_program(const char *name, char *out);
/** Finds clang: program @wanted if it is not NULL, else the program in the environment variable LANEWISE_CLANG, else the first
 *  installed one of the known names. */
enum lw_status ptx_find_clang(const char *wanted, char *out, struct lw_error *err) LW_MUST_CHECK;
/** Finds the first installed clang whose name follows that of @compiler in the list of known names. @compiler is a path that
 *  ptx_find_clang() has found. */
bool ptx_find_clang_after(const char *compiler, char *out);
enum lw_status ptx_find_libclc(char *out, struct lw_error *err) LW_MUST_CHECK;

enum lw_status ptx_make_scratch(char *out, struct lw_error *err) LW_MUST_CHECK;
/** Removes the private folder and its contents. Does nothing if @path is "". */
void ptx_remove_scratch(const char *path);

/** Key of a compilation in the cache (ptx_cache.c). */
struct ptx_cache_key {
    struct lw_cache_key cache; /* the caller frees its text, also if ptx_cache_key() returns false */
    struct timespec start;     /* time at which the compilation began */
};
/** Writes what identifies the compiler of the job: its path, and the path, size and modification time of the file to which
 *  links at this path lead. Returns false if there is no such file. */
bool ptx_cache_put_compiler(const struct ptx_job *job, struct lw_sink *out);
/** Makes the key for the compilation of @source to @result by the command line @argv. Returns false if the compilation must not
 *  be cached: LANEWISE_CACHE is "off", there is no cache folder, or an option uses further files. */
bool ptx_cache_key(const struct ptx_job *job, const char *source, const char *const *argv, const char *result,
                   struct ptx_cache_key *key);
/** Returns true if the cache has the result. Then *@ptx is the PTX, which the caller frees, and @output has the compiler's
 *  messages. */
bool ptx_cache_find(const struct ptx_cache_key *key, const char *source, struct lw_buffer *output, char **ptx, size_t *size);
/** Stores a result. @rule is the path of a file in which the compiler has listed the files that it has read, as a rule for
 *  `make`. Errors are ignored. */
void ptx_cache_store(const struct ptx_cache_key *key, const char *source, const char *rule, const struct lw_buffer *output,
                     const char *ptx, size_t size);

/** Compiles our override library to bitcode with the job's compiler, unless the cache contains the bitcode. Sets
 *  job->overrides, job->originals and job->scratch_library. job->libclc must be set. */
enum lw_status ptx_build_overrides(struct ptx_job *job, struct lw_error *err) LW_MUST_CHECK;
/** Writes texts in which calls replace the launches in device code of the source @path and of the files that it includes from its
 *  folder, and attributes replace alignas. Sets job->overlay, which names these texts for clang, or is empty if there are none. */
enum lw_status ptx_device_launches(struct ptx_job *job, const char *path, struct lw_error *err) LW_MUST_CHECK;

/** Finds nvcc. If @wanted is "nvcc", searches the program in the environment variable LANEWISE_NVCC, or if that is not set, nvcc
 *  on PATH and in CUDA's default folder. Otherwise searches program @wanted. @out has PTX_PATH_BYTES. */
bool ptx_find_nvcc(const char *wanted, char *out);
/** Writes a header that defines a symbol for each device function and variable which the text @ptx defines for other files, and refers
 *  to the symbols of those that it declares. @ptx: as clang -fgpu-rdc writes it */
void ptx_link_symbols(const char *ptx, struct lw_sink *out);
/** Returns the first name that the text @ptx uses and another file must define, and sets *@size to its length; NULL: there is none. */
const char *ptx_link_missing(const char *ptx, size_t *size);
/** Options of host code about a file of dependencies. */
struct ptx_dependencies {
    bool wanted;      /* -MD or -MMD */
    bool target;      /* -MT or -MQ names the target */
    const char *file; /* name given with -MF, or NULL */
};
void ptx_dependencies_find(const char *const *flags, size_t count, struct ptx_dependencies *out);
/** Returns the default name of the file of dependencies of an object file: o/a.d for o/a.o. The caller frees it. */
char *ptx_dependencies_name(const char *object);
/** Copies file of dependencies @from to @to, without files of the job's private folder. */
/** Removes from @text, which a compiler wrote, the names of temporary files and of Lanewise's headers. */
void ptx_dependencies_keep_own(const struct ptx_job *job, char *text);
enum lw_status ptx_dependencies_write(const struct ptx_job *job, const char *from, const char *to, struct lw_error *err) LW_MUST_CHECK;
/** Removes the suffixes that clang -fgpu-rdc adds to names which belong to a file. Host code, which is compiled without this option, has
 *  the names without them, and the runtime renames such names if files are linked. */
void ptx_link_names(char *ptx);
/** Creates the folder of our headers for CUDA C++ if necessary, and sets job->headers. The folder is in the cache, so that
 *  the names of headers in debug information stay valid. If there is no cache, the folder is in the private folder. In the
 *  cache, the folder gets its final name when it is complete. */
enum lw_status ptx_cuda_headers(struct ptx_job *job, struct lw_error *err) LW_MUST_CHECK;
/** Compiles the device side of a CUDA C++ file with clang. The members compiler, libclc, overrides and scratch of the job must be
 *  set. */
enum lw_status ptx_cuda_by_clang(struct ptx_job *job, const char *path, const char *const *flags, size_t flag_count, char **ptx,
                                 size_t *size, struct lw_error *err) LW_MUST_CHECK;

/** Compiles OpenCL C to LLVM IR as text, without optimisation, with metadata about the parameters of kernels. Parameters are
 *  those of ptx_compile_cl(). */
enum lw_status ptx_compile_ir(const char *path, const char *const *flags, size_t flag_count, const char *clang, char **ir,
                              size_t *size, struct lw_error *err) LW_MUST_CHECK;
/** Writes the declarations of the kernels in LLVM IR @ir, in the format of ptx_describe_text(). */
void ptx_describe_ir(const char *ir, struct lw_sink *out);
/** Checks that the source can be read and that its name does not look like an option. */
enum lw_status ptx_check_source(const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if the options request warnings; otherwise nvcc gets -w. */
bool ptx_wants_warnings(const char *const *flags, size_t count);
/** Option that suppresses clang's warning that libclc was compiled for a target with a different name. */
#define PTX_CLANG_NO_LINKER "-Wno-linker-warnings"
/** Option after "-Xclang" by which an uninitialised argument is not undefined behaviour. A lane may pass an uninitialised value
 *  to a shuffle that only reads the values of other lanes. Without the option, clang would remove the condition under which a
 *  lane initialises the value. ptx_run_compiler() replaces the option by the spelling that the clang in use accepts. */
#define PTX_CLANG_MAYBE_UNWRITTEN "-no-enable-noundef-analysis"
/** Option by which clang keeps accesses through null pointers, so that the checks report them. Otherwise clang takes such an access
 *  for unreachable code, and removes it together with its condition. */
#define PTX_CLANG_KEEP_NULL "-fno-delete-null-pointer-checks"
/** Runs a program without a shell, with the limits of a compiler, and reads its output. @wait_status: as from waitpid(). @scratch is
 *  removed if a signal ends this program. */
enum lw_status ptx_run_program(const char *const *argv, const char *scratch, struct lw_buffer *output, int *wait_status,
                               struct lw_error *err) LW_MUST_CHECK;
/** Compiles a SPIR-V module to PTX (ptx_spirv.c). The members compiler, libclc, overrides and scratch of the job must be set. */
enum lw_status ptx_compile_spirv(struct ptx_job *job, const char *path, const char *const *flags, size_t flag_count, char **ptx,
                                 size_t *size, struct lw_error *err) LW_MUST_CHECK;
/** Translates a SPIR-V module to LLVM IR for PTX, as text, with metadata about the attributes of kernels, but not about the types of
 *  their parameters: types of SPIR-V have no sign. The caller frees *@ir. */
enum lw_status ptx_spirv_ir(const char *path, const char *clang, char **ir, struct lw_error *err) LW_MUST_CHECK;
/** Runs the compiler @argv, reads the PTX that it writes to @result, and sets job->crashed. Errors: LW_EINPUT with the
 *  compiler's messages. */
enum lw_status ptx_run_compiler(struct ptx_job *job, const char *path, const char **argv,
                                const char *result, char **ptx, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;

#endif
