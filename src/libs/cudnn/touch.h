/* SPDX-License-Identifier: Apache-2.0 */
/* The words of spec/math for cuDNN: what its descriptors stand for. Descriptors may be NULL, or not set. */
#ifndef MR_CUDNN_TOUCH_H
#define MR_CUDNN_TOUCH_H

#include "libs/cudnn/descriptors.h"
#include "libs/cudnn/tensor.h"
#include "libs/math/touch.h"

/* The elements of a tensor, without what lies between them. */
void mr_touch_elements(const char *function, unsigned how, const void *at, const struct mr_tensor *t);

static inline void mr_touch_tensor(const char *function, unsigned how, const void *at,
                                   const struct cudnnTensorStruct *descriptor)
{
    mr_touch_elements(function, how, at, descriptor ? &descriptor->t : NULL);
}

static inline void mr_touch_filter(const char *function, unsigned how, const void *at,
                                   const struct cudnnFilterStruct *descriptor)
{
    mr_touch_elements(function, how, at, descriptor ? &descriptor->t : NULL);
}

/* Vectors of sequences, those behind a sequence's end as well. */
void mr_touch_sequences(const char *function, unsigned how, const void *at, const struct cudnnRNNDataStruct *data);

/* The states of a dropout. */
void mr_touch_states(const char *function, unsigned how, const struct cudnnDropoutStruct *dropout);

/* Whether a factor that a program gives is 0: what it is applied to is not read. */
static inline bool mr_touch_is_0(const struct cudnnTensorStruct *descriptor, const void *factor)
{
    return !factor || !descriptor || mr_factor(&descriptor->t, factor) == 0;
}

#endif
