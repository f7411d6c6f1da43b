/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options in the tables of cmd_main.c with getopt_long; messages suggest similar names. */
#include "cmd/cmd_priv.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_OPTIONS = 96, FIRST_LONG = 1000 };

bool cmd_colour(int fd)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

    return isatty(fd) && (no == NULL || *no == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

int cmd_error(const struct lw_error *err)
{
    const char *on = cmd_colour(STDERR_FILENO) ? "\033[1;31m" : "";
    struct lw_buffer text;

    fflush(stdout);
    lw_buffer_init(&text);
    lnc_names_put(err->text, &text.sink);
    fprintf(stderr, "%slanewise:%s %s\n", on, *on ? "\033[0m" : "", text.text != NULL ? text.text : err->text);
    lw_buffer_fini(&text);
    return CMD_USAGE;
}

int cmd_open_error(struct lw_error *err, const char *clang)
{
    size_t size = clang != NULL ? strlen(clang) : 0;

    if (size != 0 && strncmp(err->text, clang, size) == 0 && err->text[size] == ':')
        lw_error_prefix(err, "--compiler");
    return cmd_error(err);
}

int cmd_wrong_usage(const struct cmd *cmd, const char *fmt, ...)
{
    struct lw_error err = {.status = LW_EUSAGE};
    va_list args;

    va_start(args, fmt);
    vsnprintf(err.text, sizeof err.text, fmt, args);
    va_end(args);
    if (cmd != NULL)
        lw_error_prefix(&err, "%s", cmd->name);
    return cmd_error(&err);
}

void cmd_help(const struct cmd *cmd, struct lw_sink *out)
{
    lw_printf(out, "usage: lanewise %s%s%s%s\n\n%s.\n", cmd->name,
              cmd->option_count != 0 ? " [OPTION]..." : "", *cmd->operands ? " " : "",
              cmd->operands, cmd->summary);
    if (cmd->option_count != 0)
        lw_put(out, "\n");
    for (size_t i = 0; i < cmd->option_count; i++) {
        const struct cmd_option *o = &cmd->options[i];
        char left[64], letter[8] = "    ";
        bool optional = o->operand != NULL && o->operand[0] == '[';

        if (o->letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        if (optional)
            snprintf(left, sizeof left, "%s--%s[=%s", letter, o->name, o->operand + 1);
        else
            snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name,
                     o->operand != NULL ? " " : "", o->operand != NULL ? o->operand : "");
        lw_printf(out, "  %-28s %s\n", left, o->help);
    }
    if (cmd->option_count != 0)
        lw_printf(out, "  %-28s %s\n", "-h, --help", "print this list");
}

static bool has_option(const struct cmd *cmd, const char *name)
{
    for (size_t i = 0; i < cmd->option_count; i++)
        if (strcmp(cmd->options[i].name, name) == 0)
            return true;
    return false;
}

/** Returns true if @cmd is @other, and `run` has the option @name. */
static bool is_of_run(const struct cmd *cmd, const char *other, const char *name)
{
    for (size_t i = 0; i < cmd_count && strcmp(cmd->name, other) == 0; i++)
        if (strcmp(cmd_table[i].name, "run") == 0)
            return has_option(&cmd_table[i], name);
    return false;
}

/** Returns the reason why `lanewise app` lacks an option that `lanewise run` has. */
static const char *reason_of_app(const char *name)
{
    static const struct {
        const char *start, *reason;
    } rows[] = {{"resume", "a checkpoint does not have the state of a program: record the launches with --record FOLDER, and give "
                           "this option to \"lanewise run FOLDER/0001-KERNEL.yaml\""},
                {"checkpoint", "a checkpoint does not have the state of a program: record the launches with --record FOLDER, and give "
                               "this option to \"lanewise run FOLDER/0001-KERNEL.yaml\""},
                {"dump", "the program reads its buffers itself; --record FOLDER writes the buffers of each launch"},
                {"verbose", "record the launches with --record FOLDER, and give it to \"lanewise run FOLDER/0001-KERNEL.yaml\""},
                {"quiet", "there is no summary, and the program gets the warnings of the compiler"}};

    for (size_t i = 0; i < LW_COUNT_OF(rows); i++)
        if (strncmp(name, rows[i].start, strlen(rows[i].start)) == 0)
            return rows[i].reason;
    return "it describes a launch, and the program makes its launches itself";
}

/** Returns true if @word is an option of clang that users may give without -X. */
static bool of_compiler(const char *word)
{
    return strncmp(word, "-cl-", 4) == 0 || strncmp(word, "--cl-", 5) == 0 || strncmp(word, "-std=", 5) == 0;
}

/** Returns the option of Lanewise for a name that other programs use for the same thing, or NULL. */
static const char *other_name(const char *bare)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"local", "block"},       {"workgroup", "block"},        {"threads-per-block", "block"},
                 {"warp-size", "warp"},    {"width", "warp"},             {"jobs", "threads"},            {"cores", "threads"},
                 {"output", "dump"},       {"out", "dump"},               {"kernel", "entry"},            {"args", "arg"},
                 {"trace", "timing-trace"}, {"scheduler", "timing-set issue.policy"}, {"schedulers", "timing-set issue.policy"}};

    for (size_t i = 0; i < LW_COUNT_OF(names); i++)
        if (strcmp(bare, names[i].theirs) == 0)
            return names[i].ours;
    return NULL;
}

