/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of logs, snapshots and checkpoints: a buffer that grows, and a reader that never leaves
 * its range. Numbers are LEB128 (seven bits a byte, low ones first) unless they say otherwise.
 */
#ifndef EMU_BYTES_PRIV_H
#define EMU_BYTES_PRIV_H

#include "emu/emu.h"

/** Growing bytes. When memory is short `failed` stays set and nothing more is added. */
struct emu_bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};
void emu_bytes_fini(struct emu_bytes *bytes);
/** Room for @size bytes at the end, already counted; NULL: no memory. */
uint8_t *emu_bytes_add(struct emu_bytes *bytes, size_t size);
void emu_put(struct emu_bytes *bytes, const void *data, size_t size);
void emu_put_number(struct emu_bytes *bytes, uint64_t value);
/** Signed: small ones of either sign are short. */
void emu_put_signed(struct emu_bytes *bytes, int64_t value);
/** What the last bytes of a file say of those before them. */
uint64_t emu_hash_of(const void *data, size_t size);
/** Length, then the characters. */
void emu_put_text(struct emu_bytes *bytes, const char *text);

/** Reads; after the first thing that is not there `bad` stays set and everything is zero. */
struct emu_reader {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};
/** The next @size bytes, borrowed, or NULL. */
const uint8_t *emu_get(struct emu_reader *reader, size_t size);
uint64_t emu_get_number(struct emu_reader *reader);
int64_t emu_get_signed(struct emu_reader *reader);
/** A number that must be at most @limit. */
uint64_t emu_get_limited(struct emu_reader *reader, uint64_t limit);
/** Into @text, terminated; longer texts are bad. */
void emu_get_text(struct emu_reader *reader, char *text, size_t room);

/** Options that results depend on (emu_options_file.c), as names and values. */
void emu_config_put(struct emu_bytes *bytes, const struct emu_config *config);
/** Compare them with what was put. @name is the file's. Errors: LW_EINPUT, an option differs;
 *  LW_EFORMAT. */
enum lw_status emu_config_match(struct emu_reader *reader, const struct emu_config *config,
                                const char *name, struct lw_error *err) LW_MUST_CHECK;

#endif
