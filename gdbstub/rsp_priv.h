/* SPDX-License-Identifier: Apache-2.0 */
/* Inside gdbstub/: the state of one connection, and who does what. */
#ifndef RSP_PRIV_H
#define RSP_PRIV_H

#include "gdbstub/gdbstub.h"

/** Rows of gdbstub/rsp_features.def. */
enum rsp_feature {
#define RSP_FEATURE(id, name, summary) RSP_F_##id,
#include "gdbstub/rsp_features.def"
    RSP_FEATURE_COUNT
};
/** Name ("no-ack") and what it gives; NULL past the last. */
const char *rsp_feature_name(unsigned feature);
const char *rsp_feature_summary(unsigned feature);
/** False: no feature has this name. */
bool rsp_feature_find(const char *name, enum rsp_feature *out);

/** One connection's protocol state, without a socket: bytes in, bytes out. rsp_socket.c reads the
 *  client's bytes and passes them to rsp_feed(); rsp_frame.c takes packets out of them and calls
 *  rsp_packet(). */
struct rsp;
enum lw_status rsp_create(const struct rsp_config *config, struct lw_sink *out,
                          struct rsp **rsp, struct lw_error *err) LW_MUST_CHECK;
void rsp_destroy(struct rsp *rsp);
/** Feed bytes from the client. Replies go to the sink. Never fails: what is not understood
 *  is answered as the protocol wants. */
void rsp_feed(struct rsp *rsp, const uint8_t *data, size_t size);
/** One packet's payload without framing and checksum, for tests and fuzzers. */
void rsp_packet(struct rsp *rsp, const char *payload, size_t size);
enum rsp_end rsp_ended(const struct rsp *rsp);
/** While the target runs, polls for 0x03: called by the running debugger often. */
void rsp_set_poll(struct rsp *rsp, bool (*interrupted)(void *context), void *context);

enum {
    RSP_PACKET_BYTES = 0x20000,   /* advertised PacketSize; longer payloads are refused */
    RSP_MAX_POINTS = 4096,        /* breakpoints of one connection */
    RSP_REG_BYTES = 1024,         /* the widest register: 64 lanes of 8 bytes, twice */
    RSP_SEARCH_BYTES = 64 << 20,  /* longest qCRC and qSearch */
    RSP_NAME_BYTES = 128
};
/** Where a warp that has ended is shown: where kernels return to. */
#define RSP_EXITED_PC DBG_LAUNCH_PC
#define RSP_PAST_PC (DBG_LAUNCH_PC + ISA_WORD_BYTES / 2) /* in <launch>, too, where no frame returns to */

/** gdb's own signal numbers, equal on every target architecture. */
enum rsp_signal {
    RSP_SIGINT = 0x02, RSP_SIGILL = 0x04, RSP_SIGTRAP = 0x05, RSP_SIGABRT = 0x06,
    RSP_SIGBUS = 0x0a, RSP_SIGSEGV = 0x0b, RSP_SIGUSR1 = 0x1e
};

/* ---- registers of the target description (rsp_target.c) ------------------------- */

/** What a register of the target architecture shows; the machine's own have RSP_ROLE_DEBUG. */
enum rsp_role {
    RSP_ROLE_ZERO,
    RSP_ROLE_PC,
    RSP_ROLE_SP,
    RSP_ROLE_RESULT,      /* what a function has returned: the first integer, or its address, */
    RSP_ROLE_RESULT_NEXT, /* the second integer, */
    RSP_ROLE_REAL,        /* the first floating-point word, */
    RSP_ROLE_REAL_NEXT,   /* the second */
    RSP_ROLE_DEBUG
};

struct rsp_reg {
    char name[24];
    enum rsp_role role;
    unsigned bytes;
    unsigned first, count; /* RSP_ROLE_DEBUG: rows of dbg_reg_at, concatenated */
};

struct rsp_arch_info {
    const char *name;         /* <architecture> */
    const char *triple;       /* for lldb */
    uint16_t elf_machine;
    unsigned fp, sp, pc;      /* register numbers, expedited in stop replies */
    bool watch_before;        /* gdb expects a watchpoint's stop before the access */
    bool watch_low;           /* and drops the top byte of its address */
    bool reals;               /* it has floating-point registers, where results may be */
};