/** Renamed options; the former name remains valid for one version. */
static const struct {
    const char *former, *now;
} renamed[] = {{"window", "fairness-limit"}, {"hang-window", "hang-limit"}};

/** Warns about former names. @used: bit i is set if the former name in row i of the table was given. */
static void put_formers(unsigned used)
{
    for (size_t i = 0; i < LW_COUNT_OF(renamed); i++)
        if (used >> i & 1)
            fprintf(stderr, "lanewise: --%s was renamed to --%s: use the new name, because the next version removes the old "
                            "one\n",
                    renamed[i].former, renamed[i].now);
}

static int unknown(const struct cmd *cmd, const char *word)
{
    static const char *const of_letters[] = {"dump", "verbose", "quiet"}; /* options of `run` whose letters `app` lacks */
    const char *names[MAX_OPTIONS], *near = NULL;
    size_t count = 0;
    char bare[40];

    if (of_compiler(word))
        return cmd_wrong_usage(cmd, "unknown option \"%s\": give options of the compiler after -X, as in -X %s", word,
                               word + (word[1] == '-'));
    if (word[0] == '-' && word[1] == '-') {
        snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        if (is_of_run(cmd, "app", bare))
            return cmd_wrong_usage(cmd, "--%s is an option of \"lanewise run\" only: %s", bare, reason_of_app(bare));
        if (is_of_run(cmd, "debug", bare))
            return cmd_wrong_usage(cmd, "unknown option \"--%s\": only \"lanewise run\" has this option%s", bare,
                                   strncmp(bare, "timing", 6) == 0
                                       ? "; in the shell, the command timing prints the counters"
                                       : "");
        for (size_t i = 0; i < cmd->option_count; i++)
            names[count++] = cmd->options[i].name;
        near = other_name(bare);
        if (near != NULL)
            snprintf(bare, sizeof bare, "%.*s", (int)strcspn(near, " "), near);
        if (near == NULL || !has_option(cmd, bare))
            near = count != 0 ? lw_suggest(bare, names, count, sizeof *names) : NULL;
    }
    for (size_t i = 0; i < LW_COUNT_OF(of_letters); i++)
        if (word[0] == '-' && word[1] == of_letters[i][0] && word[2] == '\0' && is_of_run(cmd, "app", of_letters[i]))
            return cmd_wrong_usage(cmd, "%s is an option of \"lanewise run\" only: %s", word, reason_of_app(of_letters[i]));
    if (near != NULL)
        return cmd_wrong_usage(cmd, "unknown option \"%s\"; did you mean \"--%s\"?", word, near);
    return cmd_wrong_usage(cmd, "unknown option \"%s\"; \"lanewise help %s\" lists the options", word,
                           cmd->name);
}

/* Returns true if the word after --gdb is an address and not the launch file. A word that is not a YAML file and does not
 * exist as a file counts as an address, too, so that an error about the address is reported. */
