/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of lanewise app before the program starts, with the functions that the runtimes will use for them. */
#include "cmd/cmd_priv.h"
#include "host/lanewise.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/** Options whose operand is a file that is written at the end of the program. */
static const struct {
    const char *option;
    const char *key; /* the key of lanewise_set() that must be "yes" for this file, or NULL */
} files[] = {{"stats", NULL}, {"timing-report", NULL}, {"check-file", NULL}, {"coverage", "coverage"}, {"profile", "profile"},
             {"timing-trace", "timing-trace"}, {"log", "log"}};

/** Sets a key of the machine. The message lacks the key's name, because the caller adds the option's name. */
static enum lw_status set(struct cmd_app_check *c, const char *key, const char *value, struct lw_error *err)
{
    const size_t size = strlen(key);
    const char *text;

    if (lanewise_set(c->machine, key, value) == LANEWISE_OK)
        return LW_OK;
    text = lanewise_error(c->machine);
    return LW_FAIL(err, LW_EUSAGE, "%s", strncmp(text, key, size) == 0 && text[size] == ':' ? text + size + 2 : text);
}

/** Checks that files can be created in the folder @path, which may not exist yet. */
static enum lw_status check_folder(const char *path, struct lw_error *err)
{
    struct stat at;

    if (stat(path, &at) == 0) {
        if (!S_ISDIR(at.st_mode))
            return LW_FAIL(err, LW_EUSAGE, "%s: is not a folder", path);
        return access(path, W_OK | X_OK) == 0 ? LW_OK : LW_FAIL(err, LW_EUSAGE, "%s: cannot be written: %s", path, strerror(errno));
    }
    if (mkdir(path, 0777) != 0)
        return LW_FAIL(err, LW_EUSAGE, "%s: cannot be created: %s", path, strerror(errno));
    (void)rmdir(path); /* the runtime creates it, if no other option is wrong */
    return LW_OK;
}

static enum lw_status check_file(const char *option, const char *path, struct lw_error *err)
{
    if (strcmp(option, "check-file") == 0 && chk_format_suggest(path) != NULL)
        return LW_FAIL(err, LW_EUSAGE, "%.200s: the suffix selects the format, and this one is not known; did you mean %s? (.txt is text)",
                       path, chk_format_suggest(path));
    if (strcmp(option, "log") == 0 && strcmp(path, "-") == 0)
        return LW_FAIL(err, LW_EUSAGE, "a schedule log is binary: expected the name of a file, found \"-\"");
    return strcmp(path, "-") == 0 ? LW_OK : lw_file_try_write(path, err);
}

/** Checks the operand of --gdb: "1234", "host:1234" or "unix:path". */
static enum lw_status check_address(const char *value, struct lw_error *err)
{
    const char *colon = strrchr(value, ':');
    uint64_t port;

    if ((strncmp(value, "unix:", 5) == 0 && value[5] != '\0') || (lw_parse_u64(colon != NULL ? colon + 1 : value, &port) && port <= 65535))
        return LW_OK;
    return LW_FAIL(err, LW_EUSAGE, "expected PORT, HOST:PORT or unix:PATH, found \"%.80s\"", value);
}

/** Checks that a program exists, in the folders of PATH if its name has no slash. */
static enum lw_status check_program(const char *name, struct lw_error *err)
{
    const char *folder = strchr(name, '/') == NULL ? getenv("PATH") : NULL;
    bool found = folder == NULL && access(name, X_OK) == 0;
    char path[4096];

    for (size_t size; folder != NULL && !found; folder = folder[size] != '\0' ? folder + size + 1 : NULL) {
        size = strcspn(folder, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)size, folder, name);
        found = access(path, X_OK) == 0;
    }
    return found ? LW_OK : LW_FAIL(err, LW_EUSAGE, "%.200s: the program does not exist", name);
}

