/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the completion of the shell, and its line editor on a real pseudo-terminal. */
#include "shell/shell_priv.h"
#include "tests/debug/debug_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- completion ------------------------------------------------------------------------ */

/* Return the completion candidates for the last word of a line, separated by blanks. */
static const char *completed(struct fix *f, const char *line, struct lw_buffer *out)
{
    struct sh_candidates candidates;
    size_t size = strlen(line), start = size;

    while (start > 0 && strchr(SH_WORD_BREAKS, line[start - 1]) == NULL)
        start--;
    sh_complete(&f->set, f->dbg, line, start, size, &candidates);
    lw_buffer_clear(out);
    for (size_t i = 0; i < candidates.count; i++)
        lw_printf(&out->sink, "%s%s", i != 0 ? " " : "", candidates.items[i]);
    if (candidates.files)
        lw_put(&out->sink, " +files");
    sh_candidates_fini(&candidates);
    return out->text != NULL ? out->text : "";
}

static void each_command_is_found_by_its_name_and_its_abbreviation(void **state)
{
    struct fix *f = fix_open("saxpy.s", 32, 1, 32, 1);

    (void)state;
    for (size_t t = 0; t < f->set.count; t++)
        for (size_t i = 0; i < f->set.tables[t].count; i++) {
            const struct lw_command *row = &f->set.tables[t].rows[i];

            if (lw_command_find(&f->set, row->name, NULL, NULL) != row)
                fail_msg("command %s is in the tables twice", row->name);
            if (row->abbreviation != NULL && lw_command_find(&f->set, row->abbreviation, NULL, NULL) != row)
                fail_msg("command %s: its abbreviation %s is that of another command", row->name, row->abbreviation);
        }
    fix_close(f);
}

static void completion_knows_commands_registers_functions_and_files(void **state)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"sta", "stats status"},
        {"ste", "step stepi step-alone step-warp step-block"},
        {"  disas", "disassemble"},
        {"help sta", "stats status"},
        {"h br", "break"},
        {"break s", "saxpy saxpy.s:"},
        {"break saxpy.", "saxpy.s:"},
        {"b sax", "saxpy saxpy.s:"},
        {"break saxpy if hit", "hit_lanes"},
        {"break saxpy if v0+ti", "tid.x tid.y tid.z"},
        {"print threadI", "threadIdx.x threadIdx.y threadIdx.z"},
        {"break saxpy if threadIdx.x == global_i", "global_id.x global_id.y global_id.z"},
        {"print warpS", "warpSize"},
        {"goto ", "start end here"},
        {"goto h", "here"},
        {"delete ", "1 2"},
        {"condition 2", "2"},
        {"lane ", "kernel grid block thread device sm warp lane where"},
        {"print exe", "exec"},
        {"print/x exe", "exec"},
        {"print u32[in_", "in_buffer"},
        {"print v1", "v1"},
        {"set fault", "fault_code fault_addr fault_lanes"},
        {"registers lane_p", "lane_pcs"},
        {"x out", "out_buffer"},
        {"info st", "status"},
        {"info cuda th", "threads"},
        {"info cuda warps s", "sm"},
        {"info threads bl", "block"},
        {"focus bl", "block"},
        {"cuda block 0 th", "thread"},
        {"lane w", "warp where"},
        {"lane where in_", "in_buffer"},
        {"info b", "breakpoints blocks barriers"},
        {"catch re", "reconverge"},
        {"settings pa", "pages"},
        {"settings pages o", "on off"},
        {"source x", " +files"},
        {"dump f in_", "in_buffer +files"},
        {"apro", "apropos"},
        {"continue x", ""},
        {"nosuchcommand x", ""},
        {"zz", ""},
    };
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    struct lw_error err = {0};
    struct lw_buffer out;

    (void)state;
    f->set.tables[f->set.count++] = sh_own_commands;
    f->set.tables[f->set.count++] = sh_file_commands;
    lw_buffer_init(&out);
    if (dbg_history_start(f->dbg, 0, NULL, NULL, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (const char *const *line = (const char *const[]){"break saxpy", "break saxpy if lane == 1",
                                                          "mark here", NULL}; *line != NULL; line++)
        if (lw_command_run(&f->set, *line, &out.sink, &err) != LW_OK)
            fail_msg("%s: %s", *line, err.text);
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        const char *words = completed(f, cases[i].line, &out);

        if (strcmp(words, cases[i].words) != 0)
            fail_msg("\"%s\": \"%s\", wanted \"%s\"", cases[i].line, words, cases[i].words);
    }
    lw_buffer_fini(&out);
    fix_close(f);
}

