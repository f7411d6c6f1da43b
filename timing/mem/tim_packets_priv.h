/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets: memory instructions of several warps that go through the load/store unit as one. While a packet is open its
 * members issue; an access of a later one to a line that an earlier one accesses is not made again, it rides:
 *
 *      member 0   line A   line B            accesses 0, 1 of its own
 *      member 1   line B   line C            rides on access 1 of member 0; access 0 of its own
 *
 * Here is which access of whom has a line, and who rides on it; instructions are numbers. What a ride waits for, and
 * that a packet has one place in the queue, is in timing/core/tim_lsu_body.h.
 */
#ifndef TIM_PACKETS_PRIV_H
#define TIM_PACKETS_PRIV_H

#include "base/lw.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIM_NO_LINK = 0xffffffff };
/** An element of a list of a pool: of rides, who rides on which access; of writes, whose answer it is. */
struct tim_link {
    uint32_t next; /* TIM_NO_LINK: the last */
    uint32_t value, step;
};
/** An access of a member that others may ride on. */
struct tim_packet_access {
    uint64_t line, like; /* only an access of the same kind, `like`, rides */
    uint32_t op, step;
    bool twice;          /* its member has another one to the line: none rides on either */
};
/** Lanes of members on shared memory, as those of one wide access. */
struct tim_packet_banks {
    uint8_t kind, bytes; /* of a lane: accesses of others are not in it */
    unsigned used;       /* lanes, with those that are not active */
    uint64_t lanes, address[64];
    unsigned passes;     /* that they need together */
    uint32_t op;         /* who made the first of these */
};
enum { TIM_STEP_BANKS = 0xfffffffe }; /* as the step of a ride: on passes over shared memory */
struct tim_packet_entry {
    uint32_t number;     /* 0: free */
    unsigned left;       /* members that have not made all their own accesses */
    unsigned waiting;    /* `together`: members whose data is missing */
    bool together;       /* all members have their data when the last has */
    uint64_t data_at;    /* together: the latest so far */
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
    uint32_t links, free; /* used ever; a list */
    size_t link_capacity;
};

/** NULL: no memory. */
struct tim_packets *tim_packets_create(void);
void tim_packets_destroy(struct tim_packets *packets);
/** The packet of number @number, not 0; NULL: there is none. */
struct tim_packet_entry *tim_packets_of(const struct tim_packets *packets, uint32_t number);
/** Instruction @op is a member of packet @number. *first: the first of it. False: no memory. */
bool tim_packets_join(struct tim_packets *packets, uint32_t number, uint32_t op, bool *first) LW_MUST_CHECK;
/** The packet is over. */
void tim_packets_drop(struct tim_packet_entry *packet);
/** The access that one to @line of the kind @like rides on; NULL: none. */
const struct tim_packet_access *tim_packets_find(const struct tim_packet_entry *packet, uint64_t line, uint64_t like);
/** Access @step of member @op is made for itself. False: no memory. */
bool tim_packets_access(struct tim_packet_entry *packet, uint64_t line, uint64_t like, uint32_t op,
                        uint32_t step) LW_MUST_CHECK;
/** The lanes on shared memory of @packet's members to which @lanes more of accesses of the kind go, by @op if they are the
 *  first. NULL: no memory. */
struct tim_packet_banks *tim_packets_banks(struct tim_packet_entry *packet, unsigned kind, unsigned bytes, unsigned lanes,
                                           uint32_t op);
/** Puts an element before *list. False: no memory. */
bool tim_packets_link(struct tim_packets *packets, uint32_t *list, uint32_t value, uint32_t step) LW_MUST_CHECK;
/** Takes the elements of @step out of *list, into one of their own, in their order. */
uint32_t tim_packets_take(struct tim_packets *packets, uint32_t *list, uint32_t step);
/** The first element of *list goes; returns its value. */
uint32_t tim_packets_unlink(struct tim_packets *packets, uint32_t *list);

#endif
