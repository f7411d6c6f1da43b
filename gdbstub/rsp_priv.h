/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of gdbstub/: the state of one connection, and the functions of each file. "The Python file" is the
 * extension of gdb in gdbstub/python/, which gdb loads from the stub. */
#ifndef RSP_PRIV_H
#define RSP_PRIV_H

#include "gdbstub/gdbstub.h"

/** Features of the stub, one for each row of gdbstub/rsp_features.def. */
enum rsp_feature {
#define RSP_FEATURE(id, name, summary) RSP_F_##id,
#include "gdbstub/rsp_features.def"
    RSP_FEATURE_COUNT
};
/** Returns the name of a feature, such as "no-ack"; NULL past the last feature. */
const char *rsp_feature_name(unsigned feature);
/** Returns a short text that says what a feature does; NULL past the last feature. */
const char *rsp_feature_summary(unsigned feature);
/** Finds a feature by name. Returns false if no feature has this name. */
bool rsp_feature_find(const char *name, enum rsp_feature *out);

/** Protocol state of one connection, without a socket: bytes in, bytes out. rsp_socket.c reads the client's
 *  bytes and passes them to rsp_feed(); rsp_frame.c extracts packets and calls rsp_packet(). */
struct rsp;
enum lw_status rsp_create(const struct rsp_config *config, struct lw_sink *out,
                          struct rsp **rsp, struct lw_error *err) LW_MUST_CHECK;
void rsp_destroy(struct rsp *rsp);
/** Handles bytes from the client and writes replies to the sink. Never fails: an unknown or malformed packet
 *  gets the reply that the protocol defines. */
void rsp_feed(struct rsp *rsp, const uint8_t *data, size_t size);
/** Handles one packet's payload without framing and checksum, for tests and fuzzers. */
void rsp_packet(struct rsp *rsp, const char *payload, size_t size);
enum rsp_end rsp_ended(const struct rsp *rsp);
/** Sets the function that checks whether the client has sent 0x03 (Ctrl-C). The interrupt listener calls this function every
 *  few milliseconds while the target runs. */
void rsp_set_poll(struct rsp *rsp, bool (*interrupted)(void *context), void *context);

enum {
    RSP_PACKET_BYTES = 0x20000,   /* advertised PacketSize; longer payloads are refused */
    RSP_MAX_POINTS = 4096,        /* largest number of breakpoints and watchpoints of one connection */
    RSP_REG_BYTES = 1024,         /* room for the value of any register: twice 64 lanes of 8 bytes */
    RSP_SEARCH_BYTES = 64 << 20,  /* longest range of qCRC and qSearch */
    RSP_NAME_BYTES = 128
};
/** pc that the stub reports for a warp that has ended: the return address of kernels. */
#define RSP_EXITED_PC DBG_LAUNCH_PC
/** Another pc in <launch>, the pseudo-function that gdb shows as the caller of kernels. No frame returns to this pc. */
#define RSP_PAST_PC (DBG_LAUNCH_PC + ISA_WORD_BYTES / 2)

/** gdb's own signal numbers, equal on every target architecture. */
enum rsp_signal {
    RSP_SIGINT = 0x02, RSP_SIGILL = 0x04, RSP_SIGTRAP = 0x05, RSP_SIGABRT = 0x06,
    RSP_SIGBUS = 0x0a, RSP_SIGSEGV = 0x0b, RSP_SIGUSR1 = 0x1e
};

/* ---- registers of the target description (rsp_target.c) ------------------------- */

/** Meaning of a register in gdb's view of the target architecture. The GPU's own registers have RSP_ROLE_DEBUG. */
enum rsp_role {
    RSP_ROLE_ZERO,        /* always read as 0 */
    RSP_ROLE_PC,
    RSP_ROLE_SP,
    RSP_ROLE_RESULT,      /* result of a function: the first integer, or the result's address */
    RSP_ROLE_RESULT_NEXT, /* second integer of the result */
    RSP_ROLE_REAL,        /* first floating-point word of the result */
    RSP_ROLE_REAL_NEXT,   /* second floating-point word of the result */
    RSP_ROLE_DEBUG
};

struct rsp_reg {
    char name[24];
    enum rsp_role role;
    unsigned bytes;
    /* RSP_ROLE_DEBUG: the value consists of the values of @count registers of debug/, from number @first of dbg_reg_at()
     * on */
    unsigned first, count;
};

struct rsp_arch_info {
    const char *name;         /* name of the architecture in the target description */
    const char *triple;       /* target triple for lldb */
    uint16_t elf_machine;
    unsigned fp, sp, pc;      /* numbers of the registers that stop replies include */
    bool watch_before;        /* gdb expects the stop of a watchpoint before the access */
    bool watch_low;           /* gdb drops the top byte of a watchpoint's address */
    bool reals;               /* the description has floating-point registers, in which debuggers look for results */
};

/** The register table and target.xml; fixed until the program restarts. The first @mandatory registers are those that gdb
 *  requires of the target architecture; the `g` packet has only these. */
