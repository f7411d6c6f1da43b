/* SPDX-License-Identifier: Apache-2.0 */
/* lanewise app: any program, with our OpenCL driver and CUDA runtime in front of others. */
#include "cmd/cmd_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef LW_LIBRARY_FOLDER
#define LW_LIBRARY_FOLDER "/usr/local/lib"
#endif

/** The value of LANEWISE_OPTIONS that is being made. */
struct words {
    const struct cmd *cmd;
    struct lw_buffer text;
};

/** Appends text in which what separates words is protected. */
static void put_protected(struct lw_buffer *words, const char *text)
{
    for (; *text != '\0'; text++)
        lw_printf(&words->sink, strchr(" \t\r\n\"'\\", *text) != NULL ? "\\%c" : "%c", *text);
}

/** Returns true if the option names a file that the machine opens: the program may be in another folder then. */
static bool is_file(const char *option)
{
    static const char *const options[] = {"stats", "check-file", "check-suppress", "coverage", "profile", "timing-report"};

    for (unsigned i = 0; i < LW_COUNT_OF(options); i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

/** Appends an option. */
static enum lw_status take(void *context, unsigned option, const char *value, struct lw_error *err)
{
    struct lw_buffer *words = &((struct words *)context)->text;
    const char *name = ((struct words *)context)->cmd->options[option].name;
    char here[PATH_MAX];

    (void)err;
    lw_printf(&words->sink, "--%s", name);
    if (value != NULL) {
        lw_put(&words->sink, "=");
        if (is_file(name) && value[0] != '/' && value[0] != '\0' && strcmp(value, "-") != 0 &&
            getcwd(here, sizeof here) != NULL) {
            put_protected(words, here);
            lw_put(&words->sink, "/");
        }
        put_protected(words, value);
    }
    lw_put(&words->sink, " ");
    return LW_OK;
}

/** Counts the arguments before the program: options, and operands of options. */
static int count_own(const struct cmd *cmd, int argc, char **argv)
{
    int i = 1;

    while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
        const char *name = argv[i];

        if (strcmp(name, "--") == 0)
            return i + 1;
        for (size_t k = 0; k < cmd->option_count; k++) {
            const struct cmd_option *o = &cmd->options[k];
            const bool is = strncmp(name, "--", 2) == 0 ? strcmp(name + 2, o->name) == 0
                                                        : o->letter != 0 && name[1] == o->letter && name[2] == '\0';

            if (is && o->operand != NULL && o->operand[0] != '[')
                i++;
        }
        i++;
    }
    return i < argc ? i : argc;
}

/** Gets the folder with @file of @name: in the folder of this program, as built, or where it is installed. */
static bool find_folder(const char *name, const char *file, char *folder, size_t room)
{
    static const char *const from_here[] = {"", "../lib/"};
    char here[PATH_MAX], path[PATH_MAX + 64];
    ssize_t size = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash;

    for (unsigned i = 0; size > 0 && i < LW_COUNT_OF(from_here); i++) {
        here[size] = '\0';
        slash = strrchr(here, '/');
        snprintf(folder, room, "%.*s/%s%s", (int)(slash - here), here, from_here[i], name);
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(folder, room, "%s/%s", LW_LIBRARY_FOLDER, name);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return access(path, R_OK) == 0;
}

/** Puts @folder in front of the list of folders of a variable of the environment. */
static void prepend(const char *variable, const char *folder)
{
    const char *before = getenv(variable);
    struct lw_buffer list;

    lw_buffer_init(&list);
    lw_printf(&list.sink, "%s%s%s", folder, before != NULL && *before != '\0' ? ":" : "", before != NULL ? before : "");
    setenv(variable, lw_buffer_text(&list), 1);
    lw_buffer_fini(&list);
}

int cmd_app(const struct cmd *cmd, int argc, char **argv)
{
    const int own = count_own(cmd, argc, argv);
    char *const *program = argv + own;
    char *mine[own + 1], folder[2 * PATH_MAX];
    const char *before = getenv("LANEWISE_OPTIONS");
    struct words words = {.cmd = cmd};
    int status = CMD_USAGE;

    memcpy(mine, argv, (size_t)own * sizeof *mine);
    mine[own] = NULL;
    if (own > 1 && strcmp(mine[own - 1], "--") == 0)
        mine[own - 1] = NULL;
    lw_buffer_init(&words.text);
    if (before != NULL)
        lw_printf(&words.text.sink, "%s ", before);
    if (cmd_parse(cmd, mine[own - 1] != NULL ? own : own - 1, mine, take, &words, &status) < 0) {
        lw_buffer_fini(&words.text);
        return status;
    }
    if (*program == NULL)
        status = cmd_wrong_usage(cmd, "expected a program to run, such as \"lanewise app --check ./saxpy 1000\"");
    else {
        /* A build without the OpenCL headers has no driver: the program then finds no platform, not another one. */
        find_folder("lanewise-icd", "lanewise.icd", folder, sizeof folder);
        setenv("OCL_ICD_VENDORS", folder, 1);
        unsetenv("OCL_ICD_FILENAMES"); /* drivers that loaders add to those of the folder */
        if (find_folder("lanewise-cuda", "libcudart.so.13", folder, sizeof folder))
            prepend("LD_LIBRARY_PATH", folder);
        setenv("LANEWISE_OPTIONS", lw_buffer_text(&words.text), 1);
        execvp(*program, program);
        status = cmd_wrong_usage(cmd, "%s: %s", *program, errno == ENOENT ? "there is no such program" : strerror(errno));
    }
    lw_buffer_fini(&words.text);
    return status;
}
