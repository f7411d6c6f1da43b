/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, memory, and the documents that the stub serves: the target description, the thread list and the ELF. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "gdbstub/rsp_priv.h"

#include <stdlib.h>

/* ---- registers ------------------------------------------------------------------- */

enum lw_status rsp_thread_read(const struct rsp *rsp, dbg_thread_id id, unsigned number, uint8_t *data,
                               struct lw_error *err)
{
    if (id == 0 || (id != rsp->exited && rsp_resident(rsp, id))) {
        enum lw_status status = rsp_reg_read(&rsp->target, rsp->dbg, id, number, data, err);
        if (status == LW_OK && rsp->target.regs[number].role == RSP_ROLE_PC)
            lw_put64(data, rsp_arrivals_pc(rsp, id, lw_get64(data)));
        return status;
    }
    memset(data, 0, RSP_REG_BYTES);
    if (rsp->target.regs[number].role == RSP_ROLE_PC)
        lw_put64(data, id == rsp->exited && rsp->exited_past ? RSP_PAST_PC : RSP_EXITED_PC);
    else if (rsp->lldb && (number == rsp->target.arch->sp || number == rsp->target.arch->fp))
        lw_put64(data, UINT64_C(0xFA) << 56 | (RSP_EXITED_PC << 4)); /* address above all stacks: lldb concludes that
                                                                      * the step has left the frames */
    return LW_OK;
}

void rsp_do_regs_read(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    rsp_known_record(rsp, rsp_view(rsp));
    for (unsigned i = 0; i < rsp->target.mandatory; i++) {
        uint8_t data[RSP_REG_BYTES];
        struct lw_error err;

        if (rsp_thread_read(rsp, rsp_view(rsp), i, data, &err) != LW_OK) {
            lw_buffer_clear(&rsp->reply);
            rsp_put_error(&rsp->reply, err.text);
            return;
        }
        rsp_put_hex(&rsp->reply, data, rsp->target.regs[i].bytes);
    }
}

/* Handles a write of all mandatory registers. Only the pc is written, because the GPU does not have the other registers. */
void rsp_do_regs_write(struct rsp *rsp, const struct rsp_args *args)
{
    const char *text = args->rest, *end = text + args->rest_size;

    rsp_known_forget(rsp);
    for (unsigned i = 0; i < rsp->target.mandatory; i++) {
        const struct rsp_reg *reg = &rsp->target.regs[i];
        uint8_t data[RSP_REG_BYTES], old[RSP_REG_BYTES];
        struct lw_error err;

        if ((size_t)(end - text) < reg->bytes * 2 ||
            !rsp_hex_decode(text, reg->bytes * 2, data)) {
            lw_put(&rsp->reply.sink, "E01");
            return;
        }
        text += reg->bytes * 2;
        if (reg->role != RSP_ROLE_PC)
            continue;
        if (rsp_thread_read(rsp, rsp_view(rsp), i, old, &err) != LW_OK ||
            (memcmp(old, data, reg->bytes) != 0 &&
             rsp_reg_write(&rsp->target, rsp->dbg, rsp_view(rsp), i, data, &err) != LW_OK)) {
            rsp_put_error(&rsp->reply, err.text);
            return;
        }
    }
    rsp->threads_valid = false;
    lw_put(&rsp->reply.sink, "OK");
}

void rsp_do_reg_read(struct rsp *rsp, const struct rsp_args *args)
{
    uint8_t data[RSP_REG_BYTES];
    struct lw_error err;

    if (args->n[0] >= rsp->target.count) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    if (args->n[0] == rsp->target.arch->pc)
        rsp_known_record(rsp, rsp_view(rsp));
    if (rsp_thread_read(rsp, rsp_view(rsp), (unsigned)args->n[0], data, &err) != LW_OK)
        rsp_put_error(&rsp->reply, err.text);
    else
        rsp_put_hex(&rsp->reply, data, rsp->target.regs[args->n[0]].bytes);
    if (rsp->target.regs[args->n[0]].role == RSP_ROLE_DEBUG)
        rsp_arrivals_read(rsp, 0);
}

