/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the reply to each packet is for the thread that the packet names, whatever monitor commands run between
 * packets. The stub runs with a real machine. The client chooses threads, packets and commands at random, and computes
 * each expected reply from the debugger core. */
#include "tests/debug/debug_fixture.h"
#include "tests/gdbstub/rsp_fixture.h"

enum { BLOCKS = 4, BLOCK_THREADS = 48, WARPS = 2 * BLOCKS, WIDTH = 32, ROUNDS = 600, SEEDS = 40 };

struct client {
    struct fix *f;
    struct fixture wire;
    uint64_t seed;
    dbg_thread_id general; /* thread of the last Hg or stop reply */
    struct known {
        bool read;
        uint64_t pc, retired;
        unsigned lane;
    } known[2 * WARPS + 2]; /* the values that the client has read since it last resumed */
    unsigned pc_reg, vector_reg;
    unsigned steps, moved, gone, writes; /* number of checks of each kind */
    char log[4096];
};

static unsigned pick(struct client *c, unsigned count)
{
    c->seed ^= c->seed << 13;
    c->seed ^= c->seed >> 7;
    c->seed ^= c->seed << 17;
    return (unsigned)(c->seed >> 11) % count;
}

static const char *ask(struct client *c, const char *packet)
{
    size_t used = strlen(c->log);

    if (used + strlen(packet) + 2 >= sizeof c->log) {
        memmove(c->log, c->log + sizeof c->log / 2, used - sizeof c->log / 2 + 1);
        used = strlen(c->log);
    }
    snprintf(c->log + used, sizeof c->log - used, " %.80s", packet);
    return fix_ask(&c->wire, packet);
}

#define EXPECT(c, true_, ...)                                         \
    do {                                                              \
        if (!(true_)) {                                               \
            print_error("after:%s\n", (c)->log);                      \
            fail_msg(__VA_ARGS__);                                    \
        }                                                             \
    } while (0)

static uint64_t little(const char *hex)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++) {
        unsigned byte = 0;

        (void)!sscanf(hex + 2 * i, "%2x", &byte);
        value |= (uint64_t)byte << 8 * i;
    }
    return value;
}

static bool there(struct client *c, dbg_thread_id id, struct dbg_thread *out)
{
    return id != 0 && dbg_thread_get(c->f->dbg, id, out);
}

static void has_read(struct client *c, dbg_thread_id id)
{
    struct dbg_thread t;

    if (id < LW_COUNT_OF(c->known) && there(c, id, &t))
        c->known[id] = (struct known){true, t.location.pc, t.retired, t.lane};
}

static bool believes_wrong(struct client *c, dbg_thread_id id)
{
    const struct known *known = &c->known[id];
    struct dbg_thread t;

    return known->read && (!there(c, id, &t) || t.location.pc != known->pc || t.retired != known->retired ||
                           t.lane != known->lane);
}

/* Copy the value of register v1 of a thread from the core to @row. */
static void row_of(struct client *c, dbg_thread_id id, uint32_t row[WIDTH])
{
    int reg = dbg_reg_find(c->f->dbg, "v1");

    memset(row, 0, 4 * WIDTH);
    (void)!dbg_reg_read(c->f->dbg, id, (unsigned)reg, row, 4 * WIDTH, NULL); /* an ended warp has no registers */
}

static void all_rows(struct client *c, uint32_t rows[2 * WARPS + 2][WIDTH])
{
    for (dbg_thread_id id = 1; id < 2 * WARPS + 2; id++)
        row_of(c, id, rows[id]);
}

static void select_thread(struct client *c)
{
    dbg_thread_id id = 1 + pick(c, 2 * WARPS);
    struct dbg_thread t;
    char packet[32];

    snprintf(packet, sizeof packet, "Hg%llx", (unsigned long long)id);
    EXPECT(c, strcmp(ask(c, packet), there(c, id, &t) ? "OK" : "E01") == 0, "Hg%llu: %s", (unsigned long long)id,
           c->wire.last.text);
    c->general = id;
}

