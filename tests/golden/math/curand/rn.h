/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about cuRAND: as rt.h, which it takes its words and fixtures from. The same source is
 * built against NVIDIA's library to record the answers and against Millrace's to compare them. */
#ifndef RN_H
#define RN_H

#include "../../runtime/rt.h"

#include <curand.h>

/* Says the status's name without CURAND_STATUS_. */
void rn(curandStatus_t status);

/* Ends the case unless the step succeeds. */
#define RN_NEED(expr) rn_need((expr), #expr)
void rn_need(curandStatus_t status, const char *what);

/* A generator of the device, and memory of RN_BYTES for its numbers. */
#define RN_BYTES ((size_t)8 << 20)
curandGenerator_t rn_new(curandRngType_t type);
void *rn_memory(void);

/* Waits for the device, and says a hash of so many bytes at rn_memory(). */
void rn_say(size_t bytes);

#endif
