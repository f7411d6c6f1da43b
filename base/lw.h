/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of base/: status and error, sinks for text, arenas, growing arrays,
 * bit helpers, hashing, command rows and the YAML reader. Everything else in
 * the tree may include this header; it includes nothing of ours.
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

/** What a function that can fail returns. A guest fault is never one of these. */
enum lw_status {
    LW_OK = 0,
    LW_EUSAGE,   /* a wrong command line or command */
    LW_EINPUT,   /* an input file or value that the user can correct */
    LW_EFORMAT,  /* bytes that are not what they claim to be */
    LW_ERANGE,   /* an argument outside its range */
    LW_ENOENT,   /* a file, symbol or object that is not there */
    LW_ENOMEM,   /* host memory, or guest memory that the host requests */
    LW_EIO,      /* the operating system refused */
    LW_EUNSUPP,  /* a construct we refuse by name */
    LW_ESTATE,   /* not possible now (nothing loaded, already running) */
    LW_EAGAIN    /* wait: other lanes have to arrive first (MACHINE 1, Step) */
};

enum { LW_ERROR_BYTES = 512 };

/** The message of a failure; caller's memory; text is always terminated. */
struct lw_error {
    enum lw_status status;
    char text[LW_ERROR_BYTES];
};

/**
 * Set @err (may be NULL) to @status and a printf-formatted message.
 * Returns @status, so that `return lw_fail(...)` reads well.
 */
enum lw_status lw_fail(struct lw_error *err, enum lw_status status, const char *fmt, ...)
    LW_PRINTF(3, 4);
/** As lw_fail. The macro is the spelling to use. */
#define LW_FAIL(err, status, ...) lw_fail((err), (status), __VA_ARGS__)
/** Put "prefix: " before the message in @err; returns err's status. */
enum lw_status lw_error_prefix(struct lw_error *err, const char *fmt, ...) LW_PRINTF(2, 3);

/* ---- sinks: where text goes --------------------------------------------- */

/** Receives text. @write gets @size bytes, not terminated. */
struct lw_sink {
    void (*write)(struct lw_sink *sink, const char *text, size_t size);
};

void lw_put(struct lw_sink *sink, const char *text);
/** Length in bytes, 1 to 4, of the UTF-8 character at @text (RFC 3629: no surrogates, the shortest
 *  form); 0: not valid. NUL has length 1. */
unsigned lw_utf8(const char *text);
/** A string of JSON (RFC 8259) with its quotes; bytes that are no UTF-8 become U+FFFD. */
void lw_put_json(struct lw_sink *sink, const char *text);
/** The same of a formatted text. */
void lw_printf_json(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);
/** The same of a formatted text. */
void lw_printf_json(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);
void lw_printf(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);

/** A sink that keeps what it gets; `text` is always terminated. */
struct lw_buffer {
    struct lw_sink sink;
    char *text; /* owned; free with lw_buffer_fini */
    size_t size, capacity;
    bool is_cut; /* there was no memory for some of it */
};
void lw_buffer_init(struct lw_buffer *buffer);
void lw_buffer_fini(struct lw_buffer *buffer);
void lw_buffer_clear(struct lw_buffer *buffer);
/** What it holds; "" before the first text, and where there was no memory for that. */
static inline const char *lw_buffer_text(const struct lw_buffer *buffer)
{
    return buffer->text != NULL ? buffer->text : "";
}

/** A sink over a stdio stream (borrowed). */
struct lw_file_sink {
    struct lw_sink sink;
    void *stream; /* FILE * */
};
void lw_file_sink_init(struct lw_file_sink *sink, void *stream);

/* ---- arena: memory with one lifetime ------------------------------------ */

struct lw_arena_chunk;
struct lw_arena {
    struct lw_arena_chunk *first;
};
void lw_arena_init(struct lw_arena *arena);
void lw_arena_fini(struct lw_arena *arena);
/** Zeroed, 16-byte aligned; NULL when the host has no memory left. */
void *lw_arena_alloc(struct lw_arena *arena, size_t bytes);
char *lw_arena_strndup(struct lw_arena *arena, const char *text, size_t size);
char *lw_arena_strdup(struct lw_arena *arena, const char *text);
char *lw_arena_printf(struct lw_arena *arena, const char *fmt, ...) LW_PRINTF(2, 3);

