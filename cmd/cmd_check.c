/* SPDX-License-Identifier: Apache-2.0 */
/* --check and related options: the checker of a run, and the report files. */
#include "cmd/cmd_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The build by configure defines PACKAGE_VERSION; other builds have no version. */
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(unpackaged)"
#endif

enum { FINDINGS_USUAL = 100, FINDINGS_MOST = 1000000 };

enum lw_status cmd_check_take(struct cmd_check *c, const char *name, const char *value,
                              struct lw_error *err)
{
    if (strcmp(name, "check") == 0) {
        c->enabled = true;
        c->list = value;
        return chk_select(value, &c->kinds, err);
    }
    if (strcmp(name, "check-suppress") == 0) {
        if (c->suppress_count == LW_COUNT_OF(c->suppress))
            return LW_FAIL(err, LW_EUSAGE, "the option is given too often: at most %zu times",
                           LW_COUNT_OF(c->suppress));
        c->suppress[c->suppress_count++] = value;
    } else if (strcmp(name, "check-base") == 0)
        c->base_given = value;
    else if (strcmp(name, "coverage") == 0)
        c->coverage = value;
    else if (strcmp(name, "profile") == 0)
        c->profile = value;
    else if (strcmp(name, "profile-by") == 0) {
        c->by_launch = strcmp(value, "launch") == 0;
        if (!c->by_launch && strcmp(value, "kernel") != 0)
            return LW_FAIL(err, LW_EUSAGE, "expected kernel or launch, found \"%.40s\"", value);
    } else if (strcmp(name, "read-poison") == 0) {
        uint64_t poison;

        if (!lw_parse_u64(value, &poison) || poison > UINT32_MAX)
            return LW_FAIL(err, LW_EUSAGE, "expected an integer from 0 to 0xffffffff, found \"%.40s\"", value);
        c->poison_given = value;
        c->read_poison = (uint32_t)poison;
    }
    else if (strcmp(name, "max-findings") == 0) {
        uint64_t most;

        if (!lw_parse_u64(value, &most) || most == 0 || most > FINDINGS_MOST)
            return LW_FAIL(err, LW_EUSAGE, "expected an integer from 1 to %d, found \"%.40s\"",
                           FINDINGS_MOST, value);
        c->most = (unsigned)most;
    } else if (c->file_count == LW_COUNT_OF(c->files))
        return LW_FAIL(err, LW_EUSAGE, "the option is given too often: at most %zu times", LW_COUNT_OF(c->files));
    else
        c->files[c->file_count++] = value;
    return LW_OK;
}

/** Checks that @path can be written at the end of the run. */
static enum lw_status try_file(const char *command, const char *option, const char *path,
                               struct lw_error *err)
{
    enum lw_status status = LW_OK;

    if (path != NULL && strcmp(path, "-") != 0 &&
        (status = lw_file_try_write(path, err)) != LW_OK)
        lw_error_prefix(err, "%s: --%s", command, option);
    return status;
}

/** Deletes the report of an earlier run, so that it is not taken for the report of this run if this run fails. */
static void take_old(const char *path)
{
    struct stat at;

    if (strcmp(path, "-") != 0 && stat(path, &at) == 0 && S_ISREG(at.st_mode))
        (void)unlink(path);
}

/** Determines the folder to which file names in reports are relative: that of --check-base, or the current folder. */
static enum lw_status find_base(struct cmd_check *c, const char *command, struct lw_error *err)
{
    struct stat at;

    if (c->base_given != NULL && c->base_given[0] == '\0')
        return LW_OK;
    c->here = realpath(".", NULL);
    c->base = realpath(c->base_given != NULL ? c->base_given : ".", NULL);
    if (c->base_given != NULL && (c->base == NULL || stat(c->base, &at) != 0 || !S_ISDIR(at.st_mode)))
        return LW_FAIL(err, LW_EUSAGE, "%s: --check-base: %.200s does not exist or is not a folder", command, c->base_given);
    if (c->base != NULL && strcmp(c->base, "/") == 0)
        c->base[0] = '\0';
    if (c->here != NULL && strcmp(c->here, "/") == 0)
        c->here[0] = '\0';
    return LW_OK;
}

