/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet table. Each row describes one packet: its name, how the name is matched, a schema of its arguments, the
 * handler, and the feature to which it belongs. No other part of the stub uses the names of packets. A packet without a
 * row gets the empty reply, which means that it is not supported.
 */
#include "gdbstub/rsp_priv.h"

#include <stdlib.h>

enum match { EXACT, PREFIX };

/**
 * A row of the packet table. The schema describes the text after the name, character by character:
 *   x  a hex number of up to 16 digits; it is stored in the next member of rsp_args.n
 *   t  a thread id, which is a hex number or -1; stored like x, and -1 is stored as UINT64_MAX ("all threads")
 *   a  an annex, which is the text before the next colon; rsp_args.rest refers to it
 *   *  the rest of the packet; rsp_args.rest refers to it
 *   ?  the packet may end here
 *   Any other character matches itself.
 */
struct packet {
    const char *name;
    enum match match;
    const char *schema;
    void (*run)(struct rsp *rsp, const struct rsp_args *args);
    enum rsp_feature feature; /* the packet exists only with this feature */
};

/* Value of @feature for packets that belong to no feature, and so always exist. */
#define ALWAYS RSP_FEATURE_COUNT

static void ok(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    lw_put(&rsp->reply.sink, "OK");
}

static void do_no_ack(struct rsp *rsp, const struct rsp_args *args)
{
    ok(rsp, args);
    rsp->no_ack_next = true; /* the reply to this packet is still acknowledged */
}

static void do_threads_next(struct rsp *rsp, const struct rsp_args *args)
{
    enum { PER_PACKET = 256 };
    struct dbg_thread thread;
    size_t n = 0;

    (void)args;
    rsp->chosen.listed = true;
    while (n < PER_PACKET && rsp_has_process(rsp) &&
           dbg_thread_at(rsp->dbg, (unsigned)rsp->thread_cursor, &thread)) {
        if (!rsp_thread_listed(rsp, (unsigned)rsp->thread_cursor++, &thread))
            continue;
        lw_printf(&rsp->reply.sink, "%s%llx", n == 0 ? "m" : ",",
                  (unsigned long long)thread.id);
        n++;
    }
    if (n == 0 && rsp->lldb && rsp->exited != 0 && !rsp->exited_listed) {
        rsp->exited_listed = true;
        lw_printf(&rsp->reply.sink, "m%llx", (unsigned long long)rsp->exited);
        n++;
    }
    if (n == 0)
        lw_put(&rsp->reply.sink, "l");
}

static void do_threads_first(struct rsp *rsp, const struct rsp_args *args)
{
    rsp->shown = rsp->chosen.listed = true;
    rsp->thread_cursor = 0;
    rsp->exited_listed = false;
    rsp_listing_begin(rsp);
    do_threads_next(rsp, args);
}