/**
 * Make room for @need elements of @size bytes in a heap array, growing by half.
 * @array   address of the pointer, @capacity its element count
 * Returns false, with everything as before, when memory is short.
 */
bool lw_grow(void *array, size_t *capacity, size_t need, size_t size) LW_MUST_CHECK;
/** Reserves @bytes (not 0) of zeroed memory in address space of its own. Pages that are not accessed
 *  cost no memory, and no time to clear them, as calloc would need. NULL: no memory. */
void *lw_reserve(uint64_t bytes) LW_MUST_CHECK;
/** @at NULL: nothing happens. */
void lw_release(void *at, uint64_t bytes);

/* ---- bits --------------------------------------------------------------- */

static inline unsigned lw_popcount(uint64_t x)
{
#if defined __POPCNT__ || defined __aarch64__
    return (unsigned)__builtin_popcountll(x);
#else /* the builtin would be a call into a table */
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
#endif
}
/** Index of the lowest set bit; @x must not be 0. */
static inline unsigned lw_lowest(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}
/** The lowest @n bits set, n in [0, 64]. */
static inline uint64_t lw_mask(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}
/** for (LW_EACH_BIT(l, mask)): l runs over the set bits, lowest first. */
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

/** How many of @rows have a key below @key: each begins with a uint64_t, by which they are sorted. */
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

/** A hash table of rows that begin with a uint64_t key, 0 where a row is free. */
struct lw_table {
    void *rows; /* owned */
    size_t count, capacity; /* a power of two, or 0 */
};
/** The row of @key, or the free row for it. NULL: the table has no rows yet. */
void *lw_table_find(const struct lw_table *table, size_t row_bytes, uint64_t key);
/** The row of @key; *@is_new: it was not there, and is all zero but for its key. NULL: no memory. */
void *lw_table_add(struct lw_table *table, size_t row_bytes, uint64_t key, bool *is_new);

/* ---- hashing ------------------------------------------------------------ */

/** A 64-bit running hash with a fixed definition (FNV-1a over 8-byte words,
 *  finished by a mixer): equal on every host. Not cryptographic. */
struct lw_hash {
    uint64_t state, length;
};
void lw_hash_init(struct lw_hash *hash);
void lw_hash_bytes(struct lw_hash *hash, const void *data, size_t size);
void lw_hash_u64(struct lw_hash *hash, uint64_t value);
uint64_t lw_hash_value(const struct lw_hash *hash);

/* ---- text helpers ------------------------------------------------------- */

/** Edit distance of two names, for "did you mean". */
unsigned lw_edit_distance(const char *a, const char *b);
/** Nearest of @count names to @name (@stride bytes between the `const char *`s),
 *  or NULL when none is near enough to be meant. */
const char *lw_suggest(const char *name, const char *const *names, size_t count, size_t stride);
/** A C-style integer (decimal, 0x, 0b, optional sign); the whole text must match. */
bool lw_parse_u64(const char *text, uint64_t *out);
bool lw_parse_i64(const char *text, int64_t *out);
/** Read a whole file into a heap block (terminated; caller frees). */
enum lw_status lw_file_read(const char *path, char **data, size_t *size, struct lw_error *err)
    LW_MUST_CHECK;
/** Write a whole file by way of a temporary one: all or nothing. */
enum lw_status lw_file_write(const char *path, const void *data, size_t size,
                             struct lw_error *err) LW_MUST_CHECK;
/** Could lw_file_write write @path now? For callers that write at the end of long work. Leaves
 *  no file. */
enum lw_status lw_file_try_write(const char *path, struct lw_error *err) LW_MUST_CHECK;

/* ---- command rows: shell commands, gdb's monitor, `info os` tables ------- */

/** What a command does to the machine, for the front end that runs it. */
enum lw_command_does {
    LW_COMMAND_READONLY = 1,   /* it only shows: nothing runs, moves or changes */
    LW_COMMAND_CHANGES = 2, /* it runs the machine, or changes what the machine holds */
    LW_COMMAND_REPEATS = 4, /* an empty line after it does it again */
    LW_COMMAND_FOCUSES = 8, /* it moves the focus, and nothing else */
    LW_COMMAND_BARE = 16    /* it takes no operands: lw_command_call() refuses them */
};
enum { LW_COMMAND_WHAT_SHIFT = 8 };
/** In @does of a row whose handler serves several: which of them it is. */
#define LW_COMMAND_AS(what) ((unsigned)(what) << LW_COMMAND_WHAT_SHIFT)

