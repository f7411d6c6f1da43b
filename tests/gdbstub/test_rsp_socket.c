/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the server: addresses, reconnections, and clients that disappear or send invalid data. */
#include "tests/gdbstub/rsp_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

struct server {
    struct rsp_config config;
    const char *address; /* address of the server; NULL: a free port */
    bool once, started;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    unsigned port;
    enum lw_status status;
    struct lw_error err;
};

static void on_ready(void *context, unsigned port)
{
    struct server *server = context;

    pthread_mutex_lock(&server->mutex);
    server->port = port;
    server->started = true;
    pthread_cond_signal(&server->ready);
    pthread_mutex_unlock(&server->mutex);
}

static void *server_main(void *context)
{
    struct server *server = context;

    server->status = rsp_serve(&server->config, server->address != NULL ? server->address : "0", server->once, on_ready, server,
                               &server->err);
    return NULL;
}

static void server_start_at(struct server *server, const struct fake_options *options)
{
    server->config.dbg = fake_dbg_create(options);
    server->started = false;
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->ready, NULL);
    assert_int_equal(pthread_create(&server->thread, NULL, server_main, server), 0);
    pthread_mutex_lock(&server->mutex);
    while (!server->started)
        pthread_cond_wait(&server->ready, &server->mutex);
    pthread_mutex_unlock(&server->mutex);
}

static void server_start(struct server *server, bool endless, bool once)
{
    struct fake_options options = {.warps = 2, .fault_at = -1, .endless = endless};

    memset(server, 0, sizeof *server);
    server->once = once;
    server_start_at(server, &options);
}

static void server_end(struct server *server)
{
    pthread_join(server->thread, NULL);
    assert_int_equal(server->status, LW_OK);
    dbg_destroy(server->config.dbg);
}

static int client_at(const struct server *server, in_addr_t address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    struct timeval patience = {.tv_sec = 20};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = address;
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int client(const struct server *server)
{
    return client_at(server, htonl(INADDR_LOOPBACK));
}

/* Start a server, and connect its first client. */
static int server_enter(struct server *server, bool endless, bool once)
{
    server_start(server, endless, once);
    return client(server);
}

/* Send a packet, or the byte of Ctrl-C, and read until the received bytes contain @want. */
static void talk(int fd, const char *payload, const char *want)
{
    char got[4096], bytes[256];
    size_t size = 0;
    unsigned sum = 0;

    for (const char *p = payload; *p != '\0'; p++)
        sum += (uint8_t)*p;
    if (payload[0] == 0x03)
        snprintf(bytes, sizeof bytes, "%s", payload);
    else
        snprintf(bytes, sizeof bytes, "+$%s#%02x", payload, sum & 255);

    assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), (ssize_t)strlen(bytes));
    for (;;) {
        ssize_t n = recv(fd, got + size, sizeof got - 1 - size, 0);

        if (n <= 0)
            fail_msg("the server closed the connection before \"%s\", after \"%.*s\"", want, (int)size, got);
        size += (size_t)n;
        got[size] = '\0';
        if (strstr(got, want) != NULL)
            return;
        assert_true(size < sizeof got - 1);
    }
}

/* Send the last packet of a client, which ends the server. */
static void server_leave(struct server *server, int fd, const char *payload, const char *want)
{
    talk(fd, payload, want);
    server_end(server);
    close(fd);
}

static void a_client_detaches_and_another_connects(void **state)
{
    struct server server;
    int fd;

    (void)state;
    fd = server_enter(&server, false, false);
    talk(fd, "qAttached", "+$1#31");
    talk(fd, "Z0,100000020,1", "$OK#9a");
    talk(fd, "D", "$OK#9a");
    close(fd);
    fd = client(&server);
    talk(fd, "?", "T05thread:1;");
    close(fd); /* the client disconnects without a packet */
    fd = client(&server);
    talk(fd, "vCont;c", "$W00#b7"); /* the breakpoint was removed when its client disconnected */
    close(fd);
    server_end(&server);
}

static void once_means_one_client(void **state)
{
    struct server server;
    int fd;

    (void)state;
    fd = server_enter(&server, false, true);
    server_leave(&server, fd, "D", "$OK#9a");
}

static void ctrl_c_stops_a_run_and_kill_ends_the_server(void **state)
{
    struct server server;
    int fd;

    (void)state;
    fd = server_enter(&server, true, false);
    talk(fd, "vCont;c", "+");
    usleep(20000);
    talk(fd, "\x03", "$T02thread:");
    server_leave(&server, fd, "vKill;1", "$OK#9a");
}

