/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: one client at a time is served. An acceptor thread passes the first client to the serving thread, and
 * refuses any other with a message. A client that is silent may be replaced (struct rsp_config, patience_ms).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "gdbstub/rsp_priv.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_BYTES = 16384, PENDING_BYTES = 1 << 20, READ_BATCH = 1024, SEND_SECONDS = 30,
    /* TCP keep-alive: a peer that is silent for KEEP_IDLE seconds is probed KEEP_PROBES times, every KEEP_PROBE seconds. */
    KEEP_IDLE = 20, KEEP_PROBE = 5, KEEP_PROBES = 3,
    /* A debugger sends bursts of requests and waits for each reply. If both processes sleep while they wait, waking up
     * takes four fifths of the time of a request. During a burst, the stub therefore polls for the next packet for BURST_US
     * microseconds after each reply. */
    BURST_US = 300,
    HANDOVER_SECONDS = 1, /* time for which a new client waits for the served one to disconnect, before it is refused */
    PATIENCE_MS = 10000,  /* default of patience_ms in struct rsp_config */
    REFUSE_MS = 1000      /* time in which a refused client gets its message; other new clients wait meanwhile */
};

struct client {
    struct lw_sink out;
    int fd;
    bool deaf; /* Ctrl-C is ignored; only tests set this */
    _Atomic bool closed; /* the connection is closed; also set by the interrupt listener */
    uint8_t *pending; /* bytes that the interrupt listener has received while the target ran */
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
            client->closed = true; /* the client has disconnected, or has not read for SEND_SECONDS */
            return;
        }
        text += n;
        size -= (size_t)n;
    }
}

/* Returns true if the client has sent Ctrl-C or has disconnected; the interrupt listener calls this function while the target
 * runs. Other bytes that arrive are stored in client->pending. */
static bool client_interrupted(void *context)
{
    struct client *client = context;
    bool interrupted = false;

    /* The number of reads is limited: a client that never stops sending must not keep the run from ending. */
    for (unsigned batch = 0; batch < READ_BATCH; batch++) {
        uint8_t bytes[256];
        ssize_t n;

        if (client->closed)
            return true;
        n = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);

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
                interrupted |= !client->deaf;
            else if (bytes[i] != '+' || client->pending_size != 0) /* an acknowledgement before a packet is dropped */
                client->pending[client->pending_size++] = bytes[i];
        }
        /* No debugger sends that much without a reply, so the connection is closed. If the input were left unread
         * instead, neither Ctrl-C nor the end of the connection would be noticed. */
        if (client->pending_size >= PENDING_BYTES) {
            client->pending_size = 0;
            client->closed = true;
            return true;
        }
    }
    return interrupted;
}

/* Handles the packets that arrived during a run. If these packets resume the target, also handles the packets that arrive
 * during that run. */
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

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Receives bytes. If a burst is @under_way, polls for BURST_US before it sleeps, and yields the processor between polls,
 * because the client may need it. Sets @under_way if the bytes arrived within that time. */
static ssize_t receive(int fd, uint8_t *data, size_t size, bool *under_way)
{
    int64_t since = now_us();
    ssize_t n = -1;

    while (*under_way) {
        n = recv(fd, data, size, MSG_DONTWAIT);
        if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return n;
        if (now_us() - since > BURST_US)
            break;
        sched_yield();
    }
    n = recv(fd, data, size, 0);
    *under_way = now_us() - since <= BURST_US;
    return n;
}

/* Shared state of the acceptor thread and the serving thread. */
struct acceptor {
    int listener, wake[2]; /* wake: a pipe; when its write end is closed, the acceptor thread ends */
    int gone;              /* descriptor that is readable when no client will connect any more, or -1 if there is none */
    int quit;              /* descriptor that is readable when the process must end, or -1 if there is none */
    bool refuse;           /* other clients are refused with a message; false in some tests, in which other clients wait */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int waiting; /* accepted socket that the serving thread has not taken yet, or -1 if there is none */
    bool busy;   /* a client is being served */
    int client;  /* socket of the client being served, or -1 if there is none */
    _Atomic int64_t heard_ms; /* time of the served client's last packet; 0: it has sent none */
    int64_t refused_ms;       /* time when a client was last refused; 0: never. Used by the acceptor thread only */
    int64_t patience_ms;      /* value of patience_ms in struct rsp_config */
    bool closing;
    bool shut;             /* no client is accepted any more */
    enum lw_status status; /* LW_OK, or the error after which no client is accepted any more */
    struct lw_error err;
};

