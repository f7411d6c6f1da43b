/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined commands: `define`, the lines of its body up to `end`, and `alias`. */
#include "shell/shell_priv.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_OPERANDS = 9, MAX_DEFINES = 1000, MAX_BODY = 65536 };

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '-')
            return false;
    return true;
}

/* Checks that a name may be defined: it is well formed, and the shell has no command of this name. */
static enum lw_status check_name(struct shell *shell, const char *name, struct lw_error *err)
{
    const struct lw_command *row = lw_command_find(&shell->set, name, NULL, NULL);

    if (!is_name(name) || strlen(name) > 60)
        return LW_FAIL(err, LW_EUSAGE,
                       "\"%s\" cannot name a command: a name has only letters, digits, - and _, at most 60",
                       name);
    if ((row != NULL && strcmp(row->name, name) == 0) || strcmp(name, "help") == 0 ||
        strcmp(name, "apropos") == 0 || strcmp(name, "end") == 0)
        return LW_FAIL(err, LW_EUSAGE, "the shell already has a command %s: choose another name", name);
    return LW_OK;
}

/* Adds a definition, or replaces the one of this name. The shell takes ownership of both texts. */
static enum lw_status put(struct shell *shell, char *name, char *body, struct lw_error *err)
{
    for (size_t i = 0; i < shell->define_count; i++)
        if (strcmp(shell->defines[i].name, name) == 0) {
            free(shell->defines[i].body);
            free(name);
            shell->defines[i].body = body;
            return LW_OK;
        }
    if (shell->define_count == MAX_DEFINES ||
        !lw_grow(&shell->defines, &shell->define_capacity, shell->define_count + 1,
                 sizeof *shell->defines)) {
        free(name);
        free(body);
        return LW_FAIL(err, LW_ENOMEM, "cannot define another command: there are too many definitions, or the host has "
                                       "no memory for it");
    }
    shell->defines[shell->define_count++] = (struct sh_define){name, body};
    return LW_OK;
}

enum lw_status sh_do_define(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    enum lw_status status;

    if (call->argc == 1) {
        for (size_t i = 0; i < shell->define_count; i++)
            lw_printf(call->out, "define %s\n%send\n", shell->defines[i].name,
                      shell->defines[i].body);
        if (shell->define_count == 0)
            lw_put(call->out, "no commands are defined: `define NAME` defines one\n");
        return LW_OK;
    }
    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE,
                       "define takes one name; its commands follow, one per line, and `end` ends them");
    status = check_name(shell, call->argv[1], err);
    if (status != LW_OK)
        return status;
    lw_buffer_clear(&shell->body);
    shell->defining = strdup(call->argv[1]);
    return shell->defining != NULL ? LW_OK : LW_FAIL(err, LW_ENOMEM, "the host has no memory for a name");
}

enum lw_status sh_define_take(struct shell *shell, const char *text, struct lw_error *err)
{
    const char *word = text + strspn(text, " \t");
    char *name = shell->defining, *body;

    if (strncmp(word, "end", 3) == 0 && word[3 + strspn(word + 3, " \t")] == '\0') {
        shell->defining = NULL;
        body = strdup(shell->body.text != NULL ? shell->body.text : "");
        if (body == NULL) {
            free(name);
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a definition");
        }
        return put(shell, name, body, err);
    }
    if (shell->body.size + strlen(text) > MAX_BODY) {
        free(name);
        shell->defining = NULL;
        return LW_FAIL(err, LW_EUSAGE, "the definition is longer than %d characters: split it into two commands",
                       MAX_BODY);
    }
    lw_printf(&shell->body.sink, "%s\n", text);
    return LW_OK;
}

enum lw_status sh_do_alias(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    struct lw_buffer body;
    enum lw_status status;
    char *name, *text;
    int first = call->argc > 2 && strcmp(call->argv[2], "=") == 0 ? 3 : 2;

    if (call->argc <= first)
        return LW_FAIL(err, LW_EUSAGE,
                       "alias takes a name and a command, as in `alias pv = print v0`");
    status = check_name(shell, call->argv[1], err);
    if (status != LW_OK)
        return status;
    lw_buffer_init(&body);
    for (int i = first; i < call->argc; i++)
        lw_printf(&body.sink, "%s%s", i > first ? " " : "", call->argv[i]);
    lw_put(&body.sink, " $*\n");
    name = strdup(call->argv[1]);
    text = body.text != NULL ? strdup(body.text) : NULL;
    lw_buffer_fini(&body);
    if (name == NULL || text == NULL) {
        free(name);
        free(text);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for an alias");
    }
    return put(shell, name, text, err);
}

/* Replaces $1 to $9 and $* in a body by the operands in @rest. Register names such as $v0 are not changed. */
static void expand(const char *body, const char *rest, struct lw_buffer *out)
{
    const char *operand[MAX_OPERANDS];
    size_t size[MAX_OPERANDS], count = 0;

    for (const char *at = rest; count < MAX_OPERANDS; count++) {
        at += strspn(at, " \t");
        if (*at == '\0')
            break;
        operand[count] = at;
        size[count] = strcspn(at, " \t");
        at += size[count];
    }
    while (*body != '\0') {
        size_t plain = strcspn(body, "$");

        lw_printf(&out->sink, "%.*s", (int)plain, body);
        body += plain;
        if (*body == '\0')
            break;
        if (body[1] == '*') {
            lw_put(&out->sink, rest + strspn(rest, " \t"));
            body += 2;
        } else if (body[1] >= '1' && body[1] <= '9' && !isalnum((unsigned char)body[2])) {
            size_t which = (size_t)(body[1] - '1');

            if (which < count)
                lw_printf(&out->sink, "%.*s", (int)size[which], operand[which]);
            body += 2;
        } else {
            lw_put(&out->sink, "$");
            body++;
        }
    }
}

enum lw_status sh_define_run(struct shell *shell, const char *text, bool *ran,
                             struct lw_error *err)
{
    const char *word = text + strspn(text, " \t");
    size_t size = strcspn(word, " \t");
    enum lw_status status;
    struct lw_buffer body;
    char name[64];

    *ran = false;
    for (size_t i = 0; i < shell->define_count; i++) {
        if (strlen(shell->defines[i].name) != size ||
            strncmp(shell->defines[i].name, word, size) != 0)
            continue;
        *ran = true;
        snprintf(name, sizeof name, "%s", shell->defines[i].name);
        lw_buffer_init(&body);
        expand(shell->defines[i].body, word + size, &body);
        if (body.size > MAX_BODY)
            status = LW_FAIL(err, LW_EUSAGE, "%s: a line of its definition is too long after $1 to $9 and $* are "
                                             "replaced",
                             name);
        else
            status = body.text != NULL ? sh_text_run(shell, name, body.text, err) : LW_OK;
        lw_buffer_fini(&body);
        return status;
    }
    return LW_OK;
}

void sh_define_fini(struct shell *shell)
{
    for (size_t i = 0; i < shell->define_count; i++) {
        free(shell->defines[i].name);
        free(shell->defines[i].body);
    }
    free(shell->defines);
    free(shell->defining);
    lw_buffer_fini(&shell->body);
}
