/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of memory instructions: their members and accesses, and lists of riders. */
#include "timing/mem/tim_packets_priv.h"

#include <stdlib.h>

struct tim_packets *tim_packets_create(void)
{
    struct tim_packets *packets = calloc(1, sizeof *packets);

    if (packets != NULL)
        packets->free = TIM_NO_LINK;
    return packets;
}

void tim_packets_destroy(struct tim_packets *packets)
{
    if (packets == NULL)
        return;
    for (size_t i = 0; i < packets->entries; i++) {
        free(packets->entry[i].access);
        free(packets->entry[i].member);
        free(packets->entry[i].banks);
    }
    free(packets->entry);
    free(packets->link);
    free(packets);
}

struct tim_packet_entry *tim_packets_of(const struct tim_packets *packets, uint32_t number)
{
    for (size_t i = 0; i < packets->entries; i++) /* a linear search suffices, because there are at most as many packets as
                                                   * entries of the load/store queue */
        if (packets->entry[i].number == number)
            return &packets->entry[i];
    return NULL;
}

bool tim_packets_join(struct tim_packets *packets, uint32_t number, uint32_t op, bool *first)
{
    struct tim_packet_entry *packet = tim_packets_of(packets, number);

    *first = packet == NULL;
    if (packet == NULL)
        packet = tim_packets_of(packets, 0); /* a free entry */
    if (packet == NULL) {
        size_t had = packets->entries;

        if (!lw_grow(&packets->entry, &packets->entries, had + 1, sizeof *packets->entry))
            return false;
        for (size_t i = had; i < packets->entries; i++)
            packets->entry[i] = (struct tim_packet_entry){0};
        packet = &packets->entry[had];
    }
    if (!lw_grow(&packet->member, &packet->member_capacity, packet->members + 1u, sizeof *packet->member))
        return false;
    packet->number = number;
    packet->member[packet->members++] = op;
    packet->left++;
    packet->waiting++;
    return true;
}

void tim_packets_drop(struct tim_packet_entry *packet)
{
    packet->number = 0;
    packet->left = packet->waiting = packet->accesses = packet->members = packet->bank_sets = 0;
    packet->together = false;
    packet->data_at = 0;
}

static struct tim_packet_access *find(const struct tim_packet_entry *packet, uint64_t line, uint64_t like)
{
    for (unsigned i = 0; i < packet->accesses; i++)
        if (packet->access[i].line == line && packet->access[i].like == like)
            return &packet->access[i];
    return NULL;
}

const struct tim_packet_access *tim_packets_find(const struct tim_packet_entry *packet, uint64_t line, uint64_t like)
{
    const struct tim_packet_access *access = find(packet, line, like);

    return access == NULL || access->twice ? NULL : access;
}

bool tim_packets_access(struct tim_packet_entry *packet, uint64_t line, uint64_t like, uint32_t op, uint32_t step)
{
    struct tim_packet_access *before = find(packet, line, like);

    if (before != NULL) {
        before->twice = true;
        return true;
    }
    if (!lw_grow(&packet->access, &packet->access_capacity, packet->accesses + 1u, sizeof *packet->access))
        return false;
    packet->access[packet->accesses++] = (struct tim_packet_access){line, like, op, step, false};
    return true;
}

struct tim_packet_banks *tim_packets_banks(struct tim_packet_entry *packet, unsigned kind, unsigned bytes, unsigned lanes,
                                           uint32_t op)
{
    for (unsigned i = 0; i < packet->bank_sets; i++) {
        struct tim_packet_banks *banks = &packet->banks[i];

        if (banks->kind == kind && banks->bytes == bytes && banks->used + lanes <= LW_COUNT_OF(banks->address))
            return banks;
    }
    if (!lw_grow(&packet->banks, &packet->bank_capacity, packet->bank_sets + 1u, sizeof *packet->banks))
        return NULL;
    packet->banks[packet->bank_sets] = (struct tim_packet_banks){.kind = (uint8_t)kind, .bytes = (uint8_t)bytes, .op = op};
    return &packet->banks[packet->bank_sets++];
}

bool tim_packets_link(struct tim_packets *packets, uint32_t *list, uint32_t value, uint32_t step)
{
    uint32_t i = packets->free;

    if (i != TIM_NO_LINK)
        packets->free = packets->link[i].next;
    else if (lw_grow(&packets->link, &packets->link_capacity, packets->links + 1u, sizeof *packets->link))
        i = packets->links++;
    else
        return false;
    packets->link[i] = (struct tim_link){*list, value, step};
    *list = i;
    return true;
}

uint32_t tim_packets_take(struct tim_packets *packets, uint32_t *list, uint32_t step)
{
    uint32_t taken = TIM_NO_LINK, *end = &taken;

    while (*list != TIM_NO_LINK) {
        uint32_t i = *list;

        if (packets->link[i].step != step) {
            list = &packets->link[i].next;
            continue;
        }
        *list = packets->link[i].next;
        *end = i;
        end = &packets->link[i].next;
    }
    *end = TIM_NO_LINK;
    return taken;
}

uint32_t tim_packets_unlink(struct tim_packets *packets, uint32_t *list)
{
    uint32_t i = *list;

    *list = packets->link[i].next;
    packets->link[i].next = packets->free;
    packets->free = i;
    return packets->link[i].value;
}
