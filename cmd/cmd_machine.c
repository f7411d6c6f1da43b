/* SPDX-License-Identifier: Apache-2.0 */
/* Wiring: launch file, machine, session, engine; and words for an early end. */
#include "cmd/cmd_priv.h"

#include <inttypes.h>

static enum lw_status number(const char *option, const char *text, uint64_t low, uint64_t high,
                             unsigned *out, struct lw_error *err)
{
    uint64_t value;

    if (text == NULL)
        return LW_OK;
    if (!lw_parse_u64(text, &value) || value < low || value > high)
        return LW_FAIL(err, LW_EUSAGE,
                       "--%s: expected an integer from %" PRIu64 " to %" PRIu64
                       ", found \"%.40s\"",
                       option, low, high, text);
    *out = (unsigned)value;
    return LW_OK;
}

static enum lw_status name(const char *option, const char *text, const char *const *names,
                           const char **out, struct lw_error *err)
{
    char list[240] = "";
    size_t count = 0, used = 0;
    const char *near;

    if (text == NULL)
        return LW_OK;
    for (; names[count] != NULL; count++) {
        size_t size = strlen(names[count]);

        if (strcmp(names[count], text) == 0) {
            *out = names[count];
            return LW_OK;
        }
        if (used + size + 3 < sizeof list) {
            memcpy(list + used, count != 0 ? ", " : "", count != 0 ? 2 : 0);
            used += count != 0 ? 2 : 0;
            memcpy(list + used, names[count], size + 1);
            used += size;
        }
    }
    near = lw_nearest(text, names, count, sizeof *names);
    if (near != NULL)
        return LW_FAIL(err, LW_EUSAGE, "--%s: unknown name \"%.40s\"; did you mean \"%s\"?",
                       option, text, near);
    return LW_FAIL(err, LW_EUSAGE, "--%s: unknown name \"%.40s\"; known are %s", option, text,
                   list);
}

static enum lw_status apply(const struct cmd_machine_options *o, struct emu_config *config,
                            struct lw_error *err)
{
    enum lw_status status = number("warp", o->warp, 4, EMU_MAX_LANES, &config->warp_width, err);

    if (status == LW_OK && o->warp != NULL && lw_popcount(config->warp_width) != 1)
        status = LW_FAIL(err, LW_EUSAGE, "--warp: expected 4, 8, 16, 32 or 64, found \"%s\"",
                         o->warp);
    if (status == LW_OK)
        status = number("quantum", o->quantum, 0, 1u << 30, &config->split_quantum, err);
    if (status == LW_OK)
        status = number("window", o->window, 0, 1u << 30, &config->fairness_window, err);
    if (status == LW_OK)
        status = number("level", o->level, 0, 4, &config->level, err);
    if (status == LW_OK)
        status = name("reconv", o->reconv, emu_reconv_names, &config->reconv, err);
    if (status == LW_OK)
        status = name("policy", o->policy, emu_policy_names, &config->policy, err);
    return status;
}

static bool is_source(const char *path)
{
    static const char *const suffixes[] = {".cl", ".cu", ".ptx", ".s", ".lwo"};
    size_t n = strlen(path);

    for (unsigned i = 0; i < LW_COUNT_OF(suffixes); i++) {
        size_t m = strlen(suffixes[i]);

        if (n > m && strcmp(path + n - m, suffixes[i]) == 0)
            return true;
    }
    return false;
}

enum lw_status cmd_machine_open(const char *path, const struct cmd_machine_options *options,
                                struct lw_sink *print, struct lw_sink *messages,
                                struct cmd_machine *out, struct lw_error *err)
{
    struct lnc_options session_options = {.clang = options->clang, .print = messages};
    struct cmd_machine m = {0};
    enum lw_status status;

    if (is_source(path))
        return LW_FAIL(err, LW_EINPUT,
                       "%s: is a program, not a launch file: write one that names it by "
                       "\"program: {source: ...}\"",
                       path);
    emu_config_default(&m.config);
    status = lnc_file_load(path, &m.config, &m.file, err);
    if (status == LW_OK)
        status = apply(options, &m.config, err);
    if (status == LW_OK)
        status = emu_machine_create(&m.config, &m.machine, err);
    if (status == LW_OK) {
        emu_machine_set_print(m.machine, print);
        status = lnc_session_create(m.file, m.machine, &session_options, &m.session, err);
    }
    if (status == LW_OK)
        status = emu_engine_functional_create(m.machine, &m.engine, err);
    if (status != LW_OK) {
        cmd_machine_close(&m);
        return status;
    }
    *out = m;
    return LW_OK;
}

