/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of launch/: element types, and the structures of a launch file. */
#ifndef LAUNCH_PRIV_H
#define LAUNCH_PRIV_H

#include "launch/launch.h"

/* ---- element types (lnc_value.c) -------------------------------------------- */

enum lnc_kind { LNC_UNSIGNED, LNC_SIGNED, LNC_FLOAT };
struct lnc_type {
    const char *name;
    enum lnc_kind kind;
    uint8_t bytes;
};
/** Returns an element type by name ("f32", also "float", "int" ...), or NULL. */
const struct lnc_type *lnc_type_find(const char *name);
/** Returns the nearest type name for a message, or NULL. */
const char *lnc_type_suggest(const char *name);
#define LNC_TYPE_WORDS                                                                                            \
    "u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64, or C's uchar char ushort short uint int ulong long half float double"

/** Converts text to the bits of one element, rounded once. Returns false if the text is not a number, or if the number is
 *  outside the type's range. */
bool lnc_value_parse(const struct lnc_type *type, const char *text, uint64_t *bits);
/** Writes an element as text, such as "3.5" or "-7". */
void lnc_value_format(const struct lnc_type *type, uint64_t bits, char *text, size_t size);
uint64_t lnc_value_load(const struct lnc_type *type, const uint8_t *data, uint64_t index);
void lnc_value_store(const struct lnc_type *type, uint8_t *data, uint64_t index,
                     uint64_t bits);
double lnc_value_double(const struct lnc_type *type, uint64_t bits);

/* ---- contents (lnc_value.c) --------------------------------------------------- */

enum lnc_init_kind { LNC_ZERO, LNC_CONSTANT, LNC_RAMP, LNC_RANDOM, LNC_DATA };
/** Contents of a buffer, or of a part of one. */
struct lnc_init {
    enum lnc_init_kind kind;
    uint64_t constant;     /* LNC_CONSTANT: bits of the value */
    int64_t start, step;   /* ramp of integers: start + i * step, modulo the range of the type */
    double fstart, fstep;  /* ramp of floats: start + i * step in double, rounded once */
    uint64_t modulo;       /* ramp: i is taken modulo this number; 0: i is not reduced */
    uint64_t seed;         /* random: seed of the numbers z and u (lnc_init_make) */
    uint64_t low, span;    /* random integers: low + z % span; span 0: low + z */
    double flow, fhigh;    /* random floats: flow + u * (fhigh - flow) */
    const uint8_t *data;   /* LNC_DATA: `count` elements, in the arena of the launch file */
    uint64_t count;
};
/**
 * Writes elements [@first, @first + @count) of @init to @data. Random element i is derived from z, which is output i of
 * splitmix64 with the seed init->seed + @seed: the finisher of splitmix64 is applied to the seed + (i + 1) *
 * 0x9e3779b97f4a7c15. Host programs can therefore compute the same numbers. For floats, u is (z >> 11) * 2^-53.
 */
void lnc_init_make(const struct lnc_init *init, const struct lnc_type *type, uint64_t seed,
                   uint64_t first, uint64_t count, uint8_t *data);
/** Returns true if @path has the suffix of a file of binary elements (.bin, .raw). */
bool lnc_data_is_binary(const char *path);
/** Reads numbers from a file. A .bin or .raw file contains raw little-endian elements. Other files contain numbers as text,
 *  separated by white space or commas; # begins a comment that ends with the line. The data is allocated in @arena. */
enum lw_status lnc_data_read(const char *path, const struct lnc_type *type,
                             struct lw_arena *arena, const uint8_t **data, uint64_t *count,
                             struct lw_error *err) LW_MUST_CHECK;

/* ---- a launch file as read (lnc_file.c) ------------------------------------------ */

struct lnc_buffer {
    const char *name;
    const struct lw_yaml *node;
    const struct lnc_type *type;
    uint64_t count;
    struct lnc_init init;
    bool read_only;
    bool heap;            /* kernels may free the buffer, as if their malloc had returned it */
    uint64_t address;     /* address of the buffer, or 0 if the machine chooses it */
    const char *variable; /* the program variable whose memory the buffer is; NULL: the buffer is an allocation */
    unsigned index;
    struct lnc_buffer *next;
};

/** A texture, whose texels are in a buffer (lnc_texture.c). */
struct lnc_texture {
    const char *name;
    const struct lw_yaml *node;
    const struct lnc_buffer *buffer;
    uint64_t offset_bytes;
    struct emu_texture what; /* properties of the texture; all members are set except the address */
    unsigned index;
    struct lnc_texture *next;
};

