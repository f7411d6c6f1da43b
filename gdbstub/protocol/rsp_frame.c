/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Framing of gdb's remote serial protocol: $payload#checksum, escapes, acknowledgements until the client turns them off, and
 * the limit on the length of a client's packets.
 */
#include "gdbstub/rsp_priv.h"

static void put_bytes(struct rsp *rsp, const char *bytes, size_t size)
{
    rsp->out->write(rsp->out, bytes, size);
}

void rsp_send(struct rsp *rsp, const char *payload, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum = 0;
    char tail[3];

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + (uint8_t)payload[i]);
    tail[0] = '#';
    tail[1] = digits[sum >> 4];
    tail[2] = digits[sum & 15];
    lw_buffer_clear(&rsp->frame);
    rsp->frame.sink.write(&rsp->frame.sink, "$", 1);
    rsp->frame.sink.write(&rsp->frame.sink, payload, size);
    rsp->frame.sink.write(&rsp->frame.sink, tail, sizeof tail);
    put_bytes(rsp, rsp->frame.text, rsp->frame.size);
}

void rsp_send_console(struct rsp *rsp, const char *text, size_t size)
{
    enum { PIECE = 4096 };

    for (size_t at = 0; at < size; at += PIECE) {
        struct lw_buffer payload;

        lw_buffer_init(&payload);
        lw_put(&payload.sink, "O");
        rsp_put_hex(&payload, text + at, size - at < PIECE ? size - at : PIECE);
        rsp_send(rsp, payload.text, payload.size);
        lw_buffer_fini(&payload);
    }
}

int rsp_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool rsp_hex_number(const char **text, const char *end, uint64_t *out)
{
    const char *p = *text;
    uint64_t value = 0;

    while (p < end && rsp_hex_digit(*p) >= 0) {
        if (p - *text == 16)
            return false;
        value = value << 4 | (uint64_t)rsp_hex_digit(*p);
        p++;
    }
    if (p == *text)
        return false;
    *text = p;
    *out = value;
    return true;
}

