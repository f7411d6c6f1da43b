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

/** Result of a function that can fail. A fault of the guest program is not reported by this status. */
enum lw_status {
    LW_OK = 0,
    LW_EUSAGE,   /* a wrong command line or command */
    LW_EINPUT,   /* an input file or value that the user can correct */
    LW_EFORMAT,  /* input bytes do not have the format that they must have */
    LW_ERANGE,   /* an argument outside its range */
    LW_ENOENT,   /* a file, symbol or object does not exist */
    LW_ENOMEM,   /* host memory, or guest memory that the host requests */
    LW_EIO,      /* an operation of the operating system failed */
    LW_EUNSUPP,  /* a construct that Lanewise names and refuses */
    LW_ESTATE,   /* not possible in the current state (nothing loaded, already running) */
    LW_EAGAIN    /* the lanes wait until other lanes arrive (MACHINE 1, Step) */
};

enum { LW_ERROR_BYTES = 512 };

/** Message of a failure. The caller owns the memory; the text is always terminated. */
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
/** lw_fail(); callers write this macro. */
#define LW_FAIL(err, status, ...) lw_fail((err), (status), __VA_ARGS__)
/** Put "prefix: " before the message in @err; returns err's status. */
enum lw_status lw_error_prefix(struct lw_error *err, const char *fmt, ...) LW_PRINTF(2, 3);

/* ---- sinks: where text goes --------------------------------------------- */

/** Destination of text. @write receives @size bytes, which are not terminated. */
struct lw_sink {
    void (*write)(struct lw_sink *sink, const char *text, size_t size);
};

void lw_put(struct lw_sink *sink, const char *text);
/** Returns the length in bytes, 1 to 4, of the UTF-8 character at @text, or 0 if it is invalid (RFC 3629), as
 *  surrogates and overlong forms are. NUL has length 1. */
unsigned lw_utf8(const char *text);
/** Writes @text as a JSON string (RFC 8259) with its quotes. Invalid UTF-8 bytes become U+FFFD. */
void lw_put_json(struct lw_sink *sink, const char *text);
/** Writes the formatted text as lw_put_json() does. */
void lw_printf_json(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);
void lw_printf(struct lw_sink *sink, const char *fmt, ...) LW_PRINTF(2, 3);

/** Sink that stores the text in memory; `text` is always terminated. */
struct lw_buffer {
    struct lw_sink sink;
    char *text; /* owned; free with lw_buffer_fini */
    size_t size, capacity;
    bool is_cut; /* some text was dropped because memory was short */
};
void lw_buffer_init(struct lw_buffer *buffer);
void lw_buffer_fini(struct lw_buffer *buffer);
void lw_buffer_clear(struct lw_buffer *buffer);
/** The stored text, or "" if nothing is stored yet. */
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
/** Returns zeroed memory, aligned to 16 bytes, or NULL if the host has no memory left. */
void *lw_arena_alloc(struct lw_arena *arena, size_t bytes);
char *lw_arena_strndup(struct lw_arena *arena, const char *text, size_t size);
char *lw_arena_strdup(struct lw_arena *arena, const char *text);
char *lw_arena_printf(struct lw_arena *arena, const char *fmt, ...) LW_PRINTF(2, 3);

/**
 * Grows a heap array to @need elements of @size bytes or more, by at least half.
 * @array   address of the pointer, @capacity its element count
 * Returns false if memory is short; nothing has changed then.
 */
bool lw_grow(void *array, size_t *capacity, size_t need, size_t size) LW_MUST_CHECK;
/** Reserves @bytes (not 0) of zeroed memory in a mapping of its own. Pages that are never
 *  accessed take neither memory nor time to clear, unlike with calloc(). Returns NULL if there is no memory. */
