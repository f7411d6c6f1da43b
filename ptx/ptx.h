/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of ptx/: translation of PTX text to an object of our ISA, and compilers for .cl and .cu files. */
#ifndef PTX_H
#define PTX_H

#include "isa/isa.h"

struct ptx_options {
    bool verify;          /* the translator checks the placement of convergence barriers (on by default) */
    bool no_scalar;       /* the code does not use the scalar unit; set for engines that may divide a warp at any instruction */
    bool lat_barriers;    /* a bar.synch_partner precedes loads and stores of global and local memory, for dynamic warp
                           * resizing (mechanism dwr of the timing model) with explicit barriers */
    bool from_source;     /* a compiler made the text from a source file. The @name that is passed with the text is the name of
                           * that file. Messages give the file and line of the last .loc, then the line of the PTX. Instructions
                           * are not checked against .version and .target, because the compiler chose both */
    bool keep_values;     /* in optimised code, a register stays live as long as a source variable has the register's
                           * value, so that debuggers can show the variable */
    bool no_values;       /* neither a debugger nor a check reads variables, so launch/ compiles with PTX_NO_VALUES. The
                           * translator itself does not use this option */
    uint32_t stack_bytes; /* local memory reserved for recursive functions, whose depth is unknown; 0: 8,192 */
    unsigned vector_registers;  /* limit of vector registers, at least 16, for a kernel that makes no calls; 0: the
                                 * limit of .maxnreg, or all registers if there is no limit */
    unsigned barrier_registers; /* number of barrier registers to use; 0: all sixteen. Tests use a lower number to cover
                                 * the saving of barrier registers */
    const char *comp_dir; /* compilation folder for the line table; NULL: the folder that the source's debug information names */
    struct lw_sink *notes; /* receives a message for each kernel that is not translated, and for debug information and
                            * attributes that are ignored; may be NULL */
};
void ptx_options_default(struct ptx_options *options);

/**
 * Translates one PTX module.
 * @name  the file's name in messages, "name:line: message"
 * Errors: LW_EINPUT for text that is not PTX; LW_EUNSUPP for a construct that is not supported, which the message names.
 */
enum lw_status ptx_translate(const char *name, const char *text, size_t size,
                             const struct ptx_options *options, struct isa_object **out,
                             struct lw_error *err) LW_MUST_CHECK;
/** One module of several. */
struct ptx_source {
    const char *name, *text; /* name, text: as in ptx_translate() */
    size_t size;
    bool from_source;        /* has the meaning of from_source in struct ptx_options, but only for this module */
};
/**
 * Translates several modules into one object. An external function or variable refers to the definition of its name
 * that another module declares as visible, weak or common. If a name has several definitions, a definition that is neither weak
 * nor common replaces the others, and two such definitions are an error. Of several common definitions the largest remains.
 * Names that are not visible are local to their module. In the debug information of the object, each module is a compile unit.
 */