static void read_registers(struct client *c)
{
    struct dbg_thread t;
    const char *reply = ask(c, "g");
    unsigned at = 0;
    uint64_t pc;

    /* rip follows 16 registers of 8 bytes */
    at = 16 * 16;
    EXPECT(c, strlen(reply) > at + 16, "g: %s", reply);
    pc = little(reply + at);
    EXPECT(c, pc == (there(c, c->general, &t) ? t.location.pc : DBG_LAUNCH_PC), "g of thread %llu has pc 0x%llx",
           (unsigned long long)c->general, (unsigned long long)pc);
    has_read(c, c->general);
}

static void read_row(struct client *c)
{
    uint32_t row[WIDTH];
    struct dbg_thread t;
    char packet[32];
    const char *reply;

    snprintf(packet, sizeof packet, "p%x", c->vector_reg);
    reply = ask(c, packet);
    row_of(c, c->general, row);
    EXPECT(c, there(c, c->general, &t) || strspn(reply, "0") == strlen(reply), "p of a thread that has ended: %s", reply);
    for (unsigned lane = 0; lane < WIDTH; lane += 2)
        EXPECT(c, little(reply + 8 * lane) == ((uint64_t)row[lane + 1] << 32 | row[lane]), "p of thread %llu, lane %u",
               (unsigned long long)c->general, lane);
}

static void read_memory(struct client *c)
{
    const char *reply = ask(c, "mf000000000000004,4"); /* the debug address of v1 of the thread's focus lane */
    struct dbg_thread t;
    uint32_t row[WIDTH];

    if (!there(c, c->general, &t)) {
        EXPECT(c, reply[0] == 'E', "m of a thread that has ended: %s", reply);
        c->gone++;
        return;
    }
    row_of(c, c->general, row);
    EXPECT(c, (uint32_t)little(reply) == row[t.lane], "m of thread %llu: %s, not %08x", (unsigned long long)c->general,
           reply, row[t.lane]);
}

/* Write v1 with packet P or M, and check that only the register of this thread changes. */
static void write_row(struct client *c, bool memory)
{
    static uint32_t before[2 * WARPS + 2][WIDTH], after[2 * WARPS + 2][WIDTH];
    struct dbg_thread t = {0};
    bool alive = there(c, c->general, &t);
    uint32_t value = 0x1000 + pick(c, 4096);
    char packet[64 + 8 * WIDTH];
    size_t used;
    const char *reply;

    all_rows(c, before);
    if (memory) {
        snprintf(packet, sizeof packet, "Mf000000000000004,4:%08x", __builtin_bswap32(value));
    } else {
        used = (size_t)snprintf(packet, sizeof packet, "P%x=", c->vector_reg);
        for (unsigned lane = 0; lane < WIDTH; lane++)
            used += (size_t)snprintf(packet + used, sizeof packet - used, "%08x",
                                     __builtin_bswap32(lane == t.lane ? value : before[c->general][lane]));
        memset(c->known, 0, sizeof c->known); /* gdb reads all registers again after this packet. */
    }
    reply = ask(c, packet);
    all_rows(c, after);
    EXPECT(c, alive ? strcmp(reply, "OK") == 0 : reply[0] == 'E', "a write to thread %llu: %s",
           (unsigned long long)c->general, reply);
    for (dbg_thread_id id = 1; id < 2 * WARPS + 2; id++)
        for (unsigned lane = 0; lane < WIDTH; lane++)
            EXPECT(c, after[id][lane] == (alive && id == c->general && lane == t.lane ? value : before[id][lane]),
                   "a write to thread %llu changed lane %u of thread %llu", (unsigned long long)c->general, lane,
                   (unsigned long long)id);
    c->writes++;
}

/* Make the thread of a stop reply the client's thread. Return false if the reply names no thread. */
static bool stopped(struct client *c, const char *reply)
{
    const char *thread = strstr(reply, "thread:");
    unsigned long long id;

    memset(c->known, 0, sizeof c->known);
    if (reply[0] != 'T' || thread == NULL || sscanf(thread, "thread:%llx", &id) != 1)
        return false;
    c->general = id;
    has_read(c, id);
    return true;
}