/* Waits for the client's first packet. Returns false if the client has sent nothing within patience_ms. */
static bool is_patient(const struct rsp_config *config, const struct rsp *rsp, int fd, int64_t since)
{
    static const char text[] = "gdb stub: a client was disconnected because it sent no request\n";
    int64_t left = since + config->patience_ms - now_us() / 1000;
    struct pollfd input = {.fd = fd, .events = POLLIN};

    if (rsp->heard || (left > 0 && poll(&input, 1, (int)left) != 0))
        return true;
    if (config->terminal != NULL)
        lw_put(config->terminal, text);
    return false;
}

/* Serves one client. If the client restarts the program, the new program is stored in @config. */
static enum lw_status serve_client(struct rsp_config *config, struct acceptor *acceptor, int fd,
                                   enum rsp_end *end, struct lw_error *err)
{
    struct client client = {.out = {client_write}, .fd = fd,
                            .deaf = (config->without >> RSP_F_INTERRUPT & 1) != 0};
    struct rsp *rsp = NULL;
    uint8_t *data = malloc(READ_BYTES);
    bool burst = false;
    int64_t since = now_us() / 1000;
    enum lw_status status;

    if (data == NULL)
        return LW_FAIL(err, LW_ENOMEM, "gdb stub: the host has no memory for a connection");
    status = rsp_create(config, &client.out, &rsp, err);
    if (status != LW_OK)
        goto cleanup;
    rsp_set_poll(rsp, client_interrupted, &client);
    while (!client.closed && rsp_ended(rsp) == RSP_RUNNING && is_patient(config, rsp, fd, since)) {
        ssize_t n = receive(fd, data, READ_BYTES, &burst);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            break;
        if (rsp->heard)
            acceptor->heard_ms = now_us() / 1000;
        rsp_feed(rsp, data, (size_t)n);
        if (rsp->heard)
            acceptor->heard_ms = now_us() / 1000;
        feed_pending(rsp, &client);
    }
    /* If the client disconnected without a detach or kill, the machine stays as it is, and a client may connect again. */
    *end = rsp->killed || (rsp_ended(rsp) == RSP_RUNNING && config->quit_kills) ? RSP_KILLED
                                                                                : rsp_ended(rsp);
    rsp_to_end(rsp);
    config->stop_at_end = rsp->config.stop_at_end;
    config->dbg = rsp->config.dbg;
    config->object = rsp->config.object;
    config->monitor = rsp->config.monitor;
cleanup:
    rsp_destroy(rsp);
    free(client.pending);
    free(data);
    return status;
}

/* ---- accepting ------------------------------------------------------------------------- */

/* Waits for input on @fd. Returns false if there is none within @ms milliseconds, or if the acceptor closes. */
static bool input_within(const struct acceptor *acceptor, int fd, int ms)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = acceptor->wake[0], .events = POLLIN}};
    int n;

    do
        n = poll(fds, 2, ms);
    while (n < 0 && errno == EINTR);
    return n > 0 && fds[1].revents == 0 && fds[0].revents != 0;
}

/* Refuses a client with a message, which is sent as an error reply to the client's first packet. gdb shows this message.
 * lldb would not show it, and would wait half a minute for the reply to its next packet. lldb is recognised by its first
 * packet, QStartNoAckMode, and gets no reply: it then reports immediately that the connection was shut down. */
static void refuse_client(const struct acceptor *acceptor, int fd)
{
    static const char text[] =
        "E.another debugger is connected to this program: disconnect it first; if it does not respond any more, "
        "connect again now to replace it";
    char frame[sizeof text + 8];
    uint8_t bytes[512];
    unsigned sum = 0;
    bool refused = false;
    int64_t until = now_us() / 1000 + REFUSE_MS, left;

    for (const char *p = text; *p != '\0'; p++)
        sum += (uint8_t)*p;
    snprintf(frame, sizeof frame, "+$%s#%02x", text, sum & 255);
    /* The input is read to its end, because closing a socket with unread input resets the connection, and the message
     * would be lost. */
    while ((left = until - now_us() / 1000) > 0 && input_within(acceptor, fd, (int)left)) {
        ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (n <= 0 || (!refused && memmem(bytes, (size_t)n, "$QStartNoAckMode", 16) != NULL))
            break;
        if (refused || memchr(bytes, '#', (size_t)n) == NULL)
            continue;
        (void)!send(fd, frame, strlen(frame), MSG_NOSIGNAL | MSG_DONTWAIT);
        shutdown(fd, SHUT_WR);
        refused = true;
    }
    close(fd);
}

