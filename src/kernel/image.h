/* SPDX-License-Identifier: Apache-2.0 */
/* Textures and surfaces as kernels read and write them. All of this runs on a fiber, inside a kernel: a bad address in
 * it is the kernel's fault. */
#ifndef MR_KERNEL_IMAGE_H
#define MR_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/abi.h"
#include "module/texture.h"

/* The service that generated code calls: see struct mr_runtime. */
void mr_image_run(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line, struct mr_image_lanes *lanes);

/* A texel's channels: floats, or whole numbers where the texture is read as those. */
union mr_texel {
    float f[4];
    uint32_t u[4];
};

/* texel.c: reads one element; channels that the format lacks are 0. `as_integer`: as it is, sign- or zero-extended. */
void mr_texel_read(const struct mr_texel_format *format, bool as_integer, bool is_srgb, const void *from,
                   union mr_texel *out);

/* sust.p: writes one element from 32 bits for each channel, clamped to what the format holds. */
void mr_texel_write(const struct mr_texel_format *format, void *to, const uint32_t *channels);

float mr_half_to_float(uint16_t half);
uint16_t mr_float_to_half(float value);   /* to the nearest, ties to even */

/* sample.c: one lane's read of a texture. `at` has the coordinates as floats, or as numbers of texels. */
struct mr_executor;
struct mr_sample {
    struct mr_executor *notes; /* who notes what is read (notes.h); NULL: nobody */
    uint32_t code;
    uint32_t layer;
    float at[3];
    int32_t texel[3];
    int32_t offset[3];
    float level;             /* MR_IMAGE_LEVEL */
    float dx[3], dy[3];      /* MR_IMAGE_GRADIENT */
};
void mr_sample_texture(const struct mr_texture *texture, const struct mr_sample *sample, union mr_texel *out);

void mr_sample_gather(const struct mr_texture *texture, const struct mr_sample *sample, union mr_texel *out);

/* What both ways of reading share. A texel's number may be MR_TEXEL_OUTSIDE: the border. Coordinates are cut to
 * MR_TEXEL_FAR, which is further out than any texture. */
#define MR_WEIGHT_STEPS 256
#define MR_TEXEL_OUTSIDE INT32_MIN
#define MR_TEXEL_FAR 16777216.0f

/* One part of a weight in MR_WEIGHT_STEPS, rounded; the other is what is left, so that both add up. */
static inline unsigned mr_weight_part(unsigned weight, unsigned of)
{
    return (weight * of + MR_WEIGHT_STEPS / 2) / MR_WEIGHT_STEPS;
}

/* The address mode of a dimension. Where texels are not normalized, only clamping and the border have a meaning. */
CUaddress_mode mr_sample_mode(const struct mr_texture *texture, unsigned dimension);

/* Whether a read of a row finds zeros, whatever the coordinates. As on hardware, linear memory is read by whole numbers
 * alone. The instructions for rows read an array by other coordinates alone; those for planes read a row of an array by
 * both. */
bool mr_sample_is_blank(const struct mr_texture *texture, uint32_t code);

/* sample_warp.c: mr_sample_texture for the lanes of a mask, straight from and to the rows; whether it can do what an
 * instruction asks of a texture, with nobody to note it. The bits are the same. */
bool mr_sample_warp_fits(const struct mr_texture *texture, uint32_t code);
enum mr_sample_vectors { MR_SAMPLE_PLAIN, MR_SAMPLE_AVX2, MR_SAMPLE_AVX512 }; /* what the processor must have */
enum mr_sample_vectors mr_sample_widest(void);
void mr_sample_warp(enum mr_sample_vectors vectors, const struct mr_texture *texture, uint32_t code, uint32_t mask,
                    struct mr_image_lanes *lanes);

/* surface.c: one lane's access, and why it has to trap. `at` as written; `data` is read or written. `notes`: who notes
 * it (notes.h); NULL: nobody. */
enum mr_surface_outcome { MR_SURFACE_GOOD, MR_SURFACE_OUTSIDE, MR_SURFACE_UNEVEN };
enum mr_surface_outcome mr_surface_access(const struct mr_texture *surface, uint32_t code, const int32_t at[4],
                                          uint64_t data[4], struct mr_executor *notes);

#endif