static bool looks_like_address(const char *word)
{
    const char *colon = strrchr(word, ':'), *dot = strrchr(word, '.');
    uint64_t port;

    if (word[0] == '-')
        return false;
    if (lw_parse_u64(colon != NULL ? colon + 1 : word, &port))
        return true;
    return (dot == NULL || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0)) &&
           access(word, F_OK) != 0;
}

/* Returns true if the word after --timing is a GPU model and not the launch file. A built-in model is one. A word that is no YAML
 * file and does not exist as a file counts as one, too, so that the error suggests the nearest model. The file of a GPU model
 * must be given as --timing=FILE, because as a separate word it looks like a launch file. */
static bool looks_like_machine(const char *word)
{
    const char *dot = strrchr(word, '.');

    if (word[0] == '-')
        return false;
    if (tim_machine_text(word) != NULL)
        return true;
    return (dot == NULL || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0)) &&
           access(word, F_OK) != 0;
}

int cmd_wrong_operands(const struct cmd *cmd, int count, char **operand, const struct cmd_machine_options *options)
{
    if (count == 0)
        return cmd_wrong_usage(cmd, "expected a launch file or a kernel: give LAUNCH.yaml, or a .cl, .cu, .spv, .ptx, .s or "
                                    ".lwo file with --grid, --block and --arg");
    for (int i = 0; i < count && options->debuggable && has_option(cmd, "gdb"); i++)
        if (looks_like_address(operand[i]) && (strchr(operand[i], ':') != NULL || strchr(operand[i], '.') == NULL))
            return cmd_wrong_usage(cmd, "-g compiles for a debugger and takes no operand; to wait for gdb, use --gdb=%s",
                                   operand[i]);
    for (int i = 1; i < count && lnc_is_source(operand[0]); i++)
        if (strpbrk(operand[i], "[=:") != NULL || isdigit((unsigned char)operand[i][0]))
            return cmd_wrong_usage(cmd, "unexpected \"%s\" after the kernel: did you mean --arg %s?",
                                   operand[i], operand[i]);
    return cmd_wrong_usage(cmd, options->timing.machine != NULL
                                    ? "expected only one launch file (give the file of a GPU model as --timing=FILE)"
                                    : "expected only one launch file");
}

/** Takes option --cache, which sets the environment variable for this program and the programs that it starts. */
static enum lw_status take_cache(const char *mode, struct lw_error *err)
{
    if (strcmp(mode, "on") != 0 && strcmp(mode, "off") != 0)
        return LW_FAIL(err, LW_EUSAGE, "expected on or off, found \"%.40s\"", mode);
    return setenv("LANEWISE_CACHE", mode, 1) == 0 ? LW_OK : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the environment");
}

