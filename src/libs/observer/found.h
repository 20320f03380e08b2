/* SPDX-License-Identifier: Apache-2.0 */
/* Where findings are put (finding.h says what they are, and how they are read). */
#ifndef MR_OBSERVER_FOUND_H
#define MR_OBSERVER_FOUND_H

#include "libs/observer/finding.h"

/* Keeps a finding, or counts it in one of the same kind and sites; number, missing, advice and further are filled in
 * here, and `detail` of mem's. Of a leak `further` is the caller's. Steps of graphs, and calls whose site is not known,
 * are told apart by their kernels and calls as well. Any thread, with any lock of the observer's held; what the sides
 * point to must stay. */
void obs_finding_note(const struct mr_finding *finding);

#endif