struct rsp_target {
    const struct rsp_arch_info *arch;
    struct rsp_reg *regs;
    size_t count, capacity;
    unsigned mandatory;
    uint64_t without; /* features left out, as in struct rsp_config */
    struct lw_buffer xml;
};
/** Builds the register table and target.xml; @without: features that are switched off, as in struct rsp_config. */
enum lw_status rsp_target_init(struct rsp_target *target, enum rsp_arch arch,
                               uint64_t without, const struct dbg *dbg, struct lw_error *err)
    LW_MUST_CHECK;
void rsp_target_fini(struct rsp_target *target);
/** Reads a register of a thread, little-endian. @data has room for RSP_REG_BYTES bytes. */
enum lw_status rsp_reg_read(const struct rsp_target *target, struct dbg *dbg,
                            dbg_thread_id id, unsigned number, uint8_t *data,
                            struct lw_error *err) LW_MUST_CHECK;
/** Writes a register of a thread. Errors: LW_ERANGE if the register does not exist; LW_EUNSUPP if it is read-only; the
 *  errors of debug/ for the value. */
enum lw_status rsp_reg_write(const struct rsp_target *target, struct dbg *dbg,
                             dbg_thread_id id, unsigned number, const uint8_t *data,
                             struct lw_error *err) LW_MUST_CHECK;

/* ---- agent expressions (rsp_agent.c) --------------------------------------------- */

/** Functions through which an agent expression reads registers and memory, and prints. The first two return false if
 *  the register or memory cannot be read. */
struct rsp_agent_ops {
    bool (*reg)(void *context, unsigned number, uint64_t *value);
    bool (*memory)(void *context, uint64_t address, void *data, unsigned bytes);
    /** Executes printf. NULL: an expression with printf cannot be evaluated. */
    void (*print)(void *context, const char *format, size_t size, const uint64_t *args,
                  unsigned count);
};
/** Evaluates gdb's bytecode. Returns false if the bytecode cannot be evaluated: because of an unknown opcode, a stack or code
 *  overrun, unreadable memory, or too many steps. If @value is NULL, the expression need not leave a value on the stack. */
bool rsp_agent_eval(const uint8_t *code, size_t size, const struct rsp_agent_ops *ops,
                    void *context, uint64_t *value);

/* ---- one connection ---------------------------------------------------------------- */

/** A stoppoint inserted by a Z packet. */
struct rsp_point {
    uint64_t address, size; /* address and size that the client sent; the size is 0 for breakpoints */
    uint64_t location;      /* watchpoint: the address including the top byte, which selects the debug address range */
    unsigned type;          /* Z packet type: the digit after the Z */
    unsigned id;            /* number of the stoppoint in debug/ */
    const void *code;       /* conditions and commands (struct point_code), which debug/ releases, or NULL if there is none */
};

/** Watched lane of a watchpoint: the lane that was in focus when the user set the watchpoint. The Z packet does not
 *  name the lane, because gdb sends it only when the run resumes. */
struct rsp_watch_lane {
    uint64_t address, size; /* watched range; size 0: no watchpoint */
    unsigned type;          /* Z packet type */
    struct dbg_lane_ref lane_ref;
};

/** Watchpoint that caused the last reported stop. */
struct rsp_watch_report {
    uint64_t address, size; /* watched range; size 0: no watchpoint */
    unsigned type;
};

/** Frame that the user sees when a command begins. The command may be a `reverse-finish`, which goes back to the call of this
 *  frame (rsp_reverse.c). */
struct rsp_leaving {
    dbg_thread_id id;
    unsigned lane;
    uint64_t entry; /* first address of the frame's function; 0: the command is no `reverse-finish` */
    uint64_t cfa;
};

enum rsp_frame_state { RSP_IDLE, RSP_PAYLOAD, RSP_ESCAPED, RSP_SUM_HIGH, RSP_SUM_LOW };

/** Interrupt listener: the host thread that calls the poll function while the target runs (rsp_interrupt.c). */
struct rsp_interrupt_listener;

/** Number that gdb shows for a thread. */
struct rsp_number {
    dbg_thread_id id;
    unsigned number;
};

/** Position of a thread as the client has last read it. */
struct rsp_known {
    dbg_thread_id id;
    uint64_t pc, retired;
    unsigned lane;
};

/** Selection of the warps in gdb's thread list: all warps, the first @limit, the warps of a block, or, if there are
 *  many, the warps that gdb is likely to need. The list is limited because gdb spends most of the time of a step on
 *  the listed warps. */
struct rsp_listing {
    unsigned limit; /* greatest number of listed warps, or 0 if there is no limit */
    bool all, one_block;
    uint32_t block[3];
    dbg_thread_id focus[2]; /* warps that are always listed: the core's focus and the view thread */
};

struct rsp {
    struct rsp_config config;
    struct dbg *dbg;
    struct lw_sink *out;
    enum rsp_end end;

    /* framing (rsp_frame.c) */
    enum rsp_frame_state state;
    char *packet; /* capacity: RSP_PACKET_BYTES */
    size_t packet_size;
    bool oversize, ack, no_ack_next;
    bool malformed; /* the packet that is being received ends in the middle of an escape */
    bool heard;     /* the client has sent at least one whole packet */
    uint8_t sum, sum_sent;
    struct lw_buffer frame;  /* the last packet sent with its framing, which is sent again if the client replies `-` */
    const uint8_t *ahead;    /* bytes passed to the current rsp_feed() that follow the packet being handled */
    size_t ahead_size;

