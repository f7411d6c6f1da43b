/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets: memory instructions of several warps that pass the load/store unit as one instruction. The members of a
 * packet issue while the packet is open. If a later member accesses a line that an earlier member accesses, the later
 * member does not make that access: it shares ("rides on") the earlier access.
 *
 *      member 0   line A   line B            accesses 0, 1 of its own
 *      member 1   line B   line C            rides on access 1 of member 0; access 0 of its own
 *
 * This module records the access for each line, and its riders. Instructions are identified by number.
 * timing/core/tim_lsu_body.h determines when riders complete, and gives a packet one place in the queue.
 */
#ifndef TIM_PACKETS_PRIV_H
#define TIM_PACKETS_PRIV_H

#include "base/lw.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIM_NO_LINK = 0xffffffff };
/** List element in a pool. For rides: the rider and the access; for writes: a receiver of the answer. */
struct tim_link {
    uint32_t next; /* TIM_NO_LINK: the last element */
    uint32_t value, step;
};
/** An access of a member that later members may share. */
struct tim_packet_access {
    uint64_t line, like; /* another access shares this one only if its kind equals `like` */
    uint32_t op, step;
    bool twice;          /* the member has another access to the line, so neither is shared */
};
/** Lanes of members that access shared memory, combined into one wide access. */
struct tim_packet_banks {
    uint8_t kind, bytes; /* kind, and bytes per lane, of the combined accesses */
    unsigned used;       /* number of lanes so far, including inactive lanes */
    uint64_t lanes, address[64];
    unsigned passes;     /* passes for all lanes together */
    uint32_t op;         /* the op of the first member */
};
enum { TIM_STEP_BANKS = 0xfffffffe }; /* step of a ride on passes over shared memory */
struct tim_packet_entry {
    uint32_t number;     /* number of the packet; 0: the entry is free */
    unsigned left;       /* number of members that still have accesses of their own to make */
    unsigned waiting;    /* together: number of members without their data */
    bool together;       /* no member gets its data before the last member */
    uint64_t data_at;    /* together: latest cycle in which a member's data arrived */
    struct tim_packet_access *access;
    uint32_t *member;
    struct tim_packet_banks *banks;
    unsigned accesses, members, bank_sets;
    size_t access_capacity, member_capacity, bank_capacity;
};
struct tim_packets {
    struct tim_packet_entry *entry;
    size_t entries;
    struct tim_link *link;
    uint32_t links, free; /* number of elements ever used; list of free elements */
    size_t link_capacity;
};

/** Returns NULL without memory. */
struct tim_packets *tim_packets_create(void);
void tim_packets_destroy(struct tim_packets *packets);
/** Returns the packet of number @number; NULL: none. 0 finds a free entry. */
struct tim_packet_entry *tim_packets_of(const struct tim_packets *packets, uint32_t number);
/** Adds instruction @op to packet @number. *first is set to whether it is the first member. Returns false without
 *  memory. */
bool tim_packets_join(struct tim_packets *packets, uint32_t number, uint32_t op, bool *first) LW_MUST_CHECK;
/** Frees the packet. */
void tim_packets_drop(struct tim_packet_entry *packet);
/** Returns the earlier access that an access to @line of kind @like may share; NULL: none. */
const struct tim_packet_access *tim_packets_find(const struct tim_packet_entry *packet, uint64_t line, uint64_t like);
/** Records access @step of member @op, which the member makes itself. Returns false without memory. */
bool tim_packets_access(struct tim_packet_entry *packet, uint64_t line, uint64_t like, uint32_t op,
                        uint32_t step) LW_MUST_CHECK;
/** Returns the record of shared-memory lanes of @packet that has accesses of this kind and space for @lanes more lanes.
 *  If there is no such record, creates it for @op. NULL: no memory. */
struct tim_packet_banks *tim_packets_banks(struct tim_packet_entry *packet, unsigned kind, unsigned bytes, unsigned lanes,
                                           uint32_t op);
/** Prepends an element to *list. Returns false without memory. */
bool tim_packets_link(struct tim_packets *packets, uint32_t *list, uint32_t value, uint32_t step) LW_MUST_CHECK;
/** Moves the elements of @step from *list to a new list, in their order, and returns it. */
uint32_t tim_packets_take(struct tim_packets *packets, uint32_t *list, uint32_t step);
/** Removes the first element of *list and returns its value. */
uint32_t tim_packets_unlink(struct tim_packets *packets, uint32_t *list);

#endif
