/* SPDX-License-Identifier: Apache-2.0 */
/* What cuFFT has for several GPUs and for callbacks: refused, by name. */
#include "libs/cufft/fft.h"
#include "libs/cufft/refuse.h"