static uint64_t retired_by_others(struct client *c, dbg_thread_id id)
{
    struct dbg_thread t;
    uint64_t sum = 0;

    for (unsigned i = 0; dbg_thread_at(c->f->dbg, i, &t); i++)
        if (t.id != id)
            sum += t.retired;
    return sum;
}

/* Return true if the stop of a step may name another warp: other warps may have run, or the step ended its warp. */
static bool may_be_another(struct client *c, dbg_thread_id id, unsigned form)
{
    const struct dbg_stop *last = dbg_last_stop(c->f->dbg);
    struct dbg_thread t;

    return form != 0 && form != 2 && (!there(c, id, &t) || (last->kind != DBG_STOP_STEP && last->thread != id));
}

static void step_thread(struct client *c)
{
    static const char *const forms[] = {"vCont;s:%llx", "vCont;s:%llx;c", "vCont;r100000000,100000020:%llx",
                                        "vCont;r100000000,100000020:%llx;c", "Hc%llx", "Hc%llx"};
    unsigned form = pick(c, LW_COUNT_OF(forms));
    dbg_thread_id id = pick(c, 3) != 0 && c->general != 0 ? c->general : 1 + pick(c, 2 * WARPS);
    struct emu_history_info before, after;
    struct dbg_thread t;
    bool alive = there(c, id, &t), wrong = believes_wrong(c, id), back = form == 5;
    uint64_t others = retired_by_others(c, id);
    char packet[64];
    const char *reply;

    (void)!dbg_history_info(c->f->dbg, &before);
    snprintf(packet, sizeof packet, forms[form], (unsigned long long)id); /* a resume packet for thread @id */
    reply = ask(c, packet);
    if (form >= 4)
        reply = ask(c, back ? "bs" : "s");
    (void)!dbg_history_info(c->f->dbg, &after);
    if (dbg_ended(c->f->dbg)) {
        ask(c, "qRcmd,676f746f207374617274"); /* goto start */
        memset(c->known, 0, sizeof c->known);
        return;
    }
    if (!alive && form >= 4) {
        EXPECT(c, reply[0] == 'E' && after.now == before.now, "a step of a thread that has ended: %s", reply);
        return;
    }
    if (!alive || wrong) {
        EXPECT(c, after.now == before.now, "%s executed an instruction, which it must not", packet);
        c->moved += alive;
        c->gone += !alive;
    }
    if (alive)
        EXPECT(c, strstr(reply, "thread:") != NULL &&
                      (strtoull(strstr(reply, "thread:") + 7, NULL, 16) == id || may_be_another(c, id, form)),
               "%s is answered by %s", packet, reply);
    /* In the past, recorded instructions are executed again in their recorded order. */
    if (alive && !wrong && !back && !before.in_past && (form == 0 || form == 2))
        EXPECT(c, retired_by_others(c, id) == others, "%s let others run", packet);
    stopped(c, reply);
    c->steps++;
}

static void run_all(struct client *c)
{
    const char *reply = ask(c, pick(c, 2) == 0 ? "vCont;c" : "bc");

    if (dbg_ended(c->f->dbg)) {
        ask(c, "qRcmd,676f746f207374617274");
        reply = "";
    }
    stopped(c, reply);
}

static void command(struct client *c)
{
    static const char *const lines[] = {
        "block 0,0,0", "block 1,0,0", "block 2,0,0", "block 3,0,0", "block 9,0,0", "warp 0", "warp 1", "lane 3", "lane 0",
        "lane 99", "focus 1", "focus 3 5", "focus 6", "thread 8 1", "stepi", "stepi 5", "next", "step", "finish", "sw 3",
        "sb 2", "until", "advance +1", "reverse-stepi", "rs", "rn 2", "rc", "goto 10", "goto 200", "goto start",
        "goto 99999999", "mark a", "goto a", "wrote v1", "origin v1", "print v1", "plane v1", "set v1 = 7",
        "set lane = 2", "warps", "lanes", "splits", "info threads", "up", "where", "frame 0", "catch exit",
        "catch barrier", "delete", "display v1", "watch v1", "break +2", "nonsense"};
    const char *line = lines[pick(c, LW_COUNT_OF(lines))];
    char packet[128];
    size_t used = (size_t)snprintf(packet, sizeof packet, "qRcmd,");

    for (const char *p = line; *p != '\0'; p++)
        used += (size_t)snprintf(packet + used, sizeof packet - used, "%02x", (unsigned char)*p);
    ask(c, packet);
    snprintf(c->log + strlen(c->log) - strlen(packet), strlen(packet) + 1, "[%.30s]", line);
    if (dbg_ended(c->f->dbg))
        ask(c, "qRcmd,676f746f207374617274");
}