enum lw_status ptx_translate_all(const struct ptx_source *sources, size_t count,
                                 const struct ptx_options *options, struct isa_object **out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Prints the control-flow graph with regions and barriers as text (compile --emit cfg). */
enum lw_status ptx_print_cfg(const char *name, const char *text, size_t size,
                             struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;

/**
 * Compiles an OpenCL C file or a SPIR-V module to PTX text by running clang as a child process.
 * @path     the source
 * @flags    extra compiler options (-D..., -I...), @flag_count of them; may be NULL
 * @clang    program to run; NULL: the program that the environment variable LANEWISE_CLANG names, or else the newest
 *           of clang-19, -16, -15, -14, clang on PATH
 * @ptx      heap text, terminated; caller frees
 * @words    receives at most about 64 KiB of the compiler's output, including clang's warnings,
 *           and nvcc's warnings if the flags request them (-Wall); may be NULL
 * Errors: LW_EINPUT with the compiler's first errors; LW_ENOENT when no clang or no libclc
 *         is installed (names the Debian packages).
 */
enum lw_status ptx_compile_cl(const char *path, const char *const *flags, size_t flag_count,
                              const char *clang, char **ptx, size_t *size,
                              struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;

/**
 * Compiles the device side of a CUDA C++ file to PTX text. The host code must be valid, because the compiler parses it.
 * @compiler  a clang or an nvcc; "nvcc" is the program that the environment variable LANEWISE_NVCC names, else nvcc on PATH, else
 *            the one in /usr/local/cuda. NULL: the same compiler as for ptx_compile_cl, or else nvcc. clang
 *            needs no CUDA SDK.
 * Other parameters and errors are those of ptx_compile_cl.
 */
enum lw_status ptx_compile_cu(const char *path, const char *const *flags, size_t flag_count,
                              const char *compiler, char **ptx, size_t *size,
                              struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;
/** Option for clang that omits the values of variables in optimised code. It is used if neither a debugger nor a check reads
 *  variables: for large kernels, clang takes several per cent longer to compile if it writes the values. nvcc does not get this
 *  option. */
#define PTX_NO_VALUES "-fno-verbose-asm"
/** Returns true if the last component of a program's path begins with "nvcc". */
bool ptx_is_nvcc(const char *name);
/** Checks that SPIR-V modules can be compiled: that a clang of a sufficient version and a translator are installed. Starts no
 *  program. @clang: as for ptx_compile_cl(). Errors: LW_ENOENT, LW_EINPUT. */
enum lw_status ptx_find_spirv(const char *clang, struct lw_error *err) LW_MUST_CHECK;
/** Returns true for a file that a compiler translates to PTX: .cl, .cu or .spv. */
bool ptx_is_compiled(const char *path);
/** Calls ptx_compile_cl(), for .cl and .spv, or ptx_compile_cu(), by the suffix. */
enum lw_status ptx_compile(const char *path, const char *const *flags, size_t flag_count,
                           const char *compiler, char **ptx, size_t *size,
                           struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;
/** Does what ptx_compile() does, for one of several modules that will be linked. The text keeps all functions and variables to
 *  which another module may refer; nvcc keeps them only with -rdc=true. */
enum lw_status ptx_compile_module(const char *path, const char *const *flags, size_t flag_count,
                                  const char *compiler, char **ptx, size_t *size,
                                  struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;
/** Does what ptx_compile() does, for text in memory, which is compiled in a private folder. Messages and the line table
 *  use @name, which ends in ".cl", ".cu" or ".spv". The user's own headers need an -I option. */
enum lw_status ptx_compile_text(const char *name, const char *text, size_t size,
                                const char *const *flags, size_t flag_count,
                                const char *compiler, char **ptx, size_t *ptx_size,
                                struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;

/** A text that compilers read as a file. */
struct ptx_text {
    const char *name, *text;
    size_t size;
};
/** Does what ptx_compile_text() does, with headers that the source may include by their names, which are paths below
 *  one folder. */
enum lw_status ptx_compile_texts(const struct ptx_text *source, const struct ptx_text *headers, size_t header_count,
                                 const char *const *flags, size_t flag_count, const char *compiler, char **ptx,
                                 size_t *ptx_size, struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;
/**
 * Writes the declarations of the kernels of an OpenCL C source. Parameters are those of ptx_compile_texts().
 * @out  for each kernel a line "NAME<tab>ATTRIBUTES" (separated by spaces, such as vec_type_hint(float4)), then for each
 *       of its parameters a line "<tab>NAME<tab>TYPE<tab>TYPE QUALIFIERS<tab>ACCESS QUALIFIER", in clang's words
 */
enum lw_status ptx_describe_text(const struct ptx_text *source, const struct ptx_text *headers, size_t header_count,
                                 const char *const *flags, size_t flag_count, const char *compiler, struct lw_sink *out,
                                 struct lw_error *err) LW_MUST_CHECK;

/* ---- programs of CUDA's runtime: host code and kernels ------------------------------------------- */

/** One word of a program's command line. */
struct ptx_input {
    enum { PTX_INPUT_WORD /* an argument for the linker */, PTX_INPUT_CUDA, PTX_INPUT_HOST /* a C or C++ source */ } kind;
    const char *word;
    const char *language; /* of a HOST source, as for option -x of clang; NULL: by its suffix */
};
/** A program to compile and link; everything is borrowed. */
struct ptx_program {
    const char *compiler;            /* compiler, as in ptx_compile_cu; nvcc can only be given by name */
    const struct ptx_input *inputs;  /* sources, and arguments for the linker, in the order of the command line */
    size_t input_count;
    const char *const *flags;        /* options of the compiler, for kernels and host code */
    size_t flag_count;
    const char *const *host_flags;   /* options that only host code and the linker get */
    size_t host_flag_count;
    const char *const *plain;        /* all arguments of the command line, unchanged, for nvcc */
    size_t plain_count;
    const char *source;              /* the first file to compile, or NULL if there is none */
    size_t source_count;
    bool compile_only;               /* each file is compiled to an object, and nothing is linked */
    enum { PTX_EMIT_OBJECT, PTX_EMIT_PTX, PTX_EMIT_FATBIN, PTX_EMIT_DEPENDENCIES } emit; /* with compile_only: what a file is compiled
                                      * to. PTX and fat binaries have kernels only. DEPENDENCIES: the list of the headers of
                                      * its host code; host_flags then has -M or -MM */
    bool device_debug;               /* kernels are not optimised, and their debug information has all lines and variables */
    enum { PTX_LINK_PROGRAM, PTX_LINK_ARCHIVE, PTX_LINK_NOTHING } link; /* without compile_only: what objects become. ARCHIVE: a static
                                      * library. NOTHING: an object without content, which takes the place of the object
                                      * that a linker of device code writes, as the runtime links kernels */
    bool linked;                     /* kernels of several files may use each other's functions and variables */
    const char *output;              /* "-", with PTX or DEPENDENCIES: standard output. NULL with compile_only: the output is NAME.o,
                                      * NAME.ptx or NAME.fatbin in the working folder, and dependencies go to standard output */
    const char *runtime;             /* folder of libcudart.so.13 */
};
/** Flag of an entry in a fat binary. If it is set, the runtime links the entry's PTX with the PTX of the program's other
 *  files. */
#define PTX_FATBIN_LINKED (UINT64_C(1) << 56)
/**
 * Compiles and links a program. Files get their names only when they are complete. @words receives the compiler's
 * output; may be NULL.
 * Errors: LW_EINPUT with the compiler's first errors; LW_ENOENT when a program or libclc is missing.
 */
enum lw_status ptx_build_program(const struct ptx_program *program, struct lw_sink *words, struct lw_error *err) LW_MUST_CHECK;

#endif
