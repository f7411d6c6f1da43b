/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of launch/ share: element types, and a launch file as read. */
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
/** By name ("f32", also "float", "int" ...), or NULL. */
const struct lnc_type *lnc_type_find(const char *name);
/** Nearest type name for a message, or NULL. */
const char *lnc_type_suggest(const char *name);
#define LNC_TYPE_WORDS                                                                                            \
    "u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64, or C's uchar char ushort short uint int ulong long half float double"

/** A number as text to the bits of one element, rounded once; false when it is no such
 *  number or outside the type's range. */
bool lnc_value_parse(const struct lnc_type *type, const char *text, uint64_t *bits);
/** "3.5", "-7" into @text. */
void lnc_value_format(const struct lnc_type *type, uint64_t bits, char *text, size_t size);
uint64_t lnc_value_load(const struct lnc_type *type, const uint8_t *data, uint64_t index);
void lnc_value_store(const struct lnc_type *type, uint8_t *data, uint64_t index,
                     uint64_t bits);
double lnc_value_double(const struct lnc_type *type, uint64_t bits);

/* ---- contents (lnc_value.c) --------------------------------------------------- */

enum lnc_init_kind { LNC_ZERO, LNC_CONSTANT, LNC_RAMP, LNC_RANDOM, LNC_DATA };
/** What a buffer, or a part of one, is filled with. */
struct lnc_init {
    enum lnc_init_kind kind;
    uint64_t constant;     /* bits */
    int64_t start, step;   /* ramp of integers; wraps to the type */
    double fstart, fstep;  /* ramp of floats: start + i * step in double, rounded once */
    uint64_t modulo;       /* ramp: i runs modulo this; 0: it does not */
    uint64_t seed;         /* random: see lnc_init_make */
    uint64_t low, span;    /* integers: low + z % span, span 0: all of z */
    double flow, fhigh;    /* floats: low + u * (high - low) */
    const uint8_t *data;   /* LNC_DATA: @count elements; the file's arena */
    uint64_t count;
};
/**
 * Elements [@first, @first + @count) of @init into @data.
 *
 * Random element i is made of z, the i-th output of splitmix64 seeded with `seed` + @seed
 * (state = seed + (i + 1) * 0x9e3779b97f4a7c15, then its finisher), so that host programs
 * can make the same numbers. u = (z >> 11) * 2^-53.
 */
void lnc_init_make(const struct lnc_init *init, const struct lnc_type *type, uint64_t seed,
                   uint64_t first, uint64_t count, uint8_t *data);
/** Does a file have elements as they lie in memory (.bin, .raw), by its name? */
bool lnc_data_is_binary(const char *path);
/** Read numbers from a file: raw little-endian (.bin, .raw), else text separated by white
 *  space or commas, # to the end of the line being a comment. The data belongs to @arena. */
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
    const char *variable; /* of the program, that it stands for; NULL: memory of its own */
    unsigned index;
    struct lnc_buffer *next;
};

/** Texels in a buffer (lnc_texture.c). */
struct lnc_texture {
    const char *name;
    const struct lw_yaml *node;
    const struct lnc_buffer *buffer;
    uint64_t offset_bytes;
    struct emu_texture what; /* all but its address */
    unsigned index;
    struct lnc_texture *next;
};

enum lnc_arg_kind {
    LNC_ARG_NUMBER,    /* typed by the kernel's parameter */
    LNC_ARG_TYPED,     /* {f32: 1.5}, {u32: [1, 2, 3, 4]} */
    LNC_ARG_BUFFER,
    LNC_ARG_TEXTURE,   /* its handle */
    LNC_ARG_LOCAL,     /* bytes of shared memory */
    LNC_ARG_ITERATION  /* start * factor^i + step * i of the innermost repeat */
};
/** An address inside of a structure that is passed by value, filled in at the launch. */
struct lnc_hole {
    unsigned at; /* bytes from its start */
    const struct lnc_buffer *buffer;   /* or */
    const struct lnc_texture *texture; /* its handle */
    uint64_t offset_bytes;             /* of the buffer */
    struct lnc_hole *next;
};

struct lnc_arg {
    enum lnc_arg_kind kind;
    const struct lw_yaml *node;
    const char *text;                /* NUMBER */
    const uint8_t *data;             /* TYPED */
    unsigned size_bytes, align;      /* TYPED */
    struct lnc_hole *holes;          /* TYPED: what `data` lacks */
    const struct lnc_buffer *buffer; /* BUFFER */
    const struct lnc_texture *texture; /* TEXTURE */
    uint64_t offset_bytes;           /* BUFFER: from its start */
    uint32_t local_bytes;            /* LOCAL */
    int64_t start, step, factor;     /* ITERATION */
};