    struct lw_buffer reply;  /* payload of the reply to the packet being handled */
    struct lw_sink messages; /* receives notes of debug/ and sends them as O packets while the target runs */
    struct lw_buffer note;   /* notes that are not sent yet */
    bool reset; /* a monitor command has requested a restart of the program */
    bool running, in_monitor;

    struct rsp_target target;
    struct lw_buffer osdata;  /* the `info os` table that the client is reading */
    struct lw_buffer threads; /* thread list document, which gdb reads in several pieces */
    bool threads_valid;       /* the document in @threads is up to date; otherwise it is built again before its first piece is
                               * sent */
    size_t thread_cursor;     /* index of the resident warp with which the next qsThreadInfo reply begins */
    struct rsp_listing listing;

    struct rsp_point *points;
    size_t point_count, point_capacity;

    uint8_t *elf;
    size_t elf_size;
    char elf_name[RSP_NAME_BYTES];

    /* rsp_thread.c: the thread that packets refer to, and state of threads that the client has read */
    struct {
        dbg_thread_id view; /* thread of the last Hg or stop, to which register and memory packets refer, or 0 if none yet */
        dbg_thread_id there; /* the last thread that an Hg packet selected as @view and that was resident */
        dbg_thread_id run;  /* thread of the last Hc packet; 0: any thread */
        dbg_thread_id stop; /* thread of the last stop reply */
    } named;
    struct rsp_number *numbers; /* gdb's thread numbers, sorted by id */
    size_t number_count, number_capacity;
    unsigned last_number;
    bool numbers_lost;     /* gdb's thread numbers are not known, because the host had no memory for them */
    bool crowd_noted;       /* the note on gdb's line for each new thread has been printed */
    bool missing_noted;     /* the note on variables that are optimized out has been printed */
    struct rsp_number stops[32]; /* ring buffer: threads of recent stop replies, with the numbers that gdb gave them then */
    unsigned stop_next;    /* entry of @stops that is overwritten next */
    dbg_thread_id *listed; /* ids in the thread list that is being read */
    size_t listed_count, listed_capacity;
    bool some;                /* the thread list has only the threads in @wanted */
    dbg_thread_id *wanted;    /* ids in ascending order */
    size_t wanted_count, wanted_capacity;
    dbg_thread_id seen[32];    /* ring buffer: threads that recent stops and commands referred to */
    unsigned seen_next;
    struct rsp_known *known; /* positions that the client has read, sorted by id; dropped when the client resumes */
    size_t known_count, known_capacity;

    /* Warp that ended while it was stepped alone, or 0 if none. gdb steps a warp alone over a breakpoint, and must find its
     * thread after that step. The stub therefore still shows the warp, at RSP_EXITED_PC, until something else runs. `advance`
     * and `until` insert a breakpoint at that pc. After gdb has stepped the ended thread over this breakpoint, @exited_past is
     * set and the stub shows the warp at RSP_PAST_PC. */
    dbg_thread_id exited;
    bool exited_past;
    bool launch_wanted; /* `until` or `advance` in a kernel has inserted a breakpoint at RSP_EXITED_PC */
    bool launch_lifted; /* since its last resume the client has removed the breakpoint at RSP_EXITED_PC */
    bool exited_listed;   /* qsThreadInfo has listed `exited` */
    /* Gdb has shown the last stop to its user. The stub knows this because gdb requests the thread list only in this case. gdb
     * does not show a stop at a breakpoint that was hit by a lane in another frame, but continues; the focus must then return
     * to the lane that the user saw last. */
    bool shown;
    bool locks;           /* the client's last resume let only one warp run */
    dbg_thread_id shown_thread; /* thread and lane that the user saw last, or 0 if it is not known */
    unsigned shown_lane;
    struct rsp_leaving leaving;
    uint64_t usual[64];   /* addresses of the breakpoints that existed at the user's last command */
    unsigned usual_count; /* number of breakpoints in `usual` */
    uint64_t goals[8];    /* addresses of the breakpoints that the user's present command inserted, as `advance` does */
    unsigned goal_count;  /* number of breakpoints in `goals` */
    struct rsp_chosen {
        dbg_thread_id id;      /* selected thread, or 0 if it is not known */
        bool listed, was_listed; /* the packet being handled, and the packet before, request the thread list */
        bool apply_all;            /* `thread apply all` may be in progress */
        bool alone;            /* gdb has queried only one thread since the thread list: the command may be `thread N` */
        dbg_thread_id apply_at;   /* thread that `thread apply all` has reached */
        bool down;             /* `thread apply all` visits threads in descending order */
        dbg_thread_id shell;   /* thread of the last `monitor` command; 0: the user has selected another thread since, or
                                * there was no such command */
    } chosen; /* the thread that the user has selected, as far as gdb's packets show it */
    struct {
        dbg_thread_id id; /* thread that hit the breakpoint, or 0 if there is none */
        uint64_t pc;
        bool noted;       /* the note on a dprintf that printed nothing has been printed */
    } reported; /* last reported breakpoint hit, until the client changes a breakpoint or writes a register */
    /* Recent reads of the client outside code, from which rsp_points.c restores the top byte of watched addresses: see
     * rsp_window_record(). */
    struct {
        uint64_t address, size, time; /* time 0: unused entry */
    } windows[64];
    uint64_t window_time;
    struct rsp_watch_lane pins[128]; /* ring buffer: watched lanes of recent watchpoints */
    unsigned pin_next;
    struct rsp_break_if *break_ifs; /* conditions of breakpoints from the Python file (rsp_points.c) */
    size_t break_if_count, break_if_capacity;
    struct rsp_test **tests; /* owned conditions of watchpoints (rsp_watch_condition.c) */
    size_t test_count, test_capacity;
    struct rsp_watch_report last_watch;    /* watchpoint of the last stop; size 0 if no watchpoint caused the stop */
    unsigned silent;         /* watchpoint hits that gdb has not shown, but continued from, since the last stop that it showed */
    dbg_thread_id suppress_next_step; /* thread whose next step gdb makes by itself, to get past an access that is
                                       * already done, or 0 if there is none */
    /* Instruction count at the end of the run, if the stub has reported this end to the client as a stop one instruction before
     * the end, so that gdb can go back. 0: the end was not reported */
    uint64_t end_reported;
    bool python;         /* gdb has loaded the Python file, which makes gdb reread the state after monitor commands */
    bool interrupt_pending; /* Ctrl-C arrived between two steps */
    bool renewed;        /* the client's file already has the program of the next run, so gdb, which reads that file again,
                          * shows that program */
    bool extended, killed; /* extended: target extended-remote; killed: the client's process has been killed */
    bool detached;         /* the client has detached and left its process stopped, so that it may attach again */
    bool swbreak, hwbreak, no_resumed; /* the client accepts these stop replies, by its qSupported packet */
    struct rsp_interrupt_listener *listener;
    bool listener_failed;

