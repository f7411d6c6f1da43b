/* SPDX-License-Identifier: Apache-2.0 */
/* Finds source locations for messages. Compiled PTX names its source in .loc and .file lines. The functions here search the
 * text for these lines when a message is written. The functions do not use the parser, because the text may be incorrect. */
#include <stdio.h>

#include "ptx/ptx_priv.h"

enum { MOST_CALLS = 16, LOCATION_BYTES = 300 };

struct srcpos {
    unsigned long file, line, column; /* file is 0 if the position is unknown */
};
struct loc {
    struct srcpos at, call; /* at: position of the code; call: if the function that contains `at` was inlined, the position
                             * of its call */
};
struct scan {
    const char *p, *end;
    unsigned depth;
    bool comment; /* the line is inside a comment of several lines */
};

static void skip_blanks(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t'))
        ++*p;
}

static bool word(const char **p, const char *end, const char *text)
{
    size_t n = strlen(text);

    skip_blanks(p, end);
    if ((size_t)(end - *p) <= n || memcmp(*p, text, n) != 0)
        return false;
    *p += n;
    return true;
}

static unsigned long number(const char **p, const char *end)
{
    unsigned long n = 0;

    skip_blanks(p, end);
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        n = n < 100000000 ? n * 10 + (unsigned long)(**p - '0') : n;
    return n;
}

static struct srcpos srcpos(const char **p, const char *end)
{
    struct srcpos s;

    s.file = number(p, end);
    s.line = number(p, end);
    s.column = number(p, end);
    return s;
}

/* Parses .loc FILE LINE COLUMN [, function_name NAME, inlined_at FILE LINE COLUMN]. Returns false, with @out unchanged, if
 * the line or file is 0, because such code keeps the preceding location. */
static bool read_loc(const char *p, const char *end, struct loc *out)
{
    struct loc loc = { 0 };

    if (!word(&p, end, ".loc") || (*p != ' ' && *p != '\t'))
        return false;
    loc.at = srcpos(&p, end);
    for (; p < end && *p != '\n' && (*p != '/' || p + 1 == end || p[1] != '/'); p++)
        if (word(&p, end, "inlined_at"))
            loc.call = srcpos(&p, end);
    if (loc.at.line == 0 || loc.at.file == 0)
        return false;
    *out = loc;
    return true;
}

/* Skips a line and counts its braces. Returns true if the line closes the outermost braces, as the end of a body does. */
static bool pass_line(struct scan *s, const char *end)
{
    bool ended = false, text = false;

    for (; s->p < end; s->p++) {
        char next = s->p + 1 < end ? s->p[1] : '\0';

        if (s->comment) {
            s->comment = *s->p != '*' || next != '/';
            s->p += !s->comment;
        } else if (*s->p == '"') {
            text = !text;
        } else if (!text && *s->p == '/' && (next == '/' || next == '*')) {
            s->comment = next == '*';
            if (next == '/')
                break;
            s->p++;
        } else if (!text && *s->p == '{') {
            s->depth++;
        } else if (!text && *s->p == '}' && s->depth != 0) {
            ended = --s->depth == 0;
        }
    }
    s->p = end < s->end ? end + 1 : end;
    return ended;
}

/* Finds the source location of line @line of the PTX text. For a line in the head of a function, finds the first location
 * in the function's body. */
static bool find_loc(const char *text, size_t size, unsigned line, struct loc *out)
{
    struct scan s = { .p = text, .end = text + size };
    bool found = false, head = false;

    for (unsigned at = 1; s.p < s.end && (at <= line || head); at++) {
        const char *next = memchr(s.p, '\n', (size_t)(s.end - s.p));
        const char *end = next != NULL ? next : s.end, *start = s.p;
        bool loc = read_loc(start, end, out), outside = s.depth == 0;

        found = found || loc;
        if (loc && head)
            break;
        if (at == line)
            head = outside;
        if (pass_line(&s, end)) {
            if (at >= line)
                return found && !head;
            found = false;
        }
        if (at >= line && s.depth == 0 && memchr(start, ';', (size_t)(end - start)) != NULL)
            return false; /* the line is a declaration, which is not in the head of a function */
    }
    return found;
}

/* Writes the path of file number @file, cut to @room bytes, to @path; writes "" if there is no such file. */
static void find_file(const char *text, size_t size, unsigned long file, char *path, size_t room)
{
    const char *end = text + size;

    *path = '\0';
    for (const char *line = text; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line)), *p = line;
        const char *stop = next != NULL ? next : end;

        if (word(&p, stop, ".file") && number(&p, stop) == file) {
            while (p < stop && (p = memchr(p, '"', (size_t)(stop - p))) != NULL) {
                const char *close = p + 1;

                while (close < stop && *close != '"')
                    close += *close == '\\' && stop - close > 1 ? 2 : 1;
                if (close >= stop)
                    break;
                /* the last string is the file's name, after its folder */
                (void)ptx_string_text(p + 1, (size_t)(close - p - 1), path, room);
                p = close + 1;
            }
            return;
        }
        line = stop < end ? stop + 1 : end;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Writes "file:line". Sets *@own to true if the file is the module's source itself, and to false if it is a header. */