static void do_thread_extra(struct rsp *rsp, const struct rsp_args *args)
{
    struct dbg_thread thread;
    struct lw_buffer text;

    if (!dbg_thread_get(rsp->dbg, args->n[0], &thread)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    lw_buffer_init(&text);
    dbg_thread_name(rsp->dbg, &thread, &text.sink);
    lw_put(&text.sink, " ");
    dbg_thread_state(rsp->dbg, &thread, &text.sink);
    rsp_put_hex(&rsp->reply, text.text, text.size);
    lw_buffer_fini(&text);
}

/* Defines the handlers of the Z and z packet of a stoppoint type; the type is a digit of the packet's name. */
#define POINT_HANDLERS(type)                                                              \
    static void do_point_add_##type(struct rsp *rsp, const struct rsp_args *args)         \
    {                                                                                     \
        rsp_do_point_add(rsp, args, type);                                                \
    }                                                                                     \
    static void do_point_remove_##type(struct rsp *rsp, const struct rsp_args *args)      \
    {                                                                                     \
        rsp_do_point_remove(rsp, args, type);                                             \
    }
POINT_HANDLERS(0)
POINT_HANDLERS(1)
POINT_HANDLERS(2)
POINT_HANDLERS(3)
POINT_HANDLERS(4)

/* clang-format off */
static const struct packet packets[] = {
    /* name                          match   schema      handler                  feature */
    {"qSupported",                   PREFIX, "*",        rsp_do_supported,        ALWAYS},
    {"QStartNoAckMode",              EXACT,  "",         do_no_ack,               RSP_F_NO_ACK},
    {"?",                            EXACT,  "",         rsp_do_why,              ALWAYS},
    {"g",                            EXACT,  "",         rsp_do_regs_read,        ALWAYS},
    {"G",                            PREFIX, "*",        rsp_do_regs_write,       RSP_F_REG_WRITE},
    {"p",                            PREFIX, "x",        rsp_do_reg_read,         ALWAYS},
    {"P",                            PREFIX, "x=*",      rsp_do_reg_write,        RSP_F_REG_WRITE},
    {"m",                            PREFIX, "x,x",      rsp_do_mem_read,         RSP_F_MEM_READ},
    {"x",                            PREFIX, "x,x",      rsp_do_mem_read_binary,  RSP_F_MEM_READ},
    {"M",                            PREFIX, "x,x:*",    rsp_do_mem_write,        RSP_F_MEM_WRITE},
    {"X",                            PREFIX, "x,x:*",    rsp_do_mem_write_binary, RSP_F_MEM_WRITE},
    {"Hg",                           PREFIX, "t",        rsp_do_thread_view,      ALWAYS},
    {"Hc",                           PREFIX, "t",        rsp_do_thread_run,       ALWAYS},
    {"T",                            PREFIX, "t",        rsp_do_thread_alive,     ALWAYS},
    {"qC",                           EXACT,  "",         rsp_do_current,          ALWAYS},
    {"qfThreadInfo",                 EXACT,  "",         do_threads_first,        RSP_F_THREADS},
    {"qsThreadInfo",                 EXACT,  "",         do_threads_next,         RSP_F_THREADS},
    {"qThreadExtraInfo,",            PREFIX, "t",        do_thread_extra,         RSP_F_THREAD_NAMES},
    {"qXfer:features:read:",         PREFIX, "a:x,x",    rsp_do_features_read,    RSP_F_TARGET_XML},
    {"qXfer:threads:read:",          PREFIX, ":x,x",     rsp_do_threads_read,     RSP_F_THREAD_XML},
    {"qXfer:osdata:read:",           PREFIX, "a:x,x",    rsp_do_osdata_read,      RSP_F_OSDATA},
    {"qXfer:exec-file:read:",        PREFIX, "a:x,x",    rsp_do_exec_file_read,   RSP_F_EXEC_FILE},
    {"vFile:setfs:",                 PREFIX, "x",        rsp_do_file_setfs,       RSP_F_EXEC_FILE},
    {"vFile:open:",                  PREFIX, "*",        rsp_do_file_open,        RSP_F_EXEC_FILE},
    {"vFile:fstat:",                 PREFIX, "x",        rsp_do_file_fstat,       RSP_F_EXEC_FILE},
    {"vFile:pread:",                 PREFIX, "x,x,x",    rsp_do_file_pread,       RSP_F_EXEC_FILE},
    {"vFile:close:",                 PREFIX, "x",        rsp_do_file_close,       RSP_F_EXEC_FILE},
    {"Z0,",                          PREFIX, "x,x?*",    do_point_add_0,          RSP_F_BREAK},
    {"z0,",                          PREFIX, "x,x",      do_point_remove_0,       RSP_F_BREAK},
    {"Z1,",                          PREFIX, "x,x?*",    do_point_add_1,          RSP_F_HBREAK},
    {"z1,",                          PREFIX, "x,x",      do_point_remove_1,       RSP_F_HBREAK},
    {"Z2,",                          PREFIX, "x,x?*",    do_point_add_2,          RSP_F_WATCH},
    {"z2,",                          PREFIX, "x,x",      do_point_remove_2,       RSP_F_WATCH},
    {"Z3,",                          PREFIX, "x,x?*",    do_point_add_3,          RSP_F_RWATCH},
    {"z3,",                          PREFIX, "x,x",      do_point_remove_3,       RSP_F_RWATCH},
    {"Z4,",                          PREFIX, "x,x?*",    do_point_add_4,          RSP_F_RWATCH},
    {"z4,",                          PREFIX, "x,x",      do_point_remove_4,       RSP_F_RWATCH},
    {"vCont?",                       EXACT,  "",         rsp_do_vcont_query,      RSP_F_VCONT},
    {"vCont",                        PREFIX, "*",        rsp_do_vcont,            RSP_F_VCONT},
    {"c",                            PREFIX, "*",        rsp_do_continue,         ALWAYS},
    {"C",                            PREFIX, "*",        rsp_do_continue_signal,  ALWAYS},
    {"s",                            PREFIX, "*",        rsp_do_step,             ALWAYS},
    {"S",                            PREFIX, "*",        rsp_do_step_signal,      ALWAYS},
    {"bs",                           EXACT,  "",         rsp_do_reverse_step,        RSP_F_REVERSE},
    {"bc",                           EXACT,  "",         rsp_do_reverse_continue,    RSP_F_REVERSE},
    {"!",                            EXACT,  "",         rsp_do_extended,         RSP_F_RESTART},
    {"vRun;",                        PREFIX, "*",        rsp_do_run,              RSP_F_RESTART},
    {"vAttach;",                     PREFIX, "x",        rsp_do_attach,           RSP_F_RESTART},
    {"R",                            PREFIX, "x",        rsp_do_restart,          RSP_F_RESTART},
    {"qRcmd,",                       PREFIX, "*",        rsp_do_monitor,          RSP_F_MONITOR},
    {"qCRC:",                        PREFIX, "x,x",      rsp_do_crc,              RSP_F_CRC},
    {"qSearch:memory:",              PREFIX, "x;x;*",    rsp_do_search,           RSP_F_SEARCH},
    {"qGpuPy",                       EXACT,  "",         rsp_do_python,           RSP_F_PYTHON},
    {"qGpuAsk:",                     PREFIX, "x;*",      rsp_do_ask,              RSP_F_PYTHON},
    {"qGpuFocus:",                   PREFIX, "x;*",      rsp_do_focus,            RSP_F_PYTHON},
    {"qGpuShown:",                   PREFIX, "x",        rsp_do_shown,            RSP_F_PYTHON},
    {"qGpuDis:",                     PREFIX, "x,x",      rsp_do_disassemble,      RSP_F_DISASSEMBLE},
    {"qGpuBreakIf:",                 PREFIX, "?x;*",     rsp_do_break_if,         RSP_F_CONDITIONS},
    {"qGpuWatchIf:",                 PREFIX, "x,x,x;x?*",rsp_do_watch_if,         RSP_F_WATCH_IF},
    {"qGpuWatch:",                   PREFIX, "x;x,x,x",  rsp_do_watch_lane,              RSP_F_PYTHON},
    {"qGpuRenew",                    EXACT,  "",         rsp_do_renew,            RSP_F_RESTART},
    {"qAttached",                    PREFIX, "?:x",      rsp_do_attached,         ALWAYS},
    {"qHostInfo",                    EXACT,  "",         rsp_do_host_info,        RSP_F_LLDB},
    {"qProcessInfo",                 EXACT,  "",         rsp_do_process_info,     RSP_F_LLDB},
    {"QThreadSuffixSupported",       EXACT,  "",         rsp_do_thread_suffix,    RSP_F_LLDB},
    {"jThreadsInfo",                 EXACT,  "",         rsp_do_threads_info,     RSP_F_LLDB},
    {"qMemoryRegionInfo:",           PREFIX, "x",        rsp_do_region,           RSP_F_LLDB},
    {"qXfer:libraries:read:",        PREFIX, ":x,x",     rsp_do_libraries_read,   RSP_F_LLDB},
    {"D",                            PREFIX, "?;x",      rsp_do_detach,           RSP_F_DETACH},
    {"k",                            EXACT,  "",         rsp_do_kill,             RSP_F_KILL},
    {"vKill;",                       PREFIX, "x",        rsp_do_vkill,            RSP_F_KILL},
};
/* clang-format on */

static bool thread_id(const char **text, const char *end, uint64_t *out)
{
    if (end - *text >= 2 && (*text)[0] == '-' && (*text)[1] == '1') {
        *text += 2;
        *out = UINT64_MAX;
        return true;
    }
    return rsp_hex_number(text, end, out);
}

/* Parses arguments by the schema. Returns false if the text does not match the schema. */
static bool take_apart(const char *schema, const char *text, size_t size,
                       struct rsp_args *args)
{
    const char *p = text, *end = text + size;
    size_t n = 0;

    memset(args, 0, sizeof *args);
    args->rest = end;
    for (; *schema != '\0'; schema++) {
        switch (*schema) {
        case '?':
            if (p == end)
                return true;
            break;
        case '*':
            args->rest = p;
            args->rest_size = (size_t)(end - p);
            return true;
        case 'a':
            args->rest = p;
            while (p < end && *p != ':')
                p++;
            args->rest_size = (size_t)(p - args->rest);
            break;
        case 'x':
        case 't':
            if (n == LW_COUNT_OF(args->n) ||
                !(*schema == 't' ? thread_id : rsp_hex_number)(&p, end, &args->n[n]))
                return false;
            n++;
            break;
        default:
            if (p == end || *p++ != *schema)
                return false;
            break;
        }
    }
    return p == end;
}

static bool there(const struct rsp *rsp, const struct packet *packet)
{
    return packet->feature == ALWAYS || rsp_has(rsp, packet->feature);
}

/* Returns the row of the table that matches a packet, or NULL if none does. If several match, returns the row with the
 * longest name. */
static const struct packet *find(const struct rsp *rsp, const char *payload, size_t size,
                                 size_t *name_size)
{
    const struct packet *best = NULL;

    *name_size = 0;
    for (size_t i = 0; i < LW_COUNT_OF(packets); i++) {
        size_t length = strlen(packets[i].name);

        if (length > size || (packets[i].match == EXACT && length != size) ||
            memcmp(payload, packets[i].name, length) != 0 || !there(rsp, &packets[i]) ||
            (best != NULL && length <= *name_size))
            continue;
        best = &packets[i];
        *name_size = length;
    }
    return best;
}

void rsp_packet(struct rsp *rsp, const char *payload, size_t size)
{
    struct rsp_args args;
    size_t name_size;
    const struct packet *packet;
    dbg_thread_id before;
    bool gone;

    size = rsp_lldb_suffix(rsp, payload, size, &before, &gone);
    packet = find(rsp, payload, size, &name_size);

    if (rsp->end != RSP_RUNNING)
        return;
    lw_buffer_clear(&rsp->reply);
    rsp->chosen.was_listed = rsp->chosen.listed;
    if (rsp->chosen.listed)
        rsp->interrupt_pending = false;
    rsp->chosen.listed = false;
    if (packet == NULL) {
        rsp_lldb_restore(rsp, before);
        rsp_send(rsp, "", 0);
        return;
    }
    if (gone)
        rsp_put_error(&rsp->reply, "this thread does not exist: its warp has ended");
    else if (!take_apart(packet->schema, payload + name_size, size - name_size, &args))
        lw_put(&rsp->reply.sink, "E01");
    else
        packet->run(rsp, &args);
    rsp_lldb_restore(rsp, before);
    /* The protocol defines no reply to these two packets; lldb expects one to the kill packet. */
    if ((packet->run != rsp_do_kill || rsp->lldb) && packet->run != rsp_do_restart)
        rsp_send(rsp, rsp->reply.text, rsp->reply.size);
}

/* ---- a connection ---------------------------------------------------------------------- */

enum lw_status rsp_describe(struct rsp *rsp, struct lw_error *err)
{
    enum lw_status status;

    rsp_target_fini(&rsp->target);
    free(rsp->elf);
    rsp->elf = NULL;
    rsp->elf_size = 0;
    status = rsp_target_init(&rsp->target, rsp->config.arch, rsp->config.without, rsp->dbg, err);
    return status == LW_OK ? rsp_elf_init(rsp, err) : status;
}

enum lw_status rsp_create(const struct rsp_config *config, struct lw_sink *out,
                          struct rsp **result, struct lw_error *err)
{
    struct rsp *rsp = calloc(1, sizeof *rsp);
    enum lw_status status;

    if (rsp == NULL)
        return LW_FAIL(err, LW_ENOMEM, "gdb stub: the host has no memory for a connection");
    rsp->config = *config;
    rsp->config.without = rsp_features_without(config->without);
    rsp->dbg = config->dbg;
    rsp->out = out;
    rsp->ack = true;
    lw_buffer_init(&rsp->frame);
    lw_buffer_init(&rsp->reply);
    lw_buffer_init(&rsp->threads);
    lw_buffer_init(&rsp->osdata);
    rsp_messages_init(rsp);
    rsp->packet = malloc(RSP_PACKET_BYTES);
    if (rsp->packet == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "gdb stub: the host has no memory for packets");
        goto cleanup;
    }
    status = rsp_describe(rsp, err);
    if (status != LW_OK)
        goto cleanup;
    dbg_set_messages(rsp->dbg, &rsp->messages);
    *result = rsp;
    rsp = NULL; /* ownership has passed to the caller, so nothing is freed below */
cleanup:
    rsp_destroy(rsp);
    return status;
}