/** The register table and target.xml; fixed for a connection. The first @mandatory
 *  registers are the target architecture's: they alone are in the `g` packet. */
struct rsp_target {
    const struct rsp_arch_info *arch;
    struct rsp_reg *regs;
    size_t count, capacity;
    unsigned mandatory;
    uint64_t without; /* of struct rsp_config */
    struct lw_buffer xml;
};
/** @without  of struct rsp_config */
enum lw_status rsp_target_init(struct rsp_target *target, enum rsp_arch arch,
                               uint64_t without, const struct dbg *dbg, struct lw_error *err)
    LW_MUST_CHECK;
void rsp_target_fini(struct rsp_target *target);
/** Value of a register of a thread, little-endian; @data has RSP_REG_BYTES. */
enum lw_status rsp_reg_read(const struct rsp_target *target, struct dbg *dbg,
                            dbg_thread_id id, unsigned number, uint8_t *data,
                            struct lw_error *err) LW_MUST_CHECK;
/** Errors: a sentence for registers that cannot be written and what debug/ refuses. */
enum lw_status rsp_reg_write(const struct rsp_target *target, struct dbg *dbg,
                             dbg_thread_id id, unsigned number, const uint8_t *data,
                             struct lw_error *err) LW_MUST_CHECK;

/* ---- agent expressions (rsp_agent.c) --------------------------------------------- */

/** What an expression may ask. Return false: cannot be read. */
struct rsp_agent_ops {
    bool (*reg)(void *context, unsigned number, uint64_t *value);
    bool (*memory)(void *context, uint64_t address, void *data, unsigned bytes);
    /** printf; may be NULL: an expression may not print. */
    void (*print)(void *context, const char *format, size_t size, const uint64_t *args,
                  unsigned count);
};
/** Evaluate gdb's bytecode. False when it cannot be evaluated: an unknown opcode, a stack
 *  or code overrun, unreadable memory, too many steps. @value NULL: it need not have one. */
bool rsp_agent_eval(const uint8_t *code, size_t size, const struct rsp_agent_ops *ops,
                    void *context, uint64_t *value);

/* ---- one connection ---------------------------------------------------------------- */

/** A Z packet in force. */
struct rsp_point {
    uint64_t address, size; /* as the client has it; size: 0 for breakpoints */
    uint64_t location;         /* of a watchpoint: the address that it means */
    unsigned type;          /* the digit after the Z */
    unsigned id;   /* of dbg_breakpoint_add */
    const void *code; /* conditions and commands (rsp_points.c), of that point; NULL: none */
};

/** Owner of a watchpoint of that type: the block, warp or lane that was in focus when the user
 *  set it. The Z packet, sent when the run resumes, does not name it. */
struct rsp_watch_lane {
    uint64_t address, size; /* size 0: none */
    unsigned type;          /* the digit after the Z */
    struct dbg_lane_ref lane_ref;
};

/** The watchpoint of the last reported stop. */
struct rsp_watch_report {
    uint64_t address, size; /* size 0: none */
    unsigned type;
};

/** The frame that a `reverse-finish` leaves, as far as it can be one (rsp_reverse.c). */
struct rsp_leaving {
    dbg_thread_id id;
    unsigned lane;
    uint64_t entry; /* of its function; 0: none */
    uint64_t cfa;
};

enum rsp_frame_state { RSP_IDLE, RSP_PAYLOAD, RSP_ESCAPED, RSP_SUM_HIGH, RSP_SUM_LOW };

/** A thread that only calls the poll function while the target runs (rsp_interrupt.c). */
struct rsp_watch;

/** A thread as gdb numbers it. */
struct rsp_number {
    dbg_thread_id id;
    unsigned number;
};

/** Position of a thread as the client has read it. */
struct rsp_known {
    dbg_thread_id id;
    uint64_t pc, retired;
    unsigned lane;
};

/** The warps in the thread list of gdb: all, the first @limit, those of a block, or, if there are many, those that
 *  it is likely to need: gdb's own time for each listed one, at each stop, is most of a step. */