/* ---- on a terminal ----------------------------------------------------------------------- */

struct terminal {
    int fd;
    pid_t child;
    char text[65536];
    size_t size;
    char state[64]; /* folder of the shell's history file */
};

/* Start the shell on kernel @name in a child process with a new terminal. */
static void terminal_open(struct terminal *t, const char *name, const char *state_home)
{
    struct winsize window = {.ws_row = 24, .ws_col = 200};

    t->size = 0;
    t->text[0] = '\0';
    t->child = forkpty(&t->fd, NULL, NULL, &window);
    assert_true(t->child >= 0);
    if (t->child == 0) {
        struct fix *f;
        struct lw_file_sink out;
        struct lw_error err = {0};
        int status = 99;

        setenv("TERM", "dumb", 1);
        setenv("INPUTRC", "/dev/null", 1);
        setenv("XDG_STATE_HOME", state_home, 1);
        f = fix_open(name, 8, 2, 16, 1);
        lw_file_sink_init(&out, stdout);
        setvbuf(stdout, NULL, _IONBF, 0);
        dbg_set_messages(f->dbg, &out.sink);
        struct sh_config config = {.dbg = f->dbg,
                                   .commands = &f->set,
                                   .out = &out.sink,
                                   .interactive = true,
                                   .colour = true};
        if (sh_run(&config, &status, &err) != LW_OK)
            status = 98;
        fix_close(f);
        _exit(status);
    }
}

/* Read the output until it contains @wanted, and discard it up to there. */
static void expect(struct terminal *t, const char *wanted)
{
    time_t until = time(NULL) + 20;

    for (;;) {
        char *found = strstr(t->text, wanted);
        struct pollfd wait = {.fd = t->fd, .events = POLLIN};
        ssize_t size;

        if (found != NULL) {
            found += strlen(wanted);
            t->size -= (size_t)(found - t->text);
            memmove(t->text, found, t->size + 1);
            return;
        }
        if (time(NULL) > until || t->size + 4096 >= sizeof t->text)
            break;
        if (poll(&wait, 1, 500) <= 0)
            continue;
        size = read(t->fd, t->text + t->size, 4096);
        if (size <= 0)
            break;
        t->size += (size_t)size;
        t->text[t->size] = '\0';
    }
    kill(t->child, SIGKILL);
    waitpid(t->child, NULL, 0);
    fail_msg("\"%s\" was not printed; the output is: %s", wanted, t->text);
}

/* Check that the shell waits for input: it prints nothing during several of readline's polls. */
static void expect_silence(struct terminal *t)
{
    struct pollfd wait = {.fd = t->fd, .events = POLLIN};

    assert_string_equal(t->text, "");
    assert_int_equal(poll(&wait, 1, 400), 0);
}

