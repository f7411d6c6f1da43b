/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte buffers for logs, snapshots and checkpoints, and a bounds-checked reader. A number is written as LEB128 (seven bits in
 * each byte, low bits first), unless a comment says otherwise.
 */
#ifndef EMU_BYTES_PRIV_H
#define EMU_BYTES_PRIV_H

#include "emu/emu.h"

/** Growing buffer. If the host has no memory, `failed` is set, and later calls add nothing. */
struct emu_bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};
void emu_bytes_fini(struct emu_bytes *bytes);
/** Appends @size uninitialised bytes and returns a pointer to them, or NULL if the host has no memory. */
uint8_t *emu_bytes_add(struct emu_bytes *bytes, size_t size);
void emu_put(struct emu_bytes *bytes, const void *data, size_t size);
void emu_put_number(struct emu_bytes *bytes, uint64_t value);
/** Appends a signed number. The nearer the number is to zero, the fewer bytes it takes. */
void emu_put_signed(struct emu_bytes *bytes, int64_t value);
/** Returns the checksum that is written at the end of a file of @size bytes at @data. */
uint64_t emu_hash_of(const void *data, size_t size);
/** Appends the length of @text, then the characters of @text. */
void emu_put_text(struct emu_bytes *bytes, const char *text);

/** Reader of bytes. After the first read past the end, `bad` is set, and all reads return zero or NULL. */
struct emu_reader {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};
/** Reads @size bytes. Returns a pointer into the data, or NULL if fewer than @size bytes remain. */
const uint8_t *emu_get(struct emu_reader *reader, size_t size);
uint64_t emu_get_number(struct emu_reader *reader);
int64_t emu_get_signed(struct emu_reader *reader);
/** Reads a number. A number above @limit sets `bad`. */
uint64_t emu_get_limited(struct emu_reader *reader, uint64_t limit);
/** Reads a text that emu_put_text() has written, and appends a terminating zero. A text that does not fit in @room bytes sets
 *  `bad`. */
void emu_get_text(struct emu_reader *reader, char *text, size_t room);

/** Writes the names and values of the options on which results depend (emu_options_file.c). */
void emu_config_put(struct emu_bytes *bytes, const struct emu_config *config);
/** Sets those options in @config that the file has. The values are checked only later, by emu_machine_create() and
 *  emu_config_match(). @name: returns the constant text that equals a value of option @key, or NULL, which leaves the option
 *  unchanged. */
void emu_config_get(struct emu_reader *reader, struct emu_config *config, const char *(*name)(const char *key, const char *text));
/** Compares the machine's options with those in a file. @name: name of the file, for messages. Errors: LW_EINPUT if an option
 *  differs; LW_EFORMAT. */
enum lw_status emu_config_match(struct emu_reader *reader, const struct emu_config *config,
                                const char *name, struct lw_error *err) LW_MUST_CHECK;

#endif