enum lnc_step_kind { LNC_LAUNCH, LNC_COPY, LNC_FILL, LNC_SWAP, LNC_CHECK, LNC_REPEAT };
struct lnc_step {
    enum lnc_step_kind kind;
    const struct lw_yaml *node;
    struct lnc_step *next;
    unsigned index; /* among its siblings */
    /* launch */
    const char *entry;
    uint32_t grid[3], block[3], offset[3], work_dim, shared_bytes;
    struct lnc_arg *args;
    unsigned arg_count;
    uint64_t stream;
    bool has_stream; /* it does not wait for the launches before it that have one */
    const struct isa_function *kernel; /* bound by the session */
    /* the others: buffer is what is written, swapped or checked */
    const struct lnc_buffer *buffer, *other; /* other: copied from, swapped with, expected */
    uint64_t first, other_first, count;      /* elements */
    struct lnc_init value;                   /* fill; expected value of a check */
    double absolute, relative;               /* tolerance */
    /* repeat */
    struct lnc_step *steps;
    unsigned step_count;
    uint64_t repeat_count;
    const struct lnc_buffer *until; /* NULL: a plain count */
    uint64_t until_index, until_bits;
};

enum { LNC_MAX_NEST = 8, LNC_MAX_ARGS = 256, LNC_MAX_STREAM = 65535 };

struct lnc_file {
    struct lw_arena arena;
    struct lw_yaml_document *doc;
    uint64_t hash; /* of its text */
    const char *folder; /* of the launch file, with the slash; "" if none */
    const char *source; /* path, resolved; the first of several */
    const char **sources;
    size_t source_count; /* 0: no list */
    const struct lw_yaml *source_node;
    const char **options;
    size_t option_count;
    const char *compiler;
    uint32_t stack_bytes; /* for recursion; 0: the default */
    bool keep_values;     /* ptx_options */
    struct lnc_buffer *buffers;
    unsigned buffer_count;
    struct lnc_texture *textures;
    unsigned texture_count;
    struct lnc_step *steps;
    unsigned step_count;
    struct lnc_limits limits;
    /* of a launch that options describe (lnc_direct.c), else all zero */
    struct isa_object *object; /* the program, until a session takes it */
    const char *text, *text_elsewhere; /* for the working folder; as it is saved */
    const char *places[LNC_MAX_ARGS * 3 + 16]; /* the option that each line of `text` was made of */
    size_t place_count;
};

/** The text of a launch file into @file, of which nothing but the arena is there yet; @folder: of names in it.
 *  On failure it is half read: destroy it. */
enum lw_status lnc_file_read(struct lnc_file *file, const char *name, const char *folder, const char *text, size_t size,
                             struct emu_config *config, struct lw_error *err) LW_MUST_CHECK;
/** An error about a line of text that options made names the option (lnc_direct.c). */
void lnc_direct_location(const struct lnc_file *file, struct lw_error *err);
/** `machine:` over @config (lnc_machine.c). @node may be NULL. */
enum lw_status lnc_machine_read(const struct lw_yaml_document *doc, const struct lw_yaml *node,
                                struct emu_config *config, struct lw_error *err) LW_MUST_CHECK;
/** `steps:` (lnc_steps.c); buffers are already read. */
enum lw_status lnc_steps_read(struct lnc_file *file, const struct lw_yaml *node,
                              struct lw_error *err) LW_MUST_CHECK;
/** Set the kernel of each launch of @step and of the steps after it, and compare its arguments and its block with it
 *  (lnc_args.c). @options: those of the session, may be NULL. */
enum lw_status lnc_steps_bind(const struct lnc_file *file, const struct lnc_options *options, const struct isa_object *object,
                              struct lnc_step *step, struct lw_error *err) LW_MUST_CHECK;
/** The bytes of a plain number in a parameter; false: they cannot be. If the type of the parameter is not known, a
 *  number without a point or an exponent is an integer. */
bool lnc_number_bits(const char *text, const struct isa_param *param, uint64_t *bits);
/** `textures:`; buffers are already read. @node may be NULL. */
enum lw_status lnc_textures_read(struct lnc_file *file, const struct lw_yaml *node,
                                 struct lw_error *err) LW_MUST_CHECK;
/** NULL: there is none. */
const struct lnc_texture *lnc_texture_find(const struct lnc_file *file, const char *name);
/** Where descriptors lie, into @handles by texture index: allocations of their own for those that
 *  only arguments name, then, once the program is on the machine, its variables. */
enum lw_status lnc_textures_make(const struct lnc_file *file, struct emu_machine *machine,
                                 const struct isa_object *object, uint64_t *handles,
                                 struct lw_error *err) LW_MUST_CHECK;
enum lw_status lnc_textures_find(const struct lnc_file *file, const struct emu_program *program,
                                 uint64_t *handles, struct lw_error *err) LW_MUST_CHECK;