static void prepare(int fd)
{
    struct timeval send_timeout = {.tv_sec = SEND_SECONDS};
    int one = 1, idle = KEEP_IDLE, probe = KEEP_PROBE, probes = KEEP_PROBES;

    /* The TCP options fail on sockets in the file system, which need none of them. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe, sizeof probe);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof send_timeout);
}

/* Disconnects the served client if a new client, which connected at @came_ms, may take its place. A client that has sent
 * nothing yet is replaced by any new client. A client that has sent nothing for half of patience_ms is replaced if the new one
 * connects within patience_ms after a client was refused. Returns false if the served client stays connected. */
static bool make_leave(struct acceptor *acceptor, int64_t came_ms)
{
    int64_t heard = acceptor->heard_ms;
    bool silent = heard == 0,
         returned = acceptor->refused_ms != 0 && came_ms - acceptor->refused_ms < acceptor->patience_ms &&
                 now_us() / 1000 - heard >= acceptor->patience_ms / 2;

    if (!silent && !returned)
        return false;
    pthread_mutex_lock(&acceptor->mutex);
    if (acceptor->client >= 0)
        shutdown(acceptor->client, SHUT_RDWR);
    pthread_mutex_unlock(&acceptor->mutex);
    return true;
}

/* Passes a client to the serving thread. If another client is being served, waits up to HANDOVER_SECONDS until that client has
 * disconnected. Returns false if that client is still being served then. */
static bool hand_over(struct acceptor *acceptor, int fd)
{
    struct timespec until;
    bool taken = false, late = false;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += HANDOVER_SECONDS;
    pthread_mutex_lock(&acceptor->mutex);
    while ((acceptor->busy || acceptor->waiting >= 0) && !acceptor->closing && !late) {
        if (!acceptor->refuse)
            pthread_cond_wait(&acceptor->changed, &acceptor->mutex);
        else
            late = pthread_cond_timedwait(&acceptor->changed, &acceptor->mutex, &until) == ETIMEDOUT;
    }
    if (!acceptor->busy && acceptor->waiting < 0 && !acceptor->closing) {
        acceptor->waiting = fd;
        taken = true;
        pthread_cond_broadcast(&acceptor->changed);
    }
    pthread_mutex_unlock(&acceptor->mutex);
    return taken;
}

static bool is_readable(int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};

    return fd >= 0 && poll(&input, 1, 0) == 1;
}

/* Waits until a client connects, poll() fails, or it is certain that no client will connect. Returns false if no client will
 * connect any more. */
static bool somebody_comes(const struct acceptor *acceptor)
{
    struct pollfd fds[4] = {{.fd = acceptor->listener, .events = POLLIN},
                            {.fd = acceptor->wake[0], .events = POLLIN},
                            {.fd = acceptor->gone, .events = POLLIN},
                            {.fd = acceptor->quit, .events = POLLIN}};
    int n;

    do
        n = poll(fds, LW_COUNT_OF(fds), -1);
    while (n < 0 && errno == EINTR);
    return n < 0 || (fds[1].revents == 0 && fds[3].revents == 0 && fds[0].revents != 0);
}

static void *acceptor_main(void *argument)
{
    struct acceptor *acceptor = argument;
    enum lw_status status = LW_OK;

    while (status == LW_OK && somebody_comes(acceptor)) {
        int fd = accept4(acceptor->listener, NULL, NULL, SOCK_CLOEXEC);
        int64_t came_ms = now_us() / 1000;

        if (fd >= 0) {
            prepare(fd);
            if (hand_over(acceptor, fd) || (make_leave(acceptor, came_ms) && hand_over(acceptor, fd))) {
                acceptor->refused_ms = 0;
            } else {
                refuse_client(acceptor, fd);
                acceptor->refused_ms = now_us() / 1000;
            }
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN)
            continue;
        status = LW_FAIL(&acceptor->err, LW_EIO, "gdb stub: accept: %s", strerror(errno));
    }
    pthread_mutex_lock(&acceptor->mutex);
    acceptor->status = status;
    acceptor->shut = true;
    if (acceptor->client >= 0 && is_readable(acceptor->quit))
        shutdown(acceptor->client, SHUT_RDWR);
    pthread_cond_broadcast(&acceptor->changed);
    pthread_mutex_unlock(&acceptor->mutex);
    return NULL;
}

