/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Launches from kernels, which clang refuses. In preprocessed text `kernel<<<grid, block>>>(arguments)` becomes
 * mr_device_launch<decltype(&kernel), &kernel>(grid, block)(arguments) of cuda_device_launches.h, and a kernel whose
 * address is taken a constant of it: clang has nothing against a kernel's address there. A kernel template whose
 * arguments are not written out is the one for the types of the call's arguments.
 */
#ifndef MR_PTX_DEVICE_LAUNCH_H
#define MR_PTX_DEVICE_LAUNCH_H

#include <stddef.h>

#include "base/text.h"

/* Adds to `places` where the compiler's messages say that it met such launches or addresses, each place once; how many
 * are new. */
size_t mr_device_launch_places(const char *messages, struct mr_words *places);

/* Adds to `out` the preprocessed text with those launches changed that lie at the places; how many there were. Lines
 * keep their numbers. Whether memory was enough is in out->failed. */
size_t mr_device_launch_mend(const char *text, const struct mr_words *places, struct mr_text *out);

#endif