static void type(struct terminal *t, const char *keys)
{
    assert_int_equal(write(t->fd, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Close the terminal and return the exit status of the shell, or -1 if it does not end. */
static int terminal_close(struct terminal *t)
{
    struct pollfd wait = {.fd = t->fd, .events = POLLIN};
    int status = 0;
    char rest[4096];

    while (poll(&wait, 1, 20000) > 0 && read(t->fd, rest, sizeof rest) > 0)
        ;
    /* The process may still run for a short time after it has closed its terminal. */
    for (unsigned i = 0; i < 200 && waitpid(t->child, &status, WNOHANG) == 0; i++) {
        usleep(100000);
        if (i == 199) {
            kill(t->child, SIGKILL);
            waitpid(t->child, &status, 0);
        }
    }
    close(t->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_prompt_shows_the_focus_and_quit_its_status(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "saxpy.s", "/dev/null/none");
    expect(&t, "(lanewise b0,0,0 w0 l0) ");
    type(&t, "focus 4 3\n");
    expect(&t, "(lanewise b1,0,0 w1 l3) ");
    type(&t, "continue\n");
    expect(&t, "all launches have ended");
    expect(&t, "\n(lanewise) ");
    type(&t, "quit 7\n");
    assert_int_equal(terminal_close(&t), 7);
}

static void an_empty_line_repeats_the_last_step(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "saxpy.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "stepi\n");
    expect(&t, "saxpy+0x10");
    expect(&t, "l0) ");
    type(&t, "\n");
    expect(&t, "saxpy+0x20");
    expect(&t, "l0) ");
    type(&t, "print 41 + 1\n");
    expect(&t, "41 + 1 = 42");
    expect(&t, "l0) ");
    type(&t, "\n"); /* an empty line does not repeat print */
    expect(&t, "l0) ");
    type(&t, "where\n");
    expect(&t, "#0  saxpy+0x20");
    expect(&t, "l0) "); /* wait for the prompt: only the line editor takes Ctrl-D as the end of input */
    type(&t, "\004");
    assert_int_equal(terminal_close(&t), 0);
}

static void the_tabulator_completes(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "saxpy.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "disa\tsaxp\t 1\n"); /* disa may be disable or disassemble, so completion adds nothing */
    expect(&t, "error: ");
    expect(&t, "l0) ");
    type(&t, "disas\tsaxpy 1\n");
    expect(&t, "<saxpy>  v_s2r v0, %ctaid.x");
    expect(&t, "l0) ");
    type(&t, "break saxpy.\t18\n"); /* completion adds "s:", without a blank after the colon */
    expect(&t, "breakpoint 1 at saxpy+0xa0");
    expect(&t, "l0) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
}

static void control_c_interrupts_a_run_and_the_shell_goes_on(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "spin.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "continue\n");
    expect(&t, "continue");
    usleep(200000);
    type(&t, "\003");
    expect(&t, "interrupted: block(0,0,0) w0 lane 0");
    expect(&t, "l0) ");
    type(&t, "stepi 1000000\n");
    usleep(100000);
    type(&t, "\003");
    expect(&t, "lane 0 at spin");
    expect(&t, "l0) ");
    type(&t, "print 6 * 7\n");
    expect(&t, "= 42");
    expect(&t, "l0) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
}

static void control_c_at_the_prompt_drops_the_line(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "saxpy.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "quit 9");
    expect(&t, "quit 9");
    type(&t, "\003");
    expect(&t, "l0) ");
    type(&t, "print 6 * 7\n");
    expect(&t, "6 * 7 = 42");
    expect(&t, "l0) ");
    type(&t, "quit 5\n");
    assert_int_equal(terminal_close(&t), 5);
}

static void history_is_saved_between_sessions(void **state)
{
    char folder[] = "/tmp/lanewise-test-XXXXXX", path[256];
    struct terminal t;
    struct stat info;

    (void)state;
    assert_non_null(mkdtemp(folder));
    terminal_open(&t, "saxpy.s", folder);
    expect(&t, "l0) ");
    type(&t, "print 1234\n");
    expect(&t, "= 1234");
    expect(&t, "l0) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
    snprintf(path, sizeof path, "%s/lanewise/history", folder);
    assert_int_equal(stat(path, &info), 0);
    terminal_open(&t, "saxpy.s", folder);
    expect(&t, "l0) ");
    type(&t, "typed\n");
    expect(&t, "print 1234");
    expect(&t, "l0) ");
    type(&t, "\020\020\020\n"); /* goes three entries back in the history: typed, quit, print */
    expect(&t, "1234 = 1234");
    expect(&t, "l0) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
    unlink(path);
    snprintf(path, sizeof path, "%s/lanewise", folder);
    rmdir(path);
    rmdir(folder);
}

static void long_text_stops_at_each_page(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "saxpy.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "help\n");
    expect(&t, "-- any key: next page; a: show all; q: stop --");
    expect_silence(&t);
    type(&t, " ");
    expect(&t, "-- any key: next page; a: show all; q: stop --");
    type(&t, "q");
    expect(&t, "l0) ");
    type(&t, "help\n");
    expect(&t, "-- any key: next page");
    type(&t, "a");
    expect(&t, "apropos <word>");
    expect(&t, "l0) ");
    type(&t, "settings pages off\n");
    expect(&t, "l0) ");
    type(&t, "help\n");
    expect(&t, "apropos <word>");
    assert_null(strstr(t.text, "any key:"));
    expect(&t, "l0) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
}

static void lanes_are_dimmed_with_colours_on_a_terminal_only(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "diverge.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "tbreak 18\n");
    expect(&t, "l0) ");
    type(&t, "continue\n");
    expect(&t, "l1) ");
    type(&t, "wwatch v0\n");
    expect(&t, "\033[2m0\033[0m");
    expect(&t, "l1) ");
    type(&t, "settings colour off\n");
    expect(&t, "l1) ");
    type(&t, "stepi\n");
    expect(&t, "1: v0");
    expect(&t, "(0)");
    expect(&t, "l1) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
}

static void a_definition_is_read_line_by_line(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "saxpy.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "define go\n");
    expect(&t, "go> ");
    type(&t, "stepi $1\n");
    expect(&t, "go> ");
    type(&t, "echo {/x pc} there\n");
    expect(&t, "go> ");
    type(&t, "end\n");
    expect(&t, "l0) ");
    type(&t, "go 2\n");
    expect(&t, "0x100000020 there");
    expect(&t, "l0) ");
    type(&t, "\004");
    assert_int_equal(terminal_close(&t), 0);
}

static void control_c_ends_a_script(void **state)
{
    struct terminal t;

    (void)state;
    terminal_open(&t, "spin.s", "/dev/null/none");
    expect(&t, "l0) ");
    type(&t, "define go\n");
    expect(&t, "go> ");
    type(&t, "continue\n");
    expect(&t, "go> ");
    type(&t, "echo never {1 + 1}\n");
    expect(&t, "go> ");
    type(&t, "end\n");
    expect(&t, "l0) ");
    type(&t, "go\n");
    usleep(300000);
    type(&t, "\003");
    expect(&t, "error: go:1: interrupted: the remaining lines of the script were not run");
    assert_null(strstr(t.text, "never 2"));
    expect(&t, "l0) ");
    type(&t, "quit\n");
    assert_int_equal(terminal_close(&t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_is_found_by_its_name_and_its_abbreviation),
        cmocka_unit_test(completion_knows_commands_registers_functions_and_files),
        cmocka_unit_test(the_prompt_shows_the_focus_and_quit_its_status),
        cmocka_unit_test(an_empty_line_repeats_the_last_step),
        cmocka_unit_test(the_tabulator_completes),
        cmocka_unit_test(control_c_interrupts_a_run_and_the_shell_goes_on),
        cmocka_unit_test(control_c_at_the_prompt_drops_the_line),
        cmocka_unit_test(history_is_saved_between_sessions),
        cmocka_unit_test(long_text_stops_at_each_page),
        cmocka_unit_test(lanes_are_dimmed_with_colours_on_a_terminal_only),
        cmocka_unit_test(a_definition_is_read_line_by_line),
        cmocka_unit_test(control_c_ends_a_script),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