void cmd_machine_close(struct cmd_machine *m)
{
    emu_engine_destroy(m->engine);
    emu_machine_destroy(m->machine);
    lnc_session_destroy(m->session); /* has the object that the machine's program borrows */
    lnc_file_destroy(m->file);
    *m = (struct cmd_machine){0};
}

enum lw_status cmd_machine_next(void *context, bool *more, struct lw_error *err)
{
    struct cmd_machine *m = context;
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(m->session, &state, err);

    *more = status == LW_OK && state == LNC_LAUNCHED;
    return status;
}

static void print_place(const struct cmd_machine *m, uint64_t pc, struct lw_sink *out)
{
    const struct emu_program *program = emu_machine_program_at(m->machine, pc);
    const struct isa_object *object;
    const struct isa_function *function;
    const struct isa_line *line;
    uint32_t index;

    lw_printf(out, "pc 0x%" PRIx64, pc);
    if (program == NULL)
        return;
    object = emu_program_object(program);
    index = (uint32_t)((pc - emu_program_base(program)) / ISA_WORD_BYTES);
    function = isa_object_function_at(object, index);
    line = isa_object_line_at(object, index);
    if (function != NULL)
        lw_printf(out, ", %s+0x%x", function->name,
                  (index - function->first) * (unsigned)ISA_WORD_BYTES);
    if (line != NULL && line->line != 0 && line->file < object->file_count)
        lw_printf(out, " (%s:%" PRIu32 ")", object->files[line->file], line->line);
}

static void print_who(const struct cmd_machine *m, uint32_t sequence, uint64_t block,
                      unsigned warp, uint64_t lanes, struct lw_sink *out)
{
    const struct emu_grid *grid = emu_grid_current(m->machine);

    lw_printf(out, "block ");
    if (grid != NULL && grid->sequence == sequence) {
        const uint32_t *n = grid->launch.grid;

        lw_printf(out, "(%u,%u,%u)", (unsigned)(block % n[0]), (unsigned)(block / n[0] % n[1]),
                  (unsigned)(block / n[0] / n[1]));
    } else {
        lw_printf(out, "%" PRIu64, block);
    }
    lw_printf(out, " warp %u lanes", warp);
    for (unsigned l = 0; l < EMU_MAX_LANES;) {
        unsigned end = l;

        while (end < EMU_MAX_LANES && (lanes >> end & 1) != 0)
            end++;
        if (end == l) {
            l++;
            continue;
        }
        lw_printf(out, end - l > 1 ? " %u-%u" : " %u", l, end - 1);
        l = end;
    }
    lw_printf(out, " of launch %u", sequence);
}

void cmd_print_fault(const struct cmd_machine *m, const struct emu_fault *fault,
                     struct lw_sink *out)
{
    emu_fault_print(m->machine, fault, out);
    lw_put(out, "\n  ");
    print_who(m, fault->grid, fault->block, fault->warp, fault->lanes, out);
    lw_put(out, "\n  ");
    print_place(m, fault->pc, out);
    lw_put(out, "\n");
}

void cmd_print_hang(const struct cmd_machine *m, const struct emu_hang *hang,
                    struct lw_sink *out)
{
    static const char *const kinds[] = {
        [EMU_HANG_NONE] = "nothing moves",
        [EMU_HANG_DEADLOCK] = "deadlock: nothing can run",
        [EMU_HANG_CONVERGENCE] = "deadlock at a convergence barrier",
        [EMU_HANG_CTA_BARRIER] = "a block barrier that not all lanes reach",
        [EMU_HANG_LIVELOCK] = "live-lock: no progress in the hang window",
    };

    lw_printf(out, "hang: %s\n  ", kinds[hang->kind]);
    print_who(m, hang->grid, hang->block, hang->warp, hang->lanes, out);
    lw_put(out, "\n  ");
    print_place(m, hang->pc, out);
    lw_put(out, "\n");
    if (hang->detail[0] != '\0')
        lw_printf(out, "%s%s", hang->detail,
                  hang->detail[strlen(hang->detail) - 1] == '\n' ? "" : "\n");
}
