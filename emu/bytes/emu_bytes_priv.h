/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of logs, snapshots and checkpoints: a growing buffer, and a bounds-checked reader. Numbers are LEB128 (seven
 * bits for each byte, low bits first) unless stated otherwise.
 */
#ifndef EMU_BYTES_PRIV_H
#define EMU_BYTES_PRIV_H

#include "emu/emu.h"

/** Growing buffer. If memory is short, `failed` is set and nothing more is added. */
struct emu_bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};
void emu_bytes_fini(struct emu_bytes *bytes);
/** Appends @size uninitialised bytes and returns them; NULL: no memory. */
uint8_t *emu_bytes_add(struct emu_bytes *bytes, size_t size);
void emu_put(struct emu_bytes *bytes, const void *data, size_t size);
void emu_put_number(struct emu_bytes *bytes, uint64_t value);
/** Appends a signed number. Numbers near zero, of either sign, take few bytes. */
void emu_put_signed(struct emu_bytes *bytes, int64_t value);
/** Returns the checksum that ends a file. */
uint64_t emu_hash_of(const void *data, size_t size);
/** Appends the length of @text, then the characters of @text. */
void emu_put_text(struct emu_bytes *bytes, const char *text);

/** Reader. After the first read past the end, `bad` is set and all reads return zero. */
struct emu_reader {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};
/** Returns the next @size bytes, borrowed, or NULL. */
const uint8_t *emu_get(struct emu_reader *reader, size_t size);
uint64_t emu_get_number(struct emu_reader *reader);
int64_t emu_get_signed(struct emu_reader *reader);
/** Reads a number that must be at most @limit. */
uint64_t emu_get_limited(struct emu_reader *reader, uint64_t limit);
/** Reads a terminated string to @text; a text longer than @text sets `bad`. */
void emu_get_text(struct emu_reader *reader, char *text, size_t room);

/** Writes the options that results depend on (emu_options_file.c), as names and values. */
void emu_config_put(struct emu_bytes *bytes, const struct emu_config *config);
/** Compares options with those in a file. @name is the name of the file. Errors: LW_EINPUT if an option differs;
 *  LW_EFORMAT. */
enum lw_status emu_config_match(struct emu_reader *reader, const struct emu_config *config,
                                const char *name, struct lw_error *err) LW_MUST_CHECK;

#endif