static enum lw_status acceptor_open(struct acceptor *acceptor, struct lw_error *err)
{
    pthread_condattr_t attr;

    acceptor->waiting = acceptor->client = -1;
    if (pipe(acceptor->wake) != 0)
        return LW_FAIL(err, LW_EIO, "gdb stub: %s", strerror(errno));
    pthread_mutex_init(&acceptor->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&acceptor->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&acceptor->thread, NULL, acceptor_main, acceptor) == 0)
        return LW_OK;
    pthread_cond_destroy(&acceptor->changed);
    pthread_mutex_destroy(&acceptor->mutex);
    close(acceptor->wake[0]);
    close(acceptor->wake[1]);
    return LW_FAIL(err, LW_EIO, "gdb stub: the host cannot start a thread that accepts connections");
}

static void acceptor_close(struct acceptor *acceptor)
{
    pthread_mutex_lock(&acceptor->mutex);
    acceptor->closing = true;
    pthread_cond_broadcast(&acceptor->changed);
    pthread_mutex_unlock(&acceptor->mutex);
    close(acceptor->wake[1]);
    pthread_join(acceptor->thread, NULL);
    if (acceptor->waiting >= 0)
        close(acceptor->waiting);
    close(acceptor->wake[0]);
    pthread_cond_destroy(&acceptor->changed);
    pthread_mutex_destroy(&acceptor->mutex);
}

/* Called before the socket of the served client is closed, so that the acceptor thread does not use it any more. */
static void acceptor_left(struct acceptor *acceptor)
{
    pthread_mutex_lock(&acceptor->mutex);
    acceptor->client = -1;
    pthread_mutex_unlock(&acceptor->mutex);
}

/* Returns the socket of the next client, or -1 if there will be none. For -1, acceptor->status is LW_OK or the error. */
static int acceptor_next(struct acceptor *acceptor)
{
    int fd;

    pthread_mutex_lock(&acceptor->mutex);
    acceptor->busy = false;
    acceptor->client = -1;
    pthread_cond_broadcast(&acceptor->changed);
    while (acceptor->waiting < 0 && !acceptor->shut)
        pthread_cond_wait(&acceptor->changed, &acceptor->mutex);
    fd = acceptor->waiting;
    acceptor->waiting = -1;
    acceptor->busy = fd >= 0;
    acceptor->client = fd;
    acceptor->heard_ms = 0;
    pthread_mutex_unlock(&acceptor->mutex);
    return fd;
}

enum lw_status rsp_serve(const struct rsp_config *config, const char *address, bool once,
                         void (*ready)(void *context, unsigned port), void *context,
                         struct lw_error *err)
{
    struct rsp_config now = *config;
    struct acceptor acceptor = {.refuse = (config->without >> RSP_F_ONE_CLIENT & 1) == 0};
    enum rsp_end end = RSP_RUNNING;
    const char *path;
    unsigned port;
    enum lw_status status = rsp_listen(address, &acceptor.listener, &port, &path, err);

    if (status != LW_OK)
        return status;
    now.detach_keeps_link = !once; /* if several clients are served, the run stays stopped after a detach, so that the
                                    * next client can continue it */
    if (ready != NULL)
        ready(context, port);
    acceptor.gone = config->gone_fd != NULL ? *config->gone_fd : -1;
    acceptor.quit = config->quit_fd != NULL ? *config->quit_fd : -1;
    if (now.patience_ms == 0)
        now.patience_ms = PATIENCE_MS;
    acceptor.patience_ms = now.patience_ms;
    status = acceptor_open(&acceptor, err);
    if (status != LW_OK)
        goto cleanup;
    while (status == LW_OK && end != RSP_KILLED && !(once && end == RSP_DETACHED) &&
           !dbg_ended(now.dbg)) {
        int fd = acceptor_next(&acceptor);

        if (fd < 0) {
            status = acceptor.status;
            if (status != LW_OK && err != NULL)
                *err = acceptor.err;
            break;
        }
        status = serve_client(&now, &acceptor, fd, &end, err);
        acceptor_left(&acceptor);
        close(fd);
        if (is_readable(acceptor.quit))
            break;
        if (status == LW_OK && once && end == RSP_RUNNING && !dbg_ended(now.dbg) && ready != NULL)
            ready(context, port); /* the connection broke: the port is announced again to the next client */
    }
    acceptor_close(&acceptor);
cleanup:
    close(acceptor.listener);
    if (path != NULL)
        unlink(path);
    if (config->ended != NULL)
        *config->ended = end;
    return status;
}
