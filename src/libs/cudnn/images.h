/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a batch, and filters, in any tensor's type and strides, to and from floats as oneDNN takes them. */
#ifndef MR_CUDNN_IMAGES_H
#define MR_CUDNN_IMAGES_H

#include "libs/cudnn/tensor.h"

/* Whether images lie as oneDNN takes them: floats without holes, channels innermost. */
bool mr_images_are_plain(const struct mr_tensor *t);

/* Images [first, first + count) to floats without holes, channels innermost; and back: alpha * from + beta * what is
 * there. */
void mr_images_load(const struct mr_tensor *t, const void *base, int64_t first, int64_t count, float *to);
void mr_images_store(const struct mr_tensor *t, void *base, int64_t first, int64_t count, const float *from,
                     double alpha, double beta);

/* A filter to floats as outputs, inputs, space; mirrored in space for `flip`. And back. */
void mr_filter_load(const struct mr_tensor *t, const void *base, bool flip, float *to);
void mr_filter_store(const struct mr_tensor *t, void *base, bool flip, const float *from, double alpha, double beta);

#endif