enum lnc_arg_kind {
    LNC_ARG_NUMBER,    /* a number of the kernel parameter's type */
    LNC_ARG_TYPED,     /* {f32: 1.5}, {u32: [1, 2, 3, 4]} */
    LNC_ARG_BUFFER,
    LNC_ARG_TEXTURE,   /* handle of a texture */
    LNC_ARG_LOCAL,     /* bytes of shared memory */
    LNC_ARG_ITERATION  /* start * factor^i + step * i, i being the iteration of the innermost repeat */
};
/** A pointer or texture handle in a structure that is passed by value. The launch fills it in. */
struct lnc_hole {
    unsigned at; /* offset in the structure */
    const struct lnc_buffer *buffer;   /* the buffer to which the pointer points; NULL for a texture handle */
    const struct lnc_texture *texture; /* the texture whose handle it is; NULL for a pointer */
    uint64_t offset_bytes;             /* offset in the buffer */
    struct lnc_hole *next;
};

struct lnc_arg {
    enum lnc_arg_kind kind;
    const struct lw_yaml *node;
    const char *text;                /* LNC_ARG_NUMBER: text of the number */
    const uint8_t *data;             /* LNC_ARG_TYPED: bytes of the numbers or the structure */
    unsigned size_bytes, align;      /* LNC_ARG_TYPED: number of bytes in `data`, and their alignment */
    struct lnc_hole *holes;          /* LNC_ARG_TYPED: addresses that the launch writes into a copy of `data` */
    const struct lnc_buffer *buffer; /* LNC_ARG_BUFFER: the buffer to which the argument points */
    const struct lnc_texture *texture; /* LNC_ARG_TEXTURE: the texture whose handle the argument is */
    uint64_t offset_bytes;           /* LNC_ARG_BUFFER: offset from the start of the buffer */
    uint32_t local_bytes;            /* LNC_ARG_LOCAL: bytes of shared memory */
    int64_t start, step, factor;     /* LNC_ARG_ITERATION: parameters of the formula */
};

enum lnc_step_kind { LNC_LAUNCH, LNC_COPY, LNC_FILL, LNC_SWAP, LNC_CHECK, LNC_REPEAT };
struct lnc_step {
    enum lnc_step_kind kind;
    const struct lw_yaml *node;
    struct lnc_step *next;
    unsigned index; /* index of the step in the list of steps that contains it */
    /* members of a launch: */
    const char *entry;
    uint32_t grid[3], block[3], offset[3], work_dim, shared_bytes;
    struct lnc_arg *args;
    unsigned arg_count;
    uint64_t stream;
    bool has_stream; /* the file gives the stream: the launch does not wait for earlier launches with a stream */
    const struct isa_function *kernel; /* set by the session */
    /* members of other steps, which write, swap or check `buffer`: */
    const struct lnc_buffer *buffer, *other; /* other: source of a copy, second buffer of a swap, expected contents */
    uint64_t first, other_first, count;      /* first elements of `buffer` and `other`, and number of elements */
    struct lnc_init value;                   /* contents of a fill; expected value of a check */
    double absolute, relative;               /* tolerance of a check */
    /* members of a repeat: */
    struct lnc_step *steps;
    unsigned step_count;
    uint64_t repeat_count;
    const struct lnc_buffer *until; /* buffer of an `until`; NULL: the repeat has only a count */
    uint64_t until_index, until_bits;
};

enum { LNC_MAX_NEST = 8, LNC_MAX_ARGS = 256, LNC_MAX_STREAM = 65535 };

struct lnc_file {
    struct lw_arena arena;
    struct lw_yaml_document *doc;
    uint64_t hash; /* hash of the text */
    const char *folder; /* folder of the launch file, with the slash; "" if the launch file's name has no folder */
    const char *source; /* resolved path of the program, or of the first of several sources */
    const char **sources;
    size_t source_count; /* number of sources in a list, or 0 if there is no list */
    const struct lw_yaml *source_node;
    const char **options;
    size_t option_count;
    const char *compiler;
    uint32_t stack_bytes; /* bytes of stack for recursion; 0: the default */
    bool keep_values, lat_barriers; /* as in struct ptx_options */
    bool read_once; /* a file that the launch file names is not a regular file, so it may be impossible to read it again */
    struct lnc_buffer *buffers;
    unsigned buffer_count;
    struct lnc_texture *textures;
    unsigned texture_count;
    struct lnc_step *steps;
    unsigned step_count;
    struct lnc_limits limits;
    struct emu_program_layout layout; /* addresses of the program */
    uint64_t next_address;          /* address from which the machine chooses addresses; 0: from the lowest address on */
    const struct lw_yaml *addresses; /* the section with these addresses, or NULL */
    /* members of a launch that options describe (lnc_direct.c), else all zero */
    struct isa_object *object; /* the program, until a session takes it */
    const char *text, *text_elsewhere; /* text: the launch file, with names relative to the working folder.
                                        * text_elsewhere: the same text, with names relative to the folder in which the launch
                                        * file is saved */
    const char *places[LNC_MAX_ARGS * 3 + 16]; /* [line of `text` - 1]: option from which the line was made */
    size_t place_count;
};

