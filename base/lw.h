/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of base/: status and error, sinks for text, arenas, growing arrays, bit helpers, hashing, tables of commands
 * and the YAML reader. Every other directory may include this header. The header includes no header of another directory.
 */
#ifndef LW_H
#define LW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LW_MUST_CHECK __attribute__((warn_unused_result))
#define LW_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define LW_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- status and error --------------------------------------------------- */

/** Result of a function that can fail. A fault of the guest program is not reported by this status. */
enum lw_status {
    LW_OK = 0,
    LW_EUSAGE,   /* the user has typed a wrong command line or command */
    LW_EINPUT,   /* an input file has an error that the user can correct */
    LW_EFORMAT,  /* input bytes do not have the format that they must have */
    LW_ERANGE,   /* an argument is outside its range */
    LW_ENOENT,   /* a file, symbol or object does not exist */
    LW_ENOMEM,   /* there is not enough host memory, or guest memory that the host requests */
    LW_EIO,      /* an operation of the operating system failed */
    LW_EUNSUPP,  /* the input has a construct that Lanewise does not support */
    LW_ESTATE,   /* the operation is not possible in the current state, for example because no program is loaded */
    LW_EAGAIN    /* the lanes wait until other lanes arrive (MACHINE 1, Step) */
};

enum { LW_ERROR_BYTES = 512 };

/** Message of a failure. The caller owns the memory; the text is always terminated. */
struct lw_error {
    enum lw_status status;
    char text[LW_ERROR_BYTES];
};

/**
 * Sets @err (may be NULL) to @status and a message formatted as by printf(). Returns @status, so that a caller can write
 * `return lw_fail(...)`.
 */