struct rsp_listing {
    unsigned limit; /* 0: no limit */
    bool all, one_block;
    uint32_t block[3];
    dbg_thread_id focus[2]; /* listed in any case; as of rsp_listing_begin */
};

struct rsp {
    struct rsp_config config;
    struct dbg *dbg;
    struct lw_sink *out;
    enum rsp_end end;

    /* framing (rsp_frame.c) */
    enum rsp_frame_state state;
    char *packet; /* RSP_PACKET_BYTES */
    size_t packet_size;
    bool oversize, ack, no_ack_next;
    bool malformed; /* the packet ends in the middle of an escape */
    bool heard;     /* a whole packet was received */
    uint8_t sum, sum_sent;
    struct lw_buffer frame;  /* the last one sent, for `-` */
    const uint8_t *ahead;    /* bytes of this feed after the packet being handled */
    size_t ahead_size;

    struct lw_buffer reply;  /* payload under construction */
    struct lw_sink messages; /* debug's notes: O packets while running */
    struct lw_buffer note;   /* an unfinished line of them */
    bool reset; /* a monitor command wants the run to begin again */
    bool running, in_monitor;

    struct rsp_target target;
    struct lw_buffer osdata;  /* the table of `info os` that is being read */
    struct lw_buffer threads; /* thread list, kept from offset 0 until something changes */
    bool threads_valid;
    size_t thread_cursor;     /* of qsThreadInfo */
    struct rsp_listing listing;

    struct rsp_point *points;
    size_t point_count, point_capacity;

    uint8_t *elf;
    size_t elf_size;
    char elf_name[RSP_NAME_BYTES];

    /* rsp_thread.c: whose the packets are, and what the client thinks of threads */
    struct {
        dbg_thread_id view; /* of the last Hg or stop: whose registers and memory; 0: none yet */
        dbg_thread_id there; /* of the last Hg that was resident then */
        dbg_thread_id run;  /* of the last Hc; 0: any */
        dbg_thread_id stop; /* of the last stop */
    } named;
    struct rsp_number *numbers; /* by id */
    size_t number_count, number_capacity;
    unsigned last_number;
    bool numbers_lost;     /* they are not known */
    bool crowd_noted;       /* that it says a line of each new one */
    bool missing_noted;     /* what shows variables that are optimized out */
    struct rsp_number stops[32]; /* threads that stops named, and what they were then: */
    unsigned stop_next;    /* a ring */
    dbg_thread_id *listed; /* in the document that is being read, */
    size_t listed_count, listed_capacity;
    bool some;                /* only these are to be listed, ascending: */
    dbg_thread_id *wanted;
    size_t wanted_count, wanted_capacity;
    dbg_thread_id seen[32];    /* a ring of those that stops and commands were about lately */
    unsigned seen_next;
    struct rsp_known *known; /* by id; since the client resumed last */
    size_t known_count, known_capacity;

