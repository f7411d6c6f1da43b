/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses at which the stub listens: TCP, on the loopback interface unless the address names another host, or a
 * socket in the file system that only its owner may use. Any program that can connect controls the emulator.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "gdbstub/rsp_priv.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Splits "PORT", "HOST:PORT", "[IPv6 address]:PORT" or ":PORT" into host and port. Returns false if the address has
 * another form, or if the port is not a number up to 65535. */
static bool split_address(const char *address, char *host, size_t room, const char **port)
{
    const char *colon = strrchr(address, ':');
    const char *from = address;
    size_t size = 0;
    uint64_t number;

    *port = colon != NULL ? colon + 1 : address;
    if (colon != NULL) {
        size = (size_t)(colon - address);
        if (size >= 2 && from[0] == '[' && from[size - 1] == ']') {
            from++;
            size -= 2;
        }
    }
    if (size >= room)
        return false;
    memcpy(host, from, size);
    host[size] = '\0';
    if (size == 0)
        snprintf(host, room, "127.0.0.1");
    if ((*port)[0] < '0' || (*port)[0] > '9')
        return false;
    return lw_parse_u64(*port, &number) && number <= 65535;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

bool rsp_address_is_open(const char *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *info = NULL;
    const char *port;
    char host[256];
    bool open = false;

    if (strncmp(address, "unix:", 5) == 0 || !split_address(address, host, sizeof host, &port) ||
        getaddrinfo(host, port, &hints, &info) != 0)
        return false;
    for (const struct addrinfo *i = info; i != NULL; i = i->ai_next)
        open |= !is_loopback(i->ai_addr);
    freeaddrinfo(info);
    return open;
}

static enum lw_status bind_to(const struct addrinfo *info, const char *address, int *out,
                              struct lw_error *err)
{
    int one = 1, last = 0;

    for (; info != NULL; info = info->ai_next) {
        int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);

        if (fd < 0) {
            last = errno;
            continue;
        }
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, 4) == 0) {
            *out = fd;
            return LW_OK;
        }
        last = errno;
        close(fd);
    }
    return LW_FAIL(err, LW_EIO, "gdb stub: cannot listen on %s: %s", address, strerror(last));
}

static enum lw_status listen_tcp(const char *address, int *fd, unsigned *port_out,
                                 struct lw_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *info = NULL;
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    char host[256];
    const char *port;
    enum lw_status status;
    int rc;

    if (!split_address(address, host, sizeof host, &port))
        return LW_FAIL(err, LW_EUSAGE,
                       "gdb stub: \"%s\" is not an address: use PORT or HOST:PORT with a port of "
                       "0 to 65535, or unix:PATH",
                       address);
    rc = getaddrinfo(host, port, &hints, &info);
    if (rc != 0)
        return LW_FAIL(err, LW_EUSAGE, "gdb stub: host \"%s\" of address \"%s\": %s", host,
                       address, gai_strerror(rc));
    status = bind_to(info, address, fd, err);
    freeaddrinfo(info);
    if (status != LW_OK)
        return status;
    if (getsockname(*fd, (struct sockaddr *)&bound, &size) != 0) {
        status = LW_FAIL(err, LW_EIO, "gdb stub: %s: %s", address, strerror(errno));
        close(*fd);
        return status;
    }
    *port_out = ntohs(bound.ss_family == AF_INET6
                          ? ((struct sockaddr_in6 *)&bound)->sin6_port
                          : ((struct sockaddr_in *)&bound)->sin_port);
    return LW_OK;
}

/* Returns true for a socket file on which no process listens, because its owner ended without removing the file. */
static bool stale(const struct sockaddr_un *name)
{
    struct stat st;
    bool refused;
    int fd;

    if (lstat(name->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    refused = connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 &&
              errno == ECONNREFUSED;
    close(fd);
    return refused;
}

static enum lw_status listen_unix(const char *path, int *out, struct lw_error *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    enum lw_status status;
    int fd;

    if (*path == '\0' || strlen(path) >= sizeof name.sun_path || strchr(path, ':') != NULL)
        return LW_FAIL(err, LW_EUSAGE,
                       "gdb stub: unix:%s: the path must have 1 to %zu characters without \":\" (otherwise gdb reads "
                       "it as a host name)",
                       path, sizeof name.sun_path - 1);
    memcpy(name.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return LW_FAIL(err, LW_EIO, "gdb stub: unix:%s: %s", path, strerror(errno));
    /* The mode is set before the socket has a name, so that no other user can connect at any time. */
    if (fchmod(fd, 0600) == 0) {
        if (stale(&name))
            unlink(path);
        if (bind(fd, (const struct sockaddr *)&name, sizeof name) == 0) {
            if (listen(fd, 4) == 0) {
                *out = fd;
                return LW_OK;
            }
            unlink(path);
        }
    }
    status = LW_FAIL(err, LW_EIO, "gdb stub: cannot listen on unix:%s: %s", path,
                     strerror(errno));
    close(fd);
    return status;
}

enum lw_status rsp_listen(const char *address, int *fd, unsigned *port, const char **path,
                          struct lw_error *err)
{
    *path = NULL;
    if (strncmp(address, "unix:", 5) != 0)
        return listen_tcp(address, fd, port, err);
    *path = address + 5;
    *port = 0;
    return listen_unix(address + 5, fd, err);
}