static bool is_one_file(const char *path, const char *other_path)
{
    struct stat one, other;

    return stat(path, &one) == 0 && stat(other_path, &other) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/** Returns true if @path has the suffix of a program file or of a data file. The launch file has not been read yet, so the
 *  names of its programs are not known. */
static bool is_program(const char *path)
{
    static const char *const suffixes[] = {".cl", ".cu", ".spv", ".ptx", ".s", ".lwo", ".h", ".cuh", ".c", ".bin"};
    const size_t n = strlen(path);

    for (size_t i = 0; i < LW_COUNT_OF(suffixes); i++) {
        const size_t m = strlen(suffixes[i]);

        if (n > m && strcmp(path + n - m, suffixes[i]) == 0)
            return true;
    }
    return false;
}

/** Refuses @path if writing it would overwrite an input: the launch file, a program, or a file of suppressions. @path may
 *  be NULL. */
static enum lw_status keep_from(const struct cmd_check *c, const char *command, const char *launch_file,
                                const char *option, const char *path, struct lw_error *err)
{
    if (path == NULL || strcmp(path, "-") == 0)
        return LW_OK;
    if (is_one_file(path, launch_file))
        return LW_FAIL(err, LW_EUSAGE, "%s: --%s %.200s: the report would overwrite the launch file: write to another "
                                       "file", command, option, path);
    if (is_program(path))
        return LW_FAIL(err, LW_EUSAGE, "%s: --%s %.200s: the report might overwrite a program or its data: write to a "
                                       "file with another suffix", command, option, path);
    for (unsigned k = 0; k < c->suppress_count; k++)
        if (is_one_file(path, c->suppress[k]))
            return LW_FAIL(err, LW_EUSAGE, "%s: --check-suppress and --%s: both name file %.200s, so that the "
                                           "suppressions would be overwritten: write to another file",
                                           command, option, path);
    return LW_OK;
}

static enum lw_status keep_inputs(const struct cmd_check *c, const char *command, const char *launch_file,
                                  struct lw_error *err)
{
    enum lw_status status = keep_from(c, command, launch_file, "coverage", c->coverage, err);

    if (status == LW_OK)
        status = keep_from(c, command, launch_file, "profile", c->profile, err);
    for (unsigned i = 0; i < c->file_count && status == LW_OK; i++)
        if (chk_format_suggest(c->files[i]) != NULL)
            status = LW_FAIL(err, LW_EUSAGE, "%s: --check-file %.200s: the suffix selects the format, and this one is "
                                             "not known; did you mean %s? (.txt is text)",
                             command, c->files[i], chk_format_suggest(c->files[i]));
        else
            status = keep_from(c, command, launch_file, "check-file", c->files[i], err);
    return status;
}

enum lw_status cmd_check_prepare(struct cmd_check *c, const char *command, const char *launch_file,
                                 struct lw_error *err)
{
    enum lw_status status = LW_OK;

    if (c->base_given != NULL && c->file_count == 0 && c->suppress_count == 0)
        return LW_FAIL(err, LW_EUSAGE, "%s: --check-base has no effect without a report: add --check-file", command);
    if (c->by_launch && c->profile == NULL)
        return LW_FAIL(err, LW_EUSAGE, "%s: --profile-by has no effect without a profile: add --profile FILE", command);
    if (!c->enabled && (c->suppress_count != 0 || c->most != 0 || c->file_count != 0 || c->poison_given != NULL))
        return LW_FAIL(err, LW_EUSAGE, "%s: --%s has no effect, as no checks are enabled: add --check", command,
                       c->file_count != 0 ? "check-file"
                       : c->most != 0     ? "max-findings"
                       : c->poison_given != NULL ? "read-poison"
                                          : "check-suppress");
    if (c->file_count != 0 || c->suppress_count != 0)
        status = find_base(c, command, err);
    if (status == LW_OK)
        status = keep_inputs(c, command, launch_file, err);
    for (unsigned i = 0; i < c->file_count && status == LW_OK; i++)
        status = try_file(command, "check-file", c->files[i], err);
    if (status == LW_OK)
        status = try_file(command, "coverage", c->coverage, err);
    if (status == LW_OK)
        status = try_file(command, "profile", c->profile, err);
    for (unsigned i = 0; i < c->suppress_count && status == LW_OK; i++) {
        status = chk_suppressions_load(c->suppress[i], &c->suppressions, err);
        if (status != LW_OK)
            lw_error_prefix(err, "%s: --check-suppress", command);
    }
    if (status == LW_OK && !c->silent) {
        struct lw_file_sink out;

        lw_file_sink_init(&out, stderr);
        chk_put_formers(c->list != NULL ? c->list : "", "lanewise: ", &out.sink);
        chk_suppressions_put_formers(c->suppressions, "lanewise: ", &out.sink);
    }
    for (unsigned i = 0; i < c->file_count && status == LW_OK; i++)
        take_old(c->files[i]); /* old reports are deleted after all checks, so that a refused command deletes nothing */
    if (status == LW_OK && c->coverage != NULL)
        take_old(c->coverage);
    if (status == LW_OK && c->profile != NULL)
        take_old(c->profile);
    return status;
}

/* ---- a debugger stops at findings ---------------------------------------------------------- */

static void on_found(void *context, unsigned index)
{
    const struct cmd_check *c = context;

    if (c->dbg != NULL)
        dbg_finding(c->dbg, index);
}

void cmd_check_finding(void *context, unsigned number, struct dbg_finding *out,
                       struct lw_sink *text)
{
    const struct cmd_check *c = context;
    const struct chk_finding *f = c->chk != NULL ? chk_get(c->chk, number) : NULL;

    if (f == NULL)
        return;
    chk_print(f, text);
    *out = (struct dbg_finding){.grid = f->location.kernel[0] != '\0' ? f->location.grid : 0,
                               .block = f->location.block_number,
                               .warp = f->location.warp,
                               .lanes = f->location.lanes,
                               .pc = f->location.pc, .no_stop = !chk_stops_for(c->chk, f)};
}

static void on_note(void *context, const char *message)
{
    const struct cmd_check *c = context;

    if (c->dbg != NULL)
        dbg_finding_record(c->dbg, message);
}

static uint64_t when(void *context, unsigned index)
{
    const struct cmd_check *c = context;

    return c->dbg != NULL ? dbg_finding_at(c->dbg, index) : UINT64_MAX;
}

void cmd_check_attach(struct cmd_check *c, struct dbg *dbg)
{
    c->dbg = dbg;
    c->view = (struct chk_view){c->chk, when, c};
}

void cmd_check_rows(void *context, dbg_row_fn row, void *row_context)
{
    const struct cmd_check *c = context;

    if (c->chk != NULL && c->view.chk == c->chk)
        chk_rows(&c->view, row, row_context);
}

/* ---- steps of the host ------------------------------------------------------------------------ */

static void on_step(void *context, const char *file, uint32_t line)
{
    struct cmd_check *c = context;

    c->step_file = file;
    c->step_line = line;
}

static void on_caller(void *context, struct chk_call *out)
{
    const struct cmd_check *c = context;

    out->file = c->step_file != NULL ? c->step_file : "";
    out->line = c->step_line;
}

static void on_checked(void *context, const char *file, uint32_t line, const char *failed)
{
    const struct cmd_check *c = context;

    if (c->chk != NULL)
        chk_record_host_check(c->chk, file, line, failed);
}

enum lw_status cmd_check_begin(struct cmd_check *c, struct emu_machine *machine,
                               struct lnc_session *session, struct lw_error *err)
{
    const struct chk_options options = {.kinds = c->kinds,
                                        .counting = c->profile != NULL    ? CHK_COUNT_REQUESTS
                                                    : c->coverage != NULL ? CHK_COUNT_RUNS
                                                                          : CHK_COUNT_NOTHING,
                                        .max_findings = c->most != 0 ? c->most : FINDINGS_USUAL,
                                        .suppressions = c->suppressions,
                                        .base = c->base,
                                        .here = c->here,
                                        .read_poison = c->read_poison,
                                        .by_launch = c->by_launch,
                                        .by_options = c->by_options,
                                        /* Also set for a replayed log, because in the logged run a debugger may have
                                         * changed the pc of lanes. Without a callback, the checker omits hooks that
                                         * are redundant if only control flow changes the pc. */
                                        .found = c->debugged || c->replayed ? on_found : NULL,
                                        .caller = on_caller,
                                        .note = c->debugged ? on_note : NULL,
                                        .context = c};
    const bool watches = c->debugged || c->enabled || c->coverage != NULL || c->profile != NULL;
    enum lw_status status = watches ? chk_create(machine, &options, &c->chk, err) : LW_OK;
    uint64_t address, size;
    const char *file;
    uint32_t line;

    lnc_session_watch(session, (struct lnc_watch){on_step, on_checked, c});
    for (unsigned i = 0; c->chk != NULL && lnc_session_unfilled(session, i, &address, &size); i++)
        chk_mark_uninitialised(c->chk, address, size);
    for (unsigned i = 0; c->chk != NULL && lnc_session_check(session, i, &file, &line); i++)
        chk_declare_host_check(c->chk, file, line);
    return status;
}

int cmd_check_begin_error(const struct cmd_check *c, const char *command, const char *resume,
                          struct lw_error *err)
{
    if (err->status == LW_ESTATE && resume != NULL)
        (void)LW_FAIL(err, LW_EUSAGE, "%s: --%s and --resume cannot be combined, as a kernel must be checked from its "
                                      "start: give one of them", command,
                      c->coverage != NULL  ? "coverage"
                      : c->profile != NULL ? "profile"
                                           : "check");
    return cmd_error(err);
}

/** Writes @text to the file @path, and frees it. @written: status of the function that made the text. If it is an error, only
 *  reports @err. Returns @status, or another exit status after a failure. */
static int put(const char *path, struct lw_buffer *text, enum lw_status written,
               const struct lw_error *err, int status)
{
    if (written != LW_OK)
        status = cmd_error(err);
    else if (cmd_write(path, text->text, text->size) != CMD_FINE)
        status = CMD_USAGE;
    lw_buffer_fini(text);
    return status;
}

int cmd_check_end(struct cmd_check *c, const struct emu_stop *stop, const char *run,
                  unsigned *found)
{
    struct lw_buffer text;
    struct lw_error err;
    int status = CMD_FINE;

    if (c->chk == NULL)
        return CMD_FINE;
    if (cmd_end_signal() != 0)
        chk_ended_by(c->chk, cmd_end_signal_name(cmd_end_signal()), cmd_end_signal());
    if (chk_finish(c->chk, stop, &err) != LW_OK)
        status = cmd_error(&err);
    if (chk_count(c->chk) != 0 || chk_dropped_count(c->chk) != 0) {
        *found = chk_count(c->chk);
        lw_buffer_init(&text);
        chk_print_all(c->chk, run, &text.sink); /* printed before the caller reports how the run ended */
        fflush(stdout);
        fwrite(text.text, 1, text.size, stderr);
        lw_buffer_fini(&text);
    }
    /* Unused suppressions are not reported after an incomplete run, in which a suppression may not have matched yet. */
    if (stop->kind == EMU_STOP_IDLE && !c->silent && !c->debugged) {
        struct lw_file_sink errors;

        fflush(stdout);
        lw_file_sink_init(&errors, stderr);
        chk_print_unused_suppressions(c->chk, &errors.sink);
    }
    if (c->coverage != NULL) {
        lw_buffer_init(&text);
        enum lw_status written = chk_write_coverage(c->chk, &text.sink, &err);
        if (written == LW_OK && text.size == 0)
            fprintf(stderr, "lanewise: --coverage %s: the file is empty, as no executed instruction has a source line: "
                            "compile the sources with -g\n", c->coverage);
        status = put(c->coverage, &text, written, &err, status);
    }
    if (c->profile != NULL) {
        lw_buffer_init(&text);
        enum lw_status written = chk_write_profile(c->chk, run, &text.sink, &err);
        status = put(c->profile, &text, written, &err, status);
    }
    for (unsigned i = 0; i < c->file_count; i++) {
        lw_buffer_init(&text);
        chk_format_for(c->files[i])->write(c->chk, run, PACKAGE_VERSION, &text.sink);
        status = put(c->files[i], &text, LW_OK, &err, status);
    }
    return status;
}

unsigned cmd_check_suppressed(const struct cmd_check *c)
{
    return c->chk != NULL ? chk_suppressed_count(c->chk) : 0;
}

bool cmd_check_is_usual(const struct cmd_check *c)
{
    uint64_t usual;

    return c->enabled && chk_select(NULL, &usual, NULL) == LW_OK && c->kinds == usual;
}

bool cmd_check_wants_stale(const struct cmd_check *c)
{
    return c->enabled && (c->kinds >> CHK_STALE & 1) != 0 && c->list != NULL && strstr(c->list, "stale") != NULL;
}

void cmd_check_close(struct cmd_check *c)
{
    chk_destroy(c->chk);
    chk_suppressions_destroy(c->suppressions);
    free(c->base);
    free(c->here);
    *c = (struct cmd_check){0};
}

int cmd_explain(const struct cmd *cmd, int argc, char **argv)
{
    struct lw_file_sink out;
    struct lw_error err;

    lw_file_sink_init(&out, stdout);
    if (chk_explain(argc > 1 ? argv[1] : NULL, &out.sink, &err) != LW_OK) {
        lw_error_prefix(&err, "%s", cmd->name);
        return cmd_error(&err);
    }
    lw_file_sink_init(&out, stderr);
    chk_put_formers(argc > 1 ? argv[1] : "", "lanewise: ", &out.sink);
    return CMD_FINE;
}