/** Reads the text of a launch file into @file, of which only the arena is initialised. @folder: folder to which names in
 *  the text are relative. After a failure the caller must destroy the file, which is incomplete. */
enum lw_status lnc_file_read(struct lnc_file *file, const char *name, const char *folder, const char *text, size_t size,
                             struct emu_config *config, struct lw_error *err) LW_MUST_CHECK;
/** For a launch by options, replaces the line of the generated text in an error message by the option from which the line
 *  was made (lnc_direct.c). */
void lnc_direct_location(const struct lnc_file *file, struct lw_error *err);
/** Applies `machine:` to @config (lnc_machine.c). @node may be NULL. */
enum lw_status lnc_machine_read(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                struct emu_config *config, struct lw_error *err) LW_MUST_CHECK;
/** Reads `steps:` (lnc_steps.c); buffers must have been read. */
enum lw_status lnc_steps_read(struct lnc_file *file, const struct lw_yaml *node,
                              struct lw_error *err) LW_MUST_CHECK;
/** Sets the kernel of each launch of @step and of the steps after it, and checks its arguments and its block
 *  (lnc_args.c). @options: the options of the session; may be NULL. */
enum lw_status lnc_steps_bind(const struct lnc_file *file, const struct lnc_options *options, const struct isa_object *object,
                              struct lnc_step *step, struct lw_error *err) LW_MUST_CHECK;
/** Converts a plain number to the bytes of a parameter. Returns false if that is impossible. If the
 *  parameter's type is not known, a number without a point or an exponent is an integer. */
