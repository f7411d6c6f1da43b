/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes command lines of the shell: commands, expressions, definitions and completion. An input consists of the lines of a
 * session with history on a kernel that diverges. Commands that use files of the host are excluded.
 *
 *   clang -fsanitize=fuzzer,address,undefined -DLW_FUZZ_LIBFUZZER ...    compiles the target of libFuzzer
 *   other builds are a program that replays the files in its arguments, or those in tests/shell/corpus
 */
#include "shell/shell_priv.h"

#include <stdlib.h>

enum { MAX_LINES = 60, MAX_LINE = 300, MAX_ROWS = 32 };

static const char source[] = ".kernel diverge\n"
                             "    .param ptr.global out\n"
                             "    v_s2r v0, %tid.x\n"
                             "    v_and_b32 v2, v0, 1\n"
                             "    v_setp_u32.eq p0, _, v2, 0\n"
                             "    bssy b0, join\n"
                             "    @p0 bra even\n"
                             "    v_mov_b32 v1, 100\n"
                             "    bra join\n"
                             "even:\n"
                             "    v_mov_b32 v1, 200\n"
                             "join:\n"
                             "    bsync b0\n"
                             "    v_mov_b64 v4:5, c[out]\n"
                             "    v_madwide_u32 v4:5, v0, 4, v4:5\n"
                             "    st.global.b32 [v4:5], v1\n"
                             "    exit\n"
                             ".end\n";

static void drop(struct lw_sink *sink, const char *text, size_t size)
{
    (void)sink;
    (void)text;
    (void)size;
}

struct session {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct isa_object *object;
    struct emu_program *program;
    struct dbg *dbg;
    uint64_t out;
    unsigned launches;
};

static enum lw_status next(void *context, bool *more, struct lw_error *err)
{
    struct session *s = context;
    uint8_t params[64] = {0};
    struct emu_launch launch = {.program = s->program, .kernel = &s->object->functions[0],
                                .grid = {2, 1, 1}, .block = {12, 1, 1}, .work_dim = 1,
                                .params = params};
    struct emu_grid *grid;

    *more = s->launches != 0;
    if (!*more)
        return LW_OK;
    s->launches--;
    lw_put64(params + s->object->functions[0].params[0].offset, s->out);
    return emu_grid_launch(s->machine, &launch, &grid, err);
}

static bool session_open(struct session *s, struct lw_sink *out)
{
    struct dbg_config config = {.next = next, .next_context = s, .messages = out};
    struct emu_config machine;
    struct lw_error err;

    s->launches = 2;
    emu_config_default(&machine);
    machine.warp_width = 8;
    machine.arena_bytes = 1 << 20;
    if (isa_assemble("fuzz.s", source, sizeof source - 1, &s->object, &err) != LW_OK ||
        emu_machine_create(&machine, &s->machine, &err) != LW_OK ||
        emu_program_load(s->machine, s->object, &s->program, &err) != LW_OK ||
        emu_alloc(s->machine, 4096, "buffer", 0, &s->out, &err) != LW_OK ||
        emu_engine_functional_create(s->machine, &s->engine, &err) != LW_OK)
        return false;
    config.machine = s->machine;
    config.engine = s->engine;
    return dbg_create(&config, &s->dbg, &err) == LW_OK &&
           dbg_history_start(s->dbg, 1 << 22, NULL, NULL, NULL, &err) == LW_OK;
}

/* Copy the shell's own commands, except those that open files, to @rows, and return them as a table. */
static struct lw_command_table without_files(struct lw_command rows[MAX_ROWS],
                                             struct shell *shell)
{
    struct lw_command_table table = {rows, 0, shell};

    for (size_t i = 0; i < sh_own_commands.count && table.count < MAX_ROWS; i++)
        if (strcmp(sh_own_commands.rows[i].name, "source") != 0 &&
            strcmp(sh_own_commands.rows[i].name, "log") != 0)
            rows[table.count++] = sh_own_commands.rows[i];
    return table;
}

static void line_run(struct shell *shell, const char *text)
{
    struct sh_candidates candidates;
    struct lw_error err = {0};
    size_t size = strlen(text), start = size;

    while (start > 0 && strchr(SH_WORD_BREAKS, text[start - 1]) == NULL)
        start--;
    sh_complete(&shell->set, shell->dbg, text, start, size, &candidates);
    sh_candidates_fini(&candidates);
    if (sh_line_run(shell, text, &err) != LW_OK && err.text[0] == '\0')
        abort(); /* a command that fails must have an error message */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lw_sink out = {drop};
    struct session session = {0};
    struct sh_config config = {.out = &out};
    struct shell shell = {.config = &config};
    struct lw_command rows[MAX_ROWS];
    const uint8_t *end = data + size;

    lw_buffer_init(&shell.body);
    sh_output_init(&shell.output, &out);
    if (!session_open(&session, &out))
        abort();
    shell.dbg = config.dbg = session.dbg;
    dbg_register_commands(session.dbg, &shell.set);
    shell.set.tables[shell.set.count++] = without_files(rows, &shell);
    for (unsigned i = 0; i < MAX_LINES && data < end && !shell.quit; i++) {
        const uint8_t *stop = memchr(data, '\n', (size_t)(end - data));
        size_t length = (size_t)((stop != NULL ? stop : end) - data);
        char text[MAX_LINE];

        if (length < sizeof text) {
            memcpy(text, data, length);
            text[length] = '\0';
            line_run(&shell, text);
        }
        data += length + 1;
    }
    for (size_t i = 0; i < shell.watch_count; i++)
        free(shell.watches[i]);
    free(shell.watches);
    sh_define_fini(&shell);
    dbg_destroy(session.dbg);
    emu_engine_destroy(session.engine);
    emu_machine_destroy(session.machine);
    isa_object_destroy(session.object);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
#include "tests/isa/fuzz_isa_replay.h"

int main(int argc, char **argv)
{
    return fuzz_replay("shell/corpus", argc, argv);
}
#endif