    struct rsp_arrival {
        dbg_thread_id id; /* warp that arrived at a breakpoint at `pc` when it had retired `retired` instructions */
        uint64_t pc, retired;
        unsigned stop;  /* number of the stop reply that reported the hit (stop_number) */
        bool passed;    /* lldb considers the warp past the breakpoint */
        uint64_t lanes; /* lanes that have hit the breakpoint and have not been shown to the user yet */
        unsigned first; /* lane that was in focus before the stub showed the other lanes */
        bool moved;     /* the stub has moved the focus to show another lane */
    } *arrivals;        /* breakpoint hits for lldb, at most one for each warp (rsp_arrivals.c) */
    size_t arrival_count, arrival_capacity;
    unsigned stop_number;
    struct {
        uint64_t pc;
        unsigned steps;
    } lifted[16]; /* breakpoints that lldb has removed to step over them, and for each the number of lldb's resumes since
                   * then */
    unsigned lifted_count;
    uint64_t *unset; /* addresses of the breakpoints that gdb has removed since its last resume */
    size_t unset_count, unset_capacity;
    dbg_thread_id inside; /* blocked warp that the stub shows to gdb inside the instruction at which it waits, or 0 if there is
                           * none */
    uint64_t inside_pc, inside_shown; /* the pc of that warp, and the pc that the stub reports to gdb for it */
    enum rsp_query {
        RSP_QUERY_NONE, RSP_QUERY_REGION, RSP_QUERY_DATA
    } after_stop; /* lldb's first query after a stop, except reads of stacks and code */
    uint64_t tested[16]; /* ring buffer: addresses of breakpoints that have a condition */
    unsigned tested_next;

    bool lldb;          /* the client is lldb */
    bool thread_suffix; /* lldb's packets on registers name a thread */
    unsigned returning; /* lowest register that lldb's `thread return` can write next, or 0 if there is none */
    char module_folder[256], module[256 + RSP_NAME_BYTES]; /* copy of the ELF for lldb, or "" if there is none */
};

/** Returns true if the feature is on. Only tests switch features off. */
static inline bool rsp_has(const struct rsp *rsp, enum rsp_feature feature)
{
    return (rsp->config.without >> feature & 1) == 0;
}

/** Returns true if the client has a process, which is then stopped. */
static inline bool rsp_has_process(const struct rsp *rsp)
{
    return !rsp->killed && !rsp->detached;
}

/** Sends a payload in a packet. */
void rsp_send(struct rsp *rsp, const char *payload, size_t size);
/** Sends text as console output, in O packets. */
void rsp_send_console(struct rsp *rsp, const char *text, size_t size);
/** Returns true if Ctrl-C is in the bytes received after the packet being handled. */
bool rsp_interrupt_ahead(const struct rsp *rsp);

/** Appends bytes as hex digits. */
void rsp_put_hex(struct lw_buffer *reply, const void *data, size_t size);
/** Appends bytes with the escapes of binary replies. */
void rsp_put_binary(struct lw_buffer *reply, const void *data, size_t size);
/** Appends text with the escapes of XML: <, >, &, " and line ends. */
void rsp_put_xml(struct lw_sink *out, const char *text, size_t size);
/** Sets the reply to `E.message`, with blanks instead of characters that have a meaning in framing. */
void rsp_put_error(struct lw_buffer *reply, const char *message);
/** Decodes the hex digits of @text to bytes. Returns false for an odd count or another character. */
bool rsp_hex_decode(const char *text, size_t size, uint8_t *out);
int rsp_hex_digit(char c);
/** Parses a hex number of 1..16 digits at *@text, which advances past it. Returns false if there is none. */
bool rsp_hex_number(const char **text, const char *end, uint64_t *out);

