/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of oneDNN, which is opened at the first call (docs/dependencies.md).
 *
 * A convolution is of floats. Images lie with their channels innermost; a filter lies as outputs, inputs, space. How
 * oneDNN wants the filter is its own choice: it is turned once, before the images of a batch are gone through by
 * several threads, each of which runs the same convolution for its images. */
#ifndef MR_CUDNN_DNNL_H
#define MR_CUDNN_DNNL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_conv_kind { MR_CONV_FORWARD, MR_CONV_DATA, MR_CONV_FILTER };

/* What tells one convolution from another. Space has `space` dimensions, 1 to 3. */
struct mr_conv_key {
    enum mr_conv_kind kind;
    int space;
    int64_t images, groups, inputs, outputs; /* inputs and outputs: channels of all groups */
    int64_t in[3], kernel[3], out[3], stride[3], dilation[3], before[3], after[3];
};

struct mr_conv; /* has references; any thread */

/* False, with a line in the log, if there is no oneDNN. Any thread. */
bool mr_dnnl_open(void);

/* The convolution, with a reference; made, or found among those that were. NULL if oneDNN has none of that kind. The
 * key's bytes outside of its members are zero. */
struct mr_conv *mr_conv_get(const struct mr_conv_key *key);
void mr_conv_drop(struct mr_conv *conv);

/* One more reference. */
struct mr_conv *mr_conv_keep(struct mr_conv *conv);

/* Bytes of the filter as oneDNN wants it, and whether that differs from outputs, inputs, space. */
size_t mr_conv_filter_bytes(const struct mr_conv *conv);
bool mr_conv_turns(const struct mr_conv *conv);

/* From outputs, inputs, space to what oneDNN wants; for gradients of filters the other way. */
bool mr_conv_turn(const struct mr_conv *conv, void *from, void *to);

/* Runs it: images, filter, result in the order x, w, y, whichever of them is written. False: memory is short. Only
 * this thread works. */
bool mr_conv_run(const struct mr_conv *conv, void *x, void *w, void *y);

#endif