void *lw_reserve(uint64_t bytes) LW_MUST_CHECK;
/** Reserves memory as lw_reserve() does, at the address @at if nothing is mapped there, otherwise at any address. */
void *lw_reserve_at(void *at, uint64_t bytes) LW_MUST_CHECK;
/** Unmaps the memory at @at; does nothing if @at is NULL. */
void lw_release(void *at, uint64_t bytes);

/* ---- bits --------------------------------------------------------------- */

static inline unsigned lw_popcount(uint64_t x)
{
#if defined __POPCNT__ || defined __aarch64__
    return (unsigned)__builtin_popcountll(x);
#else /* without a popcount instruction, the builtin calls a function that reads a table */
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

/** Returns the number of @rows whose key is below @key. Each row begins with its uint64_t key; the rows are sorted by
 *  it. */
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

/** Hash table. Each row begins with its uint64_t key; the key of a free row is 0. */
struct lw_table {
    void *rows; /* owned */
    size_t count, capacity; /* a power of two, or 0 */
};
/** Returns the row of @key, or the free row where @key would be inserted; NULL if the table has no rows yet. */
void *lw_table_find(const struct lw_table *table, size_t row_bytes, uint64_t key);
/** Returns the row of @key and adds it if it is missing: *@is_new is true then, and the row is zero except for its key.
 *  Returns NULL if there is no memory. */
void *lw_table_add(struct lw_table *table, size_t row_bytes, uint64_t key, bool *is_new);

/* ---- hashing ------------------------------------------------------------ */

/** 64-bit running hash (FNV-1a over 8-byte words, then a mixer). The hash is not cryptographic, and is the same on
 *  every host. */
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
/** Returns the nearest of @count names to @name, or NULL if none is near enough for "did you mean". The `const char *`s
 *  are @stride bytes apart. */
const char *lw_suggest(const char *name, const char *const *names, size_t count, size_t stride);
/** A C-style integer (decimal, 0x, 0b, optional sign); the whole text must match. */
bool lw_parse_u64(const char *text, uint64_t *out);
bool lw_parse_i64(const char *text, int64_t *out);
/** Reads a whole file into a terminated heap block, which the caller frees. */
enum lw_status lw_file_read(const char *path, char **data, size_t *size, struct lw_error *err)
    LW_MUST_CHECK;
/** Writes a whole file through a temporary file, so that after a failure the old content remains. */
enum lw_status lw_file_write(const char *path, const void *data, size_t size,
                             struct lw_error *err) LW_MUST_CHECK;
/** Tests whether lw_file_write() could write @path, for callers that write it after long work. Creates no file. */
enum lw_status lw_file_try_write(const char *path, struct lw_error *err) LW_MUST_CHECK;

/* ---- command rows: shell commands, gdb's monitor, `info os` tables ------- */

/** Effect of a command on the machine; the front end that runs the command uses it. */
enum lw_command_does {
    LW_COMMAND_READONLY = 1,   /* the command only shows state: nothing runs, moves or changes */
    LW_COMMAND_CHANGES = 2, /* the command runs the machine or changes its state */
    LW_COMMAND_REPEATS = 4, /* an empty line after the command repeats it */
    LW_COMMAND_FOCUSES = 8, /* the command only moves the focus */
    LW_COMMAND_BARE = 16    /* the command takes no operands; lw_command_call() refuses them */
};
enum { LW_COMMAND_WHAT_SHIFT = 8 };
/** Bits of @does that distinguish the rows of one handler. */
#define LW_COMMAND_AS(what) ((unsigned)(what) << LW_COMMAND_WHAT_SHIFT)

/** Arguments of a command's handler. */
struct lw_call {
    void *context; /* the context of the row's table */
    unsigned what; /* LW_COMMAND_AS() of the row */
    int argc;
    char **argv; /* argv[0] is the command's name */
    struct lw_sink *out;
};

/**
 * One command. `debug`, `timing` and `check` export arrays of commands; cmd/ joins
 * the arrays; the shell and gdb's `monitor` run commands of the joined set.
 *
 * @operands  the operands for help and completion, one word each: `[count]`, `<location>`,
 *            `<register>`, `<expression>`, `<file>`; `...` stands for all further words
 * @run       the handler; on failure it returns a status and writes one message to @err
 * @does      bits of enum lw_command_does, and LW_COMMAND_AS()
 */
struct lw_command {
    const char *name;
    const char *abbreviation; /* shortest accepted prefix; NULL: any unique prefix is accepted */
    const char *operands;
    const char *summary; /* one line, no full stop */
    const char *example; /* an example line for help; it runs */
    enum lw_status (*run)(const struct lw_call *call, struct lw_error *err);
    unsigned does;
};

/** An array of commands with the context that their handlers receive. */
struct lw_command_table {
    const struct lw_command *rows;
    size_t count;
    void *context;
};
struct lw_command_set {
    struct lw_command_table tables[16];
    size_t count;
    const char *themes[16]; /* headings of the tables in the list of commands; NULL: no headings */
};

/** Finds a command by its name, its abbreviation or a unique prefix. */
const struct lw_command *lw_command_find(const struct lw_command_set *set, const char *name,
                                         void **context, struct lw_error *err);
/** Splits @line into words ('...' and "..." group words), finds the command and runs it. Returns LW_OK for an empty
 *  line or a comment (#). Handles `help [name]` and `apropos word` itself. */
enum lw_status lw_command_run(const struct lw_command_set *set, const char *line,
                              struct lw_sink *out, struct lw_error *err);
/** Runs the command of @row after setting @call->what. */
enum lw_status lw_command_call(const struct lw_command *row, const struct lw_call *call,
                               struct lw_error *err) LW_MUST_CHECK;
/** Joins the words from index @first on into @text; returns false if the result does not fit in @size bytes. */
bool lw_args_join(int argc, char **argv, int first, char *text, size_t size);

/* ---- YAML --------------------------------------------------------------- */

enum lw_yaml_kind { LW_YAML_SCALAR, LW_YAML_SEQUENCE, LW_YAML_MAPPING };

/** Node of a document; the document owns all memory. */
struct lw_yaml {
    enum lw_yaml_kind kind;
    unsigned line;      /* 1-based */
    const char *key;    /* key of this entry if the parent is a mapping, else NULL */
    unsigned key_line;
    const char *text;   /* text of a scalar */
    bool quoted;        /* scalar was quoted: a string even if it looks like a number */
    struct lw_yaml *first, *next; /* first child (of a sequence or mapping) and next sibling */
    size_t count;
};

struct lw_yaml_document;
/** Parses @text; messages begin with "@name:line: ". Refuses anchors, aliases, several documents and duplicate keys by
 *  name. */
enum lw_status lw_yaml_parse(const char *name, const char *text, size_t size,
                             struct lw_yaml_document **out, struct lw_error *err) LW_MUST_CHECK;
void lw_yaml_destroy(struct lw_yaml_document *document);
const struct lw_yaml *lw_yaml_root(const struct lw_yaml_document *document);
const char *lw_yaml_name(const struct lw_yaml_document *document);
/** Returns the value of @key in @mapping, or NULL. */
const struct lw_yaml *lw_yaml_get(const struct lw_yaml *mapping, const char *key);
/** Writes "file:line: message" to @err. */
enum lw_status lw_yaml_fail(const struct lw_yaml_document *document, const struct lw_yaml *node,
                            struct lw_error *err, const char *fmt, ...) LW_PRINTF(4, 5);
/** Returns an error that suggests the nearest known key if @mapping has a key that is not in the NULL-terminated list
 *  @known. */
enum lw_status lw_yaml_known(const struct lw_yaml_document *document,
                             const struct lw_yaml *mapping, const char *const *known,
                             struct lw_error *err) LW_MUST_CHECK;
/** Read a scalar of a type. The error names the key, the text found and the permitted range. */
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