/* ---- handlers of packets; rsp_packets.c has the table of packets ----------------------- */

/** Arguments of a packet, parsed by the schema in its row of the packet table. */
struct rsp_args {
    uint64_t n[4];
    const char *rest; /* text that `*` matched */
    size_t rest_size;
};

/* rsp_features.c */
void rsp_do_supported(struct rsp *rsp, const struct rsp_args *args);
/** Returns the features in @without, together with all features that depend on one of them. */
uint64_t rsp_features_without(uint64_t without);

/* rsp_run.c: resuming and stop replies. The comment at the top of that file describes the three phases of a resume (answer
 * without running, call debug/, reply), and lists the members of struct rsp that exist for one client only. */
void rsp_do_why(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_vcont_query(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_vcont(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_continue(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_continue_signal(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_step(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_step_signal(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_reverse_step(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_reverse_continue(struct rsp *rsp, const struct rsp_args *args);
/* rsp_reverse.c */
/** Called when the user's command begins. Records the frame that the user sees, if the command may be a
 *  `reverse-finish`, and which breakpoints the command has inserted. @back: the command runs backwards. */
void rsp_reverse_begin(struct rsp *rsp, bool back);
/** Returns true if the user's last command inserted the breakpoint at @address, and no frame of the focus lane returns
 *  to @address. */
bool rsp_is_goal(const struct rsp *rsp, uint64_t address);
/** Undoes one instruction of the focus lane of @id. A reverse step that changes a watched value is reported as a
 *  watchpoint hit: gdb compares the value with the one at its last watchpoint stop, and would otherwise ignore the same
 *  change on the way forward. The last step of a `reverse-finish` starts at the entry of the frame that the user saw. */
enum lw_status rsp_reverse_step(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Prints notes on the stop reported for thread @id that gdb itself does not show (rsp_notes.c). */
void rsp_note_stop(struct rsp *rsp, const struct dbg_stop *stop, dbg_thread_id id);
/** Moves the machine to the end of history if the run has reached its end and gdb has only gone back from there. */
void rsp_to_end(struct rsp *rsp);
/* rsp_monitor.c */
void rsp_do_monitor(struct rsp *rsp, const struct rsp_args *args);

/* rsp_thread.c: the thread to which a packet refers */
bool rsp_resident(const struct rsp *rsp, dbg_thread_id id);
/** Returns the view thread, to which packets on registers and memory refer. If it is not resident, these packets get
 *  errors. */
dbg_thread_id rsp_view(const struct rsp *rsp);
/** Returns true if the view thread ended while it was stepped alone. */
bool rsp_view_exited(const struct rsp *rsp);
/** Returns true if the view thread ended while it was stepped alone, or is not resident. */
bool rsp_view_is_exited(const struct rsp *rsp);
void rsp_view_set(struct rsp *rsp, dbg_thread_id id);
/** Returns the thread in the debugger core's focus, which commands and stops move. No packet refers to that
 *  focus. */
dbg_thread_id rsp_focus(const struct rsp *rsp);
/** Moves the core's focus to a thread, for functions of the core that use the focus. Does nothing for a
 *  thread that is not resident. */
void rsp_focus_on(struct rsp *rsp, dbg_thread_id id);
void rsp_do_thread_view(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_thread_run(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_thread_alive(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_current(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_shown(struct rsp *rsp, const struct rsp_args *args);
/** Handles the client's query whether a resident thread is alive. */
void rsp_chosen_ask(struct rsp *rsp, dbg_thread_id id);
/** Handles a write of registers by the client. */
void rsp_chosen_written(struct rsp *rsp);
/** Returns the thread that the user has selected, as far as the client's packets show it, or 0 if it is not known. */
dbg_thread_id rsp_chosen(const struct rsp *rsp);
void rsp_chosen_set(struct rsp *rsp, dbg_thread_id id);
/* These three functions track the numbers that gdb gives to threads. */
/** Called when gdb will number all threads anew. */
void rsp_numbers_forget(struct rsp *rsp);
/** Called when gdb receives thread @id in a stop reply. */
void rsp_numbers_stop(struct rsp *rsp, dbg_thread_id id);
/** Called when gdb has read the whole list of threads, which is @ids. */
void rsp_numbers_list(struct rsp *rsp, const dbg_thread_id *ids, size_t count);
/** Called before a stop of a thread is reported. If gdb will give the thread another number than in its last stop,
 *  returns the number of that stop, and sets *@now to the new number; else returns 0. */
unsigned rsp_number_before(const struct rsp *rsp, dbg_thread_id id, unsigned *now);
/** Returns how many of the listed threads gdb does not know; called before a stop is reported. */
unsigned rsp_numbers_new(const struct rsp *rsp);
/** Returns gdb's own number of a thread, or 0 if it is not known. */
unsigned rsp_number(const struct rsp *rsp, dbg_thread_id id);
/** Prints a thread's name for messages, such as "block(3,0,0) w0". Messages do not use ids, because gdb numbers threads in
 *  its own way. */
void rsp_warp_print(const struct rsp *rsp, dbg_thread_id id, struct lw_sink *out);
/** Records that the client has read a thread's position. */
void rsp_known_record(struct rsp *rsp, dbg_thread_id id);
/** Drops the records of rsp_known_record(). Called when the client resumes, or writes state that may change positions of
 *  threads. */
void rsp_known_forget(struct rsp *rsp);
/** Returns true if the position of the thread that the client has read is outdated, because `monitor` has
 *  moved the machine. */
bool rsp_known_wrong(const struct rsp *rsp, dbg_thread_id id);
/* rsp_watch_condition.c: conditions of watchpoints, which gdb does not send */
void rsp_do_watch_if(struct rsp *rsp, const struct rsp_args *args);
/** Called when a watchpoint was inserted. Attaches the condition that the Python file has sent for it, if there is one. */
void rsp_test_attach(struct rsp *rsp, const struct rsp_point *point);
/** Called before a hit is reported. If the value that gdb has read is older than the value before the hit, moves the
 *  machine to the last hit with a false condition, and returns true. The stub then reports that hit instead, without
 *  text. @back: the command runs backwards. @began: instruction count at the start of the command. */
bool rsp_test_before(struct rsp *rsp, bool back, uint64_t began, struct dbg_stop *stop);
/** Called when a stop is reported. If a watchpoint caused the stop, records the watchpoint. */
void rsp_test_reported(struct rsp *rsp, const struct dbg_stop *stop);
/** Returns true if the text of the stop must be suppressed, because gdb evaluates the condition of the watchpoint. */
bool rsp_test_is_silent(const struct rsp *rsp, const struct dbg_stop *stop);
/** Called when the client resumes. Counts the last watchpoint hit if gdb has not shown it. */
void rsp_test_resumes(struct rsp *rsp);
/** Prints a progress line at every 4096th hit from which gdb has continued without showing it. */
void rsp_test_progress(struct rsp *rsp);
void rsp_tests_free(struct rsp *rsp);
/* rsp_data.c, rsp_monitor.c, rsp_run.c: reads of the client, the thread list, and the start and end of a run */
/** Records that the client has read @size bytes at @address. An aarch64 gdb drops the top byte of watched addresses,
 *  which selects the debug address range. The stub restores it from gdb's last read at an address that differs only in
 *  this byte: gdb has read the old value at that address. */
void rsp_window_record(struct rsp *rsp, uint64_t address, uint64_t size);
/** Starts a new thread list. */
void rsp_listing_begin(struct rsp *rsp);
/** Includes a thread in the thread list from now on, because a reply has named it to the client. */
void rsp_thread_seen(struct rsp *rsp, dbg_thread_id id);
/** Returns true if @thread, the resident warp with this index, is in the thread list. */
bool rsp_thread_listed(const struct rsp *rsp, unsigned index, const struct dbg_thread *thread);
/** Called before the target runs. Until rsp_run_end() the interrupt listener polls for Ctrl-C, and notes of debug/ are sent as
 *  console text. */
void rsp_run_begin(struct rsp *rsp);
/** Called after the target has run. Ends the polling, and sends the notes that are not sent yet. */
void rsp_run_end(struct rsp *rsp);
void rsp_messages_init(struct rsp *rsp);

/* rsp_process.c: start and end of processes */
void rsp_do_attached(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_attach(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_extended(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_renew(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_run(struct rsp *rsp, const struct rsp_args *args);
/** Restarts the program as @name says ("": the same launch). Breakpoints are dropped. Errors: LW_EUNSUPP when the
 *  program cannot restart; also the errors of the launch. */
enum lw_status rsp_restart(struct rsp *rsp, const char *name, struct lw_error *err) LW_MUST_CHECK;
void rsp_do_restart(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_detach(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_kill(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_vkill(struct rsp *rsp, const struct rsp_args *args);
/** Handles the end of a program killed by the client or by a signal. */
void rsp_process_ended(struct rsp *rsp);
/** Rebuilds the parts of a connection that depend on the program after a restart. */
enum lw_status rsp_describe(struct rsp *rsp, struct lw_error *err) LW_MUST_CHECK;

/* rsp_data.c: registers, memory, served files */
/** Reads register @number of the target description for a thread. For an ended thread the pc is in <launch> and the
 *  other registers are 0, because gdb 13 accepts no command after a read error, not even one that selects another
 *  thread. */
enum lw_status rsp_thread_read(const struct rsp *rsp, dbg_thread_id id, unsigned number, uint8_t *data,
                               struct lw_error *err) LW_MUST_CHECK;
void rsp_do_regs_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_regs_write(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_reg_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_reg_write(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_mem_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_mem_read_binary(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_mem_write(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_mem_write_binary(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_crc(struct rsp *rsp, const struct rsp_args *args);
/** Reads memory as dbg_mem_read() does, and adds what only clients see: <launch>, and the replacements for lldb. */
uint64_t rsp_mem_read(const struct rsp *rsp, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size);
void rsp_do_search(struct rsp *rsp, const struct rsp_args *args);
/** Appends one piece of a document: 'm' if more pieces follow, 'l' if the piece is the last. */
void rsp_put_piece(struct rsp *rsp, const char *data, size_t size, uint64_t offset,
                   uint64_t length);
/* rsp_osdata.c */
void rsp_do_osdata_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_features_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_threads_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_exec_file_read(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_file_setfs(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_file_open(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_file_fstat(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_file_pread(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_file_close(struct rsp *rsp, const struct rsp_args *args);
/** Builds the served ELF, with the target architecture's e_machine, and its name. */
enum lw_status rsp_elf_init(struct rsp *rsp, struct lw_error *err) LW_MUST_CHECK;

/* rsp_arrivals.c: breakpoint hits as lldb sees them */
/** Records, at a stop after all warps have run, which warps have hit a breakpoint. */
void rsp_arrivals_record(struct rsp *rsp, const struct dbg_stop *stop);
/** Records that warp @id, which the next stop reply names, has hit the breakpoint at its pc, if there is one. */
void rsp_arrivals_report(struct rsp *rsp, dbg_thread_id id);
/** Records that the breakpoint at @pc was removed or, if @away is false, inserted again. */
void rsp_arrivals_lift(struct rsp *rsp, uint64_t pc, bool away);
/** Returns true if the breakpoint at @pc was removed and has not been inserted again. */
bool rsp_arrivals_lifted(const struct rsp *rsp, uint64_t pc);
/** Called when gdb has stepped warp @id alone from @pc. If that was a step over a breakpoint, and the warp now waits for others,
 *  changes @stop to a completed step, and makes the stub report the warp inside the instruction at which it waits. */
void rsp_arrivals_stepped_alone(struct rsp *rsp, dbg_thread_id id, uint64_t pc, struct dbg_stop *stop);
/** Returns true if gdb had a breakpoint at @pc, and has removed it for a step of one warp. */
bool rsp_arrivals_is_unset(const struct rsp *rsp, uint64_t pc);
/** Returns true if lldb's breakpoint at @pc has a condition. */
bool rsp_arrivals_is_tested(const struct rsp *rsp, uint64_t pc);
/** Sets whether lldb's breakpoint @point has a condition, which only lldb knows. If it has one, lanes that do not execute the
 *  instruction do not hit it. */
void rsp_arrivals_set_tested(const struct rsp *rsp, const struct rsp_point *point, bool on);
/** Returns true if the stub shows warp @id inside the instruction at which it waits. */
bool rsp_arrivals_is_inside(const struct rsp *rsp, dbg_thread_id id);
/** Called when lldb reads memory at @address. Records this query if it is the first after a stop (after_stop). */
void rsp_arrivals_read(struct rsp *rsp, uint64_t address);
/** Called when lldb sends qMemoryRegionInfo. Records this query if it is the first after a stop (after_stop). */
void rsp_arrivals_region(struct rsp *rsp);
/** Called when lldb resumes. Derives from lldb's first query after the stop whether the breakpoint has a condition. */
void rsp_arrivals_resume(struct rsp *rsp);
/** Returns true if the last stop reported that the warp has hit a breakpoint. */
bool rsp_arrivals_hit(const struct rsp *rsp, const struct dbg_thread *thread);
/** Returns the pc to report to the client for a warp at @pc. If the warp is at a breakpoint that it has not hit yet, returns
 *  another address to lldb. */
uint64_t rsp_arrivals_pc(const struct rsp *rsp, dbg_thread_id id, uint64_t pc);
/** Returns true if the warp that lldb steps over a removed breakpoint is already past the breakpoint in lldb's view. In this
 *  case fills in @stop, and the caller runs nothing. */
bool rsp_arrivals_is_past(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop);
/** Steps warp @id alone over the breakpoint at @pc, which lldb has removed. */
enum lw_status rsp_arrivals_step_over(struct rsp *rsp, dbg_thread_id id, uint64_t pc,
                                      struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Drops a warp's record, because the warp now executes its instruction. */
void rsp_arrivals_drop(struct rsp *rsp, dbg_thread_id id);
/** Called before all warps continue. Returns true if another lane that has hit a breakpoint must be shown first. In this case
 *  fills in @stop, and the caller runs nothing. */
bool rsp_arrivals_next_lane(struct rsp *rsp, struct dbg_stop *stop);

/* rsp_lldb.c: queries of lldb */
void rsp_do_host_info(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_process_info(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_thread_suffix(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_threads_info(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_region(struct rsp *rsp, const struct rsp_args *args);
/** Appends "threads:..;thread-pcs:..;jstopinfo:..;" to a stop reply. */
void rsp_lldb_put_threads(struct rsp *rsp);
void rsp_do_libraries_read(struct rsp *rsp, const struct rsp_args *args);
/** Recognises lldb by its qSupported packet, and appends the features for lldb to the reply. */
void rsp_lldb_supported(struct rsp *rsp, const char *features, size_t size);
/** If a register packet ends with ";thread:ID;", makes that thread the view thread until rsp_lldb_restore(*before). Returns
 *  the size of the packet without this suffix. Sets *@gone if there is no such thread. */
size_t rsp_lldb_suffix(struct rsp *rsp, const char *payload, size_t size, dbg_thread_id *before,
                       bool *gone);
void rsp_lldb_restore(struct rsp *rsp, dbg_thread_id before);
/** Returns true if a write to register @number is part of lldb's `thread return`. */
bool rsp_lldb_returns(struct rsp *rsp, unsigned number);
/** Completes lldb's read of @size bytes, which ended after the first @got bytes because the next byte is not mapped: reads the
 *  mapped bytes among the remaining ones, and sets the other ones to 0. Returns the number of valid bytes in @data. */
uint64_t rsp_lldb_line(const struct rsp *rsp, dbg_thread_id id, uint64_t address, void *data,
                       uint64_t size, uint64_t got);
/** Changes @size bytes of @data, read at @address, for lldb: replaces code by a stand-in, and zeroes return addresses
 *  of kernels, so that lldb ends a backtrace there. */
void rsp_lldb_memory(const struct rsp *rsp, uint64_t address, void *data, uint64_t size);
/** Replaces the code in an ELF for lldb; the first segment is the code. */
void rsp_lldb_text(const struct rsp *rsp, uint8_t *elf, size_t size);
/** Deletes the file that was written for lldb. */
void rsp_lldb_close(struct rsp *rsp);

/* rsp_python.c: packets of the Python file */
extern const char rsp_python_text[]; /* text of the Python file, which is made of gdbstub/python/lanewise_gdb_*.py */
void rsp_do_python(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_disassemble(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_ask(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_focus(struct rsp *rsp, const struct rsp_args *args);

/* rsp_points.c: breakpoints with conditions and commands, and watchpoints; rsp_format.c: output of dprintf */
void rsp_do_point_add(struct rsp *rsp, const struct rsp_args *args, unsigned type);
void rsp_do_point_remove(struct rsp *rsp, const struct rsp_args *args, unsigned type);
void rsp_do_watch_lane(struct rsp *rsp, const struct rsp_args *args);
void rsp_points_clear(struct rsp *rsp);
void rsp_do_break_if(struct rsp *rsp, const struct rsp_args *args);
/** Returns true if the stoppoint is a watchpoint for writes. */
bool rsp_point_watches(const struct rsp_point *point);
/** Returns the connection's stoppoint with debug/'s id @id, or NULL. */
const struct rsp_point *rsp_point_find(const struct rsp *rsp, unsigned id);
/** Returns the lanes of @lanes in which a condition of the stoppoint is true that is false in @lane. Breakpoints of gdb at
 *  the same address share one stoppoint with all their conditions. gdb itself evaluates each condition only in @lane, and
 *  so ignores the hit of a breakpoint whose condition is true in other lanes only. */
uint64_t rsp_point_others(const struct rsp_point *point, dbg_thread_id id, unsigned lane,
                          uint64_t lanes);
/** Returns true if gdb has stepped warp @id alone from a breakpoint at @pc, and the focus lane is now at a breakpoint that gdb
 *  would wrongly report as hit: the condition is true, but the lane does not execute the instruction. */
bool rsp_point_is_unhit(const struct rsp *rsp, dbg_thread_id id, uint64_t pc, const struct dbg_stop *stop);
/** Returns the client's breakpoint at @pc, or NULL. */
const struct rsp_point *rsp_point_at(const struct rsp *rsp, uint64_t pc);
/** Returns the name of the stop reason for a stoppoint in a stop reply, or NULL if there is none. */
const char *rsp_point_reason(const struct rsp *rsp, const struct rsp_point *point);
/** Prints the output of gdb's dprintf for the focus lane of @id as a note. In @format, escapes such as \n are still two
 *  characters. */
void rsp_format(struct rsp *rsp, dbg_thread_id id, const char *format, size_t size,
                const uint64_t *args, unsigned count);

/* rsp_address.c: opens a listening socket for an address of rsp_serve. *path is set to the socket file that the caller
 * removes at the end, or to NULL. */
enum lw_status rsp_listen(const char *address, int *fd, unsigned *port, const char **path,
                          struct lw_error *err) LW_MUST_CHECK;

/* rsp_interrupt.c */
enum lw_status rsp_listener_create(struct dbg *dbg, bool (*interrupted)(void *context),
                                void *context, struct rsp_interrupt_listener **out) LW_MUST_CHECK;
void rsp_listener_destroy(struct rsp_interrupt_listener *listener);
void rsp_listener_begin(struct rsp_interrupt_listener *listener);
/** Makes the interrupt listener use another debugger. The target must not be running. */
void rsp_listener_change(struct rsp_interrupt_listener *listener, struct dbg *dbg);
void rsp_listener_end(struct rsp_interrupt_listener *listener);
/** Polls once, in the calling thread. Returns true when an interrupt is pending. */
bool rsp_listener_ask(struct rsp_interrupt_listener *listener);
/** Types of Z packets. */
enum { RSP_Z_SOFTWARE, RSP_Z_HARDWARE, RSP_Z_WATCH, RSP_Z_RWATCH, RSP_Z_AWATCH };

#endif