bool rsp_hex_decode(const char *text, size_t size, uint8_t *out)
{
    if (size % 2 != 0)
        return false;
    for (size_t i = 0; i < size; i += 2) {
        int high = rsp_hex_digit(text[i]), low = rsp_hex_digit(text[i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    return true;
}

void rsp_put_hex(struct lw_buffer *reply, const void *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    char text[256];

    for (size_t i = 0; i < size;) {
        size_t n = 0;

        for (; i < size && n < sizeof text; i++) {
            text[n++] = digits[bytes[i] >> 4];
            text[n++] = digits[bytes[i] & 15];
        }
        reply->sink.write(&reply->sink, text, n);
    }
}

void rsp_put_binary(struct lw_buffer *reply, const void *data, size_t size)
{
    const char *bytes = data;
    size_t from = 0;

    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];

        if (c == '#' || c == '$' || c == '}' || c == '*') {
            char escaped[2] = {'}', (char)(c ^ 0x20)};

            reply->sink.write(&reply->sink, bytes + from, i - from);
            reply->sink.write(&reply->sink, escaped, sizeof escaped);
            from = i + 1;
        }
    }
    reply->sink.write(&reply->sink, bytes + from, size - from);
}

void rsp_put_error(struct lw_buffer *reply, const char *message)
{
    lw_put(&reply->sink, "E.");
    for (const char *p = message; *p != '\0'; p++) {
        char c = *p;

        /* gdb prints this text without decoding escapes, so the character cannot be escaped. */
        if (c == '#' || c == '$' || c == '}' || c == '*' || (unsigned char)c < ' ')
            c = ' ';
        reply->sink.write(&reply->sink, &c, 1);
    }
}

bool rsp_interrupt_ahead(const struct rsp *rsp)
{
    for (size_t i = 0; i < rsp->ahead_size; i++) {
        if (rsp->ahead[i] == 0x03)
            return true;
        if (rsp->ahead[i] != '+')
            return false;
    }
    return false;
}

static void packet_byte(struct rsp *rsp, uint8_t byte)
{
    if (rsp->packet_size == RSP_PACKET_BYTES) {
        rsp->oversize = true;
        return;
    }
    rsp->packet[rsp->packet_size++] = (char)byte;
}

static void packet_end(struct rsp *rsp)
{
    /* Without acknowledgements checksums are not checked, as in gdb, because the transport is then reliable. */
    if (rsp->ack && rsp->sum != rsp->sum_sent) {
        put_bytes(rsp, "-", 1);
        return;
    }
    if (rsp->ack)
        put_bytes(rsp, "+", 1);
    rsp->heard = true;
    if (rsp->oversize || rsp->malformed)
        rsp_send(rsp, "E01", 3);
    else
        rsp_packet(rsp, rsp->packet, rsp->packet_size);
    if (rsp->no_ack_next) {
        rsp->ack = false;
        rsp->no_ack_next = false;
    }
}

static void packet_begin(struct rsp *rsp)
{
    rsp->state = RSP_PAYLOAD;
    rsp->packet_size = 0;
    rsp->oversize = rsp->malformed = false;
    rsp->sum = 0;
}

static void idle_byte(struct rsp *rsp, uint8_t byte)
{
    if (byte == '$')
        packet_begin(rsp);
    else if (byte == '-' && rsp->ack && rsp->frame.size != 0)
        put_bytes(rsp, rsp->frame.text, rsp->frame.size);
    else if (byte == 0x03 && !rsp->lldb && !rsp->shown)
        /* Ctrl-C was sent before gdb received the stop reply. If gdb shows this stop, nothing is running any more, and
         * the interrupt is dropped. If gdb does not show it, because the stop ends one of the small steps of a command,
         * the interrupt stops the next step. */
        rsp->interrupt_pending = true;
}

static void feed_byte(struct rsp *rsp, uint8_t byte)
{
    int digit;

    switch (rsp->state) {
    case RSP_IDLE:
        idle_byte(rsp, byte);
        return;
    case RSP_PAYLOAD:
        if (byte == '#') {
            rsp->state = RSP_SUM_HIGH;
        } else if (byte == '$') {
            packet_begin(rsp); /* the previous packet had no end and is dropped */
        } else {
            rsp->sum = (uint8_t)(rsp->sum + byte);
            if (byte == '}')
                rsp->state = RSP_ESCAPED;
            else
                packet_byte(rsp, byte);
        }
        return;
    case RSP_ESCAPED:
        /* Valid clients never send `#` or `$` after the escape character. So `#` ends the packet here, and `$` begins
         * another one. */
        if (byte == '#') {
            rsp->malformed = true;
            rsp->state = RSP_SUM_HIGH;
            return;
        }
        if (byte == '$') {
            packet_begin(rsp);
            return;
        }
        rsp->sum = (uint8_t)(rsp->sum + byte);
        packet_byte(rsp, byte ^ 0x20);
        rsp->state = RSP_PAYLOAD;
        return;
    case RSP_SUM_HIGH:
    case RSP_SUM_LOW:
        digit = rsp_hex_digit((char)byte);
        if (digit < 0) {
            rsp->state = RSP_IDLE;
            if (rsp->ack)
                put_bytes(rsp, "-", 1);
            if (byte == '$')
                packet_begin(rsp);
            return;
        }
        if (rsp->state == RSP_SUM_HIGH) {
            rsp->sum_sent = (uint8_t)(digit << 4);
            rsp->state = RSP_SUM_LOW;
        } else {
            rsp->sum_sent = (uint8_t)(rsp->sum_sent | digit);
            rsp->state = RSP_IDLE;
            packet_end(rsp);
        }
        return;
    }
}

void rsp_feed(struct rsp *rsp, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && rsp->end == RSP_RUNNING; i++) {
        rsp->ahead = data + i + 1;
        rsp->ahead_size = size - i - 1;
        feed_byte(rsp, data[i]);
    }
    rsp->ahead_size = 0;
}
