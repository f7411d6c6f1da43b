/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets: memory instructions of several warps that pass the load/store unit as one instruction. (Packets to memory,
 * struct tim_packet, are something else.) The instructions of a packet are its members; they issue while the packet is
 * open. If a member accesses a line that an earlier member accesses, the later member does not make this access. Instead, it
 * shares ("rides on") the earlier access, and is a rider of that access.
 *
 *      member 0   line A   line B            accesses 0, 1 of its own
 *      member 1   line B   line C            rides on access 1 of member 0; access 0 of its own
 *
 * This module records for each line of a packet the access and its riders. Instructions are identified by their index in
 * tim_core.op. timing/core/tim_lsu_body.h determines when riders complete. A packet occupies one entry of the load/store
 * queue.
 */
#ifndef TIM_PACKETS_PRIV_H
#define TIM_PACKETS_PRIV_H

#include "base/lw.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIM_NO_LINK = 0xffffffff };
/** Element of a list, in a pool. In the list of an instruction's riders, `value` is the rider, and `step` is the index of the
 *  access that the rider shares. In the list for the answer to a write, `value` is the result of count_write() for one
 *  receiver. */
struct tim_link {
    uint32_t next; /* next element, or TIM_NO_LINK if this is the last one */
    uint32_t value, step;
};
/** An access of a member that later members may share. */
struct tim_packet_access {
    uint64_t line, like; /* another member may share this access if it accesses `line` with the same kind `like` */
    uint32_t op, step;   /* the member that makes the access, and the index of the access in the member's accesses */
    bool twice;          /* the packet has a second access with equal `line` and `like`, so neither is shared */
};
/** Accesses of several members to shared memory, combined into one wide access. */
struct tim_packet_banks {
    uint8_t kind, bytes; /* kind, and bytes per lane, of the combined accesses */
    unsigned used;       /* number of lanes so far, including inactive lanes */
    uint64_t lanes, address[64];
    unsigned passes;     /* passes for all lanes together */
    uint32_t op;         /* the first member of the combined access */
};
enum { TIM_STEP_BANKS = 0xfffffffe }; /* value of tim_link.step: the rider shares passes over shared memory, not a line */
struct tim_packet_entry {
    uint32_t number;     /* number of the packet, or 0 if the entry is free */
    unsigned left;       /* number of members that still have accesses of their own to make */
    unsigned waiting;    /* together: number of members whose data has not arrived */
    bool together;       /* all members get their data in the cycle in which the last data arrives */
    uint64_t data_at;    /* together: latest cycle in which data of a member arrived */
    struct tim_packet_access *access;
    uint32_t *member;
    struct tim_packet_banks *banks;
    unsigned accesses, members, bank_sets; /* number of elements of `access`, `member` and `banks` */
    size_t access_capacity, member_capacity, bank_capacity;
};
struct tim_packets {
    struct tim_packet_entry *entry;
    size_t entries;
    struct tim_link *link;
    uint32_t links, free; /* number of elements of `link` that were ever used; first element of the list of free ones */
    size_t link_capacity;
};

/** Creates the empty set of packets of a core. Returns NULL if memory is short. */
struct tim_packets *tim_packets_create(void);
void tim_packets_destroy(struct tim_packets *packets);
/** Returns the packet with number @number, or NULL if there is none. For number 0, returns a free entry. */
struct tim_packet_entry *tim_packets_of(const struct tim_packets *packets, uint32_t number);
/** Adds instruction @op to packet @number, which is created if necessary. Sets *first to whether @op is the first member.
 *  Returns false if memory is short. */
bool tim_packets_join(struct tim_packets *packets, uint32_t number, uint32_t op, bool *first) LW_MUST_CHECK;
/** Frees the packet. */
void tim_packets_drop(struct tim_packet_entry *packet);
/** Returns the access of an earlier member that an access to @line of kind @like may share, or NULL if there is none. */
const struct tim_packet_access *tim_packets_find(const struct tim_packet_entry *packet, uint64_t line, uint64_t like);
/** Records that member @op itself makes an access to @line of kind @like, as its access with index @step. Returns false if
 *  memory is short. */
bool tim_packets_access(struct tim_packet_entry *packet, uint64_t line, uint64_t like, uint32_t op,
                        uint32_t step) LW_MUST_CHECK;
/** Returns the wide shared memory access of @packet that has this kind and size, and space for @lanes more lanes. If there
 *  is none, creates one with @op as its first member. Returns NULL if memory is short. */
struct tim_packet_banks *tim_packets_banks(struct tim_packet_entry *packet, unsigned kind, unsigned bytes, unsigned lanes,
                                           uint32_t op);
/** Prepends an element to *list. Returns false if memory is short. */
bool tim_packets_link(struct tim_packets *packets, uint32_t *list, uint32_t value, uint32_t step) LW_MUST_CHECK;
/** Removes the elements with step @step from *list, and returns a list of them in the same order. */
uint32_t tim_packets_take(struct tim_packets *packets, uint32_t *list, uint32_t step);
/** Removes the first element of *list, which must not be empty, and returns its value. */
uint32_t tim_packets_unlink(struct tim_packets *packets, uint32_t *list);

#endif