void rsp_destroy(struct rsp *rsp)
{
    if (rsp == NULL)
        return;
    rsp_listener_destroy(rsp->listener);
    rsp_points_clear(rsp);
    rsp_lldb_close(rsp);
    dbg_set_messages(rsp->dbg, NULL);
    rsp_target_fini(&rsp->target);
    lw_buffer_fini(&rsp->frame);
    lw_buffer_fini(&rsp->reply);
    lw_buffer_fini(&rsp->threads);
    lw_buffer_fini(&rsp->osdata);
    lw_buffer_fini(&rsp->note);
    rsp_tests_free(rsp);
    free(rsp->points);
    free(rsp->break_ifs);
    free(rsp->numbers);
    free(rsp->listed);
    free(rsp->wanted);
    free(rsp->known);
    free(rsp->arrivals);
    free(rsp->unset);
    free(rsp->packet);
    free(rsp->elf);
    free(rsp);
}

enum rsp_end rsp_ended(const struct rsp *rsp)
{
    return rsp->end;
}

void rsp_set_poll(struct rsp *rsp, bool (*interrupted)(void *context), void *context)
{
    rsp_listener_destroy(rsp->listener);
    rsp->listener = NULL;
    if (interrupted != NULL)
        rsp->listener_failed =
            rsp_listener_create(rsp->dbg, interrupted, context, &rsp->listener) != LW_OK;
}