/** Before each launch: a texture follows its buffer through swaps. @addresses by buffer index. */
enum lw_status lnc_textures_bind(const struct lnc_file *file, struct emu_machine *machine,
                                 const uint64_t *handles, const uint64_t *addresses,
                                 struct lw_error *err) LW_MUST_CHECK;
/** The forms of `init` and `value` (lnc_file.c). @count may be 0: taken from the data.
 *  On return *count is the number of elements. */
enum lw_status lnc_init_read(struct lnc_file *file, const struct lw_yaml *node,
                             const struct lnc_type *type, uint64_t *count,
                             struct lnc_init *init, struct lw_error *err) LW_MUST_CHECK;
/** @path in the folder of the launch file, in its arena; NULL: no memory. */
const char *lnc_path(struct lnc_file *file, const char *path);
/** Buffer that @node names. */
enum lw_status lnc_buffer_named(const struct lnc_file *file, const struct lw_yaml *node,
                                const struct lnc_buffer **out, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status lnc_no_memory(const struct lnc_file *file, const struct lw_yaml *node,
                             struct lw_error *err);

/** What a session was made of, borrowed. */
const struct lnc_file *lnc_session_file(const struct lnc_session *session);
const struct emu_machine *lnc_session_machine(const struct lnc_session *session);
uint64_t lnc_session_seed(const struct lnc_session *session);

/** Compare (lnc_check.c): 0 when all elements agree, else how many differ; @first is the
 *  lowest. */
struct lnc_difference {
    uint64_t count, first, got, want; /* bits of the first */
};
void lnc_compare(const struct lnc_type *type, const uint8_t *got, const uint8_t *want,
                 uint64_t count, uint64_t base, double absolute, double relative,
                 struct lnc_difference *difference);

/** What one element of a type of the source is (lnc_template.c): "f32" and how many of them, or bytes where it is a
 *  structure of several types; `type` empty: not known. */
struct lnc_element {
    char type[8];
    uint64_t count;
    bool is_const;
};
void lnc_element_of(const struct isa_debug *debug, int64_t type, struct lnc_element *out);
/** Dimensions of the grid that a kernel, or a function that it may call, reads: 1, 2 or 3 (lnc_template.c). */
unsigned lnc_kernel_dimensions(const struct isa_object *object, const struct isa_function *kernel);
/** Bytes of one number of it, 1 if its type is not known (lnc_structure.c). */
uint64_t lnc_element_bytes(const struct lnc_element *element);
/** "{s32: [0, 0]}". */
void lnc_zeros_put(const char *type, uint64_t count, struct lw_sink *out);
/** A type as the source writes it: "const float *" (lnc_structure.c). */
void lnc_type_put(const struct isa_debug *debug, int64_t type, struct lw_sink *out);
/** The debug entry of a kernel of @kernel's name, if it has the same parameters: a compiler drops what it does not need.
 *  Else ISA_NO_DIE. */
int64_t lnc_described_kernel(const struct isa_object *described, const struct isa_function *kernel);
bool lnc_is_structure(const struct isa_debug *debug, int64_t type);
/** Writes the members of a structure that are no structures of several types themselves. */
struct lnc_members {
    /* One member: @path "rows" or "view.rows", @type of the source without qualifiers. False: no memory. */
    bool (*put)(struct lnc_members *members, const char *path, int64_t type, const struct lnc_element *element,
                struct lw_sink *out);
    struct lw_arena *arena; /* of the paths */
};
/**
 * A structure passed by value, of @bytes, to @out as "{struct: [{s32: 5}, A]}" with a text of @members for each
 * member, and their names, "n, data", to @names. False: launch files have no form for it (bit fields, base classes),
 * or there was no memory, and nothing was written; @members may have been called for some of them.
 */
bool lnc_structure_put(const struct isa_debug *debug, int64_t type, uint64_t bytes, struct lnc_members *members,
                       struct lw_sink *out, struct lw_sink *names);
/** The comment of a launch file that shows how @buffer of @type is compared with what must come out. */
void lnc_check_comment_put(const char *buffer, const char *type, struct lw_sink *out);
/** A name as YAML takes it for text, in quotes if need be. */
void lnc_put_word(const char *text, struct lw_sink *out);

/** What follows the last point of a path's last part, with the point; "" if there is none (lnc_kind.c). */
const char *lnc_suffix(const char *path);

/** The program of a launch file (lnc_object.c); the caller owns it. @options may be NULL. */
enum lw_status lnc_source_load(const struct lnc_file *file, const struct lnc_options *options,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/**
 * A kernel by its name in the object or as people write it: "saxpy" for _Z5saxpyifPfS_.
 * @count  of the kernels that @wanted names equally well; NULL is returned unless it is 1
 */
const struct isa_function *lnc_kernel_find(const struct isa_object *object, const char *wanted,
                                           unsigned *count);

#endif
