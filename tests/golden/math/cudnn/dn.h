/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about cuDNN: as rt.h, which it takes its words and fixtures from. The same source is
 * built against NVIDIA's library to record the answers and against Millrace's to compare them.
 *
 * Elements are small whole numbers. Sums and products of them are exact in every order, so what such operations leave
 * is the same to the last bit; what others leave is said to the nearest 32nd. */
#ifndef DN_H
#define DN_H

#include "../../runtime/rt.h"

#include <cudnn.h>

/* Says the status's name without CUDNN_STATUS_. */
void dn(cudnnStatus_t status);

/* Ends the case unless the step succeeds. */
#define DN_NEED(expr) dn_need((expr), #expr)
void dn_need(cudnnStatus_t status, const char *what);

/* Begins a case: the process's handle, on the default stream, and memory that is zero. */
cudnnHandle_t dn_begin(void);
/* Device memory that lasts until the next case begins; zero at first. */
void *dn_room(size_t bytes);

/* A tensor on the device, or a filter: one of the two descriptors is NULL. */
struct dn {
    char type; /* S: float, D: double, H: half, B: bfloat16, I: integers of 32 bits */
    size_t count;
    void *at;
    cudnnTensorDescriptor_t d;
    cudnnFilterDescriptor_t f;
};

/* A layout is 'c' (NCHW) or 'l' (NHWC: channels last). Elements run from -4 to 4, and depend on `seed`; -1: zeros. */
struct dn dn_tensor(char type, char layout, int n, int c, int h, int w, int seed);
struct dn dn_filter(char type, char layout, int k, int c, int h, int w, int seed);
/* With elements of one value. */
struct dn dn_filled(char type, int n, int c, int h, int w, float value);
cudnnDataType_t dn_type(char type);

/* A factor on the host, of the type that a tensor of `type` takes. Four at a time. */
const void *dn_factor(char type, double value);

/* Waits for the device, and gives the elements to the host. */
void dn_read(const struct dn *t, double *to);

/* Waits for the device, and says the elements or a hash of them: times 16, for exact results; to the nearest 32nd. */
void dn_say(const struct dn *t);
void dn_say_near(const struct dn *t);

#endif