bool lnc_number_bits(const char *text, const struct isa_param *param, uint64_t *bits);
/** Reads `textures:`; buffers must have been read. @node may be NULL. */
enum lw_status lnc_textures_read(struct lnc_file *file, const struct lw_yaml *node,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Returns a texture by name; NULL: there is none. */
const struct lnc_texture *lnc_texture_find(const struct lnc_file *file, const char *name);
/** Allocates the descriptors of textures that are not variables of @object, and stores their addresses in @handles, by
 *  texture index. After the program is loaded, lnc_textures_find() stores the addresses of the texture variables. */
enum lw_status lnc_textures_make(const struct lnc_file *file, struct emu_machine *machine,
                                 const struct isa_object *object, uint64_t *handles,
                                 struct lw_error *err) LW_MUST_CHECK;
enum lw_status lnc_textures_find(const struct lnc_file *file, const struct emu_program *program,
                                 uint64_t *handles, struct lw_error *err) LW_MUST_CHECK;
/** Updates the descriptors of textures before a launch, because swaps change the addresses of buffers. @addresses: [buffer
 *  index]. */
enum lw_status lnc_textures_bind(const struct lnc_file *file, struct emu_machine *machine,
                                 const uint64_t *handles, const uint64_t *addresses,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Reads contents in any form of `init` and `value` (lnc_file.c). A list or a data file must have *@count elements; if
 *  *@count is 0, sets it to the number of elements that they have. */
enum lw_status lnc_init_read(struct lnc_file *file, const struct lw_yaml *node,
                             const struct lnc_type *type, uint64_t *count,
                             struct lnc_init *init, struct lw_error *err) LW_MUST_CHECK;
/** Converts @path, which is relative to the folder of the launch file, to a path that can be opened. A new text is allocated
 *  in the file's arena. Notes in @file if the path names no regular file. Returns NULL if memory is short. */
const char *lnc_path(struct lnc_file *file, const char *path);
/** Gets the buffer that @node names. */
enum lw_status lnc_buffer_named(const struct lnc_file *file, const struct lw_yaml *node,
                                const struct lnc_buffer **out, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status lnc_no_memory(const struct lnc_file *file, const struct lw_yaml *node,
                             struct lw_error *err);

/** Returns the launch file of a session, borrowed. */
const struct lnc_file *lnc_session_file(const struct lnc_session *session);
const struct emu_machine *lnc_session_machine(const struct lnc_session *session);
uint64_t lnc_session_seed(const struct lnc_session *session);

/** Result of a comparison of contents (lnc_check.c). count: number of elements that differ; first: index of the first element
 *  that differs. */
struct lnc_difference {
    uint64_t count, first, got, want; /* got, want: bits of the first element that differs */
};
void lnc_compare(const struct lnc_type *type, const uint8_t *got, const uint8_t *want,
                 uint64_t count, uint64_t base, double absolute, double relative,
                 struct lnc_difference *difference);

/** A type of the source as launch files describe it (lnc_template.c): as a number of elements of one type. A structure with
 *  members of several types is described as bytes. */
struct lnc_element {
    char type[8];   /* type of the numbers, such as "f32"; empty: not known */
    uint64_t count; /* number of elements of the type */
    bool is_const;
};
void lnc_element_of(const struct isa_debug *debug, int64_t type, struct lnc_element *out);
/** Returns the number of dimensions of thread and block indices that a kernel reads: 3 if it reads tid.z or ctaid.z, else
 *  2 if it reads tid.y or ctaid.y, else 1. If the kernel calls a function, indices that any function of the object reads are
 *  counted as well (lnc_template.c). */
unsigned lnc_kernel_dimensions(const struct isa_object *object, const struct isa_function *kernel);
/** Returns the number of bytes of element->type, or 1 if that type is not known (lnc_structure.c). */
uint64_t lnc_element_bytes(const struct lnc_element *element);
/** Prints @count zeros of @type: "{s32: [0, 0]}". */
void lnc_zeros_put(const char *type, uint64_t count, struct lw_sink *out);
/** Prints a type as in the source: "const float *" (lnc_structure.c). */
void lnc_type_put(const struct isa_debug *debug, int64_t type, struct lw_sink *out);
/** Returns the debug entry of the kernel of @described that has @kernel's name. Returns ISA_NO_DIE if there is none, or if
 *  it has another number of parameters, because the compiler has dropped unused ones. */
int64_t lnc_described_kernel(const struct isa_object *described, const struct isa_function *kernel);
/** Returns true if a parameter of the kernel is an image of OpenCL C, according to the debug information of @described. */
bool lnc_has_image(const struct isa_object *described, const struct isa_function *kernel);
bool lnc_is_structure(const struct isa_debug *debug, int64_t type);
/** Callback that writes the members of a structure, except members that are themselves structures of several types. */
struct lnc_members {
    /* Writes one member: @path "rows" or "view.rows", @type of the source without qualifiers. Returns false
     * if memory is short. */
    bool (*put)(struct lnc_members *members, const char *path, int64_t type, const struct lnc_element *element,
                struct lw_sink *out);
    struct lw_arena *arena; /* arena in which the paths are allocated */
};
/**
 * Writes a structure of @bytes bytes that is passed by value to @out, in the form "{struct: [{s32: 5}, A]}". Calls
 * @members to write each member, and writes the names of the members to @names: "n, data". Returns false if memory is short,
 * or if launch files have no form for the structure (it has bit fields or base classes). If the function returns false,
 * it has written nothing, but may have called @members.
 */
bool lnc_structure_put(const struct isa_debug *debug, int64_t type, uint64_t bytes, struct lnc_members *members,
                       struct lw_sink *out, struct lw_sink *names);
/** Writes the comment of a launch file that shows how to compare @buffer of @type with expected contents. */
void lnc_check_comment_put(const char *buffer, const char *type, struct lw_sink *out);
/** Writes a name that YAML reads as text, in quotes if needed. */
void lnc_put_word(const char *text, struct lw_sink *out);

/** Returns the suffix of a path's last part, with the point; "" if there is none (lnc_kind.c). */
const char *lnc_suffix(const char *path);

/** Loads the program of a launch file (lnc_object.c); the caller owns it. @options may be NULL. */
enum lw_status lnc_source_load(const struct lnc_file *file, const struct lnc_options *options,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/**
 * Finds a kernel by its symbol or readable name: "saxpy" for _Z5saxpyifPfS_.
 * @count  set to the number of kernels that @wanted names equally well; unless the number is 1, NULL is returned
 */
const struct isa_function *lnc_kernel_find(const struct isa_object *object, const char *wanted,
                                           unsigned *count);

/** Replaces names of source files that do not exist by the names of copies next to the object file @object_path: those of
 *  lnc_sources_copy(), or files with the same base name. */
void lnc_sources_find(struct isa_object *object, const char *object_path);

#endif