/* Request the focus with the packet of gdb's Python file. The focus must be a live thread. */
static void ask_focus(struct client *c)
{
    const char *reply = ask(c, "qGpuShown:0");
    unsigned long long id = 0;
    struct dbg_thread t;
    char text[24] = "";

    for (size_t i = 0; i + 1 < strlen(reply) && i / 2 + 1 < sizeof text; i += 2) {
        unsigned byte = 0;

        (void)!sscanf(reply + i, "%2x", &byte);
        text[i / 2] = (char)byte;
    }
    EXPECT(c, sscanf(text, "%llx", &id) == 1 && (id == 0 || there(c, id, &t)), "qGpuShown: %s", reply);
}

static unsigned register_number(struct client *c, const char *name)
{
    char key[64];
    const char *xml, *at;
    unsigned number = 0;

    xml = ask(c, "qXfer:features:read:target.xml:0,ffff");
    snprintf(key, sizeof key, "<reg name=\"%s\"", name);
    at = strstr(xml, key);
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "regnum=\""), "regnum=\"%u\"", &number), 1);
    return number;
}

static void one(uint64_t seed, unsigned sums[4])
{
    struct fix *f = fix_open("diverge.s", WIDTH, BLOCKS, BLOCK_THREADS, 2);
    struct rsp_config config = {.arch = RSP_X86_64, .dbg = f->dbg, .monitor = &f->set, .object = f->object};
    struct client c = {.f = f, .seed = seed * 0x9e3779b97f4a7c15u + 1};
    struct lw_error err = {0};

    lw_buffer_init(&c.wire.out);
    lw_buffer_init(&c.wire.last);
    lw_buffer_init(&c.wire.console);
    c.wire.dbg = f->dbg;
    if (dbg_history_start(f->dbg, 0, NULL, NULL, NULL, &err) != LW_OK ||
        rsp_create(&config, &c.wire.out.sink, &c.wire.rsp, &err) != LW_OK)
        fail_msg("%s", err.text);
    ask(&c, "qSupported:swbreak+;no-resumed+");
    c.vector_reg = register_number(&c, "v1");
    stopped(&c, ask(&c, "?"));
    for (unsigned i = 0; i < ROUNDS; i++)
        switch (pick(&c, 11)) {
        case 0:
        case 1: select_thread(&c); break;
        case 2: read_registers(&c); break;
        case 3: read_row(&c); break;
        case 4: read_memory(&c); break;
        case 5: write_row(&c, pick(&c, 2) == 0); break;
        case 6: step_thread(&c); break;
        case 7:
            if (pick(&c, 8) == 0)
                run_all(&c);
            break;
        case 8: ask_focus(&c); break;
        default: command(&c); break;
        }
    sums[0] += c.steps;
    sums[1] += c.moved;
    sums[2] += c.gone;
    sums[3] += c.writes;
    rsp_destroy(c.wire.rsp);
    lw_buffer_fini(&c.wire.out);
    lw_buffer_fini(&c.wire.last);
    lw_buffer_fini(&c.wire.console);
    fix_close(f);
}

static void packets_are_answered_for_the_thread_that_they_name(void **state)
{
    const char *set = getenv("LW_SEED");
    uint64_t first = set != NULL ? strtoull(set, NULL, 0) : 1;
    unsigned sums[4] = {0};

    (void)state;
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        print_message("LW_SEED=%llu\n", (unsigned long long)seed);
        one(seed, sums);
    }
    for (unsigned i = 0; i < LW_COUNT_OF(sums); i++)
        assert_true(sums[i] > SEEDS / 2); /* each kind of check was executed often enough */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_answered_for_the_thread_that_they_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
