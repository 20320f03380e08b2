/* SPDX-License-Identifier: Apache-2.0 */
/* Any of the headers that cuRAND's curand_kernel.h is made of. */
#include <curand_kernel.h>
