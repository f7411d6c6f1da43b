/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when a run writes checkpoints, and names their files. */
#include "cmd/cmd_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char mark[] = "%n";

static enum lw_status add_location(struct cmd_checkpoint *c, uint64_t at, struct lw_error *err)
{
    unsigned i = c->at_count;

    if (i == CMD_MAX_CHECKPOINTS)
        return LW_FAIL(err, LW_EUSAGE, "the option is given too often: at most %d times", CMD_MAX_CHECKPOINTS);
    for (; i > 0 && c->at[i - 1] >= at; i--) {
        if (c->at[i - 1] == at)
            return LW_FAIL(err, LW_EUSAGE, "the count %" PRIu64 " is given twice", at);
        c->at[i] = c->at[i - 1];
    }
    c->at[i] = at;
    c->at_count++;
    return LW_OK;
}

enum lw_status cmd_checkpoint_take(struct cmd_checkpoint *c, const char *name, const char *value,
                                   struct lw_error *err)
{
    bool every = strcmp(name, "checkpoint-every") == 0;
    uint64_t count;

    if (!every && strcmp(name, "checkpoint-at") != 0) {
        c->path = value;
        return LW_OK;
    }
    /* UINT64_MAX is refused, because as an instruction count it means that the engine never stops. */
    if (!lw_parse_u64(value, &count) || count == UINT64_MAX || (every && count == 0))
        return LW_FAIL(err, LW_EUSAGE, "expected a count of warp instructions%s, found \"%.40s\"",
                       every ? " of 1 or more" : "", value);
    if (!every)
        return add_location(c, count, err);
    c->every = count;
    return LW_OK;
}

/** Sets *@out to the name of the checkpoint file for instruction count @count, in heap memory. */
static enum lw_status name_at(const struct cmd_checkpoint *c, uint64_t count, char **out,
                              struct lw_error *err)
{
    const char *from = c->path, *next;
    size_t room = strlen(from) + 1, used = 0;
    char *name;

    while ((from = strstr(from, mark)) != NULL) {
        room += 20; /* a 64-bit count has at most 20 digits */
        from += sizeof mark - 1;
    }
    name = malloc(room);
    if (name == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the name of a checkpoint");
    for (from = c->path; (next = strstr(from, mark)) != NULL; from = next + sizeof mark - 1)
        used += (size_t)snprintf(name + used, room - used, "%.*s%" PRIu64, (int)(next - from),
                                 from, count);
    snprintf(name + used, room - used, "%s", from);
    *out = name;
    return LW_OK;
}

enum lw_status cmd_checkpoint_check(struct cmd_checkpoint *c, struct lw_error *err)
{
    enum lw_status status;
    char *name;

    if (c->path == NULL) {
        if (c->at_count == 0 && c->every == 0)
            return LW_OK;
        return LW_FAIL(err, LW_EUSAGE, "run: --checkpoint-%s needs a file: add --checkpoint FILE",
                       c->every != 0 ? "every" : "at");
    }
    if (c->at_count != 0 && c->every != 0)
        return LW_FAIL(err, LW_EUSAGE, "run: --checkpoint-at and --checkpoint-every cannot be combined: give one of "
                                       "them");
    if (c->at_count > 1 && strstr(c->path, mark) == NULL)
        return LW_FAIL(err, LW_EUSAGE, "run: --checkpoint: the %u checkpoints need different file names: put %s, which "
                                       "is replaced by the instruction count, into the name", c->at_count, mark);
    status = name_at(c, c->at_count != 0 ? c->at[0] : c->every, &name, err);
    if (status != LW_OK)
        return status;
    status = lw_file_try_write(name, err);
    if (status != LW_OK)
        lw_error_prefix(err, "run: --checkpoint");
    free(name);
    return status;
}

enum lw_status cmd_checkpoint_begin(const struct cmd_checkpoint *c, uint64_t now,
                                    struct lw_error *err)
{
    if (c->at_count != 0 && c->at[0] < now)
        return LW_FAIL(err, LW_EUSAGE, "run: --checkpoint-at %" PRIu64 ": the run starts later, at instruction "
            "%" PRIu64 ", where the checkpoint of --resume was written: give a larger count", c->at[0], now);
    return LW_OK;
}

uint64_t cmd_checkpoint_next(const struct cmd_checkpoint *c, uint64_t now)
{
    if (c->done < c->at_count)
        return c->at[c->done];
    if (c->every == 0 || now / c->every >= UINT64_MAX / c->every)
        return UINT64_MAX;
    return (now / c->every + 1) * c->every;
}

void cmd_checkpoint_write(struct cmd_checkpoint *c, struct cmd_machine *m)
{
    struct lw_error err;
    char *name;
    enum lw_status status = name_at(c, m->engine->ops->instructions(m->engine), &name, &err);

    fflush(stdout); /* output up to now must be complete: a run that resumes from the checkpoint does not repeat it */
    if (status == LW_OK) {
        status = cmd_machine_save(m, name, &err);
        free(name);
    }
    if (status != LW_OK)
        cmd_error(&err);
    c->due = true;
    c->failed = c->failed || status != LW_OK;
    c->done += c->done < c->at_count;
}

bool cmd_checkpoint_end(struct cmd_checkpoint *c, struct cmd_machine *m)
{
    if (c->path == NULL)
        return true;
    if (c->at_count == 0 && c->every == 0)
        cmd_checkpoint_write(c, m);
    if (c->done < c->at_count) {
        fprintf(stderr, "lanewise: --checkpoint-at %" PRIu64 ": no checkpoint was written, as the run ended at "
                                                             "instruction %" PRIu64 "\n", c->at[c->done],
                m->engine->ops->instructions(m->engine));
        c->failed = true;
    }
    if (c->every != 0 && !c->due)
        fprintf(stderr, "lanewise: --checkpoint-every %" PRIu64 ": no checkpoint was written, as the run ended at "
                                                                "instruction %" PRIu64 "\n", c->every, m->engine->ops->instructions(m->engine));
    return !c->failed;
}
