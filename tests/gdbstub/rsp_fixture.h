/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture: a stub with the fake debugger core. The client's side of the connection is in memory. */
#ifndef RSP_FIXTURE_H
#define RSP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gdbstub/rsp_priv.h"
#include "tests/gdbstub/fake_dbg.h"

struct fixture {
    struct dbg *dbg;
    struct rsp *rsp;
    struct lw_buffer out;  /* raw bytes that the stub sent */
    struct lw_buffer last; /* payload of the last packet, without escapes */
    struct lw_buffer console;
};

static void fix_decode(struct fixture *fix)
{
    const char *p = fix->out.text, *end = p + fix->out.size;

    lw_buffer_clear(&fix->last);
    lw_buffer_clear(&fix->console);
    while (p < end) {
        unsigned sum = 0, sent = 0;
        struct lw_buffer payload;

        if (*p++ != '$')
            continue;
        lw_buffer_init(&payload);
        while (p < end && *p != '#') {
            char c = *p++;

            sum += (uint8_t)c;
            if (c == '}') {
                sum += (uint8_t)*p;
                c = (char)(*p++ ^ 0x20);
            }
            payload.sink.write(&payload.sink, &c, 1);
        }
        assert_true(end - p >= 3);
        assert_int_equal(sscanf(p, "#%2x", &sent), 1);
        assert_int_equal(sent, sum & 255);
        p += 3;
        if (payload.size > 1 && payload.text[0] == 'O' && payload.text[1] != 'K') {
            for (size_t i = 1; i + 1 < payload.size; i += 2) {
                unsigned byte;

                assert_int_equal(sscanf(payload.text + i, "%2x", &byte), 1);
                lw_printf(&fix->console.sink, "%c", (char)byte);
            }
        } else {
            lw_buffer_clear(&fix->last);
            fix->last.sink.write(&fix->last.sink, payload.text, payload.size);
        }
        lw_buffer_fini(&payload);
    }
}

/** Send a payload with its checksum, and return the payload of the reply. */
static inline const char *fix_ask_bytes(struct fixture *fix, const char *payload, size_t size)
{
    lw_buffer_clear(&fix->out);
    rsp_packet(fix->rsp, payload, size);
    fix_decode(fix);
    return fix->last.text;
}

static inline const char *fix_ask(struct fixture *fix, const char *payload)
{
    return fix_ask_bytes(fix, payload, strlen(payload));
}

static inline struct fixture *fix_create(const struct fake_options *options,
                                         struct rsp_config config)
{
    struct fixture *fix = calloc(1, sizeof *fix);
    struct lw_error err = {0};

    assert_non_null(fix);
    fix->dbg = fake_dbg_create(options);
    lw_buffer_init(&fix->out);
    lw_buffer_init(&fix->last);
    lw_buffer_init(&fix->console);
    config.dbg = fix->dbg;
    if (rsp_create(&config, &fix->out.sink, &fix->rsp, &err) != LW_OK)
        fail_msg("%s", err.text);
    return fix;
}

static inline void fix_destroy(struct fixture *fix)
{
    rsp_destroy(fix->rsp);
    dbg_destroy(fix->dbg);
    lw_buffer_fini(&fix->out);
    lw_buffer_fini(&fix->last);
    lw_buffer_fini(&fix->console);
    free(fix);
}

static inline int fix_setup(void **state)
{
    struct fake_options options = {.warps = 3, .fault_at = -1};

    *state = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    return 0;
}

static inline int fix_teardown(void **state)
{
    fix_destroy(*state);
    return 0;
}

#endif
