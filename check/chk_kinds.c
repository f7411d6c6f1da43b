/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the kinds of findings: selects kinds from lists of names, and explains kinds. */
#include "check/chk_priv.h"

#include <stdio.h>

const char *const chk_class_names[CHK_CLASS_COUNT] = {"memory", "progress", "races",
                                                      "uninitialised", "performance", "arithmetic", "api"};
/* Classes that are enabled by default: the classes whose checks do not slow the run down. */
static const bool usual[CHK_CLASS_COUNT] = {[CHK_CLASS_MEMORY] = true, [CHK_CLASS_PROGRESS] = true};

const struct chk_kind_info chk_kinds[CHK_KIND_COUNT] = {
#define KIND(id, name, group, on, from, value, optimised, summary, wrong, right)           \
    {name, CHK_CLASS_##group, on, summary, wrong, right},
#include "check/kinds.def"
};

#define EMU_END_NONE 0
#define EMU_WATCH_NONE 0
#define EMU_HOST_NONE 0
const struct chk_origin chk_origins[CHK_KIND_COUNT] = {
#define KIND(id, name, group, on, from, value, optimised, summary, wrong, right)           \
    {CHK_FROM_##from, EMU_##from##_##value, CHK_OPTIMISED_##optimised},
#include "check/kinds.def"
};

int chk_kind_of(enum chk_from from, unsigned value)
{
    for (int k = 0; k < CHK_KIND_COUNT; k++)
        if (chk_origins[k].from == from && chk_origins[k].value == value)
            return k;
    return -1;
}

const char *const chk_former_names[CHK_KIND_COUNT] = {
    [CHK_VALUE_WAIT] = "value-wait",     [CHK_SHIFT] = "shift-too-far",      [CHK_CONVERSION] = "conversion-range",
    [CHK_NAN] = "nan-made",              [CHK_INFINITY] = "infinity-made",
};

int chk_kind_named(const char *name)
{
    for (int k = 0; k < CHK_KIND_COUNT; k++)
        if (strcmp(chk_kinds[k].name, name) == 0 || (chk_former_names[k] != NULL && strcmp(chk_former_names[k], name) == 0))
            return k;
    return -1;
}

bool chk_kind_find(const char *name, enum chk_kind *kind)
{
    const int found = chk_kind_named(name);

    if (found >= 0)
        *kind = (enum chk_kind)found;
    return found >= 0;
}

void chk_put_former(const char *former, const char *now, struct lw_sink *out)
{
    lw_printf(out, "%s was renamed to %s: use the new name, because the next version removes the old one\n", former, now);
}

void chk_put_formers(const char *list, const char *before, struct lw_sink *out)
{
    for (size_t size; *list != '\0'; list += size + (list[size] == ',')) {
        size = strcspn(list, ",");
        for (int k = 0; k < CHK_KIND_COUNT; k++) {
            const char *former = chk_former_names[k], *word = list + (*list == '-');

            if (former == NULL || strlen(former) != (size_t)(list + size - word) ||
                strncmp(former, word, strlen(former)) != 0)
                continue;
            lw_put(out, before);
            chk_put_former(former, chk_kinds[k].name, out);
        }
    }
}

uint64_t chk_class_kinds(enum chk_class group)
{
    uint64_t kinds = 0;

    for (unsigned k = 0; k < CHK_KIND_COUNT; k++)
        kinds |= (uint64_t)(chk_kinds[k].group == group) << k;
    return kinds;
}

/** Returns the kinds that a word of a list names; 0: there are none. @drop: the word follows a `-`, so a class includes
 *  also the kinds that are otherwise selected only by name. */
static uint64_t word_kinds(const char *word, bool drop)
{
    uint64_t kinds = 0;
    int kind = chk_kind_named(word);

    if (kind >= 0)
        return UINT64_C(1) << kind | (kind == CHK_BARRIER_EXITED ? CHK_EXITED_ANYWHERE : 0);
    if (strcmp(word, "all") == 0)
        return lw_mask(CHK_KIND_COUNT) | CHK_EXITED_ANYWHERE;
    for (unsigned k = 0; k < CHK_KIND_COUNT; k++)
        if ((chk_kinds[k].on && strcmp(word, "default") == 0 && usual[chk_kinds[k].group]) ||
            ((chk_kinds[k].on || drop) && strcmp(word, chk_class_names[chk_kinds[k].group]) == 0))
            kinds |= UINT64_C(1) << k;
    return kinds;
}

/** Fails because @word is not the name of a kind. @nor: text of the message about other possible names. */
static enum lw_status no_kind(enum lw_status status, const char *word, const char *nor, struct lw_error *err)
{
    const char *names[CHK_KIND_COUNT + CHK_CLASS_COUNT + 2];
    size_t n = 0;

    for (unsigned k = 0; k < CHK_KIND_COUNT; k++)
        names[n++] = chk_kinds[k].name;
    for (unsigned c = 0; c < CHK_CLASS_COUNT; c++)
        names[n++] = chk_class_names[c];
    names[n++] = "all";
    names[n++] = "default";
    const char *near = lw_suggest(word, names, n, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, status, "there is no kind of finding \"%.63s\"%s; did you mean \"%s\"?", word, nor, near);
    return LW_FAIL(err, status, "there is no kind of finding \"%.63s\"%s; \"lanewise explain\" lists all kinds",
                   word, nor);
}

enum lw_status chk_select(const char *list, uint64_t *kinds, struct lw_error *err)
{
    uint64_t by_name;

    return chk_select_named(list, kinds, &by_name, err);
}

enum lw_status chk_select_named(const char *list, uint64_t *kinds, uint64_t *by_name,
                                struct lw_error *err)
{
    uint64_t chosen = 0;
    bool first = true;

    *by_name = 0;
    if (list == NULL)
        list = "default";
    for (;;) {
        size_t size = strcspn(list, ",");
        bool less = size != 0 && *list == '-';
        char word[64];

        snprintf(word, sizeof word, "%.*s", (int)(size - less), list + less);
        uint64_t named = word_kinds(word, less);
        if (named == 0 || size - less >= sizeof word)
            return no_kind(LW_EUSAGE, word, "", err);
        if (less && first) /* "-misaligned" alone means the default kinds without that kind */
            chosen = word_kinds("default", false);
        chosen = less ? chosen & ~named : chosen | named;
        *by_name |= !less && chk_kind_named(word) >= 0 ? named : 0;
        first = false;
        if (list[size] == '\0')
            break;
        list += size + 1;
    }
    *kinds = chosen;
    return LW_OK;
}

/** Prints a line for each of @kinds: its summary, and the option that enables it. */
static void list(uint64_t kinds, struct lw_sink *out)
{
    for (unsigned k = 0; k < CHK_KIND_COUNT; k++)
        if ((kinds >> k & 1) != 0)
            lw_printf(out, "%-13s %-22s %s%s\n", chk_class_names[chk_kinds[k].group],
                      chk_kinds[k].name, chk_kinds[k].summary,
                      chk_kinds[k].on && usual[chk_kinds[k].group] ? " (default)"
                      : chk_kinds[k].on ? " (with its class)" : " (by name only)");
}

static const char *const optimised_words[] = {
    [CHK_OPTIMISED_SAME] = "",
    [CHK_OPTIMISED_ELIMINATED] =
        "\nCompile the kernel with -O0 -g to find this error, because an optimiser may remove the wrong code.\n",
    [CHK_OPTIMISED_SPECULATED] =
        "\nAn optimiser may move a computation before its guard (`if (n < 32) x = a << n;`), so that the guard discards the "
        "value.\nSuch a value is not reported if a select discards it soon after the computation; otherwise it is reported.\n"
        "Compile with -O0 -g to check what the source computes.\n",
};

enum lw_status chk_explain(const char *name, struct lw_sink *out, struct lw_error *err)
{
    if (name == NULL || strcmp(name, "all") == 0 || strcmp(name, "default") == 0) {
        list(word_kinds(name != NULL ? name : "all", false), out);
        return LW_OK;
    }
    for (int c = 0; c < CHK_CLASS_COUNT; c++)
        if (strcmp(chk_class_names[c], name) == 0) {
            list(chk_class_kinds((enum chk_class)c), out);
            return LW_OK;
        }
    int kind = chk_kind_named(name);
    if (kind < 0)
        return no_kind(LW_ENOENT, name, " and no class of this name", err);
    const struct chk_kind_info *info = &chk_kinds[kind];
    lw_printf(out, "%s (class %s%s%s%s): %s.\n\nwrong:\n    %s\nright:\n    %s\n%s", info->name,
              chk_class_names[info->group], info->on ? "" : ", enabled only by name",
              chk_former_names[kind] != NULL ? ", formerly " : "", chk_former_names[kind] != NULL ? chk_former_names[kind] : "",
              info->summary, info->wrong, info->right, optimised_words[chk_origins[kind].optimised]);
    if (chk_origins[kind].from == CHK_FROM_HOST)
        lw_put(out, "\nThe examples are lines of a program that uses OpenCL. To try one, run the program by lanewise app --check=api.\n");
    else if (strstr(info->wrong, "void k(") == NULL)
        lw_put(out, "\nThe examples are parts of kernels in assembly.\n");
    else
        lw_printf(out, "\nTo try a kernel, launch %s of 64 threads with n = 64 and a buffer a of 64 %s%s.\n",
                  kind == CHK_OUT_OF_BOUNDS || kind == CHK_ATOMIC_SCOPE || kind == CHK_STALE ? "two blocks" : "one block",
                  kind == CHK_UNINIT_OUTPUT ? "words without init, and a check step that reads it" : "zeros",
                  kind == CHK_SIMT    ? ", and --reconv stack"
                  : kind == CHK_STALE ? ", and --timing=fermi --timing-set l1.coherent=off" : "");
    return LW_OK;
}
