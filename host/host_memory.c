/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the machine: allocates, frees, copies and fills global memory. */
#include "host/host_priv.h"

#include <stdio.h>

int lanewise_alloc(lanewise_machine *m, uint64_t bytes, const char *name, uint64_t *address)
{
    struct lw_error err;
    char own[32];
    enum lw_status status;

    if (m == NULL || address == NULL)
        return host_missing(m, "lanewise_alloc", "the address");
    status = host_begin(m, &err);
    snprintf(own, sizeof own, "buffer %u", m->buffers + 1);
    if (status == LW_OK)
        status = emu_alloc(m->machine, bytes, name != NULL ? name : own, 0, address, &err);
    if (status != LW_OK)
        return host_fail(m, &err);
    m->buffers++;
    return LANEWISE_OK;
}

int lanewise_free(lanewise_machine *m, uint64_t address)
{
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not the address of an allocation", (unsigned long long)address);
    return emu_free(m->machine, address, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}

int lanewise_reserve(lanewise_machine *m, uint64_t bytes, uint64_t *address)
{
    struct lw_error err;

    if (m == NULL || address == NULL)
        return host_missing(m, "lanewise_reserve", "the address");
    return host_begin(m, &err) == LW_OK && emu_reserve(m->machine, bytes, address, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}

int lanewise_unreserve(lanewise_machine *m, uint64_t address)
{
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not the address of a reservation", (unsigned long long)address);
    return emu_unreserve(m->machine, address, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}

int lanewise_map(lanewise_machine *m, uint64_t address, uint64_t bytes, const char *name, int read_only)
{
    struct lw_error err;
    char own[32];

    if (m == NULL)
        return LANEWISE_ERROR;
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not a reserved address", (unsigned long long)address);
    snprintf(own, sizeof own, "buffer %u", m->buffers + 1);
    if (emu_map(m->machine, address, bytes, name != NULL ? name : own, read_only != 0 ? EMU_ALLOC_READ_ONLY : 0, &err) != LW_OK)
        return host_fail(m, &err);
    m->buffers++;
    return LANEWISE_OK;
}

int lanewise_write(lanewise_machine *m, uint64_t address, const void *data, size_t bytes)
{
    struct lw_error err;

    if (m == NULL || (data == NULL && bytes != 0))
        return host_missing(m, "lanewise_write", "the data");
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not the address of an allocation", (unsigned long long)address);
    return emu_global_write(m->machine, address, data, bytes, &err) == LW_OK ? LANEWISE_OK
                                                                             : host_fail(m, &err);
}

int lanewise_read(lanewise_machine *m, uint64_t address, void *data, size_t bytes)
{
    struct lw_error err;

    if (m == NULL || (data == NULL && bytes != 0))
        return host_missing(m, "lanewise_read", "the data");
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not the address of an allocation", (unsigned long long)address);
    return emu_global_read(m->machine, address, data, bytes, &err) == LW_OK ? LANEWISE_OK
                                                                            : host_fail(m, &err);
}

int lanewise_peek(lanewise_machine *m, uint64_t address, void *data, size_t bytes)
{
    struct lw_error err;

    if (m == NULL || (data == NULL && bytes != 0))
        return host_missing(m, "lanewise_peek", "the data");
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not the address of an allocation", (unsigned long long)address);
    return emu_global_peek(m->machine, address, data, bytes, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}

int lanewise_copy(lanewise_machine *m, uint64_t to, uint64_t from, uint64_t bytes)
{
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (m->machine == NULL)
        return host_refuse(m, "0x%llx is not the address of an allocation", (unsigned long long)from);
    return emu_global_copy(m->machine, to, from, bytes, &err) == LW_OK ? LANEWISE_OK : host_fail(m, &err);
}

int lanewise_heap_limit(lanewise_machine *m, uint64_t bytes)
{
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (bytes > UINT32_MAX)
        return host_refuse(m, "a heap of %llu bytes is too large: the limit is %u", (unsigned long long)bytes, UINT32_MAX);
    if (host_begin(m, &err) != LW_OK)
        return host_fail(m, &err);
    emu_heap_limit(m->machine, (uint32_t)bytes);
    return LANEWISE_OK;
}

int lanewise_pending_limit(lanewise_machine *m, uint32_t launches)
{
    struct lw_error err;

    if (m == NULL)
        return LANEWISE_ERROR;
    if (host_begin(m, &err) != LW_OK || emu_pending_limit(m->machine, launches, &err) != LW_OK)
        return host_fail(m, &err);
    return LANEWISE_OK;
}

int lanewise_fill(lanewise_machine *m, uint64_t address, const void *pattern, size_t pattern_bytes, uint64_t bytes)
{
    enum { PIECE = 4096 };
    uint8_t piece[PIECE];
    uint64_t size;

    if (m == NULL || pattern == NULL)
        return host_missing(m, "lanewise_fill", "the pattern");
    if (pattern_bytes == 0 || pattern_bytes > PIECE || bytes % pattern_bytes != 0)
        return host_refuse(m, "a pattern of %zu byte%s cannot fill %llu byte%s", pattern_bytes, pattern_bytes == 1 ? "" : "s",
                           (unsigned long long)bytes, bytes == 1 ? "" : "s");
    if (bytes == 0)
        return LANEWISE_OK;
    size = m->machine != NULL ? emu_global_bytes(m->machine, address) : 0;
    if (size == 0)
        return host_refuse(m, "address 0x%llx is not inside an allocation", (unsigned long long)address);
    if (bytes > size) /* checked first, because a write in pieces would otherwise fail after some pieces */
        return host_refuse(m, "0x%llx: %llu byte%s not fit into the %llu byte%s up to the end of the allocation",
                           (unsigned long long)address, (unsigned long long)bytes, bytes == 1 ? " does" : "s do",
                           (unsigned long long)size, size == 1 ? "" : "s");
    memcpy(piece, pattern, pattern_bytes);
    for (size = pattern_bytes; 2 * size <= PIECE && size < bytes; size *= 2)
        memcpy(piece + size, piece, size);
    for (uint64_t done = 0; done < bytes; done += size) {
        if (size > bytes - done)
            size = bytes - done;
        if (lanewise_write(m, address + done, piece, size) != LANEWISE_OK)
            return LANEWISE_ERROR;
    }
    return LANEWISE_OK;
}

int lanewise_allocation(lanewise_machine *m, uint64_t address, uint64_t *begin, uint64_t *bytes)
{
    struct emu_allocation a;
    bool inside;

    if (m == NULL || begin == NULL || bytes == NULL)
        return host_missing(m, "lanewise_allocation", begin == NULL ? "the beginning" : "the size");
    if (m->machine == NULL || !emu_allocation_at(m->machine, address, &a, &inside) || !inside ||
        (a.flags & EMU_ALLOC_FREED) != 0)
        return host_refuse(m, "address 0x%llx is not inside an allocation", (unsigned long long)address);
    *begin = a.address;
    *bytes = a.size_bytes;
    return LANEWISE_OK;
}

void lanewise_address_range(const lanewise_machine *m, uint64_t *begin, uint64_t *end)
{
    const bool used = m != NULL && m->machine != NULL;

    if (begin != NULL)
        *begin = used ? ISA_GLOBAL_BASE : 0;
    if (end != NULL)
        *end = used ? ISA_GLOBAL_BASE + emu_machine_config(m->machine)->arena_bytes : 0;
}

void *lanewise_host_pointer(lanewise_machine *m, uint64_t address)
{
    return m != NULL && m->machine != NULL ? emu_global_share(m->machine, address) : NULL;
}
