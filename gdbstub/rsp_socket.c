/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP for the stub: one client at a time, on the loopback interface unless told otherwise.
 * Whoever can connect controls the machine, so nothing else is the default.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "gdbstub/rsp_priv.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { READ_BYTES = 16384, PENDING_BYTES = 1 << 20, SEND_SECONDS = 30 };

struct client {
    struct lw_sink out;
    int fd;
    bool deaf; /* a test's: Ctrl-C is not heard */
    _Atomic bool closed; /* also set by the watcher */
    uint8_t *pending; /* arrived while the target ran; read by the watcher */
    size_t pending_size, pending_capacity;
};

static void client_write(struct lw_sink *sink, const char *text, size_t size)
{
    struct client *client = (struct client *)sink;

    while (size != 0 && !client->closed) {
        ssize_t n = send(client->fd, text, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            client->closed = true; /* gone, or it has not read for SEND_SECONDS */
            return;
        }
        text += n;
        size -= (size_t)n;
    }
}

/* Called by the watcher while the target runs: Ctrl-C, or the client is gone. Other bytes
 * are kept for the protocol. */
static bool client_interrupted(void *context)
{
    struct client *client = context;
    bool interrupted = false;

    while (client->pending_size < PENDING_BYTES) {
        uint8_t bytes[256];
        ssize_t n = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n <= 0) {
            client->closed = true;
            return true;
        }
        if (!lw_grow(&client->pending, &client->pending_capacity,
                     client->pending_size + (size_t)n, 1)) {
            client->closed = true;
            return true;
        }
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] == 0x03)
                interrupted = !client->deaf;
            else
                client->pending[client->pending_size++] = bytes[i];
        }
    }
    return interrupted;
}

/* Bytes that came during a run, then (they may resume again) those of the next. */
static void feed_pending(struct rsp *rsp, struct client *client)
{
    while (client->pending_size != 0 && rsp_ended(rsp) == RSP_RUNNING) {
        uint8_t *data = client->pending;
        size_t size = client->pending_size;

        client->pending = NULL;
        client->pending_size = client->pending_capacity = 0;
        rsp_feed(rsp, data, size);
        free(data);
    }
}

static enum lw_status serve_client(const struct rsp_config *config, int fd,
                                   enum rsp_end *end, struct lw_error *err)
{
    struct client client = {.out = {client_write}, .fd = fd,
                            .deaf = (config->without >> RSP_F_INTERRUPT & 1) != 0};
    struct rsp *rsp = NULL;
    uint8_t *data = malloc(READ_BYTES);
    enum lw_status status;

    if (data == NULL)
        return LW_FAIL(err, LW_ENOMEM, "gdb stub: no memory for a connection");
    status = rsp_create(config, &client.out, &rsp, err);
    if (status != LW_OK)
        goto cleanup;
    rsp_set_poll(rsp, client_interrupted, &client);
    while (!client.closed && rsp_ended(rsp) == RSP_RUNNING) {
        ssize_t n = recv(fd, data, READ_BYTES, 0);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            break;
        rsp_feed(rsp, data, (size_t)n);
        feed_pending(rsp, &client);
    }
    /* A client that just went away left the machine as it is: it may come back. */
    *end = rsp_ended(rsp) == RSP_RUNNING ? RSP_DETACHED : rsp_ended(rsp);
cleanup:
    rsp_destroy(rsp);
    free(client.pending);
    free(data);
    return status;
}

/* "PORT", "HOST:PORT", "[V6]:PORT", ":PORT" into host and port texts. */
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

static enum lw_status listen_on(const char *address, int *fd, unsigned *port_out,
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
                       "gdb stub: \"%s\" is no address: use PORT or HOST:PORT with a port of "
                       "0 to 65535",
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

/* False: no client is waiting, and none will come any more. */
static bool client_waits(int listener, const int *gone_fd)
{
    struct pollfd fds[2] = {{.fd = listener, .events = POLLIN},
                            {.fd = gone_fd != NULL ? *gone_fd : -1, .events = POLLIN}};

    /* On an error accept says what it is. */
    return poll(fds, LW_COUNT_OF(fds), -1) <= 0 || fds[0].revents != 0 || fds[1].revents == 0;
}

enum lw_status rsp_serve(const struct rsp_config *config, const char *address, bool once,
                         void (*ready)(void *context, unsigned port), void *context,
                         struct lw_error *err)
{
    struct timeval send_timeout = {.tv_sec = SEND_SECONDS};
    enum rsp_end end = RSP_RUNNING;
    unsigned port;
    int listener;
    enum lw_status status = listen_on(address, &listener, &port, err);

    if (status != LW_OK)
        return status;
    if (ready != NULL)
        ready(context, port);
    while (status == LW_OK && end != RSP_KILLED && !(once && end == RSP_DETACHED) &&
           !dbg_ended(config->dbg)) {
        int one = 1, fd;

        if (!client_waits(listener, config->gone_fd))
            break;
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0) {
            if (errno != EINTR && errno != ECONNABORTED)
                status = LW_FAIL(err, LW_EIO, "gdb stub: accept: %s", strerror(errno));
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof send_timeout);
        status = serve_client(config, fd, &end, err);
        close(fd);
    }
    close(listener);
    if (config->ended != NULL)
        *config->ended = end;
    return status;
}