void rsp_do_reg_write(struct rsp *rsp, const struct rsp_args *args)
{
    uint8_t data[RSP_REG_BYTES];
    unsigned lane = dbg_lane_get(rsp->dbg, rsp_view(rsp));
    struct lw_error err;

    if (args->n[0] >= rsp->target.count ||
        args->rest_size != rsp->target.regs[args->n[0]].bytes * 2 ||
        !rsp_hex_decode(args->rest, args->rest_size, data)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    rsp->threads_valid = false; /* the thread list has the focus lane and the pc of each thread, which may change */
    rsp_chosen_written(rsp);
    rsp_known_forget(rsp);
    rsp->reported.id = 0;
    if (rsp_view_is_exited(rsp))
        rsp_put_error(&rsp->reply, "this warp has ended");
    else if (rsp_lldb_returns(rsp, (unsigned)args->n[0]))
        rsp_put_error(&rsp->reply, "this register cannot be written: a lane can leave a function only by its own "
                                   "instructions");
    else if (rsp_reg_write(&rsp->target, rsp->dbg, rsp_view(rsp), (unsigned)args->n[0],
                           data, &err) != LW_OK) {
        rsp_put_error(&rsp->reply, err.text);
    } else {
        /* lldb does not request the thread list after a stop that it shows. The lane that the user of lldb selects here is
         * therefore recorded as the lane that the user saw last. */
        if (rsp->lldb && lane != dbg_lane_get(rsp->dbg, rsp_view(rsp))) {
            rsp->shown_thread = rsp_view(rsp);
            rsp->shown_lane = dbg_lane_get(rsp->dbg, rsp_view(rsp));
        }
        lw_put(&rsp->reply.sink, "OK");
    }
}

/* ---- memory ----------------------------------------------------------------------- */

enum { PIECE_BYTES = 4096 };

static bool hidden(const struct rsp *rsp, uint64_t address)
{
    return address >> 56 >= 0xF0 && !rsp_has(rsp, RSP_F_WINDOWS);
}

/* Returns true for a range in <launch>, the pseudo-function that gdb shows as the caller of kernels. <launch> has no code, but
 * an aarch64 gdb uses the frame rules of <launch> only if it can read code there. */
static bool in_launch(uint64_t address, uint64_t size)
{
    return address < ISA_CODE_BASE && size <= ISA_CODE_BASE - address &&
           ISA_CODE_BASE - address <= 2 * ISA_WORD_BYTES;
}

/* Returns true if the address belongs to the memory of one block, warp or lane, and the client's thread has ended. Such reads
 * must fail, because they would show memory of another thread. */
static bool of_gone(const struct rsp *rsp, uint64_t address)
{
    return (address >> 56 >= 0xF0 || (address >= ISA_SHARED_BASE && address < ISA_CONST_BASE)) &&
           rsp_view_is_exited(rsp);
}

uint64_t rsp_mem_read(const struct rsp *rsp, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size)
{
    uint64_t got = hidden(rsp, address) ? 0 : dbg_mem_read(rsp->dbg, id, address, data, size);

    if (got == 0 && in_launch(address, size)) {
        memset(data, 0, size);
        got = size;
    }
    if (rsp->lldb && !hidden(rsp, address))
        got = rsp_lldb_line(rsp, id, address, data, size, got);
    if (rsp->lldb)
        rsp_lldb_memory(rsp, address, data, got);
    return got;
}

/* Reads up to @size bytes, and calls @piece for each 4 KiB of them; stops at the end of mapped memory. Returns the number
 * of bytes read. */
static uint64_t read_pieces(struct rsp *rsp, uint64_t address, uint64_t size,
                            void (*piece)(void *context, const uint8_t *data, size_t size),
                            void *context)
{
    uint64_t done = 0;

    rsp_arrivals_read(rsp, address);
    while (done < size && !of_gone(rsp, address)) {
        uint8_t data[PIECE_BYTES];
        uint64_t want = size - done < sizeof data ? size - done : sizeof data;
        uint64_t got = rsp_mem_read(rsp, rsp_view(rsp), address + done, data, want);

        if (got > want)
            got = want;
        piece(context, data, (size_t)got);
        done += got;
        if (got < want || address + done < address)
            break;
    }
    return done;
}

static void piece_hex(void *context, const uint8_t *data, size_t size)
{
    rsp_put_hex(context, data, size);
}

static void piece_binary(void *context, const uint8_t *data, size_t size)
{
    rsp_put_binary(context, data, size);
}

void rsp_do_mem_read(struct rsp *rsp, const struct rsp_args *args)
{
    uint64_t room = RSP_PACKET_BYTES / 2 - 16;
    uint64_t size = args->n[1] < room ? args->n[1] : room;

    if (read_pieces(rsp, args->n[0], size, piece_hex, &rsp->reply) == 0)
        lw_put(&rsp->reply.sink, "E01");
    else
        rsp_window_record(rsp, args->n[0], size);
}

/* Handles lldb's binary read. The reply consists of the bytes alone. With a length of 0 lldb queries whether the packet is
 * supported. */
void rsp_do_mem_read_binary(struct rsp *rsp, const struct rsp_args *args)
{
    uint64_t room = RSP_PACKET_BYTES / 2 - 16;
    uint64_t size = args->n[1] < room ? args->n[1] : room;

    if (size == 0)
        lw_put(&rsp->reply.sink, "OK");
    else if (read_pieces(rsp, args->n[0], size, piece_binary, &rsp->reply) == 0)
        lw_put(&rsp->reply.sink, "E01");
}

/* Returns true for a range below the lane's stack pointer, where the program stores nothing. To call a function of the
 * program, a debugger first writes to this range. If that write failed, the debugger would show no reason. The stub
 * therefore accepts and drops this write, and refuses the register writes that follow, with a reason. */
static bool is_below_stack(struct rsp *rsp, uint64_t address, size_t size)
{
    enum { STACK_WINDOW = 0xF4 };
    uint8_t data[RSP_REG_BYTES];
    uint64_t sp;

    if (address >> 56 != STACK_WINDOW ||
        rsp_thread_read(rsp, rsp_view(rsp), rsp->target.arch->sp, data, NULL) != LW_OK)
        return false;
    sp = lw_get64(data);
    return address >> 32 == sp >> 32 && address < sp && size <= sp - address;
}

/* Replies with an error and prints the reason on the terminal. gdb does not show it: gdb only says that it cannot access the
 * memory. */
static void refuse_write(struct rsp *rsp, uint64_t address)
{
    lw_put(&rsp->reply.sink, "E01");
    if (rsp->config.terminal != NULL)
        lw_printf(rsp->config.terminal, "gdb stub: cannot write at 0x%llx: %s\n", (unsigned long long)address,
                  dbg_mem_refusal(rsp->dbg, address));
}

static void mem_write(struct rsp *rsp, uint64_t address, const uint8_t *data, size_t size)
{
    rsp->threads_valid = false; /* a write in a debug address range may change values that the thread list shows */
    if (!hidden(rsp, address) && !of_gone(rsp, address) && is_below_stack(rsp, address, size))
        lw_put(&rsp->reply.sink, "OK");
    else if (hidden(rsp, address) || of_gone(rsp, address) ||
        (size != 0 && dbg_mem_write(rsp->dbg, rsp_view(rsp), address, data, size) != size))
        refuse_write(rsp, address);
    else
        lw_put(&rsp->reply.sink, "OK");
}

void rsp_do_mem_write(struct rsp *rsp, const struct rsp_args *args)
{
    uint8_t *data = malloc(args->rest_size / 2 + 1);

    if (data == NULL || args->rest_size / 2 != args->n[1] ||
        !rsp_hex_decode(args->rest, args->rest_size, data))
        lw_put(&rsp->reply.sink, "E01");
    else
        mem_write(rsp, args->n[0], data, args->rest_size / 2);
    free(data);
}

void rsp_do_mem_write_binary(struct rsp *rsp, const struct rsp_args *args)
{
    if (args->rest_size != args->n[1])
        lw_put(&rsp->reply.sink, "E01");
    else
        mem_write(rsp, args->n[0], (const uint8_t *)args->rest, args->rest_size);
}

/* Adds bytes to gdb's CRC: polynomial 0x04c11db7, highest bit first, no final inversion. */
static void piece_crc(void *context, const uint8_t *data, size_t size)
{
    uint32_t *crc = context;

    for (size_t i = 0; i < size; i++) {
        *crc ^= (uint32_t)data[i] << 24;
        for (int bit = 0; bit < 8; bit++)
            *crc = *crc << 1 ^ (*crc >> 31 ? UINT32_C(0x04c11db7) : 0);
    }
}

void rsp_do_crc(struct rsp *rsp, const struct rsp_args *args)
{
    uint32_t crc = UINT32_MAX;

    if (args->n[1] > RSP_SEARCH_BYTES ||
        read_pieces(rsp, args->n[0], args->n[1], piece_crc, &crc) != args->n[1])
        lw_put(&rsp->reply.sink, "E01");
    else
        lw_printf(&rsp->reply.sink, "C%08x", crc);
}

void rsp_do_search(struct rsp *rsp, const struct rsp_args *args)
{
    uint64_t address = args->n[0], size = args->n[1], done = 0;
    size_t pattern = args->rest_size, kept = 0;
    uint8_t *window;

    if (pattern == 0 || pattern > PIECE_BYTES || size > RSP_SEARCH_BYTES) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    window = malloc(PIECE_BYTES * 2);
    if (window == NULL) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    while (done < size && !of_gone(rsp, address)) {
        uint64_t want = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        uint64_t got = rsp_mem_read(rsp, rsp_view(rsp), address + done, window + kept,
                                    want);
        const uint8_t *hit;

        if (got > want)
            got = want;
        hit = memmem(window, kept + (size_t)got, args->rest, pattern);
        if (hit != NULL) {
            lw_printf(&rsp->reply.sink, "1,%llx",
                      (unsigned long long)(address + done - kept +
                                           (uint64_t)(hit - window)));
            free(window);
            return;
        }
        if (got < want)
            break;
        done += got;
        /* Keeps the last bytes, because a match may begin in this piece and end in the next one. */
        kept += (size_t)got;
        if (kept > pattern - 1) {
            memmove(window, window + kept - (pattern - 1), pattern - 1);
            kept = pattern - 1;
        }
    }
    free(window);
    lw_put(&rsp->reply.sink, "0");
}

/* ---- qXfer --------------------------------------------------------------------------- */

void rsp_put_piece(struct rsp *rsp, const char *data, size_t size, uint64_t offset,
                   uint64_t length)
{
    uint64_t left, n;

    if (offset > size) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    left = size - offset;
    n = length < left ? length : left;
    if (n > RSP_PACKET_BYTES / 2 - 16)
        n = RSP_PACKET_BYTES / 2 - 16;
    lw_put(&rsp->reply.sink, n < left ? "m" : "l");
    rsp_put_binary(&rsp->reply, data + offset, (size_t)n);
}

void rsp_do_features_read(struct rsp *rsp, const struct rsp_args *args)
{
    if (args->rest_size != 10 || memcmp(args->rest, "target.xml", 10) != 0) {
        lw_put(&rsp->reply.sink, "E00"); /* the target description has no other document */
        return;
    }
    rsp_put_piece(rsp, rsp->target.xml.text, rsp->target.xml.size, args->n[0], args->n[1]);
}

void rsp_do_exec_file_read(struct rsp *rsp, const struct rsp_args *args)
{
    uint64_t pid;
    const char *p = args->rest, *end = args->rest + args->rest_size;

    /* The annex is empty or a process id, which does not matter, because there is only one process. */
    if (p != end && (!rsp_hex_number(&p, end, &pid) || p != end)) {
        lw_put(&rsp->reply.sink, "E00");
        return;
    }
    rsp_put_piece(rsp, rsp->elf_name, strlen(rsp->elf_name), args->n[0], args->n[1]);
}

void rsp_put_xml(struct lw_sink *out, const char *text, size_t size)
{
    size_t from = 0;

    for (size_t i = 0; i < size; i++) {
        const char *entity = text[i] == '<'    ? "&lt;"
                             : text[i] == '>'  ? "&gt;"
                             : text[i] == '&'  ? "&amp;"
                             : text[i] == '"'  ? "&quot;"
                             : text[i] == '\n' ? " "
                                               : NULL;

        if (entity == NULL)
            continue;
        out->write(out, text + from, i - from);
        lw_put(out, entity);
        from = i + 1;
    }
    out->write(out, text + from, size - from);
}

/* Greatest numbers of listed threads for which the thread list has states, and for which it has names. gdb reads the whole list
 * at each stop. With thousands of warps this takes most of the time of a stop, a third of it for states and a third for names.
 * The two threads in focus always have both states and names. */
enum { THREADS_WITH_STATES = 512, THREADS_WITH_NAMES = 2048 };

static void listed_add(struct rsp *rsp, dbg_thread_id id)
{
    if (lw_grow(&rsp->listed, &rsp->listed_capacity, rsp->listed_count + 1, sizeof *rsp->listed))
        rsp->listed[rsp->listed_count++] = id;
    else
        rsp->numbers_lost = true;
}

static void threads_build(struct rsp *rsp)
{
    struct lw_sink *xml = &rsp->threads.sink;
    unsigned count = !rsp_has_process(rsp) ? 0 : dbg_thread_count(rsp->dbg);
    unsigned resident = count, listed;
    struct lw_buffer text;

    rsp_listing_begin(rsp);
    if (rsp->some)
        count = (unsigned)rsp->wanted_count;
    listed = rsp->listing.limit != 0 && rsp->listing.limit < count ? rsp->listing.limit : count;
    rsp->listed_count = 0;
    lw_buffer_init(&text);
    lw_buffer_clear(&rsp->threads);
    lw_put(xml, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (unsigned i = 0; i < count; i++) {
        struct dbg_thread thread;
        bool in_focus;

        if (rsp->some ? !dbg_thread_get(rsp->dbg, rsp->wanted[i], &thread)
                      : !dbg_thread_at(rsp->dbg, i, &thread) || !rsp_thread_listed(rsp, i, &thread))
            continue;
        in_focus = thread.id == rsp->listing.focus[0] || thread.id == rsp->listing.focus[1];
        listed_add(rsp, thread.id);
        lw_printf(xml, "<thread id=\"%llx\"", (unsigned long long)thread.id);
        /* gdb/MI shows the attribute `core`. The attribute has the number of the block, because warps of a block share memory. */
        if (listed <= THREADS_WITH_STATES || in_focus)
            lw_printf(xml, " core=\"%llu\"", (unsigned long long)(thread.location.block & INT32_MAX));
        if ((listed > THREADS_WITH_NAMES && !in_focus) || !rsp_has(rsp, RSP_F_THREAD_NAMES)) {
            lw_put(xml, "/>\n");
            continue;
        }
        lw_buffer_clear(&text);
        dbg_thread_name(rsp->dbg, &thread, &text.sink);
        lw_put(xml, " name=\"");
        rsp_put_xml(xml, text.text, text.size);
        if (listed > THREADS_WITH_STATES && !in_focus) {
            lw_put(xml, "\"/>\n");
            continue;
        }
        lw_buffer_clear(&text);
        dbg_thread_state(rsp->dbg, &thread, &text.sink);
        if (i + 1 == count && resident > count) /* the list is incomplete, and `info threads` prints this thread last */
            lw_printf(&text.sink, "; %u more warp%s: monitor threads all", resident - count, resident - count == 1 ? "" : "s");
        lw_put(xml, "\">");
        rsp_put_xml(xml, text.text, text.size);
        lw_put(xml, "</thread>\n");
    }
    if (rsp->exited != 0) {
        lw_printf(xml, "<thread id=\"%llx\" name=\"ended\">state=exited</thread>\n",
                  (unsigned long long)rsp->exited);
        listed_add(rsp, rsp->exited);
    }
    lw_put(xml, "</threads>\n");
    lw_buffer_fini(&text);
    rsp->threads_valid = true;
}

void rsp_do_threads_read(struct rsp *rsp, const struct rsp_args *args)
{
    rsp->shown = rsp->chosen.listed = true;
    /* gdb reads the document in small pieces at every stop. The document is built when gdb requests its first piece. */
    if (args->n[0] == 0 && !rsp->threads_valid)
        threads_build(rsp);
    if (rsp->threads.text == NULL)
        threads_build(rsp);
    rsp_put_piece(rsp, rsp->threads.text, rsp->threads.size, args->n[0], args->n[1]);
    if (rsp->reply.size != 0 && rsp->reply.text[0] == 'l')
        rsp_numbers_list(rsp, rsp->listed, rsp->listed_count);
}

/* ---- vFile: the ELF, read-only --------------------------------------------------------- */

enum { FILEIO_ENOENT = 2, FILEIO_EBADF = 9, FILEIO_EROFS = 30, ELF_FD = 3 };

/* Returns the addresses at which the loader has placed the object's variables; NULL: they are not known. The caller frees
 * the array. */
static uint64_t *variable_addresses(const struct rsp *rsp, const struct isa_object *object)
{
    uint64_t *at;

    if (!rsp_has(rsp, RSP_F_VARIABLES))
        return NULL;
    at = calloc((size_t)object->variable_count + 1, sizeof *at);
    for (unsigned i = 0; at != NULL && i < object->variable_count; i++)
        if (!dbg_variable_address(rsp->dbg, object, i, &at[i])) {
            free(at);
            return NULL;
        }
    return at;
}

/* Sets the entry point in the ELF to the running kernel. gdb ends backtraces at the entry point, and at the first kernel of
 * the file. */
static void enter_running(struct rsp *rsp, const struct isa_object *object)
{
    dbg_thread_id id = rsp_focus(rsp);
    const struct isa_function *function = NULL;
    struct dbg_frame frame;
    unsigned first = 0;

    for (unsigned i = 0; dbg_frame_at(rsp->dbg, id, dbg_lane_get(rsp->dbg, id), i, &frame); i++)
        function = frame.function;
    while (first < object->function_count && !object->functions[first].kernel)
        first++;
    if (function != NULL && function->kernel && first < object->function_count &&
        function->first != object->functions[first].first)
        lw_put64(rsp->elf + 24, dbg_code_address(rsp->dbg, object) + (uint64_t)function->first * ISA_WORD_BYTES);
}

/* Removes a variable's location if the location has no value for a piece of the variable. To do so, reduces the location's
 * expression to that missing piece. */
static void require_all_pieces(const struct isa_debug *debug, struct isa_var_location *location)
{
    struct isa_piece piece = {0};
    uint32_t from = 0, to = 0;

    if (location->kind != ISA_LOCATION_EXPRESSION)
        return;
    while (isa_expression_next(debug->expressions + location->value, location->variable, &to, NULL, &piece)) {
        if (piece.kind == ISA_PIECE_MISSING) {
            location->value += from;
            location->variable = to - from;
            return;
        }
        from = to;
    }
}

/* Writes the object as an ELF for the target architecture. If the target description has no floating-point registers, functions
 * with floating-point results are marked, so that the debugger does not look for these results. lldb shows a missing piece of a
 * variable as zeros, so the ELF for lldb has no location for such a variable. */
static enum lw_status write_elf(struct rsp *rsp, const struct isa_object *object,
                                const uint64_t *variables, struct lw_error *err)
{
    struct isa_object served = *object;
    struct isa_debug debug;
    enum lw_status status;

    served.text_address = dbg_code_address(rsp->dbg, object);
    if (object->debug == NULL)
        return isa_object_write_loaded(&served, variables, &rsp->elf, &rsp->elf_size, err);
    debug = *object->debug;
    served.debug = &debug;
    debug.attrs = malloc((size_t)debug.attr_count * sizeof *debug.attrs + 1);
    debug.locations = malloc((size_t)debug.location_count * sizeof *debug.locations + 1);
    if (debug.attrs == NULL || debug.locations == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the program's types");
    } else {
        for (uint32_t i = 0; i < debug.attr_count; i++) {
            debug.attrs[i] = object->debug->attrs[i];
            if (debug.attrs[i].name == ISA_AT_CALLING_CONVENTION &&
                debug.attrs[i].value == ISA_CC_REALS)
                debug.attrs[i].value = rsp->target.arch->reals ? ISA_CC_NORMAL : ISA_CC_NOCALL;
        }
        for (uint32_t i = 0; i < debug.location_count; i++) {
            debug.locations[i] = object->debug->locations[i];
            if (rsp->lldb)
                require_all_pieces(&debug, &debug.locations[i]);
        }
        status = isa_object_write_loaded(&served, variables, &rsp->elf, &rsp->elf_size, err);
    }
    free(debug.attrs);
    free(debug.locations);
    return status;
}

enum lw_status rsp_elf_init(struct rsp *rsp, struct lw_error *err)
{
    const struct isa_object *object = rsp->config.object;
    const char *name = "kernel", *slash;
    size_t at = 0;
    enum lw_status status;
    uint64_t *variables;

    if (object == NULL)
        return LW_OK;
    variables = variable_addresses(rsp, object);
    status = write_elf(rsp, object, variables, err);
    free(variables);
    if (status != LW_OK)
        return status;
    if (rsp->elf_size < 52)
        return LW_FAIL(err, LW_EFORMAT, "the object's ELF has only %zu bytes", rsp->elf_size);
    /* For an e_machine that gdb does not know, gdb assumes 32-bit pointers, which truncate debug addresses. */
    if (rsp_has(rsp, RSP_F_TARGET_ARCH)) {
        rsp->elf[18] = (uint8_t)rsp->target.arch->elf_machine;
        rsp->elf[19] = (uint8_t)(rsp->target.arch->elf_machine >> 8);
        memset(rsp->elf + 48, 0, 4);
    }
    enter_running(rsp, object);
    if (object->file_count > 1 && object->files[1] != NULL && object->files[1][0] != '\0')
        name = object->files[1];
    slash = strrchr(name, '/');
    if (slash != NULL)
        name = slash + 1;
    /* gdb requires an absolute file name. */
    memcpy(rsp->elf_name, "/lanewise/", 10);
    at = 10;
    for (; *name != '\0' && at < sizeof rsp->elf_name - 5; name++) {
        char c = *name;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                     (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';

        rsp->elf_name[at++] = plain ? c : '_';
    }
    memcpy(rsp->elf_name + at, ".lwo", 5);
    return LW_OK;
}

static void drop(struct lw_sink *sink, const char *text, size_t size)
{
    (void)sink, (void)text, (void)size;
}

enum lw_status rsp_program_write(const struct rsp_config *config, const char *path, bool any,
                                 struct lw_error *err)
{
    struct lw_sink nowhere = {drop};
    struct rsp *rsp = NULL;
    enum lw_status status = rsp_create(config, &nowhere, &rsp, err);

    if (status != LW_OK)
        return status;
    if (any && rsp->elf != NULL)
        rsp_lldb_text(rsp, rsp->elf, rsp->elf_size);
    if (rsp->elf == NULL)
        status = LW_FAIL(err, LW_ESTATE, "no program is loaded");
    else
        status = lw_file_write(path, rsp->elf, rsp->elf_size, err);
    rsp_destroy(rsp);
    return status;
}

void rsp_do_file_setfs(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    lw_put(&rsp->reply.sink, "F0");
}

void rsp_do_file_open(struct rsp *rsp, const struct rsp_args *args)
{
    /* The operands are "NAME,FLAGS,MODE", all in hex. */
    const char *comma = memchr(args->rest, ',', args->rest_size);
    size_t size = comma != NULL ? (size_t)(comma - args->rest) : args->rest_size;
    char name[RSP_NAME_BYTES];
    const char *p, *end = args->rest + args->rest_size;
    uint64_t flags, mode;

    if (comma == NULL) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    p = comma + 1;
    if (!rsp_hex_number(&p, end, &flags) || p == end || *p++ != ',' ||
        !rsp_hex_number(&p, end, &mode) || p != end) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    if (rsp->elf == NULL || size / 2 >= sizeof name ||
        !rsp_hex_decode(args->rest, size, (uint8_t *)name) ||
        size / 2 != strlen(rsp->elf_name) ||
        memcmp(name, rsp->elf_name, size / 2) != 0)
        lw_printf(&rsp->reply.sink, "F-1,%x", FILEIO_ENOENT);
    else if (flags != 0)
        lw_printf(&rsp->reply.sink, "F-1,%x", FILEIO_EROFS);
    else
        lw_printf(&rsp->reply.sink, "F%x", ELF_FD);
}

static void put_big_endian(uint8_t *out, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static bool bad_descriptor(struct rsp *rsp, const struct rsp_args *args)
{
    if (rsp->elf != NULL && args->n[0] == ELF_FD)
        return false;
    lw_printf(&rsp->reply.sink, "F-1,%x", FILEIO_EBADF);
    return true;
}

void rsp_do_file_fstat(struct rsp *rsp, const struct rsp_args *args)
{
    uint8_t st[64] = {0}; /* struct stat as gdb's protocol defines it: 64 bytes, numbers are big-endian */

    if (bad_descriptor(rsp, args))
        return;
    put_big_endian(st + 8, 4, 0100444);             /* st_mode: a read-only regular file */
    put_big_endian(st + 12, 4, 1);                  /* st_nlink */
    put_big_endian(st + 28, 8, rsp->elf_size);      /* st_size */
    put_big_endian(st + 36, 8, 4096);               /* st_blksize */
    put_big_endian(st + 44, 8, (rsp->elf_size + 511) / 512);
    lw_printf(&rsp->reply.sink, "F%zx;", sizeof st);
    rsp_put_binary(&rsp->reply, st, sizeof st);
}

void rsp_do_file_pread(struct rsp *rsp, const struct rsp_args *args)
{
    uint64_t size = args->n[1], offset = args->n[2];

    if (bad_descriptor(rsp, args))
        return;
    if (offset > rsp->elf_size)
        offset = rsp->elf_size;
    if (size > rsp->elf_size - offset)
        size = rsp->elf_size - offset;
    if (size > RSP_PACKET_BYTES / 2 - 32) /* half a packet, because escapes may double the size */
        size = RSP_PACKET_BYTES / 2 - 32;
    lw_printf(&rsp->reply.sink, "F%llx;", (unsigned long long)size);
    rsp_put_binary(&rsp->reply, rsp->elf + offset, (size_t)size);
}

void rsp_do_file_close(struct rsp *rsp, const struct rsp_args *args)
{
    if (!bad_descriptor(rsp, args))
        lw_put(&rsp->reply.sink, "F0");
}

void rsp_window_record(struct rsp *rsp, uint64_t address, uint64_t size)
{
    size_t at = 0;

    if (!rsp->target.arch->watch_low || address < ISA_SHARED_BASE)
        return;
    for (size_t i = 0; i < LW_COUNT_OF(rsp->windows); i++) {
        if (rsp->windows[i].address == address && rsp->windows[i].size == size) {
            at = i;
            break;
        }
        if (rsp->windows[i].time < rsp->windows[at].time)
            at = i;
    }
    rsp->windows[at].address = address;
    rsp->windows[at].size = size;
    rsp->windows[at].time = ++rsp->window_time;
}