    /* A warp that ended in a step of its own: gdb steps over a breakpoint that way, and must find the thread
     * again. Its pc is RSP_EXITED_PC until something else runs. 0: none. `advance` and `until` insert
     * a breakpoint there, which gdb steps this thread over: its pc is RSP_PAST_PC then. */
    dbg_thread_id exited;
    bool exited_past;
    bool launch_wanted; /* a breakpoint is there: of `until` and `advance` in a kernel, and of nothing else */
    bool launch_lifted; /* the last word on the breakpoint there took it away, since the client resumed */
    bool exited_listed;   /* qsThreadInfo has listed it */
    /* What the user of gdb saw last: gdb continues by itself from a breakpoint that a lane of
     * another frame hits, and the focus must return to where it was. gdb requests the thread list
     * only after a stop that it shows. */
    bool shown;
    bool locks;           /* the last command let one warp run alone */
    uint64_t removed;     /* the last word on points took away the one here; 0: it did not */
    dbg_thread_id shown_thread; /* 0: not known */
    unsigned shown_lane;
    struct rsp_leaving leaving;
    uint64_t usual[64]; /* breakpoints that were there at the user's last command, */
    unsigned usual_count; /* so many */
    uint64_t goals[8];    /* and those that this command brought, as `advance` does: */
    unsigned goal_count;  /* so many */
    struct rsp_chosen {
        dbg_thread_id id;      /* 0: not known */
        bool listed, was_listed; /* the packet, the one before it was for the list of threads */
        bool apply_all;            /* `thread apply all` is under way, perhaps, */
        bool alone;            /* unless no other thread is queried: it was `thread N` after a stop, */
        dbg_thread_id apply_at;   /* has reached this thread, */
        bool down;             /* and goes to lower ones */
        dbg_thread_id shell;   /* where the last `monitor` went, since which none was selected; 0: nowhere */
    } chosen; /* the thread that the user selected, as far as gdb shows it */
    struct {
        dbg_thread_id id; /* 0: none */
        uint64_t pc;
        bool noted;
    } reported; /* a breakpoint, and the client has set or written nothing since */
    /* What was read lately in windows and above code: see rsp_window_record. */
    struct {
        uint64_t address, size, time; /* time 0: none */
    } windows[64];
    uint64_t window_time;
    struct rsp_watch_lane pins[128]; /* a ring */
    unsigned pin_next;
    struct rsp_break_if *break_ifs; /* conditions of breakpoints from the Python file (rsp_points.c) */
    size_t break_if_count, break_if_capacity;
    struct rsp_test **tests; /* conditions of watchpoints (rsp_watch_condition.c), each owned */
    size_t test_count, test_capacity;
    struct rsp_watch_report last_watch;    /* the last stop, where it was a watchpoint's */
    unsigned silent;         /* hits of those that gdb has continued from without showing one */
    dbg_thread_id suppress_next_step; /* its next step is gdb's own, over an access that is done: 0 none */
    /* The run has reached its end, which was reported to the client as a stop before it: the machine is in the
     * past, at one instruction before the end. The count of instructions at the end, plus one; 0: no */
    uint64_t end_reported;
    bool python;         /* the Python file is there: gdb looks again after monitor commands */
    bool interrupt_pending; /* Ctrl-C came between two steps */
    bool renewed;        /* gdb reads the program of the next run by itself */
    bool extended, killed; /* target extended-remote; its process is killed, */
    bool detached;         /* or left stopped: the client may attach again */
    bool swbreak, hwbreak, no_resumed; /* what the client said it knows */
    struct rsp_watch *watch;
    bool watch_failed;

    struct rsp_arrival {
        dbg_thread_id id; /* at a breakpoint since it had retired so many instructions, */
        uint64_t pc, retired;
        unsigned stop;  /* reported with this stop; */
        bool passed;    /* lldb takes it for having got past it; */
        uint64_t lanes; /* of its split, still to be shown there */
        unsigned first; /* the one that was in focus, */
        bool moved;     /* before others were shown */
    } *arrivals;        /* of lldb's, one a warp at most (rsp_arrivals.c) */
    size_t arrival_count, arrival_capacity;
    unsigned stop_number;
    struct {
        uint64_t pc;
        unsigned steps;
    } lifted[16]; /* breakpoints that lldb has taken away to step over them, and its steps since */
    unsigned lifted_count;
    uint64_t unset[64]; /* breakpoints that gdb has taken away since it resumed last, */
    unsigned unset_count;
    dbg_thread_id beside; /* a warp that waits, and that gdb sees next to one of them; 0: none; */
    uint64_t beside_pc, beside_shown; /* where it waits, and where gdb sees it */
    enum rsp_query {
        RSP_QUERY_NONE, RSP_QUERY_REGION, RSP_QUERY_DATA
    } after_stop; /* what lldb has asked first, beyond stacks */
    uint64_t tested[16]; /* breakpoints with a condition, a ring */
    unsigned tested_next;

    bool lldb;          /* the client is lldb; */
    bool thread_suffix; /* its packets about registers name a thread; */
    unsigned returning; /* the register that its `thread return` writes next at the earliest; 0: none */
    char module_folder[256], module[256 + RSP_NAME_BYTES]; /* its copy of the ELF; "": none */
};

/** The feature is on: always in the product. */
static inline bool rsp_has(const struct rsp *rsp, enum rsp_feature feature)
{
    return (rsp->config.without >> feature & 1) == 0;
}

