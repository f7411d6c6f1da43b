/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of gdbstub/: gdb's remote serial protocol over debug/. */
#ifndef GDBSTUB_H
#define GDBSTUB_H

#include "debug/debug.h"

enum rsp_arch { RSP_X86_64, RSP_AARCH64 };
/** RSP_RUNNING: the connection is open, or broke off. */
enum rsp_end { RSP_RUNNING, RSP_DETACHED, RSP_KILLED };

struct rsp_config {
    struct dbg *dbg;                  /* borrowed */
    const struct isa_object *object;  /* served to gdb as an ELF, e_machine patched */
    enum rsp_arch arch;
    const struct lw_command_set *monitor; /* `monitor` runs these; may be NULL */
    enum rsp_end *ended;                  /* rsp_serve: how gdb left; may be NULL */
    bool no_thread_events; /* gdb was started so that it prints no line for new threads */
    bool quit_kills; /* gdb started the run, so leaving gdb ends it; `detach` does not */
    /* after `detach` the connection of an extended-remote client remains, for `attach` and `run` */
    bool detach_keeps_link;
    /* where history is kept, gdb stops before the run ends, so that it can go back;
     * `monitor at-end` changes it */
    bool stop_at_end;
    /* rsp_serve also ends when this is readable and no client is connected: none will come.
     * NULL or -1: never */
    const int *gone_fd;
    /* rsp_serve also ends when this becomes readable, whether a client is connected or not: a request that this
     * process ends. NULL or -1: never */
    const int *quit_fd;
    /* How long a client may send nothing before another one replaces it: before its first packet any other client;
     * after it, one that connects twice. 0: 10,000 */
    unsigned patience_ms;
    /**
     * Restart: build the program and its debugger anew, put them into dbg, object and
     * monitor of @config, then end the old ones; on failure nothing changes. NULL: `run` is refused.
     *
     * @name  the launch that gdb requests (`set remote exec-file`); "": the one that runs
     */
    enum lw_status (*restart)(void *context, const char *name, struct rsp_config *config,
                              struct lw_error *err);
    /**
     * Build the program of the next `run` now and write it to the file that the client was given: stock gdb
     * reads that file again before it sends the run. The running program does not change. NULL: there is no such file.
     */
    enum lw_status (*renew)(void *context, struct rsp_config *config, struct lw_error *err);
    void *restart_context;
    struct lw_sink *terminal; /* messages that no reply can carry to gdb's user; may be NULL */
    bool has_file; /* the client has the program as a file: lldb needs none of ours */
    uint64_t without; /* features that are switched off, bits 1 << feature; for tests, 0 in the product */
};

/** Can others than programs of this machine connect to such an address of rsp_serve? */
bool rsp_address_is_open(const char *address);

/**
 * Write the ELF that a client is served, for debuggers that want a file. Before rsp_serve.
 *
 * @any  for lldb as well: the code in it is what lldb can bear (rsp_lldb.c)
 */
enum lw_status rsp_program_write(const struct rsp_config *config, const char *path, bool any,
                                 struct lw_error *err) LW_MUST_CHECK;

/**
 * Serve connections on a TCP address until killed, detached with @once, or the end.
 * *config->ended gets how the last connection ended; detach_keeps_link is !@once, whatever @config has.
 *
 * @address  "PORT", "HOST:PORT"; an empty host is 127.0.0.1; port 0 takes a free one. Or
 *           "unix:PATH": a socket that only its owner may use, removed at the end
 * @ready    called with the bound port (unix: 0) before waiting; may be NULL
 * Errors: LW_EUSAGE for a bad address, LW_EIO with the system's reason.
 */
enum lw_status rsp_serve(const struct rsp_config *config, const char *address, bool once,
                         void (*ready)(void *context, unsigned port), void *context,
                         struct lw_error *err) LW_MUST_CHECK;

#endif