enum lw_status lw_fail(struct lw_error *err, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
/** Calls lw_fail(). Most code uses this macro. */
#define LW_FAIL(err, status, ...) lw_fail((err), (status), __VA_ARGS__)
/** Inserts the formatted text and ": " before the message in @err. Returns the status in @err. */
enum lw_status lw_error_prefix(struct lw_error *err, const char *fmt, ...) LW_PRINTF(2, 3);

/* ---- sinks: destinations of text ---------------------------------------- */

/** Destination of text. `write` receives @size bytes, which are not terminated. */
struct lw_sink {
    void (*write)(struct lw_sink *sink, const char *text, size_t size);
};

void lw_put(struct lw_sink *sink, const char *text);
/** Writes @text, in which names of files below @folder are relative to @folder. NULL: the current folder. The name of a file
 *  begins after a blank or a parenthesis, or at the start of the text. */
void lw_put_relative(struct lw_sink *sink, const char *text, const char *folder);
/** Returns the length in bytes, 1 to 4, of the UTF-8 character at @text. Returns 0 if the bytes at @text are invalid by RFC 3629,
 *  which excludes surrogates and overlong forms. A NUL has length 1. */
unsigned lw_utf8(const char *text);
/** Writes @text as a JSON string (RFC 8259) including the quotes. Invalid UTF-8 bytes become U+FFFD. */
void lw_put_json(struct lw_sink *sink, const char *text);
/** Formats text as printf() does, and writes it as lw_put_json() does. */
void lw_printf_json(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);
void lw_printf(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);

/** Sink that stores the text in memory; `text` is always terminated. */
struct lw_buffer {
    struct lw_sink sink;
    char *text; /* owned; free with lw_buffer_fini */
    size_t size, capacity;
    bool is_cut; /* true if a part of the text was dropped because the host had no memory */
};
void lw_buffer_init(struct lw_buffer *buffer);
void lw_buffer_fini(struct lw_buffer *buffer);
void lw_buffer_clear(struct lw_buffer *buffer);
/** Returns the stored text, or "" if none is stored yet. */
static inline const char *lw_buffer_text(const struct lw_buffer *buffer)
{
    return buffer->text != NULL ? buffer->text : "";
}

/** Sink that writes to a stdio stream. */
struct lw_file_sink {
    struct lw_sink sink;
    void *stream; /* FILE *, borrowed */
};
void lw_file_sink_init(struct lw_file_sink *sink, void *stream);

/* ---- arena: memory with one lifetime ------------------------------------ */

struct lw_arena_chunk;
struct lw_arena {
    struct lw_arena_chunk *first;
};
void lw_arena_init(struct lw_arena *arena);
void lw_arena_fini(struct lw_arena *arena);
/** Returns zeroed memory, aligned to 16 bytes, or NULL if the host has no memory left. */
void *lw_arena_alloc(struct lw_arena *arena, size_t bytes);
char *lw_arena_strndup(struct lw_arena *arena, const char *text, size_t size);
char *lw_arena_strdup(struct lw_arena *arena, const char *text);
char *lw_arena_printf(struct lw_arena *arena, const char *fmt, ...) LW_PRINTF(2, 3);

/**
 * Gives a heap array a capacity of at least @need elements of @size bytes. If the array must grow, it grows by at least half.
 * @array     address of the pointer to the array
 * @capacity  number of elements for which the array has memory; updated
 * Returns false if the host has no memory; the array is unchanged then.
 */
bool lw_grow(void *array, size_t *capacity, size_t need, size_t size) LW_MUST_CHECK;
/** Maps @bytes (not 0) of zeroed memory. A page is cleared, and takes memory, only when it is first accessed. Returns NULL if the
 *  host has no memory. */
void *lw_reserve(uint64_t bytes) LW_MUST_CHECK;
/** Maps memory as lw_reserve() does: at address @at if no memory is mapped there, otherwise at any address. */
void *lw_reserve_at(void *at, uint64_t bytes) LW_MUST_CHECK;
/** Unmaps the memory at @at; does nothing if @at is NULL. */
void lw_release(void *at, uint64_t bytes);

/* ---- bits --------------------------------------------------------------- */

static inline unsigned lw_popcount(uint64_t x)
{
#if defined __POPCNT__ || defined __aarch64__
    return (unsigned)__builtin_popcountll(x);
#else /* without a popcount instruction, the compiler's builtin would call a function that reads a table */
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
#endif
}
/** Returns the index of the lowest set bit. @x must not be 0. */
static inline unsigned lw_lowest(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}
/** Returns a mask of the lowest @n bits; @n is 0 to 64. */
static inline uint64_t lw_mask(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}
/** Head of a loop over the set bits of a mask: in `for (LW_EACH_BIT(l, mask))`, l is the index of each set bit, in ascending
 *  order. */
#define LW_EACH_BIT(l, mask)                                                        \
    uint64_t l##_rest = (mask), l = l##_rest ? lw_lowest(l##_rest) : 0; l##_rest;   \
    l##_rest &= l##_rest - 1, l = l##_rest ? lw_lowest(l##_rest) : 0

static inline uint32_t lw_get32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t lw_get64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void lw_put32(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}
static inline void lw_put64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

/** Returns the number of rows whose key is less than @key. Each row begins with its key, a uint64_t, and @rows is sorted by
 *  key. */
static inline size_t lw_lower_bound(const void *rows, size_t count, size_t row_bytes, uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lw_get64((const char *)rows + middle * row_bytes) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Hash table. Each row begins with its key, a uint64_t that is not 0; the key of a free row is 0. */
struct lw_table {
    void *rows; /* owned */
    size_t count, capacity; /* count: number of rows with a key; capacity: number of all rows, a power of two or 0 */
};
/** Returns the row of @key, or the free row where @key would be inserted. Returns NULL if the table has no rows yet. */
void *lw_table_find(const struct lw_table *table, size_t row_bytes, uint64_t key);
/** Returns the row of @key. If no row has the key, adds a row that is zero except for its key, and sets *@is_new to true. Returns
 *  NULL if the host has no memory. */
void *lw_table_add(struct lw_table *table, size_t row_bytes, uint64_t key, bool *is_new);

/* ---- hashing ------------------------------------------------------------ */

/** State of a 64-bit hash to which data is added piece by piece. The algorithm is like FNV-1a, over words of 8 bytes. The hash is
 *  the same on every host. The hash is not cryptographic. */
struct lw_hash {
    uint64_t state, length;
};
void lw_hash_init(struct lw_hash *hash);
void lw_hash_bytes(struct lw_hash *hash, const void *data, size_t size);
void lw_hash_u64(struct lw_hash *hash, uint64_t value);
uint64_t lw_hash_value(const struct lw_hash *hash);

/* ---- text helpers ------------------------------------------------------- */

/** Returns the edit distance of two names, with which messages choose the name for "did you mean". */
unsigned lw_edit_distance(const char *a, const char *b);
/** Returns the name among @count names that is most similar to @name, or NULL if no name is similar enough for "did you mean".
 *  The pointers to the names are @stride bytes apart. */
const char *lw_suggest(const char *name, const char *const *names, size_t count, size_t stride);
/** Parses an integer as in C: decimal, or with the prefix 0x or 0b, and with an optional sign (lw_parse_u64: only +). Returns
 *  false if @text as a whole is no integer, or if the integer is out of range. */
bool lw_parse_u64(const char *text, uint64_t *out);
bool lw_parse_i64(const char *text, int64_t *out);
/** Reads a whole file into heap memory, which the caller frees. A zero byte follows the content. */
enum lw_status lw_file_read(const char *path, char **data, size_t *size, struct lw_error *err)
    LW_MUST_CHECK;
/** Writes a whole file. The data is written to a temporary file, which is then renamed, so that after a failure the old
 *  content remains. A device, pipe or symbolic link is written directly. */
enum lw_status lw_file_write(const char *path, const void *data, size_t size,
                             struct lw_error *err) LW_MUST_CHECK;
/** Tests whether lw_file_write() could write @path, for callers that will write it after long work. The test leaves no file. */
enum lw_status lw_file_try_write(const char *path, struct lw_error *err) LW_MUST_CHECK;

/* ---- cache of results in files --------------------------------------------- */

enum { LW_PATH_BYTES = 4096 };

/** Writes a number, or a size and bytes, in the format that lw_read_u64() and lw_read_block() read. */
void lw_write_u64(struct lw_sink *out, uint64_t value);
void lw_write_block(struct lw_sink *out, const void *data, size_t size);
/** Position in bytes that are being read. */
struct lw_reader {
    const char *at;
    size_t left;
    bool is_cut; /* the bytes have ended too early; then all further reads return 0 */
};
uint64_t lw_read_u64(struct lw_reader *reader);
/** Returns the bytes of a block, which stay in the memory that is being read, and their number. */
const char *lw_read_block(struct lw_reader *reader, size_t *size);

/** Writes the build id of the program or library that contains @address. Returns false if it has none. */
bool lw_write_build_id(struct lw_sink *out, uintptr_t address);
/** Stores the path of the cache folder in @out, which has LW_PATH_BYTES, and creates the folder if necessary. Returns false if
 *  there is no folder that this process can write to. */
bool lw_cache_folder(char *out);
/** Returns true if the user has switched the cache off, by LANEWISE_CACHE=off. */
bool lw_cache_is_off(void);

/** Key of an entry. The caller writes to @text everything on which the result depends, before lw_cache_key_end(). */
struct lw_cache_key {
    struct lw_buffer text; /* the caller calls lw_buffer_init() and lw_buffer_fini() */
    uint64_t hash;         /* of the text */
    char path[LW_PATH_BYTES + 64];
};
/** Completes the key: sets its hash and its path. @kind is the first part of the entry's name. Returns false if there is no
 *  cache, or if memory is short. */
bool lw_cache_key_end(struct lw_cache_key *key, const char *kind);
/** An entry that was read. */
struct lw_cache_entry {
    char *data; /* owned by the caller: free() */
    struct lw_reader reader; /* reads what lw_cache_write() has stored */
};
/** Reads the entry of @key. Errors: LW_ENOENT if there is no entry. LW_EFORMAT if the entry must not be used: it was cut or
 *  changed, or has another key, or other users may write it, or its owner is neither the current user nor root. */
enum lw_status lw_cache_read(const struct lw_cache_key *key, struct lw_cache_entry *entry, struct lw_error *err) LW_MUST_CHECK;
/** Stores a result. Errors are ignored, because their only effect is that the result must be computed again. */
void lw_cache_write(const struct lw_cache_key *key, const struct lw_buffer *result);

/* ---- commands of the shell and of gdb's `monitor` ------------------------ */

/** Properties of a command, as bits. The front end that runs the command reads these bits. */
enum lw_command_does {
    LW_COMMAND_READONLY = 1,   /* the command only shows state, and changes neither the machine nor the focus */
    LW_COMMAND_CHANGES = 2, /* the command runs the machine or changes its state */
    LW_COMMAND_REPEATS = 4, /* an empty line after the command repeats it */
    LW_COMMAND_FOCUSES = 8, /* the command only moves the focus */
    LW_COMMAND_BARE = 16    /* the command takes no operands; lw_command_call() refuses them */
};
enum { LW_COMMAND_WHAT_SHIFT = 8 };
/** Returns the bits of lw_command.does that contain number @what. Commands with a common handler have different numbers, which
 *  the handler receives as lw_call.what. */
#define LW_COMMAND_AS(what) ((unsigned)(what) << LW_COMMAND_WHAT_SHIFT)

/** Arguments of a command's handler. */
struct lw_call {
    void *context; /* the context of the table that contains the command */
    unsigned what; /* argument of LW_COMMAND_AS() in the command's row */
    int argc;
    char **argv; /* argv[0] is the command's name */
    struct lw_sink *out;
};

/**
 * One command. debug/, timing/ and check/ have arrays of commands. cmd/ adds the arrays to one struct lw_command_set, whose
 * commands the shell and gdb's `monitor` run.
 *
 * operands the operands for help and completion, one word each: `[count]`, `<location>`, `<register>`, `<expression>`, `<file>`;
 *           `...` means that further words like the last one may follow
 * run       the handler; in case of an error it returns a status and writes a message to @err
 * does      bits of enum lw_command_does, and LW_COMMAND_AS()
 */
struct lw_command {
    const char *name;
    const char *abbreviation; /* shortest prefix of the name that is accepted, or another short name; NULL: any unique prefix
                               * is accepted */
    const char *operands;
    const char *summary; /* one line without a full stop at the end */
    const char *example; /* an example for help: a command line without errors, which a test runs */
    enum lw_status (*run)(const struct lw_call *call, struct lw_error *err);
    unsigned does;
};

/** An array of commands, with the context that their handlers receive. */
struct lw_command_table {
    const struct lw_command *rows;
    size_t count;
    void *context;
};
struct lw_command_set {
    struct lw_command_table tables[16];
    size_t count;
    const char *themes[16]; /* headings of the tables in the list of commands, or NULL if there are no headings */
};

/** Finds a command by its name, its abbreviation or a unique prefix. */
const struct lw_command *lw_command_find(const struct lw_command_set *set, const char *name,
                                         void **context, struct lw_error *err);
/** Splits @line into words, finds the command and runs it. Text in '...' or "..." is one word. Returns LW_OK for an empty
 *  line or a comment (#). Executes `help [name]` and `apropos word` itself. */
enum lw_status lw_command_run(const struct lw_command_set *set, const char *line,
                              struct lw_sink *out, struct lw_error *err);
/** Runs the handler of @row with a copy of @call in which `what` is set. Fails if the command takes no operands but @call has
 *  some. */
enum lw_status lw_command_call(const struct lw_command *row, const struct lw_call *call,
                               struct lw_error *err) LW_MUST_CHECK;
/** Joins the words from index @first on, with blanks between them, to @text. Returns false if the result does not fit in
 *  @size bytes. */
bool lw_args_join(int argc, char **argv, int first, char *text, size_t size);

/* ---- YAML --------------------------------------------------------------- */

enum lw_yaml_kind { LW_YAML_SCALAR, LW_YAML_SEQUENCE, LW_YAML_MAPPING };

/** Node of a document; the document owns all memory. */
struct lw_yaml {
    enum lw_yaml_kind kind;
    unsigned line;      /* 1-based */
    const char *key;    /* key of this node if the parent is a mapping, else NULL */
    unsigned key_line;
    const char *text;   /* text of a scalar */
    bool quoted;        /* the scalar is in quotes: it is a string even if it looks like a number */
    struct lw_yaml *first, *next; /* first child (of a sequence or mapping) and next sibling */
    size_t count;       /* number of children */
};

struct lw_yaml_document;
/** Parses @text, the content of the file @name. Error messages begin with "NAME:LINE: ". Anchors, aliases, tags, several
 *  documents and duplicate keys are errors, and the message names the feature. */
enum lw_status lw_yaml_parse(const char *name, const char *text, size_t size,
                             struct lw_yaml_document **out, struct lw_error *err) LW_MUST_CHECK;
void lw_yaml_destroy(struct lw_yaml_document *document);
const struct lw_yaml *lw_yaml_root(const struct lw_yaml_document *document);
const char *lw_yaml_name(const struct lw_yaml_document *document);
/** Returns the value of @key in @mapping, or NULL if @mapping does not contain the key or is no mapping. */
const struct lw_yaml *lw_yaml_get(const struct lw_yaml *mapping, const char *key);
/** Writes "FILE:LINE: " and the formatted message to @err, with the line of @node. Returns LW_EINPUT. */
enum lw_status lw_yaml_fail(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            struct lw_error *err, const char *fmt, ...) LW_PRINTF(4, 5);
/** Checks that all keys of @mapping are in the list @known, which is terminated by NULL. The error message for any other key
 *  proposes the most similar key of the list. */
enum lw_status lw_yaml_known(const struct lw_yaml_document *document,
                             const struct lw_yaml *mapping, const char *const *known,
                             struct lw_error *err) LW_MUST_CHECK;
/** The following functions convert a scalar to a type. The error messages of these functions contain the key, the text of the
 *  scalar and the permitted range. */
enum lw_status lw_yaml_u64(const struct lw_yaml_document *document, const struct lw_yaml *node,
                           uint64_t low, uint64_t high, uint64_t *out, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status lw_yaml_i64(const struct lw_yaml_document *document, const struct lw_yaml *node,
                           int64_t low, int64_t high, int64_t *out, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status lw_yaml_double(const struct lw_yaml_document *document,
                              const struct lw_yaml *node, double *out, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status lw_yaml_bool(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            bool *out, struct lw_error *err) LW_MUST_CHECK;
enum lw_status lw_yaml_string(const struct lw_yaml_document *document,
                              const struct lw_yaml *node, const char **out,
                              struct lw_error *err) LW_MUST_CHECK;

#endif