int cmd_parse(const struct cmd *cmd, int argc, char **argv, cmd_take_fn take, void *context,
              int *status)
{
    struct option longs[MAX_OPTIONS + 2] = {0};
    char shorts[2 * MAX_OPTIONS + 8] = ":h";
    size_t used = 2;
    unsigned formers = 0;
    bool silent = false;
    int got;

    assert(cmd->option_count <= MAX_OPTIONS);
    for (size_t i = 0; i < cmd->option_count; i++) {
        const struct cmd_option *o = &cmd->options[i];
        int has = o->operand == NULL ? no_argument
                  : o->operand[0] == '[' ? optional_argument
                                         : required_argument;

        longs[i] = (struct option){o->name, has, NULL, FIRST_LONG + (int)i};
        if (o->letter != 0) {
            shorts[used++] = o->letter;
            for (int n = 0; n < has; n++) /* getopt: one colon for an operand, two for an optional one */
                shorts[used++] = ':';
        }
    }
    longs[cmd->option_count] = (struct option){"help", no_argument, NULL, 'h'};
    *status = CMD_USAGE;
    opterr = 0;
    optind = 0; /* makes glibc's getopt start again, and move operands to the end */
    for (;;) {
        int before = optind == 0 ? 1 : optind;
        const struct cmd_option *o;
        struct lw_error err;
        size_t i;

        got = getopt_long(argc, argv, shorts, longs, NULL);
        if (got == -1)
            break;
        if (got == 'h') {
            struct lw_file_sink out;

            lw_file_sink_init(&out, stdout);
            cmd_help(cmd, &out.sink);
            *status = CMD_FINE;
            return -1;
        }
        if (got == '?' || got == ':') {
            const char *word = argv[optind - 1 >= before ? optind - 1 : before];
            char letter[3] = {'-', (char)optopt, 0};

            if (got == ':') {
                cmd_wrong_usage(cmd, "option \"%s\" needs an operand", word);
                return -1;
            }
            if (optopt >= FIRST_LONG) /* an option that takes no operand was given one, as in "--hash=1" */
                cmd_wrong_usage(cmd, "option \"--%s\" takes no operand",
                                cmd->options[optopt - FIRST_LONG].name);
            else if (strncmp(word, "-g", 2) == 0 && word[2] != '\0' && has_option(cmd, "gdb"))
                cmd_wrong_usage(cmd, "\"%s\": -g compiles for a debugger and takes no operand; to wait for gdb, use "
                                     "--gdb=%s", word, word + 2);
            else
                unknown(cmd, optopt == 0                                   ? word
                             : argv[optind] != NULL && of_compiler(argv[optind]) ? argv[optind] /* getopt has not read the word
                                                                                                 * to its end */
                                                                                : letter);
            return -1;
        }
        /* getopt has parsed a compiler option such as -std=c++17 as -s with an operand. */
        if (optarg != NULL && optarg == argv[optind - 1] + 2 && of_compiler(argv[optind - 1])) {
            unknown(cmd, argv[optind - 1]);
            return -1;
        }
        for (i = 0; i < cmd->option_count; i++)
            if (got == FIRST_LONG + (int)i || got == cmd->options[i].letter)
                break;
        o = &cmd->options[i];
        if (optarg == NULL && o->operand != NULL && optind < argc &&
            (strcmp(o->operand, "[MACHINE]") == 0 ? looks_like_machine : looks_like_address)(
                argv[optind]))
            optarg = argv[optind++];
        if ((strcmp(o->name, "cache") == 0 ? take_cache(optarg, &err) : take(context, (unsigned)i, optarg, &err)) != LW_OK) {
            lw_error_prefix(&err, "%s: --%s", cmd->name, o->name);
            cmd_error(&err);
            return -1;
        }
        silent = silent || strcmp(o->name, "quiet") == 0;
        for (size_t r = 0; r < LW_COUNT_OF(renamed); r++)
            formers |= (unsigned)(strcmp(o->name, renamed[r].former) == 0) << r;
    }
    if (!silent)
        put_formers(formers);
    for (int i = optind; i < argc; i++)
        argv[1 + i - optind] = argv[i];
    *status = CMD_FINE;
    return argc - optind;
}

bool cmd_flags_take(struct cmd_flags *flags, const char *name, const char *value,
                    enum lw_status *status, struct lw_error *err)
{
    const char *prefix = strcmp(name, "define") == 0    ? "-D"
                         : strcmp(name, "include") == 0 ? "-I"
                         : strcmp(name, "option") == 0  ? ""
                                                        : NULL;
    const char *flag;

    if (prefix == NULL)
        return false;
    *status = LW_OK;
    if (flags->count == LW_COUNT_OF(flags->flag)) {
        *status = LW_FAIL(err, LW_EUSAGE, "too many options for the compiler: at most %zu are allowed",
                          LW_COUNT_OF(flags->flag));
        return true;
    }
    flag = lw_arena_printf(&flags->arena, "%s%s", prefix, value);
    if (flag == NULL)
        *status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for an option");
    else
        flags->flag[flags->count++] = flag;
    return true;
}

int cmd_write(const char *path, const void *data, size_t size)
{
    struct lw_error err;

    if (path == NULL || strcmp(path, "-") == 0) {
        fwrite(data, 1, size, stdout);
        return CMD_FINE;
    }
    if (lw_file_write(path, data, size, &err) != LW_OK)
        return cmd_error(&err);
    return CMD_FINE;
}
