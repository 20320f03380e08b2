/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers of the cases about arrays, textures and surfaces: arrays with known
 * contents, and one PTX instruction run for a row of operands.
 */
#ifndef GOLD_IMAGE_H
#define GOLD_IMAGE_H

#include "gold.h"

enum { IMAGE_OPERANDS = 8, IMAGE_RESULTS = 4, IMAGE_THREADS_MAX = 64 };

/* An array; ends the case when it can't be made. Destroyed never: the child's context ends. */
CUarray image_array(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                    unsigned flags);

/* Copies bytes without gaps into the whole array (or back), `row` bytes a row. Height and depth count at least 1. */
void image_fill(CUarray array, const void *bytes, size_t row, size_t height, size_t depth);
void image_read(CUarray array, void *bytes, size_t row, size_t height, size_t depth);

/* A texture object of an array; `flags` are CU_TRSF_, all address modes are `mode`. */
CUtexObject image_texture(CUarray array, CUaddress_mode mode, CUfilter_mode filter, unsigned flags);
CUsurfObject image_surface(CUarray array);

/*
 * Runs `instruction` on `threads` threads. It may use %f0..%f7 (f32) and %r0..%r7
 * (b32), both the thread's eight operand words, %rd0, the handle, and leaves its
 * results in %o0..%o3 (b32), which begin as 0xdeadbeef. `before` is text in front of the kernel, or NULL.
 */
void image_run(const char *before, const char *instruction, unsigned long long handle, unsigned threads,
               const unsigned operands[][IMAGE_OPERANDS], unsigned results[][IMAGE_RESULTS]);
/* The same for a kernel of a module that image_module made; `target` may say more than "sm_75". */
CUmodule image_module(const char *before, const char *instruction);
CUmodule image_module_for(const char *target, const char *before, const char *instruction);
CUresult image_launch(CUmodule module, unsigned long long handle, unsigned threads,
                      const unsigned operands[][IMAGE_OPERANDS], unsigned results[][IMAGE_RESULTS]);

/* The bits of a float, and back. */
unsigned image_bits(float value);
float image_float(unsigned bits);

/* Says a float with `digits` digits behind the point. */
void say_float(float value, int digits);

/* Reads with coordinates `at`, `dimensions` of them a read (x, y, z in %f0..%f2), and says the first `channels` results
 * of each as floats. */
void image_say(const char *instruction, CUtexObject texture, unsigned dimensions, const float *at, unsigned reads,
               unsigned channels, int digits);

#endif
