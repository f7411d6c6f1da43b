/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of gdbstub/, which serves gdb's remote serial protocol by calls of debug/. A Z packet calls
 * dbg_breakpoint_add() or dbg_watch_add(). A resume calls dbg_continue(), dbg_step() or dbg_step_range(), and the stub sends the
 * resulting struct dbg_stop as its reply (run/rsp_run.c). */
#ifndef GDBSTUB_H
#define GDBSTUB_H

#include "debug/debug.h"

enum rsp_arch { RSP_X86_64, RSP_AARCH64 };
/** How a connection ended. RSP_RUNNING: the connection is still open, or it broke without a detach or kill. */
enum rsp_end { RSP_RUNNING, RSP_DETACHED, RSP_KILLED };

struct rsp_config {
    struct dbg *dbg;                  /* debugger that the stub serves; borrowed */
    const struct isa_object *object;  /* program; gdb gets it as an ELF with the target architecture's e_machine */
    enum rsp_arch arch;
    const struct lw_command_set *monitor; /* commands that `monitor` offers; may be NULL */
    enum rsp_end *ended;                  /* rsp_serve sets it to how the last connection ended; may be NULL */
    bool no_thread_events; /* gdb was started with an option that suppresses its line for each new thread */
    bool quit_kills; /* gdb started the run, so the run ends when gdb quits; `detach` does not end it */
    /* after `detach` the connection of an extended-remote client stays open for `attach` and `run` */
    bool detach_keeps_link;
    /* If history is recorded, gdb stops before the end of the run, so that its user can execute backwards from this point.
     * `monitor at-end` changes this setting. */
    bool stop_at_end;
    /* Descriptor that becomes readable as soon as it is certain that no further client will connect. rsp_serve then ends as
     * soon as no client is connected. NULL or a descriptor of -1: rsp_serve waits for further clients */
    const int *gone_fd;
    /* Descriptor that becomes readable when this process must end. rsp_serve then ends even if a client is connected.
     * NULL or a descriptor of -1: no such request is possible */
    const int *quit_fd;
    /* Milliseconds within which a client must send its first packet; otherwise it is disconnected. Before its first packet, a
     * client is replaced by any client that connects. After its first packet, a client is replaced only if it has been silent
     * for half of this time, and only by a client that connects within this time after a client was refused. 0: 10,000 */
    unsigned patience_ms;
    /**
     * Builds the program and its debugger again, stores them in dbg, object and monitor of @config, and destroys
     * the old ones. On failure nothing changes. NULL: the stub refuses `run`.
     * @name  the launch that gdb requests (`set remote exec-file`); "": the current one
     */
    enum lw_status (*restart)(void *context, const char *name, struct rsp_config *config,
                              struct lw_error *err);
    /**
     * Builds the program of the next `run` and writes it to the file that the client was started with: stock gdb
     * reads that file again before it sends the run packet. The running program does not change. NULL: the client
     * was started without a file.
     */
    enum lw_status (*renew)(void *context, struct rsp_config *config, struct lw_error *err);
    void *restart_context;
    struct lw_sink *terminal; /* receives messages for the user that cannot be part of a reply to gdb; may be NULL */
    bool has_file; /* the client has the program as a file, so lldb needs none from the stub */
    uint64_t without; /* features that are switched off, as bits 1 << feature; only tests set it */
};

/** Returns true if programs of other machines can connect to rsp_serve when it listens on @address. */
bool rsp_address_is_open(const char *address);

/**
 * Writes the ELF that the stub serves to clients to the file @path, for debuggers that need a file. Called before
 * rsp_serve.
 * @any  the file is for lldb as well, so its code is replaced by code that lldb decodes (rsp_lldb.c)
 */
enum lw_status rsp_program_write(const struct rsp_config *config, const char *path, bool any,
                                 struct lw_error *err) LW_MUST_CHECK;

/**
 * Serves connections on a TCP or file-system address until the program is killed or the run has ended, or, if @once is set,
 * until a client detaches. *config->ended is set to how the last connection ended. The value of detach_keeps_link
 * in @config is ignored: !@once is used instead.
 * @address "PORT", "HOST:PORT"; an empty host is 127.0.0.1; port 0 selects a free port. Or
 *           "unix:PATH": a socket that only its owner may use, removed at the end
 * @ready    called with the bound port (unix: 0) before waiting; may be NULL
 * Errors: LW_EUSAGE for a bad address, LW_EIO with the system's reason.
 */
enum lw_status rsp_serve(const struct rsp_config *config, const char *address, bool once,
                         void (*ready)(void *context, unsigned port), void *context,
                         struct lw_error *err) LW_MUST_CHECK;

#endif
