/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that lldb sends and gdb does not. For some packets that both send, lldb gets other replies than gdb (Source:
 * lldb's docs/resources/lldbgdbremote.md, and tests with lldb 19):
 *  - lldb reads the program from a file only, so the stub writes a file and reports it as a library;
 *  - lldb requests steps of one thread alone even if its user has not locked the other threads. Such a step would never
 *    end if the lane waits for other lanes, so the stub lets the other threads run.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* lldb is the only debugger whose qSupported packet lists arm under xmlRegisters. */
void rsp_lldb_supported(struct rsp *rsp, const char *features, size_t size)
{
    static const char registers[] = "xmlRegisters=i386,arm";
    struct lw_error err;

    rsp->lldb = rsp_has(rsp, RSP_F_LLDB) &&
                memmem(features, size, registers, sizeof registers - 1) != NULL;
    /* rsp_describe() builds the ELF again, because the locations of some variables differ for lldb. If it fails, the stub has
     * no program for lldb. */
    if (rsp->lldb && !rsp->config.has_file && rsp_describe(rsp, &err) == LW_OK && rsp->elf != NULL)
        lw_put(&rsp->reply.sink, ";qXfer:libraries:read+");
}

/* ---- recognition of lldb ------------------------------------------------------------ */

static void put_triple(struct rsp *rsp)
{
    const char *triple = rsp->target.arch->triple;

    lw_put(&rsp->reply.sink, "triple:");
    rsp_put_hex(&rsp->reply, triple, strlen(triple));
    lw_put(&rsp->reply.sink, ";endian:little;ptrsize:8;");
}

void rsp_do_host_info(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    put_triple(rsp);
}

void rsp_do_process_info(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    lw_put(&rsp->reply.sink, "pid:1;");
    put_triple(rsp);
}

/* Handles lldb's offer to append ";thread:ID;" to register packets. Memory packets name no thread, and refer to the
 * thread that stopped. */
void rsp_do_thread_suffix(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    rsp->thread_suffix = true;
    lw_put(&rsp->reply.sink, "OK");
}

size_t rsp_lldb_suffix(struct rsp *rsp, const char *payload, size_t size, dbg_thread_id *before,
                       bool *gone)
{
    static const char name[] = ";thread:";
    size_t at = size;
    const char *p;
    uint64_t id;

    *before = 0;
    *gone = false;
    if (!rsp->thread_suffix || size == 0 || payload[size - 1] != ';' ||
        strchr("gGpP", payload[0]) == NULL)
        return size;
    while (at > 0 && (size - at < sizeof name - 1 ||
                      memcmp(payload + at, name, sizeof name - 1) != 0))
        at--;
    p = payload + at + sizeof name - 1;
    if (at == 0 || !rsp_hex_number(&p, payload + size, &id) || p != payload + size - 1)
        return size;
    *gone = id != rsp->exited && !rsp_resident(rsp, id); /* without this check lldb would get registers of another
                                                          * warp */
    *before = rsp_view(rsp);
    rsp_view_set(rsp, id);
    return at;
}

void rsp_lldb_restore(struct rsp *rsp, dbg_thread_id before)
{
    if (before != 0)
        rsp_view_set(rsp, before);
    if (rsp->lldb && rsp_view_exited(rsp)) /* the view thread has ended: memory packets, which name no thread, then refer to
                                            * the warp in focus */
        rsp_view_set(rsp, rsp_focus(rsp));
}

/* Returns true for a register write by `thread return`, which must be refused. The command writes all registers of the
 * caller's frame, in the order of their numbers, and continues after an error. The first one is a register that the
 * GPU does not have, so its write fails in any case. The writes of the other registers are refused as well, because otherwise
 * some registers would change. */
bool rsp_lldb_returns(struct rsp *rsp, unsigned number)
{
    enum { GAP = 4 }; /* number of registers that `thread return` may skip because it cannot read them */
    bool on = rsp->lldb && (number == 0 || (rsp->returning != 0 && number >= rsp->returning &&
                                            number - rsp->returning < GAP));

    rsp->returning = on ? number + 1 : 0;
    if (on && number == rsp->target.arch->pc)
        lw_put(&rsp->messages, "note: `thread return` is not supported, as a lane can leave a function only by its own "
                               "instructions; use `finish` to run to the caller\n");
    return on && number != 0;
}

/* ---- threads ------------------------------------------------------------------------------- */

static void put_json_register(struct rsp *rsp, struct lw_buffer *json, dbg_thread_id id,
                              unsigned number, const char *separator)
{
    uint8_t data[RSP_REG_BYTES];

    if (rsp_thread_read(rsp, id, number, data, NULL) != LW_OK)
        return;
    lw_printf(&json->sink, "%s\"%u\":\"", separator, number);
    rsp_put_hex(json, data, rsp->target.regs[number].bytes);
    lw_put(&json->sink, "\"");
}

/* Handles jThreadsInfo. The reply has the name, pc and stack pointer of each thread, and marks the threads that have hit
 * a breakpoint, because the stop reply names only one of them. */
void rsp_do_threads_info(struct rsp *rsp, const struct rsp_args *args)
{
    const struct rsp_arch_info *arch = rsp->target.arch;
    enum { THREADS_INFO_BYTES = RSP_PACKET_BYTES / 2 };
    struct lw_buffer json, name;
    struct dbg_thread thread;
    bool any = false;

    (void)args;
    lw_buffer_init(&json);
    lw_buffer_init(&name);
    lw_put(&json.sink, "[");
    rsp_listing_begin(rsp);
    for (unsigned i = 0; rsp_has_process(rsp) && dbg_thread_at(rsp->dbg, i, &thread); i++) {
        if (!rsp_thread_listed(rsp, i, &thread))
            continue;
        lw_printf(&json.sink, "%s{\"tid\":%llu", any ? "," : "", (unsigned long long)thread.id);
        any = true;
        if (rsp_arrivals_hit(rsp, &thread))
            lw_put(&json.sink, ",\"reason\":\"breakpoint\",\"signal\":5");
        /* The reply must fit in one packet. lldb queries the names and registers of the remaining threads separately. */
        if (json.size > THREADS_INFO_BYTES) {
            lw_put(&json.sink, "}");
            continue;
        }
        if (rsp_has(rsp, RSP_F_THREAD_NAMES)) {
            lw_buffer_clear(&name);
            dbg_thread_name(rsp->dbg, &thread, &name.sink);
            lw_put(&json.sink, ",\"name\":");
            lw_put_json(&json.sink, name.text);
        }
        lw_put(&json.sink, ",\"registers\":{");
        put_json_register(rsp, &json, thread.id, arch->pc, "");
        put_json_register(rsp, &json, thread.id, arch->sp, ",");
        lw_put(&json.sink, "}}");
    }
    if (rsp->exited != 0)
        lw_printf(&json.sink, "%s{\"tid\":%llu,\"name\":\"ended\"}", any ? "," : "",
                  (unsigned long long)rsp->exited);
    lw_put(&json.sink, "]");
    rsp_put_binary(&rsp->reply, json.text, json.size);
    lw_buffer_fini(&json);
    lw_buffer_fini(&name);
}

/* Appends the ids and pcs of all threads to a stop reply, and a list of those that have hit a breakpoint. */
void rsp_lldb_put_threads(struct rsp *rsp)
{
    struct lw_sink *out = &rsp->reply.sink;
    struct lw_buffer pcs, reasons;
    struct dbg_thread thread;
    bool any = false, hit = false;

    lw_buffer_init(&pcs);
    lw_buffer_init(&reasons);
    rsp_listing_begin(rsp);
    for (unsigned i = 0; rsp_has(rsp, RSP_F_THREADS) && dbg_thread_at(rsp->dbg, i, &thread); i++) {
        if (!rsp_thread_listed(rsp, i, &thread))
            continue;
        lw_printf(out, "%s%llx", any ? "," : "threads:", (unsigned long long)thread.id);
        lw_printf(&pcs.sink, "%s%llx", any ? "," : "thread-pcs:",
                  (unsigned long long)rsp_arrivals_pc(rsp, thread.id, thread.location.pc));
        if (rsp_arrivals_hit(rsp, &thread))
            lw_printf(&reasons.sink, "%s{\"tid\":%llu,\"reason\":\"breakpoint\",\"signal\":5}", hit ? "," : "[",
                      (unsigned long long)thread.id);
        hit |= rsp_arrivals_hit(rsp, &thread);
        any = true;
    }
    if (any) {
        lw_put(out, ";");
        lw_put(out, pcs.text != NULL ? pcs.text : "");
        lw_put(out, ";");
    }
    if (hit) {
        lw_put(&reasons.sink, "]");
        lw_put(out, "jstopinfo:");
        rsp_put_hex(&rsp->reply, reasons.text, reasons.size);
        lw_put(out, ";");
    }
    lw_buffer_fini(&pcs);
    lw_buffer_fini(&reasons);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Handles qMemoryRegionInfo:ADDRESS. Each region is an address space of the machine, independent of the allocations in it. */
void rsp_do_region(struct rsp *rsp, const struct rsp_args *args)
{
    static const struct {
        uint64_t from;
        const char *permissions; /* "" if the region is not mapped */
    } regions[] = {
        {0, ""},
        {ISA_CODE_BASE, "rx"},
        {2 * ISA_CODE_BASE, ""},
        {ISA_SHARED_BASE, "rw"},
        {ISA_LOCAL_BASE, "rw"},
        {ISA_CONST_BASE, "r"},
        {2 * ISA_CONST_BASE, ""},
        {ISA_GLOBAL_BASE, "rw"},
        {UINT64_C(1) << 48, ""},
        {UINT64_C(0xF0) << 56, "rw"},
        {UINT64_C(0xFD) << 56, ""},
    };
    size_t i = LW_COUNT_OF(regions) - 1;

    rsp_arrivals_region(rsp);
    while (args->n[0] < regions[i].from)
        i--;
    lw_printf(&rsp->reply.sink, "start:%llx;size:%llx;", (unsigned long long)regions[i].from,
              (unsigned long long)((i + 1 < LW_COUNT_OF(regions) ? regions[i + 1].from : 0) -
                                   regions[i].from));
    if (regions[i].permissions[0] != '\0')
        lw_printf(&rsp->reply.sink, "permissions:%s;", regions[i].permissions);
}

/* ---- the program ------------------------------------------------------------------------------ */

/* lldb reads memory in cache lines of 512 bytes, and treats a reply that ends within a line as an error. Within a line,
 * only some bytes may be mapped, for example at the end of an allocation: the others are sent as zeros. */
uint64_t rsp_lldb_line(const struct rsp *rsp, dbg_thread_id id, uint64_t address, void *data,
                       uint64_t size, uint64_t got)
{
    enum { LINE_BYTES = 512, PIECE_BYTES = 4 };
    uint8_t *bytes = data;
    bool any = got != 0;

    if (got >= size || size > LINE_BYTES)
        return got;
    memset(bytes + got, 0, size - got);
    for (uint64_t at = got + -(address + got) % PIECE_BYTES; at < size; at += PIECE_BYTES) {
        uint64_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;

        if (dbg_mem_read(rsp->dbg, id, address + at, bytes + at, piece) != 0)
            any = true;
    }
    return any ? size : 0;
}

/* x86 code that replaces each instruction for lldb: a branch to the next instruction, and two nops. lldb decodes code,
 * from its file and from memory, as x86. In a step lldb lets all threads run up to the next branch. lldb derives the
 * frame of the function at the pc from the code. The encoding of the GPU's instructions would look like arbitrary x86
 * code. With the replacement lldb steps one instruction at a time, as the focus lane needs, and finds the return
 * address at the stack pointer. */
static const uint8_t stand_in[ISA_WORD_BYTES] = {0x75, 0x0e, 0x0f, 0x1f, 0x80, 0, 0, 0, 0,
                                                 0x0f, 0x1f, 0x80, 0, 0, 0, 0};

static void stand_in_for_code(const struct rsp *rsp, uint64_t address, void *data, uint64_t size)
{
    uint8_t *bytes = data;

    if (rsp->config.arch != RSP_X86_64)
        return;
    for (uint64_t i = 0; i < size; i++)
        if (address + i >= ISA_CODE_BASE && address + i < 2 * ISA_CODE_BASE)
            bytes[i] = stand_in[(address + i) % ISA_WORD_BYTES];
}

/* Zeroes the return address of a kernel, so that lldb ends the backtrace there. The frame <launch>, from which kernels
 * seem to be called, exists for gdb only. */
static void nobody_called(uint64_t address, uint8_t *bytes, uint64_t size)
{
    enum { STACK_WINDOW = 0xF4 };

    if (address >> 56 != STACK_WINDOW)
        return;
    for (uint64_t i = 0; i + 8 <= size; i++)
        if ((address + i) % 8 == 0 && lw_get64(bytes + i) == DBG_LAUNCH_PC)
            memset(bytes + i, 0, 8);
}

void rsp_lldb_memory(const struct rsp *rsp, uint64_t address, void *data, uint64_t size)
{
    stand_in_for_code(rsp, address, data, size);
    nobody_called(address, data, size);
}

void rsp_lldb_text(const struct rsp *rsp, uint8_t *elf, size_t size)
{
    enum { E_PHOFF = 32, P_OFFSET = 8, P_VADDR = 16, P_FILESZ = 32, PHDR_BYTES = 56 };
    uint64_t header = lw_get64(elf + E_PHOFF), from, bytes;

    if (header > size || size - header < PHDR_BYTES)
        return;
    from = lw_get64(elf + header + P_OFFSET);
    bytes = lw_get64(elf + header + P_FILESZ);
    if (from <= size && bytes <= size - from)
        stand_in_for_code(rsp, lw_get64(elf + header + P_VADDR), elf + from, bytes);
}

/* Writes the served ELF to a file in a new folder that only this user can read. If that fails, the name of the file
 * remains "": lldb then has no line table, and says so. */
static void write_module(struct rsp *rsp)
{
    const char *folder = getenv("TMPDIR"), *name = strrchr(rsp->elf_name, '/');
    struct lw_error err;
    uint8_t *copy;

    if (rsp->module[0] != '\0')
        return;
    snprintf(rsp->module_folder, sizeof rsp->module_folder, "%.200s/lanewise-XXXXXX",
             folder != NULL && *folder == '/' ? folder : "/tmp");
    if (mkdtemp(rsp->module_folder) == NULL) {
        rsp->module_folder[0] = '\0';
        return;
    }
    snprintf(rsp->module, sizeof rsp->module, "%s%s", rsp->module_folder,
             name != NULL ? name : "/kernel.lwo");
    copy = malloc(rsp->elf_size);
    if (copy != NULL) {
        memcpy(copy, rsp->elf, rsp->elf_size);
        /* e_type becomes ET_DYN, because lldb does not record the load address of a library whose type is ET_EXEC. */
        copy[16] = 3;
        rsp_lldb_text(rsp, copy, rsp->elf_size);
    }
    if (copy == NULL || lw_file_write(rsp->module, copy, rsp->elf_size, &err) != LW_OK)
        rsp_lldb_close(rsp);
    free(copy);
}

void rsp_lldb_close(struct rsp *rsp)
{
    if (rsp->module[0] != '\0')
        unlink(rsp->module);
    if (rsp->module_folder[0] != '\0')
        rmdir(rsp->module_folder);
    rsp->module[0] = rsp->module_folder[0] = '\0';
}

void rsp_do_libraries_read(struct rsp *rsp, const struct rsp_args *args)
{
    struct lw_buffer xml;
    uint64_t from = args->n[0], size;

    if (!rsp->lldb || rsp->elf == NULL || rsp->config.has_file)
        return; /* the empty reply: this client gets no library list */
    write_module(rsp);
    lw_buffer_init(&xml);
    lw_put(&xml.sink, "<library-list>");
    if (rsp->module[0] != '\0') {
        lw_put(&xml.sink, "<library name=\"");
        rsp_put_xml(&xml.sink, rsp->module, strlen(rsp->module));
        lw_printf(&xml.sink, "\"><section address=\"0x%llx\"/></library>",
                  (unsigned long long)ISA_CODE_BASE);
    }
    lw_put(&xml.sink, "</library-list>");
    if (from > xml.size)
        from = xml.size;
    size = xml.size - from < args->n[1] ? xml.size - from : args->n[1];
    lw_put(&rsp->reply.sink, from + size == xml.size ? "l" : "m");
    rsp_put_binary(&rsp->reply, xml.text + from, (size_t)size);
    lw_buffer_fini(&xml);
}