/** The client has a process, which is stopped. */
static inline bool rsp_has_process(const struct rsp *rsp)
{
    return !rsp->killed && !rsp->detached;
}

/* framing: send a payload unchanged, and text as console output (O packets) */
void rsp_send(struct rsp *rsp, const char *payload, size_t size);
void rsp_send_console(struct rsp *rsp, const char *text, size_t size);
/** Ctrl-C is in the bytes already received after the packet being handled. */
bool rsp_interrupt_ahead(const struct rsp *rsp);

/* building a reply */
void rsp_put_hex(struct lw_buffer *reply, const void *data, size_t size);
/** With the escapes of binary replies. */
void rsp_put_binary(struct lw_buffer *reply, const void *data, size_t size);
/** Text of XML: <, >, &, " and line ends. */
void rsp_put_xml(struct lw_sink *out, const char *text, size_t size);
/** `E.sentence`, without characters that framing would take for its own. */
void rsp_put_error(struct lw_buffer *reply, const char *message);
/** Hex digits of @text into bytes; false for an odd count or another character. */
bool rsp_hex_decode(const char *text, size_t size, uint8_t *out);
int rsp_hex_digit(char c);
/** A hex number of 1..16 digits at *@text, which advances past it. */
bool rsp_hex_number(const char **text, const char *end, uint64_t *out);

/* ---- packets: the table (rsp_packets.c), handlers by theme ---------------------------- */

/** A packet's arguments after its row's schema took them apart. */
struct rsp_args {
    uint64_t n[4];
    const char *rest; /* what `*` matched */
    size_t rest_size;
};

/* rsp_features.c */
void rsp_do_supported(struct rsp *rsp, const struct rsp_args *args);
/** @without and what cannot be without those. */
uint64_t rsp_features_without(uint64_t without);

/* rsp_run.c: resuming and stop replies; its head describes the three phases of a resume and which
 * member remembers what for which client. */
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
/** The user resumes from what was shown; @back: by going back without end. */
void rsp_reverse_begin(struct rsp *rsp, bool back);
/** A breakpoint there came with the user's last command, and is not where the lane in focus returns. */
bool rsp_is_goal(const struct rsp *rsp, uint64_t address);
/** One instruction of the focus lane of @id is undone. gdb remembers what it watches as it was when it last
 *  stopped for it. So a step back that changes that is a hit, too: else the same change on the way forward
 *  would be none to gdb. The last one of a `reverse-finish` is that of the frame that was shown. */
