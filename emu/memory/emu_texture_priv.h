/* SPDX-License-Identifier: Apache-2.0 */
/* From the coordinates of a fetch to its texels, and to the values of a texel. */
#ifndef EMU_TEXTURE_PRIV_H
#define EMU_TEXTURE_PRIV_H

#include "emu/emu.h"

enum { EMU_TEXTURE_SAMPLES = 8 };
/** Texels that one lane's fetch reads. Texels outside the texture and texels of weight 0 are not in the list. */
struct emu_samples {
    unsigned count;                     /* number of texels */
    uint64_t address[EMU_TEXTURE_SAMPLES];
    double weight[EMU_TEXTURE_SAMPLES];    /* 1 if the fetch does not interpolate */
};

/** Returns the index of the texel at a coordinate, from 0 to the size of @axis - 1, or -1 if the coordinate is outside the
 *  texture and the fetch returns zeros. @bits are those of an f32 if @is_float is set, else those of an s32. */
int64_t emu_texture_index(const struct emu_texture *t, unsigned axis, bool is_float, uint32_t bits);
/** Gets the texels of a fetch. @coordinate has the registers of a lane, in the order in which PTX names them. With @nearest
 *  the list has at most one texel: the one that contains the coordinate. */
void emu_texture_samples(const struct emu_texture *t, bool is_float, const uint32_t coordinate[4], bool nearest, struct emu_samples *out);
/** Returns the register value of a texel's component. */
uint32_t emu_texture_component(const struct emu_texture *t, const uint8_t *from);

#endif