/** One run of a command: what its handler gets. */
struct lw_call {
    void *context; /* of the row's table */
    unsigned what; /* LW_COMMAND_AS() of the row */
    int argc;
    char **argv; /* argv[0] is the command's name */
    struct lw_sink *out;
};

/**
 * One command. `debug`, `timing` and `check` export arrays of these; cmd/ joins
 * them; the shell and gdb's `monitor` run the joined table.
 *
 * @operands  a schema, one word an operand, for help and completion: `[count]`,
 *            `<location>`, `<register>`, `<expression>`, `<file>`, `...` for rest
 * @run       the handler; a failure is a status and one message in @err
 * @does      bits of enum lw_command_does, and LW_COMMAND_AS()
 */
struct lw_command {
    const char *name;
    const char *abbreviation; /* shortest accepted prefix, or NULL: any unique one */
    const char *operands;
    const char *summary; /* one line, no full stop */
    const char *example; /* a line that runs, shown by help */
    enum lw_status (*run)(const struct lw_call *call, struct lw_error *err);
    unsigned does;
};

/** Tables of commands, each with the context its handlers get. */
struct lw_command_table {
    const struct lw_command *rows;
    size_t count;
    void *context;
};
struct lw_command_set {
    struct lw_command_table tables[16];
    size_t count;
    const char *themes[16]; /* of the tables: headings of the list of commands; NULL: none */
};

/** Find by name, accepted abbreviation or unique prefix. */
const struct lw_command *lw_command_find(const struct lw_command_set *set, const char *name,
                                         void **context, struct lw_error *err);
/** Split @line into words ('...' and "..." group), find the command, run it. An empty line or
 *  a comment (#) is LW_OK. `help [name]` and `apropos word` are answered here. */
enum lw_status lw_command_run(const struct lw_command_set *set, const char *line,
                              struct lw_sink *out, struct lw_error *err);
/** Run the row of a command that was found; @call->what is filled in here. */
enum lw_status lw_command_call(const struct lw_command *row, const struct lw_call *call,
                               struct lw_error *err) LW_MUST_CHECK;
/** Joins a handler's words from @first on into one text; false: it is longer than @size. */
bool lw_args_join(int argc, char **argv, int first, char *text, size_t size);

/* ---- YAML --------------------------------------------------------------- */

enum lw_yaml_kind { LW_YAML_SCALAR, LW_YAML_SEQUENCE, LW_YAML_MAPPING };

/** A node of a document; all memory belongs to the document. */
struct lw_yaml {
    enum lw_yaml_kind kind;
    unsigned line;      /* 1-based */
    const char *key;    /* in a mapping: this entry's key, else NULL */
    unsigned key_line;
    const char *text;   /* scalar */
    bool quoted;        /* scalar was quoted: a string even if it looks like a number */
    struct lw_yaml *first, *next; /* children of a sequence or mapping; siblings */
    size_t count;
};

struct lw_yaml_document;
/** Parse text (@name is used in messages: "name:line: ..."). Anchors, aliases and
 *  several documents are refused by name. Duplicate keys are refused. */
enum lw_status lw_yaml_parse(const char *name, const char *text, size_t size,
                             struct lw_yaml_document **out, struct lw_error *err) LW_MUST_CHECK;
void lw_yaml_destroy(struct lw_yaml_document *document);
const struct lw_yaml *lw_yaml_root(const struct lw_yaml_document *document);
const char *lw_yaml_name(const struct lw_yaml_document *document);
/** Child of a mapping by key, or NULL. */
const struct lw_yaml *lw_yaml_get(const struct lw_yaml *mapping, const char *key);
/** "file:line: message" into @err. */
enum lw_status lw_yaml_fail(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            struct lw_error *err, const char *fmt, ...) LW_PRINTF(4, 5);
/** Every key of @mapping must be one of the NULL-terminated @known; else an error
 *  that names the nearest. */
enum lw_status lw_yaml_known(const struct lw_yaml_document *document,
                             const struct lw_yaml *mapping, const char *const *known,
                             struct lw_error *err) LW_MUST_CHECK;
/** Typed scalars: the error names the key, what was found and the range. */
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
