/* SPDX-License-Identifier: Apache-2.0 */
/* Inside ptx/: running compilers as child processes. */
#ifndef PTX_COMPILE_PRIV_H
#define PTX_COMPILE_PRIV_H

#include "ptx/ptx.h"

enum { PTX_PATH_BYTES = 4096 };

/** What one compilation uses. */
struct ptx_job {
    char compiler[PTX_PATH_BYTES], libclc[PTX_PATH_BYTES];
    char scratch[PTX_PATH_BYTES]; /* private folder, removed at the end; "" before it is made */
    char overrides[PTX_PATH_BYTES + 16]; /* our bitcode, linked before libclc */
    char headers[PTX_PATH_BYTES + 16];   /* folder of our headers for CUDA C++ */
    bool linked;                         /* it is one module of several */
    bool values;                         /* clang prints its debug values (ptx_values.c) */
    struct lw_sink *words;               /* all that a compiler said, its warnings too; may be NULL */
};

/* ---- values of variables in optimised code (ptx_values.c) ------------------------------------ */

/** clang prints its machine code with all debug values, and comments where they are in the PTX. */
#define PTX_CLANG_VALUES "-fverbose-asm", "-mllvm", "-print-after=fentry-insert"
/** Whether these options make clang optimise and write debug information, as it does by default here. */
bool ptx_values_wanted(const char *const *flags, size_t count);
/** What clang printed so goes from its @output to *@dump (heap; caller frees; NULL: none). Returns the
 *  size of the rest. */
size_t ptx_values_split(char *output, size_t size, char **dump, size_t *dump_size);
/** A brace of a source; of one that opens: where its block ends, SIZE_MAX: nowhere; index of the one around, or SIZE_MAX. */
struct ptx_brace {
    size_t at, end, parent;
};
/** A source's text, in which ptx_assigned.c finds what may be assigned. What it has is its own. */
struct ptx_assigned {
    char *text;
    size_t size, scanned;
    bool passes_variables; /* to what may assign to them: macros, asm, functions of headers */
    bool has_references;   /* C++: functions may */
    bool jumps;            /* it may have a goto */
    size_t *lines, line_count; /* where they end */
    struct ptx_brace *braces;
    struct ptx_source_loop {
        unsigned first, last; /* lines */
    } *loops;
    size_t brace_count, loop_count;
};
/** A source that cannot be read has nothing that is never assigned. */
void ptx_assigned_read(struct ptx_assigned *source, const char *path);
void ptx_assigned_forget(struct ptx_assigned *source);
/** Whether the source has the name and nothing in it may assign to a variable so called. */
bool ptx_is_never_assigned(struct ptx_assigned *source, const char *name, size_t size);
/** Of a variable that is declared on a line: the last line of its scope, 0: not known; 1: it is assigned once in a call
 *  of its function, else 0; the lines that may assign to it, ascending; `,` between all. False: the source cannot be read. */
bool ptx_assigned_lines(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out);
/** Comments of debug values in heap text *@ptx become those that the parser reads; clang's others go. @path: the
 *  source; what it does not assign to keeps its value. */
void ptx_values_annotate(char **ptx, size_t *size, const char *dump, size_t dump_size, const char *path);


bool ptx_is_file(const char *path);
/** Look @name up as a shell would, into @out of PTX_PATH_BYTES: a path as it stands, else
 *  along PATH. */
bool ptx_find_program(const char *name, char *out);
/** @wanted, else LANEWISE_CLANG, else the first of the known names. */
enum lw_status ptx_find_clang(const char *wanted, char *out, struct lw_error *err) LW_MUST_CHECK;
enum lw_status ptx_find_libclc(char *out, struct lw_error *err) LW_MUST_CHECK;

enum lw_status ptx_make_scratch(char *out, struct lw_error *err) LW_MUST_CHECK;
/** Remove the private folder and what is in it; "" is none. */
void ptx_remove_scratch(const char *path);
/** The folder for what lasts, made on the way; false: there is none. */
bool ptx_cache_folder(char *out);

/** Our override library as bitcode of the job's compiler, to job->overrides; kept for the next. */
enum lw_status ptx_build_overrides(struct ptx_job *job, struct lw_error *err) LW_MUST_CHECK;

/** The source can be read and is no option; the error says so. */
enum lw_status ptx_check_source(const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Do options ask for warnings? nvcc gets -w otherwise. */
bool ptx_wants_warnings(const char *const *flags, size_t count);
/** libclc's target has another name than ours, of which nobody need hear. */
#define PTX_CLANG_NO_LINKER "-Wno-linker-warnings"
/** Behind "-Xclang": an argument that one lane has not written is no undefined behaviour, for
 *  shuffles take it from another. Otherwise clang drops the condition under which it is written.
 *  ptx_run_compiler puts the spelling of the clang at hand in its place. */
#define PTX_CLANG_MAYBE_UNWRITTEN "-no-enable-noundef-analysis"
/**
 * Run the compiler @argv and read the PTX that it leaves in @result.
 * Errors: LW_EINPUT with the compiler's own words.
 */
enum lw_status ptx_run_compiler(const struct ptx_job *job, const char *path, const char **argv,
                                const char *result, char **ptx, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;

#endif