static void put_srcpos(const struct ptx_source *source, const struct srcpos *at, char *room, size_t size,
                     bool *own)
{
    char path[1024];

    find_file(source->text, source->size, at->file, path, sizeof path);
    *own = path[0] == '\0' || strcmp(base_name(path), base_name(source->name)) == 0;
    if (*own)
        snprintf(room, size, "%s:%lu", source->name, at->line);
    else
        snprintf(room, size, "%.200s:%lu", path, at->line);
}

/* Finds the call by which the code at position @at was inlined. The last .loc up to line @line of the text that has position
 * @at gives the call. */
static bool call_of(const struct ptx_source *source, unsigned line, const struct srcpos *at,
                    struct srcpos *call)
{
    const char *p = source->text, *end = p + source->size;
    bool found = false;

    for (unsigned n = 1; n <= line && p < end; n++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        struct loc loc;

        if (read_loc(p, next != NULL ? next : end, &loc) && loc.call.file != 0 &&
            loc.at.file == at->file && loc.at.line == at->line && loc.at.column == at->column) {
            *call = loc.call;
            found = true;
        }
        p = next != NULL ? next + 1 : end;
    }
    return found;
}

static bool is_compiled(const struct ptx_job *job, size_t source)
{
    return job->sources[source].text != NULL &&
           (job->sources[source].from_source ||
            (job->options != NULL && job->options->from_source));
}

const char *ptx_job_location(struct ptx_job *job, size_t source, unsigned line)
{
    char room[LOCATION_BYTES], *copy;
    struct loc loc;
    bool own;

    if (is_compiled(job, source) &&
        find_loc(job->sources[source].text, job->sources[source].size, line, &loc))
        put_srcpos(&job->sources[source], &loc.at, room, sizeof room, &own);
    else
        snprintf(room, sizeof room, is_compiled(job, source) ? "%s (line %u of its PTX)" : "%s:%u",
                 job->sources[source].name, line);
    copy = PTX_ARRAY(job, char, strlen(room) + 1);
    strcpy(copy, room);
    return copy;
}

/* Writes a message with its source locations: "k.cl:7: message (line 92 of its PTX)". */
static void fail_in_source(struct ptx_job *job, const struct ptx_source *source, unsigned line,
                           enum lw_status status, const char *text)
{
    char location[LOCATION_BYTES], caller[LOCATION_BYTES];
    struct loc loc;
    bool own;

    if (!find_loc(source->text, source->size, line, &loc)) {
        job->status = LW_FAIL(job->err, status, "%s: %s (line %u of its PTX)", source->name, text,
                              line);
        return;
    }
    put_srcpos(source, &loc.at, location, sizeof location, &own);
    if (own) {
        job->status = LW_FAIL(job->err, status, "%s: %s (line %u of its PTX)", location, text, line);
        return;
    }
    if (loc.call.file == 0) {
        job->status = LW_FAIL(job->err, status, "%s: %s (line %u of the PTX of %s)", location, text,
                              line, source->name);
        return;
    }
    for (unsigned i = 0; i < MOST_CALLS; i++) { /* follows inlined calls outwards to the source */
        put_srcpos(source, &loc.call, caller, sizeof caller, &own);
        if (own || !call_of(source, line, &loc.call, &loc.call))
            break;
    }
    job->status = LW_FAIL(job->err, status, "%s: %s (inlined at %s; line %u of its PTX)", location, text,
                          caller, line);
}

void ptx_refuse(struct ptx_job *job, const char *message)
{
    job->status = LW_FAIL(job->err, LW_EUNSUPP, "%s", message);
    longjmp(*job->stop, 1);
}

void ptx_fail(struct ptx_job *job, unsigned line, enum lw_status status, const char *fmt, ...)
{
    struct ptx_source source = { .name = job->name, .text = job->text, .size = job->text_size };
    char text[LW_ERROR_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (line != 0 && job->from_source && job->text != NULL)
        fail_in_source(job, &source, line, status, text);
    else
        job->status = line != 0 ? LW_FAIL(job->err, status, "%s:%u: %s", job->name, line, text)
                                : LW_FAIL(job->err, status, "%s: %s", job->name, text);
    longjmp(*job->stop, 1);
}