enum lw_status cmd_app_check_begin(struct cmd_app_check *c, struct lw_error *err)
{
    *c = (struct cmd_app_check){.machine = lanewise_create()};
    return c->machine != NULL ? LW_OK : LW_FAIL(err, LW_ENOMEM, "app: the host has no memory to check the options");
}

enum lw_status cmd_app_check_option(struct cmd_app_check *c, const char *name, const char *value, struct lw_error *err)
{
    static const char *const switches[] = {"strict", "hash", "fail-on-findings", "gdb-kernel", "define", "option"};
    uint64_t number;

    if (strcmp(name, "timing") == 0)
        c->timing = true;
    else if (strncmp(name, "timing-", 7) == 0 || strcmp(name, "mechanism") == 0)
        c->of_timing = name;
    c->profile |= strcmp(name, "profile") == 0;
    c->by |= strcmp(name, "profile-by") == 0;
    for (unsigned i = 0; i < LW_COUNT_OF(switches); i++)
        if (strcmp(name, switches[i]) == 0)
            return LW_OK;
    for (unsigned i = 0; i < LW_COUNT_OF(files); i++)
        if (strcmp(name, files[i].option) == 0) {
            const enum lw_status status = check_file(name, value, err);

            if (status != LW_OK)
                return status;
            if (c->file_count == LW_COUNT_OF(c->files))
                return LW_FAIL(err, LW_EUSAGE, "too many files: at most %u are possible", c->file_count);
            c->files[c->file_count++] = value;
            return files[i].key != NULL ? set(c, files[i].key, "yes", err) : LW_OK;
        }
    if (strcmp(name, "history") == 0)
        return lw_parse_u64(value, &number) && number < UINT64_C(1) << 40
                   ? LW_OK : LW_FAIL(err, LW_EUSAGE, "expected an integer from 0 to 1099511627775, found \"%.40s\"", value);
    if (strcmp(name, "gdb") == 0)
        return value != NULL ? check_address(value, err) : LW_OK;
    if (strcmp(name, "sources") == 0 || strcmp(name, "record") == 0)
        return check_folder(value, err);
    if (strcmp(name, "include") == 0)
        return access(value, X_OK) == 0 ? LW_OK : LW_FAIL(err, LW_EUSAGE, "%.200s: the folder does not exist", value);
    if (strcmp(name, "compiler") == 0 && check_program(value, err) != LW_OK)
        return err->status;
    return set(c, name, value != NULL ? value : strcmp(name, "check") == 0 ? "default" : "yes", err);
}

enum lw_status cmd_app_check_all(struct cmd_app_check *c, struct lw_error *err)
{
    if (c->of_timing != NULL && !c->timing)
        return LW_FAIL(err, LW_EUSAGE, "app: --%s has no effect without the timing model: add --timing", c->of_timing);
    if (c->by && !c->profile)
        return LW_FAIL(err, LW_EUSAGE, "app: --profile-by has no effect without a profile: add --profile FILE");
    if (lanewise_begin(c->machine) == LANEWISE_OK)
        return LW_OK;
    return LW_FAIL(err, LW_EUSAGE, "app: --%s", lanewise_error(c->machine));
}

bool cmd_app_check_expands(const char *option)
{
    bool expands = strcmp(option, "record") == 0 || strcmp(option, "sources") == 0;

    for (unsigned i = 0; i < LW_COUNT_OF(files); i++)
        expands = expands || strcmp(option, files[i].option) == 0;
    return expands;
}

void cmd_app_check_unlink(const struct cmd_app_check *c)
{
    struct stat at;

    /* A process does not replace a file that exists, because another process may have written it. */
    for (unsigned i = 0; i < c->file_count; i++)
        if (strcmp(c->files[i], "-") != 0 && strstr(c->files[i], "%p") == NULL && strstr(c->files[i], "%%") == NULL &&
            lstat(c->files[i], &at) == 0 && S_ISREG(at.st_mode))
            (void)unlink(c->files[i]);
}

void cmd_app_check_end(struct cmd_app_check *c)
{
    lanewise_destroy(c->machine);
    c->machine = NULL;
}