enum lw_status rsp_reverse_step(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Prints what gdb does not show of a stop that is reported for thread @id (rsp_notes.c). */
void rsp_note_stop(struct rsp *rsp, const struct dbg_stop *stop, dbg_thread_id id);
/** The run had reached its end and was moved before it only for inspection: moves to the end. */
void rsp_to_end(struct rsp *rsp);
/* rsp_monitor.c */
void rsp_do_monitor(struct rsp *rsp, const struct rsp_args *args);

/* rsp_thread.c: whose packets are */
bool rsp_resident(const struct rsp *rsp, dbg_thread_id id);
/** The thread that packets on registers and memory are about. It may be gone: these are errors then. */
dbg_thread_id rsp_view(const struct rsp *rsp);
/** It is the one that ended in its step; or that, or not resident. */
bool rsp_view_exited(const struct rsp *rsp);
bool rsp_view_is_exited(const struct rsp *rsp);
void rsp_view_set(struct rsp *rsp, dbg_thread_id id);
/** Where the debugger core has its focus, which commands and stops move; no packet is about that one. */
dbg_thread_id rsp_focus(const struct rsp *rsp);
/** To a thread, for what asks the core and names none; one that is not resident leaves it where it is. */
void rsp_focus_on(struct rsp *rsp, dbg_thread_id id);
void rsp_do_thread_view(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_thread_run(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_thread_alive(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_current(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_shown(struct rsp *rsp, const struct rsp_args *args);
/** The client asks whether a thread, which is resident, is alive. */
void rsp_chosen_ask(struct rsp *rsp, dbg_thread_id id);
/** It writes registers. */
void rsp_chosen_written(struct rsp *rsp);
/** The thread that its user chose, as far as the client shows it; 0: not known. */
dbg_thread_id rsp_chosen(const struct rsp *rsp);
void rsp_chosen_set(struct rsp *rsp, dbg_thread_id id);
/** gdb begins to number threads anew; it hears of a thread in a stop; it has read the whole list. */
void rsp_numbers_forget(struct rsp *rsp);
void rsp_numbers_stop(struct rsp *rsp, dbg_thread_id id);
void rsp_numbers_list(struct rsp *rsp, const dbg_thread_id *ids, size_t count);
/** Before a stop of a thread is reported: what the last stop of it called it, where gdb will give it another number;
 *  else 0. @now: that one. */
unsigned rsp_number_before(const struct rsp *rsp, dbg_thread_id id, unsigned *now);
/** Before a stop is reported: how many of the listed threads gdb has not heard of. */
unsigned rsp_numbers_new(const struct rsp *rsp);
/** gdb's own number of a thread; 0: not known. */
unsigned rsp_number(const struct rsp *rsp, dbg_thread_id id);
/** "block(3,0,0) w0": what a thread is called in sentences, as gdb may have another number for it than we do. */
void rsp_warp_print(const struct rsp *rsp, dbg_thread_id id, struct lw_sink *out);
/** The client reads a thread's position; it resumes, or writes state that may change it. */
void rsp_known_record(struct rsp *rsp, dbg_thread_id id);
void rsp_known_forget(struct rsp *rsp);
/** Is the thread's position that the client has read outdated? `monitor` has moved it then. */
bool rsp_known_wrong(const struct rsp *rsp, dbg_thread_id id);
/* rsp_watch_condition.c: conditions of watchpoints, which gdb does not send */
void rsp_do_watch_if(struct rsp *rsp, const struct rsp_args *args);
/** A watchpoint is there now: its condition is tested here if it is known. */
void rsp_test_attach(struct rsp *rsp, const struct rsp_point *point);
/** Before a hit is reported. If gdb knows an older value than the one before the hit, the machine goes to the last
 *  hit that was false, which is reported instead, without text: true. @began: instructions at the command's begin. */
bool rsp_test_before(struct rsp *rsp, bool back, uint64_t began, struct dbg_stop *stop);
/** A stop is reported; its text is not for the user, since gdb tests the condition; the client resumes. */
void rsp_test_reported(struct rsp *rsp, const struct dbg_stop *stop);
bool rsp_test_is_silent(const struct rsp *rsp, const struct dbg_stop *stop);
void rsp_test_resumes(struct rsp *rsp);
/** In a run: a line now and then where gdb goes from hit to hit. */
void rsp_test_progress(struct rsp *rsp);
void rsp_tests_free(struct rsp *rsp);
/* rsp_data.c, rsp_monitor.c, rsp_run.c: what the client has seen, and the frame of a run */
/** The client has read there. An aarch64 gdb drops the top byte of the addresses that it watches, and with it
 *  the window: it is that of what gdb has read last at such an address, as it does to know the old value. */
void rsp_window_record(struct rsp *rsp, uint64_t address, uint64_t size);
/** A thread list is made now. */
void rsp_listing_begin(struct rsp *rsp);
/** The client hears of this thread: it is listed from now on. */
void rsp_thread_seen(struct rsp *rsp, dbg_thread_id id);
/** Is a warp, the @index-th resident one, in the thread list? */
bool rsp_thread_listed(const struct rsp *rsp, unsigned index, const struct dbg_thread *thread);
/** Between these the watcher polls for Ctrl-C and debug's notes become console text. */
void rsp_run_begin(struct rsp *rsp);
void rsp_run_end(struct rsp *rsp);
void rsp_messages_init(struct rsp *rsp);

/* rsp_process.c: ends and beginnings */
void rsp_do_attached(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_attach(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_extended(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_renew(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_run(struct rsp *rsp, const struct rsp_args *args);
/** The program begins again, from what @name says ("": the same launch). Breakpoints go.
 *  Errors: LW_EUNSUPP when it cannot; those of the launch. */
enum lw_status rsp_restart(struct rsp *rsp, const char *name, struct lw_error *err) LW_MUST_CHECK;
void rsp_do_restart(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_detach(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_kill(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_vkill(struct rsp *rsp, const struct rsp_args *args);
/** The program is killed, by the client or by a signal. */
void rsp_process_ended(struct rsp *rsp);
/** What a connection is made of again after its program began anew. */
enum lw_status rsp_describe(struct rsp *rsp, struct lw_error *err) LW_MUST_CHECK;

/* rsp_data.c: registers, memory, served files */
/** Register of a thread; @number is one of the description's. One that has ended has its pc in <launch>, and zeros: if
 *  reading is an error gdb 13 accepts no command any more, not even one that would select another thread. */
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
/** dbg_mem_read and dbg_mem_write for a thread, as far as the windows are served. */
uint64_t rsp_mem_read(const struct rsp *rsp, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size);
void rsp_do_search(struct rsp *rsp, const struct rsp_args *args);
/** One piece of a document: 'm' more follows, 'l' the last. */
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
/** The ELF with the target architecture's e_machine, and its name. */
enum lw_status rsp_elf_init(struct rsp *rsp, struct lw_error *err) LW_MUST_CHECK;

/* rsp_arrivals.c: breakpoint hits as lldb sees them */
/** At a stop after all have run: who has hit a breakpoint with it. */
void rsp_arrivals_record(struct rsp *rsp, const struct dbg_stop *stop);
/** The next stop reply is about this warp: if it is at a breakpoint, it has hit it. */
void rsp_arrivals_report(struct rsp *rsp, dbg_thread_id id);
/** A breakpoint is taken away, or there again. */
void rsp_arrivals_lift(struct rsp *rsp, uint64_t pc, bool away);
bool rsp_arrivals_lifted(const struct rsp *rsp, uint64_t pc);
/** gdb has let a warp step alone, from @pc. If that was a step over a breakpoint and the warp waits there, @stop is one
 *  next to the breakpoint. */
void rsp_arrivals_stepped_alone(struct rsp *rsp, dbg_thread_id id, uint64_t pc, struct dbg_stop *stop);
/** lldb reads there. */
void rsp_arrivals_read(struct rsp *rsp, uint64_t address);
/** It asks for free addresses. */
void rsp_arrivals_region(struct rsp *rsp);
/** It resumes, whatever runs then. */
void rsp_arrivals_resume(struct rsp *rsp);
/** Has it hit with the last stop? */
bool rsp_arrivals_hit(const struct rsp *rsp, const struct dbg_thread *thread);
/** The pc that the client sees of a warp at @pc: in lldb never at a breakpoint that it has not hit. */
uint64_t rsp_arrivals_pc(const struct rsp *rsp, dbg_thread_id id, uint64_t pc);
/** lldb steps a warp over a breakpoint, which it has taken away: is it past it already? Then the stop is
 *  there, and nothing runs. */
bool rsp_arrivals_is_past(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop);
/** Steps warp @id alone over the breakpoint at @pc, which lldb has removed. */
enum lw_status rsp_arrivals_step_over(struct rsp *rsp, dbg_thread_id id, uint64_t pc,
                                      struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** The warp is stepped otherwise. */
void rsp_arrivals_drop(struct rsp *rsp, dbg_thread_id id);
/** Before all continue: is there a lane to be shown first? Then the stop is there, and nothing runs. */
bool rsp_arrivals_next_lane(struct rsp *rsp, struct dbg_stop *stop);

/* rsp_lldb.c: what lldb asks */
void rsp_do_host_info(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_process_info(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_thread_suffix(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_threads_info(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_region(struct rsp *rsp, const struct rsp_args *args);
/** For a stop reply: "threads:..;thread-pcs:..;jstopinfo:..;". */
void rsp_lldb_put_threads(struct rsp *rsp);
void rsp_do_libraries_read(struct rsp *rsp, const struct rsp_args *args);
/** Is the client lldb, by what it says in qSupported? Adds to the answer what it alone gets. */
void rsp_lldb_supported(struct rsp *rsp, const char *features, size_t size);
/** Cuts ";thread:ID;" off a packet about registers, and shows that thread until
 *  rsp_lldb_restore(*before). @gone: there is no such thread. */
size_t rsp_lldb_suffix(struct rsp *rsp, const char *payload, size_t size, dbg_thread_id *before,
                       bool *gone);
void rsp_lldb_restore(struct rsp *rsp, dbg_thread_id before);
/** A write to register @number: is it one of its `thread return`, beyond the first? */
bool rsp_lldb_returns(struct rsp *rsp, unsigned number);
/** A line of which @got bytes could be read, also where only a later part of it exists. */
uint64_t rsp_lldb_line(const struct rsp *rsp, dbg_thread_id id, uint64_t address, void *data,
                       uint64_t size, uint64_t got);
/** What lldb is to see of @got bytes at @address, where it wanted @size: how many, in @data. */
uint64_t rsp_lldb_memory(const struct rsp *rsp, uint64_t address, void *data, uint64_t got,
                         uint64_t size);
/** The code of it in the bytes of an ELF, whose first segment is the code. */
void rsp_lldb_text(const struct rsp *rsp, uint8_t *elf, size_t size);
/** Removes the file that was written for lldb. */
void rsp_lldb_close(struct rsp *rsp);

/* rsp_python.c: what the Python file asks for */
extern const char rsp_python_text[]; /* gdbstub/lanewise_gdb_*.py */
void rsp_do_python(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_disassemble(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_ask(struct rsp *rsp, const struct rsp_args *args);
void rsp_do_focus(struct rsp *rsp, const struct rsp_args *args);

/* rsp_points.c: breakpoints with conditions and commands, watchpoints; rsp_format.c */
void rsp_do_point_add(struct rsp *rsp, const struct rsp_args *args, unsigned type);
void rsp_do_point_remove(struct rsp *rsp, const struct rsp_args *args, unsigned type);
void rsp_do_watch_lane(struct rsp *rsp, const struct rsp_args *args);
void rsp_points_clear(struct rsp *rsp);
void rsp_do_break_if(struct rsp *rsp, const struct rsp_args *args);
/** A watchpoint that writes hit. */
bool rsp_point_watches(const struct rsp_point *point);
/** The connection's point with debug's id @id, or NULL. */
const struct rsp_point *rsp_point_find(const struct rsp *rsp, unsigned id);
/** Lanes of @lanes for which a condition of the point holds that does not hold for @lane: gdb looks
 *  at this one alone, and takes the breakpoints of the others for not hit. */
uint64_t rsp_point_others(const struct rsp_point *point, dbg_thread_id id, unsigned lane,
                          uint64_t lanes);
/** The client's breakpoint that is there, or NULL. */
const struct rsp_point *rsp_point_at(const struct rsp *rsp, uint64_t pc);
/** What a stop reply calls a stop at it; NULL: nothing. */
const char *rsp_point_reason(const struct rsp *rsp, const struct rsp_point *point);
/** printf of gdb's, for a lane: into the notes. Its format has escapes of C still. */
void rsp_format(struct rsp *rsp, dbg_thread_id id, const char *format, size_t size,
                const uint64_t *args, unsigned count);

/* rsp_address.c: a listening socket for an address of rsp_serve; *path: to remove at the end */
enum lw_status rsp_listen(const char *address, int *fd, unsigned *port, const char **path,
                          struct lw_error *err) LW_MUST_CHECK;

/* rsp_interrupt.c */
enum lw_status rsp_watch_create(struct dbg *dbg, bool (*interrupted)(void *context),
                                void *context, struct rsp_watch **out) LW_MUST_CHECK;
void rsp_watch_destroy(struct rsp_watch *watch);
void rsp_watch_begin(struct rsp_watch *watch);
/** Another debugger from now on, while nothing runs. */
void rsp_watch_change(struct rsp_watch *watch, struct dbg *dbg);
void rsp_watch_end(struct rsp_watch *watch);
/** Ask once, in the calling thread; true when an interrupt is waiting. */
bool rsp_watch_ask(struct rsp_watch *watch);
/** Types of Z packets. */
enum { RSP_Z_SOFTWARE, RSP_Z_HARDWARE, RSP_Z_WATCH, RSP_Z_RWATCH, RSP_Z_AWATCH };

#endif