static void a_client_that_vanishes_during_a_run_ends_the_run(void **state)
{
    struct server server;
    int fd;

    (void)state;
    fd = server_enter(&server, true, false);
    talk(fd, "vCont;c", "+");
    close(fd);
    fd = client(&server);
    talk(fd, "?", "thread:1;");
    server_leave(&server, fd, "k", "+");
}

/* Send @byte repeatedly until the server closes the connection or @limit bytes have been sent. */
static void flood(int fd, char byte, size_t limit)
{
    char bytes[4096];
    size_t sent = 0;

    memset(bytes, byte, sizeof bytes);
    while (sent < limit) {
        ssize_t n = send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

static void a_client_that_floods_loses_its_slot(void **state)
{
    enum { FLOOD_BYTES = 8 << 20 };
    struct server server;
    int fd;

    (void)state;
    fd = server_enter(&server, true, false);
    talk(fd, "vCont;c", "+");
    /* The stub does not store acknowledgements, so it processes a Ctrl-C after any number of them. */
    flood(fd, '+', FLOOD_BYTES);
    talk(fd, "\x03", "$T02thread:");
    talk(fd, "vCont;c", "+");
    flood(fd, 'x', FLOOD_BYTES);
    close(fd);
    fd = client(&server);
    talk(fd, "?", "thread:1;");
    server_leave(&server, fd, "k", "+");
}

static void only_the_loopback_interface_listens(void **state)
{
    struct server server;
    int fd;

    (void)state;
    server_start(&server, false, false);
    /* 127.0.0.2 is another address of this host, to which the server is not bound. */
    assert_int_equal(client_at(&server, htonl(0x7f000002)), -1);
    fd = client(&server);
    server_leave(&server, fd, "k", "+");
}

/* Check that the server refuses the client and closes the connection. */
static void refused(int fd)
{
    static const char hello[] = "+$qSupported#37";
    char got[512];
    size_t size = 0;
    ssize_t n;

    assert_int_equal(send(fd, hello, strlen(hello), MSG_NOSIGNAL), (ssize_t)strlen(hello));
    while (size < sizeof got - 1 && (n = recv(fd, got + size, sizeof got - 1 - size, 0)) > 0)
        size += (size_t)n;
    got[size] = '\0';
    assert_non_null(strstr(got, "$E.another debugger is connected"));
    close(fd);
}

static void a_second_client_is_refused_with_a_message(void **state)
{
    struct server server;
    int first, second;

    (void)state;
    first = server_enter(&server, true, false);
    talk(first, "?", "T05thread:1;");
    second = client(&server);
    refused(second);
    /* The server also refuses a second client while the first client's program runs. */
    talk(first, "vCont;c", "+");
    second = client(&server);
    refused(second);
    talk(first, "\x03", "$T02thread:");
    /* A client that sends nothing does not block other clients. */
    second = client(&server);
    talk(first, "?", "T05thread:1;");
    close(second);
    server_leave(&server, first, "vKill;1", "$OK#9a");
}

/* Start a server that disconnects a silent client after a short time, and connect the first client. */
static int server_enter_hasty(struct server *server, struct lw_sink *terminal)
{
    struct fake_options options = {.warps = 2, .fault_at = -1, .endless = true};

    memset(server, 0, sizeof *server);
    server->config.patience_ms = 700;
    server->config.terminal = terminal;
    server_start_at(server, &options);
    return client(server);
}

static void is_sent_away(int fd)
{
    char rest[64];
    ssize_t n;

    while ((n = recv(fd, rest, sizeof rest, 0)) > 0)
        ; /* the interrupted run may have sent its reply already */
    assert_true(n == 0 || errno == ECONNRESET);
    close(fd);
}

static void a_client_that_requests_nothing_loses_its_slot(void **state)
{
    struct lw_buffer terminal;
    struct server server;
    int first, second;

    (void)state;
    lw_buffer_init(&terminal);
    first = server_enter_hasty(&server, &terminal.sink);
    assert_int_equal(send(first, "$qSupp", 6, MSG_NOSIGNAL), 6); /* sends an incomplete packet */
    is_sent_away(first);
    first = client(&server);
    talk(first, "?", "T05thread:1;");
    usleep(1500000); /* the client has sent a packet, so no time limit applies */
    talk(first, "?", "T05thread:1;");
    second = client(&server);
    refused(second);
    talk(first, "?", "T05thread:1;");
    server_leave(&server, first, "vKill;1", "$OK#9a");
    assert_non_null(strstr(terminal.text, "sent no request"));
    lw_buffer_fini(&terminal);
}

static void a_silent_client_yields_to_a_new_one(void **state)
{
    struct server server;
    int first, second;

    (void)state;
    server_start(&server, true, false); /* with the default time limit of some seconds for silent clients */
    first = client(&server);
    second = client(&server);
    talk(second, "?", "T05thread:1;");
    is_sent_away(first);
    server_leave(&server, second, "vKill;1", "$OK#9a");
}

static void a_second_connection_replaces_a_silent_one(void **state)
{
    struct server server;
    int first, second;

    (void)state;
    first = server_enter_hasty(&server, NULL);
    talk(first, "?", "T05thread:1;");
    second = client(&server);
    refused(second);
    talk(first, "?", "T05thread:1;"); /* the client is active, so no other client replaces it */
    second = client(&server);
    talk(first, "?", "T05thread:1;");
    usleep(800000);
    talk(first, "?", "T05thread:1;");
    refused(second);
    /* The first client's program runs, and the client no longer answers. */
    talk(first, "vCont;c", "+");
    usleep(400000);
    second = client(&server);
    talk(second, "?", "T05thread:"); /* the run has been stopped */
    is_sent_away(first);
    server_leave(&server, second, "vKill;1", "$OK#9a");
}

static void a_request_to_end_the_process_ends_the_server(void **state)
{
    struct fake_options options = {.warps = 2, .fault_at = -1, .endless = true};
    struct server server;
    int stop[2];

    (void)state;
    for (int round = 0; round < 3; round++) { /* 0: no client is connected; 1: a client is connected; 2: the client's program
                                               * runs */
        int fd = -1;

        memset(&server, 0, sizeof server);
        assert_int_equal(pipe(stop), 0);
        server.config.quit_fd = &stop[0];
        server_start_at(&server, &options);
        if (round > 0) {
            fd = client(&server);
            talk(fd, "?", "T05thread:1;");
        }
        if (round == 2)
            talk(fd, "vCont;c", "+");
        close(stop[1]);
        server_end(&server);
        if (fd >= 0)
            is_sent_away(fd);
        close(stop[0]);
    }
}

static void only_addresses_of_this_machine_are_closed_to_others(void **state)
{
    static const struct {
        const char *address;
        bool open;
    } rows[] = {{"0", false}, {":4711", false}, {"127.0.0.1:1", false}, {"127.9.9.9:1", false}, {"localhost:1", false},
                {"[::1]:1", false}, {"unix:/tmp/x", false}, {"0.0.0.0:1", true}, {"[::]:1", true},
                {"192.0.2.1:1", true}, {"[::ffff:192.0.2.1]:1", true}, {"nonsense", false}};

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++)
        assert_int_equal(rsp_address_is_open(rows[i].address), rows[i].open);
}

static void a_refused_client_cannot_block_the_acceptor(void **state)
{
    enum { DRIPS = 28, DRIP_US = 100000 };
    struct server server;
    int first, second;
    bool closed = false;

    (void)state;
    first = server_enter(&server, true, false);
    talk(first, "?", "T05thread:1;");
    second = client(&server);
    for (int i = 0; i < DRIPS && !closed; i++) {
        char byte = 'x';

        closed = send(second, &byte, 1, MSG_NOSIGNAL) != 1 ||
                 recv(second, &byte, 1, MSG_DONTWAIT) == 0;
        usleep(DRIP_US);
    }
    close(second);
    server_leave(&server, first, "vKill;1", "$OK#9a");
    assert_true(closed);
}

static void a_socket_in_the_file_system_is_its_owners_alone(void **state)
{
    char folder[] = "/tmp/lw-rsp-XXXXXX";
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct server server = {0};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char address[sizeof to.sun_path + sizeof "unix:"];
    struct lw_error err = {0};
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(to.sun_path, sizeof to.sun_path, "%s/s", folder);
    snprintf(address, sizeof address, "unix:%s", to.sun_path);
    for (int round = 0; round < 2; round++) {
        int fd;

        if (round == 1) { /* create a socket file like one that a killed program has left */
            fd = socket(AF_UNIX, SOCK_STREAM, 0);
            assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
            close(fd);
        }
        server.address = address;
        server_start_at(&server, &options);
        assert_int_equal(stat(to.sun_path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        /* The address is in use: another server does not replace it. */
        assert_int_equal(rsp_serve(&server.config, address, true, NULL, NULL, &err), LW_EIO);
        assert_non_null(strstr(err.text, "in use"));
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
        talk(fd, "?", "T05thread:1;");
        talk(fd, "vKill;1", "$OK#9a");
        server_end(&server);
        close(fd);
        assert_int_equal(stat(to.sun_path, &st), -1); /* the server has removed the socket file at its end */
    }
    assert_int_equal(rsp_serve(&server.config, "unix:", true, NULL, NULL, &err), LW_EUSAGE);
    assert_int_equal(rsp_serve(&server.config, "unix:/a:1", true, NULL, NULL, &err), LW_EUSAGE);
    assert_int_equal(rsp_serve(&server.config, "unix:/nowhere/s", true, NULL, NULL, &err),
                     LW_EIO);
    rmdir(folder);
}

static void garbage_and_half_packets_leave_the_server_alive(void **state)
{
    static const char garbage[] = "\x00\xff$$$#zz$m#00#$}\x03-+-$qC";
    struct server server;
    char *big = malloc(1 << 20);
    int fd;

    (void)state;
    fd = server_enter(&server, false, false);
    assert_int_equal(send(fd, garbage, sizeof garbage - 1, MSG_NOSIGNAL), sizeof garbage - 1);
    close(fd); /* the client disconnects in the middle of a packet */
    fd = client(&server);
    talk(fd, "?", "T05thread:1;");
    memset(big, 'a', 1 << 20);
    big[0] = '$';
    memcpy(big + (1 << 20) - 3, "#00", 3);
    (void)!send(fd, big, 1 << 20, MSG_NOSIGNAL);
    talk(fd, "qC", "$QC1#");
    server_leave(&server, fd, "k", "+");
    free(big);
}

static void a_bad_address_has_a_message(void **state)
{
    static const char *const addresses[] = {
        "", "x", ":", "127.0.0.1", "70000", "1.2.3.4:99999", "-1", "12x", ":12x", "localhost:",
        "no such host:0",
    };
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct rsp_config config = {.dbg = fake_dbg_create(&options)};

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(addresses); i++) {
        struct lw_error err = {0};

        assert_int_equal(rsp_serve(&config, addresses[i], true, NULL, NULL, &err), LW_EUSAGE);
        assert_true(strlen(err.text) > 20);
    }
    dbg_destroy(config.dbg);
}

static void an_address_in_use_is_the_systems_reason(void **state)
{
    struct server server;
    struct lw_error err = {0};
    char address[32];
    int fd;

    (void)state;
    server_start(&server, false, true);
    snprintf(address, sizeof address, "127.0.0.1:%u", server.port);
    assert_int_equal(rsp_serve(&server.config, address, true, NULL, NULL, &err), LW_EIO);
    assert_non_null(strstr(err.text, "in use"));
    fd = client(&server);
    server_leave(&server, fd, "D", "$OK#9a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_detaches_and_another_connects),
        cmocka_unit_test(once_means_one_client),
        cmocka_unit_test(ctrl_c_stops_a_run_and_kill_ends_the_server),
        cmocka_unit_test(a_client_that_vanishes_during_a_run_ends_the_run),
        cmocka_unit_test(only_the_loopback_interface_listens),
        cmocka_unit_test(a_second_client_is_refused_with_a_message),
        cmocka_unit_test(a_client_that_floods_loses_its_slot),
        cmocka_unit_test(a_client_that_requests_nothing_loses_its_slot),
        cmocka_unit_test(a_silent_client_yields_to_a_new_one),
        cmocka_unit_test(a_second_connection_replaces_a_silent_one),
        cmocka_unit_test(a_request_to_end_the_process_ends_the_server),
        cmocka_unit_test(only_addresses_of_this_machine_are_closed_to_others),
        cmocka_unit_test(a_refused_client_cannot_block_the_acceptor),
        cmocka_unit_test(a_socket_in_the_file_system_is_its_owners_alone),
        cmocka_unit_test(garbage_and_half_packets_leave_the_server_alive),
        cmocka_unit_test(a_bad_address_has_a_message),
        cmocka_unit_test(an_address_in_use_is_the_systems_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
